//! Where a Hadoop is on this host: the one that `hadoop fetch` assembled, or one of the user's.
//!
//! One of ours is held against its sums each time, which reads all of it. Of one of the user's its version is read,
//! from the name of its hadoop-common, and nothing else is judged.

use std::path::{Path, PathBuf};

use super::assembled::{self, LIB, SUMS_FILE, Wrong};
use super::java::{self, Java};
use super::release::{self, OLDEST, Release};

/// A Hadoop that was found, looked over, and has a Java that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// As its jars are named, such as 3.4.2.
    pub version: String,
    /// The entries of a class path for daemons, clients and containers, absolute: folders, or `FOLDER/*` for the jars
    /// in one. Joined by `:`; the folder of the configuration goes before them.
    pub class_path: Vec<String>,
    pub java: Java,
    /// True for one of the user's (HADOOP_HOME).
    pub is_users: bool,
}

impl Distribution {
    /// True where its Java has packages that must be opened to it.
    pub fn opens(&self) -> bool {
        self.java.version >= 9
    }
}

/// The Hadoop of `hadoop_home`, else the one that was fetched into `data_dir`. Fails, with what to do, where there is
/// none, where a file of it is missing or is another one, and where no Java here runs its version.
pub fn find(data_dir: &Path, hadoop_home: Option<&Path>) -> Result<Distribution, String> {
    let (version, class_path) = match hadoop_home {
        Some(home) => of_the_user(home).map_err(|why| format!("HADOOP_HOME is {}: {why}", home.display()))?,
        None => ours(&assembled::folder(data_dir))?,
    };
    let release = Release::read(&version).filter(|release| *release >= OLDEST);
    let release = release.ok_or_else(|| too_old(&version))?;
    let java = java::find(&version, release)?;
    Ok(Distribution { version, class_path, java, is_users: hadoop_home.is_some() })
}

fn too_old(version: &str) -> String {
    format!("Hadoop {version} is too old: {}.{} or newer is needed", OLDEST.major, OLDEST.minor)
}

/// Version and class path of the one that was fetched.
fn ours(folder: &Path) -> Result<(String, Vec<String>), String> {
    match assembled::check(folder) {
        Ok(_) => Ok((assembled::VERSION.to_owned(), vec![wildcard(&folder.join(LIB))])),
        Err(Wrong::Missing) => Err(format!(
            "there is no Hadoop in {}: `boxscore hadoop fetch` assembles one, HADOOP_HOME names one of yours",
            folder.display()
        )),
        Err(Wrong::Damaged(why)) => Err(format!(
            "the Hadoop in {} is not whole: {why}; `boxscore hadoop fetch` makes it anew",
            folder.display()
        )),
        Err(Wrong::Foreign(why)) => Err(format!(
            "{} is not what `boxscore hadoop fetch` made: {why}; move it away and fetch again, or name a Hadoop of yours \
             by HADOOP_HOME",
            folder.display()
        )),
    }
}

fn wildcard(folder: &Path) -> String {
    format!("{}/*", folder.display())
}

/// Version and class path of one of the user's: a release as it is unpacked, or a folder of jars as `hadoop fetch
/// --dir` makes it.
fn of_the_user(home: &Path) -> Result<(String, Vec<String>), String> {
    let home = std::path::absolute(home).map_err(|error| error.to_string())?;
    if !home.is_dir() {
        return Err("there is no such folder".to_owned());
    }
    if home.join(SUMS_FILE).is_file() && home.join(LIB).is_dir() {
        return ours(&home);
    }
    let share = home.join("share/hadoop");
    if let Some(version) = version_in(&share.join("common"), "hadoop-common")? {
        let entries = class_path(&share, &version);
        return checked(version).map(|version| (version, entries));
    }
    for jars in [home.join(LIB), home.clone()] {
        if let Some(version) = version_in(&jars, "hadoop-common")? {
            return checked(version).map(|version| (version, vec![wildcard(&jars)]));
        }
    }
    // Releases before 2 had one jar for everything.
    if let Some(version) = version_in(&home, "hadoop-core")? {
        return Err(too_old(&version));
    }
    Err("it has no hadoop-common-*.jar in share/hadoop/common, lib or itself".to_owned())
}

