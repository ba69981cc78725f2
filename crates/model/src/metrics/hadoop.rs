//! Metrics of jobs on a Hadoop cluster.
//!
//! Times of phases and counters are Hadoop's own, as its history server has them; the wall time is by boxscore's clock.

use crate::{Better, Bytes, BytesPerSec, Count, Metric, Ratio, Seconds, Topic};

pub const WALL: Metric<Seconds> = Metric::new(
    "wall",
    Better::Lower,
    "from starting the client's JVM until it has ended: what a user waits for a job; the client's start, the wait for \
     containers and their start are in it",
)
.label("wall time")
.topic(Topic::Work)
.per("job");
pub const RATE: Metric<BytesPerSec> = Metric::new(
    "rate",
    Better::Higher,
    "bytes of data that the job is about, once, over the wall time of the job, MB = 10^6; copies are not counted",
)
.per("job");
pub const FILE_RATE: Metric<BytesPerSec> = Metric::new(
    "file-rate",
    Better::Higher,
    "TestDFSIO's `Throughput`: all bytes over the sum of the times that its tasks spent reading or writing, so the rate of \
     one file while others are read or written too; MB = 10^6, not 2^20 as there",
)
.label("rate of a file");
pub const ALONE: Metric<BytesPerSec> = Metric::new(
    "alone-rate",
    Better::Higher,
    "the same log read right after the job by one process with one thread, from a file of the machine that is in the page \
     cache, without Hadoop; its start is in the time. MB = 10^6",
)
.label("rate of one process")
.per("log");
pub const JOB: Metric<Seconds> = Metric::new(
    "job-time",
    Better::Lower,
    "from the job's submission until it finished, by the history server",
)
.label("job time")
.detail()
.per("job");
pub const WAIT: Metric<Seconds> = Metric::new(
    "wait",
    Better::Lower,
    "from the job's submission until the process that directs it (the ApplicationMaster) began it: a container is found, \
     and a JVM starts",
)
.label("wait for its start")
.detail()
.per("job");
pub const MAP: Metric<Seconds> = Metric::new(
    "map-time",
    Better::Lower,
    "mean time of a map attempt that succeeded, with the start of its JVM and with its sorting and spilling",
)
.label("map")
.detail()
.per("task");
pub const SHUFFLE: Metric<Seconds> = Metric::new(
    "shuffle-time",
    Better::Lower,
    "mean time in which a reduce fetched the output of the maps, with the start of its JVM and with waiting for maps",
)
.label("shuffle")
.detail()
.per("task");
pub const MERGE: Metric<Seconds> = Metric::new(
    "merge-time",
    Better::Lower,
    "mean time in which a reduce merged what it had fetched, after the last piece came",
)
.label("merge")
.detail()
.per("task");
pub const REDUCE: Metric<Seconds> = Metric::new(
    "reduce-time",
    Better::Lower,
    "mean time in which a reduce reduced and wrote, after the merge",
)
.label("reduce")
.detail()
.per("task");
pub const SPILLED: Metric<Count> = Metric::new(
    "spilled",
    Better::Lower,
    "records written to local disk by maps and reduces (SPILLED_RECORDS): twice the records of a sort if each is written \
     once on either side",
)
.label("records spilled")
.detail();
pub const SHUFFLED: Metric<Bytes> = Metric::new(
    "shuffled",
    Better::Lower,
    "bytes that reduces fetched from maps, compressed where maps compress (REDUCE_SHUFFLE_BYTES)",
)
.label("bytes shuffled")
.detail();
pub const GC: Metric<Ratio> = Metric::new(
    "gc-share",
    Better::Lower,
    "time in which JVMs of tasks collected garbage (GC_TIME_MILLIS), as a share of the time that tasks held their \
     containers (MILLIS_MAPS and MILLIS_REDUCES)",
)
.percent()
.share()
.label("garbage collection")
.detail();
pub const CORES: Metric<Count> = Metric::neither(
    "task-cores",
    "CPU time of all tasks (CPU_MILLISECONDS) over the job's time: the cores that tasks kept busy on average; daemons, the \
     client and the process that directs the job are not counted",
)
.label("cores busy with tasks");
pub const TASKS: Metric<Count> = Metric::neither(
    "tasks-at-once",
    "time that tasks held their containers over the job's time: tasks that ran at once on average",
)
.label("tasks at once");
pub const SLOTS: Metric<Count> = Metric::neither(
    "slots",
    "tasks that can run at once beside the process that directs the job: containers that the nodes' memory has room for",
)
.label("room for tasks");
pub const LOCAL: Metric<Ratio> = Metric::new(
    "data-local",
    Better::Higher,
    "maps that ran on a node with their data (DATA_LOCAL_MAPS), as a share of all that were started",
)
.percent()
.share()
.label("data-local maps")
.detail();
pub const FAILED: Metric<Count> = Metric::new(
    "failed-attempts",
    Better::Lower,
    "attempts of tasks that failed; the job did not, or it has no figures",
)
.label("attempts failed")
.detail();
pub const KILLED: Metric<Count> = Metric::neither(
    "killed-attempts",
    "attempts of tasks that were killed: another attempt was quicker, or the reduce gave its container to a map",
)
.label("attempts killed");
pub const BUSY: Metric<Ratio> = Metric::neither(
    "cpus-busy",
    "share of the CPUs' time in which they ran something, whatever it was, from the start of the client until it ended: \
     of the CPUs that the cluster may use; on several hosts the mean of them",
)
.percent()
.share()
.label("CPUs busy");
pub const STOLEN: Metric<Ratio> =
    Metric::neither("cpus-stolen", "share of that time that the hypervisor gave to others")
        .percent()
        .share()
        .label("CPUs stolen");
