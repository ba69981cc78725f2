//! `boxscore logs` answers an operator: rates, failures and when, who asked; one value for one figure; flags first.

use std::fmt::Write as _;

use crate::common::Bench;
use model::doc::{CompareDoc, LogsDoc, RunDoc, VerdictWord};

const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36";
const GOOGLE: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/// A day of 4 requests a minute, of which /cart fails for 20 minutes from 14:00 on, and one in 40 is of a scanner that
/// finds nothing; `us` is the time of most.
fn shop(us: u64) -> String {
    let mut text = String::new();
    for n in 0..5_760u64 {
        let (minute, second) = (n / 4, n % 4 * 15);
        let is_down = (840..860).contains(&minute) && n % 4 == 1;
        let (path, status, client) = match n % 40 {
            _ if is_down => ("/cart".to_owned(), 502, format!("10.0.0.{}", n % 5)),
            7 => (format!("/wp-{}.php", n % 3), 404, "203.0.113.9".to_owned()),
            _ => (format!("/p/{}", n % 90), 200, format!("10.0.{}.{}", n % 7, n % 200)),
        };
        let agent = if n % 10 == 3 { GOOGLE } else { CHROME };
        let referer = match n % 8 {
            0 | 1 => "https://shop.example/",
            2 => "https://www.search.example/?q=x",
            _ => "-",
        };
        let (hour, minute) = (minute / 60, minute % 60);
        let time = us + n * 37 % 500 + if n % 100 == 0 { 50_000 } else { 0 };
        writeln!(
            text,
            "{client} - - [23/Nov/2026:{hour:02}:{minute:02}:{second:02} +0100] \"GET {path} HTTP/1.1\" {status} 1000 \
             \"{referer}\" \"{agent}\" {time}"
        )
        .unwrap();
    }
    text
}

fn doc(bench: &Bench, args: &[&str]) -> LogsDoc {
    let said = bench.run(&[&["logs"], args, &["--json"]].concat()).expect(0, &[]);
    serde_json::from_str(said.out.lines().last().filter(|_| args.contains(&"--follow")).unwrap_or(&said.out))
        .unwrap()
}

#[test]
fn an_operator_is_answered_first() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), shop(2_000)).unwrap();
    let all = doc(&bench, &["shop=a.log", "--no-store"]);
    let says = "shop: 5,760 requests in 1 d, 0.0667/s on average, 0.0667/s in the busiest hour (Mon 00:00); 0.3 % \
                failed with 5xx, all 20 for /cart, all in one episode, Mon 14:00 to 14:20; 99 % of answers, 5xx too, within ";
    assert!(all.summary[0].starts_with(says), "{}", all.summary[0]);
    let answers = all.labels[0].answers.as_deref().unwrap();
    let server = answers.server_errors.as_ref().unwrap();
    assert_eq!((server.requests, server.paths.top[0].name.as_str(), server.paths.others), (20, "/cart", 0));
    assert_eq!((server.clients.distinct, server.clients.top[0].requests), (Some(5), 4));
    let client = answers.client_errors.as_ref().unwrap();
    assert_eq!((client.requests, client.paths.distinct, client.episode), (144, Some(3), None));
    assert_eq!((client.clients.top[0].name.as_str(), client.clients.top[0].requests), ("203.0.113.9", 144));
    let agents = answers.agents.as_ref().unwrap();
    assert_eq!((agents.requests, agents.bots, agents.top_bots.top[0].name.as_str()), (5_760, 576, GOOGLE));
    let referrers = answers.referrers.as_ref().unwrap();
    assert_eq!((referrers.own.as_deref(), referrers.own_requests), (Some("shop.example"), 1_440));
    assert_eq!(
        (referrers.top.top[0].name.as_str(), referrers.top.top[0].requests),
        ("www.search.example", 720)
    );
    assert_eq!((answers.busiest_second.unwrap().requests, answers.busiest_minute.unwrap().requests), (1, 4));
    assert!(answers.missing.is_empty() && answers.zone == 3600, "{:?}", answers.missing);
    let rows = &answers.over_time.rows;
    assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 5_760);
    assert_eq!(rows.iter().map(|row| row.3).sum::<u64>(), 20);

    let mut command = bench.command(&["logs", "shop=a.log", "--no-store"]);
    let said = String::from_utf8(command.env("COLUMNS", "80").output().unwrap().stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!((24..=44).contains(&lines.len()), "{} lines\n{said}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{said}");
    assert!(
        said.starts_with("shop: 5,760 requests in 1 d,") && said.matches("shop: 5,760").count() == 2,
        "{said}"
    );
    for part in [
        "5xx: 20 (0.3 %)",
        "4xx: 144 (2.5 %)",
        "/cart ",
        "203.0.113.9",
        "bots      10 %",
        "Chrome on Windows 90 %",
    ] {
        assert!(said.contains(part), "no {part} in\n{said}");
    }
}

