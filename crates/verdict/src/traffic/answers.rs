//! The answer of a log in a sentence, and the episode that most of its failures are in.
//!
//! Requests, seconds since 1970. Told by the log's own clock. An episode is said where most failures stand in a small
//! part of the time and of the requests; failures that follow the traffic are none.

use model::agents::short_agent;
use model::doc::{
    AnswersDoc, BotDoc, EpisodeDoc, FailedDoc, MostlyDoc, OverTimeDoc, OverTimeRow as Row, PeakDoc,
    TrafficDoc,
};
use model::format::{self, Kind, Moment};
use model::traffic::Traffic;
use model::unit::Unit;

use super::failed::{NEARLY_ALL, mostly, stretch};

/// Fewer failures than this say nothing of when.
const LEAST_FAILURES: u64 = 10;
/// The share of the failures that the core of an episode has.
const MOST: f64 = 0.5;
/// Stretches beside the core belong to it where at least this share of the core's part of requests failed.
const NEAR: f64 = 0.2;
/// All failures belong to an episode that would have fewer than [`NEARLY_ALL`] of them, where they stand in fewer than
/// so many times its length.
const CLOSE: usize = 3;
/// The largest share of the time, and the factor by which requests in it fail more often than all do.
const LONGEST: f64 = 0.25;
const LEAST_FACTOR: f64 = 3.0;
/// From this share of failed requests on, failures that last through a large part of the time are an outage.
const OUTAGE: f64 = 0.05;
/// Where so many failures were to be expected, to see none happens by chance in one of twenty cases.
const CHANCE: f64 = 3.0;
/// The same in one of three thousand: there are many gaps.
const GAP: f64 = 8.0;

/// A class of failures.
type Class = fn(&Row) -> u64;

/// The answers of a stored run, with what follows from them.
pub fn of_stored(traffic: &Traffic) -> Option<Box<AnswersDoc>> {
    let answers = traffic.answers.as_deref()?;
    let p99 = traffic.whole.get(model::metrics::logs::TIME_P99.name()).copied();
    let label = named(&traffic.group.label, &traffic.conditions);
    Some(Box::new(concluded(&label, answers, (traffic.group.requests, p99))))
}

/// The answers of a label, with what follows from them.
pub fn of_label(label: &TrafficDoc, answers: &AnswersDoc, conditions: &[String]) -> AnswersDoc {
    concluded(&named(&label.label, conditions), answers, (label.parsed, label.p99))
}

/// `shop where status<500`.
fn named(label: &str, conditions: &[String]) -> String {
    match conditions {
        [] => label.to_owned(),
        all => format!("{label} where {}", all.join(" and ")),
    }
}

