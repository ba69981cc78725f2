//! `boxscore decide` end to end: what the studies decided, planted boxes, a log's demand, and what is refused.

use std::fmt::Write as _;

use model::doc::{BoughtDoc, CandidateDoc, DecideDoc, ErrorDoc};

use crate::common::{Bench, Said};

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
