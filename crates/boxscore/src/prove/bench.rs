//! Where proofs are measured: a folder and a store of their own, the CPUs of server and generator, and single runs.

use std::path::{Path, PathBuf};

use instruments::workload::server::builtin::faulty::{Account, Faults, Planted};
use model::data::RunData;
use model::doc::ProofLineDoc;
use model::names::instrument;
use model::plan::Takes;
use model::{Cell, Params, Plan};
use verdict::prove::Gaps;

use super::wakes::wakes;
use crate::error::CliError;
use crate::lookup::paths;
use crate::lookup::paths::Scratch;
use crate::study;
use crate::study::stop_signal::StopSignal;

/// No run of a proof lasts longer, in seconds.
const BUDGET: f64 = 60.0;
/// Time for which the gaps of the cores are watched, and the shortest gap that counts, ns.
const GAPS_NS: u64 = 500_000_000;
const GAP_NS: u64 = 10_000;

/// The lines of a proof, or the reason why the fault could not be planted or measured.
pub type Lines = Result<Vec<ProofLineDoc>, String>;

pub struct Bench<'a> {
    folder: Scratch,
    /// Where a disk may be: the store's folder, else the current one.
    pub disks: Vec<PathBuf>,
    pub cpus: Vec<usize>,
    stop: &'a StopSignal,
}

impl Bench<'_> {
    pub fn new<'a>(store: &Path, stop: &'a StopSignal) -> Result<Bench<'a>, CliError> {
        let cpus = sys::affinity::allowed()?;
        let folder = Scratch::new("prove")?;
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let disks = vec![paths::beside(store), here, folder.path().to_owned(), PathBuf::from("/var/tmp")];
        Ok(Bench { folder, disks, cpus, stop })
    }

    /// The server's CPU: the generators take the last.
    pub fn server_cpu(&self) -> Option<usize> {
        self.cpus.first().copied()
    }

    /// A faulty server on a CPU that the generator leaves to it, if there are two.
    pub fn plant(&self, faults: Faults) -> Result<Planted, String> {
        let spin = faults.delay_us > 0 && self.cpus.len() > 1 && !faults.serial;
        Planted::start(&Faults { cpu: self.server_cpu(), spin, ..faults })
    }

    /// Keeps other runs out while proofs are measured. Without a store there is no other run to keep out.
    pub fn alone(&self, store: &Path) -> Result<Option<study::Alone>, CliError> {
        if !store.parent().is_some_and(Path::is_dir) {
            return Ok(None);
        }
        study::measuring_alone(&self.plan(&[], 1).map_err(CliError::data)?, store)
    }

    /// A plan of these cells (an instrument and its parameters), each measured `takes` times.
    pub fn plan(&self, cells: &[(&str, &str)], takes: u32) -> Result<Plan, String> {
        let cell = |(instrument, params): &(&str, &str)| {
            let params = Params::parse(params).map_err(|error| format!("{instrument}: {error}"))?;
            Ok(Cell { instrument: (*instrument).to_owned(), params, headline: Vec::new() })
        };
        Ok(Plan {
            budget_seconds: Some(BUDGET),
            ..Plan::bare(cells.iter().map(cell).collect::<Result<_, String>>()?, Takes::Fixed(takes))
        })
    }

    /// Measures a plan as any other is measured.
    pub fn measure(&self, plan: &Plan) -> Result<RunData, String> {
        let run = study::aside(plan, &self.folder.path().join("prove.db"), self.stop)
            .map_err(|error| error.message)?;
        match run.takes.iter().find_map(|take| take.fault.clone()) {
            Some(fault) if run.head.measured == 0 => Err(fault.text),
            _ => Ok(run),
        }
    }

    /// Loads a faulty server, and gives the run with the server's own account.
    pub fn load(&self, faults: Faults, params: &str) -> Result<(RunData, Account), String> {
        let server = self.plant(faults)?;
        let params = format!("url={};{params}", server.url());
        let run = self.measure(&self.plan(&[(instrument::WEB, &params)], 1)?)?;
        let account = server.account()?;
        Ok((run, account))
    }

    /// Measures the gaps that other work and the hypervisor tear into the cores of server and generator now.
    pub fn cores(&self) -> Result<Cores, String> {
        let watch = |cpu: Option<usize>| {
            move || {
                // Unpinned it still sees what is taken from wherever it runs.
                let _pinned = cpu.and_then(|cpu| sys::affinity::pin(cpu).ok());
                let mut gaps = Vec::new();
                let seen = sys::spin::gaps(GAPS_NS, GAP_NS, &mut |gap| gaps.push(gap));
                Gaps { span_ns: seen.span_ns, gaps_ns: gaps, wakes_ns: Vec::new() }
            }
        };
        let server = (self.cpus.len() > 1).then(|| std::thread::spawn(watch(self.server_cpu())));
        let mut generator = watch(self.cpus.last().copied())();
        // On a single CPU both wait for the same gaps.
        let server = server.and_then(|watched| watched.join().ok()).unwrap_or_else(|| generator.clone());
        generator.wakes_ns = wakes(self.server_cpu(), self.cpus.last().copied())?;
        Ok(Cores { server, generator })
    }
}

/// The gaps of both cores.
#[derive(Clone, Debug, Default)]
pub struct Cores {
    pub server: Gaps,
    pub generator: Gaps,
}

impl Cores {
    pub fn and(mut self, later: Cores) -> Cores {
        for (mine, theirs) in [(&mut self.server, later.server), (&mut self.generator, later.generator)] {
            mine.span_ns += theirs.span_ns;
            mine.gaps_ns.extend(theirs.gaps_ns);
            mine.wakes_ns.extend(theirs.wakes_ns);
        }
        self
    }

    /// The gaps that a request can meet on its way: the server's once, the generator's `times` times, and one wake-up
    /// of the generator. For a send the generator is awake already.
    pub fn passed(&self, times: usize) -> Gaps {
        let mut all = Gaps { wakes_ns: self.generator.wakes_ns.clone(), ..self.server.clone() };
        (0..times).for_each(|_| all.gaps_ns.extend(&self.generator.gaps_ns));
        all
    }
}
