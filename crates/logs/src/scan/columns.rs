//! Lines of the layout that most servers write, some at a time: what stands around their fields is looked for line by
//! line, and their numbers are made column by column, as vectors can.
//!
//! As with [`usual`](super::usual), either lines are read as [`text::read`](super::text::read) reads them, or nothing
//! is said about them. All are of the second of the line before them, and tell a size and a time of seven digits at
//! most. Seconds may have three decimals, as nginx writes them, and are seven bytes at most with their point.

use super::lines::PART;
use super::quick::{SLACK, load, window};
use super::record::{Record, present};
use super::request::{self, Method};
use super::usual::{Lead, STOPS};
use super::word::{self, differs};
use super::{clock::At, keys, marks};

/// Lines that are read together at most.
pub const MOST: usize = 16;
/// A text whose lines are read together, and what stands behind it, so that whole words can be read anywhere in it
/// without asking.
pub type Text = [u8; PART + SLACK];

type Column = [u64; MOST];

/// Of times in this unit or a larger one, decimals are read too.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Lines, of which the first `count` mean something.
#[derive(Clone, Debug)]
pub struct Columns {
    count: usize,
    starts: [u32; MOST],
    /// Bytes of the client, with which a line starts.
    clients: [u32; MOST],
    /// Where the request begins and ends.
    targets: [u32; MOST],
    closes: [u32; MOST],
    breaks: [u32; MOST],
    /// The mark before who referred, the one behind it, and the one behind the program.
    texts: [[u32; 3]; MOST],
    around: Around,
    pub statuses: Column,
    pub bytes: Column,
    pub times_ns: Column,
    /// 1 where the time, as it is written, is a whole number of thousands.
    pub whole_thousands: Column,
}

/// Eight bytes each, the first of them lowest, and how many digits numbers have.
#[derive(Clone, Debug)]
struct Around {
    /// From before the mark that closes the request on.
    statuses: Column,
    /// Up to the blank behind the size.
    sizes: Column,
    size_digits: Column,
    /// From that blank on.
    opened: Column,
    /// From before the marks that close who referred and by what program on.
    referers: Column,
    agents: Column,
    /// Up to the line break.
    times: Column,
    time_digits: Column,
}

const NONE: Column = [0; MOST];

impl Default for Columns {
    fn default() -> Columns {
        let places = [0; MOST];
        Columns {
            count: 0,
            starts: places,
            clients: places,
            targets: places,
            closes: places,
            breaks: places,
            texts: [[0; 3]; MOST],
            around: Around {
                statuses: NONE,
                sizes: NONE,
                size_digits: NONE,
                opened: NONE,
                referers: NONE,
                agents: NONE,
                times: NONE,
                time_digits: NONE,
            },
            statuses: NONE,
            bytes: NONE,
            times_ns: NONE,
            whole_thousands: NONE,
        }
    }
}

impl Columns {
    /// Reads the lines from `start` on that are of the lead's second, as far as they are of the layout, and says how
    /// many they are and where the last of them ends; none where the first is not.
    #[inline(always)]
    pub fn read(
        &mut self,
        lead: &Lead,
        unit_ns: u64,
        text: &Text,
        start: usize,
        stops: &[u32],
        keyed: Option<Key>,
    ) -> Option<(usize, usize)> {
        match keyed {
            None => self.find::<false>(lead, text, (start, Key::default()), stops.as_chunks().0),
            Some(key) => self.find::<true>(lead, text, (start, key), stops.as_chunks().0),
        }
        let made =
            if unit_ns >= SECOND_NS { self.make::<true>(unit_ns) } else { self.make::<false>(unit_ns) };
        self.count = self.count.min(made);
        let last = self.count.checked_sub(1)?;
        Some((self.count, self.breaks[last % MOST] as usize))
    }

