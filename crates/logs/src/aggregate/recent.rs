//! Amounts on their way into a Count-Min sketch: of few requests they fit into one word a cell, so that all cells lie
//! in the second cache.
//!
//! Counts here are in no estimate until they are settled. A cell that is nearly full, and a request that is too large
//! for one, go to the sketch at once.

use super::sketch::{Amounts, CELLS, CountMin, ROWS, WIDTH, column};

/// Bits of the ns and of the bytes of a cell; the requests stand above them.
const TIME: u32 = 31;
const BYTES: u32 = 24;
/// The highest bit of each of them: without these, there is room for a request that has none of them either.
const FULL: u64 = 1 << (u64::BITS - 1) | 1 << (TIME + BYTES - 1) | 1 << (TIME - 1);

/// Amounts that no sketch has yet.
#[derive(Default)]
pub struct Recent {
    /// None until there is something.
    cells: Option<Box<[u64]>>,
}

impl Recent {
    /// Adds requests: of each its hash, its bytes and its ns.
    #[inline(always)]
    pub fn add_all(&mut self, requests: [&[u64]; 3], sketch: &mut CountMin) {
        let cells = self.cells.get_or_insert_with(|| vec![0; CELLS].into_boxed_slice());
        let (rows, _) = cells.as_chunks_mut::<WIDTH>();
        let ([rows], _) = rows.as_chunks_mut::<ROWS>() else { return };
        for (hash, amounts) in each(requests) {
            let [requests, bytes, time_ns] = amounts;
            if bytes >> (BYTES - 1) != 0 || time_ns >> (TIME - 1) != 0 {
                sketch.add(hash, &amounts);
                continue;
            }
            let more = requests << (TIME + BYTES) | bytes << TIME | time_ns;
            for (row, cells) in rows.iter_mut().enumerate() {
                let cell = &mut cells[column(hash, row)];
                *cell += more;
                if *cell & FULL != 0 {
                    spill(cell, row * WIDTH + column(hash, row), sketch);
                }
            }
        }
    }

    /// Adds everything to the sketch; nothing is here then.
    #[inline(never)]
    pub fn settle(&mut self, sketch: &mut CountMin) {
        for (place, cell) in self.cells.iter_mut().flatten().enumerate().filter(|(_, cell)| **cell != 0) {
            spill(cell, place, sketch);
        }
    }
}

/// Adds what one cell has to the sketch.
#[cold]
#[inline(never)]
fn spill(cell: &mut u64, place: usize, sketch: &mut CountMin) {
    let all = std::mem::take(cell);
    let low = |word: u64, bits: u32| word & ((1 << bits) - 1);
    sketch.add_at(place, &[all >> (TIME + BYTES), low(all >> TIME, BYTES), low(all, TIME)]);
}

/// Hash and amounts of each request.
#[inline(always)]
fn each([hashes, bytes, times_ns]: [&[u64]; 3]) -> impl Iterator<Item = (u64, Amounts)> {
    let amounts = bytes.iter().zip(times_ns).map(|(bytes, time_ns)| [1, *bytes, *time_ns]);
    hashes.iter().copied().zip(amounts)
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
            paths in prop_oneof![Just(1u64), 1u64..300],
            bits in prop_oneof![0..64u32, 30..50u32],
            requests in proptest::collection::vec((any::<u64>(), 0u32..14, any::<u64>()), 1..900),
            batch in 1usize..50,
        ) {
            let hash = |path: u64| hash::name(&(path % paths).to_le_bytes());
            let hashes: Vec<u64> = requests.iter().map(|(path, _, _)| hash(*path)).collect();
            let less = |less: u32, value: u64| value >> (bits + less).min(63);
            let bytes: Vec<u64> = requests.iter().map(|(_, bits, v)| less(*bits, *v)).collect();
            let times_ns: Vec<u64> = requests.iter().map(|(_, bits, v)| less(*bits, v.reverse_bits())).collect();
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
