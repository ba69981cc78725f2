//! Tests that the verdict on two labels is right: traffic with a known truth, written as log lines, read as any log is.
//!
//! Sizes in B, times in us. Simulated are a site's two days behind a balancer whose weights are switched on the second
//! day, bad moments of the network that both servers share, and slow times of each server's own that last. Not
//! simulated: clients or files that follow one server, which no log tells.

use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;

use logs::format::Format;
use logs::read::{Input, Options, Watch, read};
use model::doc::{RowDoc, VerdictWord};
use stats::Rng;
use verdict::traffic::{Judgement, SPEED, TIME, judge};

use super::{Named, groups};

const SEEDS: u64 = 200;
/// Of 200 intervals of 95 %, fewer hold the truth about once in 500 tries.
const FEWEST: u64 = 180;
/// Quarter hours of a day.
const QUARTERS: u64 = 96;
/// Median size in B, time in us on the slower server, requests in a quarter hour of the site.
const CLASSES: [(f64, f64, f64); 3] = [(400.0, 1500.0, 9.0), (5e3, 2e3, 6.0), (60e3, 9e3, 6.0)];

/// The share of a class that the balancer gives to the arm: all alike on the first day; on the second it is given
/// four fifths of the small files and one fifth of the large ones, whose bytes are sent faster.
fn share(day: u64, class: usize) -> f64 {
    if day == 0 { 0.5 } else { [0.8, 0.5, 0.2][class] }
}

/// The lines of two servers in the order of time; the arm needs `1 / truth` of the time that the base needs.
fn traffic(truth: f64, rng: &mut Rng) -> [String; 2] {
    let mut lines = [String::new(), String::new()];
    let mut own = [0.0f64; 2];
    for block in 0..2 * QUARTERS {
        let (day, quarter) = (block / QUARTERS, block % QUARTERS);
        let busy = 1.0 + 0.5 * (quarter as f64 / QUARTERS as f64 * std::f64::consts::TAU).sin();
        let network = 0.2 * rng.normal();
        own = own.map(|state| 0.5 * state + 0.12 * rng.normal());
        for (class, (bytes, time, rate)) in CLASSES.into_iter().enumerate() {
            for _ in 0..(rate * busy).round() as u64 {
                let arm = rng.uniform() < share(day, class);
                let (state, speed) = if arm { (own[0], truth) } else { (own[1], 1.0) };
                let larger = 0.2 * rng.normal();
                let slower = larger + network + state + 0.6 * rng.normal();
                let at = rng.below(900);
                writeln!(
                    lines[usize::from(!arm)],
                    "::1 - - [0{}/May/2010:{:02}:{:02}:{:02} +0200] \"GET /{class} HTTP/1.1\" 200 {} {}",
                    day + 1,
                    quarter / 4,
                    quarter % 4 * 15 + at as u64 / 60,
                    at % 60,
                    (bytes * larger.exp()).round(),
                    (time / speed * slower.exp()).round(),
                )
                .unwrap();
            }
        }
    }
    lines
}

/// The result of `boxscore logs arm=... base=...` for these lines, and whether the arm sent all its bytes slower.
fn judged([arm, base]: [String; 2], seed: u64) -> (Judgement, bool) {
    let format = Arc::new(Format::parse("%h %l %u %t \"%r\" %>s %B %D").unwrap());
    let input = |label: &str, text: String| {
        Input::stream(label, label, Box::new(Cursor::new(text.into_bytes())), Arc::clone(&format))
    };
    let inputs = vec![input("base", base), input("arm", arm)];
    let read = read(inputs, &Options::default(), &Watch::default());
    assert!(read.faults.is_empty() && read.first_skipped.is_none(), "{:?}", read.first_skipped);
    let named: Vec<Named<'_>> = ["base", "arm"].map(|label| (label, &read.labels.labels[label])).to_vec();
    let groups = groups(&named);
    let is_slower = groups[1].ratio_of_totals() < groups[0].ratio_of_totals();
    (judge(&groups, stats::Margin::MACHINES, seed), is_slower)
}

fn row<'a>(judged: &'a Judgement, metric: &str) -> &'a RowDoc {
    judged.rows.iter().find(|row| row.metric == metric).unwrap()
}

/// Of the seeds' verdicts on speed and on time:
#[derive(Debug, Default)]
struct Found {
    /// Intervals, and those that hold the truth. What may be one episode has none.
    given: [u64; 2],
    held: [u64; 2],
    better: u64,
    worse: u64,
    /// Seeds in which the totals say the contrary: the arm sent its bytes slower.
    crude_flips: u64,
}

fn found(truth: f64, seeds: std::ops::Range<u64>) -> Found {
    let mut all = Found::default();
    for seed in seeds {
        let (judged, is_slower) = judged(traffic(truth, &mut Rng::new(seed)), seed);
        for (at, (metric, truth)) in [(SPEED, truth), (TIME, 1.0 / truth)].into_iter().enumerate() {
            let row = row(&judged, metric);
            if let Some((low, high)) = row.low.zip(row.high) {
                all.given[at] += 1;
                all.held[at] += u64::from(low <= truth && truth <= high);
            }
            all.better += u64::from(row.verdict == VerdictWord::Better);
            all.worse += u64::from(row.verdict == VerdictWord::Worse);
        }
        all.crude_flips += u64::from(is_slower);
    }
    all
}

#[test]
fn intervals_hold_the_truth_whatever_the_balancer_does() {
    let halves = [(1.0, 0..SEEDS / 2), (1.2, SEEDS / 2..SEEDS)];
    let [same, faster] = std::thread::scope(|scope| {
        halves.map(|(truth, seeds)| scope.spawn(move || found(truth, seeds))).map(|half| half.join().unwrap())
    });
    for (at, metric) in [SPEED, TIME].into_iter().enumerate() {
        let (given, held) = (same.given[at] + faster.given[at], same.held[at] + faster.held[at]);
        assert!(given > SEEDS * 9 / 10, "{given} of {SEEDS} seeds have an interval of {metric}");
        assert!(held * SEEDS >= FEWEST * given, "{held} of {given} intervals of {metric} hold the truth");
    }
    // Two verdicts a seed.
    assert!(same.better + same.worse <= SEEDS / 40, "called unlike without being so: {same:?}");
    assert_eq!(faster.worse, 0, "flipped: {faster:?}");
    assert!(faster.better > SEEDS / 2, "hardly ever found: {faster:?}");
    assert!(faster.crude_flips > SEEDS * 4 / 10, "the totals tell it too: too easy a traffic: {faster:?}");
}
