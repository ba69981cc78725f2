//! `boxscore run hadoop` end to end, on a real Hadoop: jobs on clusters that are started for them and go with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use instruments::workload::guard;
use model::data::RunData;

use crate::common::hadoop::home;
use crate::common::{Bench, PATIENCE, Running, Said, cannot, root, said};

/// Tiny jobs.
const TINY: [&str; 8] = ["run", "hadoop", "--quick", "--takes", "1", "--sittings", "1", "--no-report"];

fn command(bench: &Bench, home: &Path, args: &[&str]) -> Command {
    let mut command = bench.command(&TINY.iter().chain(args).copied().collect::<Vec<_>>());
    command.env("HADOOP_HOME", home);
    command
}

fn run(bench: &Bench, home: &Path, args: &[&str]) -> Said {
    said(&mut command(bench, home, args))
}

/// The figures of a run of one take each, by instrument, metric and the parameters beside the take's.
pub fn figures(run: &RunData) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for series in run.rows() {
        let step = series.key.params.get("step").map_or_else(String::new, |step| format!(" {step}"));
        let name = format!("{} {}{step}", series.key.instrument, series.key.metric);
        all.extend(series.measured().last().map(|value| (name, *value)));
    }
    all
}

/// Processes of clusters whose folders are below `dir`.
pub fn processes_of(dir: &Path) -> Vec<i32> {
    let folders = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with(guard::PRIVATE));
    folders.flat_map(|folder| guard::marked(&folder.path())).collect()
}

/// Waits until nothing of a cluster is left: no process with its mark, and no folder.
#[track_caller]
pub fn assert_nothing_left(dir: &Path) {
    let until = Instant::now() + PATIENCE;
    loop {
        let left: Vec<String> = std::fs::read_dir(dir)
            .expect("the folder")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(guard::PRIVATE))
            .collect();
        if left.is_empty() && processes_of(dir).is_empty() {
            return;
        }
        assert!(Instant::now() < until, "left: {left:?}, {:?}", processes_of(dir));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn one_node_sorts_and_every_sort_is_proved() {
    let Some(home) = home() else { return };
    let bench = Bench::new();
    let told = run(&bench, home, &["--test", "pi,terasort", "--data", "4MiB"]).expect(0, &[]);
    // Without the ends of lines.
    let out = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.starts_with("TeraSort of 4.00 MiB on 1 node: "), "{out}");
    assert!(out.contains("starting a job takes"), "{out}");
    let run = bench.only();
    let figures = figures(&run);
    let of = |name: &str| *figures.get(name).unwrap_or_else(|| panic!("no {name} in {figures:?}"));
    assert!(of("hadoop-pi wall") > of("hadoop-pi job-time"));
    assert!(of("hadoop-terasort wall") > 0.0 && of("hadoop-terasort rate") > 0.0);
    // 41,943 rows on either side.
    assert_eq!(of("hadoop-terasort spilled"), 2.0 * 41_943.0);
    assert_eq!(of("hadoop-terasort failed-attempts"), 0.0);
    assert_eq!(of("hadoop-terasort data-local"), 1.0);
    assert!(of("hadoop-terasort shuffled") > 4e6);
    let told = |text: &str| run.notes.iter().any(|note| note.body.text().contains(text));
    assert!(
        told("yarn.nodemanager.resource.memory-mb:") && told("1 node on the loopback"),
        "{:?}",
        run.notes
    );
    assert_nothing_left(bench.dir.path());
}

#[test]
fn a_log_is_a_job_with_the_result_of_one_process() {
    let Some(home) = home() else { return };
    let bench = Bench::new();
    let args = ["--test", "logs", "--data", "20MiB"];
    run(&bench, home, &args).expect(0, &[]);
    let figures = figures(&bench.only());
    let of = |name: &str| *figures.get(name).unwrap_or_else(|| panic!("no {name} in {figures:?}"));
    assert!(of("hadoop-logs rate") > 0.0 && of("hadoop-logs alone-rate") > 0.0);
    assert_eq!(of("hadoop-logs failed-attempts"), 0.0);
    // Two blocks of 16 MiB at most: one part each, which the reduce merges.
    assert_eq!(of("hadoop-logs spilled"), 2.0 * 2.0);
    assert_nothing_left(bench.dir.path());
}

