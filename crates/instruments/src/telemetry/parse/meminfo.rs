//! /proc/meminfo: amounts of memory in bytes.

use super::pairs;

/// Bytes; the file says kB and means KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Memory that the kernel may use.
    pub total: Option<u64>,
    pub available: Option<u64>,
    /// Page cache and buffers.
    pub cached: Option<u64>,
    /// Written by programs but not yet to disk.
    pub dirty: Option<u64>,
    /// Memory that was moved to swap.
    pub swap_used: Option<u64>,
}

pub fn parse(bytes: &[u8]) -> Memory {
    let names = [
        "MemTotal:",
        "MemAvailable:",
        "Cached:",
        "Buffers:",
        "Dirty:",
        "Writeback:",
        "SwapTotal:",
        "SwapFree:",
    ];
    let [whole, available, cached, buffers, dirty, writeback, total, free] = pairs::pick(bytes, names);
    let bytes = |kib: Option<u64>| kib?.checked_mul(1024);
    let both = |a: Option<u64>, b: Option<u64>| bytes(a?.checked_add(b?));
    let swap_used = total.zip(free).and_then(|(total, free)| bytes(total.checked_sub(free)));
    Memory {
        total: bytes(whole),
        available: bytes(available),
        cached: both(cached, buffers),
        dirty: both(dirty, writeback),
        swap_used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file() {
        let memory = parse(include_bytes!("fixtures/meminfo"));
        assert_eq!(memory.available, Some(18_099_020 << 10));
        assert_eq!(memory.cached, Some((8_859_776 + 105_372) << 10));
        assert_eq!(memory.dirty, Some((181_136 + 12) << 10));
        assert_eq!(memory.swap_used, Some(1000 << 10));
        assert_eq!(parse(b"MemAvailable: many kB\n"), Memory::default());
        assert_eq!(parse(b"SwapTotal: 1 kB\nSwapFree: 2 kB\n").swap_used, None);
    }
}
