//! `boxscore guard`: kills the process groups it is told of on stdin when that pipe closes. Started by the agent.

use crate::error::CliError;

#[derive(Clone, Debug, clap::Args)]
pub struct GuardArgs {}

pub fn run(_args: &GuardArgs) -> Result<u8, CliError> {
    instruments::workload::guard::serve(std::io::stdin());
    Ok(0)
}
