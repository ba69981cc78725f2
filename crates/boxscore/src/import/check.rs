//! Checks that a run from elsewhere is consistent; the error says which place in the run is not.
//!
//! Times of a take are ns since the run's start, `started_ns` is ns since 1970. A value that its metric cannot have is
//! refused, but for planted ones, which nobody measured. What is possible and odd, the rules of a verdict judge.

use std::collections::{BTreeMap, BTreeSet};

use model::card::Cadence;
use model::data::{RunData, Series, TakeHead};
use model::reading::Value;
use model::{Card, Need, Unit};

/// 2000-01-01, before which no run was measured, in ns since 1970.
const FIRST_NS: i64 = 946_684_800_000_000_000;
/// How far a clock elsewhere may be ahead of this one.
const AHEAD_NS: i64 = 86_400_000_000_000;

/// Fails with the first inconsistency within one run.
pub fn run(run: &RunData, cards: &[&Card]) -> Result<(), String> {
    head(run)?;
    let takes = takes(run)?;
    let mut keys = BTreeSet::new();
    for (at, series) in run.series.iter().enumerate() {
        let place = format!("series[{at}] ({})", series.key.title());
        if !keys.insert(&series.key) {
            return Err(format!("{place} stands twice"));
        }
        let is_of_none = series.key.arm.is_empty() && !run.plan.unchanged.is_empty();
        if !is_of_none && !run.plan.arms.iter().any(|arm| arm.name == series.key.arm) {
            return Err(format!("{place}: the plan has no arm `{}`", series.key.arm));
        }
        metric(series, cards).map_err(|what| format!("{place}: {what}"))?;
        if run.plan.fake.is_none() {
            values(series, cards).map_err(|what| format!("{place}.{what}"))?;
        }
        let row = is_row(run, series, cards);
        points(run, series, row, &takes).map_err(|what| format!("{place}.{what}"))?;
    }
    for of in &run.target_telemetry {
        if run.plan.targets.iter().all(|target| target.name != of.target) {
            return Err(format!("target_telemetry: the plan has no target `{}`", of.target));
        }
    }
    let of_targets = run.target_telemetry.iter().map(|of| &of.segment);
    for segment in run.telemetry.iter().chain(of_targets) {
        let is_whole = segment.rows.len() == segment.at_ns.len()
            && segment.rows.iter().all(|row| row.len() == segment.columns.len());
        if !is_whole {
            return Err(format!("telemetry of {}: rows, times and columns do not agree", segment.source));
        }
    }
    Ok(())
}

/// Fails if the run began before 2000 or in the future.
pub fn started(run: &RunData, now_ns: i64) -> Result<(), String> {
    let at = run.head.started_ns;
    #[expect(clippy::cast_precision_loss, reason = "shown to the second")]
    let shown = report::text::date_time(at as f64 / 1e9);
    if at < FIRST_NS {
        return Err(format!("started_ns is {at} ({shown}), before 2000: that machine's clock was wrong"));
    }
    if at > now_ns.saturating_add(AHEAD_NS) {
        return Err(format!("started_ns is {at} ({shown}), in the future: one of the two clocks is wrong"));
    }
    Ok(())
}

fn head(run: &RunData) -> Result<(), String> {
    let head = &run.head;
    for (name, text) in [("run", &head.id), ("study", &head.study), ("machine_id", &head.machine_id)] {
        if text.trim().is_empty() {
            return Err(format!("{name} is empty"));
        }
    }
    let least = |name: &str, number: Option<f64>| match number {
        Some(number) if !number.is_finite() || number < 0.0 => {
            Err(format!("{name} is {number}, and must be 0 or more"))
        }
        _ => Ok(()),
    };
    let above = |name: &str, number: Option<f64>| match number {
        Some(number) if !number.is_finite() || number <= 0.0 => {
            Err(format!("{name} is {number}, and must be above 0"))
        }
        _ => Ok(()),
    };
    least("seconds", head.seconds)?;
    above("price.amount", head.price.as_ref().map(|price| price.amount))?;
    above("watts", head.watts)?;
    for target in &run.plan.targets {
        above(&format!("plan.targets ({}).watts", target.name), target.watts)?;
    }
    if let Some(cost) = run.own_cost {
        least("own_cost[0]", Some(cost.agent_cpu_seconds))?;
        least("own_cost[1]", Some(cost.telemetry_cpu_seconds))?;
        least("own_cost[2]", Some(cost.seconds))?;
    }
    if run.plan.arms.is_empty() {
        return Err("plan.arms is empty: a run without arms has one without a name".to_owned());
    }
    Ok(())
}

