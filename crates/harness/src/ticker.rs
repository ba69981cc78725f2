//! Telemetry and pings: once a second the child sends Ping and reads every `Tick` instrument.
//!
//! Runs in a thread of its own. Batches are sent every ten seconds and at the end. A value that cannot be read is
//! missing, never 0.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::frame::{Frame, Segment};
use model::{Cadence, Card, Instrument, NoteBody, Params, Probe, Setup, Value};

use crate::recorder::Recorder;

const TICK: Duration = Duration::from_secs(1);
const SLICE: Duration = Duration::from_millis(50);
const TICKS_A_BATCH: usize = 10;

/// Columns with their units, and per tick a map from column to value.
#[derive(Default)]
struct Batch {
    columns: BTreeMap<String, String>,
    ticks: Vec<(u64, BTreeMap<String, f64>)>,
}

impl Batch {
    fn add(&mut self, at_ns: u64, recorder: &Recorder) {
        let mut row = BTreeMap::new();
        for reading in &recorder.readings {
            let Value::Number(number) = reading.value else { continue };
            let column = match reading.key.params.is_empty() {
                true => reading.key.metric.clone(),
                false => format!("{}{{{}}}", reading.key.metric, reading.key.params),
            };
            self.columns.insert(column.clone(), reading.key.unit.symbol().to_owned());
            row.insert(column, number);
        }
        if !row.is_empty() {
            self.ticks.push((at_ns, row));
        }
    }

    fn segment(self, source: &str) -> Option<Segment> {
        if self.ticks.is_empty() {
            return None;
        }
        let row = |(_, row): &(u64, BTreeMap<String, f64>)| {
            self.columns.keys().map(|column| row.get(column).copied()).collect()
        };
        Some(Segment {
            source: source.to_owned(),
            at_ns: self.ticks.iter().map(|(at_ns, _)| *at_ns).collect(),
            rows: self.ticks.iter().map(row).collect(),
            columns: self.columns.into_iter().collect(),
        })
    }
}

/// The ticker's inputs. `send` is called from its thread.
pub struct Ticker {
    pub instruments: Vec<&'static dyn Instrument>,
    pub setup: Setup,
    /// Monotonic time of the run's start, in nanoseconds.
    pub zero_ns: u64,
    pub end: Arc<AtomicBool>,
    pub send: Box<dyn Fn(&Frame) -> bool + Send>,
}

impl Ticker {
    /// Ticks until `end` is set or the pipe breaks. Returns the CPU seconds used.
    pub fn run(self) -> f64 {
        let mut sources: Vec<(&'static Card, Box<dyn Probe>, Batch)> = Vec::new();
        for one in self.instruments.iter().filter(|one| one.card().cadence == Cadence::Tick) {
            match one.prepare(&self.setup) {
                Ok(probe) => sources.push((one.card(), probe, Batch::default())),
                Err(unfit) => {
                    let text = format!("{}: {}", one.card().name, unfit.why);
                    // A broken pipe shows at the first tick, just below.
                    (self.send)(&Frame::Note(NoteBody::remark("telemetry", text)));
                }
            }
        }
        let mut ticks = 0;
        while !self.end.load(Ordering::Relaxed) {
            let started_ns = sys::clock::now_ns();
            if !(self.send)(&Frame::Ping) {
                break;
            }
            sources.iter_mut().for_each(|(card, probe, batch)| self.tick(card, probe.as_mut(), batch));
            ticks += 1;
            if ticks % TICKS_A_BATCH == 0 {
                self.flush(&mut sources);
            }
            self.sleep(started_ns);
        }
        self.flush(&mut sources);
        sys::clock::thread_cpu_ns() as f64 / 1e9
    }

    fn tick(&self, card: &'static Card, probe: &mut dyn Probe, batch: &mut Batch) {
        let at_ns = sys::clock::now_ns().saturating_sub(self.zero_ns);
        let mut recorder = Recorder::default();
        recorder.open(card, &Params::default(), "", at_ns);
        match probe.take(1, &mut recorder) {
            Ok(()) => batch.add(at_ns, &recorder),
            // A source that fails once (a device gone) is missing for this tick; its gap shows in the telemetry.
            Err(fault) => drop(fault),
        }
    }

    fn flush(&self, sources: &mut [(&'static Card, Box<dyn Probe>, Batch)]) {
        for (card, _, batch) in sources {
            if let Some(segment) = std::mem::take(batch).segment(card.name) {
                (self.send)(&Frame::Telemetry(segment));
            }
        }
    }

    /// Sleeps until one second after the start of the tick, waking often enough to end soon.
    fn sleep(&self, started_ns: u64) {
        let next_ns = started_ns + u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX);
        while sys::clock::now_ns() < next_ns && !self.end.load(Ordering::Relaxed) {
            std::thread::sleep(SLICE);
        }
    }
}
