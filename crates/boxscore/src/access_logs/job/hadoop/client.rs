//! Programs of a Hadoop that is installed: its shell for files, and streaming jobs.
//!
//! Each is a guarded child in a process group of its own, ended where the user stops or the time is over. What a call
//! leaves on the cluster, its jobs and one folder, is taken away when it ends in whatever way (`theirs::work`).

use std::ffi::OsString;
use std::io::{BufRead, BufReader, PipeReader, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use instruments::workload::guard::{self, Guarded, SCRIPT};
use instruments::workload::hadoop::cluster;
use instruments::workload::hadoop::distribution::Distribution;
use instruments::workload::hadoop::programs::SHELL;
use instruments::workload::hadoop::settings::{LOG4J, OPENS};
use instruments::workload::hadoop::theirs::configuration::Configuration;
use instruments::workload::hadoop::theirs::work::{self, Work};
use instruments::workload::server::private_folder::PrivateFolder;
use sys::process::{Start, signal_group};

use crate::error::CliError;
use crate::out;
use crate::study::stop_signal::StopSignal;

/// How often a signal and the limit are looked for.
const LOOK: Duration = Duration::from_millis(50);
const SIGKILL: i32 = 9;
/// Lines of a program's log that are kept, at most.
const MOST_LINES: usize = 10_000;
/// The setting by which jobs run on a cluster, or in their client.
const FRAMEWORK: &str = "mapreduce.framework.name";
/// Said where the user stops a second time.
const LAST_LINE: &str =
    "ended at once; a job that it has on the cluster, and its folder there, are being removed";

/// A Hadoop, the configuration that names its cluster, and our place there.
pub struct Client {
    hadoop: Distribution,
    class_path: OsString,
    /// True where its file system is that of this machine.
    is_here: bool,
    settings: Vec<String>,
    work: Work,
    place: PrivateFolder,
    stop: StopSignal,
    limit: Duration,
    until_ns: u64,
}

/// A file of Hadoop's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub path: String,
    pub bytes: u64,
}

/// A program that has ended.
pub struct Ended<T> {
    /// The value that was made of its output.
    pub out: T,
    /// The last lines of its log.
    pub said: Vec<String>,
    pub status: ExitStatus,
}

/// How a program is run.
#[derive(Clone, Copy)]
pub struct Call {
    /// Hears each line of its log.
    pub heard: fn(&str),
    /// End it when as much of its output was read as is wanted.
    pub ends_after_reading: bool,
}

impl Call {
    pub const QUIET: Call = Call { heard: |_| {}, ends_after_reading: false };
}

impl Client {
    /// The Hadoop of HADOOP_HOME, else one that was assembled, with the configuration of HADOOP_CONF_DIR, else its own.
    /// All that is done with it ends within the limit.
    pub fn find(limit: Duration) -> Result<Client, CliError> {
        let told = |why: String| CliError::data(format!("--hadoop: {why}"));
        let hadoop = cluster::distribution().map_err(told)?;
        let configuration = Configuration::find().map_err(told)?;
        let stop = StopSignal::listen_with_message(LAST_LINE)?;
        let place = PrivateFolder::make(&std::env::temp_dir(), None).map_err(told)?;
        place.file("log4j.properties", LOG4J).map_err(told)?;
        let mut class_path = configuration.folder.clone().into_os_string();
        for entry in &hadoop.class_path {
            class_path.push(":");
            class_path.push(entry);
        }
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = sys::clock::now_ns().saturating_add(limit_ns);
        let file_system = configuration.get("fs.defaultFS");
        let is_here = file_system.is_none_or(|uri| uri.starts_with("file:"));
        let (settings, work) = (Vec::new(), Work::here());
        let mut client = Client { hadoop, class_path, is_here, settings, work, place, stop, limit, until_ns };
        match client.settle(&configuration) {
            Ok(()) => Ok(client),
            Err(error) => {
                // A program that was ended may have made the folder.
                if client.cut().is_some() {
                    client.abandon();
                }
                Err(error)
            }
        }
    }

    /// Makes our folder where jobs run on a cluster; else jobs make theirs in the place here.
    fn settle(&mut self, configuration: &Configuration) -> Result<(), CliError> {
        let framework = configuration.get(FRAMEWORK);
        if matches!(framework.as_deref(), None | Some("local")) {
            // What a job in its client writes goes with our folders, in whatever way it ends.
            self.settings = self.work.settings_in_client(&self.place().join("tmp"));
            return self.prepare_to_leave(false);
        }
        let mut why = Vec::new();
        for work in Work::choices(configuration) {
            self.settings = work.settings(configuration);
            self.work = work;
            // What takes it away must be there before it is.
            self.prepare_to_leave(true)?;
            let Err(error) = self.shell(&["-mkdir", &self.work.home]) else { return Ok(()) };
            // The folder may have been made all the same: the script is still that of this one.
            if let Some(cut) = self.cut() {
                return Err(cut);
            }
            why.push(error.message);
        }
        Err(CliError::data(why.join("; ")))
    }

