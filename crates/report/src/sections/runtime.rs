//! Language runtimes: the ratio of two languages kernel by kernel, on every machine of the report and beside what
//! studies printed, and the takes behind it.
//!
//! One row for each combination of compiler and virtual machine. Refused ratios have a row without a mark; values are
//! in the box score.

use maud::{Markup, html};
use model::doc::{RatioDoc, RatioRowDoc, VerdictWord};
use model::format;
use model::names::{self, Key};
use model::{Better, Params};

use super::takes;
use crate::page;
use crate::plot::ratio::{RatioRow, Sides};
use crate::plot::{Caption, Estimate, RatioPlot};
use crate::section::{ReportInput, Section, sentence};
use crate::text::compare::doubtful;
use crate::text::ratio::immature;
use crate::theme::Verdict;

pub static SECTION: Section = Section::new(22, draw);

const FAMILY: &str = "runtime";

/// The parameter whose values are groups of the plot.
const KERNEL: &str = "kernel";

fn draw(input: &ReportInput) -> Option<Markup> {
    let takes = takes::plots(input, FAMILY);
    let title = match input.ratios.first() {
        Some(doc) => sentence(&doc.paragraph.lead),
        None => takes::title(input, FAMILY, "Runtimes")?,
    };
    let body = html! {
        @for doc in &input.ratios { (ratios(doc)) }
        @if !takes.is_empty() { (page::grid(&takes)) }
    };
    (!input.ratios.is_empty() || !takes.is_empty()).then(|| page::section(FAMILY, &title, &body))
}

/// The plot of one pair of languages with what is to be said of it.
fn ratios(doc: &RatioDoc) -> Markup {
    let mut rows: Vec<&RatioRowDoc> = doc.rows.iter().collect();
    // What leaves the kernel open is of all of them, and stands last.
    rows.sort_by_cached_key(|one| {
        (one.row.params.get(KERNEL).is_none(), names::order(Key::from(&one.row)), one.machine.clone())
    });
    let margin = rows.iter().map(|one| one.row.margin).fold(0.0, f64::max);
    let plot = RatioPlot {
        caption: Caption::new(format!("{} over {}", doc.over, doc.under))
            .subtitle(format!("rates of one kernel on one machine; right of 1 {} is better", doc.over)),
        rows: rows.iter().map(|one| row(doc, one)).collect(),
        margin,
        axis: format!("{} / {}", doc.over, doc.under),
        sides: Sides { below: doc.under.clone(), above: doc.over.clone() },
    };
    html! {
        (plot.render())
        @for finding in immature(doc) { p class="note" { b { (page::prose(&finding.text())) } } }
        @for note in &doc.footnotes { p class="note" { (page::prose(note)) } }
    }
}

fn row(doc: &RatioDoc, one: &RatioRowDoc) -> RatioRow {
    let row = &one.row;
    let refused = row.verdict == VerdictWord::Invalid;
    let turn = |value: f64| if row.better == Better::Lower { 1.0 / value } else { value };
    let printed = one.bounds.as_ref().map(|bounds| (bounds.low, bounds.high));
    let interval = row.low.zip(row.high).or(printed).filter(|(low, _)| *low > 0.0 && !refused);
    let turned = interval.map(|(low, high)| {
        let (a, b) = (turn(low), turn(high));
        (a.min(b), a.max(b))
    });
    let ratio = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0 && !refused);
    let group = row.params.get(KERNEL).unwrap_or("every kernel");
    let said = interval.map(|(low, high)| format::ratio_interval(low, high));
    let bounds = one.bounds.as_ref().map_or("", |bounds| bounds.kind.as_str());
    // Of a printed range the ends are known, and nothing between them.
    let shown = if printed.is_some() { said.clone() } else { ratio.map(format::ratio) };
    RatioRow {
        group: group.to_owned(),
        label: label(doc, one),
        hint: row.why.to_string(),
        ratio: Estimate { value: ratio.map_or(f64::NAN, turn), interval: turned },
        shown: shown.unwrap_or_else(|| "-".to_owned()),
        shown_interval: if bounds.is_empty() { said.unwrap_or_default() } else { bounds.to_owned() },
        verdict: if row.point { Verdict::Point } else { row.verdict.into() },
        less_is_better: row.better == Better::Lower,
        doubtful: doubtful(row),
        sampled: !row.point,
    }
}

/// `gcc -O2 / hotspot on mini-1, large`: what was compared, and what else tells the row from others.
fn label(doc: &RatioDoc, one: &RatioRowDoc) -> String {
    let values = |params: &Params| params.values().cloned().collect::<Vec<_>>().join(" ");
    let stated = |name: &str| one.row.params.get(name).unwrap_or_default().to_owned();
    let (over, under) = match one.over_params.is_empty() && one.under_params.is_empty() {
        // A study that printed ratios alone does not say what belongs to which.
        true => (stated("cc"), stated("jvm")),
        false => (values(&one.over_params), values(&one.under_params)),
    };
    let mut label = [over, under].into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join(" / ");
    if label.is_empty() {
        label = format!("{} / {}", doc.over, doc.under);
    }
    let measured = doc.machines.iter().filter(|machine| !machine.published).count();
    if measured > 1 || one.row.point {
        label.push_str(&format!(" on {}", one.machine));
    }
    for name in ["size", "bits", "copies"] {
        let differs =
            |other: &RatioRowDoc| !other.row.point && other.row.params.get(name) != one.row.params.get(name);
        if let (Some(value), true) = (one.row.params.get(name), doc.rows.iter().any(differs)) {
            label.push_str(&format!(
                ", {}",
                if name == "size" { value.to_owned() } else { format!("{name} {value}") }
            ));
        }
    }
    label
}
