//! The document of `boxscore logs`: what access logs say of the groups of requests in them.
//!
//! Seconds, bytes, bytes a second. A figure that cannot be had is `null`; where that needs a word, a `why` stands
//! beside. Percentiles, sizes and times come from histograms of stated width; clients and top lists from sketches of
//! stated error.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{AnswersDoc, LogFormatDoc};
use super::row::{RowDoc, VerdictWord};
use crate::finding::Finding;

/// `boxscore logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogsDoc {
    pub schema: String,
    /// The answer in plain words, a sentence each: what one label served, or how several differ.
    #[serde(default)]
    pub summary: Vec<String>,
    /// The stored run, where it was stored.
    pub run: Option<String>,
    pub formats: Vec<FormatDoc>,
    /// Every line of every file is parsed or skipped.
    pub lines: u64,
    pub parsed: u64,
    pub skipped: Vec<SkippedDoc>,
    /// Parsed lines that `--where` left out.
    pub filtered: u64,
    /// How many of them each condition leaves out; one that does not meet several is counted by each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutDoc>,
    /// The conditions of `--where`.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    pub labels: Vec<TrafficDoc>,
    /// Each label on each day, where there are several days or `--by day` asked.
    pub days: Vec<TrafficDoc>,
    /// Each label in each group of `--by`: those with the most requests, at most 4096.
    pub groups: Vec<TrafficDoc>,
    /// Times of each group of `--by` in each further label beside the first, or in the later side of a cut beside the
    /// earlier one; `params` hold the group's keys. Missing where there are over 250 groups, with one label, and with
    /// sides of a cut that are not compared at the same times of the day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_rows: Vec<RowDoc>,
    /// The keys of `--by` in the order in which they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// How many groups there are in all labels; missing without `--by`, and where there are more than are counted.
    #[serde(default)]
    pub group_count: Option<u64>,
    /// Every two labels, like with like.
    pub rows: Vec<RowDoc>,
    /// Times of the parts of the requests in each label beside an earlier one, where some differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartDoc>,
    pub top: Vec<TopDoc>,
    /// Where the logs were cut in before and after.
    #[serde(default)]
    pub cut: Option<LogsCutDoc>,
    /// Telemetry of the machines while the requests came, by label.
    #[serde(default)]
    pub beside: Vec<BesideDoc>,
    /// Where no line tells how long its request took: what to log so that it does.
    #[serde(default)]
    pub log_format: Vec<LogFormatDoc>,
    pub findings: Vec<Finding>,
}

/// A part of the requests in two labels, such as a first folder of the paths: how long a request takes there. Of
/// answers that the server did not fail, like with like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartDoc {
    /// `/download/`, `/img/ for people`, or `answers of 64 KiB to 256 KiB`.
    pub name: String,
    pub arm: String,
    pub base: String,
    /// All requests of the part, failed ones too.
    pub arm_requests: u64,
    pub base_requests: u64,
    /// Mean time of a request, in seconds.
    pub arm_time: Option<f64>,
    pub base_time: Option<f64>,
    /// Time in the arm over time in the base, with its 95 % interval.
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: VerdictWord,
    /// Without a verdict: the times differ beyond chance, and only whether by more than the margin is open.
    pub is_apart: bool,
}

/// A condition of `--where`, and the requests that do not meet it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutDoc {
    pub condition: String,
    pub requests: u64,
}

/// The moment that parts before from after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogsCutDoc {
    /// As it was given.
    pub at: String,
    /// The two labels of each label.
    pub sides: Vec<SidesDoc>,
    /// Requests whose line tells no time: of no side.
    pub undated: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SidesDoc {
    pub before: String,
    pub after: String,
    /// The moment in seconds since 1970.
    pub at: i64,
}

/// The side of a cut that a stored run of logs is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogsSideDoc {
    /// The label that was cut.
    pub label: String,
    /// The moment as it was given, and in seconds since 1970.
    pub given: String,
    pub at: i64,
    /// `before` or `after`.
    pub side: String,
}

