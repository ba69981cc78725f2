//! Requests of a path, or in a folder, while the server failed it: how many there were, and how many the other
//! labels served then.
//!
//! Only after all lines were read it is known which path and which time that is, so that the logs are read a second
//! time for these requests alone. The first reading cannot keep them: any path of any label may be the one that fails
//! in the end, so that it would have to hold all of them by the minute.

use logs::aggregate::Settings;
use logs::aggregate::filter::Filter;
use logs::read::{Input, Options, Watch};
use model::doc::{AnswersDoc, MostlyOf, OutageDoc, ServedDoc};
use model::traffic::StatusClass;
use verdict::traffic::answers::of_label;

use super::Named;
use super::answers::{Outages, answers};
use super::cut::Parted;
use super::figures::whole;
use super::known::untimed;

/// A path or folder that failed under a label, and when.
struct Failing<'a> {
    label: &'a str,
    /// The label in the arguments, of which it may be a side.
    read_as: &'a str,
    path: String,
    is_folder: bool,
    span: (f64, f64),
    /// Failures of the path or folder, and by how many of these a sketch may have counted too much.
    failed: (u64, f64),
}

/// Reads what `inputs` gives for each label that has an outage. A path that is not found again is left out.
pub fn find<E>(
    named: &[Named<'_>],
    parted: Option<&Parted>,
    options: &Options,
    inputs: impl Fn() -> Result<Vec<Input>, E>,
) -> Result<Outages, E> {
    let mut all = Outages::new();
    for one in named.iter().filter_map(|(label, one)| failing(label, &answers_of(label, one), parted)) {
        let Some(filters) = one.filters(&options.settings.filters) else { continue };
        let settings = Settings { filters, ..Settings::default() };
        let options = Options {
            settings,
            strict: false,
            wants: logs::read::tally::Wants::default(),
            ..options.clone()
        };
        let read = logs::read::read(inputs()?, &options, &Watch::default());
        let mut doc = OutageDoc { path: one.path.clone(), ..OutageDoc::default() };
        for (label, found) in &read.labels.labels {
            let (failed, requests) = (found.statuses.between(500, u16::MAX), found.totals().requests);
            if label == one.read_as {
                let ns = found.failed.total(StatusClass::Server).time_ns;
                let seconds = untimed(&found.totals()).is_none().then_some(ns as f64 / 1e9);
                doc = OutageDoc { failed, requests, seconds, ..doc };
            } else if parted.is_none() && requests > 0 {
                doc.others.push(ServedDoc { label: label.clone(), failed, requests });
            }
        }
        if one.is_found(doc.failed) {
            all.insert(one.label.to_owned(), doc);
        }
    }
    Ok(all)
}

/// The paths and folders that would be looked for in a second reading.
pub fn paths(named: &[Named<'_>], parted: Option<&Parted>) -> Vec<String> {
    let all =
        named.iter().filter_map(|(label, one)| Some(failing(label, &answers_of(label, one), parted)?.path));
    let mut all: Vec<String> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn answers_of(label: &str, one: &logs::aggregate::Aggregate) -> AnswersDoc {
    of_label(&whole(label, one), &answers(one, 1), &[])
}

/// The path or folder of most failures of a label, and the episode that all of them are in.
fn failing<'a>(label: &'a str, answers: &AnswersDoc, parted: Option<&'a Parted>) -> Option<Failing<'a>> {
    let failed = answers.server_errors.as_ref()?;
    let episode = failed.episode.filter(|episode| episode.failures >= failed.requests)?;
    let path = failed.mostly.iter().find(|one| [MostlyOf::Path, MostlyOf::Folder].contains(&one.what))?;
    let error = answers.error * failed.requests as f64;
    let read_as = parted.and_then(|parted| parted.side(label)).map_or(label, |side| &side.of);
    // Whole minutes, as they are told.
    let span = ((episode.from / 60.0).floor() * 60.0, (episode.to / 60.0).floor() * 60.0 + 59.0);
    let (name, is_folder) = (path.name.clone(), path.what == MostlyOf::Folder);
    Some(Failing { label, read_as, path: name, is_folder, span, failed: (path.requests, error) })
}

impl Failing<'_> {
    /// True if so many failures are those of the first reading. Of an outage that began before a cut or a condition
    /// there are more, of a file that was replaced fewer.
    fn is_found(&self, failed: u64) -> bool {
        let (known, error) = self.failed;
        failed > 0 && failed <= known && (known - failed) as f64 <= error
    }

    /// The conditions of the user that are not on status or time, this path and this time; none where a path is no
    /// condition.
    fn filters(&self, given: &[Filter]) -> Option<Vec<Filter>> {
        let own = [
            format!("{}={}", if self.is_folder { "prefix" } else { "path" }, self.path),
            format!("at>={}", self.span.0 as i64),
            format!("at<={}", self.span.1 as i64),
        ];
        let own: Result<Vec<Filter>, String> = own.iter().map(|text| Filter::parse(text)).collect();
        let given = given.iter().filter(|filter| !filter.is_on_status_or_time()).cloned();
        Some(given.chain(own.ok()?).collect())
    }
}
