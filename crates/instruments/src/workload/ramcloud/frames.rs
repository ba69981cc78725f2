//! The frames that go between boxscore and its helper in C (`helper.c` is the other end).
//!
//! Pure over bytes. A frame is the length of the rest (u32), its kind (one byte) and its body; numbers have this
//! machine's byte order, since both ends are on it. Times are nanoseconds of CLOCK_MONOTONIC.

use super::status::Trouble;

/// The version of the frames; both ends must have the same.
pub const VERSION: u64 = 2;
/// A batch has no more requests.
pub const MOST_REQUESTS: usize = 65_536;
/// RAMCloud takes no larger object, in bytes.
pub const MOST_VALUE: usize = 1 << 20;
/// Of a failure that is not RAMCloud's.
const NO_STATUS: u32 = u32::MAX;
/// Bytes of one outcome.
const OUTCOME: usize = 32;
/// No frame of the helper is longer, in bytes: all outcomes of a batch, and a value.
pub const MOST_FRAME: usize = 64 + MOST_REQUESTS * OUTCOME + MOST_VALUE;

/// The operation of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read = 0,
    Write = 1,
    Remove = 2,
    /// All keys by one request.
    MultiRead = 3,
    /// The same value under all keys, by one request.
    MultiWrite = 4,
}

impl Kind {
    /// The function of the library that does it.
    pub fn call(self) -> &'static str {
        match self {
            Kind::Read => "rc_read",
            Kind::Write => "rc_write",
            Kind::Remove => "rc_remove",
            Kind::MultiRead => "rc_multiRead",
            Kind::MultiWrite => "rc_multiWrite",
        }
    }

    pub fn is_write(self) -> bool {
        matches!(self, Kind::Write | Kind::MultiWrite)
    }
}

/// Requests of one kind. They end early when `limit_ns` has passed, after a multiple of `step` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'a> {
    pub kind: Kind,
    /// True if the value that came last is wanted too.
    pub wanted: bool,
    pub repeat: u32,
    pub step: u32,
    /// Bytes that are kept of each value of a multi-read.
    pub each: u32,
    pub limit_ns: u64,
    pub count: u32,
    /// As [`push_key`] wrote them.
    pub keys: &'a [u8],
}

/// One request as it went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub begin_ns: u64,
    pub end_ns: u64,
    pub status: u32,
    /// Objects that came, were written or removed.
    pub good: u32,
    /// Of the values that came.
    pub bytes: u64,
}

impl Outcome {
    pub fn ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }
}

/// A frame from the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done(u64),
    Made { outcomes: Vec<Outcome>, value: Vec<u8> },
    Failed(Trouble),
}

/// Appends a key to those of a batch; `false` where it is longer than RAMCloud allows.
pub fn push_key(keys: &mut Vec<u8>, key: &[u8]) -> bool {
    let Ok(length) = u16::try_from(key.len()) else { return false };
    keys.extend_from_slice(&length.to_ne_bytes());
    keys.extend_from_slice(key);
    true
}

/// Where the nth key begins; the end of all of them where there are fewer.
pub fn skip_keys(keys: &[u8], count: usize) -> usize {
    let mut at = 0;
    for _ in 0..count {
        let Some(length) = keys.get(at..).and_then(<[u8]>::first_chunk::<2>) else { return keys.len() };
        at += 2 + usize::from(u16::from_ne_bytes(*length));
    }
    at.min(keys.len())
}

fn frame(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.clear();
    out.extend_from_slice(&[0; 4]);
    out.push(kind);
    body(out);
    let rest = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
    if let Some(place) = out.first_chunk_mut::<4>() {
        *place = rest.to_ne_bytes();
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    // Who reads the user's words allows no longer ones.
    let bytes = text.as_bytes();
    let bytes = bytes.get(..bytes.len().min(usize::from(u16::MAX))).unwrap_or_default();
    push_key(out, bytes);
}

pub fn connect(out: &mut Vec<u8>, locator: &str, cluster: &str) {
    frame(out, b'C', |out| {
        text(out, locator);
        text(out, cluster);
    });
}

/// Of a table: `T` makes and uses it, `G` uses it, `D` drops it.
pub fn table(out: &mut Vec<u8>, kind: u8, name: &str) {
    frame(out, kind, |out| text(out, name));
}

/// Sets the value that later writes store.
pub fn value(out: &mut Vec<u8>, value: &[u8]) {
    frame(out, b'V', |out| {
        out.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_ne_bytes());
        out.extend_from_slice(value);
    });
}

