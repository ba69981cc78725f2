//! Distributions: the share of values at or below, or the value at each percentile with a stretched tail.
//!
//! Values are in base units. Curves carry at most one point a pixel. With `tail` the percentiles run
//! along x as 0, 90, 99, 99.9 %, each step as wide as the last, as latency tails are read.

use maud::{Markup, Render, html};
use model::format::{Kind, percent};
use model::unit::Unit;

use super::axes::{ABOVE, Margins, Plane, cut_text, thin_labels};
use super::labels::{Area, spread};
use super::{
    Caption, FONT, Left, PlotFrame, Px, Size, Table, empty, path_of, real, series_class, svg, text_width,
};
use crate::scale::{Axis, AxisSpec, Tick};

#[derive(Clone, Debug)]
pub struct Ecdf {
    pub caption: Caption,
    /// The axis of the values.
    pub values: AxisSpec,
    pub curves: Vec<Curve>,
    /// Percentiles along x with a stretched tail, values upwards.
    pub tail: bool,
    pub size: Size,
}

#[derive(Clone, Debug, Default)]
pub struct Curve {
    pub name: String,
    /// (value, share at or below), rising.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// The empirical distribution of raw values; those that are not finite are counted by the figure.
    pub fn from_samples(name: impl Into<String>, samples: &[f64]) -> Curve {
        let mut sorted: Vec<f64> = samples.iter().copied().filter(|v| !v.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        let count = real(sorted.len());
        let nan = samples.iter().filter(|v| v.is_nan()).map(|v| (*v, 0.0));
        let points = sorted.iter().enumerate().map(|(i, v)| (*v, real(i + 1) / count)).chain(nan).collect();
        Curve { name: name.into(), points }
    }
}

const HEIGHT: f64 = 290.0;
const NAME_ROOM: f64 = 120.0;
/// Where on a curve its name is tried, from the middle outwards.
const TRIES: [f64; 9] = [0.55, 0.65, 0.45, 0.75, 0.35, 0.85, 0.25, 0.15, 0.93];

struct Placed<'a> {
    curve: &'a Curve,
    class: String,
    line: Vec<(f64, f64)>,
    kept: Vec<(f64, f64)>,
}

