//! `boxscore export` end to end: a round trip through a fresh store, CSV, Go benchmark text, and refusals.

use crate::common::Bench;
use model::doc::DoneDoc;

fn study() -> Bench {
    let bench = Bench::new();
    bench.world(
        r#"{"seed": 7, "series": [{"instrument": "*", "median": 1e9, "spread": 0.01, "faults": [2]}]}"#,
    );
    bench.fake(&["--takes", "4", "--label", "first", "--price", "0.2/h"]);
    bench.world(r#"{"seed": 8, "series": [{"instrument": "*", "median": 2e9, "spread": 0.01}]}"#);
    bench.fake(&["--takes", "4", "--watts", "12.5"]).expect(0, &[]);
    bench
}

#[test]
fn a_round_trip_gives_the_same_bytes() {
    let bench = study();
    let once = bench.run(&["export", "--all"]).expect(0, &[]).out;
    std::fs::write(bench.path("once.json"), &once).expect("a file");
    let other = Bench::new();
    let file = bench.path("once.json").display().to_string();
    other.run(&["import", &file]).expect(0, &["2 added"]);
    let again = other.run(&["export", "--all"]).expect(0, &[]).out;
    assert_eq!(once, again);
    for head in bench.heads() {
        let run = bench.data(&head.id);
        assert_eq!(run, other.data(&head.id));
        // Where it was measured, too.
        assert!(!run.origin.hostname.is_empty() && !run.origin.target.is_empty(), "{:?}", run.origin);
        assert_eq!(run.origin.build, run.head.build);
    }
    other.run(&["import", &file]).expect(0, &["0 added", "2 were there"]);
    assert_eq!(other.run(&["export", "--all"]).expect(0, &[]).out, once);
}

#[test]
fn a_machine_means_its_runs() {
    let bench = study();
    bench.world(r#"{"seed": 9, "series": [{"instrument": "*", "median": 2e9, "spread": 0.01}]}"#);
    bench.fake(&["--takes", "4"]).expect(0, &[]);
    let machine = bench.heads()[0].machine.clone();
    let of_machine = bench.run(&["export", &machine]).expect(0, &[]).out;
    assert_eq!(of_machine, bench.run(&["export", "--all"]).expect(0, &[]).out);
    let report = bench.path("machine.html").display().to_string();
    bench.run(&["report", &machine, "-o", &report]).expect(0, &[]);
    let page = std::fs::read_to_string(&report).expect("the report");
    assert!(bench.heads().iter().all(|head| page.contains(&head.id[..9])));
}

#[test]
fn clock_offsets_and_the_origin_are_in_the_round_trip() {
    let bench = study();
    let id = bench.heads()[0].id.clone();
    let offset = store::ClockOffset { at_ns: 7, offset_ns: -5, error_ns: 3 };
    let mut store = store::Store::open(&bench.store(), store::Mode::ReadWrite).expect("the store");
    store.add_clock_offset(&id, &offset).expect("an offset");
    store.close().expect("it closes");
    let once = bench.run(&["export", &id]).expect(0, &[]).out;
    std::fs::write(bench.path("once.json"), &once).expect("a file");
    let other = Bench::new();
    other.run(&["import", &bench.path("once.json").display().to_string()]).expect(0, &["1 added"]);
    assert_eq!(other.only().clock_offsets, [offset]);
    assert_eq!(other.only(), bench.data(&id));
    assert_eq!(other.run(&["export"]).expect(0, &[]).out, once);
}

#[test]
fn a_file_is_written_whole_and_named() {
    let bench = study();
    let said = bench.run(&["export", "first", "-o", "first.json", "--json"]).expect(0, &[]);
    let done: DoneDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((done.schema.as_str(), done.ok), ("boxscore.export/1", true));
    assert_eq!(done.paths, ["first.json"]);
    let text = std::fs::read_to_string(bench.path("first.json")).expect("the file");
    assert_eq!(text, bench.run(&["export", "first", "--json"]).expect(0, &[]).out);
    let document: DoneDoc = serde_json::from_str(&text).expect("the export is the verb's document");
    assert_eq!(document.run, done.run);
    bench.run(&["export", "-o", "nowhere/x.json"]).expect(1, &["nowhere/x.json: "]);
}

#[test]
fn csv_has_one_line_a_reading() {
    let bench = study();
    let text = bench.run(&["export", "latest", "--format", "csv"]).expect(0, &[]).out;
    let data = bench.data(&bench.heads()[1].id);
    let readings: usize = data.series.iter().map(|series| series.points.len()).sum();
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let at = table.headers().expect("a header").iter().position(|name| name == "value").expect("values");
    let values: Vec<String> =
        table.records().map(|record| record.expect("a record").get(at).unwrap_or("").to_owned()).collect();
    assert_eq!(values.len(), readings);
    let stored = data.series.iter().flat_map(|series| &series.points).filter_map(|point| point.number());
    let mut numbers = values.iter().filter(|text| !text.is_empty());
    assert!(stored.into_iter().all(|value| numbers.next().is_some_and(|text| text.parse() == Ok(value))));
}

#[test]
fn bench_text_has_gos_shape() {
    let bench = study();
    let text = bench.run(&["export", "latest", "--format", "bench"]).expect(0, &[]).out;
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Benchmark")).collect();
    let data = bench.data(&bench.heads()[1].id);
    assert_eq!(lines.len(), data.rows().map(|series| series.measured().len()).sum::<usize>());
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        assert_eq!((fields.len(), fields[1]), (4, "1"), "{line}");
        assert!(
            fields[0].starts_with("BenchmarkCrc32c/metric=") && fields[2].parse::<f64>().is_ok(),
            "{line}"
        );
    }
    assert!(text.contains("Unit B/s better=higher\n") && text.contains("\ncpu: Planted CPU\n"), "{text}");
}

#[test]
fn of_a_damaged_store_the_rest_is_saved() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3", "--label", "good"]).expect(0, &[]);
    bench.fake(&["--takes", "3", "--label", "evil"]).expect(0, &[]);
    let ids: Vec<String> = bench.heads().into_iter().map(|head| head.id).collect();
    // The second run's machine is fine, and a note of it is not.
    bench.run(&["note", &ids[1], "to be damaged"]).expect(0, &[]);
    let mut bytes = std::fs::read(bench.store()).expect("the store");
    let text = b"to be damaged";
    let places: Vec<usize> =
        (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text)).collect();
    places.iter().for_each(|&at| bytes[at] ^= 0x80);
    std::fs::write(bench.store(), bytes).expect("the store");
    bench
        .run(&["show", &ids[1]])
        .expect(1, &["s.db is damaged: ", "hint: restore a backup", "boxscore export --all"]);
    bench
        .run(&["export", "--all", "-o", "saved.json"])
        .expect(3, &["is left out: the store", "saved.json: 1 run"]);
    let other = Bench::new();
    let file = bench.path("saved.json").display().to_string();
    other.run(&["import", &file]).expect(0, &["1 added"]);
    assert_eq!(other.only().head.id, ids[0]);
}

#[test]
fn refusals_say_what_to_do() {
    let bench = Bench::new();
    bench.run(&["export"]).expect(1, &["error: ", "boxscore run"]);
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    bench.run(&["export", "nobody"]).expect(1, &["nobody"]);
    bench.run(&["export", "--format", "xml"]).expect(2, &["json, csv, bench"]);
    let said = bench.run(&["export", "--format", "csv", "--json"]).expect(2, &[]);
    assert!(said.out.contains("-o"), "{said:?}");
}