    /// Finds the fields, as far as it can be told from where the stops are and from what stands before the request.
    #[inline(always)]
    fn find<const KEYED: bool>(
        &mut self,
        lead: &Lead,
        text: &Text,
        (mut start, key): (usize, Key),
        stops: &[[u32; STOPS]],
    ) {
        self.count = 0;
        let begin = start;
        for (line, stops) in (0..MOST).zip(stops) {
            if KEYED && line > 0 {
                let expected = key.offset.wrapping_add((start - begin - (line - 1) * key.length) as u64);
                if key_at(text, start) != Some((expected, key.length)) {
                    break;
                }
                start += key.length;
            }
            let &[first, close, third, fourth, _, sixth, line_break] = stops;
            let [first, close, third] = [first as usize, close as usize, third as usize];
            let [fourth, sixth, line_break] = [fourth as usize, sixth as usize, line_break as usize];
            let target = first + 1;
            let end = target.wrapping_sub(lead.length);
            let client = end.wrapping_sub(start);
            // Of two bytes at least, and so no dash.
            if !(2..=16).contains(&client)
                || *window::<32, _>(text, end) != lead.start
                || load(text, target.wrapping_sub(8)) != lead.end
                || marks::bits(window(text, start), b' ', b' ').trailing_zeros().min(16) as usize != client
                || window::<1, _>(text, start) == &[0]
            {
                break;
            }
            self.starts[line] = start as u32;
            self.clients[line] = client as u32;
            self.targets[line] = target as u32;
            self.closes[line] = close as u32;
            self.breaks[line] = line_break as u32;
            self.texts[line] = [third as u32, fourth as u32, sixth as u32];
            let around = &mut self.around;
            around.statuses[line] = load(text, close.wrapping_sub(1));
            around.sizes[line] = load(text, third.wrapping_sub(8));
            around.size_digits[line] = third.wrapping_sub(close + 7) as u64;
            around.opened[line] = load(text, third.wrapping_sub(1));
            around.referers[line] = load(text, fourth.wrapping_sub(1));
            around.agents[line] = load(text, sixth.wrapping_sub(1));
            around.times[line] = load(text, line_break.wrapping_sub(7));
            around.time_digits[line] = line_break.wrapping_sub(sixth + 2) as u64;
            start = line_break + 1;
            self.count = line + 1;
        }
    }

    /// Makes the numbers of all lines; how many there are before the first that is not of the layout. Times may have
    /// three decimals if `DECIMALS`.
    #[inline(always)]
    fn make<const DECIMALS: bool>(&mut self, unit_ns: u64) -> usize {
        let around = &self.around;
        let mut wrong = 0u32;
        for line in 0..MOST {
            let (status, wrong_status) = word::status_or_wrong(around.statuses[line] >> 8);
            let size = word::last_digits(around.sizes[line] << 8, around.size_digits[line]);
            let (mut times, mut digits, mut unit_ns) =
                (around.times[line] << 8, around.time_digits[line], unit_ns);
            if DECIMALS {
                let (without, is_decimal) = word::without_point(times);
                // One digit at least before the point, or the line is left to others.
                times = if is_decimal { without } else { times };
                digits = digits.wrapping_sub(u64::from(is_decimal));
                digits = if is_decimal & (digits < 4) { 0 } else { digits };
                unit_ns = if is_decimal { unit_ns / 1000 } else { unit_ns };
            }
            let time = word::last_digits(times, digits);
            // The marks that are not looked at are the next ones to those that are.
            let wrong_around = around.sizes[line] >> 56 ^ u64::from(b' ')
                | around.times[line] >> 56 ^ u64::from(b'\n')
                | differs(around.opened[line], b" \"\0\0\0\0\0\0", 2)
                | differs(around.referers[line] >> 8, b"\" \"\0\0\0\0\0", 3)
                | differs(around.agents[line] >> 8, b"\" \0\0\0\0\0\0", 2);
            let is_escaped = |word: u64| word & 0xff == u64::from(b'\\');
            let is_wrong = (wrong_status | size.1 | time.1 | wrong_around != 0)
                | (around.size_digits[line].wrapping_sub(1) > 6)
                | (around.time_digits[line].wrapping_sub(1) > 6)
                | (digits.wrapping_sub(1) > 6)
                | is_escaped(around.statuses[line])
                | is_escaped(around.referers[line])
                | is_escaped(around.agents[line]);
            wrong |= u32::from(is_wrong) << line;
            self.statuses[line] = status;
            self.bytes[line] = size.0;
            self.times_ns[line] = time.0.wrapping_mul(unit_ns);
            // The last three digits, whatever they are preceded by.
            let is_whole = around.times[line] << 8 >> 40 == 0x30_3030 && around.time_digits[line] > 2;
            self.whole_thousands[line] = u64::from(is_whole);
        }
        wrong.trailing_zeros() as usize
    }
}

