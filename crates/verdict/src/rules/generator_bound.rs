//! Generator-bound: the load generator, not the server, set the figures of a load, which are then lower bounds.
//!
//! Doubtful where its busiest core works over 85 % of the time, where the server or others fill that core, or where
//! more generators reach over 5 % more. What the server used for each request does not depend on the generator; the
//! rate that its cores could serve by that is shown, at most, since interrupts are not in it.

use model::{Finding, Unit, Validity};

use super::{Look, Ruling, unknown};
use crate::loads::sweep::{CEILING, Generator, generator};
use crate::loads::{Load, more, rate};
use crate::say;

pub const KIND: &str = "generator-bound";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let loads = look.loads();
    let (mut all, mut free, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    let mut settled: Vec<(String, Vec<usize>)> = Vec::new();
    for load in loads {
        let found = generator(load, loads);
        match &found {
            Generator::Unknown => {}
            Generator::Free { share } => {
                most = most.max(*share);
                free.extend(load.set_by_generator());
            }
            Generator::Settled { generators, ratio } => {
                settled.push((no_more(load, *generators, *ratio), load.set_by_generator()));
            }
            Generator::Busy { .. }
            | Generator::Starved { .. }
            | Generator::More { .. }
            | Generator::Rising { .. } => all.push(bound(load, &found)),
        }
    }
    for (text, reach) in settled {
        all.push(Ruling { finding: Finding::new(KIND, Validity::Ok, text), reach });
    }
    if !free.is_empty() {
        let text = format!("the busiest core of a generator worked {} of its time", say::percent(most));
        let finding = Finding::new(KIND, Validity::Ok, text).evidence("share", most);
        all.push(Ruling { finding, reach: free });
    }
    if all.is_empty() && !loads.is_empty() {
        return unknown(KIND, "how busy the load generator was is not known");
    }
    all
}

/// Whether the rule made a series a lower bound.
#[must_use]
pub fn doubts(rulings: &[Ruling], series: usize) -> bool {
    rulings.iter().any(|ruling| {
        ruling.finding.kind == KIND
            && ruling.finding.state == Validity::Doubtful
            && ruling.reach.contains(&series)
    })
}

/// `3 generators reach no more than 2 (61.2 k/s): the generator is not what holds it back`.
fn no_more(load: &Load<'_>, generators: f64, ratio: f64) -> String {
    let own = load.number("generators").unwrap_or(1.0);
    let reached = load.throughput().map(|own| rate(own * ratio)).unwrap_or_default();
    format!(
        "{} no more than {} ({reached}): the generator is not what holds it back",
        reach(generators),
        whole(own)
    )
}

fn whole(number: f64) -> String {
    format!("{number:.0}")
}

/// `2 generators reach`.
fn reach(generators: f64) -> String {
    let count = say::count(generators as usize, "generator");
    if generators > 1.0 { format!("{count} reach") } else { format!("{count} reaches") }
}

fn bound(load: &Load<'_>, found: &Generator) -> Ruling {
    let share = load.median("generator-share");
    let mut text = format!("lower bound: {}", why(load, found));
    let told = matches!(found, Generator::Busy { .. } | Generator::Starved { .. });
    if let (Some(share), false) = (share, told) {
        text.push_str(&format!("; {} {} of its time", works(load), say::percent(share)));
    }
    if let Some(cpu) = load.median("generator-cpu") {
        text.push_str(&format!(" ({} of CPU a request)", say::quantity(cpu, Unit::Second)));
    }
    let capacity = capacity(load);
    if let Some((cpu, cores, rate_)) = capacity {
        text.push_str(&format!(
            "; the server used {} of CPU a request, by which its {} could do up to {}",
            say::quantity(cpu, Unit::Second),
            say::count(cores, "core"),
            rate(rate_)
        ));
    }
    let full = load.server_cores().into_iter().filter(|core| core.role == "server" && core.busy >= CEILING);
    if let Some(core) = full.max_by(|a, b| a.busy.total_cmp(&b.busy)) {
        text.push_str(&format!("; its cpu{} was {} busy too", core.cpu, say::percent(core.busy)));
    }
    text.push_str(&format!("; {}", advice(found)));
    let mut finding = Finding::new(KIND, Validity::Doubtful, text).about(load.title());
    let known = [
        ("share", share),
        ("generator_cpu", load.median("generator-cpu")),
        ("server_cpu", capacity.map(|(cpu, ..)| cpu)),
        ("capacity", capacity.map(|(.., rate)| rate)),
        ("more", raised(found)),
        ("filled_by_others", filled(found)),
    ];
    for (name, value) in known {
        if let Some(value) = value {
            finding = finding.evidence(name, value);
        }
    }
    Ruling { finding, reach: load.set_by_generator() }
}

/// What to try.
#[must_use]
pub const fn advice(found: &Generator) -> &'static str {
    match found {
        Generator::Starved { is_shared: false, .. } => {
            "end the other programs, or generate from another machine"
        }
        Generator::Starved { .. } => "give it a core of its own, or generate from another machine",
        _ => "add generators, or generate from another machine",
    }
}

/// How busy a core is that other programs fill beside the generator.
const fn filled(found: &Generator) -> Option<f64> {
    match found {
        Generator::Starved { busy, is_shared: false, .. } => Some(*busy),
        _ => None,
    }
}

const fn raised(found: &Generator) -> Option<f64> {
    match found {
        Generator::More { ratio, .. } | Generator::Rising { ratio, .. } => Some(*ratio),
        _ => None,
    }
}

