//! A node that fails in the midst of a job: what befalls it and when, how soon the cluster finds out, what it costs.
//! It is a node in a namespace, or a host of a lab, whose link is left alone: boxscore would be cut off with it.
//!
//! The ResourceManager and the NameNode are asked four times a second while the job runs, of an undisturbed job of such
//! a run as well, so that both carry the cost of the questions. A time of detection is late by up to a quarter of a
//! second, and by the time of the answers; on a lab also by the way of the order to the node, which the moment of the
//! fault stands before. Seconds by boxscore's clock.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use model::Unfit;
use model::job_tasks::NodeFault;
use serde_json::Value;

use super::cluster::{Cluster, JobError};
use super::history::{self, Job};
use super::job::{self, Done, Order};
use super::rest::{HDFS_STATE, at, number, text};

/// No fault, but questions all the same.
pub const NONE: &str = "none";
pub const KINDS: &[&str] = &[Kind::KillNode.word(), Kind::KillDirector.word(), Kind::LinkDown.word()];
/// Between two rounds of questions.
const PAUSE: Duration = Duration::from_millis(250);
/// How long after a fault its detection is waited for.
const DETECTED_NS: u64 = 60_000_000_000;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The DataNode, the NodeManager and the containers of a node that does not direct the job are killed.
    KillNode,
    /// Those of the node that directs it.
    KillDirector,
    /// The link of a node that does not direct it is taken down.
    LinkDown,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::KillNode, Kind::KillDirector, Kind::LinkDown];

    pub const fn word(self) -> &'static str {
        match self {
            Kind::KillNode => "kill-node",
            Kind::KillDirector => "kill-am",
            Kind::LinkDown => "link-down",
        }
    }
}

/// A fault in the midst of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Once the job's progress has come to so many percent.
    At(Kind, u32),
}

/// Reads a canonical value of the parameter; `None` where no fault is asked for.
pub fn parse(value: &str) -> Option<Fault> {
    if value == NONE {
        return Some(Fault::None);
    }
    let (kind, percent) = value.strip_suffix('%')?.split_once('@')?;
    let kind = Kind::ALL.into_iter().find(|known| known.word() == kind)?;
    Some(Fault::At(kind, percent.parse().ok()?))
}

impl Fault {
    /// Fails where a cluster cannot do without a node.
    pub fn fits(self, nodes: u32, replication: u32) -> Result<(), Unfit> {
        if nodes < 2 {
            return Err(Unfit::new(
                "fault: a cluster that is to lose a node needs another one: --nodes 2 or more",
            ));
        }
        match self {
            Fault::At(..) if replication < 2 => Err(Unfit::new(
                "fault: with one copy of each block a lost node takes data with it: --replication 2 or more",
            )),
            _ => Ok(()),
        }
    }
}

/// A fault that happened.
#[derive(Clone, Debug)]
pub struct Seen {
    kind: Kind,
    pub node: String,
    /// The node that directed the job until then.
    director: String,
    /// Percent of the job.
    progress: f64,
    at_ns: u64,
    /// When it was done.
    done_ns: u64,
    /// The first moment by the clock of days, in milliseconds since 1970.
    wall_ms: u64,
    lost_ns: Option<u64>,
    dead_ns: Option<u64>,
}

/// The figures of a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    pub lost: f64,
    pub dead: f64,
    pub after: f64,
    pub told: String,
}

/// A job that was watched.
#[derive(Debug)]
pub struct Watched {
    pub done: Done,
    pub job: Job,
    pub directors: Option<usize>,
    /// The fault, with the node that the cluster is without.
    pub seen: Option<Seen>,
}

