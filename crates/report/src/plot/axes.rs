//! The frame of a plot: grid, ticks, axis titles.
//!
//! Lengths are SVG units; the y axis grows downwards in the drawing and upwards in value. Minor grid
//! lines exist on logarithmic axes only.

use maud::{Markup, Render, html};

use super::labels::Area;
use super::{FONT, Px, text_width};
use crate::scale::{Axis, AxisSpec};

/// The inside of a plot and its two axes.
pub struct Plane {
    pub area: Area,
    pub x: Axis,
    pub y: Axis,
    pub x_kind: model::format::Kind,
    /// Width of the drawing.
    pub width: f64,
}

/// Room around the inside.
#[derive(Clone, Copy)]
pub struct Margins {
    pub top: f64,
    pub right: f64,
}

/// The room below: tick labels and the axis title.
pub const BELOW: f64 = 40.0;
/// Height of the y axis's title, which stands above it.
pub const ABOVE: f64 = 22.0;

impl Plane {
    /// Fits both axes into a drawing of this size; the left margin follows the labels.
    pub fn fit(
        size: (f64, f64),
        margins: Margins,
        (x, xs): (&AxisSpec, &[f64]),
        (y, ys): (&AxisSpec, &[f64]),
    ) -> Plane {
        let (width, height) = size;
        let (top, bottom) = (margins.top, height - BELOW);
        let y_axis = Axis::fit(y, ys.iter().copied(), bottom, top, 6);
        let left = left_margin(&y_axis);
        let right = width - margins.right;
        let most = if width > 600.0 { 10 } else { 6 };
        let mut x_axis = Axis::fit(&x.clone().tight(), xs.iter().copied(), left, right, most);
        thin_labels(&mut x_axis);
        let area = Area { x: left, y: top, width: right - left, height: bottom - top };
        Plane { area, x: x_axis, y: y_axis, x_kind: x.kind, width }
    }

    pub fn bottom(&self) -> f64 {
        self.area.y + self.area.height
    }
    pub fn right(&self) -> f64 {
        self.area.x + self.area.width
    }

    /// Grid and labels, to be drawn first.
    pub fn frame(&self) -> Markup {
        let right = self.right();
        let under = text_width(&self.x.title).min(right).max(0.0);
        html! {
            (y_grid(&self.y, self.area))
            (x_grid(&self.x, self.area))
            @for tick in &self.x.major {
                text class="t" x=(Px(inside(self.x.at(tick.value), &tick.label, self.width))) y=(Px(self.bottom() + 15.0))
                    text-anchor="middle" { (tick.label) }
            }
            @if under > 0.0 {
                text class="t" x=(Px(right)) y=(Px(self.bottom() + 32.0)) text-anchor="end" { (super::ellipsis(&self.x.title, right)) }
            }
            path class="ax" d={ "M" (Px(self.area.x)) " " (Px(self.area.y)) "V" (Px(self.bottom())) "H" (Px(right)) } {}
        }
    }
}

/// Keeps a centred label inside the drawing.
fn inside(x: f64, label: &str, edge: f64) -> f64 {
    let half = text_width(label) / 2.0;
    x.min(edge - half).max(half)
}

/// Room for the tick labels of a y axis.
pub fn left_margin(axis: &Axis) -> f64 {
    axis.major.iter().map(|t| text_width(&t.label)).fold(14.0, f64::max) + 12.0
}

/// Drops every other label until none touch.
pub fn thin_labels(axis: &mut Axis) {
    while axis.major.len() > 2 {
        let touching = axis.major.windows(2).any(|w| {
            let room = (axis.at(w[1].value) - axis.at(w[0].value)).abs();
            (text_width(&w[0].label) + text_width(&w[1].label)) / 2.0 + 6.0 > room
        });
        if !touching {
            return;
        }
        let dropped: Vec<f64> = axis.major.iter().skip(1).step_by(2).map(|t| t.value).collect();
        axis.minor.extend(dropped);
        let mut keep = false;
        axis.major.retain(|_| {
            keep = !keep;
            keep
        });
    }
}

/// Horizontal lines, tick labels at the left and the title above.
pub fn y_grid(axis: &Axis, area: Area) -> Markup {
    let (left, right) = (area.x, area.x + area.width);
    let line = |v: f64| format!("M{} {}H{}", Px(left), Px(axis.at(v)), Px(right));
    let title_room = right - 4.0;
    html! {
        (grid("gm", axis.minor.iter().map(|v| line(*v))))
        (grid("g", axis.major.iter().map(|t| line(t.value))))
        @for tick in &axis.major {
            text class="t" x=(Px(left - 6.0)) y=(Px(axis.at(tick.value) + FONT * 0.36)) text-anchor="end" { (tick.label) }
        }
        @if !axis.title.is_empty() {
            text class="t" x="2" y="10" { (super::ellipsis(&axis.title, title_room)) }
        }
    }
}

fn x_grid(axis: &Axis, area: Area) -> Markup {
    let line = |v: f64| format!("M{} {}V{}", Px(axis.at(v)), Px(area.y), Px(area.y + area.height));
    html! {
        (grid("gm", axis.minor.iter().map(|v| line(*v))))
        (grid("g", axis.major.iter().map(|t| line(t.value))))
    }
}

/// All lines of one weight in one path.
fn grid(class: &str, lines: impl Iterator<Item = String>) -> Markup {
    let path: String = lines.collect();
    html! { @if !path.is_empty() { path class=(class) d=(path) {} } }
}

/// A text that says the whole when it had to be cut.
pub fn cut_text(class: &str, (x, y): (f64, f64), anchor: &str, text: &str, width: f64) -> Markup {
    let shown = super::ellipsis(text, width);
    html! {
        text class=(class) x=(Px(x)) y=(Px(y)) text-anchor=(anchor) {
            (shown)
            @if shown != text { title { (text) } }
        }
    }
    .render()
}
