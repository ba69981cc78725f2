//! Groups of served requests from access logs: which group is faster on the same work, and is it fair to say so?
//!
//! Bytes, seconds, requests. A group is what one machine or setup served (a label, a day, either side of a moment).
//! Speed is bytes sent over time taken. Two groups are compared stratum by stratum ([`stats::stratified`]): requests of
//! one class of size in one block of time, so that neither the balancer's weights nor the mix of sizes decides. What
//! differs between the groups besides is said in findings (`fair`). Not seen by a log: time before the server read the
//! request, and time after it gave the last byte to the kernel.

pub mod beside;
pub mod cut;
mod fair;

use std::collections::BTreeMap;

use model::doc::{LogsSideDoc, RowDoc};
use model::finding::Subject;
use model::params::Params;
use model::traffic::Traffic;
pub use model::traffic::{Cell, CutSide, Group, INSTRUMENT};
use model::why::{Blocks, Reason, Why};
use model::{Better, Finding, Unit};
use stats::{Basis, Effect, Margin, Rng, Stratified, Stratum, Sums, Verdict};

use crate::compare::value;
use crate::compare::why::{held_back, no_interval};

/// Bytes sent over time taken, stratum by stratum.
pub const SPEED: &str = "speed";
/// Time of a request, stratum by stratum.
pub const TIME: &str = "time";

/// Verdicts of each group against each before it, and what to think of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub rows: Vec<RowDoc>,
    pub findings: Vec<Finding>,
}

/// Draws the resamples of every judgement: same logs, same verdicts.
pub const SEED: u64 = 1;

/// Compares every two groups; `seed` draws the resamples.
#[must_use]
pub fn judge(groups: &[Group], margin: Margin, seed: u64) -> Judgement {
    let mut all = Judgement::default();
    all.findings.extend(groups.iter().filter_map(fair::means));
    for (i, arm) in groups.iter().enumerate() {
        for base in &groups[..i] {
            let mut rng = resamples(seed, &arm.label, &base.label);
            let drafts = Draft::both(arm, base, &mut rng, &mut all.findings);
            all.rows.extend(finished(&drafts, margin).into_iter().map(|one| one.row));
        }
    }
    all
}

/// What is found of two groups.
pub(crate) struct Pair {
    pub rows: Vec<Concluded>,
    pub findings: Vec<Finding>,
}

/// A row with what ranks are made of.
pub(crate) struct Concluded {
    pub row: RowDoc,
    pub verdict: Verdict,
    pub effect: Option<Effect>,
}

/// Compares two groups, as [`judge`] does.
pub(crate) fn pair(arm: &Group, base: &Group, margin: Margin, rng: &mut Rng) -> Pair {
    let mut findings: Vec<Finding> = [base, arm].into_iter().filter_map(fair::means).collect();
    let drafts = Draft::both(arm, base, rng, &mut findings);
    Pair { rows: finished(&drafts, margin), findings }
}

/// Where the resamples of two labels come from.
pub(crate) fn resamples(seed: u64, arm: &str, base: &str) -> Rng {
    Rng::derive(seed, &format!("{arm}\0{base}"))
}

/// What is to be known of the figures of one stored run.
#[must_use]
pub fn of_run(traffic: &Traffic) -> Vec<Finding> {
    let all = fair::means(&traffic.group)
        .into_iter()
        .chain(traffic.cut.as_ref().map(|side| Finding::new(cut::alone(side))));
    let all = all.chain(traffic.beside.iter().flat_map(beside::of_one));
    all.map(|finding| finding.about(Subject::RUN)).collect()
}

/// The side of a cut that a run is.
#[must_use]
pub fn side_doc(cut: &CutSide) -> LogsSideDoc {
    let (label, given) = (cut.of.clone(), cut.given.clone());
    LogsSideDoc { label, given, at: cut.at, side: if cut.is_after { "after" } else { "before" }.to_owned() }
}

