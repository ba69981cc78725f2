//! Who waits for what is being prepared: hears what is done, and may want to leave.
//!
//! Preparing then ends within a second, with what it is in the middle of undone. A take in flight goes on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says what is being done.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// How it begins what is said before anything is prepared.
pub const PREPARING: &str = "preparing ";

/// Why something was not prepared to its end.
pub const LEFT: &str = "the user ended the run while this was prepared";

/// By default nobody listens, and nobody leaves.
#[derive(Clone, Default)]
pub struct Caller {
    left: Arc<AtomicBool>,
    say: Option<Say>,
}

impl Caller {
    /// One that has left once the flag is set.
    #[must_use]
    pub fn new(left: Arc<AtomicBool>, say: Say) -> Caller {
        Caller { left, say: Some(say) }
    }

    /// What is being done before what is measured, where that takes long; about once a second at most.
    pub fn doing(&self, what: &str) {
        if let Some(say) = &self.say {
            say(what);
        }
    }

    #[must_use]
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// Whether to go on.
    pub fn stays(&self) -> Result<(), String> {
        if self.has_left() { Err(LEFT.to_owned()) } else { Ok(()) }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Caller")
            .field("left", &self.has_left())
            .field("listens", &self.say.is_some())
            .finish()
    }
}
