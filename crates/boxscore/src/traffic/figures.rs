//! What was read, as documents and as groups to be judged. Everything is computed from the aggregates.

use std::collections::BTreeMap;

use logs::aggregate::distinct::Distinct;
use logs::aggregate::file::Labels;
use logs::aggregate::paths::{By, Top};
use logs::aggregate::size::{self, CLASSES};
use logs::aggregate::sketch::CountMin;
use logs::aggregate::sums::Sums;
use logs::aggregate::{Aggregate, Group, Strata};
use logs::scan::Method;
use logs::units;
use model::doc::{FormatDoc, LogsDoc, PathDoc, SizeDoc, SkippedDoc, TopDoc, TrafficDoc};
use model::{Finding, Validity};
use verdict::traffic::{self, Judgement};

const NS: f64 = 1e9;

/// The whole document, but for the run.
#[must_use]
pub fn document(
    labels: &Labels,
    by: &[String],
    top: usize,
    formats: Vec<FormatDoc>,
    judged: Judgement,
) -> LogsDoc {
    let all = &labels.labels;
    let of = |all: fn(&str, &Aggregate) -> Vec<TrafficDoc>| {
        labels.labels.iter().flat_map(|(label, one)| all(label, one)).collect::<Vec<_>>()
    };
    let days = of(daily);
    let several = days.len() > all.len();
    let groups = all.iter().flat_map(|(label, one)| grouped(label, one, by)).collect();
    LogsDoc {
        schema: "boxscore.logs/1".to_owned(),
        run: None,
        formats,
        lines: all.values().map(|one| one.lines).sum(),
        parsed: all.values().map(|one| one.parsed).sum(),
        skipped: skipped(labels),
        filtered: all.values().map(|one| one.filtered).sum(),
        labels: all.iter().map(|(label, one)| whole(label, one)).collect(),
        days: if several || by.iter().any(|key| key == "day") { days } else { Vec::new() },
        groups,
        rows: judged.rows,
        top: all.iter().flat_map(|(label, one)| tops(label, one, top)).collect(),
        cut: None,
        beside: Vec::new(),
        findings: judged.findings,
    }
}

fn skipped(labels: &Labels) -> Vec<SkippedDoc> {
    let mut kinds: BTreeMap<&str, SkippedDoc> = BTreeMap::new();
    for one in labels.labels.values() {
        for (skip, lines, samples) in one.skips.kinds().filter(|(_, lines, _)| *lines > 0) {
            let doc = kinds.entry(skip.name()).or_insert_with(|| SkippedDoc {
                kind: skip.says().to_owned(),
                lines: 0,
                samples: Vec::new(),
            });
            doc.lines += lines;
            doc.samples.extend(samples.iter().map(|sample| format!("{}:{}", sample.file, sample.line)));
        }
    }
    kinds.into_values().collect()
}

/// What a label served in all.
fn whole(label: &str, one: &Aggregate) -> TrafficDoc {
    let totals = one.totals();
    let mean = one.mean_of_ratios();
    let time = |share| one.times.quantile(share).map(|ns| ns as f64 / NS);
    let count = |(name, count): (String, u64)| (count > 0).then_some((name, count));
    TrafficDoc {
        lines: Some(one.lines),
        skipped: Some(one.skipped()),
        first: one.span.map(|(first, _)| first as f64),
        last: one.span.map(|(_, last)| last as f64),
        mean_of_ratios: mean.as_ref().ok().copied(),
        mean_of_ratios_why: mean.err().map(|why| why.to_string()),
        ratio_of_totals: one.ratio_of_totals(),
        ratio_median: one
            .ratios
            .quantile(0.5)
            .map(|ratio| ratio as f64 / logs::aggregate::sums::RATIO_PARTS as f64),
        p50: time(0.5),
        p90: time(0.9),
        p99: time(0.99),
        p999: time(0.999),
        time_max: time(1.0),
        size_median: one.sizes.quantile(0.5).map(|bytes| bytes as f64),
        clients: Some(one.clients.estimate()).filter(|clients| *clients > 0.0),
        clients_error: Some(Distinct::ERROR),
        statuses: one.statuses.iter().filter_map(|(status, n)| count((status.to_string(), n))).collect(),
        methods: (Method::ALL.iter().zip(one.methods))
            .filter_map(|(method, n)| count((method.name().to_owned(), n)))
            .collect(),
        sizes: sizes(&one.classes),
        ..part(label, &totals)
    }
}

/// What sums alone tell.
fn part(label: &str, sums: &Sums) -> TrafficDoc {
    let timed = sums.requests > sums.untimed;
    TrafficDoc {
        label: label.to_owned(),
        parsed: sums.requests,
        bytes: sums.bytes as f64,
        seconds: timed.then_some(sums.time_ns as f64 / NS),
        zero_time: sums.zero_time,
        mean_of_ratios: sums.mean_of_ratios(),
        ratio_of_totals: sums.ratio_of_totals(),
        time_mean: sums.mean_seconds(),
        size_mean: sums.mean_bytes(),
        ..TrafficDoc::default()
    }
}

