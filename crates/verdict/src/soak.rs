//! The figures of `run --soak` over its time: what they are at first, what lasts, their slope, and where they fall.
//!
//! First is the median of the takes of the first minute, of a shorter run those of its first fifth. Sustained is that
//! of the last third, or of the takes since the knee where that is later. Warm-up takes count nowhere. Slope and
//! knee see every other take.

use model::data::{Point, Series};
use model::doc::{KneeDoc, SlopeDoc, SoakDoc};
use model::names::Key;
use model::{Better, Phase, card, names};
use stats::{Trend, Unfit};

use crate::headline::is_headline;
use crate::run_index::{FigureRow, RunIndex};

/// Seconds of the level that short takes see.
const FIRST: f64 = 60.0;
/// Part of a shorter run that counts as its beginning.
const FIRST_PART: f64 = 0.2;
/// Part of the time that shows what lasts.
const LAST_PART: f64 = 1.0 / 3.0;
/// Takes that make a level.
const LEAST: usize = 3;
/// Slopes of all pairs are formed: longer runs are told by the medians of neighbours.
const MOST: usize = 600;

/// The figures of a run; none of a run that is no soak.
pub fn figures(index: &RunIndex<'_>) -> Vec<SoakDoc> {
    if !index.is_soak() {
        return Vec::new();
    }
    let cards = index.context.cards;
    let is_shown = |row: &FigureRow<'_>| {
        let key = &row.series.key;
        let is_detail = names::is_detail(card::find(cards, &key.instrument), &key.metric);
        is_headline(index, *row) && !is_detail
    };
    let mut all: Vec<SoakDoc> = index.rows().filter(is_shown).map(|row| figure(index, row.series)).collect();
    all.sort_by_cached_key(|one| names::order(Key::from(one)));
    all
}

/// A take: its start, s, and its value.
type Timed = (f64, f64);

fn figure(index: &RunIndex<'_>, series: &Series) -> SoakDoc {
    let key = &series.key;
    let measured = |point: &&Point| point.phase == Phase::Measured;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let points: Vec<&Point> = series.points.iter().filter(measured).collect();
    let takes: Vec<Timed> =
        points.iter().filter_map(|point| Some((seconds(point.at_ns), point.number()?))).collect();
    let start = takes.first().map_or(0.0, |take| take.0);
    let end = points.last().map_or(start, |point| seconds(point.at_ns.saturating_add(point.window_ns)));
    let first_seconds = FIRST.min((end - start) * FIRST_PART);
    let mut doc = SoakDoc {
        card: card::find(index.context.cards, &key.instrument),
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        unit: key.unit,
        better: series.better,
        params: key.params.clone(),
        arm: key.arm.clone(),
        takes: takes.len() as u64,
        seconds: end - start,
        first: None,
        first_seconds,
        sustained: None,
        low: None,
        high: None,
        share: None,
        slope: None,
        knee: None,
        why: None,
    };
    if takes.len() < 2 * LEAST {
        doc.why = Some(Unfit::TooFew { have: takes.len(), need: 2 * LEAST }.to_string());
        return doc;
    }
    conclude(&mut doc, &takes, start);
    doc
}

fn conclude(doc: &mut SoakDoc, takes: &[Timed], start: f64) {
    let values = |takes: &[Timed]| takes.iter().map(|take| take.1).collect::<Vec<f64>>();
    let early = takes.partition_point(|take| take.0 < start + doc.first_seconds).max(LEAST);
    doc.first = stats::median(&values(&takes[..early]));
    let told = thinned(takes);
    let worse = if doc.better == Better::Lower { -1.0 } else { 1.0 };
    let goodness: Vec<f64> = told.iter().map(|take| worse * take.1.ln()).collect();
    let level = |log: f64| (worse * log).exp();
    let knee = stats::knee(&goodness).map(|knee| {
        knee.map(|knee| KneeDoc {
            at: told[knee.at].0,
            before: level(knee.before),
            after: level(knee.after),
            p: knee.p,
        })
    });
    let minutes: Vec<f64> = told.iter().map(|take| take.0 / 60.0).collect();
    let logs: Vec<f64> = told.iter().map(|take| take.1.ln()).collect();
    let slope = stats::trend(&minutes, &logs).map(|Trend { slope, interval, .. }| SlopeDoc {
        per_minute: slope.exp_m1(),
        low: interval.low.exp_m1(),
        high: interval.high.exp_m1(),
    });
    let zero = told.iter().position(|take| take.1 <= 0.0).map(|index| Unfit::NotPositive { index });
    let unfit = knee.as_ref().err().or(slope.as_ref().err()).cloned();
    doc.why = unfit.map(|why| format!("neither slope nor fall is told: {}", zero.unwrap_or(why)));
    (doc.knee, doc.slope) = (knee.ok().flatten(), slope.ok());
    let last = start + doc.seconds * (1.0 - LAST_PART);
    let from = doc.knee.map_or(last, |knee| knee.at.max(last));
    let late = takes.partition_point(|take| take.0 < from).min(takes.len() - LEAST);
    match stats::summary(&values(&takes[late..])) {
        Ok(summary) => {
            doc.sustained = Some(summary.median);
            (doc.low, doc.high) = summary.interval.map(|one| (one.low, one.high)).unzip();
            doc.why = summary.why.map(|why| why.to_string()).or(doc.why.take());
        }
        Err(why) => doc.why = Some(why.to_string()),
    }
    doc.share = doc.sustained.zip(doc.first).map(|(sustained, first)| sustained / first);
}

