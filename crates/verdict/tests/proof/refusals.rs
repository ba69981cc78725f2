//! What may not be believed is refused with its reason: throttled, wrong clock, above the ceiling, published points.

use crate::planted::{World, fact, run, side, watch};
use model::data::{Published, RunData};
use model::doc::VerdictWord;
use model::frame::OwnCost;
use model::{Fact, Finding, Unit, Validity};
use stats::Rng;
use verdict::{CompareOptions, RunContext, Side, compare, findings, run_doc};

fn quiet(rows: usize) -> RunData {
    run("r", "m", &World::plain(rows), 1.0, &mut Rng::new(3))
}

fn of_kind(run: &RunData, kind: &str) -> Vec<Finding> {
    findings(run).into_iter().filter(|finding| finding.kind() == kind).collect()
}

#[test]
fn without_conditions_the_rules_say_unknown() {
    let run = quiet(2);
    for kind in
        ["throttled", "clock", "heat", "steal", "background", "swap", "major-faults", "clock-step", "timer"]
    {
        let found = of_kind(&run, kind);
        assert!(
            !found.is_empty() && found.iter().all(|one| one.state == Validity::Unknown),
            "{kind}: {found:?}"
        );
    }
    let doc = run_doc(&run, &RunContext::default());
    assert!(doc.series.iter().all(|series| series.validity == Validity::Ok && series.headline));
}

#[test]
fn a_throttled_machine_is_invalid_and_the_quota_is_named() {
    let mut slow = quiet(2);
    watch(&mut slow, "conditions", "throttled", Unit::Count, |seq| if seq % 2 == 0 { 3.0 } else { 0.0 });
    fact(&mut slow, Fact::number("cgroup.cpu.quota", 0.9, Unit::Count, "cpu.max"));
    let doc = run_doc(&slow, &RunContext::default());
    let refused: Vec<_> = doc.series.iter().filter(|series| series.validity == Validity::Invalid).collect();
    assert_eq!(refused.len(), 1, "only the series whose takes were stopped");
    assert!(refused[0].reasons[0].contains("CPU quota of 0.900 CPUs"), "{:?}", refused[0].reasons);

    let base = run("b", "other", &World::plain(2), 2.0, &mut Rng::new(4));
    let options = CompareOptions { cards: instruments::cards(), ..CompareOptions::default() };
    let compared = compare(&[side("base", vec![&base]), side("slow", vec![&slow])], &options);
    let row = compared.rows.iter().find(|row| row.verdict == VerdictWord::Invalid).expect("a refused row");
    assert!(row.why.to_string().contains("quota") && row.ratio.is_none(), "{row:?}");
    assert!(compared.paragraph.to_string().contains("Not counted"), "{}", compared.paragraph);
    assert!(compared.index[0].value.is_none() && compared.index[0].why.is_some());
}

#[test]
fn a_clock_that_moves_by_three_percent_is_doubtful() {
    let clocked = |low: f64| {
        let mut run = quiet(2);
        for metric in ["before", "after"] {
            // The second row's later takes run slower.
            watch(&mut run, "take-clock", metric, Unit::Hertz, |seq| {
                if seq % 2 == 1 && seq > 12 { 3e9 * low } else { 3e9 }
            });
        }
        let doc = run_doc(&run, &RunContext::default());
        doc.series.iter().map(|series| series.validity).collect::<Vec<_>>()
    };
    assert_eq!(clocked(0.968), [Validity::Ok, Validity::Doubtful]);
    assert_eq!(clocked(0.975), [Validity::Ok, Validity::Ok]);
}

#[test]
fn a_falling_clock_is_told_with_its_figures() {
    let mut run = quiet(4);
    watch(&mut run, "take-clock", "after", Unit::Hertz, |seq| if seq < 10 { 5.07e9 } else { 4.21e9 });
    let heat = of_kind(&run, "heat");
    assert!(
        heat[0].state == Validity::Doubtful && heat[0].text().contains("clock fell 5.07 -> 4.21 GHz"),
        "{heat:?}"
    );
    let mut steady = quiet(4);
    watch(&mut steady, "take-clock", "after", Unit::Hertz, |seq| 3e9 + (seq * 7919 % 13) as f64);
    assert_eq!(of_kind(&steady, "heat")[0].state, Validity::Ok);
}

