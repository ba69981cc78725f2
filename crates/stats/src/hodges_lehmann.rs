//! Means of all pairs of values (each with itself too), picked by rank without listing them.
//!
//! Their median is the Hodges-Lehmann estimate of the centre. Time is n log n plus 64 passes over the
//! values and memory is one copy, so that a hundred thousand values are no trouble.

use crate::describe::sorted;

/// Sorted values of which pairwise means are asked.
pub(crate) struct Walsh {
    v: Vec<f64>,
}

impl Walsh {
    /// `None` if there are no values or one is not a number.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        let v = sorted(values)?;
        (!v.is_empty()).then_some(Self { v })
    }

    /// Number of pairwise means.
    pub(crate) fn count(&self) -> u64 {
        let n = self.v.len() as u64;
        n * (n + 1) / 2
    }

    /// The k-th smallest pairwise mean, k from 1 to `count` (clamped into that range).
    pub(crate) fn kth(&self, k: u64) -> f64 {
        let k = k.clamp(1, self.count());
        // Halving over the bit patterns of the floating numbers ends at the exact value.
        let (mut low, mut high) = (order(self.v[0]), order(self.v[self.v.len() - 1]));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at_most(value(middle)) >= k { high = middle } else { low = middle + 1 }
        }
        value(low)
    }

    /// Median of the pairwise means.
    pub(crate) fn median(&self) -> f64 {
        let m = self.count();
        if m % 2 == 1 { self.kth(m / 2 + 1) } else { self.kth(m / 2).midpoint(self.kth(m / 2 + 1)) }
    }

    /// How many pairwise means are at most `t`: one walk, since the partner only moves down.
    fn at_most(&self, t: f64) -> u64 {
        let (mut total, mut end) = (0_u64, self.v.len());
        for i in 0..self.v.len() {
            while end > i && self.v[i] * 0.5 + self.v[end - 1] * 0.5 > t {
                end -= 1;
            }
            if end <= i {
                break;
            }
            total += (end - i) as u64;
        }
        total
    }
}

/// A number whose integer order is the order of the floating values.
fn order(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits(); // minus zero becomes zero
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 1 { order & !(1 << 63) } else { !order })
}

/// Hodges-Lehmann estimate of the centre: the median of all pairwise means.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    Some(Walsh::new(values)?.median())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(v: &[f64]) -> Vec<f64> {
        let mut all = Vec::new();
        for i in 0..v.len() {
            for j in i..v.len() {
                all.push(v[i] * 0.5 + v[j] * 0.5);
            }
        }
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn by_hand() {
        // Means of 1 2 6: 1 1.5 2 3.5 4 6.
        assert_eq!(hodges_lehmann(&[6.0, 1.0, 2.0]), Some(2.75));
        assert_eq!(hodges_lehmann(&[4.0]), Some(4.0));
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(hodges_lehmann(&[0.0, -0.0]), Some(0.0));
    }

    #[test]
    fn a_hundred_thousand_values() {
        let mut rng = crate::Rng::new(2);
        let v: Vec<f64> = (0..100_000).map(|_| rng.normal()).collect();
        assert!(hodges_lehmann(&v).is_some_and(|m| m.abs() < 0.02));
    }

    proptest! {
        #[test]
        fn same_as_listing_all(v in prop::collection::vec(-1e3..1e3_f64, 1..25)) {
            let (walsh, all) = (Walsh::new(&v).expect("numbers"), listed(&v));
            prop_assert_eq!(walsh.count(), all.len() as u64);
            for (i, want) in all.iter().enumerate() {
                prop_assert_eq!(walsh.kth(i as u64 + 1), *want);
            }
        }
    }
}
