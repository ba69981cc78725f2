//! Notes that stay with a run: typed where the program decides by them, free remarks otherwise.
//!
//! Kind and text of each are made here. Documents show those two alone ([`NoteDoc`](crate::doc::NoteDoc)); the store,
//! exports and frames keep the notes as they are.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::format::{count, list, number};
use crate::job_tasks::JobTasks;
use crate::workers::ServerWorkers;

/// A note of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Monotonic time since the run's start; `None` for a note of the whole run.
    pub at_ns: Option<u64>,
    pub body: NoteBody,
}

/// The content of a note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteBody {
    /// Where a loaded server and the generators of its load ran.
    WebSetup(WebSetup),
    ServerBuild(ServerBuild),
    /// The compiler or virtual machine that figures are of.
    Toolchain(String),
    /// Results that are right, but not the reference's to the last bit.
    Bits(String),
    /// A cell that could not run.
    Unfit(Dropped),
    /// A cell that ran, and could not go on.
    GivenUp(Dropped),
    /// Blocks of a cell that were measured again.
    Again(Again),
    /// The first URL of a load whose answer had this status of 4xx or 5xx.
    Status {
        status: u16,
        first_url: String,
    },
    /// Where the redirects of a server lead.
    Redirect {
        to: String,
    },
    /// The coding of a load's answers, the first that one had: `gzip`.
    ContentEncoding {
        coding: String,
    },
    /// The user ended a load early.
    Cut(CutAt),
    /// The state of a server that stopped answering.
    ServerSilent(String),
    /// Why the limits of a loaded server's control groups are not known.
    ServerGroups(String),
    /// Samples of a profile, as folded stacks.
    Profile(String),
    /// The same of all that ran on the machine; the first frame of a stack is its program.
    SystemProfile(String),
    /// Why there is no profile.
    NoProfile(String),
    /// How the file of a replay was read.
    Replay(String),
    /// Keys of others in a store that is loaded.
    StoreHolds(String),
    /// A store that will not hold all keys of the load.
    StoreEvicts(String),
    /// Keys of the load that could not be deleted.
    KeysLeft(String),
    /// CPU seconds of the program that hands out the takes, in one sitting.
    ControllerCpu(f64),
    /// The part of them that was used while takes were under way, from each order to its answer. Only sittings that
    /// have an [`OwnCost`](crate::frame::OwnCost) have this note.
    ControllerTakesCpu(f64),
    /// The word for what ended a sitting.
    EndedBy(String),
    /// About a command of the user's: what it left behind or changed, and what was asked for and could not be done.
    Command(String),
    /// The user's own words.
    User(String),
    /// The processes of others that were busiest during a take, which were busy; none where they cannot be seen.
    Disturbers(Vec<Disturber>),
    /// Programs that listen where a loaded server is connected to.
    Backends(Vec<Backend>),
    /// The whole disks that do the work of the file of a disk test, by their names.
    TestDisks(Vec<String>),
    /// The network interface through which a test reached its far end: `lo`, `eth0`.
    Interface(String),
    /// The processes of a loaded server, where they are on this machine.
    ServerWorkers(ServerWorkers),
    /// The containers of a job on a cluster.
    JobTasks(JobTasks),
    /// A remark that is only shown; `kind` is one word.
    Remark {
        kind: String,
        text: String,
    },
}

/// A process of others that was busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturber {
    pub pid: i32,
    pub name: String,
    /// CPUs that it kept busy: 1 is one CPU all the time.
    #[serde(with = "crate::exact")]
    pub cpus: f64,
    /// A thread of the kernel.
    #[serde(default)]
    pub kernel: bool,
}

/// The first process of a system or of a container: with it everything ends.
const INIT: i32 = 1;

impl Disturber {
    /// How many a sentence names.
    pub const NAMED: usize = 3;

    /// `ramcloud (pid 123) 0.44, coordinator (pid 130) 0.31 of a CPU`; `None` where none is known.
    pub fn list(all: &[Disturber]) -> Option<String> {
        let one = |one: &Disturber| format!("{} (pid {}) {}", one.name, one.pid, number(one.cpus));
        let all: Vec<String> = all.iter().map(one).collect();
        (!all.is_empty()).then(|| format!("{} of a CPU", all.join(", ")))
    }

