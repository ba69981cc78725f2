//! The spec sheets: every fact with its source, or why it is not known.

use maud::{Markup, html};
use model::Fact;

use crate::many::{by_value, shared};
use crate::page::{self, Column};
use crate::section::{ReportInput, Section};
use crate::text::sheet::topics;
use crate::text::spec::{self, Spec};

pub static SECTION: Section = Section::new(80, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let sheets: Vec<(String, Vec<Fact>)> = (0..input.runs.len())
        .map(|run| (input.name(run), input.facts(run)))
        .filter(|(_, facts)| !facts.is_empty())
        .collect();
    let (name, facts) = sheets.first()?;
    let known = facts.iter().filter(|fact| spec::value(fact).is_some()).count();
    let title = match Spec(facts).processor() {
        Some(processor) => format!("{name} is a {processor}: {known} of {} facts are known", facts.len()),
        None => format!("{name}: {known} of {} facts are known", facts.len()),
    };
    if input.has_many() {
        return Some(page::section("machines", &title, &of_many(&sheets)));
    }
    let body = html! { @for (name, facts) in &sheets {
        @let summary = format!("Spec sheet of {name}: {} facts with their sources", facts.len());
        (page::more(&summary, &sheet(facts)))
    } };
    Some(page::section("machines", &title, &body))
}

/// The facts that are equal on all, and by value those that are not.
fn of_many(sheets: &[(String, Vec<Fact>)]) -> Markup {
    let pairs = |fact: &Fact| {
        let why = fact.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        (fact.key.clone(), format!("{}{why}", spec::value(fact).unwrap_or_else(|| "unknown".to_owned())))
    };
    let each = sheets.iter().map(|(name, facts)| (name, facts.iter().map(pairs).collect()));
    shared(&by_value(each), sheets.len(), "fact")
}

fn sheet(facts: &[Fact]) -> Markup {
    let head = [("", Column::Text), ("value", Column::Text), ("source", Column::Text)];
    html! { @for (topic, facts) in topics(facts) {
        h3 { (topic) }
        @let rows: Vec<Vec<Markup>> = facts.iter().map(|fact| row(fact)).collect();
        (page::table(&head, &rows))
    } }
}

fn row(fact: &Fact) -> Vec<Markup> {
    let why = fact.why.as_deref().unwrap_or("");
    let value = html! {
        @match spec::value(fact) {
            Some(value) => { (value) @if !why.is_empty() { " " span class="mut" { "(" (page::prose(why)) ")" } } }
            None => { span class="mut" { "unknown" @if !why.is_empty() { " (" (page::prose(why)) ")" } } }
        }
    };
    vec![html! { code { (fact.key) } }, value, html! { span class="mut" { (fact.source) } }]
}