#[test]
fn several_labels_are_answered_as_they_are_compared() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), shop(2_000)).unwrap();
    std::fs::write(bench.path("b.log"), shop(2_800)).unwrap();
    let all = doc(&bench, &["fast=a.log", "slow=b.log"]);
    let compared: CompareDoc =
        serde_json::from_str(&bench.run(&["compare", "fast", "slow", "--json"]).expect(0, &[]).out).unwrap();
    // What failed is told first.
    let failed = |label, mean, other| {
        format!(
            "{label}: from Mon 14:00 to 14:20 20 of 20 requests for /cart failed with 5xx after {mean} ms on average \
             ({other}: 20 of 20); outside of that none."
        )
    };
    assert_eq!(all.summary[..2], [failed("fast", "2.24", "slow"), failed("slow", "3.04", "fast")]);
    assert!(all.summary[2].starts_with("slow serves the same requests"), "{:?}", all.summary);
    assert_eq!(compared.paragraph.lead, all.summary.join(" "));
    let said = bench.run(&["logs", "fast=a.log", "slow=b.log"]).expect(0, &[]);
    assert!(said.out.starts_with("fast: from Mon 14:00") && !said.out.contains("times ("), "{}", said.out);
    // One figure has one value: of the log, of the stored run, and beside another.
    let run = |name: &str| -> RunDoc {
        serde_json::from_str(&bench.run(&["show", name, "--json"]).expect(0, &[]).out).unwrap()
    };
    for label in &all.labels {
        let shown = run(&label.label);
        let figure =
            |metric: &str| shown.series.iter().find(|series| series.metric == metric).unwrap().median;
        assert_eq!((figure("time.p99"), figure("ratio_of_totals")), (label.p99, label.ratio_of_totals));
        assert_eq!((figure("time.mean"), figure("time.p50")), (label.time_mean, label.p50));
        assert_eq!(shown.log.as_ref().unwrap().sentence, label.answers.as_ref().unwrap().sentence);
        let episode = |failed: &Option<model::doc::FailedDoc>| failed.as_ref().unwrap().episode;
        let of = label.answers.as_ref().unwrap();
        assert_eq!(episode(&shown.log.as_ref().unwrap().server_errors), episode(&of.server_errors));
    }
    let hours: CompareDoc =
        serde_json::from_str(&bench.run(&["compare", "fast", "slow", "--all", "--json"]).expect(0, &[]).out)
            .unwrap();
    let p99 = hours.rows.iter().find(|row| row.metric == "time.p99").unwrap();
    assert_eq!((p99.base_value, p99.arm_value), (all.labels[0].p99, all.labels[1].p99));
    bench.run(&["report", "fast", "-o", "one.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("one.html")).unwrap();
    for part in [
        "fast: 5,760 requests in 1 d",
        "20 failed with 5xx",
        "203.0.113.9",
        "came from bots",
        "www.search.example",
    ] {
        assert!(page.contains(part), "no {part} in the report");
    }
}

#[test]
fn flags_are_refused_before_a_line_is_read() {
    let bench = Bench::new();
    // There is no such log: who reads first fails with another code.
    bench
        .run(&["logs", "a=no.log", "b=no.log", "--profile-out", "m.json"])
        .expect(2, &["a mix is of one label", "a, b"]);
    bench
        .run(&["logs", "no.log", "--out", "no/such/a.agg"])
        .expect(1, &["--out: no/such/a.agg: there is no such folder"]);
    bench.run(&["logs", "no.log", "--profile-out", "."]).expect(1, &["--profile-out: .: that is a folder"]);
    let twice = ["logs", "x=no.log", "x after=no.log", "--cut", "2026-11-23 12:00"];
    bench.run(&twice).expect(2, &["x after is a label already"]);
    assert!(!bench.store().exists());
}

#[test]
fn a_log_without_times_is_told_what_to_log() {
    let bench = Bench::new();
    let line = "10.0.0.1 - - [23/Nov/2026:12:00:00 +0000] \"GET /a HTTP/1.1\" 200 10 \"-\" \"x\"\n";
    std::fs::write(bench.path("a.log"), line.repeat(30)).unwrap();
    let said = bench.run(&["logs", "a.log", "--no-store"]).expect(0, &[]);
    // Whole, however long: they are to be pasted.
    for part in [
        "log_format timed '$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\" $request_time';\n",
        "LogFormat \"%h %l %u %t \\\"%r\\\" %>s %B \\\"%{Referer}i\\\" \\\"%{User-Agent}i\\\" %D\" timed\n",
        "missing   times (no line says how long its request took)",
    ] {
        assert!(said.out.contains(part), "no {part} in\n{}", said.out);
    }
    let all = doc(&bench, &["a.log", "--no-store"]);
    assert_eq!(all.log_format.iter().map(|one| one.server.as_str()).collect::<Vec<_>>(), ["nginx", "Apache"]);
    // A status that no line tells is missing, and not 0.
    std::fs::write(bench.path("bare.log"), "10.0.0.1 12\n".repeat(30)).unwrap();
    let bare = doc(&bench, &["bare.log", "--format", "%h %B", "--no-store"]);
    let answers = bare.labels[0].answers.as_deref().unwrap();
    assert!(answers.client_errors.is_none() && answers.rate.is_none() && answers.agents.is_none());
    let missing: Vec<&str> = answers.missing.iter().map(|missing| missing.what.as_str()).collect();
    assert!(missing.contains(&"statuses") && missing.contains(&"programs and bots"), "{missing:?}");
}

#[test]
fn following_keeps_the_failures() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), shop(2_000)).unwrap();
    let all = doc(&bench, &["a.log", "--follow", "--for", "1s", "--every", "500ms", "--no-store"]);
    let answers = all.labels[0].answers.as_deref().unwrap();
    assert_eq!(answers.server_errors.as_ref().unwrap().requests, 20);
    assert_eq!(answers.client_errors.as_ref().unwrap().requests, 144);
    let mut read = doc(&bench, &["a.log", "--no-store"]);
    read.formats.clone_from(&all.formats);
    // The one figure that takes a second reading.
    let failed = read.labels[0].answers.as_mut().unwrap().server_errors.as_mut().unwrap();
    let outage = failed.outage.take().unwrap();
    assert_eq!((outage.path.as_str(), outage.failed, outage.requests), ("/cart", 20, 20));
    assert!(all == read);
}

