//! Lines over x with bands: staircases, scaling curves, telemetry.
//!
//! Values are in base units, points in order of x. A value that cannot be drawn breaks its line and is counted
//! below the figure; a gap breaks it, and is none. Lines of more points than pixels keep the first, lowest, highest
//! and last point of each pixel column. Names stand at the ends of the lines; marker lines carry their labels.

use maud::{Markup, Render, html};

use super::axes::{Margins, Plane, cut_text};
use super::labels::{Area, levels, spread};
use super::{
    COLOURS, Caption, FONT, Left, PlotFrame, Px, Size, Table, empty, path_of, series_class, svg, text_width,
};
use crate::scale::AxisSpec;

#[derive(Clone, Debug)]
pub struct LinePlot {
    pub caption: Caption,
    pub x: AxisSpec,
    pub y: AxisSpec,
    pub series: Vec<Series>,
    pub markers: Vec<Marker>,
    /// Shaded stretches of x: takes, phases.
    pub spans: Vec<Span>,
    pub size: Size,
}

#[derive(Clone, Debug, Default)]
pub struct Series {
    pub name: String,
    pub points: Vec<Point>,
    /// Dashed and grey: an ideal or a limit, not a measurement.
    pub reference: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub interval: Option<(f64, f64)>,
    /// Drawn hollow: a bound, not the figure itself.
    pub hollow: bool,
    /// The interval stands as a bar on the point, not as a band along the line.
    pub bar: bool,
    /// No value: the line breaks here.
    pub is_gap: bool,
}

impl Point {
    pub const fn at(x: f64, y: f64) -> Point {
        Point { x, y, interval: None, hollow: false, bar: false, is_gap: false }
    }

    /// Nothing was measured here: the line breaks, and no value is left out.
    pub const fn gap(x: f64) -> Point {
        Point { is_gap: true, ..Point::at(x, f64::NAN) }
    }
}

/// A labelled line across the plot.
#[derive(Clone, Debug)]
pub struct Marker {
    pub at: f64,
    pub label: String,
    /// Upright at an x; else level at a y.
    pub upright: bool,
}

#[derive(Clone, Debug)]
pub struct Span {
    pub from: f64,
    pub to: f64,
    pub label: String,
}

/// More drawn points than this over the whole figure get no dots of their own.
const DOTS: usize = 240;
const LEVEL: f64 = 14.0;
const NAME_ROOM: f64 = 120.0;

/// A series with what can be drawn of it: runs of points without a gap.
struct Drawn<'a> {
    series: &'a Series,
    class: String,
    runs: Vec<Vec<Point>>,
}

