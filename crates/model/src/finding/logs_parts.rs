//! Where two groups of requests differ in time, and where they do not: `differs-in`.

use super::{Conclusion, Evidence, Validity, known};
use crate::doc::{PartDoc, RowDoc, VerdictWord};
use crate::format::{list, percent};

/// The ratio of times of one part, as far as it is known, and what it means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartTime {
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: VerdictWord,
    /// Without a verdict: the times differ beyond chance, and only whether by more than the margin is open.
    pub is_apart: bool,
}

/// Times of what people asked for, and of what bots asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskerTimes {
    pub people: PartTime,
    pub bots: PartTime,
}

impl PartTime {
    /// A row of time; `alpha` as in [`RowDoc::is_apart`].
    pub fn of_row(row: &RowDoc, alpha: f64) -> PartTime {
        PartTime { low: row.low, high: row.high, verdict: row.verdict, is_apart: row.is_apart(alpha) }
    }

    pub fn of_part(part: &PartDoc) -> PartTime {
        PartTime { low: part.low, high: part.high, verdict: part.verdict, is_apart: part.is_apart }
    }

    /// `33 to 37 % longer`, `a tie (1 % shorter to 2 % longer)`, `cannot tell`.
    pub fn words(&self) -> String {
        let span = self.low.zip(self.high).map(|(low, high)| span_of(low, high));
        let bounds = span.as_ref().map_or_else(String::new, |span| format!(" ({span})"));
        match (self.verdict, &span) {
            (VerdictWord::Better | VerdictWord::Worse, Some(span)) => span.clone(),
            (VerdictWord::CannotTell, Some(span)) if self.is_apart => format!("{span}, which may be a tie"),
            (VerdictWord::Tie, _) => format!("a tie{bounds}"),
            _ => format!("cannot tell{bounds}"),
        }
    }
}

