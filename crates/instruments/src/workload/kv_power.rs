//! The power of a machine whose key-value store is idle, at shares of its saturation, and saturated; and the energy a
//! request.

use model::power::{LEVEL, METER};
use model::{
    Cadence, Card, Example, Family, Need, ParamSpec, Probe, Role, Setup, Shown, Simple, Tell, Unfit,
};

use super::kv_load::ask::KvAsk;
use super::kv_load::params;
use super::kv_load::probe::KvLoads;
use super::levels::{
    DURATION, FLAGS, Levels, METRICS, OWN, SORTED, VARIANTS, fit_meter, scheduled, seconds_of_level,
};

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] =
    ParamSpec::defaulting(ParamSpec::joined(&[&OWN, &OF_LOAD]), "duration", DURATION);

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
    source: "own; levels as SERT's",
    shown: Shown {
        label: "kv power",
        main: model::metrics::power::WATTS.name(),
        tells: TELLS,
        sorted: SORTED,
        place: 22,
        ..Shown::PLAIN
    },
    role: Role::Power { load: Some(model::names::instrument::KV_LOAD) },
    parts: super::web::metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 1,
    params: &PARAMS,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Meter],
    variants: VARIANTS,
    flags: FLAGS,
    examples: &[Example::new(
        "boxscore run kv-power --watts-typed readings.txt",
        "power of a store from idle to saturation, by readings of yours",
    )],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit).lasts(seconds_of_level);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    fit_meter(setup)?;
    KvAsk::from_setup(&scheduled(setup)?).map(drop)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let scheduled = scheduled(setup)?;
    let loads = KvLoads::prepare(&scheduled, KvAsk::from_setup(&scheduled)?)?;
    Ok(Box::new(Levels::new(setup, "kv", loads)?))
}
