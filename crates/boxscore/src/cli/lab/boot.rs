//! `boxscore lab boot`: arguments of booting nodes from the network.

use std::path::PathBuf;

use super::bmc::BmcArgs;
use super::score::ScoreArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab boot 'atom[001-044]' --interface br0        discover machines: their spec sheets come into the store
  boxscore lab boot 'atom[001-044]' --interface br0 --score    a quick score of each too, side by side
  boxscore lab boot atom007 --interface br0 --write sda debian.raw.zst    an image onto its disk
  boxscore lab boot atom007 --interface br0 --image my/    vmlinuz, initrd and cmdline of a folder of yours
  boxscore lab boot @new --interface br0 --dry-run
Needs root, dnsmasq (dnsmasq-base) and iPXE (ipxe). A DHCP server for these nodes alone, TFTP and HTTP serve on the interface
while the command runs; nodes need a MAC address and an address of its network in lab.toml. Each is set to boot from the
network the next time, turned on or off and on, watched, and set back when it is done. A node without a BMC is to be turned on
by hand. What they boot is a kernel and boxscore in memory: no disk is touched, and the agent in it can be measured (--via).
--write shows the disk of each node by model, serial number and size, and asks again: all that is on them is lost. The image is
a file of a whole disk, as it is or packed by gzip or zstd; each node reads it back. Nothing else can make a node write.
Whoever is on that network can read what is served, and with it the key of the agents: keep others off it.
Exit codes: 0 all nodes are done, 3 not all, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct BootArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// The interface on the network of the nodes
    #[arg(long, value_name = "NAME")]
    pub interface: String,
    /// Serve though another DHCP server gave this interface its address
    #[arg(long)]
    pub beside_dhcp: bool,
    /// Boot what is in this folder: vmlinuz, initrd and cmdline
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kernel", "modules", "append", "binaries", "score", "write"])]
    pub image: Option<PathBuf>,
    /// Write an image onto a disk of each node, named as its kernel does (sda) or by its serial number
    #[arg(long, num_args = 2, value_names = ["DISK", "IMAGE"], conflicts_with = "score")]
    pub write: Vec<String>,
    /// Take a quick score of each node, all at once, and store it; the options below say of what
    #[arg(long)]
    pub score: bool,
    #[command(flatten)]
    pub quick: ScoreArgs,
    /// The kernel of the image [default: /boot/vmlinuz of the running one]
    #[arg(long, value_name = "FILE", requires = "modules")]
    pub kernel: Option<PathBuf>,
    /// The folder of its modules [default: /lib/modules of the running kernel]
    #[arg(long, value_name = "DIR", requires = "kernel")]
    pub modules: Option<PathBuf>,
    /// Where boxscore lies for other processors than ours: boxscore-x86_64, boxscore-aarch64, boxscore-i686
    #[arg(long, value_name = "DIR")]
    pub binaries: Option<PathBuf>,
    /// Add words to the kernel's command line
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub append: Option<String>,
    /// How long a node may take until it is done
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub wait: String,
    /// Ask the BMCs for the way of EFI
    #[arg(long)]
    pub efi: bool,
    /// Leave the power alone: the nodes are turned on by hand
    #[arg(long)]
    pub no_power: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub bmc: BmcArgs,
    #[command(flatten)]
    pub select: SelectArgs,
}
