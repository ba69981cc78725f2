//! `boxscore logs` on logs that real servers wrote, beside the load engine's own record, and on planted ones.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Bench, Running, said};
use instruments::workload::guard;
use instruments::workload::server::account;
use instruments::workload::server::content::{Content, Limits, Set};
use instruments::workload::server::installed;
use instruments::workload::server::options::Options;
use instruments::workload::server::run::Server;
use model::doc::{CompareDoc, LoadDoc, LogsDoc, LogsLiveDoc, RowDoc, VerdictWord};

/// What a server logged of a load, and what the engine says of it.
fn loaded(name: &str, set: Set, options: Options, load: &[&str]) -> (LoadDoc, LogsDoc) {
    guard::set_program(crate::common::open_program());
    let bench = Bench::new();
    let dir = tempfile::Builder::new().prefix("logs").tempdir_in("/tmp").expect("a folder");
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
    let limits = Limits { mix_bytes: 1 << 20, large_bytes: 1 << 20 };
    let account = account::choose().expect("an account");
    let content = Content::make(set, 1, &limits, dir.path(), account.as_ref()).expect("content");
    let options = Options { connections: 64, access_log: true, ..options };
    let server =
        Server::start(installed::find(name).expect("a known server"), &options, &content, dir.path());
    let server = server.expect("it starts");
    let url = format!("http://{}{}", server.address(), content.items[0].path);
    let said = bench.run(&[&["load", url.as_str(), "--json"], load].concat()).expect(0, &[]);
    let pattern = format!("{}/**/access.log", dir.path().display());
    let logs: Vec<PathBuf> = glob::glob(&pattern).expect("a pattern").map(Result::unwrap).collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    let log = format!("{name}={}", logs[0].display());
    // When it starts, the server is asked once for a file of its own.
    let path = format!("path={}", content.items[0].path);
    let read = bench.run(&["logs", &log, "--where", &path, "--json"]).expect(0, &[]);
    drop(server);
    let doc =
        |text: &str| serde_json::from_str::<LogsDoc>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (serde_json::from_str(&said.out).expect("a document"), doc(&read.out))
}

/// Seconds that all requests of a load took.
fn seconds(load: &LoadDoc) -> f64 {
    load.service_time.mean.expect("a mean") * load.service_time.count as f64
}

#[test]
fn servers_logged_what_the_engine_counted() {
    for (name, format) in [("nginx", "nginx+time"), ("httpd", "common+D")] {
        let (load, logs) = loaded(name, Set::K1, Options::default(), &["-c", "8", "-n", "3000"]);
        let log = &logs.labels[0];
        assert_eq!((load.good, load.errors.len()), (3000, 0), "{load:#?}");
        assert_eq!((log.parsed, logs.skipped.len()), (3000, 0), "{log:#?}");
        assert_eq!(log.bytes, load.bytes);
        // nginx's clock may show 0 for all of them.
        assert!(log.seconds.is_some() != log.seconds_why.is_some(), "{log:#?}");
        assert!(log.seconds.unwrap_or(0.0) <= seconds(&load), "{log:#?} {load:#?}");
        assert!(
            logs.formats[0].how.starts_with("detected: ") && logs.formats[0].format == format,
            "{:?}",
            logs.formats
        );
    }
}

#[test]
fn a_planted_delay_is_in_both() {
    // 100 kB at 50 kB/s, of which the first second is given at once.
    let options = Options { limit_rate: Some(50_000), ..Options::default() };
    let (load, logs) = loaded("nginx", Set::K100, options, &["-c", "4", "-n", "8"]);
    let mean = logs.labels[0].time_mean.expect("times");
    let engine = load.service_time.mean.expect("times");
    let step = logs.formats[0].time_step.expect("nginx's step");
    assert!((step - 0.001).abs() < 1e-12, "{step}");
    // The server's time lies within the engine's. It is logged as the difference of two readings of a clock, each cut
    // to the step: the end may seem up to a step early, and so may the start, which makes the time longer by less than
    // one step. All requests may meet that alike, so that it holds of their mean, and no less would.
    assert!(mean > 0.020 && mean - step < engine, "{mean} {engine}");
    assert!(mean > engine * 0.98, "{mean} {engine}");
}

