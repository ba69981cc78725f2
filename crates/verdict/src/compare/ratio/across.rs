//! The ratio on one machine over that on the base: does the value above gain there, or the one below?
//!
//! Where one study has all four figures, whole blocks are resampled, and what the figures of a block share cancels.
//! Between studies the ratios' own intervals are not enough, for a figure also changes from run to run: each ratio then
//! has its interval run against run, and the two are combined. A point on either side leaves a plain ratio.

use std::collections::BTreeSet;

use model::doc::{BoundsDoc, Method, Noise, RatioOfRatiosDoc, RowDoc, VerdictWord};
use model::why::{Cause, NoInterval, Reason, Why};
use model::{Params, Unit};
use stats::bootstrap::RESAMPLES;
use stats::{Basis, Effect, Held, Margin, NoiseKind, Prior, Rng, Verdict};

use super::super::matching::{dropped_keys, same};
use super::super::side::{CompareOptions, Side};
use super::super::{judge, judged, value};
use super::rows::{Found, Line};
use crate::noise;

/// The same data give the same interval.
const SEED: u64 = 1;

/// A machine with its rows.
pub struct Machine<'a> {
    pub side: &'a Side<'a>,
    pub lines: Vec<Line<'a>>,
}

/// Two rows that are compared.
struct Couple<'m, 'a> {
    here: &'m Line<'a>,
    base: &'m Line<'a>,
    unlike: Vec<String>,
    judged: Judged,
}

/// A ratio of ratios before any correction.
enum Judged {
    Blocks(Effect, usize),
    Runs(Effect, NoiseKind, Basis),
    Point(Why),
    Refused(Why),
    Nothing(Why),
}

