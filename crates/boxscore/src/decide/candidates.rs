//! From a side's data to a candidate: what it does for each need, its price, its watts, its rack units.

use std::collections::BTreeSet;

use model::decision::Key;
use model::doc::ExcludedDoc;
use model::need::Need;
use model::{Finding, Validity};
use verdict::decide::Candidate;
use verdict::decide::capacity::{Definitions, Options, capacities};
use verdict::{JudgedSide, place};

use super::asked::{Asked, Said};
use super::demand::Demands;
use super::knee;
use super::prices::Prices;
use super::watts::{self, Powered};
use crate::error::CliError;
use crate::lookup::resolve::Loaded;

/// Candidates, and what is said of them beside the figures.
pub struct Found {
    pub candidates: Vec<Candidate>,
    pub excluded: Vec<ExcludedDoc>,
    pub notes: Vec<String>,
    pub currency: Option<String>,
}

/// The sides, and the definitions by which their figures are read.
#[derive(Clone, Copy)]
pub struct Measured<'s, 'a> {
    pub sides: &'s [Loaded],
    pub judged: &'s [JudgedSide<'a>],
    pub definitions: &'s Definitions,
}

/// Every side as a candidate; where boxes are used up to their knees, each that has one. Fails where two are priced in
/// unlike currencies.
pub fn gather(
    asked: &Asked,
    Measured { sides, judged, definitions }: Measured<'_, '_>,
    demands: &Demands,
    prices: &Prices,
    at_knee: bool,
) -> Result<Found, CliError> {
    check_names(sides, prices)?;
    let accept = accepted(asked.all(Key::Accept), judged)?;
    let (cards, mixes) = (instruments::cards(), &demands.mixes);
    let options = Options { cards, accept: &accept, mixes, definitions };
    let needs: Vec<Need> = demands.needs.iter().map(|need| need.need.clone()).collect();
    let power = |(side, judged)| watts::of_side(side, judged, prices, (&needs, &demands.mixes));
    let mut powered: Vec<Option<Powered>> = sides.iter().zip(judged).map(power).collect();
    // A slip in what was typed changes all that follows.
    let mut notes = prices.slips(sides);
    notes.extend(slips(sides));
    notes.extend(powered.iter().flatten().filter_map(|one| one.note.clone()));
    notes.extend(watts::comparable(sides, &mut powered));
    notes.extend(prices.unmatched(sides));
    notes.extend(prices.without_currency(sides));
    let (mut candidates, mut excluded) = (Vec::new(), Vec::new());
    for ((side, judged), powered) in sides.iter().zip(judged).zip(powered) {
        let capacities = capacities(judged, &needs, &options);
        // What it does is missed first.
        let utilisation = match at_knee && capacities.iter().all(Result::is_ok) {
            true => knee::of_side(judged, &needs, &options),
            false => Ok(None),
        };
        let utilisation = match utilisation {
            Ok(utilisation) => utilisation,
            Err(missing) => {
                excluded.push(missing);
                continue;
            }
        };
        candidates.push(Candidate {
            name: side.name.clone(),
            machine: side.machine.clone(),
            published: side.runs.is_empty(),
            planted: side.runs.iter().any(|run| run.plan.fake.is_some()),
            sheet: sheet(side),
            capacities,
            on: place::to_measure(judged.side),
            price: prices.price(side)?,
            watts: powered.map(|powered| powered.watts),
            rack_units: prices.rack_units(side),
            utilisation,
        });
    }
    let currency = one_currency(&candidates)?;
    Ok(Found { candidates, excluded, notes, currency })
}

