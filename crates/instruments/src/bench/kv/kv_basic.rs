//! clusterperf's `basic`: one client reads and writes objects of five sizes, one request after the other.
//!
//! Counted is a request, from before it is written to the connection until all of its answer is understood; in era3 a
//! read has the drawing of its key in it too, as there. Connecting and filling are not counted. The three definitions
//! that clusterperf had are `definition`; each take is a share of what clusterperf does once (`count`, `limit`). A
//! client of RAMCloud's own library has keys that were drawn before.

use std::time::Duration;

use model::format::rounded_duration;
use model::params::show_bytes;
use model::{
    Cadence, Card, Example, Family, MetricInfo, Need, Probe, Record, Setup, Simple, Size, TestName, Tier,
    Unfit, Variant,
};
use sys::clock;

use super::client::Client;
use super::hot::{self, Hot};
use super::keys::{HOT, KEY, value};
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::ramcloud;
use super::single;
use super::table::Table;
use super::target::{Held, Target, store_fits};
use super::times::kv_figure;
use super::times::{FigureMetrics, LINES, Lines, Times};
use super::wire::Failure;
use crate::bench::kernels::random::Random;

/// Reads and writes of each size.
static FIGURES: [[FigureMetrics; 2]; 5] = [
    [
        kv_figure!("basic.read100", "basic.readBw100", "median (era1: mean)", "read 100 B")
            .answering("a read"),
        kv_figure!("basic.write100", "basic.writeBw100", "median (era1: mean)", "write 100 B")
            .answering("a write"),
    ],
    [
        kv_figure!("basic.read1K", "basic.readBw1K", "median (era1: mean)", "read 1 KB"),
        kv_figure!("basic.write1K", "basic.writeBw1K", "median (era1: mean)", "write 1 KB"),
    ],
    [
        kv_figure!("basic.read10K", "basic.readBw10K", "median (era1: mean)", "read 10 KB"),
        kv_figure!("basic.write10K", "basic.writeBw10K", "median (era1: mean)", "write 10 KB"),
    ],
    [
        kv_figure!("basic.read100K", "basic.readBw100K", "median (era1: mean)", "read 100 KB"),
        kv_figure!("basic.write100K", "basic.writeBw100K", "median (era1: mean)", "write 100 KB"),
    ],
    [
        kv_figure!("basic.read1M", "basic.readBw1M", "median (era1: mean)", "read 1 MB"),
        kv_figure!("basic.write1M", "basic.writeBw1M", "median (era1: mean)", "write 1 MB"),
    ],
];
const READ: usize = 0;
const WRITE: usize = 1;
const NAMES: [&str; 5] = ["100", "1K", "10K", "100K", "1M"];
const DECIMAL: [usize; 5] = [100, 1000, 10_000, 100_000, 1_000_000];
const BINARY: [usize; 5] = [100, 1024, 10_240, 102_400, 1_048_576];

const fn metrics() -> [MetricInfo; 10 * LINES] {
    let mut all = [FIGURES[0][0].middle.info(); 10 * LINES];
    let mut at = 0;
    while at < all.len() {
        let figure = at / LINES;
        all[at] = FIGURES[figure / 2][figure % 2].infos()[at % LINES];
        at += 1;
    }
    all
}

const METRICS: &[MetricInfo] = &metrics();
const HEADLINE: &[&str] = &[
    "basic.read100",
    "basic.read1K",
    "basic.read10K",
    "basic.read100K",
    "basic.read1M",
    "basic.write100",
    "basic.write1K",
    "basic.write10K",
    "basic.write100K",
    "basic.write1M",
];

const SMALLEST: &[&str] = &["basic.read100", "basic.write100"];

