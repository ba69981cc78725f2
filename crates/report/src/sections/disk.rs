//! Disk: reads by queue depth, and the takes of reads, sequential transfers and flushes.

use maud::Markup;
use model::unit::Unit;

use super::takes;
use crate::number::{self, Kind, quantity};
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{Figure, ReportInput, Section};

pub struct Disk;
pub static SECTION: Disk = Disk;

impl Section for Disk {
    fn rank(&self) -> u32 {
        40
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let plots = [by_depth(input, "iops", Unit::PerSec), by_depth(input, "latency", Unit::Second)];
        takes::section(input, "disk", "Disk", plots.into_iter().flatten().collect())
    }
}

fn points(input: &ReportInput, run: usize, metric: &str) -> Vec<Point> {
    let point = |figure: &Figure<'_>| {
        let depth: f64 = figure.doc.params.get("qd")?.parse().ok()?;
        let estimate = figure.estimate()?;
        Some(Point { interval: estimate.interval, ..Point::at(depth, estimate.value) })
    };
    let mut points: Vec<Point> = input.of(run, "disk-read", metric).iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points.dedup_by(|a, b| a.x == b.x);
    points
}

fn by_depth(input: &ReportInput, metric: &str, unit: Unit) -> Option<Markup> {
    let series: Vec<Series> = (0..input.runs.len())
        .map(|run| Series { name: input.name(run), points: points(input, run, metric), reference: false })
        .filter(|series| series.points.len() > 1)
        .collect();
    let line = series.first()?;
    let (first, last) = (line.points.first()?, line.points.last()?);
    let times = number::number(last.y / first.y);
    let depth = number::fixed(last.x, 0);
    let title = if unit == Unit::PerSec {
        format!("{depth} reads in flight give {times} times the reads of one")
    } else {
        format!(
            "A read takes {} alone and {} among {depth}",
            quantity(first.y, Kind::of(unit)),
            quantity(last.y, Kind::of(unit))
        )
    };
    let plot = LinePlot {
        caption: Caption::new(title)
            .subtitle("random reads of one block past the page cache, by queue depth"),
        x: AxisSpec::new("reads in flight", Kind::of(Unit::Count).plain()).log2(),
        y: AxisSpec::new(if unit == Unit::PerSec { "reads" } else { "latency" }, Kind::of(unit)).log(),
        series,
        markers: Vec::new(),
        spans: Vec::new(),
        size: Size::Cell,
    };
    Some(plot.render())
}
