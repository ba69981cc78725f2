//! A control group with a CPU quota, version 1 or 2, for one measuring child; removed at the end.
//!
//! Needs the right to make one: root, or a group that was handed over to the user. Nothing that exists is changed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use instruments::system_files::cgroup::{ancestors, membership};
use instruments::system_files::{Root, mounts};
use instruments::telemetry::parse::throttle;

const PERIOD_US: u64 = 100_000;
/// How long the group's last process may take to be gone.
const GONE: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// A group of its own that stops its processes when their time in a period is used up.
#[derive(Debug)]
pub struct Quota {
    folder: PathBuf,
}

impl Quota {
    /// A group that gets `share` of one CPU, or why there can be none here.
    pub fn make(share: f64) -> Result<Quota, String> {
        let mut whys = Vec::new();
        for (parent, file, text) in places(&Root::live(), share) {
            let folder = Path::new(&parent).join(format!("boxscore-prove-{}", std::process::id()));
            match make(&folder, file, &text) {
                Ok(()) => return Ok(Quota { folder }),
                Err(why) => whys.push(why),
            }
        }
        Err(match whys.first() {
            Some(why) => format!("no control group with a CPU quota can be made: {why}"),
            None => "no control group file system with a cpu controller is mounted".to_owned(),
        })
    }

    /// Periods in which the group's processes were stopped so far; `None` where the kernel does not count them.
    pub fn stopped(&self) -> Option<u64> {
        let bytes = std::fs::read(self.folder.join("cpu.stat")).ok()?;
        Some(throttle::parse(&bytes)?.count)
    }

    /// The shell command that starts this program in the group, for `--via`.
    pub fn command(&self) -> Result<String, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let quoted = |path: &Path| {
            let text = path.to_str().filter(|text| !text.contains('\''));
            text.map(|text| format!("'{text}'")).ok_or("a path that no shell command can name".to_owned())
        };
        let procs = quoted(&self.folder.join("cgroup.procs"))?;
        Ok(format!("echo $$ > {procs} && exec {}", quoted(&program)?))
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        for _ in 0..GONE {
            if std::fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Where groups may be made, nearest first: the folder, the file of the quota, and its text.
fn places(root: &Root, share: f64) -> Vec<(String, &'static str, String)> {
    let own = root.bytes("/proc/self/cgroup").map(|bytes| membership(&bytes)).unwrap_or_default();
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes)).unwrap_or_default();
    let us = quota_us(share);
    let mut places = Vec::new();
    let legacy = own.legacy.iter().find(|(names, _)| names.iter().any(|name| name == "cpu"));
    let v1 = mounts
        .iter()
        .find(|mount| mount.kind == "cgroup" && mount.super_options.split(',').any(|option| option == "cpu"));
    if let (Some((_, path)), Some(mount)) = (legacy, v1) {
        let folders = ancestors(mount, path);
        places.extend(folders.into_iter().map(|folder| (folder, "cpu.cfs_quota_us", us.to_string())));
    }
    let v2 = mounts.iter().find(|mount| mount.kind == "cgroup2");
    if let (Some(path), Some(mount)) = (&own.unified, v2) {
        let folders = ancestors(mount, path);
        places.extend(folders.into_iter().map(|folder| (folder, "cpu.max", format!("{us} {PERIOD_US}"))));
    }
    places
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a period")]
fn quota_us(share: f64) -> u64 {
    ((share * PERIOD_US as f64) as u64).max(1000)
}

/// Makes the group and sets its quota; a group that cannot be limited is removed again.
fn make(folder: &Path, file: &str, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir(folder).map_err(failed)?;
    // A group without the controller has no such files, and none must be made.
    let put = |file: &str, text: &str| {
        let open = std::fs::OpenOptions::new().write(true).open(folder.join(file));
        open.and_then(|mut file| file.write_all(text.as_bytes()))
    };
    // Version 1 has a period of 100 ms unless somebody changed the default; version 2 is told it.
    let period = match file {
        "cpu.cfs_quota_us" => put("cpu.cfs_period_us", &PERIOD_US.to_string()),
        _ => Ok(()),
    };
    let set = period.and_then(|()| put(file, text));
    set.map_err(|error| {
        // It is empty; if it stays, it limits nothing.
        drop(std::fs::remove_dir(folder));
        format!("{}: {error}", folder.join(file).display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path());
        (dir, root)
    }

    #[test]
    fn groups_are_made_below_our_own_in_either_version() {
        let (_dir, two) = root(&[
            ("proc/self/cgroup", "0::/user.slice/mine\n"),
            ("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"),
        ]);
        let found = places(&two, 0.25);
        assert_eq!(found[0].0, "/sys/fs/cgroup/user.slice/mine");
        assert_eq!((found[0].1, found[0].2.as_str()), ("cpu.max", "25000 100000"));
        assert_eq!(found.len(), 3);
        let (_dir, one) = root(&[
            ("proc/self/cgroup", "2:cpuacct:/\n1:cpu:/\n0::/\n"),
            ("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup/cpu rw shared:4 - cgroup cgroup rw,cpu\n"),
        ]);
        assert_eq!(
            places(&one, 0.25),
            [("/sys/fs/cgroup/cpu".to_owned(), "cpu.cfs_quota_us", "25000".to_owned())]
        );
        let (_dir, none) = root(&[]);
        assert_eq!(places(&none, 0.25), []);
    }

    #[test]
    fn a_folder_that_is_no_group_is_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let why = make(&dir.path().join("x"), "cpu.max", "1 2").unwrap_err();
        assert!(why.contains("cpu.max"), "{why}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
