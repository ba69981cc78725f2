//! A comparison in plain words, ready to paste: who wins what by how much, what ties, what is not known.
//!
//! One line for each arm, against the base: the index of the whole machine, what that is worth for its price and its
//! power, the index of one thread, and what goes the other way. Where no index tells, figures are said by topic: of one
//! topic the least and the largest are named, of one figure its interval is said; a rate is faster or slower, a wait is
//! longer or shorter. What differs is said even where its size beyond the margin is open. Percentages are of the base's
//! figure; a factor of two or more is said as `times`. Figures that the table shows are not repeated here.

mod groups;
mod phrase;
mod scopes;
mod topic;
mod value;

use model::doc::{ArmDoc, CompareDoc, Cost, IndexDoc, Paragraph, Replicate, RowDoc, ValueDoc, VerdictWord};

use groups::{Summed, groups, judged};
use model::finding::{LogsCompared, LogsFailed, LogsParts, Rule};
use model::{Better, Finding, Scope, format};
use scopes::names;
use topic::Topic;

/// The paragraph of a comparison; one line a further arm.
pub fn paragraph(doc: &CompareDoc) -> Paragraph {
    let Some((base, arms)) = doc.arms.split_first() else {
        return "Nothing to compare.".to_owned().into();
    };
    if arms.is_empty() {
        return format!("Only {}: nothing to compare it with.", base.name).into();
    }
    let rows = |arm: &str| doc.rows.iter().filter(|row| row.arm == arm).collect::<Vec<&RowDoc>>();
    let (strangers, known): (Vec<_>, Vec<_>) = arms.iter().partition(|arm| rows(&arm.name).is_empty());
    let indexes = |arm: &str| doc.index.iter().filter(|index| index.arm == arm).collect::<Vec<&IndexDoc>>();
    let values = |arm: &str| doc.value.iter().filter(|value| value.arm == arm).collect::<Vec<&ValueDoc>>();
    let mut lines: Vec<Vec<String>> = known
        .iter()
        .map(|arm| {
            let cpus = arm.cpus.zip(base.cpus);
            let parts = parts_of(&doc.findings, &arm.name, &base.name);
            let slowest = slowest_of(&doc.findings, &arm.name, &base.name);
            let summed = Summed { indexes: indexes(&arm.name), values: values(&arm.name), parts, slowest };
            one((&arm.name, &base.name), cpus, &rows(&arm.name), &summed)
        })
        .collect();
    let strangers: Vec<String> = strangers.into_iter().map(|arm| arm.name.clone()).collect();
    match &strangers[..] {
        [] => {}
        [only] => lines.push(vec![format!("{only} and {} have no figure in common.", base.name)]),
        several => {
            lines.push(vec![format!(
                "{} have no figure in common with {}.",
                format::list(several),
                base.name
            )]);
        }
    }
    lines.extend(replication(doc).map(|last| vec![last]));
    failures_first(doc, &mut lines);
    planted_with_the_first(doc, &mut lines);
    Paragraph::of_lines(&lines)
}

/// Failures of a server are told before how fast it is, in one breath with it.
fn failures_first(doc: &CompareDoc, lines: &mut Vec<Vec<String>>) {
    let is_told = |finding: &&Finding| matches!(finding.rule, Rule::LogsFailed(LogsFailed::Server { .. }));
    let failures: Vec<String> = doc.findings.iter().filter(is_told).map(Finding::text).collect();
    if failures.is_empty() {
        return;
    }
    match lines.first_mut().and_then(|line| line.first_mut()) {
        Some(first) => *first = format!("{} {first}", failures.join(" ")),
        None => lines.push(failures),
    }
}

/// That it is no measurement belongs to the answer, wherever that is quoted.
fn planted_with_the_first(doc: &CompareDoc, lines: &mut Vec<Vec<String>>) {
    let Some(planted) = planted(doc) else { return };
    match lines.first_mut().and_then(|line| line.first_mut()) {
        Some(first) => *first = format!("{first} {planted}"),
        None => lines.push(vec![planted]),
    }
}

