//! The check of boxscore itself: what it used beside the takes of the newest run.

use model::Validity;
use model::data::RunData;
use model::doc::CheckDoc;
use model::finding::Rule;

use super::check::Check;
use crate::rules::findings;

/// `Err` says why there is no run to look at. A run `elsewhere` is of another machine, measured from here.
pub fn own_cost(newest: Result<&RunData, String>, elsewhere: bool) -> CheckDoc {
    let check = Check { key: "own-cost", wanted: "under 1 % of one core" };
    let run = match newest {
        Ok(run) => run,
        Err(why) => return check.unknown(why),
    };
    let Some(found) = findings(run).into_iter().find(|finding| matches!(finding.rule, Rule::OwnCost(_)))
    else {
        return check.unknown("the newest run says nothing of it");
    };
    let text = match elsewhere {
        true => {
            format!("on {}, by --via: {}", run.head.label.as_ref().unwrap_or(&run.head.machine), found.text())
        }
        false => found.text(),
    };
    match found.state {
        Validity::Ok => check.ok(text),
        Validity::Unknown => check.unknown(format!("of the newest run: {text}")),
        _ => check.warn(text, "give it a core of its own: leave one out with `boxscore run --cpus LIST`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_another_machine_is_said_to_be_one() {
        let mut run = crate::loads::planted::empty();
        run.head.machine = "far".to_owned();
        let said = |elsewhere: bool| own_cost(Ok(&run), elsewhere).found;
        assert!(said(true).contains("on far, by --via: "), "{}", said(true));
        assert!(!said(false).contains("far"), "{}", said(false));
        assert_eq!(own_cost(Err("nothing".to_owned()), false).found, "nothing");
    }
}
