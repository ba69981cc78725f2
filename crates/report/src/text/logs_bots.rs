//! The bots of a log in a line: how much of the requests, when each asked, and from where.
//!
//! Seconds since 1970; times of day by the log's own clock, to the hour.

use model::doc::{AgentsDoc, AnswersDoc, BotDoc, TrafficDoc};
use model::format::{self, Moment, fixed, percent};

use super::logs_names::{short_agent, short_names, shown_name};

/// Seconds by which the log's clock is ahead of UTC, and those that the log covers.
pub type Clock = (f64, f64);

pub fn clock(label: &TrafficDoc, answers: &AnswersDoc) -> Clock {
    let span = label.first.zip(label.last).map_or(0.0, |(first, last)| last - first + 1.0);
    (answers.zone as f64, span)
}

/// `5.4 % of the requests: BadBot/2.1 5.4 % (Mon 12:00 to 14:00, from 203.0.113.77)`.
pub fn bots(agents: &AgentsDoc, most: usize, clock: Clock) -> String {
    let share = |count: u64| percent(count as f64 / agents.requests.max(1) as f64);
    if agents.bots == 0 {
        return "none that says so".to_owned();
    }
    let detail = |short: &str| {
        let same: Vec<&BotDoc> =
            agents.each_bot.iter().filter(|bot| short_agent(&bot.name) == short).collect();
        let told: Vec<String> = [when_asked(&same, clock), from_where(&same)].into_iter().flatten().collect();
        if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
    };
    let names = short_names(
        &agents.top_bots,
        most,
        |name, count| format!("{name} {}{}", share(count), detail(name)),
        share,
    );
    format!("{} of the requests{names}", share(agents.bots))
}

/// The share of the log that a bot's time may have to be told as a stretch.
const SHORT: f64 = 0.25;
const HOUR: f64 = 3600.0;

/// The share of an hour's requests from which on those of a bot are told.
const MUCH: f64 = 0.25;

/// `every day 02:00 to 03:00`, `Mon 12:00 to 14:00`, or the busiest hour, of a bot of one name or several, and its part
/// of that hour's requests where it is much; nothing in a log of two hours.
pub fn when_asked(same: &[&BotDoc], (zone, span): Clock) -> Option<String> {
    let at = |seconds: f64| Moment::at(seconds + zone);
    let times: Option<Vec<(f64, f64)>> = same.iter().map(|bot| bot.from.zip(bot.to)).collect();
    let whole = times.and_then(|all| {
        let from = all.iter().map(|one| one.0).reduce(f64::min)?;
        Some((from, all.iter().map(|one| one.1).reduce(f64::max)?))
    });
    if span <= 2.0 * HOUR {
        return None;
    }
    let only = if let [only] = same { Some(*only) } else { None };
    if let Some(daily) = only.and_then(|bot| bot.daily(zone, Some(span))) {
        let hour = only.and_then(|bot| of_hour(bot, zone)).unwrap_or_default();
        return Some(daily + &hour);
    }
    if let Some((from, to)) = whole.filter(|(from, to)| to - from <= (SHORT * span).max(HOUR)) {
        let (first, last) = (at(from)?, at(to)?);
        let end = if first.date() == last.date() { last.time() } else { last.within(span) };
        let hour = only.and_then(|bot| of_hour(bot, zone)).unwrap_or_default();
        return Some(format!("{} to {end}{hour}", first.within(span)));
    }
    let peak = only?.busiest_hour.as_ref()?;
    let hour = only.and_then(|bot| of_hour(bot, zone)).unwrap_or_default();
    Some(format!("busiest {}{hour}", at(peak.at)?.within(span)))
}

/// `, 3,100 of 4,000 requests of the hour 03:00`, of the bot's busiest hour.
fn of_hour(bot: &BotDoc, zone: f64) -> Option<String> {
    let (peak, all) = (bot.busiest_hour.as_ref()?, bot.hour_requests.filter(|all| *all > 0)?);
    let is_much = peak.requests as f64 >= MUCH * all as f64;
    let [own, all] = [peak.requests, all].map(|count| fixed(count as f64, 0));
    let hour = Moment::at(peak.at + zone)?.time();
    is_much.then(|| format!(", {own} of {all} requests of the hour {hour}"))
}

/// Addresses that are named.
const FEW_CLIENTS: usize = 2;

