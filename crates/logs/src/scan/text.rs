//! Lines of a format string: each stretch ends where the text that follows it begins.

use memchr::memchr;

use super::record::{LONGEST_NS, MOST_BYTES, Record, Skip, present};
use super::time::Clocks;
use super::{number, request, word};
use crate::format::plan::{Field, TextPart, TextPlan};

/// Reads a line into a record. Fails with the reason for skipping the line.
#[inline]
pub fn read<'l>(
    plan: &TextPlan,
    line: &'l [u8],
    record: &mut Record<'l>,
    clocks: &mut Clocks,
) -> Result<(), Skip> {
    let patterns = plan.patterns.len();
    if patterns > 1 {
        clocks.forget();
    }
    if !plan.before.begins(line) {
        return Err(Skip::Shape);
    }
    let mut rest = &line[plan.before.bytes().len()..];
    for part in &plan.parts {
        let end = match &part.field {
            Field::Clock(number) => clocks.read(&plan.patterns[*number], rest, record)?,
            _ => end_of(part, rest).ok_or(Skip::Shape)?,
        };
        let (value, after) = rest.split_at(end);
        store(&part.field, value, record)?;
        if !part.after.begins(after) {
            return Err(Skip::Shape);
        }
        rest = &after[part.after.bytes().len()..];
    }
    if !rest.is_empty() {
        return Err(Skip::Shape);
    }
    clocks.finish(patterns, record)
}

/// How long a stretch is.
#[inline]
fn end_of(part: &TextPart, rest: &[u8]) -> Option<usize> {
    match part.after.bytes() {
        [] => Some(rest.len()),
        _ if part.quoted => quote(rest),
        _ if part.list => list(part, rest),
        [byte] => near(*byte, rest),
        [first, ..] => {
            let mut from = 0;
            loop {
                let at = from + near(*first, rest.get(from..)?)?;
                if part.after.begins(&rest[at..]) {
                    return Some(at);
                }
                from = at + 1;
            }
        }
    }
}

/// Where a list of values ends: `0.010, 0.020 : 0.030 next`.
fn list(part: &TextPart, rest: &[u8]) -> Option<usize> {
    let between = |byte: Option<&u8>| matches!(byte, Some(b',' | b':'));
    let first = *part.after.bytes().first()?;
    memchr::memchr_iter(first, rest).find(|&at| {
        let inside = first == b' ' && (between(rest[..at].last()) || between(rest.get(at + 1)));
        !inside && part.after.begins(&rest[at..])
    })
}

/// Where the next quotation mark is that no backslash makes a plain one.
#[inline]
fn quote(rest: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr(b'"', rest.get(from..)?)?;
        if at == from || rest[at - 1] != b'\\' {
            return Some(at);
        }
        let backslashes = rest[from..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where a byte is that mostly stands near: the first eight bytes are looked at together.
#[inline]
fn near(byte: u8, rest: &[u8]) -> Option<usize> {
    let at = word::position(word::first_eight(rest), byte);
    // The zeros behind a short text are none of its bytes.
    if at < rest.len().min(8) {
        return Some(at);
    }
    memchr(byte, rest)
}

/// The same for what does not come from the plan of a line.
pub fn store_one<'l>(field: &Field, value: &'l [u8], record: &mut Record<'l>) -> Result<(), Skip> {
    store(field, value, record)
}

// Once for every field of every line: the compiler would rather call it.
/// Puts the value of a field into a record. Fails if it is no value of that field.
#[inline(always)]
pub fn store<'l>(field: &Field, value: &'l [u8], record: &mut Record<'l>) -> Result<(), Skip> {
    match field {
        Field::Other | Field::Clock(_) => {}
        Field::Client => record.client = present(value),
        Field::Vhost => record.vhost = present(value),
        Field::Request => request::line(value, record),
        Field::Method => record.method = present(value).map(request::Method::from_word),
        Field::Path => request::path(value, record),
        Field::Query => record.query = present(value.strip_prefix(b"?").unwrap_or(value)),
        Field::Protocol => record.protocol = present(value),
        Field::Status => record.status = status(value)?,
        Field::Bytes => record.bytes = Some(bytes(value)?),
        Field::Duration { unit_ns } => {
            record.time_ns = duration(value, *unit_ns)?;
            record.is_whole_thousands = value.ends_with(b"000");
        }
        Field::Durations { unit_ns } => record.time_ns = durations(value, *unit_ns)?,
        Field::Reused => record.reused = number::leading(value).map(|(before, _)| before > 0),
        Field::Referer => record.referer = present(value),
        Field::Agent => record.agent = present(value),
        Field::Cache => record.cache = present(value),
    }
    Ok(())
}

