//! The promises of `compare` on planted data: equal machines are not called different, different ones are, whichever
//! side comes first.

use crate::planted::{World, arm_side, run, side, watch};
use model::data::RunData;
use model::doc::{CompareDoc, RowDoc, VerdictWord};
use model::why::{Held, Needed, Reason, Repeat};
use model::{Better, Finding, Unit, Validity};
use proptest::prelude::*;
use stats::Rng;
use verdict::{CompareOptions, compare};

const ROWS: usize = 12;
/// Compared pairs for about 2,000 rows.
const REPEATS: usize = 167;
/// The spread between runs that a 5 % floor assumes.
const ASSUMED: f64 = 0.05 / (1.959_963_985 * std::f64::consts::SQRT_2);

fn false_share(mut pair: impl FnMut(&mut Rng) -> CompareDoc) -> f64 {
    let mut rng = Rng::new(20_261_121);
    let (mut wrong, mut all) = (0, 0);
    for _ in 0..REPEATS {
        for row in pair(&mut rng).rows {
            all += 1;
            wrong += usize::from(matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse));
        }
    }
    assert_eq!(all, REPEATS * ROWS);
    wrong as f64 / all as f64
}

fn pooled(world: &World, runs: usize, factor: f64, rng: &mut Rng) -> CompareDoc {
    let make = |machine: &str, factor: f64, rng: &mut Rng| -> Vec<RunData> {
        (0..runs).map(|i| run(&format!("{machine}{i}"), machine, world, factor, rng)).collect()
    };
    let (base, arm) = (make("a", 1.0, rng), make("b", factor, rng));
    let options = CompareOptions { cards: instruments::cards(), ..CompareOptions::default() };
    compare(&[side("a", base.iter().collect()), side("b", arm.iter().collect())], &options)
}

#[test]
fn equal_arms_of_one_study_are_not_called_different() {
    let world = World { shared: 0.03, ..World::plain(ROWS).arms(&[1.0, 1.0]) };
    let share = false_share(|rng| {
        let study = run("r", "m", &world, 1.0, rng);
        compare(&[arm_side(&study, "arm0"), arm_side(&study, "arm1")], &CompareOptions::default())
    });
    assert!(share <= 0.06, "{share}");
}

#[test]
fn equal_machines_are_not_called_different() {
    let world = World { between: ASSUMED, ..World::plain(ROWS) };
    for runs in 1..=3 {
        let share = false_share(|rng| pooled(&world, runs, 1.0, rng));
        assert!(share <= 0.06, "{runs} runs each: {share}");
    }
}

#[test]
fn equal_machines_of_one_study_are_not_called_different() {
    let world = World::plain(ROWS);
    let share = false_share(|rng| {
        let (mut a, mut b) = (run("a", "a", &world, 1.0, rng), run("b", "b", &world, 1.0, rng));
        for one in [&mut a, &mut b] {
            one.head.study = "together".to_owned();
        }
        compare(&[side("a", vec![&a]), side("b", vec![&b])], &CompareOptions::default())
    });
    assert!(share <= 0.06, "{share}");
}

#[test]
fn a_planted_tenth_is_found() {
    let mut rng = Rng::new(5);
    let world = World::plain(ROWS).arms(&[1.0, 1.1]);
    let study = run("r", "m", &world, 1.0, &mut rng);
    let options = CompareOptions { cards: instruments::cards(), ..CompareOptions::default() };
    let doc = compare(&[arm_side(&study, "arm0"), arm_side(&study, "arm1")], &options);
    assert!(
        doc.rows.iter().all(|row| row.verdict == VerdictWord::Better && row.margin == 0.02),
        "{:#?}",
        doc.rows
    );
    assert!(
        doc.answer.starts_with("arm1 has 1.10 times the performance of arm0 over 12 figures"),
        "{}",
        doc.paragraph
    );

    let doc = pooled(&World { between: 0.003, ..World::plain(ROWS) }, 3, 1.1, &mut rng);
    assert!(
        doc.rows.iter().all(|row| row.verdict == VerdictWord::Better && row.margin == 0.05),
        "{:#?}",
        doc.rows
    );
    let index = &doc.index[0];
    assert!(
        index.low.is_some_and(|low| low > 1.05) && index.high.is_some_and(|high| high < 1.15),
        "{index:?}"
    );
    assert!(doc.ranks.iter().all(|rank| rank.rank == if rank.arm == "b" { 1 } else { 2 }));
}

