//! The boxes that an amount of money buys of each candidate, and how boxes and cost grow with the demand.

use model::doc::{BoughtDoc, CostCurveDoc, CostPointDoc, EstimateDoc};

use super::draws::{Draw, known};
use super::energy::saturated;
use super::sized::Sized;
use super::sorted::at;
use super::swing::interval;
use super::values::{Inputs, Shared};
use super::world::{Common, boxes, cost, counted, spare};
use super::{Candidate, Question};

const HOUR_S: f64 = 3600.0;
/// Candidates whose curve is drawn, and the factors of the demand that it spans.
const DRAWN: usize = 6;
const LEAST: f64 = 0.1;
const MOST: f64 = 3.0;
const POINTS: i32 = 60;
const HALVINGS: usize = 40;
/// Factors that are the same but for rounding.
const SAME: f64 = 1e-9;

/// The boxes that an amount buys: without energy and space; rented ones for the whole life.
pub fn bought(all: &[Sized<'_>], question: &Question, middle: &Shared, amount: f64) -> Vec<BoughtDoc> {
    all.iter().filter_map(|one| buy(one, question, middle, amount)).collect()
}

fn buy(one: &Sized<'_>, question: &Question, middle: &Shared, amount: f64) -> Option<BoughtDoc> {
    let is_hourly = one.candidate.price.as_ref()?.hourly;
    let each = one.own.inputs.price? * if is_hourly { question.life_s / HOUR_S } else { 1.0 };
    let boxes = (amount / each * (1.0 + 1e-9)).floor().clamp(0.0, 1e9) as u64;
    let does = known(one.candidate)?.into_iter().zip(&question.needs).map(|(capacity, need)| {
        let all = |value: f64| match need.need.is_space() {
            true => value * boxes as f64,
            false => value * middle.law.does(boxes as f64) * one.own.inputs.used(middle),
        };
        let ends = interval(capacity);
        Some(EstimateDoc {
            value: Some(all(capacity.ln.exp())),
            low: ends.map(|(low, _)| all(low)),
            high: ends.map(|(_, high)| all(high)),
            why: ends.is_none().then(|| "the figure is a point".to_owned()),
        })
    });
    Some(BoughtDoc {
        candidate: one.candidate.name.clone(),
        amount,
        boxes,
        does: does.collect(),
        is_enough: boxes >= one.total(question),
    })
}

/// Boxes and cost over factors of the demand, of the first candidates.
pub fn curves(all: &[Sized<'_>], question: &Question, middle: &Shared, common: Common) -> Vec<CostCurveDoc> {
    let factors = factors(all, question, middle);
    let curve = |one: &Sized<'_>| {
        let draws = by_fleet(one);
        let quantile = |share: f64| at(&draws, share);
        let (low, sure, high) = (quantile(0.025)?, quantile(question.sure)?, quantile(0.975)?);
        let mean = saturated(one.candidate, question, &middle.mean, &one.own.capacity);
        let point = |factor: &f64| {
            let by = |draw: &Draw| {
                let needed = boxes(draw.load.times(*factor), draw.used, middle.law)?;
                let total = needed + spare(needed, question.spare);
                let money = priced(
                    one.candidate,
                    question,
                    (middle, &one.own.inputs),
                    (total, mean * factor),
                    common,
                );
                Some((needed, money))
            };
            let (boxes, cost) = by(sure)?;
            let end = |draw: &Draw| by(draw).and_then(|(_, cost)| cost);
            Some(CostPointDoc { factor: *factor, boxes, cost, low: end(low), high: end(high) })
        };
        let points = factors.iter().filter_map(point).collect();
        Some(CostCurveDoc { candidate: one.candidate.name.clone(), points })
    };
    all.iter().take(DRAWN).filter_map(curve).collect()
}

fn by_fleet<'d>(one: &'d Sized<'_>) -> Vec<&'d Draw> {
    let mut draws: Vec<&Draw> = one.draws.iter().collect();
    draws.sort_by(|a, b| a.fleet.total_cmp(&b.fleet));
    draws
}

/// Factors of the demand, rising: evenly spaced ones, the demand as it is, and those at which a candidate needs its
/// next box, where there are few enough that none lies between two others.
fn factors(all: &[Sized<'_>], question: &Question, middle: &Shared) -> Vec<f64> {
    let even = |step: i32| LEAST * (MOST / LEAST).powf(f64::from(step) / f64::from(POINTS));
    let mut factors: Vec<f64> = (0..=POINTS).map(even).chain([1.0]).collect();
    factors.sort_by(f64::total_cmp);
    let pairs: Vec<(f64, f64)> = factors.windows(2).map(|pair| (pair[0], pair[1])).collect();
    for one in all.iter().take(DRAWN) {
        let draws = by_fleet(one);
        let Some(sure) = at(&draws, question.sure) else { continue };
        let needed = |factor: f64| boxes(sure.load.times(factor), sure.used, middle.law);
        factors.extend(pairs.iter().filter_map(|pair| next_box(*pair, needed)));
    }
    factors.sort_by(f64::total_cmp);
    factors.dedup_by(|a, b| (*a / *b - 1.0).abs() < SAME);
    factors
}

/// The factor between two at which the next box is needed, where that is the only one.
fn next_box((mut near, mut far): (f64, f64), needed: impl Fn(f64) -> Option<u64>) -> Option<f64> {
    let before = needed(near)?;
    if needed(far)? != before + 1 {
        return None;
    }
    for _ in 0..HALVINGS {
        let between = (near * far).sqrt();
        if needed(between)? == before { near = between } else { far = between }
    }
    Some(far)
}

fn priced(
    candidate: &Candidate,
    question: &Question,
    world: (&Shared, &Inputs),
    boxes: (u64, f64),
    common: Common,
) -> Option<f64> {
    cost(candidate, question, world, boxes).map(|parts| counted(parts, common))
}
