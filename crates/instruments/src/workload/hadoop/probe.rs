//! Jobs as takes: a cluster that is shared, data that is there before the first take, one job after another.
//!
//! A take is a job (of TestDFSIO two). What is done around it is in no figure: folders in HDFS are removed, TeraSort's
//! output is proved by TeraValidate in a process of its own, and its checksum compared with that of the input.

use std::sync::Arc;

use model::job_tasks::{JobTasks, NodeFault};
use model::metrics::hadoop::{
    AFTER_FAULT, AGAIN, BUSY, CORES, DATA_NODE_DEAD, DIRECTORS, DISK, FAILED, FILE_RATE, GC, JOB, KILLED,
    LINK, LOCAL, MAP, MERGE, NODE_LOST, RATE, REDUCE, SHUFFLE, SHUFFLED, SLOTS, SPILLED, STOLEN, TASKS, WAIT,
    WALL,
};
use model::{
    Bytes, BytesPerSec, Count, Fault, MetricInfo, NoteBody, Params, Probe, Ratio, Record, RecordExt, Seconds,
    Setup, Unfit,
};

use super::cluster::{self, Cluster, Hosted, JobError, Key, Made};
use super::containers;
use super::fault;
use super::history::Job;
use super::job::{self, Done, IN_CLIENT, Order};
use super::lab::Lab;
use super::liveness;
use super::network;
use super::params::{Ask, ROW};
use super::programs::{CHECKSUM, DFSIO, EXAMPLES};
use super::results::Results;
use super::setting_up::{tell, tell_others};
use super::sizing::{self, Cut, Facts};
use crate::bench::kernel::int_param;
use crate::progress;
use crate::workload::guard;

/// The metrics of every job.
pub const OF_ALL: [MetricInfo; 13] = [
    WALL.info(),
    JOB.info(),
    WAIT.info(),
    MAP.info(),
    CORES.info(),
    TASKS.info(),
    SLOTS.info(),
    BUSY.info(),
    STOLEN.info(),
    DISK.info(),
    LINK.info(),
    FAILED.info(),
    KILLED.info(),
];
/// Those of jobs that collect garbage for long enough to be told, and read data.
pub const OF_DATA: [MetricInfo; 2] = [GC.info(), LOCAL.info()];
/// Those of jobs about data.
pub const OF_RATE: [MetricInfo; 1] = [RATE.info()];
/// TestDFSIO's own.
pub const OF_FILES: [MetricInfo; 1] = [FILE_RATE.info()];
/// Those of jobs with reduces.
pub const OF_REDUCES: [MetricInfo; 5] =
    [SHUFFLE.info(), MERGE.info(), REDUCE.info(), SPILLED.info(), SHUFFLED.info()];
/// Those of jobs that a node may fail in the midst of.
pub const OF_FAULTS: [MetricInfo; 5] =
    [AFTER_FAULT.info(), NODE_LOST.info(), DATA_NODE_DEAD.info(), AGAIN.info(), DIRECTORS.info()];

/// The output of the only reduce of a job.
const RESULT: &str = "part-r-00000";

/// The job of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    Pi,
    TeraGen,
    TeraSort,
    TeraValidate,
    Dfsio,
    Logs,
}

/// Jobs of one kind on a cluster.
#[derive(Debug)]
pub struct HadoopJobs {
    test: Test,
    pub(super) ask: Ask,
    setup: Setup,
    hosted: Arc<Hosted>,
    /// It was told how the cluster is set up.
    told: bool,
}

/// A job that has ended well, with what is told of it.
pub(super) struct Ran<'a> {
    pub(super) done: &'a Done,
    pub(super) job: &'a Job,
    /// The job of a take that has several; else empty.
    pub(super) step: &'static str,
    /// The data that it was about.
    pub(super) bytes: Option<u64>,
    pub(super) fault: Option<NodeFault>,
}

