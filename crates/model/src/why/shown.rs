//! The sentences of reasons. Each is made once, for any number of rows: where the numbers of several differ, a range
//! stands in place of the number.

use std::fmt::{self, Display, Formatter};

use super::{
    Blocks, Cause, FailedWithin, Held, Needed, NoInterval, OtherRates, OverLimit, Point, Raised, Reason,
    Repeat, Unlike, Unsteady, Why, Withheld,
};
use crate::doc::VerdictWord;
use crate::format::{coarse, duration, fixed, list, number, percent, quantity};
use crate::unit::Unit;

/// More takes or runs than these are many.
pub(crate) const MANY: u64 = 30;

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
            Reason::FailedAtOnce { share, blocks, of, within } => {
                failed_at_once(*share, (*blocks, *of), *within)
            }
            Reason::Mix { totals_ratio } => {
                format!(
                    "the totals' ratio is {}: their mixes of sizes, failures and hours differ",
                    number(*totals_ratio)
                )
            }
        }
    }
}

fn failed_at_once(share: f64, (blocks, of): (u64, u64), within: Option<FailedWithin>) -> String {
    let counted = within.map_or_else(String::new, |FailedWithin { arm, base, .. }| {
        let of =
            |(failed, all): (u64, u64)| format!("{} of {}", fixed(failed as f64, 0), fixed(all as f64, 0));
        match (arm.1, base.1) {
            (_, 0) => format!("; in them {} requests failed, and the other side served none", of(arm)),
            (0, _) => format!("; in them {} requests failed, and the other side served none", of(base)),
            (_, _) => format!("; in them {} requests failed against {}", of(arm), of(base)),
        }
    });
    format!(
        "{} of the failures stand in {blocks} of {of} quarter hours: they tell of that time, and of no other{counted}",
        percent(share)
    )
}

impl Held {
    fn is_like(&self, other: &Held) -> bool {
        match (self, other) {
            (Held::OneTake { each: a }, Held::OneTake { each: b }) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    fn many(all: &[Held]) -> String {
        match all.first() {
            None => String::new(),
            Some(Held::Interval) => "the interval reaches across the margin".to_owned(),
            Some(Held::AssumedNoise) => "the noise between runs is assumed".to_owned(),
            Some(Held::OneTake { each: true }) => "one take each; the noise is assumed".to_owned(),
            Some(Held::OneTake { each: false }) => "one take of a side; the noise is assumed".to_owned(),
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
        match (first.blocks, &first.cause) {
            (None, _) => cause,
            (Some(Blocks::Shared), Cause::FewValues { need, .. }) => {
                let have = all.iter().filter_map(|none| match none.cause {
                    Cause::FewValues { have, .. } => Some(have),
                    _ => None,
                });
                let have = counts(have, "quarter hour");
                format!("{have} that both served: too few for an interval, which needs {need}")
            }
            (Some(Blocks::Shared), _) => format!("spans of time that both served: {cause}"),
            (Some(Blocks::Seconds(seconds)), _) => format!("spans of {} each: {cause}", duration(seconds)),
        }
    }
}

/// `2 quarter hours that both served`.
pub fn quarters(count: u64) -> String {
    format!("{count} quarter hour{} that both served", if count == 1 { "" } else { "s" })
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
        let about = range([least, most].into_iter());
        if all.iter().all(Needed::is_beyond) {
            let least = all.iter().filter_map(|needed| needed.seconds).min().unwrap_or(0);
            return Some(format!("about {about} {what} each would be needed, {}", not_worth(least)));
        }
        let text = match least > MANY {
            true => format!("it would need many more {what} (about {about} each)"),
            false => format!("about {about} {what} each would settle it"),
        };
        let study = "an interleaved study (`--arm` or `--via`) needs less";
        Some(if most > MANY && is_runs { format!("{text}; {study}") } else { text })
    }
}

/// `about 10 h: not worth telling`.
pub(crate) fn not_worth(seconds: u64) -> String {
    format!("about {}: not worth telling", coarse(seconds as f64))
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
mod tests;
