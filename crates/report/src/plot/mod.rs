//! Figures as inline SVG: plain data in, markup out.
//!
//! Lengths are SVG user units (1 unit = 1 CSS pixel at full size), coordinates carry one decimal, colours
//! are classes that `theme` defines for light, dark and print. A figure never draws a value that is not
//! finite; it says how many it left out. Nothing here computes a statistic: intervals and medians come
//! from the caller.

mod axes;
pub mod bars;
pub mod ecdf;
pub mod flame;
mod forest;
pub mod heat;
mod labels;
pub mod line;
pub mod ratio;
pub mod sparkline;
pub mod stack;
pub mod strip;
pub mod swing;
pub mod timeline;

use maud::{Markup, Render, html};

pub use bars::Bars;
pub use ecdf::Ecdf;
pub use flame::Flame;
pub use heat::Heat;
pub use line::LinePlot;
pub use ratio::RatioPlot;
pub use sparkline::Sparkline;
pub use stack::Stack;
pub use strip::StripPlot;
pub use swing::SwingPlot;
pub use timeline::Timeline;

/// The text around a figure. The title is a sentence that says the finding.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    pub title: String,
    /// One line below: what is shown, how many takes, what the marks mean.
    pub subtitle: String,
    /// For those who cannot see it; the title is repeated when empty.
    pub description: String,
}

impl Caption {
    pub fn new(title: impl Into<String>) -> Caption {
        Caption { title: title.into(), ..Caption::default() }
    }
    #[must_use]
    pub fn subtitle(self, subtitle: impl Into<String>) -> Caption {
        Caption { subtitle: subtitle.into(), ..self }
    }
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Caption {
        Caption { description: description.into(), ..self }
    }
}

/// A value with its 95 % interval, in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// How much room a figure takes in the page's grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// One cell; three stand side by side on a wide screen.
    #[default]
    Cell,
    /// Half a page: eight named columns.
    Half,
    /// A whole row; scrolls sideways on a phone.
    Wide,
}

impl Size {
    const fn width(self) -> f64 {
        match self {
            Size::Cell => 440.0,
            Size::Half => 560.0,
            Size::Wide => 1200.0,
        }
    }
}

/// Colours repeat after these eight; figures with more series fade the rest to grey.
pub const COLOURS: usize = 8;

fn series_class(index: usize) -> String {
    format!("s{}", index % COLOURS)
}

/// A coordinate with one decimal and no trailing zero; never anything but a number.
#[derive(Clone, Copy)]
struct Px(f64);

impl Render for Px {
    fn render_to(&self, out: &mut String) {
        let tenths = if self.0.is_finite() { (self.0.clamp(-1e6, 1e6) * 10.0).round() / 10.0 } else { 0.0 };
        let tenths = if tenths == 0.0 { 0.0 } else { tenths };
        out.push_str(&tenths.to_string());
    }
}

impl std::fmt::Display for Px {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.render_to(&mut text);
        out.write_str(&text)
    }
}

/// `M x y L x y ...`; absolute, one decimal.
fn path_of(points: &[(f64, f64)]) -> String {
    let mut out = String::with_capacity(points.len() * 10);
    for (i, (x, y)) in points.iter().enumerate() {
        out.push_str(match i {
            0 => "M",
            1 => "L",
            _ => " ",
        });
        Px(*x).render_to(&mut out);
        out.push(' ');
        Px(*y).render_to(&mut out);
    }
    out
}

/// Size of the small text in figures.
const FONT: f64 = 11.0;

/// An upper estimate of a text's width at size `FONT`, for fonts as wide as DejaVu Sans.
fn text_width(text: &str) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | 'I' => 0.36,
            'f' | 't' | 'r' | '(' | ')' | '-' | '/' | '"' | '[' | ']' => 0.44,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
            'A'..='Z' => 0.76,
            '+' | '=' | '<' | '>' | '±' | '×' | '~' => 0.84,
            c if c.is_ascii() => 0.65,
            c if (c as u32) < 0x2e80 => 0.75,
            _ => 1.05,
        })
        .sum();
    em * FONT
}

/// The text cut to a width with an ellipsis; whole when it fits.
fn ellipsis(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut room = width - FONT;
    for c in text.chars() {
        room -= text_width(c.encode_utf8(&mut [0; 4]));
        if room < 0.0 {
            break;
        }
        out.push(c);
    }
    format!("{}…", out.trim_end())
}

/// At most so many lines of a given width; what does not fit is cut from the last one.
fn wrap(text: &str, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text;
    while lines.len() + 1 < most
        && text_width(rest) > width
        && let Some(at) = line_break(rest, width)
    {
        lines.push(rest[..at].trim_end().to_owned());
        rest = rest[at..].trim_start();
    }
    lines.push(if text_width(rest) <= width { rest.to_owned() } else { ellipsis(rest, width) });
    lines
}

