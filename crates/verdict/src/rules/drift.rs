//! Drift within a run: halves over 2 % apart and a trend that chance does not make.
//!
//! A check on one run only; the noise between runs is another matter.

use model::{Finding, Validity};

use super::{Look, Ruling, settle, unknown};
use crate::say;

const KIND: &str = "drift";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in look.rows() {
        let Ok(drift) = stats::drift(&row.series.measured()) else { continue };
        if drift.doubtful {
            let way = if drift.change < 0.0 { "fell" } else { "rose" };
            let text = format!(
                "{way} by {} from the first to the second half of its takes (p {}): not settled; warm up longer or \
                 look at the clock",
                say::percent(drift.change.abs()),
                say::digits(drift.p)
            );
            let finding = Finding::new(KIND, Validity::Doubtful, text).about(row.title());
            let finding =
                finding.evidence("change", drift.change).evidence("rho", drift.rho).evidence("p", drift.p);
            bad.push(Ruling { finding, reach: vec![row.index] });
        } else {
            most = most.max(drift.change.abs());
            good.push(row.index);
        }
    }
    if bad.is_empty() && good.is_empty() {
        return unknown(KIND, "no figure has enough takes to see a drift");
    }
    settle(bad, good, |n| {
        let text = format!("no drift in {}", say::count(n, "figure"));
        Finding::new(KIND, Validity::Ok, text).evidence("change", most)
    })
}
