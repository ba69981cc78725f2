//! A load held against what the same machine did in its stored runs: disks, network interfaces, memory, and boxscore's
//! own server under the same load.
//!
//! Of several figures of one thing the best counts, doubtful ones only where there is no other. What was measured
//! elsewhere (another disk, another interface) does not count, and is named.

use model::Unit;
use model::data::RunData;
use model::doc::{CeilingDoc, CeilingOf};
use model::metrics::{disk, load, memory, net};
use model::names::instrument;
use model::{Params, Validity};

use crate::ceiling_figure::{Figure, LOOPBACK_INTERFACE, OWN_SERVER};
use crate::facts;
use crate::loads::Load;
use crate::run_index::RunIndex;

/// A disk that is less busy was hardly used.
const USED: f64 = 0.1;
/// The part of a disk's traffic from which reads, or writes, are worth a line.
const PART: f64 = 0.1;
/// A load that gets so much more than a figure, or than the upper end of its interval, shows that it is no ceiling.
const BEYOND: f64 = 1.02;
/// Answers up to this size are one packet each.
const ONE_PACKET: f64 = 1400.0;
/// Longer answers are alike up to this factor.
const ALIKE: f64 = 1.25;
/// Content of our own server that is one file, and its bytes.
const CONTENT: [(&str, f64); 5] =
    [("gif", 43.0), ("1k", 1024.0), ("10k", 10_240.0), ("100k", 102_400.0), ("1M", 1_048_576.0)];

/// A thing that a load used, which is held against figures.
struct Used {
    of: CeilingOf,
    resource: String,
    unit: Unit,
    used: f64,
    at_least: bool,
    command: String,
    by_option: bool,
}

/// How a figure stands to what is looked for.
enum Fit {
    Same,
    /// It is of something else of the kind, in words.
    Elsewhere(String),
    Other,
}

/// The ceilings of a load: the largest share first, what was never measured last. None where no figures of this machine
/// were looked up.
pub fn of_load(index: &RunIndex<'_>, load: &Load<'_>) -> Vec<CeilingDoc> {
    let Some(figures) = index.context.ceilings else { return Vec::new() };
    let mut all: Vec<CeilingDoc> = disks(index, load, figures);
    all.extend(network(index, load, figures));
    all.extend(copied(index, load, figures));
    all.extend(answers(index, load, figures));
    let order = |one: &CeilingDoc| (one.measured.is_none(), !one.exceeded, -one.share.unwrap_or(0.0));
    all.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    all
}

/// The ceiling of what was used, by the figures that fit.
fn held(index: &RunIndex<'_>, figures: &[Figure], used: Used, fits: impl Fn(&Figure) -> Fit) -> CeilingDoc {
    let (mut best, mut elsewhere): (Option<&Figure>, Option<String>) = (None, None);
    let rank = |figure: &Figure| (figure.doc.validity != Validity::Doubtful, figure.doc.value);
    for figure in figures {
        match fits(figure) {
            Fit::Same if best.is_none_or(|best| rank(figure) > rank(best)) => best = Some(figure),
            Fit::Elsewhere(what) => elsewhere = elsewhere.or(Some(what)),
            Fit::Same | Fit::Other => {}
        }
    }
    let Used { of, resource, unit, used, at_least, command, by_option } = used;
    let measured = best.map(|figure| {
        let age = (index.run.head.started_ns - figure.started_ns) as f64 / 1e9;
        model::doc::CeilingFigureDoc { age, ..figure.doc.clone() }
    });
    let top = measured.as_ref().map(|figure| figure.high.unwrap_or(figure.value).max(figure.value));
    let exceeded = top.is_some_and(|top| used > BEYOND * top);
    let within = measured.as_ref().filter(|_| !exceeded);
    let share = |of: Option<f64>| of.map(|of| used / of).filter(|share| share.is_finite());
    CeilingDoc {
        of,
        resource,
        unit,
        used,
        at_least,
        share: share(within.map(|figure| figure.value)),
        share_low: share(within.and_then(|figure| figure.high)),
        share_high: share(within.and_then(|figure| figure.low)),
        exceeded,
        command,
        // On this machine alone: elsewhere, and with generators elsewhere, it is the user's to run there.
        by_option: by_option && is_here(index.run),
        why: elsewhere.filter(|_| measured.is_none()),
        measured,
        text: String::new(),
    }
    .with_text()
}

/// True of a run that was started on the machine that it measured.
fn is_here(run: &RunData) -> bool {
    run.plan.machines.iter().all(|via| via.command.is_none()) && run.plan.generators.is_empty()
}

