//! Measures the runs of a study, one after the other. Each is stored as any other run is, under its label.

use model::study_file::StudyFile;

use super::gather;
use super::schedule::Scheduled;
use crate::cli::Global;
use crate::cli::study::StudyArgs;
use crate::error::{CliError, Kind};
use crate::out;
use crate::study::stop_signal::StopSignal;
use crate::study::{cut, quietly};

/// Says how long it will last, and measures. The exit code says how the runs ended. Fails where none was begun.
pub fn measure(
    file: &StudyFile,
    scheduled: &[Scheduled<'_>],
    args: &StudyArgs,
    global: &Global,
) -> Result<u8, CliError> {
    let is_wanted = |one: &&Scheduled<'_>| one.is_measurable() && !(args.rest && one.stored.is_some());
    let wanted: Vec<&Scheduled<'_>> = scheduled.iter().filter(is_wanted).collect();
    for one in scheduled.iter().filter(|one| one.run.by_hand.is_none()) {
        if let Some(why) = &one.why {
            out::say(&format!("note: {} is left out: {why}", one.label));
        }
    }
    if wanted.is_empty() {
        out::say("nothing to measure: every run that this machine can make is stored");
        return Ok(0);
    }
    let docs = gather::run_docs(&wanted);
    out::say(&format!("study {}: {}", file.name, report::study::expected(&docs)));
    let stop = StopSignal::listen()?;
    let (mut code, mut failed, mut begun) = (0, None, 0);
    for (at, one) in wanted.iter().enumerate() {
        out::say(&format!("run {} of {}: {}", at + 1, wanted.len(), one.label));
        let mut run = one.args.clone();
        run.usual.wait = args.wait.clone();
        let ended = quietly(&run, global, &stop).map(|measured| {
            begun += 1;
            if measured.outcome.faults > 0 {
                code = Kind::Faults.exit_code();
            }
            cut(&measured)
        });
        match ended {
            Ok(None) => {}
            // The tables show what was measured so far.
            Ok(Some(error)) => return Ok(interrupted(&error, file, begun, wanted.len())),
            Err(error) if error.kind == Kind::Interrupted && begun > 0 => {
                return Ok(interrupted(&error, file, begun, wanted.len()));
            }
            Err(error) if error.kind == Kind::Interrupted => return Err(error),
            Err(error) => {
                out::say(&error.to_string());
                code = error.kind.exit_code();
                failed = Some(error);
            }
        }
    }
    match failed {
        Some(error) if begun == 0 => Err(error),
        _ => Ok(code),
    }
}

/// Says how to go on after an end before its time; the exit code.
fn interrupted(error: &CliError, file: &StudyFile, begun: usize, of: usize) -> u8 {
    out::say(&error.message);
    out::say(&format!(
        "{begun} of {of} runs were begun; `boxscore study {} --rest` measures the others",
        file.name
    ));
    error.kind.exit_code()
}