impl LinePlot {
    /// A figure of one cell without markers and shaded stretches.
    pub fn new(caption: Caption, x: AxisSpec, y: AxisSpec, series: Vec<Series>) -> LinePlot {
        LinePlot { caption, x, y, series, markers: Vec::new(), spans: Vec::new(), size: Size::Cell }
    }

    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let mut colour = 0;
        let drawn: Vec<Drawn<'_>> =
            self.series.iter().map(|s| self.runs(s, &mut left, &mut colour)).collect();
        if drawn.iter().all(|d| d.runs.is_empty()) {
            return empty(&self.caption, self.size, left.notes());
        }
        let named: Vec<&Drawn<'_>> =
            drawn.iter().filter(|d| !d.series.name.is_empty() && !d.runs.is_empty()).collect();
        let direct = named.len() <= 14 && cut_apart(&named);
        let (width, height) = (self.size.width(), 290.0);
        let names = named.iter().map(|d| text_width(&d.series.name) * 1.08).fold(0.0, f64::max);
        let right = if direct && names > 0.0 { names.min(NAME_ROOM) + 12.0 } else { 16.0 };
        let mut plane = self.plane((width, height), right, 0, &drawn);
        let rows = self.marker_rows(&plane, width);
        if rows > 0 {
            plane = self.plane((width, height), right, rows, &drawn);
        }
        let drawing = html! {
            (plane.frame())
            (self.draw_spans(&plane))
            (self.draw_markers(&plane, width))
            @for line in &drawn { (draw(line, &plane, &drawn)) }
            (self.level_labels(&plane, &drawn))
            @if direct { (draw_names(&named, &plane, rows)) }
        };
        let key = if direct {
            Vec::new()
        } else {
            named.iter().map(|d| (d.class.clone(), d.series.name.clone())).collect()
        };
        PlotFrame {
            caption: &self.caption,
            size: self.size,
            drawing: svg(&self.caption, width, height, &drawing),
            key,
            notes: left.notes(),
            table: self.table(&plane),
        }
        .render()
    }

    fn runs<'a>(&self, series: &'a Series, left: &mut Left, colour: &mut usize) -> Drawn<'a> {
        let class =
            if series.reference || *colour >= COLOURS { "sx".to_owned() } else { series_class(*colour) };
        *colour += usize::from(!series.reference);
        let mut runs: Vec<Vec<Point>> = vec![Vec::new()];
        for point in &series.points {
            if !point.is_gap && left.check(point.x, &self.x) && left.check(point.y, &self.y) {
                if let Some(run) = runs.last_mut() {
                    run.push(*point);
                }
            } else if runs.last().is_some_and(|run| !run.is_empty()) {
                runs.push(Vec::new());
            }
        }
        runs.retain(|run| !run.is_empty());
        Drawn { series, class, runs }
    }

    fn plane(&self, size: (f64, f64), right: f64, rows: usize, drawn: &[Drawn<'_>]) -> Plane {
        let points = || drawn.iter().flat_map(|d| d.runs.iter().flatten());
        let upright = |up: bool| self.markers.iter().filter(move |m| m.upright == up).map(|m| m.at);
        let spans = self.spans.iter().flat_map(|s| [s.from, s.to]);
        let xs: Vec<f64> = points().map(|p| p.x).chain(spans).collect();
        // A marker outside the measured range is not worth an empty half of the plot.
        let ends = points().flat_map(|p| p.interval.map_or([p.y, p.y], |(a, b)| [a, b]));
        let ys: Vec<f64> = points().map(|p| p.y).chain(ends).chain(upright(false)).collect();
        let top = super::axes::ABOVE + rows as f64 * LEVEL;
        Plane::fit(size, Margins { top, right }, (&self.x, &xs), (&self.y, &ys))
    }

    fn upright<'a>(&'a self, plane: &'a Plane) -> impl Iterator<Item = &'a Marker> + 'a {
        let within = |v: f64| self.x.takes(v) && v >= plane.x.low && v <= plane.x.high;
        self.markers.iter().filter(move |m| m.upright && within(m.at))
    }

    /// Left ends and levels of the labels of upright markers.
    fn marker_places(&self, plane: &Plane, width: f64) -> Vec<(f64, usize)> {
        let half = |m: &Marker| text_width(&super::ellipsis(&m.label, width / 3.0)) / 2.0;
        let centre = |m: &Marker| plane.x.at(m.at).min(width - half(m) - 1.0).max(half(m) + 1.0);
        let spans: Vec<(f64, f64)> =
            self.upright(plane).map(|m| (centre(m) - half(m), centre(m) + half(m))).collect();
        levels(&spans, 6.0).into_iter().zip(&spans).map(|(level, (a, b))| ((a + b) / 2.0, level)).collect()
    }

    fn marker_rows(&self, plane: &Plane, width: f64) -> usize {
        self.marker_places(plane, width).iter().map(|(_, level)| level + 1).max().unwrap_or(0).min(4)
    }

    fn draw_markers(&self, plane: &Plane, width: f64) -> Markup {
        let places = self.marker_places(plane, width);
        let level_y = |level: usize| {
            let up = level as f64 * LEVEL;
            plane.area.y - 6.0 - up
        };
        html! {
            @for (marker, (x, level)) in self.upright(plane).zip(places) {
                @if level < 4 {
                    path class="mk" d={ "M" (Px(plane.x.at(marker.at))) " " (Px(level_y(level) + 2.0)) "V" (Px(plane.bottom())) } {}
                    (cut_text("t halo", (x, level_y(level)), "middle", &marker.label, width / 3.0))
                } @else {
                    path class="mk" d={ "M" (Px(plane.x.at(marker.at))) " " (Px(plane.area.y)) "V" (Px(plane.bottom())) } {
                        title { (marker.label) }
                    }
                }
            }
            @for marker in self.markers.iter().filter(|m| !m.upright && self.y.takes(m.at)) {
                @let y = plane.y.at(marker.at);
                path class="mk" d={ "M" (Px(plane.area.x)) " " (Px(y)) "H" (Px(plane.right())) } {}
            }
        }
    }

    /// Labels of level markers, where the fewest points lie under them; the halo keeps both readable.
    fn level_labels(&self, plane: &Plane, drawn: &[Drawn<'_>]) -> Markup {
        let mut taken: Vec<Area> = Vec::new();
        let mut out: Vec<Markup> = Vec::new();
        for marker in self.markers.iter().filter(|m| !m.upright && self.y.takes(m.at)) {
            let width = text_width(&marker.label).min(plane.area.width - 12.0);
            let Some(spot) = self.free_spot(plane, drawn, width, plane.y.at(marker.at), &taken) else {
                continue;
            };
            taken.push(spot);
            out.push(cut_text("t halo", (spot.x, spot.y + FONT * 0.9), "start", &marker.label, width));
        }
        html! { @for label in &out { (label) } }
    }

    /// Beside the level `y`: the box of this width that covers no label and the fewest points.
    fn free_spot(
        &self,
        plane: &Plane,
        drawn: &[Drawn<'_>],
        width: f64,
        y: f64,
        taken: &[Area],
    ) -> Option<Area> {
        let room = plane.area.width - width - 10.0;
        let spots = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].into_iter().flat_map(|share| {
            let x = plane.area.x + 5.0 + room * share;
            [y - FONT * 1.3, y + 3.0].map(|y| Area { x, y, width, height: FONT * 1.15 })
        });
        let under = |area: Area| {
            let points = drawn.iter().flat_map(|d| d.runs.iter().flatten());
            points.filter(|p| area.has((plane.x.at(p.x), plane.y.at(p.y)))).count()
        };
        let free = spots.filter(|a| plane.area.holds(*a) && !taken.iter().any(|t| t.meets(*a)));
        free.min_by_key(|a| under(*a))
    }

    fn draw_spans(&self, plane: &Plane) -> Markup {
        html! {
            @for span in self.spans.iter().filter(|s| self.x.takes(s.from) && self.x.takes(s.to)) {
                @let (from, to) = (plane.x.at(span.from.min(span.to)), plane.x.at(span.from.max(span.to)));
                rect class="span" x=(Px(from)) y=(Px(plane.area.y)) width=(Px((to - from).max(0.5))) height=(Px(plane.area.height)) {
                    @if !span.label.is_empty() { title { (span.label) } }
                }
            }
        }
    }

    fn table(&self, plane: &Plane) -> Table {
        let mut table = Table::of(&[&plane.x.title, "series", &plane.y.title, "95 % interval"]);
        for series in &self.series {
            for point in &series.points {
                let interval =
                    point.interval.map_or("-".to_owned(), |(a, b)| plane.y.scale.interval_text(a, b));
                let x = if plane.x.form == crate::scale::Form::Linear {
                    plane.x.text(point.x)
                } else {
                    model::format::quantity(point.x, self.x.kind)
                };
                table.push(vec![x, series.name.clone(), plane.y.scale.with_unit(point.y), interval]);
            }
        }
        table
    }
}

