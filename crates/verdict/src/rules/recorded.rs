//! Refusals that the instruments recorded during a take (page cache instead of disk, no flush seen, arrays too
//! small), gathered by rule and reaching the series of those takes.
//!
//! Counts measured takes only; a refusal of a warm-up take says nothing about a figure.

use std::collections::{BTreeMap, BTreeSet};

use model::finding::{About, InTakes, Subject};
use model::{Finding, Phase};

use crate::ruling::Ruling;
use crate::run_index::RunIndex;

/// Rule, subject, cell and arm.
type Place = (String, Subject, u32, u32);

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let mut groups: BTreeMap<Place, (BTreeSet<u64>, Finding)> = BTreeMap::new();
    for take in index.run.takes.iter().filter(|take| take.phase == Phase::Measured) {
        for refusal in &take.refusals {
            let key = (refusal.kind().to_owned(), refusal.subject.clone(), take.cell, take.arm);
            let (takes, worst) = groups.entry(key).or_insert_with(|| (BTreeSet::new(), refusal.clone()));
            takes.insert(take.seq);
            if refusal.state > worst.state {
                *worst = refusal.clone();
            }
        }
    }
    groups
        .into_iter()
        .map(|((_, _, cell, arm), (takes, finding))| gather(index, (cell, arm), &takes, finding))
        .collect()
}

fn gather(index: &RunIndex<'_>, place: (u32, u32), takes: &BTreeSet<u64>, finding: Finding) -> Ruling {
    let touched = |row: &crate::run_index::FigureRow<'_>| row.takes().any(|seq| takes.contains(&seq));
    let rows: Vec<_> = index.rows().filter(touched).collect();
    let all = index.run.takes.iter().filter(|take| {
        take.phase == Phase::Measured && take.fault.is_none() && (take.cell, take.arm) == place
    });
    let of = all.count().max(takes.len());
    let cell = usize::try_from(place.0).ok().and_then(|at| index.run.plan.cells.get(at));
    let subject = match (finding.subject.is_run(), rows.first(), cell) {
        (false, ..) | (true, None, None) => finding.subject,
        (true, Some(row), _) => row.subject(),
        (true, None, Some(cell)) => {
            About::Cell { instrument: cell.instrument.to_string(), params: cell.params.clone() }.into()
        }
    };
    let gathered = InTakes { rule: Box::new(finding.rule), takes: takes.len(), of };
    Ruling::about(subject, gathered, rows.iter().map(|row| row.index).collect())
}
