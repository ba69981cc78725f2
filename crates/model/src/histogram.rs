//! A mergeable histogram of durations: nanoseconds, 1 ns to 1 h, three digits, saturations counted.
//!
//! Kept in HdrHistogram V2 form. Values above an hour are recorded at the top and counted as saturated;
//! nothing is dropped. What never came to a good end (a failed request, a lost message) has no duration and is slower
//! than any: it is counted as `over`, beyond every value.

use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// One hour in nanoseconds: the highest value kept apart.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Fewest values beyond a percentile: of fewer it says nothing.
pub const MIN_BEYOND: u64 = 10;

/// How many values it takes for [`MIN_BEYOND`] of them to be beyond quantile `q`, on its thinner side.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; infinite saturates")]
pub fn percentile_needs(q: f64) -> u64 {
    (MIN_BEYOND as f64 / q.min(1.0 - q).max(0.0) - 1e-6).ceil() as u64
}

/// The one rule of every percentile: with fewer than [`MIN_BEYOND`] values beyond it, it is missing.
pub fn has_percentile(count: u64, q: f64) -> bool {
    count >= percentile_needs(q)
}

/// A histogram that several recorders' results can be merged into.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    inner: Hdr<u64>,
    saturated: u64,
    over: u64,
}

/// The histogram's bytes are not a histogram.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a V2 histogram: {0}")]
pub struct HistogramError(String);

impl Default for Histogram {
    fn default() -> Histogram {
        let inner = Hdr::new_with_bounds(1, HIGHEST_NS, 3).expect("constant bounds that the library accepts");
        Histogram { inner, saturated: 0, over: 0 }
    }
}

impl Histogram {
    pub fn record(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// The same value `count` times.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        // The library would take a value that never occurred for the highest or lowest one.
        if count == 0 {
            return;
        }
        if ns > HIGHEST_NS {
            self.saturated = self.saturated.saturating_add(count);
        }
        self.inner.saturating_record_n(ns.clamp(1, HIGHEST_NS), count);
    }

    /// Counts what never came to a good end: it is beyond every value.
    pub fn record_over(&mut self, count: u64) {
        self.over = self.over.saturating_add(count);
    }

    /// Adds the counts of another histogram. Fails if its bounds differ.
    pub fn merge(&mut self, other: &Histogram) -> Result<(), HistogramError> {
        self.saturated = self.saturated.saturating_add(other.saturated);
        self.over = self.over.saturating_add(other.over);
        self.inner.add(&other.inner).map_err(|error| HistogramError(error.to_string()))
    }

    /// Everything that was counted, what is over included.
    pub fn count(&self) -> u64 {
        self.inner.len().saturating_add(self.over)
    }

    /// How many are beyond every value.
    pub fn over(&self) -> u64 {
        self.over
    }

    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The value at quantile `q` in nanoseconds (p99 is 0.99); `None` when empty, and where it falls on what is over.
    /// Every percentile of a load's response times is read here.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        if self.over == 0 {
            return (!self.inner.is_empty()).then(|| self.inner.value_at_quantile(q));
        }
        let all = self.count();
        let rank = ((q.clamp(0.0, 1.0) * all as f64).ceil() as u64).clamp(1, all);
        let mut upto = 0;
        self.bins().find_map(|(ns, count)| {
            upto += count;
            (upto >= rank).then_some(ns)
        })
    }

    /// The value at quantile `q` in seconds: infinite where it falls on what is over, `None` when empty.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.quantile_ns(q).map_or(f64::INFINITY, |ns| ns as f64 / 1e9))
    }

    /// [`Histogram::quantile_s`], but `None` with fewer than [`MIN_BEYOND`] values beyond it.
    pub fn percentile_s(&self, q: f64) -> Option<f64> {
        self.quantile_s(q).filter(|_| has_percentile(self.count(), q))
    }

    /// The mean of the values; `None` without any, and where anything is over: then there is no mean.
    pub fn mean_ns(&self) -> Option<f64> {
        self.mean_of_values_ns().filter(|_| self.over == 0)
    }

    /// The mean of the values, without what is over.
    pub fn mean_of_values_ns(&self) -> Option<f64> {
        (!self.inner.is_empty()).then(|| self.inner.mean())
    }

    /// The largest value, without what is over.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.inner.is_empty()).then(|| self.inner.max())
    }

    /// The recorded values in rising order: nanoseconds (to three digits, not above the largest seen) and the count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        let most = self.inner.max();
        self.inner
            .iter_recorded()
            .map(move |bin| (bin.value_iterated_to().min(most), bin.count_since_last_iteration()))
    }

    /// Saturation count (8 bytes, little endian), then the V2 form, then the count of what is over (8 bytes) if any is.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.saturated.to_le_bytes().to_vec();
        // Writing to a Vec cannot fail, and every histogram made here is within V2's bounds.
        if V2Serializer::new().serialize(&self.inner, &mut bytes).is_err() {
            bytes.truncate(8);
        }
        if self.over > 0 {
            bytes.extend(self.over.to_le_bytes());
        }
        bytes
    }

    /// The bytes as hexadecimal digits.
    pub fn hex(&self) -> String {
        self.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads the bytes of [`Histogram::to_bytes`]. Fails if they are no histogram of these bounds.
    pub fn from_bytes(bytes: &[u8]) -> Result<Histogram, HistogramError> {
        let wrong = |what: &str| HistogramError(what.to_owned());
        let (head, mut body) = bytes.split_at_checked(8).ok_or_else(|| wrong("too short"))?;
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).map_err(|_| wrong("too short"));
        let saturated = number(head)?;
        let inner: Hdr<u64> =
            Deserializer::new().deserialize(&mut body).map_err(|error| HistogramError(error.to_string()))?;
        if inner.high() > HIGHEST_NS || inner.sigfig() > 3 {
            return Err(wrong("bounds beyond 1 h or 3 digits"));
        }
        // The reader has taken its own part; histograms of earlier builds end there.
        let over = if body.is_empty() { 0 } else { number(body)? };
        Ok(Histogram { inner, saturated, over })
    }
}

