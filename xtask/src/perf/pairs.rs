//! Paired comparisons: both sides run in turns, and the ratio of their speeds is kept with its interval.
//!
//! A comparison is a number of pairs on one pinned CPU, in random order within a pair; its figure is the
//! Hodges-Lehmann ratio ours / theirs of the speeds (above 1: we are faster) with its interval.

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// One comparison, done.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub what: String,
    pub peer: String,
    /// Medians of the pairs' speeds (or times, where `unit` is one), in `unit`.
    pub ours: f64,
    pub theirs: f64,
    pub unit: &'static str,
    /// Speed of ours over theirs: estimate, low, high.
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
    pub pairs: usize,
    pub load: (f64, f64),
}

/// A cost of our own beside the most that it may be.
#[derive(Debug, Clone)]
pub struct Limit {
    pub what: &'static str,
    pub value: f64,
    pub most: f64,
    pub unit: &'static str,
}

impl Limit {
    pub fn kept(&self) -> Value {
        let held = self.value <= self.most;
        json!({"what": self.what, "value": self.value, "most": self.most, "unit": self.unit, "held": held})
    }
}

/// Everything that was measured, and what was left out and why.
#[derive(Debug, Default)]
pub struct Outcome {
    pub comparisons: Vec<Comparison>,
    pub limits: Vec<Limit>,
    pub skipped: Vec<String>,
}

impl Outcome {
    pub fn keep(&mut self, comparison: Comparison) {
        println!("{}", row(&comparison));
        self.comparisons.push(comparison);
    }

    pub fn skip(&mut self, what: &str, why: &str) {
        println!("{what}: {why}: skipped");
        self.skipped.push(format!("{what}: {why}"));
    }
}

/// The line above the comparisons.
pub fn heading() -> String {
    format!(
        "{:<54} {:<16} {:>11} {:>11} {:<5} {:>6}  {:<16} {:>5}  load",
        "what", "beside", "ours", "theirs", "", "ratio", "interval", "pairs"
    )
}

/// Puts pairs (ours, theirs) of speeds together; `times` says that the values are times instead.
pub fn comparison(
    what: &str,
    peer: &str,
    unit: &'static str,
    pairs: &[(f64, f64)],
    times: bool,
    before: f64,
) -> Result<Comparison> {
    let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let d = if times { stats::log_ratios(&theirs, &ours) } else { stats::log_ratios(&ours, &theirs) };
    let paired = stats::paired(&d.with_context(|| what.to_owned())?, 1)?;
    let middle = |values: &[f64]| stats::median(values).context("no pairs");
    Ok(Comparison {
        what: what.into(),
        peer: peer.into(),
        ours: middle(&ours)?,
        theirs: middle(&theirs)?,
        unit,
        ratio: paired.estimate.exp(),
        interval: paired.interval.map(|interval| (interval.low.exp(), interval.high.exp())),
        pairs: paired.n,
        load: (before, load()),
    })
}

/// Runs both sides of each pair, the first of them drawn.
pub fn in_turns<A, B>(
    pairs: usize,
    seed: u64,
    mut ours: impl FnMut() -> Result<A>,
    mut theirs: impl FnMut() -> Result<B>,
) -> Result<Vec<(A, B)>> {
    let mut random = stats::Rng::new(seed);
    let mut done = Vec::with_capacity(pairs);
    for _ in 0..pairs {
        done.push(if random.below(2) == 0 {
            let first = ours()?;
            (first, theirs()?)
        } else {
            let first = theirs()?;
            (ours()?, first)
        });
    }
    Ok(done)
}

/// The load average of the last minute; not a number where the system has none.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}

fn row(c: &Comparison) -> String {
    let interval = c.interval.map_or("none".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"));
    format!(
        "{:<54} {:<16} {:>11.3} {:>11.3} {:<5} {:>6.3}  {interval:<16} {:>5}  {:.2}, {:.2}",
        c.what, c.peer, c.ours, c.theirs, c.unit, c.ratio, c.pairs, c.load.0, c.load.1
    )
}

/// The comparison as it is kept.
pub fn kept(c: &Comparison) -> Value {
    json!({
        "what": c.what, "peer": c.peer, "unit": c.unit, "ours": c.ours, "theirs": c.theirs,
        "ratio": c.ratio, "low": c.interval.map(|i| i.0), "high": c.interval.map(|i| i.1),
        "pairs": c.pairs, "load_before": c.load.0, "load_after": c.load.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_time_is_a_higher_ratio() {
        let pairs: Vec<(f64, f64)> = (0..12).map(|i| (10.0, 12.0 + 0.01 * f64::from(i))).collect();
        let slower = comparison("x", "y", "GB/s", &pairs, false, 0.0).unwrap();
        let faster = comparison("x", "y", "ns", &pairs, true, 0.0).unwrap();
        assert!(slower.ratio < 0.84 && faster.ratio > 1.2);
        let (low, high) = faster.interval.unwrap();
        assert!(low <= faster.ratio && faster.ratio <= high);
        assert!(row(&faster).contains("1.2"));
        assert_eq!(kept(&faster)["pairs"], 12);
    }

    #[test]
    fn both_sides_run_in_each_pair_and_both_go_first() {
        let order = std::cell::RefCell::new(String::new());
        let say = |c: char| {
            order.borrow_mut().push(c);
            Ok(())
        };
        in_turns(40, 3, || say('a'), || say('b')).unwrap();
        let order = order.into_inner();
        let pairs: Vec<&str> = (0..40).map(|i| &order[2 * i..2 * i + 2]).collect();
        assert!(pairs.iter().all(|pair| ["ab", "ba"].contains(pair)));
        assert!(pairs.contains(&"ab") && pairs.contains(&"ba"));
    }
}
