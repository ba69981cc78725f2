//! A part as a line of text: its key, a tab, then a word of version, checksum and aggregate (postcard, zstd, base64).
//!
//! A tab and a line feed are in no other place of it, so that anything that sorts lines by a first word can carry it.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Key, Part, PartError};
use crate::aggregate::file;
use crate::hash;

const MARK: &str = "boxscore-logs-";
/// In place of a part: why there is none.
const FAILED: &str = "boxscore-failed:";
/// Raised whenever what stands around the aggregate changes; the aggregate has a version of its own.
const VERSION: u16 = 2;
/// Fast to make: what is packed travels once.
const LEVEL: i32 = 3;
/// Bytes of the longest line, and of a part unpacked. Groups by names that are very long may exceed them.
pub const LONGEST: usize = 256 << 20;
const LONGEST_UNPACKED: usize = 512 << 20;

fn version() -> String {
    format!("{}.{VERSION}", file::VERSION)
}

/// The line, without its line feed. Fails if the part is too large.
pub(super) fn write(key: &Key, part: &Part) -> Result<String, PartError> {
    let key = key.to_string();
    let body = postcard::to_stdvec(part).map_err(|error| PartError::Damaged(error.to_string()))?;
    if body.len() > LONGEST_UNPACKED {
        return Err(too_large(&key, body.len(), LONGEST_UNPACKED));
    }
    let packed = zstd::bulk::compress(&body, LEVEL).map_err(|error| PartError::Damaged(error.to_string()))?;
    let line = format!("{key}\t{MARK}{}:{:016x}:{}", version(), sum(&key, &packed), STANDARD.encode(&packed));
    match line.len() {
        length if length > LONGEST => Err(too_large(&key, length, LONGEST)),
        _ => Ok(line),
    }
}

fn too_large(key: &str, bytes: usize, most: usize) -> PartError {
    let mib = |bytes: usize| bytes.div_ceil(1 << 20);
    PartError::TooLarge(format!(
        "{key} has {} MiB, and {} MiB are the most: group by a property with fewer or shorter values",
        mib(bytes),
        mib(most)
    ))
}

/// Of the key too, so that a part stays with its own.
fn sum(key: &str, packed: &[u8]) -> u64 {
    hash::mix(hash::name(key.as_bytes()), hash::name(packed))
}

/// True if a line that begins so may be one of these.
pub(super) fn is_begun_by(start: &[u8]) -> bool {
    cut(start, b'\t').is_some_and(|(_, word)| word.starts_with(MARK.as_bytes()))
}

/// A line that says why there is no part.
pub(super) fn failure(what: &str) -> String {
    let what: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("-\t{FAILED}{what}")
}

/// Key, checksum and the aggregate as text.
fn split(line: &[u8]) -> Result<(Key, u64, &[u8]), PartError> {
    let (key, word) = cut(line, b'\t').ok_or(PartError::Foreign)?;
    if let Some(what) = word.strip_prefix(FAILED.as_bytes()) {
        return Err(PartError::Failed(String::from_utf8_lossy(what).into_owned()));
    }
    let rest = word.strip_prefix(MARK.as_bytes()).ok_or(PartError::Foreign)?;
    let (theirs, rest) = cut(rest, b':').ok_or(PartError::Foreign)?;
    let ours = version();
    if theirs != ours.as_bytes() {
        let theirs: String =
            String::from_utf8_lossy(theirs).chars().take(20).flat_map(char::escape_debug).collect();
        return Err(PartError::Version { ours, theirs });
    }
    let damaged = |what: &str| PartError::Damaged(what.to_owned());
    let (digits, text) = cut(rest, b':').ok_or_else(|| damaged("it ends in its head"))?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 16);
    let sum = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let sum = sum.ok_or_else(|| damaged("its checksum is no number"))?;
    let key = std::str::from_utf8(key).ok().and_then(Key::parse);
    Ok((key.ok_or_else(|| damaged("its key is none"))?, sum, text))
}

