//! A side whose runs are looked at once for all its needs, and its figures weighed into capacities.
//!
//! Boxes are the unit where a side has several, else runs, as in comparisons. So is the noise between them, but that
//! percentiles of times take no part where the side's figures teach it together: they say the same of a run as its
//! rates do, and cost most to look up.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::data::{RunData, Series};
use model::doc::Binding;
use model::id::short;
use model::names::{self, Key};
use model::params::Match;
use model::{Better, Card, Cards, Host, Samples, Unit, Validity, card, format};
use stats::between::HISTORY_MAX;
use stats::{Learnt, Noise, Run, Seen};

use super::definitions::Definitions;
use super::options::Options;
use super::ruled::{self, Ruled};

use crate::bottleneck;
use crate::compare::correspond::key_part;
use crate::compare::matching::{RowKey, arm_name};
use crate::compare::prepare::figures_of;
use crate::compare::{Side, replicate};
use crate::decide::{Capacity, Repeat};
use crate::judged::{Judged, JudgedSide};
use crate::loads::{self, Load};
use crate::noise::{self, History, Known};
use crate::place;
use crate::ruling::validity_of;
use crate::run_index::{FigureRow, RunIndex};
use crate::searches;

/// A side for all its needs.
pub struct Ready<'a> {
    pub side: &'a Side<'a>,
    pub cards: Cards,
    /// Rules whose doubts are accepted.
    accept: Vec<String>,
    pub definitions: Definitions,
    /// Oldest first.
    runs: Vec<Rc<Judged<'a>>>,
    earlier: OnceCell<Vec<(&'a RunData, Vec<Load<'a>>)>>,
    history: OnceCell<History<'a>>,
    learnt: OnceCell<Option<Learnt>>,
}

/// A figure of runs that teach the noise between them.
type Taught<'r> = (&'r Series, Vec<(&'r RunData, Run)>);

/// A figure of one run.
pub struct Measured<'a> {
    pub run: &'a RunData,
    pub worth: Run,
    pub ruled: Ruled,
    /// The run shows no more than that it is at least this.
    pub at_least: bool,
    /// Of a search: the rate that most of its loads kept, where it is below the one at which half of them break.
    pub kept: Option<f64>,
}

impl Measured<'_> {
    /// The logarithm of the rate that was kept beside the one that was found.
    fn below(&self) -> f64 {
        self.kept.map_or(0.0, |kept| kept.ln() - self.worth.m)
    }
}

/// A figure of a side.
pub struct Figure<'a> {
    /// For people.
    pub name: String,
    pub instrument: &'a str,
    pub unit: Unit,
    /// Oldest run first.
    pub of: Vec<Measured<'a>>,
    /// Runs before those of the side, for the noise only.
    pub earlier: Vec<Known<'a>>,
    /// It was asked for less than the need is.
    pub at_least: bool,
    /// The load came over the loopback: no network card took part.
    pub no_card: bool,
    pub why: Option<String>,
}

impl Figure<'_> {
    /// The mean of its runs' logarithms, whatever the rules say of them.
    pub fn level(&self) -> f64 {
        stats::mean(&self.of.iter().map(|one| one.worth.m).collect::<Vec<_>>()).unwrap_or(f64::NEG_INFINITY)
    }

    /// `11,200/s (web, nginx, 50 connections)`.
    pub fn shown(&self) -> String {
        format!("{} ({})", format::amount(self.level().exp(), self.unit), without_mix(&self.name))
    }

    /// The inverse, such as runs a second of a time.
    #[must_use]
    pub fn inverse(mut self, unit: Unit) -> Self {
        let turned = |run: Run| Run { m: -run.m, ..run };
        for one in &mut self.of {
            one.worth = turned(one.worth);
        }
        for (_, run) in &mut self.earlier {
            *run = turned(*run);
        }
        self.unit = unit;
        self
    }
}

