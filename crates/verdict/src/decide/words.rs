//! Numbers of a decision as people read them, and its sentences.

use model::doc::{BreakEvenDoc, CandidateDoc, CostDoc, MixedDoc};
use model::format::{self, Amounts};
use model::need::Ranged;
use stats::student_quantile;

use super::{Capacity, Question};

/// A demand that grows by less does not grow.
pub const LIKE: f64 = 1e-6;
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
    (question, demand): (&Question, &[f64]),
    mixed: Option<&MixedDoc>,
    break_even: &[BreakEvenDoc],
) -> Vec<String> {
    let Some(first) = docs.first() else { return Vec::new() };
    let mut all: Vec<String> = enough(first).into_iter().chain(before_growth(first)).collect();
    all.push(binds(first, question, demand));
    all.extend(first.cost.as_ref().and_then(|cost| money(first, cost, question)));
    all.extend(break_even.first().map(|one| {
        let BreakEvenDoc { input, then, now, at, at_shown, now_shown, first_shown, .. } = one;
        let way = if at > now { "above" } else { "below" };
        match first_shown {
            _ if at_shown == now_shown => format!("at the {input} of now ({now_shown}) {then} costs as much"),
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

/// `7 of box-b are enough with a probability of 93 %, 8 with 99.5 %; 1 more is spare`; nothing where the answer says
/// all of it.
fn enough(first: &CandidateDoc) -> Option<String> {
    let boxes = &first.boxes;
    let is = |count: u64| if count == 1 { "is" } else { "are" };
    let spare = match boxes.spare {
        0 => String::new(),
        spare => format!("; {spare} more {} spare", is(spare)),
    };
    let enough = format!("{} of {} {} enough", boxes.needed, first.name, is(boxes.needed));
    if boxes.probability >= format::NEARLY_ALL {
        return (boxes.spare > 0).then(|| format!("{enough}{spare}"));
    }
    let next = boxes.next.map_or_else(String::new, |(n, probability)| {
        format!(", {n} with {}", format::probability(probability))
    });
    let probability = format::probability(boxes.probability);
    Some(format!("{enough} with a probability of {probability}{next}{spare}"))
}

/// `before the demand grows 1 of box-b is enough; the cost is of all 3 from the first day on`; nothing where that many
/// are needed.
fn before_growth(first: &CandidateDoc) -> Option<String> {
    let boxes = &first.boxes;
    let now = boxes.now.filter(|now| *now < boxes.needed)?;
    let is = if now == 1 { "is" } else { "are" };
    let cost = match first.cost {
        Some(_) => format!("; the cost is of all {} from the first day on", boxes.total),
        None => String::new(),
    };
    Some(format!("before the demand grows {now} of {} {is} enough{cost}", first.name))
}

/// `web decides the number; asked for: 20,000/s now, and 24,000/s after growth; a box does 2,310/s with p99 < 20 ms
/// (2,190/s to 2,420/s), of which 70 % may be used`; of a box that does more than that, how many times as much.
fn binds(first: &CandidateDoc, question: &Question, demand: &[f64]) -> String {
    let boxes = &first.boxes;
    let mut each = first.capacities.iter().zip(&question.needs).zip(demand);
    let Some(((capacity, need), grown)) = each.find(|((one, _), _)| one.need == boxes.binding) else {
        return format!("{} decides the number", boxes.binding);
    };
    let decides = match question.needs.len() {
        1 => String::new(),
        _ => format!("{} decides the number; ", boxes.binding),
    };
    let (now, unit) = (need.demand.middle(), capacity.unit);
    let grows = (grown / now - 1.0).abs() > LIKE;
    let from = if need.from == "given" { String::new() } else { format!(", {}", need.from) };
    let asked = match grows {
        true => {
            format!(
                "{} now{from}, and {} after growth",
                format::amount(now, unit),
                format::amount(*grown, unit)
            )
        }
        false => format!("{}{from}", format::amount(now, unit)),
    };
    let least = if capacity.at_least { "at least " } else { "" };
    let amounts = Amounts::like(capacity.value, unit);
    let ends = capacity.low.zip(capacity.high).map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", amounts.text(low), amounts.text(high))
    });
    let limit = need.need.limit.as_ref().map_or_else(String::new, |limit| format!(" with {limit}"));
    let value = amounts.text(capacity.value);
    if need.need.is_space() {
        return format!("{decides}asked for: {asked}; a box has {least}{value}");
    }
    let times = capacity.value / grown;
    let times = match times >= 1.0 {
        true => format!(
            ", {} times {}",
            format::number(times),
            if grows { "the demand after growth" } else { "the demand" }
        ),
        false => String::new(),
    };
    format!(
        "{decides}asked for: {asked}; a box does {least}{value}{limit}{ends}{times}, of which {} may be used",
        used(first, question)
    )
}

/// The share of a box that may be used.
fn used(first: &CandidateDoc, question: &Question) -> String {
    let own = first.utilisation.as_ref().and_then(|own| {
        let value = own.value?;
        Some(Ranged { low: own.low.unwrap_or(value), high: own.high.unwrap_or(value) })
    });
    let Ranged { low, high } = own.unwrap_or(question.utilisation);
    match format::percent(low) {
        low_shown if low < high => format!("{low_shown} to {}", format::percent(high)),
        used => used,
    }
}

/// `the cost lies between 11,800 and 12,900 EUR; of 12,300 EUR 9,900 are for boxes, 2,100 for energy, 300 for space`;
/// nothing where the cost is that of the boxes alone, and known: the answer has it.
fn money(first: &CandidateDoc, cost: &CostDoc, question: &Question) -> Option<String> {
    let currency = question.currency.as_deref().unwrap_or_default();
    let number = format::number;
    let part = |value: Option<f64>, of: &str| value.map(|value| format!("{} for {of}", number(value)));
    // A price of energy or of a place that changes nothing is no silence.
    let is_paid =
        question.kwh.is_some() || question.per_unit_month.is_some() || question.per_circuit_month.is_some();
    let parts = [part(cost.energy, "energy"), part(cost.space, "space"), part(cost.circuits, "circuits")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let made = match parts.is_empty() {
        false => Some(format!(
            "of the {} {currency}, {} are for boxes, {}",
            number(cost.life),
            number(cost.boxes),
            parts.join(", ")
        )),
        true if first.rented && is_paid => {
            Some("the rent of boxes pays for their energy and place".to_owned())
        }
        true => None,
    };
    let (low, high) = (number(cost.low), number(cost.high));
    let ends = (low != high).then(|| format!("the cost lies between {low} and {high} {currency}"));
    let all: Vec<String> = ends.into_iter().chain(made).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