/// Runs a job, and does to a node what is asked. A cluster that lost a node and did not end the job well is not used
/// again.
pub fn run(cluster: &mut Cluster, fault: Fault, order: &Order) -> Result<Watched, JobError> {
    let within = &*cluster;
    let (done, watch) = std::thread::scope(|scope| {
        let (tell, ends) = channel();
        let watcher = scope.spawn(move || watch(within, fault, &ends));
        let done = job::run_known(within, order);
        // A watch that gave up does not listen any more.
        let _heard = tell.send(done.is_ok());
        let watch = watcher.join().unwrap_or_else(|_| Watch {
            failed: Some("the watch over the job ended".to_owned()),
            ..Watch::default()
        });
        (done, watch)
    });
    let seen = watch.seen;
    if let Some(seen) = &seen {
        cluster.give_up(&seen.node);
    }
    let (done, job) = match (done, &seen) {
        (Ok(done), _) => done,
        (Err(JobError::Failed(why)), Some(seen)) => return Err(seen.broken(&why)),
        // A node may be half dead.
        (Err(JobError::Failed(why)), None) if watch.is_struck => return Err(JobError::Stuck(why)),
        (Err(error), _) => return Err(error),
    };
    match (fault, &seen, watch.failed) {
        (_, Some(seen), Some(why)) if !seen.is_found() => return Err(seen.broken(&why)),
        (_, None, Some(why)) if watch.is_struck => return Err(JobError::Stuck(why)),
        (Fault::At(..), None, why) => {
            let why = why.map_or_else(String::new, |why| format!(" (the last question: {why})"));
            return Err(JobError::Failed(format!(
                "the job ended before it was seen at that part of its work, with progress {}{why}: more --data makes it \
                 longer",
                watch.progress.map_or_else(|| "unknown".to_owned(), |percent| format!("{percent:.0} %")),
            )));
        }
        _ => {}
    }
    let path = format!("/ws/v1/history/mapreduce/jobs/{}/jobattempts", job.id);
    let attempts = cluster.history().and_then(|door| door.get(&path));
    let directors = match (attempts, &seen) {
        (Ok(attempts), _) => history::directors(&attempts),
        (Err(why), Some(seen)) => return Err(seen.broken(&why)),
        (Err(why), None) => return Err(JobError::Failed(why)),
    };
    Ok(Watched { done, job, directors, seen })
}

impl Seen {
    /// Both of those who watch over nodes know of it.
    fn is_found(&self) -> bool {
        self.lost_ns.is_some() && self.dead_ns.is_some()
    }

    /// An error of a cluster without this node.
    pub fn broken(&self, why: &str) -> JobError {
        JobError::Stuck(format!("without {}: {why}", self.node))
    }

    /// It on the axis of a job that was submitted at this millisecond since 1970.
    pub fn marked(&self, submitted: u64) -> NodeFault {
        let at_ms = self.wall_ms.saturating_sub(submitted);
        let later = |ns: u64| at_ms + ns.saturating_sub(self.at_ns) / 1_000_000;
        NodeFault {
            kind: self.kind.word().to_owned(),
            node: self.node.clone(),
            at_ms,
            lost_ms: self.lost_ns.map(later),
            dead_ms: self.dead_ns.map(later),
        }
    }

    /// Its figures, where the job ended at this moment. Fails where the fault was not found.
    pub fn figures(&self, ended_ns: u64) -> Result<Figures, JobError> {
        if ended_ns <= self.done_ns {
            return Err(self.broken("the job had ended when the fault came: more --data makes it longer"));
        }
        let since = |ns: u64| ns.saturating_sub(self.at_ns) as f64 / 1e9;
        let found = |who: &str, ns: Option<u64>| {
            let late = || {
                self.broken(&format!("the {who} does not find that within {} s", DETECTED_NS / 1_000_000_000))
            };
            ns.map(since).ok_or_else(late)
        };
        Ok(Figures {
            lost: found("ResourceManager", self.lost_ns)?,
            dead: found("NameNode", self.dead_ns)?,
            after: since(ended_ns),
            told: format!(
                "{} of {} at {:.0} % of the job, which {} directed",
                self.kind.word(),
                self.node,
                self.progress,
                self.director
            ),
        })
    }
}

/// The outcome of a watch over a job.
#[derive(Debug, Default)]
struct Watch {
    seen: Option<Seen>,
    /// The last progress that was heard of.
    progress: Option<f64>,
    failed: Option<String>,
    /// A request to a node failed midway.
    is_struck: bool,
}

