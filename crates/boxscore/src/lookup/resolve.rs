//! Finds the data behind a name on the command line: runs, a label, a machine, a published machine, a file, a pasted
//! line.
//!
//! `.` and labels pool the runs of the newest config class, a label those of each of its boxes. A name that may mean
//! several things is an error that lists them.

mod earlier;
mod machines;
mod read_runs;
mod soaks;
mod targets;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use model::Fact;
use model::data::{Price, Published, RunData, RunHead, watts_of_facts};
use model::doc::{MachineDoc, Siblings};
use model::fact::same_class;
use report::text::line;
use store::{Filter, MachineSheet, Store, StoreError};
use verdict::compare::SideOf;

use crate::cli::Global;
use crate::error::CliError;
use crate::import::own;
use crate::lookup::catalogue::PublishedMachine;
use crate::lookup::ids::short;
use crate::lookup::names::Machine;
use crate::lookup::runs::{
    ambiguous, ambiguous_runs, candidate, ids_of, is_whole, known_names, latest, nth_latest,
};
use crate::lookup::sides::{of_arm, of_runs, pasted_side, published_side, reference_side, sheet_side};
use crate::lookup::{catalogue, names, paths};
use crate::out;

use read_runs::ReadRuns;

/// Limit of the runs of a figure that are pooled, and of the earlier ones that its noise is taken from.
pub const MOST_RUNS: usize = 20;

/// The thing that a name refers to.
enum Meaning {
    Label(Vec<RunHead>),
    Machine(Vec<RunHead>),
    Run(Vec<RunHead>),
    /// A machine without runs in the store.
    Without(Machine),
}

impl Meaning {
    fn heads(&self) -> &[RunHead] {
        match self {
            Meaning::Label(heads) | Meaning::Machine(heads) | Meaning::Run(heads) => heads,
            Meaning::Without(_) => &[],
        }
    }

    fn says(&self, name: &str) -> String {
        match self {
            Meaning::Label(_) => format!("the label {name}"),
            Meaning::Machine(_) => format!("the machine {name}"),
            Meaning::Run(_) => format!("the run {name}"),
            Meaning::Without(machine) => machine.says(),
        }
    }
}

/// One side of a comparison, with its data. Sides share the runs that several of them have.
pub type Loaded = SideOf<Rc<RunData>>;

/// Looks names up; reads a store's list of runs once.
pub struct Resolver {
    path: PathBuf,
    store: Option<Store>,
    heads: Vec<RunHead>,
    machines: Vec<PublishedMachine>,
    classes: HashMap<String, Vec<Fact>>,
    /// Which studies are soaks, as far as they were asked for.
    soaks: HashMap<String, bool>,
    read: ReadRuns,
    /// The study that was asked for last, and its runs: one after the other, its machines ask for the others.
    last_study: RefCell<(String, Arc<[String]>)>,
    /// This machine, once it was asked for.
    here: OnceCell<MachineDoc>,
}

impl Resolver {
    /// A store that does not exist yet is no error: published machines and files need none.
    pub fn new(global: &Global) -> Result<Resolver, CliError> {
        let path = paths::store(global)?;
        let store = paths::existing(&path)?;
        Resolver::over(path, store)
    }

    fn over(path: PathBuf, store: Option<Store>) -> Result<Resolver, CliError> {
        let heads = match &store {
            Some(store) => store.heads(&Filter::default())?,
            None => Vec::new(),
        };
        let machines = catalogue::noted(store.as_ref())?;
        let (classes, soaks, read) = (HashMap::new(), HashMap::new(), ReadRuns::default());
        let last_study = RefCell::default();
        let here = OnceCell::new();
        Ok(Resolver { path, store, heads, machines, classes, soaks, read, last_study, here })
    }

    /// Fails when there is no store yet.
    pub fn store(&self) -> Result<&Store, CliError> {
        self.store.as_ref().ok_or_else(|| self.no_store())
    }

    fn no_store(&self) -> CliError {
        CliError::data(format!("there is no store at {}", self.path.display()))
            .hint("`boxscore run --quick` measures this machine")
    }

