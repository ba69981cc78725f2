//! Whole studies over real pipes, with toy instruments: order, commits, faults, stop rules, resume.

use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use harness::conductor::{Conductor, Ended, Finished, Interaction, Link, Outcome, Show, Sink, SinkError};
use harness::worker::{Worker, pump};
use model::card::{Cadence, Family};
use model::data::Status;
use model::frame::{Frame, Hello, Live, OwnCost, Segment, TargetTelemetry, WIRE_VERSION};
use model::metric::{Better, Metric, MetricInfo};
use model::params::{ParamKind, ParamSpec};
use model::plan::{Takes, Via};
use model::reading::Take;
use model::{
    Arm, Card, Cell, Fact, Fault, Instrument, Params, PerSec, Phase, Plan, Probe, ProgressHandle, Record,
    RecordExt, Setup, Unfit,
};

use super::pipe::Pipe;

const RATE: Metric<PerSec> = Metric::new("rate", Better::Higher, "toy");
const WANDER: Metric<PerSec> = Metric::new("wander", Better::Neither, "toy without a direction");
const METRICS: [MetricInfo; 2] = [RATE.info(), WANDER.info()];
static TOY: Card = Card {
    name: "toy",
    family: Family::Cpu,
    says: "a toy",
    source: "own",
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[ParamSpec::new("n", ParamKind::Int { min: 0, max: 99 }, "0", "which")],
    metrics: &METRICS,
    ..Card::DEFAULT
};

/// n = 8 never fits; n = 9 fails every other take; n = 7 pushes only what has no direction, and never steadies; n = 6
/// never steadies; n = 5 goes on until it is cut; n = 4 fails from its fourth take on, and is given up with the fifth;
/// n = 10 is prepared until the user cancels; the others count up.
pub struct Toy;
struct ToyProbe {
    n: u64,
    taken: u64,
}
static COUNT: AtomicU64 = AtomicU64::new(0);
static HANDLE: Mutex<Option<ProgressHandle>> = Mutex::new(None);

impl Instrument for Toy {
    fn card(&self) -> &'static Card {
        &TOY
    }
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        match setup.params.get("n") {
            Some("8") => Err(Unfit::new("eight never fits")),
            Some("10") => {
                let progress = HANDLE.lock().unwrap().clone().expect("it was met");
                // Ten times what the slowest machine here needs to be told.
                for _ in 0..6000 {
                    progress.check().map_err(Unfit::new)?;
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                panic!("nobody left");
            }
            n => Ok(Box::new(ToyProbe { n: n.and_then(|n| n.parse().ok()).unwrap_or(0), taken: 0 })),
        }
    }
}

