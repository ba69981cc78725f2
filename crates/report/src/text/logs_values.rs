//! Values of logs as text, and how much of them is shown.

use model::Unit;
use model::doc::TrafficDoc;
use model::format::{self, Kind, Scale};

use super::date_time;

/// How much is shown: everything, and so many names in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub all: bool,
    pub most: usize,
    /// Days were asked for.
    pub days: bool,
    /// Groups of `--by`, of those that are names.
    pub groups: usize,
}

impl View {
    /// The view that fits on two screens of a terminal.
    pub const SHORT: View = View { all: false, most: 3, days: false, groups: 20 };
}

pub(super) const NONE: &str = "-";

/// Standard errors within which 95 of 100 estimates lie.
const WITHIN: f64 = 2.0;

pub(super) fn clients(group: &TrafficDoc) -> String {
    let about = |clients: f64| match group.clients_error {
        // A sketch of few is off by less than one.
        Some(error) if error > 0.0 && WITHIN * error * clients < 0.5 => {
            format!("about {}", format::fixed(clients, 0))
        }
        Some(error) if error > 0.0 => {
            format!("about {} (±{})", format::number(clients), format::percent(WITHIN * error))
        }
        _ => format::fixed(clients, 0),
    };
    group.clients.map_or(NONE.to_owned(), about)
}

pub(super) fn moment(seconds: Option<f64>) -> String {
    seconds.map_or(NONE.to_owned(), date_time)
}

/// Values that are further apart than this have no scale in common.
const APART: f64 = 1000.0;

/// Values in one scale, each with its unit.
pub(super) fn shared(values: &[Option<f64>], kind: Kind) -> Vec<String> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let sizes = known.iter().map(|value| value.abs()).filter(|size| *size > 0.0);
    let (least, most) = sizes.fold((f64::MAX, 0.0f64), |(low, high), size| (low.min(size), high.max(size)));
    if most > APART * least {
        return values
            .iter()
            .map(|value| value.map_or(NONE.to_owned(), |value| format::quantity(value, kind)))
            .collect();
    }
    let scale = Scale::common(&known, kind);
    values.iter().map(|value| value.map_or(NONE.to_owned(), |value| scale.with_unit(value))).collect()
}

/// A percentile that may be off by more than this share has two digits: a third one would mean nothing.
const ROUGH: f64 = 0.005;

/// Percentiles of groups, with as many digits as they are known to.
pub(super) fn percentiles(values: &[Option<f64>], groups: &[TrafficDoc]) -> Vec<String> {
    let kind = Kind::for_unit(Unit::Second);
    if groups.iter().all(|group| group.quantile_error.is_none_or(|error| error <= ROUGH)) {
        return bounded(values, kind, groups);
    }
    let rough = |(value, group): (&Option<f64>, &TrafficDoc)| {
        let Some(value) = *value else { return NONE.to_owned() };
        let over = group.time_limit.is_some_and(|limit| value >= limit);
        format!("{}{}", if over { ">" } else { "" }, Scale::common(&[value], kind).roughly(value))
    };
    values.iter().zip(groups).map(rough).collect()
}

/// The same, with times that are lower bounds marked.
pub(super) fn bounded(values: &[Option<f64>], kind: Kind, groups: &[TrafficDoc]) -> Vec<String> {
    let is_time = kind == Kind::for_unit(Unit::Second);
    let mark = |((text, value), group): ((String, &Option<f64>), &TrafficDoc)| {
        let over = value.zip(group.time_limit).is_some_and(|(value, limit)| value >= limit);
        if is_time && over { format!(">{text}") } else { text }
    };
    shared(values, kind).into_iter().zip(values).zip(groups).map(mark).collect()
}
