//! Loads as curves: throughput and times over connections, over generators, and over the rate that was offered.
//!
//! Rates 1/s, times s. Values and intervals are those of the rows; percentiles are of the merged takes. The knee of an
//! open loop is where throughput by mean response time (Kleinrock's power) is largest among the measured loads; between
//! them nothing is interpolated. Figures that were refused are drawn, and make no mark.

use model::doc::{CurveDoc, CurveMarkDoc, CurvePointDoc, EstimateDoc, PercentileDoc};
use model::finding::generator_bound::rate;
use model::metrics::load;
use model::{Metric, Seconds, Validity};

use crate::loads::sweep::generator;
use crate::loads::{HELD, Load, WELL};
use crate::quantiles::Quantile;
use crate::ruling::{Ruling, validity_of};
use crate::run_index::RunIndex;
use model::format;

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Throughput that reaches the peak: at least this share of it.
const REACHED: f64 = 0.97;
/// More answers than were offered, by this ratio, are said to be chance.
const CHANCE: f64 = 1.01;
/// Fewest loads that can show a knee.
const KNEE: usize = 3;

/// A curve's loads, each with its place on the x axis.
type Group<'l, 'a> = Vec<(f64, &'l Load<'a>)>;

/// The curves of a run, in the order of its loads.
pub fn curves(index: &RunIndex<'_>, rulings: &[Ruling]) -> Vec<CurveDoc> {
    let mut all = Vec::new();
    for (over, but, closed) in [
        ("connections", &["connections"][..], true),
        ("generators", &["generators"][..], true),
        (load::OFFERED.name(), &["load", "rate"][..], false),
    ] {
        for group in groups(index, over, but, closed) {
            all.push(curve(index, rulings, over, but, &group));
        }
    }
    all
}

