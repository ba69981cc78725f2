//! Power over levels of load: the curve of each load of a run, by one meter.
//!
//! Watts, requests or jobs per second, joules for each. Medians of takes; what was refused has no value.

use std::collections::BTreeMap;

use model::data::{RunData, Series};
use model::doc::{EstimateDoc, PowerDoc, PowerLevelDoc, SeriesDoc};
use model::metrics::load::{CORE_BUSY, SHARE};
use model::metrics::power::{JOULES_PER_JOB, JOULES_PER_REQUEST, RATE, WATTS};
use model::power::{LEVEL, METER, share};
use model::url::Url;
use model::{Card, Params, Role, SeriesKey, Validity, card};

use crate::ruling::{Ruling, validity_of};
use crate::run_index::RunIndex;

/// A core that is used further is full.
const FULL: f64 = 0.85;

/// The power of one load at one level, for whoever needs the watts at a utilisation.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerLevel {
    /// From 0, idle, to 1, saturation.
    pub level: f64,
    pub watts: f64,
    /// Good answers or finished jobs per second; none at idle.
    pub throughput: Option<f64>,
    /// `rapl`, `command` or `typed`.
    pub meter: String,
    pub instrument: String,
    pub arm: String,
    /// All but the level: levels of unlike ones are of different setups.
    pub params: Params,
}

/// Every measured level of a run, by instrument, arm, setup and rising level. Levels without a reading, and those that
/// a rule refuses, are left out.
pub fn curve(run: &RunData, rulings: &[Ruling]) -> Vec<PowerLevel> {
    let mut all: Vec<PowerLevel> = Vec::new();
    for (at, series) in run.series.iter().enumerate() {
        let key = &series.key;
        if key.metric != WATTS.name() || validity_of(rulings, at).0 == Validity::Invalid {
            continue;
        }
        let Some(level) = key.params.get(LEVEL).and_then(share) else { continue };
        let Some(watts) = median(series) else { continue };
        let is_rate = |other: &&Series| other.key.metric == RATE.name() && other.key.is_beside(key);
        all.push(PowerLevel {
            level,
            watts,
            throughput: run.series.iter().find(is_rate).and_then(median),
            meter: key.params.get(METER).unwrap_or_default().to_owned(),
            instrument: key.instrument.clone(),
            arm: key.arm.clone(),
            params: without_level(&key.params),
        });
    }
    let place = |one: &PowerLevel| (one.instrument.clone(), one.arm.clone(), one.params.clone());
    all.sort_by(|a, b| place(a).cmp(&place(b)).then(a.level.total_cmp(&b.level)));
    all
}

fn without_level(params: &Params) -> Params {
    let mut params = params.clone();
    params.remove(LEVEL);
    params
}

fn median(series: &Series) -> Option<f64> {
    let values: Vec<f64> = series.measured().into_iter().filter(|value| value.is_finite()).collect();
    stats::median(&values)
}

/// The loads of a run whose power was measured, with the rows of its document. A level without a reading has its rate.
pub fn of_run(index: &RunIndex<'_>, rows: &[SeriesDoc]) -> Vec<PowerDoc> {
    let mut found: BTreeMap<(String, String, Params), PowerDoc> = BTreeMap::new();
    let run = index.run;
    let is_level = |series: &&Series| [WATTS.name(), RATE.name()].contains(&series.key.metric.as_str());
    for series in run.series.iter().filter(is_level) {
        let key = &series.key;
        let card = card::find(index.context.cards, &key.instrument);
        let Some(card) = card.filter(|card| matches!(card.role, Role::Power { .. })) else { continue };
        let Some(level) = key.params.get(LEVEL).and_then(share) else { continue };
        let params = without_level(&key.params);
        let place = (key.instrument.clone(), key.arm.clone(), params.clone());
        let doc = found.entry(place).or_insert_with(|| load(card, key, params, run));
        if doc.at(level).is_none() {
            doc.levels.push(level_doc(card, (level, key), run, rows));
        }
        if level >= 1.0 {
            doc.generator_limit = generator_limit(run, key);
        }
    }
    let mut all: Vec<PowerDoc> = found.into_values().collect();
    all.iter_mut().for_each(|doc| doc.levels.sort_by(|a, b| a.level.total_cmp(&b.level)));
    all
}

