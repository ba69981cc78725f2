//! The metrics of a load on a web server, and the pushing of those that the engine itself recorded.
//!
//! Times are seconds, from the intended start (response) or the actual one (service) to the last byte of a good answer.
//! A failed request is slower than any, and not in the rates. What does not exist on this machine is not pushed.

use std::collections::BTreeSet;

use model::fault::FailedRequests;
use model::metrics::load::{
    ANSWERING, BANDWIDTH, CAPACITY, CORE_BUSY, CORE_GENERATOR, CORE_SERVER, CORE_SOFTIRQ, CORE_STEAL,
    CORE_SYSTEM, CORE_USER, CPU, CPU_PRESSURE, DISK_BUSY, DISK_DEPTH, DISK_READ, DISK_READ_RATE, DISK_READS,
    DISK_WRITE_RATE, DROPS, ERROR_RATE, FAILED, GROUP_MEMORY, GROUP_MEMORY_HITS, GROUP_MEMORY_LIMIT,
    GROUP_PERIODS, GROUP_QUOTA, GROUP_THROTTLED, GROUP_THROTTLED_TIME, IN_FLIGHT, IO_PRESSURE, LATE,
    LATE_READ, LATE_READ_P99, MEMORY_HITS, MEMORY_PRESSURE, MEMORY_REFAULTS, OFFERED, PACKETS_IN,
    PACKETS_OUT, QUEUE_DROPS, QUEUE_ROOM, REDIRECTS, REQUESTS, RESPONSE, RESPONSE_MEAN, RESPONSE_P99,
    RESPONSES, SERVER_CACHE, SERVER_CORES, SERVER_CPU, SERVER_GROUPS, SERVER_MEMORY, SERVER_READ,
    SERVER_THREAD, SERVER_THREAD_WAIT, SERVER_USER, SERVER_WAITING, SERVER_WORKERS, SERVER_WRITTEN, SERVICES,
    SHARE, SILENT_CORES, STALL, STALL_AT, STALL_WAITING, STATUSES, STEP, THREAD, THROUGHPUT, WINDOW,
};
use model::{
    Bytes, Count, Fault, FaultKind, MetricInfo, NoteBody, ParamKind, ParamSpec, Params, PerSec, Ratio,
    Record, RecordExt, Seconds,
};

use crate::load::Outcome;
use crate::load::engine::ThreadUse;
use crate::load::failure::Failure;

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
    ParamSpec::new(
        "group",
        ParamKind::Text,
        "",
        "the control group: `cpu:/web` of version 1, `/web` of version 2",
    ),
    ParamSpec::new("interface", ParamKind::Text, "", "the network interface"),
    ParamSpec::new("counter", ParamKind::Text, "", "the counter of the kernel"),
    ParamSpec::new("socket", ParamKind::Text, "", "the address and port at which a socket listens"),
    ParamSpec::new("process", ParamKind::Text, "", "the name of the process that holds the socket"),
    ParamSpec::new("owner", ParamKind::Choice(&["server", "other"]), "", "whose the socket is"),
    ParamSpec::new("status", ParamKind::Text, "", "the status of answers"),
    ParamSpec::new(STEP, ParamKind::Text, "", "the step of a search"),
];

/// Metrics that the engine records.
const OF_LOAD: &[MetricInfo] = &[
    THROUGHPUT.info(),
    RESPONSE.info(),
    RESPONSE_MEAN.info(),
    RESPONSE_P99.info(),
    ERROR_RATE.info(),
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
    LATE_READ.info(),
    LATE_READ_P99.info(),
    ANSWERING.info(),
    IN_FLIGHT.info(),
    SHARE.info(),
    THREAD.info(),
    CPU.info(),
];

/// Evidence beside the figures of a search or a level of power, which send a load for them ([`push_evidence`]).
const OF_EVIDENCE: &[MetricInfo] = &[
    RESPONSES.info(),
    SERVICES.info(),
    SHARE.info(),
    THREAD.info(),
    REQUESTS.info(),
    REDIRECTS.info(),
    STATUSES.info(),
    STALL.info(),
    STALL_AT.info(),
    STALL_WAITING.info(),
    WINDOW.info(),
    FAILED.info(),
    LATE.info(),
    LATE_READ.info(),
    LATE_READ_P99.info(),
    IN_FLIGHT.info(),
];

