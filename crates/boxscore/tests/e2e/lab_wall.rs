//! The power of nodes during runs with `--on`, read by simulated BMCs: telemetry, watts and joules, and readings that
//! are missing.

use std::fs;

use model::data::RunData;

use crate::common::ipmi::{Bmcs, PASSWORD};
use crate::common::sshd::Fleet;
use crate::lab_on::{done, fleet, of, runs};

/// Nodes `rack1` and `rack2`, whose BMCs are at these addresses.
fn nodes(bmcs: &Bmcs, addresses: [&str; 2]) -> Fleet {
    let fleet = fleet(2);
    fs::copy(bmcs.path("password"), fleet.path("password")).expect("a copy");
    let node = |(number, bmc): (usize, &str)| {
        format!(
            "[[nodes]]\nname = \"rack{number}\"\naddress = \"127.0.2.{number}\"\nport = {}\nbmc = {{ kind = \"ipmi\", \
             address = \"{bmc}\", port = {}, user = \"ADMIN\", password_file = \"password\" }}\n",
            fleet.port, bmcs.port
        )
    };
    let inventory: String = (1..).zip(addresses).map(node).collect();
    fs::write(fleet.path("lab.toml"), inventory).expect("an inventory");
    fleet
}

/// The readings of a BMC in the telemetry of a run.
fn readings(run: &RunData) -> Vec<Option<f64>> {
    let own = run.telemetry.iter().filter(|segment| segment.source == "bmc");
    let named = |column: &(String, String)| (column.0.as_str(), column.1.as_str()) == ("wall-power", "W");
    own.flat_map(|segment| {
        assert!(segment.columns.iter().all(named), "{segment:?}");
        segment.rows.iter().map(|row| row[0]).collect::<Vec<_>>()
    })
    .collect()
}

fn notes(run: &RunData) -> Vec<String> {
    run.notes
        .iter()
        .filter(|note| note.body.kind() == "wall-power")
        .map(|note| note.body.text().into_owned())
        .collect()
}

#[test]
fn the_power_of_nodes_is_in_the_telemetry_of_a_run_and_what_does_not_come_is_missing() {
    let bmcs = Bmcs::start(1);
    // Nobody answers for the second one.
    let fleet = nodes(&bmcs, ["127.0.3.1", "127.0.3.9"]);
    let binaries = fleet.binaries();
    let words = ["run", "telemetry", "--for", "15s", "--no-report", "--on", "@*", "--binaries", &binaries];
    let said = done(&mut fleet.on(&words)).expect(0, &[]);
    let all = runs(&fleet);
    let (first, second) = (readings(of(&all, "rack1")), readings(of(&all, "rack2")));
    assert!(first.len() > 3 && first.iter().all(|watts| *watts == Some(348.0)), "{first:?}");
    assert!(!second.is_empty() && second.iter().all(Option::is_none), "{second:?}");
    assert_eq!(notes(of(&all, "rack2")), ["a reading of its BMC is missing: its BMC does not answer"]);
    assert!(notes(of(&all, "rack1")).is_empty());
    let of_time =
        of(&all, "rack1").telemetry.iter().filter(|one| one.source == "bmc").flat_map(|one| &one.at_ns);
    assert!(of_time.clone().all(|at_ns| *at_ns < 60_000_000_000), "from the start of the run");
    let store = fs::read(fleet.path("s.db")).expect("the store");
    assert!(!store.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes()));
    assert!(!said.err.contains(PASSWORD) && !said.out.contains(PASSWORD));
}

#[test]
fn power_of_a_node_is_read_by_its_bmc_at_each_level() {
    let bmcs = Bmcs::start(1);
    let fleet = nodes(&bmcs, ["127.0.3.1", "127.0.3.9"]);
    let binaries = fleet.binaries();
    let power = [
        "run",
        "power",
        "--takes",
        "1",
        "--sittings",
        "1",
        "--no-report",
        "--set",
        "duration=3",
        "--set",
        "settle=0.2",
    ];
    let words = [&power[..], &["--on", "rack1", "--binaries", &binaries]].concat();
    let said = done(&mut fleet.on(&words)).expect(0, &["note: the BMCs of the nodes read the power"]);
    assert!(said.out.contains("draws 348 W idle and 348 W at full load ("), "{said:#?}");
    let run = runs(&fleet).pop().expect("its run");
    let of_metric = |metric: &str| {
        let series = run.series.iter().filter(|one| one.key.metric == metric);
        series.flat_map(|one| one.measured()).collect::<Vec<f64>>()
    };
    assert_eq!(of_metric("watts"), [348.0; 5], "{said:#?}");
    let samples = of_metric("watts-sample");
    assert!(samples.len() >= 5 && samples.iter().all(|watts| *watts == 348.0), "{samples:?}");
    assert_eq!(of_metric("joules-per-job").len(), 4, "none at idle");
    assert!(run.series.iter().all(|one| one.key.params.get("meter").is_none_or(|meter| meter == "bmc")));
    // Without a BMC that answers a take has no watts, and never 0.
    let words = [&power[..], &["--watts-bmc", "--on", "rack2", "--binaries", &binaries]].concat();
    done(&mut fleet.on(&words)).expect(0, &[]);
    let run = runs(&fleet).pop().expect("its run");
    assert!(run.series.iter().all(|one| one.key.metric != "watts"), "{:?}", run.notes);
    assert!(run.notes.iter().any(|note| note.body.text().contains("it has no watts")), "{:?}", run.notes);
    done(&mut fleet.plain(&["run", "power", "--watts-bmc"]))
        .expect(2, &["the meter bmc is of nodes", "--on EXPR"]);
}
