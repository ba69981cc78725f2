//! A rolling hash (polynomial division, one dependent table look-up a byte) by message size: bytes hashed
//! per second, all threads together.
//!
//! A fixed `size` hashes one buffer again and again, the sum of a run starting the next. `size=best` and
//! `size=worst` pass over the ladder of the 2010 benchmarks (1 to 127 bytes one by one, then 128 B doubling
//! to 16 MiB; 100 runs of a size below 4 KiB, else 1) and report the fastest and the slowest size. Not
//! counted: making the buffers. The two clock readings around a size are in its time, as they were then.

use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Family, Fault, Metric, Probe, RecordExt, Setup, Shown,
    Simple, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::kernel::{KernelProbe, THREADS, bytes_param, float, footprint, sized, word_param};
use crate::bench::kernels::buffer::Buffer;
use crate::bench::kernels::gf2::Affine;
use crate::bench::kernels::ladder::{self, Ladder, Work};
use crate::bench::kernels::rabin;
use crate::bench::kernels::serial::Serial;

const THROUGHPUT: Metric<BytesPerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "bytes hashed per second by all threads, one table look-up a byte; for size=best and size=worst the \
     fastest and the slowest size of the ladder",
)
.binary();

static CARD: Card = Card {
    name: model::names::instrument::RABIN,
    family: Family::Cpu,
    says: "a rolling hash by polynomial division, one table look-up a byte",
    source: "RAMCloud misc/rabinpoly (2010)",
    shown: Shown {
        label: "rabin",
        main: "throughput",
        tells: &[Tell::always("size")],
        sorted: &[By::Param("size"), By::Param("threads")],
        place: 4,
        topic: Topic::Compute,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[ladder::SIZE, THREADS],
    metrics: &[THROUGHPUT.info()],
    variants: &[
        Variant { tier: Tier::Full, set: "size=worst|best;threads=1", headline: &[THROUGHPUT.info().name] },
        Variant { tier: Tier::Full, set: "size=7|31|63|127|1KiB|64KiB|1MiB;threads=1", headline: &[] },
        Variant { tier: Tier::Full, set: "size=1KiB;threads=all", headline: &[THROUGHPUT.info().name] },
        Variant { tier: Tier::Full, set: "size=1KiB;threads=sweep", headline: &[] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    match word_param(setup, "size")? {
        "best" => whole_ladder(setup, f64::max),
        "worst" => whole_ladder(setup, f64::min),
        _ => one_size(setup),
    }
}

fn one_size(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let (size, seed) = (bytes_param(setup, "size")?, setup.seed);
    let data = Buffer::random(size, seed);
    let pass = Affine::from_function(63, |sum| rabin::roll(sum, &data));
    let make = move |_| Ok(Serial::new(rabin::roll, 0, Buffer::random(size, seed)));
    KernelProbe::boxed(setup, footprint(size, setup.threads()?), make, move |tally, record| {
        let expected = pass.power(tally.repeats);
        if tally.outs().any(|(before, after)| expected.apply(*before) != *after) {
            return Err(Fault::new(format!("wrong rolling hash of {size} bytes, {} times", tally.repeats)));
        }
        record.push(&THROUGHPUT, Bytes(tally.units() * float(size)) / tally.time());
        Ok(())
    })
}

fn whole_ladder(setup: &Setup, pick: fn(f64, f64) -> f64) -> Result<Box<dyn Probe>, Unfit> {
    let (seed, largest) = (setup.seed, sized(setup, ladder::LARGEST, 4096));
    let make = move |_| {
        let mut sum = 0;
        let work: Work = Box::new(move |data| {
            sum = rabin::roll(sum, data);
            sum
        });
        Ok(Ladder::new(largest, seed, vec![work]))
    };
    let memory = footprint(largest, setup.threads()?);
    KernelProbe::boxed(setup, memory, make, move |tally, record| {
        record.push(&THROUGHPUT, ladder::extreme(tally, pick)?);
        Ok(())
    })
}
