//! The figures of `run --soak` over its time: what they are at first, what lasts, their slope, and where they fall.
//!
//! First is the median of the takes of the first minute, of a shorter run those of its first fifth; of those before the
//! level falls where that is earlier. Sustained is that of the last third, or of the takes since the last fall where
//! that is later. Warm-up takes count nowhere, and a figure that was refused has no levels. Slope and falls see every
//! other take; the slope is that since the last fall.

use model::data::{Point, Series};
use model::doc::{KneeDoc, SlopeDoc, SoakDoc};
use model::names::Key;
use model::{Better, Phase, Validity, card, names};
use stats::{Knee, Trend, Unfit};

use crate::headline::is_headline;
use crate::ruling::{Ruling, validity_of};
use crate::run_index::{FigureRow, RunIndex};

/// Seconds of the level that short takes see.
const FIRST: f64 = 60.0;
/// Part of a shorter run that counts as its beginning.
const FIRST_PART: f64 = 0.2;
/// Part of the time that shows what lasts.
const LAST_PART: f64 = 1.0 / 3.0;
/// Takes that make a level.
const LEAST: usize = 3;
/// Falls are told by so many values, slopes, of all pairs, by fewer: longer runs by the medians of neighbours.
const MOST_OF_FALLS: usize = 4000;
const MOST_OF_SLOPE: usize = 600;

/// The figures of a run; none of a run that is no soak.
pub fn figures(index: &RunIndex<'_>, rulings: &[Ruling]) -> Vec<SoakDoc> {
    if !index.is_soak() {
        return Vec::new();
    }
    let cards = index.context.cards;
    let is_shown = |row: &FigureRow<'_>| {
        let key = &row.series.key;
        let is_detail = names::is_detail(card::find(cards, &key.instrument), &key.metric);
        is_headline(index, *row) && !is_detail
    };
    let rows: Vec<FigureRow<'_>> = index.rows().filter(is_shown).collect();
    let starts = rows.iter().filter_map(|row| row.series.points.iter().find(is_measured));
    let from = seconds(starts.map(|point| point.at_ns).min().unwrap_or(0));
    let doc = |row: &FigureRow<'_>| figure(index, row.series, from, validity_of(rulings, row.index));
    let mut all: Vec<SoakDoc> = rows.iter().map(doc).collect();
    all.sort_by_cached_key(|one| names::order(Key::from(one)));
    all
}

/// A take: its start, s, and its value.
type Timed = (f64, f64);

