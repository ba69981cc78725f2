//! One daemon of a cluster: a guarded child in a folder of its node, and the line of its log that says why it ended.
//! Those of a node with data and containers start together, and are killed together with its containers.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sys::process::Start;

use super::distribution::Distribution;
use super::network::Network;
use super::settings::{self, MARK, OPENS};
use super::sizing::Heaps;
use crate::workload::guard::Guarded;
use crate::workload::server::run::within;
use crate::workload::server::tree;

/// Bytes of a log that are looked at, from its end.
const LOG_BYTES: u64 = 256 << 10;
/// Characters of a line that is told.
const MOST_LINE: usize = 300;
/// How long killed processes may take to end.
const KILLED: Duration = Duration::from_secs(60);

/// A kind of daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// As its documentation calls it.
    pub name: &'static str,
    /// Of its files.
    pub file: &'static str,
    pub class: &'static str,
}

pub const NAME_NODE: Kind =
    Kind { name: "NameNode", file: "namenode", class: "org.apache.hadoop.hdfs.server.namenode.NameNode" };
pub const DATA_NODE: Kind =
    Kind { name: "DataNode", file: "datanode", class: "org.apache.hadoop.hdfs.server.datanode.DataNode" };
pub const RESOURCE_MANAGER: Kind = Kind {
    name: "ResourceManager",
    file: "resourcemanager",
    class: "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
};
pub const NODE_MANAGER: Kind = Kind {
    name: "NodeManager",
    file: "nodemanager",
    class: "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
};
pub const HISTORY_SERVER: Kind = Kind {
    name: "history server",
    file: "historyserver",
    class: "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
};

/// Where the processes of a cluster run.
#[derive(Debug)]
pub struct Site {
    pub distribution: Distribution,
    pub network: Network,
    /// The private folder of the whole cluster; a node has a folder in it.
    pub folder: PathBuf,
}

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    pub kind: Kind,
    pub node: String,
    group: Guarded,
    logs: PathBuf,
}

impl Site {
    pub fn node_folder(&self, node: &str) -> PathBuf {
        self.folder.join(node)
    }

