//! `same-cores`: generator and server ran on the same core, on one CPU or on two threads of the core.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{list, percent};

const ADVICE: &str =
    "give the server and the generator different cores (`taskset`), or generate from another machine";

#[derive(Clone, Debug, PartialEq)]
pub enum SameCores {
    Unknown,
    /// On cores of their own; a hypervisor may hide that two are one.
    Apart {
        is_hidden: bool,
    },
    /// They share cores that have time for both; the busiest of them, as `cpu1`, and how busy it was.
    Idle {
        cpu: String,
        busy: f64,
    },
    /// CPUs of the server and of the generator that are two threads of one core, as `cpu0` and `cpu4`.
    Siblings(Vec<(String, String)>),
    /// The shared cores, as `cpu1`, and how busy each was; and all that the server may run on, where those are more:
    /// `CPUs 0-3`.
    Shared {
        cores: Vec<(String, f64)>,
        server: Option<String>,
    },
}

impl SameCores {
    fn busiest(&self) -> Option<f64> {
        match self {
            SameCores::Shared { cores, .. } => Some(cores.iter().map(|(_, busy)| *busy).fold(0.0, f64::max)),
            SameCores::Unknown
            | SameCores::Apart { .. }
            | SameCores::Idle { .. }
            | SameCores::Siblings(_) => None,
        }
    }
}

impl Conclusion for SameCores {
    fn kind(&self) -> &str {
        "same-cores"
    }

    fn state(&self) -> Validity {
        match self {
            SameCores::Unknown => Validity::Unknown,
            SameCores::Apart { .. } | SameCores::Idle { .. } => Validity::Ok,
            SameCores::Shared { .. } | SameCores::Siblings(_) => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            SameCores::Unknown => "which cores the server ran on is not known".to_owned(),
            SameCores::Apart { is_hidden: false } => "generator and server on cores of their own".to_owned(),
            SameCores::Apart { is_hidden: true } => {
                "generator and server on CPUs of their own; whether two of them are one core the virtual machine hides"
                    .to_owned()
            }
            SameCores::Idle { cpu, busy } => {
                format!("generator and server share {cpu}, which has time for both: {} busy at most", percent(*busy))
            }
            SameCores::Siblings(pairs) => {
                let named = pairs.iter().map(|(server, generator)| format!("{server} and {generator}"));
                format!(
                    "the server may do better: it and the generator work on two threads of one core ({}) and slow each \
                     other; generate from another machine, or give the server cores of its own",
                    list(&named.collect::<Vec<_>>())
                )
            }
            SameCores::Shared { cores, server } => {
                let named = cores.iter().map(|(cpu, busy)| format!("{cpu} ({} busy)", percent(*busy)));
                let named = list(&named.collect::<Vec<_>>());
                let how = match server {
                    Some(server) => {
                        format!("it may run on {server} and shares {named} with the generator, each slows the other")
                    }
                    None => format!("generator and server share {named} and slow each other"),
                };
                format!("the server may do better: {how}; {ADVICE}")
            }
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let Some((busy, ..)) = all.worst(SameCores::busiest) else {
            let pairs = all.rules().any(|one| matches!(one, SameCores::Siblings(_)));
            return pairs.then(|| {
                format!(
                    "the server may do better: it and the generator work on two threads of one core in {} and slow \
                     each other; generate from another machine, or give the server cores of its own",
                    all.figures
                )
            });
        };
        Some(format!(
            "the server may do better: generator and server share a core, up to {} busy, in {}, and slow each other; \
             {ADVICE}",
            percent(busy),
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        match all.worst(SameCores::busiest) {
            Some((busy, ..)) => Some(format!(
                "may do better: generator and server share a core, up to {} busy",
                percent(busy)
            )),
            None => all
                .rules()
                .any(|one| matches!(one, SameCores::Siblings(_)))
                .then(|| "may do better: generator and server work on two threads of a core".to_owned()),
        }
    }

    fn evidence(&self) -> Evidence {
        match self {
            SameCores::Unknown | SameCores::Apart { .. } => Evidence::new(),
            SameCores::Idle { busy, .. } => evidence([("busy", *busy)]),
            SameCores::Siblings(pairs) => evidence([("pairs", pairs.len() as f64)]),
            SameCores::Shared { cores, .. } => {
                evidence([("cores", cores.len() as f64), ("busy", self.busiest().unwrap_or(0.0))])
            }
        }
    }
}
