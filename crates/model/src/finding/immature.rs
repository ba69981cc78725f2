//! `immature`: a value of a parameter, such as a language, falls behind on a machine.

use super::{Conclusion, Evidence, Validity};
use crate::format::{count, list, number, percent};

/// `over` by `under` on `machine`, and on the other one.
#[derive(Clone, Debug, PartialEq)]
pub struct Immature {
    /// The parameter, the value that falls behind, and the two values of the ratio.
    pub param: String,
    pub value: String,
    pub over: String,
    pub under: String,
    pub machine: String,
    pub other: String,
    /// Software is called immature; hardware falls behind.
    pub is_software: bool,
    /// The tools with their versions and flags on the machine and on the other one; without both, software is not
    /// called immature.
    pub tools: [Vec<String>; 2],
    /// The least and the largest ratio there and on the other machine, and of the ends of the ratios of ratios.
    pub ratio: Option<(f64, f64)>,
    pub elsewhere: Option<(f64, f64)>,
    pub apart: Option<(f64, f64)>,
    /// Relative.
    pub margin: f64,
    /// The figures that say so, of how many.
    pub figures: Vec<String>,
    pub of: usize,
}

impl Immature {
    /// `5 of 5 figures`, and which where they are few of many.
    fn figures(&self) -> String {
        let counted = format!("{} of {}", self.figures.len(), count(self.of, "figure"));
        match self.figures.len() == self.of {
            true => counted,
            false => format!("{counted} ({})", list(&self.figures)),
        }
    }
}

/// `3.60 to 8.90`
fn span(ends: Option<(f64, f64)>) -> String {
    let Some((low, high)) = ends else { return "unknown".to_owned() };
    let (low, high) = (number(low), number(high));
    if low == high { low } else { format!("{low} to {high}") }
}

impl Conclusion for Immature {
    fn kind(&self) -> &str {
        "immature"
    }

    fn state(&self) -> Validity {
        Validity::Ok
    }

    fn one(&self) -> String {
        let Immature { param, value, over, under, machine, other, tools: [here, there], .. } = self;
        let known = !here.is_empty() && !there.is_empty();
        let (lead, tail) = match (self.is_software, known) {
            (true, true) => (
                format!("this runtime is immature on this machine: {param}={value} on {machine}"),
                format!("; tools on {machine}: {}; on {other}: {}", list(here), list(there)),
            ),
            (true, false) => (
                format!("{over} / {under} differs by {} on {machine}", span(self.apart)),
                "; check versions and flags".to_owned(),
            ),
            (false, _) => {
                (format!("falls behind on this machine: {param}={value} on {machine}"), String::new())
            }
        };
        format!(
            "{lead}: {over} over {under} is {} there, {} on {other}; the ratio of ratios is {} with its whole interval \
             beyond the margin of {} in {}{tail}",
            span(self.ratio),
            span(self.elsewhere),
            span(self.apart),
            percent(self.margin),
            self.figures()
        )
    }

    fn evidence(&self) -> Evidence {
        let ends =
            [("ratio", self.ratio), ("ratio-elsewhere", self.elsewhere), ("ratio-of-ratios", self.apart)];
        let known = ends.into_iter().filter_map(|(name, ends)| Some((name, ends?)));
        let mut all: Evidence = known
            .flat_map(|(name, (low, high))| [(format!("{name}-low"), low), (format!("{name}-high"), high)])
            .collect();
        all.insert("figures".to_owned(), self.figures.len() as f64);
        all.insert("figures-of".to_owned(), self.of as f64);
        all
    }
}
