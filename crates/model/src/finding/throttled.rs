//! `throttled`: the CPU quota of boxscore's own control group stopped the takes. That of a server is `server_quota`.

use super::{Conclusion, Evidence, Several, Validity, evidence, known};
use crate::format::{count, number};

#[derive(Clone, Debug, PartialEq)]
pub enum Throttled {
    Unread,
    Never {
        figures: usize,
    },
    /// In `takes` of `of` takes, for `periods` of the scheduler in all.
    Stopped {
        /// CPUs; `None` where it is not known.
        quota: Option<f64>,
        takes: usize,
        of: usize,
        periods: f64,
    },
}

fn named(quota: Option<f64>) -> String {
    match quota {
        Some(cpus) => format!("boxscore's own CPU quota of {} CPUs", number(cpus)),
        None => "boxscore's own CPU quota (its size is unknown)".to_owned(),
    }
}

impl Conclusion for Throttled {
    fn kind(&self) -> &str {
        "throttled"
    }

    fn state(&self) -> Validity {
        match self {
            Throttled::Unread => Validity::Unknown,
            Throttled::Never { .. } => Validity::Ok,
            Throttled::Stopped { .. } => Validity::Invalid,
        }
    }

    fn one(&self) -> String {
        match self {
            Throttled::Unread => "no throttling counter of boxscore's own control group was read".to_owned(),
            Throttled::Never { figures } => {
                format!("no CPU quota of boxscore's own stopped any take of {}", count(*figures, "figure"))
            }
            Throttled::Stopped { quota, takes, of, .. } => format!(
                "measures the quota, not the machine: stopped by {} in {takes} of {}; lift it or compare only inside it",
                named(*quota),
                count(*of, "take")
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let quota = all.worst(|one| match one {
            Throttled::Stopped { quota, .. } => *quota,
            _ => None,
        });
        Some(format!(
            "measure the quota, not the machine: {} stopped takes of {}; lift it or compare only inside it",
            named(quota.map(|(cpus, ..)| cpus)),
            all.figures
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Throttled::Unread => Evidence::new(),
            Throttled::Never { .. } => evidence([("periods", 0.0)]),
            Throttled::Stopped { quota, takes, of, periods } => known([
                ("quota", *quota),
                ("takes", Some(*takes as f64)),
                ("of", Some(*of as f64)),
                ("periods", Some(*periods)),
            ]),
        }
    }
}