/// The parts of the requests in which an arm differs from its base.
pub fn parts_of<'a>(findings: &'a [Finding], arm: &str, base: &str) -> Option<&'a LogsParts> {
    differs_in(findings).find(|parts| parts.arm == arm && parts.base == base)
}

/// That the slowest requests of an arm and its base alone differ.
fn slowest_of<'a>(findings: &'a [Finding], arm: &str, base: &str) -> Option<&'a LogsCompared> {
    findings.iter().find_map(|finding| match &finding.rule {
        Rule::LogsCompared(all @ LogsCompared::Slowest { arm: of_arm, base: of_base }) => {
            (of_arm.label == arm && of_base.label == base).then_some(all)
        }
        _ => None,
    })
}

/// The parts of the requests in which two groups differ.
fn differs_in(findings: &[Finding]) -> impl Iterator<Item = &LogsParts> {
    findings.iter().filter_map(|finding| match &finding.rule {
        Rule::LogsParts(parts) => Some(parts),
        _ => None,
    })
}

/// The sentences on rows of one pair, without a document around them; findings say where the two differ.
pub fn of_pair(arm: &str, base: &str, rows: &[&RowDoc], findings: &[Finding]) -> Vec<String> {
    let parts = parts_of(findings, arm, base);
    let slowest = slowest_of(findings, arm, base);
    one((arm, base), None, rows, &Summed { parts, slowest, ..Summed::default() })
}

/// The index of each whole machine by its price and its power, against the first.
pub fn values(doc: &CompareDoc) -> Vec<ValueDoc> {
    let Some((base, arms)) = doc.arms.split_first() else { return Vec::new() };
    let of_arm = |arm: &ArmDoc| {
        let rows: Vec<&RowDoc> = doc.rows.iter().filter(|row| row.arm == arm.name).collect();
        let is_whole = |index: &&IndexDoc| index.arm == arm.name && index.scope == Scope::WholeMachine;
        let index = doc.index.iter().find(is_whole);
        let by = |per: Cost| value::of_index(per, index?, &rows, (arm, base));
        [by(Cost::Price), by(Cost::Watts)].into_iter().flatten().collect::<Vec<_>>()
    };
    arms.iter().flat_map(of_arm).collect()
}

/// The sides that are no measurement.
fn planted(doc: &CompareDoc) -> Option<String> {
    let names = doc.arms.iter().filter(|arm| arm.planted).map(|arm| arm.name.clone());
    model::fake::planted(&names.collect::<Vec<_>>()).map(|planted| format!("{planted}."))
}

/// Of what the verdicts speak: of these boxes, of their types, or of one run.
fn replication(doc: &CompareDoc) -> Option<String> {
    let measured: Vec<&ArmDoc> = doc.arms.iter().filter(|arm| !arm.runs.is_empty()).collect();
    let numbers = |of: &dyn Fn(&ArmDoc) -> u64| {
        format::list(&measured.iter().map(|arm| of(arm).to_string()).collect::<Vec<_>>())
    };
    let runs = || numbers(&|arm| arm.runs.len() as u64);
    let one = measured.iter().all(|arm| arm.machine.host() == measured[0].machine.host());
    let sets: std::collections::BTreeSet<u64> =
        measured.iter().filter_map(|arm| Some(arm.cpus? as u64)).collect();
    Some(match doc.unit_of_replication? {
        Replicate::Box => {
            let boxes = numbers(&|arm| arm.boxes.unwrap_or(1));
            format!("This speaks of types of boxes: the unit is the box ({boxes}), each worth one value.")
        }
        Replicate::Run if one && sets.len() > 1 => {
            let cpus = numbers(&|arm| arm.cpus.unwrap_or_default() as u64);
            format!("This speaks of one box, with {cpus} of its CPUs: the unit is the run ({}).", runs())
        }
        Replicate::Run if one => format!("This speaks of one box: the unit is the run ({}).", runs()),
        Replicate::Run => {
            format!("This speaks of these boxes, not of their types: the unit is the run ({}).", runs())
        }
        Replicate::Sitting => "This speaks of one run: the unit is the sitting.".to_owned(),
        Replicate::Block => {
            "This speaks of one run as it was prepared once: the unit is the take.".to_owned()
        }
    })
}

