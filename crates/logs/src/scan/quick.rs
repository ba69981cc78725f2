//! Lines of a format string as servers mostly write them, with the places of quotation marks and line breaks known.
//!
//! Either the line is read as [`text::read`](super::text::read) reads it, or nothing is said about it and that one is
//! to be asked: where a quotation mark is within a field, a field is missing or too long for its kind, or the line is
//! none of this format or very long.

use memchr::memchr;

use super::record::{LONGEST_NS, Record};
use super::time::Clocks;
use super::{text, word};
use crate::format::plan::{Field, Literal, TextPart, TextPlan};

/// Bytes of the longest line that is read quickly, its line break included.
pub const LONGEST: usize = 2048;
/// A line and what stands behind it, so that whole words can be read anywhere in the line without asking.
pub const WINDOW: usize = LONGEST + SLACK;
/// Bytes that can be read behind the last place of a text.
pub const SLACK: usize = 32;
pub type Window = [u8; WINDOW];

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
    kind: Kind,
    after: Short,
    /// The text behind this stretch if the next unneeded ones are all `-`, and their number.
    past: Option<(Short, usize)>,
}

/// How a stretch is read.
#[derive(Clone, Debug)]
enum Kind {
    Clock(usize),
    /// Between quotation marks.
    Quoted(Field),
    /// The same, of no use.
    Passed,
    Status,
    Bytes,
    Duration {
        unit_ns: u64,
    },
    /// Up to what follows.
    Other(Field),
}

impl Kind {
    fn of(part: &TextPart) -> Kind {
        match part.field.clone() {
            Field::Clock(number) => Kind::Clock(number),
            Field::Other if part.quoted => Kind::Passed,
            field if part.quoted => Kind::Quoted(field),
            Field::Status => Kind::Status,
            Field::Bytes => Kind::Bytes,
            Field::Duration { unit_ns } => Kind::Duration { unit_ns },
            field => Kind::Other(field),
        }
    }
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
        Some(Short { word: word::first_eight(bytes), mask: u64::from_le_bytes(mask), length: bytes.len() })
    }

    /// Where it ends that begins at `at`.
    #[inline(always)]
    fn passed(&self, line: &Window, at: usize) -> Option<usize> {
        (load(line, at) & self.mask == self.word).then_some(at + self.length)
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
            let kind = Kind::of(part);
            Some(Step { kind, after: short(&part.after)?, past: past(&plan.parts[place..]) })
        };
        let steps = plan.parts.iter().enumerate().map(step).collect::<Option<Vec<Step>>>()?;
        is_quick.then_some(Quick { quotes: marks, before: short(&plan.before)?, steps })
    }

    /// Reads the line that stands at `start`, where the window begins; `stops` are its quotation marks and its line
    /// break, counted from the same place as `start`. Fields that the plan has are written anew.
    ///
    /// Bytes of the window behind the line break are ignored.
    pub fn read<'l>(
        &self,
        plan: &TextPlan,
        line: &'l Window,
        start: usize,
        stops: &[u32],
        record: &mut Record<'l>,
        clocks: &mut Clocks,
    ) -> Option<()> {
        let (line_break, quotes) = stops.split_last()?;
        let mut end = (*line_break as usize).checked_sub(start)?;
        if end == 0 || end >= LONGEST || line[end] != b'\n' {
            return None;
        }
        end -= usize::from(line[end - 1] == b'\r');
        // What the line before had and this one may not tell.
        (record.method, record.path, record.query, record.protocol) = (None, None, None, None);
        let mut at = self.before.passed(line, 0)?;
        let (mut quotes, mut steps) = (quotes.as_chunks::<2>().0.iter(), self.steps.iter());
        while let Some(step) = steps.next() {
            at = match &step.kind {
                Kind::Clock(number) => match clocks.known(window(line, at)) {
                    Some((time, length)) => {
                        record.at = Some(time);
                        at + length
                    }
                    None => at + clocks.anew(&plan.patterns[*number], line.get(at..end)?, record).ok()?,
                },
                Kind::Passed => quoted(line, start, quotes.next()?, at)?,
                Kind::Quoted(field) => {
                    let close = quoted(line, start, quotes.next()?, at)?;
                    text::store(field, line.get(at..close)?, record).ok()?;
                    close
                }
                kind @ (Kind::Status | Kind::Bytes | Kind::Duration { .. }) => {
                    number(kind, &step.after, line, at, end, record)?
                }
                Kind::Other(field) => {
                    let to = ending(&step.after, line, at, end)?;
                    text::store(field, line.get(at..to)?, record).ok()?;
                    if let Some((past, skipped)) = &step.past
                        && let Some(behind) = past.passed(line, to)
                    {
                        at = behind;
                        steps = steps.as_slice().get(*skipped..)?.iter();
                        continue;
                    }
                    to
                }
            };
            at = step.after.passed(line, at)?;
        }
        let is_sound = at == end && record.client.is_none_or(|client| client.first() != Some(&0));
        is_sound.then_some(())
    }
}

