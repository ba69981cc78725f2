//! Options of every verb that does its work on nodes: `--on` and those that belong to it.

use std::path::PathBuf;

use super::reach::ReachArgs;
use super::select::SelectArgs;
use crate::error::CliError;

/// Above them in the help of a verb.
pub const HEADING: &str = "Options of nodes";

#[derive(Clone, Debug, Default, clap::Args)]
pub struct OnArgs {
    /// Nodes of lab.toml (lab nodes EXPR shows which)
    #[arg(long = "on", value_name = "EXPR")]
    pub on: Vec<String>,
    /// The inventory [default: ./lab.toml, else boxscore/lab.toml in the XDG configuration directory]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub inventory: Option<PathBuf>,
    /// Configuration file of ssh in place of yours
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub ssh_config: Option<PathBuf>,
    /// Log in as this user [default: that of the inventory, else of your ssh configuration]
    #[arg(long, value_name = "USER", help_heading = HEADING)]
    pub login: Option<String>,
    #[command(flatten)]
    pub put: PutArgs,
    /// The nodes that the expression names.
    #[arg(skip)]
    pub names: Vec<String>,
    /// Each of them has a BMC.
    #[arg(skip)]
    pub have_bmcs: bool,
    /// They are measured as one machine.
    #[arg(skip)]
    pub together: Option<Together>,
    /// Each of them is a machine, whatever is measured.
    #[arg(skip)]
    pub each_alone: bool,
}

/// Nodes that are one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// All of them with their addresses, the master first.
    pub members: String,
    /// `NAME=COMMAND` of all but the first.
    pub children: Vec<String>,
}

/// How boxscore comes to nodes, and stays there.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PutArgs {
    /// Folder of boxscore for other processors: boxscore-x86_64, boxscore-aarch64, boxscore-i686 (make dist-all)
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub binaries: Option<PathBuf>,
    /// Remove boxscore from the nodes when the work is done
    #[arg(long, help_heading = HEADING)]
    pub remove: bool,
}

impl OnArgs {
    /// True if nodes are named. Fails where only what belongs to them is given.
    pub fn is_given(&self) -> Result<bool, CliError> {
        let alone = [
            ("--inventory", self.inventory.is_some()),
            ("--ssh-config", self.ssh_config.is_some()),
            ("--login", self.login.is_some()),
            ("--binaries", self.put.binaries.is_some()),
            ("--remove", self.put.remove),
        ];
        match alone.iter().find(|(_, is_given)| self.on.is_empty() && *is_given) {
            Some((flag, _)) => {
                Err(CliError::usage(format!("{flag} belongs to --on")).hint("--on EXPR names the nodes"))
            }
            None => Ok(!self.on.is_empty()),
        }
    }

    /// How nodes are reached and named, in the options of the verbs of `lab`.
    pub fn parts(&self) -> (SelectArgs, ReachArgs) {
        let select = SelectArgs { inventory: self.inventory.clone(), ..SelectArgs::default() };
        let reach = ReachArgs {
            login: self.login.clone(),
            ssh_config: self.ssh_config.clone(),
            ..ReachArgs::default()
        };
        (select, reach)
    }
}
