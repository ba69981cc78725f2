//! `boxscore load --target a=URL --target b=URL`: the same load on several servers or stores in turns, and their
//! comparison.
//!
//! It is a study as `run web --target` makes it: an arm for each target, takes in random blocks, verdicts. The load is
//! that of the other options.

use harness::conductor::{Ended, Interaction};
use instruments::load::Load;
use instruments::load::reach::reachable;
use model::metrics::load;
use model::plan::{Plan, Takes};
use model::{Arm, card};

use crate::cli::load::LoadArgs;
use crate::cli::{Global, Layout};
use crate::error::{CliError, Kind};
use crate::lookup::ids::short;
use crate::lookup::paths;
use crate::lookup::resolve::Resolver;
use crate::plan::targets::{self, Given};
use crate::show::{shown, versus};
use crate::study::costs::Costs;
use crate::study::display::Display;
use crate::study::{Measured, Shape, login, remedy};
use crate::{out, study};

/// Takes of each target, the sittings that they are spread over, and how long one lasts.
const TAKES: u32 = 10;
const SITTINGS: u32 = 5;
const DURATION: &str = "2s";

/// Loads the targets in turns and compares them.
pub fn run(args: &LoadArgs, global: &Global, allowed: &[usize], seed: u64) -> Result<u8, CliError> {
    let given = targets::read(&without_logins(&args.on.targets)?)?;
    let costs = Costs::read(&args.costs)?;
    let (mut plan, loads) = plan(args, &given, allowed, seed)?;
    costs.of_targets_alone(&mut plan)?;
    for note in targets::shared(&given) {
        out::say(&format!("note: {note}"));
    }
    for (one, load) in given.iter().zip(&loads) {
        reachable(load).map_err(|error| {
            let error = remedy::failed(&error.into());
            CliError { message: format!("{}: {}", one.name, error.message), ..error }
        })?;
    }
    study::fill_facts(&mut plan, &args.on)?;
    if args.ceilings {
        study::ceilings::measure(&plan, &args.wait, global)?;
    }
    let mut display = Display::new(&plan, global.json, false);
    let mut measure = |global: &Global| {
        let kept = (!args.no_store, global);
        let measured = study::measure_plan(&plan, &mut display, Interaction::default(), &args.wait, kept)?;
        finish(&measured, kept)
    };
    if args.no_store { study::unstored(&plan, global, measure) } else { measure(global) }
}

/// The targets as they were given, without user names and passwords, which are kept for the children.
fn without_logins(given: &[String]) -> Result<Vec<String>, CliError> {
    let clean = |text: &String| {
        let (name, address) = targets::split(text);
        let address = login::take_off(&[address.to_owned()])?.concat();
        Ok(name.map_or_else(|| address.clone(), |name| format!("{name}={address}")))
    };
    given.iter().map(clean).collect()
}

/// A plan of one cell in an arm for each target, and the load of each.
fn plan(
    args: &LoadArgs,
    given: &[Given],
    allowed: &[usize],
    seed: u64,
) -> Result<(Plan, Vec<Load>), CliError> {
    let duration = || Some(DURATION.to_owned()).filter(|_| args.requests.is_none() && args.replay.is_none());
    let args = &LoadArgs { duration: args.duration.clone().or_else(duration), ..args.clone() };
    let of = |one: &Given| {
        super::plan(&LoadArgs { urls: vec![one.address.clone()], ..args.clone() }, allowed, seed)
    };
    let each = given.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    let Some((first, _)) = each.first() else { return Err(CliError::usage("no target is given")) };
    let cell = first.cells[0].clone();
    let mut arms: Vec<Arm> = Vec::new();
    for (one, (own, _)) in given.iter().zip(&each) {
        let other = &own.cells[0];
        if other.instrument != cell.instrument {
            let text = format!("`{}` is a store and another target a web server, or the other way", one.name);
            return Err(CliError::usage(text).hint("one load is for servers of one kind"));
        }
        // What belongs to the address: the URL, and of a store its kind.
        let set = other.params.iter().filter(|(key, value)| {
            *key == "url" || each.iter().any(|(one, _)| one.cells[0].params.get(key) != Some(value.as_str()))
        });
        let set = set.collect();
        arms.push(Arm { name: one.name.clone(), set });
    }
    targets::distinct(&arms)?;
    // They are those of the arms alone.
    let mut cell = cell;
    let card = card::find(instruments::cards(), &cell.instrument);
    for key in arms.iter().flat_map(|arm| arm.set.keys()) {
        if let Some(spec) = card.and_then(|card| card.param(key)) {
            cell.params.set(key, spec.default);
        }
    }
    // The mean where a take is too short for the percentile.
    let headline =
        [load::THROUGHPUT.name(), load::RESPONSE.name(), load::RESPONSE_P99.name(), load::ERROR_RATE.name()];
    cell.headline = headline.map(str::to_owned).to_vec();
    let plan = Plan {
        cells: vec![cell],
        arms,
        targets: given.iter().map(Given::target).collect(),
        takes: Takes::Fixed(args.takes.unwrap_or(TAKES)),
        warm_up: 1,
        sittings: SITTINGS,
        ..first.clone()
    };
    Ok((plan, each.into_iter().map(|(_, load)| load).collect()))
}

/// Shows the comparison on the screen or as a document. Exit code 3 when requests failed, 130 when the user ended it.
fn finish(measured: &Measured, (is_kept, global): (bool, &Global)) -> Result<u8, CliError> {
    if measured.outcome.takes == 0
        && let Some((_, _, why)) = measured.outcome.unfit.first()
    {
        return Err(CliError::data(why.clone()));
    }
    let path = paths::store(global)?;
    let is_whole = matches!(measured.outcome.ended, Ended::Count | Ended::Target | Ended::Budget);
    let code = match global.json && is_whole {
        true => document(measured, global)?,
        false => {
            let shape = Shape { report: false, telemetry_only: false, layout: Layout::Text };
            study::finish(measured, &path, global, shape)?
        }
    };
    if let (true, true, false, [run]) = (is_kept, is_whole, global.json, measured.runs.as_slice()) {
        let run = short(run);
        out::print(&format!(
            "\nstored  boxscore show {run} --all\nreport  boxscore report {run}\nagain   boxscore run --plan {run}\n"
        ));
    }
    Ok(if code == 0 && failed(measured, global)? { Kind::Faults.exit_code() } else { code })
}

/// Prints the comparison as a document; the exit code says if a take failed.
fn document(measured: &Measured, global: &Global) -> Result<u8, CliError> {
    let mut resolver = Resolver::new(global)?;
    let stored = shown::all_stored(&measured.runs, &mut resolver)?;
    let compared = versus::versus(&stored.iter().collect::<Vec<_>>(), &mut resolver)?;
    let compared = compared.ok_or_else(|| CliError::data("the targets have no figure in common"))?;
    out::json(&compared);
    Ok(if measured.outcome.faults > 0 { Kind::Faults.exit_code() } else { 0 })
}

/// True if a request failed.
fn failed(measured: &Measured, global: &Global) -> Result<bool, CliError> {
    let store = paths::open(&paths::store(global)?)?;
    for run in &measured.runs {
        let run = store.load(run)?;
        let mut failed = run.series.iter().filter(|series| series.key.metric == load::FAILED.name());
        if failed.any(|series| series.measured().iter().any(|count| *count > 0.0)) {
            return Ok(true);
        }
    }
    Ok(false)
}
