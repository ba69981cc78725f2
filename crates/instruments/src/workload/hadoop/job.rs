//! A job on a cluster: a client of Hadoop's own programs, what it says, and what the history server knows of the job.
//!
//! Time runs from the start of the client's JVM until it has ended: what a user waits for. The history server's own
//! times are by the clock of the node that directs the job.

use std::time::Duration;

use model::node_use::NodeUse;
use serde_json::Value;
use sys::process::Start;

use super::cluster::{Cluster, JobError};
use super::fault::{self, NodeState};
use super::history::{self, Job};
use super::machine_use::{Counters, MachineUse};
use super::programs::cause;
use super::rest::{Door, at};
use crate::progress;
use crate::workload::server::run::up_within;
use crate::workload::shell::{self, Ended};

/// How long the history server may take to learn of a job that has ended.
const KNOWN: Duration = Duration::from_secs(60);
/// How long its containers may take to go, in the time of no figure.
const GONE: Duration = Duration::from_secs(120);
const GONE_OF_THEIRS: Duration = Duration::from_secs(15);
/// Settings by which a job runs in the client alone, within its heap, without the cluster's containers.
pub const IN_CLIENT: [&str; 2] = ["-Dmapreduce.framework.name=local", "-Dmapreduce.task.io.sort.mb=16"];

/// A job, as a command line of Hadoop's.
#[derive(Clone, Debug, Default)]
pub struct Order {
    pub class: &'static str,
    /// The program of a class that has several.
    pub program: Option<&'static str>,
    /// `-Dkey=value`, which go before the program's own arguments.
    pub settings: Vec<String>,
    pub arguments: Vec<String>,
    pub timeout: Duration,
}

/// A client that has ended well.
#[derive(Debug)]
pub struct Done {
    pub seconds: f64,
    /// When it had ended, by the clock of times between.
    pub ended_ns: u64,
    pub output: String,
    /// Its log, which names the job.
    pub log: String,
    pub machine: MachineUse,
    /// The use of each node, of a job in containers on several nodes; times are milliseconds since 1970.
    pub nodes: Vec<NodeUse>,
}

/// Runs a client on the cluster's master. Fails where it does, with the cause in Hadoop's words.
pub fn run(cluster: &Cluster, order: &Order) -> Result<Done, JobError> {
    let site = &cluster.site;
    let mut command = match &cluster.theirs {
        None => site.java(site.network.master(), cluster.sizes.heaps.client),
        Some(theirs) => theirs.client(site),
    };
    command.arg("-Dhadoop.root.logger=INFO,console").arg(order.class).args(order.program);
    command.args(&order.settings).args(&order.arguments);
    let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
    let before = Counters::read(&cpus);
    let ended = shell::run_command(command, Start::default(), &cpus, order.timeout)?;
    let ended_ns = sys::clock::now_ns();
    let machine = match &cluster.theirs {
        None => Counters::read(&cpus).since(&before),
        // Its tasks run elsewhere.
        Some(_) => MachineUse::default(),
    };
    let called = order.program.unwrap_or(order.class.rsplit('.').next().unwrap_or(order.class));
    if ended.timed_out {
        let seconds = order.timeout.as_secs();
        return Err(JobError::Stuck(format!(
            "{called} did not end within {seconds} s: --set timeout= gives more"
        )));
    }
    if !ended.exit.status.success() {
        return Err(JobError::Failed(format!("{called} failed: {}", failure(&ended))));
    }
    Ok(Done {
        seconds: ended.wall_ns as f64 / 1e9,
        ended_ns,
        output: ended.stdout.text(),
        log: ended.stderr.text(),
        machine,
        nodes: Vec::new(),
    })
}

/// Runs a job in containers on a cluster that is at rest, and asks the history server for its figures.
pub fn run_known(cluster: &Cluster, order: &Order) -> Result<(Done, Job), JobError> {
    rest(cluster)?;
    let (done, nodes, machine) = cluster.during(|| run(cluster, order));
    let done = done?;
    let done = Done { nodes, machine: machine.unwrap_or(done.machine), ..done };
    let id = job_id(&done.log).ok_or_else(|| "the client named no job".to_owned())?;
    let job = match cluster.history() {
        Ok(door) => known(door, &id)?,
        // That this is missing is told with the cluster.
        Err(_) => return Ok((done, Job { id, ..Job::default() })),
    };
    if job.state != "SUCCEEDED" {
        return Err(JobError::Failed(format!("{id} is {}: {}", job.state, job.diagnostics)));
    }
    Ok((done, job))
}

