//! A flame graph: where the samples of a profile were, each box as wide as its share, callers below callees.
//!
//! Counts are samples. Boxes narrower than half a pixel are left out and said. No script: each box tells its name and
//! share as its title. What a frame means is not known here, only whether it is the kernel's.

use maud::{Markup, Render, html};
use model::format::{fixed, percent};

use super::{Caption, PlotFrame, Px, Size, Table, empty, svg, text_width};

#[derive(Clone, Debug, Default)]
pub struct Flame {
    pub caption: Caption,
    pub root: Frame,
}

/// One function in one place of the stacks, with everything that it called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub name: String,
    pub kernel: bool,
    /// Samples in it and in what it called.
    pub total: u64,
    /// By name.
    pub calls: Vec<Frame>,
}

const ROW: f64 = 16.0;
/// Levels that are drawn.
const DEEPEST: usize = 80;
/// Boxes narrower than this are left out.
const NARROWEST: f64 = 0.5;
/// Boxes that are drawn at most.
const MOST: usize = 4000;

struct Drawn<'a> {
    frame: &'a Frame,
    level: usize,
    x: f64,
    width: f64,
}

impl Flame {
    pub fn render(&self) -> Markup {
        if self.root.total == 0 {
            return empty(&self.caption, Size::Wide, Vec::new());
        }
        let width = Size::Wide.width();
        let (boxes, left_out) = self.boxes(width);
        let levels = boxes.iter().map(|one| one.level + 1).max().unwrap_or(1);
        let height = levels as f64 * ROW + 4.0;
        let drawing = html! { @for one in &boxes { (self.draw(one, height)) } };
        let notes = if left_out == 0 {
            Vec::new()
        } else {
            let share = percent((left_out as f64 / self.root.total as f64).min(1.0));
            vec![format!("calls too rare or too deep to draw have {share} of the samples at most")]
        };
        PlotFrame {
            caption: &self.caption,
            size: Size::Wide,
            drawing: svg(&self.caption, width, height, &drawing),
            key: vec![("s1".to_owned(), "user".to_owned()), ("s0".to_owned(), "kernel".to_owned())],
            notes,
            table: Table::default(),
        }
        .render()
    }

    /// The boxes level by level, and the samples of those that were left out below a box that was drawn.
    fn boxes(&self, width: f64) -> (Vec<Drawn<'_>>, u64) {
        let unit = width / self.root.total as f64;
        let mut out = vec![Drawn { frame: &self.root, level: 0, x: 0.0, width }];
        let mut left_out = 0_u64;
        let mut next = 0;
        while let Some(one) = out.get(next) {
            let (frame, level, mut x, end) = (one.frame, one.level + 1, one.x, one.x + one.width + 0.1);
            next += 1;
            for call in &frame.calls {
                let wide = call.total as f64 * unit;
                if wide >= NARROWEST && x + wide <= end && level < DEEPEST && out.len() < MOST {
                    out.push(Drawn { frame: call, level, x, width: wide });
                } else {
                    left_out = call.total.saturating_add(left_out);
                }
                x += wide;
            }
        }
        (out, left_out)
    }

    fn draw(&self, one: &Drawn<'_>, height: f64) -> Markup {
        let y = height - 2.0 - (one.level + 1) as f64 * ROW;
        let share = percent(one.frame.total as f64 / self.root.total as f64);
        let samples = fixed(one.frame.total as f64, 0);
        let class = match (one.level, one.frame.kernel) {
            (0, _) => "fl s7",
            (_, true) => "fl s0",
            (_, false) => "fl s1",
        };
        let text = short(&one.frame.name, one.width - 6.0);
        html! {
            g class=(class) {
                rect x=(Px(one.x)) y=(Px(y)) width=(Px((one.width - 0.5).max(0.2))) height=(Px(ROW - 1.0)) {
                    title { (one.frame.name) ": " (share) " (" (samples) " samples)" }
                }
                @if !text.is_empty() { text x=(Px(one.x + 3.0)) y=(Px(y + 11.5)) { (text) } }
            }
        }
    }
}

/// The name as far as it fits; nothing where hardly a letter would.
fn short(name: &str, room: f64) -> String {
    if room < 24.0 {
        return String::new();
    }
    if text_width(name) <= room { name.to_owned() } else { super::ellipsis(name, room) }
}
