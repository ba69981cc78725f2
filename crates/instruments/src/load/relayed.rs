//! A load's way to a generator in another process, and its outcome's way back, as bytes.
//!
//! Bytes that come from elsewhere are read or refused, whatever they are. Times of an outcome are from its start.

use model::generate::Loaded;
use serde::{Deserialize, Serialize};

use super::{Control, Load, Outcome, run_at};
use crate::facts::{Root, cgroup};

/// What a generator brings back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Brought {
    pub outcome: Outcome,
    /// CPUs' worth of time that its control group allows, where there is a quota.
    pub quota: Option<f64>,
}

pub(super) fn pack<T: Serialize>(what: &T) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(what).map_err(|error| format!("cannot be written as a frame: {error}"))
}

/// An outcome that can be merged with others.
pub(super) fn unpack(bytes: &[u8]) -> Result<Brought, String> {
    let brought: Brought =
        postcard::from_bytes(bytes).map_err(|error| format!("it brought no outcome: {error}"))?;
    brought.outcome.check().map_err(|what| format!("it brought an outcome with {what}"))?;
    match brought.quota {
        Some(quota) if !(quota.is_finite() && quota > 0.0) => {
            Err(format!("it brought a CPU quota of {quota}"))
        }
        _ => Ok(brought),
    }
}

/// Carries out the load of these bytes, as a generator. `start` names the time of the start once everything stands.
pub fn serve(bytes: &[u8], start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let load: Load = postcard::from_bytes(bytes).map_err(|error| format!("not a load: {error}"))?;
    let (mut outcome, start_ns) =
        run_at(&load, &Control::default(), start).map_err(|error| error.to_string())?;
    outcome.record.count_from(start_ns);
    let quota = cgroup::limits(&Root::live()).cpus.flatten();
    Ok(Loaded { start_ns, body: pack(&Brought { outcome, quota })? })
}
