//! The control groups that other processes are in, with those above them: their CPU quotas and memory limits, and the
//! counters of these; version 1 and 2.
//!
//! CPUs, bytes, nanoseconds. Groups without a limit are left out. Groups that lie above what is mounted here, or beside
//! it, cannot be read: limits of them are not known.

use std::collections::BTreeSet;

use super::cgroup::{self, ancestors, bytes_v1, bytes_v2, controlled, membership, quota_in};
use super::mounts::{self, Mount};
use super::root::Root;
use crate::telemetry::parse::{pairs, throttle};

/// Most groups of one controller that are looked at.
const MOST: usize = 256;

/// A CPU quota of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuQuota {
    /// `cpu:/web` of version 1, `/web` of version 2.
    pub group: String,
    /// CPUs that it allows.
    pub cpus: f64,
    /// Periods in which a thread of the group had work.
    pub periods: Option<u64>,
    /// Those of them in which it was stopped.
    pub throttled: Option<u64>,
    /// How long it was stopped, summed over CPUs.
    pub throttled_ns: Option<u64>,
}

/// A memory limit of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryLimit {
    /// `memory:/web` of version 1, `/web` of version 2.
    pub group: String,
    pub limit: u64,
    pub used: Option<u64>,
    /// How often it was at the limit, so that the kernel had to make room.
    pub hits: Option<u64>,
}

/// The limits of some processes at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupLimits {
    /// Groups of which it is known whether they have a CPU quota.
    pub cpu_groups: usize,
    pub quotas: Vec<CpuQuota>,
    pub memory: Vec<MemoryLimit>,
}

/// A group that can be read: its path, and its folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    path: String,
    folder: String,
    is_v2: bool,
}

impl Group {
    fn name(&self, controller: &str) -> String {
        // These three part parameters from each other.
        let path = self.path.replace([';', ',', '='], "_");
        if self.is_v2 { path } else { format!("{controller}:{path}") }
    }
}

/// The limits of these processes. Fails, with the reason, when no group of theirs has a CPU quota that can be read.
pub fn of_processes(root: &Root, pids: &[i32]) -> Result<GroupLimits, String> {
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes));
    let mounts = mounts.map_err(|why| format!("/proc/self/mountinfo: {why}"))?;
    let mut why = "it has no process".to_owned();
    // Processes of one server are mostly in the same groups.
    let mut lists: BTreeSet<Vec<u8>> = BTreeSet::new();
    for pid in pids {
        match root.bytes(&format!("/proc/{pid}/cgroup")) {
            Ok(bytes) => drop(lists.insert(bytes)),
            Err(error) => why = format!("/proc/{pid}/cgroup: {error}"),
        }
    }
    let (mut cpu, mut memory) = (BTreeSet::new(), BTreeSet::new());
    for own in lists.iter().map(|bytes| membership(bytes)) {
        match groups(&own, &mounts, "cpu") {
            Ok(found) => cpu.extend(found),
            Err(error) => why = error,
        }
        memory.extend(groups(&own, &mounts, "memory").unwrap_or_default());
    }
    let read: Vec<Option<CpuQuota>> =
        cpu.iter().take(MOST).filter_map(|group| cpu_quota(root, group)).collect();
    if read.is_empty() {
        let hidden = || format!("the CPU quota of {} cannot be read", listed(&cpu));
        return Err(if cpu.is_empty() { why } else { hidden() });
    }
    Ok(GroupLimits {
        cpu_groups: read.len(),
        quotas: read.into_iter().flatten().collect(),
        memory: memory.iter().take(MOST).filter_map(|group| memory_limit(root, group)).collect(),
    })
}

fn listed(groups: &BTreeSet<Group>) -> String {
    groups.iter().map(|group| group.name("cpu")).collect::<Vec<_>>().join(", ")
}

