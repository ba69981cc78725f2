//! Log-linear histograms: 2^BITS buckets to each power of two.
//!
//! In: whole numbers, such as nanoseconds or bytes. Out: counts by bucket, quantiles, and an exact sum of two
//! histograms. Values below 2^(BITS+1) have a bucket each; others are known to one part in 2^BITS. A quantile is the
//! middle of a bucket, so at most one part in 2^(BITS+1) off. Values above the highest are counted in the last bucket
//! and as saturated. The load engine's times, the figures of logs and the stored histogram ([`crate::Histogram`],
//! 10 bits) have the same borders. Serialized, a histogram is the list of its buckets that hold something.

use serde::{Deserialize, Serialize};

/// The bucket of a value.
#[inline(always)]
pub const fn index_of<const BITS: u32>(value: u64) -> usize {
    let fine = (1u64 << (BITS + 1)) - 1;
    let bucket = u64::BITS - 1 - (value | fine).leading_zeros() - BITS;
    ((bucket as usize) << BITS) + (value >> bucket) as usize
}

/// The lowest value of a bucket.
#[inline(always)]
pub const fn lowest_of<const BITS: u32>(index: usize) -> u64 {
    let bucket = (index >> BITS).saturating_sub(1);
    ((index - (bucket << BITS)) as u64) << bucket
}

/// The buckets that hold something: for each how many empty ones are before it, and its count.
fn gaps(counts: &[u64]) -> Vec<(u32, u64)> {
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
fn from_gaps(gaps: Vec<(u32, u64)>) -> impl Iterator<Item = (usize, u64)> {
    let mut next = 0usize;
    gaps.into_iter().map(move |(gap, count)| {
        let index = next.saturating_add(gap as usize);
        next = index.saturating_add(1);
        (index, count)
    })
}

/// The highest value of so many bits.
pub const fn highest_of(bits: u32) -> u64 {
    u64::MAX >> (u64::BITS - bits)
}

/// Counts of values by bucket. Two are equal when they hold the same values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Sparse", into = "Sparse")]
pub struct LogLinear<const BITS: u32, const HIGHEST: u64> {
    /// Up to the last bucket of the power of two of the highest value that there ever was.
    counts: Vec<u64>,
    saturated: u64,
    total: u64,
}

/// The bits that any of the values has. No value is above the result.
#[inline(always)]
pub fn union(values: &[u64]) -> u64 {
    values.iter().fold(0, |bits, value| bits | value)
}

/// One bucket that holds something: the values from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    pub low: u64,
    pub high: u64,
    pub count: u64,
}

impl<const BITS: u32, const HIGHEST: u64> LogLinear<BITS, HIGHEST> {
    pub const HIGHEST: u64 = HIGHEST;
    /// The largest relative error of a value that is given back.
    pub const ERROR: f64 = 1.0 / (1u64 << (BITS + 1)) as f64;
    /// Number of buckets up to that of the highest value.
    pub const LEN: usize = Self::index_of(HIGHEST) + 1;

    /// An empty histogram with room for every value: recording never allocates.
    pub fn with_room() -> Self {
        Self { counts: vec![0; Self::LEN], saturated: 0, total: 0 }
    }

    /// The bucket of a value; values above the highest have to be limited to it first.
    #[inline(always)]
    pub const fn index_of(value: u64) -> usize {
        index_of::<BITS>(value)
    }

    pub const fn lowest_of(index: usize) -> u64 {
        lowest_of::<BITS>(index)
    }

    /// Counts a value.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        let index = Self::index_of(value.min(HIGHEST));
        if index >= self.counts.len() {
            self.grow(index);
        }
        self.saturated += u64::from(value > HIGHEST);
        self.counts[index] += 1;
        self.total += 1;
    }

    /// Counts values, in less time than one by one.
    #[inline(always)]
    pub fn record_all(&mut self, values: &[u64]) {
        // Its power of two is that of the highest of them.
        let bits = union(values);
        if bits > HIGHEST || values.is_empty() {
            return values.iter().for_each(|value| self.record(*value));
        }
        let last = Self::index_of(bits);
        if last >= self.counts.len() {
            self.grow(last);
        }
        let counts = &mut self.counts[..];
        for &value in values {
            counts[Self::index_of(value)] += 1;
        }
        self.total += values.len() as u64;
    }

    /// Adds `count` values of one bucket, none of them above the highest.
    #[cold]
    #[inline(never)]
    pub fn add(&mut self, bucket: usize, count: u64) {
        if bucket >= self.counts.len() {
            self.grow(bucket);
        }
        self.counts[bucket] += count;
        self.total += count;
    }

    /// Adds `count` values above the highest.
    pub fn add_saturated(&mut self, count: u64) {
        self.saturated += count;
        self.add(Self::LEN - 1, count);
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.counts.resize((index | ((1 << BITS) - 1)) + 1, 0);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.saturated = self.saturated.saturating_add(other.saturated);
        self.total = self.total.saturating_add(other.total);
    }

    /// Number of values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of values above the highest.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The buckets that hold something, by rising value.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let of = |(index, &count): (usize, &u64)| Bin {
            low: Self::lowest_of(index),
            high: Self::lowest_of(index + 1) - 1,
            count,
        };
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(of)
    }

    /// The value at quantile `q` (0 to 1): the middle of its bucket, or the highest value if it is above that. `None`
    /// when empty.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q.clamp(0.0, 1.0) * self.total as f64).ceil() as u64).clamp(1, self.total.max(1));
        if self.saturated > 0 && rank > self.total.saturating_sub(self.saturated) {
            return Some(HIGHEST);
        }
        let mut below = 0u64;
        self.bins().find_map(|bin| {
            below = below.saturating_add(bin.count);
            (below >= rank).then(|| bin.low + (bin.high - bin.low) / 2)
        })
    }
}

