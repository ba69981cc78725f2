//! A side of a comparison, and what the user asks of the comparison.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use model::data::{Price, Published, RunData};
use model::doc::{ArmDoc, MachineDoc};
use model::plan::Target;
use model::{Cards, Fact, SubjectDoc};

use super::matching::arm_name;

/// One side of a comparison, which owns its runs (`R` is [`RunData`]), shares or borrows them.
#[derive(Clone, Debug)]
pub struct SideOf<R> {
    pub name: String,
    pub machine: MachineDoc,
    /// Runs of one config class, of one box or of several of one type; empty for a published machine.
    pub runs: Vec<R>,
    /// Earlier runs of the same machine and config class, for the noise only.
    pub earlier: Vec<R>,
    /// One arm of a study; `None` where the runs have only one.
    pub arm: Option<String>,
    pub published: Vec<Published>,
    pub facts: Vec<Fact>,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    /// Where published figures come from.
    pub source: Option<String>,
    /// Its runs stand in the store, so that `run --plan` can repeat them.
    pub is_stored: bool,
    /// The machine that runs this program, where it is known: a command for another one says where it has to run.
    pub here: Option<MachineDoc>,
}

/// A side whose runs are borrowed.
pub type Side<'a> = SideOf<&'a RunData>;

impl<R> SideOf<R> {
    /// A side without runs or figures.
    pub fn new(name: &str, machine: MachineDoc) -> Self {
        SideOf {
            name: name.to_owned(),
            machine,
            runs: Vec::new(),
            earlier: Vec::new(),
            arm: None,
            published: Vec::new(),
            facts: Vec::new(),
            price: None,
            watts: None,
            source: None,
            is_stored: false,
            here: None,
        }
    }
}

impl<R: Borrow<RunData>> SideOf<R> {
    /// The same side with its runs borrowed.
    pub fn side(&self) -> Side<'_> {
        SideOf {
            name: self.name.clone(),
            machine: self.machine.clone(),
            runs: self.runs.iter().map(Borrow::borrow).collect(),
            earlier: self.earlier.iter().map(Borrow::borrow).collect(),
            arm: self.arm.clone(),
            published: self.published.clone(),
            facts: self.facts.clone(),
            price: self.price.clone(),
            watts: self.watts,
            source: self.source.clone(),
            is_stored: self.is_stored,
            here: self.here.clone(),
        }
    }
}

impl Side<'_> {
    /// The target that its runs measured, if it is one.
    pub fn target(&self) -> Option<&Target> {
        let run = self.runs.last()?;
        run.plan.target(arm_name(self, run))
    }

    /// The CPUs that each of its runs could use.
    fn cpus(&self) -> Option<f64> {
        let mut counts = self.runs.iter().map(|run| run.usable_cpus());
        let first = counts.next()??;
        counts.all(|count| count == Some(first)).then_some(first)
    }

    /// The boxes that its runs were made on.
    pub fn boxes(&self) -> usize {
        self.runs.iter().map(|run| &run.head.machine_id).collect::<BTreeSet<_>>().len()
    }
}

#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// The relative difference that nobody would act on; `None`: 2 % between arms of one study on one machine, 5 %
    /// otherwise.
    pub margin: Option<f64>,
    /// Rows that are no headline too, as a family of their own.
    pub all: bool,
    /// Only rows whose metric or instrument has this name are shown; all of them are corrected together.
    pub metric: Option<String>,
    /// The user named the sides, so that figures under other conditions are compared where only one can be meant.
    pub other_conditions: bool,
    /// Parameters that keep no figures apart, as the user asked: what differs in them is in the ratio.
    pub across: BTreeSet<String>,
    /// A footnote names the runs that noise comes from.
    pub sources: bool,
    /// Hours that a bought machine lives: turns its price into an hourly one.
    pub life_hours: Option<f64>,
    pub cards: Cards,
}

impl CompareOptions {
    /// True where a figure of this instrument and metric was asked for.
    pub fn wants(&self, instrument: &str, metric: &str) -> bool {
        self.metric.as_ref().is_none_or(|name| *name == metric || *name == instrument)
    }
}

/// The target that a side is about: of all its runs the same. `None` where it is a machine.
pub fn subject(side: &Side<'_>, cards: Cards) -> Option<SubjectDoc> {
    let mut each = side.runs.iter().map(|run| {
        let arm = arm_name(side, run);
        SubjectDoc::of_arm(&run.plan, arm, &run.head.machine, cards)
    });
    let first = each.next()?;
    each.all(|other| other == first).then_some(first)?.of_target()
}

/// A side as documents name it.
pub fn arm_doc(side: &Side<'_>, published: bool, cards: Cards) -> ArmDoc {
    ArmDoc {
        name: side.name.clone(),
        machine: side.machine.clone(),
        subject: subject(side, cards),
        runs: side.runs.iter().map(|run| run.head.id.clone()).collect(),
        boxes: Some(side.boxes() as u64).filter(|boxes| *boxes > 1),
        cpus: side.cpus(),
        published,
        planted: side.runs.iter().any(|run| run.plan.fake.is_some()),
        price: side.price.clone(),
        watts: side.watts,
        source: side.source.clone(),
        pasted: side.published.iter().any(Published::is_pasted),
    }
}