/// First, lowest, highest and last point of each pixel column.
pub(super) fn by_pixel(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut start = 0;
    while start < points.len() {
        let column = points[start].0.floor();
        let end =
            points[start..].iter().position(|p| p.0.floor() != column).map_or(points.len(), |n| start + n);
        let group = &points[start..end];
        let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut kept = vec![group[0]];
        kept.extend(group.iter().min_by(by_y));
        kept.extend(group.iter().max_by(by_y));
        kept.extend(group.last());
        kept.sort_by(|a, b| a.0.total_cmp(&b.0));
        kept.dedup();
        out.extend(kept);
        start = end;
    }
    out
}

fn draw(line: &Drawn<'_>, plane: &Plane, all: &[Drawn<'_>]) -> Markup {
    let count: usize = all.iter().flat_map(|d| &d.runs).map(Vec::len).sum();
    let dots = count <= DOTS && !line.series.reference;
    let place = |p: &Point| (plane.x.at(p.x), plane.y.at(p.y));
    html! {
        g class=(line.class) {
            @for run in &line.runs {
                (band(run, plane))
                @let points = by_pixel(&run.iter().map(place).collect::<Vec<_>>());
                @if points.len() > 1 { path class=(if line.series.reference { "ln ds" } else { "ln" }) d=(path_of(&points)) {
                    @if !dots && !line.series.name.is_empty() { title { (line.series.name) } }
                } }
                @if dots || run.len() == 1 { @for point in run {
                    @let (x, y) = place(point);
                    @let (class, r) = if point.hollow { ("hollow", "3") } else { ("pt", "2.4") };
                    (bar(point, plane))
                    circle class=(class) cx=(Px(x)) cy=(Px(y)) r=(r) { title { (tip(line.series, point, plane)) } }
                } }
            }
        }
    }
}

