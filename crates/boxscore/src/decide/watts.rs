//! The power of one box of a side: as it was said, else by the curve that was measured, else as it was noted.

use model::command::{COMMAND, label};
use model::data::RunData;
use model::doc::InputDoc;
use model::format::{list, number};
use model::metrics::power::WATTS;
use model::names::instrument::CMD;
use model::need::{Need, Ranged, Work};
use model::power::Meter;
use model::{Params, Role, card};
use verdict::decide::capacity::{Mixes, load_of};
use verdict::decide::{Input, Watts};
use verdict::power::PowerLevel;
use verdict::{Judged, JudgedSide};

use super::prices::Prices;
use crate::lookup::ids::short;
use crate::lookup::resolve::Loaded;

/// The power of a box, and what is to be said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Powered {
    pub watts: Watts,
    /// Measured by RAPL, which does not see all of the box.
    pub by_rapl: bool,
    pub note: Option<String>,
}

/// The power of a side's box; `None` where nobody knows it.
pub fn of_side(
    side: &Loaded,
    judged: &JudgedSide<'_>,
    prices: &Prices,
    (needs, mixes): (&[Need], &Mixes),
) -> Option<Powered> {
    let point = |input: Input| {
        let middle = input.value.middle();
        let factor = input.value.times(1.0 / middle);
        let watts = Watts { curve: vec![(1.0, middle)], saturation: Vec::new(), factor, doc: input.doc };
        Powered { watts, by_rapl: false, note: None }
    };
    prices
        .said_watts(side)
        .map(point)
        .or_else(|| curve_of(judged, prices, (needs, mixes)))
        .or_else(|| prices.noted_watts(side).map(point))
}

/// Leaves out the watts by RAPL where others are by another meter, and says so: both together would make the former
/// look cheap.
pub fn comparable(sides: &[Loaded], powered: &mut [Option<Powered>]) -> Option<String> {
    let names = |powered: &[Option<Powered>], by_rapl: bool| -> Vec<String> {
        let is_so = |one: &Option<Powered>| one.as_ref().is_some_and(|one| one.by_rapl == by_rapl);
        sides.iter().zip(powered).filter(|(_, one)| is_so(one)).map(|(side, _)| side.name.clone()).collect()
    };
    let (low, others) = (names(powered, true), names(powered, false));
    if low.is_empty() || others.is_empty() {
        return None;
    }
    for one in powered.iter_mut().filter(|one| one.as_ref().is_some_and(|one| one.by_rapl)) {
        *one = None;
    }
    Some(format!(
        "the watts of {} are not used: they are by RAPL, which reads low, and those of {} are not, so that they cannot \
         be compared",
        list(&low),
        list(&others)
    ))
}

/// The curve of the newest run that has one: under the load of a need, by a meter at the plug rather than by RAPL; of
/// several the one that draws most at saturation.
fn curve_of(judged: &JudgedSide<'_>, prices: &Prices, (needs, mixes): (&[Need], &Mixes)) -> Option<Powered> {
    let side = judged.side;
    let of_run = |one: &Judged<'_>| {
        let (loads, needs) = (loads(side.arm.as_deref(), one), &by_text(one.run, needs));
        let best = best(&loads, needs, mixes)?;
        let first = best.first()?;
        let wanted = needs.iter().filter(|need| !need.is_space()).map(|need| need.name().to_owned());
        let wanted: Vec<String> = wanted.collect();
        let note = (!is_of_a_need(first, needs) && !wanted.is_empty()).then(|| {
            format!(
                "the watts of {} were measured under {}: none were under {}",
                side.name,
                first.instrument,
                list(&wanted)
            )
        });
        let by_rapl = first.meter == Meter::Rapl.word();
        let saturation = saturation(best, needs, mixes);
        // A planted run was measured on no day.
        let day = one.run.plan.fake.is_none().then(|| prices.day_of(one.run.head.started_ns));
        let watts = as_watts(best, saturation, &one.run.head.id, day.unwrap_or_default());
        Some(Powered { watts, by_rapl, note })
    };
    judged.runs.iter().rev().find_map(|one| of_run(one))
}

/// Needs whose commands are called by a name of the run's plan, by their text.
fn by_text(run: &RunData, needs: &[Need]) -> Vec<Need> {
    let mut needs = needs.to_vec();
    for need in &mut needs {
        let text = match &need.work {
            Work::Cmd(name) => run.plan.commands.get(name).map(|command| command.run.clone()),
            _ => None,
        };
        need.work = text.map_or_else(|| need.work.clone(), Work::Cmd);
    }
    needs
}

