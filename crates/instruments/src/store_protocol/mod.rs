//! The protocols of key-value stores: RESP2 and memcached's text protocol.
//!
//! Input: keys and values, and bytes that a store sent. Output: requests in a buffer, the lines and
//! pieces of answers, and the kind of an error answer. Pure: no socket, no clock, and requests allocate nothing once
//! the buffer has its size. Two clients use it: `bench/kv`, which asks one thing at a time and keeps its answer, and
//! `load/store_client`, which reads answers as they stream by and keeps no value.

pub mod memcached;
pub mod resp;

/// No line of an answer is longer, in bytes.
pub const MOST_LINE: usize = 64 << 10;
/// No value is longer, in bytes: what announces more is no answer to what was asked.
pub const MOST_VALUE: u64 = 64 << 20;

/// Bytes that are no answer of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Junk;

/// The next piece of an answer, if it has come as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan<T> {
    /// It has not: there must be at least this many bytes.
    Short { least: usize },
    /// The piece, and where the next one begins.
    Whole { item: T, used: usize },
}

/// The line that begins at `from`, without its end. Fails where it is longer than [`MOST_LINE`] or ends without `\r`.
pub fn line(bytes: &[u8], from: usize) -> Result<Scan<&[u8]>, Junk> {
    let rest = bytes.get(from..).unwrap_or_default();
    match memchr::memchr(b'\n', rest.get(..rest.len().min(MOST_LINE)).unwrap_or_default()) {
        Some(end) => match rest.get(..end).and_then(|line| line.strip_suffix(b"\r")) {
            Some(line) => Ok(Scan::Whole { item: line, used: from + end + 1 }),
            None => Err(Junk),
        },
        None if rest.len() >= MOST_LINE => Err(Junk),
        None => Ok(Scan::Short { least: bytes.len() + 1 }),
    }
}

/// The value of `size` bytes that begins at `from`, and `\r\n` behind it.
fn value(bytes: &[u8], from: usize, size: u64) -> Result<Scan<&[u8]>, Junk> {
    let end = from + usize::try_from(size).map_err(|_| Junk)? + 2;
    match bytes.get(from..end).map(<[u8]>::split_last_chunk::<2>) {
        Some(Some((item, b"\r\n"))) => Ok(Scan::Whole { item, used: end }),
        Some(_) => Err(Junk),
        None => Ok(Scan::Short { least: end }),
    }
}

/// A number of decimal digits alone.
pub fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

/// A length in digits, of at most [`MOST_VALUE`].
pub fn length(digits: &[u8]) -> Option<u64> {
    number(digits).filter(|length| *length <= MOST_VALUE)
}

/// The beginning of some bytes, as one printable line.
pub fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 80;
    let head = bytes.get(..bytes.len().min(MOST)).unwrap_or_default();
    let dots = if bytes.len() > MOST { "..." } else { "" };
    format!("{}{dots}", head.trim_ascii_end().escape_ascii())
}

/// Digits of a number, without allocating.
pub fn push_number(out: &mut Vec<u8>, number: usize) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut left = number;
    // Twenty digits hold every usize.
    while at > 0 {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_digits() {
        assert_eq!(length(b"1048576"), Some(1 << 20));
        for bad in [&b""[..], b"-1", b"1a", b"99999999999", b"99999999", b" 1"] {
            assert_eq!(length(bad), None, "{}", shown(bad));
        }
    }

    #[test]
    fn lines_end_with_both_characters() {
        assert_eq!(line(b"ab\r\ncd", 0), Ok(Scan::Whole { item: &b"ab"[..], used: 4 }));
        assert_eq!(line(b"ab\r\ncd", 4), Ok(Scan::Short { least: 7 }));
        assert_eq!(line(b"ab\n", 0), Err(Junk));
        assert_eq!(line(&vec![b'x'; MOST_LINE], 0), Err(Junk));
        assert_eq!(line(b"", 9), Ok(Scan::Short { least: 1 }));
    }

    #[test]
    fn numbers_are_written_in_digits() {
        for value in [0, 7, 10, 1_048_576, usize::MAX] {
            let mut number = b"x".to_vec();
            push_number(&mut number, value);
            assert_eq!(String::from_utf8_lossy(&number), format!("x{value}"));
        }
    }
}
