//! Tests of verdicts on groups of served requests, and of findings about their differences.

use std::collections::BTreeMap;

use model::doc::{RowDoc, VerdictWord};
use model::traffic::StatusClass;
use model::why::Reason;

use super::fair::NOT_MODIFIED;
use super::*;

/// A day in blocks of 10 minutes and four classes of size; `speed` multiplies that of both classes, `share` is of
/// the site's requests, `large` multiplies the share of the largest class.
fn served(label: &str, speed: f64, share: f64, large: f64, seed: u64) -> ServerGroup {
    const CLASSES: [(f64, f64, f64); 4] =
        [(300.0, 0.002, 4000.0), (4e3, 0.006, 1500.0), (6e4, 0.02, 400.0), (2e6, 0.3, 40.0)];
    let mut rng = Rng::new(seed);
    let mut group = ServerGroup { label: label.to_owned(), ..ServerGroup::default() };
    for block in 0..144u64 {
        for (class, (bytes, time, rate)) in CLASSES.into_iter().enumerate() {
            let requests = rate * share * if class == 3 { large } else { 1.0 };
            let noise = (0.1 * rng.normal()).exp();
            let cell = Cell {
                requests: requests as u64,
                bytes: requests * bytes,
                seconds: requests * time / speed * noise,
            };
            group.requests += cell.requests;
            group.bytes += cell.bytes;
            group.seconds += cell.seconds;
            *group.statuses.entry(200).or_default() += cell.requests;
            *group.hours.entry(block as i64 / 6).or_default() += cell.requests;
            match group.sizes.iter_mut().find(|(end, _)| *end == bytes) {
                Some((_, count)) => *count += cell.requests,
                None => group.sizes.push((bytes, cell.requests)),
            }
            group.cells.insert((block, class as u32), cell);
        }
    }
    group
}

fn kinds(all: &Judgement) -> Vec<&str> {
    all.findings.iter().map(|finding| finding.kind()).collect()
}

fn row<'a>(all: &'a Judgement, metric: &str) -> &'a RowDoc {
    all.rows.iter().find(|row| row.metric == metric).unwrap()
}

#[test]
fn twice_as_fast_is_better_in_both_figures() {
    let all = judge(&[served("hdd", 1.0, 0.5, 1.0, 1), served("ssd", 2.0, 0.5, 1.0, 2)], Margin::MACHINES, 7);
    let (speed, time) = (row(&all, SPEED), row(&all, TIME));
    assert_eq!((speed.verdict, time.verdict), (VerdictWord::Better, VerdictWord::Better));
    assert!((1.9..2.1).contains(&speed.ratio.unwrap()), "{speed:?}");
    assert!((0.47..0.53).contains(&time.ratio.unwrap()), "{time:?}");
    assert!(time.low < time.ratio && time.ratio < time.high);
    assert_eq!((speed.arm.as_str(), speed.base.as_str()), ("ssd", "hdd"));
    assert!(all.findings.is_empty(), "{:?}", all.findings);
}

#[test]
fn only_the_slowest_requests_make_a_difference() {
    let of = |label: &str, speed: f64, median: f64, p99: f64| ServerGroup {
        time_median: Some(median),
        time_p99: Some(p99),
        ..served(label, speed, 0.5, 1.0, if speed > 1.0 { 2 } else { 1 })
    };
    let said = |arm: ServerGroup| {
        let all = judge(&[of("hdd", 1.0, 0.030, 0.95), arm], Margin::MACHINES, 7);
        let rows: Vec<&RowDoc> = all.rows.iter().collect();
        crate::paragraph::of_pair("ssd", "hdd", &rows, &all.findings).join(" ")
    };
    let says = "Half of the requests take as long on both (30.5 ms and 30.0 ms); the slowest do not: 99 % within 126 ms on \
                ssd, within 950 ms on hdd.";
    assert!(said(of("ssd", 2.0, 0.0305, 0.126)).contains(says), "{}", said(of("ssd", 2.0, 0.0305, 0.126)));
    // All of them are faster; the slowest are slower though all together are faster; a tie; failures among the slowest.
    assert!(!said(of("ssd", 2.0, 0.015, 0.126)).contains("Half of"));
    assert!(!said(of("ssd", 2.0, 0.030, 1.9)).contains("Half of"));
    assert!(!said(of("ssd", 1.0, 0.030, 0.126)).contains("Half of"));
    let mut failing = of("ssd", 2.0, 0.0305, 0.126);
    failing.statuses.insert(500, failing.requests / 100);
    assert!(!said(failing).contains("Half of"));
}

