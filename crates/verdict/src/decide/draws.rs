//! Draws: what is uncertain takes random values, each draw a world of its own, and each world has its number of boxes.
//!
//! A capacity is drawn as exp(ln + t se), t of Student with the capacity's degrees of freedom: the same spread between
//! runs that comparisons judge by. A range that the user gave is uniform between its ends. What all candidates share
//! (demand, energy price, utilisation) is one draw for all of them; what is a candidate's own has a stream of its own,
//! so that a further candidate changes no other one's draws.

use model::need::Ranged;
use stats::Rng;

use super::energy::saturated;
use super::scaling::Laws;
use super::values::{Inputs, Own, Shared};
use super::world::{Common, Load, MOST_BOXES, cost, counted, fleet, load, spare, whole_boxes};
use super::{Candidate, Capacity, Question};

/// One draw of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    pub load: Load,
    /// The share of a box that is used.
    pub used: f64,
    /// Boxes before they are made whole: by rates with what is lost between them, or by space, whichever is more.
    /// Infinite where no number is enough.
    pub fleet: f64,
    /// Needed, without spares; more than [`MOST_BOXES`] where no number is enough.
    pub boxes: u64,
    /// Of the boxes that this draw needs, spares included; of parts that are known of every candidate.
    pub cost: Option<f64>,
    /// The load of rates in saturated boxes, in the mean over the life.
    pub mean: f64,
    pub inputs: Inputs,
}

/// Inputs that all candidates share, one for each draw.
pub fn shared(question: &Question) -> Vec<Shared> {
    let mut rng = Rng::derive(question.seed, "shared");
    let mut uniform = |range: Ranged| range.low + (range.high - range.low) * rng.uniform();
    let mut laws = Laws::new(question);
    let mut one = || {
        // All demands grow together.
        let place = uniform(Ranged { low: 0.0, high: 1.0 });
        let grown: Vec<(f64, f64)> = question
            .needs
            .iter()
            .map(|need| {
                let growth = need.growth.low + (need.growth.high - need.growth.low) * place;
                (uniform(need.demand), growth)
            })
            .collect();
        Shared {
            demand: grown.iter().map(|(demand, growth)| demand * growth).collect(),
            mean: grown.iter().map(|(demand, growth)| demand * mean_growth(*growth, question)).collect(),
            utilisation: uniform(question.utilisation),
            kwh: question.kwh.map(&mut uniform),
            pue: uniform(question.pue),
            per_unit_month: question.per_unit_month.map(&mut uniform),
            per_circuit_month: question.per_circuit_month.map(&mut uniform),
            law: laws.draw(),
            life_s: question.life_s,
            months: question.months,
        }
    };
    (0..question.draws).map(|_| one()).collect()
}

/// The world of the middles: every range at its middle.
pub fn middle(question: &Question) -> Shared {
    let needs = question.needs.iter().map(|need| (need.demand.middle(), need.growth.middle()));
    Shared {
        demand: needs.clone().map(|(demand, growth)| demand * growth).collect(),
        mean: needs.map(|(demand, growth)| demand * mean_growth(growth, question)).collect(),
        utilisation: question.utilisation.middle(),
        kwh: question.kwh.map(Ranged::middle),
        pue: question.pue.middle(),
        per_unit_month: question.per_unit_month.map(Ranged::middle),
        per_circuit_month: question.per_circuit_month.map(Ranged::middle),
        law: question.scaling.middle(),
        life_s: question.life_s,
        months: question.months,
    }
}

/// The mean over the life of a demand that grows steadily by this factor and then stays, as a multiple of its
/// beginning.
pub fn mean_growth(factor: f64, question: &Question) -> f64 {
    let ln = factor.ln();
    let growing = if ln.abs() < 1e-9 { 1.0 } else { (factor - 1.0) / ln };
    let share = (question.growth_s / question.life_s).clamp(0.0, 1.0);
    share * growing + (1.0 - share) * factor
}

/// A candidate at the estimates of its capacities and the middles of its inputs. `None` if it misses a capacity.
pub fn centre(candidate: &Candidate) -> Option<Own> {
    Some(Own {
        capacity: known(candidate)?.iter().map(|capacity| capacity.ln.exp()).collect(),
        inputs: Inputs {
            price: candidate.price.as_ref().map(|price| price.amount.middle()),
            watts: candidate.watts.as_ref().map_or(1.0, |watts| watts.factor.middle()),
            rack_units: candidate.rack_units.as_ref().map(|units| units.value.middle()),
            utilisation: candidate.utilisation.as_ref().map(|used| used.value.middle()),
        },
    })
}

/// Its capacities; `None` if one is missing.
pub fn known(candidate: &Candidate) -> Option<Vec<&Capacity>> {
    candidate.capacities.iter().map(|capacity| capacity.as_ref().ok()).collect()
}

/// The draws of a candidate. `None` if it misses a capacity.
pub fn draws(
    candidate: &Candidate,
    question: &Question,
    all: &[Shared],
    common: Common,
) -> Option<Vec<Draw>> {
    let known = known(candidate)?;
    let mut own = centre(candidate)?;
    let stream = |what: &str| Rng::derive(question.seed, &format!("{} {what}", candidate.name));
    let mut rngs: Vec<Rng> = question.needs.iter().map(|need| stream(&need.need.text)).collect();
    let mut inputs = stream("inputs");
    let mut one = |shared: &Shared| {
        for ((drawn, capacity), rng) in own.capacity.iter_mut().zip(&known).zip(&mut rngs) {
            if capacity.se > 0.0 {
                *drawn = (capacity.ln + capacity.se * rng.student(capacity.dof)).exp();
            }
        }
        let mut uniform = |range: Ranged| range.low + (range.high - range.low) * inputs.uniform();
        own.inputs.price = candidate.price.as_ref().map(|price| uniform(price.amount));
        own.inputs.watts = candidate.watts.as_ref().map_or(1.0, |watts| uniform(watts.factor));
        own.inputs.rack_units = candidate.rack_units.as_ref().map(|units| uniform(units.value));
        own.inputs.utilisation = candidate.utilisation.as_ref().map(|used| uniform(used.value));
        draw(candidate, question, (shared, &own), common)
    };
    Some(all.iter().map(&mut one).collect())
}

fn draw(candidate: &Candidate, question: &Question, (shared, own): (&Shared, &Own), common: Common) -> Draw {
    let full = load(question, &shared.demand, &own.capacity);
    let mean = saturated(candidate, question, &shared.mean, &own.capacity);
    let (inputs, used) = (own.inputs, own.inputs.used(shared));
    let fleet = fleet(full, used, shared.law);
    let needed = fleet.and_then(whole_boxes);
    let priced = |needed: u64| {
        let total = needed + spare(needed, question.spare);
        let parts = cost(candidate, question, (shared, &inputs), (total, mean))?;
        Some(counted(parts, common))
    };
    Draw {
        load: full,
        used,
        fleet: fleet.unwrap_or(f64::INFINITY),
        boxes: needed.unwrap_or(MOST_BOXES + 1),
        cost: needed.and_then(priced),
        mean,
        inputs,
    }
}
