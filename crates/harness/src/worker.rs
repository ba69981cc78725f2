//! The worker is the measuring child: it says Hello, gets a plan, prepares instruments, and does one take per order.
//!
//! Orders come one at a time, each only after everything before it is committed, so that no fsync or drawing overlaps
//! a measurement. When the pipe closes, the child ends. If it is told to be a generator instead, it carries out loads
//! for another child (`generator`).

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use model::frame::{self, Frame, Hello, Job, Live, OPENING, OwnCost};
use model::generate::Relay;
use model::plan::TakeOrder;
use model::reading::Take;
use model::{Cadence, Card, Fact, Fault, Instrument, NoteBody, Params, Phase, ProgressHandle, Unfit};

use crate::generator::{self, Generate};
use crate::probe_cache::{Host, ProbeCache, setup};
use crate::prompter::{Answers, Prompter};
use crate::recorder::{Recorder, Watch};
use crate::relay::Port;
use crate::ticker::Ticker;

/// An event of a pipe.
#[derive(Debug)]
pub enum Event {
    Frame(Frame),
    /// The pipe ended or broke; no event follows.
    Lost(String),
}

/// Bytes before the opening that are passed over.
const MOST_NOISE: usize = 64 << 10;

/// Bytes that are read at once. Each of 1,000 agents has a thread that reads.
const CHUNK: usize = 8 << 10;

const NO_FRAME: &str = "what it sent is not a boxscore frame";

/// Reads frames until the pipe ends and passes each one on; stops when `give` returns false. What stands before the
/// opening is passed over. Runs in a thread of its own.
pub fn pump(mut from: impl Read, mut give: impl FnMut(Event) -> bool) {
    let mut bytes = Vec::new();
    let mut chunk = vec![0u8; CHUNK];
    let mut speaks = false;
    loop {
        loop {
            match frame::decode(&bytes) {
                Ok(Some((frame, used))) => {
                    speaks = true;
                    bytes.drain(..used);
                    if !give(Event::Frame(frame)) {
                        return;
                    }
                }
                Ok(None) => break,
                Err(error) => match opening(&bytes).filter(|(at, _)| *at == 0 || !speaks) {
                    Some((_, end)) => {
                        speaks = true;
                        bytes.drain(..end);
                    }
                    None if !speaks && bytes.len() < MOST_NOISE => break,
                    None => {
                        // A text read as a length is no long frame.
                        give(Event::Lost(if speaks { error.to_string() } else { NO_FRAME.to_owned() }));
                        return;
                    }
                },
            }
        }
        match from.read(&mut chunk) {
            Ok(0) => {
                let why = match (speaks, bytes.is_empty()) {
                    (_, true) => "the pipe was closed",
                    (true, false) => "the pipe was closed in the middle of a frame",
                    (false, false) => NO_FRAME,
                };
                give(Event::Lost(why.to_owned()));
                return;
            }
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                give(Event::Lost(error.to_string()));
                return;
            }
        }
    }
}

/// Where the opening begins and ends.
fn opening(bytes: &[u8]) -> Option<(usize, usize)> {
    let at = bytes.windows(OPENING.len()).position(|window| window == OPENING)?;
    Some((at, at + OPENING.len()))
}

/// Why a child ended before its work was done.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("the pipe to the program broke: {0}")]
    Pipe(String),
    #[error("expected {wanted}, got another frame")]
    Order { wanted: &'static str },
}

/// The end of a sitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The study is over.
    End,
    /// Another sitting follows.
    Anew,
}

/// The parts of a worker.
pub struct Worker {
    pub instruments: Vec<&'static dyn Instrument>,
    pub hello: Hello,
    /// Carries out the loads of a generator.
    pub generate: Generate,
    /// Called from the reading thread when the pipe is lost or Abort arrives, even in the middle of a take.
    pub lost: fn(),
    /// Receives the handle for progress and cancellation, before anything is prepared.
    pub set_progress: fn(ProgressHandle),
    /// Makes this process a new one, which speaks on the same pipes: then it does not return. `None` where the sitting
    /// needs no new process, or why there is none.
    pub anew: fn() -> Option<String>,
}

