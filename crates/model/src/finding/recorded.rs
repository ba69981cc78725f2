//! Refusals of instruments during a take: `page-cache`, `flush`, `cached`, `huge-pages`, `copies-apart`, `spinning`,
//! `store-spins`, `not-steady`.
//!
//! These travel from the measuring child to the program and into the store, as kind, sentence and evidence;
//! [`Recorded::read`] makes them typed again.

use super::{Conclusion, Evidence, Rule, Timer, Validity, evidence};
use crate::Unit;
use crate::format::{Kind, count, fixed, percent, quantity};
use crate::params::show_bytes;

/// Numbers of bytes, events, threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// Why it cannot be told who answered reads.
    ReadsUnknown(String),
    /// A cache answered reads, not the device.
    PageCache {
        device_bytes: u64,
        read_bytes: u64,
    },
    /// Why it cannot be told whether synced data reached the medium.
    SyncsUnknown(String),
    /// A device with a volatile write cache was flushed too rarely.
    Flush {
        flushes: u64,
        syncs: u64,
    },
    /// The machine reports no cache to hold an array against.
    CacheUnknown {
        array_bytes: u64,
    },
    /// An array that is not far larger than the last-level cache.
    SmallArray {
        array_bytes: u64,
        llc_bytes: u64,
    },
    /// A chain that touches few cache lines.
    FewLines {
        touched_bytes: u64,
        llc_bytes: u64,
    },
    /// Why it cannot be told how much lies in huge pages.
    HugePagesUnknown(String),
    HugePages {
        huge_bytes: u64,
        array_bytes: u64,
    },
    /// Copies of a kernel that ran beside each other for a part of their time only.
    CopiesApart {
        kernel: String,
        copies: usize,
        overlap: f64,
    },
    /// More threads spin than the control group has CPUs.
    Spinning {
        threads: f64,
        cpus: f64,
    },
    /// Threads of a store and of its client spin, and there are fewer CPUs.
    StoreSpins {
        threads: f64,
        cpus: f64,
    },
    /// The compilers of a runtime still worked when its program ended after so many seconds.
    StillCompiling {
        seconds: f64,
    },
    /// Iterations changed by such a share although no compiler worked any more.
    StillChanging {
        change: f64,
    },
}

/// An array must be so many times larger than the last-level cache to be sure of memory.
pub const TIMES_CACHE: u64 = 4;

impl Recorded {
    /// The refusal that has this kind and evidence. `None` where the evidence does not say all of it.
    pub(super) fn read(kind: &str, state: Validity, evidence: &Evidence) -> Option<Rule> {
        let number = |name: &str| evidence.get(name).copied();
        let whole = |name: &str| number(name).map(|number| number as u64);
        let array = whole("array_bytes");
        let rule: Rule = match kind {
            "page-cache" => {
                Recorded::PageCache { device_bytes: whole("device_bytes")?, read_bytes: whole("read_bytes")? }
                    .into()
            }
            "flush" => Recorded::Flush { flushes: whole("flushes")?, syncs: whole("syncs")? }.into(),
            "cached" => match (whole("touched_bytes"), array, whole("llc_bytes")) {
                (Some(touched_bytes), _, Some(llc_bytes)) => {
                    Recorded::FewLines { touched_bytes, llc_bytes }.into()
                }
                (None, Some(array_bytes), Some(llc_bytes)) => {
                    Recorded::SmallArray { array_bytes, llc_bytes }.into()
                }
                (_, array_bytes, _) => Recorded::CacheUnknown { array_bytes: array_bytes? }.into(),
            },
            "huge-pages" => {
                Recorded::HugePages { huge_bytes: whole("huge_bytes")?, array_bytes: array? }.into()
            }
            "spinning" => Recorded::Spinning { threads: number("threads")?, cpus: number("cpus")? }.into(),
            "store-spins" => {
                Recorded::StoreSpins { threads: number("threads")?, cpus: number("cpus")? }.into()
            }
            "not-steady" => match (number("seconds"), number("change")) {
                (Some(seconds), None) => Recorded::StillCompiling { seconds }.into(),
                (None, Some(change)) => Recorded::StillChanging { change }.into(),
                _ => return None,
            },
            "timer" => Timer::Broken { share: number("share")? }.into(),
            _ => return None,
        };
        (rule.state() == state && rule.evidence() == *evidence).then_some(rule)
    }
}

