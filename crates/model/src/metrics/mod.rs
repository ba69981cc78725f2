//! Metrics that several crates name, a file for each family.
//!
//! Instruments push them; rules and reports look them up by the same constant, so that a renamed metric cannot silently
//! switch a rule off.

pub mod command;
pub mod disk;
pub mod hadoop;
pub mod load;
pub mod logs;
pub mod machine;
pub mod memory;
pub mod net;
pub mod power;
pub mod telemetry;
pub mod warmup;

/// True for a high percentile: `response-time-p99`, `rtt-p999`, `time.p99`.
pub fn is_tail(metric: &str) -> bool {
    let after = metric.rsplit_once(['-', '.']).map_or("", |(_, after)| after);
    let digits = after.strip_prefix("p9").unwrap_or("-");
    digits.chars().all(|digit| digit.is_ascii_digit())
}
