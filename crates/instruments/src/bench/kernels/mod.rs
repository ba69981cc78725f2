//! The work itself, apart from how it is timed and reported: own code, tested against known answers.

pub mod aes;
pub mod buffer;
pub mod corpus;
pub mod crc32c;
pub mod gf2;
pub mod index;
pub mod ladder;
pub mod rabin;
pub mod random;
pub mod serial;
pub mod vmac;

use std::hint::black_box;

/// Copies item by item: a plain loop would become a call of the C library's `memcpy`.
pub fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = black_box(*from);
    }
}

/// Sets every item, without the C library's `memset`.
pub fn wipe<T: Copy>(items: &mut [T], value: T) {
    for item in items {
        *item = black_box(value);
    }
}
