//! Files and streams into aggregates: plain, gzip and zstd, told by their first bytes; over as many threads as are
//! given.
//!
//! A plain file is read with pread in pieces that end at line breaks, a compressed one by one thread. What cannot be
//! read is a fault that names the file; the others are read all the same.

pub mod follow;
mod input;
mod keyed;
mod pieces;
mod records;
pub mod rotate;
mod source;
pub mod tally;
mod watch;
mod worker;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

pub use input::{Fault, Input, Options};
pub use records::records;
pub(crate) use source::unpacked;
pub use source::{COUNTED, Head, Source, head, is_packed, whole_lines, why};
pub use watch::Watch;

use tally::{Side, Tally};

use crate::aggregate::file::Labels;
use crate::aggregate::skips::{Sample, Skips};
use crate::aggregate::timeline::Timeline;
use crate::aggregate::{Settings, bounded::Merge};
use crate::scan::Skip;

/// One input's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub label: String,
    pub name: String,
    pub lines: u64,
    pub parsed: u64,
    pub skipped: u64,
    /// Where what was read of it begins and ends, unpacked; 0 where nothing was.
    pub start: u64,
    pub end: u64,
}

/// The optional results of a label.
#[derive(Clone, Debug, Default)]
pub struct Besides {
    /// Requests over time, those of no side where there are sides.
    pub timeline: Option<Timeline>,
    /// Before the moment, and from it on.
    pub sides: Option<Box<[Side; 2]>>,
}

/// The results of reading.
#[derive(Debug)]
pub struct Outcome {
    pub labels: Labels,
    /// The optional results, by label.
    pub besides: BTreeMap<String, Besides>,
    /// In the order of the inputs.
    pub files: Vec<File>,
    pub faults: Vec<Fault>,
    /// The first line that could not be read, in the order of the inputs; where reading is strict it ended there.
    pub first_skipped: Option<(Skip, Sample)>,
    /// True if reading was stopped before its end.
    pub stopped: bool,
}

/// Reads all inputs.
pub fn read(inputs: Vec<Input>, options: &Options, watch: &Watch) -> Outcome {
    let mut faults = Vec::new();
    let tasks = pieces::plan(inputs.as_slice(), options.piece, &mut faults);
    let names: Vec<(String, String)> =
        inputs.iter().map(|input| (input.label.clone(), input.name.clone())).collect();
    let shared = worker::Shared::new(inputs, tasks, options, watch);
    let threads = options.threads.clamp(1, 1024);
    let workers = std::thread::scope(|scope| {
        // The last one is this thread.
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| worker::work(&shared))).collect();
        let mut done = vec![worker::work(&shared)];
        for other in others {
            match other.join() {
                Ok(work) => done.push(work),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut pieces = Vec::new();
    for work in workers {
        for (label, tally) in work.tallies {
            match tallies.entry(label) {
                Entry::Vacant(place) => _ = place.insert(tally),
                Entry::Occupied(mut mine) => mine.get_mut().merge(&tally),
            }
        }
        pieces.extend(work.pieces);
        faults.extend(work.faults);
    }
    let (mut labels, besides) = apart(tallies, &options.settings);
    pieces.sort_by_key(|piece: &worker::Piece| piece.task);
    faults.sort_unstable();
    let first_skipped = pieces.iter().find_map(|piece| {
        let before = pieces.iter().filter(|other| other.input == piece.input && other.task < piece.task);
        let skips =
            piece.skips.clone().settle(&names.get(piece.input)?.1, before.map(|piece| piece.lines).sum());
        skips.first()
    });
    let (files, skips) = settle(&names, pieces);
    for (label, skips) in &skips {
        labels.labels.entry(label.clone()).or_default().add_skips(skips);
    }
    Outcome { labels, besides, files, faults, first_skipped, stopped: watch.is_stopped() }
}

/// The aggregates, and what was wanted besides.
pub fn apart(tallies: BTreeMap<String, Tally>, settings: &Settings) -> (Labels, BTreeMap<String, Besides>) {
    let (mut labels, mut besides) = (Labels::new(settings), BTreeMap::new());
    for (label, Tally { whole: Side { aggregate, timeline }, sides }) in tallies {
        labels.labels.insert(label.clone(), aggregate);
        besides.insert(label, Besides { timeline, sides });
    }
    (labels, besides)
}

/// Lines of each input, and what was skipped by label with lines counted from the start of the files.
fn settle(names: &[(String, String)], pieces: Vec<worker::Piece>) -> (Vec<File>, BTreeMap<String, Skips>) {
    let mut files: Vec<File> = names
        .iter()
        .map(|(label, name)| File {
            label: label.clone(),
            name: name.clone(),
            lines: 0,
            parsed: 0,
            skipped: 0,
            start: u64::MAX,
            end: 0,
        })
        .collect();
    let mut skips: BTreeMap<String, Skips> = BTreeMap::new();
    for piece in pieces {
        let Some(file) = files.get_mut(piece.input) else { continue };
        let settled = piece.skips.settle(&file.name, file.lines);
        file.lines += piece.lines;
        file.skipped += settled.total();
        file.parsed = file.lines - file.skipped;
        file.start = file.start.min(piece.start);
        file.end = file.end.max(piece.end);
        skips.entry(file.label.clone()).or_default().merge(&settled);
    }
    files.iter_mut().filter(|file| file.start == u64::MAX).for_each(|file| file.start = 0);
    (files, skips)
}

#[cfg(test)]
mod follow_tests;
#[cfg(test)]
mod tests;
