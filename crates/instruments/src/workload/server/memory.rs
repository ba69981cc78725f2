//! A memory limit for a server: a control group of its own, of version 1 or 2, below or beside ours.
//!
//! Units: bytes. Counted are the memory of the server's processes, and every page of a file that they were the first
//! to read since it was last dropped from the cache; pages that another process brought in are not counted. The group
//! never swaps, except where version 1 does not count swap ([`Room::may_swap`]). The group is removed with the server.
//! Limits above our own control group still apply.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::params::show_bytes;

use crate::system_files::cgroup::{self, Membership};
use crate::system_files::mounts::{self, Mount};
use crate::system_files::root::Root;
use crate::telemetry::parse::{lines, lone, pairs};
use crate::workload::guard::Folder;

const PREFIX: &str = "boxscore-server-";
/// Groups of ended programs are removed when they are older than this; younger ones may just be starting.
const OLD: Duration = Duration::from_secs(60);
/// The smallest and the largest limit, in bytes.
pub const LEAST: u64 = 4 << 20;
pub const MOST: u64 = 1 << 50;

static MADE: AtomicU64 = AtomicU64::new(0);

/// The version of the memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
}

impl Version {
    const fn limit(self) -> &'static str {
        match self {
            Version::V1 => "memory.limit_in_bytes",
            Version::V2 => "memory.max",
        }
    }
}

/// The folders in which a server's group can be made, the nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Home {
    version: Version,
    parents: Vec<String>,
}

/// Memory use of a limited server; `None` for what the kernel does not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    pub bytes: Option<u64>,
    /// The part of it in pages of files.
    pub cache_bytes: Option<u64>,
    /// How often it reached its limit, so that the kernel had to make room.
    pub hits: Option<u64>,
    /// Pages of files that were read again after they had been dropped to make room.
    pub refaults: Option<u64>,
    /// Processes that were killed because no room could be made.
    pub killed: Option<u64>,
}

/// A control group with a memory limit, for one server.
#[derive(Debug)]
pub struct Room {
    version: Version,
    limit: u64,
    folder: Folder,
    may_swap: bool,
}

/// Fails when memory cannot be limited here, and says what to do. Makes a group and removes it again.
pub fn available() -> Result<(), String> {
    Room::make(MOST)?.remove()
}

/// Fails when a server cannot have this limit here. Asks the kernel once per limit; starts nothing.
pub fn possible(limit: u64) -> Result<(), String> {
    static KNOWN: Mutex<BTreeMap<u64, Result<(), String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = || limits_something(limit).and_then(|()| Room::make(limit)?.remove());
    known.entry(limit).or_insert_with(asked).clone()
}

/// Fails for a limit above all memory. If the size of memory cannot be read, the kernel decides.
fn limits_something(limit: u64) -> Result<(), String> {
    let [all] = pairs::pick(&fs::read("/proc/meminfo").unwrap_or_default(), ["MemTotal:"]);
    match all.map(|kib| kib << 10).filter(|all| limit > *all) {
        Some(all) => {
            let (limit, all) = (show_bytes(limit), show_bytes(all >> 20 << 20));
            Err(format!("memory={limit}: this machine has {all}, so that it would limit nothing"))
        }
        None => Ok(()),
    }
}

impl Room {
    /// A group whose processes may use `limit` bytes together. Fails when it cannot be made.
    pub fn make(limit: u64) -> Result<Room, String> {
        let refused = |why: String| format!("memory={}: {why}", show_bytes(limit));
        if !(LEAST..=MOST).contains(&limit) {
            let (least, most) = (show_bytes(LEAST), show_bytes(MOST));
            return Err(refused(format!("from {least} to {most} is possible")));
        }
        let home = home(&Root::live()).map_err(refused)?;
        let mut last = String::new();
        for parent in home.parents.iter().map(Path::new) {
            sweep(parent, OLD);
            match Room::below(parent, home.version, limit) {
                Ok(room) => return Ok(room),
                Err(why) => last = why,
            }
        }
        Err(refused(format!("{last}; {}", hint(&last))))
    }

