//! The reader of the power of machines by their BMCs, and what the take under way wants of it.

use std::collections::BTreeSet;
use std::fmt;

use model::plan::Plan;
use model::power::{METER, Meter};

use crate::order::BlockEntry;
use crate::ports::WallPower;

#[derive(Default)]
pub(crate) struct Wall<'a> {
    pub(crate) reader: Option<&'a mut dyn WallPower>,
    /// The machine whose take is under way, if its meter is the BMC.
    meant: Option<usize>,
    /// The question that stands: its machine, its number there, and since when.
    pub(crate) open: Option<(usize, u64, u64)>,
    /// Reasons that were noted already, by machine.
    pub(crate) noted: BTreeSet<(usize, String)>,
}

impl fmt::Debug for Wall<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Wall").field("open", &self.open).finish_non_exhaustive()
    }
}

impl Wall<'_> {
    /// A take begins.
    pub(crate) fn begin(&mut self, plan: &Plan, BlockEntry { machine, cell, arm }: BlockEntry) {
        let of_arm = plan.arms.get(arm as usize).and_then(|arm| arm.set.get(METER));
        let meter = of_arm.or_else(|| plan.cells.get(cell as usize).and_then(|cell| cell.params.get(METER)));
        self.meant = (meter == Some(Meter::Bmc.word())).then_some(machine);
        self.open = None;
        if let Some(reader) = &mut self.reader {
            reader.follow(self.meant);
        }
    }

    pub(crate) fn is_meant(&self, machine: usize) -> bool {
        self.meant == Some(machine)
    }
}
