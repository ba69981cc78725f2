//! An incremental parser of HTTP/1 responses. In: bytes, in any pieces. Out: the end of an answer and its status.
//!
//! It finds the end of one answer to one request (RFC 9112, section 6.3), counts the bytes of its body after chunked
//! coding, and on request computes their CRC-32C. Interim (1xx) answers are skipped. It is strict where leniency would
//! hide a broken server: a second, different length, a length beside chunked coding, and junk around chunks are
//! errors. Content coding is not undone. It keeps no body.

use std::mem::MaybeUninit;
use std::sync::OnceLock;

use super::chunked::Chunked;
use crate::bench::kernels::crc32c;
use crate::load::failure::Failure;
use crate::load::protocol::Step;
use crate::load::redirect;

/// A head of more bytes than this is not one.
pub const MAX_HEAD: usize = 64 << 10;
const MAX_HEADERS: usize = 128;
/// Capacity that the buffer of a partial head keeps for the next one.
const KEPT_CAPACITY: usize = 2048;
const START: &[u8] = b"HTTP/1.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Head,
    /// Bytes of the body that are missing.
    Length(u64),
    Chunks(Chunked),
    UntilClose,
}

/// Properties of the request: whether the answer has a body, and whether its checksum is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestFlags {
    pub head: bool,
    pub checksum: bool,
}

/// One answer, as far as it was read.
#[derive(Clone, Debug)]
pub struct Reply {
    phase: Phase,
    flags: RequestFlags,
    /// The head's bytes, only when it did not come in one piece.
    partial: Vec<u8>,
    status: u16,
    keep: bool,
    body: u64,
    crc: u32,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply {
            phase: Phase::Head,
            flags: RequestFlags::default(),
            partial: Vec::new(),
            status: 0,
            keep: false,
            body: 0,
            crc: !0,
        }
    }
}

/// How the body of an answer ends, as its head says.
#[derive(Clone, Copy, Debug)]
struct Head {
    status: u16,
    keep: bool,
    close: bool,
    length: Option<u64>,
    chunked: bool,
    /// A transfer coding that does not end in chunked: the body ends with the connection.
    coded: bool,
}

/// The last head that came in one piece. Most servers send the same one again, but for its date.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    bytes: Vec<u8>,
    head: Option<Head>,
    /// The target of the first redirect.
    to: Option<String>,
    /// The first content coding.
    coding: Option<String>,
}

impl Memo {
    /// The head at the start of these bytes, if it equals the remembered one.
    #[inline]
    fn known(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        self.head.filter(|_| bytes.starts_with(&self.bytes)).map(|head| (head, self.bytes.len()))
    }

    /// The target of the first redirect.
    pub fn redirected_to(&self) -> Option<&str> {
        self.to.as_deref()
    }

    /// The first content coding of an answer: `gzip`.
    pub fn content_coding(&self) -> Option<&str> {
        self.coding.as_deref()
    }

    fn note(&mut self, status: u16, headers: &[httparse::Header<'_>]) {
        if self.to.is_none() && (300..400).contains(&status) {
            let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case("location"));
            self.to = found.map(|header| redirect::place(header.value));
        }
        if self.coding.is_none() {
            let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-encoding"));
            self.coding = found.map(|header| redirect::place(header.value));
        }
    }

