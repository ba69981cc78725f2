//! The performance of a whole machine for its price or its power.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::words! {
    /// The cost that performance is divided by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Cost as word {
        Price = "price",
        Watts = "watts",
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
