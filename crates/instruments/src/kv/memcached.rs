//! memcached's classic text protocol: a line a request, values with their length before them.
//!
//! Pure over bytes. A miss is an answer without the value. Not used: the meta commands, which servers before 1.6 lack.

use super::wire::{Answer, Asked, Course, Failure, Scan, Wire, length, line, push_number, shown};

const MOST_KEY: usize = 250;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memcached;

/// One piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Where the value begins, and the value.
    Value(usize, &'a [u8]),
    /// A line of statistics.
    Stat,
    End,
    Stored,
    Deleted,
    NotFound,
    Error(&'a [u8]),
}

/// What is not of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Junk;

/// The piece that begins at `from`.
pub fn scan(bytes: &[u8], from: usize) -> Result<Scan<Piece<'_>>, Junk> {
    let (head, used) = match line(bytes, from).map_err(|()| Junk)? {
        Scan::Short { least } => {
            return match bytes.get(from) {
                Some(b'A'..=b'Z') | None => Ok(Scan::Short { least }),
                Some(_) => Err(Junk),
            };
        }
        Scan::Whole { item, used } => (item, used),
    };
    let item = match head {
        b"END" => Piece::End,
        b"STORED" => Piece::Stored,
        b"DELETED" => Piece::Deleted,
        b"NOT_FOUND" => Piece::NotFound,
        b"ERROR" => Piece::Error(head),
        _ if head.starts_with(b"CLIENT_ERROR") || head.starts_with(b"SERVER_ERROR") => Piece::Error(head),
        _ if head.starts_with(b"STAT ") => Piece::Stat,
        _ => return value(bytes, head, used),
    };
    Ok(Scan::Whole { item, used })
}

/// `VALUE key flags bytes`, and after it the value in a line of its own.
fn value<'a>(bytes: &'a [u8], head: &[u8], used: usize) -> Result<Scan<Piece<'a>>, Junk> {
    let mut words = head.split(|byte| *byte == b' ');
    let (kind, key, flags, size) = (words.next(), words.next(), words.next(), words.next());
    if kind != Some(b"VALUE") || key.is_none_or(<[u8]>::is_empty) || words.next().is_some() {
        return Err(Junk);
    }
    flags.and_then(length).ok_or(Junk)?;
    let size = size.and_then(length).ok_or(Junk)?;
    let end = used + usize::try_from(size).map_err(|_| Junk)? + 2;
    match bytes.get(used..end) {
        Some(body) => match body.split_last_chunk::<2>() {
            Some((value, b"\r\n")) => Ok(Scan::Whole { item: Piece::Value(used, value), used: end }),
            _ => Err(Junk),
        },
        None => Ok(Scan::Short { least: end }),
    }
}

/// What an error answer means.
#[must_use]
pub fn error(text: &[u8]) -> Failure {
    let has = |part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
    match shown(text) {
        said if has("too large") => Failure::TooLarge(said),
        said if has("out of memory") || has("Out of memory") => Failure::Memory(said),
        said if has("unauthenticated") => Failure::Auth(said),
        said => Failure::Refused(said),
    }
}

impl Memcached {
    fn junk(bytes: &[u8], at: usize) -> Failure {
        Failure::Junk { protocol: "memcached", text: shown(bytes.get(at..).unwrap_or_default()) }
    }
}

/// What a piece does to the answer.
enum Sense {
    More,
    Done,
    Wrong,
}

fn note(asked: Asked, course: &mut Course, piece: Piece<'_>) -> Result<Sense, Failure> {
    let nth = course.pieces;
    let last = |count: u32| if nth + 1 == count { Sense::Done } else { Sense::More };
    let answer: &mut Answer = &mut course.answer;
    Ok(match (asked, piece) {
        (_, Piece::Error(text)) => return Err(error(text)),
        (Asked::Get(keys), Piece::Value(from, value)) => {
            answer.count += 1;
            answer.bytes += value.len() as u64;
            answer.last = (from, from + value.len());
            if answer.count > keys { Sense::Wrong } else { Sense::More }
        }
        (Asked::Get(_), Piece::End) => Sense::Done,
        (Asked::Set(count), Piece::Stored) => {
            answer.count += 1;
            last(count)
        }
        (Asked::Delete(count), Piece::Deleted) => {
            answer.count += 1;
            last(count)
        }
        (Asked::Delete(count), Piece::NotFound) => last(count),
        (Asked::Text, Piece::Stat) => Sense::More,
        (Asked::Text, Piece::End) => {
            answer.last = (0, course.at);
            Sense::Done
        }
        _ => Sense::Wrong,
    })
}

impl Wire for Memcached {
    fn name(&self) -> &'static str {
        "memcached"
    }

    fn most_key(&self) -> usize {
        MOST_KEY
    }

    fn get(&self, out: &mut Vec<u8>, keys: &mut dyn ExactSizeIterator<Item = &[u8]>) {
        out.extend_from_slice(b"get");
        for key in keys {
            out.push(b' ');
            out.extend_from_slice(key);
        }
        out.extend_from_slice(b"\r\n");
    }

    fn set(&self, out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        out.extend_from_slice(b"set ");
        out.extend_from_slice(key);
        out.extend_from_slice(b" 0 0 ");
        push_number(out, value.len() as u64);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }

    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        out.extend_from_slice(b"delete ");
        out.extend_from_slice(key);
        out.extend_from_slice(b"\r\n");
    }

    fn wait(&self, _: &mut Vec<u8>, _: u32, _: u64) -> bool {
        false
    }

    fn text(&self, out: &mut Vec<u8>, part: &str) {
        out.extend_from_slice(b"stats");
        if !part.is_empty() {
            out.push(b' ');
            out.extend_from_slice(part.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }

    fn read(&self, asked: Asked, bytes: &[u8], course: &mut Course) -> Result<Option<usize>, Failure> {
        loop {
            match scan(bytes, course.at) {
                Ok(Scan::Short { least }) => return Ok(Some(least)),
                Ok(Scan::Whole { item, used }) => {
                    let sense = note(asked, course, item)?;
                    let before = course.at;
                    (course.at, course.pieces) = (used, course.pieces + 1);
                    match sense {
                        Sense::More => {}
                        Sense::Done if used == bytes.len() => return Ok(None),
                        Sense::Done => return Err(Memcached::junk(bytes, used)),
                        Sense::Wrong => return Err(Memcached::junk(bytes, before)),
                    }
                }
                Err(Junk) => return Err(Memcached::junk(bytes, course.at)),
            }
        }
    }
}
