//! Clocks, in nanoseconds, and the cycle counter with its calibration.
//!
//! `now_ns` is CLOCK_MONOTONIC: it never steps back, the vDSO serves it without a system call on
//! every supported kernel (CLOCK_MONOTONIC_RAW only since 5.3 on x86), and it is the time line of
//! sleeps, timers and perf. NTP may slew it by at most 500 ppm, far below any interval we report,
//! and where NTP runs two machines agree on the second, which raw crystals do not.
//! CLOCK_MONOTONIC_RAW is the second clock of the calibration.
//!
//! It does not count time that the machine was suspended.

use crate::error::{Error, Result};
use std::time::Duration;

const GIGA: u64 = 1_000_000_000;

/// The name of the clock behind [`now_ns`], for the run's record.
pub const SOURCE: &str = "CLOCK_MONOTONIC";

fn to_ns(time: libc::timespec) -> u64 {
    // Widths differ by target; both parts are non-negative for the clocks used here.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(GIGA).saturating_add(nanos)
}

fn zero() -> libc::timespec {
    // SAFETY: timespec is plain integers (and padding on some targets); all zero is valid.
    unsafe { std::mem::zeroed() }
}

/// Cannot fail for the constant clock ids of this file: they exist since Linux 2.6.28.
#[inline]
fn read(id: libc::clockid_t) -> u64 {
    let mut time = zero();
    // SAFETY: `time` is a writable timespec; the call keeps no pointer.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    to_ns(time)
}

/// Nanoseconds of CLOCK_MONOTONIC; only differences mean something.
#[inline]
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of CLOCK_MONOTONIC_RAW: the hardware's own rate, never slewed.
#[inline]
pub fn raw_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// Wall clock: nanoseconds since 1970-01-01 UTC. May step.
pub fn wall_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// CPU time (user and system) of the calling thread.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time (user and system) of all threads of this process, without its children.
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The step of [`now_ns`] as the kernel states it; the true step may be coarser (see [`smallest_step_ns`]). Fails when
/// the kernel states none.
pub fn resolution_ns() -> Result<u64> {
    let mut time = zero();
    // SAFETY: `time` is a writable timespec; the call keeps no pointer.
    let ret = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &raw mut time) };
    crate::error::check(ret, || "read the resolution of CLOCK_MONOTONIC".into())?;
    Ok(to_ns(time))
}

/// The smallest non-zero difference of two successive readings of [`now_ns`]: an upper bound of
/// its step and of what one reading costs. `None` if the clock stood still throughout.
pub fn smallest_step_ns() -> Option<u64> {
    let mut last = now_ns();
    (0..10_000)
        .filter_map(|_| {
            let now = now_ns();
            let step = now.saturating_sub(last);
            last = now;
            (step > 0).then_some(step)
        })
        .min()
}

/// Sleeps until [`now_ns`] reaches `at_ns`; returns at once if it has passed.
pub fn sleep_until(at_ns: u64) {
    loop {
        let left = at_ns.saturating_sub(now_ns());
        if left == 0 {
            return;
        }
        std::thread::sleep(Duration::from_nanos(left));
    }
}

/// The processor's counter: TSC on x86, the virtual counter on AArch64. Its rate is constant on
/// supported processors and is *not* the core clock. `None` on other processors.
#[inline]
pub fn ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has RDTSC; LFENCE keeps earlier work before it.
        Some(unsafe {
            core::arch::x86_64::_mm_lfence();
            core::arch::x86_64::_rdtsc()
        })
    }
    #[cfg(target_arch = "x86")]
    {
        // SAFETY: RDTSC exists since the Pentium, below Rust's i686 baseline.
        Some(unsafe { core::arch::x86::_rdtsc() })
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: Linux lets user space read CNTVCT_EL0; ISB keeps earlier work before it.
        unsafe {
            core::arch::asm!("isb", "mrs {v}, cntvct_el0", v = out(reg) value, options(nostack));
        }
        Some(value)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    {
        None
    }
}

/// The counter's rate as the hardware states it: CPUID leaf 0x15 on x86, CNTFRQ_EL0 on AArch64.
pub fn stated_tick_hz() -> Option<f64> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    {
        crate::cpu::tsc_hz()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: Linux lets user space read CNTFRQ_EL0, which has no side effect.
        unsafe {
            core::arch::asm!("mrs {v}, cntfrq_el0", v = out(reg) value, options(nomem, nostack));
        }
        (value > 0).then_some(value as f64)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    {
        None
    }
}

/// The counter's rate measured against two clocks over the same span, and as stated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Ticks per second of CLOCK_MONOTONIC.
    pub monotonic_hz: f64,
    /// Ticks per second of CLOCK_MONOTONIC_RAW.
    pub raw_hz: f64,
    /// The rate that the hardware states, if it does.
    pub stated_hz: Option<f64>,
    /// The largest difference between any two of the above, as a fraction of `monotonic_hz`.
    pub disagreement: f64,
    pub span_ns: u64,
}

