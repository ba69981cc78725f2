//! `boxscore lab bootdev`: arguments of what nodes boot from.

use super::bmc::BmcArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab bootdev status '@*'
  boxscore lab bootdev pxe 'atom[001-044]'          from the network, the next time alone
  boxscore lab bootdev none @leaf1 --yes            as its own setup says
A setting is shown with its nodes and wants a yes, unless --yes is given. Then it is read back: a node whose BMC says
something else has failed. Exit codes: 0 all nodes are as they should be, 3 not all, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct BootdevArgs {
    /// Source to boot from
    #[arg(value_name = "DEVICE")]
    pub device: BootDevice,
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// At every boot, not at the next one alone
    #[arg(long)]
    pub persistent: bool,
    /// By EFI, where a node can do both
    #[arg(long)]
    pub efi: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Say what would be done, and reach no BMC
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub bmc: BmcArgs,
    #[command(flatten)]
    pub select: SelectArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BootDevice {
    /// Say what is set
    Status,
    /// As its own setup says
    None,
    /// The network
    Pxe,
    Disk,
    Cdrom,
    /// Show its setup
    Bios,
}
