//! `run --soak`: a level that falls has a knee and lasts at the lower one; one that stays has none.

use crate::common::{Bench, Running};
use model::data::Status;
use model::doc::{CompareDoc, RunDoc, SoakDoc};
use model::plan::Level;

const SOAK: [&str; 6] = ["run", "--soak", "20s", "--seed", "5", "--fake"];

/// A soak of a planted world, from the named block on of which the integer index is at 70 %.
fn soak(bench: &Bench, step: &str) -> RunDoc {
    bench.world(&format!(
        r#"{{"seed": 4, "take_seconds": 0.05, "series": [
            {{"instrument": "index", "params": {{"kind": "integer"}}, "median": 1e9, "spread": 0.01{step}}},
            {{"instrument": "*", "median": 2e9, "spread": 0.01}}]}}"#
    ));
    let said = bench.run(&[&SOAK[..], &["world.json", "--no-report", "--json"]].concat()).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

fn integer(doc: &RunDoc) -> &SoakDoc {
    let is_integer = |one: &&SoakDoc| one.params.get("kind") == Some("integer");
    doc.soak.iter().find(is_integer).expect("the integer index")
}

#[test]
fn a_fall_is_found_with_the_level_that_lasts() {
    let bench = Bench::new();
    let doc = soak(&bench, r#", "step": {"from": 20, "factor": 0.7}"#);
    let names: Vec<&str> = doc.soak.iter().map(|one| one.instrument.as_str()).collect();
    for name in ["index", "compress", "cipher", "mem-bandwidth", "disk-read", "disk-seq", "net-bandwidth"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let fallen = integer(&doc);
    let knee = fallen.knee.unwrap_or_else(|| panic!("no knee: {fallen:?}"));
    // Block 20 of some fifty begins after two fifths of the time.
    assert!(
        (knee.at / 8.0 - 1.0).abs() < 0.06 && (knee.after / knee.before - 0.7).abs() < 0.01,
        "{fallen:?}"
    );
    assert!(fallen.share.is_some_and(|share| (share - 0.7).abs() < 0.01), "{fallen:?}");
    assert!(fallen.first.is_some_and(|first| (first / 1e9 - 1.0).abs() < 0.01), "{fallen:?}");
    assert!(doc.soak.iter().filter(|one| one.knee.is_some()).count() == 1, "{:?}", doc.soak);
    let text = bench.run(&["show", "latest"]).expect(0, &[]).out;
    for says in ["first 4 s", "lasts", "70 %", "falls at", "over 20 s"] {
        assert!(text.contains(says), "no `{says}` in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let page = bench.path("soak.html").display().to_string();
    bench.run(&["report", "latest", "-o", &page]).expect(0, &[]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("What lasts: integer") && page.contains("integer falls"),
        "the page shows the knee"
    );
}

#[test]
fn a_level_world_has_no_knee() {
    let bench = Bench::new();
    let doc = soak(&bench, "");
    assert!(doc.soak.iter().all(|one| one.knee.is_none() && one.sustained.is_some()), "{:?}", doc.soak);
    assert!(doc.soak.iter().all(|one| one.share.is_some_and(|share| (share - 1.0).abs() < 0.02)));
    let page = bench.path("level.html").display().to_string();
    bench.run(&["report", "latest", "-o", &page]).expect(0, &[]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("What lasts: nothing falls beyond chance"), "the title claims a fall");
}

#[test]
fn a_soak_is_no_run_among_others_of_its_machine() {
    let bench = Bench::new();
    let short = ["run", "index", "--set", "kind=integer;threads=all", "--takes", "6", "--no-report"];
    bench.run(&[&short[..], &["--fake", "world.json", "--label", "short"]].concat()).expect(0, &[]);
    soak(&bench, "");
    bench.run(&[&short[..], &["--fake", "world.json", "--label", "again"]].concat()).expect(0, &[]);
    let said = bench.run(&["compare", "short", "planted", "--json"]).expect(0, &[]);
    let doc: CompareDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(doc.arms[1].runs.len(), 1, "{:?}", doc.arms);
}

#[test]
fn a_soak_may_be_left_at_any_moment() {
    let bench = Bench::new();
    let small = ["--set", "file-size=16MiB", "--set", "mem-bandwidth.size=16MiB"];
    let soak = ["run", "--soak", "10m", "--show-takes", "--no-report"];
    let mut running = Running::start(bench.command(&[&soak[..], &small].concat()));
    assert!(running.until("stored take 2"), "{:?}", running.heard);
    running.signal("INT");
    let said = running.end();
    assert!(said.err.contains("interrupted"), "{said:#?}");
    let run = bench.only();
    assert_eq!((run.plan.level, run.head.status), (Level::Soak, Status::Interrupted));
}

#[test]
fn a_soak_needs_a_time_and_nothing_else() {
    let bench = Bench::new();
    bench.run(&["run", "--soak", "soon"]).expect(2, &["--soak soon: not a duration", "20s, 10m or 2h"]);
    for more in [&["cpu"][..], &["--quick"], &["--takes", "3"], &["--for", "3m"]] {
        bench.run(&[&["run", "--soak", "10m"], more].concat()).expect(2, &["cannot be used with"]);
    }
}
