//! `boxscore note` end to end: what is said of a run or a machine is there afterwards, and wrong words change nothing.

use crate::common::Bench;
use model::FactValue;
use model::data::RunData;
use model::doc::{CompareDoc, DoneDoc, InspectDoc, RunDoc};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    bench
}

#[test]
fn a_run_takes_words_price_watts_and_a_label() {
    let bench = bench();
    let id = bench.only().head.id;
    let args =
        ["note", "latest", "after the update", "--price", "0.2/h", "--currency", "EUR", "--watts", "35"];
    let said = bench.run(&[&args[..], &["--label", "after", "--json"]].concat()).expect(0, &[]);
    let done: DoneDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((done.schema.as_str(), done.ok, done.run), ("boxscore.note/1", true, Some(id.clone())));
    bench.run(&args).expect(0, &["noted with run "]);
    let said = bench.run(&["show", "after", "--json"]).expect(0, &[]).out;
    let document: RunDoc = serde_json::from_str(&said).expect("a document");
    assert_eq!((document.run, document.watts), (id, Some(35.0)));
    let price = document.price.expect("a price");
    assert_eq!((price.amount, price.currency.as_str(), price.hourly), (0.2, "EUR", true));
    assert_eq!(document.notes.iter().filter(|note| note.text() == "after the update").count(), 1);
}

#[test]
fn a_run_takes_a_band_of_prices_as_a_note_does() {
    let bench = Bench::new();
    bench.fake(&["--takes", "2", "--price", "2000-2500"]).expect(0, &[]);
    let band = "the price is the middle of 2000..2500 USD";
    let noted = |run: &RunData| run.notes.iter().filter(|note| note.text() == band).count();
    let price = |run: &RunData| run.head.price.clone().map(|price| (price.amount, price.hourly));
    let run = bench.only();
    assert_eq!((price(&run), noted(&run)), (Some((2250.0, false)), 1));
    bench.run(&["note", "latest", "--price", "0.1..0.3/h"]).expect(0, &[]);
    assert_eq!(price(&bench.only()), Some((0.2, true)));
    bench.fake(&["--takes", "2", "--price", "2500..2000"]).expect(2, &["the band ends below its beginning"]);
    bench.run(&["note", "latest", "--price", "2000-"]).expect(2, &["not a price"]);
}

#[test]
fn a_machine_keeps_facts_and_gives_its_price_to_its_runs() {
    let bench = bench();
    bench
        .run(&[
            "note",
            "planted",
            "loud",
            "--price",
            "429",
            "--fact",
            "memory.slots=4",
            "--fact",
            "rack.row=B 12",
        ])
        .expect(0, &["noted with planted"]);
    bench.run(&["note", "planted", "hot"]).expect(0, &[]);
    bench.run(&["note", "latest", "--fact", "rack.unit=7"]).expect(0, &["added to the run's machine"]);
    bench.run(&["note", "latest", "--label", "latest"]).expect(2, &["`latest` means something else"]);
    let run = bench.only();
    assert!(run.head.price.as_ref().is_some_and(|price| price.amount == 429.0 && !price.hourly));
    assert!(run.fact("memory.slots").is_none_or(|fact| fact.value != Some(FactValue::Number(4.0))));
    let said = bench.run(&["inspect", "planted", "--json"]).expect(0, &[]).out;
    let sheet: InspectDoc = serde_json::from_str(&said).expect("a document");
    let fact = |key: &str| sheet.facts.iter().find(|fact| fact.key == key).expect("the fact");
    assert_eq!(fact("memory.slots").value, Some(FactValue::Number(4.0)));
    assert_eq!(fact("memory.slots").source, "added by hand");
    assert_eq!(fact("rack.row").value, Some(FactValue::Text("B 12".into())));
    assert_eq!(fact("memory.slots").why.as_deref(), Some("added by hand"));
    bench.run(&["note", "planted", "--fact", "cpu.cores=12"]).expect(0, &[]);
    let alone = bench.run(&["inspect", "planted"]).expect(0, &[]).out;
    let row =
        |text: &str, key: &str| text.lines().find(|line| line.contains(key)).unwrap_or_default().to_owned();
    assert!(row(&alone, "memory.slots").ends_with("added by hand"), "{alone}");
    assert!(alone.contains("added by hand; read was 4"), "{alone}");
    // Side by side there is no column for sources: a footnote says it.
    let both = bench.run(&["inspect", "planted", "xeon-x3470"]).expect(0, &[]).out;
    assert!(row(&both, "DIMM slots").contains("4 (") && both.contains(") added by hand"), "{both}");
    assert_eq!(fact("note").value, Some(FactValue::Text("loud; hot".into())));
}

