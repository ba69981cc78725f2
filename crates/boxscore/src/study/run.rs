//! `boxscore run` and `boxscore resume`: from arguments, or from a stored study, to the takes and what is shown of
//! them. Also any other plan that is measured into the user's store.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use harness::conductor::Interaction;
use instruments::inventory::spec_sheet;
use instruments::system_files::Root;
use model::data::Status;
use model::flags::CEILINGS;
use model::plan::Plan;
use model::power::TYPED_FLAG;
use model::{Cell, Family, Params, Setup, card};
use store::Store;

use super::attempt::{
    Measured, Watch, interaction_of, is_discarded, measure, measure_rest, measuring_alone, nobody_measures,
    none_fits, open, warn_temporary,
};
use super::costs::{self, Costs};
use super::display::{Display, Screen};
use super::finish::{Shape, finish, fits_layout};
use super::quiet::WaitIdle;
use super::reconnect::{Shown, Study};
use super::sink::Cost;
use super::stop_signal::StopSignal;
use super::{bisect, ceilings, common_rates, probing, target_facts, worktrees};
use crate::cli::run::RunArgs;
use crate::cli::targets::TargetArgs;
use crate::cli::{Global, Layout};
use crate::error::CliError;
use crate::fleet::on::{self, Nodes};
use crate::lookup::{cpus, labels, paths, runs};
use crate::{out, plan};

/// `boxscore run`.
pub fn run(args: &RunArgs, global: &Global) -> Result<u8, CliError> {
    if args.commands.bisect && args.lab.on.is_empty() {
        return bisect::run(args, global);
    }
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let (args, mut nodes) = on::expanded(args, |args| may_begin(args, &path), &stop)?;
    let Done { measured, path, shape } = carried_out(&args, global, &stop, nodes.as_mut())?;
    let code = finish(&measured, &path, global, shape)?;
    left(nodes, &measured, code)
}

/// Leaves the nodes; the exit code says where one could not be measured.
fn left(nodes: Option<on::Nodes>, measured: &Measured, code: u8) -> Result<u8, CliError> {
    let Some(nodes) = nodes else { return Ok(code) };
    nodes.end(!measured.outcome.statuses.contains(&Status::Interrupted))?;
    Ok(nodes.code(code))
}

/// A run whose takes are stored, and nothing of it shown yet.
pub(super) struct Done {
    pub measured: Measured,
    path: PathBuf,
    shape: Shape,
}

/// `boxscore run` without showing anything of it; with the exit code of nodes that were left out.
pub fn quietly(args: &RunArgs, global: &Global, stop: &StopSignal) -> Result<(Measured, u8), CliError> {
    let path = paths::store(global)?;
    let (args, mut nodes) = on::expanded(args, |args| may_begin(args, &path), stop)?;
    let measured = carried_out(&args, global, stop, nodes.as_mut())?.measured;
    let code = left(nodes, &measured, 0)?;
    Ok((measured, code))
}

/// Before nodes are reached: fails where the arguments make no plan, or another run measures.
fn may_begin(args: &RunArgs, path: &Path) -> Result<(), CliError> {
    let (plan, _) = planned(args, path)?;
    if plan.fake.is_none() && !plan.telemetry_only { nobody_measures(path) } else { Ok(()) }
}

