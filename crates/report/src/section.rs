//! The input of the report's sections, and the figures that they look up in it.
//!
//! A section without data is absent, never empty. Its title is a sentence that says the finding.

use std::rc::Rc;

use maud::{Markup, html};
use model::data::{RunData, Series};
use model::doc::{ArmDoc, CompareDoc, RatioDoc, RunDoc, SeriesDoc};
use model::id::Called;
use model::names::{self, Key};
use model::params::Params;
use model::reading::Phase;
use model::{Fact, Samples, Shared, Validity};

use crate::plot::strip::Take;
use crate::plot::{COLOURS, Estimate};
use crate::text::width;

/// Everything that a report shows.
#[derive(Clone, Debug, Default)]
pub struct ReportInput {
    /// The run that the report is about first.
    pub runs: Vec<(Rc<RunDoc>, Rc<RunData>)>,
    pub compare: Option<Shared<CompareDoc>>,
    /// Figures at two values of a parameter, each document with all machines of the report.
    pub ratios: Vec<RatioDoc>,
    /// Of the program that wrote the report.
    pub version: String,
    /// The command that makes this report again.
    pub command: String,
    /// When its newest run began, as text.
    pub generated: String,
    pub cover: Cover,
}

/// The words of a report's author, and how much of the report is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    pub title: Option<String>,
    pub note: Option<String>,
    /// The first screen alone: one page.
    pub summary: bool,
}

/// A part of the report.
pub struct Section {
    rank: u32,
    markup: fn(&ReportInput) -> Option<Markup>,
    /// It has parts of a run each: of many runs, of the first ones.
    by_run: bool,
}

impl Section {
    /// Sections with lower ranks stand first. `draw` gives `None` without data.
    pub const fn new(rank: u32, draw: fn(&ReportInput) -> Option<Markup>) -> Section {
        Section { rank, markup: draw, by_run: false }
    }

    /// The same, with parts of a run each.
    pub const fn by_run(rank: u32, draw: fn(&ReportInput) -> Option<Markup>) -> Section {
        Section { by_run: true, ..Section::new(rank, draw) }
    }

    pub const fn rank(&self) -> u32 {
        self.rank
    }

    pub fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let drawn = (self.markup)(input)?;
        Some(if self.by_run {
            html! { (drawn) (input.note_on_drawn()) }
        } else {
            drawn
        })
    }
}

/// One series of one run, summarised and raw.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    pub doc: &'a SeriesDoc,
    pub raw: Option<&'a Series>,
    /// Which run it is of.
    pub run: usize,
}

impl Figure<'_> {
    pub fn key(&self) -> Key<'_> {
        Key::from(self.doc)
    }

    /// The median with its interval; nothing of a refused figure.
    pub fn estimate(&self) -> Option<Estimate> {
        let value =
            self.doc.median.filter(|value| value.is_finite() && self.doc.validity != Validity::Invalid)?;
        Some(Estimate { value, interval: self.doc.low.zip(self.doc.high) })
    }

    /// Raw takes that count, in time order, warm-up marked; those of the document where there is no raw data.
    pub fn takes(&self) -> Vec<Take> {
        match self.raw {
            Some(series) => {
                let take = |point: &model::data::Point| {
                    Some(Take { value: point.number()?, warm_up: point.phase == Phase::WarmUp })
                };
                let counted = series.points.iter().filter(|point| point.phase != Phase::Repeated);
                counted.filter_map(take).collect()
            }
            None => self.doc.takes.iter().map(|value| Take { value: *value, warm_up: false }).collect(),
        }
    }
}

/// The names that a run can go by: its label, its machine, its identifier.
pub fn called(doc: &RunDoc) -> Called<'_> {
    Called { label: doc.label.as_deref(), machine: &doc.machine.name, id: &doc.run }
}

impl ReportInput {
    /// Every figure is one of periods: nothing was repeated.
    pub fn is_of_periods(&self) -> bool {
        let mut all = self.runs.iter().flat_map(|(run, _)| &run.series).peekable();
        all.peek().is_some() && all.all(|series| series.samples == Samples::Periods)
    }

    /// The facts of a run as the sheet shows them.
    pub fn facts(&self, run: usize) -> Vec<Fact> {
        self.runs.get(run).map(|(_, data)| data.facts.clone()).unwrap_or_default()
    }

    /// A run's name: its label or machine, and the run where several would be called alike.
    pub fn name(&self, run: usize) -> String {
        let all: Vec<Called<'_>> = self.runs.iter().map(|(doc, _)| called(doc)).collect();
        model::id::apart(&all).into_iter().nth(run).unwrap_or_default()
    }

