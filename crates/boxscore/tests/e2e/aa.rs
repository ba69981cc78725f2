//! Noise between runs end to end: which runs it comes from, and runs of a machine against itself.

use crate::common::{Bench, PROGRAM, Running};
use model::data::Status;
use model::doc::{AaDoc, CompareDoc, DetectDoc, Replicate, RunDoc};

const WORLD: &str =
    r#"{"seed": 11, "series": [{"instrument": "*", "median": 1e9, "spread": 0.01, "between": 0.01}]}"#;

fn compared(bench: &Bench, names: &[&str]) -> CompareDoc {
    let said = bench.run(&[&["compare"], names, &["--json"]].concat()).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

#[test]
fn runs_without_the_figure_do_not_crowd_out_its_noise() {
    let bench = Bench::new();
    bench.world(WORLD);
    let via = format!("other={PROGRAM}");
    bench.fake(&["--takes", "6", "--via", &via]).expect(0, &[]);
    for _ in 0..5 {
        bench.fake(&["--takes", "6"]).expect(0, &[]);
    }
    let ids: Vec<String> = bench.heads().into_iter().map(|head| head.id).collect();
    let machine = bench.heads().last().expect("a run").machine.clone();
    let show = || -> RunDoc {
        serde_json::from_str(&bench.run(&["show", &ids[5], "--json"]).expect(0, &[]).out).expect("a document")
    };
    let all = || (compared(&bench, &[&ids[4], &ids[5]]), compared(&bench, &["other", &machine]), show());
    let before = all();
    for _ in 0..20 {
        let unrelated =
            ["run", "mac", "--set", "threads=1", "--takes", "1", "--sittings", "1", "--no-report"];
        bench.run(&[&unrelated[..], &["--fake", "world.json", "--seed", "5"]].concat()).expect(0, &[]);
    }
    let after = all();
    assert_eq!(before.0.rows, after.0.rows);
    assert_eq!(before.1.rows, after.1.rows);
    assert_eq!(before.2.series, after.2.series);
    // All five runs of the machine speak for its figure, and the result names them.
    assert_eq!(after.0.rows[0].noise_runs, ids[1..], "{:#?}", after.0.rows[0]);
    let series = &after.2.series[0];
    assert_eq!(series.noise_runs, ids[1..]);
    let (low, high) = (series.again_low.expect("an interval"), series.again_high.expect("an interval"));
    assert!(low < series.low.expect("an interval") && high > series.high.expect("an interval"), "{series:?}");
    let text = bench.run(&["show", &ids[5]]).expect(0, &[]).out;
    assert!(text.contains("again") && text.contains("with 5 runs"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

const CRC: [&str; 7] =
    ["aa", "crc32c", "--set", "size=1KiB;impl=fast;threads=1", "--fake", "world.json", "--seed=5"];

fn measured(bench: &Bench, more: &[&str], code: i32) -> AaDoc {
    let said = bench.run(&[&CRC, more, &["--json"]].concat()).expect(code, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

#[test]
fn runs_against_themselves_measure_the_noise() {
    let bench = Bench::new();
    bench.world(WORLD);
    let doc = measured(&bench, &["--takes", "6"], 0);
    assert_eq!((doc.runs.len(), doc.each, doc.pairs, doc.pairs_different), (5, 5, 10, 0));
    let [figure] = doc.figures.as_slice() else { panic!("{doc:#?}") };
    assert_eq!(figure.noise_runs, doc.runs);
    assert!((0.003..0.03).contains(&figure.spread), "{figure:?}");
    assert_eq!((figure.pairs, doc.power), (10, 0.8));
    assert!((0.0..=1.0).contains(&figure.own_share) && figure.own_spread.is_some(), "{figure:?}");
    assert!(figure.told_by_each < figure.told_by_one && figure.told_by_each > doc.margin, "{figure:?}");
    // The runs differ in the order of their takes alone, and each has sittings of its own.
    for id in &doc.runs {
        let run = bench.data(id);
        assert_eq!((run.plan.sittings, run.plan.cells.len()), (3, 1));
    }
    // Later runs take their noise from them.
    bench.fake(&["--takes", "6"]).expect(0, &[]);
    let run: RunDoc =
        serde_json::from_str(&bench.run(&["show", "--json"]).expect(0, &[]).out).expect("a document");
    assert_eq!(run.series[0].noise_runs.len(), 6);
    // Without new runs the stored ones speak.
    let machine = bench.heads()[0].machine.clone();
    let stored = ["aa", "--runs", "0", "--machine", &machine];
    let said = bench.run(&[&stored[..], &["--json"]].concat()).expect(0, &[]);
    let again: AaDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((again.runs.len(), again.pairs, bench.heads().len()), (6, 15, 6));
    let text = bench.run(&stored).expect(0, &[]).out;
    let last = text.lines().last().expect("a line");
    assert!(
        text.contains("One run each tells differences from")
            && text.contains("in 80 of 100 cases")
            && last.ends_with("called different."),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    bench.run(&[&stored[..], &["mac"]].concat()).expect(1, &["no such figure"]);
}

#[test]
fn a_noisy_machine_tells_less() {
    let told = |between: f64| {
        let bench = Bench::new();
        bench.world(&WORLD.replace("\"between\": 0.01", &format!("\"between\": {between}")));
        measured(&bench, &["--takes", "6"], 0).figures[0].told_by_one
    };
    let (quiet, noisy) = (told(0.002), told(0.08));
    assert!(quiet < 0.10 && noisy > 0.15, "{quiet}, {noisy}");
}

#[test]
fn an_interrupt_keeps_complete_runs() {
    let bench = Bench::new();
    bench.world(WORLD);
    let mut running = Running::start(bench.command(&[&CRC[..], &["--takes", "60", "--runs", "20"]].concat()));
    assert!(running.until("run 3 of 20"));
    running.signal("INT");
    let said = running.end().expect(130, &["interrupted", "of 20: ", "runs are complete and count"]);
    assert!(!said.err.contains("error: "), "{said:#?}");
    assert!(
        said.out.contains("1 pair") || said.out.contains("two equal runs") || said.out.contains("pairs"),
        "{said:#?}"
    );
    let whole = bench.heads().iter().filter(|head| head.status == Status::Complete).count();
    assert!((2..20).contains(&whole), "{whole}");
    // More would be made than are set against each other.
    bench.run(&[&CRC[..], &["--runs", "21"]].concat()).expect(2, &["0..=20"]);
}

#[test]
fn only_pairs_that_have_a_figure_count() {
    let bench = Bench::new();
    bench.world(WORLD);
    let run = |name: &str, seed: &str| {
        let set = ["--takes", "6", "--seed", seed, "--no-report", "--fake", "world.json"];
        bench.run(&[&["run", name, "--set", "threads=1"][..], &set].concat()).expect(0, &[]);
    };
    ["1", "2"].iter().for_each(|seed| run("mac", seed));
    ["3", "4", "5"].iter().for_each(|seed| run("crc32c", seed));
    let machine = bench.heads()[0].machine.clone();
    let said = bench.run(&["aa", "--runs", "0", "--machine", &machine, "--json"]).expect(0, &[]);
    let doc: AaDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((doc.runs.len(), doc.pairs), (5, 10));
    for (instrument, pairs) in [("mac", 1), ("crc32c", 3)] {
        let mut of = doc.figures.iter().filter(|figure| figure.instrument == instrument);
        assert!(of.all(|figure| figure.pairs == pairs), "{instrument}: {:?}", doc.figures);
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    let bench = Bench::new();
    bench.world(WORLD);
    for given in [&["--label", "x"][..], &["--takes", "6"], &["--fake", "world.json"], &["--full"]] {
        let says = format!("{} with --runs 0: it measures nothing", given[0]);
        bench.run(&[&["aa", "--runs", "0"], given].concat()).expect(2, &[&says]);
    }
    bench.run(&["aa", "--machine", "other"]).expect(2, &["--machine without --runs 0"]);
}

#[test]
fn a_label_of_several_boxes_is_a_type() {
    let bench = Bench::new();
    bench.world(WORLD);
    let box_of = |name: &str| format!("{name}={PROGRAM}");
    for label in ["small", "big"] {
        let (one, two) = (box_of(&format!("{label}-1")), box_of(&format!("{label}-2")));
        bench.fake(&["--takes", "6", "--label", label, "--via", &one, "--via", &two]).expect(0, &[]);
    }
    let doc = compared(&bench, &["small", "big"]);
    assert_eq!(doc.unit_of_replication, Some(Replicate::Box));
    assert_eq!((doc.arms[0].boxes, doc.arms[1].boxes), (Some(2), Some(2)));
    let text = bench.run(&["compare", "small", "big"]).expect(0, &[]).out;
    assert!(text.contains("the unit is the box (2 and 2)"), "{text}");
    let runs = compared(&bench, &["small-1", "big-1"]);
    assert_eq!((runs.unit_of_replication, runs.arms[0].boxes), (Some(Replicate::Run), None));
    // Runs against themselves are those of one machine.
    bench.run(&["aa", "--runs", "0", "--machine", "small"]).expect(1, &["`small` may mean any of 2"]);
    // A box that has only what lasts repeats nothing of the others.
    let soak =
        ["run", "--soak", "20s", "--seed", "5", "--fake", "soak.json", "--no-report", "--label", "small"];
    std::fs::write(bench.path("soak.json"), WORLD).expect("a world");
    bench.run(&soak).expect(0, &[]);
    assert_eq!(bench.heads().len(), 5);
    assert_eq!(compared(&bench, &["small", "big"]).arms[0].boxes, Some(2));
}

#[test]
fn the_cost_of_a_difference_grows_as_it_shrinks() {
    let bench = Bench::new();
    bench.world(WORLD);
    for _ in 0..4 {
        bench.fake(&["--takes", "12", "--sittings", "4"]).expect(0, &[]);
    }
    let machine = bench.heads()[0].machine.clone();
    let asked = |percent: &str| -> DetectDoc {
        let said = bench.run(&["detect", percent, "crc32c", "--machine", &machine, "--json"]).expect(0, &[]);
        serde_json::from_str(&said.out).expect("a document")
    };
    let (small, large) = (asked("6"), asked("30"));
    let [of_small] = small.figures.as_slice() else { panic!("{small:#?}") };
    let [of_large] = large.figures.as_slice() else { panic!("{large:#?}") };
    assert!(of_small.machines.runs > of_large.machines.runs, "{of_small:#?} {of_large:#?}");
    let arms = |figure: &model::doc::DetectFigureDoc| figure.arms.clone().expect("several sittings");
    let (costly, cheap) = (arms(of_small), arms(of_large));
    assert!(costly.sittings >= cheap.sittings && cheap.sittings >= Some(3), "{costly:?} {cheap:?}");
    // Three takes in each sitting of the stored runs.
    assert_eq!(cheap.takes, cheap.sittings.map(|sittings| 3 * sittings));
    assert!(costly.seconds > Some(0.0));
    // Within the margin of machines, not within that of arms.
    let tiny = asked("4");
    assert_eq!(tiny.figures[0].machines.runs, None);
    let text = bench.run(&["detect", "4", "--machine", &machine]).expect(0, &[]).out;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "between two machines: a tie however often they are measured, for it is within the margin of 5 % \
               (`--margin 2%` lets it be told, here and in `compare`).";
    assert!(words.contains(why), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // With a smaller margin it is told.
    let told = ["detect", "4", "crc32c", "--margin", "2%", "--machine", &machine, "--json"];
    let told: DetectDoc = serde_json::from_str(&bench.run(&told).expect(0, &[]).out).expect("a document");
    assert_eq!((told.margin, told.arms_margin), (0.02, 0.02));
    assert!(told.figures[0].machines.runs > Some(0), "{told:#?}");
}

#[test]
fn a_cost_that_cannot_be_said_is_refused() {
    let bench = Bench::new();
    bench.run(&["detect", "10"]).expect(1, &[]);
    bench.world(WORLD);
    bench.fake(&["--takes", "6"]).expect(0, &[]);
    let machine = bench.heads()[0].machine.clone();
    let of = |percent: &str, name: &str| bench.run(&["detect", percent, name, "--machine", &machine]);
    of("10", "mac").expect(1, &["no stored run of this machine has such a figure", "hint:"]);
    of("10", "nosuch").expect(2, &["no instrument or family is called `nosuch`"]);
    of("1", "crc32c").expect(2, &["within the margin of 2 %", "`boxscore detect 1 --margin 0.5%`"]);
    of("0", "crc32c").expect(2, &["`0` is no difference in percent"]);
    of("nan", "crc32c").expect(2, &["is no difference in percent"]);
}
