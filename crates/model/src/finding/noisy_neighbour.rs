//! `noisy-neighbour`: runs of this very machine differ without any change of ours.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::doc::Noise;
use crate::format::percent;

/// `floor` is the relative difference that two runs have by themselves.
#[derive(Clone, Debug, PartialEq)]
pub enum NoisyNeighbour {
    NoEarlierRun,
    TooFewRuns,
    Quiet { floor: f64 },
    Noisy { floor: f64, dof: f64 },
}

/// From such a floor on (1 is 100 %) no usual difference can be told, and its digits mean nothing.
const NOTHING_TOLD: f64 = 1.0;
const NOTHING: &str =
    "no difference can be told here: runs of this machine differ by more than 100 % with nothing changed";

impl NoisyNeighbour {
    const fn floor(&self) -> Option<f64> {
        match self {
            NoisyNeighbour::NoEarlierRun | NoisyNeighbour::TooFewRuns => None,
            NoisyNeighbour::Quiet { floor } | NoisyNeighbour::Noisy { floor, .. } => Some(*floor),
        }
    }
}

impl Conclusion for NoisyNeighbour {
    fn kind(&self) -> &str {
        "noisy-neighbour"
    }

    fn state(&self) -> Validity {
        match self {
            NoisyNeighbour::NoEarlierRun | NoisyNeighbour::TooFewRuns => Validity::Unknown,
            NoisyNeighbour::Quiet { .. } => Validity::Ok,
            NoisyNeighbour::Noisy { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            NoisyNeighbour::NoEarlierRun => {
                let noise = Noise::Assumed.sentence("", &[]);
                format!("no earlier run of this machine and configuration: {noise}")
            }
            NoisyNeighbour::TooFewRuns => {
                let noise = Noise::Mixed.sentence("", &[]);
                format!("too few earlier runs of this machine and configuration: {noise}")
            }
            NoisyNeighbour::Quiet { floor } => {
                format!("runs of this machine agree within {}", percent(*floor))
            }
            NoisyNeighbour::Noisy { floor, .. } if *floor > NOTHING_TOLD => NOTHING.to_owned(),
            NoisyNeighbour::Noisy { floor, .. } => format!(
                "a difference below {} means nothing here: runs of this machine differ by that much with nothing changed, \
                 more than twice what is usual",
                percent(*floor)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (floor, ..) = all.worst(NoisyNeighbour::floor)?;
        if floor > NOTHING_TOLD {
            return Some(format!("{NOTHING}, the worst of {}", all.figures));
        }
        Some(format!(
            "a difference below {} means nothing here: runs of this machine differ by up to that much with nothing \
             changed, more than twice what is usual, in {}",
            percent(floor),
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (floor, ..) = all.worst(NoisyNeighbour::floor)?;
        Some(if floor > NOTHING_TOLD {
            "no difference can be told: runs here differ by over 100 % unchanged".to_owned()
        } else {
            format!("no difference below {} can be told: runs here differ so, unchanged", percent(floor))
        })
    }

    fn evidence(&self) -> Evidence {
        match self {
            NoisyNeighbour::NoEarlierRun | NoisyNeighbour::TooFewRuns => Evidence::new(),
            NoisyNeighbour::Quiet { floor } => evidence([("floor", *floor)]),
            NoisyNeighbour::Noisy { floor, dof } => evidence([("floor", *floor), ("dof", *dof)]),
        }
    }
}
