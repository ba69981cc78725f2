//! The cost of telling a difference, before it is measured: runs of each machine, or sittings and takes of a study of
//! two arms, with their time.
//!
//! The noise is that of the stored runs of the machine: from run to run between machines, from sitting to sitting
//! between arms. Time is that of a figure's takes, and as much preparation as its runs had on the whole. Not counted:
//! noise that both arms of a study share, which cancels there; a study may need less.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::data::{RunData, Series};
use model::doc::{DetectArmsDoc, DetectDoc, DetectFigureDoc, DetectRunsDoc, MachineDoc};
use model::names::{self, Key};
use model::{Cards, Phase, SeriesKey, card, format};
use stats::Margin;

use crate::aa::{Drafted, POWER, drafts};
use crate::noise::{self, History};

/// The difference to be told, and the figures that are meant.
pub struct Question<'a> {
    /// Ratio - 1.
    pub difference: f64,
    pub machines: Margin,
    pub arms: Margin,
    /// True of the instruments that are meant.
    pub wanted: &'a dyn Fn(&str) -> bool,
}

/// The document of these runs, all of one machine and configuration, oldest first.
pub fn detect(all: &[RunData], question: &Question<'_>, cards: Cards) -> DetectDoc {
    let runs: Vec<&RunData> = all.iter().collect();
    let history = Rc::new(History::new(all));
    let mut found = drafts(&history, &runs, cards);
    found.retain(|draft| (question.wanted)(&draft.series.key.instrument));
    if found.iter().any(|draft| draft.headline) {
        found.retain(|draft| draft.headline);
    }
    let learnt = stats::learn(&found.iter().filter_map(Drafted::seen).collect::<Vec<_>>());
    let cost = Cost { question, found: &found, learnt, runs: &runs, cards };
    let newest = runs.last().map(|run| &run.head);
    let figures: Vec<DetectFigureDoc> = found.iter().filter_map(|draft| cost.figure(draft)).collect();
    let spoke: BTreeSet<&str> =
        figures.iter().flat_map(|figure| &figure.machines.noise_runs).map(String::as_str).collect();
    let mut doc = DetectDoc {
        cards,
        schema: "boxscore.detect/1".to_owned(),
        machine: MachineDoc {
            id: newest.map(|head| head.machine_id.clone()).unwrap_or_default(),
            name: newest.map(|head| head.machine.clone()).unwrap_or_default(),
        },
        planted: runs.iter().any(|run| run.plan.fake.is_some()),
        runs: runs.iter().map(|run| run.head.id.clone()).filter(|id| spoke.contains(id.as_str())).collect(),
        difference: question.difference,
        power: POWER,
        margin: question.machines.share(),
        arms_margin: question.arms.share(),
        figures: Vec::new(),
        says: String::new(),
    };
    doc.figures = figures;
    doc.says = says(&doc);
    doc
}

struct Cost<'a> {
    question: &'a Question<'a>,
    /// The figures that are meant.
    found: &'a [Drafted<'a>],
    learnt: Option<stats::Learnt>,
    runs: &'a [&'a RunData],
    cards: Cards,
}

impl Cost<'_> {
    fn figure(&self, draft: &Drafted<'_>) -> Option<DetectFigureDoc> {
        let SeriesKey { instrument, metric, unit, params, definition, .. } = &draft.series.key;
        let (ids, noise) = draft.noise(self.learnt)?;
        let Question { difference, machines, .. } = *self.question;
        let family = self.family(&draft.series.key);
        let runs = stats::runs_to_tell(difference, &noise, machines, family, POWER);
        let of_figure = self.of_figure(&draft.series.key, &ids);
        let costs: Vec<Busy> = of_figure.iter().filter_map(|(run, series)| busy(run, series)).collect();
        let each = mean(costs.iter().map(|busy| busy.seconds));
        Some(DetectFigureDoc {
            card: card::find(self.cards, instrument),
            instrument: instrument.clone(),
            metric: metric.clone(),
            unit: *unit,
            better: draft.series.better,
            params: params.clone(),
            definition: *definition,
            headline: draft.headline,
            family: family as u64,
            machines: DetectRunsDoc {
                noise_runs: ids.into_iter().map(str::to_owned).collect(),
                noise: noise::word(noise.kind),
                spread: noise.s,
                runs: runs.map(|runs| runs as u64),
                seconds: runs.zip(each).map(|(runs, each)| runs as f64 * each),
            },
            arms: self.arms(&of_figure, &costs, family),
        })
    }

    /// How many of these figures the newest run that has this one measured: they would be corrected together.
    fn family(&self, key: &SeriesKey) -> usize {
        let newest = self.runs.iter().rev().find(|run| run.series.iter().any(|series| series.key == *key));
        let keys: BTreeSet<&SeriesKey> =
            newest.into_iter().flat_map(|run| &run.series).map(|series| &series.key).collect();
        self.found.iter().filter(|draft| keys.contains(&draft.series.key)).count()
    }

    /// The figure in each of these runs.
    fn of_figure(&self, key: &SeriesKey, ids: &[&str]) -> Vec<(&RunData, &Series)> {
        let runs = self.runs.iter().filter(|run| ids.contains(&run.head.id.as_str()));
        runs.filter_map(|run| Some((*run, run.series.iter().find(|series| series.key == *key)?))).collect()
    }

    /// The cost of a study; `None` where no run shows a spread from sitting to sitting.
    fn arms(
        &self,
        of_figure: &[(&RunData, &Series)],
        costs: &[Busy],
        family: usize,
    ) -> Option<DetectArmsDoc> {
        let spreads = of_figure.iter().filter_map(|(_, series)| {
            let sittings = series.by_sitting();
            stats::sitting_spread(&sittings.iter().map(Vec::as_slice).collect::<Vec<_>>()).ok()?
        });
        let (squares, dof) =
            spreads.fold((0.0, 0.0), |(squares, all), (s, dof)| (squares + s * s * dof, all + dof));
        let spread = (dof > 0.0).then(|| (squares / dof).sqrt()).filter(|spread| spread.is_finite())?;
        let Question { difference, arms, .. } = *self.question;
        let sittings = stats::sittings_to_tell(difference, spread, arms, family, POWER);
        let takes = mean(costs.iter().map(|busy| busy.takes / busy.sittings));
        let seconds = mean(costs.iter().map(|busy| busy.seconds / busy.sittings));
        let times = |each: Option<f64>| sittings.zip(each).map(|(sittings, each)| sittings as f64 * each);
        Some(DetectArmsDoc {
            spread,
            sittings: sittings.map(|sittings| sittings as u64),
            takes: times(takes).map(|takes| takes.ceil() as u64),
            seconds: times(seconds).map(|one| 2.0 * one),
        })
    }
}

