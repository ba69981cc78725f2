//! Metrics of a load on a server, web or key-value.
//!
//! Times are seconds, from the intended start (response) or the actual one (service) to the arrival of the last byte of
//! a good answer in the generator's host. A failed request is slower than any, and not in the rates.

use crate::generate::WELL;
use crate::{Better, Bytes, BytesPerSec, Count, Metric, PerSec, Ratio, Seconds};

pub const THROUGHPUT: Metric<PerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "good answers that were complete within the take's duration, per second of it; of the content `large` up to the \
     last one; generators in other processes each have a window of their own, and their rates add up",
)
.per("request");
pub const BANDWIDTH: Metric<BytesPerSec> = Metric::new(
    "bandwidth",
    Better::Higher,
    "bytes of the bodies of good answers that were complete within the take's duration, per second of it, as the \
     throughput is; of the content `large` of all up to the last one; none where no answer has a body; of a store the \
     bytes of values, those read and those written",
);
pub const RESPONSE: Metric<Seconds> = Metric::new(
    "response-time",
    Better::Lower,
    "median time from when a request was due until the last byte of its good answer arrived in the generator's host, by \
     the kernel's stamp; where it stamps nothing (then there is no `late-read`), until the generator had read it; a request without one (refused, reset, a bad answer, over the time \
     limit, unsent) is slower than any, and the figure is over the time limit where it falls on one; over several takes \
     it is that of all their requests",
)
.label("p50")
.quantile_of(&RESPONSES, 0.5);
pub const RESPONSE_P99: Metric<Seconds> = Metric::new(
    "response-time-p99",
    Better::Lower,
    "what 99 in 100 response times at most are; failed requests are slower than any; missing with fewer than 1,000 \
     requests, so that ten are beyond it",
)
.label("p99")
.quantile_of(&RESPONSES, 0.99);
pub const RESPONSE_MEAN: Metric<Seconds> = Metric::new(
    "response-time-mean",
    Better::Lower,
    "mean of the response times of the take; missing where a request failed, which is slower than any; over several \
     takes the median of their means",
)
.label("mean");
pub const ERROR_RATE: Metric<Ratio> = Metric::new(
    "error-rate",
    Better::Lower,
    "the share of requests without a good answer, unsent ones included, of all but those that the end of the load cut \
     off; judged by the difference, of which 0.1 % is none",
)
.label("failed")
.share()
.apart(1.0 - WELL);
pub const RESPONSES: Metric<Seconds> =
    Metric::neither("response-times", "all response times of the take, failed requests beyond them");
pub const SERVICES: Metric<Seconds> = Metric::neither(
    "service-times",
    "all times of the take from when a request was sent to the last byte of its good answer, those begun and failed \
     beyond them",
);
pub const OFFERED: Metric<PerSec> =
    Metric::neither(
        "offered-load",
        "requests per second that were asked for; Poisson arrivals make more or fewer come due by chance; open loops only",
    )
    .per("request");
pub const CAPACITY: Metric<PerSec> = Metric::neither(
    "capacity",
    "throughput of a closed loop of the same requests on the same server, the most of several bursts before the takes; of \
     which `load` is a share",
)
.per("request");
pub const REQUESTS: Metric<Count> = Metric::neither(
    "requests",
    "requests that are over: good and failed, those without an answer and unsent ones included",
)
.per("request");
pub const REDIRECTS: Metric<Count> =
    Metric::neither("redirects", "good answers that point elsewhere (3xx), by status; they are not followed")
        .per("answer");
pub const STATUSES: Metric<Count> = Metric::neither(
    "failed-statuses",
    "failed requests whose answer was of 4xx or 5xx, by status; also under `failed`",
)
.per("answer");
pub const STALL: Metric<Seconds> = Metric::neither(
    "longest-stall",
    "the longest time in which no request got any answer while some were in flight, from 0.1 s on; the end of a load \
     that nobody answers any more is none",
);
pub const STALL_AT: Metric<Seconds> =
    Metric::neither("longest-stall-at", "from the start of the load to the start of the longest stall");
