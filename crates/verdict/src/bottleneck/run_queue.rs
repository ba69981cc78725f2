//! Waiting for a core although no core is full: by the server's own threads where the kernel tells how long they were
//! ready and waited, else by the pressure of the whole machine, which threads of all programs make.

use model::doc::Binding;
use model::metrics::load;

use super::view::{Claim, Rank, Seen, View};
use crate::loads::groups;
use crate::loads::sweep::CEILING;
use model::format;

/// The share of the time from which waiting binds: of that in which they had work, or of all of it by pressure.
const WAITS: f64 = 0.5;
/// Threads that wait less than this, together, wait for next to nothing.
const LEAST: f64 = 0.1;

/// Waiting for a core is no news where the cores are full.
pub fn seen(view: &View<'_, '_>) -> Option<Seen> {
    let (share, text) = own(view).or_else(|| of_all(view))?;
    let most = view.cores.iter().map(|core| core.busy).max_by(f64::total_cmp);
    let claim = most.filter(|most| share >= WAITS && *most < CEILING).map(|most| {
        let advice = advice(view);
        Claim {
            rank: Rank::Stalls,
            sentence: format!(
                "bound by waiting for cores ({text}, with no core above {}): look at {advice}",
                format::percent(most)
            ),
            evidence: view.shortfall().into_iter().collect(),
            counter: Vec::new(),
            advice: vec![format!("look at {advice}")],
        }
    });
    let resource = "waiting for cores".to_owned();
    Some(Seen { kind: Binding::RunQueue, resource, share: Some(share), text, claim })
}

/// By the server's threads: the share of the time in which they had work that they waited.
fn own(view: &View<'_, '_>) -> Option<(f64, String)> {
    let (waited, ran) = (view.load.median(&load::SERVER_WAITING)?, view.load.median(&load::SERVER_CORES)?);
    let share = if waited < LEAST { 0.0 } else { waited / (waited + ran) };
    let text = format!(
        "the server's threads waited for a core {} of the time that they had work: {} s a second, and ran {}",
        format::percent(waited / (waited + ran).max(f64::MIN_POSITIVE)),
        format::number(waited),
        format::number(ran)
    );
    Some((share, text))
}

/// By the pressure of the machine.
fn of_all(view: &View<'_, '_>) -> Option<(f64, String)> {
    let share = view.load.median(&load::CPU_PRESSURE)?;
    Some((
        share,
        format!("some thread of any program waited for a core {} of the time", format::percent(share)),
    ))
}

/// Causes that may keep its threads from cores, without those that were read and are none.
fn advice(view: &View<'_, '_>) -> String {
    let all = !view.server_cores.is_empty() && view.server_cores.len() == view.cores.len();
    let set = (!all).then(|| "the CPU set of the server's threads".to_owned());
    let quota = match groups::count_read(view.load) {
        Some(_) => "CPU quotas that cannot be seen here (of a container's or virtual machine's host)",
        None => "CPU quotas of its control groups, which were not read",
    };
    let priority = "priorities (nice, cpu.weight)".to_owned();
    format::list(&[set, Some(priority), Some(quota.to_owned())].into_iter().flatten().collect::<Vec<_>>())
}