/// A day of a label: `us` is the time of a request of 1000 bytes.
fn planted(us: u64) -> String {
    let mut text = String::new();
    for n in 0..4_000u64 {
        let (hour, minute, time) = (n / 167 % 24, n * 7 % 60, us + n * 37 % 50);
        writeln!(
            text,
            "10.0.0.{} - - [01/May/2010:{hour:02}:{minute:02}:00 +0000] \"GET /{} HTTP/1.1\" 200 1000 {time}",
            n % 250,
            n % 9
        )
        .unwrap();
    }
    text
}

#[test]
fn labels_are_compared_and_stored() {
    let bench = Bench::new();
    std::fs::write(bench.path("hdd.log"), planted(2_000)).unwrap();
    std::fs::write(
        bench.path("ssd.log"),
        planted(1_000) + "10.0.0.1 - - [01/May/2010:23:59:59 +0000] \"GET /cut\n",
    )
    .unwrap();
    let said = bench.run(&["logs", "hdd=hdd.log", "ssd=ssd.log", "--json", "--by", "day"]).expect(3, &[]);
    let doc: LogsDoc = serde_json::from_str(&said.out).unwrap();
    assert_eq!((doc.lines, doc.parsed, doc.skipped[0].lines), (8001, 8000, 1));
    assert_eq!(doc.skipped[0].samples, ["ssd.log:4001"]);
    assert!(
        doc.rows.iter().all(|row| row.arm == "ssd" && row.verdict == VerdictWord::Better),
        "{:#?}",
        doc.rows
    );
    let speed = doc.rows[0].ratio.unwrap();
    assert!((1.9..2.1).contains(&speed), "{speed}");
    let expected: u64 = (0..4_000u64).map(|n| 2_000 + n * 37 % 50).sum();
    assert!((doc.labels[0].seconds.unwrap() - expected as f64 / 1e6).abs() < 1e-9);
    assert_eq!((doc.days.len(), doc.labels[0].bytes), (2, Some(4e6)));
    assert_eq!(bench.heads().len(), 2);
    // What is read again is stored once, and its run is said.
    let again = bench.run(&["logs", "hdd=hdd.log", "ssd=ssd.log", "--json"]).expect(3, &[]);
    let again: LogsDoc = serde_json::from_str(&again.out).unwrap();
    assert_eq!((bench.heads().len(), again.run), (2, doc.run));
    let text = bench.run(&["logs", "hdd=hdd.log", "ssd=ssd.log"]).expect(3, &[]);
    assert!(text.out.ends_with("stored  boxscore report hdd ssd\n"), "{}", text.out);
    let compared = bench.run(&["compare", "latest"]).expect(0, &[]);
    assert!(compared.out.contains("hdd") && compared.out.contains("better"), "{}", compared.out);
    // Hours are no repetitions: nothing is said of their scatter, and of what two of them differ by.
    bench.run(&["report", "latest~1", "latest", "-o", "report.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("report.html")).unwrap();
    assert!(page.contains("id=\"logs\""), "no section of logs");
    for other in ["id=\"noise\"", "id=\"other\"", "A/A", "scatter most", "resemble each other"] {
        assert!(!page.contains(other), "the report says {other}");
    }
}

#[test]
fn what_a_log_does_not_tell_is_missing() {
    let bench = Bench::new();
    let line = "10.0.0.1 - - [01/May/2010:10:00:00 +0000] \"GET /a HTTP/1.1\" 200";
    let json = |args: &[&str]| -> LogsDoc {
        let all = [&["logs"], args, &["--json"]].concat();
        serde_json::from_str(&bench.run(&all).expect(0, &[]).out).unwrap()
    };
    // A clock that shows nothing but 0.
    std::fs::write(bench.path("zero.log"), format!("{line} 10 0\n").repeat(200)).unwrap();
    let doc = json(&["zero.log", "--format", "common+D", "--no-store"]);
    let zero = &doc.labels[0];
    assert_eq!((zero.seconds, zero.time_mean, zero.p50, zero.bytes), (None, None, None, Some(2000.0)));
    assert!(zero.seconds_why.as_deref().unwrap().contains("too coarse"), "{zero:?}");
    assert!(doc.findings.iter().any(|finding| finding.kind() == "zero-time"), "{:?}", doc.findings);
    // No size, no time.
    std::fs::write(bench.path("bare.log"), format!("{line}\n").repeat(3)).unwrap();
    let doc = json(&["bare.log", "--format", "%h %l %u %t \"%r\" %>s", "--no-store"]);
    assert_eq!((doc.labels[0].bytes, doc.labels[0].size_mean, doc.top.len()), (None, None, 0));
    // No time of day: no hours, so no run; the store stays without one.
    std::fs::write(bench.path("timeless.log"), "200 10 5\n".repeat(3)).unwrap();
    let said =
        bench.run(&["logs", "timeless.log", "--format", "%>s %B %D"]).expect(0, &["nothing is stored"]);
    assert!(!said.out.contains(" -\n-"), "{}", said.out);
    assert_eq!(bench.heads().len(), 0);
    // Longer than is told apart.
    std::fs::write(bench.path("long.log"), format!("{line} 10 9000000000\n").repeat(200)).unwrap();
    let said = bench.run(&["logs", "long.log", "--format", "common+D", "--no-store"]).expect(0, &[]);
    let flat = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "a percentile this high is a lower bound: 200 requests took longer than 4398 s";
    assert!(flat.contains(">4,398 s") && flat.contains(says), "{}", said.out);
}

#[test]
fn what_would_mislead_is_said() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), planted(1_000)).unwrap();
    // Without the ends of lines.
    let said = |args: &[&str]| {
        let out = bench.run(&[&["logs"], args, &["--no-store"]].concat()).expect(0, &[]).out;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let shared = said(&["a=a.log", "b=./a.log"]);
    let says = "the lines of ./a.log are compared with themselves: a has the file too, there as a.log";
    assert!(shared.contains(says), "{shared}");
    std::os::unix::fs::symlink(bench.path("a.log"), bench.path("link.log")).unwrap();
    for (given, says) in [
        (["a.log", "./a.log"], "./a.log is given twice, also as a.log: each of its lines would count twice"),
        (["a=a.log", "a=a.log"], "a.log is given twice for a: each of its lines"),
        (["a=a.log", "a=link.log"], "link.log is given twice for a, also as a.log: each"),
        (["a=a.log", "a=*.log"], "a.log is given twice for a: each of its lines"),
    ] {
        for more in [&["--no-store"][..], &["--follow", "--for", "1s", "--no-store"]] {
            bench.run(&[&["logs"], &given[..], more].concat()).expect(2, &[says]);
        }
    }
    std::fs::remove_file(bench.path("link.log")).unwrap();
    let short = said(&["a.log", "--format", "%h %l %u %t \"%r\" %>s %{X}i"]);
    assert!(short.contains("the format has fewer fields"), "{short}");
    assert!(!said(&["a.log"]).contains("fewer fields"));
    let long = "/a/folder/of/a/name/that/no/terminal/has/room/for/".repeat(3);
    let line = format!("10.0.0.1 - - [01/May/2010:10:00:00 +0000] \"GET {long}x HTTP/1.1\" 200 5000 900\n");
    std::fs::write(bench.path("long.log"), line.repeat(3) + &line.replace(" 5000 ", " 9 ")).unwrap();
    let groups = said(&["long.log", "--by", "prefix:16,size-class"]);
    assert!(groups.contains(&long[..40]) && !groups.contains('…'), "{groups}");
    assert!(groups.find("<256 B") < groups.find("<16 KiB"), "{groups}");
    let narrow =
        bench.command(&["logs", "long.log", "--by", "path", "--no-store"]).env("COLUMNS", "80").output();
    let narrow = String::from_utf8(narrow.unwrap().stdout).unwrap();
    assert!(
        narrow.contains("room/for/x") && narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
}

/// Four hours of requests; `time` is what stands at the end of a line.
fn timed(time: impl Fn(u64) -> String) -> String {
    let line = |n: u64| {
        let (hour, minute, second) = (n / 1800, n / 30 % 60, n % 30 * 2);
        let at = format!("01/May/2010:{hour:02}:{minute:02}:{second:02} +0000");
        format!("10.0.0.1 - - [{at}] \"GET /{} HTTP/1.1\" 200 1000 \"-\" \"x\" {}\n", n % 9, time(n))
    };
    (0..7200).map(line).collect()
}

#[test]
fn times_that_are_too_coarse_are_no_tie() {
    let bench = Bench::new();
    let verdicts = |format: &str, a: String, b: String| {
        std::fs::write(bench.path("a.log"), a).unwrap();
        std::fs::write(bench.path("b.log"), b).unwrap();
        let args = ["logs", "a=a.log", "b=b.log", "--format", format, "--no-store"];
        let doc: LogsDoc =
            serde_json::from_str(&bench.run(&[&args[..], &["--json"]].concat()).expect(0, &[]).out).unwrap();
        let judged: Vec<VerdictWord> = doc.rows.iter().map(|row| row.verdict).collect();
        let text = bench.run(&args).expect(0, &[]).out.split_whitespace().collect::<Vec<_>>().join(" ");
        (judged, text)
    };
    use VerdictWord::{CannotTell, Tie, Worse};
    // nginx, whose times are all of one step, and of many.
    let one = |_| "0.001".to_owned();
    let (judged, text) = verdicts("nginx+time", timed(one), timed(one));
    assert_eq!(judged, [CannotTell; 2], "{text}");
    assert!(
        text.contains("b beside a: times of b are written in steps of 1.00 ms, too coarse for a mean of"),
        "{text}"
    );
    assert!(!text.contains("as fast"), "{text}");
    let many = |n: u64| format!("0.{:03}", 20 + n % 30);
    assert_eq!(verdicts("nginx+time", timed(many), timed(many)).0, [Tie; 2]);
    // What a step cannot have made stands.
    let (judged, text) = verdicts("nginx+time", timed(|_| "0.003".to_owned()), timed(|_| "0.009".to_owned()));
    assert_eq!(judged, [Worse; 2], "{text}");
    // Apache's whole seconds, most of them 0; whole milliseconds; microseconds of a clock that has milliseconds.
    let seconds = |n: u64| (n % 10 / 9).to_string();
    let (judged, text) = verdicts("combined+T", timed(seconds), timed(seconds));
    assert_eq!(judged, [CannotTell; 2], "{text}");
    assert!(text.contains("steps of 1.00 s, too coarse for a mean of 100 ms"), "{text}");
    let coarse = |n: u64| (n % 3 * 1000).to_string();
    assert_eq!(verdicts("combined+D", timed(coarse), timed(coarse)).0, [CannotTell; 2]);
    let fine = |n: u64| (1000 + n % 97).to_string();
    assert_eq!(verdicts("combined+D", timed(fine), timed(fine)).0, [Tie; 2]);
}

fn compared(bench: &Bench, args: &[&str]) -> Vec<RowDoc> {
    let said = bench.run(&[&["compare"], args, &["--json"]].concat()).expect(0, &[]);
    serde_json::from_str::<CompareDoc>(&said.out).unwrap().rows
}

#[test]
fn stored_logs_are_compared_as_logs_are() {
    let bench = Bench::new();
    // The arm is as fast as the base, and is given the large files, which take longer.
    for (label, large) in [("a", 10), ("b", 2)] {
        let mut text = String::new();
        for n in 0..6_000u64 {
            let (hour, minute) = (n / 250 % 24, n / 17 % 60);
            let (bytes, us) = if n % large == 0 { (90_000, 30_000) } else { (1_000, 1_000) };
            let us = us + n * 37 % 50 * us / 100;
            let at = format!("01/May/2010:{hour:02}:{minute:02}:00 +0000");
            writeln!(text, "::1 - - [{at}] \"GET /{bytes} HTTP/1.1\" 200 {bytes} {us}").unwrap();
        }
        std::fs::write(bench.path(&format!("{label}.log")), text).unwrap();
    }
    let both = bench.run(&["logs", "a=a.log", "b=b.log", "--json"]).expect(0, &[]);
    let both: LogsDoc = serde_json::from_str(&both.out).unwrap();
    let same = |row: &model::doc::RowDoc| (row.metric.clone(), row.ratio, row.low, row.high, row.verdict);
    let judged: Vec<_> = both.rows.iter().map(same).collect();
    assert!(judged.iter().all(|row| row.4 == VerdictWord::Tie), "{judged:#?}");
    assert_eq!(compared(&bench, &["latest"]).iter().map(same).collect::<Vec<_>>(), judged);
    // The same from two calls; a log that is read again counts once.
    std::fs::remove_file(bench.store()).unwrap();
    for log in ["a=a.log", "b=b.log", "b=b.log"] {
        bench.run(&["logs", log]).expect(0, &[]);
    }
    assert_eq!(compared(&bench, &["a", "b"]).iter().map(same).collect::<Vec<_>>(), judged);
    let hours = compared(&bench, &["a", "b", "--metric", "time.mean", "--all"]);
    assert!(
        hours.iter().all(|row| row.verdict == VerdictWord::CannotTell && row.low.is_none()),
        "{hours:#?}"
    );
    let said = bench.run(&["compare", "a", "b"]).expect(0, &[]);
    assert!(!said.out.contains("Hodges") && !said.out.contains("resemble"), "{}", said.out);
}

#[test]
fn the_first_label_is_the_base() {
    let bench = Bench::new();
    std::fs::write(bench.path("hdd.log"), planted(2_000)).unwrap();
    std::fs::write(bench.path("ssd.log"), planted(1_000)).unwrap();
    let said = bench.run(&["logs", "ssd=ssd.log", "hdd=hdd.log", "--json"]).expect(0, &[]);
    let doc: LogsDoc = serde_json::from_str(&said.out).unwrap();
    assert_eq!(doc.labels.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["ssd", "hdd"]);
    assert!(doc.rows.iter().all(|row| row.base == "ssd" && row.verdict == VerdictWord::Worse));
    // So it is of the stored runs, though the other log begins earlier.
    let early = "10.0.0.1 - - [30/Apr/2010:23:59:00 +0000] \"GET /0 HTTP/1.1\" 200 1000 2000\n".to_owned();
    std::fs::write(bench.path("hdd.log"), early + &planted(2_000)).unwrap();
    let said = bench.run(&["logs", "ssd=ssd.log", "hdd=hdd.log", "--json"]).expect(0, &[]);
    let doc: LogsDoc = serde_json::from_str(&said.out).unwrap();
    let rows = compared(&bench, &[&doc.run.unwrap()]);
    assert!(rows.iter().all(|row| row.base == "ssd" && row.arm == "hdd"), "{rows:#?}");
}

#[test]
fn a_store_that_cannot_be_used_is_said_before_reading() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), planted(1_000)).unwrap();
    std::fs::write(
        bench.store(),
        "no store at all, but a text that is long enough to be taken for one".repeat(9),
    )
    .unwrap();
    let said = bench.run(&["logs", "a.log", "--out", "a.agg"]).expect(1, &["s.db"]);
    assert!(said.out.is_empty() && !bench.path("a.agg").exists(), "{said:?}");
    let said = bench.run(&["logs", "a.log", "--out", "no/such/a.agg", "--no-store"]).expect(1, &["--out: "]);
    assert_eq!(said.err.matches("no/such/a.agg").count(), 1, "{}", said.err);
}

