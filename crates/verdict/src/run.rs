//! The document of one run: every row summarised from its takes, with its noise, its validity and the findings.
//!
//! Figures are in base units. Telemetry and conditions are not rows; they only feed the rules.

use std::collections::{BTreeMap, BTreeSet};

use model::answer::AnswerDoc;
use model::data::{RunData, Series};
use model::doc::{MachineDoc, Noise, RunDoc, SeriesDoc};
use model::fact::CONFIG_CLASS;
use model::format::OVER;
use model::histogram::has_percentile;
use model::metrics::logs;
use model::traffic::Traffic;
use model::{MetricInfo, NoteBody, Phase, Samples, SubjectDoc, card};
use stats::Summary;

use crate::headline::{is_asked, is_headline};
use crate::quantiles::Quantile;
use crate::rules;
use crate::ruling::validity_of;
use crate::run_index::{FigureRow, RunContext, RunIndex, noted_seconds};
use crate::{noise, traffic};

/// The document that `run`, `show` and `resume` print.
pub fn run_doc(run: &RunData, context: &RunContext<'_>) -> RunDoc {
    let head = &run.head;
    let index = RunIndex::new(run, context);
    let rulings = rules::of_index(&index);
    let soak = crate::soak::figures(&index, &rulings);
    let doc = |row: FigureRow<'_>| {
        let (validity, reasons) = validity_of(&rulings, row.index);
        SeriesDoc { validity, reasons, ..series_doc(&index, row) }
    };
    let series = with_percentiles(&index, index.figures().map(|row| (row, doc(row))).collect());
    let traffic = run.traffic.as_ref();
    let served = traffic.into_iter().flat_map(traffic::of_run);
    let curves = crate::curves(&index, &rulings);
    let power = crate::power::of_run(&index, &series);
    let used = run.plan.cpus.as_ref().map(|cpus| cpus.len() as f64);
    let scaling = crate::scaling::of_run(&series, &run.facts, used, context.cards);
    let jobs = crate::jobs::of_run(run, &series);
    let node_scaling = crate::node_scaling::of_run(run, &series);
    let ended = run.notes.iter().rev().find_map(|note| match &note.body {
        NoteBody::EndedBy(word) => Some(word.clone()),
        _ => None,
    });
    let mut doc = RunDoc {
        cards: context.cards,
        schema: "boxscore.run/1".to_owned(),
        run: head.id.clone(),
        study: head.study.clone(),
        status: head.status,
        machine: MachineDoc { id: head.machine_id.clone(), name: head.machine.clone() },
        label: head.label.clone(),
        planted: run.plan.fake.is_some(),
        started: head.started_ns as f64 / 1e9,
        level: run.plan.level.word().to_owned(),
        command: context.command.clone(),
        cmd: run.plan.commands.values().next().filter(|_| run.plan.arms.len() < 2).map(|one| one.run.clone()),
        commands: crate::commands::of_run(run),
        config: config(run),
        seconds: head.seconds,
        ended_by: ended.unwrap_or_else(|| head.status.word().to_owned()),
        price: head.price.clone(),
        watts: head.watts,
        answer: None,
        together: None,
        series,
        findings: rulings.into_iter().map(|ruling| ruling.finding).chain(served).collect(),
        bottlenecks: crate::bottlenecks(&index),
        target_hosts: crate::target_host::of_run(run),
        curves,
        searches: crate::searches::searches(&index),
        power,
        scaling,
        jobs,
        node_scaling,
        soak,
        notes: run.notes.clone(),
        errors: errors(run),
        own_cpu_seconds: own_cpu_seconds(run),
        siblings: context.siblings.clone(),
        nodes: None,
        logs_side: traffic.as_ref().and_then(|traffic| traffic.cut.as_ref()).map(traffic::side_doc),
        beside: traffic.and_then(|traffic| traffic.beside.clone()),
        log: traffic.and_then(traffic::answers::of_stored),
    };
    doc.answer = match &doc.log {
        Some(log) => Some(AnswerDoc { sentence: log.sentence.clone(), ..AnswerDoc::default() }),
        None => crate::answer(&doc, &index),
    };
    doc
}

/// Of the measuring child, its telemetry, and the program that handed out the takes where that was noted.
fn own_cpu_seconds(run: &RunData) -> Option<f64> {
    let cost = run.own_cost?;
    let child = cost.agent_cpu_seconds + cost.telemetry_cpu_seconds;
    Some(
        noted_seconds(run, |note| match note {
            NoteBody::ControllerCpu(seconds) => Some(*seconds),
            _ => None,
        })
        .map_or(child, |controller| child + controller),
    )
}

