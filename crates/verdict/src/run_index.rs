//! A run indexed for its rules: rows, their takes, the conditions of each take, and the loads.
//!
//! Rows are series with a direction that carry numbers, whose samples are takes; conditions belong to a row by the
//! number of the take. Figures of periods (hours of a log) are no rows here: what rules say of takes is not true of
//! them.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use model::backend::Backend;
use model::data::{Point, RunData, Series};
use model::doc::Siblings;
use model::finding::{About, FigureName, Subject};
use model::metrics::machine;
use model::names::instrument;
use model::note::Disturber;
use model::plan::Level;
use model::{Cards, Family, Note, NoteBody, Phase, Samples, card};

use crate::ceiling_figure::Figure;
use crate::loads::{self, Load};
use crate::noise::Gathered;
use crate::quantiles::Quantile;

/// Names of the instruments that watch each take.
const CLOCK: &str = instrument::TAKE_CLOCK;
const CONDITIONS: &str = instrument::CONDITIONS;
const COUNTERS: &str = instrument::COUNTERS;

/// Input of the rules besides the run itself.
#[derive(Clone, Debug, Default)]
pub struct RunContext<'a> {
    /// Earlier runs of the same machine and config class, for the noise. Their series are enough.
    pub earlier: Vec<&'a RunData>,
    pub cards: Cards,
    /// Figures of the same machine that loads are held against, of this and other runs; `None` where nobody looked.
    pub ceilings: Option<&'a [Figure]>,
    /// Runs of the other machines of the same study.
    pub siblings: Siblings,
    /// The command that repeats the run.
    pub command: String,
    /// Put the measured values into the document.
    pub with_takes: bool,
}

/// A run and what is known besides, with its conditions and loads looked up once for all rules.
pub struct RunIndex<'a> {
    pub run: &'a RunData,
    pub context: &'a RunContext<'a>,
    conditions: BTreeMap<(&'static str, String), BTreeMap<u64, f64>>,
    clocks: BTreeMap<u64, Vec<f64>>,
    loads: Vec<Load<'a>>,
    /// Position of its load, of each series that has one.
    load_of: BTreeMap<usize, usize>,
    /// Busy processes of others by take, of takes in which others were busy.
    disturbers: BTreeMap<u64, &'a [Disturber]>,
    /// Applications behind the server, by take.
    backends: BTreeMap<u64, &'a [Backend]>,
    // Each found once, when it is asked for; by the row's place.
    quantiles: OnceCell<BTreeMap<usize, Quantile>>,
    gathered: OnceCell<BTreeMap<usize, Gathered>>,
    learnt: OnceCell<Option<stats::Learnt>>,
}

/// One row of a run.
#[derive(Clone, Copy)]
pub struct FigureRow<'a> {
    /// Position in the run's `series`.
    pub index: usize,
    pub series: &'a Series,
}

impl<'a> FigureRow<'a> {
    /// Numbers of the measured takes.
    pub fn takes(&self) -> impl Iterator<Item = u64> + use<'a> {
        measured(self.series).map(|point| point.seq)
    }

    /// The measured time of its takes together, s; `None` where it was not recorded.
    pub fn seconds(&self) -> Option<f64> {
        let time: u64 = measured(self.series).map(|point| point.window_ns).sum();
        (time > 0).then_some(time as f64 * 1e-9)
    }

    /// CPUs at work: threads, or the cores of the server under load; at least one.
    pub fn cpus_in_use(&self, index: &RunIndex<'_>) -> f64 {
        let of_server = || index.load_of(*self).map(|load| load.server_cores().len() as f64);
        self.threads(index).or_else(of_server).unwrap_or(1.0).max(1.0)
    }

    /// Subject of findings about the row.
    pub fn subject(&self) -> Subject {
        let key = &self.series.key;
        let figure = FigureName {
            instrument: key.instrument.clone(),
            metric: key.metric.clone(),
            params: key.params.clone(),
            arm: key.arm.clone(),
        };
        About::Figure(figure).into()
    }

    /// Threads at work; `None` where the series does not say.
    pub fn threads(&self, index: &RunIndex<'_>) -> Option<f64> {
        match self.series.key.params.get("threads") {
            Some("all") => index.cpus(),
            Some(number) => number.parse().ok(),
            None => None,
        }
    }
}

fn measured(series: &Series) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(|point| point.phase == Phase::Measured)
}

/// Clock readings around each take, Hz.
fn clocks(conditions: &BTreeMap<(&'static str, String), BTreeMap<u64, f64>>) -> BTreeMap<u64, Vec<f64>> {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for metric in [machine::BEFORE.name(), machine::AFTER.name()] {
        for (seq, hertz) in conditions.get(&(CLOCK, metric.to_owned())).into_iter().flatten() {
            if hertz.is_finite() && *hertz > 0.0 {
                all.entry(*seq).or_default().push(*hertz);
            }
        }
    }
    all
}

