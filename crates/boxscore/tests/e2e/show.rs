//! `boxscore show` end to end: the figures of a planted run, the line that can be pasted, and wrong names.

use crate::common::Bench;
use model::doc::{ErrorDoc, RunDoc};

fn shown(bench: &Bench, args: &[&str]) -> RunDoc {
    serde_json::from_str(&bench.run(args).expect(0, &[]).out).expect("a document")
}

#[test]
fn the_figures_are_those_of_the_takes() {
    let bench = Bench::new();
    bench.fake(&["--takes", "7", "--label", "planted"]).expect(0, &[]);
    let data = bench.only();
    let document = shown(&bench, &["show", "planted", "--takes", "--json"]);
    assert_eq!((document.schema.as_str(), &document.run), ("boxscore.show/1", &data.head.id));
    assert!(!document.series.is_empty());
    for series in &document.series {
        let stored = data.rows().find(|stored| {
            (&stored.key.instrument, &stored.key.metric, &stored.key.params)
                == (&series.instrument, &series.metric, &series.params)
        });
        let stored = stored.expect("the series is stored").measured();
        assert_eq!(series.takes, stored);
        let mut sorted = stored;
        sorted.sort_by(f64::total_cmp);
        assert_eq!((series.n, series.median), (7, Some(sorted[3])));
    }
    assert!(shown(&bench, &["show", "--json"]).series.iter().all(|series| series.takes.is_empty()));
    let text = bench.run(&["show", "latest", "--takes"]).expect(0, &[]).out;
    let first = document.series[0].takes[0].to_string();
    assert!(text.lines().any(|line| line.trim() == first), "{text}");
}

#[test]
fn the_line_is_short_and_read_back() {
    let bench = Bench::new();
    bench.fake(&["--takes", "7"]).expect(0, &[]);
    let said = bench.run(&["show", "--line"]).expect(0, &[]);
    assert_eq!(said.out.lines().count(), 1);
    let pasted = report::text::line::parse(&said.out, instruments::cards()).expect("a line");
    let headlines = shown(&bench, &["show", "--json"]).series.into_iter().filter(|series| series.headline);
    assert_eq!(pasted.rows.len(), headlines.count());
}

#[test]
fn a_second_run_replaces_the_assumed_noise() {
    let bench = Bench::new();
    let text = |bench: &Bench| shown(bench, &["show", "--json"]).series[0].noise;
    bench.fake(&["--takes", "7"]).expect(0, &[]);
    assert_eq!(text(&bench), model::doc::Noise::Assumed);
    bench.fake(&["--takes", "7"]).expect(0, &[]);
    assert_ne!(text(&bench), model::doc::Noise::Assumed);
}

#[test]
fn machines_and_exported_files_are_runs_too() {
    let bench = Bench::new();
    bench.fake(&["--takes", "7"]).expect(0, &[]);
    bench.fake(&["--takes", "7"]).expect(0, &[]);
    let newest = shown(&bench, &["show", "--json"]);
    assert_eq!(shown(&bench, &["show", "planted", "--json"]), newest);
    bench.run(&["export", "-o", "x.json"]).expect(0, &[]);
    let file = shown(&bench, &["show", "x.json", "--json"]);
    assert_eq!((&file.run, file.series[0].median), (&newest.run, newest.series[0].median));
    bench.run(&["show", "."]).expect(1, &["has no complete run in the store"]);
    bench
        .run(&["show", "xeon-e5620"])
        .expect(1, &["has a sheet but no run", "hint: boxscore inspect xeon-e5620"]);
}

#[test]
fn a_wrong_name_says_what_to_do() {
    let bench = Bench::new();
    bench.run(&["show"]).expect(1, &["error: there is no store", "hint: `boxscore run --quick`"]);
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    bench.run(&["show", "nobody"]).expect(1, &["nobody", "boxscore history"]);
    let said = bench.run(&["show", "nobody", "--json"]).expect(1, &[]);
    let error: ErrorDoc = serde_json::from_str(&said.out).expect("an error document");
    assert_eq!((error.schema.as_str(), error.kind.as_str()), ("boxscore.error/1", "data"));
    bench.run(&["show", "--line", "--json"]).expect(2, &[]);
}

#[test]
fn a_label_of_several_runs_is_shown_reported_and_exported() {
    let bench = Bench::new();
    for _ in 0..2 {
        bench.fake(&["--takes", "3", "--label", "box1"]).expect(0, &[]);
    }
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let ids: Vec<String> = bench.heads().into_iter().map(|head| head.id).collect();
    let said =
        bench.run(&["show", "box1", "--json"]).expect(0, &["2 runs have the label box1", "the newest"]);
    let document: RunDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(document.run, ids[1]);
    let text = bench.run(&["export", "box1", &ids[0]]).expect(0, &[]).out;
    let export: serde_json::Value = serde_json::from_str(&text).expect("a document");
    let exported: Vec<&str> =
        export["runs"].as_array().expect("runs").iter().filter_map(|r| r["run"].as_str()).collect();
    assert_eq!(exported, [ids[0].as_str(), ids[1].as_str()]);
    bench.run(&["report", "box1", "-o", "x.html"]).expect(0, &[]);
    let html = std::fs::read_to_string(bench.path("x.html")).expect("the report");
    let has = |id: &String| html.contains(crate::common::short(id));
    assert!(has(&ids[0]) && has(&ids[1]) && !has(&ids[2]), "runs of the report");
    // A report of several runs takes the place of none of one run.
    let both = bench.run(&["report", "box1"]).expect(0, &[]).out;
    let one = bench.run(&["report", &ids[0]]).expect(0, &[]).out;
    assert_ne!(both, one);
    assert!(both.contains("box1-"), "{both}");
    // What is written goes to one run, so there the name must say which.
    bench.run(&["note", "box1", "x"]).expect(1, &["`box1` may mean any of 2"]);
}

#[test]
fn a_label_of_several_machines_is_not_one_run() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3", "--label", "pair"]).expect(0, &[]);
    let text = bench.run(&["export"]).expect(0, &[]).out;
    let id = bench.only().head.id;
    let other =
        text.replace(&id, &format!("{}x", &id[..id.len() - 1])).replace("planted planted", "planted other");
    let study = bench.only().head.study;
    let other = other.replace(&study, &format!("{}x", &study[..study.len() - 1]));
    std::fs::write(bench.path("other.json"), other).expect("a file");
    bench.run(&["import", "other.json"]).expect(0, &["1 added"]);
    bench.run(&["show", "pair"]).expect(1, &["`pair` may mean any of 2: run "]);
    let text = bench.run(&["export", "pair", "--format", "bench"]).expect(0, &[]).out;
    assert_eq!(text.lines().filter(|line| line.starts_with("run: ")).count(), 2, "{text}");
}
