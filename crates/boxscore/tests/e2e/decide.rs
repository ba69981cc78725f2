//! `boxscore decide` end to end: what the studies decided, planted boxes, a log's demand, and what is refused.

use std::fmt::Write as _;

use model::doc::{BoughtDoc, CandidateDoc, DecideDoc, ErrorDoc, ScalingBasis};

use crate::common::{Bench, PROGRAM, Said};

fn document(said: &Said) -> DecideDoc {
    serde_json::from_str(&said.out).expect("a document")
}

fn candidate<'d>(doc: &'d DecideDoc, name: &str) -> &'d CandidateDoc {
    doc.candidates.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no {name}: {doc:?}"))
}

fn near(value: Option<f64>, wanted: f64) {
    let value = value.expect("a value");
    assert!((value / wanted - 1.0).abs() < 1e-9, "{value}, wanted {wanted}");
}

#[test]
fn the_study_of_2009_by_dollar_watt_rack_and_800_watts() {
    let bench = Bench::new();
    let args = ["decide", "--from", "atom-330", "core2-duo", "--rack-watts", "800", "--no-report", "--need"];
    // The study divides what two ab of 50 connections got.
    let need = ["web 18000/s connections=100 generators=2"];
    let doc = document(&bench.run(&[&args[..], &need, &["--json"]].concat()).expect(0, &[]));
    for (name, rate, dollar, watt, rack) in
        [("atom-330", 4500.0, 56.25, 112.5, 20), ("core2-duo", 18_000.0, 72.0, 180.0, 8)]
    {
        let one = candidate(&doc, name);
        let own = &one.capacities[0];
        assert!(one.published && own.low.is_none(), "{name}");
        near(Some(own.value), rate);
        near(own.per_price, dollar);
        near(own.per_watt, watt);
        assert_eq!(one.boxes_per_rack, Some(rack), "{name}");
    }
    assert!(
        doc.notes.iter().any(|note| note.contains("prints 75") && note.contains("are 72")),
        "{:?}",
        doc.notes
    );
    let text = bench.run(&[&args[..], &need].concat()).expect(0, &[]).out;
    for part in ["72.0", "56.3", "180", "20 a rack, by power", "prints 75"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

fn bought<'d>(doc: &'d DecideDoc, name: &str) -> &'d BoughtDoc {
    doc.equal_price.iter().find(|one| one.candidate == name).expect("it is bought")
}

#[test]
fn the_study_of_2010_at_equal_price() {
    let bench = Bench::new();
    let sides = ["xeon-e5620", "opteron-6134"];
    // Four threads, with all channels of memory.
    let need = "mem-bandwidth 100GB/s op=read threads=4 channels=all";
    let args = ["decide", "--need", need, "--from", sides[0], sides[1], "--utilisation", "100%"];
    let run = |more: &[&str]| {
        document(&bench.run(&[&args[..], more, &["--no-report", "--json"]].concat()).expect(0, &[]))
    };
    // 40 nodes at 2000 to 2500 dollars.
    let doc = run(&["--equal-price", "90000"]);
    for name in sides {
        let (one, bought) = (candidate(&doc, name), bought(&doc, name));
        assert_eq!(bought.boxes, 40, "{name}");
        let price = one.price.as_ref().expect("the study's band");
        assert_eq!((price.low, price.high), (Some(2000.0), Some(2500.0)));
        assert!(price.from.contains("ramcloud-eval-2010"), "{}", price.from);
        near(bought.does[0].as_ref().and_then(|does| does.value), 40.0 * one.capacities[0].value);
    }
    // Eight large boxes for the money of sixteen small ones.
    let priced = ["--price", "opteron-6134=4500", "--price", "xeon-e5620=2250", "--equal-price", "36000"];
    let doc = run(&priced);
    for (name, boxes) in [("opteron-6134", 8), ("xeon-e5620", 16)] {
        assert_eq!(bought(&doc, name).boxes, boxes, "{name}");
        let total = bought(&doc, name).does[0].as_ref().and_then(|does| does.value);
        near(total, boxes as f64 * candidate(&doc, name).capacities[0].value);
    }
}

