//! `above-ceiling`: figures that this hardware cannot reach.

use super::{Conclusion, Evidence, Several, Validity, evidence, memory_ceiling::MemoryPeak};
use crate::format::{count, number, quantity};
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq)]
pub enum AboveCeiling {
    /// Why ceilings are not known; empty where no figure has one.
    Unknown(Vec<String>),
    Below {
        figures: usize,
    },
    /// Numbers in `unit`, counted as the figure counts them.
    Beyond {
        value: f64,
        ceiling: f64,
        unit: Unit,
        limit: Limit,
    },
}

/// The limit that a figure is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// Peak rate of the memory.
    Memory(MemoryPeak),
    /// Most that cores can load at a clock in Hz.
    Cores { cores: usize, bytes_a_cycle: f64, clock: f64 },
    /// The least time of a dependent load at a clock in Hz.
    Load { cycles: f64, clock: f64 },
    /// The link of a disk.
    Link { disk: String },
}

impl Limit {
    /// True if a figure must not be below it (latency).
    pub const fn is_least(&self) -> bool {
        matches!(self, Limit::Load { .. })
    }

    fn says(&self) -> String {
        match self {
            Limit::Memory(peak) => format!("{peak} can deliver"),
            Limit::Cores { cores, bytes_a_cycle, clock } => format!(
                "{} loading {bytes_a_cycle:.0} B a cycle at {} can do",
                count(*cores, "core"),
                quantity(*clock, Unit::Hertz)
            ),
            Limit::Load { cycles, clock } => {
                format!("{cycles:.0} cycles at {} take", quantity(*clock, Unit::Hertz))
            }
            Limit::Link { disk } => format!("the link of {disk} can carry"),
        }
    }
}

impl Conclusion for AboveCeiling {
    fn kind(&self) -> &str {
        "above-ceiling"
    }

    fn state(&self) -> Validity {
        match self {
            AboveCeiling::Unknown(_) => Validity::Unknown,
            AboveCeiling::Below { .. } => Validity::Ok,
            AboveCeiling::Beyond { .. } => Validity::Invalid,
        }
    }

    fn one(&self) -> String {
        match self {
            AboveCeiling::Unknown(whys) if whys.is_empty() => "no figure here has a known ceiling".to_owned(),
            AboveCeiling::Unknown(whys) => whys.join("; "),
            AboveCeiling::Below { figures } => {
                format!("{} below the ceilings of the hardware", count(*figures, "figure"))
            }
            AboveCeiling::Beyond { value, ceiling, unit, limit } => format!(
                "not what it claims to be: {} is {} that {}, {}; do not use it",
                quantity(*value, *unit),
                if limit.is_least() { "below the least" } else { "above the most" },
                limit.says(),
                quantity(*ceiling, *unit)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (times, _, name) = all.worst(|one| match one {
            AboveCeiling::Beyond { value, ceiling, .. } => {
                let ratio = value / ceiling;
                Some(if ratio < 1.0 { 1.0 / ratio } else { ratio }).filter(|ratio| ratio.is_finite())
            }
            _ => None,
        })?;
        Some(format!(
            "not what they claim to be: {} are beyond what this hardware can do (worst: {name}, {} times); do not use them",
            all.figures,
            number(times)
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            AboveCeiling::Unknown(_) => Evidence::new(),
            AboveCeiling::Below { figures } => evidence([("figures", *figures as f64)]),
            AboveCeiling::Beyond { value, ceiling, .. } => {
                evidence([("value", *value), ("ceiling", *ceiling)])
            }
        }
    }
}
