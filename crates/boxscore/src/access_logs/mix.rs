//! From an aggregate to the document of its mix. Everything is computed from the aggregate, and bounded.
//!
//! Bytes, seconds, counts of requests. Paths are called by their rank unless they are asked for.

use logs::aggregate::Aggregate;
use logs::aggregate::distinct::Distinct;
use logs::aggregate::file::Labels;
use logs::aggregate::mix::{Mix, PathRequests};
use logs::aggregate::paths::By;
use logs::aggregate::sketch::CountMin;
use logs::aggregate::{Sizes, Slot, Strata};
use logs::scan::Method;
use model::doc::FormatDoc;
use model::doc::mix::{
    LONGEST_PATH, MOST_PATHS, MOST_SIZES, MOST_STEPS, MixArrivals, MixBin, MixConnections, MixDoc, MixPath,
    MixPopularity, MixRanks, MixSizes, MixSource, MixStep, SCHEMA, path_of_rank,
};

const SEED: u32 = 1;
/// Ratio of the end of a range of ranks to its begin.
const WIDER: f64 = 1.25;
/// A path is listed if its count is at least so many times the sketch's error: then the count is right to a quarter.
const SURE: f64 = 4.0;
/// Fewest paths from which a slope is estimated.
const LEAST_RANKS: usize = 10;
const QUARTER: u64 = 900;

/// The mix of the only label. Fails with the reason when there are several, or no request.
pub fn document(labels: &Labels, formats: &[FormatDoc], logged: bool) -> Result<MixDoc, String> {
    let mut all = labels.labels.iter();
    let (label, one) = match (all.next(), all.next()) {
        (Some(one), None) => one,
        (None, _) => return Err("there is no request to make a mix of".to_owned()),
        _ => {
            let names: Vec<&str> = labels.labels.keys().map(String::as_str).collect();
            return Err(format!(
                "a mix is of one label, and there are {}: {}",
                names.len(),
                names.join(", ")
            ));
        }
    };
    let mix = one.mix.as_deref().ok_or("there is no request to make a mix of")?;
    if mix.bodies.total() == 0 {
        return Err("no mix can be made of these requests: no answer with a body has a size".to_owned());
    }
    let count = |(name, count): (String, u64)| (count > 0).then_some((name, count));
    let methods = Method::ALL.iter().zip(one.methods);
    let (first, last) = one.span.unzip();
    let document = MixDoc {
        schema: SCHEMA.to_owned(),
        label: label.clone(),
        source: MixSource {
            files: formats.iter().map(|format| format.file.clone()).collect(),
            lines: one.lines,
            skipped: one.skipped(),
            filtered: one.filtered,
            conditions: labels.conditions().to_vec(),
            first,
            last,
        },
        seed: SEED,
        requests: one.totals().requests,
        sizes: sizes(mix),
        methods: methods.filter_map(|(method, n)| count((method.name().to_owned(), n))).collect(),
        statuses: one.statuses.iter().filter_map(|(status, n)| count((status.to_string(), n))).collect(),
        connections: MixConnections { told: one.reuse_told, reused: one.reused },
        arrivals: arrivals(one, mix),
        popularity: popularity(one, mix, logged),
    };
    document.check().map_err(|why| format!("no mix can be made of these requests: {why}"))?;
    Ok(document)
}

/// The histogram's own bins; where those are too many, neighbours together.
fn sizes(mix: &Mix) -> MixSizes {
    let own: Vec<MixBin> =
        (mix.bodies.bins()).map(|bin| MixBin { from: bin.low, to: bin.high, requests: bin.count }).collect();
    let (mut bins, mut error) = (own.clone(), Sizes::ERROR);
    while bins.len() > MOST_SIZES {
        error *= 2.0;
        bins.clear();
        for bin in &own {
            let fits = |last: &MixBin| bin.to as f64 <= last.from as f64 * (1.0 + 2.0 * error);
            match bins.last_mut().filter(|last| fits(last)) {
                Some(last) => (last.to, last.requests) = (bin.to, last.requests + bin.requests),
                None => bins.push(*bin),
            }
        }
    }
    MixSizes {
        requests: mix.bodies.total(),
        bytes: mix.bytes,
        heads: mix.heads,
        unsized_: mix.unsized_,
        error,
        bins,
    }
}

