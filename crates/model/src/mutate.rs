//! Bytes as no parser expects them: a seed cut, with stretches deleted and repeated, bits flipped, bytes set and texts
//! planted. The same seed and numbers give the same bytes, so that a failure repeats.
//!
//! For the tests of every crate that parses what comes from outside; nothing else calls it. How long to go on is
//! theirs: here is no clock.

/// Changes of one seed at the most; none leave it as it is.
const MOST_CHANGES: usize = 7;
/// Bytes that one change deletes or repeats, at the most.
const LONGEST: usize = 63;

/// Numbers from a seed (splitmix64), the same in every build.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Any number of 64 bits.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`; 0 where there is none.
    pub fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.roll() % count).unwrap_or(0)
    }

    /// A place in `0..=len`.
    pub fn place(&mut self, len: usize) -> usize {
        self.below(len.saturating_add(1))
    }

    /// One of them; none of none.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// `seed` with up to seven changes; `plants` are what its parser trips over.
pub fn mutate(seed: &[u8], plants: &[&[u8]], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..dice.place(MOST_CHANGES) {
        let at = dice.place(bytes.len());
        let end = (at + dice.place(LONGEST)).min(bytes.len());
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            3 => {
                let plant = dice.pick(plants).copied().unwrap_or_default();
                drop(bytes.splice(at..at, plant.iter().copied()));
            }
            4 => {
                let bit = dice.below(8);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
            }
            _ => {
                let [value, ..] = dice.roll().to_le_bytes();
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = value);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SEED: &[u8] = b"GET /a HTTP/1.1\r\nHost: b\r\n\r\n";

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let of = |seed| {
            let mut dice = Dice::new(seed);
            (0..50).map(|_| mutate(SEED, &[b"\0"], &mut dice)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn every_kind_of_change_comes_and_so_does_none() {
        let mut dice = Dice::new(7);
        let all: BTreeSet<Vec<u8>> = (0..2000).map(|_| mutate(SEED, &[b"PLANTED"], &mut dice)).collect();
        assert!(all.contains(SEED) && all.len() > 1000, "{}", all.len());
        let any = |is: &dyn Fn(&[u8]) -> bool| all.iter().any(|bytes| is(bytes));
        assert!(any(&|bytes| bytes.windows(7).any(|window| window == b"PLANTED")));
        assert!(any(&|bytes| bytes.len() < SEED.len() && SEED.starts_with(bytes)), "cut");
        assert!(any(&|bytes| bytes.len() < SEED.len() && SEED.ends_with(bytes)), "deleted");
        assert!(
            any(&|bytes| bytes.len() > SEED.len() && bytes.iter().all(|byte| SEED.contains(byte))),
            "repeated"
        );
        let differing = |bytes: &[u8]| bytes.iter().zip(SEED).filter(|(a, b)| a != b).count();
        assert!(any(&|bytes| bytes.len() == SEED.len() && differing(bytes) == 1), "set or flipped");
    }

    #[test]
    fn nothing_to_change_is_no_panic() {
        let mut dice = Dice::new(3);
        for _ in 0..500 {
            assert!(mutate(b"", &[], &mut dice).is_empty());
        }
        assert_eq!((dice.below(0), dice.pick::<u8>(&[])), (0, None));
    }
}
