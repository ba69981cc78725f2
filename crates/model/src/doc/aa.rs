//! The document of `boxscore aa`: runs of a machine against itself, and the differences that they let one tell.
//!
//! Differences are relative (0.05 = 5 %), toward more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MachineDoc, Noise, VerdictWord};
use crate::card::{Card, Cards};
use crate::metric::Better;
use crate::params::Params;
use crate::unit::Unit;

/// Two runs of one machine that a comparison calls different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaPairDoc {
    pub base: String,
    pub arm: String,
    pub ratio: Option<f64>,
    pub verdict: VerdictWord,
}

/// The source of a spread, as far as it is not measured by the figure's own runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PriorWord {
    /// Assumed of the figure's family.
    Family,
    /// The spreads of the other figures of the same runs.
    Figures,
}

/// One figure of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaFigureDoc {
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
    /// The runs that its noise comes from: the newest of this machine and configuration that have it.
    pub noise_runs: Vec<String>,
    pub noise: Noise,
    /// Standard deviation of the logarithm from run to run.
    pub spread: f64,
    /// The same by the figure's own runs alone; absent with one run.
    pub own_spread: Option<f64>,
    /// The share that the figure's own runs have in its spread; the rest is that of `prior`.
    pub own_share: f64,
    /// The source of the rest.
    pub prior: PriorWord,
    /// The difference that two runs stay within in 95 of 100 cases.
    pub floor: f64,
    /// The smallest difference to an equally noisy machine that one run each would call one in `power` of cases.
    pub told_by_one: f64,
    /// The same with `each` runs of both.
    pub told_by_each: f64,
    /// Pairs of runs of which both have the figure.
    pub pairs: u64,
    /// The pairs that were called different although nothing differs.
    pub different: Vec<AaPairDoc>,
}

/// `boxscore aa`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaDoc {
    /// The cards by which the document was made; not printed.
    #[serde(skip)]
    pub cards: Cards,
    pub schema: String,
    pub machine: MachineDoc,
    /// A run was planted by `--fake`: no measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planted: bool,
    /// The runs that were set against each other, oldest first.
    pub runs: Vec<String>,
    /// Runs on each side of the comparison that `told_by_each` is of.
    pub each: u64,
    pub margin: f64,
    /// The share of cases in which a difference that is given as told is told.
    pub power: f64,
    /// Headline figures, which are corrected together.
    pub family: u64,
    /// Pairs of runs that were compared.
    pub pairs: u64,
    /// Pairs of which any figure was called different.
    pub pairs_different: u64,
    pub figures: Vec<AaFigureDoc>,
    /// The result in a sentence.
    pub says: String,
}
