//! The first screen: what was found, how sure that is, and on what machine.
//!
//! Beside a reference: ratios on one axis, better to the right. Without one: the headline figures.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::data::RunData;
use model::doc::{ArmDoc, CompareDoc, Cost, Noise, RowDoc, RunDoc, VerdictWord};
use model::format::{self, Kind, count};
use model::metric::{Better, Prefix};
use model::unit::Unit;
use model::{Finding, Validity};

use crate::page;
use crate::plot::ratio::{RatioRow, Sides, tally};
use crate::plot::{Caption, Estimate, RatioPlot, Sparkline};
use crate::section::{ReportInput, Section};
use crate::sections::{score, takes, web_by_connections, web_by_rate};
use crate::text::compare::{ComparedFigure, arms, doubtful, figures};
use crate::text::fold::names_of;
use crate::text::notes;
use crate::text::score::reference_note;
use crate::text::spec::Spec;
use crate::text::telling;
use crate::theme::{Trust, Verdict};
use crate::web_loads::has_sweeps;

/// Of more runs than these the page has their own sections alone.
const MOST: usize = 4;

pub static SECTION: Section = Section::new(0, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let (run, _) = input.runs.first()?;
    let compare = input.compare.as_deref().filter(|doc| !doc.rows.is_empty());
    let left = match compare {
        Some(doc) => {
            let (plot, rest) = forest(doc);
            let kinds = tally(&rest.rows.iter().map(|row| row.verdict).collect::<Vec<_>>());
            let more = format!("{}: {kinds}", count(rest.rows.len(), "more figure"));
            html! {
                (plot.render())
                @if !rest.rows.is_empty() {
                    @if input.cover.summary { p class="note" { "and " (more) } }
                    @else if input.has_many() { p class="note" { "and " (more) "; all medians are in the " a href="#score" { "box score" } } }
                    @else { (page::more(&more, &rest.render())) }
                }
            }
        }
        None => html! {
            @if has_sweeps(run) { (web_by_connections::glance(input)) (web_by_rate::glance(input)) }
            div class="full" { (score::headlines(run, &input.facts(0))) }
            @if let Some(plot) = takes::overview(input) { (plot) }
        },
    };
    let tally = compare.map_or_else(|| counts(run), tally_of);
    let (title, rest) = lead(input, run, compare);
    let reference = compare.filter(|_| is_alone(input)).and_then(|doc| doc.arms.first());
    let lines = || rest.lines().map(str::trim).filter(|line| !line.is_empty());
    let left = html! {
        @if let Some(base) = reference { p class="mut" { (page::prose(&reference_note(base))) } }
        @for line in lines() { p { (page::prose(line)) } }
        (left)
    };
    Some(page::first_screen(&page::prose(&title), &tally, &left, &right(input)))
}

/// Of one run in one arm, its own answer; of several, that of their comparison.
fn lead(input: &ReportInput, run: &RunDoc, compare: Option<&CompareDoc>) -> (String, String) {
    let own = run.answer.as_ref().map(|answer| answer.sentence.clone()).filter(|_| is_alone(input));
    let none = || format!("{}: no figure holds", input.name(0));
    if let Some(together) = &run.together {
        let beside = compare.map(|doc| doc.paragraph.to_string()).unwrap_or_default();
        return (together.sentence.clone(), beside);
    }
    match (own, compare.filter(|doc| !doc.paragraph.is_empty())) {
        (Some(own), Some(doc)) => (own, doc.paragraph.to_string()),
        (Some(own), None) => (own, String::new()),
        (None, Some(doc)) => (doc.paragraph.lead.clone(), doc.paragraph.rest.clone()),
        (None, None) => {
            let named = |sentence: &String| {
                if input.runs.len() > 1 { format!("{}: {sentence}", input.name(0)) } else { sentence.clone() }
            };
            let first = run.answer.as_ref().map(|answer| named(&answer.sentence));
            (first.unwrap_or_else(none), String::new())
        }
    }
}

/// One run in one arm: what it is compared with was not chosen by the user.
fn is_alone(input: &ReportInput) -> bool {
    matches!(input.runs.as_slice(), [(_, data)] if data.plan.arms.len() < 2)
}

