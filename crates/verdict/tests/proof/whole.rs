//! Machines of 2 and 64 CPUs: what all CPUs do together and what one thread does are told, priced and averaged apart.

use model::data::{Price, RunData};
use model::doc::{CompareDoc, Cost, VerdictWord};
use model::{Fact, Params, Scope, Unit, Value};
use stats::Rng;
use verdict::{CompareOptions, Side, compare};

use crate::planted::{World, fact, run, side};

/// Instrument, metric and parameters of the planted figures; the last one is of a disk.
const FIGURES: [(&str, &str, &str); 9] = [
    ("index", "rate", "kind=integer;threads=1"),
    ("index", "rate", "kind=integer;threads=all"),
    ("index", "rate", "kind=floating;threads=1"),
    ("index", "rate", "kind=floating;threads=all"),
    ("compress", "compress", "codec=zstd;threads=1"),
    ("compress", "compress", "codec=zstd;threads=all"),
    ("mem-bandwidth", "bandwidth", "op=read;threads=1"),
    ("mem-bandwidth", "bandwidth", "op=read;threads=all"),
    ("disk-read", "iops", "qd=1"),
];

/// A machine of that many CPUs: each thread does 1, all together as many times as much; the disk does `disk`.
fn machine(name: &str, cpus: f64, disk: f64, figures: &[(&str, &str, &str)]) -> RunData {
    again(name, name, (cpus, disk), figures)
}

/// Several runs of such a machine: few would leave the noise between runs assumed.
fn often(name: &str, cpus: f64, disk: f64) -> Vec<RunData> {
    (0..8).map(|at| again(&format!("{name}{at}"), name, (cpus, disk), &FIGURES)).collect()
}

fn again(id: &str, name: &str, (cpus, disk): (f64, f64), figures: &[(&str, &str, &str)]) -> RunData {
    let seed = id.bytes().fold(7u64, |seed, byte| seed * 31 + u64::from(byte));
    let mut planted = run(id, name, &World::plain(figures.len()), 1.0, &mut Rng::new(seed));
    for ((cell, series), (instrument, metric, text)) in
        planted.plan.cells.iter_mut().zip(&mut planted.series).zip(figures)
    {
        let params = Params::parse(text).expect("parameters of the test");
        let factor = match *instrument {
            "disk-read" => disk,
            _ if params.get("threads") == Some("all") => cpus,
            _ => 1.0,
        };
        for point in &mut series.points {
            point.value = Value::Number(point.number().expect("a number") * factor);
        }
        (series.key.instrument, series.key.metric) = ((*instrument).into(), (*metric).into());
        (cell.instrument, cell.headline) = ((*instrument).into(), vec![(*metric).into()]);
        (series.key.params, cell.params) = (params.clone(), params);
    }
    fact(&mut planted, Fact::number("cpu.threads", cpus, Unit::Count, "test"));
    planted
}

fn options() -> CompareOptions {
    CompareOptions { cards: instruments::cards(), ..CompareOptions::default() }
}

fn against(base: &RunData, arm: &RunData) -> CompareDoc {
    compare(&[side("small", vec![base]), side("big", vec![arm])], &options())
}

#[test]
fn sixty_four_cpus_do_32_times_the_work_of_two() {
    let (small, big) = (often("small", 2.0, 1.0), often("big", 64.0, 0.1));
    let doc = compare(
        &[side("small", small.iter().collect()), side("big", big.iter().collect())],
        &CompareOptions { margin: Some(0.1), ..options() },
    );
    let said = doc.paragraph.to_string();
    assert!(said.starts_with("As a whole machine (64 CPUs against 2), big has 3"), "{said}");
    assert!(said.contains("They tie on integer, floating, compress zstd"), "{said}");
    let [whole, thread] = doc.index.as_slice() else { panic!("{:?}", doc.index) };
    assert_eq!((whole.scope, thread.scope), (Scope::WholeMachine, Scope::PerThread));
    // Four figures each: the disk has a share in neither.
    assert_eq!((whole.components, thread.components), (4, 4));
    assert!(whole.value.is_some_and(|value| (value / 32.0 - 1.0).abs() < 0.02), "{whole:?}");
    assert!(thread.value.is_some_and(|value| (value - 1.0).abs() < 0.02), "{thread:?}");
    assert!(
        said.contains("Per thread, big has 1.00 times the performance of small over 4 figures"),
        "{said}"
    );
    // The rows say which figures an index is of.
    for index in &doc.index {
        let parts = doc.rows.iter().filter(|row| row.index == Some(index.scope)).count();
        assert_eq!(parts as u64, index.components, "{index:?}");
    }
    for row in &doc.rows {
        let want = match row.scope() {
            Some(Scope::WholeMachine) => VerdictWord::Better,
            Some(Scope::PerThread) => VerdictWord::Tie,
            None => VerdictWord::Worse,
        };
        assert_eq!(row.verdict, want, "{row:?}");
    }
    // The whole machines and one thread of each are ranked figure by figure.
    let rank = |params: &str, arm: &str| {
        let params = Params::parse(params).expect("parameters of the test");
        doc.ranks.iter().find(|rank| rank.params == params && rank.arm == arm).expect("a rank").rank
    };
    assert_eq!((rank(FIGURES[1].2, "big"), rank(FIGURES[1].2, "small")), (1, 2));
    assert_eq!((rank(FIGURES[0].2, "big"), rank(FIGURES[0].2, "small")), (1, 1));
}

