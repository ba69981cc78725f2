//! `boxscore aa`: arguments of runs of this machine against itself.

use std::path::PathBuf;

use crate::cli::run::RunArgs;
use crate::study::quiet::WaitIdle;

const AFTER: &str = "\
Examples:
  boxscore aa                     five quick runs, and what they can tell
  boxscore aa crc32c --runs 10    ten runs of one instrument
  boxscore aa --runs 0            no new run: what the stored ones can tell
Each run is a whole one with its own sittings and stays in the store: later comparisons take their noise from it.
Ctrl-C ends it; complete runs count.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct AaArgs {
    /// Instruments or families, as in `run`; none: the headline set
    #[arg(value_name = "NAME|FAMILY")]
    pub names: Vec<String>,
    /// How often, at most 20, since the newest 20 runs of a figure are set against each other; with 0 nothing is
    /// measured, and stored runs of this machine speak
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub runs: u32,
    /// Runs as short as those of `run --quick` [default]
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Everything: every size, thread count and sweep
    #[arg(long)]
    pub full: bool,
    /// Exactly N measured takes of each figure
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub takes: Option<u32>,
    /// Prepare everything anew this often in each run [default: 3; 5 with --full]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sittings: Option<u32>,
    /// End each run after this long (90s, 10m) [default: 2m]
    #[arg(long = "for", value_name = "DURATION")]
    pub span: Option<String>,
    /// Fix a parameter (k=v or instrument.k=v); repeatable
    #[arg(long = "set", value_name = "K=V")]
    pub sets: Vec<String>,
    /// Use only these CPUs (0-3,8)
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Measure nothing: draw every value from this planted world
    #[arg(long, value_name = "FILE")]
    pub fake: Option<PathBuf>,
    /// Seed of the first run's order of takes; each further run has the next one [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Label of the runs
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    #[command(flatten)]
    pub wait: WaitIdle,
    /// With --runs 0: the machine whose stored runs speak [default: this one]
    #[arg(long, value_name = "NAME", default_value = ".")]
    pub machine: String,
}

impl AaArgs {
    /// The arguments of each run.
    pub fn run(&self) -> RunArgs {
        RunArgs {
            names: self.names.clone(),
            quick: !self.full,
            full: self.full,
            takes: self.takes,
            sittings: self.sittings,
            span: self.span.clone(),
            sets: self.sets.clone(),
            cpus: self.cpus.clone(),
            fake: self.fake.clone(),
            seed: self.seed,
            label: self.label.clone(),
            ..RunArgs::default()
        }
    }
}
