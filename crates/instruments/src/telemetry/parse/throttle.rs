//! cpu.stat of a control group: how often, and for how long, its CPU quota stopped it.

use super::pairs;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Periods in which the group was stopped.
    pub count: u64,
    /// Time stopped, summed over CPUs.
    pub time_ns: u64,
}

/// Version 2 counts microseconds (`throttled_usec`), version 1 nanoseconds (`throttled_time`). `None` where the
/// file has no throttling counters, as at the root of version 2.
pub fn parse(bytes: &[u8]) -> Option<Throttle> {
    let [count, micros, nanos] = pairs::pick(bytes, ["nr_throttled", "throttled_usec", "throttled_time"]);
    let time_ns = micros.map(|us| us.saturating_mul(1000)).or(nanos)?;
    Some(Throttle { count: count?, time_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions() {
        let v1 = b"nr_periods 120\nnr_throttled 7\nthrottled_time 81234567\nnr_bursts 0\nburst_time 0\n";
        assert_eq!(parse(v1), Some(Throttle { count: 7, time_ns: 81_234_567 }));
        let v2 =
            b"usage_usec 2704096363\nuser_usec 2349639229\nnr_periods 9\nnr_throttled 4\nthrottled_usec 12\n";
        assert_eq!(parse(v2), Some(Throttle { count: 4, time_ns: 12_000 }));
        assert_eq!(parse(b"usage_usec 2704096363\nuser_usec 1\n"), None);
    }
}
