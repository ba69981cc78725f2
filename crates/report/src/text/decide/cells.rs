//! The texts of a decision's figures, the same on the screen, the page and in sentences.

use model::Validity;
use model::doc::{
    BoxesDoc, BreakEvenDoc, CandidateDoc, CapacityDoc, DecideDoc, InputDoc, MixedDoc, NeedDoc, ScalingBasis,
    SettleDoc, SwingDoc,
};
use model::format::{self, Amounts, amount, fixed, number, percent, ratio};
use model::unit::Unit;

pub use model::format::probability;

/// `11 (93 %; 12: 99.5 %)`, `11+1 (93 %; 12+1: 99.5 %)`, `at most 9`.
pub fn boxes(boxes: &BoxesDoc) -> String {
    let with_spare = |needed: u64, spare: u64| match spare {
        0 => needed.to_string(),
        spare => format!("{needed}+{spare}"),
    };
    let most = if boxes.at_most { "at most " } else { "" };
    let first = format!("{most}{}", with_spare(boxes.needed, boxes.spare));
    match boxes.next {
        None if boxes.probability >= format::NEARLY_ALL => first,
        None => format!("{first} ({})", probability(boxes.probability)),
        Some((next, sure)) => {
            format!(
                "{first} ({}; {}: {})",
                probability(boxes.probability),
                with_spare(next, boxes.next_spare.unwrap_or(boxes.spare)),
                probability(sure)
            )
        }
    }
}

/// `2,310/s`, `at least 2,310/s`.
pub fn capacity(capacity: &CapacityDoc) -> String {
    let least = if capacity.at_least { "at least " } else { "" };
    format!("{least}{}", amount(capacity.value, capacity.unit))
}

/// The ends of its interval in the same unit.
pub fn interval(capacity: &CapacityDoc) -> Option<(String, String)> {
    let amounts = Amounts::like(capacity.value, capacity.unit);
    Some((amounts.bare(capacity.low?), amounts.bare(capacity.high?)))
}

/// A number that is whole by nature without decimals.
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9_999.5 { fixed(value, 0) } else { number(value) }
}

/// Money, without its currency.
pub fn money(amount: f64) -> String {
    plain(amount)
}

/// `48,200 EUR`.
pub fn money_in(amount: f64, doc: &DecideDoc) -> String {
    match &doc.currency {
        Some(currency) => format!("{} {currency}", money(amount)),
        None => money(amount),
    }
}

/// The currency, or `money` where there is none.
pub fn currency(doc: &DecideDoc) -> &str {
    doc.currency.as_deref().unwrap_or("money")
}

/// The number of units that a cost is told of: so many that it has digits.
pub struct Bulk {
    /// Of costs of a million.
    factor: f64,
    /// `M`, `G`, `TB`, and the words for it.
    letter: &'static str,
    pub words: &'static str,
}

/// Costs that differ by less are the same.
const STILL: f64 = 1e-6;
/// A cost below this is told of more units.
const LITTLE: f64 = 0.01;

impl Bulk {
    pub fn text(&self, per_million: f64) -> String {
        number(per_million * self.factor)
    }
}

/// The same for all candidates of a need.
pub fn bulk(need: usize, doc: &DecideDoc) -> Bulk {
    let is_bytes = doc.needs.get(need).is_some_and(|need| need.unit == Unit::BytesPerSec);
    let costs = doc.candidates.iter().filter_map(|one| one.per_million.get(need).copied().flatten());
    let most = costs.fold(0.0, f64::max);
    match most {
        _ if is_bytes => Bulk { factor: 1e6, letter: "TB", words: "a terabyte" },
        most if most >= LITTLE || most <= 0.0 => Bulk { factor: 1.0, letter: "M", words: "a million" },
        most if most >= LITTLE * 1e-3 => Bulk { factor: 1e3, letter: "G", words: "a billion" },
        _ => Bulk { factor: 1e6, letter: "T", words: "a trillion" },
    }
}

/// The head of its column: `EUR/M`.
pub fn bulk_head(bulk: &Bulk, doc: &DecideDoc) -> String {
    format!("{}/{}", currency(doc), bulk.letter)
}

/// The joules of one unit of a need's work, and the head of their column: of a request, or of a gigabyte.
pub fn joules(each: f64, unit: Unit) -> String {
    number(each * if unit == Unit::BytesPerSec { 1e9 } else { 1.0 })
}

pub fn joules_head(unit: Unit) -> &'static str {
    if unit == Unit::BytesPerSec { "J/GB" } else { "J" }
}

/// A capacity by a unit of money or by a watt: `72.0`, `8.44 MB/s`.
pub fn worth(value: f64, unit: Unit) -> String {
    if unit == Unit::PerSec { number(value) } else { amount(value, unit) }
}

