//! Reading facts: known numbers and texts, without those that a hypervisor made up.
//!
//! Numbers are in base units. A fact with a value and the caveat of a hypervisor counts as unknown here, since no
//! figure may be refused on its account.

use model::data::RunData;
use model::{Fact, FactValue};

/// A known text.
pub fn text<'a>(facts: &'a [Fact], key: &str) -> Option<&'a str> {
    match facts.iter().find(|fact| fact.key == key)?.value.as_ref()? {
        FactValue::Text(text) => Some(text),
        FactValue::Number(_) | FactValue::Flag(_) => None,
    }
}

/// A known number.
pub fn number(facts: &[Fact], key: &str) -> Option<f64> {
    let fact = facts.iter().find(|fact| fact.key == key)?;
    fact.value.as_ref()?.number().filter(|number| number.is_finite())
}

/// A positive number that limits what hardware can do, or why it is not known.
pub fn limit(run: &RunData, key: &str) -> Result<f64, String> {
    let Some(fact) = run.fact(key) else {
        return Err(format!("{key} was not looked up"));
    };
    let caveat = fact.why.as_deref().filter(|_| fact.is_of_hypervisor());
    match (fact.value.as_ref().and_then(FactValue::number), caveat) {
        (Some(_), Some(why)) => Err(format!("{key} is {why}")),
        (Some(number), None) if number.is_finite() && number > 0.0 => Ok(number),
        (Some(_), None) => Err(format!("{key} is not a positive number")),
        (None, _) => Err(format!("{key} is unknown{}", reason(fact))),
    }
}

fn reason(fact: &Fact) -> String {
    fact.why.as_ref().map_or_else(String::new, |why| format!(": {why}"))
}