pub const DISK: Metric<Ratio> = Metric::neither(
    "disk-busy",
    "share of that time in which the busiest disk had a request under way, whosever it was; a fast disk can be busy all \
     the time without being at its limit",
)
.percent()
.share()
.label("busiest disk");
pub const LINK: Metric<Ratio> = Metric::neither(
    "link-busy",
    "share of its rate that the fullest network link of the nodes carried in its fuller direction in that time, whosever \
     bytes these were; of nodes on several hosts, whose network devices all tell a rate",
)
.percent()
.share()
.label("fullest link");
pub const NODE_LOST: Metric<Seconds> = Metric::new(
    "node-lost",
    Better::Lower,
    "from a fault until the ResourceManager no longer counts the node as running, asked four times a second; set by \
     yarn.nm.liveness-monitor.expiry-interval-ms: 10 s where a fault is asked for, 600 s as Hadoop comes",
)
.label("node found lost");
pub const DATA_NODE_DEAD: Metric<Seconds> = Metric::new(
    "datanode-dead",
    Better::Lower,
    "from a fault until the NameNode counts the DataNode as dead, asked four times a second; set by twice \
     dfs.namenode.heartbeat.recheck-interval and ten times dfs.heartbeat.interval: 14 s where a fault is asked for, 630 s as \
     Hadoop comes",
)
.label("DataNode found dead");
pub const AFTER_FAULT: Metric<Seconds> = Metric::new(
    "after-fault",
    Better::Lower,
    "from a fault until the client of the job ended: the rest of the work, with what had to be found and done again",
)
.label("job after the fault")
.per("job");
pub const AGAIN: Metric<Count> = Metric::new(
    "attempts-again",
    Better::Lower,
    "attempts of tasks beyond one for each task (TOTAL_LAUNCHED_MAPS and TOTAL_LAUNCHED_REDUCES), for whatever reason: \
     work that a lost node had done or was doing, reduces that gave way to maps, second attempts of slow tasks",
)
.label("attempts launched again");
pub const DIRECTORS: Metric<Count> = Metric::new(
    "am-attempts",
    Better::Lower,
    "processes that directed the job (attempts of its ApplicationMaster), one after another: 1 where none was lost",
)
.label("ApplicationMasters");
