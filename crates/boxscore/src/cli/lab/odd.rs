//! `boxscore lab odd`: arguments of the search for nodes that are not like the others.

use super::on::PutArgs;
use super::reach::ReachArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab odd @rack1                          a quick score of each, all at once
  boxscore lab odd '@*' --measure cpu --takes 6    with these instruments alone
  boxscore lab odd '@*' --stored                   by the newest run of each in the store
A node is odd by a fact of which most have another value (memory, firmware, clock limits, links), by throttling that most
have not, or by a figure that stands apart from those of all. Figures are judged of five nodes or more.
The runs are in the store: `boxscore compare A B` has two of them side by side.
Exit codes: 0 all are alike, 3 one is odd or could not be judged, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct LabOddArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// Measure nothing: judge by the newest run of each node in the store
    #[arg(long, conflicts_with_all = ["measure", "sets", "takes", "span", "binaries", "remove", "dry_run"])]
    pub stored: bool,
    /// Instruments or families to measure [default: the headline set]; repeatable
    #[arg(long, value_name = "NAME|FAMILY")]
    pub measure: Vec<String>,
    /// Fix a parameter (k=v or instrument.k=v); repeatable
    #[arg(long = "set", value_name = "K=V", requires = "measure")]
    pub sets: Vec<String>,
    /// Exactly N measured takes of each figure [default: those of --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub takes: Option<u32>,
    /// End each node's run after this long [default: 2m, with --measure 3m]
    #[arg(long = "for", value_name = "DURATION")]
    pub span: Option<String>,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub put: PutArgs,
}