/// Two planted boxes: b does twice the work of a.
fn planted() -> Bench {
    let bench = Bench::new();
    for (label, median, seeds) in [("small", 1e9, 1..5), ("large", 2e9, 11..15)] {
        for seed in seeds {
            bench.world(&format!(
                r#"{{"seed": {seed}, "series": [{{"instrument": "*", "median": {median}, "spread": 0.01, "between": 0.01}}]}}"#
            ));
            bench
                .run(&["run", "crc32c", "--quick", "--no-report", "--fake", "world.json", "--label", label])
                .expect(0, &[]);
        }
    }
    bench
}

const NEED: &str = "crc32c 70GB/s impl=fast size=16KiB threads=1";

#[test]
fn the_cheapest_of_planted_boxes_is_chosen_and_a_change_is_told() {
    let bench = planted();
    let args = |small: &str, large: &str| {
        let (small, large) = (format!("small={small}"), format!("large={large}"));
        let words = ["decide", "--need", NEED, "--from", "small", "large", "--utilisation", "100%"];
        let money = ["--currency", "EUR", "--price", &small, "--price", &large];
        [&words[..], &money].concat().iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let run = |args: &[String], more: &[&str]| {
        let words: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        bench.run(&words)
    };
    let cheap_large = args("100", "150");
    let said = run(&cheap_large, &["--json"]).expect(0, &[]);
    let doc = document(&said);
    let first = &doc.candidates[0];
    assert_eq!((first.name.as_str(), doc.currency.as_deref()), ("large", Some("EUR")));
    assert!((35..=40).contains(&first.boxes.total), "{:?}", first.boxes);
    assert!(first.cheapest.expect("a probability") > 0.99);
    assert!(first.capacities[0].low.is_some_and(|low| low < 2e9));
    // The page stands beside the store, and says the same.
    let pages = glob::glob(&bench.path("decide-*.html").display().to_string()).expect("a pattern");
    let page = pages.flatten().next().expect("a page");
    let html = std::fs::read_to_string(page).expect("a page");
    assert!(html.contains("What would change the answer") && html.contains("Cost against demand"));
    // The same seed gives the same bytes.
    assert_eq!(run(&cheap_large, &["--json"]).out, said.out);
    std::fs::write(bench.path("decided.json"), &said.out).expect("written");
    let against = ["--fail-on", "changed", "--against", "decided.json"];
    run(&cheap_large, &against).expect(0, &[]);
    run(&args("100", "400"), &against).expect(3, &["changed: ", "of small, before ", "of large"]);
    let table = run(&cheap_large, &["--format", "csv"]).expect(0, &[]).out;
    assert_eq!(table.lines().count(), 3, "{table}");
    let text = run(&cheap_large, &["--budget", "2000", "--spare", "n+1"]).expect(0, &[]).out;
    assert!(text.contains("2,000 EUR buys") && text.lines().count() <= 40, "{text}");
}

#[test]
fn two_runs_of_one_machine_are_two_candidates() {
    let bench = planted();
    let args = ["decide", "--need", NEED, "--no-report", "--json", "--from", "latest", "latest~1"];
    let doc = document(&bench.run(&args).expect(0, &[]));
    let names: Vec<&str> = doc.candidates.iter().map(|one| one.name.as_str()).collect();
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    for one in &doc.candidates {
        let run = &one.capacities[0].runs[0];
        assert!(one.name.split_once('@').is_some_and(|(_, id)| run.starts_with(id)), "{names:?}: {run}");
    }
    // The same run twice is one.
    let doc = document(&bench.run(&[&args[..], &["latest"]].concat()).expect(0, &[]));
    assert_eq!(doc.candidates.len(), 2);
}

#[test]
fn a_name_of_machines_of_unlike_prices_is_refused() {
    let bench = Bench::new();
    bench.world(
        r#"{"seed": 1, "series": [{"instrument": "*", "machine": "big", "median": 2e9, "spread": 0.01},
            {"instrument": "*", "median": 1e9, "spread": 0.01}]}"#,
    );
    let program = env!("CARGO_BIN_EXE_boxscore");
    let (big, small) = (format!("big={program}"), format!("small={program}"));
    let study = ["run", "crc32c", "--quick", "--no-report", "--fake", "world.json", "--label", "page"];
    let boxes = ["--via", &big, "--via", &small, "--price", "big=0.19/h", "--price", "small=0.08/h"];
    bench.run(&[&study[..], &boxes].concat()).expect(0, &[]);
    let decide = ["decide", "--need", NEED, "--no-report"];
    let words =
        ["page names runs of big (0.19 USD/h) and of small (0.08 USD/h)", "hint: name each by itself"];
    bench.run(&[&decide[..], &["--from", "page"]].concat()).expect(2, &words);
    // Each by itself, and at one price.
    bench.run(&[&decide[..], &["--from", "big", "small"]].concat()).expect(0, &[]);
    bench.run(&[&decide[..], &["--from", "page", "--price", "page=0.1/h"]].concat()).expect(0, &[]);
}

