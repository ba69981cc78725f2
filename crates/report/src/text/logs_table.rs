//! Groups of requests as rows, such as days, paths or many labels: the 2010 study's table.

use std::collections::BTreeSet;

use model::Unit;
use model::doc::{RowDoc, TrafficDoc};
use model::finding::PartTime;
use model::format::{self, Kind};

use super::grid::{Align, Cell, Cut, Grid};
use super::logs_values::{NONE, bounded, percentiles};
use super::{Look, hang, logs_answers, logs_figures};

/// A column of groups: its head, how it is written, and the figure.
type Filled = (&'static str, Kind, fn(&TrafficDoc) -> Option<f64>);

/// The order in which columns are left out where there is no room for them.
const SPARED: [&str; 5] = ["mean size", "of totals", "mean speed", "totals, no 5xx", "p99"];
/// A percentile that may be off by more than this share says so.
const ROUGH: f64 = 0.01;
/// Columns of a key up to which it is whole: a path may lose its beginning.
const KEY: usize = 32;

/// Groups as rows: the 2010 study's table; `beside` are times of groups beside the same group of the first label.
/// Columns are left out rather than keys cut.
pub fn table(groups: &[TrafficDoc], by: &[String], beside: &[RowDoc], look: Look) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let speed = Kind::for_unit(Unit::BytesPerSec);
    let time = Kind::for_unit(Unit::Second);
    // Of a part of a label percentiles are known less closely than beside them of the whole.
    let is_rough = groups.iter().any(|group| group.quantile_error.is_some_and(|error| error > ROUGH));
    let p99 = if is_rough { "p99 ±3 %" } else { "p99" };
    let [totals, mean_time]: [Filled; 2] = match are_good_known(groups) {
        true => [
            ("totals, no 5xx", speed, |group| group.ratio_of_totals_good),
            ("mean, no 5xx", time, |group| group.time_mean_good),
        ],
        false => [
            ("of totals", speed, |group| group.ratio_of_totals),
            ("mean time", time, |group| group.time_mean),
        ],
    };
    let columns: [Filled; 5] = [
        ("mean speed", speed, |group| group.mean_of_ratios),
        totals,
        mean_time,
        (p99, time, |group| group.p99),
        ("mean size", Kind::for_unit(Unit::Byte), |group| group.size_mean),
    ];
    let mut filled: Vec<Filled> =
        columns.into_iter().filter(|(_, _, of)| groups.iter().any(|group| of(group).is_some())).collect();
    let mut left_out = Vec::new();
    loop {
        let grid = grid(groups, by, &filled, beside);
        let spared = SPARED.iter().find(|head| filled.iter().any(|(known, ..)| known == *head));
        match spared.filter(|_| grid.width_with(KEY) > look.table()) {
            Some(head) => {
                filled.retain(|(known, ..)| known != head);
                left_out.push(*head);
            }
            None if left_out.is_empty() => return grid.render(look.table(), look.paint),
            None => {
                let note = format!("no room for: {} (`--json` has it)", left_out.join(", "));
                return grid.render(look.table(), look.paint) + &hang("", &note, look.columns);
            }
        }
    }
}

/// True where the server failed requests, and the figures of the others are known.
pub(super) fn are_good_known(groups: &[TrafficDoc]) -> bool {
    let fails = |group: &TrafficDoc| group.server_errors.is_some_and(|count| count > 0);
    groups.iter().any(logs_figures::has_failures)
        || groups.iter().any(fails) && groups.iter().all(|group| group.time_mean_good.is_some())
}

/// The keys of groups in the order in which they were asked for, then any other.
fn keys<'a>(groups: &'a [TrafficDoc], by: &'a [String]) -> Vec<&'a str> {
    let Some(first) = groups.first() else { return Vec::new() };
    let asked = by.iter().filter(|key| first.key.contains_key(*key));
    let others = first.key.keys().filter(|key| !by.contains(key));
    asked.chain(others).map(String::as_str).collect()
}

