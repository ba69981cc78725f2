//! The rest of the machine: stalls for memory, disks and cores, the CPU quota, network links.
//!
//! Stalls are shares of time in which some thread waited (PSI); they have no ceiling, but a level from which they bind.

use model::Unit;
use model::doc::Binding;
use model::metrics::{load, machine, telemetry};
use model::names::instrument;

use super::disks;
use super::view::{Claim, Rank, Seen, View};
use crate::facts;
use crate::loads::sweep::CEILING;
use model::format;

/// Shares of time with stalls from which they bind.
const MEMORY: f64 = 0.1;
const IO: f64 = 0.3;
const CPU: f64 = 0.5;
/// Share of a link's rate from which it binds.
const LINK: f64 = 0.9;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let mut all = disks::seen(view);
    let busy_disk = all.iter().any(|seen| seen.claim.is_some());
    all.extend(memory(view));
    all.extend(io(view, busy_disk));
    all.extend(run_queue(view));
    all.extend(quota(view));
    all.extend(links(view));
    all
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
            evidence: limit.into_iter().chain(disks::read(view)).chain(view.shortfall()).collect(),
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

/// Waiting for a core is no news where the cores are full.
fn run_queue(view: &View<'_, '_>) -> Option<Seen> {
    let share = view.load.median(&load::CPU_PRESSURE)?;
    let text = format!("threads waited for a core {} of the time", format::percent(share));
    let most = view.cores.iter().map(|core| core.busy).max_by(f64::total_cmp);
    let claim = most.filter(|most| share >= CPU && *most < CEILING).map(|most| Claim {
        rank: Rank::Stalls,
        sentence: format!(
            "bound by waiting for cores ({text}, with no core above {}): look at CPU sets, quotas and priorities",
            format::percent(most)
        ),
        evidence: view.shortfall().into_iter().collect(),
        counter: Vec::new(),
        advice: vec!["let the server's threads use more cores (CPU set, affinity)".to_owned()],
    });
    Some(Seen { kind: Binding::RunQueue, resource: "run queue".to_owned(), share: Some(share), text, claim })
}

/// Stops by the CPU quota of our own control group, in at least half of the takes.
fn quota(view: &View<'_, '_>) -> Option<Seen> {
    let stops = view.index.condition(machine::THROTTLED.name())?;
    let takes: Vec<f64> = view.load.takes().iter().filter_map(|seq| stops.get(seq).copied()).collect();
    let hit = takes.iter().filter(|count| **count > 0.0).count();
    if hit == 0 {
        return None;
    }
    let cpus = facts::number(&view.index.run.facts, "cgroup.cpu.quota");
    let size = cpus.map_or_else(String::new, |cpus| format!(" of {} CPUs", format::number(cpus)));
    let text = format!("the CPU quota{size} stopped {hit} of {}", format::count(takes.len(), "take"));
    let claim = (2 * hit >= takes.len()).then(|| Claim {
        rank: Rank::Proved,
        sentence: format!(
            "bound by the CPU quota{size} of the control group ({hit} of {} takes stopped): lift it",
            takes.len()
        ),
        evidence: vec![format!("{:.0} periods ended early", takes.iter().sum::<f64>())],
        counter: Vec::new(),
        advice: vec!["lift the quota (cpu.max), or compare only inside it".to_owned()],
    });
    let share = Some(hit as f64 / takes.len() as f64);
    Some(Seen { kind: Binding::Quota, resource: "cgroup.cpu.quota".to_owned(), share, text, claim })
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
