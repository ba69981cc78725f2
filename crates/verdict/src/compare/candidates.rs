//! The rows of a pair of sides before they are judged: every figure that both have, measured or published.

use std::collections::BTreeSet;

use model::{Better, Samples};

use super::matching::{Match, RowKey, all_published_for};
use super::points;
use super::prepared::{Prepared, SideRow, SideValue};
use super::rates;
use super::side::CompareOptions;

/// A row before it is judged.
pub struct Candidate<'p, 'a> {
    pub key: RowKey,
    pub better: Better,
    pub headline: bool,
    pub arm: SideValue<'p, 'a>,
    pub base: SideValue<'p, 'a>,
}

impl Candidate<'_, '_> {
    /// It counts in its family: both sides measured it by takes and may speak.
    pub fn is_judged(&self, options: &CompareOptions) -> bool {
        let speaks =
            |said: &SideValue<'_, '_>| matches!(said, SideValue::Measured(row) if row.speaking().is_ok());
        self.key.samples(options.cards) == Samples::Takes && speaks(&self.arm) && speaks(&self.base)
    }
}

/// Every row that both sides have, measured or published.
pub fn candidates<'p, 'a>(
    arm: &'p Prepared<'a>,
    base: &'p Prepared<'a>,
    variants: &BTreeSet<RowKey>,
    options: &CompareOptions,
) -> Vec<Candidate<'p, 'a>> {
    let mut rows: Vec<Candidate<'p, 'a>> = Vec::new();
    for key in keys(arm, base) {
        let Some(better) = base.better(&key).or_else(|| arm.better(&key)) else { continue };
        if variants.contains(&key) {
            rows.extend(each_variant(arm, base, &key, better, options));
            continue;
        }
        let of_arm = arm.says(&key, better, base, options.cards);
        let of_base = base.says(&key, better, arm, options.cards);
        let (Some(of_arm), Some(of_base)) = (of_arm, of_base) else { continue };
        let headline = [&of_arm, &of_base].iter().all(|said| match said {
            SideValue::Measured(row) => row.headline,
            SideValue::Point(_) => true,
        }) && (is_matched(&of_arm, &of_base) || !rates::are_apart(&of_arm, &of_base));
        rows.push(Candidate { key, better, headline, arm: of_arm, base: of_base });
    }
    if !options.all {
        one_for_each_point(&mut rows, options);
    }
    rows.extend(points::candidates(arm, base, options));
    rows
}

/// The user named two loads that differ in what they were asked for: they are shown, whatever can be said of them.
fn is_matched(arm: &SideValue<'_, '_>, base: &SideValue<'_, '_>) -> bool {
    matches!((arm, base), (SideValue::Measured(arm), SideValue::Measured(base)) if arm.given != base.given)
}

/// Rows beside which some published machine has several figures, told apart by what only it states.
pub fn variants(prepared: &[Prepared<'_>], options: &CompareOptions) -> BTreeSet<RowKey> {
    let with_points: Vec<&Prepared<'_>> =
        prepared.iter().filter(|side| !side.side.published.is_empty()).collect();
    if with_points.is_empty() {
        return BTreeSet::new();
    }
    let several = |of: &Prepared<'_>, key: &RowKey, better: Better| {
        let conditions = of.conditions(key, options.cards);
        let published =
            |side: &Prepared<'_>| all_published_for(key, &conditions, better, &side.side.published).len() > 1;
        with_points.iter().any(|side| !side.rows.contains_key(key) && published(side))
    };
    let rows = prepared.iter().flat_map(|side| side.rows.iter().map(move |row| (side, row)));
    rows.filter(|(side, (key, row))| several(side, key, row.better))
        .map(|(_, (key, _))| key.clone())
        .collect()
}

/// A measured row beside each of the published figures that fit it equally, as a row of its own.
fn each_variant<'p, 'a>(
    arm: &'p Prepared<'a>,
    base: &'p Prepared<'a>,
    key: &RowKey,
    better: Better,
    options: &CompareOptions,
) -> Vec<Candidate<'p, 'a>> {
    let stated = |point: &Match<'_>| RowKey { params: key.params.with(&point.stated), ..key.clone() };
    let points = |side: &'p Prepared<'a>, beside: &Prepared<'a>| {
        let conditions = beside.conditions(key, options.cards);
        all_published_for(key, &conditions, better, &side.side.published).into_iter()
    };
    let said = |row: &'p SideRow<'a>| SideValue::Measured(row);
    let row_of = |key, headline, arm, base| Candidate { key, better, headline, arm, base };
    match (arm.rows.get(key), base.rows.get(key)) {
        (Some(row), None) => points(base, arm)
            .map(|point| row_of(stated(&point), row.headline, said(row), SideValue::Point(point)))
            .collect(),
        (None, Some(row)) => points(arm, base)
            .map(|point| row_of(stated(&point), row.headline, SideValue::Point(point), said(row)))
            .collect(),
        (Some(of_arm), Some(of_base)) if of_arm.better == of_base.better => {
            vec![row_of(key.clone(), of_arm.headline && of_base.headline, said(of_arm), said(of_base))]
        }
        _ => Vec::new(),
    }
}

/// Where a published figure leaves so much open that several of our rows match it: a headline before others, then the
/// row with the most parameters as they usually are.
fn one_for_each_point(rows: &mut Vec<Candidate<'_, '_>>, options: &CompareOptions) {
    let figure = |row: &Candidate<'_, '_>| match (&row.arm, &row.base) {
        (SideValue::Measured(_), SideValue::Point(point))
        | (SideValue::Point(point), SideValue::Measured(_)) => Some(std::ptr::from_ref(point.row)),
        _ => None,
    };
    let usual = |key: &RowKey| {
        let card = options.cards.iter().find(|card| card.name == key.instrument);
        let is_default = |(name, value): &(&String, &String)| {
            card.and_then(|card| card.param(name)).is_some_and(|spec| spec.default == value.as_str())
        };
        key.params.iter().filter(is_default).count()
    };
    let figures: Vec<_> = rows.iter().map(|row| (figure(row), (row.headline, usual(&row.key)))).collect();
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

/// Keys of measured figures in the order of the base, then those of the arm.
fn keys(arm: &Prepared<'_>, base: &Prepared<'_>) -> Vec<RowKey> {
    let mut all = base.order.clone();
    all.extend(arm.order.iter().filter(|key| !base.rows.contains_key(key)).cloned());
    all
}
