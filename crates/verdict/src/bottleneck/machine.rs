//! The rest of the machine: disks, stalls for memory and disks, network links.
//!
//! Stalls are shares of time in which some thread waited (PSI); they have no ceiling, but a level from which they bind.

use model::Unit;
use model::doc::Binding;
use model::metrics::{disk, load, telemetry};
use model::names::instrument;
use model::params::parse_bytes;

use super::view::{Claim, Rank, Seen, View};
use crate::facts;
use crate::loads::groups;
use crate::loads::sweep::{CEILING, NEAR};
use model::format;

/// Shares of time with stalls from which they bind.
const MEMORY: f64 = 0.1;
const IO: f64 = 0.3;
/// Share of a link's rate from which it binds.
const LINK: f64 = 0.9;
/// Share of what all programs read from disks, from which the server is who reads.
const MOST: f64 = 0.5;

/// Speaks against a disk that binds.
const MORE: &str = "a disk that serves several requests at once may be busy all the time and do more";

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let mut all = disks(view);
    let busy_disk = all.iter().any(|seen| seen.claim.is_some());
    all.extend(memory(view));
    all.extend(io(view, busy_disk));
    all.extend(links(view));
    all
}

/// `412 MB read from disks in each take`; `None` if none were.
fn read(view: &View<'_, '_>) -> Option<String> {
    let bytes = view.load.median(&load::DISK_READ).filter(|bytes| *bytes > 0.0)?;
    Some(format!("{} read from disks in each take", format::quantity(bytes, Unit::Byte)))
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Reads,
    Writes,
}

impl Way {
    fn word(self) -> &'static str {
        match self {
            Way::Reads => "reads",
            Way::Writes => "writes",
        }
    }
}

/// Bytes that the server itself moved to and from disks, a second, where that is known; the larger way.
fn own_rate(view: &View<'_, '_>) -> Option<(f64, Way)> {
    let window = view.load.median(&load::WINDOW).filter(|window| *window > 0.0)?;
    let (read, written) = (view.load.median(&load::SERVER_READ)?, view.load.median(&load::SERVER_WRITTEN)?);
    Some(if read >= written { (read / window, Way::Reads) } else { (written / window, Way::Writes) })
}

/// The most bytes a second that `disk-read` got from this machine's disk in the run, at any depth.
fn measured_read(view: &View<'_, '_>) -> Option<f64> {
    let rates = view.index.run.series.iter().filter(|series| series.key.instrument == instrument::DISK_READ);
    let rates = rates.filter(|series| series.key.metric == disk::IOPS.name()).filter_map(|series| {
        let block = parse_bytes(series.key.params.get("block")?)?;
        Some(stats::median(&series.measured())? * block as f64)
    });
    rates.filter(|rate| *rate > 0.0).max_by(f64::total_cmp)
}

/// A disk binds by what the server itself reads or writes; reads are held against what `disk-read` measured here.
/// Whatever keeps it busy else is other programs' work, and one request under way at a time is no full disk.
fn disks(view: &View<'_, '_>) -> Vec<Seen> {
    let own = own_rate(view);
    let way = own.map(|(_, way)| way);
    let roof = measured_read(view).filter(|_| way == Some(Way::Reads));
    let rate = |rate: f64| format::quantity(rate, Unit::BytesPerSec);
    let of_server = match own {
        None => "; what the server itself reads is not known".to_owned(),
        Some((own, _)) if own <= 0.0 => "; the server itself moves nothing there".to_owned(),
        Some((own, way)) => {
            let of =
                roof.map_or_else(String::new, |roof| format!(" of {} that disk-read got here", rate(roof)));
            format!("; the server itself {} {}{of}", way.word(), rate(own))
        }
    };
    let all = view.load.median(&load::DISK_READ).zip(view.load.median(&load::WINDOW)).map(|(all, s)| all / s);
    let binds = own.is_some_and(|(own, way)| {
        let is_most = way == Way::Writes || all.is_none_or(|all| own >= MOST * all);
        own > 0.0 && is_most && roof.is_none_or(|roof| own >= NEAR * roof)
    });
    let disk = |(name, busy): (String, f64)| {
        let text = format!("disk {name} {} busy{of_server}", format::percent(busy));
        let claim = (busy >= CEILING && binds).then(|| Claim {
            rank: Rank::AtCeiling,
            sentence: format!(
                "bound by disk {name} ({} busy{of_server}): more memory, or a faster disk",
                format::percent(busy)
            ),
            evidence: read(view).into_iter().chain(view.shortfall()).collect(),
            counter: match (roof, way) {
                (Some(_), _) => Vec::new(),
                (None, Some(Way::Writes)) => vec![format!("{MORE}: how much it can write was not measured")],
                (None, _) => vec![format!("{MORE}: `disk-read` in the same run tells")],
            },
            advice: vec![
                "more memory, so that the content stays in the page cache".to_owned(),
                "a faster disk".to_owned(),
            ],
        });
        Seen { kind: Binding::Disk, resource: name, share: Some(busy), text, claim }
    };
    view.load.medians_by(&load::DISK_BUSY, "disk").into_iter().map(disk).collect()
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
                .chain(read(view))
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
    let idle = own_rate(view).is_some_and(|(own, _)| own <= 0.0);
    let claim = (share >= IO && !busy_disk && !idle).then(|| Claim {
        rank: Rank::Stalls,
        sentence: format!("bound by waiting for disks ({text}): more memory, or a faster disk"),
        evidence: read(view).into_iter().chain(view.shortfall()).collect(),
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
