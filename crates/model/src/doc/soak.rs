//! A figure over the time of `run --soak`: what it was at first, what lasts, and where its level falls.
//!
//! Seconds count from the start of the run. Shares are relative: 0.7 is 70 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::metric::Better;
use crate::params::Params;
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SoakDoc {
    /// The instrument's card, where it is known here; not printed.
    #[serde(skip)]
    pub card: Option<&'static Card>,
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub params: Params,
    pub arm: String,
    /// Measured takes.
    pub takes: u64,
    /// From the first take to the end of the last one.
    pub seconds: f64,
    /// Median of the takes of the first `first_seconds`: a minute, or a fifth of a shorter run.
    pub first: Option<f64>,
    pub first_seconds: f64,
    /// Median of the takes of the last third, or since the knee where that is later.
    pub sustained: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Sustained over first.
    pub share: Option<f64>,
    pub slope: Option<SlopeDoc>,
    pub knee: Option<KneeDoc>,
    /// Why there is no sustained figure, no interval of it, or neither slope nor knee.
    pub why: Option<String>,
}

/// Relative change of the figure in a minute, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopeDoc {
    pub per_minute: f64,
    pub low: f64,
    pub high: f64,
}

/// Where the level falls for good.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeDoc {
    /// The start of the first take at the new level.
    pub at: f64,
    pub before: f64,
    pub after: f64,
    /// One-sided, of a fall anywhere.
    pub p: f64,
}
