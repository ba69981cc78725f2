//! The state of a git working tree: the files that differ from its commit.

use std::path::Path;
use std::process::{Command, Stdio};

/// Its commit and the files that differ from it, as git tells them; `None` where there is no git or no such tree.
pub fn state(dir: &Path) -> Option<String> {
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(dir).args(words).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    Some(git(&["rev-parse", "HEAD"])? + &git(&["status", "--porcelain", "--untracked-files=normal"])?)
}