    /// These with shares that add up to no more than `total`: a process is looked at for longer than a take lasts, so
    /// that its share of the time may be larger than that of the take.
    pub fn within(all: &[Disturber], total: f64) -> Vec<Disturber> {
        let sum: f64 = all.iter().map(|one| one.cpus).sum();
        let factor = if sum > total { total.max(0.0) / sum } else { 1.0 };
        all.iter().map(|one| Disturber { cpus: one.cpus * factor, ..one.clone() }).collect()
    }

    /// False of what nobody can end without the system: its first process and the kernel's own threads.
    pub const fn can_be_ended(&self) -> bool {
        self.pid != INIT && !self.kernel
    }

    /// Advice against other programs, of which these are the busiest: `end them, or let --wait-idle wait for them`,
    /// where `who` is `them`.
    pub fn remedy(all: &[Disturber], who: &str) -> String {
        let ended = all.iter().filter(|one| one.can_be_ended()).count();
        match ended {
            ended if ended == all.len() => format!("end {who}, or let --wait-idle wait for them"),
            0 => "they cannot be ended here: let --wait-idle wait until they rest".to_owned(),
            _ => "end those that can be ended, or let --wait-idle wait for them".to_owned(),
        }
    }

    /// Which they are, to be put behind them: ` (ramcloud (pid 123) 0.44 of a CPU)`.
    pub fn aside(all: &[Disturber]) -> String {
        format!(" ({})", Disturber::list(all).unwrap_or_else(|| UNSEEN.to_owned()))
    }
}

/// Why busy processes have no name.
const UNSEEN: &str = "which ones cannot be seen here: /proc hides them, or they ended";

/// Where a loaded server and its generators ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSetup {
    /// The server's name in figures if no parameter names it: `nginx/1.22.1`. `None` for a web server of the user's.
    pub name: Option<String>,
    /// The server with its place: `nginx/1.22.1, 1 worker on CPU 0`.
    pub server: String,
    /// The generators with their place: `1 generator on CPU 1`.
    pub generators: String,
    /// Some CPU serves and generates.
    pub shares_cpus: bool,
}

impl WebSetup {
    /// The remark on CPUs that the server shares with its generators.
    pub fn shared(&self) -> Option<&'static str> {
        self.shares_cpus.then_some("server and generators share CPUs")
    }

    fn text(&self) -> String {
        let shared = self.shared().map_or_else(String::new, |shared| format!("; {shared}"));
        format!("{}; {}{shared}", self.server, self.generators)
    }
}

/// How a server was built, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerBuild {
    pub version: String,
    /// Path of the program.
    pub program: String,
    pub details: String,
    /// The width of the program, 32 or 64; `None` where it is not known.
    #[serde(default)]
    pub bits: Option<u8>,
}

impl ServerBuild {
    /// `nginx/1.22.1 (/usr/sbin/nginx, 64-bit)`.
    pub fn name(&self) -> String {
        let bits = self.bits.map_or_else(String::new, |bits| format!(", {bits}-bit"));
        format!("{} ({}{bits})", self.version, self.program)
    }
}

/// A cell that was dropped from an arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Title of the cell.
    pub what: String,
    /// Name of the arm; empty in a run without arms.
    pub arm: String,
    pub why: String,
}

impl Dropped {
    /// The reason; it names the arm in a run with arms.
    pub fn reason(&self) -> Cow<'_, str> {
        match self.arm.as_str() {
            "" => Cow::Borrowed(&self.why),
            arm => Cow::Owned(format!("arm {arm} cannot run: {}", self.why)),
        }
    }
}

/// Blocks of a cell that `resume` measured again, in all arms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// Title of the cell.
    pub what: String,
    /// The arms that had no figures in them; an empty name in a run without arms.
    pub arms: Vec<String>,
    pub blocks: usize,
}

impl Again {
    fn text(&self) -> String {
        let arms: Vec<String> =
            self.arms.iter().filter(|arm| !arm.is_empty()).map(|arm| format!("`{arm}`")).collect();
        let why = match arms.is_empty() {
            true => "it had no figures in them".to_owned(),
            false => format!("{} had no figures in them", list(&arms)),
        };
        format!(
            "{}: {} measured again by `resume`, since {why}; their first takes are kept and count no longer",
            self.what,
            count(self.blocks, "block")
        )
    }

