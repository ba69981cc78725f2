//! Small facts of the running system: page size, clock tick, kernel name, resource limits.
//!
//! Sizes are bytes. CPU counts, memory and devices are read by the inventory.

use crate::error::{Error, Result, check};
use std::ffi::CStr;

pub use crate::pages::page_size;

/// Ticks per second of the CPU times in /proc (100 on every supported kernel). Fails when the kernel does not tell.
pub fn clock_ticks_per_s() -> Result<u64> {
    // SAFETY: sysconf takes no pointer.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    match u64::try_from(ticks) {
        Ok(ticks) if ticks > 0 => Ok(ticks),
        _ => Err(Error::unavailable("the clock tick", "sysconf has no answer")),
    }
}

/// uname(2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uname {
    pub system: String,
    pub node: String,
    pub release: String,
    pub version: String,
    pub machine: String,
}

fn text(field: &[libc::c_char]) -> String {
    // Signed on some targets, unsigned on others.
    let bytes: Vec<u8> = field.iter().map(|c| c.to_ne_bytes()[0]).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::from_utf8_lossy(&bytes), CStr::to_string_lossy)
        .into_owned()
}

/// The kernel's name and version. Fails when the kernel does not tell.
pub fn uname() -> Result<Uname> {
    // SAFETY: utsname is character arrays; all zero is valid.
    let mut raw: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `raw` is a writable utsname; the call keeps no pointer.
    check(unsafe { libc::uname(&raw mut raw) }, || "ask for the kernel's name".into())?;
    Ok(Uname {
        system: text(&raw.sysname),
        node: text(&raw.nodename),
        release: text(&raw.release),
        version: text(&raw.version),
        machine: text(&raw.machine),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Open file descriptors: one more than the largest.
    OpenFiles,
    /// Bytes that may be locked in memory.
    LockedMemory,
    /// Bytes of address space.
    AddressSpace,
    /// Processes and threads of this user.
    Processes,
}

/// A resource limit; `None` is "unlimited".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub soft: Option<u64>,
    pub hard: Option<u64>,
}

/// The limit of this process. Fails when the kernel does not tell.
pub fn limit(resource: Resource) -> Result<Limit> {
    #[cfg(not(target_env = "gnu"))]
    use libc::{RLIM_INFINITY as INFINITY, getrlimit, rlimit as rlimit_t};
    #[cfg(target_env = "gnu")]
    use libc::{RLIM64_INFINITY as INFINITY, getrlimit64 as getrlimit, rlimit64 as rlimit_t};
    let id = match resource {
        Resource::OpenFiles => libc::RLIMIT_NOFILE,
        Resource::LockedMemory => libc::RLIMIT_MEMLOCK,
        Resource::AddressSpace => libc::RLIMIT_AS,
        Resource::Processes => libc::RLIMIT_NPROC,
    };
    let mut raw = rlimit_t { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `raw` is a writable rlimit; the call keeps no pointer.
    let ret = unsafe { getrlimit(id, &raw mut raw) };
    check(ret, || format!("read the limit of {resource:?}"))?;
    let finite = |value: u64| (value != INFINITY).then_some(value);
    Ok(Limit { soft: finite(raw.rlim_cur), hard: finite(raw.rlim_max) })
}

/// Why a process cannot open so many files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoFiles {
    /// All that it would have open.
    pub needed: u64,
    /// The most that it may ever have open, or why the kernel did not raise the limit.
    pub allowed: std::result::Result<u64, String>,
}

/// Lets this process, and what it starts from then on, open so many files more than it has open now. A limit that is
/// higher stays.
pub fn allow_more_files(more: u64) -> std::result::Result<(), NoFiles> {
    #[cfg(not(target_env = "gnu"))]
    use libc::{RLIM_INFINITY as INFINITY, rlimit as rlimit_t, setrlimit};
    #[cfg(target_env = "gnu")]
    use libc::{RLIM64_INFINITY as INFINITY, rlimit64 as rlimit_t, setrlimit64 as setrlimit};
    /// Taken as open where /proc does not tell.
    const USUAL: u64 = 64;
    let needed = std::fs::read_dir("/proc/self/fd").map_or(USUAL, |files| files.count() as u64) + more;
    let refused = |error: Error| NoFiles { needed, allowed: Err(error.to_string()) };
    let now = limit(Resource::OpenFiles).map_err(refused)?;
    match missing_files(needed, now) {
        Need::Nothing => Ok(()),
        Need::More(allowed) => Err(NoFiles { needed, allowed: Ok(allowed) }),
        Need::Raise => {
            let raw = rlimit_t { rlim_cur: needed, rlim_max: now.hard.unwrap_or(INFINITY) };
            // SAFETY: `raw` is a readable rlimit; the call keeps no pointer.
            let ret = unsafe { setrlimit(libc::RLIMIT_NOFILE, &raw const raw) };
            check(ret, || format!("raise the limit of open files to {needed}")).map_err(refused)?;
            Ok(())
        }
    }
}

impl std::fmt::Display for NoFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let needed = self.needed;
        match &self.allowed {
            Ok(allowed) => write!(
                f,
                "{needed} open files are needed and this process may have {allowed}; raise the limit (`ulimit -Hn \
                 {needed}` as root, or LimitNOFILE= of the service)"
            ),
            Err(error) => write!(f, "{needed} open files are needed: {error}"),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    Raise,
    /// The limit that cannot be raised.
    More(u64),
}

/// Compares the files needed with the limit.
fn missing_files(needed: u64, limit: Limit) -> Need {
    match (limit.soft, limit.hard) {
        (None, _) => Need::Nothing,
        (Some(soft), _) if soft >= needed => Need::Nothing,
        (_, Some(hard)) if hard < needed => Need::More(hard),
        _ => Need::Raise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_there() {
        assert!(page_size().is_power_of_two());
        assert!(clock_ticks_per_s().unwrap() >= 100);
        let name = uname().unwrap();
        assert_eq!(name.system, "Linux");
        assert!(!name.release.is_empty() && !name.machine.is_empty());
    }

    #[test]
    fn files_are_raised_only_where_that_helps() {
        let missing = |soft, hard| missing_files(100, Limit { soft, hard });
        assert_eq!(missing(None, None), Need::Nothing);
        assert_eq!(missing(Some(100), Some(100)), Need::Nothing);
        assert_eq!(missing(Some(99), Some(100)), Need::Raise);
        assert_eq!(missing(Some(99), None), Need::Raise);
        assert_eq!(missing(Some(50), Some(99)), Need::More(99));
        assert_eq!(allow_more_files(1), Ok(()));
        let error = allow_more_files(500_000_000).unwrap_err().to_string();
        assert!(error.starts_with("5000000") && error.contains("`ulimit -Hn 5000000"), "{error}");
    }

    #[test]
    fn limits_agree_with_proc() {
        let files = limit(Resource::OpenFiles).unwrap();
        let table = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = table.lines().find_map(|l| l.strip_prefix("Max open files")).unwrap();
        let soft = line.split_whitespace().next().unwrap();
        let ours = files.soft.map_or("unlimited".to_owned(), |n| n.to_string());
        assert_eq!(soft, ours);
        for resource in [Resource::LockedMemory, Resource::AddressSpace, Resource::Processes] {
            assert!(limit(resource).is_ok());
        }
    }
}