#[test]
fn aggregates_merge_to_what_the_logs_give() {
    let bench = Bench::new();
    for (name, us) in [("a", 900), ("b", 1_300)] {
        std::fs::write(bench.path(&format!("{name}.log")), planted(us)).unwrap();
        let (log, out) = (format!("one={name}.log"), format!("{name}.agg"));
        bench.run(&["logs", &log, "--out", &out, "--no-store"]).expect(0, &[]);
    }
    let whole = bench.run(&["logs", "one=a.log", "one=b.log", "--json", "--no-store"]).expect(0, &[]);
    let merged = bench.run(&["logs", "--merge", "b.agg", "a.agg", "--json", "--no-store"]).expect(0, &[]);
    let (mut whole, merged): (LogsDoc, LogsDoc) =
        (serde_json::from_str(&whole.out).unwrap(), serde_json::from_str(&merged.out).unwrap());
    whole.formats.clear();
    assert_eq!(whole, merged);
    std::fs::write(bench.path("c.agg"), "nothing").unwrap();
    bench.run(&["logs", "--merge", "c.agg"]).expect(1, &["c.agg", "--out"]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), planted(1_000)).unwrap();
    bench.run(&["logs", "no.log"]).expect(1, &["no.log"]);
    bench.run(&["logs", "."]).expect(1, &["directory"]);
    bench.run(&["logs", "a.log", "no.log", "--no-store"]).expect(3, &["no.log"]);
    bench.run(&["logs", "a.log", "--format", "%h %Q"]).expect(2, &["--format: column 4"]);
    bench.run(&["logs", "a.log", "--by", "colour"]).expect(2, &["--by", "colour"]);
    bench.run(&["logs", "a.log", "--where", "status?200"]).expect(2, &["--where"]);
    bench.run(&["logs"]).expect(2, &["FILE"]);
    std::fs::write(bench.path("bad.log"), "no log at all\nnor this\n").unwrap();
    bench.run(&["logs", "bad.log"]).expect(1, &["bad.log", "--format"]);
    assert!(!bench.store().exists());
}