/// Busy processes by take.
fn disturbers(run: &RunData) -> BTreeMap<u64, &[Disturber]> {
    let takes: BTreeMap<u64, u64> = run.takes.iter().map(|take| (take.start_ns, take.seq)).collect();
    let of_take = run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::Disturbers(all) => Some((*takes.get(&note.at_ns?)?, all.as_slice())),
        _ => None,
    });
    of_take.collect()
}

/// The take in whose time a note was made.
fn take_of(run: &RunData, note: &Note) -> Option<u64> {
    let at_ns = note.at_ns?;
    run.takes.iter().find(|take| (take.start_ns..=take.end_ns).contains(&at_ns)).map(|take| take.seq)
}

/// Applications behind the loaded server by take.
fn backends(run: &RunData) -> BTreeMap<u64, &[Backend]> {
    let of_take = run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::Backends(all) => Some((take_of(run, note)?, all.as_slice())),
        _ => None,
    });
    of_take.collect()
}

/// The sum of the seconds that every sitting of a run noted; `None` where none did.
pub fn noted_seconds(run: &RunData, of: impl Fn(&NoteBody) -> Option<f64>) -> Option<f64> {
    let seconds: Vec<f64> = run.notes.iter().filter_map(|note| of(&note.body)).collect();
    (!seconds.is_empty()).then(|| seconds.iter().sum())
}

