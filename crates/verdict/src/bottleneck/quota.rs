//! CPU quotas: that of the server's control group or one above it, and that of boxscore's own.
//!
//! A quota binds a server that it stopped in half of its periods, or that used nearly all of it and was stopped at all.

use model::Unit;
use model::doc::Binding;
use model::finding::generator_bound::rate;
use model::finding::server_quota::QuotaUse;
use model::format;
use model::metrics::{load, machine};

use super::view::{Claim, Rank, Seen, View};
use crate::facts;
use crate::loads::groups;
use crate::loads::sweep::CEILING;

/// The share of periods that ended early from which a quota binds.
const STOPPED: f64 = 0.5;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let servers = groups::quotas(view.load).into_iter().map(|quota| server(view, &quota));
    servers.chain(own(view)).collect()
}

/// True where this quota binds the server.
fn binds(view: &View<'_, '_>, quota: &QuotaUse) -> bool {
    let used = view.load.median(&load::SERVER_CORES).is_some_and(|used| used >= CEILING * quota.cpus);
    quota.share().is_some_and(|share| share >= STOPPED || (share > 0.0 && used))
}

fn server(view: &View<'_, '_>, quota: &QuotaUse) -> Seen {
    let stops = quota
        .stops()
        .map_or_else(|| ", whose stops were not counted".to_owned(), |stops| format!(": {stops}"));
    let text = format!("the server's CPU quota of {}{stops}", quota.size());
    let claim = binds(view, quota).then(|| Claim {
        rank: Rank::Quota,
        sentence: format!(
            "bound by the CPU quota of the control group of {}: {}, {}; raise it",
            view.load.server(),
            quota.size(),
            quota.stops().unwrap_or_default()
        ),
        evidence: used(view, quota).into_iter().chain(pauses(view)).chain(view.shortfall()).collect(),
        counter: Vec::new(),
        advice: vec![format!("raise the quota ({}), or compare only inside it", quota.raised_by())],
    });
    Seen { kind: Binding::Quota, resource: quota.group.clone(), share: quota.share(), text, claim }
}

/// The quota of which the server used the largest share, with that: `the server's CPU quota of 0.400 CPUs (cpu:/web),
/// 99 % used`.
pub fn used_share(view: &View<'_, '_>) -> Option<(f64, String)> {
    let used = view.load.median(&load::SERVER_CORES)?;
    let least = groups::quotas(view.load).into_iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus))?;
    let share = used / least.cpus;
    Some((share, format!("the server's CPU quota of {}, {} used", least.size(), format::percent(share))))
}

/// `it used 0.398 CPUs; at 36.0 us of CPU a request 0.400 CPUs do 11.1 k/s`.
fn used(view: &View<'_, '_>, quota: &QuotaUse) -> Option<String> {
    let used = view.load.median(&load::SERVER_CORES)?;
    let each = view.load.median(&load::SERVER_CPU).filter(|cpu| *cpu > 0.0).map(|cpu| {
        format!(
            "; at {} of CPU a request {} CPUs do {}",
            format::quantity(cpu, Unit::Second),
            format::number(quota.cpus),
            rate(quota.cpus / cpu)
        )
    });
    Some(format!("it used {} CPUs{}", format::number(used), each.unwrap_or_default()))
}

/// The times of answers where the slow ones waited for the next period.
fn pauses(view: &View<'_, '_>) -> Option<String> {
    let pauses = crate::loads::pauses::of_load(view.load)?;
    Some(format!("{pauses}, as it is where answers wait for the next period"))
}

/// Stops by the CPU quota of boxscore's own control group, in at least half of the takes.
fn own(view: &View<'_, '_>) -> Option<Seen> {
    let stops = view.index.condition(machine::THROTTLED.name())?;
    let takes: Vec<f64> = view.load.takes().iter().filter_map(|seq| stops.get(seq).copied()).collect();
    let hit = takes.iter().filter(|count| **count > 0.0).count();
    if hit == 0 {
        return None;
    }
    let cpus = facts::number(&view.index.run.facts, "cgroup.cpu.quota");
    let size = cpus.map_or_else(String::new, |cpus| format!(" of {} CPUs", format::number(cpus)));
    let text =
        format!("boxscore's own CPU quota{size} stopped {hit} of {}", format::count(takes.len(), "take"));
    let claim = (2 * hit >= takes.len()).then(|| Claim {
        rank: Rank::Proved,
        sentence: format!(
            "bound by the CPU quota{size} of boxscore's own control group ({hit} of {} takes stopped): lift it",
            takes.len()
        ),
        evidence: vec![format!("{:.0} periods ended early", takes.iter().sum::<f64>())],
        counter: Vec::new(),
        advice: vec!["lift the quota (cpu.max), or compare only inside it".to_owned()],
    });
    let share = Some(hit as f64 / takes.len() as f64);
    Some(Seen { kind: Binding::Quota, resource: "cgroup.cpu.quota".to_owned(), share, text, claim })
}
