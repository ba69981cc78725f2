//! Loads relayed to generators over real pipes: a common start, exact results, and generators that fail in every way.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::conductor::{Conductor, Ended, Link, Outcome, Show, Sink, SinkError};
use harness::worker::{Event, Worker, pump};
use model::card::{Cadence, Family};
use model::data::Status;
use model::frame::{Frame, Hello, OwnCost, Segment, TargetTelemetry, WIRE_VERSION};
use model::generate::{GeneratorOrder, Loaded, Relay};
use model::metric::{Better, Metric, MetricInfo};
use model::params::{ParamKind, ParamSpec};
use model::plan::{PLAN_VERSION, Takes, Via};
use model::reading::Take;
use model::{
    Card, Cell, Count, Fact, Fault, Instrument, Params, Plan, Probe, Record, RecordExt, Setup, Unfit, Value,
};

use super::pipe::Pipe;

const SUM: Metric<Count> = Metric::new("sum", Better::Higher, "of what the generators brought");
const METRICS: [MetricInfo; 1] = [SUM.info()];
static TOY: Card = Card {
    name: "toy",
    family: Family::Web,
    says: "a toy",
    source: "own",
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[ParamSpec::new("say", ParamKind::Text, "", "a word a generator")],
    metrics: &METRICS,
    ..Card::DEFAULT
};

struct Toy;
struct ToyProbe {
    relay: Arc<dyn Relay>,
    words: Vec<String>,
}

impl Instrument for Toy {
    fn card(&self) -> &'static Card {
        &TOY
    }
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let relay = setup.relay.clone().ok_or_else(|| Unfit::new("no generators"))?;
        let words = setup.params.get("say").unwrap_or_default().split('+').map(str::to_owned).collect();
        Ok(Box::new(ToyProbe { relay, words }))
    }
}

impl Probe for ToyProbe {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let second = 1_000_000_000;
        let hangs = self.words.iter().any(|word| word == "hang");
        let order = GeneratorOrder {
            id: 0,
            bodies: self.words.iter().map(|word| word.clone().into_bytes()).collect(),
            connect_ns: 60 * second,
            run_ns: if hangs { second / 10 } else { 60 * second },
        };
        let mut started = 0;
        let parts =
            self.relay.load(order, &mut || started += 1).map_err(|not| Fault::new(not.to_string()))?;
        assert_eq!((started, parts.len()), (1, self.words.len()));
        assert!(parts.iter().any(|part| part.after_ns == 0));
        let number = |body: &[u8]| String::from_utf8_lossy(body).parse::<f64>().unwrap();
        record.push(&SUM, Count(parts.iter().map(|part| number(&part.body)).sum()));
        Ok(())
    }
}

/// Loads that were started.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// A number is brought back; other words fail in their way.
fn generate(body: &[u8], start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let word = String::from_utf8_lossy(body);
    if word == "fail" {
        return Err("nobody listens there".to_owned());
    }
    let start_ns = start().ok_or("it was called off")?;
    STARTED.fetch_add(1, Ordering::SeqCst);
    match word.as_ref() {
        "hang" => std::thread::sleep(Duration::from_secs(20)),
        "late" => return Err("its clock stopped".to_owned()),
        // These two come to an end only if they are under way at the same time.
        "1" | "20" => {
            let alone = || STARTED.load(Ordering::SeqCst) < 2;
            let pauses = (0..60_000).take_while(|_| alone());
            pauses.for_each(|_| std::thread::sleep(Duration::from_millis(1)));
            if alone() {
                return Err("it was alone".to_owned());
            }
        }
        _ => {}
    }
    Ok(Loaded { start_ns, body: body.to_vec() })
}

#[derive(Default)]
struct Shelf {
    started: usize,
    takes: Vec<Take>,
    notes: Vec<String>,
    lost: Vec<String>,
    refuse: bool,
}

