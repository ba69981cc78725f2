//! What a store of the user's holds beside what is written to it: how many keys, and those that boxscore left there.
//!
//! Keys are counted by the store. Which of them are ours is found by `SCAN`, within a bound of time and of answers, in
//! database 0; memcached has no word for it. Nothing is changed, and no value is read.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::login::Login;

/// How every key of ours begins.
pub const PREFIX: &str = "boxscore:";
/// So long is looked, and so long an answer is waited for.
const SPAN: Duration = Duration::from_secs(1);
/// Keys that one question looks at, nearly.
const STEP: u32 = 1000;
const MOST_LINE: u64 = 64 << 10;
const MOST_ITEMS: u64 = 1 << 20;

/// Stores that this process has looked at: what they hold later may be our own.
static LOOKED: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

/// Keys of ours that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    keys: u64,
    /// Every key was looked at.
    is_all: bool,
}

/// What is to be said of the `keys` that a store held when it was first looked at; nothing where it held none.
#[must_use]
pub fn said(address: SocketAddr, speaks_resp: bool, login: Option<&Login>, keys: u64) -> Option<String> {
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
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("no answer within {} s", SPAN.as_secs()),
        _ => error.to_string(),
    };
    let stream = TcpStream::connect_timeout(&address, SPAN).map_err(failed)?;
    stream.set_read_timeout(Some(SPAN)).map_err(failed)?;
    stream.set_write_timeout(Some(SPAN)).map_err(failed)?;
    let mut from = BufReader::new(stream);
    if let Some(login) = login {
        from.get_mut().write_all(&login.resp()).map_err(failed)?;
        if line(&mut from).map_err(failed)? != "+OK" {
            return Err("it refuses AUTH".to_owned());
        }
    }
    let (mut cursor, mut keys) = ("0".to_owned(), 0);
    loop {
        let question = format!("SCAN {cursor} MATCH {PREFIX}* COUNT {STEP}\r\n");
        from.get_mut().write_all(question.as_bytes()).map_err(failed)?;
        let (next, found) = batch(&mut from).map_err(failed)?;
        keys += found;
        cursor = next;
        if cursor == "0" {
            return Ok(Left { keys, is_all: true });
        }
        if u128::from(sys::clock::now_ns().saturating_sub(from_ns)) >= SPAN.as_nanos() {
            return Ok(Left { keys, is_all: false });
        }
    }
}

fn junk(what: &str) -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, what.to_owned())
}

fn line(from: &mut impl std::io::BufRead) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MOST_LINE).read_until(b'\n', &mut bytes)?;
    match bytes.strip_suffix(b"\r\n").map(<[u8]>::to_vec).map(String::from_utf8) {
        Some(Ok(line)) => match line.strip_prefix('-') {
            Some(refused) => Err(junk(&format!("it answers `{refused}`"))),
            None => Ok(line),
        },
        _ => Err(junk("its answer to SCAN is none of RESP")),
    }
}

/// The number behind a letter on a line of its own.
fn count(from: &mut impl std::io::BufRead, letter: char, most: u64) -> std::io::Result<u64> {
    let line = line(from)?;
    let number = line.strip_prefix(letter).and_then(|text| text.parse::<u64>().ok());
    number.filter(|number| *number <= most).ok_or_else(|| junk("its answer to SCAN is none of RESP"))
}

/// The next cursor, and how many keys came.
fn batch(from: &mut impl std::io::BufRead) -> std::io::Result<(String, u64)> {
    count(from, '*', 2)?;
    count(from, '$', 20)?;
    let cursor = line(from)?;
    if cursor.is_empty() || !cursor.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(junk("its answer to SCAN has no cursor"));
    }
    let keys = count(from, '*', MOST_ITEMS)?;
    for _ in 0..keys {
        let bytes = count(from, '$', 512 << 20)? + 2;
        if std::io::copy(&mut from.by_ref().take(bytes), &mut std::io::sink())? < bytes {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok((cursor, keys))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_or_refused() {
        let read = |text: &str| batch(&mut text.as_bytes()).map_err(|error| error.to_string());
        let two = "*2\r\n$2\r\n17\r\n*2\r\n$12\r\nboxscore:1:a\r\n$3\r\n\r\nb\r\n";
        assert_eq!(read(two), Ok(("17".to_owned(), 2)));
        assert_eq!(read("*2\r\n$1\r\n0\r\n*0\r\n"), Ok(("0".to_owned(), 0)));
        assert!(read("-NOPERM no\r\n").unwrap_err().contains("NOPERM"));
        for end in 0..two.len() {
            assert!(read(&two[..end]).is_err(), "{end}");
        }
        for bad in
            ["*2\r\n$1\r\nx\r\n*0\r\n", "*9\r\n", "HTTP/1.1 400\r\n", "*2\r\n$1\r\n0\r\n*99999999999\r\n"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_left_is_told_with_what_deletes_it() {
        let address = "127.0.0.1:7".parse().unwrap();
        let said = advice(address, Left { keys: 5, is_all: false });
        assert!(said.starts_with("of these at least 5 with the prefix `boxscore:`"), "{said}");
        assert!(said.contains("redis-cli -h 127.0.0.1 -p 7 --scan --pattern 'boxscore:*' | xargs"), "{said}");
    }
}