#[test]
fn ties_join_neighbours_and_do_not_carry_over() {
    let mut rng = Rng::new(11);
    let world = World { between: 0.004, within: 0.002, ..World::plain(1) };
    let mut make = |name: &str, factor: f64| -> Vec<RunData> {
        (0..10).map(|i| run(&format!("{name}{i}"), name, &world, factor, &mut rng)).collect()
    };
    // Each is 4 % from the next, within the margin of 5 %; the first and the third are 8 % apart.
    let (slow, middle, fast, far) =
        (make("slow", 1.0), make("middle", 1.04), make("fast", 1.08), make("far", 2.0));
    let mut refused = make("refused", 3.0);
    for run in &mut refused {
        watch(run, "conditions", "throttled", Unit::Count, |_| 3.0);
    }
    let all = [("slow", &slow), ("far", &far), ("middle", &middle), ("refused", &refused), ("fast", &fast)];
    let sides: Vec<_> = all.iter().map(|(name, runs)| side(name, runs.iter().collect())).collect();
    let doc = compare(&sides, &CompareOptions::default());
    let ranks: Vec<_> =
        doc.ranks.iter().map(|rank| (rank.arm.as_str(), rank.rank, rank.worst_rank)).collect();
    assert_eq!(ranks, [("far", 1, 1), ("fast", 2, 3), ("middle", 2, 4), ("slow", 3, 4)]);
    let ties: Vec<&[String]> = doc.ties.iter().map(|tie| tie.arms.as_slice()).collect();
    assert_eq!(ties, [["fast", "middle"], ["middle", "slow"]]);
}

#[test]
fn a_run_on_two_sides_counts_once() {
    let mut rng = Rng::new(12);
    let world = World { between: 0.003, ..World::plain(1) };
    let runs: Vec<RunData> = (0..6).map(|i| run(&format!("r{i}"), "m", &world, 1.0, &mut rng)).collect();
    let judge = |pool: &[RunData], one: &[RunData]| {
        let sides = [side("pool", pool.iter().collect()), side("one", one.iter().collect())];
        compare(&sides, &CompareOptions::default())
    };
    let (shared, apart) = (judge(&runs, &runs[5..]), judge(&runs[..5], &runs[5..]));
    assert_eq!(shared.rows, apart.rows);
    assert_eq!(shared.arms, apart.arms);
    assert_eq!(shared.footnotes, ["pool: without run r5, counted as one only"]);
    assert!(apart.footnotes.is_empty());
    // Arms of one run share it by right.
    let study = run("s", "m", &World::plain(1).arms(&[1.0, 1.1]), 1.0, &mut rng);
    let doc = compare(&[arm_side(&study, "arm0"), arm_side(&study, "arm1")], &CompareOptions::default());
    assert!(
        doc.arms.iter().all(|arm| arm.runs == ["s"])
            && !doc.footnotes.iter().any(|note| note.contains("without"))
    );
}

#[test]
fn a_coarse_clock_raises_the_margin() {
    let mut rng = Rng::new(13);
    let world = World { between: 0.002, ..World::plain(1) };
    let mut make = |name: &str, factor: f64, step: Option<f64>| -> Vec<RunData> {
        let mut all: Vec<RunData> =
            (0..10).map(|i| run(&format!("{name}{i}"), name, &world, factor, &mut rng)).collect();
        for (run, step) in all.iter_mut().filter_map(|run| Some((run, step?))) {
            watch(run, "timer", "step", Unit::Second, |_| step);
            let last = run.series.len() - 1;
            run.series[last].points.iter_mut().for_each(|point| point.window_ns = 80_000_000);
        }
        all
    };
    let base = make("a", 1.0, None);
    let mut judge = |factor: f64, step: Option<f64>| {
        let arm = make("b", factor, step);
        let sides = [side("a", base.iter().collect()), side("b", arm.iter().collect())];
        let row = compare(&sides, &CompareOptions::default()).rows.remove(0);
        let raised = row.why.reasons.iter().find(|reason| matches!(reason, Reason::Raised(_)));
        let about = raised.map(ToString::to_string);
        (row.verdict, (row.margin * 1e6).round() / 1e6, about)
    };
    // Takes last 50 ms: steps of 20 ms are 40 % of one.
    let why = "the margin is 40 %: the clock of b steps by 20.0 ms in takes of 50.0 ms";
    assert_eq!(judge(1.2, None), (VerdictWord::Better, 0.05, None));
    assert_eq!(judge(1.2, Some(1e-9)), (VerdictWord::Better, 0.05, None));
    assert_eq!(judge(1.2, Some(0.02)), (VerdictWord::Tie, 0.4, Some(why.to_owned())));
    assert_eq!(judge(1.2, Some(0.09)).1, 0.05, "no step is as long as the take that found it");
}

