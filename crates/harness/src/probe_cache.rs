//! The child's cache of prepared probes: prepared when first needed, kept while memory allows.
//!
//! Probes together hold at most 40 % of memory. The least recently used one is dropped first and prepared anew when it
//! is needed again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use model::frame::Job;
use model::generate::Relay;
use model::plan::{PROFILE, Profiled};
use model::power::Prompt;
use model::progress::PREPARING;
use model::{
    Cadence, Card, Fact, Fault, Instrument, Params, Probe, ProgressHandle, Record, Seconds, Setup, Unfit,
};

use crate::fake::{FakeProbe, Stand};

/// Largest share of memory for prepared probes.
const MEMORY_SHARE: f64 = 0.4;

/// Addressable memory of a 32-bit program, in bytes: 4 GiB less one for the kernel, code and stacks.
const ADDRESSABLE_32: u64 = 3 << 30;

/// Facts of the inventory that instruments need. Sizes are bytes.
#[derive(Clone, Debug, Default)]
pub struct Host {
    pub cpus: Vec<u32>,
    pub llc: Option<u64>,
    pub memory: Option<u64>,
}

impl Host {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes in bytes are below 2^53"
    )]
    pub fn from_facts(facts: &[Fact], cpus: &[u32]) -> Host {
        let bytes = |key: &str| {
            let fact = facts.iter().find(|fact| fact.key == key);
            fact.and_then(|fact| fact.value.as_ref()?.number()).filter(|n| *n > 0.0).map(|n| n as u64)
        };
        let largest = |keys: &[&str]| keys.iter().filter_map(|key| bytes(key)).max();
        let llc = largest(&["cache.l4.bytes", "cache.l3.bytes"]).or_else(|| largest(&["cache.l2.bytes"]));
        let memory = [bytes("memory.bytes"), bytes("cgroup.memory.limit"), addressable(usize::BITS)];
        let memory = memory.into_iter().flatten().min();
        Host { cpus: cpus.to_vec(), llc, memory }
    }
}

/// The memory that a program with pointers of this many bits can reach, if that is less than machines have.
fn addressable(bits: u32) -> Option<u64> {
    (bits <= 32).then_some(ADDRESSABLE_32)
}

/// The prepared probe of a cell in one arm.
pub struct PreparedProbe {
    pub probe: Box<dyn Probe>,
    pub card: &'static Card,
    pub params: Params,
    pub repeats: u64,
    used: u64,
}

/// Condition probes, read around each take.
pub type ConditionProbes = Vec<(&'static Card, Box<dyn Probe>)>;

/// The prepared probes of a job.
pub struct ProbeCache<'a> {
    instruments: &'a [&'static dyn Instrument],
    job: &'a Job,
    host: Host,
    ready: HashMap<(u32, u32), PreparedProbe>,
    conditions: HashMap<Vec<u32>, ConditionProbes>,
    clock: u64,
    relay: Option<Arc<dyn Relay>>,
    prompt: Option<Arc<dyn Prompt>>,
    progress: ProgressHandle,
}

impl<'a> ProbeCache<'a> {
    pub fn new(instruments: &'a [&'static dyn Instrument], job: &'a Job, host: Host) -> ProbeCache<'a> {
        let (ready, conditions) = (HashMap::new(), HashMap::new());
        ProbeCache {
            instruments,
            job,
            host,
            ready,
            conditions,
            clock: 0,
            relay: None,
            prompt: None,
            progress: ProgressHandle::default(),
        }
    }

