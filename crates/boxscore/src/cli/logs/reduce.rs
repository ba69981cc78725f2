//! `boxscore logs reduce`: parts into one for each key.

use std::path::PathBuf;

use logs::parts::{Parts, failure};

use crate::access_logs::job::merged::add;
use crate::access_logs::job::streaming::Reporter;
use crate::error::CliError;
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore logs map a.log | boxscore logs reduce
  sort -m parts/* | boxscore logs reduce > all.parts             sorted or not
  hadoop jar hadoop-streaming.jar ... -reducer './boxscore logs reduce'
What is merged is the same in any order and in any number of steps: a reducer may read what others wrote. Other versions,
damage, unlike settings, one file read in two formats and bytes that are there twice are refused with the line.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ReduceArgs {
    /// Output of `logs map` or `logs reduce`, plain, gzip or zstd; none, or -: stdin
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Count on stderr in Hadoop's form; in a task of Hadoop Streaming that is done anyhow
    #[arg(long)]
    pub hadoop_counters: bool,
    /// Write why it failed in place of parts, for `logs --hadoop`
    #[arg(long, hide = true)]
    pub tells: bool,
}

pub fn run(args: &ReduceArgs) -> Result<u8, CliError> {
    match reduce(args) {
        Err(error) if args.tells => {
            out::print(&format!("{}\n", failure(&error.message)));
            Ok(0)
        }
        done => done,
    }
}

fn reduce(args: &ReduceArgs) -> Result<u8, CliError> {
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    let (mut parts, mut merged) = (Parts::default(), 0);
    for file in files {
        merged += add(&mut parts, file)?;
    }
    let mut keys = 0;
    for line in parts.lines().map_err(|error| CliError::data(error.to_string()))? {
        out::print_together(&format!("{line}\n"));
        keys += 1;
    }
    let reporter = Reporter::new(args.hadoop_counters);
    reporter.count("parts merged", merged);
    reporter.count("keys", keys);
    Ok(0)
}
