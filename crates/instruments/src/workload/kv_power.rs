//! The power of a machine whose key-value store is idle, at shares of its saturation, and saturated; and the energy a
//! request.

use model::power::{LEVEL, METER};
use model::{Card, Example, Family, ParamSpec, Role, Shown, Simple, Tell};

use super::kv_load::params;
use super::kv_load::probe::KvLoads;
use super::levels::{self, OWN, seconds_of_level};

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] = levels::params(&OF_LOAD);

/// The parameters in the names of figures.
const TELLS: &[Tell] = &[
    Tell::always(LEVEL),
    Tell::always(METER),
    Tell::unusual("connections"),
    Tell::unusual("generators"),
    Tell::unusual("keys"),
    Tell::unusual("value-size"),
    Tell::unusual("ratio"),
];

static CARD: Card = Card {
    name: model::names::instrument::KV_POWER,
    family: Family::Kv,
    says: "power at levels of a load on a key-value store, and the energy a request",
    shown: Shown { label: "kv power", tells: TELLS, place: 22, ..levels::SHOWN },
    role: Role::Power { load: Some(model::names::instrument::KV_LOAD) },
    params: &PARAMS,
    examples: &[Example::new(
        "boxscore run kv-power --watts-typed readings.txt",
        "power of a store from idle to saturation, by readings of yours",
    )],
    ..levels::CARD
};

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, levels::prepare::<KvLoads>).fits(levels::fit::<KvLoads>).lasts(seconds_of_level);