#[test]
fn conditions_reach_the_figures_that_met_them() {
    for (metric, kind, value) in [
        ("steal", "steal", 0.05),
        ("background", "background", 0.6),
        ("swapped", "swap", 12.0),
        ("major-faults", "major-faults", 20.0),
        ("thermal-throttle", "thermal-throttle", 1.0),
    ] {
        let mut met = quiet(2);
        watch(&mut met, "conditions", metric, Unit::Count, |seq| if seq % 2 == 1 { value } else { 0.0 });
        let found = of_kind(&met, kind);
        let states: Vec<Validity> = found.iter().map(|finding| finding.state).collect();
        assert_eq!(states, [Validity::Doubtful, Validity::Ok], "{metric}: {found:?}");
        let doc = run_doc(&met, &RunContext::default());
        let doubtful = doc.series.iter().filter(|series| series.validity == Validity::Doubtful).count();
        assert_eq!(doubtful, 1, "{metric}");
    }
}

#[test]
fn what_else_went_on_withholds_the_verdict() {
    // Ten runs each, so that noise is measured and the planted difference clear.
    let world = World { between: 0.002, ..World::plain(2) };
    let mut rng = Rng::new(8);
    let mut make = |name: &str, factor: f64| -> Vec<RunData> {
        (0..10).map(|i| run(&format!("{name}{i}"), "m", &world, factor, &mut rng)).collect()
    };
    let (base, mut arm) = (make("a", 1.0), make("b", 0.5));
    let judge = |arm: &[RunData]| {
        let sides = [side("a", base.iter().collect()), side("b", arm.iter().collect())];
        compare(&sides, &CompareOptions::default())
    };
    assert!(judge(&arm).rows.iter().all(|row| row.verdict == VerdictWord::Worse));
    let disturb = |arm: &mut [RunData]| {
        for run in arm {
            watch(run, "conditions", "background", Unit::Count, |seq| if seq % 2 == 1 { 0.6 } else { 0.0 });
        }
    };
    // Fewer than half are part of the spread between runs.
    disturb(&mut arm[..4]);
    assert!(judge(&arm).rows.iter().all(|row| row.verdict == VerdictWord::Worse));
    disturb(&mut arm[4..5]);
    let doc = judge(&arm);
    let (met, quiet): (Vec<_>, Vec<_>) =
        doc.rows.iter().partition(|row| row.verdict == VerdictWord::CannotTell);
    assert_eq!((met.len(), quiet.len()), (1, 1));
    assert_eq!(
        met[0].why.to_string(),
        "doubtful: other processes used CPUs; the interval lies beyond the margin"
    );
    assert!(met[0].ratio.is_some() && met[0].low.is_some() && met[0].high.is_some());
    assert_eq!(quiet[0].verdict, VerdictWord::Worse);
    let text = doc.paragraph.to_string();
    assert!(
        text.contains("b probably ") && text.contains("; not proved: other processes used CPUs."),
        "{text}"
    );
    let step = doc.next_step.unwrap();
    assert_eq!((step.remedy, step.figures, step.open), (model::doc::Remedy::Quiet, 1, 1));
}

#[test]
fn a_clock_that_differs_withholds_what_it_may_have_made() {
    let world = World { between: 0.002, ..World::plain(1) };
    let mut rng = Rng::new(9);
    let mut make = |name: &str, factor: f64, hertz: f64| -> Vec<RunData> {
        let mut runs: Vec<RunData> =
            (0..10).map(|i| run(&format!("{name}{i}"), "m", &world, factor, &mut rng)).collect();
        for run in &mut runs {
            watch(run, "take-clock", "before", Unit::Hertz, |_| hertz);
        }
        runs
    };
    let base = make("a", 1.0, 4.2e9);
    let mut judge = |factor: f64, hertz: f64, machine: &str| {
        let mut arm = make("b", factor, hertz);
        arm.iter_mut().for_each(|run| machine.clone_into(&mut run.head.machine_id));
        let sides = [side("a", base.iter().collect()), side("b", arm.iter().collect())];
        let row = compare(&sides, &CompareOptions::default()).rows.remove(0);
        (row.verdict, row.why.to_string())
    };
    // 14 % slower at a clock 14 % lower; at the same clock; far slower than any clock would make it; another machine.
    let (verdict, why) = judge(0.86, 3.6e9, "m");
    assert_eq!(
        (verdict, why.as_str()),
        (
            VerdictWord::CannotTell,
            "doubtful: the clock was 3.60 GHz against 4.20 GHz; the interval lies beyond the margin"
        )
    );
    assert_eq!(judge(0.86, 4.2e9, "m").0, VerdictWord::Worse);
    assert_eq!(judge(0.5, 3.6e9, "m").0, VerdictWord::Worse);
    assert_eq!(judge(1.0, 3.6e9, "m").0, VerdictWord::CannotTell);
    assert_eq!(judge(0.86, 3.6e9, "other").0, VerdictWord::Worse);
}

