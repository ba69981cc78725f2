//! The buckets of log-linear histograms: 2^BITS to each power of two.
//!
//! What goes in: a value. What comes out: the number of its bucket, and back the lowest value of a bucket. Values below
//! 2^(BITS+1) have a bucket each; others are known to one part in 2^BITS. The load engine's recorder, the histograms of
//! logs and the one that is stored ([`crate::Histogram`], 10 bits) have these borders, so that counts move between them
//! exactly. Counts travel as [`gaps`]: only the buckets that hold something.

/// The bucket of a value.
#[inline(always)]
#[must_use]
pub const fn index_of<const BITS: u32>(value: u64) -> usize {
    let fine = (1u64 << (BITS + 1)) - 1;
    let bucket = u64::BITS - 1 - (value | fine).leading_zeros() - BITS;
    ((bucket as usize) << BITS) + (value >> bucket) as usize
}

/// The lowest value of a bucket.
#[inline(always)]
#[must_use]
pub const fn lowest_of<const BITS: u32>(index: usize) -> u64 {
    let bucket = (index >> BITS).saturating_sub(1);
    ((index - (bucket << BITS)) as u64) << bucket
}

/// The buckets that hold something: for each how many empty ones are before it, and its count.
#[must_use]
pub fn gaps(counts: &[u64]) -> Vec<(u32, u64)> {
    let mut next = 0;
    let full = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    full.map(|(index, &count)| {
        let gap = u32::try_from(index - next).unwrap_or(u32::MAX);
        next = index + 1;
        (gap, count)
    })
    .collect()
}

/// The inverse of [`gaps`]: each bucket that holds something, and its count. What came from elsewhere may name any
/// bucket.
pub fn from_gaps(gaps: Vec<(u32, u64)>) -> impl Iterator<Item = (usize, u64)> {
    let mut next = 0usize;
    gaps.into_iter().map(move |(gap, count)| {
        let index = next.saturating_add(gap as usize);
        next = index.saturating_add(1);
        (index, count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_join_without_gap() {
        for index in 0..20_000 {
            assert_eq!(index_of::<10>(lowest_of::<10>(index)), index);
            assert_eq!(index_of::<4>(lowest_of::<4>(index % 900)), index % 900);
            assert_eq!(index_of::<10>(lowest_of::<10>(index + 1) - 1), index);
        }
    }

    #[test]
    fn gaps_are_read_back() {
        let counts = [0, 0, 5, 1, 0, 7, 0];
        assert_eq!(gaps(&counts), [(2, 5), (0, 1), (1, 7)]);
        assert_eq!(from_gaps(gaps(&counts)).collect::<Vec<_>>(), [(2, 5), (3, 1), (5, 7)]);
        assert_eq!(from_gaps(vec![(u32::MAX, 1)]).next(), Some((u32::MAX as usize, 1)));
    }
}
