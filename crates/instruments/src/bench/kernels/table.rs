//! A hash table of cache lines: 64-byte lines of eight 8-byte entries.
//!
//! An entry is 16 bits of secondary hash, one chain bit and a reference of 47 bits; 0 is empty. The table
//! knows no keys: who looks up says whether a reference is the one. A line that overflows keeps seven entries
//! and a link to a further line, which takes the eighth and what comes after it. Several threads may insert
//! and look up at once; nothing is ever removed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const ENTRIES: usize = 8;
const CHAIN: u64 = 1 << 47;
const REFERENCE: u64 = CHAIN - 1;

#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; ENTRIES]);

/// The table is out of lines for chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

pub struct Table {
    lines: Vec<Line>,
    more: Vec<Line>,
    /// Lines of `more` that are in use; held while a chain grows.
    used: Mutex<usize>,
}

/// The place of a key: its line, and what its entry carries.
#[derive(Clone, Copy, Debug)]
pub struct KeyPlace {
    line: usize,
    secondary: u64,
}

impl Table {
    /// `lines` is rounded down to a power of two; `more` lines serve for chains.
    pub fn new(lines: usize, more: usize) -> Table {
        let lines = 1 << lines.max(1).ilog2();
        let make = |count: usize| std::iter::repeat_with(Line::default).take(count).collect();
        Table { lines: make(lines), more: make(more), used: Mutex::new(0) }
    }

    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    #[inline]
    pub fn place(&self, hash: u64) -> KeyPlace {
        #[expect(clippy::cast_possible_truncation, reason = "the lower bits choose the line")]
        let line = hash as usize & (self.lines.len() - 1);
        KeyPlace { line, secondary: hash >> 48 }
    }

    /// Asks the caches for the line of `place`.
    #[inline]
    pub fn prefetch(&self, place: KeyPlace) {
        super::prefetch(&self.lines[place.line].0);
    }

    /// The first entry in the chain of `place` with the same secondary hash whose reference `is_it` accepts.
    #[inline]
    pub fn find(&self, place: KeyPlace, mut is_it: impl FnMut(u64) -> bool) -> Option<&AtomicU64> {
        let mut line = &self.lines[place.line];
        loop {
            for entry in &line.0 {
                let value = entry.load(Ordering::Acquire);
                if value >> 48 == place.secondary && value & CHAIN == 0 && value != 0 {
                    let reference = (value & REFERENCE) - 1;
                    if is_it(reference) {
                        return Some(entry);
                    }
                }
            }
            line = self.next(line)?;
        }
    }

    /// Finds an entry as `find` does, and writes it back unchanged.
    #[inline]
    pub fn replace(&self, place: KeyPlace, reference: u64, is_it: impl FnMut(u64) -> bool) -> bool {
        match self.find(place, is_it) {
            Some(entry) => {
                entry.store(value(place, reference), Ordering::Release);
                true
            }
            None => false,
        }
    }

    fn next(&self, line: &Line) -> Option<&Line> {
        let [.., last] = &line.0;
        let link = last.load(Ordering::Acquire);
        if link & CHAIN == 0 {
            return None;
        }
        usize::try_from(link & REFERENCE).ok().and_then(|at| self.more.get(at))
    }

    /// Adds a reference below 2^47 - 1, even if it is there already. Fails when the table is full.
    #[inline]
    pub fn insert(&self, place: KeyPlace, reference: u64) -> Result<(), Full> {
        let new = value(place, reference);
        let mut line = &self.lines[place.line];
        loop {
            for entry in &line.0 {
                if entry.load(Ordering::Relaxed) == 0
                    && entry.compare_exchange(0, new, Ordering::Release, Ordering::Relaxed).is_ok()
                {
                    return Ok(());
                }
            }
            line = match self.next(line) {
                Some(next) => next,
                None => self.grow(line)?,
            };
        }
    }

