//! From an aggregate to what an operator asks first: how much and when, what failed for whom, who asked.
//!
//! Requests, seconds since 1970. What the lines do not tell is named missing, with the reason, and is never 0. Nothing
//! is concluded here: the sentence and the episodes come from [`verdict::traffic::answers`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use logs::aggregate::agents::{BOT, is_same_site};
use logs::aggregate::bots::{self, CLIENT};
use logs::aggregate::bounded::Merge;
use logs::aggregate::keys;
use logs::aggregate::names::{Asked, Names};
use logs::aggregate::pace::{Failures, Pace};
use logs::aggregate::paths::{By, Top};
use logs::aggregate::sketch::CountMin;
use logs::aggregate::{Aggregate, Slot};
use model::doc::{
    AgentsDoc, AnswersDoc, AskedDoc, BotDoc, FailedDoc, MissingDoc, NameDoc, NamesDoc, OutageDoc,
    OverTimeDoc, PeakDoc, ReferrersDoc,
};
use model::traffic::StatusClass;
use verdict::traffic::answers::TIMES;

use super::known::untimed;

const HOUR: i64 = 3600;
/// Steps of requests over time, in seconds, and how many there may be.
const STEPS: [i64; 8] = [60, 300, 900, HOUR, 3 * HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR];
/// A day has a step for each minute.
const MOST_STEPS: i64 = 1500;
/// Names that are looked through for those of the log's own site.
const SITES: usize = 200;

/// The answers of a label, with so many names in each list.
pub fn answers(one: &Aggregate, most: usize) -> AnswersDoc {
    let requests = one.totals().requests;
    let seconds = one.span.map(|(first, last)| (last - first + 1) as f64);
    let failed = |class: usize| failed(one, class, most);
    let zone = zone(one);
    let hours = hours(one, zone);
    let agents = one.agents.total(0) + one.agents.total(BOT);
    let rate = seconds.map(|seconds| dated(one) as f64 / seconds).filter(|_| requests > 0);
    let busiest = |all, seconds| peak(all, seconds).filter(|peak| is_busier(peak, seconds, rate));
    AnswersDoc {
        zone,
        rate,
        busiest_hour: busiest(Some(hours.clone()), HOUR),
        busiest_minute: busiest(minutes(one), 60),
        busiest_second: busiest(one.pace.seconds(), 1),
        client_errors: failed(0),
        server_errors: failed(1),
        over_time: over_time(one, zone),
        around: around(one, zone),
        agents: (agents > 0).then(|| AgentsDoc {
            requests: agents,
            bots: one.agents.total(BOT),
            top_bots: names(&one.agents, BOT, most),
            top_others: names(&one.agents, 0, most),
            each_bot: each_bot(one, &hours, zone, most),
        }),
        referrers: referrers(one, most),
        one_client: one.clients.exact() == Some(1),
        one_host: one.vhosts.is_some_and(|(lowest, highest)| lowest == highest),
        missing: missing(one),
        error: CountMin::ERROR,
        ..AnswersDoc::default()
    }
}

/// Outages by label.
pub type Outages = BTreeMap<String, OutageDoc>;

/// The answers of a label with its outage.
pub fn with_outage(label: &str, outages: &Outages, mut answers: AnswersDoc) -> AnswersDoc {
    if let Some(failed) = &mut answers.server_errors {
        failed.outage = outages.get(label).cloned();
    }
    answers
}

/// Requests whose line tells a time of day; all where the log covers too much time to know.
fn dated(one: &Aggregate) -> u64 {
    let slots = one.slots.sorted().map(|slots| slots.iter().map(|(_, strata)| strata.total().requests).sum());
    slots.unwrap_or_else(|| one.totals().requests)
}

/// Seconds by which the log's last clock is ahead of UTC.
fn zone(one: &Aggregate) -> i64 {
    let slots = one.slots.sorted().unwrap_or_default();
    slots.last().map_or(0, |(slot, _)| i64::from(slot.zone) * 900)
}

fn peak(all: Option<Vec<(i64, u64)>>, seconds: i64) -> Option<PeakDoc> {
    // Of equal ones the first.
    let (at, requests) = all?.into_iter().reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    (requests > 0).then(|| PeakDoc { at: at as f64, requests, rate: requests as f64 / seconds as f64 })
}

