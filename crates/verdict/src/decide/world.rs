//! One world: a value of everything that is uncertain, and the boxes and the money that follow from it.
//!
//! Nothing is random here: draws, swings and break-evens all ask the same functions, each with a world of its own.

use super::{Candidate, Question, Scaling, Spare};

/// Numbers a hair above a whole one are that one: sums of shares are rounded.
const ROUNDING: f64 = 1e-9;
/// No fleet is larger.
pub const MOST_BOXES: u64 = 1_000_000_000;
const HOUR_S: f64 = 3600.0;

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
}

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
}

impl Load {
    /// Boxes at a utilisation, before they are made whole.
    pub fn ideal(self, utilisation: f64) -> f64 {
        (self.rates / utilisation).max(self.space)
    }
}

/// Parts of the cost that are known of every candidate with a price: what is compared is made of these alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    pub energy: bool,
    pub space: bool,
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
pub fn boxes(load: Load, utilisation: f64, scaling: Scaling) -> Option<u64> {
    let rates = scaled(load.rates / utilisation, scaling)?;
    Some(rates.max(whole(load.space)?).max(1))
}

fn whole(boxes: f64) -> Option<u64> {
    let up = (boxes * (1.0 - ROUNDING)).ceil();
    (up.is_finite() && up >= 0.0 && up <= MOST_BOXES as f64).then_some(up as u64)
}

/// The smallest number of boxes that does the work of so many ideal ones.
fn scaled(ideal: f64, scaling: Scaling) -> Option<u64> {
    let least = whole(ideal)?;
    let Scaling::Usl { sigma, kappa } = scaling else { return Some(least) };
    let does = |n: u64| {
        let n = n as f64;
        n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    };
    // Beyond its peak a further box takes work away.
    let peak = if kappa > 0.0 { ((1.0 - sigma).max(0.0) / kappa).sqrt().floor() } else { MOST_BOXES as f64 };
    let (mut low, mut high) = (least.max(1), (peak.min(MOST_BOXES as f64) as u64).max(1));
    let is_enough = |n: u64| does(n) >= ideal * (1.0 - ROUNDING);
    if low > high || !is_enough(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
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

/// Watts at a utilisation, by the two points around it; those of the nearest end outside. `None` without a curve.
pub fn watts_at(curve: &[(f64, f64)], utilisation: f64) -> Option<f64> {
    let (first, last) = (curve.first()?, curve.last()?);
    let behind = curve.iter().position(|(at, _)| *at >= utilisation);
    Some(match behind {
        None => last.1,
        Some(0) => first.1,
        Some(at) => {
            let ((x0, y0), (x1, y1)) = (curve[at - 1], curve[at]);
            if x1 > x0 { y0 + (y1 - y0) * (utilisation - x0) / (x1 - x0) } else { y1 }
        }
    })
}

/// Watts of one box in the mean over a day.
pub fn mean_watts(
    candidate: &Candidate,
    question: &Question,
    inputs: &Inputs,
    utilisation: f64,
) -> Option<f64> {
    let curve = &candidate.watts.as_ref()?.curve;
    if question.day.is_empty() {
        return Some(watts_at(curve, utilisation)? * inputs.watts);
    }
    let hours = question.day.iter().map(|share| watts_at(curve, utilisation * share));
    let all: Vec<f64> = hours.collect::<Option<_>>()?;
    Some(stats::mean(&all)? * inputs.watts)
}

/// The cost of all boxes over their life; `None` without a price. The rent of a box pays for its energy and its place.
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
    Some(Parts { boxes, energy: energy(), space: space() })
}

/// The sum of the parts that count for every candidate.
pub fn counted(parts: Parts, common: Common) -> f64 {
    let energy = parts.energy.filter(|_| common.energy).unwrap_or(0.0);
    let space = parts.space.filter(|_| common.space).unwrap_or(0.0);
    parts.boxes + energy + space
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes_of(rates: f64, space: f64, utilisation: f64) -> Option<u64> {
        boxes(Load { rates, space }, utilisation, Scaling::Linear)
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
    fn boxes_that_get_in_each_others_way_are_more_or_never_enough() {
        let usl = |sigma, kappa| boxes(Load { rates: 8.0, space: 0.0 }, 1.0, Scaling::Usl { sigma, kappa });
        assert_eq!(usl(0.0, 0.0), Some(8));
        // 8 = n / (1 + 0.05 (n - 1)) has n = 12.67.
        assert_eq!(usl(0.05, 0.0), Some(13));
        assert_eq!(usl(0.05, 0.01), None);
    }

    #[test]
    fn spares_survive_what_they_are_for() {
        assert_eq!([spare(7, Spare::None), spare(7, Spare::Boxes(2))], [0, 2]);
        // Three zones of 4: two of them have 8 boxes.
        assert_eq!(spare(7, Spare::Zones(3)), 5);
        assert_eq!(spare(6, Spare::Zones(2)), 6);
    }

    #[test]
    fn watts_lie_between_the_measured_levels() {
        let curve = [(0.0, 40.0), (0.5, 60.0), (1.0, 100.0)];
        let at = |utilisation| watts_at(&curve, utilisation);
        assert_eq!([at(0.0), at(0.25), at(0.75), at(1.2)], [Some(40.0), Some(50.0), Some(80.0), Some(100.0)]);
        assert_eq!((watts_at(&[], 0.5), watts_at(&[(0.0, 7.0)], 0.5)), (None, Some(7.0)));
    }
}
