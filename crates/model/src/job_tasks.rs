//! The containers of a job on a cluster: what ran where, from when to when, and the fault in its midst.
//!
//! Whole milliseconds since the job's submission, by the clocks of the nodes; a fault by that of the machine that made
//! it. A container whose end nobody saw has none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{count, fixed};
use crate::node_use::NodeUse;

/// Containers that are kept of a job at most, the first ones.
pub const MOST_CONTAINERS: usize = 600;
/// Seconds after which a ResourceManager gives up on a node: where a fault is asked for, and as Hadoop comes.
pub const PATIENCE_OURS_S: u64 = 10;
pub const PATIENCE_HADOOPS_S: u64 = 600;

/// A job that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTasks {
    /// The job of a take that has several: `write`, `read`; else empty.
    pub step: String,
    /// From its submission until it finished.
    pub ms: u64,
    /// Tasks that can run at once, beside the process that directs the job.
    pub slots: u32,
    /// In the order in which they began.
    pub containers: Vec<Container>,
    /// Containers beyond [`MOST_CONTAINERS`].
    pub left_out: u64,
    pub fault: Option<NodeFault>,
    /// The use of the nodes meanwhile; none where that was not looked at.
    #[serde(default)]
    pub nodes: Vec<NodeUse>,
}

crate::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Work as word {
        /// It directs the job (ApplicationMaster).
        Director = "directs the job",
        Map = "map",
        Reduce = "reduce",
    }
}

crate::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Outcome as word {
        Succeeded = "succeeded",
        Failed = "failed",
        /// Another attempt was quicker, it gave its container away, or its node was lost.
        Killed = "killed",
        Unknown = "unknown",
    }
}

/// A container: one attempt of a task, or of directing the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Container {
    pub work: Work,
    pub node: String,
    pub from_ms: u64,
    pub to_ms: Option<u64>,
    /// A reduce that succeeded: when it had fetched the output of the maps, and when it had merged it.
    pub shuffled_ms: Option<u64>,
    pub merged_ms: Option<u64>,
    pub outcome: Outcome,
}

/// A node that failed in the midst of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFault {
    /// `kill-node`
    pub kind: String,
    pub node: String,
    pub at_ms: u64,
    /// When the ResourceManager had found it lost, and the NameNode its DataNode dead.
    pub lost_ms: Option<u64>,
    pub dead_ms: Option<u64>,
}

/// A phase of a job's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Map,
    Shuffle,
    Merge,
    Reduce,
    /// Attempts of tasks that did not succeed.
    Lost,
}

impl Phase {
    pub const ALL: [Phase; 5] = [Phase::Map, Phase::Shuffle, Phase::Merge, Phase::Reduce, Phase::Lost];

    pub const fn word(self) -> &'static str {
        match self {
            Phase::Map => "map",
            Phase::Shuffle => "shuffle",
            Phase::Merge => "merge",
            Phase::Reduce => "reduce",
            Phase::Lost => "no success",
        }
    }
}

impl Container {
    /// Its stretches of time with what was done in them, in order; none of one whose end nobody saw, nor of one that
    /// directs the job.
    pub fn stretches(&self) -> Vec<(Phase, u64, u64)> {
        let Some(to) = self.to_ms else { return Vec::new() };
        let all = match (self.work, self.outcome) {
            (Work::Director, _) => return Vec::new(),
            (_, outcome) if outcome != Outcome::Succeeded => vec![(Phase::Lost, self.from_ms, to)],
            (Work::Map, _) => vec![(Phase::Map, self.from_ms, to)],
            (Work::Reduce, _) => match self.shuffled_ms.zip(self.merged_ms) {
                Some((shuffled, merged)) => vec![
                    (Phase::Shuffle, self.from_ms, shuffled),
                    (Phase::Merge, shuffled, merged),
                    (Phase::Reduce, merged, to),
                ],
                None => Vec::new(),
            },
        };
        all.into_iter().filter(|(_, from, to)| to > from).collect()
    }

