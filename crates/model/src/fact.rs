//! A fact: one line of a spec sheet, with its source, or `unknown` with the reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exact;
use crate::unit::Unit;

/// The caveat of a value that a hypervisor made up or passed on.
pub const HYPERVISOR: &str = "reported by the hypervisor";

/// A fact's value. Numbers are in base units.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum FactValue {
    Flag(bool),
    Number(f64),
    Text(String),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, remote = "FactValue")]
enum InText {
    Flag(bool),
    Number(#[serde(with = "exact")] f64),
    Text(String),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FactValue")]
enum InBinary {
    Flag(bool),
    Number(f64),
    Text(String),
}

exact::untagged_in_text!(FactValue, InText, InBinary);

impl FactValue {
    /// The value as plain text, as the store keeps it.
    pub fn text(&self) -> String {
        match self {
            FactValue::Text(text) => text.clone(),
            FactValue::Number(number) => number.to_string(),
            FactValue::Flag(flag) => flag.to_string(),
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            FactValue::Number(number) => Some(*number),
            FactValue::Text(_) | FactValue::Flag(_) => None,
        }
    }
}

/// One line of the spec sheet. `value` is `None` when unknown, and then `why` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// Dotted and stable: `cpu.model`, `disk.sda.model`.
    pub key: String,
    pub value: Option<FactValue>,
    pub unit: Option<Unit>,
    /// sysfs path, cpuid leaf, DMI type or command.
    pub source: String,
    /// The reason of an unknown, or a caveat of a known value.
    pub why: Option<String>,
}

impl Fact {
    pub fn text(key: impl Into<String>, value: impl Into<String>, source: impl Into<String>) -> Fact {
        let value = Some(FactValue::Text(value.into()));
        Fact { key: key.into(), value, unit: None, source: source.into(), why: None }
    }

    pub fn number(key: impl Into<String>, value: f64, unit: Unit, source: impl Into<String>) -> Fact {
        let value = Some(FactValue::Number(value));
        Fact { key: key.into(), value, unit: Some(unit), source: source.into(), why: None }
    }

    pub fn flag(key: impl Into<String>, value: bool, source: impl Into<String>) -> Fact {
        let value = Some(FactValue::Flag(value));
        Fact { key: key.into(), value, unit: None, source: source.into(), why: None }
    }

    pub fn unknown(key: impl Into<String>, source: impl Into<String>, why: impl Into<String>) -> Fact {
        Fact { key: key.into(), value: None, unit: None, source: source.into(), why: Some(why.into()) }
    }

    /// True of a value that a hypervisor reported: it may not be the machine's own.
    pub fn is_of_hypervisor(&self) -> bool {
        self.value.is_some() && self.why.as_deref() == Some(HYPERVISOR)
    }

    /// The same fact with a caveat.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Fact {
        self.why = Some(why.into());
        self
    }
}

/// The facts that must agree for two runs to be pooled; unknown matches anything.
pub const CONFIG_CLASS: [&str; 19] = [
    "cpu.model",
    "cpu.microcode",
    "cpu.threads",
    "cpu.smt",
    "memory.bytes",
    "memory.mts",
    "memory.channels",
    "memory.layout",
    "kernel.release",
    "kernel.cmdline",
    "mitigations",
    "cpu.governor",
    "cpu.turbo",
    "memory.thp",
    "cgroup.cpu.quota",
    "cgroup.cpuset",
    "cgroup.memory.limit",
    "os.name",
    "program.arch",
];

/// Hash of the known values of [`CONFIG_CLASS`], 16 hexadecimal digits (FNV-1a, 64 bits). Equal hashes are one
/// class; different hashes may still be, where one side does not know a value: see [`same_class`].
pub fn config_class(facts: &[Fact]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut feed = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for key in CONFIG_CLASS {
        if let Some(value) = known(facts, key) {
            feed(key);
            feed(&value.text());
        }
    }
    format!("{hash:016x}")
}

/// True when no key of [`CONFIG_CLASS`] has different known values: unknown matches anything.
pub fn same_class(a: &[Fact], b: &[Fact]) -> bool {
    CONFIG_CLASS.iter().all(|key| match (known(a, key), known(b, key)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    })
}

fn known<'a>(facts: &'a [Fact], key: &str) -> Option<&'a FactValue> {
    facts.iter().find(|fact| fact.key == key).and_then(|fact| fact.value.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_matches_anything_and_known_values_must_agree() {
        let root = [Fact::text("cpu.model", "x", ""), Fact::number("memory.mts", 3200.0, Unit::Count, "dmi")];
        let user = [Fact::text("cpu.model", "x", ""), Fact::unknown("memory.mts", "dmi", "needs root")];
        let other = [Fact::text("cpu.model", "y", "")];
        assert!(same_class(&root, &user) && same_class(&user, &root) && same_class(&root, &[]));
        assert!(!same_class(&root, &other));
        assert_ne!(config_class(&root), config_class(&user));
        assert_ne!(config_class(&user), config_class(&other));
    }

    #[test]
    fn facts_outside_the_class_do_not_change_it() {
        let plain = [Fact::text("cpu.model", "x", "cpuid")];
        let more = [Fact::text("hostname", "h", ""), Fact::text("cpu.model", "x", "/proc/cpuinfo")];
        assert_eq!(config_class(&plain), config_class(&more));
        assert_eq!(config_class(&plain).len(), 16);
    }
}
