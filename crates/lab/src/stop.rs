//! A request to stop that reaches every thread at once, and waits that it or a deadline ends.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sys::process::{Interest, Ready, poll};

/// Tells all threads of a fan-out to stop. Its pipe has no data: that its other end is closed is the message.
#[derive(Debug)]
pub struct Stop {
    told: PipeReader,
    open: Mutex<Option<PipeWriter>>,
}

impl Stop {
    /// Fails when the process has no descriptor left.
    pub fn new() -> std::io::Result<Stop> {
        let (told, open) = std::io::pipe()?;
        Ok(Stop { told, open: Mutex::new(Some(open)) })
    }

    pub fn request(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub fn is_requested(&self) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// Why a wait ended before what it waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Interrupted,
    TimedOut,
    /// The kernel refused to wait.
    Failed(String),
}

/// The moment so long after another one of `sys::clock`.
pub(crate) fn after(from_ns: u64, length: Duration) -> u64 {
    from_ns.saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
}

/// A limit of waits: until a moment of `sys::clock`, or until a stop is requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<'a> {
    pub stop: &'a Stop,
    /// `None`: without end.
    pub until_ns: Option<u64>,
}

impl<'a> Limit<'a> {
    /// A limit of this length from now on.
    pub(crate) fn from_now(stop: &'a Stop, length: Option<Duration>) -> Limit<'a> {
        Limit { stop, until_ns: length.map(|length| after(sys::clock::now_ns(), length)) }
    }

    /// Waits until one of the descriptors is ready.
    pub(crate) fn wait(&self, interests: &[Interest<'_>]) -> Result<Vec<Ready>, Cut> {
        let left = self.until_ns.map(|until| until.saturating_sub(sys::clock::now_ns()));
        let mut all = interests.to_vec();
        all.push(Interest::End(self.stop.told.as_fd()));
        let mut ready =
            poll(&all, left.map(Duration::from_nanos)).map_err(|error| Cut::Failed(error.to_string()))?;
        if ready.pop().is_some_and(|stop| stop.closed) {
            return Err(Cut::Interrupted);
        }
        let any = ready.iter().any(|one| one.readable || one.writable || one.closed);
        if any { Ok(ready) } else { Err(Cut::TimedOut) }
    }

    /// Sleeps, unless a stop is requested or the limit is reached.
    pub(crate) fn pause(&self, length: Duration) -> Result<(), Cut> {
        self.pause_or(length, &[])
    }

    /// Sleeps until one of the descriptors is ready, unless a stop is requested or the limit is reached.
    pub(crate) fn pause_or(&self, length: Duration, interests: &[Interest<'_>]) -> Result<(), Cut> {
        let own = Limit::from_now(self.stop, Some(length));
        let first = self.until_ns.map_or(own.until_ns, |until| own.until_ns.map(|end| end.min(until)));
        match (Limit { stop: self.stop, until_ns: first }).wait(interests) {
            Err(Cut::TimedOut) if first == own.until_ns => Ok(()),
            Err(cut) => Err(cut),
            Ok(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_every_wait_and_a_deadline_its_own() {
        let stop = Stop::new().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        let short = Limit::from_now(&stop, Some(Duration::from_millis(1)));
        assert_eq!(short.wait(&[Interest::Read(reader.as_fd())]), Err(Cut::TimedOut));
        assert_eq!(Limit::from_now(&stop, None).pause(Duration::from_millis(1)), Ok(()));
        assert_eq!(short.pause(Duration::from_secs(600)), Err(Cut::TimedOut));
        drop(writer);
        assert!(Limit::from_now(&stop, None).wait(&[Interest::Read(reader.as_fd())]).unwrap()[0].closed);
        assert!(!stop.is_requested());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Limit::from_now(&stop, None).pause(Duration::from_secs(600)));
            stop.request();
            assert_eq!(waiting.join().unwrap(), Err(Cut::Interrupted));
        });
        assert!(stop.is_requested());
        assert_eq!(Limit::from_now(&stop, None).wait(&[]), Err(Cut::Interrupted));
    }
}
