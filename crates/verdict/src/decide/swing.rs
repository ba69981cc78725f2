//! The inputs that would change the answer: each uncertain input at both of its ends, and the value at which another
//! candidate becomes the cheapest.
//!
//! All else stays at its middle, with the boxes that its uncertainty asks for. The input itself is not uncertain then,
//! since its ends are what is looked at: capacities move over their 95 % interval. A break-even is where another
//! candidate is the cheapest from there on, as far as was looked.

use model::decision::SECONDS_A_MONTH;
use model::doc::{BreakEvenDoc, SwingDoc};
use model::format;
use model::need::Ranged;

use super::draws::{draws, known, mean_growth, shared};
use super::law::Law;
use super::scaling::Scaling;
use super::sized::{Sized, margin};
use super::values::Shared;
use super::words::ends;
use super::world::Common;
use super::{Capacity, Question};

/// Candidates whose own inputs are moved: the first and its rivals.
const LOOKED_AT: usize = 3;
/// Break-evens are looked for up to this factor on either side, in so many steps.
const WIDEST: f64 = 10.0;
const STEPS: i32 = 120;
const HALVINGS: usize = 40;
/// Prices are the same within this share.
const SAME_PRICE: f64 = 0.005;
/// Rounds of halving that leave less than is shown.
const LIKE: f64 = 1e-9;

/// An input that can take another value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Knob {
    Capacity {
        candidate: usize,
        need: usize,
    },
    Price(usize),
    Watts(usize),
    Demand(usize),
    Growth,
    Utilisation,
    /// Of a candidate that has its own.
    OwnUtilisation(usize),
    Contention,
    Coherence,
    Kwh,
    Pue,
    Space,
    Circuit,
}

/// Where another candidate becomes the cheapest.
struct Change {
    /// At times from here on; `None` where that is `at`.
    first: Option<f64>,
    /// Always from here on.
    at: f64,
    then: usize,
}

/// The sorted candidates, with what is needed to ask for their cost elsewhere.
pub struct Field<'s, 'a> {
    pub all: &'s [Sized<'a>],
    pub question: &'s Question,
    pub middle: &'s Shared,
    /// The draws of what all candidates share.
    pub shared: &'s [Shared],
    pub common: Common,
    /// Ends of contention and coherence, where they are not assumed.
    pub law: Option<(Ranged, Ranged)>,
}

impl Field<'_, '_> {
    /// The margin of each candidate.
    fn margins(&self) -> Vec<f64> {
        self.all.iter().map(|one| one.margin).collect()
    }

    /// The margin that each candidate has where this input is known: for the uncertainty of all others.
    fn margins_but(&self, knob: Knob) -> Vec<f64> {
        let mut question = self.question.clone();
        let known = |range: &mut Ranged| *range = Ranged::point(range.middle());
        let shared = match knob {
            Knob::Demand(need) => {
                known(&mut question.needs[need].demand);
                Some(shared(&question))
            }
            Knob::Growth => {
                question.needs.iter_mut().for_each(|need| known(&mut need.growth));
                Some(shared(&question))
            }
            Knob::Utilisation => {
                known(&mut question.utilisation);
                Some(shared(&question))
            }
            Knob::Contention | Knob::Coherence => {
                let Law { sigma, kappa } = self.middle.law;
                question.scaling =
                    Scaling::Stated { sigma: Ranged::point(sigma), kappa: Ranged::point(kappa) };
                Some(shared(&question))
            }
            Knob::Capacity { .. } | Knob::OwnUtilisation(_) => None,
            // They change no number of boxes.
            Knob::Price(_) | Knob::Watts(_) | Knob::Kwh | Knob::Pue | Knob::Space | Knob::Circuit => {
                return self.margins();
            }
        };
        let margin = |(place, one): (usize, &Sized<'_>)| {
            let mut candidate = one.candidate.clone();
            match knob {
                Knob::Capacity { candidate: moved, .. } | Knob::OwnUtilisation(moved) if moved != place => {
                    return one.margin;
                }
                Knob::Capacity { need, .. } => {
                    candidate.capacities[need].iter_mut().for_each(|capacity| capacity.se = 0.0);
                }
                Knob::OwnUtilisation(_) => {
                    candidate.utilisation.iter_mut().for_each(|used| known(&mut used.value));
                }
                _ => {}
            }
            let all = shared.as_deref().unwrap_or(self.shared);
            let draws = draws(&candidate, &question, all, self.common).unwrap_or_default();
            margin(&draws, &question, self.middle, &one.own)
        };
        self.all.iter().enumerate().map(margin).collect()
    }

