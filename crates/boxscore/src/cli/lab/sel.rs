//! `boxscore lab sel`: arguments of reading system event logs.

use super::bmc::BmcArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab sel atom007
  boxscore lab sel '@*' --last 5 | grep -i ecc
Times are by the clocks of the BMCs. Exit codes: 0 all logs were read, 3 not all, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct SelArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// Entries of each node, the last ones
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub last: u32,
    #[command(flatten)]
    pub bmc: BmcArgs,
    #[command(flatten)]
    pub select: SelectArgs,
}
