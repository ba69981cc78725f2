//! Too few takes for an interval, lost takes, and values that are no measurements.

use model::Better;
use model::data::{CLUSTERPERF, Status};
use model::finding::{MoreTakes, Samples};
use model::plan::Takes;
use model::{Cell, Finding, card, names};

use crate::ruling::{Ruling, settle};
use crate::run_index::{FigureRow, RunIndex};

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good, mut once) = (Vec::new(), Vec::new(), Vec::new());
    let cut = index.run.head.status == Status::Interrupted;
    for row in index.rows() {
        let takes = row.series.measured();
        // Its turn did not come: there is no figure to doubt.
        if takes.is_empty() && cut {
            continue;
        }
        // No gap and no error is 0; a rate of 0 measured nothing.
        let nothing = row.series.better == Better::Higher;
        // Less is better: over every number is a figure too.
        let endless = |value: f64| value.is_infinite() && (nothing || value < 0.0);
        let useless =
            |value: &&f64| value.is_nan() || endless(**value) || **value < 0.0 || (nothing && **value == 0.0);
        let broken = takes.iter().filter(useless).count();
        let found = if broken > 0 {
            Samples::Broken { broken, takes: takes.len() }
        } else if takes.len() == 1 && is_load(index) {
            // Known before it began, and nothing to be warned of.
            once.push(row.index);
            continue;
        } else if takes.len() < stats::MIN_N {
            let more = more(index, row);
            Samples::TooFew { takes: takes.len(), least: stats::MIN_N, more }
        } else {
            good.push(row.index);
            continue;
        };
        bad.push(Ruling::about(row.subject(), found, vec![row.index]));
    }
    if !once.is_empty() {
        bad.push(Ruling { finding: Finding::new(Samples::Once), reach: once });
    }
    settle(bad, good, |figures| Samples::Enough { figures, least: stats::MIN_N })
}

/// One load of one take, as `boxscore load` makes it.
fn is_load(index: &RunIndex<'_>) -> bool {
    let plan = &index.run.plan;
    let of_load = |cell: &Cell| names::is_load(card::find(index.context.cards, &cell.instrument));
    matches!(plan.cells.as_slice(), [only] if of_load(only))
        && plan.takes == Takes::Fixed(1)
        && plan.warm_up == 0
}

fn more(index: &RunIndex<'_>, row: FigureRow<'_>) -> MoreTakes {
    let plan = &index.run.plan;
    let asked = match plan.takes {
        Takes::Fixed(takes) => takes as usize,
        Takes::Adaptive { .. } => 0,
    };
    let is_its = |cell: u32| {
        plan.cells.get(cell as usize).is_some_and(|cell| cell.instrument == row.series.key.instrument)
    };
    match () {
        () if index.run.head.build == CLUSTERPERF => MoreTakes::Clusterperf,
        () if index.is_soak() => MoreTakes::Soak,
        () if asked < stats::MIN_N => MoreTakes::Repeat,
        () if index.run.failures().any(|(take, _)| is_its(take.cell)) => MoreTakes::Failed,
        () => MoreTakes::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::one;
    use crate::run_index::RunContext;

    #[test]
    fn advice_is_what_the_verb_can_do() {
        let mut run = one("connections=1", &[("throughput", 1.0)]);
        run.series.iter_mut().for_each(|series| series.points.truncate(1));
        run.plan.takes = Takes::Fixed(3);
        let said = |run: &model::data::RunData| {
            rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
                .remove(0)
                .finding
                .text()
        };
        assert!(said(&run).ends_with("repeat with --takes 6 or more"), "{}", said(&run));
        run.plan.level = model::plan::Level::Soak;
        assert!(said(&run).ends_with("soak for longer, such as --soak 10m"), "{}", said(&run));
        // Who asked for six is not told to.
        run.plan.level = model::plan::Level::Named;
        run.plan.takes = Takes::Fixed(6);
        assert!(said(&run).contains("the run ended before: give it more with --for"), "{}", said(&run));
        run.plan = model::Plan::bare(
            vec![model::Cell {
                instrument: model::names::instrument::WEB.into(),
                params: model::Params::default(),
                headline: Vec::new(),
            }],
            Takes::Fixed(1),
        )
        .into();
        run.plan.warm_up = 0;
        assert!(said(&run).contains("`boxscore run web --url URL --takes 6`"), "{}", said(&run));
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let doubted = rule(&RunIndex::new(&run, &context));
        assert!(doubted.iter().all(|ruling| ruling.finding.state == model::Validity::Unknown));
    }
}