    fn below(parent: &Path, version: Version, limit: u64) -> Result<Room, String> {
        let unique = MADE.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{}-{unique}", std::process::id()));
        let mut room = Room { version, limit, folder: Folder::make(&path)?, may_swap: false };
        let is_bound = set(&path, version, limit)?;
        room.may_swap = !is_bound && has_swap(&fs::read("/proc/swaps").unwrap_or_default());
        Ok(room)
    }

    /// The folder that a process joins.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// True if its processes may swap beyond the limit, because this kernel does not count swap by group.
    pub fn may_swap(&self) -> bool {
        self.may_swap
    }

    /// Current use of its processes.
    pub fn usage(&self) -> Use {
        usage(self.folder.path(), self.version)
    }

    /// If some of its processes were killed for lack of memory: words that say so, for the middle of a sentence.
    pub fn killed(&self) -> Option<String> {
        let killed = self.usage().killed.filter(|killed| *killed > 0)?;
        let limit = show_bytes(self.limit);
        Some(format!(" since memory={limit} is too little: the kernel killed {killed} of its processes"))
    }

    /// Removes the group after its processes are gone, as dropping does. Fails when it cannot be removed.
    pub fn remove(self) -> Result<(), String> {
        self.folder.remove()
    }
}

/// Limits a new group. Returns true if its swap could be limited too.
fn set(folder: &Path, version: Version, limit: u64) -> Result<bool, String> {
    let write = |name: &str, bytes: u64| {
        let path = folder.join(name);
        let written = fs::File::options().write(true).open(&path);
        let written = written.and_then(|mut file| file.write_all(bytes.to_string().as_bytes()));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))
    };
    write(version.limit(), limit)?;
    // A server that swaps measures the swap device. Kernels that do not count swap have neither file.
    let (swap, bytes) = match version {
        Version::V1 => ("memory.memsw.limit_in_bytes", limit),
        Version::V2 => ("memory.swap.max", 0),
    };
    let has_file = folder.join(swap).exists();
    if has_file {
        write(swap, bytes)?;
    }
    Ok(has_file)
}

/// True if /proc/swaps lists a device.
fn has_swap(swaps: &[u8]) -> bool {
    lines(swaps).skip(1).any(|line| !line.trim_ascii().is_empty())
}

fn usage(folder: &Path, version: Version) -> Use {
    let read = |name: &str| fs::read(folder.join(name)).ok();
    let number = |name: &str| lone(&read(name)?);
    let field = |file: &str, name: &str| pairs::pick(&read(file)?, [name])[0];
    match version {
        Version::V1 => Use {
            bytes: number("memory.usage_in_bytes"),
            cache_bytes: field("memory.stat", "cache"),
            // Kernels that no longer count leave a 0 there.
            hits: number("memory.failcnt").filter(|hits| *hits > 0),
            refaults: field("memory.stat", "workingset_refault_file"),
            killed: field("memory.oom_control", "oom_kill"),
        },
        Version::V2 => Use {
            bytes: number("memory.current"),
            cache_bytes: field("memory.stat", "file"),
            hits: field("memory.events", "max"),
            refaults: field("memory.stat", "workingset_refault_file"),
            killed: field("memory.events", "oom_kill"),
        },
    }
}

/// Where a group with a memory limit can be made, from /proc/self/cgroup and the mounts under `root`. Fails when there
/// is no such place.
fn home(root: &Root) -> Result<Home, String> {
    let read = |path: &str| root.bytes(path).map_err(|why| format!("{path}: {why}"));
    let own = cgroup::membership(&read("/proc/self/cgroup")?);
    let mounts = mounts::parse(&read("/proc/self/mountinfo")?);
    match own.legacy.iter().find(|(names, _)| names.iter().any(|name| name == "memory")) {
        Some((_, path)) => legacy(&mounts, path),
        None => unified(root, &own, &mounts),
    }
}

