//! Nodes of a group that are not like the others: by facts that most share, by rules that their runs break, and by
//! figures that stand apart. One run of each node, all of one plan.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use model::data::{RunData, Series};
use model::doc::{LabOddDoc, OddEvidenceDoc, OddMissingDoc, OddNodeDoc};
use model::finding::{Counted, Counter, Rule, Throttled};
use model::names::{self, Key};
use model::{Better, Cards, Fact, FactValue, Samples, SeriesKey, card};
use stats::odd::{Apart, FEWEST, Odd, OddRule, odd};

use crate::headline::is_headline;
use crate::rules::rulings;
use crate::run_index::{RunContext, RunIndex};

/// Facts in which nodes of one kind are alike; `*` stands for one part of a key.
const ALIKE: [&str; 61] = [
    "board.model",
    "board.name",
    "board.version",
    "cgroup.cpu.quota",
    "cgroup.cpuset",
    "cgroup.memory.limit",
    "clock.source",
    "cpu.cores",
    "cpu.driver",
    "cpu.epp",
    "cpu.governor",
    "cpu.mhz.base",
    "cpu.mhz.max",
    "cpu.mhz.min",
    "cpu.microcode",
    "cpu.model",
    "cpu.offline",
    "cpu.online",
    "cpu.smt",
    "cpu.smt.control",
    "cpu.sockets",
    "cpu.stepping",
    "cpu.threads",
    "cpu.turbo",
    "disk.*.bus",
    "disk.*.bytes",
    "disk.*.firmware",
    "disk.*.link",
    "disk.*.model",
    "disk.*.write_cache",
    "disk.names",
    "firmware.date",
    "firmware.vendor",
    "firmware.version",
    "gpu.names",
    "kernel.arch",
    "kernel.release",
    "memory.bytes",
    "memory.channels",
    "memory.channels.empty",
    "memory.ecc",
    "memory.installed.bytes",
    "memory.layout",
    "memory.modules",
    "memory.mts",
    "memory.slots",
    "memory.swap.bytes",
    "memory.thp",
    "memory.type",
    "mitigations",
    "nic.*.driver",
    "nic.*.duplex",
    "nic.*.mtu",
    "nic.*.speed",
    "numa.nodes",
    "os.name",
    "pcie.devices",
    "pcie.slots.used",
    "process.cpus",
    "rdma.*.firmware",
    "virt.machine",
];

/// Amounts that differ by less are equal: what firmware takes of the memory differs from boot to boot.
const NEAR: f64 = 0.02;

/// The share of nodes that must have a value for it to be the usual one.
pub(crate) const MOST: f64 = 2.0 / 3.0;

/// Fewest nodes that must have the usual value.
const FEWEST_USUAL: usize = 3;

/// True of a conclusion that something is wrong with the node, and not with the moment: its processor was held back.
pub(crate) const fn is_of_node(rule: &Rule) -> bool {
    matches!(
        rule,
        Rule::Throttled(Throttled::Stopped { .. })
            | Rule::Counted(Counted::Rose { counter: Counter::ThermalThrottle, .. })
    )
}

/// The document of a group: its nodes with the run of each, and those that have none.
pub fn of_group<R: Borrow<RunData>>(
    runs: &[(String, R)],
    missing: Vec<OddMissingDoc>,
    cards: Cards,
) -> LabOddDoc {
    let runs: Vec<(&str, &RunData)> = runs.iter().map(|(node, run)| (node.as_str(), run.borrow())).collect();
    let mut nodes: Vec<OddNodeDoc> = (runs.iter())
        .map(|(node, run)| OddNodeDoc {
            node: (*node).to_owned(),
            run: run.head.id.clone(),
            evidence: Vec::new(),
        })
        .collect();
    let facts = by_facts(&runs, &mut nodes);
    by_rules(&runs, &mut nodes, cards);
    let figures = by_figures(&runs, &mut nodes, cards);
    LabOddDoc {
        schema: "boxscore.lab-odd/1".to_owned(),
        nodes,
        figures,
        facts,
        fewest: FEWEST as u64,
        level: OddRule::NODES.level,
        margin: OddRule::NODES.margin,
        missing,
    }
}

fn is_alike(key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    ALIKE.iter().any(|pattern| {
        let wanted: Vec<&str> = pattern.split('.').collect();
        wanted.len() == parts.len() && wanted.iter().zip(&parts).all(|(one, part)| *one == "*" || one == part)
    })
}

fn are_equal(a: &FactValue, b: &FactValue) -> bool {
    match (a, b) {
        (FactValue::Number(a), FactValue::Number(b)) => (a - b).abs() <= NEAR * a.abs().max(b.abs()),
        _ => a == b,
    }
}

