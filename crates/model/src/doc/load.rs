//! The document of `boxscore load`: one load, from its one take.
//!
//! Seconds, bytes, and requests a second. What a load of its kind does not have is `null`: a closed loop is never late.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BottleneckDoc, CoreDoc, FilesDoc, MachineDoc, SinceDoc};
use crate::answer::AnswerDoc;
use crate::card::Card;
use crate::finding::Finding;
use crate::params::Params;
use crate::subject::SubjectDoc;

/// `boxscore load`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadDoc {
    pub schema: String,
    /// The stored run: `boxscore show --json RUN` has all that was measured beside the load.
    pub run: String,
    pub machine: MachineDoc,
    /// The target that was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<SubjectDoc>,
    pub label: Option<String>,
    /// Several are separated by blanks.
    pub url: String,
    /// The rate, the tail and what held the server back, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerDoc>,
    /// Server and generators, and the CPUs that they ran on, in words.
    pub setup: Option<String>,
    /// Every parameter of the load.
    pub params: Params,
    /// From the start to the last answer, good or not; it may lie after the window.
    pub seconds: Option<f64>,
    /// The time that `throughput` is of: the load's duration, less where it was ended early; up to the last end where a
    /// number of requests was given. `bytes` and `bandwidth` are of the same.
    #[serde(default)]
    pub window: Option<f64>,
    /// The user ended it before its time.
    pub cut: bool,
    /// Good and failed.
    pub requests: u64,
    pub good: u64,
    /// Failed requests by kind.
    pub errors: BTreeMap<String, u64>,
    /// Those of them whose answer was of 4xx or 5xx, by status.
    #[serde(default)]
    pub statuses: BTreeMap<String, StatusDoc>,
    /// Good answers a second.
    pub throughput: Option<f64>,
    /// Bytes of the bodies of good answers within the window, and the same a second.
    pub bytes: Option<f64>,
    pub bandwidth: Option<f64>,
    /// Requests due a second; open loops only.
    pub offered_load: Option<f64>,
    /// Requests in flight, over time.
    pub in_flight: Option<f64>,
    /// From when a request was due to the last byte of its answer, failed requests included but for those without an
    /// answer (refused,
    /// reset, closed, TLS): `count` is less than `requests` by these.
    pub response_time: TimesDoc,
    /// From when it was sent.
    pub service_time: TimesDoc,
    /// How late 99 in 100 sends at most were; open loops only.
    pub late_p99: Option<f64>,
    /// How long good answers lay in the generator's host unread, on average. Response times do not hold it; where it is
    /// missing they do.
    pub late_read: Option<f64>,
    /// The same of 99 in 100 of them.
    pub late_read_p99: Option<f64>,
    pub generator: GeneratorDoc,
    #[serde(default)]
    pub server: ServerUseDoc,
    /// The load before on the same target from the same machine, where a setting differs since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<SinceDoc>,
    /// Remarks on the figures, in sentences.
    pub remarks: Vec<String>,
    pub bottlenecks: Vec<BottleneckDoc>,
    pub findings: Vec<Finding>,
}

/// Answers of one status of 4xx or 5xx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusDoc {
    pub count: u64,
    /// The first URL that met it, of one of the generator's threads.
    pub first_url: Option<String>,
}

/// The requests of one load of a run, over all its measured takes.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestsDoc {
    /// The instrument's card, where it is known here; not printed.
    pub card: Option<&'static Card>,
    pub instrument: String,
    pub params: Params,
    pub arm: String,
    pub takes: usize,
    /// Good and failed.
    pub requests: u64,
    pub good: u64,
    /// Failed requests by kind.
    pub errors: BTreeMap<String, u64>,
    /// Those of them whose answer was of 4xx or 5xx, by status.
    pub statuses: BTreeMap<String, StatusDoc>,
    /// Of all requests of all takes together.
    pub response_time: TimesDoc,
    pub service_time: TimesDoc,
    pub cores: Vec<CoreDoc>,
    pub files: Option<FilesDoc>,
}

/// Times of all requests of a load. A percentile, the largest time and the mean are null where they fall on a failed
/// request (`over`), and a percentile where fewer than ten requests are beyond it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimesDoc {
    pub count: u64,
    /// Failed ones among them: each is slower than any answer.
    #[serde(default)]
    pub over: u64,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
    pub mean: Option<f64>,
    /// Ascending, without gaps; the first holds everything down to 0.
    pub histogram: Vec<BucketDoc>,
}

/// Requests whose time is at most `to` and over that of the bucket before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BucketDoc {
    pub to: f64,
    pub count: u64,
}

/// Resources that the load generator itself used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorDoc {
    pub cpu_seconds: Option<f64>,
    pub cpu_per_request: Option<f64>,
    /// The share of its time in which the busiest core worked, the generator threads on it together; waiting by
    /// spinning
    /// is not work.
    #[serde(default)]
    pub busiest_core_share: Option<f64>,
    /// The same of the busiest thread alone.
    pub busiest_thread_share: Option<f64>,
}

/// CPU time that the loaded server used, and what it may use. Absent where it is not known here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerUseDoc {
    /// CPU seconds of its processes per second.
    pub cpus: Option<f64>,
    pub cpu_per_request: Option<f64>,
    /// CPUs that its threads may run on.
    pub allowed_cpus: Option<u64>,
    /// Seconds a second in which its threads were ready and waited for a CPU, summed.
    pub waiting: Option<f64>,
    /// CPUs of the tightest quota of its control group and those above it, and the group that has it.
    pub quota_cpus: Option<f64>,
    pub quota_group: Option<String>,
}
