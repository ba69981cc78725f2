//! The load generator: its busiest core, and what loads with more of them reached.

use model::Unit;
use model::doc::Binding;
use model::finding::generator_bound::{BothFull, Cause};
use model::metrics::load;

use super::view::{Claim, Rank, Seen, View};
use crate::loads::sweep::CEILING;
use crate::loads::sweep::{self, Generator, generator_cores};
use model::format;

pub fn seen(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let share = load.median(&load::SHARE);
    let (cause, why) = match sweep::generator(load, view.index.loads()) {
        Generator::Unknown => return None,
        Generator::Bound(cause) => {
            let why = cause.text(&generator_cores(load));
            (Some(cause), why)
        }
        Generator::Settled(settled) => (None, settled.to_string()),
        Generator::Both(both) => (None, both.to_string()),
        Generator::Free { share } => {
            (None, format!("{} only {} of its time", generator_cores(load), format::percent(share)))
        }
    };
    let text = match share {
        Some(share) => format!("the generator's busiest core {} at work", format::percent(share)),
        None => why.clone(),
    };
    // Of a core that server and generator share the cores tell it, for both.
    let own = cause.filter(|cause| !matches!(cause, Cause::Starved { is_shared: true, .. }));
    let claim = own.map(|cause| claim(view, &cause, &why, share));
    Some(Seen { kind: Binding::Generator, resource: "generator".to_owned(), share, text, claim })
}

/// The sentence where the server's cores bind and the generator is full as well, said once for both.
pub fn both(view: &View<'_, '_>) -> Option<BothFull> {
    match sweep::generator(view.load, view.index.loads()) {
        Generator::Both(both) => Some(both),
        _ => None,
    }
}

fn claim(view: &View<'_, '_>, cause: &Cause, why: &str, share: Option<f64>) -> Claim {
    let rank = match cause {
        Cause::More { .. } | Cause::Rising { .. } => Rank::Proved,
        Cause::Busy { .. } | Cause::Starved { .. } => Rank::AtCeiling,
    };
    let cpu = view.load.median(&load::CPU);
    let cpu =
        cpu.map(|cpu| format!("the generator used {} of CPU a request", format::quantity(cpu, Unit::Second)));
    let capped = share.filter(|share| *share <= CEILING && rank == Rank::Proved);
    let low = capped.map(|share| {
        format!(
            "its busiest core was at work {} of the time alone: something else holds it",
            format::percent(share)
        )
    });
    let what = match cause.is_of_others() {
        true => "other programs on the load generator's core",
        false => "the load generator",
    };
    Claim {
        rank,
        sentence: format!("bound by {what} ({why}): a lower bound for the server; {}", cause.advice()),
        evidence: cpu.into_iter().chain(view.server_cost()).chain(view.shortfall()).collect(),
        counter: low.into_iter().collect(),
        advice: vec![cause.advice().to_owned()],
    }
}
