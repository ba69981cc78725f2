//! Stores a run: every take in one transaction before the next begins; a copy goes to the display.

use std::collections::BTreeSet;

use harness::conductor::{Show, Sink, SinkError};
use model::data::{Price, Status, machine_id, watts_of_facts};
use model::fact::{CpuSet, FactValue, PROCESS_CPUS};
use model::frame::{Hello, OwnCost, Segment, TargetTelemetry, WIRE_VERSION};
use model::params::show_cpus;
use model::reading::Take;
use model::{Cell, Fact, Note, NoteBody, Plan};
use store::{Appended, NewRun, Origin, Store, StoreError};

use crate::cli::agent::BUILD;
use crate::cli::{Quoted, price_note};
use crate::lookup::ids::Ids;
use crate::lookup::paths;
use crate::study::display;
use crate::study::display::Screen;

/// One machine of the study, as far as it is known.
#[derive(Default)]
struct Participant {
    run: Option<String>,
    hello: Option<Hello>,
    /// CPU time that this run used before it was resumed, as far as it reported it.
    cost: Option<OwnCost>,
    /// Notes from before the run exists.
    early: Vec<NoteBody>,
}

/// A run that is resumed.
#[derive(Clone, Debug)]
pub struct Begun {
    pub run: String,
    /// `None` where it did not end by itself.
    pub cost: Option<OwnCost>,
}

/// Price and power of the machines of a study, as the user gave them.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// By machine, in the order of the plan.
    pub prices: Vec<Option<Quoted>>,
    pub watts: Vec<Option<f64>>,
}

pub struct StoreSink<'a> {
    store: &'a mut Store,
    plan: &'a Plan,
    display: &'a mut dyn Screen,
    ids: &'a mut Ids,
    study: String,
    cost: Cost,
    machines: Vec<Participant>,
    /// Takes of this attempt that are on the disk.
    kept: u64,
    /// The database refuses, and the journal has what came since.
    spilling: bool,
    has_warned: bool,
    /// Changes of facts that are noted already.
    changes: BTreeSet<String>,
}

