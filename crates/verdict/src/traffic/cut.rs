//! Comparison of the requests that a group served before a moment with those that it served from then on.
//!
//! The two sides share no time. Requests are compared by class of size and hour of the day where both sides served the
//! same hours of the day, else by class of size alone; the interval draws blocks of time of each side by itself
//! ([`stats::apart()`]). Always said: time is confounded with whatever else changed. Not undone: weekdays.

use std::collections::{BTreeMap, BTreeSet};

use model::Finding;
use model::finding::{AskerTimes, LogsCompared, Subject, TimeBlocks};
pub use model::traffic::Bucket;
use model::why::Blocks;
use stats::{Margin, Part, Rng, Stratified, Sums};

use model::traffic::{Cell, CutSide, MOST_CLASSES, ServerGroup};

use super::days::{self, DayParts, QUARTER};
use super::draft::{self, Concluded, Draft, Judgement, Pair, RESAMPLES, drawn, finished, resamples};
use super::parts::Pairing;
use super::{failed, fair, parts};
use crate::compare::why::no_interval;

/// One side of the moment.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its cells are looked at where they tell bots from people and blocks are whole quarter hours, its hours never.
    pub group: &'a ServerGroup,
    pub cut: &'a CutSide,
}

/// How the two sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// Seconds of a block of time, which the interval draws.
    pub block: i64,
    /// Seconds of the parts of the day that are compared with their like; none: by class of size alone.
    pub of_day: Option<i64>,
    /// The parts of the day are the blocks, each side's beside the other's: one side has too few days to draw from.
    pub is_matched: bool,
}

/// Lengths of blocks in seconds, longest first.
const BLOCKS: [i64; 9] = [86_400, 21_600, 3600, 900, 300, 60, 15, 5, 1];
/// Blocks that the shorter side has at least, where its buckets are short enough.
const LEAST_BLOCKS: usize = 24;
/// Less than this share of all requests at hours of the day that both served: hours of the day are not compared.
const SHARED: f64 = 0.8;
const DAY: i64 = 86_400;
const HOUR: i64 = 3600;
/// With fewer days on a side, an hour of the day is there too few times to be drawn by itself.
const LEAST_DAYS: f64 = 2.0;
/// Requests a second that differ by this factor are unlike load.
const RATES: f64 = 1.2;

/// The blocks and the classes that the sides allow.
pub fn how(before: &CutSide, after: &CutSide) -> How {
    let finest = before.step.max(after.step).max(1);
    let count = |side: &CutSide, block: i64| {
        side.buckets.iter().map(|bucket| bucket.at.div_euclid(block)).collect::<BTreeSet<_>>().len()
    };
    let enough =
        |block: &&i64| **block >= finest && count(before, **block).min(count(after, **block)) >= LEAST_BLOCKS;
    let block = BLOCKS.iter().find(enough).copied().unwrap_or(finest);
    let part = finest.max(HOUR);
    let of_day = (part < DAY && shared_day(before, after, part) >= SHARED).then_some(part);
    if of_day.is_some() && before.seconds().min(after.seconds()) < LEAST_DAYS * DAY as f64 {
        let fine = finest.max(QUARTER);
        let count = parts_of_day(before, fine).len().min(parts_of_day(after, fine).len());
        if shared_day(before, after, fine) >= SHARED && count >= LEAST_BLOCKS {
            return How { block: fine, of_day: Some(fine), is_matched: true };
        }
        return How { block, of_day: None, is_matched: false };
    }
    How { block, of_day, is_matched: false }
}

/// Requests by part of the day.
fn parts_of_day(side: &CutSide, part: i64) -> BTreeMap<i64, u64> {
    let mut all: BTreeMap<i64, u64> = BTreeMap::new();
    for bucket in &side.buckets {
        let requests: u64 = bucket.cells.values().map(|cell| cell.requests).sum();
        *all.entry(bucket.local.rem_euclid(DAY).div_euclid(part)).or_default() += requests;
    }
    all
}

