//! Agents of targets: children on the hosts of targets, which record telemetry there while takes are done elsewhere.
//!
//! Such a child gets a job without cells, so that it does nothing but tick. It begins once and goes on through all
//! sittings. What it sends is stored between takes. One that is lost is noted, and the study goes on without it. Times
//! are nanoseconds.

use model::NoteBody;
use model::frame::{Frame, Job, Segment, TargetTelemetry};
use model::plan::{Plan, Takes, Target};

use super::machine::Opening;
use super::silence::too_silent;
use super::target_agent::TargetAgent;
use super::{Conductor, Link, Show, SinkError};
use crate::inflow;
use crate::worker::Event;

/// Time limit for the last telemetry, after the study is over.
const LAST_WORDS_NS: u64 = 5_000_000_000;

impl Conductor<'_> {
    /// Adds the agents of targets, in the order of the plan's targets that have one. Their events are numbered after
    /// those of machines and generators.
    #[must_use]
    pub fn with_target_agents(mut self, links: Vec<Box<dyn Link>>) -> Self {
        let vias = self.plan.targets.iter().filter_map(|target| target.agent());
        self.agents = vias.zip(links).map(|(via, link)| TargetAgent::new(via, link)).collect();
        self
    }

    /// Waits for Hello of every agent that has no job yet, and has it record telemetry. Times are those of the first
    /// machine's run.
    pub(super) fn open_target_agents(&mut self, opening: &Opening<'_>) -> Result<(), SinkError> {
        let zero_ns = self.machines.first().and_then(|machine| machine.zero_ns);
        for at in 0..self.agents.len() {
            while self.agents[at].hello.is_none() && !self.agents[at].is_over && !self.stopped() {
                if let Some((machine, frame)) = self.poll()? {
                    self.keep(machine, frame)?;
                }
                self.check_agent(at)?;
            }
            let (Some(zero_ns), Some(_), false) = (zero_ns, &self.agents[at].hello, self.agents[at].has_job)
            else {
                continue;
            };
            let via = self.agents[at].via.clone();
            let of_agent = self.plan.targets.iter().find(|target| target.name == via.name);
            let plan = Plan {
                telemetry_only: true,
                targets: of_agent
                    .map(|target| Target::new(&target.name, &target.address))
                    .into_iter()
                    .collect(),
                machines: [via].into(),
                ..Plan::bare(Vec::new(), Takes::Fixed(1))
            };
            let job = Job {
                plan,
                sitting: 0,
                dir: opening.dir.to_owned(),
                elapsed_ns: sys::clock::now_ns().saturating_sub(zero_ns),
                generators: Vec::new(),
                watched: false,
                login: None,
            };
            self.agents[at].has_job = true;
            self.post_agent(at, &Frame::Plan(Box::new(job)))?;
        }
        Ok(())
    }

    /// Keeps what an agent sends until it may be stored.
    pub(super) fn hear_agent(&mut self, at: usize, event: Event) -> Result<(), SinkError> {
        let now_ns = sys::clock::now_ns();
        let since_ns = now_ns.saturating_sub(self.began_ns);
        let Some(state) = self.agents.get_mut(at).filter(|state| !state.is_over) else { return Ok(()) };
        state.heard_ns = now_ns;
        let frame = match event {
            Event::Lost(why) => return self.lose_agent(at, &why),
            Event::Frame(frame) => frame,
        };
        if !state.inflow.allows(&frame, since_ns) {
            return self.lose_agent(at, "it sent far more frames than a machine should");
        }
        match frame {
            Frame::Hello(hello) if state.hello.is_none() => {
                let checked = self.sink.helper(&hello);
                self.agents[at].hello = Some(hello);
                checked.or_else(|error| self.lose_agent(at, &error.why))
            }
            // Its facts were asked for before.
            Frame::Ping | Frame::Ready(_) | Frame::Progress(_) => Ok(()),
            Frame::Telemetry(segment) => {
                let held: usize = state.waiting.iter().map(inflow::values).sum();
                if held > inflow::MOST_WAITING {
                    return self.lose_agent(at, "it sent more telemetry than can wait for the end of a take");
                }
                state.waiting.push(segment);
                Ok(())
            }
            Frame::Note(note) => {
                let text = format!("host of {}: {}", state.via.name, note.text());
                self.note_all(NoteBody::remark("telemetry", inflow::cut(text)))
            }
            Frame::Bye(_) => {
                state.is_over = true;
                Ok(())
            }
            _ => self.lose_agent(at, "it sent a frame that no agent of a target sends"),
        }
    }

    /// Stores the telemetry that came since the last time: between takes, so that no disk is written to within one.
    pub(super) fn store_target_telemetry(&mut self) -> Result<(), SinkError> {
        let first_ns = self.machines.first().and_then(|machine| machine.zero_ns).unwrap_or(0);
        for at in 0..self.agents.len() {
            self.check_agent(at)?;
            for segment in std::mem::take(&mut self.agents[at].waiting) {
                for machine in 0..self.machines.len() {
                    let Some(zero_ns) = self.machines[machine].zero_ns else { continue };
                    let by_its_start = |ns: &u64| ns.saturating_add(first_ns).saturating_sub(zero_ns);
                    let at_ns = segment.at_ns.iter().map(by_its_start).collect();
                    let target = self.agents[at].via.name.clone();
                    let segment = Segment { at_ns, ..segment.clone() };
                    self.sink.target(machine, &TargetTelemetry { target, segment })?;
                }
            }
        }
        Ok(())
    }

    /// Ends every agent, and stores its last telemetry.
    pub(super) fn dismiss_target_agents(&mut self) -> Result<(), SinkError> {
        for at in 0..self.agents.len() {
            if !self.agents[at].has_job {
                drop(self.agents[at].link.hang_up());
                self.agents[at].is_over = true;
                continue;
            }
            self.post_agent(at, &Frame::Ack(None))?;
        }
        let until_ns = sys::clock::now_ns().saturating_add(LAST_WORDS_NS);
        while self.agents.iter().any(|agent| !agent.is_over) && sys::clock::now_ns() < until_ns {
            // Frames of machines that have ended already.
            drop(self.poll()?);
        }
        self.store_target_telemetry()
    }

    fn post_agent(&mut self, at: usize, frame: &Frame) -> Result<(), SinkError> {
        let state = &mut self.agents[at];
        if state.is_over {
            return Ok(());
        }
        state.heard_ns = sys::clock::now_ns();
        match state.link.send(frame) {
            Ok(()) => Ok(()),
            Err(why) => self.lose_agent(at, &why),
        }
    }

    /// Loses an agent that has been silent for too long.
    fn check_agent(&mut self, at: usize) -> Result<(), SinkError> {
        self.excuse();
        let state = &self.agents[at];
        match too_silent(state.hello.is_some(), state.heard_ns, self.silence_ns) {
            Some(why) if !state.is_over => self.lose_agent(at, &why),
            _ => Ok(()),
        }
    }

    /// Marks an agent as lost, shows why, and notes that telemetry of its target ends there.
    fn lose_agent(&mut self, at: usize, why: &str) -> Result<(), SinkError> {
        let state = &mut self.agents[at];
        if std::mem::replace(&mut state.is_over, true) {
            return Ok(());
        }
        let parting = state.link.hang_up();
        let why = parting.after(why);
        let called = format!("telemetry of the host of target {}", state.via.called());
        let text = format!("the telemetry of the host of {} ends here: {why}", state.via.name);
        self.sink.show(&Show::HelperLost { called: &called, why: &why, hint: parting.hint.as_deref() });
        self.note_all(NoteBody::remark("lost", inflow::cut(text)))
    }

    fn note_all(&mut self, note: NoteBody) -> Result<(), SinkError> {
        (0..self.machines.len()).try_for_each(|machine| self.sink.note(machine, note.clone()))
    }
}
