//! Who waits for what is prepared in this process, as the child that serves him made him known: one job, one caller.
//!
//! Known to all that waits or works long before a take: servers that start, files and keys that are written. They tell
//! him how far they are after the first second and then each second, and end when he leaves. Nanoseconds and counts.

use std::sync::{Mutex, PoisonError};

use model::Caller;
use sys::clock;

/// How often it is told how far something is.
const TELL_NS: u64 = 1_000_000_000;

static CALLER: Mutex<Option<Caller>> = Mutex::new(None);

/// From here on this is who waits.
pub fn meet(caller: Caller) {
    // What is behind this lock is whole between two statements.
    *CALLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(caller);
}

/// Who waits; nobody in a process that serves no job.
#[must_use]
pub fn current() -> Caller {
    CALLER.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Something long, and how far it is.
#[derive(Debug)]
pub struct Telling {
    caller: Caller,
    what: String,
    of: u64,
    told_ns: u64,
}

impl Telling {
    /// As in `writing the keys of the load: 5 of 10`.
    #[must_use]
    pub fn new(what: impl Into<String>, of: u64) -> Telling {
        Telling::to(current(), what.into(), of)
    }

    fn to(caller: Caller, what: String, of: u64) -> Telling {
        Telling { caller, what, of, told_ns: clock::now_ns() }
    }

    /// Tells how far it is, where it is time to.
    pub fn tell(&mut self, done: u64) {
        self.at(done, clock::now_ns());
    }

    fn at(&mut self, done: u64, now_ns: u64) {
        if now_ns.saturating_sub(self.told_ns) >= TELL_NS {
            self.told_ns = now_ns;
            self.caller.doing(&format!("{}: {done} of {}", self.what, self.of));
        }
    }

    /// Tells, and says whether to go on.
    pub fn goes_on(&mut self, done: u64) -> Result<(), String> {
        self.caller.stays()?;
        self.tell(done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn it_is_told_each_second_until_the_caller_leaves() {
        let (said, left) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let heard = Arc::clone(&said);
        let say = move |what: &str| heard.lock().unwrap().push(what.to_owned());
        let mut telling = Telling::to(Caller::new(Arc::clone(&left), Arc::new(say)), "writing".to_owned(), 9);
        let from_ns = telling.told_ns;
        for (done, after_ns) in [(1, 1), (2, TELL_NS - 1), (3, TELL_NS), (4, TELL_NS + 1), (5, 3 * TELL_NS)] {
            telling.at(done, from_ns + after_ns);
        }
        assert_eq!(*said.lock().unwrap(), ["writing: 3 of 9", "writing: 5 of 9"]);
        assert_eq!(telling.goes_on(6), Ok(()));
        left.store(true, Ordering::Relaxed);
        assert_eq!(telling.goes_on(7), Err(model::caller::LEFT.to_owned()));
        assert!(!current().has_left());
    }
}
