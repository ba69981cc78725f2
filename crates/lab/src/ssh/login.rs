//! Logins: the system's ssh, with the user's configuration, opens one connection to a host and stays as its master.
//!
//! A connection that an earlier command left open is used again. No name reaches a shell: ssh is started with a list of
//! arguments, and hosts were checked before.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use sys::process::{Interest, ProcessGroup, Start};

use super::failure::{Failure, Stage};
use super::host::Host;
use super::log::Log;
use super::mux::{Mux, MuxError};
use super::sockets::Sockets;
use crate::stop::{Cut, Limit, Stop};

/// Logins that may be under way to one address at once: sshd drops connections from the eleventh on (MaxStartups).
const AT_ONCE: usize = 8;

/// How often a login is tried that the host closed early.
const TRIES: u32 = 4;

/// How long a master may take to answer on its own socket.
const GREETING: Duration = Duration::from_secs(5);

/// How long a master that is to be closed stays at most.
const LEAST_KEEP: u64 = 10;

/// A login takes at most this many times the limit of connecting: keys and authentication come behind it.
const STEPS: u32 = 3;

/// How often a child is looked after where the kernel tells nobody of its end (before Linux 5.3).
const TICK: Duration = Duration::from_millis(20);

/// How often the words of a login are taken.
const LISTEN: Duration = Duration::from_millis(100);

/// Reads of its words at most, each time: 256 KiB, more than its pipe holds.
const READS: usize = 32;

/// How hosts are reached.
#[derive(Clone, Debug)]
pub struct Options {
    /// Hosts at once.
    pub width: usize,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long a command may take; `None`: as long as it will.
    pub limit: Option<Duration>,
    /// How long a connection stays open behind the last command, for the next one; zero closes it.
    pub keep: Duration,
    /// A configuration file in place of the user's own.
    pub config: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            width: 64,
            connect: Duration::from_secs(10),
            limit: None,
            keep: Duration::from_secs(60),
            config: None,
        }
    }
}

impl Options {
    /// How long a login may take in all.
    pub(super) fn login(&self) -> Duration {
        self.connect.saturating_mul(STEPS)
    }

    /// The same options, where commands end after `limit` if the user gives no limit.
    pub(super) fn with_limit(&self, limit: Duration) -> Options {
        Options { limit: Some(self.limit.unwrap_or(limit)), ..self.clone() }
    }
}

/// The arguments with which ssh opens the connection to a host.
pub fn arguments(host: &Host, socket: &Path, options: &Options) -> Vec<OsString> {
    let mut words = Words::new(&["-M", "-N", "-n"], options);
    words.option("ControlMaster", &"yes");
    words.option("ControlPath", &socket.display());
    words.option("ControlPersist", &options.keep.as_secs().max(LEAST_KEEP));
    words.option("LogLevel", &"DEBUG1");
    words.to(host, options)
}

/// The arguments with which ssh starts a command on a host and has its streams: over the connection that is open, else
/// over one of its own. The host's shell reads the command.
pub fn session_arguments(host: &Host, sockets: &Sockets, options: &Options, command: &str) -> Vec<OsString> {
    let mut words = Words::new(&[], options);
    words.option("ControlMaster", &"no");
    words.option("ControlPath", &sockets.path(host, options.config.as_deref()).display());
    // A connection that breaks is told at this level.
    words.option("LogLevel", &"INFO");
    let mut words = words.to(host, options);
    words.push(command.into());
    words
}

/// The command by which rsync reaches a host, over the connection that is open; rsync itself adds the host.
pub(super) fn remote_shell(host: &Host, sockets: &Sockets, options: &Options) -> OsString {
    let words = session_arguments(host, sockets, options, "");
    // Behind the options stand `--`, the host and the command.
    let options = words.iter().take_while(|word| *word != "--");
    let mut text = OsString::from("ssh");
    for word in options {
        // In rsync's quotation a quotation mark stands twice.
        text.push(" '");
        text.push(word.to_string_lossy().replace('\'', "''"));
        text.push("'");
    }
    text
}

/// Arguments of ssh as they are put together.
struct Words(Vec<OsString>);

impl Words {
    fn new(first: &[&str], options: &Options) -> Words {
        let mut words: Vec<OsString> = first.iter().chain(&["-T", "-x"]).map(OsString::from).collect();
        if let Some(config) = &options.config {
            words.extend(["-F".into(), config.clone().into_os_string()]);
        }
        Words(words)
    }

    fn option(&mut self, name: &str, value: &dyn std::fmt::Display) {
        self.0.extend(["-o".into(), OsString::from(format!("{name}={value}"))]);
    }

    /// Adds the options of every connection, and the host.
    fn to(mut self, host: &Host, options: &Options) -> Vec<OsString> {
        self.option("BatchMode", &"yes");
        self.option("ConnectTimeout", &options.connect.as_secs().max(1));
        self.option("ServerAliveInterval", &5);
        self.option("ServerAliveCountMax", &3);
        self.option("ClearAllForwardings", &"yes");
        self.option("RemoteCommand", &"none");
        self.option("UpdateHostKeys", &"no");
        if let Some(address) = host.address() {
            self.option("HostName", &address);
        }
        if let Some(port) = host.port() {
            self.option("Port", &port);
        }
        if let Some(user) = host.user() {
            self.option("User", &user);
        }
        self.0.extend(["--".into(), host.name().into()]);
        self.0
    }
}