pub fn batch(out: &mut Vec<u8>, batch: &Batch<'_>) {
    frame(out, b'B', |out| {
        out.extend_from_slice(&[batch.kind as u8, u8::from(batch.wanted)]);
        for number in [batch.repeat, batch.step, batch.each] {
            out.extend_from_slice(&number.to_ne_bytes());
        }
        out.extend_from_slice(&batch.limit_ns.to_ne_bytes());
        out.extend_from_slice(&batch.count.to_ne_bytes());
        out.extend_from_slice(batch.keys);
    });
}

pub fn quit(out: &mut Vec<u8>) {
    frame(out, b'Q', |_| ());
}

/// A frame that is taken apart.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(part)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(usize::try_from(length).ok()?)
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn outcome(&mut self) -> Option<Outcome> {
        let (begin_ns, end_ns) = (self.u64()?, self.u64()?);
        Some(Outcome { begin_ns, end_ns, status: self.u32()?, good: self.u32()?, bytes: self.u64()? })
    }
}

/// Parses a frame, without its length; `None` where it is none of the helper's.
pub fn reply(rest: &[u8]) -> Option<Reply> {
    let (kind, body) = rest.split_first()?;
    let mut parts = Parts(body);
    let reply = match kind {
        b'O' => Reply::Done(parts.u64()?),
        b'R' => {
            let count = usize::try_from(parts.u32()?).ok().filter(|count| *count <= MOST_REQUESTS)?;
            let outcomes = (0..count).map(|_| parts.outcome()).collect::<Option<Vec<Outcome>>>()?;
            Reply::Made { outcomes, value: parts.bytes()?.to_vec() }
        }
        b'E' => {
            let status = parts.u32()?;
            let (call, text) = (parts.text()?, parts.text()?);
            Reply::Failed(match status {
                NO_STATUS => Trouble::Load(text),
                code => Trouble::Status { call, code },
            })
        }
        _ => return None,
    };
    parts.0.is_empty().then_some(reply)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_have_their_length_first() {
        let mut out = Vec::new();
        connect(&mut out, "tcp:host=a,port=1", "main");
        let rest = u32::from_ne_bytes(*out.first_chunk().unwrap());
        assert_eq!((rest as usize, out[4]), (out.len() - 4, b'C'));
        assert_eq!(out.len(), 4 + 1 + 2 + 17 + 2 + 4);
        let mut keys = Vec::new();
        assert!(
            push_key(&mut keys, b"abc") && push_key(&mut keys, b"") && !push_key(&mut keys, &[0; 65_536])
        );
        assert_eq!([0, 1, 2, 3].map(|count| skip_keys(&keys, count)), [0, 5, 7, 7]);
        let of = Batch {
            kind: Kind::Write,
            wanted: false,
            repeat: 1,
            step: 1,
            each: 0,
            limit_ns: 7,
            count: 2,
            keys: &keys,
        };
        batch(&mut out, &of);
        assert_eq!(out.len(), 4 + 1 + 2 + 12 + 8 + 4 + keys.len());
    }

    fn made(outcomes: &[Outcome], value: &[u8]) -> Vec<u8> {
        let mut rest = vec![b'R'];
        rest.extend_from_slice(&(outcomes.len() as u32).to_ne_bytes());
        for one in outcomes {
            rest.extend_from_slice(&one.begin_ns.to_ne_bytes());
            rest.extend_from_slice(&one.end_ns.to_ne_bytes());
            rest.extend_from_slice(&one.status.to_ne_bytes());
            rest.extend_from_slice(&one.good.to_ne_bytes());
            rest.extend_from_slice(&one.bytes.to_ne_bytes());
        }
        rest.extend_from_slice(&(value.len() as u32).to_ne_bytes());
        rest.extend_from_slice(value);
        rest
    }

    #[test]
    fn lengths_are_not_believed() {
        let one = Outcome { begin_ns: 5, end_ns: 12, status: 3, good: 0, bytes: 0 };
        let rest = made(&[one], b"xyz");
        assert_eq!(one.ns(), 7);
        assert_eq!(reply(&rest), Some(Reply::Made { outcomes: vec![one], value: b"xyz".to_vec() }));
        for end in 0..rest.len() {
            assert_eq!(reply(&rest[..end]), None, "{end}");
        }
        assert_eq!(reply(&[rest.as_slice(), b"x"].concat()), None);
        let mut many = rest;
        many[1..5].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(reply(&many), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, kind in prop::sample::select(b"ORE".to_vec())) {
            let _any = reply(&bytes);
            let _any = reply(&[&[kind], bytes.as_slice()].concat());
            let _any = skip_keys(&bytes, 3);
        }
    }
}
