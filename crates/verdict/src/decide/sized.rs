//! A candidate with its number of boxes and its cost, at the estimates and over all draws.

use model::doc::{BoxesDoc, CostDoc};

use super::draws::{self, Draw};
use super::energy::saturated;
use super::sorted::{at, share};
use super::values::{Own, Shared};
use super::words;
use super::world::{Common, MOST_BOXES, Parts, cost, counted, fleet, load, spare, whole_boxes};
use super::{Candidate, Question};

/// Ends of the interval that the draws give.
const LOW: f64 = 0.025;
const HIGH: f64 = 0.975;

/// A candidate that can do the work.
pub struct Sized<'a> {
    pub candidate: &'a Candidate,
    pub own: Own,
    pub draws: Vec<Draw>,
    /// Boxes that are needed, one value a draw, sorted.
    numbers: Vec<u64>,
    /// The number that is enough with the probability that was asked for.
    pub needed: u64,
    /// By how much the boxes at that probability exceed those at the estimates: what keeps other worlds as sure.
    pub margin: f64,
    pub parts: Option<Parts>,
    /// The cost of the boxes that are bought, one value a draw, sorted.
    bought: Vec<f64>,
}

/// By how much the boxes that are enough in so many draws exceed those at the estimates.
pub fn margin(draws: &[Draw], question: &Question, middle: &Shared, own: &Own) -> f64 {
    let mut fleets: Vec<f64> = draws.iter().map(|draw| draw.fleet).collect();
    fleets.sort_unstable_by(f64::total_cmp);
    let full = load(question, &middle.demand, &own.capacity);
    let centre = fleet(full, own.inputs.used(middle), middle.law);
    at(&fleets, question.sure).zip(centre).map_or(1.0, |(sure, centre)| (sure / centre).max(1.0))
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
            return Err(match question.scaling.is_linear() {
                true => "no number of boxes does the work".to_owned(),
                false => format!(
                    "by what several boxes lose together, no number of them does the work with a probability of {}",
                    model::format::probability(question.sure)
                ),
            });
        }
        let margin = margin(&draws, question, middle, &own);
        let total = needed + spare(needed, question.spare);
        let mean = saturated(candidate, question, &middle.mean, &own.capacity);
        let parts = cost(candidate, question, (middle, &own.inputs), (total, mean));
        let bought = |(draw, shared): (&Draw, &Shared)| {
            let parts = cost(candidate, question, (shared, &draw.inputs), (total, draw.mean))?;
            Some(counted(parts, common))
        };
        let mut bought: Vec<f64> = draws.iter().zip(all).filter_map(bought).collect();
        bought.sort_unstable_by(f64::total_cmp);
        Ok(Some(Sized { candidate, own, draws, numbers, needed, margin, parts, bought }))
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
        let full = load(question, &shared.demand, &own.capacity);
        let needed = whole_boxes(fleet(full, own.inputs.used(shared), shared.law)? * margin)?;
        let total = needed + spare(needed, question.spare);
        let mean = saturated(self.candidate, question, &shared.mean, &own.capacity);
        let parts = cost(self.candidate, question, (shared, &own.inputs), (total, mean))?;
        Some(counted(parts, common))
    }

    /// Cost of all boxes, of the parts that are compared.
    pub fn counted(&self, common: Common) -> Option<f64> {
        self.parts.map(|parts| counted(parts, common))
    }

    /// Fewer boxes may be enough: a capacity is a lower bound, and there is more than one box.
    pub fn is_bound(&self) -> bool {
        if self.needed < 2 {
            return false;
        }
        draws::known(self.candidate).unwrap_or_default().iter().any(|capacity| capacity.at_least)
    }

    pub fn boxes_doc(&self, question: &Question, middle: &Shared) -> BoxesDoc {
        let numbers = &self.numbers;
        let enough = |n: u64| share(numbers.partition_point(|one| *one <= n), numbers.len());
        let probability = enough(self.needed);
        let full = load(question, &middle.demand, &self.own.capacity);
        let total = self.total(question);
        let has_rates = question.needs.iter().any(|need| !need.need.is_space());
        let further = self.needed + 1;
        BoxesDoc {
            needed: self.needed,
            probability,
            now: self.now(question, middle),
            next: (probability < 1.0).then(|| (further, enough(further))),
            next_spare: (probability < 1.0).then(|| spare(further, question.spare)),
            low: at(numbers, LOW).unwrap_or(self.needed),
            high: at(numbers, HIGH).unwrap_or(self.needed).min(MOST_BOXES),
            spare: spare(self.needed, question.spare),
            total,
            at_most: self.is_bound(),
            binding: self.binding(question, middle),
            utilisation: has_rates.then(|| full.rates / total as f64),
        }
    }

    /// The number that is enough before the demand grows, with the same margin; `None` where it does not grow.
    fn now(&self, question: &Question, middle: &Shared) -> Option<u64> {
        let now: Vec<f64> = question.needs.iter().map(|need| need.demand.middle()).collect();
        if !now.iter().zip(&middle.demand).any(|(now, grown)| grown / now > 1.0 + words::LIKE) {
            return None;
        }
        let full = load(question, &now, &self.own.capacity);
        whole_boxes(fleet(full, self.own.inputs.used(middle), middle.law)? * self.margin)
    }

    /// The need that decides the number: of space if that needs more boxes in most draws, else the rate with the
    /// largest share.
    fn binding(&self, question: &Question, middle: &Shared) -> String {
        let each = || question.needs.iter().zip(&middle.demand).zip(&self.own.capacity);
        let largest = |is_space: bool| {
            let of_kind = each().filter(move |((need, _), _)| need.need.is_space() == is_space);
            let sized = of_kind.map(|((need, demand), capacity)| (demand / capacity, need.need.name()));
            sized.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
        };
        let by_space = self.draws.iter().filter(|draw| draw.load.space >= draw.fleet).count();
        let (space, rate) = (largest(true), largest(false));
        let chosen = if 2 * by_space > self.draws.len() { space.or(rate) } else { rate.or(space) };
        chosen.unwrap_or_default().to_owned()
    }

    pub fn cost_doc(&self, question: &Question, common: Common) -> Option<CostDoc> {
        let parts = self.parts?;
        let life = counted(parts, common);
        Some(CostDoc {
            life,
            low: at(&self.bought, LOW)?.min(life),
            high: at(&self.bought, HIGH)?.max(life),
            per_month: life / question.months,
            boxes: parts.boxes,
            energy: parts.energy.filter(|_| common.energy),
            space: parts.space.filter(|_| common.space),
            circuits: parts.circuits.filter(|_| common.circuits),
            without: self.without(question, common, parts),
        })
    }

    /// Parts that are not in the cost, and why.
    fn without(&self, question: &Question, common: Common, parts: Parts) -> Vec<String> {
        let name = &self.candidate.name;
        let currency = question.currency.as_deref().unwrap_or_default();
        let is_rented = self.candidate.price.as_ref().is_some_and(|price| price.hourly);
        let one = |asked: bool, part: Option<f64>, is_common: bool, what: &str, of: &str| match part {
            _ if !asked || is_rented => None,
            None => Some(format!("{what}: the {of} of {name} are unknown")),
            Some(money) if !is_common => {
                let money = model::format::number(money);
                Some(format!(
                    "{what} of {name}, {money} {currency}: the {of} of another candidate are unknown"
                ))
            }
            Some(_) => None,
        };
        let energy = one(question.kwh.is_some(), parts.energy, common.energy, "energy", "watts");
        let space = one(question.per_unit_month.is_some(), parts.space, common.space, "space", "rack units");
        let is_fed = question.circuit_watts.is_some() && question.per_circuit_month.is_some();
        let circuits = one(is_fed, parts.circuits, common.circuits, "circuits", "watts");
        energy.into_iter().chain(space).chain(circuits).collect()
    }
}
