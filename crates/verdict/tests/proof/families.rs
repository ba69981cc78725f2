//! Families: everything that a comparison could show is corrected together, so that showing less of it, or comparing
//! more machines, makes no win.

use model::data::RunData;
use model::doc::{CompareDoc, Replicate, VerdictWord};
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

#[test]
fn more_than_sixteen_machines_are_each_compared_with_the_first_and_have_no_ranks() {
    let mut rng = Rng::new(44);
    let world = World { between: ASSUMED, ..World::plain(ROWS) };
    let mut of = |count: usize| {
        let runs: Vec<RunData> =
            (0..count).map(|at| run(&format!("r{at}"), &format!("m{at}"), &world, 1.0, &mut rng)).collect();
        let sides: Vec<_> = runs.iter().map(|run| side(&run.head.machine, vec![run])).collect();
        compare(&sides, &options(None))
    };
    let all = of(16);
    assert_eq!((all.rows.len(), all.ranks.len()), (15 * ROWS, 16 * ROWS));
    assert!(all.footnotes.iter().all(|note| !note.starts_with("ranks:")), "{:?}", all.footnotes);
    let with_first = of(17);
    assert_eq!((with_first.rows.len(), with_first.ranks.len()), (16 * ROWS, 0));
    assert!(with_first.rows.iter().all(|row| row.base == "m0"));
    let note = "ranks: none of more than 16 sides; each of these 17 is compared with m0 alone";
    assert!(with_first.footnotes.iter().any(|one| one == note), "{:?}", with_first.footnotes);
}

#[test]
fn asking_for_one_row_of_several_machines_makes_no_win_of_it() {
    let mut rng = Rng::new(43);
    let world = World { between: ASSUMED, ..World::plain(ROWS) };
    let (mut wrong, repeats) = (0, 20);
    for _ in 0..repeats {
        let runs: Vec<RunData> = (0..4)
            .map(|at| named_apart(run(&format!("r{at}"), &format!("m{at}"), &world, 1.0, &mut rng)))
            .collect();
        let sides: Vec<_> = runs.iter().map(|run| side(&run.head.machine, vec![run])).collect();
        let all = compare(&sides, &options(None));
        for at in 0..ROWS {
            let name = format!("row-{at}");
            let one = compare(&sides, &options(Some(&name)));
            let same: Vec<_> = all.rows.iter().filter(|row| row.instrument == name).collect();
            assert_eq!((one.rows.iter().collect::<Vec<_>>(), one.rows.len()), (same, 3));
            let ranks: Vec<_> = all.ranks.iter().filter(|rank| rank.instrument == name).collect();
            assert_eq!(one.ranks.iter().filter(|rank| rank.instrument == name).collect::<Vec<_>>(), ranks);
            wrong += usize::from(is_decided(&one));
        }
    }
    assert!(wrong * 20 <= repeats * ROWS, "{wrong} of {}", repeats * ROWS);
}

/// A side of so many boxes of one type, each with four runs that hardly differ.
fn boxes(name: &str, factor: f64, count: usize, rng: &mut Rng) -> Vec<RunData> {
    let world = World { between: 0.002, ..World::plain(ROWS) };
    let mut runs = Vec::new();
    for at in 0..count {
        let machine = format!("{name}{at}");
        // What a box is by itself: a spread of 5 % that its runs share.
        let own: Vec<f64> = (0..ROWS).map(|_| factor * (0.05 * rng.normal()).exp()).collect();
        for nth in 0..4 {
            let mut run = run(&format!("{machine}-{nth}"), &machine, &world, 1.0, rng);
            for series in &mut run.series {
                let size: usize = series.key.params.get("size").and_then(|s| s.parse().ok()).expect("a size");
                for point in &mut series.points {
                    let value = point.number().expect("a number");
                    point.value = model::Value::Number(value * own[size - 1]);
                }
            }
            runs.push(run);
        }
    }
    runs
}

#[test]
fn several_boxes_of_a_label_are_judged_by_box() {
    let mut rng = Rng::new(44);
    let (mut wrong, mut misses, mut found, repeats) = (0, 0, 0, 60);
    for _ in 0..repeats {
        for factor in [1.0, 1.3] {
            let (a, b) = (boxes("a", 1.0, 4, &mut rng), boxes("b", factor, 4, &mut rng));
            let sides = [side("a", a.iter().collect()), side("b", b.iter().collect())];
            let doc = compare(&sides, &CompareOptions::default());
            assert_eq!(doc.unit_of_replication, Some(Replicate::Box));
            assert_eq!((doc.arms[0].boxes, doc.arms[1].boxes), (Some(4), Some(4)));
            assert!(doc.paragraph.to_string().contains("the unit is the box (4 and 4)"), "{}", doc.paragraph);
            let holds = |row: &&model::doc::RowDoc| {
                row.low.zip(row.high).is_some_and(|(l, h)| l < factor && factor < h)
            };
            misses += ROWS - doc.rows.iter().filter(holds).count();
            match factor {
                1.0 => wrong += usize::from(is_decided(&doc)),
                _ => found += doc.rows.iter().filter(|row| row.verdict == VerdictWord::Better).count(),
            }
        }
    }
    let rows = 2 * repeats * ROWS;
    assert!(misses * 100 <= rows * 7, "{misses} of {rows} intervals");
    assert!(wrong * 20 <= repeats, "{wrong} of {repeats}");
    assert!(found * 10 >= repeats * ROWS * 9, "{found} of {}", repeats * ROWS);
}
