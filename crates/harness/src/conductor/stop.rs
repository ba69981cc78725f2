//! Stop requests of the user: announced once, and passed on to the children. They abandon at once what they are
//! preparing; takes in flight may finish, or are cut when the grace period is over.

use model::frame::Frame;
use model::login::Login;

use super::{Conductor, Interaction, Show};

/// Grace period of a take in flight; after it, a take that can be cut ends with what it has.
const GRACE_NS: u64 = 10_000_000_000;

/// The stop request, and when takes in flight are to be cut.
#[derive(Debug, Default)]
pub(super) struct Stopping {
    asked: bool,
    cut_at_ns: Option<u64>,
}

impl Conductor<'_> {
    pub fn set_interaction(&mut self, interaction: Interaction) {
        self.interaction = interaction;
    }

    /// Sets the credentials for key-value stores of the user.
    pub fn log_in(&mut self, login: Option<Login>) {
        self.login = login;
    }

    /// True once the user has asked to stop. Announces it the first time.
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

    /// True if a stop request has been seen.
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