/// The known facts of the config class.
fn config(run: &RunData) -> BTreeMap<String, String> {
    let known = CONFIG_CLASS
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), run.fact(key)?.value.as_ref()?.text())));
    known.collect()
}

/// Faults by text.
fn errors(run: &RunData) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (_, fault) in run.failures() {
        *all.entry(fault.text.clone()).or_insert(0) += 1;
    }
    all
}

/// The target that a row is about; `None` where it is the machine itself.
fn target_of(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<SubjectDoc> {
    let (run, key) = (index.run, &row.series.key);
    let figure = (key.instrument.as_str(), &key.params, key.arm.as_str());
    SubjectDoc::of_figure(&run.plan, figure, &run.head.machine, index.context.cards).of_target()
}

/// One row without what the rules say of it.
fn series_doc(index: &RunIndex<'_>, row: FigureRow<'_>) -> SeriesDoc {
    let (series, context) = (row.series, index.context);
    let key = &series.key;
    let takes = series.measured();
    let quantile = index.quantile(row);
    let noise = noise::of_row(index, row);
    let measured = series.points.iter().filter(|point| point.phase == Phase::Measured);
    let blocks: BTreeSet<u32> = measured.map(|point| point.block).collect();
    let places = index.places(series);
    let faults = index
        .run
        .failures()
        .filter(|(take, _)| take.phase == Phase::Measured && places.contains(&(take.cell, take.arm)));
    let mut doc = SeriesDoc {
        card: card::find(context.cards, &key.instrument),
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        unit: key.unit,
        better: series.better,
        params: key.params.clone(),
        definition: key.definition,
        arm: key.arm.clone(),
        subject: target_of(index, row),
        role: "box".to_owned(),
        headline: is_headline(index, row),
        samples: Samples::for_instrument(context.cards, &key.instrument),
        n: takes.len() as u64,
        faults: faults.count() as u64,
        blocks: blocks.len() as u64,
        median: None,
        low: None,
        high: None,
        level: None,
        method: Summary::METHOD.to_owned(),
        why: None,
        mean: None,
        mean_low: None,
        mean_high: None,
        min: None,
        max: None,
        again_low: None,
        again_high: None,
        floor: noise
            .as_ref()
            .map(|known| known.noise.aa_floor())
            .or_else(|| Some(noise::assumed_floor(context.cards, &key.instrument, noise::host(index.run)))),
        noise: noise.as_ref().map_or(Noise::Assumed, |known| noise::word(known.noise.kind)),
        noise_runs: noise.as_ref().map(|known| known.runs.clone()).unwrap_or_default(),
        validity: model::Validity::Unknown,
        reasons: Vec::new(),
        takes: Vec::new(),
        counters: BTreeMap::new(),
    };
    match (quantile, stats::summary_of_sittings(&series.by_sitting())) {
        (Some(quantile), _) => fill_quantile(&mut doc, quantile, &takes),
        (None, Ok(summary)) => fill(&mut doc, &summary),
        (None, Err(why)) => doc.why = Some(why.to_string()),
    }
    if let Some(known) = &noise {
        fill_again(&mut doc, known.this.again(&known.noise));
    }
    without_repetitions(&mut doc, index.run.traffic.as_ref());
    if context.with_takes {
        doc.takes = takes;
        doc.counters = index.counters(row);
    }
    doc
}

fn fill(doc: &mut SeriesDoc, summary: &Summary) {
    doc.method = summary.method.to_owned();
    doc.median = Some(summary.median);
    doc.low = summary.interval.map(|interval| interval.low);
    doc.high = summary.interval.map(|interval| interval.high);
    doc.level = summary.interval.map(|interval| interval.level);
    doc.why = summary.why.as_ref().map(ToString::to_string);
    doc.mean = Some(summary.mean);
    doc.mean_low = summary.mean_interval.map(|interval| interval.low);
    doc.mean_high = summary.mean_interval.map(|interval| interval.high);
    doc.min = Some(summary.min);
    doc.max = Some(summary.max);
}

/// Where one further run falls, around the figure; never nearer than this run's own interval reaches.
fn fill_again(doc: &mut SeriesDoc, again: stats::Interval) {
    let half = (again.high - again.low) / 2.0;
    let Some(median) = doc.median.filter(|median| *median > 0.0 && median.is_finite()) else { return };
    let (low, high) = (median * (-half).exp(), median * half.exp());
    doc.again_low = Some(doc.low.map_or(low, |own| own.min(low)));
    doc.again_high = Some(doc.high.map_or(high, |own| own.max(high)));
}

/// How the figure of a percentile came about.
const MERGED: &str = "quantile of the events of all takes together; interval by resampling whole takes";

fn fill_quantile(doc: &mut SeriesDoc, quantile: &Quantile, takes: &[f64]) {
    MERGED.clone_into(&mut doc.method);
    doc.median = quantile.value();
    match quantile.estimate() {
        Ok(found) => {
            (doc.low, doc.high) = (Some(found.interval.low), Some(found.interval.high));
            doc.level = Some(found.interval.level);
        }
        Err(why) => doc.why = Some(why.to_string()),
    }
    if doc.median.is_some_and(f64::is_infinite) {
        doc.why = Some(OVER.to_owned());
    }
    doc.min = takes.iter().copied().min_by(f64::total_cmp);
    doc.max = takes.iter().copied().max_by(f64::total_cmp);
}

/// The rows with the percentiles that no take had requests enough for, though all takes together have: each behind the
/// row that is another percentile of the same times.
fn with_percentiles(index: &RunIndex<'_>, rows: Vec<(FigureRow<'_>, SeriesDoc)>) -> Vec<SeriesDoc> {
    let key = |doc: &SeriesDoc, metric: &str| {
        (doc.instrument.clone(), doc.params.clone(), doc.arm.clone(), doc.definition, metric.to_owned())
    };
    let mut known: BTreeSet<_> = rows.iter().map(|(_, doc)| key(doc, &doc.metric)).collect();
    let mut all = Vec::with_capacity(rows.len());
    for (row, doc) in rows {
        let times = doc.card.and_then(|card| card.metric(&doc.metric)?.quantile_of).map(|(times, _)| times);
        let metrics = doc.card.map_or(&[][..], |card| card.metrics).iter();
        let alike = metrics.filter(|info| times.is_some() && info.quantile_of.map(|(of, _)| of) == times);
        let lacking = alike.filter(|info| known.insert(key(&doc, info.name)));
        let more: Vec<SeriesDoc> = lacking.filter_map(|info| percentile(index, (row, &doc), info)).collect();
        all.push(doc);
        all.extend(more);
    }
    all
}

