//! Aggregates are the same whatever the order and the pieces; and they are right.

use proptest::prelude::*;

use super::file::{FileError, Labels};
use super::filter::Filter;
use super::groups::MOST_GROUPS;
use super::paths::By;
use super::*;
use crate::format::Format;
use crate::hash;
use crate::scan::{Record, Scanner, Skip};

/// A line made of few numbers; some are skipped.
fn line(n: u64) -> String {
    let (hour, minute) = (n % 24, n * 7 % 60);
    let zone = if n.is_multiple_of(5) { "+0545" } else { "-0700" };
    let bytes = if n.is_multiple_of(11) { "-".to_owned() } else { (n * n % 3_000_000).to_string() };
    let time = if n.is_multiple_of(13) { "0".to_owned() } else { (n * 37 % 900_000).to_string() };
    let status = [200, 200, 304, 404, 500][(n % 5) as usize];
    let path = n % 40;
    let referer = ["-", "https://www.example.com/a", "http://other.org"][(n % 3) as usize];
    let agent = ["-", "Firefox", "Googlebot/2.1", "curl/8"][(n % 4) as usize];
    match n % 17 {
        3 => String::new(),
        4 => format!("cut {n}"),
        _ => format!(
            "10.0.{}.1 - - [{:02}/Oct/2023:{hour:02}:{minute:02}:00 {zone}] \"GET /p{path}/x?{n} HTTP/1.1\" {status} {bytes} \
             \"{referer}\" \"{agent}\" {time}",
            n % 50,
            1 + n % 28
        ),
    }
}

fn settings() -> Settings {
    let filters = vec![Filter::parse("status!=500").unwrap()];
    Settings { group_by: vec![Key::Prefix(1), Key::StatusClass], filters, mix: true, folders: true }
}

/// The aggregate of the lines with these numbers; line `n` stands at `100 n` of its file.
fn of(lines: &[u64], settings: &Settings) -> Aggregate {
    let format = Format::parse("combined+D").unwrap();
    let mut scanner = Scanner::new(&format);
    let (mut all, mut skipped) = (Aggregate::default(), Skips::default());
    let mut writer = Writer::new(&mut all, settings);
    for &n in lines {
        let text = line(n);
        match scanner.read(text.as_bytes()) {
            Ok(record) => _ = writer.add(&Record { offset: n * 100, ..record }),
            Err(skip) => {
                let mut skips = Skips::default();
                skips.add(skip, n, text.as_bytes());
                skipped.merge(&skips.settle("x.log", 0));
            }
        }
    }
    drop(writer);
    all.add_skips(&skipped);
    all
}

fn bytes(of: &Aggregate) -> Vec<u8> {
    postcard::to_stdvec(of).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_order_and_any_pieces_give_the_same_bytes(
        count in 1u64..600,
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        shuffle in any::<u64>(),
    ) {
        let settings = settings();
        let lines: Vec<u64> = (0..count).collect();
        let whole = bytes(&of(&lines, &settings));
        let mut shuffled = lines.clone();
        shuffled.sort_by_key(|n| hash::mix(*n, shuffle));
        prop_assert!(bytes(&of(&shuffled, &settings)) == whole, "another order of lines");
        let mut borders: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len())).collect();
        borders.extend([0, lines.len()]);
        borders.sort_unstable();
        let mut parts: Vec<Aggregate> = borders.windows(2).map(|w| of(&shuffled[w[0]..w[1]], &settings)).collect();
        let mut forward = Aggregate::default();
        parts.iter().for_each(|part| forward.merge(part));
        prop_assert!(bytes(&forward) == whole, "merged forward");
        let mut back = Aggregate::default();
        // What was stored and read again merges as what was not.
        parts.iter().rev().for_each(|part| back.merge(&postcard::from_bytes(&bytes(part)).unwrap()));
        prop_assert!(bytes(&back) == whole, "stored, merged backward");
        while parts.len() > 1 {
            let last = parts.pop().unwrap();
            parts.last_mut().unwrap().merge(&last);
        }
        prop_assert!(bytes(&parts[0]) == whole, "merged as a tree");
    }
}

