//! Finds what a command line names: the store's file, runs and machines in it, published machines, and the data behind
//! a name.

pub mod catalogue;
pub mod ceilings;
pub mod cpus;
pub mod ids;
pub mod inventory;
pub mod labels;
pub mod names;
pub mod paths;
pub mod resolve;
pub mod runs;
pub mod sides;
pub mod what;

use model::card;

/// True where no instrument was named, or this one or its family.
pub fn is_wanted(instrument: &str, names: &[String]) -> bool {
    let family = card::find(instruments::cards(), instrument).map(|card| card.family.name());
    names.is_empty() || names.iter().any(|name| name == instrument || Some(name.as_str()) == family)
}
