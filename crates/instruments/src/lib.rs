//! Everything that yields readings or facts: one instrument a file, one topic a folder.
//!
//! Nothing here stores, compares or prints, and no instrument loops over repetitions or chooses an order.

pub mod bench;
pub mod clusterperf;
pub mod inventory;
pub mod load;
pub mod progress;
pub mod remote_task;
pub mod store_protocol;
pub mod system_files;
pub mod telemetry;
pub mod workload;

use std::sync::LazyLock;

use model::{Card, Cards, Instrument};

/// Every instrument, in the order that `list` shows.
pub fn all() -> Vec<&'static dyn Instrument> {
    [
        bench::cpu::ALL,
        bench::memory::ALL,
        bench::disk::ALL,
        bench::net::ALL,
        bench::kv::ALL,
        bench::runtime::ALL,
        bench::machine::ALL,
        workload::ALL,
        telemetry::ALL,
        inventory::ALL,
    ]
    .concat()
}

/// The card of every instrument, in the same order.
pub fn cards() -> Cards {
    static CARDS: LazyLock<Vec<&'static Card>> =
        LazyLock::new(|| all().into_iter().map(Instrument::card).collect());
    &CARDS
}

/// All of them in the order of the families, for those who read a list.
pub fn by_family() -> Vec<&'static dyn Instrument> {
    let mut all = all();
    all.sort_by_key(|instrument| instrument.card().family);
    all
}

/// The instrument of that name.
pub fn find(name: &str) -> Option<&'static dyn Instrument> {
    all().into_iter().find(|instrument| instrument.card().name == name)
}