/// The bytes before and behind the first of these.
fn cut(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(at, bytes)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

/// The key and the part of a line. Fails for other, damaged and impossible contents.
pub(super) fn read(line: &[u8]) -> Result<(Key, Part), PartError> {
    let damaged = |what: String| PartError::Damaged(what);
    let (key, expected, text) = split(line)?;
    let packed = STANDARD.decode(text).map_err(|error| damaged(format!("no base64 ({error})")))?;
    if sum(&key.to_string(), &packed) != expected {
        return Err(damaged("its checksum is another one".to_owned()));
    }
    let part = unpacked(&packed, LONGEST_UNPACKED)?;
    part.check(&key)?;
    Ok((key, part))
}

fn unpacked(packed: &[u8], most: usize) -> Result<Part, PartError> {
    let damaged = |what: String| PartError::Damaged(what);
    let decoder = zstd::stream::read::Decoder::new(packed).map_err(|error| damaged(error.to_string()))?;
    let mut body = Vec::new();
    let read = decoder.take(most as u64 + 1).read_to_end(&mut body);
    read.map_err(|error| damaged(error.to_string()))?;
    if body.len() > most {
        return Err(PartError::TooLarge(format!("over {} MiB unpacked", most >> 20)));
    }
    match postcard::take_from_bytes::<Part>(&body) {
        Ok((part, [])) => Ok(part),
        Ok(_) => Err(damaged("bytes behind the end".to_owned())),
        Err(error) => Err(damaged(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Of;

    fn line() -> String {
        write(&Key::new("a b", Of::Whole), &Part::default()).unwrap()
    }

    /// With a checksum that is right.
    fn with_body(body: &[u8]) -> String {
        let packed = zstd::bulk::compress(body, LEVEL).unwrap();
        let (version, sum) = (version(), sum("x/whole", &packed));
        format!("x/whole\t{MARK}{version}:{sum:016x}:{}", STANDARD.encode(packed))
    }

    #[test]
    fn a_line_is_read_back_and_has_one_tab() {
        let (key, part) = read(line().as_bytes()).unwrap();
        assert_eq!((key.to_string().as_str(), line().matches(['\t', '\n', ' ']).count()), ("a%20b/whole", 1));
        assert_eq!(write(&key, &part).unwrap(), line());
    }

    #[test]
    fn other_lines_are_refused_with_the_reason() {
        let of = |text: String| read(text.as_bytes()).unwrap_err().to_string();
        for foreign in ["", "a\tb", "10.0.0.1 - -", "x/whole\tboxscore-logs-"] {
            assert!(of(foreign.to_owned()).starts_with("no line of `boxscore logs map`"), "{foreign}");
        }
        let newer = of(line().replace(&format!("{MARK}{}", version()), &format!("{MARK}99.1")));
        assert!(newer.contains("another version (its parts are version 99.1, these are "), "{newer}");
        for (text, word) in [
            (line().replacen("a%20b", "ab", 1), "its checksum is another one"),
            (line().replacen("/whole", "/hole", 1), "its key is none"),
            (line()[..line().len() - 4].to_owned(), "checksum"),
            (line() + "!", "no base64"),
            (with_body(b"\x01"), "damaged"),
            (
                with_body(&[postcard::to_stdvec(&Part::default()).unwrap(), vec![0]].concat()),
                "behind the end",
            ),
        ] {
            assert!(of(text).contains(word), "{word}");
        }
    }

    #[test]
    fn what_would_unpack_beyond_bounds_is_not_unpacked() {
        let bomb = zstd::bulk::compress(&vec![0; (8 << 20) + 1], LEVEL).unwrap();
        assert!(bomb.len() < 10_000);
        let error = unpacked(&bomb, 8 << 20).unwrap_err().to_string();
        assert_eq!(error, "too large: over 8 MiB unpacked");
    }

    #[test]
    fn why_there_is_no_part_comes_through() {
        let line = failure("a.log: cut\toff\nhere");
        assert_eq!(read(line.as_bytes()).unwrap_err(), PartError::Failed("a.log: cut off here".to_owned()));
    }

    #[test]
    fn numbers_that_do_not_add_up_are_refused() {
        let mut part = Part::default();
        part.side.aggregate.lines = 1;
        let error =
            read(write(&Key::new("a", Of::Whole), &part).unwrap().as_bytes()).unwrap_err().to_string();
        assert!(error.contains("the lines of a/whole do not add up"), "{error}");
    }
}