/// Fails where such jobs cannot run here, with what to do.
pub fn fit(setup: &Setup) -> Result<(), Unfit> {
    let ask = Ask::from_setup(setup)?;
    guard::available().map_err(Unfit::new)?;
    if ask.cluster.is_some() {
        return cluster::distribution().map(drop).map_err(Unfit::new);
    }
    let is_on_others = Lab::is_meant(setup, ask.nodes).map_err(Unfit::new)?;
    if ask.nodes > 1 && !is_on_others {
        network::available().map_err(Unfit::new)?;
    }
    if setup.memory.is_some() && !is_on_others {
        let facts = facts(setup)?;
        let sizes = sizing::sizes(&facts, ask.nodes).map_err(Unfit::new)?;
        ask.fits(&sizes)?;
        sizing::room_on_disk(&facts, ask.data, ask.replication).map_err(Unfit::new)?;
    }
    cluster::distribution().map(drop).map_err(Unfit::new)
}

fn facts(setup: &Setup) -> Result<Facts, Unfit> {
    let memory = setup.memory.ok_or_else(|| Unfit::new("the memory of this machine is not known"))?;
    let disk_free = cluster::free_bytes(&setup.dir).map_err(Unfit::new)?;
    Ok(Facts { memory, cores: u32::try_from(setup.cpus.len()).unwrap_or(u32::MAX), disk_free })
}

/// Starts the cluster, or finds it, and makes the data of the job.
pub fn prepare(setup: &Setup, test: Test) -> Result<Box<dyn Probe>, Unfit> {
    let ask = Ask::from_setup(setup)?;
    let facts = facts(setup)?;
    let cpus = setup.cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect();
    let lab = Lab::from_setup(setup, ask.nodes).map_err(Unfit::new)?;
    let key = Key {
        lab,
        nodes: ask.nodes,
        dir: setup.dir.clone(),
        memory: facts.memory,
        cpus,
        is_quick: ask.fault.is_some(),
        theirs: ask.cluster.clone(),
    };
    let hosted = cluster::get(key).map_err(|error| Unfit::new(error.to_string()))?;
    let jobs = HadoopJobs { test, ask, setup: setup.clone(), hosted, told: false };
    let made = jobs.hosted.with(|cluster, _| {
        if let Some(disk_free) = cluster.lab_disk {
            jobs.ask.fits(&cluster.sizes).map_err(|unfit| unfit.why)?;
            let facts = Facts { disk_free, ..facts };
            sizing::room_on_disk(&facts, jobs.ask.data, jobs.ask.replication)?;
        }
        jobs.data(cluster)
    });
    made.map_err(Unfit::new)?;
    Ok(Box::new(jobs))
}

impl Probe for HadoopJobs {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let hosted = Arc::clone(&self.hosted);
        let is_new = !std::mem::replace(&mut self.told, true);
        let taken = hosted.with(|cluster, ended| {
            if let Some(why) = &ended {
                record.remark("hadoop-restarted", &format!("the cluster was started anew: {why}"));
            }
            if is_new || ended.is_some() {
                tell(cluster, record);
                if self.ask.fault.is_some() {
                    record.remark("hadoop", &liveness::sentence());
                }
            }
            self.data(cluster)?;
            if let Some(theirs) = &cluster.theirs {
                tell_others(theirs, record);
            }
            self.job(cluster, record)
        });
        taken.map_err(Fault::new)
    }

    fn footprint(&self) -> u64 {
        self.hosted.footprint()
    }
}

impl HadoopJobs {
    fn cut(&self, cluster: &Cluster) -> Cut {
        sizing::cut(&cluster.sizes, self.ask.data)
    }

    /// The settings that were asked for.
    pub(super) fn settings(&self, cluster: &Cluster) -> Vec<String> {
        match &cluster.theirs {
            None => self.ask.settings(&cluster.sizes, self.cut(cluster), cluster.site.opens()),
            Some(theirs) => {
                let asked = self.ask.settings_of_theirs(cluster.sizes.container);
                [theirs.settings(), asked].concat()
            }
        }
    }

    /// Tasks that can run at once.
    fn room(&self, cluster: &Cluster) -> u32 {
        match cluster.theirs {
            None => self.ask.room(&cluster.sizes),
            Some(_) => cluster.sizes.slots,
        }
    }

    /// A job of Hadoop's examples, with the settings that were asked for.
    fn order(&self, cluster: &Cluster, program: &'static str, arguments: &[&str]) -> Order {
        Order {
            class: EXAMPLES,
            program: Some(program),
            settings: self.settings(cluster),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            timeout: self.ask.timeout,
        }
    }

