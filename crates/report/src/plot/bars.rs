//! Grouped bars from zero with intervals.
//!
//! Values are in base units on a linear axis that includes 0, since a bar's length is its value. A
//! missing value leaves its place empty.

use maud::{Markup, Render, html};

use super::axes::{ABOVE, left_margin, y_grid};
use super::labels::Area;
use super::{
    Caption, Estimate, Left, PlotFrame, Px, Size, Table, empty, real, series_class, svg, text_width, wrap,
};
use crate::scale::{Axis, AxisSpec, Form};

#[derive(Clone, Debug)]
pub struct Bars {
    pub caption: Caption,
    pub y: AxisSpec,
    /// One name a bar of each group; a single series needs none.
    pub series: Vec<String>,
    pub groups: Vec<BarGroup>,
    pub size: Size,
    /// How a value is written; none: as on the axis.
    pub text: Option<fn(f64) -> String>,
}

#[derive(Clone, Debug)]
pub struct BarGroup {
    pub name: String,
    /// In the order of `series`.
    pub values: Vec<Option<Estimate>>,
}

const HEIGHT: f64 = 270.0;
const BELOW: f64 = 36.0;

impl Bars {
    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let spec = AxisSpec { form: Form::Linear, zero: true, ..self.y.clone() };
        let mut values = Vec::new();
        for estimate in self.groups.iter().flat_map(|g| &g.values).flatten() {
            if left.check(estimate.value, &spec) {
                values.push(estimate.value);
                values.extend(estimate.interval.into_iter().flat_map(|(a, b)| [a, b]));
            }
        }
        if values.is_empty() {
            return empty(&self.caption, self.size, left.notes());
        }
        // Room for the number above the highest bar.
        let top = values.iter().copied().fold(0.0, f64::max);
        values.extend((self.series.len() < 2).then_some(top * 1.09).filter(|v| spec.takes(*v)));
        let axis = Axis::fit(&spec, values.into_iter(), HEIGHT - BELOW, ABOVE, 6);
        let bars = self.groups.iter().map(|g| g.values.len()).max().unwrap_or(1).max(1);
        let (bars, groups) = (bars as f64, self.groups.len() as f64);
        let margin = left_margin(&axis);
        let width = self.size.width().max(margin + groups * (bars * 9.0 + 8.0).max(46.0) + 8.0).min(4000.0);
        let area = Area { x: margin, y: ABOVE, width: width - margin - 8.0, height: HEIGHT - BELOW - ABOVE };
        let step = area.width / groups;
        let bar = (step * 0.72 / bars).min(46.0);
        let drawing = html! {
            (y_grid(&axis, area))
            @for (i, group) in self.groups.iter().enumerate() {
                @let centre = margin + step * (real(i) + 0.5);
                (self.group(group, &axis, centre - bar * bars / 2.0, bar))
                (name(&group.name, centre, step))
            }
            path class="ax" d={ "M" (Px(area.x)) " " (Px(axis.at(0.0))) "H" (Px(width - 8.0)) } {}
        };
        let key: Vec<(String, String)> =
            self.series.iter().enumerate().map(|(i, name)| (series_class(i), name.clone())).collect();
        PlotFrame {
            caption: &self.caption,
            size: if width > 620.0 { Size::Wide } else { self.size },
            drawing: svg(&self.caption, width, HEIGHT, &drawing),
            key: if key.len() > 1 { key } else { Vec::new() },
            notes: left.notes(),
            table: self.table(&axis),
        }
        .render()
    }

    fn group(&self, group: &BarGroup, axis: &Axis, start: f64, bar: f64) -> Markup {
        html! {
            @for (i, estimate) in group.values.iter().enumerate() {
                @if let Some(estimate) = estimate.filter(|e| e.value.is_finite() && e.value.abs() < 1e200) {
                    @let x = start + bar * real(i);
                    @let (top, base) = (axis.at(estimate.value.max(0.0)), axis.at(estimate.value.min(0.0)));
                    g class=(series_class(i)) {
                        title { (self.tip(group, i, estimate, axis)) }
                        rect class="br" x=(Px(x + 1.0)) width=(Px((bar - 2.0).max(1.0))) y=(Px(top)) height=(Px((base - top).max(0.5))) {}
                        (whisker(estimate, axis, x + bar / 2.0))
                        @if self.series.len() < 2 {
                            (value(estimate, &self.number(estimate.value, axis), axis, (x + bar / 2.0, bar)))
                        }
                    }
                }
            }
        }
    }

    fn number(&self, value: f64, axis: &Axis) -> String {
        self.text.map_or_else(|| axis.scale.number(value), |text| text(value))
    }

    fn tip(&self, group: &BarGroup, i: usize, estimate: Estimate, axis: &Axis) -> String {
        let series = self.series.get(i).map_or(String::new(), |s| format!(", {s}"));
        let interval = estimate
            .interval
            .map_or(String::new(), |(a, b)| format!(" ({})", axis.scale.interval_text(a, b)));
        let value =
            self.text.map_or_else(|| axis.scale.with_unit(estimate.value), |text| text(estimate.value));
        format!("{}{series}: {value}{interval}", group.name)
    }

    fn table(&self, axis: &Axis) -> Table {
        let mut table = Table::of(&["", "series", &axis.title, "95 % interval"]);
        for group in &self.groups {
            for (i, estimate) in group.values.iter().enumerate() {
                let series = self.series.get(i).cloned().unwrap_or_default();
                let value = estimate.map_or("-".to_owned(), |e| self.number(e.value, axis));
                let interval = estimate.and_then(|e| e.interval);
                let interval = interval.map_or("-".to_owned(), |(a, b)| axis.scale.interval_text(a, b));
                table.push(vec![group.name.clone(), series, value, interval]);
            }
        }
        table
    }
}

fn whisker(estimate: Estimate, axis: &Axis, x: f64) -> Markup {
    html! {
        @if let Some((a, b)) = estimate.interval.filter(|(a, b)| a.is_finite() && b.is_finite()) {
            path class="wf" d={ "M" (Px(x - 3.0)) " " (Px(axis.at(b))) "h6M" (Px(x)) " " (Px(axis.at(b)))
                "V" (Px(axis.at(a))) "M" (Px(x - 3.0)) " " (Px(axis.at(a))) "h6" } {}
        }
    }
}

/// The number above its bar, where it is no wider than the bar and its gap.
fn value(estimate: Estimate, text: &str, axis: &Axis, (x, bar): (f64, f64)) -> Markup {
    let end = estimate.interval.map_or(estimate.value, |(_, b)| b.max(estimate.value));
    let y = axis.at(end) - 5.0;
    html! { @if text_width(text) < bar * 1.35 && y > ABOVE && estimate.value >= 0.0 {
        text x=(Px(x)) y=(Px(y)) text-anchor="middle" { (text) }
    } }
}

fn name(text: &str, centre: f64, step: f64) -> Markup {
    let lines = wrap(text, step - 6.0, 2);
    html! {
        @for (line, y) in lines.iter().zip([HEIGHT - BELOW + 15.0, HEIGHT - BELOW + 28.0]) {
            text x=(Px(centre)) y=(Px(y)) text-anchor="middle" {
                (line)
                @if line.ends_with('…') { title { (text) } }
            }
        }
    }
}