fn is_measured(point: &&Point) -> bool {
    point.phase == Phase::Measured
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn figure(
    index: &RunIndex<'_>,
    series: &Series,
    from: f64,
    (validity, reasons): (Validity, Vec<String>),
) -> SoakDoc {
    let key = &series.key;
    let points: Vec<&Point> = series.points.iter().filter(is_measured).collect();
    let takes: Vec<Timed> =
        points.iter().filter_map(|point| Some((seconds(point.at_ns) - from, point.number()?))).collect();
    let start = takes.first().map_or(0.0, |take| take.0);
    let end =
        points.last().map_or(start, |point| seconds(point.at_ns.saturating_add(point.window_ns)) - from);
    let beginning = FIRST.min((end - start) * FIRST_PART);
    let mut doc = SoakDoc {
        card: card::find(index.context.cards, &key.instrument),
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        unit: key.unit,
        better: series.better,
        params: key.params.clone(),
        arm: key.arm.clone(),
        validity,
        takes: takes.len() as u64,
        from,
        seconds: end - start,
        beginning_seconds: beginning,
        first: None,
        first_seconds: beginning,
        sustained: None,
        low: None,
        high: None,
        share: None,
        slope: None,
        knee: None,
        blind_seconds: None,
        no_knee: None,
        why: None,
    };
    if validity == Validity::Invalid {
        doc.why = reasons.into_iter().next();
    } else if takes.len() < 2 * LEAST {
        doc.why = Some(Unfit::TooFew { have: takes.len(), need: 2 * LEAST }.to_string());
        doc.no_knee = Some(too_few(takes.len()));
    } else {
        conclude(&mut doc, &takes, start);
    }
    doc
}

fn too_few(have: usize) -> String {
    format!("that takes at least {} takes of a figure, and there are {have}", stats::knee::least_values())
}

fn conclude(doc: &mut SoakDoc, takes: &[Timed], start: f64) {
    let values = |takes: &[Timed]| takes.iter().map(|take| take.1).collect::<Vec<f64>>();
    let falls = find_falls(doc, takes);
    let place = |time: f64| takes.partition_point(|take| take.0 < time);
    let mut early = place(start + doc.first_seconds).max(LEAST);
    if let Some(fall) = falls.first().filter(|fall| place(**fall) < early) {
        early = place(*fall);
        doc.first_seconds = fall - start;
    }
    doc.first = stats::median(&values(&takes[..early]));
    let since = falls.last().map_or(0, |fall| place(*fall));
    let sloping = thinned(&takes[since..], MOST_OF_SLOPE);
    let minutes: Vec<f64> = sloping.iter().map(|take| take.0 / 60.0).collect();
    let logs: Vec<f64> = sloping.iter().map(|take| take.1.ln()).collect();
    let slope = stats::trend(&minutes, &logs).map(|Trend { slope, interval, .. }| SlopeDoc {
        per_minute: slope.exp_m1(),
        low: interval.low.exp_m1(),
        high: interval.high.exp_m1(),
    });
    let zero = sloping.iter().position(|take| take.1 <= 0.0).map(|index| Unfit::NotPositive { index });
    doc.why = slope.as_ref().err().map(|why| format!("no slope: {}", zero.as_ref().unwrap_or(why)));
    doc.slope = slope.ok();
    let last = place(start + doc.seconds * (1.0 - LAST_PART));
    let late = last.max(since).min(takes.len() - LEAST);
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

/// Enters the clearest fall, and returns when the level falls, all in order.
fn find_falls(doc: &mut SoakDoc, takes: &[Timed]) -> Vec<f64> {
    let told = thinned(takes, MOST_OF_FALLS);
    let worse = if doc.better == Better::Lower { -1.0 } else { 1.0 };
    let goodness: Vec<f64> = told.iter().map(|take| worse * take.1.ln()).collect();
    let level = |log: f64| (worse * log).exp();
    let time = |place: usize| told[place].0;
    match stats::falls(&goodness) {
        Ok(falls) => {
            let least = stats::knee::least_level(told.len());
            doc.blind_seconds = least.map(|least| time(least) - time(0));
            let clearest = falls.iter().min_by(|a, b| a.p.total_cmp(&b.p));
            doc.knee = clearest.map(|Knee { at, within, before, after, p }| KneeDoc {
                at: time(*at),
                low: time(within.0 - 1),
                high: time(within.1),
                before: level(*before),
                after: level(*after),
                p: *p,
            });
            falls.iter().map(|knee| time(knee.at)).collect()
        }
        Err(Unfit::TooFew { have, .. }) => {
            doc.no_knee = Some(too_few(have));
            Vec::new()
        }
        Err(why) => {
            let zero = told.iter().position(|take| take.1 <= 0.0).map(|index| Unfit::NotPositive { index });
            doc.no_knee = Some(zero.unwrap_or(why).to_string());
            Vec::new()
        }
    }
}

/// At most so many takes: the medians of neighbours, each at the time of its first.
fn thinned(takes: &[Timed], most: usize) -> Vec<Timed> {
    let each = takes.len().div_ceil(most);
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
        let found = figures(&RunIndex::new(&run, &context), &[]);
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
        assert!(stopped.no_knee.is_some_and(|why| why.contains("value 8 is not positive")));
        let few = soak(4, f64::INFINITY, Better::Higher);
        assert!(few.sustained.is_none() && few.why.is_some(), "{few:?}");
    }

    /// Takes each `block` seconds for `length` seconds, with the level that `of` gives for a time.
    fn world(block: f64, length: f64, sd: f64, of: impl Fn(f64) -> f64) -> SoakDoc {
        let mut rng = Rng::new(7);
        let count = (length / block) as u32;
        let change = |points: &mut [Point], rng: &mut Rng| {
            for (place, point) in points.iter_mut().enumerate() {
                let at = place as f64 * block;
                // The run prepared for 12 s.
                point.at_ns = ((12.0 + at) * 1e9) as u64;
                point.window_ns = (block * 0.1 * 1e9) as u64;
                point.value = model::Value::Number(of(at) * (sd * rng.normal()).exp());
            }
        };
        let rng = std::cell::RefCell::new(&mut rng);
        with(count, f64::INFINITY, Better::Higher, |points| change(points, &mut rng.borrow_mut()))
    }

    #[test]
    fn a_fall_in_the_first_minute_is_told_with_the_level_before_it() {
        for (length, block) in [(60.0, 1.4), (120.0, 2.0), (600.0, 2.5)] {
            for fall in [10.0, 20.0, 40.0] {
                let found = world(block, length, 0.01, |at| if at < fall { 100.0 } else { 70.0 });
                let knee = found.knee.unwrap_or_else(|| panic!("{length} {fall}: no knee: {found:?}"));
                assert!(knee.low <= fall && fall <= knee.high, "{length} {fall}: {knee:?}");
                assert!(knee.high - knee.low <= 3.0 * block, "{length} {fall}: {knee:?}");
                let is =
                    |value: Option<f64>, want: f64| value.is_some_and(|v| (v / want - 1.0).abs() < 0.015);
                assert!(is(found.first, 100.0) && is(found.sustained, 70.0), "{length} {fall}: {found:?}");
                assert!(is(found.share, 0.7) && found.first_seconds <= fall + block, "{found:?}");
                // What is left after the fall is level.
                let slope = found.slope.expect("a slope");
                let is_level = slope.per_minute.abs() < 0.002 || slope.low < 0.0 && slope.high > 0.0;
                assert!(is_level, "{length} {fall}: {slope:?}");
            }
            let level = world(block, length, 0.01, |_| 100.0);
            assert!(level.knee.is_none() && level.blind_seconds < Some(10.0), "{length}: {level:?}");
            assert!(level.share.is_some_and(|share| (share - 1.0).abs() < 0.01), "{length}: {level:?}");
            // A fifth less at the end, evenly.
            let slow = world(block, length, 0.01, |at| 100.0 * (1.0 - 0.2 * at / length));
            assert!(slow.knee.is_none(), "{length}: {slow:?}");
            let share = slow.share.expect("a share");
            assert!((0.8..0.9).contains(&share), "{length}: {slow:?}");
            let minute = 0.8_f64.powf(60.0 / length) - 1.0;
            let slope = slow.slope.expect("a slope");
            assert!((slope.per_minute / minute - 1.0).abs() < 0.1, "{length}: {minute} {slope:?}");
        }
    }

    #[test]
    fn two_falls_leave_the_first_level_and_the_last() {
        let found = world(2.5, 600.0, 0.01, |at| match at {
            at if at < 25.0 => 100.0,
            at if at < 480.0 => 80.0,
            _ => 60.0,
        });
        let is = |value: Option<f64>, want: f64| value.is_some_and(|v| (v / want - 1.0).abs() < 0.015);
        assert!(is(found.first, 100.0) && is(found.sustained, 60.0) && found.knee.is_some(), "{found:?}");
    }

    #[test]
    fn a_short_soak_says_that_it_tells_no_fall() {
        let short = world(2.0, 24.0, 0.01, |at| if at < 10.0 { 100.0 } else { 70.0 });
        let why = short.no_knee.clone().expect("a reason");
        assert_eq!(why, "that takes at least 16 takes of a figure, and there are 12");
        assert!(short.knee.is_none() && short.blind_seconds.is_none(), "{short:?}");
    }

    #[test]
    fn a_refused_figure_has_no_levels() {
        let mut run: RunData = one("connections=1", &[("throughput", 1.0)]);
        run.plan.level = Level::Soak;
        let context = RunContext::default();
        let index = RunIndex::new(&run, &context);
        let row = index.rows().next().expect("a row");
        let refused = (Validity::Invalid, vec!["broken".to_owned()]);
        let doc = figure(&index, row.series, 0.0, refused);
        assert_eq!((doc.first, doc.sustained, doc.share), (None, None, None));
        assert_eq!((doc.validity, doc.why.as_deref()), (Validity::Invalid, Some("broken")));
    }
}