/// What makes it a lower bound.
#[must_use]
pub fn why(load: &Load<'_>, found: &Generator) -> String {
    let own = load.number("generators").unwrap_or(1.0);
    match found {
        Generator::Busy { share } => format!("{} {} of its time", works(load), say::percent(*share)),
        Generator::Starved { share, busy, is_shared } => format!(
            "{} only {} of its time, on a core that {} ({} busy)",
            works(load),
            say::percent(*share),
            if *is_shared { "it shares with the server" } else { "other programs fill" },
            say::percent(*busy)
        ),
        Generator::More { generators, ratio } => format!("{} {}", reach(*generators), more(*ratio)),
        Generator::Rising { fewer, ratio } => format!(
            "{} {} (against {}), and more than {} were not tried",
            reach(own),
            more(*ratio),
            whole(*fewer),
            whole(own)
        ),
        Generator::Settled { generators, ratio } => no_more(load, *generators, *ratio),
        Generator::Free { share } => format!("{} only {} of its time", works(load), say::percent(*share)),
        Generator::Unknown => "how busy the load generator was is not known".to_owned(),
    }
}

/// `the generator on cpu1 works`.
fn works(load: &Load<'_>) -> String {
    let cores = load.cores();
    let own = cores.iter().filter(|core| core.role == "generator" || core.role == "both");
    let names: Vec<String> = own.map(|core| format!("cpu{}", core.cpu)).collect();
    match names.len() {
        0 => "the busiest core of the generator works".to_owned(),
        1 => format!("the generator on {} works", names[0]),
        2..=4 => format!("the busiest generator core of {} works", say::list(&names)),
        many => format!("the busiest of {many} generator cores works"),
    }
}

/// CPU time of the server for each request, its cores, and the rate that they could serve.
#[must_use]
pub fn capacity(load: &Load<'_>) -> Option<(f64, usize, f64)> {
    let cpu = load.median("server-cpu").filter(|cpu| *cpu > 0.0)?;
    let cores = load.server_cores().len();
    (cores > 0).then(|| (cpu, cores, cores as f64 / cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{empty, load, one};
    use crate::run::RunContext;

    fn rulings(run: &model::data::RunData) -> Vec<Ruling> {
        rule(&Look::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn a_busy_generator_is_named_with_what_the_server_could_do() {
        let run = one(
            "connections=50",
            &[
                ("throughput", 60e3),
                ("response-time", 1e-3),
                ("generator-share", 0.97),
                ("generator-cpu", 12e-6),
                ("server-cpu", 8e-6),
                ("core-busy;cpu=0;role=server", 0.6),
                ("core-busy;cpu=1;role=generator", 1.0),
            ],
        );
        let found = rulings(&run);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Doubtful));
        let text = &found[0].finding.text;
        for part in [
            "lower bound: the generator on cpu1 works 97 % of its time (12.0 us of CPU a request)",
            "8.00 us of CPU a request, by which its 1 core could do up to 125 k/s",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(found[0].reach, [0, 1], "not what the server used");
        assert!((found[0].finding.evidence["capacity"] - 125e3).abs() < 10.0);
    }

    #[test]
    fn a_server_that_is_full_as_well_is_not_kept_quiet() {
        let figures = [
            ("throughput", 60e3),
            ("generator-share", 0.9),
            ("server-cpu", 16e-6),
            ("core-busy;cpu=0;role=server", 0.98),
        ];
        let text = rulings(&one("connections=50", &figures)).remove(0).finding.text;
        assert!(text.contains("up to 62.5 k/s; its cpu0 was 98 % busy too; add generators"), "{text}");
    }

    #[test]
    fn a_generator_on_the_servers_core_is_named() {
        let figures = [("throughput", 46e3), ("generator-share", 0.33), ("core-busy;cpu=0;role=both", 1.0)];
        let found = rulings(&one("connections=50", &figures));
        let says = "lower bound: the generator on cpu0 works only 33 % of its time, on a core that it shares with the \
                    server (100 % busy); give it a core of its own, or generate from another machine";
        assert_eq!((found[0].finding.state, found[0].finding.text.as_str()), (Validity::Doubtful, says));
    }

    #[test]
    fn a_second_generator_that_reaches_more_tells_it_too() {
        let mut run = empty();
        for (generators, throughput) in [(1, 10e3), (2, 13.8e3), (3, 13.9e3)] {
            let figures = [("throughput", throughput), ("generator-share", 0.25)];
            load(&mut run, &format!("generators={generators}"), &figures);
        }
        let found = rulings(&run);
        let doubtful: Vec<&Ruling> =
            found.iter().filter(|one| one.finding.state == Validity::Doubtful).collect();
        assert_eq!(doubtful.len(), 1, "{found:?}");
        let text = &doubtful[0].finding.text;
        assert!(
            text.contains("lower bound: 3 generators reach 39 % more; the busiest core of the generator"),
            "{text}"
        );
        let settled = "3 generators reach no more than 2 (13.9 k/s): the generator is not what holds it back";
        assert!(
            found.iter().any(|one| one.finding.text == settled && one.finding.state == Validity::Ok),
            "{found:?}"
        );
    }

    #[test]
    fn without_loads_nothing_and_without_shares_unknown() {
        assert!(rulings(&empty()).is_empty());
        let found = rulings(&one("connections=1", &[("throughput", 1.0)]));
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Unknown));
        let found = rulings(&one("connections=1", &[("throughput", 1.0), ("generator-share", 0.4)]));
        assert_eq!((found[0].finding.state, found[0].reach.clone()), (Validity::Ok, vec![0]));
    }
}
