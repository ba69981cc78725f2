//! Where two groups of requests differ in time, and where they do not: `differs-in`.

use super::{Conclusion, Evidence, Validity, known};
use crate::doc::VerdictWord;
use crate::format::{list, percent};

/// A part of the requests, by its name, and the ratio of times there with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRatio {
    /// `/download/`, or `requests of 64 KiB to 256 KiB`.
    pub name: String,
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

/// The ratio of times of one part, as far as it is known, and what it means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartTime {
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: VerdictWord,
}

/// Times of what people asked for, and of what bots asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskerTimes {
    pub people: PartTime,
    pub bots: PartTime,
}

impl PartTime {
    /// `33 to 37 % longer`, `a tie (1 % shorter to 2 % longer)`, `cannot tell`.
    pub fn words(&self) -> String {
        let span = self.low.zip(self.high).map(|(low, high)| span_of(low, high));
        let bounds = span.as_ref().map_or_else(String::new, |span| format!(" ({span})"));
        match (self.verdict, &span) {
            (VerdictWord::Better | VerdictWord::Worse, Some(span)) => span.clone(),
            (VerdictWord::Tie, _) => format!("a tie{bounds}"),
            _ => format!("cannot tell{bounds}"),
        }
    }
}

impl PartTime {
    /// In a column: `slower 33 to 37 %`, `tie -1 to +2 %`, `cannot tell`.
    pub fn short(&self) -> String {
        let word = match self.verdict {
            VerdictWord::Better => "faster",
            VerdictWord::Worse => "slower",
            VerdictWord::Tie => "tie",
            _ => "cannot tell",
        };
        let Some((low, high)) = self.low.zip(self.high) else { return word.to_owned() };
        let [low_off, high_off] = [low - 1.0, high - 1.0].map(|share| (share * 100.0).round() + 0.0);
        match self.verdict {
            VerdictWord::Tie if low_off == 0.0 && high_off == 0.0 => format!("{word} within 0.5 %"),
            VerdictWord::Worse if low_off == high_off => format!("{word} {low_off:.0} %"),
            VerdictWord::Better if low_off == high_off => format!("{word} {:.0} %", -low_off),
            _ if high >= 3.0 => format!("{word} {low:.1} to {high:.1} times"),
            VerdictWord::Worse => format!("{word} {low_off:.0} to {high_off:.0} %"),
            VerdictWord::Better => format!("{word} {:.0} to {:.0} %", -high_off, -low_off),
            _ => format!("{word} {low_off:+.0} to {high_off:+.0} %"),
        }
    }
}

/// All other parts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Ties,
    /// It differs too, or is not told.
    Open,
}

/// The parts in which the arm's requests take longer or shorter than the base's, the one with the most time first.
#[derive(Clone, Debug, PartialEq)]
pub struct LogsParts {
    pub arm: String,
    pub base: String,
    pub parts: Vec<PartRatio>,
    /// Further parts that differ.
    pub more: usize,
    pub rest: Rest,
}

/// `58 to 66 % longer`, `2.1 to 2.3 times as long`, `10 to 12 % shorter`.
fn said(part: &PartRatio) -> String {
    span_of(part.low, part.high)
}

/// The interval of a ratio of times in words; one that reaches across 1 has both.
fn span_of(low: f64, high: f64) -> String {
    let whole = |share: f64| percent((share * 100.0).round() / 100.0);
    let span = |low: f64, high: f64| {
        let (low, high) = (whole(low), whole(high));
        if low == high { low } else { format!("{} to {high}", low.trim_end_matches(" %")) }
    };
    match (low, high) {
        (low, high) if low >= 1.0 && high >= 2.0 => format!("{low:.1} to {high:.1} times as long"),
        (low, high) if low < 1.0 && high > 1.0 => {
            format!("{} shorter to {} longer", whole(1.0 - low), whole(high - 1.0))
        }
        (low, high) if high > 1.0 => format!("{} longer", span((low - 1.0).max(0.0), high - 1.0)),
        (low, high) => format!("{} shorter", span(1.0 - high, 1.0 - low)),
    }
}

impl LogsParts {
    /// True if all parts that differ take longer (or all shorter, as `longer` says) and the rest, taken together, ties:
    /// then they make the whole difference.
    pub fn are_all_of_it(&self, longer: bool) -> bool {
        self.rest == Rest::Ties && self.parts.iter().all(|part| (part.ratio > 1.0) == longer)
    }

