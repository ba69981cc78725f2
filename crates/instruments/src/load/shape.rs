//! The shape of a rate over time: steps of steady rate, scaled so that the whole shape has length 1 and 1 request. It
//! does not say how long it lasts or how many requests come.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Cumulative time and cumulative requests at the end of each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct Shape(Arc<[(f64, f64)]>);

impl From<Vec<(f64, f64)>> for Shape {
    fn from(ends: Vec<(f64, f64)>) -> Shape {
        Shape(ends.into())
    }
}

impl From<Shape> for Vec<(f64, f64)> {
    fn from(shape: Shape) -> Vec<(f64, f64)> {
        shape.0.to_vec()
    }
}

impl Shape {
    /// Builds a shape from the length of each step and the requests in it, in any unit. `None` where there are no
    /// requests.
    pub fn new(steps: impl IntoIterator<Item = (f64, f64)>) -> Option<Shape> {
        let (mut time, mut requests) = (0.0, 0.0);
        let end = |(lasts, has): (f64, f64)| {
            time += lasts.max(0.0);
            requests += has.max(0.0);
            (time, requests)
        };
        let ends: Vec<(f64, f64)> = steps.into_iter().filter(|step| step.0 > 0.0).map(end).collect();
        let (time, requests) = ends.last().copied().filter(|(time, all)| *time > 0.0 && *all > 0.0)?;
        Some(Shape(ends.into_iter().map(|(at, sum)| (at / time, sum / requests)).collect()))
    }

    /// The share of the time after which this share of the requests has come.
    pub fn time_of(&self, share: f64) -> f64 {
        // The first step that ends above it has requests, so that what is divided by is above 0.
        let at = self.0.partition_point(|(_, sum)| *sum <= share);
        let Some(&(end, sum)) = self.0.get(at) else { return 1.0 };
        let (start, before) = at.checked_sub(1).and_then(|at| self.0.get(at)).copied().unwrap_or_default();
        start + (end - start) * ((share - before) / (sum - before)).clamp(0.0, 1.0)
    }

    /// The highest rate divided by the mean rate.
    pub fn steepest(&self) -> f64 {
        let before = std::iter::once(&(0.0, 0.0)).chain(self.0.iter());
        let rate = |(start, end): (&(f64, f64), &(f64, f64))| (end.1 - start.1) / (end.0 - start.0);
        before.zip(self.0.iter()).map(rate).fold(1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::schedule::Schedule;

    #[test]
    fn times_follow_the_steps() {
        let shape = Shape::new([(2.0, 30.0), (1.0, 0.0), (1.0, 60.0), (0.0, 5.0), (4.0, 10.0)]).unwrap();
        for (share, time) in
            [(0.0, 0.0), (0.15, 0.125), (0.3, 0.375), (0.6, 0.4375), (0.95, 0.75), (1.0, 1.0)]
        {
            assert!((shape.time_of(share) - time).abs() < 1e-12, "{share}: {}", shape.time_of(share));
        }
        assert!((shape.steepest() - 4.8).abs() < 1e-12);
        for nothing in [vec![], vec![(1.0, 0.0)], vec![(0.0, 1.0)]] {
            assert_eq!(Shape::new(nothing), None);
        }
    }

    #[test]
    fn requests_come_as_the_shape_says() {
        let shape = Shape::new([(1.0, 1.0), (1.0, 0.0), (2.0, 6.0)]).unwrap();
        let schedule = Schedule::Shaped { rate: 7000.0, seed: 4, over_ns: 4_000_000_000, shape };
        let mut counts = [0u32; 4];
        for arrival in schedule.arrivals().unwrap().take_while(|one| one.at_ns < 40_000_000_000) {
            counts[(arrival.at_ns / 1_000_000_000 % 4) as usize] += 1;
        }
        // 40,000, none, 120,000 twice; five standard deviations of a Poisson number.
        let near = |count: u32, mean: f64| (f64::from(count) - mean).abs() < 5.0 * mean.sqrt();
        assert!(near(counts[0], 40_000.0) && counts[1] == 0, "{counts:?}");
        assert!(near(counts[2], 120_000.0) && near(counts[3], 120_000.0), "{counts:?}");
    }
}
