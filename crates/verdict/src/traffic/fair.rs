//! Fairness of a comparison of two groups of requests: as many, as large, as often fresh, at the same hours.
//!
//! Shares of requests, 0 to 1. What is unlike is doubtful where the comparison by strata does not undo it; sizes and
//! hours it does, so that of them it is only said.

use std::collections::{BTreeMap, BTreeSet};

use model::Finding;
use model::doc::{RowDoc, VerdictWord};
use model::finding::{AskerTimes, LogsCompared, MixCause, Share, Subject, Times};
use stats::Stratified;

use model::traffic::{ServerGroup, StatusClass, TIME, status_of};

/// Distributions of sizes this far apart are unlike.
const SIZES: f64 = 0.05;
/// Shares of statuses that differ by this much are unlike.
const STATUSES: f64 = 0.02;
/// Fewer bots than this share of the requests make no difference worth a line.
const BOTS: f64 = 0.02;
/// Groups that differ in requests by this factor carried unlike load.
const COUNTS: f64 = 1.2;
/// Less than this share of all work in strata of both is thin.
const SHARED: f64 = 0.8;
/// The two averages are said to be unlike from this factor on.
const MEANS: f64 = 1.5;
/// The part of a difference that is too small to be named as a cause.
const REST: f64 = 0.1;
/// Medians that differ by less than this are alike, and times of the slowest from this factor on are not.
const ALIKE: f64 = 0.05;
const SLOWEST: f64 = 1.5;
/// From this share of failures on, the slowest of a hundred answers may be failures.
const FEW_FAILURES: f64 = 0.002;
/// Not modified: answered without a body.
pub(super) const NOT_MODIFIED: u16 = 304;

/// Differences between two groups besides their speed.
pub fn findings(arm: &ServerGroup, base: &ServerGroup, found: Option<&Stratified>) -> Vec<Finding> {
    let pair = Subject::groups(&arm.label, &base.label);
    let all = [
        counts(arm, base),
        sizes(arm, base),
        statuses(arm, base),
        failures(arm, base),
        fresh(arm, base),
        hours(arm, base),
        found.and_then(shared),
        found.and_then(|found| mixed(arm, base, found)),
        found.and_then(halves),
    ];
    all.into_iter().flatten().map(|unlike| Finding::new(unlike).about(pair.clone())).collect()
}

/// The mean of per-request ratios and the ratio of totals are different figures.
pub fn means(group: &ServerGroup) -> Option<Finding> {
    let (mean, totals) = (group.mean_of_ratios?, group.ratio_of_totals()?);
    let factor = mean / totals;
    if !factor.is_finite() || (1.0 / MEANS..=MEANS).contains(&factor) {
        return None;
    }
    let has_failures = group.statuses.iter().any(|(status, count)| *status >= 500 && *count > 0);
    Some(Finding::new(LogsCompared::Means { mean, totals, has_failures }).about(Subject::label(&group.label)))
}

/// That only the slowest requests make a difference of times that was told.
pub(super) fn slowest<'r>(
    arm: &ServerGroup,
    base: &ServerGroup,
    rows: impl IntoIterator<Item = &'r RowDoc>,
) -> Option<Finding> {
    let row = rows.into_iter().find(|row| row.metric == TIME)?;
    let is_longer = match row.verdict {
        VerdictWord::Worse => true,
        VerdictWord::Better => false,
        _ => return None,
    };
    let of = |group: &ServerGroup| {
        let failed: u64 = group.statuses.range(500..).map(|(_, count)| count).sum();
        let is_of_good = failed as f64 <= FEW_FAILURES * group.requests as f64;
        let times = group.time_median.zip(group.time_p99).filter(|_| is_of_good);
        times.map(|(median, p99)| Times { label: group.label.clone(), median, p99 })
    };
    let (arm, base) = (of(arm)?, of(base)?);
    let is_alike = (arm.median / base.median).ln().abs() <= ALIKE;
    let factor = if is_longer { arm.p99 / base.p99 } else { base.p99 / arm.p99 };
    let pair = Subject::groups(&arm.label, &base.label);
    (is_alike && factor >= SLOWEST).then(|| Finding::new(LogsCompared::Slowest { arm, base }).about(pair))
}