impl Probe for ToyProbe {
    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        assert_eq!(repeats, 1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        if self.n == 5 {
            // Ten times what the slowest machine here needs to tell, to be heard, and to be cut.
            for told in 0..6000 {
                if record.is_cut() {
                    record.push(&RATE, PerSec(1.0 + told as f64));
                    return Ok(());
                }
                assert!(record.is_watched());
                record.live(Live { elapsed_ns: 0, good: told, failed: 0, body_bytes: 0, response: None });
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            return Err(Fault::new("nobody cut it"));
        }
        let wide = PerSec(1000.0 * (1 + count % 7) as f64);
        match self.n {
            6 => record.push(&RATE, wide),
            7 => record.push(&WANDER, wide),
            _ => record.push(&RATE, PerSec(1000.0 + (count % 3) as f64)),
        }
        self.taken += 1;
        let fails = (self.n == 9 && count.is_multiple_of(2)) || (self.n == 4 && self.taken > 3);
        if fails { Err(Fault::new("planned")) } else { Ok(()) }
    }

    fn given_up(&self) -> Option<String> {
        (self.n == 4 && self.taken > 4).then(|| "it is gone".to_owned())
    }
}

/// Facts that are read in runs of a family: one that the toy is of, and another.
struct Facts(&'static Card);
const OF_CPU: Card = Card {
    name: "of-cpu",
    family: Family::Inventory,
    cadence: Cadence::Once,
    facts_of: Some(Family::Cpu),
    ..Card::DEFAULT
};
const OF_DISK: Card = Card { name: "of-disk", facts_of: Some(Family::Disk), ..OF_CPU };

impl Instrument for Facts {
    fn card(&self) -> &'static Card {
        self.0
    }
    fn prepare(&self, _: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        Err(Unfit::new("it was read"))
    }
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[derive(Default)]
pub struct Shelf {
    pub takes: Vec<(usize, Take)>,
    pub notes: Vec<(usize, String, String)>,
    pub ends: Vec<(usize, Status)>,
    pub facts: usize,
    pub fact_keys: Vec<String>,
    pub of_targets: Vec<(usize, TargetTelemetry)>,
    stop_after: Option<usize>,
    /// Refuses every take after so many.
    refuse_after: Option<usize>,
    pub costs: usize,
    /// Whoever watches wants the end of the take once it has told so often how it goes.
    stop_after_live: Option<usize>,
    live: usize,
    /// The user wants the end once something is prepared that has this in its name.
    stop_at_doing: Option<&'static str>,
    has_done: bool,
    interaction: Interaction,
}

pub struct Shared<'a>(pub &'a Mutex<Shelf>);

impl Sink for Shared<'_> {
    fn hello(&mut self, _: usize, hello: &Hello) -> Result<(), SinkError> {
        assert_eq!(hello.wire, WIRE_VERSION);
        Ok(())
    }
    fn helper(&mut self, _: &Hello) -> Result<(), SinkError> {
        Ok(())
    }
    fn facts(&mut self, _: usize, facts: &[Fact]) -> Result<(), SinkError> {
        let mut shelf = self.0.lock().unwrap();
        shelf.facts += 1;
        shelf.fact_keys.extend(facts.iter().map(|fact| fact.key.clone()));
        Ok(())
    }
    fn commit(&mut self, machine: usize, take: Option<&Take>, _: &[Segment]) -> Result<(), SinkError> {
        let mut shelf = self.0.lock().unwrap();
        if shelf.refuse_after.is_some_and(|most| shelf.takes.len() >= most) {
            return Err(SinkError::new("the shelf is full"));
        }
        shelf.takes.extend(take.map(|take| (machine, take.clone())));
        Ok(())
    }
    fn target(&mut self, machine: usize, telemetry: &TargetTelemetry) -> Result<(), SinkError> {
        self.0.lock().unwrap().of_targets.push((machine, telemetry.clone()));
        Ok(())
    }
    fn note(&mut self, machine: usize, note: model::NoteBody) -> Result<(), SinkError> {
        let (kind, text) = (note.kind(), note.text());
        self.0.lock().unwrap().notes.push((machine, kind.to_owned(), text.into_owned()));
        Ok(())
    }
    fn end(
        &mut self,
        machine: usize,
        status: Status,
        _: f64,
        cost: Option<OwnCost>,
    ) -> Result<(), SinkError> {
        let mut shelf = self.0.lock().unwrap();
        shelf.costs += usize::from(cost.is_some());
        shelf.ends.push((machine, status));
        Ok(())
    }
    fn show(&mut self, show: &Show<'_>) {
        let mut shelf = self.0.lock().unwrap();
        shelf.live += usize::from(matches!(show, Show::Live { .. }));
        if let (Show::Doing { text, .. }, Some(wanted)) = (show, shelf.stop_at_doing) {
            shelf.has_done |= text.contains(wanted);
        }
    }
}