/// The whole machine first and what it is worth, then one thread, then what is of neither: disks, networks, response
/// times, and further figures of CPUs and memory.
fn one(
    (arm, base): (&str, &str),
    cpus: Option<(f64, f64)>,
    rows: &[&RowDoc],
    summed: &Summed<'_>,
) -> Vec<String> {
    let unlike = cpus.filter(|(arm, base)| arm != base);
    let of_cpus = unlike.map_or_else(String::new, |(arm, base)| {
        let s = if arm == 1.0 { "" } else { "s" };
        format!(" ({arm} CPU{s} against {base})")
    });
    let judged = judged(rows);
    let of_machine = groups::lead(&judged, &of_cpus);
    let groups = groups(&judged, &of_machine, summed);
    let sentences = scopes::sentences(&groups, arm, base);
    let of = |per: Cost| {
        let by_index = summed.values.iter().find(|value| value.per == per).copied();
        value::sentence(per, &judged, (arm, base), by_index)
    };
    // The money belongs to the answer.
    let answer: Vec<String> = sentences.first().cloned().into_iter().chain(of(Cost::Price)).collect();
    let others = of(Cost::Watts).into_iter().chain(sentences.into_iter().skip(1));
    let answer = Some(answer.join(" ")).filter(|answer| !answer.is_empty());
    let mut sentences: Vec<String> = answer.into_iter().chain(others).collect();
    let is_refused = |row: &&RowDoc| row.verdict == VerdictWord::Invalid;
    // The list of what is not counted is no heading.
    if !judged.is_empty() && judged.iter().all(is_refused) {
        sentences.insert(0, format!("{arm} and {base} cannot be compared: every figure is refused."));
    }
    sentences.extend(refused(&judged.iter().copied().filter(is_refused).collect::<Vec<_>>()));
    // What has no direction is no performance.
    let is_point = |row: &&RowDoc| row.point && row.better != Better::Neither;
    let of_points: Vec<&RowDoc> = rows.iter().copied().filter(is_point).collect();
    let published = [points(&of_points, arm, base), value::of_points(&of_points, (arm, base))];
    sentences.extend(published.into_iter().flatten());
    sentences
}

fn refused(rows: &[&RowDoc]) -> Option<String> {
    let first = rows.first()?;
    let why = if first.why.is_empty() { String::new() } else { format!(" ({})", first.why) };
    Some(format!("Not counted: {}{why}.", format::list(&names(rows))))
}

fn points(rows: &[&RowDoc], arm: &str, base: &str) -> Option<String> {
    let pasted = rows.iter().any(|row| row.why.is_pasted());
    let mut said: Vec<String> = Vec::new();
    for topic in Topic::of_all(rows) {
        let about = rows.iter().filter(|row| Topic::of_row(row) == topic);
        let good: Vec<f64> = about.filter_map(|row| Topic::goodness(row)).collect();
        let Some(range) = phrase::factors(&good) else { continue };
        let of = if said.is_empty() { format!(" the performance of {base}") } else { String::new() };
        let figures =
            if said.is_empty() { format::count(good.len(), "figure") } else { good.len().to_string() };
        said.push(format!("{range}{of} in {} ({figures})", topic.noun()));
    }
    if said.is_empty() {
        return None;
    }
    let what = if pasted { "Figures of a pasted line" } else { "Published figures" };
    Some(format!("{what}, which carry no verdict, put {arm} at {}.", format::list(&said)))
}

#[cfg(test)]
pub mod tests {
    use model::doc::MachineDoc;
    use model::why::{Disturbance, Held, Needed, Reason, Weighed, Why, Withheld};
    use model::{Params, Unit};

    use super::*;