/// A run whose only row is memory read at the given rate.
fn memory(bytes_per_sec: f64) -> RunData {
    let mut run = quiet(1);
    run.plan.cells[0].instrument = "mem-bandwidth".to_owned();
    let series = &mut run.series[0];
    series.key.instrument = "mem-bandwidth".to_owned();
    series.key.params = crate::planted::params("op=read;counting=bw_mem;threads=1");
    for point in &mut series.points {
        point.value = model::Value::Number(bytes_per_sec);
    }
    for (key, value, unit) in [("memory.channels", 2.0, Unit::Count), ("memory.mts", 5.6e9, Unit::PerSec)] {
        fact(&mut run, Fact::number(key, value, unit, "dmi"));
    }
    fact(&mut run, Fact::text("memory.type", "DDR5", "dmi"));
    run
}

#[test]
fn memory_is_held_against_its_channels() {
    let run = memory(61.8e9);
    let texts: Vec<String> = findings(&run).into_iter().map(|finding| finding.text()).collect();
    let want = "memory read reaches 69 % of the 89.6 GB/s that 2 x DDR5-5600 can deliver";
    assert!(texts.iter().any(|text| text == want), "{texts:?}");
    assert_eq!(of_kind(&run, "above-ceiling")[0].state, Validity::Ok);

    let doc = run_doc(&memory(120e9), &RunContext::default());
    assert_eq!(doc.series[0].validity, Validity::Invalid);
    assert!(doc.series[0].reasons[0].contains("89.6 GB/s"), "{:?}", doc.series[0].reasons);
}

#[test]
fn a_ceiling_that_a_hypervisor_reports_refuses_nothing() {
    let mut run = memory(120e9);
    for fact in &mut run.facts {
        fact.why = Some("reported by the hypervisor".to_owned());
    }
    assert!(of_kind(&run, "above-ceiling").iter().all(|finding| finding.state == Validity::Unknown));
}

#[test]
fn memory_without_known_channels_is_held_against_its_cores() {
    let judged = |bytes_per_sec: f64| {
        let mut run = memory(bytes_per_sec);
        run.facts.clear();
        watch(&mut run, "take-clock", "before", Unit::Hertz, |_| 3e9);
        run_doc(&run, &RunContext::default()).series[0].clone()
    };
    let absurd = judged(7.91e12);
    assert_eq!(absurd.validity, Validity::Invalid);
    assert!(absurd.reasons[0].contains("1 core loading 128 B a cycle"), "{:?}", absurd.reasons);
    assert_eq!(judged(30e9).validity, Validity::Ok);
}

#[test]
fn a_clock_above_the_runs_own_is_no_heat() {
    let text = |factor: f64, busy: f64| {
        let mut run = quiet(2);
        watch(&mut run, "take-clock", "before", Unit::Hertz, |seq| {
            if seq % 2 == 1 && seq > 12 { 3e9 * factor } else { 3e9 }
        });
        watch(&mut run, "conditions", "background", Unit::Count, |_| busy);
        let found = of_kind(&run, "clock");
        found.into_iter().find(|one| one.state == Validity::Doubtful).expect("a moved clock").text()
    };
    assert!(text(0.9, 0.0).contains("cooler machine"));
    assert!(text(1.1, 0.0).ends_with("(worst 10 % above); repeat with a fixed clock"));
    assert!(text(0.9, 0.9).contains("other processes were busy meanwhile: repeat without them"));
}

#[test]
fn published_points_are_never_significant() {
    let run = quiet(3);
    let points: Vec<Published> =
        run.series.iter().map(|series| crate::planted::published(&series.key, series.better, 1.0)).collect();
    let old = Side { published: points, ..side("old", Vec::new()) };
    for sides in [[side("new", vec![&run]), old.clone()], [old, side("new", vec![&run])]] {
        let doc = compare(&sides, &CompareOptions::default());
        assert_eq!(doc.rows.len(), 3);
        for row in &doc.rows {
            assert_eq!((row.verdict, row.point, row.p), (VerdictWord::CannotTell, true, None));
            assert!(row.ratio.is_some_and(|ratio| !(1e-3..1e3).contains(&ratio)) && !row.why.is_empty());
        }
        assert!(doc.paragraph.to_string().contains("no verdict"), "{}", doc.paragraph);
    }
}

