//! What a name on the command line means: runs, a label, a machine, a published machine, a file, a pasted line.
//!
//! `.` and labels pool the runs of the newest config class. A name that may mean several things is an error that lists
//! them.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use instruments::facts::{Root, scan};
use model::data::{Price, Published, RunData, RunHead, Status};
use model::doc::MachineDoc;
use model::fact::same_class;
use model::{Fact, FactValue, SeriesKey};
use report::text::line::{self, Pasted};
use store::{Filter, MachineSheet, Mode, Store, StoreError, Want, Which};
use verdict::compare::Side;

use crate::catalogue::{self, PublishedMachine};
use crate::cli::Global;
use crate::error::{CliError, nearest};
use crate::ids::short;
use crate::names::{self, Machine};
use crate::{importers, out, paths, present};

/// Runs that are pooled, and earlier runs that the noise is taken from, at the most.
const MOST_RUNS: usize = 20;

/// Opens the store for reading.
pub fn open(path: &Path) -> Result<Store, CliError> {
    Store::open(path, Mode::ReadOnly).map_err(present::store_error)
}

/// The id of the run that a name means: `latest`, `latest~N`, an id or its beginning, or a label of one run.
pub fn run_id(name: &str, store: &Store) -> Result<String, CliError> {
    let heads = store.heads(&Filter::default()).map_err(present::store_error)?;
    if let Some(back) = latest(name)? {
        return nth_latest(&heads, back).map(|head| head.id.clone());
    }
    let labelled: Vec<&RunHead> = heads.iter().filter(|head| head.label.as_deref() == Some(name)).collect();
    match labelled.as_slice() {
        [] => store.resolve(name).map_err(|error| match error {
            StoreError::NoRun { .. } => present::store_error(error).hint(known_names(&heads)),
            other => present::store_error(other),
        }),
        [head] => Ok(head.id.clone()),
        many => Err(ambiguous(name, many.iter().map(|head| candidate(head)))),
    }
}

/// One run to show: of a label that several runs of one machine have, the newest complete one, which is said.
pub fn one_run(name: &str, store: &Store) -> Result<String, CliError> {
    let labelled = labelled(name, store)?;
    let newest = labelled.iter().rfind(|head| is_whole(head)).or(labelled.last());
    match newest {
        Some(newest) if labelled.len() > 1 => {
            if labelled.iter().any(|head| head.machine_id != newest.machine_id) {
                return Err(ambiguous(name, labelled.iter().map(candidate)));
            }
            out::say(&format!(
                "note: {} runs have the label {name}; this is the newest: {} (`boxscore history --label` lists them)",
                labelled.len(),
                short(&newest.id)
            ));
            Ok(newest.id.clone())
        }
        _ => run_id(name, store),
    }
}

/// The runs of a label; `latest` is none.
fn labelled(name: &str, store: &Store) -> Result<Vec<RunHead>, CliError> {
    if latest(name)?.is_some() {
        return Ok(Vec::new());
    }
    store.heads(&Filter { label: Some(name.to_owned()), ..Filter::default() }).map_err(present::store_error)
}

fn ids_of(heads: &[RunHead]) -> Vec<String> {
    heads.iter().map(|head| head.id.clone()).collect()
}

fn known_names(heads: &[RunHead]) -> String {
    match heads.last() {
        Some(_) => "`boxscore history` lists the runs; `latest` and `latest~1` work too".to_owned(),
        None => "the store is empty: `boxscore run --quick` measures this machine".to_owned(),
    }
}

/// `latest` is 0, `latest~N` is N.
fn latest(name: &str) -> Result<Option<usize>, CliError> {
    let Some(rest) = name.strip_prefix("latest") else { return Ok(None) };
    match rest.strip_prefix('~') {
        None if rest.is_empty() => Ok(Some(0)),
        None => Ok(None),
        Some(number) => number.parse().map(Some).map_err(|_| {
            CliError::usage(format!("`{name}`: after latest~ stands a number"))
                .hint("latest~1 is the one before")
        }),
    }
}

