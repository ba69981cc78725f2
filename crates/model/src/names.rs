//! People's names of figures, and their order on a page, from the cards of their instruments.
//!
//! Names carry no value. Figures of an instrument without a card here are called `instrument metric k=v`.

pub mod instrument;
pub mod load;

use std::collections::BTreeMap;

use crate::card::Card;
use crate::doc::{RowDoc, ScalingDoc, SeriesDoc, SoakDoc};
use crate::params::{Label, Params};
use crate::shown::By;

/// Stated of a published figure beside its parameters: the memory modules that the machine had.
const DIMMS: &str = "dimms";

/// Everything that the name of a figure is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'a> {
    /// Of the instrument, where it is known here.
    pub card: Option<&'static Card>,
    pub instrument: &'a str,
    pub metric: &'a str,
    pub params: &'a Params,
}

impl<'a> From<&'a SeriesDoc> for Key<'a> {
    fn from(doc: &'a SeriesDoc) -> Key<'a> {
        Key { card: doc.card, instrument: &doc.instrument, metric: &doc.metric, params: &doc.params }
    }
}

impl<'a> From<&'a RowDoc> for Key<'a> {
    fn from(doc: &'a RowDoc) -> Key<'a> {
        Key { card: doc.card, instrument: &doc.instrument, metric: &doc.metric, params: &doc.params }
    }
}

impl<'a> From<&'a ScalingDoc> for Key<'a> {
    fn from(doc: &'a ScalingDoc) -> Key<'a> {
        Key { card: doc.card, instrument: &doc.instrument, metric: &doc.metric, params: &doc.params }
    }
}

impl<'a> From<&'a SoakDoc> for Key<'a> {
    fn from(doc: &'a SoakDoc) -> Key<'a> {
        Key { card: doc.card, instrument: &doc.instrument, metric: &doc.metric, params: &doc.params }
    }
}