    /// Makes the data that the job needs, where it is not there yet.
    fn data(&self, cluster: &mut Cluster) -> Result<(), JobError> {
        match self.test {
            Test::Pi | Test::TeraGen | Test::Dfsio => Ok(()),
            Test::TeraSort => self.input(cluster).map(drop),
            Test::TeraValidate => self.sorted(cluster).map(drop),
            Test::Logs => self.log(cluster).map(drop),
        }
    }

    /// Rows in no order, with their checksum.
    fn input(&self, cluster: &mut Cluster) -> Result<Made, JobError> {
        let folder = self.ask.called(cluster.home(), "input");
        if let Some(made) = cluster.made.iter().find(|made| made.folder == folder) {
            return Ok(made.clone());
        }
        progress::current().report("writing the data that is to be sorted");
        // One that failed before has left a part of it.
        cluster.remove(&folder)?;
        job::run(cluster, &self.generate(cluster, &folder))?;
        let checksum = self.checksum(cluster, &folder)?;
        cluster.made.push(Made { folder, checksum });
        cluster.made.last().cloned().ok_or_else(|| JobError::Failed("no data were made".to_owned()))
    }

    /// The same rows in order.
    fn sorted(&self, cluster: &mut Cluster) -> Result<Made, JobError> {
        let input = self.input(cluster)?;
        let folder = self.ask.called(cluster.home(), "sorted");
        if let Some(made) = cluster.made.iter().find(|made| made.folder == folder) {
            return Ok(made.clone());
        }
        progress::current().report("sorting the data that is to be validated");
        cluster.remove(&folder)?;
        job::run(cluster, &self.sort(cluster, &input.folder, &folder))?;
        let made = Made { folder, checksum: input.checksum };
        cluster.made.push(made.clone());
        Ok(made)
    }

    fn generate(&self, cluster: &Cluster, folder: &str) -> Order {
        let mut order = self.order(cluster, "teragen", &[&self.ask.rows().to_string(), folder]);
        order.settings.push(format!("-Dmapreduce.job.maps={}", self.cut(cluster).maps));
        order
    }

    fn sort(&self, cluster: &Cluster, from: &str, to: &str) -> Order {
        let mut order = self.order(cluster, "terasort", &[from, to]);
        order.settings.push(format!("-Dmapreduce.job.reduces={}", self.cut(cluster).reduces));
        // It writes one copy, whatever HDFS is told, unless it is told so itself.
        order.settings.push(format!("-Dmapreduce.terasort.output.replication={}", self.ask.replication));
        order
    }

    /// The checksum of rows, whatever their order: TeraChecksum, in a process of its own.
    fn checksum(&self, cluster: &Cluster, folder: &str) -> Result<String, JobError> {
        let out = Results::new(cluster, "checksum", true)?;
        let order = Order {
            class: CHECKSUM,
            program: None,
            settings: in_client(cluster),
            arguments: vec![folder.to_owned(), out.uri()],
            timeout: self.ask.timeout,
        };
        job::run(cluster, &order)?;
        let text = out.text(cluster, RESULT)?;
        let sum = text.split_whitespace().last().map(str::to_owned);
        sum.ok_or_else(|| JobError::Failed("TeraChecksum printed no checksum".to_owned()))
    }

    fn validate(
        &self,
        cluster: &Cluster,
        folder: &str,
        is_in_client: bool,
    ) -> Result<(Order, Results), JobError> {
        let out = Results::new(cluster, "validated", is_in_client)?;
        let mut order = self.order(cluster, "teravalidate", &[folder, &out.uri()]);
        if is_in_client {
            order.settings = in_client(cluster);
        }
        Ok((order, out))
    }

    /// One job, with its figures.
    fn job(&self, cluster: &mut Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        match self.test {
            Test::Pi => self.pi(cluster, record),
            Test::TeraGen => self.tera_gen(cluster, record),
            Test::TeraSort => self.tera_sort(cluster, record),
            Test::TeraValidate => self.tera_validate(cluster, record),
            Test::Dfsio => self.dfsio(cluster, record),
            Test::Logs => self.logs(cluster, record),
        }
    }

    fn pi(&self, cluster: &Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        let number = |name: &str| int_param(&self.setup, name).map_err(|unfit| JobError::Failed(unfit.why));
        let (maps, samples) = (number("maps")?, number("samples")?);
        let order = self.order(cluster, "pi", &[&maps.to_string(), &samples.to_string()]);
        let (done, job) = job::run_known(cluster, &order)?;
        check_pi(&done.output, maps.saturating_mul(samples))?;
        self.tell_job(record, cluster, Ran { bytes: None, ..self.ran(&done, &job) });
        Ok(())
    }

