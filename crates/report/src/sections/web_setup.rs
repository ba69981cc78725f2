//! How the loaded servers were set up: a row for each setup that a run noted.

use maud::{Markup, html};
use model::note::{Note, NoteBody, ServerBuild, WebSetup as Setup};

use crate::page::{self, Column};
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::by_run(44, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let mut title = None;
    let mut body: Vec<Markup> = Vec::new();
    for (run, (_, data)) in input.runs.iter().enumerate().take(input.drawn().end) {
        let setups = setups(&data.notes);
        title = title.or_else(|| setups.first().map(|setup| format!("The load was on {}", setup.server)));
        body.push(html! {
            @if input.runs.len() > 1 && !setups.is_empty() { h3 { (input.name(run)) } }
            @if !setups.is_empty() { (table(&setups)) }
            @for build in builds(&data.notes) {
                (page::more(&format!("How {} was built", build.name()), &html! { p { (build.details) } }))
            }
        });
    }
    Some(page::section("web-setup", &title?, &html! { @for part in &body { (part) } }))
}

/// Each different setup once.
fn setups(notes: &[Note]) -> Vec<&Setup> {
    let mut out: Vec<&Setup> = Vec::new();
    for note in notes {
        if let NoteBody::WebSetup(setup) = &note.body
            && !out.contains(&setup)
        {
            out.push(setup);
        }
    }
    out
}

/// How the servers were built, each build once.
fn builds(notes: &[Note]) -> Vec<&ServerBuild> {
    let mut out: Vec<&ServerBuild> = Vec::new();
    for note in notes {
        if let NoteBody::ServerBuild(build) = &note.body
            && !out.contains(&build)
        {
            out.push(build);
        }
    }
    out
}

/// A row a setup; the last column is there where a server shared CPUs with its generators.
fn table(setups: &[&Setup]) -> Markup {
    let shared = setups.iter().any(|setup| setup.shares_cpus);
    let mut head = vec![("server", Column::Text), ("load", Column::Text)];
    if shared {
        head.push(("", Column::Text));
    }
    let row = |setup: &&Setup| {
        let mut cells = vec![html! { (setup.server) }, html! { (setup.generators) }];
        if shared {
            cells.push(html! { (setup.shared().unwrap_or("-")) });
        }
        cells
    };
    let rows: Vec<Vec<Markup>> = setups.iter().map(row).collect();
    page::table(&head, &rows)
}
