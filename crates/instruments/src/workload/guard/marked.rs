//! Processes that left the group that they were started in, found by a mark in their environment.
//!
//! A manager of containers (YARN's NodeManager) gives each a session of its own, where the end of a group does not
//! reach it. What it starts inherits a variable whose value is the private folder of the whole. Whoever wipes its
//! environment is not found.

use std::path::Path;

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::{LOOKS, PAUSE};

/// The variable; its value is a private folder.
pub const MARK: &str = "BOXSCORE_FOLDER";

/// The living processes that carry the mark of a folder. Without /proc nobody can be found.
pub fn marked(folder: &Path) -> Vec<i32> {
    let wanted = format!("{MARK}={}", folder.display());
    let own = getpid().as_raw_nonzero().get();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_mark = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes())
    };
    all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| *pid != own && has_mark(pid))
        .collect()
}

/// Kills them until none is left, since one may have started another just now; those that are left.
pub fn end_marked(folder: &Path) -> Vec<i32> {
    let mut left = marked(folder);
    for _ in 0..LOOKS {
        if left.is_empty() {
            break;
        }
        for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // One that has ended meanwhile is what was wanted.
            let _gone = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
        left = marked(folder);
    }
    left
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

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
