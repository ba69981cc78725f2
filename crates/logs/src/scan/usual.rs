//! Lines of the layout that most servers write: Apache's common and combined, and combined with the time behind it.
//!
//! Straight through, without looking at a plan. As with [`quick`](super::quick), either a line is read as
//! [`text::read`](super::text::read) reads it, or nothing is said about it: of a user who is present, a size of `-`, a
//! time with decimals that are not three of a second, another second than that of the line before.

use super::clock::At;
use super::columns::{Columns, Key, SECOND_NS, Text};
use super::quick::{LONGEST, Window, load, window};
use super::record::{LONGEST_NS, Record, present};
use super::request;
use super::time::Clocks;
use super::word::{self, differs};
use crate::format::plan::{Field, TextPart, TextPlan};

/// The usual layout of a format: the fields behind the size.
#[derive(Clone, Debug)]
pub struct Usual {
    /// True if the layout has referer and user agent.
    texts: bool,
    /// Nanoseconds in one unit of the time at the line's end; `None` where the format has none.
    unit_ns: Option<u64>,
    /// Literal text from the end of the time pattern to the request; the pattern may already hold the bracket.
    behind_clock: Box<[u8]>,
    /// Bytes from the client to the request of lines in the last second that was read; `None` before the first one.
    lead: Option<Lead>,
    /// [`Clocks::changes`] when `lead` was made.
    change: u64,
}

/// Quotation marks of such a line, and its line break.
pub const STOPS: usize = 7;
const STOPS_WITHOUT_TEXTS: usize = 3;

/// No unit is larger whose numbers of seven digits are all no longer than a request takes.
const LONGEST_UNIT_NS: u64 = LONGEST_NS / 9_999_999;

/// The text between client and request, equal in all lines of one second: ` - - [10/Oct/2000:13:55:36 -0700] "`.
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    pub start: [u8; 32],
    /// The last eight bytes, some of which may be in `start`.
    pub end: u64,
    /// From 32 to 40.
    pub length: usize,
    pub at: At,
}

impl Lead {
    /// `None` where the parts together are not 32 to 40 bytes.
    fn new(at: At, parts: [&[u8]; 3]) -> Option<Lead> {
        let (mut text, mut length) = ([0; 40], 0);
        for part in parts {
            text.get_mut(length..length + part.len())?.copy_from_slice(part);
            length += part.len();
        }
        let (start, _) = text.split_first_chunk()?;
        let end = u64::from_le_bytes(*text[..length].last_chunk()?);
        (length >= start.len()).then_some(Lead { start: *start, end, length, at })
    }
}

