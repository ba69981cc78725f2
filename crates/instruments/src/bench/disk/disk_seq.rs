//! Sequential transfers of large blocks, one at a time: bytes per second read or written.
//!
//! Reads and writes go past the page cache (O_DIRECT) through the test file from front to end and round
//! again, going on where the last take stopped. A take of writes ends with fdatasync, which is counted.
//! Not counted: what a device hides in caches of its own, and the first writing of the file.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use model::metrics::disk::BANDWIDTH;
use model::{
    By, Bytes, Cadence, Card, Family, Fault, Label, Need, ParamKind, ParamSpec, Probe, Record, RecordExt,
    Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use sys::clock;
use sys::pages::Pages;

use crate::bench::file::blocks::Blocks;
use crate::bench::file::proof;
use crate::bench::file::testfile::{self, FILE_SIZE, TestFile};
use crate::bench::kernel::repeats_for;

static CARD: Card = Card {
    name: model::names::instrument::DISK_SEQ,
    family: Family::Disk,
    says: "sequential reads and writes past the page cache",
    source: "fio-style read and write with direct=1, own code",
    shown: Shown {
        label: "disk sequential",
        main: "bandwidth",
        tells: &[Tell::always("op"), Tell::unusual("block")],
        sorted: &[By::Param("op"), By::Param("block")],
        place: 1,
        topic: Topic::Disk("the disk"),
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "op",
            ParamKind::Choice(&["read", "write"]),
            "read",
            "read, or write over the test file",
        )
        .label(Label::Value),
        ParamSpec::new("block", ParamKind::Bytes { min: 512, max: 16 << 20 }, "1MiB", "bytes of a transfer")
            .label(Label::Value),
        FILE_SIZE,
    ],
    metrics: &[BANDWIDTH.info()],
    needs: &[Need::Directory],
    variants: &[
        Variant { tier: Tier::Default, set: "op=read|write", headline: &[] },
        Variant { tier: Tier::Soak, set: "op=write", headline: &[BANDWIDTH.info().name] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(testfile::fit);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let blocks = Blocks::from_setup(setup)?;
    let buffer = blocks.buffer(setup.seed)?;
    let write = setup.params.get("op") == Some("write");
    Ok(Box::new(Transfers { file: blocks.file, buffer, write, at: 0, noted: false }))
}

struct Transfers {
    file: Arc<TestFile>,
    buffer: Pages,
    write: bool,
    at: u64,
    noted: bool,
}

impl Transfers {
    fn block(&self) -> u64 {
        self.buffer.len() as u64
    }

    fn run(&mut self, blocks: u64) -> Result<Seconds, Fault> {
        let whole = self.file.bytes / self.block() * self.block();
        let start = clock::now_ns();
        for _ in 0..blocks {
            let at = self.at;
            let moved = match self.write {
                true => self.file.file().write_all_at(self.buffer.as_slice(), at),
                false => self.file.file().read_exact_at(self.buffer.as_mut_slice(), at),
            };
            moved.map_err(|error| Fault::new(format!("a transfer at {at} failed: {error}")))?;
            self.at = (at + self.block()) % whole;
        }
        if self.write {
            sys::direct::fdatasync(self.file.file()).map_err(|error| Fault::new(error.to_string()))?;
        }
        let time = Seconds::from_ns(clock::now_ns().saturating_sub(start));
        if time.0 > 0.0 { Ok(time) } else { Err(Fault::new("the clock did not move during the take")) }
    }
}

impl Probe for Transfers {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |blocks| self.run(blocks))
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes of a take stay far below 2^53")]
    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let bytes = repeats.max(1) * self.block();
        let before = proof::before(&self.file.device);
        let time = self.run(repeats.max(1))?;
        let finding = match self.write {
            true => proof::syncs(&self.file.device, &before, 1),
            false => proof::reads(&self.file.device, &before, bytes),
        };
        if let Some(finding) = finding {
            record.refuse(finding.about(model::Subject::instrument(CARD.name)));
        }
        record.push(&BANDWIDTH, Bytes(bytes as f64) / time);
        if !self.noted {
            self.noted = true;
            self.file.tell(record);
        }
        Ok(())
    }

    fn footprint(&self) -> u64 {
        self.block()
    }
}
