//! `boxscore lab check`: arguments of holding machines against what work on them needs.

use super::bmc::BmcArgs;
use super::reach::ReachArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab check '@*'
  boxscore lab check @leaf1 --sudo --folder /var/tmp --space 2GB
A machine is faulty if it is not reached, does not let us in without asking, has an architecture that boxscore is not built
for, no folder to write to, less room than --space, or a clock that is off by more than --clock. Python is not needed there.
So is one whose BMC, where the inventory names one, does not say whether it is on.
Exit codes: 0 no machine is faulty, 3 one is, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct LabCheckArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// The folder there whose room counts
    #[arg(long, value_name = "DIR", default_value = "~")]
    pub folder: String,
    /// Room that it needs
    #[arg(long, value_name = "SIZE", default_value = "100MB")]
    pub space: String,
    /// How far its clock may be off
    #[arg(long, value_name = "TIME", default_value = "1")]
    pub clock: String,
    /// Machines without root rights (sudo without a password) are faulty too
    #[arg(long)]
    pub sudo: bool,
    /// Do not ask the BMCs of the inventory
    #[arg(long)]
    pub no_bmc: bool,
    #[command(flatten)]
    pub bmc: BmcArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
}
