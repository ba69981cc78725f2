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
