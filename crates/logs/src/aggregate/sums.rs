//! Sums over requests: whole numbers only, so that any order gives the same result.
//!
//! Bytes in B, time in ns, ratios in thousandths of a byte per second (rounded down, so each is at most 0.001 B/s low).
//! A request whose size or time the log does not tell adds nothing to that sum and is counted as such.

use serde::{Deserialize, Serialize};

/// Fixed point of a ratio: parts of one byte per second.
pub const RATIO_PARTS: u64 = 1000;
/// A ratio is so many times the size over the time.
pub(super) const SCALE: u64 = RATIO_PARTS * 1_000_000_000;

/// Sums over requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    pub requests: u64,
    /// Requests with a size and a time above 0: those that have a ratio.
    pub rated: u64,
    /// Requests whose time is 0: outside the ratios.
    pub zero_time: u64,
    /// Requests whose line tells no size, and no time.
    pub unsized_: u64,
    pub untimed: u64,
    pub bytes: u64,
    pub time_ns: u128,
    /// The sum of the requests' own ratios, in 1/1000 B/s.
    pub ratios: u128,
}

/// The ratio of one request in 1/1000 B/s.
#[inline(always)]
pub fn ratio(bytes: u64, time_ns: u64) -> u64 {
    if bytes <= u64::MAX / SCALE {
        bytes * SCALE / time_ns.max(1)
    } else {
        wide(u128::from(bytes) * u128::from(SCALE), time_ns.max(1))
    }
}

/// The same of a request that has both and a time above 0; none of any other.
#[inline(always)]
pub fn ratio_of(bytes: Option<u64>, time_ns: Option<u64>) -> Option<u64> {
    match (bytes, time_ns) {
        (Some(bytes), Some(time_ns)) if time_ns > 0 => Some(ratio(bytes, time_ns)),
        _ => None,
    }
}

#[cold]
#[inline(never)]
fn wide(scaled: u128, time_ns: u64) -> u64 {
    u64::try_from(scaled / u128::from(time_ns)).unwrap_or(u64::MAX)
}

impl Sums {
    /// Adds one request; `ratio` is there when both others are and the time is above 0.
    #[inline(always)]
    pub fn add(&mut self, bytes: Option<u64>, time_ns: Option<u64>, ratio: Option<u64>) {
        self.requests += 1;
        match bytes {
            Some(bytes) => self.bytes = self.bytes.saturating_add(bytes),
            None => self.unsized_ += 1,
        }
        match time_ns {
            Some(time_ns) => {
                self.time_ns += u128::from(time_ns);
                self.zero_time += u64::from(time_ns == 0);
            }
            None => self.untimed += 1,
        }
        if let Some(ratio) = ratio {
            self.rated += 1;
            self.ratios += u128::from(ratio);
        }
    }

    pub fn merge(&mut self, other: &Sums) {
        self.requests = self.requests.saturating_add(other.requests);
        self.rated = self.rated.saturating_add(other.rated);
        self.zero_time = self.zero_time.saturating_add(other.zero_time);
        self.unsized_ = self.unsized_.saturating_add(other.unsized_);
        self.untimed = self.untimed.saturating_add(other.untimed);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.ratios = self.ratios.saturating_add(other.ratios);
    }

    /// Takes away sums that are part of these.
    pub fn take(&mut self, part: &Sums) {
        self.requests = self.requests.saturating_sub(part.requests);
        self.rated = self.rated.saturating_sub(part.rated);
        self.zero_time = self.zero_time.saturating_sub(part.zero_time);
        self.unsized_ = self.unsized_.saturating_sub(part.unsized_);
        self.untimed = self.untimed.saturating_sub(part.untimed);
        self.bytes = self.bytes.saturating_sub(part.bytes);
        self.time_ns = self.time_ns.saturating_sub(part.time_ns);
        self.ratios = self.ratios.saturating_sub(part.ratios);
    }

    /// Mean of the per-request ratios in B/s, over the requests that have one.
    pub fn mean_of_ratios(&self) -> Option<f64> {
        (self.rated > 0).then(|| self.ratios as f64 / RATIO_PARTS as f64 / self.rated as f64)
    }

    /// All bytes over all time in B/s; none where a request lacks either, since the two sums are then of different
    /// requests.
    pub fn ratio_of_totals(&self) -> Option<f64> {
        let both = self.unsized_ == 0 && self.untimed == 0 && self.time_ns > 0;
        both.then(|| self.bytes as f64 / (self.time_ns as f64 / 1e9))
    }

    /// Mean size in B of the requests whose size is known.
    pub fn mean_bytes(&self) -> Option<f64> {
        let sized = self.requests.saturating_sub(self.unsized_);
        (sized > 0).then(|| self.bytes as f64 / sized as f64)
    }

    /// Mean time in seconds of the requests whose time is known.
    pub fn mean_seconds(&self) -> Option<f64> {
        let timed = self.requests.saturating_sub(self.untimed);
        (timed > 0).then(|| self.time_ns as f64 / 1e9 / timed as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ratios_differ_as_they_must() {
        let mut sums = Sums::default();
        // 1 kB in 1 us, and 1 kB in 1 s.
        for time_ns in [1_000, 1_000_000_000] {
            sums.add(Some(1000), Some(time_ns), Some(ratio(1000, time_ns)));
        }
        assert_eq!(sums.mean_of_ratios(), Some((1e9 + 1e3) / 2.0));
        assert!((sums.ratio_of_totals().unwrap() - 2000.0 / 1.000_001).abs() < 1e-6);
        assert_eq!((sums.mean_bytes(), sums.mean_seconds()), (Some(1000.0), Some(0.500_000_5)));
    }

    #[test]
    fn what_is_missing_is_missing() {
        let mut sums = Sums::default();
        assert_eq!((sums.mean_of_ratios(), sums.ratio_of_totals(), sums.mean_bytes()), (None, None, None));
        sums.add(Some(5), None, None);
        sums.add(None, Some(0), None);
        assert_eq!((sums.unsized_, sums.untimed, sums.zero_time, sums.rated), (1, 1, 1, 0));
        assert_eq!((sums.mean_of_ratios(), sums.ratio_of_totals()), (None, None));
        assert_eq!((sums.mean_bytes(), sums.mean_seconds()), (Some(5.0), Some(0.0)));
    }

    #[test]
    fn ratios_hold_at_the_extremes() {
        assert_eq!(ratio(1, 1_000_000_000), RATIO_PARTS);
        assert_eq!(ratio(u64::MAX, 1), u64::MAX);
        assert_eq!(ratio(0, 5), 0);
        assert_eq!(ratio(1 << 40, 1 << 40), 1_000_000_000 * RATIO_PARTS);
        assert_eq!(ratio(18_446_744, 7), ratio_wide(18_446_744, 7));
        assert_eq!(ratio(18_446_745, 7), ratio_wide(18_446_745, 7));
    }

    fn ratio_wide(bytes: u64, time_ns: u64) -> u64 {
        (u128::from(bytes) * 1_000_000_000_000 / u128::from(time_ns)) as u64
    }
}
