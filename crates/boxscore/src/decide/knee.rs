//! The share of a box that is used at the knee of its curve: beyond it, time grows faster than throughput.
//!
//! Each side has its own: the knee's offered load as a share of the highest that was held on the same curve. Of needs
//! of several loads the lowest counts, since their work shares the box. A side without a curve has the command that
//! measures it, and no share.

use model::doc::{CurveDoc, ExcludedDoc};
use model::format::quantity;
use model::need::{Need, Ranged};
use model::unit::Unit;
use verdict::decide::Input;
use verdict::decide::capacity::{Options, curve_command, load_of};
use verdict::{JudgedSide, place};

use super::asked::Said;
use super::inputs::utilisation_doc;
use super::watts::is_of_requests;
use crate::error::CliError;
use crate::lookup::ids::short;

/// The knee of a curve, the highest load that was held on it, and what the curve leaves open.
#[derive(Clone, Debug, PartialEq)]
struct Knee {
    at: f64,
    peak: f64,
    why: Option<String>,
}

impl Knee {
    fn share(&self) -> f64 {
        self.at / self.peak
    }
}

/// Fails where no need is of a load.
pub fn check(said: &Said, needs: &[Need]) -> Result<(), CliError> {
    match loads(needs).is_empty() {
        true => Err(said.wrong(
            "no need is of a load, and only loads have curves with a knee",
            "say a share, such as 60%",
        )),
        false => Ok(()),
    }
}

/// The needs that are of a load, each with its load.
fn loads(needs: &[Need]) -> Vec<(&'static str, &Need)> {
    needs.iter().filter_map(|need| Some((load_of(instruments::cards(), &need.work)?, need))).collect()
}

/// The share of a side's box that is used; `None` where no need is of a load. Fails, with the command that would
/// measure it, where a load has no knee.
pub fn of_side(
    judged: &JudgedSide<'_>,
    needs: &[Need],
    options: &Options<'_>,
) -> Result<Option<Input>, ExcludedDoc> {
    let one = |of: (&'static str, &Need)| {
        let load = of.0;
        let found = newest(judged, of, options).ok_or_else(|| missing(judged, of, options));
        found.map(|(knee, run)| (load, knee, run))
    };
    let all: Vec<(&str, Knee, String)> = loads(needs).into_iter().map(one).collect::<Result<_, _>>()?;
    let lowest = all.into_iter().min_by(|a, b| a.1.share().total_cmp(&b.1.share()));
    Ok(lowest.map(|(load, knee, run)| input(load, &knee, &run)))
}

fn input(load: &str, knee: &Knee, run: &str) -> Input {
    let rate = |rate: f64| quantity(rate, Unit::PerSec);
    let why = knee.why.as_ref().map_or_else(String::new, |why| format!("; {why}"));
    let from = format!(
        "the knee of its curve of {load} in run {run}: {} of the {} that it held{why}",
        rate(knee.at),
        rate(knee.peak)
    );
    let value = Ranged::point(knee.share());
    Input { value, doc: utilisation_doc(value, &from) }
}

fn missing(judged: &JudgedSide<'_>, (load, need): (&str, &Need), options: &Options<'_>) -> ExcludedDoc {
    let command = curve_command(judged, need, options);
    ExcludedDoc {
        name: judged.side.name.clone(),
        need: Some(need.name().to_owned()),
        why: format!("no run of it has a curve of {load} with a knee, at which it is to be used"),
        on: command.as_ref().and_then(|_| place::to_measure(judged.side)),
        command,
    }
}

/// The knee of a load in the newest run that has one, with the run; of several setups that with the highest rate, as of
/// capacities.
fn newest(
    judged: &JudgedSide<'_>,
    (load, need): (&str, &Need),
    options: &Options<'_>,
) -> Option<(Knee, String)> {
    let arm = judged.side.arm.as_ref();
    let is_own = |curve: &&CurveDoc| {
        arm.is_none_or(|arm| curve.arm == *arm) && is_of_requests(&curve.params, need, options.mixes)
    };
    judged.runs.iter().rev().find_map(|one| {
        let knee = best(verdict::curves(one.index(), &[]).iter().filter(is_own), load)?;
        Some((knee, short(&one.run.head.id).to_owned()))
    })
}

fn best<'c>(curves: impl Iterator<Item = &'c CurveDoc>, load: &str) -> Option<Knee> {
    let known = curves.filter(|curve| curve.instrument == load).filter_map(knee);
    known.max_by(|a, b| a.peak.total_cmp(&b.peak))
}

fn knee(curve: &CurveDoc) -> Option<Knee> {
    let (knee, peak) = (curve.knee.as_ref()?, curve.peak.as_ref()?);
    let found = Knee { at: knee.x, peak: peak.x, why: curve.why.clone() };
    (found.share() > 0.0 && found.share() <= 1.0).then_some(found)
}

#[cfg(test)]
mod tests {
    use model::doc::MachineDoc;
    use model::need::parse;
    use verdict::decide::capacity::{Definitions, Mixes};
    use verdict::{RunContext, Side};

    use super::*;

    fn said() -> Said {
        Said { given: "knee".into(), at: "--utilisation".into(), from: "--utilisation".into() }
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
        let share = |load| best(curves.iter(), load).map(|knee| knee.share());
        assert_eq!([share("web"), share("kv-load")], [Some(0.7), Some(0.9)]);
        assert_eq!(best(curves[..1].iter(), "web"), None);
    }

    #[test]
    fn a_share_says_the_curve_that_it_is_from() {
        let knee = Knee { at: 8_200.0, peak: 12_300.0, why: Some("it may lie beyond".into()) };
        let doc = input("web", &knee, "0199a4c1").doc;
        assert_eq!(doc.shown, "67 %");
        let wanted = "the knee of its curve of web in run 0199a4c1: 8.20 k/s of the 12.3 k/s that it held; it may lie beyond";
        assert_eq!(doc.from, wanted);
    }

    #[test]
    fn a_side_without_a_curve_has_the_command_that_measures_it() {
        let sides = [Side::new("a", MachineDoc { id: "a".into(), name: "a".into() })];
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let judged = JudgedSide::all(&sides, &context);
        let mixes = Mixes::new();
        let definitions = Definitions::default();
        let cards = instruments::cards();
        let options = Options { cards, accept: &[], mixes: &mixes, definitions: &definitions };
        let needs = [parse("web 1/s p99<20ms connections=100").unwrap(), parse("memory 1TiB").unwrap()];
        let missing = of_side(&judged[0], &needs, &options).unwrap_err();
        assert!(missing.why.contains("a curve of web with a knee"), "{}", missing.why);
        assert_eq!(missing.command.as_deref(), Some("boxscore run web --set connections=100"));
        assert!(check(&said(), &needs).is_ok());
        let error = check(&said(), &needs[1..]).unwrap_err();
        assert!(error.message.contains("no need is of a load"), "{error}");
    }
}
