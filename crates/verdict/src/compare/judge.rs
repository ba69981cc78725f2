//! Every pair of sides, row by row: how far apart, how sure, and the verdict after Holm's correction.
//!
//! Log ratios arm / base. Headline rows of all pairs are one family, all other rows another, whatever of them is shown;
//! points and refused rows are in none. Of many sides only the pairs with the first one are judged: all pairs of 1,000
//! sides are half a million.

use std::collections::{BTreeMap, BTreeSet};

use model::doc::{Noise, RowDoc};
use model::why::{Reason, Withheld};
use model::{Better, Finding, Samples};
use stats::{Basis, Between, Held, Interval, Margin, Paired, Verdict};

use super::bound::Bound;
use super::candidates::{Candidate, candidates, variants};
use super::clock::{self, Moved};
use super::correspond;
use super::failed;
use super::gather::{Context, by_run, gather};
use super::judged::{Apart, Found, Judged, margin, paired_by_block};
use super::matching::{Match, RowKey};
use super::prepared::{Entry, Prepared, SideRow, SideValue};
use super::rates;
use super::served::{self, Served};
use super::side::CompareOptions;
use super::step::{self, Raised};
use super::weigh::{self, Weight};
use super::{value, why};
use crate::noise;

/// Most sides of which every two are judged.
pub const MOST: usize = 16;

/// All pairs of sides; of more than [`MOST`] those with the first one.
pub struct Pairs {
    judged: BTreeMap<(usize, usize), Vec<Judged>>,
    /// Differences in the requests that the first side and the others served.
    pub unlike: Vec<Finding>,
}

