//! How the loaded servers were set up: what the notes of a run say, a row a setup.

use maud::{Markup, html};
use model::data::Note;

use crate::page::{self, Column};
use crate::section::{ReportInput, Section};

pub struct WebSetup;
pub static SECTION: WebSetup = WebSetup;

/// One setup: its parts in the order of meeting.
type Setup = Vec<(String, String)>;

impl Section for WebSetup {
    fn rank(&self) -> u32 {
        44
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let mut title = None;
        let mut body: Vec<Markup> = Vec::new();
        for (run, (_, data)) in input.runs.iter().enumerate() {
            let setups = setups(&data.notes);
            title = title.or_else(|| setups.iter().find_map(said));
            body.push(html! {
                @if input.runs.len() > 1 && !setups.is_empty() { h3 { (input.name(run)) } }
                @if !setups.is_empty() { (table(&setups)) }
                @for (name, text) in builds(&data.notes) {
                    (page::more(&format!("How {name} was built"), &html! { p { (text) } }))
                }
            });
        }
        Some(page::section("web-setup", &title?, &html! { @for part in &body { (part) } }))
    }
}

/// Each different setup once.
fn setups(notes: &[Note]) -> Vec<Setup> {
    let mut out: Vec<Setup> = Vec::new();
    for note in notes.iter().filter(|note| note.kind == "web-setup") {
        let setup = parted(&note.text);
        if !setup.is_empty() && !out.contains(&setup) {
            out.push(setup);
        }
    }
    out
}

/// What the servers say of how they were built: name and text, each once.
fn builds(notes: &[Note]) -> Vec<(&str, &str)> {
    let mut out: Vec<(&str, &str)> = Vec::new();
    for note in notes.iter().filter(|note| note.kind == "server-build") {
        let (name, text) = note.text.split_once(": ").unwrap_or(("the server", &note.text));
        if !out.contains(&(name, text)) {
            out.push((name, text));
        }
    }
    out
}

/// `nginx/1.22.1, 1 worker on CPU 0; 1 generator on CPU 1` by part; `name: value` in two.
fn parted(text: &str) -> Vec<(String, String)> {
    let parts = text.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty());
    let named = |(at, part): (usize, &str)| match part.split_once(": ") {
        Some((name, value)) => (name.trim().to_owned(), value.trim().to_owned()),
        None => {
            let name = match at {
                0 => "server",
                _ if part.contains("generator") => "load",
                _ => "",
            };
            (name.to_owned(), part.to_owned())
        }
    };
    parts.enumerate().map(named).collect()
}

/// The server with its place where a line tells it.
fn said(setup: &Setup) -> Option<String> {
    let server = setup.iter().find(|(name, _)| name == "server")?;
    Some(format!("The load was on {}", server.1))
}

/// A row a setup, a column a part.
fn table(setups: &[Setup]) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in setups.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let head: Vec<(&str, Column)> = names.iter().map(|name| (*name, Column::Text)).collect();
    let cell = |setup: &Setup, name: &str| {
        let of: Vec<&str> =
            setup.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect();
        html! { @if of.is_empty() { "-" } @else { (of.join("; ")) } }
    };
    let rows: Vec<Vec<Markup>> =
        setups.iter().map(|setup| names.iter().map(|name| cell(setup, name)).collect()).collect();
    page::table(&head, &rows)
}