    /// Sets the relay by which instruments reach generators in other children.
    #[must_use]
    pub fn with_relay(self, relay: Option<Arc<dyn Relay>>) -> ProbeCache<'a> {
        ProbeCache { relay, ..self }
    }

    /// Sets the way to somebody who reads a meter.
    #[must_use]
    pub fn with_prompt(self, prompt: Arc<dyn Prompt>) -> ProbeCache<'a> {
        ProbeCache { prompt: Some(prompt), ..self }
    }

    /// Sets the handle for progress reports and cancellation while probes are prepared.
    #[must_use]
    pub fn with_progress(self, progress: ProgressHandle) -> ProbeCache<'a> {
        ProbeCache { progress, ..self }
    }

    /// The probe of a cell and arm; prepares it if it is not in the cache. Fails when it cannot run here, and when the
    /// user cancels.
    pub fn get_or_prepare(
        &mut self,
        cell: u32,
        arm: u32,
        record: &mut dyn Record,
    ) -> Result<&mut PreparedProbe, Unfit> {
        self.clock += 1;
        let key = (cell, arm);
        if !self.ready.contains_key(&key) {
            let made = self.prepare(cell, arm, record)?;
            self.ready.insert(key, made);
            self.evict(key);
        }
        let clock = self.clock;
        let ready = self.ready.get_mut(&key).ok_or_else(|| Unfit::new("the probe was dropped"))?;
        ready.used = clock;
        Ok(ready)
    }

    /// Ends every probe; returns what failed.
    pub fn end(&mut self) -> Vec<Fault> {
        self.ready.values_mut().filter_map(|ready| ready.probe.end().err()).collect()
    }

    /// The condition probes for takes on these CPUs. One that cannot run here is noted once, with the reason.
    pub fn conditions(&mut self, cpus: &[u32], record: &mut dyn Record) -> &mut ConditionProbes {
        let (instruments, job, host) = (self.instruments, self.job, &self.host);
        self.conditions.entry(cpus.to_vec()).or_insert_with(|| {
            let all = instruments.iter().filter(|one| one.card().cadence == Cadence::Around);
            let mut prepare = |one: &&'static dyn Instrument| {
                let mut setup = setup(job, host, Params::default(), None);
                if !cpus.is_empty() {
                    setup.cpus = cpus.to_vec();
                }
                let made = one.prepare(&setup);
                if let Err(unfit) = &made {
                    record.remark("condition", &format!("{}: {}", one.card().name, unfit.why));
                }
                made.ok().map(|probe| (one.card(), probe))
            };
            if job.plan.fake.is_some() { Vec::new() } else { all.filter_map(&mut prepare).collect() }
        })
    }

    fn prepare(&self, cell: u32, arm: u32, record: &mut dyn Record) -> Result<PreparedProbe, Unfit> {
        let plan = &self.job.plan;
        let cell_number = cell;
        let (Some(cell), Some(arm)) = (plan.cells.get(cell as usize), plan.arms.get(arm as usize)) else {
            return Err(Unfit::new("the plan has no such cell or arm"));
        };
        let instrument = (self.instruments.iter())
            .find(|one| one.card().name == cell.instrument)
            .ok_or_else(|| Unfit::new(format!("no instrument is called {}", cell.instrument)))?;
        let card = instrument.card();
        let params = card.lay(&cell.params, &arm.set).map_err(|error| Unfit::new(error.to_string()))?;
        if let Some(world) = &plan.fake {
            let machine = plan.machines.first().map(|via| via.name.clone());
            let stand = Stand {
                machine: machine.unwrap_or_default(),
                arm: arm.name.clone(),
                params: params.clone(),
                cell: cell.params.clone(),
                sitting: self.job.sitting,
            };
            let probe = Box::new(FakeProbe::new(world, card, stand));
            return Ok(PreparedProbe { probe, card, params, repeats: 1, used: 0 });
        }
        let stays = || self.progress.check().map_err(Unfit::new);
        stays()?;
        self.progress.report(&format!("{PREPARING}{}", card.name));
        self.check_cpus(arm.set.get("cpus"))?;
        let mut setup = Setup {
            relay: self.relay.clone(),
            prompt: self.prompt.clone(),
            watts_command: plan.watts_command_of(arm),
            command: plan.command_of(arm),
            arm: arm.name.clone(),
            sitting: self.job.sitting,
            ..setup(self.job, &self.host, params.clone(), arm.set.get("cpus"))
        };
        // No parameter of the figures: what is profiled is in none of them.
        let profiled = arm.set.get(PROFILE).and_then(|cells| Profiled::in_cell(cells, cell_number));
        if let Some(what) = profiled {
            setup.params.set(PROFILE, what.word());
        }
        instrument.fit(&setup)?;
        let mut probe = instrument.prepare(&setup)?;
        stays()?;
        let at_least = Seconds(plan.take_seconds);
        let repeats = probe.calibrate(at_least).map_err(|fault| Unfit::new(fault.to_string()))?;
        record.remark("repeats", &format!("{} {params}: {repeats} units a take", card.name));
        Ok(PreparedProbe { probe, card, params, repeats, used: 0 })
    }

    /// Fails when a named CPU is not available: another one in its key would be another measurement.
    fn check_cpus(&self, arm_cpus: Option<&str>) -> Result<(), Unfit> {
        let wanted = match arm_cpus {
            Some(text) => model::params::parse_cpus(text)
                .ok_or_else(|| Unfit::new(format!("cpus={text}: not a CPU list")))?,
            None => self.job.plan.cpus.clone().unwrap_or_default(),
        };
        model::params::check_cpus(&wanted, &self.host.cpus).map_err(|error| Unfit::new(error.to_string()))
    }

    /// Drops the least recently used probes until the rest fits in memory, but never `keep`.
    #[expect(clippy::cast_precision_loss, reason = "a share of memory needs no exact bytes")]
    fn evict(&mut self, keep: (u32, u32)) {
        let Some(memory) = self.host.memory else { return };
        let limit = memory as f64 * MEMORY_SHARE;
        loop {
            let held: u64 = self.ready.values().map(|ready| ready.probe.footprint()).sum();
            let oldest = (self.ready.iter())
                .filter(|(key, ready)| **key != keep && ready.probe.footprint() > 0)
                .min_by_key(|(_, ready)| ready.used);
            match oldest {
                Some((&key, _)) if held as f64 > limit => self.ready.remove(&key),
                _ => return,
            };
        }
    }
}