/// The figures of a job that has ended, once the history server has them.
fn known(door: Door<'_>, id: &str) -> Result<Job, String> {
    let path = format!("/ws/v1/history/mapreduce/jobs/{id}");
    let mut found = Err("it was never asked".to_owned());
    up_within(KNOWN, || {
        found = door.get(&path).and_then(|job| history::job(&job, &door.get(&format!("{path}/counters"))?));
        found.is_ok()
    });
    progress::current().check()?;
    found.map_err(|why| {
        format!("the history server does not tell of {id} within {} s: {why}", KNOWN.as_secs())
    })
}

/// Waits until nothing is left of what ran before, which has ended, but the process that directed it: that one waits
/// 5 s, at work on nothing, before it lets go of its container. The nodes are asked one by one: the cluster's own count
/// of containers may stay above 0 when all of them have gone. On a cluster of the user's others may be at work for
/// ever: there it is waited for a moment.
/// Fails where it goes on: such a cluster is not used again.
pub fn rest(cluster: &Cluster) -> Result<(), JobError> {
    let mut left = Err("it was never asked".to_owned());
    let limit = if cluster.theirs.is_some() { GONE_OF_THEIRS } else { GONE };
    up_within(limit, || {
        left = at_work(cluster);
        left.is_ok()
    });
    progress::current().check()?;
    if cluster.theirs.is_some() {
        return Ok(());
    }
    left.map_err(|why| {
        JobError::Stuck(format!(
            "containers of a job that has ended are left after {} s: {why}",
            GONE.as_secs()
        ))
    })
}

/// Fails, with the nodes that have containers, unless there are none, or that of the director of a job that has ended.
fn at_work(cluster: &Cluster) -> Result<(), String> {
    let nodes = fault::nodes_of(cluster)?;
    let busy = busy(&nodes);
    let containers: f64 = nodes.iter().filter(|node| node.is_running).map(|node| node.containers).sum();
    match busy.is_empty() || (containers <= 1.0 && !has_jobs(&cluster.resource_manager().get(UNENDED)?)) {
        true => Ok(()),
        false => Err(busy.join(", ")),
    }
}

/// Asks for the jobs that have not ended.
const UNENDED: &str = "/ws/v1/cluster/apps?states=NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING";

/// True where the answer to [`UNENDED`] names a job; `null` and an empty object stand for none.
fn has_jobs(answer: &Value) -> bool {
    let list = at(answer, &["apps", "app"]).and_then(Value::as_array);
    list.is_some_and(|jobs| !jobs.is_empty())
}

/// The nodes that have containers, with their number: `node2 has 1`. What a lost node had is gone with it.
fn busy(nodes: &[NodeState]) -> Vec<String> {
    let busy = nodes.iter().filter(|node| node.is_running && node.containers > 0.0);
    busy.map(|node| format!("{} has {}", node.name, node.containers)).collect()
}

/// The number of the job that a client runs, by its log.
fn job_id(log: &str) -> Option<String> {
    let after = log.lines().find_map(|line| line.split_once("Running job: "))?.1;
    let id = after.split_whitespace().next()?;
    id.starts_with("job_").then(|| id.to_owned())
}

/// Why a client failed: what its job says of itself, else the innermost exception of its log, else its last words.
fn failure(ended: &Ended) -> String {
    let log = ended.stderr.text();
    cause(&log).unwrap_or_else(|| {
        let words = ended.stderr.last_lines(2);
        let words = if words.is_empty() { ended.stdout.last_lines(2) } else { words };
        format!("{}; its last words: {words}", ended.exit.status)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_of_a_client_is_found_in_its_log() {
        let log = "1 INFO impl.YarnClientImpl: Submitted application application_17_0003\n\
                   1 INFO mapreduce.Job: Running job: job_17_0003\n1 INFO mapreduce.Job:  map 0% reduce 0%\n";
        assert_eq!(job_id(log).as_deref(), Some("job_17_0003"));
        assert_eq!((job_id("Running job: x"), job_id("")), (None, None));
    }

    #[test]
    fn jobs_that_have_not_ended_are_seen() {
        let seen = |text: &str| has_jobs(&serde_json::from_str(text).unwrap());
        assert!(seen(r#"{"apps":{"app":[{"id":"application_1_0001","state":"RUNNING"}]}}"#));
        assert!(!seen(r#"{"apps":null}"#) && !seen(r#"{"apps":{}}"#) && !seen("{}"));
    }

    #[test]
    fn nodes_with_containers_are_named() {
        let node =
            |name: &str, is_running, containers| NodeState { name: name.to_owned(), is_running, containers };
        assert_eq!(busy(&[node("a", true, 0.0), node("b", true, 2.0), node("c", false, 1.0)]), ["b has 2"]);
        assert!(busy(&[node("a", true, 0.0)]).is_empty());
    }
}
