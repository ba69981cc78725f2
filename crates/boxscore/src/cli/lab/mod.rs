//! `boxscore lab`: many machines. A verb of its own is a file here.

pub mod import;
pub mod nodes;
pub mod plan;

use crate::cli::Global;
use crate::error::CliError;

const AFTER: &str = "\
Examples:
  boxscore lab nodes '@*'                    the machines of lab.toml
  boxscore lab nodes 'atom[001-044]!@sick'   those of an expression
  boxscore lab import hosts.ini > lab.toml   an inventory from Ansible's
  boxscore lab plan plan.toml                names and addresses for machines to come
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
}

pub fn run(args: &LabArgs, global: &Global) -> Result<u8, CliError> {
    match &args.verb {
        LabVerb::Nodes(args) => nodes::run(args, global),
        LabVerb::Import(args) => import::run(args, global),
        LabVerb::Plan(args) => plan::run(args, global),
    }
}