/// How a group's times stand beside those of the same group of the first label: `slower 33 to 37 %`.
fn told(group: &TrafficDoc, beside: &[RowDoc]) -> String {
    let row = beside.iter().find(|row| row.arm == group.label && row.params.iter().eq(&group.key));
    row.map_or_else(String::new, |row| PartTime::of_row(row, stats::ALPHA).short())
}

fn grid(groups: &[TrafficDoc], by: &[String], filled: &[Filled], beside: &[RowDoc]) -> Grid {
    let keys = keys(groups, by);
    let several = groups.iter().any(|group| group.label != groups[0].label);
    let head = if keys.is_empty() { "label".to_owned() } else { keys.join(", ") };
    let mut heads = vec![(head.as_str(), Align::Left)];
    let labelled = !keys.is_empty() && several;
    heads.extend(labelled.then_some(("label", Align::Left)));
    heads.push(("requests", Align::Right));
    let has_failures = groups.iter().any(|group| group.server_errors.is_some_and(|count| count > 0));
    heads.extend(has_failures.then_some(("5xx", Align::Right)));
    heads.extend(filled.iter().map(|(head, ..)| (*head, Align::Right)));
    // A column in which no group has a figure tells nothing; why it has none is said below.
    let is_known = beside.iter().any(|row| row.low.is_some());
    let base = beside.first().filter(|_| is_known).map(|row| {
        match beside.iter().all(|other| other.base == row.base) {
            true => format!("time beside {}", row.base),
            false => "time beside the earlier side".to_owned(),
        }
    });
    heads.extend(base.iter().map(|head| (head.as_str(), Align::Left)));
    let column = |(head, kind, of): &Filled| {
        let values: Vec<Option<f64>> = groups.iter().map(of).collect();
        if head.starts_with("p99") { percentiles(&values, groups) } else { bounded(&values, *kind, groups) }
    };
    let cells: Vec<Vec<String>> = filled.iter().map(column).collect();
    let short_agents = have_short_names(groups);
    let mut grid = Grid::new(&heads).cutting(Cut::Front);
    for (index, group) in groups.iter().enumerate() {
        let word = |key: &&str| match (*key, group.key.get(*key)?) {
            ("agent", value) if short_agents => Some(logs_answers::short_agent(value)),
            (_, value) => Some(value.clone()),
        };
        let words: Vec<String> = keys.iter().filter_map(word).collect();
        let name = if keys.is_empty() { group.label.clone() } else { words.join(" ") };
        let name = logs_answers::shown_name(&name);
        let mut row: Vec<Cell> = vec![name.into()];
        row.extend(labelled.then(|| group.label.as_str().into()));
        let whole = |count: u64| format::fixed(count as f64, 0);
        row.push(whole(group.parsed).into());
        row.extend(has_failures.then(|| group.server_errors.map_or(NONE.to_owned(), whole).into()));
        row.extend(cells.iter().filter_map(|column| column.get(index)).map(|text| text.as_str().into()));
        row.extend(base.iter().map(|_| told(group, beside).into()));
        grid.row(row);
    }
    grid
}

/// True if the programs of all groups can be told apart by their short names.
fn have_short_names(groups: &[TrafficDoc]) -> bool {
    let agents: BTreeSet<&String> = groups.iter().filter_map(|group| group.key.get("agent")).collect();
    let short: BTreeSet<String> = agents.iter().map(|agent| logs_answers::short_agent(agent)).collect();
    short.len() == agents.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_the_order_in_which_they_were_asked_for() {
        let key = [("client", "10.0.0.1"), ("hour", "2026-11-17T14")];
        let key = key.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let group = TrafficDoc { label: "shop".into(), key, parsed: 7, ..TrafficDoc::default() };
        let shown = |by: &[&str]| {
            let by: Vec<String> = by.iter().map(|key| (*key).to_owned()).collect();
            table(std::slice::from_ref(&group), &by, &[], Look::wide(80))
        };
        let text = shown(&["hour", "client"]);
        assert!(text.starts_with("hour, client ") && text.contains("\n2026-11-17T14 10.0.0.1 "), "{text}");
        let text = shown(&["client", "hour"]);
        assert!(text.starts_with("client, hour ") && text.contains("\n10.0.0.1 2026-11-17T14 "), "{text}");
    }
}
