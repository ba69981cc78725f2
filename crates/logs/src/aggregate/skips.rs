//! Lines that were not read: how many of each kind, and the first few of each with file and line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::scan::Skip;

/// Lines of each kind that are kept to be shown.
pub const KEPT: usize = 5;
/// Bytes of such a line.
const LONGEST: usize = 200;

/// A line that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sample {
    pub file: String,
    /// From 1.
    pub line: u64,
    /// Its first 200 bytes; nothing of a line that is too long.
    pub text: Vec<u8>,
}

/// Skipped lines by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skips {
    kinds: BTreeMap<Skip, (u64, Vec<Sample>)>,
}

impl Skips {
    /// Counts a line; its number is from 0 and may be that within a piece of the file, see [`settle`](Self::settle).
    #[cold]
    pub fn add(&mut self, skip: Skip, number: u64, text: &[u8]) {
        let (count, samples) = self.kinds.entry(skip).or_default();
        *count += 1;
        if samples.len() < KEPT {
            let text = text[..text.len().min(LONGEST)].to_vec();
            samples.push(Sample { file: String::new(), line: number + 1, text });
        }
    }

    /// Gives the samples of a piece their file, and their lines within it: `before` lines stand before the piece.
    #[must_use]
    pub fn settle(mut self, file: &str, before: u64) -> Skips {
        for sample in self.kinds.values_mut().flat_map(|(_, samples)| samples) {
            file.clone_into(&mut sample.file);
            sample.line = sample.line.saturating_add(before);
        }
        self
    }

    /// Of the samples those that come first, by file and line, stay.
    pub fn merge(&mut self, other: &Skips) {
        for (skip, (count, samples)) in &other.kinds {
            let (mine, kept) = self.kinds.entry(*skip).or_default();
            *mine = mine.saturating_add(*count);
            kept.extend_from_slice(samples);
            kept.sort_unstable();
            kept.truncate(KEPT);
        }
    }

    /// The first of the samples, by file and line.
    pub fn first(&self) -> Option<(Skip, Sample)> {
        let samples =
            self.kinds().flat_map(|(skip, _, samples)| samples.iter().map(move |sample| (skip, sample)));
        let (skip, sample) = samples.min_by_key(|(_, sample)| (&sample.file, sample.line))?;
        Some((skip, sample.clone()))
    }

    /// True if so many lines may have been skipped of so many, and the samples are of no file yet.
    pub(crate) fn are_among(&self, lines: u64) -> bool {
        let counts = self.kinds.values().try_fold(0u64, |sum, (count, _)| sum.checked_add(*count));
        let fit = |(count, samples): &(u64, Vec<Sample>)| {
            samples.len() <= KEPT
                && samples.len() as u64 <= *count
                && samples.iter().all(|one| one.file.is_empty() && (1..=lines).contains(&one.line))
        };
        counts.is_some_and(|skipped| skipped <= lines) && self.kinds.values().all(fit)
    }

    pub fn total(&self) -> u64 {
        self.kinds.values().fold(0, |sum, (count, _)| sum.saturating_add(*count))
    }

    /// Lines skipped for this reason.
    pub fn count(&self, skip: Skip) -> u64 {
        self.kinds.get(&skip).map_or(0, |(count, _)| *count)
    }

    /// Kind, number and first lines of everything that was skipped.
    pub fn kinds(&self) -> impl Iterator<Item = (Skip, u64, &[Sample])> {
        self.kinds.iter().map(|(skip, (count, samples))| (*skip, *count, samples.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_stay_whatever_the_order() {
        let piece = |numbers: std::ops::Range<u64>, before: u64| {
            let mut skips = Skips::default();
            numbers.for_each(|number| skips.add(Skip::Shape, number, b"x"));
            skips.settle("a.log", before)
        };
        let (one, two) = (piece(0..9, 100), piece(2..4, 0));
        let mut forward = one.clone();
        forward.merge(&two);
        let mut back = two.clone();
        back.merge(&one);
        assert_eq!(forward, back);
        assert_eq!((forward.total(), forward.count(Skip::Shape), forward.count(Skip::Nul)), (11, 11, 0));
        let (_, _, samples) = forward.kinds().next().unwrap();
        assert_eq!(samples.iter().map(|sample| sample.line).collect::<Vec<_>>(), [3, 4, 101, 102, 103]);
        assert_eq!((samples[0].file.as_str(), &samples[0].text[..]), ("a.log", &b"x"[..]));
    }

    #[test]
    fn a_long_line_is_kept_in_part() {
        let mut skips = Skips::default();
        skips.add(Skip::Nul, 0, &[0; 5000]);
        assert_eq!(skips.kinds().next().unwrap().2[0].text.len(), LONGEST);
    }
}
