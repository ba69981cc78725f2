//! The 2010 study of Apache on SSD and HDD: its published table out of logs that have its means.
//!
//! Sizes in B, times in us, speeds in B/us (1 MB/s). The study's logs are not there; these are made so that the means
//! of size, of time and of each request's own speed are the published ones, with one request for 10,000 of the study's.
//! What the study did not publish (how sizes and times are spread) is chosen: a tenth of the requests comes from memory
//! in a hundredth of the time, which the published means ask for.

use std::fmt::Write;

use crate::common::Bench;
use model::doc::{LogsDoc, TrafficDoc, VerdictWord};

/// One machine on one day, as published.
#[derive(Clone, Copy)]
struct Day {
    label: &'static str,
    day: u32,
    speed: f64,
    time: f64,
    size: f64,
    files: u64,
}

const STUDY: [Day; 4] = [
    Day {
        label: "hdd",
        day: 1,
        speed: 12.233_71,
        time: 24_674.277_63,
        size: 7_702.666_78,
        files: 14_987_023,
    },
    Day {
        label: "ssd",
        day: 1,
        speed: 24.275_63,
        time: 13_908.684_85,
        size: 7_683.716_85,
        files: 14_983_388,
    },
    // On the second day the balancer gave the SSD machine twice the requests.
    Day {
        label: "hdd",
        day: 2,
        speed: 11.104_00,
        time: 26_001.082_15,
        size: 7_829.478_65,
        files: 10_758_116,
    },
    Day {
        label: "ssd",
        day: 2,
        speed: 23.764_47,
        time: 13_107.958_22,
        size: 7_839.918_39,
        files: 21_522_835,
    },
];
const SCALE: u64 = 10_000;
/// Every so many requests one is answered from memory.
const CACHED: usize = 10;

/// How far the means may be off for rounding to whole requests, B and us.
const SIZE: f64 = 0.001;
const TIME: f64 = 0.001;
const SPEED: f64 = 0.000_2;

impl Day {
    /// Sizes and times of its requests, in the order of time.
    fn requests(&self) -> Vec<(u64, u64)> {
        let n = (self.files / SCALE) as usize;
        let is_cached = |i: usize| i % CACHED == 3;
        let cached = (0..n).filter(|i| is_cached(*i)).count();
        // The disk's requests have hardly any part in the mean of speeds: so much is left for the cached ones.
        let slow = self.time * n as f64 / (n - cached) as f64;
        let left = self.speed * n as f64 - (n - cached) as f64 * self.size / slow;
        let fast = (self.size * cached as f64 / left).round().max(1.0) as u64;
        let mut all: Vec<(u64, u64)> = (0..n)
            .map(|i| {
                // From a half to three halves of the mean, the same for both kinds.
                let share = 0.5 + ((i / CACHED * 7 + i) % 101) as f64 / 100.0;
                let time = if is_cached(i) { fast } else { (slow * share) as u64 };
                ((self.size * share) as u64, time)
            })
            .collect();
        let places: Vec<usize> = (0..n).filter(|i| !is_cached(*i)).collect();
        let owed = |mean: f64, sum: u64| (mean * n as f64).round() as i64 - sum as i64;
        let (bytes, time) = (
            owed(self.size, all.iter().map(|one| one.0).sum()),
            owed(self.time, all.iter().map(|one| one.1).sum()),
        );
        spread(bytes, &places, |at, by| all[at].0 = (all[at].0 as i64 + by) as u64);
        spread(time, &places, |at, by| all[at].1 = (all[at].1 as i64 + by) as u64);
        self.level(&mut all, fast, is_cached);
        all
    }

    /// Moves bytes between requests from disk and memory until the mean of speeds is right; no sum changes.
    fn level(&self, all: &mut [(u64, u64)], fast: u64, is_cached: impl Fn(usize) -> bool) {
        let speed = |all: &[(u64, u64)]| all.iter().map(|one| one.0 as f64 / one.1 as f64).sum::<f64>();
        let n = all.len();
        for i in (0..n - 1).filter(|i| is_cached(*i)) {
            let owed = (self.speed * n as f64 - speed(all)) * fast as f64;
            let room = all[i].0.min(all[i + 1].0) as f64 / 2.0;
            let moved = owed.clamp(-room, room).round() as i64;
            all[i].0 = (all[i].0 as i64 + moved) as u64;
            all[i + 1].0 = (all[i + 1].0 as i64 - moved) as u64;
        }
    }

    fn lines(&self) -> String {
        let (all, mut text) = (self.requests(), String::new());
        for (i, (bytes, time)) in all.iter().enumerate() {
            let at = i * 86_400 / all.len();
            let (hour, minute, second) = (at / 3600, at / 60 % 60, at % 60);
            writeln!(
                text,
                "10.0.{}.{} - - [0{}/May/2010:{hour:02}:{minute:02}:{second:02} +0000] \"GET /photos/{}.jpg HTTP/1.1\" \
                 200 {bytes} {time}",
                i % 7,
                i % 250,
                self.day,
                i % 97,
            )
            .unwrap();
        }
        text
    }
}