#[test]
fn a_group_that_got_the_large_files_is_not_called_faster() {
    let all = judge(&[served("a", 1.0, 0.5, 1.0, 1), served("b", 1.0, 1.0, 6.0, 2)], Margin::MACHINES, 7);
    let speed = row(&all, SPEED);
    assert_eq!(speed.verdict, VerdictWord::Tie, "{speed:?}");
    assert!(matches!(speed.why.reasons[..], [Reason::Mix { .. }]), "{speed:?}");
    assert!(kinds(&all).contains(&"mix") && kinds(&all).contains(&"request-counts"), "{:?}", kinds(&all));
}

#[test]
fn what_strata_do_not_undo_is_doubtful() {
    let base = served("a", 1.0, 0.5, 1.0, 1);
    let mut arm = served("b", 1.0, 0.5, 1.0, 2);
    let moved = arm.requests / 10;
    arm.statuses.insert(200, arm.requests - moved);
    arm.statuses.insert(NOT_MODIFIED, moved);
    let all = judge(&[base, arm], Margin::MACHINES, 7);
    assert_eq!(kinds(&all), ["status-mix", "cacheability"]);
    assert!(all.findings[0].text().contains("--where 'status!=304'"), "{}", all.findings[0].text());
    assert_eq!(all.findings[0].subject.to_string(), "b beside a");
}

#[test]
fn bots_among_people_are_told_with_the_condition_that_leaves_them_out() {
    let with = |label: &str, share: f64| {
        let group = served(label, 1.0, 0.5, 1.0, 1);
        ServerGroup { bots: Some((group.requests as f64 * share) as u64), ..group }
    };
    let of = |arm: f64, base: f64| judge(&[with("a", base), with("b", arm)], Margin::MACHINES, 7);
    let all = of(0.055, 0.054);
    assert_eq!(kinds(&all), ["bots"]);
    let text = all.findings[0].text();
    assert!(text.contains("5.5 % of b's requests") && text.contains("--where bot=no"), "{text}");
    assert!(kinds(&of(0.01, 0.01)).is_empty(), "too few to matter");
    assert!(kinds(&of(1.0, 1.0)).is_empty(), "the log is of bots alone");
    let unknown = judge(&[served("a", 1.0, 0.5, 1.0, 1), with("b", 0.3)], Margin::MACHINES, 7);
    assert!(kinds(&unknown).is_empty(), "of a stored group nobody counted them");
}

/// Times of a group's blocks changed: block by block a factor.
fn slowed(mut group: ServerGroup, by: impl Fn(u64) -> f64) -> ServerGroup {
    group.seconds = 0.0;
    for ((block, _), cell) in &mut group.cells {
        cell.seconds *= by(*block);
        group.seconds += cell.seconds;
    }
    group
}

#[test]
fn a_state_that_lasts_is_one_episode() {
    // From noon on one of the two is a third slower: a deploy, and no third of anything.
    let deployed = slowed(served("b", 1.0, 0.5, 1.0, 2), |block| if block < 72 { 1.0 } else { 1.5 });
    let all = judge(&[served("a", 1.0, 0.5, 1.0, 1), deployed], Margin::MACHINES, 7);
    let row = row(&all, SPEED);
    assert_eq!((row.verdict, row.ratio), (VerdictWord::CannotTell, None), "{row:?}");
    let says = "spans of time that both served: the difference may be one episode: neighbouring spans of time resemble each \
                other so much that all 144 tell no more than ";
    assert!(row.why.to_string().starts_with(says), "{}", row.why);
    assert!(row.why.is_final(), "{row:?}");
}