/// A sentence that begins large, but for the name of a candidate or a need, which is written as it is.
pub fn sentence(text: &str, doc: &DecideDoc) -> String {
    let needs = doc.needs.iter().map(|need| need.name.as_str());
    let mut names = doc.candidates.iter().map(|one| one.name.as_str()).chain(needs);
    let is_name = names.any(|name| text.starts_with(name));
    if is_name { text.to_owned() } else { crate::section::sentence(text) }
}

/// The life as it was said; `life` where it was not.
pub fn life(doc: &DecideDoc) -> &str {
    doc.inputs.iter().find(|input| input.name == "life").map_or("life", |input| input.shown.as_str())
}

/// The racks, and the boxes that one holds: `2 (7 a rack, by power)`.
pub fn rack(candidate: &CandidateDoc) -> Option<String> {
    let racks = candidate.racks?;
    let per = candidate.boxes_per_rack.zip(candidate.rack_bound);
    let per =
        per.map_or_else(String::new, |(boxes, bound)| format!(" ({boxes} a rack, by {})", bound.word()));
    Some(format!("{racks}{per}"))
}

/// The circuits, and the boxes that one feeds: `3 (5 on each)`.
pub fn circuits(candidate: &CandidateDoc) -> Option<String> {
    let per = candidate.boxes_per_circuit.map_or_else(String::new, |boxes| format!(" ({boxes} on each)"));
    Some(format!("{}{per}", candidate.circuits?))
}