/// The levels of each load and setup of a run, or of its arm, by rising level. Refused ones are left out.
fn loads(arm: Option<&str>, judged: &Judged<'_>) -> Vec<Vec<PowerLevel>> {
    let run = judged.run;
    if !run.series.iter().any(|series| series.key.metric == WATTS.name()) {
        return Vec::new();
    }
    let is_own = |level: &PowerLevel| arm.is_none_or(|arm| level.arm == arm);
    let mut loads: Vec<Vec<PowerLevel>> = Vec::new();
    for level in verdict::power::curve(run, judged.rulings()).into_iter().filter(is_own) {
        let same = |load: &&mut Vec<PowerLevel>| {
            load.first().is_some_and(|first| {
                (&first.instrument, &first.arm, &first.params)
                    == (&level.instrument, &level.arm, &level.params)
            })
        };
        match loads.iter_mut().find(same) {
            Some(load) => load.push(level),
            None => loads.push(vec![level]),
        }
    }
    loads
}

/// The load that counts of those that were measured up to saturation.
fn best<'l>(loads: &'l [Vec<PowerLevel>], needs: &[Need], mixes: &Mixes) -> Option<&'l Vec<PowerLevel>> {
    let is_whole = |load: &&Vec<PowerLevel>| load.last().is_some_and(|last| last.level >= 1.0);
    let rank = |load: &Vec<PowerLevel>| {
        let first = load.first();
        (
            first.is_some_and(|first| is_of_a_need(first, needs)),
            first.is_some_and(|first| has_a_mix(first, needs, mixes)),
            first.is_some_and(|first| first.meter != Meter::Rapl.word()),
        )
    };
    let most = |load: &Vec<PowerLevel>| load.last().map_or(0.0, |last| last.watts);
    loads.iter().filter(is_whole).max_by(|a, b| rank(a).cmp(&rank(b)).then(most(a).total_cmp(&most(b))))
}

/// The load under which it was measured is that of a need.
fn is_of_a_need(level: &PowerLevel, needs: &[Need]) -> bool {
    let cards = instruments::cards();
    let load = match card::find(cards, &level.instrument).map(|card| card.role) {
        Some(Role::Power { load }) => load,
        _ => None,
    };
    let is_its = |need: &Need| match &need.work {
        Work::Cmd(text) => {
            let own = level.params.get(COMMAND) == Some(label(text).as_str());
            load == Some(CMD) && (own || (!level.arm.is_empty() && level.arm == *text))
        }
        work => load_of(cards, work) == load,
    };
    load.is_some() && needs.iter().any(is_its)
}

/// Its requests are those of a need.
fn has_a_mix(level: &PowerLevel, needs: &[Need], mixes: &Mixes) -> bool {
    needs.iter().any(|need| is_of_requests(&level.params, need, mixes))
}

/// True if a load with these parameters sent the requests of a need: those of its mix, or of none.
pub fn is_of_requests(params: &Params, need: &Need, mixes: &Mixes) -> bool {
    let mix = params.get("mix").filter(|mix| *mix != "none");
    match &need.work {
        Work::Mix(_) | Work::Logs(_) => {
            let own = need.source().and_then(|source| mixes.get(&source));
            mix.is_some() && own.and_then(|name| name.as_deref().ok()) == mix
        }
        _ => mix.is_none(),
    }
}

/// The rate at saturation of each need whose load and requests the curve is of.
fn saturation(load: &[PowerLevel], needs: &[Need], mixes: &Mixes) -> Vec<Option<f64>> {
    let full = load.last().filter(|last| last.level >= 1.0);
    let rate = |need: &Need| {
        let need = std::slice::from_ref(need);
        let full = full.filter(|full| is_of_a_need(full, need) && has_a_mix(full, need, mixes))?;
        full.throughput.filter(|rate| *rate > 0.0)
    };
    needs.iter().map(rate).collect()
}