/// Share of all requests at parts of the day that both sides served.
fn shared_day(before: &CutSide, after: &CutSide, part: i64) -> f64 {
    let (one, other) = (parts_of_day(before, part), parts_of_day(after, part));
    let both = |mine: &BTreeMap<i64, u64>, theirs: &BTreeMap<i64, u64>| {
        mine.iter().filter(|(part, _)| theirs.contains_key(part)).map(|(_, count)| count).sum::<u64>()
    };
    let all: u64 = one.values().chain(other.values()).sum();
    (both(&one, &other) + both(&other, &one)) as f64 / all.max(1) as f64
}

fn sums(side: &CutSide, how: How, is_compared: fn(u32) -> bool, work: fn(&Cell) -> f64) -> Vec<Part> {
    let mut all: BTreeMap<(i64, u32), Sums> = BTreeMap::new();
    for bucket in &side.buckets {
        let part = how.of_day.map_or(0, |part| bucket.local.rem_euclid(DAY).div_euclid(part));
        let (block, part) = (bucket.at.div_euclid(how.block), u32::try_from(part).unwrap_or(0));
        for (class, cell) in bucket.cells.iter().filter(|(class, _)| is_compared(**class)) {
            let sums = all.entry((block, part * MOST_CLASSES + class)).or_default();
            sums.work += work(cell);
            sums.cost += cell.seconds;
        }
    }
    let part = |((block, class), sums)| Part { block: u64::try_from(block).unwrap_or(0), class, sums };
    all.into_iter().map(part).collect()
}

/// Both sides by part of the day, where these are what is drawn: bots beside bots, where both sides tell them apart.
pub(super) fn by_day(arm: Side<'_>, base: Side<'_>, how: How) -> Option<[ServerGroup; 2]> {
    let are_bots_apart = how.block == QUARTER && tell_bots(arm, base);
    let group = |side: Side<'_>| DayParts::by_clock(side.cut, how.block).group(side, are_bots_apart);
    how.is_matched.then(|| [group(arm), group(base)])
}

fn tell_bots(arm: Side<'_>, base: Side<'_>) -> bool {
    [arm, base].iter().all(|side| !side.group.cells.is_empty() && side.group.tells_bots())
}

/// Both sides with bots in classes of their own, where both tell them apart and blocks of time of each side are drawn
/// that are whole quarter hours.
fn parted(arm: Side<'_>, base: Side<'_>, how: How) -> Option<[CutSide; 2]> {
    let is_of_quarters = how.block >= QUARTER && how.block % QUARTER == 0;
    if how.is_matched || !is_of_quarters || !tell_bots(arm, base) {
        return None;
    }
    Some([days::with_bots(arm)?, days::with_bots(base)?])
}

/// Times of people and of bots of two sides that tell them apart, blocks of each side drawn by itself.
fn of_askers(
    (arm, base): (Side<'_>, Side<'_>),
    how: How,
    (margin, rng): (Margin, &Rng),
) -> Option<AskerTimes> {
    let work = |cell: &Cell| cell.requests as f64;
    let sides = [false, true].map(|are_bots| {
        [arm, base].map(|side| {
            let own = days::of_asker(side.cut, are_bots);
            let cells = || own.buckets.iter().flat_map(|bucket| bucket.cells.values());
            let group = ServerGroup {
                label: side.group.label.clone(),
                time_step: side.group.time_step,
                requests: cells().map(|cell| cell.requests).sum(),
                seconds: cells().map(|cell| cell.seconds).sum(),
                ..ServerGroup::default()
            };
            (group, sums(&own, how, draft::is_good, work))
        })
    });
    let why = |unfit: stats::Unfit| no_interval(Some(Blocks::Seconds(how.block as f64)), &unfit);
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    for [(arm, of_arm), (base, of_base)] in &sides {
        let found = stats::apart(of_arm, of_base, RESAMPLES, &mut rng.clone());
        drafts.push(Draft::time(arm, base, found.map_err(why)));
    }
    let mut times = finished(&drafts, margin).into_iter().map(|one| parts::part_time(&one.row));
    Some(AskerTimes { people: times.next()?, bots: times.next()? })
}

/// Compares each pair of sides, before and after; `seed` draws the resamples.
pub fn judge(pairs: &[(Side<'_>, Side<'_>)], margin: Margin, seed: u64) -> Judgement {
    let mut all = Judgement::default();
    for (before, after) in pairs {
        let rng = resamples(seed, &after.group.label, &before.group.label);
        let found = pair(*after, *before, margin, &rng);
        all.rows.extend(found.rows.into_iter().map(|one| one.row));
        all.findings.extend(found.findings);
    }
    all
}

