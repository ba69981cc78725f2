//! From the memory, the cores and the disk of a machine to the memory and the number of a cluster's processes.
//!
//! Pure. Sizes are MiB unless a name says bytes. What a JVM holds is its heap and as much again for code, classes and
//! threads as was seen of these processes (`BESIDE_HEAP`). The page cache, and what the user's programs use, are not
//! counted: they get the reserve.

use model::format::count;
use serde::{Deserialize, Serialize};

/// The machine that a cluster runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Memory that may be used at all, in bytes.
    pub memory: u64,
    pub cores: u32,
    /// Free bytes where the cluster's files go.
    pub disk_free: u64,
}

/// A value that was worked out, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    pub name: &'static str,
    pub value: String,
    pub why: String,
}

/// Heaps of the daemons and of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heaps {
    pub name_node: u64,
    pub data_node: u64,
    pub resource_manager: u64,
    pub node_manager: u64,
    pub history_server: u64,
    pub client: u64,
}

/// The sizes of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub nodes: u32,
    pub heaps: Heaps,
    /// Memory of a container: of a task, and of the process that directs a job (the ApplicationMaster).
    pub container: u64,
    /// Memory that a NodeManager gives to containers.
    pub node_memory: u64,
    pub node_vcores: u32,
    /// Tasks that run at once in the whole cluster.
    pub slots: u32,
    /// Maps of a job that run at once: those that cores are there for, and one a node at least.
    pub maps: u32,
    /// Memory of all daemons and of a client, as they were seen to be.
    pub held: u64,
    pub derived: Vec<Derived>,
}

const MIB: u64 = 1 << 20;
/// Heaps that were run with room to spare, and the least that were run.
const USUAL: Heaps = Heaps {
    name_node: 128,
    data_node: 128,
    resource_manager: 192,
    node_manager: 128,
    history_server: 128,
    client: 256,
};
const LEAST: Heaps = Heaps {
    name_node: 64,
    data_node: 64,
    resource_manager: 96,
    node_manager: 64,
    history_server: 64,
    client: 128,
};
/// Most that a daemon was seen to hold beside its heap.
const BESIDE_HEAP: u64 = 90;
/// Room for a task's JVM beside its heap: 90 to 120 MiB were seen.
const BESIDE_TASK_HEAP: u64 = 160;
/// Sizes of containers that are tried, largest first.
const CONTAINERS: [u64; 4] = [1024, 768, 512, 256];
/// A container gets a multiple of it (`yarn.scheduler.minimum-allocation-mb`); those above are such.
pub const CONTAINER_STEP: u64 = 128;
/// Left to the rest of the machine: a part of its memory, and at least this.
const RESERVE: u64 = 256;
const RESERVE_PART: u64 = 8;
/// Tasks at once on a node, at least: a reduce runs while maps do.
const LEAST_TASKS: u32 = 2;

impl Heaps {
    /// Of the daemons that a cluster has once, with a client.
    fn master(&self) -> u64 {
        let daemons = [self.name_node, self.resource_manager, self.history_server, self.client];
        daemons.iter().map(|heap| heap + BESIDE_HEAP).sum()
    }

    /// Of the daemons of a node.
    fn node(&self) -> u64 {
        self.data_node + self.node_manager + 2 * BESIDE_HEAP
    }

    fn said(&self) -> String {
        format!(
            "NameNode {}, DataNode {}, ResourceManager {}, NodeManager {}, history server {}, client {} MiB",
            self.name_node,
            self.data_node,
            self.resource_manager,
            self.node_manager,
            self.history_server,
            self.client
        )
    }
}

impl Sizes {
    /// Containers for tasks of so many MiB that the nodes have memory for, beside the process that directs the job. A
    /// container gets whole steps of memory.
    pub fn room(&self, container: u64) -> u32 {
        let given = container.max(1).next_multiple_of(CONTAINER_STEP);
        let fit = |memory: u64| u32::try_from(memory / given).unwrap_or(u32::MAX);
        let others = fit(self.node_memory).saturating_mul(self.nodes.saturating_sub(1));
        fit(self.node_memory.saturating_sub(self.container)).saturating_add(others)
    }
}

/// The heap of a container: most of it, less what a JVM holds beside it.
pub fn task_heap(container: u64) -> u64 {
    (container * 7 / 10).min(container.saturating_sub(BESIDE_TASK_HEAP)).max(48)
}

/// The buffer in which a map sorts (`mapreduce.task.io.sort.mb`), within its heap.
pub fn sort_buffer(heap: u64) -> u64 {
    (heap * 2 / 5).min(heap.saturating_sub(32)).clamp(16, 512)
}

