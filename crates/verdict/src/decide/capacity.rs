//! The capacity of a box for a need: found in measured runs and published points, or what is missing, with the command
//! that would measure it. Never worked out from an index or from another need.
//!
//! The figure is the mean of the runs' logarithms, and its standard error the noise between runs over the root of their
//! number, as in comparisons. Figures that the load generator limited, or that were searched under stricter conditions,
//! are lower bounds. Doubtful and refused ones are used only where the user accepts the rules that say so, and then say
//! why they are doubted.
//!
//! Not here: how several boxes add up. No run measures one work on several boxes at once, so that no run shows what is
//! lost there; `crate::scaling` is of threads.

mod asked;
mod loads;
mod measure;
mod open_loop;
mod plain;
mod points;
mod rates;
mod ready;
mod ruled;
mod space;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use model::need::{Need, Work};
use model::{Cards, card, names};

use asked::{Loaded, Requests};
use ready::Ready;

use super::{Capacity, Missing};
use crate::judged::JudgedSide;

/// Files of mixes and of logs as needs name them, with the name that plans have for the mix: label and digest. Of a log
/// of whose requests no mix can be made, the reason.
pub type Mixes = BTreeMap<String, Result<String, String>>;

/// The user's consent, and the mixes of the files that needs name.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub cards: Cards,
    /// Rules that may doubt or refuse what is used.
    pub accept: &'a [String],
    pub mixes: &'a Mixes,
}

/// The capacities of a side, in the order of the needs. Its runs are looked at once for all of them.
pub fn capacities(
    side: &JudgedSide<'_>,
    needs: &[Need],
    options: &Options<'_>,
) -> Vec<Result<Capacity, Missing>> {
    let ready = Ready::new(side, options.accept, options.cards);
    needs.iter().map(|need| of_need(&ready, need, options)).collect()
}

/// The load that answers a work, such as `web`; `None` of what is no load.
pub fn load_of(cards: Cards, work: &Work) -> Option<&'static str> {
    let instrument = match work {
        Work::Web | Work::Mix(_) | Work::Logs(_) => names::instrument::WEB,
        Work::Kv => names::instrument::KV_LOAD,
        Work::Instrument(name) => name,
        Work::Cmd(_) | Work::Memory | Work::Disk => return None,
    };
    Loaded::new(cards, instrument).map(|loaded| loaded.load.name)
}

fn of_need(ready: &Ready<'_>, need: &Need, options: &Options<'_>) -> Result<Capacity, Missing> {
    let mix = |file: &str| options.mixes.get(file).map(|mix| mix.as_deref());
    let named = |file: &str| mix(file).and_then(Result::ok);
    let load = |instrument: &str, requests: Requests<'_>| match Loaded::new(options.cards, instrument) {
        Some(loaded) => loads::capacity(ready, loaded, need, requests),
        None => plain::instrument(ready, need, instrument),
    };
    match &need.work {
        Work::Web => load(names::instrument::WEB, Requests::Plain),
        Work::Mix(file) => {
            load(names::instrument::WEB, Requests::Mix { name: named(file).unwrap_or(file), file })
        }
        Work::Logs(file) => {
            let has_mix = !matches!(mix(file), Some(Err(_)));
            load(names::instrument::WEB, Requests::Log { name: named(file), file, has_mix })
        }
        Work::Kv => load(names::instrument::KV_LOAD, Requests::Plain),
        Work::Cmd(name) => plain::command(ready, need, name),
        Work::Memory | Work::Disk => space::capacity(ready.side, need),
        Work::Instrument(name) => match card::find(options.cards, name) {
            Some(_) => load(name, Requests::Plain),
            None => Err(plain::unknown(ready, need, name)),
        },
    }
}
