//! A card: an instrument's data sheet. It is data, so that lists, documents and plans need no machine.

use crate::derived::Derived;
use crate::flags::{Example, Flag, TEST, TestName};
use crate::metric::MetricInfo;
use crate::params::{Implied, ParamError, ParamKind, ParamSpec, Params, Part, show_cpus};
use crate::reading::Samples;
use crate::shown::{Role, Shown};

/// The kind of machine, as far as noise between runs depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    Bare,
    /// No fact says it.
    Unknown,
    Virtual,
}

crate::words! {
    /// Topic of an instrument, also a name that `run` accepts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Family as name {
        Cpu = "cpu",
        Memory = "memory",
        Disk = "disk",
        Net = "net",
        Kv = "kv",
        Web = "web",
        Hadoop = "hadoop",
        Runtime = "runtime",
        Machine = "machine",
        Telemetry = "telemetry",
        Inventory = "inventory",
        User = "user",
    }
}

impl Family {
    /// True for a family whose instruments are measured only where they are named: they need another host, or start
    /// stores and fill them.
    pub const fn is_named_only(self) -> bool {
        matches!(self, Family::Net | Family::Kv | Family::Hadoop)
    }

    /// The assumed floor of between-run noise (two-sided 95 %), until runs have measured it. On a virtual machine it is
    /// wider: published runs of one instance type spread by 5 % (integer) and 8 % (memory), so that two of them stay
    /// within 14 and 22 %.
    pub const fn assumed_floor(self, host: Host) -> f64 {
        let (bare, virtual_machine) = match self {
            Family::Cpu | Family::Runtime | Family::Machine | Family::Inventory | Family::Telemetry => {
                (0.05, 0.14)
            }
            Family::Memory | Family::Net | Family::Kv | Family::Web | Family::Hadoop | Family::User => {
                (0.10, 0.22)
            }
            Family::Disk => (0.20, 0.30),
        };
        match host {
            Host::Bare | Host::Unknown => bare,
            Host::Virtual => virtual_machine,
        }
    }
}

/// When an instrument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cadence {
    /// Once a run: facts.
    Once,
    /// Before and after every take: the conditions that the take met.
    Around,
    /// Each second during the run.
    Tick,
    /// Back to back takes: benchmarks and loads.
    Repeat,
}

crate::words! {
    /// A requirement of an instrument.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Need as name {
        Root = "root",
        Directory = "directory",
        Peer = "peer",
        Command = "command",
        Server = "server",
        /// A goal that only the user can name.
        Objective = "objective",
        /// Something that reads the power of the machine.
        Meter = "meter",
        /// Files that only the user can name.
        Files = "files",
    }
}

/// Which runs include a variant: `Quick` ones are in every run, `Full` ones only with `--full` or by name. `Soak` ones
/// are repeated by `--soak`, and in no other run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Quick,
    Default,
    Full,
    Soak,
}

impl Tier {
    /// True if a run up to this tier includes the variants of another one.
    pub fn has(self, other: Tier) -> bool {
        match (self, other) {
            (Tier::Soak, _) | (_, Tier::Soak) => self == other,
            _ => other <= self,
        }
    }
}

/// One or more parameter sets that a run measures: `size=31|1KiB;impl=fast` stands for two.
/// `threads=sweep` stands for 1, 2, 4 … all, `generators=half` for 1, 2, 4 … half of them; `cpus=each` for every CPU
/// by itself, and `lang=every` for each of the words that a parameter may be. `cpus=nodes` stands for the CPUs of
/// each NUMA node and `node=nodes` for each node that has memory; where there are not several, they stand for
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    pub tier: Tier,
    pub set: &'static str,
    /// Metrics of this variant that are headline rows.
    pub headline: &'static [&'static str],
}

/// A NUMA node, as far as variants depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: u32,
    /// CPUs that may be used, ascending.
    pub cpus: Vec<u32>,
    pub memory: bool,
}

/// The cards that a program knows, by which it reads what its own and other builds have measured.
pub type Cards = &'static [&'static Card];

/// The card of that name.
pub fn find(cards: Cards, name: &str) -> Option<&'static Card> {
    cards.iter().find(|card| card.name == name).copied()
}

