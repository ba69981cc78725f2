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
        params.remove(NODES);
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
    params.remove(NODES);
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

#[cfg(test)]
mod tests {
    use model::doc::RunDoc;
    use model::{Cell, Value};

    use super::*;
    use crate::loads::planted::{TAKES, empty, params, series, takes};
    use crate::run_index::RunContext;

    /// Jobs on these numbers of nodes, in these arms, at these rates, which spread alike.
    fn planted(jobs: &[(&str, &str, f64)]) -> Vec<NodeScalingDoc> {
        spread(jobs, |_, seq| 1.0 + 0.01 * (seq * 7 % 5) as f64).node_scaling
    }

    /// Jobs whose rates are these times a factor of their parameters and the number of the take.
    fn spread(jobs: &[(&str, &str, f64)], factor: fn(&str, u64) -> f64) -> RunDoc {
        let mut run = empty();
        for (given, arm, rate) in jobs {
            let near = |seq: u64| Value::Number(rate * factor(given, seq));
            let points: Vec<(u64, Value)> =
                takes(&mut run, 0).into_iter().map(|seq| (seq, near(seq % TAKES))).collect();
            let key = params(&format!("data=1GiB;{given}"));
            let cell =
                Cell { instrument: "hadoop-terasort".to_owned(), params: key.clone(), headline: Vec::new() };
            run.plan.cells.push(cell);
            series(&mut run, "hadoop-terasort", RATE.name(), key, arm, &points);
        }
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        crate::run_doc(&run, &context)
    }

    fn efficiencies(doc: &NodeScalingDoc) -> Vec<(u32, f64)> {
        let of = |point: &NodePointDoc| Some((point.nodes, (point.efficiency.value? * 1e3).round() / 1e3));
        doc.points.iter().filter_map(of).collect()
    }

    #[test]
    fn efficiency_is_held_against_the_fewest_nodes() {
        let all = planted(&[("nodes=3", "", 12e6), ("nodes=1", "", 8e6), ("nodes=2", "", 12e6)]);
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.name.as_str(), one.arm.as_str()), ("TeraSort of 1.00 GiB", ""));
        assert_eq!(one.params, params("data=1GiB"));
        assert_eq!(efficiencies(one), [(1, 1.0), (2, 0.75), (3, 0.5)]);
        // Blocks that are slow alike are no spread of the ratio.
        let (low, high) = one.points[1].efficiency.interval().unwrap();
        assert!(low > 0.74 && high < 0.76, "{low} {high}");
        assert_eq!(one.points[0].efficiency.interval(), None);
    }

    #[test]
    fn arms_that_differ_in_nodes_alone_are_one_curve_and_others_are_not() {
        let all = planted(&[("nodes=2", "two", 6e6), ("nodes=4", "four", 9e6)]);
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.arm.as_str(), efficiencies(one)), ("", vec![(2, 1.0), (4, 0.75)]));
        let [few, more] = ["nodes=1", "nodes=2"];
        let all = planted(&[(few, "a", 8e6), (more, "a", 8e6), (few, "b", 8e6), (more, "b", 8e6)]);
        let arms: Vec<(&str, usize)> = all.iter().map(|one| (one.arm.as_str(), one.points.len())).collect();
        assert_eq!(arms, [("a", 2), ("b", 2)]);
    }

    /// The ratio by block is another than that of the medians.
    #[test]
    fn the_answer_tells_the_efficiency_of_the_curve() {
        let jobs = [("nodes=1", "", 8e6), ("nodes=2", "", 8e6)];
        let doc = spread(&jobs, |given, seq| if given == "nodes=2" && seq > 4 { 2.0 } else { 1.0 });
        let efficiency = doc.node_scaling[0].points[1].efficiency.value.unwrap();
        assert!(efficiency > 0.55, "{efficiency}");
        let told = format!(", {} of 2 times one node", model::format::percent(efficiency));
        let answer = doc.answer.unwrap();
        assert!(answer.sentence.contains(&told), "{told}: {}", answer.sentence);
    }

    #[test]
    fn one_number_of_nodes_is_no_curve() {
        assert_eq!(planted(&[("nodes=2", "", 8e6)]), []);
        assert_eq!(planted(&[]), []);
    }
}
