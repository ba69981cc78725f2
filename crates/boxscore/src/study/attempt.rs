//! One call of the program that measures a study: from its plan to the takes in the store. `resume` makes a further
//! one. The sittings of the plan, in which everything is prepared anew, are the conductor's.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use harness::conductor::{
    Conductor, Ended, Finished, Interaction, Outcome, Part, SinkError, Typist, WallPower,
};
use model::data::{RunData, RunHead, Series, Status, TakeHead};
use model::plan::{Plan, Takes, Target, Via};
use model::reading::Take;
use model::{Cell, Reading, Role, card};
use store::{Filter, Mode, Options, Store};
use sys::files::{Lock, LockFile};

use super::display::{Screen, Silent};
use super::finish::cut;
use super::sink::{Begun, Cost, StoreSink};
use super::stop_signal::StopSignal;
use super::{link, login, readings};
use crate::cli::Global;
use crate::error::CliError;
use crate::fleet::wall::Wall;
use crate::lookup::ids::Ids;
use crate::lookup::paths;
use crate::out;

/// Who watches a study: the screen that it is shown on, the user who may stop it, and how takes treat that user.
pub struct Watch<'a> {
    pub screen: &'a mut dyn Screen,
    pub stop: &'a StopSignal,
    pub interaction: Interaction,
    /// Where readings of a meter come from, if not from the terminal.
    pub readings: Option<&'a str>,
    /// Names of machines that cannot be reached now.
    pub absent: &'a [String],
}

/// A study after one attempt at it.
pub struct Measured {
    pub study: String,
    pub outcome: Outcome,
    /// Its runs in the order of the plan's machines; a machine that was lost early has none.
    pub runs: Vec<String>,
    /// Takes that are on the disk, those of earlier attempts too.
    pub kept: u64,
    /// Some of them wait in the journal beside the store, which has no room for them.
    pub waits: bool,
}

/// One attempt at a study: from the start, or the rest of an interrupted one.
struct Attempt<'a> {
    plan: &'a Plan,
    study: String,
    cost: Cost,
    earlier: Vec<Finished>,
    runs: Vec<Option<Begun>>,
    /// Of runs that came to their end in an earlier attempt, their status.
    ended: Vec<Option<Status>>,
    elapsed_ns: u64,
    /// It had come to its end: what is left are its outages.
    had_ended: bool,
}

/// Measures a new study, which is in the store from the beginning. Fails when no run could be begun.
pub fn measure(
    plan: &Plan,
    cost: Cost,
    store: &mut Store,
    path: &Path,
    watch: Watch<'_>,
) -> Result<Measured, CliError> {
    let mut ids = Ids::new(plan.fake.as_ref());
    let study = ids.next();
    store.begin_study(&study, plan)?;
    let (earlier, runs, ended) = (Vec::new(), Vec::new(), Vec::new());
    let attempt = Attempt { plan, study, cost, earlier, runs, ended, elapsed_ns: 0, had_ended: false };
    attempt.carry_out(store, path, &mut ids, watch)
}

/// Measures what an interrupted study still lacks, and again what is within an outage, which is all that is left of one
/// that had ended. `cost` is of machines that have no run yet. Fails when the store cannot be read or no run could be
/// begun.
pub fn measure_rest(
    study: &str,
    plan: &Plan,
    cost: Cost,
    store: &mut Store,
    path: &Path,
    watch: Watch<'_>,
) -> Result<Measured, CliError> {
    let heads = store.heads(&Filter { study: Some(study.to_owned()), ..Filter::default() })?;
    let had_ended = heads.iter().all(|head| matches!(head.status, Status::Complete | Status::Faulty));
    // Where others have something left, a complete run needs nothing more.
    let is_whole = |head: &RunHead| {
        head.status == Status::Complete && !(had_ended && heads.len() == plan.machines.len())
    };
    let (mut earlier, mut runs, mut ended, mut elapsed_ns) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (machine, via) in plan.machines.iter().enumerate() {
        let head = heads.iter().find(|head| plan.machines.len() == 1 || head.machine == via.name);
        let Some(head) = head else {
            runs.push(None);
            ended.push(None);
            continue;
        };
        ended.push(is_whole(head).then_some(head.status));
        if !is_whole(head) {
            store.claim(&head.id)?;
        }
        let run = store.load_light(&head.id)?;
        runs.push(Some(Begun { run: head.id.clone(), cost: run.own_cost }));
        for take in taken(&run) {
            elapsed_ns = elapsed_ns.max(take.end_ns);
            earlier.push(Finished { machine, take });
        }
    }
    let mut ids = Ids::new(plan.fake.as_ref());
    // Those that the first attempt may have given away: its study, and a run a machine.
    (0..=plan.machines.len()).for_each(|_| drop(ids.next()));
    let study = study.to_owned();
    let attempt = Attempt { plan, study, cost, earlier, runs, ended, elapsed_ns, had_ended };
    attempt.carry_out(store, path, &mut ids, watch)
}

