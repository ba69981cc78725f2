//! Small datagrams per second that reach the far end, sent as fast as one thread can.
//!
//! Datagrams received by the far end's program are counted, from the first to the last by its own clock. The numbers
//! sent and lost are reported beside it. One system call sends one datagram, as most programs do.

use std::os::fd::AsFd;
use std::time::Duration;

use model::metrics::net::PACKET_RATE;
use model::{
    Better, By, Cadence, Card, Count, Family, Fault, Metric, Need, PerSec, Probe, Ratio, Record, RecordExt,
    Seconds, Setup, Shown, Simple, Tell, TestName, Tier, Unfit, Variant,
};
use rustix::io::Errno;
use sys::clock;

use super::frame::{LEAST_DATAGRAM, Proto, Report, Test, Wait};
use super::params;
use super::pipe::{Lost, Pipe};
use super::session::Session;
use super::target::{Target, To};

const SENT_RATE: Metric<PerSec> =
    Metric::new("sent-rate", Better::Neither, "datagrams handed to the kernel here, by the time of sending")
        .per("packet");
const LOST: Metric<Ratio> = Metric::new(
    "lost",
    Better::Neither,
    "share of the datagrams sent that the far end's program did not get",
);

static CARD: Card = Card {
    name: model::names::instrument::NET_PACKETS,
    family: Family::Net,
    says: "small UDP datagrams per second that reach the far end",
    source: "own; as netperf UDP_STREAM and iperf3 -u, counted at the receiver",
    shown: Shown {
        label: "net",
        tells: &[Tell::always("size"), Tell::unusual("to")],
        sorted: &[By::Param("size")],
        place: 4,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[params::TO, params::TOKEN, params::FAR, params::SIZE, params::DURATION],
    metrics: &[PACKET_RATE.info(), SENT_RATE.info(), LOST.info()],
    needs: &[Need::Peer],
    tests: &[TestName::new("packet-rate")],
    variants: &[
        Variant { tier: Tier::Quick, set: "size=64", headline: &["packet-rate"] },
        Variant { tier: Tier::Full, set: "size=8|1400", headline: &["packet-rate"] },
    ],
    ..Card::DEFAULT
};

/// Datagrams between two readings of the clock.
const BETWEEN: u64 = 16;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    To::from_setup(setup)?;
    params::size(setup, Proto::Udp, LEAST_DATAGRAM).map(drop)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let size = params::size(setup, Proto::Udp, LEAST_DATAGRAM)?;
    let duration = params::span(setup)?;
    let message = vec![b'd'; usize::try_from(size).unwrap_or(0)];
    Ok(Box::new(Packets { target: Target::prepare(setup)?, message, duration }))
}

struct Packets {
    target: Target,
    message: Vec<u8>,
    duration: Duration,
}

impl Packets {
    fn run(&mut self) -> Result<(u64, Seconds, Report), String> {
        let span_ms = u32::try_from(self.duration.as_millis()).unwrap_or(u32::MAX);
        let test = Test::Datagrams { size: self.message.len() as u64, span_ms };
        let mut session = Session::open(&self.target, test)?;
        let socket = session.datagrams()?;
        let _pinned = self.target.pin(0)?;
        let pipe = Pipe::new(socket.as_fd(), Wait::Block, self.target.patience)?;
        let begun_ns = clock::now_ns();
        let until_ns = begun_ns + u64::from(span_ms) * 1_000_000;
        let (mut sent, mut now_ns) = (0u64, begun_ns);
        while now_ns < until_ns {
            for _ in 0..BETWEEN {
                match pipe.send(&self.message) {
                    Ok(_) => sent += 1,
                    // The device's queue is full: this one was not sent.
                    Err(Lost::Broken(Errno::NOBUFS)) => {}
                    Err(lost) => return Err(session.lost(lost)),
                }
            }
            now_ns = clock::now_ns();
        }
        let report = session.end(sent, Some(&socket))?;
        Ok((sent, Seconds::from_ns(now_ns - begun_ns), report))
    }
}

impl Probe for Packets {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.target.tell(record);
        let (sent, took, report) = self.run().map_err(|why| Fault::new(self.target.explain(why)))?;
        if report.messages < 2 || report.span_ns == 0 {
            return Err(Fault::new(format!("{} of {sent} datagrams reached the far end", report.messages)));
        }
        // The first one opens the time.
        record.push(&PACKET_RATE, Count((report.messages - 1) as f64) / Seconds::from_ns(report.span_ns));
        record.push(&SENT_RATE, Count(sent as f64) / took);
        let lost = sent.saturating_sub(report.messages);
        record.push(&LOST, Ratio(lost as f64 / sent.max(1) as f64));
        Ok(())
    }

    fn given_up(&self) -> Option<String> {
        self.target.given_up()
    }

    fn cpus(&self) -> Vec<u32> {
        self.target.busy()
    }
}
