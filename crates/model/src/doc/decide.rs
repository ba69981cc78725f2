//! The document of `boxscore decide`: which boxes do the work, how many, at what cost, and what would change that.
//!
//! Values are in base units; money is in one currency, that of the document. Figures come from measured runs, published
//! points and inputs of the user's; each input says where it is from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::AnswerDoc;
use crate::doc::{EstimateDoc, MachineDoc};
use crate::finding::Validity;
use crate::unit::Unit;

/// The schema that is written.
pub const SCHEMA: &str = "boxscore.decide/1";

/// `boxscore decide`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecideDoc {
    pub schema: String,
    /// One sentence: how many of which box, at which cost beside the others.
    pub answer: AnswerDoc,
    /// The sentences behind it, one for each thing that a buyer has to know.
    pub paragraph: Vec<String>,
    /// Upper-case code such as `EUR`; absent where nothing has a price.
    pub currency: Option<String>,
    /// To be read before the numbers: a goal that the log itself breaks, what was not measured, figures in doubt.
    #[serde(default)]
    pub cautions: Vec<String>,
    pub needs: Vec<NeedDoc>,
    /// Inputs of the user's, with their provenance: life, price of energy, utilisation, spares.
    pub inputs: Vec<InputDoc>,
    /// Cheapest first; then those without a cost by their number of boxes.
    pub candidates: Vec<CandidateDoc>,
    pub excluded: Vec<ExcludedDoc>,
    /// Two kinds of boxes together, where that is cheaper than any kind alone.
    pub mixed: Option<MixedDoc>,
    /// Each input at both ends of its interval or range; the largest effect on the cost first.
    pub tornado: Vec<SwingDoc>,
    pub break_even: Vec<BreakEvenDoc>,
    /// Measurements that would settle a tie.
    pub settle: Vec<SettleDoc>,
    /// The boxes that one amount of money buys of each candidate, and those that the budget buys.
    pub equal_price: Vec<BoughtDoc>,
    pub budget: Vec<BoughtDoc>,
    /// Boxes and cost of each candidate over the demand: factors of what is asked for.
    pub curves: Vec<CostCurveDoc>,
    /// How the work of several boxes adds up.
    #[serde(default)]
    pub scaling: Option<FleetScalingDoc>,
    /// Remarks: stale prices, assumptions, figures that are not used.
    pub notes: Vec<String>,
    /// Draws behind each interval, and the seed that repeats them.
    pub draws: u64,
    pub seed: u64,
}

/// A need with the demand that counts, growth included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeedDoc {
    /// As it was written.
    pub text: String,
    pub name: String,
    pub unit: Unit,
    /// Now, and after growth.
    pub demand: f64,
    pub demand_low: f64,
    pub demand_high: f64,
    pub grown: f64,
    /// `p99 < 20 ms`, `errors < 0.1 %`.
    pub conditions: Vec<String>,
    /// Where the demand is from: `given`, `the busiest quarter hour of a.log (2026-05-01 20:15)`.
    pub from: String,
    /// The time that the log's own server took, where the need is of a log and has a limit.
    #[serde(default)]
    pub logged: Option<LoggedDoc>,
}

/// The response time of the server that wrote a log, at the percentile of the need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedDoc {
    pub percentile: String,
    pub seconds: f64,
    /// It is over the limit of the need.
    pub breaks: bool,
}

/// One input of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputDoc {
    /// `life`, `energy price`, `utilisation`, `PUE`, `spare`, `growth`.
    pub name: String,
    /// For people, with its unit: `4 years`, `0.30 EUR/kWh`.
    pub shown: String,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// `--kwh`, `default`, `prices.csv (2026-03-01, vendor list)`.
    pub from: String,
    /// The date that it has, if any, as it was written.
    pub date: Option<String>,
    pub is_stale: bool,
}

