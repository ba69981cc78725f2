//! `boxscore dial FILE agent --stdio`: an agent on a node that was booted from the network, as a command of `--via`.

use std::path::PathBuf;

use crate::error::CliError;
use crate::node;

#[derive(Clone, Debug, clap::Args)]
pub struct DialArgs {
    /// Where the agent answers, and its key, as `lab boot` wrote it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Words that `--via` adds
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

pub fn run(args: &DialArgs) -> Result<u8, CliError> {
    node::dial(&args.file, &args.words)
}