    fn tera_gen(&self, cluster: &Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        let folder = self.ask.called(cluster.home(), "generated");
        cluster.remove(&folder)?;
        let (done, job) = job::run_known(cluster, &self.generate(cluster, &folder))?;
        let bytes = content_bytes(cluster, &folder)?;
        cluster.remove(&folder)?;
        if bytes != Some(self.ask.rows() * ROW) {
            let said = bytes.map_or_else(|| "an unknown number of".to_owned(), |bytes| bytes.to_string());
            return Err(JobError::Failed(format!(
                "TeraGen wrote {said} bytes, not {}",
                self.ask.rows() * ROW
            )));
        }
        self.tell_job(record, cluster, self.ran(&done, &job));
        Ok(())
    }

    fn tera_sort(&self, cluster: &mut Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        let input = self.input(cluster)?;
        let out = self.ask.called(cluster.home(), "output");
        cluster.remove(&out)?;
        let order = self.sort(cluster, &input.folder, &out);
        let Some(fault) = self.ask.fault else {
            let (done, job) = job::run_known(cluster, &order)?;
            self.prove(cluster, &out, &input.checksum)?;
            self.tell_job(record, cluster, self.ran(&done, &job));
            return Ok(());
        };
        let watched = fault::run(cluster, fault, &order)?;
        let proved = self.prove(cluster, &out, &input.checksum);
        if let Some(seen) = &watched.seen {
            let broken = |error: JobError| seen.broken(&error.why());
            proved.map_err(broken)?;
            let figures = seen.figures(watched.done.ended_ns)?;
            progress::current().report("starting a node anew that was lost");
            cluster.repair(&seen.node).map_err(JobError::Stuck)?;
            record.remark("hadoop-fault", &figures.told);
            record.push(&AFTER_FAULT, Seconds(figures.after));
            record.push(&NODE_LOST, Seconds(figures.lost));
            record.push(&DATA_NODE_DEAD, Seconds(figures.dead));
        } else {
            proved?;
        }
        record.push_if(&AGAIN, watched.job.again().map(Count));
        record.push_if(&DIRECTORS, watched.directors.map(|count| Count(count as f64)));
        let submitted = watched.job.times.map(|times| times.submitted);
        let fault = watched.seen.as_ref().zip(submitted).map(|(seen, submitted)| seen.marked(submitted));
        self.tell_job(record, cluster, Ran { fault, ..self.ran(&watched.done, &watched.job) });
        Ok(())
    }

    /// Fails unless rows in HDFS are in order and have this checksum; removes them then.
    fn prove(&self, cluster: &Cluster, folder: &str, checksum: &str) -> Result<(), JobError> {
        let (order, out) = self.validate(cluster, folder, true)?;
        job::run(cluster, &order)?;
        proved(&out.text(cluster, RESULT)?, checksum)?;
        Ok(cluster.remove(folder)?)
    }

    fn tera_validate(&self, cluster: &mut Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        let sorted = self.sorted(cluster)?;
        let (order, out) = self.validate(cluster, &sorted.folder, false)?;
        let (done, job) = job::run_known(cluster, &order)?;
        proved(&out.text(cluster, RESULT)?, &sorted.checksum)?;
        self.tell_job(record, cluster, self.ran(&done, &job));
        Ok(())
    }

    fn dfsio(&self, cluster: &Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        let folder = format!("{}/dfsio", cluster.home());
        let files = self.cut(cluster).maps;
        let mib = self.ask.mib_of_file(files);
        cluster.remove(&folder)?;
        for step in ["write", "read"] {
            let mut order = self.order(cluster, "", &[]);
            (order.class, order.program) = (DFSIO, None);
            order.settings.push(format!("-Dtest.build.data={folder}"));
            let words = [format!("-{step}"), "-nrFiles".to_owned(), files.to_string(), "-size".to_owned()];
            order.arguments = words.into_iter().chain([format!("{mib}MB")]).collect();
            let (done, job) = job::run_known(cluster, &order)?;
            let rate = throughput(&done.log).or_else(|| throughput(&done.output));
            let rate = rate.ok_or_else(|| "TestDFSIO told no throughput".to_owned())?;
            let mut extra = Params::default();
            extra.set("step", step);
            record.push_of(&FILE_RATE, &extra, BytesPerSec(rate));
            let bytes = Some((mib * u64::from(files)) << 20);
            self.tell_job(record, cluster, Ran { step, bytes, ..self.ran(&done, &job) });
        }
        cluster.remove(&folder)?;
        Ok(())
    }

