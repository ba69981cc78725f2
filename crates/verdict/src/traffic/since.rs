//! Since when a label's requests take another time: a lasting change of the time of a request, in which parts of it.
//!
//! Seconds. Times of each part of a label are looked at quarter hour by quarter hour, or in longer steps where requests
//! are few: what they took over what requests of their classes of work take on average, held against the same of the
//! other labels in the same steps, where these have such requests: what moves all labels is no change of one. Called a
//! change after Holm's correction over all parts of all labels, in five of a hundred healthy sets of logs at most, and
//! only of a size that matters. Not looked at: failures of the server (5xx), sides of a cut, and more than
//! [`MOST_SERIES`] parts, of which those with the most time are.

use std::collections::{BTreeMap, BTreeSet};

use model::Finding;
use model::doc::VerdictWord;
use model::finding::{Changed, LogsSince, Subject};
use model::traffic::{Cell, ServerGroup};
use stats::{Chance, Change, Margin, Rng};

use super::days::QUARTER;
use super::draft::{self, resamples};
use super::parts::{self, Cells, Named};

/// Parts that are looked at: no p is too large for so many.
const MOST_SERIES: usize = 64;
/// Fewest requests of a step of which a mean time says something, and the part of the steps that must have so many.
const REQUESTS: u64 = 5;
const ENOUGH: f64 = 0.8;
/// The least change beside other labels, and of a label alone, whose load may have changed: the factor, and what its
/// interval reaches to at least.
const BESIDE: (f64, f64) = (1.25, 1.1);
const ALONE: (f64, f64) = (1.5, 1.25);
/// Changes of parts within so many seconds are one.
const SAME: f64 = 3600.0;

/// Seconds that requests took, and those that such requests take on average, by step.
#[derive(Clone, Copy, Default)]
struct Step {
    requests: u64,
    seconds: f64,
    expected: f64,
}

impl Step {
    fn level(&self) -> Option<f64> {
        let level = (self.seconds / self.expected).ln();
        (self.requests >= REQUESTS && level.is_finite()).then_some(level)
    }
}

type Steps = BTreeMap<u64, Step>;

/// One part of one label.
struct Part<'a> {
    group: &'a ServerGroup,
    name: &'a str,
    cells: &'a Cells,
    seconds: f64,
}

/// A change of a part, by seconds since 1970.
struct Found<'a> {
    part: &'a Part<'a>,
    at: f64,
    change: Change,
    is_alone: bool,
    /// Labels beside it that did not change then.
    steady: Vec<&'a str>,
}

/// The changes of all labels.
pub(super) fn findings(groups: &[ServerGroup], margin: Margin, seed: u64) -> Vec<Finding> {
    let named: Vec<(&ServerGroup, Named)> =
        groups.iter().map(|group| (group, parts_of(group, groups))).collect();
    let mut parts: Vec<Part<'_>> = named.iter().flat_map(|(group, named)| each(group, named)).collect();
    parts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    parts.truncate(MOST_SERIES);
    let mut chance = Chance::new(seed);
    let all: Vec<Option<Found<'_>>> =
        parts.iter().map(|part| look(part, &named, &mut chance, seed)).collect();
    let p: Vec<Option<f64>> = all.iter().map(|found| found.as_ref().map(|found| found.change.p)).collect();
    // What has no step was looked at too.
    let corrected = stats::holm(&p.iter().map(|p| Some(p.unwrap_or(1.0))).collect::<Vec<_>>());
    let is_clear = |p: Option<f64>| p.is_some_and(|p| p <= stats::ALPHA);
    let clear = all.into_iter().zip(corrected).filter(|(_, p)| is_clear(*p)).filter_map(|(found, _)| found);
    told(clear.filter(is_large).collect(), groups, margin, seed)
}

/// The folders of a label, where all have them; else all its requests together, under no name.
fn parts_of(group: &ServerGroup, groups: &[ServerGroup]) -> Named {
    let has_folders = groups.iter().all(|one| !one.folders.is_empty() && one.has_routes == group.has_routes);
    match has_folders {
        true => group.folders.clone(),
        false => Named::from([(String::new(), group.cells.clone())]),
    }
}

