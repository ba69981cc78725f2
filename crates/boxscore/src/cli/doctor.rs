//! `boxscore doctor`.

use crate::cli::Global;
use crate::error::CliError;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, _global: &Global) -> Result<u8, CliError> {
    Err(CliError::usage("not built yet"))
}