/// The sizes of a cluster of so many nodes on one machine. Fails, with the arithmetic, where it has too little memory.
pub fn sizes(facts: &Facts, nodes: u32) -> Result<Sizes, String> {
    let all = facts.memory / MIB;
    let reserve = (all / RESERVE_PART).max(RESERVE);
    let usable = all.saturating_sub(reserve);
    let tasks = facts.cores.div_ceil(nodes.max(1)).max(LEAST_TASKS);
    let many = u64::from(nodes.max(1));
    let held = |heaps: &Heaps| heaps.master() + many * heaps.node();
    let left = |heaps: &Heaps| usable.saturating_sub(held(heaps)) / many;
    let fits = |heaps: Heaps, tasks: u32| {
        let wanted = |container: &u64| container * u64::from(tasks + 1) <= left(&heaps);
        CONTAINERS.into_iter().find(wanted).map(|container| (heaps, container, tasks))
    };
    let comfortable = fits(USUAL, tasks).filter(|(_, container, _)| *container >= 512);
    let fewer = || (LEAST_TASKS..tasks).rev().find_map(|tasks| fits(USUAL, tasks));
    let chosen = comfortable
        .or_else(|| fewer().filter(|(_, container, _)| *container >= 512))
        .or_else(|| fits(LEAST, LEAST_TASKS))
        .or_else(|| fits(LEAST, 1));
    let Some((heaps, container, tasks)) = chosen else {
        return Err(too_little(all, reserve, nodes, held(&LEAST)));
    };
    let mut made = Sizes {
        nodes,
        heaps,
        container,
        node_memory: container * u64::from(tasks + 1),
        node_vcores: tasks + 1,
        slots: tasks * nodes,
        maps: facts.cores.min(tasks * nodes).max(nodes),
        held: held(&heaps),
        derived: Vec::new(),
    };
    made.derived = derived(facts, &made, (all, reserve, tasks));
    Ok(made)
}

fn too_little(all: u64, reserve: u64, nodes: u32, held: u64) -> String {
    let smallest = CONTAINERS[CONTAINERS.len() - 1];
    let containers = 2 * smallest * u64::from(nodes);
    format!(
        "a cluster of {} needs {} MiB: {held} for its daemons and a client with the smallest heaps ({}), {containers} \
         for {} of {smallest} (one that directs the job and one task a node), {reserve} left to the rest of the machine; \
         it has {all} MiB",
        count(nodes as usize, "node"),
        held + containers + reserve,
        LEAST.said(),
        count(2 * nodes as usize, "container"),
    )
}

fn derived(facts: &Facts, sizes: &Sizes, (all, reserve, tasks): (u64, u64, u32)) -> Vec<Derived> {
    let Sizes { nodes, heaps, container, node_memory, node_vcores, held, .. } = sizes;
    let one = |name, value: String, why: String| Derived { name, value, why };
    let heap = task_heap(*container);
    let shared = match nodes {
        1 => String::new(),
        nodes => format!(" shared by {nodes} nodes"),
    };
    vec![
        one(
            "heaps of the daemons",
            heaps.said(),
            match *heaps == USUAL {
                true => format!(
                    "they hold {held} MiB of the {all} MiB here, with what a JVM needs beside its heap"
                ),
                false => format!("the smallest that run, as {all} MiB are few: all together hold {held} MiB"),
            },
        ),
        one(
            "container",
            format!("{container} MiB"),
            format!(
                "the largest of {} of which {} fit a node beside the daemons and {reserve} MiB for the rest",
                CONTAINERS.map(|size| size.to_string()).join(", "),
                tasks + 1
            ),
        ),
        one(
            "yarn.nodemanager.resource.memory-mb",
            node_memory.to_string(),
            format!(
                "{} for {} ({}{shared}, at least {LEAST_TASKS} where memory allows) and one that directs the job",
                count(tasks as usize + 1, "container"),
                count(tasks as usize, "task"),
                count(facts.cores as usize, "core"),
            ),
        ),
        one(
            "yarn.nodemanager.resource.cpu-vcores",
            node_vcores.to_string(),
            "one a container: memory alone decides where a container goes".to_owned(),
        ),
        one(
            "heap of a task",
            format!("{heap} MiB"),
            format!("70 % of its container, and {BESIDE_TASK_HEAP} MiB left to the JVM"),
        ),
        one(
            "mapreduce.task.io.sort.mb",
            sort_buffer(heap).to_string(),
            "two fifths of the heap, so that a map sorts its block in few pieces".to_owned(),
        ),
    ]
}

/// How a job on so much data is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Bytes of a block of HDFS, a multiple of a MiB.
    pub block: u64,
    pub maps: u32,
    pub reduces: u32,
}

/// The least and the most MiB of a block.
const BLOCKS: (u64, u64) = (16, 128);
/// The least of them of two maps where one is enough: starting a map takes as long as work on this much.
const OF_TWO: u64 = 64;

/// Two maps for each that runs at once, or one where two had little to do, of blocks that are not larger than usual; a
/// reduce for every second one, and two at least.
pub fn cut(sizes: &Sizes, data_bytes: u64) -> Cut {
    let maps = u64::from(sizes.maps.max(1));
    let in_mib = |maps: u64| (data_bytes / maps).div_ceil(MIB);
    let block = Some(in_mib(2 * maps)).filter(|two| *two >= OF_TWO).unwrap_or_else(|| in_mib(maps));
    Cut {
        block: block.clamp(BLOCKS.0, BLOCKS.1) * MIB,
        maps: sizes.maps.max(1),
        reduces: (sizes.maps / 2).max(2),
    }
}