fn concluded(label: &str, answers: &AnswersDoc, (requests, p99): (u64, Option<f64>)) -> AnswersDoc {
    let mut all = answers.clone();
    let of_server = &answers.around.as_ref().unwrap_or(&answers.over_time).server_failed[..];
    let classes: [(&mut Option<FailedDoc>, Class, Spans<'_>); 2] =
        [(&mut all.client_errors, |row| row.2, &[]), (&mut all.server_errors, |row| row.3, of_server)];
    for (failed, class, spans) in classes {
        if let Some(failed) = failed {
            failed.episode = own_episode(answers, class, spans);
            failed.mostly = mostly(failed, answers);
        }
    }
    // The rate is that of all requests over all seconds.
    let seconds = all.rate.filter(|rate| *rate > 0.0).map(|rate| requests as f64 / rate);
    all.sentence = sentence(label, &all, (requests, seconds, p99));
    all
}

/// Seconds that the steps cover.
fn span(over_time: &OverTimeDoc) -> Option<f64> {
    let (first, last) = (over_time.rows.first()?, over_time.rows.last()?);
    Some(last.0 - first.0 + over_time.step)
}

/// Seconds of the shortest step that episodes are looked for in: in a shorter one chance leaves gaps.
const COARSE: f64 = 300.0;

/// The first and the last failure of each step that has one; empty where that is not known.
type Spans<'a> = &'a [(f64, f64)];

/// The episode that most failures of a log are in. Where conditions on status or time leave requests out, or a cut
/// does, it is looked for in all that was read, and its failures are those that were let in.
fn own_episode(answers: &AnswersDoc, class: Class, spans: Spans<'_>) -> Option<EpisodeDoc> {
    let own = &answers.over_time;
    let Some(around) = &answers.around else { return episode(own, class, spans) };
    let found = episode(around, class, spans)?;
    let is_within = |row: &&Row| row.0 + own.step > found.from && row.0 <= found.to;
    let failures: u64 = own.rows.iter().filter(is_within).map(class).sum();
    let all: u64 = own.rows.iter().map(class).sum();
    (failures > 0 && failures as f64 >= MOST * all as f64).then_some(EpisodeDoc { failures, ..found })
}

/// Rows of at least [`COARSE`] seconds, and those seconds.
fn coarse(over_time: &OverTimeDoc) -> (Vec<Row>, f64) {
    let step = over_time.step;
    if !(step > 0.0 && step < COARSE && span(over_time).is_some_and(|span| span >= 100.0 * COARSE)) {
        return (over_time.rows.clone(), step);
    }
    let mut rows: Vec<Row> = Vec::new();
    for row in &over_time.rows {
        let at = (row.0 / COARSE).floor() * COARSE;
        match rows.last_mut().filter(|last| last.0 == at) {
            Some(last) => *last = (at, last.1 + row.1, last.2 + row.2, last.3 + row.3),
            None => rows.push((at, row.1, row.2, row.3)),
        }
    }
    (rows, COARSE)
}

/// The stretch from the first to the last failure; where only their steps are known, from the first step to the end of
/// the last.
fn trimmed(found: EpisodeDoc, over_time: &OverTimeDoc, class: Class, spans: Spans<'_>) -> EpisodeDoc {
    let is_known = |span: &(f64, f64)| span.1 >= found.from && span.0 < found.to;
    if let Some((first, last)) = spans.iter().position(is_known).zip(spans.iter().rposition(is_known)) {
        return reached(found, (first, last), over_time, class, spans);
    }
    let within = |row: &&Row| row.0 >= found.from && row.0 < found.to && class(row) > 0;
    let mut failed = over_time.rows.iter().filter(within);
    let Some(first) = failed.next() else { return found };
    let last = failed.next_back().unwrap_or(first);
    EpisodeDoc { from: first.0, to: last.0 + over_time.step, ..found }
}

/// The stretch from its first to its last failure, and on to failures close beside it, which the next step has with
/// many requests that did not fail: chance may have left the time between without a failure.
fn reached(
    found: EpisodeDoc,
    (mut first, mut last): (usize, usize),
    over_time: &OverTimeDoc,
    class: Class,
    spans: Spans<'_>,
) -> EpisodeDoc {
    let rate = found.failures as f64 / (spans[last].1 - spans[first].0).max(1.0);
    let is_close = |gap: f64| gap < COARSE && gap * rate < GAP;
    while let Some(next) = first
        .checked_sub(1)
        .filter(|next| spans[*next].1 >= found.from - COARSE && is_close(spans[first].0 - spans[*next].1))
    {
        first = next;
    }
    while spans
        .get(last + 1)
        .is_some_and(|next| next.0 < found.to + COARSE && is_close(next.0 - spans[last].1))
    {
        last += 1;
    }
    let (from, to) = (spans[first].0, spans[last].1);
    let is_added =
        |row: &&Row| row.0 < found.from && row.0 + over_time.step > from || row.0 >= found.to && row.0 <= to;
    let added: u64 = over_time.rows.iter().filter(is_added).map(class).sum();
    EpisodeDoc { from, to, failures: found.failures + added, ..found }
}

/// The shortest stretch with half of the failures and what is like it beside. It is short, or it reaches back to the
/// beginning or on to the end of what was read; and requests in it failed far more often than others.
fn episode(over_time: &OverTimeDoc, class: Class, spans: Spans<'_>) -> Option<EpisodeDoc> {
    let (rows, step) = coarse(over_time);
    let count =
        |part: &[Row]| (part.iter().map(class).sum::<u64>(), part.iter().map(|row| row.1).sum::<u64>());
    let (all, requests) = count(&rows);
    let whole = span(over_time)?;
    if all < LEAST_FAILURES {
        return None;
    }
    let core = core(&rows, class, (all as f64 * MOST).ceil() as u64)?;
    let (from, to) = with_the_rest(&rows, class, widened(&rows, class, core));
    let share = |(failed, served): (u64, u64)| failed as f64 / served.max(1) as f64;
    let inside = count(&rows[from..=to]);
    let (before, after) = (count(&rows[..from]), count(&rows[to + 1..]));
    // So few requests that chance would leave them without a failure in an episode that goes on.
    let goes_on = |beside: (u64, u64)| beside.0 == 0 && beside.1 as f64 * share(inside) < CHANCE;
    let (from_start, to_end) = (goes_on(before), goes_on(after));
    let length = rows[to].0 - rows[from].0 + step;
    let is_short = length <= whole * LONGEST && share(inside) >= LEAST_FACTOR * share((all, requests));
    let outside = (before.0 + after.0, before.1 + after.1);
    let is_apart = match (from_start, to_end) {
        (true, true) => share(inside) >= OUTAGE,
        (false, false) => is_short,
        _ => is_short || share(inside) >= OUTAGE.max(LEAST_FACTOR * share(outside)),
    };
    let found =
        EpisodeDoc { from: rows[from].0, to: rows[to].0 + step, failures: inside.0, from_start, to_end };
    is_apart.then(|| trimmed(found, over_time, class, spans))
}

/// The stretch with what is like it on both sides: the next failures, where at least [`NEAR`] as large a part of the
/// requests failed, and chance may have left so many requests between without a failure.
fn widened(rows: &[Row], class: Class, (mut from, mut to): (usize, usize)) -> (usize, usize) {
    let served = |part: &[Row]| part.iter().map(|row| row.1).sum::<u64>();
    let share = |part: &[Row]| part.iter().map(class).sum::<u64>() as f64 / served(part).max(1) as f64;
    let least = NEAR * share(&rows[from..=to]);
    let is_like = |row: usize, between: &[Row], within: &[Row]| {
        share(&rows[row..=row]) >= least && served(between) as f64 * share(within) < GAP
    };
    while let Some(next) = rows[..from].iter().rposition(|row| class(row) > 0)
        && is_like(next, &rows[next + 1..from], &rows[from..=to])
    {
        from = next;
    }
    while let Some(gap) = rows[to + 1..].iter().position(|row| class(row) > 0)
        && is_like(to + 1 + gap, &rows[to + 1..to + 1 + gap], &rows[from..=to])
    {
        to += gap + 1;
    }
    (from, to)
}

/// From the first to the last failure of all, where more than a few lie beside the stretch and all lie close to it: a
/// path that few ask for may have a long gap between two failures.
fn with_the_rest(rows: &[Row], class: Class, found: (usize, usize)) -> (usize, usize) {
    let count = |part: &[Row]| part.iter().map(class).sum::<u64>() as f64;
    let has_failed = |row: &Row| class(row) > 0;
    let ends = rows.iter().position(has_failed).zip(rows.iter().rposition(has_failed));
    let is_close = |all: &(usize, usize)| all.1 - all.0 < CLOSE * (found.1 - found.0 + 1);
    let has_few_beside = count(&rows[found.0..=found.1]) >= NEARLY_ALL * count(rows);
    ends.filter(|all| !has_few_beside && is_close(all)).unwrap_or(found)
}

/// The first and the last row of the shortest stretch with so many failures.
fn core(rows: &[Row], class: Class, wanted: u64) -> Option<(usize, usize)> {
    let (mut from, mut inside) = (0, 0);
    let mut best: Option<(f64, usize, usize)> = None;
    for (to, row) in rows.iter().enumerate() {
        inside += class(row);
        while from < to && inside - class(&rows[from]) >= wanted {
            inside -= class(&rows[from]);
            from += 1;
        }
        let length = row.0 - rows[from].0;
        if inside >= wanted && best.is_none_or(|best| length < best.0) {
            best = Some((length, from, to));
        }
    }
    best.map(|(_, from, to)| (from, to))
}

/// `shop: 1.20 M requests in 3 d, 14/s on average, 310/s in the busiest hour (Mon 12:00); 0.4 % failed with 5xx, 90
/// of 120 of them for /cart; 99 % of answers, 5xx too, within 240 ms.`
fn sentence(
    label: &str,
    answers: &AnswersDoc,
    (requests, seconds, p99): (u64, Option<f64>, Option<f64>),
) -> String {
    let count =
        if requests == 1 { "1 request".to_owned() } else { format!("{} requests", format::many(requests)) };
    let mut parts = vec![match seconds {
        Some(seconds) => format!("{count} in {}", format::rounded_duration(seconds.round())),
        None => count,
    }];
    if let Some(rate) = answers.rate.filter(|_| requests > 1) {
        parts[0].push_str(&format!(", {} on average", format::per_second(rate)));
    }
    let hour = answers.busiest_hour.filter(|_| seconds.is_some_and(|seconds| seconds > 2.0 * 3600.0));
    let minute = answers.busiest_minute.filter(|_| seconds.is_some_and(|seconds| seconds > 120.0));
    let busiest = hour.map(|peak| (peak, "hour")).or(minute.map(|peak| (peak, "minute")));
    if let Some((peak, what)) = busiest {
        let at = Moment::at(peak.at + answers.zone as f64);
        let at = at.map_or_else(String::new, |at| at.within(seconds.unwrap_or(0.0)));
        let bots = answers.agents.as_ref().filter(|_| what == "hour").map(|agents| &agents.each_bot);
        let of_bot = bots.and_then(|bots| most_of(&peak, bots, answers.zone as f64, seconds));
        let of_bot = of_bot.map(|(share, bot)| format!("{} of the hour's by {bot}", format::percent(share)));
        let told: Vec<String> = [at].into_iter().chain(of_bot).filter(|told| !told.is_empty()).collect();
        let told = if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) };
        parts[0].push_str(&format!(
            ", {} in the busiest {what}{told}",
            format::per_second_like(peak.rate, answers.rate.unwrap_or(peak.rate))
        ));
    }
    parts.push(failures(answers, seconds.unwrap_or(0.0)));
    parts.push(match p99 {
        Some(p99) => {
            let has_failures = answers.server_errors.as_ref().is_some_and(|failed| failed.requests > 0);
            let of = if has_failures { "answers, 5xx too," } else { "answers" };
            format!("99 % of {of} within {}", format::quantity(p99, Kind::for_unit(Unit::Second)))
        }
        None if requests == 0 => String::new(),
        None => match answers.missing.iter().find(|missing| missing.what == TIMES) {
            Some(missing) => format!("times are not known: {}", missing.why),
            None => "too few requests for a 99th percentile".to_owned(),
        },
    });
    parts.retain(|part| !part.is_empty());
    format!("{label}: {}.", parts.join("; "))
}

