//! The true clock of a take's first CPU, right before and right after the take, in hertz.
//!
//! The best of 20 windows of 50 us of dependent additions, the reading thread pinned to that CPU. It does not see the
//! take's other CPUs, nor what the clock did in the middle of the take; under emulation it is additions per second.

use model::metrics::machine::{AFTER, BEFORE};
use model::{Cadence, Card, Family, Fault, Hertz, Probe, Record, RecordExt, Setup, Simple, Unfit};
use sys::{affinity, freq};

static CARD: Card = Card {
    name: model::names::instrument::TAKE_CLOCK,
    family: Family::Machine,
    says: "true clock right before and after each take",
    source: "own: dependent additions",
    cadence: Cadence::Around,
    definition: 1,
    metrics: &[BEFORE.info(), AFTER.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let cpu = setup.cpus.first().ok_or_else(|| Unfit::new("no CPU to read the clock of"))?;
    let cpu = usize::try_from(*cpu).map_err(|_| Unfit::new(format!("there is no CPU {cpu}")))?;
    let probe = Clock { cpu };
    probe.hertz().map_err(|fault| Unfit::new(fault.text))?;
    Ok(Box::new(probe))
}

struct Clock {
    cpu: usize,
}

impl Clock {
    fn hertz(&self) -> Result<Hertz, Fault> {
        let pinned = affinity::pin(self.cpu).map_err(|error| Fault::new(error.to_string()))?;
        let seen = freq::true_hz(freq::WINDOWS, freq::WINDOW_NS);
        pinned.restore().map_err(|error| Fault::new(error.to_string()))?;
        let seen = seen.ok_or_else(|| Fault::new("this processor has no additions of known latency here"))?;
        Ok(Hertz(seen.best_hz))
    }
}

impl Probe for Clock {
    fn take(&mut self, side: u64, record: &mut dyn Record) -> Result<(), Fault> {
        record.push(if side == 0 { &BEFORE } else { &AFTER }, self.hertz()?);
        Ok(())
    }
}
