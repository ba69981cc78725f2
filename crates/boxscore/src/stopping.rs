//! Ctrl-C and TERM: the first lets the take in flight finish, a further one ends the program at once.
//!
//! Who signals a process together with its group (`timeout` does) sends two for one: what comes in the same moment, or
//! before the first was noticed, is the same wish.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{CliError, Kind};
use crate::out;

const SAME_MOMENT_NS: u64 = 50_000_000;

/// The first is always noticed within a moment, unless the program hangs.
const MOST_NS: u64 = 1_000_000_000;

/// What is said last where takes are stored.
const TAKES: &str = "ended at once; every take that was shown is stored, and `boxscore resume` continues a run that was \
                     cut (one that loads a server of yours only where you name it)";

/// What a hanging terminal is waited for.
const LAST_LINE: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Flags {
    asked: AtomicBool,
    noticed: AtomicBool,
}

/// The wish to stop.
pub struct Stop(Arc<Flags>);

impl Stop {
    /// From here on signals are wishes.
    pub fn listen() -> Result<Stop, CliError> {
        Stop::listen_saying(TAKES)
    }

    /// The same; `last` is said where a further one ends the program.
    pub fn listen_saying(last: &'static str) -> Result<Stop, CliError> {
        let failed = |error: std::io::Error| CliError::data(format!("signals cannot be caught: {error}"));
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
        let flags = Arc::new(Flags::default());
        let shared = Arc::clone(&flags);
        std::thread::spawn(move || {
            let mut first_ns = None;
            for _ in signals.forever() {
                let now_ns = sys::clock::now_ns();
                let from_ns = *first_ns.get_or_insert(now_ns);
                if shared.asked.swap(true, Ordering::Relaxed)
                    && is_further(now_ns.saturating_sub(from_ns), shared.noticed.load(Ordering::Relaxed))
                {
                    end_at_once(last);
                }
            }
        });
        Ok(Stop(flags))
    }

    /// True once a signal came; whoever asks has noticed it.
    pub fn asked(&self) -> bool {
        let asked = self.0.asked.load(Ordering::Relaxed);
        if asked {
            self.0.noticed.store(true, Ordering::Relaxed);
        }
        asked
    }
}

/// Whether a signal so long after the first is a wish of its own.
const fn is_further(after_ns: u64, noticed: bool) -> bool {
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
    fn signals_of_one_moment_are_one_wish() {
        assert!(!is_further(0, false));
        assert!(!is_further(1_000, true), "both were sent together");
        assert!(!is_further(200_000_000, false), "the first was not noticed yet");
        assert!(is_further(200_000_000, true));
        assert!(is_further(2_000_000_000, false), "a program that hangs can be ended");
    }
}
