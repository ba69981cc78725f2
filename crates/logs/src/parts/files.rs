//! The files that a part is of: their formats, the bytes that were read, and the lines that were skipped with their
//! numbers.
//!
//! A reader of some bytes counts lines from their start. Stretches that follow one another become one, so that in the
//! end lines are numbered from the start of the file, in whatever order the stretches came.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PartError;
use crate::aggregate::skips::Skips;

/// A file, or some of it, as a mapper read it.
#[derive(Clone, Debug)]
pub struct Read {
    pub name: String,
    /// The format as `--format` takes it, and how it was found.
    pub format: String,
    pub how: String,
    pub unit_ns: Option<u64>,
    pub step_ns: Option<u64>,
    /// Of the first lines, how many have more fields than the format, and how many were looked at.
    pub over: (u64, u64),
    /// Where the lines begin in the file, unpacked, and where they end; `None` where that is not known.
    pub place: Option<(u64, u64)>,
    pub lines: u64,
    /// With lines counted from 1, from where the lines begin.
    pub skips: Skips,
}

/// The format as it was found at one place of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Found {
    /// Where it was found; the first of all parts is kept.
    at: u64,
    pub how: String,
    pub over: (u64, u64),
}

/// Lines that stand one behind another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    end: u64,
    lines: u64,
    skips: Skips,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct File {
    pub format: String,
    pub unit_ns: Option<u64>,
    pub step_ns: Option<u64>,
    pub found: Found,
    /// By where they begin.
    stretches: BTreeMap<u64, Stretch>,
    /// Of readers that do not know where their lines stand: how many readers, and their lines.
    loose: (u64, u64, Skips),
}

impl File {
    fn lines(&self) -> u64 {
        let each = self.stretches.values().map(|stretch| stretch.lines);
        each.fold(self.loose.1, u64::saturating_add)
    }

    /// Adds a stretch, joined with those it touches.
    fn add(&mut self, name: &str, start: u64, new: &Stretch) -> Result<(), PartError> {
        let before = self.stretches.range(..=start).next_back().map(|(from, one)| (*from, one.end));
        let behind = self.stretches.range(start..).next().map(|(from, one)| (*from, one.end));
        let common = before.map(|(_, end)| (start, end.min(new.end)));
        let common = [common, behind.map(|(from, end)| (from, end.min(new.end)))];
        if let Some((from, to)) = common.into_iter().flatten().find(|(from, to)| from < to) {
            return Err(PartError::Twice { file: name.to_owned(), from, to });
        }
        let (mut start, mut new) = (start, new.clone());
        if let Some((from, _)) = before.filter(|(_, end)| *end == start)
            && let Some(before) = self.stretches.remove(&from)
        {
            new = before.then(&new);
            start = from;
        }
        if let Some(behind) = self.stretches.remove(&new.end) {
            new = new.then(&behind);
        }
        self.stretches.insert(start, new);
        Ok(())
    }

    fn merge(&mut self, name: &str, other: &File) -> Result<(), PartError> {
        let format = |of: &File| (of.format.clone(), of.unit_ns, of.step_ns);
        if format(self) != format(other) {
            let mut both = [self.format.clone(), other.format.clone()];
            both.sort_unstable();
            let [one, other] = both;
            return Err(PartError::Formats { file: name.to_owned(), one, other });
        }
        self.found = self.found.clone().min(other.found.clone());
        for (start, stretch) in &other.stretches {
            self.add(name, *start, stretch)?;
        }
        self.loose.0 = self.loose.0.saturating_add(other.loose.0);
        self.loose.1 = self.loose.1.saturating_add(other.loose.1);
        self.loose.2.merge(&other.loose.2);
        Ok(())
    }

    /// The lines that were skipped, with their numbers in the file. Fails where bytes before the last ones are missing.
    pub fn skips(&self, name: &str) -> Result<Skips, PartError> {
        let mut all = self.loose.2.clone().settle(name, 0);
        let mut end = 0;
        for (number, (start, stretch)) in self.stretches.iter().enumerate() {
            // What touches is one stretch.
            if number > 0 {
                return Err(PartError::Missing { file: name.to_owned(), from: end, to: *start });
            }
            all.merge(&stretch.skips.clone().settle(name, 0));
            end = stretch.end;
        }
        Ok(all)
    }

    fn is_sound(&self) -> bool {
        let all = self.stretches.values().map(|stretch| (stretch.lines, &stretch.skips));
        let mut end = 0;
        let apart = self.stretches.iter().enumerate().all(|(number, (start, stretch))| {
            let is_behind = (number == 0 || end < *start) && *start < stretch.end;
            end = stretch.end;
            is_behind
        });
        apart && all.chain([(self.loose.1, &self.loose.2)]).all(|(lines, skips)| skips.are_among(lines))
    }
}

impl Stretch {
    /// This one and the one behind it.
    fn then(mut self, behind: &Stretch) -> Stretch {
        self.skips.merge(&behind.skips.clone().settle("", self.lines));
        self.lines = self.lines.saturating_add(behind.lines);
        self.end = behind.end;
        self
    }
}