#[test]
fn lines_add_up_and_sums_are_those_of_the_lines() {
    let lines: Vec<u64> = (0..5000).collect();
    let all = of(&lines, &Settings::default());
    let texts: Vec<String> = lines.iter().map(|n| line(*n)).filter(|text| text.len() > 20).collect();
    let field = |text: &str, back: usize| text.rsplit(' ').nth(back).unwrap().parse::<u64>().unwrap_or(0);
    let totals = all.totals();
    assert_eq!((all.lines, all.parsed, totals.requests), (5000, texts.len() as u64, texts.len() as u64));
    assert_eq!(all.skips.count(Skip::Empty) + all.skips.count(Skip::Shape), all.skipped());
    assert_eq!(all.parsed + all.skipped(), all.lines);
    assert_eq!(totals.bytes, texts.iter().map(|text| field(text, 3)).sum::<u64>());
    assert_eq!(totals.time_ns, texts.iter().map(|text| u128::from(field(text, 0)) * 1000).sum::<u128>());
    let zero = texts.iter().filter(|text| field(text, 0) == 0).count() as u64;
    assert_eq!((totals.zero_time, totals.rated), (zero, totals.requests - zero));
    let ratios: Vec<f64> = texts
        .iter()
        .filter(|text| field(text, 0) > 0)
        .map(|text| field(text, 3) as f64 / (field(text, 0) as f64 / 1e6))
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((totals.mean_of_ratios().unwrap() / mean - 1.0).abs() < 1e-9);
    // Far over 1 % of the times are 0, so the mean is withheld.
    assert!(matches!(all.mean_of_ratios(), Err(Unrated::ZeroTime { .. })));
    let exact = totals.bytes as f64 / (totals.time_ns as f64 / 1e9);
    assert!((all.ratio_of_totals().unwrap() / exact - 1.0).abs() < 1e-12);
    assert_eq!(all.statuses.iter().map(|(_, n)| n).sum::<u64>(), totals.requests);
    assert_eq!(
        all.statuses.between(400, 600),
        all.statuses.between(404, 405) + all.statuses.between(500, 501)
    );
    assert_eq!(all.methods[Method::Get as usize], totals.requests);
    let (histogram, p90) = (all.histogram(), all.times.quantile(0.9).unwrap() as f64);
    assert_eq!((histogram.count(), histogram.saturated()), (totals.requests, 0));
    assert!((histogram.quantile_ns(0.9).unwrap() as f64 / p90 - 1.0).abs() < 1e-3);
    assert!((all.clients.estimate() - 50.0).abs() < 1.0);
    let count = |text: &str| texts.iter().filter(|line| line.contains(text)).count() as u64;
    assert_eq!(
        (all.agents.total(0), all.agents.total(agents::BOT)),
        (count("Firefox"), count("bot") + count("curl"))
    );
    assert_eq!(
        all.agents.top(agents::BOT, 9),
        [(&b"Googlebot/2.1"[..], count("bot")), (b"curl/8", count("curl"))]
    );
    assert_eq!(all.referrers.top(0, 1), [(&b"www.example.com"[..], count("example"))]);
    let failed = [all.statuses.between(400, 500), all.statuses.between(500, 600)];
    for (class, failed) in failed.into_iter().enumerate() {
        assert_eq!((all.failed_paths.total(class), all.failed_clients.total(class)), (failed, failed));
    }
    let slots = all.pace.failures().unwrap();
    assert_eq!(slots.iter().map(|(_, failures)| failures.client).sum::<u64>(), failed[0]);
    let seconds = all.pace.seconds().unwrap();
    assert_eq!(seconds.iter().map(|(_, requests)| requests).sum::<u64>(), totals.requests);
    let top = all.paths.top(By::Requests, 100);
    assert_eq!((top.len(), top.iter().map(|top| top.requests).sum::<u64>()), (40, totals.requests));
}

#[test]
fn hours_and_days_are_those_of_the_logs_own_clock() {
    let all = of(&(0..2000).collect::<Vec<_>>(), &Settings::default());
    let (hours, days) = (all.hourly().unwrap(), all.daily().unwrap());
    let requests = |periods: &[Period]| periods.iter().map(|p| p.strata.total().requests).sum::<u64>();
    assert_eq!((requests(&hours), requests(&days)), (all.parsed, all.parsed));
    // The lines say 1 to 28 October by their own clocks, whatever the zone.
    assert_eq!(days.len(), 28);
    assert_eq!(crate::scan::clock::date(days[0].local / 86_400), (2023, 10, 1));
    assert!(hours.iter().all(|hour| hour.local % 3600 == 0));
    let by_hour = all.times_by_hour().unwrap();
    assert_eq!(by_hour.iter().map(|(_, times)| times.total()).sum::<u64>(), all.times.total());
    assert!(by_hour.iter().all(|(slot, _)| slot.local() % 3600 == 0));
}

