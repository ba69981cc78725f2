//! Every pair of sides, row by row: how far apart, how sure, and the verdict after Holm's correction.
//!
//! Log ratios arm / base. Headline rows of a pair are one family, all other rows another; points and refused rows are
//! in none.

use std::collections::{BTreeMap, BTreeSet};

use model::doc::{Noise, RowDoc};
use model::why::{Disturbance, Reason, Why, Withheld};
use model::{Better, Finding, Samples};
use stats::{Basis, Between, Effect, Held, Interval, Margin, Paired, Verdict};

use super::bound::Bound;
use super::clock::{self, Moved};
use super::matching::{Match, RowKey, all_published_for};
use super::prepare::{Entry, Prepared, Row, Said};
use super::served::{self, Served};
use super::step::{self, Raised};
use super::{CompareOptions, value, why};
use crate::noise;

/// One judged row of a pair of sides, with the effect that ranks and indexes are computed from.
pub struct Judged {
    pub row: RowDoc,
    pub key: RowKey,
    pub verdict: Verdict,
    pub effect: Option<Effect>,
}

/// The comparison of one row before any correction.
pub enum Found {
    Paired(Paired),
    Runs(Between),
    Point(Reason),
    Refused(Reason),
    Nothing(Reason),
}

/// All pairs of sides.
pub struct Pairs {
    size: usize,
    judged: Vec<Vec<Judged>>,
    /// Differences in the requests that the first side and the others served.
    pub unlike: Vec<Finding>,
}

