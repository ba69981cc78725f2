//! `--on` with real ssh servers: boxscore is put on nodes, they are machines of one study, and one that is lost is
//! reached again.

use std::path::Path;
use std::process::Command;

use model::data::{RunData, Status};
use model::doc::{DoctorManyDoc, InspectManyDoc, LoadDoc, LogsDoc};
use store::{Filter, Mode, Store};

use crate::common::sshd::{Fleet, cache_at, text};
use crate::common::{FAKE, Running, Said, assert_whole, cannot, changed, children, signal, wait_for};
use crate::load::Scripted;

/// Servers of which each node has a cache folder of its own, with a name that no shell must read.
pub fn fleet(count: usize) -> Fleet {
    let fleet = Fleet::start(count, settled);
    fleet.inventory();
    world(&fleet);
    fleet
}

fn world(fleet: &Fleet) {
    let world = r#"{"seed": 7, "series": [{"instrument": "*", "median": 1e9, "spread": 0.01}]}"#;
    std::fs::write(fleet.path("world.json"), world).expect("a world");
}

fn cache(number: usize) -> String {
    format!("it's $(touch pwned) {number}")
}

pub fn settled(number: usize) -> String {
    cache_at(number, &format!("KEYS/{}", cache(number)))
}

/// The files of a node's cache folder.
fn cached(fleet: &Fleet, number: usize) -> Vec<String> {
    let folder = fleet.path(&cache(number)).join("boxscore");
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    found.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

pub fn done(command: &mut Command) -> Said {
    command.output().expect("it starts").into()
}

pub fn runs(fleet: &Fleet) -> Vec<RunData> {
    let store = Store::open(&fleet.path("s.db"), Mode::ReadOnly).expect("the store opens");
    let heads = store.heads(&Filter::default()).expect("its runs");
    heads.iter().map(|head| store.load(&head.id).expect("the run")).collect()
}

pub fn of<'a>(runs: &'a [RunData], machine: &str) -> &'a RunData {
    runs.iter().find(|run| run.head.machine == machine).unwrap_or_else(|| panic!("no {machine}"))
}

#[test]
fn nodes_get_boxscore_once_and_are_machines_of_one_study_at_their_prices() {
    let fleet = fleet(3);
    let binaries = fleet.binaries();
    let inventory = std::fs::read_to_string(fleet.path("lab.toml")).expect("an inventory");
    let priced = format!("currency = \"EUR\"\n{inventory}price = \"876.6/y\"\nwatts = 95\n");
    std::fs::write(fleet.path("lab.toml"), priced).expect("an inventory");
    let words = [&FAKE[..], &["--takes", "3", "--on", "rack[1-2]", "--binaries", &binaries]].concat();
    let said = done(&mut fleet.on(&words)).expect(0, &["note: boxscore was copied to 2 nodes: rack[1-2]\n"]);
    assert!(!said.err.contains("left out"), "{said:?}");
    let runs = self::runs(&fleet);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].head.study, runs[1].head.study);
    for name in ["rack1", "rack2"] {
        let run = of(&runs, name);
        assert_whole(run, 3);
        let price = run.head.price.clone().expect("a price");
        assert_eq!((price.amount, price.currency.as_str(), price.hourly), (0.1, "EUR", true));
        assert_eq!(run.head.watts, Some(95.0));
    }
    // An older agent under the name of this one is no agent of this study.
    let name = cached(&fleet, 1).pop().expect("boxscore in its folder");
    let older = "#!/bin/sh\necho an older agent\n";
    std::fs::write(fleet.path(&cache(1)).join("boxscore").join(name), older).expect("a script");
    let said = done(&mut fleet.on(&words)).expect(0, &["note: boxscore was copied to 1 node: rack1\n"]);
    assert!(!said.err.contains("lost"), "{said:?}");
    let said = done(&mut fleet.on(&[&words[..], &["--remove"]].concat())).expect(0, &[]);
    assert!(!said.err.contains("copied"), "it is there already: {said:?}");
    assert!(cached(&fleet, 1).is_empty() && cached(&fleet, 2).is_empty(), "it was to be removed");
    assert!(!fleet.path("pwned").exists());
    assert!(!Path::new("pwned").exists());
}

#[test]
fn a_node_is_one_machine_whether_it_was_measured_alone_or_with_others() {
    let fleet = fleet(2);
    let binaries = fleet.binaries();
    for nodes in ["rack1", "rack[1-2]"] {
        let words = [&FAKE[..], &["--takes", "3", "--on", nodes, "--binaries", &binaries]].concat();
        done(&mut fleet.on(&words)).expect(0, &[]);
    }
    let runs = self::runs(&fleet);
    let ids = |name: &str| -> Vec<&str> {
        runs.iter().filter(|run| run.head.machine == name).map(|run| run.head.machine_id.as_str()).collect()
    };
    let (first, second) = (ids("rack1"), ids("rack2"));
    assert_eq!((first.len(), second.len()), (2, 1));
    assert!(
        first[0] == first[1] && first[0].ends_with("/rack1") && second[0].ends_with("/rack2"),
        "{first:?}"
    );
    assert!(runs.iter().all(|run| run.plan.no_report));
}