static CARD: Card = Card {
    name: "kv-basic",
    family: Family::Kv,
    says: "basic: reads and writes of 100 B to 1 MB by one client, with 30-byte keys",
    source: "clusterperf basic (RAMCloud), in its three definitions",
    shown: params::shown(0, params::TELLS_BASIC),
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![
        params::DEFINITION,
        params::SIZES,
        params::MODE,
        params::FILL,
        params::COUNT,
        params::limit(
            "0.2",
            "seconds that a figure may take in one take; clusterperf has 2 to 10 in its only take",
        ),
    ],
    metrics: METRICS,
    needs: &[Need::Server],
    tests: &[TestName::new("basic")],
    examples: &[
        Example::new(
            "boxscore run kv --quick",
            "clusterperf's basic on Redis (with 0 and 2 replicas) and memcached",
        ),
        Example::new(
            "boxscore run kv --kv 10.0.0.3:6379 --test basic --definition era1",
            "a store of yours, as the studies until 2014 measured theirs",
        ),
        Example::new(
            "BOXSCORE_KV_PASSWORD=... boxscore run kv --kv 10.0.0.3:6379",
            "one with a password (and BOXSCORE_KV_USER); it is not stored",
        ),
        Example::new(
            "boxscore run kv --kv ramcloud:tcp:host=10.0.0.3,port=12246 --set ramcloud-library=/opt/ramcloud/libramcloud.so",
            "a RAMCloud of yours, through its own client library",
        ),
    ],
    variants: &[
        Variant { tier: Tier::Quick, set: "kv=redis;replicas=0|2;definition=era3", headline: HEADLINE },
        Variant { tier: Tier::Quick, set: "kv=memcached;definition=era3", headline: HEADLINE },
        Variant { tier: Tier::Quick, set: "kv=redis|memcached;definition=era1", headline: SMALLEST },
        Variant { tier: Tier::Default, set: "kv=redis;replicas=1|2;definition=era1", headline: SMALLEST },
        Variant { tier: Tier::Full, set: "kv=redis|memcached;definition=era2", headline: SMALLEST },
    ],
    ..Card::DEFAULT
};

/// clusterperf's, in bytes.
const USUAL_FILL: u64 = 200 * MEGABYTE;
const MEGABYTE: u64 = 1_000_000;
/// Bytes beside the value that an object counts with, and of its key.
const OVERHEAD: usize = 20 + KEY;
/// A figure of requests has no more, and in era2 or of writes takes no longer.
const LONGEST: Duration = Duration::from_secs(2);
const MOST: usize = 100_000;
const MOST_WRITES: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    One,
    Two,
    Three,
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    store_fits(setup)?;
    match ramcloud::memory(setup)? {
        Some(memory) if ramcloud::needed_memory(setup) > memory => Err(Unfit::new(format!(
            "fill={} puts {} MB of objects into a server with ramcloud-memory={}, and more while they are written \
             anew: leave ramcloud-memory out (it is {} then), or fill less",
            params::number(setup, "fill"),
            params::filled(setup) / MEGABYTE,
            show_bytes(memory),
            show_bytes(ramcloud::needed_memory(setup)),
        ))),
        _ => Ok(()),
    }
}

fn era(setup: &Setup) -> Era {
    match setup.params.get("definition") {
        Some("era1") => Era::One,
        Some("era2") => Era::Two,
        _ => Era::Three,
    }
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let era = era(setup);
    let sizes = if era == Era::Three { BINARY } else { DECIMAL };
    let wanted = setup.params.get("sizes").unwrap_or("all");
    let smoke = setup.size == Size::Smoke;
    let mut held = Held::new(Target::prepare(setup)?);
    let mut work = Basic {
        era,
        objects: Vec::new(),
        count: if smoke { 600 } else { usize::try_from(params::number(setup, "count")).unwrap_or(10_000) },
        limit: if smoke { Duration::from_secs(10) } else { params::limit_of(setup) },
        times: Times::default(),
        random: Random::new(setup.seed),
        fill: if smoke { 2_000_000 } else { params::number(setup, "fill").saturating_mul(MEGABYTE) },
        less: None,
        fill_ns: 0,
        bytes: 0,
    };
    for (at, size) in sizes.into_iter().enumerate() {
        if wanted == "all" || NAMES.get(at).is_some_and(|name| wanted == *name) {
            let put = work.put(&mut held, at, size);
            put.map_err(|failure| Unfit::new(held.target.explain(&failure).text))?;
        }
    }
    if era == Era::Three && !smoke {
        work.less = work.less_than_clusterperf(setup)?;
    }
    Ok(Box::new(StoreProbe::new(held, work)))
}

/// Objects of one size.
#[derive(Debug)]
struct Objects {
    /// Which of the sizes.
    at: usize,
    value: Vec<u8>,
    table: Table,
    /// The key of the one that eras 1 and 2 use.
    hot: [u8; KEY],
}

#[derive(Debug)]
struct Basic {
    era: Era,
    objects: Vec<Objects>,
    count: usize,
    limit: Duration,
    times: Times,
    random: Random,
    /// Bytes of objects of each size.
    fill: u64,
    /// How much less than clusterperf a take does, until it is told.
    less: Option<String>,
    /// How long the filling took.
    fill_ns: u64,
    bytes: u64,
}

impl Basic {
    fn put(&mut self, held: &mut Held, at: usize, size: usize) -> Result<(), Failure> {
        let count = match self.era {
            Era::Three => u32::try_from(self.fill / (size + OVERHEAD) as u64).unwrap_or(u32::MAX).max(1),
            _ => 1,
        };
        let letter = b'a' + u8::try_from(at).unwrap_or(0);
        let value = value(size);
        let begun_ns = clock::now_ns();
        let table = held.fill(letter, count, &value)?;
        self.fill_ns += clock::now_ns() - begun_ns;
        // A store of the user's may have that key.
        let hot = if held.target.is_ours() { *HOT } else { table.keys.key(letter, 0) };
        self.bytes += u64::from(count) * (size + OVERHEAD) as u64 * u64::from(1 + held.target.replicas);
        self.objects.push(Objects { at, value, table, hot });
        Ok(())
    }

