//! The one trait: an instrument prepares a probe, a probe takes readings into a record.
//!
//! An instrument never loops over repetitions, chooses an order, prints or stores.

use std::path::PathBuf;
use std::sync::Arc;

use crate::card::Card;
use crate::fact::Fact;
use crate::fault::Fault;
use crate::frame::Live;
use crate::generate::Relay;
use crate::histogram::Histogram;
use crate::login::Login;
use crate::metric::{Metric, MetricInfo};
use crate::note::NoteBody;
use crate::params::Params;
use crate::power::Prompt;
use crate::unit::{Quantity, Seconds};

/// `Smoke` is what the tests run: the smallest work that still shows every metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Smoke,
    Full,
}

/// Resources of the host that an instrument prepares with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Every parameter of the card, canonical, defaults filled in.
    pub params: Params,
    pub size: Size,
    /// The CPUs that may be used, in order; never empty.
    pub cpus: Vec<u32>,
    /// Where an instrument may make files (and must remove them).
    pub dir: PathBuf,
    /// The largest last-level cache that the machine reports, in bytes.
    pub llc: Option<u64>,
    /// Memory that may be used at all (MemTotal, or the cgroup's limit where lower), in bytes.
    pub memory: Option<u64>,
    /// Seed for anything drawn at random.
    pub seed: u64,
    /// The user's own work in this arm, where the plan has one.
    pub command: Option<crate::plan::Command>,
    /// Name of the arm; empty in a run without arms.
    pub arm: String,
    /// Number of the sitting.
    pub sitting: u32,
    /// The mix of requests that the parameter `mix` names, where the plan has it.
    pub mix: Option<Arc<crate::doc::MixDoc>>,
    /// The user's files that the parameter `files` names, where the plan has them.
    pub tree: Option<Arc<crate::tree::ServedTree>>,
    /// The way to generators in other children, where there are some.
    pub relay: Option<Arc<dyn Relay>>,
    /// For a key-value store of the user's.
    pub login: Option<Login>,
    /// Address of the target on whose host this is, in the child that `--at` started there.
    pub target: Option<String>,
    /// The command that prints watts, where the plan has one.
    pub watts_command: Option<String>,
    /// The way to somebody who reads a meter.
    pub prompt: Option<Arc<dyn Prompt>>,
}

impl Setup {
    /// With nothing known of the host but its CPUs, and full sizes.
    pub fn bare(params: Params, cpus: Vec<u32>, dir: impl Into<PathBuf>) -> Setup {
        let (size, dir) = (Size::Full, dir.into());
        Setup {
            params,
            size,
            cpus,
            dir,
            llc: None,
            memory: None,
            seed: 1,
            command: None,
            arm: String::new(),
            sitting: 0,
            mix: None,
            tree: None,
            relay: None,
            login: None,
            target: None,
            watts_command: None,
            prompt: None,
        }
    }

    /// How many threads the `threads` parameter means here, or why that many cannot run.
    pub fn threads(&self) -> Result<usize, Unfit> {
        let have = self.cpus.len();
        match self.params.get("threads") {
            None => Ok(1),
            Some("all") => Ok(have),
            Some(text) => match text.parse::<usize>() {
                Ok(wanted) if (1..=have).contains(&wanted) => Ok(wanted),
                Ok(wanted) => Err(Unfit::new(format!("{wanted} threads on {have} allowed CPUs"))),
                Err(_) => Err(Unfit::new(format!("threads={text} is not a number"))),
            },
        }
    }
}

/// Why an instrument cannot run here, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unfit {
    pub why: String,
}

impl Unfit {
    pub fn new(why: impl Into<String>) -> Unfit {
        Unfit { why: why.into() }
    }
}

/// Where a probe puts what it read.
pub trait Record {
    /// One number of a metric of the card.
    fn value(&mut self, metric: &MetricInfo, value: f64);
    /// One number with extra parameters beside the take's own (a metric per device or core).
    fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64);
    fn histogram(&mut self, metric: &MetricInfo, histogram: Histogram);
    fn fact(&mut self, fact: Fact);
    /// A note that stays with the run.
    fn note(&mut self, note: NoteBody);
    /// A remark that stays with the run and that no code decides by; `kind` is one word (`doubt`, `repeats`,
    /// `pinning`). A kind of a typed note must go through [`Record::note`]: debug builds panic otherwise.
    fn remark(&mut self, kind: &str, text: &str) {
        debug_assert!(!NoteBody::is_typed_kind(kind), "`{kind}` is a typed note: use `note`");
        self.note(NoteBody::remark(kind, text));
    }
    /// Marks this take's readings doubtful or invalid, with the reason.
    fn refuse(&mut self, finding: crate::finding::Finding);
    /// The same of one metric with extra parameters alone.
    fn refuse_of(&mut self, metric: &MetricInfo, extra: &Params, finding: crate::finding::Finding) {
        let _ = (metric, extra);
        self.refuse(finding);
    }
    /// Somebody watches: a long take tells about once a second how it goes. Where nobody does it must not spend on it.
    fn is_watched(&self) -> bool {
        false
    }
    fn live(&mut self, live: Live) {
        let _ = live;
    }
    /// The user wants the take to end now, with what it has; an instrument that cannot need not ask.
    fn is_cut(&self) -> bool {
        false
    }
}