    /// The comparison where a side of it pools several of these runs.
    pub fn pooled(&self) -> Option<&CompareDoc> {
        let own = |id: &String| self.runs.iter().any(|(doc, _)| doc.run == *id);
        let pools = |arm: &ArmDoc| arm.runs.len() > 1 && arm.runs.iter().any(own);
        self.compare.as_deref().filter(|doc| doc.arms.iter().any(pools))
    }

    /// The names of what the page is about: the sides of a comparison that pools the runs, else each run.
    pub fn subjects(&self) -> Vec<String> {
        let own = |arm: &&ArmDoc| arm.runs.iter().any(|id| self.runs.iter().any(|(doc, _)| doc.run == *id));
        match self.pooled() {
            Some(doc) => doc.arms.iter().filter(own).map(|arm| arm.name.clone()).collect(),
            None => (0..self.runs.len()).map(|run| self.name(run)).collect(),
        }
    }

    /// Every figure of one run.
    pub fn figures(&self, run: usize) -> impl Iterator<Item = Figure<'_>> {
        let (docs, data) = match self.runs.get(run) {
            Some((doc, data)) => (doc.series.as_slice(), Some(data)),
            None => (&[][..], None),
        };
        docs.iter().map(move |doc| Figure { doc, raw: data.and_then(|data| raw_of(data, doc)), run })
    }

    /// The figures of a topic of one run, in the order of a page.
    pub fn family(&self, run: usize, family: &str) -> Vec<Figure<'_>> {
        let mut found: Vec<Figure<'_>> =
            self.figures(run).filter(|figure| names::family(figure.doc.card) == family).collect();
        found.sort_by_cached_key(|figure| names::order(figure.key()));
        found
    }

    /// The figures of an instrument's metric in one run.
    pub fn figures_of(&self, run: usize, instrument: &str, metric: &str) -> Vec<Figure<'_>> {
        self.figures(run).filter(|f| f.doc.instrument == instrument && f.doc.metric == metric).collect()
    }

    /// The same figure in another run.
    pub fn twin(&self, figure: &Figure<'_>, run: usize) -> Option<Figure<'_>> {
        let of = figure.doc;
        self.figures(run).find(|other| {
            let theirs = other.doc;
            theirs.instrument == of.instrument
                && theirs.metric == of.metric
                && theirs.params == of.params
                && theirs.arm == of.arm
                && theirs.definition == of.definition
        })
    }

    /// Number of hardware threads of a run's machine, for `threads=all`.
    pub fn threads(&self, run: usize) -> Option<f64> {
        let (_, data) = self.runs.get(run)?;
        data.usable_cpus()
    }
}

fn raw_of<'a>(data: &'a RunData, doc: &SeriesDoc) -> Option<&'a Series> {
    data.series.iter().find(|series| {
        series.key.instrument == doc.instrument
            && series.key.metric == doc.metric
            && series.key.params == doc.params
            && series.key.arm == doc.arm
            && series.key.definition == doc.definition
    })
}

/// Labels of figures, told apart; the arm is named where there are several.
pub fn labels(figures: &[Figure<'_>]) -> Vec<String> {
    let keys: Vec<Key<'_>> = figures.iter().map(Figure::key).collect();
    let arms = figures.iter().any(|figure| figure.doc.arm != figures[0].doc.arm);
    let named = |(label, figure): (String, &Figure<'_>)| {
        if arms && !figure.doc.arm.is_empty() { format!("{label} [{}]", figure.doc.arm) } else { label }
    };
    names::labels(&keys).into_iter().zip(figures).map(named).collect()
}

/// A thread count of parameters, `all` by what it was.
pub fn threads_of(params: &Params, all: Option<f64>) -> Option<f64> {
    match params.get("threads")? {
        "all" => all,
        number => number.parse().ok().filter(|n: &f64| *n > 0.0),
    }
}

/// The colour of a run.
pub const fn colour(run: usize) -> usize {
    run % COLOURS
}

/// A text that may stand as a heading: first letter large, but of an address, which has none.
pub fn sentence(text: &str) -> String {
    let is_address = text.split_whitespace().next().is_some_and(|word| word.contains("://"));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if width(text) > 1 && !is_address => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn headings_begin_large_and_addresses_stay() {
        assert_eq!(sentence("bound by disks"), "Bound by disks");
        assert_eq!(sentence("http://127.0.0.1/: bound by disks"), "http://127.0.0.1/: bound by disks");
    }
}