#[test]
fn an_open_point_stands_beside_one_row_only() {
    let run = quiet(3);
    let mut open = crate::planted::published(&run.series[0].key, run.series[0].better, 1.0);
    open.key.params = crate::planted::params("threads=1");
    let old = Side { published: vec![open], ..side("old", Vec::new()) };
    let doc = compare(&[side("new", vec![&run]), old.clone()], &CompareOptions::default());
    assert_eq!(doc.rows.len(), 1);
    assert!(doc.rows[0].why.to_string().contains("leaves open: size"), "{:?}", doc.rows[0]);
    let all =
        compare(&[side("new", vec![&run]), old], &CompareOptions { all: true, ..CompareOptions::default() });
    assert_eq!(all.rows.len(), 3);
}

#[test]
fn refusals_of_instruments_reach_their_series() {
    let mut run = quiet(2);
    for take in run.takes.iter_mut().filter(|take| take.cell == 1) {
        take.refusals.push(Finding::foreign("page-cache", Validity::Invalid, "read from the page cache"));
    }
    let doc = run_doc(&run, &RunContext::default());
    let states: Vec<Validity> = doc.series.iter().map(|series| series.validity).collect();
    assert_eq!(states, [Validity::Ok, Validity::Invalid]);
    assert_eq!(doc.findings[0].kind(), "page-cache");
}

#[test]
fn too_few_takes_are_doubtful_and_have_no_interval() {
    let mut run = quiet(1);
    run.series[0].points.truncate(4);
    let doc = run_doc(&run, &RunContext::default());
    let series = &doc.series[0];
    assert_eq!((series.n, series.low, series.validity), (3, None, Validity::Doubtful));
    assert!(series.why.is_some() && series.median.is_some());
}

