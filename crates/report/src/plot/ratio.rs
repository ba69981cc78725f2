//! Ratios with their intervals on one logarithmic axis, one row each: the forest plot.
//!
//! A row's `ratio` is oriented by the caller so that better lies to the right; `shown` is the text beside
//! it, which may be the plain ratio. The band is the margin inside which a difference does not matter. A
//! hollow mark is a point without samples; two that are joined are the ends of a printed range.

use maud::{Markup, html};
use model::format;
use model::unit::Unit;

use super::forest::{frame, pc, upright};
use super::{Caption, Estimate, Left, text_width, values};
use crate::scale::{Axis, AxisSpec};
use crate::theme::Verdict;

#[derive(Clone, Debug)]
pub struct RatioPlot {
    pub caption: Caption,
    pub rows: Vec<RatioRow>,
    /// 0.05 draws the band from 1/1.05 to 1.05.
    pub margin: f64,
    /// The label of the axis: `ratio to ref-epyc-2c`.
    pub axis: String,
    pub sides: Sides,
}

/// The words for a ratio below 1 and for one above 1.
#[derive(Clone, Debug)]
pub struct Sides {
    pub below: String,
    pub above: String,
}

impl Default for Sides {
    fn default() -> Sides {
        Sides { below: Verdict::Worse.word().to_owned(), above: Verdict::Better.word().to_owned() }
    }
}

