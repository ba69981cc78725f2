//! Factors that move a piece of a message, or a state, towards the end of the message. Constants of the compiler.

/// A way to run bytes through the checksum: state before, bytes, state after.
pub type Run = fn(u32, &[u8]) -> u32;

/// The polynomial, bits reversed.
pub(super) const POLY: u32 = 0x82f6_3b78;

/// The product modulo the polynomial, bits reversed.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn times(mut a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    while b != 0 {
        // The highest bit of `b` is its constant term.
        if b >> 31 == 1 {
            product ^= a;
        }
        b <<= 1;
        a = (a >> 1) ^ (POLY & 0u32.wrapping_sub(a & 1));
    }
    product
}

/// x^n modulo the polynomial, bits reversed.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn x_to(n: usize) -> u32 {
    let mut power = 1 << 31;
    let mut square = 1 << 30;
    let mut left = n;
    while left > 0 {
        if left & 1 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        left >>= 1;
    }
    power
}

/// Factors that move a 128-bit piece `bits` further on by carry-less multiplication: the first for its
/// first eight bytes, the second for the others. A product of bit-reversed numbers is short of one x.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const fn fold_by(bits: usize) -> [u64; 2] {
    [(x_to(bits + 63) as u64) << 32, (x_to(bits - 1) as u64) << 32]
}

/// Factors that move a 32-bit state past `(index + 1) * step` bytes: the product, of 64 bits, still goes
/// through one CRC instruction of eight bytes, which moves it by 32 of the bits, and is short of one x.
#[cfg(target_arch = "x86_64")]
pub(super) const fn skip_by<const N: usize>(step: usize) -> [u32; N] {
    let mut factors = [0; N];
    let mut index = 0;
    let mut factor = x_to(step * 8 - 33);
    while index < N {
        factors[index] = factor;
        factor = times(factor, x_to(step * 8));
        index += 1;
    }
    factors
}
