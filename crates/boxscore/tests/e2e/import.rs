//! `boxscore import` end to end: sheets, other stores, and files that are wrong, of which nothing is kept.

use crate::common::Bench;
use model::doc::DoneDoc;
use store::{Mode, Store};

fn sheets(bench: &Bench) -> Vec<String> {
    let store = Store::open(&bench.store(), Mode::ReadOnly).expect("the store opens");
    store.sheets().expect("its sheets").into_iter().map(|sheet| sheet.name).collect()
}

#[test]
fn a_sheet_becomes_machines_that_inspect_knows() {
    let bench = Bench::new();
    let text = "machine,cpu,cores,ram_gb,cpu.mhz.max,note\nbig,Big CPU,64,256,3.5GHz,on offer\nsmall,Small CPU,4,8,,\n";
    std::fs::write(bench.path("m.csv"), text).expect("a file");
    let said = bench.run(&["import", "m.csv", "--json"]).expect(0, &[]);
    let done: DoneDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((done.schema.as_str(), done.paths), ("boxscore.import/1", vec!["m.csv".to_owned()]));
    assert_eq!(sheets(&bench), ["big", "small"]);
    bench.run(&["import", "m.csv"]).expect(0, &["machines: big, small"]);
    assert_eq!(sheets(&bench), ["big", "small"]);
}

#[test]
fn another_store_is_imported_whole() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let other = Bench::new();
    let file = bench.store().display().to_string();
    other.run(&["import", &file]).expect(0, &["1 added"]);
    assert_eq!(other.only(), bench.only());
    bench.run(&["import", &file]).expect(2, &["the store itself"]);
}

/// The export of a planted run, one change made to its text.
fn changed(text: &str, edit: &dyn Fn(&mut serde_json::Value)) -> String {
    let mut document: serde_json::Value = serde_json::from_str(text).expect("an export");
    edit(&mut document["runs"][0]);
    document.to_string()
}

#[test]
fn a_run_that_does_not_hold_together_is_refused() {
    use serde_json::json;
    let bench = Bench::new();
    bench.fake(&["--takes", "3", "--price", "0.2/h", "--watts", "40"]).expect(0, &[]);
    let sound = bench.run(&["export"]).expect(0, &[]).out;
    let other = Bench::new();
    std::fs::write(other.path("good.csv"), "machine,cores\ngood,4\n").expect("a file");
    type Edit = fn(&mut serde_json::Value);
    // Nobody measured what is planted: only of other values it is said that they cannot be.
    fn measured(run: &mut serde_json::Value, value: f64) {
        run["plan"]["fake"] = json!(null);
        if let Some(last) = run["series"][0]["points"][1].as_array_mut().and_then(|point| point.last_mut()) {
            *last = json!(value);
        }
    }
    let cases: [(Edit, &str); 18] = [
        (|run| measured(run, -5.0), "points[1] is -5, which no such figure can be: "),
        (|run| run["seconds"] = json!(-1.0), "seconds is -1, and must be 0 or more"),
        (|run| run["seconds"] = json!({"bits": "7ff8000000000000"}), "seconds is NaN"),
        (|run| run["started_ns"] = json!(0), "started_ns is 0 (1970-01-01 00:00"),
        (|run| run["started_ns"] = json!(i64::MAX), "in the future: one of the two clocks is wrong"),
        (|run| run["takes"][1]["cell"] = json!(9), "takes[1].cell is 9, and the plan's cells are 1"),
        (|run| run["takes"][1]["arm"] = json!(2), "takes[1].arm is 2, and the plan's arms are 1"),
        (|run| run["takes"][1]["seq"] = json!(0), "takes[1].seq is 0, which an earlier take has"),
        (|run| run["takes"][1]["end_ns"] = json!(0), "takes[1] ends at 0 ns, before its start"),
        (|run| run["series"][0]["points"][0][0] = json!(77), "points[0] is of take 77, which is not there"),
        (|run| run["series"][0]["points"][0][1] = json!(77), "points[0] is of block 77"),
        (|run| run["series"][0]["arm"] = json!("nobody"), "the plan has no arm `nobody`"),
        (|run| run["series"][0]["unit"] = json!("furlong"), "unknown variant `furlong`"),
        (|run| run["series"][0]["unit"] = json!("degC"), "the unit is `degC`, and that of"),
        (|run| run["series"][0]["better"] = json!("lower"), "better is `lower`, and that of"),
        (|run| run["price"]["amount"] = json!(0.0), "price.amount is 0, and must be above 0"),
        (|run| run["watts"] = json!(-4.0), "watts is -4, and must be above 0"),
        (|run| run["plan"]["arms"] = json!([]), "plan.arms is empty"),
    ];
    for (edit, said) in cases {
        std::fs::write(other.path("x.json"), changed(&sound, &edit)).expect("a file");
        other.run(&["import", "good.csv", "x.json"]).expect(1, &["error: x.json:", said, "hint: "]);
        assert!(!other.store().exists(), "{said}: something was kept");
    }
    std::fs::write(other.path("x.json"), &sound).expect("a file");
    other.run(&["import", "x.json"]).expect(0, &["1 added"]);
    assert_eq!(other.only(), bench.only());
}