fn takes(run: &RunData) -> Result<BTreeMap<u64, &TakeHead>, String> {
    let mut known = BTreeMap::new();
    for (at, take) in run.takes.iter().enumerate() {
        let within = |what: &str, index: u32, count: usize| match usize::try_from(index) {
            Ok(index) if index < count => Ok(()),
            _ => Err(format!("takes[{at}].{what} is {index}, and the plan's {what}s are {count} (from 0)")),
        };
        within("cell", take.cell, run.plan.cells.len())?;
        within("arm", take.arm, run.plan.arms.len())?;
        if take.end_ns < take.start_ns {
            return Err(format!("takes[{at}] ends at {} ns, before its start", take.end_ns));
        }
        if known.insert(take.seq, take).is_some() {
            return Err(format!("takes[{at}].seq is {}, which an earlier take has", take.seq));
        }
    }
    Ok(known)
}

/// Fails if a metric that this build knows has another unit or direction.
fn metric(series: &Series, cards: &[&Card]) -> Result<(), String> {
    let key = &series.key;
    let card = cards.iter().find(|card| card.name == key.instrument && card.definition == key.definition);
    let Some((card, info)) = card.and_then(|card| Some((card, card.metric(&key.metric)?))) else {
        return Ok(());
    };
    if info.unit != key.unit {
        let (found, unit) = (key.unit.symbol(), info.unit.symbol());
        return Err(format!(
            "the unit is `{found}`, and that of {} {} is `{unit}`",
            key.instrument, info.name
        ));
    }
    // Which way is good of a number that a command prints is for its user to say.
    if info.better != series.better && !card.needs.contains(&Need::Command) {
        let (found, better) = (series.better.word(), info.better.word());
        return Err(format!(
            "better is `{found}`, and that of {} {} is `{better}`",
            key.instrument, info.name
        ));
    }
    Ok(())
}

/// Fails with the first value outside the range of a metric that this build knows.
fn values(series: &Series, cards: &[&Card]) -> Result<(), String> {
    let key = &series.key;
    let card = cards.iter().find(|card| card.name == key.instrument && card.definition == key.definition);
    // What a command prints may be any number.
    let known = card.filter(|card| !card.needs.contains(&Need::Command));
    let Some(info) = known.and_then(|card| card.metric(&key.metric)) else { return Ok(()) };
    for (at, point) in series.points.iter().enumerate() {
        if let Value::Number(value) = point.value
            && !info.range.contains(value)
        {
            return Err(format!(
                "points[{at}] is {value}, which no {} can be: {} {} is {}",
                if info.unit == Unit::Ratio { "share" } else { "such figure" },
                key.instrument,
                info.name,
                info.range
            ));
        }
    }
    Ok(())
}

fn points(run: &RunData, series: &Series, row: bool, takes: &BTreeMap<u64, &TakeHead>) -> Result<(), String> {
    let mut last = None;
    for (at, point) in series.points.iter().enumerate() {
        let Some(take) = takes.get(&point.seq) else {
            return Err(format!("points[{at}] is of take {}, which is not there", point.seq));
        };
        if (point.block, point.phase) != (take.block, take.phase) {
            return Err(format!(
                "points[{at}] is of block {} ({}), and its take {} of block {} ({})",
                point.block,
                point.phase.word(),
                point.seq,
                take.block,
                take.phase.word()
            ));
        }
        of_take(run, series, row, take).map_err(|what| format!("points[{at}] {what}"))?;
        match last {
            Some(last) if point.seq < last => {
                return Err(format!("points[{at}] is of take {}, and stands behind take {last}", point.seq));
            }
            Some(last) if row && point.seq == last => {
                return Err(format!("points[{at}] is of take {last}, as the one before it is"));
            }
            _ => last = Some(point.seq),
        }
    }
    Ok(())
}

/// Fails if the take has another arm than the series or, for a row of figures, another instrument.
fn of_take(run: &RunData, series: &Series, row: bool, take: &TakeHead) -> Result<(), String> {
    let key = &series.key;
    let arm = run.plan.arm_name(take.cell, take.arm);
    if arm != key.arm {
        return Err(format!("is of arm `{}`, and its take {} of arm `{arm}`", key.arm, take.seq));
    }
    let cell = run.plan.cells.get(take.cell as usize).map_or("", |cell| cell.instrument.as_str());
    if row && cell != key.instrument {
        return Err(format!("is of {}, and its take {} of {cell}", key.instrument, take.seq));
    }
    Ok(())
}

/// True for a row of figures, which has one value a take. Conditions are read before and after every take.
fn is_row(run: &RunData, series: &Series, cards: &[&Card]) -> bool {
    let name = &series.key.instrument;
    run.plan.cells.iter().any(|cell| cell.instrument == *name)
        || cards.iter().any(|card| card.name == name && card.cadence == Cadence::Repeat)
}
