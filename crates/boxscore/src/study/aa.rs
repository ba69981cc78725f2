//! `boxscore aa`: runs of this machine against itself, one after the other, and what they can tell. Every run is a
//! whole one of the same plan but for the order of its takes. A run that was cut does not count; `resume` completes
//! it.

use harness::conductor::Ended;
use model::Better;
use model::data::RunData;
use model::plan::Plan;
use store::{Want, Which};

use super::attempt::{
    Watch, interaction_of, is_discarded, measure, measuring_alone, none_fits, open, warn_temporary,
};
use super::display::Display;
use super::finish::cut;
use super::probing;
use super::run::fresh;
use super::sink::Cost;
use super::stop_signal::StopSignal;
use crate::cli::Global;
use crate::cli::aa::AaArgs;
use crate::error::{CliError, Kind};
use crate::lookup::resolve::{MOST_RUNS, Resolver};
use crate::lookup::{is_wanted, labels, paths};
use crate::out;

/// The runs that were made, and how the last one ended.
struct Made {
    runs: Vec<String>,
    has_faults: bool,
    /// Why not all were made.
    cut: Option<CliError>,
}

pub fn aa(args: &AaArgs, global: &Global) -> Result<u8, CliError> {
    args.check()?;
    args.usual.wait.seconds()?;
    labels::check_label(args.usual.label.as_deref())?;
    if args.runs == 0 {
        let mut resolver = Resolver::new(global)?;
        let runs = resolver.alike_ids(args.machine.as_deref().unwrap_or("."))?;
        show(&runs, None, args, &resolver, global)?;
        return Ok(0);
    }
    let made = make(args, global)?;
    let Some(newest) = made.runs.last() else {
        return Err(made.cut.unwrap_or_else(|| CliError::data("no run was completed")));
    };
    let mut resolver = Resolver::new(global)?;
    let runs = resolver.beside(newest)?;
    show(&runs, Some(&made.runs), args, &resolver, global)?;
    if let Some(cut) = made.cut {
        match cut.kind {
            Kind::Interrupted => out::say(&cut.message),
            _ => out::say(&cut.to_string()),
        }
        return Ok(cut.kind.exit_code());
    }
    Ok(if made.has_faults { Kind::Faults.exit_code() } else { 0 })
}

/// Makes the runs. Fails where none could be begun.
fn make(args: &AaArgs, global: &Global) -> Result<Made, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let plan = fresh(&args.run(), &path)?;
    let mut store = open(&path)?;
    let _measuring = measuring_alone(&plan, &path)?;
    probing::before(&plan, &stop)?;
    warn_temporary(&path, &store, global)?;
    let mut made = Made { runs: Vec::new(), has_faults: false, cut: None };
    for nth in 0..args.runs {
        if nth > 0 && stop.is_requested() {
            made.cut = Some(interrupted("before", nth, args.runs, &made));
            break;
        }
        let mut plan = Plan { seed: plan.seed.wrapping_add(u64::from(nth)), ..plan.clone() };
        if let Some(world) = &mut plan.fake {
            world.run_index = store.last_number()?;
        }
        out::say(&format!("run {} of {}", nth + 1, args.runs));
        if plan.fake.is_none()
            && let Err(error) = args.usual.wait.wait(&stop, global.json)
        {
            if nth == 0 {
                return Err(error);
            }
            made.cut = Some(error);
            break;
        }
        let mut display = Display::new(&plan, global.json, false);
        let interaction = interaction_of(&plan);
        let watch = Watch { screen: &mut display, stop: &stop, interaction, readings: None, absent: &[] };
        let measured = match measure(&plan, Cost::default(), &mut store, &path, watch) {
            Ok(measured) => measured,
            Err(error) if nth == 0 => return Err(error),
            Err(error) => {
                let is_stop = matches!(error.kind, Kind::Interrupted);
                made.cut = Some(if is_stop { interrupted("before", nth, args.runs, &made) } else { error });
                break;
            }
        };
        if is_discarded(&measured, &mut store)? {
            let error = none_fits(&measured.outcome, global.json);
            if nth == 0 {
                return Err(error);
            }
            made.cut = Some(error);
            break;
        }
        made.has_faults |= measured.outcome.faults > 0;
        if let Some(error) = cut(&measured) {
            let is_stop = matches!(error.kind, Kind::Interrupted);
            made.cut = Some(if is_stop { interrupted("in", nth, args.runs, &made) } else { error });
            break;
        }
        if measured.outcome.measured > 0 || measured.outcome.ended != Ended::Budget {
            made.runs.extend(measured.runs);
        }
    }
    Ok(made)
}

/// The words of an end by the user, in or before a run.
fn interrupted(place: &str, nth: u32, of: u32, made: &Made) -> CliError {
    let count = match made.runs.len() {
        0 => "no run is complete".to_owned(),
        1 => "1 run is complete and counts".to_owned(),
        some => format!("{some} runs are complete and count"),
    };
    let rest = match place {
        "in" => {
            "; `boxscore resume` completes the one that was cut, and `boxscore aa --runs 0` then counts it too"
        }
        _ => "",
    };
    CliError::interrupted(format!("interrupted {place} run {} of {of}: {count}{rest}", nth + 1))
}

/// Prints what these runs can tell, on the screen or as JSON. Those that are set against each other are `made`, or
/// else the newest that have a figure of what was named.
fn show(
    runs: &[String],
    made: Option<&[String]>,
    args: &AaArgs,
    resolver: &Resolver,
    global: &Global,
) -> Result<(), CliError> {
    let store = resolver.store()?;
    let want = Want { series: Which::All, telemetry: false, rest: true };
    let load = |id: &String| store.load_with(id, want).map_err(CliError::from);
    let data: Vec<RunData> = runs.iter().map(load).collect::<Result<_, _>>()?;
    let wanted = |instrument: &str| is_wanted(instrument, &args.usual.names);
    let against = match made {
        Some(made) => made.to_vec(),
        None => newest_with(&data, &wanted),
    };
    let document = verdict::aa(&data, &against, &wanted, instruments::cards());
    if document.figures.is_empty() {
        return Err(CliError::data("these runs have no such figure")
            .hint("`boxscore list` names the instruments; `boxscore history` lists the runs"));
    }
    if global.json {
        out::json(&document);
    } else {
        out::print(&report::text::aa::table(&document, out::look()));
    }
    Ok(())
}

/// The newest of these runs that have a figure of a wanted instrument, oldest first.
fn newest_with(data: &[RunData], wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
    let has = |run: &&RunData| {
        run.series.iter().any(|series| {
            let is_figure = series.better != Better::Neither && wanted(&series.key.instrument);
            is_figure && !series.measured().is_empty()
        })
    };
    let all: Vec<String> = data.iter().filter(has).map(|run| run.head.id.clone()).collect();
    all[all.len().saturating_sub(MOST_RUNS)..].to_vec()
}