/// The files of a part, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files(pub(super) BTreeMap<String, File>);

impl Files {
    /// One file.
    pub fn one(read: Read) -> Files {
        let found = Found { at: read.place.map_or(0, |(start, _)| start), how: read.how, over: read.over };
        let mut file = File { format: read.format, found, ..File::default() };
        (file.unit_ns, file.step_ns) = (read.unit_ns, read.step_ns);
        let skips = read.skips.settle("", 0);
        match read.place {
            // Of no bytes there is nothing to be known.
            Some((start, end)) if end <= start => {}
            Some((start, end)) => {
                _ = file.stretches.insert(start, Stretch { end, lines: read.lines, skips });
            }
            None => file.loose = (1, read.lines, skips),
        }
        Files(BTreeMap::from([(read.name, file)]))
    }

    pub(super) fn merge(&mut self, other: &Files) -> Result<(), PartError> {
        for (name, theirs) in &other.0 {
            match self.0.get_mut(name) {
                Some(mine) => mine.merge(name, theirs)?,
                None => _ = self.0.insert(name.clone(), theirs.clone()),
            }
        }
        Ok(())
    }

    pub(super) fn lines(&self) -> u64 {
        self.0.values().map(File::lines).fold(0, u64::saturating_add)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_sound(&self) -> bool {
        self.0.values().all(File::is_sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Skip;

    /// Lines `from..to` of a file of 10 B a line, of which those that are multiples of 3 (from 1) were skipped.
    fn read(from: u64, to: u64) -> Files {
        let mut skips = Skips::default();
        for line in (from..to).filter(|line| (line + 1) % 3 == 0) {
            skips.add(Skip::Shape, line - from, b"x");
        }
        of(Some((from * 10, to * 10)), to - from, skips, "common")
    }

    fn of(place: Option<(u64, u64)>, lines: u64, skips: Skips, format: &str) -> Files {
        Files::one(Read {
            name: "a.log".into(),
            format: format.into(),
            how: "given".into(),
            unit_ns: None,
            step_ns: None,
            over: (0, 0),
            place,
            lines,
            skips: skips.settle("other", 0),
        })
    }

    fn merged(parts: &[Files]) -> Result<Files, PartError> {
        let mut all = Files::default();
        parts.iter().try_for_each(|part| all.merge(part))?;
        Ok(all)
    }

    #[test]
    fn lines_have_the_numbers_of_the_file_whatever_the_order() {
        let parts = [read(0, 4), read(4, 5), read(5, 5), read(5, 20)];
        let whole = read(0, 20);
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let all = merged(&order.map(|part| parts[part].clone())).unwrap();
            assert_eq!(all.0["a.log"], whole.0["a.log"].clone(), "{order:?}");
        }
        let skips = whole.0["a.log"].skips("a.log").unwrap();
        let (_, _, samples) = skips.kinds().next().unwrap();
        assert_eq!(samples.iter().map(|one| one.line).collect::<Vec<_>>(), [3, 6, 9, 12, 15]);
        assert_eq!((samples[0].file.as_str(), skips.total(), whole.lines()), ("a.log", 6, 20));
    }

    #[test]
    fn what_is_twice_or_missing_is_said() {
        for parts in [
            [read(0, 5), read(4, 9)],
            [read(4, 9), read(0, 5)],
            [read(0, 5), read(0, 5)],
            [read(0, 9), read(3, 5)],
            [read(3, 5), read(0, 9)],
        ] {
            let error = merged(&parts).unwrap_err().to_string();
            assert!(error.contains("are there twice"), "{error}");
        }
        let torn = merged(&[read(0, 3), read(5, 9)]).unwrap();
        let error = torn.0["a.log"].skips("a.log").unwrap_err().to_string();
        assert!(error.contains("from 30 to 50 are missing"), "{error}");
        // The end of a file may be all that was read.
        assert_eq!(read(5, 9).0["a.log"].skips("a.log").unwrap().total(), 2);
    }

    #[test]
    fn one_file_has_one_format() {
        let [one, other] = ["common", "common+D"].map(|format| of(None, 1, Skips::default(), format));
        let error = merged(&[one.clone(), other]).unwrap_err().to_string();
        assert!(error.starts_with("a.log was read as common and as common+D: give the format"), "{error}");
        let twice = merged(&[one.clone(), one]).unwrap();
        assert_eq!(twice.lines(), 2);
    }

    #[test]
    fn lines_of_no_known_place_are_counted_all_the_same() {
        let mut skips = Skips::default();
        skips.add(Skip::Nul, 6, b"");
        let loose = of(None, 9, skips, "common");
        let all = merged(&[loose.clone(), read(0, 4), loose]).unwrap();
        assert_eq!((all.lines(), all.0["a.log"].skips("a.log").unwrap().count(Skip::Nul)), (22, 2));
    }
}
