//! CRC-32C on any x86: the SSE4.2 instruction.

#[cfg(target_arch = "x86")]
use std::arch::x86::{_mm_crc32_u8, _mm_crc32_u32};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};

use super::shift::Run;

/// One dependent chain of the instruction.
pub fn chain() -> Option<Run> {
    #[expect(unsafe_code, reason = "the processor's features are asked at run time")]
    fn call(state: u32, data: &[u8]) -> u32 {
        // SAFETY: this function is handed out only where SSE4.2 was found.
        unsafe { chained(state, data) }
    }
    is_x86_feature_detected!("sse4.2").then_some(call)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
#[expect(clippy::cast_possible_truncation, reason = "the instruction clears the upper half of its result")]
fn chained(state: u32, data: &[u8]) -> u32 {
    let (chunks, rest) = data.as_chunks::<8>();
    let wide =
        chunks.iter().fold(u64::from(state), |state, chunk| _mm_crc32_u64(state, u64::from_le_bytes(*chunk)));
    rest.iter().fold(wide as u32, |state, byte| _mm_crc32_u8(state, *byte))
}

/// Four bytes at a time: 32-bit code has no wider form of the instruction.
#[cfg(target_arch = "x86")]
#[target_feature(enable = "sse4.2")]
fn chained(state: u32, data: &[u8]) -> u32 {
    let (chunks, rest) = data.as_chunks::<4>();
    let state = chunks.iter().fold(state, |state, chunk| _mm_crc32_u32(state, u32::from_le_bytes(*chunk)));
    rest.iter().fold(state, |state, byte| _mm_crc32_u8(state, *byte))
}

#[cfg(target_arch = "x86")]
pub fn ways() -> Vec<(&'static str, Run)> {
    chain().map(|run| ("chain", run)).into_iter().collect()
}
