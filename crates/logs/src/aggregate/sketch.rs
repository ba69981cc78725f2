//! How much each path has, for any number of paths: a Count-Min sketch of requests, bytes and time (ns).
//!
//! Additive (never updated conservatively), so it merges exactly. An estimate is never too low; it is too high by more
//! than e/8192 of the whole (0.033 %) with a chance of at most e^-4 (2 %).

use serde::{Deserialize, Serialize};

pub(super) const ROWS: usize = 4;
const BITS: u32 = 13;
pub(super) const WIDTH: usize = 1 << BITS;
pub(super) const CELLS: usize = ROWS * WIDTH;

/// Requests, bytes, nanoseconds; each stays at the highest number rather than wrap.
pub type Amounts = [u64; 3];

/// Amounts by hash of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Sparse", into = "Sparse")]
pub struct CountMin {
    cells: Box<[Amounts; CELLS]>,
}

impl Default for CountMin {
    fn default() -> CountMin {
        let cells: Box<[Amounts]> = vec![[0; 3]; CELLS].into_boxed_slice();
        CountMin { cells: cells.try_into().expect("as many cells as were just made") }
    }
}

#[inline]
fn add(to: &mut Amounts, amounts: &Amounts) {
    for (mine, theirs) in to.iter_mut().zip(amounts) {
        *mine = mine.saturating_add(*theirs);
    }
}

/// Where a row keeps what has this hash.
#[inline(always)]
pub(super) fn column(hash: u64, row: usize) -> usize {
    (hash >> (row as u32 * BITS)) as usize & (WIDTH - 1)
}

#[inline]
fn place(hash: u64, row: usize) -> usize {
    (row << BITS) | column(hash, row)
}

impl CountMin {
    /// The share of the whole by which an estimate may be too high.
    pub const ERROR: f64 = std::f64::consts::E / WIDTH as f64;

    /// Adds amounts by hash.
    pub fn add(&mut self, hash: u64, amounts: &Amounts) {
        for row in 0..ROWS {
            add(&mut self.cells[place(hash, row)], amounts);
        }
    }

    /// Adds amounts to one cell of all, counted row by row.
    #[inline(always)]
    pub(super) fn add_at(&mut self, cell: usize, amounts: &Amounts) {
        add(&mut self.cells[cell], amounts);
    }

    pub fn merge(&mut self, other: &CountMin) {
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells[..]) {
            add(mine, theirs);
        }
    }

    /// At least what was added with this hash.
    pub fn estimate(&self, hash: u64) -> Amounts {
        let mut least = [u64::MAX; 3];
        for row in 0..ROWS {
            for (least, cell) in least.iter_mut().zip(&self.cells[place(hash, row)]) {
                *least = (*least).min(*cell);
            }
        }
        least
    }
}

/// The cells that hold something: the gap from the one before, and the amounts.
#[derive(Serialize, Deserialize)]
struct Sparse(Vec<(u32, Amounts)>);

impl From<CountMin> for Sparse {
    fn from(from: CountMin) -> Sparse {
        let mut cells = Vec::new();
        let mut next = 0;
        for (index, amounts) in from.cells.iter().enumerate().filter(|(_, amounts)| **amounts != [0; 3]) {
            cells.push(((index - next) as u32, *amounts));
            next = index + 1;
        }
        Sparse(cells)
    }
}

impl TryFrom<Sparse> for CountMin {
    type Error = &'static str;

    fn try_from(sparse: Sparse) -> Result<CountMin, &'static str> {
        let mut into = CountMin::default();
        let mut next = 0usize;
        for (gap, amounts) in sparse.0 {
            let index = next.saturating_add(gap as usize);
            *into.cells.get_mut(index).ok_or("a cell beyond the last")? = amounts;
            next = index + 1;
        }
        Ok(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn key(n: u64) -> u64 {
        hash::name(&n.to_le_bytes())
    }

    #[test]
    fn estimates_are_never_low_and_seldom_high() {
        let mut sketch = CountMin::default();
        let (paths, mut whole) = (50_000u64, 0u64);
        let amount = |n: u64| 1 + 100_000 / (n + 1);
        for n in 0..paths {
            sketch.add(key(n), &[amount(n), 7, u64::MAX / 4]);
            whole += amount(n);
        }
        let allowed = (CountMin::ERROR * whole as f64) as u64;
        let too_high = (0..paths).filter(|&n| {
            let [requests, _, time] = sketch.estimate(key(n));
            assert!(requests >= amount(n) && time >= u64::MAX / 4);
            requests > amount(n) + allowed
        });
        assert!((too_high.count() as f64) < 0.02 * paths as f64);
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        let (mut all, mut one, mut two) = (CountMin::default(), CountMin::default(), CountMin::default());
        for n in 0..2000u64 {
            let amounts = [1, n, u64::MAX / (n + 1)];
            all.add(key(n % 700), &amounts);
            if n % 3 == 0 { &mut one } else { &mut two }.add(key(n % 700), &amounts);
        }
        let mut other = two.clone();
        other.merge(&one);
        one.merge(&two);
        assert_eq!(one, all);
        assert_eq!(other, all);
        let bytes = postcard::to_stdvec(&all).unwrap();
        assert_eq!(postcard::from_bytes::<CountMin>(&bytes).unwrap(), all);
        assert!(CountMin::try_from(Sparse(vec![(u32::MAX, [1; 3])])).is_err());
    }
}
