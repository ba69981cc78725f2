//! The power of a machine whose web server is idle, at shares of its saturation, and saturated; and the energy a
//! request.

use model::power::{LEVEL, METER};
use model::{Card, Example, Family, ParamSpec, Role, Shown, Simple, Tell};

use super::levels::{self, OWN, seconds_of_level};
use super::web::params;
use super::web::probe::Loads;

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] = levels::params(&OF_LOAD);

/// The parameters in the names of figures.
const TELLS: &[Tell] = &[
    Tell::always(LEVEL),
    Tell::always(METER),
    Tell::unusual("content"),
    Tell::unusual("files"),
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
    shown: Shown { label: "web power", tells: TELLS, place: 2, ..levels::SHOWN },
    role: Role::Power { load: Some(model::names::instrument::WEB) },
    params: &PARAMS,
    examples: &[Example::new(
        "boxscore run web --watts-cmd 'ssh root@bmc ipmitool dcmi power reading'",
        "power from idle to saturation, and joules a request",
    )],
    ..levels::CARD
};

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, levels::prepare::<Loads>).fits(levels::fit::<Loads>).lasts(seconds_of_level);
