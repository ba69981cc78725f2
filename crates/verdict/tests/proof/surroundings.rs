//! What went on besides weighs as much as it can have done: under a difference of two times, little things decide
//! nothing.

use model::data::RunData;
use model::doc::{RowDoc, VerdictWord};
use model::why::{Disturbance, Reason, Withheld};
use model::{Fact, Unit, Validity};
use stats::Rng;
use verdict::{CompareOptions, RunContext, compare};

use crate::planted::{World, arm_side, fact, run, side, watch};

/// Ten runs each, the second machine `factor` times as fast; its runs are changed by `with`.
fn judge(factor: f64, with: &dyn Fn(&mut RunData)) -> RowDoc {
    let world = World { between: 0.002, ..World::plain(1) };
    let mut rng = Rng::new(8);
    let mut make = |name: &str, factor: f64| -> Vec<RunData> {
        (0..10).map(|i| run(&format!("{name}{i}"), name, &world, factor, &mut rng)).collect()
    };
    let (base, mut arm) = (make("a", 1.0), make("b", factor));
    arm.iter_mut().for_each(with);
    let sides = [side("a", base.iter().collect()), side("b", arm.iter().collect())];
    compare(&sides, &CompareOptions::default()).rows.remove(0)
}

/// Every figure on all of 96 CPUs.
fn on_all(run: &mut RunData) {
    fact(run, Fact::number("cpu.threads", 96.0, Unit::Count, "test"));
    let set = |params: &mut model::Params| *params = params.with(&crate::planted::params("threads=all"));
    run.plan.cells.iter_mut().for_each(|cell| set(&mut cell.params));
    run.series.iter_mut().for_each(|series| set(&mut series.key.params));
}

fn busy(run: &mut RunData, cpus: f64) {
    watch(run, "conditions", "background", Unit::Count, |_| cpus);
}

fn steal(run: &mut RunData, share: impl Fn(u64) -> f64) {
    watch(run, "conditions", "steal", Unit::Ratio, share);
}

#[test]
fn little_things_under_a_difference_of_two_times_decide_nothing() {
    let worlds: [&dyn Fn(&mut RunData); 4] = [
        &|run| busy(run, 0.06),
        // One tick of 10 ms in one take of 50 ms.
        &|run| steal(run, |seq| if seq == 5 { 0.2 } else { 0.0 }),
        &|run| {
            watch(run, "conditions", "clock-step", Unit::Second, |seq| if seq == 5 { 0.011 } else { 0.0 });
        },
        &|_| {},
    ];
    for with in worlds {
        let row = judge(2.0, with);
        assert_eq!((row.verdict, row.why.widened()), (VerdictWord::Better, None), "{row:?}");
    }
    let world = World { between: 0.002, ..World::plain(1) };
    let mut rng = Rng::new(9);
    let (mut a, mut b) = (run("a", "a", &world, 1.0, &mut rng), run("b", "b", &world, 2.0, &mut rng));
    for one in [&mut a, &mut b] {
        on_all(one);
        busy(one, 0.06);
    }
    let row = compare(&[side("a", vec![&a]), side("b", vec![&b])], &CompareOptions::default()).rows.remove(0);
    assert_eq!((row.verdict, row.why.is_doubtful()), (VerdictWord::Better, false), "{row:?}");
}

#[test]
fn the_interval_is_widened_by_what_went_on_and_withheld_where_that_decides() {
    let some = |run: &mut RunData| busy(run, 0.3);
    // 0.3 of one CPU can have made 1 / 0.7.
    let row = judge(2.0, &some);
    assert_eq!(row.verdict, VerdictWord::Better, "{row:?}");
    assert!(row.why.widened().is_some_and(|widened| (widened - 3.0 / 7.0).abs() < 1e-9), "{row:?}");
    let row = judge(1.3, &some);
    assert_eq!(row.verdict, VerdictWord::CannotTell, "{row:?}");
    let Some(Withheld::Disturbed { by_what }) = row.why.withheld() else { panic!("{row:?}") };
    assert_eq!(by_what[0].what, Disturbance::OtherProcesses);
    assert!(row.why.to_string().contains("can have made up to 43 %"), "{}", row.why);
    // Without them it is clear.
    assert_eq!(judge(1.3, &|_| {}).verdict, VerdictWord::Better);
    // A steal that most takes saw weighs with one tick more than was counted: 12 takes of 50 ms.
    let row = judge(1.3, &|run| steal(run, |seq| if seq % 2 == 0 { 0.2 } else { 0.0 }));
    let share = 0.1 + 0.01 / (12.0 * 0.05);
    let widened = row.why.widened().expect("a widened interval");
    assert!((widened - (1.0 / (1.0 - share) - 1.0)).abs() < 0.02, "{widened}: {row:?}");
    assert_eq!(row.verdict, VerdictWord::Better, "{row:?}");
}

