//! Memory parts: sorting strings, bit fields, the assignment problem.
//!
//! All fit the caches (tens of KiB); main memory has instruments of its own.
//! - `string-sort`: pointers to 1024 strings of 4 to 35 bytes, by quicksort; one operation is one of the
//!   n log2 n comparisons that sorting needs.
//! - `bit-field`: 2000 runs of bits set, cleared or flipped in a map of 32 KiB; one operation is one bit.
//! - `assignment`: the cheapest assignment of 64 tasks to 64 workers by shortest augmenting paths; one
//!   operation is one of the n^3 cost look-ups that the method may need.

use model::Fault;

use super::integer::quicksort_by;
use super::{Part, digest};
use crate::bench::kernels::random::Random;
use crate::bench::kernels::{copy, wipe};

/// The memory parts. Fails when a part's result is wrong.
pub fn parts(seed: u64) -> Result<Vec<Part>, Fault> {
    Ok(vec![string_sort(seed)?, bit_field(seed)?, assignment(seed)?])
}

/// Byte by byte: the comparison must be ours, not the C library's.
fn before(a: &[u8], b: &[u8]) -> bool {
    for (x, y) in a.iter().zip(b) {
        if x != y {
            return x < y;
        }
    }
    a.len() < b.len()
}

fn string_sort(seed: u64) -> Result<Part, Fault> {
    const COUNT: usize = 1024;
    let mut random = Random::new(seed);
    let mut pool: Vec<u8> = Vec::new();
    let mut start: Vec<(usize, usize)> = Vec::new();
    for _ in 0..COUNT {
        let from = pool.len();
        let length = 4 + random.below(32);
        // Few letters make long common beginnings.
        pool.extend((0..length).map(|_| b'a' + u8::from(random.next() >> 62 == 0)));
        start.push((from, pool.len()));
    }
    let mut sorted = start.clone();
    let less =
        move |pool: &[u8], a: (usize, usize), b: (usize, usize)| before(&pool[a.0..a.1], &pool[b.0..b.1]);
    quicksort_by(&mut sorted, &|a, b| less(&pool, a, b));
    let in_order = sorted.windows(2).all(|pair| !less(&pool, pair[1], pair[0]));
    let sum = |items: &[(usize, usize)]| items.iter().map(|(from, _)| from).sum::<usize>();
    let proof = in_order && sum(&sorted) == sum(&start);
    let work = Box::new(move || {
        copy(&mut sorted, &start);
        quicksort_by(&mut sorted, &|a, b| less(&pool, a, b));
        digest(sorted.iter().step_by(16).map(|(from, _)| *from as u64))
    });
    Part::proved("string-sort", 1024.0 * 10.0, 5, work, proof)
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Set,
    Clear,
    Flip,
}

/// Changes the bits from `from` on, `count` of them, a word at a time where whole words are covered.
fn change(map: &mut [u64], from: usize, count: usize, change: Change) {
    let (mut at, end) = (from, from + count);
    while at < end {
        let (word, bit) = (at / 64, at % 64);
        let here = (64 - bit).min(end - at);
        let ones = if here == 64 { u64::MAX } else { ((1u64 << here) - 1) << bit };
        match change {
            Change::Set => map[word] |= ones,
            Change::Clear => map[word] &= !ones,
            Change::Flip => map[word] ^= ones,
        }
        at += here;
    }
}

fn bit_field(seed: u64) -> Result<Part, Fault> {
    const BITS: usize = 32 * 1024 * 8;
    let mut random = Random::new(seed);
    let mut number = |below: usize| usize::try_from(random.below(below as u64)).unwrap_or(0);
    let runs: Vec<(usize, usize, Change)> = (0..2000)
        .map(|_| {
            let count = 1 + number(500);
            let kind = [Change::Set, Change::Clear, Change::Flip][number(3)];
            (number(BITS - count), count, kind)
        })
        .collect();
    let mut map = vec![0u64; BITS / 64];
    let mut slow = vec![false; BITS];
    for (from, count, kind) in &runs {
        change(&mut map, *from, *count, *kind);
        for bit in &mut slow[*from..from + count] {
            *bit = match kind {
                Change::Set => true,
                Change::Clear => false,
                Change::Flip => !*bit,
            };
        }
    }
    let proof = slow.iter().enumerate().all(|(at, bit)| (map[at / 64] >> (at % 64) & 1 == 1) == *bit);
    let bits: f64 = runs.iter().map(|(_, count, _)| crate::bench::kernel::float(*count)).sum();
    let work = Box::new(move || {
        wipe(&mut map, 0);
        for (from, count, kind) in &runs {
            change(&mut map, *from, *count, *kind);
        }
        digest(map.iter().step_by(7).copied())
    });
    Part::proved("bit-field", bits, 28, work, proof)
}

const TASKS: usize = 64;
/// No cost comes near it.
const FAR: i64 = i64::MAX / 4;