/// Adds evidence of facts; gives how many were judged.
fn by_facts(runs: &[(&str, &RunData)], nodes: &mut [OddNodeDoc]) -> u64 {
    let mut known: BTreeMap<&str, Vec<(usize, &Fact, &FactValue)>> = BTreeMap::new();
    for (node, (_, run)) in runs.iter().enumerate() {
        for fact in run.facts.iter().filter(|fact| is_alike(&fact.key)) {
            if let Some(value) = &fact.value {
                known.entry(&fact.key).or_default().push((node, fact, value));
            }
        }
    }
    let mut judged = 0;
    for (key, values) in known {
        let of = values.len();
        let like = |one: &FactValue| values.iter().filter(|(.., other)| are_equal(one, other)).count();
        let Some((usual, count)) =
            values.iter().map(|(.., value)| (*value, like(value))).max_by_key(|(_, count)| *count)
        else {
            continue;
        };
        if count < FEWEST_USUAL || (count as f64) < MOST * of as f64 {
            continue;
        }
        judged += 1;
        for (node, fact, value) in values.iter().filter(|(.., value)| !are_equal(usual, value)) {
            nodes[*node].evidence.push(OddEvidenceDoc::Fact {
                key: key.to_owned(),
                value: (*value).clone(),
                usual: usual.clone(),
                unit: fact.unit,
                count: count as u64,
                of: of as u64,
            });
        }
    }
    judged
}

/// Adds evidence of rules that the run of a node breaks and those of most others do not.
fn by_rules(runs: &[(&str, &RunData)], nodes: &mut [OddNodeDoc], cards: Cards) {
    let context = RunContext { cards, ..RunContext::default() };
    let broken: Vec<BTreeMap<String, String>> = (runs.iter())
        .map(|(_, run)| {
            let all = rulings(run, &context).into_iter().map(|ruling| ruling.finding);
            let of_node = all.filter(|found| is_of_node(&found.rule));
            of_node.map(|found| (found.kind().to_owned(), found.text())).collect()
        })
        .collect();
    let known: BTreeSet<&String> = broken.iter().flat_map(BTreeMap::keys).collect();
    for rule in known {
        let count = broken.iter().filter(|rules| rules.contains_key(rule)).count();
        let others = runs.len() - count;
        if others < FEWEST_USUAL || (others as f64) < MOST * runs.len() as f64 {
            continue;
        }
        for (node, rules) in nodes.iter_mut().zip(&broken) {
            if let Some(says) = rules.get(rule) {
                node.evidence.push(OddEvidenceDoc::Rule { rule: rule.clone(), says: says.clone() });
            }
        }
    }
}

/// Adds evidence of figures; gives how many were judged.
fn by_figures(runs: &[(&str, &RunData)], nodes: &mut [OddNodeDoc], cards: Cards) -> u64 {
    let mut keys: Vec<(&SeriesKey, Better)> = Vec::new();
    let mut values: BTreeMap<&SeriesKey, Vec<Option<f64>>> = BTreeMap::new();
    for (node, (_, run)) in runs.iter().enumerate() {
        for series in figures(run, cards) {
            let of_nodes = values.entry(&series.key).or_insert_with(|| {
                keys.push((&series.key, series.better));
                vec![None; runs.len()]
            });
            of_nodes[node] = stats::median(&series.measured()).filter(|value| *value > 0.0).map(f64::ln);
        }
    }
    let table: Vec<Vec<Option<f64>>> = keys.iter().filter_map(|(key, _)| values.get(key).cloned()).collect();
    let Odd { apart, figures } = odd(&table, OddRule::NODES);
    let labels = names::labels(&keys.iter().map(|(key, _)| named(key, cards)).collect::<Vec<_>>());
    for one in apart {
        if let (Some((key, _)), Some(name)) = (keys.get(one.figure), labels.get(one.figure)) {
            nodes[one.node].evidence.push(told(&one, key, name));
        }
    }
    figures as u64
}

pub(crate) fn named(key: &SeriesKey, cards: Cards) -> Key<'_> {
    let SeriesKey { instrument, metric, params, .. } = key;
    Key { card: card::find(cards, instrument), instrument, metric, params }
}

/// The headline figures of a run that have a direction.
fn figures(run: &RunData, cards: Cards) -> Vec<&Series> {
    let context = RunContext { cards, ..RunContext::default() };
    let index = RunIndex::new(run, &context);
    let counts = |series: &&Series| {
        series.better != Better::Neither
            && Samples::for_instrument(cards, &series.key.instrument) == Samples::Takes
    };
    let headlines = index.figures().filter(|row| is_headline(&index, *row));
    headlines.filter_map(|row| run.series.get(row.index)).filter(counts).collect()
}

fn told(one: &Apart, key: &SeriesKey, name: &str) -> OddEvidenceDoc {
    OddEvidenceDoc::Figure {
        name: name.to_owned(),
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        params: key.params.clone(),
        unit: key.unit,
        value: (one.middle + one.distance).exp(),
        median: one.middle.exp(),
        ratio: one.distance.exp(),
        score: one.score,
        p: one.p,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_one_kind_of_machine_are_compared_and_names_are_not() {
        for key in ["cpu.microcode", "nic.eth0.speed", "disk.sda.link", "cgroup.memory.limit"] {
            assert!(is_alike(key), "{key}");
        }
        for key in ["hostname", "machine.id", "nic.eth0.mac", "memory.available.bytes", "cpu.mhz.current"] {
            assert!(!is_alike(key), "{key}");
        }
    }

    #[test]
    fn amounts_that_are_near_are_equal() {
        let number = FactValue::Number;
        assert!(are_equal(&number(100.0), &number(101.0)) && !are_equal(&number(100.0), &number(50.0)));
        assert!(!are_equal(&number(0.0), &FactValue::Text("none".to_owned())));
    }
}