/// A load without its levels.
fn load(card: &Card, key: &SeriesKey, params: Params, run: &RunData) -> PowerDoc {
    PowerDoc {
        instrument: key.instrument.clone(),
        arm: key.arm.clone(),
        meter: params.get(METER).unwrap_or_default().to_owned(),
        unit: unit(card).to_owned(),
        levels: Vec::new(),
        with_generator: is_beside_generator(card, &params, run),
        generator_limit: None,
        params,
    }
}

fn level_doc(
    card: &Card,
    (level, key): (f64, &SeriesKey),
    run: &RunData,
    rows: &[SeriesDoc],
) -> PowerLevelDoc {
    let row = |metric: &str| {
        let is_row = |row: &&SeriesDoc| {
            row.instrument == key.instrument && row.arm == key.arm && row.params == key.params
        };
        rows.iter().filter(is_row).find(|row| row.metric == metric)
    };
    let series =
        |metric: &str| run.series.iter().find(|other| other.key.metric == metric && other.key.is_beside(key));
    PowerLevelDoc {
        level,
        n: series(WATTS.name()).map_or(0, |series| series.measured().len() as u64),
        watts: estimate(row(WATTS.name())),
        rate: series(RATE.name()).map_or_else(none, summarised),
        joules: estimate(row(joules(card))),
    }
}

/// The metric of the energy of one request or job.
fn joules(card: &Card) -> &'static str {
    match card.metric(JOULES_PER_JOB.name()) {
        Some(_) => JOULES_PER_JOB.name(),
        None => JOULES_PER_REQUEST.name(),
    }
}

fn unit(card: &Card) -> &'static str {
    if joules(card) == JOULES_PER_JOB.name() { "job" } else { "request" }
}

fn none() -> EstimateDoc {
    EstimateDoc { value: None, low: None, high: None, why: None }
}

/// A row as it is shown; nothing of a refused one.
fn estimate(row: Option<&SeriesDoc>) -> EstimateDoc {
    match row.filter(|row| row.validity != Validity::Invalid) {
        Some(row) => EstimateDoc { value: row.median, low: row.low, high: row.high, why: row.why.clone() },
        None => none(),
    }
}

fn summarised(series: &Series) -> EstimateDoc {
    match stats::summary_of_sittings(&series.by_sitting()) {
        Ok(summary) => EstimateDoc {
            value: Some(summary.median),
            low: summary.interval.map(|interval| interval.low),
            high: summary.interval.map(|interval| interval.high),
            why: summary.why.map(|why| why.to_string()),
        },
        Err(why) => EstimateDoc { why: Some(why.to_string()), ..none() },
    }
}

/// True where the generator's own work is on the machine whose power was read: a server of ours, or one of the user's
/// that is reached over the loopback interface.
fn is_beside_generator(card: &Card, params: &Params, run: &RunData) -> bool {
    let is_load = matches!(card.role, Role::Power { load: Some(_) });
    // A command has no generator.
    let Some(url) = params.get("url") else { return false };
    let url = Some(url).filter(|url| !matches!(*url, "none" | ""));
    let first = url.and_then(|url| url.split(' ').next()).map(str::parse::<Url>);
    let is_here = first.is_none_or(|url| url.is_ok_and(|url| url.is_loopback()));
    is_load && is_here && run.plan.generators.is_empty()
}

/// The share of the generator's busiest core, where that was full beside a server that was not.
fn generator_limit(run: &RunData, key: &SeriesKey) -> Option<f64> {
    let is_of = |series: &&Series| {
        let other = &series.key;
        other.instrument == key.instrument && other.arm == key.arm && other.params.contains(&key.params)
    };
    let of_metric = |metric: &str| {
        run.series.iter().filter(is_of).filter(move |series| series.key.metric == metric).collect::<Vec<_>>()
    };
    let share = of_metric(SHARE.name()).into_iter().find_map(median).filter(|share| *share >= FULL)?;
    let cores = of_metric(CORE_BUSY.name());
    let serving =
        cores.iter().filter(|series| matches!(series.key.params.get("role"), Some("server" | "both")));
    let busiest = serving.filter_map(|series| median(series)).fold(0.0, f64::max);
    (busiest < FULL).then_some(share)
}

#[cfg(test)]
mod tests {
    use model::Value;

    use super::*;
    use crate::loads::planted::{TAKES, empty, params, series};
    use crate::run_index::RunContext;

    const LOAD: &str = "meter=command;url=none";