    fn mends(&self, dropped: &Dropped) -> bool {
        self.what == dropped.what && self.arms.contains(&dropped.arm)
    }
}

/// The notes of cells that were dropped, but for those that were measured again later.
pub fn dropped(notes: &[Note]) -> impl Iterator<Item = &NoteBody> {
    notes.iter().enumerate().map(|(at, note)| (at, &note.body)).filter_map(move |(at, body)| {
        let (NoteBody::Unfit(dropped) | NoteBody::GivenUp(dropped)) = body else { return None };
        let mut later = notes.iter().skip(at).map(|note| &note.body);
        let is_mended = later.any(|body| matches!(body, NoteBody::Again(again) if again.mends(dropped)));
        (!is_mended).then_some(body)
    })
}

/// State of a load when the user ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutAt {
    /// It sent requests.
    Load,
    /// It still wrote its keys into the store.
    WritingKeys,
}

impl CutAt {
    const fn text(self) -> &'static str {
        match self {
            CutAt::Load => "the user ended the load before its time",
            CutAt::WritingKeys => "the user ended the load while its keys were written",
        }
    }
}

impl Note {
    /// A note of the whole run.
    pub fn of_run(body: NoteBody) -> Note {
        Note { at_ns: None, body }
    }

    pub fn kind(&self) -> &str {
        self.body.kind()
    }

    pub fn text(&self) -> Cow<'_, str> {
        self.body.text()
    }
}

impl NoteBody {
    pub fn remark(kind: &str, text: impl Into<String>) -> NoteBody {
        NoteBody::Remark { kind: kind.to_owned(), text: text.into() }
    }

    /// True for a kind that belongs to a typed note, so that no remark may have it.
    pub fn is_typed_kind(kind: &str) -> bool {
        matches!(
            kind,
            "web-setup"
                | "server-build"
                | "toolchain"
                | "bits"
                | "unfit"
                | "given-up"
                | "again"
                | "status"
                | "redirect"
                | "content-encoding"
                | "cut"
                | "server-silent"
                | "server-groups"
                | "profile"
                | "system-profile"
                | "no-profile"
                | "replay"
                | "store-holds"
                | "store-evicts"
                | "keys-left"
                | "controller-cpu-seconds"
                | "controller-takes-cpu-seconds"
                | "ended-by"
                | "command"
                | "note"
                | "disturbers"
                | "backends"
                | "test-disks"
                | "interface"
                | "server-workers"
                | "job-tasks"
        )
    }

    /// One word for the kind of note, as documents have it.
    pub fn kind(&self) -> &str {
        match self {
            NoteBody::WebSetup(_) => "web-setup",
            NoteBody::ServerBuild(_) => "server-build",
            NoteBody::Toolchain(_) => "toolchain",
            NoteBody::Bits(_) => "bits",
            NoteBody::Unfit(_) => "unfit",
            NoteBody::GivenUp(_) => "given-up",
            NoteBody::Again(_) => "again",
            NoteBody::Status { .. } => "status",
            NoteBody::Redirect { .. } => "redirect",
            NoteBody::ContentEncoding { .. } => "content-encoding",
            NoteBody::Cut(_) => "cut",
            NoteBody::ServerSilent(_) => "server-silent",
            NoteBody::ServerGroups(_) => "server-groups",
            NoteBody::Profile(_) => "profile",
            NoteBody::SystemProfile(_) => "system-profile",
            NoteBody::NoProfile(_) => "no-profile",
            NoteBody::Replay(_) => "replay",
            NoteBody::StoreHolds(_) => "store-holds",
            NoteBody::StoreEvicts(_) => "store-evicts",
            NoteBody::KeysLeft(_) => "keys-left",
            NoteBody::ControllerCpu(_) => "controller-cpu-seconds",
            NoteBody::ControllerTakesCpu(_) => "controller-takes-cpu-seconds",
            NoteBody::EndedBy(_) => "ended-by",
            NoteBody::Command(_) => "command",
            NoteBody::User(_) => "note",
            NoteBody::Disturbers(_) => "disturbers",
            NoteBody::Backends(_) => "backends",
            NoteBody::TestDisks(_) => "test-disks",
            NoteBody::Interface(_) => "interface",
            NoteBody::ServerWorkers(_) => "server-workers",
            NoteBody::JobTasks(_) => "job-tasks",
            NoteBody::Remark { kind, .. } => kind,
        }
    }

