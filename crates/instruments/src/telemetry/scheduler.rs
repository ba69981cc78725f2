//! Scheduler activity: threads on the run queue, context switches, interrupts, forks, and the load average.
//!
//! Current counts, and events per second. The run queue is a sample at the tick, not a mean over the second.

use model::metrics::telemetry::{BLOCKED, FORKS, INTERRUPTS, LOAD, RUNNING, SWITCHES};
use model::{
    Cadence, Card, Count, Family, Fault, Metric, PerSec, Probe, Record, RecordExt, Setup, Simple, Unfit,
};

use super::parse::stat::{self, Stat};
use super::parse::{float, words};
use super::read::{Kept, Needed};
use super::since::{Since, maybe_rate};

static CARD: Card = Card {
    name: model::names::instrument::SCHEDULER,
    family: Family::Telemetry,
    says: "run queue, context switches, interrupts, load average",
    source: "/proc/stat, /proc/loadavg",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[RUNNING.info(), BLOCKED.info(), LOAD.info(), SWITCHES.info(), INTERRUPTS.info(), FORKS.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let file = Needed::open("/proc/stat")?;
    Ok(Box::new(Queue { file, load: Kept::open("/proc/loadavg"), since: Since::new() }))
}

struct Queue {
    file: Needed,
    load: Option<Kept>,
    since: Since<Stat>,
}

/// The first of the three averages.
fn load_average(bytes: &[u8]) -> Option<f64> {
    let word = std::str::from_utf8(words(bytes).next()?).ok()?;
    word.parse::<f64>().ok().filter(|load| load.is_finite() && *load >= 0.0)
}

impl Probe for Queue {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.file.parse(stat::parse)?;
        // The thread that reads this is one of those that run.
        record.push_if(&RUNNING, now.running.map(|running| Count(float(running.saturating_sub(1)))));
        record.push_if(&BLOCKED, now.blocked.map(|blocked| Count(float(blocked))));
        record.push_if(&LOAD, self.load.as_mut().and_then(|file| file.parse(load_average)?).map(Count));
        let Some(step) = self.since.step(sys::clock::now_ns(), now) else { return Ok(()) };
        let mut push = |metric: &Metric<PerSec>, of: fn(&Stat) -> Option<u64>| {
            record.push_if(metric, maybe_rate(of(step.now), of(&step.before), step.seconds).map(PerSec));
        };
        push(&SWITCHES, |stat| stat.switches);
        push(&INTERRUPTS, |stat| stat.interrupts);
        push(&FORKS, |stat| stat.forks);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_averages() {
        assert_eq!(load_average(b"12.02 7.27 4.11 19/244 6449\n"), Some(12.02));
        for bad in [&b""[..], b"x", b"-1 2", b"inf", b"\xff"] {
            assert_eq!(load_average(bad), None);
        }
    }
}
