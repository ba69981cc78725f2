//! Capacities of planted runs and published points.

use std::collections::BTreeMap;

use model::data::{Published, RunData};
use model::doc::MachineDoc;
use model::need;
use model::{Basis, Better, Fact, Params, SeriesKey, Unit, Validity, Value, card};

use super::*;
use crate::loads::planted::{TAKES, empty, load, params, series, times};

const SEARCHED: &str = "connections=50;limit=20ms;percentile=p99;server=nginx";

/// A run of a machine with a number of its own.
fn run(number: u32) -> RunData {
    let mut run = empty();
    run.head.id = format!("{number:016x}");
    run.head.started_ns = i64::from(number) * 1_000_000_000;
    run
}

/// Figures of one setup, the same in every take but for the last digits.
fn figure(run: &mut RunData, instrument: &str, metric: &str, given: &str, value: f64) {
    let near = |seq: u64| Value::Number(value * (1.0 + 1e-5 * (seq * 7 % 5) as f64));
    let points: Vec<(u64, Value)> = (0..TAKES).map(|seq| (seq, near(seq))).collect();
    series(run, instrument, metric, params(given), "", &points);
}

fn search(number: u32, given: &str, value: f64) -> RunData {
    let mut run = run(number);
    figure(&mut run, "web-slo", "slo-throughput", given, value);
    run
}

/// Open loops of these rates, of which those up to `good` answer in 2 ms and those beyond in 80 ms.
fn open(run: &mut RunData, rates: &[f64], good: f64) {
    for rate in rates {
        let given = format!("arrivals=poisson;connections=50;rate={rate}");
        let figures = [("throughput", *rate), ("offered-load", *rate), ("window", 1.0), ("requests", *rate)];
        let seqs = load(run, &given, &figures);
        let time = if *rate <= good { 2_000 } else { 80_000 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
        let requests = *rate as u64;
        times(run, &seqs, "response-times", &given, &[(time, requests)]);
    }
}

/// The side of these runs, by the definitions of today.
fn capacity_of(mut runs: Vec<RunData>, text: &str, accept: &[&str]) -> Result<Capacity, Missing> {
    for series in runs.iter_mut().flat_map(|run| &mut run.series) {
        if let Some(card) = card::find(instruments::cards(), &series.key.instrument) {
            series.key.definition = card.definition;
        }
    }
    of_side(&Side { is_stored: true, ..side(&runs) }, text, accept)
}

fn side(runs: &[RunData]) -> Side<'_> {
    let machine = MachineDoc { id: "m".into(), name: "box".into() };
    Side { runs: runs.iter().collect(), ..Side::new("box", machine) }
}

fn of_side(side: &Side<'_>, text: &str, accept: &[&str]) -> Result<Capacity, Missing> {
    let accept: Vec<String> = accept.iter().map(|rule| (*rule).to_owned()).collect();
    let mixes = BTreeMap::from([("shop.json".to_owned(), "shop@00ff".to_owned())]);
    let options = Options { cards: instruments::cards(), accept: &accept, mixes: &mixes };
    capacity(side, &need::parse(text).unwrap(), &options)
}

fn near(found: &Capacity, value: f64) -> bool {
    (found.ln.exp() / value - 1.0).abs() < 1e-3
}

#[test]
fn a_search_of_the_limit_is_the_capacity() {
    let found = capacity_of(vec![search(1, SEARCHED, 8000.0)], "web 20000/s p99<20ms", &[]).unwrap();
    println!("{found:?}");
    assert!(near(&found, 8000.0) && !found.at_least && !found.published, "{found:?}");
}
