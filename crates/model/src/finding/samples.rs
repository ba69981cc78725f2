//! `samples`: too few takes for an interval, and values that are no measurements.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::count;

#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Figures that have enough takes.
    Enough {
        figures: usize,
        least: usize,
    },
    TooFew {
        takes: usize,
        least: usize,
        more: MoreTakes,
    },
    /// `broken` of `takes` takes gave no usable number.
    Broken {
        broken: usize,
        takes: usize,
    },
}

/// How to have more takes: not every verb that measures can repeat them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreTakes {
    /// `run` repeats.
    Repeat,
    /// `load` does not, but `run web` does.
    RunWeb,
    /// The figure was read from output of clusterperf.
    Clusterperf,
}

impl MoreTakes {
    fn advice(self, least: usize) -> String {
        match self {
            MoreTakes::Repeat => format!("repeat with --takes {least} or more"),
            MoreTakes::RunWeb => format!(
                "`boxscore run web --url URL --takes {least}` repeats a load (--set fixes its connections and rate)"
            ),
            MoreTakes::Clusterperf => {
                "clusterperf prints a figure once; several of its outputs in one file are as many takes"
                    .to_owned()
            }
        }
    }
}

impl Conclusion for Samples {
    fn kind(&self) -> &str {
        "samples"
    }

    fn state(&self) -> Validity {
        match self {
            Samples::Enough { .. } => Validity::Ok,
            Samples::TooFew { .. } => Validity::Doubtful,
            Samples::Broken { .. } => Validity::Invalid,
        }
    }

    fn one(&self) -> String {
        match self {
            Samples::Enough { figures, least } => {
                format!("{} with at least {least} takes", count(*figures, "figure"))
            }
            Samples::TooFew { takes, least, more } => format!(
                "{} too few for a 95 % interval, which needs {least}: {}",
                if *takes == 1 { "1 take is".to_owned() } else { format!("{takes} takes are") },
                more.advice(*least)
            ),
            Samples::Broken { broken, takes } => format!(
                "{broken} of {} gave no usable number: the measurement is broken",
                count(*takes, "take")
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        if all.rules().any(|one| matches!(one, Samples::Broken { .. })) {
            return Some(format!(
                "takes of {} gave no usable number: the measurement is broken",
                all.figures
            ));
        }
        let few = || {
            all.rules().filter_map(|one| match one {
                Samples::TooFew { takes, least, more } => Some((*takes, *least, *more)),
                _ => None,
            })
        };
        let (least, most) = (few().map(|(takes, ..)| takes).min()?, few().map(|(takes, ..)| takes).max()?);
        let takes = match least == most {
            true => count(most, "take"),
            false => format!("{least} to {most} takes"),
        };
        let (_, needed, more) = few().next()?;
        Some(format!(
            "{} have {takes}, too few for a 95 % interval, which needs {needed}: {}",
            all.figures,
            more.advice(needed)
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Samples::Enough { figures, .. } => evidence([("figures", *figures as f64)]),
            Samples::TooFew { takes, .. } | Samples::Broken { takes, .. } => evidence([("n", *takes as f64)]),
        }
    }
}
