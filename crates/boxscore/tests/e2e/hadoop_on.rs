//! `run hadoop --on`: a cluster on several hosts, which are ssh servers with a network and an address each.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use instruments::workload::guard;

use crate::common::hadoop::home;
use crate::common::sshd::{Fleet, Wires, cache_at, text};
use crate::common::{PATIENCE, Running, cannot, root, signal};
use crate::hadoop_run::{assert_nothing_left, figures, processes_of};
use crate::lab_on::{done, fleet, runs};

const TINY: [&str; 9] =
    ["run", "hadoop", "--quick", "--takes", "1", "--sittings", "1", "--no-report", "--on"];

/// Servers in namespaces; those of `have` have a Hadoop. `None`, said aloud, where there can be none.
fn wired(count: usize, have: &[usize]) -> Option<Fleet> {
    if !root() {
        cannot("only root can make network namespaces");
        return None;
    }
    let home = home()?;
    let wires = match Wires::new(count) {
        Ok(wires) => wires,
        Err(why) => {
            cannot(&why);
            return None;
        }
    };
    let fleet = Fleet::start_on(count, Some(wires), |number| {
        let cache = cache_at(number, &format!("KEYS/cache{number}"));
        let hadoop = if have.contains(&number) { text(home) } else { "KEYS/none".to_owned() };
        format!("{cache} \"HADOOP_HOME={hadoop}\" XDG_DATA_HOME=KEYS/data{number}")
    });
    fleet.inventory();
    std::fs::create_dir(fleet.path("files")).expect("a folder");
    Some(fleet)
}

/// The run, without a Hadoop here that nodes could get.
fn command(fleet: &Fleet, nodes: &str, words: &[&str]) -> Command {
    let (binaries, files) = (fleet.binaries(), text(&fleet.path("files")));
    let own = [nodes, "--binaries", &binaries, "--dir", &files];
    let mut command = fleet.on_wires(&[&TINY[..], &own, words].concat());
    command.env_remove("HADOOP_HOME").env("XDG_DATA_HOME", fleet.path("data"));
    command
}

#[test]
fn two_nodes_sort_together_and_are_one_machine() {
    let Some(fleet) = wired(2, &[1, 2]) else { return };
    let said = done(&mut command(
        &fleet,
        "rack[1-2]",
        &["--test", "terasort", "--data", "4MiB", "--replication", "2"],
    ));
    let said = said.expect(0, &[]);
    assert!(
        said.out.contains("on 2 nodes") && said.out.contains("rack[1-2]; rack1 is the master"),
        "{}",
        said.out
    );
    let runs = runs(&fleet);
    assert_eq!(runs.iter().map(|run| run.head.machine.as_str()).collect::<Vec<_>>(), ["rack1"]);
    let figures = figures(&runs[0]);
    assert_eq!(figures.get("hadoop-terasort spilled"), Some(&(2.0 * 41_943.0)));
    assert_eq!(figures.get("hadoop-terasort failed-attempts"), Some(&0.0));
    let told = |text: &str| runs[0].notes.iter().any(|note| note.body.text().contains(text));
    assert!(told("2 nodes of a lab") && told("rack2 (10.254.77.2)"), "{:?}", runs[0].notes);
    assert_nothing_left(&fleet.path("files"));
}

#[test]
fn a_node_that_is_killed_in_a_sort_is_found_lost_and_started_anew() {
    let Some(fleet) = wired(2, &[1, 2]) else { return };
    let words = ["--test", "terasort", "--data", "8MiB", "--replication", "2", "--arm", "fault=kill-node"];
    let said = done(&mut command(&fleet, "rack[1-2]", &[&words[..], &["--arm", "fault=kill-am"]].concat()));
    said.expect(0, &[]);
    let [run] = &runs(&fleet)[..] else { panic!("one run") };
    let of = |arm: &str, metric: &str| {
        let is_it = |key: &model::SeriesKey| key.arm.contains(arm) && key.metric == metric;
        let found = run.rows().into_iter().find(|series| is_it(&series.key));
        found.and_then(|series| series.measured().last().copied()).unwrap_or_else(|| panic!("no {metric}"))
    };
    // The one that directed the job is spared, or is lost with it; either comes back for the other arm.
    for (arm, directors) in [("kill-node", 1.0), ("kill-am", 2.0)] {
        assert!(of(arm, "node-lost") > 0.0 && of(arm, "datanode-dead") > 0.0, "{arm}");
        assert!(of(arm, "after-fault") < of(arm, "wall"), "{arm}");
        assert_eq!(of(arm, "am-attempts"), directors, "{arm}");
    }
    let told = |text: &str| run.notes.iter().any(|note| note.body.text().contains(text));
    assert!(told("kill-node of rack") && told("kill-am of rack"), "{:?}", run.notes);
    assert_nothing_left(&fleet.path("files"));
}

#[test]
fn a_daemon_that_dies_on_another_node_is_named_and_nothing_is_left() {
    let Some(fleet) = wired(2, &[1, 2]) else { return };
    let running =
        Running::start(command(&fleet, "rack[1-2]", &["--test", "pi", "--set", "samples=1000000000"]));
    let folder = fleet.path("files");
    // Seven daemons, the client, and a container with its shell.
    let until = Instant::now() + PATIENCE;
    while processes_of(&folder).len() < 10 {
        assert!(Instant::now() < until, "no job is at work: {:?}", processes_of(&folder));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let victim = data_node_of(&folder, "rack2").expect("a DataNode");
    signal(victim, "KILL");
    let said = running.end();
    assert!(said.err.contains("DataNode on rack2 ended"), "{said:?}");
    assert_ne!(said.code, Some(0));
    assert_nothing_left(&folder);
}

/// The process of a node's DataNode, by its command line.
fn data_node_of(folder: &Path, node: &str) -> Option<u32> {
    let folders = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let all = folders.flat_map(|folder| guard::marked(&folder.path()));
    let is_it = |pid: &i32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        words.contains(&format!("/{node}/")) && words.contains("datanode.DataNode")
    };
    all.into_iter().find(is_it).and_then(|pid| u32::try_from(pid).ok())
}

#[test]
fn a_node_without_a_hadoop_is_named() {
    let Some(fleet) = wired(2, &[1]) else { return };
    let said = done(&mut command(&fleet, "rack[1-2]", &["--test", "pi"]));
    said.expect(1, &["rack2: HADOOP_HOME is ", "there is no such folder"]);
    assert_nothing_left(&fleet.path("files"));
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    let fleet = fleet(2);
    let refused =
        |words: &[&str]| done(&mut fleet.on(&[&["run", "hadoop", "--on", "rack[1-2]"], words].concat()));
    refused(&[]).expect(1, &["rack1 is at 127.0.2.1, where no other node reaches it", "address = "]);
    refused(&["crc32c"]).expect(2, &["--on names 2 nodes", "crc32c is of each node"]);
    let inventory = std::fs::read_to_string(fleet.path("lab.toml")).expect("an inventory");
    std::fs::write(fleet.path("lab.toml"), inventory.replace("127.0.2.", "10.254.78."))
        .expect("an inventory");
    let sort = ["--test", "terasort", "--replication", "2", "--fault", "link-down"];
    refused(&sort).expect(2, &["cut off from a node of --on too"]);
    refused(&["--nodes", "3"]).expect(2, &["--nodes 3: --on names 2 nodes"]);
    refused(&["--set", "members=a@10.0.0.1"]).expect(2, &["--on alone fills it in"]);
}
