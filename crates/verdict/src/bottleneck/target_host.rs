//! A server on another host, by the telemetry that was recorded there (`--at`): its cores, one of them, interrupts on
//! one, its disks.
//!
//! All that runs there counts, not the server alone, which is said. Where the server runs on this machine its own
//! counters say more.

use model::doc::Binding;
use model::format;
use model::metrics::telemetry;
use model::names::instrument;

use super::cores::{grade, is_softirq};
use super::view::{Claim, Seen, View, idle, name, split};
use crate::loads::Core;
use crate::loads::sweep::CEILING;
use crate::target_host;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let run = view.index.run;
    let Some(target) = run.plan.target(view.load.arm).filter(|_| view.server_cores.is_empty()) else {
        return Vec::new();
    };
    let takes = view.load.takes();
    let of_load = run.takes.iter().filter(|take| takes.contains(&take.seq));
    let spans: Vec<(u64, u64)> = of_load.map(|take| (take.start_ns, take.end_ns)).collect();
    let Some(host) = target_host::during(run, &target.name, &spans) else { return Vec::new() };
    let cores = host.cores();
    let mut all: Vec<Seen> = cores.iter().map(|core| one(view, &target.name, core, &cores)).collect();
    all.extend(together(view, &target.name, &cores));
    let disks = host.by_part(instrument::DISK_USE, telemetry::BUSY.name());
    all.extend(disks.into_iter().map(|(disk, busy)| disk_seen(view, &target.name, &disk, busy)));
    all
}

/// A claim of what is so busy; `sentence` follows how that is called.
fn claim(view: &View<'_, '_>, share: f64, sentence: &str, advice: &str) -> Claim {
    let (bound, rank) = grade(share);
    Claim {
        rank,
        sentence: format!("{bound} {sentence}"),
        evidence: view.shortfall().into_iter().collect(),
        counter: vec!["all programs of that host count, not the server alone".to_owned()],
        advice: vec![advice.to_owned()],
    }
}

/// One core, with a claim where it is at its ceiling and others are not.
fn one(view: &View<'_, '_>, target: &str, core: &Core, cores: &[Core]) -> Seen {
    let is_softirq = is_softirq(core);
    let kind = if is_softirq { Binding::Softirq } else { Binding::Core };
    let others: Vec<&Core> = cores.iter().filter(|other| other.cpu != core.cpu).collect();
    let all_full = cores.iter().all(|core| core.busy >= CEILING) && !others.is_empty();
    let beside = idle(&others).map_or_else(String::new, |text| format!("; {text}"));
    let resource = format!("{} of the host of {target}", name(core));
    let busy = format!("{} busy: {}", format::percent(core.busy), split(core));
    let (says, advice) = match is_softirq {
        true => (
            "spread the NIC's interrupts",
            "spread the NIC's interrupts over its cores: more queues (ethtool -L), their affinity, RPS",
        ),
        false if others.is_empty() => ("more or faster cores", "give the server more cores, or a faster one"),
        false => ("spread its work", "let more workers or threads share the work evenly"),
    };
    let claim = (core.busy >= CEILING && !all_full)
        .then(|| claim(view, core.busy, &format!("{resource} ({busy}{beside}): {says}"), advice));
    Seen { kind, share: Some(core.busy), text: format!("{resource} {busy}"), resource, claim }
}

/// All cores of the host.
fn together(view: &View<'_, '_>, target: &str, cores: &[Core]) -> Option<Seen> {
    let busy: Vec<f64> = cores.iter().map(|core| core.busy).collect();
    let mean = stats::mean(&busy).filter(|_| cores.len() > 1)?;
    let resource = format!("cores of the host of {target}");
    let text = format!("the {} {resource} together {} busy", cores.len(), format::percent(mean));
    let is_full = busy.iter().all(|busy| *busy >= CEILING);
    let claim = is_full.then(|| {
        let sentence = format!("the {} {resource} ({} busy)", cores.len(), format::percent(mean));
        claim(view, mean, &sentence, "more or faster cores")
    });
    Some(Seen { kind: Binding::Cores, resource, share: Some(mean), text, claim })
}

fn disk_seen(view: &View<'_, '_>, target: &str, disk: &str, busy: f64) -> Seen {
    let resource = format!("{disk} of the host of {target}");
    let text = format!("{resource} {} busy", format::percent(busy));
    let claim = (busy >= CEILING).then(|| {
        let sentence = format!("{resource} ({} busy): more memory, or a faster disk", format::percent(busy));
        claim(
            view,
            busy,
            &sentence,
            "more memory, so that the content stays in the page cache, or a faster disk",
        )
    });
    Seen { kind: Binding::Disk, resource, share: Some(busy), text, claim }
}