#[test]
fn odd_lines_reach_no_terminal_as_they_are() {
    let bench = Bench::new();
    let mut text = shop(2_000).into_bytes();
    text.extend(vec![b'x'; 1 << 20]);
    text.push(b'\n');
    text.extend((0..60_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8));
    text.push(b'\n');
    let evil = "203.0.113.77 - - [23/Nov/2026:23:59:59 +0100] \"GET /\u{1b}[2J HTTP/1.1\" 500 10 \"http://\u{1b}[31m/\" \"\u{7}evil\" 5\n";
    text.extend(evil.repeat(90).bytes());
    std::fs::write(bench.path("a.log"), text).unwrap();
    for more in [&[][..], &["--all"]] {
        let said = bench.run(&[&["logs", "a.log", "--no-store"], more].concat()).expect(3, &[]);
        assert!(said.out.contains("longer than 256 KiB"), "{}", said.out);
        let odd = said.out.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert!(odd.is_none() && said.out.contains("/\u{fffd}[2J"), "{odd:?}\n{}", said.out);
    }
}

#[test]
fn keys_are_whole_in_80_columns() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), shop(2_000)).unwrap();
    std::fs::write(bench.path("b.log"), shop(2_100)).unwrap();
    for files in [&["a.log"][..], &["first-group=a.log", "second-group=b.log"]] {
        let args = [&["logs"], files, &["--by", "day,status", "--no-store"]].concat();
        let said = bench.command(&args).env("COLUMNS", "80").output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains("\n2026-11-23 200 ") && said.contains("\nday, status "), "{said}");
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    }
}

