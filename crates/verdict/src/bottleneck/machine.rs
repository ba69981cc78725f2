//! The rest of the machine: stalls for memory and disks, network links.
//!
//! Stalls are shares of time in which some thread waited (PSI); they have no ceiling, but a level from which they bind.

use model::Unit;
use model::doc::Binding;
use model::metrics::{load, telemetry};
use model::names::instrument;

use super::disks;
use super::view::{Claim, Rank, Seen, View};
use crate::facts;
use crate::loads::groups;
use model::format;

/// Shares of time with stalls from which they bind.
const MEMORY: f64 = 0.1;
const IO: f64 = 0.3;
/// Share of a link's rate from which it binds.
const LINK: f64 = 0.9;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let mut all = disks::seen(view);
    let busy_disk = all.iter().any(|seen| seen.claim.is_some());
    all.extend(memory(view));
    all.extend(io(view, busy_disk));
    all.extend(links(view));
    all
}

/// Memory limits of the server's control groups that it reached.
fn group_limits(view: &View<'_, '_>) -> Vec<String> {
    let size = |bytes: f64| format::quantity(bytes, Unit::Byte);
    let reached = groups::memory_limits(view.load).into_iter().filter_map(|one| {
        let hits = one.hits.filter(|hits| *hits > 0.0)?;
        Some(format!(
            "the limit of {} of its control group ({}) was reached {hits:.0} times",
            size(one.limit),
            one.group
        ))
    });
    reached.collect()
}

fn memory(view: &View<'_, '_>) -> Option<Seen> {
    let share = view.load.median(&load::MEMORY_PRESSURE)?;
    let text = format!("threads waited for memory {} of the time", format::percent(share));
    let claim = (share >= MEMORY).then(|| {
        let limit =
            view.load.given("memory").map(|limit| format!("the server's memory is limited to {limit}"));
        Claim {
            rank: Rank::Stalls,
            sentence: format!("bound by memory ({text}): more memory, or content that fits"),
            evidence: limit
                .into_iter()
                .chain(group_limits(view))
                .chain(disks::read(view))
                .chain(view.shortfall())
                .collect(),
            counter: Vec::new(),
            advice: vec!["more memory, or a higher limit of the control group".to_owned()],
        }
    });
    Some(Seen { kind: Binding::Memory, resource: "memory".to_owned(), share: Some(share), text, claim })
}

fn io(view: &View<'_, '_>, busy_disk: bool) -> Option<Seen> {
    let share = view.load.median(&load::IO_PRESSURE)?;
    let text = format!("threads waited for disks {} of the time", format::percent(share));
    // Others wait for disks too; where the server moves nothing, it is not the one.
    let claim = (share >= IO && !busy_disk && !disks::is_idle(view)).then(|| Claim {
        rank: Rank::Stalls,
        sentence: format!("bound by waiting for disks ({text}): more memory, or a faster disk"),
        evidence: disks::read(view).into_iter().chain(view.shortfall()).collect(),
        counter: vec![
            "threads of all programs count, and no disk was seen full of the server's work".to_owned(),
        ],
        advice: vec![
            "more memory, so that the content stays in the page cache".to_owned(),
            "a faster disk".to_owned(),
        ],
    });
    Some(Seen { kind: Binding::Io, resource: "disks".to_owned(), share: Some(share), text, claim })
}

/// Interfaces whose rate is known, by what telemetry saw during the takes.
fn links(view: &View<'_, '_>) -> Vec<Seen> {
    let run = view.index.run;
    let takes = view.load.takes();
    let spans: Vec<(u64, u64)> = run
        .takes
        .iter()
        .filter(|take| takes.contains(&take.seq))
        .map(|take| (take.start_ns, take.end_ns))
        .collect();
    let inside = |at: u64| spans.iter().any(|(start, end)| (*start..=*end).contains(&at));
    let mut all = Vec::new();
    for (way, metric) in [("out", telemetry::SENT.name()), ("in", telemetry::RECEIVED.name())] {
        let mut seen: std::collections::BTreeMap<&str, Vec<f64>> = std::collections::BTreeMap::new();
        for segment in run.telemetry.iter().filter(|segment| segment.source == instrument::NET_USE) {
            for (column, (name, _)) in segment.columns.iter().enumerate() {
                let Some(device) = device(name, metric) else { continue };
                let rows = segment.at_ns.iter().zip(&segment.rows).filter(|(at, _)| inside(**at));
                let values = rows.filter_map(|(_, row)| row.get(column).copied().flatten());
                seen.entry(device).or_default().extend(values);
            }
        }
        for (device, rates) in seen {
            let speed = facts::limit(run, &format!("nic.{device}.speed"));
            if let (Some(rate), Ok(speed)) = (stats::median(&rates), speed) {
                all.push(link(view, (device, way), rate, speed));
            }
        }
    }
    all
}

/// The device in `sent{interface=eth0}`.
fn device<'n>(column: &'n str, metric: &str) -> Option<&'n str> {
    let inner = column.strip_prefix(metric)?.strip_prefix('{')?.strip_suffix('}')?;
    Some(inner.split_once('=').map_or(inner, |(_, device)| device))
}

fn link(view: &View<'_, '_>, (device, way): (&str, &str), rate: f64, speed: f64) -> Seen {
    let share = rate / speed;
    let of = format!(
        "{} of {}",
        format::quantity(rate, Unit::BytesPerSec),
        format::quantity(speed, Unit::BytesPerSec)
    );
    let text = format!("{device} carried {of} {way} ({})", format::percent(share));
    let claim = (share >= LINK).then(|| Claim {
        rank: Rank::AtCeiling,
        sentence: format!(
            "bound by the link of {device} ({of} {way}, {}): a faster link, or smaller answers",
            format::percent(share)
        ),
        evidence: view.shortfall().into_iter().collect(),
        counter: Vec::new(),
        advice: vec!["a faster link or several".to_owned(), "smaller answers (compression)".to_owned()],
    });
    Seen { kind: Binding::Link, resource: device.to_owned(), share: Some(share), text, claim }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_name_their_device() {
        assert_eq!(device("sent{interface=eth0}", "sent"), Some("eth0"));
        assert_eq!(device("sent{eth0}", "sent"), Some("eth0"));
        assert_eq!((device("sent", "sent"), device("received{a}", "sent")), (None, None));
    }
}
