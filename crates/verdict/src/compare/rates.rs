//! Loads that were not offered at the same rate, or that neither side held: nothing of them is compared.
//!
//! Requests per second, medians over the measured takes. A rate that is a share of one's own capacity (`load=50%`)
//! asks more of the faster side. What a load that is not held takes is the length of the take.

use std::collections::BTreeMap;

use model::data::Series;
use model::metrics::load;
use model::reading::Phase;
use model::why::{OtherRates, Reason};
use model::{Metric, PerSec};

use super::prepared::{Entry, SideRow, SideValue};
use crate::loads::HELD;

/// Rates that differ by no more than this share are the same.
const SAME: f64 = 0.05;

/// Why two rows of loads are not compared; `None` where they are.
pub fn apart(arm: &SideRow<'_>, base: &SideRow<'_>) -> Option<Reason> {
    let (of_arm, of_base) = (median(arm, &load::OFFERED)?, median(base, &load::OFFERED)?);
    if (of_arm / of_base).ln().abs() > SAME.ln_1p() {
        return Some(Reason::OtherRates(OtherRates { arm: of_arm, base: of_base }));
    }
    let lags = |side: &SideRow<'_>, offered: f64| {
        let (reached, due) = (median(side, &load::THROUGHPUT), due(side).unwrap_or(offered));
        reached.is_some_and(|reached| reached < HELD * due)
    };
    (lags(arm, of_arm) && lags(base, of_base)).then_some(Reason::NeitherHolds { offered: of_base })
}

/// The same of values that may be published ones, which say nothing of their rate.
pub fn are_apart(arm: &SideValue<'_, '_>, base: &SideValue<'_, '_>) -> bool {
    match (arm, base) {
        (SideValue::Measured(arm), SideValue::Measured(base)) => apart(arm, base).is_some(),
        _ => false,
    }
}

/// Requests a second that came due in the takes: chance gives a short take fewer or more than its rate.
fn due(side: &SideRow<'_>) -> Option<f64> {
    let of_run = |entry: &Entry<'_>| {
        let by_take = |metric: &str| -> Option<BTreeMap<u64, f64>> {
            let is_of =
                |other: &&Series| other.key.metric == metric && other.key.is_beside(&entry.series.key);
            let points = entry.run.series.iter().find(is_of)?.points.iter();
            let measured = points.filter(|point| point.phase == Phase::Measured);
            Some(measured.filter_map(|point| Some((point.seq, point.number()?))).collect())
        };
        let (requests, windows) = (by_take(load::REQUESTS.name())?, by_take(load::WINDOW.name())?);
        let rates = requests.iter().filter_map(|(seq, requests)| Some(requests / windows.get(seq)?));
        stats::median(&rates.filter(|rate| rate.is_finite()).collect::<Vec<f64>>())
    };
    stats::median(&side.entries.iter().filter_map(of_run).collect::<Vec<f64>>()).filter(|rate| *rate > 0.0)
}

/// Of another metric of the same loads.
fn median(side: &SideRow<'_>, metric: &Metric<PerSec>) -> Option<f64> {
    let of_run = |entry: &Entry<'_>| {
        let key = &entry.series.key;
        let is_of = |other: &&Series| other.key.metric == metric.name() && other.key.is_beside(key);
        stats::median(&entry.run.series.iter().find(is_of)?.measured())
    };
    let all: Vec<f64> = side.entries.iter().filter_map(of_run).collect();
    stats::median(&all).filter(|rate| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use model::data::RunData;
    use model::doc::{MachineDoc, RowDoc, VerdictWord};

    use crate::loads::planted::one;
    use crate::{CompareOptions, Side, compare};

    const GIVEN: &str = "arrivals=poisson;connections=50;load=50%";

    fn served(id: &str, offered: f64, reached: f64, p99: f64) -> RunData {
        let figures = [("throughput", reached), ("offered-load", offered), ("response-time", p99)];
        let mut run = one(GIVEN, &figures);
        (run.head.id, run.head.study, run.head.machine_id) = (id.into(), id.into(), id.into());
        let cell = model::Cell {
            instrument: "web".into(),
            params: crate::loads::planted::params(GIVEN),
            headline: vec!["throughput".into(), "response-time".into()],
        };
        run.plan.cells = vec![cell];
        run
    }

    fn rows(arm: &RunData, base: &RunData) -> Vec<RowDoc> {
        let side = |run| {
            let machine = MachineDoc { id: String::new(), name: String::new() };
            Side { runs: vec![run], ..Side::new(&RunData::clone(run).head.id, machine) }
        };
        let options = CompareOptions { all: true, cards: instruments::cards(), ..CompareOptions::default() };
        compare(&[side(base), side(arm)], &options).rows
    }

    #[test]
    fn half_of_ones_own_capacity_is_no_rate_to_compare_at() {
        // Twice as fast, asked for twice as much, and so a little later.
        let (slow, fast) = (served("slow", 1e3, 1e3, 1e-3), served("fast", 2e3, 2e3, 1.2e-3));
        for row in rows(&fast, &slow) {
            assert_eq!(
                (row.verdict, row.headline, row.ratio),
                (VerdictWord::CannotTell, false, None),
                "{row:?}"
            );
            assert_eq!(
                row.why.to_string(),
                "not at the same rate: 2.00 k/s against 1.00 k/s were offered; give both one (--set load=auto --set \
                 rate=1000)"
            );
        }
        // At one rate the faster one is judged as such.
        let fast = served("fast", 1.02e3, 1.02e3, 0.5e-3);
        let time = rows(&fast, &slow).into_iter().find(|row| row.metric == "response-time").unwrap();
        assert_eq!((time.verdict, time.headline), (VerdictWord::Better, true), "{time:?}");
    }

    #[test]
    fn what_came_due_by_chance_is_what_is_held() {
        // Of 44 a second that were offered, chance sent 38 in takes of a second, and all were answered.
        let served = |id: &str, requests: f64| {
            let mut run = served(id, 44.0, 38.0, 1e-3);
            let more = one(GIVEN, &[("requests", requests), ("window", 1.0)]);
            run.series.extend(more.series);
            run
        };
        let (a, b) = (served("a", 38.0), served("b", 38.0));
        for row in rows(&a, &b) {
            assert!(
                row.ratio.is_some() && !row.why.to_string().contains("neither"),
                "{}: {}",
                row.metric,
                row.why
            );
        }
        // Where 44 came due, 38 are not all of them.
        let (a, b) = (served("a", 44.0), served("b", 44.0));
        assert!(rows(&a, &b)[0].why.to_string().starts_with("neither side answers 44.0 /s"));
    }

    #[test]
    fn a_rate_that_neither_holds_says_nothing_of_either() {
        let (a, b) = (served("a", 1e3, 700.0, 0.3), served("b", 1e3, 500.0, 0.5));
        assert!(rows(&a, &b)[0].why.to_string().starts_with("neither side answers 1.00 k/s"));
        // Who holds it is better than who does not.
        let holds = served("holds", 1e3, 999.0, 1e-3);
        assert!(rows(&holds, &b).iter().all(|row| row.verdict == VerdictWord::Better));
    }
}
