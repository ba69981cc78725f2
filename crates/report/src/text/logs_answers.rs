//! The answers of a log on a screen: rates and peaks, statuses, what failed for whom and when, who asked.
//!
//! Requests, requests a second; times of day by the log's own clock. Names from a log are shown without control
//! characters. What the log does not tell is named with the reason.

use std::collections::BTreeMap;

use model::Unit;
use model::doc::{
    AgentsDoc, AnswersDoc, FailedDoc, LogFormatDoc, MissingDoc, NameDoc, NamesDoc, OverTimeDoc, OverTimeRow,
    PathDoc, PeakDoc, TopDoc, TrafficDoc,
};
use model::format::{self, Kind, Moment, fixed, percent};

use super::grid::{Align, Cell, Cut, Grid};
use super::logs_bots::{bots, clock};
use super::logs_figures::has_failures;
use super::logs_names::short_names;
pub use super::logs_names::{short_agent, shown_name};
use super::logs_values::View;
use super::{Look, cut, cut_front, hang};

/// Columns of a heading.
const HEAD: usize = 10;
/// Columns of requests over time.
const STRIP: usize = 60;
/// Codes, agents and sites in a line, where not all are wanted.
const FEW: usize = 3;

/// The lines about one label.
pub fn lines(label: &TrafficDoc, top: &[TopDoc], view: View, look: Look) -> String {
    let Some(answers) = label.answers.as_deref() else { return String::new() };
    let few = view.most.max(FEW);
    let mut out = String::new();
    let mut line = |head: &str, text: String| {
        if !text.is_empty() {
            out.push_str(&hang(&format!("{head:<HEAD$}"), &text, look.columns));
        }
    };
    line("requests", requests(label, answers));
    line("status", [classes(label), codes(label, few)].join("; ").trim_matches([';', ' ']).to_owned());
    let clients = label.clients.map(|_| format!("clients {}", super::logs_values::clients(label)));
    let methods = Some(shares(&label.methods, few)).filter(|text| !text.is_empty());
    line("methods", methods.into_iter().chain(clients).collect::<Vec<_>>().join("; "));
    line("sent", sent(label, view.all));
    line("time", times(label));
    if view.all {
        line("speed", speeds(label));
    }
    line(
        "bots",
        answers.agents.as_ref().map_or_else(String::new, |agents| bots(agents, few, clock(label, answers))),
    );
    line("agents", answers.agents.as_ref().map_or_else(String::new, |agents| agents_line(agents, few)));
    line("referrers", referrers(answers, few));
    if !view.all {
        line("paths", paths(label, top, few, look));
    }
    line("period", period(label, answers));
    let missing = |one: &MissingDoc| format!("{} ({})", one.what, one.why);
    line("missing", answers.missing.iter().map(missing).collect::<Vec<_>>().join(", "));
    out
}

/// The short lists of one of several labels: what failed for whom, who asked, which paths weigh most.
pub fn brief(label: &TrafficDoc, top: &[TopDoc], look: Look) -> String {
    let Some(answers) = label.answers.as_deref() else { return String::new() };
    let behind = |failed: &Option<FailedDoc>| {
        let failed = failed.as_ref().filter(|failed| failed.requests > 0);
        failed.map_or_else(String::new, |failed| behind(failed, look))
    };
    let asked = |agents: &AgentsDoc| {
        let bots = (agents.bots > 0).then(|| format!("bots {}", bots(agents, FEW, clock(label, answers))));
        let others = Some(agents_line(agents, FEW)).filter(|line| !line.is_empty());
        bots.into_iter().chain(others).collect::<Vec<_>>().join("; ")
    };
    let lines = [
        ("5xx", behind(&answers.server_errors)),
        ("4xx", behind(&answers.client_errors)),
        ("asked by", answers.agents.as_ref().map_or_else(String::new, asked)),
        ("paths", paths(label, top, FEW, look)),
    ];
    let told = lines.into_iter().filter(|(_, text)| !text.is_empty());
    told.map(|(head, text)| hang(&format!("{head:<HEAD$}"), &text, look.columns)).collect()
}

/// Clients are named where the first of them is behind this share of the failures.
const MANY: f64 = 0.05;

