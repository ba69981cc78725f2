//! Limits that the load may meet softly, told once for each load, as notes of the kind `limit`.
//!
//! Those of this host, and how many files a server that is not ours may open. What makes a load impossible is refused
//! before it starts (`load/limits.rs`, `server/kind.rs`).

use std::fs;

use model::Record;

use super::served::Served;
use crate::load::host::Host;
use crate::load::target::addresses;
use crate::load::{Load, ask};
use crate::system_files::root::Root;
use crate::telemetry::parse::{lines, number, words};

/// Says what the load may meet.
pub fn tell(served: &Served, load: &Load, record: &mut dyn Record) {
    let addresses = load.targets.first().and_then(|target| addresses(&target.url).ok()).unwrap_or_default();
    let Some(address) = addresses.first() else { return };
    for text in Host::read(&Root::live()).notes(&ask(load, address.ip())) {
        record.remark("limit", &text);
    }
    // Ours was given as many as it needs.
    if let (Served::Theirs(_), Ok(usage)) = (served, served.usage()) {
        let limits = usage.processes.iter().map(|stat| {
            let text = fs::read(format!("/proc/{}/limits", stat.pid)).ok()?;
            open_files(&text)
        });
        // Missing for one is missing for all.
        let all = limits.sum::<Option<u64>>();
        if let Some(text) = all.and_then(|most| too_few(load.connections as u64, most, usage.processes.len()))
        {
            record.remark("limit", &text);
        }
    }
}

/// The soft limit of open files in /proc/PID/limits; `None` when there is none.
fn open_files(text: &[u8]) -> Option<u64> {
    let line = lines(text).find_map(|line| line.strip_prefix(b"Max open files"))?;
    number(words(line).next()?)
}

fn too_few(connections: u64, most: u64, processes: usize) -> Option<String> {
    (connections > most).then(|| {
        format!(
            "{connections} connections, and the server's processes ({processes}) may have {most} files open \
             together; the others wait or are closed: raise its limit (nginx: worker_rlimit_nofile, a service: \
             LimitNOFILE={connections})"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &[u8] = b"Limit                     Soft Limit           Hard Limit           Units     \n\
        Max processes             95963                95963                processes \n\
        Max open files            1024                 524288               files     \n";

    #[test]
    fn files_of_a_server_are_read() {
        assert_eq!(open_files(LIMITS), Some(1024));
        assert_eq!(open_files(b"Max open files unlimited unlimited files\n"), None);
        assert_eq!(open_files(b""), None);
        assert_eq!(too_few(1024, 1024, 1), None);
        let text = too_few(5000, 2048, 2).unwrap();
        assert!(
            text.starts_with("5000 connections, and the server's processes (2) may have 2048 files"),
            "{text}"
        );
    }
}