    /// Names of labels and machines: those of the store, and published ones.
    pub fn names(&self) -> Vec<String> {
        let labels = self.heads.iter().filter_map(|head| head.label.clone());
        let machines = self.heads.iter().map(|head| head.machine.clone());
        let published = self.machines.iter().map(|machine| machine.name.clone());
        let references = catalogue::references().into_iter().map(str::to_owned);
        labels.chain(machines).chain(published).chain(references).collect()
    }

    /// True for a name of a single run, which stands for its machines or arms.
    pub fn is_run(&self, name: &str) -> bool {
        let is_newest = matches!(latest(name), Ok(Some(_)));
        is_newest || matches!(self.meanings(name).as_deref(), Ok([Meaning::Run(_)]))
    }

    /// False before anything is stored.
    pub fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// The reference machine that a run is set beside by default, if there is one.
    pub fn reference(&mut self) -> Result<Option<Loaded>, CliError> {
        reference_side(catalogue::reference()?)
    }

    /// Published machines with the figures that are wanted.
    pub fn published(&self, wanted: impl Fn(&Published) -> bool) -> Vec<Loaded> {
        let side = |machine: &PublishedMachine| {
            let mut side = published_side(machine);
            side.published.retain(&wanted);
            side
        };
        self.machines.iter().map(side).filter(|side| !side.published.is_empty()).collect()
    }

    /// Runs of the other machines of a run's study.
    pub fn siblings(&self, head: &RunHead) -> Siblings {
        let mut last = self.last_study.borrow_mut();
        let (study, runs) = &mut *last;
        if *study != head.study {
            let own = self.heads.iter().filter(|other| other.study == head.study);
            *runs = own.map(|other| other.id.clone()).collect();
            study.clone_from(&head.study);
        }
        Siblings::new(runs, &head.id)
    }

    /// The runs of a study.
    pub fn of_study(&self, study: &str) -> Vec<RunHead> {
        self.heads.iter().filter(|head| head.study == study).cloned().collect()
    }