impl Pairs {
    pub fn new(prepared: &[Prepared<'_>], served: &[Option<Served>], options: &CompareOptions) -> Pairs {
        let size = prepared.len();
        let variants = variants(prepared);
        let (mut judged, mut unlike) = (Vec::with_capacity(size * size), Vec::new());
        for arm in 0..size {
            for base in 0..size {
                let mut rows = Vec::new();
                if base < arm {
                    rows = pair(&prepared[arm], &prepared[base], &variants, options);
                    let side = |index: usize| (&prepared[index], served[index].as_ref());
                    let said = served::judge(&mut rows, side(arm), side(base), options);
                    unlike.extend(said.into_iter().filter(|_| base == 0));
                }
                judged.push(rows);
            }
        }
        Pairs { size, judged, unlike }
    }

    /// Rows of side `arm` against side `base`, which must come earlier.
    pub fn of(&self, arm: usize, base: usize) -> &[Judged] {
        self.judged.get(arm * self.size + base).map_or(&[], Vec::as_slice)
    }
}

/// The rows of one pair of sides, after Holm's correction.
pub fn pair(
    arm: &Prepared<'_>,
    base: &Prepared<'_>,
    variants: &BTreeSet<RowKey>,
    options: &CompareOptions,
) -> Vec<Judged> {
    let paired = paired_by_block(arm, base);
    let same = one_machine(arm, base);
    let margin = margin(paired && same, options);
    let rows = candidates(arm, base, variants, options);
    let speaks = |said: &Said<'_, '_>| matches!(said, Said::Measured(row) if row.speaking().is_ok());
    let is_judged = |row: &Candidate<'_, '_>| {
        row.0.samples(options.cards) == Samples::Takes && speaks(&row.3) && speaks(&row.4)
    };
    let family = |headline: bool| rows.iter().filter(|row| row.2 == headline && is_judged(row)).count();
    let sizes = BTreeMap::from([(true, family(true)), (false, family(false))]);
    let found: Vec<Found> = rows
        .iter()
        .map(|(key, _, headline, of_arm, of_base)| match (of_arm, of_base) {
            (Said::Measured(_), Said::Measured(_)) if key.samples(options.cards) == Samples::Periods => {
                Found::Nothing(Reason::Hours { judged_elsewhere: false })
            }
            (Said::Measured(a), Said::Measured(b)) => {
                let context = Context { arm, base, key, paired, family: sizes[headline], options };
                measured(&context, a, b)
            }
            (Said::Point(point), other) | (other, Said::Point(point)) => beside(point, other),
        })
        .collect();
    let p: Vec<Option<f64>> = found.iter().map(p_of).collect();
    let of_family = |headline: bool| -> Vec<Option<f64>> {
        stats::holm(&rows.iter().zip(&p).map(|(row, p)| p.filter(|_| row.2 == headline)).collect::<Vec<_>>())
    };
    let (heads, rest) = (of_family(true), of_family(false));
    let judged = rows.into_iter().zip(found).enumerate().map(|(i, (row, found))| {
        let p_holm = if row.2 { heads[i] } else { rest[i] };
        let family = sizes[&row.2];
        let mut held = surroundings(&row.3, &row.4, &found, same);
        held.bound = Bound::of((arm, &row.3), (base, &row.4));
        let raised = step::raised(margin, (arm, &row.3), (base, &row.4));
        let margin = raised.as_ref().map_or(margin, |raised| raised.margin);
        let mut judged = conclude(row, &found, &Corrected { p: p[i], p_holm, family, margin, raised }, &held);
        (judged.row.arm, judged.row.base) = (arm.side.name.clone(), base.side.name.clone());
        value::price(&mut judged.row, arm.side, base.side, options);
        judged
    });
    judged.collect()
}

/// A row before it is judged: its key, direction, whether it is a headline, and what the arm and the base say.
type Candidate<'p, 'a> = (RowKey, Better, bool, Said<'p, 'a>, Said<'p, 'a>);

/// Every row that both sides have, measured or published.
fn candidates<'p, 'a>(
    arm: &'p Prepared<'a>,
    base: &'p Prepared<'a>,
    variants: &BTreeSet<RowKey>,
    options: &CompareOptions,
) -> Vec<Candidate<'p, 'a>> {
    let mut rows: Vec<Candidate<'p, 'a>> = Vec::new();
    for key in keys(arm, base) {
        let Some(better) = base.better(&key).or_else(|| arm.better(&key)) else { continue };
        if variants.contains(&key) {
            rows.extend(each_variant(arm, base, &key, better));
            continue;
        }
        let (Some(of_arm), Some(of_base)) = (arm.says(&key, better), base.says(&key, better)) else {
            continue;
        };
        let headline = [&of_arm, &of_base].iter().all(|said| match said {
            Said::Measured(row) => row.headline,
            Said::Point(_) => true,
        });
        rows.push((key, better, headline, of_arm, of_base));
    }
    if !options.all {
        one_for_each_point(&mut rows, options);
    }
    rows
}

/// Rows beside which some published machine has several figures, told apart by what only it states.
fn variants(prepared: &[Prepared<'_>]) -> BTreeSet<RowKey> {
    let several = |key: &RowKey, better: Better| {
        prepared.iter().any(|side| {
            !side.rows.contains_key(key) && all_published_for(key, better, &side.side.published).len() > 1
        })
    };
    let rows = prepared.iter().flat_map(|side| &side.rows);
    rows.filter(|(key, row)| several(key, row.better)).map(|(key, _)| key.clone()).collect()
}

/// A measured row beside each of the published figures that fit it equally, as a row of its own.
fn each_variant<'p, 'a>(
    arm: &'p Prepared<'a>,
    base: &'p Prepared<'a>,
    key: &RowKey,
    better: Better,
) -> Vec<Candidate<'p, 'a>> {
    let stated = |point: &Match<'_>| RowKey { params: key.params.with(&point.stated), ..key.clone() };
    let points = |side: &'p Prepared<'a>| all_published_for(key, better, &side.side.published).into_iter();
    let said = |row: &'p Row<'a>| Said::Measured(row);
    match (arm.rows.get(key), base.rows.get(key)) {
        (Some(row), None) => points(base)
            .map(|point| (stated(&point), better, row.headline, said(row), Said::Point(point)))
            .collect(),
        (None, Some(row)) => points(arm)
            .map(|point| (stated(&point), better, row.headline, Said::Point(point), said(row)))
            .collect(),
        (Some(of_arm), Some(of_base)) if of_arm.better == of_base.better => {
            vec![(key.clone(), better, of_arm.headline && of_base.headline, said(of_arm), said(of_base))]
        }
        _ => Vec::new(),
    }
}

/// Where a published figure leaves so much open that several of our rows match it: a headline before others, then the
/// row with the most parameters as they usually are.
fn one_for_each_point(rows: &mut Vec<Candidate<'_, '_>>, options: &CompareOptions) {
    let figure = |row: &Candidate<'_, '_>| match (&row.3, &row.4) {
        (Said::Measured(_), Said::Point(point)) | (Said::Point(point), Said::Measured(_)) => {
            Some(std::ptr::from_ref(point.row))
        }
        _ => None,
    };
    let usual = |key: &RowKey| {
        let card = options.cards.iter().find(|card| card.name == key.instrument);
        let is_default = |(name, value): &(&String, &String)| {
            card.and_then(|card| card.param(name)).is_some_and(|spec| spec.default == value.as_str())
        };
        key.params.0.iter().filter(is_default).count()
    };
    let figures: Vec<_> = rows.iter().map(|row| (figure(row), (row.2, usual(&row.0)))).collect();
    let mut at = 0;
    rows.retain(|_| {
        let (own, worth) = figures[at];
        let like = |other: &(Option<*const _>, _)| other.0 == own;
        let better = figures.iter().any(|other| like(other) && other.1 > worth);
        let earlier = figures[..at].iter().any(|other| like(other) && other.1 == worth);
        at += 1;
        own.is_none() || !(better || earlier)
    });
}

/// Keys in the order of the base, then those of the arm; published ones only where the base names them.
fn keys(arm: &Prepared<'_>, base: &Prepared<'_>) -> Vec<RowKey> {
    let mut all = base.order.clone();
    all.extend(arm.order.iter().filter(|key| !base.rows.contains_key(key)).cloned());
    let only_published = arm.rows.is_empty() && base.rows.is_empty();
    if only_published {
        all.extend(base.side.published.iter().map(RowKey::published));
    }
    all
}

/// Both sides are single runs of one interleaved study.
pub fn paired_by_block(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    match (arm.side.runs.as_slice(), base.side.runs.as_slice()) {
        ([a], [b]) => !a.head.study.is_empty() && a.head.study == b.head.study,
        _ => false,
    }
}

/// All runs of both sides were made on one machine.
fn one_machine(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    let mut ids = [arm, base].into_iter().flat_map(|side| &side.side.runs).map(|run| &run.head.machine_id);
    ids.next().is_some_and(|first| ids.all(|id| id == first))
}

/// The margin asked for, or the usual one.
pub(super) fn margin(arms: bool, options: &CompareOptions) -> Margin {
    let usual = if arms { Margin::ARMS } else { Margin::MACHINES };
    options.margin.and_then(Margin::new).unwrap_or(usual)
}

/// Causes other than the compared machines or arms that may explain a difference.
#[derive(Default)]
struct Surroundings {
    met: Vec<Disturbance>,
    bound: Option<Bound>,
    moved: Option<Moved>,
}

/// Environmental doubts of both sides. Empty for interleaved arms on one machine that share them: there they cancel.
fn surroundings(arm: &Said<'_, '_>, base: &Said<'_, '_>, found: &Found, one_machine: bool) -> Surroundings {
    let (Said::Measured(arm), Said::Measured(base)) = (arm, base) else {
        return Surroundings::default();
    };
    let either = || if arm.met().is_empty() { base.met().to_vec() } else { arm.met().to_vec() };
    match found {
        Found::Paired(_) if one_machine && arm.met() == base.met() => Surroundings::default(),
        Found::Paired(_) if one_machine => Surroundings { met: either(), ..Surroundings::default() },
        Found::Runs(_) | Found::Paired(_) => {
            let moved = clock::moved(arm, base, one_machine);
            Surroundings { met: either(), moved, ..Surroundings::default() }
        }
        Found::Point(_) | Found::Refused(_) | Found::Nothing(_) => Surroundings::default(),
    }
}

struct Context<'c, 'a> {
    arm: &'c Prepared<'a>,
    base: &'c Prepared<'a>,
    key: &'c RowKey,
    paired: bool,
    family: usize,
    options: &'c CompareOptions,
}

fn measured(context: &Context<'_, '_>, arm: &Row<'_>, base: &Row<'_>) -> Found {
    let refused = |side: &Prepared<'_>, text: String| {
        Found::Refused(Reason::Refused { side: Some(side.side.name.clone()), text })
    };
    let (of_arm, of_base) = match (arm.speaking(), base.speaking()) {
        (Ok(of_arm), Ok(of_base)) => (of_arm, of_base),
        (Err(text), _) => return refused(context.arm, text),
        (_, Err(text)) => return refused(context.base, text),
    };
    let found = if context.paired {
        by_block(&of_arm, &of_base, context.family).map(Found::Paired)
    } else {
        by_run(context, &of_arm, &of_base).map(Found::Runs)
    };
    found.unwrap_or_else(|unfit| Found::Nothing(why::no_interval(None, &unfit)))
}

fn by_block(arm: &[&Entry<'_>], base: &[&Entry<'_>], family: usize) -> Result<Paired, stats::Unfit> {
    stats::paired(&stats::pair_blocks(&blocks(arm), &blocks(base))?, family)
}

/// The measured values with their blocks.
pub fn blocks(entries: &[&Entry<'_>]) -> Vec<(u64, f64)> {
    let points = entries.iter().flat_map(|entry| &entry.series.points);
    let measured = points.filter(|point| point.phase == model::Phase::Measured);
    measured.filter_map(|point| Some((u64::from(point.block), point.number()?))).collect()
}

/// Two rows run against run, even where they share blocks: what changes from run to run is in the interval.
pub fn run_against_run(
    arm: (&Prepared<'_>, &Row<'_>),
    base: (&Prepared<'_>, &Row<'_>),
    key: &RowKey,
    options: &CompareOptions,
) -> Option<Between> {
    let (of_arm, of_base) = (arm.1.speaking().ok()?, base.1.speaking().ok()?);
    let context = Context { arm: arm.0, base: base.0, key, paired: false, family: 1, options };
    by_run(&context, &of_arm, &of_base).ok()
}

fn by_run(
    context: &Context<'_, '_>,
    arm: &[&Entry<'_>],
    base: &[&Entry<'_>],
) -> Result<Between, stats::Unfit> {
    let worth = |entries: &[&Entry<'_>]| -> Vec<stats::Run> {
        entries.iter().filter_map(|entry| entry.worth).collect()
    };
    let (of_arm, of_base) = (worth(arm), worth(base));
    if of_arm.is_empty() || of_base.is_empty() {
        return Err(stats::Unfit::Empty);
    }
    let mut history = vec![earlier(context, context.arm, arm)];
    if !same_group(context.arm, context.base) {
        history.push(earlier(context, context.base, base));
    }
    let lists: Vec<&[stats::Run]> = history.iter().map(Vec::as_slice).collect();
    let floor = noise::assumed_floor(context.options.cards, &context.key.instrument);
    stats::between(&of_arm, &of_base, &lists, floor)
}

/// Both sides draw on the same earlier runs, which then count once.
fn same_group(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    let ids = |side: &Prepared<'_>| -> std::collections::BTreeSet<String> {
        side.side.earlier.iter().map(|run| run.head.id.clone()).collect()
    };
    let (of_arm, of_base) = (ids(arm), ids(base));
    of_arm.intersection(&of_base).next().is_some()
}

/// Earlier runs of a side without those being judged. A single run at hand joins them: alone it shows no spread.
fn earlier(context: &Context<'_, '_>, side: &Prepared<'_>, hand: &[&Entry<'_>]) -> Vec<stats::Run> {
    let judged = |run: &model::data::RunData| {
        let sides = [context.arm, context.base];
        sides.iter().any(|one| one.side.runs.iter().any(|known| known.head.id == run.head.id))
    };
    let Some(entry) = hand.first() else { return Vec::new() };
    let before = side.side.earlier.iter().copied().filter(|run| !judged(run));
    let mut all = noise::history(&entry.series.key, before);
    if let ([only], false) = (hand, all.is_empty()) {
        all.extend(only.worth);
    }
    all
}

/// A published point on either side: a plain ratio.
fn beside(point: &Match<'_>, other: &Said<'_, '_>) -> Found {
    if let Said::Measured(row) = other
        && let Err(text) = row.speaking()
    {
        return Found::Refused(Reason::Refused { side: None, text });
    }
    Found::Point(why::point(point))
}

fn p_of(found: &Found) -> Option<f64> {
    match found {
        Found::Paired(paired) => Some(paired.p),
        Found::Runs(between) => Some(between.p),
        Found::Point(_) | Found::Refused(_) | Found::Nothing(_) => None,
    }
}

struct Corrected {
    p: Option<f64>,
    p_holm: Option<f64>,
    family: usize,
    margin: Margin,
    /// Where the margin is not the one asked for.
    raised: Option<Raised>,
}

/// The row without the sides' names and prices.
fn conclude(
    (key, better, headline, of_arm, of_base): Candidate<'_, '_>,
    found: &Found,
    corrected: &Corrected,
    around: &Surroundings,
) -> Judged {
    let value = |said: &Said<'_, '_>| match said {
        Said::Measured(row) => row.value(),
        Said::Point(point) => Some(point.row.value),
    };
    let (arm_value, base_value) = (value(&of_arm), value(&of_base));
    let plain = || Some(arm_value? / base_value?).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let (estimate, interval, effect) = match found {
        Found::Paired(paired) => (Some(paired.estimate.exp()), paired.interval, paired.effect()),
        Found::Runs(between) => {
            (Some(between.estimate.exp()), Some(between.interval), Some(between.effect()))
        }
        Found::Point(_) | Found::Nothing(_) => (plain(), None, None),
        Found::Refused(_) => (None, None, None),
    };
    let (floor, noise) = floor(found);
    let doubts = [&of_arm, &of_base].into_iter().find_map(|said| match said {
        Said::Measured(row) => row.doubt(),
        Said::Point(_) => None,
    });
    let (verdict, held) = judge(found, corrected, better, around);
    let row = RowDoc {
        card: None,
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        unit: key.unit,
        better,
        params: key.params.clone(),
        headline,
        arm: String::new(),
        base: String::new(),
        arm_value,
        base_value,
        ratio: estimate,
        low: interval.map(|i| i.low.exp()),
        high: interval.map(|i| i.high.exp()),
        p: corrected.p,
        p_holm: corrected.p_holm,
        floor,
        noise,
        margin: corrected.margin.share(),
        verdict: value::word(verdict),
        why: match held {
            Some(withheld) => Why::from(Reason::Withheld(withheld)),
            None => {
                let margin = (corrected.margin, corrected.raised.as_ref());
                why::reasons(found, verdict, margin, corrected.family, doubts)
            }
        },
        point: [&of_arm, &of_base].into_iter().any(|said| matches!(said, Said::Point(_))),
        per_price: None,
        per_watt: None,
    };
    Judged { row, key, verdict, effect }
}

/// The verdict, and what about the surroundings withholds a clearer one: a lower bound, unless the difference would
/// only be larger without it; what went on besides, however clear the interval; or a clock that moved so far that the
/// verdict would not stand without it.
fn judge(
    found: &Found,
    corrected: &Corrected,
    better: Better,
    around: &Surroundings,
) -> (Verdict, Option<Withheld>) {
    let withheld = Verdict::CannotTell(Held::Interval);
    let judged = matches!(found, Found::Paired(_) | Found::Runs(_));
    let plain = judge_by(found, corrected, better, 0.0);
    if let Some(bound) = around.bound.as_ref().filter(|bound| judged && !bound.understates(&plain)) {
        return (withheld, Some(Withheld::LowerBound { sides: bound.sides.clone() }));
    }
    if !around.met.is_empty() {
        return (withheld, Some(Withheld::Disturbed { by_what: around.met.clone() }));
    }
    match &around.moved {
        Some(_) if matches!(plain, Verdict::CannotTell(_)) => (plain, None),
        Some(moved) if plain != judge_by(found, corrected, better, moved.share) => {
            (withheld, Some(moved.withheld.clone()))
        }
        _ => (plain, None),
    }
}

/// The verdict with the interval widened either way.
fn judge_by(found: &Found, corrected: &Corrected, better: Better, wider: f64) -> Verdict {
    let way = value::way(better);
    let (interval, basis) = match found {
        Found::Paired(paired) => (paired.interval, Basis::Blocks { n: paired.n }),
        Found::Runs(between) => (Some(between.interval), Basis::from(between)),
        Found::Point(_) => (None, Basis::Point),
        Found::Refused(_) => (None, Basis::Invalid),
        Found::Nothing(_) => return Verdict::CannotTell(Held::Interval),
    };
    let interval = interval.map(|i| Interval { low: i.low - wider, high: i.high + wider, ..i });
    stats::verdict(interval, corrected.p_holm, corrected.margin, way, basis)
}

/// The difference that noise alone makes: between runs, or between equal arms of one study of this many blocks.
fn floor(found: &Found) -> (Option<f64>, Option<Noise>) {
    match found {
        Found::Runs(between) => (Some(between.noise.aa_floor()), Some(noise::word(between.noise.kind))),
        Found::Paired(paired) => {
            let half = paired.interval.map(|i| ((i.high - i.low) / 2.0).exp_m1());
            (half, half.map(|_| Noise::Measured))
        }
        Found::Point(_) | Found::Refused(_) | Found::Nothing(_) => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use model::data::RunData;
    use model::doc::{MachineDoc, RowDoc, VerdictWord};

    use crate::loads::planted::{empty, load_in, one};
    use crate::{CompareOptions, Side, compare};

    fn side<'a>(name: &str, run: &'a RunData) -> Side<'a> {
        let machine = MachineDoc { id: name.into(), name: name.into() };
        Side { runs: vec![run], ..Side::new(name, machine) }
    }

    fn row(sides: &[Side<'_>], metric: &str) -> RowDoc {
        let doc = compare(sides, &CompareOptions { all: true, ..CompareOptions::default() });
        doc.rows.into_iter().find(|row| row.metric == metric).unwrap()
    }

    fn measured(id: &str, throughput: f64, share: f64) -> RunData {
        let figures =
            [("throughput", throughput), ("server-cpu", 1.0 / throughput), ("generator-share", share)];
        let mut run = one("connections=50", &figures);
        (run.head.id, run.head.study, run.head.machine_id) = (id.into(), id.into(), id.into());
        run
    }

    #[test]
    fn a_lower_bound_withholds_only_what_may_turn_between_machines() {
        let (slow, fast, capped) =
            (measured("slow", 10e3, 0.5), measured("fast", 90e3, 0.5), measured("capped", 90e3, 0.95));
        let verdict = |arm: &RunData, base: &RunData, metric: &str| {
            let row = row(&[side(&base.head.id, base), side(&arm.head.id, arm)], metric);
            (row.verdict, row.why.to_string())
        };
        assert_eq!(verdict(&fast, &slow, "throughput").0, VerdictWord::Better);
        let says = "doubtful: a lower bound: the load generator, not the server, set the figure of capped";
        // What is at least 90 k/s is better than 10 k/s, and of what is better than it nothing can be said.
        assert_eq!(verdict(&capped, &slow, "throughput").0, VerdictWord::Better);
        assert_eq!(verdict(&slow, &capped, "throughput").0, VerdictWord::Worse);
        let faster = measured("faster", 300e3, 0.5);
        assert_eq!(verdict(&faster, &capped, "throughput"), (VerdictWord::CannotTell, says.to_owned()));
        assert_eq!(verdict(&capped, &faster, "throughput").0, VerdictWord::CannotTell);
        // What the server used for each request does not depend on the generator.
        assert_eq!(verdict(&capped, &slow, "server-cpu").0, VerdictWord::Better);
    }

    #[test]
    fn a_lower_bound_withholds_only_what_may_turn_between_arms() {
        let arms = |shares: [f64; 2]| {
            let mut run = empty();
            run.plan.arms.clear();
            for (index, (name, throughput)) in [("prefork", 30e3), ("event", 60e3)].into_iter().enumerate() {
                let set = crate::loads::planted::params(&format!("mpm={name}"));
                run.plan.arms.push(model::Arm { name: name.into(), set });
                let figures = [("throughput", throughput), ("generator-share", shares[index])];
                let arm = (u32::try_from(index).unwrap(), name);
                load_in(&mut run, arm, &format!("connections=50;mpm={name}"), &figures);
            }
            run
        };
        let verdict = |run: &RunData| {
            let arm = |name: &str| Side { arm: Some(name.into()), ..side(name, run) };
            let row = row(&[arm("prefork"), arm("event")], "throughput");
            (row.verdict, row.why.to_string())
        };
        assert_eq!(verdict(&arms([0.5, 0.5])).0, VerdictWord::Better);
        assert_eq!(verdict(&arms([0.5, 0.9])).0, VerdictWord::Better);
        assert_eq!(verdict(&arms([0.9, 0.5])).0, VerdictWord::CannotTell);
        // The same doubt on both sides takes nothing back.
        let (verdict, why) = verdict(&arms([0.95, 0.9]));
        assert_eq!(verdict, VerdictWord::CannotTell);
        assert!(why.contains("lower bounds") && why.contains("prefork and event"), "{why}");
    }
}
