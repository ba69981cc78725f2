//! A tornado: what each input changes between its ends, the largest change first.
//!
//! Values are as they come; the line is where nothing is changed.

use maud::{Markup, html};
use model::format::Kind;

use super::forest::{frame, pc, upright};
use super::{Caption, Left};
use crate::scale::{Axis, AxisSpec};

#[derive(Clone, Debug)]
pub struct SwingPlot {
    pub caption: Caption,
    pub rows: Vec<SwingRow>,
    /// The label and the kind of the axis.
    pub axis: String,
    pub kind: Kind,
    /// Drawn as a line: 1 of ratios.
    pub line: Option<f64>,
    pub head: String,
}

#[derive(Clone, Debug)]
pub struct SwingRow {
    pub label: String,
    /// The values at the low and the high end of the input, and those ends.
    pub at: (f64, f64),
    pub ends: (String, String),
    /// Both ends in words.
    pub range: String,
    pub shown: String,
    /// The conclusion of the row, and true where it is another one than now.
    pub says: String,
    pub flips: bool,
}

impl SwingPlot {
    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let spec = AxisSpec::new(self.axis.clone(), self.kind);
        let rows: Vec<(&SwingRow, bool)> = self
            .rows
            .iter()
            .map(|row| (row, left.check(row.at.0, &spec) && left.check(row.at.1, &spec)))
            .collect();
        let values = rows.iter().filter(|(_, drawn)| *drawn).flat_map(|(row, _)| [row.at.0, row.at.1]);
        let axis = Axis::fit(&spec, values.chain(self.line), 4.0, 96.0, 4);
        let table = html! {
            table {
                thead { tr {
                    th scope="col" { span class="sr" { "input" } }
                    th scope="col" { span class="sr" { (self.axis) } }
                    th scope="col" { (self.head) }
                    th scope="col" { span class="sr" { "conclusion" } }
                } }
                tbody { @for (row, drawn) in &rows { (self.row(row, *drawn, &axis)) } }
                tfoot { tr { th {} td { (foot(&axis)) } td colspan="2" {} } }
            }
            p class="note" { (axis.title) "; hollow: at the low end of the input, full: at its high end" }
        };
        frame(&self.caption, (!self.rows.is_empty()).then_some(table), &left)
    }

    fn row(&self, row: &SwingRow, drawn: bool, axis: &Axis) -> Markup {
        let (low, high) = (axis.at(row.at.0), axis.at(row.at.1));
        let tip = format!(
            "{}: {} at {}, {} at {}",
            row.label,
            axis.text(row.at.0),
            row.ends.0,
            axis.text(row.at.1),
            row.ends.1
        );
        html! {
            tr {
                th scope="row" { (row.label) br; span class="mut" { (super::tied(&row.range)) } }
                td class="plot" {
                    svg role="img" aria-label=(tip) {
                        @for tick in &axis.major { (upright("g", axis.at(tick.value))) }
                        @if let Some(line) = self.line { (upright("one", axis.at(line))) }
                        @if drawn {
                            g class="s0" {
                                title { (tip) }
                                rect class="bd" x=(pc(low.min(high))) width=(pc((high - low).abs())) y="25%" height="50%" {}
                                line class="w" x1=(pc(low)) x2=(pc(high)) y1="50%" y2="50%" {}
                                circle class="hollow" cx=(pc(low)) cy="50%" r="3.7" {}
                                circle class="pt" cx=(pc(high)) cy="50%" r="3.7" {}
                            }
                        }
                    }
                }
                td class="n" { (row.shown) }
                td { span class=[row.flips.then_some("v v-invalid")] { (super::tied(&row.says)) } }
            }
        }
    }
}

fn foot(axis: &Axis) -> Markup {
    html! {
        svg width="100%" height="18" aria-hidden="true" {
            @for tick in &axis.major { text x=(pc(axis.at(tick.value))) y="13" text-anchor="middle" { (tick.label) } }
        }
    }
}