pub fn plan(cells: &[u32], arms: usize, machines: usize, takes: Takes) -> Plan {
    let cell = |n: &u32| Cell {
        instrument: "toy".into(),
        params: Params::parse(&format!("n={n}")).unwrap(),
        headline: vec!["rate".into()],
    };
    Plan {
        seed: 11,
        arms: (0..arms).map(|n| Arm { name: format!("arm{n}"), set: Params::default() }).collect(),
        machines: (0..machines).map(|n| Via { name: format!("m{n}"), command: None }).collect(),
        warm_up: 1,
        take_seconds: 0.001,
        ..Plan::bare(cells.iter().map(cell).collect(), takes)
    }
}

pub fn hello() -> Hello {
    Hello {
        wire: WIRE_VERSION,
        build: "test".into(),
        target: "test".into(),
        hostname: "test".into(),
        boot_id: None,
        cpus: vec![0],
        cores: Vec::new(),
        wall_ns: 0,
        monotonic_ns: 0,
    }
}

/// The child that every machine has.
pub fn sound(pipe: UnixStream) {
    let worker = Worker {
        instruments: vec![&Toy, &Facts(&OF_CPU), &Facts(&OF_DISK)],
        hello: hello(),
        generate: |_, _| Err("no generator".to_owned()),
        lost: || (),
        set_progress: |progress| drop(HANDLE.lock().unwrap().replace(progress)),
        anew: || None,
    };
    let _ = worker.serve(pipe.try_clone().unwrap(), pipe);
}

pub fn conduct(plan: &Plan, earlier: &[Finished], stop_after: Option<usize>) -> (Outcome, Shelf) {
    conduct_to(plan, earlier, Shelf { stop_after, ..Shelf::default() }, sound)
}

pub fn conduct_to(
    plan: &Plan,
    earlier: &[Finished],
    shelf: Shelf,
    child: fn(UnixStream),
) -> (Outcome, Shelf) {
    conduct_with(plan, earlier, shelf, (child, child))
}

type Child = fn(UnixStream);

/// The children of machines, and those on the hosts of targets.
pub fn conduct_with(
    plan: &Plan,
    earlier: &[Finished],
    shelf: Shelf,
    (child, agent): (Child, Child),
) -> (Outcome, Shelf) {
    let _guard = ONE_AT_A_TIME.lock();
    let (give, events) = channel();
    let mut links: Vec<Box<dyn Link>> = Vec::new();
    let agents = plan.targets.iter().filter(|target| target.at.is_some()).count();
    for index in 0..plan.machines.len() + agents {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let serve = if index < plan.machines.len() { child } else { agent };
        std::thread::spawn(move || serve(theirs));
        let reader = ours.try_clone().unwrap();
        let give = give.clone();
        std::thread::spawn(move || pump(reader, |event| give.send((index, event)).is_ok()));
        links.push(Box::new(Pipe(ours)));
    }
    let agents = links.split_off(plan.machines.len());
    let interaction = shelf.interaction;
    let shelf = Mutex::new(shelf);
    let stop = || {
        let shelf = shelf.lock().unwrap();
        shelf.stop_after.is_some_and(|limit| shelf.takes.len() >= limit)
            || shelf.stop_after_live.is_some_and(|limit| shelf.live >= limit)
            || shelf.has_done
    };
    let mut sink = Shared(&shelf);
    let conductor = Conductor::new(plan, links, events, &mut sink, &stop);
    let mut conductor = conductor.with_target_agents(agents);
    conductor.set_interaction(interaction);
    conductor.resume(earlier, false);
    let outcome = conductor.run("/nonexistent", 0);
    (outcome, shelf.into_inner().unwrap())
}

