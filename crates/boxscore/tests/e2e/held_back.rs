//! A server held back, with a real nginx that is not ours: the cores that its workers may run on, the CPU quota of its
//! control group, who else is busy, and waiting for quiet.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::host::Quota;
use crate::common::{Bench, PATIENCE, cannot, children, ended, signal};
use model::NoteBody;
use model::data::RunData;
use model::doc::{Binding, BottleneckDoc, LoadDoc};
use model::finding::Validity;

const WORKERS: usize = 2;

/// nginx with two workers that may run anywhere, in a folder of its own.
struct Nginx {
    child: Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Nginx {
    fn start() -> Nginx {
        let dir = tempfile::Builder::new().prefix("held").tempdir_in("/tmp").expect("a folder");
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
        let (port, at) = (port.expect("a free port").port(), dir.path().display());
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let folders: String = folders.iter().map(|name| format!("{name}_temp_path {at}/{name};\n")).collect();
        let text = format!(
            "daemon off;\nworker_processes {WORKERS};\npid {at}/pid;\nerror_log {at}/error.log;\n\
             events {{ worker_connections 256; }}\nhttp {{ access_log off;\n{folders}\
             server {{ listen 127.0.0.1:{port}; location / {{ return 200 'hello\\n'; }} }} }}\n"
        );
        let conf = dir.path().join("nginx.conf");
        std::fs::write(&conf, text).expect("its setup");
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&conf).arg("-p").arg(dir.path()).stderr(Stdio::null());
        let child = command.spawn().expect("nginx is installed");
        let nginx = Nginx { child, port, _dir: dir };
        let from = Instant::now();
        // It listens before it has its workers.
        while children(nginx.child.id()).len() < WORKERS
            || std::net::TcpStream::connect(("127.0.0.1", port)).is_err()
        {
            assert!(from.elapsed() < PATIENCE, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        nginx
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Moves all of its processes into a control group.
    fn enter(&self, quota: &Quota) {
        for pid in children(self.child.id()).into_iter().chain([self.child.id()]) {
            std::fs::write(quota.0.join("cgroup.procs"), pid.to_string()).expect("a group to enter");
        }
    }

    fn pin(&self, cpu: usize) {
        for worker in children(self.child.id()) {
            let pid = worker.to_string();
            let args = ["-apc", &cpu.to_string(), &pid];
            let pinned = Command::new("taskset").args(args).stdout(Stdio::null()).status();
            assert!(pinned.expect("taskset is installed").success());
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        signal(self.child.id(), "QUIT");
        ended(&mut self.child);
    }
}

/// Somebody else's loop.
struct Busy(Child);

impl Busy {
    fn start() -> Busy {
        Busy(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        drop(self.0.kill());
        ended(&mut self.0);
    }
}

fn load(bench: &Bench, nginx: &Nginx, more: &[&str]) -> (LoadDoc, RunData) {
    let url = nginx.url();
    let said = bench.run(&[&["load", &url, "-d", "1s", "-c", "20", "--json"], more].concat()).expect(0, &[]);
    (serde_json::from_str(&said.out).expect("a document"), bench.only())
}

/// Roles of the cores, by their numbers.
fn roles(run: &RunData) -> Vec<(usize, String)> {
    let cores = run.series.iter().filter(|series| series.key.metric == "core-busy");
    let role = |series: &model::data::Series| {
        let given = |name: &str| series.key.params.get(name).expect("a part").to_owned();
        (given("cpu").parse().expect("a number"), given("role"))
    };
    let mut roles: Vec<(usize, String)> = cores.map(role).collect();
    roles.sort();
    roles
}

fn words(bottleneck: &BottleneckDoc) -> String {
    format!("{bottleneck:?}")
}

#[test]
fn workers_on_the_generators_core_are_seen_there() {
    let (bench, nginx) = (Bench::new(), Nginx::start());
    let allowed = sys::affinity::allowed().expect("an affinity");
    let cpu = *allowed.last().expect("a CPU");
    nginx.pin(cpu);
    let (doc, run) = load(&bench, &nginx, &["-t", "1", "--cpus", &cpu.to_string()]);
    for (number, role) in roles(&run) {
        assert_eq!(role, if number == cpu { "both" } else { "other" }, "cpu{number}");
    }
    let known = |metric: &str| run.series.iter().any(|series| series.key.metric == metric);
    assert!(known("core-server") && known("core-generator"), "both are bound to one core");
    let shared =
        doc.findings.iter().find(|finding| finding.rule.kind() == "same-cores").expect("it has its inputs");
    assert_eq!(shared.state, Validity::Doubtful);
    assert!(shared.text().contains(&format!("generator and server share cpu{cpu} (")), "{}", shared.text());
    let first = words(&doc.bottlenecks[0]);
    for number in (0..allowed.len()).filter(|number| *number != cpu) {
        assert!(!first.contains(&format!("cpu{number}, the one core")), "{first}");
        assert!(!first.contains(&format!("other programs on cpu{number}:")), "{first}");
    }
}

#[test]
fn workers_that_may_run_anywhere_have_all_cores() {
    let (bench, nginx) = (Bench::new(), Nginx::start());
    let (doc, run) = load(&bench, &nginx, &["-t", "1"]);
    let all = roles(&run);
    let online = all.len();
    let serving = all.iter().filter(|(_, role)| role == "server" || role == "both").count();
    assert!(serving == online || serving >= sys::affinity::allowed().expect("an affinity").len(), "{all:?}");
    assert_eq!(all.iter().filter(|(_, role)| role == "both").count(), 1, "{all:?}");
    let first = words(&doc.bottlenecks[0]);
    assert!(online == 1 || !first.contains("the one core of the server"), "{first}");
}

#[test]
fn the_cpu_quota_of_its_control_group_is_named() {
    // 0.1 CPUs, which any machine can give: the generator and others hardly matter.
    let quota = match Quota::new(1000) {
        Ok(quota) => quota,
        Err(why) => return cannot(&why),
    };
    let nginx = Nginx::start();
    nginx.enter(&quota);
    let name = quota.0.file_name().expect("a name").to_string_lossy().into_owned();
    for more in [&[][..], &["--disable-keepalive"]] {
        let (doc, run) = load(&Bench::new(), &nginx, more);
        let found = &doc.bottlenecks[0];
        assert_eq!(found.kind, Binding::Quota, "{found:?}");
        let says = "bound by the CPU quota of the control group of the server";
        assert!(found.sentence.starts_with(says) && found.sentence.contains(&name), "{found:?}");
        assert!(found.sentence.contains("0.100 CPUs") && found.sentence.contains(" of "), "{found:?}");
        assert!(!words(found).contains("affinity"), "{found:?}");
        let known = |metric: &str| {
            let series = run.series.iter().find(|series| series.key.metric == metric);
            series.and_then(|series| series.points.first()?.number()).unwrap_or_else(|| panic!("no {metric}"))
        };
        assert!(known("group-throttled") > 0.0 && known("group-periods") >= known("group-throttled"));
        assert!((known("group-quota") - 0.1).abs() < 1e-9);
        let server = &doc.server;
        assert!(server.quota_cpus.is_some() && server.cpus.is_some_and(|cpus| cpus < 0.3), "{server:?}");
        let own = doc.findings.iter().find(|finding| finding.kind() == "throttled").expect("a finding");
        assert!(own.text().contains("boxscore's own"), "{}", own.text());
    }
    // The same server without a quota is held by something else.
    let free = Nginx::start();
    let (doc, _) = load(&Bench::new(), &free, &[]);
    assert_ne!(doc.bottlenecks[0].kind, Binding::Quota, "{:?}", doc.bottlenecks[0]);
    let none = doc.findings.iter().find(|finding| finding.kind() == "server-quota").expect("a finding");
    assert!(none.text().starts_with("no CPU quota of the server's"), "{}", none.text());
}

#[test]
fn who_else_is_busy_is_named_and_ours_are_not() {
    let (bench, nginx, busy) = (Bench::new(), Nginx::start(), Busy::start());
    let (_, run) = load(&bench, &nginx, &[]);
    let seen = run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::Disturbers(all) => Some(all.clone()),
        _ => None,
    });
    let seen = seen.collect::<Vec<_>>().concat();
    let pid = i32::try_from(busy.0.id()).expect("a number");
    // On a machine with more to do it may not be among the busiest.
    assert!(seen.iter().any(|one| one.pid == pid && one.name == "sh") || seen.len() >= 5, "{seen:?}");
    let served = children(nginx.child.id());
    let is_ours = |pid: i32| served.iter().any(|worker| i32::try_from(*worker) == Ok(pid));
    assert!(seen.iter().all(|one| !is_ours(one.pid)), "{seen:?}");
}

#[test]
fn where_it_does_not_become_quiet_it_is_said_and_measured() {
    let (bench, nginx, _busy) = (Bench::new(), Nginx::start(), Busy::start());
    let url = nginx.url();
    let says =
        ["warning: it did not become quiet in 2 s: others use ", "of a CPU; what they disturb is doubted"];
    bench.run(&["load", &url, "-d", "1s", "--wait-idle", "2s"]).expect(0, &says);
    assert_eq!(bench.heads().len(), 1);
    bench.run(&["load", &url, "--wait-idle", "soon"]).expect(2, &["--wait-idle soon: not a time"]);
    // It looks here, wherever a machine of the study is.
    let here = format!("here={}", env!("CARGO_BIN_EXE_boxscore"));
    let args = ["run", "crc32c", "--takes", "1", "--no-report", "--via", &here, "--wait-idle", "2s"];
    bench.run(&args).expect(0, &["note: --wait-idle looks at this machine alone", says[0]]);
}