/// The version, where it is new enough.
fn checked(version: String) -> Result<String, String> {
    match Release::read(&version) {
        Some(release) if release >= OLDEST => Ok(version),
        Some(_) => Err(too_old(&version)),
        None => Err(format!("{version} is no version of Hadoop")),
    }
}

/// The version of an artifact of which a folder has one jar. Fails where it has jars of several.
fn version_in(folder: &Path, artifact: &str) -> Result<Option<String>, String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> =
        names.filter_map(|name| release::of_jar(&name, artifact).map(str::to_owned)).collect();
    found.sort();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => {
            Err(format!("{} has {artifact} of several versions: {}", folder.display(), several.join(", ")))
        }
    }
}

/// The class path of a release, in the order of its own scripts; streaming is with its tools.
fn class_path(share: &Path, version: &str) -> Vec<String> {
    let jars = [
        "common/lib",
        "common",
        "hdfs/lib",
        "hdfs",
        "mapreduce/lib",
        "mapreduce",
        "yarn/lib",
        "yarn",
        "yarn/timelineservice",
        "yarn/timelineservice/lib",
    ];
    let there = |folder: &PathBuf| folder.is_dir();
    let jars = jars.iter().map(|name| share.join(name)).filter(there).map(|folder| wildcard(&folder));
    let streaming = share.join(format!("tools/lib/hadoop-streaming-{version}.jar"));
    // It has the web pages of HDFS as folders.
    let pages = Some(share.join("hdfs")).filter(there);
    let more = pages.into_iter().chain(Some(streaming).filter(|jar| jar.is_file()));
    jars.chain(more.map(|path| path.display().to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(home: &Path, name: &str) {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        sys::files::atomic_write(&path, b"", 0o644).unwrap();
    }

    #[test]
    fn a_release_has_its_class_path_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        for name in [
            "common/hadoop-common-3.3.6.jar",
            "common/hadoop-common-3.3.6-tests.jar",
            "common/lib/guava.jar",
            "hdfs/hadoop-hdfs-3.3.6.jar",
            "yarn/timelineservice/x.jar",
            "tools/lib/hadoop-streaming-3.3.6.jar",
        ] {
            jar(home, &format!("share/hadoop/{name}"));
        }
        let (version, path) = of_the_user(home).unwrap();
        assert_eq!(version, "3.3.6");
        let share = home.join("share/hadoop");
        let short: Vec<&str> =
            path.iter().map(|entry| entry.strip_prefix(share.to_str().unwrap()).unwrap()).collect();
        let expected = [
            "/common/lib/*",
            "/common/*",
            "/hdfs/*",
            "/yarn/*",
            "/yarn/timelineservice/*",
            "/hdfs",
            "/tools/lib/hadoop-streaming-3.3.6.jar",
        ];
        assert_eq!(short, expected);
    }

    #[test]
    fn old_releases_are_refused_by_number() {
        for (name, version) in [
            ("share/hadoop/common/hadoop-common-2.10.2.jar", "2.10.2"),
            ("share/hadoop/common/hadoop-common-3.2.4.jar", "3.2.4"),
            ("hadoop-core-1.2.1.jar", "1.2.1"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            jar(dir.path(), name);
            let why = of_the_user(dir.path()).unwrap_err();
            assert_eq!(why, format!("Hadoop {version} is too old: 3.3 or newer is needed"));
        }
    }

    #[test]
    fn a_folder_without_a_hadoop_is_told_so() {
        let dir = tempfile::tempdir().unwrap();
        assert!(of_the_user(dir.path()).unwrap_err().contains("no hadoop-common"));
        assert!(of_the_user(&dir.path().join("none")).unwrap_err().contains("no such folder"));
        jar(dir.path(), "lib/hadoop-common-3.4.1.jar");
        assert_eq!(of_the_user(dir.path()).unwrap().1, [format!("{}/lib/*", dir.path().display())]);
        jar(dir.path(), "lib/hadoop-common-3.4.2.jar");
        assert!(of_the_user(dir.path()).unwrap_err().contains("several versions: 3.4.1, 3.4.2"));
        let why = find(dir.path(), None).unwrap_err();
        assert!(why.contains("boxscore hadoop fetch") && why.contains("HADOOP_HOME"), "{why}");
        let home = dir.path().join("none");
        assert!(find(dir.path(), Some(&home)).unwrap_err().starts_with("HADOOP_HOME is "));
    }
}
