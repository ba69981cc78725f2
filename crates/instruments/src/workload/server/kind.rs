//! The interface of a kind of server: its name, its program, its build, and how it is started.

use std::fmt;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sys::process::Start;

use super::account::Unprivileged;
use super::options::Options;
use super::private_folder::PrivateFolder;
use super::processes;
use crate::system_files::root::Root;
use crate::workload::container::{Container, Inside};
use crate::workload::elf;
use crate::workload::shell::{self, Ended};

/// Time limit of a program to print its version.
const VERSION: Duration = Duration::from_secs(20);

/// Why a server is not running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Its program is not installed; the text says how to get it.
    #[error("{0}")]
    Missing(String),
    /// It cannot be set up as requested.
    #[error("{0}")]
    Refused(String),
    /// It was started and did not come up, or its folder or account failed.
    #[error("{0}")]
    Failed(String),
}

/// A program and its description of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    pub program: PathBuf,
    /// `nginx/1.22.1`.
    pub version: String,
    /// Everything that it prints about its build.
    pub details: String,
}

/// The inputs for starting a server.
#[derive(Debug)]
pub struct Launch<'a> {
    pub build: &'a Build,
    pub options: &'a Options,
    /// Its private folder, which is its working directory.
    pub place: &'a PrivateFolder,
    /// The folder to serve.
    pub root: &'a Path,
    pub port: u16,
    pub account: Option<&'a Unprivileged>,
}

impl Launch<'_> {
    /// The address to listen on.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.options.listen, self.port)
    }

    /// Number of CPUs that it may use. Fails when the kernel does not tell.
    pub fn cpus(&self) -> Result<usize, ServerError> {
        match self.options.cpus.len() {
            0 => sys::affinity::allowed()
                .map(|cpus| cpus.len())
                .map_err(|error| ServerError::Failed(error.to_string())),
            count => Ok(count),
        }
    }

    /// The most files that one of its processes may open. Fails when that is fewer than `needed`.
    pub fn open_files(&self, needed: u64) -> Result<u64, ServerError> {
        open_files(self.options.connections, needed)
    }

    /// Fails when the system does not allow this many processes and threads.
    pub fn tasks(&self, needed: u64) -> Result<(), ServerError> {
        let limit = sys::system::limit(sys::system::Resource::Processes);
        let limit = limit.map_err(|error| ServerError::Failed(error.to_string()))?;
        // Root itself is not bound.
        let is_bound = self.account.is_some() || sys::files::effective_ids().0 != 0;
        let checked = processes::check(&Root::live(), limit.soft.filter(|_| is_bound), needed);
        checked
            .map_err(|why| ServerError::Refused(format!("connections={}: {why}", self.options.connections)))
    }

    /// A path as quoted text of a configuration file. Fails when it cannot be quoted.
    pub fn quoted(path: &Path) -> Result<String, ServerError> {
        let text =
            path.to_str().filter(|text| !text.contains(['"', '\\', '\n', '\r', '$', '%', ';', '{', '}']));
        text.map(|text| format!("\"{text}\"")).ok_or_else(|| {
            ServerError::Refused(format!("a configuration file cannot name the folder {}", path.display()))
        })
    }
}

/// The most files that one process may open. Fails when that is fewer than the `needed` for this many connections.
pub fn open_files(connections: u32, needed: u64) -> Result<u64, ServerError> {
    let limit = sys::system::limit(sys::system::Resource::OpenFiles);
    let limit = limit.map_err(|error| ServerError::Failed(error.to_string()))?;
    match limit.hard.unwrap_or(1 << 20) {
        hard if hard < needed => Err(ServerError::Refused(format!(
            "connections={connections}: a process of the server needs {needed} open files and {hard} are allowed; \
             raise the limit with `ulimit -Hn {needed}` as root"
        ))),
        hard => Ok(hard),
    }
}

