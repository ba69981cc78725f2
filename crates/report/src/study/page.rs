//! A study as a Markdown page: its tables, the commands, the machine.

use model::doc::{StudyDoc, StudyOrderDoc, StudyTableDoc};
use model::format::{self, Scale};

use super::cells::{self, DOUBTFUL, Kind};
use super::screen::run_line;
use crate::text::nodes::{heading, lines, remarks, scale};

pub fn page(doc: &StudyDoc, command: &str) -> String {
    let mut out = format!("# {}\n\n{}\n", escape(&doc.title), escape(&doc.about));
    out.push_str(&format!("\n```\n{command}\n```\n"));
    if !doc.machine_says.is_empty() {
        let begin = if doc.nodes.is_empty() { "`here` is" } else { "Measured:" };
        out.push_str(&format!("\n{begin} {}.\n", escape(&doc.machine_says)));
    }
    for table in &doc.tables {
        out.push_str(&section(table));
    }
    doc.orders.iter().for_each(|order| out.push_str(&in_order(order)));
    if doc.tables.iter().any(|table| cells::texts(table, false).is_doubtful) {
        out.push_str(&format!("\n{DOUBTFUL} = doubtful: something else went on, or the takes disagree.\n\n"));
        doc.doubts.iter().for_each(|line| out.push_str(&format!("- {}\n", escape(line))));
    }
    if !doc.missing.is_empty() {
        out.push_str("\n## Not to be had here\n\n");
        doc.missing
            .iter()
            .for_each(|one| out.push_str(&format!("- {}: {}\n", escape(&one.what), escape(&one.why))));
    }
    let of = if doc.nodes.is_empty() { "this machine" } else { "the nodes" };
    out.push_str(&format!("\n## Runs of {of}\n\n"));
    for run in &doc.runs {
        let node = run.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
        out.push_str(&format!("- {}{node}: {}\n", run.label, escape(&run_line(run))));
        let sets = [run.set.clone(), run.arms.iter().map(|arm| format!("arm {arm}")).collect()].concat();
        if !run.measures.is_empty() {
            out.push_str(&format!(
                "  as planned: {} with {}\n",
                run.measures.join(" "),
                escape(&sets.join(", "))
            ));
        }
    }
    out
}

fn section(table: &StudyTableDoc) -> String {
    let texts = cells::texts(table, true);
    let mut out = format!("\n## {}\n\n", escape(&table.title));
    let heads: Vec<String> = texts.heads.iter().map(|head| escape(&head.text)).collect();
    let rule: Vec<String> = texts
        .heads
        .iter()
        .map(|head| if matches!(head.kind, Kind::Label | Kind::Unit) { "---" } else { "---:" }.to_owned())
        .collect();
    out.push_str(&row(&heads));
    out.push_str(&row(&rule));
    texts
        .rows
        .iter()
        .for_each(|cells| out.push_str(&row(&cells.iter().map(|text| escape(text)).collect::<Vec<_>>())));
    if !texts.notes.is_empty() || !table.notes.is_empty() {
        out.push('\n');
    }
    texts.notes.iter().for_each(|(letter, note)| out.push_str(&format!("- ({letter}) {}\n", escape(note))));
    table.notes.iter().for_each(|note| out.push_str(&format!("- {}\n", escape(note))));
    out
}

/// The nodes of a run in order.
fn in_order(order: &StudyOrderDoc) -> String {
    let doc = &order.nodes;
    let mut out = format!("\n## Nodes by {}\n\n{}.\n\n", escape(&order.name), escape(&doc.sentence()));
    let shown: Vec<usize> = (0..doc.figures.len()).filter(|at| doc.figures[*at].counts).collect();
    let scales: Vec<Scale> = shown.iter().map(|at| scale(doc, *at)).collect();
    let figures = shown.iter().zip(&scales).map(|(at, scale)| heading(&doc.figures[*at], scale));
    let heads = ["node", "rank", "score", "95 %"].map(str::to_owned).into_iter().chain(figures);
    let heads: Vec<String> = heads.map(|text| escape(&text)).chain([String::new()]).collect();
    out.push_str(&row(&heads));
    let rule = |at: usize| if at < 2 || at + 1 == heads.len() { "---" } else { "---:" }.to_owned();
    out.push_str(&row(&(0..heads.len()).map(rule).collect::<Vec<_>>()));
    let none = || "-".to_owned();
    for node in &doc.nodes {
        let interval = node.low.zip(node.high).map(|(low, high)| format::ratio_interval(low, high));
        let mut cells = vec![
            escape(&node.node),
            node.place(),
            node.score.map_or_else(none, format::ratio),
            interval.unwrap_or_else(none),
        ];
        let value = |(at, scale): (&usize, &Scale)| {
            node.values.get(*at).copied().flatten().map_or_else(none, |value| scale.number(value))
        };
        cells.extend(shown.iter().zip(&scales).map(value));
        cells.push(remarks(node).join(", "));
        out.push_str(&row(&cells));
    }
    out.push('\n');
    for line in lines(doc) {
        out.push_str(&format!("- {}\n", escape(&line)));
    }
    out
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Text that a Markdown table holds as it is.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