impl Pairs {
    pub fn new(prepared: &[Prepared<'_>], served: &[Vec<Served>], options: &CompareOptions) -> Pairs {
        let size = prepared.len();
        let bases = |arm: usize| if size > MOST { arm.min(1) } else { arm };
        let places: Vec<(usize, usize)> =
            (0..size).flat_map(|arm| (0..bases(arm)).map(move |base| (arm, base))).collect();
        let sides: Vec<_> = places.iter().map(|(arm, base)| (&prepared[*arm], &prepared[*base])).collect();
        let rows = family(&sides, &variants(prepared, options), options);
        let (mut judged, mut unlike) = (BTreeMap::new(), Vec::new());
        for ((arm, base), mut rows) in places.into_iter().zip(rows) {
            let said = served::judge(&mut rows, &served[arm], &served[base], options);
            unlike.extend(said.into_iter().filter(|_| base == 0));
            // Only after Holm's correction, so that asking for one row makes no win of it.
            rows.retain(|judged| options.wants(&judged.key.instrument, &judged.key.metric));
            judged.insert((arm, base), rows);
        }
        Pairs { judged, unlike }
    }

    /// Judged rows of side `arm` against side `base`, by their places on the command line; `base` comes before `arm`.
    pub fn rows(&self, arm: usize, base: usize) -> &[Judged] {
        self.judged.get(&(arm, base)).map_or(&[], Vec::as_slice)
    }

    /// The rows of every side against the first one, in the order of the sides, and [`Pairs::unlike`].
    pub fn into_rows_of_base(self) -> (impl Iterator<Item = Judged>, Vec<Finding>) {
        let of_base = self.judged.into_iter().filter(|((_, base), _)| *base == 0);
        (of_base.flat_map(|(_, rows)| rows), self.unlike)
    }
}

/// The rows of one pair of sides, after Holm's correction.
pub fn pair(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Vec<Judged> {
    family(&[(arm, base)], &BTreeSet::new(), options).remove(0)
}

/// A candidate of a pair of sides.
struct Drafted<'p, 'a> {
    arm: &'p Prepared<'a>,
    base: &'p Prepared<'a>,
    row: Candidate<'p, 'a>,
}

/// The rows of each of these pairs of sides (arm, base), after Holm's correction over all of them: headline rows are
/// one family, all other rows another.
pub fn family<'p, 'a>(
    pairs: &[(&'p Prepared<'a>, &'p Prepared<'a>)],
    variants: &BTreeSet<RowKey>,
    options: &CompareOptions,
) -> Vec<Vec<Judged>> {
    let draft = |(arm, base): &(&'p Prepared<'a>, &'p Prepared<'a>)| -> Vec<Drafted<'p, 'a>> {
        let rows = candidates(arm, base, variants, options);
        rows.into_iter().map(|row| Drafted { arm, base, row }).collect()
    };
    let drafts: Vec<_> = pairs.iter().map(draft).collect();
    let size = |headline: bool| {
        let counts =
            |draft: &&Drafted<'_, '_>| draft.row.headline == headline && draft.row.is_judged(options);
        drafts.iter().flatten().filter(counts).count()
    };
    let sizes = [size(false), size(true)];
    let find = |drafts: &Vec<Drafted<'_, '_>>| -> Vec<Found> {
        let learnt = learn(drafts, options);
        let found =
            |draft: &Drafted<'_, '_>| draft.found(sizes[usize::from(draft.row.headline)], learnt, options);
        drafts.iter().map(found).collect()
    };
    let found: Vec<_> = drafts.iter().map(find).collect();
    let p: Vec<Option<f64>> = found.iter().flatten().map(p_of).collect();
    let holm = |headline: bool| {
        let of_family =
            |(draft, p): (&Drafted<'_, '_>, &Option<f64>)| p.filter(|_| draft.row.headline == headline);
        stats::holm(&drafts.iter().flatten().zip(&p).map(of_family).collect::<Vec<_>>())
    };
    let corrected = [holm(false), holm(true)];
    let mut at = 0;
    let mut judge = |(draft, found): (Drafted<'_, '_>, Found)| {
        let which = usize::from(draft.row.headline);
        let corrected = (p[at], corrected[which][at], sizes[which]);
        at += 1;
        draft.judged(&found, corrected, options)
    };
    // The drafts of a pair are gone once it is judged: those of 1,000 pairs take as much memory as their rows.
    let of_pairs = drafts.into_iter().zip(found);
    of_pairs.map(|(drafts, found)| drafts.into_iter().zip(found).map(&mut judge).collect()).collect()
}

/// The noise between runs as the figures of a pair of sides show it together, where they are judged run against run.
fn learn(drafts: &[Drafted<'_, '_>], options: &CompareOptions) -> Option<stats::Learnt> {
    let seen = |draft: &Drafted<'_, '_>| {
        let (SideValue::Measured(of_arm), SideValue::Measured(of_base)) = (&draft.row.arm, &draft.row.base)
        else {
            return None;
        };
        let (arm, base, key) = (draft.arm, draft.base, &draft.row.key);
        if key.samples(options.cards) == Samples::Periods || paired_by_block(arm, base) {
            return None;
        }
        let context = Context { arm, base, key, paired: false, family: 1, learnt: None, options };
        let runs = gather(&context, &of_arm.speaking().ok()?, &of_base.speaking().ok()?).ok()?;
        stats::Seen::new(&[&runs.arm, &runs.base], &runs.lists(), runs.floor).ok()
    };
    stats::learn(&drafts.iter().filter_map(seen).collect::<Vec<_>>())
}

impl Drafted<'_, '_> {
    /// The comparison before any correction, in a family of this many rows.
    fn found(&self, family: usize, learnt: Option<stats::Learnt>, options: &CompareOptions) -> Found {
        let (arm, base, key) = (self.arm, self.base, &self.row.key);
        match (&self.row.arm, &self.row.base) {
            (SideValue::Measured(_), SideValue::Measured(_))
                if key.samples(options.cards) == Samples::Periods =>
            {
                Found::Nothing(Reason::Hours { judged_elsewhere: false })
            }
            (SideValue::Measured(a), SideValue::Measured(b)) => {
                let paired = paired_by_block(arm, base);
                measured(&Context { arm, base, key, paired, family, learnt, options }, a, b)
            }
            (SideValue::Point(of_arm), SideValue::Point(of_base)) => {
                Found::Point(why::points(of_arm, of_base))
            }
            (SideValue::Point(point), other) | (other, SideValue::Point(point)) => beside(point, other),
        }
    }

    /// The judged row, given p alone, p after Holm's correction, and the rows of its family.
    fn judged(
        self,
        found: &Found,
        (p, p_holm, family): (Option<f64>, Option<f64>, usize),
        options: &CompareOptions,
    ) -> Judged {
        let Drafted { arm, base, row, .. } = self;
        let same = one_machine(arm, base);
        let mut held = surroundings(&row.arm, &row.base, found, same);
        held.bound = Bound::between((arm, &row.arm), (base, &row.base));
        let margin = margin(paired_by_block(arm, base) && same, options);
        let raised = step::raised(margin, (arm, &row.arm), (base, &row.base));
        let (unlike, across) = match (&row.arm, &row.base) {
            (SideValue::Measured(a), SideValue::Measured(b)) => {
                (correspond::unlike(&row.key.instrument, a, b, options), correspond::across(a, b, options))
            }
            _ => (Vec::new(), Vec::new()),
        };
        let margin = raised.as_ref().map_or(margin, |raised| raised.margin);
        let mut judged = conclude(row, found, &Corrected { p, p_holm, family, margin, raised }, &held);
        if !unlike.is_empty() {
            judged.row.why.reasons.push(Reason::OtherConditions { differ: unlike });
        }
        if !across.is_empty() {
            judged.row.why.reasons.push(Reason::Across { differ: across });
        }
        (judged.row.arm, judged.row.base) = (arm.side.name.clone(), base.side.name.clone());
        value::price(&mut judged.row, arm.side, base.side, options);
        judged
    }
}

/// All runs of both sides were made on one machine.
fn one_machine(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    let mut ids = [arm, base].into_iter().flat_map(|side| &side.side.runs).map(|run| &run.head.machine_id);
    ids.next().is_some_and(|first| ids.all(|id| id == first))
}

/// Causes other than the compared machines or arms that may explain a difference.
#[derive(Default)]
struct Surroundings {
    met: Weight,
    bound: Option<Bound>,
    moved: Option<Moved>,
}

/// Environmental doubts of both sides. Interleaved arms on one machine share them as far as both met them: there they
/// cancel, and so does the clock.
fn surroundings(
    arm: &SideValue<'_, '_>,
    base: &SideValue<'_, '_>,
    found: &Found,
    one_machine: bool,
) -> Surroundings {
    let (SideValue::Measured(arm), SideValue::Measured(base)) = (arm, base) else {
        return Surroundings::default();
    };
    let shared = matches!(found, Found::Paired(_)) && one_machine;
    match found {
        Found::Runs(..) | Found::Paired(_) => {
            let moved = if shared { None } else { clock::moved(arm, base, one_machine) };
            Surroundings { met: weigh::between(arm, base, shared), moved, ..Surroundings::default() }
        }
        Found::Apart(_) | Found::Point(_) | Found::Refused(_) | Found::Nothing(_) => Surroundings::default(),
    }
}

fn measured(context: &Context<'_, '_>, arm: &SideRow<'_>, base: &SideRow<'_>) -> Found {
    let refused = |side: &Prepared<'_>, text: String| {
        Found::Refused(Reason::Refused { side: Some(side.side.name.clone()), text })
    };
    let (of_arm, of_base) = match (arm.speaking(), base.speaking()) {
        (Ok(of_arm), Ok(of_base)) => (of_arm, of_base),
        (Err(of_arm), Err(of_base)) => return both_refused(context, &of_arm, &of_base),
        (Err(text), Ok(_)) => return refused(context.arm, text),
        (Ok(_), Err(text)) => return refused(context.base, text),
    };
    if let Some(reason) = rates::apart(arm, base) {
        let verdict = Verdict::CannotTell(Held::Interval);
        return Found::Apart(Apart { verdict, p: None, reason: Some(reason) });
    }
    let speaking = (context.arm.side.name.as_str(), of_arm.as_slice());
    let of_failed =
        failed::found(context.key, speaking, (context.base.side.name.as_str(), &of_base), context.options);
    if let Some(found) = of_failed {
        return found;
    }
    let found = if context.paired {
        by_block(&of_arm, &of_base, context.family).map(Found::Paired)
    } else {
        by_run(context, &of_arm, &of_base).map(|(between, runs)| Found::Runs(between, runs))
    };
    found.unwrap_or_else(|unfit| Found::Nothing(why::no_interval(None, &unfit)))
}

/// Both sides are at fault, and each is told of.
fn both_refused(context: &Context<'_, '_>, of_arm: &str, of_base: &str) -> Found {
    let (arm, base) = (&context.arm.side.name, &context.base.side.name);
    let text = match of_arm == of_base {
        true => format!("{arm} and {base}: {of_arm}"),
        false => format!("{arm}: {of_arm}; {base}: {of_base}"),
    };
    Found::Refused(Reason::Refused { side: None, text })
}

/// By sitting where there are enough of them: blocks of one sitting share what its preparation drew.
fn by_block(arm: &[&Entry<'_>], base: &[&Entry<'_>], family: usize) -> Result<Paired, stats::Unfit> {
    let quantile = |entries: &[&Entry<'_>]| entries.iter().find_map(|entry| entry.quantile.clone());
    if let Some((of_arm, of_base)) = quantile(arm).zip(quantile(base)) {
        return of_arm.paired(&of_base);
    }
    let of_sitting = |entries: &[&Entry<'_>], sitting: u32| -> Vec<(u64, f64)> {
        points(entries).filter(|(at, _)| *at == sitting).map(|(_, block)| block).collect()
    };
    let sittings: BTreeSet<u32> = points(arm).map(|(sitting, _)| sitting).collect();
    let pairs = sittings.iter().map(|s| stats::pair_blocks(&of_sitting(arm, *s), &of_sitting(base, *s)));
    // A sitting that a side lost has no pair; a value that cannot be judged is told.
    let d = pairs.filter(|pair| *pair != Err(stats::Unfit::Empty)).collect::<Result<Vec<_>, _>>()?;
    if d.len() >= stats::MIN_SITTINGS {
        return stats::paired_sittings(&d.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }
    stats::paired(&stats::pair_blocks(&blocks(arm), &blocks(base))?, family)
}

/// The measured values with their sittings and blocks.
fn points(entries: &[&Entry<'_>]) -> impl Iterator<Item = (u32, (u64, f64))> {
    let points = entries.iter().flat_map(|entry| &entry.series.points);
    let measured = points.filter(|point| point.phase == model::Phase::Measured);
    measured.filter_map(|point| Some((point.sitting, (u64::from(point.block), point.number()?))))
}

/// The measured values with their blocks.
pub fn blocks(entries: &[&Entry<'_>]) -> Vec<(u64, f64)> {
    points(entries).map(|(_, block)| block).collect()
}

/// Two rows run against run, even where they share blocks: what changes from run to run is in the interval.
pub fn run_against_run(
    arm: (&Prepared<'_>, &SideRow<'_>),
    base: (&Prepared<'_>, &SideRow<'_>),
    key: &RowKey,
    options: &CompareOptions,
) -> Option<Between> {
    let (of_arm, of_base) = (arm.1.speaking().ok()?, base.1.speaking().ok()?);
    let context = Context { arm: arm.0, base: base.0, key, paired: false, family: 1, learnt: None, options };
    by_run(&context, &of_arm, &of_base).ok().map(|(between, _)| between)
}

/// A published point on either side: a plain ratio.
fn beside(point: &Match<'_>, other: &SideValue<'_, '_>) -> Found {
    if let SideValue::Measured(row) = other
        && let Err(text) = row.speaking()
    {
        return Found::Refused(Reason::Refused { side: None, text });
    }
    Found::Point(why::point(point))
}

fn p_of(found: &Found) -> Option<f64> {
    match found {
        Found::Paired(paired) => Some(paired.p),
        Found::Runs(between, _) => Some(between.p),
        Found::Apart(apart) => apart.p,
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
    Candidate { key, better, headline, arm: of_arm, base: of_base }: Candidate<'_, '_>,
    found: &Found,
    corrected: &Corrected,
    around: &Surroundings,
) -> Judged {
    let (arm_value, base_value) = values(found, &of_arm, &of_base);
    let plain = || Some(arm_value? / base_value?).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let (estimate, interval, effect) = match found {
        Found::Paired(paired) => (Some(paired.estimate.exp()), paired.interval, paired.effect()),
        Found::Runs(between, _) => {
            (Some(between.estimate.exp()), Some(between.interval), Some(between.effect()))
        }
        Found::Point(_) | Found::Nothing(_) => (plain(), None, None),
        Found::Refused(_) | Found::Apart(_) => (None, None, None),
    };
    let (floor, noise) = floor(found);
    let measured = [of_arm.measured(), of_base.measured()];
    let doubts = measured.into_iter().flatten().find_map(|row| row.doubt());
    let unsteady = measured.into_iter().flatten().find_map(|row| row.unsteady());
    let (verdict, held) = judge(found, corrected, better, around);
    // What two lower bounds relate as is not known.
    let is_bound = matches!(held, Some(Withheld::LowerBound { .. }));
    let (estimate, interval) = if is_bound { (None, None) } else { (estimate, interval) };
    let effect = effect.filter(|_| !is_bound);
    let row = RowDoc {
        card: None,
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        unit: key.unit,
        better,
        params: key.params.clone(),
        headline,
        index: None,
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
        noise_runs: noise_runs(found),
        margin: corrected.margin.share(),
        verdict: value::word(verdict),
        why: match held {
            Some(withheld) => {
                let plain = judge_by(found, corrected, better, 0.0);
                why::withheld(withheld, found, plain, (corrected.margin, corrected.family))
            }
            None => {
                let margin = (corrected.margin, corrected.raised.as_ref());
                let mut why = why::reasons(found, verdict, margin, corrected.family, (doubts, unsteady));
                why.reasons.extend(widened(&around.met, verdict));
                why
            }
        },
        point: measured.iter().any(Option::is_none),
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: lower_bounds(better, around),
    };
    Judged { row, key, verdict, effect }
}

/// The figures of the arm and of the base that stand beside the ratio.
fn values(found: &Found, arm: &SideValue<'_, '_>, base: &SideValue<'_, '_>) -> (Option<f64>, Option<f64>) {
    let value = |said: &SideValue<'_, '_>| match said {
        SideValue::Measured(row) => row.value(),
        SideValue::Point(point) => Some(point.row.value),
    };
    match found {
        Found::Runs(between, _) => {
            (level(value(arm), between.levels.0), level(value(base), between.levels.1))
        }
        _ => (value(arm), value(base)),
    }
}

/// The sides whose value is at least what is shown: of a rate that the load generator set.
fn lower_bounds(better: Better, around: &Surroundings) -> Vec<String> {
    let bound = around.bound.as_ref().filter(|_| better == Better::Higher);
    bound.map(|bound| bound.sides.clone()).unwrap_or_default()
}

/// The level that a ratio of runs is made of, so that the figures shown beside it have it as their quotient. Of several
/// sittings it is the geometric mean of their medians. The median of one is its level but for rounding.
fn level(median: Option<f64>, log: f64) -> Option<f64> {
    const ROUNDING: f64 = 1e-9;
    let level = log.exp();
    median
        .filter(|median| (median / level - 1.0).abs() < ROUNDING)
        .or(Some(level))
        .filter(|level| level.is_finite())
}

/// The verdict, and what about the surroundings withholds a clearer one: a lower bound, unless the difference would
/// only be larger without it; what went on besides and has no bound; or what has one, or a clock that moved, where the
/// verdict would not stand with an interval that is wider by as much.
fn judge(
    found: &Found,
    corrected: &Corrected,
    better: Better,
    around: &Surroundings,
) -> (Verdict, Option<Withheld>) {
    let withheld = Verdict::CannotTell(Held::Interval);
    let judged = matches!(found, Found::Paired(_) | Found::Runs(..));
    let plain = judge_by(found, corrected, better, 0.0);
    if let Some(bound) = around.bound.as_ref().filter(|bound| judged && !bound.understates(&plain)) {
        return (withheld, Some(Withheld::LowerBound { sides: bound.sides.clone() }));
    }
    // What nobody measured the noise of, nothing else has to withhold.
    if matches!(plain, Verdict::CannotTell(Held::OneTake { .. })) {
        return (plain, None);
    }
    let unbounded = around.met.unbounded();
    if !unbounded.is_empty() {
        return (withheld, Some(Withheld::Disturbed { by_what: unbounded }));
    }
    if matches!(plain, Verdict::CannotTell(_)) {
        return (plain, None);
    }
    let stands = |wider: f64| plain == judge_by(found, corrected, better, wider);
    let met = around.met.wider;
    match &around.moved {
        Some(moved) if !stands(moved.share) => (withheld, Some(moved.withheld.clone())),
        moved if !stands(met + moved.as_ref().map_or(0.0, |moved| moved.share)) => {
            (withheld, Some(Withheld::Disturbed { by_what: around.met.by_what.clone() }))
        }
        _ => (plain, None),
    }
}

/// The verdict with the interval widened either way.
fn judge_by(found: &Found, corrected: &Corrected, better: Better, wider: f64) -> Verdict {
    let way = value::way(better);
    let (interval, basis) = match found {
        Found::Paired(paired) => (paired.interval, Basis::Blocks { n: paired.n }),
        Found::Runs(between, _) => (Some(between.interval), Basis::from(between)),
        Found::Point(_) => (None, Basis::Point),
        Found::Refused(_) => (None, Basis::Invalid),
        Found::Nothing(_) => return Verdict::CannotTell(Held::Interval),
        Found::Apart(apart) => return apart.after(corrected.p_holm),
    };
    let interval = interval.map(|i| Interval { low: i.low - wider, high: i.high + wider, ..i });
    stats::verdict(interval, corrected.p_holm, corrected.margin, way, basis)
}

fn noise_runs(found: &Found) -> Vec<String> {
    if let Found::Runs(_, sources) = found { sources.ids.clone() } else { Vec::new() }
}

/// The reason that tells by how much the interval was widened, where the verdict stands nevertheless.
fn widened(met: &Weight, verdict: Verdict) -> Option<Reason> {
    let stands = matches!(verdict, Verdict::Better | Verdict::Worse | Verdict::Tie);
    let reason = || Reason::Widened { widened: met.wider.exp_m1(), by_what: met.by_what.clone() };
    (stands && met.wider > 0.0).then(reason)
}

/// The difference that noise alone makes: between runs, or between equal arms of one study of this many blocks.
fn floor(found: &Found) -> (Option<f64>, Option<Noise>) {
    match found {
        Found::Runs(between, _) => (Some(between.noise.aa_floor()), Some(noise::word(between.noise.kind))),
        Found::Paired(paired) => {
            let half = paired.interval.map(|i| ((i.high - i.low) / 2.0).exp_m1());
            (half, half.map(|_| Noise::Within))
        }
        Found::Apart(_) | Found::Point(_) | Found::Refused(_) | Found::Nothing(_) => (None, None),
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
        let doc = compare(
            sides,
            &CompareOptions { all: true, cards: instruments::cards(), ..CompareOptions::default() },
        );
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
        let says = "doubtful: a lower bound: the load generator set the figure of capped";
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
