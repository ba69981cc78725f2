//! Noisy neighbour: runs of this very machine differ by more than 10 % without any change of ours.
//!
//! Needs measured noise (nine runs or more); an assumed floor accuses nobody.

use model::finding::NoisyNeighbour;
use stats::NoiseKind;

use crate::noise;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const MOST: f64 = 0.1;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.context.earlier.is_empty() {
        return vec![Ruling::of_run(NoisyNeighbour::NoEarlierRun)];
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in index.rows() {
        let noise = noise::of_series(row.series, index.context.earlier, index.context.cards);
        let Some(noise) = noise.filter(|noise| noise.kind == NoiseKind::Measured) else { continue };
        let floor = noise.aa_floor();
        if floor > MOST {
            let noisy = NoisyNeighbour::Noisy { floor, dof: noise.v };
            bad.push(Ruling::about(row.subject(), noisy, vec![row.index]));
        } else {
            most = most.max(floor);
            good.push(row.index);
        }
    }
    if bad.is_empty() && good.is_empty() {
        return vec![Ruling::of_run(NoisyNeighbour::TooFewRuns)];
    }
    settle(bad, good, |_| NoisyNeighbour::Quiet { floor: most })
}
