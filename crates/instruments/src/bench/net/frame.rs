//! The protocol of network tests: openings of 32 bytes, then frames.
//!
//! A frame is its length (4 bytes, little endian, at most [`MOST`]) and a postcard body. Sizes are bytes, times are as
//! named. Bytes from a peer are untrusted until its proof is checked; malformed input is refused.

use std::io::{Read, Write};

use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::workload::perftest::{self, Verb};

/// Begins the connection that asks for a test.
pub const ASKING: [u8; 16] = *b"boxscore-peer 1\n";
/// Begins a further connection of a test that is under way.
pub const JOINING: [u8; 16] = *b"boxscore-join 1\n";
/// Length of an opening: one of the two words, then 16 bytes, either the asker's nonce or the test's id.
pub const OPENING: usize = 32;
/// Longest frame, in bytes.
pub const MOST: usize = 4096;
/// Default port of a peer: TCP for everything, UDP for tests of datagrams.
pub const PORT: u16 = 7411;
/// Default limit of the largest message, in bytes.
pub const LIMIT: u64 = 1 << 20;
/// Smallest datagram: its number.
pub const LEAST_DATAGRAM: u64 = 8;
/// Largest datagram: 64 KiB less the headers of IPv4.
pub const MOST_DATAGRAM: u64 = 65_507;
pub const MOST_STREAMS: u16 = 64;
/// Longest take at a peer, in ms.
pub const MOST_MS: u32 = 120_000;

pub type Id = [u8; 16];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proto {
    Tcp,
    Udp,
}

/// How an end waits for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// Sleeps until the kernel wakes it.
    Block,
    /// Polls without sleeping and keeps its CPU busy.
    Spin,
    /// Sleeps, but first the kernel polls the device (`SO_BUSY_POLL`).
    BusyPoll,
}

/// Direction of the bytes, as the asker sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    Send,
    Receive,
    Both,
}

/// The tests that a peer can take part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Test {
    /// `rounds` messages of `size` bytes over the asking connection, each sent back whole.
    Echo { size: u64, wait: Wait, rounds: u64 },
    /// Datagrams from [`LEAST_DATAGRAM`] to `size` bytes, each sent back, until the asker says End.
    EchoDatagrams { size: u64, wait: Wait },
    /// Chunks of `size` bytes on `streams` joined connections in each direction, for `lead_ms` uncounted and then
    /// `span_ms`.
    Bulk { size: u64, streams: u16, way: Way, lead_ms: u32, span_ms: u32 },
    /// Connections that send the test's id and are answered with one byte, until the asker says End.
    Connections,
    /// Datagrams of `size` bytes, counted until the asker says End.
    Datagrams { size: u64, span_ms: u32 },
    /// One run of a perftest program; the peer starts the server.
    Perftest { verb: Verb, size: u64, iterations: u64, device: Option<String> },
}

impl Test {
    /// Fails when a peer with this message limit cannot take part.
    pub fn check(&self, limit: u64) -> Result<(), Refusal> {
        let (size, least, most) = match self {
            Test::Echo { size, .. } | Test::Bulk { size, .. } => (*size, 1, limit),
            Test::EchoDatagrams { size, .. } | Test::Datagrams { size, .. } => {
                (*size, LEAST_DATAGRAM, limit.min(MOST_DATAGRAM))
            }
            Test::Connections => (1, 1, 1),
            // Its messages do not go through the peer.
            Test::Perftest { size, .. } => (*size, 1, 8 << 20),
        };
        if size < least || size > most {
            return Err(Refusal::Size { size, least, most });
        }
        match self {
            Test::Bulk { streams, .. } if !(1..=MOST_STREAMS).contains(streams) => {
                Err(Refusal::Other(format!("{streams} streams; it serves 1 to {MOST_STREAMS}")))
            }
            Test::Bulk { lead_ms: a, span_ms: b, .. } if a.saturating_add(*b) > MOST_MS => {
                Err(Refusal::Other(format!("{a} + {b} ms; it serves up to {MOST_MS} ms")))
            }
            Test::Perftest { iterations, .. } if !(perftest::LEAST..=perftest::MOST).contains(iterations) => {
                let (least, most) = (perftest::LEAST, perftest::MOST);
                Err(Refusal::Other(format!("{iterations} iterations; it serves {least} to {most}")))
            }
            Test::Perftest { device: Some(name), .. } if !is_device(name) => {
                Err(Refusal::Other("a name that is not that of a device".to_owned()))
            }
            Test::Datagrams { span_ms, .. } if *span_ms > MOST_MS => {
                Err(Refusal::Other(format!("{span_ms} ms; it serves up to {MOST_MS} ms")))
            }
            _ => Ok(()),
        }
    }
}

/// True for a kernel device name that cannot be taken for an option of a program.
fn is_device(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !name.is_empty() && name.len() < 64 && !name.starts_with('-') && name.bytes().all(is_fine)
}

