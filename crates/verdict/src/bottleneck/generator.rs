//! The load generator: its busiest core, and what loads with more of them reached.

use model::Unit;
use model::doc::Binding;

use super::{CEILING, Claim, Rank, Seen, View};
use crate::loads::sweep::{self, Generator};
use crate::rules::generator_bound;
use crate::say;

pub fn seen(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let found = sweep::generator(load, view.look.loads());
    let share = load.median("generator-share");
    if found == Generator::Unknown {
        return None;
    }
    let why = generator_bound::why(load, &found);
    let text = match share {
        Some(share) => format!("the generator's busiest core {} at work", say::percent(share)),
        None => why.clone(),
    };
    let rank = match found {
        Generator::More { .. } | Generator::Rising { .. } => Some(Rank::Proved),
        Generator::Busy { .. } | Generator::Starved { .. } => Some(Rank::AtCeiling),
        _ => None,
    };
    let claim = rank.map(|rank| {
        let cpu = load
            .median("generator-cpu")
            .map(|cpu| format!("the generator used {} of CPU a request", say::quantity(cpu, Unit::Second)));
        let capped = share.filter(|share| *share <= CEILING && rank == Rank::Proved);
        let low = capped.map(|share| {
            format!(
                "its busiest core was at work {} of the time alone: something else holds it",
                say::percent(share)
            )
        });
        Claim {
            rank,
            sentence: format!(
                "bound by {} ({why}): a lower bound for the server; {}",
                match found {
                    Generator::Starved { is_shared: false, .. } =>
                        "other programs on the load generator's core",
                    _ => "the load generator",
                },
                generator_bound::advice(&found)
            ),
            evidence: cpu.into_iter().chain(view.server_cost()).chain(view.shortfall()).collect(),
            counter: low.into_iter().collect(),
            advice: vec![generator_bound::advice(&found).to_owned()],
        }
    });
    Some(Seen { kind: Binding::Generator, resource: "generator".to_owned(), share, text, claim })
}
