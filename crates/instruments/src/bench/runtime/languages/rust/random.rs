//! SciMark2's generator: a subtractive lagged Fibonacci sequence of 17 numbers below 2^31 - 1, as numbers in [0, 1].
//!
//! SciMark2's generator asks with each number whether it was made for another range than [0, 1]. None of these is, but
//! the question is part of the work in every language.

use crate::memory::{self, Matrix};

const LAGS: usize = 17;
const MODULUS: i32 = i32::MAX;
const HALF_WORD: i32 = 65_536;
const MULTIPLIER: i32 = 9069;
const SCALE: f64 = 1.0 / MODULUS as f64;

pub struct Random {
    lags: [i32; LAGS],
    minuend: usize,
    place: usize,
    range: Option<Range>,
}

struct Range {
    low: f64,
    width: f64,
}

impl Random {
    pub fn new(seed: i32) -> Self {
        let state = if seed % 2 == 0 { seed - 1 } else { seed };
        let (mut low, mut high) = (state % HALF_WORD, state / HALF_WORD);
        let lags = [(); LAGS].map(|()| {
            let product = low * MULTIPLIER;
            high = (product / HALF_WORD + high * MULTIPLIER) % (HALF_WORD / 2);
            low = product % HALF_WORD;
            low + HALF_WORD * high
        });
        Self { lags, minuend: 4, place: LAGS - 1, range: None }
    }

    pub fn next(&mut self) -> f64 {
        let mut number = self.lags[self.minuend] - self.lags[self.place];
        if number < 0 {
            number += MODULUS;
        }
        self.lags[self.place] = number;
        self.minuend = if self.minuend == 0 { LAGS - 1 } else { self.minuend - 1 };
        self.place = if self.place == 0 { LAGS - 1 } else { self.place - 1 };
        let fraction = SCALE * f64::from(number);
        match &self.range {
            Some(range) => range.low + fraction * range.width,
            None => fraction,
        }
    }

    pub fn vector(&mut self, count: usize) -> Result<Vec<f64>, String> {
        let mut vector = memory::vector(count, 0.0)?;
        vector.fill_with(|| self.next());
        Ok(vector)
    }

    pub fn matrix(&mut self, rows: usize, columns: usize) -> Result<Matrix, String> {
        (0..rows).map(|_| self.vector(columns)).collect()
    }
}
