//! Affine maps over 64 bits, `x -> Mx + c` in GF(2): what a linear checksum does to its running state.
//!
//! Repeating a map n times costs log n multiplications, so the exact state after billions of passes over
//! one buffer is known without passing over it; timed chains are checked with this.

/// `x -> Mx + c`; `columns[i]` is the image of bit `i` under M.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    columns: [u64; 64],
    constant: u64,
}

impl Affine {
    pub const IDENTITY: Affine = Affine { columns: identity(), constant: 0 };

    /// The map that `f` is, found by asking it for 0 and each single bit; the upper bits of a narrower state
    /// count as unused.
    pub fn from_function(bits: u32, f: impl Fn(u64) -> u64) -> Affine {
        let constant = f(0);
        let mut columns = [0; 64];
        for (bit, column) in (0..bits).zip(&mut columns) {
            *column = f(1 << bit) ^ constant;
        }
        Affine { columns, constant }
    }

    pub fn apply(&self, x: u64) -> u64 {
        self.linear(x) ^ self.constant
    }

    fn linear(&self, x: u64) -> u64 {
        let bits = self.columns.iter().enumerate();
        bits.fold(0, |sum, (bit, column)| if x >> bit & 1 == 1 { sum ^ column } else { sum })
    }

    /// First `self`, then `next`.
    pub fn then(&self, next: &Affine) -> Affine {
        Affine {
            columns: self.columns.map(|column| next.linear(column)),
            constant: next.apply(self.constant),
        }
    }

    /// `self`, `n` times over.
    pub fn power(&self, mut n: u64) -> Affine {
        let mut result = Affine::IDENTITY;
        let mut square = self.clone();
        while n > 0 {
            if n & 1 == 1 {
                result = result.then(&square);
            }
            square = square.then(&square);
            n >>= 1;
        }
        result
    }
}

const fn identity() -> [u64; 64] {
    let mut columns = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        columns[bit] = 1 << bit;
        bit += 1;
    }
    columns
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_power_is_a_repetition(columns in any::<[u64; 32]>(), constant: u64, start: u64, n in 0u64..40) {
            let mut map = Affine { columns: [0; 64], constant };
            map.columns[..32].copy_from_slice(&columns);
            let expected = (0..n).fold(start, |x, _| map.apply(x));
            prop_assert_eq!(map.power(n).apply(start), expected);
        }

        #[test]
        fn asking_for_bits_finds_the_map(factor: u64, constant: u64, x: u64) {
            let f = |x: u64| (x << 7) ^ (x >> 3) ^ (x & factor) ^ constant;
            prop_assert_eq!(Affine::from_function(64, f).apply(x), f(x));
        }
    }
}