/// Complete runs only are compared. A faulty run whose measured takes all failed, or that had none (and so no fault
/// either), has nothing to compare.
#[must_use]
pub fn is_whole(head: &RunHead) -> bool {
    match head.status {
        Status::Complete => true,
        Status::Faulty => head.measured > 0,
        Status::Running | Status::Interrupted => false,
    }
}

fn nth_latest(heads: &[RunHead], back: usize) -> Result<&RunHead, CliError> {
    let whole: Vec<&RunHead> = heads.iter().filter(|head| is_whole(head)).collect();
    let found = whole.len().checked_sub(back + 1).and_then(|index| whole.get(index).copied());
    found.ok_or_else(|| {
        CliError::data(format!("there are {} complete runs, so no latest~{back}", whole.len()))
            .hint("`boxscore run --quick` measures this machine; `boxscore history` lists the runs")
    })
}

fn candidate(head: &RunHead) -> String {
    let label = head.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
    format!("run {} of {}{label}", short(&head.id), head.machine)
}

fn ambiguous(name: &str, candidates: impl Iterator<Item = String>) -> CliError {
    let list: Vec<String> = candidates.collect();
    CliError::data(format!("`{name}` may mean any of {}: {}", list.len(), list.join("; ")))
        .hint("say the run's id, or a label that only one machine has")
}

/// One side of a comparison, with its data.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub name: String,
    pub machine: MachineDoc,
    pub runs: Vec<RunData>,
    pub earlier: Vec<RunData>,
    pub arm: Option<String>,
    pub published: Vec<Published>,
    pub facts: Vec<Fact>,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    pub source: Option<String>,
}

impl Loaded {
    /// A machine of which nothing else is known yet.
    fn new(name: impl Into<String>, machine: MachineDoc) -> Loaded {
        Loaded {
            name: name.into(),
            machine,
            runs: Vec::new(),
            earlier: Vec::new(),
            arm: None,
            published: Vec::new(),
            facts: Vec::new(),
            price: None,
            watts: None,
            source: None,
        }
    }

    #[must_use]
    pub fn side(&self) -> Side<'_> {
        Side {
            runs: self.runs.iter().collect(),
            earlier: self.earlier.iter().collect(),
            arm: self.arm.clone(),
            published: self.published.clone(),
            facts: self.facts.clone(),
            price: self.price.clone(),
            watts: self.watts,
            source: self.source.clone(),
            ..Side::new(&self.name, self.machine.clone())
        }
    }
}

/// A run differs from itself in nothing: two sides of the same runs and arm are a mistake.
pub fn distinct(loaded: &[Loaded]) -> Result<(), CliError> {
    let ids = |one: &Loaded| -> BTreeSet<String> { one.runs.iter().map(|run| run.head.id.clone()).collect() };
    for (at, one) in loaded.iter().enumerate().filter(|(_, one)| !one.runs.is_empty()) {
        let same = |other: &&Loaded| other.arm == one.arm && ids(other) == ids(one);
        if let Some(other) = loaded.iter().take(at).find(same) {
            let runs: Vec<String> = ids(one).iter().map(|id| short(id).to_owned()).collect();
            let what = if runs.len() == 1 { "the same run" } else { "the same runs" };
            let text = format!("`{}` and `{}` are {what}: {}", other.name, one.name, runs.join(", "));
            return Err(CliError::usage(text).hint("`boxscore history` lists the runs"));
        }
    }
    Ok(())
}

/// Finds out what names mean; reads a store's list of runs once.
pub struct Resolver {
    store: Option<Store>,
    heads: Vec<RunHead>,
    machines: Vec<PublishedMachine>,
    classes: HashMap<String, Vec<Fact>>,
}

impl Resolver {
    /// A store that does not exist yet is no error: published machines and files need none.
    pub fn new(global: &Global) -> Result<Resolver, CliError> {
        let path = paths::store(global)?;
        let store = if path.exists() { Some(open(&path)?) } else { None };
        Resolver::over(store)
    }