/// The share of the busiest hour's requests from which on those of one bot are told.
const MUCH: f64 = 0.25;

/// A bot that makes much of the busiest hour: its share of the requests, and `PriceSpy/0.9 from 198.51.100.9, every day
/// 02:00 to 03:00`; in a log of so many seconds, if known.
pub fn most_of(peak: &PeakDoc, bots: &[BotDoc], zone: f64, span: Option<f64>) -> Option<(f64, String)> {
    let share = |bot: &BotDoc| {
        let own = bot.busiest_hour.as_ref().filter(|own| own.at == peak.at).map(|own| own.requests);
        let own = bot.peak_requests.or(own)?;
        Some(own as f64 / peak.requests.max(1) as f64).filter(|share| *share >= MUCH)
    };
    let most = bots.iter().filter_map(|bot| Some((bot, share(bot)?)));
    let (bot, share) = most.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let from = match (bot.clients.distinct, bot.clients.top.as_slice()) {
        (Some(1), [only]) => format!(" from {}", only.name),
        _ => String::new(),
    };
    let daily = bot.daily(zone, span).map(|daily| format!(", {daily}"));
    Some((share, format!("{}{from}{}", short_agent(&bot.name), daily.unwrap_or_default())))
}

/// How times are called where they are missing.
pub const TIMES: &str = "times";

