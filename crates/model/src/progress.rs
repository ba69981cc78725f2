//! Progress reports and cancellation while probes are prepared.
//!
//! Code that prepares something slow holds a [`ProgressHandle`]. It reports what it does, and checks at least once a
//! second whether the user has cancelled. On cancellation it undoes what it has half done and returns. A take in flight
//! is not cancelled.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Receives one line of progress.
pub type ReportFn = Arc<dyn Fn(&str) + Send + Sync>;

/// Prefix of the report that names the instrument to be prepared next.
pub const PREPARING: &str = "preparing ";

/// Prefix of a report that people should keep in sight, such as how long what follows takes.
pub const REMARK: &str = "note: ";

/// The error of [`ProgressHandle::check`].
pub const CANCELLED: &str = "the user ended the run while this was prepared";

/// A handle for progress reports and cancellation. The default one drops reports and is never cancelled.
#[derive(Clone, Default)]
pub struct ProgressHandle {
    cancelled: Arc<AtomicBool>,
    report: Option<ReportFn>,
}

impl ProgressHandle {
    /// A handle that is cancelled once the flag is set.
    pub fn new(cancelled: Arc<AtomicBool>, report: ReportFn) -> ProgressHandle {
        ProgressHandle { cancelled, report: Some(report) }
    }

    /// Reports what is being prepared. Call it about once a second at most.
    pub fn report(&self, what: &str) {
        if let Some(report) = &self.report {
            report(what);
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Fails with [`CANCELLED`] once the user has cancelled.
    pub fn check(&self) -> Result<(), String> {
        if self.is_cancelled() { Err(CANCELLED.to_owned()) } else { Ok(()) }
    }
}

impl fmt::Debug for ProgressHandle {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("ProgressHandle")
            .field("cancelled", &self.is_cancelled())
            .field("reports", &self.report.is_some())
            .finish()
    }
}
