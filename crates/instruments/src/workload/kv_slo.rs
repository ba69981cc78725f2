//! The largest load on a key-value store that keeps a percentile of response times within a limit.
//!
//! The same search as that of `web-slo`, with the requests of `kv-load`: an open loop with Poisson arrivals, in
//! requests per second, to 2 %.

use model::{
    Cadence, Card, Family, Instrument, Need, ParamSpec, Probe, Role, Setup, Shown, Tier, Topic, Unfit,
    Variant,
};

use super::kv_load::ask::KvAsk;
use super::kv_load::params::{self, OF_SCHEDULE};
use super::kv_load::probe::KvLoads;
use super::web_slo::{Goal, METRICS, OWN, Searches};

const COUNT: usize = OWN.len() + params::PARAMS.len() - OF_SCHEDULE;
const PARAMS: [ParamSpec; COUNT] = {
    let mut all = [OWN[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < OWN.len() { OWN[at] } else { params::PARAMS[at - OWN.len() + OF_SCHEDULE] };
        at += 1;
    }
    all
};

static CARD: Card = Card {
    name: "kv-slo",
    family: Family::Kv,
    says: "the largest load on a key-value store that keeps a percentile of response times within a limit",
    source: "own",
    shown: Shown {
        label: "kv load",
        main: "slo-throughput",
        tells: super::web::shown::TELLS,
        sorted: super::web::shown::SORTED,
        place: 21,
        topic: Topic::Wait("requests to a store"),
        ..Shown::PLAIN
    },
    role: Role::Search { rate: "slo-throughput" },
    parts: super::web::metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 2,
    params: &PARAMS,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Objective],
    variants: &[Variant { tier: Tier::Full, set: "", headline: &["slo-throughput"] }],
    ..Card::DEFAULT
};

pub struct KvSlo;

pub static INSTRUMENT: KvSlo = KvSlo;

impl Instrument for KvSlo {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        Goal::of(setup)?;
        KvAsk::searching(setup).map(drop)
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let goal = Goal::of(setup)?;
        Ok(Box::new(Searches { goal, loads: KvLoads::prepare(setup, KvAsk::searching(setup)?)? }))
    }
}
