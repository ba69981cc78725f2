//! The nodes of a study in order: each by its score over the middle of the group, its figures, and what is odd of it.
//!
//! Absent where the runs are of no nodes, or of fewer than three.

use maud::{Markup, html};
use model::doc::{NodeDoc, NodesDoc};
use model::format::{self, count};

use crate::page::{self, Column};
use crate::plot::ratio::{RatioRow, Sides};
use crate::plot::{Caption, Estimate, RatioPlot};
use crate::section::{ReportInput, Section, sentence};
use crate::text::nodes::{heading, made_of, missing, remarks, scale, unplaced};
use crate::theme::{Trust, Verdict};

pub static SECTION: Section = Section::new(4, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let doc = input.runs.iter().find_map(|(run, _)| run.nodes.as_ref())?;
    let body = html! {
        (plot(doc).render())
        (ties(doc))
        (trust(doc))
        // Of many the box score has them.
        @if !input.has_many() { (figures(doc)) }
    };
    Some(page::section("nodes", &sentence(&doc.sentence()), &body))
}

/// Dots with intervals, best first.
fn plot(doc: &NodesDoc) -> RatioPlot {
    RatioPlot {
        caption: Caption::default(),
        rows: doc.nodes.iter().map(|node| row(doc, node)).collect(),
        margin: doc.margin,
        axis: format!("{} over the middle of the group", made_of(doc)),
        sides: Sides { below: "behind".to_owned(), above: "ahead".to_owned() },
    }
}

fn row(doc: &NodesDoc, node: &NodeDoc) -> RatioRow {
    let interval = node.low.zip(node.high).filter(|(low, _)| *low > 0.0);
    let remarks = remarks(node).join(", ");
    let name = format!("{}\u{2002}{}", node.place(), node.node);
    RatioRow {
        group: String::new(),
        label: if remarks.is_empty() { name } else { format!("{name} ({remarks})") },
        hint: node.why.clone().unwrap_or_default(),
        ratio: Estimate { value: node.score.unwrap_or(f64::NAN), interval },
        shown: node.score.map_or_else(|| "-".to_owned(), format::ratio),
        shown_interval: interval.map(|(low, high)| format::ratio_interval(low, high)).unwrap_or_default(),
        verdict: beside_middle(doc, node),
        less_is_better: false,
        doubtful: false,
        sampled: true,
    }
}

/// How a node stands to the middle, by its interval and the margin.
fn beside_middle(doc: &NodesDoc, node: &NodeDoc) -> Verdict {
    if node.score.is_none() {
        return Verdict::Invalid;
    }
    let (ahead, behind) = (1.0 + doc.margin, 1.0 / (1.0 + doc.margin));
    match node.low.zip(node.high) {
        Some((low, _)) if low > ahead => Verdict::Better,
        Some((_, high)) if high < behind => Verdict::Worse,
        Some((low, high)) if low >= behind && high <= ahead => Verdict::Tie,
        _ => Verdict::CannotTell,
    }
}

/// Names of a tie that are written out.
const MOST_NAMED: usize = 12;

fn ties(doc: &NodesDoc) -> Markup {
    let said = |names: &Vec<String>| match names.as_slice() {
        few if few.len() <= MOST_NAMED => format::list(few),
        [first, .., last] => format!("{} from {first} to {last}", count(names.len(), "node")),
        _ => String::new(),
    };
    html! {
        p class="note" { "1-3 is the rank and the worst place. No pair is told apart within: "
            @if doc.ties.is_empty() { "none" }
            @for (at, tie) in doc.ties.iter().enumerate() { @if at > 0 { "; " } (said(tie)) }
        }
    }
}

/// In what nodes are odd, which have no rank, which no run.
fn trust(doc: &NodesDoc) -> Markup {
    let odd = || doc.nodes.iter().flat_map(|node| node.evidence.iter().map(move |evidence| (node, evidence)));
    let others: Vec<(String, String)> = unplaced(doc).into_iter().chain(missing(doc)).collect();
    if odd().next().is_none() && others.is_empty() {
        return html! {};
    }
    html! { ul class="trust" {
        @for (node, evidence) in odd() {
            (Trust::Doubtful.line(&html! { b { (node.node) } " is odd: " (page::prose(&evidence.to_string())) }))
        }
        @for (who, why) in &others {
            (Trust::Refused.line(&html! { b { (who) } ": " (page::prose(why)) }))
        }
    } }
}

/// Every figure of every node, in the same order.
fn figures(doc: &NodesDoc) -> Markup {
    if doc.figures.is_empty() {
        return html! {};
    }
    let scales: Vec<format::Scale> = (0..doc.figures.len()).map(|at| scale(doc, at)).collect();
    let heads: Vec<String> =
        doc.figures.iter().zip(&scales).map(|(figure, scale)| heading(figure, scale)).collect();
    let mut head = vec![("", Column::Text)];
    head.extend(heads.iter().map(|name| (name.as_str(), Column::Number)));
    head.push(("faults", Column::Number));
    let rows = doc.nodes.iter().map(|node| {
        let mut cells = vec![html! { (node.node) }];
        cells.extend(node.values.iter().zip(&scales).map(|(value, scale)| match value {
            Some(value) => html! { data value=(value) { (scale.number(*value)) } },
            None => html! { "-" },
        }));
        cells.push(html! { (node.faults) });
        cells
    });
    let middle =
        doc.figures.iter().zip(&scales).map(|(figure, scale)| html! { (scale.number(figure.median)) });
    let middle = std::iter::once(html! { "middle" }).chain(middle).chain([html! {}]).collect();
    let rows: Vec<Vec<Markup>> = rows.chain([middle]).collect();
    let summary = format!("{} of each node", count(doc.figures.len(), "figure"));
    let table = page::table(&head, &rows);
    html! { @if doc.figures.len() <= MOST_SHOWN { (table) } @else { (page::more(&summary, &table)) } }
}

/// Columns that are seen at once.
const MOST_SHOWN: usize = 6;