/// Where a line of a given width may end: behind a space or a hyphen, else before a dot, a number or a capital in a word.
fn line_break(text: &str, width: f64) -> Option<usize> {
    let breaks = text.char_indices().filter(|(_, c)| matches!(c, ' ' | '-' | '/' | '_' | ','));
    let fits = |at: &usize| text_width(text[..*at].trim_end()) <= width;
    let is_inside = |pair: &[u8]| {
        pair[1] == b'.'
            || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
            || pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
    };
    let pairs = text.as_bytes().windows(2).enumerate().filter(|(_, pair)| is_inside(pair));
    let inside = || pairs.map(|(before, _)| before + 1).rfind(fits);
    breaks.map(|(at, c)| at + c.len_utf8()).rfind(fits).or_else(inside).filter(|at| *at < text.len())
}

/// Values that a figure could not draw, by reason.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    not_finite: usize,
    not_positive: usize,
}

impl Left {
    /// Counts the value if the axes do not take it, and says whether they do.
    fn check(&mut self, value: f64, spec: &crate::scale::AxisSpec) -> bool {
        let takes = spec.takes(value);
        if !takes {
            let not_positive = value.is_finite() && value <= 0.0;
            self.not_positive += usize::from(not_positive);
            self.not_finite += usize::from(!not_positive);
        }
        takes
    }

    fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.not_finite > 0 {
            notes.push(format!("{} not drawn: unknown, or beyond every number", values(self.not_finite)));
        }
        if self.not_positive > 0 {
            notes.push(format!("{} not drawn: 0 or less on a logarithmic axis", values(self.not_positive)));
        }
        notes
    }
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

/// The numbers under a figure.
#[derive(Clone, Debug, Default)]
struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Tables longer than this show evenly spread rows; the export has all of them.
const TABLE_ROWS: usize = 100;

impl Table {
    fn of(head: &[&str]) -> Table {
        Table { head: head.iter().map(|h| (*h).to_owned()).collect(), rows: Vec::new() }
    }
    fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn render(&self) -> Markup {
        if self.rows.is_empty() {
            return html! {};
        }
        let every = self.rows.len().div_ceil(TABLE_ROWS);
        html! {
            details class="data" {
                summary { "Data" @if every > 1 { ", 1 of every " (every) " rows" } }
                div class="scroll" { table {
                    thead { tr { @for head in &self.head { th scope="col" { (head) } } } }
                    tbody { @for row in self.rows.iter().step_by(every) { tr {
                        @for (i, cell) in row.iter().enumerate() {
                            @if i == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        }
                    } } }
                } }
            }
        }
    }
}

/// Everything around a figure's drawing.
struct PlotFrame<'a> {
    caption: &'a Caption,
    size: Size,
    drawing: Markup,
    /// Names with their class, where direct labels do not fit.
    key: Vec<(String, String)>,
    notes: Vec<String>,
    table: Table,
}

impl Render for PlotFrame<'_> {
    fn render(&self) -> Markup {
        let PlotFrame { caption, size, drawing, key, notes, table } = self;
        html! {
            figure class=[(*size == Size::Wide).then_some("wide")] {
                figcaption {
                    @if !caption.title.is_empty() { strong { (tied(&caption.title)) } }
                    @if !caption.subtitle.is_empty() { span { (caption.subtitle) } }
                }
                @if !key.is_empty() {
                    div class="key" { @for (class, name) in key { span class=(class) { i {} (name) } } }
                }
                (drawing)
                @for note in notes { p class="note" { (note) } }
                (table.render())
            }
        }
    }
}

/// The `svg` element: scales with its column, never far above its natural size.
fn svg(caption: &Caption, width: f64, height: f64, body: &Markup) -> Markup {
    let description = if caption.description.is_empty() { &caption.subtitle } else { &caption.description };
    html! {
        div class="scroll" {
            svg class=[(width > 620.0).then_some("big")] style={ "max-width:" (Px((width * 1.3).round())) "px" } role="img" viewBox={ "0 0 " (Px(width)) " " (Px(height)) }
                aria-label=(caption.title) {
                desc { (caption.title) @if !description.is_empty() { ". " (description) } }
                (body)
            }
        }
    }
}

/// The placeholder of a figure without data.
fn empty(caption: &Caption, size: Size, notes: Vec<String>) -> Markup {
    let drawing = html! { p class="nothing" { "No data" } };
    PlotFrame { caption, size, drawing, key: Vec::new(), notes, table: Table::default() }.render()
}

/// At most one value a slot: indices of an evenly thinned sequence, first and last kept.
fn thin(count: usize, most: usize) -> Vec<usize> {
    if count <= most || most < 2 {
        return (0..count).collect();
    }
    (0..most).map(|i| i * (count - 1) / (most - 1)).collect()
}

/// Keeps a number and its `%` on one line.
pub(crate) fn tied(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

/// A count or index as a real number.
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
pub mod check;
#[cfg(test)]
mod tests;