    /// Loads the data that a name refers to, but for earlier runs. Fails when the name is unknown or ambiguous.
    pub fn bare(&mut self, name: &str) -> Result<Loaded, CliError> {
        if line::is_line(name) {
            let pasted = line::parse(name, instruments::cards())?;
            return Ok(pasted_side(&pasted));
        }
        if let Some(back) = latest(name)? {
            let head = nth_latest(self.store()?, back)?;
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
                .hint(format!("write ./{name} for the file, or the run's id")));
            }
            return file_side(name);
        }
        self.named(name)
    }

    /// The run's arms, when the name is one run with several; without earlier runs.
    pub fn bare_arms(&mut self, name: &str) -> Result<Vec<Loaded>, CliError> {
        let whole = self.bare(name)?;
        let [run] = whole.runs.as_slice() else { return Ok(vec![whole]) };
        let arms: Vec<String> = run.plan.arms.iter().map(|arm| arm.name.clone()).collect();
        if arms.len() > 1 {
            let side = |arm: &String| of_arm(Loaded { name: arm.clone(), ..whole.clone() }, arm);
            return Ok(arms.iter().map(side).collect());
        }
        let study = run.head.study.clone();
        let mut siblings: Vec<RunHead> =
            self.heads.iter().filter(|head| head.study == study).cloned().collect();
        // In the order of the plan, whose first machine is the base, whichever began first.
        let machines = &run.plan.machines;
        siblings.sort_by_key(|head| machines.iter().position(|via| via.name == head.machine));
        let (whole, cut): (Vec<RunHead>, Vec<RunHead>) = siblings.into_iter().partition(is_whole);
        for head in &cut {
            out::say(&format!("note: {} is left out: {}", candidate(head), head.status.word()));
        }
        whole.iter().map(|head| self.pool(&head.machine, std::slice::from_ref(head), None)).collect()
    }

    /// This machine, looked at once.
    fn here(&self) -> MachineDoc {
        self.here.get_or_init(names::here).clone()
    }

    fn this_machine(&mut self) -> Result<Loaded, CliError> {
        let (name, heads) = self.runs_here()?;
        self.pool(&name, &heads, None)
    }

    /// The runs of a machine that are not hidden, oldest first.
    fn visible(&self, machine_id: &str) -> Vec<RunHead> {
        let counts = |head: &&RunHead| head.machine_id == machine_id && !head.hidden;
        self.heads.iter().filter(counts).cloned().collect()
    }

    /// The name of this machine in the store, and its runs.
    fn runs_here(&self) -> Result<(String, Vec<RunHead>), CliError> {
        let (machine, _) = names::this();
        let heads = self.visible(&machine.id);
        match heads.last() {
            Some(last) if heads.iter().any(is_whole) => Ok((last.machine.clone(), heads)),
            _ => Err(CliError::data("this machine has no complete run in the store")
                .hint("`boxscore run --quick` measures it in 2 minutes")),
        }
    }

    /// The runs that a name means, oldest first: every run of a label, a machine's runs of its newest configuration
    /// (`.` is this machine), or one run.
    pub fn run_ids(&mut self, name: &str) -> Result<Vec<String>, CliError> {
        match self.stored(name)? {
            (_, Meaning::Label(heads) | Meaning::Run(heads)) => Ok(ids_of(&heads)),
            (name, meaning) => self.chosen(&name, meaning.heads()).map(|(_, ids)| ids),
        }
    }

    /// The complete runs of one machine and configuration that a name means, oldest first. Fails where it means
    /// several machines.
    pub fn alike_ids(&mut self, name: &str) -> Result<Vec<String>, CliError> {
        let (name, meaning) = self.stored(name)?;
        self.chosen(&name, meaning.heads()).map(|(_, ids)| ids)
    }

    /// The meaning of a name among the runs of the store, and what it is called.
    fn stored(&self, name: &str) -> Result<(String, Meaning), CliError> {
        self.store()?;
        if let Some(back) = latest(name)? {
            return Ok((name.to_owned(), Meaning::Run(vec![nth_latest(self.store()?, back)?])));
        }
        if name == "." {
            return self.runs_here().map(|(name, heads)| (name, Meaning::Machine(heads)));
        }
        match self.meaning(name)? {
            Meaning::Without(machine) => {
                Err(CliError::data(format!("{} has no run in the store", machine.says()))
                    .hint(format!("`boxscore inspect {name}` and `boxscore compare . {name}` know it")))
            }
            meaning => Ok((name.to_owned(), meaning)),
        }
    }

    /// The runs of one run's machine and configuration, oldest first, of each figure the newest.
    pub fn beside(&mut self, run: &str) -> Result<Vec<String>, CliError> {
        let Some(head) = self.heads.iter().find(|head| head.id == run).cloned() else {
            return Err(self.unknown(run));
        };
        let is_of =
            |other: &&RunHead| other.machine_id == head.machine_id && other.started_ns <= head.started_ns;
        let heads: Vec<RunHead> = self.heads.iter().filter(is_of).cloned().collect();
        self.chosen(run, &heads).map(|(_, ids)| ids)
    }

    /// A label, a machine, a published machine, a run, or a run and its arm.
    fn named(&mut self, name: &str) -> Result<Loaded, CliError> {
        let (of_run, arm) = match name.split_once('/') {
            // Labels and machines of a study may have a slash of their own.
            Some((run, arm)) if !arm.is_empty() && !self.is_whole_name(name) => (run, Some(arm.to_owned())),
            _ => (name, None),
        };
        let meaning = match self.measured(of_run) {
            // A name of nothing else may be that of a target.
            Err(error) => match self.of_target(name)? {
                heads if heads.is_empty() => return Err(error),
                heads => return self.pool(name, &heads, Some(name.to_owned())),
            },
            Ok(meaning) => meaning,
        };
        match meaning {
            Meaning::Label(heads) => self.boxes(name, &heads, arm),
            Meaning::Machine(heads) | Meaning::Run(heads) => self.pool(name, &heads, arm),
            Meaning::Without(machine) => {
                let sheets = self.sheets()?;
                let side = self.without_runs(&machine, &sheets)?.ok_or_else(|| self.unknown(name))?;
                Ok(Loaded { here: Some(self.here()), ..side })
            }
        }
    }

    fn is_whole_name(&self, name: &str) -> bool {
        self.heads.iter().any(|head| {
            head.label.as_deref() == Some(name) || head.machine_id == name || head.machine == name
        })
    }

    fn sheets(&self) -> Result<Vec<MachineSheet>, CliError> {
        match &self.store {
            Some(store) => store.sheets().map_err(CliError::from),
            None => Ok(Vec::new()),
        }
    }

    /// The one thing that a name means.
    fn meaning(&self, name: &str) -> Result<Meaning, CliError> {
        let mut meanings = self.meanings(name)?;
        if meanings.len() > 1 {
            return Err(ambiguous(name, meanings.iter().map(|meaning| meaning.says(name))));
        }
        meanings.pop().ok_or_else(|| self.unknown(name))
    }

    /// The one thing that figures are asked of by a name: of a label and a machine the label, since that is what the
    /// user called the runs.
    fn measured(&self, name: &str) -> Result<Meaning, CliError> {
        let mut meanings = self.meanings(name)?;
        if let [Meaning::Label(label), Meaning::Machine(machine)] = meanings.as_slice() {
            let other = machine.iter().rev().find(|head| label.iter().all(|one| one.id != head.id));
            let run = other.map_or("", |head| short(&head.id));
            out::say(&format!(
                "note: `{name}` is the label here; for the machine of that name say its run: {run}"
            ));
            meanings.truncate(1);
        }
        if meanings.len() > 1 {
            return Err(ambiguous(name, meanings.iter().map(|meaning| meaning.says(name))));
        }
        meanings.pop().ok_or_else(|| self.unknown(name))
    }

    /// All that a name may mean.
    fn meanings(&self, name: &str) -> Result<Vec<Meaning>, CliError> {
        let by = |fits: &dyn Fn(&RunHead) -> bool| -> Vec<RunHead> {
            self.heads.iter().filter(|head| fits(head)).cloned().collect()
        };
        let labelled = by(&|head| head.label.as_deref() == Some(name));
        let known = names::all(name, &self.heads, &self.sheets()?, &self.machines);
        let measured = |head: &RunHead| {
            known.iter().any(|one| matches!(one, Machine::Measured(machine) if names::is_of(machine, head)))
        };
        let machine = by(&measured);
        let id = self.id(name, labelled.is_empty() && known.is_empty())?;
        let one = by(&|head| Some(&head.id) == id.as_ref());
        // A machine's runs under a label that is its name are all meant.
        let labelled = match labelled.iter().all(|head| machine.iter().any(|own| own.id == head.id)) {
            true => Vec::new(),
            false => labelled,
        };
        let same = |a: &[RunHead], b: &[RunHead]| a.iter().map(|h| &h.id).eq(b.iter().map(|h| &h.id));
        let mut meanings: Vec<Meaning> = Vec::new();
        for meaning in [Meaning::Label(labelled), Meaning::Machine(machine), Meaning::Run(one)] {
            let known = meanings.iter().any(|known| same(known.heads(), meaning.heads()));
            if !meaning.heads().is_empty() && !known {
                meanings.push(meaning);
            }
        }
        // A sheet has no figures: beside runs of the same name it is not meant here.
        let beside = !meanings.is_empty();
        let others = known.into_iter().filter(|one| match one {
            Machine::This(..) | Machine::Measured(_) => false,
            Machine::Sheet(_) => !beside,
            Machine::Published(_) | Machine::Reference(_) => true,
        });
        meanings.extend(others.map(Meaning::Without));
        Ok(meanings)
    }

    /// The side with what was noted of its machine: the price and the watts where its runs have none, and other facts
    /// over those that were read.
    fn noted(&self, side: Loaded, machine_id: &str) -> Result<Loaded, CliError> {
        let Some(store) = &self.store else { return Ok(side) };
        let noted = store.machine_facts(machine_id)?;
        let price = side.price.clone().or_else(|| Price::of_facts(&noted));
        let watts = side.watts.or_else(|| watts_of_facts(&noted));
        let mut facts = side.facts;
        facts.retain(|fact| noted.iter().all(|own| own.key != fact.key));
        facts.extend(noted);
        Ok(Loaded { price, watts, facts, ..side })
    }

    /// A machine that the store has no run of.
    fn without_runs(&self, machine: &Machine, sheets: &[MachineSheet]) -> Result<Option<Loaded>, CliError> {
        match machine {
            Machine::This(..) | Machine::Measured(_) => Ok(None),
            Machine::Sheet(of) => Ok(sheets.iter().find(|sheet| sheet.id == of.id).map(sheet_side)),
            Machine::Published(of) => {
                Ok(self.machines.iter().find(|machine| machine.name == *of).map(published_side))
            }
            Machine::Reference(of) => {
                let side = reference_side(catalogue::reference_named(of)?)?;
                side.map(|side| self.noted(side, &catalogue::id(of))).transpose()
            }
        }
    }

    /// The run that an id or its beginning means; several are an error only where nothing else is meant.
    fn id(&self, name: &str, alone: bool) -> Result<Option<String>, CliError> {
        match store::resolve_among(name, self.heads.iter().map(|head| (head.id.as_str(), head.started_ns))) {
            Ok(id) => Ok(Some(id)),
            Err(StoreError::NoRun { .. }) => Ok(None),
            Err(StoreError::Ambiguous { .. }) if !alone => Ok(None),
            Err(error) => Err(CliError::from(error)),
        }
    }

    fn unknown(&self, name: &str) -> CliError {
        let labels = self.heads.iter().filter_map(|head| head.label.as_deref());
        let machines = self.heads.iter().map(|head| head.machine.as_str());
        let published = self.machines.iter().map(|machine| machine.name.as_str());
        let error = CliError::data(format!("no run, label, machine or file is called `{name}`"));
        let others: Vec<&str> = catalogue::references().into_iter().chain(published).collect();
        /// Names of machines that are told as examples.
        const SHOWN: usize = 3;
        let more = others.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let some = others.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let hint = format!("{}; others' machines: {some}{more}", known_names(self.heads.is_empty()));
        error.hint(hint).did_you_mean(name, labels.chain(machines).chain(others).chain(["latest"]))
    }

    /// The runs of one label. Several boxes under it are of one type: of each the runs that count, as alone. The noise
    /// is that between them, so that no earlier ones are loaded.
    fn boxes(&mut self, name: &str, heads: &[RunHead], arm: Option<String>) -> Result<Loaded, CliError> {
        let mut boxes: BTreeMap<&str, Vec<RunHead>> = BTreeMap::new();
        let repeated = self.repeated(heads)?;
        for head in &repeated {
            boxes.entry(&head.machine_id).or_default().push(head.clone());
        }
        if boxes.len() < 2 {
            return self.pool(name, heads, arm);
        }
        let each = boxes.into_values().map(|heads| {
            let (newest, ids) = self.chosen(name, &heads)?;
            self.load(name, &newest, &ids, arm.clone())
        });
        let mut each = each.collect::<Result<Vec<_>, _>>()?;
        each.sort_by_key(|one| one.runs.last().map(|run| run.head.started_ns));
        let runs = each.iter_mut().flat_map(|one| std::mem::take(&mut one.runs)).collect();
        let newest = each.pop().ok_or_else(|| self.unknown(name))?;
        Ok(Loaded { runs, ..newest })
    }

    /// The complete runs among these that share the newest one's machine and config class, loaded.
    fn pool(&mut self, name: &str, heads: &[RunHead], arm: Option<String>) -> Result<Loaded, CliError> {
        let (newest, ids) = self.chosen(name, heads)?;
        self.load(name, &newest, &ids, arm)
    }

    /// The complete runs among these; hidden ones and soaks only where there is nothing else: what lasts is no
    /// repetition of what short takes show.
    fn repeated(&mut self, heads: &[RunHead]) -> Result<Vec<RunHead>, CliError> {
        let mut whole: Vec<RunHead> = heads.iter().filter(|head| is_whole(head)).cloned().collect();
        if whole.iter().any(|head| !head.hidden) {
            whole.retain(|head| !head.hidden);
        }
        self.find_soaks(&whole)?;
        if !whole.iter().all(|head| self.is_soak(head)) {
            whole.retain(|head| !self.is_soak(head));
        }
        Ok(whole)
    }

    /// The newest complete run, and the ids of those that count with it, oldest first.
    fn chosen(&mut self, name: &str, heads: &[RunHead]) -> Result<(RunHead, Vec<String>), CliError> {
        let whole = self.repeated(heads)?;
        let Some(newest) = whole.last().cloned() else {
            let state = heads.last().map_or("missing", |head| head.status.word());
            return Err(CliError::data(format!("`{name}` has no complete run: it is {state}"))
                .hint("`boxscore resume` completes an interrupted run"));
        };
        let machine = MachineDoc { id: newest.machine_id.clone(), name: newest.machine.clone() };
        if !whole.iter().all(|head| names::is_of(&machine, head)) {
            return Err(ambiguous_runs(name, &whole.iter().collect::<Vec<_>>()));
        }
        let alike = self.alike(&newest, &whole)?;
        let figures = self.store()?.newest_with(&alike, None, MOST_RUNS)?;
        let counts = |(at, id): &(usize, &String)| *at < MOST_RUNS || figures.contains(id);
        let chosen = alike.iter().enumerate().filter(counts).map(|(_, id)| id.clone()).rev().collect();
        Ok((newest, chosen))
    }

    /// Those of these runs that share the config class of one, newest first.
    fn alike(&mut self, newest: &RunHead, heads: &[RunHead]) -> Result<Vec<String>, CliError> {
        self.find_soaks(heads.iter().chain([newest]))?;
        let (class, is_soak) = (self.class(newest)?, self.is_soak(newest));
        let heads: Vec<RunHead> =
            heads.iter().filter(|head| self.is_soak(head) == is_soak).cloned().collect();
        self.in_class(&class, &heads)
    }

    /// Those of these runs that were measured in a configuration, newest first.
    fn in_class(&mut self, class: &[Fact], heads: &[RunHead]) -> Result<Vec<String>, CliError> {
        let mut alike = Vec::new();
        for head in heads.iter().rev() {
            if same_class(class, &self.class(head)?) {
                alike.push(head.id.clone());
            }
        }
        Ok(alike)
    }

    fn load(
        &mut self,
        name: &str,
        newest: &RunHead,
        chosen: &[String],
        arm: Option<String>,
    ) -> Result<Loaded, CliError> {
        let store = self.store.as_ref().ok_or_else(|| self.no_store())?;
        let read = chosen.iter().map(|id| self.read.whole(id, store));
        let runs: Vec<Rc<RunData>> = read.collect::<Result<_, _>>()?;
        if let (Some(arm), Some(run)) = (&arm, runs.last())
            && !run.plan.arms.iter().any(|known| known.name == *arm)
        {
            let known: Vec<&str> = run.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
            return Err(CliError::data(format!("run {} has no arm `{arm}`", short(&newest.id)))
                .hint(format!("its arms: {}", known.join("; "))));
        }
        let facts = runs.last().map(|run| run.facts.clone()).unwrap_or_default();
        let machine = MachineDoc { id: newest.machine_id.clone(), name: newest.machine.clone() };
        let (price, watts) = (newest.price.clone(), newest.watts);
        let here = Some(self.here());
        let side = Loaded { runs, facts, price, watts, is_stored: true, here, ..Loaded::new(name, machine) };
        let side = self.noted(side, &newest.machine_id)?;
        Ok(match arm {
            Some(arm) => of_arm(side, &arm),
            None => side,
        })
    }

    /// The facts of a run's config class; equal hashes have equal facts.
    fn class(&mut self, head: &RunHead) -> Result<Vec<Fact>, CliError> {
        if let Some(facts) = self.classes.get(&head.config_class) {
            return Ok(facts.clone());
        }
        let store = self.store()?;
        let facts = store.class_facts(&head.id)?;
        self.classes.insert(head.config_class.clone(), facts.clone());
        Ok(facts)
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
        let mut other = Resolver::over(path.to_owned(), Some(paths::open(path)?))?;
        let newest = nth_latest(other.store()?, 0)?;
        let same = other.visible(&newest.machine_id);
        let side = other.pool(&newest.machine, &same, None)?;
        return Ok(Loaded { is_stored: false, ..other.with_earlier(side)? });
    }
    let runs = own::read(path)?.into_iter().map(Rc::new).collect();
    Ok(Loaded { here: Some(names::here()), ..of_runs(runs, name)? })
}
