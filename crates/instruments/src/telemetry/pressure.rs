//! Pressure stall information: the share of time in which threads waited for a CPU, for memory, or for a disk.
//!
//! Shares of the last second, of the whole system. Kernels before 4.20, or without PSI, do not have it.

use model::metrics::telemetry::{FULL, SOME};
use model::{Cadence, Card, Family, Fault, Params, Probe, Ratio, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::float;
use super::parse::pressure::{self, Pressure};
use super::read::Kept;
use super::since::{Since, extra, maybe_rate};

const RESOURCES: [&str; 3] = ["cpu", "memory", "io"];

static CARD: Card = Card {
    name: "pressure",
    family: Family::Telemetry,
    says: "time lost waiting for CPU, memory and disk",
    source: "/proc/pressure",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[SOME.info(), FULL.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let open = |resource: &&str| {
        let file = Kept::open(format!("/proc/pressure/{resource}"))?;
        Some(Resource { name: extra("resource", resource), file, since: Since::new() })
    };
    let resources: Vec<Resource> = RESOURCES.iter().filter_map(open).collect();
    if resources.is_empty() {
        return Err(Unfit::new("the kernel has no /proc/pressure: boot it with psi=1"));
    }
    Ok(Box::new(Stalls { resources }))
}

struct Resource {
    name: Params,
    file: Kept,
    since: Since<Pressure>,
}

struct Stalls {
    resources: Vec<Resource>,
}

/// Microseconds a second as a share.
fn as_share(now: Option<u64>, before: Option<u64>, seconds: f64) -> Option<Ratio> {
    let us_per_s = maybe_rate(now, before, seconds)?;
    Some(Ratio((us_per_s / float(1_000_000)).min(1.0)))
}

impl Probe for Stalls {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        for resource in &mut self.resources {
            let Some(now) = resource.file.parse(pressure::parse) else { continue };
            let Some(step) = resource.since.step(sys::clock::now_ns(), now) else { continue };
            if let Some(some) = as_share(step.now.some_us, step.before.some_us, step.seconds) {
                record.push_of(&SOME, &resource.name, some);
            }
            if let Some(full) = as_share(step.now.full_us, step.before.full_us, step.seconds) {
                record.push_of(&FULL, &resource.name, full);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_time_is_a_half() {
        assert_eq!(as_share(Some(1_500_000), Some(500_000), 2.0), Some(Ratio(0.5)));
        assert_eq!(as_share(Some(1), Some(2), 1.0), None);
        assert_eq!(as_share(None, Some(2), 1.0), None);
    }
}
