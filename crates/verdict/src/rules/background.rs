//! Background load: CPUs kept busy by other processes during the takes.
//!
//! In CPUs (1 = one CPU all the time), median over a figure's measured takes. Doubtful when it is over a quarter of a
//! CPU, or over a twentieth where the figure itself needs every CPU.

use model::{Finding, Validity};

use super::look::Row;
use super::{Look, Ruling, settle, unknown};
use crate::say;

const KIND: &str = "background";
const MOST: f64 = 0.25;
const MOST_WHEN_FULL: f64 = 0.05;

/// Whether others were busy during the takes of a row.
pub fn found(look: &Look<'_>, row: Row<'_>) -> bool {
    stats::median(&look.during(row, KIND)).is_some_and(|busy| busy > most_of(look, row, busy))
}

/// The most that a row bears: less where it needs every CPU itself.
fn most_of(look: &Look<'_>, row: Row<'_>, busy: f64) -> f64 {
    let full =
        matches!((row.threads(look), look.cpus()), (Some(threads), Some(cpus)) if threads + busy > cpus);
    if full { MOST_WHEN_FULL } else { MOST }
}

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.condition(KIND).is_none() {
        return unknown(KIND, "the load of other processes was not read during the takes");
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in look.rows() {
        let Some(busy) = stats::median(&look.during(row, KIND)) else { continue };
        if busy > most_of(look, row, busy) {
            let text = format!(
                "other processes used {} CPUs during its takes: end them (`top` shows which) and repeat it",
                say::digits(busy)
            );
            let finding =
                Finding::new(KIND, Validity::Doubtful, text).about(row.title()).evidence("cpus", busy);
            bad.push(Ruling { finding, reach: vec![row.index] });
        } else {
            most = most.max(busy);
            good.push(row.index);
        }
    }
    settle(bad, good, |_| {
        let text = format!("background load {} CPUs", say::digits(most));
        Finding::new(KIND, Validity::Ok, text).evidence("cpus", most)
    })
}
