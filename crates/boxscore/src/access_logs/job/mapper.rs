//! The work of a mapper: some lines into one part for each label and side of a cut.
//!
//! A file is known by its name and its bytes; a stream by what it is told of these. Nothing is given of an input that
//! could not be read to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use logs::aggregate::{Aggregate, Settings};
use logs::parts::{Files, Key, Made, Of, Part, Parts, Read, take_skips};
use logs::read::tally::{Side, Wants};
use logs::read::{Besides, COUNTED, Input, Options, Outcome, Source, Watch};

use super::blocks::Blocks;
use super::streaming::{Reporter, Split};
use crate::access_logs::UNLABELLED;
use crate::access_logs::inputs::{Formats, Opened, Seen, expanded, labelled};
use crate::error::CliError;

/// The time after which a task says how far it is.
const EVERY: Duration = Duration::from_secs(10);

/// How lines are mapped.
pub struct Mapper {
    pub made: Made,
    pub settings: Settings,
    pub wants: Wants,
    pub formats: Formats,
    /// The label of what is given without one.
    pub label: String,
    /// The place of the labels among others.
    pub place: u32,
    pub threads: usize,
    pub reporter: Reporter,
    pub split: Option<Split>,
}

/// The lines on standard input, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Stdin {
    pub name: Option<String>,
    /// Where they begin in their file, unpacked.
    pub offset: Option<u64>,
    pub form: Form,
}

/// How standard input holds a part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As it lies there.
    #[default]
    Plain,
    /// Each line has its offset and a tab in front of it.
    Keyed,
    /// In blocks, each with its offset (`blocks`).
    Blocks,
}

/// Where an input stands in its file.
enum Place {
    /// Known, from here on.
    From(u64),
    /// Told by the lines.
    Keyed,
    Unknown,
}

/// Parts, and what was counted while they were made.
#[derive(Default)]
pub struct Mapped {
    pub parts: Parts,
    lines: u64,
    parsed: u64,
    filtered: u64,
    skipped: BTreeMap<&'static str, u64>,
}

impl Mapped {
    /// Adds to the counters of the job.
    pub fn report(&self, reporter: Reporter) {
        reporter.count("lines", self.lines);
        reporter.count("parsed", self.parsed);
        reporter.count("filtered", self.filtered);
        for (reason, lines) in &self.skipped {
            reporter.count(&format!("skipped: {reason}"), *lines);
        }
    }

    fn count(&mut self, all: &Aggregate) {
        self.lines += all.lines;
        self.parsed += all.parsed;
        self.filtered += all.filtered;
        for (skip, lines, _) in all.skips.kinds() {
            *self.skipped.entry(skip.name()).or_default() += lines;
        }
    }
}

impl Mapper {
    /// Maps the files that the arguments name, or a part of one.
    pub fn files(&self, given: &[String], part: Option<&Range<u64>>) -> Result<Mapped, CliError> {
        let mut all: Vec<(&str, PathBuf)> = Vec::new();
        for text in given {
            let (label, place) = labelled(text)?;
            let label = if label == UNLABELLED { &self.label } else { label };
            all.extend(expanded(place)?.into_iter().map(|path| (label, path)));
        }
        if part.is_some() && all.len() != 1 {
            return Err(CliError::usage(format!("--part is of one file, and there are {}", all.len())));
        }
        let labels: BTreeSet<&str> = all.iter().map(|(label, _)| *label).collect();
        if self.made.one_label && labels.len() > 1 {
            let list = labels.into_iter().collect::<Vec<_>>();
            let what = format!("--one-label: there are {}: {}", list.len(), list.join(", "));
            return Err(CliError::usage(what));
        }
        let mut seen = Seen::default();
        for (label, path) in &all {
            seen.shared(label, path)?;
        }
        let mut mapped = Mapped::default();
        for (label, path) in all {
            let (name, from) = (path.display().to_string(), part.map_or(0, |part| part.start));
            let opened = Opened::new(&name, Source::File(path), &self.formats).map_err(CliError::data)?;
            self.one(label, name, opened, (Place::From(from), part.cloned()), &mut mapped)?;
        }
        Ok(mapped)
    }

