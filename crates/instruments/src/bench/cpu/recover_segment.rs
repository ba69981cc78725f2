//! Replaying log segments into an empty key-value store: time for all, and data per second.
//!
//! Segments of 8 MiB are full of entries: 32 bytes of header (CRC-32C, length, table, key, version), then
//! the object's data, padded to 16 bytes. For each entry in turn: the next one's hash line is prefetched, the
//! CRC-32C checked (fastest way of this processor), the key looked up, the entry copied to the log and a
//! reference inserted. Threads take segments from a shared counter and each segment goes to a log segment of
//! its own; the time is from the first thread's start to the last one's end. Own code throughout, copying
//! included. Not counted: filling the segments, emptying the table, starting threads.
//!
//! Two things differ from the old benchmark: its headers were of another size, and the table of deleted
//! objects that it had in 2010 is not consulted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Family, Fault, Metric, ParamKind, ParamSpec, Probe,
    Record, RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use sys::clock;

use crate::bench::kernel::{Kernel, KernelProbe, THREADS, Tally, bytes_param, float, int_param, room, sized};
use crate::bench::kernels::segments::{self, Segments};

const TIME: Metric<Seconds> = Metric::new(
    "time",
    Better::Lower,
    "time to replay all segments, from the first thread's start to the last one's end",
);

const THROUGHPUT: Metric<BytesPerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "object data (headers not counted) replayed per second by all threads together",
)
.binary();

static CARD: Card = Card {
    name: "recover-segment",
    family: Family::Cpu,
    says: "replaying log segments: checksum, hash look-up, copy, insert",
    source: "RAMCloud RecoverSegmentBenchmark",
    shown: Shown {
        label: "recover segment",
        main: "time",
        tells: &[Tell::unusual("object"), Tell::unusual("segments"), Tell::unusual("segment")],
        sorted: &[By::Param("object"), By::Param("threads")],
        place: 7,
        topic: Topic::Compute,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "object",
            ParamKind::Bytes { min: 16, max: 64 << 10 },
            "64",
            "bytes of data in an object",
        ),
        ParamSpec::new("segments", ParamKind::Int { min: 1, max: 4096 }, "20", "segments to replay"),
        ParamSpec::new(
            "segment",
            ParamKind::Bytes { min: 128 << 10, max: 64 << 20 },
            "8MiB",
            "bytes of a segment",
        ),
        THREADS,
    ],
    metrics: &[TIME.info(), THROUGHPUT.info()],
    variants: &[
        Variant {
            tier: Tier::Full,
            set: "object=64;segments=20;segment=8MiB;threads=1",
            headline: &[TIME.info().name],
        },
        Variant { tier: Tier::Full, set: "object=64;threads=all", headline: &[TIME.info().name] },
        Variant { tier: Tier::Full, set: "object=128|256|1KiB|8KiB;threads=1", headline: &[] },
        Variant { tier: Tier::Full, set: "object=64;threads=sweep", headline: &[] },
    ],
    ..Card::DEFAULT
};

fn shape(setup: &Setup) -> Result<segments::Shape, Unfit> {
    let count =
        usize::try_from(int_param(setup, "segments")?).map_err(|_| Unfit::new("too many segments"))?;
    let size = bytes_param(setup, "segment")?;
    Ok(segments::Shape {
        object: bytes_param(setup, "object")?,
        count: sized(setup, count, count.min(2)),
        size: sized(setup, size, 128 << 10),
        lines: sized(setup, 1 << 21, 1 << 12),
    })
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    setup.threads()?;
    room(setup, shape(setup)?.bytes())
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    fit(setup)?;
    let shape = shape(setup)?;
    let threads = setup.threads()?;
    let store = Arc::new(Store {
        segments: Segments::filled(&shape),
        next: AtomicUsize::new(0),
        barrier: Barrier::new(threads),
        failed: Mutex::new(None),
    });
    let data = float(store.segments.objects()) * float(shape.object);
    let make = move |index| Ok(Replayer { store: Arc::clone(&store), index, threads });
    KernelProbe::boxed(setup, shape.bytes(), make, move |tally, record| push(data, tally, record))
}

struct Store {
    segments: Segments,
    /// The segment that is taken next.
    next: AtomicUsize,
    barrier: Barrier,
    failed: Mutex<Option<String>>,
}

struct Replayer {
    store: Arc<Store>,
    index: usize,
    threads: usize,
}

impl Replayer {
    /// Segments one after the other until all are taken; the objects replayed.
    fn replay(&self) -> usize {
        let segments = &self.store.segments;
        let mut objects = 0;
        loop {
            let segment = self.store.next.fetch_add(1, Ordering::Relaxed);
            if segment >= segments.count() {
                return objects;
            }
            match segments.replay(segment) {
                Ok(count) => objects += count,
                Err(why) => {
                    if let Ok(mut failed) = self.store.failed.lock() {
                        *failed = Some(why);
                    }
                }
            }
        }
    }
}

/// Start and end of each replay by one thread, and the objects that it replayed in all.
struct Spans {
    spans: Vec<(u64, u64)>,
    objects: usize,
}

impl Kernel for Replayer {
    type Out = (Spans, usize);

    fn run(&mut self, repeats: u64) -> Result<(Spans, usize), Fault> {
        let mut done = Spans { spans: Vec::new(), objects: 0 };
        if self.index == 0
            && let Ok(mut failed) = self.store.failed.lock()
        {
            *failed = None;
        }
        // Nobody may leave early: the others would wait at the barrier for ever.
        for _ in 0..repeats {
            self.store.segments.empty(self.index, self.threads);
            if self.index == 0 {
                self.store.next.store(0, Ordering::Relaxed);
            }
            self.store.barrier.wait();
            let start = clock::now_ns();
            done.objects += self.replay();
            done.spans.push((start, clock::now_ns()));
            self.store.barrier.wait();
        }
        match self.store.failed.lock() {
            Ok(failed) => match failed.as_ref() {
                Some(why) => Err(Fault::new(why.clone())),
                None => Ok((done, self.store.segments.objects())),
            },
            Err(_) => Err(Fault::new("another thread died")),
        }
    }
}

fn push(data: f64, tally: &Tally<(Spans, usize)>, record: &mut dyn Record) -> Result<(), Fault> {
    let mut total = Seconds(0.0);
    let replays = tally.outs().map(|(done, _)| done.spans.len()).min().unwrap_or(0);
    for replay in 0..replays {
        let spans = || tally.outs().filter_map(|(done, _)| done.spans.get(replay));
        let start = spans().map(|span| span.0).min().unwrap_or(0);
        let end = spans().map(|span| span.1).max().unwrap_or(0);
        total = total + Seconds::from_ns(end.saturating_sub(start));
    }
    let expected = tally.outs().map(|(_, objects)| objects * replays).next().unwrap_or(0);
    let objects: usize = tally.outs().map(|(done, _)| done.objects).sum();
    if objects != expected || total.0 <= 0.0 {
        return Err(Fault::new(format!("{objects} objects were replayed instead of {expected}")));
    }
    let time = total / float(replays);
    record.push(&TIME, time);
    record.push(&THROUGHPUT, Bytes(data) / time);
    Ok(())
}
