//! The sentences of reasons. Each is made once, for any number of rows: where the numbers of several differ, a range
//! stands in place of the number.

use std::fmt::{self, Display, Formatter};

use super::{
    Blocks, Cause, Held, Needed, NoInterval, OtherRates, OverLimit, Point, Raised, Reason, Repeat, Unlike,
    Unsteady, Why, Withheld,
};
use crate::doc::VerdictWord;
use crate::format::{duration, fixed, list, number, percent, quantity};
use crate::unit::Unit;

/// More takes or runs than these are many.
const MANY: u64 = 30;

/// The whole sentence of one row.
impl Display for Why {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(machine) = &self.machine {
            write!(out, "{machine}: ")?;
        }
        let is_withheld = self.withheld().is_some();
        let part = |reason: &Reason| match reason {
            Reason::Needed(_) => format!("{}{reason}", once_gone(is_withheld)),
            _ => reason.to_string(),
        };
        out.write_str(&self.reasons.iter().map(part).collect::<Vec<_>>().join("; "))
    }
}

impl Why {
    /// The reasons that make up a letter: the first, and of a withheld verdict what the interval alone says.
    fn leading(&self) -> &[Reason] {
        match self.reasons.as_slice() {
            [Reason::Withheld(_), second, ..] if second.is_beside_withheld() => &self.reasons[..2],
            [] => &[],
            _ => &self.reasons[..1],
        }
    }

    /// True where one sentence with ranges can stand for both rows: their first reasons differ in numbers at most.
    pub fn is_like(&self, other: &Why) -> bool {
        let (a, b) = (self.leading(), other.leading());
        let alike = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_like(b));
        alike && self.machine == other.machine
    }

    /// The reasons that hold back rows that are alike, without what would settle them.
    pub fn many_leading(whys: &[Why]) -> String {
        let leading = whys.first().map_or(0, |why| why.leading().len());
        let at = |place: usize| whys.iter().filter_map(|why| why.reasons.get(place)).collect::<Vec<_>>();
        let machine = whys.first().and_then(|why| why.machine.as_ref());
        let machine = machine.map_or_else(String::new, |machine| format!("{machine}: "));
        let parts = (0..leading.max(1)).map(|place| Reason::many(&at(place))).collect::<Vec<_>>();
        format!("{machine}{}", parts.join("; "))
    }

    /// One sentence for rows that are alike. Doubts that withhold nothing are left out: they are told with their
    /// figures.
    pub fn many(whys: &[Why]) -> String {
        let leading = whys.first().map_or(0, |why| why.leading().len());
        let mut parts = vec![Why::many_leading(whys)];
        let is_withheld = whys.first().is_some_and(|why| why.withheld().is_some());
        let (mut needed, mut others): (Vec<Needed>, Vec<String>) = (Vec::new(), Vec::new());
        for reason in whys.iter().flat_map(|why| why.reasons.iter().skip(leading)) {
            match reason {
                // More of the same tells nothing while something else stands in the way.
                Reason::Needed(_) | Reason::NearMargin if is_withheld => {}
                Reason::Needed(one) => needed.push(*one),
                Reason::Doubtful { .. } => {}
                other => {
                    let text = other.to_string();
                    others.extend((!others.contains(&text)).then_some(text));
                }
            }
        }
        parts.extend(Needed::many(&needed));
        if !others.is_empty() {
            let some = if needed.is_empty() { "" } else { "for some, " };
            parts.push(format!("{some}{}", others.join("; ")));
        }
        parts.join("; ")
    }
}

/// In front of what would settle a row, where more than its interval stands in the way.
const fn once_gone(is_withheld: bool) -> &'static str {
    if is_withheld { "once that is gone, " } else { "" }
}

impl Display for Reason {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&Reason::many(&[self]))
    }
}

/// `a is`, `a and b are`.
fn are(sides: &[String]) -> String {
    format!("{} {}", list(sides), if sides.len() == 1 { "is" } else { "are" })
}

impl Reason {
    fn is_like(&self, other: &Reason) -> bool {
        match (self, other) {
            (Reason::Held(a), Reason::Held(b)) => a.is_like(b),
            (Reason::NoInterval(a), Reason::NoInterval(b)) => a.is_like(b),
            (Reason::Withheld(a), Reason::Withheld(b)) => a.is_like(b),
            // Better and worse are decided alike.
            (Reason::Alone { verdict: a }, Reason::Alone { verdict: b }) => {
                (*a == VerdictWord::Tie) == (*b == VerdictWord::Tie)
            }
            (a, b) => a == b,
        }
    }

