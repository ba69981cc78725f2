//! `boxscore lab sensors` and `boxscore lab sel`: what BMCs measure and write down.

use lab::bmc::health::{Event, Health, Sensor};
use lab::bmc::{Bmcs, Failure, reached};
use lab::ranges::fold;
use model::doc::{LabEventDoc, LabSelDoc, LabSelNodeDoc, LabSensorDoc, LabSensorsDoc, LabSensorsNodeDoc};
use report::text::lab_bmc as text;

use super::bmc::{self, Nodes};
use super::reach;
use crate::cli::Global;
use crate::cli::lab::sel::SelArgs;
use crate::cli::lab::sensors::SensorsArgs;
use crate::error::CliError;

pub fn sensors(args: &SensorsArgs, global: &Global) -> Result<u8, CliError> {
    let nodes = Nodes::select(&args.expressions, &args.select)?;
    let accesses = nodes.accesses();
    let stop = reach::stop()?;
    let all = reached(&accesses, |all| Bmcs::new(None, args.bmc.insecure, &stop).sensors(all));
    let of = |(name, sensors): (&String, &Result<Vec<Sensor>, Failure>)| {
        let (failure, why) = bmc::failed(sensors.as_ref().err());
        let known = sensors.as_deref().unwrap_or_default();
        LabSensorsNodeDoc {
            node: name.clone(),
            ok: sensors.is_ok() && !known.iter().any(|sensor| sensor.status.is_fault()),
            sensors: known.iter().map(sensor).collect(),
            failure,
            why,
        }
    };
    let document = LabSensorsDoc {
        schema: "boxscore.lab-sensors/1".to_owned(),
        nodes: nodes.names.iter().zip(&all).map(of).collect(),
        failures: bmc::failures_of(&nodes.names, &all),
        interrupted: stop.is_requested(),
    };
    bmc::tell(&document, &text::sensors(&document), &document.failures, global);
    Ok(reach::code(document.nodes.iter().all(|node| node.ok), document.interrupted))
}

fn sensor(sensor: &Sensor) -> LabSensorDoc {
    LabSensorDoc {
        name: sensor.name.clone(),
        value: sensor.value,
        unit: sensor.unit.clone(),
        status: sensor.status.word().to_owned(),
    }
}

pub fn events(args: &SelArgs, global: &Global) -> Result<u8, CliError> {
    let nodes = Nodes::select(&args.expressions, &args.select)?;
    let accesses = nodes.accesses();
    let stop = reach::stop()?;
    let all = reached(&accesses, |all| Bmcs::new(None, args.bmc.insecure, &stop).events(args.last, all));
    let of = |(name, events): (&String, &Result<Vec<Event>, Failure>)| {
        let (failure, why) = bmc::failed(events.as_ref().err());
        LabSelNodeDoc {
            node: name.clone(),
            ok: events.is_ok(),
            entries: events.as_deref().unwrap_or_default().iter().map(event).collect(),
            failure,
            why,
        }
    };
    let document = LabSelDoc {
        schema: "boxscore.lab-sel/1".to_owned(),
        last: args.last,
        nodes: nodes.names.iter().zip(&all).map(of).collect(),
        failures: bmc::failures_of(&nodes.names, &all),
        interrupted: stop.is_requested(),
    };
    let says = text::events(&document, &|names| fold(names.iter().copied()));
    bmc::tell(&document, &says, &document.failures, global);
    Ok(reach::code(document.failures.is_empty(), document.interrupted))
}

fn event(event: &Event) -> LabEventDoc {
    LabEventDoc {
        id: event.id.clone(),
        time: event.time.clone(),
        sensor: event.sensor.clone(),
        event: event.event.clone(),
        begins: event.begins,
        detail: event.detail.clone(),
    }
}
