//! Where a round trip goes: how much of the time of a request is the client's, the wire's and the store's.
//!
//! Means of one client's requests, in seconds. The client's part is the CPU time of its thread, with what the kernel
//! does for it. What the store's CPU time for a request and the client's leave of the round trip is waiting: on the
//! wire as long as a TCP handshake with the store's port takes, which its kernel answers without the store; all beyond
//! that is the store's. So a store that pauses, computes or is busy with others shows as the store, and a slow wire as
//! the wire. Not told apart: a wire that is slow for requests and quick for handshakes.

use std::time::Duration;

use model::{
    Better, Cadence, Card, Family, Label, Metric, Need, ParamKind, ParamSpec, Probe, Record, RecordExt,
    Seconds, Setup, Simple, Size, TestName, Tier, Unfit, Variant,
};
use sys::clock;

use super::connection::Connection;
use super::hot::Hot;
use super::keys::{KEY, value};
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::server::{Usage, What};
use super::single;
use super::target::{Held, Kv, Target, store_fits};
use super::times::{Times, aside, lower};
use super::wire::Failure;

const RTT: Metric<Seconds> =
    lower("rtt", "mean time of a request, from before it is sent until its answer is read");
const MEDIAN: Metric<Seconds> = aside("rtt.median", "median of the same times");
const CLIENT: Metric<Seconds> = aside("client-time", "CPU time of the client's thread for a request");
const WIRE: Metric<Seconds> =
    aside("wire-time", "what is left of the round trip, at most as long as a TCP handshake with the port");
const SERVER: Metric<Seconds> =
    Metric::new("server-time", Better::Lower, "the rest: the store's CPU time for a request and its waiting");
const COMMAND: Metric<Seconds> =
    lower("server-command", "time within the command alone, by the store's own statistics (Redis, Valkey)");
const CPU: Metric<Seconds> = aside("server-cpu", "CPU time of the store for a request, all its threads");
const HANDSHAKE: Metric<Seconds> = aside("handshake", "median time of a TCP handshake with the store's port");

const OP: ParamSpec =
    ParamSpec::new("op", ParamKind::Choice(&["read", "write"]), "read", "what is asked of the store")
        .label(Label::Value);

static CARD: Card = Card {
    name: "kv-split",
    family: Family::Kv,
    says: "round trip of a request, split into the client's part, the wire's and the store's",
    source: "own; server-command as the server's counter of RAMCloud's Bench (2010)",
    shown: params::shown(8, params::TELLS),
    cadence: Cadence::Repeat,
    definition: 1,
    params: kv_params![
        params::MODE,
        OP,
        params::SIZE,
        params::limit("0.3", "seconds of requests in one take"),
    ],
    metrics: &[
        RTT.info(),
        MEDIAN.info(),
        CLIENT.info(),
        WIRE.info(),
        SERVER.info(),
        COMMAND.info(),
        CPU.info(),
        HANDSHAKE.info(),
    ],
    needs: &[Need::Server],
    tests: &[TestName::new("split")],
    variants: &[
        Variant { tier: Tier::Quick, set: "kv=redis|memcached;op=read", headline: &["rtt", "server-time"] },
        Variant {
            tier: Tier::Default,
            set: "kv=redis|memcached;op=write",
            headline: &["rtt", "server-time"],
        },
    ],
    ..Card::DEFAULT
};

/// Handshakes of a take, before its requests and after them.
const HANDSHAKES: usize = 10;
const MOST: usize = 200_000;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    match Kv::from_setup(setup)? {
        Kv::RamCloud => Err(Unfit::new(
            "n/a for kv=ramcloud: its client library tells nothing of the work of its servers",
        )),
        _ => store_fits(setup),
    }
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let value = value(params::size(setup));
    let (held, table) = Held::filled(setup, 1, &value)?;
    let what = if setup.params.get("op") == Some("write") { What::Write } else { What::Read };
    let smoke = setup.size == Size::Smoke;
    let limit = if smoke { Duration::from_millis(20) } else { params::limit_of(setup) };
    let key = table.keys.key(table.letter, 0);
    let work = Split { key, value, what, limit, times: Times::default(), told: false };
    Ok(Box::new(StoreProbe::new(held, work)))
}

struct Split {
    key: [u8; KEY],
    value: Vec<u8>,
    what: What,
    limit: Duration,
    times: Times,
    told: bool,
}

/// Means of one take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    rtt: f64,
    client: f64,
    cpu: f64,
    handshake: f64,
    command: Option<f64>,
}

impl Parts {
    /// The wire's part and the store's; with the client's they are the round trip.
    fn wire_and_server(&self) -> (f64, f64) {
        let rest = (self.rtt - self.client).max(0.0);
        // The store's CPU works for the next request too while this one's answer is on its way.
        let waits = (rest - self.cpu).max(0.0);
        let wire = waits.min(self.handshake);
        (wire, rest - wire)
    }

