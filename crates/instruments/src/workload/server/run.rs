//! Starts a server in a private folder on its own port, waits until it answers, and ends it for certain.
//!
//! Its processes are one guarded group: they end when the server is stopped or dropped, and when this program is
//! killed. The thread that starts a server must last as long as the server, because the kernel ends the server with
//! that thread.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use model::params::show_bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sys::clock;
use sys::process::Start;

use super::account::{self, Unprivileged};
use super::contained::{self, Running};
use super::content::Content;
use super::kind::{Build, Host, Kind, Launch, Recipe, ServerError};
use super::memory::{Room, Use};
use super::options::Options;
use super::port::{Port, has_way, reached};
use super::private_folder::PrivateFolder;
use super::{ready, tree};
use crate::progress;
use crate::workload::guard::Guarded;
use crate::workload::shell::{self, STDERR_BYTES, Stream};

pub use super::contained::Inside;

const SIGTERM: i32 = 15;
/// Time limit from its start to its first answer.
pub(crate) const UP: Duration = Duration::from_secs(60);
const ASK: Duration = Duration::from_secs(2);
/// Time between two looks at a server that is starting or ending.
const PAUSE: Duration = Duration::from_millis(10);
/// Time limit to end by itself, and again to be gone after it was killed.
const END: Duration = Duration::from_secs(5);
const GONE: Duration = Duration::from_secs(10);
/// Free ports that are tried in turn when others take them.
const PORTS: usize = 5;
/// Bytes read from the end of its log.
const LOG_BYTES: u64 = 64 << 10;

/// A running server.
#[derive(Debug)]
pub struct Server {
    name: &'static str,
    build: Build,
    setup: Vec<(&'static str, String)>,
    account: Option<Unprivileged>,
    listen: IpAddr,
    port: Port,
    error_log: Option<&'static str>,
    stderr: Stream,
    group: Guarded,
    contained: Option<Running>,
    room: Option<Room>,
    /// The last field, so that the processes are gone before their folder.
    place: Option<PrivateFolder>,
}

/// How to launch one server, whatever it serves.
#[derive(Debug)]
pub struct LaunchOrder<'a> {
    /// The name in results.
    pub name: &'static str,
    pub build: &'a Build,
    pub account: Option<&'a Unprivileged>,
    pub inside: Inside<'a>,
    /// Address to listen on.
    pub listen: IpAddr,
    /// Ports to try, in order; empty: any free one.
    pub ports: &'a [u16],
    /// CPUs that it may use; empty: those of the thread that starts it.
    pub cpus: &'a [usize],
    /// Added to its niceness; below 0 needs root.
    pub nice: i32,
    /// Memory limit in bytes, for its processes and the files that they read.
    pub memory: Option<u64>,
    /// The file, beside standard error, to which it writes errors.
    pub error_log: Option<&'static str>,
}

/// A service that can be started as a server.
pub trait Service {
    /// Writes its configuration into its private folder and returns how to start it in the foreground. Fails when that
    /// is not possible.
    fn recipe(&self, place: &PrivateFolder, port: u16) -> Result<Recipe, ServerError>;
    /// Asks once, briefly, whether it is up and is ours. Fails with the reason if not.
    fn ready(&self, server: &Server) -> Result<(), String>;
}

/// The result of one attempt to start.
enum Attempt {
    Up(Box<Server>),
    /// Another program has the port.
    Taken(String),
}

/// A web server and its content.
struct Web<'a> {
    kind: &'a dyn Kind,
    options: &'a Options,
    content: &'a Content,
    build: &'a Build,
    account: Option<&'a Unprivileged>,
}

impl Service for Web<'_> {
    fn recipe(&self, place: &PrivateFolder, port: u16) -> Result<Recipe, ServerError> {
        let Web { build, options, account, .. } = *self;
        self.kind.launch(&Launch { build, options, place, root: self.content.root(), port, account })
    }

    fn ready(&self, server: &Server) -> Result<(), String> {
        let answer = ready::ask(server.address(), "boxscore", &self.content.ready_path(), ASK)?;
        match answer.status == 200 && answer.body == self.content.token().as_bytes() {
            true => Ok(()),
            false => Err(format!("it answers with status {}", answer.status)),
        }
    }
}

