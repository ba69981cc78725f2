//! clusterperf's `netBandwidth`: several clients each read one object of 1 MiB, over and over, of several stores.
//!
//! Counted is each client's mean over blocks of 10 reads for at least 100 ms: value bytes by that time, without keys.
//! Client i reads of store i; with fewer stores than clients they go round.

use std::time::Duration;

use model::{
    Better, BytesPerSec, Cadence, Card, Family, Fault, Flag, Means, Metric, Need, ParamKind, ParamSpec,
    Probe, Record, RecordExt, Setup, Simple, TestName, Tier, Unfit, Variant,
};

use super::crowd::{self, Until};
use super::hot;
use super::keys::{KEY, value};
use super::params;
use super::params::kv_params;
use super::target::{Held, Kv, Target, store_fits};
use super::wire::Failure;

const SUM: Metric<BytesPerSec> = Metric::new(
    "netBandwidth",
    Better::Higher,
    "sum of what all clients read by the time; RAMCloud's is without the building of keys and the pipe between rows",
)
.binary();
const FASTEST: Metric<BytesPerSec> =
    Metric::new("netBandwidth.max", Better::Neither, "what the fastest client read by the time").binary();
const SLOWEST: Metric<BytesPerSec> =
    Metric::new("netBandwidth.min", Better::Neither, "what the slowest client read by the time").binary();

const SERVERS: ParamSpec = ParamSpec::new(
    "servers",
    ParamKind::Int { min: 1, max: 16 },
    "1",
    "stores that are started, each with an object of its own",
)
.flag(Flag::new(
    "servers",
    "N",
    "Stores that are started, in tests that have several",
    Means::Param("servers"),
));
const SIZE: ParamSpec = ParamSpec { default: "1MiB", ..params::SIZE };
const CLIENTS: ParamSpec = ParamSpec {
    default: "2",
    says: "clients, each a thread with a connection; clusterperf has twice its hosts",
    ..params::CLIENTS
};

static CARD: Card = Card {
    name: "kv-bandwidth",
    family: Family::Kv,
    says: "netBandwidth: large objects read by several clients of several stores at once",
    source: "clusterperf netBandwidth (RAMCloud), without the key bytes that its later versions add for one client",
    shown: params::shown(7, params::TELLS_LARGE),
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![params::MODE, SIZE, CLIENTS, SERVERS],
    metrics: &[SUM.info(), FASTEST.info(), SLOWEST.info()],
    needs: &[Need::Server],
    tests: &[TestName::new("netBandwidth")],
    variants: &[Variant { tier: Tier::Default, set: "kv=redis|memcached", headline: &["netBandwidth"] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    let is_users = Kv::from_setup(setup)?.is_users(setup)?;
    match params::number(setup, SERVERS.name) {
        count if count > 1 && is_users => {
            Err(Unfit::new(format!("servers={count}: only stores that are started here can be several")))
        }
        _ => store_fits(setup),
    }
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let value = value(params::size(setup));
    let mut stores = Vec::new();
    for nth in 0..u32::try_from(params::number(setup, SERVERS.name)).unwrap_or(1) {
        let (held, table) = Held::new(Target::prepare_nth(setup, nth)?).with_table(1, &value)?;
        stores.push((held, table.keys.key(table.letter, 0)));
    }
    let clients = usize::try_from(params::number(setup, "clients")).unwrap_or(1);
    Ok(Box::new(Bandwidth { stores, bytes: value.len(), clients, gone: None }))
}

struct Bandwidth {
    /// With the key of the object that each has; never empty.
    stores: Vec<(Held, [u8; KEY])>,
    bytes: usize,
    clients: usize,
    /// Why a store answers no more.
    gone: Option<String>,
}

impl Bandwidth {
    fn run(&self, record: &mut dyn Record) -> Result<(), Failure> {
        let of = |nth: usize| self.stores.get(nth % self.stores.len().max(1));
        let targets: Vec<&Target> = (0..self.clients).filter_map(of).map(|(held, _)| &held.target).collect();
        let span = Until::Passed(Duration::from_nanos(hot::MEAN_NS));
        let build = |to: &mut super::client::Client, nth: usize, _: &mut _| {
            if let Some((_, key)) = of(nth) {
                to.ask_get(key);
            }
        };
        let (done, ()) = crowd::run(&targets, span, self.bytes, &build, || Ok(()))?;
        let rates: Vec<f64> = done.iter().map(|done| done.rate() * self.bytes as f64).collect();
        record.push(&SUM, BytesPerSec(rates.iter().sum()));
        record.push(&FASTEST, BytesPerSec(rates.iter().copied().fold(0.0, f64::max)));
        record.push(&SLOWEST, BytesPerSec(rates.iter().copied().fold(f64::INFINITY, f64::min)));
        Ok(())
    }
}

impl Probe for Bandwidth {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.stores.iter_mut().for_each(|(held, _)| held.target.tell(record));
        let Err(failure) = self.run(record) else { return Ok(()) };
        let fault = match self.stores.first() {
            Some((held, _)) => held.target.explain(&failure),
            None => Fault::new(failure.to_string()),
        };
        let is_gone = |(held, _): &mut (Held, _)| held.target.is_gone(&failure);
        self.gone = self.stores.iter_mut().any(is_gone).then(|| fault.text.clone());
        Err(fault)
    }

    fn given_up(&self) -> Option<String> {
        self.gone.clone()
    }

    fn cpus(&self) -> Vec<u32> {
        self.stores.first().map(|(held, _)| held.target.busy()).unwrap_or_default()
    }
}