    /// The sentence of reasons that are alike.
    fn many(all: &[&Reason]) -> String {
        let Some(first) = all.first() else { return String::new() };
        let each = || all.iter().copied();
        match first {
            Reason::Held(_) => Held::many(&each().filter_map(Reason::as_held).collect::<Vec<_>>()),
            Reason::NoInterval(_) => {
                NoInterval::many(&each().filter_map(Reason::as_no_interval).collect::<Vec<_>>())
            }
            Reason::Withheld(_) => {
                let those: Vec<&Withheld> = each().filter_map(Reason::as_withheld).collect();
                format!("doubtful: {}", Withheld::many(&those))
            }
            Reason::Needed(needed) => Needed::many(&[*needed]).unwrap_or_default(),
            Reason::NearMargin => "more of the same would not settle it: too close to the margin".to_owned(),
            Reason::Unsteady(Unsteady::Drift) => "takes drift: more of them would settle nothing".to_owned(),
            Reason::Unsteady(Unsteady::ResembleEachOther) => {
                "takes resemble each other: repeat the run".to_owned()
            }
            Reason::Raised(raised) => raised.text(),
            Reason::Alone { verdict: VerdictWord::Tie } => "without that it would be a tie".to_owned(),
            Reason::Alone { .. } => "the interval lies beyond the margin".to_owned(),
            Reason::OverLimit(OverLimit { sides }) => {
                format!("{} over the time limit: it falls on a failed request", are(sides))
            }
            Reason::OtherRates(rates) => rates.text(),
            Reason::OtherConditions { differ } => {
                format!("loads differ in {}", list(&differ.iter().map(Unlike::to_string).collect::<Vec<_>>()))
            }
            Reason::Across { differ } => {
                let differ = list(&differ.iter().map(Unlike::to_string).collect::<Vec<_>>());
                format!("compared across {differ}: that is in the ratio too")
            }
            Reason::NeitherHolds { offered } => {
                format!("neither side answers {}: offer less", quantity(*offered, Unit::PerSec))
            }
            Reason::Widened { widened, by_what } => {
                let what = super::withheld::words(by_what);
                format!("it holds even with an interval wider by {} either way: {what}", percent(*widened))
            }
            Reason::Doubtful { text } => format!("doubtful: {text}"),
            Reason::Point(point) => point.text(),
            Reason::Refused { side: Some(side), text } => format!("{side}: {text}"),
            Reason::Refused { side: None, text } => text.clone(),
            Reason::Hours { judged_elsewhere } => {
                let what = match judged_elsewhere {
                    true => "`speed` and `time` compare",
                    false => "`boxscore logs A=FILE B=FILE` compares",
                };
                format!(
                    "not like with like: hours of logs differ in what was asked for; {what} like with like"
                )
            }
            Reason::FailedAtOnce { share, blocks, of } => format!(
                "{} of the failures stand in {blocks} of {of} quarter hours: they tell of that time, and of no other",
                percent(*share)
            ),
            Reason::Mix { totals_ratio } => {
                format!(
                    "the totals' ratio is {}: their mixes of sizes, failures and hours differ",
                    number(*totals_ratio)
                )
            }
        }
    }
}

impl Held {
    fn is_like(&self, other: &Held) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    fn many(all: &[Held]) -> String {
        match all.first() {
            None => String::new(),
            Some(Held::Interval) => "the interval reaches across the margin".to_owned(),
            Some(Held::AssumedNoise) => "the noise between runs is assumed, not measured".to_owned(),
            Some(Held::NoSamples) => "a published point has no samples".to_owned(),
            Some(Held::Family { .. }) => {
                let rows = |held: &Held| if let Held::Family { rows } = held { Some(*rows) } else { None };
                let figures = counts(all.iter().filter_map(rows), "figure");
                format!("beyond the margin alone, not after the correction for {figures}")
            }
            Some(Held::FewBlocks { need, .. }) => {
                let have =
                    |held: &Held| if let Held::FewBlocks { have, .. } = held { Some(*have) } else { None };
                let have = counts(all.iter().filter_map(have), "take");
                let is = if have == "1 take" { "is" } else { "are" };
                format!("{have} a side {is} too few for an interval, need {need}")
            }
        }
    }
}