#[test]
fn a_take_speaks_once_and_for_its_own_arm_and_instrument() {
    use serde_json::Value;
    let bench = Bench::new();
    let arms =
        ["--arm", "impl=fast", "--arm", "impl=chain", "--takes", "3", "--no-report", "--fake", "world.json"];
    bench.run(&[&["run", "crc32c", "index"], &arms[..]].concat()).expect(0, &[]);
    let sound = bench.run(&["export"]).expect(0, &[]).out;
    let other = Bench::new();
    /// The points of two series that differ in the field.
    fn differing<'a>(run: &'a mut Value, field: &str) -> [&'a mut Value; 2] {
        let all = run["series"].as_array_mut().expect("series");
        let first = all[0][field].clone();
        let at = all.iter().position(|one| one[field] != first).expect("another one");
        let (one, rest) = all.split_at_mut(at);
        [&mut one[0]["points"], &mut rest[0]["points"]]
    }
    type Edit = fn(&mut Value);
    let cases: [(Edit, &str); 4] = [
        (
            |run| {
                let [one, other] = differing(run, "arm");
                *one = other.clone();
            },
            "points[0] is of arm `",
        ),
        (
            |run| {
                let [one, other] = differing(run, "instrument");
                *one = other.clone();
            },
            "points[0] is of ",
        ),
        (
            |run| run["series"][0]["points"][1] = run["series"][0]["points"][0].clone(),
            "points[1] is of take 0, as the one before it is",
        ),
        (
            |run| {
                let cells = run["plan"]["cells"].as_array_mut().expect("cells");
                cells.iter_mut().for_each(|cell| cell["instrument"] = "timer".into());
            },
            ", and its take 0 of timer",
        ),
    ];
    for (edit, said) in cases {
        std::fs::write(other.path("x.json"), changed(&sound, &edit)).expect("a file");
        other.run(&["import", "x.json"]).expect(1, &["error: x.json:", said, "hint: "]);
        assert!(!other.store().exists(), "{said}: something was kept");
    }
    std::fs::write(other.path("x.json"), &sound).expect("a file");
    other.run(&["import", "x.json"]).expect(0, &["1 added"]);
}

#[test]
fn two_runs_of_one_id_must_be_the_same() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let sound = bench.run(&["export"]).expect(0, &[]).out;
    let other = Bench::new();
    let faster = |run: &mut serde_json::Value| run["series"][0]["points"][2][5] = serde_json::json!(4e9);
    std::fs::write(other.path("a.json"), &sound).expect("a file");
    std::fs::write(other.path("b.json"), changed(&sound, &faster)).expect("a file");
    std::fs::write(other.path("m.csv"), "machine,cores\ngood,4\n").expect("a file");
    other
        .run(&["import", "a.json", "b.json"])
        .expect(1, &["differs between a.json and b.json", "of take 2", "hint"]);
    assert!(!other.store().exists(), "something was kept");
    other.run(&["import", "a.json", "a.json"]).expect(0, &["1 added"]);
    other
        .run(&["import", "m.csv", "b.json"])
        .expect(1, &["error: b.json: run ", "with other content", "of take 2"]);
    assert!(sheets(&other).is_empty(), "a sheet was kept");
    assert_eq!(other.only(), bench.only());
}