/// Why a peer refuses a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    #[error("its token is another one; give both ends the same --token FILE")]
    Token,
    #[error("it is busy with another test; it serves one at a time")]
    Busy,
    #[error("messages of {size} B; it serves {least} to {most} B (boxscore peer --limit)")]
    Size { size: u64, least: u64, most: u64 },
    #[error("{0}")]
    Other(String),
}

/// The bytes that one end received in a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub messages: u64,
    /// Bytes received after the first counted moment, up to the last one.
    pub bytes: u64,
    /// Time between these moments by this end's own clock, in ns.
    pub span_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Asker to peer, after the peer's challenge.
    Ask {
        proof: [u8; 32],
        test: Test,
    },
    /// Peer to asker: the test begins.
    Go,
    Refused(Refusal),
    /// Asker to peer: the test is over, `sent` messages were sent.
    End {
        sent: u64,
    },
    /// Peer to asker: what it received.
    Report(Report),
    /// Peer to asker, after Go: a program that it started for this test listens on this port.
    Serves {
        port: u16,
    },
}

/// Why bytes are not a frame, or could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} B; the longest has {MOST}")]
    Long(usize),
    #[error("bytes that are not a frame")]
    Nonsense,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Frame {
    /// Encodes the frame. Fails when it is longer than [`MOST`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, FrameError> {
        let body = postcard::to_stdvec(self).map_err(|_| FrameError::Nonsense)?;
        let length = u32::try_from(body.len()).ok().filter(|length| *length as usize <= MOST);
        let mut bytes = length.ok_or(FrameError::Long(body.len()))?.to_le_bytes().to_vec();
        bytes.extend(body);
        Ok(bytes)
    }

    /// Decodes the frame at the start of `bytes`, with its length; `None` while bytes are missing. Fails when the
    /// bytes are not a frame.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Frame, usize)>, FrameError> {
        let Some((head, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
        let length = length(*head)?;
        let Some(body) = rest.get(..length) else { return Ok(None) };
        Ok(Some((body_of(body)?, 4 + length)))
    }

    /// Reads the next frame of a stream and nothing after it. Fails when the stream ends or the bytes are not a frame.
    pub fn read(from: &mut impl Read) -> Result<Frame, FrameError> {
        let mut head = [0; 4];
        from.read_exact(&mut head)?;
        let mut body = vec![0; length(head)?];
        from.read_exact(&mut body)?;
        body_of(&body)
    }

    /// Writes the frame. Fails when the stream does not take it.
    pub fn write(&self, to: &mut impl Write) -> Result<(), FrameError> {
        Ok(to.write_all(&self.to_bytes()?)?)
    }
}

fn length(head: [u8; 4]) -> Result<usize, FrameError> {
    let length = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
    if length > MOST { Err(FrameError::Long(length)) } else { Ok(length) }
}

fn body_of(body: &[u8]) -> Result<Frame, FrameError> {
    match postcard::take_from_bytes(body) {
        Ok((frame, [])) => Ok(frame),
        _ => Err(FrameError::Nonsense),
    }
}

/// An opening: one of the words and 16 bytes.
pub fn opening(word: [u8; 16], id: &Id) -> [u8; OPENING] {
    let mut bytes = [0; OPENING];
    bytes[..16].copy_from_slice(&word);
    bytes[16..].copy_from_slice(id);
    bytes
}

/// The word and the 16 bytes of an opening.
pub fn opened(bytes: &[u8; OPENING]) -> ([u8; 16], Id) {
    let (mut word, mut id) = ([0; 16], [0; 16]);
    word.copy_from_slice(&bytes[..16]);
    id.copy_from_slice(&bytes[16..]);
    (word, id)
}

/// Proves knowledge of the token for one challenge and one asker's nonce.
pub fn proof(token: &[u8], challenge: &Id, asker: &Id) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, token), &[*challenge, *asker].concat());
    let mut proof = [0; 32];
    proof.copy_from_slice(tag.as_ref());
    proof
}

/// True if the proof is right. Takes the same time for every wrong proof.
pub fn is_proof(token: &[u8], challenge: &Id, asker: &Id, proof: &[u8; 32]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token);
    hmac::verify(&key, &[*challenge, *asker].concat(), proof).is_ok()
}

/// The datagram that ends a test of datagrams.
pub fn ending(id: &Id) -> Id {
    id.map(|byte| !byte)
}