    /// Costs in the world in which one input has another value; `None` of a candidate without one.
    fn costs(&self, knob: Knob, value: f64, margins: &[f64]) -> Vec<Option<f64>> {
        let mut shared = self.middle.clone();
        match knob {
            Knob::Demand(need) => {
                let growth = self.question.needs[need].growth.middle();
                (shared.demand[need], shared.mean[need]) =
                    (value * growth, value * mean_growth(growth, self.question));
            }
            Knob::Growth => {
                let mean = mean_growth(value, self.question);
                for (place, need) in self.question.needs.iter().enumerate() {
                    let demand = need.demand.middle();
                    (shared.demand[place], shared.mean[place]) = (demand * value, demand * mean);
                }
            }
            Knob::Utilisation => shared.utilisation = value,
            Knob::Kwh => shared.kwh = Some(value),
            Knob::Pue => shared.pue = value,
            Knob::Space => shared.per_unit_month = Some(value),
            Knob::Circuit => shared.per_circuit_month = Some(value),
            Knob::Contention => shared.law = Law { sigma: value, ..shared.law },
            Knob::Coherence => shared.law = Law { kappa: value, ..shared.law },
            Knob::Capacity { .. } | Knob::Price(_) | Knob::Watts(_) | Knob::OwnUtilisation(_) => {}
        }
        let cost = |(place, one): (usize, &Sized<'_>)| {
            let mut own = one.own.clone();
            match knob {
                Knob::Capacity { candidate, need } if candidate == place => own.capacity[need] = value,
                Knob::Price(candidate) if candidate == place => own.inputs.price = Some(value),
                Knob::Watts(candidate) if candidate == place => own.inputs.watts = value,
                Knob::OwnUtilisation(candidate) if candidate == place => own.inputs.utilisation = Some(value),
                _ => {}
            }
            one.cost_in(self.question, (&shared, &own), margins[place], self.common)
        };
        self.all.iter().enumerate().map(cost).collect()
    }

    fn best(&self, costs: &[Option<f64>]) -> Option<usize> {
        let priced = costs.iter().enumerate().filter_map(|(place, cost)| Some((place, (*cost)?)));
        priced.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
    }

    fn name(&self, place: Option<usize>) -> String {
        place.map_or_else(String::new, |place| self.all[place].candidate.name.clone())
    }

    /// Candidates whose own inputs are moved, by their places.
    fn looked_at(&self) -> impl Iterator<Item = (usize, &Sized<'_>)> {
        self.all.iter().enumerate().filter(|(_, one)| one.parts.is_some()).take(LOOKED_AT)
    }

    /// Inputs that have an interval or a range, with its ends.
    fn uncertain(&self) -> Vec<(Knob, Ranged)> {
        let question = self.question;
        let mut all: Vec<(Knob, Ranged)> = Vec::new();
        for (candidate, one) in self.looked_at() {
            let capacities = known(one.candidate).unwrap_or_default();
            let moved = capacities.into_iter().enumerate().filter_map(|(need, capacity)| {
                // Memory and disks can be bought; a published rate is as it is.
                let fact = || question.needs[need].need.is_space().then(|| Ranged::point(capacity.ln.exp()));
                let range = interval(capacity).map(|(low, high)| Ranged { low, high }).or_else(fact)?;
                Some((Knob::Capacity { candidate, need }, range))
            });
            all.extend(moved);
            all.extend(one.candidate.price.as_ref().map(|price| (Knob::Price(candidate), price.amount)));
            let counts = self.common.energy || self.common.circuits;
            let watts = one.candidate.watts.as_ref().filter(|_| counts);
            all.extend(watts.map(|watts| (Knob::Watts(candidate), watts.factor)));
            let used = one.candidate.utilisation.as_ref();
            all.extend(used.map(|used| (Knob::OwnUtilisation(candidate), used.value)));
        }
        for (place, need) in question.needs.iter().enumerate() {
            all.push((Knob::Demand(place), need.demand));
        }
        // All demands grow alike.
        all.extend(question.needs.first().map(|need| (Knob::Growth, need.growth)));
        if self.all.iter().any(|one| one.candidate.utilisation.is_none()) {
            all.push((Knob::Utilisation, question.utilisation));
        }
        let law = self
            .law
            .into_iter()
            .flat_map(|(sigma, kappa)| [(Knob::Contention, sigma), (Knob::Coherence, kappa)]);
        all.extend(law);
        all.extend(question.kwh.filter(|_| self.common.energy).map(|kwh| (Knob::Kwh, kwh)));
        all.extend(self.common.energy.then_some((Knob::Pue, question.pue)));
        all.extend(question.per_unit_month.filter(|_| self.common.space).map(|money| (Knob::Space, money)));
        let circuit = question.per_circuit_month.filter(|_| self.common.circuits);
        all.extend(circuit.map(|money| (Knob::Circuit, money)));
        all
    }