impl Conclusion for Recorded {
    fn kind(&self) -> &str {
        match self {
            Recorded::ReadsUnknown(_) | Recorded::PageCache { .. } => "page-cache",
            Recorded::SyncsUnknown(_) | Recorded::Flush { .. } => "flush",
            Recorded::CacheUnknown { .. } | Recorded::SmallArray { .. } | Recorded::FewLines { .. } => {
                "cached"
            }
            Recorded::HugePagesUnknown(_) | Recorded::HugePages { .. } => "huge-pages",
            Recorded::CopiesApart { .. } => "copies-apart",
            Recorded::Spinning { .. } => "spinning",
            Recorded::StoreSpins { .. } => "store-spins",
            Recorded::StillCompiling { .. } | Recorded::StillChanging { .. } => "not-steady",
        }
    }

    fn state(&self) -> Validity {
        match self {
            Recorded::ReadsUnknown(_)
            | Recorded::SyncsUnknown(_)
            | Recorded::CacheUnknown { .. }
            | Recorded::HugePagesUnknown(_) => Validity::Unknown,
            Recorded::PageCache { .. }
            | Recorded::Flush { flushes: 0, .. }
            | Recorded::StillCompiling { .. } => Validity::Invalid,
            Recorded::Flush { .. }
            | Recorded::SmallArray { .. }
            | Recorded::FewLines { .. }
            | Recorded::HugePages { .. }
            | Recorded::CopiesApart { .. }
            | Recorded::Spinning { .. }
            | Recorded::StoreSpins { .. }
            | Recorded::StillChanging { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Recorded::ReadsUnknown(why) => format!("whether the device did the reads cannot be told: {why}"),
            Recorded::PageCache { device_bytes, read_bytes } => format!(
                "measures a cache, not the device: the device delivered {device_bytes} of the {read_bytes} bytes that were \
                 read"
            ),
            Recorded::SyncsUnknown(why) => {
                format!("whether synced data reached the medium cannot be told: {why}")
            }
            Recorded::Flush { flushes: 0, syncs } => format!(
                "syncs returned before the data was safe: the device has a volatile write cache, and its flush counter did \
                 not move in {syncs} syncs"
            ),
            Recorded::Flush { flushes, syncs } => format!(
                "syncs may have returned before the data was safe: the device has a volatile write cache, and it was \
                 flushed {flushes} times for {syncs} syncs"
            ),
            Recorded::CacheUnknown { array_bytes } => format!(
                "the machine reports no last-level cache, so {} may be too small to leave it",
                show_bytes(*array_bytes)
            ),
            Recorded::SmallArray { array_bytes, llc_bytes } => format!(
                "may measure the cache, not memory: {} is {:.1} times the last-level cache of {} that the machine reports; \
                 {TIMES_CACHE} times are needed to be sure of memory",
                show_bytes(*array_bytes),
                *array_bytes as f64 / *llc_bytes as f64,
                show_bytes(*llc_bytes)
            ),
            Recorded::FewLines { touched_bytes, llc_bytes } => format!(
                "may measure the cache, not memory: the chain touches {} of cache lines, and the machine reports a \
                 last-level cache of {}",
                show_bytes(*touched_bytes),
                show_bytes(*llc_bytes)
            ),
            Recorded::HugePagesUnknown(why) => format!("how much lies in huge pages cannot be told: {why}"),
            Recorded::HugePages { huge_bytes, array_bytes } => format!(
                "not of huge pages alone: the kernel put {} of {} MiB in huge pages; see \
                 /sys/kernel/mm/transparent_hugepage/enabled",
                huge_bytes >> 20,
                array_bytes >> 20
            ),
            Recorded::CopiesApart { kernel, copies, overlap } => format!(
                "may be too high: the scored batches of {copies} copies of {kernel} ran beside each other for {:.0} % of \
                 their time only",
                overlap * 100.0
            ),
            Recorded::Spinning { threads, cpus } => format!(
                "times hold pauses: mode=spin keeps {threads} threads busy and the control group has {cpus} \
                 CPUs, so that the kernel stops them for part of the time; mode=block needs less"
            ),
            Recorded::StoreSpins { threads, cpus } => format!(
                "times hold pauses: the threads of the store and of its client spin and would keep {threads} CPUs busy, and \
                 {cpus} are there, so that they wait for each other; take a machine with more CPUs, or the store on \
                 another one"
            ),
            Recorded::StillCompiling { seconds } => format!(
                "not steady yet: the runtime's compilers still worked after {}, and what they make may be several times \
                 faster; give it longer with --set longest={}",
                quantity(*seconds, Kind::for_unit(Unit::Second)),
                fixed((2.0 * seconds).ceil(), 0)
            ),
            Recorded::StillChanging { change } => format!(
                "may not be steady yet: iterations changed by {} after the runtime's compilers had ended; repeat while \
                 nothing else uses its core",
                percent(*change)
            ),
        }
    }

    fn evidence(&self) -> Evidence {
        match self {
            Recorded::ReadsUnknown(_) | Recorded::SyncsUnknown(_) | Recorded::HugePagesUnknown(_) => {
                Evidence::new()
            }
            Recorded::PageCache { device_bytes, read_bytes } => {
                evidence([("device_bytes", *device_bytes as f64), ("read_bytes", *read_bytes as f64)])
            }
            Recorded::Flush { flushes, syncs } => {
                evidence([("flushes", *flushes as f64), ("syncs", *syncs as f64)])
            }
            Recorded::CacheUnknown { array_bytes } => evidence([("array_bytes", *array_bytes as f64)]),
            Recorded::SmallArray { array_bytes, llc_bytes } => {
                evidence([("array_bytes", *array_bytes as f64), ("llc_bytes", *llc_bytes as f64)])
            }
            Recorded::FewLines { touched_bytes, llc_bytes } => {
                evidence([("touched_bytes", *touched_bytes as f64), ("llc_bytes", *llc_bytes as f64)])
            }
            Recorded::HugePages { huge_bytes, array_bytes } => {
                evidence([("huge_bytes", *huge_bytes as f64), ("array_bytes", *array_bytes as f64)])
            }
            Recorded::CopiesApart { overlap, .. } => evidence([("overlap", *overlap)]),
            Recorded::Spinning { threads, cpus } | Recorded::StoreSpins { threads, cpus } => {
                evidence([("threads", *threads), ("cpus", *cpus)])
            }
            Recorded::StillCompiling { seconds } => evidence([("seconds", *seconds)]),
            Recorded::StillChanging { change } => evidence([("change", *change)]),
        }
    }
}

/// A refusal, and in how many of the takes of its cell it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct InTakes {
    pub rule: Box<Rule>,
    pub takes: usize,
    pub of: usize,
}

impl Conclusion for InTakes {
    fn kind(&self) -> &str {
        self.rule.kind()
    }

    fn state(&self) -> Validity {
        self.rule.state()
    }

    fn one(&self) -> String {
        let one = self.rule.one();
        match self.takes < self.of && self.state() != Validity::Ok {
            true => format!("{one} (in {} of {})", self.takes, count(self.of, "take")),
            false => one,
        }
    }

    fn evidence(&self) -> Evidence {
        let mut all = self.rule.evidence();
        all.insert("takes".to_owned(), self.takes as f64);
        all
    }
}
