//! Names of two classes that come up most, whatever the number of names: paths and clients behind failures (4xx, 5xx),
//! programs (of people, of bots), and the sites that refer.
//!
//! Counts of requests. As with [`paths`](super::paths), candidates come from samples and their counts from a Count-Min
//! sketch: both merge exactly, a count is never too low, and how much too high it may be is said by
//! [`CountMin::ERROR`]. Memory is bounded; of a name at most [`LONGEST`] bytes are kept.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::bounded::Merge;
use super::candidates::Candidates;
use super::sketch::CountMin;
use crate::hash;
use crate::scan::Record;

/// Bytes of a name that are kept; two longer ones that differ later stay two.
pub const LONGEST: usize = 256;
const CLASSES: usize = 2;

/// Bytes of a path in [`Asked`]: the program behind it is to be kept too.
const LONGEST_PATH: usize = 100;

/// A client and what it asked for, as one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    pub client: Cow<'a, [u8]>,
    pub status: Option<u16>,
    pub path: Cow<'a, [u8]>,
    /// Empty where the line tells none.
    pub agent: Cow<'a, [u8]>,
}

impl<'a> Asked<'a> {
    pub fn from_record(record: &Record<'a>) -> Asked<'a> {
        let path = record.path.unwrap_or_default();
        Asked {
            client: Cow::Borrowed(record.client.unwrap_or_default()),
            status: record.status,
            path: Cow::Borrowed(path.get(..LONGEST_PATH).unwrap_or(path)),
            agent: Cow::Borrowed(record.agent.unwrap_or_default()),
        }
    }

    /// Writes the name in place of what is in `to`.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.clear();
        to.extend_from_slice(&self.client);
        to.push(0);
        to.extend_from_slice(&self.status.unwrap_or(0).to_be_bytes());
        to.extend_from_slice(&self.path);
        to.push(0);
        to.extend_from_slice(&self.agent);
    }

    /// Reads a name that [`Asked::write`] wrote; of a long one the end may be missing.
    pub fn read(name: &'a [u8]) -> Option<Asked<'a>> {
        let (client, rest) = name.split_at_checked(name.iter().position(|byte| *byte == 0)?)?;
        let (status, rest) = rest.get(1..)?.split_first_chunk::<2>()?;
        let mut parts = rest.splitn(2, |byte| *byte == 0);
        Some(Asked {
            client: Cow::Borrowed(client),
            status: Some(u16::from_be_bytes(*status)).filter(|status| *status > 0),
            path: Cow::Borrowed(parts.next()?),
            agent: Cow::Borrowed(parts.next().unwrap_or_default()),
        })
    }
}

/// Names of many requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Names {
    samples: [Candidates; CLASSES],
    /// None until there is something.
    sketch: Option<CountMin>,
    totals: [u64; CLASSES],
}

impl Names {
    /// Empty ones, to be filled at the same time and then merged with these.
    pub fn beside(&self) -> Names {
        Names { samples: self.samples.each_ref().map(Candidates::beside), ..Names::default() }
    }

    /// Requests of a class.
    pub fn total(&self, class: usize) -> u64 {
        self.totals.get(class).copied().unwrap_or(0)
    }

    /// The names of a class with the most requests, and the number of those requests.
    pub fn top(&self, class: usize, most: usize) -> Vec<(&[u8], u64)> {
        let (Some(sample), Some(sketch)) = (self.samples.get(class), &self.sketch) else { return Vec::new() };
        let count = |(key, name)| (name, sketch.estimate(key)[class]);
        let mut all: Vec<(&[u8], u64)> = sample.kept().into_iter().map(count).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(most);
        all
    }

    /// How many names of a class there are; `None` where there may be more than are kept.
    pub fn distinct(&self, class: usize) -> Option<usize> {
        self.samples.get(class).and_then(Candidates::all)
    }
}