    fn keep(&mut self, bytes: &[u8], head: Head) {
        self.bytes.clear();
        self.head = (bytes.len() <= KEPT_CAPACITY).then_some(head);
        if self.head.is_some() {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl Reply {
    /// Forgets the last answer; the next bytes answer a new request.
    #[inline]
    pub fn begin(&mut self, flags: RequestFlags) {
        self.phase = Phase::Head;
        self.flags = flags;
        self.partial.clear();
        if self.partial.capacity() > KEPT_CAPACITY {
            self.partial = Vec::new();
        }
        self.status = 0;
        self.keep = false;
        self.body = 0;
        self.crc = !0;
    }

    /// Status of the final answer; 0 before its head is complete.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// True if the connection may be used again.
    pub fn keep(&self) -> bool {
        self.keep
    }

    /// Bytes of the body so far.
    pub fn body(&self) -> u64 {
        self.body
    }

    /// The body's CRC-32C, if a checksum was asked for.
    pub fn crc32c(&self) -> Option<u32> {
        self.flags.checksum.then_some(!self.crc)
    }

    /// True once the server has begun to answer.
    pub fn begun(&self) -> bool {
        self.phase != Phase::Head || !self.partial.is_empty()
    }

    /// Parses the next bytes. `Done` says how many of them belong to this answer. Fails when the answer is malformed.
    #[inline]
    pub fn feed(&mut self, memo: &mut Memo, bytes: &[u8]) -> Result<Step, Failure> {
        let mut used = 0;
        while self.phase == Phase::Head {
            let Some(end) = self.head(memo, &bytes[used..])? else { return Ok(Step::More) };
            used += end;
            if self.phase == Phase::Length(0) {
                return Ok(Step::Done { used });
            }
        }
        self.rest(bytes, used)
    }

    /// Takes bytes of the body.
    fn rest(&mut self, bytes: &[u8], used: usize) -> Result<Step, Failure> {
        let rest = &bytes[used..];
        match &mut self.phase {
            Phase::Head => Ok(Step::More),
            Phase::Length(left) => {
                let take = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                *left -= take as u64;
                let is_over = *left == 0;
                self.take_body(&rest[..take]);
                Ok(if is_over { Step::Done { used: used + take } } else { Step::More })
            }
            Phase::UntilClose => {
                self.take_body(rest);
                Ok(Step::More)
            }
            Phase::Chunks(chunks) => {
                let mut chunks = *chunks;
                let got = chunks.feed(rest, |data| self.take_body(data))?;
                self.phase = Phase::Chunks(chunks);
                Ok(got.map_or(Step::More, |end| Step::Done { used: used + end }))
            }
        }
    }

    /// The connection has ended. Fails unless the end of the connection ends the body.
    pub fn end(&self) -> Result<(), Failure> {
        match self.phase {
            Phase::UntilClose => Ok(()),
            Phase::Head => Err(Failure::Closed),
            Phase::Length(_) | Phase::Chunks(_) => Err(Failure::ShortBody),
        }
    }

    #[inline]
    fn take_body(&mut self, data: &[u8]) {
        self.body += data.len() as u64;
        if self.flags.checksum {
            self.crc = checksum()(self.crc, data);
        }
    }

    /// Looks for the end of a head; says how many of the bytes belong to it, and sets the next phase.
    #[inline]
    fn head(&mut self, memo: &mut Memo, bytes: &[u8]) -> Result<Option<usize>, Failure> {
        if self.partial.is_empty() {
            if let Some((head, end)) = memo.known(bytes) {
                self.enter_body(head)?;
                return Ok(Some(end));
            }
            let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
            match parse(memo, bytes, &mut headers) {
                Parsed::Head(head, end) if end <= MAX_HEAD => {
                    memo.keep(&bytes[..end], head);
                    self.enter_body(head)?;
                    return Ok(Some(end));
                }
                Parsed::Head(..) => return Err(Failure::BadResponse),
                // Wrong before its end is only said at its end, so that pieces change nothing.
                Parsed::Wrong if end_of_head(bytes, 0).is_some() => return Err(Failure::BadResponse),
                Parsed::Wrong | Parsed::Partial => {}
            }
        }
        self.head_in_pieces(memo, bytes)
    }

    fn head_in_pieces(&mut self, memo: &mut Memo, bytes: &[u8]) -> Result<Option<usize>, Failure> {
        let before = self.partial.len();
        let room = (MAX_HEAD + 1).saturating_sub(before);
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let begins_well = self.partial.iter().zip(START).all(|(have, want)| have == want);
        if !begins_well {
            return Err(Failure::BadResponse);
        }
        // The end is at most four bytes long, so it can begin in what was there before.
        match end_of_head(&self.partial, before.saturating_sub(3)) {
            Some(end) if end <= MAX_HEAD => {
                let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
                let head = match parse(memo, &self.partial[..end], &mut headers) {
                    Parsed::Head(head, all) if all == end => head,
                    _ => return Err(Failure::BadResponse),
                };
                self.partial.clear();
                self.enter_body(head)?;
                Ok(Some(end - before))
            }
            _ if self.partial.len() > MAX_HEAD => Err(Failure::BadResponse),
            _ => Ok(None),
        }
    }

    fn enter_body(&mut self, head: Head) -> Result<(), Failure> {
        match head.status {
            // Nobody asked to change the protocol.
            101 => return Err(Failure::BadResponse),
            100..200 => return Ok(()),
            _ => {}
        }
        self.status = head.status;
        self.keep = head.keep && !head.close;
        self.phase = if self.flags.head || head.status == 204 || head.status == 304 {
            Phase::Length(0)
        } else if head.chunked {
            Phase::Chunks(Chunked::default())
        } else if let (Some(length), false) = (head.length, head.coded) {
            Phase::Length(length)
        } else {
            self.keep = false;
            Phase::UntilClose
        };
        Ok(())
    }
}

/// The processor's fastest way, looked for once.
fn checksum() -> crc32c::Run {
    static WAY: OnceLock<crc32c::Run> = OnceLock::new();
    *WAY.get_or_init(crc32c::fast)
}

/// The index after the first blank line, searched from `from` on.
#[inline]
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = bytes.get(at..)?.iter().position(|&byte| byte == b'\n') {
        at += found + 1;
        match bytes.get(at..)? {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The result of parsing a head.
enum Parsed {
    /// The head and its length, the blank line included.
    Head(Head, usize),
    Partial,
    Wrong,
}

/// Reads a head.
fn parse<'h, 'b: 'h>(
    memo: &mut Memo,
    bytes: &'b [u8],
    headers: &'h mut [MaybeUninit<httparse::Header<'b>>],
) -> Parsed {
    let mut response = httparse::Response::new(&mut []);
    let parsed =
        httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, headers);
    let end = match parsed {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Parsed::Partial,
        Err(_) => return Parsed::Wrong,
    };
    let (Some(status), Some(version)) = (response.code, response.version) else { return Parsed::Wrong };
    if !bytes.starts_with(START) || status < 100 {
        return Parsed::Wrong;
    }
    memo.note(status, response.headers);
    read_headers(status, version, response.headers).map_or(Parsed::Wrong, |head| Parsed::Head(head, end))
}

/// Reads what the headers say of the body; `None` when they contradict each other.
fn read_headers(status: u16, version: u8, headers: &[httparse::Header<'_>]) -> Option<Head> {
    let mut head =
        Head { status, keep: version >= 1, close: false, length: None, chunked: false, coded: false };
    for header in headers {
        match header.name.len() {
            10 if header.name.eq_ignore_ascii_case("connection") => connection(&mut head, header.value),
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                let length = number(header.value)?;
                if head.length.is_some_and(|before| before != length) {
                    return None;
                }
                head.length = Some(length);
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                head.coded = true;
                head.chunked = last_is_chunked(header.value);
            }
            _ => {}
        }
    }
    (!head.coded || head.length.is_none()).then_some(head)
}

fn connection(head: &mut Head, value: &[u8]) {
    for option in value.split(|&byte| byte == b',') {
        let option = option.trim_ascii();
        if option.eq_ignore_ascii_case(b"close") {
            head.close = true;
        } else if option.eq_ignore_ascii_case(b"keep-alive") {
            head.keep = true;
        }
    }
}

fn last_is_chunked(value: &[u8]) -> bool {
    let last = value.rsplit(|&byte| byte == b',').next();
    last.is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

/// Decimal digits and nothing else.
fn number(value: &[u8]) -> Option<u64> {
    let value = value.trim_ascii();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// An answer's status, its body's length and checksum, and how many bytes it took.
pub type Seen = (u16, u64, Option<u32>, usize);

/// Parses a stream of bytes as answers, cut at the given places, as the tests and the fuzz target see the parser.
/// Returns each answer, and how the stream ended.
pub fn read_all(bytes: &[u8], flags: RequestFlags, cuts: &[usize]) -> (Vec<Seen>, Result<(), Failure>) {
    let mut answers = Vec::new();
    let (mut memo, mut reply) = (Memo::default(), Reply::default());
    reply.begin(flags);
    let (mut at, mut taken, mut cut) = (0, 0, 0);
    while at < bytes.len() {
        while cuts.get(cut).is_some_and(|&cut| cut <= at) {
            cut += 1;
        }
        let until = cuts.get(cut).copied().unwrap_or(bytes.len()).min(bytes.len());
        match reply.feed(&mut memo, &bytes[at..until]) {
            Ok(Step::More) => {
                taken += until - at;
                at = until;
            }
            Ok(Step::Done { used }) => {
                answers.push((reply.status(), reply.body(), reply.crc32c(), taken + used));
                reply.begin(flags);
                at += used;
                taken = 0;
            }
            Err(failure) => return (answers, Err(failure)),
        }
    }
    if !reply.begun() {
        return (answers, Ok(()));
    }
    let end = reply.end();
    if end.is_ok() {
        answers.push((reply.status(), reply.body(), reply.crc32c(), taken));
    }
    (answers, end)
}
