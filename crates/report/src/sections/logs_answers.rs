//! The answers of a log on a page: rates and peaks, statuses, what failed for whom and when, who asked.
//!
//! Requests, requests a second; times of day by the log's own clock. A list is as long as what was stored of it. What
//! the log does not tell is named with the reason.

use maud::{Markup, html};
use model::Unit;
use model::doc::{
    AgentsDoc, AnswersDoc, BotDoc, FailedDoc, MostlyDoc, NameDoc, NamesDoc, OverTimeRow, PeakDoc, RunDoc,
};
use model::format::{self, Kind, Moment, fixed, percent};
use model::traffic::Traffic;

use super::logs::Hours;
use crate::page::{self, Column};
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::text::cut_front;
use crate::text::logs_answers::{Class, folded};
use crate::text::logs_bots::{from_where, when_asked};

/// Characters of a name.
const LONGEST: usize = 90;
/// Names of a list, and steps of a figure: each is in the table below it.
const MOST: usize = 10;
const MOST_STEPS: usize = 80;

/// The tables of one label, whose name stands before each title where there are several.
pub fn draw(name: &str, doc: &RunDoc, traffic: Option<&Traffic>, hours: &Hours) -> Vec<Markup> {
    let Some(answers) = doc.log.as_deref() else { return Vec::new() };
    let of = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let mut all = vec![page::card(&format!("{of}requests and answers"), &figures(answers, traffic))];
    all.extend(failures(&of, answers, hours));
    for (failed, code) in [(&answers.server_errors, "5xx"), (&answers.client_errors, "4xx")] {
        let Some(failed) = failed.as_ref().filter(|failed| failed.requests > 0) else { continue };
        all.push(page::card(&format!("{of}{}", title(failed, code, answers.zone)), &lists(failed)));
    }
    if let Some(agents) = &answers.agents {
        let share = percent(agents.bots as f64 / agents.requests.max(1) as f64);
        let body = html! {
            (names("bot", &agents.top_bots))
            (bots(agents, answers))
            (names("other program", &agents.top_others))
        };
        all.push(page::card(&format!("{of}{share} of the requests came from bots that say so"), &body));
    }
    if let Some(referrers) = &answers.referrers {
        let foreign = referrers.requests.saturating_sub(referrers.own_requests);
        let own = referrers
            .own
            .as_ref()
            .map_or_else(String::new, |own| format!("; {own} is taken for the log's own"));
        let head = format!("{of}{} requests were referred by other sites{own}", fixed(foreign as f64, 0));
        all.push(page::card(&head, &names("site", &referrers.top)));
    }
    all
}

fn figures(answers: &AnswersDoc, traffic: Option<&Traffic>) -> Markup {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |head: &str, text: String| rows.push((head.to_owned(), text));
    if let Some(rate) = answers.rate {
        row("on average", format::per_second(rate));
    }
    let peaks = [
        ("in the busiest hour", answers.busiest_hour, 3600.0),
        ("in the busiest minute", answers.busiest_minute, 60.0),
        ("in the busiest second", answers.busiest_second, 1.0),
    ];
    let requests = traffic.map_or(0, |traffic| traffic.group.requests) as f64;
    let seconds = answers.rate.filter(|rate| *rate > 0.0).map_or(0.0, |rate| requests / rate);
    // Of two hours at least one is busier, but where the log has a part of them only.
    let told = peaks.into_iter().filter(|(_, _, length)| seconds > 2.0 * length);
    for (head, peak) in told.filter_map(|(head, peak, _)| Some((head, peak?))) {
        row(head, shown(&peak, answers.zone));
    }
    if let Some(traffic) = traffic {
        let whole: u64 = traffic.group.statuses.values().sum();
        for (status, count) in &traffic.group.statuses {
            let share = percent(*count as f64 / whole.max(1) as f64);
            row(&format!("status {status}"), format!("{} ({share})", fixed(*count as f64, 0)));
        }
        if traffic.group.bytes > 0.0 {
            row("sent", format::quantity(traffic.group.bytes, Kind::for_unit(Unit::Byte)));
        }
    }
    for missing in &answers.missing {
        row(&missing.what, format!("missing: {}", missing.why));
    }
    let cells = rows.into_iter().map(|(head, text)| vec![html! { (head) }, html! { (text) }]);
    page::table(&[("", Column::Text), ("", Column::Text)], &cells.collect::<Vec<_>>())
}

fn shown(peak: &PeakDoc, zone: i64) -> String {
    let at = Moment::at(peak.at + zone as f64);
    let at = at.map_or_else(String::new, |at| format!(" ({} {} {})", at.weekday(), at.date(), at.time()));
    format!("{}{at}", format::per_second(peak.rate))
}

