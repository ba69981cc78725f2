//! The box score: every figure with its interval, how many takes, and whether it holds; several runs side by side.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::doc::{RunDoc, SeriesDoc};
use model::finding::FigureName;
use model::format::{self, Scale, count};
use model::names;
use model::{Fact, Finding, Samples, Validity};

use crate::page::{self, Column};
use crate::section::{Figure, ReportInput, Section, labels};
use crate::sections::score_many;
use crate::text::score::{ScoreRow, rows, scales, threaded};
use crate::text::spec::Spec;
use crate::text::units;
use crate::theme::Trust;
use crate::web_loads::has_sweeps;

pub static SECTION: Section = Section::new(10, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    if input.has_many() {
        return Some(page::section("score", &title(input, 0), &score_many::body(input)?));
    }
    let mut all: Vec<Figure<'_>> = input.figures(0).collect();
    all.sort_by_cached_key(|figure| names::order(figure.key()));
    // Sweeps have tables and curves of their own, which print shows instead.
    let swept = input.runs.first().is_some_and(|(run, _)| has_sweeps(run));
    let is_swept = |f: &Figure<'_>| swept && names::is_load(f.doc.card);
    let (loads, all): (Vec<Figure<'_>>, Vec<Figure<'_>>) = all.into_iter().partition(is_swept);
    let (head, rest): (Vec<Figure<'_>>, Vec<Figure<'_>>) = all.into_iter().partition(|f| f.doc.headline);
    if head.is_empty() && rest.is_empty() && loads.is_empty() {
        return None;
    }
    let body = html! {
        @if !head.is_empty() { div class="full" { (table(input, &head)) } }
        @if !rest.is_empty() {
            (page::more(&format!("{} other figures", rest.len()), &table(input, &rest)))
        }
        @if !loads.is_empty() {
            details class="data" {
                summary { (count(loads.len(), "figure")) " of loads on a web server" }
                (table(input, &loads))
            }
        }
    };
    let shown = if head.is_empty() { rest.len() } else { head.len() };
    Some(page::section("score", &title(input, shown), &body))
}

/// The figures that hold, over all runs; of periods those that are `shown`.
fn title(input: &ReportInput, shown: usize) -> String {
    let of = |state| input.runs.iter().map(|(run, _)| run.counted(state)).sum::<usize>();
    let (doubtful, refused) = (of(Validity::Doubtful), of(Validity::Invalid));
    let total: usize = input.runs.iter().map(|(run, _)| run.headlines().len()).sum();
    if input.is_of_periods() {
        let of = if input.runs.len() > 1 { "each log" } else { "the log" };
        return format!("Box score: {} over all requests of {of}", count(shown, "figure"));
    }
    let mut out = format!("Box score: {} of {total} figures hold", total - doubtful - refused);
    if doubtful > 0 {
        out.push_str(&format!(", {doubtful} doubtful"));
    }
    if refused > 0 {
        out.push_str(&format!(", {refused} refused"));
    }
    out
}

/// Heading of the figures: those of periods are over all requests of a log.
fn value_head(repeated: bool) -> &'static str {
    if repeated { "median" } else { "figure" }
}

