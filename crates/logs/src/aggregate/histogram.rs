//! A log-linear histogram of whole numbers that merges exactly: 2^BITS buckets to each power of two.
//!
//! Its buckets are those of `model::log_linear`, as in the load engine's recorder. Values below 2^(BITS+1) are exact;
//! others are known to one part in 2^BITS, and what is given back is the middle of a bucket, so at most one part in
//! 2^(BITS+1) off. Values above the highest stand in the last bucket and are counted as saturated.

use model::log_linear;
use serde::{Deserialize, Serialize};

/// Counts of values by bucket; `MAX_BITS` is how many bits the highest value has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Sparse", into = "Sparse")]
pub struct LogLinear<const BITS: u32, const MAX_BITS: u32> {
    /// Up to the last bucket of the power of two of the highest value that there ever was.
    counts: Vec<u64>,
    saturated: u64,
    total: u64,
}

/// The bits that any of the values has: all are below the next power of two.
#[inline(always)]
pub(super) fn union(values: &[u64]) -> u64 {
    values.iter().fold(0, |bits, value| bits | value)
}

/// One bucket that holds something: the values from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    pub low: u64,
    pub high: u64,
    pub count: u64,
}

impl<const BITS: u32, const MAX_BITS: u32> LogLinear<BITS, MAX_BITS> {
    pub const HIGHEST: u64 = u64::MAX >> (u64::BITS - MAX_BITS);
    /// The largest relative error of a value that is given back.
    pub const ERROR: f64 = 1.0 / (1u64 << (BITS + 1)) as f64;
    pub(super) const LEN: usize = Self::index_of(Self::HIGHEST) + 1;

    #[inline(always)]
    pub(super) const fn index_of(value: u64) -> usize {
        log_linear::index_of::<BITS>(value)
    }

    const fn lowest_of(index: usize) -> u64 {
        log_linear::lowest_of::<BITS>(index)
    }

    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        let index = Self::index_of(value.min(Self::HIGHEST));
        if index >= self.counts.len() {
            self.grow(index);
        }
        self.saturated += u64::from(value > Self::HIGHEST);
        self.counts[index] += 1;
        self.total += 1;
    }

    /// The same as each of them alone, in less time.
    #[inline(always)]
    pub fn record_all(&mut self, values: &[u64]) {
        // Its power of two is that of the highest of them.
        let bits = union(values);
        if bits > Self::HIGHEST || values.is_empty() {
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

    /// Adds values of one bucket, none of them beyond the highest.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, bucket: usize, count: u64) {
        if bucket >= self.counts.len() {
            self.grow(bucket);
        }
        self.counts[bucket] += count;
        self.total += count;
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.counts.resize((index | ((1 << BITS) - 1)) + 1, 0);
    }

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

    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many values were above the highest one.
    #[must_use]
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// What was recorded, by rising value.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let of = |(index, &count): (usize, &u64)| Bin {
            low: Self::lowest_of(index),
            high: Self::lowest_of(index + 1) - 1,
            count,
        };
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(of)
    }

    /// The value below or at which a share `q` of all values lies (the middle of its bucket); none when empty, and
    /// the highest where it lies among those above it.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q.clamp(0.0, 1.0) * self.total as f64).ceil() as u64).clamp(1, self.total.max(1));
        if self.saturated > 0 && rank > self.total.saturating_sub(self.saturated) {
            return Some(Self::HIGHEST);
        }
        let mut below = 0u64;
        self.bins().find_map(|bin| {
            below = below.saturating_add(bin.count);
            (below >= rank).then(|| bin.low + (bin.high - bin.low) / 2)
        })
    }
}

/// The buckets that hold something: for each the gap from the one before, and its count.
#[derive(Serialize, Deserialize)]
struct Sparse {
    saturated: u64,
    buckets: Vec<(u32, u64)>,
}

impl<const BITS: u32, const MAX_BITS: u32> From<LogLinear<BITS, MAX_BITS>> for Sparse {
    fn from(from: LogLinear<BITS, MAX_BITS>) -> Sparse {
        Sparse { saturated: from.saturated, buckets: log_linear::gaps(&from.counts) }
    }
}

impl<const BITS: u32, const MAX_BITS: u32> TryFrom<Sparse> for LogLinear<BITS, MAX_BITS> {
    type Error = &'static str;

    fn try_from(sparse: Sparse) -> Result<Self, &'static str> {
        let mut into = Self { saturated: sparse.saturated, ..Self::default() };
        for (index, count) in log_linear::from_gaps(sparse.buckets) {
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

    type Ten = LogLinear<10, 42>;
    type Four = LogLinear<4, 42>;

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
            let mut stored = model::Histogram::default();
            let mut again = model::Histogram::default();
            for &value in values.iter().filter(|value| (1..=model::histogram::HIGHEST_NS).contains(*value)) {
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
}