fn each<'a>(group: &'a ServerGroup, named: &'a Named) -> impl Iterator<Item = Part<'a>> {
    named.iter().map(move |(name, cells)| {
        let seconds = good(cells).map(|(_, cell)| cell.seconds).sum();
        Part { group, name, cells, seconds }
    })
}

fn good(cells: &Cells) -> impl Iterator<Item = (&(u64, u32), &Cell)> {
    cells.iter().filter(|((_, class), _)| draft::is_good(*class))
}

/// The seconds of a label's cells by step of so many quarter hours.
fn steps(cells: &Cells, quarters: u64) -> Steps {
    let mut means: BTreeMap<u32, Cell> = BTreeMap::new();
    good(cells).for_each(|((_, class), cell)| means.entry(*class).or_default().add(cell));
    let mut all = Steps::new();
    for ((block, class), cell) in good(cells) {
        let step = all.entry(block / quarters).or_default();
        let mean = means.get(class).and_then(Cell::time_mean).unwrap_or(0.0);
        step.requests += cell.requests;
        step.seconds += cell.seconds;
        step.expected += mean * cell.requests as f64;
    }
    all
}

/// Levels by step of the finest length in which most steps have requests enough; none where there is none.
fn levels(cells: &Cells, others: &[&Cells]) -> Option<(u64, BTreeMap<u64, f64>)> {
    (0..10).map(|power| 1u64 << power).find_map(|quarters| {
        let own = steps(cells, quarters);
        let mut beside: Option<Steps> = None;
        for cells in others {
            let all = beside.get_or_insert_with(Steps::new);
            for (at, step) in steps(cells, quarters) {
                let sum = all.entry(at).or_default();
                sum.requests += step.requests;
                sum.seconds += step.seconds;
                sum.expected += step.expected;
            }
        }
        let level = |(at, step): (&u64, &Step)| {
            let of_others = match &beside {
                Some(beside) => beside.get(at)?.level()?,
                None => 0.0,
            };
            Some((*at, step.level()? - of_others))
        };
        let levels: BTreeMap<u64, f64> = own.iter().filter_map(level).collect();
        let are_enough = levels.len() >= stats::change::LEAST_OF_ALL
            && levels.len() <= stats::change::MOST
            && levels.len() as f64 >= ENOUGH * own.len() as f64;
        are_enough.then_some((quarters, levels))
    })
}

/// The change of a part, if it has a step, held against the other labels where they served such requests meanwhile.
fn look<'a>(
    part: &'a Part<'a>,
    named: &'a [(&'a ServerGroup, Named)],
    chance: &mut Chance,
    seed: u64,
) -> Option<Found<'a>> {
    let of_others = named.iter().filter(|(group, _)| group.label != part.group.label);
    let beside: Vec<(&str, &Cells)> =
        of_others.filter_map(|(group, named)| Some((group.label.as_str(), named.get(part.name)?))).collect();
    let others: Vec<&Cells> = beside.iter().map(|(_, cells)| *cells).collect();
    let (found, beside) = match levels(part.cells, &others) {
        Some(found) => (found, beside),
        None => (levels(part.cells, &[])?, Vec::new()),
    };
    let (quarters, levels) = found;
    let mut rng = Rng::derive(seed, &format!("since {}\0{}", part.group.label, part.name));
    let values: Vec<f64> = levels.values().copied().collect();
    let change = stats::change(&values, chance, &mut rng).ok().flatten()?;
    let first = *levels.keys().nth(change.first)?;
    // Of two that are held against each other, the one that changed itself.
    let moved = |cells: &Cells| moved(&steps(cells, quarters), first);
    let own = moved(part.cells)?;
    let others: Vec<(&str, Option<f64>)> =
        beside.iter().map(|(label, cells)| (*label, moved(cells).map(f64::abs))).collect();
    let is_own = others.iter().all(|(_, other)| other.is_none_or(|other| other < own.abs()));
    let has_own_way = own * change.shift > 0.0;
    let at = (first * quarters) as f64 * QUARTER as f64;
    let is_steady = |other: Option<f64>| other.is_some_and(|other| other < f64::ln(BESIDE.1));
    let steady = others.iter().filter(|(_, other)| is_steady(*other)).map(|(label, _)| *label).collect();
    (is_own && has_own_way).then_some(Found { part, at, change, is_alone: beside.is_empty(), steady })
}

