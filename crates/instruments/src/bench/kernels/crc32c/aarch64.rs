//! CRC-32C on AArch64: the CRC extension, and folding by polynomial multiplication (PMULL).

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::shift::{Run, fold_by};

/// One dependent chain of the instruction.
pub fn chain() -> Option<Run> {
    #[expect(unsafe_code, reason = "the processor's features are asked at run time")]
    fn call(state: u32, data: &[u8]) -> u32 {
        // SAFETY: this function is handed out only where the CRC extension was found.
        unsafe { chained(state, data) }
    }
    is_aarch64_feature_detected!("crc").then_some(call)
}

/// Every way that this processor has, the fastest first.
pub fn ways() -> Vec<(&'static str, Run)> {
    #[expect(unsafe_code, reason = "the processor's features are asked at run time")]
    fn call(state: u32, data: &[u8]) -> u32 {
        // SAFETY: this function is handed out only where its features were found.
        unsafe { pmull(state, data) }
    }
    let folds = is_aarch64_feature_detected!("crc")
        && is_aarch64_feature_detected!("aes")
        && is_aarch64_feature_detected!("neon");
    let folding: Option<(&'static str, Run)> = folds.then_some(("pmull", call));
    folding.into_iter().chain(chain().map(|run| ("chain", run))).collect()
}

#[target_feature(enable = "crc")]
fn chained(state: u32, data: &[u8]) -> u32 {
    let (chunks, rest) = data.as_chunks::<8>();
    let state = chunks.iter().fold(state, |state, chunk| __crc32cd(state, u64::from_le_bytes(*chunk)));
    rest.iter().fold(state, |state, byte| __crc32cb(state, *byte))
}

const PIECE: usize = 16;
const BY_1024: [u64; 2] = fold_by(1024);
const BY_128: [u64; 2] = fold_by(128);

#[inline]
#[target_feature(enable = "neon")]
fn load(piece: &[u8; PIECE]) -> u128 {
    u128::from_le_bytes(*piece)
}

/// `piece`, moved on by what `factors` say, plus `more`.
#[inline]
#[target_feature(enable = "neon,aes")]
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a vector")]
fn fold(piece: u128, factors: [u64; 2], more: u128) -> u128 {
    let [first, second] = factors;
    vmull_p64(piece as u64, first) ^ vmull_p64((piece >> 64) as u64, second) ^ more
}

/// Eight pieces at a time, then one by one, then the instruction.
#[target_feature(enable = "neon,aes,crc")]
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a vector")]
fn pmull(state: u32, data: &[u8]) -> u32 {
    let (pieces, rest) = data.as_chunks::<PIECE>();
    let (eights, singles) = pieces.as_chunks::<8>();
    let Some((first, eights)) = eights.split_first() else {
        return chained(state, data);
    };
    let mut sums = [0u128; 8];
    for (sum, piece) in sums.iter_mut().zip(first) {
        *sum = load(piece);
    }
    sums[0] ^= u128::from(state);
    for eight in eights {
        for (sum, piece) in sums.iter_mut().zip(eight) {
            *sum = fold(*sum, BY_1024, load(piece));
        }
    }
    let [start, others @ ..] = sums;
    let sum = others.iter().fold(start, |sum, next| fold(sum, BY_128, *next));
    let sum = singles.iter().fold(sum, |sum, piece| fold(sum, BY_128, load(piece)));
    let state = __crc32cd(__crc32cd(0, sum as u64), (sum >> 64) as u64);
    chained(state, rest)
}
