//! The answer of a run of jobs on a cluster: the rate of each, what holds it back, and what starting a job costs.
//!
//! Medians of the run's figures; the efficiency is that of the curve over nodes (`node_scaling`).

use model::answer::{Answer, Answered, Job, Jobs};
use model::data::RunData;
use model::doc::{JobDoc, NodeScalingDoc, RunDoc, SeriesDoc};
use model::format::quantity;
use model::names::instrument::{HADOOP_DFSIO, HADOOP_TERASORT};
use model::{Unit, params};

use crate::{job_bound, jobs};

/// The figure of a series, where it may be told.
type Figure = fn(&SeriesDoc) -> Option<Answered>;

/// Jobs that a sentence tells of.
const MOST: usize = 6;

/// `None` where no job has a figure.
pub fn jobs(doc: &RunDoc, run: &RunData, heads: &[&SeriesDoc], answered: Figure) -> Option<Answer> {
    let is_start = |series: &&&SeriesDoc| job_bound::is_start(&series.instrument, &series.params);
    let is_main = |series: &&&SeriesDoc| {
        series.card.is_some_and(|card| card.shown.main == series.metric) && series.instrument != HADOOP_DFSIO
    };
    let several_arms = heads.iter().any(|series| series.arm != heads[0].arm);
    let start =
        heads.iter().filter(is_start).filter(is_main).find(|series| !several_arms || series.arm.is_empty());
    let start = start.and_then(|series| answered(series));
    let mut told: Vec<&&SeriesDoc> =
        heads.iter().filter(is_main).filter(|series| start.is_none() || !is_start(series)).collect();
    // A sort is what a cluster is asked for; the others are told where there is none.
    if told.iter().any(|series| series.instrument == HADOOP_TERASORT) {
        told.retain(|series| series.instrument == HADOOP_TERASORT);
    }
    told.sort_by_key(|series| (series.instrument.clone(), nodes(series), series.arm.clone()));
    let of = |series: &&&SeriesDoc| {
        let is_its = |job: &&JobDoc| {
            job.instrument == series.instrument && job.params == series.params && job.arm == series.arm
        };
        let bound = doc.jobs.iter().find(is_its).map(|job| job_bound::of_job(run, job, &doc.series));
        Some(Job { bound, efficiency: efficiency(doc, series), ..job(series, answered(series)?) })
    };
    let jobs: Vec<Job> = told.iter().filter_map(of).take(MOST).collect();
    (!jobs.is_empty() || start.is_some()).then_some(Answer::Jobs(Jobs { jobs, start }))
}

fn nodes(series: &SeriesDoc) -> u32 {
    jobs::nodes_of(&series.params)
}

/// The efficiency on its curve, where that begins with one node.
fn efficiency(doc: &RunDoc, series: &SeriesDoc) -> Option<f64> {
    let mut params = series.params.clone();
    params.remove(jobs::NODES);
    let is_its = |one: &&NodeScalingDoc| {
        let is_arm = one.arm.is_empty() || one.arm == series.arm;
        is_arm && one.instrument == series.instrument && one.params == params
    };
    let mut curves = doc.node_scaling.iter().filter(is_its);
    let curve = curves.find(|one| one.points.first().is_some_and(|first| first.nodes == 1))?;
    let nodes = nodes(series);
    curve.points.iter().find(|point| point.nodes == nodes && nodes > 1)?.efficiency.value
}

fn job(series: &SeriesDoc, figure: Answered) -> Job {
    let label = series.card.map_or(series.instrument.as_str(), |card| card.shown.label);
    let data = series.params.get("data").and_then(params::parse_bytes);
    let data = data.map_or_else(String::new, |bytes| format!(" of {}", quantity(bytes as f64, Unit::Byte)));
    Job {
        name: format!("{label}{data}"),
        place: jobs::place(&series.params),
        nodes: nodes(series),
        arm: series.arm.clone(),
        efficiency: None,
        bound: None,
        figure,
    }
}
