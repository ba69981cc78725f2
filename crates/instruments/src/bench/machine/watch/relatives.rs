//! The other processes of this study on this machine: the program that controls it, and the agents of other sides.
//!
//! Agents of one study measure in turns. The window in which the load of others is read reaches back over the takes
//! before, so that the turn of one agent would look like load of others to the next. CPU time in the kernel's ticks of
//! 10 ms, with that of children that ended. What else the program started, such as planted faults, is load of others.
//! Not found: agents behind ssh, whose parents are not ours.

use std::ffi::OsString;
use std::fs;

use crate::workload::server::tree;

/// Ancestors beyond these are not looked at.
const MOST_ANCESTORS: usize = 16;
/// Processes of one study beyond these are not looked at.
const MOST: usize = 512;

/// The program that controls the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relatives {
    root: i32,
    own: i32,
    /// The file that this program is.
    program: OsString,
}

impl Relatives {
    /// `None` where no ancestor of this process is this program.
    pub fn find() -> Option<Relatives> {
        let own = i32::try_from(std::process::id()).ok()?;
        let name = program(own)?;
        let mut at = own;
        let mut root = None;
        for _ in 0..MOST_ANCESTORS {
            at = tree::one(at)?.parent;
            if at <= 1 {
                break;
            }
            if program(at).as_ref() == Some(&name) {
                root = Some(at);
            }
        }
        root.map(|root| Relatives { root, own, program: name })
    }

    /// The process that controls the study.
    pub const fn root(&self) -> i32 {
        self.root
    }

    /// CPU time of the controlling program itself, of the other agents, and of all that these started.
    pub fn ticks(&self) -> u64 {
        let mut ticks =
            tree::one(self.root).map_or(0, |stat| stat.user_ticks.saturating_add(stat.system_ticks));
        let mut left: Vec<(i32, bool)> = children(self.root).into_iter().map(|pid| (pid, false)).collect();
        let mut seen = 0;
        while let Some((pid, is_below_agent)) = left.pop() {
            seen += 1;
            if pid == self.own || seen > MOST {
                continue;
            }
            let is_counted = is_below_agent || self.is_agent(pid);
            if let Some(stat) = is_counted.then(|| tree::one(pid)).flatten() {
                ticks = ticks.saturating_add(stat.cpu_ticks());
            }
            left.extend(children(pid).into_iter().map(|child| (child, is_counted)));
        }
        ticks
    }

    /// True for this program as the agent of a side.
    fn is_agent(&self, pid: i32) -> bool {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).nth(1) == Some(b"agent")
            && program(pid).as_ref() == Some(&self.program)
    }
}

/// The name of the file that a process runs.
fn program(pid: i32) -> Option<OsString> {
    Some(fs::read_link(format!("/proc/{pid}/exe")).ok()?.file_name()?.to_owned())
}

/// The processes that the threads of a process started.
fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let all: Vec<String> = threads.flatten().map(of).collect();
    all.iter().flat_map(|line| line.split_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_a_relative_until_it_is_left_out() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, pid) = (i32::try_from(std::process::id()).unwrap(), i32::try_from(child.id()).unwrap());
        assert!(children(own).contains(&pid));
        assert_eq!(tree::one(pid).unwrap().parent, own);
        assert_eq!(program(pid), Some("sleep".into()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(tree::one(pid), None);
    }

    #[test]
    fn time_of_the_controlling_program_is_counted() {
        let own = i32::try_from(std::process::id()).unwrap();
        let all = Relatives { root: own, own: 0, program: program(own).unwrap() };
        let before = std::time::Instant::now();
        while all.ticks() == 0 && before.elapsed().as_secs() < 60 {}
        assert!(all.ticks() > 0);
        assert!(!all.is_agent(own), "a test is no agent");
    }
}
