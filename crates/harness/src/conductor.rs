//! The conductor runs in the program: it hands out takes in the plan's order, commits each before the next, and
//! decides when to stop.
//!
//! In: a plan, one link per child, and a channel of events. Out: takes and notes to a sink, and an outcome. It knows
//! no process, file or terminal.

mod again;
mod close;
mod generators;
mod machine;
mod questions;
mod silence;
mod sitting;
mod stop;
mod target_agent;
mod target_agents;
mod turns;
mod wall;

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use model::frame::{Frame, Segment};
use model::login::Login;
use model::note::{Dropped, NoteBody};
use model::plan::{Level, Plan};
use model::reading::Take;
use model::{Better, Phase, Unit, Value};
use stats::Decision;

use crate::inflow;
use crate::order::{self, BlockEntry};
use crate::outage::Outages;
use crate::questions::Questions;
use crate::tally::{self, Tally, Values, most_blocks, rule};
use crate::turns::Turns;
use crate::wall::Wall;
use crate::worker::Event;
use machine::{Machine, Opening};

pub use crate::ports::{
    Ended, Finished, Interaction, Link, NoLink, Outcome, Part, Parting, Show, Sink, SinkError, Typist,
    WallPower, WallReading,
};

const POLL: Duration = Duration::from_millis(200);
/// An unsolicited answer is a protocol error; the child is dropped at once.
const UNASKED: &str = "it sent an answer that was not asked for";

/// The place of a take: machine, block, cell, arm, and if it is a warm-up.
type Place = (usize, u32, u32, u32, bool);

/// One study being carried out.
pub struct Conductor<'a> {
    plan: &'a Plan,
    machines: Vec<Machine>,
    generators: Vec<generators::Generator>,
    agents: Vec<target_agent::TargetAgent>,
    events: Receiver<(usize, Event)>,
    looked: silence::Looked,
    /// A child that is silent for longer is lost.
    silence_ns: u64,
    sink: &'a mut dyn Sink,
    /// True once the user has asked to stop.
    stop: &'a dyn Fn() -> bool,
    started_ns: u64,
    /// Start of the time that the budget bounds: of a soak the first measured take, since preparing is no part of it.
    budget_from_ns: Option<u64>,
    /// Start of this program's part; `started_ns` is the start of the whole run.
    began_ns: u64,
    cpu_from_ns: u64,
    /// CPU time of this program while takes were in flight.
    beside_ns: u64,
    tally: HashMap<BlockEntry, Tally>,
    finished: HashSet<Place>,
    /// Places whose last take failed, or could not be done any more.
    failed: HashSet<Place>,
    /// Of the part of the run before it was resumed.
    outages: Outages,
    /// The time of the budget begins with this part of the run.
    has_time_anew: bool,
    done: Vec<bool>,
    by_target: bool,
    turns: Turns,
    stopping: stop::Stopping,
    interaction: Interaction,
    login: Option<Login>,
    questions: Questions<'a>,
    wall: Wall<'a>,
    /// Number of the sitting under way.
    sitting: u32,
    taken: u64,
    taking_ns: u64,
    /// How long the last take was measured.
    window_ns: u64,
    unfit: Vec<(usize, u32, String)>,
}

