//! Bytes that start at a page: where a buffer happens to lie must not move a figure.

use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

/// A number of bytes, the first at a multiple of 4096.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    from: usize,
    size: usize,
}

impl Buffer {
    pub fn zeroed(size: usize) -> Buffer {
        let bytes = vec![0; size + PAGE];
        let from = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        Buffer { bytes, from, size }
    }

    pub fn random(size: usize, seed: u64) -> Buffer {
        let mut buffer = Buffer::zeroed(size);
        super::random::Random::new(seed).fill(&mut buffer);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[self.from..][..self.size]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..][..self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_at_pages_and_repeat() {
        for size in [0, 1, 4095, 4096, 100_000] {
            let buffer = Buffer::random(size, 5);
            assert_eq!((buffer.len(), buffer.as_ptr().addr() % PAGE), (size, 0));
            assert_eq!(*buffer, *Buffer::random(size, 5));
        }
    }
}
