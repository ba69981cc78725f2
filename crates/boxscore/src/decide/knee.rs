//! The share of a box that is used at the knee of its curve: beyond it, time grows faster than throughput.
//!
//! A decision has one utilisation for all sides and needs: the range of their knees.

use model::doc::CurveDoc;
use model::need::{Need, Ranged};
use verdict::decide::capacity::load_of;
use verdict::{Judged, JudgedSide};

use super::asked::Said;
use crate::error::CliError;

/// The knee of a side's curve of one load.
#[derive(Clone, Debug, PartialEq)]
struct Knee {
    side: String,
    load: &'static str,
    share: f64,
}

/// The utilisation by knees, the words for where it is from, and what is to be said of it.
pub struct Found {
    pub share: Ranged,
    pub from: String,
    pub note: Option<String>,
}

/// The smallest and the largest of the candidates' knees of the loads that the needs are of.
pub fn utilisation(said: &Said, sides: &[JudgedSide<'_>], needs: &[Need]) -> Result<Found, CliError> {
    let mut loads: Vec<&'static str> =
        needs.iter().filter_map(|need| load_of(instruments::cards(), &need.work)).collect();
    loads.sort_unstable();
    loads.dedup();
    let of = |side: &JudgedSide<'_>| loads.iter().filter_map(|load| of_side(side, load)).collect::<Vec<_>>();
    let names: Vec<&str> = sides.iter().map(|side| side.side.name.as_str()).collect();
    found(said, &names, &loads, &sides.iter().flat_map(of).collect::<Vec<_>>())
}

fn found(said: &Said, sides: &[&str], loads: &[&str], knees: &[Knee]) -> Result<Found, CliError> {
    let shares = knees.iter().map(|knee| knee.share);
    let (low, high) = (shares.clone().min_by(f64::total_cmp), shares.max_by(f64::total_cmp));
    let Some((low, high)) = low.zip(high) else {
        let what = match loads {
            [] => "no need is of a load, and only loads have curves with a knee".to_owned(),
            loads => format!("no side has a curve of {} with a knee", loads.join(" or ")),
        };
        return Err(said
            .wrong(&what, "`boxscore run web` measures several offered rates; or say a share, such as 60%"));
    };
    let words = |knee: &Knee| {
        let load = if loads.len() > 1 { format!(" ({})", knee.load) } else { String::new() };
        format!("{}{load} {}", knee.side, model::format::percent(knee.share))
    };
    let all: Vec<String> = knees.iter().map(words).collect();
    let has_none = |name: &&&str| !knees.iter().any(|knee| knee.side == **name);
    let without: Vec<String> = sides.iter().filter(has_none).map(|name| (*name).to_owned()).collect();
    let is_one = sides.len() * loads.len() == 1;
    let missing = match without.as_slice() {
        [] => String::new(),
        [only] => format!("; {only} has no such curve"),
        several => format!("; {} have no such curve", model::format::list(several)),
    };
    let note = (!is_one).then(|| {
        let all = model::format::list(&all);
        format!("one utilisation stands for all sides and needs, that of the knees of {all}{missing}")
    });
    let from = format!("{}, the knees of the curves: {}", said.from, all.join(", "));
    Ok(Found { share: Ranged { low, high }, from, note })
}

/// The knee of a load in the newest run that has one; of several setups that with the highest rate, as of capacities.
fn of_side(judged: &JudgedSide<'_>, load: &'static str) -> Option<Knee> {
    let side = judged.side;
    let of_run = |one: &Judged<'_>| {
        let is_own = |curve: &&CurveDoc| side.arm.as_ref().is_none_or(|arm| curve.arm == *arm);
        best(verdict::curves(one.index(), &[]).iter().filter(is_own), load)
    };
    let share = judged.runs.iter().rev().find_map(|one| of_run(one))?;
    Some(Knee { side: side.name.clone(), load, share })
}

fn best<'c>(curves: impl Iterator<Item = &'c CurveDoc>, load: &str) -> Option<f64> {
    let known = curves.filter(|curve| curve.instrument == load).filter_map(share);
    known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, share)| share)
}

/// The highest load that was held, and the knee's as a share of it.
fn share(curve: &CurveDoc) -> Option<(f64, f64)> {
    let (knee, peak) = (curve.knee.as_ref()?, curve.peak.as_ref()?);
    let share = knee.x / peak.x;
    (share > 0.0 && share <= 1.0).then_some((peak.x, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said() -> Said {
        Said { given: "knee".into(), at: "--utilisation".into(), from: "--utilisation".into() }
    }

    fn knee(side: &str, load: &'static str, share: f64) -> Knee {
        Knee { side: side.into(), load, share }
    }

    fn curve(instrument: &str, knee: f64, peak: f64) -> CurveDoc {
        serde_json::from_value(serde_json::json!({
            "instrument": instrument, "over": "offered-load", "arrivals": "poisson", "params": {}, "arm": "",
            "capacity": null, "points": [], "why": null,
            "peak": {"x": peak, "throughput": peak, "mean_response": null, "text": ""},
            "knee": {"x": knee, "throughput": knee, "mean_response": null, "text": ""}
        }))
        .unwrap()
    }

    #[test]
    fn the_curve_of_the_needs_load_counts() {
        let curves = [curve("kv-load", 900.0, 1000.0), curve("web", 60.0, 100.0), curve("web", 140.0, 200.0)];
        assert_eq!([best(curves.iter(), "web"), best(curves.iter(), "kv-load")], [Some(0.7), Some(0.9)]);
        assert_eq!(best(curves[..1].iter(), "web"), None);
    }

    #[test]
    fn one_range_of_several_knees_is_said() {
        let sides = ["a", "b", "c"];
        let all = [knee("a", "web", 0.6), knee("b", "web", 0.8)];
        let found = found(&said(), &sides, &["web"], &all).unwrap();
        assert_eq!(found.share, Ranged { low: 0.6, high: 0.8 });
        assert_eq!(
            found.note.as_deref(),
            Some(
                "one utilisation stands for all sides and needs, that of the knees of a 60 % and b 80 %; \
                 c has no such curve"
            )
        );
        let alone = super::found(&said(), &sides[..1], &["web"], &all[..1]).unwrap();
        assert_eq!(alone.note, None);
        let Err(error) = super::found(&said(), &sides, &["kv-load"], &[]) else { panic!("there is no knee") };
        assert!(error.message.contains("no side has a curve of kv-load with a knee"), "{error}");
    }
}
