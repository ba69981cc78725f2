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
use super::sketch::{CELLS, CountMin, ROWS, WIDTH, column};
use crate::hash;
use crate::scan::{Record, word};

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

/// Names that came up lately, on their way into [`Names`]: most requests repeat one of few names, which is found by
/// comparing and needs neither hash nor sketch.
#[derive(Default)]
pub struct Lately {
    /// None until there is something.
    places: Vec<Place>,
    /// The name of each place, as far as it is kept.
    texts: Vec<[u8; LONGEST]>,
    few: Few,
}

const SETS: usize = 256;
/// Places that a name may have.
const WAYS: usize = 2;

#[derive(Clone, Copy)]
struct Place {
    /// Bytes of the name from here and there: two names seldom share it.
    mark: u64,
    length: usize,
    key: u64,
    /// The class of the name, where that follows from it.
    class: usize,
    counts: [u64; CLASSES],
    /// The lowest draw of each class: only a lower one changes the sample.
    lowest: [u64; CLASSES],
}

const EMPTY: Place = Place {
    mark: 0,
    length: usize::MAX,
    key: 0,
    class: 0,
    counts: [0; CLASSES],
    lowest: [u64::MAX; CLASSES],
};

/// A word that tells most names apart, made of a few of their bytes.
#[inline(always)]
fn mark_of(name: &[u8]) -> u64 {
    let length = name.len();
    let from = |at: usize| word::first_eight(name.get(at..).unwrap_or_default());
    let (start, end) = (from(0), from(length.saturating_sub(8)));
    let (early, late) = (from(length / 4), from(length / 2 + length / 8));
    hash::mix(start.rotate_left(17) ^ end, early.rotate_left(31) ^ late ^ length as u64)
}

/// Counts on their way into a sketch, of both classes sixteen bits each: a cell is a sixth of the sketch's.
#[derive(Default)]
struct Few {
    /// None until there is something.
    cells: Vec<u32>,
}

const COUNT: u32 = 16;
/// The highest bit of either count: without these, there is room for counts that have none of them either.
const FULL: u32 = 1 << (2 * COUNT - 1) | 1 << (COUNT - 1);

impl Few {
    /// Adds counts of a name; those that are too large for a cell, and a cell that is nearly full, go to the sketch.
    #[inline]
    fn add(&mut self, key: u64, [one, other]: [u64; CLASSES], sketch: &mut CountMin) {
        if (one | other) >> (COUNT - 1) != 0 {
            return sketch.add(key, &[one, other, 0]);
        }
        if self.cells.is_empty() {
            self.cells = vec![0; CELLS];
        }
        let more = (other << COUNT | one) as u32;
        let (rows, _) = self.cells.as_chunks_mut::<WIDTH>();
        let ([rows], _) = rows.as_chunks_mut::<ROWS>() else { return };
        for (row, cells) in rows.iter_mut().enumerate() {
            let cell = &mut cells[column(key, row)];
            *cell += more;
            if *cell & FULL != 0 {
                spill(cell, row * WIDTH + column(key, row), sketch);
            }
        }
    }

    /// Adds everything to the sketch; nothing is here then.
    fn settle(&mut self, sketch: &mut CountMin) {
        for (place, cell) in self.cells.iter_mut().enumerate().filter(|(_, cell)| **cell != 0) {
            spill(cell, place, sketch);
        }
    }
}

/// Adds the counts of one cell to the sketch.
#[cold]
#[inline(never)]
fn spill(cell: &mut u32, place: usize, sketch: &mut CountMin) {
    let both = std::mem::take(cell);
    sketch.add_at(place, &[u64::from(both & ((1 << COUNT) - 1)), u64::from(both >> COUNT), 0]);
}

impl Lately {
    /// Adds a request of a name to the class that `sort` tells, which is asked once for a name that comes again.
    /// Returns the class.
    #[inline]
    pub fn add_sorted(
        &mut self,
        names: &mut Names,
        name: &[u8],
        offset: u64,
        sort: fn(&[u8]) -> usize,
    ) -> usize {
        let place = self.place(name, names);
        if place.counts == [0; CLASSES] {
            place.class = sort(name);
        }
        let class = place.class;
        place.add(names, name, offset, class);
        class
    }

    /// Adds a request of a name to a class.
    #[inline]
    pub fn add(&mut self, names: &mut Names, name: &[u8], offset: u64, class: usize) {
        self.place(name, names).add(names, name, offset, class);
    }

    /// The place of a name.
    #[inline(always)]
    fn place(&mut self, name: &[u8], names: &mut Names) -> &mut Place {
        let mark = mark_of(name);
        let first = (mark >> 32) as usize % SETS * WAYS;
        let is_at = |at: usize| {
            let (Some(place), Some(text)) = (self.places.get(at), self.texts.get(at)) else { return false };
            place.mark == mark && place.length == name.len() && text.get(..place.length) == Some(name)
        };
        let found = (first..first + WAYS).find(|at| is_at(*at));
        match found {
            Some(at) => &mut self.places[at],
            None => self.new_place(mark, first, name, names),
        }
    }

