//! `idle-at-peak`: the server's cores had time left at its highest throughput.

use super::{Conclusion, Evidence, Several, Validity, evidence, known};
use crate::format::{count, number, percent};

/// `busy` is the share of the server's cores. Time that is left makes no figure doubtful.
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
    /// Something of the server's or its machine's was; `bottleneck` is its sentence. `used` are the CPUs that the
    /// server used.
    Held {
        busy: f64,
        cores: usize,
        used: Option<f64>,
        bottleneck: String,
    },
    /// The load asked for no more: its generator, connections or rate were the limit; `bottleneck` says so.
    Bound {
        busy: f64,
        cores: usize,
        bottleneck: String,
    },
}

/// `core was`, `2 cores were`.
fn cores_were(cores: usize) -> String {
    if cores == 1 { "core was".to_owned() } else { format!("{} were", count(cores, "core")) }
}

impl IdleAtPeak {
    /// How busy the cores of a server were that had time left for which nobody but itself can be blamed.
    fn idle(&self) -> Option<f64> {
        match self {
            IdleAtPeak::Waiting { busy, .. } | IdleAtPeak::Held { busy, .. } => Some(*busy),
            IdleAtPeak::Unknown | IdleAtPeak::Busy { .. } | IdleAtPeak::Bound { .. } => None,
        }
    }
}

impl Conclusion for IdleAtPeak {
    fn kind(&self) -> &str {
        "idle-at-peak"
    }

    fn state(&self) -> Validity {
        match self {
            IdleAtPeak::Unknown => Validity::Unknown,
            // The bottleneck says what it waits for. No figure is doubtful by it.
            IdleAtPeak::Busy { .. }
            | IdleAtPeak::Bound { .. }
            | IdleAtPeak::Waiting { .. }
            | IdleAtPeak::Held { .. } => Validity::Ok,
        }
    }

    fn one(&self) -> String {
        match self {
            IdleAtPeak::Unknown => "how busy the server's cores were is not known".to_owned(),
            IdleAtPeak::Busy { busy } => {
                format!("the server's cores were {} busy at the peak", percent(*busy))
            }
            IdleAtPeak::Waiting { busy, cores, waiting } => format!(
                "the server has time left: its {} {} busy at the peak; {waiting}; no resource at its ceiling",
                cores_were(*cores),
                percent(*busy)
            ),
            IdleAtPeak::Held { busy, cores, used, bottleneck } => {
                let used = used.map_or_else(String::new, |used| format!(", it used {} CPUs", number(used)));
                let cores = cores_were(*cores);
                format!(
                    "the server has time left: its {cores} {} busy at the peak{used}; {bottleneck}",
                    percent(*busy)
                )
            }
            IdleAtPeak::Bound { busy, bottleneck, .. } => {
                format!("the server kept its cores {} busy: {bottleneck}", percent(*busy))
            }
        }
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        // The idlest is the worst.
        let idlest = all.worst(|one| one.idle().map(|busy| 1.0 - busy));
        idlest.map(|(idle, ..)| format!("the server has time left: {} busy at the peak", percent(1.0 - idle)))
    }

    fn evidence(&self) -> Evidence {
        match self {
            IdleAtPeak::Unknown => Evidence::new(),
            IdleAtPeak::Busy { busy } => evidence([("busy", *busy)]),
            IdleAtPeak::Held { busy, cores, used, .. } => {
                known([("busy", Some(*busy)), ("cores", Some(*cores as f64)), ("used", *used)])
            }
            IdleAtPeak::Waiting { busy, cores, .. } | IdleAtPeak::Bound { busy, cores, .. } => {
                evidence([("busy", *busy), ("cores", *cores as f64)])
            }
        }
    }
}