/// Plans and measures. Fails where nothing could be measured.
pub(super) fn carried_out(
    args: &RunArgs,
    global: &Global,
    stop: &StopSignal,
    nodes: Option<&mut Nodes>,
) -> Result<Done, CliError> {
    let path = paths::store(global)?;
    // What is wrong with the command line is said before a store is made.
    labels::check_label(args.usual.label.as_deref())?;
    args.usual.wait.seconds()?;
    say_where_it_waits(args);
    let costs = Costs::read(&args.costs)?;
    let mut args = args.clone();
    // They stay until the run has ended.
    let worktrees = worktrees::prepared(&mut args, &paths::beside(&path))?;
    let args = &args;
    let planned = match &args.plan {
        Some(_) => None,
        None => Some(fresh(args, &path)?),
    };
    if let Some(plan) = planned.as_ref().filter(|_| args.given.has(CEILINGS.long)) {
        ceilings::measure(plan, &args.usual.wait, global)?;
    }
    let mut store = open(&path)?;
    let mut plan = match (planned, &args.plan) {
        (Some(plan), _) => plan,
        (None, name) => repeated(name.as_deref().unwrap_or_default(), args, &store)?,
    };
    // They stay until the run has ended, as those above do.
    let _restored = match &worktrees {
        Some(made) => {
            made.note(&mut plan);
            None
        }
        None => worktrees::restored(&mut plan, &paths::beside(&path))?,
    };
    let mut cost = costs.split(&mut plan)?;
    if let Some(name) = &args.plan {
        costs::inherit(&mut cost, name, &plan, &store)?;
    }
    plan.no_report = args.no_report;
    fits_layout(&plan, args.format)?;
    target_facts::fill(&mut plan, &args.on, stop)?;
    let _measuring = measuring_alone(&plan, &path)?;
    if let Some(world) = &mut plan.fake {
        world.run_index = store.last_number()?;
    }
    probing::before(&plan, stop)?;
    if let Some(said) = common_rates::settle(&mut plan, stop)? {
        out::say(&format!("note: {said}"));
    }
    warn_temporary(&path, &store, global)?;
    if plan.fake.is_none() {
        args.usual.wait.wait(stop, global.json)?;
    }
    let shown = Shown { global, takes: args.show_takes, readings: args.given.value(TYPED_FLAG) };
    let measured = measured((&mut plan, nodes), cost, (&mut store, &path), stop, shown)?;
    if is_discarded(&measured, &mut store)? {
        return Err(none_fits(&measured.outcome, global.json));
    }
    // Whatever it still holds, its readers must see the run as it is now.
    drop(store);
    let report = wants_report(&plan);
    let shape = Shape { report, telemetry_only: plan.telemetry_only, layout: args.format };
    Ok(Done { measured, path, shape })
}

/// `--wait-idle` knows nothing of other machines.
fn say_where_it_waits(args: &RunArgs) {
    if args.usual.wait.wait_idle.is_some() && !args.via.is_empty() {
        out::say(
            "note: --wait-idle looks at this machine alone; what others disturb where --via leads elsewhere is doubted, \
             and named",
        );
    }
}

/// Measures, and reaches nodes again that were lost.
fn measured(
    (plan, nodes): (&mut Plan, Option<&mut Nodes>),
    cost: Cost,
    (store, path): (&mut Store, &Path),
    stop: &StopSignal,
    shown: Shown<'_>,
) -> Result<Measured, CliError> {
    let absent = nodes.as_ref().map(|nodes| nodes.absent()).unwrap_or_default();
    let mut display = Display::new(plan, shown.global.json, shown.takes).without(&absent);
    let interaction = interaction_of(plan);
    let watch = Watch { screen: &mut display, stop, interaction, readings: shown.readings, absent: &absent };
    let measured = measure(plan, cost.clone(), store, path, watch)?;
    match nodes {
        Some(nodes) => Study { cost, plan, nodes, store, path, stop, shown }.again(measured),
        None => Ok(measured),
    }
}

fn wants_report(plan: &Plan) -> bool {
    !plan.no_report && !is_own_command(plan)
}

/// A command of the user's has few figures, which stand on the screen; `boxscore report` makes a page of them.
fn is_own_command(plan: &Plan) -> bool {
    let is_own = |cell: &Cell| {
        card::find(instruments::cards(), &cell.instrument).is_some_and(|card| card.family == Family::User)
    };
    !plan.cells.is_empty() && plan.cells.iter().all(is_own)
}

/// A store that is gone with it.
struct Passing(PathBuf);

