//! The way in which a command of the user's is run: its shell, directory, environment, input and output.
//!
//! The size of the environment moves the stack of a process, which can change its speed by some percent without a
//! change of the program. So each sitting draws a size of its own for each command, with a variable of that length.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::command::{Output, Shell};
use model::{Setup, Unfit, plan};
use sys::process::Start;

use super::container::{Container, Inside};
use super::orphans::Orphans;
use super::relink::Linkers;
use super::shell::{self, Ended};

/// The variable that takes room in the environment.
const PAD: &str = "BOXSCORE_LAYOUT";
/// A page: what the stack may move by before it lies alike again.
const MOST_PAD: u64 = 4096;
/// Empty commands that are started to learn what the shell itself costs.
const EMPTY: usize = 11;
const EMPTY_INSIDE: usize = 3;
/// Started before each take: it does nothing, and leaves the CPU's caches as the start of a process leaves them.
const NOTHING: &str = "true";
/// Such starts before a take. By the fourth the CPU time of the next start no longer falls.
const STARTS: usize = 4;
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Times of an empty command in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Empty {
    pub median: u64,
    /// One in six lies below, and above `high`; of a few these are the ends.
    pub low: u64,
    pub high: u64,
}

impl Empty {
    /// `None` of no times.
    fn of(mut all: Vec<u64>) -> Option<Empty> {
        all.sort_unstable();
        let (count, beyond) = (all.len(), all.len() / 6);
        let high = *all.get(count.checked_sub(1 + beyond)?)?;
        Some(Empty { median: *all.get(count / 2)?, low: *all.get(beyond)?, high })
    }
}

/// How a command and what belongs to it are run.
#[derive(Debug)]
pub struct Way {
    shell: Shell,
    dir: Option<PathBuf>,
    env: Vec<(String, String)>,
    input: Option<PathBuf>,
    output: Output,
    file: Option<PathBuf>,
    cpus: Vec<usize>,
    timeout: Duration,
    inside: Option<Container>,
    /// Bytes of the environment that this sitting adds.
    pub pad: u64,
    /// Drawn for the links of this sitting.
    link_seed: u64,
    /// Where files of ours may be made.
    scratch: PathBuf,
}

impl Way {
    /// Fails where the directory of the command is not there.
    pub fn new(command: &plan::Command, setup: &Setup, timeout: Duration) -> Result<Way, Unfit> {
        let path = |text: &Option<String>| text.as_ref().map(PathBuf::from);
        let dir = path(&command.dir);
        if let Some(dir) = dir.as_ref().filter(|dir| !dir.is_dir()) {
            return Err(Unfit::new(format!("its directory {} is not there", dir.display())));
        }
        let pad = pad(setup);
        let mut env: Vec<(String, String)> = command.env.clone().into_iter().collect();
        if !setup.arm.is_empty() {
            env.push((PAD.to_owned(), "x".repeat(usize::try_from(pad).unwrap_or(0))));
        }
        Ok(Way {
            shell: command.shell,
            dir,
            env,
            input: path(&command.input),
            output: command.output,
            file: path(&command.file),
            cpus: setup.cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect(),
            timeout,
            inside: command.inside.as_deref().map(Container::parse).transpose().map_err(Unfit::new)?,
            pad,
            link_seed: drawn(setup),
            scratch: setup.dir.clone(),
        })
    }

    /// The words that run a text. Fails where a text without a shell is no words.
    fn words(&self, text: &str) -> Result<Vec<String>, String> {
        let shell = match self.shell {
            Shell::None => return shlex::split(text).ok_or_else(|| "its quotes do not end".to_owned()),
            Shell::Sh => "/bin/sh",
            Shell::Bash => "bash",
        };
        Ok([shell, "-c", text].map(str::to_owned).to_vec())
    }

    /// The program that runs a text on this host.
    fn program(&self, text: &str) -> Result<Command, String> {
        let words = self.words(text)?;
        let (program, rest) = words.split_first().ok_or("it has no word")?;
        let mut command = Command::new(program);
        command.args(rest);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        Ok(command)
    }

    /// Runs a text where the command runs, with this input; its output goes to `stdout`, or is read.
    fn run_inside(&self, text: &str, stdin: Stdio, stdout: Option<Stdio>) -> Result<Ended, String> {
        let Some(container) = &self.inside else {
            let mut command = self.program(text)?;
            command.stdin(stdin);
            return shell::run_as_given(command, stdout, Start::default(), &self.cpus, self.timeout);
        };
        let name = Container::new_name();
        let words = self.words(text)?;
        let (dir, env, cpus) = (self.dir.as_deref(), self.env.as_slice(), self.cpus.as_slice());
        let inside = Inside { words: &words, dir, env, cpus, name: &name, binds: &[], is_server: false };
        let mut command = container.command(&inside);
        command.stdin(stdin);
        let ward = container.guarded(&name)?;
        let ended = shell::run_as_given(command, stdout, Start::default(), cpus, self.timeout)?;
        // Also ends a container that did not end with its client.
        drop(ward);
        Ok(ended)
    }

    /// False where CPU time and memory are those of a client that waits, not of the command.
    pub fn knows_usage(&self) -> bool {
        self.inside.as_ref().is_none_or(Container::is_child)
    }

    /// The container that the name stands for now; `None` on this host. Fails where it is not there.
    pub fn container(&self) -> Result<Option<String>, String> {
        self.inside.as_ref().map(Container::identity).transpose()
    }

    /// Meets what the command leaves behind beyond its process group, from here to its end. Nothing for a command in a
    /// container, whose processes end with it. Fails when the kernel refuses.
    pub fn adopt(&self) -> Result<Option<Orphans>, String> {
        self.inside.is_none().then(Orphans::adopt).transpose()
    }

