//! How the figures were made, shortly and exactly, and the command that makes them again.

use std::rc::Rc;

use maud::{Markup, html};
use model::data::RunData;
use model::doc::RunDoc;
use model::format;
use model::id::short;

use crate::many::{by_value, shared};
use crate::page::{self, Column};
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::new(90, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let (first, _) = input.runs.first()?;
    let body = html! {
        @if input.has_many() { (of_many(input)) }
        @else { @for (run, (doc, _)) in input.runs.iter().enumerate() { (how(doc, &input.name(run))) } }
        ul { @if input.is_of_periods() { (periods()) } @else {
            li { "A figure is the median of its measured takes, with the exact order-statistic interval of at least 95 % (6 takes or more). Warm-up takes are drawn hollow and not counted. Where takes resemble their neighbours, fewer of them are counted as independent." }
            li { "Takes of all figures are interleaved in random blocks; the seed is stored. Takes end by the width of the intervals, never by a verdict." }
            li { "Arms of one study are compared block by block: Hodges-Lehmann ratio, signed-rank interval and test. Different runs are compared with the noise between runs added: it is assumed until more runs measure it." }
            li { "Better and worse are said only when the interval lies wholly beyond the margin's tie range and the test holds after Holm's correction over all headline rows; else tie or cannot tell. Published points are never significant." }
            li { "A refused figure is not shown as a number anywhere, and takes no part in an index." }
        } }
        @for (doc, _) in input.runs.iter().filter(|(doc, _)| !input.has_many() && !doc.config.is_empty()) {
            (page::more(&format!("Configuration of run {}", short(&doc.run)), &config(doc)))
        }
    };
    Some(page::section("methods", &format!("Methods: {}", first.ended_by), &body))
}

fn periods() -> Markup {
    html! {
        li { "A figure is over all requests of a log; where several logs were put together, percentiles are medians over their hours. Hours differ in what was asked for: they are no repetitions, so that a figure has no interval, and neither their spread nor their number is judged." }
        li { "Groups of requests are compared like with like: one class of size in one quarter of an hour, or at one time of the day where they share no time. The interval draws blocks of time, so that what lasts counts once; before and after a moment, each side's blocks are drawn by themselves." }
        li { "Better and worse are said only when the interval lies wholly beyond the margin's tie range and the test holds after Holm's correction over the rows of a pair; else tie or cannot tell." }
        li { "What a machine did meanwhile is by the clock of the host that recorded it, requests by that of the server that logged them; the two are not compared." }
    }
}

/// A row a run, each command once, and the configurations together.
fn of_many(input: &ReportInput) -> Markup {
    let names = input.names();
    let head = [
        ("", Column::Text),
        ("run", Column::Text),
        ("began, UTC", Column::Text),
        ("took", Column::Number),
        ("boxscore's own CPU time", Column::Number),
    ];
    let time = |seconds: Option<f64>| html! { (seconds.map_or("-".to_owned(), format::duration)) };
    let row = |(name, (doc, _)): (&String, &(Rc<RunDoc>, Rc<RunData>))| {
        let began = html! { (crate::text::date_time(doc.started)) };
        vec![
            html! { (name) },
            html! { code { (doc.run) } },
            began,
            time(doc.seconds),
            time(doc.own_cpu_seconds),
        ]
    };
    let rows: Vec<Vec<Markup>> = names.iter().zip(&input.runs).map(row).collect();
    let mut commands: Vec<&str> = Vec::new();
    for (doc, _) in &input.runs {
        let command = doc.command.as_str();
        commands.extend((!command.is_empty() && !commands.contains(&command)).then_some(command));
    }
    let pairs = |doc: &RunDoc| doc.config.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let config = by_value(names.iter().zip(&input.runs).map(|(name, (doc, _))| (name, pairs(doc))));
    html! {
        @for command in commands.iter().take(MOST_COMMANDS) { pre { (command) } }
        @if commands.len() > MOST_COMMANDS { p class="note" { (commands.len() - MOST_COMMANDS) " more commands" } }
        (page::more(&format!("{}, when and how long", format::count(rows.len(), "run")), &page::table(&head, &rows)))
        (shared(&config, names.len(), "setting"))
    }
}

/// Commands of many runs; those of a study are one.
const MOST_COMMANDS: usize = 3;

fn how(run: &RunDoc, name: &str) -> Markup {
    html! {
        p {
            (name) ", run " code { (run.run) } ", " (crate::text::date_time(run.started)) " UTC"
            @if let Some(seconds) = run.seconds { ", " (format::duration(seconds)) }
            @if let Some(own) = run.own_cpu_seconds { "; boxscore itself used " (format::duration(own)) " of CPU time beside the takes" }
            "."
        }
        @if !run.command.is_empty() { pre { (run.command) } }
    }
}

fn config(run: &RunDoc) -> Markup {
    let head = [("", page::Column::Text), ("", page::Column::Text)];
    let rows: Vec<Vec<Markup>> =
        run.config.iter().map(|(key, value)| vec![html! { code { (key) } }, html! { (value) }]).collect();
    page::table(&head, &rows)
}
