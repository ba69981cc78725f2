//! Jobs on a cluster: the phases of their tasks, what each node did, and a node that is slow.
//!
//! Seconds. Only measured takes count. Where a take does not tell its containers, the means of its tasks remain.

use model::data::{RunData, Series};
use model::doc::{
    JobBoundDoc, JobDoc, JobTimelineDoc, NodeUsedDoc, NodeWorkDoc, PhasesDoc, SeriesDoc, SlowNodeDoc,
};
use model::format::{count, quantity};
use model::job_tasks::{Container, JobTasks, Outcome, Phase as Doing, Work};
use model::metrics::hadoop;
use model::node_use::{NodeUse, Stretch};
use model::{Family, NoteBody, Phase, Unit, params};

use crate::{job_bound, job_fault};

/// Maps that a node, and the others together, must have had.
const LEAST_MAPS: usize = 4;
/// How many times as long as elsewhere its maps must take.
const SLOW: f64 = 1.3;
/// The parameter with the number of nodes.
pub const NODES: &str = "nodes";
/// The parameter with the address of a cluster of the user's.
const CLUSTER: &str = "cluster";

/// The jobs of a run, in the order of its figures.
pub fn of_run(run: &RunData, rows: &[SeriesDoc]) -> Vec<JobDoc> {
    let is_job = |row: &&SeriesDoc| {
        row.card.is_some_and(|card| card.family == Family::Hadoop) && row.metric == hadoop::WALL.name()
    };
    let jobs: Vec<&SeriesDoc> = rows.iter().filter(is_job).collect();
    let several_arms = jobs.iter().any(|row| row.arm != jobs[0].arm);
    let mut all: Vec<JobDoc> = jobs.iter().map(|row| job(run, row, several_arms)).collect();
    for job in &mut all {
        job.bound = job_bound::doc(&job_bound::of_job(run, job, rows));
    }
    let faults: Vec<_> = all.iter().map(|job| job_fault::of_job(run, job, &all)).collect();
    all.iter_mut().zip(faults).for_each(|(job, fault)| job.fault = fault);
    all.sort_by_key(|one| {
        let place = run.plan.arms.iter().position(|arm| arm.name == one.arm);
        (one.instrument.clone(), nodes_of(&one.params), place, one.step.clone())
    });
    all
}

/// The number of nodes; 0 of a cluster of the user's, which has those that it has.
pub fn nodes_of(params: &model::Params) -> u32 {
    params.get(NODES).map_or(1, |nodes| nodes.parse().unwrap_or(0))
}

/// `3 nodes`, or the address of a cluster of the user's.
pub fn place(params: &model::Params) -> String {
    match params.get(CLUSTER) {
        Some(address) => address.to_owned(),
        None => count(nodes_of(params) as usize, "node"),
    }
}

/// `TeraSort of 256 MiB`, `TestDFSIO of 256 MiB, write`
pub fn name(row: &SeriesDoc) -> String {
    let label = row.card.map_or(row.instrument.as_str(), |card| card.shown.label);
    let data = row.params.get("data").and_then(params::parse_bytes);
    let data = data.map_or_else(String::new, |bytes| format!(" of {}", quantity(bytes as f64, Unit::Byte)));
    let step = row.params.get("step").map_or_else(String::new, |step| format!(", {step}"));
    format!("{label}{data}{step}")
}

fn job(run: &RunData, row: &SeriesDoc, several_arms: bool) -> JobDoc {
    let step = row.params.get("step").unwrap_or_default().to_owned();
    let told = told(run, row, &step);
    let arm = if several_arms && !row.arm.is_empty() { format!(" ({})", row.arm) } else { String::new() };
    let full: Vec<f64> = told.iter().filter_map(|job| job.full()).collect();
    JobDoc {
        name: format!("{} on {}{arm}", name(row), place(&row.params)),
        instrument: row.instrument.clone(),
        params: row.params.clone(),
        arm: row.arm.clone(),
        step,
        phases: means(run, row),
        by_node: by_node(&told),
        bound: JobBoundDoc::default(),
        fault: None,
        slow: slow(&told),
        full: stats::median(&full),
        timeline: middle(&told).map(timeline),
    }
}

/// The containers of each measured take of a job.
fn told<'a>(run: &'a RunData, row: &SeriesDoc, step: &str) -> Vec<&'a JobTasks> {
    let Some(series) = beside(run, row, hadoop::WALL.name()) else { return Vec::new() };
    let seqs: Vec<u64> =
        series.points.iter().filter(|point| point.phase == Phase::Measured).map(|point| point.seq).collect();
    let takes: Vec<_> = run.takes.iter().filter(|take| seqs.contains(&take.seq)).collect();
    let of_take = |note: &'a model::Note| {
        let NoteBody::JobTasks(job) = &note.body else { return None };
        let at = note.at_ns?;
        let is_its = takes.iter().any(|take| (take.start_ns..=take.end_ns).contains(&at));
        (is_its && job.step == step).then_some(job)
    };
    run.notes.iter().filter_map(of_take).collect()
}

