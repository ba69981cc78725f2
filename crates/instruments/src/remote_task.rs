//! A task that another child carries out for the measuring child: send a load, be the far end of network tests, or a
//! node of a Hadoop cluster.
//!
//! The program passes tasks on as bytes. The receiving child decodes them; bytes that are not a task are refused, never
//! trusted.

use model::generate::Loaded;
use serde::{Deserialize, Serialize};

use crate::bench::net::far;
use crate::load::{self, Load};
use crate::workload::hadoop;

/// One task for a generator, a far end or a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum RemoteTask {
    /// Send this load.
    Load(Box<Load>),
    /// Listen as the far end of network tests.
    Listen(far::Wanted),
    /// Be a node of a Hadoop cluster.
    Hadoop(Box<hadoop::lab::task::Task>),
}

impl RemoteTask {
    /// The bytes of the task. Fails when it cannot be encoded.
    pub fn pack(&self) -> Result<Vec<u8>, String> {
        postcard::to_stdvec(self).map_err(|error| format!("cannot be written as a frame: {error}"))
    }
}

/// Decodes a task and carries it out. `start` is called when everything is set up, and returns the time of the start.
///
/// Fails when the bytes are no task, or when the task fails.
pub fn serve(bytes: &[u8], start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let task: RemoteTask = postcard::from_bytes(bytes)
        .map_err(|error| format!("no load, no far end and no node of a cluster: {error}"))?;
    match task {
        RemoteTask::Load(load) => load::serve(*load, start),
        RemoteTask::Listen(wanted) => far::serve(&wanted, start),
        RemoteTask::Hadoop(task) => hadoop::lab::host::serve(*task, start),
    }
}
