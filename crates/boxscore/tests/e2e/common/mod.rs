//! What the end-to-end tests share: the program itself, a store of its own for each test, planted worlds, signals.
//!
//! A test that needs root or a kernel feature says why it could not run, and fails where `CI=true`.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod guests;
pub mod hadoop;
pub mod host;
pub mod ipmi;
pub mod meter;
pub mod redfish;
pub mod relay;
pub mod sshd;

use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use model::data::{RunData, RunHead, Status};
use model::reading::Phase;
use store::{Filter, Mode, Store};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_boxscore");

/// The program as servers of other accounts can start it: by a file that is open, since they may not enter the folders
/// on the way to it (`/root`, where the checkout may lie).
pub fn open_program() -> PathBuf {
    static FILE: OnceLock<OwnedFd> = OnceLock::new();
    // A duplicate stays open in children, as files that std opens do not.
    let file = FILE.get_or_init(|| {
        let file = std::fs::File::open(PROGRAM).expect("the program");
        rustix::io::dup(&file).expect("a duplicate")
    });
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// One cell, in the planted world.
pub const ONE: [&str; 7] =
    ["run", "crc32c", "--set", "size=1KiB;impl=fast;threads=1", "--no-report", "--seed", "5"];
pub const FAKE: [&str; 9] = [
    "run",
    "crc32c",
    "--set",
    "size=1KiB;impl=fast;threads=1",
    "--no-report",
    "--seed",
    "5",
    "--fake",
    "world.json",
];

/// Far above what anything here takes: a hang fails, a slow machine does not.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A directory with a store and a planted world.
pub struct Bench {
    pub dir: TempDir,
}

/// What a program said and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    #[track_caller]
    pub fn expect(self, code: i32, on_stderr: &[&str]) -> Said {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for text in on_stderr {
            assert!(self.err.contains(text), "no `{text}` in {self:#?}");
        }
        self
    }
}

impl Bench {
    pub fn new() -> Bench {
        let dir = TempDir::new().expect("a temporary directory");
        let world = r#"{"seed": 7, "series": [{"instrument": "*", "median": 1e9, "spread": 0.01}]}"#;
        std::fs::write(dir.path().join("world.json"), world).expect("a world");
        Bench { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("s.db")
    }

    pub fn world(&self, text: &str) {
        std::fs::write(self.path("world.json"), text).expect("a world");
    }

    /// The program on this store.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        self.settle(&mut command);
        command.args(args);
        command
    }

    /// The program behind others (`taskset`, `unshare`, ...).
    pub fn behind(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(wrapper[0]);
        self.settle(&mut command);
        command.args(&wrapper[1..]).arg(PROGRAM).args(args);
        command
    }

    pub fn settle(&self, command: &mut Command) {
        command.env("BOXSCORE_STORE", self.store()).current_dir(self.dir.path()).stdin(Stdio::null());
    }

    pub fn run(&self, args: &[&str]) -> Said {
        said(&mut self.command(args))
    }

    /// `run crc32c ... --fake world.json`.
    pub fn fake(&self, args: &[&str]) -> Said {
        let all: Vec<&str> = FAKE.iter().chain(args).copied().collect();
        self.run(&all)
    }

    pub fn heads(&self) -> Vec<RunHead> {
        let store = Store::open(&self.store(), Mode::ReadOnly).expect("the store opens");
        store.heads(&Filter::default()).expect("its runs")
    }

    pub fn data(&self, run: &str) -> RunData {
        let store = Store::open(&self.store(), Mode::ReadOnly).expect("the store opens");
        store.load(run).expect("the run")
    }

    /// The only run of the store.
    #[track_caller]
    pub fn only(&self) -> RunData {
        let heads = self.heads();
        assert_eq!(heads.len(), 1, "{heads:?}");
        self.data(&heads[0].id)
    }
}

pub fn said(command: &mut Command) -> Said {
    command.output().expect("it starts").into()
}

/// Every place of the plan has its takes once, and no other.
#[track_caller]
pub fn assert_whole(run: &RunData, takes: u32) {
    assert_measured(run, takes);
    let places = (run.plan.cells.len() * run.plan.arms.len()) as u64;
    // A planted world has nothing to warm in its later sittings.
    let sittings = if run.plan.fake.is_some() { 1 } else { run.plan.sittings.min(takes) };
    let warm_ups = run.plan.warm_up + (sittings - 1) * run.plan.warm_up.min(1);
    assert_eq!(run.takes.len() as u64, u64::from(warm_ups + takes) * places, "warm-ups were repeated");
}

