//! Generators: children that send load for the machine whose take is under way, or that are the far end of its network
//! tests. The program only relays, and is quiet while a load runs.
//!
//! First all set up; then their clocks are compared with the program's, since hosts do not share one; then each is
//! told the same moment in its own clock's time. Times are nanoseconds. Every wait is bounded. A lost generator stays
//! lost.

use std::collections::VecDeque;

use model::NoteBody;
use model::frame::{Frame, Hello};
use model::generate::{self, GeneratorOrder, Loaded, NotLoaded, Part};

use super::silence::too_silent;
use super::{Conductor, Link, Show, SinkError, UNASKED};
use crate::inflow::{self, Inflow};
use crate::worker::Event;

/// Clock readings per generator; the one with the shortest round trip counts.
const ROUNDS: u64 = 4;
/// Time limit for an answer about a clock, and for the end of a load that was called off.
const ANSWER_NS: u64 = 10_000_000_000;
/// Time from the last message to the common start, in addition to twice the longest round trip.
const LEAD_NS: u64 = 5_000_000;
/// Most loads in one take; a search for the highest rate needs some tens.
const MOST_LOADS: u32 = 10_000;

/// The state of one generator in the program.
pub(super) struct Generator {
    name: String,
    link: Box<dyn Link>,
    pub(super) heard_ns: u64,
    /// The last one.
    hello: Option<Hello>,
    /// True from its Hello until it is told to begin anew.
    greeted: bool,
    lost: Option<String>,
    /// Advice for the user about its loss.
    hint: Option<String>,
    /// Frames with the time of their arrival.
    inbox: VecDeque<(u64, Frame)>,
    inflow: Inflow,
    /// True from the order to set a load up until its last frame on it.
    busy: bool,
}

/// A generator's clock compared with the program's.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Its time minus the program's.
    ahead_ns: i128,
    /// Round trip of the reading; half of it bounds the error.
    round_trip_ns: u64,
}

/// Why a load came to no result.
enum Stopped {
    Sink(SinkError),
    Not(NotLoaded),
}

impl From<SinkError> for Stopped {
    fn from(error: SinkError) -> Stopped {
        Stopped::Sink(error)
    }
}