fn arrivals(one: &Aggregate, mix: &Mix) -> MixArrivals {
    let mut hours = vec![0; 24];
    let slots = one.slots.sorted().unwrap_or_default();
    for (slot, strata) in &slots {
        hours[(slot.local().rem_euclid(86_400) / 3600) as usize] += strata.total().requests;
    }
    let known = MixArrivals {
        requests: mix.timed,
        hours: if slots.is_empty() { Vec::new() } else { hours },
        ..MixArrivals::default()
    };
    let why = |text: &str| Some(text.to_owned());
    match (mix.timed, one.pace.seconds()) {
        (0, _) => MixArrivals { why: why("no line tells a time"), ..known },
        (_, Some(seconds)) => by_second(&seconds, known),
        (_, None) if !slots.is_empty() => MixArrivals {
            why: why(
                "the log covers too many minutes for its seconds to be kept: arrivals are by quarter hour",
            ),
            ..by_quarter(&slots, known)
        },
        _ => MixArrivals { why: why("the log covers too much time for its arrivals to be kept"), ..known },
    }
}

fn by_second(seconds: &[(i64, u64)], known: MixArrivals) -> MixArrivals {
    let (Some((first, _)), Some((last, _))) = (seconds.first(), seconds.last()) else { return known };
    let span = last.abs_diff(*first) + 1;
    let step = span.div_ceil(MOST_STEPS as u64);
    let mut steps = vec![MixStep { requests: 0, peak: Some(0) }; span.div_ceil(step) as usize];
    let mut squares = 0u128;
    for (second, count) in seconds {
        squares += u128::from(*count).pow(2);
        if let Some(step) = steps.get_mut((second.abs_diff(*first) / step) as usize) {
            step.requests += count;
            step.peak = step.peak.max(Some(*count));
        }
    }
    let total: u64 = seconds.iter().map(|(_, count)| count).sum();
    let mean = total as f64 / span as f64;
    let variance = squares as f64 / span as f64 - mean * mean;
    MixArrivals {
        requests: total,
        seconds: span,
        mean_rate: Some(mean),
        peak_second: seconds.iter().map(|(_, count)| *count).max(),
        dispersion: (span > 1).then(|| variance.max(0.0) * span as f64 / (span - 1) as f64 / mean),
        step,
        steps,
        ..known
    }
}

fn by_quarter(slots: &[(&Slot, &Strata)], known: MixArrivals) -> MixArrivals {
    let quarters = || slots.iter().map(|(slot, _)| slot.quarter);
    let (Some(first), Some(last)) = (quarters().min(), quarters().max()) else { return known };
    let span = last.abs_diff(first) + 1;
    let wide = span.div_ceil(MOST_STEPS as u64);
    let mut steps = vec![MixStep::default(); span.div_ceil(wide) as usize];
    for (slot, strata) in slots {
        if let Some(step) = steps.get_mut((slot.quarter.abs_diff(first) / wide) as usize) {
            step.requests += strata.total().requests;
        }
    }
    let seconds = span * QUARTER;
    MixArrivals {
        seconds,
        mean_rate: Some(known.requests as f64 / seconds as f64),
        step: wide * QUARTER,
        steps,
        ..known
    }
}

/// A path as it can be asked for; `\xHH`, as servers log what is not plain, becomes `%HH`.
fn sendable(path: &[u8]) -> Option<String> {
    let text = logs::scan::request::sendable(path)?;
    (text.len() <= LONGEST_PATH).then_some(text)
}