#[test]
fn faults_count_for_their_series() {
    let mut run = quiet(2);
    let hit = run.takes.iter_mut().filter(|take| take.cell == 1 && take.block == 3);
    hit.for_each(|take| take.fault = Some(model::Fault::new("no space")));
    let doc = run_doc(&run, &RunContext::default());
    assert_eq!(doc.series.iter().map(|series| series.faults).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(doc.errors.get("no space"), Some(&1));
}

#[test]
fn prices_are_never_mixed() {
    let (mut a, mut b) = (quiet(1), run("b", "n", &World::plain(1), 2.0, &mut Rng::new(9)));
    for run in [&mut a, &mut b] {
        run.series[0].key.params.set("threads", "all");
        run.plan.cells[0].params.set("threads", "all");
    }
    let options = CompareOptions { cards: instruments::cards(), ..CompareOptions::default() };
    let price = |amount, hourly| Some(model::data::Price { amount, hourly, currency: "USD".to_owned() });
    let base = Side { price: price(0.1, true), ..side("a", vec![&a]) };
    let bought = Side { price: price(1000.0, false), ..side("b", vec![&b]) };
    let hourly = Side { price: price(0.4, true), ..side("b", vec![&b]) };
    let mixed = compare(&[base.clone(), bought.clone()], &options);
    assert!(mixed.rows[0].per_price.is_none() && mixed.footnotes.iter().any(|note| note.contains("--life")));
    let life = CompareOptions { life_hours: Some(10_000.0), ..options.clone() };
    let equal = compare(&[base.clone(), bought], &life).rows[0].per_price.expect("a price each");
    assert!((equal - 2.0).abs() < 0.1, "{equal}");
    let dear = compare(&[base, hourly], &options).rows[0].per_price.expect("a price each");
    assert!((dear - 0.5).abs() < 0.03, "{dear}");
}

#[test]
fn definitions_are_never_mixed() {
    let (a, mut b) = (quiet(2), run("b", "n", &World::plain(2), 2.0, &mut Rng::new(9)));
    b.series[0].key.definition = 2;
    let doc = compare(&[side("a", vec![&a]), side("b", vec![&b])], &CompareOptions::default());
    assert_eq!(doc.rows.len(), 1);
    assert!(doc.footnotes.iter().any(|note| note.contains("different definitions")), "{:?}", doc.footnotes);
}

#[test]
fn settings_that_differ_besides_are_named() {
    let (mut a, mut b) = (quiet(1), run("b", "n", &World::plain(1), 1.0, &mut Rng::new(9)));
    fact(&mut a, Fact::text("kernel.release", "6.1", ""));
    fact(&mut b, Fact::text("kernel.release", "6.12", ""));
    fact(&mut b, Fact::text("cpu.governor", "powersave", ""));
    let doc = compare(&[side("a", vec![&a]), side("b", vec![&b])], &CompareOptions::default());
    let said: Vec<String> = doc.settings[0].differ.iter().map(model::doc::SettingDoc::text).collect();
    assert_eq!(said, ["kernel (6.1 against 6.12)"]);
    assert_eq!((doc.settings[0].arm.as_str(), doc.footnotes.len()), ("b", 0));
}

#[test]
fn odd_input_is_survived() {
    let mut broken = quiet(2);
    broken.series[0].points.iter_mut().for_each(|point| point.value = model::Value::Number(f64::NAN));
    broken.series[1].points.clear();
    broken.plan.arms.clear();
    broken.plan.cells.clear();
    let doc = run_doc(&broken, &RunContext::default());
    assert_eq!(doc.series[0].validity, Validity::Invalid);
    let good = quiet(2);
    for sides in [
        vec![],
        vec![side("a", vec![&broken])],
        vec![side("a", vec![&broken]), side("b", vec![&good])],
        vec![side("a", Vec::new()), side("b", Vec::new())],
    ] {
        let doc = compare(&sides, &CompareOptions { all: true, ..CompareOptions::default() });
        assert!(!doc.paragraph.is_empty());
        assert!(
            doc.rows
                .iter()
                .all(|row| row.verdict != VerdictWord::Better && row.verdict != VerdictWord::Worse)
        );
    }
}

#[test]
fn a_clock_step_is_more_than_slewing_and_a_note() {
    for (step, state) in
        [(0.009, Validity::Ok), (-0.009, Validity::Ok), (0.011, Validity::Ok), (-0.011, Validity::Ok)]
    {
        let mut run = quiet(1);
        watch(&mut run, "conditions", "clock-step", Unit::Second, |seq| if seq == 5 { step } else { 0.0 });
        let found = of_kind(&run, "clock-step");
        assert_eq!(found[0].state, state, "{step}: {found:?}");
        assert_eq!(found[0].text().contains("moved by"), step.abs() > 0.01, "{step}: {found:?}");
    }
}

#[test]
fn what_boxscore_used_is_named_and_judged_together() {
    let mut run = quiet(1);
    let own = |run: &RunData| of_kind(run, "own-cost").remove(0);
    assert_eq!(own(&run).state, Validity::Unknown);
    run.own_cost = Some(OwnCost { agent_cpu_seconds: 5.0, telemetry_cpu_seconds: 0.6, seconds: 100.0 });
    let found = own(&run);
    assert_eq!(found.state, Validity::Unknown, "an unknown controller is not none: {found:?}");
    assert!(found.text().contains("agent 5") && found.text().contains("controller unknown"), "{found:?}");
    // Two sittings, of which each is little.
    let note = model::Note::of_run(model::NoteBody::ControllerTakesCpu(0.3));
    run.notes.push(note.clone());
    assert_eq!(own(&run).state, Validity::Ok, "the agent works around the takes");
    run.notes.push(note);
    let found = own(&run);
    assert_eq!(found.state, Validity::Doubtful, "{found:?}");
    assert!(found.text().contains("1.2 % of one core"), "{found:?}");
    std::sync::Arc::make_mut(&mut run.plan.machines)[0].command = Some("ssh far ./boxscore".to_owned());
    assert_eq!(own(&run).state, Validity::Ok, "a controller elsewhere disturbs nothing here");
    run.notes.clear();
    assert_eq!(own(&run).state, Validity::Ok, "nor does one that noted nothing");
    std::sync::Arc::make_mut(&mut run.plan.machines)[0].command = None;
    run.own_cost = Some(OwnCost { agent_cpu_seconds: 5.0, telemetry_cpu_seconds: 1.1, seconds: 100.0 });
    assert_eq!(own(&run).state, Validity::Doubtful, "what is known is too much already");
}