    pub fn is_task(&self) -> bool {
        self.work != Work::Director
    }
}

impl JobTasks {
    /// The nodes by name.
    pub fn nodes(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.containers.iter().map(|one| one.node.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The share of the time from the start of its first task to the end of the last in which as many ran as can;
    /// `None` where that is not known.
    pub fn full(&self) -> Option<f64> {
        let tasks = self.containers.iter().filter(|one| one.is_task());
        let ends: Option<Vec<(u64, u64)>> = tasks.map(|one| Some((one.from_ms, one.to_ms?))).collect();
        let ends = ends.filter(|_| self.left_out == 0 && self.slots > 0)?;
        let (first, last) = (ends.iter().map(|one| one.0).min()?, ends.iter().map(|one| one.1).max()?);
        let mut moments: Vec<u64> = ends.iter().flat_map(|(from, to)| [*from, *to]).collect();
        moments.sort_unstable();
        moments.dedup();
        let is_full = |at: u64| {
            ends.iter().filter(|(from, to)| (*from..*to).contains(&at)).count() >= self.slots as usize
        };
        let full: u64 =
            moments.windows(2).filter(|pair| is_full(pair[0])).map(|pair| pair[1] - pair[0]).sum();
        (last > first).then(|| full as f64 / (last - first) as f64)
    }

    /// `12.3 s: 9 maps and 3 reduces on w1, w2, w3`
    pub fn text(&self) -> String {
        let many = |work: Work| self.containers.iter().filter(|one| one.work == work).count();
        let step = if self.step.is_empty() { String::new() } else { format!("{}, ", self.step) };
        let left_out = match self.left_out {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!(
            "{step}{} s: {} and {}{left_out} on {}",
            fixed(self.ms as f64 / 1e3, 1),
            count(many(Work::Map), "map"),
            count(many(Work::Reduce), "reduce"),
            if self.containers.is_empty() { "no node".to_owned() } else { self.nodes().join(", ") },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(work: Work, node: &str, from_ms: u64, to_ms: u64) -> Container {
        let node = node.to_owned();
        let (to_ms, outcome) = (Some(to_ms), Outcome::Succeeded);
        Container { work, node, from_ms, to_ms, shuffled_ms: None, merged_ms: None, outcome }
    }

    #[test]
    fn a_reduce_has_three_stretches_and_an_attempt_in_vain_one() {
        let reduce =
            Container { shuffled_ms: Some(40), merged_ms: Some(40), ..container(Work::Reduce, "w1", 10, 60) };
        assert_eq!(reduce.stretches(), [(Phase::Shuffle, 10, 40), (Phase::Reduce, 40, 60)]);
        let killed = Container { outcome: Outcome::Killed, ..reduce.clone() };
        assert_eq!(killed.stretches(), [(Phase::Lost, 10, 60)]);
        assert_eq!(Container { to_ms: None, ..reduce.clone() }.stretches(), []);
        assert_eq!(Container { work: Work::Director, ..reduce }.stretches(), []);
    }

    #[test]
    fn the_time_in_which_all_places_are_taken_is_counted() {
        let containers = vec![
            container(Work::Director, "w1", 0, 100),
            container(Work::Map, "w1", 20, 60),
            container(Work::Map, "w2", 30, 70),
            container(Work::Reduce, "w1", 70, 100),
        ];
        let job = JobTasks { ms: 100, slots: 2, containers, ..JobTasks::default() };
        assert_eq!(job.full(), Some(30.0 / 80.0));
        assert_eq!(job.nodes(), ["w1", "w2"]);
        assert_eq!(job.text(), "0.1 s: 2 maps and 1 reduce on w1, w2");
        assert_eq!(JobTasks { left_out: 3, ..job.clone() }.full(), None);
        assert_eq!(JobTasks { slots: 0, ..job }.full(), None);
    }
}
