//! CPU time of the last second: all CPUs together by state, and each CPU in the states that limit it.
//!
//! Shares of elapsed CPU time, from the kernel's ticks of 10 ms. Guest time is in user. Single CPUs are shown up to a
//! limit that keeps a report readable on large machines.

use model::metrics::telemetry::{IDLE, IOWAIT, IRQ, NICE, SOFTIRQ, STEAL, SYSTEM, USER};
use model::{Cadence, Card, Family, Fault, Params, Probe, Ratio, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::float;
use super::parse::stat::{self, Stat, Times};
use super::read::Needed;
use super::since::{Since, extra};

/// CPUs that get columns of their own.
const MOST_CPUS: usize = 128;

static CARD: Card = Card {
    name: model::names::instrument::CPU_USE,
    family: Family::Telemetry,
    says: "how the CPUs spend their time, together and each",
    source: "/proc/stat",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[
        USER.info(),
        NICE.info(),
        SYSTEM.info(),
        IRQ.info(),
        SOFTIRQ.info(),
        STEAL.info(),
        IOWAIT.info(),
        IDLE.info(),
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let file = Needed::open("/proc/stat")?;
    Ok(Box::new(Split { file, since: Since::new(), names: Vec::new() }))
}

struct Split {
    file: Needed,
    since: Since<Stat>,
    /// The extra parameters of each CPU, made once.
    names: Vec<(u32, Params)>,
}

impl Probe for Split {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.file.parse(stat::parse)?;
        let Some(step) = self.since.step(sys::clock::now_ns(), now) else { return Ok(()) };
        if let (Some(now), Some(before)) = (&step.now.all, &step.before.all) {
            all(&now.since(before), record);
        }
        let shown = step.now.cpus.iter().take(MOST_CPUS);
        if self.names.len() != shown.len() || !shown.clone().zip(&self.names).all(|(a, b)| a.0 == b.0) {
            self.names = shown.clone().map(|(cpu, _)| (*cpu, extra("cpu", &cpu.to_string()))).collect();
        }
        for ((cpu, now), (_, name)) in shown.zip(&self.names) {
            if let Some(before) = step.before.cpu(*cpu) {
                one(&now.since(before), name, record);
            }
        }
        Ok(())
    }
}

fn all(times: &Times, record: &mut dyn Record) {
    let total = times.total();
    if total == 0 {
        return;
    }
    let of = |part: u64| Ratio(float(part) / float(total));
    record.push(&USER, of(times.user));
    record.push(&NICE, of(times.nice));
    record.push(&SYSTEM, of(times.system));
    record.push(&IRQ, of(times.irq));
    record.push(&SOFTIRQ, of(times.softirq));
    record.push(&STEAL, of(times.steal));
    record.push(&IOWAIT, of(times.iowait));
    record.push(&IDLE, of(times.idle));
}

fn one(times: &Times, name: &Params, record: &mut dyn Record) {
    let total = times.total();
    if total == 0 {
        return;
    }
    let of = |part: u64| Ratio(float(part) / float(total));
    record.push_of(&USER, name, of(times.user.saturating_add(times.nice)));
    record.push_of(&SYSTEM, name, of(times.system.saturating_add(times.irq)));
    record.push_of(&SOFTIRQ, name, of(times.softirq));
    record.push_of(&IDLE, name, of(times.idle.saturating_add(times.iowait)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;

    #[test]
    fn shares_add_up() {
        let times =
            Times { user: 30, nice: 5, system: 10, softirq: 5, idle: 45, iowait: 5, ..Times::default() };
        let mut values = Values::default();
        all(&times, &mut values);
        one(&times, &extra("cpu", "3"), &mut values);
        let sum: f64 =
            values.values.iter().filter(|(name, _)| !name.contains(' ')).map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(values.get("user cpu=3"), Some(0.35));
        assert_eq!(values.get("idle cpu=3"), Some(0.5));
        assert_eq!(values.values.len(), 12);
        all(&Times::default(), &mut Values::default());
    }
}
