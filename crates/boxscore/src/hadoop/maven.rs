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

/// Reads a pom's dependencies, and copies those that are needed at run time. The pom has its version.
const GOAL: &str = "dependency:copy-dependencies";
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
    /// Files that it has not, and how many others are told.
    Missing(String),
    /// Its own words.
    Other(String),
}

/// What to make, of what, by which Java.
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
                .hint("apt-get install --no-install-recommends maven; or name a Hadoop of yours by HADOOP_HOME")
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
        command.args(offline.then_some("-o"));
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