/// By how much a label's own level moved at a step.
fn moved(steps: &Steps, first: u64) -> Option<f64> {
    let median = |is_after: bool| {
        let of = steps.iter().filter(|(at, _)| (**at >= first) == is_after);
        stats::median(&of.filter_map(|(_, step)| step.level()).collect::<Vec<_>>())
    };
    Some(median(true)? - median(false)?)
}

fn is_large(found: &Found<'_>) -> bool {
    let (factor, least) = if found.is_alone { ALONE } else { BESIDE };
    let interval = found.change.interval;
    let nearest = if found.change.shift > 0.0 { interval.low } else { -interval.high };
    found.change.shift.abs() >= f64::ln(factor) && nearest >= f64::ln(least)
}

/// Changes of one label at one moment in one way are one finding; the one that costs most first.
fn told(mut all: Vec<Found<'_>>, groups: &[ServerGroup], margin: Margin, seed: u64) -> Vec<Finding> {
    let mut out = Vec::new();
    while !all.is_empty() {
        let first = all.remove(0);
        let is_same = |other: &Found<'_>| {
            other.part.group.label == first.part.group.label
                && (other.at - first.at).abs() <= SAME
                && other.change.shift * first.change.shift > 0.0
        };
        let (same, rest): (Vec<Found<'_>>, Vec<Found<'_>>) = all.into_iter().partition(is_same);
        all = rest;
        out.push(one(&first, &same, groups, margin, seed));
    }
    out
}

fn one(first: &Found<'_>, same: &[Found<'_>], groups: &[ServerGroup], margin: Margin, seed: u64) -> Finding {
    let group = first.part.group;
    let changed = |found: &Found<'_>| {
        let interval = found.change.interval.exp();
        let (name, ratio) = (found.part.name.to_owned(), found.change.shift.exp());
        Changed { name, ratio, low: interval.low, high: interval.high }
    };
    let blocks: BTreeSet<u64> = group.cells.keys().map(|(block, _)| *block).collect();
    let span = blocks.first().zip(blocks.last()).map_or(0, |(first, last)| last + 1 - first);
    let since = LogsSince {
        label: group.label.clone(),
        at: first.at,
        zone: group.zone as f64,
        span: span as f64 * QUARTER as f64,
        parts: std::iter::once(first).chain(same).map(changed).collect(),
        steady: first.steady.iter().map(|label| (*label).to_owned()).collect(),
        before: before(first, groups, margin, seed),
    };
    Finding::new(since).about(Subject::label(&group.label))
}

/// How the part compared before with that of the only label that did not change.
fn before(found: &Found<'_>, groups: &[ServerGroup], margin: Margin, seed: u64) -> Option<VerdictWord> {
    let [only] = found.steady.as_slice() else { return None };
    let other = groups.iter().find(|group| group.label == *only)?;
    let named = parts_of(other, groups);
    let earlier = |cells: &Cells| -> Cells {
        let is_earlier = |block: u64| (block as f64 * QUARTER as f64) < found.at;
        cells.iter().filter(|((block, _), _)| is_earlier(*block)).map(|(at, cell)| (*at, *cell)).collect()
    };
    let rng = resamples(seed, &found.part.group.label, &other.label);
    let of = (earlier(found.part.cells), earlier(named.get(found.part.name)?));
    parts::row_of((found.part.group, &of.0), (other, &of.1), margin, &rng).map(|row| row.verdict)
}

#[cfg(test)]
mod tests {
    use model::finding::Rule;

    use super::*;

