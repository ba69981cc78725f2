//! The next step of a comparison: what would help most of the figures that could not be told, how often, and by which
//! commands.

use std::collections::BTreeMap;

use model::data::RunData;
use model::doc::{Further, NextStep, PlacedDoc, Remedy, RowDoc, VerdictWord};
use model::id::short;
use model::why::{Disturbance, Held, Needed, Reason, Repeat, Weighed, Why, Withheld};

use super::side::Side;
use crate::place;

/// The step for the headline figures that are open, or for all where none is a headline; `None` where none is open, or
/// where no step would help.
pub fn next_step(rows: &[RowDoc], sides: &[Side<'_>]) -> Option<NextStep> {
    let is_whole = |row: &RowDoc| !model::names::is_detail(row.card, &row.metric);
    let any = rows.iter().any(|row| row.headline && is_whole(row));
    let is_open = |row: &&RowDoc| {
        row.verdict == VerdictWord::CannotTell && !row.point && (row.headline && is_whole(row) || !any)
    };
    let open: Vec<&RowDoc> = rows.iter().filter(is_open).collect();
    let mut by: BTreeMap<Remedy, Vec<&RowDoc>> = BTreeMap::new();
    for row in &open {
        let of_logs = row.instrument == model::traffic::INSTRUMENT;
        if let Some(remedy) = remedy(&row.why) {
            let remedy = if of_logs && remedy == Remedy::Repeat { Remedy::LongerLog } else { remedy };
            by.entry(remedy).or_default().push(row);
        }
    }
    // The first of equals is the one that helps the others, too.
    let (remedy, rows) = by.into_iter().rev().max_by_key(|(_, rows)| rows.len())?;
    let needed: Vec<Needed> = rows.iter().filter_map(|row| row.why.needed()).collect();
    let have = |of: Repeat| -> u64 {
        let each = sides.iter().map(|side| match of {
            Repeat::Takes => 0,
            Repeat::Runs => side.runs.len(),
            Repeat::Boxes => side.boxes(),
        });
        each.max().unwrap_or(0) as u64
    };
    let further = needed.first().and_then(|first| Further::new(&needed, have(first.of)));
    // A plan is repeated as it was, with as many takes.
    let is_same = ![Remedy::Margin, Remedy::LongerLog, Remedy::Takes].contains(&remedy)
        && further.is_none_or(|further| further.of != Repeat::Takes);
    let (commands, elsewhere) = if is_same { commands(sides) } else { Default::default() };
    Some(NextStep {
        remedy,
        figures: rows.len() as u64,
        open: open.len() as u64,
        further,
        commands,
        elsewhere,
    })
}

/// The remedy of a row; `None` where its reason says what to do, or where nothing would.
fn remedy(why: &Why) -> Option<Remedy> {
    match why.withheld() {
        Some(Withheld::LowerBound { .. }) => return Some(Remedy::Generator),
        Some(Withheld::Clocks { .. } | Withheld::ClockMoved { .. }) => return Some(Remedy::Clock),
        Some(Withheld::Disturbed { by_what }) => return heaviest(by_what).map(against),
        None => {}
    }
    why.reasons.iter().find_map(|reason| match reason {
        Reason::NearMargin => Some(Remedy::Margin),
        Reason::Needed(_) | Reason::Unsteady(_) | Reason::NoInterval(_) => Some(Remedy::Repeat),
        Reason::Held(Held::FewBlocks { .. }) => Some(Remedy::Repeat),
        Reason::Held(Held::OneTake { .. }) => Some(Remedy::Takes),
        _ => None,
    })
}

/// The disturbance that can have moved the figure furthest; one without a bound before all others.
fn heaviest(by_what: &[Weighed]) -> Option<Disturbance> {
    let share = |one: &Weighed| one.share.unwrap_or(f64::INFINITY);
    by_what.iter().rev().max_by(|a, b| share(a).total_cmp(&share(b))).map(|one| one.what)
}

const fn against(what: Disturbance) -> Remedy {
    match what {
        Disturbance::OtherProcesses | Disturbance::Swap | Disturbance::MajorFaults => Remedy::Quiet,
        Disturbance::Steal => Remedy::Hour,
        Disturbance::Heat => Remedy::Clock,
        Disturbance::SharedCore | Disturbance::LateRequests => Remedy::Generator,
        Disturbance::Cache | Disturbance::Flush => Remedy::Disk,
    }
}

fn newest<'a>(side: &Side<'a>) -> Option<&'a RunData> {
    side.runs.iter().copied().max_by_key(|run| run.head.started_ns)
}