impl Usual {
    /// None where lines of this plan are of another layout.
    pub fn new(plan: &TextPlan) -> Option<Usual> {
        let is = |part: &TextPart, field: &Field, quoted: bool, after: &[u8]| {
            part.field == *field && part.quoted == quoted && !part.list && part.after.bytes() == after
        };
        // Apache writes who somebody says he is, nginx a dash.
        let (user, rest) = match &plan.parts[..] {
            [client, other, user, rest @ ..]
                if is(client, &Field::Client, false, b" ") && is(other, &Field::Other, false, b" ") =>
            {
                (user, rest)
            }
            [client, user, rest @ ..] if is(client, &Field::Client, false, b" - ") => (user, rest),
            _ => return None,
        };
        let [clock, request, status, size, rest @ ..] = rest else { return None };
        let is_head = plan.before.bytes().is_empty()
            && plan.patterns.len() == 1
            && is(user, &Field::Other, false, b" [")
            && clock.field == Field::Clock(0)
            && [&b" \""[..], b"] \""].contains(&clock.after.bytes())
            && is(request, &Field::Request, true, b"\" ")
            && is(status, &Field::Status, false, b" ");
        let is_size = |after: &[u8]| is(size, &Field::Bytes, false, after);
        let is_time = |part: &TextPart, unit_ns: u64| is(part, &Field::Duration { unit_ns }, false, b"");
        let unit_of = |part: &TextPart| match part.field {
            Field::Duration { unit_ns } if is_time(part, unit_ns) && unit_ns <= LONGEST_UNIT_NS => {
                Some(unit_ns)
            }
            _ => None,
        };
        let (texts, unit_ns) = match rest {
            [] if is_size(b"") => (false, None),
            [time] if is_size(b" ") => (false, Some(unit_of(time)?)),
            [referer, agent, times @ ..]
                if is_size(b" \"") && is(referer, &Field::Referer, true, b"\" \"") =>
            {
                match times {
                    [] if is(agent, &Field::Agent, true, b"\"") => (true, None),
                    [time] if is(agent, &Field::Agent, true, b"\" ") => (true, Some(unit_of(time)?)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let behind_clock = clock.after.bytes().into();
        is_head.then_some(Usual { texts, unit_ns, behind_clock, lead: None, change: 0 })
    }

    /// Takes in the time of a line that was read by its plan: what comes next is mostly of the same second.
    #[inline]
    pub fn follow(&mut self, clocks: &Clocks) {
        if clocks.changes() != self.change {
            self.change = clocks.changes();
            self.lead = clocks.last().and_then(|(at, text, length)| {
                let text = text.get(..length)?;
                Lead::new(at, [b" - - [", text, &self.behind_clock])
            });
        }
    }

    /// Reads some lines from `start` on together: when they came, how many they are, and where the last of them ends.
    #[inline(always)]
    pub fn together(
        &self,
        columns: &mut Columns,
        text: &Text,
        start: usize,
        stops: &[u32],
        keyed: Option<Key>,
    ) -> Option<(At, usize, usize)> {
        let (true, Some(unit_ns), Some(lead)) = (self.texts, self.unit_ns, &self.lead) else {
            return None;
        };
        let (count, end) = columns.read(lead, unit_ns, text, start, stops, keyed)?;
        Some((lead.at, count, end))
    }

    /// Reads the line that stands at `start`, where the window begins, and says where in the text it ends and the
    /// stops behind it; the places of stops are counted from the same place as `start`.
    #[inline(always)]
    pub fn read<'l, 's>(
        &self,
        line: &'l Window,
        start: usize,
        stops: &'s [u32],
        record: &mut Record<'l>,
    ) -> Option<(usize, &'s [u32])> {
        let lead = self.lead.as_ref()?;
        let place = |stop: u32| (stop as usize).wrapping_sub(start);
        // Of the marks around texts it is enough to know where those stand that end one.
        let ([first, close], line_break, [two, four], rest) = if self.texts {
            let (&[a, b, _, d, _, f, line_break], rest) = stops.split_first_chunk::<STOPS>()?;
            ([a, b], line_break, [d, f], rest)
        } else {
            let (&[a, b, line_break], rest) = stops.split_first_chunk::<STOPS_WITHOUT_TEXTS>()?;
            ([a, b], line_break, [start as u32; 2], rest)
        };
        let end = place(line_break);
        if end >= LONGEST || line[end] != b'\n' {
            return None;
        }
        let client = word::position(load(line, 0), b' ');
        let client = if client < 8 { client } else { 8 + word::position(load(line, 8), b' ') };
        let target = client + lead.length;
        let close = place(close);
        if *window::<32, _>(line, client) != lead.start
            || load(line, target - 8) != lead.end
            || place(first) + 1 != target
            || client < 2
            || line[0] == 0
        {
            return None;
        }
        // The mark and what stands before it.
        let closing = load(line, close.wrapping_sub(1));
        let status = word::status(closing >> 8)?;
        let (size, digits) = word::digits(load(line, close + 6));
        let mut at_end = close + 6 + digits;
        // Behind eight digits there is no other one, or what is to follow does not.
        if digits == 0 || closing as u8 == b'\\' {
            return None;
        }
        if self.texts {
            at_end = texts(line, at_end, [place(two), place(four)], record)?;
        }
        if let Some(unit_ns) = self.unit_ns {
            at_end = time(line, at_end, unit_ns, record)?;
        }
        if at_end != end {
            return None;
        }
        // Of two bytes at least, and so no dash.
        record.client = Some(line.get(..client)?);
        record.at = Some(lead.at);
        (record.method, record.path, record.query, record.protocol) = (None, None, None, None);
        request::line(line.get(target..close)?, record);
        (record.status, record.bytes) = (Some(status), Some(size));
        Some((line_break as usize, rest))
    }
}

/// Who referred and by what program, from the blank behind the size on; where they end. `two` and `four` are the
/// second and the fourth quotation mark or line break from there on.
#[inline(always)]
fn texts<'l>(line: &'l Window, at: usize, [two, four]: [usize; 2], record: &mut Record<'l>) -> Option<usize> {
    let (referer, agent) = (load(line, two.wrapping_sub(1)), load(line, four.wrapping_sub(1)));
    // So the first is behind the blank, and the third two behind the second.
    let is_usual = (differs(load(line, at), b" \"\0\0\0\0\0\0", 2) == 0)
        & (differs(referer >> 8, b"\" \"\0\0\0\0\0", 3) == 0)
        & (differs(agent >> 8, b"\"\0\0\0\0\0\0\0", 1) == 0)
        & (referer as u8 != b'\\')
        & (agent as u8 != b'\\');
    if !is_usual {
        return None;
    }
    record.referer = present(line.get(at + 2..two)?);
    record.agent = present(line.get(two + 3..four)?);
    Some(four + 1)
}

/// The time, from the blank before it on; where it ends.
#[inline(always)]
fn time(line: &Window, at: usize, unit_ns: u64, record: &mut Record<'_>) -> Option<usize> {
    let behind = load(line, at);
    let word = behind >> 8;
    // Seven at most: where there are more, the line does not end behind them.
    let (value, digits) = word::digits(word);
    if digits == 0 || behind as u8 != b' ' {
        return None;
    }
    let (mut time_ns, mut length) = (value * unit_ns, digits);
    if unit_ns >= SECOND_NS && digits <= 3 && (word >> (8 * digits)) as u8 == b'.' {
        let (value, decimals) = word::digits(word >> (8 * digits + 8));
        if decimals != 3 {
            return None;
        }
        time_ns += value * (unit_ns / 1000);
        length += 1 + decimals;
    }
    record.time_ns = Some(time_ns);
    // The last three digits, whatever they are preceded by.
    record.is_whole_thousands = (word << (64 - 8 * length)) >> 40 == 0x30_3030;
    Some(at + 1 + length)
}