#[test]
fn a_price_buys_the_whole_machine() {
    let (small, big) = (machine("small", 2.0, 1.0, &FIGURES), machine("big", 64.0, 1.0, &FIGURES));
    let price = |amount| Some(Price { amount, hourly: true, currency: "USD".to_owned() });
    let base = Side { price: price(0.1), watts: Some(10.0), ..side("small", vec![&small]) };
    let arm = Side { price: price(1.6), watts: Some(160.0), ..side("big", vec![&big]) };
    let doc = compare(&[base.clone(), arm.clone()], &options());
    for row in &doc.rows {
        let whole = row.scope() == Some(Scope::WholeMachine);
        assert_eq!((row.per_price.is_some(), row.per_watt.is_some()), (whole, whole), "{row:?}");
        assert!(row.per_price.is_none_or(|value| (value - 2.0).abs() < 0.1), "{row:?}");
    }
    let said = doc.paragraph.to_string();
    let [by_price, by_watts] = doc.value.as_slice() else { panic!("{:?}", doc.value) };
    assert_eq!((by_price.per, by_watts.per), (Cost::Price, Cost::Watts));
    assert_eq!((by_price.arm_cost.as_str(), by_price.reference_cost.as_str()), ("1.60 USD/h", "0.10 USD/h"));
    assert!((by_price.value - 2.0).abs() < 0.1 && by_price.low < by_price.value, "{by_price:?}");
    // What is said first, in the answer, is what the document holds.
    let more = match &by_price.more {
        Some(more) => format!("{more} "),
        None => "Which of big (1.60 USD/h) and small (0.10 USD/h) gives more for the money".to_owned(),
    };
    assert!(doc.answer.contains(&more) && doc.answer.contains("for the money"), "{}", doc.answer);
    assert!(said.starts_with(&doc.answer) && doc.answer == doc.paragraph.lead, "{said}");
    // Without a figure of all CPUs there is nothing that a price buys, and that is said.
    let few = &FIGURES[..1];
    let (small, big) = (machine("small", 2.0, 1.0, few), machine("big", 64.0, 1.0, few));
    let (base, arm) = (Side { runs: vec![&small], ..base }, Side { runs: vec![&big], ..arm });
    let doc = compare(&[base, arm], &options());
    assert!(doc.rows.iter().all(|row| row.per_price.is_none() && row.per_watt.is_none()));
    assert!(doc.footnotes.iter().any(|note| note.contains("threads=all")), "{:?}", doc.footnotes);
}

#[test]
fn the_only_cpu_is_the_whole_machine() {
    let threads: Vec<(&str, &str, &str)> = FIGURES.iter().copied().step_by(2).take(4).collect();
    let (tiny, big) = (machine("tiny", 1.0, 1.0, &threads), machine("big", 64.0, 1.0, &FIGURES));
    let doc = against(&tiny, &big);
    let [whole, thread] = doc.index.as_slice() else { panic!("{:?}", doc.index) };
    assert!(whole.value.is_some_and(|value| (value / 64.0 - 1.0).abs() < 0.02), "{whole:?}");
    assert!(thread.value.is_some_and(|value| (value - 1.0).abs() < 0.02), "{thread:?}");
    let note = "small has one CPU: its figures of one thread stand for the whole machine";
    assert!(doc.footnotes.iter().any(|footnote| footnote == note), "{:?}", doc.footnotes);
    // Of a machine with two CPUs one thread says nothing of both.
    let two = machine("two", 2.0, 1.0, &threads);
    let doc = against(&two, &big);
    assert_eq!(doc.index.iter().map(|index| index.scope).collect::<Vec<_>>(), [Scope::PerThread]);
}

#[test]
fn open_rows_make_no_index() {
    let (small, mut big) = (machine("small", 2.0, 1.0, &FIGURES), machine("big", 2.0, 1.0, &FIGURES));
    for point in big.series.iter_mut().flat_map(|series| &mut series.points) {
        point.value = Value::Number(point.number().expect("a number") * 1.055);
    }
    let doc = compare(
        &[side("small", vec![&small]), side("big", vec![&big])],
        &CompareOptions { margin: Some(0.055), ..options() },
    );
    assert!(doc.rows.iter().all(|row| row.verdict == VerdictWord::CannotTell), "{:?}", doc.rows);
    for index in &doc.index {
        let off = index.low.is_some_and(|low| low > 1.0);
        assert!(!off, "{index:?}");
    }
}

#[test]
fn an_index_has_the_figures_that_were_asked_for() {
    let (small, big) = (machine("small", 2.0, 1.0, &FIGURES), machine("big", 64.0, 1.0, &FIGURES));
    let asked = CompareOptions { metric: Some("compress".to_owned()), ..options() };
    let doc = compare(&[side("small", vec![&small]), side("big", vec![&big])], &asked);
    assert_eq!(doc.rows.len(), 2);
    assert_eq!(doc.index.iter().map(|index| index.components).collect::<Vec<_>>(), [1, 1]);
    assert!(doc.index[0].value.is_some_and(|value| (value / 32.0 - 1.0).abs() < 0.02), "{:?}", doc.index);
}
