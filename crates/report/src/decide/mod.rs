//! The page of a decision: the answer, the candidates, cost against demand, what would change it, and what it rests on.
//!
//! The texts of figures are those of the screen (`text::decide::cells`).

mod plots;
mod tables;

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::doc::DecideDoc;
use model::format::{count, fixed};

use crate::page::{self, Head};
use crate::text::decide::cells;
use crate::theme::Trust;

/// The whole page. `command` makes it again; `date` is that of today.
pub fn page(doc: &DecideDoc, command: &str, (version, date): (&str, &str)) -> String {
    let body = html! {
        (page::first_screen(&page::unbroken(&doc.answer.sentence), &tally(doc), &left(doc), &right(doc)))
        (parts(doc))
        (capacities(doc))
        (demand(doc))
        (changes(doc))
        (settle(doc))
        (bought(doc))
        (inputs(doc))
        footer {
            "boxscore " (version) " · " (fixed(doc.draws as f64, 0)) " draws from seed " (doc.seed.to_string())
            " · intervals are of 95 %"
        }
    };
    let needs: Vec<&str> = doc.needs.iter().map(|need| need.text.as_str()).collect();
    let facts = vec![
        "decision".to_owned(),
        date.to_owned(),
        count(doc.candidates.len(), "candidate"),
        cells::life(doc).to_owned(),
    ];
    let head = Head { machine: needs.join(" + "), facts, command: command.to_owned() };
    page::page(&format!("{} · boxscore", needs.join(", ")), &head, &body)
}

fn tally(doc: &DecideDoc) -> Markup {
    let currency = cells::currency(doc);
    // A side may lack several needs.
    let left_out: BTreeSet<&str> = doc.excluded.iter().map(|one| one.name.as_str()).collect();
    html! {
        span {
            (count(doc.needs.len(), "need")) " · " (count(doc.candidates.len(), "candidate"))
            @if !left_out.is_empty() { " · " (count(left_out.len(), "side")) " left out" }
        }
        @if !doc.cautions.is_empty() {
            span class="t-doubt" { b class="mark" { "!" } " " (count(doc.cautions.len(), "caution")) }
        }
        @if doc.currency.is_some() { span class="mut" { "all money in " (currency) } }
    }
}

fn left(doc: &DecideDoc) -> Markup {
    html! {
        @if !doc.cautions.is_empty() {
            (page::card("Before you buy", &html! {
                ul class="trust" { @for one in &doc.cautions {
                    (Trust::Doubtful.line(&page::prose(&format!("{}.", cells::sentence(one, doc)))))
                } }
            }))
        }
        @if !doc.paragraph.is_empty() {
            p { @for sentence in &doc.paragraph { (page::prose(&format!("{}. ", cells::sentence(sentence, doc)))) } }
        }
        @if doc.candidates.is_empty() { (left_out(doc)) } @else { (tables::candidates(doc)) }
        @if let Some(mixed) = &doc.mixed { p { "Two kinds together: " (page::prose(&cells::mixed(mixed, doc))) } }
    }
}

/// In front of a command that has to run on another machine.
fn on(machine: Option<&str>) -> Markup {
    html! { @if let Some(machine) = machine { "on " (machine) ": " } }
}

/// The sides that are not sized, each with what it lacks and the command that would measure it.
fn left_out(doc: &DecideDoc) -> Markup {
    let line = |one: &model::doc::ExcludedDoc| {
        let need = one.need.as_ref().map_or_else(String::new, |need| format!(", {need}"));
        let body = html! {
            strong { (one.name) (need) } ": " (page::prose(&one.why))
            @if let Some(command) = &one.command { br; (on(one.on.as_deref())) code { (command) } }
        };
        Trust::Refused.line(&body)
    };
    html! {
        @if !doc.excluded.is_empty() {
            (page::card("Left out", &html! { ul class="trust" { @for one in &doc.excluded { (line(one)) } } }))
        }
    }
}

fn right(doc: &DecideDoc) -> Markup {
    html! {
        @if let Some(plot) = plots::cheapest(doc) { (plot) }
        @if !doc.candidates.is_empty() { (left_out(doc)) }
        @if !doc.notes.is_empty() {
            (page::card("What to know", &html! {
                ul class="trust" { @for note in &doc.notes { (Trust::Info.line(&page::prose(note))) } }
            }))
        }
    }
}

fn parts(doc: &DecideDoc) -> Markup {
    match tables::parts(doc) {
        Some(table) => page::section("cost", "What the cost is made of, and the space", &table),
        None => html! {},
    }
}

fn capacities(doc: &DecideDoc) -> Markup {
    if doc.candidates.is_empty() {
        return html! {};
    }
    page::section(
        "capacity",
        "What one box does",
        &html! {
            @for (at, need) in doc.needs.iter().enumerate() {
                h3 { (need.text) }
                (tables::capacities(need, at, doc))
            }
        },
    )
}

fn demand(doc: &DecideDoc) -> Markup {
    let body = match (plots::costs(doc), plots::flat(doc)) {
        (Some(plot), _) => page::grid(&[plot]),
        (None, Some(flat)) => html! { p { (page::prose(&flat)) } },
        (None, None) => return html! {},
    };
    page::section("demand", "Cost against demand", &body)
}

fn changes(doc: &DecideDoc) -> Markup {
    if doc.tornado.is_empty() && doc.break_even.is_empty() {
        return html! {};
    }
    page::section(
        "changes",
        "What would change the answer",
        &html! {
            @if let Some(plot) = plots::tornado(doc) { (plot) }
            @if let Some(still) = cells::still(doc) {
                p { (page::prose(&format!("{}.", cells::sentence(&still, doc)))) }
            }
            @if !doc.break_even.is_empty() {
                h3 { "Where another one becomes the cheapest" }
                (tables::break_even(doc))
            }
        },
    )
}

fn settle(doc: &DecideDoc) -> Markup {
    if doc.settle.is_empty() {
        return html! {};
    }
    let line = |one: &model::doc::SettleDoc| {
        html! {
            li {
                (cells::effort(one)) ": " (on(one.on.as_deref())) (page::command(&one.command)) " "
                (page::prose(&one.why))
            }
        }
    };
    page::section(
        "settle",
        "What would settle the tie",
        &html! { ul class="plain" { @for one in &doc.settle { (line(one)) } } },
    )
}

fn bought(doc: &DecideDoc) -> Markup {
    let part = |id: &str, list: &[model::doc::BoughtDoc]| match list.first() {
        Some(first) => {
            let title = format!("What {} buys", cells::money_in(first.amount, doc));
            page::section(id, &title, &tables::bought(list, doc))
        }
        None => html! {},
    };
    html! { (part("equal-price", &doc.equal_price)) (part("budget", &doc.budget)) }
}

fn inputs(doc: &DecideDoc) -> Markup {
    let points = doc.scaling.iter().flat_map(|scaling| &scaling.points);
    let point = |one: &model::doc::FleetPointDoc| {
        let boxes = if one.boxes == 1 { "box" } else { "boxes" };
        format!("{} {boxes}: {} ({}, {})", one.boxes, model::format::number(one.value), one.side, one.figure)
    };
    let points: Vec<String> = points.map(point).collect();
    page::section(
        "inputs",
        "What it rests on",
        &html! {
            (tables::inputs(doc))
            @if let Some(scaling) = cells::scaling(doc) {
                p class="note" { "Work of several boxes: " (scaling) }
            }
            @if !points.is_empty() { p class="note" { "Together did " (page::prose(&points.join("; "))) } }
        },
    )
}
