//! One world: a value of everything that is uncertain, and the boxes and the money that follow from it.
//!
//! Nothing is random here: draws, swings and break-evens all ask the same functions, each with a world of its own.

use super::energy::mean_watts;
use super::law::Law;
use super::racks::circuits;
use super::values::{Inputs, Shared};
use super::{Candidate, Question, Spare};

/// Numbers a hair above a whole one are that one: sums of shares are rounded.
const ROUNDING: f64 = 1e-9;
/// No fleet is larger.
pub const MOST_BOXES: u64 = 1_000_000_000;
const HOUR_S: f64 = 3600.0;

/// The load of a fleet in boxes: that of needs of rates, which add up, and the largest of needs of space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Boxes at full capacity; divided by the utilisation it is the number of boxes.
    pub rates: f64,
    pub space: f64,
}

/// Parts of the cost of all boxes over their life.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    pub boxes: f64,
    pub energy: Option<f64>,
    pub space: Option<f64>,
    pub circuits: Option<f64>,
}

impl Load {
    #[must_use]
    pub fn times(self, factor: f64) -> Load {
        Load { rates: self.rates * factor, space: self.space * factor }
    }
}

/// Parts of the cost that are known of every candidate with a price: what is compared is made of these alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    pub energy: bool,
    pub space: bool,
    pub circuits: bool,
}

/// The load that the needs put on boxes of these capacities.
pub fn load(question: &Question, demand: &[f64], capacity: &[f64]) -> Load {
    let mut load = Load { rates: 0.0, space: 0.0 };
    for ((need, demand), capacity) in question.needs.iter().zip(demand).zip(capacity) {
        let boxes = demand / capacity;
        if need.need.is_space() {
            load.space = load.space.max(boxes);
        } else {
            load.rates += boxes;
        }
    }
    load
}

/// The smallest number of boxes that carries a load; `None` if no number does.
pub fn boxes(load: Load, utilisation: f64, law: Law) -> Option<u64> {
    whole_boxes(fleet(load, utilisation, law)?)
}

/// The boxes that carry a load, before they are made whole, with what is lost between them; `None` if no number does.
pub fn fleet(load: Load, utilisation: f64, law: Law) -> Option<f64> {
    Some(law.boxes(load.rates / utilisation)?.max(load.space))
}

/// The boxes made whole, one at least; `None` beyond [`MOST_BOXES`].
pub fn whole_boxes(boxes: f64) -> Option<u64> {
    let up = (boxes * (1.0 - ROUNDING)).ceil();
    (up.is_finite() && up >= 0.0 && up <= MOST_BOXES as f64).then_some((up as u64).max(1))
}

/// Spare boxes beside the needed ones.
pub fn spare(needed: u64, spare: Spare) -> u64 {
    match spare {
        Spare::None => 0,
        Spare::Boxes(more) => more,
        // What is left when one zone fails must be enough.
        Spare::Zones(zones) if zones > 1 => needed.div_ceil(zones - 1) * zones - needed,
        Spare::Zones(_) => needed,
    }
}

/// The cost of all boxes over their life, whose load is in saturated boxes; `None` without a price. The rent of a box
/// pays for its energy and its place.
pub fn cost(
    candidate: &Candidate,
    question: &Question,
    (shared, inputs): (&Shared, &Inputs),
    (total, load): (u64, f64),
) -> Option<Parts> {
    let (price, n) = (inputs.price?, total as f64);
    let hours = shared.life_s / HOUR_S;
    let is_hourly = candidate.price.as_ref().is_some_and(|price| price.hourly);
    let boxes = if is_hourly { price * hours * n } else { price * n };
    let energy = || {
        if is_hourly {
            return None;
        }
        let watts = mean_watts(candidate, question, inputs, (load / n).clamp(0.0, 1.0))?;
        Some(watts * n / 1000.0 * hours * shared.pue * shared.kwh?)
    };
    let space = || {
        let units = inputs.rack_units.filter(|_| !is_hourly)?;
        Some(units * n * shared.per_unit_month? * shared.months)
    };
    let circuits = || {
        let all = circuits(candidate, question, inputs, total).filter(|_| !is_hourly)?;
        Some(all as f64 * shared.per_circuit_month? * shared.months)
    };
    Some(Parts { boxes, energy: energy(), space: space(), circuits: circuits() })
}

/// The sum of the parts that count for every candidate.
pub fn counted(parts: Parts, common: Common) -> f64 {
    let energy = parts.energy.filter(|_| common.energy).unwrap_or(0.0);
    let space = parts.space.filter(|_| common.space).unwrap_or(0.0);
    let circuits = parts.circuits.filter(|_| common.circuits).unwrap_or(0.0);
    parts.boxes + energy + space + circuits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes_of(rates: f64, space: f64, utilisation: f64) -> Option<u64> {
        boxes(Load { rates, space }, utilisation, Law::default())
    }

    #[test]
    fn boxes_are_whole_and_enough() {
        assert_eq!(boxes_of(6.3, 0.0, 0.7), Some(9));
        assert_eq!(boxes_of(0.7 * 3.0, 0.0, 0.7), Some(3), "a rounding makes no box");
        assert_eq!(boxes_of(0.1, 4.2, 0.7), Some(5));
        assert_eq!(boxes_of(1e-9, 0.0, 1.0), Some(1));
        assert_eq!(boxes_of(1e12, 0.0, 1.0), None);
        assert_eq!(boxes_of(f64::INFINITY, 0.0, 1.0), None);
    }

    #[test]
    fn spares_survive_what_they_are_for() {
        assert_eq!([spare(7, Spare::None), spare(7, Spare::Boxes(2))], [0, 2]);
        // Three zones of 4: two of them have 8 boxes.
        assert_eq!(spare(7, Spare::Zones(3)), 5);
        assert_eq!(spare(6, Spare::Zones(2)), 6);
    }
}
