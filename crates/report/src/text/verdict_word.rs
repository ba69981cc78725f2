//! The word of a verdict in tables, and its colour.

use model::doc::{RowDoc, VerdictWord};

use super::Tone;

/// A row's verdict in one word, and its colour.
pub const fn verdict(row: &RowDoc) -> (&'static str, Tone) {
    match row.verdict {
        VerdictWord::Invalid => ("invalid", Tone::Warn),
        _ if row.point => ("point", Tone::Dim),
        VerdictWord::Better => ("better", Tone::Good),
        VerdictWord::Worse => ("worse", Tone::Bad),
        VerdictWord::Tie => ("tie", Tone::Plain),
        VerdictWord::CannotTell => ("?", Tone::Dim),
    }
}
