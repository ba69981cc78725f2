//! The end of a study: Bye from every child, and an end for every machine's run.
//!
//! Seconds are of the whole run, from before it was resumed too; CPU seconds are of this program's part.

use model::NoteBody;
use model::data::Status;
use model::frame::{Frame, OwnCost};

use super::{Conductor, Ended, Outcome, SinkError};

impl Conductor<'_> {
    /// Ends every child, waits for its cost, and writes the end of every run. After the sink has refused one thing it
    /// is still asked to store the rest.
    pub(super) fn close(mut self, ended: Result<Ended, SinkError>) -> Outcome {
        let (mut ended, mut refused) = match ended {
            Ok(ended) => (ended, None),
            Err(error) => (Ended::Refused, Some(error)),
        };
        if ended == Ended::Budget {
            self.tell_not_begun();
        }
        for machine in 0..self.machines.len() {
            if let Err(error) = self.dismiss(machine) {
                refused.get_or_insert(error);
            }
        }
        if let Err(error) = self.dismiss_generators().and_then(|()| self.dismiss_target_agents()) {
            refused.get_or_insert(error);
        }
        let seconds = sys::clock::now_ns().saturating_sub(self.started_ns) as f64 / 1e9;
        let mut statuses = Vec::new();
        for machine in 0..self.machines.len() {
            if let Some(status) = self.machines[machine].settled {
                statuses.push(status);
                continue;
            }
            let status = self.status(machine, ended);
            match self.end_run(machine, ended, status, seconds) {
                Ok(()) => statuses.push(status),
                Err(error) => {
                    refused.get_or_insert(error);
                    statuses.push(Status::Interrupted);
                }
            }
        }
        if refused.is_some() {
            ended = Ended::Refused;
        }
        let faults = self.failed.len() as u64;
        let takes = self.machines.iter().map(|machine| machine.seq).sum();
        let measured = self.machines.iter().map(|machine| machine.measured).sum();
        let hung = (0..self.machines.len()).filter(|at| self.machines[*at].hangs).collect();
        Outcome { ended, refused, statuses, hung, faults, takes, measured, unfit: self.unfit }
    }

    /// Tells a child that it is done and waits for its cost. A child that never became ready has none; it may still be
    /// asking for a password.
    fn dismiss(&mut self, machine: usize) -> Result<(), SinkError> {
        let state = &mut self.machines[machine];
        if state.lost.is_some() {
            return Ok(());
        }
        if !state.ready {
            drop(state.link.hang_up());
            return Ok(());
        }
        self.tell(machine, &Frame::Ack(None))?;
        // A sink that refused may have left a take under way: its answer comes first.
        let last = |frame: &Frame| matches!(frame, Frame::Bye(_) | Frame::TakeDone(_) | Frame::Fault { .. });
        match self.wait(machine, false, last)? {
            None | Some(Frame::Bye(_)) => Ok(()),
            Some(_) => self.wait(machine, false, |frame| matches!(frame, Frame::Bye(_))).map(drop),
        }
    }

    fn status(&self, machine: usize, ended: Ended) -> Status {
        let state = &self.machines[machine];
        let cut = state.lost.is_some() && state.cost.is_none();
        match (ended, self.faults_of(machine)) {
            (Ended::Interrupted | Ended::Lost | Ended::Refused, _) => Status::Interrupted,
            _ if cut => Status::Interrupted,
            // Without a figure nothing is complete.
            _ if state.measured == 0 && !self.plan.telemetry_only => Status::Faulty,
            (_, 0) => Status::Complete,
            _ => Status::Faulty,
        }
    }

    fn end_run(
        &mut self,
        machine: usize,
        ended: Ended,
        status: Status,
        seconds: f64,
    ) -> Result<(), SinkError> {
        let telemetry = self.machines[machine].take_telemetry();
        if !telemetry.is_empty() {
            self.sink.commit(machine, None, &telemetry)?;
        }
        self.note_again(machine)?;
        self.sink.note(machine, NoteBody::EndedBy(ended.word().to_owned()))?;
        if self.plan.fake.is_none() {
            // A planted run gives the same bytes every time; what this host spent on it is not among them.
            let spent_ns = sys::clock::process_cpu_ns().saturating_sub(self.cpu_from_ns);
            self.sink.note(machine, NoteBody::ControllerCpu(spent_ns as f64 / 1e9))?;
            // It is set against the time that the child tells.
            if self.machines[machine].cost.is_some() {
                let seconds = self.beside_ns as f64 / 1e9;
                self.sink.note(machine, NoteBody::ControllerTakesCpu(seconds))?;
            }
        }
        let seconds = match &self.plan.fake {
            Some(world) => self.machines[machine].seq as f64 * world.take_seconds,
            None => seconds,
        };
        let state = &self.machines[machine];
        self.sink.end(machine, status, seconds, OwnCost::together(state.spent, state.cost))
    }
}
