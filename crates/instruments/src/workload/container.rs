//! A container in which a command of the user's runs (`--in`): an image of docker or podman, or the folder of a root
//! file system by systemd-nspawn.
//!
//! Nothing is pulled or built: the image must be there. The container has the network of the host, the working
//! directory of the command under its own path, and goes when the command has ended. Its start is part of the wall
//! time. CPU time and memory of a container of docker or podman are not known here: their processes are no children of
//! the client that starts them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use model::params::show_cpus;
use sys::process::Start;

use super::server::kind::search;
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
    pub dir: Option<&'a PathBuf>,
    pub env: &'a [(String, String)],
    pub cpus: &'a [usize],
    /// Of the container of docker and podman, by which it can be removed.
    pub name: &'a str,
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
                    "--name",
                    inside.name,
                ]);
                if self.tool == Tool::Docker {
                    // Its containers are children of a daemon, which has all CPUs.
                    let cpus: Vec<u32> =
                        inside.cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok()).collect();
                    command.arg(format!("--cpuset-cpus={}", show_cpus(&cpus)));
                }
                if let Some(dir) = inside.dir {
                    let dir = dir.display();
                    command.arg(format!("--volume={dir}:{dir}")).arg(format!("--workdir={dir}"));
                }
                for (name, value) in inside.env {
                    command.arg("--env").arg(format!("{name}={value}"));
                }
                command.arg(&self.place).args(inside.words);
            }
        }
        command
    }

    /// Ends a container that did not end with its client.
    pub fn remove(&self, name: &str) {
        if self.tool == Tool::Nspawn {
            return;
        }
        // One that is gone already is what was wanted.
        let _gone = self.ask(&["rm", "--force", name]);
    }
}

/// A change of the folder by the command would be found by the next take: it is made in memory and dropped.
fn nspawn(command: &mut Command, folder: &str, inside: &Inside<'_>) {
    command.args(["--quiet", "--pipe", "--as-pid2", "--register=no", "--keep-unit", "--volatile=overlay"]);
    command.arg(format!("--directory={folder}"));
    if let Some(dir) = inside.dir {
        let dir = dir.display();
        command.arg(format!("--bind={dir}")).arg(format!("--chdir={dir}"));
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
            dir: Some(&PathBuf::from("/work")),
            env: &[("A".to_owned(), "b".to_owned())],
            cpus,
            name: "n",
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
            podman.contains(" --volume=/work:/work --workdir=/work ") && !podman.contains("cpuset"),
            "{podman}"
        );
        let nspawn = words("nspawn:/srv/root", &[0]).join(" ");
        assert!(
            nspawn.contains(" --directory=/srv/root --bind=/work --chdir=/work --setenv=A=b -- "),
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