    /// Writes the script that takes away what is ours there.
    fn prepare_to_leave(&self, has_jobs: bool) -> Result<(), CliError> {
        let command = self.command();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|text| model::shell::word(&text.to_string_lossy())).collect();
        let client = work::Client { words: &words.join(" "), file_system: None, has_jobs };
        let written = self.place.file(SCRIPT, &self.work.script(client));
        written.map(drop).map_err(CliError::data)
    }

    /// The folder on this machine, in which programs run: what they write is there, where the file system is that of
    /// this machine.
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// A folder in ours that is not there yet.
    pub fn folder(&self, name: &str) -> String {
        format!("{}/{name}", self.work.home)
    }

    /// The settings of every job, `key=value`.
    pub fn settings(&self) -> &[String] {
        &self.settings
    }

    /// A JVM, without its program.
    fn command(&self) -> Command {
        let mut command = Command::new(self.hadoop.java.program());
        command.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.arg("-Djava.net.preferIPv4Stack=true").args(self.hadoop.opens().then_some(OPENS));
        command.arg(format!("-Dlog4j.configuration=file:{}/log4j.properties", self.place().display()));
        command.arg("-cp").arg(&self.class_path).current_dir(self.place());
        command
    }

    /// Runs a program to its end; `read` is given its output. Fails where it cannot be started, the user stops, or the
    /// time is over.
    pub fn run<T>(
        &self,
        words: &[impl AsRef<std::ffi::OsStr>],
        call: Call,
        read: impl FnOnce(PipeReader) -> T,
    ) -> Result<Ended<T>, CliError> {
        let not_started =
            |error: String| CliError::data(format!("{}: {error}", self.hadoop.java.program().display()));
        let pipe = || std::io::pipe().map_err(|error| CliError::data(error.to_string()));
        let ((stdout, its_stdout), (stderr, its_stderr)) = (pipe()?, pipe()?);
        let mut command = self.command();
        command.args(words).stdin(Stdio::null()).stdout(its_stdout).stderr(its_stderr);
        let mut child = Guarded::spawn(command, Start::default()).map_err(not_started)?;
        let pgid = child.pgid();
        let (ended, cut) = self.watched(pgid, || {
            std::thread::scope(|scope| {
                let said = scope.spawn(move || told(stderr, call.heard));
                let out = read(stdout);
                if call.ends_after_reading {
                    child.end();
                }
                let exit = child.wait();
                let said = said.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                exit.map(|exit| Ended { out, said, status: exit.status })
            })
        });
        match cut {
            Some(cut) => Err(cut),
            None => ended.map_err(CliError::data),
        }
    }

    /// Does some work that ends with a process group, which is killed where the user stops or the time is over; that is
    /// told too.
    fn watched<T>(&self, pgid: i32, work: impl FnOnce() -> T) -> (T, Option<CliError>) {
        std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let watch = scope.spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(LOOK) {
                    if let Some(cut) = self.cut() {
                        // A group that is gone is what was wanted.
                        let _gone = signal_group(pgid, SIGKILL);
                        return Some(cut);
                    }
                }
                None
            });
            let value = work();
            drop(done);
            (value, watch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Why nothing more is to be done.
    fn cut(&self) -> Option<CliError> {
        if self.stop.is_requested() {
            return Some(CliError::interrupted("--hadoop: stopped; nothing was stored"));
        }
        let is_over = sys::clock::now_ns() >= self.until_ns;
        is_over.then(|| {
            let limit = model::format::duration(self.limit.as_secs_f64());
            CliError::data(format!("--hadoop: not done within {limit}, and ended"))
                .hint("--timeout gives more")
        })
    }

    /// The output of the shell for files.
    fn shell(&self, words: &[&str]) -> Result<String, CliError> {
        let all: Vec<&str> = std::iter::once(SHELL).chain(words.iter().copied()).collect();
        let ended = self.run(&all, Call::QUIET, |mut from| {
            let mut text = Vec::new();
            from.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
        })?;
        let wrong = |why: &str| CliError::data(format!("--hadoop: hadoop fs {}: {why}", words.join(" ")));
        if ended.status.success() {
            return ended.out.map_err(|error| wrong(&error.to_string()));
        }
        Err(wrong(last_words(&ended.said).unwrap_or("it failed")))
    }

    /// The files of a path or a pattern, those of a folder if it is one. Fails where a folder lies in it. Hadoop reads
    /// no file whose name begins with `_` or `.`; that is said where such a one holds something.
    pub fn list(&self, path: &str) -> Result<Vec<Listed>, CliError> {
        // Programs run in a folder of ours.
        let absolute = match self.is_here && !path.contains(':') {
            true => std::path::absolute(path).ok().map(|path| path.display().to_string()),
            false => None,
        };
        let path = absolute.as_deref().unwrap_or(path);
        let wrong = |what: String| CliError::data(format!("--hadoop: {path}: {what}"));
        let said = self.shell(&["-ls", path])?;
        let (hidden, found): (Vec<Entry>, Vec<Entry>) =
            said.lines().filter_map(entry).partition(|one| is_hidden(&one.listed.path));
        if let Some(folder) = found.iter().find(|one| !one.is_file) {
            let error = wrong(format!("there is a folder in it, {}", folder.listed.path));
            return Err(error
                .hint("`folder/*` takes the files of the folders in it too; or name those that are meant"));
        }
        let left: Vec<&str> = hidden
            .iter()
            .filter(|one| one.is_file && one.listed.bytes > 0)
            .map(|one| one.listed.path.as_str())
            .collect();
        match (found.is_empty(), left.is_empty()) {
            (true, true) => return Err(wrong("there is no file in it".to_owned())),
            (true, false) => return Err(wrong(format!("{HIDDEN}: {}", left.join(", ")))),
            (false, true) => {}
            (false, false) => out::say(&format!("left out, as {HIDDEN}: {}", left.join(", "))),
        }
        Ok(found.into_iter().map(|one| one.listed).collect())
    }

    /// A file's bytes, as they are read.
    pub fn cat<T>(
        &self,
        path: &str,
        call: Call,
        read: impl FnOnce(PipeReader) -> T,
    ) -> Result<Ended<T>, CliError> {
        self.run(&[SHELL, "-cat", path], call, read)
    }

    /// Removes our folder there, after a job that has ended well. False where that failed.
    pub fn leave(&self) -> bool {
        self.shell(&["-rm", "-r", "-f", "-skipTrash", &self.work.home]).is_ok()
    }

    /// Ends our job there and removes our folder, after anything else. Says so, since it takes some seconds.
    pub fn abandon(&self) {
        out::say(&format!("ending its job, and removing {} from Hadoop's file system", self.work.home));
        if let Err(why) = guard::leave(self.place()) {
            let command = self.removal().map(|command| format!(": {command}")).unwrap_or_default();
            out::say(&format!("{} may be left in Hadoop's file system ({why}){command}", self.work.home));
        }
    }

    /// The command that removes our folder; `None` where it lies in the private folder here.
    fn removal(&self) -> Option<String> {
        (!self.is_here).then(|| format!("`hadoop fs -rm -r -skipTrash {}` removes it", self.work.home))
    }
}