fn as_watts(
    load: &[PowerLevel],
    saturation: Vec<Option<f64>>,
    run: &str,
    (date, is_stale): (Option<String>, bool),
) -> Watts {
    let watts = |level: &PowerLevel| level.watts;
    let (low, high) =
        (load.iter().map(watts).fold(f64::INFINITY, f64::min), load.iter().map(watts).fold(0.0, f64::max));
    let first = load.first();
    let meter = first.map_or("", |first| first.meter.as_str());
    let reads_low = if meter == Meter::Rapl.word() { ", which reads low" } else { "" };
    let idle =
        first.filter(|first| first.level == 0.0).map(|first| format!("{} W idle, ", number(first.watts)));
    let full = load.last().map_or(high, watts);
    let rate =
        load.last().and_then(|last| last.throughput).filter(|_| saturation.iter().any(Option::is_some));
    let at = rate.map_or_else(String::new, |rate| format!(" ({}/s)", number(rate)));
    let doc = InputDoc {
        name: "watts".to_owned(),
        shown: format!("{}{} W at saturation{at}", idle.unwrap_or_default(), number(full)),
        value: Some(full),
        low: Some(low),
        high: Some(high),
        from: format!("the power curve of run {} ({meter}{reads_low})", short(run)),
        date,
        is_stale,
    };
    Watts {
        curve: load.iter().map(|level| (level.level, level.watts)).collect(),
        saturation,
        factor: Ranged::point(1.0),
        doc,
    }
}

#[cfg(test)]
mod tests {
    use model::doc::MachineDoc;
    use model::need::parse;

    use super::*;

    fn load(instrument: &str, meter: &str, params: &[(&str, &str)], full: f64) -> Vec<PowerLevel> {
        let params: Params =
            params.iter().map(|(key, value)| (String::from(*key), String::from(*value))).collect();
        let level = |(level, share): (f64, f64)| PowerLevel {
            level,
            watts: full * share,
            throughput: Some(level * 1_000.0),
            meter: meter.to_owned(),
            instrument: instrument.to_owned(),
            arm: String::new(),
            params: params.clone(),
        };
        [(0.0, 0.5), (1.0, 1.0)].map(level).to_vec()
    }

    #[test]
    fn the_curve_of_the_needs_load_counts() {
        let loads = [
            load("power", "command", &[], 90.0),
            load("web-power", "rapl", &[], 30.0),
            load("web-power", "command", &[], 60.0),
            load("web-power", "command", &[("mix", "shop@1")], 50.0),
            load("kv-power", "command", &[], 80.0),
            load("cmd-power", "command", &[("command", "make -j8")], 70.0),
        ];
        let mixes = Mixes::from([("shop.json".to_owned(), Ok("shop@1".to_owned()))]);
        let of = |need: &str| best(&loads, &[parse(need).unwrap()], &mixes).unwrap()[1].watts;
        assert_eq!(
            [of("web 1/s"), of("kv 1/s"), of("shop.json 1/s"), of("crc32c 1GB/s"), of("cmd 'make -j8' 1/h")],
            [60.0, 80.0, 50.0, 90.0, 70.0]
        );
        let need = [parse("crc32c 1GB/s").unwrap()];
        assert!(!is_of_a_need(&loads[0][0], &need));
        // Rates are known of the needs of the load alone.
        let needs = [parse("web 1/s").unwrap(), parse("kv 1/s").unwrap(), parse("shop.json 1/s").unwrap()];
        assert_eq!(saturation(&loads[2], &needs, &mixes), [Some(1_000.0), None, None]);
        assert_eq!(saturation(&loads[3], &needs, &mixes), [None, None, Some(1_000.0)]);
        assert_eq!(saturation(&loads[0], &needs, &mixes), [None; 3]);
        // A curve whose saturation was refused is none.
        assert_eq!(best(&[loads[0][..1].to_vec()], &need, &mixes), None);
    }

    #[test]
    fn rapl_beside_another_meter_is_left_out_and_said() {
        let side = |name: &str| Loaded::new(name, MachineDoc { id: name.into(), name: name.into() });
        let of = |meter: &str| {
            let watts = as_watts(&load("power", meter, &[], 40.0), Vec::new(), "r", (None, false));
            Some(Powered { watts, by_rapl: meter == Meter::Rapl.word(), note: None })
        };
        let sides = [side("a"), side("b"), side("c")];
        let mut all = [of("rapl"), of("command"), None];
        let note = comparable(&sides, &mut all).unwrap();
        assert!(note.starts_with("the watts of a are not used: they are by RAPL"), "{note}");
        assert!(all[0].is_none() && all[1].is_some());
        let mut alike = [of("rapl"), of("rapl"), None];
        assert_eq!(comparable(&sides, &mut alike), None);
        assert!(alike[0].is_some());
    }
}