impl Sides {
    fn word(&self, verdict: Verdict) -> &str {
        match verdict {
            Verdict::Better => &self.above,
            Verdict::Worse => &self.below,
            other => other.word(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct RatioRow {
    /// Rows that follow each other with the same group stand under one heading; empty for none.
    pub group: String,
    pub label: String,
    /// The tooltip of the row, besides its numbers.
    pub hint: String,
    /// Above 1 is better. The interval of a point is the range that was printed.
    pub ratio: Estimate,
    /// The text in the ratio column: the plain ratio, not turned round.
    pub shown: String,
    /// Its interval in words, turned like `shown`; empty for none.
    pub shown_interval: String,
    pub verdict: Verdict,
    /// Less of it is better, so that `ratio` is 1 / `shown`: marked `↓`.
    pub less_is_better: bool,
    /// A rule doubts one of its figures: marked `!`.
    pub doubtful: bool,
    /// False: a published point, drawn hollow.
    pub sampled: bool,
}

/// The domain ends this far, as a factor, from the outermost point; longer intervals end in an arrow.
const REACH: f64 = 3.0;

impl RatioPlot {
    pub fn render(&self) -> Markup {
        let mut left = Left::default();
        let spec = AxisSpec::new(self.axis.clone(), model::format::Kind::for_unit(Unit::Ratio)).log();
        let drawn: Vec<bool> = self
            .rows
            .iter()
            // A refused row says so itself.
            .map(|r| {
                (r.verdict != Verdict::Invalid || r.ratio.value.is_finite())
                    && left.check(r.ratio.value, &spec)
            })
            .collect();
        let axis = self.fit(&spec, &drawn);
        let margin = self.margin();
        let table = html! {
            table {
                thead { tr {
                    th scope="col" { span class="sr" { "metric" } }
                    th scope="col" { (self.head(&axis, margin)) }
                    th scope="col" { "ratio" }
                    th scope="col" class="iv" { "95 % interval" }
                    th scope="col" { span class="sr" { "verdict" } }
                } }
                tbody { @for (i, (row, drawn)) in self.rows.iter().zip(&drawn).enumerate() {
                    @if !row.group.is_empty() && (i == 0 || self.rows[i - 1].group != row.group) {
                        tr { th class="group" scope="rowgroup" colspan="5" { (row.group) } }
                    }
                    (self.row(row, *drawn, &axis, margin))
                } }
                tfoot { tr { th {} td { (foot(&axis)) } td colspan="3" class="axis" {} } }
            }
            p class="note" { (self.axis) ", logarithmic, " (self.sides.above) " to the right; band = margin of " (format::percent(margin))
                (self.turned())
                @if self.rows.iter().any(|r| !r.sampled) { "; hollow = a point without samples" }
                @if self.rows.iter().any(|r| r.doubtful) { "; ! = doubtful, see Trust" } }
        };
        frame(&self.caption, (!self.rows.is_empty()).then_some(table), &left)
    }

    /// How rows are drawn of which less is better.
    fn turned(&self) -> &'static str {
        let is_turned = |row: &&RatioRow| row.less_is_better;
        match self.rows.iter().filter(is_turned).count() {
            0 => "",
            all if all == self.rows.len() => "; less is better (↓), so 1 / ratio is drawn",
            _ => "; ↓ = less is better, so 1 / ratio is drawn",
        }
    }

    fn head(&self, axis: &Axis, margin: f64) -> Markup {
        let (low, high) = (axis.at(1.0 / (1.0 + margin)), axis.at(1.0 + margin));
        let (below, above) = (format!(" {}", self.sides.below), format!("{} ", self.sides.above));
        let (of_below, of_above) = (level_of(&below, low - 1.0), level_of(&above, 99.0 - high));
        // One word without the other one looks like a mistake.
        let (of_below, of_above) = match (low > 18.0, high < 82.0) {
            (true, true) => {
                let both = of_below.zip(of_above).map(|(one, other)| one.max(other));
                (both, both)
            }
            _ => (of_below, of_above),
        };
        html! {
            div class="ticks" { svg width="100%" height="18" aria-hidden="true" {
                text x=(pc(low - 1.0)) y="13" text-anchor="end" {
                    @if low > 18.0 { "←" @if let Some(w) = of_below { tspan class={ "side w" (w) } { (below) } } }
                }
                text x=(pc(high + 1.0)) y="13" {
                    @if high < 82.0 { @if let Some(w) = of_above { tspan class={ "side w" (w) } { (above) } } "→" }
                }
            } }
        }
    }

    fn margin(&self) -> f64 {
        if self.margin.is_finite() { self.margin.clamp(0.0, 10.0) } else { 0.0 }
    }

    fn fit(&self, spec: &AxisSpec, drawn: &[bool]) -> Axis {
        let rows = || self.rows.iter().zip(drawn).filter(|(_, drawn)| **drawn).map(|(row, _)| row.ratio);
        let band = [1.0 / (1.0 + self.margin()), 1.0 + self.margin()];
        let points: Vec<f64> = rows().map(|r| r.value).chain(band).collect();
        let (low, high) = crate::scale::extent(points.iter().copied()).unwrap_or((0.8, 1.25));
        let ends = rows().filter_map(|r| r.interval).flat_map(|(a, b)| [a, b]);
        let ends = ends.filter(|v| spec.takes(*v)).map(|v| v.clamp(low / REACH, high * REACH));
        let ends: Vec<f64> = ends.chain(points).chain([0.87, 1.15]).collect();
        Axis::fit(spec, ends.into_iter(), 7.0, 93.0, 4)
    }

    fn row(&self, row: &RatioRow, drawn: bool, axis: &Axis, margin: f64) -> Markup {
        let said = if row.shown_interval.is_empty() { "-" } else { &row.shown_interval };
        let interval = if row.shown_interval.is_empty() { "no interval" } else { &row.shown_interval };
        let tip = format!("{}: {} ({interval}), {}", row.label, row.shown, self.sides.word(row.verdict));
        let tip = if row.less_is_better { format!("{tip}; less is better") } else { tip };
        let tip = if row.hint.is_empty() { tip } else { format!("{tip}; {}", row.hint) };
        html! {
            tr class=(row.verdict.class()) title=[(!row.hint.is_empty()).then_some(&row.hint)] {
                th scope="row" {
                    (row.label)
                    @if row.less_is_better { "\u{a0}" span class="mut" title="less is better" { "↓" } }
                }
                td class="plot" {
                    svg role="img" aria-label=(tip) {
                        (ground(axis, margin))
                        @if drawn { (mark(row, axis, &tip)) }
                    }
                }
                // Narrow screens have no column for the interval and show it below the ratio.
                td class="n" data-iv=(said) { (row.shown) }
                td class="n iv" { (said) }
                td {
                    (row.verdict.badge_as(self.sides.word(row.verdict)))
                    @if row.doubtful { " " span class="t-doubt" { b class="mark" { "!" } } }
                }
            }
        }
    }
}

/// Band, grid and the line at 1.
fn ground(axis: &Axis, margin: f64) -> Markup {
    let (low, high) = (axis.at(1.0 / (1.0 + margin)), axis.at(1.0 + margin));
    html! {
        rect class="band" x=(pc(low)) width=(pc(high - low)) height="100%" {}
        @for tick in &axis.major { (upright("g", axis.at(tick.value))) }
        (upright("one", axis.at(1.0)))
    }
}

fn mark(row: &RatioRow, axis: &Axis, tip: &str) -> Markup {
    let at = axis.at(row.ratio.value);
    html! {
        g class="m" {
            title { (tip) }
            @let interval = row.ratio.interval.filter(|(a, b)| !a.is_nan() && !b.is_nan());
            @if let (Some((a, b)), true) = (interval, row.sampled) {
                line class="w" x1=(pc(axis.at(a))) x2=(pc(axis.at(b))) y1="50%" y2="50%" {}
                (end(axis.at(a), a < axis.low, -1.0))
                (end(axis.at(b), b > axis.high, 1.0))
            }
            @if row.sampled { circle class="pt" cx=(pc(at)) cy="50%" r="3.7" {} }
            @else if let Some((a, b)) = interval {
                line class="w ds" x1=(pc(axis.at(a))) x2=(pc(axis.at(b))) y1="50%" y2="50%" {}
                @for end in [a, b] { circle class="hollow" cx=(pc(axis.at(end))) cy="50%" r="3.7" {} }
            }
            @else { circle class="hollow" cx=(pc(at)) cy="50%" r="3.7" {} }
        }
    }
}

/// The end of an interval: a bar, or an arrow where it runs out of the axis.
fn end(at: f64, beyond: bool, way: f64) -> Markup {
    html! {
        svg x=(pc(at)) y="50%" overflow="visible" {
            @if beyond { path class="pt" d={ "M" (6.0 * way) " 0L" (-2.0 * way) " -4V4Z" } {} }
            @else { path class="w" d="M0 -4V4" {} }
        }
    }
}

/// Widths of the column of drawings in px: the least that it has on any screen, and those from which on there is room
/// for more labels. `page.css` hides a label of the class `wN` below the N-th of them.
const WIDTHS: [f64; 4] = [80.0, 140.0, 220.0, 320.0];

/// The place in `WIDTHS` of the least width of which so many per cent hold a word and its arrow; `None` where there is
/// none.
fn level_of(word: &str, room: f64) -> Option<usize> {
    let needed = text_width(&format!("{word}→"));
    WIDTHS.iter().position(|width| room / 100.0 * width >= needed)
}

/// The labels of the axis, in a box that knows its width.
fn foot(axis: &Axis) -> Markup {
    let ticks = axis.major.iter().zip(levels(axis));
    html! {
        div class="ticks" { svg width="100%" height="18" aria-hidden="true" {
            @for (tick, level) in ticks { @if let Some(level) = level {
                text class={ "w" (level) } x=(pc(axis.at(tick.value))) y="13" text-anchor="middle" { (tick.label) }
            } }
        } }
    }
}

/// The place in `WIDTHS` of the least width at which each label touches no other one and no edge: 1 comes first, then
/// the ends.
fn levels(axis: &Axis) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..axis.major.len()).collect();
    let far = |at: &usize| axis.major[*at].value.ln().abs();
    order.sort_by(|a, b| {
        let (a, b) = (far(a), far(b));
        (b < 1e-9).cmp(&(a < 1e-9)).then(b.total_cmp(&a))
    });
    let mut levels = vec![None; axis.major.len()];
    for (level, width) in WIDTHS.into_iter().enumerate() {
        let span = |at: usize| {
            let tick = &axis.major[at];
            let (centre, half) = (axis.at(tick.value) / 100.0 * width, text_width(&tick.label) / 2.0);
            (centre - half, centre + half)
        };
        for at in order.iter().copied() {
            let (left, right) = span(at);
            let is_free = |other: usize| {
                let (from, to) = span(other);
                right + GAP <= from || to + GAP <= left
            };
            let mut shown = (0..levels.len()).filter(|other| levels[*other].is_some());
            if levels[at].is_none() && left >= 0.0 && right <= width && shown.all(is_free) {
                levels[at] = Some(level);
            }
        }
    }
    levels
}

/// Between two labels.
const GAP: f64 = 4.0;

/// How many rows carry each verdict, in words: `7 better, 1 worse, 1 cannot tell`.
pub fn tally(verdicts: &[Verdict]) -> String {
    let counts = Verdict::ALL.iter().map(|v| (verdicts.iter().filter(|x| *x == v).count(), v.word()));
    let words: Vec<String> = counts.filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if words.is_empty() { values(0) } else { words.join(" · ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_named_where_its_word_fits() {
        assert_eq!((level_of("worse ", 60.0), level_of("worse ", 30.0)), (Some(1), Some(2)));
        assert_eq!((level_of("", 50.0), level_of("worse ", 5.0)), (Some(0), None));
        for (level, width) in WIDTHS.into_iter().enumerate() {
            for room in 1..100 {
                let is_shown = level_of("better ", f64::from(room)).is_some_and(|least| least <= level);
                assert!(
                    !is_shown || f64::from(room) / 100.0 * width >= text_width("better →"),
                    "{room} {width}"
                );
            }
        }
    }

    #[test]
    fn labels_are_apart_at_every_width_and_more_of_them_where_there_is_room() {
        for ends in [[0.4, 1.2], [0.5, 2.0], [0.02, 1.15], [0.87, 1.15], [0.9, 40.0]] {
            let kind = model::format::Kind::for_unit(Unit::Ratio);
            let axis = Axis::fit(&AxisSpec::new("", kind).log(), ends.into_iter(), 7.0, 93.0, 4);
            let levels = levels(&axis);
            let mut before = 0;
            for (level, width) in WIDTHS.into_iter().enumerate() {
                let is_shown = |at: &usize| levels[*at].is_some_and(|least| least <= level);
                let shown: Vec<usize> = (0..levels.len()).filter(is_shown).collect();
                let centre = |at: usize| axis.at(axis.major[at].value) / 100.0 * width;
                let half = |at: usize| text_width(&axis.major[at].label) / 2.0;
                for pair in shown.windows(2) {
                    let room = centre(pair[1]) - centre(pair[0]);
                    assert!(room >= half(pair[0]) + half(pair[1]), "{ends:?} {width} {levels:?}");
                }
                assert!(!shown.is_empty() && shown.len() >= before, "{ends:?} {width} {levels:?}");
                before = shown.len();
            }
        }
        let kind = model::format::Kind::for_unit(Unit::Ratio);
        let axis = Axis::fit(&AxisSpec::new("", kind).log(), [0.4, 1.25].into_iter(), 7.0, 93.0, 4);
        let one = axis.major.iter().position(|tick| tick.label == "1");
        assert_eq!(one.and_then(|at| levels(&axis)[at]), Some(0), "1 is shown at every width");
    }
}