impl<'a> StoreSink<'a> {
    pub fn new(
        store: &'a mut Store,
        plan: &'a Plan,
        display: &'a mut dyn Screen,
        ids: &'a mut Ids,
        study: &str,
        cost: Cost,
    ) -> StoreSink<'a> {
        let machines = plan.machines.iter().map(|_| Participant::default()).collect();
        let changes = BTreeSet::new();
        StoreSink {
            store,
            plan,
            display,
            ids,
            study: study.to_owned(),
            cost,
            machines,
            kept: 0,
            spilling: false,
            has_warned: false,
            changes,
        }
    }

    /// Continues runs that exist, with what they used until now, in the order of the plan's machines.
    pub fn continue_runs(&mut self, runs: &[Option<Begun>]) {
        for (machine, begun) in self.machines.iter_mut().zip(runs) {
            machine.run = begun.as_ref().map(|begun| begun.run.clone());
            machine.cost = begun.as_ref().and_then(|begun| begun.cost);
        }
    }

    /// The runs of the study, in the order of the plan's machines; a machine lost early has none.
    pub fn runs(&self) -> Vec<Option<String>> {
        self.machines.iter().map(|machine| machine.run.clone()).collect()
    }

    /// Takes that this attempt stored.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// True while something waits in the journal beside the store.
    pub fn is_spilling(&self) -> bool {
        self.spilling
    }

    /// Warns once that readings go to the journal instead of the database.
    fn told(&mut self, appended: &Appended) {
        let Appended::Spilled(error) = appended else {
            self.spilling = false;
            return;
        };
        self.spilling = true;
        if !std::mem::replace(&mut self.has_warned, true) {
            crate::out::say(&format!(
                "warning: {error}; takes are kept in {}, while there is room for that",
                paths::journal(self.store.path())
            ));
        }
    }

    /// Adds a note for each fact that changed since the run began; it keeps its old facts.
    fn note_changes(&mut self, run: &str, facts: &[Fact]) -> Result<(), SinkError> {
        let before = self.store.class_facts(run).map_err(refused)?;
        for fact in &before {
            let now = facts.iter().find(|now| now.key == fact.key).and_then(|now| now.value.as_ref());
            if let (Some(was), Some(now)) = (&fact.value, now)
                && was != now
            {
                let text =
                    format!("{} was {}, and is {} in a later sitting", fact.key, was.text(), now.text());
                if self.changes.insert(format!("{run} {text}")) {
                    let note = Note::of_run(NoteBody::remark("changed", text));
                    let appended = self.store.note(run, &note).map_err(refused)?;
                    self.told(&appended);
                }
            }
        }
        Ok(())
    }

    fn quoted(&self, machine: usize) -> Option<&Quoted> {
        self.cost.prices.get(machine).and_then(Option::as_ref)
    }

    fn new_run(&mut self, machine: usize, facts: &[Fact]) -> NewRun {
        let hello = self.machines[machine].hello.clone();
        let host = hello.as_ref().map(|hello| hello.hostname.clone()).unwrap_or_default();
        let via = self.plan.machines.get(machine).map(|via| via.name.clone()).filter(|name| !name.is_empty());
        let fact = |key: &str| {
            let value = facts.iter().find(|fact| fact.key == key).and_then(|fact| fact.value.as_ref());
            value.map(FactValue::text)
        };
        let name = via.clone().or_else(|| fact("machine.name")).unwrap_or_else(|| host.clone());
        let hardware = fact("machine.id").unwrap_or_else(|| format!("host {host}"));
        let machine_id = machine_id(&hardware, via.as_deref().unwrap_or_default());
        let wall_ns = i64::try_from(sys::clock::wall_ns()).unwrap_or(i64::MAX);
        let started_ns = match &self.plan.fake {
            Some(world) => (world.start + i64::try_from(world.run_index).unwrap_or(0) * 3600) * 1_000_000_000,
            None => wall_ns,
        };
        NewRun {
            id: self.ids.next(),
            study: self.study.clone(),
            machine_id,
            machine: name,
            label: self.plan.label.clone(),
            price: self.quoted(machine).map(|quoted| quoted.price.clone()),
            watts: self.cost.watts.get(machine).copied().flatten(),
            started_ns,
            origin: Origin {
                hostname: host,
                target: hello.as_ref().map(|hello| hello.target.clone()).unwrap_or_default(),
                boot_id: hello.and_then(|hello| hello.boot_id),
                build: BUILD.to_owned(),
                clock_source: fact("clock.source"),
            },
        }
    }
}

/// The facts of a machine of which the plan allows these CPUs alone: a smaller machine, as it is under `taskset`.
pub fn limited(facts: &[Fact], cpus: &[u32]) -> Vec<Fact> {
    let others = facts.iter().filter(|fact| fact.key != PROCESS_CPUS).cloned();
    let allowed = Fact::text(PROCESS_CPUS, show_cpus(cpus), CpuSet::BY_PLAN);
    others.chain([allowed]).collect()
}

/// The store's refusal, with what to do about it.
fn refused(error: StoreError) -> SinkError {
    SinkError { why: error.to_string(), hint: error.hint() }
}

fn same_build(hello: &Hello) -> Result<(), SinkError> {
    if hello.wire == WIRE_VERSION && hello.build == BUILD {
        return Ok(());
    }
    Err(SinkError::new(format!(
        "it is boxscore {} (wire {}), this is {BUILD} (wire {WIRE_VERSION}): copy this binary there",
        hello.build, hello.wire
    )))
}

