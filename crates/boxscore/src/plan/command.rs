//! The user's own command, from `--cmd` and what belongs to it.

use model::plan::Command;

use crate::cli::run::RunArgs;
use crate::error::CliError;

/// Reads `--cmd`, `--metric` and `--prepare`. Fails when one of the others is given without a command, or a metric is
/// malformed.
pub fn read(args: &RunArgs) -> Result<Option<Command>, CliError> {
    needs_command(args)?;
    let Some(run) = &args.cmd else { return Ok(None) };
    let mut command = Command { run: run.clone(), prepare: args.prepare.clone(), ..Command::default() };
    for text in &args.metrics {
        let Some((name, regex)) = text.split_once('=') else {
            return Err(CliError::usage(format!("--metric {text}: not of the form NAME=REGEX")));
        };
        if command.metrics.insert(name.trim().to_owned(), regex.to_owned()).is_some() {
            return Err(CliError::usage(format!("--metric: `{}` is given twice", name.trim())));
        }
    }
    instruments::workload::cmd::check(&command).map_err(|unfit| {
        CliError::usage(unfit.why).hint("for example --cmd './bench' --metric 'tps=rate: ([0-9.]+)'")
    })?;
    Ok(Some(command))
}

fn needs_command(args: &RunArgs) -> Result<(), CliError> {
    let given = match (args.metrics.is_empty(), &args.prepare) {
        (false, _) => "--metric",
        (true, Some(_)) => "--prepare",
        (true, None) => return Ok(()),
    };
    match &args.cmd {
        Some(_) => Ok(()),
        None => Err(CliError::usage(format!("{given} belongs to a command"))
            .hint(format!("boxscore run --cmd 'make -j8' {given} ..."))),
    }
}