#[test]
fn a_node_that_cannot_have_boxscore_is_named_and_the_others_are_measured() {
    let mut fleet = fleet(3);
    let binaries = fleet.binaries();
    // Its processor is another one, by what it says.
    let bin = fleet.path("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::fs::write(bin.join("uname"), "#!/bin/sh\necho sparc64\n").expect("a script");
    Command::new("chmod").arg("755").arg(bin.join("uname")).status().expect("chmod");
    fleet.end(2);
    fleet.start_again(2, &format!("SetEnv FLEET_NAME=node2 PATH={}:/usr/bin:/bin", text(&bin)));
    fleet.end(3);
    let words = [&FAKE[..], &["--takes", "3", "--on", "@*", "--binaries", &binaries, "--remove"]].concat();
    done(&mut fleet.on(&words)).expect(
        3,
        &[
            "left out: rack2: there is no static boxscore here for its processor (sparc64)\n",
            "dist/boxscore-sparc64",
            "left out: rack3: it refused the connection\n",
        ],
    );
    let runs = self::runs(&fleet);
    assert_eq!(runs.len(), 1);
    assert_whole(of(&runs, "rack1"), 3);
    let words = [&FAKE[..], &["--takes", "3", "--on", "rack[2-3]", "--binaries", &binaries]].concat();
    done(&mut fleet.on(&words)).expect(1, &["no node can be measured"]);
    // What is wrong with the command line is said before anybody is reached.
    let words = [&FAKE[..], &["--set", "sise=1", "--on", "rack3"]].concat();
    let said = done(&mut fleet.on(&words)).expect(2, &["sise"]);
    assert!(!said.err.contains("refused the connection"), "{said:?}");
    done(&mut fleet.on(&["run", "--on", "rack1", "--binaries", "/nowhere"]))
        .expect(1, &["--binaries /nowhere: no"]);
}

/// A file system in memory that goes with the test.
struct Mount(std::path::PathBuf);

impl Mount {
    fn new(at: std::path::PathBuf, options: &str) -> Result<Mount, String> {
        std::fs::create_dir(&at).expect("a folder");
        let made = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&at).output();
        match made {
            Ok(done) if done.status.success() => Ok(Mount(at)),
            Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
            Err(error) => Err(format!("mount: {error}")),
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let done = Command::new("umount").arg(&self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "{} is left", self.0.display());
    }
}

#[test]
fn where_nothing_may_be_started_the_next_folder_is_taken_and_a_full_disk_is_named() {
    let mut fleet = fleet(2);
    let binaries = fleet.binaries();
    let mounts = tempfile::TempDir::new().expect("a folder");
    let noexec = Mount::new(mounts.path().join("noexec"), "noexec,mode=755");
    let full = Mount::new(mounts.path().join("full"), "size=1m,mode=755");
    let (noexec, full) = match (noexec, full) {
        (Ok(noexec), Ok(full)) => (noexec, full),
        (Err(why), _) | (_, Err(why)) => return cannot(&why),
    };
    for (number, mount) in [(1, &noexec), (2, &full)] {
        fleet.end(number);
        fleet.start_again(number, &cache_at(number, &text(&mount.0)));
    }
    let words = [&FAKE[..], &["--takes", "3", "--on", "@*", "--binaries", &binaries, "--remove"]].concat();
    let said = done(&mut fleet.on(&words)).expect(3, &["left out: rack2: not copied: boxscore-"]);
    assert!(said.err.contains("No space left on device"), "{said:?}");
    assert_whole(of(&runs(&fleet), "rack1"), 3);
    assert_eq!(std::fs::read_dir(noexec.0.join("boxscore")).expect("a folder").count(), 0);
}

/// The machines of a study of five nodes, and what it is started with.
pub fn five(takes: &str) -> (Fleet, Vec<String>) {
    let fleet = fleet(5);
    let words = [&FAKE[..], &["--takes", takes, "--show-takes", "--on", "@*", "--binaries"]].concat();
    let words = words.into_iter().map(str::to_owned).chain([fleet.binaries()]).collect();
    (fleet, words)
}

pub fn started(fleet: &Fleet, words: &[String]) -> Running {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Running::start(fleet.on(&words))
}

#[test]
fn nodes_that_die_are_named_the_others_are_whole_and_resume_finishes() {
    let (mut fleet, mut words) = five("300");
    words.push("--remove".to_owned());
    let mut running = started(&fleet, &words);
    assert!(running.until("rack5: stored take 3"), "{:?}", running.heard);
    for number in [4, 5] {
        let sessions = children(fleet.pid(number));
        assert!(!sessions.is_empty());
        fleet.end(number);
        sessions.into_iter().for_each(|pid| signal(pid, "KILL"));
    }
    running.end().expect(
        3,
        &[
            "note: lost on the way: rack[4-5]",
            "skipped: rack[4-5]: lost and not reached again; `boxscore resume`",
        ],
    );
    let runs = self::runs(&fleet);
    assert_eq!(runs.len(), 5);
    for name in ["rack1", "rack2", "rack3"] {
        assert_whole(of(&runs, name), 300);
    }
    for name in ["rack4", "rack5"] {
        let run = of(&runs, name);
        assert_eq!(run.head.status, Status::Interrupted);
        assert!(run.takes.len() >= 4);
    }
    for number in [4, 5] {
        fleet.start_again(number, &settled(number));
    }
    done(&mut fleet.plain(&["resume"])).expect(0, &[]);
    let runs = self::runs(&fleet);
    assert_eq!(runs.len(), 5);
    runs.iter().for_each(|run| assert_whole(run, 300));
    (1..=5).for_each(|number| assert!(cached(&fleet, number).is_empty(), "it was to be removed: {number}"));
}

#[test]
fn a_node_whose_connection_breaks_is_reached_again() {
    let (fleet, words) = five("300");
    let mut running = started(&fleet, &words);
    assert!(running.until("rack2: stored take 3"), "{:?}", running.heard);
    fleet.cut(2);
    running.end().expect(0, &["note: lost on the way: rack2; reached again in 3 s"]);
    let runs = self::runs(&fleet);
    assert_eq!(runs.len(), 5);
    runs.iter().for_each(|run| assert_whole(run, 300));
}

#[test]
fn sheets_and_checks_of_nodes_stand_side_by_side() {
    let mut fleet = fleet(3);
    let binaries = fleet.binaries();
    fleet.end(3);
    let of_nodes = ["--on", "@*", "--binaries", &binaries];
    let said = done(&mut fleet.on(&[&["inspect"], &of_nodes[..]].concat()));
    let said = said.expect(3, &["left out: rack3: it refused the connection\n"]);
    assert!(said.out.contains("rack1") && said.out.contains("rack2"), "{}", said.out);
    let said = done(&mut fleet.on(&["inspect", "--on", "rack1", "rack2", "--json", "--binaries", &binaries]));
    assert_eq!(said.code, Some(1), "rack2 is a name of no machine of the store: {said:?}");
    let said = done(&mut fleet.on(&[&["inspect", "--json"], &of_nodes[..]].concat()));
    let sheets: InspectManyDoc = serde_json::from_str(&said.out).expect("a document");
    let names: Vec<&str> = sheets.machines.iter().map(|one| one.machine.name.as_str()).collect();
    assert_eq!(names, ["rack1", "rack2"]);
    assert!(sheets.machines.iter().all(|one| one.facts.iter().any(|fact| fact.key == "cpu.model")));
    let said = done(&mut fleet.on(&[&["doctor", "--json"], &of_nodes[..], &["--remove"]].concat()));
    let checks: DoctorManyDoc = serde_json::from_str(&said.out).expect("a document");
    let names: Vec<&str> = checks.machines.iter().map(|one| one.machine.as_str()).collect();
    assert_eq!((names, said.code), (vec!["rack1", "rack2"], Some(3)));
    assert!(cached(&fleet, 1).is_empty(), "it was to be removed");
    done(&mut fleet.on(&["doctor", "--prove", "--on", "rack1"])).expect(2, &["on this machine alone"]);
}

#[test]
fn nodes_send_the_load_and_none_of_them_may_be_missing() {
    let mut fleet = fleet(2);
    let (binaries, server) = (fleet.binaries(), Scripted::start());
    let url = server.url("/");
    let words =
        ["load", &url, "-n", "300", "-c", "4", "--json", "--on", "@*", "--binaries", &binaries, "--remove"];
    let said = done(&mut fleet.on(&words)).expect(0, &[]);
    let document: LoadDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((document.requests, document.good), (300, 300), "{said:#?}");
    let run = runs(&fleet).pop().expect("its run");
    let names: Vec<&str> = run.plan.generators.iter().map(|via| via.name.as_str()).collect();
    assert_eq!(names, ["rack1", "rack2"]);
    assert!(cached(&fleet, 1).is_empty(), "it was to be removed");
    done(&mut fleet.on(&["load", &url, "-t", "2", "--on", "@*"])).expect(2, &["one thread"]);
    fleet.end(2);
    let words = ["load", &url, "-n", "9", "-c", "2", "--on", "@*", "--binaries", &binaries];
    done(&mut fleet.on(&words)).expect(1, &["a generator of load is missing: rack2"]);
}

#[test]
fn generators_of_a_run_are_nodes_too_and_a_command_stays_one() {
    let fleet = fleet(3);
    let binaries = fleet.binaries();
    let web = "server=builtin;content=gif;requests=301;connections=5;timeout=60;arrivals=closed;load=auto;rate=auto";
    let words = ["run", "web", "--no-report", "--fake", "world.json", "--takes", "1", "--set", web];
    let nodes = ["--on", "rack1", "--from", "rack[2-3]", "--from", "mine=cat /no", "--binaries", &binaries];
    done(&mut fleet.on(&[&words[..], &nodes[..]].concat())).expect(0, &["copied to 3 nodes"]);
    let run = runs(&fleet).pop().expect("its run");
    assert_eq!(run.head.machine, "rack1");
    let names: Vec<&str> = run.plan.generators.iter().map(|via| via.name.as_str()).collect();
    assert_eq!(names, ["mine", "rack2", "rack3"]);
    done(&mut fleet.on(&[&words[..], &["--on", "rack1", "--from", "@none"]].concat())).expect(2, &["none"]);
}

#[test]
fn each_node_reads_its_own_logs_and_they_are_merged_here() {
    let mut fleet = fleet(3);
    let binaries = fleet.binaries();
    let log = fleet.path("it's a log");
    std::fs::write(&log, changed()).expect("a log");
    let log = text(&log);
    let of_nodes = ["--on", "rack[1-2]", "--binaries", &binaries, "--json", "--no-store"];
    let read = |words: &[&str]| {
        let said = done(&mut fleet.on(&[&["logs"], words, &of_nodes[..]].concat()));
        let document: LogsDoc =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
        document.labels.iter().map(|one| (one.label.clone(), one.parsed)).collect::<Vec<_>>()
    };
    let both = [("rack1".to_owned(), 10_800), ("rack2".to_owned(), 10_800)];
    assert_eq!(read(&[&log]), both);
    assert_eq!(read(&[&format!("web={log}")]), [("web".to_owned(), 21_600)]);
    assert_eq!(read(&[&log, "--where", "path!=/b", "--by", "hour"]), both);
    let left: Vec<String> = cached(&fleet, 1).into_iter().filter(|name| name.contains(".agg")).collect();
    assert!(left.is_empty(), "{left:?}");
    done(&mut fleet.on(&["logs", "/no/such", "--on", "rack1", "--binaries", &binaries]))
        .expect(1, &["rack1: ", "/no/such"]);
    done(&mut fleet.on(&["logs", &log, "--on", "rack1", "--follow"])).expect(2, &["stay on the nodes"]);
    fleet.end(3);
    let words = ["logs", &log, "--on", "rack[1,3]", "--binaries", &binaries, "--no-store"];
    done(&mut fleet.on(&words)).expect(3, &["left out: rack3"]);
}

#[test]
fn nodes_whose_readers_are_interrupted_keep_nothing_of_them() {
    let fleet = fleet(2);
    let binaries = fleet.binaries();
    let pipe = fleet.path("a pipe");
    Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    let running = Running::start(fleet.on(&["logs", &text(&pipe), "--on", "rack1", "--binaries", &binaries]));
    let files = || cached(&fleet, 1).into_iter().filter(|name| name.contains(".agg")).collect::<Vec<_>>();
    wait_for("no reader is at work", || files().iter().any(|name| name.ends_with(".pid")));
    running.signal("INT");
    running.end().expect(130, &["stopped"]);
    assert!(files().is_empty(), "{:?}", files());
}

#[test]
fn what_the_shell_of_a_node_prints_does_not_keep_it_from_being_measured() {
    let greets = "ForceCommand echo Welcome to rack; eval \"$SSH_ORIGINAL_COMMAND\"";
    let fleet = Fleet::start(2, |number| match number {
        2 => format!("{}\n{greets}", settled(number)),
        _ => settled(number),
    });
    fleet.inventory();
    let binaries = fleet.binaries();
    let words = [&FAKE[..], &["--takes", "3", "--on", "rack[1-2]", "--binaries", &binaries]].concat();
    world(&fleet);
    done(&mut fleet.on(&words)).expect(0, &[]);
    let runs = self::runs(&fleet);
    ["rack1", "rack2"].iter().for_each(|name| assert_whole(of(&runs, name), 3));
}
