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
    /// A load of one take, as it was asked for.
    Once,
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
    /// `run --soak` takes as many as it has time for.
    Soak,
    /// The figure was read from output of clusterperf.
    Clusterperf,
    /// Enough were asked for, and some of them failed.
    Failed,
    /// Enough were asked for, and the run ended before.
    Ended,
}

impl MoreTakes {
    fn advice(self, least: usize) -> String {
        match self {
            MoreTakes::Repeat => format!("repeat with --takes {least} or more"),
            MoreTakes::Soak => "soak for longer, such as --soak 10m".to_owned(),
            MoreTakes::Clusterperf => {
                "clusterperf prints a figure once; several of its outputs in one file are as many takes"
                    .to_owned()
            }
            MoreTakes::Failed => "the others failed: `boxscore show RUN` says why".to_owned(),
            MoreTakes::Ended => {
                "the run ended before: give it more with --for, or `boxscore resume` one that was interrupted"
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
            Samples::Once => Validity::Unknown,
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
                "too few takes for a 95 % interval: it has {takes} and needs {least}; {}",
                more.advice(*least)
            ),
            Samples::Once => {
                "one take, as a load has: no interval; `boxscore run web --url URL --takes 6` repeats a load \
                              (--set fixes its connections and rate)"
                    .to_owned()
            }
            Samples::Broken { broken, takes } => format!(
                "the measurement is broken: {broken} of {} gave no usable number",
                count(*takes, "take")
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        if all.rules().any(|one| matches!(one, Samples::Broken { .. })) {
            return Some(format!(
                "the measurement is broken: takes of {} gave no usable number",
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
        let takes = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let (_, needed, more) = few().next()?;
        Some(format!(
            "too few takes for a 95 % interval: {} have {takes} and need {needed}; {}",
            all.figures,
            more.advice(needed)
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let few = || {
            all.rules().filter_map(|one| match one {
                Samples::TooFew { takes, least, .. } => Some((*takes, *least)),
                _ => None,
            })
        };
        let (fewest, most) = (few().map(|(takes, _)| takes).min()?, few().map(|(takes, _)| takes).max()?);
        let takes = if fewest == most { count(most, "take") } else { format!("{fewest} to {most} takes") };
        Some(format!("no 95 % interval: {takes}, {} are needed", few().next()?.1))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Samples::Once => Evidence::new(),
            Samples::Enough { figures, .. } => evidence([("figures", *figures as f64)]),
            Samples::TooFew { takes, .. } | Samples::Broken { takes, .. } => evidence([("n", *takes as f64)]),
        }
    }
}