/// Every row of a machine that the base, which is the first one, has too. Headline rows of all machines are one family,
/// all other rows another.
pub fn ratios(machines: &[Machine<'_>], options: &CompareOptions) -> Vec<RatioOfRatiosDoc> {
    let Some((base, others)) = machines.split_first() else { return Vec::new() };
    let couples: Vec<(&Machine<'_>, Couple<'_, '_>)> =
        others.iter().flat_map(|here| couples(here, base).into_iter().map(move |one| (here, one))).collect();
    let p: Vec<Option<f64>> = couples.iter().map(|(_, one)| one.judged.effect().map(Effect::p)).collect();
    let family = |headline: bool| -> Vec<Option<f64>> {
        couples.iter().zip(&p).map(|((_, one), p)| p.filter(|_| one.is_headline() == headline)).collect()
    };
    let families = [family(false), family(true)];
    let corrected = families.each_ref().map(|family| stats::holm(family));
    let document = |(at, (here, one)): (usize, &(&Machine<'_>, Couple<'_, '_>))| {
        let which = usize::from(one.is_headline());
        let size = families[which].iter().flatten().count();
        one.document((here, base), (p[at], corrected[which][at]), size, options)
    };
    couples.iter().enumerate().map(document).collect()
}

fn couples<'m, 'a>(here: &'m Machine<'a>, base: &'m Machine<'a>) -> Vec<Couple<'m, 'a>> {
    let dropped = compared(here.side, base.side);
    let pairs = here.lines.iter().flat_map(|a| base.lines.iter().map(move |b| (a, b)));
    pairs.filter_map(|(a, b)| couple((a, here), (b, base), &dropped)).collect()
}

/// Two rows of one figure: they agree in what both figures of either have in common. Of rows that differ only in what
/// one figure has (the compiler of one language, the virtual machine of the other), the nearest count.
fn couple<'m, 'a>(
    (line, here): (&'m Line<'a>, &'m Machine<'a>),
    (other, base): (&'m Line<'a>, &'m Machine<'a>),
    dropped: &BTreeSet<String>,
) -> Option<Couple<'m, 'a>> {
    let far = distance(line, other, dropped)?;
    let siblings = |machine: &'m Machine<'a>, of: &Line<'a>| {
        let (shared, stated) = (of.shared.clone(), of.is_stated());
        // Of what is shown by itself nothing is taken by a row that is not.
        let is_head = |line: &Line<'_>| line.doc.row.headline || line.doc.row.point;
        let any = !is_head(of);
        let counts = move |one: &&Line<'a>| any || is_head(one);
        machine
            .lines
            .iter()
            .filter(counts)
            .filter(move |one| one.shared == shared || stated && one.is_stated())
    };
    let nearer = |found: Option<usize>| found.is_some_and(|found| found < far);
    let has_nearer = siblings(base, other).any(|one| nearer(distance(line, one, dropped)))
        || siblings(here, line).any(|one| nearer(distance(one, other, dropped)));
    (!has_nearer).then(|| Couple {
        here: line,
        base: other,
        unlike: unlike(line, other, base, dropped),
        judged: judged(line, other),
    })
}

/// In how many parameters two rows differ; `None` where they are not of the same figure.
fn distance(a: &Line<'_>, b: &Line<'_>, dropped: &BTreeSet<String>) -> Option<usize> {
    let (of_a, of_b) = (&a.doc.row, &b.doc.row);
    let is_one =
        (&of_a.instrument, &of_a.metric, a.definition) == (&of_b.instrument, &of_b.metric, b.definition);
    let differ = differing(&of_a.params, &of_b.params, dropped);
    // Of two ratios that were printed as such it is not known what belongs to which figure.
    let stated = a.is_stated() && b.is_stated();
    let own = |name: &&String| stated || a.owns(name) || b.owns(name);
    (is_one && differ.iter().all(|name| own(&name))).then_some(differ.len())
}

fn differing(a: &Params, b: &Params, dropped: &BTreeSet<String>) -> Vec<String> {
    let differ = |(name, value): &(&String, &String)| {
        !dropped.contains(*name) && b.get(name).is_some_and(|other| !same(value, other))
    };
    a.iter().filter(differ).map(|(name, _)| name.clone()).collect()
}

/// Parameters in which two arms differ that are sides of their own.
fn compared(here: &Side<'_>, base: &Side<'_>) -> BTreeSet<String> {
    if here.arm.is_none() || base.arm.is_none() {
        return BTreeSet::new();
    }
    dropped_keys(&[here.clone(), base.clone()])
}

/// `jvm: zero, on box1 hotspot`.
fn unlike(here: &Line<'_>, there: &Line<'_>, base: &Machine<'_>, dropped: &BTreeSet<String>) -> Vec<String> {
    let (of_here, of_base) = (&here.doc.row.params, &there.doc.row.params);
    let value = |params: &Params, name: &str| params.get(name).unwrap_or_default().to_owned();
    let say = |name: &String| {
        format!("{name}: {}, on {} {}", value(of_here, name), base.side.name, value(of_base, name))
    };
    differing(of_here, of_base, dropped).iter().map(say).collect()
}

impl Line<'_> {
    /// A study printed it without its figures.
    fn is_stated(&self) -> bool {
        self.doc.row.point && self.doc.row.arm_value.is_none()
    }

    /// Only one of its two figures has this parameter.
    fn owns(&self, name: &str) -> bool {
        self.doc.over_params.get(name).or(self.doc.under_params.get(name)).is_some()
    }
}

fn judged(here: &Line<'_>, base: &Line<'_>) -> Judged {
    let rows = [&here.doc, &base.doc];
    let none = || Reason::NoInterval(NoInterval { blocks: None, cause: Cause::NoPair });
    let why = |doc: &model::doc::RatioRowDoc| {
        let own = &doc.row.why.reasons;
        let reasons = if own.is_empty() { vec![none()] } else { own.clone() };
        Why { machine: Some(doc.machine.clone()), reasons }
    };
    if let Some(refused) = rows.iter().find(|doc| doc.row.verdict == VerdictWord::Invalid) {
        return Judged::Refused(why(refused));
    }
    if let Some(point) = rows.iter().find(|doc| doc.method == Method::Point) {
        return Judged::Point(why(point));
    }
    if let Some(held) = rows.iter().find(|doc| doc.row.why.withheld().is_some()) {
        return Judged::Nothing(why(held));
    }
    let (Some(of_here), Some(of_base)) = (&here.found, &base.found) else {
        return Judged::Nothing(none().into());
    };
    let found =
        if of_here.is_of_study(of_base) { by_block(of_here, of_base) } else { by_run(of_here, of_base) };
    found.unwrap_or_else(|| {
        Judged::Nothing(why(rows.iter().find(|doc| doc.row.low.is_none()).unwrap_or(&rows[0])))
    })
}

impl Found<'_> {
    /// All four figures are of single runs of one study.
    fn is_of_study(&self, other: &Found<'_>) -> bool {
        let study = |found: &Found<'_>| found.over.entries.first().map(|entry| entry.run.head.study.clone());
        self.paired && other.paired && study(self) == study(other)
    }
}

