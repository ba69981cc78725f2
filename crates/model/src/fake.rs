//! A planted world: with `--fake FILE` everything runs but the measuring. Values, drift, between-run spread and
//! faults come from here and a seed, so that a run gives the same bytes every time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::list;
use crate::params::Params;
use crate::ranges::many;

/// In front of what screens say of a planted run.
pub const PLANTED: &str = "planted by --fake: no measurement";

/// `north and south are planted by --fake: no measurement`: a clause on sides whose runs were planted; `None` of none.
pub fn planted(names: &[String]) -> Option<String> {
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb} {PLANTED}", many(names).unwrap_or_else(|| list(names))))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    Constant,
    #[default]
    Normal,
    LogNormal,
    Exponential,
}

/// Noise that a take shares with the takes before it: the logarithm is an autoregressive process over blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// Standard deviation of the logarithm.
    pub sd: f64,
    /// Correlation of one block with the next, from 0 to 1.
    pub phi: f64,
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The first block at the new level.
    pub from: u32,
    /// The new level over the old one.
    pub factor: f64,
}

/// The planted values of a series. The first entry that matches an instrument, metric, machine, arm and params is
/// used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FakeSeries {
    /// Instrument name, or `*`.
    pub instrument: String,
    /// Metric name; absent: every metric of the instrument.
    #[serde(default)]
    pub metric: Option<String>,
    #[serde(default)]
    pub machine: Option<String>,
    #[serde(default)]
    pub arm: Option<String>,
    #[serde(default)]
    pub params: Params,
    /// In the metric's base unit.
    pub median: f64,
    #[serde(default)]
    pub shape: Shape,
    /// Relative spread of takes within a run (standard deviation of the logarithm).
    #[serde(default)]
    pub spread: f64,
    /// Relative spread between runs.
    #[serde(default)]
    pub between: f64,
    /// Relative spread between the sittings of a run, drawn for each sitting and arm.
    #[serde(default)]
    pub sitting: f64,
    /// Slow noise of the machine's own, which its arms share.
    #[serde(default)]
    pub slow: Option<Slow>,
    /// Relative drift from one take to the next.
    #[serde(default)]
    pub drift: f64,
    /// From a block on, another level.
    #[serde(default)]
    pub step: Option<Step>,
    /// Blocks in which the take fails (block 0 is the warm-up).
    #[serde(default)]
    pub faults: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FakeMachine {
    /// Facts as `key = text or number`, in base units, over those of the planted default machine.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FakeWorld {
    pub seed: u64,
    /// Wall clock at the start of the first run, seconds since 1970.
    #[serde(default = "start")]
    pub start: i64,
    /// How long a take pretends to last, in seconds.
    #[serde(default = "take_seconds")]
    pub take_seconds: f64,
    /// Number of earlier runs in the store: filled in by the program, so that runs differ reproducibly.
    #[serde(default)]
    pub run_index: u64,
    #[serde(default)]
    pub machines: BTreeMap<String, FakeMachine>,
    pub series: Vec<FakeSeries>,
}

/// The year 2200: later stamps in nanoseconds would not fit.
const LATEST_START: i64 = 7_258_118_400;
const MOST_RUNS: u64 = 100_000;

impl FakeWorld {
    /// Why a world that somebody wrote by hand cannot be, if so.
    pub fn fault(&self) -> Option<String> {
        if !(0..=LATEST_START).contains(&self.start) {
            return Some(format!("start {} is not between 1970 and 2200", self.start));
        }
        if !(self.take_seconds.is_finite() && self.take_seconds > 0.0) {
            return Some("take_seconds is no time above 0".to_owned());
        }
        let is_slow = |slow: &Slow| slow.sd.is_finite() && (0.0..=1.0).contains(&slow.phi);
        if self.series.iter().filter_map(|series| series.slow.as_ref()).any(|slow| !is_slow(slow)) {
            return Some("slow needs a number as sd and a phi from 0 to 1".to_owned());
        }
        (self.run_index > MOST_RUNS).then(|| format!("run_index {} is above {MOST_RUNS}", self.run_index))
    }
}

fn start() -> i64 {
    1_767_225_600
}

fn take_seconds() -> f64 {
    0.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_sides_are_no_measurement() {
        let of = |names: &[&str]| planted(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["a"]).unwrap(), "a is planted by --fake: no measurement");
        assert_eq!(of(&["a", "b"]).unwrap(), "a and b are planted by --fake: no measurement");
    }

    #[test]
    fn worlds_that_cannot_be_are_refused() {
        let fault = |text: &str| serde_json::from_str::<FakeWorld>(text).expect("a world").fault();
        assert_eq!(fault(r#"{"seed": 1, "series": []}"#), None);
        for odd in [
            r#"{"seed": 1, "series": [], "start": 9223372036854775807}"#,
            r#"{"seed": 1, "series": [], "start": -1}"#,
            r#"{"seed": 1, "series": [], "take_seconds": -1e300}"#,
            r#"{"seed": 1, "series": [], "run_index": 18446744073709551615}"#,
        ] {
            assert!(fault(odd).is_some(), "{odd}");
        }
    }
}
