//! The promises of `compare --ratio` on planted data: intervals hold the truth, equal ratios are not called different,
//! a runtime that lags is found and named, and neither the order of machines nor of values matters.

use model::data::{Published, RunData};
use model::doc::{Method, RatioDoc, RatioOfRatiosDoc, RatioRowDoc, VerdictWord};
use model::{Better, SeriesKey, Unit, Value};
use proptest::prelude::*;
use stats::Rng;
use verdict::compare::ratio::{Unmet, ratio};
use verdict::{CompareOptions, Side};

use crate::planted::{World, arm_side, params, published, run, side};

/// The spread between runs that a 5 % floor assumes.
const ASSUMED: f64 = 0.05 / (1.959_963_985 * std::f64::consts::SQRT_2);

fn of(sides: &[Side<'_>], text: &str) -> RatioDoc {
    ratio(sides, text, &CompareOptions::default()).expect("both values")
}

/// A factor on every value of the figures with this parameter.
fn scale(run: &mut RunData, given: &str, factor: f64) {
    let given = params(given);
    for series in run.series.iter_mut().filter(|series| series.key.params.contains(&given)) {
        for point in &mut series.points {
            if let Value::Number(number) = &mut point.value {
                *number *= factor;
            }
        }
    }
}

fn studied(runs: &mut [&mut RunData]) {
    runs.iter_mut().for_each(|run| run.head.study = "together".to_owned());
}

#[test]
fn the_ratio_of_one_run_covers_the_truth() {
    // Two cells of one run share the noise of a block only where they are arms: both ways must hold.
    let mut rng = Rng::new(31);
    for (world, text, truth) in [
        (World { shared: 0.03, ..World::plain(1).arms(&[1.0, 1.3]) }, "impl=arm1/arm0", 1.3),
        (World::plain(2), "size=2/1", 1.0),
    ] {
        let pairs = 1_000;
        let mut covered = 0;
        for _ in 0..pairs {
            let study = run("r", "m", &world, 1.0, &mut rng);
            let doc = of(&[side("m", vec![&study])], text);
            let row = &doc.rows[0];
            assert_eq!((doc.rows.len(), row.method), (1, Method::Blocks));
            covered += usize::from(
                row.row.low.is_some_and(|low| low <= truth) && row.row.high.is_some_and(|high| truth <= high),
            );
        }
        assert!(f64::from(covered as u32) / f64::from(pairs) >= 0.94, "{text}: {covered} of {pairs}");
    }
}

/// How often the interval of the ratio of ratios holds 1, and how often a verdict is wrong.
fn shares(pairs: usize, mut doc: impl FnMut(&mut Rng) -> RatioDoc) -> (f64, f64) {
    let mut rng = Rng::new(20_261_123);
    let (mut covered, mut wrong) = (0, 0);
    for _ in 0..pairs {
        let found = doc(&mut rng);
        let [one] = found.ratios_of_ratios.as_slice() else { panic!("{found:?}") };
        covered += usize::from(
            one.row.low.is_some_and(|low| low <= 1.0) && one.row.high.is_some_and(|high| high >= 1.0),
        );
        let is_claimed = matches!(one.row.verdict, VerdictWord::Better | VerdictWord::Worse);
        wrong += usize::from(is_claimed);
        assert_eq!(found.findings.iter().any(|finding| finding.kind() == "immature"), is_claimed);
    }
    (covered as f64 / pairs as f64, wrong as f64 / pairs as f64)
}

#[test]
fn equal_ratios_of_different_studies_are_not_called_different() {
    // Every figure has a level of its own in each run, as far apart as the floor assumes.
    let world = World { between: ASSUMED, ..World::plain(2) };
    for runs in 1..=3 {
        let (covered, wrong) = shares(1_000, |rng| {
            let mut make = |machine: &str, factor: f64| -> Vec<RunData> {
                (0..runs).map(|i| run(&format!("{machine}{i}"), machine, &world, factor, rng)).collect()
            };
            let (a, b) = (make("a", 1.0), make("b", 3.0));
            of(&[side("a", a.iter().collect()), side("b", b.iter().collect())], "size=2/1")
        });
        assert!(covered >= 0.94 && wrong <= 0.06, "{runs} runs each: {covered}, {wrong}");
    }
}

#[test]
fn equal_ratios_of_one_study_are_not_called_different() {
    let world = World::plain(2);
    let (covered, wrong) = shares(1_000, |rng| {
        let (mut a, mut b) = (run("a", "a", &world, 1.0, rng), run("b", "b", &world, 3.0, rng));
        studied(&mut [&mut a, &mut b]);
        let doc = of(&[side("a", vec![&a]), side("b", vec![&b])], "size=2/1");
        assert_eq!(doc.ratios_of_ratios[0].method, Method::Blocks);
        doc
    });
    assert!(covered >= 0.94 && wrong <= 0.06, "{covered}, {wrong}");
}

#[test]
fn a_value_that_lags_is_named_with_its_machine_whatever_the_order() {
    let mut rng = Rng::new(32);
    let world = World { between: 0.004, ..World::plain(3) };
    let usual = run("a", "usual", &world, 1.0, &mut rng);
    let mut new = run("b", "new", &world, 0.4, &mut rng);
    scale(&mut new, "size=1", 0.2);
    let sides = || (side("usual", vec![&usual]), side("new", vec![&new]));
    let ((a, b), (c, d)) = (sides(), sides());
    for doc in [of(&[a, b], "size=2/1"), of(&[d, c], "size=2/1"), {
        let (a, b) = sides();
        of(&[a, b], "size=1/2")
    }] {
        let found: Vec<&model::Finding> =
            doc.findings.iter().filter(|finding| finding.kind() == "immature").collect();
        let [finding] = found.as_slice() else { panic!("{:?}", doc.findings) };
        assert_eq!(finding.subject.to_string(), "new: size=1");
        assert!(
            finding.text().contains("size=1 on new") && finding.text().contains("1 of 1 figure"),
            "{}",
            finding.text()
        );
        let low =
            finding.evidence()["ratio-of-ratios-low"].max(1.0 / finding.evidence()["ratio-of-ratios-high"]);
        assert!(low > 3.0, "{finding:?}");
    }
    // crc32c is no software of its own.
    let (a, b) = sides();
    let doc = of(&[a, b], "size=2/1");
    assert!(doc.findings[0].text().starts_with("falls behind on this machine"), "{:?}", doc.findings);
    assert!(doc.paragraph.to_string().starts_with("2 over 1 is "), "{}", doc.paragraph);
}

#[test]
fn a_study_between_machines_resamples_blocks_and_other_runs_do_not() {
    let mut rng = Rng::new(33);
    let world = World { between: 0.002, ..World::plain(2) };
    let (mut a, mut b) = (run("a", "a", &world, 1.0, &mut rng), run("b", "b", &world, 3.0, &mut rng));
    let width = |a: &RunData, b: &RunData| {
        let doc = of(&[side("a", vec![a]), side("b", vec![b])], "size=2/1");
        let one = doc.ratios_of_ratios[0].clone();
        (one.row.high.expect("an end") / one.row.low.expect("an end"), one.method)
    };
    let (apart, method) = width(&a, &b);
    assert_eq!(method, Method::Runs);
    studied(&mut [&mut a, &mut b]);
    let (together, method) = width(&a, &b);
    assert_eq!(method, Method::Blocks);
    assert!(apart > together * 1.1, "{apart} {together}");
}

/// A run in which only one of two languages has virtual machines: its series have an arm, the other's has none.
fn languages(id: &str, machine: &str, rng: &mut Rng) -> RunData {
    let mut one = run(id, machine, &World::plain(1).arms(&[1.0, 0.1]), 1.0, rng);
    one.plan.arms = ["hotspot", "zero"]
        .map(|jvm| model::Arm { name: format!("jvm={jvm}"), set: params(&format!("jvm={jvm}")) })
        .to_vec();
    for (series, jvm) in one.series.iter_mut().zip(["hotspot", "zero"]) {
        series.key.params = params(&format!("kernel=fft;lang=java;jvm={jvm}"));
        series.key.arm = format!("jvm={jvm}");
    }
    let mut c = one.series[0].clone();
    c.key.params = params("kernel=fft;lang=c;cc=gcc");
    c.key.arm = String::new();
    one.series.push(c);
    for series in &mut one.series {
        (series.key.instrument, series.key.metric) = ("scimark".to_owned(), "flops".to_owned());
    }
    one
}

fn printed(text: &str, value: f64, bounds: Option<(f64, f64)>) -> Published {
    let key = SeriesKey {
        instrument: "scimark".to_owned(),
        metric: "flops".to_owned(),
        unit: Unit::Ratio,
        params: params(text),
        arm: String::new(),
        definition: 1,
    };
    let (low, high) = (bounds.map(|bounds| bounds.0), bounds.map(|bounds| bounds.1));
    Published {
        low,
        high,
        bounds: "range".to_owned(),
        note: "on other clocks".to_owned(),
        ..published(&key, Better::Neither, value)
    }
}

fn beside(runs: Vec<&RunData>, points: Vec<Published>) -> RatioDoc {
    let mut old = side("old", Vec::new());
    old.published = points;
    of(&[side("here", runs), old], "lang=c/java")
}

#[test]
fn what_was_measured_once_stands_beside_every_arm() {
    let one = languages("r", "m", &mut Rng::new(34));
    let doc = beside(vec![&one], vec![printed("lang=c/java;jvm=zero", 5.7, Some((3.6, 8.9)))]);
    let rows: Vec<(String, f64)> = doc
        .rows
        .iter()
        .map(|one| (one.row.params.to_string(), one.row.ratio.expect("a ratio").round()))
        .collect();
    let wanted =
        [("cc=gcc;jvm=hotspot;kernel=fft", 1.0), ("cc=gcc;jvm=zero;kernel=fft", 10.0), ("jvm=zero", 6.0)];
    assert_eq!(rows, wanted.map(|(params, ratio)| (params.to_owned(), ratio)));
    assert_eq!(doc.rows[1].over_params, params("cc=gcc"));
    assert_eq!(doc.rows[1].under_params, params("jvm=zero"));
    // The point stands beside the row that it is nearest to, and is never judged.
    let [across] = doc.ratios_of_ratios.as_slice() else { panic!("{:?}", doc.ratios_of_ratios) };
    assert_eq!(
        (across.row.params.get("jvm"), across.method, across.row.point),
        (Some("zero"), Method::Point, true)
    );
    assert_eq!((across.row.verdict, across.row.low), (VerdictWord::CannotTell, None));
    assert!(across.row.ratio.is_some_and(|ratio| (ratio - 0.57).abs() < 0.05), "{across:?}");
    let bounds =
        across.bounds.as_ref().map(|bounds| [bounds.low, bounds.high].map(|end| (end * 10.0).round()));
    assert_eq!(bounds, Some([4.0, 9.0]));
    assert!(!doc.findings.iter().any(|finding| finding.kind() == "immature"));
    assert!(doc.footnotes.iter().any(|note| note.contains("on other clocks")), "{:?}", doc.footnotes);
}

#[test]
fn what_differs_besides_is_said() {
    let one = languages("r", "m", &mut Rng::new(35));
    let doc = beside(vec![&one], vec![printed("lang=java/c;jvm=client", 0.25, None)]);
    let across: Vec<&RatioOfRatiosDoc> = doc.ratios_of_ratios.iter().collect();
    assert_eq!(across.len(), 2, "neither virtual machine is nearer");
    assert_eq!(across[0].unlike, ["jvm: client, on here hotspot"]);
    let point = doc.rows.last().expect("the point");
    assert_eq!((point.row.ratio, point.bounds.clone()), (Some(4.0), None));
}

#[test]
fn published_figures_at_both_values_make_a_point() {
    let figure = |text: &str, value| {
        let key = SeriesKey {
            instrument: "kv".to_owned(),
            metric: "rate".to_owned(),
            unit: Unit::PerSec,
            params: params(text),
            arm: String::new(),
            definition: 1,
        };
        published(&key, Better::Higher, value)
    };
    let mut old = side("old", Vec::new());
    old.published = vec![
        figure("replicas=0;size=1", 90.0),
        figure("replicas=3;size=1", 30.0),
        figure("replicas=3;size=2", 5.0),
    ];
    let doc = of(&[old], "replicas=0/3");
    let [row] = doc.rows.as_slice() else { panic!("{:?}", doc.rows) };
    assert_eq!(
        (row.row.ratio, row.method, row.row.verdict),
        (Some(3.0), Method::Point, VerdictWord::CannotTell)
    );
    assert_eq!((row.row.arm_value, row.row.base_value), (Some(90.0), Some(30.0)));
    assert_eq!(row.row.params, params("size=1"));
}

#[test]
fn what_is_missing_is_listed() {
    let one = languages("r", "m", &mut Rng::new(36));
    let asked =
        |text: &str| ratio(&[side("m", vec![&one])], text, &CompareOptions::default()).expect_err("no ratio");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        asked("vm=a/b"),
        Unmet::Param { param: "vm".into(), known: names(&["cc", "jvm", "kernel", "lang"]) }
    );
    assert_eq!(
        asked("lang=c/rust"),
        Unmet::Values { param: "lang".into(), missing: names(&["rust"]), known: names(&["c", "java"]) }
    );
    let mut two = run("r", "m", &World::plain(2), 1.0, &mut Rng::new(1));
    two.series[0].key.params = params("size=1;threads=1");
    two.series[1].key.params = params("size=2;threads=2");
    let found =
        ratio(&[side("m", vec![&two])], "size=2/1", &CompareOptions::default()).expect_err("no ratio");
    let Unmet::Alone { differ, .. } = found else { panic!("{found:?}") };
    assert_eq!(differ, ["crc32c: threads is 2 with 2, 1 with 1"]);
}

