//! A plan: what is measured, in what arms and order, and when it stops. Stored as JSON; same plan and seed,
//! same order of takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Tier;
use crate::command::{COMMAND, Commands};
use crate::doc::MixDoc;
use crate::fact::Fact;
use crate::fake::FakeWorld;
use crate::params::Params;
use crate::price::Price;
use crate::tree::ServedTree;

pub use crate::command::Command;

/// One thing to measure: an instrument with every parameter fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    pub instrument: String,
    pub params: Params,
    /// Metrics of this cell that are headline rows.
    pub headline: Vec<String>,
}

/// One variant of a study: parameters laid over every cell that has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    pub name: String,
    pub set: Params,
}

/// How many measured takes each cell gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Takes {
    /// Exactly this many.
    Fixed(u32),
    /// As many as the intervals need, looked at only at a few counts (fewer in a quick run); `target` is the relative
    /// half width.
    Adaptive { quick: bool, target: f64 },
}

crate::words! {
    /// How thorough a run is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Level as word {
        Quick = "quick",
        Default = "default",
        Full = "full",
        /// Instruments named by the user.
        Named = "named",
        /// The same few figures again and again, to see which level lasts.
        Soak = "soak",
    }
}

impl Level {
    /// The variants that a run of this level includes.
    pub const fn tier(self) -> Tier {
        match self {
            Level::Quick => Tier::Quick,
            Level::Default => Tier::Default,
            Level::Full | Level::Named => Tier::Full,
            Level::Soak => Tier::Soak,
        }
    }
}

/// One machine of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Via {
    /// Name in the study; empty for this machine.
    pub name: String,
    /// Command that starts the agent there; `None` is a child of this process.
    pub command: Option<String>,
}

impl Via {
    /// How the command of a node of the inventory begins, which no user wrote.
    pub const OF_NODE: &str = "exec ssh ";

    /// Its name with its command, for messages: `box2 (ssh box2 ./boxscore)`. A node has its name alone.
    pub fn called(&self) -> String {
        const MOST: usize = 100;
        let Some(command) = self.command.as_ref().filter(|command| !command.starts_with(Via::OF_NODE)) else {
            return self.name.clone();
        };
        let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
        let start: String = command.chars().take(MOST).map(plain).collect();
        let more = if command.chars().nth(MOST).is_some() { "..." } else { "" };
        format!("{} ({start}{more})", self.name)
    }
}

/// A server, a store or a far end that a study measures (`--target`). The arm of its name has its address among its
/// parameters, or each of its `arms`, where it is measured in several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    pub name: String,
    /// As the user gave it: a URL, or HOST and HOST:PORT of a far end.
    pub address: String,
    pub price: Option<Price>,
    /// Power that its host draws, in watts, as the user gave it.
    #[serde(default)]
    pub watts: Option<f64>,
    /// Facts of the host that it runs on; none where the user gave no way to them.
    pub facts: Vec<Fact>,
    /// Command that starts boxscore on its host, which records telemetry there while takes are done.
    #[serde(default)]
    pub at: Option<String>,
    /// The names of its arms, where `--arm` makes several; else it has the one of its own name.
    #[serde(default)]
    pub arms: Vec<String>,
}

impl Target {
    /// A target of which nothing but its address is known.
    pub fn new(name: &str, address: &str) -> Target {
        Target {
            name: name.to_owned(),
            address: address.to_owned(),
            price: None,
            watts: None,
            facts: Vec::new(),
            at: None,
            arms: Vec::new(),
        }
    }

    /// Its host as its facts tell it, the same for all targets on it until it is started anew; `None` if unknown.
    pub fn host_id(&self) -> Option<String> {
        Some(self.facts.iter().find(|fact| fact.key == "boot.id")?.value.as_ref()?.text())
    }