/// The paths that failed most and, where one client asked for many of them, those that asked.
fn behind(failed: &FailedDoc, look: Look) -> String {
    let list = |names: &NamesDoc| {
        let top = || names.top.iter().take(FEW);
        let name = |one: &NameDoc| {
            let name = shown_name(&one.name);
            let name = if look.cuts { cut_front(&name, 40) } else { name };
            format!("{name} {}", fixed(one.requests as f64, 0))
        };
        let others = failed.requests.saturating_sub(top().map(|one| one.requests).sum());
        let mut all: Vec<String> = top().map(name).collect();
        all.extend((others > 0 && !all.is_empty()).then(|| format!("others {}", fixed(others as f64, 0))));
        all.join(", ")
    };
    let most = failed.clients.top.first().map_or(0.0, |one| one.requests as f64);
    // Clients of one failure each tell nothing.
    let tells = most >= (MANY * failed.requests as f64).max(2.0);
    let by = tells.then(|| list(&failed.clients));
    let by = by.filter(|list| !list.is_empty()).map(|list| format!("by {list}"));
    let all = Some(list(&failed.paths)).filter(|list| !list.is_empty()).into_iter().chain(by);
    all.collect::<Vec<_>>().join("; ")
}

fn requests(label: &TrafficDoc, answers: &AnswersDoc) -> String {
    let Some(rate) = answers.rate else { return fixed(label.parsed as f64, 0) };
    let mut text = format!("{}; {} on average", fixed(label.parsed as f64, 0), format::per_second(rate));
    let seconds = label.first.zip(label.last).map_or(0.0, |(first, last)| last - first + 1.0);
    let peaks = [
        (answers.busiest_hour, "hour", 3600.0),
        (answers.busiest_minute, "minute", 60.0),
        (answers.busiest_second, "second", 1.0),
    ];
    // Of two hours at least one is busier, but where the log has a part of them only.
    let told = peaks.into_iter().filter(|(_, _, length)| seconds > 2.0 * length);
    for (place, (peak, what)) in told.filter_map(|(peak, what, _)| Some((peak?, what))).enumerate() {
        let lead = if place == 0 { "; busiest" } else { "," };
        // A second is told by itself: as a rate a minute it would say what never was.
        let like = if what == "second" { peak.rate } else { rate };
        text.push_str(&format!("{lead} {what} {}", shown(&peak, like, answers.zone, what == "second")));
    }
    text
}

/// `310/s (Mon 12:00)`.
fn shown(peak: &PeakDoc, like: f64, zone: i64, is_second: bool) -> String {
    let at = Moment::at(peak.at + zone as f64).map_or_else(String::new, |at| {
        let second = if is_second { format!(":{:02}", at.seconds()) } else { String::new() };
        format!(" ({} {}{second})", at.weekday(), at.time())
    });
    format!("{}{at}", format::per_second_like(peak.rate, like))
}

fn total(all: &BTreeMap<String, u64>) -> u64 {
    all.values().sum()
}

fn classes(label: &TrafficDoc) -> String {
    let whole = total(&label.statuses);
    let mut classes: BTreeMap<String, u64> = BTreeMap::new();
    for (status, count) in &label.statuses {
        *classes.entry(format!("{}xx", status.chars().next().unwrap_or('?'))).or_default() += count;
    }
    let class = |(class, count): (&String, &u64)| {
        format!("{class} {} ({})", fixed(*count as f64, 0), format::percent_of(*count, whole))
    };
    classes.iter().map(class).collect::<Vec<_>>().join(", ")
}

/// The commonest codes from 300 on; their classes have the shares.
fn codes(label: &TrafficDoc, most: usize) -> String {
    let mut codes: Vec<(&String, &u64)> =
        label.statuses.iter().filter(|(code, _)| code.as_str() >= "300").collect();
    codes.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let others: u64 = codes.iter().skip(most).map(|(_, count)| **count).sum();
    let code = |(code, count): &(&String, &u64)| format!("{code} {}", fixed(**count as f64, 0));
    let mut all: Vec<String> = codes.iter().take(most).map(code).collect();
    all.extend((others > 0).then(|| format!("others {}", fixed(others as f64, 0))));
    all.join(", ")
}