impl Calibration {
    fn new(ticks: u64, mono_ns: u64, raw_ns: u64, stated_hz: Option<f64>) -> Option<Self> {
        if ticks == 0 || mono_ns == 0 || raw_ns == 0 {
            return None;
        }
        let monotonic_hz = ticks as f64 * 1e9 / mono_ns as f64;
        let raw_hz = ticks as f64 * 1e9 / raw_ns as f64;
        let all = [Some(monotonic_hz), Some(raw_hz), stated_hz];
        let low = all.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().flatten().copied().fold(0.0, f64::max);
        Some(Self {
            monotonic_hz,
            raw_hz,
            stated_hz,
            disagreement: (high - low) / monotonic_hz,
            span_ns: mono_ns,
        })
    }

    /// Converts a difference of [`ticks`] to nanoseconds.
    pub fn to_ns(&self, ticks: u64) -> f64 {
        ticks as f64 * 1e9 / self.monotonic_hz
    }
}

/// One joint reading of the three clocks; the best of a few, so that an interruption between two
/// of the readings does not count.
fn joint() -> Option<(u64, u64, u64)> {
    (0..16)
        .filter_map(|_| {
            let before = ticks()?;
            let mono = now_ns();
            let raw = raw_ns();
            let after = ticks()?;
            let width = after.saturating_sub(before);
            Some((width, (before + width / 2, mono, raw)))
        })
        .min_by_key(|(width, _)| *width)
        .map(|(_, reading)| reading)
}

/// Measures the counter's rate over `span` (sleeping; 100 ms gives a few ppm). Fails where there is no counter or it
/// stands still. This is the unit self-check: dividing ticks by a wrong rate once made a study 20 % wrong.
pub fn calibrate(span: Duration) -> Result<Calibration> {
    let what = "the cycle counter's calibration";
    let missing = || Error::unavailable(what, "this processor has no counter that we can read");
    let (ticks0, mono0, raw0) = joint().ok_or_else(missing)?;
    std::thread::sleep(span);
    let (ticks1, mono1, raw1) = joint().ok_or_else(missing)?;
    Calibration::new(
        ticks1.saturating_sub(ticks0),
        mono1.saturating_sub(mono0),
        raw1.saturating_sub(raw0),
        stated_tick_hz(),
    )
    .ok_or_else(|| Error::unavailable(what, "a clock stood still"))
}

/// This boot's random id (/proc): it changes with each reboot and is the same in all containers. Fails when it cannot
/// be read.
pub fn boot_id() -> Result<String> {
    let path = "/proc/sys/kernel/random/boot_id";
    let text = std::fs::read_to_string(path).map_err(|e| Error::os(format!("read {path}"), e))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_steps_back() {
        let mut last = now_ns();
        for _ in 0..100_000 {
            let now = now_ns();
            assert!(now >= last);
            last = now;
        }
        assert!(raw_ns() > 0);
        assert!(wall_ns() > 1_700_000_000 * GIGA);
    }

    #[test]
    fn cpu_time_grows_with_work() {
        let (thread, process) = (thread_cpu_ns(), process_cpu_ns());
        let mut sum = 0u64;
        for i in 0..2_000_000u64 {
            sum = std::hint::black_box(sum.wrapping_add(i));
        }
        assert!(thread_cpu_ns() > thread);
        assert!(process_cpu_ns() > process);
    }

    #[test]
    fn steps_are_sane() {
        assert!(resolution_ns().is_ok_and(|ns| ns > 0));
        assert!(smallest_step_ns().is_some_and(|ns| ns < 10_000_000));
    }

    #[test]
    fn calibration_names_a_wrong_unit() {
        let right = Calibration::new(2_600_000, 1_000_000, 1_000_000, Some(2.6e9));
        assert!(right.is_some_and(|c| c.disagreement < 1e-9 && c.to_ns(2600).round() == 1000.0));
        let wrong = Calibration::new(2_600_000, 1_000_000, 1_000_000, Some(2.1e9));
        assert!(wrong.is_some_and(|c| (c.disagreement - 0.5 / 2.6).abs() < 1e-9));
        assert_eq!(Calibration::new(0, 1, 1, None), None);
        assert_eq!(Calibration::new(1, 0, 1, None), None);
    }

    #[test]
    fn calibrates_here() {
        let c = calibrate(Duration::from_millis(20));
        assert!(c.is_ok_and(|c| c.monotonic_hz > 1e6 && c.monotonic_hz < 1e10));
    }

    #[test]
    fn sleep_until_reaches_its_time() {
        let at = now_ns() + 2_000_000;
        sleep_until(at);
        assert!(now_ns() >= at);
        sleep_until(at - 1);
    }

    #[test]
    fn boot_id_is_a_uuid() {
        assert!(boot_id().is_ok_and(|id| id.len() == 36));
    }
}