#[test]
fn machines_of_the_catalogue_take_prices_and_words() {
    let bench = Bench::new();
    let compare = |names: [&str; 2]| bench.run(&["compare", names[0], names[1]]).expect(0, &[]).out;
    let published = compare(["atom-330", "core2-duo"]);
    let row = |text: &str, wanted: &[&str]| {
        let has = |line: &&str| wanted.iter().all(|word| line.contains(word));
        text.lines()
            .find(has)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .unwrap_or_default()
    };
    let of = |text: &str| [row(text, &["100 conn", "per USD"]), row(text, &["100 conn", "per W"])];
    let [price, watts] = of(&published);
    assert!(price.ends_with("56.2 72.0 x1.28") && watts.ends_with("112 180 x1.60"), "{published}");
    assert!(published.contains("an estimate, not a measurement"), "{published}");
    // There was no store yet.
    let args = ["note", "atom-330", "bought used", "--price", "90/h", "--currency", "EUR"];
    bench.run(&args).expect(0, &["noted with atom-330"]);
    bench.run(&["note", "atom-330", "--price", "40", "--watts", "20"]).expect(0, &[]);
    let own = compare(["atom-330", "core2-duo"]);
    let [price, watts] = of(&own);
    assert!(price.contains(" 112 ") && watts.contains(" 225 "), "{own}");
    assert!(own.contains("atom-330: noted: bought used"), "{own}");
    let sheet = bench.run(&["inspect", "atom-330"]).expect(0, &[]).out;
    assert!(sheet.contains("added by hand; read was 80"), "{sheet}");
    assert!(sheet.contains("bought used") && !sheet.contains("price.eur"), "{sheet}");
    bench.run(&["note", "ref-epyc-2c", "--price", "0.1/h"]).expect(0, &[]);
    bench.run(&["note", "ref-xeon-2c", "--price", "0.2/h"]).expect(0, &[]);
    let said = bench.run(&["compare", "ref-epyc-2c", "ref-xeon-2c", "--json"]).expect(0, &[]).out;
    let document: CompareDoc = serde_json::from_str(&said).expect("a document");
    let prices: Vec<_> =
        document.arms.iter().map(|arm| arm.price.as_ref().map(|price| price.amount)).collect();
    assert_eq!(prices, [Some(0.1), Some(0.2)]);
}

#[test]
fn a_price_stays_with_the_machine_for_later_runs() {
    let bench = bench();
    bench.run(&["note", "planted", "--price", "429", "--watts", "35"]).expect(0, &[]);
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let heads = bench.heads();
    assert_eq!(heads.len(), 2);
    for head in heads {
        let price = head.price.expect("a price");
        assert_eq!((price.amount, price.hourly, head.watts), (429.0, false, Some(35.0)));
    }
}

#[test]
fn wrong_words_change_nothing_and_say_what_is_meant() {
    let bench = bench();
    let before = bench.only();
    bench.run(&["note", "latest"]).expect(2, &["TEXT"]);
    bench
        .run(&["note", "latest", "x", "--price", "cheap"])
        .expect(2, &["--price cheap: not a price", "hint: "]);
    bench.run(&["note", "latest", "x", "--watts", "0"]).expect(2, &["--watts 0: must be above 0"]);
    bench.run(&["note", "latest", "x", "--fact", "slots"]).expect(2, &["--fact slots: not of the form"]);
    bench.run(&["note", "latest", "x", "--fact", "cpu.cores=many"]).expect(2, &["`many` is not a number"]);
    bench.run(&["note", "latest", ""]).expect(2, &["the note is empty"]);
    bench.run(&["note", "planted", "--label", "x"]).expect(2, &["--label belongs to a run"]);
    bench.run(&["note", "nobody", "x"]).expect(1, &["nobody", "boxscore history"]);
    assert_eq!(bench.only(), before);
    Bench::new().run(&["note", "latest", "x"]).expect(1, &["error: ", "boxscore run"]);
}

#[test]
fn one_wrong_fact_refuses_only_itself() {
    let bench = bench();
    let args = ["note", "planted", "--fact", "pcie_slots=1 (x16)", "--fact", "slots", "--fact", "chipsets=x"];
    let args = [&args[..], &["--fact", "memory.slots=8 (4 / socket)", "--fact", "cpu.mhz.max=N/A"]].concat();
    let said = bench
        .run(&args)
        .expect(3, &["--fact slots: not of the form", "did you mean `chipset`?", "noted with"]);
    assert!(!said.err.contains("pcie"), "{}", said.err);
    let said = bench.run(&[&args[..], &["--json"]].concat()).expect(3, &[]).out;
    let done: DoneDoc = serde_json::from_str(&said).expect("a document");
    assert_eq!((done.ok, done.refused.len()), (false, 2));
    let both = bench.run(&["inspect", "planted", "xeon-x3470"]).expect(0, &[]).out;
    for row in ["PCIe slots            1 (x16)", "DIMM slots            8 (4 / socket)"] {
        assert!(both.contains(row), "{row}: {both}");
    }
    assert!(both.contains("none (N/A)"), "{both}");
    // None of them is a fact.
    bench.run(&["note", "planted", "--fact", "a", "--fact", "b"]).expect(2, &["--fact a: ", "--fact b: "]);
}

#[test]
fn a_band_of_prices_counts_by_its_middle() {
    let bench = Bench::new();
    bench.run(&["note", "xeon-e5620", "--price", "2000..2500", "--watts", "80"]).expect(0, &[]);
    bench.run(&["note", "opteron-6134", "--price", "2000..2500"]).expect(0, &[]);
    let said = bench.run(&["compare", "xeon-e5620", "opteron-6134", "--all"]).expect(0, &[]).out;
    let squeezed = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed.contains("xeon-e5620: its price of 2,250 USD is the middle of 2000..2500"), "{said}");
    let sheet = bench.run(&["inspect", "xeon-e5620"]).expect(0, &[]).out;
    assert!(sheet.contains("the middle of 2000..2500"), "{sheet}");
    bench.run(&["note", "xeon-e5620", "--price", "3..2"]).expect(2, &["ends below its beginning"]);
    bench.run(&["note", "xeon-e5620", "--price", "2..x"]).expect(2, &["not a price"]);
}
