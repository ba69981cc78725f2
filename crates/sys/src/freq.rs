//! The core's true clock, in hertz, from a chain of dependent register additions.
//!
//! Each addition needs the result of the one before, so the chain takes one core cycle each, and
//! additions / second = clock. Right on every x86 since the Pentium M (Core, Atom, Zen) and every
//! AArch64 core (Cortex-A, Neoverse, Ampere, Apple): register-register ADD has a latency of one
//! cycle on all of them. The operand is a register on purpose: Golden Cove and later Intel cores
//! do `add reg, immediate` at rename, several a cycle, and would look several times too fast.
//! On NetBurst, and under emulation, the figure is additions per second and nothing more.
//!
//! It sees only what the calling thread's core does while asked, so pin the thread first. The
//! *best* of many short windows is taken: interrupts, steal and other threads only make windows
//! longer. A core shared with another hardware thread keeps its figure (one chain leaves most of
//! the core idle); the clock's step adds at most step / window (below 0.1 % for 50 us).

use crate::clock::now_ns;
use std::hint::black_box;

/// Additions in one unrolled block: long, so that the loop's own two instructions cost below 1 %
/// on in-order cores and nothing on others.
const BLOCK: u64 = 256;

/// Number and width of windows for a trustworthy estimate.
pub const WINDOWS: u32 = 20;
pub const WINDOW_NS: u64 = 50_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequency {
    /// The clock in the best window.
    pub best_hz: f64,
    /// The clock in the median window; far below `best_hz` means interruptions or a changing clock.
    pub median_hz: f64,
    /// Windows measured.
    pub windows: u32,
}

/// Runs `blocks` x [`BLOCK`] dependent additions.
#[inline(never)]
fn chain(blocks: u64) -> usize {
    let mut sum: usize = black_box(0);
    let one: usize = black_box(1);
    // A 32-bit target counts in 32 bits; no caller comes near that.
    let mut left = usize::try_from(blocks.max(1)).unwrap_or(usize::MAX);
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    // SAFETY: registers only; `left` is at least 1, so the loop ends.
    unsafe {
        core::arch::asm!(
            "2:",
            ".rept 256",
            "add {sum}, {one}",
            ".endr",
            "dec {left}",
            "jnz 2b",
            sum = inout(reg) sum,
            one = in(reg) one,
            left = inout(reg) left,
            options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: registers only; `left` is at least 1, so the loop ends.
    unsafe {
        core::arch::asm!(
            "2:",
            ".rept 256",
            "add {sum}, {sum}, {one}",
            ".endr",
            "subs {left}, {left}, #1",
            "b.ne 2b",
            sum = inout(reg) sum,
            one = in(reg) one,
            left = inout(reg) left,
            options(nomem, nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    for _ in 0..left * 256 {
        sum = black_box(sum.wrapping_add(one));
    }
    black_box(left);
    sum
}

fn timed(blocks: u64) -> u64 {
    let start = now_ns();
    black_box(chain(blocks));
    now_ns().saturating_sub(start)
}

/// Blocks that fill about `window_ns`; `None` if the clock does not move.
fn blocks_for(window_ns: u64) -> Option<u64> {
    let probe = 64u64;
    // The first call warms the code; the best of a few ignores interruptions.
    let took = (0..8).map(|_| timed(probe)).filter(|&ns| ns > 0).min()?;
    let blocks = u128::from(probe) * u128::from(window_ns) / u128::from(took);
    Some(u64::try_from(blocks).ok()?.clamp(1, 1 << 24))
}

/// Measures the clock of the core that runs this thread, in `windows` windows of about
/// `window_ns` each ([`WINDOWS`] and [`WINDOW_NS`] are good). `None` where the processor has no
/// chain of known latency here, without windows, or when the clock stands still.
pub fn true_hz(windows: u32, window_ns: u64) -> Option<Frequency> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")) {
        return None;
    }
    let blocks = blocks_for(window_ns)?;
    let additions = (blocks * BLOCK) as f64;
    let mut rates: Vec<f64> = (0..windows)
        .map(|_| timed(blocks))
        .filter(|&ns| ns > 0)
        .map(|ns| additions * 1e9 / ns as f64)
        .collect();
    rates.sort_by(f64::total_cmp);
    Some(Frequency {
        best_hz: *rates.last()?,
        median_hz: *rates.get(rates.len() / 2)?,
        windows: u32::try_from(rates.len()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_adds() {
        assert_eq!(chain(1), 256);
        assert_eq!(chain(1000), 256_000);
        assert_eq!(chain(0), 256);
    }

    #[test]
    fn gives_a_plausible_clock() {
        let f = true_hz(WINDOWS, WINDOW_NS);
        assert!(
            f.is_some_and(|f| (1e8..1e10).contains(&f.best_hz)
                && f.median_hz <= f.best_hz
                && f.windows == WINDOWS),
            "{f:?}"
        );
    }

    #[test]
    fn no_windows_no_figure() {
        assert_eq!(true_hz(0, WINDOW_NS), None);
    }
}
