//! A metric: a named quantity with its unit, direction and definition.
//!
//! A metric carries no value. Its definition text says what is counted and what is not.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shown::Topic;
use crate::unit::{Quantity, Unit};

crate::words! {
    /// Which way is good. `Neither` metrics are never rows of a comparison.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Better as word {
        Higher = "higher",
        Lower = "lower",
        Neither = "neither",
    }
}

/// How a metric's numbers are scaled when they are shown; the stored value is always in base units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// k, M, G = 10^3, 10^6, 10^9.
    #[default]
    Decimal,
    /// Ki, Mi, Gi = 2^10, 2^20, 2^30.
    Binary,
    /// A share of 1 in per cent.
    Percent,
}

/// The values that a metric can have, ends included. What lies outside cannot have been measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// Amounts, counts, rates and times.
    pub const AMOUNT: Range = Range { low: 0.0, high: f64::INFINITY };
    /// Shares of a whole.
    pub const SHARE: Range = Range { low: 0.0, high: 1.0 };

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The values as a text: `0 or more`, `from 0 to 1`.
impl fmt::Display for Range {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => write!(to, "from {} to {}", self.low, self.high),
            (true, false) => write!(to, "{} or more", self.low),
            (false, true) => write!(to, "{} or less", self.high),
            (false, false) => to.write_str("any number"),
        }
    }
}

/// A metric as data, without its Rust type: what cards list and the store keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricInfo {
    pub name: &'static str,
    pub unit: Unit,
    pub better: Better,
    pub range: Range,
    pub prefix: Prefix,
    /// The thing counted, e.g. `op` for operations per second; empty for plain units.
    pub per: &'static str,
    /// Its word in the names of figures; its own name if empty.
    pub label: &'static str,
    /// The label is the whole name: it stands for the instrument's too.
    pub whole: bool,
    /// It is a part of a figure that is shown itself.
    pub detail: bool,
    /// Its topic, if that is not the instrument's.
    pub topic: Option<Topic>,
    /// It is this quantile of a metric whose readings are histograms: over several takes it is that of them merged.
    pub quantile_of: Option<(&'static str, f64)>,
    /// It is a share of which the difference is judged, not the ratio: within this much, sides do not differ.
    pub apart: Option<f64>,
    /// Words behind its value in the answer of a run: `a read`. Empty: the figure's name stands before the value.
    pub answers: &'static str,
    /// It tells more of another metric's takes, and stands in the row of that one below this heading.
    pub beside: Option<(&'static str, &'static str)>,
    /// Definition: what is counted, and what is not.
    pub definition: &'static str,
}

/// A metric whose readings must be of type `Q`: pushing another quantity does not compile.
#[derive(Clone, Copy, Debug)]
pub struct Metric<Q> {
    info: MetricInfo,
    quantity: PhantomData<fn() -> Q>,
}

impl<Q: Quantity> Metric<Q> {
    pub const fn new(name: &'static str, better: Better, definition: &'static str) -> Metric<Q> {
        let prefix = if matches!(Q::UNIT, Unit::Byte) { Prefix::Binary } else { Prefix::Decimal };
        // What is better one way is an amount, but for temperatures; others may be differences.
        let range = match (better, Q::UNIT) {
            (Better::Neither, _) | (_, Unit::Celsius) => Range::ANY,
            _ => Range::AMOUNT,
        };
        let (label, whole, detail, topic) = ("", false, false, None);
        let info = MetricInfo {
            name,
            unit: Q::UNIT,
            better,
            range,
            prefix,
            per: "",
            label,
            whole,
            detail,
            topic,
            quantile_of: None,
            apart: None,
            answers: "",
            beside: None,
            definition,
        };
        Metric { info, quantity: PhantomData }
    }

    /// A metric without a direction, which no comparison judges.
    pub const fn neither(name: &'static str, definition: &'static str) -> Metric<Q> {
        Metric::new(name, Better::Neither, definition)
    }

    /// A share of a whole: from 0 to 1.
    #[must_use]
    pub const fn share(mut self) -> Metric<Q> {
        self.info.range = Range::SHARE;
        self
    }

    /// Shown with Ki, Mi, Gi.
    #[must_use]
    pub const fn binary(mut self) -> Metric<Q> {
        self.info.prefix = Prefix::Binary;
        self
    }

    /// Shown in per cent.
    #[must_use]
    pub const fn percent(mut self) -> Metric<Q> {
        self.info.prefix = Prefix::Percent;
        self
    }

    /// Names what is counted (`op`, `lookup`).
    #[must_use]
    pub const fn per(mut self, what: &'static str) -> Metric<Q> {
        self.info.per = what;
        self
    }

    /// Sets the word for this metric in names of figures, such as `p99`; it follows the instrument's name.
    #[must_use]
    pub const fn label(mut self, label: &'static str) -> Metric<Q> {
        self.info.label = label;
        self
    }

    /// The plural word for its figures.
    #[must_use]
    pub const fn called(mut self, label: &'static str) -> Metric<Q> {
        self.info.label = label;
        self.info.whole = true;
        self
    }

    /// A part of a figure that is shown itself.
    #[must_use]
    pub const fn detail(mut self) -> Metric<Q> {
        self.info.detail = true;
        self
    }

    /// About something else than the instrument's other metrics.
    #[must_use]
    pub const fn topic(mut self, topic: Topic) -> Metric<Q> {
        self.info.topic = Some(topic);
        self
    }

    /// A quantile of the times of a metric whose readings are histograms.
    #[must_use]
    pub const fn quantile_of(mut self, times: &Metric<Q>, q: f64) -> Metric<Q> {
        self.info.quantile_of = Some((times.info.name, q));
        self
    }

    /// A share that is often 0, of which the difference is judged; within `margin` sides do not differ.
    #[must_use]
    pub const fn apart(mut self, margin: f64) -> Metric<Q> {
        self.info.apart = Some(margin);
        self
    }

    /// The words behind its value in the answer of a run, such as `a read`: it is what is asked first.
    #[must_use]
    pub const fn answering(mut self, words: &'static str) -> Metric<Q> {
        self.info.answers = words;
        self
    }

    /// More of another metric's takes: it stands in that row, below this heading.
    #[must_use]
    pub const fn beside(mut self, metric: &'static str, heading: &'static str) -> Metric<Q> {
        self.info.beside = Some((metric, heading));
        self
    }

    pub const fn name(&self) -> &'static str {
        self.info.name
    }

    pub const fn info(&self) -> MetricInfo {
        self.info
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Celsius, PerSec, Ratio, Seconds};

    #[test]
    fn a_metric_knows_its_range() {
        let share = Metric::<Ratio>::new("failed", Better::Lower, "").share().info().range;
        assert!(
            share.contains(0.0) && share.contains(1.0) && !share.contains(1.01) && !share.contains(-0.01)
        );
        assert!(!share.contains(f64::NAN));
        let rate = Metric::<PerSec>::new("rate", Better::Higher, "").info().range;
        assert!(rate.contains(0.0) && rate.contains(1e12) && !rate.contains(-1.0));
        assert_eq!((share.to_string(), rate.to_string()), ("from 0 to 1".into(), "0 or more".into()));
        let step = Metric::<Seconds>::neither("step", "").info().range;
        let heat = Metric::<Celsius>::new("heat", Better::Lower, "").info().range;
        assert!(step.contains(-1.0) && heat.contains(-40.0));
    }
}
