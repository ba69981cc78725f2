//! Noisy neighbour: runs of this very machine differ, without any change of ours, by more than twice what is assumed
//! where nothing was measured.
//!
//! Needs measured noise; an assumed floor accuses nobody, and who measures less than others assume is not accused
//! either. The noise is in the intervals of comparisons already.

use model::finding::NoisyNeighbour;
use stats::NoiseKind;

use crate::noise;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// Times the assumed floor.
const MOST: f64 = 2.0;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.context.earlier.is_empty() {
        return vec![Ruling::of_run(NoisyNeighbour::NoEarlierRun)];
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in index.rows() {
        let noise = noise::of_row(index, row);
        let Some(noise) = noise.map(|found| found.noise).filter(|noise| noise.kind == NoiseKind::Measured)
        else {
            continue;
        };
        let floor = noise.aa_floor();
        let assumed =
            noise::assumed_floor(index.context.cards, &row.series.key.instrument, noise::host(index.run));
        if floor > MOST * assumed {
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