impl Attempt<'_> {
    /// The part of each machine.
    fn parts(&self, absent: &[String]) -> Vec<Part> {
        let part = |(at, via): (usize, &Via)| match self.ended.get(at) {
            Some(Some(status)) => Part::Ended(*status),
            _ if absent.contains(&via.name) => Part::Unreached,
            _ => Part::Measured,
        };
        self.plan.machines.iter().enumerate().map(part).collect()
    }

    fn carry_out(
        self,
        store: &mut Store,
        path: &Path,
        ids: &mut Ids,
        Watch { screen, stop, interaction, readings, absent }: Watch<'_>,
    ) -> Result<Measured, CliError> {
        const EMPTY: &str = "interrupted before the first take";
        let nothing_yet = || CliError::interrupted(EMPTY);
        if stop.is_requested() && self.earlier.is_empty() {
            return Err(nothing_yet());
        }
        // A planted world loads nothing.
        let generators = if self.plan.fake.is_some() { &[][..] } else { &self.plan.generators };
        let agents: Vec<Via> = match &self.plan.fake {
            Some(_) => Vec::new(),
            None => self.plan.targets.iter().filter_map(Target::agent).collect(),
        };
        let login = login::for_plan(self.plan)?;
        let mut readings = readings::for_plan(self.plan, readings)?;
        let mut wall = Wall::start(self.plan)?;
        let parts = self.parts(absent);
        screen.had(&self.earlier);
        let (links, events) = link::start(&self.plan.machines, &parts, generators, &agents)?;
        let mut sink = StoreSink::new(store, self.plan, screen, ids, &self.study, self.cost);
        sink.continue_runs(&self.runs);
        let stopped = || stop.is_requested();
        let conductor = Conductor::new(self.plan, links.machines, events, &mut sink, &stopped);
        let mut conductor = conductor.with_generators(links.generators).with_target_agents(links.agents);
        conductor = conductor.with_typist(readings.as_mut().map(|readings| readings as &mut dyn Typist));
        conductor = conductor.with_wall_power(wall.as_mut().map(|wall| wall as &mut dyn WallPower));
        conductor = conductor.with_parts(&parts);
        conductor.set_interaction(interaction);
        conductor.log_in(login);
        conductor.resume(&self.earlier, self.had_ended);
        let dir = paths::beside(path);
        let outcome = conductor.run(&dir.display().to_string(), self.elapsed_ns);
        let runs: Vec<String> = sink.runs().into_iter().flatten().collect();
        let (kept, waits) = (sink.kept() + self.earlier.len() as u64, sink.is_spilling());
        screen.end();
        if !runs.is_empty() {
            return Ok(Measured { study: self.study, outcome, runs, kept, waits });
        }
        Err(match (outcome.ended, outcome.refused) {
            (Ended::Interrupted, _) => nothing_yet(),
            (_, Some(SinkError { why, hint })) => {
                CliError::data(format!("nothing was measured: {why}")).maybe_hint(hint)
            }
            _ => CliError::data("no machine could be measured").hint("the lines above say why"),
        })
    }
}

/// Measures a plan for one machine in a store of its own and prints nothing. Fails when nothing could be measured.
pub fn aside(plan: &Plan, path: &Path, stop: &StopSignal) -> Result<RunData, CliError> {
    let (outcome, run) = tried(plan, path, stop)?;
    match outcome.unfit.first() {
        Some((_, _, why)) if outcome.measured == 0 => Err(CliError::data(why.clone())),
        _ => Ok(run),
    }
}

/// The same, with its outcome, and no error where no cell could run.
pub fn tried(plan: &Plan, path: &Path, stop: &StopSignal) -> Result<(Outcome, RunData), CliError> {
    let mut store = Store::open_with(path, &Options::new(Mode::Create))?;
    let mut screen = Silent::default();
    let interaction = Interaction::default();
    let watch = Watch { screen: &mut screen, stop, interaction, readings: None, absent: &[] };
    let measured = measure(plan, Cost::default(), &mut store, path, watch);
    // Nothing of it is kept: what can be said of a child that was lost, before its first frame or later, is why.
    let why = |error: CliError| match &screen.lost {
        Some(why) if !stop.is_requested() => CliError::data(why.clone()),
        _ => error,
    };
    let measured = measured.map_err(why)?;
    if let Some(error) = cut(&measured) {
        return Err(why(error));
    }
    let run = measured.runs.first().ok_or_else(|| CliError::data("nothing was measured"))?;
    let data = store.load(run)?;
    Ok((measured.outcome, data))
}

/// Held by a run while it measures.
pub struct Alone {
    _store: LockFile,
    _machine: Option<Arc<UnixListener>>,
}

/// The name that this process has on its machine, while anything in it measures.
static NAME: Mutex<Weak<UnixListener>> = Mutex::new(Weak::new());

