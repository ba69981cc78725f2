//! Stored runs into the tables of a study.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lab::ranges::fold;
use model::data::Status;
use model::doc::{
    MachineDoc, OddMissingDoc, RunDoc, StudyDoc, StudyMissingDoc, StudyOrderDoc, StudyRunDoc, StudyTableDoc,
};
use model::format::count;
use model::note::dropped;
use model::study_file::{Column, Missing, StudyFile, StudyRun, StudyTable};
use model::{Fact, NoteBody, Params};
use report::text::notes;
use report::text::spec::Spec;
use verdict::study_tables::{Absent, MeasuredRun, NOT_YET, TableSide, table};

use super::SCHEMA;
use super::places::{Place, Places};
use super::schedule::{self, Scheduled};
use super::source::ColumnMachine;
use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::names;
use crate::lookup::resolve::Resolver;
use crate::lookup::runs::is_whole;
use crate::show::shown::Shown;
use crate::show::{nodes, shown};

/// The study before anything of it is measured: its tables have no rows.
pub fn planned(file: &StudyFile, scheduled: &[Scheduled<'_>], places: &Places, is_quick: bool) -> StudyDoc {
    let runs = run_docs(&scheduled.iter().collect::<Vec<_>>());
    let title = |table: &StudyTable| StudyTableDoc {
        name: table.name.clone(),
        title: table.title.clone(),
        columns: Vec::new(),
        rows: Vec::new(),
        notes: Vec::new(),
    };
    let tables = file.tables.iter().map(title).collect();
    StudyDoc { runs, tables, missing: missing(file, scheduled), ..head(file, places, is_quick) }
}

/// The study with the figures of the newest run of each of its labels.
pub fn gathered(
    file: &StudyFile,
    scheduled: &[Scheduled<'_>],
    places: &Places,
    machines: &[ColumnMachine],
    is_quick: bool,
    global: &Global,
) -> Result<StudyDoc, CliError> {
    let mut resolver = Resolver::new(global)?;
    let mut measured: Vec<AtPlace<'_>> = Vec::new();
    for place in &places.all {
        measured.push(at_place(place, scheduled, &mut resolver)?);
    }
    let names = places.nodes();
    let tables = file.tables.iter().map(|one| {
        let one = if names.is_empty() { one.clone() } else { one.of_nodes(&names) };
        let own: Vec<TableSide<'_>> =
            measured.iter().map(|place| place.side(&one, scheduled, &resolver)).collect();
        let side = |column: &Column| {
            let at = places.all.iter().position(|place| place.node() == column.node.as_deref());
            match at.filter(|_| column.is_here()) {
                Some(at) => own[at].clone(),
                None => side(column, machines),
            }
        };
        table(&one, instruments::cards(), &side)
    });
    let tables = tables.collect();
    let orders = if names.is_empty() { Vec::new() } else { orders(scheduled, &measured, &mut resolver)? };
    let mut runs: Vec<StudyRunDoc> = measured.iter().flat_map(|place| place.runs(scheduled)).collect();
    // What the user makes is of no place.
    let mut by_hand = BTreeSet::new();
    runs.retain(|run| run.by_hand.is_none() || by_hand.insert(run.label.clone()));
    let (machine, machine_says) = match measured.as_slice() {
        [only] if names.is_empty() => {
            let machine = only.newest().map(|one| one.doc.machine.clone());
            (machine, said(only.newest().map(|one| &one.doc.machine), only.facts()))
        }
        _ => (None, of_nodes(&names)),
    };
    let doubts = doubts(scheduled, &measured);
    let missing = missing(file, scheduled);
    Ok(StudyDoc {
        machine,
        machine_says,
        runs,
        tables,
        orders,
        missing,
        doubts,
        ..head(file, places, is_quick)
    })
}

fn head(file: &StudyFile, places: &Places, quick: bool) -> StudyDoc {
    let nodes = places.nodes();
    StudyDoc {
        schema: SCHEMA.to_owned(),
        study: file.name.clone(),
        title: file.title.clone(),
        about: file.about.clone(),
        machine: None,
        machine_says: if nodes.is_empty() { String::new() } else { of_nodes(&nodes) },
        nodes,
        quick,
        runs: Vec::new(),
        tables: Vec::new(),
        orders: Vec::new(),
        missing: Vec::new(),
        doubts: Vec::new(),
    }
}

/// `8 nodes: rack[1-8]`
fn of_nodes(nodes: &[String]) -> String {
    format!("{}: {}", count(nodes.len(), "node"), fold(nodes.iter().map(String::as_str)))
}

/// The newest complete runs of one place, in the order of the study's runs.
struct AtPlace<'a> {
    place: &'a Place,
    stored: Vec<Option<Shown>>,
    /// Of this machine as it is, where it has no run.
    live: Vec<Fact>,
}

fn at_place<'a>(
    place: &'a Place,
    scheduled: &[Scheduled<'_>],
    resolver: &mut Resolver,
) -> Result<AtPlace<'a>, CliError> {
    let mut stored: Vec<Option<Shown>> = Vec::new();
    for one in scheduled {
        stored.push(match one.newest(resolver, place, is_whole) {
            Some(head) => Some(shown::shown(&head.id, SCHEMA, true, resolver)?),
            None => None,
        });
    }
    let is_alone = place.node().is_none() && stored.iter().all(Option::is_none);
    Ok(AtPlace { place, stored, live: if is_alone { names::this().1 } else { Vec::new() } })
}