/// Every place of the plan has its measured takes once; resumed children may have been warmed again.
#[track_caller]
pub fn assert_measured(run: &RunData, takes: u32) {
    assert_measured_of(run, takes, run.plan.cells.len());
}

/// The same where only so many figures of the plan can be measured here.
#[track_caller]
pub fn assert_measured_of(run: &RunData, takes: u32, cells: usize) {
    assert_eq!(run.head.status, Status::Complete, "{:?}", run.notes);
    let places = u64::from(takes) * (cells * run.plan.arms.len()) as u64;
    let measured = run.takes.iter().filter(|take| take.phase == Phase::Measured);
    let mut seen: Vec<_> = measured.map(|take| (take.block, take.cell, take.arm)).collect();
    assert_eq!(seen.len() as u64, places);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len() as u64, places, "a take was repeated");
    let mut seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (0..run.takes.len() as u64).collect::<Vec<_>>());
    for series in run.rows() {
        let measured = series.points.iter().filter(|point| point.phase == Phase::Measured).count();
        // A percentile is missing from a take that saw too few events for it.
        let may_lack = series.key.metric.contains("-p9");
        assert!(measured == takes as usize || (may_lack && measured < takes as usize), "{:?}", series.key);
    }
}

/// A running program whose stderr is read line by line.
pub struct Running {
    pub child: Child,
    lines: Receiver<String>,
    pub heard: Vec<String>,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let stderr = child.stderr.take().expect("stderr");
        let (give, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).all(|line| give.send(line).is_ok())
        });
        Running { child, lines, heard: Vec::new() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line with this text; false when the program ended without it.
    pub fn until(&mut self, text: &str) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.heard.push(line);
                    if self.heard.last().is_some_and(|line| line.contains(text)) {
                        return true;
                    }
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Sends a signal, by name.
    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits for its end, however long its pipes stay open elsewhere.
    pub fn end(mut self) -> Said {
        let status = ended(&mut self.child);
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(10)) {
            self.heard.push(line);
        }
        let mut out = String::new();
        if let Some(stdout) = &mut self.child.stdout {
            stdout.read_to_string(&mut out).expect("stdout");
        }
        Said { code: status.code(), out, err: self.heard.join("\n") }
    }
}

pub fn ended(child: &mut Child) -> std::process::ExitStatus {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        assert!(Instant::now() < end, "process {} hangs", child.id());
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn signal(pid: u32, name: &str) {
    let done = Command::new("kill").args(["-s", name, &pid.to_string()]).output().expect("kill");
    assert!(done.status.success(), "{done:?}");
}

/// Processes whose parent is `pid`.
pub fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Waits until no such process is left (a zombie that nobody here can reap has ended).
#[track_caller]
pub fn assert_gone(pid: u32) {
    let end = Instant::now() + PATIENCE;
    while alive(pid) {
        assert!(Instant::now() < end, "process {pid} is left over");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until it holds, and says what was waited for in vain.
#[track_caller]
pub fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: in vain");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

pub fn root() -> bool {
    sys::files::effective_ids().0 == 0
}

/// Says why a test cannot run here; where everything must be tested, that is a failure.
#[track_caller]
#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
pub fn cannot(why: &str) {
    assert!(std::env::var("CI").is_err(), "this test cannot run here: {why}");
    eprintln!("not tested here: {why}");
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The part of an id that any display shows.
pub fn short(id: &str) -> &str {
    &id[..12]
}

/// A log of two and a half days from 2010-05-01 on, twice as fast from 2010-05-02 12:00 by the log's clock on.
pub fn changed() -> String {
    let mut text = String::new();
    for n in 0..10_800u64 {
        let (day, second) = (1 + n * 20 / 86_400, n * 20 % 86_400);
        let us = if n < 6_480 { 2_000 } else { 1_000 } + n * 37 % 50;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let at = format!("{day:02}/May/2010:{hour:02}:{minute:02}:{second:02} +0200");
        text.push_str(&format!("10.0.0.1 - - [{at}] \"GET /a HTTP/1.1\" 200 1000 {us}\n"));
    }
    text
}

/// clusterperf's tests beside `basic`, each asked for.
pub const OTHER_KV_TESTS: [&str; 14] = [
    "--test",
    "readNotFound",
    "--test",
    "readDist",
    "--test",
    "readDistRandom",
    "--test",
    "readLoaded",
    "--test",
    "readThroughput",
    "--test",
    "multiRead_oneMaster",
    "--test",
    "netBandwidth",
];
