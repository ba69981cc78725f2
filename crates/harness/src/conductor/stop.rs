//! The user's wish to stop: said once, and told to the children whose takes may end early.

use model::frame::Frame;

use super::{Conductor, Manner, Show};

impl Conductor<'_> {
    pub fn behave(&mut self, manner: Manner) {
        self.manner = manner;
    }

    /// True once the user asked to stop; says so once.
    pub(super) fn stopped(&mut self) -> bool {
        if !self.stopping && (self.stop)() {
            self.stopping = true;
            self.sink.show(&Show::Stopping);
            let cuts = self.manner.cuts;
            for machine in self.machines.iter_mut().filter(|one| cuts && one.ready && one.lost.is_none()) {
                // A child that cannot be told is lost, which shows where its answer is waited for.
                drop(machine.link.send(&Frame::Cut));
            }
        }
        self.stopping
    }
}
