//! CRC-32C (Castagnoli), the same function by several ways.
//!
//! All take and return the running state: start from `!0` and invert the result for the standard checksum
//! (RFC 3720, B.4). Bytes in, 32 bits out.

/// The polynomial, bits reversed.
const POLY: u32 = 0x82f6_3b78;

/// `TABLES[k][b]`: what byte `b` becomes after `k` further zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let mut state = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            state = (state >> 1) ^ (POLY & 0u32.wrapping_sub(state & 1));
            bit += 1;
        }
        tables[0][byte] = state;
        byte += 1;
    }
    let mut level = 1;
    while level < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[level - 1][byte];
            tables[level][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        level += 1;
    }
    tables
}

/// Eight table look-ups for eight bytes; needs no instruction of its own.
#[must_use]
pub fn table(mut state: u32, data: &[u8]) -> u32 {
    let (chunks, rest) = data.as_chunks::<8>();
    for chunk in chunks {
        let [a, b, c, d, e, f, g, h] = *chunk;
        let [s0, s1, s2, s3] = state.to_le_bytes();
        state = TABLES[7][usize::from(a ^ s0)]
            ^ TABLES[6][usize::from(b ^ s1)]
            ^ TABLES[5][usize::from(c ^ s2)]
            ^ TABLES[4][usize::from(d ^ s3)]
            ^ TABLES[3][usize::from(e)]
            ^ TABLES[2][usize::from(f)]
            ^ TABLES[1][usize::from(g)]
            ^ TABLES[0][usize::from(h)];
    }
    for byte in rest {
        let [low, ..] = state.to_le_bytes();
        state = (state >> 8) ^ TABLES[0][usize::from(low ^ byte)];
    }
    state
}

/// One dependent chain of the CRC instruction, eight bytes at a time, then single bytes; the way of the
/// 2010 benchmarks. `None` on a processor without the instruction.
pub fn chain() -> Option<fn(u32, &[u8]) -> u32> {
    arch::chain()
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};

    pub fn chain() -> Option<fn(u32, &[u8]) -> u32> {
        #[expect(unsafe_code, reason = "the CPU feature is checked at run time")]
        fn call(state: u32, data: &[u8]) -> u32 {
            // SAFETY: this function is handed out only after SSE4.2 was detected.
            unsafe { chained(state, data) }
        }
        is_x86_feature_detected!("sse4.2").then_some(call)
    }

    #[target_feature(enable = "sse4.2")]
    #[expect(clippy::cast_possible_truncation, reason = "the upper half of the instruction's result is 0")]
    fn chained(state: u32, data: &[u8]) -> u32 {
        let (chunks, rest) = data.as_chunks::<8>();
        let mut wide = u64::from(state);
        for chunk in chunks {
            wide = _mm_crc32_u64(wide, u64::from_le_bytes(*chunk));
        }
        let mut state = wide as u32;
        for &byte in rest {
            state = _mm_crc32_u8(state, byte);
        }
        state
    }
}

#[cfg(target_arch = "x86")]
mod arch {
    use std::arch::x86::{_mm_crc32_u8, _mm_crc32_u32};

    pub fn chain() -> Option<fn(u32, &[u8]) -> u32> {
        #[expect(unsafe_code, reason = "the CPU feature is checked at run time")]
        fn call(state: u32, data: &[u8]) -> u32 {
            // SAFETY: this function is handed out only after SSE4.2 was detected.
            unsafe { chained(state, data) }
        }
        is_x86_feature_detected!("sse4.2").then_some(call)
    }

    /// Four bytes at a time: 32-bit code has no wider form of the instruction.
    #[target_feature(enable = "sse4.2")]
    fn chained(mut state: u32, data: &[u8]) -> u32 {
        let (chunks, rest) = data.as_chunks::<4>();
        for chunk in chunks {
            state = _mm_crc32_u32(state, u32::from_le_bytes(*chunk));
        }
        for &byte in rest {
            state = _mm_crc32_u8(state, byte);
        }
        state
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use std::arch::aarch64::{__crc32cb, __crc32cd};
    use std::arch::is_aarch64_feature_detected;

    pub fn chain() -> Option<fn(u32, &[u8]) -> u32> {
        #[expect(unsafe_code, reason = "the CPU feature is checked at run time")]
        fn call(state: u32, data: &[u8]) -> u32 {
            // SAFETY: this function is handed out only after the CRC extension was detected.
            unsafe { chained(state, data) }
        }
        is_aarch64_feature_detected!("crc").then_some(call)
    }

    #[target_feature(enable = "crc")]
    fn chained(mut state: u32, data: &[u8]) -> u32 {
        let (chunks, rest) = data.as_chunks::<8>();
        for chunk in chunks {
            state = __crc32cd(state, u64::from_le_bytes(*chunk));
        }
        for &byte in rest {
            state = __crc32cb(state, byte);
        }
        state
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
mod arch {
    pub fn chain() -> Option<fn(u32, &[u8]) -> u32> {
        None
    }
}

/// The fastest way that this processor has.
pub fn fast() -> fn(u32, &[u8]) -> u32 {
    chain().unwrap_or(table)
}
