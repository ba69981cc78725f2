//! `boxscore lab`: arguments of what is done with many hosts.

pub mod copy;
pub mod reach;
pub mod run;

const AFTER: &str = "\
Examples:
  boxscore lab run atom001,atom002 -- uname -r
  boxscore lab push boxscore atom001,atom002:/usr/local/bin
  boxscore lab pull atom001,atom002:/var/log/syslog logs
Hosts are reached by the system's ssh with your configuration, and must let you in without asking.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER, arg_required_else_help = true)]
pub struct LabArgs {
    #[command(subcommand)]
    pub what: Lab,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub enum Lab {
    /// Run a command on hosts; outputs that are the same are shown once
    Run(run::LabRunArgs),
    /// Copy files to hosts, whole or not at all, and verify them there
    Push(copy::PushArgs),
    /// Copy files of hosts into a folder for each
    Pull(copy::PullArgs),
}