impl AtPlace<'_> {
    fn newest(&self) -> Option<&Shown> {
        self.stored.iter().flatten().max_by(|a, b| a.doc.started.total_cmp(&b.doc.started))
    }

    fn facts(&self) -> &[Fact] {
        self.newest().map_or(self.live.as_slice(), |one| &one.data.facts)
    }

    /// Its runs, facts and costs for a table.
    fn side<'s>(
        &'s self,
        table: &StudyTable,
        scheduled: &[Scheduled<'_>],
        resolver: &Resolver,
    ) -> TableSide<'s> {
        let is_its = |run: &StudyRun| table.run.as_ref().is_none_or(|name| *name == run.name);
        let own = scheduled.iter().zip(&self.stored).filter(|(scheduled, _)| is_its(scheduled.run));
        let own: Vec<(&Scheduled<'_>, &Option<Shown>)> = own.collect();
        let absent = absent(&own, self.place, resolver);
        let runs = own.into_iter().filter_map(|(_, shown)| shown.as_ref());
        TableSide {
            runs: runs.map(|shown| MeasuredRun { doc: &shown.doc, data: &shown.data }).collect(),
            facts: self.facts(),
            price: self.newest().and_then(|one| one.doc.price.as_ref()),
            watts: self.newest().and_then(|one| one.doc.watts),
            absent,
            ..TableSide::default()
        }
    }

    /// Its runs, planned and stored.
    fn runs(&self, scheduled: &[Scheduled<'_>]) -> Vec<StudyRunDoc> {
        let mut runs = run_docs(&scheduled.iter().collect::<Vec<_>>());
        for (run, shown) in runs.iter_mut().zip(&self.stored) {
            run.node = self.place.node().filter(|_| run.by_hand.is_none()).map(str::to_owned);
            fill(run, shown.as_ref());
        }
        runs
    }
}

/// The nodes in the order of each run that three or more of them have.
fn orders(
    scheduled: &[Scheduled<'_>],
    measured: &[AtPlace<'_>],
    resolver: &mut Resolver,
) -> Result<Vec<StudyOrderDoc>, CliError> {
    let mut all = Vec::new();
    for (at, one) in scheduled.iter().enumerate() {
        let (mut runs, mut missing) = (Vec::new(), Vec::new());
        for place in measured {
            match (&place.stored[at], place.place.node()) {
                (Some(shown), _) => runs.push(Rc::clone(&shown.data)),
                (None, Some(node)) => missing.push(OddMissingDoc {
                    node: node.to_owned(),
                    why: unfinished(one, place.place, resolver).unwrap_or_else(|| NOT_YET.to_owned()),
                }),
                (None, None) => {}
            }
        }
        let found = nodes::of_nodes(runs, &missing, resolver)?;
        let (name, label) = (one.run.name.clone(), one.label.clone());
        all.extend(found.map(|nodes| StudyOrderDoc { name, label, nodes }));
    }
    Ok(all)
}

fn side<'a>(column: &Column, machines: &'a [ColumnMachine]) -> TableSide<'a> {
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
        absent: Vec::new(),
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

/// The figures that a place has not, by the plans of these runs and by what they met.
fn absent(runs: &[(&Scheduled<'_>, &Option<Shown>)], place: &Place, resolver: &Resolver) -> Vec<Absent> {
    let mut all: Vec<Absent> = runs.iter().flat_map(|(one, _)| one.left_out.clone()).collect();
    for (one, shown) in runs {
        let Some(shown) = shown else {
            let why = unfinished(one, place, resolver).unwrap_or_else(|| NOT_YET.to_owned());
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
fn unfinished(one: &Scheduled<'_>, place: &Place, resolver: &Resolver) -> Option<String> {
    let head = one.newest(resolver, place, |_| true)?;
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
fn doubts(scheduled: &[Scheduled<'_>], measured: &[AtPlace<'_>]) -> Vec<String> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in measured {
        for (one, shown) in scheduled.iter().zip(&place.stored) {
            let Some(shown) = shown else { continue };
            let name = [Some(one.run.name.as_str()), place.place.node()];
            let name = name.into_iter().flatten().collect::<Vec<_>>().join(" on ");
            for note in notes::brief_doubts(&shown.doc.findings, &notes::headlines(&shown.doc)) {
                all.entry(note.text).or_default().push(name.clone());
            }
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
        node: None,
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
    let Some(RunDoc { run: id, status, started, seconds, .. }) = shown.map(|shown| &*shown.doc) else {
        return;
    };
    (run.run, run.status) = (Some(id.clone()), Some(*status));
    (run.started, run.seconds) = (Some(*started), *seconds);
}
