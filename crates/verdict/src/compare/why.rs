//! Why a row is not decided, what would decide it, and what a point is.

use stats::{Held, Margin, Verdict};

use super::judge::Found;
use super::matching::Match;
use crate::say;

/// One sentence for a row, or nothing where the verdict speaks for itself.
pub fn sentence(
    found: &Found,
    verdict: Verdict,
    (margin, raised): (Margin, Option<&str>),
    family: usize,
    doubt: Option<&str>,
) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    match (found, verdict) {
        (Found::Refused(why) | Found::Point(why) | Found::Nothing(why), _) => parts.push(why.clone()),
        (_, Verdict::CannotTell(held)) => {
            parts.push(held_back(held, family));
            parts.extend(settled_by(found, held, margin, family));
        }
        _ => {}
    }
    if matches!(found, Found::Paired(_) | Found::Runs(_)) {
        parts.extend(raised.map(str::to_owned));
    }
    parts.extend(doubt.map(|doubt| format!("doubtful: {doubt}")));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What held a verdict back.
pub fn held_back(held: Held, family: usize) -> String {
    match held {
        Held::FamilySize => format!("clear alone, not among {}", say::count(family, "row")),
        other => other.to_string(),
    }
}

/// How many more takes or runs would settle it, going by what was found so far.
fn settled_by(found: &Found, held: Held, margin: Margin, family: usize) -> Option<String> {
    if matches!(held, Held::Point) {
        return None;
    }
    let never = || Some("more of the same would not settle it: too close to the margin".to_owned());
    match found {
        Found::Paired(paired) => match stats::needed_takes(paired, margin, family) {
            Some(takes) => Some(enough(takes, "take")),
            None if matches!(held, Held::TooFew { .. }) => None,
            None => never(),
        },
        Found::Runs(between) => match stats::needed_runs(between, margin, family) {
            Some(runs) if runs > MANY => {
                let study = "an interleaved study (`--arm` or `--via`) needs less";
                Some(format!("{}; {study}", enough(runs, "run")))
            }
            Some(runs) => Some(enough(runs, "run")),
            None => never(),
        },
        Found::Point(_) | Found::Refused(_) | Found::Nothing(_) => None,
    }
}

/// More than these are many.
const MANY: usize = 30;

fn enough(number: usize, what: &str) -> String {
    if number > MANY {
        format!("it would need many more {what}s (about {number} each)")
    } else {
        format!("about {} each would settle it", say::count(number, what))
    }
}

/// What a figure of a pasted line is.
pub const PASTED: &str = "pasted line: a point with its interval, without samples";

/// What a published point is, and what it leaves open.
pub fn point(point: &Match<'_>) -> String {
    let mut parts = vec![match point.row.study.as_str() {
        "pasted" => PASTED.to_owned(),
        study => format!("point of {study} without samples"),
    }];
    if !point.open.is_empty() {
        parts.push(format!("it leaves open: {}", point.open.join(", ")));
    }
    if !point.stated.is_empty() {
        parts.push(format!("it was taken with {}", point.stated));
    }
    if point.others > 0 {
        parts.push(format!("{} more of its figures would fit", point.others));
    }
    if !point.row.note.is_empty() {
        parts.push(point.row.note.clone());
    }
    parts.join("; ")
}