/// At most so many takes: the medians of neighbours, each at the time of its first.
fn thinned(takes: &[Timed]) -> Vec<Timed> {
    let each = takes.len().div_ceil(MOST);
    let middle = |some: &[Timed]| {
        Some((some.first()?.0, stats::median(&some.iter().map(|take| take.1).collect::<Vec<_>>())?))
    };
    takes.chunks(each.max(1)).filter_map(middle).collect()
}

#[cfg(test)]
mod tests {
    use model::data::RunData;
    use model::plan::Level;
    use stats::Rng;

    use super::*;
    use crate::RunContext;
    use crate::loads::planted::one;

    /// A take of about 100 each 2 s, from `fall` seconds on of 60.
    fn soak(takes: u32, fall: f64, better: Better) -> SoakDoc {
        with(takes, fall, better, |_| {})
    }

    fn with(takes: u32, fall: f64, better: Better, change: impl Fn(&mut [Point])) -> SoakDoc {
        let mut run: RunData = one("connections=1", &[("throughput", 1.0)]);
        run.plan.level = Level::Soak;
        run.series.truncate(1);
        let series = &mut run.series[0];
        (series.key.instrument, series.better) = ("any".to_owned(), better);
        let mut rng = Rng::new(3);
        let model = series.points[0].clone();
        let point = |take: u32| {
            let at = f64::from(take) * 2.0;
            let level = match (at < fall, better) {
                (true, _) => 100.0,
                (false, Better::Lower) => 1.0 / 0.006,
                (false, _) => 60.0,
            };
            let value = model::Value::Number(level * (0.01 * rng.normal()).exp());
            let at_ns = u64::from(take) * 2_000_000_000;
            Point {
                seq: u64::from(take),
                block: take,
                phase: Phase::Measured,
                at_ns,
                window_ns: 1_000_000_000,
                value,
                ..model.clone()
            }
        };
        let headline = vec![series.key.metric.clone()];
        let cell = model::Cell { instrument: "any".to_owned(), params: series.key.params.clone(), headline };
        run.plan.cells.push(cell);
        series.points = (0..takes).map(point).collect();
        change(&mut series.points);
        let context = RunContext::default();
        let found = figures(&RunIndex::new(&run, &context));
        let [one] = &found[..] else { panic!("one figure: {found:?}") };
        one.clone()
    }

    #[test]
    fn a_level_that_falls_has_a_knee_and_lasts_at_the_lower_one() {
        for better in [Better::Higher, Better::Lower] {
            let found = soak(300, 180.0, better);
            assert!((found.seconds, found.first_seconds) == (599.0, 60.0), "{found:?}");
            let knee = found.knee.unwrap_or_else(|| panic!("no knee: {found:?}"));
            assert!((knee.at - 180.0).abs() <= 4.0 && knee.p < 1e-6, "{knee:?}");
            let want = if better == Better::Lower { 1.0 / 0.6 } else { 0.6 };
            assert!(found.share.is_some_and(|share| (share / want - 1.0).abs() < 0.01), "{found:?}");
            assert!(found.low < found.sustained && found.sustained < found.high, "{found:?}");
        }
        // What lasts is what is left after the knee, however late that is.
        let late = soak(300, 540.0, Better::Higher);
        assert!(late.share.is_some_and(|share| (share - 0.6).abs() < 0.01), "{late:?}");
    }

    #[test]
    fn a_level_that_stays_has_none() {
        let found = soak(300, f64::INFINITY, Better::Higher);
        assert!(
            found.knee.is_none() && found.share.is_some_and(|share| (share - 1.0).abs() < 0.01),
            "{found:?}"
        );
        let slope = found.slope.expect("a slope");
        assert!(slope.low < 0.0 && slope.high > 0.0 && slope.per_minute.abs() < 0.002, "{slope:?}");
        // Short runs have their first fifth.
        let short = soak(30, f64::INFINITY, Better::Higher);
        assert!((short.first_seconds - 59.0 * 0.2).abs() < 1e-9, "{short:?}");
        // A take without anything has no logarithm.
        let stopped = |points: &mut [Point]| points[7].value = model::Value::Number(0.0);
        let stopped = with(300, f64::INFINITY, Better::Higher, stopped);
        assert!(stopped.slope.is_none() && stopped.share.is_some(), "{stopped:?}");
        assert!(stopped.why.is_some_and(|why| why.contains("value 8 is not positive")));
        let few = soak(4, f64::INFINITY, Better::Higher);
        assert!(few.sustained.is_none() && few.why.is_some(), "{few:?}");
    }
}
