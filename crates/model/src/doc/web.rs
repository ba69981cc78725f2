//! Conclusions from the loads of a run: the bottleneck of each, and the curves that they are points of.
//!
//! Rates are 1/s, times s, shares 0 to 1 of a ceiling. Single figures are not here; they are the run's series.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ceiling::CeilingDoc;
use crate::finding::Validity;
use crate::format::{quantity, tells};
use crate::params::Params;
use crate::unit::Unit;

/// The kind of resource that can limit a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// The server stopped answering before the load was over.
    Silent,
    /// The busiest core of the load generator: the figure is a lower bound.
    Generator,
    /// All cores of the server together.
    Cores,
    /// One core of several.
    Core,
    /// One thread of the server, which uses all of a CPU's time that it can get.
    Thread,
    /// A core on which server and generator both work.
    Shared,
    /// Other programs on the server's cores.
    Others,
    /// Interrupts and network work of the kernel on one core.
    Softirq,
    /// CPU time of the server's cores that the hypervisor gave to others.
    Steal,
    /// A disk that is busy nearly all of the time.
    Disk,
    /// Stalls for memory.
    Memory,
    /// Stalls for CPU time: more threads than cores.
    RunQueue,
    /// Stalls for input and output, where no single disk is known to be busy.
    Io,
    /// The CPU quota of a control group.
    Quota,
    /// The link of a network interface.
    Link,
    /// A limit of the kernel that dropped connections or packets.
    KernelLimit,
    /// An application behind the server, which the server waits for.
    Behind,
    /// One request at a time: a lock, or one thread of an application behind the server.
    Serial,
    /// Too few connections for more: each waits for its answer before it sends again.
    Connections,
    /// The load itself: the server answers all that is offered, so that more would be served.
    Offered,
    /// Failures: the server refuses some of what is offered, and keeps up with it.
    Failures,
    /// The server waits although nothing here is at its ceiling.
    Waiting,
    /// Nothing that was read says what binds.
    Unknown,
}

/// One thing that a load was held against, and how near its ceiling it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceDoc {
    pub kind: Binding,
    /// Its name: `generator`, `cpu0`, `sda`, `net.core.somaxconn`.
    pub resource: String,
    /// Share of its ceiling, where it has one.
    pub share: Option<f64>,
    /// `cpu0 97 % busy: user 12 %, system 38 %, softirq 47 %`.
    pub text: String,
}

/// A core during a load. Shares of the time of a take, medians over the takes; null where the system does not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreDoc {
    /// Its number.
    pub cpu: String,
    /// `server`, `generator`, `both` or `other`.
    pub role: String,
    pub user: Option<f64>,
    pub system: Option<f64>,
    /// Interrupts, deferred ones too.
    pub softirq: Option<f64>,
    /// Given to others by the hypervisor.
    pub steal: Option<f64>,
    /// The load generator's share of it, waiting by spinning included; null where that is not known.
    #[serde(default)]
    pub generator: Option<f64>,
    /// The rest, waiting for disks included.
    pub idle: f64,
}

/// The files of a load: read from disks, and kept by the server. Medians over the takes; null where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesDoc {
    /// Bytes that all programs together read from disks in a take.
    pub disk_read: Option<f64>,
    /// Bytes that the server's processes had read from disks in a take.
    pub server_read: Option<f64>,
    /// Pages that were read again in a take, since the server's memory limit had pushed them out.
    pub refaults: Option<f64>,
    /// Bytes of cached files within the memory of a server that has a limit, after a take.
    pub server_cache: Option<f64>,
}

