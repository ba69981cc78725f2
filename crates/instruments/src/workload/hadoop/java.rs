//! The Java runtime that runs a Hadoop: where it is and how old it is.
//!
//! JAVA_HOME decides where it is set. Else the first of PATH and /usr/lib/jvm counts that this Hadoop runs on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sys::process::Start;

use super::release::Release;
use crate::workload::shell;

/// Where Debian and others keep several of them.
const FOLDER: &str = "/usr/lib/jvm";
/// A Java that tells its version takes a fraction of a second, on a slow board some seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most that are asked.
const MOST: usize = 16;

/// A Java that was started and told its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    /// For JAVA_HOME; [`Java::program`] is in it.
    pub home: PathBuf,
    /// 8, 11, 17: the number that people call a Java by.
    pub version: u32,
}

impl Java {
    pub fn program(&self) -> PathBuf {
        self.home.join("bin/java")
    }
}

/// The Java versions that a Hadoop runs on, from and to, with those that its makers name.
fn range(release: Release) -> (u32, u32, &'static str) {
    match release {
        Release { major: 3, minor: ..=4 } => (8, 17, "8, 11 or 17"),
        Release { .. } => (17, 25, "17, 21 or 25"),
    }
}

/// A Java for this Hadoop. Fails, with the version that each Java here has, where none is of an age that it runs on.
pub fn find(hadoop: &str, release: Release) -> Result<Java, String> {
    let (from, to, named) = range(release);
    let needs = format!("Hadoop {hadoop} runs on Java {named}");
    let fits = |java: &Java| (from..=to).contains(&java.version);
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from) {
        let java =
            asked(&home).map_err(|why| format!("{needs}, and JAVA_HOME is {}: {why}", home.display()))?;
        let shown = format!("JAVA_HOME is Java {}: {}", java.version, home.display());
        return fits(&java).then_some(java).ok_or_else(|| format!("{needs}, and {shown}"));
    }
    let mut others = Vec::new();
    for home in homes() {
        match asked(&home) {
            Ok(java) if fits(&java) => return Ok(java),
            Ok(java) => others.push(format!("Java {} in {}", java.version, home.display())),
            Err(why) => others.push(format!("{}: {why}", home.display())),
        }
    }
    Err(match others.as_slice() {
        [] => format!("{needs}, and there is no java in PATH or {FOLDER}"),
        _ => format!("{needs}, and here is {}", others.join("; ")),
    })
}

/// The homes of every Java here, the one of PATH first.
fn homes() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("java"));
    let entries = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let mut kept: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin/java")).collect();
    kept.sort();
    let mut homes: Vec<PathBuf> = Vec::new();
    for program in on_path.chain(kept) {
        let Ok(real) = std::fs::canonicalize(&program) else { continue };
        let Some(home) = real.parent().and_then(Path::parent) else { continue };
        // Java 8 has a JRE in its JDK, both with a program of this name.
        let home = if home.ends_with("jre") { home.parent().unwrap_or(home) } else { home };
        if home.join("bin/java").is_file() && !homes.iter().any(|known| known == home) {
            homes.push(home.to_path_buf());
        }
    }
    homes.truncate(MOST);
    homes
}

/// Starts the Java of a home and reads its version. Fails where there is none, or it does not run.
fn asked(home: &Path) -> Result<Java, String> {
    let home = std::path::absolute(home).map_err(|error| error.to_string())?;
    let program = home.join("bin/java");
    if !program.is_file() {
        return Err("there is no bin/java in it".to_owned());
    }
    let mut command = Command::new(&program);
    // Without the file of its counters, which it would leave a folder of in /tmp.
    command.args(["-XX:-UsePerfData", "-version"]).env("LC_ALL", "C");
    let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
    let ended = shell::run_command(command, Start::default(), &cpus, PATIENCE)?;
    if let Some(why) = ended.failure(PATIENCE) {
        return Err(format!("java -version {why}"));
    }
    let said = format!("{}\n{}", ended.stderr.text(), ended.stdout.text());
    let version = number(&said).ok_or_else(|| format!("java -version says no version: {}", said.trim()))?;
    Ok(Java { home, version })
}

/// The number in `... version "17.0.15" ...`; of the old form 1.8.0 it is 8.
fn number(said: &str) -> Option<u32> {
    let quoted = said.lines().find_map(|line| line.split_once("version \""))?.1;
    let mut parts = quoted.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (parts.next()?.ok()?, parts.next()) {
        (1, Some(Ok(second))) => Some(second),
        (first, _) => Some(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_number_that_people_say() {
        for (said, version) in [
            ("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment", Some(17)),
            ("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\njava version \"1.8.0_392\"\nJava(TM) SE", Some(8)),
            ("openjdk version \"11\" 2018-09-25", Some(11)),
            ("openjdk version \"25-ea\" 2025-09-16", Some(25)),
            ("java version \"1.6.0_45\"", Some(6)),
            ("gij (GNU libgcj) 4.9", None),
            ("version \"x\"", None),
            ("", None),
        ] {
            assert_eq!(number(said), version, "{said}");
        }
    }

    #[test]
    fn each_hadoop_has_its_javas() {
        assert_eq!(range(Release { major: 3, minor: 3 }).1, 17);
        assert_eq!(range(Release { major: 3, minor: 4 }).0, 8);
        assert_eq!(range(Release { major: 3, minor: 5 }).0, 17);
        assert_eq!(range(Release { major: 4, minor: 0 }).0, 17);
    }
}