/// Fails, with the arithmetic, where the disk has no room for a job that sorts so much.
pub fn room_on_disk(facts: &Facts, data_bytes: u64, replication: u32) -> Result<(), String> {
    // Input and output with their copies, and what maps and reduces write for themselves.
    let copies = 2 * u64::from(replication) + 2;
    let needed = data_bytes.saturating_mul(copies).saturating_add(256 * MIB);
    if needed <= facts.disk_free {
        return Ok(());
    }
    let mib = |bytes: u64| bytes / MIB;
    Err(format!(
        "sorting {} MiB needs {} MiB of disk: input and output with {} each, twice the data between map and reduce, and \
         256; {} MiB are free: take less with --data, or another folder with --dir",
        mib(data_bytes),
        mib(needed),
        count(replication as usize, "copy"),
        mib(facts.disk_free),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(memory_mib: u64, cores: u32) -> Facts {
        Facts { memory: memory_mib * MIB, cores, disk_free: 1 << 40 }
    }

    #[test]
    fn a_large_machine_has_comfortable_sizes() {
        let one = sizes(&facts(24_576, 2), 1).unwrap();
        assert_eq!((one.heaps, one.container, one.node_memory), (USUAL, 1024, 3072));
        assert_eq!((one.slots, one.node_vcores), (2, 3));
        let three = sizes(&facts(24_576, 2), 3).unwrap();
        assert_eq!((three.slots, three.container, three.node_memory), (6, 1024, 3072));
        // One node directs the job, the others have that place for a task too.
        assert_eq!((one.room(1024), one.room(512), three.room(1024)), (2, 4, 8));
        // 700 MiB get 768.
        assert_eq!((one.room(700), one.room(768), one.room(640)), (2, 2, 3));
        let many_cores = sizes(&facts(65_536, 16), 1).unwrap();
        assert_eq!((many_cores.slots, many_cores.container), (16, 1024));
        // Memory for fewer tasks than cores: fewer tasks.
        let narrow = sizes(&facts(6_144, 16), 1).unwrap();
        assert!(narrow.slots < 16 && narrow.slots >= 2 && narrow.container >= 512, "{narrow:?}");
    }

    #[test]
    fn a_small_machine_has_the_smallest_heaps_and_a_smaller_one_is_refused() {
        let small = sizes(&facts(2_048, 4), 1).unwrap();
        assert_eq!((small.heaps, small.container), (LEAST, 256));
        let why = sizes(&facts(1_024, 4), 1).unwrap_err();
        let needed = LEAST.master() + LEAST.node() + 512 + 256;
        assert!(why.contains(&format!("needs {needed} MiB")) && why.contains("it has 1024 MiB"), "{why}");
        assert!(sizes(&facts(2_048, 4), 3).unwrap_err().contains("a cluster of 3 nodes"));
        assert!(sizes(&facts(0, 1), 1).is_err());
    }

    #[test]
    fn nothing_is_given_away_twice() {
        for memory in (1_024..40_000).step_by(512) {
            for nodes in 1..6 {
                let Ok(made) = sizes(&facts(memory, 3), nodes) else { continue };
                let used = made.held + u64::from(nodes) * made.node_memory;
                assert!(used + RESERVE <= memory, "{memory} {nodes}: {used}");
                assert!(made.node_memory >= 2 * made.container);
                assert!(task_heap(made.container) + 60 <= made.container);
                assert!(sort_buffer(task_heap(made.container)) + 30 <= task_heap(made.container));
                assert!(made.derived.iter().all(|one| !one.why.is_empty()));
            }
        }
    }

    #[test]
    fn data_is_cut_into_two_maps_for_each_that_runs() {
        let two = sizes(&facts(24_576, 2), 1).unwrap();
        let of = |bytes: u64| {
            let cut = cut(&two, bytes);
            (cut.block / MIB, cut.maps, cut.reduces)
        };
        assert_eq!(of(1), (16, 2, 2));
        assert_eq!(of(40 * MIB), (20, 2, 2));
        assert_eq!(of(256 * MIB), (64, 2, 2));
        assert_eq!(of(100 << 30), (128, 2, 2));
        // More nodes than cores have a map each at a time, not all that memory has room for.
        let three = sizes(&facts(24_576, 2), 3).unwrap();
        assert_eq!((three.maps, cut(&three, 96 * MIB).block / MIB), (3, 32));
        assert_eq!(sizes(&facts(65_536, 16), 2).unwrap().maps, 16);
    }

    #[test]
    fn a_full_disk_is_refused_with_the_arithmetic() {
        let some = Facts { disk_free: 1_000 * MIB, ..facts(8_192, 2) };
        assert_eq!(room_on_disk(&some, 100 * MIB, 1), Ok(()));
        let why = room_on_disk(&some, 300 * MIB, 2).unwrap_err();
        assert!(why.contains("needs 2056 MiB") && why.contains("1000 MiB are free"), "{why}");
    }
}