fn tip(series: &Series, point: &Point, plane: &Plane) -> String {
    let interval =
        point.interval.map_or(String::new(), |(a, b)| format!(" ({})", plane.y.scale.interval_text(a, b)));
    let name = if series.name.is_empty() { String::new() } else { format!("{}, ", series.name) };
    let bound = if point.hollow { ", a lower bound" } else { "" };
    format!(
        "{name}{}: {}{interval}{bound}",
        plane.x.clocked(point.x).unwrap_or_else(|| model::format::quantity(point.x, plane.x_kind)),
        plane.y.scale.with_unit(point.y)
    )
}

/// The interval of one point, with its ends.
fn bar(point: &Point, plane: &Plane) -> Markup {
    let finite = point.interval.filter(|(low, high)| point.bar && low.is_finite() && high.is_finite());
    html! { @if let Some((low, high)) = finite {
        @let (x, low, high) = (plane.x.at(point.x), plane.y.at(low), plane.y.at(high));
        path class="w" d={ "M" (Px(x - 3.0)) " " (Px(high)) "h6M" (Px(x)) " " (Px(high)) "V" (Px(low)) "M" (Px(x - 3.0)) " " (Px(low)) "h6" } {}
    } }
}

/// The area between the ends of the intervals, where there are at least two.
fn band(run: &[Point], plane: &Plane) -> Markup {
    let ends = |upper: bool| {
        let sides = run.iter().filter(|p| !p.bar);
        let sides = sides.filter_map(move |p| p.interval.map(|(a, b)| (p.x, if upper { b } else { a })));
        sides.filter(|(_, v)| !v.is_nan()).map(|(x, v)| (plane.x.at(x), plane.y.at(v))).collect::<Vec<_>>()
    };
    let (mut outline, mut lower) = (by_pixel(&ends(true)), by_pixel(&ends(false)));
    lower.reverse();
    outline.extend(lower);
    html! { @if outline.len() > 3 { path class="bd" d={ (path_of(&outline)) "Z" } {} } }
}

/// Names that are different stay so when they are cut to their room.
fn cut_apart(named: &[&Drawn<'_>]) -> bool {
    let cut = |d: &Drawn<'_>| super::ellipsis(&d.series.name, NAME_ROOM);
    named
        .iter()
        .enumerate()
        .all(|(i, a)| named[..i].iter().all(|b| a.series.name == b.series.name || cut(a) != cut(b)))
}

/// Names at the right ends, moved apart, joined to their line where they had to move.
fn draw_names(named: &[&Drawn<'_>], plane: &Plane, marker_rows: usize) -> Markup {
    let last =
        |d: &Drawn<'_>| d.runs.last().and_then(|run| run.last()).map(|p| (plane.x.at(p.x), plane.y.at(p.y)));
    let ends: Vec<(f64, f64)> =
        named.iter().map(|d| last(d).unwrap_or((plane.right(), plane.area.y))).collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, y)| *y).collect();
    // Labels of markers may reach beyond the right end.
    let top = if marker_rows > 0 { plane.area.y + 2.0 } else { FONT * 0.8 };
    let Some(places) = spread(&wanted, 13.5, top, plane.bottom()) else {
        return html! {};
    };
    let x = plane.right() + 8.0;
    html! {
        @for ((line, y), (end_x, end_y)) in named.iter().zip(places).zip(ends) {
            g class=(line.class) {
                @if (y - end_y).abs() > 4.0 || x - end_x > 20.0 {
                    path class="gm" d={ "M" (Px(end_x + 4.0)) " " (Px(end_y)) "L" (Px(x - 2.0)) " " (Px(y)) } {}
                }
                (cut_text("sl", (x, y + FONT * 0.36), "start", &line.series.name, NAME_ROOM))
            }
        }
    }
}
