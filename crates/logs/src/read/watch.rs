//! Progress of reading, and its stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress of reading, for another thread, which may also stop it.
#[derive(Debug, Default)]
pub struct Watch {
    read: AtomicU64,
    stop: AtomicBool,
}

impl Watch {
    /// Bytes of the files (as they lie on the disk) and streams that were read.
    pub fn bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Reading ends soon; what was read so far is the outcome.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn add(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
