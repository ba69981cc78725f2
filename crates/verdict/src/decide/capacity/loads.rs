//! The capacity of a side for requests to a server or a store: the largest load that a search found, the largest rate
//! that an open loop held, or the highest rate of a closed one where the need has no limit.
//!
//! A search within a stricter limit, or of a stricter percentile, is a lower bound. Of several setups that answer, the
//! one that does most counts.

use model::names::{self, Key};
use model::need::Need;

use super::asked::{Asked, Requests};
use super::loaded::Loaded;
use super::points;
use super::rates;
use super::ready::{Figure, Ready};
use crate::decide::{Capacity, Missing};

/// The capacity of a side for a load.
pub fn capacity(
    ready: &Ready<'_>,
    of: Loaded,
    need: &Need,
    requests: Requests<'_>,
) -> Result<Capacity, Missing> {
    let asked = Asked { ready, of, need, requests };
    asked.check().map_err(|why| Missing { why, command: None })?;
    found(asked)
}

fn found(asked: Asked<'_, '_>) -> Result<Capacity, Missing> {
    let (searches, curves) = (rates::searches(asked), rates::curves(asked));
    let tiers = match &asked.need.limit {
        Some(_) => {
            let (exact, stricter): (Vec<_>, Vec<_>) =
                searches.figures.into_iter().partition(|figure| !figure.at_least);
            [exact, curves.figures.into_iter().chain(stricter).collect()]
        }
        None => [rates::closed(asked).into_iter().chain(curves.figures).collect(), searches.figures],
    };
    let mut why = None;
    for tier in tiers {
        match best(asked, tier) {
            Some(Ok(found)) => return Ok(found),
            Some(Err(refused)) => why = why.or(Some(refused)),
            None => {}
        }
    }
    let published = match rates::published(asked) {
        Some(Ok(point)) => return Ok(of_point(asked, &point)),
        Some(Err(published)) => Some(published),
        None => None,
    };
    let why = why.or(curves.why_not).or(searches.why_not).or(published);
    Err(Missing { why: why.unwrap_or_else(|| unmeasured(asked)), command: asked.command() })
}

/// The figure that says most of those that may be used, or why the largest may not.
fn best(asked: Asked<'_, '_>, mut figures: Vec<Figure<'_>>) -> Option<Result<Capacity, String>> {
    let again = asked.command();
    figures.sort_by(|a, b| b.level().total_cmp(&a.level()));
    let mut all: Vec<Result<Capacity, String>> =
        figures.iter().map(|figure| asked.ready.weigh(figure, again.as_deref())).collect();
    let most = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    let good = all.iter().enumerate().filter_map(|(at, one)| Some((at, one.as_ref().ok()?.ln)));
    let at = good.max_by(most).map_or(0, |(at, _)| at);
    (at < all.len()).then(|| all.swap_remove(at))
}

fn of_point(asked: Asked<'_, '_>, point: &points::Point<'_>) -> Capacity {
    let key = &point.row.key;
    let card = asked.of.cards().find(|card| card.name == key.instrument);
    let name =
        names::label(Key { card, instrument: &key.instrument, metric: &key.metric, params: &key.params });
    points::capacity(asked.ready, point, name)
}

/// Why there is nothing at all.
fn unmeasured(asked: Asked<'_, '_>) -> String {
    let side = asked.ready.side;
    let name = asked.of.load.name;
    let failed = asked.of.cards().find_map(|card| asked.ready.failed(card.name));
    if let Some(fault) = failed {
        return format!("no take of {name} came to an end: {fault}");
    }
    let conditions = rates::conditions(asked.need);
    let conditions = if conditions.is_empty() { String::new() } else { format!(" with {conditions}") };
    let requests =
        asked.need.source().map_or_else(String::new, |source| format!(" by the requests of {source}"));
    let no_mix = match asked.requests {
        Requests::Log { has_mix: false, .. } => "; no mix can be made of these requests",
        _ => "",
    };
    match (asked.ready.other_definition(asked.of.cards()), side.runs.is_empty()) {
        (Some(other), _) => other,
        (None, true) => format!("nobody published {name}{requests}{conditions} of it{no_mix}"),
        (None, false) => {
            let params = if asked.need.params.is_empty() {
                String::new()
            } else {
                format!(" ({})", asked.need.params.to_string().replace(';', ", "))
            };
            format!("no run of it measured {name}{requests}{conditions}{params}{no_mix}")
        }
    }
}
