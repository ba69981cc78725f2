//! Percentiles that are missing from a table: how many requests each needs, and what would give them.

use model::format;
use model::histogram::{has_percentile, percentile_needs};

/// More requests than a percentile needs, so that it is surely there.
const AMPLE: f64 = 1.5;

/// Requests that there were: of one load, or at most so many of each of several.
#[derive(Clone, Copy, Debug)]
pub enum Had {
    All(u64),
    AtMost(u64),
}

/// `p99 needs 1,000 requests, there were 821: -n 1500 or a longer -d`, of the lowest of these percentiles that so many
/// requests do not give; `None` where they give all. `remedy` makes the advice of an ample number of requests.
pub fn percentile(quantiles: &[f64], had: Had, remedy: impl Fn(f64) -> String) -> Option<String> {
    let (had, at_most) = match had {
        Had::All(had) => (had, ""),
        Had::AtMost(had) => (had, "at most "),
    };
    let lacks = |quantile: &&f64| !has_percentile(had, **quantile);
    let lowest =
        *quantiles.iter().filter(lacks).min_by(|a, b| percentile_needs(**a).cmp(&percentile_needs(**b)))?;
    let needs = percentile_needs(lowest) as f64;
    let percent = format!("{:.1}", lowest * 100.0);
    Some(format!(
        "p{} needs {} requests, there were {at_most}{}: {}",
        percent.trim_end_matches(".0"),
        format::fixed(needs, 0),
        format::fixed(had as f64, 0),
        remedy((AMPLE * needs).ceil())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_missing_percentile_is_told_with_what_it_takes() {
        let of = |had: u64| {
            percentile(&[0.5, 0.99, 0.999], Had::All(had), |ample| format!("-n {ample:.0} or a longer -d"))
        };
        assert_eq!(
            of(821).as_deref(),
            Some("p99 needs 1,000 requests, there were 821: -n 1500 or a longer -d")
        );
        assert_eq!(
            of(5_000).as_deref(),
            Some("p99.9 needs 10,000 requests, there were 5,000: -n 15000 or a longer -d")
        );
        assert_eq!(of(7).as_deref(), Some("p50 needs 20 requests, there were 7: -n 30 or a longer -d"));
        assert_eq!(of(10_000), None);
    }
}