/// How to start a configured server.
#[derive(Debug)]
pub struct Recipe {
    pub command: Command,
    /// Text for its standard input, which is then closed.
    pub input: Option<String>,
    /// The resolved options: `("workers", "2")`.
    pub setup: Vec<(&'static str, String)>,
}

/// Where a program runs, and as whom.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host<'a> {
    pub account: Option<&'a Unprivileged>,
    /// `None`: on this system itself.
    pub inside: Option<&'a Container>,
}

impl Host<'_> {
    /// Adds the container to what is known of a program: the id of its image, since a tag may move. Fails where the
    /// container is not there.
    pub fn note(self, build: &mut Build) -> Result<(), ServerError> {
        if let Some(container) = self.inside {
            let identity = container.identity().map_err(ServerError::Missing)?;
            build.details = format!("in a container: {identity}\n{}", build.details);
        }
        Ok(())
    }
}

/// One kind of server.
pub trait Kind: Sync + fmt::Debug {
    /// The name in `server=NAME` and in results.
    fn name(&self) -> &'static str;
    /// Its program: at the given path, or where it is usually installed. Fails when it is not there.
    fn find(&self, binary: Option<&Path>) -> Result<PathBuf, ServerError>;
    /// Asks the program for its version. Fails when it is another program.
    fn identify(&self, program: &Path, host: Host<'_>) -> Result<Build, ServerError>;
    /// The name of its program in a container; `None` where it can be started in none.
    fn inside(&self) -> Option<&'static str> {
        None
    }
    /// Fails when this kind of server cannot do what the options ask for. Cheap.
    fn accepts(&self, options: &Options) -> Result<(), ServerError>;
    /// Writes the configuration and returns how to start the server in the foreground. Fails when a file cannot be
    /// written or a limit is too low.
    fn launch(&self, launch: &Launch<'_>) -> Result<Recipe, ServerError>;
    /// The file, beside standard error, to which it writes errors.
    fn error_log(&self) -> Option<&'static str> {
        None
    }
}

/// The program at `binary`, or the first of `names` in PATH and the administrator's folders. Fails when there is none.
pub(crate) fn locate(
    what: &str,
    binary: Option<&Path>,
    names: &[&str],
    hint: &str,
) -> Result<PathBuf, ServerError> {
    if let Some(path) = binary {
        return program("binary", path);
    }
    search(names).ok_or_else(|| {
        ServerError::Missing(format!(
            "{what} is not installed ({} not found): {hint}, or name its program with binary=PATH",
            names.join(" or ")
        ))
    })
}

/// The program that a parameter names. Fails when it is not an executable file.
pub(crate) fn program(param: &str, path: &Path) -> Result<PathBuf, ServerError> {
    let full = std::fs::canonicalize(path);
    let full = full.map_err(|error| ServerError::Missing(format!("{param}={}: {error}", path.display())))?;
    match is_program(&full) {
        true => Ok(full),
        false => Err(ServerError::Refused(format!("{param}={} is not a program", path.display()))),
    }
}

/// The first of `names` in PATH and the administrator's folders.
pub(crate) fn search(names: &[&str]) -> Option<PathBuf> {
    search_beside(names, &["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/sbin"])
}

/// The first of `names` in PATH, or after that in `more`.
pub(crate) fn search_beside(names: &[&str], more: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(more.iter().map(PathBuf::from)).collect();
    let mut programs = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.find(|program| program.is_absolute() && is_program(program))
}

