//! Steps of the wall clock against the monotonic one during a take.
//!
//! Figures are timed by the monotonic clock, so a step does not move them; it makes doubtful what else happened (a
//! suspended or migrated machine). In s; over 10 ms is a step, less is ordinary slewing.

use model::{Finding, Unit, Validity};

use super::{Look, Ruling, settle, unknown};
use crate::say;

const KIND: &str = "clock-step";
const STEP: f64 = 0.01;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.condition(KIND).is_none() {
        return unknown(KIND, "wall and monotonic clock were not compared");
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let steps = look.during(row, KIND);
        let Some(far) = steps.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())) else { continue };
        if far.abs() > STEP {
            let text = format!(
                "the wall clock jumped by {} against the monotonic one during a take: was the machine suspended, \
                 migrated or its clock set?",
                say::quantity(far, Unit::Second)
            );
            let finding =
                Finding::new(KIND, Validity::Doubtful, text).about(row.title()).evidence("seconds", far);
            bad.push(Ruling { finding, reach: vec![row.index] });
        } else {
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Finding::new(KIND, Validity::Ok, "no clock step").evidence("seconds", 0.0))
}