fn by_block(here: &Found<'_>, base: &Found<'_>) -> Option<Judged> {
    let values = |row: &super::super::prepared::SideRow<'_>| Some(judge::blocks(&row.speaking().ok()?));
    let [a, b, c, d] = [&here.over, &here.under, &base.over, &base.under].map(values);
    let blocks = stats::ratio::blocks(&a?, &b?, &c?, &d?).ok()?;
    let mut rng = Rng::new(SEED);
    Some(match stats::ratio_of_ratios_by_block(&blocks, RESAMPLES, &mut rng) {
        Ok(effect) => Judged::Blocks(effect, blocks.len()),
        Err(unfit) => Judged::Nothing(super::super::why::no_interval(None, &unfit).into()),
    })
}

/// Each ratio as its row has it, with what changes from run to run in its interval.
fn by_run(here: &Found<'_>, base: &Found<'_>) -> Option<Judged> {
    let (a, b) = (here.by_run?, base.by_run?);
    let effect = stats::ratio_of_ratios(&here.widened()?, &base.widened()?);
    let kind = a.noise.kind.min(b.noise.kind);
    let basis = match [a, b].map(|one| Basis::from(&one)) {
        [Basis::OneTake { each: a }, Basis::OneTake { each: b }] => Basis::OneTake { each: a && b },
        [Basis::OneTake { .. }, _] | [_, Basis::OneTake { .. }] => Basis::OneTake { each: false },
        _ => {
            let by_takes = [a, b].iter().any(|one| one.noise.prior == Prior::Takes);
            Basis::Runs { noise: kind, prior: if by_takes { Prior::Takes } else { Prior::Floor } }
        }
    };
    Some(Judged::Runs(effect, kind, basis))
}

impl Found<'_> {
    fn widened(&self) -> Option<Effect> {
        let by_run = self.by_run?.effect();
        let estimate = self.effect.map_or(by_run.estimate, |effect| effect.estimate);
        let by = estimate - by_run.estimate;
        let i = by_run.interval;
        let interval = stats::Interval { low: i.low + by, high: i.high + by, ..i };
        Some(Effect { estimate, interval, ..by_run })
    }
}

impl Judged {
    fn effect(&self) -> Option<&Effect> {
        match self {
            Judged::Blocks(effect, _) | Judged::Runs(effect, ..) => Some(effect),
            Judged::Point(_) | Judged::Refused(_) | Judged::Nothing(_) => None,
        }
    }

    const fn method(&self) -> Method {
        match self {
            Judged::Blocks(..) => Method::Blocks,
            Judged::Runs(..) => Method::Runs,
            Judged::Point(_) => Method::Point,
            Judged::Refused(_) | Judged::Nothing(_) => Method::None,
        }
    }

    fn noise(&self) -> Option<Noise> {
        match self {
            Judged::Blocks(..) => Some(Noise::Within),
            Judged::Runs(_, kind, _) => Some(noise::word(*kind)),
            Judged::Point(_) | Judged::Refused(_) | Judged::Nothing(_) => None,
        }
    }

    fn basis(&self) -> Option<Basis> {
        match self {
            Judged::Blocks(_, n) => Some(Basis::Blocks { n: *n }),
            Judged::Runs(_, _, basis) => Some(*basis),
            Judged::Point(_) => Some(Basis::Point),
            Judged::Refused(_) => Some(Basis::Invalid),
            Judged::Nothing(_) => None,
        }
    }

