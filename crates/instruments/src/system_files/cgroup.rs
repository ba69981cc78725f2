//! Limits of our own control group: CPU quota, CPU set, memory; version 1 and 2.
//!
//! A limit of any ancestor applies to us, so every visible ancestor is read and the tightest limit wins. Groups above
//! the mounted part (inside a container) cannot be seen.

use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use super::mounts::{self, Mount};
use super::root::Root;

/// Version 1 prints a number near 2^63 for "no limit".
const UNLIMITED_V1: u64 = 1 << 60;

/// Our groups: the `hierarchy:controllers:path` lines of /proc/self/cgroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// Our path in the unified hierarchy.
    pub unified: Option<String>,
    /// Controllers and path in each version-1 hierarchy.
    pub legacy: Vec<(Vec<String>, String)>,
}

pub fn membership(bytes: &[u8]) -> Membership {
    let mut found = Membership::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if id == "0" && controllers.is_empty() {
            found.unified = Some(path.to_owned());
        } else {
            let controllers = controllers.split(',').map(str::to_owned).collect();
            found.legacy.push((controllers, path.to_owned()));
        }
    }
    found
}

/// The limits that apply to us. An inner `None` means no limit, an outer `None` that nothing could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    pub version: Option<u8>,
    pub path: Option<String>,
    /// Cores that the quota allows, such as 0.9.
    pub cpus: Option<Option<f64>>,
    pub cpuset: Option<String>,
    /// In bytes.
    pub memory: Option<Option<u64>>,
    /// In bytes.
    pub swap: Option<Option<u64>>,
    pub weight: Option<u64>,
}

/// Reads the limits under `root`.
pub fn limits(root: &Root) -> Limits {
    let own = root.bytes("/proc/self/cgroup").map(|bytes| membership(&bytes)).unwrap_or_default();
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes)).unwrap_or_default();
    let v2 = mounts.iter().find(|mount| mount.kind == "cgroup2");
    let mut limits = Limits::default();
    if let (Some(path), Some(mount)) = (&own.unified, v2) {
        let folders = ancestors(mount, path);
        limits.version = Some(2);
        limits.path = Some(path.clone());
        limits.cpus = tightest(&folders, |folder| quota_in(root, folder, true));
        limits.memory = tightest(&folders, |folder| bytes_v2(&root.maybe(&format!("{folder}/memory.max"))?));
        limits.swap =
            tightest(&folders, |folder| bytes_v2(&root.maybe(&format!("{folder}/memory.swap.max"))?));
        limits.cpuset = folders.iter().find_map(|own| root.maybe(&format!("{own}/cpuset.cpus.effective")));
        limits.weight =
            folders.first().and_then(|own| root.number(&format!("{own}/cpu.weight"))?.try_into().ok());
    }
    legacy(root, &own, &mounts, &mut limits);
    limits
}

/// Fills in the limits of version-1 controllers, which hybrid systems have too.
fn legacy(root: &Root, own: &Membership, mounts: &[Mount], limits: &mut Limits) {
    let folders = |controller: &str| {
        let (path, mount) =
            controlled(own, mounts, controller).filter(|(_, mount)| mount.kind == "cgroup")?;
        Some((path.to_owned(), ancestors(mount, path)))
    };
    if let Some((path, folders)) = folders("cpu") {
        limits.version = limits.version.filter(|_| limits.cpus.is_some()).or(Some(1));
        limits.path = Some(path);
        limits.cpus = limits.cpus.or_else(|| tightest(&folders, |folder| quota_in(root, folder, false)));
    }
    if let Some((_, folders)) = folders("cpuset") {
        let read = |name: &str| folders.iter().find_map(|folder| root.maybe(&format!("{folder}/{name}")));
        let set = || read("cpuset.effective_cpus").or_else(|| read("cpuset.cpus"));
        limits.cpuset = limits.cpuset.take().or_else(set);
    }
    if let Some((_, folders)) = folders("memory") {
        let read = |folder: &str| bytes_v1(&root.maybe(&format!("{folder}/memory.limit_in_bytes"))?);
        limits.memory = limits.memory.or_else(|| tightest(&folders, read));
    }
}

