//! `run --git A..B --bisect`: names the first commit of a series that is slower than the one before the series.
//!
//! Each step measures one commit beside A, as a run of its own in the store, and halves what is left: a commit belongs
//! to the slow ones where its ratio lies above the square root of B's. One whose interval reaches across that line is
//! counted by its ratio, and the answer says so.

use model::doc::VerdictWord;

use super::run::{Done, carried_out};
use super::stop_signal::StopSignal;
use super::worktrees::{self, Commit};
use crate::cli::Global;
use crate::cli::run::RunArgs;
use crate::error::CliError;
use crate::lookup::resolve::Resolver;
use crate::out;
use crate::show::shown;

/// How one commit fares beside A.
#[derive(Clone, Debug)]
struct Step {
    sentence: String,
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    verdict: Option<VerdictWord>,
}

impl Step {
    /// It is slower, whether or not by more than the margin.
    fn is_slower(&self) -> bool {
        self.verdict != Some(VerdictWord::Tie) && self.low.is_some_and(|low| low > 1.0)
    }
}

/// Measures A beside B, then halves the series between them. Fails when a commit cannot be built or measured.
pub fn run(args: &RunArgs, global: &Global) -> Result<u8, CliError> {
    if global.json {
        return Err(CliError::usage("--bisect prints no document")
            .hint("its runs are in the store: boxscore history"));
    }
    let stop = StopSignal::listen()?;
    let (base, commits) = worktrees::commits(args)?;
    let Some(last) = commits.last() else {
        return Err(CliError::data("--bisect: there is no commit between the two revisions"));
    };
    let measure = |commit: &Commit| step(args, &base, commit, (global, &stop));
    let whole = measure(last)?;
    if !whole.is_slower() {
        out::print(&format!("nothing to look for: {}\n", whole.sentence));
        return Ok(0);
    }
    let line = whole.ratio.sqrt();
    let mut unclear = Vec::new();
    // Commits below `slow` may be the first slow one, and so is the one at it.
    let (mut fast, mut slow, mut found) = (None::<usize>, commits.len() - 1, whole);
    while let Some(at) = middle(fast, slow) {
        let Some(commit) = commits.get(at) else { break };
        let step = measure(commit)?;
        if step.low.zip(step.high).is_none_or(|(low, high)| low < line && line < high) {
            unclear.push(commit.short.clone());
        }
        if step.ratio > line {
            (slow, found) = (at, step);
        } else {
            fast = Some(at);
        }
    }
    let Some(first) = commits.get(slow) else { return Err(CliError::data("--bisect: the series ended")) };
    out::print(&format!(
        "the first slower commit is {} ({})\n{}\n",
        first.short, first.subject, found.sentence
    ));
    if !unclear.is_empty() {
        out::print(&format!(
            "whether it is that one is not sure: the interval of {} reached across the line; more --takes tell\n",
            unclear.join(", ")
        ));
    }
    Ok(0)
}

/// The commit between the last that is fast and the first that is known to be slow; `None` where they are neighbours.
fn middle(fast: Option<usize>, slow: usize) -> Option<usize> {
    let from = fast.map_or(0, |fast| fast + 1);
    (from < slow).then(|| from + (slow - from) / 2)
}

fn step(
    args: &RunArgs,
    base: &str,
    commit: &Commit,
    (global, stop): (&Global, &StopSignal),
) -> Result<Step, CliError> {
    let mut args = args.clone();
    args.commands.git = Some(format!("{base}..{}", commit.short));
    let Done { measured, .. } = carried_out(&args, global, stop, None)?;
    let none = || CliError::data(format!("{} was not measured", commit.short)).hint("boxscore show latest");
    if stop.is_requested() {
        return Err(CliError::data("stopped before the first slower commit was found"));
    }
    let id = measured.runs.first().ok_or_else(none)?;
    let doc = shown::shown(id, "boxscore.run/1", false, &mut Resolver::new(global)?)?.doc;
    let answer = doc.answer.as_ref().ok_or_else(none)?;
    let figure = answer.figures.first().ok_or_else(none)?;
    out::say(&answer.sentence);
    Ok(Step {
        ratio: figure.value,
        low: figure.low,
        high: figure.high,
        verdict: figure.verdict,
        sentence: answer.sentence.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_within_the_margin_is_nothing_to_look_for() {
        let step = |low: f64, verdict: VerdictWord| Step {
            sentence: String::new(),
            ratio: 1.003,
            low: Some(low),
            high: Some(1.03),
            verdict: Some(verdict),
        };
        assert!(!step(1.001, VerdictWord::Tie).is_slower());
        assert!(step(1.009, VerdictWord::CannotTell).is_slower());
        assert!(!step(0.99, VerdictWord::CannotTell).is_slower());
        assert!(step(1.025, VerdictWord::Worse).is_slower());
    }

    #[test]
    fn every_series_is_halved_to_its_first_slow_commit() {
        for count in 1..20 {
            for wanted in 0..count {
                let (mut fast, mut slow, mut steps) = (None, count - 1, 0);
                while let Some(at) = middle(fast, slow) {
                    if at >= wanted {
                        slow = at
                    } else {
                        fast = Some(at)
                    }
                    steps += 1;
                }
                assert_eq!(slow, wanted);
                assert!(steps <= 5, "{steps} steps for {count}");
            }
        }
    }
}
