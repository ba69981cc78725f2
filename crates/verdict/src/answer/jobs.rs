//! The answer of a run of jobs on a cluster: the rate of each, what it uses up, and what starting a job costs.
//!
//! Medians of the run's figures. Which resource is told is decided here: CPUs before the disk, the disk before the
//! start of processes, that before the room for tasks; each only where it is nearly used up.

use model::answer::{Answer, Answered, Job, JobBound, Jobs};
use model::data::{RunData, Series};
use model::doc::SeriesDoc;
use model::format::quantity;
use model::metrics::hadoop;
use model::names::instrument::{HADOOP_DFSIO, HADOOP_PI, HADOOP_TERASORT};
use model::{Unit, params};

/// The figure of a series, where it may be told.
type Figure = fn(&SeriesDoc) -> Option<Answered>;

/// Jobs that a sentence tells of.
const MOST: usize = 6;
/// From this share on a resource is nearly used up.
const NEAR: f64 = 0.85;
/// From this share of a job's time on its start is most of it.
const MOSTLY: f64 = 0.5;

/// `None` where no job has a figure.
pub fn jobs(run: &RunData, heads: &[&SeriesDoc], answered: Figure) -> Option<Answer> {
    let is_start = |series: &&&SeriesDoc| {
        series.instrument == HADOOP_PI && series.params.get("samples").is_none_or(|samples| samples == "1")
    };
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
    let of = |series: &&&SeriesDoc| Some(job(run, series, &told, (answered(series)?, start.as_ref())));
    let jobs: Vec<Job> = told.iter().filter_map(of).take(MOST).collect();
    (!jobs.is_empty() || start.is_some()).then_some(Answer::Jobs(Jobs { jobs, start }))
}

fn nodes(series: &SeriesDoc) -> u32 {
    series.params.get("nodes").and_then(|nodes| nodes.parse().ok()).unwrap_or(1)
}

fn job(
    run: &RunData,
    series: &SeriesDoc,
    all: &[&&SeriesDoc],
    (figure, start): (Answered, Option<&Answered>),
) -> Job {
    let label = series.card.map_or(series.instrument.as_str(), |card| card.shown.label);
    let data = series.params.get("data").and_then(params::parse_bytes);
    let data = data.map_or_else(String::new, |bytes| format!(" of {}", quantity(bytes as f64, Unit::Byte)));
    let nodes = nodes(series);
    let single = all.iter().find(|other| {
        let mut alike = other.params.clone();
        alike.set("nodes", &nodes.to_string());
        self::nodes(other) == 1 && other.arm == series.arm && alike == series.params
    });
    let efficiency = single.and_then(|one| one.median).filter(|one| *one > 0.0 && nodes > 1);
    let is_rate = figure.kind.unit == Unit::BytesPerSec;
    Job {
        name: format!("{label}{data}"),
        nodes,
        arm: series.arm.clone(),
        efficiency: efficiency.filter(|_| is_rate).map(|one| figure.value / one / f64::from(nodes)),
        bound: bound(run, series, start),
        figure,
    }
}

/// The resource that a job uses up; `None` where nothing is known.
fn bound(run: &RunData, series: &SeriesDoc, start: Option<&Answered>) -> Option<JobBound> {
    let of = |metric: &str| {
        let is_of = |other: &&Series| {
            let key = &other.key;
            key.instrument == series.instrument
                && key.params == series.params
                && key.arm == series.arm
                && key.metric == metric
        };
        stats::median(&run.series.iter().find(is_of)?.measured())
    };
    bound_of(of, start.map(|start| start.value))
}

/// The same of the medians of a job's figures, by the names of their metrics, and the seconds that starting one takes.
fn bound_of(of: impl Fn(&str) -> Option<f64>, start: Option<f64>) -> Option<JobBound> {
    let busy = of(hadoop::BUSY.name())?;
    let stolen = of(hadoop::STOLEN.name()).unwrap_or(0.0);
    let is_near = |share: &f64| *share >= NEAR;
    if is_near(&(busy + stolen)) {
        return Some(JobBound::Cpus(busy + stolen, stolen));
    }
    if let Some(disk) = of(hadoop::DISK.name()).filter(is_near) {
        return Some(JobBound::Disk(disk));
    }
    let wall = of(hadoop::WALL.name()).filter(|wall| *wall > 0.0);
    if start.zip(wall).is_some_and(|(start, wall)| start / wall >= MOSTLY) {
        return Some(JobBound::Start);
    }
    let slots = of(hadoop::SLOTS.name()).filter(|slots| *slots >= 1.0);
    match of(hadoop::TASKS.name()).zip(slots) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        Some((tasks, slots)) if tasks / slots >= NEAR => Some(JobBound::Containers(slots as u32)),
        _ => Some(JobBound::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_used_up_is_told_in_an_order() {
        let of = |figures: &[(&str, f64)], start: Option<f64>| {
            let median =
                |metric: &str| figures.iter().find(|(name, _)| *name == metric).map(|(_, value)| *value);
            bound_of(median, start)
        };
        assert_eq!(of(&[("wall", 10.0)], None), None);
        assert_eq!(
            of(&[("cpus-busy", 0.75), ("cpus-stolen", 0.125)], None),
            Some(JobBound::Cpus(0.875, 0.125))
        );
        assert_eq!(of(&[("cpus-busy", 0.5), ("disk-busy", 0.9)], None), Some(JobBound::Disk(0.9)));
        let tasks = [("cpus-busy", 0.5), ("tasks-at-once", 1.8), ("slots", 2.0), ("wall", 20.0)];
        assert_eq!(of(&tasks, Some(9.0)), Some(JobBound::Containers(2)));
        assert_eq!(of(&tasks, Some(11.0)), Some(JobBound::Start));
        assert_eq!(of(&tasks[..2], None), Some(JobBound::Nothing));
    }
}
