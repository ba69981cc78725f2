//! A cluster on several hosts: the first measures and runs what a cluster has once, and a DataNode with a NodeManager
//! like each of the others, where boxscore starts them when it is asked (`host`).
//!
//! Questions and orders travel by way of the program (`model::generate::Relay`), to all other nodes at once. They can
//! be sent during a take alone. Sizes are MiB as in `sizing`.

pub mod counted;
pub mod host;
pub mod member;
pub mod task;
pub mod watch;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::Setup;
use model::format::count;
use model::generate::{GeneratorOrder, Relay};
use model::plan::MEMBERS;

use self::counted::Counted;
use self::member::{Member, Place};
use self::task::{Answer, Beginning, NodeFacts, Task, Wanted};
use super::distribution::Distribution;
use super::settings::Ports;
use super::sizing::{self, Derived, Facts, Sizes};

/// How long a node may take to answer: to verify its Hadoop and to start its daemons.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long to say that they run.
const ANSWER: Duration = Duration::from_secs(30);
/// Between two questions whether the daemons run, while a cluster starts.
const PAUSE_NS: u64 = 1_000_000_000;

/// The numbers of the clusters that this process has.
static LIVING: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The nodes that a cluster is asked for on, and the way to them.
#[derive(Clone, Debug)]
pub struct Lab {
    /// The master first.
    pub members: Vec<Member>,
    relay: Arc<dyn Relay>,
}

impl PartialEq for Lab {
    fn eq(&self, other: &Lab) -> bool {
        self.members == other.members
    }
}

impl Eq for Lab {}

impl Lab {
    /// True where a cluster is on nodes of a lab, be it on the first alone. Fails where the parameter names fewer.
    pub fn is_meant(setup: &Setup, nodes: u32) -> Result<bool, String> {
        let members = member::parse(setup.params.get(MEMBERS).unwrap_or_default())?;
        let (wanted, there) = (usize::try_from(nodes).unwrap_or(usize::MAX), members.len());
        match there {
            0 => Ok(false),
            _ if wanted > there => Err(format!("nodes={nodes}: --on names {}", count(there, "node"))),
            _ => Ok(true),
        }
    }

    /// The first so many nodes of the parameter; `None` where it is empty. Fails where there are not as many, and where
    /// the study has not got them as children.
    pub fn from_setup(setup: &Setup, nodes: u32) -> Result<Option<Lab>, String> {
        if !Lab::is_meant(setup, nodes)? {
            return Ok(None);
        }
        let wanted = usize::try_from(nodes).unwrap_or(usize::MAX);
        let mut members = member::parse(setup.params.get(MEMBERS).unwrap_or_default())?;
        members.truncate(wanted);
        let Some(relay) = &setup.relay else {
            return Err(
                "members: the other nodes are no children of this study; name all with --on".to_owned()
            );
        };
        let known = relay.generators().iter().map(|one| one.name.as_str());
        match members.iter().skip(1).map(|one| one.name.as_str()).eq(known.take(wanted - 1)) {
            true => Ok(Some(Lab { members, relay: Arc::clone(relay) })),
            false => Err("members: the other nodes are not the children of this study, in order".to_owned()),
        }
    }

    pub fn place(&self) -> Place {
        Place { members: self.members.clone(), own: 0 }
    }

    fn others(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().skip(1)
    }

    /// Asks every other node. Fails with the name of one that does not do it.
    fn ask(&self, patience: Duration, wanted: impl Fn(usize) -> Wanted) -> Result<Vec<Answer>, String> {
        if self.others().next().is_none() {
            return Ok(Vec::new());
        }
        let living = LIVING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let task = |at: usize| Task { living: living.clone(), wanted: wanted(at) }.pack();
        let bodies = (1..self.members.len()).map(task).collect::<Result<_, _>>()?;
        let ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        let order = GeneratorOrder { id: 0, bodies, connect_ns: ns, run_ns: ns };
        let parts = self.relay.load(order, &mut || ()).map_err(|not| match not.generator.as_str() {
            "" => not.what,
            name => format!("{name}: {}", not.what),
        })?;
        let read = |(part, one): (&model::generate::Part, &Member)| {
            postcard::from_bytes(&part.body)
                .map_err(|error| format!("{}: it answers oddly: {error}", one.name))
        };
        parts.iter().zip(self.others()).map(read).collect()
    }

    /// The means of each other node. Fails where one has no Hadoop, or not that of the master.
    fn facts(&self, dir: &Path, own: &Distribution) -> Result<Vec<NodeFacts>, String> {
        let answers = self.ask(PATIENCE, |_| Wanted::Facts { dir: dir.to_owned() })?;
        let facts = answers.into_iter().zip(self.others()).map(|(answer, one)| match answer {
            Answer::Facts(facts) => fits(&facts, own, &one.name, self.master()).map(|()| facts),
            _ => Err(format!("{}: it does not say what it has", one.name)),
        });
        facts.collect()
    }

    fn master(&self) -> &str {
        self.members.first().map_or("", |one| one.name.as_str())
    }

