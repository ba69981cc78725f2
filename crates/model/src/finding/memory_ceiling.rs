//! `memory-ceiling`: how much of its memory bandwidth the machine reaches.

use std::fmt;

use super::{Conclusion, Evidence, Validity, evidence};
use crate::format::{percent, quantity};
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq)]
pub enum MemoryCeiling {
    NotMeasured,
    /// Why the ceiling is not known.
    Unknown(String),
    Reached {
        share: f64,
        peak: MemoryPeak,
        /// The figure, B/s.
        value: f64,
    },
}

/// Peak rate of the memory by its specification. Shown as `2 x DDR5-5600`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPeak {
    pub channels: f64,
    /// Transfers a second.
    pub transfers: f64,
    /// `DDR5`, where it is known.
    pub kind: Option<String>,
}

impl MemoryPeak {
    const BUS_BYTES: f64 = 8.0;

    pub const fn bytes_per_sec(&self) -> f64 {
        self.channels * self.transfers * MemoryPeak::BUS_BYTES
    }
}

impl fmt::Display for MemoryPeak {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (channels, millions) = (self.channels, self.transfers / 1e6);
        match &self.kind {
            Some(kind) => write!(to, "{channels:.0} x {kind}-{millions:.0}"),
            None => write!(to, "{channels:.0} x {millions:.0} MT/s"),
        }
    }
}

impl Conclusion for MemoryCeiling {
    fn kind(&self) -> &str {
        "memory-ceiling"
    }

    fn state(&self) -> Validity {
        match self {
            MemoryCeiling::NotMeasured | MemoryCeiling::Unknown(_) => Validity::Unknown,
            MemoryCeiling::Reached { .. } => Validity::Ok,
        }
    }

    fn one(&self) -> String {
        match self {
            MemoryCeiling::NotMeasured => "memory read was not measured".to_owned(),
            MemoryCeiling::Unknown(why) => why.clone(),
            MemoryCeiling::Reached { share, peak, .. } => format!(
                "memory read reaches {} of the {} that {peak} can deliver",
                percent(*share),
                quantity(peak.bytes_per_sec(), Unit::BytesPerSec)
            ),
        }
    }

    fn names_subject(&self) -> bool {
        true
    }

    fn evidence(&self) -> Evidence {
        match self {
            MemoryCeiling::NotMeasured | MemoryCeiling::Unknown(_) => Evidence::new(),
            MemoryCeiling::Reached { share, peak, value } => {
                evidence([("share", *share), ("ceiling", peak.bytes_per_sec()), ("value", *value)])
            }
        }
    }
}
