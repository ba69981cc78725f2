//! Prices and power of the sides of a comparison, and what each gives for them.

use maud::{Markup, html};
use model::doc::{ArmDoc, CompareDoc, Cost, ValueDoc};
use model::format::{self, count};

use crate::page::{self, Column};
use crate::section::{ReportInput, Section};
use crate::text::compare::figures;
use crate::text::worth::{self, Line};

pub static SECTION: Section = Section::new(7, draw);

/// A longer table is folded.
const MOST_OPEN: usize = 12;

fn draw(input: &ReportInput) -> Option<Markup> {
    section(input.compare.as_ref()?)
}

fn section(doc: &CompareDoc) -> Option<Markup> {
    let costs: Vec<String> = doc.arms.iter().filter_map(costs).collect();
    if costs.is_empty() {
        return None;
    }
    let lines = worth::lines(doc, &figures(doc, false), true);
    let body = html! {
        (machines(doc))
        @if !doc.value.is_empty() { h3 { "Performance of the whole machine" } (values(&doc.value)) }
        @if !lines.is_empty() {
            @let table = figures_table(doc, &lines);
            @if lines.len() > MOST_OPEN { (page::more(&format!("{} per price and power", count(lines.len(), "figure")), &table)) }
            @else { h3 { "Figures per price and power" } (table) }
        }
    };
    Some(page::section("price", &format!("Price and power: {}", costs.join("; ")), &body))
}

/// `alpha 0.10 USD/h, 65 W`
fn costs(arm: &ArmDoc) -> Option<String> {
    let known: Vec<String> = Cost::ALL.iter().filter_map(|per| arm.cost(*per)).collect();
    (!known.is_empty()).then(|| format!("{} {}", arm.name, known.join(", ")))
}

fn machines(doc: &CompareDoc) -> Markup {
    let head = [("", Column::Text), ("price", Column::Number), ("power", Column::Number)];
    let row = |arm: &ArmDoc| {
        let cost = |per: Cost| html! { (arm.cost(per).unwrap_or_else(|| "-".to_owned())) };
        vec![html! { (arm.name) }, cost(Cost::Price), cost(Cost::Watts)]
    };
    page::table(&head, &doc.arms.iter().map(row).collect::<Vec<_>>())
}

/// The indexes by cost: how many times that of the first side, and which side gives more.
fn values(all: &[ValueDoc]) -> Markup {
    let head = [
        ("", Column::Text),
        ("times", Column::Number),
        ("95 % interval", Column::Number),
        ("gives more", Column::Text),
    ];
    let row = |one: &ValueDoc| {
        vec![
            html! { (one.arm) " against " (one.reference) ", per " (one.per.unit()) },
            html! { (format::ratio(one.value)) },
            html! { (format::ratio_interval(one.low, one.high)) },
            html! { (one.more.as_deref().unwrap_or("cannot be told")) },
        ]
    };
    page::table(&head, &all.iter().map(row).collect::<Vec<_>>())
}

fn figures_table(doc: &CompareDoc, lines: &[Line]) -> Markup {
    let names: Vec<&str> = doc.arms.iter().map(|arm| arm.name.as_str()).collect();
    let mut head = vec![("", Column::Text), ("unit", Column::Text)];
    for (at, name) in names.iter().enumerate() {
        head.push((name, Column::Number));
        head.extend((at > 0).then_some(("times", Column::Number)));
    }
    let row = |line: &Line| {
        let mut cells = vec![html! { (line.figure) }, html! { (line.unit) }, html! { (line.base) }];
        for (value, ratio) in &line.arms {
            cells.push(html! { (value) });
            cells.push(html! { (if ratio.is_empty() { "-" } else { ratio }) });
        }
        cells
    };
    let base = names.first().copied().unwrap_or_default();
    html! {
        (page::table(&head, &lines.iter().map(row).collect::<Vec<_>>()))
        p class="note" { "times = performance for it, as a multiple of that of " (base) ": above 1 is better" }
    }
}
