//! The price of what is measured.

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