/// Rows of a pair, with Holm's correction over these.
fn finished(drafts: &[Draft<'_>], margin: Margin) -> Vec<Concluded> {
    let p: Vec<Option<f64>> = drafts.iter().map(Draft::p).collect();
    let family = p.iter().flatten().count();
    let corrected = drafts.iter().zip(stats::holm(&p));
    corrected.map(|(draft, p_holm)| draft.concluded((p_holm, family), margin)).collect()
}

const RESAMPLES: usize = 2_000;

#[cfg(test)]
thread_local! {
    /// Pairs of groups that resamples were drawn of, in this test.
    pub(crate) static DRAWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts a pair that resamples are drawn of: the dear part of a comparison, done once for each.
fn drawn() {
    #[cfg(test)]
    DRAWN.with(|count| count.set(count.get() + 1));
}

/// Both groups' cells side by side; `work` is what cost is divided by.
fn strata(arm: &Group, base: &Group, work: fn(&Cell) -> f64) -> Vec<Stratum> {
    let mut strata: BTreeMap<(u64, u32), (Sums, Sums)> = BTreeMap::new();
    let sums = |cell: &Cell| Sums { work: work(cell), cost: cell.seconds };
    for (at, cell) in &arm.cells {
        strata.entry(*at).or_default().0 = sums(cell);
    }
    for (at, cell) in &base.cells {
        strata.entry(*at).or_default().1 = sums(cell);
    }
    let stratum = |((block, class), (arm, base))| Stratum { block, class, arm, base };
    strata.into_iter().map(stratum).collect()
}

/// A row before Holm's correction.
struct Draft<'a> {
    arm: &'a Group,
    base: &'a Group,
    metric: &'static str,
    unit: Unit,
    better: Better,
    values: (Option<f64>, Option<f64>),
    /// Log ratio arm / base of this metric.
    found: Result<Stratified, Reason>,
}

impl<'a> Draft<'a> {
    /// On speed and on time.
    fn both(arm: &'a Group, base: &'a Group, rng: &mut Rng, findings: &mut Vec<Finding>) -> [Draft<'a>; 2] {
        drawn();
        let speed = stats::stratified(&strata(arm, base, |cell| cell.bytes), RESAMPLES, rng);
        let time = stats::stratified(&strata(arm, base, |cell| cell.requests as f64), RESAMPLES, rng);
        findings.extend(fair::findings(arm, base, speed.as_ref().ok()));
        let why = |unfit: stats::Unfit| no_interval(Some(Blocks::Shared), &unfit);
        [Draft::speed(arm, base, speed.map_err(why)), Draft::time(arm, base, time.map_err(why))]
    }

    fn speed(arm: &'a Group, base: &'a Group, found: Result<Stratified, Reason>) -> Draft<'a> {
        let values = (arm.ratio_of_totals(), base.ratio_of_totals());
        Draft { arm, base, metric: SPEED, unit: Unit::BytesPerSec, better: Better::Higher, values, found }
    }

    /// Time over requests is the inverse of requests over time.
    fn time(arm: &'a Group, base: &'a Group, found: Result<Stratified, Reason>) -> Draft<'a> {
        let inverse = |mut found: Stratified| {
            let interval = &mut found.effect.interval;
            (interval.low, interval.high) = (-interval.high, -interval.low);
            found.effect.estimate = -found.effect.estimate;
            found.crude = -found.crude;
            found
        };
        let values = (arm.mean_time(), base.mean_time());
        let found = found.map(inverse);
        Draft { arm, base, metric: TIME, unit: Unit::Second, better: Better::Lower, values, found }
    }

    fn p(&self) -> Option<f64> {
        self.found.as_ref().ok().map(|found| found.effect.p())
    }

    fn concluded(&self, (p_holm, family): (Option<f64>, usize), margin: Margin) -> Concluded {
        let effect = self.found.as_ref().ok().map(|found| found.effect);
        let interval = effect.map(|effect| effect.interval);
        let blocks = self.found.as_ref().map_or(0, |found| found.blocks);
        let verdict =
            stats::verdict(interval, p_holm, margin, value::way(self.better), Basis::Blocks { n: blocks });
        let why = match (&self.found, verdict) {
            (Err(reason), _) => Why::from(reason.clone()),
            (Ok(_), Verdict::CannotTell(held)) => held_back(held, family).into(),
            (Ok(found), _) => Why::new(mix(found).into_iter().collect()),
        };
        let shown = interval.map(stats::Interval::exp);
        let row = RowDoc {
            card: None,
            instrument: INSTRUMENT.to_owned(),
            metric: self.metric.to_owned(),
            unit: self.unit,
            better: self.better,
            params: Params::default(),
            headline: true,
            arm: self.arm.label.clone(),
            base: self.base.label.clone(),
            arm_value: self.values.0,
            base_value: self.values.1,
            ratio: effect.map(|effect| effect.ratio()),
            low: shown.map(|interval| interval.low),
            high: shown.map(|interval| interval.high),
            p: self.p(),
            p_holm,
            floor: None,
            noise: None,
            margin: margin.share(),
            verdict: value::word(verdict),
            why,
            point: false,
            per_price: None,
            per_watt: None,
        };
        Concluded { row, verdict, effect }
    }
}

/// Where the ratio of the totals lies outside the interval of the like-with-like comparison.
fn mix(found: &Stratified) -> Option<Reason> {
    let is_outside = !found.effect.interval.contains(found.crude);
    is_outside.then(|| Reason::Mix { totals_ratio: found.crude.exp() })
}

#[cfg(test)]
mod tests;
