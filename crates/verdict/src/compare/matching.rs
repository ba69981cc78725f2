//! Which rows of two sides are the same measurement: the one place where that is decided.
//!
//! Measured against measured: instrument, metric, unit, definition and every parameter, but not those on which the
//! arms differ. Measured against published: those parameters that both name; what the published figure leaves open is
//! reported. Sizes are equal when they are the same number of bytes.

use std::collections::BTreeSet;

use model::Match::Close;
use model::data::{Published, RunData, Series};
pub use model::params::same;
use model::{Better, Card, Cards, Conditions, Matched, Params, Plan, Samples, Unit};

use super::side::Side;

/// The parameter that says where a figure was measured.
const CPUS: &str = "cpus";

/// The identity of a row across sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey {
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    pub definition: u32,
    pub params: Params,
}

impl RowKey {
    pub fn of_series(series: &Series, run: &RunData, dropped: &BTreeSet<String>) -> RowKey {
        let key = &series.key;
        let mut params = key.params.clone();
        params.retain(|name, _| !dropped.contains(name));
        if params.get(CPUS).is_some() && asked_auto(&run.plan, &key.instrument, CPUS) {
            params.set(CPUS, "auto");
        }
        let (instrument, metric) = (key.instrument.clone(), key.metric.clone());
        RowKey { instrument, metric, unit: key.unit, definition: key.definition, params }
    }

    pub fn published(published: &Published) -> RowKey {
        let key = &published.key;
        RowKey {
            instrument: key.instrument.clone(),
            metric: key.metric.clone(),
            unit: key.unit,
            definition: key.definition,
            params: key.params.clone(),
        }
    }

    pub fn samples(&self, cards: Cards) -> Samples {
        Samples::for_instrument(cards, &self.instrument)
    }

    /// `mem-latency latency mode=stride`.
    pub fn title(&self) -> String {
        format!("{} {} {}", self.instrument, self.metric, self.params).trim_end().to_owned()
    }
}

/// CPUs left to the machine (`cpus=auto`) are the same request everywhere, whichever they came to. Any other parameter
/// that the machine chose, such as the range of a chain, is a part of what was measured.
fn asked_auto(plan: &Plan, instrument: &str, name: &str) -> bool {
    let mut cells = plan.cells.iter().filter(|cell| cell.instrument == instrument).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.params.get(name) == Some("auto"))
}

/// Parameters on which arms of the sides differ: they are what is compared, so they do not identify a row.
pub fn dropped_keys(sides: &[Side<'_>]) -> BTreeSet<String> {
    let mut dropped = BTreeSet::new();
    for (index, a) in sides.iter().enumerate() {
        for b in &sides[index + 1..] {
            let (Some(run_a), Some(run_b)) = (a.runs.first(), b.runs.first()) else { continue };
            let (name_a, name_b) = (arm_name(a, run_a), arm_name(b, run_b));
            if name_a == name_b {
                continue;
            }
            if run_a.plan.arms == run_b.plan.arms {
                dropped.extend(run_a.plan.arm_keys().keys().cloned());
                continue;
            }
            let (set_a, set_b) = (arm_set(&run_a.plan, name_a), arm_set(&run_b.plan, name_b));
            let differs =
                |name: &&String| set_b.get(name).is_some_and(|value| set_a.get(name) != Some(value));
            dropped.extend(set_a.keys().filter(differs).cloned());
        }
    }
    dropped
}

/// The arm that a side stands for in a run.
pub fn arm_name<'a>(side: &'a Side<'_>, run: &'a RunData) -> &'a str {
    match &side.arm {
        Some(name) => name,
        None => run.plan.arms.first().map_or("", |arm| arm.name.as_str()),
    }
}

fn arm_set(plan: &Plan, name: &str) -> Params {
    plan.arms.iter().find(|arm| arm.name == name).map(|arm| arm.set.clone()).unwrap_or_default()
}

/// A published figure of the same measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'p> {
    pub row: &'p Published,
    /// Parameters that the published figure leaves open.
    pub open: Vec<String>,
    /// Parameters that only the published figure states.
    pub stated: Params,
    /// Further published figures that would match as well.
    pub others: usize,
}