/// Compares two sides, as [`judge`] does; either may be the earlier one.
pub(crate) fn pair(arm: Side<'_>, base: Side<'_>, margin: Margin, rng: &Rng) -> Pair {
    let mut findings: Vec<Finding> =
        [base, arm].into_iter().filter_map(|side| fair::means(side.group)).collect();
    let rows = two(arm, base, margin, rng, &mut findings);
    Pair { rows, findings }
}

/// Speed, time and failures of two sides.
pub(super) fn two(
    arm: Side<'_>,
    base: Side<'_>,
    margin: Margin,
    rng: &Rng,
    findings: &mut Vec<Finding>,
) -> Vec<Concluded> {
    let how = how(base.cut, arm.cut);
    let by_day = by_day(arm, base, how);
    let parted = parted(arm, base, how);
    let (arm, base) = match &parted {
        Some([of_arm, of_base]) => (Side { cut: of_arm, ..arm }, Side { cut: of_base, ..base }),
        None => (arm, base),
    };
    let askers = match (&by_day, &parted) {
        (Some([arm, base]), _) if fair::are_bots_among_people(arm, base) => {
            parts::of_askers(arm, base, margin, rng)
        }
        (None, Some(_)) if fair::are_bots_among_people(arm.group, base.group) => {
            of_askers((arm, base), how, (margin, rng))
        }
        _ => None,
    };
    let drafts = both((arm, base), (how, by_day.as_ref()), (askers, rng), findings);
    let mut rows = finished(&drafts, margin);
    findings.extend(match &by_day {
        Some([arm, base]) => parts::finding((arm, base), &Pairing::Shared, margin, rng),
        None => Pairing::apart(arm.cut, base.cut, how)
            .and_then(|apart| parts::finding((arm.group, base.group), &apart, margin, rng)),
    });
    let of = |side: Side<'_>| {
        let mut counts = failed::Counts::new();
        for bucket in &side.cut.buckets {
            // Failures of one time of the day stand beside what the other side served at it.
            let at = if how.is_matched { bucket.local.rem_euclid(DAY) } else { bucket.at };
            let block = at.div_euclid(QUARTER.max(side.cut.step));
            bucket.cells.iter().for_each(|(class, cell)| failed::count(&mut counts, block, *class, cell));
        }
        counts
    };
    let (of_arm, of_base) = (of(arm), of(base));
    rows.extend(failed::row((&arm.group.label, &of_arm), (&base.group.label, &of_base), margin));
    rows
}

/// On speed and on time.
fn both<'a>(
    (arm, base): (Side<'a>, Side<'a>),
    (how, by_day): (How, Option<&[ServerGroup; 2]>),
    (askers, rng): (Option<AskerTimes>, &Rng),
    findings: &mut Vec<Finding>,
) -> [Draft<'a>; 2] {
    drawn();
    let buckets = || arm.cut.buckets.iter().chain(&base.cut.buckets);
    let is_compared = draft::compared(buckets().flat_map(|bucket| bucket.cells.keys()));
    let compared = |work: fn(&Cell) -> f64| {
        let side = |side: &CutSide| sums(side, how, is_compared, work);
        match by_day {
            Some([arm, base]) => {
                stats::stratified(&draft::strata(arm, base, work), RESAMPLES, &mut rng.clone())
            }
            None => stats::apart(&side(arm.cut), &side(base.cut), RESAMPLES, &mut rng.clone()),
        }
    };
    let (speed, time) = (compared(|cell| cell.bytes), compared(|cell| cell.requests as f64));
    let pair = Subject::groups(&arm.group.label, &base.group.label);
    let all = unlike((arm, base), how, speed.as_ref().ok(), askers);
    findings.extend(all.into_iter().map(|unlike| Finding::new(unlike).about(pair.clone())));
    let why = |unfit: stats::Unfit| no_interval(Some(Blocks::Seconds(how.block as f64)), &unfit);
    [
        Draft::speed(arm.group, base.group, speed.map_err(why)),
        Draft::time(arm.group, base.group, time.map_err(why)),
    ]
}