/// Another figure of the same job.
pub fn beside<'a>(run: &'a RunData, row: &SeriesDoc, metric: &str) -> Option<&'a Series> {
    run.series.iter().find(|series| {
        let key = &series.key;
        key.instrument == row.instrument
            && key.params == row.params
            && key.arm == row.arm
            && key.metric == metric
    })
}

fn means(run: &RunData, row: &SeriesDoc) -> PhasesDoc {
    let of = |metric: &str| stats::median(&beside(run, row, metric)?.measured());
    PhasesDoc {
        map: of(hadoop::MAP.name()),
        shuffle: of(hadoop::SHUFFLE.name()),
        merge: of(hadoop::MERGE.name()),
        reduce: of(hadoop::REDUCE.name()),
        lost: None,
    }
}

/// The median of a figure of this job, by the name of its metric.
pub fn median(run: &RunData, job: &JobDoc, metric: &str) -> Option<f64> {
    let is_its = |other: &&Series| {
        let key = &other.key;
        let is_of_job = key.instrument == job.instrument && key.params == job.params && key.arm == job.arm;
        is_of_job && key.metric == metric
    };
    stats::median(&run.series.iter().find(is_its)?.measured())
}

fn by_node(told: &[&JobTasks]) -> Vec<NodeWorkDoc> {
    let used = told.iter().flat_map(|job| &job.nodes).map(|one| one.node.as_str());
    let mut names: Vec<&str> = told.iter().flat_map(|job| job.nodes()).chain(used).collect();
    names.sort_unstable();
    names.dedup();
    let takes = told.len().max(1) as f64;
    let of = |node: &str| {
        let all = told.iter().flat_map(|job| &job.containers);
        let own: Vec<&Container> = all.filter(|one| one.node == node && one.is_task()).collect();
        let seconds = |doing: Doing| {
            let stretches = own.iter().flat_map(|one| one.stretches()).filter(|(what, ..)| *what == doing);
            let ms: u64 = stretches.map(|(_, from, to)| to - from).sum();
            (ms > 0).then(|| ms as f64 / 1e3 / takes)
        };
        NodeWorkDoc {
            node: node.to_owned(),
            tasks: own.len() as f64 / takes,
            phases: PhasesDoc {
                map: seconds(Doing::Map),
                shuffle: seconds(Doing::Shuffle),
                merge: seconds(Doing::Merge),
                reduce: seconds(Doing::Reduce),
                lost: seconds(Doing::Lost),
            },
            used: used_by(told, node),
        }
    };
    names.into_iter().map(of).collect()
}

/// The use of a node a job, over the jobs in which it was looked at.
fn used_by(told: &[&JobTasks], node: &str) -> Option<NodeUsedDoc> {
    let all: Vec<&NodeUse> = told.iter().flat_map(|job| &job.nodes).filter(|one| one.node == node).collect();
    let mean = |of: fn(&Stretch) -> Option<u64>, scale: f64| {
        let sums: Option<Vec<f64>> = all.iter().map(|one| Some(one.sum(of)? as f64 / scale)).collect();
        stats::mean(&sums?)
    };
    (!all.is_empty()).then(|| NodeUsedDoc {
        user: mean(|one| one.user_ms, 1e3),
        system: mean(|one| one.system_ms, 1e3),
        read: mean(|one| one.read, 1.0),
        written: mean(|one| one.written, 1.0),
        received: mean(|one| one.received, 1.0),
        sent: mean(|one| one.sent, 1.0),
    })
}

/// The node whose maps take longest, where nearly all of them take longer than nearly all elsewhere: its first quartile
/// lies beyond the third one of the others, and its median is far enough from theirs. Of each job the maps are held
/// against the job's median one, so that slow takes are no slow nodes.
fn slow(told: &[&JobTasks]) -> Option<SlowNodeDoc> {
    let mut maps: Vec<(&str, f64)> = Vec::new();
    for job in told {
        let is_map = |one: &&Container| one.work == Work::Map && one.outcome == Outcome::Succeeded;
        let own = job.containers.iter().filter(is_map);
        let own: Vec<(&str, f64)> = own
            .filter_map(|one| Some((one.node.as_str(), (one.to_ms?.checked_sub(one.from_ms)?) as f64)))
            .collect();
        let middle = stats::median(&own.iter().map(|(_, ms)| *ms).collect::<Vec<_>>());
        let Some(middle) = middle.filter(|ms| *ms > 0.0) else { continue };
        maps.extend(own.into_iter().map(|(node, ms)| (node, ms / middle)));
    }
    let mut names: Vec<&str> = maps.iter().map(|(node, _)| *node).collect();
    names.sort_unstable();
    names.dedup();
    let of = |node: &&str| {
        let split = |own: bool| -> Vec<f64> {
            maps.iter().filter(|(name, _)| (name == node) == own).map(|(_, times)| *times).collect()
        };
        let (own, others) = (split(true), split(false));
        if own.len() < LEAST_MAPS || others.len() < LEAST_MAPS {
            return None;
        }
        let times = stats::median(&own)? / stats::median(&others)?;
        let is_apart = stats::quantile(&own, 0.25)? > stats::quantile(&others, 0.75)?;
        let (maps, others) = (own.len() as u64, others.len() as u64);
        (times >= SLOW && is_apart).then(|| SlowNodeDoc { node: (*node).to_owned(), times, maps, others })
    };
    names.iter().filter_map(of).max_by(|one, other| one.times.total_cmp(&other.times))
}

