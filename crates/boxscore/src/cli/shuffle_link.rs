//! `boxscore shuffle-link`: acts as the linker of a build whose object files are put in another order. Started by the
//! compiler, through a file that the measuring child wrote.

use std::ffi::OsString;

use crate::error::CliError;

#[derive(Clone, Debug, clap::Args)]
pub struct ShuffleLinkArgs {
    /// The linker that the compiler wanted
    name: String,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Becomes the linker; it returns only when it cannot.
pub fn run(args: &ShuffleLinkArgs) -> Result<u8, CliError> {
    Err(CliError::data(instruments::workload::relink::act(&args.name, args.words.clone())))
}