/// A kind of box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateDoc {
    pub name: String,
    pub machine: MachineDoc,
    /// Its figures are points that others published.
    pub published: bool,
    /// Runs of it were planted by `--fake`: no measurement.
    #[serde(default)]
    pub planted: bool,
    /// Its processor, the CPUs that it may use, its memory; absent where no fact is known.
    #[serde(default)]
    pub sheet: Option<String>,
    pub capacities: Vec<CapacityDoc>,
    pub boxes: BoxesDoc,
    pub price: Option<InputDoc>,
    /// The price is rent: `per_price` of its capacities is of an hour's.
    #[serde(default)]
    pub rented: bool,
    /// Of one box at the load that it gets; absent where nobody knows them.
    pub watts: Option<InputDoc>,
    pub rack_units: Option<InputDoc>,
    /// The share of it that is used, where it has one of its own: that of its curve's knee.
    #[serde(default)]
    pub utilisation: Option<InputDoc>,
    pub cost: Option<CostDoc>,
    /// Why there is no cost.
    pub no_cost: Option<String>,
    /// Watts and rack units of all boxes, and the racks that hold them within the space and the power of one.
    pub total_watts: Option<f64>,
    pub total_rack_units: Option<f64>,
    pub racks: Option<u64>,
    /// Boxes that one rack holds, and what binds there.
    pub boxes_per_rack: Option<u64>,
    pub rack_bound: Option<RackBound>,
    /// Circuits that feed all boxes at full load, and the boxes that one feeds; none where a box takes several.
    #[serde(default)]
    pub circuits: Option<u64>,
    #[serde(default)]
    pub boxes_per_circuit: Option<u64>,
    /// Joules of each unit of a need's work, in the order of the needs; none of space.
    pub joules: Vec<Option<f64>>,
    /// Money for a million units of each need's work over the whole life, at the demand.
    pub per_million: Vec<Option<f64>>,
    /// Probability that no other candidate is cheaper; none of published points, which have no draws.
    pub cheapest: Option<f64>,
    /// Candidates with the same number cannot be told apart by cost; 1 is the cheapest.
    pub tie: Option<u64>,
    /// Its cost as a multiple of that of the first candidate, with the interval of the draws.
    pub ratio: Option<EstimateDoc>,
}

crate::words! {
    /// The limit that a rack reaches first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum RackBound as word {
        Space = "space",
        Power = "power",
    }
}

/// The capacity of one box for one need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityDoc {
    pub need: String,
    pub unit: Unit,
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The box does at least this: the load generator, or the highest load that was tried, set it.
    pub at_least: bool,
    /// Of a unit of money: of the price to buy a box, or of an hour's rent. Of the middle of a range.
    #[serde(default)]
    pub per_price: Option<f64>,
    /// Of a watt of a box at full load.
    #[serde(default)]
    pub per_watt: Option<f64>,
    /// The figure: `web SLO p99 within 20 ms`.
    pub figure: String,
    pub runs: Vec<String>,
    pub validity: Validity,
    /// Rules that doubt or refuse it, and that the user accepts: `drift`.
    #[serde(default)]
    pub doubted_by: Vec<String>,
    /// Why it is doubtful, published, or has no interval.
    pub why: Option<String>,
}

/// How many boxes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoxesDoc {
    /// The smallest number that is enough with the probability that was asked for; spare boxes not counted.
    pub needed: u64,
    /// The probability that it is enough.
    pub probability: f64,
    /// The number that is as surely enough for the demand before it grows; absent where it does not grow.
    #[serde(default)]
    pub now: Option<u64>,
    /// One more, and its probability; absent where the first is certain.
    pub next: Option<(u64, f64)>,
    /// Spare boxes of that number.
    #[serde(default)]
    pub next_spare: Option<u64>,
    /// The 95 % interval of the number that is needed.
    pub low: u64,
    pub high: u64,
    pub spare: u64,
    /// `needed` and `spare`: what is bought.
    pub total: u64,
    /// Capacities are lower bounds, so that fewer boxes may be enough.
    pub at_most: bool,
    /// The need that decides the number.
    pub binding: String,
    /// Mean utilisation of the boxes at the demand, spare ones counted; of needs of rates.
    pub utilisation: Option<f64>,
}

