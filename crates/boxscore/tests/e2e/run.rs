//! What a user sees who asks `run` for something impossible, and that plans repeat.

use crate::common::{Bench, assert_whole};
use model::Plan;

/// The error and its exit code; nothing is made for a command line that is wrong.
#[track_caller]
fn usage(args: &[&str], texts: &[&str]) {
    let bench = Bench::new();
    let said = bench.run(args).expect(2, texts);
    assert_eq!(said.out, "");
    assert!(!bench.store().exists(), "a store was made for {args:?}");
}

#[test]
fn unknown_instruments_name_the_nearest() {
    usage(
        &["run", "crc23c"],
        &["no instrument or family is called `crc23c`", "did you mean `crc32c`?", "boxscore list"],
    );
    usage(&["run", "integer"], &["it is kind=integer of index: boxscore run index --set kind=integer"]);
    usage(&["run", "zebrafish"], &["no instrument or family is called `zebrafish`", "shows them all"]);
}

#[test]
fn impossible_parameters_are_refused() {
    usage(
        &["run", "crc32c", "--set", "sise=1KiB"],
        &["--set sise=1KiB: no instrument of this run has the parameter `sise`", "did you mean `size`?"],
    );
    usage(
        &["run", "crc32c", "--set", "size=elephant"],
        &["--set size=elephant is not possible: a size from"],
    );
    usage(&["run", "crc32c", "--set", "impl=magic"], &["--set impl=magic", "chain"]);
    usage(&["run", "crc32c", "--set", "size=999TiB"], &["--set size=999TiB"]);
    usage(&["run", "crc32c", "--set", "threads=0"], &["--set threads=0", "a number of threads"]);
    usage(&["run", "crc32c", "--set", "size"], &["--set size"]);
    usage(&["run", "crc32c", "--set", "rabin.size=1KiB"], &["--set rabin.size"]);
}

#[test]
fn impossible_arms_are_refused() {
    usage(
        &["run", "crc32c", "--arm", "ipml=fast"],
        &["--arm ipml=fast: no instrument of this run has the parameter `ipml`", "did you mean `impl`?"],
    );
    usage(&["run", "crc32c", "--arm", "impl=magic"], &["--arm impl=magic", "chain"]);
    usage(
        &["run", "crc32c", "--arm", "impl=fast", "--arm", "impl=fast"],
        &["--arm impl=fast is given twice"],
    );
}

#[test]
fn impossible_limits_are_refused() {
    usage(&["run", "crc32c", "--for", "soon"], &["--for soon: not a duration", "90s, 10m or 24h"]);
    usage(&["run", "crc32c", "--for", "0s"], &["--for 0s: not a duration"]);
    usage(&["run", "crc32c", "--within", "much"], &["--within much: not a share", "2% or 0.02"]);
    usage(&["run", "crc32c", "--takes", "0"], &["--takes", "0"]);
    usage(&["run", "crc32c", "--cpus", "a-b"], &["--cpus a-b: not a CPU list", "0-3,8"]);
    usage(&["run", "crc32c", "--cpus", "60000"], &["CPU 60000 is not here, or not allowed", "allowed are 0"]);
    usage(&["run", "crc32c", "--price", "cheap"], &["--price cheap: not a price", "0.192/h"]);
    usage(&["run", "crc32c", "--price=-3"], &["--price -3: not a price"]);
    usage(&["run", "crc32c", "--watts", "0"], &["--watts 0: must be above 0"]);
    usage(&["run", "telemetry"], &["`run telemetry` needs an end", "--for 24h"]);
    usage(&["run", "crc32c", "--quick", "--full"], &["cannot be used with"]);
}

#[test]
fn impossible_machines_are_refused() {
    usage(&["run", "crc32c", "--via", "box2"], &["--via box2: not of the form NAME=COMMAND", "ssh box2"]);
    usage(&["run", "crc32c", "--via", "=true"], &["must not be empty"]);
    usage(&["run", "crc32c", "--via", "a=true", "--via", "a=true"], &["`a` is given twice"]);
}

#[test]
fn worlds_that_cannot_be_read_are_named() {
    let bench = Bench::new();
    bench.run(&["run", "crc32c", "--fake", "none.json"]).expect(1, &["--fake none.json", "No such file"]);
    bench.world("{\"seed\": 1,\n\"sires\": []}");
    bench.fake(&[]).expect(1, &["world.json:2:", "sires", "docs/fake.md"]);
}

#[test]
fn an_error_is_a_document_with_json() {
    let bench = Bench::new();
    let said = bench.run(&["run", "crc23c", "--json"]).expect(2, &[]);
    let document: serde_json::Value = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(document["schema"], "boxscore.error/1");
    assert_eq!(document["kind"], "usage");
    assert!(document["hint"].as_str().is_some_and(|hint| hint.contains("crc32c")));
}