    /// The sizes of a cluster on these nodes, by the least that one of them has. Fails where that is too little.
    pub fn sizes(&self, dir: &Path, own: Facts, distribution: &Distribution) -> Result<(Sizes, u64), String> {
        no_old_java(distribution.java.version, self.master())?;
        let others = self.facts(dir, distribution)?.into_iter().map(|one| Facts {
            memory: one.memory,
            cores: one.cores,
            disk_free: one.disk_free,
        });
        let all: Vec<Facts> = std::iter::once(own).chain(others).collect();
        let names: Vec<&str> = self.members.iter().map(|one| one.name.as_str()).collect();
        sized(&names, &all)
    }

    /// All nodes with their addresses, in words.
    pub fn sentence(&self) -> String {
        let named = |one: &Member| format!("{} ({})", one.name, one.address);
        let others: Vec<String> = self.others().map(named).collect();
        let master = self.members.first().map(named).unwrap_or_default();
        if others.is_empty() {
            return format!("1 node of a lab, which has every daemon: {master}");
        }
        format!(
            "{} of a lab, each with a DataNode and a NodeManager: {master}, which has the other daemons too, {}",
            count(self.members.len(), "node"),
            others.join(", ")
        )
    }
}

/// Fails where a node's Hadoop is not that of the master, or its Java cannot be told names.
fn fits(facts: &NodeFacts, own: &Distribution, name: &str, master: &str) -> Result<(), String> {
    if facts.hadoop != own.version {
        return Err(format!(
            "{name} has Hadoop {}, and {master} has {}: all nodes need the same",
            facts.hadoop, own.version
        ));
    }
    no_old_java(facts.java, name)
}

fn no_old_java(version: u32, name: &str) -> Result<(), String> {
    match version {
        0..=8 => Err(format!(
            "{name} has Java {version}, which cannot be told the names of the other nodes: several nodes need Java 11 or \
             newer"
        )),
        _ => Ok(()),
    }
}

/// The sizes for nodes of these facts, and the free bytes of all disks by the fullest one.
fn sized(names: &[&str], all: &[Facts]) -> Result<(Sizes, u64), String> {
    let least = |of: fn(&Facts) -> u64| {
        let at = (0..all.len()).min_by_key(|at| of(&all[*at]))?;
        Some((of(&all[at]), *names.get(at)?))
    };
    let none = || "a cluster without nodes".to_owned();
    let (memory, poorest) = least(|one| one.memory).ok_or_else(none)?;
    let (cores, slowest) = least(|one| u64::from(one.cores)).ok_or_else(none)?;
    let (disk_free, _) = least(|one| one.disk_free).ok_or_else(none)?;
    let nodes = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    let one =
        sizing::sizes(&Facts { memory, cores, disk_free }, 1).map_err(|why| format!("{poorest}: {why}"))?;
    let is_uneven = |of: fn(&Facts) -> u64| all.iter().any(|other| of(other) != of(&all[0]));
    let mut why = vec!["every node gets the same, as if each had the daemons of the master".to_owned()];
    if is_uneven(|one| one.memory) {
        why.push(format!("{poorest} has the least memory"));
    }
    if is_uneven(|one| u64::from(one.cores)) {
        why.push(format!("{slowest} the fewest cores"));
    }
    let mut derived = one.derived;
    let value = format!("{} MiB and {cores} cores", memory >> 20);
    derived.push(Derived { name: "a node", value, why: why.join("; ") });
    let (slots, maps) = (one.slots.saturating_mul(nodes), one.maps.saturating_mul(nodes));
    Ok((Sizes { nodes, slots, maps, derived, ..one }, disk_free.saturating_mul(u64::from(nodes))))
}

/// A cluster on other nodes; they end it once this is dropped and something else is asked of them, and with the study.
#[derive(Debug)]
pub struct Far {
    lab: Lab,
    id: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    has_begun: bool,
    /// Why it cannot be used any more.
    broken: Option<String>,
    asked_ns: Option<u64>,
}

impl Far {
    pub fn new(lab: Lab) -> Far {
        let id = sys::clock::now_ns();
        LIVING.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        Far { lab, id, state: Mutex::default() }
    }

    /// Starts the daemons of the other nodes.
    pub fn start(&self, dir: &Path, ports: Ports, sizes: &Sizes, is_quick: bool) -> Result<(), String> {
        let wanted = |own: usize| {
            Wanted::Start(Box::new(Beginning {
                id: self.id,
                members: self.lab.members.clone(),
                own,
                dir: dir.to_owned(),
                ports,
                heaps: sizes.heaps,
                container: sizes.container,
                node_memory: sizes.node_memory,
                node_vcores: sizes.node_vcores,
                is_quick,
            }))
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.lab.ask(PATIENCE, wanted)?;
        state.has_begun = true;
        Ok(())
    }

    /// The counters of every other node, with its name. Fails, now and from then on, where a daemon of one has ended
    /// or one does not answer.
    pub fn look(&self) -> Result<Vec<(String, Counted)>, String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.asked(&mut state)
    }