/// Money over the whole life, of all boxes that are bought. Parts that are not known of every candidate are not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostDoc {
    pub life: f64,
    pub low: f64,
    pub high: f64,
    pub per_month: f64,
    /// Bought or rented boxes.
    pub boxes: f64,
    pub energy: Option<f64>,
    pub space: Option<f64>,
    #[serde(default)]
    pub circuits: Option<f64>,
    /// Parts that are not known, and so not in the sum: `energy: the watts of box-b are unknown`.
    pub without: Vec<String>,
}

crate::words! {
    /// Where it is from how the work of several boxes adds up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum ScalingBasis as word {
        Assumed = "assumed",
        Stated = "stated",
        Measured = "measured",
    }
}

/// How the work of several boxes adds up: n of them do n / (1 + contention (n - 1) + coherence n (n - 1)) times the
/// work of one. Both are 0 where it is assumed to be linear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetScalingDoc {
    pub basis: ScalingBasis,
    pub contention: f64,
    pub contention_low: Option<f64>,
    pub contention_high: Option<f64>,
    pub coherence: f64,
    pub coherence_low: Option<f64>,
    pub coherence_high: Option<f64>,
    /// The figures that it was fitted to.
    pub points: Vec<FleetPointDoc>,
}

/// The work that so many boxes did together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetPointDoc {
    pub boxes: u64,
    pub side: String,
    pub value: f64,
    pub figure: String,
    pub runs: Vec<String>,
}

/// A side that is no candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedDoc {
    pub name: String,
    pub need: Option<String>,
    pub why: String,
    /// The command that would measure what is missing.
    pub command: Option<String>,
    /// The machines that the command has to run on; absent where that is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
}

/// Two kinds of boxes that do the work together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixedDoc {
    pub parts: Vec<MixedPartDoc>,
    pub cost: f64,
    /// As a share of the cost of the cheapest kind alone.
    pub saved: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixedPartDoc {
    pub candidate: String,
    pub boxes: u64,
    /// The share of each need that these boxes do, in the order of the needs.
    pub shares: Vec<f64>,
}

/// The change by an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SwingDoc {
    /// `rate of web on box-a`, `energy price`, `demand of kv`.
    pub input: String,
    /// For people: `11.2 k/s`, `0.20 EUR/kWh`.
    pub low: String,
    pub high: String,
    /// Cost of the first candidate over the second one's, or its own cost where it is alone, at either end.
    pub at_low: f64,
    pub at_high: f64,
    /// Cost of the second candidate as a multiple of the first one's, as in the answer; absent where the first is
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearer_at_low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearer_at_high: Option<f64>,
    /// The cheapest candidate at either end.
    pub best_at_low: String,
    pub best_at_high: String,
}

/// The value of an input at which another candidate becomes the cheapest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEvenDoc {
    pub input: String,
    pub now: f64,
    pub at: f64,
    pub now_shown: String,
    pub at_shown: String,
    /// Another candidate is the cheapest from here on at times, as whole boxes have it, and always from `at` on; absent
    /// where that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_shown: Option<String>,
    /// The candidate that is cheapest beyond it.
    pub then: String,
}

/// A measurement that would settle a tie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettleDoc {
    pub command: String,
    /// The machines that the command has to run on; absent where that is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Further runs, and the seconds that they take together as earlier ones did.
    pub runs: u64,
    pub seconds: Option<f64>,
    pub why: String,
}

/// The boxes that one amount of money buys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoughtDoc {
    pub candidate: String,
    pub amount: f64,
    pub boxes: u64,
    /// Work of all these boxes in each need's unit, in the order of the needs, each by itself.
    pub does: Vec<Option<EstimateDoc>>,
    /// The number of boxes does the whole work.
    pub is_enough: bool,
}

/// Boxes and cost of a candidate over the demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostCurveDoc {
    pub candidate: String,
    pub points: Vec<CostPointDoc>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostPointDoc {
    /// Of the demand that is asked for.
    pub factor: f64,
    pub boxes: u64,
    pub cost: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}
