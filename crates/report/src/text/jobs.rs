//! Jobs on a cluster, a line each: the rate and the efficiency by number of nodes, the phases of their tasks, and of
//! several jobs what holds each back, and what a node that failed cost.

use model::doc::{JobDoc, NodePointDoc, NodeScalingDoc, PhasesDoc};
use model::format::{Kind, count, percent, quantity};
use model::plan::MEMBERS;
use model::ranges::fold;
use model::unit::Unit;

use super::fit::{Part, Rank};
use super::{Look, hang};

/// The lines of a run, those of which a screen needs less first; none without a job.
pub fn parts(jobs: &[JobDoc], scaling: &[NodeScalingDoc], look: Look) -> Vec<Part> {
    let bound = bound(jobs, look);
    // On a short screen the job that stands last has its line: a sort on the most nodes, where there is one.
    let last = bound.last().cloned().unwrap_or_default();
    let phases: String = phased(jobs, look).collect();
    let placed = jobs.iter().find_map(nodes).map(|text| hang("cluster  ", &text, look.columns));
    vec![
        Part::new(placed.unwrap_or_default()),
        Part::new(scaled(scaling, look).collect::<String>()),
        Part::new(phases).or(Rank::Evidence, "phases of jobs", ""),
        Part::new(bound.concat()).or(Rank::Figure, "what holds each job back", last),
        Part::new(faults(jobs, look).collect::<String>()),
    ]
}

fn scaled(scaling: &[NodeScalingDoc], look: Look) -> impl Iterator<Item = String> {
    scaling.iter().map(move |one| {
        let arm = if one.arm.is_empty() { String::new() } else { format!(" ({})", one.arm) };
        hang("scaling  ", &format!("{}{arm}: {}", one.name, points(one)), look.columns)
    })
}

fn phased(jobs: &[JobDoc], look: Look) -> impl Iterator<Item = String> {
    jobs.iter().filter(|job| job.phases.reduce.is_some()).filter_map(move |job| {
        Some(hang("phases   ", &format!("{}: {}", job.name, phases(&job.phases)?), look.columns))
    })
}

/// The bound of each of several jobs; of one the answer has it.
fn bound(jobs: &[JobDoc], look: Look) -> Vec<String> {
    let told = jobs.iter().filter(|job| jobs.len() > 1 && !job.bound.sentence.is_empty());
    told.map(|job| hang("bound    ", &format!("{}: {}", job.name, job.bound.sentence), look.columns))
        .collect()
}

fn faults(jobs: &[JobDoc], look: Look) -> impl Iterator<Item = String> {
    jobs.iter().filter_map(|job| Some((job, job.fault.as_ref()?))).map(move |(job, fault)| {
        // The name of an arm may have the fault.
        let of = if job.name.contains(&fault.fault) { String::new() } else { format!("{} of ", fault.fault) };
        hang("fault    ", &format!("{of}{}: {}", job.name, fault.sentence), look.columns)
    })
}

/// `node[1-3]; node1 is the master`: the nodes of a lab that a cluster was on.
pub fn nodes(job: &JobDoc) -> Option<String> {
    let members = job.params.get(MEMBERS).filter(|members| !members.is_empty())?;
    let names: Vec<&str> = members.split_whitespace().filter_map(|one| one.split('@').next()).collect();
    let master = names.first()?;
    Some(format!("{}; {master} is the master", fold(names.iter().copied(), |_| true)))
}