/// Typed pushes; the unit is checked by the compiler.
pub trait RecordExt: Record {
    fn push<Q: Quantity>(&mut self, metric: &Metric<Q>, value: Q) {
        self.value(&metric.info(), value.get());
    }
    fn push_of<Q: Quantity>(&mut self, metric: &Metric<Q>, extra: &Params, value: Q) {
        self.value_of(&metric.info(), extra, value.get());
    }
    /// Pushes a value if there is one.
    fn push_if<Q: Quantity>(&mut self, metric: &Metric<Q>, value: Option<Q>) {
        if let Some(value) = value {
            self.push(metric, value);
        }
    }
    /// Pushes a value of one device or core if there is one.
    fn push_of_if<Q: Quantity>(&mut self, metric: &Metric<Q>, extra: &Params, value: Option<Q>) {
        if let Some(value) = value {
            self.push_of(metric, extra, value);
        }
    }
}

impl<R: Record + ?Sized> RecordExt for R {}

/// Anything that yields readings or facts.
pub trait Instrument: Sync {
    fn card(&self) -> &'static Card;
    /// Can it run here at all, with these parameters? Cheap: `list` asks for every instrument.
    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        setup.threads().map(drop)
    }
    /// Seconds that one take lasts with these parameters, as far as they tell it; `None` where they do not.
    fn take_seconds(&self, params: &Params) -> Option<f64> {
        let _ = params;
        None
    }
    /// Checks the host, allocates, warms. Dropping the probe tears everything down.
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit>;
}

/// An instrument that is a card, a check and a way to prepare.
#[derive(Clone, Copy, Debug)]
pub struct Simple {
    card: &'static Card,
    fit: fn(&Setup) -> Result<(), Unfit>,
    prepare: fn(&Setup) -> Result<Box<dyn Probe>, Unfit>,
    take_seconds: fn(&Params) -> Option<f64>,
}

impl Simple {
    /// Fits wherever there are CPUs for its parameter `threads`, if it has one.
    pub const fn new(card: &'static Card, prepare: fn(&Setup) -> Result<Box<dyn Probe>, Unfit>) -> Simple {
        Simple { card, fit: |setup| setup.threads().map(drop), prepare, take_seconds: |_| None }
    }

    /// Fits where this check passes.
    pub const fn fits(self, fit: fn(&Setup) -> Result<(), Unfit>) -> Simple {
        Simple { fit, ..self }
    }

    /// One take lasts so many seconds with these parameters, as far as they tell it.
    pub const fn lasts(self, take_seconds: fn(&Params) -> Option<f64>) -> Simple {
        Simple { take_seconds, ..self }
    }
}

impl Instrument for Simple {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        (self.fit)(setup)
    }

    fn take_seconds(&self, params: &Params) -> Option<f64> {
        (self.take_seconds)(params)
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        (self.prepare)(setup)
    }
}

/// A prepared instrument.
pub trait Probe {
    /// How many units of work a take must repeat to last `at_least`; also warms up.
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        let _ = at_least;
        Ok(1)
    }
    /// One take. For [`Cadence::Around`](crate::Cadence::Around), `repeats` is 0 before a take and 1 after it.
    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault>;
    /// After the last take of a sitting: undoes what must be undone by a program. Fails where that does.
    fn end(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    /// Why no further take can come, asked after a fault: its cell is given up. A take that failed so is not stored.
    fn given_up(&self) -> Option<String> {
        None
    }
    /// The CPUs that a take keeps busy (their clock is checked before and after it).
    fn cpus(&self) -> Vec<u32> {
        Vec::new()
    }
    /// Memory that the prepared probe holds, in bytes.
    fn footprint(&self) -> u64 {
        0
    }
}
