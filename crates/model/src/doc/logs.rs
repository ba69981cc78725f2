//! The document of `boxscore logs`: what access logs say of the groups of requests in them.
//!
//! Seconds, bytes, bytes a second. A figure that cannot be had is `null`; where that needs a word, a `why` stands
//! beside. Percentiles, sizes and times come from histograms of stated width; clients and top lists from sketches of
//! stated error.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RowDoc;
use crate::finding::Finding;

/// `boxscore logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogsDoc {
    pub schema: String,
    /// The stored run, where it was stored.
    pub run: Option<String>,
    pub formats: Vec<FormatDoc>,
    /// Every line of every file is parsed or skipped.
    pub lines: u64,
    pub parsed: u64,
    pub skipped: Vec<SkippedDoc>,
    /// Parsed lines that `--where` left out.
    pub filtered: u64,
    pub labels: Vec<TrafficDoc>,
    /// Each label on each day, where there are several days or `--by day` asked.
    pub days: Vec<TrafficDoc>,
    /// Each label in each group of `--by`.
    pub groups: Vec<TrafficDoc>,
    /// Every two labels, like with like.
    pub rows: Vec<RowDoc>,
    pub top: Vec<TopDoc>,
    pub findings: Vec<Finding>,
}

/// How the lines of a file were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormatDoc {
    pub file: String,
    /// The format string, in the words of its server.
    pub format: String,
    /// `given`, `named`, `configuration` or `detected`, and what it was told by.
    pub how: String,
}

/// Lines that are not requests, by what was wrong with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedDoc {
    pub kind: String,
    pub lines: u64,
    /// `file:line` of the first ones.
    pub samples: Vec<String>,
}

/// What one group served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficDoc {
    pub label: String,
    /// What sets the group apart within its label: `day`, `status`, `host` and so on.
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
    /// All bytes over all time.
    pub ratio_of_totals: Option<f64>,
    pub ratio_median: Option<f64>,
    pub time_mean: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub time_max: Option<f64>,
    /// Times above this are not told apart, and there were some: a percentile that is this high is a lower bound.
    pub time_limit: Option<f64>,
    pub size_mean: Option<f64>,
    pub size_median: Option<f64>,
    /// Distinct clients, and how far off that may be (one standard error, as a share).
    pub clients: Option<f64>,
    pub clients_error: Option<f64>,
    pub statuses: BTreeMap<String, u64>,
    pub methods: BTreeMap<String, u64>,
    /// By class of size.
    pub sizes: Vec<SizeDoc>,
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

/// The paths that weigh most within a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TopDoc {
    pub label: String,
    /// `requests`, `bytes` or `time`.
    pub by: String,
    pub paths: Vec<PathDoc>,
    /// A figure may be too high by this share of the label's total, never too low.
    pub error: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathDoc {
    pub path: String,
    pub requests: f64,
    /// Missing where no line says them.
    pub bytes: Option<f64>,
    pub seconds: Option<f64>,
}