impl Merge for Names {
    fn merge(&mut self, other: &Names) {
        for (mine, theirs) in self.samples.iter_mut().zip(&other.samples) {
            mine.merge(theirs);
        }
        match (&mut self.sketch, &other.sketch) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
        for (mine, theirs) in self.totals.iter_mut().zip(other.totals) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// Names that came up lately, on their way into [`Names`]: most requests repeat one of few names, and need no sketch.
#[derive(Default)]
pub struct Lately {
    /// None until there is something.
    places: Vec<Place>,
}

const PLACES: usize = 256;

#[derive(Clone, Copy)]
struct Place {
    key: u64,
    /// The class of the name, where that follows from it.
    class: usize,
    counts: [u64; CLASSES],
    /// The lowest draw of each class: only a lower one changes the sample.
    lowest: [u64; CLASSES],
}

const EMPTY: Place = Place { key: 0, class: 0, counts: [0; CLASSES], lowest: [u64::MAX; CLASSES] };

impl Lately {
    /// Adds a request of a name to the class that `sort` tells, which is asked once for a name that comes again.
    #[inline]
    pub fn add_sorted(&mut self, names: &mut Names, name: &[u8], offset: u64, sort: fn(&[u8]) -> usize) {
        let key = hash::name(name);
        let place = self.place(key, names);
        if place.counts == [0; CLASSES] {
            place.class = sort(name);
        }
        place.add(names, (key, name), offset, place.class);
    }

    /// Adds a request of a name to a class.
    #[inline]
    pub fn add(&mut self, names: &mut Names, name: &[u8], offset: u64, class: usize) {
        let key = hash::name(name);
        self.place(key, names).add(names, (key, name), offset, class);
    }

    /// The place of a name; what another name had there goes to the sketch.
    #[inline(always)]
    fn place(&mut self, key: u64, names: &mut Names) -> &mut Place {
        if self.places.is_empty() {
            self.places = vec![EMPTY; PLACES];
        }
        let place = &mut self.places[(key >> 56) as usize % PLACES];
        if place.key != key {
            place.spill(names);
            *place = Place { key, ..EMPTY };
        }
        place
    }

    /// Adds everything to the names; nothing is here then.
    pub fn settle(&mut self, names: &mut Names) {
        self.places.iter_mut().for_each(|place| place.spill(names));
        self.places.clear();
    }
}

impl Place {
    #[inline(always)]
    fn add(&mut self, names: &mut Names, (key, name): (u64, &[u8]), offset: u64, class: usize) {
        let class = class % CLASSES;
        self.counts[class] += 1;
        let drawn = hash::request(key, offset, 0, 0);
        if drawn < self.lowest[class] {
            self.lowest[class] = drawn;
            names.samples[class].offer(key, &name[..name.len().min(LONGEST)], drawn, 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, names: &mut Names) {
        let counts = std::mem::take(&mut self.counts);
        if counts == [0; CLASSES] {
            return;
        }
        let [one, other] = counts;
        names.sketch.get_or_insert_default().add(self.key, &[one, other, 0]);
        for (total, count) in names.totals.iter_mut().zip(counts) {
            *total = total.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn add(to: &mut Names, all: &[(u64, u64)]) {
        let mut lately = Lately::default();
        for (name, offset) in all {
            let text = format!("name {name}");
            match name % 3 {
                0 => lately.add(to, text.as_bytes(), *offset, (*offset % 2) as usize),
                _ => {
                    lately.add_sorted(to, text.as_bytes(), *offset, |name| usize::from(name.ends_with(b"1")))
                }
            }
        }
        lately.settle(to);
    }

    fn bytes(of: &Names) -> Vec<u8> {
        postcard::to_stdvec(of).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn order_and_cuts_change_nothing(
            seed in any::<u64>(), names in prop_oneof![1u64..30, 5000u64..9000], cut in 0usize..9000,
        ) {
            let lines: Vec<(u64, u64)> = (0..9000).map(|n| (hash::mix(seed, n) % names, n)).collect();
            let fill = |lines: &[(u64, u64)]| {
                let mut all = Names::default();
                add(&mut all, lines);
                all
            };
            let whole = fill(&lines);
            let reversed: Vec<(u64, u64)> = lines.iter().rev().copied().collect();
            prop_assert!(bytes(&fill(&reversed)) == bytes(&whole));
            let (one, two) = (fill(&lines[..cut]), fill(&lines[cut..]));
            let mut merged = two.clone();
            merged.merge(&one);
            prop_assert!(bytes(&merged) == bytes(&whole));
            let back: Names = postcard::from_bytes(&bytes(&merged)).unwrap();
            prop_assert!(bytes(&back) == bytes(&whole));
            prop_assert_eq!(whole.total(0) + whole.total(1), 9000);
            if names < 30 {
                for class in 0..2 {
                    let sum: u64 = whole.top(class, 100).iter().map(|(_, count)| count).sum();
                    prop_assert_eq!(sum, whole.total(class), "few names are counted exactly");
                }
                prop_assert!(whole.distinct(0).unwrap() <= 30);
            }
        }
    }

    #[test]
    fn what_comes_up_most_is_found_among_many() {
        let mut all = Names::default();
        let mut lately = Lately::default();
        for n in 0..100_000u64 {
            let name = if n % 50 == 0 { "/cart".to_owned() } else { format!("/{}", hash::mix(n, 1)) };
            lately.add(&mut all, name.as_bytes(), n * 100, 1);
        }
        lately.settle(&mut all);
        let (name, count) = all.top(1, 1)[0];
        assert_eq!(name, b"/cart");
        assert!((2000..2000 + 40).contains(&count), "{count}");
        assert_eq!((all.total(1), all.distinct(1), all.top(0, 5).len()), (100_000, None, 0));
        let mut long = Names::default();
        let mut lately = Lately::default();
        lately.add(&mut long, &[b'x'; 1 << 20], 0, 0);
        lately.settle(&mut long);
        assert_eq!(long.top(0, 1)[0].0.len(), LONGEST);
    }
}
