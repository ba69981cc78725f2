//! Jobs on a cluster: what their tasks spent their time on, node by node, and how their rate grows with nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EstimateDoc;
use crate::job_tasks::{Container, NodeFault};
use crate::node_use::NodeUse;
use crate::params::Params;

/// One kind of job in one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobDoc {
    /// `TeraSort of 256 MiB on 3 nodes`, with the arm where there are several.
    pub name: String,
    pub instrument: String,
    pub params: Params,
    pub arm: String,
    /// The job of a take that has several: `write`, `read`; else empty.
    pub step: String,
    /// Mean seconds of a task in each phase, medians over takes.
    pub phases: PhasesDoc,
    /// The nodes by name, with what their tasks did; empty where it is not known where they ran.
    pub by_node: Vec<NodeWorkDoc>,
    /// The resource that it uses up, and a slow node.
    pub bound: JobBoundDoc,
    /// The cost of a node that failed in its midst.
    pub fault: Option<FaultCostDoc>,
    /// A node whose maps take clearly longer than those of the others.
    pub slow: Option<SlowNodeDoc>,
    /// Share of the time of its tasks in which as many ran as memory has room for, median over takes.
    pub full: Option<f64>,
    /// The take whose job lasted as long as the middle one.
    pub timeline: Option<JobTimelineDoc>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobBoundDoc {
    /// `cpus`, `disk`, `network` (a node's link), `start` of processes, `containers` that memory has room for,
    /// `nothing` of these, or `unknown`.
    pub limit: String,
    /// The share of time of CPUs or disk that is used, or in which as many tasks ran as can.
    pub share: Option<f64>,
    /// It in words, with a slow node.
    pub sentence: String,
}

/// A fault in the midst of a job. Seconds, medians over takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCostDoc {
    /// `kill-node@40%`
    pub fault: String,
    /// From the fault until the ResourceManager found the node lost, and the NameNode its DataNode dead.
    pub lost: Option<f64>,
    pub dead: Option<f64>,
    /// From the fault until the client of the job ended.
    pub after: Option<f64>,
    /// The whole job, and the same one undisturbed.
    pub seconds: Option<f64>,
    pub undisturbed: Option<f64>,
    pub more: Option<f64>,
    /// The whole job with Hadoop's own patience, computed: the most that it would take.
    pub by_default: Option<f64>,
    /// It in words.
    pub sentence: String,
}

/// Seconds by phase; a phase that no task had, or that is not known, is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhasesDoc {
    pub map: Option<f64>,
    pub shuffle: Option<f64>,
    pub merge: Option<f64>,
    pub reduce: Option<f64>,
    /// Attempts of tasks that did not succeed.
    pub lost: Option<f64>,
}

/// The tasks of a node, on average over the takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeWorkDoc {
    pub node: String,
    /// Attempts a job.
    pub tasks: f64,
    /// Seconds a job that all its tasks together spent in each phase.
    pub phases: PhasesDoc,
    /// The use of its processes and its link while a job ran; absent where that was not looked at.
    pub used: Option<NodeUsedDoc>,
}

/// The use of a node, a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeUsedDoc {
    /// Seconds of CPU time of its processes.
    pub user: Option<f64>,
    pub system: Option<f64>,
    /// Bytes that they read from disk, and gave to be written.
    pub read: Option<f64>,
    pub written: Option<f64>,
    /// Bytes over its link.
    pub received: Option<f64>,
    pub sent: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowNodeDoc {
    pub node: String,
    /// Its median map over that of the other nodes.
    pub times: f64,
    /// Maps that were compared: its own, and those of others.
    pub maps: u64,
    pub others: u64,
}

/// The containers of one job, in milliseconds since it was submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobTimelineDoc {
    pub ms: u64,
    /// Tasks that can run at once.
    pub slots: u32,
    pub containers: Vec<Container>,
    /// Containers that are not listed.
    pub left_out: u64,
    pub fault: Option<NodeFault>,
    /// The use of the nodes meanwhile, stretch by stretch; none where that was not looked at.
    pub nodes: Vec<NodeUse>,
}

/// The rate of one job by number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeScalingDoc {
    /// `TeraSort of 256 MiB`
    pub name: String,
    pub instrument: String,
    /// Without the number of nodes.
    pub params: Params,
    pub arm: String,
    /// By rising number of nodes; the first is what the others are held against.
    pub points: Vec<NodePointDoc>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodePointDoc {
    pub nodes: u32,
    /// Bytes a second.
    pub rate: EstimateDoc,
    /// The rate a node over that of the fewest nodes: 1 is perfect. By block where blocks have both.
    pub efficiency: EstimateDoc,
}
