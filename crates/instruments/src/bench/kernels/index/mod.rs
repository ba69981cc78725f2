//! The parts of the three indices: small programs of known work, each with a checked result.
//!
//! A part does the same work from the same start each time, so its result never changes. The part's own test proves
//! the first result right (sorted, decoded back, small residual); later ones are compared with it. Own code
//! throughout: no part calls the C library, and floating parts use only operations that IEEE 754 defines to the last
//! bit. Copying the start state is part of the work.

pub mod floating;
pub mod huffman;
pub mod integer;
pub mod memory;

use std::hint::black_box;

use model::Fault;

/// One small program, ready to run.
pub struct Part {
    pub name: &'static str,
    /// Elementary operations in one run, as the part's documentation counts them.
    pub ops: f64,
    /// Runs in a round: parts take roughly equal time on a machine of 2023.
    pub runs: u32,
    /// Does the work once and gives a digest of the result.
    pub work: Box<dyn FnMut() -> u64>,
    /// The digest that a right result has.
    pub expected: u64,
}

impl Part {
    /// A part: runs `work` once to learn its digest. Fails unless `proof` says that its result is right.
    pub fn proved(
        name: &'static str,
        ops: f64,
        runs: u32,
        mut work: Box<dyn FnMut() -> u64>,
        proof: bool,
    ) -> Result<Part, Fault> {
        if !proof {
            return Err(Fault::new(format!("{name} gave a wrong result")));
        }
        let expected = work();
        Ok(Part { name, ops, runs, work, expected })
    }

    /// Runs the part's share of a round. Fails when a result differs.
    pub fn run(&mut self, runs: u32) -> Result<(), Fault> {
        for _ in 0..runs {
            let digest = black_box((self.work)());
            if digest != self.expected {
                return Err(Fault::new(format!("{} gave another result than before", self.name)));
            }
        }
        Ok(())
    }
}

/// FNV-1a over words: a digest for comparing results, cheap beside the work.
pub fn digest(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
}

/// Text of frequent short words and rare long ones, as the text parts read it.
pub fn text(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = super::random::Random::new(seed);
    let words: Vec<Vec<u8>> = (0..400u64)
        .map(|rank| {
            let length = 2 + random.below(3 + rank / 50);
            (0..length).map(|_| b"etaoinshrdlucmfwypvbgk"[letter(&mut random)]).collect()
        })
        .collect();
    let mut text = Vec::with_capacity(bytes + 16);
    while text.len() < bytes {
        // The square makes low ranks frequent.
        let rank = (random.unit() * random.unit() * 400.0).floor();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 399")]
        text.extend_from_slice(&words[(rank as usize).min(399)]);
        text.push(if random.below(12) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(bytes);
    text
}

fn letter(random: &mut super::random::Random) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 21")]
    let index = (random.unit() * random.unit() * 22.0) as usize;
    index.min(21)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_proves_itself_and_repeats() {
        for parts in [memory::parts(1), integer::parts(1), floating::parts(1)] {
            let mut parts = parts.unwrap();
            assert!(parts.len() >= 3);
            for part in &mut parts {
                assert!(part.ops > 0.0 && part.runs > 0);
                part.run(2).unwrap();
                part.expected ^= 1;
                assert!(part.run(1).is_err(), "{} accepts a wrong result", part.name);
            }
        }
    }

    #[test]
    fn the_text_is_always_the_same() {
        assert_eq!(text(5000, 3), text(5000, 3));
        assert_ne!(text(5000, 3), text(5000, 4));
        assert_eq!(
            digest(text(64, 1).into_iter().map(u64::from)),
            digest(text(64, 1).into_iter().map(u64::from))
        );
    }
}
