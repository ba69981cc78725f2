//! The values that inputs have in one world: those that all candidates share, and those of one candidate.

use super::law::Law;

/// Values of the inputs that all candidates share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Demand of each need at the end of its growth, and in the mean over the life.
    pub demand: Vec<f64>,
    pub mean: Vec<f64>,
    pub utilisation: f64,
    pub kwh: Option<f64>,
    pub pue: f64,
    pub per_unit_month: Option<f64>,
    pub per_circuit_month: Option<f64>,
    pub law: Law,
    pub life_s: f64,
    pub months: f64,
}

/// Values of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// Of each need, in its unit.
    pub capacity: Vec<f64>,
    pub inputs: Inputs,
}

/// Values of one candidate that its cost depends on, besides the number of boxes and their load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inputs {
    pub price: Option<f64>,
    /// Factor of the watts curve.
    pub watts: f64,
    pub rack_units: Option<f64>,
    /// The share of it that is used, where that is its own.
    pub utilisation: Option<f64>,
}

impl Inputs {
    /// The share of a box that is used at the demand.
    pub fn used(&self, shared: &Shared) -> f64 {
        self.utilisation.unwrap_or(shared.utilisation)
    }
}