/// 16 bytes from the kernel's random source. Fails when the kernel gives none.
pub fn random() -> Result<Id, String> {
    use ring::rand::SecureRandom;
    let mut id = [0; 16];
    let filled = ring::rand::SystemRandom::new().fill(&mut id);
    filled.map_err(|_| "the kernel gives no random numbers".to_owned())?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kernels::random::Random;

    fn frames() -> Vec<Frame> {
        let tests = [
            Test::Echo { size: 64, wait: Wait::Spin, rounds: 1 << 40 },
            Test::EchoDatagrams { size: 1400, wait: Wait::BusyPoll },
            Test::Bulk { size: 131_072, streams: 4, way: Way::Both, lead_ms: 100, span_ms: 500 },
            Test::Connections,
            Test::Datagrams { size: 64, span_ms: 500 },
        ];
        let asks = tests.map(|test| Frame::Ask { proof: [7; 32], test });
        let rest = [
            Frame::Go,
            Frame::Refused(Refusal::Busy),
            Frame::Refused(Refusal::Size { size: 9, least: 1, most: 8 }),
            Frame::Refused(Refusal::Other("no".to_owned())),
            Frame::End { sent: u64::MAX },
            Frame::Report(Report { messages: 1, bytes: 2, span_ns: 3 }),
        ];
        asks.into_iter().chain(rest).collect()
    }

    #[test]
    fn frames_are_read_as_written_and_never_before_they_are_whole() {
        for frame in frames() {
            let bytes = frame.to_bytes().unwrap();
            for end in 0..bytes.len() {
                assert!(matches!(Frame::parse(&bytes[..end]), Ok(None)), "{frame:?} {end}");
                assert!(Frame::read(&mut &bytes[..end]).is_err(), "{frame:?} {end}");
            }
            let more = [bytes.clone(), vec![9]].concat();
            assert_eq!(Frame::parse(&more).unwrap(), Some((frame.clone(), bytes.len())));
            assert_eq!(Frame::read(&mut &more[..]).unwrap(), frame);
            let mut longer = bytes.clone();
            longer[0] += 1;
            longer.push(0);
            assert!(matches!(Frame::parse(&longer), Err(FrameError::Nonsense)), "{frame:?}");
        }
        assert!(matches!(Frame::parse(&[0, 32, 0, 0]), Err(FrameError::Long(8192))));
        let long = Frame::Refused(Refusal::Other("x".repeat(MOST)));
        assert!(matches!(long.to_bytes(), Err(FrameError::Long(_))));
    }

    /// Whatever changes in a frame, it is read as what says the same, or refused.
    #[test]
    fn changed_bytes_do_no_harm() {
        let mut random = Random::new(11);
        for turn in 0..20_000 {
            let all = frames();
            let mut bytes = all[turn % all.len()].to_bytes().unwrap();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
            if let Ok(Some((frame, length))) = Frame::parse(&bytes) {
                assert!(length <= bytes.len());
                let again = frame.to_bytes().unwrap();
                assert_eq!(Frame::parse(&again).unwrap().unwrap().0, frame);
            }
        }
    }

    #[test]
    fn a_proof_is_of_one_token_and_one_asking() {
        let (challenge, asker) = (random().unwrap(), random().unwrap());
        assert_ne!(challenge, asker);
        let right = proof(b"secret", &challenge, &asker);
        assert!(is_proof(b"secret", &challenge, &asker, &right));
        for (token, challenge, asker) in [
            (&b""[..], challenge, asker),
            (b"secreu", challenge, asker),
            (b"secret", asker, challenge),
            (b"secret", challenge, [0; 16]),
        ] {
            assert!(!is_proof(token, &challenge, &asker, &right));
        }
    }

    #[test]
    fn tests_have_limits() {
        let echo = |size| Test::Echo { size, wait: Wait::Block, rounds: 1 }.check(1000);
        assert_eq!((echo(1), echo(1000)), (Ok(()), Ok(())));
        assert_eq!(echo(1001), Err(Refusal::Size { size: 1001, least: 1, most: 1000 }));
        assert!(echo(0).is_err());
        let datagrams = |size| Test::Datagrams { size, span_ms: 1 }.check(LIMIT);
        assert_eq!((datagrams(8), datagrams(65_507)), (Ok(()), Ok(())));
        assert!(datagrams(7).is_err() && datagrams(65_508).is_err());
        let bulk = |streams, span_ms| {
            Test::Bulk { size: 1, streams, way: Way::Send, lead_ms: u32::MAX / 2, span_ms }.check(LIMIT)
        };
        assert!(bulk(0, 1).is_err() && bulk(65, 1).is_err() && bulk(1, u32::MAX).is_err());
        assert!(Test::Datagrams { size: 8, span_ms: u32::MAX }.check(LIMIT).is_err());
        assert_eq!(Test::Connections.check(LIMIT), Ok(()));
    }

    #[test]
    fn openings_are_told_apart() {
        let id = random().unwrap();
        assert_eq!(opened(&opening(ASKING, &id)), (ASKING, id));
        assert_ne!(ASKING, JOINING);
        assert_eq!(ending(&ending(&id)), id);
    }
}