/// An instrument's data sheet.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    pub name: &'static str,
    pub family: Family,
    /// One line: what it measures.
    pub says: &'static str,
    /// Where the definition comes from, e.g. `bw_mem-style (lmbench)`, or `own`.
    pub source: &'static str,
    pub shown: Shown,
    pub role: Role,
    /// Kind of the samples of its figures.
    pub samples: Samples,
    pub cadence: Cadence,
    /// Facts that are read only in runs that measure this family; `None`: in every run.
    pub facts_of: Option<Family>,
    /// Raised when a change can move the number; part of the series key.
    pub definition: u32,
    pub params: &'static [ParamSpec],
    /// Parameters that readings have beside those of the take: which part of it they are of.
    pub parts: &'static [ParamSpec],
    /// Parameters that its figures have without being given them.
    pub derived: &'static [Derived],
    pub metrics: &'static [MetricInfo],
    pub needs: &'static [Need],
    pub variants: &'static [Variant],
    /// Options of `run` that it obeys beside those of its parameters.
    pub flags: &'static [Flag],
    /// The tests of it that `--test` can name.
    pub tests: &'static [TestName],
    /// Command lines for the help of its family.
    pub examples: &'static [Example],
}

/// A name stands for one card.
impl PartialEq for Card {
    fn eq(&self, other: &Card) -> bool {
        self.name == other.name
    }
}

impl Eq for Card {}

impl Card {
    /// The defaults of a card: no parameters, metrics, needs or variants; takes on request.
    pub const DEFAULT: Card = Card {
        name: "",
        family: Family::User,
        says: "",
        source: "own",
        shown: Shown::PLAIN,
        role: Role::Plain,
        samples: Samples::Takes,
        cadence: Cadence::Repeat,
        facts_of: None,
        definition: 1,
        params: &[],
        parts: &[],
        derived: &[],
        metrics: &[],
        needs: &[],
        variants: &[],
        flags: &[],
        tests: &[],
        examples: &[],
    };

