//! Power as the processor estimates it (RAPL), by zone: package, cores, memory.
//!
//! Watts, from energy counters that wrap at a stated range. It is the processor's own estimate, not the power at the
//! plug, which is about twice as much on servers. Since 2020 most kernels let only root read it.

use model::metrics::telemetry::POWER;
use model::{Cadence, Card, Family, Fault, Params, Probe, Record, RecordExt, Setup, Simple, Unfit, Watts};

use super::parse::{float, lone};
use super::read::{Kept, names};
use super::since::{Since, extra};

static CARD: Card = Card {
    name: model::names::instrument::WATTS,
    family: Family::Telemetry,
    says: "power of processor packages and memory",
    source: "RAPL in /sys/class/powercap",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[POWER.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

/// Where the kernel shows the counters.
pub(crate) const CLASS: &str = "/sys/class/powercap";

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let (zones, are_hidden) = zones(CLASS);
    if !zones.is_empty() {
        let zones = zones.into_iter().map(|zone| (zone, Since::new())).collect();
        return Ok(Box::new(Zones { zones }));
    }
    Err(Unfit::new(if are_hidden {
        "needs root: run with sudo"
    } else {
        "this machine has no RAPL energy counters"
    }))
}

/// An energy counter.
pub(crate) struct Zone {
    /// `package-0`, `dram`, `core`, as the kernel calls it.
    pub(crate) kind: String,
    name: Params,
    pub(crate) file: Kept,
    /// The counter's largest value, in microjoules.
    pub(crate) range: Option<u64>,
}

struct Zones {
    zones: Vec<(Zone, Since<u64>)>,
}

/// The counters that can be read, and whether there are some while none can be.
pub(crate) fn zones(class: &str) -> (Vec<Zone>, bool) {
    let mut zones = Vec::new();
    // intel-rapl:0 is a package, intel-rapl:0:1 a part of it; AMD's counters have the same names.
    for id in names(class).into_iter().filter(|id| id.starts_with("intel-rapl:")) {
        let text = |file: &str| std::fs::read(format!("{class}/{id}/{file}")).ok();
        let own = text("name").map(|name| String::from_utf8_lossy(&name).trim().to_owned());
        let own = own.unwrap_or_else(|| "zone".to_owned());
        let package = id.split(':').nth(1).unwrap_or("0");
        let name = if own.starts_with("package") { own.clone() } else { format!("{own}-{package}") };
        if let Some(file) = Kept::open(format!("{class}/{id}/energy_uj")) {
            let range = text("max_energy_range_uj").and_then(|bytes| lone(&bytes));
            zones.push(Zone { kind: own, name: extra("zone", &name), file, range });
        }
    }
    let are_hidden = zones.is_empty() && names(class).iter().any(|name| name.contains(':'));
    (zones, are_hidden)
}

/// Energy used between two readings of a counter that wraps at `range`.
pub(crate) fn used(now: u64, before: u64, range: Option<u64>) -> Option<u64> {
    match now.checked_sub(before) {
        Some(used) => Some(used),
        None => range?.checked_sub(before)?.checked_add(now),
    }
}

impl Probe for Zones {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        for (zone, since) in &mut self.zones {
            let Some(now) = zone.file.parse(lone).flatten() else { continue };
            let Some(step) = since.step(sys::clock::now_ns(), now) else { continue };
            if let Some(energy) = used(*step.now, step.before, zone.range) {
                record.push_of(&POWER, &zone.name, Watts(float(energy) / 1e6 / step.seconds));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap() {
        assert_eq!(used(30, 10, Some(100)), Some(20));
        assert_eq!(used(5, 90, Some(100)), Some(15));
        assert_eq!(used(5, 90, None), None);
        assert_eq!(used(5, 90, Some(50)), None);
    }

    #[test]
    fn zones_by_package() {
        let dir = tempfile::tempdir().unwrap();
        for (id, name) in [("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "dram"), ("dtpm", "x")] {
            let folder = dir.path().join(id);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("name"), format!("{name}\n")).unwrap();
            std::fs::write(folder.join("energy_uj"), "12345\n").unwrap();
            std::fs::write(folder.join("max_energy_range_uj"), "262143328850\n").unwrap();
        }
        let (zones, are_hidden) = zones(dir.path().to_str().unwrap());
        assert!(!are_hidden);
        let names: Vec<String> = zones.iter().map(|zone| zone.name.to_string()).collect();
        assert_eq!(names, ["zone=package-0", "zone=dram-0"]);
        assert_eq!(zones[0].range, Some(262_143_328_850));
    }
}