impl<const BITS: u32, const HIGHEST: u64> PartialEq for LogLinear<BITS, HIGHEST> {
    fn eq(&self, other: &Self) -> bool {
        self.saturated == other.saturated && self.bins().eq(other.bins())
    }
}

impl<const BITS: u32, const HIGHEST: u64> Eq for LogLinear<BITS, HIGHEST> {}

/// The serialized form: for each bucket that holds something the number of empty ones before it, and its count.
#[derive(Serialize, Deserialize)]
struct Sparse {
    saturated: u64,
    buckets: Vec<(u32, u64)>,
}

impl<const BITS: u32, const HIGHEST: u64> From<LogLinear<BITS, HIGHEST>> for Sparse {
    fn from(from: LogLinear<BITS, HIGHEST>) -> Sparse {
        Sparse { saturated: from.saturated, buckets: gaps(&from.counts) }
    }
}

impl<const BITS: u32, const HIGHEST: u64> TryFrom<Sparse> for LogLinear<BITS, HIGHEST> {
    type Error = &'static str;

    fn try_from(sparse: Sparse) -> Result<Self, &'static str> {
        let mut into = Self { saturated: sparse.saturated, ..Self::default() };
        for (index, count) in from_gaps(sparse.buckets) {
            if index >= Self::LEN {
                return Err("a value beyond the highest");
            }
            if count == 0 {
                return Err("an empty bucket");
            }
            into.grow(index);
            into.counts[index] = count;
            into.total = into.total.checked_add(count).ok_or("too many values")?;
        }
        if into.saturated > into.counts.get(Self::LEN - 1).copied().unwrap_or(0) {
            return Err("more values are over the highest than there are");
        }
        Ok(into)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Ten = LogLinear<10, { highest_of(42) }>;
    type Four = LogLinear<4, { highest_of(42) }>;

    fn of(values: &[u64]) -> Ten {
        let (mut all, mut together) = (Ten::default(), Ten::default());
        values.iter().for_each(|&value| all.record(value));
        values.chunks(7).for_each(|some| together.record_all(some));
        assert_eq!(all, together);
        all
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((0u32..64, any::<u64>()).prop_map(|(bits, v)| v >> bits), 0..120)
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(values in values(), cut in 0usize..120) {
            let (left, right) = values.split_at(cut.min(values.len()));
            let (mut one, mut two) = (of(left), of(right));
            one.merge(&of(right));
            two.merge(&of(left));
            let whole = of(&values);
            let bytes = postcard::to_stdvec(&whole).unwrap();
            prop_assert_eq!(&postcard::to_stdvec(&one).unwrap(), &bytes);
            prop_assert_eq!(&postcard::to_stdvec(&two).unwrap(), &bytes);
            let back: Ten = postcard::from_bytes(&bytes).unwrap();
            prop_assert_eq!((back.total(), back.saturated()), (whole.total(), whole.saturated()));
            prop_assert_eq!(back.quantile(0.9), whole.quantile(0.9));
        }

        #[test]
        fn quantiles_are_within_the_stated_error(mut values in values(), q in 0.0f64..1.0) {
            values.retain(|value| *value <= Ten::HIGHEST);
            prop_assume!(!values.is_empty());
            let found = of(&values).quantile(q).unwrap() as f64;
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            prop_assert!((found - exact).abs() <= Ten::ERROR * exact + 0.5, "{found} for {exact}");
        }

        #[test]
        fn times_have_the_buckets_of_the_stored_histogram(values in values()) {
            let mut stored = crate::Histogram::default();
            let mut again = crate::Histogram::default();
            for &value in values.iter().filter(|value| (1..=crate::histogram::HIGHEST_NS).contains(*value)) {
                stored.record(value);
                let index = Ten::index_of(value);
                again.record(Ten::lowest_of(index));
            }
            prop_assert_eq!(stored, again);
        }
    }

    #[test]
    fn buckets_join_without_gap() {
        for index in 0..Four::LEN {
            assert_eq!(Four::index_of(Four::lowest_of(index)), index);
            assert_eq!(Four::index_of(Four::lowest_of(index + 1) - 1), index);
        }
        assert_eq!(Four::index_of(Four::HIGHEST), Four::LEN - 1);
    }

    #[test]
    fn what_is_above_the_highest_is_at_least_that() {
        let all = of(&[1, 2, Ten::HIGHEST - 1, u64::MAX]);
        assert_eq!((all.quantile(0.5), all.quantile(1.0)), (Some(2), Some(Ten::HIGHEST)));
        assert!(all.quantile(0.75) < Some(Ten::HIGHEST), "{all:?}");
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(of(&[]).quantile(0.5), None);
    }

    #[test]
    fn damage_is_refused() {
        let refused = |sparse: Sparse| Four::try_from(sparse).is_err();
        assert!(refused(Sparse { saturated: 0, buckets: vec![(u32::MAX, 1)] }));
        assert!(refused(Sparse { saturated: 0, buckets: vec![(0, u64::MAX), (0, 1)] }));
        assert!(refused(Sparse { saturated: 1, buckets: vec![(0, 1)] }));
        assert!(refused(Sparse { saturated: 0, buckets: vec![(0, 0)] }));
    }

    #[test]
    fn gaps_are_read_back() {
        let counts = [0, 0, 5, 1, 0, 7, 0];
        assert_eq!(gaps(&counts), [(2, 5), (0, 1), (1, 7)]);
        assert_eq!(from_gaps(gaps(&counts)).collect::<Vec<_>>(), [(2, 5), (3, 1), (5, 7)]);
        assert_eq!(from_gaps(vec![(u32::MAX, 1)]).next(), Some((u32::MAX as usize, 1)));
    }
}