impl Server {
    /// Starts a server of `content` in its own folder under `dir`, and waits until it answers. Fails when it does not
    /// come up, and when the user cancels.
    pub fn start(
        kind: &dyn Kind,
        options: &Options,
        content: &Content,
        dir: &Path,
    ) -> Result<Server, ServerError> {
        options.check().map_err(ServerError::Refused)?;
        kind.accepts(options)?;
        let account = account::choose().map_err(ServerError::Failed)?;
        may_be_nice(options.nice, account.as_ref())?;
        if options.memory.is_some() {
            // What is cached already counts for whoever brought it in.
            let _what_stays_is_little = content.leave_cache().map_err(ServerError::Refused)?;
        }
        let inside = options.inside.as_ref();
        // The root of a container is the account there.
        let account = account.as_ref().filter(|_| inside.is_none());
        let (host, binary) = (Host { account, inside }, options.binary.as_deref());
        let program = match (inside, binary, kind.inside()) {
            (None, ..) => kind.find(binary)?,
            (Some(_), Some(path), Some(_)) => path.to_owned(),
            (Some(_), None, Some(name)) => name.into(),
            (Some(container), _, None) => return Err(ServerError::Refused(contained::only_nginx(container))),
        };
        let mut build = kind.identify(&program, host)?;
        host.note(&mut build)?;
        let build = &build;
        let order = LaunchOrder {
            name: kind.name(),
            build,
            account,
            inside: Inside { container: inside, binds: &[content.root()] },
            listen: options.listen,
            ports: &options.ports,
            cpus: &options.cpus,
            nice: options.nice,
            memory: options.memory,
            error_log: kind.error_log(),
        };
        Server::launch(&order, &Web { kind, options, content, build, account }, dir)
    }

    /// Starts the service in its own folder under `dir`, and waits until it is ready. Fails when it does not come up,
    /// and when the user cancels.
    pub fn launch(order: &LaunchOrder<'_>, service: &dyn Service, dir: &Path) -> Result<Server, ServerError> {
        may_be_nice(order.nice, order.account)?;
        has_way(order.listen).map_err(ServerError::Refused)?;
        let mut taken = Vec::new();
        for index in 0..if order.ports.is_empty() { PORTS } else { order.ports.len() } {
            let port = match order.ports.get(index) {
                None => Port::free(order.listen).map_err(ServerError::Failed)?,
                Some(number) => match Port::reserve(*number) {
                    Some(port) => port,
                    None => {
                        taken.push(format!("{number} is that of another server of this process"));
                        continue;
                    }
                },
            };
            match attempt(order, service, dir, port)? {
                Attempt::Up(server) => return Ok(*server),
                Attempt::Taken(why) => taken.push(why),
            }
        }
        Err(ServerError::Failed(format!(
            "{} found no port of {} to listen on: {}",
            order.name,
            order.listen,
            taken.join("; ")
        )))
    }

