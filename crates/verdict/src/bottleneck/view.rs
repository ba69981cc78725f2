//! One load among those of its run, the resources that are looked at, and their claims to bind it.

use model::backend::Backend;
use model::doc::{Binding, CeilingDoc};
use model::finding::generator_bound::{Capacity, rate};
use model::metrics::load;
use model::note::Disturber;
use model::params::show_cpus;

use super::work;
use crate::loads::sweep::{CEILING, OTHERS};
use crate::loads::{Core, Load};
use crate::run_index::RunIndex;
use model::format;

/// A resource that was looked at, and its claim to be what binds.
#[derive(Clone, Debug)]
pub struct Seen {
    pub kind: Binding,
    pub resource: String,
    pub share: Option<f64>,
    /// One line about it, whether it binds or not.
    pub text: String,
    pub claim: Option<Claim>,
}

/// Why a resource is what binds.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    pub rank: Rank,
    pub sentence: String,
    pub evidence: Vec<String>,
    pub counter: Vec<String>,
    pub advice: Vec<String>,
}

/// Which claim goes before which; within one rank the larger share does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The server was not there any more: no figure is of what it can do.
    Silent,
    /// All that was asked for was served: nothing binds but the asking.
    Asked,
    /// The server's CPU quota was used up: free cores would not help it.
    Quota,
    /// Proved by another load, or by a counter that names it.
    Proved,
    /// At its ceiling.
    AtCeiling,
    /// Stalls that a counter saw.
    Stalls,
    /// Something was dropped.
    Dropped,
    /// The rest, if nothing is at its ceiling.
    #[default]
    Rest,
    /// Near its ceiling.
    Near,
    /// An application that has most requests, and nothing else that is known to hold the server back.
    AtApplication,
    /// The fallback, if no more is known.
    Last,
}

/// An answer that takes this many times the CPU time that went into it was waited for.
const WAITED: f64 = 10.0;
/// The least of an answer that is a wait, where it is known who has it.
const WAITED_MOST: f64 = 2.0;
/// A server that keeps less of its cores busy has time left.
const HALF: f64 = 0.5;

/// One load among those of its run.
pub struct View<'v, 'a> {
    pub index: &'v RunIndex<'a>,
    pub load: &'v Load<'a>,
    pub cores: Vec<Core>,
    pub server_cores: Vec<Core>,
    /// Applications behind the server.
    pub backends: Vec<Backend>,
    /// The ceilings of the load, where stored runs were looked at.
    pub ceilings: Vec<CeilingDoc>,
}

/// `cpu0`.
pub fn name(core: &Core) -> String {
    format!("cpu{}", core.cpu)
}

/// `user 12 %, system 38 %, softirq 47 %`, as far as it was read.
pub fn split(core: &Core) -> String {
    let parts = [
        ("user", core.user),
        ("system", core.system),
        ("softirq", core.softirq),
        ("taken by the hypervisor", core.steal.filter(|share| *share >= 0.01)),
    ];
    let known =
        parts.iter().filter_map(|(name, share)| Some(format!("{name} {}", format::percent((*share)?))));
    known.collect::<Vec<_>>().join(", ")
}

/// `the other core 31 % idle`, `the other 3 cores 31 % idle`.
pub fn idle(others: &[&Core]) -> Option<String> {
    let busy: Vec<f64> = others.iter().map(|core| core.taken()).collect();
    let idle = format::percent((1.0 - stats::mean(&busy)?).max(0.0));
    Some(match others.len() {
        1 => format!("the other core {idle} idle"),
        many => format!("the other {many} cores {idle} idle"),
    })
}

impl View<'_, '_> {
    /// True if requests come over the loopback interface.
    pub fn is_loopback(&self) -> bool {
        self.load.is_loopback()
    }

    /// How many times the CPU time of a request its answer took, where both are known.
    pub fn waited(&self) -> Option<f64> {
        let cpu = self.load.median(&load::SERVER_CPU)? + self.load.median(&load::CPU).unwrap_or(0.0);
        let service = self.load.mean_time(&load::SERVICES).or_else(|| self.load.response())?;
        Some(service / cpu).filter(|times| times.is_finite())
    }

    /// The server itself waited for something, with time left on its cores.
    pub fn server_waits(&self) -> bool {
        self.rests_for(WAITED)
    }

    /// The same for at least half of an answer.
    pub fn waits_mostly(&self) -> bool {
        self.rests_for(WAITED_MOST)
    }

