//! One client of RAMCloud: a process of the helper that has the user's library loaded and is connected to a cluster.
//!
//! It makes one request after the other and times each itself; a session is asked from one thread at a time. Its
//! process ends with the session, with this program, and when it does not answer for longer than its patience.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use sys::process::Start;

use super::compile;
use super::frames::{self, Batch, MOST_FRAME, Outcome, Reply, VERSION};
use super::status::Trouble;
use crate::bench::net::frame::Wait;
use crate::bench::net::pipe::{Lost, Pipe};
use crate::workload::guard::Guarded;
use crate::workload::server::run::within;
use crate::workload::shell::{self, STDERR_BYTES, Stream};

/// How long the library may think about one call, or about a batch beyond its own limit.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// No batch goes on for longer, so that silence means something.
pub const SLICE: Duration = Duration::from_secs(1);
/// How long the helper may take to disconnect.
const END: Duration = Duration::from_secs(1);

/// Where a cluster is, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// A path, or a name that the loader looks for.
    pub library: String,
    /// `tcp:host=H,port=P` or `zk:...`, as RAMCloud has it.
    pub locator: String,
    pub cluster: String,
    /// The CPUs that clients may use; empty is those of the thread that opens one.
    pub cpus: Vec<usize>,
    /// So many of them are each client's own; `None`: each may use all.
    pub each: Option<usize>,
}

/// The results of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub outcomes: Vec<Outcome>,
    /// The value that came last, where it was wanted.
    pub value: Vec<u8>,
}

#[derive(Debug)]
pub struct Session {
    socket: UnixStream,
    stderr: Stream,
    group: Guarded,
    patience: Duration,
    /// It answers no more.
    lost: bool,
    out: Vec<u8>,
    inbox: Vec<u8>,
}

/// Fails when the library cannot be loaded or lacks a function that is needed.
pub fn check(library: &str) -> Result<(), Trouble> {
    Session::load(library, &[]).map(drop)
}

impl Access {
    /// The same for the nth client: on its own CPUs, going round.
    pub fn nth(&self, nth: usize) -> Access {
        let Some(each) = self.each else { return self.clone() };
        let each = each.min(self.cpus.len());
        let cpus = self.cpus.iter().cycle().skip(nth.saturating_mul(each)).take(each).copied().collect();
        Access { cpus, ..self.clone() }
    }

    /// A client of its own, connected, with a time limit for each of its calls. Fails when it cannot start or connect.
    pub fn open(&self, patience: Duration) -> Result<Session, Trouble> {
        let mut session = Session::load(&self.library, &self.cpus)?;
        session.patience = patience;
        frames::connect(&mut session.out, &self.locator, &self.cluster);
        session.done("rc_connect")?;
        Ok(session)
    }
}

impl Session {
    /// The helper with the library loaded, not connected yet.
    fn load(library: &str, cpus: &[usize]) -> Result<Session, Trouble> {
        let helper = |error: &dyn std::fmt::Display| Trouble::Helper(error.to_string());
        let program = compile::helper().map_err(Trouble::Helper)?;
        let (socket, theirs) = UnixStream::pair().map_err(|error| helper(&error))?;
        let input = theirs.try_clone().map_err(|error| helper(&error))?;
        let mut command = Command::new(&program);
        command.arg(library).stdin(OwnedFd::from(input)).stdout(OwnedFd::from(theirs)).stderr(Stdio::piped());
        command.env("LC_ALL", "C");
        let allowed = match cpus {
            [] => sys::affinity::allowed().map_err(|error| helper(&error))?,
            cpus => cpus.to_vec(),
        };
        let started = shell::on(&allowed, || Guarded::spawn(command, Start::default()));
        let mut group = started.map_err(|why| helper(&format!("{}: {why}", program.display())))?;
        let stderr = group.child().stderr.take().ok_or_else(|| helper(&"it has no standard error"))?;
        let stderr = Stream::read(stderr, STDERR_BYTES).map_err(Trouble::Helper)?;
        let (out, inbox, patience) = (Vec::new(), Vec::new(), PATIENCE);
        let mut session = Session { socket, stderr, group, patience, lost: false, out, inbox };
        match session.hear("dlopen", PATIENCE)? {
            Reply::Done(VERSION) => Ok(session),
            Reply::Failed(trouble) => Err(trouble),
            _ => Err(session.stranger("dlopen")),
        }
    }

    /// Makes a table and uses it from now on. Fails when the library does.
    pub fn create(&mut self, table: &str) -> Result<(), Trouble> {
        frames::table(&mut self.out, b'T', table);
        self.done("rc_createTable")
    }

    /// Uses an existing table. Fails when there is none of that name.
    pub fn choose(&mut self, table: &str) -> Result<(), Trouble> {
        frames::table(&mut self.out, b'G', table);
        self.done("rc_getTableId")
    }

    /// Drops a table with everything in it. Fails when the library does.
    pub fn discard(&mut self, table: &str) -> Result<(), Trouble> {
        frames::table(&mut self.out, b'D', table);
        self.done("rc_dropTable")
    }

