//! The steps of a search for the largest load that holds, as a table: what was offered, what came due and was answered,
//! and how often it held. The rate that is said to be kept has a row of its own.

use model::Unit;
use model::doc::{RunDoc, SearchDoc, SearchStepDoc};
use model::format::{Kind, fixed, percent, quantity};
use model::generate::{HELD, WELL};

use super::fit::{Part, Rank};
use super::grid::{Align, Cell, Grid};
use super::{Look, Tone, notes};

/// The tables of all searches of a run, each with a heading; with less room the steps nearest to what was found.
pub fn part(run: &RunDoc, look: Look) -> Part {
    let tables = |most: usize| -> String {
        let several = run.searches.len() > 1;
        let one = |search: &SearchDoc| format!("\n{}", table(&nearest(search, most), several, look));
        run.searches.iter().map(one).collect()
    };
    let longest = run.searches.iter().map(|search| search.steps.len()).max().unwrap_or(0);
    let shorter = (LEAST_STEPS..longest).rev();
    shorter.fold(Part::new(tables(longest)), |part, most| {
        part.or(Rank::Shape, "steps of the search", tables(most))
    })
}

/// Steps that stay however long the screen is.
const LEAST_STEPS: usize = 3;

/// With so many steps, those nearest to the rate that was found.
fn nearest(search: &SearchDoc, most: usize) -> SearchDoc {
    let mut steps = search.steps.clone();
    while steps.len() > most {
        let distance = |step: Option<&SearchStepDoc>| {
            let told = search.kept.map(|kept| kept.rate).or(search.found).unwrap_or(0.0);
            step.map_or(0.0, |step| (step.offered - told).abs())
        };
        let is_first = distance(steps.first()) > distance(steps.last());
        steps.remove(if is_first { 0 } else { steps.len() - 1 });
    }
    SearchDoc { steps, ..search.clone() }
}

fn table(search: &SearchDoc, is_named: bool, look: Look) -> String {
    let of = if is_named && !search.arm.is_empty() { format!(" of {}", search.arm) } else { String::new() };
    let head = format!("steps{of}: offered");
    let heads: Vec<(&str, Align)> =
        [head.as_str(), "requests", "answered", &search.percentile, "held", "broke"]
            .into_iter()
            .map(|head| (head, Align::Right))
            .chain([("", Align::Left)])
            .collect();
    let mut grid = Grid::new(&heads);
    for step in &search.steps {
        grid.row(cells(step).into_iter().map(Cell::from).collect());
    }
    let arrivals = format!("each step sends its requests {}{}", search.arrivals(), lasted(search));
    let said = std::iter::once(arrivals).chain(late(search));
    let said: String = said.map(|text| notes::marked("-", Tone::Dim, &text, look)).collect();
    format!("{}{said}", grid.render(look.columns, look.paint))
}

/// How long the steps at the rate that was kept lasted: a longer load meets what is rarer.
fn lasted(search: &SearchDoc) -> String {
    let kept = search.steps.iter().find(|step| step.kept && step.offered > 0.0 && step.requests > 0.0);
    kept.map_or_else(String::new, |step| {
        let seconds = quantity(step.requests / step.offered, Kind::for_unit(Unit::Second));
        format!("; those that kept it lasted {seconds}: a longer load meets rarer pauses, and may break")
    })
}

/// Says when a step holds, where the figures of one do not show it: less than nearly all of one that held was answered
/// in time, or one broke whose percentile was within the limit.
pub fn late(search: &SearchDoc) -> Option<String> {
    let is_late = |step: &SearchStepDoc| step.held > 0 && step.answered.is_some_and(|share| share < WELL);
    let is_within =
        |step: &SearchStepDoc| step.time.zip(search.limit).is_some_and(|(time, limit)| time <= limit);
    let is_odd = |step: &SearchStepDoc| is_late(step) || step.broken > 0 && is_within(step);
    search.steps.iter().any(is_odd).then(|| {
        format!(
            "answered: while the step lasted; later answers are in {} all the same; a step holds with {} answered in \
             time, {} in the end, and no queue that grew; times are medians of its loads",
            search.percentile,
            percent(HELD),
            format_args!("{} %", fixed(100.0 * WELL, 1))
        )
    })
}

/// The figures of a step; the first is what was offered.
pub fn cells(step: &SearchStepDoc) -> Vec<String> {
    let second = Kind::for_unit(Unit::Second);
    vec![
        quantity(step.offered, Kind::for_unit(Unit::PerSec)),
        fixed(step.requests, 0),
        step.answered.map_or_else(|| "-".to_owned(), |share| format!("{} %", fixed(100.0 * share, 2))),
        step.time.map_or_else(|| "-".to_owned(), |time| quantity(time, second)),
        step.held.to_string(),
        step.broken.to_string(),
        if step.kept { "kept".to_owned() } else { String::new() },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_steps_that_kept_a_rate_is_told() {
        let step =
            SearchStepDoc { offered: 1000.0, requests: 1500.0, kept: true, ..SearchStepDoc::default() };
        let mut search = SearchDoc { steps: vec![step], ..SearchDoc::default() };
        assert!(lasted(&search).starts_with("; those that kept it lasted 1.50 s: "), "{}", lasted(&search));
        search.steps[0].kept = false;
        assert_eq!(lasted(&search), "");
    }

    #[test]
    fn with_less_room_the_steps_nearest_to_the_result_stay() {
        let step = |offered: f64| SearchStepDoc { offered, ..SearchStepDoc::default() };
        let search = SearchDoc {
            found: Some(4.2),
            steps: [1.0, 2.0, 4.0, 5.0, 9.0].map(step).to_vec(),
            ..SearchDoc::default()
        };
        let offered = |most| nearest(&search, most).steps.iter().map(|step| step.offered).collect::<Vec<_>>();
        assert_eq!(offered(5), [1.0, 2.0, 4.0, 5.0, 9.0]);
        assert_eq!(offered(3), [2.0, 4.0, 5.0]);
    }

    #[test]
    fn a_step_is_a_line() {
        let step = |offered: f64, time: Option<f64>, held: u64, broken: u64| SearchStepDoc {
            offered,
            requests: 1_200.0,
            answered: time.map(|_| 0.9995),
            time,
            held,
            broken,
            kept: broken == 0,
        };
        let search = SearchDoc {
            arm: "mpm=event".into(),
            percentile: "p99".into(),
            limit: Some(0.01),
            found: Some(9e3),
            steps: vec![step(3_000.0, Some(2e-3), 10, 0), step(9_100.0, None, 4, 31)],
            ..SearchDoc::default()
        };
        let text = table(&search, true, Look::wide(80));
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "steps of mpm=event: offered  requests  answered      p99  held  broke",
                "3.00 k/s     1,200   99.95 %  2.00 ms    10      0  kept",
                "9.10 k/s     1,200         -        -     4     31",
                "- each step sends its requests at random times (arrivals=poisson); those that",
                "kept it lasted 400 ms: a longer load meets rarer pauses, and may break",
            ]
        );
        assert!(table(&search, false, Look::wide(80)).starts_with("steps: offered"));
        // A step that held with answers behind its end is no broken one.
        assert_eq!(late(&search), None);
        let few = SearchStepDoc { answered: Some(0.9854), ..step(9_000.0, Some(2e-3), 2, 0) };
        let said = late(&SearchDoc { steps: vec![few], ..search }).expect("a note");
        let wanted = "answered: while the step lasted; later answers are in p99 all the same; a step holds with 95 % \
                      answered in time, 99.9 % in the end, and no queue that grew; times are medians of its loads";
        assert_eq!(said, wanted);
    }
}
