//! The performance of a whole machine for its price or its power.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArmDoc, RowDoc, RunDoc, VerdictWord};
use crate::metric::Better;
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
    /// Figures of the index, and those that do not tell by themselves which side gives more for its cost.
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

/// A figure by what both sides cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Goodness of the arm per unit of cost, as a multiple of the base's.
    pub ratio: f64,
    /// Its interval excludes 1, so that one side is known to give more for its cost.
    pub is_told: bool,
}

impl RowDoc {
    /// The figure by one cost. The interval is that of the figure, since the cost is known; a figure that is not
    /// believed, and a lower bound that only might lead the other way, tell nothing.
    pub fn worth_by(&self, per: Cost) -> Option<Worth> {
        let ratio = match per {
            Cost::Price => self.per_price,
            Cost::Watts => self.per_watt,
        }?;
        let turned = |value: f64| if self.better == Better::Lower { 1.0 / value } else { value };
        let cost = turned(self.ratio?) / ratio;
        let wider = 1.0 + self.why.widened().unwrap_or(0.0);
        let ends = self.low.zip(self.high).map(|(low, high)| [turned(low) / cost, turned(high) / cost]);
        let ends = ends.map(|[a, b]| (a.min(b) / wider, a.max(b) * wider));
        let is_bound = |side: &String| self.lower_bounds.contains(side);
        let is_believed = self.verdict != VerdictWord::Invalid && self.why.withheld().is_none();
        let is_told = ends.is_some_and(|(low, high)| {
            is_believed && ((low > 1.0 && !is_bound(&self.base)) || (high < 1.0 && !is_bound(&self.arm)))
        });
        Some(Worth { ratio, is_told })
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
