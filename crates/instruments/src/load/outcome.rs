//! What a load gave: counts, rates, times, and what the generator itself used.
//!
//! `elapsed` is the window: the given duration, or from the start to the last answer where a number of requests was
//! given.
//! `throughput` counts good answers that were complete within it; the drain after it adds to the counts and times only.
//! What else is per second is of the window too, or of the time up to the last answer (for what is in flight: the last
//! end) where that came after it.
//!
//! Several generators each have a window of their own, by their own clock: what is per second is so for each by its own
//! window, and adds up. Counts, times and what is in flight are those of all; nothing is averaged. How far apart they
//! started is told, and changes no figure.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use model::Histogram;
use serde::{Deserialize, Serialize};

use super::Target;
use super::engine::{Ran, ThreadUse};
use super::recorder::Recorder;
use super::redirect::{self, place};

/// The result of one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub record: Recorder,
    pub address: SocketAddr,
    /// Of several generators the longest, as the next.
    pub elapsed_s: f64,
    /// From the start to the last answer, good or not, the drain included; failures without one do not count.
    pub answering_s: f64,
    pub rates: Rates,
    pub generator: Generator,
    /// The first URL that met each status of 4xx and 5xx, as far as it is printable.
    pub met: BTreeMap<u16, String>,
}

/// What is per second, which adds up over generators; `None` when no time passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Good answers within the window, by its length.
    pub throughput: Option<f64>,
    /// Bytes of the bodies of good answers.
    pub bandwidth: Option<f64>,
    /// Both sides of Little's law: requests in flight on average.
    pub in_flight: Option<f64>,
    pub served: Option<f64>,
}

/// Missing stays missing: a sum of some is not the sum of all.
fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}

/// What the generator used, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    pub threads: Vec<ThreadUse>,
    /// Of all threads, from the start to the end of the drain; spinning is within.
    pub cpu_s: f64,
    pub spun_s: f64,
}

/// Both sides of Little's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Little {
    /// Requests in flight, integrated over time, in seconds.
    pub in_flight_s: f64,
    /// The number of requests times their mean service time, in seconds.
    pub served_s: f64,
}

impl Little {
    /// How far apart the two sides are, as a share of the larger; `None` when nothing was sent.
    #[must_use]
    pub fn apart(&self) -> Option<f64> {
        let larger = self.in_flight_s.max(self.served_s);
        (larger > 0.0).then(|| (self.in_flight_s - self.served_s).abs() / larger)
    }
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
                bandwidth: by(ran.record.body_bytes as f64, elapsed_s.max(answering_s)),
                in_flight: by(seconds(ran.record.in_flight.area_ns()), ending_s),
                served: by(seconds(ran.record.served_ns()), ending_s),
            },
            generator: Generator {
                cpu_s: all(|one| one.cpu_ns),
                spun_s: all(|one| one.spun_ns),
                threads: ran.threads,
            },
            record: ran.record,
        }
    }

    /// Adds what another generator did, which had the same server.
    pub fn merge(&mut self, other: Outcome) {
        self.record.merge(&other.record);
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.answering_s = self.answering_s.max(other.answering_s);
        self.rates = Rates {
            throughput: sum(self.rates.throughput, other.rates.throughput),
            bandwidth: sum(self.rates.bandwidth, other.rates.bandwidth),
            in_flight: sum(self.rates.in_flight, other.rates.in_flight),
            served: sum(self.rates.served, other.rates.served),
        };
        self.generator.cpu_s += other.generator.cpu_s;
        self.generator.spun_s += other.generator.spun_s;
        self.generator.threads.extend(other.generator.threads);
        for (status, url) in other.met {
            self.met.entry(status).or_insert(url);
        }
    }

    /// Says what no load can have given: an outcome that came from elsewhere may hold anything.
    pub fn check(&self) -> Result<(), &'static str> {
        self.record.check()?;
        if !self.met.values().all(|url| redirect::is_place(url)) {
            return Err("a URL that no load has");
        }
        let rates = [self.rates.throughput, self.rates.bandwidth, self.rates.in_flight, self.rates.served];
        let times = [self.elapsed_s, self.answering_s, self.generator.cpu_s, self.generator.spun_s];
        let numbers = rates.into_iter().flatten().chain(times);
        numbers
            .into_iter()
            .all(|number| number.is_finite() && number >= 0.0)
            .then_some(())
            .ok_or("a time or rate that is no number")
    }

    /// Completed and failed.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.record.requests()
    }

    /// Good answers a second, of all generators together; `None` when no time passed.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        self.rates.throughput
    }

    /// From the intended start to the end, of all requests but those without an answer.
    #[must_use]
    pub fn response_time(&self) -> Histogram {
        self.record.response().histogram()
    }

    /// From the actual start to the end, of the same requests as far as they were sent.
    #[must_use]
    pub fn service_time(&self) -> Histogram {
        self.record.service().histogram()
    }

    /// How late 99 in 100 sends at most were, in seconds; `None` in a closed loop.
    #[must_use]
    pub fn late_p99_s(&self) -> Option<f64> {
        self.record.late.histogram().quantile_ns(0.99).map(|ns| ns as f64 / 1e9)
    }

    #[must_use]
    pub fn little(&self) -> Little {
        Little {
            in_flight_s: seconds(self.record.in_flight.area_ns()),
            served_s: seconds(self.record.served_ns()),
        }
    }

    /// CPU seconds for each request that was begun, without spinning; `None` when none was.
    #[must_use]
    pub fn cpu_per_request_s(&self) -> Option<f64> {
        let begun = self.record.begun();
        (begun > 0).then(|| (self.generator.cpu_s - self.generator.spun_s).max(0.0) / begun as f64)
    }
}
