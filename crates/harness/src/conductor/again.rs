//! The takes of before in a study that is resumed: those that it takes over, and those of an outage (`outage`), whose
//! blocks it measures again.

use model::note::Again;
use model::{NoteBody, Phase};

use super::{Conductor, Finished, Place, SinkError};
use crate::order::BlockEntry;
use crate::outage::{Outage, Taken, outages};

impl Conductor<'_> {
    /// Takes over the measured takes of an earlier part of the run, which are not repeated but for those of an outage.
    /// Warm-ups are repeated, since the child that they warmed is gone; only a planted world has nothing to warm.
    /// `has_ended`: the run had come to its end, so that its outages alone are left; their time begins anew.
    pub fn resume(&mut self, finished: &[Finished], has_ended: bool) {
        self.has_time_anew = has_ended;
        for machine in 0..self.machines.len() {
            let taken: Vec<Taken> = finished.iter().filter_map(|one| one.measured_on(machine)).collect();
            let found = outages(self.plan, &taken, has_ended).into_iter();
            self.outages.by_place.extend(found.map(|(cell, outage)| ((machine, cell), outage)));
        }
        for Finished { machine, take } in finished {
            self.sitting = self.sitting.max(take.sitting + 1);
            let is_warm_up = take.phase == Phase::WarmUp;
            let place = (*machine, take.block, take.cell, take.arm, is_warm_up);
            if let Some(state) = self.machines.get_mut(*machine) {
                state.seq = state.seq.max(take.seq + 1);
            }
            self.settle(place, take.fault.is_some());
            if take.phase == Phase::Repeated || self.outages.has(*machine, take.cell, take.block) {
                continue;
            }
            if !is_warm_up || self.plan.fake.is_some() {
                self.finished.insert(place);
            }
            self.count(*machine, take);
        }
        // Cells that were brought to an end are not warmed again.
        self.judge_cells();
    }

    /// Notes how the last take of a place ended: a place whose take was repeated has not failed for the former one.
    pub(super) fn settle(&mut self, place: Place, has_failed: bool) {
        if has_failed {
            self.failed.insert(place);
        } else {
            self.failed.remove(&place);
        }
    }

    /// Takes whose last attempt failed.
    pub(super) fn faults_of(&self, machine: usize) -> u64 {
        self.failed.iter().filter(|place| place.0 == machine).count() as u64
    }

    /// True if a block of an outage is still to be measured again. Not where an arm cannot run: there the others have
    /// nothing to be measured beside.
    pub(super) fn owes(&self, cell: u32) -> bool {
        let mut of_cell = self.outages.by_place.iter().filter(|((_, of), _)| *of == cell);
        of_cell.any(|((machine, _), outage)| {
            self.machines[*machine].lost.is_none()
                && self.can_run(*machine, cell, outage)
                && outage.blocks.iter().any(|block| !self.is_again(*machine, cell, *block))
        })
    }

    /// True for an entry of an outage that cannot be mended.
    pub(super) fn is_hopeless(&self, BlockEntry { machine, cell, .. }: BlockEntry, block: u32) -> bool {
        let outage =
            self.outages.by_place.get(&(machine, cell)).filter(|outage| outage.blocks.contains(&block));
        outage.is_some_and(|outage| !self.can_run(machine, cell, outage))
    }

    fn can_run(&self, machine: usize, cell: u32, outage: &Outage) -> bool {
        outage.arms.iter().all(|arm| !self.machines[machine].unfit.contains(&(cell, *arm)))
    }

    /// True if a block was measured in all arms.
    fn is_again(&self, machine: usize, cell: u32, block: u32) -> bool {
        self.plan.arms_of(cell).all(|arm| self.finished.contains(&(machine, block, cell, arm, false)))
    }

    /// Says of each outage which blocks were measured again.
    pub(super) fn note_again(&mut self, machine: usize) -> Result<(), SinkError> {
        for ((of, cell), outage) in &self.outages.by_place {
            let blocks = outage.blocks.iter().filter(|block| self.is_again(*of, *cell, **block)).count();
            let Some(known) = self.plan.cells.get(*cell as usize) else { continue };
            if *of != machine || blocks == 0 {
                continue;
            }
            let arms = outage.arms.iter().map(|arm| self.plan.arm_name(*cell, *arm).to_owned()).collect();
            let what = self.sink.title(known);
            self.sink.note(machine, NoteBody::Again(Again { what, arms, blocks }))?;
        }
        Ok(())
    }
}
