//! The paragraph of a ratio: one sentence, with a clause for each machine.

use std::collections::BTreeSet;

use model::doc::{Paragraph, RatioRowDoc, VerdictWord};

use super::asked::AskedRatio;
use super::immature::span;
use crate::answer::of_ratios;
use model::format;

/// Variants of one machine that are told apart in words; the table has the rest.
const MOST: usize = 4;

/// `c over java is 0.51 to 1.38 on mini-1 (5 figures: c better in 3, java in 2); 5.66 on old-box (published).`
pub fn paragraph(rows: &[RatioRowDoc], asked: &AskedRatio) -> Paragraph {
    let mut machines: Vec<&str> = Vec::new();
    for row in rows {
        if !machines.contains(&row.machine.as_str()) {
            machines.push(&row.machine);
        }
    }
    let clauses: Vec<String> = machines.iter().flat_map(|machine| of_machine(rows, machine, asked)).collect();
    let Some((first, others)) = clauses.split_first() else { return Paragraph::default() };
    let others: String = others.iter().map(|clause| format!("; {clause}")).collect();
    let lead = format!("{} over {} is {first}", asked.over, asked.under);
    match of_ratios(rows, &asked.param, (&asked.over, &asked.under)) {
        Some(answer) => Paragraph { lead: answer, rest: format!(". {lead}{others}.") },
        None => Paragraph { lead, rest: format!("{others}.") },
    }
}

/// Clauses about one machine: one for each combination of parameters in which its rows differ.
fn of_machine(rows: &[RatioRowDoc], machine: &str, asked: &AskedRatio) -> Vec<String> {
    let own: Vec<&RatioRowDoc> =
        rows.iter().filter(|row| row.machine == machine && row.row.ratio.is_some()).collect();
    let differ = differing(&own);
    let variant = |row: &RatioRowDoc| variant(row, &differ);
    let mut variants: Vec<String> = Vec::new();
    for row in &own {
        let variant = variant(row);
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    variants.sort();
    let several = variants.len() > 1;
    let clause = |name: &String| {
        let of: Vec<&RatioRowDoc> = own.iter().copied().filter(|row| variant(row) == *name).collect();
        let with = if several && !name.is_empty() { format!(" with {name}") } else { String::new() };
        format!("{} on {machine}{with} ({})", ratios(&of), told(&of, asked))
    };
    let mut clauses: Vec<String> = variants.iter().take(MOST).map(clause).collect();
    if variants.len() > MOST {
        clauses.push(format!("and {} more combinations on {machine}", variants.len() - MOST));
    }
    clauses
}

/// Parameters of one figure alone that are not the same in all rows.
fn differing(rows: &[&RatioRowDoc]) -> BTreeSet<String> {
    let own = |row: &RatioRowDoc| row.over_params.with(&row.under_params);
    let Some(first) = rows.first().map(|row| own(row)) else { return BTreeSet::new() };
    let names = rows
        .iter()
        .flat_map(|row| own(row).keys().cloned().collect::<Vec<_>>())
        .collect::<BTreeSet<String>>();
    names.into_iter().filter(|name| rows.iter().any(|row| own(row).get(name) != first.get(name))).collect()
}

fn variant(row: &RatioRowDoc, names: &BTreeSet<String>) -> String {
    let mut own = row.over_params.with(&row.under_params);
    own.retain(|name, _| names.contains(name));
    own.to_string().replace(';', " ")
}

fn ratios(rows: &[&RatioRowDoc]) -> String {
    let bounds =
        rows.iter().filter_map(|row| row.bounds.as_ref()).flat_map(|bounds| [bounds.low, bounds.high]);
    let points = rows.iter().filter(|row| row.bounds.is_none()).filter_map(|row| row.row.ratio);
    span(&bounds.chain(points).collect::<Vec<f64>>())
}

fn told(rows: &[&RatioRowDoc], asked: &AskedRatio) -> String {
    if rows.iter().all(|row| row.row.point) {
        return "published".to_owned();
    }
    let count = |word| rows.iter().filter(|row| row.row.verdict == word).count();
    let (over, under) = (count(VerdictWord::Better), count(VerdictWord::Worse));
    let mut parts: Vec<String> = Vec::new();
    for (count, value) in [(over, &asked.over), (under, &asked.under)] {
        match (count, parts.is_empty()) {
            (0, _) => {}
            (count, true) => parts.push(format!("{value} better in {count}")),
            (count, false) => parts.push(format!("{value} in {count}")),
        }
    }
    let figures = format::count(rows.len(), "figure");
    if parts.is_empty() { figures } else { format!("{figures}: {}", parts.join(", ")) }
}
