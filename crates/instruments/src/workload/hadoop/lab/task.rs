//! The questions of a master to the other nodes of a cluster, and their answers, as bytes that the program passes on.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::counted::Counted;
use super::member::Member;
use crate::workload::hadoop::settings::Ports;
use crate::workload::hadoop::sizing::Heaps;

/// A question to one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The clusters that the master still has: the node ends every other one.
    pub living: Vec<u64>,
    pub wanted: Wanted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wanted {
    /// Asks for what the node has for a cluster with files in this folder.
    Facts {
        dir: PathBuf,
    },
    Start(Box<Beginning>),
    /// Asks whether the daemons of a cluster run, and for the counters of the node.
    Check {
        id: u64,
    },
    /// Kills the daemons of a cluster with its containers, and holds nobody to account for their end.
    Kill {
        id: u64,
    },
    /// Starts daemons anew that were killed.
    Restart {
        id: u64,
    },
    /// Asks for the line of its daemons' logs about a failure, or about a disk that is full.
    Cause {
        id: u64,
        full_disks: bool,
    },
}

/// A DataNode and a NodeManager that a node is to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    pub id: u64,
    pub members: Vec<Member>,
    /// The number of the node that is asked.
    pub own: usize,
    pub dir: PathBuf,
    /// Those of the master; what the node listens on itself it chooses.
    pub ports: Ports,
    pub heaps: Heaps,
    /// MiB.
    pub container: u64,
    pub node_memory: u64,
    pub node_vcores: u32,
    pub is_quick: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Facts(NodeFacts),
    Started,
    Killed,
    /// They run.
    Runs(Counted),
    /// One has ended: which, and why.
    Ended(String),
    /// `DataNode on node2 says: LINE`
    Cause(Option<String>),
}

/// The means of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Bytes.
    pub memory: u64,
    pub cores: u32,
    pub disk_free: u64,
    /// Of its Hadoop and its Java.
    pub hadoop: String,
    pub java: u32,
}

impl Task {
    /// Its bytes. Fails when it cannot be encoded.
    pub fn pack(self) -> Result<Vec<u8>, String> {
        crate::remote_task::RemoteTask::Hadoop(Box::new(self)).pack()
    }
}