/// The few figures of the first screen.
pub fn headlines(run: &RunDoc, facts: &[Fact]) -> Markup {
    const MOST: usize = 24;
    let mut score_rows = rows(run, None);
    if has_sweeps(run) {
        score_rows.retain(|row| !row.main().is_some_and(|series| names::is_load(series.card)));
    }
    if score_rows.is_empty() {
        return html! {};
    }
    let threaded = threaded(&score_rows);
    let repeated =
        score_rows.iter().filter_map(ScoreRow::main).any(|series| series.samples == Samples::Takes);
    let mut head = vec![
        ("", Column::Text),
        ("unit", Column::Text),
        (if threaded { "1 thread" } else { value_head(repeated) }, Column::Number),
    ];
    head.extend(repeated.then_some(("95 % interval", Column::Number)));
    let all = Spec(facts).all_cpus();
    head.extend(threaded.then_some((all.as_str(), Column::Number)));
    head.extend((threaded && repeated).then_some(("95 % interval", Column::Number)));
    let shown = &score_rows[..score_rows.len().min(MOST)];
    let rows: Vec<Vec<Markup>> = shown
        .iter()
        .zip(scales(shown))
        .filter_map(|(row, scale)| {
            let (series, scale) = (row.main()?, scale?);
            let title = key_of(series);
            let mut cells = vec![html! { span title=(title) { (row.label) } }, html! { (scale.unit) }];
            for (series, is_shown) in [(row.one, true), (row.all, threaded)] {
                let interval = || html! { (series.map_or("-".to_owned(), |s| interval(s, &scale))) };
                cells.extend(is_shown.then(|| value_cell(series, &scale)));
                cells.extend((is_shown && repeated).then(interval));
            }
            Some(cells)
        })
        .collect();
    let doubtful = |row: &ScoreRow<'_>| {
        let shown = [row.one, row.all].into_iter().flatten();
        shown.into_iter().any(|series| series.validity == Validity::Doubtful)
    };
    let any = score_rows.iter().take(MOST).any(doubtful);
    let rest = score_rows.len().saturating_sub(MOST);
    html! {
        (page::table(&head, &rows))
        @if rest > 0 { p class="note" { "and " (count(rest, "more row")) ", in the box score" } }
        @if any { p class="note" { "! = doubtful: Trust says why" } }
    }
}

/// The figure as JSON names it.
fn key_of(series: &SeriesDoc) -> String {
    format!("{} {} {} {}", series.instrument, series.metric, series.params, series.arm).trim_end().to_owned()
}

/// The number as shown, with the whole of it as the element's value.
fn value_cell(series: Option<&SeriesDoc>, scale: &Scale) -> Markup {
    match series {
        None => html! { "-" },
        Some(series) if series.validity == Validity::Invalid => html! { "refused" },
        Some(series) => html! {
            @match series.median {
                Some(median) if median.is_finite() => { data value=(median) { (scale.number(median)) } }
                median => { (median.map_or("-".to_owned(), |v| scale.number(v))) }
            }
            @if series.validity == Validity::Doubtful { span class="t-doubt" { b class="mark" { "!" } } }
        },
    }
}

fn interval(series: &SeriesDoc, scale: &Scale) -> String {
    match (series.low, series.high) {
        (Some(low), Some(high)) if series.validity != Validity::Invalid => scale
            .interval(low, high)
            .map_or(format::NOT_KNOWN.to_owned(), |(low, high)| format!("{low} to {high}")),
        _ => "-".to_owned(),
    }
}