/// Lines of now.
fn fresh(count: usize, status: u16) -> String {
    let now = Command::new("date").args(["-u", "+%d/%b/%Y:%H:%M:%S +0000"]).output().expect("date");
    let now = String::from_utf8(now.stdout).expect("text");
    let line = |n| {
        format!("10.0.0.{} - - [{}] \"GET /{n} HTTP/1.1\" {status} 1000 {}\n", n % 9, now.trim(), 900 + n)
    };
    (0..count).map(line).collect()
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("it opens");
    file.write_all(text.as_bytes()).expect("it is written");
}

/// Waits until the followed logs hold so many requests in all.
#[track_caller]
fn until_seen(running: &mut Running, requests: usize) {
    assert!(running.until(&format!("{requests} requests")), "{:?}", running.heard);
}

#[test]
fn a_growing_log_is_followed_through_rotation_and_truncation() {
    let bench = Bench::new();
    let (path, old) = (bench.path("a.log"), bench.path("a.log.1"));
    append(&path, &fresh(40, 200));
    let args = ["logs", "web=a.log", "late=b.log", "--follow", "--every", "100ms"];
    let mut running = Running::start(bench.command(&args));
    until_seen(&mut running, 40);
    append(&path, &fresh(30, 500));
    until_seen(&mut running, 70);
    std::fs::rename(&path, &old).unwrap();
    append(&old, &fresh(5, 200));
    append(&path, &fresh(6, 200));
    until_seen(&mut running, 81);
    append(&old, &fresh(4, 200));
    until_seen(&mut running, 85);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert!(running.until("truncated"), "{:?}", running.heard);
    append(&path, &fresh(3, 200));
    until_seen(&mut running, 88);
    append(&bench.path("b.log"), &fresh(25, 200));
    assert!(running.until("late: 25 requests"), "{:?}", running.heard);
    append(&path, "10.0.0.1 - - [half");
    running.signal("INT");
    let said = running.end().expect(0, &["a.log is a new file", "b.log is there now", "18 bytes of a line"]);
    assert!(said.out.contains("late") && said.out.contains("113 lines, 113 requests"), "{}", said.out);
    let mut machines: Vec<String> = bench.heads().into_iter().map(|head| head.machine).collect();
    machines.sort();
    assert_eq!(machines, ["late", "web"]);
}

