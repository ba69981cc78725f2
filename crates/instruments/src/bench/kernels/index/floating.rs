//! Floating-point parts: Fourier transform, linear equations, a small neural network, gravity.
//!
//! Double precision; only additions, multiplications, divisions and square roots, so every machine gets the
//! same bits. Operations are counted by the usual formulas:
//! - `fft`: 1024 complex points, forward and back; 5 n log2 n each way.
//! - `lu`: 64 linear equations with partial pivoting, factorised and solved; 2/3 n^3 + 2 n^2.
//! - `network`: 64 inputs, 32 hidden, 16 outputs, one step of learning; 6 for each weight.
//! - `gravity`: 16 bodies, 20 steps; 20 for each pair.

use model::Fault;

use super::{Part, digest};
use crate::bench::kernels::copy;
use crate::bench::kernels::random::Random;

/// The floating-point parts. Fails when a part's result is wrong.
pub fn parts(seed: u64) -> Result<Vec<Part>, Fault> {
    Ok(vec![fft(seed)?, lu(seed)?, network(seed)?, gravity(seed)?])
}

/// Between -1 and 1.
fn signed(random: &mut Random) -> f64 {
    2.0 * random.unit() - 1.0
}

const POINTS: usize = 1024;
type Complex = (f64, f64);

fn times((a, b): Complex, (c, d): Complex) -> Complex {
    (a * c - b * d, a * d + b * c)
}

/// `e^(2 pi i k / POINTS)` for the first half circle, by halving angles: no sine of any library.
fn roots() -> Vec<Complex> {
    let mut roots = vec![(1.0, 0.0); POINTS / 2];
    let (mut step, mut root) = (POINTS / 4, (0.0f64, 1.0f64));
    while step >= 1 {
        // Larger bits are done: numbers whose lowest bit this is come from those without it.
        for at in (step..POINTS / 2).step_by(2 * step) {
            roots[at] = times(roots[at - step], root);
        }
        let half = ((1.0 + root.0) / 2.0).sqrt();
        root = (half, root.1 / (2.0 * half));
        step /= 2;
    }
    roots
}

/// In place, by bit reversal and butterflies; `sign` is -1 forward, +1 back (unscaled).
fn transform(values: &mut [Complex], roots: &[Complex], sign: f64) {
    let bits = values.len().trailing_zeros();
    for at in 0..values.len() {
        let other = at.reverse_bits() >> (usize::BITS - bits);
        if at < other {
            values.swap(at, other);
        }
    }
    let mut half = 1;
    while half < values.len() {
        let stride = POINTS / 2 / half;
        for group in values.chunks_exact_mut(2 * half) {
            let (low, high) = group.split_at_mut(half);
            for ((a, b), root) in low.iter_mut().zip(high).zip(roots.iter().step_by(stride)) {
                let turned = times(*b, (root.0, sign * root.1));
                (*a, *b) = ((a.0 + turned.0, a.1 + turned.1), (a.0 - turned.0, a.1 - turned.1));
            }
        }
        half *= 2;
    }
}

fn fft(seed: u64) -> Result<Part, Fault> {
    let mut random = Random::new(seed);
    let start: Vec<Complex> = (0..POINTS).map(|_| (signed(&mut random), signed(&mut random))).collect();
    let roots = roots();
    let mut values = start.clone();
    transform(&mut values, &roots, -1.0);
    transform(&mut values, &roots, 1.0);
    let close = |(a, b): (&Complex, &Complex)| {
        (a.0 / 1024.0 - b.0).abs() < 1e-12 && (a.1 / 1024.0 - b.1).abs() < 1e-12
    };
    let proof = values.iter().zip(&start).all(close);
    let work = Box::new(move || {
        copy(&mut values, &start);
        transform(&mut values, &roots, -1.0);
        transform(&mut values, &roots, 1.0);
        digest(values.iter().step_by(16).map(|value| value.0.to_bits()))
    });
    Part::proved("fft", 2.0 * 5.0 * 1024.0 * 10.0, 40, work, proof)
}

const EQUATIONS: usize = 64;
type Row = [f64; EQUATIONS];

/// Swaps two rows number by number: swapping whole rows would be copies by the C library.
fn exchange(matrix: &mut [Row], row: usize, other: usize) {
    if let Ok([a, b]) = matrix.get_disjoint_mut([row, other]) {
        for (x, y) in a.iter_mut().zip(b) {
            std::mem::swap(x, y);
        }
    }
}