/// The published figure that matches best: the most shared parameters, then the fewest of its own.
pub fn published_for<'p>(
    key: &RowKey,
    conditions: &Conditions,
    better: Better,
    published: &'p [Published],
) -> Option<Match<'p>> {
    let key = &known(key, conditions);
    let fitting = fitting(key, conditions, better, published);
    let others = fitting.len().saturating_sub(1);
    fitting.into_iter().next().map(|row| matched(key, row, others))
}

/// The row with what is worked out of it, in which published figures must agree too.
fn known(key: &RowKey, conditions: &Conditions) -> RowKey {
    RowKey { params: key.params.with(&conditions.known), ..key.clone() }
}

/// Every published figure that shares as many parameters with the row as the best one does: they differ only in what
/// they alone state.
pub fn all_published_for<'p>(
    key: &RowKey,
    conditions: &Conditions,
    better: Better,
    published: &'p [Published],
) -> Vec<Match<'p>> {
    let key = &known(key, conditions);
    let fitting = fitting(key, conditions, better, published);
    let Some(most) = fitting.first().map(|row| shared(key, row)) else { return Vec::new() };
    let equal = fitting.into_iter().filter(|row| shared(key, row) == most);
    equal.map(|row| matched(key, row, 0)).collect()
}

/// The figures that may stand beside a row, the best first.
fn fitting<'p>(
    key: &RowKey,
    conditions: &Conditions,
    better: Better,
    published: &'p [Published],
) -> Vec<&'p Published> {
    let is_allowed =
        |row: &&Published| conditions.allow(&row.key.params) && fits(key, better, row, conditions.card);
    let mut fitting: Vec<&Published> = published.iter().filter(is_allowed).collect();
    fitting.sort_by_key(|row| (std::cmp::Reverse(shared(key, row)), only_theirs(key, row).len()));
    fitting
}

/// True where a published figure is of the same measurement as a row, as far as the conditions of both are known.
pub fn fits(key: &RowKey, better: Better, row: &Published, card: Option<&Card>) -> bool {
    let theirs = &row.key;
    theirs.instrument == key.instrument
        && theirs.metric == key.metric
        && theirs.unit == key.unit
        && theirs.definition == key.definition
        && row.better == better
        && row.value.is_finite()
        && row.value > 0.0
        && agree(&key.params, &theirs.params, card)
}

/// Parameters that both name.
fn shared(key: &RowKey, row: &Published) -> usize {
    row.key.params.keys().filter(|name| key.params.get(name).is_some()).count()
}

fn only_theirs(key: &RowKey, row: &Published) -> Params {
    let mut params = row.key.params.clone();
    params.retain(|name, _| key.params.get(name).is_none());
    params
}

fn matched<'p>(key: &RowKey, row: &'p Published, others: usize) -> Match<'p> {
    let open = key.params.keys().filter(|name| row.key.params.get(name).is_none()).cloned().collect();
    Match { row, open, stated: only_theirs(key, row), others }
}

/// Every parameter that both name agrees, and they name one in common where both name any.
fn agree(ours: &Params, theirs: &Params, card: Option<&Card>) -> bool {
    let mut shared =
        ours.iter().filter_map(|(name, value)| Some((name, value, theirs.get(name)?))).peekable();
    if shared.peek().is_none() && !ours.is_empty() && !theirs.is_empty() {
        return false;
    }
    shared.all(|(name, a, b)| same_of(card, name, a, b))
}

/// True where two values of a parameter are the same, and of any two addresses: the far end of a study is none of ours.
pub fn same_of(card: Option<&Card>, name: &str, a: &str, b: &str) -> bool {
    let spec = card.and_then(|card| card.param(name)).filter(|spec| spec.matched == Matched::Address);
    same(a, b) || spec.is_some_and(|spec| spec.key_part(a, Close) == spec.key_part(b, Close))
}

#[cfg(test)]
mod tests {
    use model::Basis;
    use model::SeriesKey;
    use proptest::prelude::*;

    use super::*;

    fn key(params: &str) -> RowKey {
        RowKey {
            instrument: "crc32c".into(),
            metric: "throughput".into(),
            unit: Unit::BytesPerSec,
            definition: 1,
            params: Params::parse(params).unwrap(),
        }
    }

