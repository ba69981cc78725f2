//! The price of what is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exact;

/// Price of a machine or a target: by the hour, or bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    #[serde(with = "exact")]
    #[schemars(with = "f64")]
    pub amount: f64,
    pub currency: String,
    pub hourly: bool,
}