impl Sink for Shelf {
    fn hello(&mut self, _: usize, _: &Hello) -> Result<(), SinkError> {
        Ok(())
    }
    fn helper(&mut self, hello: &Hello) -> Result<(), SinkError> {
        assert_eq!(hello.wire, WIRE_VERSION);
        if self.refuse { Err(SinkError::new("another build")) } else { Ok(()) }
    }
    fn facts(&mut self, _: usize, _: &[Fact]) -> Result<(), SinkError> {
        Ok(())
    }
    fn commit(&mut self, _: usize, take: Option<&Take>, _: &[Segment]) -> Result<(), SinkError> {
        self.takes.extend(take.cloned());
        Ok(())
    }
    fn target(&mut self, _: usize, _: &TargetTelemetry) -> Result<(), SinkError> {
        Ok(())
    }
    fn note(&mut self, _: usize, note: model::NoteBody) -> Result<(), SinkError> {
        let (kind, text) = (note.kind(), note.text());
        self.notes.push(format!("{kind}: {text}"));
        Ok(())
    }
    fn end(&mut self, _: usize, _: Status, _: f64, _: Option<OwnCost>) -> Result<(), SinkError> {
        Ok(())
    }
    fn show(&mut self, show: &Show<'_>) {
        if let Show::HelperLost { called, why, .. } = show {
            self.lost.push(format!("{called}: {why}"));
        }
    }
}

fn plan(words: &[&str], generators: usize, takes: u32) -> Plan {
    let cell = |word: &&str| Cell {
        instrument: "toy".into(),
        params: Params::parse(&format!("say={word}")).unwrap(),
        headline: vec!["sum".into()],
    };
    let via = |name: &str, n| Via { name: format!("{name}{n}"), command: None };
    Plan {
        version: PLAN_VERSION,
        seed: 11,
        machines: [via("m", 0)].into(),
        generators: (0..generators).map(|n| via("gen", n)).collect(),
        take_seconds: 0.001,
        ..Plan::bare(words.iter().map(cell).collect(), Takes::Fixed(takes))
    }
}

fn hello() -> Hello {
    Hello {
        wire: WIRE_VERSION,
        build: "test".into(),
        target: "test".into(),
        hostname: "test".into(),
        boot_id: Some("one".into()),
        cpus: vec![0],
        cores: Vec::new(),
        wall_ns: 0,
        monotonic_ns: 0,
    }
}

fn sound(pipe: UnixStream) {
    let worker = Worker {
        instruments: vec![&Toy],
        hello: hello(),
        generate,
        lost: || (),
        set_progress: |_| (),
        anew: || None,
    };
    let _ = worker.serve(pipe.try_clone().unwrap(), pipe);
}

fn conduct(plan: &Plan, mut shelf: Shelf, generators: &[fn(UnixStream)]) -> (Outcome, Shelf) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    STARTED.store(0, Ordering::SeqCst);
    let (give, events) = channel();
    let start = |index: usize, child: fn(UnixStream)| -> Box<dyn Link> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || child(theirs));
        let (reader, give) = (ours.try_clone().unwrap(), give.clone());
        std::thread::spawn(move || pump(reader, |event: Event| give.send((index, event)).is_ok()));
        Box::new(Pipe(ours))
    };
    let links = vec![start(0, sound)];
    let generators = generators.iter().enumerate().map(|(n, child)| start(n + 1, *child)).collect();
    let conductor = Conductor::new(plan, links, events, &mut shelf, &|| false).with_generators(generators);
    let outcome = conductor.run("/nonexistent", 0);
    // Read while no other test may count.
    shelf.started = STARTED.load(Ordering::SeqCst);
    (outcome, shelf)
}

fn faults(shelf: &Shelf) -> Vec<&str> {
    shelf.takes.iter().map(|take| take.fault.as_ref().map(model::Fault::as_str).unwrap_or("none")).collect()
}

#[test]
fn generators_run_at_the_same_time_and_bring_exactly_what_they_have() {
    let (outcome, shelf) = conduct(&plan(&["1+20+300"], 3, 4), Shelf::default(), &[sound, sound, sound]);
    assert_eq!((outcome.ended, outcome.faults), (Ended::Count, 0), "{:?} {:?}", shelf.notes, faults(&shelf));
    assert_eq!(shelf.takes.len(), 4);
    assert!(shelf.takes.iter().all(|take| take.readings[0].value == Value::Number(321.0)));
    assert!(shelf.started == 12 && shelf.lost.is_empty());
}

#[test]
fn generators_begin_every_sitting_anew() {
    let plan = Plan { sittings: 3, ..plan(&["2"], 2, 3) };
    let (outcome, shelf) = conduct(&plan, Shelf::default(), &[sound, sound]);
    assert_eq!((outcome.measured, outcome.faults), (3, 0), "{:?}", faults(&shelf));
}

