//! Decisions: which boxes do the work, how many of them, at what cost, and what would change that.
//!
//! `capacity` finds what a box does for a need in measured runs and published points. `draws` carries its uncertainty
//! to the number of boxes, `world` from there to money, by `scaling`, `energy` and `racks`; `order` finds the cheapest,
//! `mixed` looks for two kinds together, `swing` moves each input. Nothing is read or printed here; money is in one
//! currency, powers in watts, times in seconds.

mod bought;
mod document;
mod draws;
mod energy;
mod law;
mod mixed;
mod order;
mod racks;
mod scaling;
mod settle;
mod sized;
mod sorted;
mod swing;
#[cfg(test)]
mod tests;
mod values;
mod words;
mod world;

pub mod capacity;

use model::doc::{InputDoc, LoggedDoc, MachineDoc};
use model::need::{Need, Ranged};
use model::{Unit, Validity};

pub use document::decide;
pub use model::older::Older;
pub use scaling::{Scaling, Together};
pub use words::life;

/// The work that a box does for a need: a positive figure, known by its logarithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// Natural logarithm of the figure, in the unit of the need.
    pub ln: f64,
    /// Standard error of `ln`; 0 for a point without an interval, such as a published figure or a fact.
    pub se: f64,
    /// Degrees of freedom behind `se`.
    pub dof: f64,
    pub unit: Unit,
    /// The box does at least this.
    pub at_least: bool,
    /// No network card took part in what was measured.
    pub no_card: bool,
    /// The figure for people, and the runs that it is of.
    pub figure: String,
    pub runs: Vec<String>,
    pub published: bool,
    pub validity: Validity,
    /// Rules that doubt or refuse it, and that the user accepts.
    pub doubted_by: Vec<String>,
    /// It was measured by an older definition, as those of all candidates were.
    pub older: Option<Older>,
    /// Why it is doubtful, or has no interval.
    pub why: Option<String>,
    /// The command that repeats what it was measured by, the seconds that it took, and the noise between runs that a
    /// further run would have; `None` where nothing can measure it again, as of points.
    pub repeat: Option<Repeat>,
}

/// How a capacity is measured again.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    pub command: String,
    /// The machines that it has to run on; `None`: here.
    pub on: Option<String>,
    pub seconds: Option<f64>,
    /// Standard deviation of the logarithm from run to run, and the runs that there are.
    pub noise: f64,
    pub runs: usize,
}

/// A side that does not say what a need asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    pub why: String,
    /// The command that would measure it.
    pub command: Option<String>,
}

/// An input with its provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub value: Ranged,
    pub doc: InputDoc,
}

/// The power of one box.
#[derive(Clone, Debug, PartialEq)]
pub struct Watts {
    /// Utilisation (0 to 1) and watts, by rising utilisation; a single point is of any utilisation.
    pub curve: Vec<(f64, f64)>,
    /// The rate at saturation of each need under whose load the curve was measured, in the order of the needs.
    pub saturation: Vec<Option<f64>>,
    /// Ends of the range as a factor of the curve.
    pub factor: Ranged,
    pub doc: InputDoc,
}

/// A price of one box.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    pub amount: Ranged,
    /// Rented by the hour, rather than bought.
    pub hourly: bool,
    pub currency: String,
    pub doc: InputDoc,
}

/// A kind of box with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub name: String,
    pub machine: MachineDoc,
    pub published: bool,
    /// Runs of it were planted by `--fake`.
    pub planted: bool,
    /// Its processor, CPUs and memory in words.
    pub sheet: Option<String>,
    /// In the order of the needs.
    pub capacities: Vec<Result<Capacity, Missing>>,
    /// The machines that commands which measure what is missing have to run on; `None`: here.
    pub on: Option<String>,
    pub price: Option<Cost>,
    pub watts: Option<Watts>,
    pub rack_units: Option<Input>,
    /// The share of it that may be used, where it has one of its own.
    pub utilisation: Option<Input>,
}

/// Spare boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spare {
    #[default]
    None,
    /// So many more.
    Boxes(u64),
    /// So many zones, of which one may fail.
    Zones(u64),
}

/// The question, and its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub needs: Vec<Demanded>,
    /// The share of a box's capacity that may be used, of boxes without one of their own.
    pub utilisation: Ranged,
    pub spare: Spare,
    pub scaling: Scaling,
    /// Seconds that the boxes live.
    pub life_s: f64,
    pub months: f64,
    /// Money for a kWh, and the factor for cooling and losses.
    pub kwh: Option<Ranged>,
    pub pue: Ranged,
    /// Money for a rack unit and month.
    pub per_unit_month: Option<Ranged>,
    /// Watts and rack units that one rack has.
    pub rack_watts: Option<f64>,
    pub rack_units: f64,
    /// Watts that one circuit carries all the time, and money for a circuit and month.
    pub circuit_watts: Option<f64>,
    pub per_circuit_month: Option<Ranged>,
    pub currency: Option<String>,
    /// Money for boxes: what one amount buys of each candidate, and what the user's budget buys.
    pub equal_price: Option<f64>,
    pub budget: Option<f64>,
    /// The probability with which the boxes must be enough.
    pub sure: f64,
    /// Seconds over which the demand grows, from the beginning of the life.
    pub growth_s: f64,
    /// The demand of each hour of a day as a share of the largest; empty: the demand is there all day.
    pub day: Vec<f64>,
    /// As documents show them.
    pub inputs: Vec<InputDoc>,
    /// To be read before the numbers: sentences without full stops.
    pub cautions: Vec<String>,
    pub notes: Vec<String>,
    pub draws: usize,
    pub seed: u64,
}

/// A need with its demand, growth included.
#[derive(Clone, Debug, PartialEq)]
pub struct Demanded {
    pub need: Need,
    pub demand: Ranged,
    /// Factor by which the demand grows until the end.
    pub growth: Ranged,
    /// Where the demand is from.
    pub from: String,
    /// The time that the log's own server took.
    pub logged: Option<LoggedDoc>,
}
