//! Blocks of bytes cut into lines, across the borders of blocks.
//!
//! A line longer than 256 KiB is counted and passed over without being held. How the bytes are cut into blocks changes
//! nothing: neither lines, nor numbers, nor offsets.

use std::ops::ControlFlow;

use memchr::{memchr, memrchr};

use super::keys;

/// Bytes of the longest line that is read.
pub const LONGEST: usize = 256 << 10;
/// Bytes that are asked for at a time; not above those of the longest line, so that only the first of a block can be
/// longer.
const BLOCK: usize = 128 << 10;
/// Bytes of lines that are given at a time where they are shorter: half of a first cache, so that they are still in it
/// when they are looked at again.
pub(super) const PART: usize = 16 << 10;
/// Bytes that are kept of a line that is too long: those of its key at least, if it has one.
const START: usize = keys::LONGEST;
/// Bytes that can be read behind the last line break, so that the last line too can be read by whole words.
const SLACK: usize = super::quick::WINDOW;

/// One line, without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'l> {
    /// From 0, in this cutter.
    pub number: u64,
    /// Where it begins in its file.
    pub offset: u64,
    /// None where it is too long.
    pub bytes: Option<&'l [u8]>,
}

/// Lines that stand one behind another, each with its line break; the last one of a file may lack it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<'l> {
    /// Of the first of them, from 0, in this cutter.
    pub number: u64,
    /// Where the first of them begins in its file.
    pub offset: u64,
    text: Bytes<'l>,
    /// Bytes of the lines with their line breaks.
    length: usize,
}

