//! Handles SIGINT (Ctrl-C) and SIGTERM. The first signal is a stop request: the take in flight finishes, then the
//! program ends. A second one ends the program at once.
//!
//! Tools such as `timeout` signal a process and its group, so that one request arrives as two signals. Signals within
//! 50 ms of the first, or before the program has seen the first one, count as the same request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{CliError, Kind};
use crate::out;

/// Signals so close after the first belong to the same request.
const SAME_MOMENT_NS: u64 = 50_000_000;

/// After this time a further signal is a second request, even if the program has not seen the first: it hangs.
const MOST_NS: u64 = 1_000_000_000;

/// The last line of a program that stores takes and is ended at once.
const TAKES: &str = "ended at once; every take that was shown is stored, and `boxscore resume` continues a run that was \
                     cut (one that loads a server of yours only where you name it)";

/// How long to wait for a terminal that hangs before the program ends without the last line.
const LAST_LINE: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Flags {
    requested: AtomicBool,
    noticed: AtomicBool,
}

/// Tells whether the user has asked to stop.
pub struct StopSignal(Arc<Flags>);

impl StopSignal {
    /// Installs the SIGINT and SIGTERM handlers; a signal becomes a stop request.
    ///
    /// Fails when the handlers cannot be installed.
    pub fn listen() -> Result<StopSignal, CliError> {
        StopSignal::listen_with_message(TAKES)
    }

    /// As [`StopSignal::listen`]; `last` is printed when a second request ends the program.
    pub fn listen_with_message(last: &'static str) -> Result<StopSignal, CliError> {
        let failed = |error: std::io::Error| CliError::data(format!("signals cannot be caught: {error}"));
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
        let flags = Arc::new(Flags::default());
        let shared = Arc::clone(&flags);
        std::thread::spawn(move || {
            let mut first_ns = None;
            for _ in signals.forever() {
                let now_ns = sys::clock::now_ns();
                let from_ns = *first_ns.get_or_insert(now_ns);
                if shared.requested.swap(true, Ordering::Relaxed)
                    && is_second_request(
                        now_ns.saturating_sub(from_ns),
                        shared.noticed.load(Ordering::Relaxed),
                    )
                {
                    end_at_once(last);
                }
            }
        });
        Ok(StopSignal(flags))
    }

    /// True once a stop was requested. Asking marks the request as seen.
    pub fn is_requested(&self) -> bool {
        let requested = self.0.requested.load(Ordering::Relaxed);
        if requested {
            self.0.noticed.store(true, Ordering::Relaxed);
        }
        requested
    }
}

/// True if a signal `after_ns` after the first is a second request.
const fn is_second_request(after_ns: u64, noticed: bool) -> bool {
    after_ns > MOST_NS || (noticed && after_ns > SAME_MOMENT_NS)
}

fn end_at_once(last: &'static str) -> ! {
    let (done, said) = channel::<()>();
    std::thread::spawn(move || {
        let _done = done;
        out::say(last);
    });
    // Either way it ends here.
    let _said = said.recv_timeout(LAST_LINE);
    signal_hook::low_level::exit(i32::from(Kind::Interrupted.exit_code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_of_one_moment_are_one_request() {
        assert!(!is_second_request(0, false));
        assert!(!is_second_request(1_000, true), "both were sent together");
        assert!(!is_second_request(200_000_000, false), "the first was not noticed yet");
        assert!(is_second_request(200_000_000, true));
        assert!(is_second_request(2_000_000_000, false), "a program that hangs can be ended");
    }
}