#[test]
fn following_ends_in_time_and_gives_a_document_a_line() {
    let bench = Bench::new();
    append(&bench.path("a.log"), &(fresh(30, 200) + "bad\n"));
    let args = ["logs", "a.log", "--follow", "--for", "1s", "--every", "250ms", "--json", "--no-store"];
    let said = bench.run(&args).expect(3, &[]);
    let mut lines: Vec<&str> = said.out.lines().collect();
    let whole: LogsDoc = serde_json::from_str(lines.pop().expect("a result")).expect("a document");
    assert_eq!((whole.lines, whole.parsed, whole.skipped[0].lines), (31, 30, 1));
    let live: Vec<LogsLiveDoc> =
        lines.iter().map(|line| serde_json::from_str(line).expect("a document")).collect();
    let first = &live[0];
    assert!(first.backlog && first.labels[0].now.rate.is_none(), "{first:?}");
    assert!(live.len() >= 2 && live[1..].iter().all(|doc| !doc.backlog), "{live:?}");
    let read: u64 = live.iter().map(|doc| doc.labels[0].now.requests).sum();
    assert_eq!((read, live.last().unwrap().labels[0].all.requests), (30, 30));
}

#[test]
fn a_stream_is_followed_to_its_end() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), planted(1_000)).unwrap();
    let mut command = bench.command(&["logs", "-", "--follow", "--no-store", "--json"]);
    command.stdin(std::fs::File::open(bench.path("a.log")).unwrap());
    let said = said(&mut command).expect(0, &[]);
    let followed: LogsDoc = serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
    let read = bench.run(&["logs", "a.log", "--no-store", "--json"]).expect(0, &[]);
    let mut read: LogsDoc = serde_json::from_str(&read.out).unwrap();
    read.formats.clone_from(&followed.formats);
    assert_eq!(followed, read);
}

