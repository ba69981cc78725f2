//! Too few takes for an interval, lost takes, and values that are no measurements.

use model::data::Status;
use model::plan::Takes;
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
                "{} for a 95 % interval, which needs {}: {}",
                if takes.len() == 1 {
                    "1 take is too few".to_owned()
                } else {
                    format!("{} takes are too few", takes.len())
                },
                stats::MIN_N,
                advice(look, &row.series.key.instrument)
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

/// How to have more takes: not every verb that measures can repeat them.
fn advice(look: &Look<'_>, instrument: &str) -> String {
    let least = stats::MIN_N;
    let plan = &look.run.plan;
    let is_load = matches!(plan.cells.as_slice(), [only] if only.instrument == "web")
        && plan.takes == Takes::Fixed(1)
        && plan.warm_up == 0;
    match instrument {
        name if name.starts_with("kv") && look.run.head.build == "clusterperf" => {
            "clusterperf prints a figure once; several of its outputs in one file are as many takes"
                .to_owned()
        }
        "web" if is_load => format!(
            "`boxscore run web --url URL --takes {least}` repeats a load (--set fixes its connections and rate)"
        ),
        _ => format!("repeat with --takes {least} or more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::one;
    use crate::run::RunContext;

    #[test]
    fn advice_is_what_the_verb_can_do() {
        let mut run = one("connections=1", &[("throughput", 1.0)]);
        run.series.iter_mut().for_each(|series| series.points.truncate(1));
        let said = |run: &model::data::RunData| {
            rule(&Look::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
                .remove(0)
                .finding
                .text
        };
        assert!(said(&run).ends_with("repeat with --takes 6 or more"), "{}", said(&run));
        run.plan = model::Plan::bare(
            vec![model::Cell {
                instrument: "web".into(),
                params: model::Params::default(),
                headline: Vec::new(),
            }],
            Takes::Fixed(1),
        );
        run.plan.warm_up = 0;
        assert!(said(&run).contains("`boxscore run web --url URL --takes 6`"), "{}", said(&run));
    }
}
