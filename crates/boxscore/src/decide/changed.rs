//! A decision held against a stored one: is the answer still the same?

use std::collections::BTreeMap;
use std::path::Path;

use model::doc::decide::SCHEMA;
use model::doc::{CandidateDoc, DecideDoc};
use model::format::list;

use crate::error::CliError;

/// Reads what `decide --json` printed.
pub fn stored(path: &Path) -> Result<DecideDoc, CliError> {
    let file = path.display();
    let wrong = |what: String| {
        CliError::data(format!("--against {file}: {what}"))
            .hint("`boxscore decide ... --json` prints a decision")
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let doc: DecideDoc =
        serde_json::from_str(&text).map_err(|error| wrong(format!("not a decision: {error}")))?;
    match doc.schema == SCHEMA {
        true => Ok(doc),
        false => Err(wrong(format!("schema: {:?}; this boxscore reads {SCHEMA:?}", doc.schema))),
    }
}

/// How the answer differs: other candidates, or another number of one; `None` where it is the same.
pub fn change(before: &DecideDoc, now: &DecideDoc) -> Option<String> {
    let (before, now) = (chosen(&before.candidates), chosen(&now.candidates));
    (before != now).then(|| format!("changed: {}, before {}", said(&now), said(&before)))
}

/// The first candidate with its boxes, and those that cannot be told apart from it, whatever their order.
fn chosen(candidates: &[CandidateDoc]) -> BTreeMap<&str, u64> {
    let Some(first) = candidates.first() else { return BTreeMap::new() };
    let is_tied =
        |one: &&CandidateDoc| one.name == first.name || (first.tie.is_some() && one.tie == first.tie);
    candidates.iter().filter(is_tied).map(|one| (one.name.as_str(), one.boxes.total)).collect()
}

fn said(chosen: &BTreeMap<&str, u64>) -> String {
    let each: Vec<String> = chosen.iter().map(|(name, boxes)| format!("{boxes} of {name}")).collect();
    match each.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        tied => format!("a tie of {}", list(tied)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(all: &[(&str, u64, Option<u64>)]) -> Vec<CandidateDoc> {
        let one = |(name, total, tie): &(&str, u64, Option<u64>)| {
            serde_json::from_value(serde_json::json!({
                "name": name, "machine": {"id": "", "name": name}, "published": false, "capacities": [],
                "boxes": {"needed": total, "probability": 1.0, "next": null, "low": total, "high": total,
                          "spare": 0, "total": total, "at_most": false, "binding": "web", "utilisation": null},
                "price": null, "watts": null, "rack_units": null, "cost": null, "no_cost": null,
                "total_watts": null, "total_rack_units": null, "racks": null, "boxes_per_rack": null,
                "rack_bound": null, "joules": [], "per_million": [], "cheapest": null, "tie": tie, "ratio": null
            }))
            .unwrap()
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn a_tie_is_an_answer_of_its_own_whatever_its_order() {
        let tied = candidates(&[("a", 5, Some(1)), ("b", 7, Some(1)), ("c", 9, Some(2))]);
        let turned = candidates(&[("b", 7, Some(1)), ("a", 5, Some(1)), ("c", 8, Some(2))]);
        let won = candidates(&[("a", 5, Some(1)), ("b", 7, Some(2)), ("c", 9, Some(3))]);
        assert_eq!(chosen(&tied), chosen(&turned));
        assert_ne!(chosen(&tied), chosen(&won));
        assert_eq!(
            (said(&chosen(&tied)), said(&chosen(&won))),
            ("a tie of 5 of a and 7 of b".into(), "5 of a".into())
        );
        // Without a cost nothing is tied: the first has the fewest boxes.
        let free = candidates(&[("a", 5, None), ("b", 7, None)]);
        assert_eq!((chosen(&free), said(&chosen(&[]))), (chosen(&won), "nothing".into()));
    }
}