fn shares(all: &BTreeMap<String, u64>, most: usize) -> String {
    let whole = total(all);
    let mut sorted: Vec<(&String, &u64)> = all.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let others: u64 = sorted.iter().skip(most).map(|(_, count)| **count).sum();
    let share = |count: u64| format::percent_of(count, whole);
    let mut told: Vec<String> =
        sorted.iter().take(most).map(|(name, count)| format!("{name} {}", share(**count))).collect();
    told.extend((others > 0).then(|| format!("others {}", share(others))));
    told.join(", ")
}

fn of_unit(value: f64, unit: Unit) -> String {
    format::quantity(value, Kind::for_unit(unit))
}

/// The first folders that take most of the time, where they are known; else the paths that do, or that send most where
/// times are missing.
fn paths(label: &TrafficDoc, top: &[TopDoc], most: usize, look: Look) -> String {
    let mine = |by: &str| {
        let own = |of: &str| top.iter().find(|top| top.label == label.label && top.by == by && top.of == of);
        own("folder").or(own("path"))
    };
    let (top, unit) = match (mine("time"), mine("bytes")) {
        (Some(top), _) => (top, Unit::Second),
        (None, Some(top)) => (top, Unit::Byte),
        (None, None) => return String::new(),
    };
    let path = |path: &PathDoc| {
        let value = if unit == Unit::Second { path.seconds } else { path.bytes };
        let name = shown_name(&path.path);
        let name = if look.cuts { cut_front(&name, 40) } else { name };
        Some(format!("{name} {}", of_unit(value?, unit)))
    };
    let all: Vec<String> = top.paths.iter().take(most).filter_map(path).collect();
    format!("by {}: {}", top.by, all.join(", "))
}

fn sent(label: &TrafficDoc, all: bool) -> String {
    let Some(bytes) = label.bytes else { return String::new() };
    let mut text = of_unit(bytes, Unit::Byte);
    if let Some(mean) = label.size_mean {
        text.push_str(&format!("; {} a request", of_unit(mean, Unit::Byte)));
    }
    if let Some(median) = label.size_median.filter(|_| all) {
        text.push_str(&format!(", half of them {} at most", of_unit(median, Unit::Byte)));
    }
    let (speed, of) = match has_failures(label) {
        true => (label.ratio_of_totals_good, "without 5xx"),
        false => (label.ratio_of_totals, "in all"),
    };
    if let Some(speed) = speed.filter(|_| !all) {
        text.push_str(&format!("; {} {of}", of_unit(speed, Unit::BytesPerSec)));
    }
    text
}

fn times(label: &TrafficDoc) -> String {
    let over = |value: f64| if label.time_limit.is_some_and(|limit| value >= limit) { ">" } else { "" };
    let all = [
        ("mean", label.time_mean),
        ("median", label.p50),
        ("p90", label.p90),
        ("p99", label.p99),
        ("p99.9", label.p999),
    ];
    let time = |(name, value): (&str, Option<f64>)| {
        value.map(|value| format!("{name} {}{}", over(value), of_unit(value, Unit::Second)))
    };
    let mut told: Vec<String> = all.into_iter().filter_map(time).collect();
    if let (Some(first), true) = (told.first_mut(), has_failures(label)) {
        let good = time(("mean", label.time_mean_good));
        *first = apart(good, first);
    }
    told.extend(
        (label.zero_time > 0).then(|| format!("{} with a time of 0", fixed(label.zero_time as f64, 0))),
    );
    told.join(", ")
}

/// A figure without failures of the server (5xx) before those of all answers, of which the first is given.
fn apart(good: Option<String>, of_all: &str) -> String {
    let good = good.map_or_else(String::new, |good| format!("{good} without 5xx; "));
    format!("{good}of all answers, 5xx too, {of_all}")
}

fn speeds(label: &TrafficDoc) -> String {
    let all = [
        ("of totals", label.ratio_of_totals),
        ("mean of requests", label.mean_of_ratios),
        ("median", label.ratio_median),
    ];
    let speed = |(name, value): (&str, Option<f64>)| {
        value.map(|value| format!("{} {name}", of_unit(value, Unit::BytesPerSec)))
    };
    let mut told: Vec<String> = all.into_iter().filter_map(speed).collect();
    if let (Some(first), true) = (told.first_mut(), has_failures(label)) {
        *first = apart(speed(("of totals", label.ratio_of_totals_good)), first);
    }
    told.join(", ")
}

