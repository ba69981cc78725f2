//! The record of one generator thread: times in nanoseconds, counts, bytes, and requests in flight over time.
//!
//! Response time runs from the intended start, service time from the actual one (the first byte sent, or the start of
//! connecting where the request needed a new connection), both to the last byte of a good answer. A request without one
//! (refused, reset, a bad answer, over the time limit, unsent) is slower than any: it is counted beyond every time, and
//! its age is kept apart. Nothing is allocated after `new`, and recorders merge exactly.

mod falling;

use model::Histogram;
use model::histogram::HIGHEST_NS;
use model::log_linear::LogLinear;
use serde::{Deserialize, Serialize};

use super::failure::{Failure, Failures};
use super::redirect::{self, Redirects};
use super::stalls::Stalls;
use super::statuses::Statuses;

/// The buckets of the stored histogram: 1 ns to 1 h with three digits.
type Buckets = LogLinear<10, HIGHEST_NS>;

/// Upper bound of any count of one host: sums of some thousand such counts do not overflow.
const MOST: u64 = 1 << 50;

/// Counts of durations by bucket, and their sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Received")]
pub struct Counts {
    buckets: Buckets,
    sum_ns: u128,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { buckets: Buckets::with_room(), sum_ns: 0 }
    }
}

impl Counts {
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.buckets.record(ns.max(1));
        self.sum_ns += u128::from(ns);
    }

    pub fn merge(&mut self, other: &Counts) {
        self.buckets.merge(&other.buckets);
        self.sum_ns += other.sum_ns;
    }

    pub fn total(&self) -> u64 {
        self.buckets.total()
    }

    /// The sum of all values, exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The same counts as the histogram that is stored, with so many requests that are beyond every time.
    pub fn histogram(&self, over: u64) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.record_over(over);
        let saturated = self.buckets.saturated();
        for bin in self.buckets.bins() {
            let over = if bin.high >= HIGHEST_NS { saturated } else { 0 };
            histogram.record_n(bin.low, bin.count - over);
            histogram.record_n(u64::MAX, over);
        }
        histogram
    }
}

/// Counts from another process, which may hold anything.
#[derive(Deserialize)]
struct Received {
    buckets: Buckets,
    sum_ns: u128,
}

impl TryFrom<Received> for Counts {
    type Error = &'static str;

    fn try_from(Received { buckets, sum_ns }: Received) -> Result<Counts, &'static str> {
        if buckets.total() > MOST {
            return Err("too many times");
        }
        if sum_ns > u128::from(buckets.total()) * u128::from(u64::MAX) {
            return Err("a sum that so many times cannot have");
        }
        Ok(Counts { buckets, sum_ns })
    }
}

/// How many requests are in flight, integrated over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    now: u64,
    most: u64,
    since_ns: u64,
    area_ns: u128,
}

impl InFlight {
    #[inline]
    fn step_to(&mut self, at_ns: u64) {
        self.area_ns += u128::from(self.now) * u128::from(at_ns.saturating_sub(self.since_ns));
        self.since_ns = self.since_ns.max(at_ns);
    }

    #[inline]
    pub fn enter(&mut self, at_ns: u64) {
        self.step_to(at_ns);
        self.now += 1;
        self.most = self.most.max(self.now);
    }

    #[inline]
    pub fn leave(&mut self, at_ns: u64) {
        self.step_to(at_ns);
        self.now = self.now.saturating_sub(1);
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    /// The most at once; of merged recorders the sum, which they need not have reached together.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Requests times nanoseconds.
    pub fn area_ns(&self) -> u128 {
        self.area_ns
    }

    fn merge(&mut self, other: &InFlight) {
        self.now += other.now;
        self.most += other.most;
        self.since_ns = self.since_ns.max(other.since_ns);
        self.area_ns += other.area_ns;
    }
}

/// When one request was due, sent and over; nanoseconds on one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub intended_ns: u64,
    pub started_ns: u64,
    pub ended_ns: u64,
}

