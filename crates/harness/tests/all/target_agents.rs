//! Agents on the hosts of targets: what they record comes with the run, and nothing waits for one that is lost.

use std::os::unix::net::UnixStream;

use harness::conductor::Ended;
use harness::worker::Worker;
use model::card::{Cadence, Family};
use model::metric::{Better, Metric, MetricInfo};
use model::plan::{Takes, Target};
use model::{Card, Count, Fault, Instrument, Plan, Probe, Record, RecordExt, Setup, Unfit};

use super::study::{Shelf, conduct_with, hello, plan, sound};

const LEVEL: Metric<Count> = Metric::new("level", Better::Neither, "toy telemetry");
const METRICS: [MetricInfo; 1] = [LEVEL.info()];
static TICKS: Card = Card {
    name: "ticks",
    family: Family::Telemetry,
    cadence: Cadence::Tick,
    metrics: &METRICS,
    ..Card::DEFAULT
};

struct Ticks;

impl Instrument for Ticks {
    fn card(&self) -> &'static Card {
        &TICKS
    }
    fn prepare(&self, _: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        Ok(Box::new(Ticks))
    }
}

impl Probe for Ticks {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        record.push(&LEVEL, Count(7.0));
        Ok(())
    }
}

fn agent(pipe: UnixStream) {
    let worker = Worker {
        instruments: vec![&Ticks],
        hello: hello(),
        generate: |_, _| Err("no generator".to_owned()),
        lost: || (),
        set_progress: drop,
        anew: || None,
    };
    let _ = worker.serve(pipe.try_clone().unwrap(), pipe);
}

/// One that hangs up at once.
fn gone(pipe: UnixStream) {
    drop(pipe);
}

fn targets(machines: usize) -> Plan {
    let mut plan = plan(&[1], 2, machines, Takes::Fixed(2));
    plan.targets = vec![Target::new("arm0", "http://a/"), Target::new("arm1", "http://b/")];
    plan.targets[1].at = Some("ssh b boxscore".to_owned());
    plan.sittings = 2;
    plan
}

#[test]
fn telemetry_of_a_target_comes_with_every_run_that_measured_it() {
    let (outcome, shelf) = conduct_with(&targets(2), &[], Shelf::default(), (sound, agent));
    assert_eq!(outcome.ended, Ended::Count);
    assert_eq!(shelf.ends.len(), 2);
    for machine in 0..2 {
        let its: Vec<_> = shelf.of_targets.iter().filter(|(of, _)| *of == machine).collect();
        assert!(!its.is_empty(), "{:?}", shelf.notes);
        assert!(its.iter().all(|(_, one)| one.target == "arm1" && one.segment.source == "ticks"));
        assert!(its.iter().all(|(_, one)| one.segment.rows.iter().all(|row| row == &[Some(7.0)])));
    }
}

#[test]
fn a_study_goes_on_without_the_agent_of_a_target() {
    let (outcome, shelf) = conduct_with(&targets(1), &[], Shelf::default(), (sound, gone));
    assert_eq!((outcome.ended, outcome.faults), (Ended::Count, 0));
    assert!(shelf.of_targets.is_empty());
    let notes: Vec<&String> =
        shelf.notes.iter().filter(|(_, kind, _)| kind == "lost").map(|(_, _, text)| text).collect();
    assert!(
        matches!(notes[..], [one] if one.starts_with("the telemetry of the host of arm1 ends here: ")),
        "{notes:?}"
    );
}
