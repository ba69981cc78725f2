//! The history server's answers about a job, as figures.
//!
//! Pure. Times are seconds, sizes bytes. What it does not say is missing: a counter that was never raised (of jobs
//! without reduces, of failures that did not happen) is not in its answer, and is 0 only where Hadoop means it so.

use serde_json::Value;

use super::rest::{at, number, text};

/// A job that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    pub id: String,
    pub state: String,
    /// Why it failed, in Hadoop's words.
    pub diagnostics: String,
    /// From its submission until it ended, and until the process that directs it began its work.
    pub seconds: Option<f64>,
    pub wait: Option<f64>,
    pub times: Option<Times>,
    pub maps: Option<f64>,
    pub reduces: Option<f64>,
    /// Means over the tasks that succeeded.
    pub map: Option<f64>,
    pub shuffle: Option<f64>,
    pub merge: Option<f64>,
    pub reduce: Option<f64>,
    /// Attempts of tasks that failed, and that were killed since another one was quicker or its node was lost.
    pub failed: Option<f64>,
    pub killed: Option<f64>,
    pub counters: Counters,
}

/// When a job was submitted and when it finished: milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub submitted: u64,
    pub finished: u64,
}

impl Times {
    /// Of the history server's job; `None` where a time is missing.
    pub fn of_job(job: &Value) -> Option<Times> {
        Some(Times { submitted: moment(job, "submitTime")?, finished: moment(job, "finishTime")? })
    }

    pub fn since(self, moment: u64) -> u64 {
        moment.saturating_sub(self.submitted)
    }
}

/// A moment; Hadoop has 0, or -1, for one that did not come.
pub fn moment(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_u64().filter(|ms| *ms > 0)
}

/// Sums over all tasks of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    pub spilled: Option<f64>,
    pub map_output: Option<f64>,
    pub shuffled: Option<f64>,
    pub gc: Option<f64>,
    pub cpu: Option<f64>,
    /// Seconds that tasks occupied their containers.
    pub occupied: Option<f64>,
    pub local: Option<f64>,
    /// Attempts of maps, and of reduces, that were started.
    pub launched: Option<f64>,
    pub launched_reduces: Option<f64>,
    pub read: Option<f64>,
    pub written: Option<f64>,
}

/// Reads `/ws/v1/history/mapreduce/jobs/JOB` and its `counters`. Fails where the first has no job.
pub fn job(answer: &Value, counters: &Value) -> Result<Job, String> {
    let job = answer.get("job").ok_or("the history server does not know the job")?;
    let ms = |key: &str| number(job, &[key]).filter(|ms| *ms >= 0.0);
    let seconds = |key: &str| ms(key).map(|ms| ms / 1e3);
    // A moment that did not come is 0; clocks of two nodes may differ.
    let moment = |key: &str| ms(key).filter(|ms| *ms > 0.0);
    let between =
        |from: &str, to: &str| Some((moment(to)? - moment(from)?) / 1e3).filter(|span| *span >= 0.0);
    let has_reduces = number(job, &["reducesTotal"]).is_some_and(|count| count > 0.0);
    let of_reduces = |key: &str| seconds(key).filter(|_| has_reduces);
    let both = |one: &str, other: &str| Some(number(job, &[one])? + number(job, &[other])?);
    let word = |key: &str| text(job, &[key]).unwrap_or_default().to_owned();
    Ok(Job {
        id: word("id"),
        state: word("state"),
        diagnostics: word("diagnostics"),
        seconds: between("submitTime", "finishTime"),
        wait: between("submitTime", "startTime"),
        times: Times::of_job(job),
        maps: number(job, &["mapsTotal"]),
        reduces: number(job, &["reducesTotal"]),
        map: seconds("avgMapTime"),
        shuffle: of_reduces("avgShuffleTime"),
        merge: of_reduces("avgMergeTime"),
        reduce: of_reduces("avgReduceTime"),
        failed: both("failedMapAttempts", "failedReduceAttempts"),
        killed: both("killedMapAttempts", "killedReduceAttempts"),
        counters: self::counters(counters),
    })
}

impl Job {
    /// Attempts of tasks beyond one for each task; `None` where the counters know of fewer attempts than tasks.
    pub fn again(&self) -> Option<f64> {
        let launched = self.counters.launched? + self.counters.launched_reduces?;
        Some(launched - self.maps? - self.reduces?).filter(|again| *again >= 0.0)
    }
}

/// Reads `/ws/v1/history/mapreduce/jobs/JOB/jobattempts`: how many processes directed the job.
pub fn directors(answer: &Value) -> Option<usize> {
    let all = at(answer, &["jobAttempts", "jobAttempt"])?.as_array()?;
    Some(all.len()).filter(|count| *count > 0)
}

