//! Lines of a format string as servers mostly write them, with the places of quotation marks and line breaks known.
//!
//! Either the line is read as [`text::read`](super::text::read) reads it, or nothing is said about it and that one is
//! to be asked: where a quotation mark is within a field, a field is missing or too long for its kind, or the line is
//! none of this format.

use memchr::memchr;

use super::time::Clocks;
use super::{LONGEST_NS, Record, text, word};
use crate::format::plan::{Field, Literal, TextPart, TextPlan};

/// A plan whose lines can be read quickly.
#[derive(Clone, Debug)]
pub struct Quick {
    /// Quotation marks of a usual line.
    pub quotes: usize,
    before: Short,
    steps: Vec<Step>,
}

/// One stretch and what follows it.
#[derive(Clone, Debug)]
struct Step {
    field: Field,
    quoted: bool,
    after: Short,
    /// What follows where the next so many stretches, which are of no use, are `-`.
    past: Option<(Short, usize)>,
}

/// A fixed text of up to eight bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Short {
    word: u64,
    mask: u64,
    length: usize,
}

impl Short {
    fn new(bytes: &[u8]) -> Option<Short> {
        let mut mask = [0; 8];
        mask.get_mut(..bytes.len())?.fill(0xff);
        Some(Short { word: word::of(bytes), mask: u64::from_le_bytes(mask), length: bytes.len() })
    }

    /// Where it ends that begins at `at`.
    #[inline(always)]
    fn passed(&self, text: &[u8], at: usize) -> Option<usize> {
        (load(text, at)? & self.mask == self.word).then_some(at + self.length)
    }

    /// The byte that it begins with.
    #[inline(always)]
    fn first(&self) -> Option<u8> {
        (self.length > 0).then_some(self.word as u8)
    }
}

impl Quick {
    /// None where lines of this plan are not to be read quickly.
    pub fn new(plan: &TextPlan) -> Option<Quick> {
        let quoted = plan.parts.iter().filter(|part| part.quoted).count();
        let literals = || plan.parts.iter().map(|part| part.after.bytes()).chain([plan.before.bytes()]);
        let marks = literals().flatten().filter(|byte| **byte == b'"').count();
        let (_, others) = plan.parts.split_last()?;
        let is_ended =
            |part: &TextPart| !part.after.bytes().is_empty() || matches!(part.field, Field::Clock(_));
        let is_simple =
            |part: &TextPart| !part.list && !part.after.bytes().first().is_some_and(u8::is_ascii_digit);
        let is_quick = marks == 2 * quoted
            && plan.patterns.len() <= 1
            && literals().all(|literal| !literal.contains(&b'\n'))
            && others.iter().all(is_ended)
            && plan.parts.iter().all(is_simple);
        let short = |literal: &Literal| Short::new(literal.bytes());
        let step = |(place, part): (usize, &TextPart)| {
            let (field, quoted) = (part.field.clone(), part.quoted);
            Some(Step { field, quoted, after: short(&part.after)?, past: past(&plan.parts[place..]) })
        };
        let steps = plan.parts.iter().enumerate().map(step).collect::<Option<Vec<Step>>>()?;
        is_quick.then_some(Quick { quotes: marks, before: short(&plan.before)?, steps })
    }

    /// Reads the line that begins at `start`, of which `stops` are the quotation marks and the line break.
    ///
    /// What stands in `text` behind the line break is of no meaning, but makes reading whole words possible.
    #[inline]
    pub fn read<'l>(
        &self,
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
        let mut at = self.before.passed(text, start)?;
        let (mut quotes, mut steps) = (quotes.as_chunks::<2>().0.iter(), self.steps.iter());
        while let Some(step) = steps.next() {
            at = match &step.field {
                Field::Clock(number) => {
                    at + clocks.read(&plan.patterns[*number], text.get(at..end)?, record).ok()?
                }
                field if step.quoted => {
                    let &[open, close] = quotes.next()?;
                    let close = close as usize;
                    if open as usize + 1 != at || text[close - 1] == b'\\' {
                        return None;
                    }
                    text::store(field, text.get(at..close)?, record).ok()?;
                    close
                }
                Field::Status | Field::Bytes | Field::Duration { .. } => number(step, text, at, end, record)?,
                field => {
                    let to = ending(step, text, at, end)?;
                    text::store(field, text.get(at..to)?, record).ok()?;
                    if let Some((past, skipped)) = &step.past
                        && let Some(behind) = past.passed(text, to)
                    {
                        at = behind;
                        steps = steps.as_slice().get(*skipped..)?.iter();
                        continue;
                    }
                    to
                }
            };
            at = step.after.passed(text, at)?;
        }
        let is_sound = at == end && record.client.is_none_or(|client| client.first() != Some(&0));
        is_sound.then_some(())
    }
}

/// What stands behind the first of these parts where those after it that are of no use are `-`, and how many they are.
fn past(parts: &[TextPart]) -> Option<(Short, usize)> {
    let (first, others) = parts.split_first()?;
    let mut bytes = first.after.bytes().to_vec();
    let mut found = None;
    for (skipped, part) in (1..).zip(others) {
        let after = part.after.bytes();
        if part.field != Field::Other || part.quoted || after.first().is_none_or(|byte| *byte == b'-') {
            break;
        }
        bytes.push(b'-');
        bytes.extend(after);
        found = Short::new(&bytes).map(|short| (short, skipped)).or(found);
    }
    found
}

/// Eight bytes, the first of them lowest; none where there are not so many.
#[inline(always)]
fn load(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

/// A number of up to seven digits; any other as what stands there.
#[inline(always)]
fn number<'l>(step: &Step, text: &'l [u8], at: usize, end: usize, record: &mut Record<'l>) -> Option<usize> {
    let (value, count) = word::digits(load(text, at)?);
    let after = at + count;
    if matches!(count, 0 | 8) || text.get(after) == Some(&b'.') {
        let to = ending(step, text, at, end)?;
        text::store_one(&step.field, text.get(at..to)?, record).ok()?;
        return Some(to);
    }
    match step.field {
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

/// Where a stretch ends: before the first byte of what follows it. Sixteen bytes are looked at without asking.
#[inline(always)]
fn ending(step: &Step, text: &[u8], at: usize, end: usize) -> Option<usize> {
    let Some(byte) = step.after.first() else { return Some(end) };
    let (low, high) = (load(text, at)?, load(text, at + 8)?);
    let first = word::position(low, byte);
    let place = if first < 8 { first } else { 8 + word::position(high, byte) };
    if place < 16 { Some(at + place) } else { Some(at + memchr(byte, text.get(at..end)?)?) }
}
