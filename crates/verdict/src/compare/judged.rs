//! A judged row of two sides, and what its verdict rests on.

use model::doc::RowDoc;
use model::why::Reason;
use stats::{Between, Effect, Margin, Paired, Verdict};

use super::matching::RowKey;
use super::prepared::Prepared;
use super::side::CompareOptions;

/// One judged row of a pair of sides, with the effect that ranks and indexes are computed from.
pub struct Judged {
    pub row: RowDoc,
    pub key: RowKey,
    pub verdict: Verdict,
    pub effect: Option<Effect>,
}

/// The comparison of one row before any correction.
pub enum Found {
    Paired(Paired),
    Runs(Between),
    Point(Reason),
    Refused(Reason),
    Nothing(Reason),
}

/// Both sides are single runs of one interleaved study.
pub fn paired_by_block(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    match (arm.side.runs.as_slice(), base.side.runs.as_slice()) {
        ([a], [b]) => !a.head.study.is_empty() && a.head.study == b.head.study,
        _ => false,
    }
}

/// The margin asked for, or the usual one.
pub fn margin(arms: bool, options: &CompareOptions) -> Margin {
    let usual = if arms { Margin::ARMS } else { Margin::MACHINES };
    options.margin.and_then(Margin::new).unwrap_or(usual)
}
