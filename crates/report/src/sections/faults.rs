//! Notes of the user, takes that faulted, and what could not run here.

use maud::{Markup, html};
use model::format::count;
use model::{Note, NoteBody};

use crate::page;
use crate::section::{ReportInput, Section};
use crate::theme::Trust;

pub static SECTION: Section = Section::new(85, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let faulted: u64 = input.runs.iter().flat_map(|(run, _)| run.errors.values()).sum();
    let notes = input.runs.iter().flat_map(|(run, _)| &run.notes).filter(|note| is_shown(note)).count();
    if faulted == 0 && notes == 0 {
        return None;
    }
    let bodies = || input.runs.iter().flat_map(|(run, _)| &run.notes).map(|note| &note.body);
    let unfit = bodies().filter(|body| matches!(body, NoteBody::Unfit(_))).count();
    let given_up = bodies().filter(|body| matches!(body, NoteBody::GivenUp(_))).count();
    let mut said = vec![if faulted == 0 {
        "no take faulted".to_owned()
    } else {
        format!("{} faulted", count(usize::try_from(faulted).unwrap_or(usize::MAX), "take"))
    }];
    if unfit > 0 {
        said.push(format!("{} could not run here", count(unfit, "thing")));
    }
    if given_up > 0 {
        said.push(format!("{} given up", count(given_up, "figure")));
    }
    let body = html! { @for (run, (doc, _)) in input.runs.iter().enumerate() {
        @if input.runs.len() > 1 { h3 { (input.name(run)) } }
        ul class="trust" {
            @for (text, times) in &doc.errors {
                (Trust::Refused.line(&html! { (page::prose(text)) @if *times > 1 { " (" (times) " times)" } }))
            }
            @for note in doc.notes.iter().filter(|note| is_shown(note)).take(100) {
                (Trust::Info.line(&html! { span class="mut" { (note.kind()) ": " } (page::prose(&note.text())) }))
            }
        }
    } };
    Some(page::section("faults", &crate::section::sentence(&said.join(", ")), &body))
}

/// Who was busy during each take is told by the findings, of all takes together.
const fn is_shown(note: &Note) -> bool {
    !matches!(note.body, NoteBody::Disturbers(_))
}
