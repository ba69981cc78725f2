//! A decision held against a stored one: is the answer still the same?

use std::path::Path;

use model::doc::DecideDoc;
use model::doc::decide::SCHEMA;

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

/// How the answer differs: another candidate, or another number of it; `None` where it is the same.
pub fn change(before: &DecideDoc, now: &DecideDoc) -> Option<String> {
    let chosen = |doc: &DecideDoc| doc.candidates.first().map(|one| (one.name.clone(), one.boxes.total));
    let said = |chosen: Option<(String, u64)>| match chosen {
        Some((name, boxes)) => format!("{boxes} of {name}"),
        None => "nothing".to_owned(),
    };
    let (before, now) = (chosen(before), chosen(now));
    (before != now).then(|| format!("changed: {}, before {}", said(now), said(before)))
}
