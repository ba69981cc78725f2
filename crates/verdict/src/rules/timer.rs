//! Unit self-check: two clocks of this machine must agree on how long a nanosecond is.
//!
//! Reads the `timer` benchmark's `disagreement` (relative) when the run has it. Over 1 % every time of the run is
//! invalid: an old study was 20 % wrong by this.

use model::Finding;
use model::finding::Timer;
use model::metrics::machine;
use model::names::instrument;

use crate::ruling::Ruling;
use crate::run_index::RunIndex;

const INSTRUMENT: &str = instrument::TIMER;
const METRIC: &str = machine::DISAGREEMENT.name();
const DOUBTFUL: f64 = 0.001;
const INVALID: f64 = 0.01;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let found =
        index.run.series.iter().find(|one| one.key.instrument == INSTRUMENT && one.key.metric == METRIC);
    let worst = found.map(|series| series.measured()).unwrap_or_default();
    let Some(share) = stats::median(&worst).map(f64::abs) else {
        return vec![Ruling::of_run(Timer::Unread)];
    };
    let found = match share {
        share if share > INVALID => Timer::Broken { share },
        share if share > DOUBTFUL => Timer::Disagree { share },
        share => Timer::Agree { share },
    };
    let reach = index.rows().map(|row| row.index).collect();
    vec![Ruling { finding: Finding::new(found), reach }]
}