fn unlike(
    (arm, base): (Side<'_>, Side<'_>),
    how: How,
    found: Option<&Stratified>,
    askers: Option<AskerTimes>,
) -> Vec<LogsCompared> {
    let (before, after) = if arm.cut.first < base.cut.first { (arm, base) } else { (base, arm) };
    let all = [
        Some(confounded(before.cut, after.cut)),
        Some(compared(before.cut, after.cut, how)),
        rates(before, after),
        fair::sizes(arm.group, base.group),
        fair::statuses(arm.group, base.group),
        fair::failures(arm.group, base.group),
        fair::fresh(arm.group, base.group),
        fair::bots(arm.group, base.group, || askers),
        found.and_then(fair::shared),
        found.and_then(|found| fair::mixed(arm.group, base.group, found)),
        found.and_then(fair::halves),
    ];
    all.into_iter().flatten().collect()
}

/// Always true of before and after, however the figures came out.
fn confounded(before: &CutSide, after: &CutSide) -> LogsCompared {
    let (before_s, after_s) = (before.seconds(), after.seconds());
    LogsCompared::Confounded { before: before_s, after: after_s, labels: labels(before, after) }
}

/// The labels of two logs of which one follows the other; `None` of the sides of a cut.
fn labels(before: &CutSide, after: &CutSide) -> Option<[String; 2]> {
    (before.of != after.of).then(|| [before.of.clone(), after.of.clone()])
}

/// The same of one side by itself.
pub(super) fn alone(cut: &CutSide) -> LogsCompared {
    let (of, given) = (cut.of.clone(), cut.given.clone());
    LogsCompared::ConfoundedAlone { of, given, at: cut.at as f64, is_after: cut.is_after }
}

/// The finding that says how the two sides were compared.
fn compared(before: &CutSide, after: &CutSide, how: How) -> LogsCompared {
    let blocks = TimeBlocks { length: how.block, of_day: how.of_day, is_matched: how.is_matched };
    let (before_s, after_s) = (before.seconds(), after.seconds());
    LogsCompared::Cut { before: before_s, after: after_s, labels: labels(before, after), blocks }
}

/// Requests a second, since the sides are of unlike length.
fn rates(before: Side<'_>, after: Side<'_>) -> Option<LogsCompared> {
    let rate = |side: Side<'_>| side.group.requests as f64 / side.cut.seconds();
    let labels = labels(before.cut, after.cut);
    let (before, after) = (rate(before), rate(after));
    let factor = after / before;
    if !factor.is_finite() || (1.0 / RATES..=RATES).contains(&factor) {
        return None;
    }
    Some(LogsCompared::RequestRates { before, after, labels })
}

#[cfg(test)]
mod tests {
    use model::Validity;
    use model::doc::VerdictWord;

    use model::traffic::{FAILED, StatusClass, work_class};

    use super::super::SPEED;
    use super::*;

    /// A side from `from` on; `us` is the time of a request of 1000 bytes at an hour of the day.
    fn side(
        label: &str,
        from: i64,
        buckets: i64,
        step: i64,
        us: impl Fn(i64) -> f64,
    ) -> (ServerGroup, CutSide) {
        let mut rng = Rng::new(from.unsigned_abs());
        let mut group = ServerGroup { label: label.to_owned(), ..ServerGroup::default() };
        let mut cut = CutSide { first: from, last: from + buckets * step - 1, step, ..CutSide::default() };
        for at in (0..buckets).map(|n| from + n * step) {
            let requests = 50;
            let time = us(at.rem_euclid(DAY) / HOUR) * (0.05 * rng.normal()).exp() / 1e6;
            let cell = Cell { requests, bytes: 1000.0 * requests as f64, seconds: time * requests as f64 };
            group.requests += requests;
            group.bytes += cell.bytes;
            group.seconds += cell.seconds;
            group.statuses = BTreeMap::from([(200, group.requests)]);
            cut.buckets.push(Bucket { at, local: at, cells: BTreeMap::from([(2, cell)]) });
        }
        (group, cut)
    }

