//! Runs of a machine against itself: the noise of every figure, the differences that it lets one tell, and whether any
//! two of the runs would be called different.
//!
//! Every pair of runs is compared as `compare` does it, with the other runs as earlier ones. A difference counts as
//! told where it is called one in 80 of 100 cases. Figures of periods and figures without a direction are left out.

use std::collections::BTreeSet;
use std::rc::Rc;

use model::data::{RunData, Series};
use model::doc::{AaDoc, AaFigureDoc, AaPairDoc, MachineDoc, PriorWord, RowDoc, VerdictWord};
use model::names::{self, Key};
use model::{Better, Cards, Samples, SeriesKey, card, format};
use stats::{Margin, Noise, Prior, Seen};

use crate::compare::{CompareOptions, Side, each_pair};
use crate::headline::is_headline;
use crate::noise::{self, History, Known};
use crate::run_index::{RunContext, RunIndex};

/// How often a difference that is given as told is told.
pub(crate) const POWER: f64 = 0.8;

/// A figure with what is known of it, before figures teach each other.
pub(crate) struct Drafted<'a> {
    pub series: &'a Series,
    pub headline: bool,
    pub known: Vec<Known<'a>>,
    pub floor: f64,
}

impl Drafted<'_> {
    /// The spread of the figure's own runs, for [`stats::learn()`].
    pub fn seen(&self) -> Option<Seen> {
        let (_, known) = noise::newest(&self.known);
        Seen::new(&[], &[&known], self.floor).ok()
    }

    /// The noise from run to run, with the runs that it comes from; `None` where no run shows any.
    pub fn noise(&self, learnt: Option<stats::Learnt>) -> Option<(Vec<&str>, Noise)> {
        let (ids, known) = noise::newest(&self.known);
        let found = stats::noise(&[], &[&known], self.floor, learnt).ok().filter(|_| !ids.is_empty())?;
        Some((ids, found))
    }
}

/// The document of `against`, the ids of runs that are set against each other, among all runs of their machine and
/// configuration, about the instruments that are wanted.
pub fn aa(all: &[RunData], against: &[String], wanted: &dyn Fn(&str) -> bool, cards: Cards) -> AaDoc {
    let runs: Vec<&RunData> = all.iter().filter(|run| against.contains(&run.head.id)).collect();
    let each = runs.len().max(1);
    let history = Rc::new(History::new(all));
    let mut drafts = drafts(&history, &runs, cards);
    drafts.retain(|draft| wanted(&draft.series.key.instrument));
    let family = drafts.iter().filter(|draft| draft.headline).count();
    let learnt = stats::learn(&drafts.iter().filter_map(Drafted::seen).collect::<Vec<_>>());
    let sides: Vec<Side<'_>> = runs.iter().map(|run| side(run)).collect();
    let mut rows =
        each_pair(&sides, &history, &CompareOptions { all: true, cards, ..CompareOptions::default() });
    rows.retain(|row| wanted(&row.instrument) && row.verdict != VerdictWord::Invalid);
    let different = rows.iter().filter(|row| is_different(row));
    let places: BTreeSet<(&str, &str)> = different.map(|row| (row.base.as_str(), row.arm.as_str())).collect();
    let figures: Vec<AaFigureDoc> =
        drafts.iter().filter_map(|draft| figure(draft, (each, family), learnt, &rows, cards)).collect();
    let newest = runs.last().map(|run| &run.head);
    let pairs = runs.len() * runs.len().saturating_sub(1) / 2;
    let mut doc = AaDoc {
        cards,
        schema: "boxscore.aa/1".to_owned(),
        machine: MachineDoc {
            id: newest.map(|head| head.machine_id.clone()).unwrap_or_default(),
            name: newest.map(|head| head.machine.clone()).unwrap_or_default(),
        },
        planted: runs.iter().any(|run| run.plan.fake.is_some()),
        runs: runs.iter().map(|run| run.head.id.clone()).collect(),
        each: each as u64,
        margin: Margin::MACHINES.share(),
        power: POWER,
        family: family as u64,
        pairs: pairs as u64,
        pairs_different: places.len() as u64,
        figures,
        says: String::new(),
    };
    doc.says = says(&doc);
    doc
}

/// The figures of the runs in the order in which they were measured, each with all runs that have it.
pub(crate) fn drafts<'a>(history: &History<'a>, runs: &[&'a RunData], cards: Cards) -> Vec<Drafted<'a>> {
    let mut drafts: Vec<Drafted<'a>> = Vec::new();
    let mut keys: BTreeSet<&SeriesKey> = BTreeSet::new();
    for run in runs.iter().rev() {
        let context = RunContext { cards, ..RunContext::default() };
        let index = RunIndex::new(run, &context);
        for row in index.figures() {
            let Some(series) = run.series.get(row.index) else { continue };
            let counts = series.better != Better::Neither
                && Samples::for_instrument(cards, &series.key.instrument) == Samples::Takes;
            if !counts || !keys.insert(&series.key) {
                continue;
            }
            let floor = noise::assumed_floor(cards, &series.key.instrument, noise::host(run));
            let known = history.of_key(&series.key, cards);
            drafts.push(Drafted { series, headline: is_headline(&index, row), known, floor });
        }
    }
    drafts
}

/// One run as a side of a comparison.
fn side(run: &RunData) -> Side<'_> {
    let machine = MachineDoc { id: run.head.machine_id.clone(), name: run.head.machine.clone() };
    Side { runs: vec![run], ..Side::new(&run.head.id, machine) }
}

