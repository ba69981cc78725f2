//! What a load gave: counts, rates, times, and what the generator itself used.
//!
//! `elapsed` is the window: the given duration, or from the start to the last answer where a number of requests was
//! given.
//! `throughput` counts good answers that were complete within it; the drain after it adds to the counts and times only.

use std::net::SocketAddr;

use model::Histogram;

use super::engine::{Ran, ThreadUse};
use super::recorder::Recorder;

/// The result of one load.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub record: Recorder,
    pub address: SocketAddr,
    pub elapsed_s: f64,
    /// From the start to the last answer or failure, the drain included.
    pub answering_s: f64,
    pub generator: Generator,
}

/// What the generator used, in seconds.
#[derive(Clone, Debug, PartialEq)]
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
    pub(super) fn new(ran: Ran, address: SocketAddr) -> Outcome {
        let last_ns = ran.window_end_ns.unwrap_or(ran.record.last_end_ns);
        let sum =
            |of: fn(&ThreadUse) -> u64| seconds(ran.threads.iter().map(|one| u128::from(of(one))).sum());
        Outcome {
            address,
            elapsed_s: seconds(last_ns.saturating_sub(ran.start_ns).into()),
            answering_s: seconds(ran.record.last_end_ns.saturating_sub(ran.start_ns).into()),
            generator: Generator {
                cpu_s: sum(|one| one.cpu_ns),
                spun_s: sum(|one| one.spun_ns),
                threads: ran.threads,
            },
            record: ran.record,
        }
    }

    /// Completed and failed.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.record.requests()
    }

    /// Good answers a second; `None` when no time passed.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        (self.elapsed_s > 0.0).then(|| self.record.good_in_window as f64 / self.elapsed_s)
    }

    /// From the intended start to the end, of all requests.
    #[must_use]
    pub fn response_time(&self) -> Histogram {
        self.record.response().histogram()
    }

    /// From the actual start to the end, of all requests that were sent.
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
            served_s: seconds(self.record.service().sum_ns()),
        }
    }

    /// CPU seconds for each request that was sent, without spinning; `None` when none was.
    #[must_use]
    pub fn cpu_per_request_s(&self) -> Option<f64> {
        let sent = self.record.service().total();
        (sent > 0).then(|| (self.generator.cpu_s - self.generator.spun_s).max(0.0) / sent as f64)
    }
}

impl Generator {
    /// The share of its core that the busiest thread worked, spinning not counted.
    #[must_use]
    pub fn busiest_thread_share(&self) -> f64 {
        self.threads.iter().map(ThreadUse::share).fold(0.0, f64::max)
    }
}
