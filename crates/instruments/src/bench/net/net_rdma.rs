//! Latency of RDMA messages, as the perftest programs `ib_send_lat` and `ib_write_lat` measure it.
//!
//! Both ends run the program; the peer starts the far one. It reports one way, half the time between two sends; `rtt`
//! is twice that, in whole nanoseconds. Not counted: the setup and the first message. Each end spins and keeps a CPU
//! busy.

use std::net::SocketAddr;

use model::{
    Better, By, Cadence, Card, Family, Fault, Label, Metric, Need, ParamKind, ParamSpec, Probe, Record,
    Seconds, Setup, Shown, Simple, Tell, TestName, Tier, Unfit, Variant,
};

use super::frame::Test;
use super::params;
use super::samples::{Halves, Names, ONE_WAY_P99, ONE_WAY_P999, RTT_P99, RTT_P999, Samples};
use super::session::Session;
use super::target::{Target, To};
use crate::bench::kernel::repeats_for;
use crate::system_files::Root;
use crate::workload::perftest::{LEAST, MOST, PerftestOptions, Verb};

const DEVICES: &str = "/sys/class/infiniband";

const RTT: Metric<Seconds> = Metric::new("rtt", Better::Lower, "median of the take's round trips");
const ONE_WAY: Metric<Seconds> =
    Metric::new("one-way", Better::Lower, "half of the median round trip, as perftest's t_typical");
const RTTS: Metric<Seconds> = Metric::new("rtts", Better::Neither, "all round trips of the take");
const NAMES: Names = Names { median: RTT, p99: RTT_P99, p999: RTT_P999, all: RTTS.info(), lost: None };
const HALVES: Halves = Halves { median: ONE_WAY, p99: ONE_WAY_P99, p999: ONE_WAY_P999 };

static CARD: Card = Card {
    name: "net-rdma",
    family: Family::Net,
    says: "one-way and round trip time of messages over RDMA, by perftest's programs at both ends",
    source: "perftest: ib_send_lat, ib_write_lat (-U: all samples)",
    shown: Shown {
        label: "net rdma",
        tells: &[Tell::always("verb"), Tell::always("size"), Tell::unusual("device"), Tell::unusual("to")],
        sorted: &[By::Param("size")],
        place: 5,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        params::TO,
        params::TOKEN,
        params::FAR,
        ParamSpec::new(
            "verb",
            ParamKind::Choice(&["send", "write"]),
            "send",
            "send: the far end receives each message; write: it appears in the far end's memory",
        )
        .label(Label::Value),
        ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 8 << 20 }, "2", "bytes of a message")
            .label(Label::Bytes),
        ParamSpec::new(
            "device",
            ParamKind::Text,
            "first",
            "name of the RDMA device at both ends, such as mlx5_0, or first",
        )
        .label(Label::Value),
    ],
    metrics: &[
        RTT.info(),
        RTT_P99.info(),
        RTT_P999.info(),
        ONE_WAY.info(),
        ONE_WAY_P99.info(),
        ONE_WAY_P999.info(),
        RTTS.info(),
    ],
    needs: &[Need::Peer],
    tests: &[TestName::new("rdma")],
    variants: &[
        Variant { tier: Tier::Quick, set: "verb=send|write", headline: &["one-way"] },
        Variant { tier: Tier::Full, set: "verb=send|write;size=64|1KiB|64KiB", headline: &["one-way"] },
    ],
    ..Card::DEFAULT
};

fn order(setup: &Setup) -> PerftestOptions {
    let verb = if setup.params.get("verb") == Some("write") { Verb::Write } else { Verb::Send };
    let size = setup.params.get("size").and_then(model::params::parse_bytes).unwrap_or(2);
    let device = setup.params.get("device").filter(|name| *name != "first").map(str::to_owned);
    PerftestOptions { verb, size, iterations: LEAST, device }
}

/// Why this machine cannot run the test, if so.
fn missing(root: &Root) -> Option<Unfit> {
    let none = root.list(DEVICES).is_empty();
    none.then(|| Unfit::new(format!("no RDMA device here: {DEVICES} is empty or missing")))
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    To::from_setup(setup)?;
    missing(&Root::live()).map_or(Ok(()), Err)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    fit(setup)?;
    let target = Target::prepare(setup)?;
    Ok(Box::new(Rdma { order: order(setup), target, samples: Samples::default(), took: Seconds(0.0) }))
}

struct Rdma {
    order: PerftestOptions,
    target: Target,
    samples: Samples,
    took: Seconds,
}

impl Rdma {
    fn run(&mut self, count: u64) -> Result<(), Fault> {
        self.order.iterations = count.saturating_add(1).clamp(LEAST, MOST);
        let cpus: Vec<usize> = self.target.near.iter().take(1).map(|cpu| *cpu as usize).collect();
        let test = Test::Perftest {
            verb: self.order.verb,
            size: self.order.size,
            iterations: self.order.iterations,
            device: self.order.device.clone(),
        };
        let asked = || {
            let mut session = Session::open(&self.target, test)?;
            let to = SocketAddr::new(session.peer.ip(), session.port()?);
            let samples = self.order.run(to, &cpus)?;
            session.end(samples.len() as u64, None)?;
            Ok(samples)
        };
        let samples = asked().map_err(|why: String| Fault::new(self.target.explain(why)))?;
        self.samples.clear(samples.len() as u64);
        let mut took_ns = 0;
        for one_way in samples {
            let round_ns = whole_ns(one_way);
            took_ns += round_ns;
            self.samples.add(round_ns);
        }
        self.took = Seconds::from_ns(took_ns);
        Ok(())
    }
}

/// The round trip, in ns, whose half is `one_way_us`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a finite time above 0")]
fn whole_ns(one_way_us: f64) -> u64 {
    (one_way_us * 2000.0).round() as u64
}

impl Probe for Rdma {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |count| {
            self.run(count)?;
            Ok(self.took)
        })
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.target.tell(record);
        self.run(repeats)?;
        self.samples.push(&NAMES, Some(&HALVES), record)
    }

    fn given_up(&self) -> Option<String> {
        self.target.given_up()
    }

    fn cpus(&self) -> Vec<u32> {
        self.target.busy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_microseconds_are_round_trips_in_nanoseconds() {
        assert_eq!(whole_ns(0.908696), 1817);
        assert_eq!(whole_ns(3.65), 7300);
    }
}