#[test]
fn refused_figures_have_no_ratio() {
    let mut rng = Rng::new(37);
    let world = World::plain(2);
    let (a, mut b) = (run("a", "a", &world, 1.0, &mut rng), run("b", "b", &world, 1.0, &mut rng));
    for take in &mut b.takes {
        take.refusals.push(model::Finding::foreign("page-cache", model::Validity::Invalid, "not the disk"));
    }
    let doc = of(&[side("a", vec![&a]), side("b", vec![&b])], "size=2/1");
    let refused = &doc.rows[1];
    assert_eq!(
        (refused.row.verdict, refused.row.ratio, refused.method),
        (VerdictWord::Invalid, None, Method::None)
    );
    let across = &doc.ratios_of_ratios[0];
    assert_eq!((across.row.verdict, across.row.ratio), (VerdictWord::Invalid, None));
    assert!(across.row.why.to_string().contains("not the disk"), "{across:?}");
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-9,
        (a, b) => a == b,
    }
}

fn swapped(word: VerdictWord) -> VerdictWord {
    match word {
        VerdictWord::Better => VerdictWord::Worse,
        VerdictWord::Worse => VerdictWord::Better,
        other => other,
    }
}

fn mirrored(row: &model::doc::RowDoc, other: &model::doc::RowDoc) -> bool {
    let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
    swapped(row.verdict) == other.verdict
        && near(row.ratio, inverse(other.ratio))
        && near(row.low, inverse(other.high))
        && near(row.high, inverse(other.low))
        && near(row.p_holm, other.p_holm)
}