/// Version 1, also beside a version 2 without this controller: below our own group.
fn legacy(mounts: &[Mount], path: &str) -> Result<Home, String> {
    let is_memory = |mount: &&Mount| {
        mount.kind == "cgroup" && mount.super_options.split(',').any(|option| option == "memory")
    };
    let Some(mount) = mounts.iter().find(is_memory) else {
        return Err("the memory controller is that of control groups version 1 and is not mounted here; as root: \
                    `mkdir -p /sys/fs/cgroup/memory && mount -t cgroup -o memory cgroup /sys/fs/cgroup/memory`"
            .to_owned());
    };
    Ok(Home { version: Version::V1, parents: cgroup::ancestors(mount, path).into_iter().take(1).collect() })
}

/// Version 2: a group with processes cannot pass a controller down, so the nearest group above us that does.
fn unified(root: &Root, own: &Membership, mounts: &[Mount]) -> Result<Home, String> {
    let mount = mounts.iter().find(|mount| mount.kind == "cgroup2");
    let (Some(mount), Some(path)) = (mount, &own.unified) else {
        return Err(
            "control groups are not mounted here; as root: `mount -t cgroup2 none /sys/fs/cgroup`".to_owned()
        );
    };
    let folders = cgroup::ancestors(mount, path);
    let names = |folder: &str, file: &str| -> bool {
        let text = root.read(&format!("{folder}/{file}")).unwrap_or_default();
        text.split_whitespace().any(|name| name == "memory")
    };
    let parents: Vec<String> =
        folders.iter().filter(|folder| names(folder, "cgroup.subtree_control")).cloned().collect();
    if !parents.is_empty() {
        return Ok(Home { version: Version::V2, parents });
    }
    let top = folders.last().map_or(mount.point.as_str(), String::as_str);
    // The root of a container is a group like others: only that of the host hands down what it is itself in.
    let is_full = root.read(&format!("{top}/cgroup.procs")).is_ok_and(|pids| !pids.is_empty());
    let is_bound = root.read(&format!("{top}/cgroup.type")).is_ok() && is_full;
    Err(match names(top, "cgroup.controllers") {
        true if is_bound => format!(
            "{top} has processes, and a control group with processes hands no memory controller down; as root: `mkdir \
             {top}/rest; for p in $(cat {top}/cgroup.procs); do echo $p > {top}/rest/cgroup.procs; done; echo \
             +memory > {top}/cgroup.subtree_control`"
        ),
        true => format!(
            "no control group above this process hands the memory controller down; as root: `echo +memory > \
             {top}/cgroup.subtree_control`, or start boxscore with `systemd-run --user --scope`"
        ),
        false => {
            "this kernel has no memory controller in its control groups; boot it with `cgroup_enable=memory`"
                .to_owned()
        }
    })
}

/// Advice when no group could be made.
fn hint(why: &str) -> &'static str {
    if why.contains("(os error 30)") {
        "in a container, start it with its control groups writable (docker: --privileged), or measure outside of it"
    } else if why.contains("(os error 13)") || why.contains("(os error 1)") {
        "run as root, or in a group that is handed to you: `systemd-run --user --scope -p Delegate=yes boxscore …`"
    } else {
        "or measure without memory="
    }
}

/// Removes the groups of programs that were killed together with their guard at least `old` ago. A group with
/// processes stays.
fn sweep(parent: &Path, old: Duration) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(owner) else { continue };
        // Its owner may live in another container, where the same number is somebody else.
        let is_old = entry.metadata().is_ok_and(|meta| age(&meta) >= old);
        if is_old && !PathBuf::from(format!("/proc/{owner}")).exists() {
            let _stays_while_used = fs::remove_dir(entry.path());
        }
    }
}

