//! `run web --on EXPR --from EXPR --content DIR` with real ssh servers: the files go to each node that serves them, a
//! server of boxscore's own set-up serves them at the node's address, and the answer names each node and all of them.
//! Nothing here is timed.

use std::fs;
use std::path::{Path, PathBuf};

use model::doc::RunDoc;

use crate::common::sshd::{Fleet, cache_at, text};
use crate::common::{Bench, Said, cannot};
use crate::lab_on::{done, of, runs};

/// One cell and few requests, whatever the server.
const ONE: &str = "requests=301;connections=4;generators=1;timeout=60;arrivals=closed;load=auto;rate=auto";

/// Nodes of which each has a home and a cache of its own, which a server's account can enter.
fn fleet(count: usize) -> Fleet {
    use std::os::unix::fs::PermissionsExt;
    let fleet = Fleet::start(count, settled);
    fleet.inventory();
    fs::set_permissions(fleet.dir.path(), fs::Permissions::from_mode(0o755)).expect("its own folder");
    (1..=count).for_each(|number| fs::create_dir(home(&fleet, number)).expect("a home"));
    fleet
}

fn settled(number: usize) -> String {
    format!("{} HOME=KEYS/home{number}", cache_at(number, &format!("KEYS/home{number}")))
}

fn home(fleet: &Fleet, number: usize) -> PathBuf {
    fleet.path(&format!("home{number}"))
}

/// Files of two sizes, one of them with a name that is encoded in URLs, in a folder with a blank.
fn site(folder: &Path) -> String {
    fs::create_dir_all(folder.join("images")).expect("folders");
    fs::write(folder.join("index.html"), "<p>hello</p>").expect("a file");
    fs::write(folder.join("images/a b?.gif"), vec![7; 4321]).expect("a file");
    text(folder)
}

fn web(fleet: &Fleet, more: &[&str]) -> Said {
    let binaries = fleet.binaries();
    let words = ["run", "web", "--no-report", "--takes", "2", "--sittings", "1", "--set", ONE];
    done(&mut fleet.on(&[&words, more, &["--binaries", &binaries]].concat()))
}

fn has_nginx() -> bool {
    instruments::workload::server::installed::usual().name() == "nginx"
}

#[test]
fn satellites_serve_a_folder_and_each_is_named_with_the_total() {
    if !has_nginx() {
        return cannot("nginx is not installed");
    }
    let fleet = fleet(3);
    let site = site(&fleet.path("my site"));
    let said = web(&fleet, &["--on", "rack[1-2]", "--from", "rack3", "--content", &site]);
    let said = said.expect(0, &["2 files of ", "went to 2 nodes: rack[1-2], verified there\n"]);
    let runs = runs(&fleet);
    assert_eq!(runs.len(), 2);
    let flat = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("rack1 serves ") && flat.contains("each loaded in its turn"), "{flat}");
    assert!(flat.contains("machine requests/s interval rack1 ") && flat.contains(" total "), "{flat}");
    for (number, name) in [(1, "rack1"), (2, "rack2")] {
        let run = of(&runs, name);
        let params = &run.plan.cells[0].params;
        let own = params.get("files").expect("the files");
        assert!(own.starts_with("my-site@") && params.get("listen") == Some("node"), "{params}");
        // Both sizes came over the wire, from the node's own address.
        let notes: Vec<String> = run.notes.iter().map(|note| note.text().into_owned()).collect();
        assert!(notes.iter().any(|note| note.contains("each asked for as often")), "{notes:?}");
        let there = home(&fleet, number).join(".cache/boxscore/content/my site");
        assert_eq!(fs::read(there.join("images/a b?.gif")).expect("the file").len(), 4321);
        let failed = run.series.iter().find(|series| series.key.metric == "error-rate").expect("a series");
        assert!(failed.measured().iter().all(|share| *share == 0.0));
    }
    assert!(!home(&fleet, 3).join(".cache/boxscore/content").exists(), "a generator needs no files");
    // What is there already is not sent again, and JSON has all of it.
    let said = web(&fleet, &["--on", "rack[1-2]", "--from", "rack3", "--content", &site, "--json"]);
    let said = said.expect(0, &[]);
    assert!(!said.err.contains("went to"), "{}", said.err);
    let document: RunDoc = serde_json::from_str(&said.out).expect("a document");
    let together = document.together.expect("all of them");
    let names: Vec<&str> = together.figures.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["rack1", "rack2", "total"]);
    let sum = together.figures[0].value + together.figures[1].value;
    assert!((together.figures[2].value - sum).abs() < 1e-9 * sum);
}