/// A percentile of all takes of a row's times together; `None` with too few requests.
fn percentile(
    index: &RunIndex<'_>,
    (row, doc): (FigureRow<'_>, &SeriesDoc),
    info: &MetricInfo,
) -> Option<SeriesDoc> {
    let (times, q) = info.quantile_of?;
    let is_of = |series: &&Series| series.key.metric == times && series.key.is_beside(&row.series.key);
    let times = index.run.series.iter().find(is_of)?;
    let quantile = Quantile::of_points(&times.points, q, index.run.plan.seed)?;
    quantile.value()?;
    let mut more = SeriesDoc {
        metric: info.name.to_owned(),
        headline: is_asked(index, row, info.name),
        low: None,
        high: None,
        level: None,
        why: None,
        again_low: None,
        again_high: None,
        floor: None,
        noise_runs: Vec::new(),
        takes: Vec::new(),
        counters: BTreeMap::new(),
        ..doc.clone()
    };
    fill_quantile(&mut more, &quantile, &[]);
    Some(more)
}

/// Takes intervals and floors away from a figure of periods: periods differ in what was asked for, not by chance.
fn without_repetitions(doc: &mut SeriesDoc, traffic: Option<&Traffic>) {
    if doc.samples != Samples::Periods {
        return;
    }
    of_all_requests(doc, traffic);
    (doc.low, doc.high, doc.level) = (None, None, None);
    (doc.mean_low, doc.mean_high, doc.floor) = (None, None, None);
    (doc.again_low, doc.again_high) = (None, None);
    doc.noise_runs.clear();
    if doc.median.is_some() {
        doc.why = Some("periods differ in what was asked for, and are no repetitions".to_owned());
    }
}

/// The figure over all requests, where the log had it, in place of the median over its hours. A percentile that the log
/// has too few requests for is none, whatever its hours say.
fn of_all_requests(doc: &mut SeriesDoc, traffic: Option<&Traffic>) {
    let Some(traffic) = traffic.filter(|traffic| !traffic.whole.is_empty()) else { return };
    let share = [(logs::TIME_P90.name(), 0.9), (logs::TIME_P99.name(), 0.99)];
    let share = share.iter().find(|(metric, _)| *metric == doc.metric).map(|(_, share)| *share);
    match (traffic.whole.get(&doc.metric), share) {
        (Some(whole), _) => doc.median = Some(*whole),
        (None, Some(share)) if !has_percentile(traffic.group.requests, share) => {
            (doc.median, doc.mean, doc.min, doc.max) = (None, None, None, None);
            doc.why = Some(format!("too few requests for a {}th percentile", (share * 100.0).round()));
        }
        (None, _) => return,
    }
    doc.method = "over all requests of the log".to_owned();
}
