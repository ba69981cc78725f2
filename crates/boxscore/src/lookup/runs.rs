//! Finds runs by name: `latest`, `latest~N`, an id or its beginning, or a label. For machines see `names`.

use lab::ranges::fold;
use model::data::{RunHead, Status};
use model::doc::MachineDoc;
use model::format::count;
use store::{Filter, Store, StoreError};

use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::names::is_of;
use crate::lookup::what::what;
use crate::out;

/// The id of the run that a name means: `latest`, `latest~N`, an id or its beginning, or a label of one run.
pub fn run_id(name: &str, store: &Store) -> Result<String, CliError> {
    if let Some(back) = latest(name)? {
        return nth_latest(store, back).map(|head| head.id);
    }
    the_one(name, &labelled(name, store)?, store)
}

/// The run of a label, else the one whose id the name is.
fn the_one(name: &str, labelled: &[RunHead], store: &Store) -> Result<String, CliError> {
    match labelled {
        [] => match store.resolve(name) {
            Err(error @ StoreError::NoRun { .. }) => {
                Err(CliError::from(error).hint(known_names(store.is_empty()?)))
            }
            found => found.map_err(CliError::from),
        },
        [head] => Ok(head.id.clone()),
        many => Err(ambiguous_runs(name, &many.iter().collect::<Vec<_>>())),
    }
}

/// One run to show. Of a label that several runs of one machine have it is the newest complete one, and a note says so.
pub fn one_run(name: &str, store: &Store) -> Result<String, CliError> {
    let labelled = labelled(name, store)?;
    let newest = labelled.iter().rfind(|head| is_whole(head) && !head.hidden).or(labelled.last());
    match newest {
        Some(newest) if labelled.len() > 1 => {
            if !are_of_one_machine(newest, &labelled) {
                return Err(ambiguous_runs(name, &labelled.iter().collect::<Vec<_>>()));
            }
            out::say(&format!(
                "note: {} runs have the label {name}; this is the newest: {} (`boxscore history --label` lists them)",
                labelled.len(),
                short(&newest.id)
            ));
            Ok(newest.id.clone())
        }
        _ if latest(name)?.is_some() => run_id(name, store),
        _ => the_one(name, &labelled, store),
    }
}

/// As `names` finds the runs of a machine, whichever verb measured it.
fn are_of_one_machine(newest: &RunHead, all: &[RunHead]) -> bool {
    let machine = MachineDoc { id: newest.machine_id.clone(), name: newest.machine.clone() };
    all.iter().all(|head| is_of(&machine, head))
}

/// The runs of a label; `latest` is no label.
fn labelled(name: &str, store: &Store) -> Result<Vec<RunHead>, CliError> {
    if latest(name)?.is_some() {
        return Ok(Vec::new());
    }
    store.heads(&Filter { label: Some(name.to_owned()), ..Filter::default() }).map_err(CliError::from)
}

/// The runs that names mean, each once, to `verb` them. Fails where a name means none or several, and where a run is
/// in progress: then nothing was `done`.
pub fn ended(names: &[String], store: &Store, (verb, done): (&str, &str)) -> Result<Vec<RunHead>, CliError> {
    let mut heads: Vec<RunHead> = Vec::new();
    for name in names {
        let id = run_id(name, store)?;
        if !heads.iter().any(|known| known.id == id) {
            heads.push(store.head(&id)?);
        }
    }
    match heads.iter().find(|head| head.status == Status::Running) {
        Some(head) => {
            Err(CliError::data(format!("run {} is in progress, so nothing was {done}", short(&head.id)))
                .hint(format!("wait until it ends, or stop it with Ctrl-C; then {verb} it")))
        }
        None => Ok(heads),
    }
}

/// `01a2c3d4e5f6  2026-11-24 17:13  vm  `sleep 0.05`  24 takes  [label]`
pub fn in_one_line(head: &RunHead, store: &Store) -> Result<String, CliError> {
    let plan = store.plan(&head.study)?;
    let what = what(&plan, instruments::cards());
    let label = head.label.as_ref().map(|label| format!("  [{label}]")).unwrap_or_default();
    let started = report::text::date_time(head.started_ns as f64 / 1e9);
    let (run, machine) = (short(&head.id), &head.machine);
    let takes = count(usize::try_from(head.takes).unwrap_or(usize::MAX), "take");
    Ok(format!("{run}  {started}  {machine}  {what}  {takes}{label}"))
}

pub fn ids_of(heads: &[RunHead]) -> Vec<String> {
    heads.iter().map(|head| head.id.clone()).collect()
}

pub fn known_names(is_empty: bool) -> String {
    match is_empty {
        false => "`boxscore history` lists the runs; `latest` and `latest~1` work too".to_owned(),
        true => "the store is empty: `boxscore run --quick` measures this machine".to_owned(),
    }
}

