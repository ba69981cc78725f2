//! What binds each load of a run: every resource against its ceiling, and the one that explains the figure most.
//!
//! Shares are 0 to 1 of a ceiling, medians over the measured takes. A resource is at its ceiling from 85 % on. What was
//! not read is not looked at; a resource that is not named here may still bind.

mod cores;
mod generator;
mod kernel;
mod machine;
mod silent;
mod waiting;

use core::net::IpAddr;

use model::Unit;
use model::doc::{Binding, BottleneckDoc, ResourceDoc};
use model::finding::generator_bound::rate;
use model::finding::stall::ADVICE;
use model::url::Url;

use crate::loads::sweep::OTHERS;
use crate::loads::{Core, LEAST_REQUESTS, LEAST_S, Load, stall};
use crate::rules::Look;
use crate::say;

pub use crate::loads::sweep::CEILING;

/// A resource that was looked at, and its claim to be what binds.
#[derive(Clone, Debug)]
struct Seen {
    kind: Binding,
    resource: String,
    share: Option<f64>,
    /// One line about it, whether it binds or not.
    text: String,
    claim: Option<Claim>,
}

/// Why a resource is what binds.
#[derive(Clone, Debug, Default)]
struct Claim {
    rank: Rank,
    sentence: String,
    evidence: Vec<String>,
    counter: Vec<String>,
    advice: Vec<String>,
}

/// Which claim goes before which; within one rank the larger share does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The server was not there any more: no figure is of what it can do.
    Silent,
    /// All that was asked for was served: nothing binds but the asking.
    Asked,
    /// Proved by another load, or by a counter that names it.
    Proved,
    /// At its ceiling.
    AtCeiling,
    /// Stalls that a counter saw.
    Stalls,
    /// Something was dropped.
    Dropped,
    /// What remains where nothing is at its ceiling.
    #[default]
    Rest,
    /// What is said where no more is known.
    Last,
}

/// One load among those of its run.
struct View<'v, 'a> {
    look: &'v Look<'a>,
    load: &'v Load<'a>,
    cores: Vec<Core>,
    server_cores: Vec<Core>,
}

/// What binds each load, that of the highest throughput first, but open loops that were served in full last.
#[must_use]
pub fn bottlenecks(look: &Look<'_>) -> Vec<BottleneckDoc> {
    let mut all: Vec<BottleneckDoc> =
        look.loads().iter().filter(|load| load.is_plain()).map(|load| of_load(look, load)).collect();
    // A load that was served in full says nothing of what binds.
    let rank = |doc: &BottleneckDoc| (doc.kind != Binding::Offered, doc.throughput.unwrap_or(0.0));
    all.sort_by(|a, b| {
        let ((a, of_a), (b, of_b)) = (rank(a), rank(b));
        b.cmp(&a).then(of_b.total_cmp(&of_a))
    });
    all
}

/// What binds one load.
#[must_use]
pub fn of_load(look: &Look<'_>, load: &Load<'_>) -> BottleneckDoc {
    let (cores, server_cores) = (load.cores(), load.server_cores());
    let view = View { look, load, cores, server_cores };
    let silent = silent::seen(&view);
    // A server that went away is that, however early it did.
    if let Some(sentence) = too_short(load).filter(|_| silent.iter().all(|seen| seen.claim.is_none())) {
        let mut doc = document(load, &[]);
        doc.sentence = sentence;
        return doc;
    }
    let mut seen: Vec<Seen> = silent.into_iter().collect();
    seen.extend(generator::seen(&view));
    seen.extend(cores::seen(&view));
    seen.extend(machine::seen(&view));
    seen.extend(kernel::seen(&view));
    seen.extend(waiting::seen(&view));
    seen.sort_by(|a, b| order(a).cmp(&order(b)).then(share(b).total_cmp(&share(a))));
    let mut doc = document(load, &seen);
    if let Some(stall) = stall::longest(load).filter(|_| doc.kind != Binding::Silent) {
        if doc.kind != Binding::Offered {
            doc.evidence.push(format!("it stalled: {}", stall.text()));
        }
        doc.advice.insert(0, ADVICE.to_owned());
    }
    doc
}

/// What is said of a load that is too short to say more of.
fn too_short(load: &Load<'_>) -> Option<String> {
    let (requests, seconds) = load.too_short()?;
    Some(format!(
        "too short to tell what binds: {} in {}; that takes {LEAST_REQUESTS} requests and {} at least",
        say::count(usize::try_from(requests).unwrap_or(usize::MAX), "request"),
        say::quantity(seconds, Unit::Second),
        say::quantity(LEAST_S, Unit::Second)
    ))
}

fn order(seen: &Seen) -> (bool, Option<Rank>) {
    (seen.claim.is_none(), seen.claim.as_ref().map(|claim| claim.rank))
}

