//! TCP bandwidth: bytes per second to the far end, from it, or both ways at once, over one or more connections.
//!
//! Message bytes without headers are counted, as their receiver sees them by its own clock, from the first bytes after
//! a lead of 100 ms to the last. In the lead connections gather speed; it is not counted. Each connection has a thread
//! of its own at each end.

use std::net::TcpStream;
use std::os::fd::AsFd;

use model::metrics::net::BANDWIDTH;
use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Family, Fault, Label, Metric, Need, ParamKind, ParamSpec,
    Params, Probe, Record, RecordExt, Seconds, Setup, Shown, Simple, Size, Tell, TestName, Tier, Unfit,
    Variant,
};
use sys::clock;

use super::frame::{MOST_STREAMS, Proto, Report, Test, Wait, Way};
use super::params;
use super::pipe::Pipe;
use super::session::Session;
use super::stream::{self, Counted, together};
use super::target::{Target, To};

const BANDWIDTH_OF: Metric<BytesPerSec> = Metric::new(
    "bandwidth-of",
    Better::Neither,
    "the same of one direction, where both are under way at once",
);

static CARD: Card = Card {
    name: model::names::instrument::NET_BANDWIDTH,
    family: Family::Net,
    says: "bytes per second over TCP connections, by their number and direction",
    source: "own; as iperf3 (128 KiB writes, a thread for each stream)",
    shown: Shown {
        label: "net",
        tells: &[
            Tell::always("direction"),
            Tell::unusual("streams"),
            Tell::unusual("size"),
            Tell::unusual("to"),
        ],
        sorted: &[By::Param("size")],
        place: 2,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        params::TO,
        params::TOKEN,
        params::FAR,
        ParamSpec::new(
            "streams",
            ParamKind::Int { min: 1, max: MOST_STREAMS as u64 },
            "1",
            "connections at a time, in each direction",
        )
        .label(Label::Count("stream", "streams")),
        ParamSpec::new(
            "direction",
            ParamKind::Choice(&["send", "receive", "both"]),
            "send",
            "which way the bytes go, seen from here",
        )
        .label(Label::Value),
        ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 64 << 20 }, "128KiB", "bytes of one write")
            .label(Label::Bytes),
        params::DURATION,
    ],
    metrics: &[BANDWIDTH.info(), BANDWIDTH_OF.info()],
    needs: &[Need::Peer],
    tests: &[TestName::new("bandwidth")],
    variants: &[
        Variant { tier: Tier::Quick, set: "streams=1;direction=send|receive", headline: &["bandwidth"] },
        Variant { tier: Tier::Full, set: "streams=2|4|8;direction=send", headline: &["bandwidth"] },
        Variant { tier: Tier::Full, set: "streams=1;direction=both", headline: &["bandwidth"] },
        Variant { tier: Tier::Soak, set: "streams=1;direction=send;duration=0.2", headline: &["bandwidth"] },
    ],
    ..Card::DEFAULT
};

/// Uncounted time at the start, in which connections gather speed.
const LEAD_MS: u32 = 100;

/// The checked parameters of a test.
#[derive(Clone, Copy, Debug)]
struct Ask {
    size: u64,
    streams: u16,
    way: Way,
    span_ms: u32,
    lead_ms: u32,
}

impl Ask {
    fn of(setup: &Setup) -> Result<Ask, Unfit> {
        To::from_setup(setup)?;
        let streams = setup.params.get("streams").and_then(|text| text.parse().ok());
        let streams = streams.ok_or_else(|| Unfit::new("streams is not a number"))?;
        let size = params::size(setup, Proto::Tcp, 1)?;
        let span_ms = u32::try_from(params::span(setup)?.as_millis()).unwrap_or(u32::MAX);
        let lead_ms = if setup.size == Size::Smoke { 1 } else { LEAD_MS };
        Ok(Ask { size, streams, way: params::way(setup), span_ms, lead_ms })
    }

    fn buffer(self) -> Vec<u8> {
        vec![b'b'; usize::try_from(self.size).unwrap_or(0)]
    }
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| Ask::of(setup).map(drop));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let ask = Ask::of(setup)?;
    Ok(Box::new(Bulk { ask, target: Target::prepare(setup)? }))
}

