//! Carries out a study: plan, store, children, conductor; then shows what came of it.

use std::path::{Path, PathBuf};

use harness::conductor::{Conductor, Ended, Finished, Interaction, Outcome};
use instruments::facts::{Root, scan};
use model::data::{Price, RunData, Series, TakeHead};
use model::params::check_cpus;
use model::plan::{Plan, Takes};
use model::reading::Take;
use model::{Params, Reading, Setup};
use store::{Filter, Mode, Options, Store};
use sys::files::{Lock, LockFile};

use crate::cli::Global;
use crate::cli::run::Args;
use crate::display::{Display, Screen, Silent};
use crate::error::{CliError, Kind};
use crate::ids::Ids;
use crate::present::Layout;
use crate::sink::{Begun, Said, StoreSink};
use crate::stop_signal::StopSignal;
use crate::{link, login, out, paths, planning, present, probing, resolve};

/// `boxscore run`.
pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    // What is wrong with the command line is said before a store is made.
    planning::check_label(args.label.as_deref())?;
    let (price, watts) = (price(args)?, watts(args)?);
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
        world.run_index = store.heads(&Filter::default()).map_err(present::store_error)?.len() as u64;
    }
    probing::before(&plan, &stop)?;
    warn_temporary(&path, &store)?;
    let mut ids = Ids::new(plan.fake.as_ref());
    let study = ids.next();
    store.begin_study(&study, &plan).map_err(present::store_error)?;
    let said = Said { label: plan.label.clone(), price, watts };
    let begun = study.clone();
    let sitting = Sitting { plan: &plan, study, said, earlier: Vec::new(), runs: Vec::new(), elapsed_ns: 0 };
    let mut display = Display::new(&plan, global.json, args.show_takes);
    let interaction = interaction_of(&plan);
    let (outcome, runs) =
        sitting.carry_out(&mut store, &path, &mut ids, (&mut display, &stop, interaction))?;
    if is_discarded(&outcome, &begun, &mut store)? {
        return Err(none_fits(&outcome, global.json));
    }
    // Whatever it still holds, its readers must see the run as it is now.
    drop(store);
    finish(&outcome, &runs, &path, global, (!args.no_report, plan.telemetry_only, args.format))
}

/// Carries out a plan whose result is not a box score; what it took is stored.
pub fn of_plan(
    plan: &Plan,
    screen: &mut dyn Screen,
    interaction: Interaction,
    global: &Global,
) -> Result<(Outcome, Vec<String>), CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let mut store = open(&path)?;
    let _measuring = measuring_alone(plan, &path)?;
    warn_temporary(&path, &store)?;
    let mut ids = Ids::new(plan.fake.as_ref());
    let study = ids.next();
    store.begin_study(&study, plan).map_err(present::store_error)?;
    let said = Said { label: plan.label.clone(), ..Said::default() };
    let begun = study.clone();
    let sitting = Sitting { plan, study, said, earlier: Vec::new(), runs: Vec::new(), elapsed_ns: 0 };
    let (outcome, runs) = sitting.carry_out(&mut store, &path, &mut ids, (screen, &stop, interaction))?;
    is_discarded(&outcome, &begun, &mut store)?;
    Ok((outcome, runs))
}

/// Takes a study of which nothing can run out of the store again: an empty run would be nobody's latest. It is stored
/// from the beginning, so that one that is killed can be resumed.
fn is_discarded(outcome: &Outcome, study: &str, store: &mut Store) -> Result<bool, CliError> {
    let is_whole = matches!(outcome.ended, Ended::Count | Ended::Target);
    if !is_whole || outcome.takes > 0 || outcome.unfit.is_empty() {
        return Ok(false);
    }
    store.discard(study).map_err(present::store_error)
}

