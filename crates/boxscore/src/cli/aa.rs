//! `boxscore aa`: arguments of runs of this machine against itself.

use crate::cli::run::{RunArgs, Usual};
use crate::error::CliError;

const AFTER: &str = "\
Examples:
  boxscore aa                     five quick runs, and what they can tell
  boxscore aa crc32c --runs 10    ten runs of one instrument
  boxscore aa --runs 0            no new run: what the stored ones can tell
Each run is a whole one with its own sittings and stays in the store: later comparisons take their noise from it.
Without --full it is as short as that of `run --quick`. Each further run has the next --seed.
Ctrl-C ends it; complete runs count.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct AaArgs {
    /// How often, at most 20, since the newest 20 runs of a figure are set against each other; with 0 nothing is
    /// measured, and stored runs of this machine speak
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub runs: u32,
    /// With --runs 0: the machine whose stored runs speak [default: this one]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    #[command(flatten)]
    pub usual: Usual,
}

impl AaArgs {
    /// The arguments of each run.
    pub fn run(&self) -> RunArgs {
        let usual = Usual { quick: !self.usual.full, ..self.usual.clone() };
        RunArgs { usual, ..RunArgs::default() }
    }

    /// Fails where an option would have no effect.
    pub fn check(&self) -> Result<(), CliError> {
        match (self.runs, self.usual.given().as_slice(), &self.machine) {
            (0, [], _) | (1.., _, None) => Ok(()),
            (0, given, _) => {
                Err(CliError::usage(format!("{} with --runs 0: it measures nothing", given.join(", ")))
                    .hint("leave it out, or ask for runs with --runs 1 to 20"))
            }
            (1.., _, Some(_)) => Err(CliError::usage(
                "--machine without --runs 0: runs are made on this machine",
            )
            .hint("`boxscore aa --runs 0 --machine NAME` says what the stored runs of another one can tell")),
        }
    }
}