impl Ecdf {
    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let kept: Vec<Vec<(f64, f64)>> = self
            .curves
            .iter()
            .map(|c| {
                c.points
                    .iter()
                    .copied()
                    .filter(|(v, _)| left.check(*v, &self.values))
                    .filter(|(_, s)| (0.0..=1.0).contains(s))
                    .collect()
            })
            .collect();
        if kept.iter().all(Vec::is_empty) {
            return empty(&self.caption, self.size, left.notes());
        }
        let width = self.size.width();
        let plane = if self.tail { self.tail_plane(width, &kept) } else { self.share_plane(width, &kept) };
        let curves: Vec<Placed<'_>> = self
            .curves
            .iter()
            .zip(kept)
            .enumerate()
            .map(|(i, (curve, kept))| {
                let line = sparse(kept.iter().map(|p| self.place(*p, &plane)).collect());
                Placed { curve, class: series_class(i), line, kept }
            })
            .collect();
        let names = if self.tail { tail_names(&curves, &plane) } else { self.share_names(&curves, &plane) };
        let drawing = html! {
            (plane.frame())
            @for curve in &curves { g class=(curve.class) {
                @if curve.line.len() > 1 { path class="ln" d=(path_of(&curve.line)) { title { (curve.curve.name) } } }
                @else { @for (x, y) in &curve.line { circle class="pt" cx=(Px(*x)) cy=(Px(*y)) r="2.4" {} } }
                (self.stations(curve, &plane))
            } }
            @if let Some(names) = &names { (names) }
        };
        let key = match names {
            Some(_) => Vec::new(),
            None => curves.iter().map(|c| (c.class.clone(), c.curve.name.clone())).collect(),
        };
        PlotFrame {
            caption: &self.caption,
            size: self.size,
            drawing: svg(&self.caption, width, HEIGHT, &drawing),
            key,
            notes: left.notes(),
            table: self.table(&curves, if self.tail { &plane.y } else { &plane.x }),
        }
        .render()
    }

    fn place(&self, (value, share): (f64, f64), plane: &Plane) -> (f64, f64) {
        if self.tail {
            (plane.x.at(stretch(share)), plane.y.at(value))
        } else {
            (plane.x.at(value), plane.y.at(share))
        }
    }

    fn share_plane(&self, width: f64, kept: &[Vec<(f64, f64)>]) -> Plane {
        let xs: Vec<f64> = kept.iter().flatten().map(|p| p.0).collect();
        let shares = AxisSpec::new("share at or below", Kind::percent());
        Plane::fit(
            (width, HEIGHT),
            Margins { top: ABOVE, right: 20.0 },
            (&self.values, &xs),
            (&shares, &[0.0, 1.0]),
        )
    }

    fn tail_plane(&self, width: f64, kept: &[Vec<(f64, f64)>]) -> Plane {
        let names = self.curves.iter().map(|c| text_width(&c.name) * 1.08).fold(0.0, f64::max).min(NAME_ROOM);
        let right = names + 14.0;
        let ys: Vec<f64> = kept.iter().flatten().map(|p| p.0).collect();
        let far =
            kept.iter().flatten().filter(|p| p.1 < 1.0 - 1e-9).map(|p| stretch(p.1)).fold(10.0, f64::max);
        let spec = AxisSpec::new("percentile", Kind::for_unit(Unit::Count)).log();
        let mut plane = Plane::fit(
            (width, HEIGHT),
            Margins { top: ABOVE, right },
            (&spec, &[1.0, far]),
            (&self.values, &ys),
        );
        plane.x = Axis {
            low: 1.0,
            high: far.max(10.0),
            major: Vec::new(),
            minor: Vec::new(),
            title: "percentile".into(),
            ..plane.x
        };
        let ticks = [0.0, 0.9, 0.99, 0.999, 0.9999, 0.99999];
        let fit = ticks.into_iter().filter(|q| stretch(*q) <= plane.x.high * 1.0001);
        plane.x.major = fit.map(|q| Tick { value: stretch(q), label: percentile(q) }).collect();
        thin_labels(&mut plane.x);
        plane
    }

    /// Invisible points with numbers at the percentiles that people ask for.
    fn stations(&self, curve: &Placed<'_>, plane: &Plane) -> Markup {
        let at = |share: f64| curve.kept.iter().find(|p| p.1 >= share - 1e-12).map(|p| (share, p.0));
        let scale = if self.tail { &plane.y.scale } else { &plane.x.scale };
        html! {
            @for (share, value) in [0.5, 0.9, 0.99, 0.999].into_iter().filter_map(at) {
                @let (x, y) = self.place((value, share), plane);
                circle class="pt" cx=(Px(x)) cy=(Px(y)) r="2.2" {
                    title { (curve.curve.name) " p" (percentile(share).trim_end_matches(" %")) ": " (scale.with_unit(value)) }
                }
            }
        }
    }

    /// Names beside the curves, clear of each other and of every curve; `None` when that fails.
    fn share_names(&self, curves: &[Placed<'_>], plane: &Plane) -> Option<Markup> {
        let mut taken: Vec<Area> = Vec::new();
        let mut out: Vec<Markup> = Vec::new();
        for curve in curves.iter().filter(|c| !c.line.is_empty() && !c.curve.name.is_empty()) {
            let width = (text_width(&curve.curve.name) * 1.08).min(NAME_ROOM);
            let spots = TRIES.iter().flat_map(|share| {
                let (x, y) = crossing(&curve.line, plane.y.at(*share));
                [x + 6.0, x - 6.0 - width].map(|x| Area { x, y: y - FONT * 0.6, width, height: FONT * 1.25 })
            });
            let free = |area: &Area| {
                plane.area.holds(*area)
                    && !taken.iter().any(|t| t.meets(*area))
                    && !curves.iter().any(|other| crosses(&other.line, *area))
            };
            let spot = spots.into_iter().find(free)?;
            taken.push(spot);
            let text = cut_text("sl halo", (spot.x, spot.y + FONT * 0.95), "start", &curve.curve.name, width);
            out.push(html! { g class=(curve.class) { (text) } });
        }
        Some(html! { @for name in &out { (name) } })
    }

    fn table(&self, curves: &[Placed<'_>], axis: &Axis) -> Table {
        let mut head = vec!["percentile".to_owned()];
        let unit = if axis.scale.unit.is_empty() { String::new() } else { format!(" ({})", axis.scale.unit) };
        head.extend(curves.iter().map(|c| format!("{}{unit}", c.curve.name)));
        let mut table = Table { head, rows: Vec::new() };
        for share in [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let value =
                |c: &Placed<'_>| c.kept.iter().find(|p| p.1 >= share - 1e-12).map_or(f64::NAN, |p| p.0);
            let cells = curves.iter().map(|c| axis.scale.number(value(c)));
            table.push([percentile(share)].into_iter().chain(cells).collect());
        }
        table
    }
}

/// 0 at 1, 90 % at 10, 99 % at 100; the end is drawn at one in a million.
fn stretch(share: f64) -> f64 {
    1.0 / (1.0 - share).max(1e-6)
}

fn percentile(share: f64) -> String {
    if share > 0.99 && share < 1.0 {
        format!("{:.4}", share * 100.0).trim_end_matches('0').to_owned() + " %"
    } else {
        percent(share)
    }
}

/// Drops points closer than one pixel to the last one kept.
fn sparse(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let last = points.last().copied();
    for (x, y) in points {
        if out.last().is_none_or(|(a, b)| (x - a).hypot(y - b) >= 1.0) {
            out.push((x, y));
        }
    }
    if let Some(last) = last.filter(|p| out.last() != Some(p)) {
        out.push(last);
    }
    out
}

/// The point of a line at a height, by its nearest corner or between two.
fn crossing(line: &[(f64, f64)], y: f64) -> (f64, f64) {
    let between = line.windows(2).find(|w| (w[0].1 - y) * (w[1].1 - y) <= 0.0 && w[0].1 != w[1].1);
    match between {
        Some(w) => (w[0].0 + (w[1].0 - w[0].0) * (y - w[0].1) / (w[1].1 - w[0].1), y),
        None => line.first().copied().unwrap_or((0.0, y)),
    }
}

/// Does the line pass through the area? Long segments are sampled every 3 pixels.
fn crosses(line: &[(f64, f64)], area: Area) -> bool {
    line.windows(2).any(|w| {
        let ((x0, y0), (x1, y1)) = (w[0], w[1]);
        let steps = ((x1 - x0).hypot(y1 - y0) / 3.0).ceil().clamp(1.0, 400.0) as u32;
        (0..=steps).any(|i| {
            let t = f64::from(i) / f64::from(steps);
            area.has((x0 + (x1 - x0) * t, y0 + (y1 - y0) * t))
        })
    })
}

fn tail_names(curves: &[Placed<'_>], plane: &Plane) -> Option<Markup> {
    let named: Vec<&Placed<'_>> = curves.iter().filter(|c| !c.line.is_empty()).collect();
    let wanted: Vec<f64> = named.iter().filter_map(|c| c.line.last()).map(|p| p.1).collect();
    let places = spread(&wanted, 13.5, FONT * 0.8, plane.bottom())?;
    Some(html! {
        @for (curve, y) in named.iter().zip(places) { g class=(curve.class) {
            (cut_text("sl", (plane.right() + 8.0, y + FONT * 0.36), "start", &curve.curve.name, NAME_ROOM))
        } }
    })
}