    /// Two days of quarter hours from midnight on, slower by day, in three folders whose requests take times as unlike
    /// as those of real ones; `by` multiplies the times of a folder in a quarter hour.
    fn served(label: &str, seed: u64, by: impl Fn(&str, u64) -> f64) -> ServerGroup {
        let mut rng = Rng::new(seed);
        let mut group = ServerGroup { label: label.to_owned(), has_routes: true, ..ServerGroup::default() };
        for block in 0..192u64 {
            let day = 1.0 + 0.1 * (block as f64 / 96.0 * std::f64::consts::TAU).sin();
            for (name, class, time) in [("/item/", 3, 0.02), ("/search/", 4, 0.05), ("/", 3, 0.004)] {
                let requests = 8 + rng.below(40) as u64;
                let seconds: f64 = (0..requests).map(|_| time * day * (0.6 * rng.normal()).exp()).sum();
                let cell =
                    Cell { requests, bytes: 1e4 * requests as f64, seconds: seconds * by(name, block) };
                group.folders.entry(name.to_owned()).or_default().insert((block, class), cell);
                group.cells.entry((block, class)).or_default().add(&cell);
                group.requests += requests;
                group.seconds += cell.seconds;
            }
        }
        group
    }

    fn found(groups: &[ServerGroup]) -> Vec<LogsSince> {
        let of = |finding: Finding| match finding.rule {
            Rule::LogsSince(since) => Some(since),
            _ => None,
        };
        findings(groups, Margin::MACHINES, 1).into_iter().filter_map(of).collect()
    }

    /// From 22:30 of the first day on.
    const SINCE: u64 = 90;

    fn slower(times: f64) -> impl Fn(&str, u64) -> f64 {
        move |name, block| if name == "/search/" && block >= SINCE { times } else { 1.0 }
    }

    #[test]
    fn a_folder_that_became_slow_is_told_with_its_moment() {
        let all = found(&[served("web1", 1, |_, _| 1.0), served("web2", 2, slower(5.0))]);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(
            (one.label.as_str(), one.at, one.steady.as_slice()),
            ("web2", 81_000.0, &["web1".to_owned()][..])
        );
        assert_eq!(one.before, Some(VerdictWord::Tie));
        let [part] = one.parts.as_slice() else { panic!("{one:?}") };
        assert!(part.name == "/search/" && part.low < 5.0 && 5.0 < part.high && part.low > 4.5, "{part:?}");
    }

    #[test]
    fn a_label_that_became_fast_is_told_too_and_in_one_finding() {
        let all = found(&[
            served("a", 1, |_, block| if block < SINCE { 2.0 } else { 1.0 }),
            served("b", 2, |_, _| 1.0),
        ]);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert!(
            one.label == "a" && one.parts.len() == 3 && one.parts.iter().all(|part| part.high < 0.6),
            "{one:?}"
        );
    }

    #[test]
    fn one_log_alone_is_told_of_all_its_requests() {
        let alone = |times: f64| {
            let group = served("log", 3, move |_, block| if block >= SINCE { times } else { 1.0 });
            found(&[ServerGroup { folders: Named::new(), zone: 3600, ..group }])
        };
        let all = alone(3.0);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert!(one.parts[0].name.is_empty() && one.steady.is_empty() && one.before.is_none(), "{one:?}");
        assert_eq!(one.given().unwrap(), "1970-01-01T23:30");
        // The hours of the day alone are none, nor is what a change of load may make.
        assert_eq!((alone(1.0), alone(1.2)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_slows_all_labels_is_no_change_of_one() {
        assert_eq!(found(&[served("a", 1, slower(3.0)), served("b", 2, slower(3.0))]), Vec::new());
    }

    #[test]
    fn what_ended_is_not_told() {
        let episode =
            |name: &str, block: u64| if name == "/" && (60..120).contains(&block) { 4.0 } else { 1.0 };
        assert_eq!(found(&[served("a", 1, |_, _| 1.0), served("b", 2, episode)]), Vec::new());
    }

    #[test]
    fn healthy_logs_are_not_called_changed() {
        let told = (0..40).filter(|seed| {
            let of = |label, seed| served(label, seed, |_, _| 1.0);
            !found(&[of("a", 2 * seed + 100), of("b", 2 * seed + 101)]).is_empty()
        });
        assert_eq!(told.count(), 0);
    }

    #[test]
    fn short_and_empty_logs_have_none() {
        let mut short = served("a", 1, |_, _| 1.0);
        for cells in short.folders.values_mut() {
            cells.retain(|(block, _), _| *block < 12);
        }
        assert_eq!(found(&[short, ServerGroup::default()]), Vec::new());
    }
}