    fn asked(&self, state: &mut State) -> Result<Vec<(String, Counted)>, String> {
        if let Some(why) = &state.broken {
            return Err(why.clone());
        }
        let answers = self.lab.ask(ANSWER, |_| Wanted::Check { id: self.id });
        state.asked_ns = Some(sys::clock::now_ns());
        let all = answers.and_then(|answers| {
            let named = answers.into_iter().zip(self.lab.others()).map(|(answer, one)| match answer {
                Answer::Runs(counted) => Ok((one.name.clone(), counted)),
                Answer::Ended(why) => Err(why),
                _ => Err(format!("{}: it does not say what runs", one.name)),
            });
            named.collect::<Result<Vec<_>, _>>()
        });
        state.broken = all.as_ref().err().cloned();
        all
    }

    /// Fails as [`Far::look`] does; asks not more often than is of use.
    pub fn check(&self) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new =
            state.asked_ns.is_none_or(|asked_ns| sys::clock::now_ns().saturating_sub(asked_ns) >= PAUSE_NS);
        match (&state.broken, state.has_begun && is_new) {
            (Some(why), _) => Err(why.clone()),
            (None, false) => Ok(()),
            (None, true) => self.asked(&mut state).map(drop),
        }
    }

    /// The line of a log of the other nodes' daemons about a failure, or about a disk that is full.
    pub fn cause(&self, full_disks: bool) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken.is_some() || !state.has_begun {
            return None;
        }
        let answers = self.lab.ask(ANSWER, |_| Wanted::Cause { id: self.id, full_disks }).ok()?;
        answers.into_iter().find_map(|answer| match answer {
            Answer::Cause(cause) => cause,
            _ => None,
        })
    }

    /// True for a node that is not the master.
    pub fn has(&self, node: &str) -> bool {
        self.lab.others().any(|one| one.name == node)
    }

    /// Kills the daemons and the containers of a node. Fails when one does not end.
    pub fn kill(&self, node: &str) -> Result<(), String> {
        self.order(node, Wanted::Kill { id: self.id })
    }

    /// Starts the daemons of a node anew that were killed.
    pub fn restart(&self, node: &str) -> Result<(), String> {
        self.order(node, Wanted::Restart { id: self.id })
    }

    /// Has one node do something. The others are asked how they are, since a relay asks all. Fails, as [`Far::look`]
    /// does from then on, where a daemon of one has ended.
    fn order(&self, node: &str, wanted: Wanted) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.broken {
            return Err(why.clone());
        }
        let is_meant = |at: usize| self.lab.members.get(at).is_some_and(|one| one.name == node);
        let of = |at: usize| if is_meant(at) { wanted.clone() } else { Wanted::Check { id: self.id } };
        let ended = self.lab.ask(PATIENCE, of)?.into_iter().find_map(|answer| match answer {
            Answer::Ended(why) => Some(why),
            _ => None,
        });
        state.broken.clone_from(&ended);
        ended.map_or(Ok(()), Err)
    }

    /// Says that it cannot be used any more.
    pub fn give_up(&self, why: String) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).broken.get_or_insert(why);
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        LIVING.lock().unwrap_or_else(PoisonError::into_inner).retain(|id| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(memory_mib: u64, cores: u32, disk_mib: u64) -> Facts {
        Facts { memory: memory_mib << 20, cores, disk_free: disk_mib << 20 }
    }

    #[test]
    fn every_node_gets_what_the_least_one_has() {
        let (sizes, disk) = sized(&["a", "b"], &[facts(16_384, 8, 9_000), facts(8_192, 2, 4_000)]).unwrap();
        let alone = sizing::sizes(&facts(8_192, 2, 4_000), 1).unwrap();
        assert_eq!((sizes.nodes, sizes.slots, sizes.maps), (2, 2 * alone.slots, 2 * alone.maps));
        assert_eq!((sizes.container, sizes.node_memory), (alone.container, alone.node_memory));
        assert_eq!(disk, 8_000 << 20);
        let why = &sizes.derived.last().unwrap().why;
        assert!(why.contains("b has the least memory") && why.contains("b the fewest cores"), "{why}");
        let (even, _) = sized(&["a", "b"], &[facts(8_192, 2, 1), facts(8_192, 2, 1)]).unwrap();
        assert!(!even.derived.last().unwrap().why.contains("least"));
        assert!(sized(&["a", "b"], &[facts(8_192, 2, 1), facts(512, 2, 1)]).unwrap_err().starts_with("b: "));
    }

    #[test]
    fn all_nodes_need_one_hadoop_and_a_java_that_takes_names() {
        let java = crate::workload::hadoop::java::Java { home: "/j".into(), version: 17 };
        let own = Distribution { version: "3.4.2".to_owned(), class_path: Vec::new(), java, is_users: false };
        let of = |hadoop: &str, java| {
            let hadoop = hadoop.to_owned();
            fits(&NodeFacts { memory: 1, cores: 1, disk_free: 1, hadoop, java }, &own, "b", "a")
        };
        assert_eq!(of("3.4.2", 11), Ok(()));
        assert!(of("3.3.6", 17).unwrap_err().contains("b has Hadoop 3.3.6, and a has 3.4.2"));
        assert!(of("3.4.2", 8).unwrap_err().contains("b has Java 8"));
    }
}
