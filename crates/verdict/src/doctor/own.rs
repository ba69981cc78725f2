//! The check of boxscore itself: what it used beside the takes of the newest run.

use model::Validity;
use model::data::RunData;
use model::doc::CheckDoc;
use model::finding::Rule;

use super::check::Check;
use crate::rules::findings;

/// `Err` says why there is no run to look at.
pub fn own_cost(newest: Result<&RunData, String>) -> CheckDoc {
    let check = Check { key: "own-cost", wanted: "under 1 % of one core" };
    let run = match newest {
        Ok(run) => run,
        Err(why) => return check.unknown(why),
    };
    let Some(found) = findings(run).into_iter().find(|finding| matches!(finding.rule, Rule::OwnCost(_)))
    else {
        return check.unknown("the newest run says nothing of it");
    };
    match found.state {
        Validity::Ok => check.ok(found.text()),
        Validity::Unknown => check.unknown(format!("of the newest run: {}", found.text())),
        _ => check
            .warn(found.text(), "give it a core of its own: leave one out with `boxscore run --cpus LIST`"),
    }
}
