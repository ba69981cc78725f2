//! The far end of a test: a host where a peer listens, a child that the study started there, or a child of this
//! process on other cores.
//!
//! Such a child is shared by all tests of a run. It listens on the loopback with a token of its own, and ends with the
//! last test.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use model::plan::FAR;
use model::{NoteBody, Record, Setup, Unfit};

use super::far::Far;
use super::frame::{PORT, random};
use super::peer::{self, PATIENCE, PeerOptions};
use super::place::{self, Places};
use super::way;
use crate::system_files::Root;
use crate::workload::guard::Guarded;
use crate::workload::helper_process;

/// The arguments with which this program runs [`peer::child`].
pub const ARGUMENTS: [&str; 2] = ["peer", "--child"];
pub const LOOPBACK: &str = "loopback";
/// Longest token, in bytes.
const MOST_TOKEN: u64 = 4096;

/// The far end and the CPUs of both ends.
#[derive(Debug)]
pub struct Target {
    pub address: SocketAddr,
    /// The name as the user gave it, with the port.
    pub name: String,
    pub token: Vec<u8>,
    /// CPUs for the threads of this end, in order.
    pub near: Vec<u32>,
    /// CPUs of the child; empty if the far end is not ours.
    pub far: Vec<u32>,
    /// Time limit for silence of the far end.
    pub patience: Duration,
    /// A sentence on where both ends run.
    pub place: String,
    /// True once `place` was noted.
    told: bool,
    child: Option<Arc<Child>>,
    /// The far end that the study started elsewhere.
    elsewhere: Option<Far>,
    /// Why that far end is lost.
    gone: OnceLock<String>,
    /// Set when a test asks the lost far end again.
    given_up: OnceLock<String>,
}

/// After this many failed attempts in a row, by any tests, a peer of the user's is given up. Until then it may have
/// been restarted.
const TRIES: u32 = 3;

/// Per address: failed attempts in a row, and why the last one failed.
static UNREACHED: Mutex<BTreeMap<SocketAddr, (u32, String)>> = Mutex::new(BTreeMap::new());

fn unreached() -> MutexGuard<'static, BTreeMap<SocketAddr, (u32, String)>> {
    // What is behind this lock is whole between two statements.
    UNREACHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The parameter `to`, before anything is asked of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    Loopback,
    /// Without a port it is the default one.
    Peer {
        host: String,
        port: Option<u16>,
    },
}

impl To {
    /// Parses the parameter. Fails when it names no host, or a port that is none.
    pub fn parse(text: &str) -> Result<To, Unfit> {
        let wrong =
            |what: &str| Unfit::new(format!("to={text}: {what}; write it as HOST, HOST:PORT or [IPv6]:PORT"));
        let text = text.trim();
        if text == LOOPBACK {
            return Ok(To::Loopback);
        }
        let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(None) => return Err(wrong("no `]`")),
            Some(Some((host, port))) => (host, port.strip_prefix(':').unwrap_or(port)),
            // An IPv6 address without brackets has no port.
            None if text.matches(':').count() > 1 => (text, ""),
            None => text.split_once(':').unwrap_or((text, "")),
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(wrong("no host"));
        }
        let port = match port {
            "" => None,
            port => match port.parse().ok() {
                Some(port) if port > 0 => Some(port),
                _ => return Err(wrong("a port is 1 to 65535")),
            },
        };
        Ok(To::Peer { host: host.to_owned(), port })
    }

    /// Reads `to` from a setup. Fails when it is malformed.
    pub fn from_setup(setup: &Setup) -> Result<To, Unfit> {
        let to = To::parse(setup.params.get("to").unwrap_or(LOOPBACK))?;
        match (&to, setup.params.get(FAR)) {
            (To::Loopback, Some(far)) => Err(Unfit::new(format!(
                "far={far}: --to must give the address at which this machine reaches it"
            ))),
            _ => Ok(to),
        }
    }

    /// The address of a host name. Fails when the name does not resolve.
    pub fn resolve(host: &str, port: Option<u16>) -> Result<SocketAddr, Unfit> {
        let found = (host, port.unwrap_or(PORT)).to_socket_addrs();
        let mut found = found.map_err(|error| Unfit::new(format!("{host} has no address: {error}")))?;
        found.next().ok_or_else(|| Unfit::new(format!("{host} has no address")))
    }
}