/// Metrics of the server and of the machine during a load.
const OF_MACHINE: &[MetricInfo] = &[
    SERVER_CPU.info(),
    SERVER_CORES.info(),
    SILENT_CORES.info(),
    SERVER_THREAD.info(),
    SERVER_THREAD_WAIT.info(),
    SERVER_WAITING.info(),
    SERVER_USER.info(),
    SERVER_WORKERS.info(),
    SERVER_READ.info(),
    SERVER_WRITTEN.info(),
    CORE_BUSY.info(),
    CORE_USER.info(),
    CORE_SYSTEM.info(),
    CORE_SOFTIRQ.info(),
    CORE_STEAL.info(),
    CORE_SERVER.info(),
    CORE_GENERATOR.info(),
    DISK_READ.info(),
    DISK_BUSY.info(),
    DISK_READS.info(),
    DISK_READ_RATE.info(),
    DISK_WRITE_RATE.info(),
    DISK_DEPTH.info(),
    PACKETS_OUT.info(),
    PACKETS_IN.info(),
    CPU_PRESSURE.info(),
    IO_PRESSURE.info(),
    MEMORY_PRESSURE.info(),
    SERVER_MEMORY.info(),
    SERVER_CACHE.info(),
    MEMORY_HITS.info(),
    MEMORY_REFAULTS.info(),
    SERVER_GROUPS.info(),
    GROUP_QUOTA.info(),
    GROUP_PERIODS.info(),
    GROUP_THROTTLED.info(),
    GROUP_THROTTLED_TIME.info(),
    GROUP_MEMORY_LIMIT.info(),
    GROUP_MEMORY.info(),
    GROUP_MEMORY_HITS.info(),
    DROPS.info(),
    QUEUE_DROPS.info(),
    QUEUE_ROOM.info(),
];

const COUNT: usize = OF_LOAD.len() + OF_MACHINE.len();
const JOINED: [MetricInfo; COUNT] = joined(&[OF_LOAD, OF_MACHINE]);

/// Those of the `web` card.
pub const ALL: &[MetricInfo] = &JOINED;

/// How many metrics a load for figures of somebody else's has.
pub const fn count_sent(own: &[MetricInfo]) -> usize {
    own.len() + OF_EVIDENCE.len() + OF_MACHINE.len()
}

/// The metrics of a load for figures of somebody else's.
pub const fn sent<const N: usize>(own: &[MetricInfo]) -> [MetricInfo; N] {
    joined(&[own, OF_EVIDENCE, OF_MACHINE])
}

/// Lists in a row, which have `N` metrics together.
const fn joined<const N: usize>(lists: &[&[MetricInfo]]) -> [MetricInfo; N] {
    let mut all = [THROUGHPUT.info(); N];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            all[at] = lists[list][place];
            (place, at) = (place + 1, at + 1);
        }
        list += 1;
    }
    assert!(at == N, "the length of an array of metrics is that of its lists");
    all
}

/// The kinds of failures with their counts, as a sentence; statuses by their number.
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
    let times = outcome.record.bad.histogram(0);
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
pub fn rate(outcome: &Outcome, are_large: bool) -> Option<f64> {
    if are_large { until_the_last(outcome) } else { outcome.throughput() }
}

/// Good answers per second up to the last one.
fn until_the_last(outcome: &Outcome) -> Option<f64> {
    let bytes = outcome.record.body_bytes as f64;
    let bandwidth = outcome.rates.bandwidth_to_last.filter(|_| bytes > 0.0);
    bandwidth.map(|rate| rate / bytes * outcome.record.good as f64)
}

/// The fault of a load without a single good answer.
fn no_good_answer(outcome: &Outcome, is_closed: bool) -> Fault {
    match (outcome.requests(), is_closed) {
        (0, true) => return Fault::new(unsent(&outcome.generator.threads)),
        (0, false) => return Fault::new("no request was due in this time"),
        _ => {}
    }
    let how = refused_at(outcome).map_or_else(String::new, |how| format!("; {how}"));
    let text = format!("no good answer: {}{how}", failures(outcome));
    Fault { kind: FaultKind::NoGoodAnswer(failed(outcome)), text }
}