/// Shares an amount out over places, whole and evenly.
fn spread(amount: i64, places: &[usize], mut add: impl FnMut(usize, i64)) {
    let n = places.len() as i64;
    for (turn, at) in (0..n).zip(places) {
        add(*at, amount.div_euclid(n) + i64::from(turn < amount.rem_euclid(n)));
    }
}

fn written() -> Bench {
    let bench = Bench::new();
    for label in ["hdd", "ssd"] {
        let text: String = STUDY.iter().filter(|day| day.label == label).map(Day::lines).collect();
        std::fs::write(bench.path(&format!("{label}.log")), text).unwrap();
    }
    bench
}

fn near(found: Option<f64>, published: f64, off: f64, what: &str) {
    assert!(found.is_some_and(|found| (found - published).abs() <= off), "{what}: {found:?} for {published}");
}

#[test]
fn the_published_table_comes_out_of_logs_with_its_means() {
    let bench = written();
    let args = ["logs", "hdd=hdd.log", "ssd=ssd.log", "--by", "day", "--no-store", "--json"];
    let doc: LogsDoc = serde_json::from_str(&bench.run(&args).expect(0, &[]).out).unwrap();
    assert_eq!(doc.days.len(), 4);
    for (published, found) in STUDY.iter().zip(&doc.days) {
        let name = format!("{} 2010-05-0{}", published.label, published.day);
        assert_eq!(format!("{} {}", found.label, found.key["day"]), name);
        assert_eq!(found.parsed, published.files / SCALE, "{name}");
        near(found.mean_of_ratios.map(|speed| speed / 1e6), published.speed, SPEED, &name);
        near(found.time_mean.map(|time| time * 1e6), published.time, TIME, &name);
        near(found.size_mean, published.size, SIZE, &name);
        near(found.ratio_of_totals.map(|speed| speed / 1e6), published.size / published.time, 1e-6, &name);
    }
    // The SSD machine's first day: 24.3 B/us is the mean of the requests' own speeds, 0.55 that of the totals.
    let first: &TrafficDoc = &doc.days[1];
    near(first.ratio_of_totals, 0.552_44e6, 10.0, "ratio of totals");
    for label in ["hdd", "ssd"] {
        let note = doc
            .findings
            .iter()
            .find(|note| note.kind() == "means" && note.subject.to_string() == label)
            .unwrap();
        assert!(note.text().contains("the mean of per-request speeds is"), "{note:?}");
    }
    for row in &doc.rows {
        assert_eq!((row.arm.as_str(), row.base.as_str()), ("ssd", "hdd"));
        // Two days that differ may be two episodes: two are too few for an interval.
        match row.verdict {
            VerdictWord::Better => assert!(row.low < row.ratio && row.ratio < row.high, "{row:#?}"),
            _ => assert!(
                row.verdict == VerdictWord::CannotTell && row.why.to_string().contains("one episode"),
                "{row:#?}"
            ),
        }
    }
    assert!(doc.rows.iter().any(|row| row.verdict == VerdictWord::Better), "{:#?}", doc.rows);
    let kinds: Vec<&str> = doc.findings.iter().map(|note| note.kind()).collect();
    assert!(!kinds.contains(&"size-mix") && !kinds.contains(&"status-mix"), "{kinds:?}");
    assert!(kinds.contains(&"request-counts"), "{kinds:?}");
}

#[test]
fn the_screen_shows_the_table_the_verdict_and_the_note() {
    let bench = written();
    let said = bench.run(&["logs", "hdd=hdd.log", "ssd=ssd.log", "--by", "day", "--no-store"]).expect(0, &[]);
    let has = |line: &str| assert!(said.out.contains(line), "no `{line}` in\n{}", said.out);
    has("day         label  requests  mean speed  of totals  mean time    p99  mean size  time beside hdd\n");
    has("2010-05-01  hdd       1,498   12.2 MB/s   312 kB/s    24.7 ms  41 ms   7.52 KiB\n");
    has("2010-05-01  ssd       1,498   24.3 MB/s   552 kB/s    13.9 ms  23 ms   7.50 KiB  faster 44 %\n");
    has("2010-05-02  hdd       1,075   11.1 MB/s   301 kB/s    26.0 ms  43 ms   7.65 KiB\n");
    has(
        "2010-05-02  ssd       2,152   23.8 MB/s   598 kB/s    13.1 ms  22 ms   7.66 KiB  faster 46 to 53 %\n",
    );
    has("- ssd beside hdd, speed: spans of time that both served: the difference may be\n");
    has("one episode: neighbouring spans of time resemble each other so much that all");
    assert!(said.out.starts_with("ssd takes "), "{}", said.out);
    assert!(said.out.contains("less time for a request than hdd"), "{}", said.out);
    let all = ["logs", "hdd=hdd.log", "ssd=ssd.log", "--by", "day", "--no-store", "--all"];
    let said = bench.run(&all).expect(0, &[]);
    let means = "ok ssd: the mean of per-request speeds is 24.0 MB/s, 41.4 times the speed of the\n";
    assert!(said.out.contains(means), "{}", said.out);
}