/// An outage of two blocks, whose failures are small and take 30 s.
fn with_outage(mut group: ServerGroup) -> ServerGroup {
    for block in [84, 85] {
        let cell = Cell { requests: 90, bytes: 90.0 * 190.0, seconds: 90.0 * 30.0 };
        group.requests += cell.requests;
        group.bytes += cell.bytes;
        group.seconds += cell.seconds;
        group.statuses.insert(503, 180);
        group.cells.insert((block, model::traffic::work_class(StatusClass::Server, Some(1))), cell);
    }
    group
}

#[test]
fn failures_do_not_hide_which_is_faster() {
    let groups = [served("www1", 1.0, 0.5, 1.0, 1), with_outage(served("www2", 0.8, 0.5, 1.0, 2))];
    let all = judge(&groups, Margin::MACHINES, 7);
    let (speed, time, failed) = (row(&all, SPEED), row(&all, TIME), row(&all, model::traffic::FAILED));
    assert_eq!((speed.verdict, time.verdict), (VerdictWord::Worse, VerdictWord::Worse));
    assert!((0.78..0.82).contains(&speed.ratio.unwrap()), "{speed:?}");
    // The values are those of the requests that are compared.
    let values = time.arm_value.unwrap() / time.base_value.unwrap();
    assert!((values - time.ratio.unwrap()).abs() < 1e-9, "{time:?}");
    assert!(failed.why.failed_at_once() && failed.ratio.is_none(), "{failed:?}");
    assert_eq!(kinds(&all), ["failures-apart", "mix"], "{:?}", all.findings);
    assert!(all.findings[1].text().ends_with(": the rest is the failed requests"), "{:?}", all.findings);
    let rows: Vec<&RowDoc> = all.rows.iter().collect();
    let said = crate::paragraph::of_pair("www2", "www1", &rows, &all.findings);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(" longer for a request (5xx left out)"), "{said:?}");
    let state = |kind: &str| all.findings.iter().find(|finding| finding.kind() == kind).unwrap().state;
    assert_eq!(state("failures-apart"), model::Validity::Doubtful);
}

#[test]
fn nothing_but_failures_are_compared_with_each_other() {
    let only = |label: &str, speed, seed| {
        let mut group = served(label, speed, 0.5, 1.0, seed);
        let cells = std::mem::take(&mut group.cells).into_iter();
        let class = |class| model::traffic::work_class(StatusClass::Server, Some(class));
        group.cells = cells.map(|((block, size), cell)| ((block, class(size)), cell)).collect();
        group
    };
    let all = judge(&[only("a", 1.0, 1), only("b", 2.0, 2)], Margin::MACHINES, 7);
    assert_eq!(row(&all, SPEED).verdict, VerdictWord::Better);
}

/// The same with folders: the large answers stand in /download/, which takes so many times as long.
fn with_folders(mut group: ServerGroup, times: f64) -> ServerGroup {
    for ((block, class), cell) in &mut group.cells {
        let name = if *class == 3 { "/download/" } else { ["/", "/img/"][(*class % 2) as usize] };
        cell.seconds *= if *class == 3 { times } else { 1.0 };
        group.folders.entry(name.to_owned()).or_default().insert((*block, *class), *cell);
    }
    group.seconds = group.cells.values().map(|cell| cell.seconds).sum();
    group
}

fn parts(all: &Judgement) -> Option<&model::finding::LogsParts> {
    crate::paragraph::parts_of(&all.findings, "b", "a")
}

fn differing(found: &model::finding::LogsParts) -> usize {
    let differs =
        |part: &&model::doc::PartDoc| matches!(part.verdict, VerdictWord::Better | VerdictWord::Worse);
    found.parts.iter().filter(differs).count()
}

