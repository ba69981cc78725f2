//! Checks that this system allows all processes and threads of a server.
//!
//! Counts of tasks: a thread is one, and so is a process without further threads. Three limits apply: of the control
//! group, of the account, and of the whole system. The tasks that the account already has are not counted.

use crate::system_files::cgroup;
use crate::system_files::root::Root;
use crate::telemetry::parse::{number, words};

/// Fails when a limit does not allow `needed` more tasks; the message says which limit and how to raise it.
/// `of_account` is the limit of the server's account.
pub fn check(root: &Root, of_account: Option<u64>, needed: u64) -> Result<(), String> {
    let short = |left: u64, whose: &str, how: String| {
        Err(format!(
            "it needs {needed} processes and threads, and {whose} {left}: take fewer workers, or {how}"
        ))
    };
    if let Some(left) = cgroup::tasks_left(root).filter(|left| *left < needed) {
        let how = "raise pids.max of the control group (docker: --pids-limit, systemd: TasksMax=)".to_owned();
        return short(left, "its control group lets it have", how);
    }
    if let Some(most) = of_account.filter(|most| *most < needed) {
        return short(
            most,
            "its account may have",
            format!("raise the limit with `ulimit -u {needed}` as root"),
        );
    }
    for name in ["threads-max", "pid_max"] {
        let setting = root.bytes(&format!("/proc/sys/kernel/{name}")).ok();
        let most = setting.and_then(|text| number(words(&text).next()?));
        let left = most.zip(tasks(root)).map(|(most, there)| most.saturating_sub(there));
        if let (Some(most), Some(left)) = (most, left.filter(|left| *left < needed)) {
            let wanted = most.saturating_sub(left).saturating_add(needed);
            return short(
                left,
                "the system has room for",
                format!("as root `sysctl -w kernel.{name}={wanted}`"),
            );
        }
    }
    Ok(())
}

/// All tasks of the system: the number after the slash in the fourth word of /proc/loadavg.
fn tasks(root: &Root) -> Option<u64> {
    let text = root.bytes("/proc/loadavg").ok()?;
    let word = words(&text).nth(3)?;
    number(word.get(word.iter().position(|byte| *byte == b'/')? + 1..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path());
        (dir, root)
    }

    #[test]
    fn each_limit_is_named_with_what_raises_it() {
        let (_dir, root) = tree(&[
            ("/proc/self/cgroup", "7:pids:/a/b\n"),
            ("/proc/self/mountinfo", "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"),
            ("/sys/fs/cgroup/pids/a/b/pids.max", "max\n"),
            ("/sys/fs/cgroup/pids/a/b/pids.current", "3\n"),
            ("/sys/fs/cgroup/pids/a/pids.max", "500\n"),
            ("/sys/fs/cgroup/pids/a/pids.current", "100\n"),
            ("/proc/loadavg", "9.46 13.84 11.82 8/180 27227\n"),
            ("/proc/sys/kernel/threads-max", "30000\n"),
            ("/proc/sys/kernel/pid_max", "520\n"),
        ]);
        assert_eq!(check(&root, None, 340), Ok(()));
        for (needed, account, says) in [
            (401, None, "its control group lets it have 400: take fewer workers, or raise pids.max"),
            (
                400,
                Some(399),
                "its account may have 399: take fewer workers, or raise the limit with `ulimit -u 400`",
            ),
            (
                341,
                None,
                "the system has room for 340: take fewer workers, or as root `sysctl -w kernel.pid_max=521`",
            ),
        ] {
            let why = check(&root, account, needed).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn what_is_not_known_binds_nobody() {
        let (_dir, root) = tree(&[("/proc/loadavg", "odd\n"), ("/proc/sys/kernel/pid_max", "7\n")]);
        assert_eq!(check(&root, None, u64::MAX), Ok(()));
        assert_eq!(check(&Root::live(), None, 1), Ok(()));
        assert!(check(&Root::live(), None, 1 << 40).is_err());
    }
}
