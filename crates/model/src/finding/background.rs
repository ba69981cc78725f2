//! `background`: CPUs kept busy by other processes during a figure's takes.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{number, percent};
use crate::note::Disturber;

/// Numbers are CPUs: 1 is one CPU all the time. `of` are the CPUs that the figure itself used; `by` are the busiest of
/// the processes, `None` where nobody looked.
#[derive(Clone, Debug, PartialEq)]
pub enum Background {
    Unread,
    Quiet { cpus: f64 },
    Busy { cpus: f64, of: f64, by: Option<Vec<Disturber>> },
}

impl Background {
    const fn by(&self) -> Option<&Vec<Disturber>> {
        match self {
            Background::Busy { by, .. } => by.as_ref(),
            Background::Unread | Background::Quiet { .. } => None,
        }
    }

    const fn cpus(&self) -> Option<f64> {
        match self {
            Background::Unread => None,
            Background::Quiet { cpus } | Background::Busy { cpus, .. } => Some(*cpus),
        }
    }
}

/// Who they are, and what to do.
fn culprits(by: Option<&[Disturber]>) -> (String, &'static str) {
    match by {
        None => (String::new(), "end them (`top` shows which) and repeat"),
        Some(by) => (Disturber::aside(by), "end them, or let --wait-idle wait for them, and repeat"),
    }
}

/// The busiest of these processes, each with the most that it used anywhere.
fn busiest<'a>(all: impl Iterator<Item = &'a Disturber>) -> Vec<Disturber> {
    let mut most: Vec<Disturber> = Vec::new();
    for one in all {
        match most.iter_mut().find(|known| known.pid == one.pid) {
            // A program that was replaced keeps its number; the busier one is named.
            Some(known) if known.cpus < one.cpus => *known = one.clone(),
            Some(_) => {}
            None => most.push(one.clone()),
        }
    }
    most.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    most.truncate(Disturber::NAMED);
    most
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
            Background::Busy { cpus, of, by } => {
                let (who, end) = culprits(by.as_deref());
                format!(
                    "the machine may do better: other processes{who} used {} CPUs during its takes, {} of what it used \
                     itself; {end} it",
                    number(*cpus),
                    percent(*cpus / *of)
                )
            }
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (cpus, ..) = all.worst(Background::cpus)?;
        let (share, ..) = all.worst(|one| match one {
            Background::Busy { cpus, of, .. } => Some(*cpus / *of),
            _ => None,
        })?;
        let by: Vec<&Vec<Disturber>> = all.rules().filter_map(Background::by).collect();
        let by = (!by.is_empty()).then(|| busiest(by.into_iter().flatten()));
        let (who, end) = culprits(by.as_deref());
        Some(format!(
            "the machine may do better: other processes{who} used up to {} CPUs during {}, up to {} of what these used \
             themselves; {end}",
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
            Background::Busy { cpus, of, .. } => evidence([("cpus", *cpus), ("of", *of)]),
            other => other.cpus().map_or_else(Evidence::new, |cpus| evidence([("cpus", cpus)])),
        }
    }
}
