//! From a line to a record: who asked for what, when, how much was sent and how long it took.
//!
//! A line is read as a whole or skipped with a reason; nothing is guessed. What a line does not tell is `None`.

pub mod clock;
mod columns;
pub mod json;
pub(crate) mod keys;
pub mod lines;
mod marks;
pub mod moment;
mod number;
mod quick;
mod record;
pub mod request;
pub mod shown;
mod stops;
mod text;
mod time;
mod usual;
pub(crate) mod word;

use std::ops::ControlFlow;

pub use clock::At;
pub use columns::{LogRow, MOST, Rows};
pub use record::{LONGEST_NS, MOST_BYTES, Record, Skip};
pub use request::Method;

use crate::fastest::fastest;
use crate::format::{Format, Plan};
use columns::{Columns, Key, Text};
pub use keys::Keys;
use lines::{LONGEST, Line, PART, Run, Took};
use quick::{Quick, Window};
use stops::Stops;
use usual::{STOPS, Usual};

/// Who is given the lines that are read.
pub trait Taker<'l> {
    /// A line with its record, or why it has none; may stop the reading, and says whether the line is counted.
    fn line(&mut self, line: Line<'l>, read: Result<&Record<'l>, Skip>) -> ControlFlow<()>;

    /// True if `rows` may be called; reading always goes on after it.
    fn takes_rows(&self) -> bool;

    fn rows(&mut self, rows: &Rows<'_>);
}

/// Takes each line by itself.
struct Each<'e, F>(&'e mut F);

impl<'l, F> Taker<'l> for Each<'_, F>
where
    F: FnMut(Line<'l>, Result<&Record<'l>, Skip>) -> ControlFlow<()>,
{
    #[inline(always)]
    fn line(&mut self, line: Line<'l>, read: Result<&Record<'l>, Skip>) -> ControlFlow<()> {
        (self.0)(line, read)
    }

    #[inline(always)]
    fn takes_rows(&self) -> bool {
        false
    }

    fn rows(&mut self, _: &Rows<'_>) {}
}

/// How often in a run lines are looked for in vain that can be read together.
const TRIES: u32 = 8;

/// Reads lines of one format; keeps the last time of day, since most lines share it with the line before.
#[derive(Clone, Debug)]
pub struct Scanner<'f> {
    plan: &'f Plan,
    clocks: time::Clocks,
    quick: Option<Quick>,
    usual: Option<Usual>,
    columns: Box<Columns>,
    /// Quotation marks and line breaks of the lines that are read.
    stops: Stops,
    keys: Option<Keys>,
}

impl<'f> Scanner<'f> {
    pub fn new(format: &'f Format) -> Scanner<'f> {
        let (patterns, quick, usual) = match &format.plan {
            Plan::Text(plan) => (plan.patterns.len(), Quick::new(plan), Usual::new(plan)),
            Plan::Json => (0, None, None),
        };
        let clocks = time::Clocks::new(patterns);
        let (columns, stops) = (Box::default(), Stops::default());
        Scanner { plan: &format.plan, clocks, quick, usual, columns, stops, keys: None }
    }

    /// One whose lines have keys. Where a key is wrong, reading ends, and [`Keys::fault`] says why.
    pub fn keyed(format: &'f Format, keys: Keys) -> Scanner<'f> {
        Scanner { keys: Some(keys), ..Scanner::new(format) }
    }

    /// The keys of its lines, if they have any.
    pub fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// Reads lines one behind another and gives each with its record, or why it has none, to `each`, which may stop it
    /// and says whether the line is counted.
    #[inline]
    pub fn run<'l>(
        &mut self,
        run: Run<'l>,
        each: &mut impl FnMut(Line<'l>, Result<&Record<'l>, Skip>) -> ControlFlow<()>,
    ) -> Took {
        self.give(run, &mut Each(each))
    }

    /// The same to who may take lines together.
    #[inline]
    pub fn give<'l>(&mut self, run: Run<'l>, taker: &mut impl Taker<'l>) -> Took {
        let Some((text, length)) = run.text() else { return self.too_long(run, taker) };
        let mut stops = std::mem::take(&mut self.stops);
        let found = stops.find(&text[..length]);
        let took = match self.keys.take() {
            None => fastest(
                #[inline(always)]
                || self.walk::<false>(run, (text, length), found, &mut Keys::default(), taker),
            ),
            Some(mut keys) => {
                let took = fastest(
                    #[inline(always)]
                    || self.walk::<true>(run, (text, length), found, &mut keys, taker),
                );
                self.keys = Some(keys);
                took
            }
        };
        self.stops = stops;
        took
    }

