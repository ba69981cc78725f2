//! How the loaded servers were set up: what the notes of a run say, a line a property.

use maud::{Markup, html};
use model::data::Note;

use crate::page::{self, Column};
use crate::section::{ReportInput, Section};

pub struct WebSetup;
pub static SECTION: WebSetup = WebSetup;

impl Section for WebSetup {
    fn rank(&self) -> u32 {
        44
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let mut title = None;
        let mut body: Vec<Markup> = Vec::new();
        for (run, (_, data)) in input.runs.iter().enumerate() {
            let setups = setups(&data.notes);
            for (at, setup) in setups.iter().enumerate() {
                title = title.or_else(|| said(setup));
                let mut name = if input.runs.len() > 1 { vec![input.name(run)] } else { Vec::new() };
                name.extend((setups.len() > 1).then(|| format!("setup {}", at + 1)));
                body.push(html! { @if !name.is_empty() { h3 { (name.join(", ")) } } (table(setup)) });
            }
        }
        let title = title.unwrap_or_else(|| "How the server was set up".to_owned());
        (!body.is_empty())
            .then(|| page::section("web-setup", &title, &html! { @for part in &body { (part) } }))
    }
}

/// Each different setup once.
fn setups(notes: &[Note]) -> Vec<Vec<(String, String)>> {
    let mut out: Vec<Vec<(String, String)>> = Vec::new();
    for note in notes.iter().filter(|note| note.kind == "web-setup") {
        let lines = note.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let setup: Vec<(String, String)> = lines.map(parted).collect();
        if !setup.is_empty() && !out.contains(&setup) {
            out.push(setup);
        }
    }
    out
}

/// `server: nginx` in two; a line without a name is a value.
fn parted(line: &str) -> (String, String) {
    let (name, value) = line.split_once(": ").or_else(|| line.split_once('=')).unwrap_or(("", line));
    (name.trim().to_owned(), value.trim().to_owned())
}

/// The server by its version where a line tells it.
fn said(setup: &[(String, String)]) -> Option<String> {
    let server = setup.iter().find(|(name, _)| name == "server")?;
    Some(format!("The server was {}", server.1))
}

fn table(setup: &[(String, String)]) -> Markup {
    let head = [("", Column::Text), ("", Column::Text)];
    let rows: Vec<Vec<Markup>> =
        setup.iter().map(|(name, value)| vec![html! { (name) }, html! { (value) }]).collect();
    page::table(&head, &rows)
}
