//! Drops children that are silent for too long, so that every wait is bounded. Units: nanoseconds.
//!
//! Not counted: time in which this program itself stood still (a paused virtual machine, a stopped process, a slow
//! disk), since nobody listened then.

use model::Plan;

/// A child that is silent for this long is lost, where the plan says no other time; it pings every second.
const SILENCE_NS: u64 = 60_000_000_000;
/// Time limit for Hello, from the start of the child. If a host does not exist, ssh gives up after the 127 s in which
/// Linux tries to connect, and reports it; a user who types a password needs less.
const HELLO_NS: u64 = 150_000_000_000;
/// A gap this long between two looks means that this program stood still; it normally looks several times a second.
const STILL_NS: u64 = 5_000_000_000;

/// When silence was last checked.
#[derive(Debug)]
pub(super) struct Looked(u64);

impl Looked {
    pub(super) const fn at(now_ns: u64) -> Looked {
        Looked(now_ns)
    }

    /// Notes a look. Returns how long this program stood still since the last one.
    pub(super) fn again(&mut self, now_ns: u64) -> u64 {
        let since_ns = now_ns.saturating_sub(std::mem::replace(&mut self.0, now_ns));
        if since_ns > STILL_NS { since_ns } else { 0 }
    }
}

/// How long a child of this plan may be silent.
pub(super) fn limit_ns(plan: &Plan) -> u64 {
    // A float becomes the nearest number that there is.
    plan.nodes.as_ref().map_or(SILENCE_NS, |nodes| (nodes.hang_seconds * 1e9) as u64)
}

/// Why a child is dropped that was last heard, or started, at `heard_ns`; `None` if it may go on.
pub(super) fn too_silent(greeted: bool, heard_ns: u64, limit_ns: u64) -> Option<String> {
    let since_ns = sys::clock::now_ns().saturating_sub(heard_ns);
    match greeted {
        true if since_ns > limit_ns => Some(format!("nothing heard for {} s", since_ns / 1_000_000_000)),
        false if since_ns > HELLO_NS => Some(format!("no hello within {} s", HELLO_NS / 1_000_000_000)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_standing_still_is_excused() {
        const SECOND: u64 = 1_000_000_000;
        let mut looked = Looked::at(10 * SECOND);
        assert_eq!(looked.again(11 * SECOND), 0);
        assert_eq!(looked.again(47 * SECOND), 36 * SECOND, "paused for 36 s");
        assert_eq!(looked.again(47 * SECOND + 1), 0);
        assert_eq!(looked.again(46 * SECOND), 0, "never before it looked");
    }
}