    fn of((group, cut): &(ServerGroup, CutSide)) -> Side<'_> {
        Side { group, cut }
    }

    fn judged(before: &(ServerGroup, CutSide), after: &(ServerGroup, CutSide)) -> Judgement {
        judge(&[(of(before), of(after))], Margin::MACHINES, 1)
    }

    const T: i64 = 1_700_006_400;

    fn speed(all: &Judgement) -> &model::doc::RowDoc {
        all.rows.iter().find(|row| row.metric == SPEED).unwrap()
    }

    fn kinds(all: &Judgement) -> Vec<&str> {
        all.findings.iter().map(|finding| finding.kind()).collect()
    }

    #[test]
    fn hours_of_the_day_are_compared_with_their_like() {
        // Nights are three times as slow; the later side has more nights.
        let slow = |factor: f64| move |hour: i64| factor * if hour < 8 { 3000.0 } else { 1000.0 };
        let before = side("before", T + 8 * HOUR, 48 * 4, 900, slow(1.0));
        let after = side("after", T + 56 * HOUR, 56 * 4, 900, slow(0.5));
        let all = judged(&before, &after);
        let row = speed(&all);
        assert_eq!(row.verdict, VerdictWord::Better, "{row:?}");
        assert!((1.9..2.1).contains(&row.ratio.unwrap()), "{row:?}");
        assert_eq!((row.arm.as_str(), row.base.as_str()), ("after", "before"));
        assert_eq!(how(&before.1, &after.1), How { block: HOUR, of_day: Some(HOUR), is_matched: false });
        assert_eq!(kinds(&all)[..2], ["time-confounded", "cut-blocks"]);
        assert!(!kinds(&all).contains(&"hours"), "{:?}", kinds(&all));
    }

    #[test]
    fn a_short_log_is_compared_by_size_alone() {
        let before = side("before", T, 1800, 1, |_| 1000.0);
        let after = side("after", T + 12 * HOUR, 900, 1, |_| 700.0);
        assert_eq!(how(&before.1, &after.1), How { block: 15, of_day: None, is_matched: false });
        let all = judged(&before, &after);
        assert_eq!(speed(&all).verdict, VerdictWord::Better, "{:?}", speed(&all));
        let cut = &all.findings[1];
        assert!(
            cut.state == Validity::Doubtful
                && cut.text().contains("one class of size are compared, whatever"),
            "{cut:?}"
        );
        assert!(cut.text().contains("spans of 15 s"), "{cut:?}");
    }

    #[test]
    fn a_day_beside_a_day_is_matched_by_the_time_of_day() {
        let slow = |factor: f64| move |hour: i64| factor * if hour < 8 { 3000.0 } else { 1000.0 };
        let (before, after) = (side("b", T, 288, 300, slow(1.0)), side("a", T + DAY, 288, 300, slow(0.5)));
        assert_eq!(how(&before.1, &after.1), How { block: 900, of_day: Some(900), is_matched: true });
        let all = judged(&before, &after);
        assert_eq!(speed(&all).verdict, VerdictWord::Better, "{:?}", speed(&all));
        let says = "how days differ is not in the interval: ";
        assert!(all.findings[1].text().starts_with(says), "{:?}", all.findings[1]);
    }

    #[test]
    fn bots_of_several_days_stand_beside_bots() {
        // Bots take ten times as long, and ask for more of the later days.
        let of_days = |label: &str, from: i64, bots: u64| {
            let (mut group, mut cut) = side(label, from, 3 * 96, 900, |_| 1e3);
            let of_bots = Cell { requests: bots, bytes: 1e3 * bots as f64, seconds: 1e-2 * bots as f64 };
            for bucket in &mut cut.buckets {
                let block = u64::try_from(bucket.at / 900).unwrap();
                let cell = bucket.cells.get_mut(&2).unwrap();
                group.cells.insert((block, 2), *cell);
                group.cells.insert((block, model::traffic::of_bots(2)), of_bots);
                cell.add(&of_bots);
                group.requests += bots;
                group.bytes += of_bots.bytes;
                group.seconds += of_bots.seconds;
                group.bots = Some(group.bots.unwrap_or(0) + bots);
            }
            (group, cut)
        };
        let (before, after) = (of_days("b", T, 5), of_days("a", T + 3 * DAY, 50));
        assert_eq!(how(&before.1, &after.1), How { block: HOUR, of_day: Some(HOUR), is_matched: false });
        let all = judged(&before, &after);
        assert_eq!(speed(&all).verdict, VerdictWord::Tie, "{:?}", speed(&all));
        let bots = all.findings.iter().find(|finding| finding.kind() == "bots").unwrap();
        let says = "people and bots are compared each with their like: times of people: ";
        assert!(bots.text().starts_with(says) && bots.state == Validity::Ok, "{bots:?}");
        // Where a log does not tell them apart, they count as one.
        let mut joined = before.clone();
        joined.0.join_bots();
        let all = judged(&joined, &after);
        assert_eq!(speed(&all).verdict, VerdictWord::Worse, "{:?}", speed(&all));
    }

    #[test]
    fn failures_stand_beside_the_same_time_of_the_other_day() {
        let mut after = side("a", T + DAY, 96, 900, |_| 1e3);
        for bucket in &mut after.1.buckets[36..38] {
            let failed = Cell { requests: 13, bytes: 0.0, seconds: 0.0 };
            bucket.cells.insert(work_class(StatusClass::Server, Some(0)), failed);
        }
        let all = judged(&side("b", T, 96, 900, |_| 1e3), &after);
        let row = all.rows.iter().find(|row| row.metric == FAILED).unwrap();
        let says = "in them 26 of 126 requests failed against 0 of 100";
        assert!(row.verdict == VerdictWord::Worse && row.why.to_string().ends_with(says), "{row:?}");
    }

    #[test]
    fn an_hour_cut_in_two_has_no_hours_of_the_day() {
        let (before, after) = (side("b", T, 1800, 1, |_| 1e3), side("a", T + 1800, 1800, 1, |_| 1e3));
        assert_eq!(how(&before.1, &after.1), How { block: 60, of_day: None, is_matched: false });
        assert_eq!(speed(&judged(&before, &after)).verdict, VerdictWord::Tie);
    }

    #[test]
    fn nothing_changed_is_not_better() {
        let all = judged(&side("b", T, 960, 900, |_| 1e3), &side("a", T + 960 * 900, 960, 900, |_| 1e3));
        assert_eq!(speed(&all).verdict, VerdictWord::Tie, "{:?}", speed(&all));
        assert_eq!(kinds(&all), ["time-confounded", "cut-blocks"]);
    }

    #[test]
    fn the_later_side_may_be_the_base() {
        let (before, after) = (side("b", T, 1800, 1, |_| 1e3), side("a", T + 1800, 900, 1, |_| 500.0));
        let turned = pair(of(&before), of(&after), Margin::MACHINES, &Rng::new(1));
        let row = &turned.rows[0].row;
        assert_eq!((row.arm.as_str(), row.base.as_str(), row.verdict), ("b", "a", VerdictWord::Worse));
        assert!((0.45..0.55).contains(&row.ratio.unwrap()), "{row:?}");
        assert!(
            turned.findings[1]
                .text()
                .starts_with("the hour of the day is in the difference: 30 min before and 15 min after;"),
            "{:?}",
            turned.findings
        );
    }

    #[test]
    fn one_side_alone_is_said_to_be_one() {
        let (_, mut cut) = side("after", T, 4, 900, |_| 1e3);
        (cut.of, cut.given, cut.is_after) = ("log".into(), "2010-05-02 12:00".into(), true);
        let finding = Finding::new(alone(&cut));
        assert_eq!((finding.kind(), finding.state), ("time-confounded", Validity::Doubtful));
        let text = finding.text();
        assert!(text.starts_with("beside the other side, whatever else changed meanwhile ("), "{text}");
        let says = "too: log was cut at 2010-05-02 12:00, and this is what was served from then on";
        assert!(text.ends_with(says), "{text}");
    }

    #[test]
    fn too_few_blocks_are_no_verdict() {
        let all = judged(&side("b", T, 4, 900, |_| 1e3), &side("a", T + 3600, 96, 900, |_| 1e3));
        let row = speed(&all);
        assert_eq!((row.verdict, row.ratio), (VerdictWord::CannotTell, None));
        assert!(row.why.to_string().contains("too few"), "{row:?}");
        let none = judged(&Default::default(), &Default::default());
        assert!(none.rows.iter().all(|row| row.verdict == VerdictWord::CannotTell));
    }
}
