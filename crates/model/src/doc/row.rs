//! One row of a comparison: a figure of each side, and their ratio.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::format;
use crate::metric::Better;
use crate::params::Params;
use crate::scope::Scope;
use crate::unit::Unit;
use crate::why::{Held, Why, WhyDoc};

crate::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Noise as word {
        Assumed = "assumed",
        Mixed = "mixed",
        Measured = "measured",
        /// Of arms of one study: another preparation is in it, another run is not.
        #[serde(rename = "within-run")]
        Within = "within this run",
    }
}

impl Noise {
    /// That of several figures: partly assumed where they differ. `None` without any.
    pub fn of_all(mut kinds: impl Iterator<Item = Noise>) -> Option<Noise> {
        let first = kinds.next()?;
        Some(if kinds.all(|kind| kind == first) { first } else { Noise::Mixed })
    }

    /// How it is known, for people.
    pub const fn how(self) -> &'static str {
        match self {
            Noise::Mixed => "partly assumed",
            Noise::Assumed | Noise::Measured | Noise::Within => self.word(),
        }
    }

    /// `assumed for 9 of 15 figures (floor 5 to 22 %); more runs measure it`, behind the word noise.
    pub fn clause(self, of: &str, floors: &[f64]) -> String {
        let of = if of.is_empty() { String::new() } else { format!(" {of}") };
        let floor = format::floor_range(floors).map(|range| format!(" (floor {range})")).unwrap_or_default();
        let more = match self {
            Noise::Assumed | Noise::Mixed => "; more runs measure it",
            Noise::Measured | Noise::Within => "",
        };
        format!("{}{of}{floor}{more}", self.how())
    }

    /// `the noise between runs is assumed (floor 5 to 22 %); more runs measure it`
    pub fn sentence(self, of: &str, floors: &[f64]) -> String {
        format!("the noise between runs is {}", self.clause(of, floors))
    }
}

crate::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum VerdictWord as word {
        Better = "better",
        Worse = "worse",
        Tie = "tie",
        CannotTell = "cannot-tell",
        Invalid = "invalid",
    }
}

crate::words! {
    /// The thing that is repeated, and of which a comparison therefore speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Replicate as word {
        /// Several boxes under one label, each with one value: their type.
        Box = "box",
        /// Runs of a box: these boxes.
        Run = "run",
        /// Sittings of one run: this run.
        Sitting = "sitting",
        /// Blocks of one run whose sittings are too few: this preparation.
        Block = "block",
    }
}

/// The figures of a row by what each side costs: requests per second per USD, and per watt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorthDoc {
    /// `USD` of what was bought, `USD/h` of what is paid by the hour; absent where a price is missing or both do not
    /// mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    pub arm_per_price: Option<f64>,
    pub base_per_price: Option<f64>,
    pub arm_per_watt: Option<f64>,
    pub base_per_watt: Option<f64>,
}

/// One metric of one arm against the base (the first argument). `ratio` is arm / base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowDoc {
    /// The instrument's card, where it is known here; not printed.
    #[serde(skip)]
    pub card: Option<&'static Card>,
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub params: Params,
    pub headline: bool,
    /// The index that the figure is one of, where there is one; absent of all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Scope>,
    /// Name of the arm, and of the base.
    pub arm: String,
    pub base: String,
    pub arm_value: Option<f64>,
    pub base_value: Option<f64>,
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub p: Option<f64>,
    /// After Holm's correction over the family of rows.
    pub p_holm: Option<f64>,
    pub floor: Option<f64>,
    pub noise: Option<Noise>,
    /// The runs that the noise between runs came from: those compared, and earlier ones of their machines that have the
    /// figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_runs: Vec<String>,
    pub margin: f64,
    pub verdict: VerdictWord,
    /// Why the verdict is as it is, or what a point is: `why` as a sentence and `reasons` as data.
    #[serde(flatten)]
    #[schemars(with = "WhyDoc")]
    pub why: Why,
    /// Either side is a published point without samples.
    pub point: bool,
    /// Goodness of the arm per currency unit against the base's, where both prices are known and alike. Of figures of
    /// the whole machine and rates of servers alone, since those are what a price buys; so is `per_watt`.
    pub per_price: Option<f64>,
    pub per_watt: Option<f64>,
    /// The rate of each side by its price and its power; absent where neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<WorthDoc>,
    /// Names of the sides whose value is a lower bound: the load generator set it. Where that withholds the verdict
    /// there is no ratio either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lower_bounds: Vec<String>,
}

/// Of a figure of which nothing is known yet.
impl Default for VerdictWord {
    fn default() -> VerdictWord {
        VerdictWord::CannotTell
    }
}

impl RowDoc {
    /// True where the figures differ beyond chance, as often wrong as `alpha` says, and only whether by more than the
    /// margin is open.
    pub fn is_apart(&self, alpha: f64) -> bool {
        let is_certain = self.p_holm.is_some_and(|p| p <= alpha);
        let excludes_one = self.low.zip(self.high).is_some_and(|(low, high)| low > 1.0 || high < 1.0);
        is_certain && excludes_one && matches!(self.why.held(), Some(Held::Interval | Held::AssumedNoise))
    }

    /// The part of a machine that the row speaks for, where its card says so.
    pub fn scope(&self) -> Option<Scope> {
        self.card?.scope(&self.metric, &self.params)
    }
}