/// A CPU quota of one control group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    /// Device and inode of its folder: equal for all members, whatever path they see.
    pub group: (u64, u64),
    /// Cores that it allows.
    pub cpus: f64,
}

/// The CPU quotas of our control group and of those above it, the nearest first.
pub fn quotas(root: &Root) -> Vec<Quota> {
    let own = root.bytes("/proc/self/cgroup").map(|bytes| membership(&bytes)).unwrap_or_default();
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes)).unwrap_or_default();
    let Some((path, mount)) = controlled(&own, &mounts, "cpu") else { return Vec::new() };
    let quota = |folder: String| {
        let cpus = quota_in(root, &folder, mount.kind == "cgroup2")??;
        let known = std::fs::metadata(root.path(&folder)).ok()?;
        Some(Quota { group: (known.dev(), known.ino()), cpus }).filter(|quota| quota.cpus > 0.0)
    };
    ancestors(mount, path).into_iter().filter_map(quota).collect()
}

/// Tasks that our control group and its ancestors still allow; `None` when there is no limit, or it cannot be read.
pub fn tasks_left(root: &Root) -> Option<u64> {
    let own = root.bytes("/proc/self/cgroup").map(|bytes| membership(&bytes)).unwrap_or_default();
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes)).unwrap_or_default();
    let (path, mount) = controlled(&own, &mounts, "pids")?;
    let left = |folder: String| {
        let most = bytes_v2(&root.maybe(&format!("{folder}/pids.max"))?)??;
        let there = root.maybe(&format!("{folder}/pids.current"))?.parse().ok()?;
        Some(most.saturating_sub(there))
    };
    ancestors(mount, path).into_iter().filter_map(left).min()
}

/// The path in the hierarchy with this controller (version 1 first), and its mount.
pub(super) fn controlled<'a>(
    own: &'a Membership,
    mounts: &'a [Mount],
    controller: &str,
) -> Option<(&'a str, &'a Mount)> {
    match own.legacy.iter().find(|(names, _)| names.iter().any(|name| name == controller)) {
        Some((_, path)) => {
            let mount = mounts.iter().find(|mount| {
                mount.kind == "cgroup" && mount.super_options.split(',').any(|option| option == controller)
            });
            Some((path, mount?))
        }
        None => Some((own.unified.as_deref()?, mounts.iter().find(|mount| mount.kind == "cgroup2")?)),
    }
}

/// Our folder under the mount, then its parents up to the mount point.
pub fn ancestors(mount: &Mount, path: &str) -> Vec<String> {
    // Inside a container the mounted part starts below the path that /proc names.
    let rest = match mount.root.trim_end_matches('/') {
        "" => path,
        root => path.strip_prefix(root).unwrap_or(""),
    };
    let mut folders = Vec::new();
    let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != "..").collect();
    loop {
        let below = parts.iter().map(|part| format!("/{part}")).collect::<String>();
        folders.push(format!("{}{below}", mount.point.trim_end_matches('/')));
        if parts.pop().is_none() {
            return folders;
        }
    }
}

/// The smallest limit; `Some(None)` when files were read and none limits.
fn tightest<T: PartialOrd + Copy>(
    folders: &[String],
    read: impl Fn(&str) -> Option<Option<T>>,
) -> Option<Option<T>> {
    let read: Vec<Option<T>> = folders.iter().filter_map(|folder| read(folder)).collect();
    let least = read.iter().flatten().copied().reduce(|a, b| if b < a { b } else { a });
    (!read.is_empty()).then_some(least)
}

/// CPUs that the quota of the group with this folder allows; an inner `None` is no quota, an outer one that it cannot
/// be read.
pub fn quota_in(root: &Root, folder: &str, is_v2: bool) -> Option<Option<f64>> {
    if is_v2 {
        return quota_v2(&root.maybe(&format!("{folder}/cpu.max"))?);
    }
    let quota = root.number(&format!("{folder}/cpu.cfs_quota_us"))?;
    quota_v1(quota, root.number(&format!("{folder}/cpu.cfs_period_us"))?)
}