#[test]
fn every_place_gets_its_takes_in_order() {
    let plan = plan(&[1, 2], 2, 2, Takes::Fixed(4));
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!(outcome.ended, Ended::Count);
    assert_eq!(outcome.statuses, [Status::Complete, Status::Complete]);
    assert_eq!(shelf.facts, 2);
    assert_eq!(shelf.fact_keys, ["of-cpu", "of-cpu"], "nothing of disks is measured");
    assert_eq!(shelf.takes.len(), 2 * 2 * 2 * 5);
    for machine in 0..2 {
        let takes: Vec<&Take> =
            shelf.takes.iter().filter(|(m, _)| *m == machine).map(|(_, take)| take).collect();
        assert!(takes.iter().enumerate().all(|(seq, take)| take.seq == seq as u64));
        assert!(takes.windows(2).all(|pair| pair[0].start_ns <= pair[1].start_ns));
        assert_eq!(takes.iter().filter(|take| take.phase == Phase::WarmUp).count(), 4);
        assert!(takes.iter().all(|take| take.readings.len() == 1 && take.end_ns >= take.start_ns));
    }
}

#[test]
fn an_unfit_cell_is_noted_once_and_the_others_go_on() {
    let plan = plan(&[1, 8], 1, 1, Takes::Fixed(3));
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!(outcome.unfit, [(0, 1, "eight never fits".to_owned())]);
    assert_eq!(shelf.takes.len(), 4);
    assert_eq!((outcome.takes, outcome.measured), (4, 3));
    assert_eq!(shelf.notes.iter().filter(|(_, kind, _)| kind == "unfit").count(), 1);
}

#[test]
fn the_arms_that_can_run_a_cell_go_on_without_the_one_that_cannot() {
    let mut plan = plan(&[1, 2], 3, 1, Takes::Fixed(2));
    plan.arms[1].set = Params::parse("n=8").unwrap();
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!(outcome.unfit.len(), 2);
    let count = |cell: u32, arm: u32| {
        shelf.takes.iter().filter(|(_, take)| (take.cell, take.arm) == (cell, arm)).count()
    };
    for cell in 0..2 {
        assert_eq!([count(cell, 0), count(cell, 1), count(cell, 2)], [3, 0, 3]);
    }
    let notes: Vec<&str> =
        shelf.notes.iter().filter(|(_, kind, _)| kind == "unfit").map(|(_, _, text)| text.as_str()).collect();
    assert!(
        notes.len() == 2 && notes.iter().all(|one| one.contains("arm arm1 cannot run: eight")),
        "{notes:?}"
    );
}

#[test]
fn a_cell_that_no_arm_changes_is_measured_once_and_is_of_no_arm() {
    let mut plan = plan(&[1, 2], 2, 1, Takes::Fixed(3));
    plan.unchanged = vec![1];
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!(outcome.ended, Ended::Count);
    let of = |cell: u32| -> Vec<&Take> {
        shelf.takes.iter().map(|(_, take)| take).filter(|take| take.cell == cell).collect()
    };
    assert_eq!((of(0).len(), of(1).len()), (2 * 4, 4));
    assert!(of(1).iter().all(|take| take.arm == 0 && take.readings[0].key.arm.is_empty()));
    assert!(of(0).iter().all(|take| take.readings[0].key.arm.starts_with("arm")));
}

#[test]
fn a_run_without_a_figure_is_not_complete() {
    let (outcome, shelf) = conduct(&plan(&[8], 1, 1, Takes::Fixed(2)), &[], None);
    assert_eq!((outcome.takes, outcome.measured), (0, 0));
    assert_eq!(shelf.ends, [(0, Status::Faulty)]);
}

#[test]
fn a_fault_discards_its_own_readings_only() {
    let plan = plan(&[1, 9], 1, 1, Takes::Fixed(6));
    let (outcome, shelf) = conduct(&plan, &[], None);
    let faulted: Vec<&Take> =
        shelf.takes.iter().map(|(_, take)| take).filter(|take| take.fault.is_some()).collect();
    assert!(!faulted.is_empty() && faulted.iter().all(|take| take.cell == 1 && take.readings.is_empty()));
    assert_eq!(shelf.takes.len(), 14, "faulted takes count as tried");
    let measured = faulted.len() as u64;
    assert_eq!(outcome.faults, measured);
    assert_eq!(shelf.ends, [(0, Status::Faulty)]);
}

