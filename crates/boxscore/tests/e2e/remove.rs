//! `boxscore remove` and `boxscore hide` end to end: what is gone is gone, what is hidden counts nowhere, and a run in
//! progress is left alone.

use crate::common::{Bench, FAKE, Running, short};
use model::doc::{HistoryDoc, RunsDoc};

/// Three runs, oldest first.
fn three() -> (Bench, Vec<String>) {
    let bench = Bench::new();
    for label in ["one", "two", "three"] {
        bench.fake(&["--takes", "3", "--label", label]).expect(0, &[]);
    }
    let ids = bench.heads().into_iter().map(|head| head.id).collect();
    (bench, ids)
}

fn history(bench: &Bench, more: &[&str]) -> HistoryDoc {
    let said = bench.run(&[&["history", "--json"], more].concat()).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

fn document(text: &str) -> RunsDoc {
    serde_json::from_str(text).expect("a document")
}

#[test]
fn a_run_is_removed_with_its_takes_and_the_others_stay() {
    let (bench, ids) = three();
    let said = bench.run(&["remove", "one", "latest", "--yes", "--json"]).expect(0, &[]);
    let done = document(&said.out);
    assert_eq!((done.schema.as_str(), done.ok, done.hidden), ("boxscore.remove/1", true, None));
    assert_eq!(done.runs, [ids[0].as_str(), ids[2].as_str()]);
    assert_eq!(bench.only().head.id, ids[1]);
    bench.run(&["show", &ids[0]]).expect(1, &["no run is called"]);
    // Ids of planted runs are made of their number: none is given twice.
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    assert_eq!(bench.heads().len(), 2);
    bench.run(&["remove", short(&ids[1]), "--yes"]).expect(0, &["removed 1 run"]);
}

#[test]
fn nothing_is_removed_without_an_answer_or_by_a_wrong_name() {
    let (bench, ids) = three();
    bench.run(&["remove", "latest"]).expect(2, &["nobody can be asked here: nothing was removed", "--yes"]);
    let said = bench.run(&["remove", "latest", "--json"]).expect(2, &[]);
    assert!(said.out.contains("boxscore.error/1"), "{said:#?}");
    bench.run(&["remove", "one", "nosuch", "--yes"]).expect(1, &["no run is called `nosuch`"]);
    bench.run(&["hide", "nosuch"]).expect(1, &["no run is called `nosuch`"]);
    bench.run(&["remove"]).expect(2, &["<RUN>"]);
    assert_eq!(bench.heads().len(), ids.len());
}

#[test]
fn a_run_in_progress_is_left_alone() {
    let bench = Bench::new();
    let long = [&FAKE[..], &["--takes", "50000", "--show-takes"]].concat();
    let mut running = Running::start(bench.command(&long));
    assert!(running.until("stored take 3"), "{:?}", running.heard);
    let id = bench.heads()[0].id.clone();
    bench.run(&["remove", &id, "--yes"]).expect(1, &["is in progress, so nothing was removed"]);
    bench.run(&["hide", &id]).expect(1, &["is in progress, so nothing was hidden"]);
    running.signal("INT");
    running.end().expect(130, &[]);
    bench.run(&["remove", &id, "--yes"]).expect(0, &["removed 1 run"]);
    assert!(bench.heads().is_empty() && !bench.path("s.db.journal-1").exists());
}

#[test]
fn a_hidden_run_counts_nowhere_until_it_is_shown_again() {
    let (bench, ids) = three();
    let latest = || {
        let said = bench.run(&["show", "latest", "--json"]).expect(0, &[]);
        serde_json::from_str::<model::doc::RunDoc>(&said.out).expect("a document").run
    };
    let is_noise = || {
        let said = bench.run(&["show", &ids[1], "--json"]).expect(0, &[]);
        let doc: model::doc::RunDoc = serde_json::from_str(&said.out).expect("a document");
        doc.series.iter().any(|series| series.noise_runs.contains(&ids[2]))
    };
    assert!(is_noise());
    assert_eq!(latest(), ids[2]);
    let said = bench.run(&["hide", "latest", "--json"]).expect(0, &[]);
    assert_eq!((document(&said.out).runs, document(&said.out).hidden), (vec![ids[2].clone()], Some(true)));
    assert_eq!(latest(), ids[1]);
    assert!(!is_noise());
    let pooled = bench.run(&["export", "planted"]).expect(0, &[]);
    assert!(!pooled.out.contains(&ids[2]) && pooled.out.contains(&ids[1]), "a hidden run is in a pool");
    let rows = history(&bench, &[]).runs;
    assert!(rows.len() == 2 && rows.iter().all(|row| !row.hidden && row.run != ids[2]));
    let rows = history(&bench, &["--all"]).runs;
    assert!(rows.len() == 3 && rows[0].hidden && rows[0].run == ids[2]);
    let text = bench.run(&["history"]).expect(0, &["1 run hidden: `boxscore history --all`"]).out;
    assert!(!text.contains("three"), "{text}");
    let text = bench.run(&["history", "--all"]).expect(0, &[]).out;
    assert!(text.contains("complete, hidden"), "{text}");
    // Its id still names it, and it goes from store to store as it is.
    bench.run(&["show", &ids[2]]).expect(0, &[]);
    bench.run(&["export", &ids[2], "-o", "x.json"]).expect(0, &[]);
    let other = bench.path("other.db").display().to_string();
    bench.run(&["--store", &other, "import", "x.json"]).expect(0, &[]);
    bench.run(&["--store", &other, "show", "latest"]).expect(1, &["no complete run"]);
    bench.run(&["hide", "--undo", short(&ids[2])]).expect(0, &["counts again"]);
    assert_eq!((latest(), history(&bench, &[]).runs.len()), (ids[2].clone(), 3));
}