#[test]
fn a_file_of_a_decision_says_the_same_as_the_options() {
    let bench = planted();
    std::fs::write(
        bench.path("prices.csv"),
        "name,price,currency,watts,source,date\nsmall,100,EUR,50,list,2020-01-01\nlarge,0.02/h,EUR,,,\n",
    )
    .expect("written");
    let file = format!(
        "need = '{NEED}'\nfrom = [\"small\", \"large\"]\nlife = \"3y\"\nkwh = \"0.20..0.40\"\nprices = \"prices.csv\"\n"
    );
    std::fs::write(bench.path("plan.toml"), &file).expect("written");
    let doc = document(&bench.run(&["decide", "plan.toml", "--no-report", "--json"]).expect(0, &[]));
    let kwh = doc.inputs.iter().find(|input| input.name == "energy price").expect("an input");
    assert_eq!((kwh.shown.as_str(), kwh.from.as_str()), ("0.20 to 0.40 EUR/kWh", "plan.toml"));
    let small = candidate(&doc, "small").price.clone().expect("a price");
    assert!(small.is_stale && small.from == "prices.csv (2020-01-01, list)", "{small:?}");
    assert!(
        doc.notes.iter().any(|note| note.contains("older than") && note.contains("2020-01-01")),
        "{:?}",
        doc.notes
    );
    std::fs::write(bench.path("plan.toml"), file.replace("need =", "nead =")).expect("written");
    bench
        .run(&["decide", "plan.toml"])
        .expect(2, &["plan.toml:1: unknown key `nead`", "did you mean `need`?"]);
}

#[test]
fn what_cannot_be_decided_says_why() {
    let bench = planted();
    let cases: [(&[&str], i32, &[&str]); 10] = [
        (&["--need", "web 10/s p98<1ms", "--from", "small"], 2, &["p98<1ms", "hint"]),
        (
            &["--need", NEED, "--from", "smal"],
            1,
            &["no run, label, machine or file is called `smal`", "`small`"],
        ),
        (&["--need", NEED, "--from", "nothing-*"], 2, &["nothing-*"]),
        (&["--need", NEED, "--from", "small", "--price", "-5"], 2, &["--price -5: not a price above 0"]),
        (&["--need", NEED, "--from", "small", "--price", "other=5"], 2, &["no side is called `other`"]),
        (&["--need", NEED, "--from", "small", "--prices", "none.csv"], 1, &["none.csv"]),
        (&["--need", NEED, "--from", "small", "--utilisation", "120%"], 2, &["--utilisation 120%"]),
        (&["--need", NEED, "--from", "small", "--growth", "900%/day"], 2, &["--growth 900%/day"]),
        (&["--need", NEED, "--from", "small", "--accept", "drfit"], 2, &["--accept drfit"]),
        (
            &["--need", NEED, "--from", "small", "--fail-on", "changed", "--against", "none.json"],
            1,
            &["none.json"],
        ),
    ];
    for (more, code, says) in cases {
        bench.run(&[&["decide", "--no-report"], more].concat()).expect(code, says);
    }
    // A need that nobody measured: no figure, and the command that would measure it.
    let said = bench.run(&["decide", "--need", "kv 10/s", "--from", "small", "--no-report"]).expect(1, &[]);
    assert!(said.out.contains("x small, kv") && said.out.contains("boxscore run"), "{}", said.out);
    let said = bench.run(&["decide", "--need", "spark terasort 1TB/h", "--from", "small", "--no-report"]);
    let plain = said.expect(1, &[]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("nobody measured spark terasort: no instrument is called spark"), "{plain}");
    assert!(plain.contains("`boxscore run --cmd 'spark terasort'"), "{plain}");
    let said = bench.run(&["decide", "--need", "kv", "--from", "small", "--json"]).expect(2, &[]);
    let error: ErrorDoc = serde_json::from_str(&said.out).expect("a document");
    assert!(error.message.contains("no demand"), "{error:?}");
}

