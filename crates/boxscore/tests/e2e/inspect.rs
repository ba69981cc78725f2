//! `boxscore inspect` end to end: this machine against /proc, machines of the store, sheets, published machines.

use crate::common::Bench;
use model::doc::{InspectDoc, InspectManyDoc};
use model::{Fact, FactValue};

fn one(bench: &Bench, args: &[&str]) -> InspectDoc {
    serde_json::from_str(&bench.run(args).expect(0, &[]).out).expect("a document")
}

fn number(facts: &[Fact], key: &str) -> Option<f64> {
    match facts.iter().find(|fact| fact.key == key)?.value {
        Some(FactValue::Number(number)) => Some(number),
        _ => None,
    }
}

#[test]
fn a_damaged_store_hides_no_machine() {
    let bench = Bench::new();
    std::fs::write(bench.store(), "no database").expect("a file");
    let said =
        bench.run(&["inspect"]).expect(0, &["warning: ", "is not a boxscore store", "by hand are not shown"]);
    assert!(said.out.contains("memory.bytes"), "{}", said.out);
    bench.run(&["inspect", "."]).expect(1, &["is not a boxscore store"]);
}

#[test]
fn this_machine_is_what_the_kernel_says() {
    let bench = Bench::new();
    let document = one(&bench, &["inspect", "--json"]);
    assert_eq!(document.schema, "boxscore.inspect/1");
    assert!(!document.machine.id.is_empty() && !document.machine.name.is_empty());
    let meminfo = std::fs::read_to_string("/proc/meminfo").expect("meminfo");
    let total = meminfo.lines().find(|line| line.starts_with("MemTotal:")).expect("MemTotal");
    let kib: f64 = total.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("a number");
    assert_eq!(number(&document.facts, "memory.bytes"), Some(kib * 1024.0));
    for fact in &document.facts {
        assert!(fact.value.is_some() || fact.why.is_some(), "neither a value nor a reason: {fact:?}");
        assert!(!fact.source.is_empty(), "no source: {fact:?}");
    }
    assert!(!bench.store().exists(), "looking made a store");
    let text = bench.run(&["inspect"]).expect(0, &[]).out;
    assert!(text.contains("Processor") && text.contains("memory.bytes"), "{text}");
}

#[test]
fn several_machines_stand_side_by_side_with_footnotes() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3", "--label", "mine"]).expect(0, &[]);
    std::fs::write(bench.path("m.csv"), "machine,cpu,cores\noffer,Offered CPU,48\n").expect("a file");
    bench.run(&["import", "m.csv"]).expect(0, &[]);
    let args = ["inspect", "planted", "mine", "offer", "xeon-x3470"];
    let said = bench.run(&[&args[..], &["--json"]].concat()).expect(0, &[]).out;
    let document: InspectManyDoc = serde_json::from_str(&said).expect("a document");
    let names: Vec<&str> = document.machines.iter().map(|one| one.machine.name.as_str()).collect();
    assert_eq!(names, ["planted", "planted", "offer", "xeon-x3470"]);
    let cores: Vec<_> = document.machines.iter().map(|one| number(&one.facts, "cpu.cores")).collect();
    assert_eq!(cores, [Some(4.0), Some(4.0), Some(48.0), Some(4.0)]);
    let text = bench.run(&args).expect(0, &[]).out;
    assert!(text.contains("Offered") && text.contains("(1)"), "{text}");
    assert!(text.contains("800 MHz from 24 GB on"), "{text}");
}

#[test]
fn unknown_and_ambiguous_names_say_what_there_is() {
    let bench = Bench::new();
    bench
        .run(&["inspect", "xeon-e5621"])
        .expect(1, &["no machine or run is called", "did you mean `xeon-e5620`?"]);
    for taken in ["xeon-e5620", "ref-xeon-2c", "latest", "latest~1", "."] {
        std::fs::write(bench.path("m.csv"), format!("machine,cores\n{taken},4\n")).expect("a file");
        bench.run(&["import", "m.csv"]).expect(1, &["m.csv:2", taken]);
    }
    // No label can have a published machine's name, but a sheet that comes later can have a label's.
    bench.fake(&["--takes", "3", "--label", "xeon-x3470"]).expect(2, &["part of boxscore"]);
    bench.fake(&["--takes", "3", "--label", "mine"]).expect(0, &[]);
    std::fs::write(bench.path("m.csv"), "machine,cores\nmine,4\n").expect("a file");
    bench.run(&["import", "m.csv"]).expect(0, &[]);
    bench.run(&["inspect", "mine"]).expect(1, &["may mean any of 2", "the label of run"]);
}

#[test]
fn a_kernel_of_32_bits_with_much_memory_is_told() {
    let bench = Bench::new();
    let doc = one(&bench, &["inspect", "hp-16gb-32bit", "--json"]);
    assert_eq!(doc.findings.iter().map(model::Finding::kind).collect::<Vec<_>>(), ["low-memory"]);
    let said = bench.run(&["inspect", "hp-16gb-32bit"]).expect(0, &[]).out;
    assert!(said.contains("! files may be served from disks"), "{said}");
    assert!(one(&bench, &["inspect", "hp-16gb-64bit", "--json"]).findings.is_empty());
}