    /// The name in results: `nginx`, `redis`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn build(&self) -> &Build {
        &self.build
    }

    /// The resolved options: `("workers", "2")`.
    pub fn setup(&self) -> &[(&'static str, String)] {
        &self.setup
    }

    /// The account that it runs as, when that is not ours.
    pub fn account(&self) -> Option<&str> {
        self.account.as_ref().map(|account| account.name.as_str())
    }

    /// The address by which this machine reaches it.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(reached(self.listen), self.port.number())
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    /// The process group of its processes.
    pub fn pgid(&self) -> i32 {
        self.group.pgid()
    }

    /// Its private folder, until it is stopped.
    pub fn folder(&self) -> Option<&Path> {
        self.place.as_ref().map(PrivateFolder::path)
    }

    /// CPU time of its processes so far. Fails when they are gone.
    pub fn usage(&self) -> Result<tree::Usage, String> {
        tree::Usage::from_processes(self.processes()?)
    }

    /// Its living processes; in a container, those of that container. Fails when /proc cannot be read.
    pub fn processes(&self) -> Result<Vec<tree::Stat>, String> {
        match &self.contained {
            None => tree::members(self.group.pgid()),
            Some(running) => running.processes(self.group.pgid()),
        }
    }

    /// One of its processes, the first one where it is known.
    pub fn leader(&self) -> Option<i32> {
        match &self.contained {
            None => Some(self.group.pgid()),
            Some(_) => self.processes().ok()?.last().map(|stat| stat.pid),
        }
    }

    /// True if a process calls itself by this number that is of this server.
    pub fn is_process(&self, number: Option<u64>) -> bool {
        let Some(number) = number.and_then(|number| i32::try_from(number).ok()) else { return false };
        match &self.contained {
            None => number == self.group.pgid(),
            Some(_) => contained::is_named(&self.processes().unwrap_or_default(), number),
        }
    }

    /// The control group that limits its memory; `None` without a limit.
    pub fn control_group(&self) -> Option<&Path> {
        self.room.as_ref().map(Room::folder)
    }

    /// Its memory use; `None` without a limit.
    pub fn memory(&self) -> Option<Use> {
        self.room.as_ref().map(Room::usage)
    }

    /// Fails when its first process has ended, with how it ended and its last output.
    pub fn check(&mut self) -> Result<(), String> {
        match self.group.try_wait()? {
            None => Ok(()),
            Some(exit) => {
                self.stderr.drain();
                let why = self.room.as_ref().and_then(Room::killed).unwrap_or_default();
                Err(format!("{} ended ({}){why}{}", self.name, exit.status, self.last_words()))
            }
        }
    }

    /// Its last output on standard error and in its log, as the end of a sentence.
    pub fn last_words(&self) -> String {
        let log = self.error_log.zip(self.folder()).map(|(name, folder)| end_of(&folder.join(name)));
        let said = [self.stderr.so_far().last_lines(3), log.unwrap_or_default()];
        let said: Vec<&str> = said.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        if said.is_empty() { String::new() } else { format!("; its last words: {}", said.join(" | ")) }
    }

    /// Ends it, waits until every process is gone, and removes its folder. Fails when a process does not end.
    pub fn stop(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(place) = self.place.take() else { return Ok(()) };
        // Asked first, since httpd has semaphores to give back; whatever comes of it, it is killed below.
        let _asked = self.group.signal(SIGTERM);
        let _ended = within(END, || !matches!(self.group.try_wait(), Ok(None)));
        self.group.end();
        // Its container goes by the tool that started it.
        self.contained.iter_mut().for_each(Running::remove);
        let _reaped = within(GONE, || !matches!(self.group.try_wait(), Ok(None)));
        let mut left = Ok(Vec::new());
        let gone = within(GONE, || {
            left = self.processes();
            matches!(&left, Ok(left) if left.is_empty())
        });
        let removed = place.remove();
        let closed = self.room.take().map_or(Ok(()), Room::remove);
        match (gone, left) {
            (true, _) => removed.and(closed),
            (false, Ok(left)) => Err(format!(
                "{} was killed and is still there: processes {}",
                self.name,
                left.iter().map(|stat| stat.pid.to_string()).collect::<Vec<_>>().join(", ")
            )),
            (false, Err(why)) => Err(why),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A drop has nobody to tell; `stop` does.
        let _ended = self.end();
    }
}

/// Repeats the question until it is true; `false` after `time`.
pub(crate) fn within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end_ns = clock::now_ns().saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    loop {
        if is_so() {
            return true;
        }
        if clock::now_ns() >= end_ns {
            return false;
        }
        thread::sleep(PAUSE);
    }
}

/// As [`within`], and `false` once the user has cancelled.
pub(crate) fn up_within(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let progress = progress::current();
    let mut is_up = false;
    within(time, || {
        is_up = is_so();
        is_up || progress.is_cancelled()
    });
    is_up
}

/// The last lines of a log; empty when there is no log.
fn end_of(path: &Path) -> String {
    use std::io::{Read, Seek, SeekFrom};
    // The folder belongs to the server's account, which may have put anything there.
    const NOFOLLOW_NONBLOCK: i32 =
        (rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits()) as i32;
    let mut bytes = Vec::new();
    let open = std::fs::OpenOptions::new().read(true).custom_flags(NOFOLLOW_NONBLOCK).open(path);
    let read = open.and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES)))?;
        file.take(LOG_BYTES).read_to_end(&mut bytes)
    });
    let mut tail = shell::Tail::new(usize::try_from(LOG_BYTES).unwrap_or(usize::MAX));
    if read.is_ok() {
        tail.add(&bytes);
    }
    tail.last_lines(3)
}

fn may_be_nice(nice: i32, account: Option<&Unprivileged>) -> Result<(), ServerError> {
    match nice < 0 && account.is_none() {
        true => Err(ServerError::Refused(format!("nice={nice}: below 0 needs root"))),
        false => Ok(()),
    }
}