    /// The memory and time that clusterperf's own amount of objects would take, where there is less here.
    fn less_than_clusterperf(&self, setup: &Setup) -> Result<Option<String>, Unfit> {
        if self.fill >= USUAL_FILL {
            return Ok(None);
        }
        let mut usual = setup.clone();
        usual.params.set("fill", &(USUAL_FILL / MEGABYTE).to_string());
        let objects = params::filled(&usual) / MEGABYTE;
        let room = match ramcloud::memory(setup)? {
            None => format!("{objects} MB of objects in the store"),
            Some(_) => format!("{} of memory in each server", show_bytes(ramcloud::needed_memory(&usual))),
        };
        let seconds = self.fill_ns as f64 / 1e9 * (USUAL_FILL as f64 / self.fill as f64);
        Ok(Some(format!(
            "basic draws from {} MB of objects of each size; clusterperf fills 200 MB: --set fill=200 needs {room} and \
             about {} to fill them",
            self.fill / MEGABYTE,
            rounded_duration(seconds)
        )))
    }

    /// Reads of one size, then its writes.
    fn size(&mut self, nth: usize, to: &mut Client, replicas: u32) -> Result<[Lines; 2], Failure> {
        let Some(objects) = self.objects.get(nth) else {
            return Err(Failure::missing("no objects of that size were written"));
        };
        let (size, times) = (objects.value.len(), &mut self.times);
        to.make_room(size);
        let hot = Hot { key: &objects.hot, value: &objects.value, replicas };
        Ok(match self.era {
            Era::One => {
                hot.write_once(to)?;
                hot.ask_read(to);
                let mean = hot::mean(to, times, hot::MEAN_NS, |answer| hot::is_one(answer, size))?;
                let read = mean.lines(times, size);
                hot.check(to)?;
                hot.ask_write(to);
                let mean = hot::mean(to, times, hot::MEAN_NS, |answer| hot::is_one(answer, 0))?;
                [read, mean.lines(times, size)]
            }
            Era::Two => {
                let limit = self.limit.min(LONGEST);
                hot.write_once(to)?;
                hot.ask_read(to);
                times.clear(self.count.min(MOST));
                to.turn()?;
                single::requests(to, times, size, limit, &mut |_| ())?;
                let read = Lines::from_times(times, size);
                hot.check(to)?;
                hot.ask_write(to);
                times.clear(self.count.min(MOST_WRITES));
                to.turn()?;
                single::requests(to, times, 0, limit, &mut |_| ())?;
                [read, Lines::from_times(times, size)]
            }
            Era::Three => {
                let (table, value, random) = (objects.table, &objects.value, &mut self.random);
                times.clear(self.count.min(MOST));
                single::random_reads(to, times, (&table, size), self.limit, random)?;
                let read = Lines::from_times(times, size);
                times.clear(self.count.min(MOST));
                let mut draw = |to: &mut Client| {
                    let key = table.keys.key(table.letter, hot::below(random, table.count));
                    to.ask_set(&key, value, replicas);
                };
                single::requests(to, times, 0, self.limit.min(LONGEST), &mut draw)?;
                [read, Lines::from_times(times, size)]
            }
        })
    }
}

impl Work for Basic {
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        if let Some(less) = self.less.take() {
            record.remark("kv-fill", &less);
        }
        let mut to = held.target.open()?;
        // As clusterperf: measured with the largest first where objects are random, told by size.
        let mut order: Vec<usize> = (0..self.objects.len()).collect();
        if self.era == Era::Three {
            order.reverse();
        }
        let mut measured = Vec::new();
        for nth in order {
            let lines = self.size(nth, &mut to, held.target.replicas)?;
            measured.push((self.objects.get(nth).map_or(0, |objects| objects.at), lines));
        }
        measured.sort_by_key(|(at, _)| *at);
        for what in [READ, WRITE] {
            for (at, lines) in &measured {
                if let (Some(figures), Some(lines)) = (FIGURES.get(*at), lines.get(what)) {
                    figures[what].push(lines, record);
                }
            }
        }
        Ok(())
    }

    /// Bytes that a store of ours holds for it; 0 for a store of the user's, which has its own machine.
    fn footprint(&self, held: &Held) -> u64 {
        if held.target.is_ours() { self.bytes } else { 0 }
    }
}