const SWEEP: [&str; 8] = ["run", "crc32c", "--set", "threads=1", "--takes", "3", "--fake", "world.json"];

fn order(run: &model::data::RunData) -> Vec<(u32, u32, u32)> {
    run.takes.iter().map(|take| (take.block, take.cell, take.arm)).collect()
}

#[test]
fn a_plan_repeats_from_a_run_and_from_a_file() {
    let bench = Bench::new();
    bench.run(&SWEEP).expect(0, &[]);
    let first = bench.only();
    assert_whole(&first, 3);
    bench.run(&["run", "--plan", &first.head.id]).expect(0, &[]);
    let plan = serde_json::to_string(&*first.plan).expect("a plan");
    std::fs::write(bench.path("plan.json"), &plan).expect("a file");
    bench.run(&["run", "--plan", "plan.json", "--label", "again"]).expect(0, &[]);
    let runs: Vec<_> = bench.heads().iter().map(|head| bench.data(&head.id)).collect();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        assert_eq!(run.plan.seed, first.plan.seed);
        assert_eq!(order(run), order(&first));
    }
    assert_eq!(runs.iter().filter(|run| run.head.label.as_deref() == Some("again")).count(), 1);
}

#[test]
fn plans_that_cannot_be_carried_out_are_refused() {
    let bench = Bench::new();
    bench.run(&SWEEP).expect(0, &[]);
    let sound = bench.only().plan;
    let refused = |change: &dyn Fn(&mut Plan), texts: &[&str]| {
        let mut plan = sound.clone();
        change(&mut plan);
        std::fs::write(bench.path("plan.json"), serde_json::to_string(&*plan).expect("a plan"))
            .expect("a file");
        bench.run(&["run", "--plan", "plan.json"]).expect(1, texts);
    };
    refused(&|plan| plan.version = 99, &["plan.json: a plan of version 99", "up to 1"]);
    refused(&|plan| plan.arms.clear(), &["no arm or no machine"]);
    refused(&|plan| plan.take_seconds = -1.0, &["no time above 0"]);
    refused(&|plan| plan.cells[0].instrument = "crc23c".into(), &["no instrument is called `crc23c`"]);
    refused(&|plan| plan.cells[0].params.set("size", "x"), &["crc32c"]);
    std::fs::write(bench.path("plan.json"), "{").expect("a file");
    bench.run(&["run", "--plan", "plan.json"]).expect(1, &["plan.json:1:", "not a plan"]);
    bench.run(&["run", "--plan", "nothing"]).expect(1, &["no run is called `nothing`"]);
    bench.run(&["run", "--plan", "plan.json", "--takes", "3"]).expect(2, &["cannot be used with"]);
    assert_eq!(bench.heads().len(), 1);
}

#[test]
fn the_same_world_gives_the_same_run() {
    let (one, two) = (Bench::new(), Bench::new());
    for bench in [&one, &two] {
        let args: Vec<&str> = SWEEP.into_iter().chain(["--seed", "3"]).collect();
        bench.run(&args).expect(0, &[]);
        bench.run(&args).expect(0, &[]);
    }
    let (first, second) = (one.heads(), two.heads());
    assert_eq!(first.len(), 2);
    let ids = |heads: &[model::data::RunHead]| heads.iter().map(|head| head.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&second));
    for head in &first {
        let mut run = one.data(&head.id);
        let mut twin = two.data(&head.id);
        // What the program itself used is measured even there.
        run.own_cost = None;
        twin.own_cost = None;
        assert_eq!(run, twin);
    }
}

#[test]
fn real_takes_of_a_real_instrument_are_stored() {
    let bench = Bench::new();
    let args: Vec<&str> = crate::common::ONE.into_iter().chain(["--takes", "3"]).collect();
    let said = bench.run(&args).expect(0, &[]);
    let run = bench.only();
    assert!(said.out.contains(crate::common::short(&run.head.id)), "{said:#?}");
    assert_whole(&run, 3);
    assert!(run.rows().flat_map(model::data::Series::measured).all(|value| value > 0.0));
}

#[test]
fn every_sitting_is_prepared_by_a_new_process() {
    let bench = Bench::new();
    let args: Vec<&str> = crate::common::ONE.into_iter().chain(["--takes", "7", "--sittings", "3"]).collect();
    bench.run(&args).expect(0, &[]);
    let run = bench.only();
    assert_whole(&run, 7);
    assert!(run.takes.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns));
    for series in run.rows() {
        let lengths: Vec<usize> = series.by_sitting().iter().map(Vec::len).collect();
        assert_eq!(lengths, [3, 2, 2]);
    }
    let count = |kind: &str| run.notes.iter().filter(|note| note.kind() == kind).count();
    assert_eq!(count("repeats"), 3 * run.plan.cells.len(), "{:?}", run.notes);
    assert_eq!(count("sitting") + count("lost") + count("changed"), 0, "{:?}", run.notes);
}