fn failures(answers: &AnswersDoc, span: f64) -> String {
    let (Some(client), Some(server)) = (&answers.client_errors, &answers.server_errors) else {
        return String::new();
    };
    // What is answered 4xx is said to be the client's fault: the server did not fail.
    let (failed, how) = match server.requests {
        0 => (client, "were answered 4xx"),
        _ => (server, "failed with 5xx"),
    };
    if failed.requests == 0 {
        return "none failed".to_owned();
    }
    let mut text = format!("{} {how}", format::percent(failed.share));
    let common = MostlyDoc::list(&failed.mostly, failed.requests);
    // What clients get wrong all the time is no outage.
    let is_news = |episode: &EpisodeDoc| server.requests > 0 || !(episode.from_start && episode.to_end);
    let when = failed.episode.filter(is_news).and_then(|episode| told(&episode, failed, answers.zone, span));
    for part in [common, when].into_iter().flatten() {
        text.push_str(&format!(", {part}"));
    }
    if server.requests == 0 {
        text.insert_str(0, "none failed, ");
    }
    text
}

/// `412 of 500 in one episode, Mon 14:00 to 14:20`, `all from Mon 14:00 to the end of what was read`.
fn told(episode: &EpisodeDoc, failed: &FailedDoc, zone: i64, span: f64) -> Option<String> {
    let when = stretch(episode, zone).text(span)?;
    let all = failed.requests;
    let count = match episode.failures {
        // Their number stands before it.
        within if within >= all && !failed.mostly.is_empty() => "all".to_owned(),
        within if within >= all => format!("all {}", format::many(within)),
        within => format!("{} of {}", format::many(within), format::many(all)),
    };
    let is_whole = !episode.from_start && !episode.to_end;
    Some(if is_whole { format!("{count} in one episode, {when}") } else { format!("{count} {when}") })
}

