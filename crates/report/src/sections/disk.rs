//! Disk: reads by queue depth, and the takes of reads, sequential transfers and flushes.

use maud::Markup;
use model::format::{self, Kind, quantity};
use model::metrics::disk;
use model::names::instrument;
use model::unit::Unit;

use super::takes;
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{Figure, ReportInput, Section};

pub static SECTION: Section = Section::by_run(40, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let plots = [
        by_depth(input, disk::IOPS.name(), Unit::PerSec),
        by_depth(input, disk::LATENCY.name(), Unit::Second),
    ];
    takes::section(input, "disk", "Disk", plots.into_iter().flatten().collect())
}

fn points(input: &ReportInput, run: usize, metric: &str) -> Vec<Point> {
    let point = |figure: &Figure<'_>| {
        let depth: f64 = figure.doc.params.get("qd")?.parse().ok()?;
        let estimate = figure.estimate()?;
        Some(Point { interval: estimate.interval, ..Point::at(depth, estimate.value) })
    };
    let mut points: Vec<Point> =
        input.figures_of(run, instrument::DISK_READ, metric).iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points.dedup_by(|a, b| a.x == b.x);
    points
}

fn by_depth(input: &ReportInput, metric: &str, unit: Unit) -> Option<Markup> {
    let series: Vec<Series> = (input.drawn())
        .map(|run| Series { name: input.name(run), points: points(input, run, metric), reference: false })
        .filter(|series| series.points.len() > 1)
        .collect();
    let line = series.first()?;
    let (first, last) = (line.points.first()?, line.points.last()?);
    let times = format::number(last.y / first.y);
    let depth = format::fixed(last.x, 0);
    let title = if unit == Unit::PerSec {
        format!("{depth} reads in flight give {times} times the reads of one")
    } else {
        format!(
            "A read takes {} alone and {} among {depth}",
            quantity(first.y, Kind::for_unit(unit)),
            quantity(last.y, Kind::for_unit(unit))
        )
    };
    let plot = LinePlot::new(
        Caption::new(title).subtitle("random reads of one block past the page cache, by queue depth"),
        AxisSpec::new("reads in flight", Kind::for_unit(Unit::Count).plain()).log2(),
        AxisSpec::new(if unit == Unit::PerSec { "reads" } else { "latency" }, Kind::for_unit(unit)).log(),
        series,
    );
    Some(plot.render())
}
