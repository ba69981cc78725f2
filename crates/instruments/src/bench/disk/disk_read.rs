//! Random reads of small blocks by queue depth: reads per second, and the time of each.
//!
//! Reads go past the page cache (O_DIRECT) at random blocks of a test file, `qd` of them under way, through
//! io_uring or, where that is forbidden, threads; each is handed over by itself, as soon as one has come back
//! (fio's default; batches of them read less). A latency runs from handing a read to the kernel until
//! its answer is seen. Not counted: writing the file, and whatever caches the device and a hypervisor have.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use model::metrics::disk::{IOPS, LATENCIES, LATENCY};
use model::params::parse_bytes;
use model::{
    By, Cadence, Card, Code, Count, Family, Fault, Histogram, Label, Need, ParamKind, ParamSpec, Probe,
    Record, RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use sys::reads::{Completion, ReadEngine, Threads, best_engine};

use crate::bench::file::blocks::Blocks;
use crate::bench::file::proof;
use crate::bench::file::testfile::{self, FILE_SIZE, TestFile};
use crate::bench::kernel::repeats_for;
use crate::bench::kernels::random::Random;

static CARD: Card = Card {
    name: model::names::instrument::DISK_READ,
    family: Family::Disk,
    says: "random reads past the page cache by queue depth",
    source: "fio-style randread with direct=1, own code",
    shown: Shown {
        label: "disk read",
        main: "iops",
        tells: &[Tell::always("block"), Tell::unusual("qd"), Tell::unusual("pattern")],
        sorted: &[By::Param("block")],
        place: 0,
        topic: Topic::Disk("the disk"),
        codes: &[Code::new("iops", "iops", "block=4KiB;pattern=random;qd=1")],
    },
    cadence: Cadence::Repeat,
    definition: 2,
    params: &[
        ParamSpec::new("pattern", ParamKind::Choice(&["random"]), "random", "blocks in random order"),
        ParamSpec::new("block", ParamKind::Bytes { min: 512, max: 1 << 20 }, "4KiB", "bytes of a read")
            .label(Label::Value),
        ParamSpec::new("qd", ParamKind::Int { min: 1, max: 1024 }, "1", "queue depth: reads under way")
            .label(Label::Form("depth {}")),
        ParamSpec::new(
            "engine",
            ParamKind::Choice(&["auto", "threads", "cached"]),
            "auto",
            "auto: io_uring where it works, else threads; threads: blocking reads; cached: from the page cache, \
                   to show that it is refused",
        ),
        FILE_SIZE,
    ],
    metrics: &[IOPS.info(), LATENCY.info(), LATENCIES.info()],
    needs: &[Need::Directory],
    variants: &[
        Variant { tier: Tier::Quick, set: "qd=1", headline: &["iops"] },
        Variant { tier: Tier::Default, set: "qd=32", headline: &["iops"] },
        Variant { tier: Tier::Default, set: "qd=4|16", headline: &[] },
        Variant { tier: Tier::Full, set: "qd=2|8|64|128|256", headline: &[] },
        Variant { tier: Tier::Soak, set: "qd=32", headline: &["iops"] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(testfile::fit);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let Blocks { file, bytes } = Blocks::from_setup(setup)?;
    let failed = |error: sys::Error| Unfit::new(error.to_string());
    let block = u32::try_from(bytes).map_err(|_| Unfit::new("blocks are below 4 GiB"))?;
    let depth = setup.params.get("qd").and_then(parse_bytes).unwrap_or(1);
    let depth = u32::try_from(depth).map_err(|_| Unfit::new("depths are below 2^32"))?;
    let threads =
        |file: &File| Threads::new(file, depth, block).map(|engine| Box::new(engine) as Box<dyn ReadEngine>);
    let (engine, why) = match setup.params.get("engine") {
        Some("threads") => (threads(file.file()).map_err(failed)?, None),
        Some("cached") => (threads(&cached(file.file())?).map_err(failed)?, None),
        _ => {
            let chosen = best_engine(file.file(), depth, block).map_err(failed)?;
            (chosen.engine, chosen.why_not_uring)
        }
    };
    let why_not_uring = why.map(|error| error.to_string());
    let random = Random::new(setup.seed);
    Ok(Box::new(Reads { file, engine, block, random, why_not_uring, noted: false }))
}

/// Opens the file for reads through the page cache, which then holds all of it. Fails when it cannot be read.
fn cached(file: &File) -> Result<File, Unfit> {
    let failed = |error: std::io::Error| Unfit::new(format!("the test file cannot be cached: {error}"));
    // It has no name of its own any more.
    let mut cached = File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(failed)?;
    std::io::copy(&mut cached, &mut std::io::sink()).map_err(failed)?;
    Ok(cached)
}

struct Reads {
    file: Arc<TestFile>,
    engine: Box<dyn ReadEngine>,
    block: u32,
    random: Random,
    why_not_uring: Option<String>,
    noted: bool,
}

/// Results of the reads of a take.
#[derive(Debug, Default)]
struct Tally {
    first_ns: Option<u64>,
    last_ns: u64,
    done: u64,
    wrong: Option<String>,
    histogram: Histogram,
}

impl Tally {
    fn add(&mut self, block: u32, read: Completion) {
        self.first_ns = Some(self.first_ns.map_or(read.submitted_ns, |first| first.min(read.submitted_ns)));
        self.last_ns = self.last_ns.max(read.completed_ns);
        match read.result {
            Ok(bytes) if bytes == block => {
                self.done += 1;
                self.histogram.record(read.latency_ns());
            }
            Ok(bytes) => {
                self.wrong = Some(format!("a read at {} gave {bytes} of {block} bytes", read.offset));
            }
            Err(errno) => {
                let error = std::io::Error::from_raw_os_error(errno);
                self.wrong = Some(format!("a read at {} failed: {error}", read.offset));
            }
        }
    }

    fn time(&self) -> Seconds {
        Seconds::from_ns(self.last_ns.saturating_sub(self.first_ns.unwrap_or(self.last_ns)))
    }
}

impl Reads {
    fn read(&mut self, count: u64) -> Result<Tally, Fault> {
        let (block, random) = (self.block, &mut self.random);
        let blocks = (self.file.bytes / u64::from(block)).max(1);
        let mut left = count;
        let mut tally = Tally::default();
        let mut next = || {
            left = left.checked_sub(1)?;
            Some(random.below(blocks) * u64::from(block))
        };
        let mut done = |read| tally.add(block, read);
        self.engine.run(&mut next, &mut done).map_err(|error| Fault::new(error.to_string()))?;
        match tally.wrong.take() {
            Some(wrong) => Err(Fault::new(wrong)),
            None if tally.done != count => {
                Err(Fault::new(format!("{} of {count} reads came back", tally.done)))
            }
            None if tally.time().0 <= 0.0 => Err(Fault::new("the clock did not move during the take")),
            None => Ok(tally),
        }
    }
}

impl Probe for Reads {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |count| Ok(self.read(count)?.time()))
    }

    #[expect(clippy::cast_precision_loss, reason = "reads of a take stay far below 2^53")]
    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let count = repeats.max(1);
        let before = proof::before(&self.file.device);
        let tally = self.read(count)?;
        if let Some(finding) = proof::reads(&self.file.device, &before, count * u64::from(self.block)) {
            record.refuse(finding.about(model::Subject::instrument(CARD.name)));
        }
        record.push(&IOPS, Count(tally.done as f64) / tally.time());
        record.push_if(&LATENCY, tally.histogram.quantile_ns(0.5).map(Seconds::from_ns));
        record.histogram(&LATENCIES.info(), tally.histogram);
        if !self.noted {
            self.noted = true;
            self.file.tell(record);
            let why = self.why_not_uring.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            record.remark("engine", &format!("{}{why}", self.engine.name()));
        }
        Ok(())
    }

    fn footprint(&self) -> u64 {
        u64::from(self.block.next_multiple_of(4096)) * u64::from(self.engine.depth())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(result: Result<u32, i32>) -> Completion {
        Completion { index: 0, offset: 8192, submitted_ns: 100, completed_ns: 350, result }
    }

    #[test]
    fn short_and_failed_reads_are_faults() {
        let wrong = |result| {
            let mut tally = Tally::default();
            tally.add(4096, completion(result));
            (tally.done, tally.wrong)
        };
        assert_eq!(wrong(Ok(4096)), (1, None));
        assert_eq!(wrong(Ok(512)), (0, Some("a read at 8192 gave 512 of 4096 bytes".to_owned())));
        assert!(wrong(Err(5)).1.unwrap().starts_with("a read at 8192 failed: Input/output error"));
    }

    #[test]
    fn time_runs_from_the_first_submitted_to_the_last_finished() {
        let mut tally = Tally::default();
        for (submitted_ns, completed_ns) in [(100, 350), (50, 200), (120, 900)] {
            tally.add(4096, Completion { submitted_ns, completed_ns, ..completion(Ok(4096)) });
        }
        assert_eq!(tally.time(), Seconds::from_ns(850));
        assert_eq!(tally.histogram.quantile_ns(0.5), Some(250));
    }
}