#[test]
fn what_cannot_be_followed_is_said() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log.gz"), [0x1f, 0x8b, 8, 0, 0]).unwrap();
    bench.run(&["logs", "a.log.gz", "--follow"]).expect(1, &["a.log.gz: gzip", "without --follow"]);
    bench.run(&["logs", ".", "--follow"]).expect(1, &["directory"]);
    bench
        .run(&["logs", "no.log", "--follow", "--for", "300ms", "--no-store"])
        .expect(1, &["no.log: nothing came"]);
    bench.run(&["logs", "a.log", "--for", "3s"]).expect(2, &["--follow"]);
    bench.run(&["logs", "a.log", "--follow", "--for", "x"]).expect(2, &["--for x: not a duration"]);
    assert!(!bench.store().exists());
}

#[test]
fn before_and_after_are_judged_and_said_to_be_confounded() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), crate::common::changed() + "cut\n").unwrap();
    let said = bench.run(&["logs", "a.log", "--cut", "2010-05-02 12:00", "--json"]).expect(3, &[]);
    let doc: LogsDoc = serde_json::from_str(&said.out).unwrap();
    let labels: Vec<(&str, u64)> = doc.labels.iter().map(|one| (one.label.as_str(), one.parsed)).collect();
    assert_eq!(labels, [("before", 6_480), ("after", 4_320)]);
    assert_eq!((doc.lines, doc.parsed, doc.skipped[0].lines), (10_801, 10_800, 1));
    let row = &doc.rows[0];
    assert_eq!((row.arm.as_str(), row.base.as_str(), row.verdict), ("after", "before", VerdictWord::Better));
    assert!((1.9..2.1).contains(&row.ratio.unwrap()), "{row:?}");
    let cut = doc.cut.unwrap();
    assert_eq!((cut.sides[0].at, cut.undated), (1_272_794_400, 0));
    let kinds: Vec<&str> = doc.findings.iter().map(|finding| finding.kind()).collect();
    assert!(kinds.contains(&"time-confounded") && !kinds.contains(&"hours"), "{kinds:?}");
    assert_eq!(bench.heads().len(), 2);
    let outside = ["from 2010-05-01 00:00:00 +0200 to 2010-05-03 11:59:40 +0200"];
    bench.run(&["logs", "a.log", "--cut", "01/Jun/2010:00:00:00 +0200"]).expect(1, &outside);
    bench.run(&["logs", "a.log", "--cut", "noon"]).expect(2, &["--cut: \"noon\" is no time"]);
}

