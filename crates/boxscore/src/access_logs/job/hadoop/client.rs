//! Programs of a Hadoop that is installed: its shell for files, and streaming jobs.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use instruments::workload::hadoop::cluster;
use instruments::workload::hadoop::distribution::Distribution;
use instruments::workload::hadoop::programs::SHELL;
use instruments::workload::hadoop::settings::{LOG4J, OPENS};
use instruments::workload::hadoop::theirs::configuration;

use crate::error::CliError;

/// A Hadoop and the configuration that names its cluster.
pub struct Client {
    hadoop: Distribution,
    class_path: OsString,
    log: String,
}

/// A file of Hadoop's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub path: String,
    pub bytes: u64,
}

impl Client {
    /// The Hadoop of HADOOP_HOME, else one that was assembled, with the configuration of HADOOP_CONF_DIR, else its own.
    /// What it needs besides is put into `scratch`.
    pub fn find(scratch: &Path) -> Result<Client, CliError> {
        let hadoop = cluster::distribution().map_err(|why| CliError::data(format!("--hadoop: {why}")))?;
        let configuration =
            configuration::folder().map_err(|why| CliError::data(format!("--hadoop: {why}")))?;
        let mut class_path = configuration.into_os_string();
        for entry in &hadoop.class_path {
            class_path.push(":");
            class_path.push(entry);
        }
        let log = scratch.join("log4j.properties");
        sys::files::atomic_write(&log, LOG4J.as_bytes(), 0o644)
            .map_err(|error| CliError::data(format!("{}: {error}", log.display())))?;
        Ok(Client { hadoop, class_path, log: format!("-Dlog4j.configuration=file:{}", log.display()) })
    }

    /// A program of Hadoop's, not started yet.
    pub fn command(&self, class: &str) -> Command {
        let mut command = Command::new(self.hadoop.java.program());
        command.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.arg("-Djava.net.preferIPv4Stack=true").args(self.hadoop.opens().then_some(OPENS));
        command.arg(&self.log).arg("-cp").arg(&self.class_path).arg(class).stdin(Stdio::null());
        command
    }

    /// The output of the shell for files.
    fn shell(&self, command: &mut Command, words: &[&str]) -> Result<String, CliError> {
        let output = command.args(words).output().map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let why = last_words(&output.stderr);
        Err(CliError::data(format!(
            "hadoop fs {}: {}",
            words.join(" "),
            why.as_deref().unwrap_or("it failed")
        )))
    }

    pub fn not_started(&self, error: &std::io::Error) -> CliError {
        CliError::data(format!("{}: {error}", self.hadoop.java.program().display()))
            .hint("JAVA_HOME names the Java to be taken")
    }

    /// The files of a path or a pattern, those of a folder if it is one.
    pub fn list(&self, path: &str) -> Result<Vec<Listed>, CliError> {
        let found: Vec<Listed> =
            self.shell(&mut self.command(SHELL), &["-ls", path])?.lines().filter_map(listed).collect();
        match found.is_empty() {
            true => Err(CliError::data(format!("--hadoop: {path}: there is no file in it"))),
            false => Ok(found),
        }
    }

    /// A file's bytes, as they are read.
    pub fn cat(&self, path: &str) -> Command {
        let mut command = self.command(SHELL);
        command.args(["-cat", path]);
        command
    }

    /// Removes a folder, which is named as seen from `from` where the file system is that of this machine.
    pub fn remove(&self, path: &str, from: &Path) -> Result<(), CliError> {
        let words = ["-rm", "-r", "-f", "-skipTrash", path];
        self.shell(self.command(SHELL).current_dir(from), &words).map(drop)
    }
}

/// The last line of what a client said that is no part of a stack.
pub fn last_words(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("at "));
    lines.next_back().map(str::to_owned)
}

/// A file of a line of `-ls`; `None` for folders and other lines.
fn listed(line: &str) -> Option<Listed> {
    let mut rest = line;
    let mut words = Vec::new();
    // Rights, copies, owner, group, bytes, day, time; a path may have blanks.
    for _ in 0..7 {
        rest = rest.trim_start();
        let end = rest.find(' ')?;
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    let is_file = words[0].len() >= 10 && words[0].starts_with('-');
    let bytes = words[4].parse().ok()?;
    (is_file).then(|| Listed { path: rest.trim_start().to_owned(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_listing_are_files() {
        let file = listed("-rw-r--r--   1 root supergroup       1366 2026-11-26 21:44 /logs/a b.log");
        assert_eq!(file, Some(Listed { path: "/logs/a b.log".to_owned(), bytes: 1366 }));
        for other in
            ["Found 2 items", "drwxr-xr-x   - root supergroup          0 2026-11-26 21:44 /logs/old", ""]
        {
            assert_eq!(listed(other), None);
        }
    }
}
