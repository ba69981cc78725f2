//! Lines of a format string as servers mostly write them, with the places of quotation marks and line breaks known.
//!
//! Either the line is read as [`text::read`](super::text::read) reads it, or nothing is said about it and that one is
//! to be asked: where a quotation mark is within a field, a field is missing or too long for its kind, or the line is
//! none of this format.

use memchr::memchr;

use super::time::Clocks;
use super::{LONGEST_NS, Record, text, word};
use crate::format::plan::{Field, Literal, TextPart, TextPlan};

/// How many quotation marks a usual line has; none where lines of this plan are not to be read quickly.
#[must_use]
pub fn quotes(plan: &TextPlan) -> Option<usize> {
    let quoted = plan.parts.iter().filter(|part| part.quoted).count();
    let literals = || plan.parts.iter().map(|part| part.after.bytes()).chain([plan.before.bytes()]);
    let marks = literals().flatten().filter(|byte| **byte == b'"').count();
    let (last, others) = plan.parts.split_last()?;
    let is_ended = |part: &TextPart| !part.after.bytes().is_empty() || matches!(part.field, Field::Clock(_));
    let is_simple =
        |part: &TextPart| !part.list && !part.after.bytes().first().is_some_and(u8::is_ascii_digit);
    let quick = marks == 2 * quoted
        && plan.patterns.len() <= 1
        && literals().all(|literal| literal.len() <= 8 && !literal.contains(&b'\n'))
        && others.iter().all(is_ended)
        && others.iter().chain([last]).all(is_simple);
    quick.then_some(marks)
}

/// Reads the line that begins at `start`, of which `stops` are the quotation marks and the line break.
///
/// What stands in `text` behind the line break is of no meaning, but makes reading whole words possible.
#[inline]
pub fn read<'l>(
    plan: &TextPlan,
    text: &'l [u8],
    start: usize,
    stops: &[u32],
    record: &mut Record<'l>,
    clocks: &mut Clocks,
) -> Option<()> {
    let (line_break, quotes) = stops.split_last()?;
    let mut end = *line_break as usize;
    if end <= start || text.get(end) != Some(&b'\n') {
        return None;
    }
    end -= usize::from(text[end - 1] == b'\r');
    // What the line before had and this one may not tell; every other field is written anew.
    (record.method, record.path, record.query, record.protocol) = (None, None, None, None);
    let mut at = begins(&plan.before, text, start)?;
    let mut quotes = quotes.as_chunks::<2>().0.iter();
    for part in &plan.parts {
        at = match &part.field {
            Field::Clock(number) => {
                at + clocks.read(&plan.patterns[*number], text.get(at..end)?, record).ok()?
            }
            field if part.quoted => {
                let &[open, close] = quotes.next()?;
                let close = close as usize;
                if open as usize + 1 != at || text[close - 1] == b'\\' {
                    return None;
                }
                text::store(field, text.get(at..close)?, record).ok()?;
                close
            }
            Field::Status | Field::Bytes | Field::Duration { .. } => number(part, text, at, end, record)?,
            _ => other(part, text, at, end, record)?,
        };
        at = begins(&part.after, text, at)?;
    }
    let is_sound = at == end && record.client.is_none_or(|client| client.first() != Some(&0));
    is_sound.then_some(())
}

/// Where what follows a literal begins.
#[inline(always)]
fn begins(literal: &Literal, text: &[u8], at: usize) -> Option<usize> {
    literal.begins(text.get(at..)?).then(|| at + literal.bytes().len())
}

/// A number of up to seven digits; any other as what stands there.
#[inline(always)]
fn number<'l>(
    part: &TextPart,
    text: &'l [u8],
    at: usize,
    end: usize,
    record: &mut Record<'l>,
) -> Option<usize> {
    let (value, count) = word::digits(u64::from_le_bytes(*text.get(at..)?.first_chunk()?));
    let after = at + count;
    if matches!(count, 0 | 8) || text.get(after) == Some(&b'.') {
        return other(part, text, at, end, record);
    }
    match part.field {
        Field::Status if count == 3 => record.status = Some(value as u16),
        Field::Bytes => record.bytes = Some(value),
        Field::Duration { unit_ns } => {
            record.time_ns = Some(value.checked_mul(unit_ns).filter(|ns| *ns <= LONGEST_NS)?);
            record.is_whole_thousands = text[at..after].ends_with(b"000");
        }
        _ => return None,
    }
    Some(after)
}

/// A stretch up to the first byte of what follows it.
#[inline(always)]
fn other<'l>(
    part: &TextPart,
    text: &'l [u8],
    at: usize,
    end: usize,
    record: &mut Record<'l>,
) -> Option<usize> {
    let to = match part.after.bytes().first() {
        Some(byte) => at + near(*byte, text, at, end)?,
        None => end,
    };
    text::store(&part.field, text.get(at..to)?, record).ok()?;
    Some(to)
}

/// How far away the next such byte of the line is; sixteen bytes are looked at without asking.
#[inline(always)]
fn near(byte: u8, text: &[u8], at: usize, end: usize) -> Option<usize> {
    let [low, high] = *text.get(at..)?.first_chunk::<16>()?.as_chunks::<8>().0 else { return None };
    let first = word::position(u64::from_le_bytes(low), byte);
    let place = if first < 8 { first } else { 8 + word::position(u64::from_le_bytes(high), byte) };
    if place < 16 { Some(place) } else { memchr(byte, text.get(at..end)?) }
}
