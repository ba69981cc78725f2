//! How much more threads do than one: the points of a sweep over threads, and the law fitted through them.
//!
//! X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1)): Gunther's Universal Scalability Law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::params::Params;
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingDoc {
    /// The instrument's card, where it is known here; not printed.
    #[serde(skip)]
    pub card: Option<&'static Card>,
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    /// Without the number of threads.
    pub params: Params,
    pub arm: String,
    /// By rising number of threads: one a core first, then siblings.
    pub points: Vec<ScalingPointDoc>,
    /// The fit is of points up to so many threads: with more, threads share cores or CPUs, which is another law.
    pub fitted_to: Option<f64>,
    pub lambda: Option<f64>,
    /// The share of work that waits for its turn.
    pub sigma: Option<f64>,
    pub sigma_low: Option<f64>,
    pub sigma_high: Option<f64>,
    /// The cost of agreement between two threads, by which more may do less.
    pub kappa: Option<f64>,
    pub kappa_low: Option<f64>,
    pub kappa_high: Option<f64>,
    /// Threads beyond which more do less by the fit; absent where there is no such number.
    pub peak: Option<f64>,
    /// CPUs that the run could use, where known: more threads share them.
    pub cpus: Option<f64>,
    /// As many threads as CPUs over one.
    pub times: Option<f64>,
    /// As many threads as CPUs over one thread a core, where both were measured.
    pub siblings: Option<f64>,
    /// Why there is no fit, or none with intervals.
    pub why: Option<String>,
    /// The machine is virtual and does not show which CPUs share a core: two threads may be on one.
    pub hidden: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingPointDoc {
    pub threads: f64,
    pub value: f64,
}

/// The sweeps of one side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideScalingDoc {
    pub side: String,
    pub scaling: Vec<ScalingDoc>,
}
