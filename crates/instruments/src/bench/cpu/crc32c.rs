//! CRC-32C by message size: bytes checked per second, all threads together.
//!
//! Each thread runs over one buffer of random bytes again and again, the result of a run starting the next;
//! the state at the end is checked against an independent calculation. `impl=chain` is the definition of the
//! 2010 benchmarks. Not counted: memory beyond the caches (each thread reads the same buffer) and the final
//! inversion of a standard checksum.

use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Family, Fault, Label, Metric, ParamKind, ParamSpec, Probe,
    Record, RecordExt, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::kernel::{KernelProbe, THREADS, Tally, bytes_param, float, footprint};
use crate::bench::kernels::buffer::Buffer;
use crate::bench::kernels::crc32c::{self, Run};
use crate::bench::kernels::gf2::Affine;
use crate::bench::kernels::serial::Serial;

const THROUGHPUT: Metric<BytesPerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "bytes run through CRC-32C per second by all threads, one call a message; buffers stay in the caches",
)
.binary();

static CARD: Card = Card {
    name: model::names::instrument::CRC32C,
    family: Family::Cpu,
    says: "CRC-32C checksums of messages of one size",
    source: "RAMCloud misc/crc32c (2010) for impl=chain; own for the others",
    shown: Shown {
        label: "crc32c",
        main: "throughput",
        tells: &[Tell::always("size"), Tell::always("impl")],
        sorted: &[By::Param("size"), By::Param("threads")],
        place: 3,
        topic: Topic::Compute,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 16 << 20 }, "1KiB", "bytes in a message")
            .label(Label::Bytes),
        ParamSpec::new(
            "impl",
            ParamKind::Choice(&["chain", "fast", "table"]),
            "fast",
            "chain: one dependent chain of the CRC instruction; fast: the best way that the processor \
                   has; table: eight table look-ups for eight bytes",
        )
        .label(Label::Value),
        THREADS,
    ],
    metrics: &[THROUGHPUT.info()],
    variants: &[
        Variant {
            tier: Tier::Full,
            set: "impl=chain|fast|table;size=7|31|63|127|1KiB|4KiB|16KiB|64KiB|1MiB;threads=1",
            headline: &[THROUGHPUT.info().name],
        },
        Variant {
            tier: Tier::Full,
            set: "impl=fast;size=1KiB;threads=all",
            headline: &[THROUGHPUT.info().name],
        },
        Variant { tier: Tier::Full, set: "impl=fast;size=1KiB;threads=sweep", headline: &[] },
    ],
    ..Card::DEFAULT
};

fn implementation(setup: &Setup) -> Result<Run, Unfit> {
    match setup.params.get("impl") {
        Some("chain") => {
            crc32c::chain().ok_or_else(|| Unfit::new("this processor has no CRC-32C instruction"))
        }
        Some("table") => Ok(crc32c::table),
        _ => Ok(crc32c::fast()),
    }
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    setup.threads()?;
    implementation(setup).map(|_| ())
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let run = implementation(setup)?;
    let size = bytes_param(setup, "size")?;
    let threads = setup.threads()?;
    let seed = setup.seed;
    let data = Buffer::random(size, seed);
    // What one run does to any state, by the table: independent of `run` unless that is the table too.
    let pass = Affine::from_function(32, |state| u64::from(crc32c::table(low(state), &data)));
    let make = move |_| Ok(Serial::new(run, !0, Buffer::random(size, seed)));
    KernelProbe::boxed(setup, footprint(size, threads), make, move |tally, record| {
        push(&pass, size, tally, record)
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a 32-bit state in 64 bits")]
const fn low(state: u64) -> u32 {
    state as u32
}

/// The running state before and after the take.
type States = (u32, u32);

fn push(pass: &Affine, size: usize, tally: &Tally<States>, record: &mut dyn Record) -> Result<(), Fault> {
    let expected = pass.power(tally.repeats);
    let wrong = |(before, after): &&States| expected.apply(u64::from(*before)) != u64::from(*after);
    if let Some((before, after)) = tally.outs().find(wrong) {
        return Err(Fault::new(format!(
            "wrong CRC-32C: {} runs over {size} bytes from {before:#010x} gave {after:#010x}",
            tally.repeats
        )));
    }
    record.push(&THROUGHPUT, Bytes(tally.units() * float(size)) / tally.time());
    Ok(())
}