    /// Gives a full line a further one, unless another thread just did.
    #[cold]
    fn grow(&self, line: &Line) -> Result<&Line, Full> {
        let mut used = self.used.lock().map_err(|_| Full)?;
        if let Some(next) = self.next(line) {
            return Ok(next);
        }
        let fresh = self.more.get(*used).ok_or(Full)?;
        let [.., last] = &line.0;
        let [first, ..] = &fresh.0;
        // The eighth entry is in two places for a moment, never in none.
        first.store(last.load(Ordering::Acquire), Ordering::Release);
        last.store(CHAIN | *used as u64, Ordering::Release);
        *used += 1;
        Ok(fresh)
    }

    /// Empties the `part`th of `parts` equal parts; all must be emptied, and nobody else be at work.
    pub fn clear(&self, part: usize, parts: usize) {
        for lines in [&self.lines, &self.more] {
            let range = lines.len() * part / parts..lines.len() * (part + 1) / parts;
            for line in lines.get(range).unwrap_or_default() {
                for entry in &line.0 {
                    entry.store(0, Ordering::Relaxed);
                }
            }
        }
        if part == 0
            && let Ok(mut used) = self.used.lock()
        {
            *used = 0;
        }
    }
}

const fn value(place: KeyPlace, reference: u64) -> u64 {
    place.secondary << 48 | (reference + 1)
}

/// The first 64 bits of MurmurHash3_x64_128 of an 8-byte key.
#[inline]
pub const fn murmur3(key: u64, seed: u64) -> u64 {
    const LENGTH: u64 = 8;
    let mixed = key.wrapping_mul(0x87c3_7b91_1142_53d5).rotate_left(31).wrapping_mul(0x4cf5_ad43_2745_937f);
    let (a, b) = (seed ^ mixed ^ LENGTH, seed ^ LENGTH);
    let a = a.wrapping_add(b);
    let b = b.wrapping_add(a);
    finish(a).wrapping_add(finish(b))
}

const fn finish(x: u64) -> u64 {
    let x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn has(table: &Table, key: u64) -> bool {
        table.find(table.place(murmur3(key, 0)), |reference| reference == key).is_some()
    }

    proptest! {
        #[test]
        fn holds_what_was_inserted(keys in proptest::collection::btree_set(0u64..5000, 0..400)) {
            // Sixteen lines: most keys lie in chains.
            let table = Table::new(16, 400);
            for key in &keys {
                prop_assert_eq!(table.insert(table.place(murmur3(*key, 0)), *key), Ok(()));
            }
            for key in 0..5000 {
                prop_assert_eq!(has(&table, key), keys.contains(&key));
            }
            table.clear(0, 2);
            table.clear(1, 2);
            prop_assert!((0..5000).all(|key| !has(&table, key)));
        }
    }

    #[test]
    fn threads_insert_beside_each_other() {
        let table = Arc::new(Table::new(16, 1000));
        let threads: Vec<_> = (0..4u64)
            .map(|thread| {
                let table = Arc::clone(&table);
                std::thread::spawn(move || {
                    for key in thread * 500..(thread + 1) * 500 {
                        table.insert(table.place(murmur3(key, 0)), key).unwrap();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let missing: BTreeSet<u64> = (0..2000).filter(|key| !has(&table, *key)).collect();
        assert_eq!(missing, BTreeSet::new());
    }

    #[test]
    fn a_table_without_room_says_so() {
        let table = Table::new(1, 0);
        let place = table.place(7);
        for reference in 0..8 {
            assert_eq!(table.insert(place, reference), Ok(()));
        }
        assert_eq!(table.insert(place, 8), Err(Full));
        assert!(table.replace(place, 3, |reference| reference == 3));
        assert!(!table.replace(place, 9, |reference| reference == 9));
    }

    /// By an independent implementation of MurmurHash3 (x64, 128 bits, seed 0, little-endian keys).
    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(murmur3(0, 0), 0x28df_63b7_cc57_c3cb);
        assert_eq!(murmur3(1, 0), 0x0044_03b7_fb05_c44a);
        assert_eq!(murmur3(0x0123_4567_89ab_cdef, 0), 0x995b_b6c0_3277_035a);
    }
}