    /// The child that records telemetry on its host, if there is a way to it.
    pub fn agent(&self) -> Option<Via> {
        self.at.as_ref().map(|command| Via { name: self.name.clone(), command: Some(command.clone()) })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub version: u32,
    pub seed: u64,
    pub level: Level,
    pub cells: Vec<Cell>,
    /// Never empty: a run without arms has one with an empty name and no parameters.
    pub arms: Vec<Arm>,
    /// Shared by the copies of the plan: each run of a study has one.
    pub machines: Arc<[Via]>,
    /// Children that send load for the machine whose take is under way (none: its own threads do), or one that is the
    /// far end of its tests of the network.
    pub generators: Vec<Via>,
    pub takes: Takes,
    /// Warm-up takes of each cell and arm; from the second sitting on it is one, if any.
    pub warm_up: u32,
    /// The fewest sittings over which takes are spread: in each, everything is prepared anew. A cell with fewer takes
    /// has as many sittings as takes.
    #[serde(default = "one_sitting")]
    pub sittings: u32,
    /// Each take lasts at least this long (or one unit of work, if that is longer), in seconds.
    pub take_seconds: f64,
    /// The whole run ends after this many seconds, at the end of a take.
    pub budget_seconds: Option<f64>,
    /// CPUs that may be used; `None` is all that are allowed.
    pub cpus: Option<Vec<u32>>,
    /// Directory for files of disk instruments; `None` is the store's.
    pub dir: Option<String>,
    /// Commands of the user's by name; an arm names its own as `command` where there are several arms.
    #[serde(default, alias = "command", deserialize_with = "crate::command::read")]
    pub commands: Commands,
    /// Telemetry only, loading nothing, for `budget_seconds`.
    pub telemetry_only: bool,
    pub label: Option<String>,
    pub fake: Option<FakeWorld>,
    /// Mixes of requests that cells or arms name in their parameter `mix`.
    pub mixes: BTreeMap<String, MixDoc>,
    /// Trees of the user's files that cells or arms name in their parameter `files`.
    #[serde(default)]
    pub trees: BTreeMap<String, ServedTree>,
    /// Numbers of the cells that no arm changes: they are measured once a block, and their series are of no arm.
    pub unchanged: Vec<u32>,
    /// The things that are measured where that is not the machine itself, in the order of their arms.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// The command that prints watts, for figures of the meter `command`.
    #[serde(default)]
    pub watts_command: Option<String>,
    /// How the nodes of `--on` are reached again; `None` where the machines are no nodes.
    #[serde(default)]
    pub nodes: Option<NodeAccess>,
    /// The user wants no page of it; `resume` makes none either.
    #[serde(default)]
    pub no_report: bool,
}

/// How nodes of `--on` are reached again: by `resume`, and where one was lost on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeAccess {
    /// The machines of the plan that are nodes.
    pub names: Arc<[String]>,
    /// Paths, from the root.
    pub inventory: Option<String>,
    pub ssh_config: Option<String>,
    /// The folder of boxscore for their processors.
    pub binaries: Option<String>,
    pub login: Option<String>,
    /// A node that is silent for so many seconds hangs.
    pub hang_seconds: f64,
    /// boxscore is removed from them when the study is done.
    #[serde(default)]
    pub is_removed: bool,
}

/// In the set of an arm beside its parameters: the cells that are profiled once, before their takes, as
/// [`Profiled::cells`] writes them. Told to their instrument as a parameter of the same name that is in no series' key.
pub const PROFILE: &str = "profile";

crate::words! {
    /// The processes that a profile samples.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Profiled as word {
        #[default]
        Server = "server",
        /// All of the machine, kernel threads and the idle ones too.
        System = "system",
    }
}

impl Profiled {
    /// Numbers of cells: `0,7` of the server, `system:0,7` of the system.
    pub fn cells(self, numbers: &[u32]) -> String {
        let list = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        match self {
            Profiled::Server => list,
            Profiled::System => format!("{}:{list}", self.word()),
        }
    }

    /// The processes that are profiled in a cell, if any.
    pub fn in_cell(cells: &str, number: u32) -> Option<Profiled> {
        let (what, list) = match cells.split_once(':') {
            Some((word, list)) => (Profiled::parse(word)?, list),
            None => (Profiled::Server, cells),
        };
        list.split(',').any(|one| one.parse() == Ok(number)).then_some(what)
    }
}

/// Stands for the name of a target in the command that prints watts.
pub const TARGET_MARK: &str = "{target}";

/// The parameter of tests of the network that names the child which is their far end.
pub const FAR: &str = "far";

/// The parameter of jobs on a cluster that names the nodes of a lab on which it is.
pub const MEMBERS: &str = "members";

/// Version of plans; a newer one is refused.
pub const PLAN_VERSION: u32 = 1;

impl Plan {
    /// These cells on this machine, each with so many takes: one arm, no warm-up, no limits.
    pub fn bare(cells: Vec<Cell>, takes: Takes) -> Plan {
        Plan {
            version: PLAN_VERSION,
            seed: 1,
            level: Level::Named,
            cells,
            arms: vec![Arm { name: String::new(), set: Params::default() }],
            machines: [Via { name: String::new(), command: None }].into(),
            generators: Vec::new(),
            takes,
            warm_up: 0,
            sittings: 1,
            take_seconds: 0.05,
            budget_seconds: None,
            cpus: None,
            dir: None,
            commands: Commands::new(),
            telemetry_only: false,
            label: None,
            fake: None,
            mixes: BTreeMap::new(),
            trees: BTreeMap::new(),
            unchanged: Vec::new(),
            targets: Vec::new(),
            watts_command: None,
            nodes: None,
            no_report: false,
        }
    }