/// Bounds the logins that are under way at once.
#[derive(Debug, Default)]
pub(super) struct Gate {
    under_way: Mutex<HashMap<String, usize>>,
    freed: Condvar,
    /// Set once a host closed a login early: from then on few are under way in all, since all may go through one host.
    crowded: AtomicBool,
}

/// A login that may go on; the next one may when it is dropped.
struct Slot<'a> {
    gate: &'a Gate,
    key: String,
}

impl Gate {
    /// Waits until a login to this host may begin.
    fn enter(&self, host: &Host, stop: &Stop) -> Result<Slot<'_>, Failure> {
        let key = host.address().unwrap_or(host.name()).to_owned();
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if stop.is_requested() {
                return Err(Failure::Interrupted { begun: false });
            }
            let all: usize = under_way.values().sum();
            let here = under_way.get(&key).copied().unwrap_or(0);
            if here < AT_ONCE && (all < AT_ONCE || !self.crowded.load(Ordering::Relaxed)) {
                under_way.insert(key.clone(), here + 1);
                return Ok(Slot { gate: self, key });
            }
            let waited = self.freed.wait_timeout(under_way, Duration::from_millis(100));
            under_way = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut under_way = self.gate.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        match under_way.get_mut(&self.key) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(under_way.remove(&self.key)),
        }
        self.gate.freed.notify_all();
    }
}

/// The things that all logins of a fan-out share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach<'a> {
    pub options: &'a Options,
    pub sockets: &'a Sockets,
    pub gate: &'a Gate,
    pub stop: &'a Stop,
}

impl Reach<'_> {
    pub(super) fn limit(&self, length: Option<Duration>) -> Limit<'_> {
        Limit::from_now(self.stop, length)
    }

    pub(super) fn socket(&self, host: &Host) -> PathBuf {
        self.sockets.path(host, self.options.config.as_deref())
    }

    /// The connection to this host that is open already, if one is.
    pub(super) fn existing(&self, host: &Host) -> Result<Option<Mux>, Failure> {
        let path = self.socket(host);
        match Mux::connect(&path, self.limit(Some(GREETING))) {
            Ok(mux) => Ok(Some(mux)),
            Err(MuxError::Cut(Cut::Interrupted)) => Err(Failure::Interrupted { begun: false }),
            Err(MuxError::Cut(Cut::Failed(said)) | MuxError::Foreign(said)) => Err(Failure::Other { said }),
            // Nobody answers there: the next master needs the name.
            Err(MuxError::Gone | MuxError::Cut(Cut::TimedOut)) => match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    Err(Failure::Other { said: format!("its old connection cannot be removed: {error}") })
                }
                _ => Ok(None),
            },
        }
    }

    /// Logs in anew.
    pub(super) fn log_in(&self, host: &Host) -> Result<Mux, Failure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let slot = self.gate.enter(host, self.stop)?;
            let done = self.master(host);
            drop(slot);
            match done {
                Ok(()) => break,
                Err(Failure::Closed { .. }) if tries < TRIES => {
                    self.gate.crowded.store(true, Ordering::Relaxed);
                    // Drawn, so that those that were closed together do not come back together.
                    let drawn = sys::clock::now_ns() / 1000 % 500;
                    let pause = self.limit(None).pause(Duration::from_millis(200 * u64::from(tries) + drawn));
                    pause.map_err(|_| Failure::Interrupted { begun: false })?;
                }
                Err(failure) => return Err(failure),
            }
        }
        let missing = || Failure::Other { said: "ssh logged in and left no connection to use".to_owned() };
        self.existing(host)?.ok_or_else(missing)
    }

    /// Starts the ssh that stays as the host's master, and waits until it has logged in.
    fn master(&self, host: &Host) -> Result<(), Failure> {
        let mut command = Command::new("ssh");
        command.args(arguments(host, &self.socket(host), self.options));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let no_client = |error: sys::Error| Failure::NoClient { said: error.to_string() };
        let mut child = ProcessGroup::spawn(command, Start::default()).map_err(no_client)?;
        let stderr = child.child.stderr.take();
        let mut words = Heard { log: Log::default(), stderr };
        match wait_for(&mut child, &mut words, self.limit(Some(self.options.login()))) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(_)) => Err(words.log.failure(self.options.connect.as_secs_f64())),
            // Another program was faster. This ssh, which would wait without end, is killed by the drop.
            Ok(None) => Ok(()),
            Err(Cut::Interrupted) => Err(Failure::Interrupted { begun: false }),
            Err(Cut::Failed(said)) => Err(Failure::Other { said }),
            Err(Cut::TimedOut) => {
                let stage: Stage = words.log.stage();
                Err(Failure::Slow { stage, seconds: self.options.login().as_secs_f64() })
            }
        }
    }

    /// Closes the connection to the host, if one is open, also where the user has stopped the rest. One that cannot be
    /// asked ends by itself, some seconds after its last command.
    pub(super) fn close(&self, host: &Host) {
        let Ok(own) = Stop::new() else { return };
        let limit = Limit::from_now(&own, Some(GREETING));
        let socket = self.socket(host);
        let Ok(mut mux) = Mux::connect(&socket, limit) else { return };
        if mux.terminate().is_ok() {
            while mux.wait(limit).is_ok() {}
            // It ends just before it removes the socket.
            while socket.exists() && limit.pause(Duration::from_millis(2)).is_ok() {}
        }
    }
}

