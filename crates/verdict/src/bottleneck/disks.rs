//! Disks: a disk binds by what the server itself reads or writes, held against what the same disk did in stored runs.
//!
//! Shares are of the time (busy) or of the best figure of `disk-read` or `disk-seq`. Whatever keeps a disk busy else is
//! other programs' work. A disk that has one request under way all the time is busy, and may do many times more.

use model::Unit;
use model::doc::{Binding, CeilingDoc, CeilingOf};
use model::format;
use model::metrics::{disk, load};
use model::names::instrument;
use model::params::parse_bytes;

use super::view::{Claim, Rank, Seen, View};
use crate::loads::sweep::{CEILING, NEAR};

/// Share of what all programs read from disks, from which the server is who reads.
const MOST: f64 = 0.5;
/// The figure of a disk is of many times as many reads under way, from here on.
const DEEPER: f64 = 2.0;

/// Speaks against a disk that binds.
const MORE: &str = "a disk that serves several requests at once may be busy all the time and do more";
const MEMORY: &str = "more memory, so that the content stays in the page cache";
const FASTER: &str = "a faster disk";

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

/// `412 MB read from disks in each take`; `None` if none were.
pub fn read(view: &View<'_, '_>) -> Option<String> {
    let bytes = view.load.median(&load::DISK_READ).filter(|bytes| *bytes > 0.0)?;
    Some(format!("{} read from disks in each take", format::quantity(bytes, Unit::Byte)))
}

/// True where the server is known to move nothing to or from disks.
pub fn is_idle(view: &View<'_, '_>) -> bool {
    own_rate(view).is_some_and(|(own, _)| own <= 0.0)
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

/// The ceiling of this disk that the load came nearest to, of those that were measured.
fn nearest<'v>(view: &'v View<'_, '_>, name: &str, way: Way) -> Option<&'v CeilingDoc> {
    let is_its = |one: &&CeilingDoc| {
        one.resource == name
            && match one.of {
                CeilingOf::Reads | CeilingOf::BytesRead => way == Way::Reads,
                CeilingOf::BytesWritten => way == Way::Writes,
                _ => false,
            }
    };
    let measured = view.ceilings.iter().filter(is_its).filter(|one| one.measured.is_some());
    measured.max_by(|a, b| {
        let order = |one: &CeilingDoc| (one.exceeded, one.share.unwrap_or(0.0));
        order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// One disk during a load: what the server itself does there, and what is known of its ceiling.
struct Disk<'v> {
    name: String,
    busy: f64,
    own: Option<(f64, Way)>,
    /// Most of what is read from disks is the server's.
    is_most: bool,
    ceiling: Option<&'v CeilingDoc>,
    /// Bytes a second that `disk-read` got in the same run; of reads, where there is no ceiling.
    roof: Option<f64>,
}

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let own = own_rate(view);
    let way = own.map(|(_, way)| way);
    let all = view.load.median(&load::DISK_READ).zip(view.load.median(&load::WINDOW)).map(|(all, s)| all / s);
    let is_most = own.is_some_and(|(own, way)| {
        own > 0.0 && (way == Way::Writes || all.is_none_or(|all| own >= MOST * all))
    });
    let of_disk = |(name, busy): (String, f64)| {
        let ceiling = way.and_then(|way| nearest(view, &name, way));
        let roof = measured_read(view).filter(|_| way == Some(Way::Reads) && ceiling.is_none());
        let disk = Disk { name, busy, own, is_most, ceiling, roof };
        let (text, claim) = (disk.text(), disk.claim(view));
        Seen { kind: Binding::Disk, resource: disk.name, share: Some(busy), text, claim }
    };
    view.load.medians_by(&load::DISK_BUSY, "disk").into_iter().map(of_disk).collect()
}

