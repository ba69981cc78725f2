//! The use of the nodes of a cluster while a job ran: CPU time split by node, and CPU, disk and network of all nodes
//! over time, on one axis each.

use maud::Markup;
use model::doc::{JobDoc, JobTimelineDoc, NodeUsedDoc};
use model::format::{Kind, quantity};
use model::node_use::Stretch;
use model::plan::MEMBERS;
use model::unit::Unit;

use crate::plot::line::{Marker, Point, Series};
use crate::plot::stack::StackRow;
use crate::plot::{Caption, LinePlot, Size, Stack};
use crate::scale::AxisSpec;

/// A quantity of a stretch; `None` where it is not known.
type Of = fn(&Stretch) -> Option<u64>;

/// True of nodes that are hosts of a lab, and counted as such.
fn is_on_hosts(job: &JobDoc) -> bool {
    job.params.get(MEMBERS).is_some_and(|members| !members.is_empty())
}

/// How the CPU time of each node's processes divides; `None` where it is not known.
pub fn split(job: &JobDoc) -> Option<Markup> {
    let used: Vec<(&str, NodeUsedDoc)> =
        job.by_node.iter().filter_map(|node| Some((node.node.as_str(), node.used?))).collect();
    let sum = |one: &NodeUsedDoc| Some(one.user? + one.system?);
    let most = used.iter().filter_map(|(_, one)| sum(one)).fold(0.0, f64::max);
    let row = |(node, one): &(&str, NodeUsedDoc)| StackRow {
        name: (*node).to_owned(),
        parts: [one.user, one.system].map(|seconds| seconds.map(|seconds| seconds / most)).to_vec(),
    };
    let time = |seconds: f64| quantity(seconds, Kind::for_unit(Unit::Second));
    let all: f64 = used.iter().filter_map(|(_, one)| sum(one)).sum();
    let plot = || Stack {
        caption: Caption::new(format!("{}: its nodes used {} of CPU time", job.name, time(all))).subtitle(
            format!(
                "{}; 100 % is {}",
                match is_on_hosts(job) {
                    true => "all that ran on each host",
                    false => "processes of each node, those that ended too where their parent waited",
                },
                time(most)
            ),
        ),
        parts: vec!["user".to_owned(), "system".to_owned()],
        rows: used.iter().map(row).collect(),
        size: Size::Cell,
    };
    (most > 0.0).then(|| plot().render())
}

/// Cores, disk and network of all nodes over the time of a job.
pub fn over_time(job: &JobDoc, timeline: &JobTimelineDoc) -> Vec<Markup> {
    if timeline.nodes.iter().all(|node| node.stretches.is_empty()) {
        return Vec::new();
    }
    let bytes = Kind::for_unit(Unit::BytesPerSec);
    let (of_cpus, of_disk, of_network) = match is_on_hosts(job) {
        true => (
            "CPU time of all that ran on each host, user and system",
            "bytes over all disks of each host, both ways",
            "bytes over all interfaces of each host but the loopback, both ways",
        ),
        false => (
            "CPU time of each node's processes, user and system",
            "bytes that they read from disk and gave to be written; what the page cache answered is not in it",
            "bytes over each node's link, both ways",
        ),
    };
    let all: [(&str, &str, Kind, f64, [Of; 2]); 3] = [
        ("cores busy", of_cpus, Kind::for_unit(Unit::Count), 1.0, [|one| one.user_ms, |one| one.system_ms]),
        ("disk", of_disk, bytes, 1e3, [|one| one.read, |one| one.written]),
        ("network", of_network, bytes, 1e3, [|one| one.received, |one| one.sent]),
    ];
    all.into_iter()
        .map(|(what, said, kind, scale, of)| plot(job, timeline, (what, said), kind, (scale, of)))
        .collect()
}

