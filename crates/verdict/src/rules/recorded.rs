//! Refusals that the instruments recorded during a take (page cache instead of disk, no flush seen, arrays too
//! small), gathered by rule and reaching the series of those takes.
//!
//! Counts measured takes only; a refusal of a warm-up take says nothing about a figure.

use std::collections::{BTreeMap, BTreeSet};

use model::finding::{About, InTakes, Subject};
use model::{Finding, Phase};

use crate::ruling::Ruling;
use crate::run_index::{FigureRow, RunIndex};

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
    let touched = |row: &FigureRow<'_>| row.takes().any(|seq| takes.contains(&seq));
    let rows: Vec<_> = index.rows().filter(touched).collect();
    let alone = about_one(&finding.subject, &rows);
    let rows = alone.map_or(rows, |row| vec![row]);
    let all = index.run.takes.iter().filter(|take| {
        take.phase == Phase::Measured && take.fault.is_none() && (take.cell, take.arm) == place
    });
    let of = all.count().max(takes.len());
    let cell = usize::try_from(place.0).ok().and_then(|at| index.run.plan.cells.get(at));
    let is_named = alone.is_none() && !finding.subject.is_run();
    let subject = match (is_named, rows.first(), cell) {
        (true, ..) | (false, None, None) => finding.subject,
        (false, Some(row), _) => row.subject(),
        (false, None, Some(cell)) => {
            About::Cell { instrument: cell.instrument.to_string(), params: cell.params.clone() }.into()
        }
    };
    let gathered = InTakes { rule: Box::new(finding.rule), takes: takes.len(), of };
    Ruling::about(subject, gathered, rows.iter().map(|row| row.index).collect())
}

/// The row that a refusal is about alone. In the store the subject is its text.
fn about_one<'a>(subject: &Subject, rows: &[FigureRow<'a>]) -> Option<FigureRow<'a>> {
    let name = subject.to_string();
    rows.iter().find(|row| row.subject().to_string() == name).copied()
}

#[cfg(test)]
mod tests {
    use model::Validity;
    use model::finding::Recorded;

    use super::*;
    use crate::loads::planted::one;
    use crate::ruling::validity_of;
    use crate::run_index::RunContext;

    #[test]
    fn a_refusal_about_one_figure_reaches_that_one_alone() {
        let mut run = one("connections=1", &[("throughput", 1.0), ("response-time", 1e-3)]);
        let context = RunContext::default();
        let names: Vec<(usize, Subject)> =
            RunIndex::new(&run, &context).rows().map(|row| (row.index, row.subject())).collect();
        let [(first, _), (second, of_second)] = &names[..] else { panic!("{names:?}") };
        let states = |run: &model::data::RunData| {
            let rulings = rule(&RunIndex::new(run, &context));
            [*first, *second].map(|row| validity_of(&rulings, row).0)
        };
        // As the store has it: the subject is its text.
        let finding = Finding::new(Recorded::StillCompiling { seconds: 10.0 });
        run.takes[1].refusals = vec![finding.clone().about(Subject::read(&of_second.to_string()))];
        assert_eq!(states(&run), [Validity::Unknown, Validity::Invalid]);
        run.takes[1].refusals = vec![finding];
        assert_eq!(states(&run), [Validity::Invalid, Validity::Invalid]);
    }
}
