//! clusterperf's `readNotFound`: one client asks again and again for an object that is not there.
//!
//! Counted is the mean over blocks of 10 requests for at least 100 ms, after one that does not count. The key has two
//! bytes; one that the store has is passed by.

use model::{
    Cadence, Card, Family, Metric, Need, Probe, Record, RecordExt, Seconds, Setup, Simple, TestName, Tier,
    Unfit, Variant,
};

use super::client::Client;
use super::hot;
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::target::{Held, Target, store_fits};
use super::times::{Times, aside, lower};
use super::wire::{Answer, Failure};

const MISS: Metric<Seconds> = lower("readNotFound", "mean time to ask for an object that is not there");
const MISSES: Metric<Seconds> = aside("readNotFound.all", "the same, means of 10 in a row");

static CARD: Card = Card {
    name: model::names::instrument::KV_MISS,
    family: Family::Kv,
    says: "readNotFound: a read of an object that is not there",
    source: "clusterperf readNotFound (RAMCloud)",
    shown: params::shown(1, params::TELLS),
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![params::MODE],
    metrics: &[MISS.info(), MISSES.info()],
    needs: &[Need::Server],
    tests: &[TestName::new("readNotFound")],
    variants: &[Variant { tier: Tier::Default, set: "kv=redis|memcached", headline: &["readNotFound"] }],
    ..Card::DEFAULT
};

/// Keys of two bytes that are tried.
const KEYS: [&[u8; 2]; 8] = [b"~0", b"~1", b"~2", b"~3", b"~4", b"~5", b"~6", b"~7"];

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(store_fits);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let held = Held::new(Target::prepare(setup)?);
    Ok(Box::new(StoreProbe::new(held, Misses { blocks: Times::default() })))
}

struct Misses {
    blocks: Times,
}

fn is_none(answer: &Answer) -> Result<(), Failure> {
    match answer.count {
        0 => Ok(()),
        _ => Err(Failure::missing("a key that nobody wrote has a value")),
    }
}

/// Asks for the first key that is not there.
fn ask(to: &mut Client) -> Result<(), Failure> {
    for key in KEYS {
        to.ask_get(key);
        if to.turn()?.count == 0 {
            return Ok(());
        }
    }
    Err(Failure::missing("it has an object of every key that this test could ask for in vain"))
}

impl Work for Misses {
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        let mut to = held.target.open()?;
        ask(&mut to)?;
        let mean = hot::mean(&mut to, &mut self.blocks, hot::MEAN_NS, is_none)?;
        record.push(&MISS, mean.seconds());
        record.histogram(&MISSES.info(), self.blocks.histogram());
        Ok(())
    }
}
