//! The sentences of what went on besides the figures: verdicts that are withheld for it, and intervals widened by it.

use std::fmt::{self, Display, Formatter};

use super::{Disturbance, Weighed, Withheld};
use crate::format::{Kind, Scale, list, percent_range};
use crate::unit::Unit;

impl Display for Withheld {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&Withheld::many(&[self]))
    }
}

impl Withheld {
    pub(super) fn is_like(&self, other: &Withheld) -> bool {
        match (self, other) {
            (Withheld::Clocks { .. }, Withheld::Clocks { .. })
            | (Withheld::ClockMoved { .. }, Withheld::ClockMoved { .. }) => true,
            (Withheld::Disturbed { by_what: a }, Withheld::Disturbed { by_what: b }) => {
                let kinds = |all: &[Weighed]| {
                    all.iter().map(|one| (one.what, one.share.is_some())).collect::<Vec<_>>()
                };
                kinds(a) == kinds(b)
            }
            (a, b) => a == b,
        }
    }

    /// The sentence of reasons that are alike.
    pub(super) fn many(all: &[&Withheld]) -> String {
        match all.first() {
            None => String::new(),
            Some(Withheld::LowerBound { sides }) => {
                let what = if sides.len() > 1 { "lower bounds" } else { "a lower bound" };
                let of = list(sides);
                format!("{what}: the load generator set the figure of {of}")
            }
            Some(Withheld::Disturbed { by_what }) => {
                let shares = |at: usize| -> Vec<f64> {
                    let share = |one: &&Withheld| match one {
                        Withheld::Disturbed { by_what } => by_what.get(at)?.share,
                        _ => None,
                    };
                    all.iter().filter_map(share).collect()
                };
                let word = |(at, one): (usize, &Weighed)| one.what.text(&shares(at));
                by_what.iter().enumerate().map(word).collect::<Vec<_>>().join(" and ")
            }
            Some(Withheld::Clocks { .. }) => {
                let clocks = |one: &&Withheld| match one {
                    Withheld::Clocks { arm, base } => Some((*arm, *base)),
                    _ => None,
                };
                let (arms, bases): (Vec<f64>, Vec<f64>) = all.iter().filter_map(clocks).unzip();
                format!("the clock was {} against {}", hertz(&arms), hertz(&bases))
            }
            Some(Withheld::ClockMoved { .. }) => {
                let share = |one: &&Withheld| match one {
                    Withheld::ClockMoved { share } => Some(*share),
                    _ => None,
                };
                let shares: Vec<f64> = all.iter().filter_map(share).collect();
                format!("the clock moved by {} or more", percent_range(&shares).unwrap_or_default())
            }
        }
    }

    /// Each thing that may have made a difference once, in the order of meeting.
    pub fn each(all: &[&Withheld]) -> Vec<String> {
        let mut groups: Vec<Vec<Withheld>> = Vec::new();
        for one in all.iter().flat_map(|one| one.apart()) {
            match groups.iter_mut().find(|group| group.iter().any(|known| known.is_like(&one))) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        groups.iter().map(|group| Withheld::many(&group.iter().collect::<Vec<_>>())).collect()
    }

    /// Several disturbances as one reason each.
    fn apart(&self) -> Vec<Withheld> {
        match self {
            Withheld::Disturbed { by_what } => {
                by_what.iter().map(|one| Withheld::Disturbed { by_what: vec![*one] }).collect()
            }
            other => vec![other.clone()],
        }
    }
}

/// `other processes used CPUs (can have made up to 6 %) and the system swapped`.
pub(super) fn words(all: &[Weighed]) -> String {
    let shares = |one: &Weighed| one.share.into_iter().collect::<Vec<_>>();
    let words: Vec<String> = all.iter().map(|one| one.what.text(&shares(one))).collect();
    words.join(" and ")
}

impl Disturbance {
    /// In words, with the shares by which it can have moved the figures of some rows.
    pub fn text(self, shares: &[f64]) -> String {
        match percent_range(shares) {
            Some(share) => format!("{} (can have made up to {share})", self.what()),
            None => self.what().to_owned(),
        }
    }

    const fn what(self) -> &'static str {
        match self {
            Disturbance::OtherProcesses => "other processes used CPUs",
            Disturbance::Steal => "the hypervisor withheld CPU time",
            Disturbance::Heat => "heat slowed the processor",
            Disturbance::Swap => "the system swapped",
            Disturbance::MajorFaults => "pages had to come from disk",
            Disturbance::Cache => "a cache may have answered",
            Disturbance::SharedCore => "generator and server shared a core",
            Disturbance::LateRequests => "requests were sent late",
            Disturbance::Flush => "syncs may not have reached the medium",
        }
    }
}

/// `3.60 GHz`, or `3.58 to 3.60 GHz`.
fn hertz(values: &[f64]) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = Scale::common(&[low, high], Kind::for_unit(Unit::Hertz));
    let (from, to) = (scale.number(low), scale.with_unit(high));
    if from == scale.number(high) { to } else { format!("{from} to {to}") }
}