    pub fn row(instrument: &str, params: &str, better: Better, ratio: f64, verdict: VerdictWord) -> RowDoc {
        let card = model::card::find(instruments::cards(), instrument);
        RowDoc {
            card,
            instrument: instrument.to_owned(),
            metric: card.map_or("m", |card| card.shown.main).to_owned(),
            unit: Unit::PerSec,
            better,
            params: Params::parse(params).unwrap(),
            headline: true,
            index: None,
            arm: "mini-1".to_owned(),
            base: "ref".to_owned(),
            arm_value: None,
            base_value: None,
            ratio: Some(ratio),
            low: None,
            high: None,
            p: None,
            p_holm: None,
            floor: None,
            noise: None,
            noise_runs: Vec::new(),
            margin: 0.05,
            verdict,
            why: Why::default(),
            point: false,
            per_price: None,
            per_watt: None,
            worth: None,
            lower_bounds: Vec::new(),
        }
    }

    pub fn arm(name: &str) -> ArmDoc {
        let machine = MachineDoc { id: name.to_owned(), name: name.to_owned() };
        ArmDoc {
            name: name.to_owned(),
            machine,
            subject: None,
            runs: Vec::new(),
            boxes: None,
            cpus: None,
            published: false,
            planted: false,
            price: None,
            watts: None,
            source: None,
            pasted: false,
        }
    }

    fn doc(rows: Vec<RowDoc>) -> CompareDoc {
        CompareDoc {
            cards: &[],
            beside: Vec::new(),
            schema: String::new(),
            paragraph: Paragraph::default(),
            answer: String::new(),
            arms: vec![arm("ref"), arm("mini-1")],
            unit_of_replication: None,
            rows,
            ranks: Vec::new(),
            ties: Vec::new(),
            index: Vec::new(),
            value: Vec::new(),
            next_step: None,
            scaling: Vec::new(),
            findings: Vec::new(),
            settings: Vec::new(),
            footnotes: Vec::new(),
        }
    }

    #[test]
    fn wins_losses_ties_and_what_is_not_known() {
        use Better::{Higher, Lower};
        use VerdictWord::{CannotTell, Invalid, Tie, Worse};
        let won = VerdictWord::Better;
        let mut refused = row("disk-fsync", "", Lower, 0.03, Invalid);
        let text = "no flush reached the drive".to_owned();
        refused.why = Reason::Refused { side: Some("mini-1".to_owned()), text }.into();
        let mut held = row("cipher", "algorithm=aes-128-gcm;threads=1", Higher, 1.02, CannotTell);
        held.why = Reason::Held(Held::AssumedNoise).into();
        let text = paragraph(&doc(vec![
            row("index", "kind=integer;threads=1", Higher, 1.31, won),
            row("compress", "codec=zstd;threads=1", Higher, 1.18, won),
            row("mem-latency", "level=memory;threads=1", Lower, 1.21, Worse),
            row("mem-bandwidth", "op=read;size=auto;threads=1", Higher, 1.0, Tie),
            held,
            refused,
        ]))
        .to_string();
        assert_eq!(
            text,
            "mini-1 computes 18 % (compress zstd) to 31 % (integer) faster than ref and waits 21 % longer for memory. \
             They tie on memory read (within 5 %). Whether mini-1 and ref differ on cipher AES-128-GCM cannot be told yet, since the \
             noise between runs is assumed. Not counted: disk fsync (mini-1: no flush reached the drive)."
        );
    }

    #[test]
    fn where_all_is_refused_the_lead_is_short() {
        let mut refused = row("disk-fsync", "", Better::Lower, 0.03, VerdictWord::Invalid);
        refused.why = Reason::Refused { side: None, text: "no flush".to_owned() }.into();
        let said = paragraph(&doc(vec![refused]));
        assert_eq!(said.lead, "mini-1 and ref cannot be compared: every figure is refused.");
        assert!(said.rest.starts_with(" Not counted: disk fsync (no flush)."), "{}", said.rest);
    }

