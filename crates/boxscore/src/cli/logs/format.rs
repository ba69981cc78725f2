//! `boxscore logs format`: what a format is called, so that all mappers can be told the same.

use std::path::PathBuf;

use crate::access_logs::{Formats, choose};
use crate::error::CliError;
use crate::out;

const AFTER: &str = "\
Example:
  boxscore logs map --format \"$(boxscore logs format access.log)\" < part
What speaks for the format is said on stderr. A mapper sees some lines of a log, which may be too few to tell
microseconds from seconds; so it is told the format.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct FormatArgs {
    /// Logs, plain, gzip or zstd; - is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// The server's configuration file, to take the format from
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

pub fn run(args: &FormatArgs) -> Result<u8, CliError> {
    let chosen = choose(&args.files, &Formats::new(None, args.config.as_deref())?)?;
    if !chosen.refused.is_empty() {
        return Err(CliError::data(chosen.refused.join("\n       ")));
    }
    let Some((first, others)) = chosen.inputs.split_first() else { return Ok(0) };
    for one in &chosen.formats {
        out::say(&format!("{}: {} ({})", one.file, one.format, one.how));
    }
    if let Some(other) = others.iter().find(|other| other.format.text != first.format.text) {
        return Err(CliError::data(format!("{} and {} have different formats", first.name, other.name))
            .hint("map them apart, each with its own format"));
    }
    let text = &first.format.text;
    // What nginx's `escape=` says is in no format string.
    if !logs::format::Format::parse(text).is_ok_and(|again| again.plan == first.format.plan) {
        return Err(CliError::data(format!("{}: its format is more than its string says", first.name))
            .hint("give mappers the configuration: --config FILE"));
    }
    out::print(&format!("{text}\n"));
    Ok(0)
}
