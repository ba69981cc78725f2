//! The first screen: what was found, how sure that is, and on what machine.
//!
//! Beside a reference: ratios on one axis, better to the right. Without one: the headline figures.

use maud::{Markup, html};
use model::data::RunData;
use model::doc::{CompareDoc, RowDoc, RunDoc, VerdictWord};
use model::finding::{Counted, Counter, Rule};
use model::format::{self, Kind, count};
use model::metric::Better;
use model::names::instrument;
use model::unit::Unit;
use model::{Label, Validity};

use crate::page;
use crate::plot::ratio::{RatioRow, Sides, tally};
use crate::plot::{Caption, Estimate, RatioPlot, Sparkline};
use crate::section::{ReportInput, Section};
use crate::sections::{score, takes, web_bottleneck, web_by_connections, web_by_rate};
use crate::text::compare::{ComparedFigure, arms, doubtful, figures};
use crate::text::notes;
use crate::text::score::{ScoreRow, rows};
use crate::text::spec::Spec;
use crate::theme::{Trust, Verdict};
use crate::web_loads::has_sweeps;

/// Of more runs than these the page has their own sections alone.
const MOST: usize = 4;
/// Instruments whose figures lead the sentence about a machine.
const LEADING: [&str; 4] =
    [instrument::INDEX, instrument::MEM_BANDWIDTH, instrument::MEM_LATENCY, instrument::DISK_READ];

pub static SECTION: Section = Section::new(0, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let (run, _) = input.runs.first()?;
    let compare = input.compare.as_ref().filter(|doc| !doc.rows.is_empty());
    let left = match compare {
        Some(doc) => forest(doc).render(),
        None => html! {
            @if has_sweeps(run) { (web_by_connections::glance(input)) (web_by_rate::glance(input)) }
            div class="full" { (score::headlines(run, &input.facts(0))) }
            @if let Some(plot) = takes::overview(input) { (plot) }
        },
    };
    let tally = compare.map_or_else(|| counts(run), tally_of);
    let (title, rest) = match compare.filter(|doc| !doc.paragraph.is_empty()) {
        // A comparison that decides nothing stands behind the figures of the run.
        Some(doc) if decides_nothing(doc) => (plain_lead(input, run), doc.paragraph.to_string()),
        Some(doc) => (doc.paragraph.lead.clone(), doc.paragraph.rest.clone()),
        None => (plain_lead(input, run), String::new()),
    };
    let lines = || rest.lines().map(str::trim).filter(|line| !line.is_empty());
    let left = html! { @for line in lines() { p { (page::prose(line)) } } (left) };
    Some(page::first_screen(&title, &tally, &left, &right(input)))
}

fn decides_nothing(doc: &CompareDoc) -> bool {
    doc.rows.iter().all(|row| matches!(row.verdict, VerdictWord::CannotTell | VerdictWord::Invalid))
}

/// The lead of one run without a reference: the figures that stand out, else its first ones.
fn plain_lead(input: &ReportInput, run: &RunDoc) -> String {
    let rows = rows(run, None);
    let of =
        |state: Validity| rows.iter().filter(|row| row.main().is_some_and(|s| s.validity == state)).count();
    let (doubtful, refused) = (of(Validity::Doubtful), of(Validity::Invalid));
    let name = input.name(0);
    let loaded: Vec<String> =
        web_by_connections::lead(input).into_iter().chain(web_bottleneck::lead(run)).collect();
    if has_sweeps(run) && !loaded.is_empty() {
        return format!("{name}: {}", loaded.join("; "));
    }
    if let Some(said) = web_bottleneck::one_load(run) {
        return format!("{name}: {said}");
    }
    if rows.is_empty() || refused == rows.len() {
        return format!("{name}: {}no figure holds", own_command(run));
    }
    // A doubtful figure is no fact to lead with.
    let holds = |row: &&ScoreRow<'_>| {
        row.main().is_some_and(|s| !matches!(s.validity, Validity::Invalid | Validity::Doubtful))
    };
    let sound = rows.iter().filter(holds);
    // One figure of each kind of work tells more than four of one kind.
    let mut seen: Vec<&str> = Vec::new();
    let telling = sound.filter(|row| {
        let instrument = row.main().map_or("", |series| series.instrument.as_str());
        let new = !seen.contains(&instrument);
        seen.push(instrument);
        new && LEADING.contains(&instrument)
    });
    let mut said: Vec<String> = telling.filter_map(|row| said_row(row)).collect();
    if said.is_empty() {
        said = rows.iter().filter(holds).take(4).filter_map(|row| said_row(row)).collect();
    }
    let figures = said.join(", ");
    let all = rows.len();
    if doubtful * 2 > all {
        let which = match (doubtful == all, all) {
            (true, 1) => "its only figure is".to_owned(),
            (true, _) => format!("all {all} figures are"),
            (false, _) => format!("{doubtful} of {all} figures are"),
        };
        let rest = if figures.is_empty() { figures } else { format!("; {figures}") };
        return format!("{name}: {}{which} doubtful{}{rest}", own_command(run), reasons(run));
    }
    if figures.is_empty() {
        return format!(
            "{name}: {}{} of {} hold",
            own_command(run),
            all - doubtful - refused,
            count(all, "figure")
        );
    }
    format!("{name}: {figures}")
}

