//! The state of one agent on the host of a target, as far as the conductor knows it.

use model::frame::{Hello, Segment};
use model::plan::Via;

use crate::inflow::Inflow;
use crate::ports::Link;

/// One agent. Times are nanoseconds of the program's clock.
pub(super) struct TargetAgent {
    /// Its name is the target's.
    pub(super) via: Via,
    pub(super) link: Box<dyn Link>,
    pub(super) heard_ns: u64,
    pub(super) hello: Option<Hello>,
    pub(super) has_job: bool,
    /// It said Bye, or was lost.
    pub(super) is_over: bool,
    pub(super) inflow: Inflow,
    /// Telemetry that is not stored yet.
    pub(super) waiting: Vec<Segment>,
}

impl TargetAgent {
    pub(super) fn new(via: Via, link: Box<dyn Link>) -> TargetAgent {
        TargetAgent {
            via,
            link,
            heard_ns: sys::clock::now_ns(),
            hello: None,
            has_job: false,
            is_over: false,
            inflow: Inflow::default(),
            waiting: Vec::new(),
        }
    }
}
