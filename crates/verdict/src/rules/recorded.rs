//! What the instruments themselves refused during a take (page cache instead of disk, no flush seen, arrays too
//! small), gathered by rule and reaching the series of those takes.
//!
//! Counts measured takes only; a refusal of a warm-up take says nothing about a figure.

use std::collections::{BTreeMap, BTreeSet};

use model::{Finding, Phase, Validity};

use super::{Look, Ruling};
use crate::say;

/// Rule, subject, cell and arm.
type Group = (String, String, u32, u32);

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let mut groups: BTreeMap<Group, (BTreeSet<u64>, Finding)> = BTreeMap::new();
    for take in look.run.takes.iter().filter(|take| take.phase == Phase::Measured) {
        for refusal in &take.refusals {
            let key = (refusal.kind.clone(), refusal.subject.clone(), take.cell, take.arm);
            let (takes, worst) = groups.entry(key).or_insert_with(|| (BTreeSet::new(), refusal.clone()));
            takes.insert(take.seq);
            if refusal.state > worst.state {
                *worst = refusal.clone();
            }
        }
    }
    groups
        .into_iter()
        .map(|((_, _, cell, arm), (takes, finding))| gather(look, (cell, arm), &takes, finding))
        .collect()
}

fn gather(look: &Look<'_>, place: (u32, u32), takes: &BTreeSet<u64>, mut finding: Finding) -> Ruling {
    let touched = |row: &super::look::Row<'_>| row.takes().any(|seq| takes.contains(&seq));
    let rows: Vec<_> = look.rows().filter(touched).collect();
    let all = look.run.takes.iter().filter(|take| {
        take.phase == Phase::Measured && take.fault.is_none() && (take.cell, take.arm) == place
    });
    let all = all.count().max(takes.len());
    if takes.len() < all && finding.state != Validity::Ok {
        finding.text = format!("{} (in {} of {})", finding.text, takes.len(), say::count(all, "take"));
    }
    if finding.subject.is_empty() {
        let cell = usize::try_from(place.0).ok().and_then(|index| look.run.plan.cells.get(index));
        finding.subject = match (rows.first(), cell) {
            (Some(row), _) => row.title(),
            (None, Some(cell)) => format!("{} {}", cell.instrument, cell.params).trim_end().to_owned(),
            (None, None) => String::new(),
        };
    }
    let finding = finding.evidence("takes", takes.len() as f64);
    Ruling { finding, reach: rows.iter().map(|row| row.index).collect() }
}
