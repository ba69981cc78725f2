//! Apache httpd with the prefork, worker or event MPM, as installed or as `binary=PATH` names it.
//!
//! Only the modules that serving files needs are loaded; the MPM is built in or loaded from the distribution's folder
//! of modules. All processes are started at once and kept, so that none is started during a take.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sys::process::Start;

use super::kind::{Build, Host, Kind, Launch, Recipe, ServerError, after, hear, impostor, locate};
use super::options::{Mpm, Options};
use crate::workload::shell;

const HINT: &str =
    "`apt-get install apache2-bin` installs it without a service (dnf and pacman: httpd; apk: apache2)";
const LOG: &str = "error.log";
/// Threads per process of the worker and event MPMs: httpd's own default.
const THREADS: u64 = 25;
/// Requests served at once with the event MPM: httpd's own default; idle connections need no thread.
const EVENT_WORKERS: u64 = 400;
/// Most processes that httpd is built for with threads (10 times as many without).
const MOST_PROCESSES: u64 = 20_000;
/// Time limit for checking the configuration.
const CHECK: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Httpd;

pub static KIND: Httpd = Httpd;

impl Kind for Httpd {
    fn name(&self) -> &'static str {
        "httpd"
    }

    fn find(&self, binary: Option<&Path>) -> Result<PathBuf, ServerError> {
        locate("Apache httpd", binary, &["apache2", "httpd", "httpd2"], HINT)
    }

    fn identify(&self, program: &Path, host: Host<'_>) -> Result<Build, ServerError> {
        let ended = hear(program, &["-v"], host)?;
        let said = ended.stdout.text();
        let version = after(&said, "Server version:").filter(|version| version.contains("Apache"));
        let Some(version) = version.filter(|_| ended.exit.status.success()) else {
            return Err(impostor(program, "Apache httpd", &ended));
        };
        // It ends with a failure where its usual configuration is missing, and says all of this nevertheless.
        let built = hear(program, &["-V"], host)?.stdout.text();
        let modules = hear(program, &["-l"], host)?.stdout.text();
        let details = format!("{}\n{}", built.trim(), modules.trim());
        Ok(Build { program: program.to_owned(), version: version.to_owned(), details })
    }

    fn accepts(&self, options: &Options) -> Result<(), ServerError> {
        let refused = |what: &str| Err(ServerError::Refused(format!("{what}: only nginx has it")));
        match () {
            () if options.open_file_cache => refused("open-file-cache=on"),
            () if options.limit_rate.is_some() => refused("limit-rate"),
            () => Ok(()),
        }
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Recipe, ServerError> {
        let mpm = launch.options.mpm.unwrap_or_default();
        let size = Size::of(mpm, launch.options);
        launch.open_files(size.files)?;
        // The parent, and with threads a listener in each process.
        launch.tasks(size.workers.saturating_add(size.processes).saturating_add(1))?;
        let modules = modules(mpm, launch.build)?;
        let text = config(launch, mpm, &size, &modules)?;
        let path = launch.place.file("httpd.conf", &text).map_err(ServerError::Failed)?;
        checked(launch, &path, mpm)?;
        let mut command = Command::new(&launch.build.program);
        command.arg("-d").arg(launch.place.path()).arg("-f").arg(&path).arg("-DFOREGROUND");
        let setup = vec![
            ("mpm", mpm.name().to_owned()),
            ("workers", size.workers.to_string()),
            ("processes", size.processes.to_string()),
            ("sendfile", on(launch.options.sendfile).to_owned()),
        ];
        Ok(Recipe { command, input: None, setup })
    }

    fn error_log(&self) -> Option<&'static str> {
        Some(LOG)
    }
}

fn on(is: bool) -> &'static str {
    if is { "on" } else { "off" }
}

/// How the work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    /// Requests served at once, by all processes together.
    workers: u64,
    processes: u64,
    /// Threads per process; 1 with prefork.
    threads: u64,
    /// Further connections per thread beside the one it serves (event).
    waiting: u64,
    /// Files that one process may have open.
    files: u64,
}

