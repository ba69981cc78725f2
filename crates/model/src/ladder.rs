//! Round borders between which durations are counted, for people: `100 us`, `150 us`, `220 us` ...
//!
//! Nanoseconds. The borders suit the bulk of the values; what is above them all is in one last step.

use crate::doc::BucketDoc;
use crate::histogram::Histogram;

/// Steps of one decade, in hundredths: from fine to coarse (the E series of preferred numbers, 1-2-5, decades).
const LADDERS: [&[u64]; 5] = [
    &[
        100, 110, 120, 130, 150, 160, 180, 200, 220, 240, 270, 300, 330, 360, 390, 430, 470, 510, 560, 620,
        680, 750, 820, 910,
    ],
    &[100, 120, 150, 180, 220, 270, 330, 390, 470, 560, 680, 820],
    &[100, 150, 220, 330, 470, 680],
    &[100, 200, 500],
    &[100],
];

/// Shares of the values up to which steps go one by one, until no step has nearly all of them.
const BULK: [f64; 4] = [0.99, 0.98, 0.95, 0.9];
/// So much of a histogram in one step is nearly all of it.
const NEARLY_ALL: f64 = 0.8;

/// At most `most` borders (and one more for the slowest) for these histograms together; none where they are empty. A
/// few slow values are in one last step where they would hide the shape of the others.
pub fn borders(all: &[&Histogram], most: usize) -> Vec<u64> {
    let least = |q: f64| all.iter().filter_map(|one| one.quantile_ns(q)).min();
    let largest = |q: f64| all.iter().filter_map(|one| one.quantile_ns(q)).max();
    let Some(low) = least(0.01) else { return Vec::new() };
    let shapes: Vec<Vec<u64>> =
        BULK.iter().filter_map(|&bulk| Some(steps(low, largest(bulk)?.max(low), most))).collect();
    let hides = |steps: &[u64]| all.iter().any(|one| fullest(one, steps) > NEARLY_ALL);
    // Where all values are alike no steps show more than others.
    let Some(mut steps) = shapes.iter().find(|steps| !hides(steps)).or(shapes.first()).cloned() else {
        return Vec::new();
    };
    let slowest = all.iter().filter_map(|one| one.max_ns()).max();
    if let (Some(max), Some(last)) = (slowest, steps.last_mut())
        && max > *last
    {
        // A hair above it is no step of its own: both would be called the same.
        if max - *last < *last / 50 {
            *last = max;
        } else {
            steps.push(max);
        }
    }
    steps
}

/// The finest steps that are few enough.
fn steps(low: u64, high: u64, most: usize) -> Vec<u64> {
    let fitting = LADDERS.iter().map(|ladder| between(ladder, low, high)).find(|steps| steps.len() <= most);
    fitting.unwrap_or_else(|| vec![high])
}

/// The largest share of the values that one step has.
fn fullest(histogram: &Histogram, steps: &[u64]) -> f64 {
    let most = count(histogram, steps).iter().map(|step| step.count).max().unwrap_or(0);
    most as f64 / histogram.count().max(1) as f64
}

/// The steps from the last at or below `low` (if it has one) to the first at or above `high`.
fn between(ladder: &[u64], low: u64, high: u64) -> Vec<u64> {
    let mut steps = Vec::new();
    // 10 ns to 10^13 ns, which is over the highest value of a histogram.
    for decade in 0..12 {
        for step in ladder {
            let at = step * 10u64.pow(decade) / 10;
            if at >= low {
                steps.push(at);
            }
            if at >= high {
                return steps;
            }
        }
    }
    steps
}

/// How many values lie in each step.
pub fn count(histogram: &Histogram, borders: &[u64]) -> Vec<BucketDoc> {
    let mut below = 0;
    let mut step = |&to: &u64| {
        let count = histogram.bins().filter(|(ns, _)| *ns > below && *ns <= to).map(|(_, count)| count).sum();
        below = to;
        BucketDoc { to: to as f64 / 1e9, count }
    };
    borders.iter().map(&mut step).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_step(
            a in proptest::collection::vec(any::<u64>(), 0..60),
            b in proptest::collection::vec(1u64..10_000_000, 0..60),
            most in 1usize..12,
        ) {
            let (a, b) = (of(&a), of(&b));
            let borders = borders(&[&a, &b], most);
            prop_assert!(borders.len() <= most + 1 && borders.is_sorted());
            for one in [&a, &b] {
                let counted: u64 = count(one, &borders).iter().map(|step| step.count).sum();
                prop_assert_eq!(counted, one.count());
            }
        }
    }

    #[test]
    fn borders_are_round_and_suit_the_values() {
        let narrow = of(&[510_000, 520_000, 560_000, 600_000]);
        assert_eq!(borders(&[&narrow], 8), [560_000, 620_000]);
        let wide = of(&[120_000, 900_000, 5_000_000, 80_000_000]);
        assert_eq!(
            borders(&[&wide], 10),
            [
                200_000,
                500_000,
                1_000_000,
                2_000_000,
                5_000_000,
                10_000_000,
                20_000_000,
                50_000_000,
                100_000_000
            ]
        );
        assert_eq!(borders(&[&Histogram::default()], 8), [0u64; 0]);
        // One late answer of fifty leaves the shape of the others.
        let values: Vec<u64> = (0..49).map(|n| 1_000_000 + n * 40_000).chain([9_000_000_000]).collect();
        let late = borders(&[&of(&values)], 11);
        let (last, shape) = late.split_last().unwrap();
        assert!(*last >= 9_000_000_000 && shape.len() > 6 && shape.last() == Some(&3_000_000), "{late:?}");
        let mut hair = of(&[900_000]);
        hair.record_n(550_000, 98);
        hair.record(1_001_000);
        assert_eq!(borders(&[&hair], 2).len(), 2, "no step from 1 ms to 1.001 ms");
    }
}
