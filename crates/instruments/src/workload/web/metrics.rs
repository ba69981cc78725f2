//! What a load on a web server yields, and the pushing of what the engine itself recorded.
//!
//! Times are seconds, from the intended start (response) or the actual one (service) to the last byte. Failed requests
//! are in the times, but for those without an answer, and not in the rates. What does not exist on this machine is
//! not pushed.

use model::fault::FailedRequests;
use model::{
    Better, Bytes, BytesPerSec, Count, Fault, FaultKind, Metric, MetricInfo, NoteBody, ParamKind, ParamSpec,
    Params, PerSec, Ratio, Record, RecordExt, Seconds,
};

use crate::load::Outcome;
use crate::load::engine::ThreadUse;
use crate::load::failure::Failure;

const fn neither<Q: model::Quantity>(name: &'static str, definition: &'static str) -> Metric<Q> {
    Metric::new(name, Better::Neither, definition)
}

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
    "bytes of the bodies of good answers per second of the window, or of the time up to the last answer where that came \
     after it; none where no answer has a body; of a store the bytes of values, those read and those written",
);
pub const RESPONSE: Metric<Seconds> = Metric::new(
    "response-time",
    Better::Lower,
    "median time from when a request was due to the last byte of its answer, failed requests included: bad answers, and \
     at their age those over the time limit or unsent; not those without an answer (refused, reset, closed, TLS)",
).label("p50");
pub const RESPONSE_P99: Metric<Seconds> =
    Metric::new("response-time-p99", Better::Lower, "what 99 in 100 response times of the take at most are")
        .label("p99");
pub const RESPONSES: Metric<Seconds> = neither(
    "response-times",
    "all response times of the take; of `requests` those without an answer have none",
);
pub const SERVICES: Metric<Seconds> = neither(
    "service-times",
    "all times of the take from when a request was sent to the last byte of its answer",
);
pub const OFFERED: Metric<PerSec> =
    neither("offered-load", "requests due per second; open loops only").per("request");
pub const CAPACITY: Metric<PerSec> = neither(
    "capacity",
    "throughput of a closed loop on the same server before the takes, of which `load` is a share",
)
.per("request");
pub const REQUESTS: Metric<Count> = neither(
    "requests",
    "requests that are over: good and failed, those without an answer and unsent ones included",
)
.per("request");
pub const REDIRECTS: Metric<Count> =
    neither("redirects", "good answers that point elsewhere (3xx), by status; they are not followed")
        .per("answer");
pub const STATUSES: Metric<Count> = neither(
    "failed-statuses",
    "failed requests whose answer was of 4xx or 5xx, by status; also under `failed`",
)
.per("answer");
pub const STALL: Metric<Seconds> = neither(
    "longest-stall",
    "the longest time in which no request got any answer while some were in flight, from 0.1 s on; the end of a load \
     that nobody answers any more is none",
);
pub const STALL_AT: Metric<Seconds> =
    neither("longest-stall-at", "from the start of the load to the start of the longest stall");
pub const STALL_WAITING: Metric<Count> =
    neither("longest-stall-waiting", "requests in flight at the end of the longest stall").per("request");
pub const WINDOW: Metric<Seconds> = neither(
    "window",
    "the time that throughput is of: the load's duration, less where it was ended early; up to the last end where a \
     number of requests was given",
);
pub const SILENT_CORES: Metric<Count> = neither(
    "silent-server-cores",
    "CPU seconds per second of a server that fell silent, from a second after its last good answer to the end",
)
.per("core");
pub const FAILED: Metric<Count> = neither(
    "failed",
    "requests that failed, by kind: no connection, reset, closed, timeout, 4xx, 5xx, wrong or short answer, a store's \
     error answers, unsent",
)
.per("request");
pub const LATE: Metric<Seconds> = neither(
    "late-p99",
    "how late 99 in 100 sends at most were, from when they could be sent; open loops only",
);
pub const ANSWERING: Metric<Seconds> =
    neither("answering-time", "from the start of the load to its last answer, good or not");