fn plot(
    job: &JobDoc,
    timeline: &JobTimelineDoc,
    (what, said): (&str, &str),
    kind: Kind,
    (scale, [one, other]): (f64, [Of; 2]),
) -> Markup {
    let rate = |stretch: &Stretch| {
        let ms = stretch.to_ms.checked_sub(stretch.from_ms).filter(|ms| *ms > 0)?;
        Some((one(stretch)? + other(stretch)?) as f64 * scale / ms as f64)
    };
    let point = |stretch: &Stretch| {
        let middle = (stretch.from_ms + stretch.to_ms) as f64 / 2e3;
        rate(stretch).map_or_else(|| Point::gap(middle), |rate| Point::at(middle, rate))
    };
    let series = timeline.nodes.iter().map(|node| Series {
        name: node.node.clone(),
        points: node.stretches.iter().map(point).collect(),
        reference: false,
    });
    let time =
        AxisSpec::new("time since the job was submitted", Kind::for_unit(Unit::Second)).from_zero().tight();
    let caption = Caption::new(format!("{}: {what} on each node", job.name))
        .subtitle(format!("the take of the middle length; {said}"));
    let plot = LinePlot::new(caption, time, AxisSpec::new(what, kind).from_zero(), series.collect());
    LinePlot { markers: marks(timeline), size: Size::Wide, ..plot }.render()
}

/// The fault, and when it was found.
pub fn marks(timeline: &JobTimelineDoc) -> Vec<Marker> {
    let mark = |at: u64, label: String| Marker { at: at as f64 / 1e3, label, upright: true };
    let of = |fault: &model::job_tasks::NodeFault| {
        let lost = fault.lost_ms.map(|at| mark(at, "found lost".to_owned()));
        let dead = fault.dead_ms.map(|at| mark(at, "DataNode found dead".to_owned()));
        [Some(mark(fault.at_ms, format!("{} {}", fault.kind, fault.node))), lost, dead].into_iter().flatten()
    };
    timeline.fault.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use model::doc::NodeWorkDoc;
    use model::job_tasks::NodeFault;
    use model::node_use::NodeUse;

    use super::*;
    use crate::plot::check;

    fn node(name: &str) -> NodeUse {
        let stretch = |at: u64| Stretch {
            from_ms: at,
            to_ms: at + 1_000,
            user_ms: Some(600),
            system_ms: Some(150),
            read: Some(1 << 20),
            written: Some(1 << 21),
            received: (at > 0).then_some(5_000_000),
            sent: Some(1_000_000),
        };
        NodeUse { node: name.to_owned(), stretches: [0, 1_000, 2_000].map(stretch).to_vec() }
    }

    fn work(node: &str, user: Option<f64>) -> NodeWorkDoc {
        NodeWorkDoc {
            node: node.to_owned(),
            used: Some(NodeUsedDoc { user, system: Some(1.0), ..NodeUsedDoc::default() }),
            ..NodeWorkDoc::default()
        }
    }

    #[test]
    fn nodes_are_drawn_on_one_axis_with_the_fault_marked() {
        let fault = NodeFault {
            kind: "kill-am".to_owned(),
            node: "w2".to_owned(),
            at_ms: 1_500,
            lost_ms: Some(2_500),
            dead_ms: None,
        };
        let timeline = JobTimelineDoc {
            ms: 3_000,
            nodes: vec![node("w1"), node("w2")],
            fault: Some(fault),
            ..JobTimelineDoc::default()
        };
        let job = JobDoc { name: "TeraSort on 2 nodes".to_owned(), ..JobDoc::default() };
        let plots = over_time(&job, &timeline);
        assert_eq!(plots.len(), 3);
        for plot in plots {
            let text = plot.into_string();
            check::balanced(&text);
            check::finite(&text);
            check::inside(&text);
            assert!(
                text.contains("w1") && text.contains("kill-am w2") && text.contains("found lost"),
                "{text}"
            );
        }
        assert!(over_time(&job, &JobTimelineDoc::default()).is_empty());
    }

    #[test]
    fn cpu_time_is_split_by_node_where_it_is_known() {
        let by_node = vec![work("w1", Some(3.0)), work("w2", None)];
        let job = JobDoc { name: "TeraSort on 2 nodes".to_owned(), by_node, ..JobDoc::default() };
        let text = split(&job).unwrap().into_string();
        check::balanced(&text);
        assert!(text.contains("its nodes used 4.00 s of CPU time") && text.contains("user"), "{text}");
        assert!(split(&JobDoc::default()).is_none());
    }
}
