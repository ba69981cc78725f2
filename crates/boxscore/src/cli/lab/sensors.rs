//! `boxscore lab sensors`: arguments of reading sensors.

use super::bmc::BmcArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab sensors atom007
  boxscore lab sensors '@*'
Of one node each sensor has a line, of several the least, the middle and the most. Sensors beyond a threshold are named.
Exit codes: 0 all were read and none is beyond a threshold, 3 not so, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct SensorsArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    #[command(flatten)]
    pub bmc: BmcArgs,
    #[command(flatten)]
    pub select: SelectArgs,
}
