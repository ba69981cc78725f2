//! The paths, and the first folders of paths, that weigh most within a label, by bytes and by time.
//!
//! Bytes, seconds. Folders are of requests that tell both a size and a time and that the server did not fail.

use logs::aggregate::Aggregate;
use logs::aggregate::bounded::Merge;
use logs::aggregate::folders;
use logs::aggregate::paths::{By, Top};
use logs::aggregate::sketch::CountMin;
use model::doc::{PathDoc, TopDoc};

use super::known::{NS, bytes, untimed};

/// The lists of a label, so many names each.
pub fn tops(label: &str, one: &Aggregate, most: usize) -> Vec<TopDoc> {
    let totals = one.totals();
    let (timed, sized) = (untimed(&totals).is_none(), bytes(&totals).is_some());
    let path = |top: &Top<'_>| PathDoc {
        path: String::from_utf8_lossy(top.path).into_owned(),
        requests: top.requests as f64,
        bytes: sized.then_some(top.bytes as f64),
        seconds: timed.then_some(top.time_ns as f64 / NS),
    };
    let list = |(by, name): (By, &str)| TopDoc {
        label: label.to_owned(),
        of: "path".to_owned(),
        by: name.to_owned(),
        paths: one.paths.top(by, most).iter().map(path).collect(),
        error: CountMin::ERROR,
    };
    let wanted = [(By::Bytes, "bytes", sized), (By::Time, "time", timed)];
    wanted
        .into_iter()
        .filter(|(_, _, told)| *told)
        .map(|(by, name, _)| (by, name))
        .map(list)
        .filter(|top| !top.paths.is_empty())
        .collect()
}

/// The first folders with the most time; `None` where there is one alone, or they were not kept apart. Of a label that
/// is read alone they are not.
pub fn folders_of(label: &str, one: &Aggregate, most: usize) -> Option<TopDoc> {
    let sum = |(name, cells): (&[u8], folders::Cells)| {
        let mut all = folders::Work::default();
        cells.values().for_each(|work| all.merge(work));
        PathDoc {
            path: String::from_utf8_lossy(name).into_owned(),
            requests: all.requests as f64,
            bytes: Some(all.bytes as f64),
            seconds: Some(all.time_ns as f64 / NS),
        }
    };
    let mut paths: Vec<PathDoc> = one
        .folders
        .sorted(one.totals().requests)?
        .into_iter()
        .map(sum)
        .filter(|one| one.requests > 0.0)
        .collect();
    paths.sort_by(|a, b| b.seconds.unwrap_or(0.0).total_cmp(&a.seconds.unwrap_or(0.0)));
    let is_told = paths.len() > 1;
    paths.truncate(most);
    let (label, of, by) = (label.to_owned(), "folder".to_owned(), "time".to_owned());
    is_told.then_some(TopDoc { label, of, by, paths, error: 0.0 })
}