pub(crate) type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// Writes one frame. Fails when the pipe is broken.
pub(crate) fn send(output: &Output, frame: &Frame) -> Result<(), WorkerError> {
    let broke = |error: String| WorkerError::Pipe(error);
    let bytes = frame::encode(frame).map_err(|error| broke(error.to_string()))?;
    let mut output = output.lock().map_err(|_| broke("another thread failed while writing".to_owned()))?;
    output.write_all(&bytes).and_then(|()| output.flush()).map_err(|error| broke(error.to_string()))
}

impl Worker {
    /// Serves one job over a pair of pipes. Fails when the pipe breaks or an unexpected frame arrives.
    pub fn serve(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Result<(), WorkerError> {
        let mut output: Box<dyn Write + Send> = Box::new(output);
        output.write_all(OPENING).map_err(|error| WorkerError::Pipe(error.to_string()))?;
        let output: Output = Arc::new(Mutex::new(output));
        // Before the input is read: its end ends this process.
        self.greet(&output)?;
        let (give, frames): (Sender<Event>, Receiver<Event>) = channel();
        let lost = self.lost;
        let (cut, left) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (asked, gone) = (Arc::clone(&cut), Arc::clone(&left));
        let answers = Answers::default();
        let heard = answers.clone();
        std::thread::spawn(move || {
            pump(input, |event| {
                // Heard in the middle of anything; nobody waits for it in the channel.
                if matches!(event, Event::Frame(Frame::Cut | Frame::Leave)) {
                    asked.fetch_or(matches!(event, Event::Frame(Frame::Cut)), Ordering::Relaxed);
                    gone.store(true, Ordering::Relaxed);
                    return true;
                }
                if let Event::Frame(Frame::Reading { id, watts }) = event {
                    heard.put(id, watts);
                    return true;
                }
                if matches!(event, Event::Lost(_) | Event::Frame(Frame::Abort)) {
                    lost();
                }
                give.send(event).is_ok()
            });
        });
        let frames = Arc::new(Mutex::new(frames));
        let said = Arc::clone(&output);
        // A broken pipe is noticed by the reading thread, which ends the child.
        let say = move |what: &str| drop(send(&said, &Frame::Progress(what.to_owned())));
        let progress = ProgressHandle::new(left, Arc::new(say));
        (self.set_progress)(progress.clone());
        let mut failed = None;
        loop {
            if self.sitting(&frames, &output, (&cut, &progress, &answers), failed)? == Next::End {
                return Ok(());
            }
            failed = self.renewed(&output)?;
            self.greet(&output)?;
        }
    }

    fn greet(&self, output: &Output) -> Result<(), WorkerError> {
        let (wall_ns, monotonic_ns) = (sys::clock::wall_ns(), sys::clock::now_ns());
        let wall_ns = i64::try_from(wall_ns).unwrap_or(i64::MAX);
        send(output, &Frame::Hello(Hello { wall_ns, monotonic_ns, ..self.hello.clone() }))
    }

    /// Ends this process for a new one. Where that is not possible it goes on, with nothing prepared, and returns why.
    fn renewed(&self, output: &Output) -> Result<Option<String>, WorkerError> {
        // No frame is cut in two by the end of the thread that writes it.
        let held = output.lock();
        let _held = held.map_err(|_| WorkerError::Pipe("another thread failed while writing".to_owned()))?;
        Ok((self.anew)())
    }

    /// One sitting: a plan until its end, or loads for another child. `failed`: why it is no new process.
    fn sitting(
        &self,
        frames: &Frames,
        output: &Output,
        (cut, progress, answers): (&Arc<AtomicBool>, &ProgressHandle, &Answers),
        failed: Option<String>,
    ) -> Result<Next, WorkerError> {
        let job = match next(frames)? {
            Frame::Plan(job) => *job,
            Frame::Generator => return generator::serve(self.generate, frames, output),
            _ => return Err(WorkerError::Order { wanted: "a plan" }),
        };
        if let Some(why) = failed {
            let text = format!("its memory is new, but its process is not: {why}");
            send(output, &Frame::Note(NoteBody::remark("sitting", text)))?;
        }
        let end = Arc::new(AtomicBool::new(false));
        let served = self.work(&job, frames, output, (&end, cut, progress.clone(), answers));
        end.store(true, Ordering::Relaxed);
        served
    }

    fn work(
        &self,
        job: &Job,
        frames: &Frames,
        output: &Output,
        (end, cut, progress, answers): (&Arc<AtomicBool>, &Arc<AtomicBool>, ProgressHandle, &Answers),
    ) -> Result<Next, WorkerError> {
        let zero_ns = sys::clock::now_ns().saturating_sub(job.elapsed_ns);
        let started_ns = sys::clock::now_ns();
        let facts = if job.plan.fake.is_some() { Vec::new() } else { self.inventory(job) };
        let host = Host::from_facts(&facts, &self.hello.cpus);
        send(output, &Frame::Ready(facts))?;
        let ticker = (job.plan.fake.is_none()).then(|| {
            let out = Arc::clone(output);
            let ticker = Ticker {
                instruments: self.instruments.clone(),
                setup: setup(job, &host, Params::default(), None),
                zero_ns,
                end: Arc::clone(end),
                send: Box::new(move |frame| send(&out, frame).is_ok()),
            };
            std::thread::spawn(move || ticker.run())
        });
        let relay = (!job.generators.is_empty()).then(|| {
            let port = Port::new(job.generators.clone(), Arc::clone(frames), Arc::clone(output));
            Arc::new(port) as Arc<dyn Relay>
        });
        let out = Arc::clone(output);
        // A broken pipe is noticed by the reading thread, which ends the child.
        let ask = Box::new(move |frame: &Frame| drop(send(&out, frame)));
        let prompt = Arc::new(Prompter::new(answers.clone(), ask));
        let probes = ProbeCache::new(&self.instruments, job, host).with_relay(relay).with_progress(progress);
        let probes = probes.with_prompt(prompt);
        let mut session = WorkerSession { job, probes, output, zero_ns, own_ns: 0, cut };
        let after = loop {
            match next(frames)? {
                Frame::Ack(Some(order)) => session.take(order)?,
                Frame::Ack(None) | Frame::Stop => break Next::End,
                Frame::Anew => break Next::Anew,
                _ => return Err(WorkerError::Order { wanted: "an order" }),
            }
        };
        for fault in session.probes.end() {
            send(output, &Frame::Note(NoteBody::Command(fault.to_string())))?;
        }
        let agent_cpu_seconds = session.own_ns as f64 / 1e9;
        // Once it has heard Bye the program hangs up or waits for a new process: what was prepared is gone before.
        drop(session);
        end.store(true, Ordering::Relaxed);
        let telemetry_cpu_seconds = ticker.and_then(|thread| thread.join().ok()).unwrap_or(0.0);
        let seconds = (sys::clock::now_ns() - started_ns) as f64 / 1e9;
        send(output, &Frame::Bye(OwnCost { agent_cpu_seconds, telemetry_cpu_seconds, seconds }))?;
        Ok(after)
    }

    /// The facts of this machine, from every instrument that is read once in such a run.
    fn inventory(&self, job: &Job) -> Vec<Fact> {
        let host = Host { cpus: self.hello.cpus.clone(), llc: None, memory: None };
        let mut recorder = Recorder::default();
        let cells = &job.plan.cells;
        let measures = |family| {
            let mut of_family = self.instruments.iter().filter(|one| one.card().family == family);
            of_family.any(|one| cells.iter().any(|cell| cell.instrument == one.card().name))
        };
        let is_read = |card: &Card| card.cadence == Cadence::Once && card.facts_of.is_none_or(measures);
        for one in self.instruments.iter().filter(|one| is_read(one.card())) {
            let setup = setup(job, &host, Params::default(), None);
            recorder.open(one.card(), &setup.params, "", 0);
            let name = one.card().name;
            let taken = one.prepare(&setup).map_err(|unfit| unfit.why);
            if let Err(why) =
                taken.and_then(|mut probe| probe.take(1, &mut recorder).map_err(|fault| fault.text))
            {
                recorder.facts.push(Fact::unknown(name, name, why));
            }
        }
        recorder.facts
    }
}

/// Frames from the program: orders, or within a take the answers about its generators.
pub(crate) type Frames = Arc<Mutex<Receiver<Event>>>;

/// Waits for the next frame. Fails when the pipe is lost.
pub(crate) fn next(frames: &Frames) -> Result<Frame, WorkerError> {
    let frames =
        frames.lock().map_err(|_| WorkerError::Pipe("another thread failed while reading".to_owned()))?;
    match frames.recv() {
        Ok(Event::Frame(frame)) => Ok(frame),
        Ok(Event::Lost(why)) => Err(WorkerError::Pipe(why)),
        Err(_) => Err(WorkerError::Pipe("the reading thread ended".to_owned())),
    }
}

/// Serves the takes of one job.
struct WorkerSession<'a> {
    job: &'a Job,
    probes: ProbeCache<'a>,
    output: &'a Output,
    zero_ns: u64,
    /// CPU time of this thread outside calibration and takes.
    own_ns: u64,
    /// Set when the user wants the take in flight to end early.
    cut: &'a Arc<AtomicBool>,
}

