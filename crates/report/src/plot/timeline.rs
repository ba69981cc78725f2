//! Bars over time in lanes, by group: which container ran where, from when to when.
//!
//! Seconds from zero. A bar is cut into parts of several kinds, drawn in the colours of the key. Bars of a group that
//! meet in time stand in lanes below each other; of a group with more than [`MOST_LANES`] the rest is left out, and
//! their number is said.

use maud::{Markup, Render, html};
use model::format::Kind;
use model::unit::Unit;

use super::axes::cut_text;
use super::labels::levels;
use super::line::Marker;
use super::{Caption, FONT, PlotFrame, Px, Size, Table, empty, real, series_class, svg, text_width};
use crate::scale::{Axis, AxisSpec};

#[derive(Clone, Debug)]
pub struct Timeline {
    pub caption: Caption,
    /// Colours of the kinds, and their names.
    pub kinds: Vec<(usize, String)>,
    pub groups: Vec<Group>,
    /// Where the axis ends.
    pub end: f64,
    /// Upright lines; `upright` is not asked.
    pub markers: Vec<Marker>,
}

/// Bars that belong together: a node.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub name: String,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, Default)]
pub struct Bar {
    pub name: String,
    /// Colour of the kind, from, to; in order of time.
    pub parts: Vec<(usize, f64, f64)>,
}

impl Bar {
    fn ends(&self) -> Option<(f64, f64)> {
        Some((self.parts.first()?.1, self.parts.last()?.2))
    }
}

const LANE: f64 = 11.0;
const THICK: f64 = 8.0;
const GAP: f64 = 9.0;
const BELOW: f64 = 36.0;
/// Height of a row of labels of markers.
const LABEL: f64 = 14.0;
const NAME_ROOM: f64 = 150.0;
const MOST_LANES: usize = 24;

impl Timeline {
    pub fn render(&self) -> Markup {
        if self.groups.iter().all(|group| group.bars.is_empty()) || !self.end.is_finite() || self.end <= 0.0 {
            return empty(&self.caption, Size::Wide, Vec::new());
        }
        let width = Size::Wide.width();
        let names = self.groups.iter().map(|group| text_width(&group.name)).fold(20.0, f64::max);
        let left = names.min(NAME_ROOM) + 10.0;
        let spec = AxisSpec::new("time since the job was submitted", Kind::for_unit(Unit::Second))
            .from_zero()
            .tight();
        let axis = Axis::fit(&spec, [0.0, self.end].into_iter(), left, width - 16.0, 10);
        let labels = self.labels(&axis, width);
        let rows = labels.iter().map(|(_, _, level)| level + 1).max().unwrap_or(0);
        let top = 4.0 + real(rows) * LABEL;
        let mut y = top;
        let mut notes = Vec::new();
        let mut drawn = Vec::new();
        for group in &self.groups {
            let (lanes, left_out) = lanes(&group.bars);
            let many = lanes.iter().flatten().max().map_or(1, |most| most + 1);
            drawn.push(group_of(group, &lanes, (y, many), &axis));
            y += real(many) * LANE + GAP;
            if left_out > 0 {
                notes.push(format!("{left_out} more at once on {} are not drawn", group.name));
            }
        }
        let height = y + BELOW;
        let drawing = html! {
            (ticks(&axis, (top - 2.0, y)))
            @for group in &drawn { (group) }
            @for (marker, x, level) in &labels {
                @let above = top - 4.0 - real(*level) * LABEL;
                path class="mk" d={ "M" (Px(axis.at(marker.at))) " " (Px(above + 2.0)) "V" (Px(y)) } {}
                (cut_text("t halo", (*x, above), "middle", &marker.label, width / 2.0))
            }
        };
        PlotFrame {
            caption: &self.caption,
            size: Size::Wide,
            drawing: svg(&self.caption, width, height, &drawing),
            key: self.key(),
            notes,
            table: self.table(),
        }
        .render()
    }

    /// The markers on the axis, each with the middle of its label and the row that it stands in.
    fn labels(&self, axis: &Axis, width: f64) -> Vec<(&Marker, f64, usize)> {
        let on: Vec<&Marker> =
            self.markers.iter().filter(|one| one.at >= axis.low && one.at <= axis.high).collect();
        let half = |one: &Marker| text_width(&super::ellipsis(&one.label, width / 2.0)) / 2.0;
        let centre = |one: &Marker| axis.at(one.at).min(width - half(one) - 1.0).max(half(one) + 1.0);
        let spans: Vec<(f64, f64)> =
            on.iter().map(|one| (centre(one) - half(one), centre(one) + half(one))).collect();
        let levels = levels(&spans, 6.0);
        on.into_iter().zip(levels).map(|(one, level)| (one, centre(one), level)).collect()
    }

    /// The kinds that some bar has.
    fn key(&self) -> Vec<(String, String)> {
        let parts = || self.groups.iter().flat_map(|group| &group.bars).flat_map(|bar| &bar.parts);
        let is_drawn = |(colour, _): &&(usize, String)| parts().any(|(kind, ..)| kind == colour);
        let of = |(colour, name): &(usize, String)| (series_class(*colour), name.clone());
        self.kinds.iter().filter(is_drawn).map(of).collect()
    }

