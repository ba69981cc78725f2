//! Amounts on their way into a Count-Min sketch: of few requests they fit into two words a cell, so that adding them
//! takes a third less of the cache and no check in each cell.
//!
//! What is here is in no estimate until it is settled. Amounts so large that they do not fit go to the sketch at once.

use super::sketch::{Amounts, CELLS, CountMin, ROWS, WIDTH, column};

/// Bits of the bytes of a cell; the requests stand above them.
const BYTES: u32 = 44;
const MOST: Amounts = [1 << (u64::BITS - BYTES), 1 << BYTES, u64::MAX];

/// Requests and bytes in one word, and ns.
type Cell = [u64; 2];

/// Amounts that no sketch has yet.
#[derive(Default)]
pub struct Recent {
    /// None until there is something.
    cells: Option<Box<[Cell]>>,
    /// What all cells of a row have together: no cell can have more.
    whole: Amounts,
}

impl Recent {
    /// Adds requests: of each its hash, its bytes and its ns.
    #[inline(always)]
    pub fn add_all(&mut self, requests: [&[u64]; 3], sketch: &mut CountMin) {
        let more = amounts_of(requests);
        if !fits(added(self.whole, more)) {
            self.settle(sketch);
            if !fits(more) {
                return each(requests).for_each(|(hash, amounts)| sketch.add(hash, &amounts));
            }
        }
        self.whole = added(self.whole, more);
        let cells = self.cells.get_or_insert_with(|| vec![[0; 2]; CELLS].into_boxed_slice());
        let (rows, _) = cells.as_chunks_mut::<WIDTH>();
        let ([rows], _) = rows.as_chunks_mut::<ROWS>() else { return };
        for (hash, [_, bytes, time_ns]) in each(requests) {
            let more = [bytes + (1 << BYTES), time_ns];
            for (row, cells) in rows.iter_mut().enumerate() {
                let cell = &mut cells[column(hash, row)];
                *cell = pair::sum(*cell, more);
            }
        }
    }

    /// Adds everything to the sketch; nothing is here then.
    #[inline(never)]
    pub fn settle(&mut self, sketch: &mut CountMin) {
        if self.whole == [0; 3] {
            return;
        }
        self.whole = [0; 3];
        for (place, cell) in self.cells.iter_mut().flatten().enumerate() {
            let [both, time_ns] = std::mem::take(cell);
            if (both, time_ns) != (0, 0) {
                sketch.add_at(place, &[both >> BYTES, both & ((1 << BYTES) - 1), time_ns]);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod pair {
    use std::arch::x86_64::{__m128i, _mm_add_epi64};

    /// Both sums at once, which is one access to the cell instead of two.
    #[expect(unsafe_code, reason = "vectors of any words")]
    #[inline(always)]
    pub fn sum(a: super::Cell, b: super::Cell) -> super::Cell {
        // SAFETY: all are 16 bytes, of which any are a vector and any are words; every x86-64 has SSE2.
        unsafe {
            let [a, b] = [a, b].map(|cell| std::mem::transmute::<super::Cell, __m128i>(cell));
            std::mem::transmute::<__m128i, super::Cell>(_mm_add_epi64(a, b))
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod pair {
    pub fn sum(a: super::Cell, b: super::Cell) -> super::Cell {
        [a[0] + b[0], a[1] + b[1]]
    }
}

/// Hash and amounts of each request.
#[inline(always)]
fn each([hashes, bytes, times_ns]: [&[u64]; 3]) -> impl Iterator<Item = (u64, Amounts)> {
    let amounts = bytes.iter().zip(times_ns).map(|(bytes, time_ns)| [1, *bytes, *time_ns]);
    hashes.iter().copied().zip(amounts)
}

/// What requests have together.
#[inline(always)]
fn amounts_of([hashes, bytes, times_ns]: [&[u64]; 3]) -> Amounts {
    let sum = |values: &[u64]| {
        // All are less than the next power of two.
        let bits = values.iter().fold(0, |bits, value| bits | value);
        if u128::from(bits) * (values.len() as u128) < u128::from(u64::MAX) {
            return values.iter().sum();
        }
        values.iter().fold(0u64, |sum, value| sum.saturating_add(*value))
    };
    [hashes.len() as u64, sum(bytes), sum(times_ns)]
}

fn added(a: Amounts, b: Amounts) -> Amounts {
    [a[0].saturating_add(b[0]), a[1].saturating_add(b[1]), a[2].saturating_add(b[2])]
}

fn fits(whole: Amounts) -> bool {
    whole.iter().zip(MOST).all(|(whole, most)| *whole < most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn by_way_of_it_the_sketch_is_the_same(
            requests in proptest::collection::vec((0u64..300, 0u32..64, any::<u64>()), 1..400),
            batch in 1usize..50,
        ) {
            let hashes: Vec<u64> = requests.iter().map(|(path, _, _)| hash::name(&path.to_le_bytes())).collect();
            let bytes: Vec<u64> = requests.iter().map(|(_, bits, v)| v >> bits).collect();
            let times_ns: Vec<u64> = requests.iter().map(|(_, bits, v)| v.reverse_bits() >> bits).collect();
            let (mut direct, mut by_way, mut recent) = (CountMin::default(), CountMin::default(), Recent::default());
            each([&hashes, &bytes, &times_ns]).for_each(|(hash, amounts)| direct.add(hash, &amounts));
            for from in (0..hashes.len()).step_by(batch) {
                let part = from..(from + batch).min(hashes.len());
                recent.add_all([&hashes[part.clone()], &bytes[part.clone()], &times_ns[part]], &mut by_way);
            }
            recent.settle(&mut by_way);
            prop_assert!(direct == by_way);
            recent.settle(&mut by_way);
            prop_assert!(direct == by_way, "settled twice");
        }
    }
}
