//! The reasons behind a row's verdict, and what would settle it, from what the statistics found.

use model::why::{self, Blocks, Cause, Needed, NoInterval, Point, Reason, Repeat, Unsteady, Why, Withheld};
use stats::{Held, Margin, Verdict};

use super::judged::Found;
use super::matching::Match;
use super::step::Raised;
use super::value;

/// The reasons of a row; none where the verdict speaks for itself.
pub fn reasons(
    found: &Found,
    verdict: Verdict,
    (margin, raised): (Margin, Option<&Raised>),
    family: usize,
    (doubt, unsteady): (Option<&str>, Option<Unsteady>),
) -> Why {
    let mut reasons: Vec<Reason> = Vec::new();
    match (found, verdict) {
        (Found::Refused(reason) | Found::Point(reason) | Found::Nothing(reason), _) => {
            reasons.push(reason.clone());
        }
        (Found::Apart(apart), _) => {
            reasons.extend(apart.reason.clone());
            let explains =
                |reason: &Reason| matches!(reason, Reason::OtherRates(_) | Reason::NeitherHolds { .. });
            if let (Verdict::CannotTell(held), false) = (verdict, apart.reason.as_ref().is_some_and(explains))
            {
                reasons.push(held_back(held, family));
            }
        }
        (_, Verdict::CannotTell(held)) => {
            reasons.push(held_back(held, family));
            reasons.extend(settled_by(found, held, margin, family).map(|advice| steadied(advice, unsteady)));
        }
        _ => {}
    }
    if matches!(found, Found::Paired(_) | Found::Runs(..)) {
        reasons.extend(raised.map(|raised| Reason::Raised(raised.reason.clone())));
    }
    reasons.extend(doubt.map(|text| Reason::Doubtful { text: text.to_owned() }));
    Why::new(reasons)
}

/// Of a withheld verdict: what withholds it, and what the interval alone says. A lower bound has no ratio.
pub fn withheld(by: Withheld, found: &Found, plain: Verdict, (margin, family): (Margin, usize)) -> Why {
    let is_bound = matches!(by, Withheld::LowerBound { .. });
    let mut reasons = vec![Reason::Withheld(by)];
    match plain {
        _ if is_bound => {}
        Verdict::CannotTell(held) => {
            reasons.push(held_back(held, family));
            reasons.extend(settled_by(found, held, margin, family));
        }
        Verdict::Better | Verdict::Worse | Verdict::Tie => {
            reasons.push(Reason::Alone { verdict: value::word(plain) });
        }
        Verdict::Invalid => {}
    }
    Why::new(reasons)
}

/// The reason that kept a row undecided, in a family of this many rows.
pub fn held_back(held: Held, family: usize) -> Reason {
    Reason::Held(match held {
        Held::Interval => why::Held::Interval,
        Held::AssumedNoise => why::Held::AssumedNoise,
        Held::FamilySize => why::Held::Family { rows: family as u64 },
        Held::OneTake { each } => why::Held::OneTake { each },
        Held::Point => why::Held::NoSamples,
        Held::TooFew { have } => why::Held::FewBlocks { have: have as u64, need: stats::MIN_N as u64 },
    })
}

/// Why there is no interval.
pub fn no_interval(blocks: Option<Blocks>, unfit: &stats::Unfit) -> Reason {
    let cause = match unfit {
        stats::Unfit::TooFew { have, need } => Cause::FewValues { have: *have as u64, need: *need as u64 },
        // Values are blocks of time where these are named: what follows itself there is one state of the site.
        stats::Unfit::Dependent { n, effective, .. } if blocks.is_some() => {
            Cause::OneEpisode { blocks: *n as u64, tell: *effective }
        }
        other => Cause::Unusable(other.to_string()),
    };
    Reason::NoInterval(NoInterval { blocks, cause })
}

/// The advice, unless more takes would settle it on the wrong side. Further runs do not share what made the takes of
/// one unsteady.
fn steadied(advice: Reason, unsteady: Option<Unsteady>) -> Reason {
    match (&advice, unsteady) {
        (Reason::Needed(Needed { of: Repeat::Takes, .. }) | Reason::NearMargin, Some(unsteady)) => {
            Reason::Unsteady(unsteady)
        }
        _ => advice,
    }
}

/// How many more takes or runs would settle it, going by what was found so far.
fn settled_by(found: &Found, held: Held, margin: Margin, family: usize) -> Option<Reason> {
    let needed = |count: usize, of| Reason::Needed(Needed::new(count as u64, of));
    match (found, held) {
        (_, Held::Point | Held::OneTake { .. }) => None,
        (Found::Paired(paired), _) => match stats::needed_takes(paired, margin, family) {
            Some(takes) => Some(needed(takes, Repeat::Takes)),
            None if matches!(held, Held::TooFew { .. }) => None,
            None => Some(Reason::NearMargin),
        },
        (Found::Runs(between, sources), _) => Some(match stats::needed_runs(between, margin, family) {
            Some(runs) => needed(runs, if sources.by_box { Repeat::Boxes } else { Repeat::Runs }),
            None => Reason::NearMargin,
        }),
        (Found::Apart(_) | Found::Point(_) | Found::Refused(_) | Found::Nothing(_), _) => None,
    }
}

/// The description of two published points: of the one that no test measured, else of the arm's.
pub fn points(arm: &Match<'_>, base: &Match<'_>) -> Reason {
    let is_told = arm.row.basis.caveat().is_some() || base.row.basis.caveat().is_none();
    point(if is_told { arm } else { base })
}

/// The description of a published point, with the parameters that it leaves open.
pub fn point(point: &Match<'_>) -> Reason {
    Reason::Point(Point {
        study: (!point.row.is_pasted()).then(|| point.row.study.clone()),
        open: point.open.clone(),
        stated: point.stated.to_string(),
        others: point.others as u64,
        basis: point.row.basis,
        note: point.row.note.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_values_are_told_as_statistics_tell_them() {
        for unfit in [
            stats::Unfit::TooFew { have: 1, need: 6 },
            stats::Unfit::TooFew { have: 4, need: 6 },
            stats::Unfit::NoSpread,
        ] {
            assert_eq!(no_interval(None, &unfit).to_string(), unfit.to_string());
        }
    }
}