/// `from 10.0.0.1 and 10.0.0.2`, or from how many addresses.
pub fn from_where(same: &[&BotDoc]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for client in same.iter().flat_map(|bot| &bot.clients.top) {
        let name = shown_name(&client.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let are_all = same.iter().all(|bot| bot.clients.distinct == Some(bot.clients.top.len() as u64));
    match (names.len(), same) {
        (0, _) => None,
        (count, _) if are_all && count <= FEW_CLIENTS => Some(format!("from {}", format::list(&names))),
        (count, _) if are_all => Some(format!("from {count} addresses")),
        (_, [only]) => {
            let count = only.clients.distinct.map_or_else(|| "many".to_owned(), |n| fixed(n as f64, 0));
            Some(format!("from {count} addresses"))
        }
        _ => Some("from several addresses".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use model::doc::{NameDoc, NamesDoc, PeakDoc};

    use super::*;

    #[test]
    fn a_bot_is_told_with_its_time_and_its_addresses() {
        const DAY: f64 = 86_400.0;
        let client = |name: &str| NameDoc { name: name.to_owned(), requests: 5 };
        let bot = |name: &str, from: f64, to: f64, clients: &[&str], distinct| BotDoc {
            name: name.to_owned(),
            requests: 900,
            clients: NamesDoc { top: clients.iter().map(|name| client(name)).collect(), others: 0, distinct },
            busiest_hour: Some(PeakDoc { at: from + HOUR, requests: 400, rate: 0.1 }),
            hour_requests: Some(1_000),
            from: Some(from),
            to: Some(to),
            every_day: None,
            peak_requests: None,
        };
        let said = |bots: &[BotDoc], span| {
            let top = bots.iter().map(|bot| NameDoc { name: bot.name.clone(), requests: bot.requests });
            let agents = AgentsDoc {
                requests: 10_000,
                bots: 900 * bots.len() as u64,
                top_bots: NamesDoc { top: top.collect(), ..NamesDoc::default() },
                each_bot: bots.to_vec(),
                ..AgentsDoc::default()
            };
            super::bots(&agents, 3, (3600.0, span))
        };
        // 1 January 1970 was a Thursday.
        let short = bot("BadBot/2.1", 11.0 * HOUR, 13.0 * HOUR, &["10.0.0.7"], Some(1));
        let says = "9 % of the requests: BadBot/2.1 9 % (Thu 12:00 to 14:00, 400 of 1,000 requests of the hour 13:00, \
                    from 10.0.0.7)";
        assert_eq!(said(std::slice::from_ref(&short), 2.0 * DAY), says);
        // A small part of the hour's requests is no news.
        let small = BotDoc { hour_requests: Some(1_601), ..short.clone() };
        let says = "9 % of the requests: BadBot/2.1 9 % (Thu 12:00 to 14:00, from 10.0.0.7)";
        assert_eq!(said(&[small], 2.0 * DAY), says);
        // A log of an hour is not told apart by hours.
        let says = "9 % of the requests: BadBot/2.1 9 % (from 10.0.0.7)";
        assert_eq!(said(std::slice::from_ref(&short), HOUR), says);
        let long = |name: &str| bot(name, 0.0, 2.0 * DAY, &["10.0.0.8", "10.0.0.9"], Some(7));
        let says = "9 % of the requests: Bot/1 9 % (busiest Thu 02:00, 400 of 1,000 requests of the hour 02:00, from 7 \
                    addresses)";
        assert_eq!(said(&[long("Bot/1")], 2.0 * DAY), says);
        let daily = BotDoc { every_day: Some((2, 4)), ..long("Bot/1") };
        let says = "9 % of the requests: Bot/1 9 % (every day 02:00 to 04:00, 400 of 1,000 requests of the hour 02:00, from 7 \
                    addresses)";
        assert_eq!(said(&[daily], 2.0 * DAY), says);
        // Programs of one short name are one.
        let says = "18 % of the requests: Bot/1 18 % (from several addresses)";
        assert_eq!(said(&[long("Bot/1 (a)"), long("Bot/1 (b)")], 2.0 * DAY), says);
        let none = BotDoc { clients: NamesDoc::default(), from: None, busiest_hour: None, ..short };
        assert_eq!(said(&[none], 2.0 * DAY), "9 % of the requests: BadBot/2.1 9 %");
    }
}
