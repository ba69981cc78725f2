//! A cluster of the user's that runs: jobs on it by the user's configuration, and nothing else of it changed.
//!
//! Nothing is started, formatted or stopped. Work in HDFS is below one folder, newly made: in the user's own, or in
//! /tmp where they have none. Jobs carry a tag and have their staging files in that folder. A script in the private
//! folder here ends jobs with that tag and removes the folder of HDFS; it is run when the cluster is let go, and by
//! the guard where this program was killed. What the cluster itself keeps of any job (the history server's record,
//! logs of containers) stays.

pub mod configuration;
pub mod found;
pub mod work;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use model::format::count;
use model::shell::word;
use sys::process::Start;

use self::found::Found;
use self::work::{Client, HOMES, Work};
use super::daemon::Site;
use super::distribution::Distribution;
use super::programs::{self, SHELL};
use super::settings::{LOG4J, MARK};
use super::sizing::{Derived, Heaps, Sizes};
use crate::progress;
use crate::workload::guard::{self, SCRIPT};
use crate::workload::shell;

pub use found::address;

/// Time limit of a command for files.
const STEP: Duration = Duration::from_secs(120);
/// The heap of clients, in MiB, and what one holds in all.
const CLIENT_HEAP: u64 = 256;
const CLIENT: u64 = CLIENT_HEAP + 90;
/// Who the user is to Hadoop, and with what ticket; the rest of the environment is not passed on.
const IDENTITY: [&str; 3] = ["HADOOP_USER_NAME", "KRB5CCNAME", "HADOOP_TOKEN_FILE_LOCATION"];
const LOG: &str = "log4j.properties";

/// A cluster of the user's, with a folder of ours in its HDFS.
#[derive(Debug)]
pub struct Theirs {
    pub found: Found,
    /// The folder is in HDFS.
    pub work: Work,
    log: PathBuf,
}

/// Fails, with what is wrong, where a cluster cannot be measured. Nothing is done to it.
pub fn check(uri: &str) -> Result<(), String> {
    Found::ask(uri).map(drop)
}

impl Theirs {
    /// Makes our folder in a cluster that answers; `site` has our private folder here. Fails, with what HDFS says,
    /// where it cannot be made.
    pub fn open(uri: &str, site: &Site) -> Result<Theirs, String> {
        let found = Found::ask(uri).map_err(|why| format!("{uri}: {why}"))?;
        let node = site.node_folder(site.network.master());
        let failed = |error: &dyn std::fmt::Display| format!("cannot make {}: {error}", node.display());
        for part in ["logs", "tmp"] {
            fs::create_dir_all(node.join(part)).map_err(|error| failed(&error))?;
        }
        symlink(&found.configuration.folder, node.join("conf")).map_err(|error| failed(&error))?;
        let log = site.folder.join(LOG);
        sys::files::atomic_write(&log, LOG4J.as_bytes(), 0o600).map_err(|error| failed(&error))?;
        progress::current().report(&format!("making a folder of ours in {uri}"));
        let mut why = Vec::new();
        for work in Work::choices(&found.configuration) {
            let theirs = Theirs { found: found.clone(), work, log: log.clone() };
            // What takes it away must be there before it is.
            let script = theirs.script(site);
            let path = site.folder.join(SCRIPT);
            sys::files::atomic_write(&path, script.as_bytes(), 0o600).map_err(|error| error.to_string())?;
            let home = &theirs.work.home;
            match theirs.shell(site, &["-mkdir", home]) {
                Ok(_) => {
                    progress::current().report(&format!("working in {uri}{home}, removed afterwards"));
                    return Ok(theirs);
                }
                Err(said) => why.push(said),
            }
        }
        Err(format!("{uri} gives no folder to work in: {}", why.join("; ")))
    }