impl NoInterval {
    fn is_like(&self, other: &NoInterval) -> bool {
        let alike = match (&self.cause, &other.cause) {
            (Cause::FewValues { need: a, .. }, Cause::FewValues { need: b, .. }) => a == b,
            (Cause::OneEpisode { .. }, Cause::OneEpisode { .. }) => true,
            (a, b) => a == b,
        };
        alike && self.blocks == other.blocks
    }

    fn many(all: &[&NoInterval]) -> String {
        let Some(first) = all.first() else { return String::new() };
        let cause = match &first.cause {
            Cause::NoPair => "no interval".to_owned(),
            Cause::Unusable(text) => text.clone(),
            Cause::OneEpisode { blocks, tell } => format!(
                "the difference may be one episode: neighbouring spans of time resemble each other so much that all {blocks} tell no \
                 more than {} would; compare a longer time",
                fixed(tell.round().max(1.0), 0)
            ),
            Cause::CoarseTimes { side, step, mean } => format!(
                "times of {side} are written in steps of {}, too coarse for a mean of {}; log them in finer steps, such as \
                 Apache's %D",
                quantity(*step, Unit::Second),
                quantity(*mean, Unit::Second)
            ),
            Cause::FewValues { need, .. } => {
                let have = |none: &&NoInterval| {
                    if let Cause::FewValues { have, .. } = none.cause { Some(have) } else { None }
                };
                let have = counts(all.iter().filter_map(have), "value");
                format!("{have}: too few for a 95 % interval, need {need}")
            }
        };
        match first.blocks {
            None => cause,
            Some(Blocks::Shared) => format!("spans of time that both served: {cause}"),
            Some(Blocks::Seconds(seconds)) => format!("spans of {} each: {cause}", duration(seconds)),
        }
    }
}

impl Needed {
    /// `about 2 to 4 runs each would settle it`; `None` without any.
    pub fn many(all: &[Needed]) -> Option<String> {
        let least = all.iter().map(|needed| needed.count).min()?;
        let most = all.iter().map(|needed| needed.count).max()?;
        let is_runs = all.iter().all(|needed| needed.of == Repeat::Runs);
        let (one, several) = match all.first()?.of {
            Repeat::Boxes => ("box", "boxes"),
            _ if is_runs => ("run", "runs"),
            _ => ("take", "takes"),
        };
        let what = if most == 1 { one } else { several };
        let text = match least > MANY {
            true => {
                let about = range([least, most].into_iter());
                format!("it would need many more {what} (about {about} each)")
            }
            false => format!("about {} {what} each would settle it", range([least, most].into_iter())),
        };
        let study = "an interleaved study (`--arm` or `--via`) needs less";
        Some(if most > MANY && is_runs { format!("{text}; {study}") } else { text })
    }
}

impl OtherRates {
    fn text(&self) -> String {
        format!(
            "not at the same rate: {} against {} were offered; give both one (--set load=auto --set rate={})",
            quantity(self.arm, Unit::PerSec),
            quantity(self.base, Unit::PerSec),
            self.base.round()
        )
    }
}

impl Display for Unlike {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({} against {})", self.name, self.base, self.arm)
    }
}

impl Raised {
    fn text(&self) -> String {
        format!(
            "the margin is {}: the clock of {} steps by {} in takes of {}",
            percent(self.margin),
            self.side,
            quantity(self.step_seconds, Unit::Second),
            quantity(self.take_seconds, Unit::Second)
        )
    }
}

impl Point {
    fn text(&self) -> String {
        let mut parts = vec![match &self.study {
            None => "pasted line: a point with its interval, without samples".to_owned(),
            Some(study) => format!("point of {study} without samples"),
        }];
        if !self.open.is_empty() {
            parts.push(format!("it leaves open: {}", self.open.join(", ")));
        }
        if !self.stated.is_empty() {
            parts.push(format!("it was taken with {}", self.stated));
        }
        if self.others > 0 {
            parts.push(format!("{} more of its figures would fit", self.others));
        }
        parts.extend(self.basis.caveat().map(str::to_owned));
        if !self.note.is_empty() {
            parts.push(self.note.clone());
        }
        parts.join("; ")
    }
}