#[test]
fn a_cell_that_is_given_up_is_not_tried_again() {
    let (outcome, shelf) = conduct(&plan(&[1, 4], 1, 1, Takes::Fixed(9)), &[], None);
    assert_eq!(outcome.unfit, [(0, 1, "it is gone".to_owned())]);
    let of_it: Vec<bool> =
        shelf.takes.iter().filter(|(_, take)| take.cell == 1).map(|(_, take)| take.fault.is_some()).collect();
    assert_eq!(of_it, [false, false, false, true], "the fifth was stored, or a sixth came");
    assert_eq!(outcome.faults, 2);
    assert_eq!(shelf.takes.len(), 10 + 4);
    let notes: Vec<_> = shelf.notes.iter().filter(|(_, kind, _)| kind == "given-up").collect();
    assert!(matches!(notes.as_slice(), [(_, _, text)] if text.ends_with(": it is gone")), "{notes:?}");
}

#[test]
fn what_is_prepared_is_left_when_the_user_wants_it() {
    let shelf = Shelf { stop_at_doing: Some("preparing toy"), ..Shelf::default() };
    let (outcome, shelf) = conduct_to(&plan(&[10], 1, 1, Takes::Fixed(2)), &[], shelf, sound);
    assert_eq!((outcome.ended, outcome.takes, outcome.unfit.len()), (Ended::Interrupted, 0, 0));
    assert!(shelf.notes.iter().all(|(_, kind, _)| kind != "unfit"), "{:?}", shelf.notes);
    assert_eq!(shelf.ends, [(0, Status::Interrupted)]);
}

#[test]
fn steady_figures_stop_at_the_first_look() {
    let plan = plan(&[1], 1, 1, Takes::Adaptive { quick: true, target: 0.02 });
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!(outcome.ended, Ended::Target);
    assert_eq!(shelf.takes.len(), 9);
}

#[test]
fn what_nobody_waits_for_does_not_prolong_a_study() {
    let quick = Takes::Adaptive { quick: true, target: 0.02 };
    let (outcome, shelf) = conduct(&plan(&[7], 1, 1, quick.clone()), &[], None);
    assert_eq!((outcome.ended, shelf.takes.len()), (Ended::Count, 9), "no metric with a direction");

    let mut without = plan(&[6], 1, 1, quick.clone());
    without.cells[0].headline.clear();
    let (outcome, shelf) = conduct(&without, &[], None);
    assert_eq!((outcome.ended, shelf.takes.len()), (Ended::Count, 9), "no headline");

    let (outcome, shelf) = conduct(&plan(&[6], 1, 1, quick), &[], None);
    assert_eq!((outcome.ended, shelf.takes.len()), (Ended::Count, 19), "a headline that stays wide");
}

#[test]
fn a_study_says_what_its_program_used() {
    let (_, shelf) = conduct(&plan(&[1], 1, 1, Takes::Fixed(1)), &[], None);
    let seconds = |wanted: &str| {
        let note = shelf.notes.iter().find(|(_, kind, _)| kind == wanted);
        note.and_then(|(_, _, text)| text.parse::<f64>().ok()).expect("seconds")
    };
    let (all, beside) = (seconds("controller-cpu-seconds"), seconds("controller-takes-cpu-seconds"));
    assert!((0.0..=all).contains(&beside), "{beside} of {all}");
}

#[test]
fn a_sink_that_refuses_ends_every_run_and_is_heard() {
    let shelf = Shelf { refuse_after: Some(5), ..Shelf::default() };
    let (outcome, shelf) = conduct_to(&plan(&[1], 1, 2, Takes::Fixed(9)), &[], shelf, sound);
    assert_eq!(outcome.ended, Ended::Refused);
    assert_eq!(outcome.refused, Some(SinkError::new("the shelf is full")));
    assert_eq!(shelf.takes.len(), 5);
    assert_eq!(shelf.ends, [(0, Status::Interrupted), (1, Status::Interrupted)]);
    assert_eq!(shelf.costs, 2, "a farewell of each child");
}

