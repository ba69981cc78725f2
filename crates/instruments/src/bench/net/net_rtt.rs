//! Round trips of messages with the far end: a message goes there, the same one comes back, then the next one goes.
//!
//! A round trip is timed from before a message is sent until all of it is back, with one reading of the clock each.
//! `one-way` is half of it, as sockperf and perftest report. Connecting and the first round trips are not counted. A
//! datagram without an answer in time is lost: it counts as longer than any, and the share of lost ones is reported.

use std::os::fd::AsFd;
use std::time::Duration;

use model::{
    Better, By, Cadence, Card, Example, Family, Fault, Metric, MetricInfo, Need, Probe, Ratio, Record,
    RecordExt, Seconds, Setup, Shown, Simple, Tell, TestName, Tier, Unfit, Variant,
};
use sys::clock;

use super::frame::{LEAST_DATAGRAM, Proto, Test, Wait};
use super::params;
use super::pipe::{Lost, Pipe};
use super::samples::{Halves, Names, ONE_WAY_P99, ONE_WAY_P999, RTT_P99, RTT_P999, Samples, Silence};
use super::session::Session;
use super::target::{Target, To};
use crate::bench::kernel::repeats_for;

const RTT: Metric<Seconds> = Metric::new(
    "rtt",
    Better::Lower,
    "median of the take's round trips, from before the message is sent until it is back",
);
const ONE_WAY: Metric<Seconds> = Metric::new("one-way", Better::Lower, "half of the median round trip");
const RTTS: Metric<Seconds> =
    Metric::new("rtts", Better::Neither, "all round trips of the take that had an answer");
const LOST: Metric<Ratio> =
    Metric::new("lost", Better::Neither, "share of the messages that had no answer within the time limit")
        .share();
const LOST_AWAY: Metric<Ratio> =
    Metric::new("lost-away", Better::Neither, "share of the datagrams that never reached the far end")
        .share();

static CARD: Card = Card {
    name: "net-rtt",
    family: Family::Net,
    says: "round trip and one-way time of messages over TCP or UDP",
    source: "own; ping-pong as sockperf and ib_send_lat (which report one way), RTT as netperf TCP_RR",
    shown: Shown {
        label: "net",
        tells: &[Tell::always("proto"), Tell::always("size"), Tell::unusual("mode"), Tell::unusual("to")],
        sorted: &[By::Param("size")],
        place: 0,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        params::TO,
        params::TOKEN,
        params::FAR,
        params::PROTO,
        params::SIZE,
        params::MODE,
        params::TIMEOUT,
    ],
    metrics: METRICS,
    needs: &[Need::Peer],
    tests: &[
        TestName { name: "tcp-rtt", params: "proto=tcp" },
        TestName { name: "udp-rtt", params: "proto=udp" },
    ],
    examples: &[
        Example::new("boxscore run net --quick", "the network stack of this machine, over the loopback"),
        Example::new(
            "boxscore run net --to 10.0.0.2 --test tcp-rtt",
            "round trips to where `boxscore peer` listens",
        ),
        Example::new(
            "boxscore run net --to 10.0.0.2 --far 'ssh box2 ./boxscore'",
            "the same to a far end that this run starts and ends",
        ),
    ],
    variants: &[
        Variant { tier: Tier::Quick, set: "proto=tcp|udp;size=64|1KiB|16KiB", headline: HEADLINE },
        Variant { tier: Tier::Quick, set: "proto=tcp|udp;size=64;mode=block", headline: HEADLINE },
        Variant { tier: Tier::Full, set: "proto=tcp|udp;size=8|256|4KiB", headline: HEADLINE },
        Variant { tier: Tier::Full, set: "size=64KiB|1MiB", headline: HEADLINE },
        Variant { tier: Tier::Full, set: "proto=tcp|udp;size=64;mode=busy-poll", headline: HEADLINE },
    ],
    ..Card::DEFAULT
};

const HEADLINE: &[&str] = &["rtt", "one-way"];
const METRICS: &[MetricInfo] = &[
    RTT.info(),
    RTT_P99.info(),
    RTT_P999.info(),
    ONE_WAY.info(),
    ONE_WAY_P99.info(),
    ONE_WAY_P999.info(),
    RTTS.info(),
    LOST.info(),
    LOST_AWAY.info(),
];
const NAMES: Names = Names { median: RTT, p99: RTT_P99, p999: RTT_P999, all: RTTS.info(), lost: Some(LOST) };
const HALVES: Halves = Halves { median: ONE_WAY, p99: ONE_WAY_P99, p999: ONE_WAY_P999 };

/// Uncounted round trips at the start: at most this many, and at most a share of the counted ones.
const WARM_UP: u64 = 100;
const WARM_UP_SHARE: u64 = 10;

/// The checked parameters of a test.
#[derive(Clone, Copy, Debug)]
struct Ask {
    proto: Proto,
    size: u64,
    wait: Wait,
    timeout: Duration,
}

