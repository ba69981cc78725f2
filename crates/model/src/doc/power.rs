//! The power of a machine over levels of its load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EstimateDoc;
use crate::format::percent;
use crate::params::Params;
use crate::power::Meter;

/// Power of one load at its levels, by one meter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PowerDoc {
    pub instrument: String,
    /// Those of the load, without the level.
    pub params: Params,
    pub arm: String,
    /// `rapl`, `command` or `typed`: figures of different meters are not comparable.
    pub meter: String,
    /// The thing that is counted: `request` or `job`.
    pub unit: String,
    /// By rising level.
    pub levels: Vec<PowerLevelDoc>,
    /// The load generator works on the same machine, so that its power is in the watts.
    pub with_generator: bool,
    /// At 100 % the generator's busiest core was used to this share, and the server's cores were not full: the server
    /// saturates later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_limit: Option<f64>,
}

/// One level of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PowerLevelDoc {
    /// The share of saturation that was asked for, from 0 (idle) to 1.
    pub level: f64,
    /// Measured takes with a reading.
    pub n: u64,
    pub watts: EstimateDoc,
    /// Good answers, or finished jobs, per second; no value at idle.
    pub rate: EstimateDoc,
    /// Joules for each of them; no value at idle.
    pub joules: EstimateDoc,
}

impl PowerDoc {
    pub fn at(&self, level: f64) -> Option<&PowerLevelDoc> {
        self.levels.iter().find(|one| (one.level - level).abs() < 1e-9)
    }

    /// Power of idle as a share of that of saturation: 0 is proportional, 1 is as much for nothing as for all.
    pub fn idle_share(&self) -> Option<f64> {
        let of = |level: f64| self.at(level)?.watts.value.filter(|watts| watts.is_finite() && *watts > 0.0);
        Some(of(0.0)? / of(1.0)?)
    }

    /// A sentence for each thing that must be known of the figures.
    pub fn remarks(&self) -> Vec<String> {
        let mut all = Vec::new();
        if Meter::parse(&self.meter) == Some(Meter::Rapl) {
            all.push(
                "the machine draws more: RAPL is the processor's own estimate of itself and its memory, on servers about \
                 half of the power at the plug"
                    .to_owned(),
            );
        }
        if self.with_generator {
            all.push(
                "the server alone draws less: the load generator works on this machine too, and its power is in the watts; \
                 --from puts it on another one"
                    .to_owned(),
            );
        }
        if let Some(share) = self.generator_limit {
            all.push(format!(
                "the server saturates later: at 100 % the load generator's core was {} busy and the server's were not full; \
                 --set generators=2 or --from sends more",
                percent(share)
            ));
        }
        all
    }
}