    /// The tornado: the largest effect first.
    pub fn swings(&self) -> Vec<SwingDoc> {
        let value = |costs: &[Option<f64>]| {
            let mut priced = costs.iter().filter_map(|cost| *cost);
            let first = priced.next()?;
            Some(priced.next().map_or(first, |second| first / second))
        };
        let is_alone = self.all.iter().filter(|one| one.parts.is_some()).count() < 2;
        let one = |(knob, range): (Knob, Ranged)| {
            let margins = self.margins_but(knob);
            let (low, high) = (self.costs(knob, range.low, &margins), self.costs(knob, range.high, &margins));
            let (at_low, at_high) = (value(&low)?, value(&high)?);
            let dearer = |ratio: f64| (!is_alone).then_some(1.0 / ratio);
            Some(SwingDoc {
                input: self.input(knob),
                low: self.shown(knob, range.low),
                high: self.shown(knob, range.high),
                at_low,
                at_high,
                dearer_at_low: dearer(at_low),
                dearer_at_high: dearer(at_high),
                best_at_low: self.name(self.best(&low)),
                best_at_high: self.name(self.best(&high)),
            })
        };
        let mut all: Vec<SwingDoc> =
            self.uncertain().into_iter().filter(|(_, range)| range.is_range()).filter_map(one).collect();
        let effect = |swing: &SwingDoc| (swing.at_high / swing.at_low).ln().abs();
        all.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
        all
    }