#[test]
fn a_logs_busiest_quarter_hour_is_the_demand() {
    let bench = Bench::new();
    let mut log = String::new();
    for hour in 0..24 {
        // 20:15 has 1800 requests, the others one a minute.
        for minute in 0..60 {
            let busy = if hour == 20 && (15..30).contains(&minute) { 120 } else { 1 };
            for at in 0..busy {
                let second = at % 60;
                let _ = writeln!(
                    log,
                    "10.0.0.1 - - [01/May/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET /a HTTP/1.1\" 200 512 \"-\" \"x\""
                );
            }
        }
    }
    std::fs::write(bench.path("a.log"), log).expect("written");
    let args = ["decide", "--need", "logs a.log", "--from", "atom-330", "--no-report", "--json"];
    // A published figure does not say of which requests it is: the commands that measure those of the log are told.
    let doc = document(&bench.run(&args).expect(1, &[]));
    let need = &doc.needs[0];
    let command = doc.excluded[0].command.clone().expect("a command");
    assert_eq!(command, "boxscore logs a.log --profile-out mix.json && boxscore run web --mix mix.json");
    near(Some(need.demand), 2.0);
    assert_eq!(need.from, "the busiest quarter hour of a.log (2026-05-01 20:15)");
    assert!(doc.notes.iter().any(|note| note.contains("hours is that of a.log")), "{:?}", doc.notes);
    // So many times as much, of the requests that are no bot's: the mix is theirs.
    let many = ["decide", "--need", "logs a.log x3 bot=no", "--from", "atom-330", "--no-report", "--json"];
    let doc = document(&bench.run(&many).expect(1, &[]));
    near(Some(doc.needs[0].demand), 6.0);
    let command = doc.excluded[0].command.clone().expect("a command");
    assert!(
        command.starts_with("boxscore logs a.log --where bot=no --profile-out mix.json && "),
        "{command}"
    );
    // A mix says its busiest step.
    bench.run(&["logs", "a.log", "--no-store", "--profile-out", "mix.json"]).expect(0, &[]);
    let doc = document(
        &bench
            .run(&["decide", "--need", "mix.json", "--from", "atom-330", "--no-report", "--json"])
            .expect(1, &[]),
    );
    near(Some(doc.needs[0].demand), 2.0);
    assert!(doc.needs[0].from.contains("mix.json"), "{}", doc.needs[0].from);
    // A log whose requests cannot be made again says so, and no command that would fail.
    let heads = std::fs::read_to_string(bench.path("a.log")).expect("a log").replace("GET", "HEAD");
    std::fs::write(bench.path("heads.log"), heads).expect("written");
    let args = ["decide", "--need", "logs heads.log", "--from", "atom-330", "--no-report", "--json"];
    let doc = document(&bench.run(&args).expect(1, &[]));
    let note = "heads.log: no mix can be made of these requests: no answer with a body has a size";
    assert!(doc.notes.iter().any(|own| own == note), "{:?}", doc.notes);
    let excluded = &doc.excluded[0];
    assert!(excluded.why.ends_with("; no mix can be made of these requests"), "{}", excluded.why);
    assert_eq!(excluded.command, None);
}

