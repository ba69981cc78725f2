//! Settings in which runs differ: kernel settings, placement of interrupts, limits, versions, parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting that two runs have, and not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDoc {
    /// As people call it: `net.core.somaxconn`, `kernel`, `RPS of eth0`, `server`.
    pub name: String,
    /// The fact that it is of: `sysctl.net.core.somaxconn`; absent for what is no fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its value on the first side, or in the earlier run.
    pub base: String,
    /// That of the other one.
    pub arm: String,
}

impl SettingDoc {
    /// `net.core.somaxconn (8 against 4096)`.
    pub fn text(&self) -> String {
        format!("{} ({} against {})", self.name, self.base, self.arm)
    }
}

/// The settings in which one side of a comparison differs from the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsDoc {
    pub base: String,
    pub arm: String,
    /// Of one machine every setting counts; of two only those that do not follow from their hardware.
    pub same_machine: bool,
    /// Those that limited what a load met come first.
    pub differ: Vec<SettingDoc>,
}

/// The load before this one on the same target, and the settings that differ since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SinceDoc {
    pub run: String,
    pub label: Option<String>,
    pub differ: Vec<SettingDoc>,
}
