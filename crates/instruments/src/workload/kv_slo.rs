//! The largest load on a key-value store that keeps a percentile of response times within a limit.
//!
//! The same search as that of `web-slo`, with the requests of `kv-load`: an open loop, in requests per
//! second.

use model::{Cadence, Card, Family, Need, ParamSpec, Role, Shown, Simple, Tier, Variant};

use super::kv_load::params;
use super::kv_load::probe::KvLoads;
use super::web_slo::{METRICS, OWN, fit, prepare, seconds_of_search};

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] = model::joined(&[&OWN, &OF_LOAD]);

static CARD: Card = Card {
    name: "kv-slo",
    family: Family::Kv,
    says: "the largest load on a key-value store that keeps a percentile of response times within a limit",
    source: "own",
    shown: Shown {
        label: "kv load",
        main: model::metrics::load::SLO.name(),
        tells: super::web::shown::TELLS,
        sorted: super::web::shown::SORTED,
        place: 21,
        ..Shown::PLAIN
    },
    role: Role::Search { rate: model::metrics::load::SLO.name(), load: model::names::instrument::KV_LOAD },
    parts: super::web::metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 7,
    params: &PARAMS,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Objective],
    variants: &[Variant { tier: Tier::Full, set: "", headline: &[model::metrics::load::SLO.name()] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, prepare::<KvLoads>).fits(fit::<KvLoads>).lasts(seconds_of_search);
