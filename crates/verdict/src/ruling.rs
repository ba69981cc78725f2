//! A ruling: what a rule concludes, and the series that it reaches.

use std::collections::BTreeMap;

use model::finding;
use model::{Finding, Subject, Validity};

/// A finding and the series it is about (positions in the run's `series`).
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    pub finding: Finding,
    pub reach: Vec<usize>,
}

impl Ruling {
    /// About the whole run, without a series that it reaches.
    pub fn of_run(rule: impl Into<finding::Rule>) -> Ruling {
        Ruling { finding: Finding::new(rule), reach: Vec::new() }
    }

    pub fn about(subject: Subject, rule: impl Into<finding::Rule>, reach: Vec<usize>) -> Ruling {
        Ruling { finding: Finding::new(rule).about(subject), reach }
    }
}

/// Validity of one series under these rulings, with the texts of those that doubt or refuse it.
pub fn validity_of(rulings: &[Ruling], series: usize) -> (Validity, Vec<String>) {
    let about = rulings.iter().filter(|ruling| ruling.reach.contains(&series));
    let mut states: BTreeMap<Validity, Vec<String>> = BTreeMap::new();
    for ruling in about {
        states.entry(ruling.finding.state).or_default().push(ruling.finding.text());
    }
    let grave = |state: Validity| states.get(&state).cloned().unwrap_or_default();
    let reasons: Vec<String> = [grave(Validity::Invalid), grave(Validity::Doubtful)].concat();
    let state = [Validity::Invalid, Validity::Doubtful, Validity::Ok]
        .into_iter()
        .find(|state| states.contains_key(state))
        .unwrap_or(Validity::Unknown);
    (state, reasons)
}

/// Groups what one rule says of single series: one ruling for each that is not `ok`, and one for all that are.
pub fn settle<R: Into<finding::Rule>>(
    bad: Vec<Ruling>,
    good: Vec<usize>,
    ok: impl FnOnce(usize) -> R,
) -> Vec<Ruling> {
    let mut all = bad;
    if !good.is_empty() {
        all.push(Ruling { finding: Finding::new(ok(good.len())), reach: good });
    }
    all
}