fn counts(arm: &ServerGroup, base: &ServerGroup) -> Option<LogsCompared> {
    let factor = arm.requests as f64 / base.requests as f64;
    if !factor.is_finite() || (1.0 / COUNTS..=COUNTS).contains(&factor) {
        return None;
    }
    let (arm, base) = (arm.label.clone(), base.label.clone());
    Some(LogsCompared::RequestCounts { arm, base, ratio: factor })
}

pub(super) fn sizes(arm: &ServerGroup, base: &ServerGroup) -> Option<LogsCompared> {
    let distance = stats::ks_distance_counts(&arm.sizes, &base.sizes)?;
    (distance > SIZES).then_some(LogsCompared::SizeMix { distance })
}

fn share_of(group: &ServerGroup, share: f64) -> Share {
    Share { label: group.label.clone(), share }
}

/// Half the sum of differences: the share of requests that would have to change their status.
pub(super) fn statuses(arm: &ServerGroup, base: &ServerGroup) -> Option<LogsCompared> {
    let share = |group: &ServerGroup, status: &u16| {
        group.statuses.get(status).map_or(0.0, |count| *count as f64 / group.requests.max(1) as f64)
    };
    let all: BTreeSet<&u16> = arm.statuses.keys().chain(base.statuses.keys()).collect();
    let apart = |status: &u16| share(arm, status) - share(base, status);
    let distance = all.iter().map(|status| apart(status).abs()).sum::<f64>() / 2.0;
    // More of one answer is fewer of the good ones: the other one is the cause.
    let is_good = |status: u16| (200..300).contains(&status);
    let by_distance = |a: &u16, b: &u16| apart(a).abs().total_cmp(&apart(b).abs());
    let cause = all.iter().copied().filter(|status| !is_good(**status)).max_by(|a, b| by_distance(a, b));
    let cause = cause.filter(|status| apart(status).abs() >= distance / 2.0);
    let most = cause.or_else(|| all.iter().copied().max_by(|a, b| by_distance(a, b)))?;
    let [arm, base] = [arm, base].map(|group| share_of(group, share(group, most)));
    (distance > STATUSES).then_some(LogsCompared::StatusMix { distance, status: *most, arm, base })
}

/// Answers without a body, since the client had it: how well the two groups' clients cache.
pub(super) fn fresh(arm: &ServerGroup, base: &ServerGroup) -> Option<LogsCompared> {
    let share = |group: &ServerGroup| {
        let count = group.statuses.get(&NOT_MODIFIED).copied().unwrap_or(0);
        count as f64 / group.requests.max(1) as f64
    };
    let [arm, base] = [arm, base].map(|group| share_of(group, share(group)));
    ((arm.share - base.share).abs() > STATUSES).then_some(LogsCompared::Cacheability { arm, base })
}

/// Shares of bots where either group has people and bots.
fn bot_shares(arm: &ServerGroup, base: &ServerGroup) -> Option<(f64, f64)> {
    let share = |group: &ServerGroup| Some(group.bots? as f64 / group.requests.max(1) as f64);
    let (of_arm, of_base) = (share(arm)?, share(base)?);
    (of_arm.max(of_base) > BOTS && of_arm.min(of_base) < 1.0 - BOTS).then_some((of_arm, of_base))
}

/// True where either group has people and bots, and both tell them apart.
pub(super) fn are_bots_among_people(arm: &ServerGroup, base: &ServerGroup) -> bool {
    arm.tells_bots() && base.tells_bots() && bot_shares(arm, base).is_some()
}

/// Bots ask for other files, at other hours and in other ways than people do: how each differ, or that they are
/// compared as one. `times` compares each with its like, where they can be told apart.
pub(super) fn bots(
    arm: &ServerGroup,
    base: &ServerGroup,
    times: impl FnOnce() -> Option<AskerTimes>,
) -> Option<LogsCompared> {
    let (of_arm, of_base) = bot_shares(arm, base)?;
    let times = times();
    Some(LogsCompared::Bots { arm: share_of(arm, of_arm), base: share_of(base, of_base), times })
}

