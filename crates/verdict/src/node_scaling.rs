//! How the rate of a job on a cluster grows with its nodes, and what of a node's rate is left.
//!
//! Efficiency is the rate a node over that of the fewest nodes; its interval is by block, and by sitting where there
//! are enough of them, as between arms. Numbers of nodes may be values of `--nodes` or arms.

use std::collections::BTreeSet;

use model::data::{RunData, Series};
use model::doc::{EstimateDoc, NodePointDoc, NodeScalingDoc, SeriesDoc};
use model::metrics::hadoop::RATE;
use model::{Family, Params, Phase, Validity};
use stats::Paired;

use crate::jobs::{NODES, beside, name};

/// The jobs of a run that were measured on several numbers of nodes.
pub fn of_run(run: &RunData, rows: &[SeriesDoc]) -> Vec<NodeScalingDoc> {
    let is_rate = |row: &&SeriesDoc| {
        let is_job = row.card.is_some_and(|card| card.family == Family::Hadoop);
        is_job && row.metric == RATE.name() && row.median.is_some() && row.validity != Validity::Invalid
    };
    let rates: Vec<&SeriesDoc> = rows.iter().filter(is_rate).collect();
    let mut all: Vec<(NodeScalingDoc, Vec<&SeriesDoc>)> = Vec::new();
    for row in &rates {
        let mut params = row.params.clone();
        params.0.remove(NODES);
        // Where arms differ in the number of nodes alone, they are points of one curve.
        let is_twin = |other: &&&SeriesDoc| {
            other.arm != row.arm
                && other.instrument == row.instrument
                && other.params.get(NODES) == row.params.get(NODES)
                && without_nodes(&other.params) == params
        };
        let arm = if rates.iter().any(|other| is_twin(&other)) { row.arm.clone() } else { String::new() };
        let is_its = |(doc, _): &&mut (NodeScalingDoc, Vec<&SeriesDoc>)| {
            doc.instrument == row.instrument && doc.params == params && doc.arm == arm
        };
        match all.iter_mut().find(is_its) {
            Some((_, points)) => points.push(row),
            None => {
                let (name, instrument) = (name(row), row.instrument.clone());
                all.push((NodeScalingDoc { name, instrument, params, arm, points: Vec::new() }, vec![row]));
            }
        }
    }
    let filled = |(doc, mut rows): (NodeScalingDoc, Vec<&SeriesDoc>)| {
        rows.sort_by_key(|row| nodes(&row.params));
        let base = *rows.first()?;
        let points: Option<Vec<NodePointDoc>> = rows.iter().map(|row| point(run, row, base)).collect();
        let points = points.filter(|points| points.len() > 1)?;
        Some(NodeScalingDoc { points, ..doc })
    };
    all.into_iter().filter_map(filled).collect()
}

fn without_nodes(params: &Params) -> Params {
    let mut params = params.clone();
    params.0.remove(NODES);
    params
}

fn nodes(params: &Params) -> Option<u32> {
    params.get(NODES)?.parse().ok().filter(|nodes| *nodes > 0)
}

fn point(run: &RunData, row: &SeriesDoc, base: &SeriesDoc) -> Option<NodePointDoc> {
    let (own, least) = (nodes(&row.params)?, nodes(&base.params)?);
    let rate = EstimateDoc { value: row.median, low: row.low, high: row.high, why: row.why.clone() };
    let efficiency = match own == least {
        true => EstimateDoc { value: Some(1.0), low: None, high: None, why: None },
        false => efficiency(run, row, base, f64::from(least) / f64::from(own)),
    };
    Some(NodePointDoc { nodes: own, rate, efficiency })
}

fn efficiency(run: &RunData, row: &SeriesDoc, base: &SeriesDoc, nodes: f64) -> EstimateDoc {
    let both = beside(run, row, RATE.name()).zip(beside(run, base, RATE.name()));
    let plain = row.median.zip(base.median).map(|(own, base)| own / base * nodes);
    match both.ok_or(stats::Unfit::Empty).and_then(|(own, base)| paired(own, base)) {
        Ok(found) => EstimateDoc {
            value: Some(found.estimate.exp() * nodes),
            low: found.interval.map(|ends| ends.low.exp() * nodes),
            high: found.interval.map(|ends| ends.high.exp() * nodes),
            why: found.why.map(|why| why.to_string()),
        },
        Err(why) => EstimateDoc { value: plain, low: None, high: None, why: Some(why.to_string()) },
    }
}

/// The difference of logarithms by block; by sitting where enough of these have both.
fn paired(own: &Series, base: &Series) -> Result<Paired, stats::Unfit> {
    let sittings: BTreeSet<u32> = own.points.iter().map(|point| point.sitting).collect();
    let of = |series: &Series, sitting: Option<u32>| -> Vec<(u64, f64)> {
        let its = series.points.iter().filter(|point| {
            point.phase == Phase::Measured && sitting.is_none_or(|sitting| point.sitting == sitting)
        });
        its.filter_map(|point| Some((u64::from(point.block), point.number()?))).collect()
    };
    let pairs = sittings.iter().map(|one| stats::pair_blocks(&of(own, Some(*one)), &of(base, Some(*one))));
    let d = pairs.filter(|pair| *pair != Err(stats::Unfit::Empty)).collect::<Result<Vec<_>, _>>()?;
    if d.len() >= stats::MIN_SITTINGS {
        return stats::paired_sittings(&d.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }
    stats::paired(&stats::pair_blocks(&of(own, None), &of(base, None))?, 1)
}
