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
mod counted;
mod credits;
pub mod cut;
mod drift;
pub mod drops;
pub mod environment;
mod errors;
pub mod generator_bound;
mod generator_delay;
mod guest;
mod heat;
mod idle_at_peak;
mod late;
mod lost_syns;
pub mod low_memory;
mod memory_ceiling;
mod noisy_neighbour;
mod own_cost;
mod recorded;
mod redirects;
mod same_cores;
mod samples;
mod server_quota;
mod stall;
mod steal;
mod throttled;
mod timer;

use model::data::RunData;
use model::{Finding, Validity};

use crate::ruling::Ruling;
use crate::run_index::{RunContext, RunIndex};

type Rule = fn(&RunIndex<'_>) -> Vec<Ruling>;

/// In the order in which they are shown: what refuses first.
const ALL: &[Rule] = &[
    recorded::rule,
    cut::rule,
    credits::rule,
    low_memory::rule,
    above_ceiling::rule,
    throttled::rule,
    server_quota::rule,
    generator_bound::rule,
    same_cores::rule,
    errors::rule,
    redirects::rule,
    lost_syns::rule,
    stall::rule,
    late::rule,
    generator_delay::rule,
    drops::rule,
    idle_at_peak::rule,
    clock::rule,
    heat::rule,
    counted::throttling,
    memory_ceiling::rule,
    steal::rule,
    background::rule,
    counted::paging,
    clock_step::rule,
    timer::rule,
    guest::rule,
    samples::rule,
    drift::rule,
    autocorrelation::rule,
    noisy_neighbour::rule,
    own_cost::rule,
];

/// Findings of all rules about a run, without earlier runs to compare with.
pub fn findings(run: &RunData) -> Vec<Finding> {
    rulings(run, &RunContext::default()).into_iter().map(|ruling| ruling.finding).collect()
}

/// Rulings of all rules about a run, the gravest first.
pub fn rulings(run: &RunData, context: &RunContext<'_>) -> Vec<Ruling> {
    of_index(&RunIndex::new(run, context))
}

/// The same of a run that is indexed.
pub fn of_index(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.is_of_periods() {
        return Vec::new();
    }
    let mut all: Vec<Ruling> = ALL.iter().flat_map(|rule| rule(index)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::one;
    use crate::ruling::validity_of;

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
        assert_eq!(validity_of(&of_takes, index), (Validity::Unknown, Vec::new()));
        run.series.drain(..index);
        let of_hours = rulings(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() });
        assert!(of_hours.is_empty(), "{of_hours:?}");
    }
}