    #[test]
    fn what_differs_is_said_while_the_margin_is_open() {
        let apart = |reasons: Vec<Reason>| RowDoc {
            low: Some(0.91),
            high: Some(0.96),
            p_holm: Some(0.002),
            why: Why::new(reasons),
            ..row("index", "kind=integer", Better::Higher, 0.94, VerdictWord::CannotTell)
        };
        let needed = Reason::Needed(Needed::new(3, model::why::Repeat::Runs));
        let held = Reason::Held(Held::Interval);
        let text = paragraph(&doc(vec![apart(vec![held.clone(), needed])])).to_string();
        assert_eq!(
            text,
            "mini-1 computes 4 to 9 % slower than ref; whether that exceeds the margin of 5 % is open, about 3 runs \
             each would settle it."
        );
        // Of a row that may not differ at all this is not said, nor advice where there is none.
        let mut rows = vec![apart(vec![held.clone()]), apart(vec![held])];
        rows[1].p_holm = Some(0.2);
        let text = paragraph(&doc(rows)).to_string();
        assert!(
            text.contains("is open. Whether mini-1 and ref differ on integer cannot be told yet"),
            "{text}"
        );
    }

    #[test]
    fn response_times_are_told_before_that_both_answered_what_was_offered() {
        let load = "arrivals=constant;rate=5000";
        let mut wait = RowDoc {
            metric: "response-time-p50".to_owned(),
            low: Some(1.06),
            high: Some(1.22),
            ..row("web", load, Better::Lower, 1.12, VerdictWord::CannotTell)
        };
        wait.why = Reason::Held(Held::AssumedNoise).into();
        let rate = row("web", load, Better::Higher, 1.0, VerdictWord::Tie);
        let text = paragraph(&doc(vec![rate, wait])).to_string();
        assert!(text.starts_with("mini-1 probably takes 6 to 22 % longer for"), "{text}");
        assert!(text.contains("They tie on"), "{text}");
    }

    #[test]
    fn it_says_of_what_it_speaks() {
        let mut doc = doc(vec![row("index", "kind=integer", Better::Higher, 1.0, VerdictWord::Tie)]);
        for (arm, runs) in doc.arms.iter_mut().zip([3, 2]) {
            arm.runs = vec!["r".to_owned(); runs];
        }
        for (unit, says) in [
            (
                Replicate::Run,
                "This speaks of these boxes, not of their types: the unit is the run (3 and 2).",
            ),
            (
                Replicate::Box,
                "This speaks of types of boxes: the unit is the box (1 and 1), each worth one value.",
            ),
            (Replicate::Sitting, "This speaks of one run: the unit is the sitting."),
        ] {
            doc.unit_of_replication = Some(unit);
            let text = paragraph(&doc).to_string();
            assert_eq!(text.lines().last(), Some(says));
        }
    }

    #[test]
    fn rows_of_a_topic_that_goes_both_ways_are_named() {
        let flops = |kernel: &str, ratio, verdict| {
            row("scimark", &format!("kernel={kernel};lang=c"), Better::Higher, ratio, verdict)
        };
        let text = paragraph(&doc(vec![
            flops("fft", 1.23, VerdictWord::Better),
            flops("lu", 1.9, VerdictWord::Better),
            flops("monte-carlo", 0.89, VerdictWord::Worse),
        ]))
        .to_string();
        assert_eq!(
            text,
            "mini-1 runs scimark in c 23 % (fft c) to 90 % (lu c) faster than ref and runs scimark in c 11 % slower \
             (monte-carlo c)."
        );
    }

    #[test]
    fn failed_requests_are_told_and_their_ties_are_not() {
        let failed = |given: &str, arm, base, verdict| RowDoc {
            metric: "error-rate".to_owned(),
            unit: model::Unit::Ratio,
            ratio: None,
            arm_value: Some(arm),
            base_value: Some(base),
            ..row("web", given, Better::Lower, 1.0, verdict)
        };
        let text = paragraph(&doc(vec![
            failed("connections=50", 0.2, 0.0, VerdictWord::Worse),
            failed("connections=1", 0.1, 0.0, VerdictWord::Worse),
            failed("connections=2", 0.0, 0.0, VerdictWord::Tie),
        ]))
        .to_string();
        assert!(
            text.contains("fails 20 % of the requests, not 0 % (") && text.contains(" and 1 more)"),
            "{text}"
        );
        assert!(!text.contains("tie"), "{text}");
    }

