//! `idle-at-peak`: the server's cores had time left at its highest throughput.

use super::{Conclusion, Evidence, Validity, evidence};
use crate::format::percent;

/// `busy` is the share of the server's cores.
#[derive(Clone, Debug, PartialEq)]
pub enum IdleAtPeak {
    Unknown,
    Busy {
        busy: f64,
    },
    /// Nothing else was at its ceiling; `waiting` says who waited for what.
    Waiting {
        busy: f64,
        cores: usize,
        waiting: String,
    },
    /// Something else was; `bottleneck` is its sentence.
    Bound {
        busy: f64,
        cores: usize,
        bottleneck: String,
    },
}

impl Conclusion for IdleAtPeak {
    fn kind(&self) -> &str {
        "idle-at-peak"
    }

    fn state(&self) -> Validity {
        match self {
            IdleAtPeak::Unknown => Validity::Unknown,
            IdleAtPeak::Busy { .. } | IdleAtPeak::Waiting { .. } | IdleAtPeak::Bound { .. } => Validity::Ok,
        }
    }

    fn one(&self) -> String {
        match self {
            IdleAtPeak::Unknown => "how busy the server's cores were is not known".to_owned(),
            IdleAtPeak::Busy { busy } => {
                format!("the server's cores were {} busy at the peak", percent(*busy))
            }
            IdleAtPeak::Waiting { waiting, .. } => format!("{waiting}; no resource at its ceiling"),
            IdleAtPeak::Bound { busy, bottleneck, .. } => {
                format!("the server kept its cores {} busy: {bottleneck}", percent(*busy))
            }
        }
    }

    fn evidence(&self) -> Evidence {
        match self {
            IdleAtPeak::Unknown => Evidence::new(),
            IdleAtPeak::Busy { busy } => evidence([("busy", *busy)]),
            IdleAtPeak::Waiting { busy, cores, .. } | IdleAtPeak::Bound { busy, cores, .. } => {
                evidence([("busy", *busy), ("cores", *cores as f64)])
            }
        }
    }
}