    /// Gives a line that is too long.
    #[cold]
    fn too_long<'l>(&mut self, run: Run<'l>, taker: &mut impl Taker<'l>) -> Took {
        let mut offset = run.offset;
        if let (Some(keys), Some((start, length))) = (&mut self.keys, run.too_long()) {
            let Some(key) = keys.pass(start, run.number) else { return ControlFlow::Break(0) };
            offset = keys.offset();
            keys.read((length - key) as u64);
        }
        let line = Line { number: run.number, offset, bytes: None };
        match taker.line(line, Err(Skip::TooLong)) {
            ControlFlow::Continue(()) => ControlFlow::Continue(1),
            ControlFlow::Break(()) => ControlFlow::Break(0),
        }
    }

    /// Gives the lines of a run; with keys before them if `KEYED`.
    #[inline(always)]
    fn walk<'l, const KEYED: bool>(
        &mut self,
        run: Run<'l>,
        (text, length): (&'l [u8], usize),
        mut stops: &[u32],
        keys: &mut Keys,
        taker: &mut impl Taker<'l>,
    ) -> Took {
        let (mut taken, mut start) = (0, 0);
        let whole = text.first_chunk().filter(|_| length <= PART && taker.takes_rows());
        let mut tries = if self.usual.is_some() { TRIES } else { 0 };
        // Of lines that are read quickly, which write all of it that they can tell.
        let mut usual = Record::default();
        while start < length {
            let mut key = None;
            if KEYED {
                let passed = keys.pass(&text[start..length], run.number + taken);
                let Some(bytes) = passed else { return ControlFlow::Break(taken) };
                start += bytes;
                // Nothing behind the key.
                if start == length {
                    return ControlFlow::Break(taken);
                }
                key = Some(Key { offset: keys.offset(), length: bytes });
            }
            if let Some(whole) = whole
                && tries > 0
            {
                // Added to where the line starts in the text, its place in the file.
                let at = if KEYED { keys.offset().wrapping_sub(start as u64) } else { run.offset };
                if let Some((count, end)) = self.together((whole, at), start, stops, key, taker) {
                    if let Some(Key { length, .. }) = key {
                        keys.read((end + 1 - start - (count - 1) * length) as u64);
                    }
                    stops = stops.get(count * STOPS..).unwrap_or_default();
                    taken += count as u64;
                    start = end + 1;
                    continue;
                }
                tries -= 1;
            }
            let quick = self.quickly(text, start, stops, &mut usual);
            let offset = if KEYED { keys.offset() } else { run.offset + start as u64 };
            let number = run.number + taken;
            let line = |end: usize| Line { number, offset, bytes: Some(&text[start..end]) };
            let (end, gone_on) = match quick {
                Some((end, rest)) => {
                    stops = rest;
                    usual.offset = offset;
                    (end, taker.line(line(end), Ok(&usual)))
                }
                None => {
                    let is_break = |at: &u32| text.get(*at as usize) == Some(&b'\n');
                    let place = stops.iter().position(is_break);
                    let end = place.map_or(length, |place| stops[place] as usize);
                    stops = place.map_or(&[], |place| &stops[place + 1..]);
                    (end, self.by_itself(line(end), taker))
                }
            };
            if KEYED {
                keys.read((end - start + usize::from(end < length)) as u64);
            }
            if gone_on.is_break() {
                return ControlFlow::Break(taken);
            }
            taken += 1;
            start = end + 1;
        }
        ControlFlow::Continue(taken)
    }

    /// Gives a line that is not read quickly.
    #[inline]
    fn by_itself<'l>(&mut self, line: Line<'l>, taker: &mut impl Taker<'l>) -> ControlFlow<()> {
        let Some(bytes) = line.bytes.filter(|bytes| bytes.len() <= LONGEST) else {
            return taker.line(Line { bytes: None, ..line }, Err(Skip::TooLong));
        };
        let mut record = Record { offset: line.offset, ..Record::default() };
        let read = self.fill(bytes, &mut record);
        taker.line(line, read.map(|()| &record))
    }

    /// Gives some lines from `start` on together, if they are usual ones: how many, and where the last of them ends.
    /// `offset` is added to where the first starts in the text for its place in the file.
    #[inline(always)]
    fn together<'l>(
        &mut self,
        (text, offset): (&'l Text, u64),
        start: usize,
        stops: &[u32],
        key: Option<Key>,
        taker: &mut impl Taker<'l>,
    ) -> Option<(usize, usize)> {
        let usual = self.usual.as_ref()?;
        let (at, count, end) = usual.together(&mut self.columns, text, start, stops, key)?;
        let key = key.map_or(0, |key| key.length);
        taker.rows(&Rows { columns: &self.columns, text, at, offset, key });
        Some((count, end))
    }

    /// Reads the line at `start` if it is a usual one: where it ends, and the stops behind it.
    #[inline(always)]
    fn quickly<'l, 's>(
        &mut self,
        text: &'l [u8],
        start: usize,
        stops: &'s [u32],
        record: &mut Record<'l>,
    ) -> Option<(usize, &'s [u32])> {
        let window = text.get(start..)?.first_chunk()?;
        if let Some(usual) = &self.usual
            && let Some(read) = usual.read(window, start, stops, record)
        {
            return Some(read);
        }
        self.by_plan(window, start, stops, record)
    }

    /// The same by the plan of its format.
    #[inline(never)]
    fn by_plan<'l, 's>(
        &mut self,
        line: &'l Window,
        start: usize,
        stops: &'s [u32],
        record: &mut Record<'l>,
    ) -> Option<(usize, &'s [u32])> {
        let (Plan::Text(plan), Some(quick)) = (self.plan, &self.quick) else { return None };
        let (of_line, rest) = stops.split_at_checked(quick.quotes + 1)?;
        quick.read(plan, line, start, of_line, record, &mut self.clocks)?;
        if let Some(usual) = &mut self.usual {
            usual.follow(&self.clocks);
        }
        Some((*of_line.last()? as usize, rest))
    }

    /// The record of a line, which has no line break. Fails with the reason for skipping the line.
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, Skip> {
        let mut record = Record::default();
        self.fill(line, &mut record)?;
        Ok(record)
    }

    /// The same into a record that is as it was made. Fails with the reason for skipping the line.
    #[inline]
    pub fn fill<'l>(&mut self, line: &'l [u8], record: &mut Record<'l>) -> Result<(), Skip> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let read = match self.plan {
            Plan::Text(plan) => text::read(plan, line, record, &mut self.clocks),
            Plan::Json => json::read(line, record),
        };
        match read {
            // A NUL in front of an otherwise sound line is what a truncated file leaves.
            Ok(()) if record.client.is_none_or(|client| client.first() != Some(&0)) => Ok(()),
            Ok(()) => Err(Skip::Nul),
            Err(skip) => Err(reason(line, skip)),
        }
    }
}

/// The reason that concerns the whole line, if there is one; else that of a field.
#[cold]
fn reason(line: &[u8], skip: Skip) -> Skip {
    if line.iter().all(u8::is_ascii_whitespace) {
        Skip::Empty
    } else if memchr::memchr(0, line).is_some() {
        Skip::Nul
    } else {
        skip
    }
}

#[cfg(test)]
mod tests;