/// What is said where nothing can run; the reasons were said, but for a document, which has them all where it is one.
fn none_fits(outcome: &Outcome, is_document: bool) -> CliError {
    let mut reasons: Vec<&str> = outcome.unfit.iter().map(|(_, _, why)| why.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    match reasons[..] {
        [one] if is_document => CliError::data(format!("{one}; nothing was measured or stored")),
        _ => CliError::data("nothing was measured or stored: nothing of this run can run here")
            .hint("the lines above say why; `boxscore list` says what can"),
    }
}

/// `boxscore resume`: continues the plan of an interrupted study without repeating finished takes.
pub fn resume(study: &str, show_takes: bool, global: &Global) -> Result<u8, CliError> {
    let stop = StopSignal::listen()?;
    let path = paths::store(global)?;
    let mut store = open(&path)?;
    let plan = store.plan(study).map_err(present::store_error)?;
    let _measuring = measuring_alone(&plan, &path)?;
    probing::before(&plan, &stop)?;
    let filter = Filter { study: Some(study.to_owned()), ..Filter::default() };
    let heads = store.heads(&filter).map_err(present::store_error)?;
    let mut earlier = Vec::new();
    let mut runs = Vec::new();
    let mut elapsed_ns = 0;
    for (machine, via) in plan.machines.iter().enumerate() {
        let head = heads.iter().find(|head| plan.machines.len() == 1 || head.machine == via.name);
        let Some(head) = head else {
            runs.push(None);
            continue;
        };
        store.claim(&head.id).map_err(present::store_error)?;
        let run = store.load_light(&head.id).map_err(present::store_error)?;
        runs.push(Some(Begun { run: head.id.clone(), cost: run.own_cost }));
        for take in taken(&run) {
            elapsed_ns = elapsed_ns.max(take.end_ns);
            earlier.push(Finished { machine, take });
        }
    }
    let mut ids = Ids::new(plan.fake.as_ref());
    // Those that the first sitting may have given away: its study, and a run a machine.
    (0..=plan.machines.len()).for_each(|_| drop(ids.next()));
    let said = Said { label: plan.label.clone(), ..Said::default() };
    let sitting = Sitting { plan: &plan, study: study.to_owned(), said, earlier, runs, elapsed_ns };
    let mut display = Display::new(&plan, global.json, show_takes);
    let interaction = interaction_of(&plan);
    let (outcome, runs) =
        sitting.carry_out(&mut store, &path, &mut ids, (&mut display, &stop, interaction))?;
    // Whatever it still holds, its readers must see the run as it is now.
    drop(store);
    finish(&outcome, &runs, &path, global, (true, plan.telemetry_only, Layout::Text))
}

fn open(path: &Path) -> Result<Store, CliError> {
    let store = resolve::create(path)?;
    store.check_writable().map_err(present::store_error)?;
    for line in store.recovered() {
        out::say(&format!("note: {line}"));
    }
    Ok(store)
}

/// Said of the first run of a store, and not where nothing is kept.
fn warn_temporary(path: &Path, store: &Store) -> Result<(), CliError> {
    let is_first = || store.heads(&Filter::default()).map(|heads| heads.is_empty());
    if store::is_temporary(path) && is_first().map_err(present::store_error)? {
        let text = "is in a temporary directory; it may be lost";
        out::say(&format!("warning: the store {} {text}", path.display()));
    }
    Ok(())
}

/// The takes of a stored run as the conductor knows them.
fn taken(run: &RunData) -> Vec<Take> {
    let readings = |seq: u64| {
        let of = |series: &Series| {
            let points: Vec<_> = series.points.iter().filter(|point| point.seq == seq).cloned().collect();
            let (key, better) = (series.key.clone(), series.better);
            points.into_iter().map(move |point| Reading {
                key: key.clone(),
                better,
                at_ns: point.at_ns,
                window_ns: point.window_ns,
                value: point.value,
            })
        };
        run.series.iter().flat_map(of).collect::<Vec<Reading>>()
    };
    let take = |head: &TakeHead| Take {
        seq: head.seq,
        block: head.block,
        phase: head.phase,
        cell: head.cell,
        arm: head.arm,
        start_ns: head.start_ns,
        end_ns: head.end_ns,
        repeats: head.repeats,
        readings: readings(head.seq),
        refusals: head.refusals.clone(),
        notes: Vec::new(),
        fault: head.fault.clone(),
    };
    run.takes.iter().map(take).collect()
}

/// A new plan from the arguments.
fn fresh(args: &Args, store: &Path) -> Result<Plan, CliError> {
    let allowed = sys::affinity::allowed().map_err(|error| CliError::data(error.to_string()))?;
    let seed = args.seed.unwrap_or_else(|| sys::clock::wall_ns() ^ u64::from(std::process::id()));
    let count = u32::try_from(allowed.len()).unwrap_or(u32::MAX);
    let allowed_here = |cpu: &u32| allowed.contains(&(*cpu as usize));
    let here = args.fake.is_none() && args.via.is_empty();
    // The nodes of other machines are not known while the plan is made.
    let mut nodes = match here {
        true => instruments::bench::ram::place::nodes(Path::new("/sys")),
        false => Vec::new(),
    };
    nodes.iter_mut().for_each(|node| node.cpus.retain(allowed_here));
    // Other machines are asked for the usual one, and say so where it is missing.
    let server = if here { instruments::workload::server::kind::usual().name() } else { "nginx" };
    if let Some(dir) = args.dir.as_ref().filter(|dir| here && !dir.is_dir()) {
        return Err(CliError::data(format!("--dir {}: there is no such directory", dir.display())));
    }
    if let Some(list) = args.cpus.as_ref().filter(|_| here) {
        cpus_here(list, &allowed)?;
    }
    let dir = args.dir.clone().unwrap_or_else(|| paths::beside(store));
    let setup = here.then(|| setup_here(dir, &allowed, seed));
    let (plan, said) = planning::plan(
        args,
        instruments::cards(),
        &planning::Host { cpus: count, nodes, server, setup },
        seed,
    )?;
    for line in said {
        out::say(&format!("note: {line}"));
    }
    Ok(plan)
}

/// Enough of a set-up to ask whether an instrument could be carried out here.
fn setup_here(dir: PathBuf, allowed: &[usize], seed: u64) -> Setup {
    let cpus: Vec<u32> = allowed.iter().filter_map(|&cpu| u32::try_from(cpu).ok()).collect();
    // What fits depends on the caches and the memory, as in the child that measures.
    let host = harness::Host::from_facts(&scan::everything(&Root::live()), &cpus);
    Setup { seed, llc: host.llc, memory: host.memory, ..Setup::bare(Params::default(), cpus, dir) }
}

/// The CPUs of a list, each of which may be used.
pub fn cpus_here(list: &str, allowed: &[usize]) -> Result<Vec<u32>, CliError> {
    let listed = planning::parse_cpus(list)?;
    check_cpus(&listed, allowed).map_err(|error| CliError::no_cpu("--cpus", &error))?;
    Ok(listed)
}

/// The plan of a file or of a run in the store, with the same seed.
fn repeated(name: &str, args: &Args, store: &Store) -> Result<Plan, CliError> {
    let path = Path::new(name);
    let mut plan = if path.is_file() {
        let text =
            std::fs::read_to_string(path).map_err(|error| CliError::data(format!("{name}: {error}")))?;
        planning::read(name, &text, instruments::cards())?
    } else {
        let run = crate::runs::run_id(name, store)?;
        store.load_light(&run).map_err(present::store_error)?.plan
    };
    if let Some(label) = &args.label {
        plan.label = Some(label.clone());
    }
    if let Some(world) = &args.fake {
        plan.fake = Some(planning::fake(world)?);
    }
    Ok(plan)
}

/// `0.192/h` is hourly, `429` is bought.
pub fn parse_price(text: &str, currency: &str) -> Result<Price, CliError> {
    let (number, hourly) = match text.trim().strip_suffix("/h") {
        Some(number) => (number, true),
        None => (text.trim(), false),
    };
    match number.trim().parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => {
            Ok(Price { amount, hourly, currency: currency.to_owned() })
        }
        _ => Err(CliError::usage(format!("--price {text}: not a price"))
            .hint("write 0.192/h (hourly) or 429 (bought)")),
    }
}

