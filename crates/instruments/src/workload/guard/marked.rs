//! Processes that left the group that they were started in, found by a mark in their environment.
//!
//! A manager of containers (YARN's NodeManager) gives each a session of its own, where the end of a group does not
//! reach it. What it starts inherits a variable whose value is the private folder of the whole. Whoever wipes its
//! environment is not found.

use std::path::Path;

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::{LOOKS, PAUSE};
use crate::workload::server::tree;

/// The variable; its value is a private folder.
pub const MARK: &str = "BOXSCORE_FOLDER";

/// The living processes that carry the mark of a folder. Without /proc nobody can be found.
pub fn marked(folder: &Path) -> Vec<i32> {
    look(folder).carriers
}

/// Kills them until none is left, since one may have started another just now; those that are left.
pub fn end_marked(folder: &Path) -> Vec<i32> {
    let mut seen = look(folder);
    for _ in 0..LOOKS {
        if seen.carriers.is_empty() && !seen.starting {
            break;
        }
        for pid in seen.carriers.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // One that has ended meanwhile is what was wanted.
            let _gone = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
        seen = look(folder);
    }
    seen.carriers
}

/// One look at all processes.
struct Seen {
    carriers: Vec<i32>,
    /// Some process is between two programs, so that its environment cannot be read yet.
    starting: bool,
}

fn look(folder: &Path) -> Seen {
    let wanted = format!("{MARK}={}", folder.display());
    let own = getpid().as_raw_nonzero().get();
    let mut seen = Seen { carriers: Vec::new(), starting: false };
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        // Those of others cannot be read and are not ours to end.
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        if environment.is_empty() {
            seen.starting |= is_starting(pid);
        } else if pid != own && environment.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes()) {
            seen.carriers.push(pid);
        }
    }
    seen
}

/// True while the kernel replaces the program of a process: it has one, but no place for an environment yet. A kernel
/// thread has no program; an empty environment has a place.
fn is_starting(pid: i32) -> bool {
    let has_program = std::fs::read_link(format!("/proc/{pid}/exe")).is_ok();
    has_program && tree::one(pid).is_some_and(|stat| stat.environment_end == Some(0))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_between_two_programs_is_told() {
        let end_of_environment = |line: &str| tree::Stat::parse(line.as_bytes())?.environment_end;
        let stat = |end: &str| format!("7 (a) b) S{} {end} 0", " 1".repeat(47));
        assert_eq!(end_of_environment(&stat("0")), Some(0));
        assert_eq!(end_of_environment(&stat("140722")), Some(140_722));
        assert_eq!(end_of_environment("7 (a) S 1"), None);
        assert_eq!(end_of_environment(""), None);
        let own = std::fs::read_to_string("/proc/self/stat").unwrap();
        assert!(end_of_environment(&own).is_some_and(|end| end > 0));
    }

    #[test]
    fn only_those_with_the_mark_are_ended() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(marked(dir.path()), [0; 0]);
        // A session of its own, which the end of a group would not reach; its child inherits the mark.
        let mut child = Command::new("setsid")
            .args(["sh", "-c", "sleep 1000 & exec sleep 1000"])
            .env(MARK, dir.path())
            .spawn()
            .unwrap();
        let mut other = Command::new("sleep").arg("1000").env(MARK, dir.path().join("x")).spawn().unwrap();
        // The shell may not have started its child yet, so that they are found one by one.
        assert_eq!(end_marked(dir.path()), [0; 0]);
        assert!(!child.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