#[test]
fn arms_that_share_a_disturbance_differ_by_themselves_and_others_by_what_only_one_met() {
    let verdict = |factor: f64, of: &dyn Fn(u64) -> bool| {
        let world = World { shared: 0.01, ..World::plain(1) }.arms(&[1.0, factor]);
        let mut study = run("r", "m", &world, 1.0, &mut Rng::new(5));
        watch(&mut study, "conditions", "background", Unit::Count, |seq| if of(seq) { 0.3 } else { 0.0 });
        let sides = [arm_side(&study, "arm0"), arm_side(&study, "arm1")];
        compare(&sides, &CompareOptions::default()).rows.remove(0)
    };
    let row = verdict(1.1, &|_| true);
    assert_eq!((row.verdict, row.why.widened()), (VerdictWord::Better, None), "{row:?}");
    // Takes of the arms alternate.
    let one = |seq: u64| seq % 2 == 1;
    assert!(verdict(1.1, &one).why.withheld().is_some());
    let row = verdict(2.0, &one);
    assert_eq!(row.verdict, VerdictWord::Better, "{row:?}");
    assert!(row.why.reasons.iter().any(|reason| matches!(reason, Reason::Widened { .. })), "{row:?}");
}

/// Who measures is held against what others only assume.
#[test]
fn a_measured_floor_is_no_fault_where_a_wider_one_is_assumed() {
    let state = |kind: &str| {
        // About 12 % between two runs of one machine.
        let world = World { between: 0.042, ..World::plain(1) };
        let mut rng = Rng::new(12);
        let mut make = |i: usize| {
            let mut run = run(&format!("r{i}"), "a", &world, 1.0, &mut rng);
            fact(&mut run, Fact::text("virt.kind", kind, "test"));
            run
        };
        let (now, earlier): (RunData, Vec<RunData>) = (make(20), (0..20).map(&mut make).collect());
        let context = RunContext {
            cards: instruments::cards(),
            earlier: earlier.iter().collect(),
            ..RunContext::default()
        };
        let found = verdict::rulings(&now, &context);
        let rule = &found.iter().find(|one| one.finding.kind() == "noisy-neighbour").unwrap().finding;
        (rule.state, rule.text())
    };
    // 14 % is assumed of a virtual machine, 5 % of a bare one.
    let (virtual_machine, bare) = (state("kvm"), state("none"));
    assert_eq!(virtual_machine.0, Validity::Ok, "{virtual_machine:?}");
    assert_eq!(bare.0, Validity::Doubtful, "{bare:?}");
}

#[test]
fn hardware_counters_stand_beside_each_take() {
    let mut one = run("r", "m", &World::plain(2), 1.0, &mut Rng::new(3));
    let doc = |run: &RunData| {
        let context = RunContext { cards: instruments::cards(), with_takes: true, ..RunContext::default() };
        verdict::run_doc(run, &context)
    };
    assert!(doc(&one).series.iter().all(|series| series.counters.is_empty()));
    watch(&mut one, "counters", "cycles", Unit::Count, |seq| 1e9 + seq as f64);
    let doc = doc(&one);
    for series in &doc.series {
        let cycles = &series.counters["cycles"];
        assert_eq!((series.counters.len(), cycles.len()), (1, series.takes.len()), "{series:?}");
        assert!(cycles.iter().all(|count| count.is_some_and(|count| count >= 1e9)), "{series:?}");
    }
    assert!(doc.series.iter().all(|series| series.instrument != "counters"), "they are no figures");
}