/// Figures of periods have no interval, no floor and no verdict of a rule, so that a table of them has no such column.
fn table(input: &ReportInput, figures: &[Figure<'_>]) -> Markup {
    let repeated = figures.iter().any(|figure| figure.doc.samples == Samples::Takes);
    let several = input.runs.len() > 1;
    // Of sides that pool runs, the comparison has the intervals.
    let whole = input.pooled().is_none();
    let names: Vec<String> = (0..input.runs.len()).map(|run| input.name(run)).collect();
    let mut head: Vec<(&str, Column)> = vec![("", Column::Text), ("unit", Column::Text)];
    for name in &names {
        head.push((if several { name.as_str() } else { value_head(repeated) }, Column::Number));
        head.extend((whole && repeated).then_some(("95 % interval", Column::Number)));
        head.extend(whole.then_some(("n", Column::Number)));
        head.extend((whole && several && repeated).then_some(("holds", Column::Text)));
    }
    if !several {
        let [mean, ends] =
            if repeated { ["mean", "min to max"] } else { ["mean of the hours", "hours, min to max"] };
        head.extend([(mean, Column::Number), (ends, Column::Number)]);
        head.extend(repeated.then_some(("floor", Column::Number)));
        head.extend(repeated.then_some(("holds", Column::Text)));
    }
    let twins: Vec<Vec<Option<Figure<'_>>>> = figures
        .iter()
        .map(|figure| (0..input.runs.len()).map(|run| input.twin(figure, run)).collect())
        .collect();
    let medians =
        |twins: &Vec<Option<Figure<'_>>>| twins.iter().flatten().filter_map(|twin| twin.doc.median).collect();
    let each = figures.iter().zip(&twins);
    let units: Vec<Option<units::Row<'_>>> =
        each.map(|(figure, twins)| Some(units::Row::new(figure.doc, medians(twins)))).collect();
    let scales = units::scales(&units);
    let rows: Vec<Vec<Markup>> = figures
        .iter()
        .zip(labels(figures))
        .zip(twins.iter().zip(scales))
        .filter_map(|((figure, label), (twins, scale))| {
            Some(row(input, (figure, twins), &label, &scale?, (several, repeated)))
        })
        .collect();
    html! {
        (page::table(&head, &rows))
        @for reason in refused_periods(&twins) { p class="note" { (reason) } }
        @if !whole { p class="note" { "! = doubtful: Validity says why; a report of each run has its intervals" } }
    }
}

/// Figures over all requests of a log that are not told, with the reason: `time.p99: too few requests for a 99th
/// percentile`.
fn refused_periods(twins: &[Vec<Option<Figure<'_>>>]) -> BTreeSet<String> {
    let docs = twins.iter().flatten().flatten().map(|twin| twin.doc);
    let refused = docs.filter(|doc| doc.samples == Samples::Periods && doc.median.is_none());
    refused.filter_map(|doc| Some(format!("- = {}: {}", doc.metric, doc.why.as_ref()?))).collect()
}

fn row(
    input: &ReportInput,
    (figure, twins): (&Figure<'_>, &[Option<Figure<'_>>]),
    label: &str,
    scale: &Scale,
    (several, repeated): (bool, bool),
) -> Vec<Markup> {
    let run_of = |run: usize| input.runs.get(run).map(|(doc, _)| doc);
    let title = key_of(figure.doc);
    let mut cells = vec![html! { span title=(title) { (label) } }, html! { (scale.unit) }];
    for twin in twins {
        cells.push(value_cell(twin.as_ref().map(|twin| twin.doc), scale));
        if input.pooled().is_some() {
            continue;
        }
        cells.extend(repeated.then(|| {
            html! { (twin.as_ref().map_or("-".to_owned(), |twin| interval(twin.doc, scale))) }
        }));
        cells.push(html! { @if let Some(twin) = twin {
            (twin.doc.n) @if twin.doc.faults > 0 { " (" (twin.doc.faults) " faulted)" }
        } @else { "-" } });
        if several && repeated {
            let run = twin.as_ref().and_then(|twin| run_of(twin.run));
            cells.push(html! { @if let (Some(twin), Some(run)) = (twin, run) { (validity(run, twin.doc)) } });
        }
    }
    if !several {
        let doc = figure.doc;
        let held = doc.validity != Validity::Invalid;
        let shown = |value: Option<f64>| value.filter(|_| held).map(|value| scale.number(value));
        cells.push(html! { (shown(doc.mean).unwrap_or_else(|| "-".to_owned())) });
        cells.push(html! { @match (shown(doc.min), shown(doc.max)) {
            (Some(min), Some(max)) => { (min) " to " (max) }
            _ => { "-" }
        } });
        if repeated {
            cells.push(html! { (doc.floor.map_or("-".to_owned(), format::floor)) });
            cells.extend(run_of(figure.run).map(|run| validity(run, doc)));
        }
    }
    cells
}

/// The state in a word, and the rules behind it; their sentences are in the section on validity.
fn validity(run: &RunDoc, series: &SeriesDoc) -> Markup {
    let (mark, class) = Trust::from(series.validity).mark();
    let is_series = |figure: &FigureName| {
        (&figure.instrument, &figure.metric, &figure.params)
            == (&series.instrument, &series.metric, &series.params)
    };
    let about = |finding: &&Finding| {
        finding.state == series.validity && finding.subject.figure().is_some_and(is_series)
    };
    let known = run.findings.iter().filter(|_| series.validity >= Validity::Doubtful).filter(about);
    let rules: BTreeSet<&str> = known.map(|finding| finding.kind()).collect();
    let reasons = series.reasons.iter().chain(&series.why).cloned().collect::<Vec<_>>().join("; ");
    html! {
        span class=(class) { b class="mark" { (mark) } }
        @if series.validity != Validity::Ok { " " (series.validity.word()) }
        @if !rules.is_empty() {
            " " a href="#validity" class="why" title=(reasons) { (rules.into_iter().collect::<Vec<_>>().join(", ")) }
        } @else if !reasons.is_empty() { " " span class="mut why" { (page::prose(&reasons)) } }
    }
}