impl<'a> Ready<'a> {
    pub fn new(of: &JudgedSide<'a>, options: &Options<'_>) -> Ready<'a> {
        let (earlier, history, learnt) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let (side, runs, cards) = (of.side, of.runs.clone(), options.cards);
        let (accept, definitions) = (options.accept.to_vec(), options.definitions.clone());
        Ready { side, cards, accept, definitions, runs, earlier, history, learnt }
    }

    /// Its runs, oldest first.
    pub fn runs(&self) -> &[Rc<Judged<'a>>] {
        &self.runs
    }

    /// Earlier runs that count for the noise, oldest first, with their loads; none where boxes are the unit.
    pub fn earlier(&self) -> &[(&'a RunData, Vec<Load<'a>>)] {
        self.earlier.get_or_init(|| {
            let of_side = |run: &&RunData| self.side.runs.iter().any(|own| own.head.id == run.head.id);
            let mut runs: Vec<&'a RunData> =
                self.side.earlier.iter().copied().filter(|run| !of_side(run) && !self.by_box()).collect();
            runs.sort_by_key(|run| run.head.started_ns);
            runs.into_iter().map(|run| (run, loads::of_run(run, self.cards))).collect()
        })
    }

    fn history(&self) -> &History<'a> {
        self.history.get_or_init(|| History::new(self.earlier().iter().map(|(run, _)| *run)))
    }

    fn by_box(&self) -> bool {
        self.side.boxes() > 1
    }

    /// The arms of a run that it stands for, the first one first; the empty one where a cell is measured in none.
    pub fn arms(&self, run: &'a RunData) -> Vec<&'a str> {
        if self.side.arm.is_some() || !run.plan.targets.is_empty() {
            let own = run.plan.arms.iter().map(|arm| arm.name.as_str());
            let first = arm_name(self.side, run);
            return own.filter(|name| *name == first).take(1).collect();
        }
        let mut arms: Vec<&str> = run.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
        if !run.plan.unchanged.is_empty() {
            arms.push("");
        }
        arms
    }

    /// The rows of a run that it stands for, each with its arm.
    fn rows<'r>(&self, one: &'r Judged<'a>) -> Vec<(&'r str, FigureRow<'r>)> {
        let mut rows = figures_of(self.side, one.run, one.index());
        if !one.run.plan.unchanged.is_empty() && self.arms(one.run).contains(&"") {
            let is_new = |row: &FigureRow<'_>| row.series.key.arm.is_empty();
            rows.extend(one.index().figures().filter(is_new).map(|row| ("", row)));
        }
        rows
    }

    /// The figures of the series that are wanted, each once for its setup, in the order in which they were measured.
    /// Addresses and extents make no setup of their own. A run whose figure does not show what it must is refused.
    pub fn figures(
        &self,
        wanted: impl Fn(&RunData, &Series) -> bool,
        shows: impl Fn(&Judged<'a>, FigureRow<'_>) -> Result<(), String>,
    ) -> Vec<(RowKey, Figure<'a>)> {
        let mut all: Vec<(RowKey, Figure<'a>)> = Vec::new();
        for one in self.runs() {
            if !one.run.series.iter().any(|series| wanted(one.run, series)) {
                continue;
            }
            let mut seen: BTreeSet<RowKey> = BTreeSet::new();
            for (_, row) in self.rows(one) {
                let Some(series) = one.run.series.get(row.index).filter(|series| wanted(one.run, series))
                else {
                    continue;
                };
                let key = self.key(one.run, series);
                // A run speaks once for a figure: by its first arm.
                if !seen.insert(key.clone()) {
                    continue;
                }
                let Some(worth) = noise::run_of(series, one.index().quantile(row)) else { continue };
                let mut ruled = Ruled::of_rows(one.rulings(), &[row.index]);
                if let Err(why) = shows(one, row) {
                    ruled.refuse(why);
                }
                ruled.bound = ruled.bound.take().or_else(|| connections_limit(one.index(), row));
                let at_least = ruled.bound.is_some();
                let kept = kept(one.index(), row).filter(|kept| kept.ln() < worth.m);
                let measured = Measured { run: one.run, worth, ruled, at_least, kept };
                match all.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, figure)) => figure.of.push(measured),
                    None => {
                        let why = part_of_box(one.index(), row);
                        let no_card = one.index().load_of(row).is_some_and(Load::is_loopback);
                        all.push((key, Figure { why, no_card, ..self.figure(series, measured) }));
                    }
                }
            }
        }
        all
    }

    fn key(&self, run: &RunData, series: &Series) -> RowKey {
        let key = RowKey::of_series(series, run, &BTreeSet::new());
        match card::find(self.cards, &key.instrument) {
            Some(card) => RowKey { params: key_part(card.params, &key.params, Match::Close), ..key },
            None => key,
        }
    }

    fn figure(&self, series: &'a Series, first: Measured<'a>) -> Figure<'a> {
        let key = &series.key;
        Figure {
            name: name(self.cards, series),
            instrument: &key.instrument,
            unit: key.unit,
            of: vec![first],
            earlier: self.history().of_key(key, self.cards),
            at_least: false,
            no_card: false,
            why: None,
        }
    }

    /// The capacity that a figure is, or why it is none. `again` is a command that measures it again where none of its
    /// runs stands in the store; without one it cannot be measured again.
    pub fn weigh(&self, figure: &Figure<'_>, again: Option<&str>) -> Result<Capacity, String> {
        let used = self.usable(figure)?;
        let (units, noise) = self.noise(figure, &used)?;
        let found = stats::mean(&units.iter().map(|run| run.m).collect::<Vec<_>>())
            .filter(|ln| ln.is_finite())
            .ok_or_else(|| format!("{} has no value", figure.name))?;
        let below = stats::mean(&used.iter().map(|one| one.below()).collect::<Vec<_>>()).unwrap_or(0.0);
        let ln = found + below;
        let kept = (below < 0.0).then(|| {
            let rate = |ln: f64| format::amount(ln.exp(), figure.unit);
            format!(
                "sized by {}, which most loads kept; about half of them broke at {}",
                rate(ln),
                rate(found)
            )
        });
        let left_out = self.left_out(figure, &used);
        let doubts = ruled::texts(used.iter().map(|one| &one.ruled));
        let rules: BTreeSet<&str> = used.iter().flat_map(|one| one.ruled.accepted(&self.accept)).collect();
        let whys: Vec<&str> =
            figure.why.iter().chain(&kept).chain(&left_out).map(String::as_str).chain(doubts).collect();
        let newest = used.last().map(|one| one.run);
        let stored = newest.filter(|_| self.side.is_stored);
        let repeated = |run: &RunData| {
            (format!("boxscore run --plan {}", short(&run.head.id)), place::to_repeat(self.side, run))
        };
        let measured = || Some((again?.to_owned(), place::to_measure(self.side)));
        let command = stored.map(repeated).or_else(measured);
        let seconds: Vec<f64> = used.iter().filter_map(|one| one.run.head.seconds).collect();
        Ok(Capacity {
            ln,
            se: noise.s / (units.len() as f64).sqrt(),
            dof: noise.dof(),
            unit: figure.unit,
            at_least: figure.at_least
                || used.iter().any(|one| one.at_least || !one.ruled.is_whole(&self.accept)),
            no_card: figure.no_card,
            figure: without_mix(&figure.name),
            runs: used.iter().map(|one| one.run.head.id.clone()).collect(),
            published: false,
            validity: used.iter().map(|one| one.ruled.validity).max().unwrap_or(Validity::Unknown),
            doubted_by: rules.into_iter().map(str::to_owned).collect(),
            older: self.definitions.older(figure.instrument).cloned(),
            why: (!whys.is_empty()).then(|| whys.join("; ")),
            repeat: command.map(|(command, on)| Repeat {
                command,
                on,
                seconds: stats::mean(&seconds),
                noise: noise.s,
                runs: units.len(),
            }),
        })
    }

    /// The runs of a figure that are not used, each with the rules against it: `1 of 2 runs is not used: 01a21924 is
    /// refused (errors)`. Runs beyond the newest ones that count are none of them.
    fn left_out(&self, figure: &Figure<'_>, used: &[&Measured<'_>]) -> Option<String> {
        let is_used = |one: &Measured<'_>| used.iter().any(|other| other.run.head.id == one.run.head.id);
        let left: Vec<&Measured<'_>> =
            figure.of.iter().filter(|one| !is_used(one) && !one.ruled.is_whole(&self.accept)).collect();
        let each: Vec<String> = left
            .iter()
            .map(|one| format!("{} is {}", short(&one.run.head.id), one.ruled.in_short(&self.accept)))
            .collect();
        let is = if left.len() == 1 { "is" } else { "are" };
        let of = format::count(figure.of.len(), "run");
        (!left.is_empty()).then(|| format!("{} of {of} {is} not used: {}", left.len(), format::list(&each)))
    }

    /// The newest runs of a figure that may be used, or why none may.
    fn usable<'f, 'm>(&self, figure: &'f Figure<'m>) -> Result<Vec<&'f Measured<'m>>, String> {
        let usable = || figure.of.iter().filter(|one| one.ruled.is_usable(&self.accept));
        // A lower bound says less than a figure.
        let whole: Vec<&Measured<'_>> = usable().filter(|one| one.ruled.is_whole(&self.accept)).collect();
        let mut good = if whole.is_empty() { usable().collect() } else { whole };
        good.drain(..good.len().saturating_sub(HISTORY_MAX));
        let Some(last) = figure.of.last().filter(|_| good.is_empty()) else { return Ok(good) };
        Err(format!("{} {}", figure.shown(), last.ruled.why_not(&self.accept)))
    }

    /// The units of a figure, and the noise between them.
    fn noise(&self, figure: &Figure<'_>, used: &[&Measured<'_>]) -> Result<(Vec<Run>, Noise), String> {
        let units = self.units(used.iter().map(|one| (one.run, one.worth)));
        let mut known = figure.earlier.clone();
        if let ([only], false) = (used, known.is_empty()) {
            // Alone it shows no spread.
            known.push((only.run.head.id.as_str(), only.worth));
        }
        let (_, history) = noise::newest(&known);
        let floor = self.floor(figure.instrument, used.iter().map(|one| one.run));
        let noise = stats::noise(&[&units], &[&history], floor, self.learnt());
        Ok((units, noise.map_err(|unfit| format!("{}: {unfit}", figure.name))?))
    }

    /// Each run's value, or each box's.
    fn units<'r>(&self, runs: impl Iterator<Item = (&'r RunData, Run)>) -> Vec<Run> {
        if self.by_box() {
            replicate::by_machine(runs.map(|(run, worth)| (run.head.machine_id.clone(), worth)))
        } else {
            runs.map(|(_, worth)| worth).collect()
        }
    }

    fn floor<'r>(&self, instrument: &str, runs: impl Iterator<Item = &'r RunData>) -> f64 {
        let host = runs.map(noise::host).max().unwrap_or(Host::Unknown);
        let host = if self.by_box() { replicate::OF_A_TYPE } else { host };
        noise::assumed_floor(self.cards, instrument, host)
    }

    /// The noise as the figures of the side show it together.
    fn learnt(&self) -> Option<Learnt> {
        *self.learnt.get_or_init(|| {
            if !self.may_teach() {
                return None;
            }
            let mut rows: BTreeMap<RowKey, Taught<'_>> = BTreeMap::new();
            for one in self.runs() {
                let mut seen: BTreeSet<RowKey> = BTreeSet::new();
                for (_, row) in self.rows(one) {
                    let Some(series) = one.run.series.get(row.index).filter(|series| self.teaches(series))
                    else {
                        continue;
                    };
                    let key = self.key(one.run, series);
                    if validity_of(one.rulings(), row.index).0 == Validity::Invalid
                        || !seen.insert(key.clone())
                    {
                        continue;
                    }
                    let runs = &mut rows.entry(key).or_insert_with(|| (series, Vec::new())).1;
                    runs.extend(noise::run_of(series, None).map(|worth| (one.run, worth)));
                }
            }
            let seen = |(series, runs): &Taught<'_>| {
                let units = self.units(runs.iter().copied());
                let mut known = self.history().of_key(&series.key, self.cards);
                if let ([(run, worth)], false) = (runs.as_slice(), known.is_empty()) {
                    known.push((run.head.id.as_str(), *worth));
                }
                let floor = self.floor(&series.key.instrument, runs.iter().map(|(run, _)| *run));
                Seen::new(&[&units], &[&noise::newest(&known).1], floor).ok()
            };
            stats::learn(&rows.values().filter_map(seen).collect::<Vec<_>>())
        })
    }

    /// The last fault of the takes of an instrument, where none of them came to an end.
    pub fn failed(&self, instrument: &str) -> Option<String> {
        let of = |run: &RunData, cell: u32| {
            run.plan.cells.get(cell as usize).is_some_and(|cell| cell.instrument == instrument)
        };
        let takes =
            || self.side.runs.iter().flat_map(|run| run.takes.iter().filter(|take| of(run, take.cell)));
        if takes().any(|take| take.is_measured()) {
            return None;
        }
        takes().filter_map(|take| take.fault.as_ref()).next_back().map(|fault| fault.text.clone())
    }

    /// Says that instruments were measured by another definition alone, and what the rules refuse besides.
    pub fn other_definition(&self, mut cards: impl Iterator<Item = &'static Card>) -> Option<String> {
        let keys = || self.side.runs.iter().flat_map(|run| &run.series).map(|series| &series.key);
        cards.find_map(|card| {
            let mut theirs =
                keys().filter(|key| key.instrument == card.name).map(|key| key.definition).peekable();
            let (first, wanted) = (*theirs.peek()?, self.definitions.wanted(card));
            theirs.all(|other| other != wanted).then(|| {
                let name = card.name;
                let besides =
                    self.besides(card).map_or_else(String::new, |why| format!("; besides, it {why}"));
                format!(
                    "its figures of {name} are of definition {first}, and those of today are of {wanted}: \
                     the two are not compared{besides}"
                )
            })
        })
    }

    /// The doubts and refusals of the newest run of an instrument, whatever its definition.
    fn besides(&self, card: &Card) -> Option<String> {
        let rate = card.role.rate();
        let is_its = |series: &Series| {
            series.key.instrument == card.name && rate.is_none_or(|rate| series.key.metric == rate)
        };
        let newest = self.runs().iter().rev().find(|one| one.run.series.iter().any(is_its))?;
        let each = newest.run.series.iter().enumerate();
        let rows: Vec<usize> = each.filter(|(_, series)| is_its(series)).map(|(at, _)| at).collect();
        let ruled = Ruled::of_rows(newest.rulings(), &rows);
        (!ruled.is_usable(&self.accept)).then(|| ruled.why_not(&self.accept))
    }

    /// Figures enough have several runs. Found without the rules, which take longest.
    fn may_teach(&self) -> bool {
        let runs = self.runs().iter().map(|one| one.run).chain(self.earlier().iter().map(|(run, _)| *run));
        let mut counts: BTreeMap<RowKey, usize> = BTreeMap::new();
        for run in runs {
            let teaches = |series: &&Series| series.better != Better::Neither && self.teaches(series);
            let keys: BTreeSet<RowKey> =
                run.series.iter().filter(teaches).map(|series| self.key(run, series)).collect();
            keys.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
        }
        counts.values().filter(|runs| **runs > 1).count() >= stats::between::MIN_FIGURES
    }

    /// A figure of takes that is no percentile.
    fn teaches(&self, series: &Series) -> bool {
        let info =
            card::find(self.cards, &series.key.instrument).and_then(|card| card.metric(&series.key.metric));
        Samples::for_instrument(self.cards, &series.key.instrument) == Samples::Takes
            && info.is_none_or(|info| info.quantile_of.is_none())
    }
}