/// Loads that differ in nothing else, where at least two places on the axis are among them.
fn groups<'l, 'a>(index: &'l RunIndex<'a>, over: &str, but: &[&str], closed: bool) -> Vec<Group<'l, 'a>> {
    let mut groups: Vec<Group<'l, 'a>> = Vec::new();
    for load in index.loads().iter().filter(|load| load.is_plain() && load.is_closed() == closed) {
        let x = if closed { load.number(over) } else { load.offered() };
        let (Some(x), Some(_)) = (x, load.throughput()) else { continue };
        match groups.iter_mut().find(|group| group.first().is_some_and(|(_, one)| one.is_alike(load, but))) {
            Some(group) => group.push((x, load)),
            None => groups.push(vec![(x, load)]),
        }
    }
    for group in &mut groups {
        group.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    groups.retain(|group| matches!((group.first(), group.last()), (Some(a), Some(b)) if a.0 < b.0));
    groups
}

fn curve(
    index: &RunIndex<'_>,
    rulings: &[Ruling],
    over: &str,
    but: &[&str],
    group: &Group<'_, '_>,
) -> CurveDoc {
    let points: Vec<CurvePointDoc> =
        group.iter().map(|(x, load)| point(index, rulings, *x, load, but)).collect();
    // A group has loads.
    let first = group.first().map(|(_, load)| *load);
    let mut params = first.map(|load| load.params.clone()).unwrap_or_default();
    let arrivals = params.get("arrivals").unwrap_or("closed").to_owned();
    params.retain(|name, _| !but.contains(&name));
    let open = over == load::OFFERED.name();
    let (peak, no_peak) = if open { held(&points) } else { (reached(&points, over), None) };
    let (knee, no_knee) = if open { knee(&points) } else { (None, None) };
    let capacities: Vec<f64> = group.iter().filter_map(|(_, load)| load.median(&load::CAPACITY)).collect();
    let chance = more_due(&points, group);
    let whys: Vec<String> = no_peak.into_iter().chain(no_knee).chain(chance).chain(moved(group)).collect();
    CurveDoc {
        instrument: first.map_or_else(String::new, |load| load.instrument.to_owned()),
        over: over.to_owned(),
        arrivals,
        params,
        arm: first.map_or_else(String::new, |load| load.arm.to_owned()),
        capacity: stats::median(&capacities),
        points,
        peak,
        knee,
        why: (!whys.is_empty()).then(|| whys.join("; ")),
    }
}

fn point(index: &RunIndex<'_>, rulings: &[Ruling], x: f64, load: &Load<'_>, but: &[&str]) -> CurvePointDoc {
    let asked = but.iter().find_map(|name| load.given(name)).unwrap_or_default();
    // As in its row; a load with a failed request has none.
    let mean = load.mean_response().map(|mean| load.median(&load::RESPONSE_MEAN).unwrap_or(mean));
    let power = load.throughput().zip(mean.filter(|mean| *mean > 0.0)).map(|(rate, mean)| rate / mean);
    let row = load.rows(&[load::THROUGHPUT.name()]).first().copied();
    let seed = index.run.plan.seed;
    CurvePointDoc {
        x,
        asked: asked.to_owned(),
        n: load.throughputs().len() as u64,
        throughput: estimate(load.summary(load.rate_metric())),
        bandwidth: load.has(&load::BANDWIDTH).then(|| estimate(load.summary(load::BANDWIDTH.name()))),
        response: percentiles(load, &load::RESPONSES, seed),
        mean_response: mean,
        service: percentiles(load, &load::SERVICES, seed),
        requests: load.requests(),
        failed: load.sums_by(&load::FAILED, "kind").values().sum(),
        power: power.filter(|power| power.is_finite()),
        held: load.is_held(),
        validity: row.map_or(Validity::Unknown, |row| validity_of(rulings, row).0),
        lower_bound: generator(load, index.loads()).is_bound(),
    }
}

/// The load of which chance made more requests due than were offered, by more than a glance overlooks.
fn more_due(points: &[CurvePointDoc], group: &Group<'_, '_>) -> Option<String> {
    let more = |((x, load), point): (&(f64, &Load<'_>), &CurvePointDoc)| {
        let (due, answered) = (load.due().filter(|_| !load.is_closed())?, point.throughput.value?);
        (answered > CHANCE * x).then(|| (due / x, due, point.asked.clone()))
    };
    let (_, due, asked) = group.iter().zip(points).filter_map(more).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let at = if asked.is_empty() { String::new() } else { format!(" at {asked}") };
    Some(format!("arrivals are random{at}: {} came due, more than were offered in the mean", rate(due)))
}

/// The capacity where it moved from sitting to sitting: the medians of what was offered and answered are of different
/// takes then.
fn moved(group: &Group<'_, '_>) -> Option<String> {
    let capacities = || group.iter().flat_map(|(_, load)| load.by_take(&load::CAPACITY).into_values());
    let (least, most) = (capacities().min_by(f64::total_cmp)?, capacities().max_by(f64::total_cmp)?);
    (most * HELD > least).then(|| {
        format!("rates are shares of a capacity that moved meanwhile, from {} to {}", rate(least), rate(most))
    })
}

/// The median of the takes with its interval.
fn estimate(found: Option<Result<stats::Summary, stats::Unfit>>) -> EstimateDoc {
    let none = EstimateDoc { value: None, low: None, high: None, why: None };
    match found {
        Some(Ok(summary)) => EstimateDoc {
            value: Some(summary.median),
            low: summary.interval.map(|interval| interval.low),
            high: summary.interval.map(|interval| interval.high),
            why: summary.why.map(|why| why.to_string()),
        },
        Some(Err(why)) => EstimateDoc { why: Some(why.to_string()), ..none },
        None => none,
    }
}

fn percentiles(load: &Load<'_>, metric: &Metric<Seconds>, seed: u64) -> Vec<PercentileDoc> {
    let of = |quantile: f64| {
        let found = Quantile::of_points(load.points(metric), quantile, seed)?;
        let (value, interval) = (found.value(), found.estimate());
        let ends = interval.as_ref().ok().map(|found| found.interval);
        let over = value.is_some_and(f64::is_infinite).then(|| format::OVER.to_owned());
        let why = over.or_else(|| interval.as_ref().err().map(ToString::to_string));
        let time =
            EstimateDoc { value, low: ends.map(|ends| ends.low), high: ends.map(|ends| ends.high), why };
        Some(PercentileDoc { quantile, time })
    };
    QUANTILES.into_iter().filter_map(of).collect()
}

/// Points that may be marked, with their throughput.
fn usable(points: &[CurvePointDoc]) -> impl Iterator<Item = (&CurvePointDoc, f64)> {
    let good = points.iter().filter(|point| point.validity != Validity::Invalid);
    good.filter_map(|point| Some((point, point.throughput.value?)))
}

fn mark(point: &CurvePointDoc, throughput: f64, text: String) -> CurveMarkDoc {
    CurveMarkDoc { x: point.x, throughput, mean_response: point.mean_response, text }
}

/// The highest throughput of a closed loop, and the least that reaches it.
fn reached(points: &[CurvePointDoc], over: &str) -> Option<CurveMarkDoc> {
    let (peak, most) = usable(points).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (least, _) = usable(points).find(|(_, throughput)| *throughput >= REACHED * most)?;
    let what = over.trim_end_matches('s');
    let count = |x: f64| format::count(x as usize, what);
    let bound = if peak.lower_bound { ", a lower bound" } else { "" };
    let text = if least.x < peak.x {
        format!("{} at {}{bound}; {:.0} reach it within 3 %", rate(most), count(peak.x), least.x)
    } else {
        format!("{} at {}{bound}; no fewer reach it within 3 %", rate(most), count(peak.x))
    };
    Some(mark(peak, most, text))
}

/// The highest rate that an open loop held, or why none.
fn held(points: &[CurvePointDoc]) -> (Option<CurveMarkDoc>, Option<String>) {
    let Some((_, most)) = usable(points).max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return (None, Some("every figure was refused".to_owned()));
    };
    // What is held beyond a load that was not is chance.
    let Some((point, throughput)) = usable(points).take_while(|(point, _)| point.held == Some(true)).last()
    else {
        let why = format!(
            "the lowest load was not held: under {} of it was answered well while it lasted",
            format::percent(WELL)
        );
        return (None, Some(why));
    };
    // What was under way at the end of a take is not in its rate.
    let answered = throughput.min(point.x);
    let again = usable(points).any(|(other, _)| other.x > point.x && other.held == Some(true));
    let again =
        again.then(|| "a higher load was held than one that was not: the machine was not quiet".to_owned());
    let beyond = usable(points).any(|(other, _)| other.x > point.x);
    let (text, why) = if beyond {
        (
            format!(
                "holds {}: all answered in time, but what was under way at the end; offered more, requests queue, and \
                 it answers {} at most",
                rate(answered),
                rate(most)
            ),
            again,
        )
    } else {
        let why = "every load was held: it saturates beyond the sweep".to_owned();
        (format!("holds {}, the most that was tried", rate(answered)), Some(why))
    };
    (Some(mark(point, throughput, text)), why)
}

/// The load of the largest power among those that were held up to the first that was not, or why there is none: a load
/// that is not held has no response time of its own, since its queue grows with the take.
fn knee(points: &[CurvePointDoc]) -> (Option<CurveMarkDoc>, Option<String>) {
    let timed = || usable(points).filter_map(|(point, throughput)| Some((point, throughput, point.power?)));
    let all = timed().count();
    if all < KNEE {
        return (None, Some(format!("a knee needs {KNEE} loads with response times; there are {all}")));
    }
    let known: Vec<(&CurvePointDoc, f64, f64)> =
        timed().take_while(|(point, ..)| point.held != Some(false)).collect();
    let is_all = known.len() == all;
    let best = known.iter().enumerate().max_by(|a, b| a.1.2.total_cmp(&b.1.2));
    let Some((at, (point, throughput, _))) = best else { return (None, None) };
    let why = if at == 0 {
        Some("the knee is at the lowest load: it may lie below".to_owned())
    } else if is_all && at + 1 == known.len() {
        Some("the knee is at the highest load: it may lie beyond".to_owned())
    } else {
        None
    };
    let mean = point.mean_response.map_or_else(String::new, |mean| {
        format!(", {} in the mean", format::quantity(mean, model::Unit::Second))
    });
    let text =
        format!("knee at {} offered{mean}: beyond it, time grows faster than throughput", rate(point.x));
    (Some(mark(point, *throughput, text)), why)
}

#[cfg(test)]
mod tests {
    use model::data::RunData;
    use proptest::prelude::*;

    use super::*;
    use crate::loads::planted::{empty, load, one, times};
    use crate::rules;
    use crate::run_index::RunContext;

    fn of(run: &RunData) -> Vec<CurveDoc> {
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        curves(&RunIndex::new(run, &context), &rules::rulings(run, &context))
    }

    /// An open loop on a server of one queue that serves 1000 a second.
    fn queue(loads: &[f64]) -> RunData {
        let mut run = empty();
        for percent in loads {
            let rho = percent / 100.0;
            let given = format!("arrivals=poisson;load={percent}%;connections=100");
            let figures = [("throughput", 1000.0 * rho.min(1.0)), ("offered-load", 1000.0 * rho)];
            let seqs = load(&mut run, &given, &figures);
            // Mean time of an M/M/1 queue, or that of one which only grows.
            let mean = if rho < 1.0 { 1e-3 / (1.0 - rho) } else { 0.5 };
            times(&mut run, &seqs, "response-times", &given, &[((mean * 1e6) as u64, 1000)]);
        }
        run
    }

    #[test]
    fn the_knee_of_a_queue_is_at_half_its_capacity() {
        let curves = of(&queue(&[110.0, 10.0, 25.0, 50.0, 75.0, 90.0]));
        assert_eq!(curves.len(), 1, "one connection count makes no curve");
        let curve = &curves[0];
        assert_eq!(
            (curve.over.as_str(), curve.arrivals.as_str(), curve.points.len()),
            ("offered-load", "poisson", 6)
        );
        assert_eq!(curve.params.get("load"), None);
        // Power is rho (1 - rho) / s, largest at rho = 1/2.
        let knee = curve.knee.as_ref().unwrap();
        assert!(
            (knee.x - 500.0).abs() < 1.0 && knee.text.starts_with("knee at 500 /s offered, 2.00 ms"),
            "{knee:?}"
        );
        let peak = curve.peak.as_ref().unwrap();
        assert!((peak.x - 900.0).abs() < 1.0 && peak.text.contains("1.00 k/s at most"), "{peak:?}");
        assert_eq!((curve.why.clone(), curve.points[0].asked.as_str()), (None, "10%"));
        assert_eq!(
            curve.points.iter().map(|point| point.held).collect::<Vec<_>>().last(),
            Some(&Some(false))
        );
    }

    #[test]
    fn a_sweep_that_ends_early_says_so() {
        let why = |loads: &[f64]| of(&queue(loads)).remove(0).why.unwrap();
        assert_eq!(
            why(&[10.0, 20.0, 30.0]),
            "every load was held: it saturates beyond the sweep; the knee is at the highest load: it may lie beyond"
        );
        assert_eq!(why(&[60.0, 70.0, 120.0]), "the knee is at the lowest load: it may lie below");
        assert!(why(&[50.0, 110.0]).contains("a knee needs 3 loads"));
        let mut noisy = queue(&[25.0, 50.0, 75.0]);
        let middle = noisy.series.iter_mut().filter(|one| one.key.params.get("load") == Some("50%"));
        for point in middle.filter(|one| one.key.metric == "throughput").flat_map(|one| &mut one.points) {
            point.value = model::Value::Number(400.0);
        }
        let curve = of(&noisy).remove(0);
        assert!(curve.peak.is_some_and(|peak| (peak.x - 250.0).abs() < 1.0));
        assert!(curve.why.is_some_and(|why| why.contains("not quiet")));
        assert!(why(&[110.0, 150.0]).starts_with("the lowest load was not held"));
    }

    #[test]
    fn more_answers_than_were_offered_are_chance() {
        let mut run = empty();
        for (offered, came) in [(100.0, 104.0), (500.0, 501.0), (900.0, 900.0)] {
            let given = format!("arrivals=poisson;load={}%;connections=100", offered / 10.0);
            let figures =
                [("throughput", came), ("offered-load", offered), ("requests", came), ("window", 1.0)];
            load(&mut run, &given, &figures);
        }
        let why = of(&run).remove(0).why.unwrap();
        let says = "arrivals are random at 10%: 104 /s came due, more than were offered in the mean";
        assert!(why.contains(says) && !why.contains("50%"), "{why}");
    }

    #[test]
    fn what_is_held_is_never_more_than_the_most_that_was_answered() {
        let mut run = empty();
        // 19 of 1000 were under way at the end, on 100 connections.
        for (offered, answered) in [(500.0, 500.0), (1000.0, 981.0), (1500.0, 970.0)] {
            let given = format!("arrivals=poisson;rate={offered};connections=100");
            let figures =
                [("throughput", answered), ("offered-load", offered), ("requests", offered), ("window", 1.0)];
            load(&mut run, &given, &figures);
        }
        let peak = of(&run).remove(0).peak.unwrap();
        assert_eq!(
            peak.text,
            "holds 981 /s: all answered in time, but what was under way at the end; offered more, requests queue, and \
             it answers 981 /s at most"
        );
    }

    #[test]
    fn closed_loops_have_a_peak_and_what_reaches_it() {
        let mut run = empty();
        for (connections, throughput) in [(1, 20e3), (10, 59.5e3), (50, 61e3), (400, 60e3)] {
            load(&mut run, &format!("connections={connections};generators=1"), &[("throughput", throughput)]);
        }
        load(&mut run, "connections=50;generators=2", &[("throughput", 62e3)]);
        let curves = of(&run);
        assert_eq!(
            curves.iter().map(|curve| curve.over.as_str()).collect::<Vec<_>>(),
            ["connections", "generators"]
        );
        let peak = curves[0].peak.as_ref().unwrap();
        assert_eq!(
            (peak.x, peak.text.as_str()),
            (50.0, "61.0 k/s at 50 connections; 10 reach it within 3 %")
        );
        assert_eq!(curves[1].points.len(), 2);
        assert!(curves.iter().all(|curve| curve.knee.is_none() && curve.why.is_none()));
    }

    #[test]
    fn percentiles_are_of_all_takes_together() {
        let mut run = empty();
        for connections in [1, 2] {
            let given = format!("connections={connections}");
            let seqs = load(&mut run, &given, &[("throughput", 1000.0), ("bandwidth", 43e3)]);
            times(&mut run, &seqs, "response-times", &given, &[(100, 900), (900, 100)]);
        }
        let point = &of(&run)[0].points[1];
        let time = |at: usize| point.response[at].time.clone();
        assert!((time(0).value.unwrap() / 100e-6 - 1.0).abs() < 0.01 && time(0).low.is_some());
        assert!((time(2).value.unwrap() / 900e-6 - 1.0).abs() < 0.01);
        // 8 takes of 1000 have 8 values beyond p99.9, too few for any.
        assert!(time(3).low.is_none() && time(3).why.is_some() && time(3).value.is_none());
        assert!(point.service.is_empty() && point.bandwidth.as_ref().is_some_and(|b| b.value.is_some()));
        assert!((point.mean_response.unwrap() / 180e-6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_load_has_one_interval_in_its_row_and_on_its_curve() {
        let mut run = empty();
        for (offered, later) in [(100.0, 1.01), (500.0, 1.2)] {
            let given = format!("arrivals=poisson;load={}%;connections=100", offered / 10.0);
            let figures = [
                ("throughput", offered),
                ("offered-load", offered),
                ("response-time", 1e-4),
                ("capacity", 1e3),
            ];
            let seqs = load(&mut run, &given, &figures);
            times(&mut run, &seqs, "response-times", &given, &[(100, 900), (900, 100)]);
            let own = format!("{}%", offered / 10.0);
            let is_own = |one: &&mut model::data::Series| one.key.params.get("load") == Some(own.as_str());
            for series in run.series.iter_mut().filter(is_own) {
                for (at, point) in series.points.iter_mut().enumerate() {
                    // Two sittings, between which the rate moved.
                    point.sitting = u32::from(at >= 4);
                    if let (model::Value::Number(value), true) = (&mut point.value, at >= 4) {
                        *value *= later * (1.0 + at as f64 / 1e3);
                    }
                }
            }
        }
        let doc = crate::run_doc(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() });
        let curve = &doc.curves[0];
        for point in &curve.points {
            let row = |metric: &str| {
                let of = |row: &&model::doc::SeriesDoc| {
                    row.metric == metric && row.params.get("load") == Some(point.asked.as_str())
                };
                let row = doc.series.iter().find(of).unwrap_or_else(|| panic!("{metric} at {}", point.asked));
                (row.median, row.low, row.high)
            };
            let on_curve = |one: &EstimateDoc| (one.value, one.low, one.high);
            assert_eq!(row("throughput"), on_curve(&point.throughput));
            assert!(point.throughput.low.is_some(), "{point:?}");
            // The takes have 1,000 requests each; their p99 was not kept, and is of all of them together.
            assert_eq!(row("response-time-p99"), on_curve(&point.response[2].time));
        }
        assert!(
            curve.why.as_ref().is_some_and(|why| why.contains("a capacity that moved meanwhile, from 1.00 k/s to 1.21 k/s")),
            "{curve:?}"
        );
    }

    #[test]
    fn refused_figures_make_no_mark() {
        let mut run = empty();
        load(&mut run, "connections=1", &[("throughput", 90e3)]);
        let refused = || model::Finding::foreign("wrong", Validity::Invalid, "refused");
        run.takes.iter_mut().for_each(|take| take.refusals.push(refused()));
        load(&mut run, "connections=2", &[("throughput", 20e3)]);
        let curve = of(&run).remove(0);
        assert_eq!(curve.points[0].validity, Validity::Invalid);
        assert!((curve.peak.unwrap().throughput - 20e3).abs() < 10.0);
    }

    #[test]
    fn no_loads_no_curves() {
        assert!(of(&empty()).is_empty() && of(&one("connections=5", &[("throughput", 1.0)])).is_empty());
    }

    proptest! {
        /// Marks are points of their curve, and points rise.
        #[test]
        fn marks_lie_on_the_curve(rates in proptest::collection::vec(1.0f64..1e6, 2..6), served in 0.1f64..2.0) {
            let mut run = empty();
            for (index, offered) in rates.iter().enumerate() {
                let given = format!("arrivals=constant;rate={offered};connections={}", 7);
                let figures = [
                    ("throughput", (offered * served).min(5e5)),
                    ("offered-load", *offered),
                    ("response-time", 1e-4 * (index + 1) as f64),
                ];
                load(&mut run, &given, &figures);
            }
            for curve in of(&run) {
                prop_assert!(curve.points.windows(2).all(|pair| pair[0].x <= pair[1].x));
                for mark in curve.peak.iter().chain(&curve.knee) {
                    prop_assert!(curve.points.iter().any(|point| point.x == mark.x));
                }
            }
        }
    }
}
