//! Commands, servers and stores in containers of podman and systemd-nspawn: real ones, of images made here.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model::data::RunData;

use crate::common::{Bench, PATIENCE, Said, cannot, root, said};

/// Few takes: what is tested here is no speed.
const FEW: [&str; 5] = ["--takes", "3", "--sittings", "1", "--no-report"];
/// One load on a web server, and one on a store.
const WEB: &str =
    "connections=3;arrivals=closed;load=auto;content=gif;keepalive=on;generators=1;duration=0.2";

fn run(bench: &Bench, args: &[&str]) -> Said {
    bench.run(&[&["run"], args, &FEW[..]].concat())
}

/// A root file system with a shell alone.
fn root_folder(bench: &Bench) -> std::path::PathBuf {
    let root = bench.path("root");
    for folder in ["bin", "etc", "usr/lib", "proc", "sys", "dev", "tmp", "run", "var"] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    std::fs::copy("/usr/bin/busybox", root.join("bin/busybox")).expect("busybox-static is installed");
    for program in ["sh", "sleep", "cat", "true"] {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(program)).expect("a link");
    }
    std::fs::write(root.join("usr/lib/os-release"), "ID=boxscore-test\n").expect("a file");
    std::fs::write(root.join("etc/passwd"), "root:x:0:0::/:/bin/sh\n").expect("a file");
    root
}

#[test]
fn a_command_runs_in_the_root_of_another_system() {
    if !root() {
        return cannot("systemd-nspawn wants root");
    }
    let bench = Bench::new();
    let folder = root_folder(&bench);
    let inside = format!("nspawn:{}", folder.display());
    let args = ["--cmd", "cat /usr/lib/os-release; echo $HOME >/left; exit 0", "--in", &inside];
    run(&bench, &[&args[..], &["--expect", "ID=boxscore-test", "--env", "HOME=/x"]].concat()).expect(0, &[]);
    assert!(!folder.join("left").exists(), "what it writes goes with the container");
    let stored = bench.only();
    let notes: Vec<_> = stored.notes.iter().map(|note| note.text().into_owned()).collect();
    assert!(notes.iter().any(|note| note.contains("runs in a container: systemd-nspawn in ")), "{notes:#?}");
    assert!(stored.rows().any(|series| series.key.metric == "cpu"), "its CPU time is that of a child");
    // One that never ends goes with its take.
    let args = ["--cmd", "sleep 1000", "--in", &inside, "--set", "timeout=1"];
    run(&bench, &args).expect(3, &["did not end within 1 s"]);
}

