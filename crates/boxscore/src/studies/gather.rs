//! Stored runs into the tables of a study.

use std::collections::BTreeMap;

use model::data::Status;
use model::doc::{MachineDoc, RunDoc, StudyDoc, StudyMissingDoc, StudyRunDoc, StudyTableDoc};
use model::note::dropped;
use model::study_file::{Column, Missing, StudyFile, StudyRun, StudyTable};
use model::{Fact, NoteBody, Params};
use report::text::notes;
use report::text::spec::Spec;
use verdict::study_tables::{Absent, MeasuredRun, NOT_YET, TableSide, table};

use super::SCHEMA;
use super::schedule::{self, Scheduled};
use super::source::ColumnMachine;
use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::names;
use crate::lookup::resolve::Resolver;
use crate::lookup::runs::is_whole;
use crate::show::shown;
use crate::show::shown::Shown;

/// The study before anything of it is measured: its tables have no rows.
pub fn planned(file: &StudyFile, scheduled: &[Scheduled<'_>], is_quick: bool) -> StudyDoc {
    let runs = run_docs(&scheduled.iter().collect::<Vec<_>>());
    let title = |table: &StudyTable| StudyTableDoc {
        name: table.name.clone(),
        title: table.title.clone(),
        columns: Vec::new(),
        rows: Vec::new(),
        notes: Vec::new(),
    };
    let tables = file.tables.iter().map(title).collect();
    StudyDoc { runs, tables, missing: missing(file, scheduled), ..head(file, is_quick) }
}

/// The study with the figures of the newest run of each of its labels.
pub fn gathered(
    file: &StudyFile,
    scheduled: &[Scheduled<'_>],
    machines: &[ColumnMachine],
    is_quick: bool,
    global: &Global,
) -> Result<StudyDoc, CliError> {
    let mut resolver = Resolver::new(global)?;
    let mut stored: Vec<Option<Shown>> = Vec::new();
    for one in scheduled {
        let head = schedule::newest(&resolver, &one.label, one.machine_id.as_deref(), is_whole);
        stored.push(match head {
            Some(head) => Some(shown::shown(&head.id, SCHEMA, true, &mut resolver)?),
            None => None,
        });
    }
    let newest = stored.iter().flatten().max_by(|a, b| a.doc.started.total_cmp(&b.doc.started));
    let live = if newest.is_none() { names::this().1 } else { Vec::new() };
    let facts: &[Fact] = newest.map_or(live.as_slice(), |one| &one.data.facts);
    let here = TableSide {
        facts,
        price: newest.and_then(|one| one.doc.price.as_ref()),
        watts: newest.and_then(|one| one.doc.watts),
        ..TableSide::default()
    };
    let of_table = |one: &StudyTable| {
        let is_its = |run: &StudyRun| one.run.as_ref().is_none_or(|name| *name == run.name);
        let own = scheduled.iter().zip(&stored).filter(|(scheduled, _)| is_its(scheduled.run));
        let own: Vec<(&Scheduled<'_>, &Option<Shown>)> = own.collect();
        let absent = absent(&own, &resolver);
        let runs = own.into_iter().filter_map(|(_, shown)| shown.as_ref());
        let runs = runs.map(|shown| MeasuredRun { doc: &shown.doc, data: &shown.data }).collect();
        let here = TableSide { runs, ..here.clone() };
        table(one, instruments::cards(), &|column: &Column| side(column, &here, machines), &absent)
    };
    let tables = file.tables.iter().map(of_table).collect();
    let mut runs = run_docs(&scheduled.iter().collect::<Vec<_>>());
    runs.iter_mut().zip(&stored).for_each(|(run, shown)| fill(run, shown.as_ref()));
    Ok(StudyDoc {
        machine: newest.map(|one| one.doc.machine.clone()),
        machine_says: said(newest.map(|one| &one.doc.machine), facts),
        runs,
        tables,
        missing: missing(file, scheduled),
        doubts: doubts(scheduled, &stored),
        ..head(file, is_quick)
    })
}

fn head(file: &StudyFile, quick: bool) -> StudyDoc {
    StudyDoc {
        schema: SCHEMA.to_owned(),
        study: file.name.clone(),
        title: file.title.clone(),
        about: file.about.clone(),
        machine: None,
        machine_says: String::new(),
        quick,
        runs: Vec::new(),
        tables: Vec::new(),
        missing: Vec::new(),
        doubts: Vec::new(),
    }
}

fn side<'a>(column: &Column, here: &TableSide<'a>, machines: &'a [ColumnMachine]) -> TableSide<'a> {
    if column.is_here() {
        return here.clone();
    }
    let Some(machine) = machines.iter().find(|machine| machine.name == column.machine) else {
        return TableSide::default();
    };
    let runs = machine.runs.iter().zip(&machine.loaded.runs).map(|(doc, data)| MeasuredRun { doc, data });
    TableSide {
        published: &machine.loaded.published,
        runs: runs.rev().collect(),
        facts: &machine.loaded.facts,
        price: machine.loaded.price.as_ref(),
        watts: machine.loaded.watts,
    }
}

/// The machine in a few words.
fn said(machine: Option<&MachineDoc>, facts: &[Fact]) -> String {
    let spec = Spec(facts);
    let virt = spec.text("virt.kind").filter(|kind| *kind != "none").map(|kind| format!("a guest of {kind}"));
    let name = machine.map(|machine| machine.name.clone());
    let kernel = spec.text("kernel.release").map(|release| format!("Linux {release}"));
    [name, spec.processor(), spec.memory(), virt, kernel].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The figures that this machine has not, by the plans of these runs and by what they met.
fn absent(runs: &[(&Scheduled<'_>, &Option<Shown>)], resolver: &Resolver) -> Vec<Absent> {
    let mut all: Vec<Absent> = runs.iter().flat_map(|(one, _)| one.left_out.clone()).collect();
    for (one, shown) in runs {
        let Some(shown) = shown else {
            let why = unfinished(one, resolver).unwrap_or_else(|| NOT_YET.to_owned());
            all.extend(schedule::of_all(one.run, &why));
            continue;
        };
        let met = dropped(&shown.data.notes).filter_map(|body| match body {
            NoteBody::Unfit(cell) | NoteBody::GivenUp(cell) => Some(cell),
            _ => None,
        });
        for cell in met {
            let (instrument, params) = cell.what.split_once(' ').unwrap_or((cell.what.as_str(), ""));
            let params = Params::parse(params).unwrap_or_default();
            all.push(Absent { instrument: instrument.to_owned(), params, why: cell.reason().into_owned() });
        }
        if let Some(fault) = shown.doc.errors.keys().next() {
            all.extend(schedule::of_all(one.run, &format!("its takes failed: {fault}")));
        }
    }
    // Last, since another run may be the one that should have the figure.
    for (one, shown) in runs {
        let Some(shown) = shown else { continue };
        let why = format!("run {} ended before its first take of it", short(&shown.doc.run));
        all.extend(schedule::of_all(one.run, &why));
    }
    all
}

/// Why a run that was begun has no figure.
fn unfinished(one: &Scheduled<'_>, resolver: &Resolver) -> Option<String> {
    let head = schedule::newest(resolver, &one.label, one.machine_id.as_deref(), |_| true)?;
    let id = short(&head.id);
    Some(match head.status {
        Status::Running => format!("run {id} is being measured"),
        Status::Interrupted => format!("run {id} was interrupted: boxscore resume {id}"),
        _ => format!("run {id} ended before its first take, for want of time"),
    })
}

/// Parts of the study that cannot be had: as the file says, then as this machine does, each reason once.
fn missing(file: &StudyFile, scheduled: &[Scheduled<'_>]) -> Vec<StudyMissingDoc> {
    let said = |one: &Missing| StudyMissingDoc { what: one.what.clone(), why: one.why.clone() };
    let mut all: Vec<StudyMissingDoc> = file.missing.iter().map(said).collect();
    for one in scheduled.iter().flat_map(|one| &one.left_out) {
        if !all.iter().any(|known| known.what == one.instrument && known.why == one.why) {
            all.push(StudyMissingDoc { what: one.instrument.clone(), why: one.why.clone() });
        }
    }
    all
}

/// The doubts about each run, those that several have once.
fn doubts(scheduled: &[Scheduled<'_>], stored: &[Option<Shown>]) -> Vec<String> {
    let mut all: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (one, shown) in scheduled.iter().zip(stored) {
        let Some(shown) = shown else { continue };
        for note in notes::brief_doubts(&shown.doc.findings, &notes::headlines(&shown.doc)) {
            all.entry(note.text).or_default().push(&one.run.name);
        }
    }
    all.into_iter().map(|(text, runs)| format!("{}: {text}", runs.join(", "))).collect()
}

/// The runs as they are planned.
pub fn run_docs(scheduled: &[&Scheduled<'_>]) -> Vec<StudyRunDoc> {
    let part = |one: &Absent| StudyMissingDoc {
        what: format!("{} {}", one.instrument, one.params).trim_end().to_owned(),
        why: one.why.clone(),
    };
    let doc = |one: &&Scheduled<'_>| StudyRunDoc {
        name: one.run.name.clone(),
        label: one.label.clone(),
        measures: one.run.measure.clone(),
        set: one.args.usual.sets.clone(),
        arms: one.run.arms.clone(),
        takes: u64::from(one.extent.takes),
        cells: one.cells as u64,
        expected_seconds: one.expected,
        most_seconds: one.extent.most_seconds,
        run: None,
        status: None,
        started: None,
        seconds: None,
        by_hand: one.run.by_hand.as_ref().map(|command| command.replace("{label}", &one.label)),
        why: one.why.clone(),
        left_out: if one.why.is_some() { Vec::new() } else { one.left_out.iter().map(part).collect() },
    };
    scheduled.iter().map(doc).collect()
}

fn fill(run: &mut StudyRunDoc, shown: Option<&Shown>) {
    let Some(RunDoc { run: id, status, started, seconds, .. }) = shown.map(|shown| &shown.doc) else {
        return;
    };
    (run.run, run.status) = (Some(id.clone()), Some(*status));
    (run.started, run.seconds) = (Some(*started), *seconds);
}