#[test]
fn watts_are_those_of_the_power_curve_at_the_load() {
    let bench = Bench::new();
    let level = |level: &str, watts: u32| {
        format!(
            r#"{{"instrument": "power", "metric": "watts", "params": {{"level": "{level}"}}, "median": {watts}}}"#
        )
    };
    let levels =
        [("idle", 20), ("25", 30), ("50", 40), ("75", 50), ("100", 60)].map(|(at, watts)| level(at, watts));
    bench.world(&format!(
        r#"{{"seed": 3, "series": [{}, {{"instrument": "*", "median": 1e9, "spread": 0.01}}]}}"#,
        levels.join(", ")
    ));
    let run = [
        "run",
        "power",
        "crc32c",
        "--quick",
        "--watts-cmd",
        "echo 50",
        "--no-report",
        "--fake",
        "world.json",
    ];
    bench.run(&[&run[..], &["--label", "curved"]].concat()).expect(0, &[]);
    let args = [
        "decide",
        "--need",
        NEED,
        "--from",
        "curved",
        "--price",
        "100",
        "--kwh",
        "0.3",
        "--no-report",
        "--json",
    ];
    let doc = document(&bench.run(&args).expect(0, &[]));
    let one = candidate(&doc, "curved");
    let watts = one.watts.clone().expect("a curve");
    assert!(
        watts.from.starts_with("the power curve of run ") && watts.from.ends_with("(command)"),
        "{watts:?}"
    );
    assert_eq!(watts.shown, "20.0 W idle, 60.0 W at saturation");
    let each = one.total_watts.expect("watts") / one.boxes.total as f64;
    let load = one.boxes.utilisation.expect("of a rate");
    assert!((each - (20.0 + 40.0 * load)).abs() < 0.2, "{each} W at {load}");
    // What is typed goes before the curve.
    let doc = document(&bench.run(&[&args[..], &["--watts", "curved=80"]].concat()).expect(0, &[]));
    assert_eq!(candidate(&doc, "curved").watts.as_ref().map(|watts| watts.from.as_str()), Some("--watts"));
}

/// Planted rates of so many boxes together, four runs each.
fn together(bench: &Bench, label: &str, median: f64, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        bench.world(&format!(
            r#"{{"seed": {seed}, "series": [{{"instrument": "*", "median": {median}, "spread": 0.01, "between": 0.005}}]}}"#
        ));
        let run = ["run", "crc32c", "--quick", "--no-report", "--fake", "world.json", "--label", label];
        bench.run(&run).expect(0, &[]);
    }
}

#[test]
fn what_several_boxes_did_together_says_how_they_scale() {
    let bench = Bench::new();
    // n / (1 + 0.05 (n - 1)).
    for (boxes, seed) in [(1.0, 1), (2.0, 11), (4.0, 21), (8.0, 31)] {
        let rate = 1e9 * boxes / (1.0 + 0.05 * (boxes - 1.0));
        together(&bench, &format!("on-{boxes}"), rate, seed..seed + 4);
    }
    let need = "crc32c 3.6GB/s impl=fast size=16KiB threads=1";
    // As sure as not: four runs of each leave the law wide.
    let used = ["--utilisation", "100%", "--sure", "50%", "--no-report"];
    let args = [&["decide", "--need", need, "--from", "on-1"][..], &used].concat();
    let run = |more: &[&str]| bench.run(&[&args[..], more].concat());
    let linear = document(&run(&["--json"]).expect(0, &[]));
    let basis = |doc: &DecideDoc| doc.scaling.as_ref().map(|scaling| scaling.basis);
    assert_eq!(basis(&linear), Some(ScalingBasis::Assumed));
    let plain = run(&[]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("scaling assumed linear"), "{plain}");
    let sides = ["--scaling", "1=on-1", "2=on-2", "4=on-4", "8=on-8"];
    let doc = document(&run(&[&sides[..], &["--json"]].concat()).expect(0, &[]));
    let scaling = doc.scaling.as_ref().expect("a law");
    assert_eq!((scaling.basis, scaling.points.len()), (ScalingBasis::Measured, 4));
    assert!(scaling.contention_low < Some(0.05) && scaling.contention_high > Some(0.05), "{scaling:?}");
    // 3.6 = n / (1 + 0.05 (n - 1)) has n = 4.17.
    let (few, many) = (candidate(&linear, "on-1").boxes.needed, candidate(&doc, "on-1").boxes.needed);
    assert!(few == 4 && (5..=6).contains(&many), "{few} {many}");
    assert!(
        doc.notes.iter().any(|note| note.starts_with(&format!("{many} of on-1 are taken to do "))),
        "{:?}",
        doc.notes
    );
    let stated = run(&["--scaling", "0.05", "--all"]).expect(0, &[]).out;
    let stated = stated.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stated.contains("scaling contention 0.0500, coherence 0, stated"), "{stated}");
    let never = run(&["--scaling", "0.3"]).expect(1, &[]).out;
    let never = never.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        never.contains("by what several boxes lose together, no number of them does the work"),
        "{never}"
    );
    run(&["--scaling", "1.5"]).expect(2, &["--scaling 1.5: not a loss"]);
    run(&["--scaling", "1=on-1", "2=on-2"]).expect(2, &["--scaling 1=on-1", "hint"]);
    let words = ["decide", "--need", "web 10/s p99<20ms", "--from", "on-1", "--no-report"];
    let said = bench.run(&[&words[..], &sides].concat()).expect(2, &["on-1: no run of it measured web"]);
    assert!(said.err.contains("boxscore run web --slo p99=20ms"), "{}", said.err);
}

