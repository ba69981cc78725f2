//! The nodes of a study in order: each by its figures over the middle of the group, and what is odd about it.
//!
//! Nodes are compared run against run. A node that its own quota or heat held back is placed by what it gives: that is
//! of the node. Any other refused figure leaves it without a place. Not done here: choosing the runs.

use std::collections::BTreeMap;

use model::data::{RunData, hardware_of};
use model::doc::{NodeDoc, NodeFigureDoc, NodesDoc, OddMissingDoc};
use model::names;
use model::{Better, Cards, Samples, Scope, SeriesKey, Validity, card};
use stats::odd::FEWEST;
use stats::standing::{Level, Standings, standings};
use stats::{Margin, Run};

use crate::headline::is_headline;
use crate::noise::{self, History};
use crate::odd;
use crate::rules::{environment, of_index};
use crate::ruling::Ruling;
use crate::run_index::{FigureRow, RunContext, RunIndex};

/// Fewest nodes that have an order: of two there is a verdict.
pub const FEWEST_NODES: usize = 3;

/// A node with its run and the earlier ones of it, which tell its noise.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    pub name: &'a str,
    pub run: &'a RunData,
    pub earlier: Vec<&'a RunData>,
}

/// A figure of a node.
#[derive(Clone, Debug)]
struct Value {
    better: Better,
    worth: Run,
    /// From run to run.
    noise: Option<stats::Noise>,
    /// By how much the surroundings may have moved it; `None` without a bound.
    wider: Option<f64>,
}

/// A node, as far as it is known.
#[derive(Default)]
struct Known {
    values: BTreeMap<SeriesKey, Value>,
    /// Why figures may not be believed.
    refused: BTreeMap<SeriesKey, String>,
    held_back: bool,
}

