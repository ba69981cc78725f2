//! Requests that waited for a connection whose first packet, the SYN, was dropped.
//!
//! TCP waits 1 s for the answer to a SYN and sends it again, then 2 s, then 4 s: such requests take 1, 3 or 7 s longer
//! than others. They are told where the kernel counted dropped connections or SYNs that were sent again, the usual
//! answer is far faster, and most of the slow times lie at those steps. Counts are sums over all takes.

use model::drops as names;
use model::finding::LostSyns;
use model::metrics::load;
use model::{Histogram, Metric, Quantity};

use super::Load;

/// Seconds that are waited in all before the SYN is sent for the second, third and fourth time.
const STEPS: [u32; 3] = [1, 3, 7];
/// A time may be above its step by so much, besides that of usual answers.
const BEYOND_S: f64 = 0.1;
/// The usual answer is faster, so that steps can be told.
const USUAL_S: f64 = 0.3;
/// Fewer requests at the steps may be chance.
const LEAST: u64 = 3;

/// `None` where no request waited so, or it cannot be told.
pub fn of_load(load: &Load<'_>) -> Option<LostSyns> {
    let counters = load.sums_by(&load::DROPS, "counter");
    let dropped = [names::LISTEN_OVERFLOW, names::LISTEN_DROP, names::SYN_RETRANSMITS];
    let is_dropped = dropped.iter().any(|name| counters.contains_key(*name));
    is_dropped.then(|| at_steps(load, &load::SERVICES).or_else(|| at_steps(load, &load::RESPONSES))).flatten()
}

/// True if all requests may have waited so for so many seconds: nobody was answered, and the server did not stall.
pub fn explains(load: &Load<'_>, seconds: f64) -> bool {
    let longest = of_load(load).and_then(|lost| lost.waits.last().map(|(step, _)| f64::from(*step)));
    longest.is_some_and(|longest| seconds <= longest + USUAL_S)
}

fn at_steps<Q: Quantity>(load: &Load<'_>, metric: &Metric<Q>) -> Option<LostSyns> {
    let mut all = Histogram::default();
    for times in load.histograms(metric) {
        all.merge(times).ok()?;
    }
    let usual = all.quantile_s(0.5).filter(|usual| *usual <= USUAL_S)?;
    let beyond = BEYOND_S + 2.0 * usual;
    let within = |from: f64, to: f64| -> u64 {
        let bins = all.bins().map(|(ns, count)| (ns as f64 / 1e9, count));
        bins.filter(|(seconds, _)| (from..to).contains(seconds)).map(|(_, count)| count).sum()
    };
    let waits = STEPS.map(|step| (step, within(f64::from(step) - 0.01, f64::from(step) + beyond)));
    let lost = LostSyns { waits: waits.into_iter().filter(|(_, count)| *count > 0).collect() };
    // A server that is slow in other ways has slow times in between as well.
    let slow = within(beyond.max(0.5), f64::INFINITY);
    (lost.requests() >= LEAST && 2 * lost.requests() > slow).then_some(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::of_run;
    use crate::loads::planted::{empty, load, times};

    fn lost(counter: &str, microseconds: &[(u64, u64)]) -> Option<LostSyns> {
        let mut run = empty();
        let given = "connections=50";
        let part = format!("drops;counter={counter}");
        let seqs = load(&mut run, given, &[("throughput", 100.0), (part.as_str(), 5.0)]);
        times(&mut run, &seqs[..1], load::SERVICES.name(), given, microseconds);
        of_load(&of_run(&run, instruments::cards())[0])
    }

    #[test]
    fn times_at_the_steps_of_tcp_are_lost_syns() {
        let steps = [(8_000, 1000), (1_009_000, 12), (3_021_000, 5), (7_050_000, 1)];
        let found = lost("listen-overflow", &steps).unwrap();
        assert_eq!(found.waits, [(1, 12), (3, 5), (7, 1)]);
        assert_eq!(lost("syn-retransmits", &steps), Some(found));
        // Retransmits of data are none, and slow answers of all lengths come from elsewhere.
        assert_eq!(lost("retransmits", &steps), None);
        let spread = [(8_000, 1000), (700_000, 9), (1_009_000, 5), (1_400_000, 9), (2_000_000, 9)];
        assert_eq!(lost("listen-overflow", &spread), None);
        assert_eq!(lost("listen-overflow", &[(8_000, 1000), (1_009_000, 2)]), None, "too few");
        assert_eq!(lost("listen-overflow", &[(1_009_000, 20)]), None, "all of them take that long");
    }
}