#[test]
fn the_part_that_differs_is_named() {
    let base = || with_folders(served("a", 1.0, 0.5, 1.0, 1), 1.0);
    let arm = |times| with_folders(served("b", 1.0, 0.5, 1.0, 2), times);
    let all = judge(&[base(), arm(1.6)], Margin::MACHINES, 7);
    let found = parts(&all).unwrap();
    assert_eq!((differing(found), found.rest), (1, model::finding::Rest::Ties), "{found:?}");
    let part = found.parts.iter().find(|part| part.name == "/download/").unwrap();
    assert!(part.low < Some(1.6) && Some(1.6) < part.high, "{part:?}");
    let rows: Vec<&RowDoc> = all.rows.iter().collect();
    let said = crate::paragraph::of_pair("b", "a", &rows, &all.findings);
    assert!(said.len() == 1 && said[0].contains(", all of it in /download/ ("), "{said:?}");
    assert!(said[0].ends_with(" % longer); the rest, taken together, ties."), "{said:?}");
    // It is that of a log of this folder alone, to the last digit.
    let alone = |mut group: ServerGroup| {
        group.cells = group.folders.remove("/download/").unwrap();
        group.folders.clear();
        group
    };
    let of_folder = judge(&[alone(base()), alone(arm(1.6))], Margin::MACHINES, 7);
    let time = row(&of_folder, TIME);
    assert_eq!((time.ratio, time.low, time.high), (part.ratio, part.low, part.high));
    // Without folders, the size tells it.
    let bare = |mut group: ServerGroup| {
        group.folders.clear();
        group
    };
    let all = judge(&[bare(base()), bare(arm(1.6))], Margin::MACHINES, 7);
    let by_size = parts(&all).unwrap();
    let slower = by_size.parts.iter().find(|part| part.verdict == VerdictWord::Worse).unwrap();
    assert_eq!(slower.name, "answers of 1.00 KiB to 4.00 KiB");
    // Folders of an older version, in which `/` has the routes too, are not those of this one.
    let newer = ServerGroup { has_routes: true, ..arm(1.6) };
    let all = judge(&[base(), newer], Margin::MACHINES, 7);
    assert!(parts(&all).unwrap().parts.iter().all(|part| part.name.starts_with("answers ")));
    // Neither what is alike nor what differs everywhere is in a part.
    assert!(parts(&judge(&[base(), arm(1.0)], Margin::MACHINES, 7)).is_none());
    let slower = slowed(arm(1.0), |_| 1.6);
    let everywhere = with_folders(bare(slower), 1.0);
    assert!(parts(&judge(&[base(), everywhere], Margin::MACHINES, 7)).is_none());
}

#[test]
fn a_part_that_goes_against_the_whole_is_said_with_it() {
    // Two folders take half of the time, and one a fifth more.
    let base = with_folders(served("a", 1.0, 0.5, 1.0, 1), 1.0);
    let arm = with_folders(slowed(served("b", 1.0, 0.5, 1.0, 2), |_| 0.5), 2.4);
    let all = judge(&[base, arm], Margin::MACHINES, 7);
    let found = parts(&all).unwrap();
    assert_eq!((differing(found), found.rest), (3, model::finding::Rest::Nothing), "{found:?}");
    let rows: Vec<&RowDoc> = all.rows.iter().collect();
    let said = crate::paragraph::of_pair("b", "a", &rows, &all.findings).join(" ");
    assert!(
        said.contains("but not in /download/ (") && said.contains("b takes longer than a on /download/"),
        "{said}"
    );
}

/// The same with bots, which ask for a third of each cell; people's requests for /img/ take so many times as long.
fn with_bots(mut group: ServerGroup, times: f64) -> ServerGroup {
    let cells = std::mem::take(&mut group.cells);
    for ((block, class), cell) in cells {
        let name = ["/", "/img/"][(class % 2) as usize];
        let slower = if name == "/img/" { times } else { 1.0 };
        let part = |share: f64, times: f64| Cell {
            requests: (cell.requests as f64 * share) as u64,
            bytes: cell.bytes * share,
            seconds: cell.seconds * share * times,
        };
        let of_folder = group.folders.entry(name.to_owned()).or_default();
        let (people, bots) = (part(2.0 / 3.0, slower), part(1.0 / 3.0, 1.0));
        for (class, cell) in [(class, people), (model::traffic::of_bots(class), bots)] {
            of_folder.insert((block, class), cell);
            group.cells.insert((block, class), cell);
        }
    }
    group.bots = Some(group.requests / 3);
    group.seconds = group.cells.values().map(|cell| cell.seconds).sum();
    group
}