    /// A job about all of the data, without a fault.
    pub(super) fn ran<'a>(&self, done: &'a Done, job: &'a Job) -> Ran<'a> {
        Ran { done, job, step: "", bytes: Some(self.ask.rows() * ROW), fault: None }
    }

    /// The figures of a job, and where each of its tasks ran, and when; that this is not told is a remark.
    pub(super) fn tell_job(&self, record: &mut dyn Record, cluster: &Cluster, ran: Ran<'_>) {
        self.push(record, cluster, &ran);
        if cluster.history().is_err() {
            return;
        }
        match containers::ask(cluster, (ran.job, &ran.done.nodes), self.room(cluster), ran.fault) {
            Ok(tasks) => {
                record.note(NoteBody::JobTasks(JobTasks { step: ran.step.to_owned(), ..tasks }));
            }
            Err(why) => record.remark(
                "hadoop-containers",
                &format!("where the tasks of {} ran is not known: {why}", ran.job.id),
            ),
        }
    }

    fn push(&self, record: &mut dyn Record, cluster: &Cluster, ran: &Ran<'_>) {
        let (done, job, bytes) = (ran.done, ran.job, ran.bytes);
        let mut extra = Params::default();
        if !ran.step.is_empty() {
            extra.set("step", ran.step);
        }
        let extra = &extra;
        record.push_of(&WALL, extra, Seconds(done.seconds));
        if let Some(bytes) = bytes {
            record.push_of(&RATE, extra, BytesPerSec(bytes as f64 / done.seconds));
        }
        let of_time = |seconds: Option<f64>| seconds.map(Seconds);
        for (metric, seconds) in [(&JOB, job.seconds), (&WAIT, job.wait), (&MAP, job.map)] {
            record.push_of_if(metric, extra, of_time(seconds));
        }
        let counters = job.counters;
        let share = |part: Option<f64>, whole: Option<f64>| {
            let (part, whole) = part.zip(whole)?;
            (whole > 0.0).then(|| part / whole)
        };
        record.push_of_if(&CORES, extra, share(counters.cpu, job.seconds).map(Count));
        record.push_of_if(&TASKS, extra, share(counters.occupied, job.seconds).map(Count));
        let of_machine = done.machine;
        for (metric, share) in [
            (&BUSY, of_machine.busy),
            (&STOLEN, of_machine.stolen),
            (&DISK, of_machine.disk),
            (&LINK, of_machine.link),
        ] {
            record.push_of_if(metric, extra, share.map(Ratio));
        }
        record.push_of(&SLOTS, extra, Count(f64::from(self.room(cluster))));
        record.push_of_if(&FAILED, extra, job.failed.map(Count));
        record.push_of_if(&KILLED, extra, job.killed.map(Count));
        if bytes.is_none() {
            return;
        }
        record.push_of_if(
            &GC,
            extra,
            share(counters.gc, counters.occupied).map(|share| Ratio(share.min(1.0))),
        );
        record.push_of_if(
            &LOCAL,
            extra,
            share(counters.local, counters.launched).map(|share| Ratio(share.min(1.0))),
        );
        for (metric, seconds) in [(&SHUFFLE, job.shuffle), (&MERGE, job.merge), (&REDUCE, job.reduce)] {
            record.push_of_if(metric, extra, of_time(seconds));
        }
        if job.reduces.is_some_and(|reduces| reduces > 0.0) {
            record.push_of_if(&SPILLED, extra, counters.spilled.map(Count));
            record.push_of_if(&SHUFFLED, extra, counters.shuffled.map(Bytes));
        }
    }
}