/// `4`, or `2 to 4` where they differ.
fn range(numbers: impl Iterator<Item = u64> + Clone) -> String {
    match (numbers.clone().min(), numbers.max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or_default().to_string(),
    }
}

/// `1 row`, `12 rows`, `1 to 12 rows`.
fn counts(numbers: impl Iterator<Item = u64> + Clone, what: &str) -> String {
    let s = if numbers.clone().max() == Some(1) { "" } else { "s" };
    format!("{} {what}{s}", range(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Basis;
    use crate::why::{Disturbance, Weighed};

    fn few(have: u64) -> Reason {
        Reason::NoInterval(NoInterval { blocks: None, cause: Cause::FewValues { have, need: 6 } })
    }

    fn needed(count: u64, of: Repeat) -> Reason {
        Reason::Needed(Needed { count, of })
    }

    /// One of each form, with the sentence of one row.
    fn samples() -> Vec<(Reason, &'static str)> {
        [undecided(), special(), of_logs()].concat()
    }

    fn undecided() -> Vec<(Reason, &'static str)> {
        let blocks = |blocks| Reason::NoInterval(NoInterval { blocks: Some(blocks), cause: Cause::NoPair });
        vec![
            (Reason::Held(Held::Interval), "the interval reaches across the margin"),
            (Reason::Held(Held::AssumedNoise), "the noise between runs is assumed, not measured"),
            (
                Reason::Held(Held::Family { rows: 1 }),
                "beyond the margin alone, not after the correction for 1 figure",
            ),
            (Reason::Held(Held::NoSamples), "a published point has no samples"),
            (
                Reason::Held(Held::FewBlocks { have: 3, need: 6 }),
                "3 takes a side are too few for an interval, need 6",
            ),
            (
                Reason::Held(Held::FewBlocks { have: 1, need: 6 }),
                "1 take a side is too few for an interval, need 6",
            ),
            (few(1), "1 value: too few for a 95 % interval, need 6"),
            (few(4), "4 values: too few for a 95 % interval, need 6"),
            (blocks(Blocks::Shared), "spans of time that both served: no interval"),
            (blocks(Blocks::Seconds(3600.0)), "spans of 1 h each: no interval"),
            (needed(1, Repeat::Runs), "about 1 run each would settle it"),
            (needed(4, Repeat::Takes), "about 4 takes each would settle it"),
            (needed(4, Repeat::Boxes), "about 4 boxes each would settle it"),
            (needed(40, Repeat::Takes), "it would need many more takes (about 40 each)"),
            (
                needed(40, Repeat::Runs),
                "it would need many more runs (about 40 each); an interleaved study (`--arm` or `--via`) needs less",
            ),
            (
                Reason::OtherConditions {
                    differ: vec![Unlike { name: "connections".into(), arm: "20".into(), base: "50".into() }],
                },
                "loads differ in connections (50 against 20)",
            ),
            (
                Reason::Across {
                    differ: vec![Unlike {
                        name: "server".into(),
                        arm: "redis".into(),
                        base: "valkey".into(),
                    }],
                },
                "compared across server (valkey against redis): that is in the ratio too",
            ),
            (Reason::Unsteady(Unsteady::Drift), "takes drift: more of them would settle nothing"),
            (Reason::Unsteady(Unsteady::ResembleEachOther), "takes resemble each other: repeat the run"),
            (Reason::Alone { verdict: VerdictWord::Tie }, "without that it would be a tie"),
            (Reason::Alone { verdict: VerdictWord::Worse }, "the interval lies beyond the margin"),
            (Reason::NearMargin, "more of the same would not settle it: too close to the margin"),
        ]
    }

    fn of_logs() -> Vec<(Reason, &'static str)> {
        let coarse = Cause::CoarseTimes { side: "b".into(), step: 1e-3, mean: 1.2e-3 };
        vec![
            (
                Reason::NoInterval(NoInterval { blocks: None, cause: coarse }),
                "times of b are written in steps of 1.00 ms, too coarse for a mean of 1.20 ms; log them in finer steps, \
                 such as Apache's %D",
            ),
            (
                Reason::Mix { totals_ratio: 1.25 },
                "the totals' ratio is 1.25: their mixes of sizes, failures and hours differ",
            ),
            (
                Reason::FailedAtOnce { share: 1.0, blocks: 2, of: 96 },
                "100 % of the failures stand in 2 of 96 quarter hours: they tell of that time, and of no other",
            ),
        ]
    }

    fn special() -> Vec<(Reason, &'static str)> {
        let text = || "the clock moved; repeat it".to_owned();
        let raised = Raised { margin: 0.4, side: "nano".into(), step_seconds: 1e-6, take_seconds: 2.5e-6 };
        let point = Point {
            study: Some("s".into()),
            open: vec!["threads".into(), "size".into()],
            stated: "op=read".into(),
            others: 2,
            basis: Basis::Estimate,
            note: "by hand".into(),
        };
        let disturbed = vec![
            Weighed { what: Disturbance::OtherProcesses, share: Some(0.06) },
            Weighed { what: Disturbance::Swap, share: None },
        ];
        vec![
            (
                Reason::Raised(raised),
                "the margin is 40 %: the clock of nano steps by 1.00 us in takes of 2.50 us",
            ),
            (
                Reason::Withheld(Withheld::LowerBound { sides: vec!["a".into(), "b".into()] }),
                "doubtful: lower bounds: the load generator set the figure of a and b",
            ),
            (
                Reason::Withheld(Withheld::Disturbed { by_what: disturbed.clone() }),
                "doubtful: other processes used CPUs (can have made up to 6 %) and the system swapped",
            ),
            (
                Reason::Widened { widened: 0.06, by_what: disturbed[..1].to_vec() },
                "it holds even with an interval wider by 6 % either way: other processes used CPUs (can have made \
                 up to 6 %)",
            ),
            (
                Reason::Withheld(Withheld::Clocks { arm: 3.6e9, base: 4.2e9 }),
                "doubtful: the clock was 3.60 GHz against 4.20 GHz",
            ),
            (
                Reason::Withheld(Withheld::ClockMoved { share: 0.12 }),
                "doubtful: the clock moved by 12 % or more",
            ),
            (Reason::Doubtful { text: text() }, "doubtful: the clock moved; repeat it"),
            (
                Reason::Point(point),
                "point of s without samples; it leaves open: threads, size; it was taken with op=read; 2 more of its \
                 figures would fit; an estimate, not a measurement; by hand",
            ),
            (Reason::Point(Point::default()), "pasted line: a point with its interval, without samples"),
            (Reason::Refused { side: Some("box".into()), text: text() }, "box: the clock moved; repeat it"),
            (Reason::Refused { side: None, text: text() }, "the clock moved; repeat it"),
            (
                Reason::Hours { judged_elsewhere: true },
                "not like with like: hours of logs differ in what was asked for; `speed` and `time` compare like with like",
            ),
            (
                Reason::Hours { judged_elsewhere: false },
                "not like with like: hours of logs differ in what was asked for; `boxscore logs A=FILE B=FILE` compares like with like",
            ),
            (
                Reason::OtherRates(OtherRates { arm: 2e3, base: 1e3 }),
                "not at the same rate: 2.00 k/s against 1.00 k/s were offered; give both one (--set load=auto --set \
                 rate=1000)",
            ),
            (Reason::NeitherHolds { offered: 1e3 }, "neither side answers 1.00 k/s: offer less"),
        ]
    }

    #[test]
    fn each_reason_has_a_sentence_and_comes_back_from_json() {
        for (reason, sentence) in samples() {
            assert_eq!(reason.to_string(), sentence);
            assert!(reason.is_like(&reason));
            for machine in [None, Some("mini-1".to_owned())] {
                let why = Why { machine, reasons: vec![Reason::NearMargin, reason.clone()] };
                let json = serde_json::to_value(&why).unwrap();
                assert_eq!(json["why"], why.to_string());
                assert_eq!(serde_json::from_value::<Why>(json).unwrap(), why);
            }
        }
        let none = serde_json::to_value(Why::default()).unwrap();
        assert_eq!(none, serde_json::json!({ "why": null }));
    }

    #[test]
    fn one_row_reads_as_several_alike_do() {
        for (reason, sentence) in samples() {
            let why = Why::new(vec![reason, needed(4, Repeat::Runs)]);
            let want = match why.withheld() {
                Some(_) => sentence.to_owned(),
                None => format!("{sentence}; about 4 runs each would settle it"),
            };
            assert_eq!(
                (Why::many(std::slice::from_ref(&why)), Why::many(&[why.clone(), why])),
                (want.clone(), want)
            );
        }
    }

    #[test]
    fn a_withheld_verdict_says_what_the_interval_says() {
        let by_what = vec![Weighed { what: Disturbance::OtherProcesses, share: None }];
        let withheld = |second| {
            let first = Reason::Withheld(Withheld::Disturbed { by_what: by_what.clone() });
            Why::new(vec![first, second, needed(4, Repeat::Runs)])
        };
        let open = withheld(Reason::Held(Held::Interval));
        let text = "doubtful: other processes used CPUs; the interval reaches across the margin";
        assert_eq!(open.to_string(), format!("{text}; once that is gone, about 4 runs each would settle it"));
        assert_eq!(Why::many(&[open.clone(), open.clone()]), text);
        let alone = |verdict| withheld(Reason::Alone { verdict });
        assert!(!open.is_like(&alone(VerdictWord::Worse)) && !open.is_like(&alone(VerdictWord::Tie)));
        assert!(alone(VerdictWord::Better).is_like(&alone(VerdictWord::Worse)));
    }

    #[test]
    fn numbers_of_several_rows_become_ranges() {
        let many = |all: &[Vec<Reason>]| {
            let whys: Vec<Why> = all.iter().cloned().map(Why::new).collect();
            assert!(whys.iter().all(|why| why.is_like(&whys[0])), "{whys:?}");
            Why::many(&whys)
        };
        let held = |rows, count| {
            vec![Reason::Held(Held::Family { rows }), needed(count, Repeat::Runs), Reason::NearMargin]
        };
        assert_eq!(
            many(&[held(1, 2), held(9, 4)]),
            "beyond the margin alone, not after the correction for 1 to 9 figures; about 2 to 4 runs each would settle \
             it; for some, more of the same would not settle it: too close to the margin"
        );
        assert_eq!(
            many(&[vec![needed(31, Repeat::Takes)], vec![needed(31, Repeat::Takes)]]),
            "it would need many more takes (about 31 each)"
        );
        assert_eq!(many(&[vec![few(1)], vec![few(4)]]), "1 to 4 values: too few for a 95 % interval, need 6");
        let clock = |arm| vec![Reason::Withheld(Withheld::Clocks { arm, base: 4.2e9 })];
        let text = many(&[clock(3.6e9), clock(3.58e9)]);
        assert_eq!(text, "doubtful: the clock was 3.58 to 3.60 GHz against 4.20 GHz");
        let moved = |share| vec![Reason::Withheld(Withheld::ClockMoved { share })];
        assert_eq!(many(&[moved(0.12), moved(0.2)]), "doubtful: the clock moved by 12 to 20 % or more");
    }

    #[test]
    fn reasons_of_other_sides_and_kinds_are_not_alike() {
        let why = |machine: Option<&str>, reason: Reason| Why {
            machine: machine.map(str::to_owned),
            reasons: vec![reason],
        };
        let bound = |side: &str| Reason::Withheld(Withheld::LowerBound { sides: vec![side.to_owned()] });
        assert!(!why(None, bound("a")).is_like(&why(None, bound("b"))));
        assert!(!why(Some("a"), few(1)).is_like(&why(Some("b"), few(1))));
        assert!(!why(None, few(1)).is_like(&why(None, Reason::NearMargin)));
        assert!(!Why::default().is_like(&why(None, few(1))) && Why::default().is_like(&Why::default()));
    }

    #[test]
    fn disturbances_of_several_rows_are_told_once() {
        let weighed = |what: &Disturbance| Weighed { what: *what, share: None };
        let disturbed =
            |by_what: &[Disturbance]| Withheld::Disturbed { by_what: by_what.iter().map(weighed).collect() };
        let clock = |arm| Withheld::Clocks { arm, base: 4.2e9 };
        let all = [
            disturbed(&[Disturbance::OtherProcesses, Disturbance::Swap]),
            clock(3.6e9),
            disturbed(&[Disturbance::Swap]),
            clock(3.5e9),
        ];
        assert_eq!(
            Withheld::each(&all.iter().collect::<Vec<_>>()),
            [
                "other processes used CPUs",
                "the system swapped",
                "the clock was 3.50 to 3.60 GHz against 4.20 GHz"
            ]
        );
    }
}
