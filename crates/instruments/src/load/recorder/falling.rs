//! Many durations at once, without looking at each: those of one bucket are found by halving, so that the counts are
//! exact, and summed up by straight lines, to a nanosecond for each where they follow a smooth curve.

use model::histogram::HIGHEST_NS;

use super::{Buckets, Counts};
use crate::load::schedule::held;

impl Counts {
    /// Records that many durations, of which none is longer than the one before it.
    pub(super) fn record_falling(&mut self, count: u64, of: impl Fn(u64) -> u64) {
        let mut from = 0;
        while from < count {
            let first_ns = of(from);
            let bucket = Buckets::index_of(first_ns.clamp(1, HIGHEST_NS));
            let lowest_ns = match first_ns {
                0..=1 => 0,
                _ if first_ns > HIGHEST_NS => HIGHEST_NS + 1,
                _ => Buckets::lowest_of(bucket),
            };
            let many = held(from, count, |nth| of(nth) >= lowest_ns).max(1);
            let last_ns = of(from + many - 1);
            if first_ns > HIGHEST_NS {
                self.buckets.add_saturated(many);
            } else {
                self.buckets.add(bucket, many);
            }
            self.sum_ns += sum((from, first_ns), (from + many - 1, last_ns), &of);
            from += many;
        }
    }
}

/// The sum of what `of` gives from one place to another, both with their values: that of a straight line where the
/// middle lies on it.
fn sum(from: (u64, u64), to: (u64, u64), of: &impl Fn(u64) -> u64) -> u128 {
    let (first, last) = (u128::from(from.1), u128::from(to.1));
    let apart = to.0 - from.0;
    if apart <= 1 {
        return if apart == 0 { first } else { first + last };
    }
    let middle = from.0 + apart / 2;
    let (here, place) = (of(middle), u128::from(middle - from.0));
    let line = (first * (u128::from(apart) - place) + last * place) / u128::from(apart);
    if u128::from(here).abs_diff(line) <= 1 {
        return (first + last) * (u128::from(apart) + 1) / 2;
    }
    sum(from, (middle, here), of) + sum((middle + 1, of(middle + 1)), to, of)
}
