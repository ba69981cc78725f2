//! Measures the runs of a study, one after the other, each on all places in turns. Each is stored as any other run is,
//! under its label. With --rest, runs that were cut are completed, and those that are stored are not measured again.

use model::data::{RunHead, Status};
use model::format::count;
use model::study_file::StudyFile;

use super::gather;
use super::places::{Limit, Place, Places};
use super::schedule::Scheduled;
use crate::cli::Global;
use crate::cli::study::StudyArgs;
use crate::error::{CliError, Kind};
use crate::lookup::ids::short;
use crate::lookup::resolve::Resolver;
use crate::out;
use crate::study::stop_signal::StopSignal;
use crate::study::{cut, quietly, resume_quietly};

/// Seconds below which a run is not begun.
const LEAST: f64 = 1.0;

/// The measurement that a run of the study needs.
enum Work<'a> {
    /// The interrupted run of a study in the store is completed.
    Rest { run: String, study: String },
    /// It is measured at these places.
    At(Vec<&'a Place>),
}

/// The runs of a study as they are to be measured.
pub struct Sequence<'a> {
    /// As the user named it.
    pub name: &'a str,
    pub file: &'a StudyFile,
    pub scheduled: &'a [Scheduled<'a>],
    pub places: &'a Places,
}

/// Runs that were begun, and how they ended.
#[derive(Default)]
struct Progress {
    begun: usize,
    code: u8,
    failed: Option<CliError>,
}

/// Says how long it will last, and measures. The exit code says how the runs ended. Fails where none was begun.
pub fn measure(
    all: &Sequence<'_>,
    args: &StudyArgs,
    resolver: &Resolver,
    global: &Global,
) -> Result<u8, CliError> {
    for one in all.scheduled.iter().filter(|one| one.run.by_hand.is_none()) {
        if let Some(why) = &one.why {
            out::say(&format!("note: {} is left out: {why}", one.label));
        }
    }
    let limit = Limit::read(all.file, args, all.places, all.spent(args))?;
    let wanted: Vec<(&Scheduled<'_>, Work<'_>)> =
        all.scheduled.iter().filter_map(|one| Some((one, all.work(one, args, resolver)?))).collect();
    if wanted.is_empty() {
        out::say("nothing to measure: every run that this machine can make is stored");
        return Ok(0);
    }
    let docs = gather::run_docs(&wanted.iter().map(|(one, _)| *one).collect::<Vec<_>>());
    out::say(&format!("study {}: {}", all.file.name, report::study::expected(&docs)));
    let stop = StopSignal::listen()?;
    let mut progress = Progress::default();
    for (at, (one, work)) in wanted.iter().enumerate() {
        let left = limit.left();
        if left.is_some_and(|left| left < LEAST) {
            let rest = count(wanted.len() - at, "run");
            out::say(&format!("note: {} is over before {rest}; {}", limit.says(), all.again()));
            progress.code = Kind::Faults.exit_code();
            break;
        }
        out::say(&format!("run {} of {}: {}", at + 1, wanted.len(), one.label));
        let ended = all.one(one, work, left, args, (global, &stop));
        if let Some(error) = progress.add(ended)? {
            // The tables show what was measured so far.
            out::say(&error.message);
            let begun = progress.begun;
            out::say(&format!("{begun} of {} runs were begun; {}", wanted.len(), all.again()));
            return Ok(error.kind.exit_code());
        }
    }
    match progress.failed {
        Some(error) if progress.begun == 0 => Err(error),
        _ => Ok(progress.code),
    }
}

impl Sequence<'_> {
    fn again(&self) -> String {
        format!("`boxscore study {} --rest` measures what is left", model::shell::word(self.name))
    }

    /// Seconds for which the runs of an earlier part of the study were measured.
    fn spent(&self, args: &StudyArgs) -> f64 {
        let longest = |one: &Scheduled<'_>| {
            let seconds = one.stored.iter().flatten().filter_map(|head| head.seconds);
            seconds.fold(0.0, f64::max)
        };
        if args.rest { self.scheduled.iter().map(longest).sum() } else { 0.0 }
    }

    /// The measurement of a run; `None` where it needs none.
    fn work(&self, one: &Scheduled<'_>, args: &StudyArgs, resolver: &Resolver) -> Option<Work<'_>> {
        if !one.is_measurable() {
            return None;
        }
        if !args.rest {
            return Some(Work::At(self.places.all.iter().collect()));
        }
        let newest = |place: &Place| one.newest(resolver, place, |_| true);
        let cut = |head: &RunHead| head.status == Status::Interrupted;
        if let Some(head) = self.places.all.iter().filter_map(newest).find(cut) {
            return Some(Work::Rest { run: head.id, study: head.study });
        }
        let lacking = self.places.all.iter().zip(&one.stored).filter(|(_, stored)| stored.is_none());
        let lacking: Vec<&Place> = lacking.map(|(place, _)| place).collect();
        (!lacking.is_empty()).then_some(Work::At(lacking))
    }

    /// Measures one run. Gives the exit code, and the error of a run that was cut.
    fn one(
        &self,
        one: &Scheduled<'_>,
        work: &Work<'_>,
        left: Option<f64>,
        args: &StudyArgs,
        (global, stop): (&Global, &StopSignal),
    ) -> Result<(u8, Option<CliError>), CliError> {
        let (measured, code) = match work {
            Work::Rest { run, study } => {
                out::say(&format!("completing run {}", short(run)));
                (resume_quietly(study, global, stop)?, 0)
            }
            Work::At(places) => {
                let mut run = one.args.clone();
                run.usual.wait = args.wait.clone();
                run.lab = self.places.options(places);
                if let Some(left) = left.filter(|left| *left < one.extent.most_seconds) {
                    run.usual.span = Some(format!("{left:.1}s"));
                }
                quietly(&run, global, stop)?
            }
        };
        let faults = if measured.outcome.faults > 0 { Kind::Faults.exit_code() } else { 0 };
        Ok((code.max(faults), cut(&measured)))
    }
}

impl Progress {
    /// Counts a run that has ended. Gives the error of one that the user ended; fails where it was the first.
    fn add(&mut self, ended: Result<(u8, Option<CliError>), CliError>) -> Result<Option<CliError>, CliError> {
        match ended {
            Ok((code, cut)) => {
                self.begun += 1;
                self.code = self.code.max(code);
                Ok(cut)
            }
            Err(error) if error.kind == Kind::Interrupted && self.begun == 0 => Err(error),
            Err(error) if error.kind == Kind::Interrupted => Ok(Some(error)),
            Err(error) => {
                out::say(&error.to_string());
                self.code = error.kind.exit_code();
                self.failed = Some(error);
                Ok(None)
            }
        }
    }
}
