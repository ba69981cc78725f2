//! TCP connections made and closed per second with the far end, one after the other.
//!
//! A connection is counted from its new socket through connect, a request of 32 bytes and an answer of one byte, to
//! its close. The close resets the connection, so that no port stays in TIME_WAIT. One thread connects, one answers.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use model::{
    Better, Cadence, Card, Count, Family, Fault, Histogram, Metric, Need, PerSec, Probe, Record, RecordExt,
    Seconds, Setup, Shown, Simple, Tell, TestName, Tier, Unfit, Variant,
};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use sys::clock;

use super::frame::{JOINING, OPENING, Test, Wait, opening};
use super::params;
use super::pipe::Pipe;
use super::session::Session;
use super::target::{Target, To};

const RATE: Metric<PerSec> = Metric::new(
    "connection-rate",
    Better::Higher,
    "connections made, used for one request and closed, by the time of all of them",
)
.per("connection");
const TIME: Metric<Seconds> = Metric::new(
    "connection-time",
    Better::Lower,
    "median time from a new socket to the answer of one byte, without the close",
);
const TIMES: Metric<Seconds> =
    Metric::new("connection-times", Better::Neither, "all of these times of the take");

static CARD: Card = Card {
    name: model::names::instrument::NET_CONNECT,
    family: Family::Net,
    says: "TCP connections per second, one after the other, each with one small request",
    source: "own; as netperf TCP_CRR, but reset at the end",
    shown: Shown { label: "net", tells: &[Tell::unusual("to")], place: 3, ..Shown::PLAIN },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[params::TO, params::TOKEN, params::FAR, params::DURATION],
    metrics: &[RATE.info(), TIME.info(), TIMES.info()],
    needs: &[Need::Peer],
    tests: &[TestName::new("connection-rate")],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &["connection-rate"] }],
    ..Card::DEFAULT
};

/// Uncounted connections at the start.
const WARM_UP: u64 = 20;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| To::from_setup(setup).map(drop));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let duration = params::span(setup)?;
    Ok(Box::new(Connections { target: Target::prepare(setup)?, duration }))
}

struct Connections {
    target: Target,
    duration: Duration,
}

impl Connections {
    fn run(&self) -> Result<(Seconds, Histogram), String> {
        let mut session = Session::open(&self.target, Test::Connections)?;
        let _pinned = self.target.pin(0)?;
        let request = opening(JOINING, &session.id);
        let mut times = Histogram::default();
        let one = || connection(session.peer, &request, self.target.patience);
        for _ in 0..WARM_UP {
            one()?;
        }
        let begun_ns = clock::now_ns();
        let until_ns = begun_ns + u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX / 2);
        let mut ended_ns = begun_ns;
        while ended_ns < until_ns {
            times.record(one()?.saturating_sub(ended_ns));
            ended_ns = clock::now_ns();
        }
        session.end(times.count(), None)?;
        Ok((Seconds::from_ns(ended_ns - begun_ns), times))
    }
}

/// Makes a connection and closes it. Returns when its answer came.
fn connection(peer: SocketAddr, request: &[u8; OPENING], patience: Duration) -> Result<u64, String> {
    let socket = open(peer, patience).map_err(|error| match error {
        Errno::ADDRNOTAVAIL => "no local port is free".to_owned(),
        error => format!("no connection: {error}"),
    })?;
    let pipe = Pipe::new(socket.as_fd(), Wait::Block, patience)?;
    let answered = pipe.send_all(request).and_then(|()| pipe.recv_all(&mut [0]));
    answered.map_err(|lost| format!("a connection {lost} before it was answered"))?;
    Ok(clock::now_ns())
}

fn open(peer: SocketAddr, patience: Duration) -> Result<OwnedFd, Errno> {
    let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Its close is a reset.
    sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
    sockopt::set_socket_timeout(&socket, Timeout::Send, Some(patience))?;
    rustix::net::connect(&socket, &peer)?;
    Ok(socket)
}

impl Probe for Connections {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.target.tell(record);
        let (took, times) = self.run().map_err(|why| Fault::new(self.target.explain(why)))?;
        let median = times.quantile_ns(0.5).ok_or_else(|| Fault::new("no connection was made"))?;
        record.push(&RATE, Count(times.count() as f64) / took);
        record.push(&TIME, Seconds::from_ns(median));
        record.histogram(&TIMES.info(), times);
        Ok(())
    }

    fn given_up(&self) -> Option<String> {
        self.target.given_up()
    }

    fn cpus(&self) -> Vec<u32> {
        self.target.busy()
    }
}
