//! Ratios as clauses: `computes 18 to 31 % faster than ref`, `waits 21 % longer for memory`.
//!
//! Rates: 1.31 is 31 % faster, 0.80 is 20 % slower. Waits: 1.21 is 21 % longer, 0.80 is 20 % shorter. From two times
//! on either way it is said as `times`.

use model::doc::RowDoc;

use super::topic::Topic;

/// One clause about rows of one topic that all went the same way.
pub fn clause(topic: &Topic, ratios: &[f64], base: Option<&str>) -> Option<String> {
    let usable: Vec<f64> = ratios.iter().copied().filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
    let (low, high) = ends(&usable)?;
    let than = base.map(|name| format!(" than {name}")).unwrap_or_default();
    let like = base.map(|name| format!(" as {name}")).unwrap_or_default();
    let rate = |verb: &str| {
        if low >= 1.0 && high >= 2.0 {
            format!("{verb} {} times as fast{like}", span(low, high, two))
        } else if high <= 0.5 {
            format!(
                "{verb} at {} of the speed{}",
                span(low, high, two),
                base.map(|b| format!(" of {b}")).unwrap_or_default()
            )
        } else if high > 1.0 {
            format!("{verb} {} % faster{than}", span(low - 1.0, high - 1.0, hundred))
        } else {
            format!("{verb} {} % slower{than}", span(1.0 - high, 1.0 - low, hundred))
        }
    };
    let wait = |verb: &str, on: &str| {
        if low >= 1.0 && high >= 2.0 {
            format!("{verb} {} times as long{on}{like}", span(low, high, two))
        } else if high > 1.0 {
            format!("{verb} {} % longer{on}{than}", span(low - 1.0, high - 1.0, hundred))
        } else {
            format!("{verb} {} % shorter{on}{than}", span(1.0 - high, 1.0 - low, hundred))
        }
    };
    Some(match topic {
        Topic::Compute => rate("computes"),
        Topic::MemoryRate => rate("moves memory"),
        Topic::DiskRate => rate("drives its disk"),
        Topic::MemoryWait => wait("waits", " for memory"),
        Topic::DiskWait(what) => wait("waits", &format!(" for {what}")),
        Topic::Work => wait("takes", " for the work"),
        Topic::Serving => rate("serves the same requests"),
        Topic::Rate(name) => rate(&format!("runs {name}")),
        Topic::Wait(name) => wait("takes", &format!(" for {name}")),
    })
}

/// `within 5 %`, or `within 2 to 5 %` where rows have different margins.
pub fn within(rows: &[&RowDoc]) -> String {
    let margins: Vec<f64> = rows.iter().map(|row| (row.margin * 1e4).round() / 100.0).collect();
    let (low, high) = ends(&margins).unwrap_or_default();
    format!("within {} %", span(low, high, |percent| percent.to_string()))
}

/// `0.83 to 1.20 times`, for goodness.
pub fn factors(values: &[f64]) -> Option<String> {
    let usable: Vec<f64> = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect();
    let (low, high) = ends(&usable)?;
    Some(format!("{} times", span(low, high, two)))
}

fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low, high))
}

/// `18 to 31`, or one figure where both show alike.
fn span(low: f64, high: f64, show: fn(f64) -> String) -> String {
    let (low, high) = (show(low), show(high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn two(value: f64) -> String {
    match value {
        value if value >= 99.5 => format!("{value:.0}"),
        value if value >= 9.95 => format!("{value:.1}"),
        value if value < 0.000_995 => format!("{value:.1e}"),
        value if value < 0.0995 => format!("{value:.3}"),
        value => format!("{value:.2}"),
    }
}

/// A share as a percentage without the sign.
fn hundred(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_waits_go_the_right_way() {
        let say = |topic: Topic, ratios: &[f64]| clause(&topic, ratios, Some("ref")).unwrap();
        assert_eq!(say(Topic::Compute, &[1.31, 1.18]), "computes 18 to 31 % faster than ref");
        assert_eq!(say(Topic::Compute, &[0.8]), "computes 20 % slower than ref");
        assert_eq!(say(Topic::MemoryWait, &[1.21]), "waits 21 % longer for memory than ref");
        assert_eq!(say(Topic::MemoryWait, &[0.8, 0.8]), "waits 20 % shorter for memory than ref");
        assert_eq!(say(Topic::MemoryRate, &[2.4, 1.5]), "moves memory 1.50 to 2.40 times as fast as ref");
        assert_eq!(say(Topic::Compute, &[0.3]), "computes at 0.30 of the speed of ref");
        assert_eq!(clause(&Topic::Compute, &[1.31], None).unwrap(), "computes 31 % faster");
        assert_eq!(clause(&Topic::Compute, &[f64::NAN], None), None);
    }
}