fn is_different(row: &RowDoc) -> bool {
    matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse)
}

fn figure(
    draft: &Drafted<'_>,
    (each, family): (usize, usize),
    learnt: Option<stats::Learnt>,
    rows: &[RowDoc],
    cards: Cards,
) -> Option<AaFigureDoc> {
    let SeriesKey { instrument, metric, unit, params, definition, .. } = &draft.series.key;
    let (ids, found) = draft.noise(learnt)?;
    let own = draft.seen().filter(|own| own.v > 0.0);
    let told = |runs: usize| stats::least_told(&found, runs, Margin::MACHINES, family, POWER);
    let is_of =
        |row: &&RowDoc| row.instrument == *instrument && row.metric == *metric && row.params == *params;
    let pair = |row: &RowDoc| AaPairDoc {
        base: row.base.clone(),
        arm: row.arm.clone(),
        ratio: row.ratio,
        verdict: row.verdict,
    };
    let of_figure: Vec<&RowDoc> = rows.iter().filter(is_of).collect();
    Some(AaFigureDoc {
        card: card::find(cards, instrument),
        instrument: instrument.clone(),
        metric: metric.clone(),
        unit: *unit,
        better: draft.series.better,
        params: params.clone(),
        definition: *definition,
        headline: draft.headline,
        noise_runs: ids.into_iter().map(str::to_owned).collect(),
        noise: noise::word(found.kind),
        spread: found.s,
        own_spread: own.map(|own| (own.squares / own.v).sqrt()),
        own_share: found.v / found.dof(),
        prior: match found.prior {
            Prior::Figures => PriorWord::Figures,
            Prior::Floor | Prior::Takes => PriorWord::Family,
        },
        floor: found.aa_floor(),
        told_by_one: told(1),
        told_by_each: told(each),
        pairs: of_figure.len() as u64,
        different: of_figure.iter().filter(|row| is_different(row)).map(|row| pair(row)).collect(),
    })
}

/// `One run each tells differences from 8 % (integer) to 31 % (disk write), 5 runs each from 6 % to 14 % in 80 of 100
/// cases; none of 10 pairs of equal runs was called different.`
fn says(doc: &AaDoc) -> String {
    let heads: Vec<&AaFigureDoc> = doc.figures.iter().filter(|figure| figure.headline).collect();
    let figures = if heads.is_empty() { doc.figures.iter().collect() } else { heads };
    let name = |figure: &AaFigureDoc| {
        let AaFigureDoc { card, instrument, metric, params, .. } = figure;
        names::label(Key { card: *card, instrument, metric, params })
    };
    let range = |told: &dyn Fn(&AaFigureDoc) -> f64| {
        let least = figures.iter().min_by(|a, b| told(a).total_cmp(&told(b)))?;
        let most = figures.iter().max_by(|a, b| told(a).total_cmp(&told(b)))?;
        let end = |figure: &AaFigureDoc| format!("{} ({})", format::floor(told(figure)), name(figure));
        Some(if figures.len() == 1 { end(least) } else { format!("{} to {}", end(least), end(most)) })
    };
    let Some(one) = range(&|figure| figure.told_by_one) else { return "No figure was measured.".to_owned() };
    let power = format!(" in {:.0} of 100 cases", doc.power * 100.0);
    let more = match doc.each {
        0 | 1 => String::new(),
        each => {
            let told = range(&|figure| figure.told_by_each).unwrap_or_default();
            format!(", {each} runs each from {told}")
        }
    };
    let assumed = figures.iter().filter(|figure| figure.noise_runs.len() < 2).count();
    let assumed = match assumed {
        0 => String::new(),
        some if some == figures.len() => format!("; {}", model::doc::Noise::Assumed.sentence("", &[])),
        some => {
            let of = format!("for {}", format::count(some, "figure"));
            format!("; {}", model::doc::Noise::Assumed.sentence(&of, &[]))
        }
    };
    let pairs = match (doc.pairs, doc.pairs_different) {
        (0, _) => String::new(),
        (1, 0) => "; the two equal runs were not called different".to_owned(),
        (pairs, 0) => format!("; none of {pairs} pairs of equal runs was called different"),
        (pairs, some) => {
            let which = doc.figures.iter().filter(|figure| !figure.different.is_empty());
            let which: Vec<String> = which.map(name).collect();
            format!(
                "; {some} of {pairs} pairs of equal runs were called different ({})",
                format::list(&which)
            )
        }
    };
    format!("One run each tells differences from {one}{more}{power}{assumed}{pairs}.")
}
