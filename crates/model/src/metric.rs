//! A metric: a named quantity with its unit, direction and definition.
//!
//! A metric carries no value. Its definition text says what is counted and what is not.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        let info = MetricInfo { name, unit: Q::UNIT, better, prefix: Prefix::Decimal, per: "", definition };
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

    #[must_use]
    pub const fn info(&self) -> MetricInfo {
        self.info
    }
}
