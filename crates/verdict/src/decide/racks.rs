//! The racks and circuits that boxes take, by their rack units and by what they draw at full load.
//!
//! A rack holds what fits its units and its watts. A circuit feeds the boxes of one rack, as many as it may carry at
//! full load; a box that draws more than one circuit carries takes several.

use model::doc::RackBound;
use model::format::number;

use super::energy::highest;
use super::values::Inputs;
use super::{Candidate, Question};

/// Numbers a hair below a whole one are that one.
const ROUNDING: f64 = 1e-9;

/// The boxes that a rack holds, and what binds there. `None` where neither is known, or where not one box fits.
pub fn per_rack(candidate: &Candidate, question: &Question, inputs: &Inputs) -> Option<(u64, RackBound)> {
    let (boxes, bound) = room(candidate, question, inputs)?;
    let whole = (boxes * (1.0 + ROUNDING)).floor() as u64;
    (whole > 0).then_some((whole, bound))
}

/// The same, before it is made whole.
fn room(candidate: &Candidate, question: &Question, inputs: &Inputs) -> Option<(f64, RackBound)> {
    let by_power = question.rack_watts.zip(full(candidate, inputs));
    let by_power = by_power.map(|(rack, one)| (rack / one, RackBound::Power));
    let by_space = inputs.rack_units.filter(|units| *units > 0.0);
    let by_space = by_space.map(|units| (question.rack_units / units, RackBound::Space));
    [by_space, by_power].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0))
}

fn full(candidate: &Candidate, inputs: &Inputs) -> Option<f64> {
    highest(candidate).map(|watts| watts * inputs.watts).filter(|watts| *watts > 0.0)
}

/// The boxes on a circuit, or the circuits of a box that draws more than one carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerCircuit {
    Boxes(u64),
    Circuits(u64),
}

/// `None` where no circuit was said, or where nobody knows what a box draws.
pub fn per_circuit(candidate: &Candidate, question: &Question, inputs: &Inputs) -> Option<PerCircuit> {
    let boxes = question.circuit_watts? / full(candidate, inputs)?;
    let whole = (boxes * (1.0 + ROUNDING)).floor() as u64;
    Some(match whole {
        0 => PerCircuit::Circuits((1.0 / boxes * (1.0 - ROUNDING)).ceil() as u64),
        whole => PerCircuit::Boxes(whole),
    })
}

/// The circuits of so many boxes; no circuit feeds two racks.
pub fn circuits(candidate: &Candidate, question: &Question, inputs: &Inputs, total: u64) -> Option<u64> {
    let each = match per_circuit(candidate, question, inputs)? {
        PerCircuit::Circuits(each) => return Some(total.saturating_mul(each)),
        PerCircuit::Boxes(each) => each,
    };
    let rack = per_rack(candidate, question, inputs).map_or(total.max(1), |(boxes, _)| boxes);
    Some(total / rack * rack.div_ceil(each) + (total % rack).div_ceil(each))
}

/// Sentences on a box that no rack holds, or no circuit feeds alone.
pub fn notes(candidate: &Candidate, question: &Question, inputs: &Inputs) -> Vec<String> {
    let name = &candidate.name;
    let watts = || full(candidate, inputs).map_or_else(String::new, number);
    let none = per_rack(candidate, question, inputs).is_none();
    let rack = room(candidate, question, inputs).filter(|_| none).map(|(_, bound)| match bound {
        RackBound::Power => {
            let rack = question.rack_watts.map_or_else(String::new, number);
            format!("no rack of {rack} W holds a {name}, which draws {} W", watts())
        }
        RackBound::Space => format!(
            "no rack of {} units holds a {name}, which has {}",
            number(question.rack_units),
            inputs.rack_units.map_or_else(String::new, number)
        ),
    });
    let circuit = match per_circuit(candidate, question, inputs) {
        Some(PerCircuit::Circuits(each)) => {
            Some(format!("a {name} draws {} W, more than a circuit carries: it takes {each}", watts()))
        }
        _ => None,
    };
    rack.into_iter().chain(circuit).collect()
}

#[cfg(test)]
mod tests {
    use super::super::draws::centre;
    use super::super::tests::{candidate, capacity, input, question, watts};
    use super::super::{Input, Ranged};
    use super::*;
    use model::Unit;

    /// A box of 100 W and 2 units.
    fn planted(circuit: f64, rack: Option<f64>) -> (Candidate, Question, Inputs) {
        let mut question = question(&["web 20000/s"]);
        (question.circuit_watts, question.rack_watts) = (Some(circuit), rack);
        let mut one = candidate("a", vec![capacity(5_000.0, 0.0, 4.0, Unit::PerSec)], 1.0);
        one.watts = watts(&[(0.0, 40.0), (1.0, 100.0)]);
        one.rack_units = Some(Input { value: Ranged::point(2.0), doc: input("rack units") });
        let inputs = centre(&one).expect("a capacity").inputs;
        (one, question, inputs)
    }

    #[test]
    fn a_rack_is_bound_by_its_units_or_by_its_watts() {
        let of = |rack| {
            let (one, question, inputs) = planted(1_000.0, rack);
            per_rack(&one, &question, &inputs)
        };
        assert_eq!(of(None), Some((21, RackBound::Space)));
        assert_eq!(of(Some(800.0)), Some((8, RackBound::Power)));
        assert_eq!(of(Some(99.0)), None);
        let (one, question, inputs) = planted(1_000.0, Some(99.0));
        assert_eq!(notes(&one, &question, &inputs), ["no rack of 99.0 W holds a a, which draws 100 W"]);
    }

    #[test]
    fn no_circuit_feeds_two_racks() {
        let of = |circuit, rack, total| {
            let (one, question, inputs) = planted(circuit, rack);
            circuits(&one, &question, &inputs, total)
        };
        // 5 on a circuit: 20 boxes have 4; in racks of 8 the two full ones have 2 each and the last has 1.
        assert_eq!((of(500.0, None, 20), of(500.0, Some(800.0), 20)), (Some(4), Some(5)));
        // A box of 100 W takes three circuits of 40 W.
        assert_eq!((of(40.0, None, 2), of(100.0, None, 2)), (Some(6), Some(2)));
        let (mut one, question, inputs) = planted(500.0, None);
        one.watts = None;
        assert_eq!(circuits(&one, &question, &inputs, 3), None);
    }
}
