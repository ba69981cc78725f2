//! Makes documents, and groups to be judged, from the aggregates of logs.

use std::collections::BTreeMap;

use instruments::workload::logs as card;
use logs::aggregate::agents;
use logs::aggregate::conditions::{self, Condition};
use logs::aggregate::distinct::Distinct;
use logs::aggregate::failed::FailedStrata;
use logs::aggregate::filter::Filter;
use logs::aggregate::folders::Folders;
use logs::aggregate::groups::{Group, GroupTimes, MOST_GROUPS, MOST_SUMMED};
use logs::aggregate::keys::{self, BETWEEN, Key};
use logs::aggregate::paths::Top;
use logs::aggregate::size;
use logs::aggregate::sketch::CountMin;
use logs::aggregate::sums::Sums;
use logs::aggregate::{Aggregate, Slot, Strata, Times};
use logs::scan::Method;
use logs::units;
use model::doc::{
    FormatDoc, LeftOutDoc, LogsDoc, PartDoc, RowDoc, SizeDoc, SkippedDoc, TopDoc, TrafficDoc, largest_groups,
};
use model::finding::{LogsRead, Rule, Subject};
use model::traffic::{Cell, CutSide, StatusClass, status_of};
use model::{Finding, Instrument};
use stats::Margin;
use verdict::traffic::{self, Judgement};

use super::cut::Parted;
use super::known::{NS, bytes, limit, mean_time, of_times, seconds, untimed};
use super::tops::{folders_of, tops};
use super::{answers, log_format};

/// A label and what was read under it. The first of several is the base of the others.
pub type Named<'a> = (&'a str, &'a Aggregate);

/// A request for figures of logs: the properties of groups, the conditions of requests, and how many names a list has.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub by: &'a [String],
    pub conditions: &'a [String],
    pub filters: &'a [Filter],
    /// Labels that were cut in two; what is of no side is compared with nothing.
    pub parted: Option<&'a Parted>,
    pub most: usize,
    pub margin: Margin,
    pub outages: &'a answers::Outages,
}