    /// Sets the value that later writes store. Fails when the helper is gone.
    pub fn value(&mut self, value: &[u8]) -> Result<(), Trouble> {
        frames::value(&mut self.out, value);
        self.done("a new value")
    }

    /// Makes the requests of a batch, or as many as its limit allows; one at least. Fails when the helper does.
    pub fn run(&mut self, batch: &Batch<'_>) -> Result<Made, Trouble> {
        let call = batch.kind.call();
        frames::batch(&mut self.out, batch);
        let limit = Duration::from_nanos(batch.limit_ns).min(SLICE);
        self.say(call)?;
        match self.hear(call, self.patience + limit)? {
            Reply::Made { outcomes, value } if !outcomes.is_empty() => Ok(Made { outcomes, value }),
            Reply::Failed(trouble) => Err(trouble),
            _ => Err(self.stranger(call)),
        }
    }

    fn done(&mut self, call: &str) -> Result<(), Trouble> {
        self.say(call)?;
        match self.hear(call, self.patience)? {
            Reply::Done(_) => Ok(()),
            Reply::Failed(trouble) => Err(trouble),
            Reply::Made { .. } => Err(self.stranger(call)),
        }
    }

    fn say(&mut self, call: &str) -> Result<(), Trouble> {
        if self.lost {
            // What it still had to say would be taken for its answer to this.
            return Err(Trouble::Helper(format!("{call} is not asked of it, since it was given up before")));
        }
        let pipe = Pipe::new(self.socket.as_fd(), Wait::Block, self.patience).map_err(Trouble::Helper)?;
        let sent = pipe.send_all(&self.out);
        sent.map_err(|lost| self.trouble(lost, call, self.patience))
    }

    fn hear(&mut self, call: &str, patience: Duration) -> Result<Reply, Trouble> {
        match self.receive(patience) {
            Ok(true) => frames::reply(&self.inbox).ok_or_else(|| self.stranger(call)),
            Ok(false) => Err(self.stranger(call)),
            Err(lost) => Err(self.trouble(lost, call, patience)),
        }
    }

    /// The next frame, into the inbox; `false` where it is longer than any.
    fn receive(&mut self, patience: Duration) -> Result<bool, Lost> {
        // A time limit that cannot be set is one that is too long or short, which none of ours is.
        let pipe = Pipe::new(self.socket.as_fd(), Wait::Block, patience).map_err(|_| Lost::Silent)?;
        let mut head = [0; 4];
        pipe.recv_all(&mut head)?;
        let Ok(length) = usize::try_from(u32::from_ne_bytes(head)) else { return Ok(false) };
        if length > MOST_FRAME {
            return Ok(false);
        }
        self.inbox.resize(length, 0);
        pipe.recv_all(&mut self.inbox)?;
        Ok(true)
    }

    #[cold]
    fn stranger(&mut self, call: &str) -> Trouble {
        self.lost = true;
        Trouble::Helper(format!("it answers {call} with something else"))
    }

    #[cold]
    fn trouble(&mut self, lost: Lost, call: &str, patience: Duration) -> Trouble {
        self.lost = true;
        let call = call.to_owned();
        match lost {
            Lost::Silent => Trouble::Hangs { call, seconds: patience.as_secs() },
            Lost::Ended => Trouble::Ended { call, how: self.end_of() },
            Lost::Broken(error) => Trouble::Helper(format!("{call}: {error}")),
        }
    }

    /// How the process ended, with its last words.
    fn end_of(&mut self) -> String {
        let mut ended = None;
        within(END, || {
            ended = self.group.try_wait().ok().flatten();
            ended.is_some()
        });
        self.stderr.drain();
        let how = ended.map_or("it closed its pipes".to_owned(), |exit| exit.status.to_string());
        match self.stderr.so_far().last_lines(2) {
            said if said.is_empty() => how,
            said => format!("{how}; its last words: {said}"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.lost {
            frames::quit(&mut self.out);
            // One that has ended, or does not in time, is killed by its group.
            let sent = Pipe::new(self.socket.as_fd(), Wait::Block, END).map(|pipe| pipe.send_all(&self.out));
            if matches!(sent, Ok(Ok(()))) {
                let _ended = within(END, || !matches!(self.group.try_wait(), Ok(None)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_cpus_of_its_own() {
        let of = |cpus: &[usize], each: Option<usize>, nth: usize| {
            let (library, locator, cluster) = (String::new(), String::new(), String::new());
            Access { library, locator, cluster, cpus: cpus.to_vec(), each }.nth(nth).cpus
        };
        assert_eq!(of(&[3, 2, 1, 0], Some(2), 0), [3, 2]);
        assert_eq!(of(&[3, 2, 1, 0], Some(2), 1), [1, 0]);
        assert_eq!(of(&[3, 2, 1, 0], Some(2), 2), [3, 2]);
        assert_eq!(of(&[5], Some(2), 4), [5]);
        assert_eq!(of(&[1, 0], None, 3), [1, 0]);
        assert_eq!(of(&[], Some(2), 1), [] as [usize; 0]);
    }
}