    fn over(store: Option<Store>) -> Result<Resolver, CliError> {
        let heads = match &store {
            Some(store) => store.heads(&Filter::default()).map_err(present::store_error)?,
            None => Vec::new(),
        };
        let machines = catalogue::machines().map_err(|error| CliError::data(error.to_string()))?;
        Ok(Resolver { store, heads, machines, classes: HashMap::new() })
    }

    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// The reference machine that a run is set beside by default, if there is one.
    pub fn reference(&mut self) -> Result<Option<Loaded>, CliError> {
        match catalogue::reference()? {
            Some((name, runs)) => of_runs(runs, &name).map(|loaded| Some(Loaded { name, ..loaded })),
            None => Ok(None),
        }
    }

    /// Runs of the other machines of a run's study.
    #[must_use]
    pub fn siblings(&self, head: &RunHead) -> Vec<String> {
        let others = self.heads.iter().filter(|other| other.study == head.study && other.id != head.id);
        others.map(|other| other.id.clone()).collect()
    }

    /// What a name means, loaded.
    pub fn resolve(&mut self, name: &str) -> Result<Loaded, CliError> {
        if line::is_line(name) {
            let pasted = line::parse(name).map_err(|error| CliError::data(error.to_string()))?;
            return Ok(pasted_side(&pasted));
        }
        if let Some(back) = latest(name)? {
            let head = nth_latest(&self.heads, back)?.clone();
            return self.pool(name, &[head], None);
        }
        if name == "." {
            return self.this_machine();
        }
        if Path::new(name).is_file() {
            let known = |head: &RunHead| head.label.as_deref() == Some(name) || head.machine == name;
            if self.heads.iter().any(known) {
                return Err(ambiguous(
                    name,
                    [format!("the file {name}"), format!("the label or machine {name}")].into_iter(),
                )
                .hint(format!("say ./{name} for the file, or the run's id")));
            }
            return file_side(name);
        }
        self.named(name)
    }

    /// The run's arms, when the name is one run with several.
    pub fn arms(&mut self, name: &str) -> Result<Vec<Loaded>, CliError> {
        let whole = self.resolve(name)?;
        let [run] = whole.runs.as_slice() else { return Ok(vec![whole]) };
        let arms: Vec<String> = run.plan.arms.iter().map(|arm| arm.name.clone()).collect();
        if arms.len() > 1 {
            let side = |arm: &String| Loaded { name: arm.clone(), arm: Some(arm.clone()), ..whole.clone() };
            return Ok(arms.iter().map(side).collect());
        }
        let study = run.head.study.clone();
        let siblings: Vec<RunHead> = self.heads.iter().filter(|head| head.study == study).cloned().collect();
        let (whole, cut): (Vec<RunHead>, Vec<RunHead>) = siblings.into_iter().partition(is_whole);
        for head in &cut {
            out::say(&format!("note: {} is left out: {}", candidate(head), head.status.word()));
        }
        whole.iter().map(|head| self.pool(&head.machine, std::slice::from_ref(head), None)).collect()
    }

    fn this_machine(&mut self) -> Result<Loaded, CliError> {
        let facts = scan::everything(&Root::live());
        let id = facts.iter().find(|fact| fact.key == "machine.id").and_then(|fact| fact.value.as_ref());
        let id = id.map(FactValue::text).unwrap_or_default();
        let heads: Vec<RunHead> = self.heads.iter().filter(|head| head.machine_id == id).cloned().collect();
        if heads.iter().any(is_whole) {
            let name = heads.last().map_or_else(|| ".".to_owned(), |head| head.machine.clone());
            return self.pool(&name, &heads, None);
        }
        Err(CliError::data("this machine has no complete run in the store")
            .hint("`boxscore run --quick` measures it in 2 minutes"))
    }

    /// The runs that a name means, oldest first: every run of a label, a machine's runs of its newest configuration
    /// (`.` is this machine), or one run.
    pub fn run_ids(&mut self, name: &str) -> Result<Vec<String>, CliError> {
        let Some(store) = &self.store else { return Err(CliError::data("there is no store")) };
        let labelled = labelled(name, store)?;
        if !labelled.is_empty() {
            return Ok(ids_of(&labelled));
        }
        let machine = match latest(name)? {
            Some(_) => None,
            None => names::machine(name, Some(store))?,
        };
        let loaded = match machine {
            Some(Machine::This(..)) => self.this_machine()?,
            Some(Machine::Measured(machine)) => {
                let of = |head: &&RunHead| head.machine_id == machine.id;
                let heads: Vec<RunHead> = self.heads.iter().filter(of).cloned().collect();
                self.pool(name, &heads, None)?
            }
            Some(Machine::Sheet(_) | Machine::Published(_) | Machine::Reference(_)) | None => {
                return run_id(name, store).map(|id| vec![id]);
            }
        };
        Ok(loaded.runs.into_iter().map(|run| run.head.id).collect())
    }