/// One thread's record of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorder {
    /// Good answers to requests that were sent when they were due, as all of a closed loop are: one time is both.
    prompt: Counts,
    /// The other good answers.
    response: Counts,
    service: Counts,
    /// From the actual start to the failure, of the requests that were begun and failed.
    pub bad: Counts,
    /// Ages of all failed requests, from the intended start.
    pub failed: Counts,
    /// How late the generator was: from when a request could be sent (due, and a connection free) until it was.
    pub late: Counts,
    /// How long good answers lay in the host until they were read, of those whose arrival the kernel stamped. Their
    /// response times do not hold it.
    pub unread: Counts,
    /// How long due requests waited for a free connection; only those that waited.
    pub waited: Counts,
    /// From the start of connecting until the connection (and TLS) stood, those before the start included.
    pub connect: Counts,
    pub failures: Failures,
    pub good: u64,
    /// Good answers that were complete before the window closed.
    pub good_in_window: u64,
    pub in_flight: InFlight,
    /// Bytes taken from and given to the sockets (under TLS: the plain bytes).
    pub received_bytes: u64,
    pub sent_bytes: u64,
    /// Bytes of the bodies of good answers.
    pub body_bytes: u64,
    /// Of those that were complete before the window closed.
    pub body_bytes_in_window: u64,
    /// Idle connections on which the server sent something that nobody asked for.
    pub unasked: u64,
    pub last_end_ns: u64,
    /// The end of the last answer, good or not.
    pub last_answer_ns: u64,
    pub redirects: Redirects,
    /// The first content coding that an answer had.
    pub coding: Option<String>,
    pub statuses: Statuses,
    pub stalls: Stalls,
}

impl Recorder {
    /// A request was sent at `started_ns`.
    #[inline]
    pub fn start(&mut self, started_ns: u64) {
        if self.in_flight.now == 0 {
            self.stalls.begin(started_ns);
        }
        self.in_flight.enter(started_ns);
    }

    #[inline]
    fn end(&mut self, ended_ns: u64) {
        self.in_flight.leave(ended_ns);
        self.last_end_ns = self.last_end_ns.max(ended_ns);
    }

    #[inline]
    fn time(&mut self, times: Times) {
        let response_ns = times.ended_ns.saturating_sub(times.intended_ns);
        if times.intended_ns == times.started_ns {
            self.prompt.record(response_ns);
        } else {
            self.response.record(response_ns);
            self.service.record(times.ended_ns.saturating_sub(times.started_ns));
        }
    }

    /// A good answer was read at `read_ns`, at or after its arrival.
    #[inline]
    pub fn good(&mut self, times: Times, read_ns: u64, body_bytes: u64, in_window: bool) {
        self.stalls.answer(read_ns, self.in_flight.now);
        self.end(read_ns);
        self.time(times);
        self.last_answer_ns = self.last_answer_ns.max(times.ended_ns);
        self.good += 1;
        self.good_in_window += u64::from(in_window);
        self.body_bytes += body_bytes;
        self.body_bytes_in_window += if in_window { body_bytes } else { 0 };
    }

    /// A request failed, which was seen at `seen_ns`, at or after its end.
    pub fn failed(&mut self, times: Times, seen_ns: u64, kind: Failure) {
        // A time limit that passed is our doing.
        if !matches!(kind, Failure::Timeout | Failure::Cut) {
            self.stalls.answer(seen_ns, self.in_flight.now);
        }
        self.end(seen_ns);
        self.bad.record(times.ended_ns.saturating_sub(times.started_ns));
        if kind.is_answer() {
            self.last_answer_ns = self.last_answer_ns.max(times.ended_ns);
        }
        self.failed.record(times.ended_ns.saturating_sub(times.intended_ns));
        self.failures.add(kind);
    }

    /// A request that was due and never sent.
    pub fn unsent(&mut self, intended_ns: u64, now_ns: u64) {
        self.failed.record(now_ns.saturating_sub(intended_ns));
        self.failures.add(Failure::Unsent);
    }

    /// So many requests that were due and never sent, at these times, which ascend.
    pub fn unsent_many(&mut self, count: u64, intended_ns: impl Fn(u64) -> u64, now_ns: u64) {
        self.failed.record_falling(count, |nth| now_ns.saturating_sub(intended_ns(nth)));
        self.failures.add_many(Failure::Unsent, count);
    }

    /// From the intended start to the end, of all good answers.
    pub fn response(&self) -> Counts {
        let mut all = self.prompt.clone();
        all.merge(&self.response);
        all
    }

    /// From the actual start to the end, of the same.
    pub fn service(&self) -> Counts {
        let mut all = self.prompt.clone();
        all.merge(&self.service);
        all
    }

    /// Response times; every failed request is beyond them.
    pub fn response_times(&self) -> Histogram {
        self.response().histogram(self.failures.total())
    }

    /// Service times; every request that was begun and failed is beyond them.
    pub fn service_times(&self) -> Histogram {
        self.service().histogram(self.bad.total())
    }

    /// Requests that were begun, failed ones included.
    pub fn begun(&self) -> u64 {
        self.prompt.total() + self.service.total() + self.bad.total()
    }

    /// Requests that had a connection to the server.
    pub fn sent(&self) -> u64 {
        self.begun().saturating_sub(self.failures.count(Failure::Connect))
    }

    /// From the actual start to the end, summed over all that were begun. Tests hold it against the requests in flight.
    #[cfg(test)]
    pub fn served_ns(&self) -> u128 {
        self.prompt.sum_ns + self.service.sum_ns + self.bad.sum_ns
    }

