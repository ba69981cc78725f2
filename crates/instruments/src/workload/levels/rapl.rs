//! Energy of all processor packages and their memory together, by RAPL.
//!
//! The processor's own estimate, without disks, fans, network and losses of the power supply. Parts of a package
//! (cores, graphics) are in the package's own counter and not added again.

use model::Unfit;

use crate::telemetry::parse::lone;
use crate::telemetry::watts::{CLASS, Zone, used, zones};

/// Said where there is no meter at all.
const WAYS: &str = "three ways: RAPL (run as root on a machine that has it), --watts-cmd with a command that prints watts, \
                    such as 'ipmitool dcmi power reading', or --watts-typed with readings off a meter";

/// The energy counters of this machine.
pub struct Rapl {
    zones: Vec<Zone>,
}

/// A reading of the counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    at_ns: u64,
    microjoules: Vec<u64>,
}

impl Rapl {
    /// Fails where this machine has no counters, or only root may read them.
    pub fn open() -> Result<Rapl, Unfit> {
        let (all, are_hidden) = zones(CLASS);
        let is_whole = |zone: &Zone| ["package", "dram"].iter().any(|start| zone.kind.starts_with(start));
        let zones: Vec<Zone> = all.into_iter().filter(is_whole).collect();
        match zones.is_empty() {
            false => Ok(Rapl { zones }),
            true if are_hidden => Err(Unfit::new(format!("only root may read RAPL here; {WAYS}"))),
            true => Err(Unfit::new(format!("this machine has no RAPL energy counters; {WAYS}"))),
        }
    }

    /// A reading now; `None` where one cannot be read.
    pub fn count(&mut self) -> Option<Counted> {
        let microjoules =
            self.zones.iter_mut().map(|zone| zone.file.parse(lone).flatten()).collect::<Option<_>>()?;
        Some(Counted { at_ns: sys::clock::now_ns(), microjoules })
    }

    /// Joules and seconds between two readings; `None` where a counter went back for no known reason.
    pub fn between(&self, before: &Counted, now: &Counted) -> Option<(f64, f64)> {
        let pairs = self.zones.iter().zip(before.microjoules.iter().zip(&now.microjoules));
        let energy =
            pairs.map(|(zone, (before, now))| used(*now, *before, zone.range)).sum::<Option<u64>>()?;
        let seconds = now.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
        (seconds > 0.0).then_some((energy as f64 / 1e6, seconds))
    }
}
