//! How the figures were made, shortly and exactly, and the command that makes them again.

use maud::{Markup, html};
use model::doc::RunDoc;
use model::format;
use model::id::short;

use crate::page;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::new(90, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let (first, _) = input.runs.first()?;
    let body = html! {
        @for (run, (doc, _)) in input.runs.iter().enumerate() { (how(doc, &input.name(run))) }
        ul { @if input.is_of_periods() { (periods()) } @else {
            li { "A figure is the median of its measured takes, with the exact order-statistic interval of at least 95 % (6 takes or more). Warm-up takes are drawn hollow and not counted. Where takes resemble their neighbours, fewer of them are counted as independent." }
            li { "Takes of all figures are interleaved in random blocks; the seed is stored. Takes end by the width of the intervals, never by a verdict." }
            li { "Arms of one study are compared block by block: Hodges-Lehmann ratio, signed-rank interval and test. Different runs are compared with the noise between runs added: it is assumed until more runs measure it." }
            li { "Better and worse are said only when the interval lies wholly beyond the margin's tie range and the test holds after Holm's correction over all headline rows; else tie or cannot tell. Published points are never significant." }
            li { "A refused figure is not shown as a number anywhere, and takes no part in an index." }
        } }
        @for (doc, _) in input.runs.iter().filter(|(doc, _)| !doc.config.is_empty()) {
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