/// The user's own command, before words that name no figure of it.
fn own_command(run: &RunDoc) -> String {
    run.cmd.as_ref().map_or_else(String::new, |cmd| format!("{} ", Label::Quoted.show("", cmd.trim())))
}

/// `, since other processes were busy and the clock moved`: the rules that doubt most figures.
fn reasons(run: &RunDoc) -> String {
    let mut kinds: Vec<(usize, &Rule)> = Vec::new();
    for finding in run.findings.iter().filter(|finding| finding.state == Validity::Doubtful) {
        match kinds.iter_mut().find(|(_, rule)| rule.kind() == finding.kind()) {
            Some((times, _)) => *times += 1,
            None => kinds.push((1, &finding.rule)),
        }
    }
    kinds.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    let word = |rule: &Rule| {
        Some(match rule {
            Rule::Background(_) => "other processes used CPUs",
            Rule::Clock(_) => "the clock moved",
            Rule::Cut(_) => "the user ended it early",
            Rule::Steal(_) => "the hypervisor withheld CPU time",
            Rule::Drift(_) => "figures drifted",
            Rule::Samples(_) => "there are too few takes",
            Rule::Autocorrelation(_) => "takes resemble each other",
            Rule::NoisyNeighbour(_) => "runs of this machine differ",
            Rule::Counted(Counted::Rose { counter: Counter::Swap | Counter::MajorFaults, .. }) => {
                "pages came from disk"
            }
            _ => return None,
        })
    };
    let words: Vec<&str> = kinds.iter().filter_map(|(_, rule)| word(rule)).take(2).collect();
    if words.is_empty() { String::new() } else { format!(", since {}", words.join(" and ")) }
}

/// `integer 1.91 Gop/s`
fn said_row(row: &ScoreRow<'_>) -> Option<String> {
    let series = row.main()?;
    let kind = Kind::shown(series.card, &series.metric, series.unit);
    // The unit stays with its number.
    Some(format!("{} {}", row.label, format::quantity(series.median?, kind).replace(' ', "\u{a0}")))
}

fn counts(run: &RunDoc) -> Markup {
    let rows = rows(run, None);
    let of =
        |state: Validity| rows.iter().filter(|row| row.main().is_some_and(|s| s.validity == state)).count();
    let (doubtful, refused) = (of(Validity::Doubtful), of(Validity::Invalid));
    html! {
        span {
            (count(rows.len() - doubtful - refused, "figure")) @if rows.len() - doubtful - refused == 1 { " holds" } @else { " hold" }
            @if doubtful > 0 { " · " (doubtful) " doubtful" }
            @if refused > 0 { " · " (refused) " refused" }
        }
        span class="mut" { "no reference to compare with" }
    }
}

fn tally_of(doc: &CompareDoc) -> Markup {
    let shown = figures(doc, false);
    let rows: Vec<&RowDoc> = shown.iter().flat_map(|figure| figure.rows.iter().flatten().copied()).collect();
    let verdicts: Vec<Verdict> = rows.iter().map(|row| verdict(row)).collect();
    let refused: Vec<&str> = shown
        .iter()
        .filter(|figure| figure.rows.iter().flatten().any(|row| row.verdict == VerdictWord::Invalid))
        .map(|figure| figure.label.as_str())
        .collect();
    let floors: Vec<f64> = rows.iter().filter_map(|row| row.floor).collect();
    let noise = rows.iter().find_map(|row| row.noise).map_or("", |noise| noise.word());
    html! {
        span { (tally(&verdicts)) @if !refused.is_empty() { " (" (refused.join(", ")) ")" } }
        @if let Some(range) = format::percent_range(&floors) { span class="mut" { "A/A: " (crate::plot::tied(&range)) " " (noise) } }
    }
}

fn verdict(row: &RowDoc) -> Verdict {
    if row.point && row.verdict != VerdictWord::Invalid { Verdict::Point } else { Verdict::from(row.verdict) }
}

/// Every shown row, best first, by arm where there are several.
pub fn forest(doc: &CompareDoc) -> RatioPlot {
    let shown = figures(doc, false);
    let several = arms(doc).len() > 1;
    let mut rows = Vec::new();
    for (place, arm) in arms(doc).iter().enumerate() {
        let group = if several { arm.name.clone() } else { String::new() };
        let mut of_arm: Vec<RatioRow> =
            shown.iter().filter_map(|figure| ratio_row(figure, place, &group)).collect();
        let order =
            |row: &RatioRow| if row.ratio.value.is_finite() { row.ratio.value } else { f64::NEG_INFINITY };
        of_arm.sort_by(|a, b| order(b).total_cmp(&order(a)));
        rows.extend(of_arm);
    }
    let margin = doc.rows.first().map_or(0.05, |row| row.margin);
    let base = doc.arms.first().map_or("the base", |arm| arm.name.as_str());
    let axis = format!("ratio to {base}");
    RatioPlot { caption: Caption::default(), rows, margin, axis, sides: Sides::default() }
}

