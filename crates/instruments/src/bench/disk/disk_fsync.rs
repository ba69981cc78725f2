//! The time until a small write is safe: one 4 KiB write and a sync, again and again.
//!
//! Each write overwrites the next block of the test file (no allocation), past the page cache, and is
//! followed by fdatasync or fsync. Counted is the time of write and sync together. Where the device has a
//! volatile write cache and its flush counter did not rise, the figure is refused.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use model::metrics::disk::{FSYNC_LATENCIES, FSYNC_LATENCY};
use model::{
    By, Cadence, Card, Code, Family, Fault, Histogram, Label, Need, ParamKind, ParamSpec, Probe, Record,
    RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use sys::clock;
use sys::pages::Pages;

use crate::bench::file::blocks::Blocks;
use crate::bench::file::proof;
use crate::bench::file::testfile::{self, FILE_SIZE, TestFile};
use crate::bench::kernel::repeats_for;

static CARD: Card = Card {
    name: "disk-fsync",
    family: Family::Disk,
    says: "time until a 4 KiB write is safe on the device",
    source: "fio-style write with fdatasync=1, own code",
    shown: Shown {
        label: "disk fsync",
        main: "latency",
        tells: &[Tell::unusual("sync")],
        sorted: &[By::Param("block")],
        place: 2,
        topic: Topic::Disk("fsync"),
        codes: &[Code::new("fsync", "latency", "block=4KiB;sync=fdatasync")],
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "sync",
            ParamKind::Choice(&["fdatasync", "fsync"]),
            "fdatasync",
            "the call after each write; fsync also makes the file's times safe",
        ),
        ParamSpec::new("block", ParamKind::Bytes { min: 512, max: 1 << 20 }, "4KiB", "bytes of a write")
            .label(Label::Value),
        FILE_SIZE,
    ],
    metrics: &[FSYNC_LATENCY.info(), FSYNC_LATENCIES.info()],
    needs: &[Need::Directory],
    variants: &[
        Variant { tier: Tier::Quick, set: "sync=fdatasync", headline: &["latency"] },
        Variant { tier: Tier::Full, set: "sync=fsync", headline: &[] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(testfile::fit);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let blocks = Blocks::from_setup(setup)?;
    let buffer = blocks.buffer(setup.seed)?;
    let all = setup.params.get("sync") == Some("fsync");
    Ok(Box::new(Syncs { file: blocks.file, buffer, all, at: 0, noted: false }))
}

struct Syncs {
    file: Arc<TestFile>,
    buffer: Pages,
    /// fsync rather than fdatasync.
    all: bool,
    at: u64,
    noted: bool,
}

impl Syncs {
    fn run(&mut self, count: u64) -> Result<(Seconds, Histogram), Fault> {
        let block = self.buffer.len() as u64;
        let whole = self.file.bytes / block * block;
        let mut histogram = Histogram::default();
        let begun = clock::now_ns();
        let mut start = begun;
        for _ in 0..count {
            let written = self.file.file().write_all_at(self.buffer.as_slice(), self.at);
            written.map_err(|error| Fault::new(format!("a write at {} failed: {error}", self.at)))?;
            let synced = match self.all {
                true => sys::direct::fsync(self.file.file()),
                false => sys::direct::fdatasync(self.file.file()),
            };
            synced.map_err(|error| Fault::new(error.to_string()))?;
            let end = clock::now_ns();
            histogram.record(end.saturating_sub(start));
            start = end;
            self.at = (self.at + block) % whole;
        }
        Ok((Seconds::from_ns(start.saturating_sub(begun)), histogram))
    }
}

impl Probe for Syncs {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |count| Ok(self.run(count)?.0))
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let count = repeats.max(1);
        let before = proof::before(&self.file.device);
        let (_, histogram) = self.run(count)?;
        if let Some(finding) = proof::syncs(&self.file.device, &before, count) {
            record.refuse(finding.about(model::Subject::instrument(CARD.name)));
        }
        let median = histogram.quantile_ns(0.5).ok_or_else(|| Fault::new("no write was timed"))?;
        record.push(&FSYNC_LATENCY, Seconds::from_ns(median));
        record.histogram(&FSYNC_LATENCIES.info(), histogram);
        if !self.noted {
            self.noted = true;
            self.file.tell(record);
        }
        Ok(())
    }

    fn footprint(&self) -> u64 {
        self.buffer.len() as u64
    }
}