/// The words of a login so far, and where more come from.
struct Heard {
    log: Log,
    /// Closed once it has ended.
    stderr: Option<ChildStderr>,
}

impl Heard {
    /// Takes what has arrived; at most one read.
    fn take(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut chunk = [0; 8192];
        match stderr.read(&mut chunk) {
            Ok(count) if count > 0 => self.log.push(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => self.stderr = None,
        }
    }

    /// Takes what has arrived without waiting for more: a master that stays may hold its stderr open.
    fn drain(&mut self) -> Result<(), Cut> {
        for _ in 0..READS {
            let Some(stderr) = &self.stderr else { break };
            let ready = sys::process::poll_read(&[stderr.as_fd()], Some(Duration::ZERO));
            match ready.map_err(|error| Cut::Failed(error.to_string()))?.first() {
                Some(true) => self.take(),
                _ => break,
            }
        }
        Ok(())
    }
}

/// Waits until the child has ended; `None` once its log says that it will not. Its words are taken now and then: a
/// login says seventy lines, each of which would wake this thread.
fn wait_for(
    child: &mut ProcessGroup,
    words: &mut Heard,
    limit: Limit<'_>,
) -> Result<Option<ExitStatus>, Cut> {
    // Without it the child's end is looked for each tick.
    let ended = pidfd_open(Pid::from_child(&child.child), PidfdFlags::empty()).ok();
    let tick = if ended.is_some() { LISTEN } else { TICK };
    let interests: Vec<Interest<'_>> =
        ended.as_ref().map(|ended| Interest::Read(ended.as_fd())).into_iter().collect();
    loop {
        let paused = limit.pause_or(tick, &interests);
        let exit = child.try_wait().map_err(|error| Cut::Failed(error.to_string()))?;
        words.drain()?;
        if let Some(exit) = exit {
            return Ok(Some(exit.status));
        }
        paused?;
        if words.log.was_beaten() {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_gets_a_list_of_words_and_the_host_behind_the_options() {
        let host = Host::new("atom1", Some("10.0.0.1"), Some("root"), Some(2222)).unwrap();
        let options = Options { config: Some("/c".into()), ..Options::default() };
        let words: Vec<String> = arguments(&host, Path::new("/s/x"), &options)
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        let has = |word: &str| words.iter().any(|one| one == word);
        for word in [
            "ControlPath=/s/x",
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=5",
            "ControlPersist=60",
            "HostName=10.0.0.1",
            "Port=2222",
            "User=root",
            "/c",
        ] {
            assert!(has(word), "{word}: {words:?}");
        }
        assert_eq!(words[words.len() - 2..], ["--", "atom1"]);
    }

    #[test]
    fn a_session_uses_the_connection_that_is_open_and_never_becomes_one() {
        let (host, sockets) = (Host::new("atom1", None, None, None).unwrap(), Sockets::open().unwrap());
        let words = session_arguments(&host, &sockets, &Options::default(), "exec '/a b/boxscore'");
        let words: Vec<String> = words.into_iter().map(|word| word.into_string().unwrap()).collect();
        assert!(
            words.iter().any(|word| word == "ControlMaster=no") && !words.iter().any(|word| word == "-M")
        );
        assert!(words.contains(&format!("ControlPath={}", sockets.path(&host, None).display())));
        assert_eq!(words[words.len() - 3..], ["--", "atom1", "exec '/a b/boxscore'"]);
    }

    #[test]
    fn at_most_eight_logins_to_an_address_are_under_way() {
        let (gate, stop) = (Gate::default(), Stop::new().unwrap());
        let host = |name: &str, address| Host::new(name, Some(address), None, None).unwrap();
        let names: Vec<Host> = (0..AT_ONCE).map(|n| host(&format!("a{n}"), "10.0.0.1")).collect();
        let mut slots: Vec<Slot<'_>> = names.iter().map(|host| gate.enter(host, &stop).unwrap()).collect();
        let other = gate.enter(&host("b", "10.0.0.2"), &stop);
        assert!(other.is_ok(), "another address is free");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.enter(&host("c", "10.0.0.1"), &stop).is_ok());
            assert!(!waiting.is_finished());
            slots.pop();
            assert!(waiting.join().unwrap());
        });
        gate.crowded.store(true, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.enter(&host("d", "10.0.0.3"), &stop).err());
            stop.request();
            assert_eq!(waiting.join().unwrap(), Some(Failure::Interrupted { begun: false }));
        });
    }
}
