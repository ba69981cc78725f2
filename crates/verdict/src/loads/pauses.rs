//! A server that answers at once or after a pause: half of the answers are fast, and one in a hundred takes many times
//! as long. Pauses are too short for a stall, of which there is one or a few.

use std::fmt;

use model::Unit;
use model::format::quantity;
use model::metrics::load;

use super::Load;

/// The least p99, and how many times the median it is at least.
const LEAST_S: f64 = 0.01;
const TIMES: f64 = 50.0;

/// Percentiles of the service times of all takes, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pauses {
    pub p50: f64,
    pub p99: f64,
}

impl Pauses {
    /// From percentiles; `None` where they are near each other, or a pause is short.
    pub fn from_times(p50: f64, p99: f64) -> Option<Pauses> {
        (p99.is_finite() && p99 >= LEAST_S && p99 >= TIMES * p50).then_some(Pauses { p50, p99 })
    }
}

impl fmt::Display for Pauses {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p50, p99) = (quantity(self.p50, Unit::Second), quantity(self.p99, Unit::Second));
        write!(to, "half of the answers take {p50} at most, 1 in 100 takes {p99} or more")
    }
}

/// `None` where the load had none, or too few answers to tell.
pub fn of_load(load: &Load<'_>) -> Option<Pauses> {
    let mut merged = model::Histogram::default();
    for times in load.histograms(&load::SERVICES) {
        merged.merge(times).ok()?;
    }
    Pauses::from_times(merged.percentile_s(0.5)?, merged.percentile_s(0.99)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_long_beside_the_usual_answer() {
        let pauses = Pauses::from_times(237e-6, 67.8e-3).unwrap();
        assert_eq!(
            pauses.to_string(),
            "half of the answers take 237 us at most, 1 in 100 takes 67.8 ms or more"
        );
        assert_eq!(Pauses::from_times(237e-6, 5e-3), None, "short");
        assert_eq!(Pauses::from_times(20e-3, 300e-3), None, "near");
        assert_eq!(Pauses::from_times(1e-3, f64::INFINITY), None, "failed");
    }
}