/// Solves `matrix x = right` in place; `right` becomes x. False when the matrix is singular.
fn solve(matrix: &mut [Row], right: &mut [f64]) -> bool {
    for column in 0..EQUATIONS {
        let mut pivot = column;
        for row in column + 1..EQUATIONS {
            if matrix[row][column].abs() > matrix[pivot][column].abs() {
                pivot = row;
            }
        }
        exchange(matrix, column, pivot);
        right.swap(column, pivot);
        let (above, below) = matrix.split_at_mut(column + 1);
        let Some(top) = above.last() else { return false };
        if top[column] == 0.0 {
            return false;
        }
        for (offset, row) in below.iter_mut().enumerate() {
            let factor = row[column] / top[column];
            for (to, from) in row[column..].iter_mut().zip(&top[column..]) {
                *to -= factor * from;
            }
            right[column + 1 + offset] -= factor * right[column];
        }
    }
    for row in (0..EQUATIONS).rev() {
        let known: f64 = (row + 1..EQUATIONS).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    true
}

fn lu(seed: u64) -> Result<Part, Fault> {
    let mut random = Random::new(seed);
    let matrix: Vec<Row> = (0..EQUATIONS).map(|_| std::array::from_fn(|_| signed(&mut random))).collect();
    let wanted: Vec<f64> = (0..EQUATIONS).map(|_| signed(&mut random)).collect();
    let right: Vec<f64> =
        matrix.iter().map(|row| row.iter().zip(&wanted).map(|(a, x)| a * x).sum()).collect();
    let (mut rows, mut found) = (matrix.clone(), right.clone());
    let solved = solve(&mut rows, &mut found);
    let proof = solved && found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9);
    let work = Box::new(move || {
        copy(rows.as_flattened_mut(), matrix.as_flattened());
        copy(&mut found, &right);
        let solved = solve(&mut rows, &mut found);
        digest(found.iter().map(|x| x.to_bits()).chain([u64::from(solved)]))
    });
    let n = 64.0;
    Part::proved("lu", 2.0 / 3.0 * n * n * n + 2.0 * n * n, 34, work, proof)
}

const INPUTS: usize = 64;
const HIDDEN: usize = 32;
const OUTPUTS: usize = 16;

/// Two layers of weights, a row a neuron.
#[derive(Clone)]
struct Network {
    first: Vec<[f64; INPUTS]>,
    second: Vec<[f64; HIDDEN]>,
}

