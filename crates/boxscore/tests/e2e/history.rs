//! `boxscore history` end to end: newest first, limits, and no store at all.

use crate::common::Bench;
use model::doc::HistoryDoc;

#[test]
fn without_a_store_there_is_no_history_and_no_error() {
    let bench = Bench::new();
    let said = bench.run(&["history"]).expect(0, &[]);
    assert!(said.out.contains("no runs yet"), "{}", said.out);
    let said = bench.run(&["history", "--json"]).expect(0, &[]);
    let document: HistoryDoc = serde_json::from_str(&said.out).expect("a document");
    assert!(document.runs.is_empty());
    assert!(!bench.store().exists(), "looking made a store");
}

#[test]
fn runs_come_newest_first_up_to_the_limit() {
    let bench = Bench::new();
    for label in ["one", "two", "two"] {
        bench.fake(&["--takes", "3", "--label", label]).expect(0, &[]);
    }
    let document = |args: &[&str]| -> HistoryDoc {
        serde_json::from_str(&bench.run(args).expect(0, &[]).out).expect("a document")
    };
    let all = document(&["history", "--json"]);
    assert_eq!(all.schema, "boxscore.history/1");
    let labels: Vec<_> = all.runs.iter().map(|run| run.label.as_deref().unwrap_or("")).collect();
    assert_eq!(labels, ["two", "two", "one"]);
    assert!(all.runs.windows(2).all(|pair| pair[0].started >= pair[1].started));
    assert!(
        all.runs
            .iter()
            .all(|run| run.status == model::data::Status::Complete && run.takes > 0 && run.faults == 0)
    );
    let newest = document(&["history", "--limit", "1", "--json"]);
    assert_eq!(newest.runs, all.runs[..1]);
    assert_eq!(document(&["history", "--label", "one", "--json"]).runs.len(), 1);
    assert!(document(&["history", "--machine", "nobody", "--json"]).runs.is_empty());
    let text = bench.run(&["history"]).expect(0, &[]).out;
    assert!(text.starts_with("each: planted · crc32c · ") && text.contains("complete"), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.contains(" two") || line.contains(" one")).count(),
        3,
        "{text}"
    );
    assert_eq!(bench.run(&["history", "--label", "nosuch"]).expect(0, &[]).out, "no run matches\n");
    bench.run(&["history", "--limit", "0"]).expect(2, &["0"]);
}

#[test]
fn a_store_of_the_environment_is_no_argument_that_was_given() {
    let bench = Bench::new();
    let said = bench.run(&["load"]).expect(2, &["<URL>", "boxscore load"]);
    assert!(!said.err.contains("--store"), "{said:#?}");
}

#[test]
fn the_latest_run_is_the_one_that_was_stored_last() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let line = "10.0.0.1 - - [01/May/2010:10:00:00 +0200] \"GET /a HTTP/1.1\" 200 1000 2000\n";
    std::fs::write(bench.path("old.log"), line.repeat(3)).expect("a log");
    bench.run(&["logs", "old=old.log"]).expect(0, &[]);
    let said = bench.run(&["history", "--json"]).expect(0, &[]);
    let document: HistoryDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(document.runs[0].what, "logs old");
    let said = bench.run(&["show", "latest", "--json"]).expect(0, &[]);
    let shown: model::doc::RunDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(shown.run, document.runs[0].run);
}

#[test]
fn a_command_is_named_wherever_it_is_shown() {
    let bench = Bench::new();
    let said =
        bench.run(&["run", "--cmd", "sleep 0.01", "--takes", "2"]).expect(0, &["warm-up of `sleep 0.01`"]);
    assert!(said.out.contains("`sleep 0.01`: wall time"), "{said:#?}");
    let said = bench.run(&["history"]).expect(0, &[]);
    assert!(said.out.contains("`sleep 0.01`"), "{said:#?}");
    let said = bench.run(&["report", "latest", "-o", "r.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("r.html")).unwrap_or_else(|_| panic!("{said:#?}"));
    let heading = page.split("<h1").nth(1).and_then(|rest| rest.split("</h1>").next()).expect("a heading");
    assert!(heading.contains("sleep 0.01"), "{heading}");
}