/// Two runs at once would disturb each other: the second into a store is refused, and one into another store on the
/// same machine warned of. A planted world and pure telemetry disturb nobody.
pub fn measuring_alone(plan: &Plan, path: &Path) -> Result<Option<Alone>, CliError> {
    if plan.fake.is_some() || plan.telemetry_only {
        return Ok(None);
    }
    let store = lock(path)?;
    Ok(Some(Alone { _store: store, _machine: alone_here() }))
}

/// Fails where another run measures into the store: before nodes are reached for nothing. Looking makes no store.
pub fn nobody_measures(path: &Path) -> Result<(), CliError> {
    if !paths::beside(path).is_dir() {
        return Ok(());
    }
    lock(path).map(drop)
}

fn lock(path: &Path) -> Result<LockFile, CliError> {
    // Controllers of a server's store measure at once, each on a machine of its own.
    let lock = match store::is_server(path) {
        true => paths::beside(path).join("postgres.measuring"),
        false => path.with_extension("measuring"),
    };
    match LockFile::try_acquire(&lock) {
        Ok(Lock::Held(lock)) => Ok(lock),
        Ok(Lock::Busy { holder }) => {
            let who = holder.map_or_else(String::new, |pid| format!(" (pid {})", pid.trim()));
            Err(CliError::data(format!(
                "not started: another boxscore run{who} is measuring, and two at once would disturb each other"
            ))
            .hint("wait until it ends, or stop it with Ctrl-C; it keeps what it has"))
        }
        Err(error) => Err(CliError::data(error.to_string())),
    }
}

/// Takes a name that one process of the machine can have, whatever its user and store, and warns where another has it.
/// It ends with the process. In another network namespace the name is another one. A run into no store holds two locks,
/// and one name.
fn alone_here() -> Option<Arc<UnixListener>> {
    let mut name = NAME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = name.upgrade() {
        return Some(own);
    }
    let bound =
        SocketAddr::from_abstract_name(b"boxscore measuring").and_then(|name| UnixListener::bind_addr(&name));
    if let Err(error) = &bound
        && error.kind() == ErrorKind::AddrInUse
    {
        out::say(
            "warning: another boxscore run measures on this machine, into another store: each disturbs the other",
        );
    }
    let own = Arc::new(bound.ok()?);
    *name = Arc::downgrade(&own);
    Some(own)
}

pub fn open(path: &Path) -> Result<Store, CliError> {
    let store = paths::create(path)?;
    store.check_writable()?;
    for line in store.recovered() {
        out::say(&format!("note: {line}"));
    }
    Ok(store)
}

/// Said of the first run of a store that nobody named, and not where nothing is kept: who says `--store` knows where.
pub fn warn_temporary(path: &Path, store: &Store, global: &Global) -> Result<(), CliError> {
    if global.store.is_none() && store::is_temporary(path) && store.is_empty()? {
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
        sitting: head.sitting,
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

/// Takes a study of which no cell could run out of the store again; true if it did. An empty run would be nobody's
/// latest, but it is stored from the beginning, so that a study that is killed can be resumed.
pub fn is_discarded(measured: &Measured, store: &mut Store) -> Result<bool, CliError> {
    let outcome = &measured.outcome;
    let is_whole = matches!(outcome.ended, Ended::Count | Ended::Target);
    if !is_whole || outcome.takes > 0 || outcome.unfit.is_empty() {
        return Ok(false);
    }
    Ok(store.discard(&measured.study)?)
}

/// Error for a study in which no cell could run. The reasons are on stderr already; with `--json` a single reason goes
/// into the document.
pub fn none_fits(outcome: &Outcome, is_document: bool) -> CliError {
    let mut reasons: Vec<&str> = outcome.unfit.iter().map(|(_, _, why)| why.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    match reasons[..] {
        [one] if is_document => CliError::data(format!("{one}; nothing was measured or stored")),
        _ => CliError::data("nothing was measured or stored: no instrument of this run can run here")
            .hint("the lines above say why; `boxscore list` says what can"),
    }
}

/// A single take of one load, as `boxscore load` makes it, may last for hours, and so may a search: an interrupt ends
/// it early, also where it is repeated or resumed.
pub fn interaction_of(plan: &Plan) -> Interaction {
    let role = |cell: &Cell| card::find(instruments::cards(), &cell.instrument).map(|card| card.role);
    let is_load = matches!(plan.cells.as_slice(), [only] if matches!(role(only), Some(Role::Load { .. })));
    let is_search = plan.cells.iter().all(|cell| matches!(role(cell), Some(Role::Search { .. })));
    let cuts = (is_load && plan.takes == Takes::Fixed(1) && plan.warm_up == 0) || is_search;
    Interaction { watched: false, cuts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_not_another_one_to_itself() {
        // Where another process has the name, neither gets it.
        let (one, other) = (alone_here(), alone_here());
        assert_eq!(one.as_ref().map(Arc::as_ptr), other.as_ref().map(Arc::as_ptr));
    }
}
