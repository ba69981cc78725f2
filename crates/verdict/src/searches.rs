//! Searches for the largest load that holds: the steps of all takes, by the rate that they offered.
//!
//! Requests per second, seconds. Takes ask for rates of their own, so steps of rates that lie close are told together.
//! Whether a step held is decided where it is made, by the requests that came due in it.

use std::ops::RangeInclusive;

use model::doc::{SearchDoc, SearchStepDoc, TriedDoc};
use model::metrics::load;
use model::params::parse_span;

use crate::loads::Load;
use crate::run_index::RunIndex;

/// Rows at most, and the factors within which rates lie close: the first that makes the rows few enough.
const ROWS: usize = 12;
const CLOSE: [f64; 7] = [1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0];

/// Steps within this factor of the rate that was found are steps at it.
const AT: f64 = 1.03;
/// Steps that far below a rate, and that far above it, are steps at about it, if it is one that may be kept.
const ABOUT: (f64, f64) = (AT, 1.01);
/// Steps that far below a rate tell whether it is kept.
const BELOW: f64 = 1.1;
/// So many steps at about a rate must have held for each that broke, before the rate is said to be kept.
const SURELY: u64 = 2;
/// A rate that held so often is rather said to be kept than a larger one that held once.
const REPEATED: u64 = 2;

/// One step of one take.
struct Step {
    rate: f64,
    requests: f64,
    answered: Option<f64>,
    time: Option<f64>,
    is_held: bool,
}

/// The searches of a run, in the order of its loads.
pub fn searches(index: &RunIndex<'_>) -> Vec<SearchDoc> {
    let all = index.loads().iter().filter(|load| !load.is_plain()).map(search);
    all.filter(|search| !search.steps.is_empty()).collect()
}

/// The search that a load is.
pub fn search(load: &Load<'_>) -> SearchDoc {
    let requests = load.by_part(&load::STEP_REQUESTS, load::STEP);
    let answered = load.by_part(&load::STEP_ANSWERED, load::STEP);
    let (times, held) =
        (load.by_part(&load::STEP_TIME, load::STEP), load.by_part(&load::STEP_HELD, load::STEP));
    let step = |(at, rate): ((u64, String), f64)| {
        Some(Step {
            rate,
            requests: *requests.get(&at)?,
            answered: answered.get(&at).copied(),
            time: times.get(&at).copied(),
            is_held: *held.get(&at)? > 0.0,
        })
    };
    let mut steps: Vec<Step> =
        load.by_part(&load::STEP_RATE, load::STEP).into_iter().filter_map(step).collect();
    steps.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let text = |name: &str| load.params.get(name).unwrap_or_default().to_owned();
    let found = load.rate_summary();
    let interval = found.as_ref().and_then(|found| found.interval);
    let rate = found.as_ref().map(|found| found.median);
    let kept = rate.and_then(|rate| kept(&steps, rate));
    SearchDoc {
        instrument: load.instrument.to_owned(),
        params: load.params.clone(),
        arm: load.arm.to_owned(),
        percentile: text("percentile"),
        limit: parse_span(&text("limit")),
        found: rate,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        tried: rate.and_then(|rate| tried(&steps, rate, rate / AT..=rate * AT)),
        kept,
        steps: shown(&steps, kept.map(|kept| kept.rate)),
    }
}

/// The steps at these rates; `None` without any.
fn tried(steps: &[Step], rate: f64, at: RangeInclusive<f64>) -> Option<TriedDoc> {
    let there: Vec<&Step> = steps.iter().filter(|step| at.contains(&step.rate)).collect();
    let held = there.iter().filter(|step| step.is_held).count();
    let tried = TriedDoc { rate, held: held as u64, broken: (there.len() - held) as u64 };
    (!there.is_empty()).then_some(tried)
}