#[cfg(test)]
mod tests {
    use model::doc::{AgentsDoc, MissingDoc, NameDoc, NamesDoc};

    use super::*;

    const NOON: f64 = 1_795_435_200.0;

    /// A day of steps of 5 minutes with 100 requests each, and so many failures of both classes in each.
    fn day(failed: impl Fn(usize) -> (u64, u64)) -> OverTimeDoc {
        let row = |n: usize| (NOON + n as f64 * 300.0, 100, failed(n).0, failed(n).1);
        OverTimeDoc { step: 300.0, rows: (0..288).map(row).collect(), ..OverTimeDoc::default() }
    }

    fn doc() -> AnswersDoc {
        let paths =
            NamesDoc { top: vec![NameDoc { name: "/cart".into(), requests: 100 }], ..NamesDoc::default() };
        let failed = FailedDoc { requests: 120, share: 120.0 / 28_800.0, paths, ..FailedDoc::default() };
        AnswersDoc {
            zone: 3600,
            rate: Some(28_800.0 / 86_400.0),
            busiest_hour: Some(PeakDoc { at: NOON + 3600.0, requests: 3600, rate: 1.0 }),
            client_errors: Some(FailedDoc::default()),
            server_errors: Some(failed),
            over_time: day(|n| (0, if (24..28).contains(&n) { 30 } else { 0 })),
            ..AnswersDoc::default()
        }
    }

    #[test]
    fn a_bot_that_makes_the_busiest_hour_is_named() {
        let label = TrafficDoc { label: "shop".into(), parsed: 28_800, ..TrafficDoc::default() };
        let of = |requests: u64, at: f64| {
            let clients = NamesDoc {
                top: vec![NameDoc { name: "198.51.100.9".into(), requests }],
                others: 0,
                distinct: Some(1),
            };
            let busiest_hour = Some(PeakDoc { at, requests, rate: 1.0 });
            let bot =
                BotDoc { name: "PriceSpy/0.9".into(), requests, clients, busiest_hour, ..BotDoc::default() };
            let agents = AgentsDoc { bots: requests, each_bot: vec![bot], ..AgentsDoc::default() };
            let answers = AnswersDoc { agents: Some(agents), ..doc() };
            of_label(&label, &answers, &[]).sentence
        };
        let peak = NOON + 3600.0;
        let said = of(1_692, peak);
        let tells =
            "1.00/s in the busiest hour (Mon 14:00; 47 % of the hour's by PriceSpy/0.9 from 198.51.100.9); ";
        assert!(said.contains(tells), "{said}");
        assert!(!of(800, peak).contains("PriceSpy"), "under a quarter is no news");
        assert!(!of(1_692, peak + 3600.0).contains("PriceSpy"), "another hour");
    }

