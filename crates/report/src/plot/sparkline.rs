//! A line the size of a word: the course of one quantity, without axes.
//!
//! Values are in base units, evenly spaced in time. The lowest and highest are in its description, since
//! it shows no numbers itself.

use maud::{Markup, html};
use model::format::{Kind, Scale};

use super::{Px, line::by_pixel, path_of};

#[derive(Clone, Debug)]
pub struct Sparkline {
    pub name: String,
    pub kind: Kind,
    pub values: Vec<f64>,
}

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 22.0;

impl Sparkline {
    pub fn render(&self) -> Markup {
        let Some((low, high)) = crate::scale::extent(self.values.iter().copied()) else {
            return html! { span class="mut" { "no data" } };
        };
        let scale = Scale::common(&[low, high], self.kind);
        let said = format!(
            "{}: {}",
            self.name,
            if low == high { scale.with_unit(low) } else { scale.interval_text(low, high) }
        );
        let runs = self.runs(low, high);
        let last = runs.last().and_then(|run| run.last()).copied();
        html! {
            svg class="spark s0" role="img" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-label=(said) {
                title { (said) }
                @for run in runs.iter().filter(|run| run.len() > 1) { path class="ln" d=(path_of(&by_pixel(run))) {} }
                @if let Some((x, y)) = last { circle class="pt" cx=(Px(x)) cy=(Px(y)) r="2.2" {} }
            }
        }
    }

    /// Stretches without a gap, placed.
    fn runs(&self, low: f64, high: f64) -> Vec<Vec<(f64, f64)>> {
        let x = |i: usize| 3.0 + (WIDTH - 6.0) * i as f64 / self.values.len().saturating_sub(1).max(1) as f64;
        let share = |v: f64| if high > low { v / (high - low) - low / (high - low) } else { 0.5 };
        let y = |v: f64| 3.0 + (HEIGHT - 6.0) * (1.0 - share(v));
        let placed: Vec<Option<(f64, f64)>> =
            self.values.iter().enumerate().map(|(i, v)| v.is_finite().then(|| (x(i), y(*v)))).collect();
        placed
            .split(Option::is_none)
            .map(|run| run.iter().flatten().copied().collect())
            .filter(|run: &Vec<_>| !run.is_empty())
            .collect()
    }
}