pub const STALL_WAITING: Metric<Count> =
    Metric::neither("longest-stall-waiting", "requests in flight at the end of the longest stall")
        .per("request");
pub const WINDOW: Metric<Seconds> = Metric::neither(
    "window",
    "the time that throughput is of: the load's duration, less where it was ended early; up to the last end where a \
     number of requests was given",
);
pub const SILENT_CORES: Metric<Count> = Metric::neither(
    "silent-server-cores",
    "CPU seconds per second of a server that fell silent, from a second after its last good answer to the end",
)
.per("core");
pub const FAILED: Metric<Count> = Metric::neither(
    "failed",
    "requests that failed, by kind: no connection, reset, closed, timeout, 4xx, 5xx, wrong or short answer, a store's \
     error answers, unsent",
)
.per("request");
pub const LATE: Metric<Seconds> = Metric::neither(
    "late-p99",
    "how late 99 in 100 sends at most were, from when they could be sent; open loops only",
);
pub const LATE_READ: Metric<Seconds> = Metric::neither(
    "late-read",
    "how long an answer lay in the generator's host until it was read, the mean of all good answers, from the kernel's \
     stamp of its arrival: the wake-up of the thread, and the answers that were read first; response times do not hold \
     it; missing where the kernel stamped fewer than 99 in 100",
);
pub const LATE_READ_P99: Metric<Seconds> =
    Metric::neither("late-read-p99", "the same time, which 99 in 100 good answers at most took");
pub const ANSWERING: Metric<Seconds> =
    Metric::neither("answering-time", "from the start of the load to its last answer, good or not");
pub const IN_FLIGHT: Metric<Count> = Metric::neither(
    "in-flight",
    "requests in flight, integrated from the start to the last end, by that time or the window, whichever is longer; \
     failed ones included",
)
.per("request");
pub const SHARE: Metric<Ratio> = Metric::neither(
    "generator-share",
    "the share of its time (of its CPU quota, where that is less than a core) in which the busiest generator core \
     worked; waiting by spinning is not work",
);
pub const THREAD: Metric<Ratio> = Metric::neither(
    "generator-thread-share",
    "the same of the busiest generator thread alone, whatever others on its core do",
);
pub const CPU: Metric<Seconds> = Metric::neither(
    "generator-cpu",
    "CPU time of the generator for each request sent, without waiting by spinning",
)
.per("request");
pub const SERVER_CPU: Metric<Seconds> = Metric::new(
    "server-cpu",
    Better::Lower,
    "CPU time of the server's processes for each request sent; what the kernel does in interrupts is not in it",
).label("server CPU")
.per("request");
pub const SERVER_CORES: Metric<Count> =
    Metric::neither("server-cores", "CPU seconds of the server's processes per second").per("core");
pub const SERVER_WORKERS: Metric<Count> = Metric::neither(
    "server-workers",
    "threads of the server that did at least a hundredth of its work, living ones",
)
.per("thread");
pub const SERVER_THREAD: Metric<Ratio> = Metric::neither(
    "server-thread-share",
    "the share of the take's time in which the server's busiest thread ran",
);
pub const SERVER_THREAD_WAIT: Metric<Ratio> = Metric::neither(
    "server-thread-wait",
    "the share of the take's time in which that thread was ready to run and waited for a CPU",
);
pub const SERVER_WAITING: Metric<Count> = Metric::neither(
    "server-waiting",
    "seconds a second in which threads of the server were ready to run and waited for a CPU, summed over those that \
     lived at both readings; missing where the kernel does not keep it",
)
.per("thread");
pub const SERVER_USER: Metric<Ratio> = Metric::neither(
    "server-user",
    "the part of the CPU time of the server's processes that was in the programs themselves, and not in the kernel; \
     missing where they used less than 0.2 s",
);
pub const CORE_BUSY: Metric<Ratio> =
    Metric::neither("core-busy", "the share of the take's time in which this core ran something");