    /// A label, a machine, a published machine, a run, or a run and its arm.
    fn named(&mut self, name: &str) -> Result<Loaded, CliError> {
        let (of_run, arm) = match name.split_once('/') {
            Some((run, arm)) if !arm.is_empty() => (run, Some(arm.to_owned())),
            _ => (name, None),
        };
        let by = |fits: &dyn Fn(&RunHead) -> bool| -> Vec<RunHead> {
            self.heads.iter().filter(|head| fits(head)).cloned().collect()
        };
        let labelled = by(&|head| head.label.as_deref() == Some(of_run));
        let sheets = match &self.store {
            Some(store) => store.sheets().map_err(present::store_error)?,
            None => Vec::new(),
        };
        let known = names::all(of_run, &self.heads, &sheets, &self.machines);
        let measured = |head: &RunHead| {
            known.iter().any(|one| matches!(one, Machine::Measured(machine) if machine.id == head.machine_id))
        };
        let machine = by(&measured);
        let id = self.id(of_run, labelled.is_empty() && known.is_empty())?;
        let one = by(&|head| Some(&head.id) == id.as_ref());
        let mut meanings: Vec<(String, Vec<RunHead>)> = Vec::new();
        for (what, heads) in [("label", labelled), ("machine", machine), ("run", one)] {
            let same =
                meanings.iter().any(|(_, known)| known.iter().map(|h| &h.id).eq(heads.iter().map(|h| &h.id)));
            if !heads.is_empty() && !same {
                meanings.push((format!("the {what} {of_run}"), heads));
            }
        }
        // A sheet has no figures: beside runs of the same name it is not meant here.
        let others: Vec<&Machine> = known
            .iter()
            .filter(|one| match one {
                Machine::This(..) | Machine::Measured(_) => false,
                Machine::Sheet(_) => meanings.is_empty(),
                Machine::Published(_) | Machine::Reference(_) => true,
            })
            .collect();
        match (meanings.as_slice(), others.as_slice()) {
            ([(_, heads)], []) => {
                let heads = heads.clone();
                self.pool(name, &heads, arm)
            }
            ([], [other]) => self.without_runs(other, &sheets)?.ok_or_else(|| self.unknown(name)),
            ([], []) => Err(self.unknown(name)),
            (many, others) => {
                let others = others.iter().map(|one| one.says());
                Err(ambiguous(name, many.iter().map(|(what, _)| what.clone()).chain(others)))
            }
        }
    }

    /// A machine that the store has no run of.
    fn without_runs(&self, machine: &Machine, sheets: &[MachineSheet]) -> Result<Option<Loaded>, CliError> {
        match machine {
            Machine::This(..) | Machine::Measured(_) => Ok(None),
            Machine::Sheet(of) => Ok(sheets.iter().find(|sheet| sheet.id == of.id).map(sheet_side)),
            Machine::Published(of) => {
                Ok(self.machines.iter().find(|machine| machine.name == *of).map(published_side))
            }
            Machine::Reference(of) => match catalogue::reference_named(of)? {
                Some((name, runs)) => of_runs(runs, &name).map(|loaded| Some(Loaded { name, ..loaded })),
                None => Ok(None),
            },
        }
    }

    /// The run that an id or its beginning means; several are an error only where nothing else is meant.
    fn id(&self, name: &str, alone: bool) -> Result<Option<String>, CliError> {
        let Some(store) = &self.store else { return Ok(None) };
        match store.resolve(name) {
            Ok(id) => Ok(Some(id)),
            Err(StoreError::NoRun { .. }) => Ok(None),
            Err(StoreError::Ambiguous { .. }) if !alone => Ok(None),
            Err(error) => Err(present::store_error(error)),
        }
    }

