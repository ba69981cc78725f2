//! The price of what is measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exact;
use crate::fact::Fact;

/// Price of a machine or a target: by the hour, or bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    #[serde(with = "exact")]
    #[schemars(with = "f64")]
    pub amount: f64,
    pub currency: String,
    pub hourly: bool,
}

/// `0.15 USD/h`, `0.10 USD/h`, `95 USD`.
impl fmt::Display for Price {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.amount.to_string();
        let is_tenth = amount.split_once('.').is_some_and(|(_, part)| part.len() == 1);
        let zero = if is_tenth { "0" } else { "" };
        write!(to, "{amount}{zero} {}{}", self.currency, if self.hourly { "/h" } else { "" })
    }
}

impl Price {
    /// The key of the fact that says it of a machine: `price.usd`, `price.eur.hour`.
    pub fn key(&self) -> String {
        let per = if self.hourly { ".hour" } else { "" };
        format!("price.{}{per}", self.currency.to_lowercase())
    }

    /// The price that facts of a machine say.
    pub fn of_facts(facts: &[Fact]) -> Option<Price> {
        facts.iter().find_map(|fact| {
            let parts: Vec<&str> = fact.key.split('.').collect();
            let (currency, hourly) = match parts.as_slice() {
                ["price", currency] => (currency, false),
                ["price", currency, "hour"] => (currency, true),
                _ => return None,
            };
            let amount = fact.value.as_ref()?.number()?;
            Some(Price { amount, currency: currency.to_uppercase(), hourly })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_shown_as_it_is_said() {
        let price = |amount, hourly| Price { amount, currency: "EUR".to_owned(), hourly }.to_string();
        assert_eq!([price(0.1, true), price(0.192, true)], ["0.10 EUR/h", "0.192 EUR/h"]);
        assert_eq!([price(95.0, false), price(429.5, false)], ["95 EUR", "429.50 EUR"]);
    }
}