pub const CORE_USER: Metric<Ratio> =
    Metric::neither("core-user", "the share of the take's time that this core was in programs");
pub const CORE_SYSTEM: Metric<Ratio> = Metric::neither(
    "core-system",
    "the share of the take's time that this core was in the kernel for programs",
);
pub const CORE_SOFTIRQ: Metric<Ratio> = Metric::neither(
    "core-softirq",
    "the share of the take's time that this core was in interrupts, deferred ones too",
);
pub const CORE_SERVER: Metric<Ratio> = Metric::neither(
    "core-server",
    "the share of the take's time that the server's threads ran on this core; known where each may run on one core alone",
);
pub const CORE_GENERATOR: Metric<Ratio> = Metric::neither(
    "core-generator",
    "the share of the take's time that the generator's threads ran on this core, waiting by spinning included",
);
pub const CORE_STEAL: Metric<Ratio> =
    Metric::neither("core-steal", "the share of the take's time that the hypervisor gave to others");
pub const SERVER_READ: Metric<Bytes> = Metric::neither(
    "server-read",
    "bytes that the server's processes had read from disks during the take, MB = 10^6",
);
pub const SERVER_WRITTEN: Metric<Bytes> = Metric::neither(
    "server-written",
    "bytes that the server's processes gave to be written to disks during the take, MB = 10^6",
);
pub const DISK_READ: Metric<Bytes> = Metric::neither(
    "disk-read",
    "bytes that all programs together read from disks during the take, MB = 10^6",
);
pub const DISK_BUSY: Metric<Ratio> =
    Metric::neither("disk-busy", "the share of the take's time in which this disk had a request under way");
pub const DISK_READS: Metric<PerSec> = Metric::neither(
    "disk-reads",
    "read requests of all programs that this disk finished, per second of the take",
)
.per("read");
pub const DISK_READ_RATE: Metric<BytesPerSec> = Metric::neither(
    "disk-read-rate",
    "bytes that all programs together read from this disk, per second of the take, MB = 10^6",
);
pub const DISK_WRITE_RATE: Metric<BytesPerSec> = Metric::neither(
    "disk-write-rate",
    "bytes that all programs together wrote to this disk, per second of the take, MB = 10^6",
);
pub const DISK_DEPTH: Metric<Count> = Metric::neither(
    "disk-read-depth",
    "reads of all programs under way on this disk, the mean over the take",
)
.per("read");
pub const PACKETS_OUT: Metric<PerSec> = Metric::neither(
    "packets-out",
    "packets of all programs that this network interface sent, per second of the take; a packet may be larger than \
     what goes over a wire",
)
.per("packet");
pub const PACKETS_IN: Metric<PerSec> = Metric::neither(
    "packets-in",
    "packets for all programs that this network interface received, per second of the take",
)
.per("packet");
pub const CPU_PRESSURE: Metric<Ratio> =
    Metric::neither("cpu-pressure", "the share of the take's time in which some thread waited for a CPU");
pub const IO_PRESSURE: Metric<Ratio> =
    Metric::neither("io-pressure", "the share of the take's time in which some thread waited for a disk");
pub const MEMORY_PRESSURE: Metric<Ratio> =
    Metric::neither("memory-pressure", "the share of the take's time in which some thread waited for memory");
