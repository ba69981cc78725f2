//! `boxscore logs --merge` of parts: the settings they were made with are taken over, and what was read of them stands
//! for the logs.

use instruments::workload::hadoop::streaming::SPLIT;
use logs::aggregate::Settings;
use logs::parts::{Made, Whole};
use model::params::parse_bytes;
use store::Store;

use super::settings::{each_once, full, made, wants};
use super::{Gathered, LogsArgs, compares};
use crate::access_logs::job::hadoop;
use crate::access_logs::job::merged::{self, Merged};
use crate::access_logs::{Formats, labels_of};
use crate::error::CliError;
use crate::fleet::reach::span;

/// The time in which jobs are to be done.
const DAY: &str = "24h";

/// Parts that were put together.
pub struct Parts(Whole);

impl Parts {
    /// The parts of `--merge`, or of a job with `--hadoop`; `None` where there are none.
    pub fn read(args: &LogsArgs) -> Result<Option<Parts>, CliError> {
        if args.hadoop {
            return Parts::of_jobs(args).map(Some);
        }
        let Some(whole) = merged::whole(&args.merge)? else { return Ok(None) };
        if !args.files.is_empty() {
            return Err(CliError::usage(
                "--merge: parts stand for the logs themselves, and there are logs beside them",
            )
            .hint("map those too, or merge what --out writes"));
        }
        if whole.order.is_empty() {
            return Err(CliError::data("--merge: there is no part in it"));
        }
        Ok(Some(Parts(whole)))
    }

    /// Has Hadoop read the logs. What is wrong with the arguments is said before.
    fn of_jobs(args: &LogsArgs) -> Result<Parts, CliError> {
        let made = made(&args.by, &args.conditions, args.cut.as_deref(), args.profile_out.is_some())?;
        let labels = labels_of(&args.files)?;
        let made = Made { one_label: !compares(args, &labels), ..made };
        full(&made)?;
        wants(&made)?;
        let formats = Formats::new(args.format.as_deref(), args.config.as_deref())?;
        let limit = span("--timeout", args.timeout.as_deref().unwrap_or(DAY))?;
        let split = args.split.as_deref().map_or(Ok(SPLIT), split_of)?;
        let asked = hadoop::Asked { formats: &formats, made: &made, split, limit };
        let parts = hadoop::read(&args.files, &asked)?;
        let whole = parts.whole().map_err(|error| CliError::data(format!("--hadoop: {error}")))?;
        match whole.order.is_empty() {
            true => Err(CliError::data("--hadoop: there is no line in the logs")),
            false => Ok(Parts(whole)),
        }
    }

    /// The arguments with the settings of the parts. Fails where others are asked for.
    pub fn adopted_by(&self, args: &LogsArgs) -> Result<LogsArgs, CliError> {
        let made = &self.0.made;
        let unlike = |flag: &str, ours: &[String], theirs: &[String]| {
            let list = |of: &[String]| if of.is_empty() { "none".to_owned() } else { of.join(", ") };
            CliError::usage(format!(
                "{flag}: {} is asked for, the parts were made with {}",
                list(ours),
                list(theirs)
            ))
            .hint("leave it out, or map the logs again with it")
        };
        if !args.hadoop && !args.by.is_empty() && args.by != made.by {
            return Err(unlike("--by", &args.by, &made.by));
        }
        let conditions = each_once(&args.conditions)?;
        if !conditions.is_empty() && conditions != made.conditions {
            return Err(unlike("--where", &conditions, &made.conditions));
        }
        if args.profile_out.is_some() && !made.mix {
            return Err(CliError::usage("--profile-out: the parts were made without the mix")
                .hint("map the logs again with --mix"));
        }
        if args.out.is_some() && made.one_label {
            return Err(CliError::usage("--out: the parts were made for one label alone")
                .hint("map the logs again without --one-label"));
        }
        for (flag, is_given) in [("--out", args.out.is_some()), ("--profile-out", args.profile_out.is_some())]
        {
            if is_given && made.cut.is_some() {
                return Err(CliError::usage(format!("{flag}: the parts were made with a cut")));
            }
        }
        let (by, conditions, cut) = (made.by.clone(), made.conditions.clone(), made.cut.clone());
        Ok(LogsArgs { files: Vec::new(), by, conditions, cut, ..args.clone() })
    }

    pub fn labels(&self) -> &[String] {
        &self.0.order
    }

    pub(super) fn gathered(mut self, settings: &Settings, store: Option<Store>) -> Gathered {
        let labels = merged::labels(&mut self.0, settings);
        let Merged { formats, units, findings } = Merged::new(&self.0.files);
        let Whole { order, besides, .. } = self.0;
        Gathered { labels, besides, order, formats, units, findings, store, ..Gathered::default() }
    }
}

/// Bytes of a split.
fn split_of(text: &str) -> Result<u64, CliError> {
    let bytes = parse_bytes(text).filter(|bytes| (1..=i64::MAX as u64).contains(bytes));
    bytes.ok_or_else(|| CliError::usage(format!("--split {text}: give a size such as 512MiB")))
}
