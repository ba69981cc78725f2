//! `--telemetry`: the load of a machine beside the requests of a label, from a stored run that recorded it.
//!
//! Times are seconds since 1970: of requests by the clock of the server that logged, of samples by the wall clock at
//! the run's start. The two clocks are not compared, and the output says so. Rows cover the time that both have;
//! figures of the machine are means over its samples. Where the log was cut, each side has its own rows.

use std::collections::BTreeMap;

use logs::aggregate::CoarseTimes;
use logs::aggregate::bounded::Merge;
use logs::aggregate::sums::Sums as Served;
use logs::aggregate::timeline::{Bucket, STEPS, Timeline};
use logs::read::Besides;
use logs::scan::clock::At;
use model::Params;
use model::data::RunData;
use model::doc::{BesideDoc, BesideRow};
use model::metrics::telemetry;
use model::names::instrument;
use model::traffic::StatusClass;

use super::cut::Parted;
use super::inputs::{UNLABELLED, labels_of};
use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::{paths, runs};

const NS: f64 = 1e9;
/// Fewest rows of a short log: its step is the longest that gives so many.
const LEAST_ROWS: f64 = 12.0;
/// Steps of long logs: the longest span of the log, and its step, both in seconds.
const LONG: [(f64, i64); 3] = [(10.0 * 86_400.0, 3600), (60.0 * 86_400.0, 21_600), (f64::MAX, 86_400)];
const HALF_DAY: f64 = 43_200.0;

/// Runs by label.
pub struct Recorded(BTreeMap<String, RunData>);

impl Recorded {
    /// `RUN` of the only label, or `LABEL=RUN`.
    pub fn load(given: &[String], files: &[String], global: &Global) -> Result<Recorded, CliError> {
        let mut all = BTreeMap::new();
        if given.is_empty() {
            return Ok(Recorded(all));
        }
        let labels = labels_of(files)?;
        let store = paths::open(&paths::store(global)?)?;
        for text in given {
            let (label, name) = named(text, &labels)?;
            let run = store.load(&runs::one_run(name, &store)?)?;
            if Samples::of(&run).is_none() {
                let what = format!(
                    "--telemetry {text}: run {} recorded nothing of its machine",
                    short(&run.head.id)
                );
                return Err(
                    CliError::data(what).hint("`boxscore run telemetry --for 24h` on the server records it")
                );
            }
            if all.insert(label.clone(), run).is_some() {
                return Err(CliError::usage(format!("--telemetry {text}: {label} has a run already")));
            }
        }
        Ok(Recorded(all))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The machine beside the requests, by label.
    pub fn beside(&self, besides: &BTreeMap<String, Besides>, parted: Option<&Parted>) -> Beside {
        let mut all = Beside::default();
        for (label, run) in &self.0 {
            let Some((besides, samples)) = besides.get(label).zip(Samples::of(run)) else { continue };
            let docs: Vec<BesideDoc> = timelines(label, besides, parted)
                .into_iter()
                .map(|(name, timeline)| {
                    document(name, run, timeline.unwrap_or(&Timeline::default()), &samples)
                })
                .collect();
            all.is_apart |= docs.iter().all(|doc| doc.step.is_none());
            all.docs.extend(docs);
        }
        all
    }
}

/// Machines beside requests.
#[derive(Default)]
pub struct Beside {
    pub docs: Vec<BesideDoc>,
    /// A run has no time in common with its log.
    pub is_apart: bool,
}

/// Requests over time: of the label, or of either side of it.
fn timelines<'a>(
    label: &'a str,
    besides: &'a Besides,
    parted: Option<&'a Parted>,
) -> Vec<(&'a str, Option<&'a Timeline>)> {
    match besides.sides.as_deref().zip(parted.and_then(|parted| parted.names(label))) {
        Some((sides, names)) => {
            names.into_iter().zip(sides).map(|(name, side)| (name, side.timeline.as_ref())).collect()
        }
        None => vec![(label, besides.timeline.as_ref())],
    }
}

fn named<'a>(text: &'a str, labels: &[String]) -> Result<(String, &'a str), CliError> {
    let wrong = |what: String| {
        Err(CliError::usage(format!("--telemetry {text}: {what}"))
            .hint(format!("write LABEL=RUN; labels here: {}", labels.join(", "))))
    };
    match (text.split_once('='), labels) {
        (Some((label, _)), _) if !labels.iter().any(|known| known == label) => {
            wrong(format!("no log has the label {label}"))
        }
        (Some((label, run)), _) => Ok((label.to_owned(), run)),
        (None, [only]) => Ok((only.clone(), text)),
        (None, []) => Ok((UNLABELLED.to_owned(), text)),
        (None, _) => wrong("there are several labels".to_owned()),
    }
}

/// Mean of a figure of the machine; devices of one kind are added up.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: f64,
    count: u64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The figures that are looked at, in the order of [`Figures`].