    fn table(&self) -> Table {
        let mut table = Table::of(&["", "container", "part", "from (s)", "to (s)"]);
        let number = |seconds: f64| model::format::fixed(seconds, 1);
        for group in &self.groups {
            for bar in &group.bars {
                for (kind, from, to) in &bar.parts {
                    let named = self.kinds.iter().find(|(colour, _)| colour == kind);
                    let kind = named.map(|(_, name)| name.clone()).unwrap_or_default();
                    table.push(vec![group.name.clone(), bar.name.clone(), kind, number(*from), number(*to)]);
                }
            }
        }
        table
    }
}

/// The lane of each bar, in the order of the bars: the first that is free; and how many have none.
fn lanes(bars: &[Bar]) -> (Vec<Option<usize>>, usize) {
    let mut order: Vec<usize> = (0..bars.len()).collect();
    let start = |bar: &Bar| bar.ends().map_or(f64::INFINITY, |ends| ends.0);
    order.sort_by(|a, b| start(&bars[*a]).total_cmp(&start(&bars[*b])));
    let mut free: Vec<f64> = Vec::new();
    let mut out = vec![None; bars.len()];
    let mut left_out = 0;
    for at in order {
        let Some((from, to)) = bars[at].ends() else { continue };
        let lane = free.iter().position(|end| *end <= from).unwrap_or(free.len());
        if lane >= MOST_LANES {
            left_out += 1;
            continue;
        }
        if lane == free.len() {
            free.push(to);
        } else {
            free[lane] = to;
        }
        out[at] = Some(lane);
    }
    (out, left_out)
}

fn group_of(group: &Group, lanes: &[Option<usize>], (y, many): (f64, usize), axis: &Axis) -> Markup {
    let height = real(many) * LANE;
    let width = |from: f64, to: f64| (axis.at(to) - axis.at(from)).max(0.6);
    html! {
        (cut_text("", (axis.from - 8.0, y + height / 2.0 + FONT * 0.36), "end", &group.name, NAME_ROOM))
        rect class="rest" x=(Px(axis.from)) y=(Px(y)) width=(Px(axis.to - axis.from)) height=(Px(height)) {}
        @for (bar, lane) in group.bars.iter().zip(lanes) { @if let Some(lane) = lane {
            @let at = y + real(*lane) * LANE + (LANE - THICK) / 2.0;
            @for (kind, from, to) in &bar.parts {
                g class=(series_class(*kind)) {
                    rect class="br" x=(Px(axis.at(*from))) y=(Px(at))
                        width=(Px(width(*from, *to))) height=(Px(THICK)) {
                        title { (bar.name) ": " (model::format::fixed(*from, 1)) " to " (model::format::fixed(*to, 1)) " s" }
                    }
                }
            }
        } }
    }
}

fn ticks(axis: &Axis, (top, bottom): (f64, f64)) -> Markup {
    html! {
        @for tick in &axis.major {
            @let x = axis.at(tick.value);
            path class="g" d={ "M" (Px(x)) " " (Px(top)) "V" (Px(bottom)) } {}
            text class="t" x=(Px(x)) y=(Px(bottom + 14.0)) text-anchor="middle" { (tick.label) }
        }
        text class="t" x=(Px(axis.to)) y=(Px(bottom + 31.0)) text-anchor="end" { (axis.title) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::check;

    fn bar(from: f64, to: f64) -> Bar {
        Bar { name: "map".to_owned(), parts: vec![(0, from, to)] }
    }

    #[test]
    fn bars_that_meet_stand_in_lanes() {
        let all = [bar(0.0, 4.0), bar(2.0, 6.0), bar(4.0, 5.0), Bar::default()];
        assert_eq!(lanes(&all), (vec![Some(0), Some(1), Some(0), None], 0));
        let many = vec![bar(0.0, 1.0); MOST_LANES + 3];
        assert_eq!(lanes(&many).1, 3);
    }

    #[test]
    fn a_timeline_is_drawn_with_its_marks() {
        let mark = |at: f64, label: &str| Marker { at, label: label.to_owned(), upright: true };
        let plot = Timeline {
            caption: Caption::new("Where tasks ran"),
            kinds: vec![(0, "map".to_owned()), (1, "reduce".to_owned())],
            groups: vec![
                Group { name: "w1".to_owned(), bars: vec![bar(1.0, 9.0), bar(2.0, 8.0)] },
                Group { name: "w2".to_owned(), bars: vec![bar(1.0, 20.0)] },
            ],
            end: 30.0,
            markers: vec![mark(9.0, "kill-node: w1"), mark(10.0, "found lost"), mark(99.0, "beyond")],
        };
        let text = plot.render().into_string();
        check::balanced(&text);
        check::finite(&text);
        check::inside(&text);
        assert!(text.contains("kill-node: w1") && !text.contains("beyond"), "{text}");
        // No bar is one.
        assert!(!text.contains("reduce"), "{text}");
        let none = Timeline { groups: Vec::new(), ..plot };
        assert!(none.render().into_string().contains("No data"));
    }
}
