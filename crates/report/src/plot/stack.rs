//! Stacked level bars: how each of several things divides a whole among parts.
//!
//! Values are shares of 1. What is left to 1 stays empty; parts that reach beyond it are cut at the edge and said in
//! the table. A part without a value is left out; one that no row has is not in the key.

use maud::{Markup, Render, html};
use model::format::{Kind, percent};

use super::axes::cut_text;
use super::{Caption, FONT, Left, PlotFrame, Px, Size, Table, empty, real, series_class, svg, text_width};
use crate::scale::{Axis, AxisSpec};

#[derive(Clone, Debug)]
pub struct Stack {
    pub caption: Caption,
    /// Names of the parts, in the order of `Row::parts`.
    pub parts: Vec<String>,
    pub rows: Vec<StackRow>,
    pub size: Size,
}

#[derive(Clone, Debug, Default)]
pub struct StackRow {
    pub name: String,
    /// Shares of 1, in the order of the names.
    pub parts: Vec<Option<f64>>,
}

const ROW: f64 = 22.0;
const BAR: f64 = 15.0;
const TOP: f64 = 8.0;
const BELOW: f64 = 22.0;
const NAME_ROOM: f64 = 170.0;
/// Rows that are drawn; the table has all.
const MOST: usize = 64;

impl Stack {
    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let spec = AxisSpec::new("", Kind::percent()).from_zero().tight();
        let kept: Vec<Vec<(usize, f64)>> = self.rows.iter().map(|row| kept(row, &spec, &mut left)).collect();
        let mut notes = left.notes();
        if kept.iter().all(Vec::is_empty) {
            return empty(&self.caption, self.size, notes);
        }
        if self.rows.len() > MOST {
            notes.push(format!("{} more are in the export", self.rows.len() - MOST));
        }
        let drawn = self.rows.len().min(MOST);
        let width = self.size.width();
        let margin =
            self.rows.iter().map(|row| text_width(&row.name)).fold(20.0, f64::max).min(NAME_ROOM) + 8.0;
        let height = TOP + real(drawn) * ROW + BELOW;
        let axis = Axis::fit(&spec, [0.0, 1.0].into_iter(), margin, width - 52.0, 5);
        let drawing = html! {
            (ticks(&axis, height))
            @for (i, (row, parts)) in self.rows.iter().zip(&kept).take(drawn).enumerate() {
                (self.row(row, parts, TOP + real(i) * ROW, &axis))
            }
        };
        let is_known = |i: &usize| self.rows.iter().any(|row| row.parts.get(*i).is_some_and(Option::is_some));
        let named = self.parts.iter().enumerate().filter(|(i, _)| is_known(i));
        let key = named.map(|(i, name)| (series_class(i), name.clone())).collect();
        PlotFrame {
            caption: &self.caption,
            size: self.size,
            drawing: svg(&self.caption, width, height, &drawing),
            key,
            notes,
            table: self.table(),
        }
        .render()
    }

    fn row(&self, row: &StackRow, parts: &[(usize, f64)], y: f64, axis: &Axis) -> Markup {
        let name = |part: usize| self.parts.get(part).map_or("", String::as_str);
        let mut from = 0.0;
        let bars: Vec<(usize, f64, f64, f64)> = parts
            .iter()
            .map(|(part, share)| {
                let start = from;
                from += share;
                (*part, *share, axis.at(start), axis.at(from))
            })
            .collect();
        html! {
            (cut_text("", (axis.from - 8.0, y + BAR / 2.0 + FONT * 0.36), "end", &row.name, axis.from - 7.9))
            rect class="rest" x=(Px(axis.from)) y=(Px(y)) width=(Px(axis.to - axis.from)) height=(Px(BAR)) {}
            @for (part, share, start, end) in &bars { @if end - start > 0.05 {
                g class=(series_class(*part)) {
                    rect class="br" x=(Px(*start)) y=(Px(y)) width=(Px(end - start)) height=(Px(BAR)) {
                        title { (row.name) ", " (name(*part)) ": " (percent(*share)) }
                    }
                }
            } }
            text class="t" x=(Px(axis.to + 5.0)) y=(Px(y + BAR / 2.0 + FONT * 0.36)) text-anchor="start" { (total(parts)) }
        }
    }

    fn table(&self) -> Table {
        let mut head = vec![String::new()];
        head.extend(self.parts.iter().cloned());
        let row = |row: &StackRow| {
            let cell = |part: usize| row.parts.get(part).copied().flatten().map_or("-".to_owned(), percent);
            let cells = (0..self.parts.len()).map(cell);
            [row.name.clone()].into_iter().chain(cells).collect()
        };
        Table { head, rows: self.rows.iter().map(row).collect() }
    }
}

/// The parts of a row that can be drawn.
fn kept(row: &StackRow, spec: &AxisSpec, left: &mut Left) -> Vec<(usize, f64)> {
    let known = row.parts.iter().enumerate().filter_map(|(part, share)| Some((part, (*share)?)));
    known.filter(|(_, share)| left.check(*share, spec) && *share >= 0.0).collect()
}

/// The sum of the parts.
fn total(parts: &[(usize, f64)]) -> String {
    let sum: f64 = parts.iter().map(|(_, share)| share).sum();
    if parts.is_empty() {
        return "-".to_owned();
    }
    // Parts are medians of their own: together they may miss the whole by a little.
    if sum > 1.05 { "> 100 %".to_owned() } else { format!("{} %", (sum * 100.0).round().min(100.0)) }
}

fn ticks(axis: &Axis, height: f64) -> Markup {
    let bottom = height - BELOW;
    html! { @for tick in &axis.major {
        @let x = axis.at(tick.value);
        path class="g" d={ "M" (Px(x)) " " (Px(TOP - 4.0)) "V" (Px(bottom)) } {}
        text class="t" x=(Px(x)) y=(Px(bottom + 14.0)) text-anchor="middle" { (tick.label) " %" }
    } }
}
