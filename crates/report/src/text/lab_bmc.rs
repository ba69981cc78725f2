//! Answers of BMCs as text: nodes that are alike share a line, and so do failures that are the same.

use std::collections::BTreeMap;

use model::doc::{LabBmcFailureDoc, LabEventDoc, LabSelDoc, LabSensorDoc, LabSensorsDoc, LabStateDoc};
use model::format::count;

use super::grid::{Align, Cell, Grid};

/// A line for each state.
pub fn states(all: &[LabStateDoc]) -> String {
    let line = |one: &LabStateDoc| format!("{}: {}: {}\n", one.state, count(one.count, "node"), one.nodes);
    all.iter().map(line).collect()
}

/// Sensors: of one node each with its value, of several the least, the middle and the most of each. Then those beyond a
/// threshold.
pub fn sensors(doc: &LabSensorsDoc) -> String {
    let mut out = match doc.nodes.as_slice() {
        [one] => own(&one.sensors),
        _ => across(doc),
    };
    for node in &doc.nodes {
        for sensor in node.sensors.iter().filter(|sensor| !matches!(sensor.status.as_str(), "ok" | "unknown"))
        {
            let (value, status) = (with_unit(sensor), &sensor.status);
            out.push_str(&format!("{status}: {}: {}: {value}\n", node.node, sensor.name));
        }
    }
    out
}

fn with_unit(sensor: &LabSensorDoc) -> String {
    sensor.value.map_or_else(|| "no reading".to_owned(), |value| format!("{value} {}", sensor.unit))
}

fn own(sensors: &[LabSensorDoc]) -> String {
    if sensors.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&[
        ("sensor", Align::Left),
        ("value", Align::Right),
        ("unit", Align::Left),
        ("status", Align::Left),
    ]);
    for sensor in sensors {
        grid.row(vec![
            Cell::from(sensor.name.clone()),
            Cell::from(sensor.value.map_or_else(|| "?".to_owned(), |value| value.to_string())),
            Cell::from(sensor.unit.clone()),
            Cell::from(sensor.status.clone()),
        ]);
    }
    grid.render(usize::MAX, false)
}

/// Readings of a sensor on several nodes.
#[derive(Default)]
struct Spread<'a> {
    place: usize,
    values: Vec<(f64, &'a str)>,
}

fn across(doc: &LabSensorsDoc) -> String {
    let mut spreads: BTreeMap<(&str, &str), Spread<'_>> = BTreeMap::new();
    for node in &doc.nodes {
        for sensor in &node.sensors {
            let place = spreads.len();
            let key = (sensor.name.as_str(), sensor.unit.as_str());
            let spread = spreads.entry(key).or_insert(Spread { place, ..Spread::default() });
            spread.values.extend(sensor.value.map(|value| (value, node.node.as_str())));
        }
    }
    if spreads.is_empty() {
        return String::new();
    }
    let mut spreads: Vec<_> = spreads.into_iter().collect();
    spreads.sort_by_key(|(_, spread)| spread.place);
    let mut grid = Grid::new(&[
        ("sensor", Align::Left),
        ("nodes", Align::Right),
        ("least", Align::Right),
        ("middle", Align::Right),
        ("most", Align::Right),
        ("unit", Align::Left),
        ("most on", Align::Left),
    ]);
    for ((name, unit), mut spread) in spreads {
        spread.values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let values = &spread.values;
        let shown = |one: Option<&(f64, &str)>| one.map_or_else(|| "?".to_owned(), |one| one.0.to_string());
        grid.row(vec![
            Cell::from(name),
            Cell::from(values.len().to_string()),
            Cell::from(shown(values.first())),
            Cell::from(shown(values.get(values.len() / 2))),
            Cell::from(shown(values.last())),
            Cell::from(unit),
            Cell::from(values.last().map_or("", |one| one.1)),
        ]);
    }
    grid.render(usize::MAX, false)
}

/// The entries of each log behind the names of the nodes whose log says the same; then the nodes whose log is empty.
pub fn events(doc: &LabSelDoc, fold: &dyn Fn(&[&str]) -> String) -> String {
    let mut logs: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for node in doc.nodes.iter().filter(|node| node.ok || !node.entries.is_empty()) {
        let lines: Vec<String> = node.entries.iter().map(event).collect();
        match logs.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, nodes)) => nodes.push(&node.node),
            None => logs.push((lines, vec![&node.node])),
        }
    }
    let mut out = String::new();
    for (lines, nodes) in logs.iter().filter(|(lines, _)| !lines.is_empty()) {
        let who = fold(nodes);
        lines.iter().for_each(|line| out.push_str(&format!("{who}: {line}\n")));
    }
    for (_, empty) in logs.iter().filter(|(lines, _)| lines.is_empty()) {
        out.push_str(&format!("no entries: {}: {}\n", count(empty.len(), "node"), fold(empty)));
    }
    out
}