    fn why(&self, verdict: Verdict, family: usize) -> Why {
        match (self, verdict) {
            (Judged::Point(why) | Judged::Refused(why) | Judged::Nothing(why), _) => why.clone(),
            (_, Verdict::CannotTell(held)) => super::super::why::held_back(held, family).into(),
            _ => Why::default(),
        }
    }
}

impl Couple<'_, '_> {
    fn is_headline(&self) -> bool {
        let row = if self.here.found.is_some() { self.here } else { self.base };
        row.doc.row.headline
    }

    fn document(
        &self,
        (here, base): (&Machine<'_>, &Machine<'_>),
        (p, p_holm): (Option<f64>, Option<f64>),
        family: usize,
        options: &CompareOptions,
    ) -> RatioOfRatiosDoc {
        let (of_here, of_base) = (&self.here.doc.row, &self.base.doc.row);
        let row = if self.here.found.is_some() { of_here } else { of_base };
        let margin = self.margin((here, base), options);
        let effect = self.judged.effect();
        let way = value::way(row.better);
        // What went on while the four figures were measured widens this interval as it did those of the ratios.
        let wider: f64 = [of_here, of_base].iter().filter_map(|row| row.why.widened()).map(f64::ln_1p).sum();
        let widened = |i: stats::Interval| stats::Interval { low: i.low - wider, high: i.high + wider, ..i };
        let verdict = match self.judged.basis() {
            Some(basis) => stats::verdict(effect.map(|e| widened(e.interval)), p_holm, margin, way, basis),
            None => Verdict::CannotTell(Held::Interval),
        };
        let plain =
            || Some(of_here.ratio? / of_base.ratio?).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        let ratio = match self.judged {
            Judged::Refused(_) => None,
            _ => effect.map(Effect::ratio).or_else(plain),
        };
        let doc = RowDoc {
            unit: Unit::Ratio,
            better: row.better,
            params: row.params.clone(),
            headline: row.headline,
            index: None,
            arm: here.side.name.clone(),
            base: base.side.name.clone(),
            arm_value: of_here.ratio,
            base_value: of_base.ratio,
            ratio,
            low: effect.map(|e| e.interval.low.exp()),
            high: effect.map(|e| e.interval.high.exp()),
            p,
            p_holm,
            floor: None,
            noise: self.judged.noise(),
            noise_runs: Vec::new(),
            margin: margin.share(),
            verdict: value::word(verdict),
            why: self.judged.why(verdict, family),
            point: matches!(self.judged, Judged::Point(_)),
            per_price: None,
            per_watt: None,
            worth: None,
            lower_bounds: Vec::new(),
            ..row.clone()
        };
        let (method, bounds) = (self.judged.method(), self.bounds());
        RatioOfRatiosDoc { row: doc, method, bounds, unlike: self.unlike.clone() }
    }

    /// The bounds of the ratio of ratios where one ratio was published with bounds; `None` where both were.
    fn bounds(&self) -> Option<BoundsDoc> {
        let (here, base) = (&self.here.doc, &self.base.doc);
        let (low, high, kind) = match (&here.bounds, &base.bounds) {
            (Some(bounds), None) => {
                let ratio = base.row.ratio?;
                (bounds.low / ratio, bounds.high / ratio, &bounds.kind)
            }
            (None, Some(bounds)) => {
                let ratio = here.row.ratio?;
                (ratio / bounds.high, ratio / bounds.low, &bounds.kind)
            }
            _ => return None,
        };
        let sound = !matches!(self.judged, Judged::Refused(_));
        sound.then(|| BoundsDoc { low, high, kind: kind.clone() })
    }

    /// The usual one, or what the clocks of either ratio raised it to.
    fn margin(&self, (here, base): (&Machine<'_>, &Machine<'_>), options: &CompareOptions) -> Margin {
        let ids: BTreeSet<&str> = [here, base].iter().map(|one| one.side.machine.id.as_str()).collect();
        let usual = judged::margin(self.judged.method() == Method::Blocks && ids.len() == 1, options);
        let raised = self.here.doc.row.margin.max(self.base.doc.row.margin);
        let margin = Margin::new(raised).filter(|raised| *raised > usual);
        margin.unwrap_or(usual)
    }
}
