//! The interfaces of a study: the link to a child, the sink of its takes, the events for a display, and the outcome.
//!
//! Times are seconds. Nothing here measures, waits or stores.

use model::data::Status;
use model::frame::{Frame, Hello, Live, OwnCost, Segment, TargetTelemetry};
use model::reading::Take;
use model::{Cell, Fact, NoteBody, Phase};

use crate::outage::Taken;

/// A connection to one child.
pub trait Link {
    fn send(&mut self, frame: &Frame) -> Result<(), String>;

    /// Closes the link, which ends the child. Returns what is known about its end.
    fn hang_up(&mut self) -> Parting {
        Parting::default()
    }
}

/// A link to no child.
#[derive(Clone, Copy, Debug)]
pub struct NoLink;

impl Link for NoLink {
    fn send(&mut self, _: &Frame) -> Result<(), String> {
        Err("there is no child".to_owned())
    }
}

/// The part of a machine in one attempt at its study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Measured,
    /// It cannot be reached now.
    Unreached,
    /// Its run came to its end in an earlier attempt.
    Ended(Status),
}

/// How a child ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parting {
    /// Its last words and its exit status.
    pub how: Option<String>,
    /// Advice for the user.
    pub hint: Option<String>,
}

impl Parting {
    /// `why`, followed by how the child ended.
    pub fn after(&self, why: &str) -> String {
        match &self.how {
            Some(how) => format!("{why}; {how}"),
            None => why.to_owned(),
        }
    }
}

/// The sink could not store something; the study ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SinkError {
    pub why: String,
    /// Advice for the user.
    pub hint: Option<String>,
}

impl SinkError {
    pub fn new(why: impl Into<String>) -> SinkError {
        SinkError { why: why.into(), hint: None }
    }
}

/// Events for a display. None of them is stored.
#[derive(Debug)]
pub enum Show<'a> {
    Doing {
        machine: usize,
        text: &'a str,
    },
    /// Progress of the take in flight, if the study is watched.
    Live {
        machine: usize,
        live: &'a Live,
    },
    Starting {
        machine: usize,
        cell: u32,
        arm: u32,
        block: u32,
        warm_up: bool,
    },
    Taken {
        machine: usize,
        take: &'a Take,
        median: Option<f64>,
        width: Option<f64>,
        n: usize,
    },
    Left {
        seconds: Option<f64>,
    },
    Unfit {
        machine: usize,
        cell: u32,
        arm: u32,
        why: &'a str,
    },
    Lost {
        machine: usize,
        why: &'a str,
        hint: Option<&'a str>,
    },
    /// A child that has no run of its own. `called`: its role (generator, far end, agent of a target) and its name with
    /// its command.
    HelperLost {
        called: &'a str,
        why: &'a str,
        hint: Option<&'a str>,
    },
    /// The time does not suffice for all figures: those begun are finished before the others begin.
    Turn {
        begun: usize,
        waiting: usize,
    },
    /// These figures were never begun: the time was over.
    NotBegun {
        cells: &'a [u32],
    },
    /// The user asked to stop; the take in flight finishes first.
    Stopping,
    /// Somebody is asked what a meter shows, in the middle of take `take` of `of`, if their number is fixed.
    Question {
        machine: usize,
        text: &'a str,
        take: u64,
        of: Option<u64>,
    },
    /// The question stands, since this is no reading.
    NoReading {
        why: &'a str,
    },
    /// The question is over: it has its answer, or there is none, or its time is over.
    QuestionOver {
        answered: bool,
    },
}

/// Receives everything that a study produces. `commit` returns only when the take is durable. Every method fails when
/// the sink cannot store.
pub trait Sink {
    fn hello(&mut self, machine: usize, hello: &Hello) -> Result<(), SinkError>;
    /// Checks the Hello of a child that has no run: a generator, or an agent on the host of a target.
    fn helper(&mut self, hello: &Hello) -> Result<(), SinkError>;
    fn facts(&mut self, machine: usize, facts: &[Fact]) -> Result<(), SinkError>;
    fn commit(&mut self, machine: usize, take: Option<&Take>, telemetry: &[Segment])
    -> Result<(), SinkError>;
    /// Stores telemetry of the host of a target with the run of a machine that measured it.
    fn target(&mut self, machine: usize, telemetry: &TargetTelemetry) -> Result<(), SinkError>;
    fn note(&mut self, machine: usize, note: NoteBody) -> Result<(), SinkError>;
    fn end(
        &mut self,
        machine: usize,
        status: Status,
        seconds: f64,
        cost: Option<OwnCost>,
    ) -> Result<(), SinkError>;
    fn show(&mut self, show: &Show<'_>);
    /// Human-readable title of a cell for notes.
    fn title(&self, cell: &Cell) -> String {
        format!("{} {}", cell.instrument, cell.params)
    }
}

/// The power of a machine at a moment, in nanoseconds of this program's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct WallReading {
    pub machine: usize,
    pub at_ns: u64,
    /// Watts, or why there are none.
    pub watts: Result<f64, String>,
}

/// Reads the power of machines from here, by their BMCs.
pub trait WallPower {
    /// True for a machine that it reads.
    fn has(&self, machine: usize) -> bool;
    /// Reads this machine as often as it can from now on; `None`: no one more than the others.
    fn follow(&mut self, machine: Option<usize>);
    /// The readings since the last time, in the order of time.
    fn readings(&mut self) -> Vec<WallReading>;
}

/// Somebody who reads a meter, or what stands for one.
pub trait Typist {
    /// A question stands from now on.
    fn ask(&mut self);
    /// The answer that was given meanwhile: watts, or that there is no reading. Fails where it is neither; the question
    /// stands.
    fn answer(&mut self) -> Option<Result<Option<f64>, String>>;
    /// The question is over.
    fn withdraw(&mut self);
}

/// Interaction options: stream live progress; let Ctrl-C cut the take short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interaction {
    /// Long takes report their progress.
    pub watched: bool,
    /// A stop request ends the take in flight early, if its instrument can, and the take counts.
    pub cuts: bool,
}

/// A take of an earlier sitting, for `resume`.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub machine: usize,
    pub take: Take,
}

impl Finished {
    /// It as a measured take of this machine that counts; `None` if it is another.
    pub fn measured_on(&self, machine: usize) -> Option<Taken> {
        let Take { block, cell, arm, .. } = self.take;
        let counts = self.machine == machine && self.take.phase == Phase::Measured;
        counts.then(|| Taken { block, cell, arm, has_failed: self.take.fault.is_some() })
    }
}

model::words! {
    /// Why a run ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Ended as word {
        /// Every cell had its fixed number of takes, or reached the last look of the stop rule.
        Count = "the planned number of takes",
        /// Every cell was precise enough before the last look.
        Target = "the target precision",
        Budget = "the time budget",
        Interrupted = "an interrupt",
        /// Every machine was lost.
        Lost = "the loss of every machine",
        /// The sink could store no more.
        Refused = "a store that refused",
    }
}

/// The outcome of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub ended: Ended,
    /// The sink's error, if it refused.
    pub refused: Option<SinkError>,
    pub statuses: Vec<Status>,
    /// Machines that were lost because they fell silent.
    pub hung: Vec<usize>,
    pub faults: u64,
    /// Takes begun, warm-ups included, of all machines and sittings; `measured` counts those without a fault.
    pub takes: u64,
    pub measured: u64,
    pub unfit: Vec<(usize, u32, String)>,
}