fn attempt(
    order: &LaunchOrder<'_>,
    service: &dyn Service,
    dir: &Path,
    port: Port,
) -> Result<Attempt, ServerError> {
    let place = PrivateFolder::make(dir, order.account).map_err(ServerError::Failed)?;
    let number = port.number();
    let recipe = service.recipe(&place, number)?;
    let mut setup = recipe.setup.clone();
    let room = order.memory.map(Room::make).transpose().map_err(ServerError::Refused)?;
    setup.extend(room.as_ref().map(|room| ("memory", show_bytes(room.limit()))));
    setup.extend(room.as_ref().filter(|room| room.may_swap()).map(|_| ("swap", "not limited".to_owned())));
    let (group, stderr, contained) = spawn(recipe, order, &place, room.as_ref()).map_err(|why| {
        // Containers may take this right from root.
        let nice = match order.nice {
            ..0 => format!(" (nice={} needs CAP_SYS_NICE)", order.nice),
            _ => String::new(),
        };
        let join =
            room.as_ref().map(|room| format!(" (it must be able to join {})", room.folder().display()));
        ServerError::Failed(format!("cannot start {}: {why}{nice}{}", order.name, join.unwrap_or_default()))
    })?;
    let mut server = Box::new(Server {
        name: order.name,
        build: order.build.clone(),
        setup,
        account: order.account.cloned(),
        listen: order.listen,
        port,
        error_log: order.error_log,
        stderr,
        group,
        contained,
        room,
        place: Some(place),
    });
    let mut ended = None;
    let mut answer = Err("it was never asked".to_owned());
    let _up = up_within(UP, || {
        // Before it is asked: a server that is not ours may answer while ours fails to get the port.
        ended = server.check().err();
        if ended.is_some() {
            return true;
        }
        answer = service.ready(&server);
        answer.is_ok()
    });
    match (ended, answer) {
        (Some(why), _) if why.contains("in use") => Ok(Attempt::Taken(format!("{number} is taken ({why})"))),
        (Some(why), _) => Err(ServerError::Failed(why)),
        (None, Ok(())) => Ok(Attempt::Up(server)),
        (None, Err(why)) => Err(late(&server, &why)),
    }
}

/// The error for a server of ours that is not ready in time.
pub(crate) fn late(server: &Server, why: &str) -> ServerError {
    if let Err(left) = progress::current().check() {
        return ServerError::Failed(left);
    }
    let seconds = UP.as_secs();
    ServerError::Failed(format!(
        "{} is not ready after {seconds} s: {why}{}",
        server.name,
        server.last_words()
    ))
}

fn spawn(
    recipe: Recipe,
    order: &LaunchOrder<'_>,
    place: &PrivateFolder,
    room: Option<&Room>,
) -> Result<(Guarded, Stream, Option<Running>), String> {
    let (mut command, contained) = order.inside.wrapped(recipe.command, place.path(), order.cpus)?;
    let stdin = if recipe.input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped());
    // Messages in English, since some of them are understood here.
    command.current_dir(place.path()).env("LC_ALL", "C");
    let account = order.account.map(|chosen| chosen.account.clone());
    let control_group = room.map(|room| room.folder().to_owned());
    let start = Start { nice: order.nice, account, control_group, ..Start::default() };
    let cpus = match order.cpus {
        [] => sys::affinity::allowed().map_err(|error| error.to_string())?,
        cpus => cpus.to_vec(),
    };
    let mut group = shell::on(&cpus, || with_open_files(|| Guarded::spawn(command, start)))?;
    let stderr = group.child().stderr.take().ok_or("it has no standard error")?;
    let stderr = Stream::read(stderr, STDERR_BYTES)?;
    if let (Some(text), Some(mut pipe)) = (recipe.input, group.child().stdin.take()) {
        // A server that has ended already is found to have ended.
        let _read = pipe.write_all(text.as_bytes());
    }
    Ok((group, stderr, contained))
}

/// Starts something with the highest allowed limit of open files, because httpd cannot raise its limit itself.
fn with_open_files<T>(start: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let former = getrlimit(Resource::Nofile);
    let set = |limit: Rlimit| {
        let failed = |error| format!("cannot change the limit of open files: {error}");
        setrlimit(Resource::Nofile, limit).map_err(failed)
    };
    set(Rlimit { current: former.maximum, maximum: former.maximum })?;
    let started = start();
    set(former)?;
    started
}