    fn unknown(&self, name: &str) -> CliError {
        let labels = self.heads.iter().filter_map(|head| head.label.as_deref());
        let machines = self.heads.iter().map(|head| head.machine.as_str());
        let published = self.machines.iter().map(|machine| machine.name.as_str());
        let error = CliError::data(format!("no run, label, machine or file is called `{name}`"));
        match nearest(
            name,
            labels.chain(machines).chain(published).chain(catalogue::references()).chain(["latest"]),
        ) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => {
                let published: Vec<&str> =
                    self.machines.iter().map(|machine| machine.name.as_str()).collect();
                error.hint(format!("{}; published: {}", known_names(&self.heads), published.join(", ")))
            }
        }
    }

    /// The complete runs among these that share the newest one's machine and config class, loaded.
    fn pool(&mut self, name: &str, heads: &[RunHead], arm: Option<String>) -> Result<Loaded, CliError> {
        let whole: Vec<RunHead> = heads.iter().filter(|head| is_whole(head)).cloned().collect();
        let Some(newest) = whole.last().cloned() else {
            let state = heads.last().map_or("missing", |head| head.status.word());
            return Err(CliError::data(format!("`{name}` has no complete run: it is {state}"))
                .hint("`boxscore resume` completes an interrupted run"));
        };
        let others: Vec<String> = {
            let mut ids: Vec<&str> = whole.iter().map(|head| head.machine_id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.into_iter().map(str::to_owned).collect()
        };
        if others.len() > 1 {
            return Err(ambiguous(name, whole.iter().map(candidate)));
        }
        let class = self.class(&newest)?;
        let mut chosen: Vec<String> = Vec::new();
        for head in whole.iter().rev() {
            if chosen.len() < MOST_RUNS && same_class(&class, &self.class(head)?) {
                chosen.push(head.id.clone());
            }
        }
        chosen.reverse();
        self.load(name, &newest, &chosen, arm)
    }

    fn load(
        &mut self,
        name: &str,
        newest: &RunHead,
        chosen: &[String],
        arm: Option<String>,
    ) -> Result<Loaded, CliError> {
        let store = self.store.as_ref().ok_or_else(|| CliError::data("there is no store"))?;
        let want = Want { series: Which::All, telemetry: false, rest: true };
        let load = |id: &String| store.load_with(id, want).map_err(present::store_error);
        let runs: Vec<RunData> = chosen.iter().map(load).collect::<Result<_, _>>()?;
        if let (Some(arm), Some(run)) = (&arm, runs.last())
            && !run.plan.arms.iter().any(|known| known.name == *arm)
        {
            let known: Vec<&str> = run.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
            return Err(CliError::data(format!("run {} has no arm `{arm}`", short(&newest.id)))
                .hint(format!("its arms: {}", known.join("; "))));
        }
        let earlier = self.earlier(newest, chosen, &runs)?;
        let facts = runs.last().map(|run| run.facts.clone()).unwrap_or_default();
        let machine = MachineDoc { id: newest.machine_id.clone(), name: newest.machine.clone() };
        let (price, watts) = (newest.price.clone(), newest.watts);
        Ok(Loaded { runs, earlier, arm, facts, price, watts, ..Loaded::new(name, machine) })
    }

    /// Other runs of the same machine and class: what the noise between runs is taken from.
    pub fn earlier(
        &mut self,
        newest: &RunHead,
        chosen: &[String],
        runs: &[RunData],
    ) -> Result<Vec<RunData>, CliError> {
        let class = self.class(newest)?;
        let of_machine: Vec<RunHead> = (self.heads.iter().rev())
            .filter(|head| {
                head.machine_id == newest.machine_id && is_whole(head) && !chosen.contains(&head.id)
            })
            .cloned()
            .collect();
        let mut ids = Vec::new();
        for head in &of_machine {
            if ids.len() < MOST_RUNS && same_class(&class, &self.class(head)?) {
                ids.push(head.id.clone());
            }
        }
        let mut keys: Vec<SeriesKey> =
            runs.iter().flat_map(|run| run.rows().map(|series| series.key.clone())).collect();
        keys.sort();
        keys.dedup();
        let store = self.store.as_ref().ok_or_else(|| CliError::data("there is no store"))?;
        store.load_rows(&ids, &keys).map_err(present::store_error)
    }

    /// The facts of a run's config class; equal hashes have equal facts.
    fn class(&mut self, head: &RunHead) -> Result<Vec<Fact>, CliError> {
        if let Some(facts) = self.classes.get(&head.config_class) {
            return Ok(facts.clone());
        }
        let store = self.store.as_ref().ok_or_else(|| CliError::data("there is no store"))?;
        let facts = store.class_facts(&head.id).map_err(present::store_error)?;
        self.classes.insert(head.config_class.clone(), facts.clone());
        Ok(facts)
    }
}

