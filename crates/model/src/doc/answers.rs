//! Rates, failures and who asked: the figures of access logs that an operator asks for first.
//!
//! Requests, seconds since 1970 (UTC). A figure that the lines do not tell is `null`, and `missing` says why. Names
//! come from sketches: a count may be too high by `error` of its whole, never too low, and is exact where names are
//! few.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{self, Moment};

/// The answers of one label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswersDoc {
    /// The answer in a sentence.
    #[serde(default)]
    pub sentence: String,
    /// Seconds by which the log's own clock is ahead of UTC; of several zones the last.
    pub zone: i64,
    /// Requests a second from the first to the last request.
    pub rate: Option<f64>,
    /// Absent, too, where it is less busy than the average: the log begins or ends within the busiest hours.
    pub busiest_hour: Option<PeakDoc>,
    pub busiest_minute: Option<PeakDoc>,
    pub busiest_second: Option<PeakDoc>,
    /// Requests with a status from 400 to 499, and from 500 on; `null` where no line tells a status.
    pub client_errors: Option<FailedDoc>,
    pub server_errors: Option<FailedDoc>,
    /// Requests and failures over time.
    pub over_time: OverTimeDoc,
    /// The same with the requests that only conditions on status or time, or a cut, leave out: the beginning and the
    /// end of an episode are judged by these. `null` where none are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<OverTimeDoc>,
    pub agents: Option<AgentsDoc>,
    pub referrers: Option<ReferrersDoc>,
    /// True if all requests came from one client, or all for one virtual host: that failures did then tells nothing.
    #[serde(default)]
    pub one_client: bool,
    #[serde(default)]
    pub one_host: bool,
    /// Figures that the log does not tell, and why.
    pub missing: Vec<MissingDoc>,
    /// The share of its whole by which a name's count may be too high.
    pub error: f64,
}

/// The busiest stretch of its length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeakDoc {
    /// When it began.
    pub at: f64,
    pub requests: u64,
    /// Requests a second within it.
    pub rate: f64,
}

/// Requests that failed in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedDoc {
    pub requests: u64,
    /// Share of all requests.
    pub share: f64,
    pub paths: NamesDoc,
    pub clients: NamesDoc,
    /// The virtual hosts, where lines tell them.
    #[serde(default)]
    pub hosts: NamesDoc,
    /// The first folder of most of their paths; `null` where all requests are in it, or no path has folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<NameDoc>,
    /// The path or else its first folder, the client and the virtual host that most of them, or all, have in common.
    #[serde(default)]
    pub mostly: Vec<MostlyDoc>,
    /// Time that they took; `null` where no line tells it.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Bytes that they sent; `null` where no line tells it.
    #[serde(default)]
    pub bytes: Option<f64>,
    /// Who asked for what, most requests first.
    #[serde(default)]
    pub asked: Vec<AskedDoc>,
    /// The stretch that most of them are in, where they are not spread.
    #[serde(default)]
    pub episode: Option<EpisodeDoc>,
    /// The path, or else the folder, of most of them during the episode; `null` where there is none, or the logs cannot
    /// be read twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageDoc>,
}

/// Requests of one path, or in one folder, during an episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutageDoc {
    pub path: String,
    pub failed: u64,
    pub requests: u64,
    /// Time that the failed ones took; `null` where no line tells it.
    pub seconds: Option<f64>,
    /// The same path and time under the other labels that were read.
    pub others: Vec<ServedDoc>,
}

/// Requests of a label, and those of them that the server failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedDoc {
    pub label: String,
    pub failed: u64,
    pub requests: u64,
}

/// A name that most of some failures have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MostlyDoc {
    pub what: MostlyOf,
    pub name: String,
    /// Failures that have it.
    pub requests: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MostlyOf {
    Path,
    Folder,
    Client,
    Host,
}

