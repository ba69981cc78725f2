//! Jobs on a cluster: the phases of their tasks node by node, the rate over nodes beside perfect scaling, and where
//! each container ran, with the fault marked.

use maud::{Markup, html};
use model::doc::{JobDoc, JobTimelineDoc, NodeScalingDoc, PhasesDoc, RunDoc};
use model::format::{Kind, fixed, percent, quantity};
use model::job_tasks::{Container, Phase, Work};
use model::unit::Unit;

use super::job_nodes;
use crate::page;
use crate::plot::line::{Point, Series};
use crate::plot::stack::StackRow;
use crate::plot::timeline::{Bar, Group};
use crate::plot::{Caption, LinePlot, Size, Stack, Timeline};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};
use crate::text::jobs::{efficiency, nodes, phases};

pub static SECTION: Section = Section::new(11, draw);

/// Timelines of a run; the document has all.
const MOST_TIMELINES: usize = 6;
/// The colour of the process that directs the job, far from those of the phases.
const DIRECTS: usize = 7;

fn draw(input: &ReportInput) -> Option<Markup> {
    let runs = || input.runs.iter().enumerate().filter(|(_, (doc, _))| !doc.jobs.is_empty());
    let (_, (first, _)) = runs().next()?;
    let body = html! { @for (run, (doc, _)) in runs() {
        @if input.runs.len() > 1 { h3 { (input.name(run)) } }
        (body(&doc.jobs, &doc.node_scaling))
    } };
    Some(page::section("jobs", &title(first), &body))
}

/// The bound of the job that stands last: a sort on the most nodes, where there is one.
fn title(doc: &RunDoc) -> String {
    let last = doc.jobs.iter().rev().find(|job| !job.bound.sentence.is_empty());
    last.map_or_else(|| "Jobs on a cluster".to_owned(), |job| format!("{}: {}", job.name, job.bound.sentence))
}

fn body(jobs: &[JobDoc], curves: &[NodeScalingDoc]) -> Markup {
    let mut plots: Vec<Markup> = curves.iter().flat_map(scaling).collect();
    plots.extend(jobs.iter().filter(|job| job.by_node.iter().any(|node| node.tasks > 0.0)).map(by_node));
    plots.extend(jobs.iter().filter_map(job_nodes::split));
    let drawn: Vec<(&JobDoc, &JobTimelineDoc)> =
        jobs.iter().filter_map(|job| Some((job, job.timeline.as_ref()?))).collect();
    let line = |job: &JobDoc| {
        let told = phases(&job.phases).into_iter().chain([job.bound.sentence.clone()]);
        let told = told.chain(job.fault.as_ref().map(|fault| fault.sentence.clone()));
        told.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    };
    let lines = jobs.iter().map(|job| (job, line(job))).filter(|(_, text)| !text.is_empty());
    html! {
        @if let Some(placed) = jobs.iter().find_map(nodes) { p { "Cluster of " (placed) "." } }
        ul class="plain" { @for (job, text) in lines { li { (page::prose(&format!("{}: {text}", job.name))) } } }
        (page::grid(&plots))
        @for (job, timeline) in drawn.iter().take(MOST_TIMELINES) {
            (containers(job, timeline))
            @for plot in job_nodes::over_time(job, timeline) { (plot) }
        }
        @if drawn.len() > MOST_TIMELINES {
            p class="note" { (drawn.len() - MOST_TIMELINES) " more timelines are in the document" }
        }
    }
}

fn of(phases: &PhasesDoc, phase: Phase) -> Option<f64> {
    match phase {
        Phase::Map => phases.map,
        Phase::Shuffle => phases.shuffle,
        Phase::Merge => phases.merge,
        Phase::Reduce => phases.reduce,
        Phase::Lost => phases.lost,
    }
}

fn words() -> Vec<String> {
    Phase::ALL.iter().map(|phase| phase.word().to_owned()).collect()
}

/// How often all places for tasks were taken.
fn room(slots: u32, full: f64) -> String {
    // Below half a percent it would read as never.
    match full < 0.005 {
        true => format!("; memory has room for {slots} tasks at once, of which fewer ran all the time"),
        false => format!("; {slots} at once, as many as memory has room for, {} of the time", percent(full)),
    }
}

/// How the time of tasks divides into phases: each node's part of the time of all tasks.
fn by_node(job: &JobDoc) -> Markup {
    let sum = |phases: &PhasesDoc| Phase::ALL.iter().filter_map(|phase| of(phases, *phase)).sum::<f64>();
    let most = job.by_node.iter().map(|node| sum(&node.phases)).fold(0.0, f64::max);
    let all: f64 = job.by_node.iter().map(|node| sum(&node.phases)).sum();
    let row = |node: &model::doc::NodeWorkDoc| StackRow {
        name: node.node.clone(),
        parts: Phase::ALL
            .iter()
            .map(|phase| of(&node.phases, *phase).filter(|_| most > 0.0).map(|s| s / most))
            .collect(),
    };
    let slow = job.slow.as_ref().map_or_else(String::new, |slow| {
        format!("; maps on {} take {} times as long as elsewhere", slow.node, fixed(slow.times, 1))
    });
    let longest = quantity(most, Kind::for_unit(Unit::Second));
    let total = quantity(all, Kind::for_unit(Unit::Second));
    Stack {
        caption: Caption::new(format!("{}: tasks took {total} of containers' time", job.name)).subtitle(format!(
            "sum over the tasks of each node, mean of the takes; 100 % is {longest}, that of the busiest node{slow}"
        )),
        parts: words(),
        rows: job.by_node.iter().filter(|node| node.tasks > 0.0).map(row).collect(),
        size: Size::Cell,
    }
    .render()
}