/// Bytes of the files below a folder of HDFS, without copies.
fn content_bytes(cluster: &Cluster, folder: &str) -> Result<Option<u64>, JobError> {
    if let Some(theirs) = &cluster.theirs {
        // Folders, files, bytes, path.
        let told = theirs.shell(&cluster.site, &["-count", folder])?;
        return Ok(told.split_whitespace().nth(2).and_then(|bytes| bytes.parse().ok()));
    }
    let path = format!("/webhdfs/v1{folder}?op=GETCONTENTSUMMARY&user.name={}", cluster.user());
    let answer = cluster.name_node().get(&path)?;
    let length = super::rest::at(&answer, &["ContentSummary", "length"]).and_then(serde_json::Value::as_u64);
    Ok(length)
}

/// The settings of a job that runs in its client alone.
fn in_client(cluster: &Cluster) -> Vec<String> {
    let own = cluster.theirs.as_ref().map(|theirs| theirs.settings_in_client(&cluster.site));
    IN_CLIENT.map(str::to_owned).into_iter().chain(own.into_iter().flatten()).collect()
}

/// Fails unless TeraValidate found the rows in order, with the checksum of the input.
fn proved(result: &str, checksum: &str) -> Result<(), JobError> {
    let line = result.lines().find_map(|line| line.strip_prefix("checksum\t")).map(str::trim);
    let wrong = result.lines().find(|line| !line.starts_with("checksum"));
    match (line, wrong) {
        (Some(sum), None) if sum == checksum => Ok(()),
        (Some(sum), None) => Err(JobError::Failed(format!(
            "TeraSort lost or changed rows: their checksum is {sum}, that of the input {checksum}"
        ))),
        (_, Some(wrong)) => Err(JobError::Failed(format!("TeraValidate finds rows out of order: {wrong}"))),
        (None, None) => Err(JobError::Failed("TeraValidate gave no checksum".to_owned())),
    }
}

/// Fails unless a client printed the number, as near as so many samples must come.
fn check_pi(output: &str, samples: u64) -> Result<(), JobError> {
    const WORDS: &str = "Estimated value of Pi is ";
    let said = output.lines().find_map(|line| line.trim().strip_prefix(WORDS)?.parse::<f64>().ok());
    let Some(pi) = said else { return Err(JobError::Failed("pi printed no result".to_owned())) };
    // Points of a Halton sequence are spread evenly: the error falls a little slower than their number grows.
    let most = 8.0 / (samples.max(1) as f64).sqrt();
    match (pi - std::f64::consts::PI).abs() <= most {
        true => Ok(()),
        false => Err(JobError::Failed(format!("pi came to {pi} with {samples} samples"))),
    }
}

/// TestDFSIO's throughput in bytes a second: its `mb` are 2^20 bytes.
fn throughput(log: &str) -> Option<f64> {
    let text = log.lines().rev().find_map(|line| line.split_once("Throughput mb/sec:"))?.1;
    text.trim().parse::<f64>().ok().filter(|rate| rate.is_finite()).map(|rate| rate * f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(result: Result<(), JobError>) -> String {
        match result {
            Ok(()) => String::new(),
            Err(JobError::Failed(why) | JobError::Stuck(why)) => why,
        }
    }

    #[test]
    fn a_sort_is_proved_by_order_and_checksum() {
        assert_eq!(why(proved("checksum\t1ab\n", "1ab")), "");
        assert!(why(proved("checksum\t1ac\n", "1ab")).contains("lost or changed"));
        assert!(why(proved("error\tmisorder in x\nchecksum\t1ab\n", "1ab")).contains("misorder in x"));
        assert!(why(proved("", "1ab")).contains("no checksum"));
    }

    #[test]
    fn a_wrong_pi_is_refused() {
        let said = |pi: &str| format!("Job Finished in 12.3 seconds\nEstimated value of Pi is {pi}\n");
        assert_eq!(why(check_pi(&said("4.00000000000000000000"), 1)), "");
        assert_eq!(why(check_pi(&said("3.14800000000000000000"), 4_000)), "");
        assert!(why(check_pi(&said("3.5"), 4_000)).contains("3.5"));
        assert!(why(check_pi("", 1)).contains("no result"));
    }

    #[test]
    fn throughput_is_in_bytes() {
        let log = "1 INFO fs.TestDFSIO:       Throughput mb/sec: 81.5\n1 INFO fs.TestDFSIO:  Average IO rate mb/sec: 90\n";
        assert_eq!(throughput(log), Some(81.5 * 1_048_576.0));
        assert_eq!((throughput("Throughput mb/sec: NaN"), throughput("")), (None, None));
    }
}