    fn rests_for(&self, least: f64) -> bool {
        let rests = self.load.server_busy().is_some_and(|busy| busy < HALF);
        rests && self.waited().is_some_and(|times| times >= least)
    }

    /// CPU time that the generator used on the server's cores, waiting by spinning included; `None` where it works
    /// there and that is not known.
    pub fn generator_there(&self) -> Option<f64> {
        let own = |core: &Core| if core.role == "both" { core.generator } else { Some(0.0) };
        self.server_cores.iter().map(own).sum()
    }

    /// Cores of CPU time that the server used, and others on its cores, where others fill them.
    pub fn foreign(&self) -> Option<(f64, f64)> {
        self.foreign_from(CEILING)
    }

    /// CPUs that the server used, and others on its cores: all that is neither its own, nor the generator's, nor
    /// interrupts.
    pub fn shares(&self) -> Option<(f64, f64)> {
        let own = self.load.median(&load::SERVER_CORES)?;
        let sum = |of: fn(&Core) -> f64| self.server_cores.iter().map(of).sum::<f64>();
        // What an application behind the server uses is no disturbance, wherever it runs.
        let behind = self.applications().unwrap_or(0.0);
        let foreign = sum(|core| core.busy)
            - sum(|core| core.softirq.unwrap_or(0.0))
            - own
            - self.generator_there()?
            - behind;
        Some((own, foreign)).filter(|_| !self.server_cores.is_empty())
    }

    /// CPUs that applications behind the server used; `None` where there are none, or that is not known.
    pub fn applications(&self) -> Option<f64> {
        let known: Vec<f64> = self.backends.iter().filter_map(Backend::cpus).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// As [`Self::foreign`], of cores that are so busy at least.
    pub fn foreign_from(&self, least: f64) -> Option<(f64, f64)> {
        let (own, foreign) = self.shares()?;
        let count = self.server_cores.len() as f64;
        let busy: f64 = self.server_cores.iter().map(|core| core.busy).sum();
        (busy >= least * count && foreign >= OTHERS * count).then_some((own, foreign))
    }

    /// The cores that the server may run on: `CPU 1`, `CPUs 0-3`.
    pub fn server_cpus(&self) -> String {
        let cpus: Vec<u32> = self.server_cores.iter().filter_map(|core| core.cpu.parse().ok()).collect();
        format!("{} {}", if cpus.len() == 1 { "CPU" } else { "CPUs" }, show_cpus(&cpus))
    }

    /// The busiest programs of others, to be put behind what they did; nothing where nobody looked.
    pub fn named(&self) -> String {
        let busiest = self.index.busiest(self.load.takes().into_iter());
        busiest.map_or_else(String::new, |busiest| Disturber::aside(&busiest))
    }

    /// Advice against others: first behind the sentence that tells of them, then as advice.
    pub fn against_others(&self) -> (&'static str, String) {
        let busiest = self.index.busiest(self.load.takes().into_iter()).unwrap_or_default();
        let can_none = !busiest.is_empty() && !busiest.iter().any(Disturber::can_be_ended);
        let first = if can_none { "repeat when they rest" } else { "end them and repeat" };
        (first, Disturber::remedy(&busiest, "the other programs"))
    }

    /// The server's CPU time for each request, and what its cores could serve by it.
    pub fn server_cost(&self) -> Option<String> {
        let capacity = crate::rules::generator_bound::capacity(self.load)?;
        // Where it waits for an application, its idle cores do not say what it could do.
        let is_behind = !self.backends.is_empty() && self.server_waits();
        let most = capacity.most.filter(|_| !is_behind);
        Some(Capacity { most, ..capacity }.to_string())
    }

    /// The server's CPU time for each request.
    pub fn own_cost(&self) -> Option<String> {
        let capacity = crate::rules::generator_bound::capacity(self.load)?;
        Some(Capacity { most: None, ..capacity }.to_string())
    }

    /// The server's CPU time for each request, and what it goes to, as far as that is known.
    pub fn server_work(&self) -> Vec<String> {
        self.server_cost().into_iter().chain(work::spent(self)).collect()
    }

    /// Evidence of an open loop that could not keep up.
    pub fn shortfall(&self) -> Option<String> {
        let (reached, offered) = (self.load.throughput()?, self.load.offered()?);
        (self.load.is_held() == Some(false))
            .then(|| format!("only {} of the {} offered were answered", rate(reached), rate(offered)))
    }
}