/// The rate over nodes, with the line of perfect scaling, and the efficiency.
fn scaling(one: &NodeScalingDoc) -> Vec<Markup> {
    let Some(first) = one.points.first() else { return Vec::new() };
    let arm = if one.arm.is_empty() { String::new() } else { format!(" ({})", one.arm) };
    let nodes = || AxisSpec::new("nodes", Kind::for_unit(Unit::Count).plain());
    let points = |of: fn(&model::doc::NodePointDoc) -> &model::doc::EstimateDoc| -> Vec<Point> {
        let point = |one: &model::doc::NodePointDoc| {
            let estimate = of(one);
            Some(Point {
                interval: estimate.interval(),
                bar: true,
                ..Point::at(f64::from(one.nodes), estimate.value?)
            })
        };
        one.points.iter().filter_map(point).collect()
    };
    let perfect = |value: f64, grows: bool| Series {
        name: "perfect".to_owned(),
        points: one
            .points
            .iter()
            .map(|at| {
                let times = if grows { f64::from(at.nodes) / f64::from(first.nodes) } else { 1.0 };
                Point::at(f64::from(at.nodes), value * times)
            })
            .collect(),
        reference: true,
    };
    let measured = |points: Vec<Point>| Series { name: "measured".to_owned(), points, reference: false };
    let last = one.points.last().and_then(|last| {
        Some(format!("{} of perfect on {} nodes", percent(last.efficiency.value?), last.nodes))
    });
    let title = format!("{}{arm}: {}", one.name, last.unwrap_or_else(|| "rate over nodes".to_owned()));
    let rates: Vec<Series> = std::iter::once(measured(points(|at| &at.rate)))
        .chain(first.rate.value.map(|rate| perfect(rate, true)))
        .collect();
    let shares = vec![measured(points(|at| &at.efficiency)), perfect(1.0, false)];
    vec![
        LinePlot::new(
            Caption::new(title).subtitle("rate by number of nodes; bar = 95 % interval"),
            nodes(),
            AxisSpec::new("rate", Kind::for_unit(Unit::BytesPerSec)).from_zero(),
            rates,
        )
        .render(),
        LinePlot::new(
            Caption::new(format!("Efficiency of {}{arm}", one.name)).subtitle(format!(
                "rate a node over that of {}; {}",
                model::format::count(first.nodes as usize, "node"),
                efficiency(one)
            )),
            nodes(),
            AxisSpec::new("efficiency", Kind::percent()).from_zero(),
            shares,
        )
        .render(),
    ]
}

