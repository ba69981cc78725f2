//! Encodes the outcome of a remote generator as bytes, and decodes it again.
//!
//! Received bytes are checked; a malformed outcome is refused. Times of an outcome count from its start.

use model::generate::Loaded;
use serde::{Deserialize, Serialize};

use super::{Control, Load, Outcome, run_at};
use crate::system_files::Root;
use crate::system_files::cgroup::{self, Quota};

/// The result of one generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Brought {
    pub outcome: Outcome,
    /// The CPU quotas of its control group and of those above it.
    pub quotas: Vec<Quota>,
}

/// Encodes as bytes. Fails when the value cannot be encoded.
pub(super) fn pack<T: Serialize>(what: &T) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(what).map_err(|error| format!("cannot be written as a frame: {error}"))
}

/// Decodes an outcome. Fails when the bytes are malformed, or hold impossible numbers.
pub(super) fn unpack(bytes: &[u8]) -> Result<Brought, String> {
    let brought: Brought =
        postcard::from_bytes(bytes).map_err(|error| format!("it sent no outcome: {error}"))?;
    brought.outcome.check().map_err(|what| format!("it sent an outcome with {what}"))?;
    match brought.quotas.iter().find(|quota| !(quota.cpus.is_finite() && quota.cpus > 0.0)) {
        Some(quota) => Err(format!("it sent a CPU quota of {}", quota.cpus)),
        None => Ok(brought),
    }
}

/// Carries out a load in a generator process. `start` is called when everything is set up, and returns the time of the
/// start. Fails as [`run`](super::run) does.
pub fn serve(mut load: Load, start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let quotas = cgroup::quotas(&Root::live());
    // Spinning would use up what is allowed.
    load.own_cores &= quotas.is_empty();
    let (mut outcome, start_ns) =
        run_at(&load, &Control::default(), start).map_err(|error| error.to_string())?;
    outcome.record.count_from(start_ns);
    Ok(Loaded { start_ns, body: pack(&Brought { outcome, quotas })? })
}
