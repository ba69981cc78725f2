//! Traffic of each network interface: bytes, packets, drops.
//!
//! Per second, loopback included. Interfaces without any traffic so far are left out. Drops are those that the kernel
//! or driver counted, not those on the wire.

use std::collections::BTreeMap;

use model::{
    Better, BytesPerSec, Cadence, Card, Family, Fault, Instrument, Metric, PerSec, Probe, Record, RecordExt,
    Setup, Unfit,
};

use super::parse::nets::{self, Counters};
use super::read::Needed;
use super::since::{Since, extra, per_sec, rate};

const RECEIVED: Metric<BytesPerSec> = Metric::new("received", Better::Neither, "Bytes received");
const SENT: Metric<BytesPerSec> = Metric::new("sent", Better::Neither, "Bytes sent");
const IN: Metric<PerSec> = per_sec("packets-in", "Packets received");
const OUT: Metric<PerSec> = per_sec("packets-out", "Packets sent");
const DROPPED: Metric<PerSec> = per_sec("dropped", "Packets dropped, received and sent");

const MOST_INTERFACES: usize = 32;

static CARD: Card = Card {
    name: "net-use",
    family: Family::Telemetry,
    says: "bytes, packets and drops of each network interface",
    source: "/proc/net/dev",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[RECEIVED.info(), SENT.info(), IN.info(), OUT.info(), DROPPED.info()],
    ..Card::DEFAULT
};

pub struct NetUse;

pub static INSTRUMENT: NetUse = NetUse;

impl Instrument for NetUse {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn prepare(&self, _: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        // Not by way of /proc/net: a link to the caller's own thread, closed when that thread ends.
        let path = format!("/proc/{}/net/dev", std::process::id());
        let file = Needed::open(path)?;
        Ok(Box::new(Nets { file, since: Since::new() }))
    }
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
    if let Some(rate) = of(|net| net.received_bytes) {
        record.push_of(&RECEIVED, &extra, BytesPerSec(rate));
    }
    if let Some(rate) = of(|net| net.sent_bytes) {
        record.push_of(&SENT, &extra, BytesPerSec(rate));
    }
    if let Some(rate) = of(|net| net.received_packets) {
        record.push_of(&IN, &extra, PerSec(rate));
    }
    if let Some(rate) = of(|net| net.sent_packets) {
        record.push_of(&OUT, &extra, PerSec(rate));
    }
    if let Some(rate) = of(|net| net.dropped) {
        record.push_of(&DROPPED, &extra, PerSec(rate));
    }
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