    /// `all of it in /download/ (48 to 74 % longer); the rest, taken together, ties`: behind the size of the whole
    /// difference. Of a part of the rest alone there may be nothing to tell.
    pub fn all_of_it(&self) -> String {
        format!("all of it in {}; the rest, taken together, ties", self.named())
    }

    /// `/download/ (48 to 74 % longer) and 2 more`.
    fn named(&self) -> String {
        let parts: Vec<String> =
            self.parts.iter().map(|part| format!("{} ({})", part.name, said(part))).collect();
        let more = if self.more > 0 { format!(" and {} more", self.more) } else { String::new() };
        format!("{}{more}", list(&parts))
    }
}

impl Conclusion for LogsParts {
    fn kind(&self) -> &'static str {
        "differs-in"
    }

    fn state(&self) -> Validity {
        Validity::Ok
    }

    fn one(&self) -> String {
        let rest = match self.rest {
            Rest::Ties => "the rest, taken together, ties",
            Rest::Open => "of the rest it cannot be told",
        };
        format!("{} differs from {} in time on {}; {rest}.", self.arm, self.base, self.named())
    }

    fn names_subject(&self) -> bool {
        true
    }

    fn evidence(&self) -> Evidence {
        let first = self.parts.first();
        known([
            ("ratio", first.map(|part| part.ratio)),
            ("low", first.map(|part| part.low)),
            ("high", first.map(|part| part.high)),
            ("parts", Some((self.parts.len() + self.more) as f64)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_word_and_the_interval() {
        let short = |low, high, verdict| PartTime { low: Some(low), high: Some(high), verdict }.short();
        assert_eq!(short(1.33, 1.37, VerdictWord::Worse), "slower 33 to 37 %");
        assert_eq!(short(0.91, 0.96, VerdictWord::Better), "faster 4 to 9 %");
        assert_eq!(short(0.98, 1.02, VerdictWord::Tie), "tie -2 to +2 %");
        assert_eq!(short(0.97, 1.43, VerdictWord::CannotTell), "cannot tell -3 to +43 %");
        assert_eq!(short(0.999, 1.001, VerdictWord::Tie), "tie within 0.5 %");
        assert_eq!(short(1.598, 1.602, VerdictWord::Worse), "slower 60 %");
        assert_eq!(short(2.1, 3.4, VerdictWord::Worse), "slower 2.1 to 3.4 times");
        let none = PartTime { low: None, high: None, verdict: VerdictWord::CannotTell };
        assert_eq!((none.short(), none.words()), ("cannot tell".into(), "cannot tell".into()));
        let tie = PartTime { low: Some(0.98), high: Some(1.02), verdict: VerdictWord::Tie };
        assert_eq!(tie.words(), "a tie (2 % shorter to 2 % longer)");
    }

    #[test]
    fn parts_are_said_with_their_size() {
        let part = |low, high| PartRatio { name: "/download/".into(), ratio: (low + high) / 2.0, low, high };
        let said = |part: PartRatio, more, rest| {
            let (arm, base) = ("web2".to_owned(), "web1".to_owned());
            LogsParts { arm, base, parts: vec![part], more, rest }.one()
        };
        assert_eq!(
            said(part(1.58, 1.66), 0, Rest::Ties),
            "web2 differs from web1 in time on /download/ (58 to 66 % longer); the rest, taken together, ties."
        );
        assert_eq!(
            said(part(0.88, 0.9), 2, Rest::Open),
            "web2 differs from web1 in time on /download/ (10 to 12 % shorter) and 2 more; of the rest it cannot be told."
        );
        let (arm, base) = ("b".to_owned(), "a".to_owned());
        let mut all = LogsParts { arm, base, parts: vec![part(1.48, 1.74)], more: 0, rest: Rest::Ties };
        assert!(all.are_all_of_it(true) && !all.are_all_of_it(false));
        assert_eq!(
            all.all_of_it(),
            "all of it in /download/ (48 to 74 % longer); the rest, taken together, ties"
        );
        all.rest = Rest::Open;
        assert!(!all.are_all_of_it(true));
        assert!(said(part(2.12, 2.34), 0, Rest::Ties).contains("(2.1 to 2.3 times as long)"));
        assert!(said(part(1.601, 1.604), 0, Rest::Ties).contains("(60 % longer)"));
    }
}