impl WorkerSession<'_> {
    fn take(&mut self, order: TakeOrder) -> Result<(), WorkerError> {
        let from_ns = sys::clock::thread_cpu_ns();
        let mut recorder = Recorder::default();
        let made =
            self.probes.get_or_prepare(order.cell, order.arm, &mut recorder).map(|ready| ready.probe.cpus());
        let taken = made.and_then(|cpus| {
            let taken_from_ns = sys::clock::thread_cpu_ns();
            let taken = self.measure(order, &mut recorder, &cpus);
            self.own_ns += taken_from_ns.saturating_sub(from_ns).min(1_000_000);
            taken
        });
        let done = match taken {
            Ok(take) => Frame::TakeDone(Box::new(take)),
            Err(Unfit { why }) => {
                // There is no take that they could stay with.
                for note in recorder.notes {
                    send(self.output, &Frame::Note(note))?;
                }
                Frame::Fault { cell: order.cell, arm: order.arm, text: why }
            }
        };
        let sent_from_ns = sys::clock::thread_cpu_ns();
        let sent = send(self.output, &done);
        self.own_ns += sys::clock::thread_cpu_ns().saturating_sub(sent_from_ns);
        sent
    }

    /// Does one take. Fails with the reason when its cell is given up, because no further take can come.
    fn measure(&mut self, order: TakeOrder, recorder: &mut Recorder, cpus: &[u32]) -> Result<Take, Unfit> {
        let arm = self.job.plan.arm_name(order.cell, order.arm).to_owned();
        self.conditions(0, cpus, &arm, recorder);
        let from = recorder.readings.len();
        let mut start_ns = self.now(order.seq);
        let mut fault;
        let mut repeats = 0;
        match self.probes.get_or_prepare(order.cell, order.arm, recorder) {
            Ok(ready) => {
                recorder.open(ready.card, &ready.params, &arm, start_ns);
                recorder.watch = watch(self.job, self.output, self.cut);
                repeats = if self.job.plan.fake.is_some() { u64::from(order.block) } else { ready.repeats };
                start_ns = now(self.job, self.zero_ns, order.seq);
                fault = ready.probe.take(repeats, recorder).err();
                if fault.is_some()
                    && let Some(why) = ready.probe.given_up()
                {
                    return Err(Unfit { why });
                }
            }
            Err(unfit) => fault = Some(Fault::new(unfit.why)),
        }
        let end_ns = self.now(order.seq + 1);
        recorder.close(from, start_ns, end_ns);
        fault = fault.or_else(|| recorder.undeclared.first().map(Fault::new));
        if fault.is_some() {
            recorder.readings.truncate(from);
        }
        self.conditions(1, cpus, &arm, recorder);
        let phase = if order.warm_up { Phase::WarmUp } else { Phase::Measured };
        let recorder = std::mem::take(recorder);
        Ok(Take {
            seq: order.seq,
            block: order.block,
            sitting: self.job.sitting,
            phase,
            cell: order.cell,
            arm: order.arm,
            start_ns,
            end_ns,
            repeats,
            readings: recorder.readings,
            refusals: recorder.refusals,
            notes: recorder.notes,
            fault,
        })
    }

    /// Reads the condition probes: side 0 before the take, side 1 after it.
    fn conditions(&mut self, side: u64, cpus: &[u32], arm: &str, recorder: &mut Recorder) {
        let at_ns = now(self.job, self.zero_ns, 0);
        for (card, probe) in self.probes.conditions(cpus, recorder) {
            let from = recorder.readings.len();
            recorder.open(card, &Params::default(), arm, at_ns);
            if let Err(fault) = probe.take(side, recorder) {
                recorder.readings.truncate(from);
                recorder.notes.push(NoteBody::remark("condition", format!("{}: {fault}", card.name)));
            }
            recorder.close(from, at_ns, now(self.job, self.zero_ns, 0));
        }
    }

    fn now(&self, seq: u64) -> u64 {
        now(self.job, self.zero_ns, seq)
    }
}