/// Where files go on a machine that has no folder such as the store's; the first is on a disk.
const FOLDERS: &[&str] = &["/var/tmp", "/tmp"];

/// The folder where this machine has it, else the first of the others that it has.
fn here(wanted: &str, others: &[&str]) -> String {
    let is_there = |folder: &&str| Path::new(folder).is_dir();
    let found = std::iter::once(wanted).chain(others.iter().copied()).find(is_there);
    found.unwrap_or(wanted).to_owned()
}

/// The setup that an instrument prepares with. An arm's `cpus` bounds any instrument.
pub fn setup(job: &Job, host: &Host, params: Params, arm_cpus: Option<&str>) -> Setup {
    let wanted = arm_cpus.and_then(model::params::parse_cpus).or_else(|| job.plan.cpus.clone());
    let allowed = |cpu: &u32| host.cpus.contains(cpu);
    let cpus = match wanted {
        Some(wanted) => wanted.into_iter().filter(allowed).collect(),
        None => host.cpus.clone(),
    };
    let dir = job.plan.dir.clone().unwrap_or_else(|| here(&job.dir, FOLDERS));
    let cpus = if cpus.is_empty() { host.cpus.clone() } else { cpus };
    let mix = params.get("mix").and_then(|name| job.plan.mixes.get(name)).cloned().map(Arc::new);
    let tree = params.get("files").and_then(|name| job.plan.trees.get(name)).cloned().map(Arc::new);
    // A study measures its targets; the child on the host of one records telemetry alone.
    let target = job.plan.targets.first().filter(|_| job.plan.telemetry_only);
    Setup {
        mix,
        tree,
        target: target.map(|target| target.address.clone()),
        llc: host.llc,
        memory: host.memory,
        seed: job.plan.seed,
        login: job.login.clone(),
        ..Setup::bare(params, cpus, dir)
    }
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    #[test]
    fn the_least_memory_counts() {
        let memory = |facts: &[(&str, f64)]| {
            let facts: Vec<Fact> =
                facts.iter().map(|(key, n)| Fact::number(*key, *n, Unit::Byte, "x")).collect();
            Host::from_facts(&facts, &[0]).memory
        };
        let gib = f64::from(1u32 << 30);
        assert_eq!(memory(&[("memory.bytes", 2.0 * gib), ("cgroup.memory.limit", gib)]), Some(1 << 30));
        let large = if usize::BITS > 32 { 64 << 30 } else { ADDRESSABLE_32 };
        assert_eq!(memory(&[("memory.bytes", 64.0 * gib)]), Some(large));
    }

    #[test]
    fn files_go_to_a_folder_that_is_here() {
        assert_eq!(here("/", &["/proc"]), "/");
        assert_eq!(here("/no/such", &["/no/other", "/proc"]), "/proc");
        assert_eq!(here("/no/such", &[]), "/no/such");
    }

    #[test]
    fn only_small_pointers_bound_memory() {
        assert_eq!(addressable(32), Some(3 << 30));
        assert_eq!(addressable(64), None);
    }
}