/// The document of a group; `None` of fewer than three nodes.
pub fn of_group(nodes: &[Measured<'_>], missing: Vec<OddMissingDoc>, cards: Cards) -> Option<NodesDoc> {
    if nodes.len() < FEWEST_NODES {
        return None;
    }
    let known: Vec<Known> = nodes.iter().map(|node| known(node, cards)).collect();
    let all = figures(&known);
    let scope = scope(&all, cards);
    let counts = |key: &SeriesKey| scope.is_none() || scope_of(key, cards) == scope;
    let counted: Vec<&SeriesKey> = all.iter().map(|(key, _)| key).filter(|key| counts(key)).collect();
    let found = placed(&known, &counted, is_shared(nodes));
    let named: Vec<names::Key<'_>> = all.iter().map(|(key, _)| odd::named(key, cards)).collect();
    let figures = all.iter().zip(names::labels(&named)).map(|((key, better), name)| {
        let values: Vec<f64> = known.iter().filter_map(|one| value(one, key)).collect();
        NodeFigureDoc {
            name: if key.arm.is_empty() { name } else { format!("{name} [{}]", key.arm) },
            instrument: key.instrument.clone(),
            metric: key.metric.clone(),
            params: key.params.clone(),
            arm: key.arm.clone(),
            unit: key.unit,
            better: *better,
            median: stats::median(&values).unwrap_or(f64::NAN),
            counts: counts(key),
        }
    });
    let figures = figures.collect();
    let of_odd: Vec<(String, &RunData)> = nodes.iter().map(|node| (node.name.to_owned(), node.run)).collect();
    let evidence = odd::of_group(&of_odd, Vec::new(), cards).nodes;
    let docs = nodes.iter().zip(&known).zip(evidence).enumerate().map(|(at, ((node, own), odd))| {
        let doc = NodeDoc {
            node: node.name.to_owned(),
            run: node.run.head.id.clone(),
            rank: None,
            worst_rank: None,
            score: None,
            low: None,
            high: None,
            why: None,
            held_back: own.held_back,
            values: all.iter().map(|(key, _)| value(own, key)).collect(),
            faults: node.run.head.faults,
            evidence: odd.evidence,
        };
        with_place(doc, &found, at, || lacking(own, &counted, cards))
    });
    let docs: Vec<NodeDoc> = docs.collect();
    let rest = (0..docs.len()).filter(|at| found.members[*at].is_none());
    let order: Vec<usize> = found.order.iter().copied().chain(rest).collect();
    let name = |at: &usize| nodes[*at].name.to_owned();
    Some(NodesDoc {
        cards,
        scope,
        figures,
        nodes: order.iter().map(|at| docs[*at].clone()).collect(),
        ties: found.ties.iter().map(|tie| found.order[tie.clone()].iter().map(name).collect()).collect(),
        margin: Margin::MACHINES.share(),
        fewest: FEWEST as u64,
        missing,
    })
}

/// The nodes are parts of one machine and were measured in turns, so that they share what went on beside them.
fn is_shared(nodes: &[Measured<'_>]) -> bool {
    let place = |node: &Measured<'_>| {
        let head = &node.run.head;
        (hardware_of(&head.machine_id, &head.machine).to_owned(), head.study.clone())
    };
    nodes.windows(2).all(|pair| place(&pair[0]) == place(&pair[1]))
}

fn known(node: &Measured<'_>, cards: Cards) -> Known {
    let context = RunContext { cards, ..RunContext::default() };
    let index = RunIndex::new(node.run, &context);
    let rulings = of_index(&index);
    let history = History::new(node.earlier.iter().copied());
    let mut known = Known::default();
    let wanted = index.figures().filter(|row| {
        row.series.better != Better::Neither
            && Samples::for_instrument(cards, &row.series.key.instrument) == Samples::Takes
            && is_headline(&index, *row)
    });
    for row in wanted {
        let refusals = || {
            let about = rulings.iter().filter(|ruling| ruling.reach.contains(&row.index));
            about.filter(|ruling| ruling.finding.state == Validity::Invalid)
        };
        let is_of_node = |ruling: &&Ruling| odd::is_of_node(ruling.finding.rule.base());
        known.held_back |= refusals().any(|ruling| is_of_node(&ruling));
        if let Some(other) = refusals().find(|ruling| !is_of_node(ruling)) {
            known.refused.insert(row.series.key.clone(), other.finding.text());
        } else if let Some(value) = measured(&index, row, &rulings, &history) {
            known.values.insert(row.series.key.clone(), value);
        }
    }
    known
}

fn measured(
    index: &RunIndex<'_>,
    row: FigureRow<'_>,
    rulings: &[Ruling],
    history: &History<'_>,
) -> Option<Value> {
    let key = &row.series.key;
    let cards = index.context.cards;
    let worth = noise::run_of(row.series, index.quantile(row))?;
    let (_, mut earlier) = noise::newest(&history.of_key(key, cards));
    // Alone it shows no spread.
    if !earlier.is_empty() {
        earlier.push(worth);
    }
    let floor = noise::assumed_floor(cards, &key.instrument, noise::host(index.run));
    let noise = stats::noise(&[&[worth]], &[&earlier], floor, None).ok();
    let met = environment::disturbances(rulings, index, row).into_iter();
    let wider = met.map(|one| one.share.map(|share| -(-share).ln_1p())).sum();
    Some(Value { better: row.series.better, worth, noise, wider })
}

/// The figures that most of the nodes have, in the order of the first ones.
fn figures(known: &[Known]) -> Vec<(SeriesKey, Better)> {
    let mut all: Vec<(SeriesKey, Better)> = Vec::new();
    let mut count: BTreeMap<&SeriesKey, usize> = BTreeMap::new();
    for (key, value) in known.iter().flat_map(|one| &one.values) {
        *count.entry(key).or_default() += 1;
        if all.iter().all(|(known, _)| known != key) {
            all.push((key.clone(), value.better));
        }
    }
    let most = (odd::MOST * known.len() as f64).max(2.0);
    all.retain(|(key, _)| count.get(key).is_some_and(|count| *count as f64 >= most));
    all
}

fn scope_of(key: &SeriesKey, cards: Cards) -> Option<Scope> {
    card::find(cards, &key.instrument)?.scope(&key.metric, &key.params)
}

/// The scope of the order: that of whole machines where a figure has it.
fn scope(figures: &[(SeriesKey, Better)], cards: Cards) -> Option<Scope> {
    let has = |scope: &Scope| figures.iter().any(|(key, _)| scope_of(key, cards) == Some(*scope));
    [Scope::WholeMachine, Scope::PerThread].into_iter().find(has)
}

fn value(known: &Known, key: &SeriesKey) -> Option<f64> {
    known.values.get(key).map(|value| value.worth.m.exp())
}

fn placed(known: &[Known], counted: &[&SeriesKey], is_shared: bool) -> Standings {
    let level = |one: &Known, key: &SeriesKey| {
        let value = one.values.get(key)?;
        let noise = value.noise?;
        let m = if value.better == Better::Lower { -value.worth.m } else { value.worth.m };
        let is_assumed = noise.kind == stats::NoiseKind::Assumed && noise.prior == stats::Prior::Floor;
        Some(Level { m, s: noise.s, dof: noise.dof(), is_assumed })
    };
    let levels: Vec<Vec<Option<Level>>> =
        counted.iter().map(|key| known.iter().map(|one| level(one, key)).collect()).collect();
    let wider = |one: &Known| -> Option<f64> {
        let all: Option<Vec<f64>> =
            counted.iter().filter_map(|key| Some(one.values.get(key)?.wider)).collect();
        all.map(|all| stats::mean(&all).unwrap_or(0.0))
    };
    let wider: Vec<Option<f64>> =
        known.iter().map(|one| if is_shared { Some(0.0) } else { wider(one) }).collect();
    standings(&levels, &wider, Margin::MACHINES)
}

fn with_place(doc: NodeDoc, found: &Standings, at: usize, why: impl Fn() -> String) -> NodeDoc {
    let Some(standing) = found.members[at] else { return NodeDoc { why: Some(why()), ..doc } };
    let narrow = |place: usize| u32::try_from(place).ok();
    let interval = standing.interval.map(stats::Interval::exp);
    NodeDoc {
        rank: narrow(standing.rank.rank),
        worst_rank: narrow(standing.rank.worst),
        score: Some(standing.score.exp()),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        ..doc
    }
}

/// Why a node has no place.
fn lacking(known: &Known, counted: &[&SeriesKey], cards: Cards) -> String {
    if counted.is_empty() {
        return "no figure that most of the nodes have".to_owned();
    }
    let lacking: Vec<&&SeriesKey> = counted.iter().filter(|key| !known.values.contains_key(**key)).collect();
    let Some(first) = lacking.first() else { return "its figures are no positive numbers".to_owned() };
    let name = names::label(odd::named(first, cards));
    let what = match lacking.len() {
        1 => name,
        several => format!("{} of {} figures, such as {name}", several, counted.len()),
    };
    match known.refused.get(**first) {
        Some(why) => format!("{what}: {why}"),
        None => format!("it has not got {what}"),
    }
}

#[cfg(test)]
mod tests {
    use model::doc::OddEvidenceDoc;

    use super::*;
    use crate::loads::planted::{empty, one, params};

    /// A node whose only figure has this value.
    fn node(name: &str, throughput: f64) -> RunData {
        let mut run = one("connections=50", &[("throughput", throughput)]);
        (run.head.id, run.head.machine) = (format!("run of {name}"), name.to_owned());
        run.plan.cells = vec![model::Cell {
            instrument: "web".to_owned(),
            params: params("connections=50"),
            headline: vec!["throughput".to_owned()],
        }];
        run
    }

    fn group(runs: &[RunData]) -> Option<NodesDoc> {
        let each = runs.iter().map(|run| Measured { name: &run.head.machine, run, earlier: Vec::new() });
        of_group(&each.collect::<Vec<_>>(), Vec::new(), instruments::cards())
    }

    #[test]
    fn the_best_is_first_and_what_is_not_told_apart_is_tied() {
        let runs: Vec<RunData> = [("a", 1000.0), ("b", 100.0), ("c", 1010.0), ("d", 990.0), ("e", 1000.0)]
            .map(|(name, value)| node(name, value))
            .into();
        let doc = group(&runs).expect("five nodes");
        let order: Vec<(&str, String)> =
            doc.nodes.iter().map(|node| (node.node.as_str(), node.place())).collect();
        assert_eq!(order.first().map(|one| one.0), Some("c"), "{order:?}");
        assert_eq!(order.last(), Some(&("b", "5".to_owned())), "{order:?}");
        assert_eq!(doc.ties, [["c", "a", "e", "d"]]);
        let last = doc.nodes.last().expect("five nodes");
        assert!(last.score.is_some_and(|score| (score - 0.1).abs() < 1e-9), "{last:?}");
        assert!(matches!(last.evidence.as_slice(), [OddEvidenceDoc::Figure { .. }]), "{last:?}");
        assert_eq!(doc.odd(), ["b"]);
        assert_eq!(doc.sentence(), "5 nodes: 4 not told apart, b is last; odd: b");
        assert_eq!(group(&runs[..2]), None);
    }

    #[test]
    fn a_node_without_the_figure_of_the_others_has_no_rank_and_says_why() {
        let mut runs: Vec<RunData> = ["a", "b", "c"].map(|name| node(name, 1000.0)).into();
        let mut without = empty();
        without.head.machine = "d".to_owned();
        runs.push(without);
        let doc = group(&runs).expect("four nodes");
        let last = doc.nodes.last().expect("four nodes");
        assert_eq!((last.node.as_str(), last.rank, last.score), ("d", None, None));
        assert!(last.why.as_deref().is_some_and(|why| why.starts_with("it has not got ")), "{last:?}");
        assert_eq!(doc.sentence(), "4 nodes: 3 not told apart");
    }
}
