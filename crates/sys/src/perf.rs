//! Counters of a thread and the threads and processes that it starts: hardware events in user mode, and time.
//!
//! Counts are events. When the kernel shares the counter among several users the count is scaled
//! by the share of time that it ran, and `running` says how large that was. Kernel time is not
//! counted, so that it works at perf_event_paranoid 2. Virtual machines often have no counters.

use crate::error::{Error, Result, check};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Cycles,
    Instructions,
    /// Misses of the last-level cache.
    CacheMisses,
    /// Loads whose address was in no translation cache.
    TlbMisses,
    /// Nanoseconds on a CPU, by the kernel's clock: every kernel with perf events has it.
    TaskClock,
}

impl Event {
    /// Type and number, as the kernel knows it.
    const fn code(self) -> (u32, u64) {
        match self {
            Event::Cycles => (TYPE_HARDWARE, 0),
            Event::Instructions => (TYPE_HARDWARE, 1),
            Event::CacheMisses => (TYPE_HARDWARE, 3),
            // The data translation cache (3), loads (0), misses (1).
            Event::TlbMisses => (TYPE_CACHE, 3 | 1 << 16),
            Event::TaskClock => (TYPE_SOFTWARE, 1),
        }
    }
}

/// The first published form of `struct perf_event_attr`: 64 bytes, understood by every kernel.
#[repr(C)]
#[derive(Default)]
struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
}

const TYPE_HARDWARE: u32 = 0;
const TYPE_SOFTWARE: u32 = 1;
const TYPE_CACHE: u32 = 3;
/// Bits of `flags`: disabled, inherit, exclude_kernel, exclude_hv.
const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6;
/// Time enabled and time running follow the count.
const FORMAT: u64 = 1 | 2;
const IOC_ENABLE: u32 = 0x2400;
const IOC_DISABLE: u32 = 0x2401;
const IOC_RESET: u32 = 0x2403;

/// One counter, stopped at first.
#[derive(Debug)]
pub struct Counter(File);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count {
    /// Scaled to the whole time if the counter was shared.
    pub value: f64,
    /// Share of the time in which it really counted.
    pub running: f64,
}

fn scaled([count, enabled, running]: [u64; 3]) -> Option<Count> {
    if enabled == 0 {
        // A thread that did not run has no time to count in.
        return Some(Count { value: 0.0, running: 1.0 });
    }
    if running == 0 {
        return None;
    }
    let running = running as f64 / enabled as f64;
    Some(Count { value: count as f64 / running, running })
}

impl Counter {
    /// Opens a counter on the calling thread. Fails, with the reason, where there is none.
    pub fn open(event: Event) -> Result<Self> {
        Self::open_on(event, 0)
    }

    /// Opens a counter on a thread of this process, by its number. Fails, with the reason, where there is none, or no
    /// such thread.
    pub fn open_on(event: Event, thread: i32) -> Result<Self> {
        let (kind, config) = event.code();
        let attr = Attr { kind, size: 64, config, read_format: FORMAT, flags: FLAGS, ..Attr::default() };
        // 8: PERF_FLAG_FD_CLOEXEC; -1 and -1: any CPU, no group.
        // SAFETY: the kernel reads the 64 bytes of `attr` and keeps no pointer.
        let fd = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attr, thread, -1, -1, 8 as libc::c_ulong)
        };
        if fd < 0 {
            let error = Error::last(format!("count {event:?}"));
            let why = match error.errno() {
                Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
                    "this processor or hypervisor offers no such counter"
                }
                Some(libc::ENOSYS) => "the kernel is built without perf events",
                Some(libc::EACCES | libc::EPERM) => {
                    "forbidden by kernel.perf_event_paranoid or a seccomp filter"
                }
                _ => return Err(error),
            };
            return Err(Error::unavailable(format!("the counter of {event:?}"), why));
        }
        #[cfg_attr(
            target_pointer_width = "32",
            expect(clippy::useless_conversion, reason = "a long is an int on 32-bit targets")
        )]
        let fd = i32::try_from(fd).map_err(|_| Error::invalid("count", "a huge descriptor"))?;
        // SAFETY: a descriptor that the kernel has just given to us alone.
        Ok(Self(unsafe { File::from_raw_fd(fd) }))
    }

    fn control(&self, request: u32) -> Result<()> {
        // SAFETY: these requests take a plain number.
        let ret = unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, 0) };
        check(ret, || "control a hardware counter".into())?;
        Ok(())
    }

    /// Starts from zero. Fails when the kernel refuses.
    pub fn start(&mut self) -> Result<()> {
        self.control(IOC_RESET)?;
        self.control(IOC_ENABLE)
    }

    /// Stops and reads the count, scaled up for the time in which the kernel did not count. `Count::running` covers all
    /// starts since the counter was opened. `None` if it never got to count. Fails when the kernel refuses.
    pub fn stop(&mut self) -> Result<Option<Count>> {
        self.control(IOC_DISABLE)?;
        let mut bytes = [0; 24];
        (&self.0).read_exact(&mut bytes).map_err(|e| Error::os("read a hardware counter", e))?;
        let mut words = [0; 3];
        for (word, part) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(part);
            *word = u64::from_ne_bytes(eight);
        }
        Ok(scaled(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_by_the_share() {
        assert_eq!(scaled([10, 4, 2]), Some(Count { value: 20.0, running: 0.5 }));
        assert_eq!(scaled([0, 4, 0]), None);
        assert_eq!(scaled([0, 0, 0]), Some(Count { value: 0.0, running: 1.0 }));
        assert_eq!(size_of::<Attr>(), 64);
    }

    /// Also of threads that it starts.
    #[test]
    fn time_is_counted_where_the_kernel_counts_at_all() {
        let Ok(mut counter) = Counter::open(Event::TaskClock) else { return };
        counter.start().unwrap();
        let work = || std::hint::black_box((0..3_000_000u64).map(std::hint::black_box).sum::<u64>());
        std::thread::spawn(work).join().unwrap();
        let count = counter.stop().unwrap().unwrap();
        assert!(count.value > 1e5 && count.running > 0.0, "{count:?}");
    }

    #[test]
    fn counts_or_says_why() {
        match Counter::open(Event::Instructions) {
            Ok(mut counter) => {
                counter.start().unwrap();
                std::hint::black_box((0..1000u64).map(std::hint::black_box).sum::<u64>());
                let count = counter.stop().unwrap();
                assert!(count.is_none_or(|c| c.value >= 1000.0), "{count:?}");
            }
            Err(error) => assert!(error.to_string().contains("Instructions"), "{error}"),
        }
    }
}