impl Sink for StoreSink<'_> {
    fn hello(&mut self, machine: usize, hello: &Hello) -> Result<(), SinkError> {
        same_build(hello)?;
        self.machines[machine].hello = Some(hello.clone());
        Ok(())
    }

    fn helper(&mut self, hello: &Hello) -> Result<(), SinkError> {
        same_build(hello)
    }

    fn facts(&mut self, machine: usize, facts: &[Fact]) -> Result<(), SinkError> {
        let planted;
        let facts = match &self.plan.fake {
            Some(world) => {
                let name = self.plan.machines.get(machine).map(|via| via.name.as_str()).unwrap_or_default();
                planted = crate::study::planted::facts(world, name);
                &planted[..]
            }
            None => facts,
        };
        let limited = self.plan.cpus.as_ref().map(|cpus| limited(facts, cpus));
        let facts = limited.as_deref().unwrap_or(facts);
        if let Some(run) = self.machines[machine].run.clone() {
            return self.note_changes(&run, facts);
        }
        let mut new = self.new_run(machine, facts);
        // What was noted of the machine stays with it.
        let noted = self.store.machine_facts(&new.machine_id).map_err(refused)?;
        new.price = new.price.or_else(|| Price::of_facts(&noted));
        new.watts = new.watts.or_else(|| watts_of_facts(&noted));
        self.store.begin_run(&new).map_err(refused)?;
        if let Some(band) = self.quoted(machine).and_then(|quoted| quoted.band.clone()) {
            self.store.note(&new.id, &price_note(&band)).map_err(refused)?;
        }
        self.store.put_facts(&new.id, facts).map_err(refused)?;
        for note in std::mem::take(&mut self.machines[machine].early) {
            let appended = self.store.note(&new.id, &Note::of_run(note)).map_err(refused)?;
            self.told(&appended);
        }
        self.machines[machine].run = Some(new.id);
        Ok(())
    }

    fn commit(
        &mut self,
        machine: usize,
        take: Option<&Take>,
        telemetry: &[Segment],
    ) -> Result<(), SinkError> {
        let Some(run) = &self.machines[machine].run else { return Ok(()) };
        let appended = match take {
            Some(take) => {
                vec![self.store.append_take(run, take, telemetry, &[]).map_err(refused)?]
            }
            None => {
                let each = telemetry.iter().map(|segment| self.store.append_telemetry(run, segment));
                each.collect::<Result<_, _>>().map_err(refused)?
            }
        };
        self.kept += u64::from(take.is_some());
        appended.iter().for_each(|one| self.told(one));
        Ok(())
    }

    fn target(&mut self, machine: usize, telemetry: &TargetTelemetry) -> Result<(), SinkError> {
        let Some(run) = &self.machines[machine].run else { return Ok(()) };
        let appended = self.store.append_target_telemetry(run, telemetry).map_err(refused)?;
        self.told(&appended);
        Ok(())
    }

    fn title(&self, cell: &Cell) -> String {
        display::title_in(self.plan, cell)
    }

    fn note(&mut self, machine: usize, note: NoteBody) -> Result<(), SinkError> {
        match &self.machines[machine].run {
            Some(run) => {
                let appended = self.store.note(run, &Note::of_run(note)).map_err(refused)?;
                self.told(&appended);
            }
            None => self.machines[machine].early.push(note),
        }
        Ok(())
    }

    fn end(
        &mut self,
        machine: usize,
        status: Status,
        seconds: f64,
        cost: Option<OwnCost>,
    ) -> Result<(), SinkError> {
        let cost = OwnCost::together(self.machines[machine].cost, cost);
        if let Some(run) = &self.machines[machine].run {
            let appended = self.store.finish(run, status, seconds, cost).map_err(refused)?;
            self.told(&appended);
        }
        Ok(())
    }

    fn show(&mut self, show: &Show<'_>) {
        self.display.show(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_given_its_cpus_is_a_machine_of_so_many() {
        let all =
            [Fact::number("cpu.threads", 4.0, model::Unit::Count, "s"), Fact::text(PROCESS_CPUS, "0-3", "s")];
        assert_eq!(CpuSet::of_facts(&all), None);
        let facts = limited(&all, &[0, 2]);
        let set = CpuSet::of_facts(&facts).unwrap();
        assert_eq!(set.to_string(), "2 of 4 CPUs allowed (--cpus)");
        assert!(!model::fact::same_class(&all, &facts));
        assert_eq!(facts.len(), 2);
    }
}
