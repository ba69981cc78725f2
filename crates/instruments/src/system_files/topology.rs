//! Which CPUs are threads of one core, and which cores lie on one NUMA node, from /sys.
//!
//! A CPU of which the kernel says nothing is a core of its own. A hypervisor may show threads of one core as cores.

use std::collections::{BTreeMap, BTreeSet};

use super::{Root, text};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// The CPUs of the core of a CPU, itself included.
pub fn siblings(root: &Root, cpu: u32) -> Option<BTreeSet<u32>> {
    let read = |name: &str| root.maybe(&format!("{CPUS}/cpu{cpu}/topology/{name}"));
    let list = read("core_cpus_list").or_else(|| read("thread_siblings_list"));
    let all = list.map(|list| text::cpu_list(&list));
    all.or_else(|| read("thread_siblings").map(|mask| text::cpu_mask(&mask)))
}

/// The allowed CPUs by core: in the order of the nodes, those of no known node first, and in a node in that of the
/// cores' lowest CPUs.
pub fn cores(root: &Root, allowed: &[u32]) -> Vec<Vec<u32>> {
    let nodes = root.maybe(&format!("{NODES}/online")).map(|list| text::cpu_list(&list)).unwrap_or_default();
    let of_node =
        |id: u32| root.maybe(&format!("{NODES}/node{id}/cpulist")).map(|list| (id, text::cpu_list(&list)));
    let nodes: Vec<(u32, BTreeSet<u32>)> = nodes.into_iter().filter_map(of_node).collect();
    let mut cores: BTreeMap<(Option<u32>, u32), BTreeSet<u32>> = BTreeMap::new();
    for &cpu in allowed {
        let first = siblings(root, cpu).and_then(|all| all.first().copied()).unwrap_or(cpu);
        let node = nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map(|(id, _)| *id);
        cores.entry((node, first)).or_default().insert(cpu);
    }
    cores.into_values().map(|core| core.into_iter().collect()).collect()
}

/// [`cores`] of this machine.
pub fn here(allowed: &[u32]) -> Vec<Vec<u32>> {
    cores(&Root::live(), allowed)
}

/// The first CPU of each core, then the second of each, and so on.
pub fn in_turn<'c>(cores: impl IntoIterator<Item = &'c Vec<u32>>) -> Vec<u32> {
    let cores: Vec<&Vec<u32>> = cores.into_iter().collect();
    let most = cores.iter().map(|core| core.len()).max().unwrap_or(0);
    (0..most).flat_map(|nth| cores.iter().filter_map(move |core| core.get(nth).copied())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_nodes_are_kept_together() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: String, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        // Two nodes, whose CPUs take turns; two threads a core, numbered as most machines do.
        for cpu in 0..8u32 {
            put(
                format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"),
                &format!("{},{}", cpu % 4, cpu % 4 + 4),
            );
        }
        put("sys/devices/system/node/online".into(), "0-1");
        put("sys/devices/system/node/node0/cpulist".into(), "0,2,4,6");
        put("sys/devices/system/node/node1/cpulist".into(), "1,3,5,7");
        let root = Root::at(dir.path());
        let all = cores(&root, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all, [[0, 4], [2, 6], [1, 5], [3, 7]]);
        assert_eq!(in_turn(&all), [0, 2, 1, 3, 4, 6, 5, 7]);
        // A CPU of no known node is on none of them.
        assert_eq!(cores(&root, &[6, 1, 9]), [vec![9], vec![6], vec![1]]);
    }
}
