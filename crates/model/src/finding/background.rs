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
fn culprits(by: Option<&[Disturber]>, cpus: f64) -> (String, String) {
    match by {
        None => (String::new(), "end them (`boxscore doctor` names them) and repeat".to_owned()),
        Some(by) => (
            Disturber::aside(&Disturber::within(by, cpus)),
            format!("{}, and repeat", Disturber::remedy(by, "them")),
        ),
    }
}

/// The most CPUs that others used during a figure, and who they were then; during another one if nobody looked.
fn worst<'a>(all: &'a Several<'_, Background>) -> Option<(f64, Option<&'a Vec<Disturber>>)> {
    let cpus = |one: &Background| one.cpus().unwrap_or_default();
    let by_cpus = |a: &&Background, b: &&Background| cpus(a).total_cmp(&cpus(b));
    let most = all.rules().filter(|one| one.cpus().is_some()).max_by(by_cpus)?;
    let known = || all.rules().filter(|one| one.by().is_some()).max_by(by_cpus);
    Some((most.cpus()?, most.by().or_else(|| known()?.by())))
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
                let (who, end) = culprits(by.as_deref(), *cpus);
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
        let (cpus, by) = worst(all)?;
        let (share, ..) = all.worst(|one| match one {
            Background::Busy { cpus, of, .. } => Some(*cpus / *of),
            _ => None,
        })?;
        let (who, end) = culprits(by.map(Vec::as_slice), cpus);
        Some(format!(
            "the machine may do better: other processes{who} used up to {} CPUs during {}, up to {} of what these used \
             themselves; {end}",
            number(cpus),
            all.figures,
            percent(share)
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (cpus, by) = worst(all)?;
        let first = by.and_then(|by| by.first()).map(std::slice::from_ref);
        let who = first.map_or(String::new(), |first| Disturber::aside(&Disturber::within(first, cpus)));
        Some(format!("may do better: other processes{who} used up to {} CPUs", number(cpus)))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Background::Busy { cpus, of, .. } => evidence([("cpus", *cpus), ("of", *of)]),
            other => other.cpus().map_or_else(Evidence::new, |cpus| evidence([("cpus", cpus)])),
        }
    }
}
