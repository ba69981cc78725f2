//! The performance of a whole machine for its price or its power.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArmDoc, RunDoc};
use crate::price::Price;

crate::words! {
    /// The cost that performance is divided by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Cost as word {
        Price = "price",
        Watts = "watts",
    }
}

impl Cost {
    /// `per unit of price`, `per watt`.
    pub const fn unit(self) -> &'static str {
        match self {
            Cost::Price => "unit of price",
            Cost::Watts => "watt",
        }
    }
}

/// The index of the whole machine by what each side costs. Absent where there is no such index, or a cost is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueDoc {
    pub per: Cost,
    pub arm: String,
    /// The machine that is 1.
    pub reference: String,
    /// The cost of each side, with its unit.
    pub arm_cost: String,
    pub reference_cost: String,
    /// Performance per unit of cost, as a multiple of the reference's.
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// The side that gives more for its cost; null where the interval includes 1, so that it cannot be told.
    pub more: Option<String>,
    /// Figures of the index, and those of them that could not be told.
    pub components: u64,
    pub open: u64,
}

/// A cost with its unit: `0.10 USD/h`, `65 W`.
fn said(per: Cost, price: Option<&Price>, watts: Option<f64>) -> Option<String> {
    match per {
        Cost::Price => price.map(ToString::to_string),
        Cost::Watts => watts.map(|watts| format!("{watts} W")),
    }
}

impl ArmDoc {
    /// The cost of a side, with its unit.
    pub fn cost(&self, per: Cost) -> Option<String> {
        said(per, self.price.as_ref(), self.watts)
    }
}

impl RunDoc {
    /// The cost of the machine, with its unit.
    pub fn cost(&self, per: Cost) -> Option<String> {
        said(per, self.price.as_ref(), self.watts)
    }
}
