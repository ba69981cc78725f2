//! Raw takes of several series side by side, in time order, with box, median and interval.
//!
//! Values are in base units and come in the order they were taken, which runs from left to right inside
//! each column, so drift shows as a slope. Warm-up takes are hollow. The box spans the middle half of the
//! measured takes; the whisker is the interval given by the caller.

use maud::{Markup, Render, html};

use super::axes::{ABOVE, left_margin, y_grid};
use super::labels::Area;
use super::{
    Caption, Estimate, FONT, Left, PlotFrame, Px, Size, Table, empty, real, series_class, svg, thin, wrap,
};
use crate::scale::{Axis, AxisSpec};

#[derive(Clone, Debug)]
pub struct StripPlot {
    pub caption: Caption,
    pub y: AxisSpec,
    pub series: Vec<Strip>,
    pub size: Size,
}

#[derive(Clone, Debug, Default)]
pub struct Strip {
    pub name: String,
    pub takes: Vec<Take>,
    /// The median with its interval; `None` where there are too few takes.
    pub median: Option<Estimate>,
    /// Which colour; series of one machine share one.
    pub colour: usize,
    /// The name of each dot, where they are no takes of one thing; the caller has them in a table.
    pub members: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Take {
    pub value: f64,
    pub warm_up: bool,
}

/// A column is never narrower than this.
const COLUMN: f64 = 52.0;
const MOST_TAKES: usize = 300;
const HEIGHT: f64 = 270.0;
/// Below the axis, with two lines of each name.
const BELOW: f64 = 36.0;
const NAME_LINES: usize = 4;
const LINE: f64 = 13.0;

/// The quartiles of sorted values, by linear interpolation.
fn quartiles(sorted: &[f64]) -> Option<(f64, f64)> {
    if sorted.len() < 4 {
        return None;
    }
    let at = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let low = place.floor();
        let next = sorted.get(low as usize + 1).copied().unwrap_or(sorted[low as usize]);
        sorted[low as usize] + (next - sorted[low as usize]) * (place - low)
    };
    Some((at(0.25), at(0.75)))
}

impl StripPlot {
    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let drawn: Vec<Vec<Take>> = self
            .series
            .iter()
            .map(|s| s.takes.iter().copied().filter(|t| left.check(t.value, &self.y)).collect())
            .collect();
        let estimates = self.series.iter().filter_map(|s| s.median);
        let marks = estimates
            .flat_map(|e| [e.value].into_iter().chain(e.interval.into_iter().flat_map(|(a, b)| [a, b])));
        let values: Vec<f64> =
            drawn.iter().flatten().map(|t| t.value).chain(marks).filter(|v| self.y.takes(*v)).collect();
        if values.is_empty() {
            return empty(&self.caption, self.size, left.notes());
        }
        let columns = self.series.len() as f64;
        let axis = Axis::fit(&self.y, values.into_iter(), HEIGHT - BELOW, ABOVE, 6);
        let margin = left_margin(&axis);
        let width = self.size.width().max(margin + columns * COLUMN + 8.0).min(4000.0);
        let step = (width - margin - 8.0) / columns;
        let area = Area { x: margin, y: ABOVE, width: width - margin - 8.0, height: HEIGHT - BELOW - ABOVE };
        let names: Vec<Vec<String>> =
            self.series.iter().map(|strip| wrap(&strip.name, step - 6.0, NAME_LINES)).collect();
        let lines = names.iter().map(Vec::len).max().unwrap_or(0);
        let height = HEIGHT + LINE * real(lines.saturating_sub(2));
        let drawing = html! {
            (y_grid(&axis, area))
            path class="ax" d={ "M" (Px(area.x)) " " (Px(area.y)) "V" (Px(HEIGHT - BELOW)) "H" (Px(width - 8.0)) } {}
            @for (i, ((strip, takes), lines)) in self.series.iter().zip(&drawn).zip(&names).enumerate() {
                @let centre = margin + step * (real(i) + 0.5);
                g class=(series_class(strip.colour)) { (column(strip, takes, &axis, centre, step)) }
                (name(&strip.name, lines, centre))
            }
        };
        let size = if width > 620.0 { Size::Wide } else { self.size };
        PlotFrame {
            caption: &self.caption,
            size,
            drawing: svg(&self.caption, width, height, &drawing),
            key: Vec::new(),
            notes: left.notes(),
            table: self.table(&axis),
        }
        .render()
    }

    fn table(&self, axis: &Axis) -> Table {
        let mut table = Table::of(&["series", "take", &axis.title]);
        for strip in self.series.iter().filter(|strip| strip.members.is_empty()) {
            for (i, take) in strip.takes.iter().enumerate() {
                let phase = if take.warm_up { " warm-up" } else { "" };
                table.push(vec![
                    strip.name.clone(),
                    format!("{}{phase}", i + 1),
                    axis.scale.number(take.value),
                ]);
            }
        }
        table
    }
}