/// A figure's name without that of its mix, `as log@17c9e6968cdcffb9`: the need says whose requests they are.
fn without_mix(name: &str) -> String {
    let is_mix = |part: &&str| part.starts_with("as ") && part.contains('@');
    name.split(", ").filter(|part| !is_mix(part)).collect::<Vec<_>>().join(", ")
}

/// The rate that most loads of a search kept; `None` where the row is not what a search found.
fn kept(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<f64> {
    let load = index.load_of(row).filter(|load| !load.is_plain())?;
    let is_rate = load.rate_metric() == row.series.key.metric;
    is_rate.then(|| searches::search(load).kept)?.map(|kept| kept.rate)
}

/// Why the rate of a closed loop is a lower bound: with more connections, which nobody tried, it would be larger.
fn connections_limit(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<String> {
    let load = index.load_of(row)?;
    let series = index.run.series.get(row.index)?;
    if !load.is_closed() || series.key.metric != load.rate_metric() {
        return None;
    }
    let found = bottleneck::of_load(index, load);
    (found.kind == Binding::Connections).then_some(found.sentence)
}

/// Said of a rate of a server that had some of the box's CPUs, since the load took the others.
fn part_of_box(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<String> {
    let load = index.load_of(row)?;
    let better = index.run.series.get(row.index)?.better;
    let cores = load.cores();
    let of = |wanted: &str| cores.iter().filter(|core| core.role == wanted).count();
    let (server, generator) = (of("server"), of("generator"));
    let is_parted = better == Better::Higher && server > 0 && generator > 0 && of("both") == 0;
    is_parted.then(|| {
        format!(
            "the server had {server} of the box's CPUs and the load {generator}: with the load from another host \
             (`--from 'ssh HOST boxscore' --set listen=ADDRESS`) the box may do more"
        )
    })
}

/// The name of a figure; of a load with its connections.
fn name(cards: Cards, series: &Series) -> String {
    let card = card::find(cards, &series.key.instrument);
    let key = Key {
        card,
        instrument: &series.key.instrument,
        metric: &series.key.metric,
        params: &series.key.params,
    };
    match card.filter(|_| names::is_load(card)) {
        Some(card) => names::load::label(card, key, &["connections"]),
        None => names::label(key),
    }
}
