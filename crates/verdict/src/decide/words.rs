//! Numbers of a decision as people read them, and its sentences.

use model::doc::{BreakEvenDoc, CandidateDoc, CostDoc, MixedDoc};
use model::format::{self, Amounts};
use model::need::Ranged;
use stats::student_quantile;

use super::{Capacity, Question};

const DAY_S: f64 = 86_400.0;
const YEAR_S: f64 = 365.25 * DAY_S;

/// The ends of the 95 % interval of a capacity.
pub fn ends(capacity: &Capacity) -> (f64, f64) {
    let half = student_quantile(0.975, capacity.dof) * capacity.se;
    ((capacity.ln - half).exp(), (capacity.ln + half).exp())
}

/// `4 years`, `18 months`, `90 days`.
pub fn life(seconds: f64) -> String {
    let years = seconds / YEAR_S;
    if years >= 0.999 && (years - years.round()).abs() < 0.01 {
        let years = years.round();
        return format!("{} {}", format::fixed(years, 0), if years == 1.0 { "year" } else { "years" });
    }
    let months = years * 12.0;
    if months >= 1.0 {
        return format!("{} months", format::number(months));
    }
    format!("{} days", format::number(seconds / DAY_S))
}

/// The things that a buyer has to know, a sentence each, without full stops.
pub fn paragraph(
    docs: &[CandidateDoc],
    question: &Question,
    mixed: Option<&MixedDoc>,
    break_even: &[BreakEvenDoc],
) -> Vec<String> {
    let Some(first) = docs.first() else { return Vec::new() };
    let mut all = vec![enough(first), binds(first, question)];
    all.extend(first.cost.as_ref().map(|cost| money(first, cost, question)));
    all.extend(break_even.first().map(|one| {
        let BreakEvenDoc { input, then, now, at, at_shown, now_shown, first_shown, .. } = one;
        let way = if at > now { "above" } else { "below" };
        match first_shown {
            Some(first) => format!(
                "where the {input} is {way} {first} (now {now_shown}), another one may be the cheapest; {way} \
                 {at_shown} it always is {then}"
            ),
            None => format!("where the {input} is {way} {at_shown} (now {now_shown}), {then} is the cheapest"),
        }
    }));
    all.extend(mixed.map(|mixed| {
        let parts: Vec<String> =
            mixed.parts.iter().map(|part| format!("{} of {}", part.boxes, part.candidate)).collect();
        let saved = format::percent(mixed.saved);
        format!("{} together cost {saved} less than the cheapest kind alone", format::list(&parts))
    }));
    all
}

/// `7 of box-b are enough with a probability of 93 %, 8 with 99.5 %`.
fn enough(first: &CandidateDoc) -> String {
    let boxes = &first.boxes;
    let spare = if boxes.spare > 0 { format!("; {} more are spare", boxes.spare) } else { String::new() };
    if boxes.probability >= format::NEARLY_ALL {
        return format!("{} of {} are enough{spare}", boxes.needed, first.name);
    }
    let next = boxes.next.map_or_else(String::new, |(n, probability)| {
        format!(", {n} with {}", format::probability(probability))
    });
    let probability = format::probability(boxes.probability);
    format!("{} of {} are enough with a probability of {probability}{next}{spare}", boxes.needed, first.name)
}

/// `the number is decided by web: a box does 2,310/s with p99 < 20 ms (2,190/s to 2,420/s), of which 70 % is used`.
fn binds(first: &CandidateDoc, question: &Question) -> String {
    let boxes = &first.boxes;
    let each = first.capacities.iter().zip(&question.needs);
    let Some((capacity, need)) = each.into_iter().find(|(one, _)| one.need == boxes.binding) else {
        return format!("the number is decided by {}", boxes.binding);
    };
    let least = if capacity.at_least { "at least " } else { "" };
    let amounts = Amounts::like(capacity.value, capacity.unit);
    let ends = capacity.low.zip(capacity.high).map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", amounts.text(low), amounts.text(high))
    });
    let limit = need.need.limit.as_ref().map_or_else(String::new, |limit| format!(" with {limit}"));
    let value = amounts.text(capacity.value);
    if need.need.is_space() {
        return format!("the number is decided by {}: a box has {least}{value}", boxes.binding);
    }
    let own = first.utilisation.as_ref().and_then(|own| {
        let value = own.value?;
        Some(Ranged { low: own.low.unwrap_or(value), high: own.high.unwrap_or(value) })
    });
    let Ranged { low, high } = own.unwrap_or(question.utilisation);
    let used = match format::percent(low) {
        low_shown if low < high => format!("{low_shown} to {}", format::percent(high)),
        used => used,
    };
    format!(
        "the number is decided by {}: a box does {least}{value}{limit}{ends}, of which {used} is used",
        boxes.binding
    )
}

/// `12,300 EUR over 4 years (11,800 to 12,900), 256 EUR a month: 9,900 for boxes, 2,100 for energy, 300 for space`.
fn money(first: &CandidateDoc, cost: &CostDoc, question: &Question) -> String {
    let currency = question.currency.as_deref().unwrap_or_default();
    let number = format::number;
    let part = |value: Option<f64>, of: &str| value.map(|value| format!("{} for {of}", number(value)));
    // A price of energy or of a place that changes nothing is no silence.
    let is_paid =
        question.kwh.is_some() || question.per_unit_month.is_some() || question.per_circuit_month.is_some();
    let boxes = match first.rented && is_paid {
        true => "boxes, whose rent pays for their energy and place",
        false => "boxes",
    };
    let parts = [
        part(Some(cost.boxes), boxes),
        part(cost.energy, "energy"),
        part(cost.space, "space"),
        part(cost.circuits, "circuits"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let ends = if number(cost.low) == number(cost.high) {
        String::new()
    } else {
        format!(" ({} to {})", number(cost.low), number(cost.high))
    };
    format!(
        "all {} cost {} {currency} over {}{ends}, {} {currency} a month: {}",
        first.boxes.total,
        number(cost.life),
        life(question.life_s),
        number(cost.per_month),
        parts.join(", ")
    )
}