    #[test]
    fn doubtful_figures_are_told_as_such() {
        let mut rows = vec![
            row("index", "kind=integer;threads=1", Better::Higher, 0.5, VerdictWord::CannotTell),
            row("mem-bandwidth", "op=read;threads=1", Better::Higher, 1.0, VerdictWord::Tie),
        ];
        let weighed = |what| Weighed { what, share: None };
        let by_what = vec![weighed(Disturbance::OtherProcesses), weighed(Disturbance::Swap)];
        rows[0].why = Reason::Withheld(Withheld::Disturbed { by_what }).into();
        assert_eq!(
            paragraph(&doc(rows)).to_string(),
            "mini-1 and ref tie on memory read (within 5 %). Whether mini-1 and ref differ on integer cannot be told, \
             since these figures are doubtful: other processes used CPUs and the system swapped."
        );
    }

    #[test]
    fn waits_of_one_instrument_are_named_by_their_metric() {
        let wait = |metric: &str, ratio, verdict| RowDoc {
            metric: metric.to_owned(),
            ..row("web", "connections=50", Better::Lower, ratio, verdict)
        };
        let text = paragraph(&doc(vec![
            wait("response-time", 0.76, VerdictWord::Better),
            wait("response-time-p99", 1.47, VerdictWord::Worse),
        ]))
        .to_string();
        let (median, p99) = ("24 % less time for web p50", "47 % longer for web p99");
        assert!(text.contains(median) && text.contains(p99), "{text}");
    }

    #[test]
    fn a_tie_within_a_raised_margin_says_so() {
        let tie = |kind: &str, margin| RowDoc {
            margin,
            ..row("index", &format!("kind={kind}"), Better::Higher, 1.0, VerdictWord::Tie)
        };
        let text = |rows| paragraph(&doc(rows)).to_string();
        let both = text(vec![tie("integer", 0.05), tie("floating", 0.4)]);
        assert_eq!(both, "mini-1 and ref tie on integer and floating (within 5 to 40 %).");
        assert!(text(vec![tie("integer", 0.025)]).ends_with("(within 2.5 %)."));
    }

    #[test]
    fn clocks_that_differ_a_little_are_one_reason() {
        let names = ["integer", "floating", "memory"];
        let mut rows: Vec<RowDoc> = names
            .map(|kind| row("index", &format!("kind={kind}"), Better::Higher, 0.9, VerdictWord::CannotTell))
            .into();
        for (row, arm) in rows.iter_mut().zip([3.6e9, 3.58e9, 3.61e9]) {
            row.why = Reason::Withheld(Withheld::Clocks { arm, base: 4.2e9 }).into();
        }
        assert_eq!(
            paragraph(&doc(rows)).to_string(),
            "Whether mini-1 and ref differ on any of the figures cannot be told, since these figures are doubtful: \
             the clock was 3.58 to 3.61 GHz against 4.20 GHz."
        );
    }

    fn index(scope: Scope, value: f64) -> IndexDoc {
        IndexDoc {
            scope,
            arm: "mini-1".to_owned(),
            reference: "ref".to_owned(),
            value: Some(value),
            low: Some(value - 0.1),
            high: Some(value + 0.1),
            why: None,
            components: 3,
            open: 0,
        }
    }

