//! The containers of a job that has ended: the history server's answers about its tasks, one by one.
//!
//! Asked after the job, in the time of no figure: once for its tasks, and once for the attempts of each. Times are
//! whole milliseconds since its submission. An attempt whose time of end is not told (its node was lost) has none.

use model::job_tasks::{Container, JobTasks, MOST_CONTAINERS, NodeFault, Outcome, Work};
use model::node_use::NodeUse;
use serde_json::Value;

use super::cluster::Cluster;
use super::history::{Job, Times, moment};
use super::rest::{at, number, text};

/// Asks for all containers of a job, and puts what the nodes used on its axis. Fails where the history server does not
/// tell.
pub fn ask(
    cluster: &Cluster,
    (job, nodes): (&Job, &[NodeUse]),
    slots: u32,
    fault: Option<NodeFault>,
) -> Result<JobTasks, String> {
    let door = cluster.history()?;
    let path = format!("/ws/v1/history/mapreduce/jobs/{}", job.id);
    let times = job.times.ok_or("the history server does not tell when the job began")?;
    let mut containers = directors(&door.get(&format!("{path}/jobattempts"))?, times);
    let ids = ids(&door.get(&format!("{path}/tasks"))?);
    let asked = ids.len().min(MOST_CONTAINERS);
    for id in &ids[..asked] {
        containers.extend(attempts(&door.get(&format!("{path}/tasks/{id}/attempts"))?, times));
    }
    containers.sort_by_key(|one| (one.from_ms, one.node.clone()));
    let left_out = ids.len() - asked + containers.len().saturating_sub(MOST_CONTAINERS);
    containers.truncate(MOST_CONTAINERS);
    Ok(JobTasks {
        step: String::new(),
        ms: times.finished.saturating_sub(times.submitted),
        slots,
        containers,
        left_out: left_out as u64,
        fault,
        nodes: nodes.iter().map(|node| node.clone().since(times.submitted)).collect(),
    })
}

/// The tasks of `/tasks`, maps first.
fn ids(answer: &Value) -> Vec<String> {
    let all = at(answer, &["tasks", "task"]).and_then(Value::as_array);
    let of = |task: &Value| Some(text(task, &["id"])?.to_owned());
    let mut ids: Vec<String> = all.into_iter().flatten().filter_map(of).collect();
    ids.sort();
    ids
}

/// `w1` of `w1:8042`.
fn host(value: &Value) -> Option<String> {
    let address = text(value, &["nodeHttpAddress"])?;
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    (!host.is_empty()).then(|| host.to_owned())
}

/// The attempts of `/tasks/TASK/attempts` that got a container.
fn attempts(answer: &Value, times: Times) -> Vec<Container> {
    let all = at(answer, &["taskAttempts", "taskAttempt"]).and_then(Value::as_array);
    let of = |attempt: &Value| {
        let since = |key: &str| moment(attempt, key).map(|at| times.since(at));
        Some(Container {
            work: if text(attempt, &["type"])? == "REDUCE" { Work::Reduce } else { Work::Map },
            node: host(attempt)?,
            from_ms: since("startTime")?,
            to_ms: since("finishTime"),
            shuffled_ms: since("shuffleFinishTime"),
            merged_ms: since("mergeFinishTime"),
            outcome: match text(attempt, &["state"]) {
                Some("SUCCEEDED") => Outcome::Succeeded,
                Some("FAILED") => Outcome::Failed,
                Some("KILLED") => Outcome::Killed,
                _ => Outcome::Unknown,
            },
        })
    };
    all.into_iter().flatten().filter_map(of).collect()
}

/// The processes of `/jobattempts` that directed the job, one after another: each until the next one began.
fn directors(answer: &Value, times: Times) -> Vec<Container> {
    let all = at(answer, &["jobAttempts", "jobAttempt"]).and_then(Value::as_array);
    let mut all: Vec<&Value> = all.into_iter().flatten().collect();
    all.sort_by(|one, other| {
        number(one, &["id"]).unwrap_or(0.0).total_cmp(&number(other, &["id"]).unwrap_or(0.0))
    });
    let begun: Vec<Option<u64>> = all.iter().map(|one| moment(one, "startTime")).collect();
    let of = |(place, attempt): (usize, &&Value)| {
        let next = begun.get(place + 1);
        Some(Container {
            work: Work::Director,
            node: host(attempt)?,
            from_ms: times.since((*begun.get(place)?)?),
            to_ms: match next {
                Some(next) => next.map(|next| times.since(next)),
                None => Some(times.since(times.finished)),
            },
            shuffled_ms: None,
            merged_ms: None,
            outcome: if next.is_some() { Outcome::Failed } else { Outcome::Succeeded },
        })
    };
    all.iter().enumerate().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times { submitted: 1_000, finished: 41_000 };

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn attempts_are_read_with_their_phases() {
        let answer = r#"{"taskAttempts":{"taskAttempt":[
            {"startTime":20000,"finishTime":31000,"state":"SUCCEEDED","type":"REDUCE","nodeHttpAddress":"w1:8042",
             "shuffleFinishTime":26000,"mergeFinishTime":27000},
            {"startTime":9000,"finishTime":0,"state":"KILLED","type":"REDUCE","nodeHttpAddress":"w2:8042"},
            {"startTime":-1,"finishTime":9000,"state":"KILLED","type":"REDUCE","nodeHttpAddress":"w2:8042"}]}}"#;
        let all = attempts(&json(answer), TIMES);
        let [one, lost] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.work, one.node.as_str(), one.outcome), (Work::Reduce, "w1", Outcome::Succeeded));
        assert_eq!((one.from_ms, one.to_ms), (19_000, Some(30_000)));
        assert_eq!((one.shuffled_ms, one.merged_ms), (Some(25_000), Some(26_000)));
        assert_eq!((lost.outcome, lost.to_ms), (Outcome::Killed, None));
        assert_eq!(attempts(&json("{}"), TIMES), []);
    }

    #[test]
    fn a_director_works_until_the_next_one_or_the_end() {
        let two = r#"{"jobAttempts":{"jobAttempt":[
            {"id":2,"nodeHttpAddress":"w1:8042","startTime":25000},{"id":1,"nodeHttpAddress":"w2:8042","startTime":3000}]}}"#;
        let all = directors(&json(two), TIMES);
        let told: Vec<(&str, u64, Option<u64>)> =
            all.iter().map(|one| (one.node.as_str(), one.from_ms, one.to_ms)).collect();
        assert_eq!(told, [("w2", 2_000, Some(24_000)), ("w1", 24_000, Some(40_000))]);
        assert_eq!(all[0].outcome, Outcome::Failed);
    }

    #[test]
    fn tasks_are_asked_for_maps_first() {
        let answer = r#"{"tasks":{"task":[{"id":"task_1_0002_r_000000"},{"id":"task_1_0002_m_000001"}]}}"#;
        assert_eq!(ids(&json(answer)), ["task_1_0002_m_000001", "task_1_0002_r_000000"]);
        assert_eq!(Times::of_job(&json(r#"{"submitTime":1000,"finishTime":41000}"#)), Some(TIMES));
        assert_eq!(Times::of_job(&json(r#"{"submitTime":1000,"finishTime":0}"#)), None);
    }
}
