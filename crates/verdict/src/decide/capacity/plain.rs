//! The capacity of a side for the user's own commands, and the rates that instruments measure besides loads.
//!
//! A command is run one at a time on each box, so that a box does as many as its time goes into a second.

use std::collections::{BTreeMap, BTreeSet};

use model::command::{COMMAND, label};
use model::data::{RunData, Series};
use model::metrics::command::WALL;
use model::names::{self, Key};
use model::nearest::nearest;
use model::need::{Need, TEST};
use model::shell::word;
use model::{Better, Card, MetricInfo, Params, Unit, card, format};

use super::asked::known;
use super::measure;
use super::points::{self, Point};
use super::ready::{Figure, Ready};
use crate::compare::RowKey;
use crate::compare::matching::same_of;
use crate::decide::{Capacity, Missing};

/// Values of a parameter that are told where it has to be chosen.
const TOLD: usize = 6;

/// A command, by its text or by its name in the plan.
pub fn command(ready: &Ready<'_>, need: &Need, name: &str) -> Result<Capacity, Missing> {
    let again = measure::command(ready.side, name);
    let missing = |why: String| Missing { why, command: Some(again.clone()) };
    unconditional(need, "a command").and_then(|()| counts(need, "a command")).map_err(without_command)?;
    let is_its = |run: &RunData, series: &Series| {
        let key = &series.key;
        key.instrument == names::instrument::CMD && key.metric == WALL.name() && is_named(run, series, name)
    };
    let all = ready.figures(is_its, |_, _| Ok(()));
    let all: Vec<(RowKey, Figure<'_>)> =
        all.into_iter().map(|(key, figure)| (key, figure.inverse(Unit::PerSec))).collect();
    match choose(ready, None, need, all, &again) {
        Some(found) => found.map_err(missing),
        None => Err(missing(untimed(ready, name))),
    }
}

/// The text of a command as series have it.
fn text(series: &Series) -> &str {
    series.key.params.get(COMMAND).unwrap_or_default()
}

/// It has this text or name, or is that of the arm of this name.
fn is_named(run: &RunData, series: &Series, name: &str) -> bool {
    let own = text(series);
    let of_arm = || run.plan.arms.iter().find(|arm| arm.name == series.key.arm);
    let called = || of_arm().and_then(|arm| arm.set.get(COMMAND)) == Some(name);
    own == label(name)
        || (!series.key.arm.is_empty() && series.key.arm == name)
        || called()
        || run.plan.commands.get(name).is_some_and(|command| label(&command.run) == own)
}

fn untimed(ready: &Ready<'_>, name: &str) -> String {
    let is_time = |series: &&Series| {
        series.key.instrument == names::instrument::CMD && series.key.metric == WALL.name()
    };
    let series = ready.side.runs.iter().flat_map(|run| run.series.iter().filter(is_time));
    let timed: BTreeSet<&str> = series.map(text).collect();
    if let Some(fault) = ready.failed(names::instrument::CMD).filter(|_| timed.is_empty()) {
        return format!("no run of `{name}` came to an end: {fault}");
    }
    match nearest(name, timed.iter().copied()) {
        Some(near) => format!("no run of it timed `{name}`; did you mean `{near}`?"),
        None if timed.is_empty() => format!("no run of it timed `{name}`"),
        None => {
            let timed: Vec<String> = timed.iter().take(TOLD).map(|text| format!("`{text}`")).collect();
            format!("no run of it timed `{name}`; timed were {}", format::list(&timed))
        }
    }
}

/// The rate that an instrument measures in the unit of the need.
pub fn instrument(ready: &Ready<'_>, need: &Need, name: &str) -> Result<Capacity, Missing> {
    let Some(card) = card::find(ready.cards, name) else { return Err(unknown(ready, need, name)) };
    let again = measure::instrument(ready.side, card, &need.params);
    let missing = |why: String| Missing { why, command: Some(again.clone()) };
    let metric = unconditional(need, name)
        .and_then(|()| known(&[card], &need.params))
        .and_then(|()| metric(card, need.unit))
        .map_err(without_command)?;
    let is_its = |_: &RunData, series: &Series| {
        let key = &series.key;
        key.instrument == card.name
            && key.metric == metric.name
            && key.unit == need.unit
            && key.definition == ready.definitions.wanted(card)
            && fits(card, need, &key.params)
    };
    let all = ready.figures(is_its, |_, _| Ok(()));
    if let Some(found) = choose(ready, Some(card), need, all, &again) {
        return found.map_err(missing);
    }
    if let Some(found) = published(ready, card, metric, need) {
        return found.map_err(missing);
    }
    let given = if need.params.is_empty() {
        String::new()
    } else {
        format!(" ({})", need.params.to_string().replace(';', ", "))
    };
    let failed = ready.failed(name).map(|fault| format!("no take of {name} came to an end: {fault}"));
    let other = || ready.other_definition(std::iter::once(card));
    Err(missing(failed.or_else(other).unwrap_or_else(|| format!("nobody measured {name}{given} of it"))))
}

/// A work that no instrument is called by.
fn unknown(ready: &Ready<'_>, need: &Need, name: &str) -> Missing {
    let names = ready.cards.iter().filter(|card| !card.metrics.is_empty()).map(|card| card.name);
    match nearest(name, names) {
        Some(near) => {
            Missing { why: format!("no instrument is called {name}: did you mean {near}?"), command: None }
        }
        None => {
            let test = need.params.get(TEST).map_or_else(String::new, |test| format!(" {test}"));
            let command = format!("{name}{test}");
            Missing {
                why: format!(
                    "nobody measured {command}: no instrument is called {name}; as a command of yours it is \
                     measured, and then needed as `cmd {} 400/h`",
                    word(&command)
                ),
                command: Some(measure::command(ready.side, &command)),
            }
        }
    }
}

fn without_command(why: String) -> Missing {
    Missing { why, command: None }
}

/// Fails where a need has conditions on requests.
fn unconditional(need: &Need, what: &str) -> Result<(), String> {
    match (&need.limit, need.errors) {
        (None, None) => Ok(()),
        (Some(limit), _) => Err(format!("{what} has no response times, and the need has {limit}")),
        (None, Some(_)) => {
            Err(format!("{what} has no failed requests, and the need has a condition on them"))
        }
    }
}

/// Fails where jobs are not counted.
fn counts(need: &Need, what: &str) -> Result<(), String> {
    if need.unit == Unit::PerSec {
        return Ok(());
    }
    Err(format!("{what} is counted, as in 400/h, and the demand is in {}", need.unit.symbol()))
}

/// The metric of a unit of which more is better: that which the instrument is named for, else a headline.
fn metric(card: &'static Card, unit: Unit) -> Result<&'static MetricInfo, String> {
    let rates = || card.metrics.iter().filter(|info| info.better == Better::Higher);
    let fit: Vec<&MetricInfo> = rates().filter(|info| info.unit == unit).collect();
    let is_headline =
        |info: &MetricInfo| card.variants.iter().any(|variant| variant.headline.contains(&info.name));
    let main = fit.iter().find(|info| info.name == card.shown.main);
    let found = main.or_else(|| fit.iter().find(|info| is_headline(info))).or(fit.first());
    found.copied().ok_or_else(|| {
        let units: BTreeSet<&str> = rates().map(|info| info.unit.symbol()).collect();
        let units: Vec<String> = units.into_iter().map(str::to_owned).collect();
        match units.as_slice() {
            [] => format!("{} measures no rate", card.name),
            some => format!(
                "{} measures {}, and the demand is in {}",
                card.name,
                format::list(some),
                unit.symbol()
            ),
        }
    })
}

fn fits(card: &Card, need: &Need, params: &Params) -> bool {
    need.params
        .iter()
        .all(|(name, value)| params.get(name).is_some_and(|own| same_of(Some(card), name, own, value)))
}

/// The only figure, or why there are several; `None` where there is none. Of commands, the arm that does most.
fn choose(
    ready: &Ready<'_>,
    card: Option<&Card>,
    need: &Need,
    mut all: Vec<(RowKey, Figure<'_>)>,
    again: &str,
) -> Option<Result<Capacity, String>> {
    all.sort_by(|(_, a), (_, b)| b.level().total_cmp(&a.level()));
    let (_, first) = all.first()?;
    if let Some(card) = card.filter(|_| all.len() > 1) {
        let keys: Vec<&Params> = all.iter().map(|(key, _)| &key.params).collect();
        return Some(Err(several(card, need, &keys)));
    }
    Some(ready.weigh(first, Some(again)))
}

/// `figures of disk-seq differ in op (read, write): name one of each, such as op=read`.
fn several(card: &Card, need: &Need, keys: &[&Params]) -> String {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for params in keys {
        for (name, value) in *params {
            values.entry(name).or_default().insert(value);
        }
    }
    let differs = |(_, values): &(&str, BTreeSet<&str>)| values.len() > 1;
    let apart: Vec<(&str, BTreeSet<&str>)> = values.into_iter().filter(differs).collect();
    let told = |(name, values): &(&str, BTreeSet<&str>)| {
        let shown: Vec<&str> = values.iter().take(TOLD).copied().collect();
        let more = if values.len() > TOLD { ", ..." } else { "" };
        format!("{name} ({}{more})", shown.join(", "))
    };
    let example: Vec<String> =
        (apart.iter()).filter_map(|(name, values)| Some(format!("{name}={}", values.first()?))).collect();
    let apart: Vec<String> = apart.iter().map(told).collect();
    format!(
        "{} figures of {} fit, which differ in {}: say which is meant, as in `{} {}`",
        keys.len(),
        card.name,
        format::list(&apart),
        need.text,
        example.join(" ")
    )
}

/// The only published figure, or why there are several.
fn published(
    ready: &Ready<'_>,
    card: &'static Card,
    metric: &MetricInfo,
    need: &Need,
) -> Option<Result<Capacity, String>> {
    let agrees = |params: &Params| {
        need.params
            .iter()
            .all(|(name, value)| params.get(name).is_none_or(|own| same_of(Some(card), name, own, value)))
    };
    let fit = ready.side.published.iter().filter(|row| {
        row.key.instrument == card.name
            && row.key.metric == metric.name
            && row.key.unit == need.unit
            && row.key.definition == ready.definitions.wanted(card)
            && points::is_sound(row)
            && agrees(&row.key.params)
    });
    let rows: Vec<_> = fit.collect();
    let first = *rows.first()?;
    if rows.len() > 1 {
        let keys: Vec<&Params> = rows.iter().map(|row| &row.key.params).collect();
        return Some(Err(several(card, need, &keys)));
    }
    let key = &first.key;
    let name = names::label(Key {
        card: Some(card),
        instrument: card.name,
        metric: metric.name,
        params: &key.params,
    });
    let open = need.params.keys().filter(|name| key.params.get(name).is_none()).cloned().collect();
    let point = Point { row: first, open, at_least: false };
    Some(Ok(points::capacity(ready, &point, name)))
}