#[test]
fn bots_are_compared_with_bots() {
    let base = || with_bots(served("a", 1.0, 0.5, 1.0, 1), 1.0);
    let arm = with_bots(served("b", 1.0, 0.5, 1.0, 2), 1.6);
    let all = judge(&[base(), arm.clone()], Margin::MACHINES, 7);
    let found = parts(&all).unwrap();
    assert_eq!((differing(found), found.rest), (1, model::finding::Rest::Ties), "{found:?}");
    let part = found.parts.iter().find(|part| part.name == "/img/ for people").unwrap();
    assert!(part.low < Some(1.6) && Some(1.6) < part.high, "{part:?}");
    let bots = all.findings.iter().find(|finding| finding.kind() == "bots").unwrap();
    let text = bots.text();
    assert!(text.contains("times of people: ") && text.contains(" % longer; of bots: a tie ("), "{text}");
    assert_eq!(bots.state, model::Validity::Ok, "a third of the requests, each with its like");
    // More bots on one side, and nothing else: the same.
    let mut more = base();
    more.label = "b".into();
    for ((_, class), cell) in &mut more.cells {
        if model::traffic::is_of_bots(*class) {
            (cell.requests, cell.bytes, cell.seconds) =
                (cell.requests * 3, cell.bytes * 3.0, cell.seconds * 3.0);
        }
    }
    let equal = judge(&[base(), more], Margin::MACHINES, 7);
    assert_eq!(row(&equal, TIME).verdict, VerdictWord::Tie, "{:?}", equal.rows);
    // A group that was stored before bots were told apart is compared as before.
    let mut old = base();
    old.join_bots();
    let mixed = judge(&[old, arm], Margin::MACHINES, 7);
    assert!(mixed.findings.iter().any(|finding| finding.text().contains("--where bot=no")), "{mixed:?}");
    assert_eq!(row(&mixed, TIME).verdict, VerdictWord::Worse);
}

#[test]
fn each_group_is_compared_with_its_like() {
    let base = with_folders(served("a", 1.0, 0.5, 1.0, 1), 1.0);
    let arm = with_folders(served("b", 1.0, 0.5, 1.0, 2), 1.6);
    let rows =
        super::parts::of_groups((&arm, &arm.folders), (&base, &base.folders), None, Margin::MACHINES, 7);
    let words: Vec<(&str, VerdictWord)> =
        rows.iter().map(|(name, row)| (name.as_str(), row.verdict)).collect();
    let expected = [("/", VerdictWord::Tie), ("/download/", VerdictWord::Worse), ("/img/", VerdictWord::Tie)];
    assert_eq!(words, expected);
    let slower = &rows[1].1;
    assert!(slower.low.unwrap() < 1.6 && 1.6 < slower.high.unwrap(), "{slower:?}");
}

/// The same three times over, so that it covers days, from a block on; no day is quite as another one.
fn for_days(mut group: ServerGroup, from: u64) -> ServerGroup {
    let mut rng = Rng::new(from + 1);
    let mut days = |cells: &BTreeMap<(u64, u32), Cell>| {
        let mut all = BTreeMap::new();
        for day in 0..3 {
            for ((block, class), cell) in cells {
                let seconds = cell.seconds * (0.1 * rng.normal()).exp();
                all.insert((from + 144 * day + block, *class), Cell { seconds, ..*cell });
            }
        }
        all
    };
    for cells in group.folders.values_mut() {
        *cells = days(cells);
    }
    // Each class is of one folder.
    group.cells = group.folders.values().flatten().map(|(at, cell)| (*at, *cell)).collect();
    group.requests *= 3;
    group.bytes *= 3.0;
    group.seconds = group.cells.values().map(|cell| cell.seconds).sum();
    group
}

