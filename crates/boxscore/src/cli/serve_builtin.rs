//! `boxscore serve-builtin`: the built-in web server, told on stdin what to serve. Started by the measuring child.

use instruments::workload::server::builtin;

use crate::error::CliError;

#[derive(Clone, Debug, clap::Args)]
pub struct ServeBuiltinArgs {}

/// Serves until it is killed; it returns only when it cannot serve.
pub fn run(_args: &ServeBuiltinArgs) -> Result<u8, CliError> {
    builtin::serve(std::io::stdin(), std::io::stdout()).map_err(CliError::data)?;
    Ok(0)
}