    /// The note for people, as documents have it.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            NoteBody::WebSetup(setup) => setup.text().into(),
            NoteBody::ServerBuild(build) => format!("{}: {}", build.name(), build.details).into(),
            NoteBody::Unfit(cell) | NoteBody::GivenUp(cell) => {
                format!("{}: {}", cell.what, cell.reason()).into()
            }
            NoteBody::Again(again) => again.text().into(),
            NoteBody::Status { status, first_url } => format!("{status} {first_url}").into(),
            NoteBody::Cut(at) => at.text().into(),
            NoteBody::TestDisks(disks) => disks.join(" ").into(),
            NoteBody::ServerWorkers(workers) => workers.text().into(),
            NoteBody::JobTasks(job) => job.text().into(),
            NoteBody::Disturbers(all) => Disturber::list(all).map_or_else(|| UNSEEN.into(), Into::into),
            NoteBody::Backends(all) => all.iter().map(Backend::text).collect::<Vec<_>>().join("; ").into(),
            NoteBody::ControllerCpu(seconds) | NoteBody::ControllerTakesCpu(seconds) => {
                format!("{seconds:.3}").into()
            }
            NoteBody::Toolchain(text)
            | NoteBody::Bits(text)
            | NoteBody::Redirect { to: text }
            | NoteBody::ContentEncoding { coding: text }
            | NoteBody::ServerSilent(text)
            | NoteBody::ServerGroups(text)
            | NoteBody::Profile(text)
            | NoteBody::SystemProfile(text)
            | NoteBody::NoProfile(text)
            | NoteBody::Replay(text)
            | NoteBody::Command(text)
            | NoteBody::StoreHolds(text)
            | NoteBody::StoreEvicts(text)
            | NoteBody::KeysLeft(text)
            | NoteBody::EndedBy(text)
            | NoteBody::User(text)
            | NoteBody::Interface(text)
            | NoteBody::Remark { text, .. } => text.as_str().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(arm: &str) -> Dropped {
        Dropped { what: "crc32c size=1KiB".into(), arm: arm.into(), why: "no SSE 4.2".into() }
    }

