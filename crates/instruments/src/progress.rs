//! The process-wide handle for progress reports and cancellation while probes are prepared.
//!
//! A measuring child serves one job, so it has one handle. Slow preparation uses it: servers that start, files and keys
//! that are written. They report each second how far they are, and stop when the user cancels. Units: nanoseconds and
//! counts.

use std::sync::{Mutex, PoisonError};

use model::ProgressHandle;
use sys::clock;

/// Time between two reports of a counter.
const INTERVAL_NS: u64 = 1_000_000_000;

static HANDLE: Mutex<Option<ProgressHandle>> = Mutex::new(None);

/// Sets the handle of this process.
pub fn install(progress: ProgressHandle) {
    // What is behind this lock is whole between two statements.
    *HANDLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
}

/// The handle of this process. In a process that serves no job it drops reports and is never cancelled.
pub fn current() -> ProgressHandle {
    HANDLE.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Counts the steps of one slow operation and reports the count each second.
#[derive(Debug)]
pub struct ProgressCounter {
    progress: ProgressHandle,
    what: String,
    of: u64,
    reported_ns: u64,
}

impl ProgressCounter {
    /// A counter up to `of`. Its reports read `writing the keys of the load: 5 of 10`.
    pub fn new(what: impl Into<String>, of: u64) -> ProgressCounter {
        ProgressCounter::to(current(), what.into(), of)
    }

    fn to(progress: ProgressHandle, what: String, of: u64) -> ProgressCounter {
        ProgressCounter { progress, what, of, reported_ns: clock::now_ns() }
    }

    /// Reports that `done` steps are done, if a second has passed since the last report.
    pub fn update(&mut self, done: u64) {
        self.at(done, clock::now_ns());
    }

    fn at(&mut self, done: u64, now_ns: u64) {
        if now_ns.saturating_sub(self.reported_ns) >= INTERVAL_NS {
            self.reported_ns = now_ns;
            self.progress.report(&format!("{}: {done} of {}", self.what, self.of));
        }
    }

    /// Reports as [`ProgressCounter::update`] does. Fails when the user has cancelled.
    pub fn advance(&mut self, done: u64) -> Result<(), String> {
        self.progress.check()?;
        self.update(done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn progress_is_reported_each_second_until_the_user_cancels() {
        let (said, left) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let heard = Arc::clone(&said);
        let say = move |what: &str| heard.lock().unwrap().push(what.to_owned());
        let mut counter = ProgressCounter::to(
            ProgressHandle::new(Arc::clone(&left), Arc::new(say)),
            "writing".to_owned(),
            9,
        );
        let from_ns = counter.reported_ns;
        for (done, after_ns) in
            [(1, 1), (2, INTERVAL_NS - 1), (3, INTERVAL_NS), (4, INTERVAL_NS + 1), (5, 3 * INTERVAL_NS)]
        {
            counter.at(done, from_ns + after_ns);
        }
        assert_eq!(*said.lock().unwrap(), ["writing: 3 of 9", "writing: 5 of 9"]);
        assert_eq!(counter.advance(6), Ok(()));
        left.store(true, Ordering::Relaxed);
        assert_eq!(counter.advance(7), Err(model::progress::CANCELLED.to_owned()));
        assert!(!current().is_cancelled());
    }
}
