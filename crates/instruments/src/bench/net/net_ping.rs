//! Round trips of ICMP echo requests, as `ping` sends them, but the next request goes as soon as the answer is there.
//!
//! The far end's kernel answers, so no peer is needed. A round trip is timed from before the request is sent until its
//! answer is read. A request without an answer in time is lost: it counts as longer than any, and the share of lost
//! ones is reported. A host may answer fewer requests than it gets, or give them a lower priority than other packets.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use model::{
    Better, By, Cadence, Card, Family, Fault, Label, Metric, Need, ParamKind, ParamSpec, Probe, Ratio,
    Record, Seconds, Setup, Shown, Simple, Size, Tell, TestName, Tier, Unfit, Variant,
};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};
use sys::clock;

use super::frame::Wait;
use super::params;
use super::pipe::{Lost, Pipe};
use super::samples::{Names, Samples, Silence};
use super::target::To;
use crate::bench::kernel::repeats_for;

const RTT: Metric<Seconds> = Metric::new("rtt", Better::Lower, "median of the take's echo round trips");
const RTT_P99: Metric<Seconds> =
    Metric::new("rtt-p99", Better::Lower, "99th percentile of the take's echo round trips");
const RTT_P999: Metric<Seconds> =
    Metric::new("rtt-p999", Better::Lower, "99.9th percentile of the take's echo round trips");
const RTTS: Metric<Seconds> =
    Metric::new("rtts", Better::Neither, "all echo round trips of the take that had an answer");
const LOST: Metric<Ratio> =
    Metric::new("lost", Better::Neither, "share of the requests that had no answer within the time limit")
        .share();
const NAMES: Names = Names { median: RTT, p99: RTT_P99, p999: RTT_P999, all: RTTS.info(), lost: Some(LOST) };

static CARD: Card = Card {
    name: "net-ping",
    family: Family::Net,
    says: "round trip of ICMP echo requests, which the far end's kernel answers",
    source: "own; as ping -A, 56 bytes of data",
    shown: Shown {
        label: "net ping",
        tells: &[Tell::unusual("size"), Tell::unusual("to")],
        sorted: &[By::Param("size")],
        place: 1,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        params::TO,
        ParamSpec::new(
            "size",
            ParamKind::Bytes { min: 8, max: 65_000 },
            "56",
            "bytes of data behind the ICMP header",
        )
        .label(Label::Bytes),
        params::TIMEOUT,
    ],
    metrics: &[RTT.info(), RTT_P99.info(), RTT_P999.info(), RTTS.info(), LOST.info()],
    needs: &[Need::Peer],
    tests: &[TestName::new("ping")],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &["rtt"] }],
    ..Card::DEFAULT
};

/// Type, code, checksum, identifier, number.
const HEADER: usize = 8;
/// Requests of a smoke take: as many as the rarest percentile needs.
const SMOKE: u64 = 1000;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| To::from_setup(setup).map(drop));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let host = match To::from_setup(setup)? {
        To::Loopback => IpAddr::from([127, 0, 0, 1]),
        To::Peer { host, port } => To::resolve(&host, port)?.ip(),
    };
    let size = setup.params.get("size").and_then(model::params::parse_bytes).unwrap_or(56);
    let socket = Socket::open(host).map_err(Unfit::new)?;
    let bytes = vec![b'e'; HEADER + usize::try_from(size).unwrap_or(0)];
    let request = Request { bytes, number: 0, is_v6: socket.is_v6 };
    let timeout = params::time(setup, "timeout")?;
    let cpus = setup.cpus.last().copied().into_iter().collect();
    let least = if setup.size == Size::Smoke { SMOKE } else { 1 };
    let (samples, took) = (Samples::default(), Seconds(0.0));
    Ok(Box::new(Ping { host, socket, request, timeout, samples, took, cpus, least }))
}

/// A socket that receives the answers of one host.
#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    /// True for a raw socket: packets carry their IP header, and the checksum is ours to compute.
    is_raw: bool,
    is_v6: bool,
}

impl Socket {
    fn open(host: IpAddr) -> Result<Socket, String> {
        let is_v6 = host.is_ipv6();
        let (family, protocol) = match is_v6 {
            true => (AddressFamily::INET6, ipproto::ICMPV6),
            false => (AddressFamily::INET, ipproto::ICMP),
        };
        let open = |kind| rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(protocol));
        let (fd, is_raw) = match open(SocketType::DGRAM) {
            Ok(fd) => (fd, false),
            Err(_) => match open(SocketType::RAW) {
                Ok(fd) => (fd, true),
                Err(Errno::PERM | Errno::ACCESS) => {
                    return Err("echo requests are not allowed: it needs root, or a group within \
                                net.ipv4.ping_group_range (`sysctl -w net.ipv4.ping_group_range='0 2147483647'`)"
                        .to_owned());
                }
                Err(error) => return Err(format!("no socket for echo requests: {error}")),
            },
        };
        rustix::net::connect(&fd, &SocketAddr::new(host, 0))
            .map_err(|error| format!("{host} cannot be reached: {error}"))?;
        Ok(Socket { fd, is_raw, is_v6 })
    }

    /// The sequence number and the data of an answer.
    fn answer<'a>(&self, packet: &'a [u8]) -> Option<(u16, &'a [u8])> {
        let header = match (self.is_raw, self.is_v6) {
            (true, false) => usize::from(packet.first()? & 15) * 4,
            _ => 0,
        };
        let message = packet.get(header..)?;
        let kind = if self.is_v6 { 129 } else { 0 };
        let [found, 0, _, _, _, _, high, low, data @ ..] = message else { return None };
        (*found == kind).then(|| (u16::from_be_bytes([*high, *low]), data))
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| match pair {
        [high, low] => u64::from(u16::from_be_bytes([*high, *low])),
        [high] => u64::from(u16::from_be_bytes([*high, 0])),
        _ => 0,
    };
    let mut sum: u64 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(0)
}