/// The bottleneck of one load: a cell of a run in one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BottleneckDoc {
    pub instrument: String,
    /// Parameters of the load.
    pub params: Params,
    pub arm: String,
    /// Good answers per second: median over the takes.
    pub throughput: Option<f64>,
    pub kind: Binding,
    /// Name of what binds.
    pub resource: String,
    /// Share of its ceiling, where it has one.
    pub share: Option<f64>,
    /// The bottleneck with its numbers: one line without a full stop.
    pub sentence: String,
    /// Evidence for it.
    pub evidence: Vec<String>,
    /// Evidence against it, or for another one.
    pub counter_evidence: Vec<String>,
    /// Advice, the most promising first.
    pub advice: Vec<String>,
    /// Further limits of the server where the resource is not its own: answers that it compresses, fewer threads than
    /// CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Everything that was looked at, in the order of what binds most.
    pub resources: Vec<ResourceDoc>,
    /// Shares of what the same machine did in its stored runs, the largest first, then what was never measured. Absent
    /// where no stored runs were looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<CeilingDoc>,
    /// Every core that was watched, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<CoreDoc>,
    /// Absent where nothing of it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesDoc>,
}

/// A figure with its interval over whole takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateDoc {
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Why there is no interval, or no value.
    pub why: Option<String>,
}

impl EstimateDoc {
    /// Its ends, where they say anything.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high).filter(|(low, high)| tells(*low, *high))
    }
}

/// One percentile of the response times of all takes together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentileDoc {
    /// 0.5, 0.9, 0.99, 0.999.
    pub quantile: f64,
    pub time: EstimateDoc,
}

/// One load of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePointDoc {
    /// Connections, generators, or requests offered per second.
    pub x: f64,
    /// The parameter as it was asked for: `50`, `75%`.
    pub asked: String,
    /// Measured takes.
    pub n: u64,
    /// Good answers per second.
    pub throughput: EstimateDoc,
    /// Bytes of good answers per second; absent where they were not read.
    pub bandwidth: Option<EstimateDoc>,
    /// Seconds from when a request was due to the end of its answer.
    pub response: Vec<PercentileDoc>,
    /// Mean response time, s: the median of the means of the takes, as in its row.
    pub mean_response: Option<f64>,
    /// Seconds from when a request was sent to the end of its answer.
    pub service: Vec<PercentileDoc>,
    /// Requests of all takes, failed ones included.
    #[serde(default)]
    pub requests: Option<f64>,
    /// Failed requests of all takes.
    pub failed: f64,
    /// Throughput by mean response time (Kleinrock's power), 1/s2.
    pub power: Option<f64>,
    /// Open loop: the throughput is at least 95 % of the rate that was offered.
    pub held: Option<bool>,
    /// Of the throughput.
    pub validity: Validity,
    /// A rule says that the load generator, not the server, set this figure.
    pub lower_bound: bool,
}

/// A place on a curve, with what it means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveMarkDoc {
    /// Where on the x axis: one of the points.
    pub x: f64,
    pub throughput: f64,
    /// Mean response time there, s.
    pub mean_response: Option<f64>,
    /// A sentence with numbers.
    pub text: String,
}

/// Loads that differ in one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveDoc {
    pub instrument: String,
    /// The parameter on the x axis: `connections`, `generators`, or `offered-load` (1/s) of an open loop.
    pub over: String,
    /// `closed`, `constant` or `poisson`.
    pub arrivals: String,
    /// Parameters that all points share.
    pub params: Params,
    pub arm: String,
    /// Open loops: requests per second of the closed loop that shares such as `100%` are of, the median over the takes.
    pub capacity: Option<f64>,
    /// By rising x.
    pub points: Vec<CurvePointDoc>,
    /// The highest throughput. A closed loop: and the fewest connections (or generators) that reach it within 3 %.
    /// An open loop: the highest rate up to which every one was held; none where the lowest was not.
    pub peak: Option<CurveMarkDoc>,
    /// Open loops: the load at which throughput by mean response time is largest. Below it, more load costs little
    /// time; beyond it, time grows faster than throughput.
    pub knee: Option<CurveMarkDoc>,
    /// Why a mark is missing, or what it leaves open (the knee is at the end of the sweep).
    pub why: Option<String>,
}

impl CurveDoc {
    /// Of what the loads are shares.
    pub fn whole(&self) -> Option<String> {
        let rate = quantity(self.capacity?, Unit::PerSec);
        Some(format!(
            "100 % load is {rate}: the most that a closed loop of the same requests got before the takes"
        ))
    }
}