/// The state of the assignment method; row and column 0 stand for `nobody`.
struct Assignment {
    cost: Vec<i64>,
    row_price: Vec<i64>,
    column_price: Vec<i64>,
    /// The row that has each column.
    owner: Vec<usize>,
    from: Vec<usize>,
    slack: Vec<i64>,
    done: Vec<bool>,
}

impl Assignment {
    fn new(seed: u64) -> Assignment {
        let mut random = Random::new(seed);
        let cost = (0..TASKS * TASKS).map(|_| i64::try_from(random.below(10_000)).unwrap_or(0)).collect();
        Assignment {
            cost,
            row_price: vec![0; TASKS + 1],
            column_price: vec![0; TASKS + 1],
            owner: vec![0; TASKS + 1],
            from: vec![0; TASKS + 1],
            slack: vec![0; TASKS + 1],
            done: vec![false; TASKS + 1],
        }
    }

    fn cost(&self, row: usize, column: usize) -> i64 {
        self.cost[(row - 1) * TASKS + column - 1]
    }

    /// The least total cost.
    fn solve(&mut self) -> i64 {
        wipe(&mut self.row_price, 0);
        wipe(&mut self.column_price, 0);
        wipe(&mut self.owner, 0);
        wipe(&mut self.from, 0);
        for row in 1..=TASKS {
            self.place(row);
        }
        (1..=TASKS).map(|column| self.cost(self.owner[column], column)).sum()
    }

    /// Gives `row` a column, moving others along the cheapest chain.
    fn place(&mut self, row: usize) {
        self.owner[0] = row;
        wipe(&mut self.slack, FAR);
        wipe(&mut self.done, false);
        let mut column = 0;
        while self.owner[column] != 0 {
            self.done[column] = true;
            column = self.nearest(column);
        }
        while column != 0 {
            let before = self.from[column];
            self.owner[column] = self.owner[before];
            column = before;
        }
    }

    /// The column that costs least to reach next; prices move by that much.
    fn nearest(&mut self, column: usize) -> usize {
        let row = self.owner[column];
        let (mut step, mut next) = (FAR, 0);
        for other in 1..=TASKS {
            if self.done[other] {
                continue;
            }
            let reduced = self.cost(row, other) - self.row_price[row] - self.column_price[other];
            if reduced < self.slack[other] {
                self.slack[other] = reduced;
                self.from[other] = column;
            }
            if self.slack[other] < step {
                step = self.slack[other];
                next = other;
            }
        }
        for other in 0..=TASKS {
            if self.done[other] {
                self.row_price[self.owner[other]] += step;
                self.column_price[other] -= step;
            } else {
                self.slack[other] -= step;
            }
        }
        next
    }

    /// Every task has its own worker, and prices that no pair undercuts add up to the cost: no assignment
    /// can be cheaper.
    fn is_optimal(&self, total: i64) -> bool {
        let mut owners = self.owner[1..].to_vec();
        owners.sort_unstable();
        let pairs = (1..=TASKS).flat_map(|row| (1..=TASKS).map(move |column| (row, column)));
        let prices = |row: usize, column: usize| self.row_price[row] + self.column_price[column];
        let sum: i64 = (1..=TASKS).map(|at| prices(at, at)).sum();
        owners.iter().copied().eq(1..=TASKS)
            && sum == total
            && pairs.into_iter().all(|(row, column)| prices(row, column) <= self.cost(row, column))
    }
}

fn assignment(seed: u64) -> Result<Part, Fault> {
    let mut problem = Assignment::new(seed);
    let total = problem.solve();
    let proof = problem.is_optimal(total);
    let work = Box::new(move || {
        let total = problem.solve();
        digest(problem.owner.iter().map(|row| *row as u64).chain([total.unsigned_abs()]))
    });
    Part::proved("assignment", 64.0 * 64.0 * 64.0, 6, work, proof)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strings_compare_as_slices_do(a in "[ab]{0,9}", b in "[ab]{0,9}") {
            prop_assert_eq!(before(a.as_bytes(), b.as_bytes()), a < b);
        }

        #[test]
        fn assignments_are_optimal(seed: u64) {
            let mut problem = Assignment::new(seed);
            let total = problem.solve();
            prop_assert!(problem.is_optimal(total));
            prop_assert!(!problem.is_optimal(total + 1));
        }

        #[test]
        fn two_flips_are_none(from in 0usize..900, count in 0usize..120, map: [u64; 16]) {
            let mut changed = map;
            change(&mut changed, from, count, Change::Flip);
            let differing: u32 = map.iter().zip(&changed).map(|(a, b)| (a ^ b).count_ones()).sum();
            prop_assert_eq!(differing as usize, count);
            change(&mut changed, from, count, Change::Flip);
            prop_assert_eq!(changed, map);
        }
    }
}
