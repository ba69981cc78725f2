//! Memory: the staircase of latencies with the caches marked, bandwidth by operation, takes.

use maud::Markup;
use model::format::{Kind, quantity};
use model::metrics::memory;
use model::names::instrument;
use model::params::parse_bytes;
use model::unit::Unit;

use super::takes;
use crate::page;
use crate::plot::bars::BarGroup;
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Bars, Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{Figure, ReportInput, Section};
use crate::text::spec::{Spec, round_size};

pub static SECTION: Section = Section::by_run(30, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let mut plots: Vec<Markup> = staircase(input).into_iter().chain(bandwidth(input)).collect();
    plots.extend(takes::plots(input, "memory"));
    let title = title(input).or_else(|| takes::title(input, "memory", "Memory"));
    (!plots.is_empty())
        .then(|| page::section("memory", title.as_deref().unwrap_or("Memory"), &page::grid(&plots)))
}

/// `Memory answers in 92.4 ns and delivers 31.2 GB/s to one thread`
fn title(input: &ReportInput) -> Option<String> {
    let latency = ram_latency(input, 0)
        .map(|value| format!("answers in {}", quantity(value, Kind::for_unit(Unit::Second))));
    let read =
        input.figures_of(0, instrument::MEM_BANDWIDTH, memory::BANDWIDTH.name()).into_iter().find(|figure| {
            figure.doc.params.get("op") == Some("read") && figure.doc.params.get("threads") == Some("1")
        });
    let read = read
        .and_then(|figure| figure.estimate())
        .map(|e| format!("delivers {} to one thread", quantity(e.value, Kind::for_unit(Unit::BytesPerSec))));
    let said: Vec<String> = latency.into_iter().chain(read).collect();
    (!said.is_empty()).then(|| format!("Memory {}", said.join(" and ")))
}

fn ram_latency(input: &ReportInput, run: usize) -> Option<f64> {
    let all = input.figures_of(run, instrument::MEM_LATENCY, memory::LATENCY.name());
    let main = all.iter().find(|figure| {
        figure.doc.params.get("level") == Some("memory") && figure.doc.params.get("mode") != Some("stride")
    });
    main.and_then(Figure::estimate).map(|estimate| estimate.value)
}

/// Latency by working set, in the order of size; the mode with the most points. Without huge pages the larger sets have
/// page walks in them.
fn steps(input: &ReportInput, run: usize) -> (String, Vec<Point>) {
    let mut best: (String, Vec<Point>) = (String::new(), Vec::new());
    let mut all = input.figures_of(run, instrument::MEM_LATENCY, memory::LATENCY.name());
    all.extend(input.figures_of(run, instrument::MEM_LATENCY, memory::LATENCY_AND_WALK.name()));
    let mut modes: Vec<&str> = all.iter().filter_map(|figure| figure.doc.params.get("mode")).collect();
    modes.sort_unstable();
    modes.dedup();
    for mode in modes {
        let point = |figure: &Figure<'_>| {
            let size = parse_bytes(figure.doc.params.get("size")?)?;
            let estimate = figure.estimate()?;
            #[expect(clippy::cast_precision_loss, reason = "a size to draw")]
            Some(Point { interval: estimate.interval, ..Point::at(size as f64, estimate.value) })
        };
        let of_mode = all.iter().filter(|figure| figure.doc.params.get("mode") == Some(mode));
        let mut points: Vec<Point> = of_mode.filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points.dedup_by(|a, b| a.x == b.x);
        if points.len() > best.1.len() {
            best = (mode.to_owned(), points);
        }
    }
    best
}

