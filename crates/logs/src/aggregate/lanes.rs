//! Numbers of many requests at once, without a branch for each, so that vectors can do it: whole numbers below 2^52 as
//! floats, whose exponent tells their power of two.
//!
//! Everything is exact: either it is what is made of each request by itself, or nothing is said. Sizes in B, times in
//! ns, ratios in 1/1000 B/s.

use super::size::CLASSES;
use super::sums::{SCALE, Sums};
use super::{Strata, size};
use model::log_linear::union;

/// Whole numbers are less than this here.
const LIMIT: u64 = 1 << MANTISSA;
const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of 1 as a float has it.
const ONE: u64 = f64::MAX_EXP as u64 - 1;
/// So large a float that its lowest bit stands for 1.
const LARGE: f64 = LIMIT as f64;
/// Sizes and ratios are less than these here.
const SIZES: u64 = u64::MAX / SCALE;
const RATIOS: f64 = (LIMIT / 2) as f64;

/// A number below the limit.
#[inline(always)]
fn float(value: u64) -> f64 {
    f64::from_bits(value | LARGE.to_bits()) - LARGE
}

/// The class of a size, as [`size::class_of`] tells it.
#[inline(always)]
fn class(bytes: u64) -> u64 {
    let bits = (float(bytes).to_bits() >> MANTISSA).max(ONE + 7) - ONE + 1;
    let class = ((bits - 5) / 2).min(size::UNKNOWN as u64 - 1);
    if bytes == 0 { 0 } else { class }
}

/// Writes the ratios of requests and adds them up by class; nothing is done, and nothing is said of what stands in
/// `ratios`, where one of them has no time, a size beyond 18 MB, or a ratio beyond 2 TB/s.
#[inline(always)]
pub fn add(
    strata: &mut Strata,
    bytes: &[u64],
    times_ns: &[u64],
    ratios: &mut [u64],
    classes: &mut [u64],
) -> bool {
    if !rate(bytes, times_ns, ratios) {
        return false;
    }
    let mut present = 0;
    for (class, bytes) in classes.iter_mut().zip(bytes) {
        *class = self::class(*bytes);
        present |= 1 << *class;
    }
    for number in (0..CLASSES).filter(|number| present & (1 << number) != 0) {
        let mut sums = [0u64; 4];
        let of = classes.iter().zip(bytes).zip(times_ns).zip(&*ratios);
        for (((class, bytes), time_ns), ratio) in of {
            // All bits, or none: a choice might become a branch, which no vectors take.
            let mask = u64::from(*class == number as u64).wrapping_neg();
            sums[0] += mask & 1;
            sums[1] += mask & bytes;
            sums[2] += mask & time_ns;
            sums[3] += mask & ratio;
        }
        let [requests, bytes, time_ns, ratios] = sums;
        let (time_ns, ratios) = (u128::from(time_ns), u128::from(ratios));
        strata.0[number].merge(&Sums {
            requests,
            rated: requests,
            bytes,
            time_ns,
            ratios,
            ..Sums::default()
        });
    }
    true
}

/// Writes the ratios; whether they could be made.
#[inline(always)]
fn rate(bytes: &[u64], times_ns: &[u64], ratios: &mut [u64]) -> bool {
    let least = times_ns.iter().fold(u64::MAX, |least, time_ns| least.min(*time_ns));
    // All of them are less than the next power of two, and so is their sum less than that times their number.
    let sum = u128::from(union(times_ns)) * times_ns.len() as u128;
    if union(bytes) > SIZES || union(times_ns) >= LIMIT || least == 0 || sum > u128::from(u64::MAX) {
        return false;
    }
    let mut beyond = 0;
    for ((bytes, time_ns), ratio) in bytes.iter().zip(times_ns).zip(ratios) {
        // Two roundings of 2^-53 each: not half a part off, and no whole one after the next.
        let near = float(*bytes) * SCALE as f64 / float(*time_ns);
        beyond |= u64::from(near >= RATIOS);
        let nearest = (near + LARGE).to_bits().wrapping_sub(LARGE.to_bits());
        let rest = (bytes * SCALE).wrapping_sub(nearest.wrapping_mul(*time_ns)) as i64;
        *ratio = nearest.wrapping_add(u64::from(rest >= *time_ns as i64)).wrapping_sub(u64::from(rest < 0));
    }
    beyond == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::aggregate::sums;

    /// Numbers of all sizes up to so many bits, and those beside powers of two.
    fn numbers(bits: u32) -> impl Strategy<Value = u64> {
        let some = (any::<u64>(), 0..bits).prop_map(move |(value, less)| value >> (64 - bits + less));
        let beside = (0..bits, 0u64..3).prop_map(|(bit, less)| ((1u64 << bit) + 1).saturating_sub(less));
        prop_oneof![some, beside]
    }

    proptest! {
        #[test]
        fn requests_together_are_as_each_by_itself(
            requests in proptest::collection::vec((numbers(26), numbers(54)), 0..70),
            quick in proptest::collection::vec((numbers(24), 1_000..10_000_000_000u64), 0..70),
        ) {
            for requests in [requests, quick.clone()] {
                let (bytes, times_ns): (Vec<u64>, Vec<u64>) = requests.into_iter().unzip();
                let (mut ratios, mut classes) = (vec![7; bytes.len()], vec![7; bytes.len()]);
                let (mut together, mut alone) = (Strata::default(), Strata::default());
                if !add(&mut together, &bytes, &times_ns, &mut ratios, &mut classes) {
                    prop_assert_eq!(together, alone);
                    continue;
                }
                for ((bytes, time_ns), ratio) in bytes.iter().zip(&times_ns).zip(&ratios) {
                    prop_assert_eq!(*ratio, sums::ratio(*bytes, *time_ns), "{} B in {} ns", bytes, time_ns);
                    alone.0[size::class_of(Some(*bytes))].add(Some(*bytes), Some(*time_ns), Some(*ratio));
                }
                prop_assert_eq!(together, alone);
            }
            let (bytes, times_ns): (Vec<u64>, Vec<u64>) = quick.into_iter().unzip();
            let (mut ratios, mut classes) = (bytes.clone(), bytes.clone());
            prop_assert!(add(&mut Strata::default(), &bytes, &times_ns, &mut ratios, &mut classes));
        }

        #[test]
        fn classes_are_those_of_single_sizes(value in numbers(MANTISSA)) {
            prop_assert_eq!(class(value), size::class_of(Some(value)) as u64);
        }

        #[test]
        fn ratios_next_to_whole_ones_are_not_rounded_up(time_ns in numbers(50), bytes in 1..SIZES, more in 0u64..3) {
            // Times by which the ratio is just whole, and those beside them.
            let scaled = bytes * SCALE;
            let whole = scaled / (scaled / time_ns.max(1)).max(1);
            let time_ns = (whole + more).saturating_sub(1).clamp(1, LIMIT - 1);
            let mut ratios = [0];
            if rate(&[bytes], &[time_ns], &mut ratios) {
                prop_assert_eq!(ratios[0], sums::ratio(bytes, time_ns), "{} B in {} ns", bytes, time_ns);
            } else {
                prop_assert!(sums::ratio(bytes, time_ns) >= LIMIT / 4 || bytes.next_power_of_two() > SIZES);
            }
        }
    }
}