    /// A JVM on a node with this heap in MiB, by the node's configuration, and nothing of the user's environment that
    /// Hadoop would read.
    pub fn java(&self, node: &str, heap: u64) -> Command {
        let folder = self.node_folder(node);
        let Distribution { class_path, java, .. } = &self.distribution;
        let mut command = self.network.command(node, &java.program(), &folder);
        let conf = folder.join("conf");
        command.env_clear();
        for name in ["PATH", "HOME", "USER", "LOGNAME", "TZ"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("LANG", "C.UTF-8").env(MARK, &self.folder).env("JAVA_HOME", &java.home);
        command.envs(self.network.environment(&self.folder, class_path));
        command.env("HADOOP_CONF_DIR", &conf).env("HADOOP_LOG_DIR", folder.join("logs"));
        command.arg(format!("-Xmx{heap}m")).args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(["-XX:ReservedCodeCacheSize=48m", "-Xss512k", "-Djava.net.preferIPv4Stack=true"]);
        command.arg(settings::NO_PERF_DATA);
        if self.opens() {
            command.arg(OPENS);
        }
        let of_folder = |key: &str, name: &str| format!("-D{key}={}", folder.join(name).display());
        command.args([of_folder("java.io.tmpdir", "tmp"), of_folder("hadoop.log.dir", "logs")]);
        command.arg(of_folder("yarn.log.dir", "logs"));
        let all = std::iter::once(conf.display().to_string()).chain(class_path.iter().cloned());
        command.arg("-cp").arg(all.collect::<Vec<_>>().join(":"));
        command
    }

    /// True where the Java has packages that must be opened to Hadoop.
    pub fn opens(&self) -> bool {
        self.distribution.opens()
    }

    /// Starts a daemon on a node. Fails when it cannot be started; the calling thread must last as long as it.
    pub fn start(&self, kind: Kind, node: &str, heap: u64) -> Result<Daemon, String> {
        let logs = self.node_folder(node).join("logs");
        let said = format!("{} on {node}", kind.name);
        let out = logs.join(format!("{}.out", kind.file));
        let failed = |error: &dyn std::fmt::Display| format!("cannot start the {said}: {error}");
        let output = std::fs::OpenOptions::new().create(true).append(true).open(&out);
        let output = output.map_err(|error| failed(&error))?;
        let errors = output.try_clone().map_err(|error| failed(&error))?;
        let mut command = self.java(node, heap);
        command.arg(format!("-Dhadoop.log.file={}.log", kind.file)).arg("-Dhadoop.root.logger=INFO,RFA");
        command.arg(kind.class).stdin(Stdio::null()).stdout(output).stderr(errors);
        let group = Guarded::spawn(command, Start::default()).map_err(|error| failed(&error))?;
        Ok(Daemon { kind, node: node.to_owned(), group, logs })
    }

    /// Starts the daemons of a node with data and containers. Fails as [`Site::start`] does.
    pub fn start_worker(&self, node: &str, heaps: Heaps) -> Result<Vec<Daemon>, String> {
        let kinds = [(DATA_NODE, heaps.data_node), (NODE_MANAGER, heaps.node_manager)];
        kinds.into_iter().map(|(kind, heap)| self.start(kind, node, heap)).collect()
    }
}

/// Kills daemons with all that they started, such as containers. Fails when one does not end.
pub fn kill<'a>(daemons: impl IntoIterator<Item = &'a Daemon>) -> Result<(), String> {
    let roots: BTreeSet<i32> = daemons.into_iter().map(|daemon| daemon.group.pgid()).collect();
    let send = |pid: i32, signal: Signal| {
        if let Some(pid) = Pid::from_raw(pid) {
            // One that has ended meanwhile is what is wanted.
            let _gone = kill_process(pid, signal);
        }
    };
    // Halted, they start nothing that the look would miss.
    roots.iter().for_each(|pid| send(*pid, Signal::STOP));
    let family =
        tree::family(&roots).inspect_err(|_| roots.iter().for_each(|pid| send(*pid, Signal::KILL)))?;
    family.iter().for_each(|stat| send(stat.pid, Signal::KILL));
    let is_left = |stat: &tree::Stat| tree::one(stat.pid).is_some_and(|now| now.is_alive());
    match within(KILLED, || !family.iter().any(is_left)) {
        true => Ok(()),
        false => Err(format!("killed processes do not end within {} s", KILLED.as_secs())),
    }
}

impl Daemon {
    /// True for those that a node with data and containers has.
    pub fn is_of_worker(&self) -> bool {
        [DATA_NODE, NODE_MANAGER].contains(&self.kind)
    }

    /// `NameNode on localhost`
    pub fn name(&self) -> String {
        format!("{} on {}", self.kind.name, self.node)
    }

    /// Fails when it has ended, with the line of its log that says why.
    pub fn check(&mut self) -> Result<(), String> {
        match self.group.try_wait()? {
            None => Ok(()),
            Some(exit) => {
                let why = self.cause().or_else(|| self.last_words());
                let why = why.map_or_else(String::new, |line| format!(": {line}"));
                Err(format!("the {} ended ({}){why}", self.name(), exit.status))
            }
        }
    }

    /// The line of its log that says what went wrong, if one does.
    pub fn cause(&self) -> Option<String> {
        cause(&end_of(&self.logs.join(format!("{}.log", self.kind.file))))
    }

    /// Its last printed lines: of one that runs they say nothing about a failure.
    fn last_words(&self) -> Option<String> {
        last_words(&end_of(&self.logs.join(format!("{}.out", self.kind.file))))
    }

    /// The last line of its log with these words.
    pub fn says(&self, words: &str) -> Option<String> {
        let log = end_of(&self.logs.join(format!("{}.log", self.kind.file)));
        let line = log.lines().rfind(|line| line.contains(words))?;
        Some(line.trim().chars().take(MOST_LINE).collect())
    }