/// Asks until the job has ended, and a fault is found.
fn watch(cluster: &Cluster, fault: Fault, ends: &Receiver<bool>) -> Watch {
    let mut watch = Watch::default();
    let mut ended = None;
    loop {
        let answers = Answers::ask(cluster);
        let now_ns = sys::clock::now_ns();
        match (answers, &mut watch.seen) {
            (Err(why), _) => watch.failed = Some(why),
            (Ok(answers), Some(seen)) => {
                watch.failed = None;
                let lost = is_lost(&answers.nodes, &seen.node).then_some(now_ns);
                let dead = answers.dead.is_some_and(|dead| dead > 0.0).then_some(now_ns);
                (seen.lost_ns, seen.dead_ns) = (seen.lost_ns.or(lost), seen.dead_ns.or(dead));
            }
            // Of a job that has ended nothing is to be seen any more.
            (Ok(_), None) if ended.is_some() => {}
            (Ok(answers), None) => {
                watch.progress = answers.running.as_ref().map(|job| job.progress).or(watch.progress);
                match strike(cluster, fault, &answers) {
                    Ok(seen) => (watch.seen, watch.failed) = (seen, None),
                    Err(why) => return Watch { failed: Some(why), is_struck: true, ..watch },
                }
            }
        }
        let is_found = watch.seen.as_ref().is_none_or(|seen| {
            let late = now_ns.saturating_sub(seen.at_ns) > DETECTED_NS;
            late || seen.is_found()
        });
        match ended {
            Some(true) if is_found => return watch,
            Some(false) => return watch,
            _ => {}
        }
        match ends.recv_timeout(PAUSE) {
            Ok(is_well) => ended = Some(is_well),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return watch,
        }
    }
}

/// Does to a node what is asked, when it is time.
fn strike(cluster: &Cluster, fault: Fault, answers: &Answers) -> Result<Option<Seen>, String> {
    let (Fault::At(kind, percent), Some(running)) = (fault, &answers.running) else { return Ok(None) };
    if running.progress < f64::from(percent) {
        return Ok(None);
    }
    let Some(node) = victim(kind, &running.director, &answers.nodes) else { return Ok(None) };
    let (at_ns, wall_ms) = (sys::clock::now_ns(), sys::clock::wall_ns() / 1_000_000);
    match kind {
        Kind::KillNode | Kind::KillDirector => cluster.kill(&node)?,
        Kind::LinkDown => cluster.site.network.set_link(&node, false)?,
    }
    Ok(Some(Seen {
        kind,
        node,
        director: running.director.clone(),
        progress: running.progress,
        at_ns,
        done_ns: sys::clock::now_ns(),
        wall_ms,
        lost_ns: None,
        dead_ns: None,
    }))
}

/// A round of answers.
#[derive(Clone, Debug)]
struct Answers {
    running: Option<Running>,
    nodes: Vec<NodeState>,
    /// DataNodes that the NameNode counts as dead.
    dead: Option<f64>,
}

/// A job at work.
#[derive(Clone, Debug, PartialEq)]
struct Running {
    /// Percent.
    progress: f64,
    director: String,
}

/// A node, as the ResourceManager has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeState {
    pub(super) name: String,
    pub(super) is_running: bool,
    pub(super) containers: f64,
}

impl Answers {
    fn ask(cluster: &Cluster) -> Result<Answers, String> {
        let manager = cluster.resource_manager();
        Ok(Answers {
            running: running(&manager.get("/ws/v1/cluster/apps?states=RUNNING")?),
            nodes: nodes_of(cluster)?,
            dead: dead(&cluster.name_node().get(HDFS_STATE)?),
        })
    }
}

/// The job of `/ws/v1/cluster/apps?states=RUNNING`, once a node directs it.
fn running(answer: &Value) -> Option<Running> {
    let app = at(answer, &["apps", "app"])?.as_array()?.first()?;
    let director = text(app, &["amHostHttpAddress"])?.split(':').next()?;
    let progress = number(app, &["progress"])?;
    (!director.is_empty()).then(|| Running { progress, director: director.to_owned() })
}

/// The nodes of a cluster. Fails where the ResourceManager does not tell.
pub(super) fn nodes_of(cluster: &Cluster) -> Result<Vec<NodeState>, String> {
    let answer = cluster.resource_manager().get("/ws/v1/cluster/nodes")?;
    nodes(&answer).ok_or_else(|| "the ResourceManager tells of no nodes".to_owned())
}

/// The nodes of `/ws/v1/cluster/nodes`.
fn nodes(answer: &Value) -> Option<Vec<NodeState>> {
    let all = at(answer, &["nodes", "node"])?.as_array()?;
    let one = |node: &Value| {
        Some(NodeState {
            name: text(node, &["id"])?.split(':').next()?.to_owned(),
            is_running: text(node, &["state"])? == "RUNNING",
            containers: number(node, &["numContainers"])?,
        })
    };
    all.iter().map(one).collect()
}

