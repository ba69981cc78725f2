//! A run in a few words, as the user asked for it: the command, the address, the level, or the instruments with the
//! parameters that are not the usual ones.

use std::collections::BTreeSet;

use model::plan::{Level, Plan};
use model::{Cards, Family, card, traffic};

/// The words; the most telling one first, so that they may be cut at the end.
pub fn what(plan: &Plan, cards: Cards) -> String {
    if !plan.commands.is_empty() {
        return commands(plan);
    }
    if plan.telemetry_only {
        return "telemetry".to_owned();
    }
    if let Some(text) = of_logs(plan) {
        return text;
    }
    let mut parts = vec![subject(plan, cards)];
    parts.extend(shared(plan, cards));
    if let arms @ 2.. = plan.arms.len()
        && plan.targets.is_empty()
    {
        parts.push(format!("{arms} arms"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// One command as it is; several by the names of the arms that they make.
fn commands(plan: &Plan) -> String {
    match (plan.arms.as_slice(), plan.commands.values().next()) {
        ([_], Some(one)) => format!("`{}`", one.run.split_whitespace().collect::<Vec<_>>().join(" ")),
        (arms, _) => {
            let names: Vec<String> = arms.iter().map(|arm| format!("`{}`", arm.name)).collect();
            names.join(", ")
        }
    }
}

fn of_logs(plan: &Plan) -> Option<String> {
    if !plan.cells.iter().all(|cell| cell.instrument == traffic::INSTRUMENT) || plan.cells.is_empty() {
        return None;
    }
    let params = plan.cells.first().map(|cell| &cell.params);
    // A filter is part of each name, and is told once.
    let filter =
        params.and_then(|params| params.get(traffic::WHERE)).map(|filter| format!(" where {filter}"));
    let label =
        |name: &'_ str| name.strip_suffix(filter.as_deref().unwrap_or_default()).unwrap_or(name).to_owned();
    let labels: Vec<String> = plan.machines.iter().map(|via| label(&via.name)).collect();
    let mut text = format!("logs {}", labels.join(" ")).trim_end().to_owned();
    for name in [traffic::WHERE, traffic::CUT] {
        if let Some(value) = params.and_then(|params| params.get(name)) {
            text.push_str(&format!(", {name} {value}"));
        }
    }
    Some(text)
}

/// The address of a load, the level of a usual run, else families and instruments.
fn subject(plan: &Plan, cards: Cards) -> String {
    if !plan.targets.is_empty() {
        let names: Vec<&str> = plan.targets.iter().map(|target| target.name.as_str()).collect();
        return format!("{} ({})", names.join(" against "), instruments(plan, cards).join(" "));
    }
    let url = plan.cells.first().and_then(|cell| cell.params.get("url"));
    if let Some(url) = url.filter(|url| !matches!(*url, "" | "none")) {
        return url.to_owned();
    }
    if plan.level != Level::Named {
        return plan.level.word().to_owned();
    }
    instruments(plan, cards).join(" ")
}

/// Families of which several instruments were measured, and single instruments.
fn instruments(plan: &Plan, cards: Cards) -> Vec<String> {
    let family = |name: &str| card::find(cards, name).map(|card| card.family);
    let all: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.instrument.as_str()).collect();
    let of = |wanted: Family| all.iter().filter(|name| family(name) == Some(wanted)).count();
    let mut out: Vec<String> = Vec::new();
    for cell in &plan.cells {
        let name = match family(&cell.instrument) {
            Some(family) if of(family) > 1 => family.name().to_owned(),
            _ => cell.instrument.clone(),
        };
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Parameters that all cells share and that are not the usual ones.
fn shared(plan: &Plan, cards: Cards) -> Vec<String> {
    let Some((first, rest)) = plan.cells.split_first() else { return Vec::new() };
    let Some(card) = card::find(cards, &first.instrument) else { return Vec::new() };
    let in_all = |name: &str, value: &str| rest.iter().all(|cell| cell.params.get(name) == Some(value));
    let unusual = card.params.iter().filter_map(|param| {
        let value = first.params.get(param.name).filter(|value| *value != param.default)?;
        (param.name != "url" && in_all(param.name, value)).then(|| param.label.show(param.name, value))
    });
    unusual.collect()
}

#[cfg(test)]
mod tests {
    use model::plan::{Command, Takes, Target};
    use model::{Cell, Params};

    use super::*;

    fn plan(cells: &[(&str, &str)]) -> Plan {
        let cell = |(instrument, params): &(&str, &str)| Cell {
            instrument: (*instrument).to_owned(),
            params: Params::parse(params).unwrap(),
            headline: Vec::new(),
        };
        Plan::bare(cells.iter().map(cell).collect(), Takes::Fixed(3))
    }

    fn said(plan: &Plan) -> String {
        what(plan, instruments::cards())
    }

    #[test]
    fn a_run_is_called_by_what_was_asked_for() {
        let command = Command { run: "make  -j8\n all".to_owned(), ..Command::default() };
        let commands = [("x".to_owned(), command)].into();
        assert_eq!(said(&Plan { commands, ..plan(&[("cmd", "")]) }), "`make -j8 all`");
        let load = plan(&[("web", "url=http://a:8080/x;connections=20;rate=500;arrivals=constant")]);
        let words = said(&load);
        assert!(words.starts_with("http://a:8080/x, ") && words.contains("20 connections"), "{words}");
        let target = |name: &str| Target::new(name, &format!("http://{name}/"));
        let two = Plan { targets: vec![target("a"), target("b")], ..plan(&[("web", "connections=20")]) };
        assert_eq!(said(&two), "a against b (web), 20 connections");
        assert_eq!(said(&plan(&[("crc32c", "size=4KiB;impl=chain")])), "crc32c, 4 KiB, chain");
        assert_eq!(said(&plan(&[("crc32c", ""), ("cipher", "")])), "cpu");
        assert_eq!(said(&plan(&[("crc32c", ""), ("disk-fsync", "")])), "crc32c disk-fsync");
        assert_eq!(said(&Plan { level: Level::Quick, ..plan(&[("crc32c", ""), ("cipher", "")]) }), "quick");
        assert_eq!(said(&Plan { telemetry_only: true, ..plan(&[]) }), "telemetry");
    }
}