/// The form in text: `{"histogram": "…"}`, its bytes in hexadecimal.
#[derive(Serialize, Deserialize)]
struct InText {
    histogram: String,
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match to.is_human_readable() {
            true => InText { histogram: self.hex() }.serialize(to),
            false => self.to_bytes().serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Histogram, D::Error> {
        let bytes = match from.is_human_readable() {
            true => unhex(&InText::deserialize(from)?.histogram)
                .ok_or_else(|| serde::de::Error::custom("a histogram's bytes are not hexadecimal"))?,
            false => Vec::<u8>::deserialize(from)?,
        };
        Histogram::from_bytes(&bytes).map_err(serde::de::Error::custom)
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(high)? * 16 + digit(low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        let needs = [0.5, 0.9, 0.99, 0.999, 1.0, 0.01].map(percentile_needs);
        assert_eq!(needs, [20, 100, 1_000, 10_000, u64::MAX, 1_000]);
        let mut histogram = Histogram::default();
        histogram.record_n(5, 999);
        assert_eq!((histogram.percentile_s(0.99), histogram.percentile_s(0.9)), (None, Some(5e-9)));
        histogram.record_over(1);
        assert_eq!(histogram.percentile_s(0.99), Some(5e-9));
        histogram.record_over(10);
        assert_eq!(histogram.percentile_s(0.99), Some(f64::INFINITY));
    }

    proptest! {
        #[test]
        fn bytes_come_back(values in proptest::collection::vec(any::<u64>(), 0..50)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            let back = Histogram::from_bytes(&histogram.to_bytes()).unwrap();
            prop_assert_eq!(back.count(), values.len() as u64);
            prop_assert_eq!(back.saturated(), values.iter().filter(|&&v| v > HIGHEST_NS).count() as u64);
            prop_assert_eq!(back.quantile_ns(0.5), histogram.quantile_ns(0.5));
        }

        #[test]
        fn what_is_over_is_beyond_every_value(
            values in proptest::collection::vec(1u64..1_000_000, 0..60), over in 0u64..60, q in 0.0f64..1.0,
        ) {
            let (mut histogram, mut slow) = (Histogram::default(), Histogram::default());
            for &value in &values {
                histogram.record(value);
                slow.record(value);
            }
            histogram.record_over(over);
            slow.record_n(HIGHEST_NS, over);
            let back = Histogram::from_bytes(&histogram.to_bytes()).unwrap();
            prop_assert_eq!(&back, &histogram);
            prop_assert_eq!((back.count(), back.over()), (values.len() as u64 + over, over));
            // It stands where values of an hour would, and is none.
            let place = slow.bins().scan(0, |upto, (ns, count)| { *upto += count; Some((ns, *upto)) });
            let rank = ((q * slow.count() as f64).ceil() as u64).max(1);
            let expected = place.into_iter().find(|(_, upto)| *upto >= rank).map(|(ns, _)| ns);
            let expected = expected.map(|ns| if ns < HIGHEST_NS / 2 { ns as f64 / 1e9 } else { f64::INFINITY });
            prop_assert_eq!(histogram.quantile_s(q), expected);
            prop_assert_eq!(histogram.mean_ns().is_some(), over == 0 && !values.is_empty());
            let mut twice = histogram.clone();
            twice.merge(&histogram).unwrap();
            prop_assert_eq!(twice.over(), 2 * over);
        }

        #[test]
        fn many_at_once_are_as_many_one_by_one(value in any::<u64>(), count in 0u64..40) {
            let (mut once, mut each) = (Histogram::default(), Histogram::default());
            once.record_n(value, count);
            (0..count).for_each(|_| each.record(value));
            prop_assert_eq!(once, each);
        }

        #[test]
        fn bins_hold_every_value(values in proptest::collection::vec(1u64..HIGHEST_NS, 0..60)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            let bins: Vec<(u64, u64)> = histogram.bins().collect();
            prop_assert_eq!(bins.iter().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
            prop_assert!(bins.windows(2).all(|pair| pair[0].0 < pair[1].0));
            // The middle one is where the quantile says, and no bin is above the largest.
            let half = values.len().div_ceil(2) as u64;
            let mut seen = 0;
            let middle = bins.iter().find(|(_, count)| { seen += count; seen >= half });
            prop_assert_eq!(middle.map(|(ns, _)| *ns), histogram.quantile_ns(0.5));
            prop_assert_eq!(bins.last().map(|(ns, _)| *ns), histogram.max_ns());
        }

        #[test]
        fn junk_is_an_error_not_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Histogram::from_bytes(&bytes);
        }

        #[test]
        fn merging_counts_all(a in proptest::collection::vec(1u64..1_000_000, 0..40),
                              b in proptest::collection::vec(1u64..1_000_000, 0..40)) {
            let fill = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|&value| histogram.record(value));
                histogram
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b)).unwrap();
            prop_assert_eq!(merged, fill(&[a, b].concat()));
        }
    }
}
