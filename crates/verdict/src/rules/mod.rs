//! Validity rules, one file each: what they read of a run, and what they conclude about its series.
//!
//! A rule says `ok`, `doubtful`, `invalid` or `unknown (why)`, with a sentence and the numbers behind it; a rule
//! without inputs never says `ok`. Shares are 0 to 1, clocks Hz, times s. Nothing here changes a figure.
//!
//! Rules of loads say nothing of runs without loads, and no rule says anything of a run that has no takes but periods
//! ([`model::Samples`]): there is nothing in it that they look at.

mod above_ceiling;
mod autocorrelation;
mod background;
pub mod clock;
mod clock_step;
pub mod cut;
mod drift;
pub mod drops;
pub mod environment;
mod errors;
pub mod generator_bound;
mod heat;
mod idle_at_peak;
mod late;
mod little;
mod look;
mod memory_ceiling;
mod noisy_neighbour;
mod own_cost;
mod paging;
mod recorded;
mod redirects;
mod same_cores;
mod samples;
mod stall;
mod steal;
mod thermal;
mod throttled;
mod timer;

use std::collections::BTreeMap;

use model::data::RunData;
use model::finding;
use model::{Finding, Subject, Validity};

use crate::run::RunContext;
pub use look::{Look, Row};

/// A finding and the series it is about (positions in the run's `series`).
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    pub finding: Finding,
    pub reach: Vec<usize>,
}

type Rule = fn(&Look<'_>) -> Vec<Ruling>;

/// In the order in which they are shown: what refuses first.
const ALL: [Rule; 27] = [
    recorded::rule,
    cut::rule,
    above_ceiling::rule,
    little::rule,
    throttled::rule,
    generator_bound::rule,
    same_cores::rule,
    errors::rule,
    redirects::rule,
    stall::rule,
    late::rule,
    drops::rule,
    idle_at_peak::rule,
    clock::rule,
    heat::rule,
    thermal::rule,
    memory_ceiling::rule,
    steal::rule,
    background::rule,
    paging::rule,
    clock_step::rule,
    timer::rule,
    samples::rule,
    drift::rule,
    autocorrelation::rule,
    noisy_neighbour::rule,
    own_cost::rule,
];

/// What every rule says of a run, without earlier runs to compare with.
#[must_use]
pub fn findings(run: &RunData) -> Vec<Finding> {
    rulings(run, &RunContext::default()).into_iter().map(|ruling| ruling.finding).collect()
}

/// What every rule says of a run, the gravest first.
#[must_use]
pub fn rulings(run: &RunData, context: &RunContext<'_>) -> Vec<Ruling> {
    let look = Look::new(run, context);
    if look.is_of_periods() {
        return Vec::new();
    }
    let mut all: Vec<Ruling> = ALL.iter().flat_map(|rule| rule(&look)).collect();
    all.sort_by_key(|ruling| std::cmp::Reverse(grave(ruling.finding.state)));
    all
}

/// Order of display: invalid, doubtful, ok, unknown.
fn grave(state: Validity) -> u8 {
    match state {
        Validity::Invalid => 3,
        Validity::Doubtful => 2,
        Validity::Ok => 1,
        Validity::Unknown => 0,
    }
}

/// What the rulings leave of one series: its validity and why.
#[must_use]
pub fn of_series(rulings: &[Ruling], series: usize) -> (Validity, Vec<String>) {
    let about = rulings.iter().filter(|ruling| ruling.reach.contains(&series));
    let mut states: BTreeMap<Validity, Vec<String>> = BTreeMap::new();
    for ruling in about {
        states.entry(ruling.finding.state).or_default().push(ruling.finding.text());
    }
    let grave = |state: Validity| states.get(&state).cloned().unwrap_or_default();
    let reasons: Vec<String> = [grave(Validity::Invalid), grave(Validity::Doubtful)].concat();
    let state = [Validity::Invalid, Validity::Doubtful, Validity::Ok]
        .into_iter()
        .find(|state| states.contains_key(state))
        .unwrap_or(Validity::Unknown);
    (state, reasons)
}

impl Ruling {
    /// About the whole run, without a series that it reaches.
    fn of_run(rule: impl Into<finding::Rule>) -> Ruling {
        Ruling { finding: Finding::new(rule), reach: Vec::new() }
    }

    fn about(subject: Subject, rule: impl Into<finding::Rule>, reach: Vec<usize>) -> Ruling {
        Ruling { finding: Finding::new(rule).about(subject), reach }
    }
}

/// Groups what one rule says of single series: one ruling for each that is not `ok`, and one for all that are.
fn settle<R: Into<finding::Rule>>(
    bad: Vec<Ruling>,
    good: Vec<usize>,
    ok: impl FnOnce(usize) -> R,
) -> Vec<Ruling> {
    let mut all = bad;
    if !good.is_empty() {
        all.push(Ruling { finding: Finding::new(ok(good.len())), reach: good });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::one;

    #[test]
    fn periods_are_not_judged_as_takes() {
        // One sample that drifts nowhere and is too few.
        let mut run = one("connections=1", &[("throughput", 1.0)]);
        run.series.iter_mut().for_each(|series| series.points.truncate(1));
        assert!(findings(&run).iter().any(|finding| finding.kind() == "samples"), "{:?}", findings(&run));
        let mut hours = run.series[0].clone();
        hours.key.instrument = "logs".into();
        run.series.push(hours);
        let index = run.series.len() - 1;
        let of_takes = rulings(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() });
        assert!(of_takes.iter().all(|ruling| !ruling.reach.contains(&index)), "{of_takes:?}");
        assert_eq!(of_series(&of_takes, index), (Validity::Unknown, Vec::new()));
        run.series.drain(..index);
        let of_hours = rulings(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() });
        assert!(of_hours.is_empty(), "{of_hours:?}");
    }
}
