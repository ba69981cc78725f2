//! Ceilings of a load below its bottleneck: how much it used of what the machine did elsewhere, the nearest first, and
//! what was never measured.

use model::doc::{BottleneckDoc, CeilingDoc};
use model::format::{count, list, percent};

use super::Look;
use super::fit::{Part, Rank};
use super::reason;

/// Ceilings on a screen that was not asked for everything.
const MOST: usize = 2;
/// A smaller share is told without its numbers: it holds nothing back.
const TOLD: f64 = 0.1;

/// The lines below a bottleneck; with everything those of each ceiling that may matter. Those that were asked for are
/// never left out.
pub fn parts(found: &BottleneckDoc, is_asked: bool, look: Look) -> Vec<Part> {
    let (measured, never): (Vec<&CeilingDoc>, Vec<&CeilingDoc>) =
        found.ceilings.iter().partition(|one| one.measured.is_some());
    let texts = |some: &[&CeilingDoc]| some.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    let large: Vec<&CeilingDoc> = measured.iter().copied().filter(|one| is_large(one)).collect();
    if look.all {
        return all(&texts(&large), measured.len() - large.len(), &never, look);
    }
    let of = |most: usize| reason("ceilings", &texts(&large[..large.len().min(most)]), look);
    let brief: Vec<String> = measured.iter().take(MOST).filter_map(|one| one.brief()).collect();
    let brief = reason("ceilings", &brief, look);
    let whole = match large.is_empty() {
        true => Part::new(brief.clone()),
        false => Part::new(of(MOST)).or(Rank::Reason, "ceilings", of(1)),
    };
    let whole = match is_asked {
        true => whole,
        false => whole.or(Rank::Reason, "ceilings", brief).or(Rank::Doubt, "ceilings", ""),
    };
    vec![whole, Part::new(reason("unknown", &unmeasured(&never), look)).or(Rank::Hint, "", "")]
}

/// The ceilings of which a part worth telling was used, how many others there are, and those that were never measured.
fn all(large: &[String], small: usize, never: &[&CeilingDoc], look: Look) -> Vec<Part> {
    let others = (small > 0).then(|| {
        let (count, less) = (count(small, "other"), percent(TOLD));
        format!("{count}, of which less than {less} was used: --json has them")
    });
    let told: Vec<String> = large.iter().cloned().chain(others).collect();
    vec![reason("ceilings", &told, look).into(), reason("unknown", &unmeasured(never), look).into()]
}

fn is_large(one: &CeilingDoc) -> bool {
    one.exceeded || one.share.is_some_and(|share| share >= TOLD)
}

/// The ceilings that were never measured: together what `--ceilings` measures, and the rest with its command.
fn unmeasured(never: &[&CeilingDoc]) -> Vec<String> {
    let (first, others): (Vec<&CeilingDoc>, Vec<&CeilingDoc>) =
        never.iter().copied().partition(|one| one.by_option);
    let names: Vec<String> = first.iter().map(|one| one.what()).collect();
    let says = || format!("never measured here: {}; --ceilings does it before the load", list(&names));
    let first = (!names.is_empty()).then(says);
    first.into_iter().chain(others.iter().map(|one| one.text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use model::doc::{Binding, CeilingFigureDoc, CeilingOf};
    use model::{Params, Unit, Validity};

    use super::*;

    fn held(share: f64) -> CeilingDoc {
        let measured = CeilingFigureDoc {
            instrument: "disk-read".into(),
            metric: "iops".into(),
            params: Params::default(),
            value: 20e3,
            low: None,
            high: None,
            run: "r".into(),
            age: 60.0,
            validity: Validity::Ok,
            doubts: Vec::new(),
        };
        let one = CeilingDoc {
            of: CeilingOf::Reads,
            resource: "vda".into(),
            unit: Unit::PerSec,
            used: share * 20e3,
            at_least: false,
            measured: Some(measured),
            share: Some(share),
            share_low: None,
            share_high: None,
            exceeded: false,
            command: "boxscore run disk-read".into(),
            by_option: false,
            why: None,
            text: String::new(),
        };
        one.with_text()
    }

    fn bottleneck(ceilings: Vec<CeilingDoc>) -> BottleneckDoc {
        BottleneckDoc {
            instrument: "web".into(),
            params: Params::default(),
            arm: String::new(),
            throughput: None,
            kind: Binding::Unknown,
            resource: String::new(),
            share: None,
            sentence: String::new(),
            evidence: Vec::new(),
            counter_evidence: Vec::new(),
            advice: Vec::new(),
            also: Vec::new(),
            resources: Vec::new(),
            ceilings,
            cores: Vec::new(),
            files: None,
        }
    }

    fn screen(ceilings: Vec<CeilingDoc>) -> String {
        let found = bottleneck(ceilings);
        let mut screen = super::super::fit::Screen::default();
        parts(&found, false, Look::wide(80)).into_iter().for_each(|part| screen.add(part));
        screen.fit(Look::wide(80), "x", |text| text)
    }

    #[test]
    fn small_shares_are_told_briefly_and_others_with_their_numbers() {
        assert_eq!(screen(vec![held(0.002)]), "  ceilings  reads from disk vda 0.2 %\n");
        let large = "  ceilings  reads from disk vda: 10.0 of the 20.0 k/s (50 %; disk-read 1 min\n            before)\n";
        assert_eq!(screen(vec![held(0.5), held(0.002)]), large);
        assert_eq!(screen(Vec::new()), "");
        let of_half = |is_asked| {
            let mut screen = super::super::fit::Screen::default();
            let all = parts(&bottleneck(vec![held(0.5)]), is_asked, Look::wide(80));
            all.into_iter().for_each(|part| screen.add(part));
            screen.fit(Look { lines: 1, ..Look::wide(80) }, "x", |text| text)
        };
        assert!(of_half(true).starts_with(large) && !of_half(false).contains("k/s"), "asked for, it stays");
        let of = bottleneck(vec![held(0.5), held(0.002), held(0.01)]);
        let all: Vec<Part> = parts(&of, false, Look::wide(80).with_all(true));
        let mut screen = super::super::fit::Screen::default();
        all.into_iter().for_each(|part| screen.add(part));
        let text = screen.fit(Look::wide(80).with_all(true), "x", |text| text);
        assert!(text.starts_with(large.trim_end_matches(")\n")) && !text.contains("0.2 %"), "{text}");
        assert!(text.contains("2 others, of which less than 10 % was used: --json has them"), "{text}");
    }

    #[test]
    fn what_the_option_does_not_measure_has_its_own_command() {
        let never = CeilingDoc { measured: None, share: None, ..held(0.5) }.with_text();
        let by_option = CeilingDoc { by_option: true, ..never.clone() };
        let plain = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let says = "unknown never measured here: reads from disk vda; --ceilings does it before the load; reads from disk \
                    vda: 10.0 k/s; what it can do was never measured: boxscore run disk-read";
        assert_eq!(plain(screen(vec![by_option, never])), says);
    }
}