#[test]
fn of_wrong_files_nothing_is_kept() {
    let bench = Bench::new();
    std::fs::write(bench.path("good.csv"), "machine,cores\ngood,4\n").expect("a file");
    for (name, text, said) in [
        ("bad.csv", "machine,cores\na,4\nb,four\n", "bad.csv:3: cores: `four` is not a number"),
        ("odd.txt", "hello there\n", "odd.txt: the format is not known"),
        ("cut.json", "{\"schema\": \"boxscore.export/1\", \"runs\": [", "cut.json:1:"),
        ("new.json", "{\"schema\": \"boxscore.export/9\", \"runs\": []}", "a newer boxscore wrote it"),
        ("other.json", "{\"a\": 1}", "not an export of boxscore"),
    ] {
        std::fs::write(bench.path(name), text).expect("a file");
        bench.run(&["import", "good.csv", name]).expect(1, &["error: ", said]);
    }
    bench.run(&["import", "good.csv", "missing.csv"]).expect(1, &["missing.csv: "]);
    assert!(!bench.store().exists(), "something was kept");
    bench.run(&["import"]).expect(2, &["FILE"]);
}

#[test]
fn output_of_clusterperf_stands_beside_the_published_tables() {
    let bench = Bench::new();
    let text = "basic.read100          5.0 us     read single 100B object with 30B key\n";
    std::fs::write(bench.path("ib.txt"), text).expect("a file");
    bench.run(&["import", "ib.txt"]).expect(1, &["ib.txt: ", "which machine", "--machine NAME"]);
    let call =
        ["import", "ib.txt", "--machine", "rc1", "--set", "transport=infiniband", "--set", "replicas=0"];
    bench.run(&call).expect(0, &["1 added with 1 takes"]);
    // A copy with another date is the same output.
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_400_000_000);
    std::fs::File::options().write(true).open(bench.path("ib.txt")).unwrap().set_modified(old).unwrap();
    bench.run(&call).expect(0, &["0 added with 0 takes, 1 were there"]);
    let said = bench.run(&["compare", "rc1", "ramcloud-xeon-infiniband", "--json"]).expect(0, &[]);
    let doc: model::doc::CompareDoc = serde_json::from_str(&said.out).expect("a document");
    let row = doc.rows.iter().find(|row| row.metric == "basic.read100").expect("the figure of both");
    let us = |value: Option<f64>| value.map(|value| (value * 1e9).round() / 1e3);
    assert_eq!((us(row.base_value), us(row.arm_value), row.point), (Some(5.0), Some(5.2), true), "{row:#?}");
    let shown = bench.run(&["show", "rc1", "--format", "clusterperf"]).expect(0, &[]);
    assert_eq!(
        shown.out,
        format!("# kv-basic definition=era1 replicas=0 store=ramcloud transport=infiniband\n{text}")
    );
    let all = ["compare", "rc1", "ramcloud-xeon-infiniband", "--matrix", "transport,replicas,size"];
    let said = bench.run(&all).expect(0, &[]);
    for part in ["kv-basic basic.read, us\n", "\n100             5.00! ", "points without samples"] {
        assert!(said.out.contains(part), "{part:?}: {}", said.out);
    }
    // What is exported of it comes back whole.
    bench.run(&["export", "rc1", "-o", "rc1.json"]).expect(0, &[]);
    let other = Bench::new();
    std::fs::copy(bench.path("rc1.json"), other.path("rc1.json")).expect("a copy");
    other.run(&["import", "rc1.json"]).expect(0, &["1 added"]);
    assert_eq!(other.only(), bench.only());
    std::fs::write(bench.path("bad.txt"), format!("{text}what is this\n")).expect("a file");
    bench.run(&["import", "bad.txt", "--machine", "rc1"]).expect(1, &["error: bad.txt:2: `what is this`"]);
    bench.run(&["import", "rc1.json", "--machine", "x"]).expect(2, &["are for clusterperf's output"]);
}