impl<'a> RunIndex<'a> {
    pub fn new(run: &'a RunData, context: &'a RunContext<'a>) -> RunIndex<'a> {
        let mut conditions: BTreeMap<(&'static str, String), BTreeMap<u64, f64>> = BTreeMap::new();
        for series in &run.series {
            let Some(source) =
                [CLOCK, CONDITIONS, COUNTERS].into_iter().find(|name| series.key.instrument == *name)
            else {
                continue;
            };
            let known = conditions.entry((source, series.key.metric.clone())).or_default();
            known.extend(measured(series).filter_map(|point| Some((point.seq, point.number()?))));
        }
        let clocks = clocks(&conditions);
        let loads = loads::of_run(run, context.cards);
        let rows = loads
            .iter()
            .enumerate()
            .flat_map(|(at, load)| load.rows(&[]).into_iter().map(move |row| (row, at)));
        let load_of = rows.collect();
        let (disturbers, backends) = (disturbers(run), backends(run));
        let (quantiles, gathered, learnt) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        RunIndex {
            run,
            context,
            conditions,
            clocks,
            loads,
            load_of,
            disturbers,
            backends,
            quantiles,
            gathered,
            learnt,
        }
    }

    /// The noise between runs as the figures of this and earlier runs show it together.
    pub fn learnt(&self) -> Option<stats::Learnt> {
        *self.learnt.get_or_init(|| crate::noise::learn(self))
    }

    /// The runs that a row's noise comes from.
    pub fn gathered(&self, row: FigureRow<'_>) -> Option<&Gathered> {
        self.gathered.get_or_init(|| crate::noise::gather(self)).get(&row.index)
    }

    /// Of a percentile: the times that it is of.
    pub fn quantile(&self, row: FigureRow<'_>) -> Option<&Quantile> {
        let of_row = |row: FigureRow<'a>| {
            Some((row.index, Quantile::of_series(self.run, row.series, self.context.cards)?))
        };
        self.quantiles.get_or_init(|| self.figures().filter_map(of_row).collect()).get(&row.index)
    }

    /// Rows that rules judge: figures of takes.
    pub fn rows(&self) -> impl Iterator<Item = FigureRow<'a>> + use<'a> {
        let cards = self.context.cards;
        self.figures()
            .filter(move |row| Samples::for_instrument(cards, &row.series.key.instrument) == Samples::Takes)
    }

    /// Rows that documents show: figures of takes and of periods.
    pub fn figures(&self) -> impl Iterator<Item = FigureRow<'a>> + use<'a> {
        let rows = self.run.series.iter().enumerate().filter(|(_, series)| series.key.is_row(series.better));
        rows.map(|(index, series)| FigureRow { index, series })
    }

    /// The topic of a row's instrument; `None` where the instrument has no card here.
    pub fn family(&self, row: FigureRow<'_>) -> Option<Family> {
        card::find(self.context.cards, &row.series.key.instrument).map(|card| card.family)
    }

    /// The run repeats its figures to see how they change, so that a change is no doubt about it.
    pub fn is_soak(&self) -> bool {
        self.run.plan.level == Level::Soak
    }

    /// It has figures, and all are of periods.
    pub fn is_of_periods(&self) -> bool {
        self.rows().next().is_none() && self.figures().next().is_some()
    }

    /// Hardware counters of each of a row's takes, by metric; empty where none was counted.
    pub fn counters(&self, row: FigureRow<'_>) -> BTreeMap<String, Vec<Option<f64>>> {
        let known = self.conditions.iter().filter(|((source, _), _)| *source == COUNTERS);
        let beside = known.filter_map(|((_, metric), counts)| {
            let values: Vec<Option<f64>> = row.takes().map(|seq| counts.get(&seq).copied()).collect();
            values.iter().any(Option::is_some).then(|| (metric.clone(), values))
        });
        beside.collect()
    }

    /// Value by take of one metric of `conditions`.
    pub fn condition(&self, metric: &str) -> Option<&BTreeMap<u64, f64>> {
        self.conditions.get(&(CONDITIONS, metric.to_owned())).filter(|known| !known.is_empty())
    }

    /// The processes of others that were busiest, in the mean over those of these takes that somebody looked at; `None`
    /// where nobody looked.
    pub fn busiest(&self, takes: impl Iterator<Item = u64>) -> Option<Vec<Disturber>> {
        // A program that was replaced keeps its number, and has the name that it had last.
        let (mut sums, mut count, mut looked): (BTreeMap<i32, Disturber>, f64, bool) =
            (BTreeMap::new(), 0.0, false);
        for seq in takes {
            let Some(known) = self.disturbers.get(&seq) else { continue };
            count += 1.0;
            looked = true;
            let works_for_it = |pid: i32| {
                self.backends.get(&seq).is_some_and(|all| all.iter().any(|one| one.pids.contains(&pid)))
            };
            for one in known.iter().filter(|one| !works_for_it(one.pid)) {
                let before = sums.get(&one.pid).map_or(0.0, |known| known.cpus);
                sums.insert(one.pid, Disturber { cpus: before + one.cpus, ..one.clone() });
            }
        }
        let mean = |one: Disturber| Disturber { cpus: one.cpus / count, ..one };
        let mut all: Vec<Disturber> = sums.into_values().map(mean).collect();
        all.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        all.truncate(Disturber::NAMED);
        looked.then_some(all)
    }

    /// Applications behind the server in these takes, one for each socket: the one with the most connections first.
    /// Times are sums, connections the mean.
    pub fn backends(&self, takes: impl Iterator<Item = u64>) -> Vec<Backend> {
        let (mut all, mut looks) = (BTreeMap::<String, Backend>::new(), 0);
        for known in takes.filter_map(|seq| self.backends.get(&seq)) {
            looks += 1;
            for one in *known {
                all.entry(one.socket.clone()).and_modify(|sum| sum.add(one)).or_insert_with(|| one.clone());
            }
        }
        let mean = |one: Backend| Backend { connections: one.connections.div_ceil(looks.max(1)), ..one };
        let mut all: Vec<Backend> = all.into_values().map(mean).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.connections));
        all
    }

    /// CPUs that the applications behind the server used in a take.
    pub fn backend_cpus(&self, seq: u64) -> f64 {
        self.backends.get(&seq).map_or(0.0, |all| all.iter().filter_map(Backend::cpus).sum())
    }

    /// True clock by take, Hz: right before and right after.
    pub fn clocks(&self) -> &BTreeMap<u64, Vec<f64>> {
        &self.clocks
    }

    /// The run's loads.
    pub fn loads(&self) -> &[Load<'a>] {
        &self.loads
    }

    /// The load that a row is of.
    pub fn load_of(&self, row: FigureRow<'_>) -> Option<&Load<'a>> {
        self.loads.get(*self.load_of.get(&row.index)?)
    }

    /// CPUs that the run may use.
    pub fn cpus(&self) -> Option<f64> {
        self.run.usable_cpus()
    }

    /// Values that a condition had during the measured takes of a row.
    pub fn during(&self, row: FigureRow<'_>, metric: &str) -> Vec<f64> {
        let known = self.condition(metric);
        row.takes().filter_map(|seq| known?.get(&seq).copied()).collect()
    }

    /// Cell and arm of the takes of a series.
    pub fn places(&self, series: &Series) -> BTreeSet<(u32, u32)> {
        let takes: BTreeSet<u64> = series.points.iter().map(|point| point.seq).collect();
        self.run
            .takes
            .iter()
            .filter(|take| takes.contains(&take.seq))
            .map(|take| (take.cell, take.arm))
            .collect()
    }
}
