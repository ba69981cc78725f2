//! The nodes of a study in order: a row each, and below them in what the odd ones are not like the others.

use model::doc::{NodeDoc, NodeFigureDoc, NodesDoc, OddEvidenceDoc};
use model::format::{self, Scale, count};
use model::ranges::fold;

use super::fit::{Part, Rank};
use super::grid::{Align, Cell, Grid};
use super::lab_hosts::plain;
use super::{Look, Tone, hang, notes};

/// Figures that have a column.
const MOST_FIGURES: usize = 4;
/// Nodes that stand in a table that is not whole, at either end.
const EITHER_END: usize = 3;
/// Of a table with more nodes than these only both ends are shown, and those that are odd.
const MOST_NODES: usize = 16;

/// The word behind the name of a node that its own quota or heat held back.
const HELD_BACK: &str = "held back";

/// The nodes as a part of a screen.
pub fn part(doc: &NodesDoc, look: Look) -> Part {
    let all = table(doc, &doc.nodes.iter().collect::<Vec<_>>(), look);
    let ends = table(doc, &ends(doc), look);
    let whole = if look.all || doc.nodes.len() <= MOST_NODES { all } else { ends.clone() };
    let short = format!("\n{}{}", title(doc, look), odd(doc, look));
    Part::new(whole).or(Rank::Sentence, "nodes", ends).or(Rank::Sentence, "nodes", short)
}

/// All of it, for a screen of its own.
pub fn screen(doc: &NodesDoc, look: Look) -> String {
    let nodes =
        if look.all || doc.nodes.len() <= MOST_NODES { doc.nodes.iter().collect() } else { ends(doc) };
    table(doc, &nodes, look)
}

/// The first and last ones, and those that are odd or have no place.
fn ends(doc: &NodesDoc) -> Vec<&NodeDoc> {
    let last = doc.nodes.len().saturating_sub(EITHER_END);
    let is_shown = |(at, node): &(usize, &NodeDoc)| {
        *at < EITHER_END || *at >= last || !node.evidence.is_empty() || node.rank.is_none()
    };
    doc.nodes.iter().enumerate().filter(is_shown).map(|(_, node)| node).collect()
}

fn title(doc: &NodesDoc, look: Look) -> String {
    hang("", &doc.sentence(), look.columns)
}

fn table(doc: &NodesDoc, nodes: &[&NodeDoc], look: Look) -> String {
    let mut figures: Vec<usize> = (0..doc.figures.len()).filter(|at| doc.figures[*at].counts).collect();
    figures.truncate(MOST_FIGURES);
    let mut grid = filled(doc, nodes, &figures);
    while grid.width() > look.columns && figures.pop().is_some() {
        grid = filled(doc, nodes, &figures);
    }
    let mut out = format!("\n{}", title(doc, look));
    out.push_str(&grid.render(look.columns, look.paint));
    let left = doc.nodes.len() - nodes.len();
    if left > 0 {
        out.push_str(&format!("and {} between them: --all\n", count(left, "more node")));
    }
    out.push_str(&key(doc, &figures, look));
    out.push_str(&odd(doc, look));
    out
}

fn filled(doc: &NodesDoc, nodes: &[&NodeDoc], figures: &[usize]) -> Grid {
    let scales: Vec<Scale> = figures.iter().map(|at| scale(doc, *at)).collect();
    let heads: Vec<String> = scales
        .iter()
        .enumerate()
        .map(|(place, scale)| format!("({}) {}", place + 1, scale.ascii_unit()).trim_end().to_owned())
        .collect();
    let mut all =
        vec![("", Align::Left), ("rank", Align::Left), ("score", Align::Right), ("95 %", Align::Right)];
    all.extend(heads.iter().map(|head| (head.as_str(), Align::Right)));
    let has_remarks = nodes.iter().any(|node| !remarks(node).is_empty());
    all.extend(has_remarks.then_some(("", Align::Left)));
    let mut grid = Grid::new(&all);
    for node in nodes {
        let interval = node.low.zip(node.high).map(|(low, high)| format::ratio_interval(low, high));
        let mut cells: Vec<Cell> = vec![
            node.node.clone().into(),
            node.place().into(),
            node.score.map_or_else(|| "-".to_owned(), format::ratio).into(),
            interval.unwrap_or_else(|| "-".to_owned()).into(),
        ];
        for (at, scale) in figures.iter().zip(&scales) {
            let value = node.values.get(*at).copied().flatten();
            cells.push(value.map_or_else(|| "-".to_owned(), |value| scale.number(value)).into());
        }
        cells.extend(has_remarks.then(|| Cell::tone(remarks(node).join(", "), Tone::Warn)));
        grid.row(cells);
    }
    grid
}