#[test]
fn a_killed_program_leaves_no_daemon_and_no_container() {
    let Some(home) = home() else { return };
    let bench = Bench::new();
    let running = Running::start(command(&bench, home, &["--test", "pi", "--set", "samples=1000000000"]));
    // Five daemons, the client, and a container with its shell.
    let until = Instant::now() + PATIENCE;
    while processes_of(bench.dir.path()).len() < 8 {
        assert!(Instant::now() < until, "no job is at work: {:?}", processes_of(bench.dir.path()));
        std::thread::sleep(Duration::from_millis(100));
    }
    running.signal("KILL");
    assert_eq!(running.end().code, None);
    assert_nothing_left(bench.dir.path());
}

#[test]
fn nodes_in_namespaces_keep_copies() {
    if !root() {
        return cannot("only root can make network namespaces");
    }
    let Some(home) = home() else { return };
    let bench = Bench::new();
    let args = ["--test", "terasort", "--data", "4MiB", "--nodes", "2", "--replication", "2"];
    let told = run(&bench, home, &args).expect(0, &[]);
    assert!(told.out.contains("on 2 nodes"), "{}", told.out);
    assert_eq!(figures(&bench.only()).get("hadoop-terasort spilled"), Some(&(2.0 * 41_943.0)));
    assert_nothing_left(bench.dir.path());
}

#[test]
fn a_sort_outlives_a_node_that_is_killed() {
    if !root() {
        return cannot("only root can make network namespaces");
    }
    let Some(home) = home() else { return };
    let bench = Bench::new();
    let args = ["--test", "terasort", "--data", "8MiB", "--nodes", "2", "--replication", "2"];
    let args = [&args[..], &["--fault", "kill-node"]].concat();
    run(&bench, home, &args).expect(0, &[]);
    let run = bench.only();
    let figures = figures(&run);
    let of = |name: &str| *figures.get(name).unwrap_or_else(|| panic!("no {name} in {figures:?}"));
    assert!(of("hadoop-terasort node-lost") > 0.0 && of("hadoop-terasort datanode-dead") > 0.0);
    assert!(of("hadoop-terasort after-fault") < of("hadoop-terasort wall"));
    // The one that directed the job was spared.
    assert_eq!(of("hadoop-terasort am-attempts"), 1.0);
    let told = |text: &str| run.notes.iter().any(|note| note.body.text().contains(text));
    assert!(told("kill-node of w") && told("600 s and 630 s"), "{:?}", run.notes);
    assert_nothing_left(bench.dir.path());
}

#[test]
fn what_cannot_be_is_told_before_anything_starts() {
    let Some(home) = home() else { return };
    let bench = Bench::new();
    for (args, says) in [
        (&["--nodes", "0"][..], "--nodes 0 is not possible"),
        (&["--data", "few"], "--data few is not possible"),
        (&["--test", "sort"], "terasort, teravalidate"),
        (&["--test", "terasort", "--set", "compression=zip"], "compression=zip"),
        (&["--test", "pi", "--data", "1GiB"], "--data"),
        (&["--test", "terasort", "--fault", "kill-rack"], "--fault kill-rack is not possible"),
    ] {
        run(&bench, home, args).expect(2, &[says]);
    }
    for (args, says) in [
        (&["--replication", "2"][..], "as many copies as nodes"),
        (&["--data", "900TiB"], "of disk"),
        (&["--test", "terasort", "--fault", "kill-node"], "--nodes 2 or more"),
        (&["--set", "heap=512,container=256"], "does not fit"),
    ] {
        run(&bench, home, args).expect(2, &[says]);
    }
    let mut command = bench.command(&TINY);
    command.env_remove("HADOOP_HOME").env("XDG_DATA_HOME", bench.path("none"));
    said(&mut command).expect(1, &["boxscore hadoop fetch"]);
    assert_nothing_left(bench.dir.path());
}
