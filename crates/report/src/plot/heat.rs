//! A grid of coloured cells: core by core, node by hour.
//!
//! Values are in base units; colour runs linearly from the lowest to the highest, dark to bright, the
//! same in both themes. A cell without a value stays empty. Grids larger than 64 each way show the mean
//! of neighbouring cells and say so.

use maud::{Markup, Render, html};
use model::format::{Kind, Scale};

use super::{Caption, FONT, PlotFrame, Px, Size, Table, ellipsis, empty, real, svg, text_width, values};
use crate::scale::{Axis, AxisSpec, extent};

#[derive(Clone, Debug)]
pub struct Heat {
    pub caption: Caption,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Row by row; a value that is not finite leaves its cell empty.
    pub cells: Vec<Vec<f64>>,
    pub kind: Kind,
    pub row_title: String,
    pub column_title: String,
    pub size: Size,
}

const MOST: usize = 64;
/// More cells than this carry no text of their own.
const TIPS: usize = 700;
const LEVELS: usize = 32;
const RAMP: [[u8; 3]; 10] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x28, 0x78],
    [0x3e, 0x49, 0x89],
    [0x31, 0x68, 0x8e],
    [0x26, 0x82, 0x8e],
    [0x1f, 0x9e, 0x89],
    [0x35, 0xb7, 0x79],
    [0x6e, 0xce, 0x58],
    [0xb5, 0xde, 0x2b],
    [0xfd, 0xe7, 0x25],
];