impl Target {
    /// Finds or starts the far end. Fails when it cannot be reached or started.
    pub fn prepare(setup: &Setup) -> Result<Target, Unfit> {
        let places = Places::divide(&setup.cpus);
        let token = match setup.params.get("token") {
            None | Some("none") => Vec::new(),
            Some(path) => read_token(Path::new(path)).map_err(Unfit::new)?,
        };
        let (host, port) = match To::from_setup(setup)? {
            To::Peer { host, port } => (host, port),
            To::Loopback => {
                let child = Child::get(&places.far).map_err(Unfit::new)?;
                let name = format!("{LOOPBACK} ({})", child.address);
                let ends = (places.near.clone(), places.far.clone());
                let mut target = Target::new(child.address, name, child.token.clone(), ends);
                (target.place, target.child) = (places.sentence(), Some(child));
                return Ok(target);
            }
        };
        let address = To::resolve(&host, port)?;
        let named = |port: u16| match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let near: Vec<u32> = setup.cpus.iter().rev().copied().collect();
        if let Some(name) = setup.params.get(FAR) {
            let far = Far::from_setup(setup, name, address.ip(), port.unwrap_or(0))?;
            let listens = far.ask().map_err(Unfit::new)?;
            let ends = far.places.as_ref().map(|places| (places.near.clone(), places.far.clone()));
            let name = format!("{} ({name})", named(listens.address.port()));
            let ends = ends.unwrap_or((near, Vec::new()));
            let mut target = Target::new(listens.address, name, listens.token, ends);
            (target.place, target.elsewhere) = (far.sentence(&target.near), Some(far));
            return Ok(target);
        }
        let mut target = Target::new(address, named(address.port()), token, (near, Vec::new()));
        target.place = format!("this end on CPU {}", target.near.first().copied().unwrap_or(0));
        Ok(target)
    }

    /// A target with the CPUs of this end, and those of the far end if it is on this machine.
    fn new(address: SocketAddr, name: String, token: Vec<u8>, (near, far): (Vec<u32>, Vec<u32>)) -> Target {
        Target {
            address,
            name,
            token,
            near,
            far,
            patience: PATIENCE,
            place: String::new(),
            told: false,
            child: None,
            elsewhere: None,
            gone: OnceLock::new(),
            given_up: OnceLock::new(),
        }
    }

    /// A target for a peer that listens at `address`, with no CPUs for this end.
    #[cfg(test)]
    pub fn at(address: SocketAddr, token: Vec<u8>, patience: Duration) -> Target {
        Target { patience, ..Target::new(address, address.to_string(), token, (Vec::new(), Vec::new())) }
    }

    /// Notes once where both ends run.
    pub fn tell(&mut self, record: &mut dyn Record) {
        if !std::mem::replace(&mut self.told, true) {
            record.remark("place", &self.place);
            if let Some(way) = way::sentence(&Root::live(), self.address.ip()) {
                record.remark("way", &way);
            }
            if let Some(name) = way::interface(&Root::live(), self.address.ip()) {
                record.note(NoteBody::Interface(name));
            }
        }
    }

    /// Binds the calling thread to the nth CPU of this end. Fails when the kernel refuses.
    pub fn pin(&self, nth: usize) -> Result<Option<sys::affinity::Pinned>, String> {
        place::pin(&self.near, nth)
    }

    /// The CPUs of this machine that a test of one thread keeps busy.
    pub fn busy(&self) -> Vec<u32> {
        place::busy(&self.near, &self.far)
    }

    /// `why`, with the reason why the peer has ended if it is a child.
    pub fn explain(&self, why: String) -> String {
        if let Some(how) = self.child.as_ref().and_then(|child| child.ended()) {
            return format!("{why}; the peer, a child of this program, ended: {how}");
        }
        match &self.elsewhere {
            Some(far) if self.gone.get().is_none() => match far.ask() {
                Ok(_) => why,
                Err(how) => format!("{why}; {}", self.gone.get_or_init(|| how)),
            },
            _ => why,
        }
    }

    /// Fails when the peer was lost in an earlier take, so that no further take waits for it in vain.
    pub fn there(&self) -> Result<(), String> {
        let why = match self.gone.get() {
            Some(why) => why.clone(),
            None => match unreached().get(&self.address) {
                Some((times, why)) if *times >= TRIES => why.clone(),
                _ => return Ok(()),
            },
        };
        Err(self.given_up.get_or_init(|| why).clone())
    }

    /// The reason why no further take can come: the peer was lost in an earlier take.
    pub fn given_up(&self) -> Option<String> {
        self.given_up.get().cloned()
    }

    /// Records that the peer answered.
    pub fn reached(&self) {
        unreached().remove(&self.address);
    }

