//! Jobs on a cluster, and what holds them back, in one sentence.

use std::fmt;

use super::{Answered, AnsweredDoc};
use crate::format::{count, fixed, percent, quantity};
use crate::unit::Unit;

/// One kind of job on so many nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `TeraSort of 256 MiB`.
    pub name: String,
    /// `3 nodes`, or the address of a cluster of the user's.
    pub place: String,
    /// 0 where it is not known.
    pub nodes: u32,
    /// The arm; empty in a run without arms.
    pub arm: String,
    /// Its rate, or its time.
    pub figure: Answered,
    /// The rate over that of one node times the nodes, where one node was measured too.
    pub efficiency: Option<f64>,
    pub bound: Option<JobBound>,
}

/// The bound of a job: the resource that it uses up, and a slow node.
#[derive(Clone, Debug, PartialEq)]
pub struct JobBound {
    pub limit: JobLimit,
    /// A node whose maps take clearly longer than elsewhere, and how many times as long.
    pub slow: Option<(String, f64)>,
}

/// The resource that a job uses up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JobLimit {
    /// CPUs, with the share of their time; the second is what the hypervisor took.
    Cpus(f64, f64),
    Disk(f64),
    /// The fullest link of a node.
    Network(f64),
    /// No more tasks at once than this, and the share of the tasks' time in which so many ran.
    Containers(u32, Option<f64>),
    /// Most of its time is the start of its processes.
    Start,
    /// Nothing that was looked at.
    Nothing,
    /// Nothing that is known, but the use of the CPUs is not.
    Unknown,
}

/// Jobs, and what starting one costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Jobs {
    pub jobs: Vec<Job>,
    /// The time of a job with no work.
    pub start: Option<Answered>,
}

/// From this share on CPUs are called full.
const FULL: f64 = 0.95;
/// From this share on it is told that the hypervisor took time.
const TOLD: f64 = 0.05;

impl JobLimit {
    /// `cpus`
    pub const fn word(self) -> &'static str {
        match self {
            JobLimit::Cpus(..) => "cpus",
            JobLimit::Disk(_) => "disk",
            JobLimit::Network(_) => "network",
            JobLimit::Containers(..) => "containers",
            JobLimit::Start => "start",
            JobLimit::Nothing => "nothing",
            JobLimit::Unknown => "unknown",
        }
    }
}

impl fmt::Display for JobLimit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            JobLimit::Cpus(share, stolen) => {
                let full = if share >= FULL { "full" } else { "nearly full" };
                write!(to, "its CPUs are {full} ({}", percent(share))?;
                if stolen >= TOLD {
                    write!(to, ", of these the hypervisor took {}", percent(stolen))?;
                }
                write!(to, ")")
            }
            JobLimit::Disk(share) => write!(to, "its disk is busy {} of the time", percent(share)),
            JobLimit::Network(share) => {
                write!(to, "the network link of a node carries {} of its rate", percent(share))
            }
            JobLimit::Containers(slots, full) => {
                write!(to, "memory has room for no more than {} at once", count(slots as usize, "task"))?;
                full.map_or(Ok(()), |full| write!(to, ", and so many ran {} of the time", percent(full)))
            }
            JobLimit::Start => write!(to, "most of it is the start of its processes"),
            JobLimit::Nothing => write!(to, "no CPU, disk or memory for containers is full: it waits"),
            JobLimit::Unknown => {
                write!(to, "the use of its CPUs is not known, so neither is what holds it back")
            }
        }
    }
}

impl fmt::Display for JobBound {
    /// A slow node stands beside a resource that is used up, and in the place of none.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((node, times)) = &self.slow else { return self.limit.fmt(to) };
        match self.limit {
            JobLimit::Nothing | JobLimit::Unknown => {}
            limit => write!(to, "{limit}; ")?,
        }
        write!(to, "{node} is slow: its maps take {} times as long as those elsewhere", fixed(*times, 1))
    }
}

impl Job {
    /// `5.92 MB/s (5.60 to 6.20)`
    fn value(&self) -> String {
        let scale = crate::format::Scale::common(&[self.figure.value], self.figure.kind);
        format!("{}{}", quantity(self.figure.value, self.figure.kind), self.figure.ends(&scale))
    }

    /// By the same resource, with the same node slow, whatever the shares.
    fn is_bound_as(&self, other: &Job) -> bool {
        let of = |job: &Job| {
            let bound = job.bound.as_ref()?;
            Some((bound.limit.word(), bound.slow.as_ref().map(|(node, _)| node.clone())))
        };
        of(self) == of(other)
    }

    fn place(&self) -> String {
        let arm = if self.arm.is_empty() { String::new() } else { format!(" ({})", self.arm) };
        format!("on {}{arm}", self.place)
    }
}