impl Size {
    fn of(mpm: Mpm, options: &Options) -> Size {
        let connections = u64::from(options.connections);
        let usual = if mpm == Mpm::Event { connections.min(EVENT_WORKERS) } else { connections };
        let wanted = options.workers.map_or(usual, u64::from).max(1);
        let most_threads = if mpm == Mpm::Prefork { 1 } else { THREADS.max(wanted.div_ceil(MOST_PROCESSES)) };
        let processes = wanted.div_ceil(most_threads);
        // Shared out evenly, to come as close to what is wanted as equal processes can.
        let threads = wanted.div_ceil(processes);
        let workers = processes.saturating_mul(threads);
        let waiting = if mpm == Mpm::Event { connections.div_ceil(workers).max(2) } else { 0 };
        let files = threads.saturating_mul(waiting.saturating_add(2)).saturating_add(32);
        Size { workers, processes, threads, waiting, files }
    }
}

/// Folders that may hold the modules of this program.
fn folders(program: &Path) -> Vec<PathBuf> {
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
    let beside =
        ["lib/apache2/modules", "lib64/httpd/modules", "lib/httpd/modules", "modules", "lib64/apache2"];
    let own = beside.iter().map(|folder| prefix.join(folder));
    own.chain([prefix.join("lib/apache2"), prefix.join("libexec"), prefix.join("libexec/apache2")]).collect()
}

/// The modules to load: name and file. Fails when one is not installed.
fn modules(mpm: Mpm, build: &Build) -> Result<Vec<(String, PathBuf)>, ServerError> {
    let is_built_in = |file: &str| build.details.lines().any(|line| line.trim() == file);
    let mut wanted = Vec::new();
    let built_in_mpm = Mpm::WORDS
        .iter()
        .copied()
        .find(|name| is_built_in(&format!("mod_mpm_{name}.c")) || is_built_in(&format!("{name}.c")));
    match built_in_mpm {
        Some(name) if name == mpm.name() => {}
        Some(name) => {
            return Err(ServerError::Refused(format!(
                "mpm={}: {} has the {name} MPM built in and can load no other",
                mpm.name(),
                build.program.display()
            )));
        }
        None => wanted.push(format!("mpm_{}", mpm.name())),
    }
    wanted.extend(
        ["unixd", "authz_core", "log_config"]
            .map(str::to_owned)
            .into_iter()
            .filter(|name| !is_built_in(&format!("mod_{name}.c"))),
    );
    let folders = folders(&build.program);
    let find = |name: String| {
        let file = format!("mod_{name}.so");
        match folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) {
            Some(path) => Ok((format!("{name}_module"), path)),
            None => Err(ServerError::Refused(format!(
                "{} needs {file}, which is in none of: {}",
                build.program.display(),
                folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
            ))),
        }
    };
    wanted.into_iter().map(find).collect()
}

fn config(
    launch: &Launch<'_>,
    mpm: Mpm,
    size: &Size,
    modules: &[(String, PathBuf)],
) -> Result<String, ServerError> {
    let (options, place) = (launch.options, launch.place.path());
    let mut text = String::new();
    let mut line = |words: &[&str]| {
        text.push_str(&words.join(" "));
        text.push('\n');
    };
    for (name, path) in modules {
        line(&["LoadModule", name, &Launch::quoted(path)?]);
    }
    let number = |value: u64| value.to_string();
    line(&["ServerName", "127.0.0.1"]);
    line(&["Listen", &launch.address().to_string()]);
    line(&["ListenBackLog", &number(u64::from(options.connections.max(511)))]);
    line(&["PidFile", &Launch::quoted(&place.join("httpd.pid"))?]);
    line(&["DefaultRuntimeDir", &Launch::quoted(place)?]);
    line(&["ErrorLog", &Launch::quoted(&place.join(LOG))?]);
    line(&["LogLevel", "warn"]);
    if options.access_log {
        line(&[
            "CustomLog",
            &Launch::quoted(&place.join("access.log"))?,
            "\"%h %l %u %t \\\"%r\\\" %>s %B %D\"",
        ]);
    }
    line(&["ServerLimit", &number(size.processes)]);
    line(&["StartServers", &number(size.processes)]);
    line(&["MaxConnectionsPerChild", "0"]);
    if mpm == Mpm::Prefork {
        line(&["MinSpareServers", "1"]);
        line(&["MaxSpareServers", &number(size.processes)]);
    } else {
        line(&["ThreadLimit", &number(size.threads)]);
        line(&["ThreadsPerChild", &number(size.threads)]);
        line(&["MinSpareThreads", &number(size.threads)]);
        line(&["MaxSpareThreads", &number(size.workers)]);
    }
    if mpm == Mpm::Event {
        line(&["AsyncRequestWorkerFactor", &number(size.waiting)]);
    }
    line(&["MaxRequestWorkers", &number(size.workers)]);
    line(&["KeepAlive", "On"]);
    line(&["MaxKeepAliveRequests", "0"]);
    line(&["KeepAliveTimeout", "65"]);
    line(&["HostnameLookups", "Off"]);
    line(&["EnableSendfile", on(options.sendfile)]);
    let root = Launch::quoted(launch.root)?;
    line(&["DocumentRoot", &root]);
    line(&["<Directory", &root, ">"]);
    line(&[
        "  Options FollowSymLinks\n  AllowOverride None\n  ForceType application/octet-stream\n  Require all granted",
    ]);
    line(&["</Directory>"]);
    Ok(text)
}

