//! From the command line to a plan. It knows the cards, the number of CPUs and the NUMA nodes; of this machine it asks
//! only whether it can carry out what the user asked for, and only where it is to be measured here.
//!
//! The stages, in an order in which each needs what those before it found:
//! 1. `choice`: which instruments. An option can mean something only to a card that is measured.
//! 2. `settings` (with `flags`, `mixes`, `trees`, `targets` and `listen`): every parameter that the command line fixes,
//!    read once, for every arm or for one of them.
//! 3. `cells`: the parameter sets of each card with the settings laid over them, and the server of each named. Sets
//!    that the arms make equal are merged after it is known that each setting has an effect.
//!    The meter of cells of power is chosen then (`power`).
//! 4. `fits`: cells that only a setting makes impossible here are left out or refused.
//! 5. `budget`: how many takes, until when; the last cells are dropped where a quick run has no time for them. It comes
//!    after `fits`, so that no time is kept for what cannot run.
//! 6. `profile` and `children`: what is measured beside, and where. Both name cells or cards, so the cells must be
//!    final.

mod budget;
mod cells;
mod children;
mod choice;
pub mod cluster;
mod command;
mod fits;
mod flags;
mod host;
mod listen;
pub mod mixes;
mod power;
mod profile;
mod read;
mod scan;
mod setting;
mod settings;
pub mod targets;
#[cfg(test)]
mod tests;
pub mod trees;

use model::plan::{Arm, Level, PLAN_VERSION, Profiled};
use model::{Card, Cell, Plan};

pub use budget::share;
pub use choice::check_names;
pub use command::files_dir;
pub use host::Host;
pub use model::params::parse_span;
pub use read::{fake, read};

use crate::cli::run::{RunArgs, Usual};
use crate::error::CliError;
use settings::Settings;

const TAKE_SECONDS: f64 = 0.05;

/// The plan that the arguments ask for, and notes for the user. Fails when they contradict each other or the cards, or
/// cannot be carried out here.
pub fn plan(
    args: &RunArgs,
    cards: &[&'static Card],
    host: &Host,
    seed: u64,
) -> Result<(Plan, Vec<String>), CliError> {
    match choice::names(args) {
        None => planned(args, cards, host, seed),
        Some(names) => {
            let usual = Usual { names, ..args.usual.clone() };
            planned(&RunArgs { usual, ..args.clone() }, cards, host, seed)
        }
    }
}

/// The same of arguments that name what is measured, or want the headline set.
fn planned(
    args: &RunArgs,
    cards: &[&'static Card],
    host: &Host,
    seed: u64,
) -> Result<(Plan, Vec<String>), CliError> {
    let commands = command::read(args)?;
    let level = choice::level(args);
    let chosen = choice::cards(args, cards)?;
    let settings = Settings::read(args, &chosen, &command::placeholders(&commands))?;
    let listed = args.usual.cpus.as_deref().map(parse_cpus).transpose()?;
    let host = host.with(listed.as_deref(), (settings.mix.as_ref(), settings.tree.as_ref()));
    let (cells, implied) = cells::make(args, &chosen, level, &settings, &host)?;
    settings.check_effect(&cells, &chosen)?;
    let mut cells = cells::merged(cells, &settings.arms, &chosen);
    let metered = power::settle(&mut cells, args, &settings, &host)?;
    measures_something(&cells, &chosen, args)?;
    let (mut cells, left_out) = fits::fitting(cells, args, &settings, &chosen, host.setup.as_ref())?;
    let arm_count = settings.arms.len() * commands.len().max(1);
    let fake = args.usual.fake.as_deref().map(fake).transpose()?;
    let soak = budget::soak(args)?;
    let machines = children::machines(&args.via)?;
    let (takes, budget_seconds) = match &soak {
        Some(soak) => budget::soak_limits(soak, cells.len(), machines.len(), fake.as_ref()),
        None => budget::limits(args, level, &cells)?,
    };
    let short = budget_seconds.filter(|_| args.usual.quick && level == Level::Named);
    let beside = arm_count * machines.len().max(1);
    let smaller = budget::smaller_jobs(&mut cells, beside, |key| settings.all().any(|set| set.key == key));
    let (mut cells, no_time) = budget::kept(cells, beside, short);
    let warm_up = budget::warm_up(args, &cells);
    let sittings = budget::sittings(args, arm_count, &cells, &takes);
    let time = budget::Time { takes: &takes, warm_up, sittings, seconds: budget_seconds };
    let is_bounded = args.usual.span.is_some() && level == Level::Named && fake.is_none();
    let too_short = if soak.is_none() { time.too_short(&cells, beside, is_bounded) } else { None };
    let notes = [settings.notes.clone(), implied, metered, left_out].concat().into_iter();
    let unchanged = settings.unchanged(&cells, &chosen);
    let mut arms = command::crossed(settings.arms, &commands, args)?;
    command::choose_rows(&mut cells, arms.len());
    profiled(args, &cells, &mut arms)?;
    command::check_files(&arms, &commands, &host)?;
    let plan = Plan {
        watts_command: power::command(args)?,
        nodes: children::nodes(args)?,
        no_report: args.no_report,
        version: PLAN_VERSION,
        seed,
        level,
        cells,
        arms,
        machines: machines.into(),
        generators: children::others(args, &chosen)?,
        takes,
        warm_up,
        sittings,
        take_seconds: soak.map_or(TAKE_SECONDS, |soak| soak.take_seconds),
        budget_seconds,
        cpus: listed,
        dir: command::files_dir(args)?.map(str::to_owned),
        commands: command::table(&commands),
        telemetry_only: choice::is_telemetry_alone(args),
        label: args.usual.label.clone(),
        fake,
        mixes: settings.mix.map(|named| (named.name, named.mix)).into_iter().collect(),
        trees: settings.tree.map(|named| (named.name, named.tree)).into_iter().collect(),
        unchanged,
        targets: settings.targets,
    };
    Ok((plan, notes.chain(smaller).chain(no_time).chain(too_short).collect()))
}

/// Chooses what --profile looks at.
fn profiled(args: &RunArgs, cells: &[Cell], arms: &mut [Arm]) -> Result<(), CliError> {
    let Some(what) = args.given.value(profile::FLAG) else { return Ok(()) };
    profile::choose(cells, arms, Profiled::parse(what).unwrap_or_default())
}

/// Fails where a run would measure nothing: no variant of what was named is in it.
fn measures_something(cells: &[Cell], chosen: &[&'static Card], args: &RunArgs) -> Result<(), CliError> {
    if !cells.is_empty() || choice::is_telemetry_alone(args) {
        return Ok(());
    }
    let names: Vec<&str> = chosen.iter().map(|card| card.name).collect();
    Err(CliError::usage(format!("nothing to measure: no variant of {} is in this run", names.join(", ")))
        .hint("`boxscore list --long` shows the variants; leave out --quick to have all of them"))
}

/// The CPUs of `--cpus`.
pub fn parse_cpus(list: &str) -> Result<Vec<u32>, CliError> {
    model::params::parse_cpus(list)
        .ok_or_else(|| CliError::usage(format!("--cpus {list}: not a CPU list")).hint("write it as 0-3,8"))
}