    #[test]
    fn the_sentence_says_what_an_operator_asks() {
        let label =
            TrafficDoc { label: "shop".into(), parsed: 28_800, p99: Some(0.24), ..TrafficDoc::default() };
        let said = of_label(&label, &doc(), &[]);
        assert_eq!(
            said.sentence,
            "shop: 28,800 requests in 1 d, 0.333/s on average, 1.00/s in the busiest hour (Mon 14:00); 0.4 % failed with \
             5xx, 100 of 120 of them for /cart, all in one episode, Mon 15:00 to 15:21; 99 % of answers, 5xx too, \
             within 240 ms."
        );
        let failed = said.server_errors.unwrap();
        assert_eq!(
            failed.episode,
            Some(EpisodeDoc {
                from: NOON + 7200.0,
                to: NOON + 8400.0,
                failures: 120,
                ..EpisodeDoc::default()
            })
        );
        let empty = TrafficDoc { parsed: 0, p99: None, ..label.clone() };
        assert_eq!(of_label(&empty, &AnswersDoc::default(), &[]).sentence, "shop: 0 requests.");
        let missing = MissingDoc { what: TIMES.into(), why: "no line says how long its request took".into() };
        let bare = AnswersDoc { missing: vec![missing], ..AnswersDoc::default() };
        let label = TrafficDoc { parsed: 1, p99: None, ..label };
        assert_eq!(
            of_label(&label, &bare, &["status<500".to_owned()]).sentence,
            "shop where status<500: 1 request; times are not known: no line says how long its request took."
        );
    }

    #[test]
    fn failures_that_are_spread_or_few_or_follow_the_traffic_are_no_episode() {
        let found = |over_time: &OverTimeDoc| episode(over_time, |row| row.3, &[]);
        assert_eq!(found(&day(|n| (0, u64::from(n % 3 == 0)))), None);
        assert_eq!(found(&day(|n| (0, if n == 9 { 9 } else { 0 }))), None);
        assert_eq!(found(&OverTimeDoc::default()), None);
        // A busy hour in which as many of a hundred fail as ever.
        let mut busy = day(|_| (0, 1));
        for row in &mut busy.rows[100..112] {
            (row.1, row.3) = (100_000, 1000);
        }
        assert_eq!(found(&busy), None);
        let some =
            found(&day(|n| (0, if (50..53).contains(&n) { 40 } else { u64::from(n % 29 == 0) }))).unwrap();
        assert_eq!((some.from, some.to, some.failures), (NOON + 15_000.0, NOON + 15_900.0, 120));
    }

    #[test]
    fn an_outage_may_reach_to_the_ends_of_what_was_read() {
        let found = |over_time: &OverTimeDoc| {
            let one = episode(over_time, |row| row.3, &[])?;
            Some((one.from - NOON, one.to - NOON, one.from_start, one.to_end))
        };
        // All at once, in a log of a minute.
        let short = OverTimeDoc {
            step: 1.0,
            rows: (0..60).map(|n| (NOON + f64::from(n), 10, 0, 10)).collect(),
            ..OverTimeDoc::default()
        };
        assert_eq!(found(&short), Some((0.0, 60.0, true, true)));
        // A few minutes without a failure do not end it.
        let minutes = |failed: fn(usize) -> u64| OverTimeDoc {
            step: 60.0,
            rows: (0..30).map(|n| (NOON + n as f64 * 60.0, 11, 0, failed(n))).collect(),
            ..OverTimeDoc::default()
        };
        let gaps = minutes(|n| [2, 3, 2, 0, 0, 4, 0, 2][n % 8]);
        assert_eq!(found(&gaps), Some((0.0, 1800.0, true, true)));
        assert_eq!(found(&minutes(|n| if n >= 10 { 4 } else { 0 })), Some((600.0, 1800.0, false, true)));
        assert_eq!(found(&minutes(|n| if n < 12 { 4 } else { 0 })), Some((0.0, 720.0, true, false)));
        // Half of the time, and it began and ended; one in a hundred all day is none.
        assert_eq!(found(&minutes(|n| if (8..23).contains(&n) { 4 } else { 0 })), None);
        assert_eq!(found(&day(|_| (0, 1))), None);
        // A path that few ask for: all of them, with the gap.
        let rare = found(&day(|n| (0, [4, 4, 4, 3, 0, 0, 3, 4].get(n.wrapping_sub(100)).map_or(0, |n| *n))))
            .unwrap();
        assert_eq!(rare, (30_000.0, 32_400.0, false, false));
        // The last quarter of a day.
        let last = found(&day(|n| (0, if n >= 216 { 40 } else { 0 }))).unwrap();
        assert_eq!(last, (216.0 * 300.0, 86_400.0, false, true));
    }