#[test]
fn circuits_are_counted_beside_racks() {
    let bench = Bench::new();
    let sides = ["atom-330", "core2-duo"];
    let args = ["decide", "--need", "web 180000/s", "--from", sides[0], sides[1], "--no-report"];
    let more = ["--circuit", "120V/20A", "--per-circuit", "100/month", "--rack-watts", "800"];
    let said = bench.run(&[&args[..], &more, &["--all"]].concat()).expect(0, &[]);
    let plain = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("circuit 120 V, 20 A: 1,920 W, 80 % of it"), "{}", said.out);
    let doc = document(&bench.run(&[&args[..], &more, &["--json"]].concat()).expect(0, &[]));
    for (name, per_rack, per_circuit) in [("atom-330", 20, 48), ("core2-duo", 8, 19)] {
        let one = candidate(&doc, name);
        assert_eq!(
            (one.boxes_per_rack, one.boxes_per_circuit),
            (Some(per_rack), Some(per_circuit)),
            "{name}"
        );
        // A rack has fewer boxes than a circuit feeds, and one circuit of its own.
        assert_eq!(one.circuits, one.racks, "{name}");
        let cost = one.cost.as_ref().expect("the study's price");
        near(cost.circuits, one.circuits.expect("circuits") as f64 * 100.0 * 48.0);
    }
    let words = ["--per-circuit", "100/month"];
    bench.run(&[&args[..], &words].concat()).expect(2, &["no circuit is said", "--circuit 230V/16A"]);
}

#[test]
fn a_side_without_a_knee_is_left_out_with_the_command_that_measures_it() {
    let bench = Bench::new();
    let args =
        ["decide", "--need", "web 18000/s", "--from", "atom-330", "--utilisation", "knee", "--no-report"];
    let said = bench.run(&args).expect(1, &[]);
    let words = "no run of it has a curve of web with a knee, at which it is to be used: on atom-330 `boxscore run web` measures it";
    let plain = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(words), "{}", said.out);
    let args =
        ["decide", "--need", "memory 1TiB", "--from", "atom-330", "--utilisation", "knee", "--no-report"];
    bench.run(&args).expect(2, &["only loads have curves with a knee"]);
}

#[test]
fn a_command_for_a_machine_that_was_imported_says_where_it_runs() {
    let far = Bench::new();
    far.world(
        r#"{"seed": 1, "machines": {"north": {}}, "series": [{"instrument": "*", "median": 1e9, "spread": 0.01}]}"#,
    );
    let via = format!("north={PROGRAM}");
    let north = ["--via", via.as_str(), "--fake", "world.json"];
    far.run(&[&["run", "crc32c", "--quick", "--no-report"], &north[..]].concat()).expect(0, &[]);
    std::fs::write(far.path("north.json"), far.run(&["export", "--all"]).expect(0, &[]).out)
        .expect("written");
    let desk = Bench::new();
    desk.run(&["import", &far.path("north.json").display().to_string()]).expect(0, &["1 added"]);
    let args = ["decide", "--need", "kv 10/s", "--from", "north", "--no-report"];
    let doc = document(&desk.run(&[&args[..], &["--json"]].concat()).expect(1, &[]));
    let one = &doc.excluded[0];
    assert_eq!(one.on.as_deref(), Some("north"));
    let command = one.command.as_deref().expect("a command");
    assert!(command.starts_with("boxscore run kv-load") && !command.contains("--via"), "{command}");
    let plain = desk.run(&args).expect(1, &[]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&format!("on north `{command}` measures it")), "{plain}");
}

#[test]
fn a_price_without_its_hour_is_told_as_one_to_buy() {
    let bench = planted();
    let args = ["decide", "--need", NEED, "--from", "small", "--price", "0.1", "--no-report"];
    let text = bench.run(&args).expect(0, &[]).out;
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in
        ["price of small 0.1 USD to buy (--price)", "is read as one to buy a box; rent is written 0.1/h"]
    {
        assert!(plain.contains(says), "{says}: {text}");
    }
}
