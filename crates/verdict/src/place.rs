//! Where the commands have to run that measure a side again. A machine that was measured through `--via` is reached
//! from here by the same command. One that was measured by hand, whose runs were imported, is not: the command has to
//! run there. So has one for a planted machine, which nobody ever reached.

use std::collections::BTreeSet;

use model::data::RunData;
use model::doc::MachineDoc;
use model::format::list;
use model::plan::Via;
use model::shell::word;

use crate::compare::Side;

/// The way to a run's machine, where one leads there from here.
pub fn via(run: &RunData) -> Option<&Via> {
    let machines = &run.plan.machines;
    let own = machines.iter().find(|via| machines.len() == 1 || via.name == run.head.machine);
    own.filter(|via| via.command.is_some() && run.plan.fake.is_none())
}

/// `--via NAME=COMMAND` of each machine of the side that is reached from here.
pub fn ways(side: &Side<'_>) -> Vec<String> {
    machines(side).filter_map(via).flat_map(|via| flag("--via", via)).collect()
}

/// A flag with the name and the command of an agent; none where it is this machine.
pub fn flag(flag: &str, via: &Via) -> Vec<String> {
    let Some(command) = &via.command else { return Vec::new() };
    let named = if via.name.is_empty() { command.clone() } else { format!("{}={command}", via.name) };
    vec![flag.to_owned(), word(&named)]
}

/// A run of each of the side's machines.
fn machines<'a>(side: &Side<'a>) -> impl Iterator<Item = &'a RunData> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    side.runs.iter().copied().filter(move |run| seen.insert(run.head.machine_id.as_str()))
}

/// The machines on which a new measurement of the side has to be started: `north`, `north and south`. `None` where it
/// can be started here.
pub fn to_measure(side: &Side<'_>) -> Option<String> {
    let is_away = |run: &&RunData| via(run).is_none() && !is_here(side, run);
    let away: Vec<String> = machines(side).filter(is_away).map(|run| run.head.machine.clone()).collect();
    if side.runs.is_empty() {
        // Published, or known by its sheet alone.
        return (!is_own(side, &side.machine)).then(|| side.machine.name.clone());
    }
    (!away.is_empty()).then(|| list(&away))
}

/// The machine on which `run --plan` of a stored run has to be started; `None` where it is here. A planted plan has its
/// world with it.
pub fn to_repeat(side: &Side<'_>, run: &RunData) -> Option<String> {
    let is_reached = run.plan.fake.is_some() || via(run).is_some() || is_here(side, run);
    (!is_reached).then(|| run.head.machine.clone())
}

fn is_here(side: &Side<'_>, run: &RunData) -> bool {
    is_own(side, &MachineDoc { id: run.head.machine_id.clone(), name: run.head.machine.clone() })
}

fn is_own(side: &Side<'_>, machine: &MachineDoc) -> bool {
    side.here.as_ref().is_none_or(|here| here.host() == machine.host())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::fake::FakeWorld;

    use super::*;
    use crate::loads::planted::one;

    fn run(machine: &str, command: Option<&str>) -> RunData {
        let mut run = one("connections=50", &[("throughput", 1e3)]);
        (run.head.machine_id, run.head.machine) = (format!("{machine}-id"), machine.to_owned());
        run.plan.machines = [Via { name: machine.to_owned(), command: command.map(str::to_owned) }].into();
        run
    }

    fn side<'a>(runs: &[&'a RunData]) -> Side<'a> {
        let here = MachineDoc { id: "desk-id".to_owned(), name: "desk".to_owned() };
        let machine = MachineDoc { id: "x".to_owned(), name: "x".to_owned() };
        Side { runs: runs.to_vec(), here: Some(here), ..Side::new("x", machine) }
    }

    #[test]
    fn a_command_runs_where_the_machine_is() {
        let (desk, north) = (run("desk", None), run("north", None));
        let (south, reached) = (run("south", None), run("north", Some("ssh north boxscore")));
        assert_eq!(to_measure(&side(&[&desk])), None);
        assert_eq!(to_measure(&side(&[&reached])), None);
        assert_eq!(ways(&side(&[&reached, &reached, &desk])), ["--via", "'north=ssh north boxscore'"]);
        assert_eq!(to_measure(&side(&[&north])).as_deref(), Some("north"));
        assert_eq!(to_measure(&side(&[&north, &north, &south, &desk])).as_deref(), Some("north and south"));
        assert_eq!(to_measure(&side(&[])).as_deref(), Some("x"), "it is known by its sheet alone");
        let unknown = Side { here: None, ..side(&[&north]) };
        assert_eq!(to_measure(&unknown), None, "nobody said where this program runs");
        assert_eq!(to_repeat(&side(&[]), &north).as_deref(), Some("north"));
        assert_eq!([to_repeat(&side(&[]), &desk), to_repeat(&side(&[]), &reached)], [None, None]);
    }

    #[test]
    fn a_machine_of_a_study_on_this_box_is_here() {
        let mut one = run("a", None);
        "desk-id/a".clone_into(&mut one.head.machine_id);
        assert_eq!(to_measure(&side(&[&one])), None);
    }

    #[test]
    fn nobody_reached_a_planted_machine_and_its_plan_has_its_world() {
        let mut planted = run("north", Some("./boxscore"));
        planted.plan.fake = Some(FakeWorld {
            seed: 1,
            start: 0,
            take_seconds: 0.1,
            run_index: 0,
            machines: BTreeMap::new(),
            series: Vec::new(),
        });
        assert_eq!(to_measure(&side(&[&planted])).as_deref(), Some("north"));
        assert_eq!(to_repeat(&side(&[]), &planted), None);
    }
}
