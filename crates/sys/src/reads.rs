//! Reads of one block size at a fixed queue depth, each timed: by io_uring, or by threads.
//!
//! Times are `clock::now_ns`. A latency runs from handing the request to the kernel until the
//! answer is seen here. Each read is handed over by itself, as soon as one has come back. The
//! engines check nothing of the data, only its length.

use crate::clock::now_ns;
use crate::error::{Error, Result};
use crate::pages::{Advice, Pages};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

/// One finished read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Number of offsets that were taken before this one.
    pub index: u64,
    pub offset: u64,
    pub submitted_ns: u64,
    pub completed_ns: u64,
    /// Bytes read (fewer than a block at the end of the file), or the errno.
    pub result: std::result::Result<u32, i32>,
}

impl Completion {
    pub fn latency_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.submitted_ns)
    }
}

/// Gives the next offset, a multiple of the file's alignment; `None` ends the run.
pub type Next<'a> = &'a mut (dyn FnMut() -> Option<u64> + Send);
/// Called for each finished read, in the order of finishing.
pub type OnComplete<'a> = &'a mut (dyn FnMut(Completion) + Send);

pub trait ReadEngine: Send {
    /// "io_uring" or "threads".
    fn name(&self) -> &'static str;
    fn depth(&self) -> u32;
    /// Keeps `depth` reads under way until `next` ends, then waits for the rest. A failed read is a completion. Fails
    /// when the engine itself does.
    fn run(&mut self, next: Next<'_>, on_complete: OnComplete<'_>) -> Result<()>;
}

/// The largest queue depth of either engine.
pub const MAX_DEPTH: u32 = 1024;

/// The block size, checked. Fails when depth or block size is out of range.
pub(crate) fn checked(depth: u32, block: u32) -> Result<usize> {
    let what = || format!("read {block} bytes at queue depth {depth}");
    if depth == 0 || depth > MAX_DEPTH {
        return Err(Error::invalid(what(), format!("depths are 1 to {MAX_DEPTH}")));
    }
    if block == 0 || block > 64 << 20 {
        return Err(Error::invalid(what(), "blocks are 1 byte to 64 MiB"));
    }
    Ok(block as usize)
}

/// Blocking reads, one thread per unit of depth.
#[derive(Debug)]
pub struct Threads {
    file: File,
    buffers: Vec<Pages>,
}

struct Shared<'a> {
    next: Next<'a>,
    on_complete: OnComplete<'a>,
    taken: u64,
    ended: bool,
}

impl Shared<'_> {
    fn take(&mut self) -> Option<(u64, u64)> {
        let offset = if self.ended { None } else { (self.next)() };
        self.ended = offset.is_none();
        let index = self.taken;
        self.taken += u64::from(offset.is_some());
        Some((index, offset?))
    }
}

impl Threads {
    /// An engine of `depth` threads. Fails when depth or block size is out of range, or a thread cannot be started.
    pub fn new(file: &File, depth: u32, block_bytes: u32) -> Result<Self> {
        let block = checked(depth, block_bytes)?;
        let file = file.try_clone().map_err(|e| Error::os("duplicate a file descriptor", e))?;
        let buffer = |_| {
            let mut pages = Pages::new(block, Advice::Default)?;
            pages.touch();
            Ok(pages)
        };
        let buffers = (0..depth).map(buffer).collect::<Result<_>>()?;
        Ok(Self { file, buffers })
    }
}

fn read_loop(file: &File, buffer: &mut Pages, shared: &Mutex<Shared<'_>>) {
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let mut work = lock().take();
    while let Some((index, offset)) = work {
        let submitted_ns = now_ns();
        let got = file.read_at(buffer.as_mut_slice(), offset);
        let completed_ns = now_ns();
        let result = match got {
            Ok(bytes) => Ok(u32::try_from(bytes).unwrap_or(u32::MAX)),
            Err(e) => Err(e.raw_os_error().unwrap_or(libc::EIO)),
        };
        let mut shared = lock();
        (shared.on_complete)(Completion { index, offset, submitted_ns, completed_ns, result });
        work = shared.take();
    }
}