fn ratio_row(figure: &ComparedFigure<'_>, place: usize, group: &str) -> Option<RatioRow> {
    let row = figure.rows.get(place).copied().flatten()?;
    let refused = row.verdict == VerdictWord::Invalid;
    let ratio = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0 && !refused);
    let interval = row.low.zip(row.high).filter(|(low, _)| *low > 0.0 && !refused);
    let turn = |value: f64| if row.better == Better::Lower { 1.0 / value } else { value };
    let turned = interval
        .map(|(low, high)| if row.better == Better::Lower { (turn(high), turn(low)) } else { (low, high) });
    Some(RatioRow {
        group: group.to_owned(),
        label: figure.label.clone(),
        hint: row.why.to_string(),
        ratio: Estimate { value: ratio.map_or(f64::NAN, turn), interval: turned },
        shown: ratio.map_or("-".to_owned(), format::ratio),
        shown_interval: interval
            .map(|(low, high)| format!("{} to {}", format::ratio(low), format::ratio(high)))
            .unwrap_or_default(),
        verdict: verdict(row),
        doubtful: doubtful(row),
        sampled: !row.point,
    })
}

fn right(input: &ReportInput) -> Markup {
    let several = input.runs.len() > 1;
    let runs = || input.runs.iter().take(MOST).enumerate();
    html! {
        @for (run, (doc, data)) in runs() {
            @let name = if several { format!("Trust · {}", input.name(run)) } else { "Trust".to_owned() };
            // Of a run that no rule looks at there is nothing to say.
            @if !doc.findings.is_empty() || !doc.errors.is_empty() { (page::card(&name, &trust(doc, data))) }
        }
        @for (names, lines) in sheets(input) {
            @let name = if several { names.join(", ") } else { "This machine".to_owned() };
            (page::card(&name, &html! { p { @for line in &lines { (line) br; } a href="#machines" { "full spec sheet" } } }))
        }
    }
}

/// The short sheets of the machines with the runs of each: the runs of one that did not change share a sheet.
fn sheets(input: &ReportInput) -> Vec<(Vec<String>, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    for (run, (doc, _)) in input.runs.iter().enumerate() {
        let (id, lines) = (doc.machine.id.as_str(), Spec(&input.facts(run)).summary());
        match all.iter_mut().find(|(same, _, sheet)| *same == id && *sheet == lines) {
            Some((_, names, _)) => names.push(input.name(run)),
            None if lines.is_empty() => {}
            None => all.push((id, vec![input.name(run)], lines)),
        }
    }
    all.into_iter().take(MOST).map(|(_, names, lines)| (names, lines)).collect()
}

/// Doubts first, then what was checked and found nothing.
fn trust(run: &RunDoc, data: &RunData) -> Markup {
    let doubts = notes::doubts(&run.findings, &notes::headlines(run));
    let ok = notes::quiet(&run.findings, Validity::Ok);
    let unknown = notes::quiet(&run.findings, Validity::Unknown);
    let clock = clock_line(data);
    let about_clock =
        doubts.iter().position(|note| note.state == Validity::Doubtful && note.rule.is_of_clock());
    let other = match (doubts.is_empty(), ok.len()) {
        (true, 1) => "check",
        (true, _) => "checks",
        (false, 1) => "other check",
        (false, _) => "other checks",
    };
    let lacking =
        if unknown.len() == 1 { "check lacks its inputs here" } else { "checks lack their inputs here" };
    html! { ul class="trust" {
        @for (at, note) in doubts.iter().enumerate().take(7) {
            (Trust::from(note.state).line(&html! {
                (page::prose(&note.text))
                @if Some(at) == about_clock { @if let Some(line) = &clock { " " (line) } }
            }))
        }
        @if doubts.len() > 7 { (Trust::Info.line(&html! { a href="#validity" { (doubts.len() - 7) " more notes" } })) }
        @if !run.errors.is_empty() {
            (Trust::Refused.line(&html! { a href="#faults" { (run.errors.values().sum::<u64>()) " takes faulted" } }))
        }
        @if !ok.is_empty() { (Trust::Ok.line(&folded(ok.len(), other, &ok)) ) }
        @if !unknown.is_empty() { (Trust::Info.line(&folded(unknown.len(), lacking, &unknown))) }
    } }
}

/// A count that opens to its words.
fn folded(count: usize, what: &str, words: &[String]) -> Markup {
    html! { details { summary { (count) " " (what) } (crate::plot::tied(&words.join(", "))) } }
}

/// The true clock around each take, as a line the size of a word.
fn clock_line(data: &RunData) -> Option<Markup> {
    let values: Vec<f64> = super::clock::course(data).into_iter().map(|(_, hertz)| hertz).collect();
    (values.len() > 2)
        .then(|| Sparkline { name: "clock".to_owned(), kind: Kind::for_unit(Unit::Hertz), values }.render())
}
