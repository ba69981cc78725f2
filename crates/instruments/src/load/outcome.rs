//! The outcome of a load: counts, rates, times, and what the generator itself used. Times are seconds.
//!
//! `elapsed` is the window: the given duration, or the time from the start to the last answer where a number of
//! requests was given. `throughput` and `bandwidth` count good answers that were complete within the window. Other
//! rates divide by the window, or by the time up to the last answer (for requests in flight: the last end) where that
//! is later. The drain after the window adds to counts and times only.
//!
//! Each of several generators has its own window by its own clock. Their rates are computed per window and added up;
//! counts, times and requests in flight are those of all. Nothing is averaged. How far apart the windows started is
//! reported and changes no figure.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use model::Histogram;
use serde::{Deserialize, Serialize};

use super::Target;
use super::engine::{Ran, ThreadUse};
use super::failure::Failure;
use super::recorder::Recorder;
use super::redirect::{self, place};

/// The result of one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub record: Recorder,
    pub address: SocketAddr,
    /// The length of the window; with several generators the longest one, as for `answering_s`.
    pub elapsed_s: f64,
    /// From the start to the last answer, good or not, drain included. Failures without an answer do not count.
    pub answering_s: f64,
    pub rates: Rates,
    pub generator: Generator,
    /// The first URL that got each status of 4xx and 5xx; unprintable bytes are escaped.
    pub met: BTreeMap<u16, String>,
}

/// Rates per second, which add up over generators; `None` when no time passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Good answers within the window, divided by its length.
    pub throughput: Option<f64>,
    /// Body bytes of good answers within the window, divided by its length.
    pub bandwidth: Option<f64>,
    /// Body bytes of all good answers, by the time up to the last answer where that came after the window.
    pub bandwidth_to_last: Option<f64>,
    /// Mean requests in flight, measured directly.
    pub in_flight: Option<f64>,
}

/// `None` if either is missing: a partial sum would be wrong.
fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}

/// CPU that the generator used, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    pub threads: Vec<ThreadUse>,
    /// CPU time of all threads from the start to the end of the drain, spinning included.
    pub cpu_s: f64,
    pub spun_s: f64,
}

fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

impl Outcome {
    pub(super) fn new(mut ran: Ran, address: SocketAddr, targets: &[Target]) -> Outcome {
        ran.record.stalls.count_from(ran.start_ns);
        let last_ns = ran.window_end_ns.unwrap_or(ran.record.last_end_ns);
        let all =
            |of: fn(&ThreadUse) -> u64| seconds(ran.threads.iter().map(|one| u128::from(of(one))).sum());
        let elapsed_s = seconds(last_ns.saturating_sub(ran.start_ns).into());
        let since = |at_ns: u64| seconds(at_ns.saturating_sub(ran.start_ns).into());
        let answering_s = since(ran.record.last_answer_ns);
        let ending_s = elapsed_s.max(since(ran.record.last_end_ns));
        let by = |amount: f64, span_s: f64| (span_s > 0.0).then(|| amount / span_s);
        let first = |which: u32| {
            let target = targets.get(which as usize)?;
            Some(place(target.url.to_string().as_bytes()))
        };
        let met = ran.record.statuses.seen().filter_map(|met| Some((met.status, first(met.first)?)));
        Outcome {
            met: met.collect(),
            address,
            elapsed_s,
            answering_s,
            rates: Rates {
                throughput: by(ran.record.good_in_window as f64, elapsed_s),
                bandwidth: by(ran.record.body_bytes_in_window as f64, elapsed_s),
                bandwidth_to_last: by(ran.record.body_bytes as f64, elapsed_s.max(answering_s)),
                in_flight: by(seconds(ran.record.in_flight.area_ns()), ending_s),
            },
            generator: Generator {
                cpu_s: all(|one| one.cpu_ns),
                spun_s: all(|one| one.spun_ns),
                threads: ran.threads,
            },
            record: ran.record,
        }
    }

    /// Adds the outcome of another generator on the same server.
    pub fn merge(&mut self, other: Outcome) {
        self.record.merge(&other.record);
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.answering_s = self.answering_s.max(other.answering_s);
        self.rates = Rates {
            throughput: sum(self.rates.throughput, other.rates.throughput),
            bandwidth: sum(self.rates.bandwidth, other.rates.bandwidth),
            bandwidth_to_last: sum(self.rates.bandwidth_to_last, other.rates.bandwidth_to_last),
            in_flight: sum(self.rates.in_flight, other.rates.in_flight),
        };
        self.generator.cpu_s += other.generator.cpu_s;
        self.generator.spun_s += other.generator.spun_s;
        self.generator.threads.extend(other.generator.threads);
        for (status, url) in other.met {
            self.met.entry(status).or_insert(url);
        }
    }

    /// Fails when the outcome is impossible, since one from another process may hold anything.
    pub fn check(&self) -> Result<(), &'static str> {
        self.record.check()?;
        if !self.met.values().all(|url| redirect::is_place(url)) {
            return Err("an impossible URL");
        }
        let Rates { throughput, bandwidth, bandwidth_to_last, in_flight } = self.rates;
        let rates = [throughput, bandwidth, bandwidth_to_last, in_flight];
        let times = [self.elapsed_s, self.answering_s, self.generator.cpu_s, self.generator.spun_s];
        let numbers = rates.into_iter().flatten().chain(times);
        numbers
            .into_iter()
            .all(|number| number.is_finite() && number >= 0.0)
            .then_some(())
            .ok_or("a time or rate that is not a number")
    }

    /// Requests that completed or failed.
    pub fn requests(&self) -> u64 {
        self.record.requests()
    }

    /// Good answers per second, of all generators together; `None` when no time passed.
    pub fn throughput(&self) -> Option<f64> {
        self.rates.throughput
    }

    /// Times from the intended start to the end of good answers; failed requests are beyond them all.
    pub fn response_time(&self) -> Histogram {
        self.record.response_times()
    }

    /// Times from the actual start to the end, of the same requests as far as they were sent.
    pub fn service_time(&self) -> Histogram {
        self.record.service_times()
    }

    /// The share of requests that failed; `None` without any. Those cut off by the end of the load are in neither.
    pub fn error_rate(&self) -> Option<f64> {
        let cut = self.record.failures.count(Failure::Cut);
        let (failed, all) = (self.record.failures.total() - cut, self.requests() - cut);
        (all > 0).then(|| failed as f64 / all as f64)
    }

    /// The 99th percentile of how late requests were sent, in seconds; `None` in a closed loop.
    pub fn late_p99_s(&self) -> Option<f64> {
        self.record.late.histogram(0).percentile_s(0.99)
    }

    /// How long good answers lay in this host until they were read, in seconds: the mean, and the 99th percentile.
    /// `None` where the kernel stamped the arrival of fewer than 99 in 100.
    pub fn unread_s(&self) -> Option<(f64, Option<f64>)> {
        let unread = self.record.unread.histogram(0);
        if self.record.unread.total() < self.record.good - self.record.good / 100 {
            return None;
        }
        Some((unread.mean_ns()? / 1e9, unread.percentile_s(0.99)))
    }

    /// CPU seconds per request begun, without spinning; `None` when no request was begun.
    pub fn cpu_per_request_s(&self) -> Option<f64> {
        let begun = self.record.begun();
        (begun > 0).then(|| (self.generator.cpu_s - self.generator.spun_s).max(0.0) / begun as f64)
    }
}
