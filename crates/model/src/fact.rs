//! A fact: one line of a spec sheet, with its source, or `unknown` with the reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exact;
use crate::shared::Shared;
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

/// A line of the spec sheet, as runs hold it. Like machines have most of their lines in common, and their runs can
/// share these: a comparison of 1,000 runs holds 200 lines of each.
pub type Fact = Shared<FactLine>;

/// One line of the spec sheet. `value` is `None` when unknown, and then `why` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fact")]
pub struct FactLine {
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
        Fact::from(FactLine { key: key.into(), value, unit: None, source: source.into(), why: None })
    }

    pub fn number(key: impl Into<String>, value: f64, unit: Unit, source: impl Into<String>) -> Fact {
        let value = Some(FactValue::Number(value));
        Fact::from(FactLine { key: key.into(), value, unit: Some(unit), source: source.into(), why: None })
    }

    pub fn flag(key: impl Into<String>, value: bool, source: impl Into<String>) -> Fact {
        let value = Some(FactValue::Flag(value));
        Fact::from(FactLine { key: key.into(), value, unit: None, source: source.into(), why: None })
    }

    pub fn unknown(key: impl Into<String>, source: impl Into<String>, why: impl Into<String>) -> Fact {
        let why = Some(why.into());
        Fact::from(FactLine { key: key.into(), value: None, unit: None, source: source.into(), why })
    }

    /// True of a value that a hypervisor reported: it may not be the machine's own.
    pub fn is_of_hypervisor(&self) -> bool {
        self.value.is_some() && self.why.as_deref() == Some(HYPERVISOR)
    }

    /// The same fact with a caveat.
    #[must_use]
    pub fn because(self, why: impl Into<String>) -> Fact {
        self.with_caveat(Some(why.into()))
    }

    /// The same fact with the caveat that there is, or none.
    #[must_use]
    pub fn with_caveat(mut self, why: Option<String>) -> Fact {
        self.why = why;
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

/// The fact of the CPUs that the measuring process was allowed.
pub const PROCESS_CPUS: &str = "process.cpus";

/// A part of a machine's CPUs, where the process was allowed no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSet {
    /// As the kernel writes it: `0-2,5`.
    pub list: String,
    pub count: usize,
    /// CPUs of the machine.
    pub all: usize,
    /// The cause of the limit: `cgroup cpuset`, `taskset`, or the option of the run.
    pub by: &'static str,
}

impl CpuSet {
    /// The source of the fact where the run itself was told its CPUs.
    pub const BY_PLAN: &str = "--cpus";

    /// `None` where every CPU was allowed, and where a fact is not known.
    pub fn of_facts(facts: &[Fact]) -> Option<CpuSet> {
        let all = usize::try_from(crate::params::whole(&known(facts, "cpu.threads")?.text())?).ok()?;
        let listed = |key: &str| {
            let list = known(facts, key)?.text();
            let count = crate::params::parse_cpus(&list)?.len();
            (count > 0 && count < all).then_some((list, count))
        };
        let by_cgroup = listed("cgroup.cpuset");
        let (list, count) = listed(PROCESS_CPUS).or_else(|| by_cgroup.clone())?;
        // A list that is narrower than the cgroup's is one of the affinity.
        let by = match known_source(facts, PROCESS_CPUS) {
            Some(CpuSet::BY_PLAN) => CpuSet::BY_PLAN,
            _ if by_cgroup.is_some_and(|(_, most)| most == count) => "cgroup cpuset",
            _ => "taskset",
        };
        Some(CpuSet { list, count, all, by })
    }
}

/// The source of a fact.
fn known_source<'f>(facts: &'f [Fact], key: &str) -> Option<&'f str> {
    facts.iter().find(|fact| fact.key == key).map(|fact| fact.source.as_str())
}

impl std::fmt::Display for CpuSet {
    /// `1 of 2 CPUs allowed (taskset)`.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} of {} CPUs allowed ({})", self.count, self.all, self.by)
    }
}

/// The CPUs that could be used of the machine: those that were allowed, else all.
pub fn usable_cpus(facts: &[Fact]) -> Option<f64> {
    match CpuSet::of_facts(facts) {
        Some(set) => Some(set.count as f64),
        None => known(facts, "cpu.threads")?.number().filter(|number| number.is_finite()),
    }
}

/// Hash of the known values of [`CONFIG_CLASS`] and of the CPUs where not all were allowed, 16 hexadecimal digits
/// (FNV-1a, 64 bits). Equal hashes are one class; different hashes may still be, where one side does not know a value:
/// see [`same_class`].
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
    if let Some(set) = CpuSet::of_facts(facts) {
        feed(PROCESS_CPUS);
        feed(&set.list);
    }
    format!("{hash:016x}")
}

/// True when no key of [`CONFIG_CLASS`] has different known values: unknown matches anything. Of the CPUs, unknown
/// counts as all.
pub fn same_class(a: &[Fact], b: &[Fact]) -> bool {
    let cpus = |facts: &[Fact]| CpuSet::of_facts(facts).map(|set| set.list);
    cpus(a) == cpus(b)
        && CONFIG_CLASS.iter().all(|key| match (known(a, key), known(b, key)) {
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
    fn a_part_of_the_cpus_is_a_class_of_its_own() {
        let facts = |cpus: &str, cpuset: &str| {
            let threads = Fact::number("cpu.threads", 2.0, Unit::Count, "");
            [threads, Fact::text(PROCESS_CPUS, cpus, ""), Fact::text("cgroup.cpuset", cpuset, "")]
        };
        let said = |facts: &[Fact]| CpuSet::of_facts(facts).map(|set| set.to_string());
        let (all, one) = (facts("0-1", "0-1"), facts("0", "0-1"));
        assert_eq!(said(&all), None);
        assert_eq!(said(&one).as_deref(), Some("1 of 2 CPUs allowed (taskset)"));
        assert_eq!(said(&facts("1", "1")).as_deref(), Some("1 of 2 CPUs allowed (cgroup cpuset)"));
        // Before the list was looked up, and where there are more possible CPUs than there are.
        assert_eq!(said(&all[..1]), None);
        assert_eq!(said(&facts("0-239", "0-239")), None);
        assert_eq!((usable_cpus(&all), usable_cpus(&one), usable_cpus(&[])), (Some(2.0), Some(1.0), None));
        assert!(same_class(&all, &all[..1]) && !same_class(&all, &one) && !same_class(&all[..1], &one[..2]));
        assert_eq!(config_class(&all[..1]), config_class(&all[..2]));
        assert_ne!(config_class(&all[..1]), config_class(&one[..2]));
    }

    #[test]
    fn facts_outside_the_class_do_not_change_it() {
        let plain = [Fact::text("cpu.model", "x", "cpuid")];
        let more = [Fact::text("hostname", "h", ""), Fact::text("cpu.model", "x", "/proc/cpuinfo")];
        assert_eq!(config_class(&plain), config_class(&more));
        assert_eq!(config_class(&plain).len(), 16);
    }
}