/// The largest rate up to this one that was tried and that two thirds of the steps at about it kept, as most did up to
/// a little below it; one that held again and again goes before one that did once. Steps are by rising rate.
fn kept(steps: &[Step], most: f64) -> Option<TriedDoc> {
    let rates = steps.iter().rev().filter(|step| step.is_held && step.rate <= most * (1.0 + f64::EPSILON));
    let held_below = |rate: f64| tried(steps, rate, rate / BELOW..=rate).is_some_and(|one| one.mostly_held());
    let all: Vec<TriedDoc> = rates
        .filter(|step| held_below(step.rate))
        .filter_map(|step| tried(steps, step.rate, about(step.rate)))
        .filter(|at| at.held >= SURELY * at.broken)
        .collect();
    all.iter().find(|one| one.held >= REPEATED).or(all.first()).copied()
}

/// Rates that are about this one.
fn about(rate: f64) -> RangeInclusive<f64> {
    rate / ABOUT.0..=rate * ABOUT.1
}

/// The rows of a search: steps of rates that lie close are one; those at about the rate that was kept are one of their
/// own, which tells that rate.
fn shown(steps: &[Step], kept: Option<f64>) -> Vec<SearchStepDoc> {
    let Some(kept) = kept else { return grouped(steps, ROWS).into_iter().map(together).collect() };
    let at = about(kept);
    let below = steps.partition_point(|step| step.rate < *at.start());
    let above = steps.partition_point(|step| step.rate <= *at.end());
    let own = SearchStepDoc { offered: kept, kept: true, ..together(&steps[below..above]) };
    let (below, above) = (&steps[..below], &steps[above..]);
    let rows = |some: &[Step], most: usize| grouped(some, most).into_iter().map(together).collect::<Vec<_>>();
    [rows(below, ROWS / 2), vec![own], rows(above, ROWS / 2)].concat()
}

/// Steps by rising rate in so many groups at most, as far as factors in [`CLOSE`] make them.
fn grouped(steps: &[Step], most: usize) -> Vec<&[Step]> {
    let groups = |close: f64| {
        let (mut groups, mut rest) = (Vec::new(), steps);
        while let Some(first) = rest.first() {
            let (group, behind) = rest.split_at(rest.partition_point(|step| step.rate <= first.rate * close));
            groups.push(group);
            rest = behind;
        }
        groups
    };
    let mut all = CLOSE.into_iter().map(groups);
    let widest = CLOSE.last().map_or_else(Vec::new, |close| groups(*close));
    all.find(|groups| groups.len() <= most).unwrap_or(widest)
}