fn popularity(one: &Aggregate, mix: &Mix, logged: bool) -> MixPopularity {
    let known = MixPopularity { pathless: one.paths.pathless(), logged, ..MixPopularity::default() };
    let names = one.paths.names();
    let called = |rank: usize, path: Option<&[u8]>| {
        let own = path.filter(|_| logged).and_then(sendable);
        own.unwrap_or_else(|| path_of_rank(rank as u64 + 1))
    };
    let Some(paths) = mix.paths.sorted() else {
        let total = one.totals().requests.saturating_sub(known.pathless);
        return sketched(one, mix, total, called, known);
    };
    let mut all: Vec<(u64, PathRequests)> = paths.into_iter().map(|(key, asked)| (*key, *asked)).collect();
    all.sort_unstable_by(|a, b| b.1.requests.cmp(&a.1.requests).then(a.0.cmp(&b.0)));
    let (top, rest) = all.split_at(all.len().min(MOST_PATHS));
    let path = |(rank, (key, asked)): (usize, &(u64, PathRequests))| MixPath {
        path: called(rank, names.get(key).copied()),
        requests: asked.requests,
        bytes: asked.bytes.checked_div(asked.bodies),
    };
    let top: Vec<MixPath> = top.iter().enumerate().map(path).collect();
    let mut tail = Vec::new();
    let mut from = 0;
    while from < rest.len() {
        let to = next_rank(from + MOST_PATHS).saturating_sub(MOST_PATHS).min(rest.len());
        let requests = rest[from..to].iter().map(|(_, asked)| asked.requests).sum();
        tail.push(MixRanks { paths: (to - from) as u64, requests });
        from = to;
    }
    MixPopularity {
        requests: all.iter().map(|(_, asked)| asked.requests).sum(),
        paths: all.len() as f64,
        exact: true,
        slope: slope(&top),
        top,
        tail,
        ..known
    }
}

/// Where the range that begins behind this rank ends.
fn next_rank(rank: usize) -> usize {
    ((rank as f64 * WIDER) as usize).max(rank + 1)
}

/// Popularity of more paths than are counted one by one, from the sketch.
fn sketched(
    one: &Aggregate,
    mix: &Mix,
    total: u64,
    called: impl Fn(usize, Option<&[u8]>) -> String,
    known: MixPopularity,
) -> MixPopularity {
    let sure = (SURE * CountMin::ERROR * total as f64) as u64;
    let found = one.paths.top(By::Requests, MOST_PATHS);
    let mut left = total;
    let mut top = Vec::new();
    for (rank, path) in found.iter().enumerate().take_while(|(_, path)| path.requests > sure) {
        let requests = path.requests.min(left);
        if requests == 0 {
            break;
        }
        left -= requests;
        let bytes = path.bytes.checked_div(path.requests);
        top.push(MixPath { path: called(rank, Some(path.path)), requests, bytes });
    }
    let distinct = mix.distinct.estimate();
    let slope = slope(&top);
    let beyond = (distinct.round() as u64).saturating_sub(top.len() as u64).clamp(1, left.max(1));
    let tail = if left > 0 { along(slope.unwrap_or(1.0), top.len(), beyond, left) } else { Vec::new() };
    MixPopularity {
        requests: total,
        paths: distinct,
        error: CountMin::ERROR,
        paths_error: Distinct::ERROR,
        slope,
        top,
        tail,
        ..known
    }
}

/// `requests` over `paths` that follow the first `from` ranks, by Zipf's law; each path has one at least.
fn along(slope: f64, from: usize, paths: u64, requests: u64) -> Vec<MixRanks> {
    let mut ranges = Vec::new();
    let (mut at, end) = (from, from + usize::try_from(paths).unwrap_or(usize::MAX >> 1));
    while at < end {
        let to = next_rank(at).min(end);
        let middle = (at + to) as f64 / 2.0 + 0.5;
        ranges.push(((to - at) as u64, (to - at) as f64 * middle.powf(-slope)));
        at = to;
    }
    let whole: f64 = ranges.iter().map(|(_, weight)| weight).sum();
    let (spare, mut sum, mut given) = (requests - paths, 0.0, 0u64);
    let mut one = |(paths, weight): (u64, f64)| {
        // Rounded as a running sum, so that the parts add up to the whole.
        sum += weight;
        let upto = ((sum / whole * spare as f64).round() as u64).clamp(given, spare);
        let mine = upto - given;
        given = upto;
        MixRanks { paths, requests: paths + mine }
    };
    let mut tail: Vec<MixRanks> = ranges.into_iter().map(&mut one).collect();
    if let Some(last) = tail.last_mut() {
        last.requests += spare - given;
    }
    tail
}

/// Zipf's exponent of the paths that are known by name.
fn slope(top: &[MixPath]) -> Option<f64> {
    let points = || (1u32..).zip(top).map(|(rank, path)| (f64::from(rank).ln(), (path.requests as f64).ln()));
    let count = top.len() as f64;
    let (x, y) = points().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let (over, under) =
        points().fold((0.0, 0.0), |sum, (a, b)| (sum.0 + (a - x) * (b - y), sum.1 + (a - x) * (a - x)));
    (top.len() >= LEAST_RANKS && under > 0.0).then(|| -over / under)
}
