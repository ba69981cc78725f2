//! Figures of key-value stores in the layout of RAMCloud's clusterperf: `basic.read100         17.1 us     read random
//! 100B object (30B key) median`, name in 20 columns, one decimal (three for GB/s), description.
//!
//! Medians of a run's takes. Times in ns, us, ms or s; MB are 2^20 as there. Refused and missing figures are `n/a`. A
//! line with `#` says what the figures below it are of, so that `boxscore import` reads the text back.

mod graph;

use model::data::{RunData, Series};
use model::doc::RunDoc;
use model::names::instrument::{KV_PUBLISHED, KV_RATE};
use model::{Cards, Family, Params, Unit, Validity, card};

/// Ends of the names of percentiles, and their words.
const PERCENTILES: [(&str, &str); 8] = [
    (".min", "minimum"),
    (".max", "maximum"),
    (".90", "90%"),
    (".9", "90%"),
    (".99", "99%"),
    (".999", "99.9%"),
    (".9999", "99.99%"),
    (".99999", "99.999%"),
];

/// The lines of a run, or none where it has no figure of a key-value store.
pub fn lines(doc: &RunDoc, data: &RunData, cards: Cards) -> Option<String> {
    let mut out = String::new();
    let mut before: Option<(&str, &str, Params)> = None;
    for (at, series) in data.series.iter().enumerate().filter(|(_, series)| is_line(series, cards)) {
        if let Some(graph) = graph::parse(&series.key.metric) {
            if graph::is_first(&data.series, at) {
                out.push_str(&graph.table(doc, data, series));
                before = None;
            }
            continue;
        }
        let numbers = series.points.iter().any(|point| point.number().is_some());
        if !numbers && !series.points.is_empty() {
            continue;
        }
        let key = &series.key;
        let group = (key.instrument.as_str(), key.arm.as_str(), common(&key.params));
        if before.as_ref() != Some(&group) {
            out.push_str(&heading(&group));
            before = Some(group);
        }
        let value = figure(doc, series);
        let line = format!("{:<20} {}  {}", key.metric, printed(value, key.unit), words(series));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    (!out.is_empty()).then_some(out)
}

/// The median of the takes; none where it was refused or nothing was measured.
fn figure(doc: &RunDoc, series: &Series) -> Option<f64> {
    let key = &series.key;
    let refused = doc.series.iter().any(|row| {
        (row.instrument == key.instrument && row.metric == key.metric && row.arm == key.arm)
            && row.params == key.params
            && row.validity == Validity::Invalid
    });
    stats::summary(&series.measured()).ok().map(|summary| summary.median).filter(|_| !refused)
}

/// True for instruments of key-value stores.
pub fn is_kv(instrument: &str, cards: Cards) -> bool {
    instrument == KV_PUBLISHED || card::find(cards, instrument).is_some_and(|card| card.family == Family::Kv)
}

fn is_line(series: &Series, cards: Cards) -> bool {
    is_kv(&series.key.instrument, cards)
        && !series.key.metric.ends_with(KV_RATE)
        && matches!(series.key.unit, Unit::Second | Unit::BytesPerSec | Unit::PerSec)
}

/// The parameters that a group of figures shares: without size and count, which stand in each line.
fn common(params: &Params) -> Params {
    let mut params = params.clone();
    params.retain(|name, _| name != "size" && name != "k");
    params
}

fn heading((instrument, arm, params): &(&str, &str, Params)) -> String {
    let mut text = format!("# {instrument} {}", params.to_string().replace(';', " ")).trim_end().to_owned();
    if !arm.is_empty() {
        text.push_str(&format!(" [{arm}]"));
    }
    text.push('\n');
    text
}

/// The number and its unit in 11 columns.
fn printed(value: Option<f64>, unit: Unit) -> String {
    let Some(value) = value else { return "  n/a      ".to_owned() };
    const KB: f64 = 1024.0;
    let one = |value: f64, unit: &str| format!("{:<11}", format!("{value:5.1} {unit}"));
    match unit {
        Unit::Second if value < 1e-6 => one(value * 1e9, "ns"),
        Unit::Second if value < 1e-3 => one(value * 1e6, "us"),
        Unit::Second if value < 1.0 => one(value * 1e3, "ms"),
        Unit::Second => one(value, "s"),
        Unit::BytesPerSec if value > KB * KB * KB => {
            format!("{:<11}", format!("{:5.3} GB/s", value / (KB * KB * KB)))
        }
        Unit::BytesPerSec if value > KB * KB => one(value / (KB * KB), "MB/s"),
        Unit::BytesPerSec if value > KB => one(value / KB, "KB/s"),
        Unit::BytesPerSec => one(value, "B/s"),
        _ if value > 1e9 => one(value / 1e9, "G/s"),
        _ if value > 1e6 => one(value / 1e6, "M/s"),
        _ if value > 1e3 => one(value / 1e3, "K/s"),
        _ => one(value, "/s"),
    }
}

/// The description that clusterperf prints behind the figure.
fn words(series: &Series) -> String {
    let (metric, params) = (series.key.metric.as_str(), &series.key.params);
    match metric {
        "readNotFound" => return "read object that doesn't exist".to_owned(),
        "netBandwidth" => return "many clients reading from different servers".to_owned(),
        "netBandwidth.max" => return "fastest client".to_owned(),
        "netBandwidth.min" => return "slowest client".to_owned(),
        _ => {}
    }
    let era = params.get("definition").unwrap_or("era3");
    if let Some(rest) = metric.strip_prefix("basic.") {
        return basic(rest, era);
    }
    let size = params.get("size").unwrap_or("100");
    let verb = if metric.starts_with("write") { "write" } else { "read" };
    match metric.split('.').next().unwrap_or_default() {
        "readDist" => format!("read single {size}B object (30B key) {}", percentile(metric)),
        "readDistRandom" | "writeDistRandom" => {
            format!("{verb} random {size}B object (30B key) {}", percentile(metric))
        }
        _ => String::new(),
    }
}

/// `read100.99` and `readBw1K`, in the words of each definition.
fn basic(rest: &str, era: &str) -> String {
    let writes = rest.starts_with("write");
    let (verb, ing) = if writes { ("write", "writing") } else { ("read", "reading") };
    let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
    let (kind, size) = rest.split_at(digits);
    let size = size.split('.').next().unwrap_or_default();
    match (kind.ends_with("Bw"), era) {
        (true, "era1") => format!("bandwidth {ing} {size}B object with 30B key"),
        (true, _) => format!("bandwidth {ing} {size}B objects (30B key)"),
        (false, "era1") => format!("{verb} single {size}B object with 30B key"),
        (false, "era2") => format!("{verb} single {size}B object (30B key) {}", percentile(rest)),
        (false, _) => format!("{verb} random {size}B object (30B key) {}", percentile(rest)),
    }
}

fn percentile(metric: &str) -> &'static str {
    PERCENTILES.iter().find(|(end, _)| metric.ends_with(end)).map_or("median", |(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_as_clusterperf_prints_them() {
        let time = |seconds| printed(Some(seconds), Unit::Second);
        assert_eq!(time(272.76e-9), "272.8 ns   ");
        assert_eq!(time(5.1e-6), "  5.1 us   ");
        assert_eq!(time(3.8e-3), "  3.8 ms   ");
        assert_eq!(time(2.0), "  2.0 s    ");
        assert_eq!(printed(Some(3.0 * 1_048_576.0), Unit::BytesPerSec), "  3.0 MB/s ");
        assert_eq!(printed(Some(1.204 * 1_073_741_824.0), Unit::BytesPerSec), "1.204 GB/s ");
        assert_eq!(printed(Some(72_000.0), Unit::PerSec), " 72.0 K/s  ");
        assert_eq!(printed(None, Unit::Second), "  n/a      ");
    }

    #[test]
    fn words_are_those_of_each_definition() {
        assert_eq!(basic("read100", "era1"), "read single 100B object with 30B key");
        assert_eq!(basic("readBw100", "era1"), "bandwidth reading 100B object with 30B key");
        assert_eq!(basic("write1M.99", "era2"), "write single 1MB object (30B key) 99%");
        assert_eq!(basic("read10K", "era3"), "read random 10KB object (30B key) median");
        assert_eq!(basic("read10K.min", "era3"), "read random 10KB object (30B key) minimum");
        assert_eq!(basic("writeBw1K", "era3"), "bandwidth writing 1KB objects (30B key)");
    }
}
