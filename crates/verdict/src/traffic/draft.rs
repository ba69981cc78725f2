//! A row of a comparison of served requests, from the resampled ratio to the verdict.

use std::collections::BTreeMap;

use model::doc::{RowDoc, VerdictWord};
use model::params::Params;
use model::traffic::{Cell, INSTRUMENT, SPEED, ServerGroup, StatusClass, TIME, size_of, status_of};
use model::why::{Blocks, Cause, NoInterval, Reason, Why};
use model::{Better, Finding, Unit};
use stats::{Basis, Effect, Margin, Rng, Stratified, Stratum, Sums, Verdict};

use super::fair;
use crate::compare::value;
use crate::compare::why::{held_back, no_interval};

/// Verdicts of each group against each before it, and what to think of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub rows: Vec<RowDoc>,
    pub findings: Vec<Finding>,
}

/// Rows and findings about two groups.
pub struct Pair {
    pub rows: Vec<Concluded>,
    pub findings: Vec<Finding>,
}

/// A row with what ranks are made of.
pub struct Concluded {
    pub row: RowDoc,
    pub verdict: Verdict,
    pub effect: Option<Effect>,
}

pub const RESAMPLES: usize = 2_000;

#[cfg(test)]
thread_local! {
    /// Pairs of groups that resamples were drawn of, in this test.
    pub(crate) static DRAWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts a pair that resamples are drawn of: the dear part of a comparison, done once for each.
pub fn drawn() {
    #[cfg(test)]
    DRAWN.with(|count| count.set(count.get() + 1));
}

/// Where the resamples of two labels come from.
pub fn resamples(seed: u64, arm: &str, base: &str) -> Rng {
    Rng::derive(seed, &format!("{arm}\0{base}"))
}

/// Rows of a pair, with Holm's correction over these.
pub fn finished(drafts: &[Draft<'_>], margin: Margin) -> Vec<Concluded> {
    let p: Vec<Option<f64>> = drafts.iter().map(Draft::p).collect();
    let family = p.iter().flatten().count();
    let corrected = drafts.iter().zip(stats::holm(&p));
    corrected.map(|(draft, p_holm)| draft.concluded((p_holm, family), margin)).collect()
}

/// The classes of work that are compared in speed and time. How long a failure of the server takes says nothing of how
/// fast it serves; only where neither group served anything else, failures are compared.
pub fn compared<'c>(classes: impl Iterator<Item = &'c u32>) -> fn(u32) -> bool {
    let is_sized = |class: &u32| size_of(*class).is_some();
    let mut sized = classes.filter(|class| is_sized(class)).peekable();
    if sized.peek().is_some() && sized.all(|class| status_of(*class) == StatusClass::Server) {
        return |class| size_of(class).is_some();
    }
    is_good
}

/// Answers of a known size that the server did not fail.
pub fn is_good(class: u32) -> bool {
    size_of(class).is_some() && status_of(class) != StatusClass::Server
}

/// Both groups' cells side by side; `work` is what cost is divided by. Bots stand beside bots where both groups tell
/// them apart.
pub fn strata(arm: &ServerGroup, base: &ServerGroup, work: fn(&Cell) -> f64) -> Vec<Stratum> {
    if arm.tells_bots() != base.tells_bots() {
        let joined = |group: &ServerGroup| {
            let mut group = ServerGroup { cells: group.cells.clone(), ..ServerGroup::default() };
            group.join_bots();
            group
        };
        return strata(&joined(arm), &joined(base), work);
    }
    let is_compared = compared(arm.cells.keys().chain(base.cells.keys()).map(|(_, class)| class));
    side_by_side(&arm.cells, &base.cells, is_compared, work)
}

/// The same of cells whose class is compared.
pub fn side_by_side(
    arm: &BTreeMap<(u64, u32), Cell>,
    base: &BTreeMap<(u64, u32), Cell>,
    is_compared: fn(u32) -> bool,
    work: fn(&Cell) -> f64,
) -> Vec<Stratum> {
    let mut strata: BTreeMap<(u64, u32), (Sums, Sums)> = BTreeMap::new();
    let sums = |cell: &Cell| Sums { work: work(cell), cost: cell.seconds };
    for (at, cell) in arm.iter().filter(|((_, class), _)| is_compared(*class)) {
        strata.entry(*at).or_default().0 = sums(cell);
    }
    for (at, cell) in base.iter().filter(|((_, class), _)| is_compared(*class)) {
        strata.entry(*at).or_default().1 = sums(cell);
    }
    let stratum = |((block, class), (arm, base))| Stratum { block, class, arm, base };
    strata.into_iter().map(stratum).collect()
}

/// The ratio of strata with its interval, or the reason for none. Each ratio of a pair draws the same resamples from
/// the start, so that equal strata have equal intervals, whatever else is compared: a part of the paths has the
/// interval that it has in a log of these paths alone.
pub fn ratio(strata: &[Stratum], rng: &Rng) -> Result<Stratified, Reason> {
    stats::stratified(strata, RESAMPLES, &mut rng.clone())
        .map_err(|unfit| no_interval(Some(Blocks::Shared), &unfit))
}

/// Below so many steps of a log's times, a mean time is judged with what a step can have made of it.
const FEW_STEPS: f64 = 5.0;

/// The comparison with an interval wider by what the steps of the logs' times can have made of the ratio, where a mean
/// time is few of them; the reason for none where they may have made all of it. What is written as 1 ms may be anything
/// up to a step off, on either side.
fn beyond_steps(
    found: Result<Stratified, Reason>,
    arm: &ServerGroup,
    base: &ServerGroup,
) -> Result<Stratified, Reason> {
    let mut found = found?;
    let steps = |group: &ServerGroup| Some((group.mean_time()? / group.time_step?, group.time_step?));
    // Of a side whose mean is no longer than a step nothing is known.
    let reach = |group: &ServerGroup| {
        let part = steps(group).map_or(0.0, |(steps, _)| 1.0 / steps);
        if part < 1.0 { -(1.0 - part).ln() } else { f64::INFINITY }
    };
    let fewest = [arm, base].into_iter().filter_map(|group| Some((group, steps(group)?)));
    let Some((group, (steps, step))) = fewest.min_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b)) else {
        return Ok(found);
    };
    if steps >= FEW_STEPS {
        return Ok(found);
    }
    let (reach, interval) = (reach(arm) + reach(base), &mut found.effect.interval);
    (interval.low, interval.high) = (interval.low - reach, interval.high + reach);
    if !interval.contains(0.0) {
        return Ok(found);
    }
    let cause = Cause::CoarseTimes { side: group.label.clone(), step, mean: steps * step };
    Err(Reason::NoInterval(NoInterval { blocks: None, cause }))
}