/// The words for a class of failures: an answer 4xx is said to be the client's fault.
fn how(code: &str) -> String {
    format!("{} {code}", if code == "5xx" { "failed with" } else { "answered" })
}

fn title(failed: &FailedDoc, code: &str, zone: i64) -> String {
    let mut text = format!("{} {}, {}", fixed(failed.requests as f64, 0), how(code), percent(failed.share));
    if let Some(common) = MostlyDoc::list(&failed.mostly, failed.requests) {
        text.push_str(&format!("; {common}"));
    }
    if let Some(episode) = failed.episode
        && let [Some(from), Some(to)] = [episode.from, episode.to].map(|at| Moment::at(at + zone as f64))
    {
        text.push_str(&format!(
            "; {} of them in one episode, {} {} to {}",
            fixed(episode.failures as f64, 0),
            from.date(),
            from.time(),
            to.time()
        ));
    }
    text
}

fn lists(failed: &FailedDoc) -> Markup {
    html! { (names("path", &failed.paths)) (names("client", &failed.clients)) }
}

/// When each bot asked, and from where; nothing of runs that do not tell it.
fn bots(agents: &AgentsDoc, answers: &AnswersDoc) -> Markup {
    let steps = &answers.over_time;
    let span =
        steps.rows.first().zip(steps.rows.last()).map_or(0.0, |(first, last)| last.0 - first.0 + steps.step);
    let row = |bot: &BotDoc| {
        let one = [bot];
        let when = when_asked(&one, (answers.zone as f64, span)).unwrap_or_default();
        let from = from_where(&one).unwrap_or_default();
        vec![html! { code { (cut_front(&bot.name, LONGEST)) } }, html! { (when) }, html! { (from) }]
    };
    let rows: Vec<Vec<Markup>> = agents.each_bot.iter().take(MOST).map(row).collect();
    if rows.is_empty() {
        return html! {};
    }
    page::table(&[("bot", Column::Text), ("when", Column::Text), ("from", Column::Text)], &rows)
}

/// Names with their counts, and all others together.
fn names(what: &str, names: &NamesDoc) -> Markup {
    let line = |name: &str, requests: u64| {
        vec![html! { code { (cut_front(name, LONGEST)) } }, html! { (fixed(requests as f64, 0)) }]
    };
    let mut rows: Vec<Vec<Markup>> =
        names.top.iter().take(MOST).map(|NameDoc { name, requests }| line(name, *requests)).collect();
    let rest = names.others + names.top.iter().skip(MOST).map(|name| name.requests).sum::<u64>();
    if rest > 0 {
        let distinct = names.distinct.map(|all| (all as usize).saturating_sub(rows.len()));
        let others =
            distinct.map_or_else(|| format!("other {what}s: over 4,000"), |n| format!("{n} other {what}s"));
        rows.push(vec![html! { (others) }, html! { (fixed(rest as f64, 0)) }]);
    }
    if rows.is_empty() {
        return html! {};
    }
    page::table(&[(what, Column::Text), ("requests", Column::Number)], &rows)
}

/// Failures over time, a line a class.
fn failures(of: &str, answers: &AnswersDoc, hours: &Hours) -> Option<Markup> {
    let over_time = &folded(&answers.over_time, MOST_STEPS);
    let count = |of: fn(&OverTimeRow) -> u64| over_time.rows.iter().map(of).sum::<u64>();
    let classes: [Class; 2] = [("4xx", |row| row.2), ("5xx", |row| row.3)];
    let failed: u64 = classes.iter().map(|(_, of)| count(*of)).sum();
    if failed == 0 || over_time.rows.len() < 3 {
        return None;
    }
    let line = |(name, of): &Class| {
        let middle = over_time.step / 2.0;
        let points = over_time.rows.iter().map(|row| Point::at(hours.at(row.0 + middle), of(row) as f64));
        Series { name: (*name).to_owned(), points: points.collect(), reference: false }
    };
    let step = format::duration(over_time.step);
    let of_class = |(name, class): &Class| {
        let requests = count(*class);
        (requests > 0).then(|| format!("{} {}", fixed(requests as f64, 0), how(name)))
    };
    let said: Vec<String> = classes.iter().rev().filter_map(of_class).collect();
    let caption =
        Caption::new(format!("{of}{}", said.join(", "))).subtitle(format!("4xx and 5xx of each {step}"));
    let axis = AxisSpec::new(format!("requests in {step}"), Kind::for_unit(Unit::Count)).from_zero();
    let plot = LinePlot {
        markers: hours.markers(),
        ..LinePlot::new(caption, hours.axis(), axis, classes.iter().map(line).collect())
    };
    Some(plot.render())
}