#[test]
fn a_resumed_study_repeats_nothing() {
    let plan = plan(&[1, 2, 3], 2, 2, Takes::Fixed(3));
    let (first, cut) = conduct(&plan, &[], Some(17));
    assert_eq!(first.ended, Ended::Interrupted);
    assert_eq!(cut.takes.len(), 17);
    assert_eq!(cut.ends, [(0, Status::Interrupted), (1, Status::Interrupted)]);
    let earlier: Vec<Finished> =
        cut.takes.iter().map(|(machine, take)| Finished { machine: *machine, take: take.clone() }).collect();
    let (second, rest) = conduct(&plan, &earlier, None);
    assert_eq!(second.ended, Ended::Count);
    let place = |(machine, take): &(usize, Take)| (*machine, take.block, take.cell, take.arm);
    let of = |phase: Phase, takes: &[(usize, Take)]| -> Vec<_> {
        takes.iter().filter(|(_, take)| take.phase == phase).map(place).collect()
    };
    let mut all = of(Phase::Measured, &cut.takes);
    all.extend(of(Phase::Measured, &rest.takes));
    assert_eq!(all.len(), 3 * 2 * 2 * 3);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 3 * 2 * 2 * 3, "a measured take was repeated");
    // The new children are warmed once for each place, before anything is measured there.
    let warm = of(Phase::WarmUp, &rest.takes);
    assert_eq!(warm.len(), 3 * 2 * 2);
    assert!(rest.takes[..warm.len()].iter().all(|(_, take)| take.phase == Phase::WarmUp));
    let seqs = |machine: usize| {
        cut.takes
            .iter()
            .chain(&rest.takes)
            .filter(|(m, _)| *m == machine)
            .map(|(_, t)| t.seq)
            .collect::<Vec<_>>()
    };
    assert!(seqs(0).iter().enumerate().all(|(at, seq)| at as u64 == *seq));
}

#[test]
fn cells_that_were_done_are_not_warmed_again() {
    let plan = plan(&[1, 6], 1, 1, Takes::Adaptive { quick: true, target: 0.02 });
    // Cell 0 is steady at the first look, after 8 blocks and the warm-up; then only cell 1 is taken.
    let (first, cut) = conduct(&plan, &[], Some(20));
    assert_eq!(first.ended, Ended::Interrupted);
    let earlier: Vec<Finished> =
        cut.takes.iter().map(|(machine, take)| Finished { machine: *machine, take: take.clone() }).collect();
    let (_, rest) = conduct(&plan, &earlier, None);
    assert!(rest.takes.iter().all(|(_, take)| take.cell == 1), "a finished cell was taken again");
    assert_eq!(rest.takes.iter().filter(|(_, take)| take.phase == Phase::WarmUp).count(), 1);
}

/// Says hello and that it is ready, again and again, and then nothing until it is hung up on.
fn babbler(pipe: UnixStream) {
    let mut ear = pipe.try_clone().unwrap();
    let mut pipe = Pipe(pipe);
    let said = pipe.send(&Frame::Hello(hello()));
    let more = (0..100).map(|_| pipe.send(&Frame::Ready(Vec::new())));
    drop(said.and_then(|()| more.collect::<Result<(), String>>()));
    drop(std::io::copy(&mut ear, &mut std::io::sink()));
}

#[test]
fn a_child_that_answers_what_it_was_not_asked_is_lost() {
    let mut silent = plan(&[], 1, 1, Takes::Fixed(2));
    silent.telemetry_only = true;
    for plan in [plan(&[1], 1, 1, Takes::Fixed(2)), silent] {
        let (outcome, shelf) = conduct_to(&plan, &[], Shelf::default(), babbler);
        assert_eq!((outcome.ended, shelf.takes.len()), (Ended::Lost, 0));
        let lost: Vec<&str> = shelf
            .notes
            .iter()
            .filter(|(_, kind, _)| kind == "lost")
            .map(|(_, _, text)| text.as_str())
            .collect();
        assert_eq!(lost, ["it sent an answer that was not asked for"]);
        let beside = shelf.notes.iter().any(|(_, kind, _)| kind == "controller-takes-cpu-seconds");
        assert!(!beside && shelf.costs == 0, "a part of a time that nobody told");
        assert_eq!(shelf.ends, [(0, Status::Interrupted)]);
    }
}

