//! A node that was lost on the way, or was down at the start, is reached again, at most twice, and the rest of its
//! takes measured as `resume` would. One that hangs is turned off and on by its BMC first, where the inventory allows
//! it. What stays lost then is left to `boxscore resume`.

use std::path::Path;
use std::time::Duration;

use harness::conductor::Ended;
use lab::ranges::fold;
use lab::ssh::{Failure, Host};
use model::data::Status;
use model::plan::Plan;
use store::{Filter, Store};

use super::attempt::{Measured, Watch, interaction_of, measure_rest};
use super::display::Display;
use super::sink::Cost;
use super::stop_signal::StopSignal;
use crate::cli::Global;
use crate::error::CliError;
use crate::fleet::cycle::{self, Cycled};
use crate::fleet::on::{Nodes, say_failed};
use crate::out;

/// How often a node is reached again.
const TRIES: u32 = 2;

/// A node that was started anew, or whose network went, needs some time.
const PAUSE: Duration = Duration::from_secs(3);

/// How often the user's wish to stop is looked for meanwhile.
const GLANCE: Duration = Duration::from_millis(100);

/// How long a node may take from its power being on until it lets us in, and between two attempts.
const BOOT: Duration = Duration::from_secs(600);
const KNOCK: Duration = Duration::from_secs(5);

/// How a study of nodes is shown.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub global: &'a Global,
    pub takes: bool,
    pub readings: Option<&'a str>,
}

/// A study of nodes between two attempts at it.
pub(super) struct Study<'a> {
    /// Of nodes that have no run yet.
    pub cost: Cost,
    /// The ways to its nodes change with each attempt.
    pub plan: &'a mut Plan,
    pub nodes: &'a mut Nodes,
    pub store: &'a mut Store,
    pub path: &'a Path,
    pub stop: &'a StopSignal,
    pub shown: Shown<'a>,
}

