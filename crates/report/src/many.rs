//! Reports of many runs: what is said of them together, and the note that says where the rest is.
//!
//! Beyond [`MANY`] runs a section has one table or one plot of all in place of a part for each; curves over time are
//! drawn of the first ones. Nothing is lost: a report of one run has it all.

use std::ops::Range;

use maud::{Markup, html};
use model::format::{self, count};

use crate::page::{self, Column};
use crate::section::ReportInput;
use crate::text::fold::names_of;
use crate::theme::Trust;

/// More runs than these are many.
const MANY: usize = 16;
/// Of many, these have curves of their own.
const DRAWN: usize = 4;
/// Lines of one list.
const MOST_LINES: usize = 200;

impl ReportInput {
    pub fn has_many(&self) -> bool {
        self.runs.len() > MANY
    }

    /// The runs that have parts of their own.
    pub fn drawn(&self) -> Range<usize> {
        0..if self.has_many() { DRAWN } else { self.runs.len() }
    }

    /// The name of every run.
    pub fn names(&self) -> Vec<String> {
        let all: Vec<_> = self.runs.iter().map(|(doc, _)| crate::section::called(doc)).collect();
        model::id::apart(&all)
    }

    /// The note below a section with parts by run; nothing where all are drawn.
    pub fn note_on_drawn(&self) -> Markup {
        self.note(&format!("curves are those of the first {DRAWN} of {}", count(self.runs.len(), "run")))
    }

    /// A note on what is left out of a section of many; nothing of few.
    pub fn note(&self, what: &str) -> Markup {
        let of =
            self.runs.get(DRAWN).or(self.runs.first()).map_or("RUN", |(doc, _)| doc.machine.name.as_str());
        let command = format!("boxscore report {}", model::shell::word(of));
        html! { @if self.has_many() { p class="note" { (what) "; a report of one, such as " code { (command) } ", has the whole of it" } } }
    }
}

/// A line about a run.
pub struct Line {
    pub trust: Trust,
    pub name: String,
    pub text: String,
}

/// Each text once, in the order of meeting, behind the runs that it is true of.
pub fn together(lines: Vec<Line>) -> Markup {
    let mut told: Vec<(Trust, String, Vec<String>)> = Vec::new();
    for line in lines {
        match told.iter_mut().find(|(trust, text, _)| *trust == line.trust && *text == line.text) {
            Some((_, _, names)) if names.contains(&line.name) => {}
            Some((_, _, names)) => names.push(line.name),
            None => told.push((line.trust, line.text, vec![line.name])),
        }
    }
    html! { @if !told.is_empty() { ul class="trust" {
        @for (trust, text, names) in told.iter().take(MOST_LINES) {
            (trust.line(&html! { b { (names_of(names)) } ": " (page::prose(text)) }))
        }
        @if told.len() > MOST_LINES { li { (told.len() - MOST_LINES) " more in the JSON document" } }
    } } }
}

/// A value with the runs that have it.
type Shared = (String, Vec<String>);

/// The values of each key over all runs, in the order of meeting.
pub fn by_value<'r>(
    runs: impl Iterator<Item = (&'r String, Vec<(String, String)>)>,
) -> Vec<(String, Vec<Shared>)> {
    let mut keys: Vec<(String, Vec<Shared>)> = Vec::new();
    for (name, pairs) in runs {
        for (key, value) in pairs {
            let at = keys.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                keys.push((key, Vec::new()));
                keys.len() - 1
            });
            let values = &mut keys[at].1;
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, names)) => names.push(name.clone()),
                None => values.push((value, vec![name.clone()])),
            }
        }
    }
    keys
}

/// The facts that are equal on all of `of` runs, and below them, by value, those that are not.
pub fn shared(all: &[(String, Vec<Shared>)], of: usize, what: &str) -> Markup {
    let is_equal =
        |(_, values): &&(String, Vec<Shared>)| matches!(values.as_slice(), [(_, names)] if names.len() == of);
    let (equal, differ): (Vec<_>, Vec<_>) = all.iter().partition(is_equal);
    let same = equal.iter().flat_map(|(key, values)| values.iter().map(move |(value, _)| (key, value)));
    let same: Vec<Vec<Markup>> =
        same.map(|(key, value)| vec![html! { code { (key) } }, html! { (value) }]).collect();
    let rows = differ.iter().flat_map(|(key, values)| values.iter().map(move |one| (key, one)));
    let rows: Vec<Vec<Markup>> = rows
        .map(|(key, (value, names))| {
            vec![html! { code { (key) } }, html! { (value) }, html! { (names_of(names)) }]
        })
        .collect();
    let (two, three) = ([("", Column::Text), ("value", Column::Text)], "of");
    html! {
        @if !same.is_empty() { (page::more(&format!("{} equal on all {of}", count(same.len(), what)), &page::table(&two, &same))) }
        @if !rows.is_empty() {
            (page::more(&format!("{} not equal on all, by value", count(differ.len(), what)),
                &page::table(&[two[0], two[1], (three, Column::Text)], &rows)))
        }
    }
}

/// `3 to 98 %` of shares, or the one that all have.
pub fn percents(values: &[f64]) -> String {
    format::percent_range(values).unwrap_or_else(|| "-".to_owned())
}
