//! Limits on our use: control group, affinity, resource limits, and kernel settings that limit servers.
//!
//! `cgroup.cpu.quota` is in cores, `cgroup.memory.limit` in B; the text `none` means no limit. Limits outside a
//! container's own view cannot be seen.

use model::{Fact, Unit};

use super::scan::Scan;
use crate::system_files::root::ABSENT;
use crate::system_files::{Root, Sheet, cgroup, text};

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-limits", "control group, affinity, resource limits, kernel settings", scan);

const GROUP: &str = "/proc/self/cgroup";

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    groups(&mut sheet);
    process(&mut sheet);
    settings(&mut sheet);
    sheet.done()
}

fn groups(sheet: &mut Sheet<'_>) {
    let limits = cgroup::limits(sheet.root);
    let why = "no control group with this controller is visible";
    match limits.version {
        Some(version) => sheet.count("cgroup.version", u64::from(version), Unit::Count, GROUP),
        None => sheet.unknown("cgroup.version", GROUP, why),
    }
    if let Some(path) = limits.path {
        sheet.text("cgroup.path", path, GROUP);
    }
    match limits.cpus {
        Some(Some(cpus)) => sheet.number("cgroup.cpu.quota", cpus, Unit::Count, GROUP),
        Some(None) => sheet.text("cgroup.cpu.quota", "none", GROUP),
        None => sheet.unknown("cgroup.cpu.quota", GROUP, why),
    }
    sheet.text_or("cgroup.cpuset", limits.cpuset, GROUP, why);
    for (key, bytes) in [("cgroup.memory.limit", limits.memory), ("cgroup.swap.limit", limits.swap)] {
        match bytes {
            Some(Some(bytes)) => sheet.count(key, bytes, Unit::Byte, GROUP),
            Some(None) => sheet.text(key, "none", GROUP),
            None => sheet.unknown(key, GROUP, why),
        }
    }
    if let Some(weight) = limits.weight {
        sheet.count("cgroup.cpu.weight", weight, Unit::Count, GROUP);
    }
}

fn process(sheet: &mut Sheet<'_>) {
    let status = "/proc/self/status";
    let map = sheet.root.maybe(status).map(|text| text::pairs(&text, ':')).unwrap_or_default();
    sheet.text_or("process.cpus", map.get("Cpus_allowed_list").cloned(), status, ABSENT);
    sheet.text_or("process.nodes", map.get("Mems_allowed_list").cloned(), status, ABSENT);
    let path = "/proc/self/limits";
    let text = sheet.root.maybe(path).unwrap_or_default();
    for (key, name, unit) in [
        ("process.open_files", "Max open files", Unit::Count),
        ("process.locked_memory", "Max locked memory", Unit::Byte),
        ("process.processes", "Max processes", Unit::Count),
    ] {
        match soft(&text, name) {
            Some("unlimited") => sheet.text(key, "none", path),
            Some(word) => match word.parse::<u64>() {
                Ok(limit) => sheet.count(key, limit, unit, path),
                Err(_) => sheet.unknown(key, path, "not a number"),
            },
            None => sheet.unknown(key, path, ABSENT),
        }
    }
}

/// The soft limit in /proc/self/limits.
fn soft<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
}

/// Settings under /proc/sys that bind or disturb; absent ones are left out.
const SETTINGS: [&str; 16] = [
    "fs/file-max",
    "fs/nr_open",
    "kernel/nmi_watchdog",
    "kernel/perf_event_paranoid",
    "kernel/randomize_va_space",
    "kernel/sched_autogroup_enabled",
    "kernel/timer_migration",
    "net/core/busy_read",
    "net/core/netdev_max_backlog",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_max",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_max_syn_backlog",
    "vm/zone_reclaim_mode",
];

fn settings(sheet: &mut Sheet<'_>) {
    for name in SETTINGS {
        let path = format!("/proc/sys/{name}");
        if let Some(value) = sheet.root.maybe(&path) {
            sheet.text(&format!("sysctl.{}", name.replace('/', ".")), text::tidy(&value), &path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_limits() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
            Max open files            1024                 524288               files\n\
            Max locked memory         unlimited            unlimited            bytes\n";
        assert_eq!(soft(text, "Max open files"), Some("1024"));
        assert_eq!(soft(text, "Max locked memory"), Some("unlimited"));
        assert_eq!(soft(text, "Max files"), None);
    }
}