/// Adds a timer with this step, in takes of 80 ms.
fn time(run: &mut RunData, step: f64) {
    watch(run, "timer", "step", Unit::Second, |_| step);
    let timer = run.series.last_mut().expect("the timer");
    timer.better = Better::Lower;
    timer.points.iter_mut().for_each(|point| point.window_ns = 80_000_000);
}

fn refuse(run: &mut RunData) {
    for take in &mut run.takes {
        take.refusals.push(Finding::foreign("page-cache", Validity::Invalid, "not the disk"));
    }
}

#[test]
fn the_margin_comes_from_the_runs_that_speak() {
    let mut rng = Rng::new(14);
    let world = World { between: 0.002, ..World::plain(1) };
    let mut make = |name: &str, count: i64| -> Vec<RunData> {
        let at = |i: i64| {
            let mut one = run(&format!("{name}{i}"), name, &world, 1.0, &mut rng);
            one.head.started_ns += i * 1_000_000_000;
            one
        };
        (0..count).map(at).collect()
    };
    let base = make("a", 10);
    let many = make("b", 21);
    let margin = |arm: &[RunData]| {
        let sides = [side("a", base.iter().collect()), side("b", arm.iter().collect())];
        (compare(&sides, &CompareOptions::default()).rows[0].margin * 1e6).round() / 1e6
    };
    let with = |edit: &dyn Fn(&mut [RunData])| {
        let mut runs = many.clone();
        edit(&mut runs);
        margin(&runs)
    };
    assert_eq!(with(&|runs| time(&mut runs[20], 0.02)), 0.4);
    assert_eq!(with(&|runs| time(&mut runs[0], 0.02)), 0.05, "only the newest twenty count");
    let refused = |runs: &mut [RunData]| {
        time(&mut runs[20], 0.02);
        refuse(&mut runs[20]);
    };
    assert_eq!(with(&refused), 0.05, "a refused timer says nothing");
    // Steps of 1 ms are 2 % of the takes that speak, and half of those that were refused.
    let short = |runs: &mut [RunData]| {
        time(&mut runs[19], 0.001);
        runs[20].series[0].points.iter_mut().for_each(|point| point.window_ns = 2_000_000);
    };
    assert_eq!(with(&short), 0.5);
    let short_and_refused = |runs: &mut [RunData]| {
        short(runs);
        refuse(&mut runs[20]);
    };
    assert_eq!(with(&short_and_refused), 0.05, "a refused figure does not speak");
}

#[test]
fn one_run_each_says_what_it_lacks() {
    let doc = pooled(&World::plain(3), 1, 1.09, &mut Rng::new(6));
    for row in &doc.rows {
        assert_eq!(row.verdict, VerdictWord::CannotTell);
        let needed = |reason: &Reason| matches!(reason, Reason::Needed(Needed { of: Repeat::Runs, .. }));
        assert!(row.why.held() == Some(Held::AssumedNoise), "{}", row.why);
        assert!(row.why.reasons.iter().any(needed), "{}", row.why);
    }
    assert!(doc.paragraph.to_string().contains("cannot be told yet"), "{}", doc.paragraph);
}

#[test]
fn earlier_runs_replace_the_assumption() {
    let mut rng = Rng::new(7);
    let world = World { between: 0.002, ..World::plain(4) };
    let earlier: Vec<RunData> = (0..12).map(|i| run(&format!("e{i}"), "a", &world, 1.0, &mut rng)).collect();
    let (a, b) = (run("a", "a", &world, 1.0, &mut rng), run("b", "b", &world, 1.1, &mut rng));
    let judge = |known: Vec<&RunData>| {
        let mut base = side("a", vec![&a]);
        base.earlier = known;
        compare(&[base, side("b", vec![&b])], &CompareOptions::default())
    };
    let alone = judge(Vec::new());
    let known = judge(earlier.iter().collect());
    for (row, sharper) in alone.rows.iter().zip(&known.rows) {
        assert_eq!(row.verdict, VerdictWord::CannotTell);
        assert_eq!(
            (sharper.verdict, sharper.noise),
            (VerdictWord::Better, Some(model::doc::Noise::Measured))
        );
        assert!(sharper.floor < row.floor);
    }
}