pub const SERVER_MEMORY: Metric<Bytes> = Metric::neither(
    "server-memory",
    "memory that a server with a limit of it uses after the take, the files that it has cached included",
);
pub const SERVER_CACHE: Metric<Bytes> = Metric::neither(
    "server-cache",
    "cached files within the memory of a server that has a limit, after the take",
);
pub const MEMORY_HITS: Metric<Count> = Metric::neither(
    "memory-limit-hits",
    "how often the server was at the limit of its memory and the kernel had to make room",
)
.per("hit");
pub const MEMORY_REFAULTS: Metric<Count> = Metric::neither(
    "memory-refaults",
    "pages of files that were read again after the limit of the server's memory had pushed them out",
)
.per("page");
pub const SERVER_GROUPS: Metric<Count> = Metric::neither(
    "server-groups",
    "control groups of the server's processes, and above them, of which it was read whether they have a CPU quota",
)
.per("group");
pub const GROUP_QUOTA: Metric<Count> = Metric::neither(
    "group-quota",
    "CPUs that the quota of a control group allows which the server's processes are in, or which is above theirs, by \
     group",
)
.per("core");
pub const GROUP_PERIODS: Metric<Count> = Metric::neither(
    "group-periods",
    "periods of such a quota in the take in which something in the group had work, by group",
)
.per("period");
pub const GROUP_THROTTLED: Metric<Count> = Metric::neither(
    "group-throttled",
    "those of them in which the quota was used up and the group was stopped, by group",
)
.per("period");
pub const GROUP_THROTTLED_TIME: Metric<Seconds> = Metric::neither(
    "group-throttled-time",
    "how long the quota stopped the group in the take, summed over CPUs, by group",
);
pub const GROUP_MEMORY_LIMIT: Metric<Bytes> = Metric::neither(
    "group-memory-limit",
    "memory limit of a control group which the server's processes are in, or which is above theirs; by group",
);
pub const GROUP_MEMORY: Metric<Bytes> = Metric::neither(
    "group-memory",
    "memory that such a group used after the take, its cached files included",
);
pub const GROUP_MEMORY_HITS: Metric<Count> = Metric::neither(
    "group-memory-hits",
    "how often such a group was at its memory limit in the take and the kernel had to make room, by group",
)
.per("hit");
pub const DROPS: Metric<Count> = Metric::neither(
    "drops",
    "what the kernel dropped or refused during the take, by counter; of the whole network namespace",
);
pub const QUEUE_DROPS: Metric<Count> = Metric::neither(
    "queue-drops",
    "connections that the kernel dropped during the take at a listening socket, most of them since its queue of \
     connections to be accepted was full; by socket, the process that holds it, and whether that is the server's; of \
     other programs those sockets alone that dropped some",
)
.per("connection");
pub const QUEUE_ROOM: Metric<Count> = Metric::neither(
    "queue-room",
    "connections that the queue of such a socket holds (its backlog), by the same",
)
.per("connection");
pub const SLO: Metric<PerSec> = Metric::new(
    "slo-throughput",
    Better::Higher,
    "the largest load at which the percentile of response times stays within the limit, 99.9 % of the requests have a \
     good answer and no queue grows; as likely too high as too low, single steps may be wrong; arrivals are evenly spaced \
     unless the parameter says otherwise",
)
.per("request");
pub const STEPS: Metric<Count> =
    Metric::neither("steps", "steps of the search, without those that check its rate");
/// Steps of a whole search. The steps behind them check the rate that it found.
pub const SEARCH_STEPS: u32 = 16;
/// The parameter that numbers the steps of a search.
pub const STEP: &str = "step";
pub const STEP_RATE: Metric<PerSec> =
    Metric::neither("step-rate", "requests per second that a step of the search offered").per("request");
pub const STEP_REQUESTS: Metric<Count> =
    Metric::neither("step-requests", "requests that came due in a step of the search").per("request");
pub const STEP_ANSWERED: Metric<Ratio> = Metric::neither(
    "step-answered",
    "the share of the requests of a step that had a good answer while it lasted",
);
pub const STEP_TIME: Metric<Seconds> = Metric::neither(
    "step-time",
    "the percentile of response times that the limit is of, in a step; missing where it falls on a failed request",
);
pub const STEP_HELD: Metric<Count> =
    Metric::neither("step-held", "1 where a step of the search held, 0 where it broke");
