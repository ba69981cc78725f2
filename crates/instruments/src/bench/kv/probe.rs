//! A test of one store as a probe: names the store, runs the test, and explains its failure.

use model::{Fault, Probe, Record};

use super::target::Held;
use super::wire::Failure;

/// The work of one take on a store.
pub trait Work {
    /// True if the thread of the take is the client, which is then bound to a CPU of this end.
    const IS_CLIENT: bool = true;

    /// Does the work and pushes its readings. Fails when the store does.
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure>;

    /// Bytes that a store of ours needs for it.
    fn footprint(&self, _held: &Held) -> u64 {
        0
    }
}

/// A probe of a store.
#[derive(Debug)]
pub struct StoreProbe<W> {
    pub held: Held,
    pub work: W,
    /// Why the store answers no more.
    gone: Option<String>,
}

impl<W: Work> StoreProbe<W> {
    pub const fn new(held: Held, work: W) -> StoreProbe<W> {
        StoreProbe { held, work, gone: None }
    }
}

impl<W: Work> Probe for StoreProbe<W> {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.held.target.tell(record);
        let _pinned = if W::IS_CLIENT { self.held.target.pin(0)? } else { None };
        let target = &mut self.held.target;
        if let Err(failure) = target.look_again() {
            let fault = target.explain(&failure);
            self.gone = Some(fault.text.clone());
            return Err(fault);
        }
        self.work.run(&self.held, record).map_err(|failure| {
            let target = &mut self.held.target;
            target.remember(&failure);
            let fault = target.explain(&failure);
            self.gone = target.is_gone(&failure).then(|| fault.text.clone());
            fault
        })
    }

    fn given_up(&self) -> Option<String> {
        self.gone.clone()
    }

    fn cpus(&self) -> Vec<u32> {
        self.held.target.busy()
    }

    fn footprint(&self) -> u64 {
        self.work.footprint(&self.held)
    }
}
