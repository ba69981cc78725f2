//! The longest stall of a load: a time in which requests waited and none was answered, beyond what its rate and its
//! usual answers explain.
//!
//! Seconds from the start of the load, by take; the longest of all takes is told. Where every answer takes that long,
//! or answers are that far apart, it is no stall, nor where all waited
//! for connections that were dropped (`lost_syns`). A server that never answers again is `bottleneck/silent.rs`.

use std::collections::BTreeMap;

use model::finding::Stall;
use model::metrics::load;
use model::{Phase, Value};

use super::{Load, lost_syns, queues};

/// The least time, the least number of mean distances between answers, and of median service times.
const LEAST_S: f64 = 0.25;
const DISTANCES: f64 = 20.0;
const ANSWERS: f64 = 3.0;

/// `None` where no take had one.
pub fn longest(load: &Load<'_>) -> Option<Stall> {
    let (longs, starts) = (load.by_take(&load::STALL), load.by_take(&load::STALL_AT));
    let in_flight = load.by_take(&load::STALL_WAITING);
    let (last, requests) = (load.by_take(&load::ANSWERING), load.by_take(&load::REQUESTS));
    let usual = usual(load);
    let is_one = |seq: &u64, long: f64| {
        let distance = last.get(seq).zip(requests.get(seq)).map(|(last, requests)| last / requests.max(1.0));
        long >= LEAST_S
            && distance.is_some_and(|distance| long >= DISTANCES * distance)
            && usual.get(seq).is_none_or(|usual| long >= ANSWERS * usual)
    };
    let found: Vec<(u64, f64)> =
        longs.iter().filter(|(seq, long)| is_one(seq, **long)).map(|(seq, long)| (*seq, *long)).collect();
    let (seq, long) = found.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let waited = in_flight.get(&seq).copied();
    if lost_syns::explains(load, long) || waited.is_some_and(|waited| is_of_application(load, waited)) {
        return None;
    }
    Some(Stall {
        at: *starts.get(&seq)?,
        long,
        in_flight: waited,
        due: load.offered().filter(|_| !load.is_closed()).map(|rate| rate * long),
        takes: found.len(),
        of: load.takes().len(),
    })
}

/// An application behind the server dropped as many connections as requests waited: they wait to be sent again.
fn is_of_application(load: &Load<'_>, waited: f64) -> bool {
    queues::fullest(load, &[]).is_some_and(|(queue, drops)| !queue.is_servers && drops >= waited.max(1.0))
}

/// The median service time by take.
fn usual(load: &Load<'_>) -> BTreeMap<u64, f64> {
    let whole = load.of(load::SERVICES.name()).filter(|(_, _, part)| part.is_empty());
    let points = whole.flat_map(|(_, series, _)| &series.points).filter(|one| one.phase == Phase::Measured);
    let median = points.filter_map(|point| match &point.value {
        Value::Histogram(times) => Some((point.seq, times.quantile_ns(0.5)? as f64 / 1e9)),
        Value::Number(_) => None,
    });
    median.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::of_run;
    use crate::loads::planted::{load, one, times};

    const STALLED: [(&str, f64); 7] = [
        ("throughput", 1000.0),
        ("offered-load", 1000.0),
        ("requests", 5000.0),
        ("answering-time", 5.0),
        ("longest-stall", 0.98),
        ("longest-stall-at", 3.2),
        ("longest-stall-waiting", 50.0),
    ];

    #[test]
    fn a_stall_is_told_with_what_waited() {
        let run = one("arrivals=constant;rate=1000", &STALLED);
        let stall = longest(&of_run(&run, instruments::cards())[0]).unwrap();
        let says = "no answer for 980 ms from 3.20 s on, while about 980 requests came due (in 8 of 8 takes; the longest)";
        assert_eq!(stall.text(), says);
        let closed: Vec<(&str, f64)> =
            STALLED.into_iter().filter(|(name, _)| *name != "offered-load").collect();
        let run = one("arrivals=closed", &closed);
        assert!(
            longest(&of_run(&run, instruments::cards())[0])
                .unwrap()
                .text()
                .contains("on, while 50 requests waited (in 8")
        );
    }

    #[test]
    fn requests_that_an_application_dropped_make_no_stall() {
        let of = |owner: &str, drops: f64| {
            let part = format!("queue-drops;socket=127.0.0.1:8197;owner={owner}");
            let run = one("arrivals=closed", &[&STALLED[..], &[(part.as_str(), drops)]].concat());
            longest(&of_run(&run, instruments::cards())[0]).is_some()
        };
        assert!(!of("other", 50.0));
        // Fewer than waited, and at the server itself, where they may be what its stall made.
        assert!(of("other", 1.0) && of("server", 50.0));
    }

    #[test]
    fn answers_that_are_that_slow_or_that_rare_are_no_stall() {
        let with = |changed: &[(&str, f64)], service_us: u64| {
            let mut figures = STALLED.to_vec();
            for (name, value) in changed {
                figures.iter_mut().filter(|(known, _)| known == name).for_each(|one| one.1 = *value);
            }
            let mut run = crate::loads::planted::empty();
            let seqs = load(&mut run, "arrivals=closed", &figures);
            times(&mut run, &seqs, load::SERVICES.name(), "arrivals=closed", &[(service_us, 100)]);
            longest(&of_run(&run, instruments::cards())[0]).is_some()
        };
        assert!(with(&[], 1_000));
        assert!(!with(&[], 900_000), "each answer takes that long");
        assert!(!with(&[("requests", 50.0)], 1_000), "ten a second");
        assert!(!with(&[("longest-stall", 0.2)], 1_000));
        assert_eq!(
            longest(&of_run(&one("connections=1", &[("throughput", 1.0)]), instruments::cards())[0]),
            None
        );
    }
}
