//! Commands and their guard, with real processes: this program is a victim that starts a group and waits when called
//! with `victim`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use instruments::workload::guard::{self, Guarded};
use model::{Fact, Fault, Finding, Histogram, MetricInfo, Params, Record, Setup};
use sys::process::{Start, group_exists};

/// A shell with a grandchild that would run for long.
fn long() -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "sleep 1000 & sleep 1000"]).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

pub fn victim() {
    let group = Guarded::spawn(long(), Start::default()).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "{}", group.pgid()).unwrap();
    std::thread::sleep(Duration::from_secs(1000));
}

/// Killing takes effect soon, not at once.
fn is_gone(pgid: i32) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !group_exists(pgid).unwrap()
    })
}

pub fn a_killed_parent_leaves_nothing_behind() {
    let mut command = Command::new("/proc/self/exe");
    let mut victim = command.arg("victim").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(victim.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pgid: i32 = line.trim().parse().unwrap();
    assert!(group_exists(pgid).unwrap());
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(is_gone(pgid), "the group outlived its killed parent");
}

/// Children of this process whose only argument is `guard`.
fn guards() -> Vec<i32> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let parent = read("stat")
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1).map(str::to_owned));
        if parent.as_deref() == Some(&me) && read("cmdline").ends_with("\0guard\0") {
            found.push(pid);
        }
    }
    found
}

pub fn a_dead_guard_is_replaced() {
    let group = Guarded::spawn(long(), Start::default()).unwrap();
    let old = guards();
    assert_eq!(old.len(), 1);
    sys::process::signal_group(old[0], 9).unwrap();
    // A zombie has closed its pipe; before that it may still take a line with it.
    let stat = format!("/proc/{}/stat", old[0]);
    assert!((0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        std::fs::read_to_string(&stat).is_ok_and(|text| text.contains(") Z "))
    }));
    let second = Guarded::spawn(long(), Start::default()).unwrap();
    assert_eq!(guards().len(), 1);
    assert_ne!(guards(), old);
    for group in [group, second] {
        let pgid = group.pgid();
        drop(group);
        assert!(is_gone(pgid));
    }
}

/// The values that a take pushed.
#[derive(Default)]
struct Sheet {
    values: Vec<(String, f64)>,
    notes: Vec<String>,
}

impl Sheet {
    fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

impl Record for Sheet {
    fn value(&mut self, metric: &MetricInfo, value: f64) {
        self.values.push((metric.name.to_owned(), value));
    }
    fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64) {
        let which = extra.get("metric").map(|name| format!(" {name}")).unwrap_or_default();
        assert!(extra.get("command").is_some());
        self.values.push((format!("{}{which}", metric.name), value));
    }
    fn histogram(&mut self, _: &MetricInfo, _: Histogram) {}
    fn fact(&mut self, _: Fact) {}
    fn note(&mut self, note: model::NoteBody) {
        let (kind, text) = (note.kind(), &*note.text());
        self.notes.push(format!("{kind}: {text}"));
    }
    fn refuse(&mut self, _: Finding) {}
}

fn take(run: &str, prepare: Option<&str>, timeout: &str, metrics: &[(&str, &str)]) -> Result<Sheet, Fault> {
    let cmd = instruments::find("cmd").unwrap();
    let given = Params::parse(&format!("timeout={timeout}")).unwrap();
    let setup = Setup {
        command: Some(model::plan::Command {
            run: run.to_owned(),
            prepare: prepare.map(str::to_owned),
            metrics: metrics.iter().map(|(name, regex)| ((*name).to_owned(), (*regex).to_owned())).collect(),
            ..model::plan::Command::default()
        }),
        ..Setup::bare(
            cmd.card().resolve(&given).unwrap(),
            vec![u32::try_from(sys::affinity::allowed().unwrap()[0]).unwrap()],
            std::env::temp_dir(),
        )
    };
    cmd.fit(&setup).unwrap();
    let mut probe = cmd.prepare(&setup).unwrap();
    assert_eq!(probe.calibrate(model::Seconds(1.0)).unwrap(), 1);
    assert_eq!(probe.cpus(), setup.cpus);
    let before = sys::affinity::allowed().unwrap();
    let mut sheet = Sheet::default();
    let taken = probe.take(1, &mut sheet);
    assert_eq!(sys::affinity::allowed().unwrap(), before);
    taken.map(|()| sheet)
}

pub fn commands_are_measured() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    let script = format!(
        "test -e {made} && rm {made} && nproc && echo 'speed: 12.5 MB/s' && i=0; \
         while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05; sleep 1000 &",
        made = made.display()
    );
    let prepare = format!("touch {}", made.display());
    let metrics = [("speed:higher", r"speed: ([\d.]+)"), ("cpus", r"(?m)^(\d+)$")];
    let started_ns = sys::clock::now_ns();
    let sheet = take(&script, Some(&prepare), "86400", &metrics).unwrap();
    assert!(sys::clock::now_ns() - started_ns < 900_000_000_000, "waited for the background");
    assert!(sheet.get("wall").unwrap() >= 0.05);
    assert!(sheet.get("cpu").unwrap() > 0.0 && sheet.get("peak-memory").unwrap() > 1e5);
    assert_eq!(sheet.get("value-higher speed"), Some(12.5));
    assert_eq!(sheet.get("value cpus"), Some(1.0), "the command is not bound to its CPU");
}

pub fn failures_say_why() {
    let why = |taken: Result<Sheet, Fault>| taken.err().unwrap().text;
    let text = why(take("echo no luck >&2; exit 3", None, "10", &[]));
    assert!(text.contains("exit status: 3") && text.contains("no luck"), "{text}");
    let text = why(take("true", Some("false"), "10", &[]));
    assert!(text.contains("--prepare"), "{text}");
    let text = why(take("sleep 1000", None, "1", &[]));
    assert!(text.contains("within 1 s"), "{text}");
    let text = why(take("kill -9 $$", None, "10", &[]));
    assert!(text.contains("signal: 9"), "{text}");
    for regex in ["nothing (.)", "(so)"] {
        let text = why(take("echo so it is", None, "10", &[("none", regex)]));
        assert!(text.contains("none") && text.contains(regex) && text.contains("so it is"), "{text}");
    }
}

pub fn nothing_outlives_end_all() {
    let group = Guarded::spawn(long(), Start::default()).unwrap();
    let pgid = group.pgid();
    guard::end_all();
    assert!(guards().is_empty());
    drop(group);
    assert!(is_gone(pgid));
}