/// The card, where it says how figures are shown.
fn shown(card: Option<&'static Card>) -> Option<&'static Card> {
    card.filter(|card| !card.shown.label.is_empty() || !card.shown.tells.is_empty())
}

/// Parts of a figure that is shown itself.
pub fn is_detail(card: Option<&'static Card>, metric: &str) -> bool {
    card.and_then(|card| card.metric(metric)).is_some_and(|info| info.detail)
}

/// The metric that the instrument's name stands for.
pub fn is_main(card: Option<&'static Card>, metric: &str) -> bool {
    shown(card).is_none_or(|card| card.shown.main.is_empty() || card.shown.main == metric)
}

/// True if the instrument loads a server, or searches for the rate that a server sustains.
pub fn is_load(card: Option<&'static Card>) -> bool {
    card.is_some_and(|card| card.role.rate().is_some())
}

/// The instrument's name for people: `disk fsync`.
pub fn says(card: Option<&'static Card>) -> Option<&'static str> {
    card.map(|card| card.shown.label).filter(|label| !label.is_empty())
}

/// Topic of an instrument: the name of its family, or `other` where it is not known.
pub fn family(card: Option<&'static Card>) -> &'static str {
    shown(card).map_or("other", |card| card.family.name())
}

/// The name of the family that all instruments are of; `None` of several, of none, and where one has no card.
pub fn one_family(cards: impl IntoIterator<Item = Option<&'static Card>>) -> Option<&'static str> {
    let mut cards = cards.into_iter();
    let first = cards.next()??.family;
    cards.all(|card| card.is_some_and(|card| card.family == first)).then(|| first.name())
}

/// Where a figure stands on a page: families together, known ones first.
pub fn rank(card: Option<&'static Card>) -> usize {
    let place = |card: &Card| (card.family as usize) * (1 << 16) + usize::from(card.shown.place);
    shown(card).map_or(usize::MAX, place)
}

/// Order among the figures of one instrument, as its card asks for.
pub fn order(key: Key<'_>) -> (usize, Vec<u64>, String) {
    let place = |card: &Card, by: &By| match by {
        By::Metric => {
            card.metrics.iter().position(|info| info.name == key.metric).unwrap_or(usize::MAX) as u64
        }
        By::Param(name) => card.any_param(name).map_or(0, |param| param.place(key.params.get(name))),
    };
    let places = |card: &Card| card.shown.sorted.iter().map(|by| place(card, by)).collect();
    (rank(key.card), key.card.map(places).unwrap_or_default(), key.params.to_string())
}

/// A parameter's value as names say it.
fn told(card: Option<&'static Card>, name: &str, value: &str) -> String {
    match card.and_then(|card| card.any_param(name)) {
        Some(param) => param.label.show(name, value),
        None if name == DIMMS => format!(", {value}"),
        // It follows from what else is told.
        None if card.is_some_and(|card| card.derived.iter().any(|derived| derived.name == name)) => {
            String::new()
        }
        None => Label::Pair.show(name, value),
    }
}

/// The metric's part of a name; empty if the name of the instrument stands for it.
fn metric(card: &Card, name: &str) -> String {
    if card.shown.main == name && !name.is_empty() {
        return String::new();
    }
    let label = card.metric(name).map_or("", |info| info.label);
    if label.is_empty() { name.to_owned() } else { label.to_owned() }
}

/// `web p99`: an instrument's metric, whatever its parameters.
pub fn of_metric(card: &Card, name: &str) -> String {
    format!("{} {}", card.shown.label, metric(card, name)).trim_end().to_owned()
}

/// The name of one figure, without regard to its neighbours.
pub fn label(key: Key<'_>) -> String {
    let Some(card) = shown(key.card) else {
        let params = key.params.to_string().replace(';', " ");
        let metric = key.card.map_or_else(|| key.metric.to_owned(), |card| metric(card, key.metric));
        return format!("{} {metric} {params}", key.instrument).trim_end().to_owned();
    };
    if is_load(key.card) {
        return load::label(card, key, &[]);
    }
    let whole = card.metric(key.metric).filter(|info| info.whole).map(|info| info.label);
    let mut words = vec![whole.unwrap_or(card.shown.label).to_owned()];
    for tell in card.shown.tells {
        let Some(param) = card.any_param(tell.param) else { continue };
        if let Some(value) = key.params.get(tell.param).filter(|value| tell.says(value, param.default)) {
            words.push(param.label.show(param.name, value));
        }
    }
    if whole.is_none() {
        words.push(metric(card, key.metric));
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() { key.instrument.to_owned() } else { words.join(" ") }
}

/// The names of several figures, told apart: what differs between two of the same name is added.
pub fn labels(keys: &[Key<'_>]) -> Vec<String> {
    parts(keys).into_iter().map(|parts| parts.join(", ")).collect()
}

/// The same names in their parts: that of a load is `web p99`, `nginx`, `10 connections`, any other one part.
pub fn parts(keys: &[Key<'_>]) -> Vec<Vec<String>> {
    let loads = load::differing(keys);
    let name = |key: &Key<'_>| match key.card.filter(|card| card.role.rate().is_some()) {
        Some(card) => load::parts(card, *key, &loads),
        None => vec![label(*key)],
    };
    let mut out: Vec<Vec<String>> = keys.iter().map(name).collect();
    let mut same: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (index, parts) in out.iter().enumerate() {
        same.entry(parts.clone()).or_default().push(index);
    }
    for group in same.values().filter(|group| group.len() > 1) {
        let metric_differs = group.iter().any(|i| keys[*i].metric != keys[group[0]].metric);
        let mut names: Vec<&str> =
            group.iter().flat_map(|i| keys[*i].params.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| {
            group.iter().any(|i| keys[*i].params.get(name) != keys[group[0]].params.get(name))
        });
        // What is stated beside the parameters stands last.
        names.sort_by_key(|name| *name == DIMMS);
        for index in group {
            let key = keys[*index];
            let Some(last) = out[*index].last_mut() else { continue };
            if metric_differs && !last.ends_with(key.metric) {
                last.push_str(&format!(" {}", key.metric));
            }
            for name in &names {
                if let Some(value) = key.params.get(name) {
                    let word = told(key.card, name, value);
                    let gap = if word.is_empty() || word.starts_with(',') { "" } else { " " };
                    last.push_str(&format!("{gap}{word}"));
                }
            }
        }
    }
    out
}