    /// Makes a client one of the user's: who they are, and where it logs to.
    pub fn adapt(&self, command: &mut Command) {
        for name in IDENTITY {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.arg(format!("-Dlog4j.configuration=file:{}", self.log.display()));
    }

    /// The settings of every program: which HDFS, the tag, and files of jobs below our folder, those too that a program
    /// would put into the user's own one. The history server still finds its records where it looks for them.
    pub fn settings(&self) -> Vec<String> {
        let work = self.work.settings(&self.found.configuration);
        let of_user =
            [format!("fs.defaultFS={}", self.found.uri), format!("{HOMES}={}/user", self.work.home)];
        of_user.into_iter().chain(work).map(|setting| format!("-D{setting}")).collect()
    }

    /// The settings of a job within its client, which writes below our folder there and our private one here.
    pub fn settings_in_client(&self, site: &Site) -> Vec<String> {
        let tmp = site.node_folder(site.network.master()).join("tmp");
        let file_system = format!("fs.defaultFS={}", self.found.uri);
        let all = std::iter::once(file_system).chain(self.work.settings_in_client(&tmp));
        all.map(|setting| format!("-D{setting}")).collect()
    }

    /// The output of Hadoop's shell for files. Fails with what it says.
    pub fn shell(&self, site: &Site, words: &[&str]) -> Result<String, String> {
        let mut command = self.client(site);
        command.arg(SHELL).arg(format!("-Dfs.defaultFS={}", self.found.uri)).args(words);
        let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
        let ended = shell::run_command(command, Start::default(), &cpus, STEP)?;
        match ended.failure(STEP) {
            None => Ok(ended.stdout.text()),
            Some(failure) => {
                let log = ended.stderr.text();
                let of_shell = words.first().map(|word| format!("{}: ", word.trim_start_matches('-')));
                let said = of_shell.and_then(|name| log.lines().find(|line| line.starts_with(&name)));
                let said = said.map(|line| line.chars().take(300).collect());
                Err(said.or_else(|| programs::cause(&log)).unwrap_or(failure))
            }
        }
    }

    /// A JVM of a client, without its program.
    pub fn client(&self, site: &Site) -> Command {
        let mut command = site.java(site.network.master(), CLIENT_HEAP);
        self.adapt(&mut command);
        command
    }

    /// The script that ends our jobs and removes our folder.
    fn script(&self, site: &Site) -> String {
        let command = self.client(site);
        let pairs = command.get_envs().filter(|(name, _)| *name != MARK);
        let pairs = pairs.filter_map(|(name, value)| {
            Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
        });
        let program = command.get_program().to_string_lossy().into_owned();
        let arguments = command.get_args().map(|word| word.to_string_lossy().into_owned());
        let words = pairs.chain([program]).chain(arguments).map(|text| word(&text));
        self.work.script(Client {
            words: &format!("env -i {}", words.collect::<Vec<_>>().join(" ")),
            file_system: Some(&self.found.uri),
            has_jobs: true,
        })
    }

    /// The command that removes our folder.
    pub fn removal(&self) -> String {
        format!("hadoop fs -rm -r -skipTrash {}{}", self.found.uri, self.work.home)
    }

    /// Ends our jobs and removes our folder; `place` is our private folder here. Where that fails it is told.
    pub fn leave(&self, place: &Path) {
        progress::current().report(&format!("removing {}{}", self.found.uri, self.work.home));
        if let Err(why) = guard::leave(place) {
            let (folder, command) = (&self.work.home, self.removal());
            progress::current().report(&format!("{folder} is left in HDFS ({why}): `{command}` removes it"));
        }
    }

    /// Its sizes, as far as jobs need them.
    pub fn sizes(&self) -> Sizes {
        let room = &self.found.room;
        let tasks = room.tasks();
        let nodes = u32::try_from(room.nodes.len()).unwrap_or(u32::MAX);
        let one = |name, value: String, why: &str| Derived { name, value, why: why.to_owned() };
        let heaps = Heaps {
            name_node: 0,
            data_node: 0,
            resource_manager: 0,
            node_manager: 0,
            history_server: 0,
            client: CLIENT_HEAP,
        };
        Sizes {
            nodes,
            heaps,
            container: room.container,
            node_memory: room.nodes.iter().copied().min().unwrap_or(0),
            node_vcores: 0,
            slots: tasks,
            maps: tasks,
            held: CLIENT,
            derived: vec![
                one(
                    "container",
                    format!("{} MiB", room.container),
                    "mapreduce.map.memory.mb of the configuration, in whole steps of yarn.scheduler.minimum-allocation-mb",
                ),
                one(
                    "tasks at once",
                    tasks.to_string(),
                    "containers that the memory of the NodeManagers has room for beside the process that directs a job",
                ),
            ],
        }
    }

    /// It in a sentence, with the client that asks it.
    pub fn sentence(&self, client: &Distribution) -> String {
        let Found { uri, version, data_nodes, room, configuration, .. } = &self.found;
        let memory: u64 = room.nodes.iter().sum();
        let whose = if client.is_users { " of HADOOP_HOME" } else { "" };
        format!(
            "a cluster of yours, {uri}: Hadoop {version}, {} and {} with {memory} MiB for containers; asked by Hadoop {}{whose} \
             on Java {} with the configuration of {}",
            count(*data_nodes as usize, "DataNode"),
            count(room.nodes.len(), "NodeManager"),
            client.version,
            client.java.version,
            configuration.folder.display(),
        )
    }
}
