//! Processes that a command leaves behind in a group of their own (`setsid`, a daemon), where the end of its process
//! group does not reach them.
//!
//! While a command runs, this process takes the place of init: whose parent has ended becomes its child (Linux 3.4).
//! What has become one since, and is of no group that was started here, is killed. Where the kernel does not list
//! children (`CONFIG_PROC_CHILDREN`), nothing is found.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpid, kill_process, set_child_subreaper, waitpid,
};

use super::guard;

/// Children are ended again and again until none is left: one that is killed leaves its own.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// This process in the place of init.
#[derive(Debug)]
pub struct Orphans {
    /// Children that it had before.
    known: BTreeSet<i32>,
}

impl Orphans {
    /// Takes the place of init. Fails when the kernel refuses.
    pub fn adopt() -> Result<Orphans, String> {
        let known = children();
        set_child_subreaper(Some(getpid())).map_err(|error| format!("cannot adopt orphans: {error}"))?;
        Ok(Orphans { known })
    }

    /// Kills those that came; true if there were any. Fails when one does not end.
    pub fn end(self) -> Result<bool, String> {
        let mut found = false;
        for _ in 0..LOOKS {
            let came = self.came();
            if came.is_empty() {
                return Ok(found);
            }
            for pid in came {
                // One that has ended by itself needs no more than to be waited for.
                if !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_))) {
                    found = true;
                    // One that has ended meanwhile is met at the next look.
                    let _gone = kill_process(pid, Signal::KILL);
                }
            }
            std::thread::sleep(PAUSE);
        }
        Err("it left processes behind which do not end".to_owned())
    }

    fn came(&self) -> Vec<Pid> {
        let ours = guard::groups();
        let own = getpgid(None).map(|pid| pid.as_raw_nonzero().get()).unwrap_or_default();
        let is_strange = |pid: &Pid| {
            let group = getpgid(Some(*pid)).map(|pid| pid.as_raw_nonzero().get());
            group.is_ok_and(|group| group != own && !ours.contains(&group))
        };
        let new = children().into_iter().filter(|pid| !self.known.contains(pid));
        new.filter_map(Pid::from_raw).filter(is_strange).collect()
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        // The kernel refuses nothing here that it granted before.
        let _granted = set_child_subreaper(None);
    }
}

/// The children of all threads of this process.
fn children() -> BTreeSet<i32> {
    let threads = std::fs::read_dir(Path::new("/proc/self/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let mut all = BTreeSet::new();
    for list in lists {
        all.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    all
}
