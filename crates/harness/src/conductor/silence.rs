//! Children that say nothing for too long: every wait is bounded. Times are nanoseconds.

use super::Conductor;
use crate::ports::SinkError;

/// A child that says nothing for so long is lost: it pings every second.
const SILENCE_NS: u64 = 30_000_000_000;
/// How long children may take to say hello, from the start of all. A host that is not there makes ssh give up by itself
/// after the 127 s in which Linux tries to connect, and then it says why; a user who types a password needs less.
const HELLO_NS: u64 = 150_000_000_000;

impl Conductor<'_> {
    /// A machine that is waited for and says nothing for too long is lost.
    pub(super) fn check_silence(&mut self, machine: usize) -> Result<(), SinkError> {
        let state = &self.machines[machine];
        match too_silent(state.greeted, state.heard_ns, self.began_ns) {
            Some(why) => self.lose(machine, &why),
            None => Ok(()),
        }
    }
}

/// Why a child is given up that was heard at that time; the study began at the other.
pub(super) fn too_silent(greeted: bool, heard_ns: u64, began_ns: u64) -> Option<String> {
    let since_ns = |from_ns: u64| sys::clock::now_ns().saturating_sub(from_ns);
    match greeted {
        true if since_ns(heard_ns) > SILENCE_NS => {
            Some(format!("nothing heard for {} s", since_ns(heard_ns) / 1_000_000_000))
        }
        false if since_ns(began_ns) > HELLO_NS => {
            Some(format!("no hello within {} s", HELLO_NS / 1_000_000_000))
        }
        _ => None,
    }
}