#[test]
fn a_block_that_was_cut_between_its_arms_is_not_judged() {
    let plan = plan(&[6], 2, 1, Takes::Adaptive { quick: true, target: 0.02 });
    let (_, whole) = conduct(&plan, &[], None);
    // Nine takes of one arm and eight of the other, at which the rule looks: only the ninth makes the interval narrow.
    let ahead = whole.takes.iter().find(|(_, take)| take.block == plan.warm_up + 8).unwrap().1.arm;
    let mut earlier = Vec::new();
    for (machine, mut take) in whole.takes {
        if take.block > plan.warm_up + 8 - u32::from(take.arm != ahead) {
            continue;
        }
        let outlier = take.arm == ahead && take.block == plan.warm_up;
        take.readings[0].value = model::Value::Number(if outlier { 9000.0 } else { 1000.0 });
        earlier.push(Finished { machine, take });
    }
    let measured = |arm: u32, takes: &[&Take]| {
        takes.iter().filter(|take| take.phase == Phase::Measured && take.arm == arm).count()
    };
    let before: Vec<&Take> = earlier.iter().map(|finished| &finished.take).collect();
    assert_eq!((measured(ahead, &before), measured(1 - ahead, &before)), (9, 8));
    let (_, rest) = conduct(&plan, &earlier, None);
    let all: Vec<&Take> = before.into_iter().chain(rest.takes.iter().map(|(_, take)| take)).collect();
    let (one, other) = (measured(ahead, &all), measured(1 - ahead, &all));
    assert!(one == other && one > 9, "{one} and {other}");
}

/// Is ready, and answers the first order with a fault of a cell that nobody ordered.
fn stray(pipe: UnixStream) {
    let mut ear = pipe.try_clone().unwrap();
    let mut pipe = Pipe(pipe);
    let fault = Frame::Fault { cell: 7, arm: 0, text: "of another cell".to_owned() };
    let said = [Frame::Hello(hello()), Frame::Ready(Vec::new()), fault].map(|frame| pipe.send(&frame));
    drop((said, std::io::copy(&mut ear, &mut std::io::sink())));
}

#[test]
fn a_fault_of_a_cell_that_was_not_ordered_loses_the_child() {
    let (outcome, shelf) = conduct_to(&plan(&[1], 1, 1, Takes::Fixed(2)), &[], Shelf::default(), stray);
    assert_eq!((outcome.ended, outcome.unfit.len()), (Ended::Lost, 0));
    assert!(shelf.notes.iter().any(|(_, kind, text)| kind == "lost" && text.contains("a different take")));
}

#[test]
fn a_watched_take_tells_how_it_goes_and_what_is_cut_counts() {
    let plan = Plan { warm_up: 0, ..plan(&[5], 1, 1, Takes::Fixed(1)) };
    let interaction = Interaction { watched: true, cuts: true };
    let shelf = Shelf { stop_after_live: Some(2), interaction, ..Shelf::default() };
    let (outcome, shelf) = conduct_to(&plan, &[], shelf, sound);
    assert!(shelf.live >= 2);
    let take = &shelf.takes[0].1;
    assert_eq!(
        (shelf.takes.len(), take.fault.as_ref().map(model::Fault::as_str), take.readings.len()),
        (1, None, 1)
    );
    // All that was planned has a take.
    assert_eq!((outcome.ended, outcome.measured), (Ended::Count, 1));
    assert_eq!(shelf.ends, [(0, Status::Complete)]);
}
