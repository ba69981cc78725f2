//! `boxscore run` and `boxscore resume`: from arguments, or from a stored study, to the takes and what is shown of
//! them. Also any other plan that is measured into the user's store.

use std::path::{Path, PathBuf};

use harness::conductor::Interaction;
use instruments::inventory::spec_sheet;
use instruments::system_files::Root;
use model::data::Price;
use model::plan::Plan;
use model::{Params, Setup};
use store::Store;

use super::attempt::{
    Measured, Watch, interaction_of, is_discarded, measure, measure_rest, measuring_alone, none_fits, open,
    warn_temporary,
};
use super::display::{Display, Screen};
use super::finish::{Shape, finish, fits_layout};
use super::probing;
use super::quiet::WaitIdle;
use super::sink::Cost;
use super::stop_signal::StopSignal;
use crate::cli::run::RunArgs;
use crate::cli::{Global, Layout, parse_price};
use crate::error::CliError;
use crate::lookup::{cpus, labels, paths, runs};
use crate::{out, plan};

/// `boxscore run`.
pub fn run(args: &RunArgs, global: &Global) -> Result<u8, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    // What is wrong with the command line is said before a store is made.
    labels::check_label(args.usual.label.as_deref())?;
    args.usual.wait.seconds()?;
    if args.usual.wait.wait_idle.is_some() && !args.via.is_empty() {
        out::say(
            "note: --wait-idle looks at this machine alone; what others disturb where --via leads elsewhere is doubted, \
             and named",
        );
    }
    let cost = Cost { price: price(args)?, watts: watts(args)? };
    let planned = match &args.plan {
        Some(_) => None,
        None => Some(fresh(args, &path)?),
    };
    let mut store = open(&path)?;
    let mut plan = match (planned, &args.plan) {
        (Some(plan), _) => plan,
        (None, name) => repeated(name.as_deref().unwrap_or_default(), args, &store)?,
    };
    fits_layout(&plan, args.format)?;
    let _measuring = measuring_alone(&plan, &path)?;
    if let Some(world) = &mut plan.fake {
        world.run_index = store.last_number()?;
    }
    probing::before(&plan, &stop)?;
    warn_temporary(&path, &store)?;
    if plan.fake.is_none() {
        args.usual.wait.wait(&stop, global.json)?;
    }
    let mut display = Display::new(&plan, global.json, args.show_takes);
    let watch = Watch { screen: &mut display, stop: &stop, interaction: interaction_of(&plan) };
    let measured = measure(&plan, cost, &mut store, &path, watch)?;
    if is_discarded(&measured, &mut store)? {
        return Err(none_fits(&measured.outcome, global.json));
    }
    // Whatever it still holds, its readers must see the run as it is now.
    drop(store);
    let shape = Shape { report: !args.no_report, telemetry_only: plan.telemetry_only, layout: args.format };
    finish(&measured, &path, global, shape)
}

/// Measures a plan whose result is not a box score; what it took is stored. Fails when it cannot be stored or measured.
pub fn measure_plan(
    plan: &Plan,
    screen: &mut dyn Screen,
    interaction: Interaction,
    wait: &WaitIdle,
    global: &Global,
) -> Result<Measured, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let mut store = open(&path)?;
    let _measuring = measuring_alone(plan, &path)?;
    warn_temporary(&path, &store)?;
    wait.wait(&stop, global.json)?;
    let watch = Watch { screen, stop: &stop, interaction };
    let measured = measure(plan, Cost::default(), &mut store, &path, watch)?;
    is_discarded(&measured, &mut store)?;
    Ok(measured)
}

/// `boxscore resume`: continues the plan of an interrupted study without repeating finished takes.
pub fn resume(study: &str, show_takes: bool, global: &Global) -> Result<u8, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let mut store = open(&path)?;
    let plan = store.plan(study)?;
    let _measuring = measuring_alone(&plan, &path)?;
    probing::before(&plan, &stop)?;
    let mut display = Display::new(&plan, global.json, show_takes);
    let watch = Watch { screen: &mut display, stop: &stop, interaction: interaction_of(&plan) };
    let measured = measure_rest(study, &plan, &mut store, &path, watch)?;
    // Whatever it still holds, its readers must see the run as it is now.
    drop(store);
    let shape = Shape { report: true, telemetry_only: plan.telemetry_only, layout: Layout::Text };
    finish(&measured, &path, global, shape)
}

/// A new plan from the arguments.
pub(super) fn fresh(args: &RunArgs, store: &Path) -> Result<Plan, CliError> {
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
    if let Some(dir) = args.dir.as_ref().filter(|dir| here && !dir.is_dir()) {
        return Err(CliError::data(format!("--dir {}: there is no such directory", dir.display())));
    }
    if let Some(list) = args.usual.cpus.as_ref().filter(|_| here) {
        cpus::listed(list, &allowed)?;
    }
    let dir = args.dir.clone().unwrap_or_else(|| paths::beside(store));
    let setup = here.then(|| setup_here(dir, &allowed, seed));
    let (plan, said) =
        plan::plan(args, instruments::cards(), &plan::Host { cpus: count, nodes, server, setup }, seed)?;
    for line in said {
        out::say(&format!("note: {line}"));
    }
    Ok(plan)
}

/// Enough of a set-up to ask whether an instrument could be carried out here.
fn setup_here(dir: PathBuf, allowed: &[usize], seed: u64) -> Setup {
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
        store.load_light(&run)?.plan
    };
    if let Some(label) = &args.usual.label {
        plan.label = Some(label.clone());
    }
    if let Some(world) = &args.usual.fake {
        plan.fake = Some(plan::fake(world)?);
    }
    Ok(plan)
}

fn price(args: &RunArgs) -> Result<Option<Price>, CliError> {
    args.price.as_deref().map(|text| parse_price(text, &args.currency)).transpose()
}

fn watts(args: &RunArgs) -> Result<Option<f64>, CliError> {
    match args.watts {
        Some(watts) if !watts.is_finite() || watts <= 0.0 => {
            Err(CliError::usage(format!("--watts {watts}: must be above 0")))
        }
        watts => Ok(watts),
    }
}