/// One command a study, in the order of the sides: those that repeat it from here, and those that have to run
/// elsewhere.
fn commands(sides: &[Side<'_>]) -> (Vec<String>, Vec<PlacedDoc>) {
    let mut studies: Vec<&str> = Vec::new();
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    let stored = sides.iter().filter(|side| side.is_stored);
    for (side, run) in stored.filter_map(|side| Some((side, newest(side)?))) {
        if studies.contains(&run.head.study.as_str()) {
            continue;
        }
        studies.push(&run.head.study);
        let command = format!("boxscore run --plan {}", short(&run.head.id));
        match place::to_repeat(side, run) {
            None => here.push(command),
            Some(on) => elsewhere.push(PlacedDoc { on, command }),
        }
    }
    (here, elsewhere)
}

#[cfg(test)]
mod tests {
    use model::doc::MachineDoc;

    use super::*;
    use crate::loads::planted::one;
    use crate::paragraph::tests::row;

    fn disturbed(what: Disturbance) -> Why {
        Reason::Withheld(Withheld::Disturbed { by_what: vec![Weighed { what, share: None }] }).into()
    }

    #[test]
    fn the_commonest_cause_has_its_remedy_and_the_runs_their_commands() {
        let mut rows: Vec<RowDoc> = (0..3)
            .map(|_| row("index", "kind=integer", model::Better::Higher, 0.5, VerdictWord::CannotTell))
            .collect();
        rows[0].why = Reason::NearMargin.into();
        for row in &mut rows[1..] {
            row.why = disturbed(Disturbance::OtherProcesses);
            row.why.reasons.push(Reason::Needed(Needed::new(3, Repeat::Runs)));
        }
        let mut runs =
            [one("connections=50", &[("throughput", 1e3)]), one("connections=50", &[("throughput", 1e3)])];
        for (run, id) in runs.iter_mut().zip(["0123456789abcdef", "1123456789abcdef"]) {
            (run.head.id, run.head.study) = (id.into(), "s".into());
        }
        let side = |at: usize| {
            let machine = MachineDoc { id: at.to_string(), name: at.to_string() };
            Side { runs: vec![&runs[at]], is_stored: true, ..Side::new("x", machine) }
        };
        let step = next_step(&rows, &[side(0), side(1)]).unwrap();
        assert_eq!((step.remedy, step.figures, step.open), (Remedy::Quiet, 2, 3));
        assert_eq!(step.further, Some(Further { least: 2, most: 2, of: Repeat::Runs, seconds: None }));
        assert_eq!(step.commands, ["boxscore run --plan 0123456789ab"], "one study");
        let here = MachineDoc { id: "desk".to_owned(), name: "desk".to_owned() };
        let imported = |at: usize| Side { here: Some(here.clone()), ..side(at) };
        let step = next_step(&rows, &[imported(0), imported(1)]).unwrap();
        assert!(step.commands.is_empty(), "it would run on this machine: {:?}", step.commands);
        let on = &runs[0].head.machine;
        assert!(
            step.to_string().ends_with(&format!(": on {on} `boxscore run --plan 0123456789ab`")),
            "{step}"
        );
        assert_eq!(next_step(&rows[..1], &[side(0)]).unwrap().remedy, Remedy::Margin);
        rows.iter_mut().for_each(|row| row.verdict = VerdictWord::Tie);
        assert_eq!(next_step(&rows, &[side(0), side(1)]), None);
    }
}
