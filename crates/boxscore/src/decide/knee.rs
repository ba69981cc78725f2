//! The share of a box that is used at the knee of its curve: beyond it, time grows faster than throughput.

use model::doc::CurveDoc;
use model::need::Ranged;
use verdict::{RunContext, RunIndex};

use super::asked::Said;
use crate::error::CliError;
use crate::lookup::resolve::Loaded;

/// The smallest and the largest of the candidates' knees, and the words for them.
pub fn utilisation(said: &Said, sides: &[Loaded]) -> Result<(Ranged, String), CliError> {
    let knees: Vec<(String, f64)> =
        sides.iter().filter_map(|side| Some((side.name.clone(), of_side(side)?))).collect();
    let shares = knees.iter().map(|(_, share)| *share);
    let (low, high) = (shares.clone().min_by(f64::total_cmp), shares.max_by(f64::total_cmp));
    let Some((low, high)) = low.zip(high) else {
        return Err(said.wrong(
            "no side has a curve with a knee",
            "`boxscore run web` measures several offered rates; or say a share, such as 60%",
        ));
    };
    let all: Vec<String> =
        knees.iter().map(|(name, share)| format!("{name} {}", model::format::percent(*share))).collect();
    Ok((Ranged { low, high }, format!("{}, the knees of the curves: {}", said.from, all.join(", "))))
}

/// Of the newest run that has one.
fn of_side(side: &Loaded) -> Option<f64> {
    side.runs.iter().rev().find_map(|run| {
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let curves = verdict::curves(&RunIndex::new(run, &context), &[]);
        let is_own = |curve: &&CurveDoc| side.arm.as_ref().is_none_or(|arm| curve.arm == *arm);
        curves.iter().filter(is_own).find_map(share)
    })
}

/// The knee's load over the highest one that was held.
fn share(curve: &CurveDoc) -> Option<f64> {
    let (knee, peak) = (curve.knee.as_ref()?, curve.peak.as_ref()?);
    let share = knee.x / peak.x;
    (share > 0.0 && share <= 1.0).then_some(share)
}
