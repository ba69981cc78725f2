//! The power that nodes draw, as their BMCs read it now.

use super::{Access, Failure};

/// A way to read it. Results are in the order of the BMCs; watts, above 0.
pub trait WallWatts {
    fn watts(&self, of: &[&Access]) -> Vec<Result<f64, Failure>>;
}

/// A number as a power; one that can be none is no reading.
pub(super) fn power(watts: f64) -> Result<f64, Failure> {
    model::power::checked(watts)
        .map_err(|why| Failure::Other { said: format!("its BMC gives no power: {why}") })
}