fn published_side(machine: &PublishedMachine) -> Loaded {
    Loaded {
        published: machine.figures.clone(),
        facts: machine.facts.clone(),
        price: machine.price.clone(),
        watts: machine.watts,
        source: Some(machine.study.clone()),
        ..Loaded::new(&machine.name, MachineDoc { id: String::new(), name: machine.name.clone() })
    }
}

/// A machine that is known from a sheet only: facts, and no figures.
fn sheet_side(sheet: &MachineSheet) -> Loaded {
    let machine = MachineDoc { id: sheet.id.clone(), name: sheet.name.clone() };
    Loaded {
        facts: sheet.facts.clone(),
        source: Some(sheet.source.clone()),
        ..Loaded::new(&sheet.name, machine)
    }
}

/// A pasted line has intervals but no samples: its figures are points.
fn pasted_side(pasted: &Pasted) -> Loaded {
    let figure = |row: &line::PastedRow| Published {
        study: "pasted".to_owned(),
        machine: pasted.name.clone(),
        key: SeriesKey {
            instrument: row.instrument.clone(),
            metric: row.metric.clone(),
            unit: row.unit,
            params: row.params.clone(),
            arm: String::new(),
            definition: row.definition,
        },
        better: row.better,
        value: row.value,
        low: row.low,
        high: row.high,
        bounds: "95 % interval".to_owned(),
        note: String::new(),
    };
    Loaded {
        published: pasted.rows.iter().map(figure).collect(),
        source: Some("a pasted line".to_owned()),
        ..Loaded::new(&pasted.name, MachineDoc { id: String::new(), name: pasted.name.clone() })
    }
}

/// An exported file, or another store (its newest machine).
fn file_side(name: &str) -> Result<Loaded, CliError> {
    let path = Path::new(name);
    let head = std::fs::File::open(path)
        .and_then(|mut file| {
            let mut magic = [0u8; 15];
            std::io::Read::read(&mut file, &mut magic).map(|count| magic[..count].to_vec())
        })
        .map_err(|error| CliError::data(format!("{name}: {error}")))?;
    if head == b"SQLite format 3" {
        let mut other = Resolver::over(Some(open(path)?))?;
        let newest = nth_latest(&other.heads, 0)?.clone();
        let same: Vec<RunHead> =
            other.heads.iter().filter(|head| head.machine_id == newest.machine_id).cloned().collect();
        return other.pool(&newest.machine, &same, None);
    }
    let runs = importers::own::read(path)?;
    of_runs(runs, name)
}

/// A side made of runs that stand in no store.
pub fn of_runs(runs: Vec<RunData>, name: &str) -> Result<Loaded, CliError> {
    let Some(newest) = runs.last().map(|run| run.head.clone()) else {
        return Err(CliError::data(format!("{name}: no run in it")));
    };
    let runs: Vec<RunData> =
        runs.into_iter().filter(|run| run.head.machine_id == newest.machine_id).collect();
    let facts = runs.last().map(|run| run.facts.clone()).unwrap_or_default();
    let machine = MachineDoc { id: newest.machine_id.clone(), name: newest.machine.clone() };
    let called = newest.label.clone().unwrap_or_else(|| newest.machine.clone());
    let (price, watts) = (newest.price.clone(), newest.watts);
    Ok(Loaded { price, watts, runs, facts, ..Loaded::new(called, machine) })
}
