//! A need: work that the boxes of a fleet must do together, with its demand and the conditions under which it counts.
//!
//! Demands are in base units: requests, jobs or bytes a second, or bytes. A need says nothing of a box: what one can do
//! is measured.

mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format;
use crate::params::Params;
use crate::unit::Unit;

pub use parse::{NeedError, TEST, parse, parse_amount, parse_share};

/// A value that is known as a point, or as the two ends of a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranged {
    pub low: f64,
    pub high: f64,
}

impl Ranged {
    pub const fn point(value: f64) -> Ranged {
        Ranged { low: value, high: value }
    }

    /// The value that counts where one is needed.
    pub fn middle(self) -> f64 {
        self.low + (self.high - self.low) / 2.0
    }

    pub fn is_range(self) -> bool {
        self.low < self.high
    }

    /// Both ends times a factor that is not negative.
    #[must_use]
    pub fn times(self, factor: f64) -> Ranged {
        Ranged { low: self.low * factor, high: self.high * factor }
    }
}

/// A workload that figures were measured of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Requests to a web server.
    Web,
    /// The requests of a mix of a log, by the name of its file.
    Mix(String),
    /// Operations of a key-value store.
    Kv,
    /// A command of the user's, one at a time on each box.
    Cmd(String),
    /// Requests of access logs, by the name of the file: demand and mix are those of the log.
    Logs(String),
    /// Memory of all boxes together.
    Memory,
    /// Disk space of all boxes together.
    Disk,
    /// Any rate that an instrument measures, by the instrument's name.
    Instrument(String),
}

impl Work {
    pub fn name(&self) -> &str {
        match self {
            Work::Web => "web",
            Work::Kv => "kv",
            Work::Memory => "memory",
            Work::Disk => "disk",
            Work::Mix(name) | Work::Cmd(name) | Work::Logs(name) | Work::Instrument(name) => name,
        }
    }
}

/// A need as it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// As it was written.
    pub text: String,
    pub work: Work,
    /// `None`: the log says it.
    pub demand: Option<Ranged>,
    /// So many times the demand of the log.
    #[serde(default)]
    pub factor: Option<Ranged>,
    /// Of the demand.
    pub unit: Unit,
    /// Response time: the percentile, such as `p99`, and the seconds that it must stay within.
    pub limit: Option<Limit>,
    /// The largest share of requests that may fail.
    pub errors: Option<f64>,
    /// Parameters that the measured figure must have.
    pub params: Params,
    /// Conditions on the requests of a log: `bot=no`.
    #[serde(default)]
    pub filters: Vec<String>,
    /// Its name where other needs are of the same work.
    #[serde(default)]
    pub called: Option<String>,
}

/// A percentile of response times with its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub percentile: String,
    pub seconds: f64,
}

impl Need {
    /// Its short name: `web`, `kv`, `make -j8`, `memory`; beside other needs of its work `disk-seq op=read`.
    pub fn name(&self) -> &str {
        self.called.as_deref().unwrap_or_else(|| self.work.name())
    }

    /// Its work with its conditions and parameters: `disk-seq op=read`, `web p99 < 20.0 ms`.
    pub fn long_name(&self) -> String {
        let mut name = self.work.name().to_owned();
        for filter in &self.filters {
            name = format!("{name} {filter}");
        }
        let params = self.params.iter().map(|(key, value)| format!("{key}={value}"));
        let limit = self.limit.iter().map(ToString::to_string);
        let errors = self.errors.iter().map(|share| format!("errors < {}", format::percent(*share)));
        for part in params.chain(limit).chain(errors) {
            name = format!("{name} {part}");
        }
        name
    }

    /// The file of its requests with the conditions on them: what its mix is known by. `None` of what has no file.
    pub fn source(&self) -> Option<String> {
        match &self.work {
            Work::Mix(file) => Some(file.clone()),
            Work::Logs(file) => Some([std::slice::from_ref(file), &self.filters[..]].concat().join(" ")),
            _ => None,
        }
    }

    /// A need of space is filled; one of a rate keeps boxes busy.
    pub fn is_space(&self) -> bool {
        matches!(self.work, Work::Memory | Work::Disk)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} < {}", self.percentile, format::quantity(self.seconds, Unit::Second))
    }
}