fn swapped(word: VerdictWord) -> VerdictWord {
    match word {
        VerdictWord::Better => VerdictWord::Worse,
        VerdictWord::Worse => VerdictWord::Better,
        other => other,
    }
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-9,
        (a, b) => a == b,
    }
}

/// The row seen from the other side.
fn mirrored(row: &RowDoc, other: &RowDoc) -> bool {
    let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
    swapped(row.verdict) == other.verdict
        && near(row.ratio, inverse(other.ratio))
        && near(row.low, inverse(other.high))
        && near(row.high, inverse(other.low))
        && near(row.p_holm, other.p_holm)
        && near(row.floor, other.floor)
        && row.arm_value == other.base_value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn swapping_the_sides_mirrors_everything(
        seed in any::<u64>(),
        factor in 0.5..2.0_f64,
        runs in 1..4_usize,
        lower in any::<bool>(),
    ) {
        let mut rng = Rng::new(seed);
        let world = World { between: 0.01, ..World::plain(3) };
        let make = |machine: &str, factor: f64, rng: &mut Rng| -> Vec<RunData> {
            let mut all: Vec<RunData> =
                (0..runs).map(|i| run(&format!("{machine}{i}"), machine, &world, factor, rng)).collect();
            for series in all.iter_mut().flat_map(|run| &mut run.series) {
                series.better = if lower { Better::Lower } else { Better::Higher };
            }
            all
        };
        let (a, b) = (make("a", 1.0, &mut rng), make("b", factor, &mut rng));
        let sides = || (side("a", a.iter().collect()), side("b", b.iter().collect()));
        let ((a1, b1), (a2, b2)) = (sides(), sides());
        let there = compare(&[a1, b1], &CompareOptions::default());
        let back = compare(&[b2, a2], &CompareOptions::default());
        prop_assert_eq!(there.rows.len(), 3);
        for (row, other) in there.rows.iter().zip(&back.rows) {
            prop_assert!(mirrored(row, other), "{:?}\n{:?}", row, other);
            if row.verdict == VerdictWord::Better {
                prop_assert_eq!(row.ratio.is_some_and(|ratio| ratio > 1.0), !lower);
            }
        }
    }

    #[test]
    fn arms_of_a_study_mirror_too(seed in any::<u64>(), factor in 0.9..1.1_f64) {
        let world = World::plain(3).arms(&[1.0, factor]);
        let study = run("r", "m", &world, 1.0, &mut Rng::new(seed));
        let there = compare(&[arm_side(&study, "arm0"), arm_side(&study, "arm1")], &CompareOptions::default());
        let back = compare(&[arm_side(&study, "arm1"), arm_side(&study, "arm0")], &CompareOptions::default());
        for (row, other) in there.rows.iter().zip(&back.rows) {
            prop_assert!(mirrored(row, other), "{:?}\n{:?}", row, other);
        }
    }
}

#[test]
fn a_ratio_of_runs_is_the_quotient_of_the_figures_beside_it() {
    // Sittings on two levels: the median of all takes is not where the sittings lie together.
    let unequal = |name: &str, levels: [f64; 3], rng: &mut Rng| {
        let mut run = run(name, name, &World::plain(1), 1.0, rng);
        for series in &mut run.series {
            for (at, point) in series.points.iter_mut().enumerate() {
                let (sitting, takes) = if at < 2 { (0, 100.0) } else { (1 + u32::from(at > 3), 100.0) };
                point.sitting = sitting;
                point.value =
                    model::Value::Number(takes * levels[sitting as usize] * (1.0 + 1e-4 * at as f64));
            }
        }
        run
    };
    let mut rng = Rng::new(3);
    let (a, b) = (unequal("a", [1.0, 2.0, 4.0], &mut rng), unequal("b", [3.0, 3.0, 1.0], &mut rng));
    let doc = compare(&[side("a", vec![&a]), side("b", vec![&b])], &CompareOptions::default());
    assert!(!doc.rows.is_empty());
    for row in &doc.rows {
        let quotient = row.arm_value.unwrap() / row.base_value.unwrap();
        assert!((quotient / row.ratio.unwrap() - 1.0).abs() < 1e-6, "{row:?}");
    }
    let note = "figures: levels over sittings, whose quotient is ratio; `show` has medians";
    assert!(doc.footnotes.iter().any(|known| known == note), "{:?}", doc.footnotes);
}