/// Telemetry of a machine while the requests of a label came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BesideDoc {
    pub label: String,
    /// The run that recorded it, and its machine.
    pub run: String,
    pub machine: String,
    /// The host whose clock the samples are by, where it is known, and the seconds by which that clock drifted from the
    /// program's during the run.
    #[serde(default)]
    pub host: Option<String>,
    #[serde(default)]
    pub drift: Option<f64>,
    /// Seconds since 1970 by the clock of the server that logged: first and last request.
    pub log: (f64, f64),
    /// The same of the first and last sample, by the clock of the program that recorded.
    pub telemetry: (f64, f64),
    /// Seconds of a row; `null` with `why` where the two have no time in common.
    pub step: Option<f64>,
    pub why: Option<String>,
    /// All rows together.
    pub mean: Option<BesideRow>,
    pub rows: Vec<BesideRow>,
}

/// Requests and the machine over one step of time, or over several. Of the machine: means over the samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BesideRow {
    /// Seconds since 1970 at which it begins, and how long it is: less at the ends of what both cover.
    pub at: f64,
    pub seconds: f64,
    pub requests: u64,
    /// Bytes sent.
    pub bytes: f64,
    /// Bytes sent over the time that the requests took, without those that the server failed (5xx).
    #[serde(default)]
    pub speed: Option<f64>,
    /// Times of all requests, to 3 %.
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    /// Requests with a status from 500 on.
    pub server_errors: u64,
    /// Samples of the machine.
    pub samples: u64,
    /// Load average of one minute.
    pub load: Option<f64>,
    /// Share of CPU time that was neither idle nor waiting for a disk, and the share waiting for one.
    pub cpu: Option<f64>,
    pub iowait: Option<f64>,
    /// Bytes a second that all disks read.
    pub disk_read: Option<f64>,
    /// Bytes: all memory less what programs could still get; the page cache with buffers.
    pub memory_used: Option<f64>,
    pub page_cache: Option<f64>,
    /// Bytes a second sent by all interfaces but loopback.
    pub net_sent: Option<f64>,
}

/// One interval of logs that are followed: a line of `boxscore logs --follow --json`. The last line is `boxscore.logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogsLiveDoc {
    pub schema: String,
    /// Seconds since 1970 at its end, and its length.
    pub at: f64,
    pub seconds: f64,
    /// True for the requests that stood in the logs before they were followed, which have no rate.
    pub backlog: bool,
    pub labels: Vec<LogsLiveLabel>,
    /// Events of files: rotated, truncated, appeared, not readable.
    pub events: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogsLiveLabel {
    pub label: String,
    /// Of the interval.
    pub now: LogsLiveFigures,
    /// Since the first line.
    pub all: LogsLiveFigures,
}

/// Requests of a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogsLiveFigures {
    pub requests: u64,
    /// Requests a second; of an interval alone, and missing where it was cut short or held what was there before.
    pub rate: Option<f64>,
    pub bytes: f64,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    /// Requests with a status from 400 on, and from 500 on.
    pub client_errors: u64,
    pub server_errors: u64,
    /// Lines that could not be read.
    pub skipped: u64,
}

/// How the lines of a file were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FormatDoc {
    pub file: String,
    /// The format string, in the words of its server.
    pub format: String,
    /// `given`, `named`, `configuration` or `detected`, and what it was told by.
    pub how: String,
    /// Seconds of the last digit in which its server writes times: both ends of a time are cut to it, so that a time is
    /// off by less than that either way. `null` where lines tell no time, or the keys of JSON decide.
    #[serde(default)]
    pub time_step: Option<f64>,
}

/// Lines that are not requests, by what was wrong with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedDoc {
    pub kind: String,
    pub lines: u64,
    /// `file:line` of the first ones.
    pub samples: Vec<String>,
}