/// Why a closed loop sent nothing: a connection of it always has a request to send, so its threads did not run.
fn unsent(threads: &[ThreadUse]) -> String {
    let seconds = |ns: fn(&ThreadUse) -> u64| threads.iter().map(ns).sum::<u64>() as f64 / 1e9;
    let cpus: BTreeSet<usize> = threads.iter().filter_map(|thread| thread.cpu).collect();
    let cpus: Vec<u32> = cpus.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect();
    let cpus = if cpus.is_empty() { "their CPUs".to_owned() } else { super::words::cpus(&cpus) };
    format!(
        "no request was sent: the threads of the generator ran {:.3} s of {:.3} s, on CPUs that other work filled, or \
         while memory was short; end what else works on {cpus}, give the server more memory, or raise duration",
        seconds(|thread| thread.cpu_ns),
        seconds(|thread| thread.wall_ns)
    )
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

/// How a load was made, as far as its figures depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Few answers fit into the take's time, which would cut the last ones.
    pub are_large: bool,
    pub is_closed: bool,
}

/// Pushes the engine's record. Fails for a take without a single good answer.
pub fn push(outcome: &Outcome, manner: Manner, record: &mut dyn Record) -> Result<(), Fault> {
    let Manner { are_large, is_closed } = manner;
    if outcome.record.good == 0 {
        return Err(no_good_answer(outcome, is_closed));
    }
    let responses = outcome.response_time();
    // None complete within the time: the answers are too long for such a rate.
    record.push_if(&THROUGHPUT, rate(outcome, are_large).filter(|rate| *rate > 0.0).map(PerSec));
    let bandwidth = if are_large { outcome.rates.bandwidth_to_last } else { outcome.rates.bandwidth };
    if let Some(rate) = bandwidth.filter(|_| outcome.record.body_bytes > 0) {
        record.push(&BANDWIDTH, Bytes(rate) / Seconds(1.0));
    }
    if outcome.answering_s > 0.0 {
        record.push(&ANSWERING, Seconds(outcome.answering_s));
    }
    for (metric, quantile) in [(&RESPONSE, 0.5), (&RESPONSE_P99, 0.99)] {
        record.push_if(metric, responses.percentile_s(quantile).map(Seconds));
    }
    record.push_if(&RESPONSE_MEAN, responses.mean_ns().map(|ns| Seconds(ns / 1e9)));
    record.push_if(&ERROR_RATE, outcome.error_rate().map(Ratio));
    record.push_if(&CPU, outcome.cpu_per_request_s().map(Seconds));
    push_evidence(outcome, record);
    if outcome.record.failures.total() > 0 {
        record.remark("errors", &failures(outcome));
    }
    Ok(())
}

/// Pushes what tells whether a load may be believed, and all its times.
pub fn push_evidence(outcome: &Outcome, record: &mut dyn Record) {
    record.push_if(&IN_FLIGHT, outcome.rates.in_flight.map(Count));
    record.push_if(&LATE, outcome.late_p99_s().map(Seconds));
    if let Some((mean, p99)) = outcome.unread_s() {
        record.push(&LATE_READ, Seconds(mean));
        record.push_if(&LATE_READ_P99, p99.map(Seconds));
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
    if let Some(coding) = &outcome.record.coding {
        record.note(NoteBody::ContentEncoding { coding: coding.clone() });
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
    fn a_closed_loop_that_sent_nothing_says_that_its_threads_did_not_run() {
        let thread = |cpu, cpu_ns| ThreadUse {
            host: 0,
            cpu,
            connections: 1,
            cpu_ns,
            spun_ns: 0,
            wall_ns: 1_200_000_000,
            allowed_ns: 1_200_000_000,
        };
        let said = unsent(&[thread(Some(1), 3_000_000)]);
        assert!(said.starts_with("no request was sent: ") && !said.contains("due"), "{said}");
        assert!(said.contains("ran 0.003 s of 1.200 s") && said.contains("works on CPU 1,"), "{said}");
        assert!(unsent(&[thread(None, 0)]).contains("works on their CPUs,"));
    }

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