    /// Makes a place for a name, where the name with fewer requests was, which go to the sketch.
    #[inline(never)]
    fn new_place(&mut self, mark: u64, first: usize, name: &[u8], names: &mut Names) -> &mut Place {
        if self.places.is_empty() {
            self.places = vec![EMPTY; SETS * WAYS];
            self.texts = vec![[0; LONGEST]; SETS * WAYS];
        }
        let requests = |at: &usize| self.places[*at].counts.iter().sum::<u64>();
        let at = (first..first + WAYS).min_by_key(requests).unwrap_or(first);
        let (place, key) = (&mut self.places[at], hash::name(name));
        // A name that is too long to be compared is known by its hash.
        if place.key != key || place.length != name.len() {
            place.spill(&mut self.few, names);
            *place = Place { mark, length: name.len(), key, ..EMPTY };
            if let Some(text) = self.texts[at].get_mut(..name.len()) {
                text.copy_from_slice(name);
            }
        }
        place
    }

    /// Adds everything to the names; nothing is here then.
    pub fn settle(&mut self, names: &mut Names) {
        self.places.iter_mut().for_each(|place| place.spill(&mut self.few, names));
        self.places.clear();
        if let Some(sketch) = &mut names.sketch {
            self.few.settle(sketch);
        }
    }
}

impl Place {
    #[inline(always)]
    fn add(&mut self, names: &mut Names, name: &[u8], offset: u64, class: usize) {
        let class = class % CLASSES;
        self.counts[class] += 1;
        let drawn = hash::request(self.key, offset, 0, 0);
        if drawn < self.lowest[class] {
            self.lowest[class] = drawn;
            names.samples[class].offer(self.key, &name[..name.len().min(LONGEST)], drawn, 1);
        }
    }

    /// Adds its counts to those that are on their way into the sketch.
    #[inline]
    fn spill(&mut self, few: &mut Few, names: &mut Names) {
        let counts = std::mem::take(&mut self.counts);
        if counts == [0; CLASSES] {
            return;
        }
        few.add(self.key, counts, names.sketch.get_or_insert_default());
        for (total, count) in names.totals.iter_mut().zip(counts) {
            *total = total.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each request straight into the sketch and the samples.
    fn add_directly(to: &mut Names, name: &[u8], offset: u64, class: usize) {
        let key = hash::name(name);
        to.samples[class].offer(key, &name[..name.len().min(LONGEST)], hash::request(key, offset, 0, 0), 1);
        to.sketch.get_or_insert_default().add(key, &[u64::from(class == 0), u64::from(class == 1), 0]);
        to.totals[class] += 1;
    }

    fn add(to: &mut Names, all: &[(u64, u64)]) {
        let mut lately = Lately::default();
        for (name, offset) in all {
            let text = format!("name {name}");
            match name % 3 {
                0 => lately.add(to, text.as_bytes(), *offset, (*offset % 2) as usize),
                _ => {
                    let sort = |name: &[u8]| usize::from(name.ends_with(b"1"));
                    assert_eq!(lately.add_sorted(to, text.as_bytes(), *offset, sort), sort(text.as_bytes()));
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
        fn names_lately_are_added_as_each_at_once(
            seed in any::<u64>(), different in prop_oneof![1u64..40, 500u64..3000], longest in 0usize..400,
        ) {
            let (mut by_way, mut direct, mut lately) = (Names::default(), Names::default(), Lately::default());
            for n in 0..6000u64 {
                // Names that differ in one byte somewhere, or in their length.
                let which = hash::mix(seed, n) % different;
                let mut name = vec![b'a'; hash::mix(which, 1) as usize % (longest + 1)];
                if let Some(byte) = name.len().checked_sub(1).map(|last| which as usize * 7 % (last + 1)) {
                    name[byte] = which as u8;
                }
                let class = usize::from(name.first() > Some(&b'a'));
                match which % 2 {
                    0 => lately.add(&mut by_way, &name, n * 100, class),
                    _ => {
                        lately.add_sorted(&mut by_way, &name, n * 100, |name| usize::from(name.first() > Some(&b'a')));
                    }
                }
                add_directly(&mut direct, &name, n * 100, class);
            }
            lately.settle(&mut by_way);
            prop_assert!(bytes(&by_way) == bytes(&direct));
        }

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
    fn counts_that_fill_a_cell_are_whole() {
        let (mut few, mut by_way, mut direct) = (Few::default(), CountMin::default(), CountMin::default());
        for counts in
            [[1, 0], [32_767, 3], [32_767, 32_767], [40_000, 1], [5, 32_766], [1 << 40, 7]].repeat(9)
        {
            few.add(77, counts, &mut by_way);
            direct.add(77, &[counts[0], counts[1], 0]);
        }
        few.settle(&mut by_way);
        assert_eq!(by_way, direct);
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
