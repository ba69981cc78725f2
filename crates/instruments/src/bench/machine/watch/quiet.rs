//! Other processes' use of the machine's CPUs from one look to the next, who they are, and when that is quiet.
//!
//! In CPUs (1 = one CPU all the time). Quiet is a mean below [`MOST`] over each of [`SPANS`] spans in a row, each a
//! second long: an idle system with its services uses less. A burst that begins right after it is not foreseen.

use model::note::Disturber;

use super::disturbers::Look;
use super::{Files, Moment, load};

/// CPUs that others use at most where it is quiet.
pub const MOST: f64 = 0.1;
/// How many quiet seconds in a row make it quiet.
pub const SPANS: u32 = 3;

/// The use of CPUs by others, now.
#[derive(Clone, Debug, PartialEq)]
pub struct Others {
    pub cpus: f64,
    /// The busiest, as far as they can be seen.
    pub by: Vec<Disturber>,
}

/// Compares one moment with the next.
pub struct Watcher {
    files: Files,
    ticks_per_s: u64,
    moment: Moment,
    look: Look,
    quiet: u32,
}

impl Watcher {
    /// Fails where the kernel does not tell its clock tick.
    pub fn open() -> Result<Watcher, String> {
        let ticks_per_s = sys::system::clock_ticks_per_s().map_err(|error| error.to_string())?;
        let mut files = Files::open(&[]);
        let moment = files.read(&[]);
        Ok(Watcher { files, ticks_per_s, moment, look: Look::now().unwrap_or_default(), quiet: 0 })
    }

    /// The use by others since the look before. Fails where /proc/stat cannot be read.
    pub fn look(&mut self) -> Result<Others, String> {
        let (moment, look) = (self.files.read(&[]), Look::now().unwrap_or_default());
        let marks = self.moment.load.as_ref().zip(moment.load.as_ref());
        let cpus = marks.and_then(|(from, to)| load::background(from, to, self.ticks_per_s));
        let cpus = cpus.ok_or("/proc/stat does not tell how busy the CPUs are")?;
        let by = look.since(&self.look);
        (self.moment, self.look) = (moment, look);
        self.quiet = if cpus < MOST { self.quiet + 1 } else { 0 };
        Ok(Others { cpus, by })
    }

    /// True once it was quiet for long enough.
    pub fn is_quiet(&self) -> bool {
        self.quiet >= SPANS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_work_is_not_that_of_others() {
        let mut watcher = Watcher::open().unwrap();
        let start_ns = sys::clock::thread_cpu_ns();
        while sys::clock::thread_cpu_ns() - start_ns < 300_000_000 {
            std::hint::spin_loop();
        }
        let own = i32::try_from(std::process::id()).unwrap();
        let others = watcher.look().unwrap();
        assert!(others.cpus >= 0.0 && others.by.iter().all(|one| one.pid != own), "{others:?}");
        assert!(!watcher.is_quiet());
    }
}