    fn all() -> Vec<(NoteBody, &'static str, &'static str)> {
        let setup = WebSetup {
            name: Some("nginx/1.22.1".into()),
            server: "nginx/1.22.1, 1 worker on CPU 0".into(),
            generators: "1 generator on CPU 0".into(),
            shares_cpus: true,
        };
        let build = ServerBuild {
            version: "n/1".into(),
            program: "/n".into(),
            details: "by gcc".into(),
            bits: Some(32),
        };
        let status = NoteBody::Status { status: 404, first_url: "http://a/b".into() };
        let busy = Disturber { pid: 123, name: "ramcloud".into(), cpus: 0.44, kernel: false };
        let repeated = "crc32c size=1KiB: 3 blocks measured again by `resume`, since `b` had no figures in them; \
                        their first takes are kept and count no longer";
        let filling = "the user ended the load while its keys were written";
        let shared =
            "nginx/1.22.1, 1 worker on CPU 0; 1 generator on CPU 0; server and generators share CPUs";
        let workers = ServerWorkers {
            name: "nginx".into(),
            pid: 7,
            threads: 1,
            alike: 2,
            busy: vec![7],
            all: Some((3, 3)),
        };
        let behind = Backend { socket: "127.0.0.1:8197".into(), connections: 4, ..Backend::default() };
        vec![
            (NoteBody::WebSetup(WebSetup { shares_cpus: true, ..setup }), "web-setup", shared),
            (NoteBody::ServerBuild(build), "server-build", "n/1 (/n, 32-bit): by gcc"),
            (NoteBody::Toolchain("t".into()), "toolchain", "t"),
            (NoteBody::Bits("t".into()), "bits", "t"),
            (NoteBody::Unfit(dropped("")), "unfit", "crc32c size=1KiB: no SSE 4.2"),
            (NoteBody::GivenUp(dropped("b")), "given-up", "crc32c size=1KiB: arm b cannot run: no SSE 4.2"),
            (NoteBody::Again(again("crc32c size=1KiB", "b")), "again", repeated),
            (status, "status", "404 http://a/b"),
            (NoteBody::Redirect { to: "/c".into() }, "redirect", "/c"),
            (NoteBody::ContentEncoding { coding: "gzip".into() }, "content-encoding", "gzip"),
            (NoteBody::Cut(CutAt::Load), "cut", "the user ended the load before its time"),
            (NoteBody::Cut(CutAt::WritingKeys), "cut", filling),
            (NoteBody::ServerSilent("t".into()), "server-silent", "t"),
            (NoteBody::ServerGroups("t".into()), "server-groups", "t"),
            (NoteBody::Profile("t".into()), "profile", "t"),
            (NoteBody::SystemProfile("t".into()), "system-profile", "t"),
            (NoteBody::NoProfile("t".into()), "no-profile", "t"),
            (NoteBody::Replay("t".into()), "replay", "t"),
            (NoteBody::StoreHolds("t".into()), "store-holds", "t"),
            (NoteBody::StoreEvicts("t".into()), "store-evicts", "t"),
            (NoteBody::KeysLeft("t".into()), "keys-left", "t"),
            (NoteBody::ControllerCpu(1.23456), "controller-cpu-seconds", "1.235"),
            (NoteBody::ControllerTakesCpu(0.5), "controller-takes-cpu-seconds", "0.500"),
            (NoteBody::EndedBy("t".into()), "ended-by", "t"),
            (NoteBody::User("t".into()), "note", "t"),
            (NoteBody::Disturbers(vec![busy]), "disturbers", "ramcloud (pid 123) 0.440 of a CPU"),
            (NoteBody::Disturbers(Vec::new()), "disturbers", UNSEEN),
            (NoteBody::Backends(vec![behind]), "backends", "127.0.0.1:8197, 4 connections"),
            (NoteBody::TestDisks(vec!["sda".into(), "sdb".into()]), "test-disks", "sda sdb"),
            (NoteBody::Interface("eth0".into()), "interface", "eth0"),
            (
                NoteBody::ServerWorkers(workers),
                "server-workers",
                "nginx: 1 of 2 worker processes worked (pid 7)",
            ),
            (NoteBody::JobTasks(JobTasks::default()), "job-tasks", "0.0 s: 0 maps and 0 reduces on no node"),
            (NoteBody::remark("limit", "t"), "limit", "t"),
        ]
    }

    fn again(what: &str, arm: &str) -> Again {
        Again { what: what.into(), arms: vec![arm.into()], blocks: 3 }
    }

    #[test]
    fn what_was_measured_again_was_not_dropped() {
        let [one, other] = ["a", "b"].map(|arm| Note::of_run(NoteBody::GivenUp(dropped(arm))));
        let mended = Note::of_run(NoteBody::Again(again("crc32c size=1KiB", "a")));
        let elsewhere = Note::of_run(NoteBody::Again(again("crc32c size=4KiB", "b")));
        let notes = [one.clone(), other.clone(), mended, elsewhere, one.clone()];
        let left: Vec<&NoteBody> = super::dropped(&notes).collect();
        assert_eq!(left, [&other.body, &one.body]);
    }

    #[test]
    fn every_note_has_its_kind_and_text_and_comes_back() {
        for (body, kind, text) in all() {
            assert_eq!((body.kind(), &*body.text()), (kind, text));
            let is_remark = matches!(body, NoteBody::Remark { .. });
            assert_eq!(NoteBody::is_typed_kind(kind), !is_remark, "{kind}");
            let note = Note { at_ns: Some(u64::MAX), body };
            let json = serde_json::to_string(&note).unwrap();
            assert_eq!(serde_json::from_str::<Note>(&json).unwrap(), note, "{json}");
            let bytes = postcard::to_stdvec(&note).unwrap();
            assert_eq!(postcard::from_bytes::<Note>(&bytes).unwrap(), note);
        }
    }
}
