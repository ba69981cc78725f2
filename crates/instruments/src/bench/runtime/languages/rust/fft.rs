//! Fourier transform of complex numbers, in place, of radix 2. One cycle is a transform and the inverse one.
//!
//! SciMark2 counts (5 N - 2) log2 N + 2 (N + 1) operations a cycle, which is one transform of the two. Real and imaginary
//! parts alternate.

use std::f64::consts::PI;

use crate::check::Check;
use crate::kernel::{Kernel, Size, SEED};
use crate::random::Random;

pub struct Fft {
    data: Vec<f64>,
}

impl Fft {
    pub fn new(size: &Size) -> Result<Self, String> {
        Ok(Self { data: Random::new(SEED).vector(2 * size.fft_points)? })
    }

    /// The root of the mean square of what differs from the input, which is generated once more.
    fn difference(&self) -> f64 {
        let mut random = Random::new(SEED);
        let squares = self.data.iter().fold(0.0, |squares, value| {
            let difference = value - random.next();
            squares + difference * difference
        });
        f64::sqrt(squares / self.data.len() as f64)
    }
}

impl Kernel for Fft {
    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            transform(&mut self.data, -1.0);
            inverse(&mut self.data);
        }
    }

    fn check(&mut self, check: &mut Check) {
        transform(&mut self.data, -1.0);
        check.digest("forward", [&self.data[..]]);
        inverse(&mut self.data);
        check.digest("inverse", [&self.data[..]]);
        check.real("rms", self.difference());
    }

    fn sum(&self) -> f64 {
        self.data.iter().sum()
    }
}

/// Swaps each point with the one whose index has the same bits in reverse, where that stands behind it.
fn reverse_bits(data: &mut [f64]) {
    let points = data.len() / 2;
    let mut reversed = 0;
    for i in 0..points - 1 {
        if i < reversed {
            data.swap(2 * i, 2 * reversed);
            data.swap(2 * i + 1, 2 * reversed + 1);
        }
        // Adds one to the reversed index: the carry runs from the highest bit down.
        let mut bit = points >> 1;
        while bit <= reversed {
            reversed -= bit;
            bit >>= 1;
        }
        reversed += bit;
    }
}

/// Direction -1 is forward, +1 is inverse without its factor.
fn transform(data: &mut [f64], direction: f64) {
    let points = data.len() / 2;
    reverse_bits(data);
    let mut half = 1;
    while half < points {
        let angle = direction * PI / half as f64;
        let sine = f64::sin(angle);
        let half_sine = f64::sin(angle / 2.0);
        let versine = 2.0 * half_sine * half_sine;
        let (mut re, mut im) = (1.0, 0.0);
        for block in (0..points).step_by(2 * half) {
            let odd = 2 * (block + half);
            butterfly(data, 2 * block, odd, data[odd], data[odd + 1]);
        }
        for offset in 1..half {
            // Turns the factor by the angle.
            (re, im) = (re - sine * im - versine * re, im + sine * re - versine * im);
            for block in (0..points).step_by(2 * half) {
                let even = 2 * (block + offset);
                let odd = 2 * (block + offset + half);
                let (odd_re, odd_im) = (data[odd], data[odd + 1]);
                butterfly(data, even, odd, re * odd_re - im * odd_im, re * odd_im + im * odd_re);
            }
        }
        half *= 2;
    }
}

/// The two points become their sum and their difference, of which (re, im) is the second, turned.
fn butterfly(data: &mut [f64], even: usize, odd: usize, re: f64, im: f64) {
    data[odd] = data[even] - re;
    data[odd + 1] = data[even + 1] - im;
    data[even] += re;
    data[even + 1] += im;
}

fn inverse(data: &mut [f64]) {
    transform(data, 1.0);
    let factor = 1.0 / (data.len() / 2) as f64;
    for value in data {
        *value *= factor;
    }
}
