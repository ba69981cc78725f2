//! The timer of one thread, watched by its epoll. It wakes within some tens of microseconds, where the timeout of a
//! poll has whole milliseconds. Units: nanoseconds of CLOCK_MONOTONIC.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

#[derive(Debug)]
pub struct Timer {
    fd: OwnedFd,
    armed_ns: u64,
}

impl Timer {
    /// A timer that is not set. Fails when the kernel gives no timerfd.
    pub fn new() -> Result<Timer, Errno> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Timer { fd, armed_ns: 0 })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Sets the timer so that it fires at `at_ns` at the latest. An earlier time that is already set stays, which
    /// saves a system call. Fails when the system call fails.
    pub fn wake_by(&mut self, at_ns: u64, now_ns: u64) -> Result<(), Errno> {
        if self.armed_ns > now_ns && self.armed_ns <= at_ns {
            return Ok(());
        }
        // A time of 0 would switch it off.
        let at_ns = at_ns.max(1);
        let time = Timespec {
            tv_sec: i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (at_ns % 1_000_000_000) as _,
        };
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(
            &self.fd,
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: none, it_value: time },
        )?;
        self.armed_ns = at_ns;
        Ok(())
    }
}