    fn sentence(&self, store: &str, what: &str) -> String {
        let us = |seconds: f64| format!("{:.1} us", seconds * 1e6);
        let (wire, server) = self.wire_and_server();
        let most = [(server, "the store"), (wire, "the wire"), (self.client, "the client")];
        let most = most.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |(_, name)| name);
        let waits = (server - self.cpu).max(0.0);
        let command = self.command.map(|command| format!(", {} in the command itself", us(command)));
        format!(
            "{store}: a {what} of {} is {} of the client, {} of the wire, {} of the store ({} of its CPU{}, {} waiting \
             in it); most is {most}",
            us(self.rtt),
            us(self.client),
            us(wire),
            us(server),
            us(self.cpu),
            command.unwrap_or_default(),
            us(waits),
        )
    }
}

impl Split {
    fn time(&mut self, target: &Target) -> Result<(Parts, Option<u64>), Failure> {
        let mut handshakes = Times::default();
        handshakes.clear(2 * HANDSHAKES);
        let mut shake = || {
            for _ in 0..HANDSHAKES {
                handshakes.add(Connection::handshake(target.address()?)?);
            }
            Ok(())
        };
        shake()?;
        let (mut to, mut look) = (target.open()?, target.open()?);
        to.make_room(self.value.len());
        let hot = Hot { key: &self.key, value: &self.value, replicas: target.replicas };
        hot.check(&mut to)?;
        let bytes = if self.what == What::Read { self.value.len() } else { 0 };
        match self.what {
            What::Read => hot.ask_read(&mut to),
            What::Write => hot.ask_write(&mut to),
        }
        to.turn()?;
        self.times.clear(MOST);
        let before = Usage::read(&mut look, self.what)?;
        let cpu_ns = clock::thread_cpu_ns();
        single::requests(&mut to, &mut self.times, bytes, self.limit, &mut |_| ())?;
        let cpu_ns = clock::thread_cpu_ns() - cpu_ns;
        let used = Usage::read(&mut look, self.what)?.since(&before);
        shake()?;
        handshakes.sort();
        let count = self.times.count().max(1) as f64;
        let rtt = self.times.sum_ns() as f64 / 1e9 / count;
        self.times.sort();
        let parts = Parts {
            rtt,
            client: (cpu_ns as f64 / 1e9 / count).min(rtt),
            cpu: used.cpu_s / count,
            handshake: handshakes.median().unwrap_or(0) as f64 / 1e9,
            command: used.command_s.map(|seconds| seconds / used.calls.max(1) as f64),
        };
        Ok((parts, self.times.median()))
    }
}

impl Work for Split {
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        let (parts, median) = self.time(&held.target)?;
        let (wire, server) = parts.wire_and_server();
        record.push(&RTT, Seconds(parts.rtt));
        record.push_if(&MEDIAN, median.map(Seconds::from_ns));
        record.push(&CLIENT, Seconds(parts.client));
        record.push(&WIRE, Seconds(wire));
        record.push(&SERVER, Seconds(server));
        record.push_if(&COMMAND, parts.command.map(Seconds));
        record.push(&CPU, Seconds(parts.cpu));
        record.push(&HANDSHAKE, Seconds(parts.handshake));
        if !std::mem::replace(&mut self.told, true) {
            let what = if self.what == What::Read { "read" } else { "write" };
            record.remark("kv-split", &parts.sentence(&held.target.name, what));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: f64 = 1e-6;

    fn parts(rtt: f64, client: f64, cpu: f64, handshake: f64) -> Parts {
        let us = |n: f64| n * US;
        Parts { rtt: us(rtt), client: us(client), cpu: us(cpu), handshake: us(handshake), command: Some(US) }
    }

    #[test]
    fn a_round_trip_is_split_without_a_rest() {
        for (of, wire, server) in [
            // Nothing waits for long.
            (parts(11.0, 4.0, 5.0, 30.0), 2.0, 5.0),
            // The store pauses.
            (parts(5000.0, 10.0, 6.0, 30.0), 30.0, 4960.0),
            // The store computes, for this request or another.
            (parts(5000.0, 10.0, 4900.0, 30.0), 30.0, 4960.0),
            // The wire is slow.
            (parts(2020.0, 10.0, 6.0, 2010.0), 2004.0, 6.0),
            // More CPU time than there was time: some was for others.
            (parts(11.0, 4.0, 50.0, 30.0), 0.0, 7.0),
        ] {
            let (got_wire, got_server) = of.wire_and_server();
            assert!((got_wire - wire * US).abs() < 1e-9 && (got_server - server * US).abs() < 1e-9, "{of:?}");
            assert!((of.client + got_wire + got_server - of.rtt).abs() < 1e-9, "{of:?}");
        }
    }

    #[test]
    fn a_sentence_names_what_takes_most() {
        let said = parts(5000.0, 10.0, 6.0, 30.0).sentence("redis", "read");
        assert!(said.contains("4960.0 us of the store") && said.ends_with("most is the store"), "{said}");
        let slow = parts(2020.0, 10.0, 6.0, 2010.0).sentence("redis", "read");
        assert!(slow.ends_with("most is the wire"), "{slow}");
    }
}
