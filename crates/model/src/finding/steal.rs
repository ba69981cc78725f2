//! `steal`: CPU time that the hypervisor gave to others during the takes.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::percent;

/// Shares of CPU time, 0 to 1; that of `Much` is the most that the counters' resolution allows.
#[derive(Clone, Debug, PartialEq)]
pub enum Steal {
    Unread,
    Little { share: f64 },
    Much { share: f64 },
}

impl Steal {
    const fn share(&self) -> Option<f64> {
        match self {
            Steal::Unread => None,
            Steal::Little { share } | Steal::Much { share } => Some(*share),
        }
    }
}

impl Conclusion for Steal {
    fn kind(&self) -> &str {
        "steal"
    }

    fn state(&self) -> Validity {
        match self {
            Steal::Unread => Validity::Unknown,
            Steal::Little { .. } => Validity::Ok,
            Steal::Much { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Steal::Unread => "steal time was not read during the takes".to_owned(),
            Steal::Little { share } => format!("steal {}", percent(*share)),
            Steal::Much { share } => format!(
                "the machine may do better: the hypervisor withheld up to {} of the CPU time of its takes; repeat it at \
                 another time",
                percent(*share)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (share, ..) = all.worst(Steal::share)?;
        Some(format!(
            "the machine may do better: the hypervisor withheld up to {} of the CPU time of {}; repeat at another time",
            percent(share),
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (share, ..) = all.worst(Steal::share)?;
        Some(format!("may do better: the hypervisor withheld up to {} of the CPU time", percent(share)))
    }

    fn evidence(&self) -> Evidence {
        self.share().map_or_else(Evidence::new, |share| evidence([("share", share)]))
    }
}