/// The requests that one group served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficDoc {
    pub label: String,
    /// The keys of the group within its label: `day`, `status`, `host` and so on.
    pub key: BTreeMap<String, String>,
    /// Lines of its files; missing for a part of a label.
    pub lines: Option<u64>,
    pub parsed: u64,
    pub skipped: Option<u64>,
    /// From the first to the last request, in seconds since 1970.
    pub first: Option<f64>,
    pub last: Option<f64>,
    /// Bytes sent, of lines that say them; missing where none does.
    pub bytes: Option<f64>,
    /// Time taken, of lines that say it; missing where none does, or all say 0.
    pub seconds: Option<f64>,
    pub seconds_why: Option<String>,
    /// Requests whose time is 0 in the log: outside the ratios of single requests.
    pub zero_time: u64,
    /// Bytes over time of each request, averaged; the definition of the 2010 study.
    pub mean_of_ratios: Option<f64>,
    pub mean_of_ratios_why: Option<String>,
    /// All bytes over all time, of all answers, 5xx too; so are the other speeds and times, but for those named `good`.
    pub ratio_of_totals: Option<f64>,
    /// The same of a whole label without the requests that the server failed (5xx), and the mean time of these.
    #[serde(default)]
    pub ratio_of_totals_good: Option<f64>,
    #[serde(default)]
    pub time_mean_good: Option<f64>,
    pub ratio_median: Option<f64>,
    pub time_mean: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub time_max: Option<f64>,
    /// A percentile of times may be off by this share: less of a whole label than of a part of one. Missing without
    /// percentiles.
    #[serde(default)]
    pub quantile_error: Option<f64>,
    /// Times above this are not told apart, and there were some: a percentile that is this high is a lower bound.
    pub time_limit: Option<f64>,
    pub size_mean: Option<f64>,
    pub size_median: Option<f64>,
    /// Distinct clients, and how far off that may be (one standard error, as a share).
    pub clients: Option<f64>,
    pub clients_error: Option<f64>,
    pub statuses: BTreeMap<String, u64>,
    pub methods: BTreeMap<String, u64>,
    /// Of a group of `--by`: requests that were answered 4xx, and that failed with 5xx.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_errors: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_errors: Option<u64>,
    /// By class of size.
    pub sizes: Vec<SizeDoc>,
    /// Of a whole label.
    #[serde(default)]
    pub answers: Option<Box<AnswersDoc>>,
}

/// The groups of so many keys with the most requests in all labels, in the order in which they stand; of equal ones the
/// first.
pub fn largest_groups(groups: &[TrafficDoc], most: usize) -> Vec<TrafficDoc> {
    type GroupKey = BTreeMap<String, String>;
    let mut requests: BTreeMap<&GroupKey, (u64, usize)> = BTreeMap::new();
    for (place, group) in groups.iter().enumerate() {
        requests.entry(&group.key).or_insert((0, place)).0 += group.parsed;
    }
    let mut sorted: Vec<(&GroupKey, (u64, usize))> = requests.into_iter().collect();
    sorted.sort_by_key(|(_, (requests, place))| (std::cmp::Reverse(*requests), *place));
    let kept: BTreeSet<&GroupKey> = sorted.into_iter().take(most).map(|(key, _)| key).collect();
    groups.iter().filter(|group| kept.contains(&group.key)).cloned().collect()
}

/// Requests of one class of size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeDoc {
    /// From this many bytes, up to below the next class.
    pub from: f64,
    pub requests: u64,
    pub bytes: f64,
    pub seconds: Option<f64>,
    pub ratio_of_totals: Option<f64>,
}

/// The paths, or the first folders of paths, that weigh most within a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TopDoc {
    pub label: String,
    /// `path`, or `folder`: requests of all paths below one, that were not failed by the server.
    #[serde(default = "of_paths")]
    pub of: String,
    /// `requests`, `bytes` or `time`.
    pub by: String,
    pub paths: Vec<PathDoc>,
    /// A figure may be too high by this share of the label's total, never too low.
    pub error: f64,
}

fn of_paths() -> String {
    "path".to_owned()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathDoc {
    pub path: String,
    pub requests: f64,
    /// Missing where no line says them.
    pub bytes: Option<f64>,
    pub seconds: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_groups_stay_in_their_order() {
        let group = |label: &str, hour: &str, parsed| TrafficDoc {
            label: label.to_owned(),
            key: BTreeMap::from([("hour".to_owned(), hour.to_owned())]),
            parsed,
            ..TrafficDoc::default()
        };
        let all = [
            group("a", "00", 5),
            group("a", "01", 9),
            group("b", "01", 1),
            group("a", "02", 2),
            group("b", "02", 20),
            group("a", "03", 5),
        ];
        let hours = |most| -> Vec<(String, u64)> {
            let kept = largest_groups(&all, most);
            kept.into_iter().map(|one| (one.key["hour"].clone(), one.parsed)).collect()
        };
        let of = |hour: &str, parsed| (hour.to_owned(), parsed);
        assert_eq!(hours(2), [of("01", 9), of("01", 1), of("02", 2), of("02", 20)]);
        assert_eq!(hours(3)[0], of("00", 5));
        assert_eq!((hours(9).len(), hours(0).len()), (6, 0));
    }
}
