//! How soon a cluster gives up on a node: settings by which a fault is found within seconds, for runs that ask for one.
//!
//! Pure. As Hadoop comes, a lost node is found after ten minutes; a study of faults cannot wait for that at each take.
//! The patience with an ApplicationMaster, and with a task that does not report, is left as it is: one that only starts
//! slowly would be given up too, and that of a lost node goes with its node.

use model::job_tasks::{PATIENCE_HADOOPS_S, PATIENCE_OURS_S};

/// A property and its value.
pub type Pair = (&'static str, u64);

const EXPIRY: Pair = ("yarn.nm.liveness-monitor.expiry-interval-ms", PATIENCE_OURS_S * 1_000);
const HEARTBEAT: Pair = ("dfs.heartbeat.interval", 1);
const RECHECK: Pair = ("dfs.namenode.heartbeat.recheck-interval", 2_000);

pub const YARN: &[Pair] = &[
    EXPIRY,
    ("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", 500),
    ("yarn.client.nodemanager-connect.max-wait-ms", 5_000),
];
pub const HDFS: &[Pair] = &[
    HEARTBEAT,
    RECHECK,
    ("dfs.namenode.stale.datanode.interval", 6_000),
    ("dfs.client.socket-timeout", 10_000),
];
pub const MAPRED: &[Pair] =
    &[("mapreduce.reduce.shuffle.connect.timeout", 5_000), ("mapreduce.reduce.shuffle.read.timeout", 5_000)];

/// The seconds after which the ResourceManager gives up on a node, and the NameNode on a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub resource_manager: u64,
    pub name_node: u64,
}

impl Patience {
    /// By these settings.
    pub const OURS: Patience = Patience::by(EXPIRY.1, HEARTBEAT.1, RECHECK.1);
    /// As Hadoop comes.
    pub const HADOOPS: Patience = Patience::by(PATIENCE_HADOOPS_S * 1_000, 3, 300_000);

    /// The NameNode waits for two rounds of its check and ten heartbeats.
    const fn by(expiry_ms: u64, heartbeat_s: u64, recheck_ms: u64) -> Patience {
        Patience {
            resource_manager: expiry_ms / 1_000,
            name_node: (2 * recheck_ms) / 1_000 + 10 * heartbeat_s,
        }
    }
}

/// A sentence about both.
pub fn sentence() -> String {
    let (ours, hadoops) = (Patience::OURS, Patience::HADOOPS);
    format!(
        "settings for faults: the ResourceManager gives up on a node after {} s, the NameNode on a DataNode after {} s; as \
         Hadoop comes these are {} s and {} s",
        ours.resource_manager, ours.name_node, hadoops.resource_manager, hadoops.name_node
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_from_the_settings() {
        assert_eq!(Patience::OURS, Patience { resource_manager: 10, name_node: 14 });
        assert_eq!(Patience::HADOOPS, Patience { resource_manager: 600, name_node: 630 });
        assert!(sentence().ends_with("600 s and 630 s"), "{}", sentence());
    }
}