fn agents_line(agents: &AgentsDoc, most: usize) -> String {
    let share = |count: u64| percent(count as f64 / agents.requests.max(1) as f64);
    let others = agents.requests.saturating_sub(agents.bots);
    if others == 0 {
        return String::new();
    }
    let told = |name: &str, count: u64| format!("{name} {}", share(count));
    short_names(&agents.top_others, most, told, share).trim_start_matches(": ").to_owned()
}

fn referrers(answers: &AnswersDoc, most: usize) -> String {
    let Some(doc) = &answers.referrers else { return String::new() };
    let foreign = doc.requests - doc.own_requests.min(doc.requests);
    let own = doc
        .own
        .as_ref()
        .map_or_else(String::new, |own| format!(" ({} is taken for the log's own)", shown_name(own)));
    if foreign == 0 {
        return format!("none from other sites{own}");
    }
    let site =
        |name: &NameDoc| format!("{} {}", cut(&shown_name(&name.name), 40), fixed(name.requests as f64, 0));
    let mut told: Vec<String> = doc.top.top.iter().take(most).map(site).collect();
    let rest = foreign.saturating_sub(doc.top.top.iter().take(most).map(|name| name.requests).sum());
    told.extend((rest > 0).then(|| format!("others {}", fixed(rest as f64, 0))));
    format!("{} from other sites: {}{own}", fixed(foreign as f64, 0), told.join(", "))
}

fn period(label: &TrafficDoc, answers: &AnswersDoc) -> String {
    let Some((first, last)) = label.first.zip(label.last) else { return String::new() };
    let zone = answers.zone as f64;
    let sign = if answers.zone < 0 { '-' } else { '+' };
    let minutes = answers.zone.abs() / 60;
    format!(
        "{} to {} by the log's clock ({sign}{:02}{:02})",
        super::date_time(first + zone),
        super::date_time(last + zone),
        minutes / 60,
        minutes % 60
    )
}

/// Paths and clients behind failures of one class, beside each other.
pub fn failed(label: &TrafficDoc, most: usize, look: Look) -> String {
    let Some(answers) = label.answers.as_deref() else { return String::new() };
    let all = [(&answers.server_errors, "5xx"), (&answers.client_errors, "4xx")];
    let tables = all.into_iter().filter_map(|(failed, code)| {
        failed.as_ref().filter(|failed| failed.requests > 0).map(|failed| table(failed, code, most, look))
    });
    tables.collect()
}

fn table(failed: &FailedDoc, code: &str, most: usize, look: Look) -> String {
    let head = format!("{code}: {} ({})", fixed(failed.requests as f64, 0), percent(failed.share));
    let heads = [
        (head.as_str(), Align::Left),
        ("requests", Align::Right),
        ("by client", Align::Left),
        ("requests", Align::Right),
    ];
    let mut grid = Grid::new(&heads).cutting(Cut::Front);
    let (paths, clients) = (rows(&failed.paths, "path", most), rows(&failed.clients, "client", most));
    for at in 0..paths.len().max(clients.len()) {
        let [path, client] = [&paths, &clients].map(|all| all.get(at).cloned().unwrap_or_default());
        let name = if look.cuts { cut_front(&client.0, 39) } else { client.0 };
        grid.row(vec![path.0.into(), path.1.into(), Cell::from(name), client.1.into()]);
    }
    grid.render(look.table(), look.paint)
}

/// Names and counts, and a last row of all others.
fn rows(names: &NamesDoc, what: &str, most: usize) -> Vec<(String, String)> {
    let count = |requests: u64| fixed(requests as f64, 0);
    // Names that come once each tell nothing.
    if names.top.len() > 1 && names.top.iter().all(|name| name.requests <= 1) {
        let all = names.others + names.top.len() as u64;
        return vec![(format!("each another {what}"), count(all))];
    }
    let mut all: Vec<(String, String)> =
        names.top.iter().take(most).map(|name| (shown_name(&name.name), count(name.requests))).collect();
    let rest = names.others + names.top.iter().skip(most).map(|name| name.requests).sum::<u64>();
    if rest > 0 {
        let others = match names.distinct {
            Some(distinct) => {
                let others = (distinct as usize).saturating_sub(all.len());
                format!("{others} other {what}{}", if others == 1 { "" } else { "s" })
            }
            None => format!("other {what}s: over 4,000"),
        };
        all.push((others, count(rest)));
    }
    all
}

