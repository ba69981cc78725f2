//! Noisy neighbour: runs of this very machine differ by more than 10 % without any change of ours.
//!
//! Needs measured noise (nine runs or more); an assumed floor accuses nobody.

use model::{Finding, Validity};
use stats::NoiseKind;

use super::{Look, Ruling, settle, unknown};
use crate::{noise, say};

const KIND: &str = "noisy-neighbour";
const MOST: f64 = 0.1;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.context.earlier.is_empty() {
        return unknown(KIND, "no earlier run of this machine and configuration: the noise is assumed");
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in look.rows() {
        let noise = noise::of_series(row.series, look.context.earlier, look.context.cards);
        let Some(noise) = noise.filter(|noise| noise.kind == NoiseKind::Measured) else { continue };
        let floor = noise.aa_floor();
        if floor > MOST {
            let text = format!(
                "runs of this machine differ by {} with nothing changed: something else is at work (a neighbour, heat, \
                 placement); a smaller difference means nothing here",
                say::percent(floor)
            );
            let finding = Finding::new(KIND, Validity::Doubtful, text).about(row.title());
            let finding = finding.evidence("floor", floor).evidence("dof", noise.v);
            bad.push(Ruling { finding, reach: vec![row.index] });
        } else {
            most = most.max(floor);
            good.push(row.index);
        }
    }
    if bad.is_empty() && good.is_empty() {
        return unknown(KIND, "too few earlier runs of this machine and configuration to measure the noise");
    }
    settle(bad, good, |_| {
        let text = format!("runs of this machine agree within {}", say::percent(most));
        Finding::new(KIND, Validity::Ok, text).evidence("floor", most)
    })
}
