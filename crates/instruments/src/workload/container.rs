//! A container in which a command of the user's or a server of ours runs (`--in`): an image of docker or podman, or
//! the folder of a root file system by systemd-nspawn.
//!
//! Nothing is pulled or built: the image must be there. The container has the network of the host, the working
//! directory of the command under its own path, and goes when the command has ended. Its start is part of the wall
//! time. CPU time and memory of a container of docker or podman are not known here: their processes are no children of
//! the client that starts them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::params::show_cpus;
use sys::process::Start;

use super::guard::{CONTAINER, Contained};
use super::server::kind::search;
use super::server::tree;
use super::shell::{self, Ended};

/// How long a question to the tool may last.
const PATIENCE: Duration = Duration::from_secs(60);

/// A way to start containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Docker,
    Podman,
    Nspawn,
}

const TOOLS: [(&str, Tool); 3] =
    [("docker", Tool::Docker), ("podman", Tool::Podman), ("nspawn", Tool::Nspawn)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    tool: Tool,
    /// The image, or the folder.
    place: String,
}

/// How a command is run in a container.
pub struct Inside<'a> {
    pub words: &'a [String],
    pub dir: Option<&'a Path>,
    pub env: &'a [(String, String)],
    pub cpus: &'a [usize],
    /// Of the container of docker and podman, by which it can be removed.
    pub name: &'a str,
    /// Further folders that it sees under their own paths.
    pub binds: &'a [&'a Path],
    /// It is run by the root of the container and without the image's entry point, as servers of ours are.
    pub is_server: bool,
}

impl Inside<'_> {
    /// The folders that it sees.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.dir.into_iter().chain(self.binds.iter().copied())
    }
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = TOOLS.iter().find(|(_, tool)| *tool == self.tool).map_or("", |(name, _)| name);
        write!(f, "{name}:{}", self.place)
    }
}

impl Container {
    /// `docker:IMAGE`, `podman:IMAGE` or `nspawn:DIR`. Fails for anything else.
    pub fn parse(text: &str) -> Result<Container, String> {
        let wrong = || format!("--in {text}: not of the form docker:IMAGE, podman:IMAGE or nspawn:DIR");
        let (tool, place) = text.split_once(':').ok_or_else(wrong)?;
        let (_, tool) = TOOLS.iter().find(|(name, _)| *name == tool).ok_or_else(wrong)?;
        if place.is_empty() || place.starts_with('-') {
            return Err(wrong());
        }
        Ok(Container { tool: *tool, place: place.to_owned() })
    }