#[test]
fn parts_that_cancel_are_told_first_of_days_that_follow_each_other() {
    let base = for_days(with_folders(served("a", 1.0, 0.5, 1.0, 1), 1.0), 0);
    let arm = with_folders(slowed(served("b", 1.0, 0.5, 1.0, 2), |_| 0.72), 1.6 / 0.72);
    let arm = for_days(arm, 480);
    let all = judge(&[base.clone(), arm.clone()], Margin::MACHINES, 7);
    assert!(kinds(&all).contains(&"cut-blocks"), "{:?}", kinds(&all));
    assert!(!matches!(row(&all, TIME).verdict, VerdictWord::Better | VerdictWord::Worse), "{:?}", all.rows);
    let found = parts(&all).unwrap();
    assert_eq!(differing(found), 3, "{found:?}");
    let rows: Vec<&RowDoc> = all.rows.iter().collect();
    let said = crate::paragraph::of_pair("b", "a", &rows, &all.findings);
    assert!(said[0].starts_with("b takes longer than a on /download/ ("), "{said:?}");
    // So is each group of `--by`.
    let groups =
        super::parts::of_groups((&arm, &arm.folders), (&base, &base.folders), None, Margin::MACHINES, 7);
    let words: Vec<(&str, VerdictWord)> =
        groups.iter().map(|(name, row)| (name.as_str(), row.verdict)).collect();
    let expected =
        [("/", VerdictWord::Better), ("/download/", VerdictWord::Worse), ("/img/", VerdictWord::Better)];
    assert_eq!(words, expected);
    // Equal days have no such part.
    let equal = for_days(with_folders(served("b", 1.0, 0.5, 1.0, 2), 1.0), 480);
    assert!(parts(&judge(&[base, equal], Margin::MACHINES, 7)).is_none());
}

#[test]
fn equal_groups_are_seldom_said_to_differ_in_a_part() {
    let one = |seed: u64| {
        let side = |label: &str, seed| with_folders(served(label, 1.0, 0.5, 1.0, seed), 1.0);
        parts(&judge(&[side("a", 2 * seed), side("b", 2 * seed + 1)], Margin::MACHINES, seed)).is_some()
    };
    let said = (100..120).filter(|seed| one(*seed)).count();
    assert!(said <= 1, "{said} of 20");
}

#[test]
fn a_group_without_requests_is_compared_with_nothing() {
    let none = ServerGroup { label: "b".into(), ..ServerGroup::default() };
    let all = judge(&[served("a", 1.0, 0.5, 1.0, 1), none], Margin::MACHINES, 7);
    assert!(all.rows.is_empty() && all.findings.is_empty(), "{all:?}");
}

#[test]
fn halves_that_differ_are_said() {
    let warmed = slowed(served("b", 1.5, 0.5, 1.0, 2), |block| if block < 72 { 1.06 } else { 1.0 });
    let all = judge(&[served("a", 1.0, 0.5, 1.0, 1), warmed], Margin::MACHINES, 7);
    assert_eq!(kinds(&all), ["halves"], "{:?}", all.findings);
    assert!(
        all.findings[0].text().starts_with("one episode may make the difference: the speeds stand 1.4"),
        "{}",
        all.findings[0].text()
    );
    assert_eq!(row(&all, SPEED).verdict, VerdictWord::Better);
}

