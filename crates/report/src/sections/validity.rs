//! The findings of the rules: each with its evidence, doubts first.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use model::doc::RunDoc;
use model::format::{self, count};
use model::{Cards, Finding, Validity};

use crate::many::{Line, together};
use crate::page;
use crate::section::{ReportInput, Section};
use crate::text::{fold, notes};
use crate::theme::Trust;

pub static SECTION: Section = Section::new(60, draw);

/// Findings of one state beyond these are counted.
const MOST: usize = 60;

fn draw(input: &ReportInput) -> Option<Markup> {
    let all: Vec<&Finding> = input.runs.iter().flat_map(|(run, _)| &run.findings).collect();
    if all.is_empty() {
        return None;
    }
    let says = |state: Validity| {
        let notes = input.runs.iter().map(|(run, _)| {
            notes::doubts(&run.findings, &notes::headlines(run))
                .into_iter()
                .filter(|note| note.state == state)
                .count()
        });
        notes.sum::<usize>()
    };
    let ok = all.iter().filter(|finding| finding.state == Validity::Ok).count();
    let title = match (says(Validity::Doubtful), says(Validity::Invalid)) {
        (0, 0) => format!("Validity: {} found nothing to doubt", count(ok, "check")),
        (doubtful, 0) => format!("Validity: {}, nothing refused", count(doubtful, "doubt")),
        (0, refused) => format!("Validity: {} refused", count(refused, "figure")),
        (doubtful, refused) => format!("Validity: {refused} refused, {}", count(doubtful, "doubt")),
    };
    if input.has_many() {
        return Some(page::section("validity", &title, &of_many(input)));
    }
    let body = html! { @for (run, (doc, _)) in input.runs.iter().enumerate() {
        @if input.runs.len() > 1 { h3 { (input.name(run)) } }
        (findings(doc))
    } };
    Some(page::section("validity", &title, &body))
}

/// The texts of the rules on the runs, each once; and how many found nothing.
fn of_many(input: &ReportInput) -> Markup {
    let mut lines: Vec<Line> = Vec::new();
    for ((doc, _), name) in input.runs.iter().zip(input.names()) {
        let notes = notes::doubts(&doc.findings, &notes::headlines(doc));
        lines.extend(notes.into_iter().rev().map(|note| Line {
            trust: Trust::from(note.state),
            name: name.clone(),
            text: note.text,
        }));
    }
    lines.sort_by_key(|line| line.trust != Trust::Refused);
    let of = |state: Validity| {
        let all = input.runs.iter().flat_map(|(doc, _)| &doc.findings);
        all.filter(|finding| finding.state == state).count()
    };
    html! {
        (together(lines))
        p class="note" {
            (count(of(Validity::Ok), "check")) " found nothing, " (of(Validity::Unknown)) " lacked their inputs"
        }
        (input.note("each finding stands with its evidence in the JSON document"))
    }
}

/// One line a rule; what each said of each figure stands folded below.
fn findings(run: &RunDoc) -> Markup {
    let all = &run.findings;
    let of = |state: Validity| all.iter().filter(move |finding| finding.state == state).collect::<Vec<_>>();
    let notes = notes::doubts(all, &notes::headlines(run));
    let loud: Vec<&Finding> = of(Validity::Invalid).into_iter().chain(of(Validity::Doubtful)).collect();
    let kinds: BTreeSet<&str> = loud.iter().map(|finding| finding.kind()).collect();
    let quiet = [(Validity::Ok, "found nothing"), (Validity::Unknown, "could not be checked here")];
    html! {
        ul class="trust" { @for note in notes.iter().rev() {
            (Trust::from(note.state).line(&html! { (page::prose(&note.text)) }))
        } }
        @for kind in kinds {
            @let found: Vec<&Finding> = loud.iter().copied().filter(|finding| finding.kind() == kind).collect();
            // The lines above say it once.
            details class="data" { summary { (kind) ": " (count(found.len(), "finding")) } (list(&found, run.cards)) }
        }
        @for (state, says) in quiet {
            @let found = of(state);
            @if !found.is_empty() { (page::more(&format!("{} {says}", count(found.len(), "check")), &list(&found, run.cards))) }
        }
    }
}

fn list(found: &[&Finding], cards: Cards) -> Markup {
    html! { ul class="trust" {
        @for finding in found.iter().take(MOST) {
            (Trust::from(finding.state).line(&html! {
                (page::prose(&fold::sentence(finding, cards)))
                " " span class="mut" { "(" (finding.kind()) (evidence(&finding.evidence())) ")" }
            }))
        }
        @if found.len() > MOST { li { (found.len() - MOST) " more in the JSON document" } }
    } }
}

/// The numbers behind a sentence, in base units. Points in time stand in the sentence alone.
fn evidence(evidence: &BTreeMap<String, f64>) -> String {
    let text = |value: f64| match value.fract() == 0.0 && value.abs() < 1e6 {
        true => format::fixed(value, 0),
        false => format::number(value),
    };
    let pair = |(name, value): (&String, &f64)| format!("{name} {}", text(*value));
    let is_told = |(name, _): &(&String, &f64)| !["from", "to"].contains(&name.as_str());
    let pairs: Vec<String> = evidence.iter().filter(is_told).take(6).map(pair).collect();
    if pairs.is_empty() { String::new() } else { format!(": {}", pairs.join(", ")) }
}