impl Disk<'_> {
    /// `97 % busy; the server itself reads 16 MB/s; reads: 4.00 of the 22.0 k/s that it can do, 18 %`
    fn state(&self) -> String {
        let rate = |rate: f64| format::quantity(rate, Unit::BytesPerSec);
        let of_server = match self.own {
            None => "; what the server itself reads is not known".to_owned(),
            Some((own, _)) if own <= 0.0 => "; the server itself moves nothing there".to_owned(),
            Some((own, way)) => {
                let of = self
                    .roof
                    .map_or_else(String::new, |roof| format!(" of {} that disk-read got here", rate(roof)));
                format!("; the server itself {} {}{of}", way.word(), rate(own))
            }
        };
        let did = self.ceiling.and_then(|one| {
            let what = match one.of {
                CeilingOf::Reads => "reads",
                CeilingOf::BytesRead => "bytes read",
                _ => "bytes written",
            };
            Some(format!("; {what}: {} that it can do, {}", one.amount()?, format::percent(one.share?)))
        });
        format!("{} busy{of_server}{}", format::percent(self.busy), did.unwrap_or_default())
    }

    fn text(&self) -> String {
        format!("disk {} {}", self.name, self.state())
    }

    fn claim(&self, view: &View<'_, '_>) -> Option<Claim> {
        if self.busy < CEILING || !self.is_most {
            return None;
        }
        let is_full = match (self.ceiling, self.roof, self.own) {
            (Some(ceiling), ..) => ceiling.is_near(),
            (None, Some(roof), Some((own, _))) => own >= NEAR * roof,
            _ => true,
        };
        if is_full { Some(self.full(view)) } else { self.shallow(view) }
    }

    fn evidence(&self, view: &View<'_, '_>) -> Vec<String> {
        let ceiling = self.ceiling.map(|one| one.text.clone());
        read(view).into_iter().chain(ceiling).chain(view.shortfall()).collect()
    }

    /// It does what it can.
    fn full(&self, view: &View<'_, '_>) -> Claim {
        let way = self.own.map(|(_, way)| way);
        let never = view.ceilings.iter().find(|one| one.resource == self.name && one.measured.is_none());
        let how = never.map_or("boxscore run disk-read", |one| one.command.as_str());
        let counter = match (self.ceiling, self.roof, way) {
            (Some(_), ..) | (_, Some(_), _) => None,
            (.., Some(Way::Writes)) => {
                Some(format!("{MORE}: how much it can write was not measured: `boxscore run disk-seq` tells"))
            }
            _ => Some(format!("{MORE}: `{how}` tells")),
        };
        Claim {
            rank: Rank::AtCeiling,
            sentence: format!(
                "bound by disk {} ({}): more memory, or a faster disk",
                self.name,
                self.state()
            ),
            evidence: self.evidence(view),
            counter: counter.into_iter().collect(),
            advice: vec![MEMORY.to_owned(), FASTER.to_owned()],
        }
    }

    /// It is busy all the time, with few reads at once: with more it would do more. Nothing is said where it is not
    /// known how many there were.
    fn shallow(&self, view: &View<'_, '_>) -> Option<Claim> {
        let depths = view.load.medians_by(&load::DISK_DEPTH, "disk");
        let depth = depths.get(&self.name).copied().filter(|depth| *depth > 0.0)?;
        let is_reads = |one: &&CeilingDoc| one.of == CeilingOf::Reads && one.resource == self.name;
        let (_, figure) = view.ceilings.iter().find(is_reads)?.held()?;
        let most = figure.params.get("qd")?.parse::<f64>().ok().filter(|most| *most >= DEEPER * depth)?;
        let under_way = format!("{} under way on average", format::number(depth));
        let counter = format!("with {} reads under way the disk does more", format::number(most));
        Some(Claim {
            rank: Rank::Stalls,
            sentence: format!(
                "bound by waiting for disk {} with few reads at once ({}, {under_way}): more at once (workers, threads \
                 that read), or more memory",
                self.name,
                self.state()
            ),
            evidence: self.evidence(view),
            counter: vec![counter],
            advice: vec![
                "let the server read more at once: more workers, or threads that read (nginx: `aio threads`)"
                    .to_owned(),
                MEMORY.to_owned(),
            ],
        })
    }
}
