//! `boxscore lab power`: arguments of power actions.

use super::bmc::BmcArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab power status '@*'
  boxscore lab power on 'atom[001-044]!@sick'
  boxscore lab power cycle atom007 --yes
BMCs are asked by IPMI (by FreeIPMI's ipmipower where it is installed, else by ipmitool) or by Redfish over HTTPS. The inventory
says where they are, and where their passwords are; no command line, log or error has one.
An action is shown with its nodes and wants a yes, unless --yes is given. Then the state is looked for until it is there: a
node that is not as it should be after --wait has failed, whatever its BMC said. A cycle is off, a look, and on.
Exit codes: 0 all nodes are as they should be, 3 not all, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct PowerArgs {
    /// State or action
    #[arg(value_name = "ACTION")]
    pub action: PowerAction,
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// How long a node may take to change its state
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub wait: String,
    /// Speak IPMI by this tool alone
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<IpmiTool>,
    /// Say what would be done, and reach no BMC
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub bmc: BmcArgs,
    #[command(flatten)]
    pub select: SelectArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PowerAction {
    /// Say which are on
    Status,
    On,
    /// At once, as the switch does
    Off,
    /// Ask the operating system to end
    Soft,
    /// Off, and on again
    Cycle,
    /// Restart without turning off
    Reset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IpmiTool {
    /// Of FreeIPMI: a process for many BMCs
    Ipmipower,
    /// A process for each
    Ipmitool,
}
