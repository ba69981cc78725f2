//! Finds values that fall behind on one machine: this runtime is immature on this machine.
//!
//! Said only where the interval of a ratio of ratios lies wholly outside the margin, after Holm's correction, and where
//! no figure of the same two machines says the opposite. Of the two values and machines, what is named is the slower
//! value where the ratio is further from 1, so that the order of the machines does not matter. Families of software are
//! called immature, if the tools' versions and flags are known on both machines; hardware falls behind.

use std::collections::BTreeSet;

use model::doc::{RatioOfRatiosDoc, RowDoc, VerdictWord};
use model::finding::{Immature, Subject};
use model::{Better, Family, Finding, Note, NoteBody};

use super::super::side::Side;
use super::asked::AskedRatio;
use model::format;

/// A value that falls behind, with the machine on which it does.
#[derive(Clone, PartialEq, Eq)]
struct Behind<'d> {
    value: &'d str,
    machine: &'d str,
    other: &'d str,
}

impl Behind<'_> {
    /// The two machines, in one order.
    fn pair(&self) -> [&str; 2] {
        let mut pair = [self.machine, self.other];
        pair.sort_unstable();
        pair
    }
}

/// One finding for each value that falls behind on a machine.
pub fn findings(rows: &[RatioOfRatiosDoc], sides: &[Side<'_>], asked: &AskedRatio) -> Vec<Finding> {
    let mut groups: Vec<(Behind<'_>, Vec<&RowDoc>)> = Vec::new();
    for row in rows.iter().map(|one| &one.row) {
        let Some(behind) = behind(row, asked) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == behind) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((behind, vec![row])),
        }
    }
    let opposed = |behind: &Behind<'_>| {
        groups.iter().any(|(other, _)| other.pair() == behind.pair() && is_opposite(other, behind))
    };
    let of_pair = |behind: &Behind<'_>| {
        let of = |row: &&RatioOfRatiosDoc| {
            let mut pair = [row.row.arm.as_str(), row.row.base.as_str()];
            pair.sort_unstable();
            pair == behind.pair() && !row.row.point
        };
        rows.iter().filter(of).count()
    };
    let sound = groups.iter().filter(|(behind, _)| !opposed(behind));
    sound.map(|(behind, rows)| finding(behind, rows, (of_pair(behind), sides), asked)).collect()
}

/// Another value on the same machine, or the same value on the other one.
fn is_opposite(a: &Behind<'_>, b: &Behind<'_>) -> bool {
    (a.value == b.value) != (a.machine == b.machine)
}

fn behind<'d>(row: &'d RowDoc, asked: &'d AskedRatio) -> Option<Behind<'d>> {
    if row.point || !matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse) {
        return None;
    }
    let (here, there) = (row.arm_value?.ln(), row.base_value?.ln());
    let on_base = there.abs() > here.abs();
    let (machine, other, ratio, gained) = match on_base {
        false => (&row.arm, &row.base, here, row.verdict == VerdictWord::Better),
        true => (&row.base, &row.arm, there, row.verdict == VerdictWord::Worse),
    };
    // Where the value above gained, the one below fell behind.
    let value = if gained { &asked.under } else { &asked.over };
    let slower = if (ratio > 0.0) == (row.better != Better::Lower) { &asked.under } else { &asked.over };
    (value == slower).then_some(Behind { value, machine, other })
}

/// The tools that a side's runs noted, each once.
fn tools(sides: &[Side<'_>], name: &str) -> Vec<String> {
    let notes =
        sides.iter().filter(|side| side.name == name).flat_map(|side| &side.runs).flat_map(|run| &run.notes);
    let is_tool = |note: &&Note| matches!(note.body, NoteBody::Toolchain(_) | NoteBody::ServerBuild(_));
    let tools: BTreeSet<String> = notes.filter(is_tool).map(|note| note.text().into_owned()).collect();
    tools.into_iter().collect()
}

fn finding(
    behind: &Behind<'_>,
    rows: &[&RowDoc],
    (all, sides): (usize, &[Side<'_>]),
    asked: &AskedRatio,
) -> Finding {
    let Behind { value, machine, other } = behind;
    let here = |row: &RowDoc| if row.arm == *machine { row.arm_value } else { row.base_value };
    let there = |row: &RowDoc| if row.arm == *machine { row.base_value } else { row.arm_value };
    let turned = |row: &RowDoc, ratio: f64| if row.arm == *machine { ratio } else { 1.0 / ratio };
    let apart = rows.iter().flat_map(|row| [row.low, row.high].map(|end| end.map(|end| turned(row, end))));
    let apart: Vec<f64> = apart.flatten().collect();
    let of =
        |side: &dyn Fn(&RowDoc) -> Option<f64>| rows.iter().filter_map(|row| side(row)).collect::<Vec<f64>>();
    let margin = rows.iter().map(|row| row.margin).fold(0.0, f64::max);
    let is_software = rows.iter().all(|row| {
        row.card.is_some_and(|card| matches!(card.family, Family::Runtime | Family::Web | Family::Kv))
    });
    let names = rows.iter().map(|row| format!("{} {}", row.metric, row.params));
    let immature = Immature {
        param: asked.param.clone(),
        value: (*value).to_owned(),
        over: asked.over.clone(),
        under: asked.under.clone(),
        machine: (*machine).to_owned(),
        other: (*other).to_owned(),
        is_software,
        tools: [tools(sides, machine), tools(sides, other)],
        ratio: ends(&of(&here)),
        elsewhere: ends(&of(&there)),
        apart: ends(&apart),
        margin,
        figures: names.collect(),
        of: all,
    };
    Finding::new(immature).about(Subject::label(&format!("{}={value}", asked.param)).of_side(machine))
}

fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low, high))
}

/// `3.60 to 8.90`
pub fn span(values: &[f64]) -> String {
    let Some((low, high)) = ends(values) else { return "unknown".to_owned() };
    let (low, high) = (format::number(low), format::number(high));
    if low == high { low } else { format!("{low} to {high}") }
}
