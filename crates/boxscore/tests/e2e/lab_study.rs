//! `study FILE` on nodes: a column of each, what is left out and completed later, and its limits of time and money.

use std::time::Instant;

use model::doc::StudyDoc;

use store::{Filter, Mode, Store};

use crate::common::sshd::Fleet;
use crate::common::{PATIENCE, Running, Said};
use crate::lab_on::{done, fleet, runs, settled};

/// A study of every node.
fn study(fleet: &Fleet, takes: u32) {
    let text = format!(
        "name = \"ours\"\ntitle = \"Checksums on nodes\"\non = \"@*\"\n\n\
         [[run]]\nname = \"crc\"\nmeasure = [\"crc32c\"]\nset = [\"impl=chain\", \"threads=1\"]\n\
         arms = [\"size=7\", \"size=1024\"]\ntakes = {takes}\nsittings = 1\nfor = \"5m\"\n\n\
         [[table]]\nname = \"crc\"\ntitle = \"crc32c\"\n\
         columns = [{{ head = \"E5620\", machine = \"xeon-e5620\" }}]\n\
         rows = [{{ label = \"7 B\", figure = \"crc32c throughput size=7;impl=chain\", unit = \"MB/s\" }},\n\
         {{ label = \"cores\", fact = \"cpu.cores\" }}]\n"
    );
    std::fs::write(fleet.path("ours.toml"), text).expect("a study");
}

fn studied(fleet: &Fleet, words: &[&str]) -> Said {
    let binaries = fleet.binaries();
    done(&mut fleet.on(&[&["study", "ours.toml", "--binaries", &binaries], words].concat()))
}

fn document(fleet: &Fleet) -> StudyDoc {
    let said = studied(fleet, &["--show", "--json"]).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

/// The names of the columns that have a figure, and the runs that are stored, by their nodes.
fn filled(doc: &StudyDoc) -> (Vec<&str>, Vec<&str>) {
    let table = &doc.tables[0];
    let columns = table.columns.iter().zip(&table.rows[0].cells).filter(|(_, cell)| cell.value.is_some());
    let stored = doc.runs.iter().filter(|run| run.run.is_some());
    (
        columns.map(|(column, _)| column.head.as_str()).collect(),
        stored.filter_map(|run| run.node.as_deref()).collect(),
    )
}

#[test]
fn every_node_has_a_column_and_one_that_was_left_out_is_measured_by_rest() {
    let mut fleet = fleet(3);
    study(&fleet, 3);
    fleet.end(3);
    let said = studied(&fleet, &[]).expect(3, &["left out: rack3: it refused the connection", "run 1 of 1"]);
    assert!(said.out.contains("measured: 3 nodes: rack[1-3]\n"), "{}", said.out);
    let doc = document(&fleet);
    assert_eq!(doc.nodes, ["rack1", "rack2", "rack3"]);
    assert_eq!(filled(&doc), (vec!["E5620", "rack1", "rack2"], vec!["rack1", "rack2"]));
    assert_eq!(doc.tables[0].columns.len(), 4);
    assert_eq!(doc.tables[0].rows[0].cells[3].why.as_deref(), Some("not measured yet"));
    fleet.start_again(3, &settled(3));
    studied(&fleet, &["--rest"]).expect(0, &["run 1 of 1: ours.crc"]);
    let doc = document(&fleet);
    assert_eq!(filled(&doc), (vec!["E5620", "rack1", "rack2", "rack3"], vec!["rack1", "rack2", "rack3"]));
    assert_eq!(runs(&fleet).len(), 3, "the others were measured before");
    studied(&fleet, &["--rest"]).expect(0, &["nothing to measure"]);
}

#[test]
fn a_study_whose_controller_is_killed_is_completed_by_rest() {
    let fleet = fleet(3);
    study(&fleet, 30);
    let binaries = fleet.binaries();
    let running = Running::start(fleet.on(&["study", "ours.toml", "--binaries", &binaries]));
    let began = Instant::now();
    let begun = || {
        let Ok(store) = Store::open(&fleet.path("s.db"), Mode::ReadOnly) else { return 0 };
        let heads = store.heads(&Filter::default()).expect("its runs");
        heads.iter().filter(|head| head.takes > 5).count()
    };
    while begun() < 3 {
        assert!(began.elapsed() < PATIENCE, "{:?}", running.heard);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    running.signal("KILL");
    running.end();
    let takes = |fleet: &Fleet| runs(fleet).iter().map(|run| run.takes.len()).collect::<Vec<_>>();
    let before = takes(&fleet);
    assert!(before.iter().all(|count| *count < 60), "it was to be killed on the way: {before:?}");
    studied(&fleet, &["--rest"]).expect(0, &["completing run"]);
    assert_eq!(filled(&document(&fleet)).1, ["rack1", "rack2", "rack3"]);
    let runs = runs(&fleet);
    assert_eq!(runs.len(), 3, "the runs that were begun are completed");
    for series in runs.iter().flat_map(|run| &run.series) {
        assert_eq!(series.measured().len(), 30, "{:?}", series.key);
    }
}

#[test]
fn a_study_ends_at_its_limit_of_time_or_money() {
    let fleet = fleet(2);
    study(&fleet, 3);
    studied(&fleet, &["--budget", "1"]).expect(2, &["rack1 has no price by time in the inventory"]);
    studied(&fleet, &["--budget", "much"]).expect(2, &["--budget much: no amount"]);
    studied(&fleet, &["--for", "soon"]).expect(2, &["--for soon: no length of time"]);
    studied(&fleet, &["--for", "1s"])
        .expect(3, &["its time of 1 s is over before 1 run; `boxscore study ours.toml --rest`"]);
    let inventory = std::fs::read_to_string(fleet.path("lab.toml")).expect("an inventory");
    std::fs::write(fleet.path("lab.toml"), format!("{inventory}price = \"36/h\"\n")).expect("an inventory");
    // Two nodes cost 0.02 a second.
    studied(&fleet, &["--budget", "0.01"]).expect(3, &["its budget of 0.01 is over before 1 run"]);
    studied(&fleet, &["--budget", "10"]).expect(0, &["run 1 of 1"]);
    // What was spent before counts.
    std::fs::write(fleet.path("lab.toml"), format!("{inventory}price = \"360000/h\"\n"))
        .expect("an inventory");
    let text = std::fs::read_to_string(fleet.path("ours.toml")).expect("the study");
    let more = text.replace("[[table]]", "[[run]]\nname = \"more\"\nmeasure = [\"crc32c\"]\n\n[[table]]");
    std::fs::write(fleet.path("ours.toml"), more).expect("a study");
    studied(&fleet, &["--rest", "--budget", "300"]).expect(3, &["its budget of 300 is over before 1 run"]);
}
