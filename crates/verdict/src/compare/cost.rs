//! The time that the takes which would settle a row would take, going by how long those took that were made.
//!
//! Seconds. A block has a take of each figure and arm, with what is prepared between them: repeating one figure by
//! `--takes` repeats all. The median block is the measure, since a run may have been interrupted. Not told of runs:
//! these are repeated at other times anyway.

use std::collections::BTreeMap;

use model::data::RunData;
use model::doc::RowDoc;
use model::why::{Reason, Repeat};

use super::side::Side;

const NS: f64 = 1e9;

/// Adds to each row what its takes would cost.
pub fn of_rows(rows: &mut [RowDoc], sides: &[Side<'_>]) {
    let of_side = |side: &Side<'_>| -> Option<f64> {
        side.runs.iter().filter_map(|run| block_s(run)).max_by(f64::total_cmp)
    };
    let costs: BTreeMap<&str, f64> =
        sides.iter().filter_map(|side| Some((side.name.as_str(), of_side(side)?))).collect();
    for row in rows {
        let each = [&row.arm, &row.base].into_iter().filter_map(|name| costs.get(name.as_str()));
        let Some(each) = each.copied().max_by(f64::total_cmp) else { continue };
        for reason in &mut row.why.reasons {
            if let Reason::Needed(needed) = reason
                && needed.of == Repeat::Takes
            {
                needed.seconds = whole(each * needed.count as f64);
            }
        }
    }
}

/// How long the median block of measured takes lasted.
fn block_s(run: &RunData) -> Option<f64> {
    let mut spans: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for take in run.takes.iter().filter(|take| take.is_measured()) {
        let span = spans.entry((take.sitting, take.block)).or_insert((take.start_ns, take.end_ns));
        *span = (span.0.min(take.start_ns), span.1.max(take.end_ns));
    }
    let spans: Vec<f64> = spans.values().map(|(start, end)| end.saturating_sub(*start) as f64 / NS).collect();
    stats::median(&spans)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturates")]
fn whole(seconds: f64) -> Option<u64> {
    seconds.is_finite().then_some(seconds.round().max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use model::Better;
    use model::doc::{MachineDoc, VerdictWord};
    use model::why::Needed;

    use super::*;
    use crate::loads::planted::one;
    use crate::paragraph::tests::row;

    #[test]
    fn takes_cost_what_their_blocks_took() {
        let mut run = one("connections=50", &[("throughput", 1e3)]);
        for (at, take) in run.takes.iter_mut().enumerate() {
            (take.block, take.start_ns) = (at as u32, at as u64 * 9_000_000_000);
            take.end_ns = take.start_ns + 4_000_000_000;
        }
        // One that was interrupted.
        run.takes[0].end_ns += 400_000_000_000;
        let mut rows = [Repeat::Takes, Repeat::Runs].map(|of| {
            let mut row = row("index", "kind=integer", Better::Higher, 0.5, VerdictWord::CannotTell);
            row.why = Reason::Needed(Needed::new(9_120, of)).into();
            (row.arm, row.base) = ("a".to_owned(), "b".to_owned());
            row
        });
        let machine = || MachineDoc { id: String::new(), name: String::new() };
        let side = |name: &str| Side { runs: vec![&run], ..Side::new(name, machine()) };
        of_rows(&mut rows, &[side("a"), side("b")]);
        let seconds = rows.map(|row| row.why.needed().and_then(|needed| needed.seconds));
        assert_eq!(seconds, [Some(36_480), None]);
    }
}
