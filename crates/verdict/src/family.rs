//! The family and the assumed noise of an instrument: from its card, or from its name where there is no card.
//!
//! Names matter only for runs of another build, whose instruments this one may not have.

use model::{Card, Family};

/// The instrument's family.
#[must_use]
pub fn family(cards: &[&Card], instrument: &str) -> Family {
    match cards.iter().find(|card| card.name == instrument) {
        Some(card) => card.family,
        None if instrument.starts_with("mem-") => Family::Memory,
        None if instrument.starts_with("disk-") => Family::Disk,
        None if instrument.starts_with("net-") => Family::Net,
        None if instrument.starts_with("kv-") => Family::Kv,
        None if matches!(instrument, "web" | "load") => Family::Web,
        None if instrument.starts_with("scimark") => Family::Runtime,
        None if instrument == "cmd" => Family::User,
        None => Family::Cpu,
    }
}