/// Passes on the lines of a log, and keeps the last.
fn told(from: PipeReader, heard: fn(&str)) -> Vec<String> {
    let (mut reader, mut line) = (BufReader::new(from), Vec::new());
    let mut kept: Vec<String> = Vec::new();
    // A pipe that breaks is a pipe that ended.
    while let Ok(1..) = reader.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        heard(&text);
        kept.push(text);
        line.clear();
        if kept.len() > MOST_LINES {
            kept.drain(..MOST_LINES / 2);
        }
    }
    kept
}

/// The last line of what a client said that is no part of a stack.
pub fn last_words(said: &[String]) -> Option<&str> {
    said.iter().map(String::as_str).rfind(|line| !line.is_empty() && !line.starts_with("at "))
}

/// A line of `-ls`.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    is_file: bool,
    listed: Listed,
}

const HIDDEN: &str = "Hadoop reads no file whose name begins with _ or .";

fn is_hidden(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(['_', '.']))
}

/// The file or folder of a line of `-ls`; `None` for other lines.
fn entry(line: &str) -> Option<Entry> {
    let mut rest = line;
    let mut words = Vec::new();
    // Rights, copies, owner, group, bytes, day, time; a path may have blanks.
    for _ in 0..7 {
        rest = rest.trim_start();
        let end = rest.find(' ')?;
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    let is_entry = words[0].len() >= 10 && words[0].starts_with(['-', 'd']);
    let bytes = words[4].parse().ok()?;
    let listed = Listed { path: rest.trim_start().to_owned(), bytes };
    is_entry.then(|| Entry { is_file: words[0].starts_with('-'), listed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_listing_are_files_and_folders() {
        let at = |path: &str, bytes| Listed { path: path.to_owned(), bytes };
        let file = entry("-rw-r--r--   1 root supergroup       1366 2026-11-26 21:44 /logs/a b.log");
        assert_eq!(file, Some(Entry { is_file: true, listed: at("/logs/a b.log", 1366) }));
        let folder = entry("drwxr-xr-x   - root supergroup          0 2026-11-26 21:44 /logs/old");
        assert_eq!(folder, Some(Entry { is_file: false, listed: at("/logs/old", 0) }));
        for other in ["Found 2 items", ""] {
            assert_eq!(entry(other), None);
        }
        let hidden = ["/logs/_SUCCESS", "hdfs://m:1/logs/.a.log.swp", "_x"].map(is_hidden);
        assert_eq!((hidden, is_hidden("/_logs/a.log")), ([true; 3], false));
    }
}
