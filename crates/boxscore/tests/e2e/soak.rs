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
    // Block 20 of some fifty begins after two fifths of the time, and block 1 is the first that counts.
    assert!(
        (knee.at / 7.6 - 1.0).abs() < 0.08
            && knee.low <= knee.at
            && knee.high >= knee.at
            && (knee.after / knee.before - 0.7).abs() < 0.01,
        "{fallen:?}"
    );
    assert!(fallen.share.is_some_and(|share| (share - 0.7).abs() < 0.01), "{fallen:?}");
    assert!(fallen.first.is_some_and(|first| (first / 1e9 - 1.0).abs() < 0.01), "{fallen:?}");
    assert!(doc.soak.iter().filter(|one| one.knee.is_some()).count() == 1, "{:?}", doc.soak);
    let text = bench.run(&["show", "latest"]).expect(0, &[]).out;
    for says in ["at first", "the first 4 s, or", "70 %", "falls (95 % interval): integer at", "over 20 s"] {
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

/// The document and the text of a soak of a planted world with takes of 0.15 s, so that a block lasts 1.2 s.
fn long(bench: &Bench, length: &str, series: &str) -> (RunDoc, String) {
    bench.world(&format!(
        r#"{{"seed": 4, "take_seconds": 0.15, "series": [{series},
            {{"instrument": "*", "median": 2e9, "spread": 0.01}}]}}"#
    ));
    let soak = ["run", "--soak", length, "--seed", "5", "--fake", "world.json", "--no-report", "--json"];
    let said = bench.run(&soak).expect(0, &[]);
    let text = bench.run(&["show", "latest"]).expect(0, &[]).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    (
        serde_json::from_str(&said.out).expect("a document"),
        text.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

#[test]
fn a_burst_of_the_first_seconds_is_no_level_that_lasts() {
    let bench = Bench::new();
    for (length, from, at) in [("1m", 9, 9.6), ("2m", 17, 19.2), ("2m", 34, 39.6)] {
        let series = format!(
            r#"{{"instrument": "index", "params": {{"kind": "integer"}}, "median": 1e9, "spread": 0.01,
                "step": {{"from": {from}, "factor": 0.7}}}}"#
        );
        let (doc, text) = long(&bench, length, &series);
        let burst = integer(&doc);
        let knee = burst.knee.unwrap_or_else(|| panic!("no knee: {burst:?}"));
        assert!(
            knee.low <= at + 0.2 && at - 0.2 <= knee.high && knee.high - knee.low < 5.0,
            "{at}: {knee:?}"
        );
        let is = |value: Option<f64>, want: f64| value.is_some_and(|value| (value / want - 1.0).abs() < 0.02);
        assert!(is(burst.share, 0.7) && is(burst.first, 1e9) && is(burst.sustained, 0.7e9), "{burst:?}");
        assert!(burst.first_seconds < at + 1.2 && burst.blind_seconds < Some(8.0), "{burst:?}");
        assert!(text.contains("is not told: there are too few takes in it"), "{text}");
    }
}

#[test]
fn a_short_soak_and_a_refused_figure_say_so() {
    let bench = Bench::new();
    let (doc, text) = long(&bench, "6s", r#"{"instrument": "cipher", "median": 0.0}"#);
    assert!(doc.soak.iter().all(|one| one.knee.is_none()), "{:?}", doc.soak);
    assert!(
        text.contains("too short to show whether a level falls: that takes at least 16 takes of a figure"),
        "{text}"
    );
    assert!(text.contains("soak for longer, such as --soak 10m") && !text.contains("--takes"), "{text}");
    let cipher = doc.soak.iter().find(|one| one.instrument == "cipher").expect("a cipher");
    assert_eq!((cipher.validity, cipher.first, cipher.sustained), (model::Validity::Invalid, None, None));
    assert!(text.contains("refused refused"), "{text}");
    // Too few takes are a doubt of the others.
    assert!(
        doc.soak.iter().any(|one| one.validity == model::Validity::Doubtful) && text.contains("! = doubtful")
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