/// The scale of a column: that of all its values.
pub fn scale(doc: &NodesDoc, figure: usize) -> Scale {
    let values: Vec<f64> =
        doc.nodes.iter().filter_map(|node| node.values.get(figure).copied().flatten()).collect();
    match doc.figures.get(figure) {
        Some(known) => Scale::common(&values, known.kind(doc.cards)),
        None => Scale::common(&values, model::format::Kind::for_unit(model::Unit::Ratio)),
    }
}

/// Words behind a row.
pub fn remarks(node: &NodeDoc) -> Vec<String> {
    let mut all = Vec::new();
    all.extend((!node.evidence.is_empty()).then(|| "odd".to_owned()));
    all.extend(node.held_back.then(|| HELD_BACK.to_owned()));
    let faults = usize::try_from(node.faults).unwrap_or(usize::MAX);
    all.extend((faults > 0).then(|| count(faults, "fault")));
    all
}

/// The figures that the score is made of: `whole-machine figure`, and how many.
pub fn made_of(doc: &NodesDoc) -> String {
    let counted = doc.figures.iter().filter(|figure| figure.counts).count();
    match doc.scope {
        Some(scope) => count(counted, &format!("{} figure", scope.adjective())),
        None => count(counted, "figure"),
    }
}

/// The meaning of columns.
fn key(doc: &NodesDoc, figures: &[usize], look: Look) -> String {
    let mut text = format!(
        "rank: 1-3 = rank and worst place; nodes between are not told apart. score: {} over the middle of the group, \
         more is better; within {} is equal",
        made_of(doc),
        format::percent(doc.margin)
    );
    let name = |(place, at): (usize, &usize)| Some(format!("({}) {}", place + 1, doc.figures.get(*at)?.name));
    let named: Vec<String> = figures.iter().enumerate().filter_map(name).collect();
    if !named.is_empty() {
        text.push_str(&format!("; {}", named.join(", ")));
    }
    notes::marked("-", Tone::Dim, &text, look)
}

/// In what nodes are odd, why one has no rank, and which have no run.
pub fn lines(doc: &NodesDoc) -> Vec<String> {
    told(doc).into_iter().map(|(_, line)| line).collect()
}

/// The same, each with its mark.
fn told(doc: &NodesDoc) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for node in &doc.nodes {
        let odd =
            |evidence: &OddEvidenceDoc| format!("{} is odd: {}", node.node, plain(&evidence.to_string()));
        all.extend(node.evidence.iter().map(|evidence| ("!", odd(evidence))));
    }
    let line = |(who, why): (String, String)| ("-", format!("{who}: {}", plain(&why)));
    all.extend(unplaced(doc).into_iter().chain(missing(doc)).map(line));
    all
}

/// Which nodes have no rank, and why: `a1 has no rank`, `a[1-5] have no rank`.
pub fn unplaced(doc: &NodesDoc) -> Vec<(String, String)> {
    let all = doc.nodes.iter().filter_map(|node| Some((node.node.as_str(), node.why.as_deref()?)));
    alike(all, "has no rank", "have no rank")
}

/// Which nodes have no run, and why: `a1 is missing`, `a[1-5] are missing`.
pub fn missing(doc: &NodesDoc) -> Vec<(String, String)> {
    let all = doc.missing.iter().map(|one| (one.node.as_str(), one.why.as_str()));
    alike(all, "is missing", "are missing")
}