#[test]
fn telemetry_alone_ends_well() {
    let bench = Bench::new();
    let said = bench.run(&["run", "telemetry", "--for", "2s", "--no-report"]).expect(0, &[]);
    assert!(said.out.contains("recorded ") && said.out.contains("boxscore report "), "{said:#?}");
    let run = bench.only();
    assert!(run.takes.is_empty());
    let sources = instruments::all().iter().any(|one| one.card().cadence == model::Cadence::Tick);
    assert_eq!(!run.telemetry.is_empty(), sources, "no telemetry was stored");
}

#[test]
fn a_recording_ends_with_a_screen_and_a_report() {
    let bench = Bench::new();
    let said = bench.run(&["run", "telemetry", "--for", "2s"]).expect(0, &[]);
    let id = bench.only().head.id;
    let name = format!("{}.html", crate::common::short(&id));
    assert!(said.out.contains("recorded ") && said.out.contains(&name), "{said:#?}");
    let html = std::fs::read_to_string(bench.path(&name)).expect("the report");
    assert!(html.contains("</html>") && html.contains("<svg"), "no telemetry is drawn");
}

#[test]
fn faults_are_kept_apart_and_change_the_exit_code() {
    let bench = Bench::new();
    bench.world(r#"{"seed": 7, "series": [{"instrument": "*", "median": 1e9, "faults": [2]}]}"#);
    bench.fake(&["--takes", "4"]).expect(3, &["fault:", "planted fault in block 2"]);
    let run = bench.only();
    assert_eq!(run.head.status.word(), "faulty");
    assert_eq!(run.takes.iter().filter(|take| take.fault.is_some()).count(), 1);
    assert_eq!(run.rows().map(|series| series.measured().len()).max(), Some(3));
}

#[test]
fn a_run_whose_measured_takes_all_failed_is_not_the_latest() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let good = bench.only().head.id;
    // Block 0 is the warm-up, and goes well.
    bench.world(r#"{"seed": 8, "series": [{"instrument": "*", "median": 1e9, "faults": [1, 2, 3]}]}"#);
    let said = bench.fake(&["--takes", "3"]).expect(3, &["fault: "]);
    // The result stands where the result stands, and first.
    assert!(said.out.starts_with("nothing was measured: every measured take failed\n"), "{said:#?}");
    let heads = bench.heads();
    let bad = heads.iter().find(|head| head.id != good).expect("the other run");
    assert_eq!((bad.status.word(), bad.takes, bad.faults, bad.measured), ("faulty", 4, 3, 0));
    let said = bench.run(&["show", "latest", "--json"]).expect(0, &[]);
    let shown: model::doc::RunDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(shown.run, good);
    bench.run(&["show", "latest~1"]).expect(1, &["the store has 1 complete run, so no `latest~1`"]);
}

#[test]
fn arms_replace_what_they_set() {
    let bench = Bench::new();
    let arms = ["--arm", "impl=fast", "--arm", "impl=chain", "--set", "size=1KiB;threads=1"];
    let args: Vec<&str> = ["run", "crc32c", "--takes", "6", "--fake", "world.json", "--no-report"]
        .into_iter()
        .chain(arms)
        .collect();
    bench.run(&args).expect(0, &[]);
    let run = bench.only();
    assert_eq!(run.plan.cells.len(), 1, "{:?}", run.plan.cells);
    assert_whole(&run, 6);
    assert_eq!(run.rows().count(), 2);
}

#[test]
fn commands_are_refused_before_anything_is_stored() {
    usage(&["run", "--cmd", " "], &["the command of --cmd is empty"]);
    usage(&["run", "--cmd", "true", "--metric", "tps"], &["--metric tps: not of the form NAME=REGEX"]);
    usage(&["run", "--cmd", "true", "--metric", "tps=("], &["not valid", "tps"]);
    usage(&["run", "--cmd", "true", "--metric", "tps=rate"], &["tps", "has no group"]);
    let bench = Bench::new();
    bench.run(&["run", "--cmd", "true", "--dir", "nowhere"]).expect(1, &["--dir nowhere"]);
    assert!(!bench.store().exists());
}

#[test]
fn commands_that_differ_only_in_signs_are_two_series_and_their_numbers_are_shown() {
    let bench = Bench::new();
    for command in ["echo 'x=5'; true", "echo 'x=5', true"] {
        let args = ["run", "--cmd", command, "--metric", r"answer=x=(\d+)", "--takes", "3", "--no-report"];
        let said = bench.run(&args).expect(0, &[]);
        assert!(said.out.contains("answer"), "{said:#?}");
        let shown: model::doc::RunDoc =
            serde_json::from_str(&bench.run(&["show", "latest", "--json"]).expect(0, &[]).out)
                .expect("a document");
        let answer = shown.series.iter().find(|one| one.params.get("metric") == Some("answer"));
        assert_eq!(answer.and_then(|one| one.median), Some(5.0));
    }
    let runs: Vec<_> = bench.heads().iter().map(|head| bench.data(&head.id)).collect();
    assert_eq!(runs[0].plan.commands.values().next().map(|one| one.run.as_str()), Some("echo 'x=5'; true"));
    let keys = |run: &model::data::RunData| run.rows().map(|row| row.key.clone()).collect::<Vec<_>>();
    assert!(keys(&runs[0]).iter().all(|key| !keys(&runs[1]).contains(key)), "two commands became one series");
    bench.run(&["compare", &runs[0].head.id, &runs[1].head.id]);
}

#[test]
fn a_number_that_is_not_found_is_a_fault_and_no_latest_run() {
    let bench = Bench::new();
    let args =
        ["run", "--cmd", "echo so it is", "--metric", r"tps=rate (\d+)", "--takes", "2", "--no-report"];
    let said = bench.run(&args).expect(3, &["tps", "so it is"]);
    assert!(said.out.starts_with("nothing was measured: every measured take failed\n"), "{said:#?}");
    assert_eq!(bench.only().head.status.word(), "faulty");
    bench.run(&["show", "latest"]).expect(1, &["no complete run, so no `latest`"]);
}

#[test]
fn a_run_of_nothing_but_warm_ups_says_so() {
    let bench = Bench::new();
    let said = bench.run(&["run", "--cmd", "sleep 1.5", "--for", "1s", "--no-report"]).expect(3, &[]);
    assert!(said.out.starts_with("nothing was measured: the time was over"), "{said:#?}");
    assert_eq!(bench.only().head.status.word(), "faulty");
}

#[test]
fn named_runs_end_and_studies_of_arms_are_small() {
    let bench = Bench::new();
    let args = ["--fake", "world.json", "--no-report", "--seed", "1"];
    let run = |names: &[&str]| {
        let all: Vec<&str> = ["run"].iter().chain(names).chain(&args).copied().collect();
        bench.run(&all).expect(0, &[]);
        bench.data(&bench.heads().last().expect("a run").id).plan
    };
    let arms = ["mem-bandwidth", "--arm", "store=temporal", "--arm", "store=streaming"];
    let study = run(&arms);
    let alone = run(&["crc32c"]);
    let full = run(&[&arms[..], &["--full", "--takes", "1"]].concat());
    assert_eq!((study.budget_seconds, alone.budget_seconds), (Some(570.0), Some(570.0)));
    assert_eq!(full.budget_seconds, None);
    assert!(study.cells.len() < full.cells.len(), "{} {}", study.cells.len(), full.cells.len());
}

#[test]
fn labels_that_mean_something_else_are_refused() {
    let long = "x".repeat(81);
    for label in ["", " ", "a\nb", ".", "latest", "latest~1", "xeon-e5620", &long] {
        usage(&["run", "crc32c", "--label", label], &["--label", "hint"]);
    }
}

/// The plan is checked with the memory of this machine, not with what is assumed of an unknown one.
#[test]
fn a_size_that_the_memory_has_room_for_is_planned() {
    let kib: u64 = std::fs::read_to_string("/proc/meminfo")
        .expect("meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok())
        .expect("MemTotal");
    // Three arrays of it are less than the quarter that may be used, and more than what is assumed.
    let size = format!("size={}MiB", kib / 1024 / 16);
    let limit = format!("size={}MiB", kib / 1024);
    let bench = Bench::new();
    let args = ["run", "mem-bandwidth", "--takes", "1", "--set", "threads=1", "--set", "op=read"];
    let said = bench.run(&[&args[..], &["--set", &size]].concat());
    assert!(!said.err.contains("more than a quarter"), "{}", said.err);
    bench.run(&[&args[..], &["--set", &limit]].concat()).expect(2, &["more than a quarter of the memory"]);
}

/// Variants that need more CPUs than there are keep no run alive, and give it no wrong reason.
#[test]
fn words_that_leave_nothing_to_run_are_a_usage_error() {
    let bench = Bench::new();
    for (word, why) in [("node=15", "no NUMA node 15"), ("cpus=4095", "CPU 4095"), ("size=1TiB", "a quarter")]
    {
        bench.run(&["run", "mem-bandwidth", "--set", word, "--takes", "1"]).expect(2, &["--set", word, why]);
    }
    assert!(!bench.store().exists(), "nothing is stored");
}