/// The whole document, but for the run.
pub fn document(all: &[Named<'_>], asked: &Asked<'_>, formats: Vec<FormatDoc>, judged: Judgement) -> LogsDoc {
    let (by, top) = (asked.by, asked.most);
    let days = key_by_key(all.iter().flat_map(|(label, one)| daily(label, one)));
    let several = days.len() > all.len();
    let labels: Vec<TrafficDoc> = all.iter().map(|(label, one)| labelled(label, one, asked)).collect();
    let lacks_times = |one: &Aggregate| {
        let totals = one.totals();
        totals.requests > 0 && totals.untimed == totals.requests
    };
    let is_untimed = all.iter().any(|(_, one)| lacks_times(one));
    let groups = all.iter().flat_map(|(label, one)| grouped(label, one, by));
    let groups = if has_names(by) { largest_first(groups, by) } else { key_by_key(groups) };
    let groups = largest_groups(&groups, MOST_SHOWN);
    let log_format = if is_untimed { log_format::advice(&formats) } else { Vec::new() };
    let rows: Vec<RowDoc> = judged.rows.into_iter().map(carded).collect();
    let failures = failures(&labels);
    let findings = [failures, judged.findings].concat();
    LogsDoc {
        schema: "boxscore.logs/1".to_owned(),
        summary: summary(&labels, &rows, &findings, asked.parted.is_some()),
        run: None,
        formats,
        lines: all.iter().map(|(_, one)| one.lines).sum(),
        parsed: all.iter().map(|(_, one)| one.parsed).sum(),
        conditions: asked.conditions.to_vec(),
        skipped: skipped(all),
        filtered: all.iter().map(|(_, one)| one.filtered).sum(),
        left_out: left_out(all, asked.filters),
        log_format,
        labels,
        days: if several || by.iter().any(|key| key == "day") { days } else { Vec::new() },
        group_count: if by.is_empty() { None } else { group_count(all) },
        groups,
        group_rows: group_rows(all, asked).into_iter().map(carded).collect(),
        by: each_once(by),
        parts: parts(&findings),
        rows,
        top: all.iter().flat_map(|named| lists(named, all.len() > 1, top)).collect(),
        cut: None,
        beside: Vec::new(),
        findings,
    }
}

/// The paths that weigh most, and the folders of one of several labels.
fn lists((label, one): &Named<'_>, are_several: bool, most: usize) -> Vec<TopDoc> {
    let folders = are_several.then(|| folders_of(label, one, most)).flatten();
    tops(label, one, most).into_iter().chain(folders).collect()
}

fn are_compared(rows: &[RowDoc], arm: &TrafficDoc, base: &TrafficDoc) -> bool {
    rows.iter().any(|row| row.arm == arm.label && row.base == base.label)
}

fn each_once(by: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    by.iter().for_each(|key| all.extend((!all.contains(key)).then(|| key.clone())));
    all
}

/// The parts of the requests beside their like, of each two labels that differ in some.
fn parts(findings: &[Finding]) -> Vec<PartDoc> {
    let of = |finding: &Finding| match &finding.rule {
        Rule::LogsParts(parts) => parts.parts.clone(),
        _ => Vec::new(),
    };
    findings.iter().flat_map(of).collect()
}

/// The row with its card, which names its figure.
fn carded(row: RowDoc) -> RowDoc {
    RowDoc { card: Some(card::INSTRUMENT.card()), ..row }
}

/// Failures of servers, paths that are not there, and the client behind most of what was refused. The sentence of one
/// label has its failures, or else what was refused.
fn failures(labels: &[TrafficDoc]) -> Vec<Finding> {
    let answered: Vec<_> =
        labels.iter().filter_map(|label| Some((label, label.answers.as_deref()?))).collect();
    let failed = answered.iter().flat_map(|(label, answers)| {
        let span = label.first.zip(label.last).map(|(first, last)| last - first + 1.0);
        let whole = traffic::failed::Whole { seconds: label.seconds, span };
        traffic::failed::findings(&label.label, answers, whole)
    });
    let probe = traffic::failed::probe(&answered.iter().map(|(_, answers)| *answers).collect::<Vec<_>>());
    let all = if labels.len() > 1 { failed.collect() } else { Vec::new() };
    all.into_iter().chain(probe).collect()
}

/// The answer: of one label what it served; of several what failed, and how each differs from the first.
fn summary(labels: &[TrafficDoc], rows: &[RowDoc], findings: &[Finding], is_cut: bool) -> Vec<String> {
    let Some((base, others)) = labels.split_first() else { return Vec::new() };
    let of = |label: &TrafficDoc| label.answers.as_ref().map(|answers| answers.sentence.clone());
    let against = |arm: &TrafficDoc| {
        // A side of a cut is compared with the other side of its own label.
        let base = labels.iter().find(|base| is_cut && are_compared(rows, arm, base)).unwrap_or(base);
        let rows: Vec<&RowDoc> =
            rows.iter().filter(|row| row.arm == arm.label && row.base == base.label).collect();
        if let Some(none) = [arm, base].into_iter().find(|label| label.parsed == 0 && !is_cut) {
            return vec![format!("{} has no such request: there is nothing to compare.", none.label)];
        }
        verdict::paragraph::of_pair(&arm.label, &base.label, &rows, findings)
    };
    let since = findings.iter().filter(|finding| matches!(finding.rule, Rule::LogsSince(_)));
    let since = since.map(Finding::text);
    match others {
        [] => since.chain(of(base)).collect(),
        others => {
            let failed = findings.iter().filter(|one| one.rule.is_told_first()).map(Finding::text);
            failed.chain(since).chain(others.iter().flat_map(against)).collect()
        }
    }
}

/// Sorts rows by key, then in the order of labels, so that rows of one key stand together.
fn key_by_key(groups: impl Iterator<Item = (Vec<u8>, TrafficDoc)>) -> Vec<TrafficDoc> {
    let mut groups: Vec<(Vec<u8>, TrafficDoc)> = groups.collect();
    groups.sort_by(|(one, _), (other, _)| keys::rank(one).cmp(&keys::rank(other)));
    groups.into_iter().map(|(_, doc)| doc).collect()
}

/// True if groups are by a property that is a name, of which there may be many.
pub fn has_names(by: &[String]) -> bool {
    by.iter().filter_map(|key| Key::parse(key).ok()).any(Key::is_name)
}

/// Sorts rows by the requests of their names in all labels, most first; rows of one name stand in their own order.
fn largest_first(groups: impl Iterator<Item = (Vec<u8>, TrafficDoc)>, by: &[String]) -> Vec<TrafficDoc> {
    let is_name: Vec<bool> = by.iter().map(|key| Key::parse(key).is_ok_and(Key::is_name)).collect();
    let names = |key: &[u8]| -> Vec<Vec<u8>> {
        let parts = key.split(|byte| *byte == BETWEEN).zip(&is_name);
        parts.filter(|(_, is_name)| **is_name).map(|(part, _)| part.to_vec()).collect()
    };
    let mut groups: Vec<(Vec<u8>, TrafficDoc)> = groups.collect();
    let mut requests: BTreeMap<Vec<Vec<u8>>, u64> = BTreeMap::new();
    groups.iter().for_each(|(key, doc)| *requests.entry(names(key)).or_default() += doc.parsed);
    groups.sort_by_cached_key(|(key, _)| {
        let names = names(key);
        let most = std::cmp::Reverse(requests.get(&names).copied().unwrap_or(0));
        let own: Vec<(Option<usize>, Vec<u8>)> =
            keys::rank(key).into_iter().map(|(class, part)| (class, part.to_vec())).collect();
        (most, names, own)
    });
    groups.into_iter().map(|(_, doc)| doc).collect()
}

fn skipped(all: &[Named<'_>]) -> Vec<SkippedDoc> {
    let mut kinds: BTreeMap<&str, SkippedDoc> = BTreeMap::new();
    for (_, one) in all {
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

/// The row of a whole label, with its answers.
fn labelled(label: &str, one: &Aggregate, asked: &Asked<'_>) -> TrafficDoc {
    let row = whole(label, one);
    let answers = answers::with_outage(label, asked.outages, answers::answers(one, asked.most));
    let answers = verdict::traffic::answers::of_label(&row, &answers, asked.conditions);
    TrafficDoc { answers: Some(Box::new(answers)), ..row }
}

/// The figures of a whole label.
pub(super) fn whole(label: &str, one: &Aggregate) -> TrafficDoc {
    let totals = one.totals();
    let mean = one.mean_of_ratios();
    let time = |share| of_times(&one.times, &totals, share);
    let count = |(name, count): (String, u64)| (count > 0).then_some((name, count));
    TrafficDoc {
        lines: Some(one.lines),
        skipped: Some(one.skipped()),
        first: one.span.map(|(first, _)| first as f64),
        last: one.span.map(|(_, last)| last as f64),
        mean_of_ratios: mean.as_ref().ok().copied(),
        mean_of_ratios_why: mean.err().map(|why| why.to_string()),
        ratio_of_totals: one.ratio_of_totals(),
        ratio_of_totals_good: one.good_ratio_of_totals(),
        time_mean_good: mean_time(&one.good()),
        ratio_median: one
            .ratios
            .quantile(0.5)
            .map(|ratio| ratio as f64 / logs::aggregate::sums::RATIO_PARTS as f64),
        p50: time(0.5),
        p90: time(0.9),
        p99: time(0.99),
        p999: time(0.999),
        time_max: time(1.0),
        quantile_error: time(0.5).map(|_| Times::ERROR),
        time_limit: limit(&one.times),
        size_median: one.sizes.quantile(0.5).map(|bytes| bytes as f64),
        // More than requests there cannot be, whatever the estimate.
        clients: Some(one.clients.estimate().min(totals.requests as f64)).filter(|clients| *clients > 0.0),
        clients_error: Some(if one.clients.exact().is_some() { 0.0 } else { Distinct::ERROR }),
        statuses: one.statuses.iter().filter_map(|(status, n)| count((status.to_string(), n))).collect(),
        methods: (Method::ALL.iter().zip(one.methods))
            .filter_map(|(method, n)| count((method.name().to_owned(), n)))
            .collect(),
        sizes: sizes(&one.classes),
        ..part(label, &totals)
    }
}

/// The columns that follow from sums alone.
fn part(label: &str, sums: &Sums) -> TrafficDoc {
    TrafficDoc {
        label: label.to_owned(),
        parsed: sums.requests,
        bytes: bytes(sums),
        seconds: seconds(sums),
        seconds_why: untimed(sums).map(str::to_owned),
        zero_time: sums.zero_time,
        mean_of_ratios: sums.mean_of_ratios(),
        ratio_of_totals: sums.ratio_of_totals(),
        time_mean: mean_time(sums),
        size_mean: sums.mean_bytes(),
        ..TrafficDoc::default()
    }
}

/// The same of a part of a label. Where times are too coarse for a mean of ratios of the whole, they are for its parts.
fn part_of(label: &str, whole: &Aggregate, sums: &Sums) -> TrafficDoc {
    let doc = part(label, sums);
    match whole.mean_of_ratios() {
        Ok(_) => doc,
        Err(_) => TrafficDoc { mean_of_ratios: None, ..doc },
    }
}

fn sizes(strata: &Strata) -> Vec<SizeDoc> {
    let doc = |(class, sums): (usize, &Sums)| {
        let from = size::least_of(class)? as f64;
        (sums.requests > 0).then(|| SizeDoc {
            from,
            requests: sums.requests,
            bytes: sums.bytes as f64,
            seconds: seconds(sums),
            ratio_of_totals: sums.ratio_of_totals(),
        })
    };
    strata.0.iter().enumerate().filter_map(doc).collect()
}

/// By the day as text, which sorts as days do.
fn daily(label: &str, one: &Aggregate) -> Vec<(Vec<u8>, TrafficDoc)> {
    let doc = |period: logs::aggregate::Period| {
        let sums = period.strata.total();
        let day = report::text::date(period.local as f64);
        let key = BTreeMap::from([("day".to_owned(), day.clone())]);
        (day.into_bytes(), TrafficDoc { key, ..part_of(label, one, &sums) })
    };
    one.daily().unwrap_or_default().into_iter().map(doc).collect()
}

/// All answers of a group that the server did not fail.
fn good(cells: &traffic::parts::Cells) -> Cell {
    let is_good = |(_, class): &(u64, u32)| status_of(*class) != StatusClass::Server;
    let mut all = Cell::default();
    for (_, cell) in cells.iter().filter(|(at, _)| is_good(at)) {
        all.requests += cell.requests;
        all.bytes += cell.bytes;
        all.seconds += cell.seconds;
    }
    all
}

/// Groups of a document.
const MOST_SHOWN: usize = 4096;

/// The properties of a group and their values.
fn keyed(bytes: &[u8], by: &[String]) -> BTreeMap<String, String> {
    let words = bytes.split(|byte| *byte == BETWEEN).map(|word| String::from_utf8_lossy(word).into_owned());
    by.iter().cloned().zip(words).collect()
}

/// Times of each group beside the same group of the first label, or of the earlier side of a cut.
fn group_rows(all: &[Named<'_>], asked: &Asked<'_>) -> Vec<RowDoc> {
    let Some((first, others)) = all.split_first().filter(|_| !asked.by.is_empty()) else {
        return Vec::new();
    };
    let named = |wanted: &str| all.iter().find(|(label, _)| *label == wanted);
    let pairs: Vec<(&Named<'_>, &Named<'_>, Option<[&CutSide; 2]>)> = match asked.parted {
        Some(parted) => parted
            .sides()
            .filter_map(|([arm, base], cut)| Some((named(arm)?, named(base)?, Some(cut))))
            .collect(),
        None => others.iter().map(|arm| (arm, first, None)).collect(),
    };
    let of = |(label, one): &Named<'_>| {
        (group(label, one), cells_by_name(&one.group_cells, one.totals().requests))
    };
    let rows = pairs.into_iter().flat_map(|(arm, base, cut)| {
        let ((arm, of_arm), (base, of_base)) = (of(arm), of(base));
        traffic::parts::of_groups((&arm, &of_arm), (&base, &of_base), cut, asked.margin, traffic::SEED)
    });
    let row = |(name, row): (String, RowDoc)| RowDoc {
        params: keyed(name.as_bytes(), asked.by).into_iter().collect(),
        ..row
    };
    rows.map(row).collect()
}

/// The groups of a label by their keys; of more than are summed the largest.
fn grouped(label: &str, one: &Aggregate, by: &[String]) -> Vec<(Vec<u8>, TrafficDoc)> {
    let key = |bytes: &[u8]| keyed(bytes, by);
    let cells = cells_by_name(&one.group_cells, one.totals().requests);
    let summed = |(bytes, group, spread): Group<'_>| {
        let time = |share| of_times(&spread?.times, &group.sums, share);
        let good = cells.get(&*String::from_utf8_lossy(bytes)).map(good);
        let doc = TrafficDoc {
            key: key(bytes),
            time_mean_good: good.and_then(|good| good.time_mean()),
            ratio_of_totals_good: good.and_then(|good| good.speed()),
            p50: time(0.5),
            p90: time(0.9),
            p99: time(0.99),
            quantile_error: time(0.5).map(|_| GroupTimes::ERROR),
            time_limit: spread.and_then(|spread| limit(&spread.times)),
            client_errors: Some(group.client_errors),
            server_errors: Some(group.server_errors),
            ..part_of(label, one, &group.sums)
        };
        (bytes.to_vec(), doc)
    };
    let totals = one.totals();
    let (timed, sized) = (untimed(&totals).is_none(), bytes(&totals).is_some());
    // What may be there by the sketch's error alone is not told.
    let least = (CountMin::ERROR * totals.requests as f64).ceil() as u64;
    let largest = |top: Top<'_>| {
        let seconds = timed.then_some(top.time_ns as f64 / NS);
        let doc = TrafficDoc {
            key: key(top.path),
            label: label.to_owned(),
            parsed: top.requests,
            bytes: sized.then_some(top.bytes as f64),
            seconds,
            time_mean: seconds.map(|seconds| seconds / top.requests as f64),
            size_mean: sized.then(|| top.bytes as f64 / top.requests as f64),
            ..TrafficDoc::default()
        };
        (top.path.to_vec(), doc)
    };
    match one.groups.sorted() {
        Some(all) => all.into_iter().map(summed).collect(),
        None => {
            let top = one.groups.top(MOST_SHOWN).into_iter();
            top.filter(|top| top.requests > 2 * least).map(largest).collect()
        }
    }
}

/// Different groups of all labels; `None` where some label has more than are counted.
fn group_count(all: &[Named<'_>]) -> Option<u64> {
    let sorted = all.iter().map(|(_, one)| one.groups.sorted()).collect::<Option<Vec<_>>>()?;
    let keys: std::collections::BTreeSet<&[u8]> = sorted.iter().flatten().map(|(key, ..)| *key).collect();
    Some(keys.len() as u64)
}

/// The groups that are compared: one a label.
pub fn groups(all: &[Named<'_>]) -> Vec<traffic::ServerGroup> {
    all.iter().map(|(label, one)| group(label, one)).collect()
}

pub(super) fn group(label: &str, one: &Aggregate) -> traffic::ServerGroup {
    let totals = one.totals();
    let mut group = traffic::ServerGroup {
        label: label.to_owned(),
        requests: totals.requests,
        bytes: totals.bytes as f64,
        seconds: totals.time_ns as f64 / NS,
        mean_of_ratios: one.mean_of_ratios().ok(),
        time_step: units::step_ns(&one.times).map(|ns| ns as f64 / NS),
        time_median: of_times(&one.times, &totals, 0.5),
        time_p99: of_times(&one.times, &totals, 0.99),
        sizes: one.sizes.bins().map(|bin| (bin.high as f64, bin.count)).collect(),
        statuses: one.statuses.iter().filter(|(_, count)| *count > 0).collect(),
        bots: Some(one.agents.total(agents::BOT)),
        ..traffic::ServerGroup::default()
    };
    group.folders = cells_by_name(&one.folders, totals.requests);
    group.has_routes = one.folders.has_routes();
    let failed: BTreeMap<&Slot, &FailedStrata> =
        one.failed_slots.sorted().unwrap_or_default().into_iter().collect();
    let none = FailedStrata::default();
    for (slot, strata) in one.slots.sorted().unwrap_or_default() {
        *group.hours.entry(slot.hour()).or_default() += strata.total().requests;
        group.zone = slot.local() - slot.start();
        // Slots of two zones may be of one quarter hour.
        for (class, sums) in strata.parted(failed.get(slot).copied().unwrap_or(&none)) {
            let cell = group.cells.entry((block(slot), class)).or_default();
            add(cell, (sums.requests, sums.bytes, sums.time_ns));
        }
    }
    group.part_bots();
    group
}

/// The quarter hour as a block of time.
fn block(slot: &Slot) -> u64 {
    u64::try_from(slot.quarter).unwrap_or(0)
}

/// Cells by the name of a folder or group; none where there are too many, or not all requests are in them.
fn cells_by_name(folders: &Folders, requests: u64) -> BTreeMap<String, traffic::parts::Cells> {
    let mut all: BTreeMap<String, traffic::parts::Cells> = BTreeMap::new();
    for (name, cells) in folders.sorted(requests).unwrap_or_default() {
        let of_name = all.entry(String::from_utf8_lossy(name).into_owned()).or_default();
        for ((slot, class), work) in cells {
            let cell = of_name.entry((block(&slot), class)).or_default();
            add(cell, (work.requests, work.bytes, work.time_ns));
        }
    }
    all
}

fn add(cell: &mut traffic::Cell, (requests, bytes, time_ns): (u64, u64, u128)) {
    cell.requests += requests;
    cell.bytes += bytes as f64;
    cell.seconds += time_ns as f64 / NS;
}

/// Findings about the logs themselves. `unit_ns`: for each log's label, the ns in one unit of its time field.
pub fn findings(all: &[Named<'_>], unit_ns: &BTreeMap<String, u64>) -> Vec<Finding> {
    all.iter().flat_map(|(label, one)| odd(label, one, unit_ns.get(*label).copied())).collect()
}

/// Values that conditions name and no request has.
pub fn absent(all: &[Named<'_>], filters: &[Filter]) -> Vec<Finding> {
    let none = |(number, filter): (usize, &Filter)| {
        let (key, value) = filter.names()?;
        let counts: Vec<&Condition> =
            all.iter().filter_map(|(_, one)| one.conditions.each().get(number)).collect();
        if counts.is_empty() || counts.iter().any(|one| one.equal > 0) {
            return None;
        }
        let values: Vec<String> = counts.iter().flat_map(|one| one.values()).collect();
        let nearest = conditions::nearest(&value, &values);
        Some(Finding::new(LogsRead::NoSuchValue { property: key.to_string(), value, nearest }))
    };
    filters.iter().enumerate().filter_map(none).collect()
}

/// Requests that each condition leaves out.
fn left_out(all: &[Named<'_>], filters: &[Filter]) -> Vec<LeftOutDoc> {
    let doc = |(number, filter): (usize, &Filter)| LeftOutDoc {
        condition: filter.text().trim().to_owned(),
        requests: all.iter().filter_map(|(_, one)| Some(one.conditions.each().get(number)?.left_out)).sum(),
    };
    filters.iter().enumerate().map(doc).collect()
}

fn odd(label: &str, one: &Aggregate, unit_ns: Option<u64>) -> Vec<Finding> {
    let mut all = Vec::new();
    let mut add = |odd: LogsRead| all.push(Finding::new(odd).about(Subject::label(label)));
    let totals = one.totals();
    if let (Some(why), true) = (untimed(&totals), totals.zero_time > 0) {
        add(LogsRead::NoTimes(why.to_owned()));
        return all;
    }
    for doubt in unit_ns.map(|unit| units::doubts(one, unit)).unwrap_or_default() {
        add(LogsRead::TimeUnit(doubt));
    }
    if let Err(why) = one.mean_of_ratios()
        && totals.untimed < totals.requests
    {
        add(LogsRead::NoMean(why.to_string()));
    }
    if let Some(limit) = limit(&one.times) {
        let over = one.times.saturated();
        let requests = usize::try_from(over).unwrap_or(usize::MAX);
        add(LogsRead::TimeLimit { requests, seconds: limit });
    }
    match one.groups.overflowed() {
        (_, true) => add(LogsRead::LargestGroups { most: MOST_SUMMED as u64, error: CountMin::ERROR }),
        (true, false) => add(LogsRead::SummedGroups { most: MOST_GROUPS as u64 }),
        (false, false) => {}
    }
    if one.slots.overflowed() {
        add(LogsRead::TooLong);
    }
    all
}
