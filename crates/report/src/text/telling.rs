//! Which rows of a comparison decide its answer, where not all of them can be shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::doc::{RowDoc, VerdictWord};

/// A row's part in the answer, the more important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    /// Called better or worse.
    Decides,
    Refused,
    /// A tie, a point, or not told.
    Open,
}

fn share(row: &RowDoc) -> Share {
    match row.verdict {
        VerdictWord::Better | VerdictWord::Worse => Share::Decides,
        VerdictWord::Invalid => Share::Refused,
        VerdictWord::Tie | VerdictWord::CannotTell => Share::Open,
    }
}

/// How far apart the two sides of a deciding row are. A share of failures has no ratio and counts as the farthest.
/// Rows that decide nothing have no order of their own: how far they are apart may be chance.
fn distance(row: &RowDoc) -> f64 {
    match share(row) {
        Share::Decides => row.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs()),
        Share::Refused | Share::Open => 0.0,
    }
}

/// The places of these rows: those that decide first, the most different of them before the others.
pub fn by_difference(rows: &[&RowDoc]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by(|a, b| {
        let (a, b) = (rows[*a], rows[*b]);
        share(a).cmp(&share(b)).then(distance(b).total_cmp(&distance(a)))
    });
    places
}

/// The places of the rows that are shown where there is room for so many, in the order of their difference. Instruments
/// take turns, and so do better and worse, so that many rows of one kind hide no other kind.
pub fn most_telling(rows: &[&RowDoc], most: usize) -> Vec<usize> {
    let places = by_difference(rows);
    let mut shown: BTreeMap<(&str, &str, VerdictWord), usize> = BTreeMap::new();
    let mut turns: Vec<(Share, usize, usize)> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let row = rows[*place];
        let turn = shown.entry((&row.arm, &row.instrument, row.verdict)).or_default();
        turns.push((share(row), if share(row) == Share::Decides { *turn } else { 0 }, at));
        *turn += 1;
    }
    turns.sort_unstable();
    turns.truncate(most);
    turns.sort_unstable_by_key(|(.., at)| *at);
    turns.into_iter().map(|(.., at)| places[at]).collect()
}

/// The row that decides most.
pub fn deciding<'a>(rows: impl Iterator<Item = &'a RowDoc>) -> Option<&'a RowDoc> {
    let weight = |row: &&RowDoc| (Reverse(share(row)), distance(row));
    rows.max_by(|a, b| {
        let ((a, far_a), (b, far_b)) = (weight(a), weight(b));
        a.cmp(&b).then(far_a.total_cmp(&far_b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(instrument: &str, ratio: f64, verdict: VerdictWord) -> RowDoc {
        let ratio = Some(ratio);
        RowDoc { instrument: instrument.to_owned(), ratio, verdict, ..crate::text::logs::tests::row() }
    }

    #[test]
    fn rows_that_decide_come_first_and_instruments_take_turns() {
        let rows = [
            row("a", 3.0, VerdictWord::Tie),
            row("b", 0.5, VerdictWord::Worse),
            row("b", 0.4, VerdictWord::Worse),
            row("b", 0.45, VerdictWord::Worse),
            row("c", 1.2, VerdictWord::Better),
            row("b", 1.3, VerdictWord::Better),
            row("d", 9.0, VerdictWord::Invalid),
        ];
        let rows: Vec<&RowDoc> = rows.iter().collect();
        assert_eq!(by_difference(&rows), [2, 3, 1, 5, 4, 6, 0]);
        assert_eq!(most_telling(&rows, 3), [2, 5, 4]);
        assert_eq!(most_telling(&rows, 4), [2, 3, 5, 4]);
        assert_eq!(most_telling(&rows, 6), [2, 3, 1, 5, 4, 6]);
        assert_eq!(most_telling(&rows, 9), by_difference(&rows));
        assert_eq!(deciding(rows.iter().copied()).and_then(|row| row.ratio), Some(0.4));
    }

    #[test]
    fn what_has_no_ratio_is_the_farthest() {
        let failures = RowDoc { ratio: None, ..row("a", 1.0, VerdictWord::Worse) };
        let rows = [row("a", 0.01, VerdictWord::Worse), failures];
        assert_eq!(most_telling(&rows.iter().collect::<Vec<_>>(), 1), [1]);
    }
}