#[test]
fn a_listing_with_best_and_worst_is_read_with_its_bandwidths() {
    let bench = Bench::new();
    let listing = "\
Clusterperf.py with store and forward switch mode.

basic.read100 13.8 us,  Best 13.3 us, Worst 32.7 us
  6.9 MB/s bandwidth reading 100B object with 30B key
basic.read100K 373.2 us, Best 371.3 us Worst 379.0 us
 255.5 MB/s bandwidth reading 100KB object with 30B key
";
    std::fs::write(bench.path("atom.txt"), listing).expect("a file");
    let call = ["import", "atom.txt", "--machine", "atom", "--set", "transport=kernel-bypass"];
    bench.run(&call).expect(0, &["1 added"]);
    let said =
        bench.run(&["compare", "atom", "atom-c2750", "--matrix", "transport,size", "--json"]).expect(0, &[]);
    let doc: model::doc::MatrixDoc = serde_json::from_str(&said.out).expect("a document");
    let bandwidths = doc.tables.iter().filter(|table| table.metric == "basic.readBw");
    let cells = bandwidths.flat_map(|table| table.cells.iter().map(move |cell| (table, cell)));
    let own: Vec<f64> = cells
        .filter(|(table, cell)| table.columns[cell.column].side == "atom")
        .filter_map(|(_, cell)| cell.value.map(|value| (value / 1_048_576.0 * 10.0).round() / 10.0))
        .collect();
    assert_eq!(own, [6.9, 255.5]);
    let bounds =
        bench.run(&["compare", "atom", "--matrix", "size", "--metric", "basic.read.max"]).expect(0, &[]).out;
    assert!(bounds.contains("32.7") && bounds.contains("379"), "{bounds}");
    let twice = format!("{listing}{listing}");
    std::fs::write(bench.path("twice.txt"), twice).expect("a file");
    bench
        .run(&["import", "twice.txt", "--machine", "atom"])
        .expect(1, &["twice.txt:9: this is of another listing, whose title is line 7"]);
}

#[test]
fn what_is_printed_as_clusterperf_prints_it_is_read_back() {
    let text = "\
basic.read100         17.1 us     read random 100B object (30B key) median
basic.read100.99      24.3 us     read random 100B object (30B key) 99%
basic.readBw100        3.0 MB/s   bandwidth reading 100B objects (30B key)
readNotFound          14.4 us     read object that doesn't exist
# Generated by 'clusterperf.py readLoaded'
# clients all reading a single 100-byte object
    1           13.8                72
    2           14.1               142
# multi-reads of 100 B objects
# Generated by 'clusterperf.py multiRead_oneMaster'
         1              1              1           15.1              15.10
      5000              1           5000         4120.4               0.82
netBandwidth         1.204 GB/s   many clients reading from different servers
";
    let (bench, other) = (Bench::new(), Bench::new());
    std::fs::write(bench.path("a.txt"), text).expect("a file");
    bench.run(&["import", "a.txt", "--machine", "one"]).expect(0, &["1 added"]);
    let printed = bench.run(&["show", "one", "--format", "clusterperf"]).expect(0, &[]).out;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(printed.contains(&format!("{line}\n")), "{line}: {printed}");
    }
    std::fs::write(other.path("b.txt"), &printed).expect("a file");
    other.run(&["import", "b.txt", "--machine", "one"]).expect(0, &["1 added"]);
    let figures = |bench: &Bench| {
        let doc = bench.run(&["show", "one", "--json"]).expect(0, &[]).out;
        let doc: model::doc::RunDoc = serde_json::from_str(&doc).expect("a document");
        let one = |one: model::doc::SeriesDoc| (one.instrument, one.metric, one.params, one.n, one.median);
        doc.series.into_iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(figures(&bench), figures(&other));
    assert_eq!(figures(&bench).len(), 7);
    bench.run(&["run", "cpu", "--format", "clusterperf"]).expect(2, &["is for runs of key-value stores"]);
}