fn staircase(input: &ReportInput) -> Option<Markup> {
    let (mode, _) = steps(input, 0);
    let series: Vec<Series> = (input.drawn())
        .map(|run| Series { name: input.name(run), points: steps(input, run).1, reference: false })
        .filter(|series| series.points.len() > 1)
        .collect();
    let first = series.first()?;
    let (low, high) = (first.points.first()?, first.points.last()?);
    let time = |y: f64| quantity(y, Kind::for_unit(Unit::Second));
    let title = format!(
        "A load takes {} in {} and {} in {}",
        time(low.y),
        round_size(low.x),
        time(high.y),
        round_size(high.x)
    );
    let facts = input.facts(0);
    let range = low.x..=high.x;
    let markers: Vec<Marker> = Spec(&facts)
        .caches()
        .into_iter()
        .filter(|(_, bytes)| range.contains(bytes))
        .map(|(name, bytes)| Marker {
            at: bytes,
            label: format!("{name} {}", round_size(bytes)),
            upright: true,
        })
        .collect();
    let plot = LinePlot {
        markers,
        ..LinePlot::new(
            Caption::new(title).subtitle(format!(
                "dependent loads, {mode}, one core; lines mark the caches of the spec sheet"
            )),
            AxisSpec::new("working set", Kind::for_unit(Unit::Byte)).log2(),
            AxisSpec::new("latency", Kind::for_unit(Unit::Second)).log(),
            series,
        )
    };
    Some(plot.render())
}

/// Bandwidth by operation: one and all threads of one run, or one thread of several runs.
fn bandwidth(input: &ReportInput) -> Option<Markup> {
    let all = input.figures_of(0, instrument::MEM_BANDWIDTH, memory::BANDWIDTH.name());
    let usual = |figure: &&Figure<'_>| {
        let is = |key: &str, value: &str| figure.doc.params.get(key).is_none_or(|given| given == value);
        is("store", "temporal") && is("pages", "default") && is("node", "any") && is("cpus", "auto")
    };
    let mut ops: Vec<(String, String)> = Vec::new();
    for figure in all.iter().filter(usual) {
        let of = |key: &str| figure.doc.params.get(key).unwrap_or("").to_owned();
        let op = (of("op"), of("counting"));
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    let value = |run: usize, op: &(String, String), threads: &str| {
        let all = input.figures_of(run, instrument::MEM_BANDWIDTH, memory::BANDWIDTH.name());
        let found = all.iter().filter(usual).find(|figure| {
            figure.doc.params.get("op") == Some(&op.0)
                && figure.doc.params.get("counting").unwrap_or("") == op.1
                && figure.doc.params.get("threads") == Some(threads)
        });
        found.and_then(Figure::estimate)
    };
    let several = input.runs.len() > 1;
    let has = |run: &usize| ops.iter().any(|op| value(*run, op, "1").is_some());
    let runs: Vec<usize> = input.drawn().filter(has).collect();
    let series: Vec<String> = if several {
        runs.iter().map(|run| input.name(*run)).collect()
    } else {
        vec!["1 thread".to_owned(), Spec(&input.facts(0)).all_cpus()]
    };
    let groups: Vec<BarGroup> = ops
        .iter()
        .map(|op| BarGroup {
            name: if op.1 == "stream" { format!("{} (STREAM)", op.0) } else { op.0.clone() },
            values: if several {
                runs.iter().map(|run| value(*run, op, "1")).collect()
            } else {
                vec![value(0, op, "1"), value(0, op, "all")]
            },
        })
        .filter(|group| group.values.iter().any(Option::is_some))
        .collect();
    if groups.is_empty() {
        return None;
    }
    let most = groups.iter().flat_map(|group| &group.values).flatten().map(|e| e.value).fold(0.0, f64::max);
    let title = format!("Memory delivers up to {}", quantity(most, Kind::for_unit(Unit::BytesPerSec)));
    let subtitle = if several { "one thread; whisker = 95 % interval" } else { "whisker = 95 % interval" };
    let plot = Bars {
        caption: Caption::new(title).subtitle(subtitle),
        y: AxisSpec::new("bandwidth", Kind::for_unit(Unit::BytesPerSec)),
        series,
        groups,
        size: Size::Cell,
        text: None,
    };
    Some(plot.render())
}