pub const IN_FLIGHT: Metric<Count> = neither(
    "in-flight",
    "requests in flight, integrated from the start to the last end, by that time or the window, whichever is longer; \
     failed ones included",
)
.per("request");
pub const LITTLE: Metric<Count> = neither(
    "in-flight-by-little",
    "what requests in flight must be by Little's law: the sum of all service times by the same time",
)
.per("request");
pub const SHARE: Metric<Ratio> = neither(
    "generator-share",
    "the share of its time (of its CPU quota, where that is less than a core) in which the busiest generator core \
     worked; waiting by spinning is not work",
);
pub const THREAD: Metric<Ratio> = neither(
    "generator-thread-share",
    "the same of the busiest generator thread alone, whatever others on its core do",
);
pub const CPU: Metric<Seconds> =
    neither("generator-cpu", "CPU time of the generator for each request sent, without waiting by spinning")
        .per("request");
pub const SERVER_CPU: Metric<Seconds> = Metric::new(
    "server-cpu",
    Better::Lower,
    "CPU time of the server's processes for each request sent; what the kernel does in interrupts is not in it",
).label("server CPU")
.per("request");
pub const SERVER_CORES: Metric<Count> =
    neither("server-cores", "CPU seconds of the server's processes per second").per("core");
pub const SERVER_THREAD: Metric<Ratio> =
    neither("server-thread-share", "the share of the take's time in which the server's busiest thread ran");
pub const CORE_BUSY: Metric<Ratio> =
    neither("core-busy", "the share of the take's time in which this core ran something");
pub const CORE_USER: Metric<Ratio> =
    neither("core-user", "the share of the take's time that this core was in programs");
pub const CORE_SYSTEM: Metric<Ratio> =
    neither("core-system", "the share of the take's time that this core was in the kernel for programs");
pub const CORE_SOFTIRQ: Metric<Ratio> = neither(
    "core-softirq",
    "the share of the take's time that this core was in interrupts, deferred ones too",
);
pub const CORE_STEAL: Metric<Ratio> =
    neither("core-steal", "the share of the take's time that the hypervisor gave to others");
pub const DISK_READ: Metric<Bytes> =
    neither("disk-read", "bytes that all programs together read from disks during the take, MB = 10^6");
pub const DISK_BUSY: Metric<Ratio> =
    neither("disk-busy", "the share of the take's time in which this disk had a request under way");
pub const CPU_PRESSURE: Metric<Ratio> =
    neither("cpu-pressure", "the share of the take's time in which some thread waited for a CPU");
pub const IO_PRESSURE: Metric<Ratio> =
    neither("io-pressure", "the share of the take's time in which some thread waited for a disk");
pub const MEMORY_PRESSURE: Metric<Ratio> =
    neither("memory-pressure", "the share of the take's time in which some thread waited for memory");
pub const SERVER_MEMORY: Metric<Bytes> = neither(
    "server-memory",
    "memory that a server with a limit of it uses after the take, the files that it has cached included",
);
pub const SERVER_CACHE: Metric<Bytes> =
    neither("server-cache", "cached files within the memory of a server that has a limit, after the take");
pub const MEMORY_HITS: Metric<Count> = neither(
    "memory-limit-hits",
    "how often the server was at the limit of its memory and the kernel had to make room",
)
.per("hit");
pub const MEMORY_REFAULTS: Metric<Count> = neither(
    "memory-refaults",
    "pages of files that were read again after the limit of the server's memory had pushed them out",
)
.per("page");
pub const DROPS: Metric<Count> = neither(
    "drops",
    "what the kernel dropped or refused during the take, by counter; of the whole network namespace",
);