/// The request that is sent again and again.
struct Request {
    bytes: Vec<u8>,
    /// Number of the last request, counted over all takes.
    number: u64,
    is_v6: bool,
}

impl Request {
    /// Writes the next request, with its whole number in the data.
    fn write(&mut self) {
        self.number += 1;
        let kind = if self.is_v6 { 128 } else { 8 };
        let [high, low] = (self.number as u16).to_be_bytes();
        let id = (std::process::id() as u16).to_be_bytes();
        self.bytes[..HEADER].copy_from_slice(&[kind, 0, 0, 0, id[0], id[1], high, low]);
        self.bytes[HEADER..HEADER + 8].copy_from_slice(&self.number.to_le_bytes());
        let sum = checksum(&self.bytes).to_be_bytes();
        self.bytes[2..4].copy_from_slice(&sum);
    }

    /// True if this is the answer to the request.
    fn is_answered(&self, (low, data): (u16, &[u8])) -> bool {
        low == self.number as u16 && data.starts_with(&self.number.to_le_bytes())
    }
}

struct Ping {
    host: IpAddr,
    socket: Socket,
    request: Request,
    timeout: Duration,
    samples: Samples,
    took: Seconds,
    cpus: Vec<u32>,
    /// Fewest requests of a take.
    least: u64,
}

impl Ping {
    fn run(&mut self, count: u64) -> Result<(), String> {
        let cpu = self.cpus.first().copied().unwrap_or(0);
        let _pinned = sys::affinity::pin(cpu as usize).map_err(|error| error.to_string())?;
        self.samples.clear(count);
        let mut into = vec![0; self.request.bytes.len() + 128];
        let pipe = Pipe::new(self.socket.fd.as_fd(), Wait::Block, self.timeout)?;
        let mut silence = Silence::default();
        let begun_ns = clock::now_ns();
        let mut sent_ns = begun_ns;
        for _ in 0..count {
            self.request.write();
            let answered = self.exchange(&pipe, &mut into);
            let back_ns = clock::now_ns();
            let took_ns = back_ns - sent_ns;
            sent_ns = back_ns;
            match answered {
                Ok(()) => {
                    silence.end();
                    self.samples.add(took_ns);
                }
                Err(Lost::Silent) => {
                    self.samples.lost += 1;
                    silence.goes_on(took_ns).map_err(|in_a_row| {
                        format!("{} answers no echo requests: {in_a_row} in a row", self.host)
                    })?;
                    if silence.is_long() {
                        break;
                    }
                }
                Err(lost) => return Err(format!("echo requests to {}: it {lost}", self.host)),
            }
        }
        self.took = Seconds::from_ns(sent_ns - begun_ns);
        Ok(())
    }

    fn exchange(&self, pipe: &Pipe<'_>, into: &mut [u8]) -> Result<(), Lost> {
        pipe.send(&self.request.bytes)?;
        loop {
            let count = pipe.recv(into)?;
            let answer = into.get(..count).and_then(|packet| self.socket.answer(packet));
            if answer.is_some_and(|answer| self.request.is_answered(answer)) {
                return Ok(());
            }
        }
    }
}

impl Probe for Ping {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |count| {
            self.run(count).map_err(Fault::new)?;
            Ok(self.took)
        })
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.run(repeats.max(self.least)).map_err(Fault::new)?;
        self.samples.push(&NAMES, None, record)
    }

    fn cpus(&self) -> Vec<u32> {
        self.cpus.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard() {
        // The example of RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[]), 0xffff);
        assert_eq!(checksum(&[0x12]), !0x1200);
        let mut message = vec![8, 0, 0, 0, 1, 2, 3, 4, 5];
        let sum = checksum(&message).to_be_bytes();
        message[2..4].copy_from_slice(&sum);
        assert_eq!(checksum(&message), 0);
    }

    #[test]
    fn answers_are_told_from_what_else_comes() {
        let socket = |is_raw, is_v6| Socket {
            fd: std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into(),
            is_raw,
            is_v6,
        };
        let message = [0, 0, 9, 9, 1, 1, 2, 3, 7, 7];
        assert_eq!(socket(false, false).answer(&message), Some((0x0203, &[7, 7][..])));
        let packet = [&[0x46; 24][..], &message].concat();
        assert_eq!(socket(true, false).answer(&packet), Some((0x0203, &[7, 7][..])));
        let request = [8, 0, 9, 9, 1, 1, 2, 3, 7, 7];
        assert_eq!(socket(false, false).answer(&request), None);
        assert_eq!(socket(true, true).answer(&[129, 0, 9, 9, 1, 1, 2, 3]), Some((0x0203, &[][..])));
        for end in 0..packet.len() - 2 {
            assert_eq!(socket(true, false).answer(&packet[..end]), None, "{end}");
        }
    }
}