/// Racks and circuits: `2 (7 a rack, by power), 3 circuits (5 on each)`.
pub fn housing(candidate: &CandidateDoc) -> Option<String> {
    let circuits = candidate.circuits.and_then(|count| {
        let of = format::count(usize::try_from(count).ok()?, "circuit");
        let per = candidate.boxes_per_circuit.map_or_else(String::new, |boxes| format!(" ({boxes} on each)"));
        Some(format!("{of}{per}"))
    });
    let parts: Vec<String> = rack(candidate).into_iter().chain(circuits).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How the work of several boxes adds up: `assumed linear`, `contention 0.03 (0.02 to 0.04), coherence 0, measured on
/// 1, 2 and 4 boxes`.
pub fn scaling(doc: &DecideDoc) -> Option<String> {
    let one = doc.scaling.as_ref()?;
    if one.basis == ScalingBasis::Assumed {
        return Some("assumed linear".to_owned());
    }
    let loss = |name: &str, value: f64, low: Option<f64>, high: Option<f64>| {
        let ends = low.zip(high).filter(|(low, high)| low < high);
        let ends =
            ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", number(low), number(high)));
        format!("{name} {}{ends}", number(value))
    };
    let of = [
        loss("contention", one.contention, one.contention_low, one.contention_high),
        loss("coherence", one.coherence, one.coherence_low, one.coherence_high),
    ];
    let on: Vec<String> = one.points.iter().map(|point| point.boxes.to_string()).collect();
    let on = if on.is_empty() { String::new() } else { format!(" on {} boxes", format::list(&on)) };
    Some(format!("{}, {}{on}", of.join(", "), one.basis.word()))
}

/// The demand of a need, what it grows to, and where it is from: `20,000/s, 24,000/s after growth (given)`.
pub fn demand(need: &NeedDoc) -> String {
    let one = |value: f64| amount(value, need.unit);
    let now = match need.demand_low < need.demand_high {
        true => ends(&one(need.demand_low), &one(need.demand_high)),
        false => one(need.demand),
    };
    let grown = match grows(need) {
        true => format!(", {} after growth", one(need.grown)),
        false => String::new(),
    };
    format!("{now}{grown}")
}

fn grows(need: &NeedDoc) -> bool {
    (need.grown / need.demand - 1.0).abs() > 1e-6
}

/// How many times what is asked for in the end a box does, where it does as much.
pub fn times(capacity: &CapacityDoc, need: &NeedDoc) -> Option<String> {
    let times = capacity.value / need.grown;
    (times >= 1.0).then(|| number(times))
}

/// Something is doubted of a candidate's figures, or they are lower bounds by a doubt.
pub fn is_doubtful(candidate: &CandidateDoc) -> bool {
    candidate.capacities.iter().any(|one| matches!(one.validity, Validity::Doubtful | Validity::Invalid))
}

/// The swings that change something.
pub fn moving(doc: &DecideDoc) -> Vec<&SwingDoc> {
    let first = doc.candidates.first().map_or("", |one| one.name.as_str());
    let moves = |swing: &&SwingDoc| {
        let (low, high) = swing_ends(swing);
        let stays = swing.best_at_low == first && swing.best_at_high == first;
        (high / low - 1.0).abs() > STILL || !stays
    };
    doc.tornado.iter().filter(moves).collect()
}

/// The inputs whose ranges change nothing, in words: `rate of web on box-a 1,660/s to 1,760/s`.
pub fn still(doc: &DecideDoc) -> Option<String> {
    let moving: Vec<&str> = moving(doc).iter().map(|swing| swing.input.as_str()).collect();
    let still = doc.tornado.iter().filter(|swing| !moving.contains(&swing.input.as_str()));
    let all: Vec<String> =
        still.map(|swing| format!("{} {}", swing.input, ends(&swing.low, &swing.high))).collect();
    (!all.is_empty()).then(|| format!("within its range none of these changes the cost: {}", all.join("; ")))
}

/// Both ends of a range, the unit once: `0.20 to 0.40 EUR/kWh`.
pub fn ends(low: &str, high: &str) -> String {
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// True if no second candidate has a cost: then swings are costs and no ratios.
pub fn is_alone(doc: &DecideDoc) -> bool {
    second(doc).is_none()
}

/// The cost of the second candidate as a multiple of the first one's, as in the answer, at both ends of an input; or
/// the cost of the first where it is alone.
pub fn swing_ends(swing: &SwingDoc) -> (f64, f64) {
    swing.dearer_at_low.zip(swing.dearer_at_high).unwrap_or((swing.at_low, swing.at_high))
}

/// Both ends of what an input changes: `1.08 to 1.23`.
pub fn swing(swing: &SwingDoc, doc: &DecideDoc) -> String {
    let shown = |value: f64| if is_alone(doc) { money(value) } else { ratio(value) };
    let (low, high) = swing_ends(swing);
    let (low, high) = (shown(low), shown(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// The second candidate that has a cost: the one that the first is told from.
pub fn second(doc: &DecideDoc) -> Option<&CandidateDoc> {
    doc.candidates.iter().filter(|one| one.cost.is_some()).nth(1)
}

/// `price of box-a 240 EUR (now 250 EUR): box-b is cheapest`.
pub fn break_even(even: &BreakEvenDoc) -> String {
    let BreakEvenDoc { input, at_shown, now_shown, first_shown, then, .. } = even;
    match first_shown {
        _ if at_shown == now_shown => format!("{input} {now_shown}, as now: {then} costs as much"),
        Some(first) => {
            format!(
                "{input} {first} (now {now_shown}): another is cheapest at times, from {at_shown} on always {then}"
            )
        }
        None => format!("{input} {at_shown} (now {now_shown}): {then} is cheapest"),
    }
}

/// The cheapest candidate over the whole range of an input: `box-b stays`, `box-a at 0.20 EUR/kWh`.
pub fn best(swing: &SwingDoc, doc: &DecideDoc) -> String {
    let first = doc.candidates.first().map_or("", |one| one.name.as_str());
    let at = |best: &str, end: &str| (best != first).then(|| format!("{best} at {end}"));
    let ends = [at(&swing.best_at_low, &swing.low), at(&swing.best_at_high, &swing.high)];
    let others: Vec<String> = ends.into_iter().flatten().collect();
    if others.is_empty() { format!("{first} stays") } else { others.join(", ") }
}

/// `3 more runs, 6 min`.
pub fn effort(settle: &SettleDoc) -> String {
    let runs = format!("{} more {}", settle.runs, if settle.runs == 1 { "run" } else { "runs" });
    match settle.seconds {
        Some(seconds) => format!("{runs}, {}", format::rounded_duration(seconds)),
        None => runs,
    }
}

/// `8 of box-a and 2 of box-b: 45,000 EUR, 5 % less than one kind`.
pub fn mixed(mixed: &MixedDoc, doc: &DecideDoc) -> String {
    let parts: Vec<String> =
        mixed.parts.iter().map(|part| format!("{} of {}", part.boxes, part.candidate)).collect();
    format!(
        "{} together: {}, {} less than the cheapest kind alone",
        format::list(&parts),
        money_in(mixed.cost, doc),
        percent(mixed.saved)
    )
}

/// `0.30 EUR/kWh (--kwh)`, with the date of a stale one.
pub fn input(input: &InputDoc) -> String {
    let date = input.date.as_ref().map_or_else(String::new, |date| format!(", {date}"));
    let date = if input.from.contains(input.date.as_deref().unwrap_or("\0")) { String::new() } else { date };
    let stale = if input.is_stale { ", stale" } else { "" };
    format!("{} ({}{date}{stale})", input.shown, input.from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_boxes_have_their_probability() {
        let one = BoxesDoc {
            now: None,
            needed: 11,
            probability: 0.93,
            next: Some((12, 0.995)),
            next_spare: None,
            low: 10,
            high: 12,
            spare: 0,
            total: 11,
            at_most: false,
            binding: "web".to_owned(),
            utilisation: None,
        };
        assert_eq!(boxes(&one), "11 (93 %; 12: 99.5 %)");
        let spare = BoxesDoc { spare: 1, total: 12, ..one.clone() };
        assert_eq!(boxes(&spare), "11+1 (93 %; 12+1: 99.5 %)");
        let certain = BoxesDoc { probability: 1.0, next: None, at_most: true, ..one };
        assert_eq!(boxes(&certain), "at most 11");
    }

    #[test]
    fn probabilities_are_never_certain() {
        assert_eq!(
            [probability(0.93), probability(0.9999), probability(1e-5)],
            ["93 %", ">99.9 %", "<0.1 %"]
        );
    }
}
