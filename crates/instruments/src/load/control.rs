//! What the caller may see and do while a load runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::recorder::Recorder;

/// Shared with the running threads. The counters lag by up to a twentieth of a second.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to end the load: nothing more is sent, what is in flight is waited for.
    pub stop: AtomicBool,
    /// Set once all connections stand and the clock runs.
    pub started: AtomicBool,
    pub good: AtomicU64,
    pub failed: AtomicU64,
    pub received_bytes: AtomicU64,
}

/// What a thread has told so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    good: u64,
    failed: u64,
    received_bytes: u64,
}

impl Shown {
    pub(super) fn tell(&mut self, record: &Recorder, control: &Control) {
        let add = |to: &AtomicU64, shown: &mut u64, now: u64| {
            to.fetch_add(now - *shown, Ordering::Relaxed);
            *shown = now;
        };
        add(&control.good, &mut self.good, record.good);
        add(&control.failed, &mut self.failed, record.failures.total());
        add(&control.received_bytes, &mut self.received_bytes, record.received_bytes);
    }
}