/// `latest` is 0, `latest~N` is N.
pub fn latest(name: &str) -> Result<Option<usize>, CliError> {
    let Some(rest) = name.strip_prefix("latest") else { return Ok(None) };
    match rest.strip_prefix('~') {
        None if rest.is_empty() => Ok(Some(0)),
        None => Ok(None),
        Some(number) => number.parse().map(Some).map_err(|_| {
            CliError::usage(format!("`{name}`: a number must follow latest~"))
                .hint("latest~1 is the one before")
        }),
    }
}

/// True for a run that can be compared: complete, or faulty with at least one good measured take.
pub fn is_whole(head: &RunHead) -> bool {
    match head.status {
        Status::Complete => true,
        Status::Faulty => head.measured > 0,
        Status::Running | Status::Interrupted => false,
    }
}

/// The complete run that was stored last, or `back` ones before it. Hidden ones do not count.
pub fn nth_latest(store: &Store, back: usize) -> Result<RunHead, CliError> {
    /// Runs that are read at first. Nearly always the wanted one is among them.
    const FIRST: usize = 64;
    let mut most = FIRST.max(back.saturating_mul(2));
    let (cut, mut heads) = loop {
        let mut heads = store.last_heads(most)?;
        let is_all = heads.len() < most;
        heads.retain(|head| !head.hidden);
        let cut = heads.iter().any(|head| head.status == Status::Interrupted);
        heads.retain(is_whole);
        if is_all || heads.len() > back {
            break (cut, heads);
        }
        most = most.saturating_mul(8);
    };
    if let Some(at) = heads.len().checked_sub(back + 1) {
        return Ok(heads.swap_remove(at));
    }
    let name = if back == 0 { "latest".to_owned() } else { format!("latest~{back}") };
    let hint = match cut {
        true => "`boxscore resume` completes an interrupted run; `boxscore history` lists the runs",
        false => "`boxscore run --quick` measures this machine; `boxscore history` lists the runs",
    };
    let have = match heads.len() {
        0 => "no complete run".to_owned(),
        1 => "1 complete run".to_owned(),
        many => format!("{many} complete runs"),
    };
    Err(CliError::data(format!("the store has {have}, so no `{name}`")).hint(hint))
}

pub fn candidate(head: &RunHead) -> String {
    let label = head.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
    format!("run {} of {}{label}", short(&head.id), head.machine)
}

/// Of a name of many runs their machines are told, as the shortest expression of them.
pub fn ambiguous_runs(name: &str, heads: &[&RunHead]) -> CliError {
    /// Runs that are told one by one.
    const TOLD: usize = 8;
    if heads.len() <= TOLD {
        return ambiguous(name, heads.iter().map(|head| candidate(head)));
    }
    let machines = fold(heads.iter().map(|head| head.machine.as_str()));
    CliError::data(format!("`{name}` may mean any of {} runs of {machines}", heads.len())).hint(
        "`boxscore history --label` lists them; give the run's id, or a label that only one machine has",
    )
}

pub fn ambiguous(name: &str, candidates: impl Iterator<Item = String>) -> CliError {
    let list: Vec<String> = candidates.collect();
    CliError::data(format!("`{name}` may mean any of {}: {}", list.len(), list.join("; ")))
        .hint("give the run's id, or a label that only one machine has")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(number: usize) -> RunHead {
        RunHead {
            id: format!("r{number}"),
            study: "s".to_owned(),
            status: Status::Complete,
            machine_id: format!("hw/atom{number:03}"),
            machine: format!("atom{number:03}"),
            label: None,
            started_ns: 0,
            seconds: None,
            build: String::new(),
            config_class: String::new(),
            price: None,
            watts: None,
            takes: 1,
            faults: 0,
            measured: 1,
            hidden: false,
        }
    }

    #[test]
    fn a_node_is_one_machine_whether_it_or_another_one_measured_it() {
        let from_elsewhere = head(1);
        let by_itself = RunHead { machine_id: "hw".to_owned(), ..head(1) };
        assert!(are_of_one_machine(&from_elsewhere, &[by_itself.clone(), from_elsewhere.clone()]));
        assert!(are_of_one_machine(&by_itself, std::slice::from_ref(&from_elsewhere)));
        assert!(!are_of_one_machine(&from_elsewhere, &[from_elsewhere.clone(), head(2)]), "equal hardware");
    }

    #[test]
    fn runs_of_many_machines_are_told_by_the_expression_of_these() {
        let heads: Vec<RunHead> = (1..=132).map(head).collect();
        let error = ambiguous_runs("rack", &heads.iter().collect::<Vec<_>>());
        assert_eq!(error.message, "`rack` may mean any of 132 runs of atom[001-132]");
        let few = ambiguous_runs("rack", &heads.iter().take(2).collect::<Vec<_>>());
        assert!(few.message.contains("any of 2: run ") && few.message.contains(" of atom002"), "{few:?}");
    }
}