/// False of the busiest stretch of a log whose requests came less often in it than on average: the log has a part of it
/// only, as it begins or ends within an hour in which most was asked. Between two requests at its ends one is missing.
fn is_busier(peak: &PeakDoc, seconds: i64, average: Option<f64>) -> bool {
    average.is_none_or(|average| (peak.requests + 1) as f64 / seconds as f64 >= average)
}

fn minutes(one: &Aggregate) -> Option<Vec<(i64, u64)>> {
    Some(one.pace.minutes()?.into_iter().map(|(minute, counts)| (minute * 60, counts.requests())).collect())
}

/// Requests by hour of the log's own clock; none where it covers too much time to know.
fn hours(one: &Aggregate, zone: i64) -> Vec<(i64, u64)> {
    let count = |period: &logs::aggregate::Period| (period.local - zone, period.strata.total().requests);
    one.hourly().unwrap_or_default().iter().map(count).collect()
}

/// Requests that failed: the client's fault, or the server's.
fn failed(one: &Aggregate, class: usize, most: usize) -> Option<FailedDoc> {
    let told: u64 = one.statuses.iter().map(|(_, count)| count).sum();
    let (low, high) = if class == 0 { (400, 500) } else { (500, u16::MAX) };
    let requests = one.statuses.between(low, high);
    (told > 0).then(|| FailedDoc {
        requests,
        share: requests as f64 / told as f64,
        paths: names(&one.failed_paths, class, most),
        folder: folder(one, class),
        clients: names(&one.failed_clients, class, most),
        hosts: names(&one.failed_hosts, class, most),
        seconds: seconds(one, class),
        bytes: bytes(one, class),
        asked: asked(&one.failed_asked, class, most.max(LEAST_ASKED)),
        // What follows is concluded elsewhere.
        mostly: Vec::new(),
        episode: None,
        outage: None,
    })
}

/// Paths, asked for most, that tell whether all requests are in one folder.
const ASKED_MOST: usize = 50;

/// The first folder of most paths of a class of failures.
fn folder(one: &Aggregate, class: usize) -> Option<NameDoc> {
    let mut folders: BTreeMap<Cow<'_, [u8]>, u64> = BTreeMap::new();
    for (path, requests) in certain(&one.failed_paths, class, usize::MAX) {
        *folders.entry(keys::prefix(path, 1)).or_default() += requests;
    }
    let (name, requests) = folders.into_iter().filter(|(name, _)| name.len() > 1).max_by_key(|one| one.1)?;
    let is_elsewhere = |top: &Top<'_>| keys::prefix(top.path, 1) != name;
    one.paths.top(By::Requests, ASKED_MOST).iter().any(is_elsewhere).then(|| named((&*name, requests)))
}

/// Time that requests of a class of failures took.
fn seconds(one: &Aggregate, class: usize) -> Option<f64> {
    let class = if class == 0 { StatusClass::Client } else { StatusClass::Server };
    untimed(&one.totals()).is_none().then(|| one.failed.total(class).time_ns as f64 / 1e9)
}

/// Bytes that requests of a class of failures sent.
fn bytes(one: &Aggregate, class: usize) -> Option<f64> {
    let class = if class == 0 { StatusClass::Client } else { StatusClass::Server };
    let totals = one.totals();
    (totals.requests > totals.unsized_).then(|| one.failed.total(class).bytes as f64)
}

/// Who asked for what; as many as tell a scanner of several paths.
const LEAST_ASKED: usize = 10;

fn asked(all: &Names, class: usize, most: usize) -> Vec<AskedDoc> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let doc = |(name, requests): (&[u8], u64)| {
        let asked = Asked::read(name)?;
        let agent = Some(text(&asked.agent)).filter(|agent| !agent.is_empty());
        Some(AskedDoc {
            client: text(&asked.client),
            status: asked.status,
            path: text(&asked.path),
            agent,
            requests,
        })
    };
    certain(all, class, most).into_iter().filter_map(doc).collect()
}

fn named((name, requests): (&[u8], u64)) -> NameDoc {
    NameDoc { name: String::from_utf8_lossy(name).into_owned(), requests }
}