/// `90000 100000` or `max 100000` in microseconds, as CPUs' worth of time.
pub fn quota_v2(text: &str) -> Option<Option<f64>> {
    let (quota, period) = text.split_once(' ')?;
    if quota == "max" {
        return Some(None);
    }
    quota_v1(quota.parse().ok()?, period.trim().parse().ok()?)
}

/// Quota -1 is none.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a scheduling period")]
pub fn quota_v1(quota: i64, period: i64) -> Option<Option<f64>> {
    match (quota, period) {
        (..0, _) => Some(None),
        (_, ..=0) => None,
        (quota, period) => Some(Some(quota as f64 / period as f64)),
    }
}

/// `max` or bytes.
pub fn bytes_v2(text: &str) -> Option<Option<u64>> {
    if text == "max" { Some(None) } else { text.parse().ok().map(Some) }
}

/// Bytes, with a huge number for none.
pub fn bytes_v1(text: &str) -> Option<Option<u64>> {
    text.parse::<u64>().ok().map(|bytes| Some(bytes).filter(|&bytes| bytes < UNLIMITED_V1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_in_both_versions() {
        assert_eq!(quota_v2("9000 10000"), Some(Some(0.9)));
        assert_eq!(quota_v2("max 100000"), Some(None));
        assert_eq!(quota_v2("9000 0"), None);
        assert_eq!(quota_v1(-1, 100_000), Some(None));
        assert_eq!(bytes_v1("9223372036854771712"), Some(None));
        assert_eq!(bytes_v2("1048576"), Some(Some(1 << 20)));
    }

    #[test]
    fn tasks_are_counted_in_either_version() {
        let v1 = "39 31 0:36 / /g/pids rw - cgroup cgroup rw,pids\n";
        let v2 = "30 22 0:26 / /g rw - cgroup2 cgroup2 rw\n";
        for (own, mounts, folder, wanted) in [
            ("7:pids:/a\n0::/b\n", v1, "g/pids/a", Some(40)),
            ("0::/b\n", v2, "g/b", Some(40)),
            // Its controller is that of a version that is not mounted.
            ("7:pids:/a\n0::/b\n", v2, "g/b", None),
            ("", v2, "g/b", None),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let put = |path: &str, text: &str| {
                let path = dir.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            };
            put("proc/self/cgroup", own);
            put("proc/self/mountinfo", mounts);
            put(&format!("{folder}/pids.max"), "50\n");
            put(&format!("{folder}/pids.current"), "10\n");
            assert_eq!(tasks_left(&Root::at(dir.path())), wanted, "{own}");
        }
    }

    #[test]
    fn the_tightest_ancestor_wins() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/self/cgroup", "0::/a/b\n");
        put("proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        put("sys/fs/cgroup/a/b/memory.max", "max\n");
        let limits = limits(&Root::at(dir.path()));
        assert_eq!((limits.version, limits.cpus, limits.memory), (Some(2), Some(Some(1.5)), Some(None)));
        assert_eq!(limits.cpuset, None);
        put("sys/fs/cgroup/a/b/c/cpu.max", "50000 100000\n");
        let above = quotas(&Root::at(dir.path()));
        put("proc/self/cgroup", "0::/a/b/c\n");
        let below = quotas(&Root::at(dir.path()));
        assert_eq!(above.iter().map(|quota| quota.cpus).collect::<Vec<_>>(), [1.5]);
        assert_eq!(below.iter().map(|quota| quota.cpus).collect::<Vec<_>>(), [0.5, 1.5]);
        assert!(below[1] == above[0] && below[0].group != above[0].group);
    }

    #[test]
    fn quotas_of_version_1_have_their_group() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/self/cgroup", "2:cpu,cpuacct:/a\n0::/x\n");
        put("proc/self/mountinfo", "39 31 0:36 / /g/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
        for (folder, quota) in [("g/cpu/a", "2500"), ("g/cpu", "-1")] {
            put(&format!("{folder}/cpu.cfs_quota_us"), quota);
            put(&format!("{folder}/cpu.cfs_period_us"), "10000");
        }
        let found = quotas(&Root::at(dir.path()));
        let folder = std::fs::metadata(dir.path().join("g/cpu/a")).unwrap();
        assert_eq!(found, [Quota { group: (folder.dev(), folder.ino()), cpus: 0.25 }]);
    }
}