const COLUMNS: [(&str, &str); 7] = [
    (instrument::SCHEDULER, telemetry::LOAD.name()),
    (instrument::CPU_USE, telemetry::IDLE.name()),
    (instrument::CPU_USE, telemetry::IOWAIT.name()),
    (instrument::DISK_USE, telemetry::READ.name()),
    (instrument::MEMORY_USE, telemetry::AVAILABLE.name()),
    (instrument::MEMORY_USE, telemetry::CACHED.name()),
    (instrument::NET_USE, telemetry::SENT.name()),
];
const DISK_READ: usize = 3;
const NET_SENT: usize = 6;

type Figures<T> = [T; COLUMNS.len()];

/// Samples of a run by their time in seconds since 1970.
struct Samples {
    all: Vec<(f64, Figures<Option<f64>>)>,
    memory: Option<f64>,
}

impl Samples {
    /// None where the run recorded none of what is looked at.
    fn of(run: &RunData) -> Option<Samples> {
        let start = run.head.started_ns as f64 / NS;
        let mut all = Vec::new();
        for segment in &run.telemetry {
            let places: Vec<Option<usize>> =
                segment.columns.iter().map(|(column, _)| place(&segment.source, column)).collect();
            for (at, row) in segment.at_ns.iter().zip(&segment.rows) {
                let mut figures: Figures<Option<f64>> = Default::default();
                for (place, value) in places.iter().zip(row) {
                    if let (Some(place), Some(value)) = (place, value.filter(|value| value.is_finite())) {
                        *figures[*place].get_or_insert(0.0) += value;
                    }
                }
                if figures.iter().any(Option::is_some) {
                    all.push((start + *at as f64 / NS, figures));
                }
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let memory = run.fact("memory.bytes").and_then(|fact| fact.value.as_ref()?.number());
        (!all.is_empty()).then_some(Samples { all, memory })
    }

    fn span(&self) -> (f64, f64) {
        let at = |sample: Option<&(f64, Figures<Option<f64>>)>| sample.map_or(0.0, |sample| sample.0);
        (at(self.all.first()), at(self.all.last()))
    }
}

/// Where a column goes: those of all devices together, and of disks and interfaces each one, but not loopback.
fn place(source: &str, column: &str) -> Option<usize> {
    let (metric, device) =
        column.split_once('{').map_or((column, ""), |(metric, rest)| (metric, rest.trim_end_matches('}')));
    let place = COLUMNS.iter().position(|known| *known == (source, metric))?;
    let params = Params::parse(device).ok().filter(|_| !device.is_empty());
    let is_whole =
        params.is_none_or(|params| params.values().all(|value| value == "all" || value == "total"));
    let fits = match place {
        DISK_READ => true,
        NET_SENT => !device.ends_with("=lo"),
        _ => is_whole,
    };
    fits.then_some(place)
}

/// One row while it is added up.
#[derive(Default)]
struct Draft {
    served: Served,
    /// Those that the server failed (5xx), among the others.
    failed: Served,
    times: CoarseTimes,
    server_errors: u64,
    sums: Figures<Sums>,
    /// Shares of CPU at work, of samples that tell both idle and waiting.
    cpu: Sums,
    samples: u64,
}

impl Draft {
    fn serve(&mut self, bucket: &Bucket) {
        self.served.merge(&bucket.strata.total());
        self.failed.merge(&bucket.failed.total(StatusClass::Server));
        self.server_errors += bucket.server_errors;
        Merge::merge(&mut self.times, &bucket.times);
    }

    fn sample(&mut self, figures: &Figures<Option<f64>>) {
        for (sum, value) in self.sums.iter_mut().zip(figures) {
            value.iter().for_each(|value| sum.add(*value));
        }
        if let Some(idle) = figures[1] {
            self.cpu.add((1.0 - idle - figures[2].unwrap_or(0.0)).clamp(0.0, 1.0));
            self.samples += 1;
        }
    }

    fn row(&self, at: f64, seconds: f64, memory: Option<f64>) -> BesideRow {
        let is_known = |share| share == 0.5 || model::histogram::has_percentile(self.times.total(), share);
        let time = |share| self.times.quantile(share).filter(|_| is_known(share)).map(|ns| ns as f64 / NS);
        let mut good = self.served;
        good.take(&self.failed);
        let [load, _, iowait, disk_read, available, page_cache, net_sent] = self.sums.map(Sums::mean);
        BesideRow {
            at,
            seconds,
            requests: self.served.requests,
            bytes: self.served.bytes as f64,
            speed: good.ratio_of_totals(),
            p50: time(0.5),
            p99: time(0.99),
            server_errors: self.server_errors,
            samples: self.samples,
            load,
            cpu: self.cpu.mean(),
            iowait,
            disk_read,
            memory_used: memory.zip(available).map(|(all, available)| all - available),
            page_cache,
            net_sent,
        }
    }
}

fn document(label: &str, run: &RunData, timeline: &Timeline, samples: &Samples) -> BesideDoc {
    let buckets = timeline.sorted();
    let fine = timeline.step().unwrap_or(1);
    let log = (
        buckets.first().map_or(0.0, |(at, _)| at.seconds as f64),
        buckets.last().map_or(0.0, |(at, _)| (at.seconds + fine) as f64),
    );
    let telemetry = samples.span();
    let mut doc = BesideDoc {
        label: label.to_owned(),
        run: run.head.id.clone(),
        machine: run.head.machine.clone(),
        host: Some(run.origin.hostname.clone()).filter(|host| !host.is_empty()),
        drift: drift(run),
        log,
        telemetry,
        ..BesideDoc::default()
    };
    let zone = buckets.first().map_or(0, |(at, _)| i64::from(at.zone) * 900) as f64;
    let grid = fine as f64;
    // Whole buckets, so that requests and samples are of the same time.
    let from = ((log.0.max(telemetry.0) + zone) / grid).ceil() * grid - zone;
    let to = ((log.1.min(telemetry.1 + 1.0) + zone) / grid).floor() * grid - zone;
    if buckets.is_empty() || from >= to {
        let span = |(from, to): (f64, f64)| format!("from {} to {}", utc(from), utc(to));
        doc.why = Some(format!(
            "no time in common: the log goes {}, run {} {} (UTC)",
            span(log),
            short(&run.head.id),
            span(telemetry)
        ));
        return doc;
    }
    let step = step(to - from, fine) as f64;
    let mut rows: BTreeMap<i64, Draft> = BTreeMap::new();
    let mut whole = Draft::default();
    let place = |at: f64| ((at + zone) / step).floor() as i64;
    let inside = |at: f64| (from..to).contains(&at);
    for (at, bucket) in buckets.iter().filter(|(at, _)| inside(at.seconds as f64)) {
        rows.entry(place(at.seconds as f64)).or_default().serve(bucket);
        whole.serve(bucket);
    }
    for (at, figures) in samples.all.iter().filter(|(at, _)| inside(*at)) {
        rows.entry(place(*at)).or_default().sample(figures);
        whole.sample(figures);
    }
    let row = |(place, draft): (&i64, &Draft)| {
        let start = *place as f64 * step - zone;
        let (start, end) = (start.max(from), (start + step).min(to));
        draft.row(start, end - start, samples.memory)
    };
    doc.rows = rows.iter().map(row).collect();
    doc.mean = Some(whole.row(from, to - from, samples.memory));
    doc.step = Some(step);
    doc
}

/// Seconds of a row.
fn step(seconds: f64, fine: i64) -> i64 {
    let wanted = if seconds >= HALF_DAY {
        LONG.iter().find(|(most, _)| seconds <= *most).map(|(_, step)| *step)
    } else {
        STEPS.iter().rev().copied().find(|step| seconds / *step as f64 >= LEAST_ROWS)
    };
    wanted.unwrap_or(1).max(fine)
}

fn utc(seconds: f64) -> String {
    let shown = logs::scan::moment::Shown(At { seconds: seconds as i64, zone: 0 }).to_string();
    shown.trim_end_matches(" +0000").to_owned()
}

/// Seconds by which the clock of the samples drifted from the program's.
fn drift(run: &RunData) -> Option<f64> {
    let offsets = run.clock_offsets.iter().map(|offset| offset.offset_ns);
    let (low, high) = (offsets.clone().min()?, offsets.max()?);
    (high > low).then(|| (high - low) as f64 / NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_their_places() {
        assert_eq!(place("scheduler", telemetry::LOAD.name()), Some(0));
        assert_eq!(place("cpu-use", "idle{cpu=all}"), Some(1));
        assert_eq!(place("cpu-use", "idle{cpu=3}"), None);
        assert_eq!(place("disk-use", "read{disk=sda}"), Some(DISK_READ));
        assert_eq!(place("net-use", "sent{nic=lo}"), None);
        assert_eq!(place("net-use", "sent{nic=eth0}"), Some(NET_SENT));
        assert_eq!(place("disk-use", "busy{disk=sda}"), None);
    }

    #[test]
    fn rows_are_hours_or_finer() {
        assert_eq!(
            [3.0, 60.0, 900.0, 7200.0, 50_000.0].map(|seconds| step(seconds, 1)),
            [1, 5, 60, 300, 3600]
        );
        assert_eq!(step(7.0 * 86_400.0, 1), 3600);
        assert_eq!(step(30.0 * 86_400.0, 1), 21_600);
        assert_eq!(step(400.0 * 86_400.0, 900), 86_400);
        assert_eq!(step(60.0, 15), 15);
    }

    #[test]
    fn a_run_belongs_to_a_label() {
        let (one, two) = (["log".to_owned()], ["hdd".to_owned(), "ssd".to_owned()]);
        assert_eq!(named("latest", &one).unwrap(), ("log".to_owned(), "latest"));
        assert_eq!(named("ssd=abc", &two).unwrap(), ("ssd".to_owned(), "abc"));
        assert!(named("latest", &two).unwrap_err().message.contains("several labels"));
        assert!(named("x=abc", &two).unwrap_err().message.contains("no log has the label x"));
    }
}