/// The bytes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bytes<'l> {
    /// With some bytes behind the last line, which mean nothing.
    All(&'l [u8]),
    /// The first bytes of one line that is too long.
    Start(&'l [u8; START]),
}

impl<'l> Run<'l> {
    /// Of the first `length` bytes of a text, which is all of a file.
    pub fn with_more(text: &'l [u8], length: usize) -> Run<'l> {
        Run { number: 0, offset: 0, text: Bytes::All(text), length: length.min(text.len()) }
    }

    /// Each of its lines.
    pub fn lines(&self) -> Vec<Line<'l>> {
        let Some((text, length)) = self.text() else {
            return vec![Line { number: self.number, offset: self.offset, bytes: None }];
        };
        let mut all = Vec::new();
        let mut offset = self.offset;
        for bytes in text[..length].split_inclusive(|byte| *byte == b'\n') {
            let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            all.push(Line { number: self.number + all.len() as u64, offset, bytes: Some(line) });
            offset += bytes.len() as u64;
        }
        all
    }

    /// Its bytes and how many of them are lines; none where it is one line that is too long.
    pub fn text(&self) -> Option<(&'l [u8], usize)> {
        match self.text {
            Bytes::All(text) => Some((text, self.length)),
            Bytes::Start(_) => None,
        }
    }

    /// The first bytes of one line that is too long, and how many it has with its line break; none of other runs.
    pub(super) fn too_long(&self) -> Option<(&'l [u8], usize)> {
        match self.text {
            Bytes::All(_) => None,
            Bytes::Start(start) => Some((start, self.length)),
        }
    }
}

/// How many lines were taken of a run, and whether more are wanted.
pub type Took = ControlFlow<u64, u64>;

fn count(lines: &mut u64, took: Took) -> ControlFlow<()> {
    let (ControlFlow::Continue(taken) | ControlFlow::Break(taken)) = took;
    *lines += taken;
    if took.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Cuts blocks into lines.
#[derive(Debug)]
pub struct Cutter {
    buffer: Vec<u8>,
    filled: usize,
    /// Where the buffer begins in its file.
    offset: u64,
    lines: u64,
    passing: Option<Passing>,
    /// Bytes of the longest line that is held.
    longest: usize,
}

/// The reason for skipping bytes up to the next line break.
#[derive(Clone, Copy, Debug)]
enum Passing {
    /// The end of a line that belongs to what came before.
    Before,
    /// A line that is too long: where it began, and its first bytes.
    TooLong(u64, [u8; START]),
}

impl Cutter {
    /// One that begins at this offset of the file. `inside`: in the middle of a line, whose end is not counted.
    pub fn new(offset: u64, inside: bool) -> Cutter {
        let passing = inside.then_some(Passing::Before);
        let buffer = vec![0; LONGEST + keys::LONGEST + BLOCK + SLACK];
        Cutter { buffer, filled: 0, offset, lines: 0, passing, longest: LONGEST }
    }

    /// One for lines that have keys, which are no part of their length. Offsets are those in the stream.
    pub fn keyed() -> Cutter {
        Cutter { longest: LONGEST + keys::LONGEST, ..Cutter::new(0, false) }
    }

    /// Where the next block is to be written; never empty.
    pub fn room(&mut self) -> &mut [u8] {
        let end = (self.filled + BLOCK).min(self.buffer.len() - SLACK);
        &mut self.buffer[self.filled..end]
    }

    /// Where in the file the next block begins.
    pub fn position(&self) -> u64 {
        self.offset + self.filled as u64
    }

    /// Lines so far, those of which only the end is missing not counted.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Bytes that are held of a line whose end was not seen yet.
    pub fn pending(&self) -> u64 {
        self.filled as u64
    }

    /// True if only the end of an earlier line was seen.
    pub fn is_before_first(&self) -> bool {
        matches!(self.passing, Some(Passing::Before))
    }

    /// `count` bytes were written to the room: gives the lines that they end to `each`, which says how many of them it
    /// took, and may stop it.
    pub fn took(&mut self, count: usize, each: &mut impl FnMut(Run<'_>) -> Took) -> ControlFlow<()> {
        let from = self.filled;
        self.filled = (from + count).min(self.buffer.len() - SLACK);
        let mut start = 0;
        if self.passing.is_some() {
            match memchr(b'\n', &self.buffer[..self.filled]) {
                None => {
                    self.drop_front(self.filled);
                    return ControlFlow::Continue(());
                }
                Some(at) => {
                    start = at + 1;
                    self.passed(start, each)?;
                }
            }
        }
        // What was there before has no line break, so the search begins behind it.
        let base = from.max(start);
        let Some(last) = memrchr(b'\n', &self.buffer[base..self.filled]) else {
            self.drop_front(start);
            return self.rest_may_be_too_long();
        };
        let end = base + last + 1;
        // What was there before and the end of its line may be too long together.
        let first = start + memchr(b'\n', &self.buffer[start..end]).unwrap_or(0);
        if first - start > self.longest {
            self.passing = Some(self.too_long(start));
            start = first + 1;
            self.passed(start, each)?;
        }
        while start < end {
            let part = self.part(start, end);
            self.given(start, part, each)?;
            start = part;
        }
        self.drop_front(end);
        self.rest_may_be_too_long()
    }

    /// The file ends here: gives what stands behind the last line break.
    pub fn finish(&mut self, each: &mut impl FnMut(Run<'_>) -> Took) -> ControlFlow<()> {
        if self.passing.is_some() {
            return self.passed(self.filled, each);
        }
        if self.filled > 0 {
            self.given(0, self.filled, each)?;
            self.drop_front(self.filled);
        }
        ControlFlow::Continue(())
    }

    /// The line that was passed over ends at this place of the buffer.
    fn passed(&mut self, end: usize, each: &mut impl FnMut(Run<'_>) -> Took) -> ControlFlow<()> {
        if let Some(Passing::TooLong(offset, start)) = self.passing.take() {
            let length = usize::try_from(self.offset + end as u64 - offset).unwrap_or(usize::MAX);
            let took = each(Run { number: self.lines, offset, text: Bytes::Start(&start), length });
            count(&mut self.lines, took)?;
        }
        ControlFlow::Continue(())
    }

    /// The line at this place of the buffer, which is too long.
    fn too_long(&self, at: usize) -> Passing {
        let mut start = [0; START];
        start.copy_from_slice(&self.buffer[at..at + START]);
        Passing::TooLong(self.offset + at as u64, start)
    }

    /// Where the lines of a part end that begins at `start`; a line break ends all lines up to `end`.
    fn part(&self, start: usize, end: usize) -> usize {
        let most = end.min(start + PART);
        if let Some(last) = memrchr(b'\n', &self.buffer[start..most]) {
            return start + last + 1;
        }
        memchr(b'\n', &self.buffer[most..end]).map_or(end, |at| most + at + 1)
    }

    /// The lines from `start` to `end`.
    fn given(&mut self, start: usize, end: usize, each: &mut impl FnMut(Run<'_>) -> Took) -> ControlFlow<()> {
        let run = Run {
            number: self.lines,
            offset: self.offset + start as u64,
            text: Bytes::All(&self.buffer[start..]),
            length: end - start,
        };
        let took = each(run);
        count(&mut self.lines, took)
    }

    fn rest_may_be_too_long(&mut self) -> ControlFlow<()> {
        if self.filled > self.longest {
            self.passing = Some(self.too_long(0));
            self.drop_front(self.filled);
        }
        ControlFlow::Continue(())
    }

    fn drop_front(&mut self, count: usize) {
        self.buffer.copy_within(count..self.filled, 0);
        self.filled -= count;
        self.offset += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Seen = (u64, u64, Option<Vec<u8>>);

    /// All lines of `text`, fed in blocks of these sizes.
    fn cut(text: &[u8], sizes: &[usize], inside: bool) -> Vec<Seen> {
        let mut seen = Vec::new();
        let mut cutter = Cutter::new(0, inside);
        let mut each = |run: Run<'_>| {
            let lines = run.lines();
            seen.extend(lines.iter().map(|line| (line.number, line.offset, line.bytes.map(<[u8]>::to_vec))));
            ControlFlow::Continue(lines.len() as u64)
        };
        let (mut rest, mut sizes) = (text, sizes.iter().cycle());
        while !rest.is_empty() {
            let room = cutter.room();
            let count = (*sizes.next().unwrap()).clamp(1, room.len()).min(rest.len());
            room[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            assert!(cutter.took(count, &mut each).is_continue());
        }
        assert!(cutter.finish(&mut each).is_continue());
        assert_eq!(cutter.position(), text.len() as u64);
        seen
    }

    fn expected(text: &[u8]) -> Vec<Seen> {
        let mut offset = 0;
        let mut all: Vec<Seen> = Vec::new();
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            all.push((number as u64, offset, (line.len() <= LONGEST).then(|| line.to_vec())));
            offset += line.len() as u64 + 1;
        }
        if text.is_empty() || text.ends_with(b"\n") {
            all.pop();
        }
        all
    }

    proptest! {
        #[test]
        fn blocks_do_not_matter(
            lines in proptest::collection::vec(0usize..40, 0..20),
            ends in any::<bool>(),
            sizes in proptest::collection::vec(1usize..50, 1..6),
        ) {
            let mut text: Vec<u8> = lines.iter().flat_map(|n| [vec![b'x'; *n], vec![b'\n']].concat()).collect();
            if !ends {
                text.pop();
            }
            prop_assert_eq!(cut(&text, &sizes, false), expected(&text));
        }

        #[test]
        fn a_start_inside_a_line_leaves_it_out(n in 0usize..30, sizes in proptest::collection::vec(1usize..9, 1..4)) {
            let text = [vec![b'a'; n], b"\nbc\n\nd".to_vec()].concat();
            let seen = cut(&text, &sizes, true);
            let offsets: Vec<u64> = seen.iter().map(|line| line.1 - n as u64).collect();
            prop_assert_eq!(offsets, [1u64, 4, 5]);
            prop_assert_eq!(seen[0].0, 0);
        }
    }

    #[test]
    fn long_lines_are_counted_and_not_held() {
        for length in [LONGEST - 1, LONGEST, LONGEST + 1, LONGEST + BLOCK, 3 * LONGEST + 7] {
            let text = [b"a\n".to_vec(), vec![b'y'; length], b"\nlast".to_vec()].concat();
            for sizes in [&[usize::MAX][..], &[1 << 12], &[LONGEST, 3], &[LONGEST + 1]] {
                assert!(cut(&text, sizes, false) == expected(&text), "{length} bytes, blocks of {sizes:?}");
            }
            let unended = &text[..2 + length];
            assert!(cut(unended, &[1 << 16], false) == expected(unended), "{length} bytes");
        }
    }

    #[test]
    fn it_stops_where_it_is_told_to() {
        let mut cutter = Cutter::new(0, false);
        cutter.room()[..6].copy_from_slice(b"a\nb\nc\n");
        let mut seen = 0;
        let stopped = cutter.took(6, &mut |run| {
            seen += run.lines().len();
            ControlFlow::Break(2)
        });
        assert!(stopped.is_break());
        assert_eq!((seen, cutter.lines()), (3, 2));
    }
}
