//! Message authentication with VMAC over AES-128 by message size: bytes authenticated per second, all
//! threads together.
//!
//! This is VMAC as the draft specifies it (draft-krovetz-vmac-01, its test vectors hold), with digests of 64
//! or 128 bits, in our own code; the 2010 study used the library that came with its benchmark, so figures
//! compare two machines *and* two implementations. Zero key and nonce; the key is set once, outside the
//! time. `size=best` and `size=worst` climb the ladder of sizes of that study with both digests
//! (`digest=both`). Not counted: key set-up.

use std::hint::black_box;

use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Family, Fault, Metric, ParamKind, ParamSpec, Probe,
    RecordExt, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::kernel::{Kernel, KernelProbe, THREADS, bytes_param, float, footprint, sized, word_param};
use crate::bench::kernels::buffer::Buffer;
use crate::bench::kernels::ladder::{self, Ladder, Work};
use crate::bench::kernels::vmac::Vmac;

const THROUGHPUT: Metric<BytesPerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "bytes authenticated per second by all threads, one digest a message; for size=best and size=worst the \
     fastest and the slowest size and digest of the ladder",
)
.binary();

static CARD: Card = Card {
    name: model::names::instrument::MAC,
    family: Family::Cpu,
    says: "message authentication with VMAC over AES-128",
    source: "RAMCloud misc/vmac (2010); draft-krovetz-vmac-01",
    shown: Shown {
        label: "mac",
        main: "throughput",
        tells: &[Tell::always("size"), Tell::unusual("digest").nor(&["both"])],
        sorted: &[By::Param("size"), By::Param("threads")],
        place: 5,
        topic: Topic::Compute,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ladder::SIZE,
        ParamSpec::new(
            "digest",
            ParamKind::Choice(&["64", "128", "both"]),
            "64",
            "bits of a digest; both: with size=worst and size=best only",
        ),
        THREADS,
    ],
    metrics: &[THROUGHPUT.info()],
    variants: &[
        Variant {
            tier: Tier::Full,
            set: "size=worst|best;digest=both;threads=1",
            headline: &[THROUGHPUT.info().name],
        },
        Variant {
            tier: Tier::Full,
            set: "size=7|31|63|127|1KiB|64KiB|1MiB;digest=64|128;threads=1",
            headline: &[],
        },
        Variant {
            tier: Tier::Full,
            set: "size=1KiB;digest=64;threads=all",
            headline: &[THROUGHPUT.info().name],
        },
        Variant { tier: Tier::Full, set: "size=1KiB;digest=64;threads=sweep", headline: &[] },
    ],
    ..Card::DEFAULT
};

const KEY: [u8; 16] = [0; 16];
const NONCE: [u8; 16] = [0; 16];

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    setup.threads()?;
    let extreme = matches!(word_param(setup, "size")?, "best" | "worst");
    if extreme == (word_param(setup, "digest")? == "both") {
        return Ok(());
    }
    Err(Unfit::new("size=best and size=worst cover both digests: they go with digest=both, and only they do"))
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    fit(setup)?;
    match word_param(setup, "size")? {
        "best" => whole_ladder(setup, f64::max),
        "worst" => whole_ladder(setup, f64::min),
        _ => one_size(setup),
    }
}

fn digest_64(vmac: &Vmac, data: &[u8]) -> u64 {
    vmac.digest_64(&NONCE, data)
}

#[expect(clippy::cast_possible_truncation, reason = "half of the digest is enough to compare")]
fn digest_128(vmac: &Vmac, data: &[u8]) -> u64 {
    vmac.digest_128(&NONCE, data) as u64
}

type Digest = fn(&Vmac, &[u8]) -> u64;

struct Messages {
    vmac: Vmac,
    digest: Digest,
    data: Buffer,
    expected: u64,
}

impl Kernel for Messages {
    type Out = ();

    fn run(&mut self, repeats: u64) -> Result<(), Fault> {
        let mut wrong = 0;
        for _ in 0..repeats {
            wrong |= (self.digest)(black_box(&self.vmac), black_box(&self.data)) ^ self.expected;
        }
        if wrong == 0 { Ok(()) } else { Err(Fault::new("a digest differs from the one by AES tables")) }
    }
}

fn one_size(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let (size, seed) = (bytes_param(setup, "size")?, setup.seed);
    let digest: Digest = if word_param(setup, "digest")? == "128" { digest_128 } else { digest_64 };
    let make = move |_| {
        let data = Buffer::random(size, seed);
        let expected = digest(&Vmac::by_table(&KEY), &data);
        Ok(Messages { vmac: Vmac::new(&KEY), digest, data, expected })
    };
    KernelProbe::boxed(setup, footprint(size, setup.threads()?), make, move |tally, record| {
        record.push(&THROUGHPUT, Bytes(tally.units() * float(size)) / tally.time());
        Ok(())
    })
}

fn whole_ladder(setup: &Setup, pick: fn(f64, f64) -> f64) -> Result<Box<dyn Probe>, Unfit> {
    let (seed, largest) = (setup.seed, sized(setup, ladder::LARGEST, 4096));
    let make = move |_| {
        let work = |digest: Digest| -> Work {
            let vmac = Vmac::new(&KEY);
            Box::new(move |data| digest(&vmac, data))
        };
        Ok(Ladder::new(largest, seed, vec![work(digest_64), work(digest_128)]))
    };
    let memory = footprint(largest, setup.threads()?);
    KernelProbe::boxed(setup, memory, make, move |tally, record| {
        record.push(&THROUGHPUT, ladder::extreme(tally, pick)?);
        Ok(())
    })
}