impl MostlyDoc {
    /// `61 of 61 of them for /api/items, 60 of 61 from 10.0.0.7`: names that so many failures have in common.
    pub fn list(all: &[MostlyDoc], failures: u64) -> Option<String> {
        let part = |(place, one): (usize, &MostlyDoc)| {
            let of_them = if place == 0 { " of them" } else { "" };
            let with = match one.what {
                MostlyOf::Path => "for",
                MostlyOf::Folder => "in",
                MostlyOf::Client => "from",
                MostlyOf::Host => "on",
            };
            let (count, all) = (format::many(one.requests), format::many(failures));
            match one.requests == failures && failures > 1 {
                true => format!("all {count} {with} {}", one.name),
                false => format!("{count} of {all}{of_them} {with} {}", one.name),
            }
        };
        let parts: Vec<String> = all.iter().enumerate().map(part).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The names that come up most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamesDoc {
    pub top: Vec<NameDoc>,
    /// Requests of all names that are not in `top`.
    pub others: u64,
    /// How many names there are; `null` where they are more than are kept.
    pub distinct: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NameDoc {
    pub name: String,
    pub requests: u64,
}

/// Requests of one client for one path with one program and one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskedDoc {
    pub client: String,
    pub status: Option<u16>,
    pub path: String,
    pub agent: Option<String>,
    pub requests: u64,
}

/// A stretch of time that most failures are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeDoc {
    /// The first and the last failure, to the second. Of requests with a status from 400 to 499, and of a log of more
    /// than 69 days, the beginning of its first step and the end of its last.
    pub from: f64,
    pub to: f64,
    /// Failures within it.
    pub failures: u64,
    /// It reaches back to the first request that was read, or on to the last: when it began, or ended, is not known.
    #[serde(default)]
    pub from_start: bool,
    #[serde(default)]
    pub to_end: bool,
}

/// When a step began, its requests, those with a status from 400 to 499, and from 500 on.
pub type OverTimeRow = (f64, u64, u64, u64);

/// Requests over time, step by step; a step without requests is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverTimeDoc {
    /// Seconds of a step; 0 where no line tells a time of day, or the log covers too much time.
    pub step: f64,
    /// When a step began, its requests, those with a status from 400 to 499, and from 500 on.
    pub rows: Vec<OverTimeRow>,
    /// The first and the last request with a status from 500 on of each step that has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_failed: Vec<(f64, f64)>,
}

/// The programs that asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentsDoc {
    /// Requests whose line tells a program, and how many of them came from one that says it is a bot.
    pub requests: u64,
    pub bots: u64,
    pub top_bots: NamesDoc,
    pub top_others: NamesDoc,
    /// The bots of `top_bots`, with from where and when they asked.
    #[serde(default)]
    pub each_bot: Vec<BotDoc>,
}

/// A program that says it is a bot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BotDoc {
    pub name: String,
    pub requests: u64,
    /// The clients that it asked from.
    pub clients: NamesDoc,
    /// Its busiest hour, by the log's own clock.
    pub busiest_hour: Option<PeakDoc>,
    /// All requests of that hour, its own among them; missing where the log covers too much time to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour_requests: Option<u64>,
    /// Its requests in the busiest hour of the log; missing where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_requests: Option<u64>,
    /// The start of the first hour and the end of the last one in which it asked; `null` where there are more than are
    /// kept.
    pub from: Option<f64>,
    pub to: Option<f64>,
    /// The hours of the day in which it asked, on each of several days: 2 and 3 are from 02:00 to 03:00 by the log's
    /// own clock. Missing where it asked at other times too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_day: Option<(u8, u8)>,
}

impl BotDoc {
    /// The hours of the day in which it came, in a log of so many seconds, if known: `every day 02:00 to 03:00`; on
    /// some of its days `on 3 days, 2026-11-19 to 2026-11-21, 02:00 to 03:00`.
    pub fn daily(&self, zone: f64, span: Option<f64>) -> Option<String> {
        const DAY: f64 = 86_400.0;
        /// Of a log's first or last day so much may be missing.
        const PART: f64 = DAY / 4.0;
        let (from, to) = self.every_day?;
        let hours = format!("{from:02}:00 to {to:02}:00");
        let (first, last) = (self.from? + zone, self.to? + zone - 1.0);
        let days = (last / DAY).floor() - (first / DAY).floor() + 1.0;
        if span.is_some_and(|span| days * DAY >= span - PART) {
            return Some(format!("every day {hours}"));
        }
        let (first, last) = (Moment::at(first)?.date(), Moment::at(last)?.date());
        Some(format!("on {days:.0} days, {first} to {last}, {hours}"))
    }
}

/// The sites that referred.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferrersDoc {
    /// Requests that another site, or the log's own, referred.
    pub requests: u64,
    /// The log's own site, where lines tell no virtual host: the one that refers more than all others together.
    pub own: Option<String>,
    /// Requests that the log's own site referred.
    pub own_requests: u64,
    pub top: NamesDoc,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingDoc {
    pub what: String,
    pub why: String,
}

/// Lines for a server's configuration, by which its log would tell the time of each request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogFormatDoc {
    pub server: String,
    /// The place to put them.
    pub place: String,
    pub lines: Vec<String>,
}
