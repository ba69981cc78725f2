//! `boxscore import` end to end: sheets, other stores, and files that are wrong, of which nothing is kept.

mod common;

use common::Bench;
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