fn event(entry: &LabEventDoc) -> String {
    let time = entry.time.as_deref().unwrap_or("before its clock was set");
    let ended = if entry.begins == Some(false) { ", ended" } else { "" };
    let detail = entry.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    format!("{time}: {}: {}{ended}{detail}", entry.sensor, entry.event)
}

/// A line for each way in which BMCs failed, with what to do.
pub fn failures(all: &[LabBmcFailureDoc]) -> String {
    let mut out = String::new();
    for one in all {
        out.push_str(&format!("failed: {}: {}: {}\n", count(one.count, "node"), one.nodes, one.why));
        if let Some(hint) = &one.hint {
            out.push_str(&format!(" hint: {hint}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use model::doc::{LabSelNodeDoc, LabSensorsNodeDoc};

    use super::*;

    #[test]
    fn states_and_failures_have_a_line_each() {
        let state =
            |state: &str, count, nodes: &str| LabStateDoc { state: state.into(), count, nodes: nodes.into() };
        let failure = |count, nodes: &str, hint: Option<&str>| LabBmcFailureDoc {
            failure: "no-answer".into(),
            why: "its BMC does not answer".into(),
            hint: hint.map(Into::into),
            count,
            nodes: nodes.into(),
        };
        let all = [state("on", 130, "a[001-130]"), state("off", 1, "a131")];
        assert_eq!(states(&all), "on: 130 nodes: a[001-130]\noff: 1 node: a131\n");
        assert_eq!(
            failures(&[failure(1, "a132", Some("look")), failure(2, "b[1-2]", None)]),
            "failed: 1 node: a132: its BMC does not answer\n hint: look\n\
             failed: 2 nodes: b[1-2]: its BMC does not answer\n"
        );
    }

    fn node(name: &str, sensors: &[(&str, Option<f64>, &str)]) -> LabSensorsNodeDoc {
        let sensor = |(name, value, status): &(&str, Option<f64>, &str)| LabSensorDoc {
            name: (*name).into(),
            value: *value,
            unit: "degrees C".into(),
            status: (*status).into(),
        };
        let sensors = sensors.iter().map(sensor).collect();
        LabSensorsNodeDoc { node: name.into(), ok: true, sensors, failure: None, why: None }
    }

    #[test]
    fn sensors_of_several_nodes_share_a_line_and_those_beyond_a_threshold_have_one() {
        let one = node("a1", &[("Fan", None, "unknown"), ("CPU", Some(40.5), "ok")]);
        let doc = |nodes: Vec<LabSensorsNodeDoc>| LabSensorsDoc {
            schema: String::new(),
            nodes,
            failures: vec![],
            interrupted: false,
        };
        assert_eq!(
            sensors(&doc(vec![one.clone()])),
            "sensor  value  unit       status\n\
             Fan         ?  degrees C  unknown\n\
             CPU      40.5  degrees C  ok\n"
        );
        let others = vec![
            one,
            node("a2", &[("CPU", Some(98.0), "critical")]),
            node("a3", &[("CPU", Some(41.0), "ok")]),
        ];
        assert_eq!(
            sensors(&doc(others)),
            "sensor  nodes  least  middle  most  unit       most on\n\
             Fan         0      ?       ?     ?  degrees C\n\
             CPU         3   40.5      41    98  degrees C  a2\n\
             critical: a2: CPU: 98 degrees C\n"
        );
        assert_eq!(sensors(&doc(vec![])), "");
    }

    #[test]
    fn events_stand_behind_the_nodes_that_have_the_same_ones() {
        let entry = |time: Option<&str>, begins, detail: Option<&str>| LabEventDoc {
            id: "1".into(),
            time: time.map(Into::into),
            sensor: "Temperature CPU".into(),
            event: "Upper Critical going high".into(),
            begins,
            detail: detail.map(Into::into),
        };
        let node = |name: &str, entries: Vec<LabEventDoc>| LabSelNodeDoc {
            node: name.into(),
            ok: true,
            entries,
            failure: None,
            why: None,
        };
        let full = vec![
            entry(None, Some(true), None),
            entry(Some("2026-11-26 11:00:00"), Some(false), Some("98 > 95")),
        ];
        let doc = LabSelDoc {
            schema: String::new(),
            last: 20,
            nodes: vec![node("a1", full.clone()), node("a2", vec![]), node("a3", vec![]), node("a4", full)],
            failures: vec![],
            interrupted: false,
        };
        assert_eq!(
            events(&doc, &|names| names.join("+")),
            "a1+a4: before its clock was set: Temperature CPU: Upper Critical going high\n\
             a1+a4: 2026-11-26 11:00:00: Temperature CPU: Upper Critical going high, ended (98 > 95)\n\
             no entries: 2 nodes: a2+a3\n"
        );
    }
}
