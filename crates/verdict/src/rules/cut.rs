//! A load that the user ended before its time: its figures are of a shorter take than its parameters say.
//!
//! Seconds and requests, as asked for and as it came. A take that the stop rule or a budget left out is not counted:
//! those that were taken are whole.

use model::data::RunData;
use model::doc::CutDoc;
use model::finding::Cut;
use model::metrics::load;
use model::{Cards, Finding, NoteBody};

use crate::loads::{self, Load};
use crate::ruling::Ruling;
use crate::run_index::RunIndex;
use crate::searches;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let Some(load) = ended_early(index.run, index.context.cards) else { return Vec::new() };
    let replay = load.given("replay").map(str::to_owned);
    let cut = Cut { short: how_short(&load), replay };
    let of_load = |row: &crate::run_index::FigureRow<'_>| row.series.key.instrument == load.instrument;
    vec![Ruling {
        finding: Finding::new(cut),
        reach: index.rows().filter(of_load).map(|row| row.index).collect(),
    }]
}

/// How short a load came, where the user ended it.
pub fn of_run(run: &RunData, cards: Cards) -> Option<CutDoc> {
    ended_early(run, cards).map(|load| how_short(&load))
}

/// Only a run of one load can be ended so.
fn ended_early(run: &RunData, cards: Cards) -> Option<Load<'_>> {
    let noted = run.notes.iter().any(|note| matches!(note.body, NoteBody::Cut(_)));
    noted.then(|| loads::of_run(run, cards).into_iter().next()).flatten()
}

fn how_short(load: &Load<'_>) -> CutDoc {
    let sent = load.histograms(&load::RESPONSES).iter().map(|times| times.count()).sum();
    let requests_asked = load.given("requests").and_then(|text| text.parse().ok());
    // The number of requests ends it, or the last line of the file.
    let by_itself = requests_asked.is_some() || load.given("replay").is_some_and(|file| file != "none");
    let search = (!load.is_plain()).then(|| searches::search(load));
    let rates = |is_so: fn(&model::doc::SearchStepDoc) -> bool| -> Vec<f64> {
        search.iter().flat_map(|one| &one.steps).filter(|step| is_so(step)).map(|step| step.offered).collect()
    };
    CutDoc {
        lasted: load.median(&load::ANSWERING),
        asked: load.number("duration").filter(|_| !by_itself && load.is_plain()),
        requests: requests_asked.map(|_| sent),
        requests_asked,
        // The one that was cut has fewer than the others.
        steps: (!load.is_plain())
            .then(|| load.by_take(&load::STEPS).into_values().min_by(f64::total_cmp))
            .flatten()
            .map(crate::load_doc::whole),
        steps_asked: search.is_some().then_some(u64::from(load::SEARCH_STEPS)),
        held: rates(|step| step.held > 0).into_iter().max_by(f64::total_cmp),
        broke: rates(|step| step.broken > 0).into_iter().min_by(f64::total_cmp),
    }
}

#[cfg(test)]
mod tests {
    use model::note::CutAt;
    use model::{Note, Validity};

    use super::*;
    use crate::loads::planted::{one, times};
    use crate::run_index::RunContext;

    fn found(given: &str, is_cut: bool) -> Vec<Ruling> {
        let mut run = one(given, &[("throughput", 100.0), ("answering-time", 3.004)]);
        times(&mut run, &[0], "response-times", given, &[(100, 700)]);
        if is_cut {
            run.notes.push(Note::of_run(NoteBody::Cut(CutAt::Load)));
        }
        rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn how_long_it_lasted_is_said_of_every_figure() {
        let cut = found("duration=5;requests=auto", true);
        assert_eq!(
            cut[0].finding.text(),
            "its figures are of a part of the load: ended by the user after 3.00 s of the 5 s asked for"
        );
        assert_eq!((cut[0].finding.state, cut[0].reach.first()), (Validity::Doubtful, Some(&0)));
        assert!(found("duration=5", false).is_empty());
    }

    #[test]
    fn requests_and_replays_have_no_time_asked_for() {
        let text = |given: &str| found(given, true)[0].finding.text().clone();
        assert!(text("duration=1;requests=1000").contains("with 700 of the 1000 requests"));
        assert!(text("duration=1;requests=auto;replay=/a.txt").contains("before the end of /a.txt"));
    }
}
