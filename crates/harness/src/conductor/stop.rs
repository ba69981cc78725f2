//! The user's wish to stop: said once, and told to the children, which leave what they are preparing at once, and takes
//! that may end early, or last too long, when it is time to.

use model::frame::Frame;
use model::login::Login;

use super::{Conductor, Interaction, Show};

/// A take in flight is waited for so long; one that can be cut then ends with what it has.
const GRACE_NS: u64 = 10_000_000_000;

/// Whether the user asked to stop, and when takes in flight are then told to end with what they have.
#[derive(Debug, Default)]
pub(super) struct Stopping {
    asked: bool,
    cut_at_ns: Option<u64>,
}

impl Conductor<'_> {
    pub fn set_interaction(&mut self, interaction: Interaction) {
        self.interaction = interaction;
    }

    /// Who key-value stores of the user's are asked as.
    pub fn log_in(&mut self, login: Option<Login>) {
        self.login = login;
    }

    /// True once the user asked to stop; says so once.
    pub(super) fn stopped(&mut self) -> bool {
        if !self.stopping.asked && (self.stop)() {
            self.stopping.asked = true;
            self.sink.show(&Show::Stopping);
            let grace = if self.interaction.cuts { 0 } else { GRACE_NS };
            self.stopping.cut_at_ns = Some(sys::clock::now_ns().saturating_add(grace));
            if grace > 0 {
                self.tell_all(&Frame::Leave);
            }
        }
        if self.stopping.cut_at_ns.is_some_and(|at| sys::clock::now_ns() >= at) {
            self.stopping.cut_at_ns = None;
            self.tell_all(&Frame::Cut);
        }
        self.stopping.asked
    }

    /// Whether the user asked to stop, as far as that was noticed.
    pub(super) const fn is_stopping(&self) -> bool {
        self.stopping.asked
    }

    fn tell_all(&mut self, frame: &Frame) {
        for machine in self.machines.iter_mut().filter(|one| one.ready && one.lost.is_none()) {
            // A child that cannot be told is lost, which shows where its answer is waited for.
            drop(machine.link.send(frame));
        }
    }
}