/// The process that made a group of that name.
fn owner(name: &str) -> Option<u32> {
    let (owner, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u64>().ok()?;
    owner.parse().ok()
}

fn age(meta: &fs::Metadata) -> Duration {
    let made = Duration::from_secs(u64::try_from(meta.ctime()).unwrap_or(0));
    Duration::from_nanos(sys::clock::wall_ns()).saturating_sub(made)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path());
        (dir, root)
    }

    const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const V2: &str = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn a_limit_that_limits_nothing_is_refused() {
        let why = possible(MOST).unwrap_err();
        assert!(
            why.starts_with("memory=1024TiB: this machine has ") && why.contains("limit nothing"),
            "{why}"
        );
    }

    #[test]
    fn version_1_and_hybrid_use_our_own_group() {
        let (_dir, root) = tree(&[
            ("/proc/self/cgroup", "4:memory:/a/b\n1:cpu:/\n0::/user\n"),
            ("/proc/self/mountinfo", V1),
        ]);
        let parents = vec!["/sys/fs/cgroup/memory/a/b".to_owned()];
        assert_eq!(home(&root), Ok(Home { version: Version::V1, parents }));
        // A container shows part of the tree.
        let part = V1.replacen("0:32 / ", "0:32 /a ", 1);
        let (_dir, root) = tree(&[("/proc/self/cgroup", "4:memory:/a/b\n"), ("/proc/self/mountinfo", &part)]);
        assert_eq!(home(&root).unwrap().parents, ["/sys/fs/cgroup/memory/b"]);
        let (_dir, root) = tree(&[("/proc/self/cgroup", "4:memory:/\n"), ("/proc/self/mountinfo", V2)]);
        assert!(home(&root).unwrap_err().contains("mount -t cgroup -o memory"));
    }

    #[test]
    fn version_2_uses_the_nearest_that_hands_it_down() {
        let (_dir, root) = tree(&[
            ("/proc/self/cgroup", "0::/user/app/me\n"),
            ("/proc/self/mountinfo", V2),
            ("/sys/fs/cgroup/cgroup.subtree_control", "cpu memory pids\n"),
            ("/sys/fs/cgroup/user/cgroup.subtree_control", "cpu\n"),
            ("/sys/fs/cgroup/user/app/cgroup.subtree_control", "memory pids\n"),
            ("/sys/fs/cgroup/user/app/me/cgroup.subtree_control", "\n"),
        ]);
        let parents = vec!["/sys/fs/cgroup/user/app".to_owned(), "/sys/fs/cgroup".to_owned()];
        assert_eq!(home(&root), Ok(Home { version: Version::V2, parents }));
    }

    #[test]
    fn without_the_controller_it_says_what_to_do() {
        let cases = [
            (vec![("/proc/self/mountinfo", V2)], "/proc/self/cgroup"),
            (vec![("/proc/self/cgroup", "0::/\n"), ("/proc/self/mountinfo", "")], "not mounted"),
            (vec![("/proc/self/cgroup", ""), ("/proc/self/mountinfo", V2)], "not mounted"),
            (
                vec![
                    ("/proc/self/cgroup", "0::/a\n"),
                    ("/proc/self/mountinfo", V2),
                    ("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
                ],
                "hands the memory controller down; as root: `echo +memory > /sys/fs/cgroup/cgroup.subtree_control",
            ),
            (
                vec![
                    ("/proc/self/cgroup", "0::/\n"),
                    ("/proc/self/mountinfo", V2),
                    ("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
                    ("/sys/fs/cgroup/cgroup.subtree_control", "\n"),
                    ("/sys/fs/cgroup/cgroup.type", "domain\n"),
                    ("/sys/fs/cgroup/cgroup.procs", "1\n7\n"),
                ],
                "/sys/fs/cgroup has processes, and a control group with processes hands no memory",
            ),
            (vec![("/proc/self/cgroup", "0::/a\n"), ("/proc/self/mountinfo", V2)], "cgroup_enable=memory"),
        ];
        for (files, says) in cases {
            let (_dir, root) = tree(&files);
            let why = home(&root).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        for (why, says) in [("x (os error 30)", "docker"), ("x (os error 13)", "root"), ("x", "without")] {
            assert!(hint(why).contains(says), "{why}");
        }
        let why = Room::make(LEAST - 1).unwrap_err();
        assert!(why.contains("memory=4194303") && why.contains("4MiB to 1024TiB"), "{why}");
    }

    #[test]
    fn limits_are_written_as_each_version_wants_them() {
        let written = |version: Version, swap: &str, has_swap: bool| {
            let dir = tempfile::tempdir().unwrap();
            let files = [version.limit(), swap];
            // The kernel makes these files with the group.
            for file in &files[..if has_swap { 2 } else { 1 }] {
                fs::write(dir.path().join(file), "").unwrap();
            }
            assert_eq!(set(dir.path(), version, 64 << 20), Ok(has_swap));
            files.map(|file| fs::read_to_string(dir.path().join(file)).ok())
        };
        let text = |text: &str| Some(text.to_owned());
        // Memory and swap together in the one, swap alone in the other.
        let memsw = "memory.memsw.limit_in_bytes";
        assert_eq!(written(Version::V1, memsw, true), [text("67108864"), text("67108864")]);
        assert_eq!(written(Version::V2, "memory.swap.max", true), [text("67108864"), text("0")]);
        assert_eq!(written(Version::V2, "memory.swap.max", false), [text("67108864"), None]);
        let bare = tempfile::tempdir().unwrap();
        let why = set(bare.path(), Version::V2, 64 << 20).unwrap_err();
        assert!(why.contains("memory.max: No such file"), "a parent that hands no memory down: {why}");
    }

    #[test]
    fn use_is_read_from_either_version() {
        let (dir, _root) = tree(&[
            ("/1/memory.usage_in_bytes", "1000\n"),
            ("/1/memory.stat", "cache 600\nrss 300\nworkingset_refault_file 11\n"),
            ("/1/memory.failcnt", "7\n"),
            ("/old/memory.failcnt", "0\n"),
            ("/1/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
            ("/2/memory.current", "2000\n"),
            ("/2/memory.stat", "anon 1\nfile 900\nfile_mapped 5\nworkingset_refault_file 12\n"),
            ("/2/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n"),
        ]);
        let of = |name: &str, version| usage(&dir.path().join(name), version);
        let all = |bytes, cache, hits, refaults, killed| Use {
            bytes: Some(bytes),
            cache_bytes: Some(cache),
            hits: Some(hits),
            refaults: Some(refaults),
            killed: Some(killed),
        };
        assert_eq!(of("1", Version::V1), all(1000, 600, 7, 11, 2));
        assert_eq!(of("2", Version::V2), all(2000, 900, 9, 12, 1));
        assert_eq!(of("old", Version::V1), Use::default());
        assert_eq!(of("none", Version::V2), Use::default());
    }

    #[test]
    fn swap_is_seen() {
        const HEAD: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        assert!(!has_swap(b"") && !has_swap(HEAD.as_bytes()));
        assert!(has_swap(format!("{HEAD}/swap.img file 4194300 0 -2\n").as_bytes()));
    }

    #[test]
    fn only_groups_of_dead_programs_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let mine = dir.path().join(format!("{PREFIX}{}-0", std::process::id()));
        // Beyond the highest number that a process can have.
        let dead = dir.path().join(format!("{PREFIX}4194304999-0"));
        let other = dir.path().join("other-4194304999-0");
        for folder in [&mine, &dead, &other] {
            fs::create_dir(folder).unwrap();
        }
        sweep(dir.path(), OLD);
        assert!(dead.exists(), "a young one may just be starting");
        sweep(dir.path(), Duration::ZERO);
        assert!(!dead.exists() && mine.exists() && other.exists());
        for (name, pid) in
            [("boxscore-server-12-3", Some(12)), ("boxscore-server-12", None), ("other-1-2", None)]
        {
            assert_eq!(owner(name), pid, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_and_any_file_is_read(name in ".*", own: Vec<u8>, mounts in "[ -~\n]{0,200}") {
            let _any = owner(&name);
            let mounts = mounts::parse(mounts.as_bytes());
            let _any = unified(&Root::at("/no/such"), &cgroup::membership(&own), &mounts);
            let _any = legacy(&mounts, &name);
        }
    }
}