impl Conductor<'_> {
    /// Adds the children that send load for every machine, in the order of the plan's generators. Their events are
    /// numbered after those of the machines.
    #[must_use]
    pub fn with_generators(mut self, links: Vec<Box<dyn Link>>) -> Self {
        let names = self.plan.generators.iter().map(|via| via.name.clone());
        let generator = |(name, link)| Generator {
            name,
            link,
            heard_ns: sys::clock::now_ns(),
            hello: None,
            greeted: false,
            lost: None,
            hint: None,
            inbox: VecDeque::new(),
            inflow: Inflow::default(),
            busy: false,
        };
        self.generators = names.zip(links).map(generator).collect();
        self
    }

    /// Waits for Hello of every generator. A study begins only with all of them; one that is lost later makes every
    /// take fail that needs it.
    pub(super) fn open_generators(&mut self) -> Result<Vec<generate::Generator>, SinkError> {
        let mut known = Vec::new();
        for at in 0..self.generators.len() {
            match self.greeting(at) {
                Ok(Some(hello)) => {
                    self.generators[at].hello = Some(hello);
                    self.post(at, &Frame::Generator)?;
                }
                Ok(None) => return Ok(Vec::new()),
                Err(error) if self.generators[at].hello.is_none() => return Err(error),
                Err(_) => {}
            }
            let state = &self.generators[at];
            if let Some(Hello { boot_id, cpus, cores, .. }) = &state.hello {
                let (name, host, cpus) = (state.name.clone(), boot_id.clone(), cpus.clone());
                known.push(generate::Generator { name, host, cpus, cores: cores.clone() });
            }
        }
        Ok(known)
    }

    /// Has every generator begin anew; its next frame is another Hello.
    pub(super) fn renew_generators(&mut self) -> Result<(), SinkError> {
        for at in 0..self.generators.len() {
            self.post(at, &Frame::Anew)?;
            self.generators[at].greeted = false;
        }
        Ok(())
    }

    /// The Hello of a generator; `None` when the user asked to stop first.
    fn greeting(&mut self, at: usize) -> Result<Option<Hello>, SinkError> {
        let why = loop {
            if self.stopped() {
                return Ok(None);
            }
            match self.hear(at, u64::MAX, "did not say hello")? {
                Ok(Some((_, Frame::Hello(hello)))) => match self.sink.helper(&hello) {
                    Ok(()) => {
                        self.generators[at].greeted = true;
                        return Ok(Some(hello));
                    }
                    Err(error) => break error.why,
                },
                Ok(Some(_)) => break UNASKED.to_owned(),
                Ok(None) => {}
                Err(why) => break why,
            }
        };
        self.lose_generator(at, &why)?;
        let state = &self.generators[at];
        let why = state.lost.as_deref().unwrap_or(&why);
        Err(SinkError { why: format!("{}: {why}", self.called(at)), hint: state.hint.clone() })
    }

    /// "generator" or "far end", with its name and command.
    fn called(&self, at: usize) -> String {
        let name = self.plan.generators.get(at).map(|via| via.called()).unwrap_or_default();
        format!("{} {name}", self.plan.role())
    }

    /// Keeps an event of a generator until it is waited for.
    pub(super) fn hear_generator(&mut self, at: usize, event: Event) -> Result<(), SinkError> {
        let now_ns = sys::clock::now_ns();
        let since_ns = now_ns.saturating_sub(self.began_ns);
        let Some(state) = self.generators.get_mut(at).filter(|state| state.lost.is_none()) else {
            return Ok(());
        };
        state.heard_ns = now_ns;
        let frame = match event {
            Event::Lost(why) => return self.lose_generator(at, &why),
            Event::Frame(frame) => frame,
        };
        let wrong = match &frame {
            Frame::Ping if state.inflow.allows(&frame, since_ns) => return Ok(()),
            Frame::Ping => Some("it sent far more frames than a generator should"),
            Frame::Hello(_) | Frame::Connected { .. } | Frame::Clock { .. } | Frame::Loaded { .. } => {
                (state.inbox.len() >= inflow::MOST_INBOX).then_some(UNASKED)
            }
            _ => Some("it sent a frame that no generator sends"),
        };
        match wrong {
            Some(why) => self.lose_generator(at, why),
            None => {
                self.generators[at].inbox.push_back((now_ns, frame));
                Ok(())
            }
        }
    }

    /// Marks a generator as lost and shows why. Fails when the sink cannot store.
    pub(super) fn lose_generator(&mut self, at: usize, why: &str) -> Result<(), SinkError> {
        let state = &mut self.generators[at];
        if state.lost.is_some() {
            return Ok(());
        }
        let parting = state.link.hang_up();
        let why = parting.after(why);
        state.busy = false;
        state.inbox.clear();
        state.lost = Some(why.clone());
        state.hint.clone_from(&parting.hint);
        let text = format!("{} {}: {why}", self.plan.role(), state.name);
        // A study that was not begun ends with the same words.
        if state.hello.is_some() {
            let called = self.called(at);
            self.sink.show(&Show::HelperLost { called: &called, why: &why, hint: parting.hint.as_deref() });
        }
        (0..self.machines.len())
            .try_for_each(|machine| self.sink.note(machine, NoteBody::remark("lost", text.as_str())))
    }

    /// Tells every generator that no load follows.
    pub(super) fn dismiss_generators(&mut self) -> Result<(), SinkError> {
        for at in 0..self.generators.len() {
            match self.generators[at].hello {
                Some(_) => self.post(at, &Frame::Ack(None))?,
                None => drop(self.generators[at].link.hang_up()),
            }
        }
        Ok(())
    }

    fn post(&mut self, at: usize, frame: &Frame) -> Result<(), SinkError> {
        let state = &mut self.generators[at];
        if state.lost.is_some() {
            return Ok(());
        }
        state.inflow.ordered();
        state.heard_ns = sys::clock::now_ns();
        match state.link.send(frame) {
            Ok(()) => Ok(()),
            Err(why) => self.lose_generator(at, &why),
        }
    }

    /// Polls a generator once: a frame with its time, `None` if there is none yet, or why it is lost.
    fn hear(
        &mut self,
        at: usize,
        until_ns: u64,
        failed: &str,
    ) -> Result<Result<Option<(u64, Frame)>, String>, SinkError> {
        if let Some(said) = self.generators[at].inbox.pop_front() {
            return Ok(Ok(Some(said)));
        }
        if let Some(why) = &self.generators[at].lost {
            return Ok(Err(why.clone()));
        }
        self.excuse();
        let now_ns = sys::clock::now_ns();
        let state = &self.generators[at];
        if now_ns > until_ns {
            self.lose_generator(at, &format!("it {failed} in time"))?;
        } else if let Some(why) = too_silent(state.greeted, state.heard_ns, self.silence_ns) {
            self.lose_generator(at, &why)?;
        } else if let Some((machine, frame)) = self.poll()? {
            self.keep(machine, frame)?;
        }
        Ok(Ok(None))
    }

    /// Waits for the end of a take, and relays what the machine asks of the generators meanwhile.
    pub(super) fn answer(&mut self, machine: usize) -> Result<Option<Frame>, SinkError> {
        for _ in 0..MOST_LOADS {
            let answer = self.wait(machine, false, |frame| {
                let ends = matches!(frame, Frame::TakeDone(_) | Frame::Fault { .. } | Frame::Bye(_));
                ends || matches!(frame, Frame::Generate(_))
            })?;
            match answer {
                Some(Frame::Generate(order)) => self.generate(machine, &order)?,
                answer => return Ok(answer),
            }
        }
        self.lose(machine, UNASKED).map(|()| None)
    }

    /// Has a load carried out for a machine and sends it the result.
    fn generate(&mut self, machine: usize, order: &GeneratorOrder) -> Result<(), SinkError> {
        let result = match self.load(machine, order) {
            Ok(parts) => Ok(parts),
            Err(Stopped::Not(not)) => {
                self.call_off(order)?;
                Err(NotLoaded { what: inflow::cut(not.what), ..not })
            }
            Err(Stopped::Sink(error)) => return Err(error),
        };
        self.tell(machine, &Frame::Generated { id: order.id, result })
    }

    fn load(&mut self, machine: usize, order: &GeneratorOrder) -> Result<Vec<Part>, Stopped> {
        let (wanted, have) = (order.bodies.len(), self.generators.len());
        if wanted == 0 || wanted > have {
            let what = format!("{wanted} generators are asked for, and {have} are given with --from");
            return Err(Stopped::Not(NotLoaded { generator: String::new(), before_start: true, what }));
        }
        for (at, body) in order.bodies.iter().enumerate() {
            self.generators[at].busy = self.generators[at].lost.is_none();
            self.post(at, &Frame::Load { id: order.id, body: body.clone() })?;
        }
        let until_ns = sys::clock::now_ns().saturating_add(order.connect_ns);
        for at in 0..wanted {
            self.expect(at, until_ns, true, "did not set its connections up", |_, frame| match frame {
                Frame::Connected { id } if id == order.id => Some(()),
                _ => None,
            })?;
        }
        let clocks = self.clocks(wanted)?;
        self.tell(machine, &Frame::Generating { id: order.id })?;
        let slowest_ns = clocks.iter().map(|clock| clock.round_trip_ns).max().unwrap_or(0);
        let start_ns = sys::clock::now_ns().saturating_add(2 * slowest_ns).saturating_add(LEAD_NS);
        for (at, clock) in clocks.iter().enumerate() {
            let theirs = u64::try_from(i128::from(start_ns) + clock.ahead_ns).unwrap_or(0);
            self.post(at, &Frame::Start { id: order.id, at_ns: Some(theirs) })?;
        }
        let until_ns = start_ns.saturating_add(order.run_ns);
        let mut loaded = Vec::with_capacity(wanted);
        for at in 0..wanted {
            let done = self.expect(at, until_ns, false, "did not end its load", |_, frame| match frame {
                Frame::Loaded { id, result: Ok(loaded) } if id == order.id => Some(loaded),
                _ => None,
            })?;
            self.generators[at].busy = false;
            loaded.push(done);
        }
        Ok(together(loaded, &clocks))
    }

    /// Waits for a certain frame of one generator. Any other answer, its failure or its loss ends the load.
    fn expect<T>(
        &mut self,
        at: usize,
        until_ns: u64,
        before_start: bool,
        failed: &str,
        wanted: impl Fn(u64, Frame) -> Option<T>,
    ) -> Result<T, Stopped> {
        let not = |name: String, before_start: bool, what: String| {
            Stopped::Not(NotLoaded { generator: name, before_start, what })
        };
        loop {
            let said = self.hear(at, until_ns, failed)?;
            let name = self.generators[at].name.clone();
            match said {
                Ok(None) => {}
                Err(why) => return Err(not(name, false, format!("it was lost: {why}"))),
                Ok(Some((_, Frame::Loaded { result: Err(what), .. }))) => {
                    self.generators[at].busy = false;
                    return Err(not(name, before_start, what));
                }
                Ok(Some((at_ns, frame))) => match wanted(at_ns, frame) {
                    Some(word) => return Ok(word),
                    None => {
                        self.lose_generator(at, UNASKED)?;
                        return Err(not(name, false, format!("it was lost: {UNASKED}")));
                    }
                },
            }
        }
    }

    /// Compares the clocks of the first `wanted` generators, several times and all at once.
    fn clocks(&mut self, wanted: usize) -> Result<Vec<Clock>, Stopped> {
        let mut best = vec![Clock { ahead_ns: 0, round_trip_ns: u64::MAX }; wanted];
        for round in 0..ROUNDS {
            let mut sent_ns = Vec::with_capacity(wanted);
            for at in 0..wanted {
                sent_ns.push(sys::clock::now_ns());
                self.post(at, &Frame::AskClock { id: round })?;
            }
            for at in 0..wanted {
                let until_ns = sent_ns[at].saturating_add(ANSWER_NS);
                let (came_ns, theirs_ns) = self.expect(
                    at,
                    until_ns,
                    true,
                    "did not report its clock",
                    |came_ns, frame| match frame {
                        Frame::Clock { id, now_ns } if id == round => Some((came_ns, now_ns)),
                        _ => None,
                    },
                )?;
                let round_trip_ns = came_ns.saturating_sub(sent_ns[at]);
                let middle_ns = sent_ns[at].saturating_add(round_trip_ns / 2);
                if round_trip_ns < best[at].round_trip_ns {
                    let ahead_ns = i128::from(theirs_ns) - i128::from(middle_ns);
                    best[at] = Clock { ahead_ns, round_trip_ns };
                }
            }
        }
        Ok(best)
    }

    /// Calls off a load: ends the generators that have only set it up, and waits for those that carry it out.
    fn call_off(&mut self, order: &GeneratorOrder) -> Result<(), SinkError> {
        let patience_ns = order.run_ns.saturating_add(ANSWER_NS);
        let until_ns = sys::clock::now_ns().saturating_add(patience_ns);
        for at in 0..self.generators.len() {
            if self.generators[at].busy {
                self.post(at, &Frame::Start { id: order.id, at_ns: None })?;
            }
        }
        for at in 0..self.generators.len() {
            while self.generators[at].busy {
                if let Ok(Some((_, Frame::Loaded { .. }))) =
                    self.hear(at, until_ns, "did not call its load off")?
                {
                    self.generators[at].busy = false;
                }
            }
        }
        Ok(())
    }
}