impl ReadEngine for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.buffers.len()).unwrap_or(MAX_DEPTH)
    }

    fn run(&mut self, next: Next<'_>, on_complete: OnComplete<'_>) -> Result<()> {
        let shared = Mutex::new(Shared { next, on_complete, taken: 0, ended: false });
        let file = &self.file;
        let shared_ref = &shared;
        std::thread::scope(|scope| {
            for buffer in &mut self.buffers {
                let started = std::thread::Builder::new()
                    .stack_size(64 << 10)
                    .spawn_scoped(scope, move || read_loop(file, buffer, shared_ref));
                if let Err(e) = started {
                    // The threads that run already stop at their next step.
                    shared.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
                    return Err(Error::os("start a reading thread", e));
                }
            }
            Ok(())
        })
    }
}

/// The engine to use, and why it is not io_uring if so.
pub struct Chosen {
    pub engine: Box<dyn ReadEngine>,
    pub why_not_uring: Option<Error>,
}

/// io_uring where it works, else threads. Fails when neither can be set up.
pub fn best_engine(file: &File, depth: u32, block_bytes: u32) -> Result<Chosen> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let why = match crate::uring::Uring::new(file, depth, block_bytes) {
        Ok(engine) => {
            return Ok(Chosen { engine: Box::new(engine), why_not_uring: None });
        }
        Err(why) => why,
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let why = Error::unavailable("io_uring", "this build's processor has no bindings for it");
    Ok(Chosen { engine: Box::new(Threads::new(file, depth, block_bytes)?), why_not_uring: Some(why) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direct::Scratch;
    use std::collections::BTreeSet;

    fn reads_all(engine: &mut dyn ReadEngine, count: u64, block: u64, mib: u64) {
        for _ in 0..2 {
            let mut asked = 0;
            let mut seen = BTreeSet::new();
            let mut next = || {
                asked += 1;
                (asked <= count).then(|| (asked * 7919 * block) % (mib << 20))
            };
            let mut done = |c: Completion| {
                assert_eq!(c.result, Ok(block as u32), "{c:?}");
                assert!(c.completed_ns >= c.submitted_ns);
                assert_eq!(c.offset, ((c.index + 1) * 7919 * block) % (mib << 20));
                assert!(seen.insert(c.index), "twice: {c:?}");
            };
            engine.run(&mut next, &mut done).unwrap();
            assert_eq!(seen.len() as u64, count);
            assert_eq!(seen.last().copied(), count.checked_sub(1));
        }
    }

    fn scratch(dir: &tempfile::TempDir) -> Scratch {
        Scratch::create(&dir.path().join("s"), 4 << 20, &mut |_| true).unwrap()
    }

    #[test]
    fn each_offset_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = scratch(&dir);
        for (depth, count) in [(1, 50), (8, 300), (32, 5), (4, 0)] {
            let mut threads = Threads::new(scratch.file(), depth, 4096).unwrap();
            assert_eq!((threads.depth(), threads.name()), (depth, "threads"));
            reads_all(&mut threads, count, 4096, 4);
            let mut chosen = best_engine(scratch.file(), depth, 4096).unwrap();
            assert_eq!(chosen.engine.depth(), depth);
            assert_eq!(chosen.why_not_uring.is_some(), chosen.engine.name() == "threads");
            reads_all(&mut *chosen.engine, count, 4096, 4);
        }
    }

    #[test]
    fn a_failed_read_is_a_completion() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("w")).unwrap();
        let threads: Box<dyn ReadEngine> = Box::new(Threads::new(&file, 2, 4096).unwrap());
        for mut engine in [threads, best_engine(&file, 2, 4096).unwrap().engine] {
            let mut offsets = vec![0, 4096, 8192];
            let mut errors = Vec::new();
            let run = engine.run(&mut || offsets.pop(), &mut |c| errors.push(c.result));
            run.unwrap();
            assert_eq!(errors, [Err(libc::EBADF); 3], "{}", engine.name());
        }
    }

    #[test]
    fn depths_and_blocks_are_checked() {
        let file = File::open("/proc/self/exe").unwrap();
        for (depth, block) in [(0, 4096), (MAX_DEPTH + 1, 4096), (1, 0), (1, u32::MAX)] {
            assert!(best_engine(&file, depth, block).is_err());
        }
    }
}
