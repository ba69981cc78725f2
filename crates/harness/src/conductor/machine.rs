//! The state of one machine's child in the program, as far as the conductor knows it.

use std::collections::{HashSet, VecDeque};

use model::data::Status;
use model::frame::{Frame, OwnCost, Segment};

use crate::inflow::Inflow;
use crate::ports::Link;

/// All that the jobs of a sitting need beside the plan.
pub(super) struct Opening<'a> {
    /// Directory for files.
    pub(super) dir: &'a str,
    /// The time that the run took before it was resumed.
    pub(super) elapsed_ns: u64,
}

/// One machine of a study. Times are nanoseconds of the program's clock.
pub(super) struct Machine {
    pub(super) link: Box<dyn Link>,
    pub(super) heard_ns: u64,
    pub(super) seq: u64,
    /// Measured takes without a fault.
    pub(super) measured: u64,
    pub(super) lost: Option<String>,
    /// Its run had ended before, and stays as it is.
    pub(super) settled: Option<Status>,
    /// It was lost because it fell silent.
    pub(super) hangs: bool,
    /// True after Ready: from then on the child answers orders.
    pub(super) ready: bool,
    pub(super) telemetry: Vec<Segment>,
    /// Number of values in `telemetry`.
    pub(super) waiting: usize,
    pub(super) cost: Option<OwnCost>,
    /// Of the children of earlier sittings.
    pub(super) spent: Option<OwnCost>,
    /// True from the order to begin a sitting anew until its child's Bye.
    pub(super) anew: bool,
    /// Start of the run by the clock of this program, as the first child was told it.
    pub(super) zero_ns: Option<u64>,
    pub(super) unfit: HashSet<(u32, u32)>,
    /// Frames that arrived while the conductor waited for another machine.
    pub(super) inbox: VecDeque<Frame>,
    pub(super) greeted: bool,
    pub(super) inflow: Inflow,
}

impl Machine {
    pub(super) fn new(link: Box<dyn Link>, now_ns: u64) -> Machine {
        Machine {
            link,
            heard_ns: now_ns,
            seq: 0,
            measured: 0,
            lost: None,
            settled: None,
            hangs: false,
            ready: false,
            telemetry: Vec::new(),
            waiting: 0,
            cost: None,
            spent: None,
            anew: false,
            zero_ns: None,
            unfit: HashSet::new(),
            inbox: VecDeque::new(),
            greeted: false,
            inflow: Inflow::default(),
        }
    }

    /// Its Bye: the end of all, or of a sitting, after which a new child says Hello.
    pub(super) fn parted(&mut self, cost: OwnCost) {
        if std::mem::take(&mut self.anew) {
            self.spent = OwnCost::together(self.spent, Some(cost));
            (self.greeted, self.ready) = (false, false);
        } else {
            self.cost = Some(cost);
        }
    }

    /// The telemetry that no take was committed with yet.
    pub(super) fn take_telemetry(&mut self) -> Vec<Segment> {
        self.waiting = 0;
        std::mem::take(&mut self.telemetry)
    }
}
