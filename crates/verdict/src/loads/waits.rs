//! Requests of an open loop that wait, though all of them are answered. Seconds.
//!
//! Told where few of them take as long as a time limit of the network does, or far longer than the server works on
//! them. A closed loop has no such wait.

use model::answer::Waits;
use model::metrics::load;

use super::Load;

/// From here on a response time is like a time limit: the first packet of a connection is repeated after a second.
const LONG_S: f64 = 1.0;
/// Answers that take so many times as long as their service, and so much longer, have waited.
const FAR: f64 = 4.0;
const FAR_S: f64 = 0.01;
/// One request in so many, the rarest that is known.
const ONE_IN: [u32; 3] = [100, 10, 2];

/// How long the slowest requests of an open loop wait; `None` where they do not.
pub fn waits(load: &Load<'_>) -> Option<Waits> {
    if load.is_closed() {
        return None;
    }
    let at = |metric, one_in: u32| {
        let quantile = 1.0 - 1.0 / f64::from(one_in);
        let takes = load.histograms(metric).into_iter();
        stats::median(&takes.filter_map(|times| times.percentile_s(quantile)).collect::<Vec<_>>())
    };
    let known = |one_in: u32| Some((one_in, at(&load::RESPONSES, one_in).filter(|time| time.is_finite())?));
    let (one_in, seconds) = ONE_IN.into_iter().find_map(known)?;
    let is_far = |service: f64| seconds > FAR * service && seconds - service > FAR_S;
    let waits = seconds >= LONG_S || at(&load::SERVICES, one_in).is_some_and(is_far);
    waits.then_some(Waits { one_in, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::of_run;
    use crate::loads::planted::{one, times};

    #[test]
    fn requests_wait_where_the_slowest_take_far_longer_than_their_service() {
        let of = |given: &str, slow_us: u64, service_us: u64| {
            let mut run = one(given, &[("throughput", 200.0)]);
            times(&mut run, &[0], "response-times", given, &[(5_000, 1_900), (slow_us, 100)]);
            times(&mut run, &[0], "service-times", given, &[(4_000, 1_900), (service_us, 100)]);
            waits(&of_run(&run, instruments::cards())[0]).map(|waits| waits.to_string())
        };
        let open = "arrivals=constant;rate=200";
        assert_eq!(of(open, 1_020_000, 6_000).as_deref(), Some("1 in 100 waits 1.02 s or longer"));
        assert!(of(open, 1_020_000, 1_010_000).is_some(), "as long as a time limit");
        assert!(of(open, 90_000, 6_000).is_some());
        assert_eq!(of(open, 90_000, 60_000), None, "the server takes as long");
        assert_eq!(of(open, 9_000, 1_000), None, "few milliseconds");
        assert_eq!(of("arrivals=closed", 1_020_000, 6_000), None);
    }
}