/// Where the containers of a job ran.
fn containers(job: &JobDoc, timeline: &JobTimelineDoc) -> Markup {
    let seconds = |ms: u64| ms as f64 / 1e3;
    let mut names: Vec<&str> = timeline.containers.iter().map(|one| one.node.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let bar = |one: &Container| {
        let parts = match one.work {
            Work::Director => {
                one.to_ms.map(|to| (DIRECTS, seconds(one.from_ms), seconds(to))).into_iter().collect()
            }
            _ => one
                .stretches()
                .into_iter()
                .filter_map(|(doing, from, to)| {
                    Some((Phase::ALL.iter().position(|known| *known == doing)?, seconds(from), seconds(to)))
                })
                .collect(),
        };
        Bar { name: format!("{}, {}", one.work.word(), one.outcome.word()), parts }
    };
    let group = |node: &&str| Group {
        name: (*node).to_owned(),
        bars: timeline.containers.iter().filter(|one| one.node == **node).map(bar).collect(),
    };
    let full = job.full.map_or_else(String::new, |full| room(timeline.slots, full));
    let left_out = match timeline.left_out {
        0 => String::new(),
        more => format!("; {more} more are not listed"),
    };
    Timeline {
        caption: Caption::new(format!("{}: its containers", job.name))
            .subtitle(format!("the take of the middle length{full}{left_out}")),
        kinds: words().into_iter().enumerate().chain([(DIRECTS, "directs the job".to_owned())]).collect(),
        groups: names.iter().map(group).collect(),
        end: seconds(timeline.ms),
        markers: job_nodes::marks(timeline),
    }
    .render()
}

#[cfg(test)]
mod tests {
    use model::Params;
    use model::doc::{EstimateDoc, JobBoundDoc, NodePointDoc, NodeWorkDoc, SlowNodeDoc};
    use model::job_tasks::{NodeFault, Outcome};

    use super::*;
    use crate::plot::check;

    fn container(work: Work, node: &str, from_ms: u64, to_ms: u64) -> Container {
        let (shuffled_ms, merged_ms) = (Some(from_ms + 2_000), Some(from_ms + 3_000));
        let (node, to_ms) = (node.to_owned(), Some(to_ms));
        Container { work, node, from_ms, to_ms, shuffled_ms, merged_ms, outcome: Outcome::Succeeded }
    }

    /// A sort on two nodes, of which one dies.
    fn job() -> JobDoc {
        let killed = Container { outcome: Outcome::Killed, ..container(Work::Map, "node-2", 4_000, 12_000) };
        let containers = vec![
            container(Work::Director, "node-1", 1_000, 40_000),
            container(Work::Map, "node-1", 4_000, 14_000),
            killed,
            container(Work::Reduce, "node-1", 15_000, 25_000),
        ];
        let (kind, node) = ("kill-node".to_owned(), "node-2".to_owned());
        let fault = NodeFault { kind, node, at_ms: 9_000, lost_ms: Some(12_000), dead_ms: None };
        let timeline = JobTimelineDoc {
            ms: 40_000,
            slots: 2,
            containers,
            left_out: 3,
            fault: Some(fault),
            nodes: Vec::new(),
        };
        let work = |node: &str, map: Option<f64>, lost: Option<f64>| NodeWorkDoc {
            node: node.to_owned(),
            tasks: 2.0,
            phases: PhasesDoc { map, lost, ..PhasesDoc::default() },
            used: None,
        };
        JobDoc {
            name: "TeraSort of 1.00 GiB on 2 nodes".to_owned(),
            instrument: "hadoop-terasort".to_owned(),
            params: Params::default(),
            arm: String::new(),
            step: String::new(),
            phases: PhasesDoc { map: Some(10.0), shuffle: Some(2.0), ..PhasesDoc::default() },
            by_node: vec![work("node-1", Some(10.0), None), work("node-2", None, Some(8.0))],
            bound: JobBoundDoc {
                limit: "disk".to_owned(),
                share: Some(0.9),
                sentence: "its disk is busy 90 % of the time".to_owned(),
            },
            fault: None,
            slow: Some(SlowNodeDoc { node: "node-2".to_owned(), times: 1.5, maps: 4, others: 8 }),
            full: Some(0.25),
            timeline: Some(timeline),
        }
    }

    fn curve() -> NodeScalingDoc {
        let of = |value: f64, ends: Option<(f64, f64)>| EstimateDoc {
            value: Some(value),
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
            why: None,
        };
        NodeScalingDoc {
            name: "TeraSort of 1.00 GiB".to_owned(),
            instrument: "hadoop-terasort".to_owned(),
            params: Params::default(),
            arm: String::new(),
            points: vec![
                NodePointDoc { nodes: 1, rate: of(8e6, Some((7e6, 9e6))), efficiency: of(1.0, None) },
                NodePointDoc { nodes: 2, rate: of(12e6, None), efficiency: of(0.75, Some((0.7, 0.8))) },
            ],
        }
    }

    #[test]
    fn room_that_was_not_needed_is_told_so() {
        assert_eq!(room(8, 0.0), "; memory has room for 8 tasks at once, of which fewer ran all the time");
        assert_eq!(room(8, 0.25), "; 8 at once, as many as memory has room for, 25 % of the time");
    }

    #[test]
    fn jobs_are_drawn_by_node_over_nodes_and_over_time() {
        let text = body(&[job()], &[curve()]).into_string();
        check::balanced(&text);
        check::finite(&text);
        check::inside(&text);
        for told in [
            "TeraSort of 1.00 GiB: 75 % of perfect on 2 nodes",
            "2 nodes: 75 % of perfect (70 % to 80 %)",
            "TeraSort of 1.00 GiB on 2 nodes: a map 10.0 s; of a reduce shuffle 2.00 s; its disk is busy 90\u{a0}%",
            "tasks took 18.0 s of containers' time",
            "maps on node-2 take 1.5 times as long as elsewhere",
            "2 at once, as many as memory has room for, 25 % of the time; 3 more are not listed",
            "kill-node node-2",
            "found lost",
            "directs the job",
            "map, killed",
        ] {
            assert!(text.contains(told), "no {told:?} in {text}");
        }
        assert!(!text.contains("DataNode found dead"));
    }

    #[test]
    fn further_timelines_are_counted_and_a_run_without_jobs_has_no_section() {
        let text = body(&vec![job(); MOST_TIMELINES + 2], &[]).into_string();
        assert!(text.contains("2 more timelines are in the document"), "{text}");
        let silent = JobDoc { timeline: None, by_node: Vec::new(), slow: None, full: None, ..job() };
        assert!(!body(&[silent], &[]).into_string().contains("<svg"));
        assert!(draw(&ReportInput::default()).is_none());
    }
}