impl Passing {
    /// Fails where there can be no folder for temporary files.
    fn new() -> Result<Passing, CliError> {
        let name = format!("boxscore-unstored-{}-{}", std::process::id(), sys::clock::now_ns());
        let folder = std::env::temp_dir().join(name);
        let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| {
            CliError::data(format!("no folder for what is not stored: {}: {error}", folder.display()))
        })?;
        Ok(Passing(folder))
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            out::say(&format!("warning: {} is left: {error}", self.0.display()));
        }
    }
}

/// Does something with a store that is deleted after it, such as measuring and showing what was measured. Another
/// process that measures into the usual store is waited for by nobody: two at once would disturb each other.
pub fn unstored<T>(
    plan: &Plan,
    global: &Global,
    work: impl FnOnce(&Global) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let usual = paths::store(global)?;
    let _measuring = match usual.parent().is_some_and(Path::is_dir) {
        true => measuring_alone(plan, &usual)?,
        false => None,
    };
    let passing = Passing::new()?;
    work(&Global { store: Some(passing.0.join("store.db")), ..global.clone() })
}

/// Measures a plan whose result is not a box score; what it took is stored. Fails when it cannot be stored or measured.
pub fn measure_plan(
    plan: &Plan,
    screen: &mut dyn Screen,
    interaction: Interaction,
    wait: &WaitIdle,
    (keeps, global): (bool, &Global),
) -> Result<Measured, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let mut store = open(&path)?;
    let _measuring = measuring_alone(plan, &path)?;
    if keeps {
        warn_temporary(&path, &store, global)?;
    }
    wait.wait(&stop, global.json)?;
    let watch = Watch { screen, stop: &stop, interaction, readings: None, absent: &[] };
    let measured = measure(plan, Cost::default(), &mut store, &path, watch)?;
    is_discarded(&measured, &mut store)?;
    Ok(measured)
}

/// Gives the targets of a plan the facts that the options lead to.
pub fn fill_facts(plan: &mut Plan, args: &TargetArgs) -> Result<(), CliError> {
    match args.at.is_empty() && args.facts.is_empty() {
        true => Ok(()),
        false => target_facts::fill(plan, args, &StopSignal::listen()?),
    }
}

/// `boxscore resume`: continues the plan of an interrupted study without repeating finished takes.
pub fn resume(study: &str, show_takes: bool, global: &Global) -> Result<u8, CliError> {
    let stop = StopSignal::listen()?;
    let Done { measured, path, shape } = continued(study, show_takes, global, &stop)?;
    finish(&measured, &path, global, shape)
}

/// `boxscore resume` without showing anything of it.
pub fn resume_quietly(study: &str, global: &Global, stop: &StopSignal) -> Result<Measured, CliError> {
    continued(study, false, global, stop).map(|done| done.measured)
}

fn continued(study: &str, show_takes: bool, global: &Global, stop: &StopSignal) -> Result<Done, CliError> {
    let path = paths::store(global)?;
    let mut store = open(&path)?;
    let mut plan = store.plan(study)?;
    let _worktrees = worktrees::restored(&mut plan, &paths::beside(&path))?;
    let _measuring = measuring_alone(&plan, &path)?;
    let (mut nodes, mut cost) = (None, Cost::default());
    if let Some((found, costs)) = on::of_plan(&plan, stop)? {
        plan.machines = found.lead(&plan.machines);
        plan.generators = found.lead(&plan.generators).to_vec();
        cost = Costs::read(&costs)?.split(&mut plan)?;
        nodes = Some(found);
    }
    probing::before(&plan, stop)?;
    let shown = Shown { global, takes: show_takes, readings: None };
    let interaction = interaction_of(&plan);
    let absent = nodes.as_ref().map(Nodes::absent).unwrap_or_default();
    let mut display = Display::new(&plan, global.json, show_takes).without(&absent);
    let watch = Watch { screen: &mut display, stop, interaction, readings: None, absent: &absent };
    let mut measured = measure_rest(study, &plan, cost.clone(), &mut store, &path, watch)?;
    if let Some(nodes) = &mut nodes {
        let (plan, store, path, stop) = (&mut plan, &mut store, path.as_path(), stop);
        measured = Study { cost, plan, nodes, store, path, stop, shown }.again(measured)?;
    }
    left(nodes, &measured, 0)?;
    // Whatever it still holds, its readers must see the run as it is now.
    drop(store);
    let report = wants_report(&plan);
    let shape = Shape { report, telemetry_only: plan.telemetry_only, layout: Layout::Text };
    Ok(Done { measured, path, shape })
}