fn rows(doc: &RatioDoc) -> impl Iterator<Item = &model::doc::RowDoc> {
    doc.rows.iter().map(|one: &RatioRowDoc| &one.row).chain(doc.ratios_of_ratios.iter().map(|one| &one.row))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn turning_the_ratio_round_mirrors_everything(
        seed in any::<u64>(),
        factor in 0.3..3.0_f64,
        runs in 1..3_usize,
        together in any::<bool>(),
    ) {
        let mut rng = Rng::new(seed);
        let world = World { between: 0.01, ..World::plain(2) };
        let mut make = |machine: &str| -> Vec<RunData> {
            (0..runs).map(|i| run(&format!("{machine}{i}"), machine, &world, 1.0, &mut rng)).collect()
        };
        let (mut a, mut b) = (make("a"), make("b"));
        a.iter_mut().for_each(|run| scale(run, "size=1", factor));
        if together {
            a.iter_mut().chain(&mut b).for_each(|run| studied(&mut [run]));
        }
        let sides = || [side("a", a.iter().collect()), side("b", b.iter().collect())];
        let there = of(&sides(), "size=2/1");
        let turned = of(&sides(), "size=1/2");
        let [first, second] = sides();
        let back = of(&[second, first], "size=2/1");
        prop_assert_eq!(rows(&there).count(), 3);
        for (row, other) in rows(&there).zip(rows(&turned)) {
            prop_assert!(mirrored(row, other), "{:?}\n{:?}", row, other);
        }
        // The machines exchanged: the rows are the same, the ratio of ratios is turned round.
        prop_assert_eq!(&there.rows[0], &back.rows[1]);
        prop_assert_eq!(&there.rows[1], &back.rows[0]);
        let (one, other) = (&there.ratios_of_ratios[0].row, &back.ratios_of_ratios[0].row);
        prop_assert!(mirrored(one, other), "{:?}\n{:?}", one, other);
        // The same is found, whichever machine is named first and whichever value stands above.
        let found = |doc: &RatioDoc| {
            let all = doc.findings.iter().filter(|finding| finding.kind() == "immature");
            all.map(|finding| finding.subject.to_string()).collect::<Vec<_>>()
        };
        prop_assert_eq!(found(&there), found(&back));
        prop_assert_eq!(found(&there), found(&turned));
    }

    #[test]
    fn a_faster_machine_changes_no_ratio(seed in any::<u64>(), factor in 0.01..100.0_f64, together in any::<bool>()) {
        let mut rng = Rng::new(seed);
        let world = World { between: 0.01, ..World::plain(2) };
        let (mut a, mut b) = (run("a", "a", &world, 1.0, &mut rng), run("b", "b", &world, 1.0, &mut rng));
        if together {
            studied(&mut [&mut a, &mut b]);
        }
        let mut faster = b.clone();
        for size in ["size=1", "size=2"] {
            scale(&mut faster, size, factor);
        }
        let plain = of(&[side("a", vec![&a]), side("b", vec![&b])], "size=2/1");
        let scaled = of(&[side("a", vec![&a]), side("b", vec![&faster])], "size=2/1");
        for (row, other) in rows(&plain).zip(rows(&scaled)) {
            prop_assert!(near(row.ratio, other.ratio) && near(row.low, other.low) && near(row.high, other.high));
            prop_assert_eq!(row.verdict, other.verdict);
        }
    }

    #[test]
    fn any_question_has_an_answer(text in "\\PC{0,20}", param in "(size|impl|lang)?", a in "[12]?", b in "[123/]{0,3}") {
        let one = run("r", "m", &World::plain(2), 1.0, &mut Rng::new(1));
        let options = CompareOptions::default();
        let _ = ratio(&[side("m", vec![&one])], &text, &options);
        if let Ok(doc) = ratio(&[side("m", vec![&one])], &format!("{param}={a}/{b}"), &options) {
            prop_assert!(!doc.rows.is_empty());
        }
    }
}

#[test]
fn arms_of_a_study_are_machines_too() {
    // Two arms of one run as sides, each with both sizes: all four share the blocks.
    let study =
        run("r", "m", &World { shared: 0.05, ..World::plain(2).arms(&[1.0, 1.2]) }, 1.0, &mut Rng::new(38));
    let doc = of(&[arm_side(&study, "arm0"), arm_side(&study, "arm1")], "size=2/1");
    assert_eq!(doc.rows.len(), 2);
    let across = &doc.ratios_of_ratios[0];
    assert_eq!((across.method, across.row.margin), (Method::Blocks, 0.02));
}