fn share(seen: &Seen) -> f64 {
    seen.share.unwrap_or(0.0)
}

fn document(load: &Load<'_>, seen: &[Seen]) -> BottleneckDoc {
    let resource = |seen: &Seen| ResourceDoc {
        kind: seen.kind,
        resource: seen.resource.clone(),
        share: seen.share,
        text: seen.text.clone(),
    };
    let mut doc = BottleneckDoc {
        instrument: load.instrument.to_owned(),
        params: load.params.clone(),
        arm: load.arm.to_owned(),
        throughput: load.throughput(),
        kind: Binding::Unknown,
        resource: String::new(),
        share: None,
        sentence: "what binds is not known: neither cores nor times were read".to_owned(),
        evidence: Vec::new(),
        counter_evidence: Vec::new(),
        advice: Vec::new(),
        resources: seen.iter().map(resource).collect(),
    };
    let Some((first, claim)) = seen.first().and_then(|first| Some((first, first.claim.as_ref()?))) else {
        return doc;
    };
    (doc.kind, doc.share) = (first.kind, first.share);
    doc.resource.clone_from(&first.resource);
    doc.sentence.clone_from(&claim.sentence);
    doc.evidence.clone_from(&claim.evidence);
    doc.counter_evidence.clone_from(&claim.counter);
    let also = seen.iter().skip(1).filter(|other| {
        let rank = other.claim.as_ref().map(|claim| claim.rank);
        let is_rival = |rank: Rank| rank > Rank::Silent && rank < Rank::Rest;
        rank.is_some_and(is_rival) && is_rival(claim.rank)
    });
    doc.counter_evidence.extend(also.map(|other| format!("also: {}", other.text)));
    doc.advice.clone_from(&claim.advice);
    doc
}

/// `cpu0`.
fn name(core: &Core) -> String {
    format!("cpu{}", core.cpu)
}

/// `user 12 %, system 38 %, softirq 47 %`, as far as it was read.
fn split(core: &Core) -> String {
    let parts = [
        ("user", core.user),
        ("system", core.system),
        ("softirq", core.softirq),
        ("taken by the hypervisor", core.steal.filter(|share| *share >= 0.01)),
    ];
    let known = parts.iter().filter_map(|(name, share)| Some(format!("{name} {}", say::percent((*share)?))));
    known.collect::<Vec<_>>().join(", ")
}

/// `the other core 31 % idle`, `the other 3 cores 31 % idle`.
fn idle(others: &[&Core]) -> Option<String> {
    let busy: Vec<f64> = others.iter().map(|core| core.taken()).collect();
    let idle = say::percent((1.0 - stats::mean(&busy)?).max(0.0));
    Some(match others.len() {
        1 => format!("the other core {idle} idle"),
        many => format!("the other {many} cores {idle} idle"),
    })
}

impl View<'_, '_> {
    /// Whether requests come over the loopback interface.
    fn is_loopback(&self) -> bool {
        match self.load.given("url") {
            None => self.load.params.get("listen").is_none_or(|address| {
                let address = address.parse::<IpAddr>();
                address.is_ok_and(|address| address.is_loopback())
            }),
            Some(urls) => urls
                .split(' ')
                .next()
                .and_then(|url| url.parse::<Url>().ok())
                .is_some_and(|url| url.is_loopback()),
        }
    }

    /// Cores of CPU time that the server used, and others on its cores, where others fill them.
    fn foreign(&self) -> Option<(f64, f64)> {
        let own = self.load.median("server-cores")?;
        // What the generator uses of a core that it shares is not known.
        if self.server_cores.iter().any(|core| core.role == "both") {
            return None;
        }
        let sum = |of: fn(&Core) -> f64| self.server_cores.iter().map(of).sum::<f64>();
        let foreign = sum(|core| core.busy) - sum(|core| core.softirq.unwrap_or(0.0)) - own;
        let count = self.server_cores.len() as f64;
        let full = sum(|core| core.busy) >= CEILING * count;
        (count > 0.0 && full && foreign >= OTHERS * count).then_some((own, foreign))
    }

    /// The server's CPU time for each request, and what its cores could serve by it.
    fn server_cost(&self) -> Option<String> {
        crate::rules::generator_bound::capacity(self.load).map(|capacity| capacity.to_string())
    }

    /// Evidence of an open loop that could not keep up.
    fn shortfall(&self) -> Option<String> {
        let (reached, offered) = (self.load.throughput()?, self.load.offered()?);
        (self.load.is_held() == Some(false))
            .then(|| format!("only {} of the {} offered were answered", rate(reached), rate(offered)))
    }
}

#[cfg(test)]
mod tests;