/// A new plan from the arguments; prints its notes.
pub(super) fn fresh(args: &RunArgs, store: &Path) -> Result<Plan, CliError> {
    let (plan, said) = planned(args, store)?;
    for line in said {
        out::say(&format!("note: {line}"));
    }
    Ok(plan)
}

/// A new plan from the arguments, and notes for the user.
pub fn planned(args: &RunArgs, store: &Path) -> Result<(Plan, Vec<String>), CliError> {
    let allowed = cpus::allowed()?;
    let seed = args.usual.seed.unwrap_or_else(|| sys::clock::wall_ns() ^ u64::from(std::process::id()));
    let count = u32::try_from(allowed.len()).unwrap_or(u32::MAX);
    let allowed_here = |cpu: &u32| allowed.contains(&(*cpu as usize));
    let here = args.usual.fake.is_none() && args.via.is_empty();
    // The nodes of other machines are not known while the plan is made.
    let mut nodes = match here {
        true => instruments::bench::memory_access::place::nodes(Path::new("/sys")),
        false => Vec::new(),
    };
    nodes.iter_mut().for_each(|node| node.cpus.retain(allowed_here));
    // Other machines are asked for the usual one, and say so where it is missing.
    let server = if here { instruments::workload::server::installed::usual().name() } else { "nginx" };
    let dir = plan::files_dir(args)?.map(PathBuf::from);
    if let Some(dir) = dir.as_ref().filter(|dir| here && !dir.is_dir()) {
        return Err(CliError::no_directory(&dir.display().to_string()));
    }
    if let Some(list) = args.usual.cpus.as_ref().filter(|_| here) {
        cpus::listed(list, &allowed)?;
    }
    let dir = dir.unwrap_or_else(|| paths::beside(store));
    let setup = here.then(|| setup_here(dir, &allowed, seed));
    plan::plan(args, instruments::cards(), &plan::Host { cpus: count, nodes, server, setup }, seed)
}

/// Enough of a set-up to ask whether an instrument could be carried out here.
pub fn setup_here(dir: PathBuf, allowed: &[usize], seed: u64) -> Setup {
    let cpus = cpus::numbered(allowed);
    // What fits depends on the caches and the memory, as in the child that measures.
    let host = harness::Host::from_facts(&spec_sheet::all_facts(&Root::live()), &cpus);
    Setup { seed, llc: host.llc, memory: host.memory, ..Setup::bare(Params::default(), cpus, dir) }
}

/// The plan of a file or of a run in the store, with the same seed.
fn repeated(name: &str, args: &RunArgs, store: &Store) -> Result<Plan, CliError> {
    let path = Path::new(name);
    let mut plan = if path.is_file() {
        let text =
            std::fs::read_to_string(path).map_err(|error| CliError::data(format!("{name}: {error}")))?;
        plan::read(name, &text, instruments::cards())?
    } else {
        let run = runs::run_id(name, store)?;
        store.load_light(&run)?.plan.into_value()
    };
    if let Some(label) = &args.usual.label {
        plan.label = Some(label.clone());
    }
    if let Some(world) = &args.usual.fake {
        plan.fake = Some(plan::fake(world)?);
    }
    Ok(plan)
}