/// `a map 13.0 s; of a reduce shuffle 4.25 s, merge 858 ms, reduce 1.53 s`; `None` where no phase is known.
pub fn phases(phases: &PhasesDoc) -> Option<String> {
    let time = |seconds: f64| quantity(seconds, Kind::for_unit(Unit::Second));
    let map = phases.map.map(|seconds| format!("a map {}", time(seconds)));
    let parts = [("shuffle", phases.shuffle), ("merge", phases.merge), ("reduce", phases.reduce)];
    let parts: Vec<String> =
        parts.into_iter().filter_map(|(name, seconds)| Some(format!("{name} {}", time(seconds?)))).collect();
    let reduce = (!parts.is_empty()).then(|| format!("of a reduce {}", parts.join(", ")));
    let all: Vec<String> = map.into_iter().chain(reduce).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// `1 node 6.76 MB/s; 2 nodes 8.10 MB/s, 60 % of perfect (55 % to 66 %)`
fn points(one: &NodeScalingDoc) -> String {
    let rate = |at: &NodePointDoc| {
        at.rate.value.map_or_else(|| "-".to_owned(), |rate| quantity(rate, Kind::for_unit(Unit::BytesPerSec)))
    };
    let point = |(place, at): (usize, &NodePointDoc)| {
        let told = format!("{} {}", count(at.nodes as usize, "node"), rate(at));
        if place == 0 { told } else { format!("{told}, {}", share(at)) }
    };
    one.points.iter().enumerate().map(point).collect::<Vec<_>>().join("; ")
}

/// `60 % of perfect (55 % to 66 %)`
fn share(at: &NodePointDoc) -> String {
    let Some(value) = at.efficiency.value else { return "efficiency unknown".to_owned() };
    let ends = at.efficiency.interval();
    let ends =
        ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", percent(low), percent(high)));
    format!("{} of perfect{ends}", percent(value))
}

/// The efficiencies of all points but the first, and why one has no interval.
pub fn efficiency(one: &NodeScalingDoc) -> String {
    let others = || one.points.iter().skip(1);
    let told: Vec<String> =
        others().map(|at| format!("{}: {}", count(at.nodes as usize, "node"), share(at))).collect();
    let why = others().find_map(|at| at.efficiency.why.as_ref());
    why.map_or_else(|| told.join(", "), |why| format!("{} (no interval: {why})", told.join(", ")))
}

#[cfg(test)]
mod tests {
    use model::doc::{EstimateDoc, FaultCostDoc, JobBoundDoc};

    use super::*;
    use crate::text::fit::Screen;

    fn screen(jobs: &[JobDoc], scaling: &[NodeScalingDoc], look: Look) -> String {
        let mut screen = Screen::default();
        parts(jobs, scaling, look).into_iter().for_each(|part| screen.add(part));
        screen.fit(look, "boxscore show", |text| text)
    }

    fn lines(jobs: &[JobDoc], scaling: &[NodeScalingDoc], look: Look) -> String {
        screen(jobs, scaling, Look { all: true, ..look })
    }

    #[test]
    fn a_short_screen_keeps_what_holds_the_last_job_back() {
        let job = |name: &str| JobDoc {
            name: name.to_owned(),
            bound: JobBoundDoc { sentence: "its CPUs are full".to_owned(), ..JobBoundDoc::default() },
            phases: PhasesDoc { map: Some(1.0), reduce: Some(1.0), ..PhasesDoc::default() },
            ..JobDoc::default()
        };
        let short = Look { lines: 2, ..Look::plain() };
        let told = screen(&[job("logs"), job("TeraSort")], &[], short);
        assert!(told.contains("bound    TeraSort: its CPUs are full\n") && !told.contains("logs"), "{told}");
        assert!(told.contains("phases of jobs, what holds each job back"), "{told}");
    }

    #[test]
    fn several_jobs_say_what_holds_each_back_and_what_a_fault_cost() {
        let job = |name: &str, bound: &str, fault: Option<&str>| JobDoc {
            name: name.to_owned(),
            bound: JobBoundDoc { sentence: bound.to_owned(), ..JobBoundDoc::default() },
            fault: fault.map(|sentence| FaultCostDoc {
                fault: "kill-am@40%".to_owned(),
                sentence: sentence.to_owned(),
                ..FaultCostDoc::default()
            }),
            ..JobDoc::default()
        };
        let one = job("TeraSort on 3 nodes", "w3 is slow", Some("the node is found lost after 11.0 s"));
        assert_eq!(
            lines(&[one.clone(), job("pi on 3 nodes", "", None)], &[], Look::plain()),
            "bound    TeraSort on 3 nodes: w3 is slow\n\
             fault    kill-am@40% of TeraSort on 3 nodes: the node is found lost after 11.0 s\n"
        );
        // Of one job the answer has it.
        assert!(lines(&[one], &[], Look::plain()).starts_with("fault"));
    }

    #[test]
    fn phases_and_scaling_are_a_line_each() {
        let some =
            PhasesDoc { map: Some(13.0), shuffle: Some(4.25), merge: None, reduce: Some(1.5), lost: None };
        assert_eq!(phases(&some).as_deref(), Some("a map 13.0 s; of a reduce shuffle 4.25 s, reduce 1.50 s"));
        assert_eq!(phases(&PhasesDoc::default()), None);
        let of = |value: f64, ends: Option<(f64, f64)>| EstimateDoc {
            value: Some(value),
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
            why: ends.is_none().then(|| "3 values: too few".to_owned()),
        };
        let point = |nodes, rate: f64, efficiency| NodePointDoc { nodes, rate: of(rate, None), efficiency };
        let one = NodeScalingDoc {
            name: "TeraSort of 1 GiB".to_owned(),
            instrument: "hadoop-terasort".to_owned(),
            params: model::Params::default(),
            arm: String::new(),
            points: vec![
                point(1, 8e6, of(1.0, None)),
                point(2, 12e6, of(0.75, Some((0.7, 0.8)))),
                point(3, 12e6, of(0.5, None)),
            ],
        };
        assert_eq!(
            lines(&[], std::slice::from_ref(&one), Look::plain()),
            "scaling  TeraSort of 1 GiB: 1 node 8.00 MB/s; 2 nodes 12.0 MB/s, 75 % of perfect\n         \
             (70 % to 80 %); 3 nodes 12.0 MB/s, 50 % of perfect\n"
        );
        assert!(efficiency(&one).ends_with("(no interval: 3 values: too few)"), "{}", efficiency(&one));
    }
}