/// Reads, and bytes read and written, of each disk that was used.
fn disks(index: &RunIndex<'_>, load: &Load<'_>, figures: &[Figure]) -> Vec<CeilingDoc> {
    let busy = load.medians_by(&load::DISK_BUSY, "disk");
    let (reads, read) =
        (load.medians_by(&load::DISK_READS, "disk"), load.medians_by(&load::DISK_READ_RATE, "disk"));
    let written = load.medians_by(&load::DISK_WRITE_RATE, "disk");
    let mut all = Vec::new();
    for (name, _) in busy.iter().filter(|(_, busy)| **busy >= USED) {
        let [count, read, written] = [&reads, &read, &written].map(|of| of.get(name).copied().unwrap_or(0.0));
        let is_part = |bytes: f64| bytes > 0.0 && bytes >= PART * (read + written);
        let ways = [
            (CeilingOf::Reads, Unit::PerSec, count, is_part(read), instrument::DISK_READ, ""),
            (CeilingOf::BytesRead, Unit::BytesPerSec, read, is_part(read), instrument::DISK_SEQ, "op=read"),
            (
                CeilingOf::BytesWritten,
                Unit::BytesPerSec,
                written,
                is_part(written),
                instrument::DISK_SEQ,
                "op=write",
            ),
        ];
        for (of, unit, used, is_used, test, op) in ways {
            if !is_used || used <= 0.0 {
                continue;
            }
            let metric = if op.is_empty() { disk::IOPS.name() } else { disk::BANDWIDTH.name() };
            let is_its = |figure: &Figure| {
                let own = figure.doc.params.get("op").map(|own| format!("op={own}"));
                let has_op = op.is_empty() || own.as_deref() == Some(op);
                figure.is_of(test, metric) && has_op
            };
            let fits = |figure: &Figure| match is_its(figure) {
                true => on_disk(index, figure, name),
                false => Fit::Other,
            };
            let folder = directory(figures.iter().filter(|one| is_its(one)), name);
            let (command, by_option) = (format!("boxscore run {test}{folder}"), folder.is_empty());
            let used = Used { of, resource: name.clone(), unit, used, at_least: false, command, by_option };
            all.push(held(index, figures, used, fits));
        }
    }
    all
}

/// The option that puts the test file on another disk, where files of earlier tests lay elsewhere.
fn directory<'f>(mut figures: impl Iterator<Item = &'f Figure>, disk: &str) -> String {
    let is_elsewhere =
        |figure: &Figure| figure.disks.as_ref().is_some_and(|disks| disks != &[disk.to_owned()]);
    match figures.any(is_elsewhere) {
        true => format!(" --dir DIR, with DIR on {disk}"),
        false => String::new(),
    }
}

/// A figure of a disk test that is of this disk. Where the run does not say its disk, the machine's only one is it.
fn on_disk(index: &RunIndex<'_>, figure: &Figure, disk: &str) -> Fit {
    match &figure.disks {
        Some(disks) if disks.as_slice() == [disk] => Fit::Same,
        Some(disks) if disks.is_empty() => Fit::Elsewhere("that of no disk was".to_owned()),
        Some(disks) => Fit::Elsewhere(format!("that of {} was", disks.join(" and "))),
        None if facts::text(&index.run.facts, "disk.names") == Some(disk) => Fit::Same,
        None => Fit::Elsewhere("that of a disk which is not known was".to_owned()),
    }
}

/// The interface over which the load came: the loopback, or the one that carried most of the packets and at least one
/// for each answer.
fn interface(load: &Load<'_>) -> Option<String> {
    if load.is_loopback() {
        return Some(LOOPBACK_INTERFACE.to_owned());
    }
    let (out, into) =
        (load.medians_by(&load::PACKETS_OUT, "interface"), load.medians_by(&load::PACKETS_IN, "interface"));
    let both = |name: &String| out.get(name).unwrap_or(&0.0) + into.get(name).unwrap_or(&0.0);
    let busiest = out.keys().max_by(|a, b| both(a).total_cmp(&both(b)))?;
    (both(busiest) >= load.throughput()?).then(|| busiest.clone())
}

/// Bytes and packets over the interface of the load.
fn network(index: &RunIndex<'_>, load: &Load<'_>, figures: &[Figure]) -> Vec<CeilingDoc> {
    let Some(name) = interface(load) else { return Vec::new() };
    let is_here = name == LOOPBACK_INTERFACE;
    // A load on a server elsewhere is received here; our own server sends.
    let way = if load.given("url").is_some() { "receive" } else { "send" };
    let to = if is_here { "" } else { " --to HOST, with `boxscore peer` on HOST" };
    let over = |figure: &Figure, is_way: bool| match &figure.interface {
        Some(of) if *of == name && is_way => Fit::Same,
        Some(of) if *of == name => Fit::Other,
        Some(of) if of == LOOPBACK_INTERFACE => Fit::Elsewhere("that of the loopback was".to_owned()),
        Some(of) => Fit::Elsewhere(format!("that of {of} was")),
        None => Fit::Elsewhere("that of an interface which is not known was".to_owned()),
    };
    let mut all = Vec::new();
    if let Some(used) = load.median(&load::BANDWIDTH).filter(|used| *used > 0.0) {
        let command = format!("boxscore run net-bandwidth{to}");
        let (of, resource, unit) = (CeilingOf::BytesCarried, name.clone(), Unit::BytesPerSec);
        let used = Used { of, resource, unit, used, at_least: false, command, by_option: is_here };
        all.push(held(index, figures, used, |figure| {
            let is_way = is_here || figure.doc.params.get("direction") == Some(way);
            match figure.is_of(instrument::NET_BANDWIDTH, net::BANDWIDTH.name()) {
                true => over(figure, is_way),
                false => Fit::Other,
            }
        }));
    }
    if let Some(used) = load.medians_by(&load::PACKETS_OUT, "interface").get(&name).copied() {
        let command = format!("boxscore run net-packets{to}");
        let (of, resource, unit) = (CeilingOf::Packets, name.clone(), Unit::PerSec);
        let used = Used { of, resource, unit, used, at_least: false, command, by_option: is_here };
        all.push(held(index, figures, used, |figure| {
            match figure.is_of(instrument::NET_PACKETS, net::PACKET_RATE.name()) {
                true => over(figure, true),
                false => Fit::Other,
            }
        }));
    }
    all
}