/// Its processor, CPUs and memory in words.
fn sheet(side: &Loaded) -> Option<String> {
    let spec = report::text::spec::Spec(&side.facts);
    let all: Vec<String> = [spec.processor(), spec.memory()].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The rules whose doubts are accepted. Fails for one that doubts nothing of these sides.
fn accepted(said: &[Said], sides: &[JudgedSide<'_>]) -> Result<Vec<String>, CliError> {
    if said.is_empty() {
        return Ok(Vec::new());
    }
    let findings = sides.iter().flat_map(|side| &side.runs).flat_map(|run| run.rulings());
    let findings = findings.map(|ruling| &ruling.finding);
    let doubts = findings.filter(|one| matches!(one.state, Validity::Doubtful | Validity::Invalid));
    let kinds: BTreeSet<&str> = doubts.map(Finding::kind).collect();
    match said.iter().find(|said| !kinds.contains(said.given.as_str())) {
        None => Ok(said.iter().map(|said| said.given.clone()).collect()),
        Some(said) => {
            let known: Vec<&str> = kinds.into_iter().collect();
            let hint = match known.as_slice() {
                [] => "no rule doubts a figure of them".to_owned(),
                known => format!("these do: {}", known.join(", ")),
            };
            let error = said.wrong("no figure of these sides is doubted by such a rule", &hint);
            Err(error.did_you_mean(&said.given, known))
        }
    }
}

/// Fails for a price or watts of a name that is no side's.
fn check_names(sides: &[Loaded], prices: &Prices) -> Result<(), CliError> {
    let is_side = |name: &str| sides.iter().any(|side| side.name == name || side.machine.name == name);
    match prices.names().find(|name| !is_side(name)) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
            let error =
                CliError::usage(format!("no side is called `{name}`, of which a price or watts are said"));
            Err(error.hint(format!("the sides are {}", known.join(", "))).did_you_mean(name, known))
        }
    }
}

/// The currency of all prices.
fn one_currency(candidates: &[Candidate]) -> Result<Option<String>, CliError> {
    let mut priced = candidates.iter().filter_map(|one| Some((one.name.as_str(), one.price.as_ref()?)));
    let Some((first, price)) = priced.next() else { return Ok(None) };
    match priced.find(|(_, other)| other.currency != price.currency) {
        None => Ok(Some(price.currency.clone())),
        Some((name, other)) => Err(CliError::usage(format!(
            "the price of {first} is in {}, that of {name} in {}",
            price.currency, other.currency
        ))
        .hint("say all prices in one currency: --price NAME=..., with --currency")),
    }
}

/// Remarks on a worth that a study printed and that does not follow from its own figures.
fn slips(sides: &[Loaded]) -> Vec<String> {
    let fact = |side: &Loaded| {
        let fact = side.facts.iter().find(|fact| fact.key == "cost.slip")?;
        Some(format!("{}: {}", side.name, fact.value.as_ref()?.text()))
    };
    sides.iter().filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use model::doc::{InputDoc, MachineDoc};
    use model::need::Ranged;
    use verdict::decide::Cost;

    use super::*;

    #[test]
    fn unlike_currencies_name_both_sides() {
        let one = |name: &str, currency: &str| Candidate {
            name: name.to_owned(),
            machine: MachineDoc { id: String::new(), name: name.to_owned() },
            published: false,
            planted: false,
            sheet: None,
            capacities: Vec::new(),
            on: None,
            price: Some(Cost {
                amount: Ranged::point(1.0),
                hourly: false,
                currency: currency.to_owned(),
                doc: InputDoc {
                    name: "price".to_owned(),
                    shown: String::new(),
                    value: None,
                    low: None,
                    high: None,
                    from: String::new(),
                    date: None,
                    is_stale: false,
                },
            }),
            watts: None,
            rack_units: None,
            utilisation: None,
        };
        let error = one_currency(&[one("a", "EUR"), one("b", "USD")]).unwrap_err();
        assert!(error.message.contains("of a is in EUR") && error.message.contains("of b in USD"), "{error}");
        assert_eq!(one_currency(&[one("a", "EUR"), one("b", "EUR")]).unwrap().as_deref(), Some("EUR"));
        assert_eq!(one_currency(&[]).unwrap(), None);
    }
}
