//! The bottleneck of each load of a run: every resource against its ceiling, and the one that explains the figure most.
//!
//! Shares are 0 to 1 of a ceiling, medians over the measured takes. A resource is at its ceiling from 85 % on, and full
//! from 95 %; a core is near it from 70 % on, where answers wait for it. What was not read is not looked at; a resource
//! that is not named here may still bind.

mod behind;
mod ceilings;
mod copies;
mod cores;
mod disks;
mod generator;
mod goal;
mod kernel;
mod machine;
mod quota;
mod room;
mod run_queue;
mod silent;
mod target_host;
mod view;
mod waiting;
mod work;

use model::Unit;
use model::doc::{Binding, BottleneckDoc, ResourceDoc};
use model::finding::generator_bound::BothFull;
use model::finding::stall::ADVICE;

use crate::RunIndex;
use crate::loads::{LEAST_REQUESTS, LEAST_S, Load, stall, used};
use model::format;

use view::{Rank, Seen, View};

/// The bottleneck of each load: the highest throughput first, open loops that were served in full last, and what
/// searches found, which were.
pub fn bottlenecks(index: &RunIndex<'_>) -> Vec<BottleneckDoc> {
    let of_each = |load: &Load<'_>| match load.is_plain() {
        true => Some(of_load(index, load)),
        false => goal::found(index, load),
    };
    let mut all: Vec<BottleneckDoc> = index.loads().iter().filter_map(of_each).collect();
    // A load that was served in full says nothing of what binds, nor does a search, which stops before.
    let is_plain = |doc: &BottleneckDoc| index.loads().iter().any(|load| load.is_plain() && load.is_of(doc));
    let rank =
        |doc: &BottleneckDoc| (doc.kind != Binding::Offered && is_plain(doc), doc.throughput.unwrap_or(0.0));
    all.sort_by(|a, b| {
        let ((a, of_a), (b, of_b)) = (rank(a), rank(b));
        b.cmp(&a).then(of_b.total_cmp(&of_a))
    });
    all
}

/// The bottleneck of one load.
pub fn of_load(index: &RunIndex<'_>, load: &Load<'_>) -> BottleneckDoc {
    let (cores, server_cores) = (load.cores(), load.server_cores());
    let ceilings = ceilings::of_load(index, load);
    let backends = index.backends(load.takes().into_iter());
    let view = View { index, load, cores, server_cores, backends, ceilings };
    let silent = silent::seen(&view);
    // A server that went away is that, however early it did.
    if let Some(sentence) = too_short(load).filter(|_| silent.iter().all(|seen| seen.claim.is_none())) {
        let mut doc = document(load, &[]);
        (doc.sentence, doc.ceilings) = (sentence, view.ceilings);
        return doc;
    }
    let mut seen = [silent.into_iter().collect(), at_work(&view), waiting::seen(&view)].concat();
    sort(&mut seen);
    let mut doc = document(load, &seen);
    let on_cores = matches!(doc.kind, Binding::Core | Binding::Cores | Binding::Thread | Binding::Softirq);
    doc.advice.splice(0..0, on_cores.then(|| copies::advice(&view)).flatten());
    if let Some(both) = generator::both(&view).filter(|_| on_cores) {
        doc.sentence = both.to_string();
        doc.advice.insert(0, BothFull::ADVICE.to_owned());
    }
    if let Some(stall) = stall::longest(load).filter(|_| doc.kind != Binding::Silent) {
        if doc.kind != Binding::Offered {
            doc.evidence.push(format!("it stalled: {}", stall.text()));
        }
        doc.advice.insert(0, ADVICE.to_owned());
    }
    let near = view.ceilings.iter().filter(|one| one.share.is_some() && one.is_near());
    // The disk's claim has them already.
    let near = near.filter(|one| doc.kind != Binding::Disk || one.resource != doc.resource);
    let near: Vec<String> =
        near.map(|one| format!("near what this machine did elsewhere: {}", one.text)).collect();
    doc.evidence.extend(near);
    doc.also = work::also(&view, &doc);
    doc.ceilings = view.ceilings;
    doc
}

/// All that may hold the server, or the load, at the rate that it has; the strongest claim first.
fn at_work(view: &View<'_, '_>) -> Vec<Seen> {
    let mut seen: Vec<Seen> = generator::seen(view).into_iter().collect();
    seen.extend(cores::seen(view));
    seen.extend(target_host::seen(view));
    seen.extend(machine::seen(view));
    seen.extend(run_queue::seen(view));
    seen.extend(quota::seen(view));
    seen.extend(kernel::seen(view));
    seen.extend(behind::seen(view));
    sort(&mut seen);
    seen
}

fn sort(seen: &mut [Seen]) {
    seen.sort_by(|a, b| order(a).cmp(&order(b)).then(share(b).total_cmp(&share(a))));
}

/// The sentence about a load that is too short to name its bottleneck.
fn too_short(load: &Load<'_>) -> Option<String> {
    let (requests, seconds) = load.too_short()?;
    Some(format!(
        "too short to tell what binds: {} in {}; that takes {LEAST_REQUESTS} requests and {} at least",
        format::count(usize::try_from(requests).unwrap_or(usize::MAX), "request"),
        format::quantity(seconds, Unit::Second),
        format::quantity(LEAST_S, Unit::Second)
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
        also: Vec::new(),
        resources: seen.iter().map(resource).collect(),
        ceilings: Vec::new(),
        cores: used::cores(load),
        files: used::files(load),
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
        let is_rival = |rank: Rank| rank > Rank::Silent && (rank < Rank::Rest || rank == Rank::Near);
        rank.is_some_and(is_rival) && is_rival(claim.rank)
    });
    doc.counter_evidence.extend(also.map(|other| format!("also: {}", other.text)));
    doc.advice.clone_from(&claim.advice);
    doc
}

#[cfg(test)]
mod tests;
