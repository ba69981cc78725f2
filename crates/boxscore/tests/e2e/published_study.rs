//! `boxscore study` end to end: a file of the user's, the five of the catalogue, and files with errors.

use crate::common::Bench;
use model::doc::{StudiesDoc, StudyDoc, StudyTableDoc};

const OWN: &str = r#"
name = "own"
title = "Checksums here"
about = "One size, beside a study."

[[run]]
name = "crc"
measure = ["crc32c"]
set = ["impl=chain", "threads=1"]
arms = ["size=7", "size=1024"]
takes = 2
sittings = 1
for = "60s"

[[run]]
name = "many"
measure = ["crc32c"]
set = ["impl=table", "size=7", "threads=9999"]
takes = 2

[[table]]
name = "crc"
title = "crc32c"
run = "crc"
columns = [{ head = "E5620", machine = "xeon-e5620" }, { head = "6134", machine = "opteron-6134" }]
rows = [
    { label = "7 B", figure = "crc32c throughput size=7;impl=chain", unit = "MB/s", note = "short" },
    { label = "cores", fact = "cpu.cores" },
]

[[table]]
name = "many"
title = "more threads than CPUs"
columns = [{ head = "here", machine = "." }]
rows = [{ label = "7 B", figure = "crc32c throughput size=7;impl=table" }]

[[missing]]
what = "watts"
why = "no meter"
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("own.toml"), OWN).expect("a file");
    bench
}

fn document(bench: &Bench, args: &[&str]) -> StudyDoc {
    let said = bench.run(&[&["study"], args, &["--json"]].concat()).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

fn named<'a>(doc: &'a StudyDoc, name: &str) -> &'a StudyTableDoc {
    doc.tables.iter().find(|table| table.name == name).expect("the table")
}

#[test]
fn a_study_is_measured_shown_and_not_measured_twice() {
    let bench = bench();
    let said = bench.run(&["study", "own.toml"]).expect(0, &["study own: 1 run", "own.many is left out: "]);
    for text in ["Checksums here", "7 B (a)", "351", "not to be had here", "watts: no meter", "own.crc "] {
        assert!(said.out.contains(text), "no `{text}` in {}", said.out);
    }
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    let head = &bench.heads()[0];
    assert_eq!((head.label.as_deref(), head.measured), (Some("own.crc"), 4));
    let shown = bench.run(&["study", "own.toml", "--show"]).expect(0, &[]);
    assert_eq!(shown.out, said.out);
    bench.run(&["study", "own.toml", "--rest"]).expect(0, &["nothing to measure"]);
    assert_eq!(bench.heads().len(), 1);
    let doc = document(&bench, &["own.toml", "--show"]);
    let row = &named(&doc, "crc").rows[0];
    assert_eq!(row.cells[0].value, Some(351.0 * 1_048_576.0));
    assert!(row.cells[1].is_empty(), "the Opteron has none: {row:?}");
    let ours = &row.cells[2];
    assert_eq!((ours.n, ours.run.as_deref()), (Some(2), Some(head.id.as_str())), "{ours:?}");
    assert_eq!((row.shown_unit.as_str(), row.shown_factor), ("MB/s", 1_048_576.0));
    let why = named(&doc, "many").rows[0].cells[0].why.clone().unwrap_or_default();
    assert!(why.contains("9999"), "{why}");
    let page = bench.run(&["study", "own.toml", "--show", "--markdown"]).expect(0, &[]).out;
    assert!(page.starts_with("# Checksums here") && page.contains("| 7 B (a) | MB/s | 351 |"), "{page}");
}

#[test]
fn a_table_needs_only_its_runs_and_a_dry_run_measures_nothing() {
    let bench = bench();
    let doc = document(&bench, &["own.toml", "--dry-run", "--table", "crc"]);
    let runs: Vec<&str> = doc.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(runs, ["own.crc"]);
    assert!(doc.runs[0].expected_seconds > 0.0 && doc.runs[0].most_seconds == 60.0);
    assert!(!bench.store().exists());
    bench.run(&["study", "own.toml", "--table", "no"]).expect(2, &["has no table `no`", "crc, many"]);
}

#[test]
fn the_studies_of_the_catalogue_are_files_like_any_other() {
    let bench = Bench::new();
    let said = bench.run(&["study", "--json"]).expect(0, &[]);
    let all: StudiesDoc = serde_json::from_str(&said.out).expect("a document");
    let names: Vec<&str> = all.studies.iter().map(|study| study.name.as_str()).collect();
    assert_eq!(names, ["atom-2009", "ramcloud-2010", "serving-2010", "arm-2012", "ramcloud-2014"]);
    for name in names {
        bench.run(&["study", name, "--write", "copy.toml"]).expect(0, &["wrote copy.toml"]);
        let (own, copy) = (document(&bench, &[name, "--show"]), document(&bench, &["copy.toml", "--show"]));
        assert_eq!(own, copy);
        let text = bench.run(&["study", name, "--show"]).expect(0, &[]).out;
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{text}");
        // Each cell of this machine says why it has no figure.
        let here = |table: &StudyTableDoc| {
            let column = table.columns.iter().position(|column| column.machine == ".");
            let cells = table.rows.iter().filter(|row| row.figure.is_some());
            let cells = cells.map(|row| row.cells[column.expect("this machine")].clone());
            cells.filter(|cell| cell.text.is_none()).collect::<Vec<_>>()
        };
        let cells: Vec<_> = own.tables.iter().flat_map(here).collect();
        assert!(!cells.is_empty() && cells.iter().all(|cell| cell.why.is_some()), "{name}: {cells:#?}");
        bench.run(&["study", name, "--dry-run", "--quick"]).expect(0, &[]);
    }
}

#[test]
fn an_error_names_the_line_and_what_to_do() {
    let bench = Bench::new();
    let wrong = |from: &str, to: &str, says: &[&str]| {
        std::fs::write(bench.path("wrong.toml"), OWN.replacen(from, to, 1)).expect("a file");
        let said = bench.run(&["study", "wrong.toml"]).expect(1, says);
        assert!(said.err.contains(" hint: "), "{said:#?}");
    };
    wrong("xeon-e5620", "xeon-e562", &["wrong.toml:25: there is no machine `xeon-e562`"]);
    wrong(
        "crc32c throughput size=7;impl=chain",
        "crc32c speed",
        &["wrong.toml:27: crc32c has no metric `speed`"],
    );
    wrong("unit = \"MB/s\"", "unit = \"mph\"", &["wrong.toml:27: there is no unit `mph`"]);
    wrong("\"impl=chain\", ", "\"implement=chain\", ", &["wrong.toml:7: the run `crc`", "`implement`"]);
    wrong("takes = 2", "takes = two", &["wrong.toml:11: "]);
    bench
        .run(&["study", "atom-209"])
        .expect(2, &["`atom-209` is no study and no file", "did you mean `atom-2009`?"]);
    bench.run(&["study", "--quick"]).expect(2, &["--quick needs a study"]);
}
