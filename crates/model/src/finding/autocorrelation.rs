//! `autocorrelation`: successive takes resemble each other.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::count;

#[derive(Clone, Debug, PartialEq)]
pub enum Autocorrelation {
    TooFew,
    /// Figures whose takes may follow each other: too few to tell that from chance, or to have an interval.
    Open {
        figures: usize,
    },
    ByChance {
        figures: usize,
    },
    /// Beyond chance: the coefficient, and the number of independent takes that would tell as much.
    Alike {
        lag1: f64,
        effective_n: f64,
    },
}

impl Conclusion for Autocorrelation {
    fn kind(&self) -> &str {
        "autocorrelation"
    }

    fn state(&self) -> Validity {
        match self {
            Autocorrelation::TooFew | Autocorrelation::Open { .. } => Validity::Unknown,
            Autocorrelation::ByChance { .. } => Validity::Ok,
            Autocorrelation::Alike { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Autocorrelation::TooFew => {
                "no figure has enough takes to see whether they resemble each other".to_owned()
            }
            Autocorrelation::Open { figures } => format!(
                "the takes of {} may follow each other: too few to tell, and too few for an interval",
                count(*figures, "figure")
            ),
            Autocorrelation::ByChance { figures } => format!(
                "the takes of {} resemble each other no more than by chance",
                count(*figures, "figure")
            ),
            Autocorrelation::Alike { lag1, effective_n } => format!(
                "less certain than its takes suggest: successive ones resemble each other (lag-1 autocorrelation \
                 {lag1:.2}), so that they count as {effective_n:.1} independent takes; more takes help"
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        Some(format!(
            "less certain than their takes suggest: successive takes of {} resemble each other, so that they count as \
             fewer and the intervals are wider; more takes help",
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        all.rules()
            .any(|one| matches!(one, Autocorrelation::Alike { .. }))
            .then(|| "takes resemble the ones before them, and so tell less".to_owned())
    }

    fn evidence(&self) -> Evidence {
        match self {
            Autocorrelation::TooFew | Autocorrelation::Open { .. } | Autocorrelation::ByChance { .. } => {
                Evidence::new()
            }
            Autocorrelation::Alike { lag1, effective_n } => {
                evidence([("lag1", *lag1), ("effective_n", *effective_n)])
            }
        }
    }
}
