//! The rows of one arm by scope, with the indexes that speak for them.

use model::doc::{IndexDoc, RowDoc, ValueDoc};
use model::finding::{LogsCompared, LogsParts};
use model::scope::THREADS;
use model::{Card, Scope};

use super::scopes::Group;

/// The figures of one arm taken together.
#[derive(Default)]
pub struct Summed<'a> {
    pub indexes: Vec<&'a IndexDoc>,
    pub values: Vec<&'a ValueDoc>,
    /// Where requests of logs differ.
    pub parts: Option<&'a LogsParts>,
    /// The slowest of them alone differ.
    pub slowest: Option<&'a LogsCompared>,
}

/// The rows that sentences are about: headlines without their parts, or what there is.
pub fn judged<'a>(rows: &[&'a RowDoc]) -> Vec<&'a RowDoc> {
    // Parts of a figure are told where there is nothing else.
    let is_whole = |row: &&RowDoc| !model::names::is_detail(row.card, &row.metric);
    let measured = || rows.iter().copied().filter(|row| !row.point);
    let heads: Vec<&RowDoc> = measured().filter(|row| row.headline).filter(is_whole).collect();
    let whole: Vec<&RowDoc> = measured().filter(is_whole).collect();
    match (heads.is_empty(), whole.is_empty()) {
        (false, _) => heads,
        (true, false) => whole,
        (true, true) => measured().collect(),
    }
}

/// The words for all CPUs together. Figures of one family speak for it, and for no machine.
pub fn lead(judged: &[&RowDoc], of_cpus: &str) -> String {
    match model::names::one_family(judged.iter().map(|row| row.card)) {
        Some(family) => format!("In {family} figures, with all CPUs{of_cpus}, "),
        None => format!("As a whole machine{of_cpus}, "),
    }
}

/// The rows by their scope.
pub fn groups<'a>(judged: &[&'a RowDoc], of_machine: &'a str, summed: &Summed<'a>) -> Vec<Group<'a>> {
    let of_scope = |scope: Scope| -> Vec<&'a RowDoc> {
        judged.iter().copied().filter(|row| row.scope() == Some(scope)).collect()
    };
    let (whole, thread) = (of_scope(Scope::WholeMachine), of_scope(Scope::PerThread));
    let index = |scope: Scope| summed.indexes.iter().find(|index| index.scope == scope).copied();
    let way = |scope: Scope| index(scope).and_then(IndexDoc::way);
    let by_threads = whole.iter().any(|row| row.params.get(THREADS).is_some());
    let lead_of_whole = if !thread.is_empty() || by_threads { of_machine } else { "" };
    let lead_of_thread = if whole.is_empty() { "" } else { "Per thread, " };
    let is_scoped = !whole.is_empty() || !thread.is_empty();
    // Other numbers of threads and further metrics of figures that have a scope.
    let is_further = |row: &&RowDoc| is_scoped && row.card.is_some_and(Card::has_scopes);
    let none = judged.iter().copied().filter(|row| row.scope().is_none());
    let (further, others): (Vec<&RowDoc>, Vec<&RowDoc>) = none.partition(is_further);
    let of = |lead, rows, scope: Option<Scope>| Group {
        lead,
        rows,
        index: scope.and_then(index),
        way: scope.and_then(way),
        parts: None,
        slowest: None,
    };
    let ways = Scope::ALL.map(way);
    let common = ways.iter().flatten().next().filter(|first| ways.iter().flatten().all(|way| way == *first));
    let lead_of_further = if common.is_some() { "Beside the indexes, " } else { "" };
    vec![
        of(lead_of_whole, whole, Some(Scope::WholeMachine)),
        of(lead_of_thread, thread, Some(Scope::PerThread)),
        Group { way: common.copied(), ..of(lead_of_further, further, None) },
        Group { parts: summed.parts, slowest: summed.slowest, ..of("", others, None) },
    ]
}