/// Has httpd check its configuration, and fails unless it uses the wanted MPM.
fn checked(launch: &Launch<'_>, path: &Path, wanted: Mpm) -> Result<(), ServerError> {
    let mut command = Command::new(&launch.build.program);
    command.arg("-d").arg(launch.place.path()).arg("-f").arg(path).arg("-V").env("LC_ALL", "C");
    let start = Start { account: launch.account.map(|chosen| chosen.account.clone()), ..Start::default() };
    let cpus = sys::affinity::allowed().map_err(|error| ServerError::Failed(error.to_string()))?;
    let ended = shell::run_command(command, start, &cpus, CHECK).map_err(ServerError::Failed)?;
    if let Some(why) = ended.failure(CHECK) {
        return Err(ServerError::Failed(format!("httpd refuses its configuration: it {why}")));
    }
    let said = ended.stdout.text();
    match after(&said, "Server MPM:") {
        Some(mpm) if mpm.eq_ignore_ascii_case(wanted.name()) => Ok(()),
        other => Err(ServerError::Failed(format!(
            "httpd was told to use the {} MPM and says it uses {}",
            wanted.name(),
            other.unwrap_or("none")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(connections: u32, workers: Option<u32>) -> Options {
        Options { connections, workers, ..Options::default() }
    }

    #[test]
    fn sizes_hold_the_connections() {
        for connections in [1, 24, 25, 26, 400, 1000, 15_000, 1_000_000] {
            for mpm in [Mpm::Prefork, Mpm::Worker, Mpm::Event] {
                let size = Size::of(mpm, &options(connections, None));
                assert_eq!(size.workers, size.processes * size.threads);
                let held = size.workers * (size.waiting + 1);
                assert!(held >= u64::from(connections), "{connections} {mpm:?} {size:?}");
                assert!(mpm == Mpm::Prefork || size.processes <= MOST_PROCESSES, "{size:?}");
            }
        }
        let few = Size::of(Mpm::Worker, &options(1000, Some(10)));
        assert_eq!((few.processes, few.threads), (1, 10));
        let even = Size::of(Mpm::Event, &options(1000, Some(30)));
        assert_eq!((even.processes, even.threads, even.workers), (2, 15, 30));
        assert_eq!(Size::of(Mpm::Prefork, &options(1000, Some(7))).processes, 7);
    }

    #[test]
    fn the_mpm_is_loaded_unless_it_is_built_in() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("modules");
        std::fs::create_dir(&folder).unwrap();
        let build = |details: &str| Build {
            program: dir.path().join("bin/httpd"),
            details: details.to_owned(),
            ..Build::default()
        };
        let own = "Compiled in modules:\n  core.c\n  mod_unixd.c\n  mod_authz_core.c\n  mod_log_config.c\n";
        let why = modules(Mpm::Event, &build(own)).unwrap_err().to_string();
        assert!(why.contains("mod_mpm_event.so") && why.contains("modules"), "{why}");
        std::fs::write(folder.join("mod_mpm_event.so"), "").unwrap();
        let found = modules(Mpm::Event, &build(own)).unwrap();
        assert_eq!(found, [("mpm_event_module".to_owned(), folder.join("mod_mpm_event.so"))]);
        let whole = format!("{own}  event.c\n");
        assert_eq!(modules(Mpm::Event, &build(&whole)).unwrap(), []);
        let why = modules(Mpm::Prefork, &build(&whole)).unwrap_err().to_string();
        assert!(why.contains("event MPM built in"), "{why}");
    }

    #[test]
    fn what_only_nginx_has_is_refused() {
        for bad in [
            Options { open_file_cache: true, ..Options::default() },
            Options { limit_rate: Some(1), ..Options::default() },
        ] {
            assert!(matches!(KIND.accepts(&bad), Err(ServerError::Refused(_))));
        }
        assert_eq!(KIND.accepts(&Options::default()), Ok(()));
    }
}
