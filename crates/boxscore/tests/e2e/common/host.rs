//! What tests make of a host: network namespaces and CPU quotas, which go when the test ends.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A network namespace that is removed at the end.
pub struct Namespace(pub String);

impl Namespace {
    pub fn new(which: &str) -> Result<Namespace, String> {
        // Tests of one process that run at once have one of the same sort each.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("bxt-{}-{which}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let made = Command::new("ip").args(["netns", "add", &name]).output();
        match made {
            Ok(done) if done.status.success() => Ok(Namespace(name)),
            Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
            Err(error) => Err(format!("ip: {error}")),
        }
    }
}

impl Namespace {
    /// Runs `ip` in it.
    pub fn ip(&self, words: &str) -> Result<(), String> {
        ip(&format!("-n {} {words}", self.0))
    }
}

/// Runs `ip`.
pub fn ip(words: &str) -> Result<(), String> {
    done("ip", words)
}

/// Runs `tc`.
pub fn tc(words: &str) -> Result<(), String> {
    done("tc", words)
}

fn done(program: &str, words: &str) -> Result<(), String> {
    match Command::new(program).args(words.split_whitespace()).output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(format!("{program} {words}: {}", String::from_utf8_lossy(&done.stderr).trim_end())),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let done = Command::new("ip").args(["netns", "delete", &self.0]).status();
        assert!(done.is_ok_and(|status| status.success()), "namespace {} is left over", self.0);
    }
}

/// A cgroup with a CPU quota in microseconds of 10,000, removed at the end.
pub struct Quota(pub PathBuf);

impl Quota {
    pub fn new(quota_us: u32) -> Result<Quota, String> {
        Quota::of("via", quota_us)
    }

    /// One of several.
    pub fn of(which: &str, quota_us: u32) -> Result<Quota, String> {
        let name = format!("bxt-{which}-{}-{quota_us}", std::process::id());
        let v1 = PathBuf::from("/sys/fs/cgroup/cpu");
        let two = !v1.is_dir();
        let dir = if two { PathBuf::from("/sys/fs/cgroup").join(name) } else { v1.join(name) };
        fs::create_dir(&dir).map_err(|error| format!("no cgroup can be made: {error}"))?;
        let quota = Quota(dir);
        let write = |file: &str, text: String| {
            fs::write(quota.0.join(file), text).map_err(|error| format!("{file}: {error}"))
        };
        if two {
            write("cpu.max", format!("{quota_us} 10000"))?;
        } else {
            write("cpu.cfs_period_us", "10000".to_owned())?;
            write("cpu.cfs_quota_us", quota_us.to_string())?;
        }
        Ok(quota)
    }

    pub fn throttled(&self) -> u64 {
        let text = fs::read_to_string(self.0.join("cpu.stat")).unwrap_or_default();
        let found = text.lines().find_map(|line| line.strip_prefix("nr_throttled "));
        found.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// A cgroup that limits memory, removed at the end.
pub struct MemoryLimit(pub PathBuf);

impl MemoryLimit {
    pub fn new(bytes: u64) -> Result<MemoryLimit, String> {
        MemoryLimit::of("mem", bytes)
    }

    /// One of several.
    pub fn of(which: &str, bytes: u64) -> Result<MemoryLimit, String> {
        let name = format!("bxt-{which}-{}", std::process::id());
        let v1 = PathBuf::from("/sys/fs/cgroup/memory");
        let (dir, file) = match v1.is_dir() {
            true => (v1.join(name), "memory.limit_in_bytes"),
            false => (PathBuf::from("/sys/fs/cgroup").join(name), "memory.max"),
        };
        fs::create_dir(&dir).map_err(|error| format!("no cgroup can be made: {error}"))?;
        let limit = MemoryLimit(dir);
        fs::write(limit.0.join(file), bytes.to_string()).map_err(|error| format!("{file}: {error}"))?;
        Ok(limit)
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Puts a process, and what it starts from now on, into a cgroup.
pub fn enter(group: &std::path::Path, pid: u32) -> Result<(), String> {
    fs::write(group.join("cgroup.procs"), pid.to_string()).map_err(|error| format!("cgroup.procs: {error}"))
}

/// Removes a cgroup once its processes have ended.
fn remove(group: &std::path::Path) {
    for _ in 0..100 {
        if fs::remove_dir(group).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
