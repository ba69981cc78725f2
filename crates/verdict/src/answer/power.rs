//! The answer of a run that measured power: what is drawn idle and at full load, and what one request or job takes.

use model::answer::{Answer, Answered, Drawn};
use model::doc::{EstimateDoc, PowerDoc, RunDoc};
use model::format::Kind;
use model::power::Meter;
use model::{Unit, names};

/// Loads that a sentence tells of.
const MOST: usize = 4;

/// `None` where no load has a level with a reading.
pub fn drawn(doc: &RunDoc) -> Option<Answer> {
    let several = doc.power.len() > 1;
    let all: Vec<Drawn> = doc.power.iter().map(|one| of_load(one, doc, several)).take(MOST).collect();
    (!all.is_empty()).then_some(Answer::Drawn(all))
}

fn of_load(one: &PowerDoc, doc: &RunDoc, several: bool) -> Drawn {
    let name = label(one, doc);
    let figure = |estimate: &EstimateDoc, unit: Unit| {
        let value = estimate.value.filter(|value| value.is_finite())?;
        let kind = Kind::for_unit(unit);
        Some(Answered { name: name.clone(), per: "", kind, value, low: estimate.low, high: estimate.high })
    };
    let (idle, full) = (one.at(0.0), one.at(1.0));
    Drawn {
        name: if several { name.clone() } else { String::new() },
        meter: Meter::parse(&one.meter),
        idle: idle.and_then(|level| figure(&level.watts, Unit::Watt)),
        full: full.and_then(|level| figure(&level.watts, Unit::Watt)),
        rate: full.and_then(|level| level.rate.value),
        unit: one.unit.clone(),
        joules: full.and_then(|level| figure(&level.joules, Unit::Joule)),
    }
}

/// The name of a load: its arm, or its instrument.
fn label(one: &PowerDoc, doc: &RunDoc) -> String {
    let card = model::card::find(doc.cards, &one.instrument);
    match one.arm.is_empty() {
        true => names::says(card).map_or_else(|| one.instrument.clone(), str::to_owned),
        false => one.arm.clone(),
    }
}
