//! The keys that a store of the user's holds beside those of a load: how many, and those that boxscore left there.
//!
//! Keys are counted by the store. Which of them are ours is found by `SCAN`, within a bound of time and of answers, in
//! database 0; memcached has no word for it. Nothing is changed, and no value is read.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::login::Login;

use crate::store_protocol::resp::{self, Piece};
use crate::store_protocol::{Junk, Scan, shown};

/// How every key of ours begins.
pub const PREFIX: &str = "boxscore:";
/// So long is looked, and so long an answer is waited for.
const SPAN: Duration = Duration::from_secs(1);
/// Keys that one question looks at, nearly.
const STEP: u32 = 1000;
const CHUNK: usize = 64 << 10;
/// Bytes of one answer: keys may be as long as values.
const MOST_ANSWER: usize = 64 << 20;
/// Said of bytes that are none of the protocol.
pub const JUNK: &str = "its answer is none of RESP";

/// Stores that this process has looked at: what they hold later may be our own.
static LOOKED: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

/// Keys of ours that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    keys: u64,
    /// Every key was looked at.
    is_all: bool,
}

/// A note on the `keys` that a store held when it was first looked at; `None` where it held none.
pub fn sentence(address: SocketAddr, speaks_resp: bool, login: Option<&Login>, keys: u64) -> Option<String> {
    // What is behind this lock is whole between two statements.
    let mut looked = LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
    if looked.contains(&address) {
        return None;
    }
    looked.push(address);
    drop(looked);
    let plural = if keys == 1 { "" } else { "s" };
    let held = format!(
        "the store held {keys} other key{plural} before, which share its memory and time; none of them is read, \
         changed or deleted"
    );
    let left = speaks_resp.then(|| scan(address, login));
    match (keys, left) {
        (0, _) => None,
        (_, None | Some(Ok(Left { keys: 0, is_all: true }))) => Some(held),
        (_, Some(Ok(Left { keys: 0, is_all: false }))) => Some(format!(
            "{held}; none that begins with `{PREFIX}` was found within {} s, and not all were looked at",
            SPAN.as_secs()
        )),
        (_, Some(Ok(left))) => Some(format!("{held}; {}", advice(address, left))),
        (_, Some(Err(why))) => {
            Some(format!("{held}; whether an earlier boxscore left some of them is not known: {why}"))
        }
    }
}

/// How many there are, and how to delete them.
fn advice(address: SocketAddr, left: Left) -> String {
    let cli = format!("redis-cli -h {} -p {}", address.ip(), address.port());
    let least = if left.is_all { "" } else { "at least " };
    format!(
        "of these {least}{} with the prefix `{PREFIX}`, as a boxscore that was killed leaves them; where no other one \
         uses the store, `{cli} --scan --pattern '{PREFIX}*' | xargs {cli} del` deletes them",
        left.keys
    )
}

/// Counts the keys of ours in database 0.
fn scan(address: SocketAddr, login: Option<&Login>) -> Result<Left, String> {
    let from_ns = sys::clock::now_ns();
    let mut asked = Asked::logged_in(address, login)?;
    let (mut cursor, mut keys) = (b"0".to_vec(), 0);
    loop {
        let words = format!(" MATCH {PREFIX}* COUNT {STEP}\r\n");
        let question = [&b"SCAN "[..], &cursor, words.as_bytes()].concat();
        let (next, found) = asked.turn(&question, batch)?;
        keys += found;
        cursor = next;
        if cursor == b"0" {
            return Ok(Left { keys, is_all: true });
        }
        if u128::from(sys::clock::now_ns().saturating_sub(from_ns)) >= SPAN.as_nanos() {
            return Ok(Left { keys, is_all: false });
        }
    }
}

/// A connection on which one thing is asked after the other.
pub struct Asked {
    stream: TcpStream,
    answer: Vec<u8>,
}

/// The result of parsing bytes: an answer, or `None` where more must come.
pub type Read<T> = Result<Option<T>, String>;

impl Asked {
    fn connect(address: SocketAddr) -> Result<Asked, String> {
        let stream = TcpStream::connect_timeout(&address, SPAN).map_err(|error| failed(&error))?;
        let limited = stream.set_read_timeout(Some(SPAN)).and(stream.set_write_timeout(Some(SPAN)));
        limited.map_err(|error| failed(&error))?;
        Ok(Asked { stream, answer: Vec::new() })
    }

    /// A connection on which the store was told who asks, where it is to be told.
    pub fn logged_in(address: SocketAddr, login: Option<&Login>) -> Result<Asked, String> {
        let mut asked = Asked::connect(address)?;
        match login {
            Some(login) if !asked.turn(&login.resp(), taken)? => Err("it refuses AUTH".to_owned()),
            _ => Ok(asked),
        }
    }