/// The group with this controller and those above it. Fails when it is not one that can be seen here.
fn groups(own: &cgroup::Membership, mounts: &[Mount], controller: &str) -> Result<Vec<Group>, String> {
    let Some((path, mount)) = controlled(own, mounts, controller) else {
        return Err(format!("no control groups with `{controller}` are mounted here"));
    };
    let root = mount.root.trim_end_matches('/');
    let rest = path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_above = path.split('/').any(|part| part == "..");
    let Some(rest) = rest.filter(|_| !is_above) else {
        return Err(format!("its control group {path} lies outside of those that are shown here"));
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    let folders = ancestors(mount, path).into_iter().enumerate();
    let group = |(up, folder): (usize, String)| {
        let kept = parts.get(..parts.len().saturating_sub(up)).unwrap_or_default();
        let path = format!("{root}{}", kept.iter().map(|part| format!("/{part}")).collect::<String>());
        let path = if path.is_empty() { "/".to_owned() } else { path };
        Group { path, folder, is_v2: mount.kind == "cgroup2" }
    };
    Ok(folders.map(group).collect())
}

/// Its CPU quota; an inner `None` means that it has none, an outer one that it cannot be read.
fn cpu_quota(root: &Root, group: &Group) -> Option<Option<CpuQuota>> {
    let folder = &group.folder;
    let file = if group.is_v2 { "cpu.max" } else { "cpu.cfs_quota_us" };
    // A group at the top, and one whose parent does not hand the controller down, can have none.
    if root.exists(folder) && !root.exists(&format!("{folder}/{file}")) {
        return Some(None);
    }
    let Some(cpus) = quota_in(root, folder, group.is_v2)?.filter(|cpus| *cpus > 0.0) else {
        return Some(None);
    };
    let stat = root.bytes(&format!("{folder}/cpu.stat")).unwrap_or_default();
    let stopped = throttle::parse(&stat);
    Some(Some(CpuQuota {
        group: group.name("cpu"),
        cpus,
        periods: pairs::pick(&stat, ["nr_periods"])[0],
        throttled: stopped.map(|stopped| stopped.count),
        throttled_ns: stopped.map(|stopped| stopped.time_ns),
    }))
}

fn memory_limit(root: &Root, group: &Group) -> Option<MemoryLimit> {
    let read = |name: &str| root.maybe(&format!("{}/{name}", group.folder));
    let number = |name: &str| read(name)?.parse().ok();
    let (limit, used, hits) = if group.is_v2 {
        let events = root.bytes(&format!("{}/memory.events", group.folder)).unwrap_or_default();
        let [hits] = pairs::pick(&events, ["max"]);
        (bytes_v2(&read("memory.max")?)??, number("memory.current"), hits)
    } else {
        let (used, hits) = (number("memory.usage_in_bytes"), number("memory.failcnt"));
        (bytes_v1(&read("memory.limit_in_bytes")?)??, used, hits)
    };
    Some(MemoryLimit { group: group.name("memory"), limit, used, hits })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Files of a nginx under `docker run --cpus 1.5 --memory 512m` on a host with version 2.
    const V2: &[(&str, &str)] = &[
        ("proc/7/cgroup", "0::/system.slice/docker-3f.scope\n"),
        ("proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"),
        ("sys/fs/cgroup/system.slice/docker-3f.scope/cpu.max", "150000 100000\n"),
        (
            "sys/fs/cgroup/system.slice/docker-3f.scope/cpu.stat",
            "usage_usec 2704096363\nuser_usec 2349639229\nsystem_usec 354457134\nnr_periods 1801\n\
             nr_throttled 1379\nthrottled_usec 120367924\nnr_bursts 0\nburst_usec 0\n",
        ),
        ("sys/fs/cgroup/system.slice/docker-3f.scope/memory.max", "536870912\n"),
        ("sys/fs/cgroup/system.slice/docker-3f.scope/memory.current", "536813568\n"),
        (
            "sys/fs/cgroup/system.slice/docker-3f.scope/memory.events",
            "low 0\nhigh 0\nmax 34\noom 0\noom_kill 0\noom_group_kill 0\n",
        ),
        ("sys/fs/cgroup/system.slice/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/system.slice/memory.max", "max\n"),
    ];
    /// Files of a nginx in `cpu:/cold3` on a host with version 1, captured.
    const V1: &[(&str, &str)] = &[
        ("proc/7/cgroup", "4:memory:/process_api/cc7\n2:cpuacct:/\n1:cpu:/cold3\n0::/\n"),
        (
            "proc/self/mountinfo",
            "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        ),
        ("sys/fs/cgroup/cpu/cold3/cpu.cfs_quota_us", "40000\n"),
        ("sys/fs/cgroup/cpu/cold3/cpu.cfs_period_us", "100000\n"),
        (
            "sys/fs/cgroup/cpu/cold3/cpu.stat",
            "nr_periods 1801\nnr_throttled 1379\nthrottled_time 120367924933\nnr_bursts 0\nburst_time 0\n",
        ),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/process_api/cc7/memory.limit_in_bytes", "1073741824\n"),
        ("sys/fs/cgroup/memory/process_api/cc7/memory.usage_in_bytes", "9000000\n"),
        ("sys/fs/cgroup/memory/process_api/cc7/memory.failcnt", "0\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
    ];

    fn tree(files: &[(&str, &str)], changed: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain(changed) {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn read(files: &[(&str, &str)], changed: &[(&str, &str)]) -> Result<GroupLimits, String> {
        of_processes(&Root::at(tree(files, changed).path()), &[7, 8])
    }

    #[test]
    fn limits_of_version_2_are_read() {
        let found = read(V2, &[]).unwrap();
        let quota = CpuQuota {
            group: "/system.slice/docker-3f.scope".into(),
            cpus: 1.5,
            periods: Some(1801),
            throttled: Some(1379),
            throttled_ns: Some(120_367_924_000),
        };
        let memory = MemoryLimit {
            group: quota.group.clone(),
            limit: 512 << 20,
            used: Some(536_813_568),
            hits: Some(34),
        };
        let (quotas, memory) = (vec![quota], vec![memory]);
        assert_eq!(found, GroupLimits { cpu_groups: 3, quotas, memory });
    }

    #[test]
    fn limits_of_version_1_are_read() {
        let found = read(V1, &[]).unwrap();
        let quota = CpuQuota {
            group: "cpu:/cold3".into(),
            cpus: 0.4,
            periods: Some(1801),
            throttled: Some(1379),
            throttled_ns: Some(120_367_924_933),
        };
        assert_eq!((found.cpu_groups, found.quotas), (2, vec![quota]));
        assert_eq!(found.memory[0].group, "memory:/process_api/cc7");
        assert_eq!((found.memory.len(), found.memory[0].hits), (1, Some(0)));
    }

    #[test]
    fn a_quota_above_counts_too_and_each_group_once() {
        let above = ("sys/fs/cgroup/system.slice/cpu.max", "90000 100000\n");
        let other = ("proc/8/cgroup", "0::/system.slice\n");
        let found = read(V2, &[above, other]).unwrap();
        let named: Vec<(&str, f64)> = found.quotas.iter().map(|one| (one.group.as_str(), one.cpus)).collect();
        assert_eq!(named, [("/system.slice", 0.9), ("/system.slice/docker-3f.scope", 1.5)]);
        assert_eq!(found.quotas[0].throttled, None, "it has no cpu.stat");
    }

    #[test]
    fn in_a_container_the_mounted_part_is_what_is_seen() {
        let mount = ("proc/self/mountinfo", "30 22 0:26 /system.slice /g rw - cgroup2 cgroup2 rw\n");
        let files = [mount, ("g/docker-3f.scope/cpu.max", "50000 100000\n")];
        let found = read(V2, &files).unwrap();
        assert_eq!(
            (found.quotas[0].group.as_str(), found.quotas[0].cpus),
            ("/system.slice/docker-3f.scope", 0.5)
        );
        // One that is beside the mounted part, or above the root of our namespace, has no folder here.
        for path in ["/other/x", "/system.slice2/x", "/../x"] {
            let list = format!("0::{path}\n");
            let why = read(V2, &[mount, ("proc/7/cgroup", &list)]).unwrap_err();
            assert_eq!(why, format!("its control group {path} lies outside of those that are shown here"));
        }
    }

    #[test]
    fn a_group_without_a_quota_is_none_and_what_is_not_read_is_said() {
        let free =
            read(V2, &[("sys/fs/cgroup/system.slice/docker-3f.scope/cpu.max", "max 100000\n")]).unwrap();
        assert_eq!((free.cpu_groups, free.quotas.len()), (3, 0));
        let at_top = read(V2, &[("proc/7/cgroup", "0::/\n")]).unwrap();
        assert_eq!((at_top.cpu_groups, at_top.quotas.len()), (1, 0));
        let elsewhere = ("proc/self/mountinfo", "30 22 0:26 / /no rw - cgroup2 cgroup2 rw\n");
        let hidden = read(V2, &[elsewhere]).unwrap_err();
        assert!(hidden.starts_with("the CPU quota of /, /system.slice, /system.slice/docker"), "{hidden}");
        let unmounted = read(V2, &[("proc/self/mountinfo", "")]).unwrap_err();
        assert_eq!(unmounted, "no control groups with `cpu` are mounted here");
        assert_eq!(of_processes(&Root::at(tree(V2, &[]).path()), &[]).unwrap_err(), "it has no process");
        let gone = of_processes(&Root::at(tree(V2, &[]).path()), &[99]).unwrap_err();
        assert!(gone.starts_with("/proc/99/cgroup: "), "{gone}");
    }

    proptest! {
        #[test]
        fn any_files_are_read(list: Vec<u8>, stat: Vec<u8>, path in "[a-z./;=,:]{0,12}") {
            let dir = tree(V1, &[]);
            std::fs::write(dir.path().join("proc/7/cgroup"), list).unwrap();
            std::fs::write(dir.path().join("sys/fs/cgroup/cpu/cold3/cpu.stat"), stat).unwrap();
            std::fs::create_dir_all(dir.path().join("proc/8")).unwrap();
            std::fs::write(dir.path().join("proc/8/cgroup"), format!("1:cpu:/{path}\n1:cpu:/cold3\n")).unwrap();
            let _any = of_processes(&Root::at(dir.path()), &[7, 8]);
        }
    }
}