/// Bytes that were copied from one program to another on this machine: each at least once.
fn copied(index: &RunIndex<'_>, load: &Load<'_>, figures: &[Figure]) -> Option<CeilingDoc> {
    let used = load.median(&load::BANDWIDTH).filter(|used| *used > 0.0 && load.is_loopback())?;
    let used = Used {
        of: CeilingOf::BytesCopied,
        resource: "memory".to_owned(),
        unit: Unit::BytesPerSec,
        used,
        at_least: true,
        command: "boxscore run mem-bandwidth --set op=copy --set counting=bw_mem".to_owned(),
        by_option: true,
    };
    let fits = |figure: &Figure| match figure.is_of(instrument::MEM_BANDWIDTH, memory::BANDWIDTH.name()) {
        true => Fit::Same,
        false => Fit::Other,
    };
    Some(held(index, figures, used, fits))
}

/// Parameters that a load and one on our own server must share.
const SHARED: [(&str, &str); 6] = [
    ("connections", "50"),
    ("generators", "1"),
    ("keepalive", "on"),
    ("method", "GET"),
    ("headers", "none"),
    ("body", "none"),
];

/// Good answers, beside those of boxscore's own server with as many connections and generators and answers as long.
fn answers(index: &RunIndex<'_>, load: &Load<'_>, figures: &[Figure]) -> Option<CeilingDoc> {
    let is_own = load.params.get("server") == Some(OWN_SERVER) && load.given("url").is_none();
    let is_https = load.given("url").is_some_and(|url| url.starts_with("https:"));
    if load.instrument != instrument::WEB || is_own || is_https || !load.is_loopback() {
        return None;
    }
    let used = load.throughput()?;
    let body = load.median(&load::BANDWIDTH).unwrap_or(0.0) / used;
    let get = |params: &Params, (name, usual): (&str, &str)| params.get(name).unwrap_or(usual).to_owned();
    let is_alike = |figure: &Figure| {
        SHARED.iter().all(|param| get(&figure.doc.params, *param) == get(&load.params, *param))
            && figure.definition == load.definition
            && figure.body.is_some_and(|other| are_alike(body, other))
    };
    let fits = |figure: &Figure| match figure.is_of(instrument::WEB, load::THROUGHPUT.name()) {
        true if is_alike(figure) => Fit::Same,
        _ => Fit::Other,
    };
    let command = own_server(load, body)?;
    let (of, resource, unit) = (CeilingOf::Answers, OWN_SERVER.to_owned(), Unit::PerSec);
    let used = Used { of, resource, unit, used, at_least: false, command, by_option: true };
    Some(held(index, figures, used, fits))
}

/// True for answers of so many bytes that cost the network about the same.
fn are_alike(a: f64, b: f64) -> bool {
    (a.max(b) <= ONE_PACKET) || (a.max(b) <= ALIKE * a.min(b))
}

/// The command that loads our own server alike; `None` where it has no content of that size, or cannot be asked so.
fn own_server(load: &Load<'_>, body: f64) -> Option<String> {
    let content = match load.params.get("content").filter(|_| load.given("url").is_none()) {
        Some(own) => own,
        None => CONTENT.iter().find(|(_, bytes)| are_alike(body, *bytes)).map(|(name, _)| *name)?,
    };
    let plain = ["method", "headers", "body"];
    let is_plain = |(name, usual): &(&str, &str)| {
        !plain.contains(name) || load.params.get(name).is_none_or(|value| value == *usual)
    };
    if !SHARED.iter().all(is_plain) || load.given("mix").is_some() {
        return None;
    }
    let shared = SHARED.iter().filter(|(name, _)| !plain.contains(name));
    let sets = shared.map(|(name, usual)| format!("{name}={}", load.params.get(name).unwrap_or(usual)));
    let sets: Vec<String> = sets.collect();
    Some(format!(
        "boxscore run web --set 'server={OWN_SERVER};arrivals=closed;load=auto;content={content};{}'",
        sets.join(";")
    ))
}
