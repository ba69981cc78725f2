//! CRC-32C (Castagnoli), the same function by several ways.
//!
//! All take and return the running state: start from `!0` and invert the result for the standard checksum
//! (RFC 3720, B.4). Bytes in, 32 bits out.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod shift;
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(target_arch = "x86")]
use x86 as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

use shift::POLY;
pub use shift::Run;

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

/// One dependent chain of the CRC instruction, eight bytes at a time, then single bytes: the way of the
/// 2010 benchmarks. `None` on a processor without the instruction.
pub fn chain() -> Option<Run> {
    arch::chain()
}

/// The fastest way that this processor has.
pub fn fast() -> Run {
    ways().first().map_or(table, |(_, run)| *run)
}

/// Every way that this processor has, the fastest first, with its name.
pub fn ways() -> Vec<(&'static str, Run)> {
    let mut ways = arch::ways();
    ways.push(("table", table));
    ways
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
mod arch {
    use super::Run;

    pub fn chain() -> Option<Run> {
        None
    }

    pub fn ways() -> Vec<(&'static str, Run)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bit by bit, straight from the definition.
    fn slow(state: u32, data: &[u8]) -> u32 {
        let step = |state: u32, _| (state >> 1) ^ (POLY & 0u32.wrapping_sub(state & 1));
        data.iter().fold(state, |state, byte| (0..8).fold(state ^ u32::from(*byte), step))
    }

    fn all_ways() -> Vec<(&'static str, Run)> {
        let mut all = ways();
        all.extend(chain().map(|run| ("chain", run)));
        all
    }

    /// RFC 3720, B.4, and the check value of the catalogues.
    #[test]
    fn known_answers() {
        let counting: Vec<u8> = (0..32).collect();
        let falling: Vec<u8> = (0..32).rev().collect();
        let read_command: [u8; 48] = [
            0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0,
            0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
        ];
        let cases: [(&[u8], u32); 7] = [
            (b"", 0),
            (b"123456789", 0xe306_9283),
            (&[0; 32], 0x8a91_36aa),
            (&[0xff; 32], 0x62a8_ab43),
            (&counting, 0x46dd_794e),
            (&falling, 0x113f_db5c),
            (&read_command, 0xd996_3a56),
        ];
        for (name, run) in all_ways() {
            for (data, crc) in cases {
                assert_eq!(!run(!0, data), crc, "{name}, {} bytes", data.len());
            }
        }
    }

    #[test]
    fn all_ways_agree_at_every_short_length() {
        let data = crate::bench::kernels::random::Random::new(1).bytes(1200);
        for length in 0..1100 {
            let part = &data[length % 67..][..length];
            let expected = slow(0x1234_5678, part);
            for (name, run) in all_ways() {
                assert_eq!(run(0x1234_5678, part), expected, "{name}, {length} bytes");
            }
        }
    }

    proptest! {
        #[test]
        fn all_ways_agree(seed: u64, state: u32, skip in 0usize..70, length in 0usize..70_000) {
            let data = crate::bench::kernels::random::Random::new(seed).bytes(skip + length);
            let expected = slow(state, &data[skip..]);
            for (name, run) in all_ways() {
                prop_assert_eq!(run(state, &data[skip..]), expected, "{}, {} bytes", name, length);
            }
        }

        #[test]
        fn a_split_changes_nothing(state: u32, seed: u64, left in 0usize..3000, right in 0usize..3000) {
            let data = crate::bench::kernels::random::Random::new(seed).bytes(left + right);
            for (_, run) in all_ways() {
                let parts = run(run(state, &data[..left]), &data[left..]);
                prop_assert_eq!(run(state, &data), parts);
            }
        }
    }
}