/// The job that lasted as long as the middle one.
fn middle<'a>(told: &[&'a JobTasks]) -> Option<&'a JobTasks> {
    let mut sorted = told.to_vec();
    sorted.sort_by_key(|job| job.ms);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

fn timeline(job: &JobTasks) -> JobTimelineDoc {
    JobTimelineDoc {
        ms: job.ms,
        slots: job.slots,
        containers: job.containers.clone(),
        left_out: job.left_out,
        fault: job.fault.clone(),
        nodes: job.nodes.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(node: &str, from_ms: u64, ms: u64) -> Container {
        Container {
            work: Work::Map,
            node: node.to_owned(),
            from_ms,
            to_ms: Some(from_ms + ms),
            shuffled_ms: None,
            merged_ms: None,
            outcome: Outcome::Succeeded,
        }
    }

    fn of_maps(times: &[(&str, u64)]) -> JobTasks {
        let containers = times.iter().map(|(node, ms)| map(node, 1_000, *ms)).collect();
        JobTasks { ms: 60_000, slots: 4, containers, ..JobTasks::default() }
    }

    #[test]
    fn a_slow_node_is_one_whose_maps_nearly_all_take_longer() {
        let one = of_maps(&[("w1", 10), ("w1", 11), ("w2", 10), ("w2", 12), ("w3", 20), ("w3", 22)]);
        let found = slow(&[&one, &one]).unwrap();
        assert_eq!((found.node.as_str(), found.maps, found.others), ("w3", 4, 8));
        assert!((found.times - 2.0).abs() < 0.2, "{found:?}");
        // One take has too few maps of it.
        assert_eq!(slow(&[&one]), None);
        // A slow take is no slow node.
        let (fast, late) = (of_maps(&[("w1", 10); 6]), of_maps(&[("w2", 30); 6]));
        assert_eq!(slow(&[&fast, &late]), None);
        // Some of its maps are as quick as elsewhere.
        let mixed =
            of_maps(&[("w1", 10), ("w1", 11), ("w1", 10), ("w2", 10), ("w2", 11), ("w2", 30), ("w2", 30)]);
        assert_eq!(slow(&[&mixed, &mixed]), None);
    }

    #[test]
    fn work_of_a_node_is_the_mean_over_jobs() {
        let mut one = of_maps(&[("w1", 1_000), ("w1", 3_000), ("w2", 2_000)]);
        one.containers[2].outcome = Outcome::Killed;
        let nodes = by_node(&[&one, &one]);
        let [w1, w2] = &nodes[..] else { panic!("{nodes:?}") };
        assert_eq!((w1.tasks, w1.phases.map, w1.phases.lost), (2.0, Some(4.0), None));
        assert_eq!((w2.tasks, w2.phases.map, w2.phases.lost), (1.0, None, Some(2.0)));
    }

    #[test]
    fn the_use_of_a_node_is_the_mean_over_jobs_and_one_without_tasks_is_told_too() {
        let with = |user_ms: u64| {
            let stretch = Stretch { user_ms: Some(user_ms), sent: Some(100), ..Stretch::default() };
            let nodes = vec![NodeUse { node: "m".to_owned(), stretches: vec![stretch; 2] }];
            JobTasks { nodes, ..of_maps(&[("w1", 1_000)]) }
        };
        let nodes = by_node(&[&with(1_000), &with(2_000)]);
        let [m, w1] = &nodes[..] else { panic!("{nodes:?}") };
        let used = m.used.unwrap();
        assert_eq!((m.node.as_str(), m.tasks, used.user, used.sent), ("m", 0.0, Some(3.0), Some(200.0)));
        assert_eq!((used.read, w1.used), (None, None));
    }

    #[test]
    fn the_middle_job_is_drawn() {
        let of = |ms: u64| JobTasks { ms, ..JobTasks::default() };
        let all = [of(30), of(10), of(20)];
        assert_eq!(middle(&all.iter().collect::<Vec<_>>()).map(|job| job.ms), Some(20));
        assert_eq!(middle(&[]), None);
    }
}