#[test]
fn groups_that_share_no_time_are_compared_as_sides_of_a_cut_unless_they_are_short() {
    let mut later = served("after", 1.0, 0.5, 1.0, 2);
    later.cells =
        later.cells.into_iter().map(|((block, class), cell)| ((block + 144, class), cell)).collect();
    later.hours = later.hours.into_iter().map(|(hour, count)| (hour + 24, count)).collect();
    let mut earlier = served("before", 1.0, 0.5, 1.0, 1);
    let all = judge(&[earlier.clone(), later.clone()], Margin::MACHINES, 7);
    assert_eq!(row(&all, SPEED).verdict, VerdictWord::Tie);
    assert!(all.findings.iter().any(|finding| finding.kind() == "time-confounded"), "{:?}", all.findings);
    for group in [&mut earlier, &mut later] {
        let first = group.cells.keys().next().unwrap().0;
        group.cells.retain(|(block, _), _| *block < first + 5);
    }
    let all = judge(&[earlier, later], Margin::MACHINES, 7);
    let speed = row(&all, SPEED);
    assert_eq!(speed.verdict, VerdictWord::CannotTell);
    assert!(speed.why.to_string().contains("too few"), "{speed:?}");
    assert!(speed.arm_value.is_some() && speed.ratio.is_none());
    let hours = all.findings.iter().find(|finding| finding.kind() == "hours").unwrap();
    assert!(hours.state == model::Validity::Doubtful && hours.text().contains("share no hour"));
}

#[test]
fn the_studys_two_averages_are_told_apart() {
    // Means of the first day of the 2010 study: 24.3 B/us, 7684 B, 13909 us.
    let group = ServerGroup {
        label: "ssd".into(),
        requests: 14_983_388,
        bytes: 7_683.716_85 * 14_983_388.0,
        seconds: 13_908.684_85e-6 * 14_983_388.0,
        mean_of_ratios: Some(24.27563e6),
        ..ServerGroup::default()
    };
    let all = judge(&[group], Margin::MACHINES, 1);
    assert_eq!(kinds(&all), ["means"]);
    let text = &all.findings[0].text();
    assert!(text.contains("24.3 MB/s, 43.9 times") && text.contains("552 kB/s"), "{text}");
}

#[test]
fn times_of_few_steps_are_no_tie() {
    // Means of 6.2 ms; twice as fast 3.1 ms.
    let judged = |speed: f64, step: Option<f64>| {
        let groups = [served("a", 1.0, 0.5, 1.0, 1), served("b", speed, 0.5, 1.0, 2)];
        let groups = groups.map(|group| ServerGroup { time_step: step, ..group });
        judge(&groups, Margin::MACHINES, 7)
    };
    for step in [None, Some(1e-6), Some(0.001)] {
        let all = judged(1.0, step);
        assert_eq!([row(&all, SPEED).verdict, row(&all, TIME).verdict], [VerdictWord::Tie; 2], "{step:?}");
    }
    for step in [0.002, 0.01, 1.0] {
        let all = judged(1.0, Some(step));
        for row in [row(&all, SPEED), row(&all, TIME)] {
            assert_eq!((row.verdict, row.ratio), (VerdictWord::CannotTell, None), "{row:?}");
            assert!(row.arm_value.is_some() && row.why.is_final(), "{row:?}");
            assert!(row.why.to_string().starts_with("times of "), "{row:?}");
        }
    }
    // A difference that no step can have made stands, with a wider interval.
    let (fine, coarse) = (judged(2.0, None), judged(2.0, Some(0.001)));
    let (fine, coarse) = (row(&fine, TIME), row(&coarse, TIME));
    assert_eq!((fine.verdict, coarse.verdict), (VerdictWord::Better, VerdictWord::Better), "{coarse:?}");
    assert!(coarse.low.unwrap() < 0.7 * fine.low.unwrap() && coarse.high > fine.high, "{coarse:?}");
    assert_eq!(row(&judged(2.0, Some(0.002)), TIME).verdict, VerdictWord::CannotTell);
}

#[test]
fn empty_groups_are_no_panic() {
    let all = judge(
        &[ServerGroup::default(), ServerGroup { label: "b".into(), ..ServerGroup::default() }],
        Margin::MACHINES,
        1,
    );
    assert!(all.rows.iter().all(|row| row.verdict == VerdictWord::CannotTell && row.ratio.is_none()));
}