pub(crate) fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Runs `program` with `words` and returns its output. It runs as the account that it will serve as. Fails when it
/// does not end in time.
pub(crate) fn hear(
    program: &Path,
    words: &[&str],
    Host { account, inside }: Host<'_>,
) -> Result<Ended, ServerError> {
    let mut command = match inside {
        Some(container) => asked_inside(container, program, words),
        None => Command::new(program),
    };
    if inside.is_none() {
        command.args(words);
    }
    command.env("LC_ALL", "C").current_dir("/");
    let start = Start { account: account.map(|chosen| chosen.account.clone()), ..Start::default() };
    let failed = |why: String| {
        // The system calls the program missing where its loader is.
        let why = elf::read(program).and_then(|elf| elf.missing_loader()).unwrap_or(why);
        ServerError::Failed(format!("cannot run {}: {why}", program.display()))
    };
    let cpus = sys::affinity::allowed().map_err(|error| failed(error.to_string()))?;
    let ended = shell::run_command(command, start, &cpus, VERSION).map_err(failed)?;
    if ended.timed_out {
        return Err(failed(format!("{} did not end within {} s", words.join(" "), VERSION.as_secs())));
    }
    Ok(ended)
}

/// Asks a program in a container of its own, which ends with it.
fn asked_inside(container: &Container, program: &Path, words: &[&str]) -> Command {
    let all: Vec<String> = std::iter::once(program.display().to_string())
        .chain(words.iter().map(|word| (*word).to_owned()))
        .collect();
    let name = Container::new_name();
    container.command(&Inside {
        words: &all,
        dir: None,
        env: &[],
        cpus: &[],
        name: &name,
        binds: &[],
        is_server: true,
    })
}

/// The rest of the first line of `text` that starts with `label`.
pub(crate) fn after<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.trim().strip_prefix(label))
        .map(str::trim)
        .filter(|rest| !rest.is_empty())
}

/// The error for a program that is not what it should be.
pub(crate) fn impostor(program: &Path, what: &str, ended: &Ended) -> ServerError {
    let said = ended.failure(VERSION).unwrap_or_else(|| match ended.stdout.last_lines(2) {
        said if said.is_empty() => "said nothing".to_owned(),
        said => format!("said: {said}"),
    });
    let remedy = elf::read(program).filter(|_| said.contains("error while loading shared libraries"));
    let remedy = remedy.map_or_else(String::new, |elf| format!("; {}", elf.libraries(program)));
    ServerError::Refused(format!("{} does not call itself {what}: it {said}{remedy}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::server::installed::{find, usual};

    #[test]
    fn programs_are_found_or_named() {
        assert!(locate("a shell", None, &["no-such-shell", "sh"], "").unwrap().ends_with("sh"));
        assert!(locate("x", Some(Path::new("/bin/sh")), &[], "").is_ok());
        let missing = locate("nginx", None, &["no-such", "none-such"], "install it").unwrap_err();
        let ServerError::Missing(why) = missing else { panic!("{missing}") };
        assert!(why.contains("no-such or none-such") && why.contains("install it"), "{why}");
        let why = locate("x", Some(Path::new("/no/such")), &[], "").unwrap_err();
        assert!(matches!(&why, ServerError::Missing(why) if why.contains("binary=/no/such")), "{why}");
        for not in ["/etc/passwd", "/etc"] {
            let why = locate("x", Some(Path::new(not)), &[], "").unwrap_err();
            assert!(matches!(&why, ServerError::Refused(why) if why.contains("not a program")), "{why}");
        }
    }

    #[test]
    fn paths_are_quoted_or_refused() {
        assert_eq!(Launch::quoted(Path::new("/a b/c")).unwrap(), "\"/a b/c\"");
        for bad in ["/a\"b", "/a\nb", "/$x", "/a;b", "/${x}"] {
            assert!(Launch::quoted(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn labelled_lines() {
        assert_eq!(after("x\n  Server MPM:  event \n", "Server MPM:"), Some("event"));
        assert_eq!(after("Server MPM:   \n", "Server MPM:"), None);
        assert_eq!(after("", "x"), None);
    }

    #[test]
    fn kinds_have_names_of_their_own() {
        let mut names: Vec<&str> = crate::workload::server::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), 3);
        assert!(names.iter().all(|name| find(name).is_some_and(|kind| kind.name() == *name)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 3);
        assert!(find("iis").is_none());
        assert!(["nginx", "builtin"].contains(&usual().name()));
    }
}
