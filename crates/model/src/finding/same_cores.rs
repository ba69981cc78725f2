//! `same-cores`: generator and server ran on the same core.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{list, percent};

#[derive(Clone, Debug, PartialEq)]
pub enum SameCores {
    Unknown,
    Apart,
    /// The shared cores, as `cpu1`, and how busy each was.
    Shared(Vec<(String, f64)>),
}

impl SameCores {
    fn busiest(&self) -> Option<f64> {
        match self {
            SameCores::Shared(cores) => Some(cores.iter().map(|(_, busy)| *busy).fold(0.0, f64::max)),
            SameCores::Unknown | SameCores::Apart => None,
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
            SameCores::Apart => Validity::Ok,
            SameCores::Shared(_) => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            SameCores::Unknown => "which cores the server ran on is not known".to_owned(),
            SameCores::Apart => "generator and server on cores of their own".to_owned(),
            SameCores::Shared(cores) => {
                let named = cores.iter().map(|(cpu, busy)| format!("{cpu} ({} busy)", percent(*busy)));
                format!(
                    "the server may do better: generator and server share {} and slow each other; generate from another \
                     machine, or give the server cores of its own",
                    list(&named.collect::<Vec<_>>())
                )
            }
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (busy, ..) = all.worst(SameCores::busiest)?;
        Some(format!(
            "the server may do better: generator and server share a core, up to {} busy, in {}, and slow each other; \
             generate from another machine, or give the server cores of its own",
            percent(busy),
            all.figures
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            SameCores::Unknown | SameCores::Apart => Evidence::new(),
            SameCores::Shared(cores) => {
                evidence([("cores", cores.len() as f64), ("busy", self.busiest().unwrap_or(0.0))])
            }
        }
    }
}