struct Bulk {
    ask: Ask,
    target: Target,
}

/// Results of the directions that were asked for.
struct Brought {
    sent: Option<Report>,
    received: Option<Report>,
}

impl Bulk {
    fn run(&self) -> Result<Brought, String> {
        let Ask { size, streams, way, lead_ms, span_ms } = self.ask;
        let mut session = Session::open(&self.target, Test::Bulk { size, streams, way, lead_ms, span_ms })?;
        let join = |wanted: bool, word: u8| -> Result<Vec<TcpStream>, String> {
            (0..if wanted { streams } else { 0 }).map(|_| session.join(word)).collect()
        };
        let to_send = join(way != Way::Receive, b's')?;
        let to_receive = join(way != Way::Send, b'r')?;
        session.go()?;
        let counted = self.threads(&session, &to_send, &to_receive)?;
        let report = session.report()?;
        Ok(Brought {
            sent: (way != Way::Receive).then_some(report),
            received: (way != Way::Send).then(|| together(&counted)),
        })
    }

    /// Sends and receives on every connection, one thread each. Returns what was received.
    fn threads(
        &self,
        session: &Session,
        to_send: &[TcpStream],
        to_receive: &[TcpStream],
    ) -> Result<Vec<Counted>, String> {
        let lead_ns = u64::from(self.ask.lead_ms) * 1_000_000;
        let span_ns = lead_ns + u64::from(self.ask.span_ms) * 1_000_000;
        let ready = |stream, nth| -> Result<_, String> {
            let pinned = self.target.pin(nth)?;
            Ok((Pipe::new(stream, Wait::Block, self.target.patience)?, self.ask.buffer(), pinned))
        };
        let ready = &ready;
        std::thread::scope(|scope| {
            let senders = to_send.iter().enumerate().map(|(nth, connection)| {
                scope.spawn(move || {
                    let (pipe, mut chunk, _pinned) = ready(connection.as_fd(), nth)?;
                    let until_ns = clock::now_ns() + span_ns;
                    stream::send(&pipe, &mut chunk, until_ns).map_err(|lost| session.lost(lost))
                })
            });
            let senders: Vec<_> = senders.collect();
            let receivers = to_receive.iter().enumerate().map(|(nth, connection)| {
                scope.spawn(move || {
                    let (pipe, mut chunk, _pinned) = ready(connection.as_fd(), to_send.len() + nth)?;
                    stream::receive(&pipe, &mut chunk, lead_ns).map_err(|lost| session.lost(lost))
                })
            });
            let receivers: Vec<_> = receivers.collect();
            let failed = |_| "a thread of a stream failed".to_owned();
            for sender in senders {
                sender.join().map_err(failed)??;
            }
            receivers.into_iter().map(|receiver| receiver.join().map_err(failed)?).collect()
        })
    }
}

fn rate(report: Report) -> Result<BytesPerSec, Fault> {
    match report {
        Report { bytes: 0, .. } | Report { span_ns: 0, .. } => {
            Err(Fault::new("no bytes arrived after the lead of the take; a longer duration may help"))
        }
        Report { bytes, span_ns, .. } => Ok(Bytes(bytes as f64) / Seconds::from_ns(span_ns)),
    }
}

impl Probe for Bulk {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.target.tell(record);
        let brought = self.run().map_err(|why| Fault::new(self.target.explain(why)))?;
        let sent = brought.sent.map(rate).transpose()?;
        let received = brought.received.map(rate).transpose()?;
        match (sent, received) {
            (Some(sent), Some(received)) => {
                for (name, rate) in [("send", sent), ("receive", received)] {
                    let mut of = Params::default();
                    of.set("of", name);
                    record.push_of(&BANDWIDTH_OF, &of, rate);
                }
                record.push(&BANDWIDTH, sent + received);
            }
            (Some(rate), None) | (None, Some(rate)) => record.push(&BANDWIDTH, rate),
            (None, None) => return Err(Fault::new("no direction was asked for")),
        }
        Ok(())
    }

    fn given_up(&self) -> Option<String> {
        self.target.given_up()
    }

    fn cpus(&self) -> Vec<u32> {
        self.target.busy()
    }
}
