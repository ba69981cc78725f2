//! Traffic of each network interface: bytes, packets, drops.
//!
//! Per second, loopback included. Interfaces without any traffic so far are left out. Drops are those that the kernel
//! or driver counted, not those on the wire.

use std::collections::BTreeMap;

use model::metrics::telemetry::{DROPPED, IN, OUT, RECEIVED, SENT};
use model::{
    BytesPerSec, Cadence, Card, Family, Fault, PerSec, Probe, Record, RecordExt, Setup, Simple, Unfit,
};

use super::parse::nets::{self, Counters};
use super::read::Needed;
use super::since::{Since, extra, rate};

const MOST_INTERFACES: usize = 32;

static CARD: Card = Card {
    name: model::names::instrument::NET_USE,
    family: Family::Telemetry,
    says: "bytes, packets and drops of each network interface",
    source: "/proc/net/dev",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[RECEIVED.info(), SENT.info(), IN.info(), OUT.info(), DROPPED.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    // Not by way of /proc/net: a link to the caller's own thread, closed when that thread ends.
    let path = format!("/proc/{}/net/dev", std::process::id());
    let file = Needed::open(path)?;
    Ok(Box::new(Nets { file, since: Since::new() }))
}

struct Nets {
    file: Needed,
    since: Since<BTreeMap<String, Counters>>,
}

impl Probe for Nets {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let all = self.file.parse(nets::parse)?;
        let used = |(_, counters): &(String, Counters)| counters.received_packets + counters.sent_packets > 0;
        let now: BTreeMap<String, Counters> = all.into_iter().filter(used).take(MOST_INTERFACES).collect();
        self.since.each(sys::clock::now_ns(), now, |name, now, before, seconds| {
            push(name, now, before, seconds, record);
        });
        Ok(())
    }
}

fn push(name: &str, now: &Counters, before: &Counters, seconds: f64, record: &mut dyn Record) {
    let extra = extra("interface", name);
    let of = |part: fn(&Counters) -> u64| rate(part(now), part(before), seconds);
    record.push_of_if(&RECEIVED, &extra, of(|net| net.received_bytes).map(BytesPerSec));
    record.push_of_if(&SENT, &extra, of(|net| net.sent_bytes).map(BytesPerSec));
    record.push_of_if(&IN, &extra, of(|net| net.received_packets).map(PerSec));
    record.push_of_if(&OUT, &extra, of(|net| net.sent_packets).map(PerSec));
    record.push_of_if(&DROPPED, &extra, of(|net| net.dropped).map(PerSec));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;

    #[test]
    fn rates_of_an_interface() {
        let before = Counters { received_bytes: 1000, sent_packets: 5, ..Counters::default() };
        let now = Counters { received_bytes: 3000, sent_packets: 15, dropped: 1, ..Counters::default() };
        let mut values = Values::default();
        push("eth0", &now, &before, 2.0, &mut values);
        assert_eq!(values.get("received interface=eth0"), Some(1000.0));
        assert_eq!(values.get("packets-out interface=eth0"), Some(5.0));
        assert_eq!(values.get("dropped interface=eth0"), Some(0.5));
    }
}