#[test]
fn a_machine_stands_beside_its_requests() {
    guard::set_program(crate::common::open_program());
    let bench = Bench::new();
    let dir = tempfile::Builder::new().prefix("beside").tempdir_in("/tmp").expect("a folder");
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
    let limits = Limits { mix_bytes: 1 << 20, large_bytes: 1 << 20 };
    let account = account::choose().expect("an account");
    let content = Content::make(Set::K1, 1, &limits, dir.path(), account.as_ref()).expect("content");
    let options = Options { connections: 64, access_log: true, ..Options::default() };
    let server =
        Server::start(installed::find("nginx").expect("it is known"), &options, &content, dir.path());
    let server = server.expect("it starts");
    let url = format!("http://{}{}", server.address(), content.items[0].path);
    let recording = Running::start(bench.command(&["run", "telemetry", "--for", "3s", "--label", "tel"]));
    bench.run(&["load", &url, "--rate", "100", "-c", "4", "-d", "5", "--json"]).expect(0, &[]);
    recording.end().expect(0, &[]);
    let pattern = format!("{}/**/access.log", dir.path().display());
    let log = glob::glob(&pattern).expect("a pattern").next().expect("a log").expect("its path");
    let log = log.display().to_string();
    let said = bench.run(&["logs", &log, "--telemetry", "tel", "--json", "--no-store"]).expect(0, &[]);
    let doc: LogsDoc = serde_json::from_str(&said.out).unwrap();
    let beside = &doc.beside[0];
    let mean = beside.mean.as_ref().expect("a common time");
    assert!(beside.step == Some(1.0) && mean.seconds >= 1.0 && mean.samples >= 1, "{beside:?}");
    assert!(mean.requests > 0 && mean.requests <= doc.labels[0].parsed, "{beside:?}");
    assert_eq!(beside.rows.iter().map(|row| row.requests).sum::<u64>(), mean.requests);
    for figure in [mean.load, mean.cpu, mean.memory_used, mean.page_cache] {
        assert!(figure.is_some_and(|figure| figure >= 0.0), "{beside:?}");
    }
    assert!(doc.findings.iter().any(|finding| finding.kind() == "clocks"), "{:?}", doc.findings);
    let said = bench.run(&["logs", &log, "--telemetry", "tel", "--no-store"]).expect(0, &[]);
    assert!(said.out.contains("meanwhile") && said.out.contains("cache"), "{}", said.out);
    // A log of another time.
    std::fs::write(bench.path("old.log"), planted(1_000)).unwrap();
    let said = bench.run(&["logs", "old.log", "--telemetry", "tel", "--json", "--no-store"]).expect(3, &[]);
    let doc: LogsDoc = serde_json::from_str(&said.out).unwrap();
    let why = doc.beside[0].why.as_deref().expect("a reason");
    assert!(
        why.contains("from 2010-05-01 00:00:00 to 2010-05-01 23:59:") && doc.beside[0].rows.is_empty(),
        "{why}"
    );
    bench.run(&["logs", "old.log", "--telemetry", "x=tel"]).expect(2, &["no log has the label x"]);
    bench.run(&["logs", "a=old.log", "b=old.log", "--telemetry", "tel"]).expect(2, &["several labels"]);
    bench.run(&["logs", "old.log", "--telemetry", "none"]).expect(1, &["none"]);
    drop(server);
}