    /// Records that the peer could not be reached, and returns the reason.
    pub fn missed(&self, why: String) -> String {
        let mut all = unreached();
        let (times, last) = all.entry(self.address).or_default();
        (*times, *last) = (times.saturating_add(1), why.clone());
        why
    }

    /// Advice if nothing listens.
    pub fn remedy(&self) -> String {
        match (&self.elsewhere, self.address) {
            (Some(_), _) => "the far end does, so this address leads somewhere else".to_owned(),
            (None, address) => format!(
                "start it there: boxscore peer --listen {}:{}",
                if address.is_ipv4() { "0.0.0.0" } else { "[::]" },
                address.port()
            ),
        }
    }
}

/// The bytes of a token file, without surrounding blanks and line ends. Fails when it cannot be read, is empty or is
/// too long.
pub fn read_token(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |what: String| format!("--token {}: {what}", path.display());
    let unread = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            wrong("no such file; it is a file with a secret, the same on both hosts".to_owned())
        }
        _ => wrong(error.to_string()),
    };
    let length = std::fs::metadata(path).map_err(unread)?.len();
    if length > MOST_TOKEN {
        return Err(wrong(format!("{length} B; a token has at most {MOST_TOKEN}")));
    }
    let bytes = std::fs::read(path).map_err(unread)?;
    match bytes.trim_ascii() {
        [] => Err(wrong("it is empty".to_owned())),
        token => Ok(token.to_vec()),
    }
}

/// A peer that this process started.
#[derive(Debug)]
struct Child {
    address: SocketAddr,
    token: Vec<u8>,
    cpus: Vec<u32>,
    process: Mutex<Guarded>,
}

static CHILDREN: Mutex<Vec<Weak<Child>>> = Mutex::new(Vec::new());

impl Child {
    /// The child on these CPUs; started now if it is not running. Fails when it cannot be started.
    fn get(cpus: &[u32]) -> Result<Arc<Child>, String> {
        let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|child| child.strong_count() > 0);
        let there = children.iter().filter_map(Weak::upgrade);
        if let Some(child) = there.into_iter().find(|child| child.cpus == cpus && child.ended().is_none()) {
            return Ok(child);
        }
        let child = Arc::new(Child::start(cpus)?);
        children.push(Arc::downgrade(&child));
        Ok(child)
    }

    fn start(cpus: &[u32]) -> Result<Child, String> {
        has_loopback()?;
        let options =
            PeerOptions { token: random()?.to_vec(), cpus: cpus.to_vec(), ..PeerOptions::default() };
        let (process, line) = helper_process::start(&ARGUMENTS, &peer::words(&options))?;
        let address = line.parse().map_err(|_| {
            "the peer on the loopback ended before it listened; `boxscore peer --listen 127.0.0.1:0` says why"
        })?;
        Ok(Child { address, token: options.token, cpus: options.cpus, process: Mutex::new(process) })
    }

    fn ended(&self) -> Option<String> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.try_wait().ok().flatten().map(|exit| exit.status.to_string())
    }
}

/// Fails when the loopback interface is down, as it is in a new network namespace.
fn has_loopback() -> Result<(), String> {
    let tried = UdpSocket::bind("127.0.0.1:0").and_then(|socket| {
        socket.connect(socket.local_addr()?)?;
        socket.send(b"?")
    });
    tried.map(drop).map_err(|error| {
        format!("the loopback does not work in this network namespace ({error}); `ip link set lo up` as root mends it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read() {
        let peer = |host: &str, port| To::Peer { host: host.to_owned(), port };
        for (text, to) in [
            ("loopback", To::Loopback),
            ("a", peer("a", None)),
            ("a:5", peer("a", Some(5))),
            ("10.0.0.1:65535", peer("10.0.0.1", Some(65535))),
            ("[::1]:9", peer("::1", Some(9))),
            ("[::1]", peer("::1", None)),
            ("fe80::1", peer("fe80::1", None)),
        ] {
            assert_eq!(To::parse(text), Ok(to), "{text}");
        }
        for bad in ["", ":5", "a:0", "a:x", "a:65536", "[::1", "a b", "[]:5", "[::1]x"] {
            assert!(To::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tokens_are_trimmed_and_have_a_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_token(&path)
        };
        assert_eq!(read(" a b\n"), Ok(b"a b".to_vec()));
        assert!(read(" \n").unwrap_err().contains("is empty"));
        assert!(read(&"x".repeat(5000)).unwrap_err().contains("5000 B"));
        assert!(read_token(&dir.path().join("none")).unwrap_err().contains("no such file"));
    }
}