/// Parts of a take that some of its readings are of.
pub const PARTS: &[ParamSpec] = &[
    ParamSpec::new("cpu", ParamKind::Text, "", "the core"),
    ParamSpec::new(
        "role",
        ParamKind::Choice(&["server", "generator", "both", "other"]),
        "",
        "what the core did",
    ),
    ParamSpec::new("kind", ParamKind::Text, "", "the kind of failure"),
    ParamSpec::new("disk", ParamKind::Text, "", "the disk"),
    ParamSpec::new("counter", ParamKind::Text, "", "the counter of the kernel"),
    ParamSpec::new("status", ParamKind::Text, "", "the status of answers"),
];

/// What the engine tells of a load.
const OF_LOAD: &[MetricInfo] = &[
    THROUGHPUT.info(),
    RESPONSE.info(),
    RESPONSE_P99.info(),
    BANDWIDTH.info(),
    RESPONSES.info(),
    SERVICES.info(),
    OFFERED.info(),
    CAPACITY.info(),
    REQUESTS.info(),
    REDIRECTS.info(),
    STATUSES.info(),
    STALL.info(),
    STALL_AT.info(),
    STALL_WAITING.info(),
    WINDOW.info(),
    FAILED.info(),
    LATE.info(),
    ANSWERING.info(),
    IN_FLIGHT.info(),
    LITTLE.info(),
    SHARE.info(),
    THREAD.info(),
    CPU.info(),
];

/// What the server and the machine did meanwhile.
pub const OF_MACHINE: &[MetricInfo] = &[
    SERVER_CPU.info(),
    SERVER_CORES.info(),
    SILENT_CORES.info(),
    SERVER_THREAD.info(),
    CORE_BUSY.info(),
    CORE_USER.info(),
    CORE_SYSTEM.info(),
    CORE_SOFTIRQ.info(),
    CORE_STEAL.info(),
    DISK_READ.info(),
    DISK_BUSY.info(),
    CPU_PRESSURE.info(),
    IO_PRESSURE.info(),
    MEMORY_PRESSURE.info(),
    SERVER_MEMORY.info(),
    SERVER_CACHE.info(),
    MEMORY_HITS.info(),
    MEMORY_REFAULTS.info(),
    DROPS.info(),
];

const COUNT: usize = OF_LOAD.len() + OF_MACHINE.len();
const JOINED: [MetricInfo; COUNT] = joined(OF_LOAD);

/// Those of the `web` card.
pub const ALL: &[MetricInfo] = &JOINED;

/// These and those of the machine.
#[must_use]
pub const fn joined<const N: usize>(own: &[MetricInfo]) -> [MetricInfo; N] {
    let mut all = [THROUGHPUT.info(); N];
    let mut at = 0;
    while at < N {
        all[at] = if at < own.len() { own[at] } else { OF_MACHINE[at - own.len()] };
        at += 1;
    }
    all
}

/// The kinds of failures with their counts, as a sentence; statuses by their number.
#[must_use]
pub fn failures(outcome: &Outcome) -> String {
    let others = others(outcome).map(|(kind, count)| format!("{count} {}", kind.name()));
    let kinds: Vec<String> = statuses(outcome).into_iter().chain(others).collect();
    format!(
        "{} of {} requests failed: {}",
        outcome.record.failures.total(),
        outcome.requests(),
        kinds.join(", ")
    )
}

/// `12 status 404 (first http://a/b)`, each.
fn statuses(outcome: &Outcome) -> Vec<String> {
    let named = outcome.record.statuses.seen().map(|met| {
        let url = outcome.met.get(&met.status).map_or_else(String::new, |url| format!(" (first {url})"));
        format!("{} status {}{url}", met.count, met.status)
    });
    named.collect()
}

/// How a server answered that had whole answers, but no good one.
fn refused_at(outcome: &Outcome) -> Option<String> {
    let answers = outcome.record.statuses.total();
    let times = outcome.service_time();
    let at = |quantile: f64| Some(times.quantile_ns(quantile)? as f64 / 1e6);
    let rate = (outcome.answering_s > 0.0).then(|| answers as f64 / outcome.answering_s)?;
    let (half, most) = (at(0.5)?, at(0.99)?);
    (answers > 0).then(|| {
        format!(
            "these answers came at {rate:.0}/s, each in {half:.3} ms (p50) to {most:.3} ms (p99) from sending"
        )
    })
}