fn counters(answer: &Value) -> Counters {
    let groups = at(answer, &["jobCounters", "counterGroup"]).and_then(Value::as_array);
    let of = |group: &str, name: &str| {
        let group =
            groups?.iter().find(|one| text(one, &["counterGroupName"]).is_some_and(|n| n.ends_with(group)));
        let all = group?.get("counter")?.as_array()?;
        let counter = all.iter().find(|one| text(one, &["name"]) == Some(name))?;
        number(counter, &["totalCounterValue"])
    };
    let task = |name: &str| of(".TaskCounter", name);
    let job = |name: &str| of(".JobCounter", name);
    let files = |name: &str| of(".FileSystemCounter", name);
    let launched = job("TOTAL_LAUNCHED_MAPS");
    let occupied = [job("MILLIS_MAPS"), job("MILLIS_REDUCES")];
    let occupied = occupied.iter().any(Option::is_some).then(|| occupied.iter().flatten().sum::<f64>() / 1e3);
    Counters {
        spilled: task("SPILLED_RECORDS"),
        map_output: task("MAP_OUTPUT_BYTES"),
        shuffled: task("REDUCE_SHUFFLE_BYTES"),
        gc: task("GC_TIME_MILLIS").map(|ms| ms / 1e3),
        cpu: task("CPU_MILLISECONDS").map(|ms| ms / 1e3),
        occupied,
        // Raised for each map that ran beside its data: none is none.
        local: job("DATA_LOCAL_MAPS").or(launched.map(|_| 0.0)),
        launched,
        launched_reduces: job("TOTAL_LAUNCHED_REDUCES"),
        read: files("HDFS_BYTES_READ"),
        written: files("HDFS_BYTES_WRITTEN"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = r#"{"job":{"submitTime":1000,"startTime":6000,"finishTime":41000,"id":"job_1_0001","state":"SUCCEEDED",
        "mapsTotal":4,"reducesTotal":2,"avgMapTime":13042,"avgShuffleTime":4248,"avgMergeTime":858,"avgReduceTime":1525,
        "failedMapAttempts":1,"failedReduceAttempts":0,"killedMapAttempts":0,"killedReduceAttempts":2,"diagnostics":""}}"#;
    const COUNTERS: &str = r#"{"jobCounters":{"id":"job_1_0001","counterGroup":[
        {"counterGroupName":"org.apache.hadoop.mapreduce.TaskCounter","counter":[
            {"name":"SPILLED_RECORDS","totalCounterValue":2000000,"mapCounterValue":1000000,"reduceCounterValue":1000000},
            {"name":"REDUCE_SHUFFLE_BYTES","totalCounterValue":104000048,"mapCounterValue":0,"reduceCounterValue":104000048},
            {"name":"GC_TIME_MILLIS","totalCounterValue":2667,"mapCounterValue":2000,"reduceCounterValue":667}]},
        {"counterGroupName":"org.apache.hadoop.mapreduce.JobCounter","counter":[
            {"name":"DATA_LOCAL_MAPS","totalCounterValue":3,"mapCounterValue":0,"reduceCounterValue":0},
            {"name":"TOTAL_LAUNCHED_MAPS","totalCounterValue":4,"mapCounterValue":0,"reduceCounterValue":0},
            {"name":"TOTAL_LAUNCHED_REDUCES","totalCounterValue":3,"mapCounterValue":0,"reduceCounterValue":0},
            {"name":"MILLIS_MAPS","totalCounterValue":52000,"mapCounterValue":0,"reduceCounterValue":0},
            {"name":"MILLIS_REDUCES","totalCounterValue":14000,"mapCounterValue":0,"reduceCounterValue":0}]}]}}"#;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_job_is_read() {
        let job = job(&json(JOB), &json(COUNTERS)).unwrap();
        assert_eq!((job.seconds, job.wait), (Some(40.0), Some(5.0)));
        assert_eq!((job.map, job.shuffle, job.reduce), (Some(13.042), Some(4.248), Some(1.525)));
        assert_eq!((job.failed, job.killed), (Some(1.0), Some(2.0)));
        let counters = job.counters;
        assert_eq!((counters.spilled, counters.shuffled), (Some(2e6), Some(104_000_048.0)));
        assert_eq!((counters.gc, counters.occupied), (Some(2.667), Some(66.0)));
        assert_eq!((counters.local, counters.launched), (Some(3.0), Some(4.0)));
        assert_eq!(counters.cpu, None);
        assert_eq!(job.again(), Some(1.0));
        assert_eq!(Job { maps: Some(6.0), ..job }.again(), None);
    }

    #[test]
    fn who_directed_a_job_is_counted() {
        let two =
            r#"{"jobAttempts":{"jobAttempt":[{"id":1,"nodeId":"w2:8041"},{"id":2,"nodeId":"w1:8041"}]}}"#;
        assert_eq!(directors(&json(two)), Some(2));
        assert_eq!(directors(&json(r#"{"jobAttempts":{"jobAttempt":[]}}"#)), None);
    }

    #[test]
    fn what_is_not_said_is_missing() {
        let no_reduces = JOB.replace("\"reducesTotal\":2", "\"reducesTotal\":0");
        let job = job(&json(&no_reduces), &json("{}")).unwrap();
        assert_eq!(
            (job.shuffle, job.merge, job.reduce, job.counters),
            (None, None, None, Counters::default())
        );
        let none_local = json(&COUNTERS.replace("DATA_LOCAL_MAPS", "RACK_LOCAL_MAPS"));
        assert_eq!(counters(&none_local).local, Some(0.0));
        assert!(super::job(&json("{}"), &json("{}")).is_err());
    }
}