/// Nodes of which the same is true are told together, in the order in which the reasons come.
fn alike<'a>(
    all: impl Iterator<Item = (&'a str, &'a str)>,
    of_one: &str,
    of_several: &str,
) -> Vec<(String, String)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in all {
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => groups.push((why, vec![name])),
        }
    }
    let told = |(why, names): (&str, Vec<&str>)| {
        let verb = if names.len() == 1 { of_one } else { of_several };
        (format!("{} {verb}", fold(names, |_| true)), why.to_owned())
    };
    groups.into_iter().map(told).collect()
}

fn odd(doc: &NodesDoc, look: Look) -> String {
    let tone = |mark: &str| if mark == "!" { Tone::Warn } else { Tone::Dim };
    let all = told(doc);
    all.iter().map(|(mark, line)| notes::marked(mark, tone(mark), line, look)).collect()
}

/// The figure's name with its unit.
pub fn heading(figure: &NodeFigureDoc, scale: &Scale) -> String {
    match scale.unit.as_str() {
        "" => figure.name.clone(),
        unit => format!("{}, {unit}", figure.name),
    }
}

#[cfg(test)]
mod tests {
    use model::doc::OddMissingDoc;
    use model::{Better, FactValue, Params, Scope, Unit};

    use super::*;

    fn planted(nodes: usize) -> NodesDoc {
        let memory = OddEvidenceDoc::Fact {
            key: "cgroup.memory.limit".into(),
            value: FactValue::Number(1024.0 * 1024.0 * 1024.0),
            usual: FactValue::Text("none".into()),
            unit: Some(Unit::Byte),
            count: nodes as u64 - 1,
            of: nodes as u64,
        };
        let node = |at: usize| {
            let is_last = at + 1 == nodes;
            let score = if is_last { 0.2 } else { 1.02 - 0.06 * at as f64 / nodes as f64 };
            let all = u32::try_from(nodes).expect("few");
            NodeDoc {
                node: format!("rack{}", at + 1),
                run: String::new(),
                rank: Some(if is_last { all } else { 1 }),
                worst_rank: Some(if is_last { all } else { all - 1 }),
                score: Some(score),
                low: Some(score * 0.93),
                high: Some(score / 0.93),
                why: None,
                held_back: is_last,
                values: vec![Some(12.5e9 * score)],
                faults: u64::from(at == 2),
                evidence: if at == 1 { vec![memory.clone()] } else { Vec::new() },
            }
        };
        let figure = NodeFigureDoc {
            name: "crc32c 1 KiB".into(),
            instrument: "crc32c".into(),
            metric: "throughput".into(),
            params: Params::default(),
            arm: String::new(),
            unit: Unit::BytesPerSec,
            better: Better::Higher,
            median: 12.5e9,
            counts: true,
        };
        let nodes: Vec<NodeDoc> = (0..nodes).map(node).collect();
        let tied = nodes.iter().take(nodes.len() - 1).map(|node| node.node.clone()).collect();
        NodesDoc {
            cards: &[],
            scope: Some(Scope::PerThread),
            figures: vec![figure],
            nodes,
            ties: vec![tied],
            margin: 0.05,
            fewest: 5,
            missing: ["rack9", "spare1", "rack10"].map(absent).into(),
        }
    }

    fn absent(name: &str) -> OddMissingDoc {
        let why = if name == "spare1" { "it was lost" } else { "not in the study's runs" };
        OddMissingDoc { node: name.to_owned(), why: why.to_owned() }
    }

    #[test]
    fn nodes_stand_in_order_with_what_is_odd_below() {
        insta::assert_snapshot!(screen(&planted(8), Look::plain()));
    }

    #[test]
    fn of_many_nodes_both_ends_and_the_odd_ones_are_shown() {
        insta::assert_snapshot!(screen(&planted(132), Look::plain()));
    }
}