    /// 40 W idle and 80 W full, with 1,000 requests a second.
    fn planted() -> RunData {
        let mut run = empty();
        let mut add = |metric: &str, level: &str, more: &str, value: f64| {
            let key = params(&format!("{LOAD};level={level}{more}"));
            let points: Vec<(u64, Value)> = (0..TAKES).map(|seq| (seq, Value::Number(value))).collect();
            series(&mut run, "web-power", metric, key, "", &points);
        };
        for (level, share) in [("100", 1.0), ("idle", 0.0), ("50", 0.5)] {
            let watts = 40.0 + 40.0 * share;
            add("watts", level, "", watts);
            if share > 0.0 {
                add("level-rate", level, "", 1_000.0 * share);
                add("joules-per-request", level, "", watts / (1_000.0 * share));
            }
        }
        add("generator-share", "100", "", 0.97);
        add("core-busy", "100", ";cpu=0;role=server", 0.6);
        run
    }

    fn docs(run: &RunData) -> Vec<PowerDoc> {
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        crate::run_doc(run, &context).power
    }

    #[test]
    fn levels_are_a_curve_in_their_order() {
        let curve: Vec<(f64, f64, Option<f64>)> =
            curve(&planted(), &[]).iter().map(|one| (one.level, one.watts, one.throughput)).collect();
        assert_eq!(curve, [(0.0, 40.0, None), (0.5, 60.0, Some(500.0)), (1.0, 80.0, Some(1000.0))]);
        assert_eq!(super::curve(&planted(), &[])[0].meter, "command");
        assert!(super::curve(&empty(), &[]).is_empty());
    }

    #[test]
    fn setups_are_curves_of_their_own() {
        let mut run = planted();
        let mut other = planted().series;
        other.iter_mut().for_each(|series| series.key.params.set("connections", "7"));
        run.series.extend(other);
        let curve = curve(&run, &[]);
        let levels: Vec<f64> = curve.iter().map(|one| one.level).collect();
        assert_eq!(levels, [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
        assert!(curve[0].params != curve[3].params && curve[0].params == curve[2].params);
        assert!(curve.iter().all(|one| one.params.get(LEVEL).is_none()));
    }

    #[test]
    fn refused_levels_are_left_out() {
        let run = planted();
        let is_half =
            |series: &Series| series.key.metric == "watts" && series.key.params.get(LEVEL) == Some("50");
        let at = run.series.iter().position(is_half).expect("a level");
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let mut rulings = crate::rulings(&run, &context);
        let one = rulings.first_mut().expect("a rule looks at every run");
        (one.reach, one.finding.state) = (vec![at], Validity::Invalid);
        let levels: Vec<f64> = curve(&run, &rulings[..1]).iter().map(|one| one.level).collect();
        assert_eq!(levels, [0.0, 1.0]);
    }

    #[test]
    fn a_document_has_the_levels_the_energy_and_what_to_know() {
        let docs = docs(&planted());
        assert_eq!(docs.len(), 1);
        let (doc, levels) = (&docs[0], &docs[0].levels);
        assert_eq!(
            (doc.unit.as_str(), doc.meter.as_str(), doc.idle_share()),
            ("request", "command", Some(0.5))
        );
        let joules: Vec<Option<f64>> = levels.iter().map(|one| one.joules.value).collect();
        assert_eq!(joules, [None, Some(0.12), Some(0.08)]);
        assert_eq!(levels[2].rate.value, Some(1000.0));
        let remarks = doc.remarks();
        assert!(remarks.len() == 2 && remarks[0].starts_with("the server alone draws less"), "{remarks:?}");
        assert!(
            remarks[1].starts_with("the server saturates later: at 100 %") && remarks[1].contains("97 %")
        );
    }

    #[test]
    fn a_level_without_a_reading_keeps_its_rate() {
        let mut run = planted();
        let is_half = |series: &Series| series.key.params.get(LEVEL) == Some("50");
        run.series.retain(|series| !is_half(series) || series.key.metric == "level-rate");
        let docs = docs(&run);
        let half = docs[0].at(0.5).expect("a level");
        assert_eq!((half.n, half.watts.value, half.joules.value), (0, None, None));
        assert_eq!(half.rate.value, Some(500.0));
        assert_eq!(curve(&run, &[]).len(), 2);
    }

    #[test]
    fn a_full_server_and_a_far_one_have_no_remark() {
        let mut run = planted();
        for series in &mut run.series {
            if series.key.metric == "core-busy" {
                series.points.iter_mut().for_each(|point| point.value = Value::Number(0.99));
            }
            series.key.params.set("url", "http://10.0.0.7/");
        }
        assert_eq!(docs(&run)[0].remarks(), Vec::<String>::new());
    }
}
