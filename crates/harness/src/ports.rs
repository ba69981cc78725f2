//! What a study is plugged into: the way to a child, the sink of its takes, what may be shown, and how it ended.
//!
//! Times are seconds. Nothing here measures, waits or stores.

use model::data::Status;
use model::frame::{Frame, Hello, Live, OwnCost, Segment};
use model::reading::Take;
use model::{Cell, Fact};

/// The way to one child.
pub trait Link {
    fn send(&mut self, frame: &Frame) -> Result<(), String>;

    /// Closes the way, which ends the child; says what is known of its end by now.
    fn hang_up(&mut self) -> Parting {
        Parting::default()
    }
}

/// What is known of a child that is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parting {
    /// What it said, and how it ended.
    pub how: Option<String>,
    /// What the user may do about it.
    pub hint: Option<String>,
}

impl Parting {
    /// Why it was given up, with what is known of its end.
    #[must_use]
    pub fn after(&self, why: &str) -> String {
        match &self.how {
            Some(how) => format!("{why}; {how}"),
            None => why.to_owned(),
        }
    }
}

/// The sink refused: nothing more can be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);

/// What the display may show. Nothing here is stored.
#[derive(Debug)]
pub enum Show<'a> {
    Doing {
        machine: usize,
        text: &'a str,
    },
    /// How the take in flight goes, where the study is watched.
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
    /// What it is (a generator, or the far end), and its name with its command.
    GeneratorLost {
        called: &'a str,
        why: &'a str,
        hint: Option<&'a str>,
    },
    /// The user asked to stop: the take in flight is finished first.
    Stopping,
}

/// Where everything goes. `commit` returns only when the take is durable.
pub trait Sink {
    fn hello(&mut self, machine: usize, hello: &Hello) -> Result<(), SinkError>;
    /// A child that only sends load: refused or not, it has no run.
    fn generator(&mut self, hello: &Hello) -> Result<(), SinkError>;
    fn facts(&mut self, machine: usize, facts: &[Fact]) -> Result<(), SinkError>;
    fn commit(&mut self, machine: usize, take: Option<&Take>, telemetry: &[Segment])
    -> Result<(), SinkError>;
    fn note(&mut self, machine: usize, kind: &str, text: &str) -> Result<(), SinkError>;
    fn end(
        &mut self,
        machine: usize,
        status: Status,
        seconds: f64,
        cost: Option<OwnCost>,
    ) -> Result<(), SinkError>;
    fn show(&mut self, show: &Show<'_>);
    /// What notes call a cell: its instrument and parameters, or what a sink that knows which are usual makes of them.
    fn title(&self, cell: &Cell) -> String {
        format!("{} {}", cell.instrument, cell.params)
    }
}

/// How takes treat the user who waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interaction {
    /// Long takes tell how they go.
    pub watched: bool,
    /// Who asks to stop ends the take in flight early, where its instrument can, and it counts.
    pub cuts: bool,
}

/// A take of an earlier sitting, for `resume`.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub machine: usize,
    pub take: Take,
}

/// Which rule ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every cell had its fixed number, or reached the last look.
    Count,
    /// Every cell was precise enough before its last look.
    Target,
    Budget,
    Interrupted,
    /// Every machine was lost.
    Lost,
    /// Nothing more could be stored.
    Refused,
}

impl Ended {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Ended::Count => "the planned number of takes",
            Ended::Target => "the target precision",
            Ended::Budget => "the time budget",
            Ended::Interrupted => "an interrupt",
            Ended::Lost => "the loss of every machine",
            Ended::Refused => "a store that refused",
        }
    }
}

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub ended: Ended,
    /// What the sink said when it refused.
    pub refused: Option<String>,
    pub statuses: Vec<Status>,
    pub faults: u64,
    /// Takes begun, warm-ups included, and those measured whole; of all machines, earlier sittings included.
    pub takes: u64,
    pub measured: u64,
    pub unfit: Vec<(usize, u32, String)>,
}
