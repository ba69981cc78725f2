//! A check of the host as it is built up, and the live figures that checks read.

use model::Fact;
use model::doc::{CheckDoc, CheckState};
use model::note::Disturber;

use crate::facts;

/// Live figures of the host, read just now. Shares are 0 to 1; `None` where it could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Processes running or waiting for a CPU, averaged over the last minute.
    pub load_average: Option<f64>,
    /// CPUs kept busy by others just now (1 = one CPU).
    pub busy_cpus: Option<f64>,
    /// The busiest of the others; `None` where nobody could look.
    pub busy_by: Option<Vec<Disturber>>,
    /// Share of CPU time that the hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// CPUs that this process may use.
    pub cpus: Option<f64>,
    pub free_memory_bytes: Option<f64>,
    pub swap_used_bytes: Option<f64>,
    /// True on mains power, false on battery.
    pub on_mains: Option<bool>,
    /// Periods in which the CPU quota stopped our control group since it began.
    pub throttled_periods: Option<f64>,
}

/// A check as it is built up.
pub struct Check {
    pub key: &'static str,
    pub wanted: &'static str,
}

impl Check {
    pub fn says(&self, state: CheckState, found: impl Into<String>, how: impl Into<String>) -> CheckDoc {
        let (key, wanted) = (self.key.to_owned(), self.wanted.to_owned());
        CheckDoc { key, state, found: found.into(), wanted, how: how.into() }
    }

    pub fn ok(&self, found: impl Into<String>) -> CheckDoc {
        self.says(CheckState::Ok, found, "")
    }

    pub fn warn(&self, found: impl Into<String>, how: impl Into<String>) -> CheckDoc {
        self.says(CheckState::Warn, found, how)
    }

    pub fn bad(&self, found: impl Into<String>, how: impl Into<String>) -> CheckDoc {
        self.says(CheckState::Bad, found, how)
    }

    pub fn unknown(&self, why: impl Into<String>) -> CheckDoc {
        self.says(CheckState::Unknown, why, "")
    }

    /// The reason that a fact gives for being unknown.
    pub fn absent(&self, facts: &[Fact], key: &str) -> CheckDoc {
        let why = facts.iter().find(|fact| fact.key == key).and_then(|fact| fact.why.clone());
        self.unknown(why.unwrap_or_else(|| format!("{key} is unknown")))
    }
}

/// A known text, number or flag as text.
pub fn shown(facts: &[Fact], key: &str) -> Option<String> {
    facts.iter().find(|fact| fact.key == key)?.value.as_ref().map(model::FactValue::text)
}

/// The setting in brackets of `always [madvise] never`, or the whole text.
pub fn chosen(text: &str) -> &str {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(chosen, _)| chosen).trim()
}

/// The kind of virtual machine; containers on bare metal are none.
pub fn is_virtual(facts: &[Fact]) -> Option<String> {
    let kind = facts::text(facts, "virt.machine").or_else(|| facts::text(facts, "virt.kind"));
    kind.filter(|kind| *kind != "none").map(str::to_owned)
}