impl Study<'_> {
    /// The study after its lost nodes were reached again. Fails when the store cannot be read.
    pub(super) fn again(&mut self, mut measured: Measured) -> Result<Measured, CliError> {
        for _ in 0..TRIES {
            let lost = self.lost(&measured);
            if lost.is_empty() {
                return Ok(measured);
            }
            self.say_lost(&lost, &measured);
            if !pause(PAUSE, self.stop) {
                return Ok(measured);
            }
            if self.reached(&lost, &measured)? {
                measured = self.rest(measured)?;
            }
        }
        let lost = self.lost(&measured);
        if !lost.is_empty() {
            out::say(&format!(
                "skipped: {}: lost and not reached again; `boxscore resume` measures the rest once they are back",
                folded(&lost)
            ));
        }
        Ok(measured)
    }

    /// Says which nodes are lost, and of which it is known why.
    fn say_lost(&self, lost: &[String], measured: &Measured) {
        let in_s = PAUSE.as_secs();
        let (down, lost): (Vec<String>, Vec<String>) =
            lost.iter().cloned().partition(|name| self.nodes.failure(name).is_some_and(Failure::is_down));
        if !down.is_empty() {
            out::say(&format!("note: not reached: {}; reached again in {in_s} s", folded(&down)));
        }
        if !lost.is_empty() {
            out::say(&format!("note: lost on the way: {}; reached again in {in_s} s", folded(&lost)));
        }
        let hung = self.hung(measured);
        if !hung.is_empty() {
            out::say(&format!("note: silent for too long, so it may hang: {}", folded(&hung)));
        }
    }

    fn hung(&self, measured: &Measured) -> Vec<String> {
        let places = measured.outcome.hung.iter();
        places.filter_map(|at| self.plan.machines.get(*at)).map(|via| via.name.clone()).collect()
    }

    /// Reaches lost nodes, and turns those off and on that hang or do not answer, where that is allowed. False where
    /// none is there.
    fn reached(&mut self, lost: &[String], measured: &Measured) -> Result<bool, CliError> {
        let hosts: Vec<Host> = self.nodes.hosts(lost).cloned().collect();
        let failed = self.nodes.reach(&hosts, self.stop)?;
        let hung = self.hung(measured);
        // What refuses a connection runs, or is about to: nothing is gained by a second boot.
        let may_hang = |name: &&String| match self.nodes.failure(name) {
            Some(Failure::Refused) => false,
            failure => hung.contains(*name) || failure.is_some_and(Failure::is_down),
        };
        let allowed = cycle::allowed(lost.iter().filter(may_hang), self.plan)?;
        say_failed(failed.into_iter().filter(|(_, host)| !allowed.has(host.name())).collect());
        if !allowed.is_empty() {
            let cycled = allowed.cycle(self.stop)?;
            self.note(&cycled, measured)?;
            self.await_boot(cycled.iter().filter(|one| one.result.is_ok()).map(|one| one.node.as_str()))?;
        }
        let ready = |host: &Host| self.nodes.ready.iter().any(|(one, _)| one == host);
        self.plan.machines = self.nodes.lead(&self.plan.machines);
        Ok(hosts.iter().any(ready) && !self.stop.is_requested())
    }

    /// Stores with the runs of nodes what their BMCs did.
    fn note(&mut self, cycled: &[Cycled], measured: &Measured) -> Result<(), CliError> {
        for one in cycled {
            out::say(&one.sentence());
            let of_study = Filter { study: Some(measured.study.clone()), ..Filter::default() };
            let heads = self.store.heads(&of_study)?;
            let Some(head) = heads.iter().find(|head| head.machine == one.node) else { continue };
            let note = model::Note::of_run(model::NoteBody::remark("power-cycle", one.remark()));
            self.store.note(&head.id, &note)?;
        }
        Ok(())
    }

    /// Waits until nodes that were turned on let us in.
    fn await_boot<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<(), CliError> {
        let names: Vec<String> = names.map(str::to_owned).collect();
        let until_ns =
            sys::clock::now_ns().saturating_add(u64::try_from(BOOT.as_nanos()).unwrap_or(u64::MAX));
        let mut waiting: Vec<Host> = self.nodes.hosts(&names).cloned().collect();
        loop {
            let failed = self.nodes.reach(&waiting, self.stop)?;
            waiting = failed.iter().map(|(_, host)| host.clone()).collect();
            let is_late = sys::clock::now_ns() > until_ns;
            if is_late {
                say_failed(failed);
            }
            if waiting.is_empty() || is_late || !pause(KNOCK, self.stop) {
                return Ok(());
            }
        }
    }

    /// One more attempt.
    fn rest(&mut self, before: Measured) -> Result<Measured, CliError> {
        let Shown { global, takes, readings } = self.shown;
        let interaction = interaction_of(self.plan);
        let absent = self.nodes.absent();
        let mut display = Display::new(self.plan, global.json, takes).without(&absent);
        let watch = Watch { screen: &mut display, stop: self.stop, interaction, readings, absent: &absent };
        let mut rest =
            measure_rest(&before.study, self.plan, self.cost.clone(), self.store, self.path, watch)?;
        // Takes that failed before stay failed.
        rest.outcome.faults = rest.outcome.faults.max(before.outcome.faults);
        if rest.outcome.unfit.is_empty() {
            rest.outcome.unfit = before.outcome.unfit;
        }
        Ok(rest)
    }

    /// The nodes whose runs are not whole because they were lost.
    fn lost(&self, measured: &Measured) -> Vec<String> {
        if matches!(measured.outcome.ended, Ended::Interrupted | Ended::Refused) || self.stop.is_requested() {
            return Vec::new();
        }
        let machines = self.plan.machines.iter().zip(&measured.outcome.statuses);
        let lost = machines.filter(|(_, status)| **status == Status::Interrupted);
        lost.map(|(via, _)| via.name.clone()).collect()
    }
}

fn folded(names: &[String]) -> String {
    fold(names.iter().map(String::as_str))
}

/// Waits; false where the user stopped.
fn pause(long: Duration, stop: &StopSignal) -> bool {
    let until_ns = sys::clock::now_ns().saturating_add(u64::try_from(long.as_nanos()).unwrap_or(u64::MAX));
    while sys::clock::now_ns() < until_ns && !stop.is_requested() {
        std::thread::sleep(GLANCE.min(long));
    }
    !stop.is_requested()
}