/// The key before a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Key {
    /// The place in its file where the line begins, as the key says.
    pub offset: u64,
    pub length: usize,
}

#[inline(always)]
fn key_at(text: &Text, at: usize) -> Option<(u64, usize)> {
    keys::quick_of(load(text, at), || Some(load(text, at + 8)))
}

/// Lines that were read together.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'l> {
    pub columns: &'l Columns,
    pub text: &'l Text,
    /// When all of them came.
    pub at: At,
    /// Added to where the first line starts in the text, its place in the file (modulo 2^64).
    pub offset: u64,
    /// Bytes of the key before each line but the first, which are not in the file.
    pub key: usize,
}

/// The texts of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRow<'l> {
    pub client: &'l [u8],
    pub method: Method,
    /// Without the query.
    pub path: &'l [u8],
    pub referer: Option<&'l [u8]>,
    pub agent: Option<&'l [u8]>,
    pub offset: u64,
}

impl<'l> Rows<'l> {
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.columns.count.min(MOST)
    }

    /// Where a line begins in its file.
    #[inline(always)]
    fn offset(&self, line: usize) -> u64 {
        let start = self.columns.starts[line] as u64;
        self.offset.wrapping_add(start).wrapping_sub((line * self.key) as u64)
    }

    /// A line whose request is a usual one; none of any other, whose [record](Self::record) tells what it is.
    #[inline(always)]
    pub fn usual(&self, line: usize) -> Option<LogRow<'l>> {
        let columns = self.columns;
        let (start, target) = (columns.starts[line] as usize, columns.targets[line] as usize);
        let word = load(self.text, target);
        let (method, blank) = if word as u32 == u32::from_le_bytes(*b"GET ") {
            (Method::Get, 3)
        } else if differs(word, b"POST \0\0\0", 5) == 0 {
            (Method::Post, 4)
        } else if differs(word, b"HEAD \0\0\0", 5) == 0 {
            (Method::Head, 4)
        } else {
            return None;
        };
        let end = (columns.closes[line] as usize).wrapping_sub(9);
        let version = load(self.text, end) & !(0xff << 48);
        if version != u64::from_le_bytes(*b" HTTP/\0.") {
            return None;
        }
        let from = target + blank + 1;
        let path = self.text.get(from..end)?;
        // Of the first 32 bytes, which may end behind the path; where none of them is a mark, 32.
        let found = marks::places(window(self.text, from)).trailing_zeros() as usize;
        let path = if found < path.len().min(32) {
            &path[..found]
        } else if path.len() <= 32 || marks::has_none(path) {
            path
        } else {
            return None;
        };
        // What begins so is neither nothing nor a dash.
        let client = self.text.get(start..start + columns.clients[line] as usize)?;
        let [referer, agent] = self.texts(line);
        let row = LogRow { client, method, path, referer, agent, offset: self.offset(line) };
        (path.first() == Some(&b'/')).then_some(row)
    }

    /// Who referred and by what program.
    #[inline(always)]
    fn texts(&self, line: usize) -> [Option<&'l [u8]>; 2] {
        let [opened, referer, agent] = self.columns.texts[line].map(|at| at as usize);
        // Both open where the mark before, and a blank and a mark, end.
        let text = |from: usize, to: usize| self.text.get(from..to).and_then(present);
        [text(opened + 1, referer), text(referer + 3, agent)]
    }

    /// All that a line tells.
    pub fn record(&self, line: usize) -> Record<'l> {
        let columns = self.columns;
        let at = |column: &[u32; MOST]| column[line] as usize;
        let (start, client) = (at(&columns.starts), at(&columns.clients));
        let (target, close) = (at(&columns.targets), at(&columns.closes));
        let [referer, agent] = self.texts(line);
        let mut record = Record {
            client: self.text.get(start..start + client),
            status: Some(columns.statuses[line] as u16),
            bytes: Some(columns.bytes[line]),
            time_ns: Some(columns.times_ns[line]),
            is_whole_thousands: columns.whole_thousands[line] > 0,
            at: Some(self.at),
            referer,
            agent,
            offset: self.offset(line),
            ..Record::default()
        };
        request::line(self.text.get(target..close).unwrap_or_default(), &mut record);
        record
    }
}