/// The names that come up most. Of more names than are kept, those that may come up only by the sketch's error are
/// among the others.
fn certain(all: &Names, class: usize, most: usize) -> Vec<(&[u8], u64)> {
    let mut top = all.top(class, most);
    if all.distinct(class).is_none() {
        let error = (CountMin::ERROR * all.total(class) as f64).ceil() as u64;
        top.retain(|(_, requests)| *requests > error);
    }
    top
}

fn names(all: &Names, class: usize, most: usize) -> NamesDoc {
    let top: Vec<NameDoc> = certain(all, class, most).into_iter().map(named).collect();
    let others = all.total(class).saturating_sub(top.iter().map(|name| name.requests).sum());
    NamesDoc { top, others, distinct: all.distinct(class).map(|count| count as u64) }
}

/// The bots that asked most, each with its clients and hours.
fn each_bot(one: &Aggregate, of_all: &[(i64, u64)], zone: i64, most: usize) -> Vec<BotDoc> {
    let (clients, hours) = [CLIENT, bots::HOUR].map(|class| certain(&one.bots, class, usize::MAX)).into();
    let all_clients = one.bots.distinct(CLIENT).is_some();
    let all_hours = one.bots.distinct(bots::HOUR).is_some();
    let busiest = peak(Some(of_all.to_vec()), HOUR).map(|peak| peak.at as i64);
    let bot = |(name, requests): (&[u8], u64)| {
        let of_bot = |(joined, count): &(&'_ [u8], u64)| Some((bots::behind(joined, name)?.to_vec(), *count));
        let mut from: Vec<(Vec<u8>, u64)> = clients.iter().filter_map(of_bot).collect();
        let distinct = all_clients.then_some(from.len() as u64);
        from.truncate(most);
        let top: Vec<NameDoc> = from.iter().map(|(client, count)| named((client, *count))).collect();
        let others = requests.saturating_sub(top.iter().map(|client| client.requests).sum());
        let asked: Vec<(i64, u64)> = hours
            .iter()
            .filter_map(of_bot)
            .filter_map(|(hour, count)| Some((bots::hour(&hour)?, count)))
            .collect();
        let busiest_hour = peak(Some(asked.clone()), HOUR);
        let at_peak = |hour: &&(i64, u64)| busiest.is_some_and(|at| hour.0 == at);
        let same = |peak: &PeakDoc| of_all.iter().find(|(hour, _)| *hour as f64 == peak.at);
        let (first, last) = (asked.iter().map(|one| one.0).min(), asked.iter().map(|one| one.0).max());
        BotDoc {
            name: String::from_utf8_lossy(name).into_owned(),
            requests,
            clients: NamesDoc { top, others, distinct },
            from: first.filter(|_| all_hours).map(|hour| hour as f64),
            to: last.filter(|_| all_hours).map(|hour| (hour + HOUR) as f64),
            hour_requests: busiest_hour.as_ref().and_then(same).map(|(_, requests)| *requests),
            peak_requests: asked.iter().find(at_peak).map(|(_, requests)| *requests),
            busiest_hour,
            every_day: all_hours.then(|| every_day(&asked, zone)).flatten(),
        }
    };
    certain(&one.agents, BOT, most).into_iter().map(bot).collect()
}

/// Longest stretch of a day, in hours, that is told as the time at which a bot comes.
const LONGEST_VISIT: i64 = 6;

/// The hours of the day of a bot that asked in them on each of several days that follow each other, and at no other
/// time.
fn every_day(asked: &[(i64, u64)], zone: i64) -> Option<(u8, u8)> {
    let day = 24 * HOUR;
    let of_day = |hour: &(i64, u64)| (hour.0 + zone).rem_euclid(day) / HOUR;
    let days: BTreeSet<i64> = asked.iter().map(|hour| (hour.0 + zone).div_euclid(day)).collect();
    let (first, last) = (days.first()?, days.last()?);
    let (from, to) = (asked.iter().map(of_day).min()?, asked.iter().map(of_day).max()? + 1);
    let is_each = days.len() > 1 && last - first + 1 == days.len() as i64 && to - from <= LONGEST_VISIT;
    is_each.then_some((u8::try_from(from).ok()?, u8::try_from(to).ok()?))
}

/// Sites that referred. Where lines tell no virtual host, the site that refers more than all others together is taken
/// for the log's own.
fn referrers(one: &Aggregate, most: usize) -> Option<ReferrersDoc> {
    let (foreign, own) = (one.referrers.total(0), one.referrers.total(1));
    if foreign + own == 0 {
        return None;
    }
    let mut sites = certain(&one.referrers, 0, SITES.max(most));
    let first =
        sites.first().filter(|first| one.vhost_told == 0 && first.1 * 2 > foreign).map(|first| first.0);
    let (mut own_requests, mut distinct) = (own, one.referrers.distinct(0));
    if let Some(first) = first {
        let (mine, others): (Vec<_>, Vec<_>) =
            sites.into_iter().partition(|site| is_same_site(site.0, first));
        own_requests += mine.iter().map(|site| site.1).sum::<u64>();
        distinct = distinct.map(|all| all.saturating_sub(mine.len()));
        sites = others;
    }
    sites.truncate(most);
    let top: Vec<NameDoc> = sites.into_iter().map(named).collect();
    let shown: u64 = top.iter().map(|name| name.requests).sum();
    Some(ReferrersDoc {
        requests: foreign + own,
        own: first.map(|name| String::from_utf8_lossy(name).into_owned()),
        own_requests,
        top: NamesDoc {
            top,
            others: (foreign + own).saturating_sub(own_requests + shown),
            distinct: distinct.map(|count| count as u64),
        },
    })
}

/// The shortest step at which a stretch has few enough.
fn step(first: i64, last: i64) -> Option<i64> {
    STEPS.into_iter().find(|step| (last - first) / step < MOST_STEPS)
}

/// Requests and failures in steps that are as short as their number allows.
fn over_time(one: &Aggregate, zone: i64) -> OverTimeDoc {
    let Some(step) = one.span.and_then(|(first, last)| step(first, last)) else {
        return OverTimeDoc::default();
    };
    let by_minute = by_minute(&one.pace, step, zone);
    if step < 900
        && let Some(doc) = by_minute
    {
        return doc;
    }
    let mut rows: BTreeMap<i64, (u64, Failures)> = BTreeMap::new();
    let start = |slot: &Slot| place(slot.start(), step, zone);
    for (slot, strata) in one.slots.sorted().unwrap_or_default() {
        rows.entry(start(slot)).or_default().0 += strata.total().requests;
    }
    for (slot, failures) in one.pace.failures().unwrap_or_default() {
        rows.entry(start(slot)).or_default().1.merge(failures);
    }
    OverTimeDoc { server_failed: by_minute.unwrap_or_default().server_failed, ..stepped(rows, step) }
}

/// The same with the requests that only conditions on status or time leave out; empty where all of that is too much
/// time.
fn around(one: &Aggregate, zone: i64) -> Option<OverTimeDoc> {
    if one.around.is_empty() {
        return None;
    }
    let mut all = one.pace.clone();
    all.merge(&one.around);
    let minutes = all.minutes().unwrap_or_default();
    let span =
        minutes.first().zip(minutes.last()).map(|((first, _), (last, _))| (**first * 60, **last * 60 + 59));
    let doc = span.and_then(|(first, last)| by_minute(&all, step(first, last)?, zone));
    Some(doc.unwrap_or_default())
}

/// The beginning of the step that a moment is in.
fn place(at: i64, step: i64, zone: i64) -> i64 {
    (at + zone).div_euclid(step) * step - zone
}

/// By the minutes that are known; none where there are too many.
fn by_minute(pace: &Pace, step: i64, zone: i64) -> Option<OverTimeDoc> {
    let mut rows: BTreeMap<i64, (u64, Failures)> = BTreeMap::new();
    let mut failed: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for (minute, counts) in pace.minutes()? {
        let place = place(minute * 60, step, zone);
        let row = rows.entry(place).or_default();
        row.0 += counts.requests();
        row.1.merge(&counts.failures);
        if let Some(told) = counts.server_failed {
            let [first, last] = [told.0, told.1].map(|second| minute * 60 + i64::from(second));
            let known = failed.entry(place).or_insert((first, last));
            *known = (known.0.min(first), known.1.max(last));
        }
    }
    let server_failed = failed.into_values().map(|(first, last)| (first as f64, last as f64)).collect();
    Some(OverTimeDoc { server_failed, ..stepped(rows, step) })
}

fn stepped(rows: BTreeMap<i64, (u64, Failures)>, step: i64) -> OverTimeDoc {
    let row = |(at, (requests, failures)): (i64, (u64, Failures))| {
        (at as f64, requests, failures.client, failures.server)
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect();
    OverTimeDoc { step: if rows.is_empty() { 0.0 } else { step as f64 }, rows, ..OverTimeDoc::default() }
}

fn missing(one: &Aggregate) -> Vec<MissingDoc> {
    let totals = one.totals();
    if totals.requests == 0 {
        return Vec::new();
    }
    let too_long = one.slots.overflowed() || one.pace.minutes().is_none();
    let has = |total: u64| total > 0;
    let all = [
        (TIMES, untimed(&totals)),
        ("statuses", (one.statuses.iter().next().is_none()).then_some("no line tells a status")),
        ("bytes sent", (totals.unsized_ == totals.requests).then_some("no line tells a size")),
        ("rates and failures over time", one.span.is_none().then_some("no line tells a time of day")),
        (
            "the busiest second and minute",
            (one.span.is_some() && too_long).then_some("the log covers more minutes than are told apart"),
        ),
        ("methods", one.methods.iter().all(|count| *count == 0).then_some("no line tells a request")),
        ("clients", (one.clients.estimate() < 0.5).then_some("no line tells a client")),
        (
            "programs and bots",
            (!has(one.agents.total(0) + one.agents.total(BOT))).then_some("no line tells a user agent"),
        ),
        (
            "referrers",
            (!has(one.referrers.total(0) + one.referrers.total(1)))
                .then_some("no line tells the address of a referrer"),
        ),
    ];
    let missing =
        |(what, why): (&str, Option<&str>)| Some(MissingDoc { what: what.to_owned(), why: why?.to_owned() });
    all.into_iter().filter_map(missing).collect()
}

#[cfg(test)]
mod tests {
    use logs::aggregate::{Settings, Writer};
    use logs::scan::Record;

    use super::*;

    #[test]
    fn of_many_names_only_those_beyond_the_error_are_listed() {
        let settings = Settings::default();
        let mut all = Aggregate::default();
        let mut writer = Writer::new(&mut all, &settings);
        for n in 0..40_000u64 {
            let path =
                if n % 100 == 0 { "/cart".to_owned() } else { format!("/{}", n.wrapping_mul(0x9e37_79b9)) };
            let client = format!("10.0.{}.{}", n / 250, n % 250);
            let (path, client) = (Some(path.as_bytes()), Some(client.as_bytes()));
            writer.add(&Record { path, client, status: Some(503), offset: n * 90, ..Record::default() });
        }
        drop(writer);
        let failed = answers(&all, 10).server_errors.unwrap();
        assert_eq!((failed.requests, failed.paths.distinct, failed.clients.distinct), (40_000, None, None));
        let names: Vec<&str> = failed.paths.top.iter().map(|name| name.name.as_str()).collect();
        assert_eq!((names, failed.clients.top.len(), failed.clients.others), (vec!["/cart"], 0, 40_000));
        let cart = failed.paths.top[0].requests;
        assert!((400..=414).contains(&cart) && failed.paths.others == 40_000 - cart, "{cart}");
    }

    #[test]
    fn a_bot_that_comes_at_one_time_of_each_day_is_told() {
        let at = |day: i64, hour: i64| ((day * 24 + hour) * HOUR, 100);
        assert_eq!(every_day(&[at(5, 2), at(6, 2), at(7, 3)], 0), Some((2, 4)));
        // By the log's own clock it is one hour later.
        assert_eq!(every_day(&[at(5, 2), at(6, 2)], HOUR), Some((3, 4)));
        assert_eq!(every_day(&[at(5, 2)], 0), None, "one day");
        assert_eq!(every_day(&[at(5, 2), at(7, 2)], 0), None, "a day between is missing");
        assert_eq!(every_day(&[at(5, 2), at(6, 14)], 0), None, "all over the day");
        assert_eq!(every_day(&[], 0), None);
    }

    #[test]
    fn nothing_read_is_no_figure() {
        let none = answers(&Aggregate::default(), 10);
        assert!(none.rate.is_none() && none.client_errors.is_none() && none.busiest_second.is_none());
        assert!(none.agents.is_none() && none.referrers.is_none() && none.missing.is_empty());
        assert_eq!(none.over_time, OverTimeDoc::default());
    }
}
