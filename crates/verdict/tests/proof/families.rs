//! Families: everything that a comparison could show is corrected together, so that showing less of it, or comparing
//! more machines, makes no win.

use model::data::RunData;
use model::doc::{CompareDoc, VerdictWord};
use stats::Rng;
use verdict::{CompareOptions, compare};

use crate::planted::{World, run, side};

/// The spread between runs that a 5 % floor assumes.
const ASSUMED: f64 = 0.05 / (1.959_963_985 * std::f64::consts::SQRT_2);
const ROWS: usize = 9;

/// At a margin of 1 %, where the interval alone does not keep a row of equal machines undecided.
fn options(metric: Option<&str>) -> CompareOptions {
    CompareOptions { margin: Some(0.01), metric: metric.map(str::to_owned), ..CompareOptions::default() }
}

fn is_decided(doc: &CompareDoc) -> bool {
    doc.rows.iter().any(|row| matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse))
        || doc.ranks.iter().any(|rank| rank.worst_rank != doc.arms.len() as u32 || rank.rank != 1)
}

/// Each row an instrument of its own, so that one can be asked for.
fn named_apart(mut run: RunData) -> RunData {
    for (at, cell) in run.plan.cells.iter_mut().enumerate() {
        cell.instrument = format!("row-{at}");
    }
    for series in &mut run.series {
        let size: usize = series.key.params.get("size").and_then(|size| size.parse().ok()).expect("a size");
        series.key.instrument = format!("row-{}", size - 1);
    }
    run
}

#[test]
fn asking_for_one_row_makes_no_win_of_it() {
    let mut rng = Rng::new(41);
    let world = World { between: ASSUMED, ..World::plain(ROWS) };
    let (mut wrong, repeats) = (0, 60);
    for _ in 0..repeats {
        let (a, b) = (run("a", "a", &world, 1.0, &mut rng), run("b", "b", &world, 1.0, &mut rng));
        let (a, b) = (named_apart(a), named_apart(b));
        let sides = [side("a", vec![&a]), side("b", vec![&b])];
        let all = compare(&sides, &options(None));
        let each: Vec<CompareDoc> =
            (0..ROWS).map(|at| compare(&sides, &options(Some(&format!("row-{at}"))))).collect();
        for doc in &each {
            assert_eq!(doc.rows.len(), 1);
            let row = all.rows.iter().find(|row| row.instrument == doc.rows[0].instrument);
            assert_eq!(row, Some(&doc.rows[0]), "a row says the same by itself");
        }
        wrong += usize::from(each.iter().any(is_decided));
    }
    assert!(wrong * 20 <= repeats, "{wrong} of {repeats}");
}

#[test]
fn ten_equal_machines_are_one_family() {
    let mut rng = Rng::new(42);
    let world = World { between: ASSUMED, ..World::plain(ROWS) };
    let (mut wrong, repeats) = (0, 40);
    for _ in 0..repeats {
        let runs: Vec<RunData> =
            (0..10).map(|at| run(&format!("r{at}"), &format!("m{at}"), &world, 1.0, &mut rng)).collect();
        let sides: Vec<_> = runs.iter().map(|run| side(&run.head.machine, vec![run])).collect();
        wrong += usize::from(is_decided(&compare(&sides, &options(None))));
    }
    assert!(wrong * 20 <= repeats, "{wrong} of {repeats}");
}
