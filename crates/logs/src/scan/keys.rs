//! Offsets that stand in front of lines, as Hadoop gives them to a mapper that does not ignore keys: the offset in the
//! file, a tab, the line.
//!
//! Each is held against the bytes of the lines before it. The lines are read where they lie: nothing is copied to take
//! the offsets off.

use memchr::memchr;

use super::word;

/// Bytes of the longest key: twenty digits and a tab.
pub const LONGEST: usize = 21;
/// Hadoop's offsets have a sign.
const HIGHEST: u64 = i64::MAX as u64;
/// The value of the last digit before so many others.
const TENS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The keys of lines, as far as they were read.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Where the first line begins, once it was seen.
    start: Option<u64>,
    /// Where the next line begins, by the lines before it.
    next: u64,
    fault: Option<String>,
}

impl Keys {
    /// Where the first line begins; `None` while none was read.
    pub fn start(&self) -> Option<u64> {
        self.start
    }

    /// Where the last line ends.
    pub fn end(&self) -> u64 {
        self.next
    }

    /// The reason why a line has no place, which ends the reading.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Where the line begins whose key was passed last.
    #[inline(always)]
    pub(super) fn offset(&self) -> u64 {
        self.next
    }

    /// Passes the key at the start of these bytes, that of a line with this number from 0: how long it is. `None` for
    /// a fault.
    #[inline(always)]
    pub(super) fn pass(&mut self, bytes: &[u8], number: u64) -> Option<usize> {
        match quick(bytes) {
            Some((offset, length)) if offset == self.next && self.start.is_some() => Some(length),
            _ => self.pass_slowly(bytes, number),
        }
    }

    #[inline(never)]
    fn pass_slowly(&mut self, bytes: &[u8], number: u64) -> Option<usize> {
        let line = number + 1;
        let Some((offset, length)) = closely(bytes) else {
            self.fault = Some(format!("line {line}: {MISSING}"));
            return None;
        };
        if self.start.is_none() {
            self.start = Some(offset);
            self.next = offset;
        }
        if offset != self.next {
            self.fault = Some(format!("line {line}: {}", misplaced(offset, self.next)));
            return None;
        }
        Some(length)
    }

    /// So many bytes of lines were read, their line breaks too.
    #[inline(always)]
    pub(super) fn read(&mut self, bytes: u64) {
        self.next = self.next.saturating_add(bytes);
    }
}

/// Why a line has no place that has no key.
pub(crate) const MISSING: &str = "no offset and tab before it (see --keyed)";

/// Why a line has no place whose key is not where the lines before it end.
pub(crate) fn misplaced(offset: u64, next: u64) -> String {
    format!(
        "its offset is {offset}, and the lines before it end at {next}: line breaks other than a line feed were taken \
         off, or lines are missing (Hadoop: -D textinputformat.record.delimiter=LF)"
    )
}

/// An offset of fifteen digits at most that stands at the start with its tab, and how many bytes both are; `None` where
/// a closer look is needed.
#[inline(always)]
fn quick(bytes: &[u8]) -> Option<(u64, usize)> {
    let (first, rest) = bytes.split_first_chunk::<8>()?;
    quick_of(u64::from_le_bytes(*first), || Some(u64::from_le_bytes(*rest.first_chunk()?)))
}

/// The same of eight bytes, and of the next eight, which are asked for where the first are all digits.
#[inline(always)]
pub(super) fn quick_of(first: u64, second: impl FnOnce() -> Option<u64>) -> Option<(u64, usize)> {
    let is_tab = |word: u64, at: usize| (word >> (8 * at)) as u8 == b'\t';
    let (value, digits) = word::digits(first);
    if digits < 8 {
        return (digits > 0 && is_tab(first, digits)).then_some((value, digits + 1));
    }
    let second = second()?;
    let (low, more) = word::digits(second);
    let value = value * TENS.get(more)? + low;
    is_tab(second, more).then_some((value, 8 + more + 1))
}

/// The same of any offset.
fn closely(bytes: &[u8]) -> Option<(u64, usize)> {
    let digits = memchr(b'\t', &bytes[..bytes.len().min(LONGEST)])?;
    let text = std::str::from_utf8(&bytes[..digits]).ok()?;
    let offset: u64 = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    (offset <= HIGHEST).then_some((offset, digits + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_quick_look_sees_what_a_close_one_sees(
            digits in 1u32..20,
            drawn in 0..=HIGHEST,
            behind in "[0-9a-z\t]{0,12}",
            tab in prop_oneof![9 => Just("\t"), 1 => Just("")],
        ) {
            let offset = if digits < 19 { drawn % 10u64.pow(digits) } else { drawn };
            let text = format!("{offset}{tab}{behind}");
            if let Some(seen) = quick(text.as_bytes()) {
                prop_assert_eq!(Some(seen), closely(text.as_bytes()));
            } else if offset < 1_000_000_000_000_000 && text.len() >= 16 && tab == "\t" {
                prop_assert!(false, "{}", text);
            }
            if tab == "\t" {
                prop_assert_eq!(closely(text.as_bytes()), Some((offset, offset.to_string().len() + 1)));
            }
        }
    }

    #[test]
    fn a_line_out_of_place_is_refused_with_its_number() {
        for (first, second, word) in [
            ("0\tab", "4\tcd", "line 2: its offset is 4, and the lines before it end at 3"),
            ("0\tab", "2\tcd", "line 2: its offset is 2"),
            ("10.0.0.1 - - x", "", "line 1: no offset and tab"),
            ("\tab", "", "line 1: no offset and tab"),
            ("0\tab", "\tcd", "line 2: no offset and tab"),
            ("0\tab", "+3\tcd", "line 2: no offset and tab"),
            ("99999999999999999999999\tab", "", "line 1: no offset and tab"),
            ("0\tab", "9223372036854775807\tcd", "line 2: its offset is 9223372036854775807"),
            ("0\tab", "9223372036854775808\tcd", "line 2: no offset and tab"),
            ("0\tab", "18446744073709551615\tcd", "line 2: no offset and tab"),
        ] {
            let mut keys = Keys::default();
            if let Some(length) = keys.pass(first.as_bytes(), 0) {
                keys.read((first.len() - length + 1) as u64);
                assert_eq!(keys.pass(second.as_bytes(), 1), None, "{second}");
            }
            assert!(keys.fault().unwrap().starts_with(word), "{:?}", keys.fault());
        }
    }
}