    fn program(&self) -> &'static str {
        match self.tool {
            Tool::Docker => "docker",
            Tool::Podman => "podman",
            Tool::Nspawn => "systemd-nspawn",
        }
    }

    fn package(&self) -> &'static str {
        match self.tool {
            Tool::Docker => "docker.io",
            Tool::Podman => "podman",
            Tool::Nspawn => "systemd-container",
        }
    }

    /// A name for a container that no other has.
    pub fn new_name() -> String {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        format!("{CONTAINER}{}-{number}-{}", std::process::id(), sys::clock::now_ns())
    }

    /// Tells the guard of a container of this name, which is about to be started; `None` where it is a child of ours,
    /// which the guard ends as any other. Fails when the guard is gone.
    pub fn guarded(&self, name: &str) -> Result<Option<Contained>, String> {
        if self.is_child() { Ok(None) } else { Contained::tell(self.program(), name).map(Some) }
    }

    /// The first process of a running container; of systemd-nspawn, the children of `leader`, its client. None while it
    /// is being started. Fails when /proc cannot be read.
    pub fn roots(&self, name: &str, leader: i32) -> Result<BTreeSet<i32>, String> {
        if self.is_child() {
            let all = tree::processes()?;
            return Ok(all.iter().filter(|stat| stat.parent == leader).map(|stat| stat.pid).collect());
        }
        let ended = self.ask(&["inspect", "--format", "{{.State.Pid}}", name])?;
        let pid = ended.stdout.text().trim().parse::<i32>().ok().filter(|pid| *pid > 1);
        Ok(pid.into_iter().collect())
    }

    /// Fails where a server in it cannot have this memory limit and niceness.
    pub fn takes(&self, memory: Option<u64>, nice: i32) -> Result<(), String> {
        if memory.is_some() {
            return Err(format!("memory= with in={self}: the limit would be that of the client alone"));
        }
        if nice != 0 && self.tool == Tool::Docker {
            return Err(format!(
                "nice={nice} with in={self}: docker's daemon starts the server, with its own niceness"
            ));
        }
        Ok(())
    }

    /// True where CPU time and memory of the container are those of our child.
    pub fn is_child(&self) -> bool {
        self.tool == Tool::Nspawn
    }

    /// The id of the image that the name stands for now, or the folder. Fails where the tool or the image is not
    /// there, with what to do.
    pub fn identity(&self) -> Result<String, String> {
        let (program, place) = (self.program(), &self.place);
        if self.tool == Tool::Nspawn {
            return self.folder(program);
        }
        let ended = self.ask(&["image", "inspect", "--format", "{{.Id}}", place])?;
        if let Some(failure) = ended.failure(PATIENCE) {
            return Err(format!(
                "{program} has no image {place} ({failure}); get it first: {program} pull {place}"
            ));
        }
        Ok(format!("{program} image {place} is {}", ended.stdout.text().trim()))
    }

    /// Fails where the tool or the image is not there, with what to do. Asked once: of each variant of a plan this is
    /// asked anew.
    pub fn is_there(&self) -> Result<(), String> {
        static KNOWN: Mutex<BTreeMap<String, Result<(), String>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(self.to_string()).or_insert_with(|| self.identity().map(drop)).clone()
    }

    fn ask(&self, args: &[&str]) -> Result<Ended, String> {
        let program = self.program();
        if search(&[program]).is_none() {
            return Err(format!("{program} is not installed: apt-get install {}", self.package()));
        }
        let mut command = Command::new(program);
        command.args(args);
        let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
        shell::run_command(command, Start::default(), &cpus, PATIENCE)
    }

    fn folder(&self, program: &str) -> Result<String, String> {
        let place = &self.place;
        if !Path::new(place).is_dir() {
            return Err(format!("--in nspawn:{place}: there is no such folder"));
        }
        if sys::files::effective_ids().0 != 0 {
            return Err(format!("{program} runs only as root: use podman:IMAGE, or run as root"));
        }
        match self.ask(&["--version"])?.failure(PATIENCE) {
            Some(failure) => Err(format!("{program} --version {failure}")),
            None => Ok(format!("{program} in {place}")),
        }
    }

    /// The command that runs these words in a container of its own.
    pub fn command(&self, inside: &Inside<'_>) -> Command {
        let mut command = Command::new(self.program());
        match self.tool {
            Tool::Nspawn => nspawn(&mut command, &self.place, inside),
            Tool::Docker | Tool::Podman => {
                command.args([
                    "run",
                    "--rm",
                    "--interactive",
                    "--network=host",
                    "--pull=never",
                    // It is removed when it is no longer wanted: podman would wait for 10 s until it kills a shell.
                    "--stop-timeout=0",
                    "--name",
                    inside.name,
                ]);
                if self.tool == Tool::Docker {
                    // Its containers are children of a daemon, which has all CPUs.
                    let cpus: Vec<u32> =
                        inside.cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok()).collect();
                    command.arg(format!("--cpuset-cpus={}", show_cpus(&cpus)));
                }
                if inside.is_server {
                    command.args(["--user=0:0", "--entrypoint="]);
                }
                for bind in inside.folders() {
                    command.arg(format!("--volume={0}:{0}", bind.display()));
                }
                if let Some(dir) = inside.dir {
                    command.arg(format!("--workdir={}", dir.display()));
                }
                for (name, value) in inside.env {
                    command.arg("--env").arg(format!("{name}={value}"));
                }
                command.arg(&self.place).args(inside.words);
            }
        }
        command
    }
}

/// A change of the folder by the command would be found by the next take: it is made in memory and dropped.
fn nspawn(command: &mut Command, folder: &str, inside: &Inside<'_>) {
    command.args(["--quiet", "--pipe", "--as-pid2", "--register=no", "--keep-unit", "--volatile=overlay"]);
    command.arg(format!("--directory={folder}"));
    for bind in inside.folders() {
        command.arg(format!("--bind={}", bind.display()));
    }
    if let Some(dir) = inside.dir {
        command.arg(format!("--chdir={}", dir.display()));
    }
    for (name, value) in inside.env {
        command.arg(format!("--setenv={name}={value}"));
    }
    command.arg("--").args(inside.words);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(container: &str, cpus: &[usize]) -> Vec<String> {
        let container = Container::parse(container).unwrap();
        let inside = Inside {
            words: &["/bin/sh".to_owned(), "-c".to_owned(), "true".to_owned()],
            dir: Some(Path::new("/work")),
            env: &[("A".to_owned(), "b".to_owned())],
            cpus,
            name: "n",
            binds: &[Path::new("/docs")],
            is_server: false,
        };
        let command = container.command(&inside);
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn each_tool_has_its_own_words() {
        let docker = words("docker:debian:12", &[0, 1, 3]).join(" ");
        assert!(
            docker.starts_with("docker run --rm ") && docker.contains(" --cpuset-cpus=0-1,3 "),
            "{docker}"
        );
        assert!(docker.ends_with(" --env A=b debian:12 /bin/sh -c true"), "{docker}");
        let podman = words("podman:localhost/x:1", &[0]).join(" ");
        assert!(
            podman.contains(" --volume=/work:/work --volume=/docs:/docs --workdir=/work ")
                && !podman.contains("cpuset"),
            "{podman}"
        );
        let nspawn = words("nspawn:/srv/root", &[0]).join(" ");
        assert!(
            nspawn
                .contains(" --directory=/srv/root --bind=/work --bind=/docs --chdir=/work --setenv=A=b -- "),
            "{nspawn}"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "docker", "docker:", "lxc:x", "podman:--privileged", ":x"] {
            let why = Container::parse(text).unwrap_err();
            assert!(why.contains("docker:IMAGE") && why.contains(text), "{why}");
        }
        let why = Container::parse("nspawn:/no/such").unwrap().identity().unwrap_err();
        assert!(why.contains("no such folder"), "{why}");
    }
}
