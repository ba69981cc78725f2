//! What stays of `boxscore logs --cut` and `--telemetry` with the stored runs: `compare`, `show` and `report` say and
//! draw what `logs` said.

use std::fmt::Write as _;

use crate::common::Bench;
use model::data::{Origin, RunData, RunHead, Status};
use model::doc::{BesideDoc, CompareDoc, HistoryDoc, LogsDoc, RowDoc, RunDoc, VerdictWord};
use model::frame::Segment;
use model::plan::{Plan, Takes};
use model::{Fact, Finding, Unit};
use store::{Mode, Store};

const GIB: f64 = 1_073_741_824.0;
/// 2010-05-01 00:00 UTC.
const DAY: i64 = 1_272_672_000;

fn json<T: serde::de::DeserializeOwned>(bench: &Bench, code: i32, args: &[&str]) -> T {
    let said = bench.run(&[args, &["--json"]].concat()).expect(code, &[]);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}

/// What a row says, whichever verb says it.
fn told(row: &RowDoc) -> (String, String, String, Option<f64>, Option<f64>, Option<f64>, VerdictWord) {
    (row.metric.clone(), row.arm.clone(), row.base.clone(), row.ratio, row.low, row.high, row.verdict)
}

fn of_kind(findings: &[Finding], kind: &str) -> Vec<String> {
    findings.iter().filter(|finding| finding.kind() == kind).map(|finding| finding.text()).collect()
}