    #[test]
    fn an_episode_goes_from_its_first_to_its_last_failure() {
        let mut doc = doc();
        doc.over_time.server_failed =
            (24..28).map(|n| NOON + f64::from(n) * 300.0).map(|at| (at + 5.0, at + 177.0)).collect();
        let label = TrafficDoc { label: "shop".into(), parsed: 28_800, ..TrafficDoc::default() };
        let said = of_label(&label, &doc, &[]);
        let episode = said.server_errors.unwrap().episode.unwrap();
        assert_eq!((episode.from, episode.to), (NOON + 7205.0, NOON + 8277.0));
        assert!(said.sentence.contains("all in one episode, Mon 15:00 to 15:18"), "{}", said.sentence);
    }

    #[test]
    fn an_episode_ends_with_its_last_failure_though_few_failed_in_that_step() {
        let label = TrafficDoc { label: "shop".into(), parsed: 28_800, ..TrafficDoc::default() };
        let failed = |n: usize| match n {
            24..28 => 30,
            28 => 1,
            _ => 0,
        };
        let found = |last: f64| {
            let mut doc = doc();
            let spans = (24..28).map(|n| NOON + f64::from(n) * 300.0).map(|at| (at + 5.0, at + 290.0));
            let server_failed = spans.chain([(NOON + last, NOON + last)]).collect();
            doc.over_time = OverTimeDoc { server_failed, ..day(|n| (0, failed(n))) };
            doc.server_errors.as_mut().unwrap().requests = 121;
            of_label(&label, &doc, &[]).server_errors.unwrap().episode.unwrap()
        };
        let close = found(8400.0);
        assert_eq!((close.from, close.to, close.failures), (NOON + 7205.0, NOON + 8400.0, 121));
        // One that follows long after is another one.
        let far = found(8600.0);
        assert_eq!((far.to, far.failures), (NOON + 8390.0, 120));
    }

    #[test]
    fn a_condition_or_a_cut_begins_and_ends_no_outage() {
        let mut doc = doc();
        let label = TrafficDoc { label: "shop".into(), parsed: 400, ..TrafficDoc::default() };
        let mut outage = doc.over_time.rows[24..28].to_vec();
        outage.iter_mut().for_each(|row| row.1 = row.3);
        doc.around = Some(std::mem::replace(
            &mut doc.over_time,
            OverTimeDoc { step: 300.0, rows: outage, ..OverTimeDoc::default() },
        ));
        let of = |doc: &AnswersDoc| of_label(&label, doc, &[]).server_errors.unwrap().episode;
        let found = of(&doc).unwrap();
        assert_eq!((found.from, found.to, found.failures), (NOON + 7200.0, NOON + 8400.0, 120));
        assert!(!found.from_start && !found.to_end);
        // From its second half on: the outage is the same, its failures are those that were let in.
        doc.over_time.rows.drain(..2);
        let half = of(&doc).unwrap();
        assert_eq!((half.from, half.failures, half.from_start), (NOON + 7200.0, 60, false));
        // All of that is too much time to know.
        doc.around = Some(OverTimeDoc::default());
        assert_eq!(of(&doc), None);
    }

    #[test]
    fn stored_answers_are_concluded_as_those_that_were_just_read() {
        let label =
            TrafficDoc { label: "shop".into(), parsed: 28_800, p99: Some(0.24), ..TrafficDoc::default() };
        let mut traffic = Traffic { answers: Some(Box::new(doc())), ..Traffic::default() };
        (traffic.group.label, traffic.group.requests) = ("shop".into(), 28_800);
        traffic.whole.insert("time.p99".into(), 0.24);
        assert_eq!(*of_stored(&traffic).unwrap(), of_label(&label, &doc(), &[]));
        assert!(of_stored(&Traffic::default()).is_none());
    }
}
