//! The report: one self-contained HTML file, readable without script or network.
//!
//! Every section that has data is drawn, in the order of their ranks. Nothing is computed here.

use maud::html;
use model::Samples;
use model::data::Status;
use model::doc::{Noise, SeriesDoc};
use model::fake::PLANTED;
use model::format::count;
use model::ranges::fold;

use crate::page::{self, Head};
use crate::section::Section;
pub use crate::section::{Cover, ReportInput};
use crate::sections;
use crate::text::date;

/// The whole report.
pub fn report(input: &ReportInput) -> String {
    let mut parts: Vec<&Section> = sections::ALL.to_vec();
    parts.sort_by_key(|part| part.rank());
    // The first screen is the section of rank 0.
    parts.retain(|part| !input.cover.summary || part.rank() == 0);
    let drawn: Vec<_> = parts.iter().filter_map(|part| part.draw(input)).collect();
    let cover = &input.cover;
    let body = html! {
        @if let Some(title) = &cover.title { p class="cover" { strong { (title) } } }
        @if let Some(note) = &cover.note { p class="cover" { (note) } }
        @if drawn.is_empty() { p class="nothing" { "No run to report" } }
        @if cover.summary { div class="alone" { @for part in &drawn { (part) } } }
        @else { @for part in &drawn { (part) } }
        footer {
            "boxscore " (input.version)
            @if !input.generated.is_empty() { " · newest run began " (input.generated) }
            @if input.is_of_periods() { " · figures are over all requests of a log; of several logs put together, percentiles are medians over their hours" }
            @else { " · figures are medians with 95 % intervals; every take is in the store" }
        }
    };
    let names = input.subjects();
    let title = match &cover.title {
        Some(title) => title.clone(),
        None if names.is_empty() => "boxscore".to_owned(),
        None => format!("{} · boxscore", in_short(&names)),
    };
    page::page(&title, &head(input, &names), &body)
}

/// Characters of folded names in the bar.
const MOST_FOLDED: usize = 40;

fn head(input: &ReportInput, names: &[String]) -> Head {
    let mut facts = Vec::new();
    if let Some((run, _)) = input.runs.first() {
        facts.push(run.level.clone());
        facts.push(date(run.started));
        if run.status != Status::Complete {
            facts.push(run.status.word().to_owned());
        }
        facts.push(count(input.runs.len(), "run"));
        facts.extend(input.runs.iter().any(|(run, _)| run.planted).then(|| PLANTED.to_owned()));
        facts.extend(noise(input).map(|noise| format!("noise {}", noise.how())));
    }
    Head { machine: in_short(names), facts, command: input.command.clone() }
}

/// The names of the machines in the width of a bar: of many, as a range where that is short, else the first.
fn in_short(names: &[String]) -> String {
    match names {
        [first, _, _, _, ..] => Some(fold(names.iter().map(String::as_str), |_| true))
            .filter(|folded| folded.contains('[') && folded.chars().count() <= MOST_FOLDED)
            .unwrap_or_else(|| format!("{first} and {} more", names.len() - 1)),
        few => few.join(", "),
    }
}

/// Where the headline figures' noise between runs comes from: the least known of them.
fn noise(input: &ReportInput) -> Option<Noise> {
    let of_takes = |series: &&SeriesDoc| series.headline && series.samples == Samples::Takes;
    let kinds = input.runs.iter().flat_map(|(run, _)| &run.series).filter(of_takes).map(|s| s.noise);
    Noise::of_all(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_machines_are_few_words() {
        let all = |names: std::ops::Range<u32>| names.map(|at| format!("atom{at:03}")).collect::<Vec<_>>();
        assert_eq!(in_short(&all(1..3)), "atom001, atom002");
        assert_eq!(in_short(&all(1..133)), "atom[001-132]");
        let mixed: Vec<String> =
            (0..40).map(|at| format!("{}box{at}", "abcdefg".repeat(at % 5 + 1))).collect();
        assert_eq!(in_short(&mixed), "abcdefgbox0 and 39 more");
    }
}