fn name(text: &str, lines: &[String], centre: f64) -> Markup {
    html! {
        @for (i, line) in lines.iter().enumerate() {
            text x=(Px(centre)) y=(Px(HEIGHT - BELOW + 15.0 + LINE * real(i))) text-anchor="middle" {
                (line)
                @if line.ends_with('…') { title { (text) } }
            }
        }
    }
}

fn column(strip: &Strip, takes: &[Take], axis: &Axis, centre: f64, step: f64) -> Markup {
    let half = (step * 0.36).min(42.0);
    let mut sorted: Vec<f64> = takes.iter().filter(|t| !t.warm_up).map(|t| t.value).collect();
    sorted.sort_by(f64::total_cmp);
    let shown = thin(takes.len(), MOST_TAKES);
    let x = |i: usize| {
        centre - half * 0.86
            + half * 1.72 * if takes.len() > 1 { i as f64 / (takes.len() - 1) as f64 } else { 0.5 }
    };
    html! {
        @if let Some((low, high)) = quartiles(&sorted) {
            rect class="box" x=(Px(centre - half)) width=(Px(half * 2.0)) y=(Px(axis.at(high))) height=(Px((axis.at(low) - axis.at(high)).max(0.5))) {}
        }
        @for i in shown {
            circle class=(if takes[i].warm_up { "hollow" } else { "dot" }) cx=(Px(x(i))) cy=(Px(axis.at(takes[i].value))) r="2.6" {
                title {
                    @match strip.members.get(i) {
                        Some(member) => { (member) }
                        None => { (strip.name) ", take " (i + 1) @if takes[i].warm_up { " (warm-up)" } }
                    }
                    ": " (axis.scale.with_unit(takes[i].value))
                }
            }
        }
        @if let Some(median) = strip.median.filter(|m| m.value.is_finite()) { (mark(strip, median, axis, centre, half)) }
    }
}

/// The median across the column, its interval at the right edge.
fn mark(strip: &Strip, median: Estimate, axis: &Axis, centre: f64, half: f64) -> Markup {
    let y = axis.at(median.value);
    let interval = median.interval.filter(|(a, b)| a.is_finite() && b.is_finite());
    let said = interval.map_or("no interval".to_owned(), |(a, b)| axis.scale.interval_text(a, b));
    let edge = centre + half + FONT * 0.36;
    html! {
        g {
            title { (strip.name) ", median " (axis.scale.with_unit(median.value)) " (" (said) ")" }
            path class="med" d={ "M" (Px(centre - half)) " " (Px(y)) "H" (Px(centre + half)) } {}
            @if let Some((a, b)) = interval {
                path class="wf" d={ "M" (Px(edge - 3.0)) " " (Px(axis.at(b))) "h6M" (Px(edge)) " " (Px(axis.at(b)))
                    "V" (Px(axis.at(a))) "M" (Px(edge - 3.0)) " " (Px(axis.at(a))) "h6" } {}
            }
        }
    }
}