#[test]
fn fewer_than_there_are_may_take_part() {
    let (_, shelf) = conduct(&plan(&["5"], 2, 2), Shelf::default(), &[sound, sound]);
    assert!(shelf.takes.iter().all(|take| take.readings[0].value == Value::Number(5.0)));
    let (_, shelf) = conduct(&plan(&["5+6"], 1, 1), Shelf::default(), &[sound]);
    assert_eq!(faults(&shelf), ["2 generators are asked for, and 1 are given with --from"]);
}

#[test]
fn a_generator_that_fails_is_named_and_serves_again() {
    for (words, says) in
        [("5+fail", "generator gen1: nobody listens there"), ("late+5", "generator gen0: its clock stopped")]
    {
        let (_, shelf) = conduct(&plan(&[words, "5+6"], 2, 2), Shelf::default(), &[sound, sound]);
        let faults = faults(&shelf);
        assert_eq!(faults.iter().filter(|fault| **fault == says).count(), 2, "{faults:?}");
        assert_eq!(faults.iter().filter(|fault| **fault == "none").count(), 2, "{faults:?}");
    }
}

#[test]
fn a_generator_that_hangs_is_lost_and_every_later_take_says_so() {
    let (outcome, shelf) = conduct(&plan(&["5+hang"], 2, 2), Shelf::default(), &[sound, sound]);
    let says = "generator gen1: it was lost: it did not end its load in time";
    assert_eq!(faults(&shelf), [says, says]);
    assert_eq!(shelf.lost, ["generator gen1: it did not end its load in time"]);
    assert_eq!((outcome.ended, outcome.faults), (Ended::Count, 2));
}

/// Sets its load up, and is gone when it is to start.
fn mortal(pipe: UnixStream) {
    let mut mouth = Pipe(pipe.try_clone().unwrap());
    mouth.send(&Frame::Hello(hello())).unwrap();
    pump(pipe, |event| {
        let answer = match event {
            Event::Frame(Frame::Load { id, .. }) => Frame::Connected { id },
            Event::Frame(Frame::AskClock { id }) => Frame::Clock { id, now_ns: 0 },
            Event::Frame(Frame::Generator) => return true,
            _ => {
                mouth.hang_up();
                return false;
            }
        };
        mouth.send(&answer).is_ok()
    });
}

#[test]
fn a_generator_that_dies_is_named_and_the_others_are_waited_for() {
    let (outcome, shelf) = conduct(&plan(&["5+6"], 2, 2), Shelf::default(), &[mortal, sound]);
    let says = "generator gen0: it was lost: the pipe was closed";
    assert_eq!(faults(&shelf), [says, says]);
    assert_eq!(
        shelf.notes.iter().filter(|note| **note == "lost: generator gen0: the pipe was closed").count(),
        1
    );
    assert_eq!((outcome.ended, outcome.measured), (Ended::Count, 0));
}

/// Answers a load that nobody ordered.
fn stray(pipe: UnixStream) {
    let mut ear = pipe.try_clone().unwrap();
    let mut mouth = Pipe(pipe);
    let said = [Frame::Hello(hello()), Frame::Connected { id: 77 }].map(|frame| mouth.send(&frame));
    drop((said, std::io::copy(&mut ear, &mut std::io::sink())));
}

#[test]
fn a_generator_that_answers_what_it_was_not_asked_is_lost() {
    let (_, shelf) = conduct(&plan(&["5"], 1, 1), Shelf::default(), &[stray]);
    assert_eq!(faults(&shelf), ["generator gen0: it was lost: it sent an answer that was not asked for"]);
}

#[test]
fn a_study_without_all_its_generators_is_not_begun() {
    fn silent(pipe: UnixStream) {
        drop(pipe);
    }
    let (outcome, shelf) = conduct(&plan(&["5"], 1, 1), Shelf::default(), &[silent]);
    assert_eq!((outcome.ended, shelf.takes.len()), (Ended::Refused, 0));
    assert_eq!(outcome.refused, Some(SinkError::new("generator gen0: the pipe was closed")));
    let refuses = Shelf { refuse: true, ..Shelf::default() };
    let (outcome, _) = conduct(&plan(&["5"], 1, 1), refuses, &[sound]);
    assert_eq!(outcome.refused, Some(SinkError::new("generator gen0: another build")));
}
