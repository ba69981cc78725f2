//! Topics of a comparison's paragraph: rows of one topic share a clause.
//!
//! Known instruments have a topic with a verb; any other one speaks for itself by its name.

use model::doc::RowDoc;
use model::names::Key;
use model::{Better, Role, Scope, Shown, Topic as About};

use crate::traffic;

/// Rows of one topic are said in one clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    Compute,
    MemoryRate,
    MemoryWait,
    DiskRate,
    DiskWait(&'static str),
    Work,
    /// Requests of one mix, out of access logs.
    Serving,
    /// Good answers of a server or store under load, which is called so.
    Answers(&'static str),
    /// Something that is used up, of which less is better.
    Uses(&'static str),
    /// `NAME` is higher or lower is better.
    Rate(String),
    Wait(String),
}

impl Topic {
    pub fn of_row(row: &RowDoc) -> Topic {
        let lower = row.better == Better::Lower;
        match (row.instrument.as_str(), row.metric.as_str()) {
            (traffic::INSTRUMENT, traffic::SPEED) => return Topic::Serving,
            (traffic::INSTRUMENT, traffic::TIME) => return Topic::Wait("a request".to_owned()),
            _ => {}
        }
        if let Some(card) =
            row.card.filter(|card| matches!(card.role, Role::Load { rate } if rate == row.metric))
        {
            return Topic::Answers(card.shown.label);
        }
        let topic = row.card.map_or(Shown::PLAIN.topic, |card| {
            card.metric(&row.metric).and_then(|info| info.topic).unwrap_or(card.shown.topic)
        });
        match topic {
            About::Compute => Topic::Compute,
            About::Memory if lower => Topic::MemoryWait,
            About::Memory => Topic::MemoryRate,
            About::Disk(what) if lower => Topic::DiskWait(what),
            About::Disk(_) => Topic::DiskRate,
            About::Work => Topic::Work,
            About::Uses(what) if lower => Topic::Uses(what),
            About::Wait(what) if lower => Topic::Wait(what.to_owned()),
            About::In { param, whole } if !lower => {
                let value = row.params.get(param).unwrap_or(whole);
                Topic::Rate(format!("{} in {value}", row.instrument))
            }
            _ if lower => Topic::Wait(subject(row)),
            _ => Topic::Rate(subject(row)),
        }
    }

    /// The topics of some rows, each once, in their order of telling.
    pub fn of_all(rows: &[&RowDoc]) -> Vec<Topic> {
        let all: std::collections::BTreeSet<Topic> = rows.iter().map(|row| Topic::of_row(row)).collect();
        all.into_iter().collect()
    }

    /// The topic as a noun: `computing`.
    pub fn noun(&self) -> String {
        match self {
            Topic::Compute => "computing".to_owned(),
            Topic::MemoryRate => "memory bandwidth".to_owned(),
            Topic::MemoryWait => "memory latency".to_owned(),
            Topic::DiskRate => "disk throughput".to_owned(),
            Topic::DiskWait(what) => format!("waiting for {what}"),
            Topic::Work => "the work".to_owned(),
            Topic::Serving => "serving the same requests".to_owned(),
            Topic::Answers(what) => format!("{what} throughput"),
            Topic::Uses(what) => (*what).to_owned(),
            Topic::Rate(name) | Topic::Wait(name) => name.clone(),
        }
    }

    /// Number of a row in the topic's clause: how long against the base for waits, how much for what is used,
    /// else how fast.
    pub fn factor(&self, row: &RowDoc) -> Option<f64> {
        match self {
            Topic::MemoryWait | Topic::DiskWait(_) | Topic::Work | Topic::Uses(_) | Topic::Wait(_) => {
                row.ratio
            }
            Topic::Compute
            | Topic::MemoryRate
            | Topic::DiskRate
            | Topic::Serving
            | Topic::Answers(_)
            | Topic::Rate(_) => Topic::goodness(row),
        }
    }

    /// The interval of [`Topic::factor`].
    pub fn interval(&self, row: &RowDoc) -> Option<(f64, f64)> {
        let (low, high) = row.low.zip(row.high)?;
        let is_turned = self.factor(row)? != row.ratio?;
        Some(if is_turned { (1.0 / high, 1.0 / low) } else { (low, high) })
    }

    /// How many times as good as the base.
    pub fn goodness(row: &RowDoc) -> Option<f64> {
        let ratio = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0)?;
        Some(if row.better == Better::Lower { 1.0 / ratio } else { ratio })
    }
}

/// The name under which rows share a clause: loads of one instrument and metric do, whatever their parameters.
fn subject(row: &RowDoc) -> String {
    match row.card.filter(|_| model::names::is_load(row.card)) {
        Some(card) => model::names::of_metric(card, &row.metric),
        None => name(row),
    }
}

/// A short name of a row, and on how many CPUs it was where its scope does not say that.
pub fn name(row: &RowDoc) -> String {
    let key = Key { card: row.card, instrument: &row.instrument, metric: &row.metric, params: &row.params };
    let name = model::names::label(key);
    match row.params.get("threads") {
        None | Some("1") => name,
        Some("all") if row.scope() == Some(Scope::WholeMachine) => name,
        Some("all") => format!("{name} on all CPUs"),
        Some(number) => format!("{name} on {number} CPUs"),
    }
}

/// The same with its CPUs where it is of all of them, for sentences that no scope leads.
pub fn full_name(row: &RowDoc) -> String {
    let whole = row.params.get("threads") == Some("all") && row.scope() == Some(Scope::WholeMachine);
    if whole { format!("{} on all CPUs", name(row)) } else { name(row) }
}

/// The parts of the name of a load: its metric first; none of another figure.
fn parts_of_load(row: &RowDoc) -> Vec<String> {
    let card = row.card.filter(|card| card.role.rate().is_some());
    card.map_or_else(Vec::new, |card| model::names::load::parts(card, Key::from(row), &[]))
}

/// `web p99`, of the figure of a load.
pub fn metric_of_load(row: &RowDoc) -> String {
    parts_of_load(row).into_iter().next().unwrap_or_default()
}

/// `nginx, 20 connections`, where several figures are all of this load.
pub fn one_load(rows: &[&RowDoc]) -> Option<String> {
    let (first, others) = rows.split_first()?;
    let load = parts_of_load(first).into_iter().skip(1).collect::<Vec<_>>();
    let is_same = |row: &&RowDoc| parts_of_load(row).get(1..) == Some(&load[..]);
    (!others.is_empty() && !load.is_empty() && others.iter().all(is_same)).then(|| load.join(", "))
}

#[cfg(test)]
mod tests {
    use model::doc::VerdictWord;

    use super::super::scopes;
    use super::*;

    #[test]
    fn figures_of_one_load_name_it_once() {
        let row = |metric: &str, connections: &str| RowDoc {
            metric: metric.to_owned(),
            ..crate::paragraph::tests::row("web", connections, Better::Higher, 1.0, VerdictWord::CannotTell)
        };
        let names = |rows: &[RowDoc]| scopes::names(&rows.iter().collect::<Vec<_>>());
        let (rate, p99) = (row("throughput", "connections=20"), row("response-time-p99", "connections=20"));
        assert_eq!(names(&[rate.clone(), p99.clone()]), ["web", "web p99 (20 connections)"]);
        assert_eq!(names(std::slice::from_ref(&p99)), ["web p99, 20 connections"]);
        let other = row("throughput", "connections=5");
        assert_eq!(names(&[rate, other]), ["web, 20 connections", "web, 5 connections"]);
        let integer =
            crate::paragraph::tests::row("index", "kind=integer", Better::Higher, 1.0, VerdictWord::Tie);
        assert_eq!(names(&[p99, integer]), ["web p99, 20 connections", "integer"]);
    }
}