/// A name and the count of a step.
pub type Class = (&'static str, fn(&OverTimeRow) -> u64);

/// Requests and failures over time, a character a step.
pub fn over_time(answers: &AnswersDoc) -> String {
    let steps = folded(&answers.over_time, STRIP);
    let failures = |row: &OverTimeRow| row.2 + row.3;
    if steps.rows.len() < 3 || steps.rows.iter().map(failures).sum::<u64>() == 0 {
        return String::new();
    }
    let from = Moment::at(steps.rows[0].0 + answers.zone as f64);
    let from = from.map_or_else(String::new, |from| format!(" from {} {}", from.date(), from.time()));
    let mut out = format!(
        "{:<HEAD$}a bar is {}{from}; most in a bar at the end\n",
        "over time",
        format::duration(steps.step)
    );
    let classes: [Class; 3] = [("requests", |row| row.1), ("4xx", |row| row.2), ("5xx", |row| row.3)];
    for (name, of) in classes {
        let counts: Vec<u64> = steps.rows.iter().map(of).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        if most > 0 {
            let strip: String = counts.iter().map(|count| level(*count, most)).collect();
            out.push_str(&format!("{name:<HEAD$}{strip} {}\n", format::many(most)));
        }
    }
    out
}

/// A count as a bar of eight heights; none is a dot.
fn level(count: u64, most: u64) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if count == 0 {
        return '·';
    }
    BARS[((count as f64 / most as f64 * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

/// Steps together, so that they are few enough; those without requests are there too.
pub fn folded(over_time: &OverTimeDoc, most: usize) -> OverTimeDoc {
    let (Some(first), Some(last)) = (over_time.rows.first(), over_time.rows.last()) else {
        return OverTimeDoc::default();
    };
    if over_time.step <= 0.0 {
        return OverTimeDoc::default();
    }
    let steps = ((last.0 - first.0) / over_time.step).round() as usize + 1;
    let together = steps.div_ceil(most.max(1));
    let step = over_time.step * together as f64;
    let mut rows: Vec<OverTimeRow> =
        (0..steps.div_ceil(together)).map(|at| (first.0 + at as f64 * step, 0, 0, 0)).collect();
    for row in &over_time.rows {
        if let Some(sum) = rows.get_mut(((row.0 - first.0) / step) as usize) {
            (sum.1, sum.2, sum.3) = (sum.1 + row.1, sum.2 + row.2, sum.3 + row.3);
        }
    }
    OverTimeDoc { step, rows, ..OverTimeDoc::default() }
}

/// The lines that a server's configuration lacks, as they are: they are to be pasted.
pub fn log_format(all: &[LogFormatDoc], look: Look) -> String {
    let mut out = String::new();
    for one in all {
        let text = format!("to log the time of each request, {} ({}):", one.place, one.server);
        out.push_str(&hang("", &text, look.columns));
        one.lines.iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn programs_have_short_names() {
        for (agent, short) in [
            ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot/2.1"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0",
                "Firefox on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            ("curl/8.5.0", "curl/8.5.0"),
            ("\u{1b}[31mred", "\u{fffd}[31mred"),
        ] {
            assert_eq!(short_agent(agent), short);
        }
    }

    proptest! {
        #[test]
        fn steps_are_folded_without_loss(rows in proptest::collection::vec((0u64..2000, 0u64..9), 1..300)) {
            let mut all: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
            rows.iter().for_each(|(at, failed)| {
                let row = all.entry(*at).or_default();
                (row.0, row.1) = (row.0 + 10, row.1 + failed);
            });
            let rows = all.iter().map(|(at, row)| (*at as f64 * 300.0, row.0, row.1, 1)).collect();
            let whole = OverTimeDoc { step: 300.0, rows, ..OverTimeDoc::default() };
            let folded = folded(&whole, STRIP);
            let sum = |doc: &OverTimeDoc| {
                doc.rows.iter().fold((0, 0, 0), |sum, row| (sum.0 + row.1, sum.1 + row.2, sum.2 + row.3))
            };
            prop_assert_eq!(sum(&folded), sum(&whole));
            prop_assert!(folded.rows.len() <= STRIP);
            let doc = AnswersDoc { over_time: whole, ..AnswersDoc::default() };
            prop_assert!(over_time(&doc).lines().all(|line| line.chars().count() <= 96));
        }
    }
}