    /// Sends a question and reads until its answer has come. Fails where none comes.
    pub fn turn<T>(&mut self, question: &[u8], read: impl Fn(&[u8]) -> Read<T>) -> Result<T, String> {
        self.stream.write_all(question).map_err(|error| failed(&error))?;
        self.answer.clear();
        let mut chunk = vec![0; CHUNK];
        while self.answer.len() <= MOST_ANSWER {
            let count = self.stream.read(&mut chunk).map_err(|error| failed(&error))?;
            self.answer.extend_from_slice(chunk.get(..count).unwrap_or_default());
            match read(&self.answer)? {
                Some(answer) => return Ok(answer),
                None if count == 0 => return Err("it hung up within an answer".to_owned()),
                None => {}
            }
        }
        Err(format!("an answer of more than {MOST_ANSWER} B"))
    }
}

fn failed(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("no answer within {} s", SPAN.as_secs()),
        _ => error.to_string(),
    }
}

/// The piece of an answer that begins at `at`, which goes on behind it.
pub fn piece<'a>(bytes: &'a [u8], at: &mut usize) -> Read<Piece<'a>> {
    match resp::scan(bytes, *at) {
        Ok(Scan::Short { .. }) => Ok(None),
        Ok(Scan::Whole { item: Piece::Error(said), .. }) => Err(format!("it answers `{}`", shown(said))),
        Ok(Scan::Whole { item, used }) => {
            *at = used;
            Ok(Some(item))
        }
        Err(Junk) => Err(JUNK.to_owned()),
    }
}

/// True if a login was accepted. The words of a refusal may repeat it, so they are not shown.
fn taken(bytes: &[u8]) -> Read<bool> {
    match resp::scan(bytes, 0) {
        Ok(Scan::Short { .. }) => Ok(None),
        Ok(Scan::Whole { item, .. }) => Ok(Some(item == Piece::Status(b"OK"))),
        Err(Junk) => Ok(Some(false)),
    }
}

/// The next cursor, and how many keys came.
fn batch(bytes: &[u8]) -> Read<(Vec<u8>, u64)> {
    let at = &mut 0;
    match piece(bytes, at)? {
        None => return Ok(None),
        Some(Piece::Array(2)) => {}
        Some(_) => return Err(JUNK.to_owned()),
    }
    let cursor = match piece(bytes, at)? {
        None => return Ok(None),
        Some(Piece::Bulk(Some((_, cursor)))) => cursor,
        Some(_) => return Err(JUNK.to_owned()),
    };
    // As a store counts: a number of 64 bits.
    if cursor.is_empty() || cursor.len() > 20 || !cursor.iter().all(u8::is_ascii_digit) {
        return Err("its answer to SCAN has no cursor".to_owned());
    }
    let keys = match piece(bytes, at)? {
        None => return Ok(None),
        Some(Piece::Array(keys)) => keys,
        Some(_) => return Err(JUNK.to_owned()),
    };
    for _ in 0..keys {
        match piece(bytes, at)? {
            None => return Ok(None),
            Some(Piece::Bulk(Some(_))) => {}
            Some(_) => return Err(JUNK.to_owned()),
        }
    }
    Ok(Some((cursor.to_vec(), u64::from(keys))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_or_refused() {
        let read = |text: &str| batch(text.as_bytes());
        let two = "*2\r\n$2\r\n17\r\n*2\r\n$12\r\nboxscore:1:a\r\n$3\r\n\r\nb\r\n";
        assert_eq!(read(two), Ok(Some((b"17".to_vec(), 2))));
        assert_eq!(read("*2\r\n$1\r\n0\r\n*0\r\n"), Ok(Some((b"0".to_vec(), 0))));
        assert!(read("-NOPERM no\r\n").unwrap_err().contains("NOPERM"));
        for end in 0..two.len() {
            assert_eq!(read(&two[..end]), Ok(None), "{end}");
        }
        for bad in [
            "*2\r\n$1\r\nx\r\n*0\r\n",
            "*9\r\n",
            "HTTP/1.1 400\r\n",
            "*2\r\n$1\r\n0\r\n*99999999999\r\n",
            "*2\r\n*0\r\n",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(
            (taken(b"+OK\r\n"), taken(b"+O"), taken(b"-ERR `sesame`\r\n")),
            (Ok(Some(true)), Ok(None), Ok(Some(false)))
        );
    }

    #[test]
    fn what_is_left_is_told_with_what_deletes_it() {
        let address = "127.0.0.1:7".parse().unwrap();
        let said = advice(address, Left { keys: 5, is_all: false });
        assert!(said.starts_with("of these at least 5 with the prefix `boxscore:`"), "{said}");
        assert!(said.contains("redis-cli -h 127.0.0.1 -p 7 --scan --pattern 'boxscore:*' | xargs"), "{said}");
    }
}
