//! `drift`: a figure moved from the first half of its takes to the second.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{count, p_value, percent};

/// `change` is relative.
#[derive(Clone, Debug, PartialEq)]
pub enum Drift {
    TooFew,
    None { figures: usize, change: f64 },
    Drifted { change: f64, rho: f64, p: f64 },
}

const fn way(change: f64) -> &'static str {
    if change < 0.0 { "fell" } else { "rose" }
}

impl Conclusion for Drift {
    fn kind(&self) -> &str {
        "drift"
    }

    fn state(&self) -> Validity {
        match self {
            Drift::TooFew => Validity::Unknown,
            Drift::None { .. } => Validity::Ok,
            Drift::Drifted { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Drift::TooFew => "no figure has enough takes to see a drift".to_owned(),
            Drift::None { figures, .. } => format!("no drift in {}", count(*figures, "figure")),
            Drift::Drifted { change, p, .. } => format!(
                "not settled: {} by {} from the first to the second half of its takes ({}); warm up longer or look at the \
                 clock",
                way(*change),
                percent(change.abs()),
                p_value(*p)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (change, _, name) = all.worst(|one| match one {
            Drift::Drifted { change, .. } => Some(*change),
            _ => None,
        })?;
        Some(format!(
            "not settled: {} drifted within the run (worst: {name} {} by {}); warm up longer or look at the clock",
            all.figures,
            way(change),
            percent(change.abs())
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (change, ..) = all.worst(|one| match one {
            Drift::Drifted { change, .. } => Some(*change),
            _ => None,
        })?;
        Some(format!("the level moved by up to {} within the run", percent(change.abs())))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Drift::TooFew => Evidence::new(),
            Drift::None { change, .. } => evidence([("change", *change)]),
            Drift::Drifted { change, rho, p } => evidence([("change", *change), ("rho", *rho), ("p", *p)]),
        }
    }
}
