//! Limits what a child may send without being asked: enough for any machine's telemetry, too little to fill memory or
//! the store.
//!
//! Counted in frames; each [`VALUES`] telemetry values count as one more. Answers to orders are not counted: the pipe
//! bounds their size, and an unsolicited answer ends the child.

use model::NoteBody;
use model::frame::{Frame, Segment};

/// Frames allowed at once, and per second since the start. A machine of 256 CPUs sends about 5 per second.
const BURST: u64 = 1000;
const A_SECOND: u64 = 100;

/// Frames allowed per order, for progress and notes while preparing.
const AN_ORDER: u64 = 20;

/// Telemetry values that count as one frame.
const VALUES: usize = 4096;

/// Telemetry values that may wait for the next take, 16 bytes each in memory; more are stored at once.
pub const MOST_WAITING: usize = 4 << 20;

/// Longest stored text, in bytes.
const MOST_TEXT: usize = 4096;

/// Frames that may wait while another machine is served: an answer and Bye.
pub const MOST_INBOX: usize = 8;

pub fn values(segment: &Segment) -> usize {
    segment.rows.iter().map(Vec::len).sum::<usize>() + segment.columns.len() + segment.at_ns.len()
}

/// The amount that one child has sent unasked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inflow {
    weight: u64,
    orders: u64,
}

impl Inflow {
    pub fn ordered(&mut self) {
        self.orders += 1;
    }

    /// Counts a frame. False when the child has sent too much for the time `since_ns` after the start.
    pub fn allows(&mut self, frame: &Frame, since_ns: u64) -> bool {
        let more = match frame {
            Frame::Telemetry(segment) => (values(segment) / VALUES) as u64,
            _ => 0,
        };
        self.weight += 1 + more;
        self.weight <= BURST + since_ns / 1_000_000_000 * A_SECOND + self.orders * AN_ORDER
    }
}

/// The text, cut to the longest length that is stored.
pub fn cut(mut text: String) -> String {
    if text.len() > MOST_TEXT {
        let whole = text.len();
        let end = (0..=MOST_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str(&format!(" ... (cut; {whole} bytes)"));
    }
    text
}

/// A note that is no longer than anybody reads; one that is too long becomes a remark.
pub fn cut_note(note: NoteBody) -> NoteBody {
    if note.kind().len().max(note.text().len()) <= MOST_TEXT {
        return note;
    }
    NoteBody::Remark { kind: cut(note.kind().to_owned()), text: cut(note.text().into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_machine_may_speak_and_a_flood_is_refused() {
        let mut inflow = Inflow::default();
        // Signs of life and twenty sources of 2,000 columns, for an hour.
        let columns: Vec<(String, String)> = (0..2000).map(|n| (n.to_string(), String::new())).collect();
        let segment = Segment {
            source: "cpu".to_owned(),
            rows: vec![vec![Some(1.0); columns.len()]; 10],
            at_ns: vec![0; 10],
            columns,
        };
        let batch = Frame::Telemetry(segment);
        for second in 0..3600u64 {
            assert!(inflow.allows(&Frame::Ping, second * 1_000_000_000));
            if second % 10 == 9 {
                assert!((0..20).all(|_| inflow.allows(&batch, second * 1_000_000_000)), "{second}");
            }
        }
        let mut flood = Inflow::default();
        assert!((0..10_000).any(|_| !flood.allows(&Frame::Ping, 0)));
        let mut heavy = Inflow::default();
        assert!((0..400).any(|_| !heavy.allows(&batch, 0)), "values weigh too");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("short".to_owned()), "short");
        let long = cut("é".repeat(1 << 20));
        assert!(long.len() < MOST_TEXT + 100 && long.ends_with("(cut; 2097152 bytes)"), "{}", long.len());
    }
}