/// A day of a site, of which /download/ takes so many times as long as elsewhere; one client of many asks often.
fn site(times: u64, seed: u64) -> String {
    let mut text = String::new();
    for n in 0..17_280u64 {
        let (hour, minute, second) = (n / 720, n / 12 % 60, n % 12 * 5);
        let noise = 8_000 + (n * 7_919 + seed * 104_729) % 4_001;
        let (path, bytes, us) = match n % 4 {
            0 => ("/download/a.iso", 900_000, 2 * noise * times / 10),
            1 => ("/api/items", 1_000, noise),
            _ => ("/page/1", 8_000, noise / 2),
        };
        let client =
            if n % 20 == 3 { "203.0.113.7".to_owned() } else { format!("10.{}.{}.9", n % 199, n % 211) };
        let agent = if n % 20 == 3 { "BadBot/2.1 (+http://bad.example)" } else { CHROME };
        writeln!(
            text,
            "{client} - - [23/Nov/2026:{hour:02}:{minute:02}:{second:02} +0100] \"GET {path} HTTP/1.1\" 200 {bytes} \"-\" \
             \"{agent}\" {us}"
        )
        .unwrap();
    }
    text
}

#[test]
fn the_folder_that_differs_is_named_and_a_client_of_many_is_found() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), site(10, 1)).unwrap();
    std::fs::write(bench.path("b.log"), site(16, 2)).unwrap();
    let all = doc(&bench, &["a=a.log", "b=b.log", "--by", "client", "--top", "1"]);
    let [.., whole, slowest] = &all.summary[..] else { panic!("{:?}", all.summary) };
    assert!(
        whole.starts_with("b serves the same requests ") && whole.contains(", all of it in /download/ ("),
        "{whole}"
    );
    assert!(whole.ends_with("; the rest, taken together, ties."), "{whole}");
    // Downloads are few.
    let says = "Half of the requests take as long on both (6.00 ms); the slowest do not: 99 % within ";
    assert!(slowest.starts_with(says), "{slowest}");
    assert!(all.findings.iter().any(|finding| finding.kind() == "differs-in"));
    // Over 4,096 clients.
    assert!(all.group_count.is_some_and(|count| count > 10_000), "{:?}", all.group_count);
    assert_eq!((all.groups[0].key["client"].as_str(), all.groups[0].parsed), ("203.0.113.7", 864));
    let compared: CompareDoc =
        serde_json::from_str(&bench.run(&["compare", "a", "b", "--json"]).expect(0, &[]).out).unwrap();
    assert!(compared.findings.iter().any(|finding| finding.kind() == "differs-in"));
    assert!(all.group_rows.is_empty(), "of so many groups none is compared");
    // Each group beside its like.
    let by = ["a=a.log", "b=b.log", "--by", "prefix", "--no-store"];
    let prefixes = doc(&bench, &by);
    let word = |prefix: &str| {
        let row = prefixes.group_rows.iter().find(|row| row.params.get("prefix") == Some(prefix));
        row.map(|row| (row.verdict, row.arm.as_str(), row.base.as_str()))
    };
    assert_eq!(word("/download/"), Some((VerdictWord::Worse, "b", "a")), "{:?}", prefixes.group_rows);
    assert!(prefixes.group_rows.len() > 1 && prefixes.group_rows.len() == prefixes.groups.len() / 2);
    let said = bench.run(&[&["logs"], &by[..]].concat()).expect(0, &[]).out;
    assert!(said.contains("time beside a\n") && said.contains("  slower 60 %\n"), "{said}");
    let bots = doc(&bench, &["a=a.log", "--where", "bot=yes", "--no-store"]);
    assert_eq!((bots.labels[0].parsed, bots.labels[0].clients), (864, Some(1.0)));
}