fn price(args: &Args) -> Result<Option<Price>, CliError> {
    args.price.as_deref().map(|text| parse_price(text, &args.currency)).transpose()
}

fn watts(args: &Args) -> Result<Option<f64>, CliError> {
    match args.watts {
        Some(watts) if !watts.is_finite() || watts <= 0.0 => {
            Err(CliError::usage(format!("--watts {watts}: must be above 0")))
        }
        watts => Ok(watts),
    }
}

/// A single take of one load, as `boxscore load` makes it, may last for hours: an interrupt ends it early, also where
/// it is repeated or resumed.
fn interaction_of(plan: &Plan) -> Interaction {
    let load =
        matches!(plan.cells.as_slice(), [only] if ["web", "kv-load"].contains(&only.instrument.as_str()));
    Interaction { watched: false, cuts: load && plan.takes == Takes::Fixed(1) && plan.warm_up == 0 }
}

/// One sitting of a study: from the start, or the rest of an interrupted one.
struct Sitting<'a> {
    plan: &'a Plan,
    study: String,
    said: Said,
    earlier: Vec<Finished>,
    runs: Vec<Option<Begun>>,
    elapsed_ns: u64,
}

impl Sitting<'_> {
    fn carry_out(
        self,
        store: &mut Store,
        path: &Path,
        ids: &mut Ids,
        (display, stop, interaction): (&mut dyn Screen, &StopSignal, Interaction),
    ) -> Result<(Outcome, Vec<String>), CliError> {
        const EMPTY: &str = "interrupted before anything was taken";
        let nothing_yet = || CliError { kind: Kind::Interrupted, ..CliError::data(EMPTY) };
        if stop.is_requested() && self.earlier.is_empty() {
            return Err(nothing_yet());
        }
        // A planted world loads nothing.
        let generators = if self.plan.fake.is_some() { &[][..] } else { &self.plan.generators };
        let login = login::of(self.plan)?;
        let (links, events) = link::start(&self.plan.machines, generators)?;
        let mut sink = StoreSink::new(store, self.plan, display, ids, self.study, self.said);
        sink.continue_runs(&self.runs);
        let stopped = || stop.is_requested();
        let conductor = Conductor::new(self.plan, links.machines, events, &mut sink, &stopped);
        let mut conductor = conductor.with_generators(links.generators);
        conductor.set_interaction(interaction);
        conductor.log_in(login);
        conductor.resume(&self.earlier);
        let dir = paths::beside(path);
        let outcome = conductor.run(&dir.display().to_string(), self.elapsed_ns);
        let runs: Vec<String> = sink.runs().into_iter().flatten().collect();
        display.end();
        if !runs.is_empty() {
            return Ok((outcome, runs));
        }
        Err(match (outcome.ended, outcome.refused) {
            (Ended::Interrupted, _) => nothing_yet(),
            (_, Some(refused)) => refusal("nothing was measured", &refused),
            _ => CliError::data("no machine could be measured").hint("the lines above say why"),
        })
    }
}

