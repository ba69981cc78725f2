//! A candidate with its number of boxes and its cost, at the estimates and over all draws.

use model::doc::{BoxesDoc, CostDoc};

use super::draws::{self, Draw};
use super::world::{Common, MOST_BOXES, Own, Parts, Shared, boxes, cost, counted, load, spare};
use super::{Candidate, Question};

/// Ends of the interval that the draws give.
const LOW: f64 = 0.025;
const HIGH: f64 = 0.975;

/// A candidate that can do the work.
pub struct Sized<'a> {
    pub candidate: &'a Candidate,
    pub own: Own,
    pub draws: Vec<Draw>,
    /// The number that is enough with the probability that was asked for.
    pub needed: u64,
    /// By how much the load at that probability exceeds the load at the estimates: what keeps other worlds as sure.
    pub margin: f64,
    pub parts: Option<Parts>,
}

impl<'a> Sized<'a> {
    /// Fails with the reason where no number of boxes does the work as surely as was asked for.
    pub fn new(
        candidate: &'a Candidate,
        question: &Question,
        (all, middle): (&[Shared], &Shared),
        common: Common,
    ) -> Result<Option<Sized<'a>>, String> {
        let (Some(own), Some(draws)) =
            (draws::centre(candidate), draws::draws(candidate, question, all, common))
        else {
            return Ok(None);
        };
        let mut numbers: Vec<u64> = draws.iter().map(|draw| draw.boxes).collect();
        numbers.sort_unstable();
        let needed = at(&numbers, question.sure).unwrap_or(MOST_BOXES + 1);
        if needed > MOST_BOXES {
            return Err("no number of boxes does the work".to_owned());
        }
        let ideal = |draw: &Draw| draw.load.rates.max(draw.load.space);
        let mut loads: Vec<f64> = draws.iter().map(ideal).collect();
        loads.sort_by(f64::total_cmp);
        let full = load(question, &middle.demand, &own.capacity);
        let centre = full.rates.max(full.space);
        let margin = at(&loads, question.sure).map_or(1.0, |sure| (sure / centre).max(1.0));
        let total = needed + spare(needed, question.spare);
        let mean = load(question, &middle.mean, &own.capacity);
        let parts = cost(candidate, question, (middle, &own), (total, mean.rates));
        Ok(Some(Sized { candidate, own, draws, needed, margin, parts }))
    }

    pub fn total(&self, question: &Question) -> u64 {
        self.needed + spare(self.needed, question.spare)
    }

    /// Cost in another world, with the margin that keeps it as sure; `None` without a price or where no number of
    /// boxes is enough.
    pub fn cost_in(
        &self,
        question: &Question,
        (shared, own): (&Shared, &Own),
        margin: f64,
        common: Common,
    ) -> Option<f64> {
        let mut full = load(question, &shared.demand, &own.capacity);
        full.rates *= margin;
        full.space *= margin;
        let needed = boxes(full, shared.utilisation, question.scaling)?;
        let total = needed + spare(needed, question.spare);
        let mean = load(question, &shared.mean, &own.capacity);
        let parts = cost(self.candidate, question, (shared, own), (total, mean.rates))?;
        Some(counted(parts, common))
    }

    /// Cost of all boxes, of the parts that are compared.
    pub fn counted(&self, common: Common) -> Option<f64> {
        self.parts.map(|parts| counted(parts, common))
    }

    pub fn boxes_doc(&self, question: &Question, middle: &Shared) -> BoxesDoc {
        let mut numbers: Vec<u64> = self.draws.iter().map(|draw| draw.boxes).collect();
        numbers.sort_unstable();
        let enough = |n: u64| share(numbers.partition_point(|one| *one <= n), numbers.len());
        let probability = enough(self.needed);
        let full = load(question, &middle.demand, &self.own.capacity);
        let total = self.total(question);
        let has_rates = question.needs.iter().any(|need| !need.need.is_space());
        let known = draws::known(self.candidate).unwrap_or_default();
        BoxesDoc {
            needed: self.needed,
            probability,
            next: (probability < 1.0).then(|| (self.needed + 1, enough(self.needed + 1))),
            low: at(&numbers, LOW).unwrap_or(self.needed),
            high: at(&numbers, HIGH).unwrap_or(self.needed).min(MOST_BOXES),
            spare: spare(self.needed, question.spare),
            total,
            at_most: known.iter().any(|capacity| capacity.at_least),
            binding: self.binding(question, middle),
            utilisation: has_rates.then(|| full.rates / total as f64),
        }
    }

    /// The need that decides the number: of space if that fills more boxes, else the rate with the largest share.
    fn binding(&self, question: &Question, middle: &Shared) -> String {
        let each = || question.needs.iter().zip(&middle.demand).zip(&self.own.capacity);
        let largest = |is_space: bool| {
            let of_kind = each().filter(move |((need, _), _)| need.need.is_space() == is_space);
            let sized = of_kind.map(|((need, demand), capacity)| (demand / capacity, need.need.name()));
            sized.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let full = load(question, &middle.demand, &self.own.capacity);
        let (space, rate) = (largest(true), largest(false));
        let by_rate = full.rates / middle.utilisation;
        let chosen = match (space, rate) {
            (Some(space), Some(_)) if space.0.ceil() > by_rate.ceil() => Some(space),
            (space, rate) => rate.or(space),
        };
        chosen.map_or_else(String::new, |(_, name)| name.to_owned())
    }

    pub fn cost_doc(&self, question: &Question, common: Common) -> Option<CostDoc> {
        let parts = self.parts?;
        let mut drawn: Vec<f64> = self.draws.iter().filter_map(|draw| draw.whole).collect();
        drawn.sort_by(f64::total_cmp);
        let life = parts.sum();
        let mut without = Vec::new();
        if question.kwh.is_some() && parts.energy.is_none() {
            without.push(format!("energy: the watts of {} are unknown", self.candidate.name));
        } else if parts.energy.is_some() && !common.energy {
            without.push("energy is not compared: the watts of another candidate are unknown".to_owned());
        }
        if question.per_unit_month.is_some() && parts.space.is_none() {
            without.push(format!("space: the rack units of {} are unknown", self.candidate.name));
        } else if parts.space.is_some() && !common.space {
            without.push("space is not compared: the rack units of another candidate are unknown".to_owned());
        }
        Some(CostDoc {
            life,
            low: at(&drawn, LOW)?.min(life),
            high: at(&drawn, HIGH)?.max(life),
            per_month: life / question.months,
            boxes: parts.boxes,
            energy: parts.energy,
            space: parts.space,
            without,
        })
    }
}

/// The smallest value that so many of the sorted ones do not exceed.
pub fn at<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let place = (share * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(place.min(sorted.len()) - usize::from(!sorted.is_empty())).copied()
}

pub fn share(some: usize, of: usize) -> f64 {
    if of == 0 { f64::NAN } else { some as f64 / of as f64 }
}
