//! Machines, runs, arms and published figures side by side: ratios with intervals, verdicts, ranks, index, value for
//! money.
//!
//! The first side is the base; `ratio` is arm / base. Two sides of one interleaved study are compared block by block,
//! anything else run against run. Published points are shown and never judged. Not done here: choosing which runs
//! belong to a side, but that none counts on two; runs of different configurations are reported, not sorted out.

mod apart;
mod bound;
mod clock;
mod doubts;
mod footnotes;
mod judge;
mod matching;
mod prepare;
mod ranking;
pub mod ratio;
mod served;
mod shared;
mod step;
pub(crate) mod value;
pub(crate) mod why;

use model::data::{Price, Published, RunData};
use model::doc::{ArmDoc, CompareDoc, MachineDoc, RowDoc};
use model::{Cards, Fact, card};

use prepare::Prepared;

pub use matching::{Match, all_published_for, published_for};

/// One side of a comparison, which owns its runs (`R` is [`RunData`]) or borrows them.
#[derive(Clone, Debug)]
pub struct SideOf<R> {
    pub name: String,
    pub machine: MachineDoc,
    /// Runs of one config class; empty for a published machine.
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
}

/// A side whose runs are borrowed.
pub type Side<'a> = SideOf<&'a RunData>;

impl<R> SideOf<R> {
    /// A side without runs or figures.
    #[must_use]
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
        }
    }
}

impl SideOf<RunData> {
    /// The same side with its runs borrowed.
    #[must_use]
    pub fn side(&self) -> Side<'_> {
        SideOf {
            name: self.name.clone(),
            machine: self.machine.clone(),
            runs: self.runs.iter().collect(),
            earlier: self.earlier.iter().collect(),
            arm: self.arm.clone(),
            published: self.published.clone(),
            facts: self.facts.clone(),
            price: self.price.clone(),
            watts: self.watts,
            source: self.source.clone(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// The relative difference that nobody would act on; `None`: 2 % between arms of one study on one machine, 5 %
    /// otherwise.
    pub margin: Option<f64>,
    /// Rows that are no headline too, as a family of their own.
    pub all: bool,
    /// Only rows whose metric or instrument has this name.
    pub metric: Option<String>,
    /// Hours that a bought machine lives: turns its price into an hourly one.
    pub life_hours: Option<f64>,
    pub cards: Cards,
}

/// Compares every side with the first.
#[must_use]
pub fn compare(sides: &[Side<'_>], options: &CompareOptions) -> CompareDoc {
    let given = sides;
    let (sides, shared) = shared::apart(given);
    let dropped = matching::dropped_keys(&sides);
    let prepared: Vec<Prepared<'_>> =
        sides.iter().map(|side| prepare::prepare(side, &dropped, options)).collect();
    let served = served::of_sides(&prepared);
    let pairs = judge::Pairs::new(&prepared, &served, options);
    let arms = 1..prepared.len();
    let mut rows: Vec<RowDoc> = arms.clone().flat_map(|arm| rows(&pairs, arm, options)).collect();
    for row in &mut rows {
        row.card = card::find(options.cards, &row.instrument);
    }
    let (ranks, ties) = ranking::ranks(&pairs, &prepared);
    let mut footnotes = [shared, footnotes::footnotes(&prepared, options)].concat();
    footnotes.extend(footnotes::assumed(&rows, &prepared));
    let mut doc = CompareDoc {
        cards: options.cards,
        schema: "boxscore.compare/1".to_owned(),
        paragraph: String::new(),
        arms: sides.iter().zip(given).map(|(side, given)| arm_doc(side, given.runs.is_empty())).collect(),
        rows,
        ranks,
        ties,
        // A published machine has points, which have no part in an index.
        index: arms
            .filter(|arm| !sides[0].runs.is_empty() && !sides[*arm].runs.is_empty())
            .map(|arm| ranking::index(&pairs, &prepared, arm, options.cards))
            .collect(),
        findings: [doubts::findings(&prepared), served::findings(&pairs.unlike, &served)].concat(),
        footnotes,
        beside: served.into_iter().flatten().filter_map(|served| served.beside).collect(),
    };
    doc.paragraph = crate::paragraph(&doc);
    doc
}

/// Why measured sides have no figure in common, or fewer than their instruments would give: the parameters that keep
/// them apart.
#[must_use]
pub fn apart(sides: &[Side<'_>], options: &CompareOptions) -> Vec<String> {
    let dropped = matching::dropped_keys(sides);
    let prepared: Vec<Prepared<'_>> =
        sides.iter().map(|side| prepare::prepare(side, &dropped, options)).collect();
    let Some((base, arms)) = prepared.split_first() else { return Vec::new() };
    arms.iter().flat_map(|arm| apart::sentences(arm, base)).collect()
}

fn arm_doc(side: &Side<'_>, published: bool) -> ArmDoc {
    ArmDoc {
        name: side.name.clone(),
        machine: side.machine.clone(),
        runs: side.runs.iter().map(|run| run.head.id.clone()).collect(),
        published,
        price: side.price.clone(),
        watts: side.watts,
        source: side.source.clone(),
    }
}

/// The rows of one arm that are shown: headlines, points, and with `all` everything.
fn rows(pairs: &judge::Pairs, arm: usize, options: &CompareOptions) -> Vec<RowDoc> {
    let shown = |row: &&RowDoc| options.all || row.headline || row.point;
    pairs.of(arm, 0).iter().map(|judged| &judged.row).filter(shown).cloned().collect()
}
