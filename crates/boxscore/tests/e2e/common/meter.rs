//! The draw of power of a node that is a server of this machine: it follows the CPU time of what runs below the server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Drawn for nothing, and for a CPU that is busy, in watts.
pub const IDLE: f64 = 100.0;
const FOR_A_CPU: f64 = 150.0;

/// What the kernel counts CPU time in for programs, in a second.
const TICKS: f64 = 100.0;

/// Between two readings.
const EACH: Duration = Duration::from_millis(200);

/// Writes the draw of a node into a file, whole watts, until it ends.
pub struct Meter {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    /// Follows what runs below this process.
    pub fn start(pid: u32, file: PathBuf) -> Meter {
        write(&file, IDLE);
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let thread = std::thread::spawn(move || follow(pid, &file, &told));
        Meter { ends, thread: Some(thread) }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(joined.is_ok() || std::thread::panicking(), "the meter failed");
        }
    }
}

fn follow(pid: u32, file: &Path, ends: &AtomicBool) {
    let (mut before, mut since) = (used(pid), Instant::now());
    while !ends.load(Ordering::SeqCst) {
        std::thread::sleep(EACH);
        let now = used(pid);
        // Of each process that is there and was: one that has ended takes its time with it.
        let ticks: u64 = now
            .iter()
            .map(|(pid, ticks)| before.get(pid).map_or(0, |before| ticks.saturating_sub(*before)))
            .sum();
        let busy = ticks as f64 / TICKS / since.elapsed().as_secs_f64();
        (before, since) = (now, Instant::now());
        write(file, IDLE + FOR_A_CPU * busy);
    }
}

/// In one step, so that no reader finds half of it.
fn write(file: &Path, watts: f64) {
    let new = file.with_extension("new");
    fs::write(&new, format!("{}\n", watts.round())).expect("a reading");
    fs::rename(&new, file).expect("a reading");
}

/// The CPU time of every process below this one, in ticks.
fn used(above: u32) -> BTreeMap<u32, u64> {
    let mut known: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
    for entry in fs::read_dir("/proc").expect("/proc").map_while(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // Behind the name in brackets: state, parent ... the 12th and 13th are the times.
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        if let (Some(parent), Some(user), Some(system)) = (number(1), number(11), number(12)) {
            known.insert(pid, (u32::try_from(parent).expect("a process"), user + system));
        }
    }
    let is_below = |pid: u32| {
        let mut at = pid;
        // No chain of parents is longer than there are processes.
        for _ in 0..known.len() {
            match known.get(&at) {
                Some((parent, _)) if *parent == above => return true,
                Some((parent, _)) => at = *parent,
                None => return false,
            }
        }
        false
    };
    known.iter().filter(|(pid, _)| is_below(**pid)).map(|(pid, (_, ticks))| (*pid, *ticks)).collect()
}
