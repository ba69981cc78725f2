//! `boxscore lab odd`: arguments of the search for nodes that are not like the others.

use super::on::PutArgs;
use super::reach::ReachArgs;
use super::score::ScoreArgs;
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
    #[command(flatten)]
    pub score: ScoreArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub put: PutArgs,
}
