//! A figure over the time of `run --soak`: what it was at first, what lasts, and where its level falls.
//!
//! Seconds count from the start of the run's first measured take. Shares are relative: 0.7 is 70 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::finding::Validity;
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
    /// As in `series`: a figure that was refused has no levels.
    pub validity: Validity,
    /// Measured takes.
    pub takes: u64,
    /// Start of the run's first measured take by the clock of the readings, from which the others count.
    pub from: f64,
    /// From the figure's first take to the end of its last one.
    pub seconds: f64,
    /// A minute, or a fifth of a shorter run.
    pub beginning_seconds: f64,
    /// Median of the takes of the first `first_seconds`: the beginning, or less where the level falls within it.
    pub first: Option<f64>,
    pub first_seconds: f64,
    /// Median of the takes of the last third, or since the last fall where that is later.
    pub sustained: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Sustained over first.
    pub share: Option<f64>,
    pub slope: Option<SlopeDoc>,
    pub knee: Option<KneeDoc>,
    /// Falls earlier than this are not told, since there are too few takes before them. Absent where no fall is told.
    pub blind_seconds: Option<f64>,
    /// Why no fall is told, whether there is one or not.
    pub no_knee: Option<String>,
    /// Why there is no sustained figure, no interval of it, or no slope.
    pub why: Option<String>,
}

/// Relative change of the figure in a minute, with its 95 % interval; since the last fall, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopeDoc {
    pub per_minute: f64,
    pub low: f64,
    pub high: f64,
}

/// Where the level falls for good; of several falls the clearest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeDoc {
    /// The start of the first take at the new level.
    pub at: f64,
    /// The 95 % interval of that moment: from the start of the last take that is surely before it.
    pub low: f64,
    pub high: f64,
    pub before: f64,
    pub after: f64,
    /// One-sided, of a fall anywhere.
    pub p: f64,
}