    /// Maps standard input.
    pub fn stdin(&self, known: Stdin) -> Result<Mapped, CliError> {
        let stdin = Box::new(std::io::stdin());
        let is_named = known.name.is_some();
        let name =
            known.name.or_else(|| Some(self.split.as_ref()?.file.clone())).unwrap_or_else(|| "-".to_owned());
        let (source, place) = match known.form {
            Form::Plain => {
                let from = known.offset.or(is_named.then_some(0));
                (Source::Stream(stdin), from.map_or(Place::Unknown, Place::From))
            }
            Form::Keyed => (Source::Keyed(stdin), Place::Keyed),
            Form::Blocks => {
                let opened = Blocks::open(stdin);
                let wrong = |error| CliError::data(self.told(&name, &format!("{name}: {error}")));
                match opened.map_err(wrong)? {
                    Some((from, blocks)) => (Source::Stream(Box::new(blocks)), Place::From(from)),
                    // No line begins in this split.
                    None => (Source::Stream(Box::new(std::io::empty())), Place::Unknown),
                }
            }
        };
        let opened = Opened::new(&name, source, &self.formats);
        let opened = opened.map_err(|why| CliError::data(self.told(&name, &why)))?;
        let from = match place {
            Place::From(from) => from,
            Place::Keyed | Place::Unknown => 0,
        };
        let mut mapped = Mapped::default();
        self.one(&self.label, name, opened, (place, Some(from..u64::MAX)), &mut mapped)?;
        Ok(mapped)
    }

    /// An error with the split that it is of.
    fn told(&self, name: &str, what: &str) -> String {
        match &self.split {
            Some(split) if split.file == name => what.replacen(name, &split.to_string(), 1),
            Some(split) => format!("{split}: {what}"),
            None => what.to_owned(),
        }
    }

    fn one(
        &self,
        label: &str,
        name: String,
        opened: Opened,
        (place, part): (Place, Option<Range<u64>>),
        into: &mut Mapped,
    ) -> Result<(), CliError> {
        let Opened { format, how, over, source } = opened;
        let input =
            Input { label: label.to_owned(), name: name.clone(), source, format: format.clone(), part };
        let mut outcome = self.read(input);
        if let Some(fault) = outcome.faults.first() {
            let what = fault.what.strip_suffix(COUNTED).unwrap_or(&fault.what);
            return Err(CliError::data(self.told(&name, &format!("{}: {what}", fault.file))));
        }
        let aggregate = outcome.labels.labels.remove(label).unwrap_or_default();
        let Besides { timeline, sides } = outcome.besides.remove(label).unwrap_or_default();
        let timeline = timeline.or_else(|| self.wants.timeline.then(Default::default));
        let sides = sides.or_else(|| self.wants.cut.is_some().then(Box::default));
        let mut whole = Side { aggregate, timeline };
        into.count(&whole.aggregate);
        sides.iter().flat_map(|sides| sides.iter()).for_each(|side| into.count(&side.aggregate));
        let file = outcome.files.first();
        let place = match (place, file) {
            (Place::From(from), file) => Some((from, file.map_or(0, |file| file.end))),
            (Place::Keyed, Some(file)) if file.lines > 0 => Some((file.start, file.end)),
            (Place::Keyed | Place::Unknown, _) => None,
        };
        let read = Read {
            name,
            format: format.text.clone(),
            how,
            unit_ns: format.unit_ns(),
            step_ns: format.step_ns,
            over: (over.0 as u64, over.1 as u64),
            place,
            lines: file.map_or(0, |file| file.lines),
            skips: take_skips(&mut whole),
        };
        let part = |side| Part { made: self.made.clone(), place: self.place, files: Files::default(), side };
        let mut add = |of, part| into.parts.add(Key::new(label, of), part);
        let added = add(Of::Whole, Part { files: Files::one(read), ..part(whole) });
        let sides = [Of::Before, Of::After].into_iter().zip(sides.into_iter().flat_map(|sides| *sides));
        let added = sides.fold(added, |done, (of, side)| done.and_then(|()| add(of, part(side))));
        added.map_err(|error| CliError::data(error.to_string()))
    }

    /// Reads an input, and says how far it is.
    fn read(&self, input: Input) -> Outcome {
        let options = Options {
            settings: self.settings.clone(),
            threads: self.threads,
            wants: self.wants,
            ..Options::default()
        };
        let (watch, name) = (Watch::default(), input.name.clone());
        if !self.reporter.is_on() {
            return logs::read::read(vec![input], &options, &watch);
        }
        std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let (options, progress) = (&options, &watch);
            let reading = scope.spawn(move || {
                let outcome = logs::read::read(vec![input], options, progress);
                drop(done);
                outcome
            });
            while let Err(mpsc::RecvTimeoutError::Timeout) = is_done.recv_timeout(EVERY) {
                self.reporter.status(&format!("{name}: {} MiB read", watch.bytes() >> 20));
            }
            match reading.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}