#[test]
fn what_cannot_be_served_is_named_before_anything_is_measured() {
    if !has_nginx() {
        return cannot("nginx is not installed");
    }
    let fleet = fleet(2);
    let site = site(&fleet.path("site"));
    let empty = fleet.path("empty");
    fs::create_dir(&empty).expect("a folder");
    let on = |folder: &str| web(&fleet, &["--on", "rack1", "--from", "rack2", "--content", folder]);
    on(&text(&empty)).expect(1, &["--content ", "empty: ", "no file is in it"]);
    on("/no/such").expect(1, &["--content /no/such: No such file"]);
    let linked = fleet.path("linked");
    fs::create_dir(&linked).expect("a folder");
    std::os::unix::fs::symlink("/etc/passwd", linked.join("link")).expect("a link");
    on(&text(&linked)).expect(1, &["linked/link: it is no plain file"]);
    let url = ["--on", "rack1", "--url", "http://127.0.0.1:1/", "--content", &site];
    web(&fleet, &url).expect(2, &["--content", "cannot be used with", "--url"]);
    // A node whose folder cannot be made is named, and the other one is measured.
    fs::create_dir(home(&fleet, 1).join(".cache")).expect("a folder");
    fs::write(home(&fleet, 1).join(".cache/boxscore"), "in the way").expect("a file");
    let said = web(&fleet, &["--on", "rack[1-2]", "--content", &site]);
    said.expect(3, &["left out: rack1: not copied: its folder cannot be made or entered"]);
    assert_eq!(runs(&fleet).len(), 1);
    // A node without the server is named with what is missing.
    fs::remove_file(home(&fleet, 1).join(".cache/boxscore")).expect("a file");
    let said = web(&fleet, &["--on", "rack1", "--content", &site, "--set", "server=nginx;binary=/no/nginx"]);
    said.expect(1, &["rack1", "binary=/no/nginx"]);
}

#[test]
fn no_way_from_a_generator_to_a_satellite_is_told_with_both() {
    let fleet = fleet(2);
    let site = site(&fleet.path("site"));
    // An address that no node has, and nobody answers at: the documentation's own.
    let words = ["--on", "rack1", "--from", "rack2", "--content", &site, "--set", "server=builtin"];
    let said = web(&fleet, &[&words[..], &["--set", "listen=192.0.2.77"]].concat());
    said.expect(1, &["rack1", "192.0.2.77"]);
}

#[test]
fn this_machine_serves_a_folder_too_and_a_mix_says_how_often() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    fs::set_permissions(bench.dir.path(), fs::Permissions::from_mode(0o755)).expect("its own folder");
    let site = site(&bench.path("site"));
    let words = ["run", "web", "--no-report", "--takes", "1", "--set", ONE, "--set", "server=builtin"];
    let run = |more: &[&str]| bench.run(&[&words[..], &["--content", &site], more].concat());
    run(&[]).expect(0, &[]);
    let data = bench.only();
    let notes: Vec<String> = data.notes.iter().map(|note| note.text().into_owned()).collect();
    assert!(notes.iter().any(|note| note.contains("2 files of ")), "{notes:?}");
    // Half of the answers have 4,321 bytes, half 12.
    let log = bench.path("access.log");
    let line = |path: &str, bytes: u32| {
        format!(
            "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" 200 {bytes} \"-\" \"-\"\n"
        )
    };
    fs::write(&log, [line("/", 12).repeat(9), line("/gone", 5)].concat()).expect("a log");
    let mix = text(&bench.path("mix.json"));
    bench.run(&["logs", &text(&log), "--no-store", "--profile-out", &mix]).expect(0, &[]);
    run(&["--mix", &mix]).expect(2, &["--paths"]);
    bench.run(&["logs", &text(&log), "--no-store", "--profile-out", &mix, "--paths"]).expect(0, &[]);
    run(&["--mix", &mix, "--label", "mixed"]).expect(0, &[]);
    let head = bench.heads().into_iter().find(|head| head.label.as_deref() == Some("mixed")).expect("a run");
    let data = bench.data(&head.id);
    let notes: Vec<String> = data.notes.iter().map(|note| note.text().into_owned()).collect();
    assert!(notes.iter().any(|note| note.contains("1 of 2 files") && note.contains("90.00 %")), "{notes:?}");
    // A file that changes after the plan was made is another load.
    fs::write(bench.path("site/index.html"), "other").expect("a file");
    bench.run(&["run", "--plan", &head.id, "--no-report"]).expect(1, &["index.html is not the file"]);
}
