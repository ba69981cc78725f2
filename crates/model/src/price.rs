//! The price of what is measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, FactValue};
use crate::need::Ranged;
use crate::{exact, format};

/// The fact that says a band of prices.
const BAND: &str = "cost.band";

/// Price of a machine or a target: by the hour, or bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    #[serde(with = "exact")]
    #[schemars(with = "f64")]
    pub amount: f64,
    pub currency: String,
    pub hourly: bool,
}

/// A box that is bought for less, in whatever currency, is so cheap that its `/h` was probably forgotten.
const LEAST_BOUGHT: f64 = 10.0;

/// `rent is written 0.1/h`: to be said of an amount that buys a box, where it may be meant as a rent.
pub fn may_be_rent(amount: f64) -> Option<String> {
    (amount < LEAST_BOUGHT).then(|| format!("rent is written {amount}/h"))
}

/// An amount with more characters is shown with three digits.
const LONGEST: usize = 10;

/// `0.15 USD/h`, `0.10 USD/h`, `95 USD`.
impl fmt::Display for Price {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A rent that was given by the month has no short amount by the hour.
        let amount = self.amount.to_string();
        let amount = if amount.len() > LONGEST { format::number(self.amount) } else { amount };
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

    /// The ends of the band of prices to buy a machine that a fact says (`2000 to 2500 USD a node`), its currency, and
    /// the fact's caveat.
    pub fn band_of_facts(facts: &[Fact]) -> Option<(Ranged, String, Option<&str>)> {
        let fact = facts.iter().find(|fact| fact.key == BAND)?;
        let Some(FactValue::Text(text)) = &fact.value else { return None };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (low, high, currency) = match words.as_slice() {
            [low, "to", high, currency, ..] => (*low, *high, *currency),
            [ends, currency, ..] => {
                let (low, high) = ends.split_once("..")?;
                (low, high, *currency)
            }
            _ => return None,
        };
        let end = |text: &str| text.parse().ok().filter(|end: &f64| end.is_finite() && *end > 0.0);
        let (low, high) = (end(low)?, end(high)?);
        let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
        (low <= high && is_code).then(|| (Ranged { low, high }, currency.to_owned(), fact.why.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_of_prices_is_read_as_studies_and_users_write_it() {
        for text in ["2000 to 2500 USD a node", "2000..2500 USD"] {
            let facts = [Fact::text(BAND, text, "s").because("with memory")];
            let (band, currency, why) = Price::band_of_facts(&facts).unwrap();
            assert_eq!(
                (band.low, band.high, currency.as_str(), why),
                (2000.0, 2500.0, "USD", Some("with memory"))
            );
        }
        for text in ["", "cheap", "2500 to 2000 USD", "nan to 2 USD", "2000 to 2500 dollars", "-1 to 2 USD"] {
            assert!(Price::band_of_facts(&[Fact::text(BAND, text, "s")]).is_none(), "{text}");
        }
    }

    #[test]
    fn an_amount_that_hardly_buys_a_box_may_be_a_rent() {
        assert_eq!(may_be_rent(0.1).as_deref(), Some("rent is written 0.1/h"));
        assert_eq!(may_be_rent(429.0), None);
    }

    #[test]
    fn a_price_is_shown_as_it_is_said() {
        let price = |amount, hourly| Price { amount, currency: "EUR".to_owned(), hourly }.to_string();
        assert_eq!([price(0.1, true), price(0.192, true)], ["0.10 EUR/h", "0.192 EUR/h"]);
        assert_eq!(price(95.0 / 730.5, true), "0.130 EUR/h");
        assert_eq!([price(95.0, false), price(429.5, false)], ["95 EUR", "429.50 EUR"]);
    }
}
