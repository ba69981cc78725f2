//! A store on a PostgreSQL server, end to end, and `boxscore store copy` between stores of both kinds.

#[path = "../../../store/tests/all/server.rs"]
mod server;

use std::process::Command;

use model::data::Status;
use model::doc::{HistoryDoc, StoreCopyDoc};

use crate::common::{Bench, FAKE, ONE, Running, Said, said, short};

const SECRET: &str = "hush-hush";

/// The program on a store of this URL; what it keeps beside goes to the bench.
fn command(bench: &Bench, url: &str, args: &[&str]) -> Command {
    let mut command = bench.command(args);
    command.env("BOXSCORE_STORE", url).env("XDG_DATA_HOME", bench.path("data"));
    command
}

fn run(bench: &Bench, url: &str, args: &[&str]) -> Said {
    let said = said(&mut command(bench, url, args));
    assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "{said:#?}");
    said
}

/// An empty database, by a URL with a password, which the server does not ask for.
fn database() -> String {
    server::url(&server::database()).replace("postgres@", &format!("postgres:{SECRET}@"))
}

/// Three runs of a planted world, one of them hidden and noted.
fn fill(bench: &Bench, url: &str) -> Vec<String> {
    for label in ["one", "two", "three"] {
        run(bench, url, &[&FAKE[..], &["--takes", "8", "--label", label]].concat()).expect(0, &[]);
    }
    run(bench, url, &["hide", "three"]).expect(0, &[]);
    run(bench, url, &["note", "one", "the lid was open", "--price", "0.2/h"]).expect(0, &[]);
    run(bench, url, &["note", "one", "the lid was open"]).expect(0, &[]);
    history(bench, url).runs.into_iter().map(|row| row.run).collect()
}