/// DataNodes that are dead, in [`HDFS_STATE`]'s answer.
pub fn dead(answer: &Value) -> Option<f64> {
    number(answer.get("beans")?.get(0)?, &["NumDeadDataNodes"])
}

fn is_lost(nodes: &[NodeState], name: &str) -> bool {
    !nodes.iter().any(|node| node.name == name && node.is_running)
}

/// The node that a fault befalls: the one that directs the job, or of the others the one with the most containers.
fn victim(kind: Kind, director: &str, nodes: &[NodeState]) -> Option<String> {
    let is_meant = |node: &&NodeState| (node.name == director) == (kind == Kind::KillDirector);
    let meant = nodes.iter().filter(|node| node.is_running).filter(is_meant);
    meant.max_by(|one, other| one.containers.total_cmp(&other.containers)).map(|node| node.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn values_of_the_parameter_are_read() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("none"), Some(Fault::None));
        for (kind, is) in KINDS.iter().zip(Kind::ALL) {
            assert_eq!(parse(&format!("{kind}@35%")), Some(Fault::At(is, 35)));
        }
        assert_eq!(parse("kill-rack@35%"), None);
    }

    #[test]
    fn a_job_at_work_is_read() {
        let app = r#"{"apps":{"app":[{"id":"application_1_0002","state":"RUNNING","progress":41.5,
            "amHostHttpAddress":"w2:8042"}]}}"#;
        assert_eq!(running(&json(app)), Some(Running { progress: 41.5, director: "w2".to_owned() }));
        for none in [r#"{"apps":null}"#, r#"{"apps":{}}"#, r#"{"apps":{"app":[{"progress":0.0}]}}"#] {
            assert_eq!(running(&json(none)), None, "{none}");
        }
    }

    #[test]
    fn the_node_that_fails_is_chosen_by_its_work() {
        let all = r#"{"nodes":{"node":[
            {"id":"w1:8041","state":"RUNNING","numContainers":1},{"id":"w2:8041","state":"RUNNING","numContainers":3},
            {"id":"w3:8041","state":"RUNNING","numContainers":2},{"id":"w4:8041","state":"LOST","numContainers":9}]}}"#;
        let all = nodes(&json(all)).unwrap();
        assert_eq!(victim(Kind::KillNode, "w2", &all).as_deref(), Some("w3"));
        assert_eq!(victim(Kind::LinkDown, "w1", &all).as_deref(), Some("w2"));
        assert_eq!(victim(Kind::KillDirector, "w1", &all).as_deref(), Some("w1"));
        assert_eq!(victim(Kind::KillDirector, "w4", &all), None);
        assert_eq!([is_lost(&all, "w1"), is_lost(&all, "w4"), is_lost(&all, "w5")], [false, true, true]);
        assert_eq!(nodes(&json("{}")), None);
    }

    #[test]
    fn dead_nodes_are_counted_by_the_name_node() {
        assert_eq!(dead(&json(r#"{"beans":[{"NumDeadDataNodes":1}]}"#)), Some(1.0));
        assert_eq!(dead(&json(r#"{"beans":[]}"#)), None);
    }

    #[test]
    fn times_are_counted_from_the_fault() {
        let seen = Seen {
            kind: Kind::KillNode,
            node: "w3".to_owned(),
            director: "w1".to_owned(),
            progress: 41.5,
            at_ns: 2_000_000_000,
            done_ns: 2_500_000_000,
            wall_ms: 45_000,
            lost_ns: Some(12_500_000_000),
            dead_ns: Some(16_000_000_000),
        };
        let figures = seen.figures(32_000_000_000).unwrap();
        assert_eq!((figures.lost, figures.dead, figures.after), (10.5, 14.0, 30.0));
        assert_eq!(figures.told, "kill-node of w3 at 42 % of the job, which w1 directed");
        let marked = seen.marked(40_000);
        assert_eq!(marked.kind, "kill-node");
        assert_eq!((marked.at_ms, marked.lost_ms, marked.dead_ms), (5_000, Some(15_500), Some(19_000)));
        let JobError::Stuck(why) =
            (Seen { dead_ns: None, ..seen.clone() }).figures(32_000_000_000).unwrap_err()
        else {
            panic!()
        };
        assert!(why.contains("the NameNode does not find"), "{why}");
        let JobError::Stuck(why) = seen.figures(2_500_000_000).unwrap_err() else { panic!() };
        assert!(why.contains("had ended when the fault came"), "{why}");
    }
}