/// A soft step without an exponential, and its slope.
fn squash(x: f64) -> (f64, f64) {
    let scale = 1.0 / (1.0 + x.abs());
    (x * scale, scale * scale)
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    // Four sums that do not wait for each other.
    let mut sums = [0.0; 4];
    for (xs, ys) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for ((sum, x), y) in sums.iter_mut().zip(xs).zip(ys) {
            *sum += x * y;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

impl Network {
    /// One step of learning towards `wanted`. Returns the squared error before it.
    fn learn(&mut self, input: &[f64; INPUTS], wanted: &[f64; OUTPUTS], rate: f64) -> f64 {
        let mut hidden = [0.0; HIDDEN];
        let mut hidden_slope = [0.0; HIDDEN];
        for ((row, value), slope) in self.first.iter().zip(&mut hidden).zip(&mut hidden_slope) {
            (*value, *slope) = squash(dot(row, input));
        }
        let mut blame = [0.0; HIDDEN];
        let mut error = 0.0;
        for (row, wanted) in self.second.iter_mut().zip(wanted) {
            let (value, slope) = squash(dot(row, &hidden));
            let off = value - wanted;
            error += off * off;
            let push = off * slope;
            for ((weight, value), blame) in row.iter_mut().zip(&hidden).zip(&mut blame) {
                *blame += push * *weight;
                *weight -= rate * push * value;
            }
        }
        for ((row, blame), slope) in self.first.iter_mut().zip(&blame).zip(&hidden_slope) {
            let push = rate * blame * slope;
            for (weight, value) in row.iter_mut().zip(input) {
                *weight -= push * value;
            }
        }
        error
    }
}

fn network(seed: u64) -> Result<Part, Fault> {
    const STEPS: usize = 8;
    let mut random = Random::new(seed);
    let start = Network {
        first: (0..HIDDEN).map(|_| std::array::from_fn(|_| 0.2 * signed(&mut random))).collect(),
        second: (0..OUTPUTS).map(|_| std::array::from_fn(|_| 0.2 * signed(&mut random))).collect(),
    };
    let input: [f64; INPUTS] = std::array::from_fn(|_| signed(&mut random));
    let wanted: [f64; OUTPUTS] = std::array::from_fn(|_| 0.5 * signed(&mut random));
    let mut trained = start.clone();
    let errors: Vec<f64> = (0..200).map(|_| trained.learn(&input, &wanted, 0.05)).collect();
    let proof = errors.first().zip(errors.last()).is_some_and(|(first, last)| *last < 0.1 * *first);
    let work = Box::new(move || {
        copy(trained.first.as_flattened_mut(), start.first.as_flattened());
        copy(trained.second.as_flattened_mut(), start.second.as_flattened());
        digest((0..STEPS).map(|_| trained.learn(&input, &wanted, 0.05).to_bits()))
    });
    Part::proved("network", 8.0 * 6.0 * (64.0 * 32.0 + 32.0 * 16.0), 80, work, proof)
}

#[derive(Clone, Copy)]
struct Body {
    place: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

/// One step of `time`: speeds change by each pair's pull, then places by the speeds.
fn advance(bodies: &mut [Body], time: f64) {
    for at in 0..bodies.len() {
        let (one, others) = bodies[at..].split_at_mut(1);
        let Some(one) = one.first_mut() else { continue };
        for other in others {
            let apart: [f64; 3] = std::array::from_fn(|axis| one.place[axis] - other.place[axis]);
            let square = apart.iter().map(|x| x * x).sum::<f64>() + 0.01;
            let pull = time / (square * square.sqrt());
            for ((mine, theirs), apart) in one.speed.iter_mut().zip(&mut other.speed).zip(&apart) {
                *mine -= apart * other.mass * pull;
                *theirs += apart * one.mass * pull;
            }
        }
    }
    for body in bodies {
        for axis in 0..3 {
            body.place[axis] += time * body.speed[axis];
        }
    }
}

fn energy(bodies: &[Body]) -> f64 {
    let mut sum = 0.0;
    for (at, body) in bodies.iter().enumerate() {
        sum += 0.5 * body.mass * body.speed.iter().map(|v| v * v).sum::<f64>();
        for other in &bodies[at + 1..] {
            let square: f64 = (0..3).map(|axis| (body.place[axis] - other.place[axis]).powi(2)).sum();
            sum -= body.mass * other.mass / (square + 0.01).sqrt();
        }
    }
    sum
}

fn gravity(seed: u64) -> Result<Part, Fault> {
    const STEPS: usize = 20;
    const TIME: f64 = 1e-4;
    let mut random = Random::new(seed);
    let start: Vec<Body> = (0..16)
        .map(|_| Body {
            place: std::array::from_fn(|_| signed(&mut random)),
            speed: std::array::from_fn(|_| signed(&mut random)),
            mass: 0.1 + random.unit(),
        })
        .collect();
    let mut bodies = start.clone();
    for _ in 0..STEPS {
        advance(&mut bodies, TIME);
    }
    let drift = (energy(&bodies) / energy(&start) - 1.0).abs();
    let momentum = |bodies: &[Body]| bodies.iter().map(|body| body.mass * body.speed[0]).sum::<f64>();
    let proof = drift < 1e-3 && (momentum(&bodies) - momentum(&start)).abs() < 1e-9;
    let work = Box::new(move || {
        copy(&mut bodies, &start);
        for _ in 0..STEPS {
            advance(&mut bodies, TIME);
        }
        digest(bodies.iter().flat_map(|body| body.place).map(f64::to_bits))
    });
    Part::proved("gravity", 20.0 * 20.0 * 120.0, 75, work, proof)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_lie_where_they_should() {
        for (at, (re, im)) in roots().into_iter().enumerate() {
            let angle = std::f64::consts::TAU * crate::bench::kernel::float(at) / 1024.0;
            assert!((re - angle.cos()).abs() < 1e-14 && (im - angle.sin()).abs() < 1e-14, "{at}");
        }
    }

    #[test]
    fn a_wave_transforms_to_one_line() {
        let roots = roots();
        // One turn over all points: the second half is the first, negated.
        let mut wave: Vec<Complex> =
            roots.iter().copied().chain(roots.iter().map(|(a, b)| (-a, -b))).collect();
        transform(&mut wave, &roots, -1.0);
        for (at, (re, im)) in wave.iter().enumerate() {
            let wanted = if at == 1 { 1024.0 } else { 0.0 };
            assert!((re - wanted).abs() < 1e-9 && im.abs() < 1e-9, "{at}");
        }
    }

    #[test]
    fn singular_equations_are_noticed() {
        let mut rows = vec![[0.0; EQUATIONS]; EQUATIONS];
        assert!(!solve(&mut rows, &mut vec![1.0; EQUATIONS]));
    }
}
