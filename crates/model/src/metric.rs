//! A metric: a named quantity with its unit, direction and definition.
//!
//! A metric carries no value. Its definition text says what is counted and what is not.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shown::Topic;
use crate::unit::{Quantity, Unit};

/// Which way is good. `Neither` metrics are never rows of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Higher,
    Lower,
    Neither,
}

impl Better {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }
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
}

/// A metric as data, without its Rust type: what cards list and the store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricInfo {
    pub name: &'static str,
    pub unit: Unit,
    pub better: Better,
    pub prefix: Prefix,
    /// What one of it is, e.g. `op` for operations per second; empty for plain units.
    pub per: &'static str,
    /// What names of figures call it; its own name where empty.
    pub label: &'static str,
    /// The label is the whole name: it stands for the instrument's too.
    pub whole: bool,
    /// It is a part of a figure that is shown itself.
    pub detail: bool,
    /// What it is about, where that is not the instrument's topic.
    pub topic: Option<Topic>,
    /// What is counted and what is not.
    pub definition: &'static str,
}

/// A metric whose readings must be of type `Q`: pushing another quantity does not compile.
#[derive(Clone, Copy, Debug)]
pub struct Metric<Q> {
    info: MetricInfo,
    quantity: PhantomData<fn() -> Q>,
}

impl<Q: Quantity> Metric<Q> {
    #[must_use]
    pub const fn new(name: &'static str, better: Better, definition: &'static str) -> Metric<Q> {
        let prefix = if matches!(Q::UNIT, Unit::Byte) { Prefix::Binary } else { Prefix::Decimal };
        let (label, whole, detail, topic) = ("", false, false, None);
        let info = MetricInfo {
            name,
            unit: Q::UNIT,
            better,
            prefix,
            per: "",
            label,
            whole,
            detail,
            topic,
            definition,
        };
        Metric { info, quantity: PhantomData }
    }

    /// Shown with Ki, Mi, Gi.
    #[must_use]
    pub const fn binary(mut self) -> Metric<Q> {
        self.info.prefix = Prefix::Binary;
        self
    }

    /// Names what is counted (`op`, `lookup`).
    #[must_use]
    pub const fn per(mut self, what: &'static str) -> Metric<Q> {
        self.info.per = what;
        self
    }

    /// What names of figures call it, after the name of the instrument.
    #[must_use]
    pub const fn label(mut self, label: &'static str) -> Metric<Q> {
        self.info.label = label;
        self
    }

    /// What figures of it are called altogether.
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

    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.info.name
    }

    #[must_use]
    pub const fn info(&self) -> MetricInfo {
        self.info
    }
}
