//! Whether two groups of requests may be compared: as many, as large, as often fresh, at the same hours.
//!
//! Shares of requests, 0 to 1. What is unlike is doubtful where the comparison by strata does not undo it; sizes and
//! hours it does, so that of them it is only said.

use std::collections::{BTreeMap, BTreeSet};

use model::{Finding, Unit, Validity};
use stats::Stratified;

use super::Group;
use crate::say;

/// Distributions of sizes this far apart are unlike.
const SIZES: f64 = 0.05;
/// Shares of statuses that differ by this much are unlike.
const STATUSES: f64 = 0.02;
/// Groups that differ in requests by this factor carried unlike load.
const COUNTS: f64 = 1.2;
/// Less than this share of all work in strata of both is thin.
const SHARED: f64 = 0.8;
/// The two averages are said to be unlike from this factor on.
const MEANS: f64 = 1.5;
/// Not modified: answered without a body.
pub(super) const NOT_MODIFIED: u16 = 304;

/// What is unlike between two groups.
pub fn findings(arm: &Group, base: &Group, found: Option<&Stratified>) -> Vec<Finding> {
    let pair = format!("{} beside {}", arm.label, base.label);
    let all = [
        counts(arm, base),
        sizes(arm, base),
        statuses(arm, base),
        fresh(arm, base),
        hours(arm, base),
        found.and_then(shared),
        found.and_then(mixed),
    ];
    all.into_iter().flatten().map(|finding| finding.about(pair.clone())).collect()
}

/// The mean of per-request ratios and the ratio of totals are different figures.
pub fn means(group: &Group) -> Option<Finding> {
    let (mean, totals) = (group.mean_of_ratios?, group.ratio_of_totals()?);
    let factor = mean / totals;
    if !factor.is_finite() || (1.0 / MEANS..=MEANS).contains(&factor) {
        return None;
    }
    let text = format!(
        "the mean of per-request speeds is {}, {} times the speed of the totals, {}: the first weighs every request alike, \
         small and fast ones above all; the second says how fast bytes were sent",
        say::quantity(mean, Unit::BytesPerSec),
        say::digits(factor),
        say::quantity(totals, Unit::BytesPerSec),
    );
    let finding = Finding::new("means", Validity::Ok, text).about(group.label.clone());
    Some(finding.evidence("mean-of-ratios", mean).evidence("ratio-of-totals", totals))
}

fn counts(arm: &Group, base: &Group) -> Option<Finding> {
    let factor = arm.requests as f64 / base.requests as f64;
    if !factor.is_finite() || (1.0 / COUNTS..=COUNTS).contains(&factor) {
        return None;
    }
    let text = format!(
        "{} served {} times the requests of {}: load differed, and with it waiting",
        arm.label,
        say::digits(factor),
        base.label
    );
    Some(Finding::new("request-counts", Validity::Ok, text).evidence("ratio", factor))
}

pub(super) fn sizes(arm: &Group, base: &Group) -> Option<Finding> {
    let distance = stats::ks_distance_counts(&arm.sizes, &base.sizes)?;
    (distance > SIZES).then(|| {
        let text = format!(
            "sizes differ (Kolmogorov-Smirnov distance {}): only requests of one class of size are compared",
            say::digits(distance)
        );
        Finding::new("size-mix", Validity::Ok, text).evidence("ks", distance)
    })
}

/// Half the sum of differences: the share of requests that would have to change their status.
pub(super) fn statuses(arm: &Group, base: &Group) -> Option<Finding> {
    let share = |group: &Group, status: &u16| {
        group.statuses.get(status).map_or(0.0, |count| *count as f64 / group.requests.max(1) as f64)
    };
    let all: BTreeSet<&u16> = arm.statuses.keys().chain(base.statuses.keys()).collect();
    let apart = |status: &u16| share(arm, status) - share(base, status);
    let distance = all.iter().map(|status| apart(status).abs()).sum::<f64>() / 2.0;
    let most = all.iter().max_by(|a, b| apart(a).abs().total_cmp(&apart(b).abs()))?;
    (distance > STATUSES).then(|| {
        let text = format!(
            "statuses differ in {} of the requests, {most} most: {} of {}, {} of {}; compare one status with \
             --where status={most}",
            say::percent(distance),
            say::percent(share(arm, most)),
            arm.label,
            say::percent(share(base, most)),
            base.label,
        );
        Finding::new("status-mix", Validity::Doubtful, text).evidence("distance", distance)
    })
}

/// Answers without a body, since the client had it: how well the two groups' clients cache.
pub(super) fn fresh(arm: &Group, base: &Group) -> Option<Finding> {
    let share = |group: &Group| {
        let count = group.statuses.get(&NOT_MODIFIED).copied().unwrap_or(0);
        count as f64 / group.requests.max(1) as f64
    };
    let (one, other) = (share(arm), share(base));
    ((one - other).abs() > STATUSES).then(|| {
        let text = format!(
            "{} of {}'s requests and {} of {}'s were not modified (304): their clients' caches differ",
            say::percent(one),
            arm.label,
            say::percent(other),
            base.label
        );
        Finding::new("cacheability", Validity::Doubtful, text).evidence("arm", one).evidence("base", other)
    })
}

fn hours(arm: &Group, base: &Group) -> Option<Finding> {
    let outside = |group: &Group, other: &Group| outside(&group.hours, &other.hours);
    let (one, other) = (outside(arm, base)?, outside(base, arm)?);
    if one == 0.0 && other == 0.0 {
        return None;
    }
    let text = if one == 1.0 {
        format!(
            "{} and {} share no hour: whatever changed meanwhile is in the difference",
            arm.label, base.label
        )
    } else {
        format!(
            "{} of {}'s requests and {} of {}'s came in hours that the other did not serve; they are not compared",
            say::percent(one),
            arm.label,
            say::percent(other),
            base.label
        )
    };
    let state = if one.max(other) > 1.0 - SHARED { Validity::Doubtful } else { Validity::Ok };
    Some(Finding::new("hours", state, text).evidence("arm", one).evidence("base", other))
}

/// Share of the requests in hours that the other does not have.
fn outside(hours: &BTreeMap<i64, u64>, other: &BTreeMap<i64, u64>) -> Option<f64> {
    let all: u64 = hours.values().sum();
    let out: u64 = hours.iter().filter(|(hour, _)| !other.contains_key(hour)).map(|(_, count)| count).sum();
    (all > 0).then(|| out as f64 / all as f64)
}

pub(super) fn shared(found: &Stratified) -> Option<Finding> {
    (found.shared < SHARED).then(|| {
        let text = format!(
            "only {} of the bytes are of a size and time that both served; the rest is not compared",
            say::percent(found.shared)
        );
        Finding::new("unshared", Validity::Doubtful, text).evidence("shared", found.shared)
    })
}

/// The totals tell something else than like with like.
pub(super) fn mixed(found: &Stratified) -> Option<Finding> {
    if found.effect.interval.contains(found.crude) {
        return None;
    }
    let (crude, like) = (found.crude.exp(), found.effect.ratio());
    let text = format!(
        "the totals' speeds stand {} to 1, like with like {} to 1: the rest is the mix of sizes and hours",
        say::digits(crude),
        say::digits(like)
    );
    Some(Finding::new("mix", Validity::Ok, text).evidence("crude", crude).evidence("stratified", like))
}
