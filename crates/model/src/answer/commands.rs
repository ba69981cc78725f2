//! Commands of the user's beside each other, by their time, in one sentence.

use super::AnsweredDoc;
use crate::doc::VerdictWord;
use crate::format::{self, count, fixed};
use crate::unit::Unit;

/// A command beside the first one. Ratios are of times: command / first.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    pub name: String,
    pub base: String,
    pub ratio: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: VerdictWord,
    /// They differ, whatever the size.
    pub is_apart: bool,
    /// The difference that nobody would act on.
    pub margin: f64,
}

/// Others than the first that are each told; of more, the fastest and the slowest.
const MOST: usize = 3;
/// From so much on a ratio is said as times.
const TIMES: f64 = 2.0;

/// `3.1 %`: digits for what is told from a margin of 2 %.
fn share(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    format!("{} %", fixed(percent.abs(), usize::from(percent.abs() < 100.0)))
}

/// `2.6 to 3.6 %`, from the smaller to the larger; with signs where it holds both.
fn ends(low: f64, high: f64) -> String {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let (low, high) = (percent(low), percent(high));
    let text = |value: f64| fixed(value, usize::from(value.abs() < 100.0));
    match high < 0.0 {
        true => format!("{} to {} %", text(-high), text(-low)),
        false => format!("{} to {} %", text(low), text(high)),
    }
}

impl Timed {
    fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high).filter(|(low, high)| *low > 0.0 && format::tells(*low, *high))
    }

    /// `3.1 % slower than `a` (2.6 to 3.6 %)`.
    fn size(&self) -> String {
        let Timed { ratio, base, .. } = self;
        let behind = |ends: Option<String>| ends.map_or_else(String::new, |ends| format!(" ({ends})"));
        let percents = behind(self.interval().map(|(low, high)| ends(low, high)));
        match *ratio {
            ratio if ratio >= TIMES => {
                let ends = behind(self.interval().map(|(low, high)| format::ratio_interval(low, high)));
                format!("takes {} times as long as `{base}`{ends}", format::ratio(ratio))
            }
            ratio if ratio <= 1.0 / TIMES => {
                let ends = self.interval().map(|(low, high)| format::ratio_interval(1.0 / high, 1.0 / low));
                format!("is {} times as fast as `{base}`{}", format::ratio(1.0 / ratio), behind(ends))
            }
            ratio if ratio >= 1.0 => format!("is {} slower than `{base}`{percents}", share(ratio)),
            ratio => format!("is {} faster than `{base}`{percents}", share(ratio)),
        }
    }

    fn sentence(&self) -> String {
        let Timed { name, base, margin, .. } = self;
        let ends = self.interval().map_or_else(String::new, |(low, high)| format!(" ({})", ends(low, high)));
        let margin = format::percent(*margin);
        match self.verdict {
            VerdictWord::Better | VerdictWord::Worse => format!("`{name}` {}", self.size()),
            VerdictWord::Tie => format!("`{name}` is as fast as `{base}`, within {margin}{ends}"),
            VerdictWord::CannotTell if self.is_apart => {
                format!("`{name}` {}; whether by more than {margin} is open", self.size())
            }
            VerdictWord::CannotTell => {
                format!("whether `{name}` is faster than `{base}` cannot be told{ends}")
            }
            VerdictWord::Invalid => format!("`{name}` and `{base}` cannot be compared"),
        }
    }

    pub(super) fn doc(&self) -> AnsweredDoc {
        let name = format!("{} / {}, wall time", self.name, self.base);
        let verdict = Some(self.verdict);
        AnsweredDoc {
            name,
            unit: Unit::Ratio,
            value: self.ratio,
            low: self.low,
            high: self.high,
            verdict,
            least: false,
        }
    }
}

/// All of them, or of many the ends.
pub(super) fn sentence(all: &[Timed]) -> String {
    let mut told: Vec<&Timed> = all.iter().collect();
    if told.len() > MOST {
        told.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        told = [told.first(), told.last()].into_iter().flatten().copied().collect();
    }
    let mut parts: Vec<String> = told.iter().map(|one| one.sentence()).collect();
    if told.len() < all.len() {
        parts.push(format!("{} between them", count(all.len() - told.len(), "other")));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(name: &str, ratio: f64, ends: (f64, f64), verdict: VerdictWord) -> Timed {
        Timed {
            name: name.to_owned(),
            base: "a".to_owned(),
            ratio,
            low: Some(ends.0),
            high: Some(ends.1),
            verdict,
            is_apart: ends.0 > 1.0 || ends.1 < 1.0,
            margin: 0.02,
        }
    }

    #[test]
    fn a_difference_is_said_first_with_its_interval() {
        use VerdictWord::{Better, CannotTell, Invalid, Tie, Worse};
        for (one, says) in [
            (timed("b", 1.031, (1.026, 1.036), Worse), "`b` is 3.1 % slower than `a` (2.6 to 3.6 %)"),
            (timed("b", 0.9, (0.88, 0.92), Better), "`b` is 10.0 % faster than `a` (8.0 to 12.0 %)"),
            (timed("b", 3.0, (2.9, 3.1), Worse), "`b` takes 3.00 times as long as `a` (2.90 to 3.10)"),
            (timed("b", 0.25, (0.2, 0.3125), Better), "`b` is 4.00 times as fast as `a` (3.20 to 5.00)"),
            (timed("b", 1.001, (0.995, 1.006), Tie), "`b` is as fast as `a`, within 2 % (-0.5 to 0.6 %)"),
            (
                timed("b", 1.02, (1.008, 1.034), CannotTell),
                "`b` is 2.0 % slower than `a` (0.8 to 3.4 %); whether by more than 2 % is open",
            ),
            (
                timed("b", 1.01, (0.98, 1.04), CannotTell),
                "whether `b` is faster than `a` cannot be told (-2.0 to 4.0 %)",
            ),
            (timed("b", 1.0, (1.0, 1.0), Invalid), "`b` and `a` cannot be compared"),
        ] {
            assert_eq!(one.sentence(), says);
        }
    }

    #[test]
    fn of_many_the_ends_are_told() {
        let all: Vec<Timed> = (1..=5)
            .map(|n| {
                let ratio = 1.0 + f64::from(n) / 10.0;
                timed(&format!("c{n}"), ratio, (ratio - 0.01, ratio + 0.01), VerdictWord::Worse)
            })
            .collect();
        assert_eq!(
            sentence(&all),
            "`c1` is 10.0 % slower than `a` (9.0 to 11.0 %); `c5` is 50.0 % slower than `a` (49.0 to 51.0 %); 3 others \
             between them"
        );
    }
}
