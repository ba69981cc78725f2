//! Steal: share of CPU time that the hypervisor gave to others during the takes.
//!
//! Mean over a figure's measured takes; over 1 % is doubtful. On bare metal it is 0.

use model::{Finding, Validity};

use super::{Look, Ruling, settle, unknown};
use crate::say;

const KIND: &str = "steal";
const MOST: f64 = 0.01;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.condition(KIND).is_none() {
        return unknown(KIND, "steal time was not read during the takes");
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in look.rows() {
        let Some(mean) = stats::mean(&look.during(row, KIND)) else { continue };
        if mean > MOST {
            let text = format!(
                "the hypervisor took {} of the CPU time during its takes: a neighbour was busy; repeat it later",
                say::percent(mean)
            );
            let finding =
                Finding::new(KIND, Validity::Doubtful, text).about(row.title()).evidence("share", mean);
            bad.push(Ruling { finding, reach: vec![row.index] });
        } else {
            most = most.max(mean);
            good.push(row.index);
        }
    }
    settle(bad, good, |_| {
        Finding::new(KIND, Validity::Ok, format!("steal {}", say::percent(most))).evidence("share", most)
    })
}
