//! How figures at two values of one parameter relate (C over Java, one server over another) on each machine, and
//! whether that is so on every machine: ratios, ratios of ratios, and what they say.
//!
//! The first side is the base of the ratios of ratios. Published figures are points, whether a study printed both
//! figures or their ratio alone; points are never judged. Not done here: choosing which runs belong to a side.

mod across;
mod asked;
mod immature;
mod pool;
mod rows;
mod words;

use std::collections::BTreeSet;

use model::doc::{RatioDoc, RatioOfRatiosDoc, RatioRowDoc, RowDoc};
use model::{Better, card};

use super::prepared::Prepared;
use super::side::{CompareOptions, Side, arm_doc};
use super::{doubts, shared};
use across::Machine;
use asked::{AskedRatio, Known};
use pool::Pool;

pub use asked::Unmet;

/// The figures of every side at the two values that `PARAM=a/b` asks for.
pub fn ratio(given: &[Side<'_>], text: &str, options: &CompareOptions) -> Result<RatioDoc, Unmet> {
    let (sides, mut footnotes) = shared::apart(given);
    let pools: Vec<Pool<'_>> = sides.iter().map(|side| pool::pool(side, options)).collect();
    let mut known = Known::new();
    pools.iter().for_each(|pool| pool.known(&mut known));
    let asked = AskedRatio::parse(text, &known)?;
    // All that could be shown is corrected together, so that asking for one row makes no win of it.
    let everything = CompareOptions { metric: None, ..options.clone() };
    let whole: Option<Vec<Pool<'_>>> =
        options.metric.is_some().then(|| sides.iter().map(|side| pool::pool(side, &everything)).collect());
    let mut machines: Vec<Machine<'_>> = whole
        .as_ref()
        .unwrap_or(&pools)
        .iter()
        .map(|pool| Machine { side: pool.side, lines: rows::rows(pool, &asked, options) })
        .collect();
    let mut ratios_of_ratios: Vec<RatioOfRatiosDoc> = across::ratios(&machines, options);
    let only_heads = !options.all && options.metric.is_none();
    for machine in &mut machines {
        show(&mut machine.lines, |line| &line.doc.row, only_heads, options);
    }
    show(&mut ratios_of_ratios, |one| &one.row, only_heads, options);
    if machines.iter().all(|machine| machine.lines.is_empty()) {
        let differ = differing(&pools, &asked);
        return Err(Unmet::Alone { param: asked.param, differ });
    }
    let mut rows: Vec<RatioRowDoc> =
        machines.iter().flat_map(|machine| machine.lines.iter().map(|line| line.doc.clone())).collect();
    let all = rows.iter_mut().map(|one| &mut one.row);
    for row in all.chain(ratios_of_ratios.iter_mut().map(|one| &mut one.row)) {
        row.card = card::find(options.cards, &row.instrument);
    }
    let mut findings = immature::findings(&ratios_of_ratios, &sides, &asked);
    findings.extend(doubted(&pools, &asked));
    footnotes.extend(notes(&machines, &rows, &ratios_of_ratios, &asked));
    Ok(RatioDoc {
        cards: options.cards,
        schema: "boxscore.ratio/1".to_owned(),
        paragraph: words::paragraph(&rows, &asked),
        param: asked.param,
        over: asked.over,
        under: asked.under,
        machines: (sides.iter().zip(given))
            .map(|(side, given)| arm_doc(side, given.runs.is_empty(), options.cards))
            .collect(),
        rows,
        ratios_of_ratios,
        findings,
        footnotes,
    })
}

/// Leaves the rows that were asked for; only headlines and points of them if so wanted and there are any.
fn show<T>(all: &mut Vec<T>, row: fn(&T) -> &RowDoc, only_heads: bool, options: &CompareOptions) {
    all.retain(|one| options.wants(&row(one).instrument, &row(one).metric));
    let is_head = |one: &T| row(one).headline || row(one).point;
    if only_heads && all.iter().any(is_head) {
        all.retain(is_head);
    }
}

/// In what figures at the two values differ besides, one sentence an instrument.
fn differing(pools: &[Pool<'_>], asked: &AskedRatio) -> Vec<String> {
    let mut sentences: BTreeSet<String> = BTreeSet::new();
    for pool in pools {
        let at = |value: &str| {
            let figures = pool.figures.iter().map(|figure| &figure.key);
            figures.filter_map(|key| pool::without(key, &asked.param, value)).collect::<Vec<_>>()
        };
        let (overs, unders) = (at(&asked.over), at(&asked.under));
        for over in &overs {
            let same = unders.iter().filter(|under| rows::is_one_metric(over, under));
            for (name, value) in &over.params {
                let others: BTreeSet<&str> =
                    same.clone().filter_map(|under| under.params.get(name)).collect();
                if !others.is_empty() && !others.contains(value.as_str()) {
                    let others: Vec<&str> = others.into_iter().collect();
                    sentences.insert(format!(
                        "{}: {name} is {value} with {}, {} with {}",
                        over.instrument,
                        asked.over,
                        others.join(" or "),
                        asked.under
                    ));
                }
            }
        }
    }
    sentences.into_iter().collect()
}

/// Doubts of the rules, under the side that each is about.
fn doubted(pools: &[Pool<'_>], asked: &AskedRatio) -> Vec<model::Finding> {
    let mut prepared: Vec<Prepared<'_>> = pools
        .iter()
        .map(|pool| Prepared { doubts: pool.doubts(asked), ..Prepared::new(pool.side) })
        .collect();
    doubts::findings(&mut prepared)
}

/// Caveats: what a point is, what is not like with like, what an interval leaves out.
fn notes(
    machines: &[Machine<'_>],
    rows: &[RatioRowDoc],
    across: &[RatioOfRatiosDoc],
    asked: &AskedRatio,
) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for machine in machines.iter().filter(|machine| machine.lines.is_empty()) {
        let AskedRatio { param, over, under } = asked;
        add(format!("{}: no two figures that differ in {param}={over} and {under} alone", machine.side.name));
    }
    for row in rows.iter().filter(|row| row.row.point && row.row.better == Better::Neither) {
        add(format!("{}: {}", row.machine, row.row.why));
    }
    for row in across.iter().filter(|row| !row.unlike.is_empty()) {
        add(format!("{} and {} are not alike in {}", row.row.arm, row.row.base, row.unlike.join("; ")));
    }
    let is = |method| rows.iter().any(|row| row.method == method);
    if is(model::doc::Method::Blocks) {
        add("one study: ratios are paired by block, and what changes from run to run is not in their intervals; it is \
             in those of ratios of ratios between studies"
            .to_owned());
    }
    notes
}
