//! The capacity of a box for a need: found in measured runs and published points, or what is missing, with the command
//! that would measure it. Never worked out from an index or from another need.
//!
//! The figure is the mean of the runs' logarithms, and its standard error the noise between runs over the root of their
//! number, as in comparisons. Figures that the load generator limited, or that were searched under stricter conditions,
//! are lower bounds. Doubtful and refused ones are used only where the user accepts the rules that say so, and then say
//! why they are doubted.
//!
//! Not here: how several boxes add up, which is `scaling`; `crate::scaling` is of threads.

mod asked;
mod definitions;
mod loaded;
mod loads;
mod measure;
mod open_loop;
mod options;
mod plain;
mod points;
mod rates;
mod ready;
mod ruled;
mod space;
#[cfg(test)]
mod tests;

use model::need::{Need, Work};
use model::{Cards, names};

pub use definitions::Definitions;
pub use options::{Mixes, Options};

use asked::{Asked, Requests};
use loaded::Loaded;
use ready::Ready;

use super::{Capacity, Missing};
use crate::judged::JudgedSide;

/// The capacities of a side, in the order of the needs. Its runs are looked at once for all of them.
pub fn capacities(
    side: &JudgedSide<'_>,
    needs: &[Need],
    options: &Options<'_>,
) -> Vec<Result<Capacity, Missing>> {
    let ready = Ready::new(side, options);
    needs.iter().map(|need| of_need(&ready, need, options)).collect()
}

/// The load that answers a work, such as `web`; `None` of what is no load.
pub fn load_of(cards: Cards, work: &Work) -> Option<&'static str> {
    Loaded::new(cards, instrument_of(work)?).map(|loaded| loaded.load.name)
}

/// The command that measures the load of a need over its rates, whatever its conditions; `None` of what is no load,
/// and of a log of which no mix can be made.
pub fn curve_command(side: &JudgedSide<'_>, need: &Need, options: &Options<'_>) -> Option<String> {
    let need = Need { limit: None, errors: None, ..need.clone() };
    let of = Loaded::new(options.cards, instrument_of(&need.work)?)?;
    let ready = Ready::new(side, options);
    Asked { ready: &ready, of, need: &need, requests: requests(&need, options) }.command()
}

/// The instrument that answers a work; `None` of commands and of space.
fn instrument_of(work: &Work) -> Option<&str> {
    match work {
        Work::Web | Work::Mix(_) | Work::Logs(_) => Some(names::instrument::WEB),
        Work::Kv => Some(names::instrument::KV_LOAD),
        Work::Instrument(name) => Some(name),
        Work::Cmd(_) | Work::Memory | Work::Disk => None,
    }
}

fn requests<'n>(need: &'n Need, options: &'n Options<'_>) -> Requests<'n> {
    let mix = need.source().and_then(|source| options.mixes.get(&source)).map(|mix| mix.as_deref());
    let named = mix.and_then(Result::ok);
    match &need.work {
        Work::Mix(file) => Requests::Mix { name: named.unwrap_or(file), file },
        Work::Logs(file) => {
            Requests::Log { name: named, file, filters: &need.filters, has_mix: !matches!(mix, Some(Err(_))) }
        }
        _ => Requests::Plain,
    }
}

fn of_need(ready: &Ready<'_>, need: &Need, options: &Options<'_>) -> Result<Capacity, Missing> {
    match (&need.work, instrument_of(&need.work)) {
        (_, Some(instrument)) => match Loaded::new(options.cards, instrument) {
            Some(loaded) => loads::capacity(ready, loaded, need, requests(need, options)),
            None => plain::instrument(ready, need, instrument),
        },
        (Work::Cmd(name), None) => plain::command(ready, need, name),
        (_, None) => space::capacity(ready.side, need),
    }
}