/// A status of three digits; `None` for a dash. Fails for anything else.
#[inline(always)]
pub fn status(value: &[u8]) -> Result<Option<u16>, Skip> {
    match value {
        [b'-'] => Ok(None),
        [_, _, _] => match number::digits(value, 3) {
            Some(status) => Ok(Some(status as u16)),
            None => Err(Skip::Status),
        },
        _ => Err(Skip::Status),
    }
}

/// A size; Apache's `%b` writes none as `-`. Fails if it is no number, or above 1 PiB.
#[inline(always)]
pub fn bytes(value: &[u8]) -> Result<u64, Skip> {
    match number::leading(value) {
        Some((bytes, length)) if length == value.len() && bytes <= MOST_BYTES => Ok(bytes),
        _ if value == b"-" => Ok(0),
        _ => Err(Skip::Bytes),
    }
}

/// A time in ns; `None` for a dash. Fails if it is no number, or longer than a year.
#[inline(always)]
pub fn duration(value: &[u8], unit_ns: u64) -> Result<Option<u64>, Skip> {
    let ns = match number::leading(value) {
        Some((units, length)) if length == value.len() => units.checked_mul(unit_ns),
        _ if value == b"-" => return Ok(None),
        _ => number::decimal(value, unit_ns),
    };
    ns.filter(|ns| *ns <= LONGEST_NS).map(Some).ok_or(Skip::Duration)
}

/// `0.010, 0.020 : 0.030`: the times of several servers that were asked one after another; `-` of one adds nothing.
fn durations(value: &[u8], unit_ns: u64) -> Result<Option<u64>, Skip> {
    let mut sum = None;
    for one in value.split(|byte| matches!(byte, b',' | b':')) {
        if let Some(ns) = duration(one.trim_ascii(), unit_ns)? {
            sum = Some(sum.unwrap_or(0) + ns);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_quotation_marks_are_plain() {
        assert_eq!(quote(br#"a" b"#), Some(1));
        assert_eq!(quote(br#"a\" b" "#), Some(5));
        assert_eq!(quote(br#"a\\" b"#), Some(3));
        assert_eq!(quote(br#"a\\\" b""#), Some(7));
        assert_eq!(quote(br#"a\""#), None);
        assert_eq!((quote(b""), quote(b"\"")), (None, Some(0)));
    }

    #[test]
    fn a_near_byte_is_found_as_a_far_one() {
        for text in
            [&b""[..], b"a", b"abcdefgh", b"aaaaaaa ", b"aaaaaaaa b", b"\x01 \x21 ", b"!  aaaaaaaaaaa"]
        {
            for byte in [b' ', b'a', b'b', b'!', 0] {
                assert_eq!(near(byte, text), memchr(byte, text), "{byte} in {text:?}");
            }
        }
    }

    #[test]
    fn numbers_of_lines() {
        assert_eq!((bytes(b"-"), bytes(b"0"), bytes(b"12")), (Ok(0), Ok(0), Ok(12)));
        for bad in [&b""[..], b"-1", b"1x", b"1125899906842625", b"99999999999999999999"] {
            assert_eq!(bytes(bad), Err(Skip::Bytes));
        }
        assert_eq!((status(b"200"), status(b"-"), status(b"000")), (Ok(Some(200)), Ok(None), Ok(Some(0))));
        for bad in [&b""[..], b"20", b"2000", b"20x"] {
            assert_eq!(status(bad), Err(Skip::Status));
        }
        assert_eq!(duration(b"1500", 1000), Ok(Some(1_500_000)));
        assert_eq!(duration(b"0.125", 1_000_000_000), Ok(Some(125_000_000)));
        assert_eq!(duration(b"-", 1000), Ok(None));
        for bad in [&b""[..], b"-5", b"999999999999999", b"9999999999999999999999", b"x", b"1 "] {
            assert_eq!(duration(bad, 1_000_000), Err(Skip::Duration), "{bad:?}");
        }
        let of = |text: &[u8]| durations(text, 1_000_000_000);
        assert_eq!(of(b"0.010, 0.020 : 0.030"), Ok(Some(60_000_000)));
        assert_eq!((of(b"-"), of(b"-, 0.5")), (Ok(None), Ok(Some(500_000_000))));
        assert_eq!(of(b"0.1, x"), Err(Skip::Duration));
    }
}