#[test]
fn a_day_is_compared_with_the_day_before_as_if_all_lines_were_cut() {
    let bench = Bench::new();
    std::fs::write(bench.path("mon.log"), site(10, 1)).unwrap();
    std::fs::write(bench.path("tue.log"), site(16, 2).replace("23/Nov", "24/Nov")).unwrap();
    let is_told = |all: &LogsDoc, names: &str| {
        let last = all.summary.last().unwrap();
        assert!(last.starts_with(names) && last.contains(", all of it in /download/ ("), "{last}");
        let word = |prefix: &str| {
            let row = all.group_rows.iter().find(|row| row.params.get("prefix") == Some(prefix));
            row.map(|row| row.verdict)
        };
        assert_eq!(word("/download/"), Some(VerdictWord::Worse), "{:?}", all.group_rows);
        assert!(all.group_rows.len() > 1, "{:?}", all.group_rows);
        let bots = all.findings.iter().find(|finding| finding.kind() == "bots").unwrap().text();
        assert!(bots.starts_with("people and bots are compared each with their like"), "{bots}");
        all.rows.iter().map(|row| (row.metric.clone(), row.low, row.high)).collect::<Vec<_>>()
    };
    let labels = doc(&bench, &["mon=mon.log", "tue=tue.log", "--by", "prefix"]);
    let of_labels = is_told(&labels, "tue serves the same requests ");
    let cut = ["mon.log", "tue.log", "--cut", "2026-11-24 00:00", "--by", "prefix", "--no-store"];
    let of_cut = is_told(&doc(&bench, &cut), "after serves the same requests ");
    assert_eq!(of_labels.len(), of_cut.len());
    let compared: CompareDoc =
        serde_json::from_str(&bench.run(&["compare", "mon", "tue", "--json"]).expect(0, &[]).out).unwrap();
    let of_store: Vec<_> = compared
        .rows
        .iter()
        .filter(|row| row.low.is_some())
        .map(|row| (row.metric.clone(), row.low, row.high))
        .collect();
    assert_eq!(of_store, of_labels);
    let refused = [&["logs", "mon=mon.log", "tue=tue.log"], &cut[2..]].concat();
    let refused = bench.run(&refused).expect(1, &[]).err;
    assert!(refused.contains("leave the labels out: --cut makes before and after of all lines"), "{refused}");
    let export = bench.run(&["compare", "mon.log", "tue.log"]).expect(1, &[]).err;
    assert!(
        export.contains("mon.log: an access log") && export.contains("`boxscore logs mon.log`"),
        "{export}"
    );
}