    /// The arms that a cell is measured in; the first alone where none changes it.
    pub fn arms_of(&self, cell: u32) -> std::ops::Range<u32> {
        let arms = u32::try_from(self.arms.len()).unwrap_or(u32::MAX);
        if self.unchanged.contains(&cell) { 0..arms.min(1) } else { 0..arms }
    }

    /// The arm's name as the series of a cell have it.
    pub fn arm_name(&self, cell: u32, arm: u32) -> &str {
        let named = || self.arms.get(arm as usize).map(|arm| arm.name.as_str());
        if self.unchanged.contains(&cell) { "" } else { named().unwrap_or_default() }
    }

    /// The command of an arm, with its placeholders filled; `None` where the plan has no command.
    pub fn command_of(&self, arm: &Arm) -> Option<Command> {
        let command = match arm.set.get(COMMAND) {
            Some(name) => self.commands.get(name),
            None => self.commands.values().next(),
        };
        command.map(|command| command.filled(&arm.set))
    }

    /// The target that an arm is of.
    pub fn target(&self, arm: &str) -> Option<&Target> {
        self.targets.iter().find(|target| match target.arms.as_slice() {
            [] => target.name == arm,
            arms => arms.iter().any(|own| own == arm),
        })
    }

    /// The command that prints watts, for an arm on the machine that it is the plan of: `{machine}` and `{target}`
    /// stand for their names.
    pub fn watts_command_of(&self, arm: &Arm) -> Option<String> {
        let named = |name: Option<&str>| name.unwrap_or_default().to_owned();
        let machine = self.machines.first().map(|via| via.name.as_str());
        let target = self.target(&arm.name).map(|target| target.name.as_str());
        let text = self.watts_command.as_ref()?;
        Some(text.replace(TARGET_MARK, &named(target)).replace("{machine}", &named(machine)))
    }

    /// The role of its generators in messages: `generator`, `far end` for tests of the network, or `node` of a cluster.
    pub fn role(&self) -> &'static str {
        let is_far = self.cells.iter().any(|cell| cell.params.get(FAR).is_some());
        match (self.is_cluster(), is_far) {
            (true, _) => "node",
            (false, true) => "far end",
            (false, false) => "generator",
        }
    }

    /// True if its machine and its generators are the nodes of one cluster.
    pub fn is_cluster(&self) -> bool {
        let has_members = |cell: &Cell| cell.params.get(MEMBERS).is_some_and(|value| !value.is_empty());
        self.cells.iter().any(has_members)
    }

    /// The keys on which arms differ: left out when rows of different arms are matched.
    pub fn arm_keys(&self) -> Params {
        self.arms.iter().fold(Params::default(), |all, arm| all.with(&arm.set))
    }
}

const fn one_sitting() -> u32 {
    1
}

/// One take to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeOrder {
    pub seq: u64,
    pub block: u32,
    pub cell: u32,
    pub arm: u32,
    pub warm_up: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_prints_watts_is_told_of_whom() {
        let arm = |name: &str| Arm { name: name.to_owned(), set: Params::default() };
        let plan = Plan {
            watts_command: Some("ssh bmc-{target} power {machine}".to_owned()),
            targets: vec![Target::new("a", "http://a/")],
            machines: [Via { name: "box".to_owned(), command: None }].into(),
            ..Plan::bare(Vec::new(), Takes::Fixed(1))
        };
        assert_eq!(plan.watts_command_of(&arm("a")).as_deref(), Some("ssh bmc-a power box"));
        assert_eq!(plan.watts_command_of(&arm("")).as_deref(), Some("ssh bmc- power box"));
        let none = Plan { watts_command: None, ..plan };
        assert_eq!(none.watts_command_of(&arm("a")), None);
    }

    #[test]
    fn profiled_cells_come_back() {
        for what in Profiled::ALL {
            let cells = what.cells(&[0, 17]);
            let of = |number| Profiled::in_cell(&cells, number);
            assert_eq!((of(0), of(17), of(7)), (Some(what), Some(what), None), "{cells}");
        }
        assert_eq!(Profiled::in_cell("0,7", 7), Some(Profiled::Server), "as plans of before have it");
        assert_eq!(Profiled::in_cell("", 0).or(Profiled::in_cell("all:0", 0)), None);
    }
}