/// Cost of a figure in a run.
struct Busy {
    seconds: f64,
    takes: f64,
    sittings: f64,
}

/// The time of the figure's takes, those of the warm-up too, with its share of what the run spent between takes.
fn busy(run: &RunData, series: &Series) -> Option<Busy> {
    let long = |take: &model::data::TakeHead| take.end_ns.saturating_sub(take.start_ns) as f64 * 1e-9;
    let cells: BTreeMap<u64, (u32, u32)> =
        run.takes.iter().map(|take| (take.seq, (take.cell, take.arm))).collect();
    let own = cells.get(&series.points.first()?.seq)?;
    let of_figure = || run.takes.iter().filter(|take| (take.cell, take.arm) == *own);
    let all: f64 = run.takes.iter().map(long).sum();
    let around = run.head.seconds.map_or(1.0, |whole| whole / all).max(1.0);
    let sittings: BTreeSet<u32> = of_figure().map(|take| take.sitting).collect();
    let takes = of_figure().filter(|take| take.phase == Phase::Measured).count();
    let seconds = of_figure().map(long).sum::<f64>() * around;
    let is_known = seconds.is_finite() && seconds > 0.0 && takes > 0;
    is_known.then_some(Busy { seconds, takes: takes as f64, sittings: sittings.len() as f64 })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::mean(&values.collect::<Vec<_>>())
}

/// `A difference of 10 % costs 1 run (integer, 8 s) to 14 runs (disk write, 6 min) of each machine, and ...`.
fn says(doc: &DetectDoc) -> String {
    if doc.figures.is_empty() {
        return "No figure is stored that could say it.".to_owned();
    }
    let difference = format::percent(doc.difference);
    let machines = part(doc, doc.margin, "", |figure| {
        let count = format::count(usize::try_from(figure.machines.runs?).ok()?, "run");
        Some((figure.machines.runs?, count, figure.machines.seconds))
    });
    let arms = part(doc, doc.arms_margin, ", or without several sittings", |figure| {
        let arms = figure.arms.as_ref()?;
        let count = format::count(usize::try_from(arms.sittings?).ok()?, "sitting");
        Some((arms.sittings?, count, arms.seconds))
    });
    let is_told = |figure: &DetectFigureDoc| {
        figure.machines.runs.is_some() || figure.arms.as_ref().is_some_and(|arms| arms.sittings.is_some())
    };
    let power = match doc.figures.iter().any(is_told) {
        true => format!(
            " It is then told in {:.0} of 100 cases, if the noise stays what it was.",
            doc.power * 100.0
        ),
        false => String::new(),
    };
    format!(
        "A difference of {difference} between two machines: {machines}. Between two arms of one study here: \
         {arms}.{power}"
    )
}

/// The range of one kind of cost, or why there is none.
fn part(
    doc: &DetectDoc,
    margin: f64,
    lacking: &str,
    cost: impl Fn(&DetectFigureDoc) -> Option<(u64, String, Option<f64>)>,
) -> String {
    if doc.difference <= margin {
        let margin = format::percent(margin);
        return format!(
            "a tie however often they are measured, for it is within the margin of {margin} (`--margin {}` lets it be \
             told, here and in `compare`)",
            doc.smaller_margin()
        );
    }
    let mut known: Vec<(u64, String)> = Vec::new();
    for figure in &doc.figures {
        let Some((count, words, seconds)) = cost(figure) else { continue };
        let DetectFigureDoc { card, instrument, metric, params, .. } = figure;
        let name = names::label(Key { card: *card, instrument, metric, params });
        let time = seconds.map(|seconds| format!(", {}", format::duration(seconds))).unwrap_or_default();
        known.push((count, format!("{words} ({name}{time})")));
    }
    known.sort_by_key(|(count, _)| *count);
    let open = match doc.figures.len() - known.len() {
        0 => String::new(),
        open => format!("; {} not within reach{lacking}", format::count(open, "figure")),
    };
    match known.as_slice() {
        [] => "not within reach of what is stored".to_owned(),
        [(_, one)] => format!("{one}{open}"),
        [(_, least), .., (_, most)] => format!("{least} to {most}{open}"),
    }
}
