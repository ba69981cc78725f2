//! Too few takes for an interval, lost takes, and values that are no measurements.

use model::data::Status;
use model::{Better, Finding, Validity};

use super::{Look, Ruling, settle};
use crate::say;

const KIND: &str = "samples";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    let cut = look.run.head.status == Status::Interrupted;
    for row in look.rows() {
        let takes = row.series.measured();
        // Its turn did not come: there is no figure to doubt.
        if takes.is_empty() && cut {
            continue;
        }
        // No gap and no error is 0; a rate of 0 measured nothing.
        let nothing = row.series.better == Better::Higher;
        let useless = |value: &&f64| !value.is_finite() || **value < 0.0 || (nothing && **value == 0.0);
        let broken = takes.iter().filter(useless).count();
        let (state, text) = if broken > 0 {
            let of = say::count(takes.len(), "take");
            (Validity::Invalid, format!("{broken} of {of} gave no usable number: the measurement is broken"))
        } else if takes.len() < stats::MIN_N {
            let text = format!(
                "{} for a 95 % interval, which needs {}: repeat with --takes {} or more",
                if takes.len() == 1 {
                    "1 take is too few".to_owned()
                } else {
                    format!("{} takes are too few", takes.len())
                },
                stats::MIN_N,
                stats::MIN_N
            );
            (Validity::Doubtful, text)
        } else {
            good.push(row.index);
            continue;
        };
        let finding = Finding::new(KIND, state, text).about(row.title()).evidence("n", takes.len() as f64);
        bad.push(Ruling { finding, reach: vec![row.index] });
    }
    settle(bad, good, |n| {
        let text = format!("{} with at least {} takes", say::count(n, "figure"), stats::MIN_N);
        Finding::new(KIND, Validity::Ok, text).evidence("figures", n as f64)
    })
}