/// Good answers per second; where they are large, up to the last one.
#[must_use]
pub fn rate(outcome: &Outcome, are_large: bool) -> Option<f64> {
    if are_large { until_the_last(outcome) } else { outcome.throughput() }
}

/// Good answers per second up to the last one.
fn until_the_last(outcome: &Outcome) -> Option<f64> {
    let bytes = outcome.record.body_bytes as f64;
    outcome.rates.bandwidth.filter(|_| bytes > 0.0).map(|rate| rate / bytes * outcome.record.good as f64)
}

/// The fault of a load without a single good answer.
fn no_good_answer(outcome: &Outcome) -> Fault {
    if outcome.requests() == 0 {
        return Fault::new("no request was due in this time");
    }
    let how = refused_at(outcome).map_or_else(String::new, |how| format!("; {how}"));
    let text = format!("no good answer: {}{how}", failures(outcome));
    Fault { kind: FaultKind::NoGoodAnswer(failed(outcome)), text }
}

/// The failed requests by kind: first the statuses, then the other kinds.
fn failed(outcome: &Outcome) -> Vec<FailedRequests> {
    let of_status = |status: u16| if status < 500 { Failure::Status4xx } else { Failure::Status5xx };
    let statuses = outcome.record.statuses.seen().map(|met| FailedRequests {
        failure: of_status(met.status),
        status: Some(met.status),
        count: met.count,
    });
    let others = others(outcome).map(|(failure, count)| FailedRequests { failure, status: None, count });
    statuses.chain(others).collect()
}

/// Failures without a status, with their counts.
fn others(outcome: &Outcome) -> impl Iterator<Item = (Failure, u64)> + '_ {
    let is_status = |kind: Failure| matches!(kind, Failure::Status4xx | Failure::Status5xx);
    outcome.record.failures.seen().filter(move |(kind, _)| !is_status(*kind))
}

/// Pushes what the engine recorded; `are_large`: few answers fit into the take's time, which would cut the last ones. A
/// take without a single good answer is a fault.
pub fn push(outcome: &Outcome, are_large: bool, record: &mut dyn Record) -> Result<(), Fault> {
    if outcome.record.good == 0 {
        return Err(no_good_answer(outcome));
    }
    let seconds = |ns: Option<u64>| ns.map(Seconds::from_ns);
    let responses = outcome.response_time();
    // None complete within the time: the answers are too long for such a rate.
    if let Some(rate) = rate(outcome, are_large).filter(|rate| *rate > 0.0) {
        record.push(&THROUGHPUT, PerSec(rate));
    }
    if let Some(rate) = outcome.rates.bandwidth.filter(|_| outcome.record.body_bytes > 0) {
        record.push(&BANDWIDTH, Bytes(rate) / Seconds(1.0));
    }
    if outcome.answering_s > 0.0 {
        record.push(&ANSWERING, Seconds(outcome.answering_s));
    }
    for (metric, quantile) in [(&RESPONSE, 0.5), (&RESPONSE_P99, 0.99)] {
        if let Some(time) = seconds(responses.quantile_ns(quantile)) {
            record.push(metric, time);
        }
    }
    if let Some(cpu) = outcome.cpu_per_request_s() {
        record.push(&CPU, Seconds(cpu));
    }
    push_evidence(outcome, record);
    if outcome.record.failures.total() > 0 {
        record.remark("errors", &failures(outcome));
    }
    Ok(())
}