fn hours(arm: &ServerGroup, base: &ServerGroup) -> Option<LogsCompared> {
    let outside = |group: &ServerGroup, other: &ServerGroup| outside(&group.hours, &other.hours);
    let (one, other) = (outside(arm, base)?, outside(base, arm)?);
    if one == 0.0 && other == 0.0 {
        return None;
    }
    let is_doubtful = one.max(other) > 1.0 - SHARED;
    Some(LogsCompared::Hours { arm: share_of(arm, one), base: share_of(base, other), is_doubtful })
}

/// Share of the requests in hours that the other does not have.
fn outside(hours: &BTreeMap<i64, u64>, other: &BTreeMap<i64, u64>) -> Option<f64> {
    let all: u64 = hours.values().sum();
    let out: u64 = hours.iter().filter(|(hour, _)| !other.contains_key(hour)).map(|(_, count)| count).sum();
    (all > 0).then(|| out as f64 / all as f64)
}

pub(super) fn shared(found: &Stratified) -> Option<LogsCompared> {
    (found.shared < SHARED).then_some(LogsCompared::Unshared { shared: found.shared })
}

/// The first half of the time against the second.
pub(super) fn halves(found: &Stratified) -> Option<LogsCompared> {
    let halves = found.halves.filter(|halves| halves.differ)?;
    Some(LogsCompared::Halves { first: halves.first.exp(), second: halves.second.exp() })
}

/// True if the server failed to answer a request of either group: the totals have it, like with like has not.
pub(super) fn has_failures(arm: &ServerGroup, base: &ServerGroup) -> bool {
    arm.cells.keys().chain(base.cells.keys()).any(|(_, class)| status_of(*class) == StatusClass::Server)
}

/// ln of the ratio of the speeds of all requests, failed ones too.
pub(super) fn crude(arm: &ServerGroup, base: &ServerGroup) -> Option<f64> {
    let ratio = (arm.ratio_of_totals()? / base.ratio_of_totals()?).ln();
    ratio.is_finite().then_some(ratio)
}

/// The totals tell something else than like with like; failed requests are a cause where the ratio without them
/// differs.
pub(super) fn mixed(arm: &ServerGroup, base: &ServerGroup, found: &Stratified) -> Option<LogsCompared> {
    let has_failures = has_failures(arm, base);
    let all = if has_failures { crude(arm, base)? } else { found.crude };
    if found.effect.interval.contains(all) {
        return None;
    }
    let apart = |crude: f64| (crude - found.effect.estimate).abs();
    let is_like_without =
        found.effect.interval.contains(found.crude) || apart(found.crude) <= REST * apart(all);
    let cause = match (has_failures, is_like_without) {
        (true, true) => MixCause::Failures,
        (true, false) => MixCause::Both,
        (false, _) => MixCause::Work,
    };
    let good = has_failures.then(|| found.crude.exp());
    Some(LogsCompared::Mix { crude: all.exp(), good, stratified: found.effect.ratio(), cause })
}

/// Failures of the server that are few of the requests may be much of the time.
pub(super) fn failures(arm: &ServerGroup, base: &ServerGroup) -> Option<LogsCompared> {
    let shares = |group: &ServerGroup| {
        let of = group.cells.iter().filter(|((_, class), _)| status_of(*class) == StatusClass::Server);
        let (requests, seconds) =
            of.fold((0, 0.0), |sum, (_, cell)| (sum.0 + cell.requests, sum.1 + cell.seconds));
        (requests as f64 / group.requests.max(1) as f64, seconds / group.seconds.max(f64::MIN_POSITIVE))
    };
    let (of_arm, of_base) = (shares(arm), shares(base));
    let is_much = (of_arm.0 - of_base.0).abs() > STATUSES || (of_arm.1 - of_base.1).abs() > STATUSES;
    is_much.then(|| LogsCompared::Failures {
        arm: share_of(arm, of_arm.0),
        base: share_of(base, of_base.0),
        arm_time: of_arm.1,
        base_time: of_base.1,
    })
}
