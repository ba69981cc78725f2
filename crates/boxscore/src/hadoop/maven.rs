//! The host's Maven: found, run with a pom, watched, ended on a signal, and why it failed.
//!
//! It is a guarded child, so that neither it nor the Java that it starts outlives this program.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use instruments::workload::guard::Guarded;
use instruments::workload::hadoop::java::Java;
use sys::process::Start;

use crate::error::CliError;
use crate::study::stop_signal::StopSignal;

/// Reads a pom's dependencies, and copies those that are needed at run time.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// A Maven that says nothing for so long hangs; it gives up a connection after half an hour at most.
const SILENCE_NS: u64 = 40 * 60 * 1_000_000_000;
/// Lines that are kept of what it said.
const KEPT: usize = 400;

/// Why it made nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The user ended it.
    Interrupted,
    /// It could not be run, or its host is short of something: another try changes nothing.
    Host(String),
    /// Files that it has not, as far as it tells, and why it could not get them.
    Missing { files: Vec<String>, why: String },
    /// Its own words.
    Other(String),
}

/// An assembly: the pom, where its jars go, the Java that runs Maven.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    pub pom: &'a Path,
    /// Where the jars go.
    pub lib: &'a Path,
    pub java: &'a Java,
}

/// Files that were fetched by now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fetched {
    pub jars: usize,
    pub bytes: f64,
}

pub struct Maven(PathBuf);

impl Maven {
    /// The `mvn` of PATH.
    pub fn find() -> Result<Maven, CliError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_program = |path: &PathBuf| {
            std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        let found = std::env::split_paths(&path).map(|folder| folder.join("mvn")).find(is_program);
        found.map(Maven).ok_or_else(|| {
            CliError::data("there is no mvn in PATH: Apache Maven assembles Hadoop, and is not installed")
                .hint(
                    "apt-get install --no-install-recommends maven; or name a Hadoop of yours by HADOOP_HOME",
                )
        })
    }

    /// Copies the jars of a pom, by what Maven has alone or over the network too. `going` hears of each file that came.
    pub fn copy(
        &self,
        order: Order<'_>,
        offline: bool,
        stop: &StopSignal,
        going: &mut dyn FnMut(Fetched),
    ) -> Result<(), Failed> {
        let host = |error: String| Failed::Host(format!("cannot run {}: {error}", self.0.display()));
        let (reader, writer) = std::io::pipe().map_err(|error| host(error.to_string()))?;
        let other = writer.try_clone().map_err(|error| host(error.to_string()))?;
        let mut command = Command::new(&self.0);
        command.args(["-B", "-Dstyle.color=never", "-DincludeScope=runtime"]);
        // What failed once is else taken for missing for a day.
        command.arg(if offline { "-o" } else { "-U" });
        command.arg(format!("-DoutputDirectory={}", order.lib.display()));
        command.arg("-f").arg(order.pom).arg(GOAL);
        command.env("JAVA_HOME", &order.java.home).env("LC_ALL", "C");
        // A folder .mvn of the user's is none of this pom's.
        command.current_dir(order.pom.parent().unwrap_or(Path::new("/")));
        command.stdin(std::process::Stdio::null()).stdout(writer).stderr(other);
        let mut child = Guarded::spawn(command, Start::default()).map_err(host)?;
        let lines = heard(reader);
        let said = follow(&lines, stop, going);
        if said.is_err() {
            child.end();
        }
        let exit = child.wait().map_err(host)?;
        let said = said?;
        match exit.status.success() {
            true => Ok(()),
            false => Err(failure(&said, &exit.status.to_string())),
        }
    }
}

