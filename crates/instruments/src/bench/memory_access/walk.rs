//! The probe of the instruments that walk a chain: set up from the parameters, walked once per take, with its doubts.
//!
//! It knows no metric: the instrument pushes the time of a walk. Sizes are bytes, pauses nanoseconds.

use model::params::show_bytes;
use model::{Fault, Finding, Params, Probe, Record, Seconds, Setup, Unfit};

use super::chain::{self, WalkOrder};
use super::latency::{Chase, Course, Walked};
use super::place::{Extent, MemoryPlacement};
use crate::bench::kernel::repeats_for;

/// A chain to be walked.
#[derive(Debug)]
pub struct Walk {
    place: MemoryPlacement,
    order: WalkOrder,
    range: usize,
    stride: usize,
    /// Slots that a lap visits.
    pub slots: usize,
    /// Why its figures are doubtful, if so.
    pub doubt: Option<Finding>,
    /// It stands for memory: lines are flushed before they are walked.
    pub flush: bool,
    /// Parameters that the machine chose, as they came out: they are part of what is measured.
    pub chosen: Params,
    /// If other threads read as many bytes meanwhile: their pause after each 4 KiB.
    pause_ns: Option<u64>,
}

/// Pushes what a walk took; the parameters are those that the machine chose.
pub type Push = fn(&Walked, &Params, &mut dyn Record);

impl Walk {
    /// A walk over `extent` in `order`, a slot every `stride` bytes. Fails when no chain has this shape.
    pub fn new(
        place: MemoryPlacement,
        extent: Extent,
        (order, stride): (WalkOrder, u64),
    ) -> Result<Walk, Unfit> {
        let size = |bytes| usize::try_from(bytes).map_err(|_| Unfit::new("larger than the address space"));
        let (range, stride) = (size(extent.bytes)?, size(stride)?);
        let slots = chain::slots(order, range, stride).map_err(|error| Unfit::new(error.to_string()))?;
        let (flush, chosen) = (true, Params::default());
        Ok(Walk { place, order, range, stride, slots, doubt: extent.doubt, flush, chosen, pause_ns: None })
    }

    /// Under the load of the other threads.
    #[must_use]
    pub fn loaded(self, pause_ns: u64) -> Walk {
        Walk { pause_ns: Some(pause_ns), ..self }
    }

    /// Maps the memory and builds the chain. Fails when there is not enough memory.
    pub fn probe(self, setup: &Setup, push: Push) -> Result<Box<dyn Probe>, Unfit> {
        let Walk { place, order, range, stride, doubt, flush, chosen, pause_ns, .. } = self;
        let load = pause_ns.map(|pause_ns| (range, pause_ns));
        let chase = Chase::prepare(setup, place, Course { order, range, stride, flush }, load)?;
        // Without a subject: they are about the figures of their takes, not about the instrument.
        let doubts = doubt.into_iter().chain(chase.doubt.clone()).collect();
        let arrays = format!("a chain over {}", show_bytes(range as u64));
        Ok(Box::new(Walks { chase, doubts, push, chosen, arrays, noted: false }))
    }
}

struct Walks {
    chase: Chase,
    doubts: Vec<Finding>,
    push: Push,
    chosen: Params,
    arrays: String,
    noted: bool,
}

impl Probe for Walks {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |units| Ok(self.chase.walk(units)?.time))
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let walked = self.chase.walk(repeats.max(1))?;
        (self.push)(&walked, &self.chosen, record);
        for doubt in &self.doubts {
            record.refuse(doubt.clone());
        }
        if !self.noted {
            self.noted = true;
            record.remark("pinning", &self.chase.place().sentence());
            record.remark("arrays", &self.arrays);
        }
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.chase.cpus()
    }

    fn footprint(&self) -> u64 {
        self.chase.footprint()
    }
}
