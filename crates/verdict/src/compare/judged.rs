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
    Runs(Between, Sources),
    Apart(Apart),
    Point(Reason),
    Refused(Reason),
    Nothing(Reason),
}

/// The runs that the noise came from.
pub struct Sources {
    /// Each once, sorted.
    pub ids: Vec<String>,
    /// Each box is worth one value.
    pub by_box: bool,
}

/// A row that no ratio tells apart.
pub struct Apart {
    /// Before any correction.
    pub verdict: Verdict,
    /// `None` where there is nothing to test.
    pub p: Option<f64>,
    pub reason: Option<Reason>,
}

impl Apart {
    /// The verdict, given p after Holm's correction.
    pub fn after(&self, p_holm: Option<f64>) -> Verdict {
        let is_certain = p_holm.is_some_and(|p| p <= stats::ALPHA);
        match self.verdict {
            Verdict::Better | Verdict::Worse if !is_certain => Verdict::CannotTell(stats::Held::FamilySize),
            verdict => verdict,
        }
    }
}

/// Both sides are arms of one interleaved study on one machine. Two machines of a study are judged run against run:
/// each has slow noise of its own, which blocks do not share.
pub fn paired_by_block(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    match (arm.side.runs.as_slice(), base.side.runs.as_slice()) {
        ([a], [b]) => {
            let (a, b) = (&a.head, &b.head);
            !a.study.is_empty() && a.study == b.study && a.machine_id == b.machine_id
        }
        _ => false,
    }
}

/// The margin asked for, or the usual one.
pub fn margin(arms: bool, options: &CompareOptions) -> Margin {
    let usual = if arms { Margin::ARMS } else { Margin::MACHINES };
    options.margin.and_then(Margin::new).unwrap_or(usual)
}
