//! Activity of each disk: requests, bytes, and the share of time with a request under way.
//!
//! Per second, for whole disks. Partitions, loops, memory disks and device-mapper layers are left out, since they
//! would count the same work twice. A fast disk can be busy all the time without being at its limit.

use std::collections::BTreeMap;
use std::path::Path;

use model::metrics::telemetry::{BUSY, READ, READS, WRITES, WRITTEN};
use model::{
    BytesPerSec, Cadence, Card, Family, Fault, PerSec, Probe, Ratio, Record, RecordExt, Setup, Simple, Unfit,
};

use super::parse::disks::{self, Counters};
use super::read::Needed;
use super::since::{Since, extra, rate};

const MOST_DISKS: usize = 32;
const SECTOR_BYTES: f64 = 512.0;

static CARD: Card = Card {
    name: model::names::instrument::DISK_USE,
    family: Family::Telemetry,
    says: "requests, bytes and busy time of each disk",
    source: "/proc/diskstats",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[READS.info(), WRITES.info(), READ.info(), WRITTEN.info(), BUSY.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let file = Needed::open("/proc/diskstats")?;
    Ok(Box::new(Disks { file, whole: BTreeMap::new(), since: Since::new() }))
}

struct Disks {
    file: Needed,
    /// True for names of whole disks; looked up once each.
    whole: BTreeMap<String, bool>,
    since: Since<BTreeMap<String, Counters>>,
}

fn is_whole(name: &str) -> bool {
    // Names such as cciss!c0d0 stand with a `!` for the slash.
    !disks::is_virtual(name) && Path::new("/sys/block").join(name.replace('/', "!")).exists()
}

impl Probe for Disks {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let all = self.file.parse(disks::parse)?;
        let mut now = BTreeMap::new();
        for (name, counters) in all {
            let whole = *self.whole.entry(name.clone()).or_insert_with(|| is_whole(&name));
            if whole && now.len() < MOST_DISKS {
                now.insert(name, counters);
            }
        }
        self.since.each(sys::clock::now_ns(), now, |name, now, before, seconds| {
            push(name, now, before, seconds, record);
        });
        Ok(())
    }
}

fn push(name: &str, now: &Counters, before: &Counters, seconds: f64, record: &mut dyn Record) {
    let extra = extra("disk", name);
    let of = |part: fn(&Counters) -> u64| rate(part(now), part(before), seconds);
    record.push_of_if(&READS, &extra, of(|disk| disk.reads).map(PerSec));
    record.push_of_if(&WRITES, &extra, of(|disk| disk.writes).map(PerSec));
    if let Some(rate) = of(|disk| disk.read_sectors) {
        record.push_of(&READ, &extra, BytesPerSec(rate * SECTOR_BYTES));
    }
    if let Some(rate) = of(|disk| disk.written_sectors) {
        record.push_of(&WRITTEN, &extra, BytesPerSec(rate * SECTOR_BYTES));
    }
    if let Some(ms_per_s) = of(|disk| disk.busy_ms) {
        record.push_of(&BUSY, &extra, Ratio((ms_per_s / 1000.0).min(1.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;

    #[test]
    fn rates_of_a_disk() {
        let before = Counters {
            reads: 10,
            read_sectors: 100,
            written_sectors: 7,
            busy_ms: 50,
            writes: 3,
            ..Counters::default()
        };
        let now = Counters {
            reads: 30,
            read_sectors: 300,
            written_sectors: 6,
            busy_ms: 1050,
            writes: 3,
            ..Counters::default()
        };
        let mut values = Values::default();
        push("sda", &now, &before, 2.0, &mut values);
        assert_eq!(values.get("reads disk=sda"), Some(10.0));
        assert_eq!(values.get("read disk=sda"), Some(51_200.0));
        assert_eq!(values.get("busy disk=sda"), Some(0.5));
        assert_eq!(values.get("writes disk=sda"), Some(0.0));
        assert_eq!(values.get("written disk=sda"), None, "it went back");
        assert!(!is_whole("loop0") && !is_whole("no-such-disk"));
    }
}