/// Pushes what tells whether a load may be believed, and all its times.
pub fn push_evidence(outcome: &Outcome, record: &mut dyn Record) {
    if let Some(count) = outcome.rates.in_flight {
        record.push(&IN_FLIGHT, Count(count));
    }
    if let Some(count) = outcome.rates.served {
        record.push(&LITTLE, Count(count));
    }
    if let Some(late) = outcome.late_p99_s() {
        record.push(&LATE, Seconds(late));
    }
    let threads = &outcome.generator.threads;
    record.push(&SHARE, Ratio(busiest_core(threads)));
    record.push(&THREAD, Ratio(threads.iter().map(ThreadUse::share).fold(0.0, f64::max)));
    record.push(&REQUESTS, Count(outcome.requests() as f64));
    if outcome.elapsed_s > 0.0 {
        record.push(&WINDOW, Seconds(outcome.elapsed_s));
    }
    let redirects = &outcome.record.redirects;
    for (status, count) in redirects.seen() {
        let mut extra = Params::default();
        extra.set("status", &status.to_string());
        record.push_of(&REDIRECTS, &extra, Count(count as f64));
    }
    if let Some(to) = redirects.to.as_deref().filter(|_| redirects.seen().next().is_some()) {
        record.note(NoteBody::Redirect { to: to.to_owned() });
    }
    for met in outcome.record.statuses.seen() {
        let mut extra = Params::default();
        extra.set("status", &met.status.to_string());
        record.push_of(&STATUSES, &extra, Count(met.count as f64));
    }
    for (status, url) in &outcome.met {
        record.note(NoteBody::Status { status: *status, first_url: url.clone() });
    }
    if let Some(stall) = outcome.record.stalls.longest() {
        record.push(&STALL, Seconds::from_ns(stall.long_ns()));
        record.push(&STALL_AT, Seconds::from_ns(stall.from_ns));
        record.push(&STALL_WAITING, Count(stall.waiting as f64));
    }
    record.histogram(&RESPONSES.info(), outcome.response_time());
    record.histogram(&SERVICES.info(), outcome.service_time());
    for (kind, count) in outcome.record.failures.seen() {
        let mut extra = Params::default();
        extra.set("kind", kind.name());
        record.push_of(&FAILED, &extra, Count(count as f64));
    }
}

/// The share of the busiest core: threads on one core add up, those of no fixed core stand for themselves. A quota that
/// is used up further than any core counts instead.
#[must_use]
pub fn busiest_core(threads: &[ThreadUse]) -> f64 {
    let beside = |one: &ThreadUse| {
        let there = threads.iter().filter(|other| (other.host, other.cpu) == (one.host, one.cpu));
        there.map(ThreadUse::core_share).sum::<f64>()
    };
    let on = |one: &ThreadUse| match one.cpu {
        None => one.share(),
        Some(_) => one.share().max(beside(one)),
    };
    threads.iter().map(on).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_on_one_core_add_up() {
        let thread = |cpu, cpu_ns, spun_ns| ThreadUse {
            host: 0,
            cpu,
            connections: 1,
            cpu_ns,
            spun_ns,
            wall_ns: 100,
            allowed_ns: 100,
        };
        let quota = |thread: ThreadUse, allowed_ns| ThreadUse { allowed_ns, ..thread };
        let threads = [thread(Some(1), 40, 0), thread(Some(2), 90, 20), thread(Some(1), 50, 5)];
        assert!((busiest_core(&threads) - 0.85).abs() < 1e-9);
        assert!((busiest_core(&[thread(None, 40, 0), thread(None, 50, 0)]) - 0.5).abs() < 1e-9);
        assert!(busiest_core(&[]).abs() < 1e-9);
        // Two that share a core and a quota of half of it, which they have used up together, and by themselves.
        let both = [quota(thread(Some(1), 20, 0), 25), quota(thread(Some(1), 20, 0), 25)];
        assert!((busiest_core(&both) - 0.8).abs() < 1e-9);
        let tight = [quota(thread(Some(1), 20, 0), 25), thread(Some(1), 75, 0)];
        assert!((busiest_core(&tight) - 0.95).abs() < 1e-9);
    }
}
