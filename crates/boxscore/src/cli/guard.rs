//! `boxscore guard`: ends what its parent started when the parent has ended. Started by the agent.
//!
//! Its input is the file that says what is to be ended, its output a pipe whose reader is the parent.

use crate::error::CliError;

#[derive(Clone, Debug, clap::Args)]
pub struct GuardArgs {}

pub fn run(_args: &GuardArgs) -> Result<u8, CliError> {
    instruments::workload::guard::serve(std::io::stdin(), std::io::stdout()).map_err(CliError::data)?;
    Ok(0)
}
