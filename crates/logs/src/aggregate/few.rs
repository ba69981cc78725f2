//! Counts on their way into a log-linear histogram: a byte a bucket, so that those that are counted in lie in the first
//! cache. A byte that is full goes to the histogram; what is here is in it once it is settled.

use model::log_linear::{LogLinear, union};

/// The count of a byte that has just overflowed to 0.
const FULL: u64 = 1 << u8::BITS;
/// Bytes of which it is asked together whether there is something in them.
const CHUNK: usize = 32;

/// Counts that are not in a histogram yet.
#[derive(Debug, Default)]
pub struct Few<const BITS: u32, const HIGHEST: u64> {
    /// None until there is something.
    counts: Vec<u8>,
}

impl<const BITS: u32, const HIGHEST: u64> Few<BITS, HIGHEST> {
    /// Counts values; those beyond the highest are recorded at once.
    #[inline(always)]
    pub fn record_all(&mut self, values: &[u64], to: &mut LogLinear<BITS, HIGHEST>) {
        if union(values) > HIGHEST {
            return to.record_all(values);
        }
        if self.counts.is_empty() {
            self.counts = vec![0; LogLinear::<BITS, HIGHEST>::LEN.next_multiple_of(CHUNK)];
        }
        let counts = &mut self.counts[..];
        for &value in values {
            let bucket = LogLinear::<BITS, HIGHEST>::index_of(value);
            counts[bucket] = counts[bucket].wrapping_add(1);
            if counts[bucket] == 0 {
                to.add(bucket, FULL);
            }
        }
    }

    /// Adds everything to the histogram; nothing is here then.
    #[inline(never)]
    pub fn settle(&mut self, to: &mut LogLinear<BITS, HIGHEST>) {
        let chunks = self.counts.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate();
        for (place, chunk) in chunks.filter(|(_, chunk)| **chunk != [0; CHUNK]) {
            for (at, count) in chunk.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                to.add(place * CHUNK + at, u64::from(std::mem::take(count)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::log_linear::highest_of;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn by_way_of_it_the_histogram_is_the_same(
            bits in 1u32..64,
            values in proptest::collection::vec(any::<u64>(), 0..1500),
            batch in 1usize..400,
            different in prop_oneof![Just(3u64), any::<u64>()],
        ) {
            let shorter = |value: &u64| (value % different.max(1)) >> (64 - bits).min(62);
            let values: Vec<u64> = values.iter().map(shorter).collect();
            let mut direct = LogLinear::<10, { highest_of(42) }>::default();
            let mut by_way = direct.clone();
            let mut few = Few::default();
            values.iter().for_each(|value| direct.record(*value));
            for some in values.chunks(batch) {
                few.record_all(some, &mut by_way);
            }
            few.settle(&mut by_way);
            prop_assert_eq!(&by_way, &direct);
            few.settle(&mut by_way);
            prop_assert_eq!(&by_way, &direct, "settled twice");
        }
    }
}