#[test]
fn a_cut_is_judged_from_the_store() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), crate::common::changed()).unwrap();
    let logs: LogsDoc = json(&bench, 0, &["logs", "web=a.log", "--cut", "2010-05-02 12:00"]);
    assert!(logs.rows.iter().all(|row| row.verdict == VerdictWord::Better), "{:#?}", logs.rows);
    let run = logs.run.expect("it is stored");
    let compared: CompareDoc = json(&bench, 0, &["compare", &run]);
    assert_eq!(
        compared.rows.iter().map(told).collect::<Vec<_>>(),
        logs.rows.iter().map(told).collect::<Vec<_>>()
    );
    for kind in ["time-confounded", "cut-blocks"] {
        let said = of_kind(&compared.findings, kind);
        assert!(said.len() == 1 && said == of_kind(&logs.findings, kind), "{kind}: {said:?}");
    }
    // The same moment given anew is the same reading; another one is not.
    json::<LogsDoc>(&bench, 0, &["logs", "web=a.log", "--cut", "2010-05-02 12:00"]);
    assert_eq!(bench.heads().len(), 2);
    let text = bench.run(&["logs", "web=a.log", "--cut", "2010-05-02 12:00"]).expect(0, &[]).out;
    assert!(text.ends_with("stored  boxscore report 'web before' 'web after'\n"), "{text}");
    let text = bench.run(&["compare", "web before", "web after"]).expect(0, &[]).out;
    assert!(text.contains("better") && text.contains("share no time"), "{text}");
    // The later side may be the base.
    let turned: CompareDoc = json(&bench, 0, &["compare", "web after", "web before"]);
    assert!(turned.rows.iter().all(|row| row.verdict == VerdictWord::Worse), "{:#?}", turned.rows);
    let shown: RunDoc = json(&bench, 0, &["show", &run]);
    let side = shown.logs_side.expect("a side");
    assert_eq!(
        (side.label.as_str(), side.given.as_str(), side.at),
        ("web", "2010-05-02 12:00", 1_272_794_400)
    );
    assert_eq!(side.side, "before");
    assert_eq!(shown.command, "boxscore logs web=FILE --cut '2010-05-02 12:00'");
    let text = bench.run(&["show", &run]).expect(0, &[]).out;
    assert!(
        text.contains("web was cut at 2010-05-02 12:00") && text.contains("36 periods a figure"),
        "{text}"
    );
    bench.run(&["report", "web before", "web after", "-o", "report.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("report.html")).unwrap();
    let said = ["cut 2010-05-02 12:00</text>", "web after serves the same requests at", "share no time"];
    for said in said.iter().chain(&["Before and after a moment share no hour"]) {
        assert!(page.contains(said), "the report does not say: {said}");
    }
}

/// A day of telemetry, a sample a minute, of a machine whose page cache holds so much.
fn recorded(name: &str, cache: f64, read: f64) -> RunData {
    let minutes = 0..1440u64;
    let segment = |source: &str, columns: &[(&str, &str)], row: &dyn Fn(u64) -> Vec<Option<f64>>| Segment {
        source: source.to_owned(),
        columns: columns.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect(),
        at_ns: minutes.clone().map(|minute| minute * 60_000_000_000).collect(),
        rows: minutes.clone().map(row).collect(),
    };
    let wave = |minute: u64| (minute as f64 / 1440.0 * std::f64::consts::TAU).sin();
    let head = RunHead {
        id: format!("0192{:028x}", name.as_bytes()[0]),
        study: format!("0193{:028x}", name.as_bytes()[0]),
        status: Status::Complete,
        machine_id: format!("machine {name}"),
        machine: format!("db-{name}"),
        label: Some(format!("tel-{name}")),
        started_ns: DAY * 1_000_000_000,
        seconds: Some(86_400.0),
        build: "b".to_owned(),
        config_class: String::new(),
        price: None,
        watts: None,
        takes: 0,
        faults: 0,
        measured: 0,
        hidden: false,
    };
    RunData {
        head,
        origin: Origin { hostname: format!("{name}.example"), build: "b".to_owned(), ..Origin::default() },
        clock_offsets: Vec::new(),
        plan: Plan { telemetry_only: true, ..Plan::bare(Vec::new(), Takes::Fixed(1)) }.into(),
        facts: vec![Fact::number("memory.bytes", 8.0 * GIB, Unit::Byte, "planted")],
        series: Vec::new(),
        takes: Vec::new(),
        notes: Vec::new(),
        telemetry: vec![
            segment("scheduler", &[("load-1min", "")], &|minute| vec![Some(1.5 + wave(minute))]),
            segment("cpu-use", &[("idle{cpu=all}", ""), ("iowait{cpu=all}", "")], &|minute| {
                vec![Some(0.6 - 0.2 * wave(minute)), Some(0.1)]
            }),
            segment("disk-use", &[("read{disk=sda}", "B/s")], &|minute| {
                vec![Some(read * (1.0 + 0.5 * wave(minute)))]
            }),
            segment("memory-use", &[("available", "B"), ("cached", "B")], &|_| {
                vec![Some(6.5 * GIB), Some(cache)]
            }),
        ],
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: None,
    }
}

/// A day of a label: `us` is the time of a request of 1000 bytes.
fn day(us: u64) -> String {
    let mut text = String::new();
    for n in 0..8_640u64 {
        let (second, time) = (n * 10, us + n * 37 % 50);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let at = format!("01/May/2010:{hour:02}:{minute:02}:{second:02} +0000");
        writeln!(text, "10.0.0.1 - - [{at}] \"GET /{} HTTP/1.1\" 200 1000 {time}", n % 9).unwrap();
    }
    text
}

#[test]
fn what_machines_did_meanwhile_stays_with_the_runs() {
    let bench = Bench::new();
    let machines = [recorded("hdd", 6.0 * GIB, 2e6), recorded("ssd", 1.2 * GIB, 30e6)];
    Store::open(&bench.store(), Mode::Create)
        .expect("a store")
        .import(&machines, &[])
        .expect("they are stored");
    for (name, us) in [("hdd", 2_000), ("ssd", 1_000)] {
        std::fs::write(bench.path(&format!("{name}.log")), day(us)).unwrap();
    }
    let args =
        ["logs", "hdd=hdd.log", "ssd=ssd.log", "--telemetry", "hdd=tel-hdd", "--telemetry", "ssd=tel-ssd"];
    let logs: LogsDoc = json(&bench, 0, &args);
    let cache = "the page cache may make the difference: ssd's page cache is smaller than hdd's, 1.20 GiB beside 6.00 GiB; its \
                 disks read 30.0 MB/s, the others 2.00 MB/s";
    assert_eq!(of_kind(&logs.findings, "page-cache"), [cache]);
    let first = &logs.beside[0];
    assert_eq!(
        (first.step, first.rows.len(), first.host.as_deref()),
        (Some(3600.0), 24, Some("hdd.example"))
    );
    // 1000 B in 2.0245 ms.
    let speed = first.mean.as_ref().and_then(|mean| mean.speed).expect("a speed");
    assert!((speed - 1000.0 / 2.0245e-3).abs() < 1000.0, "{speed}");
    let compared: CompareDoc = json(&bench, 0, &["compare", "ssd", "hdd"]);
    let swapped: Vec<&BesideDoc> = logs.beside.iter().rev().collect();
    assert_eq!(compared.beside.iter().collect::<Vec<_>>(), swapped);
    let cache = of_kind(&compared.findings, "page-cache");
    let says =
        "the page cache may make the difference: hdd's page cache is larger than ssd's, 6.00 GiB beside 1.20";
    assert!(cache[0].starts_with(says), "{cache:?}");
    assert!(compared.findings.iter().any(|finding| finding.kind() == "clocks"), "{:?}", compared.findings);
    let text = bench.run(&["compare", "hdd", "ssd"]).expect(0, &[]).out;
    assert!(text.contains("meanwhile ") && text.contains("page cache is smaller"), "{text}");
    assert!(!text.contains("05-01 13:00"), "{text}");
    let text = bench.run(&["compare", "hdd", "ssd", "--all"]).expect(0, &[]).out;
    assert!(text.contains("05-01 13:00"), "{text}");
    let text = bench.run(&["show", "ssd"]).expect(0, &[]).out;
    let is_short = text.contains("meanwhile ") && text.contains("1.20 GiB") && text.lines().count() <= 40;
    assert!(is_short && text.contains("shortened to fit: telemetry step by step"), "{text}");
    let text = bench.run(&["show", "ssd", "--all"]).expect(0, &[]).out;
    assert!(
        text.contains("meanwhile ") && text.contains("05-01 13:00") && text.contains("1.20 GiB"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    bench.run(&["report", "hdd", "ssd", "-o", "report.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("report.html")).unwrap().replace('\u{a0}', " ");
    for said in [
        "What the machines did meanwhile",
        "The page cache holds 6.00 GiB (hdd) and 1.20 GiB (ssd)",
        "Disks read 2.00 MB/s (hdd) and 30.0 MB/s (ssd)",
        "page cache is smaller than hdd",
        "of db-hdd, recorded from 2010-05-01 00:00",
    ] {
        assert!(page.contains(said), "the report does not say: {said}");
    }
    // The run that recorded need not be there any more.
    bench.run(&["export", "ssd", "-o", "ssd.json"]).expect(0, &[]);
    std::fs::remove_file(bench.store()).unwrap();
    let alone: RunDoc = json(&bench, 0, &["show", "ssd.json"]);
    assert_eq!(alone.beside.as_ref(), logs.beside.last());
}

#[test]
fn either_side_of_a_cut_has_its_own_machine() {
    let bench = Bench::new();
    Store::open(&bench.store(), Mode::Create)
        .expect("a store")
        .import(&[recorded("hdd", 6.0 * GIB, 2e6)], &[])
        .expect("it is stored");
    // The log goes on for a day and a half after the samples end.
    std::fs::write(bench.path("a.log"), crate::common::changed()).unwrap();
    let args = ["logs", "a.log", "--telemetry", "tel-hdd", "--cut"];
    let logs: LogsDoc = json(&bench, 0, &[&args[..], &["2010-05-01 14:00"]].concat());
    let labels: Vec<&str> = logs.beside.iter().map(|doc| doc.label.as_str()).collect();
    assert_eq!(labels, ["before", "after"]);
    assert!(logs.beside.iter().all(|doc| doc.step.is_some()), "{:?}", logs.beside);
    let rows = |doc: &BesideDoc| doc.rows.iter().map(|row| row.requests).sum::<u64>();
    // 12 of the first side's 14 hours, and 12 of the second's but its last minute, which no whole bucket covers: the
    // log's clock is two hours ahead.
    assert_eq!(logs.beside.iter().map(rows).collect::<Vec<_>>(), [2160, 2157]);
    // After the end of the samples: one side has none, and none is stored with it.
    let logs: LogsDoc = json(&bench, 0, &[&args[..], &["2010-05-02 12:00"]].concat());
    assert!(logs.beside[1].why.as_deref().is_some_and(|why| why.starts_with("no time in common")));
    let compared: CompareDoc = json(&bench, 0, &["compare", &logs.run.expect("it is stored")]);
    assert_eq!(compared.beside.len(), 1);
}

#[test]
fn history_tells_the_true_span_of_a_log() {
    let bench = Bench::new();
    let line = |n: u64| {
        let (minute, second) = (49 + n / 60, n % 60);
        format!("::1 - - [01/May/2010:10:{minute:02}:{second:02} +0000] \"GET / HTTP/1.1\" 200 10 900\n")
    };
    std::fs::write(bench.path("a.log"), (5..605).map(line).collect::<String>()).unwrap();
    bench.run(&["logs", "a.log"]).expect(0, &[]);
    let history: HistoryDoc = json(&bench, 0, &["history"]);
    assert_eq!((history.runs[0].started, history.runs[0].seconds), ((DAY + 38_945) as f64, Some(600.0)));
    let text = bench.run(&["history"]).expect(0, &[]).out;
    assert!(text.contains("2010-05-01 10:49") && text.contains("10 min") && !text.contains("1 h"), "{text}");
}

/// A day of a server that may fail for 20 minutes, after 30 s each.
fn day_with_outage(us: u64, fails: bool) -> String {
    let line = |n: u64| {
        let (hour, minute) = (n / 240, n / 4 % 60);
        let is_out = fails && hour == 14 && minute < 20 && n.is_multiple_of(4);
        let (status, size, us) =
            if is_out { (503, 190, 30_000_000) } else { (200, 5000 + n % 7, us + n * 37 % 100) };
        format!(
            "10.0.0.{} - - [17/Nov/2026:{hour:02}:{minute:02}:{:02} +0000] \"GET /cart HTTP/1.1\" {status} {size} {us}\n",
            n % 9,
            n % 4 * 15
        )
    };
    (0..5760).map(line).collect()
}

#[test]
fn an_outage_is_told_and_hides_no_difference() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), day_with_outage(1_000, false)).unwrap();
    std::fs::write(bench.path("b.log"), day_with_outage(1_300, true)).unwrap();
    let words = |args: &[&str]| {
        let out = bench.run(args).expect(0, &[]).out;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let outage = "b: from Tue 14:00 to 14:20 20 of 80 requests for /cart failed with 5xx after 30.0 s on average (a: 0 of \
                  80); outside of that none.";
    for text in [words(&["logs", "a=a.log", "b=b.log"]), words(&["compare", "a", "b"])] {
        assert!(text.starts_with(outage) && text.contains("b serves the same requests"), "{text}");
        assert!(!text.contains("cannot be told"), "{text}");
    }
    // A cut and a condition end no outage.
    for zoom in
        [["--cut", "2026-11-17 14:00"], ["--where", "at>=2026-11-17T14:00"], ["--where", "status>=500"]]
    {
        let said = words(&[&["logs", "a=a.log", "b=b.log", "--no-store"][..], &zoom].concat());
        assert!(said.contains("from Tue 14:00 to 14:20 20 of 80 requests for /cart"), "{said}");
        assert!(!said.contains("what was read"), "{said}");
    }
    let half = words(&["logs", "a=a.log", "b=b.log", "--no-store", "--where", "at>=2026-11-17T14:10"]);
    assert!(
        half.starts_with("b: 10 requests (0.4 %) failed with 5xx after 30.0 s on average, all 10 for /cart"),
        "{half}"
    );
    // What is filtered is stored as such, beside the whole logs.
    let filtered = words(&["logs", "a=a.log", "b=b.log", "--where", "status<500"]);
    assert!(filtered.contains("b where status<500: 5,740 requests"), "{filtered}");
    assert_eq!(bench.heads().len(), 4);
    assert!(words(&["compare", "a", "b"]).starts_with(outage));
    let compared = words(&["compare", "a where status<500", "b where status<500"]);
    assert!(compared.starts_with("b where status<500 serves the same requests"), "{compared}");
    bench.run(&["compare", "a", "b where status<500"]).expect(1, &["differ in where"]);
    assert!(words(&["history"]).contains("where status<500"));
    bench.run(&["logs", "a.log", "--where", "status=999"]).expect(1, &["none of the 5,760 requests fits"]);
}