impl Ask {
    fn of(setup: &Setup) -> Result<Ask, Unfit> {
        To::from_setup(setup)?;
        params::fit_spinning(setup)?;
        let proto = params::proto(setup);
        let size = params::size(setup, proto, LEAST_DATAGRAM)?;
        Ok(Ask { proto, size, wait: params::wait(setup), timeout: params::time(setup, "timeout")? })
    }
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| Ask::of(setup).map(drop));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let ask = Ask::of(setup)?;
    let message = vec![b'p'; usize::try_from(ask.size).unwrap_or(0)];
    Ok(Box::new(PingPong {
        ask,
        target: Target::prepare(setup)?,
        doubt: params::doubt_spinning(setup, CARD.name)?,
        message,
        samples: Samples::default(),
        lost_away: None,
        took: Seconds(0.0),
    }))
}

struct PingPong {
    ask: Ask,
    target: Target,
    doubt: Option<model::Finding>,
    message: Vec<u8>,
    samples: Samples,
    /// Share of lost datagrams in the last take.
    lost_away: Option<f64>,
    /// Total time of the counted round trips.
    took: Seconds,
}

impl PingPong {
    fn run(&mut self, count: u64) -> Result<(), Fault> {
        let _pinned = self.target.pin(0).map_err(Fault::new)?;
        self.samples.clear(count);
        let warm = (count / WARM_UP_SHARE).clamp(1, WARM_UP);
        let done = match self.ask.proto {
            Proto::Tcp => self.stream(warm, count),
            Proto::Udp => self.datagrams(warm, count),
        };
        done.map_err(|why| Fault::new(self.target.explain(why)))
    }

    fn stream(&mut self, warm: u64, count: u64) -> Result<(), String> {
        let test = Test::Echo { size: self.ask.size, wait: self.ask.wait, rounds: warm + count };
        let mut session = Session::open(&self.target, test)?;
        let pipe = Pipe::new(session.control.as_fd(), self.ask.wait, self.target.patience)?;
        let lost = |lost| session.lost(lost);
        for _ in 0..warm {
            turn(&pipe, &mut self.message).map_err(lost)?;
        }
        let mut sent_ns = clock::now_ns();
        let begun_ns = sent_ns;
        for _ in 0..count {
            turn(&pipe, &mut self.message).map_err(lost)?;
            let back_ns = clock::now_ns();
            self.samples.add(back_ns - sent_ns);
            sent_ns = back_ns;
        }
        self.took = Seconds::from_ns(sent_ns - begun_ns);
        session.report().map(drop)
    }

    fn datagrams(&mut self, warm: u64, count: u64) -> Result<(), String> {
        let test = Test::EchoDatagrams { size: self.ask.size, wait: self.ask.wait };
        let mut session = Session::open(&self.target, test)?;
        let socket = session.datagrams()?;
        let pipe = Pipe::new(socket.as_fd(), self.ask.wait, self.ask.timeout)?;
        let mut into = vec![0; self.message.len().max(16)];
        let mut silence = Silence::default();
        let mut sent_ns = clock::now_ns();
        let mut begun_ns = sent_ns;
        for number in 0..warm + count {
            let counts = number >= warm;
            if number == warm {
                begun_ns = sent_ns;
            }
            if let Some(head) = self.message.first_chunk_mut::<8>() {
                *head = number.to_le_bytes();
            }
            let answered = exchange(&pipe, &self.message, &mut into, &mut self.samples.late);
            let back_ns = clock::now_ns();
            let took_ns = back_ns - sent_ns;
            sent_ns = back_ns;
            match answered {
                Ok(()) => {
                    silence.end();
                    if counts {
                        self.samples.add(took_ns);
                    }
                }
                Err(Lost::Silent) => {
                    self.samples.lost += u64::from(counts);
                    silence.goes_on(took_ns).map_err(|in_a_row| {
                        let ms = self.ask.timeout.as_secs_f64() * 1e3;
                        format!("{in_a_row} datagrams in a row had no answer within {ms} ms (timeout)")
                    })?;
                    if silence.is_long() && counts {
                        break;
                    }
                }
                Err(lost) => return Err(session.lost(lost)),
            }
        }
        self.took = Seconds::from_ns(sent_ns - begun_ns);
        let sent = warm + self.samples.sent();
        let report = session.end(sent, Some(&socket))?;
        self.lost_away = Some(sent.saturating_sub(report.messages) as f64 / sent.max(1) as f64);
        Ok(())
    }
}

/// One round trip over a connection.
#[inline]
fn turn(pipe: &Pipe<'_>, message: &mut [u8]) -> Result<(), Lost> {
    pipe.send_all(message)?;
    pipe.recv_all(message)
}

/// One round trip of a datagram. Answers to earlier datagrams are counted in `late`. Fails when no answer comes in
/// time.
#[inline]
pub fn exchange(pipe: &Pipe<'_>, message: &[u8], into: &mut [u8], late: &mut u64) -> Result<(), Lost> {
    pipe.send(message)?;
    loop {
        let count = pipe.recv(into)?;
        // Its number is in the first bytes.
        if count == message.len() && into.first_chunk::<8>() == message.first_chunk::<8>() {
            return Ok(());
        }
        *late += u64::from(count == message.len());
    }
}

impl Probe for PingPong {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |count| {
            self.run(count)?;
            Ok(self.took)
        })
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.target.tell(record);
        self.run(repeats.max(1))?;
        self.samples.push(&NAMES, Some(&HALVES), record)?;
        record.push_if(&LOST_AWAY, self.lost_away.map(Ratio));
        if let Some(doubt) = &self.doubt {
            record.refuse(doubt.clone());
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
