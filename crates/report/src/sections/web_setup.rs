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

/// Each different setup once, with what the servers say of how they were built.
fn setups(notes: &[Note]) -> Vec<Vec<(String, String)>> {
    let mut out: Vec<Vec<(String, String)>> = Vec::new();
    let mut push = |setup: Vec<(String, String)>| {
        if !setup.is_empty() && !out.contains(&setup) {
            out.push(setup);
        }
    };
    notes.iter().filter(|note| note.kind == "web-setup").for_each(|note| push(parted(&note.text)));
    let builds = notes.iter().filter(|note| note.kind == "server-build");
    builds.for_each(|note| push(vec![("build".to_owned(), note.text.trim().to_owned())]));
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
fn said(setup: &[(String, String)]) -> Option<String> {
    let server = setup.iter().find(|(name, _)| name == "server")?;
    Some(format!("The load was on {}", server.1))
}

fn table(setup: &[(String, String)]) -> Markup {
    let head = [("", Column::Text), ("", Column::Text)];
    let rows: Vec<Vec<Markup>> =
        setup.iter().map(|(name, value)| vec![html! { (name) }, html! { (value) }]).collect();
    page::table(&head, &rows)
}
