//! The io_uring read engine: registered file, registered buffers, one system call a read.
//!
//! See `reads` for units. It does not poll the device or use a kernel thread: that is the way
//! most programs use io_uring, and needs no privilege.

use crate::clock::now_ns;
use crate::error::{Error, Result};
use crate::pages::{Advice, Pages};
use crate::reads::{Completion, Next, OnComplete, ReadEngine};
use io_uring::{IoUring, opcode, types};
use std::fs::File;
use std::os::fd::AsRawFd;

#[derive(Clone, Copy, Default)]
struct Slot {
    index: u64,
    offset: u64,
    submitted_ns: u64,
}

pub struct Uring {
    // Field order matters: the ring goes first, so that no read can reach a freed buffer.
    ring: IoUring,
    buffers: Pages,
    stride: usize,
    block: u32,
    slots: Vec<Slot>,
    free: Vec<u16>,
    taken: u64,
    in_flight: usize,
    /// True if the kernel holds the buffers; that fails when the memlock limit is small.
    registered: bool,
    _file: File,
}

/// The usual reasons, in words.
fn explain(error: std::io::Error) -> Error {
    let why = match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel does not have it (ENOSYS)",
        Some(libc::EPERM) => "forbidden by kernel.io_uring_disabled or a seccomp filter (EPERM)",
        Some(libc::ENOMEM) => "the locked-memory limit is too small (ENOMEM)",
        _ => return Error::os("set up io_uring", error),
    };
    Error::unavailable("io_uring", why)
}

/// Fails, with the reason, where io_uring does not work.
pub fn probe() -> Result<()> {
    IoUring::new(2).map(drop).map_err(explain)
}

impl Uring {
    /// An io_uring engine with registered file and buffers. Fails where io_uring does not work, or depth or block size
    /// is out of range.
    pub fn new(file: &File, depth: u32, block_bytes: u32) -> Result<Self> {
        let block = crate::reads::checked(depth, block_bytes)?;
        let file = file.try_clone().map_err(|e| Error::os("duplicate a file descriptor", e))?;
        let ring = IoUring::new(depth).map_err(explain)?;
        ring.submitter()
            .register_files(&[file.as_raw_fd()])
            .map_err(|e| Error::os("register a file with io_uring", e))?;
        let stride = block.next_multiple_of(crate::pages::page_size());
        let mut buffers = Pages::new(stride * depth as usize, Advice::Default)?;
        buffers.touch();
        let start = buffers.as_mut_slice::<u8>().as_mut_ptr();
        let vectors: Vec<libc::iovec> = (0..depth as usize)
            .map(|slot| libc::iovec { iov_base: start.wrapping_add(slot * stride).cast(), iov_len: block })
            .collect();
        // SAFETY: every vector lies within `buffers`, which outlives the ring (field order).
        let registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        let slots = vec![Slot::default(); depth as usize];
        Ok(Self {
            ring,
            buffers,
            stride,
            block: block_bytes,
            slots,
            free: Vec::with_capacity(depth as usize),
            taken: 0,
            in_flight: 0,
            registered,
            _file: file,
        })
    }

    /// True if the buffers are registered; if not, each read pins its pages anew.
    pub fn registered_buffers(&self) -> bool {
        self.registered
    }

    fn push(&mut self, slot: u16) -> Result<()> {
        let at = usize::from(slot);
        let start = self.buffers.as_mut_slice::<u8>().as_mut_ptr();
        let buffer = start.wrapping_add(at * self.stride);
        let offset = self.slots[at].offset;
        let entry = if self.registered {
            opcode::ReadFixed::new(types::Fixed(0), buffer, self.block, slot).offset(offset).build()
        } else {
            opcode::Read::new(types::Fixed(0), buffer, self.block).offset(offset).build()
        };
        // SAFETY: the buffer is this slot's own part of `buffers`, is used by no other request
        // in flight, and outlives the ring.
        unsafe { self.ring.submission().push(&entry.user_data(u64::from(slot))) }
            .map_err(|_| Error::unavailable("io_uring", "its queue is full below its depth"))
    }

