//! `boxscore lab`: many machines. A verb of its own is a file here.

pub mod bmc;
pub mod boot;
pub mod bootdev;
pub mod check;
pub mod console;
pub mod copy;
pub mod import;
pub mod nodes;
pub mod odd;
pub mod on;
pub mod plan;
pub mod power;
pub mod reach;
pub mod run;
pub mod score;
pub mod sel;
pub mod select;
pub mod sensors;

use crate::cli::Global;
use crate::error::CliError;
use crate::fleet;

const AFTER: &str = "\
Examples:
  boxscore lab nodes '@*'                    the machines of lab.toml
  boxscore lab nodes 'atom[001-044]!@sick'   those of an expression
  boxscore lab import hosts.ini > lab.toml   an inventory from Ansible's
  boxscore lab plan plan.toml                names and addresses for machines to come
  boxscore lab check '@*'                    which of them can be worked on
  boxscore lab run 'atom[001-044]' -- uname -r
  boxscore lab odd @rack1                    which of them are not like the others
  boxscore lab push boxscore @leaf1:/usr/local/bin
  boxscore lab pull atom001,atom002:/var/log/syslog logs
  boxscore lab power status '@*'             which are on, by their BMCs
  boxscore lab boot @new --interface br0     boot machines without a disk, and see what they are
  boxscore lab console atom007               the console of one
Hosts are reached by the system's ssh with your configuration, and must let you in without asking.
Names of no inventory are hosts as ssh knows them.
docs/guide/lab.md has the expressions and the files.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER, arg_required_else_help = true)]
pub struct LabArgs {
    #[command(subcommand)]
    pub verb: LabVerb,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub enum LabVerb {
    /// Show the machines that an expression names
    Nodes(nodes::NodesArgs),
    /// Print an inventory (lab.toml) made from another list of machines
    Import(import::LabImportArgs),
    /// Give names and addresses to machines that are to be set up
    Plan(plan::PlanArgs),
    /// Hold machines against what work on them needs: login, root rights, architecture, room, clock
    Check(check::LabCheckArgs),
    /// Measure machines that should be equal, and name those that are not like the others
    Odd(Box<odd::LabOddArgs>),
    /// Run a command on machines; outputs that are the same are shown once
    Run(run::LabRunArgs),
    /// Copy files to machines, whole or not at all, and verify them there
    Push(copy::PushArgs),
    /// Copy files of machines into a folder for each
    Pull(copy::PullArgs),
    /// Say which nodes are on, or turn them on and off, by their BMCs
    Power(power::PowerArgs),
    /// Say what nodes boot from, or set it, by their BMCs
    Bootdev(bootdev::BootdevArgs),
    /// Boot nodes from the network into a system in memory, and take their spec sheets
    Boot(Box<boot::BootArgs>),
    /// Open the console of a node: by its BMC, or over TCP
    Console(console::ConsoleArgs),
    /// Read the sensors of nodes: temperatures, fans, voltages, watts
    Sensors(sensors::SensorsArgs),
    /// Read what the BMCs of nodes have written down: the system event log
    Sel(sel::SelArgs),
}

pub fn run(args: &LabArgs, global: &Global) -> Result<u8, CliError> {
    match &args.verb {
        LabVerb::Nodes(args) => nodes::run(args, global),
        LabVerb::Import(args) => import::run(args, global),
        LabVerb::Plan(args) => plan::run(args, global),
        LabVerb::Check(args) => fleet::check::run(args, global),
        LabVerb::Odd(args) => fleet::odd::run(args, global),
        LabVerb::Run(args) => fleet::run::run(args, global),
        LabVerb::Push(args) => fleet::copy::push(args, global),
        LabVerb::Pull(args) => fleet::copy::pull(args, global),
        LabVerb::Power(args) => fleet::power::run(args, global),
        LabVerb::Bootdev(args) => fleet::bootdev::run(args, global),
        LabVerb::Boot(args) => fleet::boot::run(args, global),
        LabVerb::Console(args) => fleet::console::run(args, global),
        LabVerb::Sensors(args) => fleet::health::sensors(args, global),
        LabVerb::Sel(args) => fleet::health::events(args, global),
    }
}
