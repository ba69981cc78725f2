//! Compression and decompression with zstd and lz4: bytes of uncompressed data per second, all threads
//! together, and the ratio reached.
//!
//! A unit of work compresses a corpus of 2 MiB (text, log lines, binary records; the same on every machine)
//! in one call and decompresses it again, each timed by itself. The libraries are those that the program was
//! built with; their versions are a parameter. Not counted: making contexts and buffers, comparing the
//! result with the corpus.

use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Code, Family, Fault, Label, Metric, ParamKind, ParamSpec,
    Probe, Ratio, Record, RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use sys::clock;

use crate::bench::kernel::{
    Kernel, KernelProbe, THREADS, Tally, float, footprint, int_param, sized, word_param,
};
use crate::bench::kernels::corpus::corpus;

const COMPRESS: Metric<BytesPerSec> = Metric::new(
    "compress",
    Better::Higher,
    "uncompressed bytes taken in per second of compressing, all threads together",
);

const DECOMPRESS: Metric<BytesPerSec> = Metric::new(
    "decompress",
    Better::Higher,
    "uncompressed bytes given out per second of decompressing, all threads together",
)
.called("decompress");

const RATIO: Metric<Ratio> = Metric::new(
    "ratio",
    Better::Neither,
    "uncompressed bytes by compressed bytes; the same on every machine",
);

const LIBRARIES: &str = "zstd-1.5.7+lz4_flex-0.14.0";

static CARD: Card = Card {
    name: "compress",
    family: Family::Cpu,
    says: "compression and decompression of a mixed corpus with zstd and lz4",
    source: "own corpus; zstd and lz4_flex as shipped",
    shown: Shown {
        label: "compress",
        main: "compress",
        tells: &[Tell::always("codec"), Tell::unusual("level")],
        sorted: &[By::Param("threads")],
        place: 1,
        topic: Topic::Compute,
        codes: &[
            Code::new("zstd", "compress", "codec=zstd;level=3;threads=1"),
            Code::new("zstd-all", "compress", "codec=zstd;level=3;threads=all"),
        ],
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new("codec", ParamKind::Choice(&["zstd", "lz4"]), "zstd", "the format")
            .label(Label::Value),
        ParamSpec::new(
            "level",
            ParamKind::Int { min: 1, max: 19 },
            "3",
            "how hard zstd tries; lz4 has one level only",
        )
        .label(Label::Form("level {}")),
        ParamSpec::new("library", ParamKind::Choice(&[LIBRARIES]), LIBRARIES, "the libraries built in"),
        THREADS,
    ],
    metrics: &[COMPRESS.info(), DECOMPRESS.info(), RATIO.info()],
    variants: &[
        Variant { tier: Tier::Quick, set: "codec=zstd;threads=1", headline: &[COMPRESS.info().name] },
        Variant { tier: Tier::Quick, set: "codec=zstd;threads=all", headline: &[COMPRESS.info().name] },
        Variant { tier: Tier::Default, set: "codec=lz4;threads=1", headline: &[] },
        Variant { tier: Tier::Full, set: "codec=zstd|lz4;threads=sweep", headline: &[] },
        Variant { tier: Tier::Soak, set: "codec=zstd;threads=all", headline: &["compress"] },
    ],
    ..Card::DEFAULT
};

const SIZE: usize = 2 << 20;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let size = sized(setup, SIZE, 64 << 10);
    let zstd = word_param(setup, "codec")? == "zstd";
    let level = i32::try_from(int_param(setup, "level")?).map_err(|_| Unfit::new("no such level"))?;
    let make = move |_| {
        let codec = if zstd { Codec::zstd(level)? } else { Codec::Lz4 };
        let packed = vec![0; codec.bound(size)];
        Ok(Packer { codec, plain: corpus(size), packed, back: vec![0; size] })
    };
    let memory = footprint(4 * size, setup.threads()?);
    KernelProbe::boxed(setup, memory, make, move |tally, record| push(size, tally, record))
}

enum Codec {
    Zstd(Box<zstd::bulk::Compressor<'static>>, Box<zstd::bulk::Decompressor<'static>>),
    Lz4,
}