/// Live progress of takes to the program, if it is watched.
fn watch(job: &Job, output: &Output, cut: &Arc<AtomicBool>) -> Watch {
    let output = Arc::clone(output);
    let tell = move |live: Live| {
        // A broken pipe is noticed by the reading thread, which ends the child.
        drop(send(&output, &Frame::Live(Box::new(live))));
    };
    let tell = job.watched.then(|| Box::new(tell) as Box<dyn FnMut(Live)>);
    Watch { tell, cut: Arc::clone(cut) }
}

/// Nanoseconds since the run's start. With `--fake` they come from the take's number instead of the clock.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "planted times are far below 2^53 ns"
)]
fn now(job: &Job, zero_ns: u64, seq: u64) -> u64 {
    match &job.plan.fake {
        Some(world) => (seq as f64 * world.take_seconds * 1e9) as u64,
        None => sys::clock::now_ns().saturating_sub(zero_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a pipe with these bytes.
    fn events(parts: &[&[u8]]) -> Vec<Event> {
        let mut all = Vec::new();
        pump(&parts.concat()[..], |event| {
            all.push(event);
            true
        });
        all
    }

    #[test]
    fn what_a_login_shell_prints_before_the_opening_is_passed_over() {
        let ping = frame::encode(&Frame::Ping).unwrap();
        for noise in [&b""[..], b"x", b"Welcome to rack1\n", b"boxscore\n", &[b'y'; 60_000]] {
            let all = events(&[noise, OPENING, &ping, OPENING, &ping]);
            assert!(
                matches!(&all[..], [Event::Frame(Frame::Ping), Event::Frame(Frame::Ping), Event::Lost(_)]),
                "{all:?}"
            );
        }
    }

    #[test]
    fn frames_without_an_opening_are_read_and_what_is_none_is_told() {
        let ping = frame::encode(&Frame::Ping).unwrap();
        assert!(matches!(&events(&[&ping])[..], [Event::Frame(Frame::Ping), Event::Lost(_)]));
        let lost = |parts: &[&[u8]]| match &events(parts)[..] {
            [.., Event::Lost(why)] => why.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(lost(&[b"Welcome to rack1\n"]), NO_FRAME);
        assert_eq!(lost(&[&[b'y'; MOST_NOISE], OPENING, &ping]), NO_FRAME);
        // In the middle of frames nothing is passed over.
        assert_ne!(lost(&[&ping, b"Welcome", OPENING, &ping]), NO_FRAME);
    }
}