/// Settings with which podman runs on every host of the tests, in folders of its own.
fn podman(bench: &Bench) -> [(&'static str, String); 2] {
    let (engine, storage) = (bench.path("containers.conf"), bench.path("storage.conf"));
    let text = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n[engine]\nruntime = \
                \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n";
    std::fs::write(&engine, text).expect("a file");
    let (graph, run) = (bench.path("images"), bench.path("state"));
    let text = format!(
        "[storage]\ndriver = \"vfs\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n",
        graph.display(),
        run.display()
    );
    std::fs::write(&storage, text).expect("a file");
    let shown = |path: std::path::PathBuf| path.display().to_string();
    [("CONTAINERS_CONF", shown(engine)), ("CONTAINERS_STORAGE_CONF", shown(storage))]
}

#[test]
fn images_are_variants_of_a_command() {
    if !root() {
        return cannot("images are made as root");
    }
    let bench = Bench::new();
    let (folder, settings) = (root_folder(&bench), podman(&bench));
    for (tag, seconds) in [("short", "0.01"), ("long", "0.9")] {
        std::fs::write(folder.join("wait"), format!("sleep {seconds}\n")).expect("a file");
        let line = format!("tar -C {} -c . | podman import - bs:{tag}", folder.display());
        let mut command = std::process::Command::new("sh");
        bench.settle(&mut command);
        said(command.envs(settings.clone()).args(["-c", &line])).expect(0, &[]);
    }
    let run_in = |args: &[&str]| {
        let mut command = bench.command(&[&["run"], args, &FEW[..]].concat());
        said(command.envs(settings.clone()))
    };
    let args = ["--cmd", "sh /wait", "--in", "a=podman:bs:short", "--in", "b=podman:bs:long"];
    run_in(&args).expect(0, &[]);
    let stored = bench.only();
    let median = |arm: &str| {
        let wall = stored.rows().find(|series| series.key.metric == "wall" && series.key.arm == arm);
        stats::median(&wall.expect("its times").measured()).expect("a time")
    };
    assert!(median("b") - median("a") > 0.4, "{} {}", median("a"), median("b"));
    assert_eq!(stored.plan.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let notes: Vec<_> = stored.notes.iter().map(|note| note.text().into_owned()).collect();
    assert!(notes.iter().any(|note| note.contains("podman image bs:long is ")), "{notes:#?}");
    // CPU time of the client would be no CPU time of the command.
    assert!(!stored.rows().any(|series| series.key.metric == "cpu"), "{:#?}", stored.takes);
    // Tags as values of a placeholder.
    let args = ["--cmd", "sh /wait", "--in", "podman:bs:{tag}", "--arm", "tag=short", "--arm", "tag=long"];
    run_in(&args).expect(0, &[]);
    // One that does not end is removed with its take.
    let args = ["--cmd", "sleep 1000", "--in", "podman:bs:short", "--set", "timeout=2"];
    run_in(&args).expect(3, &["did not end within 2 s"]);
    let mut command = std::process::Command::new("podman");
    bench.settle(&mut command);
    let left = said(command.envs(settings.clone()).args(["ps", "--all", "--quiet"])).expect(0, &[]);
    assert_eq!(left.out, "");
    run_in(&["--cmd", "true", "--in", "podman:bs:none"])
        .expect(1, &["podman has no image bs:none", "podman pull"]);
}

#[test]
fn containers_that_cannot_be_are_refused() {
    let bench = Bench::new();
    run(&bench, &["--cmd", "true", "--in", "lxc:x"]).expect(2, &["--in lxc:x", "docker:IMAGE"]);
    let twice = ["--cmd", "true", "--in", "a=podman:x", "--in", "a=podman:y"];
    run(&bench, &twice).expect(2, &["--in a=... is given twice"]);
    let beside =
        ["kv-load", "--in", "podman:x", "--in", "podman:y", "--arm", "threads=1", "--arm", "threads=2"];
    run(&bench, &beside).expect(2, &["several --in are arms of their own"]);
    run(&bench, &["web", "--in", "lxc:x"]).expect(2, &["--in lxc:x", "docker:IMAGE"]);
    run(&bench, &["web", "--set", "server=builtin", "--in", "nspawn:/"])
        .expect(2, &["server=nginx is the one"]);
    run(&bench, &["--cmd", "true", "--in", "nspawn:/no/such/folder"]).expect(1, &["there is no such folder"]);
}

/// The same with the programs of servers, and the libraries that they are linked with.
fn servers_folder(bench: &Bench) -> std::path::PathBuf {
    let folder = root_folder(bench);
    for program in ["/usr/sbin/nginx", "/usr/bin/redis-server"] {
        let listed = said(Command::new("ldd").arg(program)).expect(0, &[]).out;
        let libraries = listed.split_whitespace().filter(|word| word.starts_with('/'));
        for file in libraries.chain([program]) {
            let to = folder.join(file.trim_start_matches('/'));
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            std::fs::copy(file, &to).expect("a file");
        }
    }
    std::fs::write(folder.join("etc/group"), "root:x:0:\n").expect("a file");
    for place in ["var/log/nginx", "var/lib/nginx"] {
        std::fs::create_dir_all(folder.join(place)).expect("a folder");
    }
    folder
}

/// An image of podman in the folders of its settings.
fn import(bench: &Bench, folder: &Path, settings: &[(&'static str, String)], name: &str) {
    let line = format!("tar -C {} -c . | podman import - {name}", folder.display());
    let mut command = Command::new("sh");
    bench.settle(&mut command);
    said(command.envs(settings.iter().cloned()).args(["-c", &line])).expect(0, &[]);
}

/// The processes that have this text in their command line.
fn with_text(text: &str) -> BTreeSet<u32> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let line = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.filter(|pid| String::from_utf8_lossy(&line(pid)).contains(text)).collect()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn values(run: &RunData, metric: &str, arm: &str) -> Vec<f64> {
    let of = |series: &&model::data::Series| series.key.metric == metric && series.key.arm == arm;
    run.series.iter().filter(of).flat_map(|series| series.measured()).collect()
}

#[test]
fn a_web_server_runs_in_the_root_of_another_system_and_is_known_there() {
    if !root() {
        return cannot("systemd-nspawn wants root");
    }
    let bench = Bench::new();
    let inside = format!("nspawn:{}", servers_folder(&bench).display());
    run(&bench, &["web", "--set", WEB, "--set", "server=nginx", "--in", &inside]).expect(0, &[]);
    let stored = bench.only();
    assert!(values(&stored, "throughput", "").iter().all(|rate| *rate > 0.0));
    // Its processes are its own although the client of systemd-nspawn started them.
    let cores = values(&stored, "server-cores", "");
    assert!(cores.len() == 3 && cores.iter().all(|cores| *cores > 0.0), "{cores:?}");
    let notes: Vec<_> = stored.notes.iter().map(|note| note.text().into_owned()).collect();
    assert!(notes.iter().any(|note| note.contains("in a container: systemd-nspawn in ")), "{notes:#?}");
    assert_eq!(with_text(bench.dir.path().to_str().expect("a path")), BTreeSet::new());
}

#[test]
fn images_are_arms_of_a_study_of_stores() {
    if !root() {
        return cannot("images are made as root");
    }
    let bench = Bench::new();
    let (folder, settings) = (servers_folder(&bench), podman(&bench));
    for tag in ["one", "two"] {
        std::fs::write(folder.join("tag"), tag).expect("a file");
        import(&bench, &folder, &settings, &format!("kv:{tag}"));
    }
    let load = "server=redis;connections=3;arrivals=closed;duration=0.2;keys=100";
    let arms = ["--arm", "in=podman:kv:one", "--arm", "in=podman:kv:two"];
    let mut command = bench.command(&[&["run", "kv-load", "--set", load], &arms[..], &FEW[..]].concat());
    let shown = said(command.envs(settings.clone())).expect(0, &[]);
    assert!(shown.out.contains("podman:kv:two"), "{shown:#?}");
    let stored = bench.only();
    for arm in ["in=podman:kv:one", "in=podman:kv:two"] {
        let cores = values(&stored, "server-cores", arm);
        assert!(cores.len() == 3 && cores.iter().all(|cores| *cores > 0.0), "{arm}: {cores:?}");
        let image = format!("podman image {} is ", arm.trim_start_matches("in=podman:"));
        assert!(stored.notes.iter().any(|note| note.text().contains(&image)), "{:#?}", stored.notes);
    }
    let mut command = Command::new("podman");
    bench.settle(&mut command);
    let left = said(command.envs(settings).args(["ps", "--all", "--quiet"])).expect(0, &[]);
    assert_eq!(left.out, "");
}

#[test]
fn what_runs_in_a_container_ends_with_a_boxscore_that_is_killed() {
    if !root() {
        return cannot("images are made as root");
    }
    let bench = Bench::new();
    let (folder, settings) = (servers_folder(&bench), podman(&bench));
    import(&bench, &folder, &settings, "kill:1");
    let nspawn = format!("nspawn:{}", folder.display());
    let server = ["web", "--set", WEB, "--set", "server=nginx", "--in"];
    let long = ["--takes", "1000", "--sittings", "1", "--no-report"];
    for (args, own) in [
        ([&server[..], &["podman:kill:1"]].concat(), ".boxscore-server-"),
        ([&server[..], &[&nspawn]].concat(), ".boxscore-server-"),
        (vec!["--cmd", "sleep 4711", "--in", "podman:kill:1"], "sleep\x004711"),
    ] {
        let mut command = bench.command(&[&["run"], &args[..], &long[..]].concat());
        command.envs(settings.clone()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let place = bench.dir.path().to_str().expect("a path");
        let theirs = || match own {
            ".boxscore-server-" => with_text(&format!("{place}/{own}")),
            _ => with_text(own),
        };
        wait_until("nothing runs in the container", || !theirs().is_empty());
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        wait_until("something is left over in the container", || theirs().is_empty());
        wait_until("the container is still known", || {
            let mut command = Command::new("podman");
            bench.settle(&mut command);
            said(command.envs(settings.clone()).args(["ps", "--all", "--quiet"]))
                .expect(0, &[])
                .out
                .is_empty()
        });
    }
}
