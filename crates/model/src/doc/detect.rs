//! The document of `boxscore detect`: runs, takes and minutes that it costs to tell a difference, by what is stored.
//!
//! A forecast: it takes the noise of the stored runs for that of the runs to come. Differences are relative (0.05 =
//! 5 %), toward more; times are seconds of measuring and preparing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MachineDoc, Noise};
use crate::card::{Card, Cards};
use crate::format;
use crate::metric::Better;
use crate::params::Params;
use crate::unit::Unit;

/// The cost of telling two machines apart, run against run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectRunsDoc {
    /// The runs that the noise comes from.
    pub noise_runs: Vec<String>,
    pub noise: Noise,
    /// Standard deviation of the logarithm from run to run.
    pub spread: f64,
    /// Runs of each machine; absent where the difference is within the margin, or too many would be needed.
    pub runs: Option<u64>,
    /// The time of these runs on each machine, of this figure alone, s.
    pub seconds: Option<f64>,
}

/// The cost of telling two arms of one study on this machine apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectArmsDoc {
    /// Standard deviation of the logarithm from sitting to sitting. Noise that both arms share is in it too, so that
    /// fewer sittings may do.
    pub spread: f64,
    /// Sittings; absent as `runs` is.
    pub sittings: Option<u64>,
    /// Takes of each arm: in each sitting as many as the stored runs had.
    pub takes: Option<u64>,
    /// The time of the study, with both arms of this figure, s.
    pub seconds: Option<f64>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectFigureDoc {
    /// The instrument's card, where it is known here; not printed.
    #[serde(skip)]
    pub card: Option<&'static Card>,
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub params: Params,
    pub definition: u32,
    pub headline: bool,
    /// Figures that are corrected together: those of the newest run that has this one.
    pub family: u64,
    pub machines: DetectRunsDoc,
    /// Absent where no stored run has several sittings of the figure.
    pub arms: Option<DetectArmsDoc>,
}

/// `boxscore detect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectDoc {
    /// The cards by which the document was made; not printed.
    #[serde(skip)]
    pub cards: Cards,
    pub schema: String,
    pub machine: MachineDoc,
    /// A run that speaks was planted by `--fake`: no measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planted: bool,
    /// The stored runs that speak, oldest first.
    pub runs: Vec<String>,
    /// The difference to be told.
    pub difference: f64,
    /// The share of cases in which it is called better or worse.
    pub power: f64,
    /// Differences within these are never called better or worse: between machines, and between arms of a study.
    pub margin: f64,
    pub arms_margin: f64,
    pub figures: Vec<DetectFigureDoc>,
    /// The result in a sentence.
    pub says: String,
}

impl DetectDoc {
    /// A margin with which the difference can be told, as the flag takes it.
    pub fn smaller_margin(&self) -> String {
        format::percent(self.difference / 2.0).replace(" %", "%")
    }
}
