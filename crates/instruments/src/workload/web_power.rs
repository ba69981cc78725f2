//! The power of a machine whose web server is idle, at shares of its saturation, and saturated; and the energy a
//! request.

use model::power::{LEVEL, METER};
use model::{
    Cadence, Card, Example, Family, Need, ParamSpec, Probe, Role, Setup, Shown, Simple, Tell, Unfit,
};

use super::levels::{
    DURATION, FLAGS, Levels, METRICS, OWN, SORTED, VARIANTS, fit_meter, scheduled, seconds_of_level,
};
use super::web::params::{self, Ask};
use super::web::probe::Loads;

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] =
    ParamSpec::defaulting(ParamSpec::joined(&[&OWN, &OF_LOAD]), "duration", DURATION);

/// The parameters in the names of figures.
const TELLS: &[Tell] = &[
    Tell::always(LEVEL),
    Tell::always(METER),
    Tell::unusual("content"),
    Tell::unusual("mix"),
    Tell::unusual("connections"),
    Tell::unusual("generators"),
    Tell::unusual("keepalive"),
    Tell::unusual("workers"),
];

static CARD: Card = Card {
    name: model::names::instrument::WEB_POWER,
    family: Family::Web,
    says: "power at levels of a load on a web server, and the energy a request",
    source: "own; levels as SERT's",
    shown: Shown {
        label: "web power",
        main: model::metrics::power::WATTS.name(),
        tells: TELLS,
        sorted: SORTED,
        place: 2,
        ..Shown::PLAIN
    },
    role: Role::Power { load: Some(model::names::instrument::WEB) },
    parts: super::web::metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 1,
    params: &PARAMS,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Meter],
    variants: VARIANTS,
    flags: FLAGS,
    examples: &[Example::new(
        "boxscore run web --watts-cmd 'ssh root@bmc ipmitool dcmi power reading'",
        "power from idle to saturation, and joules a request",
    )],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit).lasts(seconds_of_level);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    fit_meter(setup)?;
    Ask::from_setup(&scheduled(setup)?).map(drop)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let scheduled = scheduled(setup)?;
    let loads = Loads::prepare(&scheduled, Ask::from_setup(&scheduled)?)?;
    Ok(Box::new(Levels::new(setup, "web", loads)?))
}
