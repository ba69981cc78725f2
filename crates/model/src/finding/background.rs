//! `background`: CPUs kept busy by other processes during a figure's takes.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{number, percent};

/// Numbers are CPUs: 1 is one CPU all the time. `of` are the CPUs that the figure itself used.
#[derive(Clone, Debug, PartialEq)]
pub enum Background {
    Unread,
    Quiet { cpus: f64 },
    Busy { cpus: f64, of: f64 },
}

impl Background {
    const fn cpus(&self) -> Option<f64> {
        match self {
            Background::Unread => None,
            Background::Quiet { cpus } | Background::Busy { cpus, .. } => Some(*cpus),
        }
    }
}

impl Conclusion for Background {
    fn kind(&self) -> &str {
        "background"
    }

    fn state(&self) -> Validity {
        match self {
            Background::Unread => Validity::Unknown,
            Background::Quiet { .. } => Validity::Ok,
            Background::Busy { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Background::Unread => "the load of other processes was not read during the takes".to_owned(),
            Background::Quiet { cpus } => format!("background load {} CPUs", number(*cpus)),
            Background::Busy { cpus, of } => format!(
                "the machine may do better: other processes used {} CPUs during its takes, {} of what it used itself; end \
                 them (`top` shows which) and repeat it",
                number(*cpus),
                percent(*cpus / *of)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (cpus, ..) = all.worst(Background::cpus)?;
        let (share, ..) = all.worst(|one| match one {
            Background::Busy { cpus, of } => Some(*cpus / *of),
            _ => None,
        })?;
        Some(format!(
            "the machine may do better: other processes used up to {} CPUs during {}, up to {} of what these used \
             themselves; end them (`top` shows which) and repeat",
            number(cpus),
            all.figures,
            percent(share)
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (cpus, ..) = all.worst(Background::cpus)?;
        Some(format!("may do better: other processes used up to {} CPUs", number(cpus)))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Background::Busy { cpus, of } => evidence([("cpus", *cpus), ("of", *of)]),
            other => other.cpus().map_or_else(Evidence::new, |cpus| evidence([("cpus", cpus)])),
        }
    }
}