#[test]
fn groups_and_filters() {
    let all = of(&(0..1000).collect::<Vec<_>>(), &settings());
    assert_eq!(all.statuses.between(500, 600), 0);
    assert!(all.filtered > 100 && all.filtered + all.totals().requests == all.parsed);
    let groups = all.groups.sorted().unwrap();
    assert_eq!(groups.iter().map(|(_, group, _)| group.sums.requests).sum::<u64>(), all.totals().requests);
    let (key, group, spread) = groups[0];
    assert_eq!(key.split(|byte| *byte == keys::BETWEEN).next(), Some(&b"/p0/"[..]));
    assert_eq!(spread.map(|spread| spread.times.total()), Some(group.sums.requests));
    // Of many groups there are sums.
    let by_path = Settings { group_by: vec![Key::Query], ..Settings::default() };
    let many = of(&(0..6000).collect::<Vec<_>>(), &by_path);
    assert_eq!(many.groups.overflowed(), (true, false));
    let groups = many.groups.sorted().unwrap();
    assert_eq!(groups.iter().map(|(_, group, _)| group.sums.requests).sum::<u64>(), many.parsed);
    assert!(groups.len() > MOST_GROUPS && groups.iter().all(|(.., spread)| spread.is_none()));
    assert_eq!(many.parsed, many.totals().requests);
}

#[test]
fn stored_aggregates_come_back_and_damage_is_refused() {
    let settings = settings();
    let mut labels = Labels::new(&settings);
    labels.labels.insert("a".into(), of(&(0..300).collect::<Vec<_>>(), &settings));
    let stored = labels.to_bytes().unwrap();
    let back = Labels::from_bytes(&stored).unwrap();
    assert!(back.to_bytes().unwrap() == stored);
    let mut twice = back.clone();
    twice.merge(&labels).unwrap();
    assert_eq!(twice.labels["a"].lines, 600);
    for at in (0..stored.len()).step_by(stored.len() / 50 + 1) {
        let mut damaged = stored.clone();
        damaged[at] ^= 0x10;
        assert!(Labels::from_bytes(&damaged).is_err(), "byte {at}");
        assert!(Labels::from_bytes(&stored[..at]).is_err(), "cut at {at}");
    }
    let mut newer = stored.clone();
    newer[8] = 9;
    assert_eq!(Labels::from_bytes(&newer).unwrap_err(), FileError::Version(9));
    assert_eq!(Labels::from_bytes(b"hello, world").unwrap_err(), FileError::Foreign);
    let error = twice.merge(&Labels::new(&Settings::default())).unwrap_err().to_string();
    assert!(error.contains("prefix, status-class") && error.contains("none"), "{error}");
    // Bytes that are sound by their checksum but not by their sums.
    labels.labels.get_mut("a").unwrap().lines += 1;
    let error = Labels::from_bytes(&labels.to_bytes().unwrap()).unwrap_err().to_string();
    assert!(error.contains("do not add up"), "{error}");
}

#[test]
fn good_and_failed_requests_are_all_requests() {
    let (mut all, mut failed) = (Strata::default(), super::failed::FailedStrata::default());
    for (status, bytes, time_ns) in [
        (Some(200), Some(100), Some(7)),
        (Some(404), Some(100), Some(1)),
        (Some(503), Some(100), Some(30_000)),
        (Some(503), None, Some(5)),
        (None, Some(5000), None),
    ] {
        let record = Record { status, bytes, time_ns, ..Record::default() };
        all.0[size::class_of(bytes)].add(bytes, time_ns, super::sums::ratio_of(bytes, time_ns));
        failed.add(&record);
    }
    let parted = all.parted(&failed);
    let of = |status, size| {
        let class = model::traffic::work_class(status, size);
        parted.iter().find(|(known, _)| *known == class).map(|(_, sums)| (sums.requests, sums.time_ns))
    };
    assert_eq!(parted.len(), 5);
    assert_eq!(of(model::traffic::StatusClass::Good, Some(1)), Some((1, 7)));
    assert_eq!(of(model::traffic::StatusClass::Client, Some(1)), Some((1, 1)));
    assert_eq!(of(model::traffic::StatusClass::Server, Some(1)), Some((1, 30_000)));
    assert_eq!(of(model::traffic::StatusClass::Server, None), Some((1, 5)));
    assert_eq!(failed.total(model::traffic::StatusClass::Server).time_ns, 30_005);
}