    /// Requests that are over: good and failed.
    pub fn requests(&self) -> u64 {
        self.good + self.failures.total()
    }

    /// Counts times from `start_ns` on, so that records of hosts whose clocks differ can be merged.
    pub fn count_from(&mut self, start_ns: u64) {
        self.last_end_ns = self.last_end_ns.saturating_sub(start_ns);
        self.last_answer_ns = self.last_answer_ns.saturating_sub(start_ns);
        self.in_flight.since_ns = self.in_flight.since_ns.saturating_sub(start_ns);
    }

    /// Says what no recorder can have recorded: a record that came from elsewhere may hold anything.
    pub fn check(&self) -> Result<(), &'static str> {
        let failures = Failure::ALL.iter().map(|kind| self.failures.count(*kind));
        let counts = [self.good, self.good_in_window, self.received_bytes, self.sent_bytes, self.body_bytes];
        let in_flight = [self.unasked, self.in_flight.now, self.in_flight.most];
        if counts.into_iter().chain(in_flight).chain(failures).any(|count| count > MOST) {
            return Err("a count beyond what a host can count");
        }
        if self.in_flight.area_ns > u128::from(MOST) * u128::from(u64::MAX) {
            return Err("more time in flight than there is");
        }
        let unsent = self.failures.count(Failure::Unsent);
        if self.prompt.total() + self.response.total() != self.good
            || self.unread.total() > self.good
            || self.good_in_window > self.good
            || self.body_bytes_in_window > self.body_bytes
            || self.failed.total() != self.failures.total()
            || self.bad.total().checked_add(unsent) != Some(self.failures.total())
        {
            return Err("other numbers of requests than of times");
        }
        if self.statuses.total() > self.failures.total() {
            return Err("more bad statuses than bad answers");
        }
        if !self.coding.iter().all(|coding| redirect::is_place(coding)) {
            return Err("a content coding that no server gave");
        }
        self.stalls.check()?;
        self.redirects.check()
    }

    pub fn merge(&mut self, other: &Recorder) {
        self.prompt.merge(&other.prompt);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.bad.merge(&other.bad);
        self.failed.merge(&other.failed);
        self.late.merge(&other.late);
        self.unread.merge(&other.unread);
        self.waited.merge(&other.waited);
        self.connect.merge(&other.connect);
        self.failures.merge(&other.failures);
        self.in_flight.merge(&other.in_flight);
        self.good += other.good;
        self.good_in_window += other.good_in_window;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.body_bytes += other.body_bytes;
        self.body_bytes_in_window += other.body_bytes_in_window;
        self.unasked += other.unasked;
        self.last_end_ns = self.last_end_ns.max(other.last_end_ns);
        self.last_answer_ns = self.last_answer_ns.max(other.last_answer_ns);
        self.redirects.merge(&other.redirects);
        if self.coding.is_none() {
            self.coding.clone_from(&other.coding);
        }
        self.statuses.merge(&other.statuses);
        self.stalls.merge(&other.stalls);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values of every magnitude, borders of buckets among them.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        let one = (0u32..64, -2i64..3, any::<u64>(), any::<bool>()).prop_map(|(bits, off, any, border)| {
            let power = 1u64 << bits;
            if border { power.saturating_add_signed(off) } else { any % power.max(1) }
        });
        proptest::collection::vec(one, 0..100)
    }

    proptest! {
        #[test]
        fn the_buckets_are_those_of_the_stored_histogram(values in values()) {
            let (mut counts, mut histogram) = (Counts::default(), Histogram::default());
            for &value in &values {
                counts.record(value);
                histogram.record(value);
            }
            prop_assert_eq!(counts.histogram(0), histogram);
            prop_assert_eq!(counts.sum_ns(), values.iter().map(|&value| u128::from(value)).sum::<u128>());
        }

        #[test]
        fn merged_recorders_are_one(values in values(), cut in 0usize..100) {
            let fill = |values: &[u64]| {
                let mut recorder = Recorder::default();
                for &value in values {
                    let times = Times { intended_ns: 0, started_ns: value / 2, ended_ns: value };
                    recorder.start(times.started_ns);
                    if value % 3 == 0 {
                        recorder.failed(times, value, Failure::ALL[(value % 12) as usize]);
                    } else {
                        recorder.good(times, value, value % 7, value % 2 == 0);
                    }
                    recorder.late.record(value % 1000);
                }
                recorder
            };
            let (left, right) = values.split_at(cut.min(values.len()));
            let mut merged = fill(left);
            merged.merge(&fill(right));
            let whole = fill(&values);
            prop_assert_eq!(&merged.response(), &whole.response());
            prop_assert_eq!(&merged.service(), &whole.service());
            prop_assert_eq!(&merged.failed, &whole.failed);
            prop_assert_eq!(&merged.failures, &whole.failures);
            prop_assert_eq!((merged.good, merged.good_in_window, merged.body_bytes),
                            (whole.good, whole.good_in_window, whole.body_bytes));
            prop_assert_eq!(merged.requests(), values.len() as u64);
            prop_assert_eq!((merged.begun(), merged.served_ns()), (whole.begun(), whole.served_ns()));
            prop_assert_eq!(merged.last_answer_ns, whole.last_answer_ns);
            // What comes back from another process is the same record.
            prop_assert_eq!(merged.check(), Ok(()));
            let bytes = postcard::to_stdvec(&merged).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Recorder>(&bytes).unwrap(), merged);
        }

        #[test]
        fn bytes_of_anybody_give_a_record_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            at in any::<prop::sample::Index>(),
            with in any::<u8>(),
        ) {
            let mut sound = Recorder::default();
            sound.unsent(3, 1 << 40);
            let mut damaged = postcard::to_stdvec(&sound).unwrap();
            let at = at.index(damaged.len());
            damaged[at] = with;
            for bytes in [bytes, damaged] {
                if let Ok(record) = postcard::from_bytes::<Recorder>(&bytes) && record.check().is_ok() {
                    let mut twice = record.clone();
                    twice.merge(&record);
                    prop_assert_eq!(twice.requests(), 2 * record.requests());
                }
            }
        }

        #[test]
        fn the_area_in_flight_is_the_sum_of_the_service_times(
            mut spans in proptest::collection::vec((0u64..1_000_000, 0u64..1_000_000), 1..60),
        ) {
            // Little's law holds exactly when both sides count the same requests.
            let mut recorder = Recorder::default();
            let mut events: Vec<_> = Vec::new();
            for span in &mut spans {
                span.1 += span.0;
                events.push((span.0, false, *span));
                events.push((span.1, true, *span));
            }
            events.sort_unstable();
            for (at_ns, is_end, (started_ns, ended_ns)) in events {
                if is_end {
                    recorder.good(Times { intended_ns: started_ns, started_ns, ended_ns }, ended_ns, 0, true);
                } else {
                    recorder.start(at_ns);
                }
            }
            prop_assert_eq!(recorder.in_flight.area_ns(), recorder.service().sum_ns());
            prop_assert_eq!(recorder.in_flight.now(), 0);
        }
    }

    #[test]
    fn a_failed_request_is_slower_than_any_answer() {
        let mut recorder = Recorder::default();
        let times = |started_ns, long_ns| Times {
            intended_ns: started_ns,
            started_ns,
            ended_ns: started_ns + long_ns,
        };
        for (times, kind) in [
            (times(0, 9_000), None),
            (times(10_000, 9_500), Some(Failure::Status5xx)),
            (times(20_000, 50), Some(Failure::Connect)),
            (times(30_000, 60), Some(Failure::Reset)),
            (times(40_000, 100_000), Some(Failure::Timeout)),
        ] {
            recorder.start(times.started_ns);
            match kind {
                None => recorder.good(times, times.ended_ns, 1, true),
                Some(kind) => recorder.failed(times, times.ended_ns, kind),
            }
        }
        let response = recorder.response_times();
        assert_eq!((response.count(), response.over(), recorder.response().sum_ns()), (5, 4, 9_000));
        assert!(response.quantile_s(0.2).is_some_and(|seconds| (seconds / 9e-6 - 1.0).abs() < 1e-3));
        assert_eq!((response.quantile_s(0.21), response.mean_ns()), (Some(f64::INFINITY), None));
        assert_eq!((recorder.requests(), recorder.begun(), recorder.sent()), (5, 5, 4));
        assert_eq!((recorder.failed.total(), recorder.service_times().over()), (4, 4));
        assert_eq!((recorder.last_answer_ns, recorder.last_end_ns), (19_500, 140_000));
        // In flight it was all the same.
        assert_eq!(recorder.in_flight.area_ns(), recorder.served_ns());
        assert_eq!(recorder.check(), Ok(()));
    }

    #[test]
    fn unsent_requests_are_beyond_the_response_times_alone() {
        let mut recorder = Recorder::default();
        recorder.unsent(1_000, 5_000);
        recorder.unsent_many(2, |nth| nth, 5_000);
        assert_eq!((recorder.response_times().over(), recorder.service_times().count()), (3, 0));
        assert_eq!((recorder.failed.total(), recorder.failed.sum_ns()), (3, 4_000 + 5_000 + 4_999));
        assert_eq!((recorder.failures.count(Failure::Unsent), recorder.requests()), (3, 3));
        assert_eq!(recorder.check(), Ok(()));
    }
}