/// Carries out a plan for one machine in a store of its own, says nothing, and gives back the run as it was stored.
pub fn aside(plan: &Plan, path: &Path, stop: &StopSignal) -> Result<RunData, CliError> {
    let (outcome, run) = tried(plan, path, stop)?;
    match outcome.unfit.first() {
        Some((_, _, why)) if outcome.measured == 0 => Err(CliError::data(why.clone())),
        _ => Ok(run),
    }
}

/// The same, also where nothing of it could be measured; with what came of it.
pub fn tried(plan: &Plan, path: &Path, stop: &StopSignal) -> Result<(Outcome, RunData), CliError> {
    let mut store = Store::open_with(path, &Options::new(Mode::Create)).map_err(present::store_error)?;
    let mut ids = Ids::new(None);
    let study = ids.next();
    store.begin_study(&study, plan).map_err(present::store_error)?;
    let said = Said::default();
    let sitting = Sitting { plan, study, said, earlier: Vec::new(), runs: Vec::new(), elapsed_ns: 0 };
    let (outcome, runs) =
        sitting.carry_out(&mut store, path, &mut ids, (&mut Silent, stop, Interaction::default()))?;
    if let Some(error) = cut(&outcome, &runs) {
        return Err(error);
    }
    let run = runs.first().ok_or_else(|| CliError::data("nothing was measured"))?;
    let data = store.load(run).map_err(present::store_error)?;
    Ok((outcome, data))
}

/// Two runs at once would disturb each other: the second is refused. A planted world and pure telemetry disturb
/// nobody.
pub fn measuring_alone(plan: &Plan, store: &Path) -> Result<Option<LockFile>, CliError> {
    if plan.fake.is_some() || plan.telemetry_only {
        return Ok(None);
    }
    let path = store.with_extension("measuring");
    match LockFile::try_acquire(&path) {
        Ok(Lock::Held(lock)) => Ok(Some(lock)),
        Ok(Lock::Busy { holder }) => {
            let who = holder.map_or_else(String::new, |pid| format!(" (pid {})", pid.trim()));
            Err(CliError::data(format!(
                "another boxscore run{who} is measuring: two at once would disturb each other"
            ))
            .hint("wait until it ends, or stop it with Ctrl-C; it keeps what it has"))
        }
        Err(error) => Err(CliError::data(error.to_string())),
    }
}

/// What a run that only recorded has: its sources with their ticks, and where they can be seen.
fn recorded(runs: &[String], path: &Path, global: &Global, report: bool) -> Result<(), CliError> {
    let store = crate::resolve::open(path)?;
    for id in runs {
        let run = store.load(id).map_err(present::store_error)?;
        let mut ticks: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for segment in &run.telemetry {
            *ticks.entry(segment.source.as_str()).or_default() += segment.at_ns.len();
        }
        let span = report::number::duration(run.head.seconds.unwrap_or_default());
        out::print(&format!("recorded {} for {span} as run {}\n", run.head.machine, crate::ids::short(id)));
        for (source, count) in &ticks {
            out::print(&format!("  {source}: {count} ticks\n"));
        }
        if ticks.is_empty() {
            out::print("  nothing: no source can be read here\n");
        }
    }
    let Some(first) = runs.first() else { return Ok(()) };
    if report && let Some(written) = present::report_after(runs, path, global)? {
        out::print(&format!("\nreport  {}\n", paths::tilde(&written)));
    } else {
        out::print(&format!("\nreport  boxscore report {}\n", crate::ids::short(first)));
    }
    Ok(())
}

