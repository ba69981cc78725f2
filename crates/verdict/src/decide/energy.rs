//! The power that boxes draw at their load: watts over utilisation, in the mean over the hours of a day.
//!
//! A power curve is over shares of saturation, and a capacity is what a box does within its conditions, which is less.
//! Where the curve was measured under the load of a need, the rate at its saturation says which share a rate is;
//! elsewhere a box that is full by its capacity is taken to be saturated.

use model::format::percent;

use super::values::Inputs;
use super::{Candidate, Question};

/// Shares this near are the same.
const NEAR: f64 = 1e-6;

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

/// The load of rates in saturated boxes.
pub fn saturated(candidate: &Candidate, question: &Question, demand: &[f64], capacity: &[f64]) -> f64 {
    let full = |place: usize| {
        let known = candidate.watts.as_ref().and_then(|watts| watts.saturation.get(place).copied().flatten());
        known.or_else(|| capacity.get(place).copied())
    };
    let rates = question.needs.iter().zip(demand).enumerate().filter(|(_, (need, _))| !need.need.is_space());
    rates.filter_map(|(place, (_, demand))| Some(demand / full(place)?)).sum()
}

/// Watts of one box in the mean over a day.
pub fn mean_watts(candidate: &Candidate, question: &Question, inputs: &Inputs, share: f64) -> Option<f64> {
    let curve = &candidate.watts.as_ref()?.curve;
    if question.day.is_empty() {
        return Some(watts_at(curve, share)? * inputs.watts);
    }
    let hours = question.day.iter().map(|hour| watts_at(curve, share * hour));
    let all: Vec<f64> = hours.collect::<Option<_>>()?;
    Some(stats::mean(&all)? * inputs.watts)
}

/// The watts of a box at full load, of a curve's own scale.
pub fn highest(candidate: &Candidate) -> Option<f64> {
    let watts = candidate.watts.as_ref()?;
    watts.curve.iter().map(|(_, watts)| *watts).max_by(f64::total_cmp).filter(|watts| *watts > 0.0)
}

/// The sentence on a mean load that is, at some hour, outside the levels whose watts were measured; `None` of one
/// within, and of a single value.
pub fn outside(candidate: &Candidate, question: &Question, share: f64) -> Option<String> {
    let curve = &candidate.watts.as_ref().filter(|watts| watts.curve.len() > 1)?.curve;
    let (first, last) = (curve.first()?.0, curve.last()?.0);
    let hours = question.day.iter().copied();
    let least = hours.clone().min_by(f64::total_cmp).unwrap_or(1.0);
    let most = hours.max_by(f64::total_cmp).unwrap_or(1.0);
    let (low, high, name) = (share * least, share * most, &candidate.name);
    let said = |load: f64, way: &str, level: f64, end: &str| {
        format!(
            "the load of {name} is at times {} of its saturation, {way} {}, the {end} level whose watts were measured: \
             it is taken to draw as much as there",
            percent(load),
            percent(level)
        )
    };
    if low < first - NEAR {
        Some(said(low, "below", first, "lowest"))
    } else {
        (high > last + NEAR).then(|| said(high, "above", last, "highest"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watts_lie_between_the_measured_levels() {
        let curve = [(0.0, 40.0), (0.5, 60.0), (1.0, 100.0)];
        let at = |utilisation| watts_at(&curve, utilisation);
        assert_eq!([at(0.0), at(0.25), at(0.75), at(1.2)], [Some(40.0), Some(50.0), Some(80.0), Some(100.0)]);
        assert_eq!((watts_at(&[], 0.5), watts_at(&[(0.0, 7.0)], 0.5)), (None, Some(7.0)));
    }
}