    /// The nearest values of inputs at which another candidate is the cheapest.
    pub fn break_evens(&self) -> Vec<BreakEvenDoc> {
        if self.all.iter().filter(|one| one.parts.is_some()).count() < 2 {
            return Vec::new();
        }
        let mut all: Vec<(f64, BreakEvenDoc)> = Vec::new();
        for (knob, range) in self.uncertain() {
            let now = self.now(knob, range);
            // What does not grow has no growth that could be another one.
            if knob == Knob::Growth && range == Ranged::point(1.0) {
                continue;
            }
            let Some(Change { first, at, then }) = self.break_even(knob, now) else { continue };
            if self.repeats_a_price(knob, at) {
                continue;
            }
            let doc = BreakEvenDoc {
                input: self.input(knob),
                now,
                at,
                now_shown: self.shown(knob, now),
                at_shown: self.shown(knob, at),
                first,
                first_shown: first.map(|first| self.shown(knob, first)),
                then: self.name(Some(then)),
            };
            all.push(((at / now).ln().abs(), doc));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter().map(|(_, doc)| doc).collect()
    }

    /// True of a price at which it is that of the other: of as many boxes the cheaper ones are the cheapest, which the
    /// prices say themselves.
    fn repeats_a_price(&self, knob: Knob, at: f64) -> bool {
        let Knob::Price(place) = knob else { return false };
        let is_like = |price: f64| (at / price).ln().abs() < SAME_PRICE;
        self.looked_at()
            .filter(|(other, _)| *other != place)
            .any(|(_, one)| one.own.inputs.price.is_some_and(is_like))
    }

    /// The value that an input has: the estimate of a capacity, else the middle of its range.
    fn now(&self, knob: Knob, range: Ranged) -> f64 {
        match knob {
            Knob::Capacity { candidate, need } => self.all[candidate].own.capacity[need],
            Knob::Contention => self.middle.law.sigma,
            Knob::Coherence => self.middle.law.kappa,
            _ => range.middle(),
        }
    }

    /// The nearest value of one input from which on another one stays the cheapest.
    fn break_even(&self, knob: Knob, now: f64) -> Option<Change> {
        let margins = self.margins();
        let best = |value: f64| self.best(&self.costs(knob, value, &margins));
        // From elsewhere than the answer nothing leads away from it.
        let here = best(now).filter(|here| *here == 0)?;
        let is_share = matches!(knob, Knob::Utilisation | Knob::OwnUtilisation(_));
        let most = if is_share { 1.0 / now } else { WIDEST };
        // A site draws what its boxes do, and a demand that shrinks is no growth.
        let is_from_1 = matches!(knob, Knob::Pue | Knob::Growth);
        let least = if is_from_1 { 1.0 / now } else { 1.0 / WIDEST };
        let look = |end: f64| {
            let at = |step: i32| now * end.powf(f64::from(step) / f64::from(STEPS));
            // Whole boxes make the cheapest change back and forth: what counts is from where on it stays another one.
            let is_other = |step: &i32| best(at(*step)).is_some_and(|other| other != here);
            let between = |step: i32| {
                let (mut near, mut far) = (at(step - 1), at(step));
                for _ in 0..HALVINGS {
                    let middle = (near * far).sqrt();
                    if best(middle) == Some(here) { near = middle } else { far = middle }
                }
                far
            };
            let step = (1..=STEPS).rev().take_while(is_other).last()?;
            let first = (1..step).find(is_other).map(between);
            let at = between(step);
            Some(Change { first, at, then: best(at)? })
        };
        let sides = [most, least].into_iter().filter(|end| (end - 1.0).abs() > LIKE).filter_map(look);
        sides.min_by(|a, b| (a.at / now).ln().abs().total_cmp(&(b.at / now).ln().abs()))
    }

    /// `rate of web on box-a`, `price of box-b`, `energy price`.
    fn input(&self, knob: Knob) -> String {
        let need = |place: usize| self.question.needs[place].need.name();
        let of = |place: usize| &self.all[place].candidate.name;
        match knob {
            Knob::Capacity { candidate, need: place } if self.question.needs[place].need.is_space() => {
                format!("{} of {}", need(place), of(candidate))
            }
            Knob::Capacity { candidate, need: place } => {
                format!("rate of {} on {}", need(place), of(candidate))
            }
            Knob::Price(place) => format!("price of {}", of(place)),
            Knob::Watts(place) => format!("watts of {}", of(place)),
            Knob::Demand(place) => format!("demand of {}", need(place)),
            Knob::Growth => "growth".to_owned(),
            Knob::Utilisation => "utilisation".to_owned(),
            Knob::OwnUtilisation(place) => format!("utilisation of {}", of(place)),
            Knob::Contention => "contention of boxes".to_owned(),
            Knob::Coherence => "coherence of boxes".to_owned(),
            Knob::Kwh => "energy price".to_owned(),
            Knob::Pue => "PUE".to_owned(),
            Knob::Space => "price of space".to_owned(),
            Knob::Circuit => "price of a circuit".to_owned(),
        }
    }

    fn shown(&self, knob: Knob, value: f64) -> String {
        let currency = self.question.currency.as_deref().unwrap_or_default();
        match knob {
            Knob::Capacity { need, .. } | Knob::Demand(need) => {
                format::amount(value, self.question.needs[need].need.unit)
            }
            Knob::Price(place) => {
                let is_hourly = self.all[place].candidate.price.as_ref().is_some_and(|price| price.hourly);
                format!("{} {currency}{}", format::number(value), if is_hourly { "/h" } else { "" })
            }
            Knob::Watts(place) => {
                let curve = self.all[place].candidate.watts.as_ref().map(|watts| watts.curve.as_slice());
                let full = curve.and_then(<[_]>::last).map_or(f64::NAN, |(_, watts)| watts * value);
                format!("{} W", format::number(full))
            }
            Knob::Growth => {
                let a_month = value.powf(SECONDS_A_MONTH / self.question.growth_s) - 1.0;
                format!("{} a month", format::percent(a_month))
            }
            Knob::Utilisation | Knob::OwnUtilisation(_) => format::percent(value),
            Knob::Contention | Knob::Coherence => format::number(value),
            Knob::Kwh => format!("{} {currency}/kWh", format::number(value)),
            Knob::Pue => format::ratio(value),
            Knob::Space => format!("{} {currency} a unit and month", format::number(value)),
            Knob::Circuit => format!("{} {currency} a circuit and month", format::number(value)),
        }
    }
}

/// The 95 % interval of a capacity; `None` of a point.
pub fn interval(capacity: &Capacity) -> Option<(f64, f64)> {
    (capacity.se > 0.0).then(|| ends(capacity))
}