/// The text behind the first part if the unneeded parts after it are all `-`, and the number of those parts.
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

/// So many bytes from a place on, of a line or of several, which end before the last of them.
#[inline(always)]
pub fn window<const COUNT: usize, const SIZE: usize>(text: &[u8; SIZE], at: usize) -> &[u8; COUNT] {
    const { assert!(COUNT <= SLACK && SIZE > SLACK) };
    // No place in a text is changed by this, and none has to be checked.
    let behind = &text[at % (SIZE - SLACK)..];
    behind.first_chunk().unwrap_or(const { &[0; COUNT] })
}

/// Eight bytes, the first of them lowest.
#[inline(always)]
pub fn load<const SIZE: usize>(text: &[u8; SIZE], at: usize) -> u64 {
    u64::from_le_bytes(*window(text, at))
}

/// Where the quoted stretch ends that begins at `at`, where its quotation marks are the next two.
#[inline(always)]
fn quoted(line: &Window, start: usize, marks: &[u32; 2], at: usize) -> Option<usize> {
    let close = (marks[1] as usize).wrapping_sub(start);
    let is_usual = marks[0] as usize + 1 == start + at && line[close.wrapping_sub(1) % LONGEST] != b'\\';
    is_usual.then_some(close)
}

/// A number of up to seven digits; any other as what stands there.
#[inline(always)]
fn number<'l>(
    kind: &Kind,
    after: &Short,
    line: &'l Window,
    at: usize,
    end: usize,
    record: &mut Record<'l>,
) -> Option<usize> {
    let word = load(line, at);
    let (value, count) = word::digits(word);
    let is_short = !matches!(count, 0 | 8);
    match kind {
        Kind::Status if count == 3 => record.status = Some(value as u16),
        Kind::Bytes if is_short => record.bytes = Some(value),
        Kind::Duration { unit_ns } if is_short && (word >> (8 * count)) as u8 != b'.' => {
            record.time_ns = Some(value.checked_mul(*unit_ns).filter(|ns| *ns <= LONGEST_NS)?);
            // The last three digits, whatever they are preceded by.
            record.is_whole_thousands = (word << (64 - 8 * count)) >> 40 == 0x30_3030;
        }
        kind => {
            let field = match kind {
                Kind::Status => Field::Status,
                Kind::Duration { unit_ns } => Field::Duration { unit_ns: *unit_ns },
                _ => Field::Bytes,
            };
            let to = ending(after, line, at, end)?;
            text::store_one(&field, line.get(at..to)?, record).ok()?;
            return Some(to);
        }
    }
    Some(at + count)
}

/// Where a stretch ends: before the first byte of what follows it. Sixteen bytes are looked at without asking.
#[inline(always)]
fn ending(after: &Short, line: &Window, at: usize, end: usize) -> Option<usize> {
    let Some(byte) = after.first() else { return Some(end) };
    let first = word::position(load(line, at), byte);
    let place = if first < 8 { first } else { 8 + word::position(load(line, at + 8), byte) };
    if place < 16 { Some(at + place) } else { Some(at + memchr(byte, line.get(at..end)?)?) }
}