impl fmt::Display for Jobs {
    /// `TeraSort of 1 GB on 3 nodes: 12.3 MB/s (11.8 to 12.9); its CPUs are full (97 %); starting a job takes 15.2 s`
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut former = "";
        for (at, job) in self.jobs.iter().enumerate() {
            let is_new = former != job.name;
            former = &job.name;
            write!(to, "{}", if at > 0 { "; " } else { "" })?;
            if is_new {
                write!(to, "{} ", job.name)?;
            }
            write!(to, "{}: {}", job.place(), job.value())?;
            if let Some(efficiency) = job.efficiency {
                write!(to, ", {} of {} times one node", percent(efficiency), job.nodes)?;
            }
            let is_alike = |next: &Job| next.name == job.name && next.is_bound_as(job);
            let goes_on = self.jobs.get(at + 1).is_some_and(is_alike);
            if let Some(bound) = job.bound.as_ref().filter(|_| !goes_on) {
                write!(to, "; {bound}")?;
            }
        }
        let Some(start) = &self.start else { return Ok(()) };
        let separator = if self.jobs.is_empty() { "" } else { "; " };
        write!(to, "{separator}starting a job takes {}", quantity(start.value, Unit::Second))
    }
}

impl Jobs {
    pub(super) fn figures(&self) -> Vec<AnsweredDoc> {
        self.jobs.iter().map(|job| &job.figure).chain(&self.start).map(Answered::doc).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Kind;

    fn figure(name: &str, unit: Unit, value: f64, ends: Option<(f64, f64)>) -> Answered {
        let (low, high) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
        Answered { name: name.to_owned(), per: "", kind: Kind::for_unit(unit), value, low, high }
    }

    fn bound(limit: JobLimit) -> Option<JobBound> {
        Some(JobBound { limit, slow: None })
    }

    #[test]
    fn a_sort_is_answered_with_its_rate_its_bound_and_its_start() {
        let sort = Job {
            name: "TeraSort of 1 GiB".to_owned(),
            place: "3 nodes".to_owned(),
            nodes: 3,
            arm: String::new(),
            figure: figure("x", Unit::BytesPerSec, 12.3e6, Some((11.8e6, 12.9e6))),
            efficiency: None,
            bound: bound(JobLimit::Cpus(0.97, 0.0)),
        };
        let start = Some(figure("y", Unit::Second, 15.2, None));
        let one = Jobs { jobs: vec![sort.clone()], start };
        assert_eq!(
            one.to_string(),
            "TeraSort of 1 GiB on 3 nodes: 12.3 MB/s (11.8 to 12.9); its CPUs are full (97 %); starting a job takes 15.2 s"
        );
        assert_eq!(one.figures().len(), 2);
        let single = Job {
            place: "1 node".to_owned(),
            nodes: 1,
            bound: sort.bound.clone(),
            figure: figure("x", Unit::BytesPerSec, 8e6, None),
            ..sort.clone()
        };
        let three = Job { efficiency: Some(0.51), bound: bound(JobLimit::Cpus(0.9, 0.2)), ..sort };
        let scaled = Jobs { jobs: vec![single, three], start: None };
        assert_eq!(
            scaled.to_string(),
            "TeraSort of 1 GiB on 1 node: 8.00 MB/s; on 3 nodes: 12.3 MB/s (11.8 to 12.9), 51 % of 3 times one node; its \
             CPUs are nearly full (90 %, of these the hypervisor took 20 %)"
        );
    }

    #[test]
    fn what_holds_jobs_back_is_told_where_it_changes() {
        let of = |nodes: u32, limit: JobLimit| Job {
            name: "TeraSort of 1 GiB".to_owned(),
            place: count(nodes as usize, "node"),
            nodes,
            arm: String::new(),
            figure: figure("x", Unit::BytesPerSec, 8e6, None),
            efficiency: None,
            bound: bound(limit),
        };
        let jobs = vec![
            of(1, JobLimit::Containers(2, None)),
            of(2, JobLimit::Cpus(0.96, 0.0)),
            of(3, JobLimit::Cpus(0.97, 0.0)),
        ];
        assert_eq!(
            Jobs { jobs, start: None }.to_string(),
            "TeraSort of 1 GiB on 1 node: 8.00 MB/s; memory has room for no more than 2 tasks at once; on 2 nodes: 8.00 \
             MB/s; on 3 nodes: 8.00 MB/s; its CPUs are full (97 %)"
        );
    }

    #[test]
    fn each_bound_is_told() {
        for (limit, said) in [
            (JobLimit::Disk(0.91), "its disk is busy 91 % of the time"),
            (JobLimit::Network(0.93), "the network link of a node carries 93 % of its rate"),
            (JobLimit::Containers(6, None), "memory has room for no more than 6 tasks at once"),
            (
                JobLimit::Containers(6, Some(0.9)),
                "memory has room for no more than 6 tasks at once, and so many ran 90 % of the time",
            ),
            (JobLimit::Start, "most of it is the start of its processes"),
            (JobLimit::Nothing, "no CPU, disk or memory for containers is full: it waits"),
            (JobLimit::Unknown, "the use of its CPUs is not known, so neither is what holds it back"),
        ] {
            assert_eq!(JobBound { limit, slow: None }.to_string(), said);
        }
        let slow = Some(("w3".to_owned(), 2.04));
        let told = |limit| JobBound { limit, slow: slow.clone() }.to_string();
        assert_eq!(told(JobLimit::Nothing), "w3 is slow: its maps take 2.0 times as long as those elsewhere");
        assert_eq!(
            told(JobLimit::Disk(0.91)),
            "its disk is busy 91 % of the time; w3 is slow: its maps take 2.0 times as long as those elsewhere"
        );
    }
}