    /// Kills it.
    pub fn end(&mut self) {
        self.group.end();
    }
}

fn end_of(path: &Path) -> String {
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(LOG_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    // A daemon that ended at once has no log.
    read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The last lines of what a JVM that could not start printed.
fn last_words(output: &str) -> Option<String> {
    // Of a cluster on several hosts each JVM says first by which variable it got options.
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with("Picked up ");
    let mut lines: Vec<&str> = output.lines().rev().map(str::trim).filter(is_said).take(2).collect();
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join(" | ").chars().take(MOST_LINE).collect())
}

/// The line of a log that names the cause of a failure: the innermost cause of the last exception, else the last line
/// of a failure, else the last one that names an exception.
pub fn cause(log: &str) -> Option<String> {
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_failure = |line: &&str| [" FATAL ", " ERROR "].iter().any(|word| line.contains(word));
    let is_cause = |line: &&str| line.starts_with("Caused by:");
    let is_exception =
        |line: &&str| !line.starts_with("at ") && (line.contains("Exception:") || line.contains("Error:"));
    let last = lines.iter().rposition(is_failure)?;
    let after = lines.get(last..)?;
    // The stack of a failure that was logged stands below it.
    let below: Vec<&&str> = after.iter().take(400).collect();
    let inner =
        below.iter().rev().find(|line| is_cause(line)).map(|line| line.trim_start_matches("Caused by: "));
    let thrown = below.iter().find(|line| is_exception(line)).map(|line| **line);
    let line = inner.or(thrown).unwrap_or(lines[last]);
    Some(line.chars().take(MOST_LINE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_names_the_cause_is_found() {
        let taken = "\
2026-11-26 10:00:00,000 INFO org.apache.hadoop.http.HttpServer2: started
2026-11-26 10:00:01,000 ERROR org.apache.hadoop.hdfs.server.namenode.NameNode: Failed to start namenode.
java.net.BindException: Port in use: localhost:9870
\tat org.apache.hadoop.http.HttpServer2.constructBindException(HttpServer2.java:1385)
Caused by: java.io.IOException: Failed to bind to localhost/127.0.0.1:9870
\tat org.eclipse.jetty.server.ServerConnector.openAcceptChannel(ServerConnector.java:349)
Caused by: java.net.BindException: Address already in use
\t... 6 more
2026-11-26 10:00:01,100 INFO org.apache.hadoop.util.ExitUtil: Exiting with status 1
";
        assert_eq!(cause(taken).as_deref(), Some("java.net.BindException: Address already in use"));
        let cluster = "\
2026-11-26 10:00:00,000 INFO x: y
2026-11-26 10:00:01,000 ERROR org.apache.hadoop.hdfs.server.datanode.DataNode: Initialization failed. Exiting.
java.io.IOException: Incompatible clusterIDs in /w/dn: namenode clusterID = A; datanode clusterID = B
\tat x(y.java:1)
";
        assert_eq!(
            cause(cluster).as_deref(),
            Some(
                "java.io.IOException: Incompatible clusterIDs in /w/dn: namenode clusterID = A; datanode clusterID = B"
            )
        );
        let bare = "1 FATAL a: it cannot go on\n2 INFO b: bye\n";
        assert_eq!(cause(bare).as_deref(), Some("1 FATAL a: it cannot go on"));
        assert_eq!(cause("INFO all is well\n"), None);
        assert_eq!(cause(""), None);
    }

    #[test]
    fn output_without_a_log_names_what_java_says() {
        let said = "Picked up JAVA_TOOL_OPTIONS: -Dx=y\nUnrecognized VM option 'x'\nError: Could not create the Java Virtual Machine.\n\n";
        let words = "Unrecognized VM option 'x' | Error: Could not create the Java Virtual Machine.";
        assert_eq!(last_words(said).as_deref(), Some(words));
        assert_eq!(last_words("\n"), None);
    }
}