    /// Starts a program that does nothing, a few times and untimed. What boxscore reads and stores between takes takes
    /// the place of the kernel's code and of the loader in the CPU's caches, which makes a start up to a fifth slower
    /// than one of many in a row. Nothing for a command in a container, which is started from afar. Fails where there
    /// is no such program.
    pub fn warm_starts(&self) -> Result<(), String> {
        if self.inside.is_some() {
            return Ok(());
        }
        for _ in 0..STARTS {
            let mut command = Command::new(NOTHING);
            command.stdin(Stdio::null());
            let nowhere = Some(Stdio::null());
            shell::run_as_given(command, nowhere, Start::default(), &self.cpus, self.timeout)?;
        }
        Ok(())
    }

    /// Runs the command itself and waits for its end. Fails when it cannot be started.
    pub fn run(&self, text: &str) -> Result<Ended, String> {
        let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let stdin = match &self.input {
            None => Stdio::null(),
            Some(path) => File::open(path).map_err(|error| named(path, error))?.into(),
        };
        let stdout = match (self.output, &self.file) {
            (Output::File, Some(path)) => {
                let file = File::options().write(true).create(true).truncate(true).open(path);
                Some(file.map_err(|error| named(path, error))?.into())
            }
            (Output::Pipe, _) => None,
            (Output::Null | Output::File, _) => Some(Stdio::null()),
        };
        self.run_inside(text, stdin, stdout)
    }

    /// Runs what belongs to it (`--prepare`, `--setup`), on this host and without input; its output is read.
    pub fn run_beside(&self, text: &str) -> Result<Ended, String> {
        shell::run_command(self.program(text)?, Start::default(), &self.cpus, self.timeout)
    }

    /// Builds the command with its object files linked in another order than in other sittings, on this host; returns
    /// how many these are. A build of another command of this sitting in the same directory is not repeated. Fails when
    /// the build cannot be started, did not end well, or linked nothing.
    pub fn relink(&self, build: &str) -> Result<usize, String> {
        static BUILT: Mutex<BTreeMap<(Option<PathBuf>, String), usize>> = Mutex::new(BTreeMap::new());
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.dir.clone(), build.to_owned());
        if let Some(objects) = built.get(&key) {
            return Ok(*objects);
        }
        let linkers = Linkers::make(&self.scratch, self.link_seed)?;
        let mut command = self.program(build)?;
        command.envs(linkers.environment());
        let ended = shell::run_command(command, Start::default(), &self.cpus, self.timeout)?;
        if let Some(failure) = ended.failure(self.timeout) {
            return Err(failure);
        }
        let objects = linkers.most_objects()?;
        built.insert(key, objects);
        Ok(objects)
    }

    /// The time of an empty command, with the start of its container; `None` without a shell. Fails when it cannot be
    /// started.
    pub fn empty(&self) -> Result<Option<Empty>, String> {
        if self.shell == Shell::None {
            return Ok(None);
        }
        // A container takes long to start, and its time differs little by comparison.
        let count = if self.inside.is_some() { EMPTY_INSIDE } else { EMPTY };
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            let ended = self.run_inside("", Stdio::null(), None)?;
            if let Some(failure) = ended.failure(self.timeout) {
                return Err(format!("an empty command {failure}"));
            }
            all.push(ended.wall_ns);
        }
        Ok(Empty::of(all))
    }

    pub fn shell_name(&self) -> &'static str {
        self.shell.word()
    }
}

/// Bytes to add to the environment: drawn from the seed, the sitting and the arm. None in a run of one sitting and
/// one command, which is what the user would see by hand.
fn pad(setup: &Setup) -> u64 {
    if setup.arm.is_empty() { 0 } else { drawn(setup) >> 32 & (MOST_PAD - 1) }
}

/// A number of this seed, sitting and arm.
fn drawn(setup: &Setup) -> u64 {
    let text = format!("{} {} {}", setup.seed, setup.sitting, setup.arm);
    // FNV-1a, then mixed once, so that neighbours are far apart.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Drops the page cache. Fails where this user may not.
pub fn drop_page_cache() -> Result<(), String> {
    // Only what is on the disk can be dropped.
    rustix::fs::sync();
    let dropped = File::options().write(true).open(DROP_CACHES);
    let dropped = dropped.and_then(|mut file| std::io::Write::write_all(&mut file, b"1"));
    dropped.map_err(|error| format!("{DROP_CACHES}: {error}"))
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    #[test]
    fn empty_commands_have_a_middle_and_ends() {
        assert_eq!(Empty::of(vec![]), None);
        assert_eq!(Empty::of(vec![7]), Some(Empty { median: 7, low: 7, high: 7 }));
        assert_eq!(Empty::of(vec![9, 5, 7]), Some(Empty { median: 7, low: 5, high: 9 }));
        let eleven = (1..=11).rev().collect();
        assert_eq!(Empty::of(eleven), Some(Empty { median: 6, low: 2, high: 10 }));
    }

    #[test]
    fn each_sitting_and_command_has_a_layout_of_its_own() {
        let pad_of = |sitting: u32, arm: &str| {
            pad(&Setup { sitting, arm: arm.to_owned(), ..Setup::bare(Params::default(), vec![0], ".") })
        };
        let mut all: Vec<u64> =
            (0..8).flat_map(|sitting| [pad_of(sitting, "a"), pad_of(sitting, "b")]).collect();
        assert_eq!(pad_of(3, "a"), all[6]);
        assert!(all.iter().all(|pad| *pad < MOST_PAD));
        all.sort_unstable();
        all.dedup();
        assert!(all.len() >= 15, "{all:?}");
        assert!(all.last().unwrap() - all[0] > MOST_PAD / 2, "{all:?}");
        assert_eq!(pad_of(1, ""), 0);
    }
}