/// The colour of a level between 0 and `LEVELS - 1`.
fn colour(level: usize) -> String {
    let place = real(level.min(LEVELS - 1)) / real(LEVELS - 1) * real(RAMP.len() - 1);
    let low = (place.floor() as usize).min(RAMP.len() - 2);
    let part = place - real(low);
    let mix = |i: usize| {
        (f64::from(RAMP[low][i]) * (1.0 - part) + f64::from(RAMP[low + 1][i]) * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Where the drawing's parts lie.
struct Layout {
    left: f64,
    top: f64,
    cell: (f64, f64),
    width: f64,
    height: f64,
}

impl Heat {
    pub fn render(&self) -> Markup {
        let missing = self.cells.iter().flatten().filter(|v| !v.is_finite()).count();
        let mut notes = Vec::new();
        if missing > 0 {
            notes.push(format!("{} missing: left empty", values(missing)));
        }
        let all = self.cells.iter().flatten().copied();
        let Some((low, high)) = extent(all.filter(|v| v.abs() < 1e200)) else {
            return empty(&self.caption, self.size, notes);
        };
        let by = self.rows.len().max(self.columns.len()).div_ceil(MOST).max(1);
        if by > 1 {
            notes.push(format!("each cell is the mean of {by} by {by}"));
        }
        let thinned = self.thinned(by);
        let layout = self.layout(by, &thinned);
        let (width, height) = (layout.width, layout.height);
        let scale = Scale::common(&[low, high], self.kind);
        let drawing = html! {
            (self.names(&layout, by))
            (paint(&thinned, &layout, (low, high), &scale))
            (self.ramp(&layout, (low, high)))
        };
        PlotFrame {
            caption: &self.caption,
            size: self.size,
            drawing: svg(&self.caption, width, height, &drawing),
            key: Vec::new(),
            notes,
            table: self.table(&scale),
        }
        .render()
    }

    /// Means of `by` times `by` cells, with their names.
    fn thinned(&self, by: usize) -> Vec<Vec<(f64, String)>> {
        let name = |names: &[String], i: usize| names.get(i * by).cloned().unwrap_or_default();
        let mean = |row: usize, column: usize| {
            let rows = self.cells.iter().skip(row * by).take(by);
            let found: Vec<f64> = rows
                .flat_map(|r| r.iter().skip(column * by).take(by))
                .copied()
                .filter(|v| v.is_finite())
                .collect();
            if found.is_empty() { f64::NAN } else { found.iter().map(|v| v / real(found.len())).sum() }
        };
        (0..self.rows.len().div_ceil(by))
            .map(|r| {
                let columns = 0..self.columns.len().div_ceil(by);
                columns
                    .map(|c| (mean(r, c), format!("{}, {}", name(&self.rows, r), name(&self.columns, c))))
                    .collect()
            })
            .collect()
    }

    fn layout(&self, by: usize, cells: &[Vec<(f64, String)>]) -> Layout {
        let names = self.rows.iter().step_by(by).map(|n| text_width(n)).fold(10.0, f64::max).min(110.0);
        let left = names + 10.0;
        let width = self.size.width();
        let (rows, columns) = (real(cells.len()).max(1.0), real(cells.first().map_or(1, Vec::len)).max(1.0));
        let inner = width - left - 78.0;
        let cell_width = inner / columns;
        let cell_height = (cell_width * 1.1).clamp(5.0, 26.0).min(420.0 / rows).max(3.0);
        let top = if self.row_title.is_empty() { 4.0 } else { 18.0 };
        Layout { left, top, cell: (cell_width, cell_height), width, height: top + rows * cell_height + 38.0 }
    }

    fn names(&self, layout: &Layout, by: usize) -> Markup {
        let Layout { left, top, cell: (width, height), .. } = *layout;
        let rows: Vec<&String> = self.rows.iter().step_by(by).collect();
        let columns: Vec<&String> = self.columns.iter().step_by(by).collect();
        let widest = columns.iter().map(|n| text_width(n)).fold(1.0, f64::max).min(90.0);
        let skip_rows = ((FONT * 1.2 / height).ceil() as usize).max(1);
        let skip_columns = (((widest + 6.0) / width).ceil() as usize).max(1);
        let bottom = top + height * real(rows.len());
        html! {
            @if !self.row_title.is_empty() { text class="t" x="2" y="10" { (ellipsis(&self.row_title, layout.width - 4.0)) } }
            @for (i, name) in rows.iter().enumerate().step_by(skip_rows) {
                text class="t" x=(Px(left - 5.0)) y=(Px(top + height * (real(i) + 0.5) + FONT * 0.36)) text-anchor="end" { (ellipsis(name, left - 10.0)) }
            }
            @for (i, name) in columns.iter().enumerate().step_by(skip_columns) {
                @let half = text_width(&ellipsis(name, 90.0)) / 2.0;
                text class="t" x=(Px((left + width * (real(i) + 0.5)).max(half))) y=(Px(bottom + 14.0)) text-anchor="middle" { (ellipsis(name, 90.0)) }
            }
            text class="t" x=(Px(left + width * real(columns.len()))) y=(Px(bottom + 30.0)) text-anchor="end" {
                (ellipsis(&self.column_title, width * real(columns.len())))
            }
        }
    }

    /// The colour bar with its numbers.
    fn ramp(&self, layout: &Layout, (low, high): (f64, f64)) -> Markup {
        let x = layout.width - 66.0;
        let (top, bottom) = (layout.top + 6.0, (layout.height - 38.0).max(layout.top + 40.0));
        let step = (bottom - top) / real(LEVELS);
        let most = ((bottom - top) / 22.0) as usize;
        let axis =
            Axis::fit(&AxisSpec::new("", self.kind), [low, high].into_iter(), bottom, top, most.clamp(2, 6));
        let at =
            |v: f64| if high > low { bottom - (v - low) / (high - low) * (bottom - top) } else { bottom };
        let unit = if axis.scale.unit.is_empty() { String::new() } else { format!(" {}", axis.scale.unit) };
        html! {
            @if high > low { @for level in 0..LEVELS {
                rect x=(Px(x)) y=(Px(bottom - step * real(level + 1))) width="9" height=(Px(step + 0.4)) fill=(colour(level)) {}
            } } @else { rect x=(Px(x)) y=(Px(bottom - 9.0)) width="9" height="9" fill=(colour(0)) {} }
            @if high > low { @for tick in axis.major.iter().filter(|t| t.value >= low && t.value <= high) {
                text class="t" x=(Px(x + 13.0)) y=(Px(at(tick.value) + FONT * 0.36)) { (ellipsis(&format!("{}{unit}", tick.label), 52.0)) }
            } } @else {
                text class="t" x=(Px(x + 13.0)) y=(Px(bottom)) { (ellipsis(&axis.scale.with_unit(low), 52.0)) }
            }
        }
    }

    fn table(&self, scale: &Scale) -> Table {
        let by = self.columns.len().div_ceil(24).max(1);
        let corner = if scale.unit.is_empty() { String::new() } else { format!("({})", scale.unit) };
        let head = [corner].into_iter().chain(self.columns.iter().step_by(by).cloned()).collect();
        let mut table = Table { head, rows: Vec::new() };
        for (name, cells) in self.rows.iter().zip(&self.cells) {
            let cells = cells.iter().step_by(by).map(|v| scale.number(*v));
            table.push([name.clone()].into_iter().chain(cells).collect());
        }
        table
    }
}

/// Few cells carry their text; many are one path a colour.
fn paint(cells: &[Vec<(f64, String)>], layout: &Layout, (low, high): (f64, f64), scale: &Scale) -> Markup {
    let Layout { left, top, cell: (width, height), .. } = *layout;
    let level =
        |v: f64| if high > low { ((v - low) / (high - low) * real(LEVELS - 1)).round() as usize } else { 0 };
    let gap = if width > 6.0 && height > 6.0 { 0.6 } else { 0.0 };
    let count: usize = cells.iter().map(Vec::len).sum();
    let placed = || {
        cells.iter().enumerate().flat_map(move |(r, row)| {
            let drawn = row.iter().enumerate().filter(|(_, (v, _))| v.is_finite() && v.abs() < 1e200);
            drawn.map(move |(c, (v, name))| (left + width * real(c), top + height * real(r), *v, name))
        })
    };
    if count <= TIPS {
        return html! { @for (x, y, v, name) in placed() {
            rect x=(Px(x)) y=(Px(y)) width=(Px(width - gap)) height=(Px(height - gap)) fill=(colour(level(v))) {
                title { (name) ": " (scale.with_unit(v)) }
            }
        } };
    }
    let mut paths = vec![String::new(); LEVELS];
    for (x, y, v, _) in placed() {
        let (w, h) = (Px(width - gap), Px(height - gap));
        paths[level(v).min(LEVELS - 1)].push_str(&format!("M{} {}h{w}v{h}h-{w}z", Px(x), Px(y)));
    }
    html! { @for (i, path) in paths.iter().enumerate().filter(|(_, p)| !p.is_empty()) { path fill=(colour(i)) d=(path) {} } }
}