    /// The options of `run` that the instrument obeys: those of its parameters, its own, and `--test` where it has
    /// tests.
    pub fn all_flags(&self) -> impl Iterator<Item = &'static Flag> + use<> {
        let of_params = self.params.iter().filter_map(|spec| spec.flag.as_ref());
        of_params.chain(self.flags).chain((!self.tests.is_empty()).then_some(&TEST))
    }

    pub fn flag(&self, long: &str) -> Option<&'static Flag> {
        self.all_flags().find(|flag| flag.long == long)
    }

    /// True where the server of a take is started for it: each parameter for the server's address has a value that
    /// stands for one of ours.
    pub fn is_server_ours(&self, given: &Params) -> bool {
        self.params.iter().all(|spec| match spec.part {
            Part::Address { ours } => ours.contains(&given.get(spec.name).unwrap_or(spec.default)),
            _ => true,
        })
    }

    pub fn metric(&self, name: &str) -> Option<&'static MetricInfo> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }

    /// A parameter of the card's takes, or of parts of them.
    pub fn any_param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.param(name).or_else(|| self.parts.iter().find(|param| param.name == name))
    }

    /// The first value that a parameter of `set` implies for another one, with the first one's name.
    pub fn implied(&self, set: &Params) -> Option<(&'static str, Implied)> {
        self.params.iter().find_map(|spec| {
            let other = self.param(spec.implies?.param)?;
            Some((spec.name, spec.implied(set, other.default)?))
        })
    }

    /// Every parameter of the card: `given` in canonical spelling, the others at their default. One that has none (its
    /// default is empty) is there only where it is given, so that a card that gets one keeps its series. Fails for an
    /// unknown parameter or a value that it cannot have.
    pub fn resolve(&self, given: &Params) -> Result<Params, ParamError> {
        let mut full = Params::default();
        for spec in self.params.iter().filter(|spec| self.has(spec, given)) {
            let value = spec.canonical(given.get(spec.name).unwrap_or(spec.default))?;
            if !value.is_empty() {
                full.set(spec.name, &value);
            }
        }
        match given.keys().find(|key| self.param(key).is_none()) {
            None => Ok(full),
            Some(key) => Err(ParamError::Unknown {
                instrument: self.name.to_owned(),
                key: key.clone(),
                known: self.params.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// True if a parameter exists beside the given ones. Some exist only for certain values of another parameter.
    pub fn has(&self, spec: &ParamSpec, given: &Params) -> bool {
        let ParamKind::Only(key, values, _) = spec.kind else { return true };
        let value = given.get(key).or_else(|| self.param(key).map(|other| other.default));
        value.is_some_and(|value| values.contains(&value))
    }

    /// `given` with what `other` says of parameters that exist here laid over it, resolved. Fails for a value that a
    /// parameter cannot have.
    pub fn lay(&self, given: &Params, other: &Params) -> Result<Params, ParamError> {
        let known = other.iter().filter(|(key, _)| self.param(key).is_some());
        let known: Params = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.resolve(&given.with(&known))
    }

    /// The parameter sets of a variant, expanded and resolved; `cpus` is the number that `sweep` goes up to,
    /// and `each` runs from 0 to the one below it. None where `nodes` are fewer than a variant needs.
    pub fn expand(&self, variant: &Variant, cpus: u32, nodes: &[Node]) -> Result<Vec<Params>, ParamError> {
        let mut sets = vec![Params::default()];
        for pair in variant.set.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
            let Some((key, values)) = pair.split_once('=') else {
                return Err(ParamError::NotAPair(pair.to_owned()));
            };
            let values: Vec<String> = values
                .split('|')
                .flat_map(|value| match value {
                    "sweep" => thread_sweep(cpus),
                    "half" => half_sweep(cpus),
                    "each" => (0..cpus).map(|cpu| cpu.to_string()).collect(),
                    "nodes" => self.of_nodes(key, nodes),
                    "every" => self.every(key),
                    _ => vec![value.to_owned()],
                })
                .collect();
            let extend =
                |set: &Params| values.iter().map(|value| set.with(&one(key, value))).collect::<Vec<Params>>();
            sets = sets.iter().flat_map(extend).collect();
        }
        sets.iter().map(|set| self.resolve(set)).collect()
    }

    /// Each of the words that a parameter may be.
    fn every(&self, key: &str) -> Vec<String> {
        let choices = self.param(key).and_then(|spec| spec.kind.choices()).unwrap_or_default();
        choices.iter().map(|word| (*word).to_owned()).collect()
    }

    /// A value for each node, as far as the parameter can have it.
    fn of_nodes(&self, key: &str, nodes: &[Node]) -> Vec<String> {
        let Some(spec) = self.param(key).filter(|_| nodes.len() > 1) else { return Vec::new() };
        let value = |node: &Node| match spec.kind {
            ParamKind::Cpus => (!node.cpus.is_empty()).then(|| show_cpus(&node.cpus)),
            _ => node.memory.then(|| node.id.to_string()),
        };
        nodes.iter().filter_map(value).filter(|value| spec.canonical(value).is_ok()).collect()
    }
}

fn one(key: &str, value: &str) -> Params {
    let mut params = Params::default();
    params.set(key, value);
    params
}

/// 1, 2, 4 … below `cpus`, then `all`.
fn thread_sweep(cpus: u32) -> Vec<String> {
    let doubling = std::iter::successors(Some(1u32), |n| n.checked_mul(2));
    doubling.take_while(|&n| n < cpus).map(|n| n.to_string()).chain(["all".to_owned()]).collect()
}

/// 1, 2, 4 … and half of `cpus`, rounded up: as many as are left where a server has the other half.
fn half_sweep(cpus: u32) -> Vec<String> {
    let half = cpus.div_ceil(2).max(1);
    let doubling = std::iter::successors(Some(1u32), |n| n.checked_mul(2));
    doubling.take_while(|&n| n < half).chain([half]).map(|n| n.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Card = Card {
        name: "x",
        family: Family::Cpu,
        says: "",
        source: "own",
        cadence: Cadence::Repeat,
        definition: 1,
        params: &[
            ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 1 << 20 }, "1KiB", ""),
            ParamSpec::new("threads", ParamKind::Threads, "1", ""),
        ],
        ..Card::DEFAULT
    };

    #[test]
    fn variants_expand_to_products() {
        let variant = Variant { tier: Tier::Full, set: "size=7|1KiB;threads=sweep", headline: &[] };
        let sets: Vec<String> =
            CARD.expand(&variant, 4, &[]).unwrap().iter().map(Params::to_string).collect();
        assert_eq!(
            sets,
            [
                "size=7;threads=1",
                "size=7;threads=2",
                "size=7;threads=all",
                "size=1KiB;threads=1",
                "size=1KiB;threads=2",
                "size=1KiB;threads=all"
            ]
        );
    }

    #[test]
    fn what_has_no_default_is_there_where_it_is_given() {
        const WHERE: ParamSpec = ParamSpec::new("where", ParamKind::Or("", &ParamKind::Path), "", "");
        const SIZE: ParamSpec = ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 9 }, "7", "");
        let card = Card { params: &[SIZE, WHERE], ..CARD };
        let of = |text: &str| card.resolve(&Params::parse(text).unwrap()).unwrap().to_string();
        assert_eq!((of("size=8").as_str(), of("where=/a").as_str()), ("size=8", "size=7;where=/a"));
        assert_eq!((WHERE.kind.file("/a"), WHERE.kind.file("")), (Some("/a"), None));
        assert_eq!(WHERE.kind.wanted(), ParamKind::Path.wanted());
    }

    #[test]
    fn some_parameters_depend_on_another() {
        const LANG: ParamSpec = ParamSpec::new("lang", ParamKind::Choice(&["c", "java"]), "c", "");
        const JVM: ParamSpec =
            ParamSpec::new("jvm", ParamKind::Only("lang", &["java"], &ParamKind::Text), "hotspot", "");
        let card = Card { params: &[LANG, JVM], ..CARD };
        let of = |text: &str| card.resolve(&Params::parse(text).unwrap()).unwrap().to_string();
        assert_eq!([of(""), of("lang=java"), of("jvm=zero")], ["lang=c", "jvm=hotspot;lang=java", "lang=c"]);
        let every = card.expand(&Variant { tier: Tier::Full, set: "lang=every", headline: &[] }, 1, &[]);
        let every: Vec<String> = every.unwrap().iter().map(Params::to_string).collect();
        assert_eq!(every, ["lang=c", "jvm=hotspot;lang=java"]);
        let laid = card.lay(&one("lang", "java"), &Params::parse("jvm=zero;other=1").unwrap()).unwrap();
        assert_eq!(laid.to_string(), "jvm=zero;lang=java");
    }

    #[test]
    fn half_is_what_a_server_leaves() {
        let sweep = |cpus| half_sweep(cpus).join(" ");
        assert_eq!([0, 1, 2, 3, 4].map(sweep), ["1", "1", "1", "1 2", "1 2"]);
        assert_eq!([7, 8, 12].map(sweep), ["1 2 4", "1 2 4", "1 2 4 6"]);
    }

    #[test]
    fn each_is_every_cpu_by_itself() {
        const CPUS: ParamSpec = ParamSpec::new("cpus", ParamKind::Cpus, "auto", "");
        let card = Card { params: &[CPUS], ..CARD };
        let variant = Variant { tier: Tier::Full, set: "cpus=each", headline: &[] };
        let sets: Vec<String> =
            card.expand(&variant, 3, &[]).unwrap().iter().map(Params::to_string).collect();
        assert_eq!(sets, ["cpus=0", "cpus=1", "cpus=2"]);
    }

    #[test]
    fn nodes_are_a_matrix_where_there_are_several() {
        const CPUS: ParamSpec = ParamSpec::new("cpus", ParamKind::Cpus, "auto", "");
        const NODE: ParamSpec = ParamSpec::new("node", ParamKind::Choice(&["any", "0", "1", "2"]), "any", "");
        let card = Card { params: &[CPUS, NODE], ..CARD };
        let variant = Variant { tier: Tier::Full, set: "cpus=nodes;node=nodes", headline: &[] };
        let sets = |nodes: &[Node]| -> Vec<String> {
            card.expand(&variant, 5, nodes).unwrap().iter().map(Params::to_string).collect()
        };
        let node = |id, cpus: &[u32], memory| Node { id, cpus: cpus.to_vec(), memory };
        let two = [node(0, &[0, 1, 4], true), node(1, &[2, 3], true)];
        let matrix = ["cpus=0-1,4;node=0", "cpus=0-1,4;node=1", "cpus=2-3;node=0", "cpus=2-3;node=1"];
        assert_eq!(sets(&two), matrix);
        // Memory without CPUs, CPUs without memory, and a node that the parameter cannot name.
        let mixed = [node(0, &[0], true), node(1, &[1], false), node(2, &[], true), node(40, &[], true)];
        assert_eq!(sets(&mixed), ["cpus=0;node=0", "cpus=0;node=2", "cpus=1;node=0", "cpus=1;node=2"]);
        assert_eq!(sets(&two[..1]), [""; 0]);
        assert_eq!(sets(&[]), [""; 0]);
    }

    #[test]
    fn unknown_parameters_are_named() {
        let given = Params::parse("sizes=7").unwrap();
        let message = CARD.resolve(&given).unwrap_err().to_string();
        assert_eq!(message, "unknown parameter `sizes`; x has: size, threads");
    }
}