fn counts(run: &RunDoc) -> Markup {
    let (doubtful, refused) = (run.counted(Validity::Doubtful), run.counted(Validity::Invalid));
    let hold = run.headlines().len() - doubtful - refused;
    html! {
        span {
            (count(hold, "figure")) @if hold == 1 { " holds" } @else { " hold" }
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
    let noise = Noise::of_all(rows.iter().filter(|row| row.floor.is_some()).filter_map(|row| row.noise));
    html! {
        span { (tally(&verdicts)) @if !refused.is_empty() { " (" (refused.join(", ")) ")" } }
        @if let Some(noise) = noise { span class="mut" { "noise " (crate::plot::tied(&noise.clause("", &floors))) } }
    }
}

fn verdict(row: &RowDoc) -> Verdict {
    if row.point && row.verdict != VerdictWord::Invalid { Verdict::Point } else { Verdict::from(row.verdict) }
}

/// Rows that are seen at once, and that fit on a printed page with what stands around them.
const MOST_ROWS: usize = 20;

/// The rows that decide the answer, and the others; best first, by arm where there are several.
pub fn forest(doc: &CompareDoc) -> (RatioPlot, RatioPlot) {
    let shown = figures(doc, false);
    let several = arms(doc).len() > 1;
    let mut rows: Vec<(&RowDoc, RatioRow)> = Vec::new();
    for (place, arm) in arms(doc).iter().enumerate() {
        let group = if several { arm.name.clone() } else { String::new() };
        let of_figures = shown.iter().filter_map(|figure| {
            let row = figure.rows.get(place).copied().flatten()?;
            Some((row, ratio_row(figure, row, &group)))
        });
        let mut of_arm: Vec<(&RowDoc, RatioRow)> = of_figures.collect();
        let order =
            |row: &RatioRow| if row.ratio.value.is_finite() { row.ratio.value } else { f64::NEG_INFINITY };
        of_arm.sort_by(|(_, a), (_, b)| order(b).total_cmp(&order(a)));
        rows.extend(of_arm);
    }
    let docs: Vec<&RowDoc> = rows.iter().map(|(row, _)| *row).collect();
    let kept: BTreeSet<usize> = telling::most_telling(&docs, MOST_ROWS).into_iter().collect();
    let margin = doc.rows.first().map_or(0.05, |row| row.margin);
    let base = doc.arms.first().map_or("the base", |arm| arm.name.as_str());
    let axis = format!("ratio to {base}");
    let plot = |rows: Vec<RatioRow>| RatioPlot {
        caption: Caption::default(),
        rows,
        margin,
        axis: axis.clone(),
        sides: Sides::default(),
    };
    let (some, rest): (Vec<_>, Vec<_>) = rows.into_iter().enumerate().partition(|(at, _)| kept.contains(at));
    let drawn = |rows: Vec<(usize, (&RowDoc, RatioRow))>| rows.into_iter().map(|(_, (_, row))| row).collect();
    (plot(drawn(some)), plot(drawn(rest)))
}

/// Shares of failures, which have no ratio.
fn shares(row: &RowDoc) -> Option<String> {
    let is_share = row.card.and_then(|card| card.metric(&row.metric))?.prefix == Prefix::Percent;
    let (base, arm) = row.base_value.zip(row.arm_value).filter(|_| is_share && row.ratio.is_none())?;
    Some(format!("{}, not {}", format::percent(arm), format::percent(base)))
}

fn ratio_row(figure: &ComparedFigure<'_>, row: &RowDoc, group: &str) -> RatioRow {
    let refused = row.verdict == VerdictWord::Invalid;
    let ratio = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0 && !refused);
    let interval = row.low.zip(row.high).filter(|(low, _)| *low > 0.0 && !refused);
    let turn = |value: f64| if row.better == Better::Lower { 1.0 / value } else { value };
    let turned = interval
        .map(|(low, high)| if row.better == Better::Lower { (turn(high), turn(low)) } else { (low, high) });
    RatioRow {
        group: group.to_owned(),
        label: figure.label.clone(),
        hint: row.why.to_string(),
        ratio: Estimate { value: ratio.map_or(f64::NAN, turn), interval: turned },
        shown: ratio.map_or_else(|| shares(row).unwrap_or_else(|| "-".to_owned()), format::ratio),
        shown_interval: interval.map(|(low, high)| format::ratio_interval(low, high)).unwrap_or_default(),
        verdict: verdict(row),
        less_is_better: row.better == Better::Lower,
        doubtful: doubtful(row),
        sampled: !row.point,
    }
}

fn right(input: &ReportInput) -> Markup {
    let several = input.runs.len() > 1;
    let pooled = input.pooled();
    // Of sides that pool runs, what is doubtful is told of the side.
    let runs = || input.runs.iter().take(if pooled.is_some() { 0 } else { MOST }).enumerate();
    html! {
        @if let Some(doc) = pooled { @for arm in doc.arms.iter().take(MOST) {
            @if let Some(doubts) = of_side(doc, arm) { (page::card(&format!("Trust · {}", arm.name), &doubts)) }
        } }
        @for (run, (doc, data)) in runs() {
            @let name = if several { format!("Trust · {}", input.name(run)) } else { "Trust".to_owned() };
            // Of a run that no rule looks at there is nothing to say.
            @if !doc.findings.is_empty() || !doc.errors.is_empty() { (page::card(&name, &trust(input, doc, data))) }
        }
        @if pooled.is_none() && input.runs.len() > MOST {
            p class="mut" { (page::prose(&format!(
                "What is doubtful of {}: `boxscore show NAME`", count(input.runs.len() - MOST, "more run")
            ))) }
        }
        @if let Some((name, doubts)) = of_reference(input) { (page::card(&format!("Trust · {name}"), &doubts)) }
        @for (names, lines) in sheets(input) {
            @let name = if several { names_of(&names) } else { "This machine".to_owned() };
            (page::card(&name, &html! { p {
                @for line in &lines { (line) br; }
                @if !input.cover.summary { a href="#machines" { "full spec sheet" } }
            } }))
        }
    }
}

/// The short sheets of the machines with the runs of each: the runs of one that did not change share a sheet, and of
/// many all that have the same. Runs that are pooled have the name of their side.
fn sheets(input: &ReportInput) -> Vec<(Vec<String>, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    let are_many = input.runs.len() > MOST;
    for (run, (doc, _)) in input.runs.iter().enumerate() {
        let id = doc.machine.id.as_str();
        let lines: Vec<String> =
            Spec(&input.facts(run)).summary().into_iter().chain(costs(input, run)).collect();
        match all.iter_mut().find(|(same, _, sheet)| (are_many || *same == id) && *sheet == lines) {
            Some((_, names, _)) => names.push(side_or_run(input, run)),
            None if lines.is_empty() => {}
            None => all.push((id, vec![side_or_run(input, run)], lines)),
        }
    }
    let counted = |names: Vec<String>| -> Vec<String> {
        let mut each: Vec<(String, usize)> = Vec::new();
        for name in names {
            match each.iter_mut().find(|(known, _)| *known == name) {
                Some((_, times)) => *times += 1,
                None => each.push((name, 1)),
            }
        }
        let said = |(name, times): (String, usize)| match times {
            1 => name,
            some => format!("{name} ({})", count(some, "run")),
        };
        each.into_iter().map(said).collect()
    };
    all.into_iter().take(MOST).map(|(_, names, lines)| (counted(names), lines)).collect()
}

/// `0.10 USD/h · 65 W`: what the machine of a run costs. A comparison knows what was noted of it since.
fn costs(input: &ReportInput, run: usize) -> Option<String> {
    let (doc, _) = input.runs.get(run)?;
    let has = |arm: &&ArmDoc| arm.runs.contains(&doc.run);
    let side = input.compare.as_ref().and_then(|doc| doc.arms.iter().find(has));
    let of = |per: Cost| side.and_then(|arm| arm.cost(per)).or_else(|| doc.cost(per));
    let known: Vec<String> = Cost::ALL.iter().filter_map(|per| of(*per)).collect();
    (!known.is_empty()).then(|| known.join(" · "))
}

/// The side of the comparison that pools the run, else the run itself.
fn side_or_run(input: &ReportInput, run: usize) -> String {
    let id = input.runs.get(run).map(|(doc, _)| doc.run.as_str());
    let has = |arm: &&ArmDoc| arm.runs.iter().any(|known| Some(known.as_str()) == id);
    let side = input.pooled().and_then(|doc| doc.arms.iter().find(has));
    side.map_or_else(|| input.name(run), |arm| arm.name.clone())
}

/// Doubts first, then what was checked and found nothing.
fn trust(input: &ReportInput, run: &RunDoc, data: &RunData) -> Markup {
    // A summary has no sections to lead to.
    let alone = input.cover.summary;
    let link = |to: &str, text: String| html! { @if alone { (text) } @else { a href=(to) { (text) } } };
    let doubts = notes::brief_doubts(&run.findings, &notes::headlines(run));
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
        @if doubts.len() > 7 { (Trust::Info.line(&link("#validity", format!("{} more notes", doubts.len() - 7)))) }
        @if !run.errors.is_empty() {
            (Trust::Refused.line(&link("#faults", format!("{} takes faulted", run.errors.values().sum::<u64>()))))
        }
        @if !ok.is_empty() { (Trust::Ok.line(&folded(ok.len(), other, &ok)) ) }
        @if !unknown.is_empty() { (Trust::Info.line(&folded(unknown.len(), lacking, &unknown))) }
    } }
}

/// Doubts about what a run is compared with: its `!` stand beside the ratios too.
fn of_reference(input: &ReportInput) -> Option<(&str, Markup)> {
    let doc = input.compare.as_ref().filter(|_| is_alone(input))?;
    let base = doc.arms.first()?;
    Some((base.name.as_str(), of_side(doc, base)?))
}

/// The doubts about one side of a comparison.
fn of_side(doc: &CompareDoc, arm: &ArmDoc) -> Option<Markup> {
    let of_side: Vec<Finding> = (doc.findings.iter())
        .filter(|finding| finding.subject.side.as_deref() == Some(arm.name.as_str()))
        .cloned()
        .collect();
    let doubts = notes::brief_doubts(&of_side, &notes::headlines_compared(doc));
    let lines = html! { ul class="trust" { @for note in &doubts {
        (Trust::from(note.state).line(&page::prose(&note.text)))
    } } };
    (!doubts.is_empty()).then_some(lines)
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