fn together(steps: &[Step]) -> SearchStepDoc {
    let median =
        |of: fn(&Step) -> Option<f64>| stats::median(&steps.iter().filter_map(of).collect::<Vec<_>>());
    let held = steps.iter().filter(|step| step.is_held).count() as u64;
    // A step whose percentile fell on a failed request has no time, and is slower than any.
    let times = steps.iter().filter(|step| step.time.is_some()).count();
    SearchStepDoc {
        offered: median(|step| Some(step.rate)).unwrap_or_default(),
        requests: median(|step| Some(step.requests)).unwrap_or_default(),
        answered: median(|step| step.answered),
        time: median(|step| step.time).filter(|_| 2 * times > steps.len()),
        held,
        broken: steps.len() as u64 - held,
        kept: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{TAKES, empty, params, series};
    use crate::run_index::RunContext;
    use model::Value;

    const GIVEN: &str = "limit=10ms;percentile=p99";

    #[test]
    fn steps_of_all_takes_are_told_by_rate() {
        let mut run = empty();
        let whole = |value: f64| (0..TAKES).map(|seq| (seq, Value::Number(value))).collect::<Vec<_>>();
        series(&mut run, "web-slo", "slo-throughput", params(GIVEN), "", &whole(1000.0));
        for (step, (rate, held)) in [(300.0, true), (900.0, true), (1100.0, false)].into_iter().enumerate() {
            let given = params(GIVEN).with(&params(&format!("step={}", step + 1)));
            let mut of = |metric: &str, points: Vec<(u64, Value)>| {
                series(&mut run, "web-slo", metric, given.clone(), "", &points);
            };
            of("step-rate", (0..TAKES).map(|seq| (seq, Value::Number(rate + seq as f64 / 10.0))).collect());
            of("step-requests", whole(rate * 4.0));
            of("step-answered", whole(if held { 1.0 } else { 0.5 }));
            if held {
                of("step-time", whole(2e-3));
            }
            // By bad luck the first take breaks at every rate.
            let is_held = |seq: u64| Value::Number(f64::from(u8::from(held && seq > 0)));
            of("step-held", (0..TAKES).map(|seq| (seq, is_held(seq))).collect());
        }
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let all = searches(&RunIndex::new(&run, &context));
        assert_eq!(all.len(), 1);
        let found = (all[0].percentile.as_str(), all[0].limit, all[0].found);
        assert_eq!(found, ("p99", Some(0.01), Some(1000.0)));
        let rows: Vec<(u64, u64, u64)> =
            all[0].steps.iter().map(|step| (step.offered as u64, step.held, step.broken)).collect();
        assert_eq!(rows, [(300, TAKES - 1, 1), (900, TAKES - 1, 1), (1100, 0, TAKES)]);
        assert_eq!((all[0].steps[0].time, all[0].steps[2].time), (Some(2e-3), None));
        assert_eq!((all[0].steps[2].answered, all[0].steps[2].requests), (Some(0.5), 4400.0));
    }

    #[test]
    fn what_is_kept_is_what_most_steps_up_to_it_held() {
        let step = |(rate, is_held): &(f64, bool)| Step {
            rate: *rate,
            requests: 1.0,
            answered: None,
            time: None,
            is_held: *is_held,
        };
        // Of a search on a machine that was not quiet.
        let all = [
            (271.0, true),
            (315.0, true),
            (344.5, true),
            (365.8, false),
            (365.8, false),
            (369.4, true),
            (376.9, true),
            (376.9, false),
            (392.0, false),
        ];
        let steps: Vec<Step> = all.iter().map(step).collect();
        let doc = |rate, held, broken| Some(TriedDoc { rate, held, broken });
        assert_eq!(tried(&steps, 369.0, 369.0 / AT..=369.0 * AT), doc(369.0, 2, 3));
        assert_eq!(kept(&steps, 369.0), doc(344.5, 1, 0));
        assert_eq!((tried(&steps, 100.0, 97.0..=103.0), kept(&steps, 100.0)), (None, None));
        // Only what was tried is kept.
        assert_eq!(kept(&steps[..3], 340.0), doc(315.0, 1, 0));
    }

    #[test]
    fn a_rate_that_held_again_is_kept_before_one_that_held_once_and_has_a_row() {
        let step = |(rate, is_held): &(f64, bool)| Step {
            rate: *rate,
            requests: 1.0,
            answered: None,
            time: None,
            is_held: *is_held,
        };
        // The search held at 176 once; its checks at 180 broke and those at 171 held.
        let all =
            [(120.0, true), (171.0, true), (171.0, false), (171.0, true), (176.5, true), (180.0, false)];
        let mut steps: Vec<Step> = all.iter().chain(&[(180.0, false)]).map(step).collect();
        assert_eq!(kept(&steps, 180.0), Some(TriedDoc { rate: 171.0, held: 2, broken: 1 }));
        let rows = shown(&steps, Some(171.0));
        let told: Vec<_> = rows.iter().map(|row| (row.offered, row.held, row.broken, row.kept)).collect();
        assert_eq!(
            told,
            [(120.0, 1, 0, false), (171.0, 2, 1, true), (176.5, 1, 0, false), (180.0, 0, 2, false)]
        );
        // Where all of it broke nothing is kept.
        steps.iter_mut().for_each(|step| step.is_held = false);
        assert_eq!(kept(&steps, 180.0), None);
    }

    #[test]
    fn many_rates_make_few_rows() {
        let step = |rate: f64| Step { rate, requests: 1.0, answered: None, time: None, is_held: true };
        for count in [1u32, 12, 13, 160] {
            let steps: Vec<Step> = (0..count).map(|n| step(100.0 * 1.04_f64.powi(n as i32))).collect();
            let groups = grouped(&steps, ROWS);
            assert_eq!(groups.iter().map(|group| group.len()).sum::<usize>(), count as usize);
            assert!(groups.len() <= ROWS, "{count}: {}", groups.len());
        }
    }
}
