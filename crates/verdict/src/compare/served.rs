//! Runs of access logs side by side: judged like with like, as `boxscore logs` judges them ([`crate::traffic`]).
//!
//! An hour's figures depend on what was asked for in it, so that hours are no takes of one thing: their rows are shown
//! and never judged. What was served comes from the notes of the runs. Runs of one side are put together; of hours that
//! were read twice the newest reading counts.

use std::collections::BTreeSet;

use model::Finding;
use model::traffic::{Group, Traffic};
use stats::{Held, Verdict};

use super::judge::Judged;
use super::matching::RowKey;
use super::prepare::Prepared;
use super::{CompareOptions, Side};
use crate::traffic::{self, INSTRUMENT, SEED};

const NOT_TAKES: &str = "hours of logs differ in what was asked for";

/// What each side served, where all its runs are of logs that tell it.
pub fn groups(sides: &[Prepared<'_>]) -> Vec<Option<Group>> {
    sides.iter().map(|side| of_side(side.side)).collect()
}

fn of_side(side: &Side<'_>) -> Option<Group> {
    let all: Option<Vec<Group>> = side.runs.iter().map(|run| Some(Traffic::of(run)?.group)).collect();
    let mut newest_first = all?.into_iter().rev();
    let mut sum = newest_first.next()?;
    for other in newest_first {
        if !other.hours.keys().any(|hour| sum.hours.contains_key(hour)) {
            add(&mut sum, other);
        }
    }
    Some(sum)
}

/// Adds what was served in other hours.
fn add(sum: &mut Group, other: Group) {
    let mean = |group: &Group| Some((group.mean_of_ratios?, group.requests as f64));
    sum.mean_of_ratios = match (mean(sum), mean(&other)) {
        (Some((a, n)), Some((b, m))) if n + m > 0.0 => Some((a * n + b * m) / (n + m)),
        _ => None,
    };
    sum.requests = sum.requests.saturating_add(other.requests);
    sum.bytes += other.bytes;
    sum.seconds += other.seconds;
    for (status, count) in other.statuses {
        let all = sum.statuses.entry(status).or_default();
        *all = all.saturating_add(count);
    }
    sum.sizes.extend(other.sizes);
    sum.sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    sum.hours.extend(other.hours);
    sum.cells.extend(other.cells);
}

/// Withdraws verdicts on hours, and adds those on what was served.
pub fn judge(
    rows: &mut Vec<Judged>,
    (arm, of_arm): (&Prepared<'_>, Option<&Group>),
    (base, of_base): (&Prepared<'_>, Option<&Group>),
    options: &CompareOptions<'_>,
) {
    let of_logs = |judged: &Judged| judged.row.instrument == INSTRUMENT && !judged.row.point;
    if !rows.iter().any(of_logs) {
        return;
    }
    let both = of_arm.zip(of_base);
    for judged in rows.iter_mut().filter(|judged| of_logs(judged)) {
        withdraw(judged, both.is_some());
    }
    let Some((of_arm, of_base)) = both else { return };
    let definition = rows.iter().find(|judged| of_logs(judged)).map_or(1, |judged| judged.key.definition);
    let wanted =
        |metric: &str| options.metric.as_deref().is_none_or(|name| name == metric || name == INSTRUMENT);
    for concluded in traffic::pair(of_arm, of_base, SEED).rows {
        let mut row = concluded.row;
        if !wanted(&row.metric) {
            continue;
        }
        (row.arm, row.base) = (arm.side.name.clone(), base.side.name.clone());
        super::value::price(&mut row, arm.side, base.side, options);
        let key = RowKey {
            instrument: row.instrument.clone(),
            metric: row.metric.clone(),
            unit: row.unit,
            definition,
            params: row.params.clone(),
        };
        rows.push(Judged { row, key, verdict: concluded.verdict, effect: concluded.effect });
    }
}

/// A row of hours: the figures, and no word on which is better.
fn withdraw(judged: &mut Judged, stands_elsewhere: bool) {
    let row = &mut judged.row;
    (row.low, row.high, row.p, row.p_holm, row.floor, row.noise) = (None, None, None, None, None, None);
    row.ratio =
        row.arm_value.zip(row.base_value).map(|(arm, base)| arm / base).filter(|ratio| ratio.is_finite());
    (judged.verdict, judged.effect) = (Verdict::CannotTell(Held::Interval), None);
    row.verdict = super::value::word(judged.verdict);
    row.headline &= !stands_elsewhere;
    row.why = Some(if stands_elsewhere {
        format!("{NOT_TAKES}: `{}` and `{}` compare like with like", traffic::SPEED, traffic::TIME)
    } else {
        format!("{NOT_TAKES}: `boxscore logs A=FILE B=FILE` compares like with like")
    });
}

/// What is unlike between the first side and the others, and what to think of two averages.
pub fn findings(sides: &[Prepared<'_>], groups: &[Option<Group>]) -> Vec<Finding> {
    let mut said = BTreeSet::new();
    let Some((Some(base), arms)) = groups.split_first() else { return Vec::new() };
    let called =
        |group: &Group, side: &Prepared<'_>| Group { label: side.side.name.clone(), ..group.clone() };
    let base = sides.first().map(|side| called(base, side));
    let pairs =
        arms.iter().zip(sides.iter().skip(1)).filter_map(|(arm, side)| Some(called(arm.as_ref()?, side)));
    let all = pairs.zip(std::iter::repeat(base)).filter_map(|(arm, base)| Some((arm, base?)));
    all.flat_map(|(arm, base)| traffic::pair(&arm, &base, SEED).findings)
        .filter(|finding| said.insert((finding.kind.clone(), finding.subject.clone())))
        .collect()
}