fn sizes(strata: &Strata) -> Vec<SizeDoc> {
    let doc = |(class, sums): (usize, &Sums)| {
        let from = size::least_of(class)? as f64;
        (sums.requests > 0).then(|| SizeDoc {
            from,
            requests: sums.requests,
            bytes: sums.bytes as f64,
            seconds: (sums.requests > sums.untimed).then_some(sums.time_ns as f64 / NS),
            ratio_of_totals: sums.ratio_of_totals(),
        })
    };
    strata.0.iter().enumerate().filter_map(doc).collect()
}

fn daily(label: &str, one: &Aggregate) -> Vec<TrafficDoc> {
    let doc = |period: logs::aggregate::Period| {
        let sums = period.strata.total();
        let day = report::text::date(period.local as f64);
        TrafficDoc { key: BTreeMap::from([("day".to_owned(), day)]), ..part(label, &sums) }
    };
    one.daily().unwrap_or_default().into_iter().map(doc).collect()
}

fn grouped(label: &str, one: &Aggregate, by: &[String]) -> Vec<TrafficDoc> {
    let doc = |(key, group): (&Vec<u8>, &Group)| {
        let words = key.split(|byte| *byte == logs::aggregate::keys::BETWEEN);
        let key = by
            .iter()
            .zip(words)
            .map(|(name, word)| (name.clone(), String::from_utf8_lossy(word).into_owned()));
        let time = |share| group.times.quantile(share).map(|ns| ns as f64 / NS);
        TrafficDoc {
            key: key.collect(),
            p50: time(0.5),
            p90: time(0.9),
            p99: time(0.99),
            ..part(label, &group.sums)
        }
    };
    one.groups.sorted().unwrap_or_default().into_iter().map(doc).collect()
}

fn tops(label: &str, one: &Aggregate, most: usize) -> Vec<TopDoc> {
    let timed = one.totals().untimed < one.totals().requests;
    let path = |top: &Top<'_>| PathDoc {
        path: String::from_utf8_lossy(top.path).into_owned(),
        requests: top.requests as f64,
        bytes: top.bytes as f64,
        seconds: timed.then_some(top.time_ns as f64 / NS),
    };
    let list = |(by, name): (By, &str)| TopDoc {
        label: label.to_owned(),
        by: name.to_owned(),
        paths: one.paths.top(by, most).iter().map(path).collect(),
        error: CountMin::ERROR,
    };
    let wanted = [(By::Bytes, "bytes"), (By::Time, "time")];
    wanted
        .into_iter()
        .filter(|(by, _)| timed || *by != By::Time)
        .map(list)
        .filter(|top| !top.paths.is_empty())
        .collect()
}

/// The groups that are compared: one a label.
#[must_use]
pub fn groups(labels: &Labels) -> Vec<traffic::Group> {
    labels.labels.iter().map(|(label, one)| group(label, one)).collect()
}

pub(super) fn group(label: &str, one: &Aggregate) -> traffic::Group {
    let totals = one.totals();
    let mut group = traffic::Group {
        label: label.to_owned(),
        requests: totals.requests,
        bytes: totals.bytes as f64,
        seconds: totals.time_ns as f64 / NS,
        mean_of_ratios: one.mean_of_ratios().ok(),
        sizes: one.sizes.bins().map(|bin| (bin.high as f64, bin.count)).collect(),
        statuses: one.statuses.iter().filter(|(_, count)| *count > 0).collect(),
        ..traffic::Group::default()
    };
    for (slot, strata) in one.slots.sorted().unwrap_or_default() {
        *group.hours.entry(slot.hour()).or_default() += strata.total().requests;
        for (class, sums) in (0u32..).zip(&strata.0[..CLASSES - 1]).filter(|(_, sums)| sums.requests > 0) {
            // Slots of two zones may be of one quarter hour.
            let block = u64::try_from(slot.quarter).unwrap_or(0);
            let cell = group.cells.entry((block, class)).or_default();
            cell.requests += sums.requests;
            cell.bytes += sums.bytes as f64;
            cell.seconds += sums.time_ns as f64 / NS;
        }
    }
    group
}

/// What is odd about the logs themselves.
#[must_use]
pub fn findings(labels: &Labels, unit_ns: &BTreeMap<String, u64>) -> Vec<Finding> {
    let mut all = Vec::new();
    for (label, one) in &labels.labels {
        let unit = unit_ns.get(label).copied();
        let doubts = unit.map(|unit| units::doubts(one, unit)).unwrap_or_default();
        all.extend(doubts.iter().map(|doubt| {
            Finding::new("time-unit", Validity::Doubtful, doubt.to_string()).about(label.as_str())
        }));
        let totals = one.totals();
        if let Err(why) = one.mean_of_ratios()
            && totals.untimed < totals.requests
        {
            let text = format!("no mean of ratios: {why}");
            all.push(Finding::new("zero-time", Validity::Doubtful, text).about(label.as_str()));
        }
        if one.groups.overflowed() {
            let text = "more groups than are kept: use a coarser --by, or --where";
            all.push(Finding::new("groups", Validity::Invalid, text).about(label.as_str()));
        }
        if one.slots.overflowed() {
            let text =
                "the lines span more than a year: days and the comparison by time are left out; use --where";
            all.push(Finding::new("span", Validity::Invalid, text).about(label.as_str()));
        }
    }
    all
}
