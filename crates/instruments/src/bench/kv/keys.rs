//! Keys of 30 bytes, as clusterperf has them, but of characters that every protocol takes.
//!
//! clusterperf's own begin with the four bytes of a number, which memcached's text protocol cannot carry. Ours begin
//! with a prefix that is drawn for each prepared test, so that they meet no key of the user's and can be found again.

use crate::bench::kernels::random::Random;

pub const KEY: usize = 30;
/// The one hot object of the first two eras of `basic`.
pub const HOT: &[u8; KEY] = b"123456789012345678901234567890";
const BEFORE: &[u8] = crate::workload::store_server::beside::PREFIX.as_bytes();
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Keys of one prepared test, in tables that are told apart by a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    of_test: u32,
}

impl Keys {
    pub fn new(of_test: u32) -> Keys {
        Keys { of_test }
    }

    /// As no other test at the same time has them.
    pub fn fresh() -> Keys {
        let time = sys::clock::wall_ns() ^ u64::from(std::process::id()) << 40 ^ sys::clock::now_ns();
        Keys { of_test: u32::try_from(Random::new(time).next() >> 32).unwrap_or(0) }
    }

    /// The common beginning of all these keys.
    pub fn prefix(self) -> String {
        format!("{}{:08x}:", String::from_utf8_lossy(BEFORE), self.of_test)
    }

    #[inline]
    pub fn write(self, table: u8, index: u32, into: &mut [u8; KEY]) {
        *into = [b'x'; KEY];
        let (head, rest) = into.split_at_mut(BEFORE.len());
        head.copy_from_slice(BEFORE);
        hex(self.of_test, rest.get_mut(..8).unwrap_or_default());
        if let Some([colon, letter]) = rest.get_mut(8..10) {
            (*colon, *letter) = (b':', table);
        }
        hex(index, rest.get_mut(10..18).unwrap_or_default());
    }

    pub fn key(self, table: u8, index: u32) -> [u8; KEY] {
        let mut key = [0; KEY];
        self.write(table, index, &mut key);
        key
    }
}

#[inline]
fn hex(number: u32, into: &mut [u8]) {
    let mut left = number;
    for place in into.iter_mut().rev() {
        *place = DIGITS.get((left & 15) as usize).copied().unwrap_or(b'0');
        left >>= 4;
    }
}

/// A value of so many bytes: text, the same everywhere, of which no part is like another.
pub fn value(size: usize) -> Vec<u8> {
    let mut random = Random::new(size as u64);
    (0..size).map(|_| DIGITS.get((random.next() >> 60) as usize).copied().unwrap_or(b'0')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_30_bytes_and_differ() {
        let keys = Keys::new(0xabc);
        assert_eq!(&keys.key(b'a', 0x12ef), b"boxscore:00000abc:a000012efxxx");
        assert!(keys.key(b'a', 7).starts_with(keys.prefix().as_bytes()));
        assert_ne!(keys.key(b'a', 7), keys.key(b'b', 7));
        assert_ne!(Keys::fresh(), Keys::fresh());
        assert_eq!(HOT.len(), KEY);
        assert_eq!(value(1000).len(), 1000);
        assert_ne!(value(1000)[..100], value(1000)[100..200]);
    }
}
