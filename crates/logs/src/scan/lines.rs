//! Blocks of bytes cut into lines, across the borders of blocks.
//!
//! A line longer than 256 KiB is counted and passed over without being held. How the bytes are cut into blocks changes
//! nothing: neither lines, nor numbers, nor offsets.

use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memrchr};

/// Bytes of the longest line that is read.
pub const LONGEST: usize = 256 << 10;
/// Bytes that are asked for at a time.
const BLOCK: usize = 256 << 10;

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

/// Cuts blocks into lines.
#[derive(Debug)]
pub struct Cutter {
    buffer: Vec<u8>,
    filled: usize,
    /// Where the buffer begins in its file.
    offset: u64,
    lines: u64,
    passing: Option<Passing>,
}

/// What is passed over until the next line break.
#[derive(Clone, Copy, Debug)]
enum Passing {
    /// The end of a line that belongs to what came before.
    Before,
    /// A line that began at this offset and is too long.
    TooLong(u64),
}

impl Cutter {
    /// One that begins at this offset of the file. `inside`: in the middle of a line, whose end is not counted.
    #[must_use]
    pub fn new(offset: u64, inside: bool) -> Cutter {
        let passing = inside.then_some(Passing::Before);
        Cutter { buffer: vec![0; LONGEST + BLOCK], filled: 0, offset, lines: 0, passing }
    }

    /// Where the next block is to be written; never empty.
    pub fn room(&mut self) -> &mut [u8] {
        let end = (self.filled + BLOCK).min(self.buffer.len());
        &mut self.buffer[self.filled..end]
    }

    /// Where in the file the next block begins.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.offset + self.filled as u64
    }

    /// Lines so far, those of which only the end is missing not counted.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Bytes that are held of a line whose end was not seen yet.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.filled as u64
    }

    /// Whether nothing but the end of an earlier line was seen.
    #[must_use]
    pub fn is_before_first(&self) -> bool {
        matches!(self.passing, Some(Passing::Before))
    }

    /// `count` bytes were written to the room: gives every line that they end to `each`, which may stop it.
    pub fn took(
        &mut self,
        count: usize,
        each: &mut impl FnMut(Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let from = self.filled;
        self.filled = (from + count).min(self.buffer.len());
        let mut start = 0;
        if self.passing.is_some() {
            match memchr(b'\n', &self.buffer[..self.filled]) {
                None => {
                    self.drop_front(self.filled);
                    return ControlFlow::Continue(());
                }
                Some(at) => {
                    start = at + 1;
                    self.passed(each)?;
                }
            }
        }
        // What was there before has no line break, so the search begins behind it.
        let base = from.max(start);
        let Some(last) = memrchr(b'\n', &self.buffer[base..self.filled]) else {
            self.drop_front(start);
            return self.rest_may_be_too_long();
        };
        let last = base + last;
        for end in memchr_iter(b'\n', &self.buffer[base..=last]) {
            let end = base + end;
            let bytes = &self.buffer[start..end];
            let line = Line {
                number: self.lines,
                offset: self.offset + start as u64,
                bytes: (bytes.len() <= LONGEST).then_some(bytes),
            };
            each(line)?;
            self.lines += 1;
            start = end + 1;
        }
        self.drop_front(last + 1);
        self.rest_may_be_too_long()
    }

    /// The file ends here: gives what stands behind the last line break.
    pub fn finish(&mut self, each: &mut impl FnMut(Line<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.passing.is_some() {
            return self.passed(each);
        }
        if self.filled > 0 {
            let bytes = &self.buffer[..self.filled];
            each(Line { number: self.lines, offset: self.offset, bytes: Some(bytes) })?;
            self.lines += 1;
            self.drop_front(self.filled);
        }
        ControlFlow::Continue(())
    }

    fn passed(&mut self, each: &mut impl FnMut(Line<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        if let Some(Passing::TooLong(offset)) = self.passing.take() {
            each(Line { number: self.lines, offset, bytes: None })?;
            self.lines += 1;
        }
        ControlFlow::Continue(())
    }

    fn rest_may_be_too_long(&mut self) -> ControlFlow<()> {
        if self.filled > LONGEST {
            self.passing = Some(Passing::TooLong(self.offset));
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
        let mut each = |line: Line<'_>| {
            seen.push((line.number, line.offset, line.bytes.map(<[u8]>::to_vec)));
            ControlFlow::Continue(())
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
        let stopped = cutter.took(6, &mut |line| {
            seen += 1;
            if line.offset >= 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(stopped.is_break());
        assert_eq!((seen, cutter.lines()), (2, 1));
    }
}
