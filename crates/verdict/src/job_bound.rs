//! The bound of a job on a cluster: the resource that it uses up, and a node that is slow.
//!
//! Medians of the run's figures. CPUs come before the disk, the disk before the network, that before the start of
//! processes, that before the room for tasks; each only where it is nearly used up. The network between nodes of one
//! machine is CPU time, so it is no limit of its own. A slow node is found from the times of maps (`jobs`).

use model::Params;
use model::answer::{JobBound, JobLimit};
use model::data::RunData;
use model::doc::{JobBoundDoc, JobDoc, SeriesDoc, SlowNodeDoc};
use model::metrics::hadoop;
use model::names::instrument::HADOOP_PI;

use crate::jobs::{self, NODES};

/// From this share on a resource is nearly used up.
const NEAR: f64 = 0.85;
/// From this share of a job's time on its start is most of it, or memory has room for no more tasks.
const MOSTLY: f64 = 0.5;

/// The bound of this job of a run; `rows` are the run's.
pub fn of_job(run: &RunData, job: &JobDoc, rows: &[SeriesDoc]) -> JobBound {
    let of = |metric: &str| jobs::median(run, job, metric);
    JobBound { limit: limit(of, job.full, start(job, rows)), slow: job.slow.as_ref().map(slow) }
}

/// The same for the document.
pub fn doc(bound: &JobBound) -> JobBoundDoc {
    let share = match bound.limit {
        JobLimit::Cpus(share, _) | JobLimit::Disk(share) | JobLimit::Network(share) => Some(share),
        JobLimit::Containers(_, full) => full,
        JobLimit::Start | JobLimit::Nothing | JobLimit::Unknown => None,
    };
    JobBoundDoc { limit: bound.limit.word().to_owned(), share, sentence: bound.to_string() }
}

fn slow(slow: &SlowNodeDoc) -> (String, f64) {
    (slow.node.clone(), slow.times)
}

/// It is a job with no work, whose time is what starting one takes.
pub fn is_start(instrument: &str, params: &Params) -> bool {
    instrument == HADOOP_PI && params.get("samples").is_none_or(|samples| samples == "1")
}

/// The seconds that starting a job takes on as many nodes in the same arm.
fn start(job: &JobDoc, rows: &[SeriesDoc]) -> Option<f64> {
    let is_its = |row: &&SeriesDoc| {
        row.metric == hadoop::WALL.name()
            && is_start(&row.instrument, &row.params)
            && row.arm == job.arm
            && row.params.get(NODES) == job.params.get(NODES)
    };
    rows.iter().find(is_its)?.median
}

/// The limit by the medians of a job's figures, the share of its tasks' time in which all places were taken, and the
/// seconds that starting one takes.
fn limit(of: impl Fn(&str) -> Option<f64>, full: Option<f64>, start: Option<f64>) -> JobLimit {
    let busy = of(hadoop::BUSY.name());
    let stolen = of(hadoop::STOLEN.name()).unwrap_or(0.0);
    let is_near = |share: &f64| *share >= NEAR;
    if let Some(used) = busy.map(|busy| busy + stolen).filter(is_near) {
        return JobLimit::Cpus(used, stolen);
    }
    if let Some(disk) = of(hadoop::DISK.name()).filter(is_near) {
        return JobLimit::Disk(disk);
    }
    if let Some(link) = of(hadoop::LINK.name()).filter(is_near) {
        return JobLimit::Network(link);
    }
    let wall = of(hadoop::WALL.name()).filter(|wall| *wall > 0.0);
    if start.zip(wall).is_some_and(|(start, wall)| start / wall >= MOSTLY) {
        return JobLimit::Start;
    }
    let slots = of(hadoop::SLOTS.name()).filter(|slots| *slots >= 1.0);
    let used = of(hadoop::TASKS.name()).zip(slots).map(|(tasks, slots)| tasks / slots);
    let is_taken = full.map_or_else(|| used.is_some_and(|used| used >= NEAR), |full| full >= MOSTLY);
    match slots.filter(|_| is_taken) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        Some(slots) => JobLimit::Containers(slots as u32, full),
        None if busy.is_none() => JobLimit::Unknown,
        None => JobLimit::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_used_up_is_told_in_an_order() {
        let of = |figures: &[(&str, f64)], full: Option<f64>, start: Option<f64>| {
            let median =
                |metric: &str| figures.iter().find(|(name, _)| *name == metric).map(|(_, value)| *value);
            limit(median, full, start)
        };
        let stolen = [("cpus-busy", 0.75), ("cpus-stolen", 0.125)];
        assert_eq!(of(&stolen, Some(1.0), None), JobLimit::Cpus(0.875, 0.125));
        assert_eq!(of(&[("cpus-busy", 0.5), ("disk-busy", 0.9)], None, None), JobLimit::Disk(0.9));
        let link = [("cpus-busy", 0.5), ("disk-busy", 0.2), ("link-busy", 0.93)];
        assert_eq!(of(&link, None, None), JobLimit::Network(0.93));
        let tasks = [("cpus-busy", 0.5), ("tasks-at-once", 1.8), ("slots", 2.0), ("wall", 20.0)];
        assert_eq!(of(&tasks, None, Some(9.0)), JobLimit::Containers(2, None));
        assert_eq!(of(&tasks, None, Some(11.0)), JobLimit::Start);
        assert_eq!(of(&tasks[..2], None, None), JobLimit::Nothing);
        // The share in which all places are taken is told by the tasks themselves, where it is known.
        assert_eq!(of(&tasks, Some(0.6), None), JobLimit::Containers(2, Some(0.6)));
        assert_eq!(of(&tasks, Some(0.4), None), JobLimit::Nothing);
    }

    #[test]
    fn without_the_use_of_cpus_only_what_is_full_is_told() {
        let of = |metric: &str| (metric == "disk-busy").then_some(0.9);
        assert_eq!(limit(of, None, None), JobLimit::Disk(0.9));
        assert_eq!(limit(|_| None, Some(1.0), None), JobLimit::Unknown);
        assert_eq!(
            limit(|metric| (metric == "slots").then_some(4.0), Some(1.0), None),
            JobLimit::Containers(4, Some(1.0))
        );
    }

    #[test]
    fn the_document_has_the_sentence_with_the_slow_node() {
        let bound =
            JobBound { limit: JobLimit::Containers(4, Some(0.75)), slow: Some(("w3".to_owned(), 1.52)) };
        let told = doc(&bound);
        assert_eq!((told.limit.as_str(), told.share), ("containers", Some(0.75)));
        assert_eq!(
            told.sentence,
            "memory has room for no more than 4 tasks at once, and so many ran 75 % of the time; w3 is slow: its maps \
             take 1.5 times as long as those elsewhere"
        );
    }
}
