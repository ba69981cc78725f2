//! The sittings of a study: each begins with a new child for every machine and generator, in which everything is
//! prepared anew, and ends before the next one's Hello.
//!
//! A child that runs becomes a new process by itself, so that whatever started it (a shell, ssh) stays. Facts and
//! clock are those of the run; the child is told how long ago it began.

use model::frame::{Frame, Job};
use model::plan::Plan;

use super::machine::Opening;
use super::{Conductor, Ended, SinkError};
use crate::order::{self, BlockEntry, SittingBlocks};

impl Conductor<'_> {
    /// Waits for Hello of every machine, sends the jobs, and waits for the facts.
    pub(super) fn open(&mut self, opening: &Opening<'_>) -> Result<(), SinkError> {
        let generators = self.open_generators()?;
        for machine in 0..self.machines.len() {
            if let Some(Frame::Hello(hello)) =
                self.wait(machine, true, |frame| matches!(frame, Frame::Hello(_)))?
            {
                if let Err(error) = self.sink.hello(machine, &hello) {
                    self.lose(machine, &error.why)?;
                    continue;
                }
                let now_ns = sys::clock::now_ns();
                let zero_ns = self.machines[machine].zero_ns;
                let zero_ns = zero_ns.unwrap_or(now_ns.saturating_sub(opening.elapsed_ns));
                self.machines[machine].zero_ns = Some(zero_ns);
                let job = Job {
                    plan: self.plan_of(machine),
                    sitting: self.sitting,
                    dir: opening.dir.to_owned(),
                    elapsed_ns: now_ns.saturating_sub(zero_ns),
                    generators: generators.clone(),
                    watched: self.interaction.watched,
                    login: self.login.clone(),
                };
                self.tell(machine, &Frame::Plan(Box::new(job)))?;
            }
        }
        for machine in 0..self.machines.len() {
            let ready = |frame: &Frame| matches!(frame, Frame::Ready(_));
            if let Some(Frame::Ready(facts)) = self.wait(machine, true, ready)? {
                self.machines[machine].ready = true;
                self.sink.facts(machine, &facts)?;
            }
        }
        self.open_target_agents(opening)
    }

    /// The plan as one machine gets it: how others are reached is none of its business, and of 1,000 machines 1,000
    /// times as much.
    fn plan_of(&self, machine: usize) -> Plan {
        let own = self.plan.machines.get(machine).cloned();
        Plan { machines: own.into_iter().collect(), ..self.plan.clone() }
    }

    /// Carries out the sittings that have something left to take, turn by turn.
    pub(super) fn sittings(&mut self, opening: &Opening<'_>) -> Result<Ended, SinkError> {
        self.begin_turn();
        let mut left = self.left();
        // In a planted world nothing is lost with a child, so that sittings keep their numbers.
        if let (Some((number, _)), Some(_)) = (left.first(), &self.plan.fake) {
            self.sitting = *number;
        }
        let began_ns = sys::clock::now_ns();
        self.open(opening)?;
        self.turns.opening_ns = sys::clock::now_ns().saturating_sub(began_ns);
        loop {
            let ended = self.turn(&left, opening)?;
            if !matches!(ended, Ended::Count | Ended::Target) || self.turns.waiting() == 0 {
                return Ok(ended);
            }
            if !self.has_time_for_a_turn() {
                return Ok(Ended::Budget);
            }
            self.begin_turn();
            left = self.left();
        }
    }

    /// The sittings that have something left to take.
    fn left(&self) -> Vec<(u32, SittingBlocks)> {
        let all = (0u32..).zip(order::sittings(self.plan));
        all.filter(|(_, sitting)| self.has_left(sitting)).collect()
    }

    /// The sittings of one turn. The children of the first one are ready; where the time is short it is the only one.
    fn turn(&mut self, left: &[(u32, SittingBlocks)], opening: &Opening<'_>) -> Result<Ended, SinkError> {
        let mut first_block_ns = 0;
        for (at, (number, sitting)) in left.iter().enumerate() {
            let is_anew = at > 0 && !self.turns.is_short();
            if is_anew {
                if self.over_budget(first_block_ns) {
                    return Ok(Ended::Budget);
                }
                if self.stopped() {
                    return Ok(Ended::Interrupted);
                }
            }
            let began_ns = sys::clock::now_ns();
            if is_anew {
                self.renew(*number, opening)?;
            }
            let warm_ups = if at == 0 || is_anew { sitting.warm_up.clone() } else { 0..0 };
            let warm_ups = warm_ups.map(|block| (block, true));
            for (block, warm_up) in warm_ups.chain(sitting.measured.clone().map(|block| (block, false))) {
                if let Some(ended) = self.block(sitting, block, warm_up)? {
                    return Ok(ended);
                }
                if block == sitting.measured.start {
                    first_block_ns = sys::clock::now_ns().saturating_sub(began_ns);
                }
            }
        }
        Ok(self.by_plan())
    }

    const fn by_plan(&self) -> Ended {
        if self.by_target { Ended::Target } else { Ended::Count }
    }

    /// Ends the sitting and begins the next one with new children.
    fn renew(&mut self, planned: u32, opening: &Opening<'_>) -> Result<(), SinkError> {
        self.sitting = if self.plan.fake.is_some() { planned } else { self.sitting + 1 };
        let ready: Vec<usize> = (0..self.machines.len()).filter(|at| self.machines[*at].ready).collect();
        for machine in &ready {
            self.machines[*machine].anew = true;
            self.tell(*machine, &Frame::Anew)?;
        }
        for machine in &ready {
            self.wait(*machine, false, |frame| matches!(frame, Frame::Bye(_)))?;
        }
        self.renew_generators()?;
        self.open(opening)
    }

    /// Does one block; returns how the study ended, if it did.
    fn block(
        &mut self,
        sitting: &SittingBlocks,
        block: u32,
        warm_up: bool,
    ) -> Result<Option<Ended>, SinkError> {
        let started_ns = sys::clock::now_ns();
        if !warm_up {
            self.budget_from_ns.get_or_insert(started_ns);
        }
        if !warm_up {
            // A sitting without warm-ups begins all.
            self.end_choosing();
        }
        for entry in self.entries(block) {
            if self.all_lost() {
                return Ok(Some(Ended::Lost));
            }
            if self.stopped() {
                return Ok(Some(Ended::Interrupted));
            }
            if self.must_wait(entry.cell) {
                continue;
            }
            if self.over_budget(0) {
                return Ok(Some(Ended::Budget));
            }
            if !warm_up || sitting.measured.clone().any(|block| self.is_left(entry, block)) {
                self.take_entry(entry, block, warm_up)?;
            }
        }
        if self.all_lost() {
            return Ok(Some(Ended::Lost));
        }
        self.end_choosing();
        self.judge_cells();
        if self.is_turn_over() {
            return Ok(Some(self.by_plan()));
        }
        let block_ns = sys::clock::now_ns().saturating_sub(started_ns);
        if !warm_up {
            self.shrink_turn(block_ns);
        }
        // A turn that is short is cut figure by figure instead.
        let ahead_ns = if self.turns.is_short() { 0 } else { block_ns };
        let is_over = !warm_up && self.over_budget(ahead_ns);
        Ok(is_over.then_some(Ended::Budget))
    }

    /// True if a measured take of this block is still to be done.
    fn is_left(&self, BlockEntry { machine, cell, arm }: BlockEntry, block: u32) -> bool {
        !self.is_done(cell)
            && !self.turns.is_waiting(cell)
            && !self.finished.contains(&(machine, block, cell, arm, false))
    }

    fn has_left(&self, sitting: &SittingBlocks) -> bool {
        let mut blocks = sitting.measured.clone();
        blocks.any(|block| order::block(self.plan, block).into_iter().any(|entry| self.is_left(entry, block)))
    }
}
