//! The bytes of a file whose lines have their offset and a tab in front of them, as Hadoop gives also those of a packed
//! file.
//!
//! Takes the offsets off and holds each against the bytes before it, so that what is left is the part of the file as it
//! was written. Lines of a log need not be copied for that: see `scan/keys`.

use std::io::{self, BufRead, BufReader, Read};

use memchr::memchr;

use crate::scan::keys;

/// Bytes that are read at a time.
const BUFFER: usize = 128 << 10;
/// Digits of the highest offset.
const MOST_DIGITS: usize = 20;

/// Where in a line the reader is.
enum Place {
    /// In its offset, of which these digits were read.
    Offset {
        digits: usize,
        value: u64,
    },
    Text,
}

impl Place {
    /// Before the next line.
    const NEXT: Place = Place::Offset { digits: 0, value: 0 };
}

/// Text whose lines have their offset and a tab in front of them.
pub struct Keyed<R> {
    from: BufReader<R>,
    lines: Lines,
}

impl<R: Read> Keyed<R> {
    pub fn new(from: R) -> Keyed<R> {
        let lines = Lines { place: Place::NEXT, has_begun: false, next: 0, line: 1 };
        Keyed { from: BufReader::with_capacity(BUFFER, from), lines }
    }
}

impl<R: Read> Read for Keyed<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        // Ends with the stream, or with what a block gives.
        loop {
            let block = self.from.fill_buf()?;
            if block.is_empty() || room.is_empty() {
                return Ok(0);
            }
            let (used, given) = self.lines.take(block, room)?;
            self.from.consume(used);
            if given > 0 {
                return Ok(given);
            }
        }
    }
}

/// The lines that were seen so far.
struct Lines {
    place: Place,
    /// True once the first line was met.
    has_begun: bool,
    /// Where the next line begins, by the bytes before it.
    next: u64,
    /// From 1, of the line that the reader is in.
    line: u64,
}

impl Lines {
    /// Copies the text of a block into the room; the bytes that were used of both.
    fn take(&mut self, block: &[u8], room: &mut [u8]) -> io::Result<(usize, usize)> {
        let (mut used, mut given) = (0, 0);
        while used < block.len() && given < room.len() {
            let rest = &block[used..];
            if let Place::Offset { digits, value } = self.place {
                used += self.offset(rest, digits, value)?;
                continue;
            }
            let count = self.text(&rest[..rest.len().min(room.len() - given)]);
            room[given..given + count].copy_from_slice(&rest[..count]);
            used += count;
            given += count;
        }
        Ok((used, given))
    }

    fn wrong(&self, what: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {what}", self.line))
    }

    /// Reads on in an offset, of which so many digits were read; how many bytes of it there are.
    fn offset(&mut self, bytes: &[u8], mut digits: usize, mut value: u64) -> io::Result<usize> {
        for (place, byte) in bytes.iter().enumerate() {
            if *byte == b'\t' && digits > 0 {
                self.begins(value)?;
                return Ok(place + 1);
            }
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
            let longer = digit.and_then(|digit| value.checked_mul(10)?.checked_add(digit));
            let longer = longer.filter(|_| digits < MOST_DIGITS);
            value = longer.ok_or_else(|| self.wrong(keys::MISSING))?;
            digits += 1;
        }
        self.place = Place::Offset { digits, value };
        Ok(bytes.len())
    }

    /// A line begins at this offset.
    fn begins(&mut self, offset: u64) -> io::Result<()> {
        if !self.has_begun {
            self.has_begun = true;
            self.next = offset;
        }
        if offset != self.next {
            let what = keys::misplaced(offset, self.next);
            return Err(self.wrong(&what));
        }
        self.place = Place::Text;
        Ok(())
    }

    /// Takes what follows of a line's text; how many bytes that is.
    fn text(&mut self, bytes: &[u8]) -> usize {
        let end = memchr(b'\n', bytes);
        let count = end.map_or(bytes.len(), |end| end + 1);
        self.next = self.next.saturating_add(count as u64);
        if end.is_some() {
            self.place = Place::NEXT;
            self.line += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// The lines, with offsets from this one on.
    fn keyed(text: &str, start: u64) -> String {
        let mut at = start;
        let line = |line: &str| {
            let keyed = format!("{at}\t{line}");
            at += line.len() as u64;
            keyed
        };
        text.split_inclusive('\n').map(line).collect()
    }

    /// Reads in rooms of so many bytes.
    fn read(text: &str, room: usize) -> io::Result<String> {
        let mut from = Keyed::new(Cursor::new(text.to_owned()));
        let (mut all, mut room) = (Vec::new(), vec![0; room]);
        loop {
            match from.read(&mut room)? {
                0 => return Ok(String::from_utf8(all).unwrap()),
                count => all.extend_from_slice(&room[..count]),
            }
        }
    }

    #[test]
    fn what_is_left_is_the_file() {
        for text in ["a b\tc\n\n12\t\nlast\n", "one\r\ntwo", "\n", "x"] {
            for (start, room) in [(0, 1), (7, 2), (1 << 40, 3), (99, 4096)] {
                assert_eq!(read(&keyed(text, start), room).unwrap(), text, "{room}");
            }
        }
        assert_eq!(read("", 10).unwrap(), "");
    }

    #[test]
    fn a_line_out_of_place_is_refused_with_its_number() {
        for (text, line, word) in [
            ("0\tab\n4\tcd\n", 2, "its offset is 4, and the lines before it end at 3"),
            ("0\tab\n2\tcd\n", 2, "its offset is 2"),
            ("10.0.0.1 - - x\n", 1, "no offset and tab"),
            ("\tab\n", 1, "no offset and tab"),
            ("0\tab\n\tcd\n", 2, "no offset and tab"),
            ("99999999999999999999999\tab\n", 1, "no offset and tab"),
            ("0\tab\n9999999999999999999\tcd\n", 2, "its offset is 9999999999999999999"),
            ("0\tab\n18446744073709551615\tcd\n", 2, "its offset is 18446744073709551615"),
            ("0\tab\n18446744073709551616\tcd\n", 2, "no offset and tab"),
        ] {
            let error = read(text, 64).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("line {line}: ")) && error.contains(word),
                "{text:?}: {error}"
            );
        }
    }
}