    #[test]
    fn the_indexes_come_first_and_then_what_goes_the_other_way() {
        use Better::{Higher, Lower};
        use VerdictWord::{Better as Won, CannotTell, Tie, Worse};
        let mut held = row("cipher", "algorithm=aes-128-gcm;threads=1", Higher, 1.2, CannotTell);
        held.why = Reason::Held(Held::Interval).into();
        let mut doc = doc(vec![
            row("index", "kind=integer;threads=all", Higher, 1.31, Won),
            row("index", "kind=floating;threads=all", Higher, 1.0, Tie),
            row("mem-bandwidth", "op=read;size=auto;threads=all", Higher, 0.8, Worse),
            row("index", "kind=integer;threads=1", Higher, 1.25, Won),
            row("mem-latency", "level=memory;threads=1", Lower, 0.8, Won),
            held,
            // A further metric of a figure that has a scope, and one that goes along.
            row("mem-bandwidth", "op=copy;size=auto;threads=4", Higher, 0.7, Worse),
            row("mem-bandwidth", "op=write;size=auto;threads=4", Higher, 1.3, Won),
        ]);
        doc.index = vec![index(Scope::WholeMachine, 1.3), index(Scope::PerThread, 1.2)];
        assert_eq!(
            paragraph(&doc).to_string(),
            "As a whole machine, mini-1 has 1.30 times the performance of ref over 3 figures (95 %: 1.20 to 1.40; single \
             figures: 0.80 to 1.31 times). They tie on floating (within 5 %). Per thread, mini-1 has 1.20 times the \
             performance of ref over 3 figures (95 %: 1.10 to 1.30; single figures: 1.20 to 1.25 times). The other way, mini-1 \
             moves memory 20 % (memory read on all CPUs) to 30 % (memory copy on 4 CPUs) slower than ref. Whether mini-1 \
             and ref differ on cipher AES-128-GCM cannot be told yet, since most intervals reach across the margin."
        );
        // An index that tells nothing speaks for no figure.
        doc.index = vec![index(Scope::WholeMachine, 1.05), index(Scope::PerThread, 1.2)];
        let text = paragraph(&doc).to_string();
        assert!(
            text.contains("mini-1 computes 31 % faster than ref and moves memory 20 % slower."),
            "{text}"
        );
    }

    #[test]
    fn the_money_is_part_of_the_answer_and_planted_sides_are_told() {
        let mut doc = doc(vec![RowDoc {
            per_price: Some(0.65),
            ..row("index", "kind=integer;threads=all", Better::Higher, 1.3, VerdictWord::Better)
        }]);
        doc.index = vec![index(Scope::WholeMachine, 1.3)];
        for (arm, amount) in doc.arms.iter_mut().zip([0.1, 0.2]) {
            arm.price = Some(model::price::Price { amount, currency: "USD".to_owned(), hourly: true });
        }
        doc.arms[1].planted = true;
        doc.value = values(&doc);
        let told = paragraph(&doc);
        assert!(
            told.lead.contains(
                "ref gives more for the money: per unit of price mini-1 (0.20 USD/h) has 0.65 times the performance of ref \
                 (0.10 USD/h; 95 %: 0.60 to 0.70)."
            ),
            "{told}"
        );
        assert!(told.lead.ends_with(" mini-1 is planted by --fake: no measurement."), "{told}");
    }

    #[test]
    fn what_is_likely_is_told_as_not_proved() {
        let mut rows = vec![
            row("index", "kind=integer;threads=all", Better::Higher, 0.59, VerdictWord::CannotTell),
            row("index", "kind=integer;threads=1", Better::Higher, 1.12, VerdictWord::CannotTell),
        ];
        let by_what = vec![Weighed { what: Disturbance::OtherProcesses, share: None }];
        for (row, interval) in rows.iter_mut().zip([(0.41, 0.85), (0.78, 1.62)]) {
            (row.low, row.high) = (Some(interval.0), Some(interval.1));
            row.why = Reason::Withheld(Withheld::Disturbed { by_what: by_what.clone() }).into();
        }
        let text = paragraph(&doc(rows)).to_string();
        assert_eq!(
            text,
            "In cpu figures, with all CPUs, mini-1 probably computes 15 to 59 % slower than ref; not proved: other \
             processes used CPUs. Whether mini-1 and ref differ on integer cannot be told, since these figures are doubtful: other \
             processes used CPUs."
        );
    }

    #[test]
    fn nothing_in_common_is_said() {
        assert_eq!(paragraph(&doc(Vec::new())).to_string(), "mini-1 and ref have no figure in common.");
        let mut three = doc(Vec::new());
        three.arms.push(arm("mini-2"));
        assert_eq!(paragraph(&three).to_string(), "mini-1 and mini-2 have no figure in common with ref.");
    }
}