/// A row before Holm's correction.
pub struct Draft<'a> {
    arm: &'a ServerGroup,
    base: &'a ServerGroup,
    metric: &'static str,
    unit: Unit,
    better: Better,
    /// Like with like where there is a ratio, so that these have it; else those of all requests.
    values: (Option<f64>, Option<f64>),
    /// Log ratio arm / base of this metric.
    found: Result<Stratified, Reason>,
}

impl<'a> Draft<'a> {
    /// On speed and on time.
    pub fn both(
        arm: &'a ServerGroup,
        base: &'a ServerGroup,
        rng: &Rng,
        findings: &mut Vec<Finding>,
    ) -> [Draft<'a>; 2] {
        drawn();
        let speed = ratio(&strata(arm, base, |cell| cell.bytes), rng);
        let time = ratio(&strata(arm, base, |cell| cell.requests as f64), rng);
        findings.extend(fair::findings(arm, base, speed.as_ref().ok()));
        [Draft::speed(arm, base, speed), Draft::time(arm, base, time)]
    }

    pub fn speed(
        arm: &'a ServerGroup,
        base: &'a ServerGroup,
        found: Result<Stratified, Reason>,
    ) -> Draft<'a> {
        let found = beyond_steps(found, arm, base);
        let totals = (arm.ratio_of_totals(), base.ratio_of_totals());
        let values = found.as_ref().map_or(totals, |found| (Some(found.speeds.0), Some(found.speeds.1)));
        Draft { arm, base, metric: SPEED, unit: Unit::BytesPerSec, better: Better::Higher, values, found }
    }

    /// Time over requests is the inverse of requests over time.
    pub fn time(arm: &'a ServerGroup, base: &'a ServerGroup, found: Result<Stratified, Reason>) -> Draft<'a> {
        let inverse = |mut found: Stratified| {
            let interval = &mut found.effect.interval;
            (interval.low, interval.high) = (-interval.high, -interval.low);
            found.effect.estimate = -found.effect.estimate;
            found.crude = -found.crude;
            found.speeds = (1.0 / found.speeds.0, 1.0 / found.speeds.1);
            found
        };
        let totals = (arm.mean_time(), base.mean_time());
        let found = beyond_steps(found.map(inverse), arm, base);
        let values = found.as_ref().map_or(totals, |found| (Some(found.speeds.0), Some(found.speeds.1)));
        Draft { arm, base, metric: TIME, unit: Unit::Second, better: Better::Lower, values, found }
    }

    /// Where the ratio of the totals lies outside the interval of the like-with-like comparison.
    fn mix(&self, found: &Stratified) -> Option<Reason> {
        let all = if self.metric == SPEED { fair::crude } else { time_ratio };
        let crude = match fair::has_failures(self.arm, self.base) {
            true => all(self.arm, self.base)?,
            false => found.crude,
        };
        (!found.effect.interval.contains(crude)).then(|| Reason::Mix { totals_ratio: crude.exp() })
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
            (Ok(found), _) => Why::new(self.mix(found).into_iter().collect()),
        };
        let shown = interval.map(stats::Interval::exp);
        let blank = blank(self.metric, self.unit, self.better, (&self.arm.label, &self.base.label), margin);
        let row = RowDoc {
            arm_value: self.values.0,
            base_value: self.values.1,
            ratio: effect.map(|effect| effect.ratio()),
            low: shown.map(|interval| interval.low),
            high: shown.map(|interval| interval.high),
            p: self.p(),
            p_holm,
            verdict: value::word(verdict),
            why,
            ..blank
        };
        Concluded { row, verdict, effect }
    }
}

/// A row of a pair of groups, arm and base, of which nothing is known yet.
pub fn blank(metric: &str, unit: Unit, better: Better, (arm, base): (&str, &str), margin: Margin) -> RowDoc {
    RowDoc {
        card: None,
        instrument: INSTRUMENT.to_owned(),
        metric: metric.to_owned(),
        unit,
        better,
        params: Params::default(),
        headline: true,
        index: None,
        arm: arm.to_owned(),
        base: base.to_owned(),
        arm_value: None,
        base_value: None,
        ratio: None,
        low: None,
        high: None,
        p: None,
        p_holm: None,
        floor: None,
        noise: None,
        noise_runs: Vec::new(),
        margin: margin.share(),
        verdict: VerdictWord::CannotTell,
        why: Why::default(),
        point: false,
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: Vec::new(),
    }
}

/// ln of the ratio of the mean times of all requests.
fn time_ratio(arm: &ServerGroup, base: &ServerGroup) -> Option<f64> {
    let ratio = (arm.mean_time()? / base.mean_time()?).ln();
    ratio.is_finite().then_some(ratio)
}