impl Codec {
    fn zstd(level: i32) -> Result<Codec, Unfit> {
        let unfit = |error: std::io::Error| Unfit::new(format!("zstd: {error}"));
        let pack = zstd::bulk::Compressor::new(level).map_err(unfit)?;
        let unpack = zstd::bulk::Decompressor::new().map_err(unfit)?;
        Ok(Codec::Zstd(Box::new(pack), Box::new(unpack)))
    }

    /// The most that `size` bytes can become.
    fn bound(&self, size: usize) -> usize {
        match self {
            Codec::Zstd(..) => zstd::zstd_safe::compress_bound(size),
            Codec::Lz4 => lz4_flex::block::get_maximum_output_size(size),
        }
    }

    fn pack(&mut self, plain: &[u8], packed: &mut [u8]) -> Result<usize, Fault> {
        match self {
            Codec::Zstd(pack, _) => pack.compress_to_buffer(plain, packed).map_err(fault),
            Codec::Lz4 => lz4_flex::block::compress_into(plain, packed).map_err(fault),
        }
    }

    fn unpack(&mut self, packed: &[u8], plain: &mut [u8]) -> Result<usize, Fault> {
        match self {
            Codec::Zstd(_, unpack) => unpack.decompress_to_buffer(packed, plain).map_err(fault),
            Codec::Lz4 => lz4_flex::block::decompress_into(packed, plain).map_err(fault),
        }
    }
}

fn fault(error: impl std::fmt::Display) -> Fault {
    Fault::new(error.to_string())
}

struct Packer {
    codec: Codec,
    plain: Vec<u8>,
    packed: Vec<u8>,
    back: Vec<u8>,
}

struct Times {
    compress: Seconds,
    decompress: Seconds,
    packed: usize,
}

impl Kernel for Packer {
    type Out = Times;

    fn run(&mut self, repeats: u64) -> Result<Times, Fault> {
        let (mut compress, mut decompress, mut packed) = (0, 0, 0);
        for _ in 0..repeats {
            let start = clock::now_ns();
            packed = self.codec.pack(&self.plain, &mut self.packed)?;
            let middle = clock::now_ns();
            let data = self.packed.get(..packed).unwrap_or_default();
            let size = self.codec.unpack(data, &mut self.back)?;
            let end = clock::now_ns();
            compress += middle.saturating_sub(start);
            decompress += end.saturating_sub(middle);
            if size != self.plain.len() {
                return Err(Fault::new(format!("{size} bytes came back of {}", self.plain.len())));
            }
        }
        if self.back != self.plain {
            return Err(Fault::new("other bytes came back than went in"));
        }
        Ok(Times { compress: Seconds::from_ns(compress), decompress: Seconds::from_ns(decompress), packed })
    }
}

fn push(size: usize, tally: &Tally<Times>, record: &mut dyn Record) -> Result<(), Fault> {
    let bytes = Bytes(float(size) * tally.units() / float(tally.threads()));
    let mut packed = 0;
    let (mut compress, mut decompress) = (BytesPerSec(0.0), BytesPerSec(0.0));
    for times in tally.outs() {
        if times.compress.0 <= 0.0 || times.decompress.0 <= 0.0 || times.packed == 0 {
            return Err(Fault::new("the clock did not move"));
        }
        compress = compress + bytes / times.compress;
        decompress = decompress + bytes / times.decompress;
        packed = times.packed;
    }
    record.push(&COMPRESS, compress);
    record.push(&DECOMPRESS, decompress);
    record.push(&RATIO, Ratio(float(size) / float(packed)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_zstd_is_the_one_built_in() {
        let version = zstd::zstd_safe::version_string();
        assert!(LIBRARIES.starts_with(&format!("zstd-{version}+")), "{version}");
    }

    #[test]
    fn the_corpus_compresses_like_real_data() {
        for codec in [Codec::zstd(3).unwrap(), Codec::Lz4] {
            let packed = vec![0; codec.bound(1 << 18)];
            let mut packer = Packer { codec, plain: corpus(1 << 18), packed, back: vec![0; 1 << 18] };
            let ratio = float(1 << 18) / float(packer.run(1).unwrap().packed);
            assert!((1.5..6.0).contains(&ratio), "{ratio}");
        }
    }
}