#[test]
fn a_value_that_never_occurs_is_said_with_the_nearest() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), site(10, 1)).unwrap();
    let none = bench.run(&["logs", "a.log", "--no-store", "--where", "prefix=/downlod"]).expect(1, &[]);
    assert!(none.err.contains("did you mean \"/download/\"?"), "{}", none.err);
    let conditions = ["a.log", "--no-store", "--where", "agent!=BadBot", "--where", "prefix!=/api/"];
    let all = doc(&bench, &conditions);
    let said = all.findings.iter().find(|finding| finding.kind() == "no-such-value").unwrap().text();
    assert!(said.contains("did you mean \"BadBot/2.1 (+http://bad.example)\"?"), "{said}");
    let left: Vec<u64> = all.left_out.iter().map(|one| one.requests).collect();
    assert_eq!((left, all.filtered), (vec![0, 4_320], 4_320));
}

/// A day of two requests a minute, alternately of /search and of an item, of which the first takes so many us.
fn searched(search: impl Fn(u64) -> u64) -> String {
    let mut text = String::new();
    for n in 0..2_880u64 {
        let (hour, minute, second) = (n / 120, n / 2 % 60, n % 2 * 30);
        let (path, us) = match n % 2 {
            0 => ("/search?q=sofa".to_owned(), search(n / 2) + n * 37 % 900),
            _ => (format!("/item/{}", n % 90), 9_000 + n * 41 % 900),
        };
        writeln!(
            text,
            "10.0.0.{} - - [25/Nov/2026:{hour:02}:{minute:02}:{second:02} +0100] \"GET {path} HTTP/1.1\" 200 14000 \"-\" \
             \"{CHROME}\" {us}",
            n % 200
        )
        .unwrap();
    }
    text
}

#[test]
fn since_when_a_folder_is_slow_is_said_first() {
    let bench = Bench::new();
    let slow = searched(|minute| if minute < 870 { 5_000 } else { 25_000 });
    std::fs::write(bench.path("a.log"), searched(|_| 5_000)).unwrap();
    std::fs::write(bench.path("b.log"), slow).unwrap();
    let logs = ["a=a.log", "b=b.log"];
    let all = doc(&bench, &[&logs[..], &["--no-store"]].concat());
    assert!(all.summary[0].starts_with("b: /search/ takes 4."), "{:?}", all.summary);
    let ends = "times as long since Wed 14:30; a's does not; before that, the two tie.";
    assert!(all.summary[0].ends_with(ends), "{:?}", all.summary);
    let screen = bench.run(&["logs", "a=a.log", "b=b.log", "--no-store"]).expect(0, &[]);
    assert!(screen.out.starts_with("b: /search/ takes 4."), "{}", screen.out);
    assert!(!screen.out.contains("longer time"), "{}", screen.out);
    assert!(screen.out.contains("--where 'at>=2026-11-25T14:30'"), "{}", screen.out);
    let command = "try: boxscore logs a=a.log b=b.log --where 'at>=2026-11-25T14:30'";
    assert!(screen.err.contains(command), "{}", screen.err);
    // What it names is a command that works, and nothing changes after the change.
    let since = doc(&bench, &[&logs[..], &["--no-store", "--where", "at>=2026-11-25T14:30"]].concat());
    assert!(since.findings.iter().all(|finding| finding.kind() != "since"), "{:?}", since.summary);
    // One log alone says it too, of all its requests, and is not told of one that did not change.
    let alone = doc(&bench, &["b.log", "--no-store"]);
    assert!(alone.summary[0].contains("a request takes ") && alone.summary[0].contains(" since Wed 14:30."));
    assert_eq!(doc(&bench, &["a.log", "--no-store"]).summary.len(), 1);
    // Many processes say the same.
    let mapped = |file: &str, label: &str| {
        let part = bench.run(&["logs", "map", &format!("{label}={file}")]).expect(0, &[]);
        std::fs::write(bench.path(&format!("{label}.part")), part.out).unwrap();
    };
    mapped("a.log", "a");
    mapped("b.log", "b");
    let merged = bench.run(&["logs", "--merge", "a.part", "b.part", "--no-store"]).expect(0, &[]);
    assert_eq!(merged.out, screen.out);
}