impl<'a> Conductor<'a> {
    pub fn new(
        plan: &'a Plan,
        links: Vec<Box<dyn Link>>,
        events: Receiver<(usize, Event)>,
        sink: &'a mut dyn Sink,
        stop: &'a dyn Fn() -> bool,
    ) -> Conductor<'a> {
        let now_ns = sys::clock::now_ns();
        Conductor {
            plan,
            machines: links.into_iter().map(|link| Machine::new(link, now_ns)).collect(),
            generators: Vec::new(),
            agents: Vec::new(),
            events,
            looked: silence::Looked::at(now_ns),
            silence_ns: silence::limit_ns(plan),
            sink,
            stop,
            started_ns: now_ns,
            budget_from_ns: (plan.level != Level::Soak).then_some(now_ns),
            began_ns: now_ns,
            cpu_from_ns: sys::clock::process_cpu_ns(),
            beside_ns: 0,
            tally: HashMap::new(),
            finished: HashSet::new(),
            failed: HashSet::new(),
            outages: Outages::default(),
            has_time_anew: false,
            done: vec![false; plan.cells.len()],
            by_target: false,
            turns: Turns::default(),
            stopping: stop::Stopping::default(),
            interaction: Interaction::default(),
            login: None,
            questions: Questions::default(),
            wall: Wall::default(),
            sitting: 0,
            taken: 0,
            taking_ns: 0,
            window_ns: 0,
            unfit: Vec::new(),
        }
    }

    /// Carries the plan out. Every machine's run gets an end, even when the sink refuses. `elapsed_ns` is the time
    /// that this run took before it was interrupted; it counts towards the budget.
    pub fn run(mut self, dir: &str, elapsed_ns: u64) -> Outcome {
        self.started_ns = self.started_ns.saturating_sub(elapsed_ns);
        let resumed = (elapsed_ns > 0).then_some(self.began_ns);
        let from_ns = self.budget_from_ns.or(resumed);
        let spent_ns = if self.has_time_anew { 0 } else { elapsed_ns };
        self.budget_from_ns = from_ns.map(|from_ns| from_ns.saturating_sub(spent_ns));
        let ended = self.carry_out(&Opening { dir, elapsed_ns });
        self.close(ended)
    }

    fn carry_out(&mut self, opening: &Opening<'_>) -> Result<Ended, SinkError> {
        if !self.plan.telemetry_only {
            return self.sittings(opening);
        }
        self.open(opening)?;
        self.watch()
    }

    /// Loses the machine if it has been silent for too long. Fails when the sink cannot store.
    fn check_silence(&mut self, machine: usize) -> Result<(), SinkError> {
        self.excuse();
        let state = &self.machines[machine];
        let Some(why) = silence::too_silent(state.greeted, state.heard_ns, self.silence_ns) else {
            return Ok(());
        };
        self.machines[machine].hangs |= state.lost.is_none();
        self.lose(machine, &why)
    }

    /// Machines that take no part, in the order of the plan: their links lead nowhere. Of one that cannot be reached
    /// the caller has said why.
    #[must_use]
    pub fn with_parts(mut self, parts: &[Part]) -> Self {
        for (state, part) in self.machines.iter_mut().zip(parts) {
            state.lost = match part {
                Part::Measured => None,
                Part::Unreached => Some("it was not reached".to_owned()),
                Part::Ended(_) => Some("its run has ended".to_owned()),
            };
            if let Part::Ended(status) = part {
                state.settled = Some(*status);
            }
        }
        self
    }

    /// Excludes time in which this program stood still from everyone's silence.
    pub(super) fn excuse(&mut self) {
        let still_ns = self.looked.again(sys::clock::now_ns());
        let machines = self.machines.iter_mut().map(|machine| &mut machine.heard_ns);
        let generators = self.generators.iter_mut().map(|one| &mut one.heard_ns);
        let agents = self.agents.iter_mut().map(|one| &mut one.heard_ns);
        machines.chain(generators).chain(agents).for_each(|heard_ns| {
            *heard_ns = heard_ns.saturating_add(still_ns);
        });
    }

    fn all_lost(&self) -> bool {
        self.machines.iter().all(|machine| machine.lost.is_some())
    }

    /// Orders one take, unless its cell is done, unfit, lost, or was finished earlier.
    fn take_entry(&mut self, entry: BlockEntry, block: u32, warm_up: bool) -> Result<(), SinkError> {
        let BlockEntry { machine, cell, arm } = entry;
        let skip = self.is_done(cell)
            || self.turns.is_waiting(cell)
            || self.finished.contains(&(machine, block, cell, arm, warm_up))
            || self.machines[machine].lost.is_some()
            || self.machines[machine].unfit.contains(&(cell, arm))
            || self.is_hopeless(entry, block);
        if skip {
            return Ok(());
        }
        let started_ns = sys::clock::now_ns();
        self.sink.show(&Show::Starting { machine, cell, arm, block, warm_up });
        self.wall.begin(self.plan, entry);
        let order = order::take(entry, self.machines[machine].seq, block, warm_up);
        let cpu_ns = sys::clock::process_cpu_ns();
        self.tell(machine, &Frame::Ack(Some(order)))?;
        let answer = self.answer(machine)?;
        self.beside_ns += sys::clock::process_cpu_ns().saturating_sub(cpu_ns);
        let asked = (order.seq, order.block, order.cell, order.arm, self.sitting);
        match answer {
            Some(Frame::TakeDone(take))
                if (take.seq, take.block, take.cell, take.arm, take.sitting) == asked =>
            {
                self.taken(machine, &take)?;
            }
            // Left in the middle of its preparing: once resumed, it may well run.
            Some(Frame::Fault { cell: at, arm: with, .. })
                if (at, with) == (cell, arm) && self.is_stopping() => {}
            Some(Frame::Fault { cell: at, arm: with, text }) if (at, with) == (cell, arm) => {
                self.drop_cell(entry, (block, warm_up), &inflow::cut(text))?;
            }
            Some(Frame::TakeDone(_) | Frame::Fault { .. }) => {
                self.lose(machine, "it answered with a different take from the one ordered")?;
            }
            Some(_) => self.lose(machine, "it ended before its work was done")?,
            None => {}
        }
        let elapsed_ns = sys::clock::now_ns().saturating_sub(started_ns);
        self.taking_ns += elapsed_ns;
        if self.turns.is_choosing() {
            self.turns.warmed(cell, elapsed_ns, self.window_ns);
        }
        let seconds = self.seconds_left();
        self.sink.show(&Show::Left { seconds });
        Ok(())
    }

    /// Drops a cell from the arm that cannot run it, with a note; other arms go on. A cell that already has takes
    /// counts as given up.
    fn drop_cell(
        &mut self,
        entry: BlockEntry,
        (block, warm_up): (u32, bool),
        why: &str,
    ) -> Result<(), SinkError> {
        let BlockEntry { machine, cell, arm } = entry;
        self.machines[machine].unfit.insert((cell, arm));
        self.unfit.push((machine, cell, why.to_owned()));
        self.sink.show(&Show::Unfit { machine, cell, arm, why });
        let known = self.plan.cells.get(cell as usize);
        let title = known.map(|cell| self.sink.title(cell)).unwrap_or_default();
        let named = self.plan.arm_name(cell, arm).to_owned();
        let dropped = Dropped { what: title, arm: named, why: why.to_owned() };
        let is_begun = self.tally.contains_key(&entry);
        if is_begun {
            // The take that was asked for failed.
            self.settle((machine, block, cell, arm, warm_up), true);
        }
        let note = if is_begun { NoteBody::GivenUp(dropped) } else { NoteBody::Unfit(dropped) };
        self.sink.note(machine, note)
    }

    fn taken(&mut self, machine: usize, take: &Take) -> Result<(), SinkError> {
        let telemetry = self.machines[machine].take_telemetry();
        self.sink.commit(machine, Some(take), &telemetry)?;
        self.store_target_telemetry()?;
        self.taken += 1;
        self.window_ns = take.end_ns.saturating_sub(take.start_ns);
        self.machines[machine].seq = take.seq + 1;
        let is_warm_up = take.phase == Phase::WarmUp;
        self.settle((machine, take.block, take.cell, take.arm, is_warm_up), take.fault.is_some());
        self.count(machine, take);
        if take.phase == Phase::Measured {
            // A figure that waits goes on where it was in its next turn.
            self.finished.insert((machine, take.block, take.cell, take.arm, false));
        }
        let entry = BlockEntry { machine, cell: take.cell, arm: take.arm };
        let first = self.plan.cells.get(take.cell as usize).and_then(|cell| cell.headline.first());
        let values = self.tally.get(&entry).and_then(|tally| match first {
            Some(name) => {
                tally.values.iter().find(|((metric, _), _)| metric == name).map(|(_, values)| values)
            }
            None => tally.values.values().next(),
        });
        let summary = values.and_then(tally::summary);
        let median = summary.as_ref().map(|s| s.median);
        let width = summary.as_ref().and_then(|s| s.relative_half_width());
        let n = values.map_or(0, |values| values.all().len());
        self.sink.show(&Show::Taken { machine, take, median, width, n });
        Ok(())
    }

    fn count(&mut self, machine: usize, take: &Take) {
        if take.phase == Phase::WarmUp {
            return;
        }
        let entry = BlockEntry { machine, cell: take.cell, arm: take.arm };
        let tally = self.tally.entry(entry).or_default();
        tally.attempts += 1;
        tally.faults += u32::from(take.fault.is_some());
        if let Some(state) = self.machines.get_mut(machine) {
            state.measured += u64::from(take.fault.is_none());
        }
        let Some(cell) = self.plan.cells.get(take.cell as usize) else { return };
        for reading in take.readings.iter().filter(|reading| reading.key.instrument == cell.instrument) {
            let wanted = cell.headline.is_empty() || cell.headline.contains(&reading.key.metric);
            // A share that is often 0 has no relative width, and neither has a percentile over the time limit.
            let aimed = reading.better != Better::Neither && reading.key.unit != Unit::Ratio;
            if let (true, Value::Number(number)) = (wanted && aimed, &reading.value)
                && number.is_finite()
            {
                let series = (reading.key.metric.clone(), reading.key.params.clone());
                tally.values.entry(series).or_default().push(take.sitting, *number);
            }
        }
    }

    /// Applies the stop rule to every cell, over all its arms and machines together.
    fn judge_cells(&mut self) {
        (0..self.done.len()).for_each(|cell| self.judge(cell));
    }

    fn judge(&mut self, cell: usize) {
        let index = u32::try_from(cell).unwrap_or(u32::MAX);
        if self.done[cell] || self.turns.is_waiting(index) || self.owes(index) {
            return;
        }
        let alive = |entry: &BlockEntry| {
            let machine = &self.machines[entry.machine];
            machine.lost.is_none() && !machine.unfit.contains(&(entry.cell, entry.arm))
        };
        let arms = self.plan.arms_of(index);
        let entries: Vec<BlockEntry> = (0..self.machines.len())
            .flat_map(|machine| arms.clone().map(move |arm| BlockEntry { machine, cell: index, arm }))
            .filter(alive)
            .collect();
        if entries.is_empty() {
            self.done[cell] = true;
            return;
        }
        let tallies = entries.iter().map(|entry| self.tally.get(entry));
        let mut tried = tallies.clone().map(|tally| tally.map_or(0, |tally| tally.attempts));
        let attempts = tried.next().unwrap_or(0);
        // A run that was cut within a block left some arms a take ahead: only whole blocks are judged.
        if tried.any(|other| other != attempts) {
            return;
        }
        let attempts = attempts as usize;
        let rule = rule(&self.plan.takes);
        // Nobody waits for an interval of such a cell: the first look's takes are enough.
        let aimless = self.plan.cells.get(cell).is_some_and(|cell| cell.headline.is_empty())
            || tallies.clone().all(|tally| tally.is_some_and(Tally::aimless));
        // Where others wait for their turn, one is done as soon as its interval may be looked at.
        if (aimless || self.turns.waiting() > 0) && attempts >= rule.least() {
            self.done[cell] = true;
            return;
        }
        let arms: Vec<&Values> = tallies.flatten().flat_map(|tally| tally.values.values()).collect();
        if let Decision::Stop(ended) = tally::look(&rule, attempts, &arms) {
            self.done[cell] = true;
            self.by_target |= matches!(ended, stats::stop::Ended::Target { .. });
        }
    }

    /// Telemetry only: commits batches until the budget is over.
    fn watch(&mut self) -> Result<Ended, SinkError> {
        loop {
            if self.stopped() {
                return Ok(Ended::Interrupted);
            }
            if self.over_budget(0) {
                return Ok(Ended::Budget);
            }
            if self.all_lost() {
                return Ok(Ended::Lost);
            }
            if let Some((machine, _)) = self.poll()? {
                self.lose(machine, UNASKED)?;
            }
            for machine in 0..self.machines.len() {
                if self.machines[machine].lost.is_none() {
                    self.check_silence(machine)?;
                }
                let telemetry = self.machines[machine].take_telemetry();
                if !telemetry.is_empty() {
                    self.sink.commit(machine, None, &telemetry)?;
                }
            }
            let spent = self.budget_spent();
            let seconds = self.plan.budget_seconds.map(|budget| (budget - spent).max(0.0));
            self.sink.show(&Show::Left { seconds });
        }
    }

    fn over_budget(&self, ahead_ns: u64) -> bool {
        let elapsed = self.budget_spent() + ahead_ns as f64 / 1e9;
        // A planted world has no time of its own: its budget would depend on this host's speed.
        self.plan.fake.is_none() && self.plan.budget_seconds.is_some_and(|budget| elapsed > budget)
    }

    /// Seconds of the budget that are over.
    fn budget_spent(&self) -> f64 {
        let spent_ns = self.budget_from_ns.map(|from_ns| sys::clock::now_ns().saturating_sub(from_ns));
        spent_ns.unwrap_or(0) as f64 / 1e9
    }

    fn seconds_left(&self) -> Option<f64> {
        if self.taken == 0 {
            return None;
        }
        let most = u64::from(most_blocks(self.plan).saturating_sub(self.plan.warm_up));
        let again = order::sittings(self.plan).iter().map(|one| one.warm_up.len() as u64).sum::<u64>();
        let open = (0u32..).zip(&self.done).filter(|(_, done)| !**done);
        let entries: u64 = open.map(|(cell, _)| self.plan.arms_of(cell).len() as u64).sum();
        let all = entries * self.machines.len() as u64 * most;
        let so_far: u64 = (self.tally.iter())
            .filter(|(entry, _)| !self.done.get(entry.cell as usize).copied().unwrap_or(true))
            .map(|(_, tally)| u64::from(tally.attempts))
            .sum();
        let each = self.taking_ns as f64 / 1e9 / self.taken as f64;
        let with_warm_ups = (most + again) as f64 / most.max(1) as f64;
        let by_takes = all.saturating_sub(so_far) as f64 * with_warm_ups * each;
        let spent = self.budget_spent();
        let by_budget = self.plan.budget_seconds.map_or(f64::INFINITY, |budget| (budget - spent).max(0.0));
        Some(by_takes.min(by_budget))
    }

    fn tell(&mut self, machine: usize, frame: &Frame) -> Result<(), SinkError> {
        if self.machines[machine].lost.is_some() {
            return Ok(());
        }
        self.machines[machine].inflow.ordered();
        // Its time to answer begins now.
        self.machines[machine].heard_ns = sys::clock::now_ns();
        match self.machines[machine].link.send(frame) {
            Ok(()) => Ok(()),
            Err(why) => self.lose(machine, &why),
        }
    }

    fn lose(&mut self, machine: usize, why: &str) -> Result<(), SinkError> {
        if self.machines[machine].lost.is_some() {
            return Ok(());
        }
        let parting = self.machines[machine].link.hang_up();
        let why = parting.after(why);
        self.machines[machine].lost = Some(why.clone());
        self.sink.show(&Show::Lost { machine, why: &why, hint: parting.hint.as_deref() });
        self.sink.note(machine, NoteBody::remark("lost", why))
    }

    /// Waits for a frame of one machine and handles frames of the others meanwhile. `None` when the machine is lost
    /// or, with `leave`, when the user asked to stop.
    fn wait(
        &mut self,
        machine: usize,
        leave: bool,
        wanted: impl Fn(&Frame) -> bool,
    ) -> Result<Option<Frame>, SinkError> {
        while self.machines[machine].lost.is_none() {
            if self.stopped() && leave {
                return Ok(None);
            }
            if let Some(frame) = self.machines[machine].inbox.pop_front() {
                if wanted(&frame) {
                    return Ok(Some(frame));
                }
                self.lose(machine, UNASKED)?;
                continue;
            }
            let Some((from, frame)) = self.poll()? else {
                self.check_silence(machine)?;
                continue;
            };
            self.keep(from, frame)?;
            if from != machine {
                self.check_silence(machine)?;
            }
        }
        Ok(None)
    }

    fn keep(&mut self, from: usize, frame: Frame) -> Result<(), SinkError> {
        self.machines[from].inbox.push_back(frame);
        if self.machines[from].inbox.len() > inflow::MOST_INBOX {
            self.machines[from].inbox.clear();
            self.lose(from, UNASKED)?;
        }
        Ok(())
    }

    /// The next frame that needs an answer. Telemetry, notes and pings are handled here.
    fn poll(&mut self) -> Result<Option<(usize, Frame)>, SinkError> {
        let count = self.machines.len();
        self.hear_typist()?;
        self.hear_wall()?;
        match self.events.recv_timeout(POLL) {
            Ok((index, event)) if index >= count => self.hear_helper(index - count, event)?,
            Ok((machine, Event::Frame(frame))) => return self.heard(machine, frame),
            Ok((machine, Event::Lost(why))) => {
                // After Bye the pipe closes; that is no loss.
                if self.machines[machine].cost.is_none() {
                    self.lose(machine, &why)?;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                for machine in 0..self.machines.len() {
                    self.lose(machine, "its pipe was closed")?;
                }
            }
        }
        Ok(None)
    }

    /// An event of a generator, or of an agent of a target, which are numbered after them.
    fn hear_helper(&mut self, at: usize, event: Event) -> Result<(), SinkError> {
        match at.checked_sub(self.generators.len()) {
            Some(agent) => self.hear_agent(agent, event),
            None => self.hear_generator(at, event),
        }
    }

    fn heard(&mut self, machine: usize, frame: Frame) -> Result<Option<(usize, Frame)>, SinkError> {
        let now_ns = sys::clock::now_ns();
        let state = &mut self.machines[machine];
        if state.lost.is_some() {
            return Ok(None);
        }
        state.heard_ns = now_ns;
        let greets = matches!(frame, Frame::Hello(_));
        if greets == state.greeted {
            let what = if greets { "it said hello twice" } else { "it sent a frame before its hello" };
            self.lose(machine, what)?;
            return Ok(None);
        }
        state.greeted = true;
        let asked = matches!(
            frame,
            Frame::Hello(_) | Frame::Ready(_) | Frame::TakeDone(_) | Frame::Generate(_) | Frame::Bye(_)
        );
        if !asked && !state.inflow.allows(&frame, now_ns.saturating_sub(self.began_ns)) {
            self.lose(machine, "it sent far more frames than a machine should")?;
            return Ok(None);
        }
        match frame {
            Frame::Ping => {}
            Frame::Telemetry(segment) => self.telemetry(machine, segment)?,
            Frame::Progress(text) => {
                self.sink.show(&Show::Doing { machine, text: &inflow::cut(text) });
            }
            Frame::Ask { id, question } => self.ask(machine, id, question)?,
            Frame::Live(live) => self.sink.show(&Show::Live { machine, live: &live }),
            Frame::Note(note) => self.sink.note(machine, inflow::cut_note(note))?,
            Frame::Bye(cost) => {
                state.parted(cost);
                return Ok(Some((machine, Frame::Bye(cost))));
            }
            other => return Ok(Some((machine, other))),
        }
        Ok(None)
    }

    /// Keeps telemetry for the next take's commit, or commits it now if too much has gathered.
    fn telemetry(&mut self, machine: usize, segment: Segment) -> Result<(), SinkError> {
        let state = &mut self.machines[machine];
        state.waiting += inflow::values(&segment);
        state.telemetry.push(segment);
        if state.waiting > inflow::MOST_WAITING {
            let telemetry = state.take_telemetry();
            self.sink.commit(machine, None, &telemetry)?;
        }
        Ok(())
    }
}
