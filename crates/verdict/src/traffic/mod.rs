//! Groups of served requests from access logs: which group is faster on the same work, and is it fair to say so?
//!
//! Bytes, seconds, requests. A group is what one machine or setup served (a label, a day, either side of a moment).
//! Speed is bytes sent over time taken. Two groups are compared stratum by stratum ([`stats::stratified`]): requests of
//! one class of size and of status in one block of time, so that neither the balancer's weights nor the mix of sizes
//! decides. Failures of the server (5xx) are left out there and judged by their share (`failed`). What
//! differs between the groups besides is said in findings (`fair`). Not seen by a log: time before the server read the
//! request, and time after it gave the last byte to the kernel.

pub mod answers;
pub mod beside;
pub mod cut;
mod days;
pub(crate) mod draft;
pub mod failed;
mod fair;
pub mod parts;
mod since;

pub use draft::Judgement;
use draft::{Concluded, Draft, Pair, finished, resamples};
use model::Finding;
use model::doc::LogsSideDoc;
use model::finding::Subject;
use model::traffic::Traffic;
pub use model::traffic::{Cell, CutSide, INSTRUMENT, SPEED, ServerGroup, TIME};
use stats::{Margin, Rng};

/// Draws the resamples of every judgement: same logs, same verdicts.
pub const SEED: u64 = 1;

/// Compares every two groups; `seed` draws the resamples.
pub fn judge(groups: &[ServerGroup], margin: Margin, seed: u64) -> Judgement {
    let mut all = Judgement::default();
    all.findings.extend(since::findings(groups, margin, seed));
    all.findings.extend(groups.iter().filter_map(fair::means));
    for (i, arm) in groups.iter().enumerate() {
        // Nothing is compared with nothing.
        for base in groups[..i].iter().filter(|base| base.requests > 0 && arm.requests > 0) {
            let rng = resamples(seed, &arm.label, &base.label);
            let found = two(arm, base, margin, &rng, &mut all.findings);
            all.rows.extend(found.into_iter().map(|one| one.row));
        }
    }
    all
}

/// Compares two groups, as [`judge`] does.
pub(crate) fn pair(arm: &ServerGroup, base: &ServerGroup, margin: Margin, rng: &Rng) -> Pair {
    let mut findings: Vec<Finding> = [base, arm].into_iter().filter_map(fair::means).collect();
    let rows = two(arm, base, margin, rng, &mut findings);
    Pair { rows, findings }
}

/// Speed, time and failures of two groups. Groups that follow each other in time are compared as the sides of a cut.
fn two(
    arm: &ServerGroup,
    base: &ServerGroup,
    margin: Margin,
    rng: &Rng,
    findings: &mut Vec<Finding>,
) -> Vec<Concluded> {
    if let Some([of_arm, of_base]) = days::following(arm, base) {
        let [arm, base] = [(arm, &of_arm), (base, &of_base)].map(|(group, cut)| cut::Side { group, cut });
        return cut::two(arm, base, margin, rng, findings);
    }
    let mut rows = finished(&Draft::both(arm, base, rng, findings), margin);
    let bots = fair::bots(arm, base, || parts::of_askers(arm, base, margin, rng));
    findings.extend(bots.map(|bots| Finding::new(bots).about(Subject::groups(&arm.label, &base.label))));
    findings.extend(fair::slowest(arm, base, rows.iter().map(|one| &one.row)));
    findings.extend(parts::finding((arm, base), &parts::Pairing::Shared, margin, rng));
    // In the quarter hours that both served, as speeds and times are.
    let counts = |group: &ServerGroup| {
        let mut counts = failed::Counts::new();
        for ((block, class), cell) in &group.cells {
            failed::count(&mut counts, i64::try_from(*block).unwrap_or(0), *class, cell);
        }
        counts
    };
    let (mut of_arm, mut of_base) = (counts(arm), counts(base));
    of_arm.retain(|block, _| of_base.contains_key(block));
    of_base.retain(|block, _| of_arm.contains_key(block));
    rows.extend(failed::row((&arm.label, &of_arm), (&base.label, &of_base), margin));
    rows
}

/// Findings about the figures of one stored run.
pub fn of_run(traffic: &Traffic) -> Vec<Finding> {
    let all = fair::means(&traffic.group)
        .into_iter()
        .chain(traffic.cut.as_ref().map(|side| Finding::new(cut::alone(side))));
    let failures = failed::of_stored(&traffic.group.label, traffic);
    let all = all.chain(traffic.beside.iter().flat_map(beside::of_one)).chain(failures);
    all.map(|finding| finding.about(Subject::RUN)).collect()
}

/// The side of a cut that a run is.
pub fn side_doc(cut: &CutSide) -> LogsSideDoc {
    let (label, given) = (cut.of.clone(), cut.given.clone());
    LogsSideDoc { label, given, at: cut.at, side: if cut.is_after { "after" } else { "before" }.to_owned() }
}

#[cfg(test)]
mod tests;