impl PartTime {
    /// In a column: `slower 33 to 37 %`, `faster 4 to 10 %, or tie`, `tie -1 to +2 %`, `cannot tell`.
    pub fn short(&self) -> String {
        if self.is_apart && self.verdict == VerdictWord::CannotTell {
            let is_faster = self.high.is_some_and(|high| high < 1.0);
            let verdict = if is_faster { VerdictWord::Better } else { VerdictWord::Worse };
            return format!("{}, or tie", PartTime { verdict, ..*self }.short());
        }
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
    /// There is none: all parts differ, in both ways.
    Nothing,
    Ties,
    /// It differs too, or is not told.
    Open,
}

/// The parts of the requests, each beside its like, the one with the most time first. In some of them the arm's
/// requests take longer or shorter than the base's.
#[derive(Clone, Debug, PartialEq)]
pub struct LogsParts {
    pub arm: String,
    pub base: String,
    pub parts: Vec<PartDoc>,
    /// All that do not differ.
    pub rest: Rest,
}

/// Parts that a sentence names of each way.
const NAMED: usize = 3;

/// `58 to 66 % longer`, `2.1 to 2.3 times as long`, `10 to 12 % shorter`.
fn said(part: &PartDoc) -> String {
    part.low.zip(part.high).map_or_else(String::new, |(low, high)| span_of(low, high))
}

/// The interval of a ratio of times in words; one that reaches across 1 has both.
pub(super) fn span_of(low: f64, high: f64) -> String {
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
    /// The parts in which the arm's requests take longer, or shorter.
    fn differing(&self, longer: bool) -> Vec<&PartDoc> {
        let word = if longer { VerdictWord::Worse } else { VerdictWord::Better };
        self.parts.iter().filter(|part| part.verdict == word).collect()
    }

    /// True if all parts that differ take longer (or all shorter, as `longer` says) and the rest, taken together, ties:
    /// then they make the whole difference.
    pub fn are_all_of_it(&self, longer: bool) -> bool {
        self.rest == Rest::Ties && self.differing(!longer).is_empty()
    }

    /// `all of it in /download/ (48 to 74 % longer); the rest, taken together, ties`: behind the size of the whole
    /// difference. Of a part of the rest alone there may be nothing to tell.
    pub fn all_of_it(&self) -> String {
        let (longer, shorter) = (self.differing(true), self.differing(false));
        let all = if longer.is_empty() { shorter } else { longer };
        format!("all of it in {}; the rest, taken together, ties", named(&all))
    }

    /// `but not in /checkout/ (48 to 73 % longer)`: behind a whole difference that goes the other way.
    pub fn other_way(&self, longer: bool) -> Option<String> {
        let others = self.differing(!longer);
        (!others.is_empty()).then(|| format!("but not in {}", named(&others)))
    }
}

/// `/download/ (48 to 74 % longer), /img/ (22 % longer) and 2 more`.
fn named(all: &[&PartDoc]) -> String {
    // One more is named rather than counted.
    let shown = if all.len() == NAMED + 1 { all.len() } else { all.len().min(NAMED) };
    let mut parts: Vec<String> =
        all[..shown].iter().map(|part| format!("{} ({})", part.name, said(part))).collect();
    parts.extend((shown < all.len()).then(|| format!("{} more", all.len() - shown)));
    list(&parts)
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
            Rest::Nothing => "",
            Rest::Ties => "; the rest, taken together, ties",
            Rest::Open => "; of the rest it cannot be told",
        };
        let (arm, base) = (&self.arm, &self.base);
        match (self.differing(true).as_slice(), self.differing(false).as_slice()) {
            ([], all) | (all, []) => format!("{arm} differs from {base} in time on {}{rest}.", named(all)),
            (longer, shorter) => format!(
                "{arm} takes longer than {base} on {}, and less time on {}{rest}.",
                named(longer),
                named(shorter)
            ),
        }
    }

    fn names_subject(&self) -> bool {
        true
    }

    fn evidence(&self) -> Evidence {
        // The one that takes longer is what an operator must know.
        let differing = [self.differing(true), self.differing(false)].concat();
        let first = differing.first();
        known([
            ("ratio", first.and_then(|part| part.ratio)),
            ("low", first.and_then(|part| part.low)),
            ("high", first.and_then(|part| part.high)),
            ("parts", Some(differing.len() as f64)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_word_and_the_interval() {
        let short = |low, high, verdict| {
            PartTime { low: Some(low), high: Some(high), verdict, is_apart: false }.short()
        };
        assert_eq!(short(1.33, 1.37, VerdictWord::Worse), "slower 33 to 37 %");
        assert_eq!(short(0.91, 0.96, VerdictWord::Better), "faster 4 to 9 %");
        assert_eq!(short(0.98, 1.02, VerdictWord::Tie), "tie -2 to +2 %");
        assert_eq!(short(0.97, 1.43, VerdictWord::CannotTell), "cannot tell -3 to +43 %");
        assert_eq!(short(0.999, 1.001, VerdictWord::Tie), "tie within 0.5 %");
        assert_eq!(short(1.598, 1.602, VerdictWord::Worse), "slower 60 %");
        assert_eq!(short(2.1, 3.4, VerdictWord::Worse), "slower 2.1 to 3.4 times");
        let none = PartTime { low: None, high: None, verdict: VerdictWord::CannotTell, is_apart: false };
        assert_eq!((none.short(), none.words()), ("cannot tell".into(), "cannot tell".into()));
        let tie = PartTime { low: Some(0.98), high: Some(1.02), verdict: VerdictWord::Tie, is_apart: false };
        assert_eq!(tie.words(), "a tie (2 % shorter to 2 % longer)");
        let apart = PartTime { low: Some(0.9), high: Some(0.96), is_apart: true, ..none };
        assert_eq!(
            (apart.short(), apart.words()),
            ("faster 4 to 10 %, or tie".into(), "4 to 10 % shorter, which may be a tie".into())
        );
    }

    #[test]
    fn parts_are_said_with_their_size() {
        let part = |name: &str, low: f64, high: f64| {
            let verdict = if low > 1.0 { VerdictWord::Worse } else { VerdictWord::Better };
            let (low, high) = (Some(low), Some(high));
            PartDoc { name: name.into(), low, high, verdict, ..PartDoc::default() }
        };
        let download = |low, high| part("/download/", low, high);
        let all = |parts: Vec<PartDoc>, rest| {
            let (arm, base) = ("web2".to_owned(), "web1".to_owned());
            LogsParts { arm, base, parts, rest }
        };
        assert_eq!(
            all(vec![download(1.58, 1.66)], Rest::Ties).one(),
            "web2 differs from web1 in time on /download/ (58 to 66 % longer); the rest, taken together, ties."
        );
        let five = ["/a/", "/b/", "/c/", "/d/", "/e/"].map(|name| part(name, 0.88, 0.9));
        assert_eq!(
            all(five.to_vec(), Rest::Open).one(),
            "web2 differs from web1 in time on /a/ (10 to 12 % shorter), /b/ (10 to 12 % shorter), /c/ (10 to 12 % \
             shorter) and 2 more; of the rest it cannot be told."
        );
        let mut one = all(vec![download(1.48, 1.74)], Rest::Ties);
        assert!(one.are_all_of_it(true) && !one.are_all_of_it(false));
        assert_eq!(
            one.all_of_it(),
            "all of it in /download/ (48 to 74 % longer); the rest, taken together, ties"
        );
        one.rest = Rest::Open;
        assert!(!one.are_all_of_it(true));
        assert!(all(vec![download(2.12, 2.34)], Rest::Ties).one().contains("(2.1 to 2.3 times as long)"));
        assert!(all(vec![download(1.601, 1.604)], Rest::Ties).one().contains("(60 % longer)"));
    }

    #[test]
    fn what_takes_longer_is_said_first_and_against_the_whole() {
        let part = |name: &str, low, high, verdict| PartDoc {
            name: name.into(),
            low: Some(low),
            high: Some(high),
            verdict,
            ..PartDoc::default()
        };
        let parts = vec![
            part("/", 0.76, 0.84, VerdictWord::Better),
            part("/img/", 0.98, 1.01, VerdictWord::Tie),
            part("/pay/", 1.48, 1.73, VerdictWord::Worse),
        ];
        let both = LogsParts { arm: "new".into(), base: "old".into(), parts, rest: Rest::Ties };
        assert_eq!(
            both.one(),
            "new takes longer than old on /pay/ (48 to 73 % longer), and less time on / (16 to 24 % shorter); the rest, \
             taken together, ties."
        );
        assert!(!both.are_all_of_it(false) && !both.are_all_of_it(true));
        assert_eq!(both.other_way(false).unwrap(), "but not in /pay/ (48 to 73 % longer)");
        assert_eq!(both.other_way(true).unwrap(), "but not in / (16 to 24 % shorter)");
    }
}
