//! Notes of the user, takes that faulted, and what could not run here.

use std::borrow::Cow;

use maud::{Markup, html};
use model::doc::RunDoc;
use model::format::count;
use model::note::dropped;
use model::{Note, NoteBody};

use crate::many::{Line, together};
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
    let bodies = || input.runs.iter().flat_map(|(run, _)| dropped(&run.notes));
    let unfit = bodies().filter(|body| matches!(body, NoteBody::Unfit(_))).count();
    let given_up = bodies().filter(|body| matches!(body, NoteBody::GivenUp(_))).count();
    let mut said = vec![match faulted {
        // Hours of a log are no takes.
        0 if input.is_of_periods() => "notes".to_owned(),
        0 => "no take faulted".to_owned(),
        _ => format!("{} faulted", count(usize::try_from(faulted).unwrap_or(usize::MAX), "take")),
    }];
    if unfit > 0 {
        said.push(format!("{} could not run here", count(unfit, "thing")));
    }
    if given_up > 0 {
        said.push(format!("{} given up", count(given_up, "figure")));
    }
    if input.has_many() {
        let title = crate::section::sentence(&said.join(", "));
        return Some(page::section("faults", &title, &of_many(input)));
    }
    // A run without either has no heading of its own.
    let has_any = |doc: &RunDoc| !doc.errors.is_empty() || doc.notes.iter().any(is_shown);
    let told = input.runs.iter().enumerate().filter(|(_, (doc, _))| has_any(doc));
    let body = html! { @for (run, (doc, _)) in told {
        @if input.runs.len() > 1 { h3 { (input.name(run)) } }
        ul class="trust" {
            @for (text, times) in &doc.errors {
                (Trust::Refused.line(&html! { (page::prose(text)) @if *times > 1 { " (" (times) " times)" } }))
            }
            (lines(&doc.notes, |note| !is_how(note)))
        }
        (how(&doc.notes))
    } };
    Some(page::section("faults", &crate::section::sentence(&said.join(", ")), &body))
}

/// Each fault and note once, behind the runs that have it.
fn of_many(input: &ReportInput) -> Markup {
    let (mut loud, mut how): (Vec<Line>, Vec<Line>) = (Vec::new(), Vec::new());
    for ((doc, _), name) in input.runs.iter().zip(input.names()) {
        let line = |trust: Trust, text: String| Line { trust, name: name.clone(), text };
        let times = |text: &str, times: u64| {
            if times > 1 { format!("{text} ({times} times)") } else { text.to_owned() }
        };
        loud.extend(doc.errors.iter().map(|(text, count)| line(Trust::Refused, times(text, *count))));
        let note =
            |(kind, text, _): (&str, Cow<'_, str>, usize)| line(Trust::Info, format!("{kind}: {text}"));
        loud.extend(texts(&doc.notes, |note| !is_how(note)).into_iter().map(note));
        how.extend(texts(&doc.notes, is_how).into_iter().map(note));
    }
    html! {
        (together(loud))
        @if !how.is_empty() { (page::more("How it was measured", &together(how))) }
    }
}

/// The wanted notes as lines.
fn lines(notes: &[Note], is_wanted: impl Fn(&Note) -> bool) -> Markup {
    html! { @for (kind, text, times) in texts(notes, is_wanted) {
        (Trust::Info.line(&html! {
            span class="mut" { (kind) ": " } (page::prose(&text)) @if times > 1 { " (" (times) " times)" }
        }))
    } }
}

/// The wanted notes, each text once; every sitting makes its own.
fn texts(notes: &[Note], is_wanted: impl Fn(&Note) -> bool) -> Vec<(&str, Cow<'_, str>, usize)> {
    let mut told: Vec<(&str, Cow<'_, str>, usize)> = Vec::new();
    for note in notes.iter().filter(|note| is_shown(note) && is_wanted(note)) {
        let (kind, text) = (note.kind(), note.text());
        match told.iter_mut().find(|(known, said, _)| *known == kind && *said == text) {
            Some((_, _, times)) => *times += 1,
            None => told.push((kind, text, 1)),
        }
    }
    told
}

/// How the figures were measured, folded away: it matters to who repeats them.
fn how(notes: &[Note]) -> Markup {
    let all = lines(notes, is_how);
    if all.0.is_empty() {
        all
    } else {
        page::more("How it was measured", &html! { ul class="trust" { (all) } })
    }
}

/// True for a note that says how a figure was measured, and neither that something went wrong nor what the user said.
const fn is_how(note: &Note) -> bool {
    matches!(
        note.body,
        NoteBody::WebSetup(_)
            | NoteBody::ServerBuild(_)
            | NoteBody::Remark { .. }
            | NoteBody::ControllerCpu(_)
            | NoteBody::ControllerTakesCpu(_)
            | NoteBody::EndedBy(_)
            | NoteBody::Replay(_)
    )
}

/// Who was busy during each take, what was behind the server, what it is made of and where the tasks of a job ran is
/// told by findings, bottlenecks and sections, of all takes together.
const fn is_shown(note: &Note) -> bool {
    !matches!(
        note.body,
        NoteBody::Disturbers(_) | NoteBody::Backends(_) | NoteBody::ServerWorkers(_) | NoteBody::JobTasks(_)
    )
}