/// The lines of a pipe, until its end.
fn heard(reader: PipeReader) -> Receiver<String> {
    let (to, lines) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while let Ok(1..) = reader.read_until(b'\n', &mut line) {
            if to.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}

/// Reads until the end of its output, and returns the end of it. Fails where the user ends it, or it hangs.
fn follow(
    lines: &Receiver<String>,
    stop: &StopSignal,
    going: &mut dyn FnMut(Fetched),
) -> Result<Vec<String>, Failed> {
    let mut said = VecDeque::with_capacity(KEPT);
    let mut fetched = Fetched::default();
    let mut last_ns = sys::clock::now_ns();
    loop {
        if stop.is_requested() {
            return Err(Failed::Interrupted);
        }
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                last_ns = sys::clock::now_ns();
                if let Some(bytes) = came(&line) {
                    fetched = Fetched { jars: fetched.jars + 1, bytes: fetched.bytes + bytes };
                }
                going(fetched);
                if said.len() == KEPT {
                    said.pop_front();
                }
                said.push_back(line);
            }
            Err(RecvTimeoutError::Timeout) => {
                if sys::clock::now_ns().saturating_sub(last_ns) > SILENCE_NS {
                    return Err(Failed::Host("Maven said nothing for 40 minutes and was ended".to_owned()));
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(said.into()),
        }
    }
}

/// The size of a jar that came: `Downloaded from central: https://.../x.jar (4.5 MB at 12 MB/s)`.
fn came(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("Downloaded from ")?;
    let (url, size) = rest.rsplit_once(" (")?;
    let mut words = size.split(' ');
    let number: f64 = words.next()?.parse().ok()?;
    let scale = match words.next()? {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    url.ends_with(".jar").then_some(number * scale)
}

/// Why it failed, by what it said last.
fn failure(said: &[String], status: &str) -> Failed {
    let errors: Vec<&str> = said
        .iter()
        .filter_map(|line| line.strip_prefix("[ERROR] "))
        .filter(|line| !line.is_empty())
        .collect();
    if said.iter().any(|line| line.contains("No space left on device")) {
        let why =
            "no space is left on the device of ~/.m2, where Maven keeps 115 MB, or on that of the new folder";
        return Failed::Host(why.to_owned());
    }
    let mut files: Vec<String> = Vec::new();
    for file in errors.iter().flat_map(|line| artifacts(line)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let why = errors.iter().find_map(|line| refusal(line));
    if !files.is_empty() {
        let why = why.or(errors.first().copied()).unwrap_or(status);
        return Failed::Missing { files, why: short(why) };
    }
    let last = said.iter().rev().find(|line| !line.is_empty()).map_or(status, String::as_str);
    Failed::Other(short(errors.first().copied().unwrap_or(last)))
}

/// The files of repositories that a line names: `org.apache.hadoop:hadoop-common:jar:3.4.2`.
fn artifacts(line: &str) -> Vec<String> {
    let kinds = ["jar", "pom", "bundle", "maven-plugin"];
    let words = line.split([' ', ',', '(', ')']).map(|word| word.trim_end_matches([':', '.']));
    let is_file = |word: &&str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() >= 4
            && parts.first().is_some_and(|group| group.contains('.'))
            && kinds.contains(&parts[2])
    };
    words.filter(is_file).map(str::to_owned).collect()
}

/// The answer of a repository, a proxy or the network: the words after `from/to central (https://...): `.
fn refusal(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" from/to ")?;
    let (_, rest) = rest.split_once("): ")?;
    let rest = rest.split(" -> [").next().unwrap_or(rest).trim();
    // `transfer failed for https://..., proxy: ProxyInfo{...}: ` tells nothing new.
    let end = if rest.contains("ProxyInfo{") { "}: " } else { ": " };
    let inner = rest.strip_prefix("transfer failed for ").and_then(|rest| rest.split_once(end));
    Some(inner.map_or(rest, |(_, inner)| inner))
}

/// A line without the reference to Maven's help, and not too long.
fn short(line: &str) -> String {
    const MOST: usize = 300;
    line.split(" -> [").next().unwrap_or(line).chars().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn jars_that_came_are_counted_by_their_size() {
        let url = "https://repo.maven.apache.org/maven2/com/x/1/x-1";
        assert_eq!(
            came(&format!("[INFO] Downloaded from central: {url}.jar (4.5 MB at 12 MB/s)")),
            Some(4.5e6)
        );
        assert_eq!(
            came(&format!("[INFO] Downloaded from mirror: {url}.jar (512 B at 2.1 kB/s)")),
            Some(512.0)
        );
        for other in [
            format!("[INFO] Downloaded from central: {url}.pom (4.5 kB at 12 MB/s)"),
            format!("[INFO] Downloading from central: {url}.jar"),
            format!("[INFO] Downloaded from central: {url}.jar (x MB at 12 MB/s)"),
            "[INFO] BUILD SUCCESS".to_owned(),
        ] {
            assert_eq!(came(&other), None, "{other}");
        }
    }

    #[test]
    fn a_failure_names_what_is_missing_and_why() {
        let plugin = "org.apache.maven.plugins:maven-dependency-plugin";
        let offline = format!(
            "[INFO] Scanning for projects...\n[ERROR] Plugin {plugin}:3.8.1 or one of its dependencies could not be resolved: \
             Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact \
             {plugin}:jar:3.8.1 has not been downloaded from it before. -> [Help 1]\n[ERROR] \n[ERROR] To see the full"
        );
        let Failed::Missing { files, why } = failure(&said(&offline), "1") else { panic!("not missing") };
        assert_eq!(files, [format!("{plugin}:jar:3.8.1")]);
        assert!(why.starts_with("Plugin") && !why.contains("[Help"), "{why}");
        let refused = format!(
            "[ERROR] Failed to execute goal {plugin}:3.8.1:copy-dependencies (default-cli) on project hadoop: The following \
             artifacts could not be resolved: org.apache.hadoop:hadoop-common:jar:3.4.2 (absent), \
             org.apache.hadoop:hadoop-hdfs:jar:3.4.2: Could not transfer artifact org.apache.hadoop:hadoop-common:jar:3.4.2 \
             from/to central (https://repo.maven.apache.org/maven2): Unknown host repo.maven.apache.org -> [Help 1]"
        );
        let Failed::Missing { files, why } = failure(&said(&refused), "1") else { panic!("not missing") };
        let named = |name: &str| format!("org.apache.hadoop:{name}:jar:3.4.2");
        assert_eq!(files, [named("hadoop-common"), named("hadoop-hdfs")]);
        assert_eq!(why, "Unknown host repo.maven.apache.org");
        let failed =
            "transfer failed for https://a/b.pom, proxy: ProxyInfo{host='x', port=1}: Connect to x:1 failed";
        let line =
            format!("[ERROR] Could not transfer artifact a.b:c:pom:1 from/to central (https://a): {failed}");
        assert_eq!(refusal(&line), Some("Connect to x:1 failed"));
    }

    #[test]
    fn a_failure_of_another_kind_has_mavens_words() {
        let full = said("[ERROR] Error copying artifact: x.jar (No space left on device) -> [Help 1]");
        assert!(matches!(failure(&full, "1"), Failed::Host(why) if why.contains("~/.m2")));
        let java = said("The JAVA_HOME environment variable is not defined correctly\n");
        let words = "The JAVA_HOME environment variable is not defined correctly".to_owned();
        assert_eq!(failure(&java, "exit status: 1"), Failed::Other(words));
        assert_eq!(failure(&[], "exit status: 1"), Failed::Other("exit status: 1".to_owned()));
    }
}