/// Start times by the program's clock, relative to the earliest one.
fn together(loaded: Vec<Loaded>, clocks: &[Clock]) -> Vec<Part> {
    let starts = loaded.iter().zip(clocks).map(|(one, clock)| i128::from(one.start_ns) - clock.ahead_ns);
    let starts: Vec<i128> = starts.collect();
    let first = starts.iter().copied().min().unwrap_or(0);
    let part = |((loaded, clock), start): ((Loaded, &Clock), i128)| Part {
        after_ns: u64::try_from(start.saturating_sub(first)).unwrap_or(u64::MAX),
        error_ns: clock.round_trip_ns / 2,
        body: loaded.body,
    };
    loaded.into_iter().zip(clocks).zip(starts).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_compared_on_one_clock() {
        let loaded = |start_ns| Loaded { start_ns, body: vec![] };
        let clock = |ahead_ns, round_trip_ns| Clock { ahead_ns, round_trip_ns };
        // The second host booted much later, and started 30 ns after the first.
        let parts = together(vec![loaded(1_000_000), loaded(530)], &[clock(900_000, 10), clock(-99_500, 40)]);
        let times: Vec<_> = parts.iter().map(|part| (part.after_ns, part.error_ns)).collect();
        assert_eq!(times, [(0, 5), (30, 20)]);
        assert!(together(vec![], &[]).is_empty());
        let far = together(vec![loaded(0), loaded(u64::MAX)], &[clock(i128::from(u64::MAX), 0), clock(0, 0)]);
        assert_eq!((far[0].after_ns, far[1].after_ns), (0, u64::MAX));
    }
}