    /// Starts one read in each free slot while `next` gives offsets; `false` when it has ended. Each goes to the
    /// kernel by itself, as most programs do it: the device would have no work while a batch is made ready.
    fn fill(&mut self, next: &mut (dyn FnMut() -> Option<u64> + Send)) -> Result<bool> {
        while let Some(slot) = self.free.pop() {
            let Some(offset) = next() else {
                self.free.push(slot);
                return Ok(false);
            };
            self.slots[usize::from(slot)] = Slot { index: self.taken, offset, submitted_ns: now_ns() };
            self.push(slot)?;
            self.taken += 1;
            self.in_flight += 1;
            self.enter(0)?;
        }
        Ok(true)
    }

    /// Submits what was pushed and waits for `wanted` completions at least.
    fn enter(&mut self, wanted: usize) -> Result<()> {
        match self.ring.submit_and_wait(wanted) {
            Ok(_) => Ok(()),
            Err(e) => match e.raw_os_error() {
                // Interrupted, or the kernel wants completions taken first: the caller does.
                Some(libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
                _ => Err(Error::os("submit reads to io_uring", e)),
            },
        }
    }

    fn reap(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let completed_ns = now_ns();
        let id = u16::try_from(entry.user_data()).ok()?;
        let slot = *self.slots.get(usize::from(id))?;
        self.in_flight -= 1;
        self.free.push(id);
        let result = entry.result();
        Some(Completion {
            index: slot.index,
            offset: slot.offset,
            submitted_ns: slot.submitted_ns,
            completed_ns,
            result: u32::try_from(result).map_err(|_| result.saturating_neg()),
        })
    }

    /// Waits for reads left over by a run that failed or panicked.
    fn drain(&mut self) -> Result<()> {
        while self.in_flight > 0 {
            self.enter(1)?;
            while self.reap().is_some() {}
        }
        Ok(())
    }
}

impl ReadEngine for Uring {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(crate::reads::MAX_DEPTH)
    }

    fn run(&mut self, next: Next<'_>, on_complete: OnComplete<'_>) -> Result<()> {
        self.drain()?;
        self.taken = 0;
        self.free.clear();
        self.free.extend((0..self.slots.len()).rev().filter_map(|slot| u16::try_from(slot).ok()));
        let mut more = true;
        loop {
            if more {
                more = self.fill(next)?;
            }
            if self.in_flight == 0 {
                return Ok(());
            }
            match self.reap() {
                Some(completion) => on_complete(completion),
                None => self.enter(1)?,
            }
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel must not write to the buffers after they are unmapped. An error here means
        // that the ring itself is broken, and then it is closed first anyway.
        let _drained = self.drain();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_words() {
        let error = explain(std::io::Error::from_raw_os_error(libc::EPERM));
        assert!(error.to_string().contains("io_uring_disabled"), "{error}");
        let error = explain(std::io::Error::from_raw_os_error(libc::EMFILE));
        assert_eq!(error.errno(), Some(libc::EMFILE));
    }

    #[test]
    fn leftover_reads_are_waited_for() {
        let file = File::open("/proc/self/exe").unwrap();
        let Ok(mut ring) = Uring::new(&file, 4, 4096) else {
            // Forbidden here; then the probe must say so too.
            assert!(probe().is_err());
            return;
        };
        ring.free.extend([0, 1, 2]);
        assert!(ring.fill(&mut || Some(0)).unwrap());
        assert_eq!(ring.in_flight, 3);
        let mut count = 0;
        ring.run(&mut || None, &mut |_| count += 1).unwrap();
        assert_eq!((ring.in_flight, count), (0, 0));
        assert!(probe().is_ok());
    }
}