    fn point(params: &str, definition: u32, value: f64) -> Published {
        let key = key(params);
        let key = SeriesKey {
            instrument: key.instrument,
            metric: key.metric,
            unit: key.unit,
            params: key.params,
            arm: String::new(),
            definition,
        };
        Published {
            study: "s".into(),
            machine: "m".into(),
            key,
            better: Better::Higher,
            value,
            low: None,
            high: None,
            bounds: String::new(),
            basis: Basis::Measured,
            note: String::new(),
        }
    }

    #[test]
    fn shared_parameters_must_agree() {
        let ours = key("impl=chain;size=1KiB;threads=1");
        let rows = [
            point("impl=fast;size=1024", 1, 1.0),
            point("impl=chain;size=127", 1, 2.0),
            point("impl=chain;size=1024", 2, 3.0),
            point("impl=chain;size=1024;os=x", 1, 4.0),
            point("impl=chain;size=1024", 1, 5.0),
            point("other=1", 1, 6.0),
        ];
        let found = published_for(&ours, &Conditions::default(), Better::Higher, &rows).unwrap();
        assert_eq!((found.row.value, found.others), (5.0, 1));
        assert_eq!(found.open, ["threads"]);
        assert_eq!(published_for(&ours, &Conditions::default(), Better::Lower, &rows), None);
        assert_eq!(
            published_for(&key("impl=table;size=1KiB"), &Conditions::default(), Better::Higher, &rows),
            None
        );
    }

    #[test]
    fn what_the_machine_chose_is_part_of_the_row() {
        let key_of = |came_to: &str| {
            let asked = Params::parse("cpus=auto;range=auto").unwrap();
            let mut run = crate::loads::planted::empty();
            run.plan.cells =
                vec![model::Cell { instrument: "chain".into(), params: asked, headline: Vec::new() }];
            let series = Series {
                key: SeriesKey { instrument: "chain".into(), ..point(came_to, 1, 1.0).key },
                better: Better::Lower,
                points: Vec::new(),
            };
            RowKey::of_series(&series, &run, &BTreeSet::new())
        };
        assert_eq!(key_of("cpus=0;range=1GiB"), key_of("cpus=3;range=1GiB"));
        assert_ne!(key_of("cpus=0;range=1GiB"), key_of("cpus=0;range=256MiB"));
    }

    #[test]
    fn far_ends_agree_and_the_loopback_is_none() {
        let card = model::card::find(instruments::cards(), "net-ping");
        let of = |ours: &str, theirs: &str| {
            let params = |text: &str| Params::parse(text).unwrap();
            agree(&params(ours), &params(theirs), card)
        };
        assert!(of("size=56;to=10.0.0.2", "to=rc01") && of("size=56;to=loopback", "to=loopback"));
        assert!(!of("size=56;to=loopback", "to=rc01") && !of("size=56;to=10.0.0.2", "size=64;to=rc01"));
    }

    #[test]
    fn figures_that_fit_equally_are_all_found() {
        let ours = key("size=7;threads=1");
        let rows = [
            point("size=7;threads=1;dimms=1 DIMM", 1, 1.0),
            point("size=7;threads=1;dimms=6 x 4 GB", 1, 2.0),
            point("size=7", 1, 3.0),
        ];
        let found = all_published_for(&ours, &Conditions::default(), Better::Higher, &rows);
        assert_eq!(found.iter().map(|point| point.row.value).collect::<Vec<_>>(), [1.0, 2.0]);
        assert_eq!(found[1].stated.get("dimms"), Some("6 x 4 GB"));
    }

    #[test]
    fn a_figure_that_is_no_number_matches_nothing() {
        let ours = key("size=7");
        assert_eq!(
            published_for(&ours, &Conditions::default(), Better::Higher, &[point("size=7", 1, f64::NAN)]),
            None
        );
        assert_eq!(
            published_for(&ours, &Conditions::default(), Better::Higher, &[point("size=7", 1, 0.0)]),
            None
        );
    }

    proptest! {
        #[test]
        fn agreeing_is_mutual(a in "[ab]=[12](;[cd]=[12])?", b in "[ab]=[12](;[cd]=[12])?") {
            let (a, b) = (Params::parse(&a).unwrap(), Params::parse(&b).unwrap());
            prop_assert_eq!(agree(&a, &b, None), agree(&b, &a, None));
        }
    }
}