fn history(bench: &Bench, url: &str) -> HistoryDoc {
    let said = run(bench, url, &["history", "--all", "--json"]).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

fn copied(bench: &Bench, from: &str, to: &str, more: &[&str]) -> StoreCopyDoc {
    let args = [&["store", "copy", from, to, "--json"], more].concat();
    serde_json::from_str(&run(bench, "", &args).expect(0, &[]).out).expect("a document")
}

#[test]
fn every_verb_works_on_a_server() {
    let (bench, url) = (Bench::new(), database());
    assert!(run(&bench, &url, &["history"]).expect(0, &[]).out.contains("no runs"), "before the first run");
    let ids = fill(&bench, &url);
    assert_eq!(ids.len(), 3);
    let listed = run(&bench, &url, &["history"]).expect(0, &["1 run hidden"]).out;
    assert!(listed.contains("one") && listed.contains("two") && !listed.contains("three"), "{listed}");
    let compared = run(&bench, &url, &["compare", "one", "two"]).expect(0, &[]).out;
    assert!(compared.contains("crc32c"), "{compared}");
    assert!(run(&bench, &url, &["show", "one"]).expect(0, &[]).out.contains("crc32c"));
    let page = bench.path("page.html").display().to_string();
    run(&bench, &url, &["report", "one", "two", "-o", &page]).expect(0, &[]);
    let page = std::fs::read_to_string(&page).expect("the page");
    assert!(page.contains("<svg") && !page.contains(SECRET));
    run(&bench, &url, &["export", "--all"]).expect(0, &[]);
    run(&bench, &url, &["detect", "5", "--machine", "planted"]).expect(0, &[]);
    let removed = run(&bench, &url, &["remove", "two", "--yes", "--json"]).expect(0, &[]).out;
    assert!(removed.contains("postgres://postgres@127.0.0.1"), "{removed}");
    assert_eq!(history(&bench, &url).runs.len(), 2);
    // Without --no-report, the page goes to the data directory.
    let name = &url.rsplit_once('/').expect("a name").1;
    assert_eq!(server::ask(name, "SELECT count(*) FROM run"), "2");
    assert_eq!(server::ask(name, "SELECT count(*) FROM study WHERE plan LIKE '%hush%'"), "0");
}

#[test]
fn two_controllers_write_and_a_killed_one_is_resumed() {
    let (bench, url) = (Bench::new(), database());
    let long = [&ONE[..], &["--takes", "30", "--show-takes"]].concat();
    let mut running = Running::start(command(&bench, &url, &long));
    assert!(running.until("stored take 3"), "{:?}", running.heard);
    run(&bench, &url, &[&FAKE[..], &["--takes", "4", "--label", "beside"]].concat()).expect(0, &[]);
    let rows = history(&bench, &url).runs;
    let id = rows.iter().find(|row| row.status == Status::Running).expect("it runs").run.clone();
    run(&bench, &url, &["remove", &id, "--yes"]).expect(1, &["is in progress"]);
    let other = bench.path("copy.db").display().to_string();
    let said = run(&bench, "", &["store", "copy", &url, &other, "--json"]).expect(3, &[]);
    let document: StoreCopyDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((document.copied, document.left_out[0].kind.as_str()), (1, "run-busy"));
    running.signal("KILL");
    drop(running.end());
    run(&bench, &url, &["resume", short(&id)]).expect(0, &["resuming run"]);
    let rows = history(&bench, &url).runs;
    assert!(rows.iter().all(|row| row.status == Status::Complete), "{rows:?}");
}

#[test]
fn a_copy_over_both_kinds_of_stores_is_the_same_to_the_byte() {
    let bench = Bench::new();
    let a = bench.path("a.db").display().to_string();
    let (b, c) = (database(), bench.path("c.db").display().to_string());
    let ids = fill(&bench, &a);
    let first = copied(&bench, &a, &b, &[]);
    assert_eq!((first.copied, first.unchanged, first.takes), (3, 0, 3 * 9));
    assert!(!first.to.contains(SECRET), "{first:?}");
    assert_eq!(copied(&bench, &b, &c, &[]).copied, 3);
    let documents = |store: &str| {
        let of = |args: &[&str]| run(&bench, store, args).expect(0, &[]).out;
        let shown: Vec<String> = ids.iter().map(|id| of(&["show", id, "--json"])).collect();
        (
            of(&["export", "--all", "--json"]),
            of(&["export", "--all"]),
            of(&["history", "--all", "--json"]),
            shown,
        )
    };
    let of_a = documents(&a);
    assert!(of_a.1.contains("the lid was open"), "{}", of_a.1);
    assert_eq!(of_a, documents(&b));
    assert_eq!(of_a, documents(&c));
    // A second copy changes nothing and says so.
    let said = run(&bench, "", &["store", "copy", &a, &b]).expect(0, &[]);
    assert!(said.out.starts_with("nothing to copy: postgres://postgres@"), "{said:#?}");
    assert_eq!(documents(&b), of_a);
    // A note that came later is all that a third one brings.
    run(&bench, &a, &["note", "one", "it was closed later"]).expect(0, &[]);
    let third = copied(&bench, &a, &b, &[]);
    assert_eq!((third.copied, third.completed, third.unchanged, third.takes), (0, 1, 2, 0));
    let d = bench.path("d.db").display().to_string();
    let some = copied(&bench, &b, &d, &["--run", "two", "three"]);
    assert_eq!((some.copied, history(&bench, &d).runs.len()), (2, 2));
    run(&bench, "", &["store", "copy", &a, &a]).expect(2, &["is both stores"]);
}

#[test]
fn a_server_out_of_reach_ends_with_exit_1_and_no_password() {
    let bench = Bench::new();
    let url = format!("postgres://ann:{SECRET}@127.0.0.1:1/lab");
    for args in [&["history"][..], &["show", "latest"], &["run", "crc32c"], &["remove", "latest", "--yes"]] {
        let said = run(&bench, &url, args)
            .expect(1, &["postgres://ann@127.0.0.1:1/lab is out of reach", "pg_isready"]);
        assert!(said.out.is_empty(), "{said:#?}");
        let by_flag = [&["--store", &url], args].concat();
        run(&bench, "", &by_flag).expect(1, &["postgres://ann@127.0.0.1:1/lab is out of reach"]);
    }
}