/// It ended before its plan was done, whoever ended it.
const fn is_cut(outcome: &Outcome) -> bool {
    matches!(outcome.ended, Ended::Interrupted | Ended::Lost | Ended::Refused)
}

/// What a sink said that refused: the hint, where it has one, is on a line of its own.
fn refusal(what: &str, refused: &str) -> CliError {
    match refused.split_once("\n hint: ") {
        Some((why, hint)) => CliError::data(format!("{what}: {why}")).hint(hint),
        None => CliError::data(format!("{what}: {refused}")),
    }
}

/// Why a run was cut, and what is kept of it.
fn cut(outcome: &Outcome, runs: &[String]) -> Option<CliError> {
    const KEPT: &str = "what was taken is stored; `boxscore resume` continues";
    let error = match outcome.ended {
        Ended::Interrupted => {
            let text = "interrupted: every take that was shown is stored; `boxscore resume` continues";
            CliError { kind: Kind::Interrupted, ..CliError::data(text) }
        }
        Ended::Lost if runs.len() == 1 => {
            CliError::data("the measuring child was lost before the plan was done").hint(KEPT)
        }
        Ended::Lost => CliError::data("every machine was lost before the plan was done").hint(KEPT),
        Ended::Refused => {
            let why = outcome.refused.as_deref().unwrap_or("it gave no reason");
            let text = format!("the run was ended, since nothing more could be stored: {why}");
            CliError::data(text).hint("every take that was shown is stored; `boxscore resume` continues")
        }
        Ended::Count | Ended::Target | Ended::Budget => return None,
    };
    Some(error)
}

/// A run that measured nothing did not do what it was asked for, whatever ended it.
fn nothing(outcome: &Outcome, telemetry_only: bool) -> Option<u8> {
    if outcome.measured > 0 || telemetry_only || is_cut(outcome) {
        return None;
    }
    if outcome.takes == 0 && !outcome.unfit.is_empty() {
        // The run's own document is on stdout already, and is the only one there.
        let error = CliError::data("nothing was measured: nothing of this run can run here")
            .hint("the lines above say why; `boxscore list` says what can");
        out::say(&error.to_string());
        return Some(error.kind.exit_code());
    }
    let why = match outcome.ended {
        Ended::Budget => "the time was over before the first measured take ended: give it more with --for",
        _ if outcome.faults > 0 => "every measured take failed; the lines above say how",
        _ => "no measured take was begun",
    };
    out::say(&format!("nothing was measured: {why}"));
    Some(Kind::Faults.exit_code())
}

/// clusterperf's layout is for figures of key-value stores.
fn fits_layout(plan: &Plan, layout: Layout) -> Result<(), CliError> {
    if layout == Layout::Text
        || plan.cells.iter().any(|cell| report::text::clusterperf::is_kv(&cell.instrument))
    {
        return Ok(());
    }
    Err(CliError::usage("--format clusterperf is for runs of key-value stores, and none is in this one"))
}

/// Shows the box score and writes the report; the exit code says how it ended. However a run was cut, and even when
/// nothing can be shown, the last lines say why it ended and what is stored.
fn finish(
    outcome: &Outcome,
    runs: &[String],
    path: &Path,
    global: &Global,
    (report, telemetry_only, layout): (bool, bool, Layout),
) -> Result<u8, CliError> {
    let shown = if telemetry_only && !global.json {
        recorded(runs, path, global, report)
    } else {
        present::after_run(runs, path, global, report, layout)
    };
    if shown.is_err() {
        let ids: Vec<&str> = runs.iter().map(|id| crate::ids::short(id)).collect();
        out::say(&format!("what was taken is stored in {} as run {}", path.display(), ids.join(", ")));
    }
    match (shown, cut(outcome, runs)) {
        (Ok(()), None) => {}
        (Err(error), None) => return Err(error),
        (Err(error), Some(cut)) => {
            out::say(&error.to_string());
            return Err(cut);
        }
        (Ok(()), Some(cut)) => {
            // Its document is on stdout already, and is the only one there.
            match cut.kind {
                Kind::Interrupted => out::say(&cut.message),
                _ => out::say(&cut.to_string()),
            }
            return Ok(cut.kind.exit_code());
        }
    }
    if let Some(code) = nothing(outcome, telemetry_only) {
        return Ok(code);
    }
    if outcome.faults > 0 || outcome.statuses.contains(&model::data::Status::Interrupted) {
        return Ok(Kind::Faults.exit_code());
    }
    Ok(0)
}
